import type { Document, Json } from '../../document/document.ts';
import { type Foreign, languageOf } from '../../document/foreign.ts';
import { below } from '../../document/pointer.ts';
import { isMap, newMap, type OpenMap } from '../../document/values.ts';
import { writeEndpoint } from './endpoints.ts';
import { inferAll } from './infer/all.ts';
import { Written } from './infer/written.ts';
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
  const operations = nameOperations(operationsOf(reader), reader);
  const tree: OpenMap = newMap();
  put(tree, 'purpose', writePurpose(reader, trail));
  const endpoints: OpenMap = newMap();
  for (const [operation, name] of operations)
    endpoints[operation.key] = writeEndpoint(operation, name === operation.key ? undefined : name, shapes, trail);
  const authentication = writeAuthentication(operations, reader, trail);
  const resources = writeResources(names, shapes, trail);
  if (Object.keys(resources).length > 0) tree.resources = resources;
  if (operations.length > 0) tree.endpoints = endpoints;
  put(tree, 'authentication', authentication);
  const written = new Written(resources);
  const done = operations.map(([operation]) => operation);
  inferAll({ tree, resources, endpoints, operations: done, reader, shapes, names, trail, written, collections: new Map() });
  nameTwins(endpoints);
  if (trail.evidence.length > 0) tree.evidence = trail.evidence.map((row) => ({ ...row }));
  const info = reader.map(reader.root, 'info');
  const title = (info && reader.text(info, 'title')) ?? '';
  const document: Document = {
    title,
    tree,
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

function dialectOf(foreign: Foreign): Dialect {
  const version = languageOf(foreign.value)?.version ?? '';
  return version.startsWith('2') ? '2.0' : version.startsWith('3.0') ? '3.0' : '3.1';
}

/** Each operation with its name: its identifier, where no other has the same; else its key. */
function nameOperations(operations: readonly Operation[], reader: Reader): [Operation, string][] {
  const used = new Set<string>();
  return operations.map((operation) => {
    const { id, key, map } = operation;
    if (id === undefined || id === '') return [operation, key];
    if (used.has(id)) {
      reader.find('import/contradiction', below(map.at, 'operationId'), `Two operations are called \`${id}\`.`);
      reader.leave(below(map.at, 'operationId'), 'another operation has this name');
      return [operation, key];
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
    if (used.has(endpoint.does)) (endpoint as OpenMap).as = key;
    used.add(endpoint.does);
  }
}

/** Whether a source is an export of this project, which carries a whole document in words of its own. */
export function isOwnExport({ value }: Foreign): boolean {
  return isMap(value['x-ninefold']);
}
