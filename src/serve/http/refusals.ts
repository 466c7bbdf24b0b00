import type { Reply } from './call.ts';
import { STATUS_CODES } from './node-http.ts';

/** Why a door itself turns a request away, before or instead of the answer. */
export type DoorRefusal = 'malformed' | 'headers too large' | 'url too large' | 'timeout' | 'expectation' | 'tunnel' | 'internal';

/** What each is as a refusal, so that it can be given the stated shape (RFC 9110 section 15.5, RFC 6585 section 5). */
export const doorRefusals = {
  malformed: { when: 'request.malformed', status: 400, message: 'This is not a request of HTTP/1.1.' },
  'headers too large': { when: 'limit.size', status: 431, message: 'The headers are too many or too large.' },
  'url too large': { when: 'limit.size', status: 414, message: 'The target of the request is too long.' },
  timeout: { when: 'limit.time', status: 408, message: 'The request did not arrive in time.' },
  expectation: { when: 'request.malformed', status: 417, message: 'No expectation but 100-continue can be met.' },
  tunnel: { when: 'method.unsupported', status: 501, message: 'This is not a proxy.' },
  internal: { when: 'internal', status: 500, message: 'Something went wrong inside the service.' },
} as const satisfies Readonly<Record<DoorRefusal, { readonly when: string; readonly status: number; readonly message: string }>>;

/** Gives a refusal its stated shape; the path is empty where it was not understood. */
export type RefuseRaw = (kind: DoorRefusal, path: string) => Reply;

/** The shape where nobody states one (RFC 9457). */
export function ownDoorReply(kind: DoorRefusal): Reply {
  const { status, message } = doorRefusals[kind];
  const body = JSON.stringify({ type: 'about:blank', title: phrase(status), status, detail: message });
  return { status, headers: { 'content-type': 'application/problem+json' }, body };
}

/** The standard phrase of a status. */
export function phrase(status: number): string {
  return STATUS_CODES[status] ?? 'Error';
}
