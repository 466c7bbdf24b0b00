import type { Json, JsonMap } from '../../../document/document.ts';
import { below } from '../../../document/pointer.ts';
import { isMap, newMap, type OpenMap } from '../../../document/values.ts';
import { readEffect } from '../../../parts/effects.ts';
import type { SourceOperation } from '../read/operation.ts';
import { made, madeOrNew } from '../read/reader.ts';
import {
  endpointOf,
  extendAnswer,
  type InferenceContext,
  type InferenceRule,
  placeOfEndpoint,
  shapeOfAnswer,
  successOf,
} from './context.ts';

/** `{ data: { list_id: 428, list_name: "Readers" }, http_code: 200 }` without a schema: what an example shows is what the answer has. */
export const exampleShapes: InferenceRule = {
  name: 'example-shapes',
  says: 'An answer without a schema, or with one that says of no member, has the members of its example, in the types that they have there. What stands around the one map or list in it, and says of no thing which it is, is always there; nothing else is required. What is null there may be anything, and a map whose names are no words, or that has very many, is any map.',
  infer(context) {
    for (const operation of context.operations) {
      const endpoint = endpointOf(context, operation);
      const status = successOf(endpoint);
      const answer = status !== undefined && isMap(endpoint.response) ? endpoint.response[status] : undefined;
      if (status === undefined || !isMap(answer) || !saysNothing(answer.shape)) continue;
      const example = exampleOf(answer);
      const shape = example !== undefined && isSmall(example) ? shapeOfExample(example, 0) : undefined;
      if (shape === undefined || !saysMembers(shape)) continue;
      requireAround(shape);
      madeOrNew(endpoint.response)[status] = { ...answer, shape };
      const at = below(below(below(placeOfEndpoint(operation), 'response'), status), 'shape');
      context.trail.infer(at, exampleShapes.name, operation.map.at, 0.7);
    }
  },
};

/** Its one example, with a name or without. */
function exampleOf({ example, examples }: JsonMap): Json | undefined {
  const named = isMap(examples) ? Object.values(examples) : [];
  return example ?? (named.length === 1 ? named[0] : undefined);
}

/** No shape, or one that says that there is a map, or a list of maps, and nothing of their members. */
function saysNothing(shape: Json | undefined): boolean {
  if (shape === undefined || shape === 'object') return true;
  if (Array.isArray(shape)) return shape.length === 1 && saysNothing(shape[0]);
  if (!isMap(shape) || !Object.keys(shape).every((key) => ['type', 'items', 'description', 'title'].includes(key))) return false;
  return shape.type === 'object'
    ? shape.items === undefined
    : shape.type === 'array' && isMap(shape.items) && saysNothing(shape.items);
}

/** What is larger is data, and says too little of its shape for its length. */
const lengthMost = 65_536;

function isSmall(example: Json): boolean {
  return typeof example === 'object' && example !== null && JSON.stringify(example).length <= lengthMost;
}

/** Words and codes around what an answer is about are there whatever it is: `{ data: …, code: 0 }`. */
function requireAround(shape: OpenMap): void {
  const members = isMap(shape.properties) ? Object.entries(shape.properties) : [];
  const holding = members.filter(([, one]) => isMap(one) && isHolding(one));
  if (holding.length !== 1 || members.some(([name]) => identifying.test(name))) return;
  shape.required = members.map(([name]) => name);
}

const isHolding = ({ type }: JsonMap): boolean => type === 'object' || type === 'array';
/** Members that say of a thing which it is. */
const identifying = /^(?:_?id|uuid|guid|name|slug)$|_id$|[a-z]Id$/;

/** A map of known members, or a list of such. */
function saysMembers({ properties, items }: JsonMap): boolean {
  return properties !== undefined || (isMap(items) && items.properties !== undefined);
}

const depthMost = 6;
const membersMost = 100;

/** The shape that a value shows. */
export function shapeOfExample(value: Json, depth: number): OpenMap {
  if (value === null || depth > depthMost) return newMap();
  if (Array.isArray(value)) {
    const items = value.map((one) => shapeOfExample(one, depth + 1)).reduce<OpenMap | undefined>(joined, undefined);
    return Object.assign(newMap(), { type: 'array', ...(items && Object.keys(items).length > 0 && { items: bare(items) }) });
  }
  if (isMap(value)) return Object.assign(newMap(), { type: 'object', ...memberShapes(value, depth) });
  const type = typeof value === 'number' ? (Number.isInteger(value) ? 'integer' : 'number') : typeof value;
  return Object.assign(newMap(), { type, example: value });
}

/** Names that are words: those of a map from identifiers, dates or addresses to values are not. */
function memberShapes(value: JsonMap, depth: number): { readonly properties: OpenMap } | undefined {
  const entries = Object.entries(value);
  if (entries.length === 0 || entries.length > membersMost || !entries.every(([name]) => isWord(name))) return undefined;
  const properties: OpenMap = newMap();
  for (const [name, inner] of entries) properties[name] = shapeOfExample(inner, depth + 1);
  return { properties };
}

function isWord(name: string): boolean {
  return /^[@$]?[\p{L}_][\p{L}\p{N}_ .:-]*$/u.test(name) && !/\d{4,}|^[0-9a-f-]{16,}$/i.test(name);
}

/** What two items of a list show: the members of either, and types that hold both. */
function joined(one: OpenMap | undefined, other: OpenMap): OpenMap {
  if (one === undefined || Object.keys(one).length === 0) return other;
  if (Object.keys(other).length === 0) return one;
  const type = one.type === other.type ? one.type : isNumber(one) && isNumber(other) ? 'number' : undefined;
  if (type === undefined) return newMap();
  if (isMap(one.properties) && isMap(other.properties)) {
    const properties: OpenMap = Object.assign(newMap(), one.properties);
    for (const [name, inner] of Object.entries(other.properties)) {
      const own = Object.hasOwn(properties, name) ? properties[name] : undefined;
      properties[name] = joined(isMap(own) ? made(own) : undefined, madeOrNew(inner));
    }
    return Object.assign(newMap(), { type, properties });
  }
  return Object.assign(newMap(), one, { type });
}

const isNumber = ({ type }: OpenMap): boolean => type === 'integer' || type === 'number';

/** The shape of items that are plain values has no example: one of many says nothing of the next. */
function bare(items: OpenMap): OpenMap {
  const { example: _example, ...rest } = items;
  return Object.assign(newMap(), rest);
}

/** `POST /orgs` makes an organization, and its one example shows another: what comes out is answered, in the likeness of the example. */
export const examplesOfThings: InferenceRule = {
  name: 'examples-of-things',
  says: 'The example of an answer without a schema, where an operation makes, reads, lists, changes or deletes things, is one of its examples, and not the answer each time.',
  infer(context) {
    for (const operation of context.operations) {
      const endpoint = endpointOf(context, operation);
      const effect = typeof endpoint.does === 'string' ? readEffect(endpoint.does) : undefined;
      const status = successOf(endpoint);
      const answer = status !== undefined && isMap(endpoint.response) ? endpoint.response[status] : undefined;
      if (!effect || !('resource' in effect) || status === undefined || !isMap(answer)) continue;
      const { example, ...others } = answer;
      if (example === undefined || answer.data !== undefined || answer.examples !== undefined || answer.shape === undefined)
        continue;
      madeOrNew(endpoint.response)[status] = { ...others, examples: { example } };
      const at = below(below(below(placeOfEndpoint(operation), 'response'), status), 'examples');
      context.trail.infer(at, examplesOfThings.name, operation.map.at, 0.7);
    }
  },
};

/** `x-docs: { response: '{ "object": "list", … }' }`: an example that stands where nothing but the words of its members says that it is one. */
export const extensionExamples: InferenceRule = {
  name: 'extension-examples',
  says: 'A text of JSON in an extension of an operation whose answer has no example is one, where it has what the answer requires and nothing that the answer has no member for.',
  infer(context) {
    for (const operation of context.operations) {
      const endpoint = endpointOf(context, operation);
      const status = successOf(endpoint);
      if (status === undefined || hasExamples(endpoint.response, status)) continue;
      const example = exampleInExtension(context, operation, shapeOfAnswer(endpoint, status));
      if (example === undefined) continue;
      extendAnswer(context, operation, status, { examples: { extension: example } });
      const at = below(below(below(placeOfEndpoint(operation), 'response'), status), 'examples');
      context.trail.infer(at, extensionExamples.name, operation.map.at, 0.8);
    }
  },
};

function hasExamples(response: Json | undefined, status: string): boolean {
  const answer = isMap(response) ? response[status] : undefined;
  return isMap(answer) && (answer.examples !== undefined || answer.example !== undefined || answer.data !== undefined);
}

function exampleInExtension(
  { written }: InferenceContext,
  { map }: SourceOperation,
  shape: Json | undefined,
): JsonMap | undefined {
  const members = written.propertiesOf(shape);
  const names = Object.keys(members?.all ?? {});
  if (!members || names.length < namesLeast || !isMap(map.value)) return undefined;
  for (const [name, extension] of Object.entries(map.value)) {
    if (!name.startsWith('x-')) continue;
    for (const text of textsIn(extension, 0)) {
      const value = mapIn(text);
      const own = value && Object.keys(value);
      if (!own || own.length < namesLeast || !own.every((one) => Object.hasOwn(members.all, one))) continue;
      if (members.required.every((one) => own.includes(one))) return value;
    }
  }
  return undefined;
}

/** One name alone may be that of anything. */
const namesLeast = 2;

/** The texts in an extension, of a few kilobytes at the most. */
function textsIn(value: Json | undefined, depth: number): string[] {
  if (typeof value === 'string') return value.length <= textLengthMost ? [value] : [];
  if (depth > extensionDepthMost || value === null || typeof value !== 'object') return [];
  return Object.values(value).flatMap((inner) => textsIn(inner, depth + 1));
}

const textLengthMost = 32_768;
const extensionDepthMost = 3;

/** The map that a text of JSON is; a comma before its end, which authors leave there, is passed over. */
function mapIn(text: string): JsonMap | undefined {
  if (!/^\s*\{/.test(text)) return undefined;
  for (const one of [text, text.replaceAll(/,(?=\s*[}\]])/g, '')]) {
    try {
      const value: unknown = JSON.parse(one);
      return isMap(value as Json) ? (value as JsonMap) : undefined;
    } catch {
      // Tried once more, or no JSON.
    }
  }
  return undefined;
}
