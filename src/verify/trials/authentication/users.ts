import type { ErrorCondition } from '../../../parts/conditions.ts';
import { statedValue } from '../../../parts/fact.ts';
import { namesOperation, type Operation } from '../../../parts/operations.ts';
import { pathParameters } from '../../../parts/payload.ts';
import { canShow, type TrialCaller } from '../../exchange/callers.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { Done } from '../../exchange/step.ts';
import { claimRefusedAs } from '../../make/claim-refused.ts';
import { acceptable, anyAccepted, type Door, guardedDoors, knocking } from '../../make/knocking.ts';
import type { Model } from '../../model/model.ts';
import { isOfNobody, isRefusal, isRefused, mayBeRefusedBefore, refusalFor, standsForAlone } from '../../model/refused-as.ts';
import type { Observed, Observer } from '../../session/observer.ts';
import type { Session } from '../../session/session.ts';
import type { Case, Trial } from '../../session/trial.ts';

/** What the rules say of a user and an operation before anything of the request is read. */
type Outright = 'refused' | 'let in' | 'decided later' | 'not known';

/** Every operation as every user: what no rule allows is refused, what one allows is not. */
export const users: Trial = {
  name: 'authentication/users',
  part: 'authentication',
  about:
    'What no rule allows to a user is `caller.forbidden` whatever else is wrong; what a rule without a condition allows never is.',
  noise: 'quiet',
  *cases(model) {
    for (const door of guardedDoors(model)) {
      for (const caller of oneOfEach(model)) {
        const outright = outrightOf(model, door.operation, caller);
        if (outright === 'refused' || outright === 'let in') yield caseOf(model, door, caller);
      }
    }
  },
};

/** Every answer to anybody is held to the same rules. */
export const whoMay: Observer = {
  name: 'authentication/users',
  *observe(exchange, model): Iterable<Observed> {
    const { endpoint, caller } = exchange;
    if (!endpoint || !caller?.credential || caller.user === '') return;
    const operation = model.operationOf(endpoint);
    const judgement = judged(model, operation, caller, exchange);
    // That somebody was refused shows nothing beside what was not made to be accepted.
    if (judgement !== undefined || (isDone(exchange) && outrightOf(model, operation, caller) !== 'not known'))
      yield { fact: { kind: 'permission rules', subject: operation.name }, reason: wordFor(model, caller), judgement };
  },
};

function caseOf(model: Model, { operation, endpoint }: Door, caller: TrialCaller): Case {
  const fact = { kind: 'permission rules', subject: operation.name };
  return {
    name: `${endpoint.key} as ${caller.name}`,
    facts: [fact],
    async run(session: Session) {
      const door = { operation, endpoint };
      const isRefused = outrightOf(model, operation, caller) === 'refused';
      const allowed = isRefused ? await acceptable(session, door) : undefined;
      const control = allowed && anyAccepted(session, door, allowed);
      const valid = isRefused ? allowed && { ...allowed, caller } : await acceptable(session, door, caller);
      const plans = [...(isRefused || isHarmless(door) ? [knocking(model, endpoint, caller)] : []), ...(valid ? [valid] : [])];
      session.need(plans.length > 0, `no request to ${endpoint.key} could be made for ${caller.name}`);
      for (const plan of plans) {
        const done = await session.send(plan);
        const isRight = isRefused && plan === valid;
        const judge = (seen: TrialExchange) => judged(model, operation, caller, seen, isRight);
        session.claim({ fact, reason: wordFor(model, caller), of: [done], control, judge });
        if (isRefused && plan === valid)
          claimRefusedAs(session, done, {
            by: { when: deniedAs(model, operation, caller) },
            what: `a request of ${caller.name}`,
            control,
          });
        if (!isRefused && plan === valid && canShow(caller, endpoint) && isOfNobody(model, done.value, operation))
          await claimKnown(session, door, caller, done);
      }
    },
  };
}

/** So many operations are asked for until one answers somebody. */
const elsewhereMost = 4;

/** Whoever is known at one operation is known at another that accepts the same credential. */
async function claimKnown(session: Session, { operation }: Door, caller: TrialCaller, done: Done<TrialExchange>): Promise<void> {
  const { model } = session;
  const others = guardedDoors(model).filter(
    (door) =>
      door.operation !== operation &&
      isHarmless(door) &&
      canShow(caller, door.endpoint) &&
      outrightOf(model, door.operation, caller) !== 'refused',
  );
  for (const door of others.slice(0, elsewhereMost)) {
    const plan = await acceptable(session, door, caller);
    const elsewhere = plan && (await session.send(plan));
    if (!elsewhere || !isDone(elsewhere.value)) continue;
    session.claim({
      fact: { kind: 'permission rules', subject: operation.name },
      reason: wordFor(model, caller),
      of: [done, elsewhere],
      judge: (seen, known) =>
        isDone(known) && isOfNobody(model, seen, operation)
          ? {
              promised: `a rule allows ${operation.name} to ${wordFor(model, caller)}, who is known at ${door.endpoint.key}`,
              seen: `it was answered ${seen.status}`,
            }
          : undefined,
    });
    return;
  }
}

/** What a caller whom no rule lets in is refused as: no rule is for its user, or each asks for scopes that it does not have. */
function deniedAs(model: Model, operation: Operation, { user }: TrialCaller): ErrorCondition {
  const rules = (statedValue(model.spec.authentication.permissions) ?? []).filter(({ allow }) =>
    namesOperation(allow, operation),
  );
  const isFor = rules.some(({ to }) => to === 'anyone' || to.includes(user));
  return isFor ? 'caller.forbidden.scope' : 'caller.forbidden.user';
}

/** `isRight` says that nothing is wrong in the request but who sends it. */
function judged(model: Model, operation: Operation, caller: TrialCaller, seen: TrialExchange, isRight = false): Judgement {
  const refusal = refusalFor(model, 'caller.forbidden', operation);
  const outright = outrightOf(model, operation, caller);
  const isForbidden = refusal ? isRefusal(model, seen, refusal) && isRefused(model, seen) : isRefused(model, seen);
  const told = { seen: `it was answered ${seen.status}` };
  if (outright === 'refused' && !isForbidden && !isRefusedBefore(model, operation, seen)) {
    if (!isRight && mayBeRefusedBefore(model, 'user', seen)) return moot('something else may have been asked first');
    const status = refusal?.status === undefined ? 'refused' : `answered ${refusal.status} (${refusal.code})`;
    return { promised: `no rule allows ${operation.name} to ${wordFor(model, caller)}, so it is ${status}`, ...told };
  }
  if (outright === 'let in' && refusal && isForbidden && standsForAlone(model, refusal, 'caller.forbidden')) {
    return { promised: `a rule allows ${operation.name} to ${wordFor(model, caller)}`, ...told };
  }
  return undefined;
}

/** Refusals that come before the rules are asked: sizes, versions, rates, and who is calling. */
function isRefusedBefore(model: Model, operation: Operation, seen: TrialExchange): boolean {
  const earlier = ['limit.size', 'version.unknown', 'version.sunset', 'limit.rate', 'caller.unknown'] as const;
  return earlier.some((when) => {
    const refusal = refusalFor(model, when, operation);
    return refusal !== undefined && isRefusal(model, seen, refusal) && isRefused(model, seen);
  });
}

function outrightOf(model: Model, operation: Operation, caller: TrialCaller): Outright {
  const { permissions } = model.spec.authentication;
  if (model.access.isPublic(operation)) return 'not known';
  const stated = statedValue(permissions);
  if (!stated) return 'not known';
  const rules = model.access.rules(operation, caller) ?? [];
  // Without a rule that is met, `else` of one whose scopes are lacking may have the word.
  const own = stated.some((rule) => rule.else !== undefined && namesOperation(rule.allow, operation));
  if (rules.length === 0) return own ? 'not known' : 'refused';
  const isSure = rules.some(
    (rule) => !rule.if && (caller.scopes !== undefined || rule.scopes.length === 0) && namesOperation(rule.allow, operation),
  );
  return isSure ? 'let in' : 'decided later';
}

/** One caller of each user, and of those of one user whose credentials have other scopes. */
function oneOfEach(model: Model): TrialCaller[] {
  const known = new Map<string, TrialCaller>();
  for (const caller of model.callers) {
    const word = wordFor(model, caller);
    if (caller.credential && !known.has(word)) known.set(word, caller);
  }
  return [...known.values()];
}

/** What the rules tell callers apart by: the user and, where a rule asks for scopes, those of its scopes that the credential has. */
function wordFor({ spec }: Model, { user, scopes }: TrialCaller): string {
  const asked = new Set((statedValue(spec.authentication.permissions) ?? []).flatMap((rule) => rule.scopes));
  if (asked.size === 0 || scopes === undefined) return user;
  const own = scopes.filter((scope) => asked.has(scope)).sort();
  return own.length === 0 ? `${user} without scopes` : `${user} with ${own.join(' and ')}`;
}

/** Whether knocking as somebody who may does no more than to be refused later, or to read. */
function isHarmless({ endpoint }: Door): boolean {
  return endpoint.method === 'GET' || pathParameters(endpoint.path).length > 0;
}
