import { compileCoercion, compileForm } from './form.ts';
import { isSchema, itemOf, memberNames, memberOf, type Resolve, type Schema, schemaTypesOf } from './schema.ts';
import {
  areCommaFree,
  cookiePairs,
  decodeFormText,
  decodePercent,
  isNumbered,
  numberedItems,
  type TargetQuery,
} from './target.ts';
import type { Violation } from './violation.ts';

/** One parameter as an endpoint states it: an OpenAPI parameter with a shape. `allowReserved` binds clients; any encoding is read. */
export interface ParameterSpec {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header' | 'cookie';
  readonly shape: Schema;
  readonly required: boolean;
  readonly style?: ParameterStyle;
  readonly explode?: boolean;
  readonly default?: unknown;
  readonly allowReserved?: boolean;
  /** Whether an encoded comma stands between two values as well. */
  readonly splitsEncoded?: boolean;
}

type ParameterStyle = 'form' | 'simple' | 'label' | 'matrix' | 'spaceDelimited' | 'pipeDelimited' | 'deepObject';

/** What a request carries that parameters are read from. */
export interface Carried {
  readonly path: Readonly<Record<string, string>>;
  readonly rawPath: Readonly<Record<string, string>> | undefined;
  readonly query: TargetQuery;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  cookies: readonly (readonly [string, string])[] | undefined;
  readonly violations: Violation[];
}

export const absent = Symbol('absent');
export type Absent = typeof absent;

/** A compiled parameter. */
export interface ParameterReader {
  readonly spec: ParameterSpec;
  /** The value, or `absent`; what is wrong goes to the request's violations. */
  readonly read: (carried: Carried) => unknown;
  /** What the query names of a deepObject begin with. */
  readonly prefix?: string;
  /** Whether it takes every query name that nothing else states. */
  readonly absorbs: boolean;
  /** Whether a request without a query leaves it nothing to do. */
  readonly idle: boolean;
}

/** Compiles one parameter and adds the query names that it reads to `known`. */
export function compileReader(spec: ParameterSpec, resolve: Resolve, known: Set<string>, splitsEncoded = false): ParameterReader {
  const style = spec.style ?? (spec.in === 'path' || spec.in === 'header' ? 'simple' : 'form');
  const explode = spec.explode ?? style === 'form';
  const types = schemaTypesOf(spec.shape, resolve);
  const kind: ParameterKind = types?.has('array') ? 'array' : types?.has('object') ? 'object' : 'scalar';
  const idleQuery = spec.in === 'query' && !spec.required && spec.default === undefined;
  if (style === 'deepObject') return deepObject(spec, resolve, idleQuery);
  const build = compileBuild(spec, kind, resolve);
  if (style === 'form' && explode && kind === 'object') return spread(spec, resolve, known, build, idleQuery);
  if (spec.in === 'query') known.add(spec.name);
  if (kind === 'array' && explode && isNumbered(spec, style)) return numbered(spec, build, idleQuery);
  const text = kind === 'scalar' && style === 'simple' && spec.in === 'path' && types?.size === 1 && types.has('string');
  const plain = text && spec.shape.enum === undefined && spec.shape.const === undefined;
  const isLoose =
    kind === 'array' &&
    spec.in === 'query' &&
    (splitsEncoded || spec.splitsEncoded === true || areCommaFree(spec.shape, resolve));
  const take = compileStyle({ name: spec.name, style, explode, kind, loose: isLoose });
  const read = (carried: Carried) => {
    if (plain) return carried.path[spec.name] ?? absent;
    const sent = sentTexts(spec, carried);
    if (sent === undefined) return absent;
    const pieces = take(sent);
    return 'found' in pieces ? refuse(carried, spec, pieces.found, pieces.expected) : build(pieces, carried);
  };
  return { spec, read, absorbs: false, idle: idleQuery || plain };
}

function sentTexts(spec: ParameterSpec, carried: Carried): readonly string[] | undefined {
  if (spec.in === 'query') return carried.query.values.get(spec.name);
  if (spec.in === 'path') {
    const text = carried.rawPath?.[spec.name] ?? encodePath(carried.path[spec.name]);
    return text === undefined ? undefined : [text];
  }
  if (spec.in === 'header') {
    const name = spec.name.toLowerCase();
    const value = Object.hasOwn(carried.headers, name) ? carried.headers[name] : undefined;
    return value === undefined ? undefined : [typeof value === 'string' ? value : value.join(',')];
  }
  const values = cookiesOf(carried).flatMap(([name, value]) => (name === spec.name ? [value] : []));
  return values.length === 0 ? undefined : values;
}

/** Without the text as sent, a decoded one that holds `%` must not be decoded again. */
function encodePath(text: string | undefined): string | undefined {
  return text?.includes('%') ? text.replaceAll('%', '%25') : text;
}

function cookiesOf(carried: Carried): readonly (readonly [string, string])[] {
  const header = carried.headers.cookie;
  carried.cookies ??= cookiePairs(typeof header === 'string' ? header : header?.join('; '));
  return carried.cookies;
}

type Build = (pieces: Pieces, carried: Carried) => unknown;

/** From the pieces that a style gave, still encoded, to one value. */
function compileBuild(spec: ParameterSpec, kind: ParameterKind, resolve: Resolve): Build {
  const decode = decoderOf(spec.in);
  const bad = (carried: Carried) => refuse(carried, spec, 'a bad percent-encoding', 'UTF-8, percent-encoded');
  if (kind === 'object') {
    const coercions = new Map(
      memberNames(spec.shape, resolve).map((name) => [name, coercionOf(memberOf(spec.shape, name, resolve), resolve)]),
    );
    const rest = coercionOf(isSchema(spec.shape.additionalProperties) ? spec.shape.additionalProperties : undefined, resolve);
    return (pieces, carried) => {
      const value: Record<string, unknown> = Object.create(null);
      for (const [rawName, rawText] of pieces.pairs ?? []) {
        const name = decode(rawName);
        const text = decode(rawText);
        if (name === undefined || text === undefined) return bad(carried);
        if (Object.hasOwn(value, name)) return refuse(carried, spec, `${name} twice`, 'each name once');
        value[name] = (coercions.get(name) ?? rest)(text);
      }
      return value;
    };
  }
  const coerce = coercionOf(kind === 'array' ? itemOf(spec.shape, resolve) : spec.shape, resolve);
  return (pieces, carried) => {
    const values: unknown[] = [];
    for (const raw of pieces.items ?? []) {
      const text = decode(raw);
      if (text === undefined) return bad(carried);
      values.push(coerce(text));
    }
    return kind === 'array' ? values : values[0];
  };
}

function coercionOf(schema: Schema | undefined, resolve: Resolve): (text: string) => unknown {
  return compileCoercion(schema ?? {}, resolve);
}

/** Headers are not percent-encoded; a cookie may hold a bare `%`, and then stands as it was sent. */
function decoderOf(place: ParameterSpec['in']): (text: string) => string | undefined {
  if (place === 'query') return decodeFormText;
  if (place === 'path') return decodePercent;
  return place === 'header' ? (text) => text.trim() : (text) => decodePercent(text) ?? text;
}

/** `form` with `explode` on an object: each member is a query parameter or cookie of its own. */
function spread(spec: ParameterSpec, resolve: Resolve, known: Set<string>, build: Build, idle: boolean): ParameterReader {
  const names = new Set(memberNames(spec.shape, resolve));
  const { additionalProperties } = spec.shape;
  const absorbs = spec.in === 'query' && (additionalProperties === true || isSchema(additionalProperties));
  if (spec.in === 'query') for (const name of names) known.add(name);
  const read = (carried: Carried) => {
    const sent = spec.in === 'query' ? queryPairs(carried) : cookiesOf(carried);
    const pairs = sent.filter(([name]) => names.has(name) || (absorbs && !known.has(name)));
    if (pairs.length === 0) return absent;
    return build({ pairs: pairs.map(([name, text]) => [spec.in === 'query' ? encodeURIComponent(name) : name, text]) }, carried);
  };
  return { spec, read, absorbs, idle };
}

function queryPairs(carried: Carried): (readonly [string, string])[] {
  return [...carried.query.values].flatMap(([name, values]) => values.map((value) => [name, value] as const));
}

/** A list whose items may be numbered in the query. */
function numbered(spec: ParameterSpec, build: Build, idle: boolean): ParameterReader {
  const read = (carried: Carried) => {
    const items = numberedItems(spec.name, carried.query.values);
    if ('found' in items) return refuse(carried, spec, items.found, items.expected);
    return items.length === 0 ? absent : build({ items }, carried);
  };
  return { spec, read, prefix: spec.name.slice(0, -1), absorbs: false, idle };
}

/** `deepObject`: `filter[weight][gte]=5`, nested as deep as a form is. */
function deepObject(spec: ParameterSpec, resolve: Resolve, idle: boolean): ParameterReader {
  const prefix = `${spec.name}[`;
  const readForm = compileForm({ properties: { p: spec.shape } }, resolve);
  const read = (carried: Carried) => {
    const pairs: [string, string][] = [];
    for (const [name, raw] of queryPairs(carried)) {
      if (!name.startsWith(prefix)) continue;
      const text = decodeFormText(raw);
      if (text === undefined) return refuse(carried, spec, 'a bad percent-encoding', 'UTF-8, percent-encoded');
      // A name with brackets of its own is one step, so the pair is read under a name that has none.
      pairs.push([`p${name.slice(spec.name.length)}`, text]);
    }
    if (pairs.length === 0) return absent;
    const { value, violations } = readForm(pairs);
    for (const { found, expected } of violations) refuse(carried, spec, found, expected);
    return value.p;
  };
  return { spec, read, prefix, absorbs: false, idle };
}

function refuse(carried: Carried, spec: ParameterSpec, found: string, expected: string): Absent {
  carried.violations.push({ in: spec.in, path: spec.name, found, expected });
  return absent;
}

type ParameterKind = 'scalar' | 'array' | 'object';

/** A parameter taken apart, still encoded: a list's items or a scalar's one text, or an object's pairs. */
interface Pieces {
  readonly items?: readonly string[];
  readonly pairs?: readonly (readonly [string, string])[];
}

/** What did not follow the style. */
interface BadStyle {
  readonly found: string;
  readonly expected: string;
}

interface StyleOptions {
  readonly name: string;
  readonly style: string;
  readonly explode: boolean;
  readonly kind: ParameterKind;
  /** Whether an encoded delimiter is one too, because no item can hold it. */
  readonly loose: boolean;
}

/**
 * Compiles the taking apart of one parameter's texts by its style (OpenAPI 3.1 section 4.8.12.2, RFC 6570 section 3.2).
 * Several texts come only from a query or cookies that say one name several times.
 */
function compileStyle(options: StyleOptions): (texts: readonly string[]) => Pieces | BadStyle {
  const { style, kind, explode } = options;
  if (style === 'label') return one((text) => (text.startsWith('.') ? takeLabel(text.slice(1), kind, explode) : labelExpected));
  if (style === 'matrix') return one((text) => takeMatrix(text, options));
  if (style === 'simple') return one((text) => take(text, ',', kind, explode));
  if (explode && kind === 'array') return (texts) => ({ items: texts });
  return one((text) => take(text, delimiterOf(options), kind, false));
}

function one(takeText: (text: string) => Pieces | BadStyle): (texts: readonly string[]) => Pieces | BadStyle {
  return (texts) => (texts.length === 1 ? takeText(texts[0] ?? '') : { found: `${texts.length} values`, expected: 'one value' });
}

function delimiterOf({ style, loose }: StyleOptions): string | RegExp {
  if (style === 'spaceDelimited') return /%20|\+| /;
  const comma = loose ? /,|%2C/i : ',';
  return style === 'pipeDelimited' ? /\||%7C/i : comma;
}

function take(text: string, delimiter: string | RegExp, kind: ParameterKind, named: boolean): Pieces | BadStyle {
  if (kind === 'scalar') return { items: [text] };
  const pieces = text.split(delimiter);
  if (kind === 'array') return { items: pieces };
  if (text === '') return { pairs: [] };
  return named ? namedPairs(pieces) : alternatingPairs(pieces);
}

function namedPairs(pieces: readonly string[]): Pieces | BadStyle {
  const pairs: [string, string][] = [];
  for (const piece of pieces) {
    const equals = piece.indexOf('=');
    if (equals === -1) return { found: 'a name without a value', expected: 'name=value pairs' };
    pairs.push([piece.slice(0, equals), piece.slice(equals + 1)]);
  }
  return { pairs };
}

function alternatingPairs(pieces: readonly string[]): Pieces | BadStyle {
  if (pieces.length % 2 !== 0) return { found: 'a name without a value', expected: 'names and values in turn' };
  const pairs: [string, string][] = [];
  for (let i = 0; i < pieces.length; i += 2) pairs.push([pieces[i] ?? '', pieces[i + 1] ?? '']);
  return { pairs };
}

const labelExpected: BadStyle = { found: 'a text without its dot', expected: 'a dot before the value' };
function takeLabel(text: string, kind: ParameterKind, explode: boolean): Pieces | BadStyle {
  return take(text, explode ? '.' : ',', kind, explode);
}

function takeMatrix(text: string, { name, kind, explode }: StyleOptions): Pieces | BadStyle {
  const expected = { found: 'a text of another form', expected: `;${name}=value` };
  if (!text.startsWith(';')) return expected;
  if (kind === 'object' && explode) return namedPairs(text.slice(1).split(';'));
  const pieces = kind === 'array' && explode ? text.slice(1).split(';') : [text.slice(1)];
  const values: string[] = [];
  for (const piece of pieces) {
    if (piece === name) values.push('');
    else if (piece.startsWith(`${name}=`)) values.push(piece.slice(name.length + 1));
    else return expected;
  }
  return kind === 'array' && explode ? { items: values } : take(values[0] ?? '', ',', kind, false);
}
