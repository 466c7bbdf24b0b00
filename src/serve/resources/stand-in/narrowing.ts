import type { Json } from '../../../document/document.ts';
import { isSame } from '../../../document/values.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, statedValue } from '../../../parts/fact.ts';
import type { Samples } from '../../../parts/samples/samples.ts';
import { isPlainMap } from '../../../parts/source.ts';
import type { Exchange, Fields, Value } from '../../exchange/exchange.ts';
import { warn } from '../../exchange/warn.ts';
import { toJson } from '../../http/json.ts';
import { hasAnyMembers, isFields } from '../body.ts';
import type { RowModel } from '../model.ts';
import type { Narrow } from '../stand-in.ts';
import { includesFields } from './asked-members.ts';
import { compileComparison, type FilterComparison, type RowPlace, readOrder, readQuery } from './comparisons.ts';
import { type NarrowedThings, type Places, placesOf } from './row-places.ts';

/**
 * Compiles how a list is narrowed and ordered by parameters that the document names and no fact explains: `filter[name][contains]=x`,
 * `created_at_gte`, `sort=-name`, `q=word`, and of a list by POST the members of its body. One that speaks of no field is passed over.
 */
export function compileNarrowing(
  endpoint: Endpoint,
  things: NarrowedThings,
  paging: readonly string[],
  samples: Samples,
): Narrow | undefined {
  const places = placesOf(things, samples);
  const explained = new Set([...paging, ...(endpoint.expand ? [endpoint.expand.parameter] : [])]);
  const named = entriesOf(endpoint.parameters).flatMap(([, { name, in: place, filters, shape }]) =>
    place === 'path' ||
    includesFields(samples.whole(statedValue(shape) ?? {})) ||
    (filters !== undefined && things.has(filters)) ||
    explained.has(name)
      ? []
      : [name],
  );
  const isByBody = endpoint.method === 'POST';
  // A default says what is answered in, as a language is, more often than what is answered: nobody has asked for it.
  const usual = new Map(
    entriesOf(endpoint.parameters).flatMap(([, { name, default: stated }]) => (stated ? [[name, stated.value] as const] : [])),
  );
  const known = new Map(named.map((name) => [name, testsNamed(name, places)]));
  return (exchange) => {
    const sent = sentOf(exchange, named, isByBody ? explained : undefined, places);
    for (const [name, value] of Object.entries(exchange.call.headers))
      if (filterHeader.test(name) && typeof value === 'string' && mapIn(value)) sent.set('filter', value);
    if (sent.size === 0) return undefined;
    const key = toJson([...sent] as Value);
    if (key.length > filterLengthMost || leavesOf([...sent.values()].map(asMap)) > leavesMost) {
      warn(exchange, ['the list is not narrowed by so many conditions']);
      return undefined;
    }
    const tests = [...sent].flatMap(([name, value]) =>
      isSame(usual.get(name), value) && !isAsked(exchange, name) ? [] : (known.get(name) ?? testsNamed(name, places))(value),
    );
    warnOfQueries(exchange, sent, known, places);
    const order = readOrder(withOrderInside(sent), (name) => places.find(name));
    if (tests.length === 0 && order === undefined) return undefined;
    return { key, keeps: (row) => tests.every((test) => test(row)), order };
  };
}

/** Whether a request says something by this name itself: in its query, its headers or its body. */
function isAsked({ call, request }: Exchange, name: string): boolean {
  const isInBody = isFields(request) && Object.hasOwn(request, name);
  return isInBody || call.headers[name.toLowerCase()] !== undefined || new URLSearchParams(call.query).has(name);
}

/** Rows of a resource, for the narrowing of their list. */
export function narrowedRows(model: RowModel): NarrowedThings {
  return {
    members: new Map([...model.fields].map(([name, { shape }]) => [name, statedValue(shape)])),
    identifier: model.identifier.field,
    isAny: hasAnyMembers(model),
    has: (member) => Boolean(model.code(member)),
  };
}

type Test = (row: Fields) => boolean;

/** A header in which a client sends a map of filters, as JSON. */
const filterHeader = /^(?:x-)?filters?$/;

/** A map that was sent as a text of JSON. */
function mapIn(text: string): Fields | undefined {
  if (!text.startsWith('{') || text.length > filterLengthMost) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isPlainMap(value as Json) ? (value as Fields) : undefined;
  } catch {
    return undefined;
  }
}

function asMap(value: Value): Value {
  return (typeof value === 'string' ? mapIn(value) : undefined) ?? value;
}

/** How long what narrows a list may be, as JSON, how many values it may hold, and how long a name in it may be. */
const filterLengthMost = 8192;
const leavesMost = 100;
const nameLengthMost = 200;

/** How many values there are in one; more than may be are not counted to their end. */
function leavesOf(value: Value): number {
  if (!value || typeof value !== 'object' || value instanceof Uint8Array) return 1;
  let count = 0;
  for (const inner of Object.values(value)) {
    count += leavesOf(inner);
    if (count > leavesMost) break;
  }
  return count;
}

/** The words of order that stand in a filter itself, beside those of the request. */
function withOrderInside(sent: ReadonlyMap<string, Value>): ReadonlyMap<string, Value> {
  const filter = sent.get('filter');
  const inside = typeof filter === 'string' ? mapIn(filter) : undefined;
  return inside ? new Map([...Object.entries(inside), ...sent]) : sent;
}

/** What was sent of what narrows, and a filter that says so by its name though nothing states it; `besides`: of a body, but for what is explained. */
function sentOf(
  { params, request, call }: Exchange,
  named: readonly string[],
  besides: ReadonlySet<string> | undefined,
  places: Places,
) {
  const sent = new Map<string, Value>();
  for (const name of named) if (params[name] !== undefined) sent.set(name, params[name]);
  if (call.query.includes('ilter'))
    for (const [name, value] of new URLSearchParams(call.query))
      if (unstatedFilter.test(name) && !Object.hasOwn(params, name) && !sent.has(name)) sent.set(byPart(name, places), value);
  if (!besides || !isFields(request)) return sent;
  for (const [name, value] of Object.entries(request)) if (!besides.has(name) && value !== null) sent.set(name, value);
  return sent;
}

/** `filter[category]`, `filters[price][gte]`. */
const unstatedFilter = /^filters?\[[\w.-]{1,64}\](?:\[\w{1,20}\])?$/;

/** Of a text that may be any, and of which nothing says how it is looked for, a part is enough: who looks for the whole finds it too. */
function byPart(name: string, places: Places): string {
  const [, field] = /^filters?\[([\w.-]+)\]$/.exec(name) ?? [];
  return field !== undefined && places.isFreeText(field) ? `${name}[contains]` : name;
}

/** The tests that a parameter stands for, by its name and what was sent. */
function testsNamed(name: string, places: Places): (value: Value) => readonly Test[] {
  const [root = '', ...inner] = name
    .replace(/^\$/, '')
    .split(/[[\].]+/)
    .filter((part) => part !== '');
  const isFilter = filterWords.has(root.toLowerCase());
  if (isFilter && inner.length === 0) {
    return (value) => {
      const map = asMap(value);
      // A list of conditions is of those that hold together.
      if (Array.isArray(map)) return map.flatMap((one: Value) => (isFields(one) && termIn(one) ? testsIn(one, places, 0) : []));
      return isFields(map) ? testsIn(map, places, 0) : testsOfQuery(map, places);
    };
  }
  const [field = '', op, ...more] = isFilter ? inner : [root, ...inner];
  if (more.length > 0) return () => [];
  if (op !== undefined) return (value) => testOf(places.find(field), compileComparison(op), value);
  if (!isFilter && searchWords.has(field.toLowerCase()) && places.find(field) === undefined)
    return (value) =>
      isFields(value)
        ? testsIn(value, places, 0)
        : [...(places.isUnmade ? [] : searchFor(value)), ...testsOfQuery(value, places)];
  return (value) => {
    if (isFields(value)) return testsIn({ [field]: value }, places, 0);
    const whole = places.find(field);
    if (!whole && field.length > nameLengthMost) return [];
    if (whole) return testOf(whole, compileComparison('eq'), value);
    const [, stem = '', word = ''] = /^(.+?)(?:__?|(?=[A-Z]))([A-Za-z]+)$/.exec(field) ?? [];
    return testOf(places.find(stem), compileComparison(word.toLowerCase()), value);
  };
}

/** A query in a language of its own, where all of it is understood and speaks of fields. */
function testsOfQuery(value: Value, places: Places): readonly Test[] {
  const query = typeof value === 'string' ? readQuery(value) : undefined;
  if (query === undefined) return [];
  const tests = query.terms.map(({ field, op, value: operand }) => {
    const place = places.find(field) ?? places.find(field.split(/[./]/).at(-1) ?? '');
    return testOf(place, compileComparison(op), operand)[0];
  });
  const known = tests.filter((test) => test !== undefined);
  if (known.length < tests.length) return [];
  return [(row) => (query.isAny ? known.some((test) => test(row)) : known.every((test) => test(row)))];
}

/** Says of a filter or a search that it is in a language which is not understood, so that it narrows nothing. */
function warnOfQueries(exchange: Exchange, sent: ReadonlyMap<string, Value>, known: Known, places: Places): void {
  for (const [name, value] of sent) {
    const word = name.replace(/^\$/, '').toLowerCase();
    const isQuery = (filterWords.has(word) || searchWords.has(word)) && places.find(word) === undefined;
    if (!isQuery || typeof value !== 'string' || value === '' || mapIn(value)) continue;
    if ((known.get(name)?.(value) ?? []).length === 0) warn(exchange, [`the list is not narrowed by ${name}`]);
  }
}

type Known = ReadonlyMap<string, (value: Value) => readonly Test[]>;

const filterWords: ReadonlySet<string> = new Set(['filter', 'filters', 'where']);
const searchWords: ReadonlySet<string> = new Set(['q', 'query', 'search', 'keyword', 'keywords', 'term']);

/** `{ name: { contains: 'x' }, plan: 'free' }`, `{ $or: [{ plan: 'free' }, { plan: 'team' }] }`. */
function testsIn(map: Fields, places: Places, depth: number): readonly Test[] {
  if (depth > depthMost) return [];
  const term = termIn(map);
  if (term) {
    const sides = Array.isArray(term.value) ? term.value.filter(isFields) : [];
    if (joining.test(term.op) && sides.length > 0) return testsIn({ [term.op]: sides }, places, depth + 1);
    return term.field === undefined ? [] : testOf(places.find(term.field), compileComparison(term.op), term.value);
  }
  return Object.entries(map).flatMap(([name, value]): readonly Test[] => {
    if (filterWords.has(name.toLowerCase()) && isFields(value) && !places.find(name)) return testsIn(value, places, depth + 1);
    const joined = /^[$+_]?(and|or)$/i.exec(name)?.[1]?.toLowerCase();
    if (joined !== undefined && Array.isArray(value)) {
      const sides = value.flatMap((one: Value) => (isFields(one) ? [testsIn(one, places, depth + 1)] : []));
      const holds = (tests: readonly Test[], row: Fields) => tests.every((test) => test(row));
      return [(row) => (joined === 'or' ? sides.some((side) => holds(side, row)) : sides.every((side) => holds(side, row)))];
    }
    const place = places.find(name);
    if (!isFields(value)) return testOf(place, compileComparison('eq'), value);
    return Object.entries(value).flatMap(([op, operand]) => testOf(place, compileComparison(op), operand));
  });
}

const joining = /^(?:and|or)$/i;

/** `{ field: 'email', operator: '=', value: 'x' }`, and `{ operator: 'AND', value: […] }`, or `items` of it. */
function termIn({ field, property, attribute, column, name, operator, op, value, values, items }: Fields) {
  const [named, how] = [field ?? property ?? attribute ?? column ?? name, operator ?? op];
  const operand = typeof how === 'string' && joining.test(how) ? (items ?? value ?? values) : (value ?? values);
  if (typeof how !== 'string' || operand === undefined) return undefined;
  return { field: typeof named === 'string' ? named : undefined, op: how, value: operand };
}

function testOf(place: RowPlace | undefined, compare: FilterComparison | undefined, value: Value): readonly Test[] {
  if (!place || !compare) return [];
  const items = (Array.isArray(value) ? value : [value]).map(String);
  const operands = items.length === 1 && compare.takesSeveral ? (items[0] ?? '').split(',') : items;
  // What asks for all of them asks for nothing.
  if (operands.some((one) => everything.has(one.toLowerCase()))) return [];
  return [(row) => compare.holds(place(row).flatMap(wordsOf), operands)];
}

const everything: ReadonlySet<string> = new Set(['all', 'any', '*', '']);

/** Rows that have a word somewhere; a search that has signs of its own is another language. */
function searchFor(value: Value): readonly Test[] {
  if (typeof value !== 'string' || !/^[\p{L}\p{N} @._+-]+$/u.test(value)) return [];
  const word = value.trim().toLowerCase();
  return [(row) => textsIn(row, 0).some((text) => text.toLowerCase().includes(word))];
}

function textsIn(value: Value, depth: number): string[] {
  if (typeof value === 'string') return [value];
  if (depth > depthMost || !value || typeof value !== 'object' || value instanceof Uint8Array) return [];
  return Object.values(value).flatMap((inner) => textsIn(inner, depth + 1));
}

const depthMost = 2;

/** What a value is compared by: itself, what a list holds, and of a thing its identifier and its name. */
function wordsOf(value: Value): readonly string[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value.flatMap(wordsOf);
  if (!isFields(value)) return [String(value)];
  if (value.data !== undefined) return wordsOf(value.data);
  return ['id', 'gid', 'uid', 'uuid', 'key', 'slug', 'name'].flatMap((name) => {
    const one = value[name];
    return typeof one === 'string' || typeof one === 'number' ? [String(one)] : [];
  });
}
