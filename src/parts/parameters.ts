/** The parameters of an endpoint, how they choose rows of a list, and the words that it sorts by. */

import type { Json, Pointer } from '../document/document.ts';
import type { Effect } from './effects.ts';
import { type Expression, entriesOf, type Fact, isStated, type Named } from './fact.ts';
import { readShape, type Shape } from './shape.ts';
import { named, Source } from './source.ts';
import { type Deprecation, readDeprecation } from './versioning.ts';

/** How a parameter chooses rows of a list, where it is more than one field compared as it is. */
export type Choosing =
  /** By a value of the row, or of rows around it (`reachOf`). */
  | {
      readonly by: 'path';
      readonly path: string;
      readonly at: Pointer;
      readonly ignoreCase: boolean;
      /** What stands between several values in one parameter. */
      readonly split?: Separator;
      /** Whether all of several values have to be there, and not just one of them. */
      readonly isAll: boolean;
      /** The time zone in which a date is meant. */
      readonly zone?: string;
    }
  /** By a condition over `value` and `resource`. */
  | { readonly by: 'keeps'; readonly condition: Expression }
  /** By words, all of which have to stand in one of these fields, whatever their case. */
  | { readonly by: 'search'; readonly fields: readonly string[]; readonly at: Pointer };

export const separators = [',', '|', ' '] as const;
export type Separator = (typeof separators)[number];

/** The style (OpenAPI 3.1, section 4.8.12.2) of several values with this between them. */
const styleOfSeparator: Readonly<Record<Separator, string>> = {
  ',': 'form',
  '|': 'pipeDelimited',
  ' ': 'spaceDelimited',
};

/** The words that say how rows are chosen, beside `filters` and `op`. */
export const choosingWords = ['keeps', 'search', 'split', 'match', 'ignore_case', 'zone'] as const;

/** Reads how a parameter chooses; nothing where it compares one field, or does not choose. `filters` = the field or path that is meant. */
function readChoosing(source: Source, filters: string | undefined): Choosing | undefined {
  const condition = source.get('keeps').expression();
  if (condition) return { by: 'keeps', condition };
  if (source.has('search')) return { by: 'search', fields: source.get('search').words(), at: source.get('search').at };
  if (filters === undefined) return undefined;
  const split = separators.find((one) => one === source.get('split').text());
  const ignoreCase = source.get('ignore_case').flag() ?? false;
  const match = source.get('match').text();
  const zone = source.get('zone').text();
  if (!filters.includes('.') && split === undefined && !ignoreCase && match === undefined && zone === undefined) return undefined;
  return {
    by: 'path',
    path: filters,
    at: source.has('filters') ? source.get('filters').at : source.at,
    ignoreCase,
    ...(split !== undefined && { split }),
    isAll: match === 'all',
    ...(zone !== undefined && { zone }),
  };
}

export type Operator = '=' | '!=' | '<' | '<=' | '>' | '>=' | 'in' | 'prefix' | 'contains';

export interface Parameter {
  readonly name: string;
  readonly at: Pointer;
  readonly in: 'path' | 'query' | 'header' | 'cookie';
  /** Open where nothing is stated; a filter without a schema has its field's. */
  readonly shape: Fact<Shape>;
  readonly required: boolean;
  readonly default?: { readonly value: Json };
  /** The field that it filters by. */
  readonly filters?: string;
  /** Whether it stands in the path and names no row and no field of one: expressions alone read it. */
  readonly isApart?: boolean;
  /** How else it chooses the rows of a list; then it filters by no field alone. */
  readonly chooses?: Choosing;
  readonly op: Operator;
  readonly sorts: boolean;
  /** The fields that it sorts by, by its own names for them; absent = by their names. */
  readonly sortNames?: Named<string>;
  /** The parameter whose order it turns: it says in which direction a list is sorted. */
  readonly directs?: string;
  readonly style?: string;
  readonly explode?: boolean;
  readonly deprecated?: Deprecation;
}

/** The words a parameter may carry beside its schema. */
const parameterWords = [
  'in',
  'required',
  'default',
  'filters',
  'op',
  'sorts',
  'directs',
  'style',
  'explode',
  'deprecated',
  ...choosingWords,
] as const;

/** Reads one parameter of an endpoint with this effect and path. */
export function readParameter(name: string, source: Source, does: Fact<Effect>, path: string): Parameter {
  const schema: Record<string, Json> = Object.create(null);
  for (const [key, entry] of source.entries()) {
    if (!(parameterWords as readonly string[]).includes(key)) schema[key] = entry.value as Json;
  }
  const short = source.isMap ? undefined : source.value;
  const bare = short === undefined && Object.keys(schema).length === 0;
  const isPath = path.includes(`{${name}}`);
  const place = source.get('in').text();
  const op = source.get('op').text();
  const filters = source.get('filters').text();
  const isList = isStated(does) && does.value.verb === 'list';
  const sortNames = source.get('sorts').isMap ? namesOf(source.get('sorts')) : undefined;
  const sorts = sortNames !== undefined || (source.get('sorts').flag() ?? false);
  const directs = source.get('directs').text();
  const field =
    filters === 'none' ? undefined : (filters ?? (isList && !sorts && directs === undefined && !isPath ? name : undefined));
  const chooses = readChoosing(source, field);
  const split = chooses?.by === 'path' ? chooses.split : undefined;
  const style = split === undefined ? source.get('style').text() : styleOfSeparator[split];
  const explode = split === undefined ? source.get('explode').flag() : false;
  const followed = sortNames ? sortShape(sortNames) : directs === undefined ? undefined : directions;
  // What is asked for by names of its own are those, unless another shape is stated.
  const follows = followed && !('enum' in schema) && !('type' in schema) && short === undefined;
  const shapeSource = new Source(
    source.reading,
    follows ? { ...followed, ...schema } : bare ? undefined : (short ?? schema),
    source.at,
  );
  const deprecated = source.has('deprecated') ? readDeprecation(source.get('deprecated')) : undefined;
  return {
    name,
    at: source.at,
    in: place === 'path' || place === 'header' || place === 'cookie' || place === 'query' ? place : isPath ? 'path' : 'query',
    shape: shapeSource.fact((value) => readShape(value), 'tags only'),
    required: source.get('required').flag() ?? isPath,
    ...(source.has('default') && { default: { value: source.get('default').value as Json } }),
    ...(isPath && filters === 'none' && { isApart: true }),
    ...(chooses ? { chooses } : field !== undefined && { filters: field }),
    op: isOperator(op) ? op : '=',
    sorts,
    ...(sortNames && { sortNames }),
    ...(directs !== undefined && { directs }),
    ...(style !== undefined && { style }),
    ...(explode !== undefined && { explode }),
    ...(deprecated && { deprecated }),
  };
}

function namesOf(source: Source): Named<string> {
  return named(
    source.entries().flatMap(([name, entry]) => {
      const field = entry.text();
      return field === undefined ? [] : [[name, field] as const];
    }),
  );
}

const operators: readonly string[] = ['=', '!=', '<', '<=', '>', '>=', 'in', 'prefix', 'contains'];
function isOperator(word: string | undefined): word is Operator {
  return word !== undefined && operators.includes(word);
}

/** The words of a parameter with names of its own to sort by. */
function sortShape(names: Named<string>): Shape {
  const words = Object.keys(names);
  return { type: 'string', enum: [...words, ...words.map((word) => `-${word}`)] };
}

/** The words of a parameter for the direction. */
const directions: Shape = { type: 'string', enum: ['asc', 'desc'] };

/** A field that rows are sorted by. */
export interface Order {
  readonly field: string;
  readonly descending: boolean;
}

/** Reads `-updated_at`: a leading - turns the order. */
export function readSortWord(word: string): Order {
  return word.startsWith('-') ? { field: word.slice(1), descending: true } : { field: word, descending: false };
}

/** What a word that sorts asks for: a field, or the name that the parameter has for one; a leading `-` turns the order. */
export function sortKeyOf({ sortNames }: Pick<Parameter, 'sortNames'>, word: string): Order {
  const name = word.replace(/^[-+]/, '');
  return { field: sortNames?.[name] ?? name, descending: word.startsWith('-') };
}

/** The parameter that says in which direction a list is sorted. */
export function directorOf({ parameters }: { readonly parameters: Fact<Named<Parameter>> }): Parameter | undefined {
  return entriesOf(parameters).find(([, { directs }]) => directs !== undefined)?.[1];
}

/** Whether what was sent for the direction turns the order: it begins with `desc`, whatever its case. */
export function isTurning(sent: unknown): boolean {
  return typeof sent === 'string' && /^desc/i.test(sent);
}
