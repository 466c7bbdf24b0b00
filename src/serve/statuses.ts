import type { ErrorCondition } from '../parts/errors.ts';
import { STATUS_CODES } from './node-http.ts';

/** HTTP's own status for each condition, which stands where no code is stated for it (RFC 9110 section 15, RFC 6585). */
export const ownStatus: Readonly<Record<ErrorCondition, number>> = {
  'request.malformed': 400,
  'request.media': 415,
  'request.accept': 406,
  'request.parameter': 400,
  'request.invalid': 422,
  'route.unknown': 404,
  'method.unsupported': 405,
  'caller.unknown': 401,
  'caller.forbidden': 403,
  'resource.missing': 404,
  'resource.exists': 409,
  'reference.missing': 422,
  'reference.held': 409,
  'transition.illegal': 409,
  'precondition.failed': 412,
  'precondition.required': 428,
  'idempotency.reused': 422,
  'idempotency.busy': 409,
  'write.conflict': 409,
  'limit.rate': 429,
  'limit.quota': 429,
  'limit.size': 413,
  'limit.page': 400,
  'limit.time': 503,
  'version.unknown': 400,
  'version.sunset': 410,
  'service.unavailable': 503,
  internal: 500,
};

/** What a condition means to a client, where the document gives no message. */
export const ownMessage: Readonly<Record<ErrorCondition, string>> = {
  'request.malformed': 'The body cannot be read.',
  'request.media': 'The media type of the body is not taken here.',
  'request.accept': 'None of the media types that are accepted can be given.',
  'request.parameter': 'A parameter is not right.',
  'request.invalid': 'The body does not have the right shape.',
  'route.unknown': 'There is nothing under this path.',
  'method.unsupported': 'This path does not take this method.',
  'caller.unknown': 'A valid credential is needed.',
  'caller.forbidden': 'This caller may not do this.',
  'resource.missing': 'There is no such thing.',
  'resource.exists': 'Another one holds this value already.',
  'reference.missing': 'Something that the request refers to does not exist.',
  'reference.held': 'Something else still refers to it.',
  'transition.illegal': 'Its state does not allow this.',
  'precondition.failed': 'It has changed since it was read.',
  'precondition.required': 'An If-Match header is needed.',
  'idempotency.reused': 'This idempotency key was used for another request.',
  'idempotency.busy': 'A request with this idempotency key is under way.',
  'write.conflict': 'Others changed the same things at the same time; try again.',
  'limit.rate': 'Too many requests.',
  'limit.quota': 'The quota is used up.',
  'limit.size': 'The request is too large.',
  'limit.page': 'The page that is asked for cannot be given.',
  'limit.time': 'It took too long.',
  'version.unknown': 'There is no such version.',
  'version.sunset': 'This version is no longer served.',
  'service.unavailable': 'The service cannot answer now.',
  internal: 'Something went wrong inside the service.',
};

/** The standard phrase of a status. */
export function phrase(status: number): string {
  return STATUS_CODES[status] ?? 'Error';
}
