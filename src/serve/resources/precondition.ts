import type { Endpoint } from '../../parts/endpoints.ts';
import { statedValue } from '../../parts/fact.ts';
import type { Row } from '../../store/store.ts';
import type { Compilation } from '../exchange/compilation.ts';
import { evaluateConditions, revisionTag } from '../http/conditions.ts';
import type { Precondition } from './act.ts';

/** Compiles If-Match and If-None-Match of an endpoint; nothing where it takes neither. */
export function compilePrecondition(endpoint: Endpoint, compilation: Compilation): Precondition | undefined {
  const { ifMatch } = endpoint;
  if (ifMatch !== 'required' && ifMatch !== 'accepted') return undefined;
  // What an endpoint says weakly stands for no bytes, and lets nobody change anything (RFC 9110 section 13.1.1).
  const tag = rowTag('strong', compilation);
  return ({ call }, row) => {
    const match = call.headers['if-match'];
    const noneMatch = call.headers['if-none-match'];
    if (match === undefined && noneMatch === undefined)
      return ifMatch === 'required' ? { when: 'precondition.required' } : undefined;
    const verdict = evaluateConditions({
      method: call.method,
      ifMatch: headerText(match),
      ifNoneMatch: headerText(noneMatch),
      current: row && tag(row),
    });
    return verdict === 'pass' ? undefined : { when: 'precondition.failed' };
  };
}

function headerText(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value;
}

/**
 * The entity tag of a row as a caller reads it (RFC 9110 section 8.8): its revision and the view, so that another user's
 * view never matches.
 */
export function rowTag(etag: 'strong' | 'weak', compilation: Compilation): (row: Pick<Row, 'rev'>) => string {
  const view = viewOf(compilation);
  return (row) => (etag === 'weak' ? `W/${revisionTag(row.rev, view)}` : revisionTag(row.rev, view));
}

/** A short name of who is looking, at which version: the place of its user among the stated ones, and of an older version. */
function viewOf({ spec, user, version }: Compilation): string {
  const users = Object.keys(statedValue(spec.purpose.users) ?? {});
  const index = user === undefined ? -1 : users.indexOf(user);
  return `${index < 0 ? '' : index.toString(36)}${version ? `v${version.index}` : ''}`;
}
