import { type Comparison, compareBy } from '../comparison.ts';
import { binary } from './binary.ts';
import { country } from './country.ts';
import { currency } from './currency.ts';
import { dateTime } from './date-time.ts';
import { decimal } from './decimal.ts';
import { idnEmail } from './idn-email.ts';
import { idnHostname } from './idn-hostname.ts';
import { int32 } from './int32.ts';
import { int64 } from './int64.ts';
import { iri } from './iri.ts';
import { iriReference } from './iri-reference.ts';
import type { Format } from './kind.ts';
import { phone } from './phone.ts';
import { timezone } from './timezone.ts';
import { ulid } from './ulid.ts';
import { unixTime } from './unix-time.ts';

/** The formats of this language, and those of JSON Schema that ajv-formats lacks or that must be faster. */
export const formats = [
  ulid,
  int32,
  int64,
  decimal,
  unixTime,
  currency,
  country,
  phone,
  timezone,
  binary,
  dateTime,
  idnEmail,
  idnHostname,
  iri,
  iriReference,
] as const satisfies readonly Format[];

/** The format of a point in time as text, in which this language speaks of times. */
export const timeFormat = dateTime.word;

/** The format of a point in time as a number. */
export const secondsFormat = unixTime.word;

/** The format of bytes. */
export const bytesFormat = binary.word;

/** The format of this language of that name; nothing for the standard's own, and for what is no name. */
export function formatNamed(word: unknown): Format | undefined {
  return formats.find((format) => format.word === word);
}

/** Whether what stands in a shape as its format is one whose values stand for this. */
export function standsFor(word: unknown, what: NonNullable<Format['standsFor']>): boolean {
  return formatNamed(word)?.standsFor === what;
}

/** Whether a value of this format tells by itself whose it is, such as a mail address. */
export function isPersonal(word: unknown): boolean {
  if (typeof word !== 'string') return false;
  return formats.some((format: Format) => format.isPersonal === true && (format.word === word || format.covers === word));
}

/** How a later format stands to an earlier one, for those who send values of it. */
export function compareFormats(before: string, after: string): Comparison {
  return compareBy(before, after, (inner, outer) => inner === outer || formatNamed(inner)?.within?.includes(outer) === true);
}
