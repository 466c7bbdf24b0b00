import type { Json } from '../../document/document.ts';

/** The value of a JSON body, whatever its parameters; nothing where the media type or the text is none, or where nobody could go to its ground. */
export function parseBody(text: string, contentType: string | undefined): Json | undefined {
  return isJsonType(contentType) ? jsonIn(text) : undefined;
}

/** The value of a JSON text; nothing where it is none, or where nobody could go to its ground. */
export function jsonIn(text: string): Json | undefined {
  if (text === '' || isTooDeep(text)) return undefined;
  try {
    return bareMapsIn(JSON.parse(text) as Json);
  } catch {
    return undefined;
  }
}

/** A value whose maps have no prototype: a field may be called `constructor`. */
export function bareMapsIn<T extends Json | undefined>(value: T): T {
  if (Array.isArray(value)) for (const item of value) bareMapsIn(item);
  else if (typeof value === 'object' && value !== null) {
    Object.setPrototypeOf(value, null);
    Object.defineProperty(value, Symbol.toPrimitive, asText);
    for (const item of Object.values(value)) if (typeof item === 'object') bareMapsIn(item);
  }
  return value;
}

/** A map that stands where a text is to be is taken for its JSON: whoever asks for its text fails nowhere. */
const asText: PropertyDescriptor = {
  value(this: object) {
    return JSON.stringify(this);
  },
};

/** `application/json` and everything that ends in `+json` (RFC 6839 section 3.1). */
export function isJsonType(contentType: string | undefined): boolean {
  const type = (contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  return type === 'application/json' || type === 'text/json' || type.endsWith('+json');
}

/** No interface means such a depth, and whatever looks at each level in turn would run out of stack. */
const depthMax = 256;

function isTooDeep(text: string): boolean {
  if (text.length < 2 * depthMax) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const sign = text.charCodeAt(at);
    if (sign === quote) at = endOfText(text, at);
    else if (sign === openList || sign === openMap) depth += 1;
    else if (sign === closeList || sign === closeMap) depth -= 1;
    if (depth > depthMax) return true;
  }
  return false;
}

const quote = 34;
const openList = 91;
const closeList = 93;
const openMap = 123;
const closeMap = 125;

/** Where the text that begins here ends: at the next quotation mark that no backslash takes away. */
function endOfText(text: string, from: number): number {
  let at = text.indexOf('"', from + 1);
  while (at >= 0 && isEscaped(text, at)) at = text.indexOf('"', at + 1);
  return at < 0 ? text.length : at;
}

function isEscaped(text: string, at: number): boolean {
  let count = 0;
  while (text[at - 1 - count] === '\\') count += 1;
  return count % 2 === 1;
}
