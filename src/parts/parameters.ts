/** The parameters of an endpoint, and the words that it sorts by. */

import type { Json, Pointer } from '../document/document.ts';
import { type Choosing, choosingWords, readChoosing, styleOfSeparator } from './choosing.ts';
import type { Effect } from './effects.ts';
import { type Fact, isStated, type Named } from './fact.ts';
import { readShape } from './read-shape.ts';
import type { Shape } from './shape.ts';
import { named, Source } from './source.ts';
import { type Deprecation, readDeprecation } from './versioning.ts';

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
