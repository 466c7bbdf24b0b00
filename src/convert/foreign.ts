import type { Document, Json, JsonMap, Pointer } from '../document/document.ts';
import { type Foreign, type Language, languageOf } from '../document/foreign/foreign.ts';
import { below } from '../document/pointer.ts';
import { isMap, isSame, newMap, type OpenMap } from '../document/values.ts';
import { readSpec } from '../parts/spec.ts';
import { importAsyncApi } from './asyncapi/read/import.ts';
import { dialectOf, type Imported, importOpenApi, isOwnExport } from './openapi/import.ts';
import { readOwnExport } from './openapi/own/read.ts';
import { ownKey } from './openapi/own/stated-schema.ts';
import { Trail } from './openapi/read/evidence.ts';
import { SourceReader } from './openapi/read/reader.ts';
import { writeResources } from './openapi/read/resources.ts';
import { SchemaNames } from './openapi/read/schema-names.ts';
import { Shapes } from './openapi/read/shapes.ts';
import { toOpenApi, toOpenApi30 } from './openapi.ts';

/** Reads a JSON Schema that stands alone: itself and each of its definitions is a resource; it says nothing else of a service. */
function importJsonSchema(foreign: Foreign, traces = false): Imported {
  const { value } = foreign;
  const reader = new SourceReader(foreign, dialects.has(languageOf(value)?.version ?? '') ? '3.1' : '3.0', traces);
  const trail = new Trail(foreign);
  const names = new SchemaNames(reader);
  const title = (reader.text(reader.root, 'title') ?? '').replaceAll(/\s+/g, ' ').trim();
  const says = Object.keys(value).some((key) => !beside.has(key));
  if (says) names.at('', title === '' ? nameOf(foreign.file) : title);
  for (const key of ['$defs', 'definitions']) {
    const holder = reader.map(reader.root, key);
    if (!holder) continue;
    reader.mark(value, key);
    for (const name of Object.keys(holder.value)) names.at(below(holder.at, name), name);
  }
  for (const key of ['$schema', '$id', 'id']) reader.mark(value, key);
  const tree: OpenMap = newMap();
  const resources = writeResources(names, new Shapes(reader, names), trail);
  if (Object.keys(resources).length > 0) tree.resources = resources;
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

/** Since these, keywords beside a reference count. */
const dialects: ReadonlySet<string> = new Set(['2019-09', '2020-12', 'next']);

/** What a schema may say without being the schema of something. */
const beside: ReadonlySet<string> = new Set(['$schema', '$id', 'id', 'title', 'description', '$comment', '$defs', 'definitions']);

function nameOf(file: string): string {
  const last = file.split(/[\\/]/).at(-1) ?? '';
  return last.replace(/(?:\.schema)?\.(?:json|ya?ml)$/i, '') || 'schema';
}

/** The document of this language that one in another says; nothing where that language is not known. */
export function fromForeign(foreign: Foreign): Document | undefined {
  return importForeign(foreign)?.document;
}

/** The same with the trail of its facts; `traces` keeps account of what was taken, which a report needs. */
export function importForeign(foreign: Foreign, traces = false): Imported | undefined {
  const known = languageOf(foreign.value);
  return known && importers[known.language](foreign, traces);
}

const importers: Readonly<Record<Language['language'], (foreign: Foreign, traces: boolean) => Imported>> = {
  openapi: (foreign, traces) => (isOwnExport(foreign) ? importOwn(foreign, traces) : importOpenApi(foreign, traces)),
  asyncapi: importAsyncApi,
  'json-schema': importJsonSchema,
};

/**
 * The document that an export of this project was made of. What was changed in it since counts where OpenAPI's own words say
 * it; where the change is of something that only follows, a finding shows it, since nothing of the document says that.
 */
function importOwn(foreign: Foreign, traces = false): Imported {
  const reader = new SourceReader(foreign, dialectOf(foreign), traces);
  const trail = new Trail(foreign);
  const { title, tree, from, prose } = readOwnExport(foreign.value);
  for (const [at, source] of from) trail.from(at, source);
  for (const { at, from: source, text } of prose) trail.prose(at, source, text);
  const document: Document = { title, tree, places: trail.places(), prose: trail.proses, sources: foreign.sources, findings: [] };
  if (traces) takeAll(foreign.value, reader);
  for (const at of unread(document, foreign)) {
    reader.find('import/not-read-back', at, `${at} was changed where it only repeats what stands elsewhere.`);
    reader.leave(at, 'it only repeats what stands elsewhere');
  }
  return { document: { ...document, findings: [...foreign.findings, ...reader.findings] }, reader, trail };
}

/** All of an export is read. */
function takeAll(value: Json, reader: SourceReader): void {
  if (Array.isArray(value)) for (const item of value as readonly Json[]) takeAll(item, reader);
  if (!isMap(value)) return;
  for (const [key, inner] of Object.entries(value)) {
    reader.mark(value, key);
    takeAll(inner, reader);
  }
}

/** The places of an export that the document does not say again when it is exported. */
function unread(document: Document, foreign: Foreign): Pointer[] {
  const spec = readSpec(document);
  const version = String(foreign.value.openapi);
  const again = version.startsWith('3.0') ? toOpenApi30(spec) : toOpenApi(spec, version.startsWith('3.2') ? '3.2' : '3.1');
  const { [ownKey]: _own, ...said } = foreign.value;
  const { [ownKey]: _again, ...saidAgain } = again;
  return differences(said, saidAgain, '').slice(0, placesMost);
}

/** More of them would say no more. */
const placesMost = 50;

/** The innermost places at which two values differ. */
function differences(one: Json | undefined, other: Json | undefined, at: Pointer): Pointer[] {
  if (isSame(one, other)) return [];
  if (isMap(one) && isMap(other)) {
    const keys = new Set([...Object.keys(one), ...Object.keys(other)]);
    return [...keys].flatMap((key) => differences(own(one, key), own(other, key), below(at, key)));
  }
  if (Array.isArray(one) && Array.isArray(other) && one.length === other.length)
    return one.flatMap((item: Json, index) => differences(item, other[index], below(at, index)));
  return [at];
}

function own(map: JsonMap, key: string): Json | undefined {
  return Object.hasOwn(map, key) ? map[key] : undefined;
}
