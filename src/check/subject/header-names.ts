import { below } from '../../document/pointer.ts';
import { isToken } from '../../kinds/http-token.ts';
import type { Wrong } from './rule.ts';

/** What an answer's own header fields are for: they follow from its body and its connection (RFC 9110 sections 7.6.1 and 8, RFC 9112). */
const ownFields: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'content-type',
  'date',
  'keep-alive',
  'transfer-encoding',
]);

/** The names of header fields under a place that are none, or that follow from the answer itself. */
export function badHeaderNames(names: readonly string[], at: string): Wrong[] {
  return names.flatMap((name) => {
    const place = { at: below(at, name), onKey: true };
    if (!isToken(name)) return [{ message: `\`${name}\` is no header name.`, ...place }];
    return ownFields.has(name.toLowerCase()) ? [{ message: `\`${name}\` follows from the answer itself.`, ...place }] : [];
  });
}
