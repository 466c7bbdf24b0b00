import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf, statedValue } from '../../parts/fact.ts';
import { type Operation, resourceOfEffect } from '../../parts/operations.ts';
import { pathParameters } from '../../parts/payload.ts';
import type { TrialCaller } from '../exchange/callers.ts';
import { isExchange } from '../exchange/exchange.ts';
import type { TrialRow, WantedRow } from '../exchange/row.ts';
import type { HeldPlace, Newcomer } from '../exchange/step.ts';
import { resolve } from '../exchange/symbol.ts';
import { NoRoom, Untestable } from '../exchange/untestable.ts';
import type { Known } from '../model/expressions.ts';
import type { Model } from '../model/model.ts';
import { followedIn } from '../model/row-known.ts';
import type { Session } from '../session/session.ts';
import { isKeptOut } from './let-in.ts';
import { toldOfMaker } from './newcomers.ts';

/** Whether only what is there can be put, since its tag has to be sent. */
export function needsTag(endpoint: Endpoint): boolean {
  return statedValue(endpoint.does)?.verb === 'upsert' && endpoint.ifMatch === 'required';
}

export interface Way {
  readonly endpoint: Endpoint;
  readonly caller: TrialCaller | undefined;
}

/**
 * Those for whom no quota is used up, where there are any. A way below a row of the same resource has no more room than that row.
 * @throws {Untestable} where all is used up until a time that is going to be come to: what a row needs would be made for nothing.
 */
function withQuota({ model, run }: Session, resource: string, ways: readonly Way[]): readonly Way[] {
  const nowMs = run.clock.toService(Date.now());
  const direct = ways.filter(({ endpoint }) =>
    pathParameters(endpoint.path).every((name) => model.parentOf(endpoint, name) !== resource),
  );
  const open = (direct.length > 0 ? direct : ways).filter(({ endpoint, caller }) => {
    const counts = run.quotasOf?.(model.request(endpoint, { caller })) ?? [];
    return !run.client.usedUp.among(counts, nowMs);
  });
  if (open.length === 0 && ways.length > 0 && run.client.owedMs !== undefined && run.clock.advance !== undefined)
    throw new Untestable(`no quota is left for a ${resource}`);
  return open.length > 0 ? open : ways;
}

/** A place for a row, and for whom it is held. */
interface Held<T> {
  readonly one: T;
  readonly place: HeldPlace;
}

/**
 * Holds a place for a row for the first of those who may have one; waits for the rows of others where nobody may now, and may wait.
 * Nothing where nobody says how many rows there may be, or nobody has one who may not wait.
 * @throws {NoRoom} where all others wait as well: what the row needs would be made for nothing.
 */
export async function placeFor<T>(
  { run: { places, pausing = (wait) => wait } }: Session,
  whose: readonly T[],
  newcomers: (one: T) => readonly Newcomer[],
  { mayWait }: { readonly mayWait: boolean },
): Promise<Held<T> | undefined> {
  if (!places || whose.length === 0) return undefined;
  const counted = whose.map((one) => places.countedIn(newcomers(one)));
  for (;;) {
    for (const [at, one] of whose.entries()) {
      const place = places.hold(counted[at] ?? new Map());
      if (place) return { one, place };
    }
    if (!mayWait) return undefined;
    if (!(await pausing(places.more(counted))))
      throw new NoRoom('there are as many such rows as there may be for whoever may have one');
  }
}

/** Gives places back. */
export function giveBack(held: HeldPlace[]): void {
  for (const place of held.splice(0)) place();
}

/** The ways by whose row somebody else may see it first, as far as what a row has of its maker tells: gardens are let by the warden of one's own district. */
function seenFirst({ model }: Session, resource: string, ways: readonly Way[], reader: TrialCaller | undefined): readonly Way[] {
  if (!reader || ways.every(({ caller }) => caller === reader || caller === undefined)) return ways;
  const unseen = (way: Way): number =>
    way.caller && way.caller !== reader && !maySee(model, resource, way.caller, reader) ? 1 : 0;
  return [...ways].sort((one, other) => unseen(one) - unseen(other));
}

/** What is known of a row that somebody makes. */
function knownOf(model: Model, resource: string, maker: TrialCaller): Known {
  const known = toldOfMaker(model, resource, maker);
  const unseen = new Set(
    entriesOf(model.resource(resource)?.fields).flatMap(([name]) => (Object.hasOwn(known, name) ? [] : [name])),
  );
  return { context: { resource: known }, unseen: { resource: unseen } };
}

/** Whether somebody may do something to what another makes, unless that is known to be refused. */
function mayDo(model: Model, operation: Operation, maker: TrialCaller, who: TrialCaller): boolean {
  return model.access.allows(operation, who, knownOf(model, operation.resource ?? '', maker)) !== 'no';
}

const seen = new WeakMap<Model, Map<string, boolean>>();

function maySee(model: Model, resource: string, maker: TrialCaller, reader: TrialCaller): boolean {
  return remembered(seen, model, [resource, maker.name, reader.name], () => {
    const reads = [...model.endpointsThat('read', resource), ...model.endpointsThat('list', resource)];
    return reads.length === 0 || reads.some((read) => mayDo(model, model.operationOf(read), maker, reader));
  });
}

const used = new WeakMap<Model, Map<string, boolean>>();

/** Whether for all that can be done to a row there is somebody who may do it to what this caller makes, as its own rows may be changed by itself alone. */
function isOfUse(model: Model, resource: string, maker: TrialCaller): boolean {
  return remembered(used, model, [resource, maker.name], () =>
    model.operations
      .filter((one) => one.endpoint && one.resource === resource && isOnRow(one.endpoint))
      .every((operation) => model.callers.some((who) => mayDo(model, operation, maker, who))),
  );
}

function isOnRow({ does }: Endpoint): boolean {
  return ['read', 'update', 'replace', 'delete', 'transition'].includes(statedValue(does)?.verb ?? '');
}

function remembered<T>(all: WeakMap<Model, Map<string, T>>, model: Model, names: readonly string[], find: () => T): T {
  const known = all.get(model) ?? new Map<string, T>();
  all.set(model, known);
  const key = JSON.stringify(names);
  const found = known.get(key) ?? find();
  known.set(key, found);
  return found;
}

/** Who can create a row by which endpoint, those first who may also read it. */
export function waysToCreate(session: Session, resource: string, wanted: TrialCaller | undefined) {
  const { model } = session;
  const upserts = model.endpointsThat('upsert', resource).filter((endpoint) => !needsTag(endpoint));
  const endpoints = [...model.endpointsThat('create', resource), ...upserts];
  const reads = [...model.endpointsThat('read', resource), ...model.endpointsThat('list', resource)];
  const callers: readonly (TrialCaller | undefined)[] = wanted ? [wanted] : model.callers;
  const ways = endpoints.flatMap((endpoint) => {
    const operation = model.operationOf(endpoint);
    const isPublic = model.access.isPublic(operation);
    const allowed = callers.filter((caller) => model.access.allows(operation, caller) !== 'no');
    if (allowed.length === 0 && isPublic) return [{ endpoint, caller: undefined, rank: 0 }];
    return allowed.map((caller) => {
      const mayRead = reads.some((read) => model.access.allows(model.operationOf(read), caller) !== 'no');
      const isSure = model.access.allows(operation, caller) === 'yes';
      const isOut = isKeptOut(model, endpoint, caller);
      const ofUse = caller && isOfUse(model, resource, caller) ? 0.5 : 0;
      const rank = (isSure ? 2 : 0) + (mayRead ? 1 : 0) + ofUse - (isOut ? 4 : 0);
      return { endpoint, caller, rank };
    });
  });
  return ways.sort((one, other) => other.rank - one.rank);
}

/** The ways of somebody who is going to ask about the row; none where they are kept out of all of them, so that others make it. */
function ownWays(session: Session, resource: string, caller: TrialCaller): ReturnType<typeof waysToCreate> {
  return waysToCreate(session, resource, caller).filter(({ endpoint }) => !isKeptOut(session.model, endpoint, caller));
}

/**
 * The ways to make a row below what is there already, without those whose caller is known to be refused for that: of a garden that is let to
 * somebody nobody else may have a turn. All of them where none remains.
 */
function allowedBeside(
  session: Session,
  resource: string,
  ways: readonly Way[],
  parents: Readonly<Record<string, TrialRow>> = {},
): readonly Way[] {
  const { model, run } = session;
  const given = Object.entries(parents);
  const isAsked = ({ endpoint, caller }: Way): boolean =>
    caller !== undefined && (model.access.rules(model.operationOf(endpoint), caller) ?? []).some((rule) => rule.if);
  if (given.length === 0 || ways.length < 2 || !ways.some(isAsked)) return ways;
  const next = Object.fromEntries(given.map(([field, { id }]) => [field, resolve(id, run)]));
  const fields = entriesOf(model.resource(resource)?.fields).map(([name]) => name);
  const unseen = new Set(fields.filter((name) => !Object.hasOwn(next, name)));
  const follow = followedIn(
    model,
    run.results.filter((one) => isExchange(one)),
  );
  const known = { context: { next, follow }, unseen: { next: unseen } };
  const open = ways.filter(
    (way) =>
      !isAsked(way) ||
      resourceOfEffect(statedValue(way.endpoint.does)) !== resource ||
      model.access.allows(model.operationOf(way.endpoint), way.caller, known) !== 'no',
  );
  return open.length > 0 ? open : ways;
}

/** The ways to make a row, those first by which it is seen: the ways of whoever is going to ask about it, where there are any. */
export function waysFor(session: Session, resource: string, { for: asking, caller, parents, named }: WantedRow): readonly Way[] {
  const own = asking && !caller ? ownWays(session, resource, asking) : [];
  const all = own.length > 0 ? own : waysToCreate(session, resource, caller);
  const able = allowedBeside(session, resource, all, parents);
  return seenFirst(session, resource, withQuota(session, resource, able), named ?? asking);
}
