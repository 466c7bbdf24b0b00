/**
 * Whether a header field says a text. Space around it is no part of it, and how what is not visible ASCII is written there everybody
 * decides for themselves (RFC 9110 section 5.5), so that only its presence tells something.
 */
export function headerSays(seen: string | undefined, text: string): boolean | 'unknown' {
  if (seen === undefined) return text.trim() === '' ? 'unknown' : false;
  if (seen.trim() === text.trim()) return true;
  return /[^\x20-\x7e]/.test(text) ? 'unknown' : false;
}
