/** The closed list of conditions that an error can answer, without the narrower ones below them. */
const generalConditions = [
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
  'resource.gone',
  'resource.moved',
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
type GeneralCondition = (typeof generalConditions)[number];

/** Narrower conditions, each with the general one below which it stands: where no code is stated for it, the general one's answers. */
const generalOf = {
  'request.missing': 'request.malformed',
  'request.untyped': 'request.media',
  'request.invalid.missing': 'request.invalid',
  'request.invalid.unknown': 'request.invalid',
  'request.invalid.type': 'request.invalid',
  'request.invalid.value': 'request.invalid',
  'request.invalid.read_only': 'request.invalid',
  'caller.unknown.missing': 'caller.unknown',
  'caller.unknown.bad': 'caller.unknown',
  'caller.unknown.expired': 'caller.unknown',
  'caller.forbidden.user': 'caller.forbidden',
  'caller.forbidden.scope': 'caller.forbidden',
  'caller.forbidden.row': 'caller.forbidden',
  'transition.illegal.state': 'transition.illegal',
  'transition.illegal.condition': 'transition.illegal',
  'limit.size.url': 'limit.size',
  'limit.size.headers': 'limit.size',
} as const satisfies Readonly<Record<string, GeneralCondition>>;
type NarrowCondition = keyof typeof generalOf;

export type ErrorCondition = GeneralCondition | NarrowCondition;

/** The closed list of conditions that an error can answer. */
// The casts hold: the keys of the table are its own.
export const conditions: readonly ErrorCondition[] = [...generalConditions, ...(Object.keys(generalOf) as NarrowCondition[])];

/** Whether a word is one of the list. */
export function isCondition(word: string): word is ErrorCondition {
  return (conditions as readonly string[]).includes(word);
}

/** Whether a condition stands below another one. */
export function isNarrow(condition: ErrorCondition): condition is NarrowCondition {
  return Object.hasOwn(generalOf, condition);
}

/** The general one that a condition stands below, or itself. */
export function generalCondition(condition: ErrorCondition): GeneralCondition {
  return isNarrow(condition) ? generalOf[condition] : condition;
}

/** Those whose narrower conditions are all the ways there are of them: where each has a code, the general one is never given. */
const wholes: ReadonlySet<GeneralCondition> = new Set<GeneralCondition>([
  'request.invalid',
  'caller.unknown',
  'caller.forbidden',
  'transition.illegal',
]);

/** The narrower conditions that a general one comes apart into; nothing where it has cases of its own besides. */
export function partsOf(condition: ErrorCondition): readonly ErrorCondition[] {
  return isNarrow(condition) || !wholes.has(condition) ? [] : narrowerOf(condition);
}

/** The narrower conditions below a general one. */
export function narrowerOf(condition: ErrorCondition): readonly ErrorCondition[] {
  return conditions.filter((one) => isNarrow(one) && generalOf[one] === condition);
}

/** HTTP's own status of a condition, and what it means to a client, where the document gives no code for it. */
export function ownAnswer(condition: ErrorCondition): { readonly status: number; readonly message: string } {
  const general = generalCondition(condition);
  return { status: ownStatus[general], message: narrowMessage[condition] ?? ownMessage[general] };
}

/** What a narrower condition means to a client, where the general words say less. */
const narrowMessage: Readonly<Partial<Record<ErrorCondition, string>>> = {
  'request.missing': 'A body is needed.',
  'request.untyped': 'The body needs a Content-Type.',
  'request.invalid.missing': 'Something that is needed is missing in the body.',
  'request.invalid.unknown': 'The body has something that is not known here.',
  'request.invalid.type': 'Something in the body is of another type.',
  'request.invalid.value': 'A value in the body is not allowed.',
  'request.invalid.read_only': 'The body has something that is not for its caller to write.',
  'transition.illegal.condition': 'Its condition does not hold.',
  'limit.size.url': 'The target of the request is too long.',
  'limit.size.headers': 'The headers are too large.',
};

/** HTTP's own status for each condition, which stands where no code is stated for it (RFC 9110 section 15, RFC 6585). */
const ownStatus: Readonly<Record<GeneralCondition, number>> = {
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
  'resource.gone': 410,
  'resource.moved': 308,
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
const ownMessage: Readonly<Record<GeneralCondition, string>> = {
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
  'resource.gone': 'It was deleted.',
  'resource.moved': 'It is at another address by now.',
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
