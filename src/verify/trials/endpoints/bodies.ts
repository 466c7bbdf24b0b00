import type { Json } from '../../../document/document.ts';
import { isMap } from '../../../document/values.ts';
import type { ErrorCondition } from '../../../parts/conditions.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, isStated, statedValue } from '../../../parts/fact.ts';
import { resourceOfEffect } from '../../../parts/operations.ts';
import { identifierParameter } from '../../../parts/payload.ts';
import { type FactName, type Judgement, moot } from '../../exchange/claim.ts';
import { briefly, isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import type { Done } from '../../exchange/step.ts';
import { type Begun, beginBody } from '../../make/begin-body.ts';
import { claimRefused } from '../../make/claim-refused.ts';
import { claimRow } from '../../make/claim-row.ts';
import { isUniqueMember, membersSent, type SentMember } from '../../make/fields-sent.ts';
import { lookAt } from '../../make/look.ts';
import { putThere } from '../../make/put-there.ts';
import { asksForNoKind } from '../../model/asked-kinds.ts';
import { isSetToFit, pathFits, sentKeepsRules } from '../../model/field-rules.ts';
import { isNeverNull } from '../../model/fields.ts';
import type { Model } from '../../model/model.ts';
import { bodyMedia } from '../../model/own-body.ts';
import { isByRule } from '../../model/promises.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';
import { membersOf, withMember, withoutMember } from '../../values/at-path.ts';
import { conditionOfBreak, unlikeEdge, type Variant } from '../../values/variants.ts';
import { besidePath, bodyBreaks, bodyEdges, inBranch, isHandedOn, membersBegun, sendBesidePath } from './members-begun.ts';

/** Valid bodies over the whole of their shape are taken; a body with one thing wrong is refused, for that thing. */
export const bodies: Trial = {
  name: 'endpoints/bodies',
  part: 'endpoints',
  about: 'Bodies at the edges of their shape are taken, and those just beyond refused, one thing at a time.',
  noise: 'quiet',
  *cases(model) {
    for (const endpoint of model.endpoints) {
      if (bodyMedia(endpoint) === undefined || !isBodyPromised(model, endpoint)) continue;
      const facts = factsOf(model, endpoint);
      yield { name: `${endpoint.key}, edges`, facts, run: (session) => sendEdges(session, endpoint) };
      yield { name: `${endpoint.key}, breaks`, facts, run: (session) => sendBreaks(session, endpoint) };
      if (statedValue(endpoint.does)?.verb === 'upsert') {
        const name = `${endpoint.key}, breaks of what is there`;
        yield { name, facts, run: (session) => sendBreaks(session, endpoint, true) };
      }
      for (const beside of besidePath(model, endpoint)) {
        const name = `${endpoint.key}, another ${beside.field.name}`;
        yield { name, facts: [bodyFact(endpoint)], run: (session) => sendBesidePath(session, endpoint, beside) };
      }
      for (const round of [1, 2, 3]) {
        yield {
          name: `${endpoint.key}, drawn ${round}`,
          facts: [bodyFact(endpoint), ...setBySent(model, endpoint)],
          run: (session) => sendDrawn(session, endpoint),
        };
      }
    }
  },
};

/** The fields that a transition sets to something that was sent with it. */
function setBySent(model: Model, { does }: Endpoint): FactName[] {
  const effect = statedValue(does);
  if (effect?.verb !== 'transition') return [];
  return entriesOf(model.resource(effect.resource)?.fields)
    .filter(([, { set }]) => /\brequest\b/.test(set[effect.transition]?.source ?? ''))
    .map(([name]) => ({ kind: 'allowed values', subject: `${effect.resource}.${name}` }));
}

/** Whether the document says which bodies an endpoint takes. What follows from an effect that nobody stated is no promise. */
export function isBodyPromised(model: Model, endpoint: Endpoint): boolean {
  return isStated(endpoint.request) || (endpoint.does.standing === 'stated' && isStated(model.requestShape(endpoint)));
}

function bodyFact({ key }: Endpoint): FactName {
  return { kind: 'request payload shapes', subject: key };
}

function factsOf(model: Model, endpoint: Endpoint): FactName[] {
  const caller = model.callers.find((one) => model.access.allows(model.operationOf(endpoint), one) === 'yes') ?? model.callers[0];
  const facts = membersSent(model, endpoint, caller).flatMap((member) => {
    const kinds = new Set(
      [...bodyEdges(model, endpoint, member), ...bodyBreaks(model, endpoint, member.shape)].map(({ kind }) => kind),
    );
    return [...kinds, ...(member.isNeeded || isTakenAway(model, endpoint, member) ? (['required flags'] as const) : [])].map(
      (kind) => member.fact(kind),
    );
  });
  return [bodyFact(endpoint), ...facts];
}

async function sendDrawn(session: Session, endpoint: Endpoint): Promise<void> {
  const begun = await beginBody(session, endpoint, 'full');
  const effect = statedValue(endpoint.does);
  // What a transition makes of values that do not lie at an edge is seen beside the row as it was.
  const before = begun.row && effect?.verb === 'transition' ? await lookAt(session, begun.row) : undefined;
  const done = await session.send(begun.request(begun.json));
  claimTaken(session, endpoint, done);
  if (effect && before && isDone(done.value))
    claimRow(session, { resource: begun.row?.resource ?? '', before: before.done, change: done, seen: done, reason: 'answered' });
  if (isDone(done.value) || !begun.isNew) return;
  // A rule of the service's own may be against what was drawn, which fewer drawn members can pass.
  const plain = await beginBody(session, endpoint, 'plain');
  const json = Object.entries(membersOf(plain.json)).reduce(
    (drawn, [name, value]) => withMember(drawn, [name], value),
    begun.json,
  );
  claimTaken(session, endpoint, await session.send(plain.request(json)));
}

function claimTaken(session: Session, endpoint: Endpoint, done: Done<TrialExchange>): void {
  session.claim({
    fact: bodyFact(endpoint),
    reason: 'drawn',
    of: [done] as const,
    judge: (exchange: TrialExchange) =>
      isDone(exchange) || isByRule(endpoint) || session.model.conventions
        ? taken(session.model, exchange)
        : moot('a rule that is not stated may be against it'),
  });
}

/** Every member at every edge, the others as plain as they go. */
async function sendEdges(session: Session, endpoint: Endpoint): Promise<void> {
  for await (const { begun, member } of membersBegun(session, endpoint)) {
    if ((member.isImmutable && !begun.isNew) || isHandedOn(session.model, endpoint, member)) continue;
    const edges = bodyEdges(session.model, endpoint, member);
    // Where nobody states what the operation does, rules of its own may be against any body: one that is taken but for the edge has to be.
    const base = edges.length > 0 && !isByRule(endpoint) ? await sendWith(session, begun, member) : undefined;
    const sent = edges.map((one) => (isUniqueMember(session.model, endpoint, member) ? unlikeEdge(one, session.chance) : one));
    for (const edge of base && !isDone(base.value) ? [] : sent) await sendEdge(session, begun, member, edge);
  }
}

async function sendWith(session: Session, begun: Begun, member: SentMember): Promise<Done<TrialExchange>> {
  const current = await begun.again();
  return session.send(current.request(inBranch(session, current.json, member)));
}

async function sendEdge(session: Session, begun: Begun, member: SentMember, edge: Variant): Promise<void> {
  const current = await begun.again();
  const json = inBranch(session, current.json, member);
  const done = await session.send(current.request(withMember(json, member.path, edge.value)));
  session.claim({
    fact: member.fact(edge.kind),
    reason: 'edge taken',
    of: [done] as const,
    judge: (exchange: TrialExchange) => taken(session.model, exchange, `${member.path.join('.')} ${edge.label}`),
  });
}

/** What is valid must not be refused as invalid; what else stands in its way is another matter. */
export function taken(model: Model, exchange: TrialExchange, what = 'the body'): Judgement {
  if (isDone(exchange)) return undefined;
  if (model.refusals.isHurried(exchange) || exchange.status === 501) return moot('it could not be done now');
  if (!isValid(model, exchange) || isAboutAnother(model, exchange) || !pathFits(model, exchange)) return moot('it is not valid');
  const { endpoint } = exchange;
  if (sentKeepsRules(model, endpoint, exchange.sent.json) !== 'yes') return moot('it may break a rule over several fields');
  if (!isSetToFit(model, exchange)) return moot('what is set in it may be no value of its field');
  const operation = endpoint && model.operationOf(endpoint);
  if (model.refusals.mayBeOwn(exchange, operation)) return moot('it may be an error of its own, which shows no code');
  const code = model.refusals.codeIn(exchange);
  const conditions = ['request.malformed', 'request.media', 'request.parameter', 'request.invalid', 'internal'] as const;
  const codes = conditions.flatMap((condition) => model.refusals.codesFor(condition, operation));
  const isRefusedForIt =
    code === undefined
      ? [400, 415, 422, ...(endpoint && isByRule(endpoint) ? [500] : [])].includes(exchange.status)
      : codes.includes(code) || exchange.status >= 500;
  return isRefusedForIt
    ? { promised: `${what} is taken`, seen: `${exchange.status}${briefly(exchange)}` }
    : moot('something else stood in its way');
}

/** Whether the body names another row than the path does: what a row is called stays as it is. */
function isAboutAnother(model: Model, { endpoint, sent }: TrialExchange): boolean {
  const last = endpoint && identifierParameter(endpoint);
  const resource = endpoint && resourceOfEffect(statedValue(endpoint.does));
  const named = isMap(sent.json) && resource !== undefined ? sent.json[model.identifierField(resource)] : undefined;
  return last !== undefined && named !== undefined && named !== sent.path[last];
}

/** Whether what was sent fits the shape that the endpoint takes, and the row that comes of it. */
export function isValid(model: Model, { endpoint, sent }: TrialExchange): boolean {
  const shape = endpoint && model.requestShape(endpoint);
  if (!shape || !isStated(shape) || sent.json === undefined) return false;
  if (asksForNoKind(model, endpoint, sent.json)) return false;
  if (removesRequired(model, endpoint, sent.json) || model.schemas.of(shape.value, 'sent')(sent.json).length > 0) return false;
  // A body that is stated says what may be sent; what is made of it is a row all the same.
  const row = isStated(endpoint.request) ? model.rowShape(endpoint) : undefined;
  return (
    !row ||
    model.schemas
      .of(
        row,
        'sent',
      )(sent.json)
      .every(({ keyword }) => keyword.endsWith('Properties'))
  );
}

/** Null in a patch takes a member away (RFC 7396), and what is required has to be there. */
function removesRequired(model: Model, endpoint: Endpoint, json: Json): boolean {
  const effect = statedValue(endpoint.does);
  const resource = effect?.verb === 'update' ? model.resource(effect.resource) : undefined;
  return (
    isMap(json) &&
    entriesOf(resource?.fields).some(
      ([name, { required, keepsNull }]) =>
        Object.hasOwn(json, name) && json[name] === null && statedValue(required) === true && !keepsNull,
    )
  );
}

/** `isOver` = in the place of a row that was made before, in which nothing that is set once is tried. */
async function sendBreaks(session: Session, endpoint: Endpoint, isOver = false): Promise<void> {
  const there = new Map<Begun, Begun>();
  for await (const { begun: first, member } of membersBegun(session, endpoint)) {
    if (isOver && member.isImmutable) continue;
    const begun = isOver ? (there.get(first) ?? (await begunOver(session, first))) : first;
    there.set(first, begun);
    if (member.isNeeded) await sendWithout(session, begun, member);
    if (isTakenAway(session.model, endpoint, member)) await sendNull(session, begun, member);
    const json = inBranch(session, begun.json, member);
    for (const broken of member.isUnknown ? [unknown] : bodyBreaks(session.model, endpoint, member.shape)) {
      const done = await session.send(begun.request(withMember(json, member.path, broken.value)));
      const what = `${member.path.join('.')} ${broken.label}`;
      claimInvalid(
        session,
        done,
        { fact: member.fact(broken.kind), what, by: { when: conditionOf(member, broken, begun) } },
        begun.request(json),
      );
    }
  }
}

/** The same where the row is there already. */
async function begunOver(session: Session, begun: Begun): Promise<Begun> {
  const { row, about } = await putThere(session, begun.valid);
  return { ...begun, row, isNew: false, request: (json) => about(begun.request(json)), valid: about(begun.valid) };
}

/** Whether null can be sent for a member that has to stay: a form says it where an empty text takes a member away. */
function isTakenAway({ spec }: Model, endpoint: Endpoint, { path }: SentMember): boolean {
  const isSaid = bodyMedia(endpoint) === 'json' || endpoint.emptySent !== undefined;
  return isSaid && isNeverNull(spec, endpoint, path);
}

/** Of what is set once, another value that is of a wrong type too is wrong in two ways, of which nobody says which answers. */
function conditionOf(
  { isUnknown, isImmutable, within, shape }: SentMember,
  { value }: Variant,
  { isNew }: Begun,
): ErrorCondition {
  if (within || (isImmutable && !isNew)) return 'request.invalid';
  return isUnknown ? 'request.invalid.unknown' : conditionOfBreak(shape, value);
}

/** What is wrong with a body: a condition, and what it may as well be. */
type Invalid = { readonly when: ErrorCondition; readonly or?: readonly ErrorCondition[] };

/** Null for a required field is `request.invalid`: no word says whether it is missing then, or a wrong value of whichever sort. */
const nullOfNeeded: Invalid = {
  when: 'request.invalid.missing',
  or: ['request.invalid.type', 'request.invalid.value'],
};

/** Any value will do of what must not be there at all. */
const unknown: Variant = { label: 'which is not stated', value: 'x', kind: 'allowed values' };

async function sendWithout(session: Session, begun: Begun, member: SentMember): Promise<void> {
  const json = inBranch(session, begun.json, member);
  const done = await session.send(begun.request(withoutMember(json, member.path)));
  const when = member.within ? 'request.invalid' : 'request.invalid.missing';
  const what = `a body without ${member.path.join('.')}`;
  claimInvalid(session, done, { fact: member.fact('required flags'), what, by: { when } }, begun.request(json));
}

async function sendNull(session: Session, begun: Begun, member: SentMember): Promise<void> {
  const done = await session.send(begun.request(withMember(begun.json, member.path, null)));
  const what = `a patch that takes ${member.path.join('.')} away`;
  claimInvalid(session, done, { fact: member.fact('required flags'), what, by: nullOfNeeded }, begun.request(begun.json));
}

function claimInvalid(
  session: Session,
  done: Done<TrialExchange>,
  { fact, what, by }: { readonly fact: FactName; readonly what: string; readonly by: Invalid },
  control: RequestPlan,
): void {
  const isSo = (exchange: TrialExchange) => !isValid(session.model, exchange);
  claimRefused(session, done, {
    by,
    fact,
    reason: 'invalid refused',
    what,
    isSo,
    control,
  });
}
