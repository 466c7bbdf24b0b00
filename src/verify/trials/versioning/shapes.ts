import type { Json } from '../../../document/document.ts';
import { isMap, isSame } from '../../../document/values.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { type Expression, entriesOf, entryOf, isStated, statedValue } from '../../../parts/fact.ts';
import type { ResourceCarry } from '../../../parts/versions/carry.ts';
import { isServed } from '../../../parts/versions/spec-in-version.ts';
import { type FactName, type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import type { TrialRow } from '../../exchange/row.ts';
import type { Done } from '../../exchange/step.ts';
import { callersFor } from '../../make/callers-for.ts';
import { knocking } from '../../make/knocking.ts';
import { showsWhole } from '../../make/look.ts';
import { ready } from '../../make/readied.ts';
import { requestAbout } from '../../make/request-about.ts';
import { rowFrom } from '../../make/row-made.ts';
import {
  bodiesFor,
  carried,
  carriesTo,
  inVersion,
  needServed,
  olderBody,
  type RequestVersions,
  versionsOf,
} from '../../make/versions.ts';
import { carriedNames, writtenByOthers } from '../../make/written-by-others.ts';
import { hiddenInside } from '../../model/fields.ts';
import { isFieldThere } from '../../model/judge-field.ts';
import type { Model } from '../../model/model.ts';
import { isRefusal, isRefused, refusalFor } from '../../model/refused-as.ts';
import { rowPlace, unexpanded } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import type { Case, Trial } from '../../session/trial.ts';
import { oneLine as told } from '../../values/difference.ts';
import { claimListed } from './listed.ts';
import { claimOlderPlaces } from './older-places.ts';

const fact: FactName = { kind: 'version identifiers', subject: 'service' };

const selectionFact: FactName = { kind: 'version selection', subject: 'service' };

/** What each version changed, undone in those before it: in what is read, in what is written, and in what there is. */
export const shapes: Trial = {
  name: 'versioning/shapes',
  part: 'versioning',
  about: 'A row reads in an older version as the stated changes make it; what is written there is the same row in the newest.',
  noise: 'quiet',
  *cases(model) {
    const versions = versionsOf(model);
    if (!versions) return;
    for (const { name } of versions.all) {
      const carries = carriesTo(model, versions, name);
      if (!carries) continue;
      for (const [resource] of entriesOf(model.spec.resources.all)) {
        // What a row shows of others may have changed where it has not itself.
        const carry = carries.resource(resource) ?? carries.expanding.resource(resource);
        if (!carry || !model.endpointsThat('read', resource).some(showsPlain)) continue;
        const shown = carries.expanding.resource(resource) ?? carry;
        for (const body of bodiesFor(model, versions, name, resource, carry))
          yield rowCase(model, versions, { version: name, resource, body, carry, shown });
      }
      for (const { key } of model.endpoints) {
        if (!isServed(versions.history, name, key)) yield absentCase(model, versions, name, key);
      }
    }
  },
};

interface Older {
  /** Members that the row is made with. */
  readonly body: Readonly<Record<string, Json>> | undefined;
  readonly version: string;
  readonly resource: string;
  readonly carry: ResourceCarry;
  /** The same where references may be shown whole. */
  readonly shown: ResourceCarry;
}

function rowCase(model: Model, versions: RequestVersions, older: Older): Case {
  const { version, resource, body } = older;
  return {
    name: `${resource} in ${version}${body === undefined ? '' : `, with ${JSON.stringify(body)}`}`,
    facts: isUsual(model) && version !== versions.history.current ? [fact, selectionFact] : [fact],
    async run(session: Session) {
      needServed(session, versions, version);
      const row = await session.make(resource, { style: 'whole', ...(body && { body }) });
      await writtenByOthers(session, row, carriedNames(older.carry.lines), body);
      const look = await looking(session, row);
      const { key = '' } = look.endpoint ?? {};
      session.need(key === '' || isServed(versions.history, version, key), `${key} is not there in ${version}`);
      const place = placeIn(look, resource);
      const newest = await session.send(look);
      const read = await session.send(bareMap(inVersion(model, look, version)));
      session.claim({
        fact,
        reason: readOlder(resource),
        of: [newest, read],
        judge: (one: TrialExchange, two: TrialExchange) => readJudgement(model, { carry: older.shown, version, place }, one, two),
      });
      claimSaid(session, look, version, read);
      if (version !== versions.history.current) await claimListed(session, { row, version, newest, read });
      if (isUsual(model) && version !== versions.history.current) {
        const unsaid = await session.send(bareMap(inVersion(model, look, undefined)));
        session.claim({
          fact: selectionFact,
          reason: 'default shape',
          of: [newest, unsaid],
          judge: (one: TrialExchange, other: TrialExchange): Judgement => {
            const [wanted, seen] = [rowDone(one, place), rowDone(other, place)];
            if (!wanted || !seen) return moot('one of them shows no row');
            return isSame(wanted, seen) ? undefined : { promised: `who says no version reads ${told(wanted)}`, seen: told(seen) };
          },
        });
      }
      await written(session, model, older);
    },
  };
}

/** Claims that an answer that is stated to have its version in it has that in which it was asked for. */
function claimSaid(session: Session, { endpoint }: RequestPlan, version: string, read: Done<TrialExchange>): void {
  const answers = endpoint && isStated(endpoint.response) ? endpoint.response.value.filter(({ status }) => status === '200') : [];
  const [answer, ...others] = answers;
  const data = answer?.data;
  if (!data || typeof data.source === 'string' || others.length > 0) return;
  const named = Object.entries(data as Readonly<Record<string, Expression>>).filter(
    ([, { source }]) => source.trim() === 'version',
  );
  for (const [name] of named) {
    session.claim({
      fact: selectionFact,
      reason: `${name} says it`,
      of: [read],
      judge: (seen: TrialExchange): Judgement => {
        if (!isDone(seen) || !isMap(seen.body)) return moot('it was refused');
        const said = seen.body[name];
        return said === version ? undefined : { promised: `${name}: ${version}`, seen: told(said) };
      },
    });
  }
}

/** The reason of a claim about a row that was read in the newest version and in an older one. */
export const readOlder = (resource: string): string => `${resource} is read`;

/** A row that was read in the newest version and in an older one. */
function readJudgement(
  model: Model,
  { carry, version, place }: { readonly carry: ResourceCarry; readonly version: string; readonly place: readonly string[] },
  newest: TrialExchange,
  older: TrialExchange,
): Judgement {
  const [whole, seen] = [rowDone(newest, place), rowDone(older, place)];
  if (!whole || !isDone(newest)) return moot('the newest version shows no row');
  if (isRefused(model, older) && older.status !== 404) return moot(`it was answered ${older.status}`);
  if (!seen) return { promised: `${version} shows the same row`, seen: `it was answered ${older.status}` };
  const wanted = carried(() => carry.down(whole));
  if (!wanted) return moot('it has no form in that version');
  for (const name of new Set([...Object.keys(wanted), ...Object.keys(seen)])) {
    if (isSame(wanted[name], seen[name])) continue;
    return { promised: `${name} in ${version}: ${told(wanted[name])}`, seen: told(seen[name]) };
  }
  return undefined;
}

/** Whether who says no version is in the newest. */
function isUsual({ spec }: Model): boolean {
  return statedValue(spec.versioning.select)?.default === 'current';
}

/** Creates a row in the older version, and reads it in the newest. */
async function written(session: Session, model: Model, { version, resource, body: given, carry }: Older): Promise<void> {
  const [endpoint] = model.endpointsThat('create', resource);
  if (!endpoint) return;
  const { request } = await ready(session, endpoint, { style: 'whole' });
  const { body } = request;
  if (!body || !('value' in body) || !body.type.includes('json')) return;
  const sent = olderBody(session, carry, body.value, given ?? {}, resource);
  if (!sent) return;
  const plan = bareMap(inVersion(model, { ...request, body: { ...body, value: sent } }, version));
  const made = await session.send(plan);
  if (isDone(made.value)) await claimOlderPlaces(session, version, plan, { older: sent, newest: body.value });
  // A body that is stated has words of its own, whatever those of the row are called in that version.
  if (!isDone(made.value)) return isStated(endpoint.request) ? undefined : claimTaken(session, endpoint, made, resource);
  // Where the row stands in the answer to what makes it is known of the newest version alone.
  if ((rowPlace(endpoint, resource, made.value.status) ?? []).length > 0) return;
  const row = rowFrom(session, resource, endpoint, made);
  const look = await looking(session, { ...row, fields: undefined });
  const read = await session.send(look);
  session.claim({
    fact,
    reason: `${resource} is written`,
    of: [made, read],
    judge: (one: TrialExchange, other: TrialExchange): Judgement => {
      const [said, row] = [one.sent.json, rowDone(other, placeIn(look, resource))];
      const seen = row && unexpanded(model, resource, row);
      if (!isDone(one) || !seen || typeof said !== 'object' || said === null) return moot('it was not made, or is not shown');
      const wanted = carried(() => carry.up(said));
      if (!wanted) return moot('it has no form in the newest version');
      for (const name of Object.keys(wanted)) {
        const line = carry.newer(name);
        // What its sender may not write is left out as if it had not been sent; inside of the rest, defaults may have been filled in.
        const field = entryOf(model.resource(resource)?.fields, name);
        if (field?.writable && !field.writable.includes(one.caller?.user ?? '')) continue;
        if (model.unseenBy(resource, other.caller).has(name) || line?.older === undefined || !Object.hasOwn(said, line.older))
          continue;
        const slack = { mayHaveMore: true, mayLack: hiddenInside(model.spec, other.caller) };
        if (isFieldThere(field ?? {}, wanted[name], seen[name], slack)) continue;
        return { promised: `${name} in the newest version: ${told(wanted[name])}`, seen: told(seen[name]) };
      }
      return undefined;
    },
  });
}

/** Claims that what was refused in older words is refused in the newest ones, too. */
async function claimTaken(session: Session, endpoint: Endpoint, refused: Done<TrialExchange>, resource: string): Promise<void> {
  const { model } = session;
  const twin = await session.send((await ready(session, endpoint, { style: 'whole' })).request);
  const invalid = model.refusals.codesFor('request.invalid', model.operationOf(endpoint));
  session.claim({
    fact,
    reason: `${resource} is taken`,
    of: [twin, refused],
    judge: (newest: TrialExchange, older: TrialExchange): Judgement => {
      const code = model.refusals.codeIn(older);
      const isInvalid = invalid.length > 0 ? code !== undefined && invalid.includes(code) : older.status === 422;
      if (!isDone(newest) || !isInvalid) return moot('what was sent may be refused for something else');
      return {
        promised: `a ${resource} in the words of its version is taken`,
        seen: `${older.status} ${told(older.body ?? null)}`,
      };
    },
  });
}

/** Whether an endpoint answers with the row itself, or in one member: what an older version makes of what else is around it is stated nowhere. */
function showsPlain(endpoint: Endpoint): boolean {
  return showsWhole(endpoint);
}

/** Where the answers of an endpoint have the row. */
function placeIn({ endpoint }: RequestPlan, resource: string): readonly string[] {
  return (endpoint && rowPlace(endpoint, resource, 200)) ?? [];
}

/** A look at a row by somebody who may. */
async function looking(session: Session, row: TrialRow): Promise<RequestPlan> {
  const { model } = session;
  for (const endpoint of model.endpointsThat('read', row.resource).filter(showsPlain)) {
    const isPublic = model.access.isPublic(model.operationOf(endpoint));
    const [caller] = callersFor(session, endpoint, row);
    if (isPublic || caller) return requestAbout(session, row, endpoint, { caller: isPublic ? undefined : caller });
  }
  session.need(false, `nobody who can be spoken for may read a ${row.resource}`);
}

/** The row in an answer whose endpoint is not said, since its shapes are of another version. */
function rowDone(exchange: TrialExchange, place: readonly string[]): Readonly<Record<string, Json>> | undefined {
  if (!isDone(exchange)) return undefined;
  const row = place.reduce<Json | undefined>((value, name) => (isMap(value) ? value[name] : undefined), exchange.body);
  return isMap(row) ? row : undefined;
}

/** An endpoint that a version does not have is not there in it. */
function absentCase(model: Model, versions: RequestVersions, version: string, key: string): Case {
  return {
    name: `${key}, which is not in ${version}`,
    facts: [fact],
    async run(session: Session) {
      needServed(session, versions, version);
      const endpoint = entryOf(model.spec.endpoints.all, key);
      session.need(endpoint !== undefined, 'it is no endpoint');
      const operation = model.operationOf(endpoint);
      const [caller] = callersFor(session, endpoint);
      const done = await session.send(bareMap(inVersion(model, knocking(model, endpoint, caller), version)));
      session.claim({
        fact: fact,
        reason: `${key} is not there`,
        of: [done],
        judge: (seen: TrialExchange): Judgement => {
          const refusals = (['route.unknown', 'method.unsupported'] as const).flatMap(
            (when) => refusalFor(model, when, operation) ?? [],
          );
          const isGone =
            isRefused(model, seen) && (refusals.length === 0 || refusals.some((refusal) => isRefusal(model, seen, refusal)));
          return isGone ? undefined : { promised: `there is no ${key} in ${version}`, seen: `it was answered ${seen.status}` };
        },
      });
    },
  };
}

/** Without its endpoint, whose shapes are those of the newest version. */
function bareMap(plan: RequestPlan): RequestPlan {
  const { endpoint: _endpoint, ...rest } = plan;
  return rest;
}
