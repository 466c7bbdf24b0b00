import type { Json, JsonMap } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import type { Variant } from './variant.ts';

/** A list with as few items as may be, and with as many, where any words will do. */
export function* listEdges({ minItems, maxItems, items }: JsonMap): Iterable<Variant> {
  if (minItems === undefined || minItems === 0) yield { label: 'of no items', value: [], kind: 'allowed values' };
  if (typeof maxItems === 'number' && maxItems < 200 && hasPlainItems(items)) yield wordsVariant(maxItems);
}

function wordsVariant(count: number): Variant {
  const value = Array.from({ length: count }, (_, at) => `item${at}`);
  return { label: `of ${count} items`, value, kind: 'allowed values' };
}

/** Whether the items of a list may be any short words. */
function hasPlainItems(items: Json | undefined): boolean {
  if (!isMap(items) || items.type !== 'string') return false;
  const { minLength = 0, maxLength = 10 } = items;
  const isFree = items.enum === undefined && items.format === undefined && items.pattern === undefined;
  return isFree && Number(minLength) <= 5 && Number(maxLength) >= 7;
}

/** Lists that are too short, too long, or hold something twice. */
export function* listBreaks(shape: JsonMap): Iterable<Variant> {
  const { minItems, maxItems, items } = shape;
  const kind = 'allowed values';
  const isPlain = hasPlainItems(items);
  if (typeof minItems === 'number' && minItems === 1) yield { label: 'of no items', value: [], kind };
  if (typeof maxItems === 'number' && maxItems < 200 && isPlain) yield wordsVariant(maxItems + 1);
  const first = isMap(items) && Array.isArray(items.enum) ? items.enum[0] : undefined;
  if (shape.uniqueItems === true && first !== undefined) yield { label: 'of one item twice', value: [first, first], kind };
  if (shape.uniqueItems === true && isPlain) yield { label: 'of one item twice', value: ['twice', 'twice'], kind };
}
