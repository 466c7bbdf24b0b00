/** What has to hold before a row is changed: the tag that it has, and the states in which it may be. */

import type { Endpoint } from '../../parts/endpoints.ts';
import type { Row } from '../../store/store.ts';
import { keepShown } from '../callers/operation-access.ts';
import type { Bindings } from '../callers/rules.ts';
import type { Exchange, Value } from '../exchange/exchange.ts';
import { compilePrune } from '../exchange/visibility.ts';
import { contentTag, evaluateConditions } from '../http/conditions.ts';
import { toJson } from '../http/json.ts';
import type { Changing, Found, Precondition, Work } from './act.ts';
import type { RowModel } from './model.ts';
import type { ViewCompilation } from './view-compilation.ts';

/**
 * Compiles If-Match and If-None-Match of an endpoint; nothing where it takes neither. A tag is good that the caller was given, or that anybody is
 * given who is not known: what is public may be read without a credential and changed with one.
 */
export function compilePrecondition(endpoint: Endpoint, model: RowModel, compilation: ViewCompilation): Precondition | undefined {
  const { ifMatch } = endpoint;
  if (ifMatch !== 'required' && ifMatch !== 'accepted') return undefined;
  const { user } = compilation;
  const reading = compilation.access.reading(model.name, user);
  // What an endpoint says weakly stands for no bytes, and lets nobody change anything (RFC 9110 section 13.1.1).
  const tags = [...new Set([user, undefined])].map((one) => compileRowTag(model, compilation, one));

  /** Nobody finds out by guessing what stands in a row that it may not read. */
  function currentTags(work: Work, { row, fields }: Found): readonly string[] {
    if (!row) return [];
    return reading.isFree || reading.allows(work.scope, fields ?? {}) ? tags.map((tag) => tag(row, work.scope)) : [unmatched];
  }

  return (work, { call }: Exchange, found) => {
    const match = call.headers['if-match'];
    const noneMatch = call.headers['if-none-match'];
    if (match === undefined && noneMatch === undefined)
      return ifMatch === 'required' ? { when: 'precondition.required' } : undefined;
    const verdict = evaluateConditions({
      method: call.method,
      ifMatch: headerText(match),
      ifNoneMatch: headerText(noneMatch),
      current: currentTags(work, found),
    });
    return verdict === 'pass' ? undefined : { when: 'precondition.failed' };
  };
}

/** Something is there, and no tag is its. */
const unmatched = '" "';

function headerText(value: string | string[] | undefined): string | undefined {
  const text = Array.isArray(value) ? value.join(', ') : value;
  return text === undefined ? undefined : ownTagsIn(text);
}

/** Compiles `in`, the states in which an endpoint may change a row; nothing where none are stated. */
export function compileAllowed(endpoint: Endpoint, { machines }: RowModel): Changing['illegalIn'] {
  const named = endpoint.in;
  if (!named || machines.length === 0) return undefined;
  // Of several machines each is asked of which a state is named.
  const asked = machines.flatMap(({ field, states }) => {
    const own = machines.length === 1 ? named : named.filter((state) => states.has(state));
    return own.length === 0 ? [] : [{ field, allowed: new Set<Value>(own) }];
  });
  return ({ fields }) =>
    fields && asked.some(({ field, allowed }) => !allowed.has(fields[field])) ? { when: 'transition.illegal.state' } : undefined;
}

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
function ownTagsIn(header: string): string {
  return header.replaceAll(/"([^".]+)\.[^".]*"/g, '"$1"');
}

/** As an endpoint says it. */
export function tagAs(etag: 'strong' | 'weak', tag: string): string {
  return etag === 'weak' ? `W/${tag}` : tag;
}
