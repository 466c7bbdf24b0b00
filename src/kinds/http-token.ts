/** A token of HTTP (RFC 9110 section 5.6.2), as the source of a regular expression: methods, header names, schemes, parameters. */
export const token = "[\\w!#$%&'*+.^`|~-]+";

/** The inside of a quoted string (RFC 9110 section 5.6.4), as the source of a regular expression: it may hold escaped characters. */
export const quotedText = '(?:[^"\\\\]|\\\\.)*';

const wholeToken = new RegExp(`^${token}$`);

/** Whether a text is a token and nothing else. */
export function isToken(text: string): boolean {
  return wholeToken.test(text);
}

/** A text as a quoted string; what a header cannot carry is a question mark. */
export function quotedString(text: string): string {
  return `"${text.replace(/[^\x20-\x7e]/g, '?').replace(/["\\]/g, '\\$&')}"`;
}

/** The text that the inside of a quoted string stands for. */
export function unquoted(inside: string): string {
  return inside.replace(/\\(.)/g, '$1');
}

/** Whether a media type is JSON (RFC 8259), or of its syntax (RFC 6839 section 3.1), with whatever parameters. */
export function isJson(type: string): boolean {
  return /^[^;]*[/+]json\s*(?:;|$)/i.test(type);
}
