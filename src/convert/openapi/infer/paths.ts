import { isJson } from '../../../kinds/http-token.ts';
import type { SourceOperation } from '../read/operation.ts';

/** A path as it is read for what it is about. */
export interface PathParts {
  readonly segments: readonly string[];
  /** The names of its parameters, in order. */
  readonly parameters: readonly string[];
  /** The parameter that is the whole last segment. */
  readonly last: string | undefined;
  /** The path before the last segment. */
  readonly parent: string;
}

/** Reads a path without its query and fragment. */
export function pathParts(path: string): PathParts {
  const real = plainPath(path);
  const segments = real.split('/').slice(1);
  const parameters = [...real.matchAll(/\{([^{}]+)\}/g)].map((match) => match[1] as string);
  return {
    segments,
    parameters,
    last: wholeParameter(segments.at(-1)),
    parent: segments.length === 0 ? '' : `/${segments.slice(0, -1).join('/')}`.replace(/^\/$/, ''),
  };
}

/** The name of a segment that is a parameter and nothing else. */
export function wholeParameter(segment: string | undefined): string | undefined {
  return /^\{([^{}]+)\}$/.exec(segment ?? '')?.[1];
}

/** The same path whatever its parameters are called. */
export function shapeOfPath(path: string): string {
  return plainPath(path).replaceAll(/\{[^{}]*\}/g, '{}');
}

/**
 * A path as it is read: without query and fragment, `/messages/{sid}.json` as `/messages/{sid}`, `/things/{id}:cancel` as `/things/{id}/cancel`. What a
 * fragment says that a parameter is tells operations of one path apart as a segment would: `/channels#operation=search` as `/channels/search`,
 * `/#X-Amz-Target=Service.CreateThing` as `/CreateThing`.
 */
function plainPath(path: string): string {
  const [, word] = /#(?:[^#]*&)?[\w-]+=(?:[\w.-]*\.)?([\w-]+)/.exec(path) ?? [];
  const plain = path
    .replace(/[?#].*$/, '')
    .replace(/\/+$/, '')
    .split('/')
    .map((segment) => segment.replace(/\.(?:json|xml)$/i, '').replace(/^([^:]+):([A-Za-z]\w*)$/, '$1/$2'))
    .join('/');
  return word === undefined ? plain : `${plain}/${word}`;
}

/** One of many, as English has it most of the time: `addresses` is `address`, `companies` `company`. */
export function singular(word: string): string {
  if (/(?:ss|us|is)$/i.test(word)) return word;
  if (/ies$/i.test(word)) return word.replace(/ies$/i, 'y');
  if (/(?:[sxz]|[cs]h)es$/i.test(word)) return word.replace(/es$/i, '');
  return word.replace(/s$/i, '');
}

/** The words of a name: `event_type_name` and `eventTypeName` are both three. */
export function wordsOfName(name: string): string[] {
  return name
    .replaceAll(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
    .map((word) => word.toLowerCase());
}

/** Whether a path ends in a word for making another of the same. */
export function isCopying(path: string): boolean {
  return wordsOfName(pathParts(path).segments.at(-1) ?? '').some(isCopyWord);
}

export function isCopyWord(word: string): boolean {
  return copying.has(word);
}

const copying: ReadonlySet<string> = new Set([
  'copy',
  'copies',
  'clone',
  'clones',
  'duplicate',
  'duplicates',
  'fork',
  'forks',
  'replicate',
]);

/**
 * Operations as rules read them: where the end of a path says what a method says, as they would be without it. `POST /things/create`
 * is `POST /things`, `GET /things/{id}/json` is `GET /things/{id}` and `POST /things/{id}/update` `PATCH /things/{id}`, unless there is such
 * an operation besides.
 */
export function operationsAsMeant(operations: readonly SourceOperation[]): readonly SourceOperation[] {
  const known = new Set(operations.map((one) => keyOf(one)));
  const ofOne = new Set(operations.map(({ path }) => thingsOf(path)).filter((path) => path !== undefined));
  return operations.map((operation) => {
    const meant = asMeant(operation, ofOne);
    if (meant === undefined || known.has(keyOf(meant))) return operation;
    known.add(keyOf(meant));
    return meant;
  });
}

function keyOf({ method, path }: Pick<SourceOperation, 'method' | 'path'>): string {
  return `${method} ${shapeOfPath(path)}`;
}

/** The path of the things of which a path tells one, whatever it goes on with. */
function thingsOf(path: string): string | undefined {
  const segments = shapeOfPath(path).split('/');
  const last = segments.lastIndexOf('{}');
  return last < 2 ? undefined : segments.slice(0, last).join('/');
}

function asMeant(operation: SourceOperation, ofOne: ReadonlySet<string>): SourceOperation | undefined {
  const { segments, parent } = pathParts(operation.path);
  const word = (segments.at(-1) ?? '').toLowerCase();
  const isOfOne = wholeParameter(segments.at(-2)) !== undefined;
  const method = (isOfOne ? methodsOfOne : methodsOfMany).get(`${operation.method} ${word}`);
  // A word after a noun is about its things where some path tells one of them from another.
  if (method === undefined || segments.length < 2 || !(isOfOne || ofOne.has(shapeOfPath(parent)))) return undefined;
  return operation.method === 'POST' && method === 'POST' && !saysThings(operation)
    ? undefined
    : { ...operation, method, path: parent };
}

/** Whether things of data are sent or answered: what makes things out of files alone is something else. */
function saysThings({ body, responses }: SourceOperation): boolean {
  const answered = responses.filter(({ status }) => /^2/.test(status)).flatMap(({ content }) => content);
  return [...(body?.content ?? []), ...answered].some(({ type }) => isJson(type));
}

const words = (method: string, meant: string, ...names: readonly string[]): (readonly [string, string])[] =>
  names.map((name) => [`${method} ${name}`, meant]);

const methodsOfMany: ReadonlyMap<string, string> = new Map([
  ...words('POST', 'POST', 'create', 'new', 'add'),
  ...words('GET', 'GET', 'json', 'list', 'all', 'index'),
]);

const methodsOfOne: ReadonlyMap<string, string> = new Map([
  ...words('GET', 'GET', 'json', 'info', 'details', 'detail', 'inspect'),
  ...words('POST', 'PATCH', 'update', 'edit', 'modify'),
  ...words('PUT', 'PATCH', 'update', 'edit', 'modify'),
  ...words('POST', 'DELETE', 'delete', 'remove', 'destroy'),
]);
