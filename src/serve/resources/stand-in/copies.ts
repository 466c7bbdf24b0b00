import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, statedValue } from '../../../parts/fact.ts';
import type { Spec } from '../../../parts/spec.ts';
import type { RowModel } from '../model.ts';
import type { CopiedFrom } from '../stand-in.ts';

/**
 * Compiles what a creation copies whose path names a thing of the same kind (`POST /things/{id}/copy`, or `POST /things/{id}` that
 * makes one): the fields of that thing, but for what tells it from others. Nothing where a path names none.
 */
export function compileCopied(spec: Spec, endpoint: Endpoint, model: RowModel): CopiedFrom | undefined {
  // A word that gathers acts (`/actions/replicate`) says nothing of what is copied.
  const segments = plain(endpoint.path)
    .replace(/\/actions(?=\/[^/]+$)/, '')
    .split('/');
  const last = segments.lastIndexOf('{}');
  const isCalled = last === segments.length - 2 && copying.test(segments.at(-1) ?? '');
  if (last < 1 || !(isCalled || last === segments.length - 1)) return undefined;
  const [copied, whole] = [segments.slice(0, last + 1).join('/'), endpoint.path.replace(/[?#].*$/, '').split('/')];
  const isOfOne = entriesOf(spec.endpoints.all).some(([, { does, path }]) => {
    const effect = statedValue(does);
    return effect?.verb === 'read' && effect.resource === model.name && plain(path) === copied;
  });
  const [, parameter] = /^\{(.+)\}$/.exec(whole[last] ?? '') ?? [];
  if (!isOfOne || parameter === undefined) return undefined;
  return (work, exchange) => {
    const row = work.rows.get(model.name, exchange.pathParams[parameter] ?? '');
    if (!row) return undefined;
    const { [model.identifier.field]: _own, ...fields } = model.parse(row);
    for (const { fields: names } of model.resource.unique) for (const name of names) delete fields[name];
    return fields;
  };
}

const copying = /^(?:cop(?:y|ies)|clones?|duplicates?|forks?|replicate)$/i;

/** A path whatever its parameters are called. */
function plain(path: string): string {
  return path.replace(/[?#].*$/, '').replaceAll(/\{[^{}]*\}/g, '{}');
}
