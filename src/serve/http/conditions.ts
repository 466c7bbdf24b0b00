import { hash } from 'node:crypto';

/** What the preconditions of a request come to: go on, answer 304, or answer 412. */
type PreconditionResult = 'pass' | 'not-modified' | 'failed';

/** A request's preconditions, and what they are about: the tags of the current representations as they are sent, if there are any. */
interface Preconditions {
  readonly method: string;
  readonly ifMatch: string | undefined;
  readonly ifNoneMatch: string | undefined;
  readonly current: readonly string[];
}

/**
 * Evaluates If-Match, then If-None-Match (RFC 9110 sections 13.1.1, 13.1.2, 13.2.2): the first by strong comparison, the
 * second by weak. A header that does not parse matches nothing, and on a change fails: whoever sent it wanted a condition.
 */
export function evaluateConditions({ method, ifMatch, ifNoneMatch, current }: Preconditions): PreconditionResult {
  if (ifMatch !== undefined && !matches(ifMatch, current, strongMatch)) return 'failed';
  if (ifNoneMatch === undefined) return 'pass';
  const reads = method === 'GET' || method === 'HEAD';
  if (!reads && parseEntityTags(ifNoneMatch) === undefined) return 'failed';
  if (!matches(ifNoneMatch, current, weakMatch)) return 'pass';
  return reads ? 'not-modified' : 'failed';
}

/** Whether two tags are equal and neither is weak (RFC 9110 section 8.8.3.2). */
function strongMatch(a: EntityTag, b: EntityTag): boolean {
  return !a.weak && !b.weak && a.opaque === b.opaque;
}

/** Whether two tags are equal but for weakness (RFC 9110 section 8.8.3.2). */
function weakMatch(a: EntityTag, b: EntityTag): boolean {
  return a.opaque === b.opaque;
}

function matches(header: string, current: readonly string[], compare: (a: EntityTag, b: EntityTag) => boolean): boolean {
  if (current.length === 0) return false;
  const tags = parseEntityTags(header);
  if (tags === '*') return true;
  const own = current.flatMap((tag) => asList(parseEntityTags(tag)));
  return asList(tags).some((one) => own.some((tag) => compare(one, tag)));
}

function asList(tags: readonly EntityTag[] | '*' | undefined): readonly EntityTag[] {
  return tags === undefined || tags === '*' ? [] : tags;
}

/** An entity tag (RFC 9110 section 8.8.3): its text without quotes. */
interface EntityTag {
  readonly opaque: string;
  readonly weak: boolean;
}

/** Parses If-Match or If-None-Match: `*`, or a list of tags; undefined where it is neither. */
export function parseEntityTags(header: string): readonly EntityTag[] | '*' | undefined {
  if (header.trim() === '*') return '*';
  const tags: EntityTag[] = [];
  const element = /[ \t,]*(?:(W\/)?"([\x21\x23-\x7e\x80-\uffff]*)"[ \t]*(?=,|$))?/y;
  for (let match = element.exec(header); match !== null && match[0] !== ''; match = element.exec(header)) {
    if (match[2] === undefined) continue;
    tags.push({ opaque: match[2], weak: match[1] !== undefined });
    if (element.lastIndex === header.length) return tags;
  }
  const rest = tags.length > 0 ? header.slice(header.lastIndexOf('"') + 1) : header;
  return tags.length > 0 && /^[ \t,]*$/.test(rest) ? tags : undefined;
}

/** The tag of a representation by its bytes: any difference in what is sent is a difference here. */
export function contentTag(body: string | Uint8Array): string {
  return `"${hash('sha1', body, 'base64url')}"`;
}
