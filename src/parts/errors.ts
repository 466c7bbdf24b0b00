import type { Json, Pointer } from '../document/document.ts';
import type { Expression, Fact, Named, Unstated } from './fact.ts';
import { readShape } from './read-shape.ts';
import type { Shape } from './shape.ts';
import { named, type Source } from './source.ts';

/** The closed list of conditions that an error can answer. */
export const conditions = [
  'request.malformed',
  'request.media',
  'request.accept',
  'request.parameter',
  'request.invalid',
  'route.unknown',
  'method.unsupported',
  'caller.unknown',
  'caller.forbidden',
  'resource.missing',
  'resource.exists',
  'reference.missing',
  'reference.held',
  'transition.illegal',
  'precondition.failed',
  'precondition.required',
  'idempotency.reused',
  'idempotency.busy',
  'write.conflict',
  'limit.rate',
  'limit.quota',
  'limit.size',
  'limit.page',
  'limit.time',
  'version.unknown',
  'version.sunset',
  'service.unavailable',
  'internal',
] as const;
export type ErrorCondition = (typeof conditions)[number];

/** Part 7: what a refusal looks like and when which one is given. */
export interface Errors {
  readonly at: Pointer;
  readonly payload: Fact<ErrorPayload>;
  readonly codes: Fact<Named<ErrorCode>>;
  readonly others?: Unstated;
}

/** RFC 9457, or an own shape made by CEL over code, status, message, path, violations, request_id and the code's constants. */
export type ErrorPayload = 'problem' | { readonly shape: Fact<Shape>; readonly data: Named<Expression> | Expression };

export interface ErrorCode {
  readonly name: string;
  readonly at: Pointer;
  readonly rules: readonly ErrorRule[];
  /** Constants that the payload's `data` reads. */
  readonly constants: Named<Json>;
}

/** One way in which a code arises. A rule without `when` and `if` is answered only where another part names its code. */
export interface ErrorRule {
  readonly at: Pointer;
  readonly status: Fact<number>;
  readonly when: Fact<readonly string[]>;
  /** The operations it is for; absent = all. */
  readonly on?: readonly string[];
  /** The service's own condition. */
  readonly if?: Expression;
  readonly message?: string;
}

const ruleWords = ['status', 'when', 'on', 'if', 'message'] as const;

export function readErrors(source: Source): Errors {
  const codes = source.get('codes');
  const others = codes.has('others') ? codes.get('others').unstated() : undefined;
  return {
    at: source.at,
    payload: source.get('payload').fact(readPayload),
    codes: codes.fact((value) =>
      named(
        value
          .entries()
          .filter(([name]) => name !== 'others')
          .map(([name, entry]) => [name, readCode(name, entry)] as const),
      ),
    ),
    ...(others && { others }),
  };
}

function readPayload(source: Source): ErrorPayload | undefined {
  if (source.text() === 'problem') return 'problem';
  if (!source.isMap) return undefined;
  const data = source.get('data');
  return {
    shape: source.get('shape').fact((value) => readShape(value)),
    data: data.isMap ? data.expressions() : (data.expression() ?? named([])),
  };
}

function readCode(name: string, source: Source): ErrorCode {
  const rules = Array.isArray(source.value) ? source.items() : [source];
  const constants = rules.flatMap((rule) => rule.entries().filter(([key]) => !(ruleWords as readonly string[]).includes(key)));
  return {
    name,
    at: source.at,
    rules: rules.map(readRule),
    constants: named(constants.map(([key, value]) => [key, value.value as Json] as const)),
  };
}

function readRule(source: Source): ErrorRule {
  const condition = source.get('if').expression();
  const message = source.get('message').text();
  return {
    at: source.at,
    status: source.get('status').fact((value) => value.number(), 'tags only'),
    when: source.get('when').fact((value) => value.words()),
    ...(source.has('on') && { on: source.get('on').words() }),
    ...(condition && { if: condition }),
    ...(message !== undefined && { message }),
  };
}

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
