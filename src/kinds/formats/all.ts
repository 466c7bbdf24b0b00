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
export const formats: readonly Format[] = [
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
];
