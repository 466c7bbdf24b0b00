import { isCallerKnown } from '../../parts/expressions/operation-scope.ts';
import { isStated, statedValue } from '../../parts/fact.ts';
import { namesOperation, type Operation } from '../../parts/operations.ts';
import { after, type PromiseOrValue } from '../exchange/after.ts';
import type { Compilation } from '../exchange/compilation.ts';
import type { Caller, Identified, Refusal } from '../exchange/exchange.ts';
import type { Call } from '../http/call.ts';
import { type Accepted, acceptedSchemes, unsupportedBy } from './accepted-schemes.ts';
import { usersOf } from './callers.ts';
import { isLedHere, isOnLoopback } from './loopback.ts';
import { compileCarriers, compileProof, type Means, type Presented, type ProofOutcome, type Prove } from './proofs.ts';
import { isCrossSite, isWrite, statedOrigins } from './sites.ts';

/** Step 4: finds out who is calling. */
export type Identify = (call: Call, plan: { readonly operation: Operation }) => PromiseOrValue<Identified>;

/** What looking at callers needs of the service. */
export interface AuthenticationSetting extends Means {
  /** Who calls, where somebody else finds it out. */
  readonly identify: ((call: Call) => PromiseOrValue<Caller | undefined>) | undefined;
  /** Whether others rely on it, under whatever name leads here. */
  readonly isProduction: boolean;
}

const nobody: Identified = Object.freeze({ caller: undefined });

/** Compiles the looking at credentials: of the schemes that a document accepts, or, where somebody else says who calls, of none. */
export function compileAuthentication(engine: AuthenticationSetting): Identify {
  const { compilation, identify } = engine;
  if (identify) return (call, { operation }) => after(identify(call), (caller) => identifiedBy(caller, operation, compilation));
  return isStated(compilation.spec.authentication.schemes)
    ? withSchemes(engine)
    : withoutSchemes(compilation, engine.isProduction);
}

/** No credential is looked at where an operation is public; nobody may call where each rule is for callers that are known. */
function identifiedBy(caller: Caller | undefined, operation: Operation, { spec }: Compilation): Identified {
  if (namesOperation(spec.authentication.public, operation)) return nobody;
  if (!caller && isCallerKnown(spec, operation)) return { refusal: { when: 'caller.unknown' } };
  return { caller };
}

/**
 * Everybody is taken for the same user. Where schemes and permissions are both open, that is for callers on this machine alone; and what is
 * open to this machine is not open to the pages that its browsers show, whatever name they have made lead here.
 */
function withoutSchemes({ spec, facts, user }: Compilation, isProduction: boolean): Identify {
  const { schemes, permissions } = spec.authentication;
  const local: Identified = { caller: { id: 'local', user: user ?? '', scopes: [] } };
  const origins = statedOrigins(spec.authentication);
  const isUndecided = schemes.standing === 'open' && permissions.standing === 'open';
  return (call, { operation }) => {
    if (isOnLoopback(call)) {
      if (!isCrossSite(call, origins)) return local;
      return isWrite(call, operation.endpoint) ? foreignWrite : { ...local, mayNotWrite: true };
    }
    if (!isUndecided) return !isProduction && isLedHere(call) ? foreignName : local;
    const open = [...facts.about('schemes', 'service'), ...facts.about('permission rules', operation.name)];
    return { refusal: { open } };
  };
}

const foreignName: Identified = {
  refusal: {
    when: 'caller.forbidden',
    message: 'From this machine the service answers to localhost; start it with --production to answer to any name.',
  },
};

/** What step 4 asks at one operation. */
interface Asks {
  readonly operation: Operation;
  readonly isPublic: boolean;
  /** Whether somebody without a credential may go on. */
  readonly isForAnyone: boolean;
}

function withSchemes(engine: Means): Identify {
  const { compilation, clock } = engine;
  const { spec } = compilation;
  const accepted = acceptedSchemes(spec);
  if (accepted.length === 0) return withoutCarriers(compilation);
  const read = compileCarriers(accepted);
  const prove = compileProving(accepted, engine);
  const supported = accepted.filter((one) => engine.relaxesAuth || unsupportedBy(one) === undefined);
  const challenges = compileChallenges(supported, spec.title);
  const conclude = compileConclusion(compilation, challenges);
  const missing = supported.length === 0 ? refuseUnsupported(accepted) : ({ refusal: challenges.missing } satisfies Identified);
  const asked = new Map<Operation, Asks>();

  function asksAt(operation: Operation): Asks {
    const isPublic = namesOperation(spec.authentication.public, operation);
    const asks = { operation, isPublic, isForAnyone: !isPublic && !isCallerKnown(spec, operation) };
    asked.set(operation, asks);
    return asks;
  }

  return (call, { operation }) => {
    const asks = asked.get(operation) ?? asksAt(operation);
    if (asks.isPublic) return nobody;
    const presented = read(call);
    if (presented.length === 0) return asks.isForAnyone ? nobody : missing;
    if (presented.length > presentedMost) return { refusal: challenges.bad(accepted) };
    const nowMs = clock.now();
    const outcomes = presented.map((one) => prove(one, nowMs, call));
    if (outcomes.some((outcome) => outcome instanceof Promise))
      return Promise.all(outcomes).then(
        (settled) => conclude(call, asks, presented, settled),
        (failure: unknown): Identified => {
          engine.onFailure(failure, 'authentication');
          return { refusal: { when: 'internal' } };
        },
      );
    // None is a promise.
    return conclude(call, asks, presented, outcomes as ProofOutcome[]);
  };
}

/** A credential can be of several schemes that look alike: it is good if it is good in one of them. */
function compileProving(
  accepted: readonly Accepted[],
  means: Means,
): (presented: Presented, nowMs: number, call: Call) => ProofOutcome | Promise<ProofOutcome> {
  const proofs = new Map<Accepted, Prove>(accepted.map((one) => [one, compileProof(one, means)]));

  async function proveInOne(
    first: ProofOutcome | Promise<ProofOutcome>,
    others: readonly Accepted[],
    text: string,
    nowMs: number,
    call: Call,
  ): Promise<ProofOutcome> {
    let told = await first;
    for (const other of others) {
      if (isGood(told)) return told;
      const next = await proofs.get(other)?.(text, nowMs, call);
      if (isGood(next) || told === undefined) told = next;
    }
    return told;
  }

  return ({ text, schemes }, nowMs, call) => {
    const [first, ...others] = schemes;
    const outcome = first && proofs.get(first)?.(text, nowMs, call);
    return others.length === 0 ? outcome : proveInOne(outcome, others, text, nowMs, call);
  };
}

/** Says who is calling by what each of the presented credentials came to. */
type Conclude = (call: Call, asks: Asks, presented: readonly Presented[], outcomes: readonly ProofOutcome[]) => Identified;

function compileConclusion(compilation: Compilation, challenges: Challenges): Conclude {
  const users = usersOf(compilation);
  const isStatedUser = users ? new Set(users) : undefined;
  const origins = statedOrigins(compilation.spec.authentication);
  return (call, asks, presented, outcomes) => {
    const bad = presented.filter((_one, index) => outcomes[index] === undefined);
    if (bad.length > 0) return { refusal: challenges.bad(bad.flatMap(({ around }) => around)) };
    if (outcomes.includes('unsupported')) return refuseUnsupported(presented.flatMap(({ schemes }) => schemes));
    if (outcomes.includes('hurried')) return hurried;
    if (!outcomes.every(isGood)) return { refusal: { when: 'service.unavailable' } };
    const caller = together(outcomes.map((outcome) => outcome.caller));
    if (!caller || (isStatedUser && !isStatedUser.has(caller.user)))
      return { refusal: challenges.bad(presented.flatMap(({ around }) => around)) };
    if (presented.some(isAmbient) && isCrossSite(call, origins))
      return isWrite(call, asks.operation.endpoint) ? foreignWrite : { caller, mayNotWrite: true };
    return outcomes.length === 1 && isGood(outcomes[0]) ? outcomes[0] : { caller };
  };
}

const hurried: Identified = { refusal: { when: 'limit.rate', headers: { 'retry-after': '60' } } };

const foreignWrite: Identified = {
  refusal: {
    when: 'caller.forbidden',
    message: 'A page of another site may not change anything here; the service can state its origin.',
  },
};

/** Whether a browser sends a credential by itself, whatever page asks for it: a cookie, and a name with its password. */
function isAmbient({ schemes }: Presented): boolean {
  return schemes.some((one) => one.in === 'cookie' || one.kind.proof?.by === 'password');
}

/** How many credentials one request may carry. */
const presentedMost = 8;

function isGood(outcome: ProofOutcome): outcome is { readonly caller: Caller } {
  return typeof outcome === 'object';
}

/** Several credentials name one caller, with the scopes of all of them; or nobody. */
function together(callers: readonly Caller[]): Caller | undefined {
  const [first, ...others] = callers;
  if (!first || others.length === 0) return first;
  const { id, user } = first;
  if (others.some((other) => other.id !== id || other.user !== user)) return undefined;
  const scopes = [...new Set(callers.flatMap((caller) => caller.scopes))];
  const claims = callers.find((caller) => caller.claims)?.claims;
  const key = callers.find((caller) => caller.key !== undefined)?.key;
  return { id, user, scopes, ...(claims && { claims }), ...(key !== undefined && { key }) };
}

function refuseUnsupported(schemes: readonly Accepted[]): { readonly refusal: Refusal } {
  const detail = schemes.flatMap((one) => unsupportedBy(one) ?? [])[0] ?? 'This scheme is not supported.';
  return { refusal: { unsupported: { type: 'urn:ninefold:unsupported', detail } } };
}

/** Schemes are stated, and of none of them where its credential stands: nobody can show who it is. */
function withoutCarriers({ spec, facts }: Compilation): Identify {
  const open = Object.keys(statedValue(spec.authentication.schemes) ?? {}).flatMap((name) => facts.about('header names', name));
  const refused: Identified = { refusal: open.length > 0 ? { open } : { when: 'caller.unknown' } };
  return (_call, { operation }) => {
    const isFree = namesOperation(spec.authentication.public, operation) || !isCallerKnown(spec, operation);
    return isFree ? nobody : refused;
  };
}

/** Step 4's refusals, each with what a client may show instead (RFC 9110 section 15.5.2). */
interface Challenges {
  readonly missing: Refusal;
  /** A credential that came is not good: of these schemes. */
  bad(schemes: readonly Accepted[]): Refusal;
}

function compileChallenges(accepted: readonly Accepted[], title: string): Challenges {
  const realm = title === '' ? 'service' : title;
  const refuse = (isBad: (scheme: Accepted) => boolean): Refusal => {
    const challenges = accepted.map((scheme) =>
      scheme.kind.challenge({ realm, in: scheme.in, name: scheme.carrier, prefix: scheme.prefix, isBad: isBad(scheme) }),
    );
    const unique = [...new Set(challenges)];
    return { when: 'caller.unknown', ...(unique.length > 0 && { headers: { 'www-authenticate': unique.join(', ') } }) };
  };
  return { missing: refuse(() => false), bad: (schemes) => refuse((scheme) => schemes.includes(scheme)) };
}
