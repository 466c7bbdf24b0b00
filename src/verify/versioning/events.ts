import type { Json } from '../../document/document.ts';
import { statedValue } from '../../parts/fact.ts';
import type { Carries } from '../../parts/versions/carries.ts';
import type { Heard } from '../events/ear.ts';
import { eventMs } from '../events/ear.ts';
import { toldIn } from '../events/envelope.ts';
import { actTwice, makerOf, type Pair, pairOf } from '../events/pair.ts';
import { earOf, newAddress, subscribersOf, subscribing } from '../events/subscribing.ts';
import { ready } from '../make/readied.ts';
import type { Model } from '../model/model.ts';
import { type Judgement, moot } from '../script/claim.ts';
import { type Exchange, fieldsOf, isDone } from '../script/exchange.ts';
import type { Session } from '../script/session.ts';
import type { Symbolic } from '../script/symbol.ts';
import type { Case, Trial } from '../trial.ts';
import { isSame, shown } from '../values/difference.ts';
import { carriesTo, inVersion, isOver, versionsOf } from './versions.ts';

/** A subscriber is told in the version in which it subscribed. */
export const eventVersions: Trial = {
  name: 'versioning/events',
  part: 'versioning',
  about: 'Events go down to the version that their subscriber was made in.',
  noise: 'alone',
  *cases(model) {
    const versions = versionsOf(model);
    const pair = pairOf(model);
    if (!versions || !pair || !subscribersOf(model) || subscribing(model).length === 0) return;
    const resource = subscribersOf(model)?.resource ?? '';
    for (const version of versions.all) {
      const carries = carriesTo(model, versions, version.name);
      const isWhole = statedValue(pair.first.payload)?.resource === pair.resource;
      // Where subscribers themselves have changed, they are made in another way.
      if (!carries || !isWhole || !carries.resource(pair.resource) || carries.resource(resource)) continue;
      if (isOver(version, Date.now()) === false) yield caseOf(model, pair, version.name, carries);
    }
  },
};

function caseOf(model: Model, pair: Pair, version: string, carries: Carries): Case {
  const fact = { kind: 'version identifiers', subject: 'service' };
  return {
    name: `${pair.first.name} for a subscriber of ${version}`,
    facts: [fact],
    async run(session: Session) {
      const maker = makerOf(model, pair, subscribing(model));
      const { ear, made, moved } = await actTwice(session, pair, () => subscribeIn(session, maker, version));
      const isEnough = (all: Heard['deliveries']) => all.some(({ body }) => toldIn(model.spec, body).kind === pair.first.name);
      const heard = await session.do(ear.hearing([made, moved], { isEnough, ms: eventMs, quietMs: 0 }));
      session.claim({
        shrinkingRuns: 2,
        ...{ fact, reason: 'events', of: [ear.opened, made, heard] },
        judge: (opened: Exchange, one: Exchange, all: Heard): Judgement => {
          const told = all.deliveries.map(({ body }) => toldIn(model.spec, body)).find(({ kind }) => kind === pair.first.name);
          const row = isDone(one) ? fieldsOf(one) : undefined;
          if (!isDone(opened) || !row || !told) return moot('nobody subscribed, or nothing came');
          return downJudgement(model, pair, carries, row, told.payload, version);
        },
      });
    },
  };
}

function downJudgement(
  model: Model,
  { resource }: Pair,
  carries: Carries,
  row: Readonly<Record<string, Json>>,
  payload: Json | undefined,
  version: string,
): Judgement {
  const carry = carries.resource(resource);
  const given = payload === undefined ? undefined : fieldsOf({ body: payload });
  if (!carry || !given) return moot('there is no payload');
  // The cast holds: what is carried of a row of JSON is one.
  const wanted = carry.down(row) as Readonly<Record<string, Json>>;
  for (const { older, newer, isMapped } of carry.lines) {
    const name = older ?? newer;
    if (name === undefined || (older === newer && !isMapped) || model.unseenBy(resource, undefined).has(newer ?? '')) continue;
    if (older === undefined && Object.hasOwn(given, name) && !Object.hasOwn(wanted, name))
      return { promised: `there is no ${name} in ${version}`, seen: shown(given[name]) };
    if (older !== undefined && Object.hasOwn(wanted, older) && !isSame(wanted[older], given[older]))
      return { promised: `${older} in ${version}: ${shown(wanted[older])}`, seen: shown(given[older]) };
  }
  return undefined;
}

/** Subscribes by a request in a version. @throws {Untestable} */
async function subscribeIn(session: Session, maker: Parameters<typeof earOf>[3], version: string) {
  const { model } = session;
  const { resource = '', url: field = '', events } = subscribersOf(model) ?? {};
  const [endpoint] = model.endpointsThat('create', resource);
  session.need(endpoint !== undefined, 'nobody can subscribe');
  const { request } = await ready(session, endpoint, { caller: maker });
  const url = await newAddress(session);
  const body: Readonly<Record<string, Symbolic>> = { [field]: url, ...(events !== undefined && { [events]: ['*'] }) };
  const type = request.body?.type ?? 'application/json';
  const created = await session.send(inVersion(model, { ...request, body: { value: body, type } }, version));
  session.need(isDone(created.value), `to subscribe in ${version} was answered ${created.value.status}`);
  return earOf(model, url, created, maker);
}
