import { entriesOf, statedValue } from '../parts/fact.ts';
import type { Row } from '../store/store.ts';
import type { Compilation } from './compilation.ts';
import type { RowModel } from './rows/model.ts';
import { revisionTag } from './wire/etag.ts';

/**
 * The entity tag of a row as a caller reads it (RFC 9110 section 8.8): its revision and the view, so that another user's
 * view never matches.
 */
export function rowTag(model: RowModel, compilation: Compilation): (row: Pick<Row, 'rev'>) => string {
  const view = viewOf(compilation);
  const weak = isWeak(model, compilation);
  return (row) => (weak ? `W/${revisionTag(row.rev, view)}` : revisionTag(row.rev, view));
}

/** A short name of who is looking, at which version: the place of its user among the stated ones, and of an older version. */
export function viewOf({ spec, user, version }: Compilation): string {
  const users = Object.keys(statedValue(spec.purpose.users) ?? {});
  const index = user === undefined ? -1 : users.indexOf(user);
  return `${index < 0 ? '' : index.toString(36)}${version ? `v${version.index}` : ''}`;
}

/** Whether the endpoint that reads a resource states weak tags. */
function isWeak(model: RowModel, { spec }: Compilation): boolean {
  return entriesOf(spec.endpoints.all).some(([, endpoint]) => {
    const effect = statedValue(endpoint.does);
    return effect?.verb === 'read' && effect.resource === model.name && endpoint.etag === 'weak';
  });
}
