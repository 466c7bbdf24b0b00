import type { Document } from '../../../document/document.ts';
import { type Foreign, languageOf } from '../../../document/foreign/foreign.ts';
import { below } from '../../../document/pointer.ts';
import { newMap, type OpenMap } from '../../../document/values.ts';
import type { Imported } from '../../openapi/import.ts';
import { Trail } from '../../openapi/read/evidence.ts';
import { SourceReader } from '../../openapi/read/reader.ts';
import { writeResources } from '../../openapi/read/resources.ts';
import { SchemaNames } from '../../openapi/read/schema-names.ts';
import { Shapes } from '../../openapi/read/shapes.ts';

/** Reads a JSON Schema that stands alone: itself and each of its definitions is a resource; it says nothing else of a service. */
export function importJsonSchema(foreign: Foreign, traces = false): Imported {
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
