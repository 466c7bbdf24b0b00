/** The envelope of refusals, and the status of each code. */
import { randomUUID } from 'node:crypto';
import type { House, Refused } from './house.ts';

const statuses: Readonly<Record<string, number>> = {
  BODY_UNREADABLE: 400,
  PARAMETER: 400,
  MEDIA_TYPE: 415,
  NOT_ACCEPTABLE: 406,
  INVALID: 400,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  METHOD: 405,
  NO_SUCH_REFERENCE: 404,
  DUPLICATE: 409,
  ROOM_TAKEN: 409,
  STILL_BOOKED: 423,
  WRONG_STATE: 409,
  CHANGED_MEANWHILE: 412,
  IF_MATCH_NEEDED: 428,
  KEY_REUSED: 422,
  KEY_BUSY: 409,
  CONFLICT: 409,
  TOO_MANY: 429,
  QUOTA: 402,
  TOO_LARGE: 413,
  TIMED_OUT: 408,
  NO_SUCH_VERSION: 404,
  VERSION_GONE: 410,
  UNAVAILABLE: 503,
  BROKEN: 500,
  already_decided: 409,
  too_late: 409,
  too_many_people: 422,
  too_small: 422,
};

export interface ErrorReply {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

export function errorReply({ faults }: House, { code, fields }: Refused): ErrorReply {
  const status = statusOf(code, faults.has('held-is-409'), faults.has('quota-is-429'));
  const told = {
    code: faults.has('codes-in-small-letters') ? code.toLowerCase() : toldCode(code, faults.has('taken-is-duplicate')),
    message: code.toLowerCase().replaceAll('_', ' '),
    ...(!faults.has('request-not-named') && { request: `req_${randomUUID()}` }),
    ...(!faults.has('fields-left-out') || fields.length > 0 ? { fields } : {}),
  };
  const body = faults.has('envelope-flattened') ? told : { error: told };
  if (faults.has('errors-as-html')) return { status, type: 'text/html', text: `<h1>${code}</h1>` };
  return { status, type: 'application/json', text: JSON.stringify(body) };
}

function toldCode(code: string, isShared: boolean): string {
  return code === 'ROOM_TAKEN' && isShared ? 'DUPLICATE' : code;
}

function statusOf(code: string, isHeldOld: boolean, isQuotaOld: boolean): number {
  if (code === 'STILL_BOOKED' && isHeldOld) return 409;
  if (code === 'QUOTA' && isQuotaOld) return 429;
  return statuses[code] ?? 500;
}
