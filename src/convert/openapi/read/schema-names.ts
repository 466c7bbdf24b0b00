import type { Pointer } from '../../../document/document.ts';
import { below, pathOf } from '../../../document/pointer.ts';
import { isMap, jsonTypes } from '../../../document/values.ts';
import { pointerOfRef, type SourceReader } from './reader.ts';

/** The names that the schemas of a source have as resources: their own, made fit where the language could not read them. */
export class SchemaNames {
  readonly #reader: SourceReader;
  readonly #byPointer = new Map<Pointer, string>();
  readonly #byRef = new Map<string, string | undefined>();
  readonly #used = new Set<string>();

  constructor(reader: SourceReader) {
    this.#reader = reader;
    const holder = reader.dialect === '2.0' ? '/definitions' : '/components/schemas';
    const schemas = reader.target(`#${holder}`)?.value;
    if (isMap(schemas)) for (const name of Object.keys(schemas)) this.#name(below(holder, name), name);
  }

  /** Every schema that has a name, by pointer, those met on the way included; it grows while schemas are read. */
  entries(): [Pointer, string][] {
    return [...this.#byPointer];
  }

  /** The name of what a reference leads to; nothing where it leads to no schema. */
  of(ref: string): string | undefined {
    if (this.#byRef.has(ref)) return this.#byRef.get(ref);
    const pointer = pointerOfRef(ref);
    const value = pointer === undefined ? undefined : this.#reader.target(ref)?.value;
    const name = pointer !== undefined && (isMap(value) || typeof value === 'boolean') ? this.at(pointer) : undefined;
    this.#byRef.set(ref, name);
    return name;
  }

  /** The name of the schema at a pointer; one that stands inside another gets a name of its keys. */
  at(pointer: Pointer, wanted = nameOfPointer(pointer)): string {
    return this.#byPointer.get(pointer) ?? this.#name(pointer, wanted);
  }

  /** A name that no schema has yet. */
  free(wanted: string): string {
    let name = fitName(wanted);
    for (let count = 2; this.#used.has(name); count++) name = `${fitName(wanted)}_${count}`;
    this.#used.add(name);
    return name;
  }

  #name(pointer: Pointer, wanted: string): string {
    const name = this.free(wanted);
    this.#byPointer.set(pointer, name);
    return name;
  }
}

/** A name with spaces, brackets or a question mark would not be read as one, nor one that is a type or a word of its own. */
function fitName(wanted: string): string {
  const name = wanted.replaceAll(/[^\p{L}\p{N}_.$-]+/gu, '_').replace(/^_+|_+$/g, '') || 'schema';
  return jsonTypes.has(name) || reserved.has(name) ? `${name}_` : name;
}

const reserved: ReadonlySet<string> = new Set(['others', 'none', 'any', 'file']);

/** `pets.yaml` for a whole file, `customer_address` for a property of a schema. */
function nameOfPointer(pointer: Pointer): string {
  const path = pathOf(pointer).filter((word) => !structural.has(word));
  const words = path.map((word) => (/[./]/.test(word) ? word.replace(/^.*\//, '').replace(/\.(?:json|ya?ml)$/i, '') : word));
  return words.length > 1 && /\.(?:json|ya?ml)$/i.test(path[0] ?? '') ? words.slice(1).join('_') : words.join('_');
}

const structural: ReadonlySet<string> = new Set([
  ...['components', 'schemas', 'definitions', 'properties', 'paths', 'responses', 'content', 'schema', 'items', 'requestBody'],
  ...['$files', '$defs', 'application/json'],
]);
