import type { Json } from '../../../document/document.ts';
import { isSame } from '../../../document/values.ts';
import type { EventKind } from '../../../parts/events.ts';
import { entryOf, statedValue } from '../../../parts/fact.ts';
import type { Operation } from '../../../parts/operations.ts';
import type { Carries } from '../../../parts/versions/carries.ts';
import type { TrialCaller } from '../../exchange/callers.ts';
import { type FactName, type Judgement, moot } from '../../exchange/claim.ts';
import { bodyFields, isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { Symbolic } from '../../exchange/symbol.ts';
import { Untestable } from '../../exchange/untestable.ts';
import { callerFor, callersFor } from '../../make/callers-for.ts';
import { ready } from '../../make/readied.ts';
import { rowFrom } from '../../make/row-made.ts';
import { carried, carriesTo, inVersion, isOver, versionsOf } from '../../make/versions.ts';
import { askedKinds } from '../../model/asked-kinds.ts';
import type { Model } from '../../model/model.ts';
import { rowIn } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import type { Case, Trial } from '../../session/trial.ts';
import { oneLine } from '../../values/difference.ts';
import { type Ear, endAll, eventMs, type Listening, listenIn } from '../events/ear.ts';
import { deliveryOf, toldIn } from '../events/envelope.ts';
import { beingAsked, newAddress } from '../events/own-addresses.ts';
import { sureKind } from '../events/pair.ts';
import { changing, hear } from '../events/reached.ts';
import { openEar, streaming, streamOf } from '../events/stream-ears.ts';
import { earOf, subscribersOf, subscribing, unsubscribe } from '../events/subscribing.ts';

const fact: FactName = { kind: 'version identifiers', subject: 'service' };

/** A subscriber is told in the version in which it subscribed, who reads the stream in the version in which it asked for it. */
export const eventVersions: Trial = {
  name: 'versioning/events',
  part: 'versioning',
  about: 'Events go down to the version that their subscriber was made in, or the stream was asked for in.',
  noise: 'alone',
  *cases(model) {
    const versions = versionsOf(model);
    if (!versions) return;
    for (const version of versions.all) {
      const carries = carriesTo(model, versions, version.name);
      if (!carries || isOver(version, Date.now()) !== false) continue;
      for (const told of creations(model)) {
        if (!carries.resource(told.resource)) continue;
        // Where subscribers themselves have changed, they are made in another way.
        const subscribers = subscribersOf(model)?.resource;
        if (subscribers !== undefined && subscribing(model).length > 0 && !carries.resource(subscribers))
          yield caseOf(model, told, version.name, carries, 'a subscriber');
        if (streamOf(model) && streaming(model).length > 0) yield caseOf(model, told, version.name, carries, 'the stream');
      }
    }
  },
};

/** A creation that surely emits one event, which shows the row, or an act that does, where no creation is told of. */
interface Creation {
  readonly operation: Operation;
  readonly kind: EventKind;
  readonly resource: string;
}

function creations(model: Model): Creation[] {
  const told = (verb: string) =>
    changing(model).flatMap((operation) => {
      const { endpoint, resource } = operation;
      const kind = endpoint && statedValue(endpoint.does)?.verb === verb ? sureKind(model, operation) : undefined;
      const isWhole = kind !== undefined && !kind.data && statedValue(kind.payload)?.resource === resource;
      return isWhole && resource !== undefined ? [{ operation, kind, resource }] : [];
    });
  const made = told('create');
  const acts = Map.groupBy(told('transition'), ({ resource }) => resource);
  const untold = [...acts.values()].flatMap(([first]) => first ?? []);
  return [...made, ...untold.filter(({ resource }) => !made.some((one) => one.resource === resource))];
}

function caseOf(model: Model, told: Creation, version: string, carries: Carries, who: 'a subscriber' | 'the stream'): Case {
  const { operation, kind } = told;
  return {
    name: `${kind.name} for ${who} of ${version}`,
    facts: [fact],
    async run(session: Session) {
      const { endpoint } = operation;
      session.need(endpoint !== undefined, `no caller reaches ${operation.name}`);
      const { ear, made } = await created(session, told, version, who);
      const isEnough = (all: Listening['deliveries']) => all.some((one) => toldIn(model.spec, one).kind === kind.name);
      const heard = await hear(session, ear, [made], { isEnough, ms: eventMs, quietMs: 0 });
      session.claim({
        shrinkingRuns: 2,
        fact,
        reason: `events of ${who}`,
        of: [ear.opened, made, heard],
        judge: (opened: TrialExchange, one: TrialExchange, all: Listening): Judgement => {
          const event = all.deliveries
            .map((one) => toldIn(model.spec, one))
            .find((come) => come.kind === kind.name && isAbout(model, told.resource, one, come.payload));
          const row = isDone(one) ? rowIn(one) : undefined;
          if (!isDone(opened) || !row || !event) return moot('nobody listened, or nothing came');
          return downJudgement(model, told.resource, carries, { row, maker: ear.maker, payload: event.payload, version });
        },
      });
    },
  };
}

/** Makes the row, with everything in it that its rules allow, with somebody listening in the version. @throws {Untestable} */
async function created(session: Session, { operation, resource }: Creation, version: string, who: 'a subscriber' | 'the stream') {
  const { model } = session;
  const { endpoint } = operation;
  let why = '';
  for (const style of ['whole', 'plain'] as const) {
    if (!endpoint) break;
    const listeners = who === 'the stream' ? streaming(model) : subscribing(model);
    const able = callersFor(session, endpoint).find((one) => listeners.includes(one)) ?? callerFor(session, endpoint);
    const { request } = await ready(session, endpoint, { style, caller: able });
    const maker = listeners.includes(able) ? able : listeners[0];
    const ear =
      who === 'the stream' ? await openEar(session, maker, inOlder(model, version)) : await subscribeIn(session, maker, version);
    const made = await session.send(request);
    if (isDone(made.value)) return { ear, made };
    await endAll(session);
    why = `to create a ${resource} was answered ${made.value.status}`;
  }
  throw new Untestable(why);
}

function inOlder(model: Model, version: string): Parameters<typeof openEar>[2] {
  return { asked: (plan) => inVersion(model, plan, version) };
}

/** Whether a payload is that of the row, and not of one that somebody else makes. */
function isAbout(model: Model, resource: string, made: TrialExchange, payload: Json | undefined): boolean {
  const id = rowIn(made)?.[model.identifierField(resource)];
  return id !== undefined && JSON.stringify(payload ?? null).includes(JSON.stringify(id));
}

/** A row as its maker was shown it, and what a subscriber was told of it in a version. */
interface ToldDown {
  readonly row: Readonly<Record<string, Json>>;
  readonly maker: TrialCaller | undefined;
  readonly payload: Json | undefined;
  readonly version: string;
}

function downJudgement(model: Model, resource: string, carries: Carries, { row, maker, payload, version }: ToldDown): Judgement {
  const carry = carries.resource(resource);
  const given = payload === undefined ? undefined : bodyFields({ body: payload });
  if (!carry || !given) return moot('there is no payload');
  const wanted = carried(() => carry.down(row));
  if (!wanted) return moot('it has no form in that version');
  const unseen = model.unseenBy(resource, maker);
  for (const { older, newer, isMapped } of carry.lines) {
    const name = older ?? newer;
    if (name === undefined || (older === newer && !isMapped) || unseen.has(newer ?? '')) continue;
    // Children are in answers alone.
    if (entryOf(model.resource(resource)?.fields, newer ?? '')?.children) continue;
    if (older === undefined && Object.hasOwn(given, name) && !Object.hasOwn(wanted, name))
      return { promised: `there is no ${name} in ${version}`, seen: oneLine(given[name]) };
    if (older !== undefined && Object.hasOwn(wanted, older) && !isSame(wanted[older], given[older]))
      return { promised: `${older} in ${version}: ${oneLine(wanted[older])}`, seen: oneLine(given[older]) };
  }
  return undefined;
}

/** Subscribes by a request in a version. @throws {Untestable} */
async function subscribeIn(session: Session, maker: TrialCaller | undefined, version: string): Promise<Ear> {
  const { model } = session;
  const { resource = '', url: field = '', events } = subscribersOf(model) ?? {};
  const [endpoint] = model.endpointsThat('create', resource);
  session.need(endpoint !== undefined, 'nobody can subscribe');
  const { request } = await ready(session, endpoint, { caller: maker });
  const url = await newAddress(session);
  const body: Readonly<Record<string, Symbolic>> = {
    [field]: url,
    ...(events !== undefined && { [events]: [...(askedKinds(model, ['*']) ?? [])] }),
  };
  const type = request.body?.type ?? 'application/json';
  const created = await session.send(inVersion(model, { ...request, body: { value: body, type } }, version));
  session.need(isDone(created.value), `to subscribe in ${version} was answered ${created.value.status}`);
  const row = rowFrom(session, resource, endpoint, created);
  const asked = deliveryOf(model.spec)?.push?.confirm ? [await session.do(beingAsked(url, created))] : [];
  return listenIn(session, { ...earOf(model, url, created, maker, asked), end: () => unsubscribe(session, row) });
}
