import { hash } from 'node:crypto';
import type { DecidedRate, SharedRates, TakenRate } from '../../store/sharing.ts';
import type { RateUse } from '../exchange/counted.ts';
import type { Refusal } from '../exchange/exchange.ts';
import { retryAfter } from './rate-headers.ts';
import type { CompiledRate, CountedCall, CountRates, OperationRate, SettledRates } from './rates.ts';
import { type AddressOf, addressBits, addressName } from './whom.ts';

/** Rates that are counted together with other processes. */
export interface CountingTogether {
  readonly rates: SharedRates;
  /** Whether the service's clock is not the machine's, so that what is counted goes by its time. */
  readonly hasOwnClock: boolean;
}

/** How long what is counted by a clock that somebody sets is kept. */
const ownClockMs = 86_400_000;

/**
 * Counts where all processes do. Where it cannot be counted the request is refused: one that was let through might have been one too many.
 */
export function compileSharedCount(
  { rates, hasOwnClock }: CountingTogether,
  addressOf: AddressOf,
  onFailure: (failure: unknown, requestId: string) => void,
): CountRates {
  const askedOf = ({ one, cost }: OperationRate, { call, asked }: CountedCall) => {
    const { rate, kind, facts, tables } = one;
    const who = one.whom.nameOf(asked) ?? `address ${addressName(addressBits(addressOf(call)))}`;
    const memoryMs = Math.ceil(kind.memoryMs(rate));
    // Nobody's name or address is kept, only what stands for it.
    const key = hash('sha256', `${tables.name}\n${who}`, 'base64url');
    return { key, kind: kind.word, facts, cost, memoryMs: hasOwnClock ? Math.max(memoryMs, ownClockMs) : memoryMs };
  };
  const giveBack = (taken: TakenRate, nowMs: number) => {
    const asked = { rates: [], back: [taken], nowMs: hasOwnClock ? nowMs : undefined };
    rates.count(asked).catch((failure: unknown) => onFailure(failure, 'rates'));
  };
  const count = async (asking: readonly OperationRate[], counted: CountedCall): Promise<SettledRates> => {
    const asked = asking.map((one) => askedOf(one, counted));
    const back = (counted.before ?? []).flatMap((one) => (one instanceof SharedUse ? [one.taken] : []));
    try {
      const decided = await rates.count({ rates: asked, back, nowMs: hasOwnClock ? counted.asked.nowMs : undefined });
      const { atMs } = decided;
      const uses = decided.rates.map((decision, at) => {
        const taken = { ...asked[at]!, atMs, before: decision.before };
        return new SharedUse(asking[at]!.one, decision, taken, giveBack);
      });
      return { rates: uses, refusal: refusalOf(decided.rates) };
    } catch (failure) {
      onFailure(failure, 'rates');
      return { rates: [], refusal: { when: 'service.unavailable', headers: { 'retry-after': '5' } } };
    }
  };
  return async (asking, counted, next, context) => next(await count(asking, counted), context);
}

function refusalOf(decided: readonly DecidedRate[]): Refusal | undefined {
  const waits = decided.flatMap(({ isAllowed, waitMs }) => (isAllowed ? [] : [waitMs]));
  return waits.length === 0 ? undefined : { when: 'limit.rate', headers: retryAfter(Math.max(...waits)) };
}

/** One rate's decision about one request, as it was counted together with others. */
class SharedUse implements RateUse {
  readonly rate: CompiledRate;
  decision: DecidedRate;
  readonly taken: TakenRate;
  readonly #giveBack: (taken: TakenRate, nowMs: number) => void;

  constructor(rate: CompiledRate, decision: DecidedRate, taken: TakenRate, giveBack: (taken: TakenRate, nowMs: number) => void) {
    this.rate = rate;
    this.decision = decision;
    this.taken = taken;
    this.#giveBack = giveBack;
  }

  /** Nobody waits for it: until it is there others may be refused, and none is let through too much. */
  giveBack(nowMs: number): void {
    if (this.taken.cost > 0) this.#giveBack(this.taken, nowMs);
  }

  answered(status: number, nowMs: number): void {
    const { cost } = this.taken;
    if (cost === 0 || this.rate.isUncounted?.(status) !== true) return;
    this.giveBack(nowMs);
    this.decision = { ...this.decision, remaining: this.decision.remaining + cost };
  }
}
