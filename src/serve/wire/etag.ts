import { hash } from 'node:crypto';

/** An entity tag (RFC 9110 section 8.8.3): its text without quotes. */
export interface EntityTag {
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

/** The tag of a row's revision as one reader sees it; `view` tells version, visibility and expansion apart, and is printable ASCII without quotes. */
export function revisionTag(revision: number | string, view = ''): string {
  return view === '' ? `"${revision}"` : `"${revision}-${view}"`;
}
