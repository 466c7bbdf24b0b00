import Negotiator from 'negotiator';

/** The media type to answer with for an Accept header; undefined where none that the operation produces is accepted. */
export type Negotiate = (accept: string | undefined) => string | undefined;

/**
 * Compiles an operation's content negotiation (RFC 9110 section 12.5.1): the highest quality wins, then the more specific
 * range, then the order of `produces`; `q=0` excludes. A `charset` in Accept is passed over: what is sent is UTF-8.
 */
export function compileAccept(produces: readonly string[]): Negotiate {
  const first = produces[0];
  const remembered = new Map<string, string | undefined>();
  return (accept) => {
    if (accept === undefined || accept === '' || accept === '*/*' || accept === first) return first;
    if (remembered.has(accept)) return remembered.get(accept);
    const chosen = negotiate(accept, produces);
    // Clients send few different headers; what does not repeat must not stay.
    if (remembered.size >= 64) remembered.clear();
    if (accept.length <= 512) remembered.set(accept, chosen);
    return chosen;
  };
}

const CHARSET = /;[ \t]*charset[ \t]*=[ \t]*(?:"[^"]*"|[^\s;,]*)/gi;

function negotiate(accept: string, produces: readonly string[]): string | undefined {
  const header = accept.replace(CHARSET, '');
  return new Negotiator({ headers: { accept: header } }).mediaTypes([...produces])[0];
}
