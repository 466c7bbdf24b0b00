import type { SourceOperation } from './operation.ts';
import type { MapAt } from './reader.ts';

/**
 * An operation whose path tells the owner of what it is about as `{id}`: `/projects/{id}/issues` is called `/projects/{project_id}/issues`, as others write it, since a
 * thing that is made there has an `id` of its own. Names in a path are nothing that a caller sees.
 */
export function withNamedOwners(operation: SourceOperation, isMadeBelow: (path: string) => boolean): SourceOperation {
  const renamed = isMadeBelow(operation.path) ? renamedIn(operation.path) : undefined;
  if (renamed === undefined) return operation;
  const { from, to } = renamed;
  const path = operation.path.replace(`{${from}}`, `{${to}}`);
  const parameters = operation.parameters.map((one) => (one.in === 'path' && one.name === from ? { ...one, name: to } : one));
  return { ...operation, key: `${operation.method} ${path}`, path, parameters };
}

/** The parameter of an owner that is called as every identifier is, and what it is called where its things are spoken of. */
function renamedIn(path: string): { readonly from: string; readonly to: string } | undefined {
  const segments = path.replace(/\/?(?:[?#].*)?$/, '').split('/');
  const at = segments.findIndex((segment) => /^\{(?:id|uuid)\}$/i.test(segment));
  const [owner = '', last = ''] = [segments[at - 1], segments.at(-1)];
  if (at < 1 || at === segments.length - 1 || !/^[A-Za-z][\w-]*$/.test(owner) || /\{[^}]*\}./.test(last)) return undefined;
  const words = owner.split(/[^A-Za-z\d]+|(?<=[a-z\d])(?=[A-Z])/).filter((word) => word !== '');
  const noun = words
    .map((word) => word.toLowerCase())
    .join('_')
    .replace(/ies$/, 'y')
    .replace(/(?<!s|u|i)s$/, '');
  const to = `${noun}_id`;
  return path.includes(`{${to}}`) ? undefined : { from: (segments[at] ?? '').slice(1, -1), to };
}

/**
 * Whether a path is that of things which are made there and told below it, or that of one of them; or one where things are made that have a path of their own
 * elsewhere: `/users/{id}/toys` beside `/toys/{id}`.
 */
export function madeBelow(paths: readonly (readonly [string, MapAt])[]): (path: string) => boolean {
  const shape = (path: string) => path.replaceAll(/\{[^{}]*\}/g, '{}').replace(/\/$/, '');
  const all = new Set(paths.map(([path]) => shape(path)));
  const making = new Set(paths.flatMap(([path, { value }]) => (Object.hasOwn(value, 'post') ? [shape(path)] : [])));
  const read = paths.flatMap(([path, { value }]) => (Object.hasOwn(value, 'get') ? [shape(path)] : []));
  const elsewhere = new Set(read.flatMap((path) => /^(?:\/[^/{}]+)*\/([^/{}]+)\/\{\}$/.exec(path)?.[1] ?? []));
  return (path) => {
    const own = shape(path);
    const list = own.replace(/\/\{\}$/, '');
    if (list.endsWith('}') || !making.has(list)) return false;
    return all.has(`${list}/{}`) || (list === own && elsewhere.has(list.slice(list.lastIndexOf('/') + 1)));
  };
}
