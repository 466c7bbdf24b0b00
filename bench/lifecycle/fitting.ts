/** Whether a value is of a described schema: its types, required members, listed words and bounds, as a client reads them. */
import type { Json, JsonMap } from '../../src/document/document.ts';
import { isMap } from '../../src/document/values.ts';
import type { Described } from './description.ts';

const depthMax = 12;

/** Where and why it does not fit, in a few words; nothing where it does. */
export function misfitOf(described: Described, value: Json, schema: Json | undefined, at = '', depth = 0): string | undefined {
  const here = described.flat(schema);
  if (depth > depthMax) return undefined;
  const types = typesOf(here);
  if (value === null) {
    const may =
      here.nullable === true ||
      (isMap(schema) && schema.nullable === true) ||
      here['x-nullable'] === true ||
      types.length === 0 ||
      types.includes('null');
    return may || variantsOf(here).some((form) => !misfitOf(described, value, form, at, depth + 1)) ? undefined : `${at} is null`;
  }
  if (types.length > 0 && !types.some((type) => isOf(value, type))) return `${at || 'the body'} is no ${types.join(' or ')}`;
  if (Array.isArray(here.enum) && !here.enum.some((one) => one === value || isMap(value))) return `${at} is none of its words`;
  if (here.const !== undefined && typeof here.const !== 'object' && here.const !== value) return `${at} is not its one value`;
  const forms = variantsOf(here);
  if (forms.length > 0 && forms.every((form) => misfitOf(described, value, form, at, depth + 1) !== undefined))
    return `${at || 'the body'} is of none of its forms`;
  if (typeof value === 'string') return textMisfit(value, here, at);
  if (typeof value === 'number') return numberMisfit(value, here, at);
  if (Array.isArray(value))
    return firstOf(value.map((item, n) => () => misfitOf(described, item, here.items, `${at}[${n}]`, depth + 1)));
  return mapMisfit(described, value as JsonMap, here, at, depth);
}

function mapMisfit(described: Described, value: JsonMap, here: JsonMap, at: string, depth: number): string | undefined {
  const properties = isMap(here.properties) ? here.properties : {};
  const required = Array.isArray(here.required) ? here.required.map(String) : [];
  // A name that stands among the required alone is a slip of the document.
  const missing = required.find(
    (name) => !(name in value) && Object.hasOwn(properties, name) && described.flat(properties[name]).writeOnly !== true,
  );
  if (missing !== undefined) return `${at}.${missing} is missing`;
  const members = Object.entries(value).filter(([name]) => Object.hasOwn(properties, name));
  return firstOf(
    members.map(
      ([name, member]) =>
        () =>
          misfitOf(described, member, properties[name], `${at}.${name}`, depth + 1),
    ),
  );
}

function firstOf(looks: readonly (() => string | undefined)[]): string | undefined {
  for (const look of looks) {
    const found = look();
    if (found !== undefined) return found;
  }
  return undefined;
}

function variantsOf(here: JsonMap): readonly Json[] {
  return Array.isArray(here.oneOf) ? here.oneOf : Array.isArray(here.anyOf) ? here.anyOf : [];
}

/** Its stated types; an object is one with members, too. */
export function typesOf(here: JsonMap): readonly string[] {
  const { type } = here;
  if (typeof type === 'string') return known.includes(type) ? [type] : [];
  if (Array.isArray(type)) return type.map(String).filter((one) => known.includes(one));
  return isMap(here.properties) ? ['object'] : isMap(here.items) ? ['array'] : [];
}

const known = ['string', 'integer', 'number', 'boolean', 'object', 'array', 'null'];

function isOf(value: Json, type: string): boolean {
  switch (type) {
    case 'integer':
      return typeof value === 'number' && Number.isInteger(value);
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isMap(value);
    case 'null':
      return value === null;
    default:
      return typeof value === type;
  }
}

function textMisfit(value: string, { minLength, maxLength, pattern, format }: JsonMap, at: string): string | undefined {
  if (format === 'date' && !/^\d{4}-\d\d-\d\d$/.test(value)) return `${at} is no date`;
  if (typeof minLength === 'number' && [...value].length < minLength) return `${at} is too short`;
  if (typeof maxLength === 'number' && [...value].length > maxLength) return `${at} is too long`;
  if (typeof pattern === 'string' && patternOf(pattern)?.test(value) === false) return `${at} breaks its pattern`;
  return undefined;
}

function patternOf(pattern: string): RegExp | undefined {
  for (const flags of ['u', ''])
    try {
      return new RegExp(pattern, flags);
    } catch {}
  return undefined;
}

function numberMisfit(value: number, { minimum, maximum }: JsonMap, at: string): string | undefined {
  if (typeof minimum === 'number' && value < minimum) return `${at} is too small`;
  return typeof maximum === 'number' && value > maximum ? `${at} is too large` : undefined;
}
