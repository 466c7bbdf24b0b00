/** The versions of the shop: which one a request is in, and what its answer says of it. */
import type { IncomingMessage } from 'node:http';
import { Refusal } from './exchange.ts';
import type { Shop, Version } from './shop.ts';

const current: Version = '2025-05-01';
const older: Version = '2024-05-01';
const retired = '2023-05-01';

/** The version that a request asks for, by whatever name. */
export function askedVersion({ faults }: Shop, request: IncomingMessage): string {
  const sent = request.headers['shop-version'];
  if (typeof sent === 'string') return sent.trim();
  return faults.has('oldest-by-default') ? older : current;
}

/** The version in which an answer is told: the one that is asked for, if there is such a version. */
function toldVersion(asked: string): string {
  return asked === older || asked === retired ? asked : current;
}

/** The version in which a request is carried out. */
export function servedVersion({ faults }: Shop, version: string): Version {
  if (version === current || version === older) return version;
  if (version === retired) {
    if (faults.has('retired-version-served')) return older;
    throw new Refusal('retired_version');
  }
  if (faults.has('unknown-version-is-current')) return current;
  throw new Refusal('unknown_version', [
    { in: 'header', path: 'Shop-Version', found: version, expected: `one of ${current}, ${older}` },
  ]);
}

/** What every answer says: its version, and that an older one will not stay. */
export function answeredHeaders(shop: Shop, request: IncomingMessage, isUnrouted: boolean): Record<string, string> {
  const { faults } = shop;
  const version = toldVersion(askedVersion(shop, request));
  const headers = { ...(!faults.has('version-not-named') && { 'Shop-Version': version }), Vary: 'X-Shop-Key, Shop-Version' };
  if (isUnrouted) return headers;
  if (version === retired) return { ...headers, Deprecation: seconds('2023-09-01'), Sunset: day('2024-05-01') };
  if (version !== older || faults.has('deprecation-not-told')) return headers;
  return {
    ...headers,
    Deprecation: seconds('2025-05-01'),
    Sunset: day(faults.has('sunset-a-year-early') ? '2094-05-01' : '2095-05-01'),
    Link: `<https://corner.example/upgrade>; rel="deprecation", <${request.url}>; rel="successor-version"`,
  };
}

/** A date of RFC 9745, and one of RFC 8594. */
function seconds(date: string): string {
  return `@${Date.parse(date) / 1000}`;
}

function day(date: string): string {
  return new Date(date).toUTCString();
}
