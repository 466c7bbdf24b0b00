import type { Json } from '../../document/document.ts';
import { isSame } from '../../document/values.ts';
import type { Flaw } from '../exchange/claim.ts';

/** How a value differs from what it should be; nothing where it is the same. An absent member is told from null. */
export function difference(promised: Json | undefined, seen: Json | undefined, what: string): Flaw | undefined {
  if (isSame(promised, seen)) return undefined;
  return { promised: `${what}: ${oneLine(promised)}`, seen: oneLine(seen) };
}

/** A value on one line. */
export function oneLine(value: Json | undefined): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

/**
 * Whether a header field says a text. Space around it is no part of it, and how what is not visible ASCII is written there everybody
 * decides for themselves (RFC 9110 section 5.5), so that only its presence tells something.
 */
export function headerSays(seen: string | undefined, text: string): boolean | 'unknown' {
  if (seen === undefined) return text.trim() === '' ? 'unknown' : false;
  if (seen.trim() === text.trim()) return true;
  return /[^\x20-\x7e]/.test(text) ? 'unknown' : false;
}
