import { isOfType } from '../../document/json-type.ts';
import { isMultiple } from '../../kinds/multiples.ts';
import { WireFile } from './violation.ts';

/** Whether a value holds a BigInt anywhere: an integer past 2^53. */
export function holdsBigInt(value: unknown): boolean {
  if (typeof value === 'bigint') return true;
  if (typeof value !== 'object' || value === null || value instanceof WireFile) return false;
  if (Array.isArray(value)) return value.some(holdsBigInt);
  // The cast holds: the value is an object, and its own keys are read.
  for (const key of Object.keys(value)) if (holdsBigInt((value as Record<string, unknown>)[key])) return true;
  return false;
}

/** JSON Schema's numeric keywords with BigInts among the numbers; every one passes what is no number. */
export const exactKeywords: Readonly<Record<string, (stated: unknown, value: unknown) => boolean>> = {
  exactType: (stated, value) => Array.isArray(stated) && stated.some((type) => isOfType(value, String(type))),
  exactMinimum: (stated, value) => !isNumeric(value) || !isNumeric(stated) || value >= stated,
  exactMaximum: (stated, value) => !isNumeric(value) || !isNumeric(stated) || value <= stated,
  exactExclusiveMinimum: (stated, value) => !isNumeric(value) || !isNumeric(stated) || value > stated,
  exactExclusiveMaximum: (stated, value) => !isNumeric(value) || !isNumeric(stated) || value < stated,
  exactMultipleOf: (stated, value) => !isNumeric(value) || !isNumeric(stated) || isMultiple(value, stated),
  exactEnum: (stated, value) => Array.isArray(stated) && stated.some((one) => sameValue(one, value)),
  exactConst: sameValue,
};

/** Whether two JSON values are equal, integers by value however they are held. */
function sameValue(a: unknown, b: unknown): boolean {
  if (isNumeric(a) && isNumeric(b)) return a >= b && a <= b;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b;
  if (Array.isArray(a) || Array.isArray(b)) {
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((item, i) => sameValue(item, b[i]));
  }
  if (a instanceof WireFile || b instanceof WireFile) return false;
  const entries = Object.entries(a);
  const others = new Map(Object.entries(b));
  return entries.length === others.size && entries.every(([name, part]) => others.has(name) && sameValue(part, others.get(name)));
}

/** The first two equal items of a list, in time linear in its text; undefined where all differ. */
export function alikeItems(items: readonly unknown[]): readonly [number, number] | undefined {
  const seen = new Map<string, number>();
  for (const [i, item] of items.entries()) {
    const text = canonical(item);
    const before = seen.get(text);
    if (before !== undefined) return [before, i];
    seen.set(text, i);
  }
  return undefined;
}

/** One text for all equal values: members in order, integers by value. */
function canonical(value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null || value instanceof WireFile)
    return value === 0 ? '0' : (JSON.stringify(value) ?? '');
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  const members = Object.entries(value).map(([name, part]) => `${JSON.stringify(name)}:${canonical(part)}`);
  return `{${members.toSorted().join()}}`;
}

function isNumeric(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}
