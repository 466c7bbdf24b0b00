import type { Json } from '../../document/document.ts';

/** The value of a JSON body, whatever its parameters; nothing where the media type or the text is none. */
export function parseBody(text: string, contentType: string | undefined): Json | undefined {
  if (text === '' || !isJsonType(contentType)) return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** `application/json` and everything that ends in `+json` (RFC 6839 section 3.1). */
export function isJsonType(contentType: string | undefined): boolean {
  const type = (contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  return type === 'application/json' || type === 'text/json' || type.endsWith('+json');
}
