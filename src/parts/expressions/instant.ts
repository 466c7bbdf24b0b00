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
