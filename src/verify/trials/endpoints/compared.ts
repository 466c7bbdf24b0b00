import type { Json } from '../../../document/document.ts';
import { isSame } from '../../../document/values.ts';
import { formatNamed } from '../../../kinds/formats/all.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { statedValue } from '../../../parts/fact.ts';
import type { Operator } from '../../../parts/parameters.ts';
import type { Field } from '../../../parts/resources.ts';
import { asText } from '../../exchange/as-text.ts';
import type { ShownFields } from '../../model/row-shown.ts';

const dateTime = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d/;
const plain = /^[\x20-\x7e]*$/;

/** Which of two values comes first: numbers, instants, and texts that every usual order has the same way round; nothing where services may differ. */
function compareValues(one: Json | undefined, other: Json | undefined): number | undefined {
  if (isSame(one, other)) return 0;
  if (typeof one === 'number' && typeof other === 'number') return one - other;
  if (typeof one === 'boolean' && typeof other === 'boolean') return Number(one) - Number(other);
  if (typeof one !== 'string' || typeof other !== 'string') return undefined;
  if (dateTime.test(one) && dateTime.test(other)) return Date.parse(one) - Date.parse(other);
  if (![one, other].every((text) => plain.test(text))) return undefined;
  if ([one, other].every((text) => /^[a-z0-9]*$/.test(text))) return one < other ? -1 : 1;
  const signs = new Set(usualOrders.map((order) => Math.sign(order(one, other))));
  const [sign = 0, ...more] = signs;
  return more.length === 0 && sign !== 0 ? sign : undefined;
}

type TextOrder = (one: string, other: string) => number;

const byCode: TextOrder = (one, other) => (one < other ? -1 : one > other ? 1 : 0);

/** By code points, whatever the case, and as languages have them, with and without punctuation. */
const usualOrders: readonly TextOrder[] = [
  byCode,
  (one, other) => byCode(one.toLowerCase(), other.toLowerCase()),
  (one, other) => byCode(one.toUpperCase(), other.toUpperCase()),
  new Intl.Collator('en').compare,
  new Intl.Collator('en', { ignorePunctuation: true }).compare,
];

/** Whether a row fits a filter; nothing where that cannot be said. */
export function matchesFilter(value: Json | undefined, op: Operator, asked: Json, field: Field): boolean | undefined {
  if (value === undefined || value === null) return op === '!=' ? undefined : false;
  if (Array.isArray(value) || typeof value === 'object') return undefined;
  if (op === 'in') return Array.isArray(asked) ? asked.some((one: Json) => alike(value, one, field)) : alike(value, asked, field);
  if (op === '=') return alike(value, asked, field);
  if (op === '!=') return !alike(value, asked, field);
  if (op === 'prefix') return isPartOf(value, asked, field, (text, part) => text.startsWith(part));
  if (op === 'contains') return isPartOf(value, asked, field, (text, part) => text.includes(part));
  const compared = compareValues(value, typeof value === 'number' ? Number(asked) : asked);
  if (compared === undefined) return undefined;
  if (op === '<') return compared < 0;
  if (op === '<=') return compared <= 0;
  return op === '>' ? compared > 0 : compared >= 0;
}

/** Looking for a piece of a text minds case; where its field does not, nobody says which of them it is. */
function isPartOf(
  value: Json,
  asked: Json,
  { ignoreCase }: Field,
  isPart: (text: string, part: string) => boolean,
): boolean | undefined {
  const [text, part] = [asText(value), asText(asked)];
  if (isPart(text, part)) return true;
  return ignoreCase && isPart(text.toLowerCase(), part.toLowerCase()) ? undefined : false;
}

function alike(value: Json, asked: Json, { ignoreCase, shape }: Field): boolean {
  const one = asText(value);
  const other = asText(asked);
  if (one === other) return true;
  if (ignoreCase && one.toLowerCase() === other.toLowerCase()) return true;
  const time = formatNamed(statedValue(shape)?.format)?.time;
  const ms = time?.readMs(one);
  return ms !== undefined && ms === time?.readMs(other);
}

/** Whether one row comes before another in an order, as far as their values can be compared. */
export function rowsInOrder(one: ShownFields, other: ShownFields, order: Endpoint['order']): 'right' | 'wrong' | 'unknown' {
  for (const { field, descending } of order) {
    const compared = compareValues(one[field], other[field]);
    if (compared === undefined) return 'unknown';
    if (compared !== 0) return compared < 0 !== descending ? 'right' : 'wrong';
  }
  return 'right';
}
