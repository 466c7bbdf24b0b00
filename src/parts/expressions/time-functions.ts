/** Functions of moments, and the instants that they stand for. */

import { int, type Overload, timestamp } from './cel-type.ts';
import { checkTimestamp, type Duration, Failed } from './cel-value.ts';

/** A moment on the wall of one time zone. Months, days of the month and of the year count from 0, as CEL has them. */
interface Wall {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hours: number;
  readonly minutes: number;
  readonly seconds: number;
  readonly ms: number;
}

const readings: Readonly<Record<string, (wall: Wall) => number>> = {
  getFullYear: (wall) => wall.year,
  getMonth: (wall) => wall.month,
  getDate: (wall) => wall.day,
  getDayOfMonth: (wall) => wall.day - 1,
  getDayOfWeek: (wall) => new Date(Date.UTC(wall.year, wall.month, wall.day)).getUTCDay(),
  getDayOfYear: (wall) => (Date.UTC(2000, wall.month, wall.day) - Date.UTC(2000, 0, 1)) / 86_400_000 - leapDayPassed(wall),
  getHours: (wall) => wall.hours,
  getMinutes: (wall) => wall.minutes,
  getSeconds: (wall) => wall.seconds,
  getMilliseconds: (wall) => wall.ms,
};

const durationParts = {
  getHours: 3_600_000_000_000n,
  getMinutes: 60_000_000_000n,
  getSeconds: 1_000_000_000n,
  getMilliseconds: 1_000_000n,
};

/** The functions on timestamps and durations. */
export const timeFunctions: readonly Overload[] = [
  ...Object.entries(readings).flatMap(([name, read]): Overload[] => [
    { name, on: 'timestamp', args: [], result: int, run: ([time]) => BigInt(read(wallOf(time as Date))) },
    {
      name,
      on: 'timestamp',
      args: ['string'],
      result: int,
      run: ([time, zone]) => BigInt(read(wallIn(time as Date, zone as string))),
    },
  ]),
  ...Object.entries(durationParts).map(
    ([name, nanos]): Overload => ({
      name,
      on: 'duration',
      args: [],
      result: int,
      run: ([time]) => (time as Duration).nanos / nanos,
    }),
  ),
  { name: 'plus', args: ['timestamp', 'string'], result: timestamp, run: ([time, text]) => plus(time as Date, text as string) },
];

// The casts of this file are proven by the slots: a value only comes here where `slotHolds` said so.

/** The days are counted in a leap year; in any other, one less has passed after February. */
function leapDayPassed(wall: Wall): number {
  const leap = wall.year % 4 === 0 && (wall.year % 100 !== 0 || wall.year % 400 === 0);
  return !leap && wall.month > 1 ? 1 : 0;
}

function wallOf(time: Date): Wall {
  return {
    year: time.getUTCFullYear(),
    month: time.getUTCMonth(),
    day: time.getUTCDate(),
    hours: time.getUTCHours(),
    minutes: time.getUTCMinutes(),
    seconds: time.getUTCSeconds(),
    ms: time.getUTCMilliseconds(),
  };
}

const clocks = new Map<string, Intl.DateTimeFormat>();
const clocksMax = 100;

function wallIn(time: Date, zone: string): Wall {
  const read: Record<string, number> = {};
  for (const part of clockOf(zone).formatToParts(time)) read[part.type] = Number(part.value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = read;
  return { year, month: month - 1, day, hours: hour, minutes: minute, seconds: second, ms: time.getUTCMilliseconds() };
}

function clockOf(timeZone: string): Intl.DateTimeFormat {
  const known = clocks.get(timeZone);
  if (known) return known;
  try {
    const numeric = 'numeric' as const;
    const parts = { year: numeric, month: numeric, day: numeric, hour: numeric, minute: numeric, second: numeric };
    const clock = new Intl.DateTimeFormat('en-US', { timeZone, calendar: 'iso8601', hourCycle: 'h23', ...parts });
    if (clocks.size < clocksMax) clocks.set(timeZone, clock);
    return clock;
  } catch {
    throw new Failed('conversion', 'a text that is no time zone');
  }
}

function plus(time: Date, text: string): Date {
  const ms = plusLapse(time.getTime(), text);
  if (ms === undefined) throw new Failed('conversion', 'a text that is no ISO 8601 duration');
  return checkTimestamp(ms);
}

const shape = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d):(\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;

/** The instant of a date-time (RFC 3339) in milliseconds since 1970; nothing where the text is none. A leap second is the one after it. */
export function instantOf(text: string): number | undefined {
  const match = shape.exec(text);
  if (!match) return undefined;
  const [, day, minute, second, fraction = '', zone = 'Z'] = match as unknown as [
    string,
    string,
    string,
    string,
    string?,
    string?,
  ];
  const leap = second === '60';
  const ms = Date.parse(`${day}T${minute}:${leap ? '59' : second}${leap ? '' : fraction.slice(0, 4)}${zone.toUpperCase()}`);
  if (Number.isNaN(ms) || Number(day.slice(8)) > daysOf(day)) return undefined;
  return leap ? ms + 1000 : ms;
}

function daysOf(day: string): number {
  return new Date(Date.UTC(Number(day.slice(0, 4)), Number(day.slice(5, 7)), 0)).getUTCDate();
}

const lapse =
  /^(-?)P(?!$)(?:(\d{1,6})Y)?(?:(\d{1,6})M)?(?:(\d{1,6})W)?(?:(\d{1,9})D)?(?:T(?!$)(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,12}(?:\.\d{1,9})?)S)?)?$/;

/**
 * A time plus an ISO 8601 duration, in UTC; nothing where the text is none. Years and months are the calendar's: the 31st plus a
 * month is the last day of a shorter one. They are added first, then what is always as long.
 */
export function plusLapse(ms: number, text: string): number | undefined {
  const match = lapse.exec(text);
  if (!match) return undefined;
  const [years = 0, months = 0, weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = match
    .slice(2)
    .map((part) => Number(part ?? 0));
  const sign = match[1] === '-' ? -1 : 1;
  const rest = ((weeks * 7 + days) * 24 + hours) * 3600 + minutes * 60 + seconds;
  return plusMonths(ms, sign * (years * 12 + months)) + sign * Math.round(rest * 1000);
}

function plusMonths(ms: number, months: number): number {
  if (months === 0) return ms;
  const date = new Date(ms);
  const day = date.getUTCDate();
  date.setUTCDate(1);
  date.setUTCMonth(date.getUTCMonth() + months);
  const last = new Date(date.getTime());
  last.setUTCMonth(last.getUTCMonth() + 1, 0);
  date.setUTCDate(Math.min(day, last.getUTCDate()));
  return date.getTime();
}
