import { type Document, type Json, partNames } from '../../document/document.ts';
import { type Foreign, languageOf } from '../../document/foreign.ts';
import { below } from '../../document/pointer.ts';
import { isMap, newMap, type OpenMap } from '../../document/values.ts';
import { writeEndpoint } from './endpoints.ts';
import { nameEmitters, writeEvents } from './events.ts';
import { applyRules, effectRules, otherRules } from './infer/all.ts';
import { groupedByPath } from './infer/context.ts';
import { Written } from './infer/written.ts';
import { made } from './made.ts';
import type { Operation } from './operation.ts';
import { operationsOf } from './operations.ts';
import { writePurpose } from './purpose.ts';
import { type Dialect, Reader } from './reader.ts';
import { writeResources } from './resources.ts';
import { SchemaNames } from './schema-names.ts';
import { writeAuthentication } from './security.ts';
import { Shapes } from './shapes.ts';
import { Trail } from './trail.ts';

/** What came of a source: the document, and what the report is made of. */
export interface Imported {
  readonly document: Document;
  readonly reader: Reader;
  readonly trail: Trail;
}

/** Reads a document of OpenAPI, whatever its version, as one of this language. What was taken is only kept track of for a report. */
export function importOpenApi(foreign: Foreign, traces = false): Imported {
  const reader = new Reader(foreign, dialectOf(foreign), traces);
  const trail = new Trail(foreign);
  const names = new SchemaNames(reader);
  const shapes = new Shapes(reader, names);
  const named = nameOperations(operationsOf(reader), reader);
  const operations = named.map(([operation]) => operation);
  const tree: OpenMap = newMap();
  put(tree, 'purpose', writePurpose(reader, trail));
  const endpoints: OpenMap = newMap();
  for (const [operation, name] of named) endpoints[operation.key] = writeEndpoint(operation, name, shapes, trail);
  put(tree, 'events', writeEvents(operations, shapes, trail));
  const resources = writeResources(names, shapes, trail);
  const written = new Written(resources);
  const byPath = groupedByPath(operations);
  const context = {
    tree,
    resources,
    endpoints,
    operations,
    byPath,
    reader,
    shapes,
    names,
    trail,
    written,
    collections: new Map(),
  };
  applyRules(effectRules, context);
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
function nameOperations(operations: readonly Operation[], reader: Reader): [Operation, string | undefined][] {
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
