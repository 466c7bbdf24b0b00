import { statedValue } from '../../parts/fact.ts';
import type { Quota } from '../../parts/limits.ts';
import { namesOperation, type Operation } from '../../parts/operations.ts';
import { endsWithin } from '../authentication/ends.ts';
import { ready } from '../make/readied.ts';
import type { Caller } from '../model/callers.ts';
import type { FactName } from '../model/facts.ts';
import type { Model } from '../model/model.ts';
import { isRefusal, refusalFor } from '../model/refused-as.ts';
import { type Judgement, moot } from '../script/claim.ts';
import { type Exchange, isDone } from '../script/exchange.ts';
import type { Session } from '../script/session.ts';
import type { Done } from '../script/step.ts';
import type { Case, Trial } from '../trial.ts';

const fact: FactName = { kind: 'quotas', subject: 'service' };

/** The largest quota that is used up. */
const usesMost = 120;

/** Quotas are used up: not one more gets through, and what one caller has used leaves the others theirs. */
export const quotas: Trial = {
  name: 'limits/quotas',
  part: 'limits',
  about: 'No more succeed than the quota allows; a new window begins anew; callers have quotas of their own where stated.',
  noise: 'loud',
  *cases(model) {
    for (const quota of statedValue(model.spec.limits.quota) ?? []) {
      const operation = model.operations.find(
        (one) =>
          one.endpoint &&
          statedValue(one.endpoint.does)?.verb !== 'list' &&
          (quota.on === undefined || namesOperation(quota.on, one)),
      );
      if (operation) yield caseOf(model, quota, operation);
    }
  },
};

const windowMs: Readonly<Record<string, number>> = {
  hour: 3_600_000,
  day: 86_400_000,
  week: 604_800_000,
  month: 2_678_400_000,
  year: 31_622_400_000,
};

function caseOf(model: Model, quota: Quota, operation: Operation): Case {
  return {
    name: `${operation.name}, ${quota.limit} a ${quota.window} per ${quota.per}`,
    facts: [fact],
    async run(session: Session) {
      const { endpoint } = operation;
      session.need(endpoint !== undefined, `no caller reaches ${operation.name}`);
      session.need(quota.limit <= usesMost, `it takes ${quota.limit} successful requests to use it up`);
      const callers = model.callers.filter(
        (caller) => model.access.allows(operation, caller) !== 'no' && isCounted(quota, caller),
      );
      const [caller, other] = [callers.at(-1), callers[0]];
      session.need(caller !== undefined, 'nobody is counted');
      // Where the clock can be moved, a window is begun of which nothing is used yet.
      const { clock } = session.run;
      const spanMs = windowMs[quota.window] ?? 0;
      const isNew = clock.advance !== undefined && !endsWithin(model, session, spanMs + 60_000);
      if (isNew) await session.wait(spanMs);
      const uses: Done<Exchange>[] = [];
      const refusal = refusalFor(model, 'limit.quota', operation);
      for (let count = 0; count <= quota.limit; count++) {
        const { request } = await ready(session, endpoint, { caller, maker: makerFor(model, operation, caller) });
        const done = await session.send(request);
        uses.push(done);
        if (!isDone(done.value)) break;
      }
      const isUsedUp = (seen: Exchange) => (refusal ? isRefusal(model, seen, refusal) : seen.status === 429);
      const at = quota.at;
      const promised = `${quota.limit} a ${quota.window} per ${quota.per} for ${operation.name}`;
      session.claim({
        ...{ fact, reason: 'kept', at, of: uses, tries: 1 },
        judge: (...all: readonly Exchange[]): Judgement => {
          const succeeded = all.filter(isDone).length;
          if (succeeded > quota.limit && !isNew && mayStraddle(all, spanMs)) return moot('a window may have ended in between');
          if (succeeded > quota.limit) return { promised, seen: `${succeeded} succeeded` };
          return isUsedUp(all.at(-1) as Exchange) ? undefined : moot('it was refused for something else');
        },
      });
      if (isNew) {
        session.claim({
          ...{ fact, reason: 'not earlier', at, of: uses, tries: 1 },
          judge: (...all: readonly Exchange[]): Judgement => {
            const succeeded = all.filter(isDone).length;
            if (!isUsedUp(all.at(-1) as Exchange)) return moot('it was not used up');
            return succeeded < quota.limit ? { promised, seen: `it was used up after ${succeeded} in a new window` } : undefined;
          },
        });
      }
      const last = uses.at(-1);
      // Of another window it is not known what the other has used.
      if (!isNew || quota.per !== 'caller' || !other || other === caller || !last || !isUsedUp(last.value)) return;
      const { request } = await ready(session, endpoint, { caller: other, maker: makerFor(model, operation, other) });
      const own = await session.send(request);
      session.claim({
        ...{ fact, reason: 'apart', at, of: [last, own], tries: 1 },
        judge: (end: Exchange, one: Exchange): Judgement => {
          if (!isUsedUp(end)) return moot('it was not used up');
          return isUsedUp(one)
            ? { promised: 'each caller has a quota of its own', seen: `${other.name} was refused for what another has used` }
            : undefined;
        },
      });
    },
  };
}

/** Who makes what the operation is about: its caller, where that may. */
function makerFor(model: Model, { resource = '' }: Operation, caller: Caller): Caller | undefined {
  const may = model
    .endpointsThat('create', resource)
    .some((endpoint) => model.access.allows(model.operationOf(endpoint), caller) !== 'no');
  return may ? caller : undefined;
}

function isCounted({ to }: Quota, caller: Caller): boolean {
  return caller.credential !== undefined && (to === undefined || to.includes(caller.user));
}

/** Whether a window, of whatever zone, can have ended between the first and the last: they end on the hour. */
function mayStraddle(all: readonly Exchange[], spanMs: number): boolean {
  const [first, last] = [all[0]?.fromMs ?? 0, all.at(-1)?.toMs ?? 0];
  const partMs = Math.min(spanMs, 900_000);
  return Math.floor(first / partMs) !== Math.floor(last / partMs);
}
