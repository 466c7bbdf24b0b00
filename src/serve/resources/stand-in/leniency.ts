import type { Json } from '../../../document/document.ts';
import { pathOf } from '../../../document/pointer.ts';
import { statedValue } from '../../../parts/fact.ts';
import { isBareObject } from '../../../parts/samples/fit.ts';
import type { Samples } from '../../../parts/samples/samples.ts';
import type { Shape } from '../../../parts/shape.ts';
import { isPlainMap } from '../../../parts/source.ts';
import type { Exchange, Fields, Value } from '../../exchange/exchange.ts';
import { warn } from '../../exchange/warn.ts';
import { emptyText, type Violation } from '../../http/violation.ts';
import { isFields } from '../body.ts';
import type { Forgive, WithoutNulls } from '../stand-in.ts';
import { isPatch } from './json-patch.ts';
import { isVersion } from './version-words.ts';

/** What of a body passes though it breaks its shape: what the names and types of clients are known to do, and what the document's own examples do. */

/**
 * Compiles which violations pass. Vendors' own clients send what their documents do not name, since they are newer, leave out a
 * required `token` since they show it as a credential, and send what fits several forms of which exactly one is to fit. With `--strict` none passes.
 */
export function compileForgive(isStrict: boolean, samples: Samples): Forgive {
  if (isStrict) return (_exchange, violations) => violations;
  return (exchange, violations) => {
    if (violations.length === 0) return violations;
    const isPassed = (one: Violation) =>
      isForgiven(one, exchange) ||
      isOtherVersion(one) ||
      isOfAny(one, exchange, samples) ||
      isListOfSuch(one, exchange, samples) ||
      isOneOfSuch(one, exchange, samples) ||
      isMadeWithin(one, exchange, samples) ||
      isNamedAlone(one, exchange) ||
      isShownSo(one, exchange, samples);
    const rest = violations.filter((violation) => !isPassed(violation));
    if (rest.length === 0) warn(exchange, violations.map(wordsFor));
    return rest;
  };
}

/** Compiles the taking away of members that are null and may not be: clients write so what they do not send. Told are their names. */
export function compileWithoutNulls(isStrict: boolean): WithoutNulls {
  if (isStrict) return () => [];
  return (value, violations) => violations.filter(({ found, path }) => found === 'null' && isTaken(value, pathOf(path)));
}

function isTaken(value: Value, path: readonly string[]): boolean {
  let holder = value;
  for (const name of path.slice(0, -1)) {
    // What is neither null nor a list is a map; a list has its items by their numbers.
    holder = isPlain(holder) && Object.hasOwn(holder, name) ? holder[name] : undefined;
  }
  const last = path.at(-1);
  return last !== undefined && isPlain(holder) && delete holder[last];
}

function isPlain(value: Value): value is Fields {
  return typeof value === 'object' && value !== null && !(value instanceof Uint8Array);
}

/** The warnings as a header carries them. */
export function warningHeader(warnings: readonly string[]): string {
  return warnings
    .slice(0, toldMost)
    .join(', ')
    .toWellFormed()
    .replaceAll(/[^\x20-\x7e]/gu, encodeURIComponent);
}

const toldMost = 20;

function isForgiven(violation: Violation, exchange: Exchange): boolean {
  const { in: place, path, found, expected } = violation;
  const { caller, request } = exchange;
  if (isSaidBefore(violation, exchange) || isFormAsText(violation, exchange) || isLeftAsItIs(violation, exchange)) return true;
  // What a list of changes (RFC 6902) sets is of any type, whatever its generated schema says.
  if (place === 'body' && /^(?:\/[^/]{1,99})?\/\d{1,4}\/value(?:\/|$)/.test(path) && isPatch(request)) return true;
  // A name in a path that cannot be one of its things names none that is there.
  if (place === 'path' || (place === 'query' && found === emptyText)) return true;
  if (unstated.has(found) || expected.startsWith('no such field') || fitsSeveral.test(found)) return true;
  if (isTimeOtherwise(violation)) return true;
  const isShown = caller?.key !== undefined || caller?.claims !== undefined;
  return found === 'nothing' && isShown && isCredential(path.replace(/^\//, ''));
}

/** Whether a moment or a day is written otherwise than RFC 3339 has it: with a space, an offset without its colon or none, without seconds, a day with its hour. */
function isTimeOtherwise({ found, expected }: Violation): boolean {
  const [, sent] = /^"(\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)? ?(?:Z|UTC|[+-]\d\d:?\d\d)?)?)"$/.exec(found) ?? [];
  return sent !== undefined && /^a date(?: and time)? such as /.test(expected) && Number.isFinite(Date.parse(sent.slice(0, 10)));
}

/** Whether a parameter that is there to say the one version of the interface says another: the client is newer, or older. */
function isOtherVersion({ in: place, path, found, expected }: Violation): boolean {
  if (place !== 'query' && place !== 'header') return false;
  const [, sent = ''] = /^"([^"]{1,40})"$/.exec(found) ?? [];
  const [, stated = ''] = /^exactly "([^"]{1,40})"$/.exec(expected) ?? [];
  return /version/i.test(path) && isVersion(sent) && isVersion(stated);
}

/** Whether a body has to say once more what the path or a stated parameter of the query says: `user_id` of `POST /users/{user_id}/deactivate`, `ids` of `PUT /following?ids=`. */
function isSaidBefore({ in: place, path, found }: Violation, { pathParams, params }: Exchange): boolean {
  const [name = '', ...deeper] = pathOf(path);
  const isSaid = Object.hasOwn(pathParams, name) || (Object.hasOwn(params, name) && params[name] !== undefined);
  return place === 'body' && found === 'nothing' && deeper.length === 0 && isSaid;
}

/** Whether a form is sent where its description says that the whole of it is a text, as it is before it is taken apart: which fields it has is open. */
function isFormAsText({ in: place, path, expected }: Violation, { plan, request }: Exchange): boolean {
  const types = plan.operation.endpoint?.consumes ?? [];
  const isOfForms =
    types.length > 0 && types.every((type) => /^(?:application\/x-www-form-urlencoded|multipart\/form-data)\b/i.test(type));
  return place === 'body' && path === '' && expected === 'a string' && isOfForms && isFields(request);
}

/**
 * Whether a PATCH that changes a thing leaves out what the body has to have: what is not sent stays (RFC 5789). Of 138 makers whose descriptions change things
 * so, 55 require members there, as those of the whole thing. In a list there is nothing that could stay.
 */
function isLeftAsItIs({ in: place, path, found }: Violation, { call, plan }: Exchange): boolean {
  const effect = plan.operation.endpoint && statedValue(plan.operation.endpoint.does);
  const isWithin = place === 'body' && found === 'nothing' && path !== '' && !pathOf(path).some((step) => /^\d+$/.test(step));
  return isWithin && call.method === 'PATCH' && effect?.verb === 'update';
}

/** Whether a thing inside is named by its `id` alone, where its whole shape is described: what refers to it need not say the rest of it. */
function isNamedAlone({ in: place, path, found }: Violation, { request }: Exchange): boolean {
  const steps = pathOf(path);
  if (place !== 'body' || found !== 'nothing' || steps.length < 2) return false;
  let holder: Value = request;
  for (const step of steps.slice(0, -1)) {
    if (Array.isArray(holder)) holder = holder[Number(step)];
    else holder = isFields(holder) && Object.hasOwn(holder, step) ? holder[step] : undefined;
  }
  return isFields(holder) && typeof holder.id === 'string' && Object.keys(holder).length === 1;
}

/** Whether a list is sent where one such thing is described, and nobody knows what is done with it: several at once. */
function isListOfSuch({ in: place, path, expected }: Violation, { plan, request }: Exchange, samples: Samples): boolean {
  const { endpoint } = plan.operation;
  if (place !== 'body' || path !== '' || expected !== 'an object' || !endpoint || statedValue(endpoint.does)) return false;
  const shape = statedValue(endpoint.request);
  return shape !== undefined && Array.isArray(request) && request.every((one: Value) => samples.of(shape).fits(one));
}

/** Whether one thing is sent where a list of such is described: what takes many takes one. */
function isOneOfSuch({ in: place, path, expected }: Violation, { plan, request }: Exchange, samples: Samples): boolean {
  const stated = place === 'body' && path === '' && expected === 'a list' ? plan.operation.endpoint?.request : undefined;
  const shape = stated && statedValue(stated);
  const items = shape && samples.whole(shape).items;
  return isPlainMap(items) && isPlain(request) && samples.of(items).fits(request);
}

/**
 * Whether a thing within a body lacks the identifier that it has to have, where answers show such things in the same shape: the service
 * makes it. A map of which nothing else was sent names a thing that is there.
 */
function isMadeWithin({ in: place, path, found }: Violation, { plan, request }: Exchange, samples: Samples): boolean {
  const { endpoint } = plan.operation;
  const way = pathOf(path);
  const [first, last] = [way[0], way.at(-1)];
  if (place !== 'body' || found !== 'nothing' || way.length < 2 || !endpoint || !isOwnName(last ?? '')) return false;
  const holder = way.slice(0, -1).reduce<Value | undefined>(memberAt, request);
  if (!isPlain(holder) || Object.keys(holder).length === 0) return false;
  const membersAt = (shape: Shape | undefined) => JSON.stringify(shape && samples.membersOf(shape)[first ?? '']);
  const sent = membersAt(statedValue(endpoint.request));
  const answers = (statedValue(endpoint.response) ?? []).filter(({ status }) => /^2/.test(status));
  return sent !== undefined && answers.some(({ shape }) => membersAt(statedValue(shape)) === sent);
}

/** What a thing is told from others by, or says of which kind it is. */
function isOwnName(name: string): boolean {
  return /^(?:_?id|uu?id|guid|type|object|kind)$/i.test(name);
}

/** Whether the document says of a member of the body no more than that it is an object, as generators write what may be anything. */
function isOfAny({ in: place, path, expected }: Violation, { plan }: Exchange, samples: Samples): boolean {
  const request = plan.operation.endpoint?.request;
  let shape: Json | undefined = place === 'body' && expected === 'an object' && request ? statedValue(request) : undefined;
  for (const name of pathOf(path)) {
    if (!isPlainMap(shape)) return false;
    const members: Readonly<Record<string, Json>> = samples.membersOf(shape);
    const { items, additionalProperties } = samples.whole(shape);
    shape = Object.hasOwn(members, name)
      ? members[name]
      : /^\d+$/.test(name) && items !== undefined
        ? items
        : additionalProperties;
  }
  return path !== '' && shape !== undefined && isBareObject(shape);
}

/** Whether the document's own example of the body, or of what is in it, breaks its shape in the same way. */
function isShownSo(violation: Violation, { plan, request }: Exchange, samples: Samples): boolean {
  const stated = plan.operation.endpoint?.request;
  const shape = stated && statedValue(stated);
  return shape !== undefined && isAsOwnExample(violation, request, shape, samples);
}

/** What violations say of something that the document does not name. */
const unstated: ReadonlySet<string> = new Set(['a field that is not stated', 'a parameter that is not stated']);

/** What is said of a value that more of the forms than one admit, where exactly one has to: forms that overlap are their author's. */
const fitsSeveral = /^a value that fits \d+ of them$/;

/** The names under which documents ask for the credential of a scheme once more. */
function isCredential(name: string): boolean {
  return /^(?:(?:access|auth|api|bot|user)?[_-]?token|api[_-]?key|authorization)$/i.test(name);
}

function wordsFor({ in: place, path, found, expected }: Violation): string {
  const name = path.replace(/^\//, '');
  if (place === 'path') return `path ${name} does not have its stated shape`;
  if (found === emptyText) return `${place} ${name} is empty`;
  if (fitsSeveral.test(found)) return `${place} ${name} fits more of its forms than one`.replace('  ', ' ');
  if (expected === 'an object') return `${place} ${name} is no object`.replace('  ', ' ');
  return found === 'nothing' ? `${place} ${name} is required and was not sent` : `${place} ${name} is not stated`;
}

/**
 * Whether a body breaks its shape just as an example or default breaks it that the shape itself states: what is left out there is left out in it too, or is of the
 * same other type. Who writes such a shape means what the example shows, and so does whoever reads it.
 */
function isAsOwnExample(violation: Violation, request: Value, shape: Shape, samples: Samples): boolean {
  if (violation.in !== 'body' || !(violation.found === 'nothing' || ofType.test(violation.expected))) return false;
  const path = pathOf(violation.path);
  let holder: Json | undefined = shape;
  let sent: Value | undefined = request;
  for (let at = 0; at <= path.length; at++) {
    if (!isPlainMap(holder)) return false;
    const rest = path.slice(at);
    for (const shown of shownBy(samples.whole(holder))) {
      if (isAlike(sent, shown) && !samples.of(holder).fits(shown) && isSameAt(sent, shown, rest)) return true;
    }
    const name: string | undefined = path[at];
    if (name === undefined) return false;
    const members: Readonly<Record<string, Json>> = samples.membersOf(holder);
    holder = Object.hasOwn(members, name) ? members[name] : /^\d+$/.test(name) ? samples.whole(holder).items : undefined;
    sent = memberAt(sent, name);
  }
  return false;
}

/** A type that was expected, and no bound. */
const ofType = /^(?:an? (?:string|number|integer|object|array|list|boolean)|true or false)$/;

function shownBy({ example, examples, default: usual }: Shape): Json[] {
  return [example, usual, ...(Array.isArray(examples) ? examples : [])].filter((one) => one !== undefined && one !== null);
}

/** A list as the other is, or a map whose names all are the other's. */
function isAlike(sent: Value | undefined, shown: Json): boolean {
  if (Array.isArray(shown)) return Array.isArray(sent);
  if (!isPlainMap(shown) || kindOf(sent) !== 'object') return false;
  const names = Object.keys(sent as object);
  return names.length > 0 && names.every((name) => Object.hasOwn(shown, name));
}

/** Whether both have nothing at a path, or values of one type there; any item of a list stands for those it has more of. */
function isSameAt(sent: Value | undefined, shown: Json, path: readonly string[]): boolean {
  let [one, other]: [Value | undefined, Value | undefined] = [sent, shown as Value];
  for (const name of path) {
    one = memberAt(one, name);
    other = Array.isArray(other) ? (other[Number(name)] ?? other[0]) : memberAt(other, name);
  }
  return kindOf(one) === kindOf(other);
}

function memberAt(holder: Value | undefined, name: string): Value | undefined {
  if (typeof holder !== 'object' || holder === null || !Object.hasOwn(holder, name)) return undefined;
  return (holder as Readonly<Record<string, Value>>)[name];
}

function kindOf(value: Value | undefined): string {
  return Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value;
}
