import type { Json } from '../../../document/document.ts';
import { isMap, isSame } from '../../../document/values.ts';
import { type Expression, statedValue } from '../../../parts/fact.ts';
import type { Operation } from '../../../parts/operations.ts';
import { briefly, isDone } from '../../exchange/exchange.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import { resolve, type Symbolic } from '../../exchange/symbol.ts';
import { Untestable } from '../../exchange/untestable.ts';
import { lookAt } from '../../make/look.ts';
import { type Readied, ready } from '../../make/readied.ts';
import type { Model } from '../../model/model.ts';
import type { Session } from '../../session/session.ts';
import type { Case, Trial } from '../../session/trial.ts';
import { cascadeCases } from './cascades.ts';
import { canListen, changing, deliveryFact, everybody, kindsFact } from './changing.ts';
import { conditionedCases } from './conditioned.ts';
import { endAll } from './ear.ts';
import { kindsOn } from './expected.ts';
import { kindsAbout } from './heard.ts';
import { listenTo } from './listened.ts';

/** Every operation that changes something, with everybody subscribed who can. */
export const emitting: Trial = {
  name: 'events/emitted',
  part: 'events',
  about:
    'Each operation emits exactly its events, as stated, also for what is deleted with a row, to those who may read it, and to nobody else.',
  noise: 'alone',
  *cases(model) {
    if (!canListen(model)) return;
    yield* cascadeCases(model);
    for (const operation of changing(model)) {
      yield caseOf(model, operation, 'full');
      // With as little as it takes, conditions on what changed do not hold.
      if (statedValue(operation.endpoint?.does)?.verb === 'update') yield caseOf(model, operation, 'plain');
      yield* conditionedCases(model, operation);
    }
  },
};

function caseOf(model: Model, operation: Operation, style: 'plain' | 'full'): Case {
  const kinds = kindsAbout(model, operation);
  const facts = kinds.flatMap(({ name: subject }) => [
    { kind: 'emitting operations', subject },
    { kind: 'payload shapes', subject },
  ]);
  return {
    name: `${operation.name}, ${style === 'full' ? 'with all that can be sent' : 'with little'}`,
    facts: [...facts, kindsFact, deliveryFact],
    async run(session: Session) {
      const { ears, shown, acted } = await carriedOut(session, operation, style);
      await listenTo(session, { operation, kinds, shown, acted }, ears);
    },
  };
}

/** The operation, with everybody listening; what the service's own rules refuse is drawn anew. @throws {Untestable} */
async function carriedOut(session: Session, operation: Operation, style: 'plain' | 'full') {
  const { endpoint, name } = operation;
  if (!endpoint) throw new Untestable(`no caller reaches ${name}`);
  const verb = statedValue(endpoint.does)?.verb;
  // Of a body of the resource's fields all is told; another is drawn, so that its values are others than those of the row.
  const first = verb === 'transition' || verb === 'delete' ? 'full' : 'whole';
  let why = '';
  for (const drawn of [first, 'full', 'plain'] as const) {
    const readied = await tellingOf(session, operation, () => ready(session, endpoint, { style: drawn }));
    const { row } = readied;
    const request = style === 'full' ? readied.request : withLittle(session, operation, readied);
    const shown = row && (await lookAt(session, row));
    const ears = await everybody(session);
    const acted = await session.send(request);
    if (isDone(acted.value)) return { ears, shown, acted };
    await endAll(session);
    why = `${name} was answered ${acted.value.status}${briefly(acted.value)}`;
  }
  throw new Untestable(why);
}

/** How often a request is drawn until payloads show what they are made of. */
const drawsMax = 6;

/** Draws until what payloads take of the request is another value than the row has under the same name. @throws {Untestable} */
async function tellingOf(session: Session, operation: Operation, draw: () => Promise<Readied>): Promise<Readied> {
  const sources = kindsOn(session.model, operation).flatMap(({ data }) =>
    data && !('source' in data) ? Object.values(data).map(({ source }) => String(source)) : [],
  );
  const names = sources.flatMap((source) => [...source.matchAll(/\brequest\.(\w+)/g)].map(([, name = '']) => name));
  const conditions = kindsOn(session.model, operation).flatMap((kind) => kind.if ?? []);
  const isDue = (drawn: Readied) => conditions.every((condition) => isMet(session, operation, condition, drawn) !== false);
  let drawn = await draw();
  for (let draws = 1; draws < drawsMax && !(isTelling(session, names, drawn) && isDue(drawn)); draws++) drawn = await draw();
  return drawn;
}

/** Whether a condition of an event holds for a request that makes or changes a row of its own fields; nothing where that cannot be said. */
function isMet(
  session: Session,
  { name }: Operation,
  condition: Expression,
  { request: { body }, row }: Readied,
): Json | undefined {
  const sent = body && 'value' in body ? resolve(body.value, session.run) : undefined;
  if (!isMap(sent)) return undefined;
  const context = { next: { ...row?.fields, ...sent }, ...(row?.fields && { resource: row.fields }) };
  const evaluated = session.model.expressions.evaluate(condition, name, { context });
  return typeof evaluated === 'object' ? evaluated.value : undefined;
}

function isTelling(session: Session, names: readonly string[], { request: { body }, row }: Readied): boolean {
  const sent = body && 'value' in body ? resolve(body.value, session.run) : undefined;
  return !isMap(sent) || names.every((name) => !row?.fields || !isSame(sent[name], row.fields[name]));
}

/** One member of the body is left, which changes the row and which no condition of an event asks for, where there is one. */
function withLittle(session: Session, operation: Operation, { request, row }: Readied): RequestPlan {
  const { body } = request;
  if (!body || !('value' in body) || typeof body.value !== 'object' || body.value === null) return request;
  const conditions = kindsOn(session.model, operation).map((kind) => kind.if?.source ?? '');
  const isAsked = (name: string) => conditions.some((source) => new RegExp(`\\.${RegExp.escape(name)}\\b`).test(source));
  const members = Object.entries(body.value as Readonly<Record<string, Symbolic>>);
  const others = members.filter(([name, value]) => !isSame(resolve(value, session.run), row?.fields?.[name]));
  const chosen = others.find(([name]) => !isAsked(name)) ?? others[0] ?? members[0];
  return chosen ? { ...request, body: { ...body, value: Object.fromEntries([chosen]) } } : request;
}
