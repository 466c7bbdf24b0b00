import type { Json, JsonMap } from '../../../document/document.ts';
import { plainName } from '../../../document/nearest.ts';
import { isMap } from '../../../document/values.ts';
import { wordsOfName } from './paths.ts';
import type { ShapeProperties, Written } from './shapes.ts';

/** A thing that an answer shows: which resource it is, or its shape where it has no name, and the property that holds it. */
export interface ShownRow {
  readonly resource: string | undefined;
  readonly shape: Json;
  /** The property of the answer that holds the row; absent = the answer is the row. */
  readonly wrapper?: string;
}

/**
 * The row that an answer shows, told from others by what a path's parameter names; looked for in so many shapes at most. Of several things the one is meant
 * that is called as the path calls them.
 */
export function shownRowOf(written: Written, shape: Json | undefined, parameter: string, noun?: string): ShownRow | undefined {
  return rowIn({ written, parameter, noun, left: looksMost }, shape, 0);
}

const depthMost = 4;
/** An answer that holds its row shows it among the first of its properties. */
const looksMost = 2_000;

/** One look for a row, and how many shapes it may still look at. */
interface Search {
  readonly written: Written;
  readonly parameter: string;
  readonly noun: string | undefined;
  left: number;
}

function rowIn(search: Search, shape: Json | undefined, depth: number): ShownRow | undefined {
  const { written, parameter } = search;
  if (shape === undefined || depth > depthMost || search.left <= 0) return undefined;
  search.left -= 1;
  const resource = written.resourceOf(shape);
  const union = written.alternativesOf(shape);
  if (union !== undefined) return rowOfUnion(search, shape, resource, union, depth);
  const properties = written.propertiesOf(shape);
  if (properties === undefined) return undefined;
  if (identifierOf(written, properties, parameter) !== undefined) return { resource, shape };
  return wrappedRow(search, properties, depth);
}

/** A union with a name is one resource in several forms; one without is the first of its members that is still there. */
function rowOfUnion(
  search: Search,
  shape: Json,
  resource: string | undefined,
  union: readonly Json[],
  depth: number,
): ShownRow | undefined {
  const there = union.filter((one) => !isReceipt(search.written, one));
  const rows = there.map((one) => rowIn(search, one, depth + 1));
  if (resource !== undefined && there.length > 0 && rows.every((row) => row !== undefined && row.wrapper === undefined)) {
    return { resource, shape };
  }
  return there.length === 1 ? rows[0] : undefined;
}

/** `{ ok: true, channel: … }`, `{ data: … }`: the one thing among flags and words. */
function wrappedRow(search: Search, { all }: ShapeProperties, depth: number): ShownRow | undefined {
  const held = Object.entries(all).flatMap(([wrapper, inner]): ShownRow[] => {
    if (search.left <= 0 || ofAnother.test(wrapper) || search.written.itemsOf(inner) !== undefined) return [];
    const row = rowIn(search, inner, depth + 1);
    return row && row.wrapper === undefined ? [{ ...row, wrapper }] : [];
  });
  if (held.length < 2 || depth > 0 || search.noun === undefined) return held.length === 1 ? held[0] : undefined;
  const noun = plainName(search.noun);
  return held.find(({ wrapper = '' }) => plainName(wrapper) === noun);
}

/** Members that hold another thing of the same kind: `previous_build`, `nextVersion`. */
const ofAnother = /^(?:previous|prev|next)(?:_[a-z]|[A-Z])/;

/** Says that something was deleted, and is not the thing itself. */
export function isReceipt(written: Written, shape: Json): boolean {
  const properties = written.propertiesOf(shape);
  if (properties === undefined) return false;
  return Object.entries(properties.all).some(
    ([name, inner]) =>
      /^(?:is_?)?deleted$/i.test(name) && Object.keys(properties.all).length <= 5 && written.typeOf(inner) === 'boolean',
  );
}

/** The property by which a path's parameter tells one thing from another; `type` is that of the parameter, where it is known. */
export function identifierOf(written: Written, { all }: ShapeProperties, parameter: string, type?: string): string | undefined {
  const isScalar = (name: string): boolean => {
    const shape = all[name];
    const type = shape === undefined ? undefined : written.typeOf(shape);
    return type === 'string' || type === 'integer' || type === 'number';
  };
  // `Id` and `ID` are `id`, and `BounceID` is `bounceid`.
  const called = (name: string): string | undefined => {
    if (Object.hasOwn(all, name) && isScalar(name)) return name;
    const alike = Object.keys(all).filter((one) => plainName(one) === plainName(name) && isScalar(one));
    return alike.length === 1 && plainName(name) !== '' ? alike[0] : undefined;
  };
  const own = called(parameter);
  if (own !== undefined) return own;
  const words = wordsOfName(parameter);
  const either = eitherOf(words)
    ?.map(called)
    .find((name) => name !== undefined);
  if (either !== undefined) return either;
  const last = words.at(-1) ?? '';
  const named = nameWords.has(last) ? called(last) : undefined;
  // A text that is called after the thing names it, where its number is another word.
  const isNumbered = all.id !== undefined && written.typeOf(all.id) === 'integer';
  const word = type === 'string' && isNumbered && last !== 'id' ? callNames.find((name) => isScalar(name)) : undefined;
  if (word !== undefined) return word;
  return (
    named ??
    nameOfPath(all) ??
    called('id') ??
    ['_id', 'pk', 'uid', 'uuid', 'guid', 'gid', 'sid', 'arn', 'urn'].find((name) => isScalar(name))
  );
}

/** `id_or_slug`, `settingKeyOrId`: of the two words by which a thing may be called its `id` first, since who has it can be called otherwise again. */
function eitherOf(words: readonly string[]): readonly string[] | undefined {
  const at = words.lastIndexOf('or');
  const two = at > 0 ? [words[at - 1] ?? '', words[at + 1] ?? ''] : [];
  return two.includes('id') ? ['id'] : two.length > 0 ? two : undefined;
}

/** `name`, where a thing's `id`, `name` and `type` are the service's own: its `id` is the whole path then, and a path ends with its name. */
function nameOfPath(all: ShapeProperties['all']): string | undefined {
  const isOwn = (one: Json | undefined) =>
    isMap(one) && one.readOnly === true && one.type === 'string' && one.format === undefined;
  return ['id', 'name', 'type'].every((name) => isOwn(all[name])) ? 'name' : undefined;
}

/** The fields by which people call a thing that has a number too. */
const callNames = ['slug', 'login', 'username', 'handle', 'key', 'name'];

/** Words at the end of a parameter that are fields of their own. */
const nameWords: ReadonlySet<string> = new Set([
  'name',
  'key',
  'slug',
  'code',
  'number',
  'uid',
  'uuid',
  'token',
  'email',
  'username',
  'ts',
]);

/** The list in an answer: the property that holds it, none for a bare list, and the shape of what it lists. */
export interface ListOf {
  readonly property: string | undefined;
  readonly items: Json;
  /** The member that holds the map in which the list stands, where it is not the answer's own. */
  readonly outer?: string;
}

/** The list that an answer is, or that it holds among flags and words. */
export function listIn(written: Written, shape: Json | undefined, plural: string | undefined): ListOf | undefined {
  return listOfThings(written, shape, plural) ?? listOfMaps(written, shape);
}

/** The only list of an answer, of whose items nothing is said but that they are maps. */
function listOfMaps(written: Written, shape: Json | undefined): ListOf | undefined {
  const bare = written.itemsOf(shape);
  if (bare !== undefined) return isAnyMap(written, bare) ? { property: undefined, items: bare } : undefined;
  const lists = Object.entries(written.propertiesOf(shape)?.all ?? {}).flatMap(([property, inner]): ListOf[] => {
    const items = written.itemsOf(inner);
    return items === undefined ? [] : [{ property, items }];
  });
  const [only] = lists;
  return only !== undefined && lists.length === 1 && isAnyMap(written, only.items) ? only : undefined;
}

/** Whether a shape says no more than that it is a map. */
export function isAnyMap(written: Written, shape: Json | undefined): boolean {
  return written.typeOf(shape) === 'object' && Object.keys(written.propertiesOf(shape)?.all ?? {}).length === 0;
}

function listOfThings(written: Written, shape: Json | undefined, plural: string | undefined): ListOf | undefined {
  const bare = written.itemsOf(shape);
  if (bare !== undefined) return isThing(written, bare) ? { property: undefined, items: bare } : undefined;
  const properties = written.propertiesOf(shape);
  if (properties === undefined) return undefined;
  const lists = Object.entries(properties.all).flatMap(([property, inner]): ListOf[] => {
    const items = written.itemsOf(inner);
    return items !== undefined && isThing(written, items) ? [{ property, items }] : [];
  });
  if (lists.length === 0) return listInside(written, properties, plural);
  if (lists.length === 1) return lists[0];
  const names = [...listNames, plural];
  return lists.find(({ property }) => names.includes(property));
}

/** `{ _embedded: { customers: […] } }`: the list in one map of the answer. */
function listInside(written: Written, { all }: ShapeProperties, plural: string | undefined): ListOf | undefined {
  const found = Object.entries(all).flatMap(([outer, inner]): ListOf[] => {
    if (written.resourceOf(inner) !== undefined && written.propertiesOf(inner)?.all.id !== undefined) return [];
    const held = Object.entries(written.propertiesOf(inner)?.all ?? {}).flatMap(([property, one]): ListOf[] => {
      const items = written.itemsOf(one);
      return items !== undefined && isThing(written, items) ? [{ outer, property, items }] : [];
    });
    return held.length === 1 ? held : held.filter(({ property }) => property === plural);
  });
  return found.length === 1 ? found[0] : undefined;
}

const listNames: readonly (string | undefined)[] = ['data', 'items', 'results', 'entries', 'records', 'values', 'rows'];

function isThing(written: Written, shape: Json, seen = new Set<string>()): boolean {
  const name = written.resourceOf(shape);
  if (name !== undefined) {
    if (seen.has(name)) return false;
    seen.add(name);
  }
  const union = written.alternativesOf(shape);
  return union ? union.some((one) => isThing(written, one, seen)) : written.propertiesOf(shape) !== undefined;
}

/** Whether a map of the document has this shape for one of its fields. */
export function documentFields(resources: JsonMap, name: string): JsonMap {
  const resource = resources[name];
  return isMap(resource) && isMap(resource.fields) ? resource.fields : {};
}
