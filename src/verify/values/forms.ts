import type { Json, JsonMap } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import { branchesOf } from '../../parts/shapes/branches.ts';
import type { Variant } from './variants.ts';

/** Whether a body of a media type is a form, in which every value is a text that its shape tells how to read. */
export function isForm(type: string | undefined): boolean {
  return type !== undefined && /^(?:multipart\/form-data|application\/x-www-form-urlencoded)/.test(type);
}

/** Whether a form has no pairs for something in a value: what is null, and lists and maps without anything in them. */
export function isLostInForms(value: Json | undefined): boolean {
  if (value === null || value === undefined) return true;
  if (typeof value !== 'object') return false;
  const inner: readonly Json[] = Object.values(value);
  return inner.length === 0 || inner.some(isLostInForms);
}

/** What a form says of a value: nothing of lists and maps without anything in them. */
export function withoutHollow(value: Json): Json | undefined {
  if (Array.isArray(value)) return some(value.flatMap((item: Json) => withoutHollow(item) ?? []));
  if (!isMap(value)) return value;
  const members = Object.entries(value).flatMap(([name, inner]): [string, Json][] => {
    const said = withoutHollow(inner);
    return said === undefined ? [] : [[name, said]];
  });
  return members.length === 0 ? undefined : Object.fromEntries(members);
}

function some(items: readonly Json[]): Json | undefined {
  return items.length === 0 ? undefined : items;
}

/** Those of some values that a form can say and that its shape does not read as another: the text of a number is that number. */
export function saidInForms(shape: JsonMap, variants: readonly Variant[]): Variant[] {
  const types = branchesOf(shape).length > 0 ? [] : typesOf(shape);
  const isText = types.includes('string');
  const said = variants.filter(({ value }) => {
    if (value === '' || isLostInForms(value)) return false;
    if (typeof value === 'object') return types.includes(Array.isArray(value) ? 'array' : 'object');
    return typeof value === 'string' ? isText || !isRead(types, value) : !isText;
  });
  // What stands for a value of another type may be one that no form can say.
  const isForeign = !isText && types.length > 0 && types.every((type) => scalars.has(type));
  const hasForeign = said.some(({ kind, value }) => kind === 'types' && typeof value === 'string');
  return isForeign && !hasForeign && variants.some(({ kind, value }) => kind === 'types' && typeof value === 'object')
    ? [{ label: 'of "not-of-this-type"', value: 'not-of-this-type', kind: 'types' }, ...said]
    : said;
}

const scalars: ReadonlySet<string> = new Set(['integer', 'number', 'boolean', 'null']);

function typesOf({ type }: JsonMap): string[] {
  return typeof type === 'string' ? [type] : Array.isArray(type) ? type.map(String) : [];
}

/** Whether a text is read as a value of one of these types. */
function isRead(types: readonly string[], text: string): boolean {
  if (types.includes('boolean') && (text === 'true' || text === 'false')) return true;
  return (types.includes('integer') || types.includes('number')) && text.trim() !== '' && Number.isFinite(Number(text));
}
