import type { Format } from './kind.ts';

/** A date and time with its offset (RFC 3339 section 5.6): `T` between them, in either case; a leap second where UTC may have one. */
export const dateTime = {
  word: 'date-time',
  type: 'string',
  meaning: 'a date and time such as 2026-01-31T12:00:00Z',
  example: '2026-01-31T12:00:00Z',
  // No such month, no such day, no offset, no seconds, an offset that is no clock's, a date alone.
  nearMisses: [
    '2026-13-01T00:00:00Z',
    '2026-02-30T00:00:00Z',
    '2026-01-31T12:00:00',
    '2026-01-31T12:00Z',
    '2026-01-31T12:00:00+0100',
    '2026-01-31',
  ],
  time: {
    readMs(value) {
      const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN;
      return Number.isFinite(ms) ? ms : undefined;
    },
    write: (ms) => new Date(ms).toISOString().replace('.000Z', 'Z'),
  },
  test: (value) => typeof value === 'string' && isDateTime(value),
} as const satisfies Format;

/** Reads digits by their places: it is the most used format, and several times faster than an expression. */
function isDateTime(text: string): boolean {
  if (text.length < 20 || text[4] !== '-' || text[7] !== '-' || text[13] !== ':' || text[16] !== ':') return false;
  if (text[10] !== 'T' && text[10] !== 't') return false;
  const year = digits(text, 0, 4);
  const month = digits(text, 5, 7);
  const day = digits(text, 8, 10);
  const hour = digits(text, 11, 13);
  const minute = digits(text, 14, 16);
  const second = digits(text, 17, 19);
  if (year < 0 || month < 1 || month > 12 || day < 1 || day > daysOf(year, month)) return false;
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60) return false;
  const offset = offsetMinutes(text, endOfFraction(text));
  if (offset === undefined) return false;
  return second < 60 || (hour * 60 + minute - offset + DAY) % DAY === DAY - 1;
}

const DAY = 24 * 60;
const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

function daysOf(year: number, month: number): number {
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return month === 2 && leap ? 29 : (DAYS[month - 1] ?? 0);
}

/** The number that stands there, or -1 where not all are digits. */
function digits(text: string, from: number, to: number): number {
  let number = 0;
  for (let i = from; i < to; i++) {
    const digit = text.charCodeAt(i) - 48;
    if (!(digit >= 0 && digit <= 9)) return -1;
    number = number * 10 + digit;
  }
  return number;
}

/** Where the seconds end; -1 where a point has no digits after it. */
function endOfFraction(text: string): number {
  if (text[19] !== '.') return 19;
  let end = 20;
  while (end < text.length && digits(text, end, end + 1) >= 0) end++;
  return end === 20 ? -1 : end;
}

function offsetMinutes(text: string, from: number): number | undefined {
  const sign = text[from];
  if (sign === 'Z' || sign === 'z') return text.length === from + 1 ? 0 : undefined;
  if ((sign !== '+' && sign !== '-') || text.length !== from + 6 || text[from + 3] !== ':') return undefined;
  const hour = digits(text, from + 1, from + 3);
  const minute = digits(text, from + 4, from + 6);
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59) return undefined;
  return (sign === '-' ? -1 : 1) * (hour * 60 + minute);
}
