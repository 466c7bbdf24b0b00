/** Part 4: the endpoints, and the rows that their paths name. */

import type { Json, Pointer } from '../document/document.ts';
import { durationMs } from '../kinds/measures.ts';
import { type Answer, answersWithRows, readAnswers, readSelecting, readTaking, type Selecting, type Taking } from './answers.ts';
import { readSchemeSets, type SchemeSet } from './authentication.ts';
import { type Effect, readEffect } from './effects.ts';
import { type Expression, type Fact, type Named, statedValue, type Unstated } from './fact.ts';
import { type Pagination, readPagination } from './limits.ts';
import { type Order, type Parameter, readParameter, readSortWord } from './parameters.ts';
import { readShape, type Shape } from './shape.ts';
import { named, Source } from './source.ts';
import { type Deprecation, readDeprecation } from './versioning.ts';

/** Part 4: what can be asked of the service, and how. */
export interface Endpoints {
  readonly at: Pointer;
  /** By key: `GET /parcels/{id}`. */
  readonly all: Fact<Named<Endpoint>>;
  readonly others?: Unstated;
  /** What the paths below a prefix name, stated once for all of them. */
  readonly under: readonly PathRow[];
}

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
  /** The identifier of the row that a path which names none means by now; absent = none does. */
  readonly moved?: Expression;
  /** The rows that its path names by fields that are unique together, from the path's beginning on; absent = none. */
  readonly rows?: readonly PathRow[];
  /** The stated request body. Open where nothing is stated: then it follows from the effect, or is open with it. */
  readonly request: Fact<Shape>;
  /** Where the stated body holds the fields of the row, and as what; absent = the body is the row. */
  readonly takes?: Taking;
  /** Whether a request may go without its body. */
  readonly body?: 'optional';
  /** The stated answers. Open where nothing is stated: then they follow from the effect, or are open with it. */
  readonly response: Fact<readonly Answer[]>;
  /** What callers may show here instead of what the document accepts: all schemes of one of these sets. */
  readonly accept?: readonly SchemeSet[];
  readonly consumes?: readonly string[];
  readonly produces?: readonly string[];
  /** Header fields of every answer, refusals too. */
  readonly headers: Named<Expression>;
  /** Whether `Accept` is not looked at: the answer is what it is. */
  readonly acceptIgnored?: true;
  readonly order: readonly Order[];
  /** The states in which an update, replace or delete may happen. */
  readonly in?: readonly string[];
  readonly ifMatch?: 'required' | 'accepted' | 'none';
  readonly etag?: 'strong' | 'weak';
  readonly cache?: string;
  readonly idempotency?: Idempotency;
  /** A creation that finds: the status of its answer where a row that is there holds the unique values. */
  readonly exists?: 200;
  /** Whether an update counts as a change also where it changes nothing. */
  readonly counts?: 'always';
  /** Whether fields that are sent and that the caller cannot write are refused by name; absent = they are ignored. */
  readonly readOnlySent?: 'refuse';
  /** Which of rows that the order does not tell apart comes first; absent = that which was made first. */
  readonly ties?: 'newest';
  /** Whether an empty text in a form takes its member away: null in an update, not sent in anything else. */
  readonly emptySent?: 'removes';
  readonly expand?: Expand;
  /** What callers choose by of the rows that its answer shows; absent = they are shown whole. */
  readonly select?: Selecting;
  readonly pagination?: Fact<Pagination>;
  /** The service's own errors that it may answer with. */
  readonly errors?: readonly string[];
  readonly deprecated?: Deprecation;
}

/** How references are asked to be shown whole. */
export interface Expand {
  readonly parameter: string;
  readonly depth: number;
  /** The member of a body that asks for the same. */
  readonly member?: string;
  /** What paths begin with in lists. */
  readonly below?: string;
}

export interface Idempotency {
  readonly at: Pointer;
  readonly header: string;
  readonly keepMs?: number;
  readonly required: boolean;
}

export function readEndpoints(source: Source): Endpoints {
  const reserved = new Set(['defaults', 'others', 'under']);
  const under = readUnder(source.get('under'));
  const all = source.fact((value) => {
    const entries = value.entries().filter(([key]) => !reserved.has(key));
    return named(
      entries.map(([key, entry]) => {
        const endpoint = readEndpoint(key, withDefaults(key, entry, value.get('defaults')), under);
        return [key, entry.has('select') ? endpoint : withoutIdleSelect(endpoint)] as const;
      }),
    );
  });
  const others = source.has('others') ? source.get('others').unstated() : undefined;
  return { at: source.at, all, ...(others && { others }), under };
}

/** What the defaults say of choosing fields is of the endpoints that show rows. */
function withoutIdleSelect(endpoint: Endpoint): Endpoint {
  if (!endpoint.select || answersWithRows(endpoint.does, endpoint.response)) return endpoint;
  const { select: _, ...rest } = endpoint;
  return rest;
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

function readEndpoint(key: string, source: Source, under: readonly PathRow[]): Endpoint {
  const space = key.indexOf(' ');
  const method = (space < 0 ? key : key.slice(0, space)).toUpperCase();
  const path = space < 0 ? '' : key.slice(space + 1).trim();
  const does = source.get('does').fact((value) => readEffect(value.text() ?? ''), 'tags only');
  const operation = source.get('as').text() ?? operationName(source.get('does').text()) ?? key;
  const rows = rowsOf(source.get('identity'), does, path, under);
  const idempotency = source.has('idempotency') ? readIdempotency(source.get('idempotency')) : undefined;
  const expand = source.get('expand');
  const deprecated = source.has('deprecated') ? readDeprecation(source.get('deprecated')) : undefined;
  const ifMatch = source.get('if_match').text();
  const etag = source.get('etag').text();
  const cache = source.get('cache').text();
  const takes = readTaking(source.get('takes'));
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
    ...readMeant(source.get('identity').expression(), source.get('moved').expression()),
    ...(rows.length > 0 && { rows }),
    request: source.get('request').fact((value) => readShape(value)),
    ...(takes && { takes }),
    ...(source.get('body').text() === 'optional' && { body: 'optional' as const }),
    response: source.get('response').fact((value) => readAnswers(value)),
    ...(source.has('accept') && { accept: readSchemeSets(source.get('accept')) }),
    ...(source.has('consumes') && { consumes: source.get('consumes').words() }),
    ...readProduces(source.get('produces')),
    headers: source.get('headers').expressions(),
    order: source
      .get('order')
      .listed()
      .flatMap((item) => item.text() ?? [])
      .map(readSortWord),
    ...(source.has('in') && { in: source.get('in').words() }),
    ...((ifMatch === 'required' || ifMatch === 'accepted' || ifMatch === 'none') && { ifMatch }),
    ...((etag === 'strong' || etag === 'weak') && { etag }),
    ...(cache !== undefined && { cache }),
    ...(idempotency && { idempotency }),
    ...readChoices(source),
    ...(source.has('expand') &&
      expand.unstated()?.standing !== 'none' && {
        expand: readExpand(expand),
      }),
    ...readSelecting(source.get('select')),
    ...(source.has('pagination') && { pagination: source.get('pagination').fact(readPagination) }),
    ...(source.has('errors') && {
      errors: source.get('errors').unstated()?.standing === 'none' ? [] : source.get('errors').words(),
    }),
    ...(deprecated && { deprecated }),
  };
}

/** The rows that a path names: those of the prefixes that it begins with, and its own by the fields of `identity`. */
function rowsOf(identity: Source, does: Fact<Effect>, path: string, under: readonly PathRow[]): PathRow[] {
  const rows = rowsAlong(under, path);
  const effect = statedValue(does);
  if (!identity.isMap || identity.unstated() || !effect || !('resource' in effect)) return rows;
  const own: PathRow = { at: identity.at, prefix: path, resource: effect.resource, key: readKey(identity) };
  return [...rows.filter(({ prefix }) => prefix !== path), own];
}

/** The expressions that say which row is meant. */
function readMeant(identity: Expression | undefined, moved: Expression | undefined): Pick<Endpoint, 'identity' | 'moved'> {
  return { ...(identity && { identity }), ...(moved && { moved }) };
}

/** The media types of the answers; the word `always` among them says that `Accept` is not looked at. */
function readProduces(source: Source): Pick<Endpoint, 'produces' | 'acceptIgnored'> {
  const words = source.words();
  const produces = words.filter((word) => word !== 'always');
  if (produces.length === words.length) return source.value === undefined ? {} : { produces };
  return { acceptIgnored: true, ...(produces.length > 0 && { produces }) };
}

function operationName(does: string | undefined): string | undefined {
  return does === undefined || does === 'reply' ? undefined : does.trim().replace(/\s+/g, ' ');
}

/** What may be said one way alone, besides what holds where nothing is said. */
function readChoices(source: Source): Pick<Endpoint, 'counts' | 'exists' | 'readOnlySent' | 'emptySent' | 'ties'> {
  return {
    ...(source.get('counts').text() === 'always' && { counts: 'always' as const }),
    ...(source.get('exists').number() === 200 && { exists: 200 as const }),
    ...(source.get('ties').text() === 'newest' && { ties: 'newest' as const }),
    ...(source.get('empty').text() === 'removes' && { emptySent: 'removes' as const }),
    ...(source.get('read_only').text() === 'refuse' && { readOnlySent: 'refuse' as const }),
  };
}

function readExpand(source: Source): Expand {
  const member = source.get('member').text();
  const below = source.get('below').text();
  return {
    parameter: source.get('parameter').text() ?? 'expand',
    depth: source.get('depth').number() ?? 1,
    ...(member !== undefined && { member }),
    ...(below !== undefined && { below }),
  };
}

function readIdempotency(source: Source): Idempotency | undefined {
  const header = source.isMap ? source.get('header').text() : source.unstated() ? undefined : source.text();
  if (header === undefined) return undefined;
  const keepMs = durationMs(source.get('keep').text() ?? '');
  return { at: source.at, header, ...(keepMs !== undefined && { keepMs }), required: source.get('required').flag() ?? false };
}

/** A row that a path names by fields which are unique together. */
export interface PathRow {
  readonly at: Pointer;
  /** The path up to where it is named; it is known by that among the rows of a path. */
  readonly prefix: string;
  readonly resource: string;
  /** The path parameters by the fields that they are, through references too: `owner.login`. */
  readonly key: Named<string>;
}

/** Reads `under`: what the paths below a prefix name. */
function readUnder(source: Source): PathRow[] {
  return source
    .entries()
    .flatMap(([prefix, rows]) => rows.entries().map(([resource, key]) => ({ at: key.at, prefix, resource, key: readKey(key) })));
}

/** Reads `{ owner.login: owner, name: repo }`. */
function readKey(source: Source): Named<string> {
  return named(
    source.entries().flatMap(([field, parameter]) => {
      const name = parameter.text();
      return name === undefined ? [] : [[field, name] as const];
    }),
  );
}

/** The rows that a path names, from its beginning on. */
export function rowsAlong(under: readonly PathRow[], path: string): PathRow[] {
  return under.filter(({ prefix }) => isBelow(path, prefix)).sort((one, other) => one.prefix.length - other.prefix.length);
}

/** Whether a path begins with a prefix, and goes on with another segment or not at all. */
export function isBelow(path: string, prefix: string): boolean {
  return path.startsWith(prefix) && (path.length === prefix.length || '/?#:.'.includes(path[prefix.length] as string));
}
