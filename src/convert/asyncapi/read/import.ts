import type { Document, Json, JsonMap, Pointer } from '../../../document/document.ts';
import { type Foreign, languageOf } from '../../../document/foreign/foreign.ts';
import { below } from '../../../document/pointer.ts';
import { isMap, newMap, type OpenMap } from '../../../document/values.ts';
import type { Imported } from '../../openapi/import.ts';
import { Trail } from '../../openapi/read/evidence.ts';
import { writeWords } from '../../openapi/read/purpose.ts';
import { type At, type MapAt, SourceReader } from '../../openapi/read/reader.ts';
import { writeResources } from '../../openapi/read/resources.ts';
import { SchemaNames } from '../../openapi/read/schema-names.ts';
import { Shapes } from '../../openapi/read/shapes.ts';
import { withOwnStatements } from '../../spec/own-statements.ts';
import { type MessageOperation, type NamedMessage, readMessageOperations } from './operations.ts';
import { baseUrls, writeListenerAuthentication } from './security.ts';

/** Reads a document of AsyncAPI, whatever its version, as one of this language. */
export function importAsyncApi(foreign: Foreign, traces = false): Imported {
  const reader = new SourceReader(foreign, '3.0', traces);
  const trail = new Trail(foreign);
  const own = ownPart(foreign.value);
  for (const key of ['asyncapi', 'defaultContentType']) reader.mark(reader.root.value, key);
  const read = readTree(reader, trail, languageOf(foreign.value)?.version ?? '', own !== undefined);
  if (own) {
    trail.from('', '/x-ninefold');
    for (const key of ['x-ninefold', 'x-ninefold-absent']) reader.mark(reader.root.value, key);
  }
  const info = reader.map(reader.root, 'info');
  const document: Document = {
    title: (info && reader.text(info, 'title')) ?? '',
    tree: own ? withOwnStatements(read, own) : read,
    places: trail.places(),
    prose: trail.proses,
    sources: foreign.sources,
    findings: [...foreign.findings, ...reader.findings],
  };
  return { document, reader, trail };
}

/** What AsyncAPI's own words say. In an export of our own, schemas are made of resources, which are stated beside them. */
export function readTree(reader: SourceReader, trail: Trail, version: string, isOwn: boolean): JsonMap {
  const names = new SchemaNames(reader);
  const shapes = new Shapes(reader, names);
  const purpose: OpenMap = newMap();
  const info = reader.map(reader.root, 'info');
  if (info) writeWords(info, purpose, reader, trail);
  const urls = baseUrls(reader, trail);
  if (urls.length > 0) purpose.base_url = urls.length === 1 ? (urls[0] as string) : urls;
  const authentication = writeListenerAuthentication(reader, trail);
  const events = writeEvents(readMessageOperations(reader, version), shapes, trail, isOwn);
  const resources = isOwn ? newMap() : writeResources(names, shapes, trail);
  const tree: OpenMap = newMap();
  for (const [part, value] of Object.entries({ purpose, resources, authentication, events })) {
    if (value && Object.keys(value).length > 0) tree[part] = value;
  }
  return tree;
}

/** What an export of our own says beside AsyncAPI's words; nothing in a document of others. */
function ownPart(value: JsonMap): { readonly stated: JsonMap; readonly absent: readonly Pointer[] } | undefined {
  const stated = value['x-ninefold'];
  const absent = value['x-ninefold-absent'];
  if (!isMap(stated)) return undefined;
  const list: readonly Json[] = Array.isArray(absent) ? absent : [];
  return { stated, absent: list.filter((pointer): pointer is string => typeof pointer === 'string') };
}

/** Writes what a service sends as kinds of event. What is sent to it over a channel is nothing that the nine parts hold. */
function writeEvents(operations: readonly MessageOperation[], shapes: Shapes, trail: Trail, isOwn: boolean): OpenMap | undefined {
  const { reader } = shapes;
  const kinds: OpenMap = newMap();
  const places = new Map<string, string>();
  for (const { at, sends, messages } of operations) {
    if (!sends) {
      reader.leave(at, 'what is sent to a service over a channel is none of its events');
      continue;
    }
    for (const message of messages) writeKind(message, kinds, places, shapes, trail);
  }
  if (Object.keys(kinds).length === 0) return undefined;
  if (isOwn) return Object.assign(newMap(), { kinds });
  // A message of others carries its payload and nothing around it.
  const [first = ''] = places.values();
  trail.from('/events/envelope', below(first, 'payload'));
  return Object.assign(newMap(), { envelope: 'none', kinds });
}

/** A message that several operations send is one kind; another one of the same name is told apart by a number. */
function writeKind({ name, map }: NamedMessage, kinds: OpenMap, places: Map<string, string>, shapes: Shapes, trail: Trail): void {
  const { reader } = shapes;
  let key = name;
  for (let count = 2; places.has(key); count++) {
    if (places.get(key) === map.at || isAlike(places.get(key) ?? '', map, reader)) return;
    if (count === 2) reader.find('import/contradiction', map.at, `Two messages are called \`${name}\`.`);
    key = `${name}_${count}`;
  }
  places.set(key, map.at);
  const at = below('/events/kinds', key);
  const kind: OpenMap = newMap();
  if (Object.hasOwn(map.value, 'headers'))
    reader.leave(below(map.at, 'headers'), 'header fields, and what is signed of them, are of a delivery, which is not said');
  trail.from(at, map.at);
  const payload = payloadOf(map, reader);
  const shape = payload && shapes.of(payload);
  if (payload && shape !== undefined) {
    kind.payload = shape;
    trail.from(below(at, 'payload'), payload.at);
  }
  const words = [reader.text(map, 'title'), reader.text(map, 'summary'), reader.text(map, 'description')];
  trail.prose(at, map.at, words.filter((text, index) => text && words.indexOf(text) === index).join('\n\n'));
  kinds[key] = kind;
}

/** Whether two messages of one name carry the same. */
function isAlike(at: string, other: MapAt, reader: SourceReader): boolean {
  const known = reader.target(`#${at}`)?.value;
  return isMap(known) && JSON.stringify(known.payload) === JSON.stringify(other.value.payload);
}

/** The schema of what a message carries; nothing where it is in a language of schemas that is not JSON Schema. */
function payloadOf(message: MapAt, reader: SourceReader): At | undefined {
  if (!Object.hasOwn(message.value, 'payload')) return undefined;
  const format = reader.text(message, 'schemaFormat');
  const payload = reader.get(message, 'payload');
  const inner = isMap(payload.value) && Object.hasOwn(payload.value, 'schemaFormat') ? payload : undefined;
  const language = inner && isMap(inner.value) ? inner.value.schemaFormat : format;
  if (typeof language === 'string' && !isJsonSchema(language)) {
    reader.leave(payload.at, `its schema is written in ${language}`);
    return undefined;
  }
  if (!inner || !isMap(inner.value)) return carried(payload, message, reader);
  reader.mark(inner.value, 'schemaFormat');
  return reader.get({ value: inner.value, at: inner.at }, 'schema');
}

/** In an export of our own, the member of the message that is the payload; the rest is its envelope. */
function carried(payload: At, message: MapAt, reader: SourceReader): At {
  const member = reader.text(message, 'x-ninefold-payload');
  const whole = member === undefined ? undefined : reader.follow(payload);
  const properties = whole && reader.map(whole, 'properties');
  const inner: Json | undefined = properties && member !== undefined ? properties.value[member] : undefined;
  return inner === undefined || !properties ? payload : { value: inner, at: below(properties.at, member ?? '') };
}

/** AsyncAPI's own schemas, OpenAPI's and those of JSON Schema, in JSON or YAML. */
function isJsonSchema(format: string): boolean {
  return /^application\/(?:vnd\.aai\.asyncapi|vnd\.oai\.openapi|schema)(?:\+json|\+yaml)?(?:;|$)/.test(format);
}
