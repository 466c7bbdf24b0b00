import { type Document, type Json, type Pointer, partNames } from '../../document/document.ts';
import { type Foreign, languageOf } from '../../document/foreign/foreign.ts';
import { below } from '../../document/pointer.ts';
import { isMap, newMap, type OpenMap } from '../../document/values.ts';
import { usualPush } from '../../kinds/deliveries/all.ts';
import { applyRules, effectInferences, otherRules } from './infer/all.ts';
import { groupedByPath } from './infer/context.ts';
import { inOneVersion } from './infer/path-versions.ts';
import { operationsAsMeant } from './infer/paths.ts';
import { Written } from './infer/shapes.ts';
import { writeEndpoint } from './read/endpoints.ts';
import { Trail } from './read/evidence.ts';
import { type Content, mainContent, type SourceOperation } from './read/operation.ts';
import { itemOperations, readOperations } from './read/operations.ts';
import { writePurpose } from './read/purpose.ts';
import { type Dialect, type MapAt, made, SourceReader } from './read/reader.ts';
import { writeResources } from './read/resources.ts';
import { SchemaNames } from './read/schema-names.ts';
import { nameOfOperation, writeAuthentication } from './read/security.ts';
import { Shapes } from './read/shapes.ts';

/** What came of a source: the document, and what the report is made of. */
export interface Imported {
  readonly document: Document;
  readonly reader: SourceReader;
  readonly trail: Trail;
}

/** Reads a document of OpenAPI, whatever its version, as one of this language. What was taken is only kept track of for a report. */
export function importOpenApi(foreign: Foreign, traces = false): Imported {
  const reader = new SourceReader(foreign, dialectOf(foreign), traces);
  const trail = new Trail(foreign);
  const names = new SchemaNames(reader);
  const shapes = new Shapes(reader, names);
  const named = nameOperations(readOperations(reader), reader);
  const operations = named.map(([operation]) => operation);
  const tree: OpenMap = newMap();
  put(tree, 'purpose', writePurpose(reader, trail));
  const endpoints: OpenMap = newMap();
  for (const [operation, name] of named) endpoints[operation.key] = writeEndpoint(operation, name, shapes, trail);
  put(tree, 'events', writeEvents(operations, shapes, trail));
  const resources = writeResources(names, shapes, trail);
  const written = new Written(resources);
  const meant = operationsAsMeant(inOneVersion(operations));
  const byPath = groupedByPath(meant);
  const context = {
    tree,
    resources,
    endpoints,
    operations: meant,
    byPath,
    reader,
    shapes,
    names,
    trail,
    written,
    collections: new Map(),
  };
  applyRules(effectInferences, context);
  nameTwins(endpoints);
  nameEmitters(tree, endpoints, operations);
  put(tree, 'authentication', writeAuthentication(operations, endpoints, reader, trail));
  applyRules(otherRules, context);
  if (Object.keys(resources).length > 0) tree.resources = resources;
  if (operations.length > 0) tree.endpoints = endpoints;
  const info = reader.map(reader.root, 'info');
  const title = (info && reader.text(info, 'title')) ?? '';
  const document: Document = {
    title,
    tree: inOrder(tree, trail),
    places: trail.places(),
    prose: trail.proses,
    sources: foreign.sources,
    findings: [...foreign.findings, ...reader.findings],
  };
  return { document, reader, trail };
}

function put(tree: OpenMap, part: string, value: Json | undefined): void {
  if (value !== undefined) tree[part] = value;
}

/** The parts in their order, and what was inferred at the end. */
function inOrder(tree: OpenMap, trail: Trail): OpenMap {
  const ordered: OpenMap = newMap();
  for (const part of partNames) if (tree[part] !== undefined) ordered[part] = tree[part];
  if (trail.evidence.length > 0) ordered.evidence = trail.evidence.map((row) => ({ ...row }));
  return ordered;
}

/** The form of schemas that a source is written in. */
export function dialectOf(foreign: Foreign): Dialect {
  const version = languageOf(foreign.value)?.version ?? '';
  return version.startsWith('2') ? '2.0' : version.startsWith('3.0') ? '3.0' : '3.1';
}

/** Each operation with its name: its identifier, where no other has the same. */
function nameOperations(operations: readonly SourceOperation[], reader: SourceReader): [SourceOperation, string | undefined][] {
  const used = new Set<string>();
  return operations.map((operation) => {
    const { id, map } = operation;
    if (id === undefined || id === '') return [operation, undefined];
    if (used.has(id)) {
      reader.find('import/contradiction', below(map.at, 'operationId'), `Two operations are called \`${id}\`.`);
      reader.leave(below(map.at, 'operationId'), 'another operation has this name');
      return [operation, undefined];
    }
    used.add(id);
    return [operation, id];
  });
}

/** Endpoints without a name that do the same are called by their keys, since others speak of them by name. */
function nameTwins(endpoints: OpenMap): void {
  const used = new Set<string>();
  for (const [key, endpoint] of Object.entries(endpoints)) {
    if (!isMap(endpoint) || typeof endpoint.does !== 'string' || endpoint.as !== undefined) continue;
    if (used.has(endpoint.does)) made(endpoint).as = key;
    used.add(endpoint.does);
  }
}

/** Whether a source is an export of this project, which carries a whole document in words of its own. */
export function isOwnExport({ value }: Foreign): boolean {
  return isMap(value['x-ninefold']);
}

/** Writes webhooks and callbacks as kinds of event, which are sent by webhook. */
function writeEvents(operations: readonly SourceOperation[], shapes: Shapes, trail: Trail): OpenMap | undefined {
  const { reader } = shapes;
  const kinds: OpenMap = newMap();
  const key = Object.hasOwn(reader.root.value, 'webhooks') ? 'webhooks' : 'x-webhooks';
  for (const [name, item] of reader.maps(reader.root, key)) {
    reader.mark(reader.root.value, key);
    writeKind(kinds, name, item, shapes, trail);
  }
  for (const operation of operations) {
    for (const [name, callback] of reader.maps(operation.map, 'callbacks')) {
      reader.mark(operation.map.value, 'callbacks');
      for (const [address, item] of reader.entries(callback)) {
        reader.leave(below(callback.at, address), 'the address of a callback is an expression over its request');
        writeKind(kinds, name, item, shapes, trail, operation);
      }
    }
  }
  if (Object.keys(kinds).length === 0) return undefined;
  trail.from('/events/delivery', below('', key));
  // What a webhook's schema describes is the whole body.
  const [first = ''] = Object.keys(kinds);
  trail.from('/events/delivery/envelope', trail.origin(below('/events/kinds', first)) ?? below('', key));
  return { delivery: { [usualPush.word]: newMap(), envelope: 'none' }, kinds };
}

function writeKind(kinds: OpenMap, name: string, item: MapAt, shapes: Shapes, trail: Trail, by?: SourceOperation): void {
  const { reader } = shapes;
  const [operation] = itemOperations(name, item, reader);
  if (operation === undefined) return;
  if (Object.hasOwn(kinds, name)) {
    reader.leave(item.at, 'another event has this name');
    return;
  }
  const kind: OpenMap = newMap();
  const at = below('/events/kinds', name);
  trail.from(at, operation.map.at);
  if (by) {
    kind.on = [by.key];
    trail.from(below(at, 'on'), by.map.at);
  }
  if (operation.id !== undefined && operation.id !== name)
    reader.leave(below(operation.map.at, 'operationId'), 'an event is called by its webhook or callback');
  const main = operation.body && mainContent(operation.body.content);
  if (main) writePayload(kind, main, at, shapes, trail);
  const words = [reader.text(operation.map, 'summary'), reader.text(operation.map, 'description')];
  trail.prose(at, operation.map.at, words.filter((text) => text !== undefined && text !== '').join('\n\n'));
  kinds[name] = kind;
}

function writePayload(kind: OpenMap, { schema }: Content, at: Pointer, shapes: Shapes, trail: Trail): void {
  const shape: Json | undefined = shapes.of(schema);
  if (shape === undefined || shape === false) return;
  kind.payload = shape;
  trail.from(below(at, 'payload'), schema.at);
}

/** Speaks of the operations that emit events by the names that they have in the end. */
function nameEmitters(tree: OpenMap, endpoints: OpenMap, operations: readonly SourceOperation[]): void {
  const kinds = isMap(tree.events) ? tree.events.kinds : undefined;
  for (const kind of isMap(kinds) ? Object.values(kinds) : []) {
    if (!isMap(kind) || !Array.isArray(kind.on)) continue;
    const emitters = operations.filter(({ key }) => (kind.on as readonly Json[]).includes(key));
    made(kind).on = emitters.map((operation) => nameOfOperation(endpoints, operation));
  }
}
