import type { Json } from '../../../document/document.ts';
import { isMap, isSame } from '../../../document/values.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import type { EventKind } from '../../../parts/events.ts';
import { entriesOf, entryOf, statedValue } from '../../../parts/fact.ts';
import type { Operation } from '../../../parts/operations.ts';
import { requestShape } from '../../../parts/payload.ts';
import { machinesOf, transitionNamed } from '../../../parts/states.ts';
import type { TrialCaller } from '../../exchange/callers.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import type { TrialRow } from '../../exchange/row.ts';
import type { Symbolic } from '../../exchange/symbol.ts';
import { ifTestable } from '../../exchange/untestable.ts';
import { callerFor } from '../../make/callers-for.ts';
import { type Look, lookAt } from '../../make/look.ts';
import { ready } from '../../make/readied.ts';
import { requestAbout } from '../../make/request-about.ts';
import { makeInSome } from '../../make/row-where.ts';
import type { Model } from '../../model/model.ts';
import { rowIn } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import type { Case, Trial } from '../../session/trial.ts';
import { type Ear, eventMs, hasArrived, type Listening, type Waiting } from './ear.ts';
import { kindsComingOf, kindsOn } from './expected.ts';
import { emissionJudgement, eventsIn, silenceJudgement, silenceShown } from './heard.ts';
import { sureKind } from './pair.ts';
import { anEar, canListen, changing, hear } from './reached.ts';

const quietMs = 250;

/** What is refused emits nothing: neither exists without the other. */
export const refused: Trial = {
  name: 'events/refused',
  part: 'events',
  about: 'A request that is refused, for its state, its body or because the row has gone, emits no event.',
  noise: 'alone',
  *cases(model) {
    if (!canListen(model)) return;
    for (const operation of changing(model)) if (kindsOn(model, operation).length > 0) yield caseOf(model, operation);
  },
};

function caseOf(model: Model, operation: Operation): Case {
  const kinds = kindsOn(model, operation);
  const facts = kinds.map(({ name: subject }) => ({ kind: 'emitting operations', subject }));
  return {
    name: `${operation.name}, refused`,
    facts,
    async run(session: Session) {
      const { endpoint } = operation;
      session.need(endpoint !== undefined, `no caller reaches ${operation.name}`);
      const { request } = await ready(session, endpoint, { style: 'full' });
      const verb = statedValue(endpoint.does)?.verb;
      // What was done once cannot be done again: the state is another, or the row has gone.
      if (verb === 'transition' || verb === 'delete') await session.send(request);
      const bad = verb === 'transition' || verb === 'delete' ? request : withoutSense(request);
      session.need(bad !== undefined, `no wrong body is known for ${operation.name}`);
      const fence = await fenceBeside(session, kinds, request.caller);
      const ear = await anEar(session, request.caller);
      const acted = await session.send(bad);
      session.need(!isDone(acted.value), `${operation.name} was not refused`);
      const { waiting, isSilence } = await behind(session, fence, ear, quietMs);
      const heard = await hear(session, ear, [acted], waiting);
      const isShown = isSilence(heard.value);
      for (const [at, fact] of facts.entries()) {
        const kind = kinds[at];
        if (!kind) continue;
        session.claim({
          shrinkingRuns: 2,
          fact,
          reason: 'refused',
          control: request,
          of: [ear.opened, acted, heard],
          judge: (opened, act, come) =>
            isKept(model, operation, act)
              ? moot('it is kept, though it is answered with an error')
              : silenceShown(silenceJudgement(model, kind, { created: opened, acted: act, heard: come }), isShown),
        });
      }
    },
  };
}

/** Whether what was answered with an error is kept all the same: its target says so. */
function isKept(model: Model, { endpoint }: Operation, answered: TrialExchange): boolean {
  const effect = endpoint && statedValue(endpoint.does);
  const { states } = model.spec;
  const targets =
    effect?.verb === 'transition'
      ? (transitionNamed(states, effect.resource, effect.transition)?.to ?? [])
      : effect && 'resource' in effect
        ? machinesOf(states, effect.resource).flatMap(({ initial }) => initial)
        : [];
  const code = model.refusals.codeIn(answered);
  return targets.some(({ answer }) => answer !== undefined && (code === undefined || answer === code));
}

/** The request with a list of lists where its body has something else. */
function withoutSense(request: RequestPlan): RequestPlan | undefined {
  const { body } = request;
  if (!body || !('value' in body) || !body.type.includes('json') || typeof body.value !== 'object' || body.value === null)
    return undefined;
  const members = body.value as Readonly<Record<string, Symbolic>>;
  const [name] = Object.entries(members).find(([, value]) => !Array.isArray(value)) ?? [];
  if (name === undefined) return undefined;
  return { ...request, body: { ...body, value: { ...members, [name]: [['ninefold-verify']] } } };
}

/** Something that is surely told of, to be done after what must not be: once it has come, silence says something. */
export interface EventFence {
  readonly operation: Operation;
  readonly kind: EventKind;
  /** It is ready to be sent: whatever it needs is there. */
  readonly request: RequestPlan;
}

/** How listening behind a fence goes on, and whether nothing but it shows anything. */
export interface Fenced {
  readonly waiting: Waiting;
  isSilence(heard: Listening): boolean;
}

/** Makes ready what is told of in none of these kinds, as somebody where that may be; nothing where no operation is such. */
async function fenceBeside(
  session: Session,
  kinds: readonly EventKind[],
  wanted: TrialCaller | undefined,
): Promise<EventFence | undefined> {
  const { model } = session;
  for (const operation of changing(model)) {
    const { endpoint } = operation;
    const kind = sureKind(model, operation);
    if (!endpoint || !kind || kindsComingOf(model, operation).some((one) => kinds.includes(one))) continue;
    const mayBe = wanted !== undefined && model.access.allows(operation, wanted) === 'yes';
    const readied = await ifTestable(ready(session, endpoint, mayBe ? { caller: wanted, maker: wanted } : {}));
    if (readied) return { operation, kind, request: readied.request };
  }
  return undefined;
}

/** Does what has to be told of, and says how it is listened for; without a fence, for as long as a slow event would take. */
async function behind(session: Session, fence: EventFence | undefined, ear: Ear, quietMs: number): Promise<Fenced> {
  const { model, run } = session;
  const acted = fence && (await ifTestable(session.send(fence.request)));
  const nothing = { deliveries: [], nowSeconds: undefined };
  const seen = acted && { created: ear.opened.value, shown: undefined, acted: acted.value, heard: nothing };
  const missed = seen && isDone(seen.acted) && emissionJudgement(model, fence.operation, fence.kind, ear.maker, seen);
  if (fence && missed && 'promised' in missed) {
    const hasCome = (deliveries: Listening['deliveries']) => isTold(model, fence.kind, deliveries);
    return {
      waiting: { isEnough: hasCome, ms: eventMs, quietMs: quietMs / 2 },
      isSilence: ({ deliveries }) => hasCome(deliveries),
    };
  }
  return {
    waiting: { isEnough: () => false, ms: 0, quietMs, isUnfenced: true },
    isSilence: () => hasArrived(run),
  };
}

function isTold(model: Model, { name }: EventKind, deliveries: Listening['deliveries']): boolean {
  return eventsIn(model, deliveries).some(({ kind }) => kind === name);
}

const unchangedQuietMs = 200;

/** What changes nothing stores and emits nothing. */
export const unchangedIsSilent: Trial = {
  name: 'events/unchanged',
  part: 'events',
  about: 'An update or a replacement with the values that the row has emits no event, unless it always counts.',
  noise: 'alone',
  *cases(model) {
    if (!canListen(model)) return;
    for (const operation of changing(model)) {
      const verb = operation.endpoint && statedValue(operation.endpoint.does)?.verb;
      if ((verb !== 'update' && verb !== 'replace') || kindsOn(model, operation).length === 0) continue;
      if (operation.endpoint?.request.standing === 'open' && !setsMore(model, operation)) yield unchangedCase(model, operation);
    }
  },
};

/** Whether the service sets something at every such change, so that the same values may be another row. */
function setsMore(model: Model, { resource = '', name, endpoint }: Operation): boolean {
  const stated = model.resource(resource);
  const verb = endpoint && statedValue(endpoint.does)?.verb;
  return (stated ? entriesOf(stated.fields) : []).some(
    ([, { set, show }]) => set[verb ?? ''] !== undefined || set[name] !== undefined || (show !== undefined && show !== 'id'),
  );
}

function unchangedCase(model: Model, operation: Operation): Case {
  const kinds = kindsOn(model, operation);
  const facts = kinds.map(({ name: subject }) => ({ kind: 'emitting operations', subject }));
  return {
    name: `${operation.name}, with the values that are there`,
    facts,
    async run(session: Session) {
      const { endpoint, resource = '' } = operation;
      session.need(endpoint !== undefined, `no caller reaches ${operation.name}`);
      const row = await makeInSome(session, resource, endpoint.in);
      const caller = callerFor(session, endpoint, row);
      const look = await lookAt(session, row, caller);
      const json = sameAgain(session, endpoint, resource, look);
      session.need(json !== undefined, `not all that ${operation.name} takes is shown`);
      const headers = await session.preconditions(endpoint, row, caller);
      // With less in it, a replacement would be another one.
      const request = { ...(await requestAbout(session, row, endpoint, { caller, headers, json })), isWhole: true };
      const counts = endpoint.counts !== undefined;
      const fence = counts ? undefined : await fenceBeside(session, kinds, caller);
      const ear = await anEar(session, caller);
      const acted = await session.send(request);
      session.need(isDone(acted.value), `${operation.name} was answered ${acted.value.status}`);
      const isEnough = (all: Listening['deliveries']) => all.length >= facts.length;
      const fenced = counts ? undefined : await behind(session, fence, ear, unchangedQuietMs);
      const heard = await hear(
        session,
        ear,
        [look.done, acted],
        fenced?.waiting ?? { isEnough, ms: eventMs, quietMs: unchangedQuietMs },
      );
      const isSilence = fenced === undefined || fenced.isSilence(heard.value);
      for (const [at, fact] of facts.entries()) {
        const kind = kinds[at] as EventKind;
        const { name } = kind;
        session.claim({
          shrinkingRuns: 2,
          fact,
          reason: 'unchanged',
          of: [ear.opened, look.done, acted, heard],
          judge: (opened: TrialExchange, shown: TrialExchange, act: TrialExchange, come: Listening): Judgement => {
            if (!isDone(opened) || !isDone(act) || !isAsItWas(shown, act)) return moot('it was not asked for what is there');
            const id = idOf(model, row, act);
            const about = eventsIn(model, come.deliveries).filter(
              ({ kind, payload }) => kind === name && JSON.stringify(payload ?? null).includes(id),
            );
            if (counts && (kind.if || kind.to || kind.each)) return moot('it is told of under a condition');
            if (counts && about.length === 0)
              return { promised: `what changes nothing counts, and emits ${name}`, seen: 'none came' };
            if (counts || about.length === 0) return silenceShown(undefined, isSilence);
            return { promised: `what changes nothing emits no ${name}`, seen: `${about.length} came` };
          },
        });
      }
    },
  };
}

/** A body of everything that the row shows of what may be sent; nothing where a replacement would take away what is not shown. */
function sameAgain(
  { model, captured }: Pick<Session, 'model' | 'captured'>,
  endpoint: Endpoint,
  resource: string,
  { done, fields }: Look,
): Symbolic | undefined {
  const properties = statedValue(requestShape(model.spec, endpoint))?.properties;
  const stated = model.resource(resource);
  if (!fields || !stated || !isMap(properties) || rowIn(done.value)?.[model.identifierField(resource)] === undefined)
    return undefined;
  const { caller } = done.value;
  const unseen = model.unseenIn(resource, caller, fields);
  const isClosed = (name: string) => {
    const writable = entryOf(stated.fields, name)?.writable;
    return unseen.has(name) || (writable !== undefined && !writable.includes(caller?.user ?? ''));
  };
  const all = Object.keys(properties);
  if (statedValue(endpoint.does)?.verb === 'replace' && all.some(isClosed)) return undefined;
  const names = all.filter((name) => !isClosed(name) && Object.hasOwn(fields, name));
  return names.length === 0 ? undefined : Object.fromEntries(names.map((name) => [name, captured(done, name)]));
}

/** Whether a request sent just what was shown. */
function isAsItWas(shown: TrialExchange, { sent: { json } }: TrialExchange): boolean {
  const before = rowIn(shown);
  if (!before || typeof json !== 'object' || json === null) return false;
  return Object.entries(json as Readonly<Record<string, Json>>).every(([name, value]) => isSame(before[name], value));
}

function idOf(model: Model, { resource }: TrialRow, act: TrialExchange): string {
  return JSON.stringify(rowIn(act)?.[model.identifierField(resource)] ?? null);
}
