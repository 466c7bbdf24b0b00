/** A stretch of time: from `startMs` up to, and without, `endMs`. */
export interface TimeWindow {
  readonly startMs: number;
  readonly endMs: number;
}

export type CalendarWindow = 'hour' | 'day' | 'week' | 'month' | 'year';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/**
 * The calendar window of a time zone (an IANA name) that holds a time. Days are those of the zone: 23 or 25 hours where its
 * clocks are changed. Weeks begin on Monday (ISO 8601). An hour that the clocks repeat is two windows.
 */
export function compileCalendar(window: CalendarWindow, zone: string): (nowMs: number) => TimeWindow {
  const offset = compileOffset(zone);
  const find = (nowMs: number): TimeWindow => {
    const local = nowMs + offset(nowMs);
    if (window === 'hour') {
      const startMs = nowMs - modulo(local, hourMs);
      return { startMs, endMs: startMs + hourMs };
    }
    const [start, end] = datesAround(window, local);
    return { startMs: instantOf(start, offset), endMs: instantOf(end, offset) };
  };
  let last: TimeWindow | undefined;
  return (nowMs) => {
    if (last === undefined || nowMs < last.startMs || nowMs >= last.endMs) last = find(nowMs);
    return last;
  };
}

/** The day of a time zone that has this date, `2026-03-29`. */
export function compileDays(zone: string): (date: string) => TimeWindow {
  const offset = compileOffset(zone);
  return (date) => {
    const midnight = Date.parse(`${date}T00:00:00Z`);
    return { startMs: instantOf(midnight, offset), endMs: instantOf(midnight + dayMs, offset) };
  };
}

/** The midnights around a local time, as the zone's clocks would show them, written as if in UTC. */
function datesAround(window: Exclude<CalendarWindow, 'hour'>, local: number): [number, number] {
  const date = new Date(local);
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  const midnight = Date.UTC(year, month, day);
  if (window === 'day') return [midnight, midnight + dayMs];
  if (window === 'month') return [Date.UTC(year, month, 1), Date.UTC(year, month + 1, 1)];
  if (window === 'year') return [Date.UTC(year, 0, 1), Date.UTC(year + 1, 0, 1)];
  const monday = midnight - modulo(date.getUTCDay() - 1, 7) * dayMs;
  return [monday, monday + 7 * dayMs];
}

/** The first instant at which the zone's clocks show this local time or a later one: midnight may come twice, or not at all. */
function instantOf(local: number, offset: (ms: number) => number): number {
  const candidates = [local - offset(local - dayMs), local - offset(local + dayMs)].sort((a, b) => a - b);
  // Of the two, the later shows it at the latest.
  return candidates.find((ms) => ms + offset(ms) >= local) ?? candidates[1]!;
}

/** How far a zone's clocks are ahead of UTC at a time. */
function compileOffset(zone: string): (ms: number) => number {
  if (zone === 'UTC') return () => 0;
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23' as const,
    year: 'numeric' as const,
    month: 'numeric' as const,
    day: 'numeric' as const,
    hour: 'numeric' as const,
    minute: 'numeric' as const,
    second: 'numeric' as const,
  });
  return (ms) => {
    const shown = new Map(format.formatToParts(ms).map(({ type, value }) => [type, value]));
    const number = (type: Intl.DateTimeFormatPartTypes) => Number(shown.get(type));
    const local = Date.UTC(
      number('year'),
      number('month') - 1,
      number('day'),
      number('hour'),
      number('minute'),
      number('second'),
    );
    return local - Math.floor(ms / 1000) * 1000;
  };
}

function modulo(value: number, by: number): number {
  return ((value % by) + by) % by;
}
