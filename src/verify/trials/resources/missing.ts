import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, entryOf, statedValue } from '../../../parts/fact.ts';
import { identifierParameter, pathParameters } from '../../../parts/payload.ts';
import { transitionNamed } from '../../../parts/states.ts';
import { asText } from '../../exchange/as-text.ts';
import { moot } from '../../exchange/claim.ts';
import { briefly, isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import type { TrialRow } from '../../exchange/row.ts';
import type { Done } from '../../exchange/step.ts';
import { Fresh, resolve, type Symbolic } from '../../exchange/symbol.ts';
import { ifTestable } from '../../exchange/untestable.ts';
import { callersFor } from '../../make/callers-for.ts';
import { claimRefused } from '../../make/claim-refused.ts';
import { lookAt } from '../../make/look.ts';
import { requestAbout } from '../../make/request-about.ts';
import { remove } from '../../make/walk.ts';
import { steady } from '../../model/clock-changes.ts';
import { missingIdentifier } from '../../model/missing-identifier.ts';
import type { Model } from '../../model/model.ts';
import { conditionFacts } from '../../model/refused-as.ts';
import { idIn, rowWith } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';
import { difference } from '../../values/difference.ts';
import { askingForNobodys } from './nobodys.ts';

/** Every operation on a row that is not there: one that never was, one that was deleted, one below another parent, one that cannot be. */
export const missingRows: Trial = {
  name: 'resources/missing',
  part: 'resources',
  about: 'What names no row, never did, or no longer does, is missing to every operation, and changes none.',
  noise: 'quiet',
  isReading: true,
  *cases(model) {
    for (const [name] of entriesOf(model.spec.resources.all)) {
      const endpoints = endpointsAbout(model, name);
      if (endpoints.length === 0) continue;
      const conditions = endpoints.flatMap((endpoint) => conditionFacts(model, 'resource.missing', model.operationOf(endpoint)));
      const facts = [{ kind: 'identifiers', subject: name }, ...conditions];
      yield { name, facts, run: (session) => askForNothing(session, name, endpoints) };
    }
    yield* askingForNobodys(model);
  },
};

function endpointsAbout(model: Model, resource: string): Endpoint[] {
  const verbs = ['read', 'update', 'replace', 'transition', 'delete'];
  return verbs.flatMap((verb) => model.endpointsThat(verb, resource)).filter((one) => identifierParameter(one) !== undefined);
}

/** What stands in a path in the place of a row, and the exchanges that saw to it that there is none. */
interface Nothing {
  readonly what: string;
  readonly path: Readonly<Record<string, Symbolic>>;
  readonly beside: readonly Done<TrialExchange>[];
  /** Whether it was there, and may be kept. */
  readonly isDeleted?: boolean;
}

async function askForNothing(session: Session, resource: string, endpoints: readonly Endpoint[]): Promise<void> {
  const { model } = session;
  const row = await session.make(resource);
  const isDeleted = !session.run.isReadOnly && model.endpointsThat('delete', resource).length > 0;
  const gone = isDeleted ? await ifTestable(deletedRow(session, resource)) : undefined;
  const before = (await ifTestable(lookAt(session, row)))?.done;
  const attempts: Done<TrialExchange>[] = [];
  for (const endpoint of session.run.isReadOnly ? endpoints.filter(({ method }) => method === 'GET') : endpoints) {
    const plan = await ifTestable(requestFor(session, row, endpoint));
    if (!plan) continue;
    for (const nothing of await nothings(session, endpoint, row, gone)) {
      const done = await session.send({ ...plan, path: { ...plan.path, ...nothing.path } });
      attempts.push(done);
      claimMissing(session, endpoint, resource, done, nothing);
    }
    attempts.push(...(await sendImpossible(session, endpoint, resource, plan)));
    attempts.push(...(await sendOtherLetters(session, endpoint, row, plan)));
  }
  session.need(attempts.length > 0, `nothing asks for a ${resource}`);
  if (before) await claimNoneChanged(session, row, before, attempts);
}

async function deletedRow(session: Session, resource: string) {
  const row = await session.make(resource);
  const done = await remove(session, row);
  session.need(isDone(done.value) && done.value.status !== 202 && row.made !== undefined, 'it was not deleted');
  return { row, beside: [row.made, done] };
}

async function requestFor(session: Session, row: TrialRow, endpoint: Endpoint): Promise<RequestPlan> {
  const effect = statedValue(endpoint.does);
  const transition =
    effect?.verb === 'transition' ? transitionNamed(session.model.spec.states, effect.resource, effect.transition) : undefined;
  const [caller] = callersFor(session, endpoint, row);
  const headers = endpoint.ifMatch === 'required' ? { 'If-Match': '*' } : {};
  return requestAbout(session, row, endpoint, { caller, headers, ...(transition && { transition }) });
}

async function nothings(
  session: Session,
  endpoint: Endpoint,
  { resource }: TrialRow,
  gone: Awaited<ReturnType<typeof deletedRow>> | undefined,
): Promise<Nothing[]> {
  const { model } = session;
  const last = identifierParameter(endpoint) ?? '';
  const unknown = missingIdentifier(model, resource);
  const found: Nothing[] = unknown ? [{ what: 'that there never was', path: { [last]: unknown }, beside: [] }] : [];
  if (gone && !isTold(model, endpoint, resource))
    found.push({ what: 'that was deleted', path: { [last]: gone.row.id }, beside: gone.beside, isDeleted: true });
  for (const name of pathParameters(endpoint.path)) {
    const parent = name === last ? undefined : model.parentOf(endpoint, name);
    const other = parent === undefined ? undefined : await ifTestable(session.make(parent));
    if (other?.made)
      found.push({ what: `below another ${parent} than its own`, path: { [name]: other.id }, beside: [other.made] });
  }
  return found;
}

/** Whether an operation does something with a row that was deleted and is kept: reading tells of it, or it is brought back. */
function isTold(model: Model, { does }: Endpoint, resource: string): boolean {
  const { answers, restore } = model.resource(resource)?.kept ?? {};
  const effect = statedValue(does);
  return (effect?.verb === 'read' && answers !== undefined) || (effect?.verb === 'transition' && effect.transition === restore);
}

function claimMissing(session: Session, endpoint: Endpoint, resource: string, done: Done<TrialExchange>, nothing: Nothing): void {
  const { model } = session;
  const fact = { kind: 'identifiers', subject: resource };
  const what = `${endpoint.operation} of a ${resource} ${nothing.what}`;
  const isSo = (_asked: TrialExchange, ...made: readonly TrialExchange[]) => made.every(isDone);
  const { beside } = nothing;
  // Where a tag has to match, a row that is not there may be said to have none.
  if (endpoint.ifMatch !== 'required') {
    const isKept = nothing.isDeleted === true && model.resource(resource)?.kept !== undefined;
    claimRefused(session, done, {
      by: { when: isKept ? 'resource.gone' : 'resource.missing' },
      fact,
      reason: `missing ${nothing.what}`,
      what,
      beside,
      isSo,
    });
    return;
  }
  session.claim({
    fact,
    reason: `missing ${nothing.what}`,
    of: [done, ...beside],
    judge: (asked: TrialExchange, ...made: readonly TrialExchange[]) => {
      if (!isSo(asked, ...made)) return moot('it may be there');
      return isDone(asked) ? { promised: `${what} is refused`, seen: `${asked.status}${briefly(asked)}` } : undefined;
    },
  });
}

/** Texts that are no identifier of any kind, whatever they are looked up in. */
const impossible = ['nf\'"~', '-1.5'];

/** As what these are refused is not said; that they are, and that nothing fails, is. */
async function sendImpossible(session: Session, endpoint: Endpoint, resource: string, plan: RequestPlan) {
  const { model } = session;
  const last = identifierParameter(endpoint) ?? '';
  const attempts: Done<TrialExchange>[] = [];
  // Another path may be meant by such a text.
  if (model.endpoints.some((other) => other.path !== endpoint.path && mayBeMistaken(other.path, endpoint.path))) return attempts;
  const isClients = statedValue(model.resource(resource)?.identifier)?.generate === 'client';
  for (const text of isClients ? impossible.slice(0, 1) : impossible) {
    const done = await session.send({ ...plan, path: { ...plan.path, [last]: text } });
    attempts.push(done);
    session.claim({
      fact: { kind: 'identifiers', subject: resource },
      reason: 'no identifier',
      of: [done],
      judge: (seen: TrialExchange) => {
        if (model.refusals.isHurried(seen) || seen.status === 501) return moot('it could not be done now');
        if (!isDone(seen) && seen.status < 500) return undefined;
        return {
          promised: `${endpoint.operation} of ${JSON.stringify(text)} is refused`,
          seen: `${seen.status}${briefly(seen)}`,
        };
      },
    });
  }
  return attempts;
}

/** The identifier of a row in letters of the other case, or a number with a nought before it, which is another one; nothing where what it is made of is one in either case, as a UUID is. */
async function sendOtherLetters(session: Session, endpoint: Endpoint, { resource, id, made }: TrialRow, plan: RequestPlan) {
  const { model } = session;
  const stated = model.resource(resource);
  const identifier = stated && statedValue(stated.identifier);
  const field = identifier && entryOf(stated.fields, identifier.field);
  const generate = identifier?.generate ?? '';
  const own = generate.includes('{') ? generate.replaceAll(/\{[^{}]*\}/g, '') : '';
  const last = identifierParameter(endpoint);
  const isNumber = field && statedValue(field.shape)?.type === 'integer';
  const hasLetters = generate === 'client' || /[a-z]/i.test(own);
  if (!made || last === undefined || !field || field.ignoreCase || !(hasLetters || isNumber)) return [];
  const otherwise = (text: string) => (isNumber ? text.replace(/^[0-9]/, '0$&') : otherCase(text));
  const other = new Fresh((_draw, run) => otherwise(asText(resolve(id, run))));
  const done = await session.send({ ...plan, path: { ...plan.path, [last]: other } });
  session.claim({
    fact: { kind: 'identifiers', subject: resource },
    reason: 'in other letters',
    of: [done, made],
    judge: (seen: TrialExchange, creation: TrialExchange) => {
      const is = idIn(model, creation);
      if (model.refusals.isHurried(seen) || is === undefined || otherwise(asText(is)) === asText(is))
        return moot('it has no other letters, or it could not be done now');
      if (!isDone(seen)) return undefined;
      return {
        promised: `${endpoint.operation} of the identifier ${JSON.stringify(is)} written otherwise names no row`,
        seen: `${seen.status}${briefly(seen)}`,
      };
    },
  });
  return [done];
}

/** Each letter of ASCII in the other case. */
function otherCase(text: string): string {
  return text.replaceAll(/[a-z]+|[A-Z]+/g, (part) => (/[a-z]/.test(part) ? part.toUpperCase() : part.toLowerCase()));
}

/** Whether a text for a parameter may make one path of another. */
function mayBeMistaken(one: string, other: string): boolean {
  const [left, right] = [one.split('/'), other.split('/')];
  return left.length === right.length && left.every((part, at) => part === right[at] || /[{]/.test(`${part}${right[at]}`));
}

async function claimNoneChanged(
  session: Session,
  row: TrialRow,
  before: Done<TrialExchange>,
  attempts: readonly Done<TrialExchange>[],
): Promise<void> {
  const { model } = session;
  const { made, resource } = row;
  const after = (await lookAt(session, row)).done;
  if (!made) return;
  session.claim({
    fact: { kind: 'identifiers', subject: resource },
    reason: 'missing, nothing changed',
    of: [made, before, after, ...attempts],
    judge: (creation: TrialExchange, was: TrialExchange, is: TrialExchange, ...asked: readonly TrialExchange[]) => {
      const id = idIn(model, creation);
      const [old, now] = [rowWith(model, was, id), rowWith(model, is, id)];
      if (!old || !isDone(is) || asked.some(isDone)) return moot('the row is not shown, or something was done');
      return difference(
        steady(model.spec, resource, old),
        steady(model.spec, resource, now ?? null),
        'a row that nothing was asked of',
      );
    },
  });
}
