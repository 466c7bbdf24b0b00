import type { Row } from '../../store/store.ts';
import { keepShown } from '../callers/row-access.ts';
import type { Bindings } from '../callers/rules.ts';
import { compilePrune } from '../exchange/visibility.ts';
import { contentTag } from '../http/conditions.ts';
import { toJson } from '../http/json.ts';
import type { RowModel } from './model.ts';
import type { ViewCompilation } from './view-compilation.ts';

/**
 * The entity tag of a row as a user reads it in this version (RFC 9110 section 8.8): of what is shown alone, so that nothing that is not seen
 * changes it, and nothing of other rows is in it.
 */
export function compileRowTag(
  model: RowModel,
  { spec, version, access }: ViewCompilation,
  user: string | undefined,
): (row: Pick<Row, 'doc'>, scope: Bindings) => string {
  const prune = compilePrune(spec, { resource: model.name }, { user, reveals: false });
  const carry = version?.carries.resource(model.name);
  const shown = access.fieldsShown(model.name, user);
  if (!prune && !carry && !shown) return ({ doc }) => contentTag(doc);
  return (row, scope) => {
    const fields = model.parse(row);
    // Who is not known is shown what rules for anyone show.
    const seen = shown?.(user === undefined ? { ...scope, caller: undefined } : scope, fields);
    prune?.(fields);
    keepShown(fields, seen);
    return contentTag(toJson(carry ? carry.down(fields) : fields));
  };
}

/** The tag of an answer that shows more than the row: the row's own, a point, and its own. */
export function tagWithin(own: string, body: string | Uint8Array | undefined): string {
  return `${own.slice(0, -1)}.${contentTag(body ?? '').slice(1)}`;
}

/** The tags of rows in a list of tags: `If-Match` is about the row, whatever was shown beside it. */
export function ownTagsIn(header: string): string {
  return header.replaceAll(/"([^".]+)\.[^".]*"/g, '"$1"');
}

/** As an endpoint says it. */
export function tagAs(etag: 'strong' | 'weak', tag: string): string {
  return etag === 'weak' ? `W/${tag}` : tag;
}
