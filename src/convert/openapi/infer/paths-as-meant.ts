import { isJson, type SourceOperation } from '../read/operation.ts';
import { pathParts, shapeOfPath, wholeParameter } from './paths.ts';

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
  ...words('GET', 'GET', 'json', 'info', 'details', 'detail', 'inspect', 'show', 'view'),
  ...words('POST', 'PATCH', 'update', 'edit', 'modify'),
  ...words('PUT', 'PATCH', 'update', 'edit', 'modify'),
  ...words('POST', 'DELETE', 'delete', 'remove', 'destroy'),
]);
