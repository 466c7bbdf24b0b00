import type { Json, JsonMap } from '../../../document/document.ts';
import { isMap } from '../../../document/values.ts';
import { fitsSchema } from './keywords.ts';

/**
 * A default as it is meant, where it does not fit its own schema and is the same value written otherwise: `"true"` of a flag, `"100"` of a number, 2016 of a
 * text, one item of a list, a listed word in letters of another case. Nothing where it is none of these.
 */
export function defaultAsMeant(shape: JsonMap, usual: Json): Json | undefined {
  return [...readingsOf(shape, usual)].find((one) => fitsSchema(shape, one) && fitsItems(shape, one));
}

function* readingsOf({ type, enum: words }: JsonMap, usual: Json): Generator<Json> {
  const types = new Set<Json | undefined>(Array.isArray(type) ? type : [type]);
  if (typeof usual === 'string') {
    const plain = usual.trim().toLowerCase();
    if (types.has('boolean') && (plain === 'true' || plain === 'false')) yield plain === 'true';
    if ((types.has('integer') || types.has('number')) && isExact(plain)) yield Number(plain);
  }
  if (types.has('string') && (typeof usual === 'number' || typeof usual === 'boolean')) yield String(usual);
  if (types.has('array') && usual !== null && usual !== '' && typeof usual !== 'object') yield [usual];
  if (Array.isArray(words) && typeof usual === 'string') {
    const alike = words.filter((word: Json) => typeof word === 'string' && word.toLowerCase() === usual.toLowerCase());
    const [word] = alike;
    if (word !== undefined && alike.length === 1) yield word;
  }
}

/** Whether a text is a number that is written the same when it is read: none beyond what a number holds. */
function isExact(text: string): boolean {
  return /^-?\d+(?:\.\d+)?$/.test(text) && (text.includes('.') || Number.isSafeInteger(Number(text)));
}

/** A list that is put around one value holds what its items may be. */
function fitsItems({ items }: JsonMap, value: Json): boolean {
  if (!Array.isArray(value)) return true;
  if (typeof items === 'string') return fitsSchema({ type: items }, value[0] as Json);
  return isMap(items) && items.type !== undefined && fitsSchema(items, value[0] as Json);
}
