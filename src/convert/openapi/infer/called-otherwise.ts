import type { Json } from '../../../document/document.ts';
import { plainName } from '../../../document/nearest.ts';
import { isMap } from '../../../document/values.ts';
import type { SourceOperation } from '../read/operation.ts';
import { endpointOf, type InferenceContext, shapeOfAnswer, successOf } from './context.ts';
import { isNamedCreation } from './creations.ts';
import { pathParts, wordsOfName } from './paths.ts';
import { listIn, type ShownRow } from './rows.ts';
import type { ShapeProperties } from './shapes.ts';

/** A thing whose path calls it otherwise than its fields do, and the field that is meant. */
export interface CalledOtherwise {
  readonly row: ShownRow;
  readonly field: string;
}

/**
 * Things without an `id`, whose path calls them by another word than they do: `/teams/{team}` of what has a `slug`, `/floating_ips/{floating_ip}` of what
 * has an `ip`. They are read, and changed or deleted, at that path and made at the one before it; the field is shown by
 * what reads one, and sent or shown where one is made.
 */
export function calledOtherwise(
  context: InferenceContext,
  ofOne: readonly SourceOperation[],
  together: readonly SourceOperation[],
  parameter: string,
  noun: string,
): CalledOtherwise | undefined {
  const reading = ofOne.find(({ method }) => method === 'GET');
  const making = together.find(({ method }) => method === 'POST') ?? together.find(isNamedCreation);
  const isKept = ofOne.some(({ method }) => ['PUT', 'PATCH', 'DELETE'].includes(method));
  if (!reading || !making || !isKept) return undefined;
  const { written } = context;
  const shown = answerOf(context, reading);
  if (listIn(written, shown, undefined)?.property === undefined && written.itemsOf(shown) !== undefined) return undefined;
  const made = formsOf(context, answerOf(context, making), noun).flatMap(({ properties }) => Object.keys(properties.all));
  const sent = Object.keys(written.propertiesOf(endpointOf(context, making).request)?.all ?? {});
  const schema = reading.parameters.find((one) => one.in === 'path' && one.name === parameter)?.schema.value;
  const type = isMap(schema) && typeof schema.type === 'string' ? schema.type : undefined;
  const found = formsOf(context, shown, noun).flatMap(({ shape, wrapper, properties }): CalledOtherwise[] => {
    const known = fieldsFor(context, properties, type).filter((name) => made.includes(name) || sent.includes(name));
    const own = known.filter((name) => !isOfOwner(name, reading.path));
    const field = meantField(own, parameter, noun) ?? acknowledged(context, making, own);
    if (field === undefined) return [];
    return [{ row: { resource: written.resourceOf(shape), shape, ...(wrapper !== undefined && { wrapper }) }, field }];
  });
  return found.length === 1 ? found[0] : undefined;
}

function answerOf(context: InferenceContext, operation: SourceOperation): Json | undefined {
  const endpoint = endpointOf(context, operation);
  return shapeOfAnswer(endpoint, successOf(endpoint));
}

interface Form {
  readonly shape: Json;
  readonly wrapper?: string;
  readonly properties: ShapeProperties;
}

/** The thing that an answer may be: the map in it that is called so, or the one that it has beside a few words; else the answer itself. */
function formsOf({ written }: InferenceContext, shape: Json | undefined, noun: string): readonly Form[] {
  const properties = written.propertiesOf(shape);
  if (shape === undefined || properties === undefined) return [];
  const inner = Object.entries(properties.all).flatMap(([wrapper, one]): Form[] => {
    const held = written.itemsOf(one) === undefined ? written.propertiesOf(one) : undefined;
    return held && Object.keys(held.all).length > 0 ? [{ shape: one, wrapper, properties: held }] : [];
  });
  const called = inner.filter(({ wrapper = '' }) => plainName(wrapper) === plainName(noun) || envelopes.test(wrapper));
  if (called.length === 1) return called;
  const isEnvelope = inner.length === 1 && Object.keys(properties.all).length <= besidesMost;
  return isEnvelope ? inner : [{ shape, properties }];
}

const envelopes = /^(?:data|results?|item|response)$/i;
/** So many members has an answer at most that holds its thing in one that is called anything. */
const besidesMost = 3;

/** The members that may tell one thing from another: words and numbers, of the type that the path asks for. */
function fieldsFor({ written }: InferenceContext, { all }: ShapeProperties, type: string | undefined): readonly string[] {
  return Object.keys(all).filter((name) => {
    const own = written.typeOf(all[name]);
    const isNumber = own === 'integer' || own === 'number';
    if (written.expand(all[name]).enum !== undefined) return false;
    return type === 'integer' || type === 'number' ? isNumber : isNumber || own === 'string';
  });
}

/** `repo_name` below `/repos/{owner}/{repo}`: said of what the thing is below. */
function isOfOwner(name: string, path: string): boolean {
  const [first = '', ...others] = plainWords(name);
  const owners = pathParts(path)
    .parameters.slice(0, -1)
    .map((one) => plainWords(one)[0]);
  return others.length > 0 && owners.includes(first);
}

/**
 * The field that a parameter means: one that ends as the parameter does, or with which the parameter ends; one that is called after the thing; one by which
 * people call such things; the only one that is called an identifier.
 */
function meantField(fields: readonly string[], parameter: string, noun: string): string | undefined {
  const words = plainWords(parameter);
  const things = [words.filter((word) => word !== 'id').join(''), plainName(noun)].filter((word) => word !== '');
  // A key has its number, which it does not tell.
  const own = words.at(-1) === 'id' ? fields.filter((name) => name !== 'key') : fields;
  const only = (names: readonly string[]) => (names.length === 1 ? names[0] : undefined);
  const isEnd = (name: string) => {
    const said = plainWords(name);
    const [longer, shorter] = said.length > words.length ? [said, words] : [words, said];
    return shorter.length > 0 && shorter.join() !== 'id' && longer.slice(-shorter.length).join() === shorter.join();
  };
  const isCalled = (name: string) => things.some((thing) => plainName(name) === thing || plainName(name) === `${thing}name`);
  return (
    only(own.filter(isEnd)) ??
    only(own.filter(isCalled)) ??
    callNames.find((name) => own.includes(name)) ??
    only(own.filter((name) => plainWords(name).at(-1) === 'id')) ??
    only(own.filter((name) => globalNames.has(plainWords(name).at(-1) ?? '')))
  );
}

/** Names that are good everywhere, which some things have and no other. */
const globalNames: ReadonlySet<string> = new Set(['arn', 'urn']);

/**
 * `{ code, message, customer_code }`, where `/profiles` makes a profile that has a `customer_code`: the one text of the thing that an answer of few members says,
 * which nobody has sent, beside what it says of how it went.
 */
function acknowledged(context: InferenceContext, making: SourceOperation, fields: readonly string[]): string | undefined {
  const { written } = context;
  const all = written.propertiesOf(answerOf(context, making))?.all ?? {};
  const sent = Object.keys(written.propertiesOf(endpointOf(context, making).request)?.all ?? {});
  const said = Object.keys(all).filter((name) => !outcomes.has(plainName(name)));
  const [only, ...others] = said.filter(
    (name) => fields.includes(name) && !sent.includes(name) && written.typeOf(all[name]) === 'string',
  );
  const isFew = Object.keys(all).length <= acknowledgedMost && said.length <= 2;
  return isFew && only !== undefined && others.length === 0 && naming.test(only) ? only : undefined;
}

const acknowledgedMost = 5;
/** What answers say of how it went. */
const outcomes: ReadonlySet<string> = new Set([
  'code',
  'message',
  'status',
  'success',
  'ok',
  'error',
  'errors',
  'result',
  'statuscode',
  'statusmessage',
  'requestid',
  'timestamp',
]);
/** How a member is called that names something. */
const naming = /(?:code|number|no|num|ref|reference|key|token|handle|id|name)$/i;

const plainWords = (name: string): string[] => wordsOfName(name).map((word) => word.toLowerCase());

/** By these people call things that have no identifier; each before those that are less often one thing's alone. */
const callNames = ['slug', 'key', 'login', 'username', 'userName', 'handle', 'name'];
