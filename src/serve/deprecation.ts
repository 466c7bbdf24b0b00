import type { Deprecation } from '../parts/versioning.ts';

/** The header fields of something deprecated: `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and `Link` (RFC 8288). */
export function deprecationHeaders(stated: Deprecation | undefined): Readonly<Record<string, string>> | undefined {
  if (!stated) return undefined;
  const headers: Record<string, string> = {};
  const since = dateMs(stated.deprecated);
  const sunset = dateMs(stated.sunset);
  // RFC 9745 knows dates alone; what is deprecated without one has been since the epoch.
  headers.deprecation = `@${Math.floor((since ?? 0) / 1000)}`;
  if (sunset !== undefined) headers.sunset = new Date(sunset).toUTCString();
  if (stated.link !== undefined) headers.link = `<${stated.link}>; rel="deprecation"`;
  return headers;
}

/** A stated date or date-time, in milliseconds since 1970. */
export function dateMs(text: string | undefined): number | undefined {
  const ms = text === undefined ? Number.NaN : Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms;
}
