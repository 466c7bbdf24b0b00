import type { Json, Pointer } from '../document/document.ts';
import { durationMs } from '../kinds/durations.ts';
import { type Expression, type Fact, isStated, type Named, type Unstated } from './fact.ts';
import { type Pagination, readPagination } from './limits.ts';
import { readShape } from './read-shape.ts';
import type { Shape } from './shape.ts';
import { named, Source } from './source.ts';
import { type Deprecation, readDeprecation } from './versioning.ts';

/** Part 4: what can be asked of the service, and how. */
export interface Endpoints {
  readonly at: Pointer;
  /** By key: `GET /parcels/{id}`. */
  readonly all: Fact<Named<Endpoint>>;
  readonly others?: Unstated;
}

export const resourceVerbs = ['create', 'read', 'list', 'update', 'replace', 'upsert', 'delete'] as const;
export type ResourceVerb = (typeof resourceVerbs)[number];

/** What an endpoint does. */
export type Effect =
  | { readonly verb: ResourceVerb; readonly resource: string }
  | { readonly verb: 'transition'; readonly transition: string; readonly resource: string }
  | { readonly verb: 'handler'; readonly name: string }
  | { readonly verb: 'reply' };

export interface Endpoint {
  /** Method and path as written. */
  readonly key: string;
  readonly at: Pointer;
  readonly method: string;
  readonly path: string;
  /** The name by which other parts speak of it: `buy parcel`, or what `as` says. */
  readonly operation: string;
  readonly does: Fact<Effect>;
  /** The parameters that are stated; nothing but the path's where a `does` stands alone. */
  readonly parameters: Fact<Named<Parameter>>;
  /** Which row is meant, where the path does not say. */
  readonly identity?: Expression;
  /** The stated request body. Open where nothing is stated: then it follows from the effect, or is open with it. */
  readonly request: Fact<Shape>;
  /** The stated answers. Open where nothing is stated: then they follow from the effect, or are open with it. */
  readonly response: Fact<readonly Answer[]>;
  readonly consumes?: readonly string[];
  readonly produces?: readonly string[];
  readonly order: readonly Order[];
  /** The states in which an update, replace or delete may happen. */
  readonly in?: readonly string[];
  readonly ifMatch?: 'required' | 'accepted' | 'none';
  readonly etag?: 'strong' | 'weak';
  readonly cache?: string;
  readonly idempotency?: Idempotency;
  readonly expand?: { readonly parameter: string; readonly depth: number };
  readonly pagination?: Fact<Pagination>;
  /** The service's own errors that it may answer with. */
  readonly errors?: readonly string[];
  readonly deprecated?: Deprecation;
}

export interface Idempotency {
  readonly at: Pointer;
  readonly header: string;
  readonly keepMs?: number;
  readonly required: boolean;
}

export interface Order {
  readonly field: string;
  readonly descending: boolean;
}

export interface Answer {
  readonly at: Pointer;
  /** `200`, or a range such as `4XX`, or `default`. */
  readonly status: string;
  readonly shape: Fact<Shape>;
  /** CEL over what came out, by field of the answer; a lone expression makes the whole. */
  readonly data?: Named<Expression> | Expression;
  readonly headers: Named<Expression>;
  readonly if?: Expression;
  readonly example?: { readonly value: Json };
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
  readonly op: Operator;
  readonly sorts: boolean;
  readonly style?: string;
  readonly explode?: boolean;
  readonly deprecated?: Deprecation;
}

export function readEndpoints(source: Source): Endpoints {
  const reserved = new Set(['defaults', 'others']);
  const all = source.fact((value) => {
    const entries = value.entries().filter(([key]) => !reserved.has(key));
    return named(
      entries.map(([key, entry]) => [key, readEndpoint(key, withDefaults(key, entry, value.get('defaults')))] as const),
    );
  });
  const others = source.has('others') ? source.get('others').unstated() : undefined;
  return { at: source.at, all, ...(others && { others }) };
}

/** An endpoint with the defaults of its method below its own words. */
function withDefaults(key: string, entry: Source, defaults: Source): Source {
  const method = key.split(' ')[0] as string;
  const layers = [defaults.get('all'), defaults.get(method)].filter((layer) => layer.isMap);
  if (layers.length === 0 || !entry.isMap) return entry;
  const merged: Record<string, Json> = Object.create(null);
  for (const layer of [...layers, entry]) for (const [word, value] of layer.entries()) merged[word] = value.value as Json;
  return new Source(entry.reading, merged, entry.at);
}

function readEndpoint(key: string, source: Source): Endpoint {
  const space = key.indexOf(' ');
  const method = (space < 0 ? key : key.slice(0, space)).toUpperCase();
  const path = space < 0 ? '' : key.slice(space + 1).trim();
  const does = source.get('does').fact((value) => readEffect(value.text() ?? ''), 'tags only');
  const operation = source.get('as').text() ?? operationName(source.get('does').text()) ?? key;
  const identity = source.get('identity').expression();
  const idempotency = source.has('idempotency') ? readIdempotency(source.get('idempotency')) : undefined;
  const expand = source.get('expand');
  const deprecated = source.has('deprecated') ? readDeprecation(source.get('deprecated')) : undefined;
  const ifMatch = source.get('if_match').text();
  const etag = source.get('etag').text();
  const cache = source.get('cache').text();
  return {
    key,
    at: source.at,
    method,
    path,
    operation,
    does,
    parameters: source
      .get('parameters')
      .fact((value) => named(value.entries().map(([name, entry]) => [name, readParameter(name, entry, does, path)] as const))),
    ...(identity && { identity }),
    request: source.get('request').fact((value) => readShape(value)),
    response: source.get('response').fact((value) => readAnswers(value)),
    ...(source.has('consumes') && { consumes: source.get('consumes').words() }),
    ...(source.has('produces') && { produces: source.get('produces').words() }),
    order: source.get('order').words().map(readOrder),
    ...(source.has('in') && { in: source.get('in').words() }),
    ...((ifMatch === 'required' || ifMatch === 'accepted' || ifMatch === 'none') && { ifMatch }),
    ...((etag === 'strong' || etag === 'weak') && { etag }),
    ...(cache !== undefined && { cache }),
    ...(idempotency && { idempotency }),
    ...(source.has('expand') &&
      expand.unstated()?.standing !== 'none' && {
        expand: { parameter: expand.get('parameter').text() ?? 'expand', depth: expand.get('depth').number() ?? 1 },
      }),
    ...(source.has('pagination') && { pagination: source.get('pagination').fact(readPagination) }),
    ...(source.has('errors') && {
      errors: source.get('errors').unstated()?.standing === 'none' ? [] : source.get('errors').words(),
    }),
    ...(deprecated && { deprecated }),
  };
}

/** `create parcel`, `handler quote`, `reply`, or a transition such as `buy parcel`. */
export function readEffect(text: string): Effect | undefined {
  const [verb = '', ...rest] = text.trim().split(/\s+/);
  const name = rest.join(' ');
  if (verb === 'reply' && name === '') return { verb: 'reply' };
  if (name === '') return undefined;
  if (verb === 'handler') return { verb: 'handler', name };
  if ((resourceVerbs as readonly string[]).includes(verb)) return { verb: verb as ResourceVerb, resource: name };
  return { verb: 'transition', transition: verb, resource: name };
}

function operationName(does: string | undefined): string | undefined {
  return does === undefined || does === 'reply' ? undefined : does.trim().replace(/\s+/g, ' ');
}

function readOrder(word: string): Order {
  return word.startsWith('-') ? { field: word.slice(1), descending: true } : { field: word, descending: false };
}

function readIdempotency(source: Source): Idempotency | undefined {
  const header = source.isMap ? source.get('header').text() : source.unstated() ? undefined : source.text();
  if (header === undefined) return undefined;
  const keepMs = durationMs(source.get('keep').text() ?? '');
  return { at: source.at, header, ...(keepMs !== undefined && { keepMs }), required: source.get('required').flag() ?? false };
}

/** The words a parameter may carry beside its schema. */
export const parameterWords = ['in', 'required', 'default', 'filters', 'op', 'sorts', 'style', 'explode', 'deprecated'] as const;

function readParameter(name: string, source: Source, does: Fact<Effect>, path: string): Parameter {
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
    ...(filters !== undefined ? { filters } : isList && !sorts && { filters: name }),
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

const answerWords = ['shape', 'data', 'headers', 'if', 'example'] as const;

/** One status may have several answers, told apart by `if`. */
function readAnswers(source: Source): Answer[] {
  return source.entries().flatMap(([status, entry]) => {
    const list = Array.isArray(entry.value) && !isShortList(entry.value) ? entry.items() : [entry];
    return list.map((item) => readAnswer(status, item));
  });
}

function isShortList(value: readonly Json[]): boolean {
  return value.length === 1 && typeof value[0] === 'string';
}

function readAnswer(status: string, source: Source): Answer {
  // `example` and `if` are words of JSON Schema too: alone among schema words they make no full form.
  const keys = source.entries().map(([key]) => key);
  const isFull =
    keys.includes('shape') ||
    keys.includes('data') ||
    (keys.length > 0 && keys.every((key) => (answerWords as readonly string[]).includes(key)));
  const body = isFull ? source.get('shape') : source;
  const data = isFull ? source.get('data') : undefined;
  const condition = isFull ? source.get('if').expression() : undefined;
  const expression = data && !data.isMap ? data.expression() : undefined;
  return {
    at: source.at,
    status,
    shape: body.fact((value) => readShape(value)),
    ...(expression ? { data: expression } : data?.isMap && { data: data.expressions() }),
    headers: isFull ? source.get('headers').expressions() : named([]),
    ...(condition && { if: condition }),
    ...(isFull && source.has('example') && { example: { value: source.get('example').value as Json } }),
  };
}
