/** What a document states of the answers of an operation, and whether a scenario can be played over it. */

import { nearest } from '../../document/nearest.ts';
import type { Answer } from '../../parts/answers.ts';
import { conditions, isCondition, ownAnswer } from '../../parts/conditions.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import type { ErrorCode } from '../../parts/errors.ts';
import { entriesOf, statedValue } from '../../parts/fact.ts';
import { callableOperations, namesOperation, type Operation } from '../../parts/operations.ts';
import type { Spec } from '../../parts/spec.ts';
import { type AnswerInput, BadScenario, type Scenario } from './scenario.ts';

/** An operation that a caller reaches. */
interface Answered {
  readonly endpoint: Endpoint;
  readonly operation: Operation;
}

/**
 * Holds scenarios to a document: each is for operations that there are, and answers what is stated for them, unless it is forced. Where one says no
 * operation, it is enough that one of all states its answer. Which callers and rows there will be, nobody knows. @throws {BadScenario}
 */
export function demandPlayable(spec: Spec, scenarios: readonly Scenario[]): void {
  const all = callableOperations(spec).flatMap((operation): Answered[] => {
    const { endpoint } = operation;
    return endpoint ? [{ endpoint, operation }] : [];
  });
  for (const { name, on, answer, force } of scenarios) {
    const meant = on?.flatMap((word) => named(word, all, name)) ?? all;
    if (!answer || force) continue;
    const flaws = meant.map((one) => unstatedIn(spec, answer, one));
    const flaw = on || flaws.every((one) => one !== undefined) ? flaws.find((one) => one !== undefined) : undefined;
    if (flaw !== undefined)
      throw new BadScenario(`${name}: ${on ? flaw : `no operation can answer so: ${flaw}`}. Add force to have it all the same.`);
  }
}

/** The operations that a word of `on` names. */
function named(word: string, all: readonly Answered[], scenario: string): readonly Answered[] {
  const found = all.filter(({ endpoint, operation }) => operation.name === word || endpoint.key === word);
  if (found.length > 0) return found;
  const isEndpoint = /^[A-Za-z]+ \//.test(word);
  const known = all.map(({ endpoint, operation }) => (isEndpoint ? endpoint.key : operation.name));
  throw new BadScenario(`${scenario}: there is no ${isEndpoint ? 'endpoint' : 'operation'} "${word}"${listed(known, word)}.`);
}

/** What keeps an operation from answering so, in words; nothing where it is stated. */
export function unstatedIn(spec: Spec, { error, status, example }: AnswerInput, plan: Answered): string | undefined {
  const { name } = plan.operation;
  if (error !== undefined) {
    const own = codesOf(spec)
      .filter((code) => isOf(code, plan))
      .map((code) => code.name);
    return own.includes(error) ? undefined : `${name} has no error "${error}"${listed(own, error)}`;
  }
  const examples = namedExamples(plan, status).map(([known]) => known);
  if (example !== undefined && !examples.includes(example))
    return `${name} has no example "${example}"${listed(examples, example)}`;
  if (status === undefined) return undefined;
  const stated = statusesAt(spec, plan);
  const isThere = stated.some((one) => one === String(status) || one === `${Math.floor(status / 100)}XX` || one === 'DEFAULT');
  return isThere ? undefined : `${name} states no answer ${status}${listed(stated)}`;
}

function codesOf(spec: Spec): readonly ErrorCode[] {
  return entriesOf(spec.errors.codes).map(([, code]) => code);
}

function statusesAt(spec: Spec, plan: Answered): string[] {
  const own = codesOf(spec)
    .filter((code) => isOf(code, plan))
    .flatMap((code) => statusesOf(code, plan));
  // What has no code of its own is answered by the language's rules, where all the errors are stated.
  const byRule = spec.errors.codes.standing === 'open' ? [] : conditions.map((one) => String(ownAnswer(one).status));
  const answered = answersOf(plan).map(({ status }) => status.toUpperCase());
  return [...new Set([...answered, ...own, ...byRule])].sort();
}

/** The answers that are stated for an endpoint. */
export function answersOf({ endpoint }: Pick<Answered, 'endpoint'>): readonly Answer[] {
  return statedValue(endpoint.response) ?? [];
}

/** The examples of the stated answers that have a name. */
export function namedExamples(
  plan: Pick<Answered, 'endpoint'>,
  status: number | undefined,
): (readonly [string, Answer, unknown])[] {
  return answersOf(plan)
    .filter((answer) => status === undefined || answer.status === String(status))
    .flatMap((answer) => [
      ...(answer.example ? [['example', answer, answer.example.value] as const] : []),
      ...Object.entries(answer.examples).map(([name, value]) => [name, answer, value] as const),
    ]);
}

/** Whether an operation may answer with a code: by one of its rules, or because another part names it. */
export function isOf(code: ErrorCode, { operation }: Pick<Answered, 'operation'>): boolean {
  return code.rules.some(({ on }) => on === undefined || namesOperation(on, operation));
}

/** The statuses with which an operation answers a code. */
export function statusesOf(code: ErrorCode, { operation }: Pick<Answered, 'operation'>): string[] {
  return code.rules.flatMap(({ on, status, when }) => {
    if (on !== undefined && !namesOperation(on, operation)) return [];
    const stated = statedValue(status);
    const own = (statedValue(when) ?? []).flatMap((one) => (isCondition(one) ? ownAnswer(one).status : []));
    return (stated !== undefined ? [stated] : own).map(String);
  });
}

/** What there is in place of a word; of many the one that is meant. */
function listed(known: readonly string[], word = ''): string {
  const meant = nearest(word, known);
  if (meant !== undefined) return `; the nearest is "${meant}"`;
  const most = 12;
  if (known.length === 0) return '';
  const more = known.length > most ? ` and ${known.length - most} more` : '';
  return `; it has ${known.slice(0, most).join(', ')}${more}`;
}
