import type { Endpoint } from '../../parts/endpoints.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { evaluateConditions } from '../http/conditions.ts';
import type { Found, Precondition, Work } from './act.ts';
import type { RowModel } from './model.ts';
import { compileRowTag, ownTagsIn } from './row-tag.ts';
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
