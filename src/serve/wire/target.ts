/** A request target's two halves, still encoded; the query is without its `?`. */
export interface Target {
  readonly path: string;
  readonly query: string;
}

/**
 * Splits a request target in origin form, `/a?b`, or absolute form, `http://host/a?b`, which a server must also take
 * (RFC 9112 section 3.2). Anything else (`*`, an authority) comes back as a path that no route has.
 */
export function splitTarget(target: string): Target {
  let origin = target;
  if (target.charCodeAt(0) !== SLASH) {
    const absolute = ABSOLUTE.exec(target);
    if (absolute === null) return { path: target, query: '' };
    const rest = target.slice(absolute[0].length);
    origin = rest.charCodeAt(0) === SLASH ? rest : `/${rest}`;
  }
  const mark = origin.indexOf('?');
  if (mark === -1) return { path: origin, query: '' };
  return { path: origin.slice(0, mark), query: origin.slice(mark + 1) };
}

const SLASH = 47;
const ABSOLUTE = /^https?:\/\/[^/?#]+/i;
