import type { Json } from '../../../document/document.ts';
import { isMap, isSame } from '../../../document/values.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import type { EventKind } from '../../../parts/events.ts';
import { type Expression, statedValue } from '../../../parts/fact.ts';
import type { Operation } from '../../../parts/operations.ts';
import { asText } from '../../exchange/as-text.ts';
import { briefly, isDone } from '../../exchange/exchange.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import { resolve, type Symbolic } from '../../exchange/symbol.ts';
import { Untestable } from '../../exchange/untestable.ts';
import { imagine } from '../../make/imagined.ts';
import { lookAt } from '../../make/look.ts';
import { putAgain } from '../../make/put-there.ts';
import { type Readied, ready } from '../../make/readied.ts';
import type { ConditionSubject, Scene } from '../../make/scene.ts';
import { stage } from '../../make/staged.ts';
import type { Model } from '../../model/model.ts';
import { rowIn } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import type { Case, Trial } from '../../session/trial.ts';
import { cascadeCases } from './cascades.ts';
import { endAll } from './ear.ts';
import { kindsOn } from './expected.ts';
import { kindsAbout } from './heard.ts';
import { listenTo } from './listened.ts';
import { canListen, changing, deliveryFact, everybody, kindsFact } from './reached.ts';
import { mayBeTold, toldLess } from './told-less.ts';

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
      if (statedValue(operation.endpoint?.does)?.verb === 'upsert') yield caseOf(model, operation, 'full', ofWhatIsThere);
      yield* conditionedCases(model, operation);
    }
  },
};

/** What the name of a case says of a row that is there before it is put. */
const ofWhatIsThere = ', of what is there';

function caseOf(model: Model, operation: Operation, style: 'plain' | 'full', there = ''): Case {
  const kinds = kindsAbout(model, operation);
  const facts = kinds.flatMap(({ name: subject }) => [
    { kind: 'emitting operations', subject },
    { kind: 'payload shapes', subject },
  ]);
  return {
    name: `${operation.name}, ${style === 'full' ? 'with all that can be sent' : 'with little'}${there}`,
    facts: [...facts, kindsFact, deliveryFact],
    async run(session: Session) {
      const { ears, shown, acted } = await carriedOut(session, operation, style, there !== '');
      await listenTo(session, { operation, kinds, shown, acted }, ears);
    },
  };
}

/** The operation, with everybody listening; what the service's own rules refuse is drawn anew. @throws {Untestable} */
async function carriedOut(session: Session, operation: Operation, style: 'plain' | 'full', isThere: boolean) {
  const { endpoint, name } = operation;
  if (!endpoint) throw new Untestable(`no caller reaches ${name}`);
  const verb = statedValue(endpoint.does)?.verb;
  // Of a body of the resource's fields all is told; another is drawn, so that its values are others than those of the row.
  const first = verb === 'transition' || verb === 'delete' ? 'full' : 'whole';
  let why = '';
  for (const drawn of [first, 'full', 'plain'] as const) {
    const readied = isThere
      ? await putAgain(session, endpoint, drawn)
      : await tellingOf(session, operation, (style) => ready(session, endpoint, { style: style ?? drawn }));
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
const drawsMax = 8;

/** Draws until what payloads take of the request is another value than the row has under the same name. @throws {Untestable} */
async function tellingOf(session: Session, operation: Operation, draw: (style?: 'full') => Promise<Readied>): Promise<Readied> {
  const sources = kindsOn(session.model, operation).flatMap(({ data }) =>
    data && !('source' in data) ? Object.values(data).map(({ source }) => asText(source)) : [],
  );
  const names = sources.flatMap((source) => [...source.matchAll(/\brequest\.(\w+)/g)].map(([, name = '']) => name));
  const conditions = kindsOn(session.model, operation).flatMap((kind) => kind.if ?? []);
  const shownLess = kindsOn(session.model, operation).flatMap((kind) => toldLess(session.model, kind));
  const isDue = (drawn: Readied) =>
    conditions.every((condition) => isMet(session, operation, condition, drawn) !== false) &&
    shownLess.every((caller) => mayBeTold(session, operation, caller, drawn));
  let drawn = await draw();
  // What is drawn with all that can be sent may be the same in some of it each time.
  for (let draws = 1; draws < drawsMax && !(isTelling(session, names, drawn) && isDue(drawn)); draws++)
    drawn = await draw(draws < drawsMax / 2 ? undefined : 'full');
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
export function withLittle(session: Session, operation: Operation, { request, row }: Readied): RequestPlan {
  const { body } = request;
  if (!body || !('value' in body) || typeof body.value !== 'object' || body.value === null) return request;
  const conditions = kindsOn(session.model, operation).map((kind) => kind.if?.source ?? '');
  const isAsked = (name: string) => conditions.some((source) => new RegExp(`\\.${RegExp.escape(name)}\\b`).test(source));
  const members = Object.entries(body.value as Readonly<Record<string, Symbolic>>);
  const others = members.filter(([name, value]) => !isSame(resolve(value, session.run), row?.fields?.[name]));
  const chosen = others.find(([name]) => !isAsked(name)) ?? others[0] ?? members[0];
  return chosen ? { ...request, body: { ...body, value: Object.fromEntries([chosen]) } } : request;
}

/** So many states of what a condition reads are tried, since not every one can be brought about. */
const triesMost = 4;

/** Events that come of an operation under a condition of their own: where it holds, to the very edge of it, and where it just does not. */
function* conditionedCases(model: Model, operation: Operation): Iterable<Case> {
  const { endpoint } = operation;
  for (const kind of endpoint ? kindsOn(model, operation) : []) {
    if (!kind.if || !endpoint) continue;
    yield {
      name: `${operation.name}, for ${kind.name}`,
      facts: [
        { kind: 'emitting operations', subject: kind.name },
        { kind: 'payload shapes', subject: kind.name },
      ],
      run: (session) => tellUnder(session, operation, endpoint, kind),
    };
  }
}

async function tellUnder(session: Session, operation: Operation, endpoint: Endpoint, kind: EventKind): Promise<void> {
  let why: unknown = new Untestable(`nothing was found for which ${kind.if?.source} holds`);
  let tries = 0;
  for (const { slots, met, unmet } of imagine(session, endpoint, { rule: kind })) {
    if (tries === triesMost) break;
    tries += 1;
    try {
      await tell(session, operation, endpoint, slots, met);
      if (unmet) await tell(session, operation, endpoint, slots, unmet);
      return;
    } catch (error) {
      if (!(error instanceof Untestable)) throw error;
      why = error;
    }
  }
  throw why;
}

async function tell(
  session: Session,
  operation: Operation,
  endpoint: Endpoint,
  slots: readonly ConditionSubject[],
  scene: Scene,
): Promise<void> {
  const { resource = '' } = operation;
  const { request, beside, row } = await stage(session, endpoint, slots, { scene, resource });
  const [before] = row ? beside : [];
  const ears = await everybody(session);
  const acted = await session.send(request);
  if (!isDone(acted.value)) {
    await endAll(session);
    throw new Untestable(`${operation.name} was answered ${acted.value.status}${briefly(acted.value)}`);
  }
  const shown = before && { done: before, fields: rowIn(before.value) };
  await listenTo(session, { operation, kinds: kindsAbout(session.model, operation), shown, acted }, ears);
  await endAll(session);
}
