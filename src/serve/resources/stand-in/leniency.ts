import type { Json } from '../../../document/document.ts';
import { pathOf } from '../../../document/pointer.ts';
import { statedValue } from '../../../parts/fact.ts';
import { isBareObject } from '../../../parts/samples/fit.ts';
import type { Samples } from '../../../parts/samples/samples.ts';
import { isPlainMap } from '../../../parts/source.ts';
import type { Exchange, Fields, Value } from '../../exchange/exchange.ts';
import { warn } from '../../exchange/warn.ts';
import { emptyText, type Violation } from '../../http/violation.ts';
import type { Forgive, WithoutNulls } from '../stand-in.ts';
import { isPatch } from './json-patch.ts';
import { isAsOwnExample } from './own-examples.ts';

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
      isOfAny(one, exchange, samples) ||
      isListOfSuch(one, exchange, samples) ||
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
  if (isSaidByPath(violation, exchange)) return true;
  // What a list of changes (RFC 6902) sets is of any type, whatever its generated schema says.
  if (place === 'body' && /^(?:\/[^/]{1,99})?\/\d{1,4}\/value(?:\/|$)/.test(path) && isPatch(request)) return true;
  // A name in a path that cannot be one of its things names none that is there.
  if (place === 'path' || (place === 'query' && found === emptyText)) return true;
  if (unstated.has(found) || expected.startsWith('no such field') || fitsSeveral.test(found)) return true;
  const isShown = caller?.key !== undefined || caller?.claims !== undefined;
  return found === 'nothing' && isShown && isCredential(path.replace(/^\//, ''));
}

/** Whether a body has to say once more what the path says of a thing that is there: `user_id` of `POST /users/{user_id}/deactivate`. */
function isSaidByPath({ in: place, path, found }: Violation, { pathParams }: Exchange): boolean {
  const [name = '', ...deeper] = pathOf(path);
  return place === 'body' && found === 'nothing' && deeper.length === 0 && Object.hasOwn(pathParams, name);
}

/** Whether a list is sent where one such thing is described, and nobody knows what is done with it: several at once. */
function isListOfSuch({ in: place, path, expected }: Violation, { plan, request }: Exchange, samples: Samples): boolean {
  const { endpoint } = plan.operation;
  if (place !== 'body' || path !== '' || expected !== 'an object' || !endpoint || statedValue(endpoint.does)) return false;
  const shape = statedValue(endpoint.request);
  return shape !== undefined && Array.isArray(request) && request.every((one: Value) => samples.of(shape).fits(one));
}

/** Whether the document says of a member of the body no more than that it is an object, as generators write what may be anything. */
function isOfAny({ in: place, path, expected }: Violation, { plan }: Exchange, samples: Samples): boolean {
  const request = plan.operation.endpoint?.request;
  let shape: Json | undefined = place === 'body' && expected === 'an object' && request ? statedValue(request) : undefined;
  for (const name of pathOf(path)) {
    if (!isPlainMap(shape)) return false;
    const members: Readonly<Record<string, Json>> = samples.membersOf(shape);
    shape = Object.hasOwn(members, name) ? members[name] : /^\d+$/.test(name) ? samples.whole(shape).items : undefined;
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
