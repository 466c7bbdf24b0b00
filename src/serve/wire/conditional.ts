import { type EntityTag, parseEntityTags } from './etag.ts';

/** What the preconditions of a request come to: go on, answer 304, or answer 412. */
export type Condition = 'pass' | 'not-modified' | 'failed';

/** A request's preconditions, and what they are about: the current representation's tag as it is sent, if there is one. */
export interface Preconditions {
  readonly method: string;
  readonly ifMatch: string | undefined;
  readonly ifNoneMatch: string | undefined;
  readonly current: string | undefined;
}

/**
 * Evaluates If-Match, then If-None-Match (RFC 9110 sections 13.1.1, 13.1.2, 13.2.2): the first by strong comparison, the
 * second by weak. A header that does not parse matches nothing, and on a change fails: whoever sent it wanted a condition.
 */
export function evaluateConditions({ method, ifMatch, ifNoneMatch, current }: Preconditions): Condition {
  if (ifMatch !== undefined && !matches(ifMatch, current, strongMatch)) return 'failed';
  if (ifNoneMatch === undefined) return 'pass';
  const reads = method === 'GET' || method === 'HEAD';
  if (!reads && parseEntityTags(ifNoneMatch) === undefined) return 'failed';
  if (!matches(ifNoneMatch, current, weakMatch)) return 'pass';
  return reads ? 'not-modified' : 'failed';
}

/** Whether two tags are equal and neither is weak (RFC 9110 section 8.8.3.2). */
export function strongMatch(a: EntityTag, b: EntityTag): boolean {
  return !a.weak && !b.weak && a.opaque === b.opaque;
}

/** Whether two tags are equal but for weakness (RFC 9110 section 8.8.3.2). */
export function weakMatch(a: EntityTag, b: EntityTag): boolean {
  return a.opaque === b.opaque;
}

function matches(header: string, current: string | undefined, compare: (a: EntityTag, b: EntityTag) => boolean): boolean {
  if (current === undefined) return false;
  const tags = parseEntityTags(header);
  if (tags === '*') return true;
  const [tag] = asList(parseEntityTags(current));
  return tag !== undefined && asList(tags).some((one) => compare(one, tag));
}

function asList(tags: readonly EntityTag[] | '*' | undefined): readonly EntityTag[] {
  return tags === undefined || tags === '*' ? [] : tags;
}
