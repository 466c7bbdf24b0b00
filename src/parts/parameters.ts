import type { Json, Pointer } from '../document/document.ts';
import type { Effect } from './effects.ts';
import { type Fact, isStated } from './fact.ts';
import { readShape } from './read-shape.ts';
import type { Shape } from './shape.ts';
import { Source } from './source.ts';
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
  readonly op: Operator;
  readonly sorts: boolean;
  readonly style?: string;
  readonly explode?: boolean;
  readonly deprecated?: Deprecation;
}

/** The words a parameter may carry beside its schema. */
const parameterWords = ['in', 'required', 'default', 'filters', 'op', 'sorts', 'style', 'explode', 'deprecated'] as const;

/** Reads one parameter of an endpoint with this effect and path. */
export function readParameter(name: string, source: Source, does: Fact<Effect>, path: string): Parameter {
  const schema: Record<string, Json> = Object.create(null);
  for (const [key, entry] of source.entries()) {
    if (!(parameterWords as readonly string[]).includes(key)) schema[key] = entry.value as Json;
  }
  const short = source.isMap ? undefined : source.value;
  const bare = short === undefined && Object.keys(schema).length === 0;
  const shapeSource = new Source(source.reading, bare ? undefined : (short ?? schema), source.at);
  const isPath = path.includes(`{${name}}`);
  const place = source.get('in').text();
  const op = source.get('op').text();
  const filters = source.get('filters').text();
  const isList = isStated(does) && does.value.verb === 'list';
  const sorts = source.get('sorts').flag() ?? false;
  const style = source.get('style').text();
  const explode = source.get('explode').flag();
  const deprecated = source.has('deprecated') ? readDeprecation(source.get('deprecated')) : undefined;
  return {
    name,
    at: source.at,
    in: place === 'path' || place === 'header' || place === 'cookie' || place === 'query' ? place : isPath ? 'path' : 'query',
    shape: shapeSource.fact((value) => readShape(value), 'tags only'),
    required: source.get('required').flag() ?? isPath,
    ...(source.has('default') && { default: { value: source.get('default').value as Json } }),
    ...(filters === 'none' ? {} : filters !== undefined ? { filters } : isList && !sorts && !isPath && { filters: name }),
    op: isOperator(op) ? op : '=',
    sorts,
    ...(style !== undefined && { style }),
    ...(explode !== undefined && { explode }),
    ...(deprecated && { deprecated }),
  };
}

const operators: readonly string[] = ['=', '!=', '<', '<=', '>', '>=', 'in', 'prefix', 'contains'];
function isOperator(word: string | undefined): word is Operator {
  return word !== undefined && operators.includes(word);
}
