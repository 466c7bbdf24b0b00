import type { Document, Json, JsonMap, Pointer } from '../../../document/document.ts';
import { type Foreign, languageOf } from '../../../document/foreign/foreign.ts';
import { below, pathOf } from '../../../document/pointer.ts';
import { isMap, newMap, type OpenMap } from '../../../document/values.ts';
import type { Imported } from '../../openapi/import.ts';
import { Trail } from '../../openapi/read/evidence.ts';
import { writeWords } from '../../openapi/read/purpose.ts';
import { type At, type MapAt, refOf, SourceReader } from '../../openapi/read/reader.ts';
import { writeResources } from '../../openapi/read/resources.ts';
import { SchemaNames } from '../../openapi/read/schema-names.ts';
import { writeScheme } from '../../openapi/read/security.ts';
import { Shapes } from '../../openapi/read/shapes.ts';
import { withOwnStatements } from '../../spec/own-statements.ts';
import { type MessageOperation, type NamedMessage, readMessageOperations } from './operations.ts';

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

/** Writes how whoever listens shows who it is: the stated schemes, and which of them servers and operations ask for. */
function writeListenerAuthentication(reader: SourceReader, trail: Trail): OpenMap | undefined {
  const schemes: OpenMap = newMap();
  const components = reader.map(reader.root, 'components');
  const known = new Map<string, string>();
  for (const [key, map] of components ? reader.maps(components, 'securitySchemes') : []) {
    const name = reader.text(map, 'x-ninefold-name') ?? key;
    if (take(name, map, schemes, reader, trail)) known.set(map.at, name);
  }
  const accepted = new Map<string, Pointer>();
  const holders = [...serversOf(reader), ...reader.maps(reader.root, 'operations').map(([, map]) => map)];
  for (const holder of holders) for (const used of requirements(holder, reader)) accept(used);
  if (Object.keys(schemes).length === 0) return undefined;
  const authentication: OpenMap = newMap();
  authentication.schemes = schemes;
  if (accepted.size > 0 && accepted.size < Object.keys(schemes).length) {
    authentication.accept = [...accepted.keys()];
    for (const [index, place] of [...accepted.values()].entries()) trail.from(below('/authentication/accept', index), place);
  }
  return authentication;

  /** A scheme that stands where it is asked for has no name but its type. */
  function accept({ name, map, at }: Requirement): void {
    const own = known.get(map.at) ?? name;
    if (Object.hasOwn(schemes, own) && (known.has(map.at) || name !== own)) accepted.set(own, accepted.get(own) ?? at);
    else if (!known.has(map.at) && take(own, map, schemes, reader, trail)) {
      known.set(map.at, own);
      accepted.set(own, at);
    }
  }
}

interface Requirement {
  readonly name: string;
  readonly map: MapAt;
  /** Where it is asked for. */
  readonly at: Pointer;
}

/** What a server or an operation asks for: schemes themselves since 3.0, before that the names of schemes with their scopes. */
function requirements(holder: MapAt, reader: SourceReader): Requirement[] {
  if (!Object.hasOwn(holder.value, 'security')) return [];
  const { value, at } = reader.get(holder, 'security');
  if (!Array.isArray(value)) return [];
  return value.flatMap((item: Json, index): Requirement[] => {
    if (!isMap(item)) return [];
    const place = below(at, index);
    const map = reader.follow({ value: item, at: place });
    if (!map) return [];
    if (refOf(item) !== undefined || Object.hasOwn(map.value, 'type')) {
      if (Object.hasOwn(map.value, 'scopes')) reader.leave(below(map.at, 'scopes'), 'scopes of one operation');
      return [{ name: refOf(item) === undefined ? String(map.value.type) : (pathOf(map.at).at(-1) ?? ''), map, at: place }];
    }
    return Object.keys(item).flatMap((name) => {
      const target = reader.target(`#${below('/components/securitySchemes', name)}`);
      if (target === undefined) reader.find('import/ref-unresolved', place, `There is no scheme \`${name}\`.`);
      return target && isMap(target.value) ? [{ name, map: { value: target.value, at: target.at }, at: place }] : [];
    });
  });
}

function take(name: string, map: MapAt, schemes: OpenMap, reader: SourceReader, trail: Trail): boolean {
  const scheme = writeScheme(name, map, reader, trail);
  if (scheme === undefined) {
    reader.leave(map.at, 'a scheme that is none of this language');
    return false;
  }
  const at = below('/authentication/schemes', name);
  trail.from(at, map.at);
  trail.prose(at, map.at, reader.text(map, 'description'));
  schemes[name] = scheme;
  return true;
}

/** The base addresses of a service: those of its servers that speak HTTP, variables at their defaults. */
function baseUrls(reader: SourceReader, trail: Trail): string[] {
  const urls = serversOf(reader).flatMap((server) => {
    const url = urlOf(server, reader);
    if (url === undefined || !/^https?:\/\/[^/{}]+(?:\/[^{}]*)?$/.test(url)) {
      reader.leave(
        server.at,
        url === undefined ? 'it says no address' : `${url.replace(/:.*/s, '')} with a fixed address is not spoken there`,
      );
      return [];
    }
    if (trail.origins.get('/purpose/base_url') === undefined) trail.from('/purpose/base_url', server.at);
    return [url];
  });
  return [...new Set(urls)];
}

/** The servers, which were a list before they were a map. */
function serversOf(reader: SourceReader): MapAt[] {
  const isList = Array.isArray(reader.root.value.servers);
  const servers = isList ? reader.list(reader.root, 'servers') : reader.maps(reader.root, 'servers').map(([, map]) => map);
  if (servers.length > 0) reader.mark(reader.root.value, 'servers');
  return servers;
}

function urlOf(server: MapAt, reader: SourceReader): string | undefined {
  const protocol = (reader.text(server, 'protocol') ?? reader.text(server, 'scheme'))?.toLowerCase();
  const host = reader.text(server, 'host');
  const whole = host === undefined ? reader.text(server, 'url') : host + (reader.text(server, 'pathname') ?? '');
  if (whole === undefined) return undefined;
  const filled = whole.replaceAll(/\{([^{}]+)\}/g, (written, name: string) => defaultOf(server, name, reader) ?? written);
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(filled) ? filled : `${protocol ?? ''}://${filled}`;
  return url.replace(/\/+$/, '');
}

function defaultOf(server: MapAt, name: string, reader: SourceReader): string | undefined {
  const variables = reader.map(server, 'variables');
  const variable = variables && reader.follow({ value: variables.value[name], at: below(variables.at, name) });
  return variable && isMap(variable.value) ? reader.text(variable, 'default') : undefined;
}
