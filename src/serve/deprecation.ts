import type { Deprecation } from '../parts/versioning.ts';

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
export function dateMs(text: string | undefined): number | undefined {
  const ms = text === undefined ? Number.NaN : Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms;
}
