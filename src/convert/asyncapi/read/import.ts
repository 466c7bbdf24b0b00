import type { Document, Json, JsonMap, Pointer } from '../../../document/document.ts';
import { type Foreign, languageOf } from '../../../document/foreign.ts';
import { isMap, newMap, type OpenMap } from '../../../document/values.ts';
import type { Imported } from '../../openapi/import.ts';
import { writeWords } from '../../openapi/purpose.ts';
import { Reader } from '../../openapi/reader.ts';
import { writeResources } from '../../openapi/resources.ts';
import { SchemaNames } from '../../openapi/schema-names.ts';
import { Shapes } from '../../openapi/shapes.ts';
import { Trail } from '../../openapi/trail.ts';
import { withOwnStatements } from '../../own-statements.ts';
import { writeEvents } from './events.ts';
import { operationsOf } from './operations.ts';
import { writeAuthentication } from './security.ts';
import { baseUrls } from './servers.ts';

/** Reads a document of AsyncAPI, whatever its version, as one of this language. */
export function importAsyncApi(foreign: Foreign, traces = false): Imported {
  const reader = new Reader(foreign, '3.0', traces);
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
export function readTree(reader: Reader, trail: Trail, version: string, isOwn: boolean): JsonMap {
  const names = new SchemaNames(reader);
  const shapes = new Shapes(reader, names);
  const purpose: OpenMap = newMap();
  const info = reader.map(reader.root, 'info');
  if (info) writeWords(info, purpose, reader, trail);
  const urls = baseUrls(reader, trail);
  if (urls.length > 0) purpose.base_url = urls.length === 1 ? (urls[0] as string) : urls;
  const authentication = writeAuthentication(reader, trail);
  const events = writeEvents(operationsOf(reader, version), shapes, trail, isOwn);
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
