/** What the clock does: a request that nobody decides lapses. */
import type { Row } from './database.ts';
import { type House, nowText } from './house.ts';

const lapseMs = 2 * 3_600_000;
const waiting = new WeakMap<House, Map<string, () => void>>();

/** Counts from now on, again where it was counting already. */
export function lapseLater(house: House, { id }: Row): void {
  stopLapse(house, id);
  const { clock, db, faults } = house;
  if (faults.has('requests-never-lapse')) return;
  const callOff = clock.at(clock.now() + (faults.has('lapse-after-a-day') ? 12 * lapseMs : lapseMs), () => {
    const row = db.find('booking', String(id));
    if (row?.status !== 'requested') return;
    const next = { ...row, status: 'lapsed', changed_at: nowText(house) };
    db.put('booking', next);
    if (!faults.has('lapse-told-to-nobody'))
      house.emit({ kind: 'booking.decided', resource: 'booking', row: next, member: String(row.member) });
  });
  timersOf(house).set(String(id), callOff);
}

export function stopLapse(house: House, id: unknown): void {
  timersOf(house).get(String(id))?.();
}

function timersOf(house: House): Map<string, () => void> {
  const timers = waiting.get(house) ?? new Map<string, () => void>();
  waiting.set(house, timers);
  return timers;
}
