import type { Json } from '../../../document/document.ts';
import { below } from '../../../document/pointer.ts';
import { isMap, newMap, type OpenMap } from '../../../document/values.ts';
import type { SourceOperation } from '../read/operation.ts';
import { made } from '../read/reader.ts';
import { type Collection, endpointOf, type InferenceContext, type InferenceRule, shapeOfAnswer, successOf } from './context.ts';
import { pathParts, shapeOfPath, wholeParameter } from './paths.ts';
import { documentFields, isAnyMap } from './rows.ts';

/** An operation whose answer may show what a path is about, and how it does. */
export type ShowingOperation = readonly [SourceOperation, (shape: Json | undefined) => Json | undefined];

/**
 * Things that show no identifier, and their own address instead: `uri: /videos/258684937`, below `/videos/{video}`. What ends the address is
 * the identifier, which is kept beside it and not shown.
 */
export function addressedResource(
  context: InferenceContext,
  candidates: readonly ShowingOperation[],
  parameter: string,
  noun: string,
  isDeletable: boolean,
): string | undefined {
  // What nobody can make or change need not be told apart: an example of it is as good.
  if (candidates.every(([{ method }]) => method === 'GET') && !isDeletable) return undefined;
  for (const [operation, narrow] of candidates) {
    const endpoint = endpointOf(context, operation);
    const shape = narrow(shapeOfAnswer(endpoint, successOf(endpoint)));
    const address = shape === undefined ? undefined : addressIn(context, shape, placesOf(operation.path, parameter));
    if (address === undefined) continue;
    return namedInPath(
      context,
      shape,
      parameter,
      noun,
      operation,
      /^\d+$/.test(address.segments.at(-1) ?? '') ? 'integer' : 'string',
    );
  }
  return undefined;
}

/** What the address of a new thing is, so that whoever follows it finds the thing. */
export const addressOfThing: InferenceRule = {
  name: 'address-of-thing',
  says: 'A text that is called an address (`uri`, `url`, `href`, `self`), whose example is the path of such a thing, ends with the identifier of its own, where the thing shows none.',
  infer(context) {
    for (const collection of context.collections.values()) setAddress(context, collection);
  },
};

function setAddress(context: InferenceContext, { path, parameter, resource: name }: Collection): void {
  const { resources, byPath, trail } = context;
  const resource = resources[name];
  const fields = documentFields(resources, name);
  if (!isMap(resource) || !isMap(resource.identifier) || resource.identifier.field !== parameter) return;
  const identifier = fields[parameter];
  if (!isMap(identifier) || identifier.visible !== 'none') return;
  const whole = byPath.get(`${path}/{}`)?.[0]?.path;
  const address = whole === undefined ? undefined : addressIn(context, name, placesOf(whole, parameter));
  const shape = address && fields[address.field];
  if (address === undefined || whole === undefined || (isMap(shape) && shape.set !== undefined)) return;
  const words = isMap(shape) ? shape : { type: shape ?? 'string' };
  made(fields)[address.field] = { ...words, set: { create: expressionOf(address, whole, fields, parameter) } };
  const at = below(below(below('/resources', name), 'fields'), address.field);
  trail.infer(below(at, 'set'), addressOfThing.name, trail.origin(at) ?? '', 0.7);
}

/** The address of a thing as a text made of its identifier, and of what it is below where that is known of it. */
function expressionOf(address: Address, path: string, fields: Readonly<Record<string, Json>>, parameter: string): string {
  const places = new Map<string, string>();
  for (const [index, segment] of pathParts(path).segments.entries()) {
    const name = wholeParameter(segment);
    const before = pathParts(path).segments[index - 1];
    if (name !== undefined && before !== undefined) places.set(before, name);
  }
  const texts: string[] = [];
  let text = address.start;
  for (const [index, segment] of address.segments.entries()) {
    const isLast = index === address.segments.length - 1;
    const name = isLast ? parameter : places.get(address.segments[index - 1] ?? '');
    text += '/';
    if (name === undefined || !Object.hasOwn(fields, name) || !/^[A-Za-z_]\w*$/.test(name)) {
      text += segment;
      continue;
    }
    // What the service makes is there by then, and may be absent as far as a document can say.
    texts.push(quoted(text), `(has(next.${name}) ? string(next.${name}) : ${quoted(segment)})`);
    text = '';
  }
  return texts.join(' + ');
}

const quoted = (text: string): string => `'${text}'`;

/** A field that holds an address, and an example of one: what it starts with, and its segments. */
interface Address {
  readonly field: string;
  readonly start: string;
  readonly segments: readonly string[];
}

/** The segment before the parameter, and the parameter's name: what an address has to end as. */
interface AddressEnd {
  readonly word: string;
  readonly parameter: string;
}

function placesOf(path: string, parameter: string): AddressEnd {
  const segments = shapeOfPath(path).split('/').slice(1);
  const word = segments.at(-1) === '{}' ? segments.at(-2) : segments.at(-1);
  return { word: word ?? '', parameter };
}

/** The address that a thing shows of itself, as its example has it. */
function addressIn({ written }: InferenceContext, shape: Json, { word, parameter }: AddressEnd): Address | undefined {
  const all = written.propertiesOf(shape)?.all ?? {};
  if (word === '' || word === '{}' || Object.hasOwn(all, 'id') || !/^[A-Za-z_]\w*$/.test(parameter)) return undefined;
  for (const field of addressNames) {
    const inner = all[field];
    if (inner === undefined || written.typeOf(inner) !== 'string') continue;
    const { example, examples } = written.expand(inner);
    const [first] = Array.isArray(examples) ? examples : [example];
    const [, start, rest] = /^(https?:\/\/[^/'\\]+)?\/([\w./~%-]+)$/.exec(typeof first === 'string' ? first : '') ?? [];
    const segments = rest?.split('/') ?? [];
    if (segments.length > 1 && segments.at(-2) === word && segments.at(-1) !== '') return { field, start: start ?? '', segments };
  }
  return undefined;
}

/** What an address of one's own is called. */
const addressNames = ['uri', 'url', 'href', 'self', 'resource_uri', 'link'];

/**
 * Things that their answers do not tell apart. Where they are made at the path that names them, or below it, and read there, the
 * name in the path is their identifier, which is kept and not shown; of answers that are any map at all, the fields are what is sent.
 */
export function unshownResource(
  context: InferenceContext,
  ofOne: readonly SourceOperation[],
  together: readonly SourceOperation[],
  parameter: string,
  noun: string,
): string | undefined {
  const reading = ofOne.find(({ method }) => method === 'GET');
  const putting = ofOne.find(({ method, body }) => method === 'PUT' && body !== undefined);
  const posting = together.find(({ method, body }) => method === 'POST' && body !== undefined);
  const making = posting ?? putting;
  if (!reading || !making) return undefined;
  const endpoint = endpointOf(context, reading);
  const shape = shapeOfAnswer(endpoint, successOf(endpoint));
  if (isAnyMap(context.written, bareOf(context, shape))) return ofAnyMap(context, making, parameter, noun);
  // What the service names has to tell its name when it is made.
  return posting === undefined && ofOne.some(({ method }) => method === 'DELETE')
    ? namedInPath(context, shape, parameter, noun, reading, 'string')
    : undefined;
}

/** What an answer of one member holds: `{ data: … }`; else the answer. */
function bareOf({ written }: InferenceContext, shape: Json | undefined): Json | undefined {
  const members = Object.values(written.propertiesOf(shape)?.all ?? {});
  return members.length === 1 ? members[0] : shape;
}

/** A thing of which the source says nothing but that it is a map: it has what is sent, and an identifier. */
function ofAnyMap(context: InferenceContext, making: SourceOperation, parameter: string, noun: string): string | undefined {
  const { request } = endpointOf(context, making);
  const sent = context.written.propertiesOf(request)?.all;
  const isSaid = request !== undefined && Object.keys(context.written.expand(request)).length > 0;
  if (sent === undefined && isSaid && !isAnyMap(context.written, request)) return undefined;
  const field = making.method === 'POST' ? 'id' : parameter;
  const fields: OpenMap = Object.assign(newMap(), { [field]: 'string' }, sent);
  return resourceOf(context, noun, { fields, required: [field], additionalProperties: true }, making.map.at);
}

/** A thing with known properties that does not show what it is called: its name in the path is kept beside them. */
function namedInPath(
  context: InferenceContext,
  shape: Json | undefined,
  parameter: string,
  noun: string,
  reading: SourceOperation,
  type: 'string' | 'integer',
): string | undefined {
  const { written } = context;
  const bare = rowIn(context, shape);
  const properties = written.propertiesOf(bare);
  if (properties === undefined) return undefined;
  const hidden = { type, visible: 'none' };
  const known = written.resourceOf(bare);
  if (known === undefined) {
    const fields = Object.assign(newMap(), { [parameter]: hidden }, properties.all);
    const required = [...properties.required];
    return resourceOf(context, noun, { fields, required, additionalProperties: true }, reading.map.at);
  }
  made(documentFields(context.resources, known))[parameter] = hidden;
  context.trail.infer(below(below(below('/resources', known), 'fields'), parameter), 'resource-behind-path', reading.map.at, 0.7);
  return known;
}

/** The one map with a name in an answer, or the answer itself. */
function rowIn({ written }: InferenceContext, shape: Json | undefined): Json | undefined {
  if (written.resourceOf(shape) !== undefined) return shape;
  const members = Object.values(written.propertiesOf(shape)?.all ?? {});
  const named = members.filter((one) => written.resourceOf(one) !== undefined && written.itemsOf(one) === undefined);
  return named.length === 1 ? named[0] : shape;
}

function resourceOf(context: InferenceContext, noun: string, entry: OpenMap | Json, from: string): string {
  const name = context.names.free(noun);
  if (isMap(entry)) context.resources[name] = entry;
  context.trail.infer(below('/resources', name), 'resource-behind-path', from, 0.6);
  return name;
}
