import { type CalendarWindow, compileCalendar } from '../../kinds/limits/calendar.ts';
import type { Quota } from '../../parts/limits.ts';
import { namesOperation, type Operation } from '../../parts/operations.ts';
import type { Transaction } from '../../store/store.ts';
import { type Exchange, Refused } from '../exchange.ts';
import { addressBits, addressName } from './address.ts';
import { retryAfter } from './counted.ts';
import type { AddressOf } from './forwarded.ts';

/** Uses quota for an answer of this status. @throws {Refused} `limit.quota` where one is used up. */
export type Spend = (rows: Transaction, exchange: Exchange, status: number) => void;

/** Compiles the quotas of a document; an operation that none counts has nothing to spend. */
export function compileQuotas(stated: readonly Quota[], addressOf: AddressOf): (operation: Operation) => Spend | undefined {
  const names = quotaNames(stated);
  const compiled = stated.map((quota, at) => ({
    ...{ quota, name: names[at]! },
    // `check` refuses a document with any other word.
    windowOf: compileCalendar(quota.window as CalendarWindow, quota.zone),
  }));

  return (operation) => {
    const counting = compiled.filter(({ quota: { on } }) => on === undefined || namesOperation(on, operation));
    if (counting.length === 0) return undefined;
    return (rows, exchange, status) => {
      if (status < 200 || status > 299) return;
      const { nowMs, caller } = exchange;
      let waitMs = -1;
      for (const { quota, name, windowOf } of counting) {
        const { to, limit } = quota;
        if (to !== undefined && !to.includes('anyone') && !to.includes(caller?.user ?? '')) continue;
        const { startMs, endMs } = windowOf(nowMs);
        const key = `quota\n${name}\n${startMs}\n${whoOf(quota, exchange, addressOf)}`;
        if (rows.addTo(key, 1, nowMs, endMs) > limit) waitMs = Math.max(waitMs, endMs - nowMs);
      }
      if (waitMs !== -1) throw new Refused({ when: 'limit.quota', headers: retryAfter(waitMs) });
    };
  };
}

/** What is used is kept under what a quota counts, not under how much it allows, so that a limit can be raised within its window. */
function quotaNames(stated: readonly Quota[]): string[] {
  const seen = new Map<string, number>();
  return stated.map(({ per, to, on, window, zone }) => {
    const name = JSON.stringify([per, to ?? null, on ?? null, window, zone]);
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    return count === 1 ? name : `${name} ${count}`;
  });
}

function whoOf({ per }: Quota, { caller, call }: Exchange, addressOf: AddressOf): string {
  if (per === 'everyone') return '';
  if (per === 'user') return caller?.user ?? '';
  if (per === 'caller' && caller) return `${caller.user}\n${caller.id}`;
  return `address ${addressName(addressBits(addressOf(call)))}`;
}
