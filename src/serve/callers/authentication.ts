import { acceptedSets, type SchemeSet } from '../../parts/authentication.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { isCallerKnown } from '../../parts/expressions/operation-scope.ts';
import { entriesOf, isStated } from '../../parts/fact.ts';
import { namesOperation, type Operation } from '../../parts/operations.ts';
import { after, type PromiseOrValue } from '../exchange/after.ts';
import type { Compilation } from '../exchange/compilation.ts';
import type { Caller, Refusal } from '../exchange/exchange.ts';
import { ClientGone } from '../http/bounds.ts';
import type { Call } from '../http/call.ts';
import { type Accepted, acceptedSchemes, schemesAlone, unsupportedBy } from './accepted-schemes.ts';
import { withBrought } from './brought.ts';
import { compileComplete, madeUpAttributes, usersOf, withAttributes } from './callers.ts';
import { compileForeign, isLedHere, isOnLoopback, isWrite } from './origin.ts';
import {
  type Challenges,
  compileCarriers,
  compileChallenges,
  type Identified,
  type Identify,
  isAmbient,
  isByCookie,
  isGood,
  joinedCaller,
  nobody,
  oneCaller,
  type Presented,
  type ProofOutcome,
  type Prove,
  type Proven,
  withCompanions,
  withPublic,
} from './presented.ts';
import { compileProof, type Means } from './proofs.ts';

/** What looking at callers needs of the service. */
export interface AuthenticationSetting extends Means {
  /** Who calls, where somebody else finds it out. */
  readonly identify: ((call: Call) => PromiseOrValue<Caller | undefined>) | undefined;
  /** Whether others rely on it, under whatever name leads here. */
  readonly isProduction: boolean;
  /** Whether an endpoint gives a credential for what its body shows, so that it asks for none. */
  readonly exchanges?: ((endpoint: Endpoint) => boolean) | undefined;
}

const nobodyYet: Identified = Object.freeze({ caller: undefined, warning: 'no credential, where one is given for the body' });

/** Compiles the looking at credentials: of the schemes that a document accepts, or, where somebody else says who calls, of none. */
export function compileAuthentication(engine: AuthenticationSetting): Identify {
  const { compilation, identify } = engine;
  if (identify) {
    const isComplete = compileComplete(compilation.spec);
    return (call, { operation }) =>
      after(identify(call), (caller) => {
        const identified = identifiedBy(caller, operation, compilation);
        const known = 'caller' in identified ? identified.caller : undefined;
        return known && isComplete?.(known) === false ? incomplete : identified;
      });
  }
  const usual = isStated(compilation.spec.authentication.schemes)
    ? withPublic(withSchemes(engine), compilation.spec, engine.takesCompanions === true && !engine.relaxesAuth)
    : withoutSchemes(engine);
  return engine.brought?.length ? withBrought(usual, engine.brought, engine) : usual;
}

/** No credential is looked at where an operation is public; nobody may call where each rule is for callers that are known. */
function identifiedBy(caller: Caller | undefined, operation: Operation, { spec }: Compilation): Identified {
  if (namesOperation(spec.authentication.public, operation)) return nobody;
  if (!caller && isCallerKnown(spec, operation)) return { refusal: { when: 'caller.unknown.missing' } };
  return { caller: caller && withAttributes(caller, caller.attributes) };
}

const incomplete: Identified = { refusal: { when: 'caller.unknown.bad' } };

/**
 * Everybody is taken for the same user. Where schemes and permissions are both open, that is for callers on this machine alone; and what is
 * open to this machine is not open to the pages that its browsers show, whatever name they have made lead here.
 */
function withoutSchemes(engine: AuthenticationSetting): Identify {
  const { spec, facts, user } = engine.compilation;
  const { schemes, permissions } = spec.authentication;
  const local: Identified = { caller: withAttributes({ id: 'local', user: user ?? '', scopes: [] }, madeUpAttributes(spec)) };
  const isForeign = compileForeign(engine);
  const isUndecided = schemes.standing === 'open' && permissions.standing === 'open';
  return (call, { operation }) => {
    if (isOnLoopback(call)) {
      if (!isForeign(call)) return local;
      return isWrite(call, operation.endpoint) ? foreignWrite : { ...local, mayNotWrite: true };
    }
    if (!isUndecided) return !engine.isProduction && isLedHere(call) ? foreignName : local;
    const open = [...facts.about('schemes', 'service'), ...facts.about('permission rules', operation.name)];
    return { refusal: { open } };
  };
}

const foreignName: Identified = {
  refusal: {
    when: 'caller.forbidden.user',
    message: 'From this machine the service answers to localhost; start it with --production to answer to any name.',
  },
};

/** What step 4 asks at one operation. */
interface Asks {
  readonly operation: Operation;
  /** Who somebody without a credential is, where such a one may go on. */
  readonly missing: Identified | undefined;
  readonly door: Door;
}

/** What is accepted at some operations: the schemes of the sets that may be shown there, and what is told who shows none of them. */
interface Door {
  readonly sets: readonly SchemeSet[];
  readonly accepted: readonly Accepted[];
  readonly read: (call: Call) => readonly Presented[];
  readonly challenges: Challenges;
  readonly missing: Identified;
}

function withSchemes(engine: AuthenticationSetting): Identify {
  const { compilation, clock } = engine;
  const { spec } = compilation;
  const prove = compileProving(acceptedSchemes(spec), engine);
  const conclude = compileConclusion(engine);
  const doors = new Map<string, Door>();
  const asked = new Map<Operation, Asks>();

  function doorOf({ endpoint }: Operation): Door {
    const sets = acceptedSets(spec.authentication, endpoint);
    const key = JSON.stringify(sets);
    const door = doors.get(key) ?? compileDoor(sets, engine);
    doors.set(key, door);
    return door;
  }

  function asksAt(operation: Operation): Asks {
    const isExchange = operation.endpoint && engine.exchanges?.(operation.endpoint);
    const missing = !isCallerKnown(spec, operation) ? nobody : isExchange ? nobodyYet : undefined;
    const asks = { operation, missing, door: doorOf(operation) };
    asked.set(operation, asks);
    return asks;
  }

  return (call, { operation }) => {
    const asks = asked.get(operation) ?? asksAt(operation);
    const { read, missing, challenges, accepted } = asks.door;
    const presented = read(call);
    if (presented.length === 0) return asks.missing ?? missing;
    if (presented.length > presentedMost) return { refusal: challenges.bad(accepted) };
    const nowMs = clock.now();
    const outcomes = presented.map((one) => prove(one, nowMs, call));
    if (outcomes.some((outcome) => outcome instanceof Promise))
      return Promise.all(outcomes).then(
        (settled) => conclude(call, asks, presented, settled),
        (failure: unknown): Identified => {
          // Whoever sent what is signed is gone before all of it was there.
          if (failure instanceof ClientGone) throw failure;
          engine.onFailure(failure, 'authentication');
          return { refusal: { when: 'internal' } };
        },
      );
    // None is a promise.
    return conclude(call, asks, presented, outcomes as Proven[]);
  };
}

/** A set that holds a scheme without means for it here, or without a place for its credential, is one that nobody can show. */
function compileDoor(stated: readonly SchemeSet[], engine: Means): Door {
  const { compilation, relaxesAuth } = engine;
  const names = new Set(stated.flat());
  // Where any credential is taken, one of several that are asked for together is enough, if it is so elsewhere.
  const alone = relaxesAuth && engine.takesCompanions ? schemesAlone(compilation.spec) : new Set<string>();
  const sets = [...stated, ...[...names].filter((name) => alone.has(name)).map((name) => [name])];
  const accepted = acceptedSchemes(compilation.spec).filter(({ scheme }) => names.has(scheme.name));
  const supported = accepted.filter((one) => relaxesAuth || unsupportedBy(one, engine) === undefined);
  const isSupported = (name: string) => supported.some(({ scheme }) => scheme.name === name);
  const challenges = compileChallenges(supported, compilation.spec.title);
  const canBeShown = sets.some((set) => set.length > 0 && set.every(isSupported));
  const missing: Identified = canBeShown
    ? { refusal: challenges.missing }
    : { refusal: refusalOfDoor([...names], accepted, engine) };
  return { sets, accepted, read: compileCarriers(accepted, relaxesAuth, engine.takesCompanions), challenges, missing };
}

/** Why nobody can show what is accepted: a scheme that there are no means for, or of which it is open where its credential stands. */
function refusalOfDoor(names: readonly string[], accepted: readonly Accepted[], engine: Means): Refusal {
  const { facts, spec } = engine.compilation;
  const lacking = accepted.filter((one) => unsupportedBy(one, engine) !== undefined);
  if (lacking.length > 0) return refuseUnsupported(lacking, engine).refusal;
  const open = names.flatMap((name) => facts.about('header names', name));
  if (open.length > 0) return { open };
  const stated = new Set(entriesOf(spec.authentication.schemes).map(([name]) => name));
  const unplaced = names.find((name) => stated.has(name));
  return unplaced === undefined
    ? { when: 'caller.unknown.missing' }
    : unsupported(`There are no means here for the scheme "${unplaced}".`);
}

/** A credential can be of several schemes that look alike: it is good if it is good in one of them, and counts as of that one alone. */
function compileProving(
  accepted: readonly Accepted[],
  means: Means,
): (presented: Presented, nowMs: number, call: Call) => Proven | Promise<Proven> {
  const proofs = new Map<string, Prove>(accepted.map((one) => [one.scheme.name, compileProof(one, means)]));
  const proofOf = ({ scheme }: Accepted) => proofs.get(scheme.name);

  async function proveInOne(
    first: ProofOutcome | Promise<ProofOutcome>,
    schemes: readonly Accepted[],
    text: string,
    nowMs: number,
    call: Call,
  ): Promise<Proven> {
    const [one, ...others] = schemes;
    let told: Proven = { outcome: await first, by: one };
    for (const other of others) {
      if (isGood(told.outcome)) return told;
      const next = await proofOf(other)?.(text, nowMs, call);
      if (isGood(next) || told.outcome === undefined) told = { outcome: next, by: other };
    }
    return told;
  }

  return ({ text, schemes }, nowMs, call) => {
    const [first] = schemes;
    const outcome = first && proofOf(first)?.(text, nowMs, call);
    if (schemes.length > 1 || outcome instanceof Promise) return proveInOne(outcome, schemes, text, nowMs, call);
    return { outcome, by: first };
  };
}

/** Says who is calling by what each of the presented credentials came to. */
type Conclude = (call: Call, asks: Asks, presented: readonly Presented[], proven: readonly Proven[]) => Identified;

function compileConclusion(engine: Means): Conclude {
  const { compilation, relaxesAuth } = engine;
  const users = usersOf(compilation);
  const isStatedUser = users ? new Set(users) : undefined;
  const isForeign = compileForeign(engine);
  return (call, asks, presented, settled) => {
    const { challenges, sets, missing } = asks.door;
    const proven = engine.takesCompanions ? withCompanions(presented, settled, sets) : settled;
    const outcomes = proven.map(({ outcome }) => outcome);
    const bad = presented.filter((_one, index) => isBad(outcomes[index]));
    if (bad.length > 0) {
      const isOver = !outcomes.includes(undefined);
      return {
        refusal: challenges.bad(
          bad.flatMap(({ around }) => around),
          isOver,
        ),
      };
    }
    if (outcomes.includes('unsupported'))
      return refuseUnsupported(
        presented.flatMap(({ schemes }) => schemes),
        engine,
      );
    if (outcomes.includes('hurried')) return hurried;
    if (outcomes.includes('too large')) return tooLarge;
    if (!outcomes.every(isGood)) return { refusal: { when: 'service.unavailable' } };
    const shown = new Set(proven.map(({ by }) => by?.scheme.name));
    if (!sets.some((set) => set.length > 0 && set.every((name) => shown.has(name)))) return missing;
    const callers = outcomes.map((outcome) => outcome.caller);
    const caller = relaxesAuth ? joinedCaller(callers) : oneCaller(callers);
    if (!caller || (isStatedUser && !isStatedUser.has(caller.user)))
      return { refusal: challenges.bad(presented.flatMap(({ around }) => around)) };
    if (presented.some(isAmbient) && isForeign(call, presented.some(isByCookie)))
      return isWrite(call, asks.operation.endpoint) ? foreignWrite : { caller, mayNotWrite: true };
    return outcomes.length === 1 && isGood(outcomes[0]) ? outcomes[0] : { caller };
  };
}

function isBad(outcome: ProofOutcome): boolean {
  return outcome === undefined || outcome === 'expired';
}

/** Of a request that is larger than it may be nobody can tell who signed it. */
const tooLarge: Identified = { refusal: { when: 'limit.size' } };

const hurried: Identified = { refusal: { when: 'limit.rate', headers: { 'retry-after': '60' } } };

const foreignWrite: Identified = {
  refusal: {
    when: 'caller.forbidden.user',
    message: 'A page of another site may not change anything here; the service can state its origin.',
  },
};

/** How many credentials one request may carry. */
const presentedMost = 8;

function refuseUnsupported(schemes: readonly Accepted[], means: Means): { readonly refusal: Refusal } {
  const detail = schemes.flatMap((one) => unsupportedBy(one, means) ?? [])[0] ?? 'This scheme is not supported.';
  return { refusal: unsupported(detail) };
}

function unsupported(detail: string): Refusal {
  return { unsupported: { type: 'urn:ninefold:unsupported', detail } };
}
