import type { Authentication } from '../../parts/authentication.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { statedValue } from '../../parts/fact.ts';
import type { Call } from '../http/call.ts';

/** Methods that change nothing (RFC 9110 section 9.2.1, RFC 10008). */
const safe = new Set(['GET', 'HEAD', 'OPTIONS', 'QUERY']);
const looking = new Set(['read', 'list', 'handler', 'reply']);

/** Whether a call may change something: by its method, or by what the endpoint does. */
export function isWrite({ method }: Call, endpoint: Endpoint | undefined): boolean {
  const verb = endpoint && statedValue(endpoint.does)?.verb;
  return !safe.has(method) || (verb !== undefined && !looking.has(verb));
}

/**
 * Whether a browser sends a call on behalf of another site: by `Sec-Fetch-Site` (W3C Fetch Metadata), where a browser is too
 * old for it by `Origin` against `Host`. What neither header is on does not come from a browser's page. The stated origins may.
 */
export function isCrossSite({ headers }: Call, origins: ReadonlySet<string>): boolean {
  const { origin, host } = headers;
  const site = headers['sec-fetch-site'];
  if (site === 'same-origin' || site === 'none') return false;
  if (site === undefined && origin === undefined) return false;
  if (typeof origin === 'string' && origins.has(origin.toLowerCase())) return false;
  return site !== undefined || typeof origin !== 'string' || hostOf(origin) !== host?.toString().toLowerCase();
}

function hostOf(origin: string): string | undefined {
  const match = /^https?:\/\/([^/]+)$/i.exec(origin);
  return match?.[1]?.toLowerCase();
}

/** The origins that a document states, as browsers write them. */
export function statedOrigins({ origins }: Authentication): ReadonlySet<string> {
  return new Set((statedValue(origins) ?? []).map((origin) => origin.toLowerCase()));
}
