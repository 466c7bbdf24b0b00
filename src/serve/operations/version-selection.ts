import { type Deprecation, endOf, type Selection, type Version } from '../../parts/versioning.ts';
import type { History } from '../../parts/versions/history.ts';
import type { Refusal } from '../exchange/exchange.ts';
import type { Call } from '../http/call.ts';
import { describeValue } from '../http/violation.ts';

/** What a call says of its version. */
interface RequestedVersion {
  /** The version by its name; nothing where the call does not say. */
  readonly name: string | undefined;
  /** The path without what chose the version. */
  readonly path: string;
}

/** Compiles the reading of the version that a call asks for: by a header, a query parameter or a path. */
export function compileAsked(
  selection: Selection | undefined,
  history: History,
  basePath: string,
): (call: Call) => RequestedVersion {
  const { by, carrier } = selection ?? { by: 'pin', carrier: '' };
  if (by === 'header') {
    const header = carrier.toLowerCase();
    return ({ headers, path }) => {
      const sent = headers[header];
      return { name: Array.isArray(sent) ? sent.join(', ') : sent?.trim(), path };
    };
  }
  if (by === 'query') {
    return ({ query, path }) => {
      if (query === '') return { name: undefined, path };
      const sent = new Set(new URLSearchParams(query).getAll(carrier));
      return { name: sent.size === 0 ? undefined : [...sent].join(', '), path };
    };
  }
  if (by === 'path') {
    const listed = new Set(history.versions.map(({ name }) => name));
    const match = pathReader(carrier, basePath);
    return ({ path }) => {
      const found = match(path);
      return found && listed.has(found.name) ? found : { name: undefined, path };
    };
  }
  return ({ path }) => ({ name: undefined, path });
}

/** Reads a path template such as `/{version}` after the base path: what stands for the version, and the path without it. */
export function pathReader(template: string, basePath: string): (path: string) => { name: string; path: string } | undefined {
  const [before = '', after = ''] = template.split('{version}');
  const head = basePath + (before.startsWith('/') ? before : `/${before}`);
  return (path) => {
    if (!path.startsWith(head)) return undefined;
    const slash = path.indexOf('/', head.length);
    const segment = path.slice(head.length, slash < 0 ? path.length : slash);
    const rest = slash < 0 ? '' : path.slice(slash);
    const ending = after.split('/')[0] as string;
    const below = after.slice(ending.length);
    if (!segment.endsWith(ending) || segment.length === ending.length || !rest.startsWith(below)) return undefined;
    const raw = segment.slice(0, segment.length - ending.length);
    return { name: decoded(raw), path: basePath + rest.slice(below.length) };
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The refusal of a version that is not listed, or of none where one is wanted. */
export function unknownVersion(selection: Selection | undefined, history: History, name: string | undefined): Refusal {
  const names = history.versions.map((version) => version.name).join(', ');
  const place = selection?.by === 'header' || selection?.by === 'query' || selection?.by === 'path' ? selection.by : undefined;
  const path = place === 'path' ? 'version' : (selection?.carrier ?? '');
  return {
    when: 'version.unknown',
    ...(place && { violations: [{ in: place, path, found: describeValue(name), expected: `one of ${names}` }] }),
  };
}

/** When a version is gone, in milliseconds since 1970. */
export function sunsetMsOf({ deprecation }: Version): number | undefined {
  return deprecation.standing === 'stated' || deprecation.standing === 'inferred' ? dateMs(endOf(deprecation.value)) : undefined;
}

/**
 * The header fields of what is deprecated: `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and `Link` (RFC 8288), with the
 * earliest date of each and every link.
 */
export function deprecationHeaders(stated: readonly Deprecation[]): Record<string, string> | undefined {
  if (stated.length === 0) return undefined;
  const headers: Record<string, string> = {};
  // RFC 9745 knows dates alone; what is deprecated without one has been since the epoch. What only ends is not deprecated yet.
  const since = stated.flatMap(({ deprecated, sunset }) => dateMs(deprecated) ?? (sunset === undefined ? 0 : []));
  const sunsets = stated.flatMap(({ sunset }) => dateMs(sunset) ?? []);
  if (since.length > 0) headers.deprecation = `@${Math.floor(Math.min(...since) / 1000)}`;
  if (sunsets.length > 0) headers.sunset = new Date(Math.min(...sunsets)).toUTCString();
  const links = stated.flatMap(({ link, alternative }) => [
    ...(link === undefined ? [] : [`<${link}>; rel="deprecation"`]),
    ...(alternative === undefined ? [] : successorLink(alternative)),
  ]);
  if (links.length > 0) headers.link = [...new Set(links)].join(', ');
  return headers;
}

/** RFC 5829 section 3.4, where the alternative is an address. */
function successorLink(alternative: string): string[] {
  const isAddress = /^(?:[a-z][a-z\d+.-]*:|\/)[^<>\s"]*$/i.test(alternative);
  return isAddress ? [`<${alternative}>; rel="successor-version"`] : [];
}

/** A stated date or date-time, in milliseconds since 1970. */
function dateMs(text: string | undefined): number | undefined {
  const ms = text === undefined ? Number.NaN : Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms;
}
