import type { Json, JsonMap, Pointer } from '../../../document/document.ts';
import { below } from '../../../document/pointer.ts';
import { isMap, jsonTypes, newMap, type OpenMap } from '../../../document/values.ts';
import { bytesFormat } from '../../../kinds/formats/all.ts';
import { alternativesWord } from '../../../parts/shapes/keywords.ts';
import { settle } from './contradictions.ts';
import {
  isOfKind,
  isPattern,
  type KeywordKind,
  openapiKeywords,
  propertiesOf,
  shapeOrNull,
  shortened,
  unicodePattern,
} from './keywords.ts';
import { type At, refOf, refOfMapping, type SourceReader } from './reader.ts';
import type { SchemaNames } from './schema-names.ts';

/** Writes the schemas of a source as shapes of this language. A reference becomes the name of the resource that it leads to. */
export class Shapes {
  readonly reader: SourceReader;
  readonly names: SchemaNames;
  readonly #nullable = new Map<string, boolean>();

  constructor(reader: SourceReader, names: SchemaNames) {
    this.reader = reader;
    this.names = names;
  }

  /** The shape of a schema; undefined where none stands there. Short forms stand where they say it all. */
  of({ value, at }: At, depth = 0): Json | undefined {
    if (typeof value === 'boolean') return value ? newMap() : false;
    if (!isMap(value)) {
      if (value !== undefined) this.reader.find('import/invalid', at, 'A schema is a map.');
      return undefined;
    }
    const ref = refOf(value);
    // What is written as one shape has to be read again, and a document is nested so deep at most.
    if (depth > depthMost && ref === undefined) {
      const name = this.names.at(at);
      return this.#isNullable(value, at) ? `${name}?` : name;
    }
    return shortened(ref === undefined ? this.#keywords(value, at, depth) : this.#reference(ref, value, at, depth));
  }

  /** Siblings of a reference count since 3.1; before, they are not read. `nullable` is meant wherever it stands. */
  #reference(ref: string, schema: JsonMap, at: Pointer, depth: number): OpenMap {
    this.reader.mark(schema, '$ref');
    const name = this.names.of(ref);
    const target: OpenMap = newMap();
    if (name === undefined) {
      this.reader.find('import/ref-unresolved', at, `\`${ref}\` leads to nothing.`);
      target.$open = `What is ${ref}?`;
      return target;
    }
    const isNullable = this.#isNullable(schema, at) || this.#allowsNull(ref);
    target.type = isNullable ? `${name}?` : name;
    const siblings = this.reader.dialect === '3.1' ? this.#keywords(schema, at, depth, true) : newMap();
    delete siblings.type;
    return Object.assign(target, siblings);
  }

  /** A map of fields is never null itself, so where a schema allows null each use of it does. */
  #allowsNull(ref: string): boolean {
    const known = this.#nullable.get(ref);
    if (known !== undefined) return known;
    const target = this.reader.target(ref);
    const isNullable =
      isMap(target?.value) &&
      this.#isNullable(target.value, target.at) &&
      (propertiesOf({ value: target.value, at: target.at }, this.reader)?.fields.size ?? 0) > 0;
    this.#nullable.set(ref, isNullable);
    return isNullable;
  }

  /** Every keyword that the language has, as it has it. */
  #keywords(schema: JsonMap, at: Pointer, depth: number, isBesideRef = false): OpenMap {
    const shape: OpenMap = newMap();
    this.#types(schema, at, shape);
    for (const key of Object.keys(schema)) {
      const kind = openapiKeywords.get(key);
      if (kind === undefined) continue;
      const value = schema[key] as Json;
      const place = below(at, key);
      if (kind === 'schema' || kind === 'schemas' || kind === 'schema map') this.#inner(shape, kind, key, schema, at, depth);
      else if (isOfKind(kind, value)) this.#plain(shape, key, schema, place);
      else this.#invalid(key, place);
    }
    for (const key of readExclusives(shape, schema, this.reader)) this.#invalid(key, below(at, key));
    if (isMap(schema.discriminator)) shape.discriminator = this.#discriminator(schema.discriminator, schema);
    const isNullable = !isBesideRef && this.#isNullable(schema, at);
    settle(shape, schema, at, this.reader, isNullable);
    return isNullable ? shapeOrNull(shape) : shape;
  }

  #types(schema: JsonMap, at: Pointer, shape: OpenMap): void {
    if (!Object.hasOwn(schema, 'type')) return;
    const type = schema.type as Json;
    const words = (Array.isArray(type) ? type : [type]).filter((word): word is string => typeof word === 'string');
    if (type === 'file') {
      this.reader.mark(schema, 'type');
      shape.type = 'string';
      shape.format = bytesFormat;
    } else if (words.length === 0 || words.some((word) => !jsonTypes.has(word))) {
      this.reader.find('import/invalid', below(at, 'type'), `${JSON.stringify(type)} is no type of JSON.`);
    } else {
      this.reader.mark(schema, 'type');
      shape.type = words.length === 1 ? (words[0] as string) : [...new Set(words)];
    }
  }

  #inner(shape: OpenMap, kind: KeywordKind, key: string, schema: JsonMap, at: Pointer, depth: number): void {
    const value = schema[key] as Json;
    const place = below(at, key);
    const inner = (item: Json, pointer: Pointer): Json => this.of({ value: item, at: pointer }, depth + 1) ?? newMap();
    if (kind === 'schemas' || (key === 'items' && Array.isArray(value))) {
      if (!Array.isArray(value) || value.length === 0) {
        this.#invalid(key, place);
        return;
      }
      this.reader.mark(schema, key);
      if (key === 'items' && this.reader.dialect !== '3.1') this.reader.once('import/other-version', place, listedItems);
      shape[key === 'items' ? this.#wordForItems(schema) : key] = value.map((item: Json, index) =>
        inner(item, below(place, index)),
      );
    } else if (kind === 'schema map') {
      if (!isMap(value)) {
        this.#invalid(key, place);
        return;
      }
      this.reader.mark(schema, key);
      const map: OpenMap = newMap();
      for (const name of Object.keys(value)) map[name] = inner(value[name] as Json, below(place, name));
      shape[key] = map;
    } else if (isMap(value) || typeof value === 'boolean') {
      this.reader.mark(schema, key);
      shape[key] = inner(value, place);
    } else this.#invalid(key, place);
  }

  /** What tells alternatives apart: a property, and by its words the names of the resources. */
  #discriminator({ propertyName, mapping }: JsonMap, schema: JsonMap): JsonMap {
    this.reader.mark(schema, 'discriminator');
    const names: OpenMap = newMap();
    for (const [word, ref] of isMap(mapping) ? Object.entries(mapping) : []) {
      const name = typeof ref === 'string' ? this.names.of(refOfMapping(ref)) : undefined;
      if (name !== undefined) names[word] = name;
    }
    return { propertyName: String(propertyName), ...(Object.keys(names).length > 0 && { mapping: names }) };
  }

  /** A list under `items` is what later drafts call `prefixItems`; beside no `type: array` it is written where alternatives are meant. */
  #wordForItems(schema: JsonMap): string {
    return schema.type === undefined && this.reader.dialect !== '3.1' ? alternativesWord : 'prefixItems';
  }

  #plain(shape: OpenMap, key: string, schema: JsonMap, place: Pointer): void {
    const value = schema[key] as Json;
    if (key === 'pattern') {
      const pattern = unicodePattern(String(value));
      if (!isPattern(pattern)) {
        this.reader.find('import/invalid', place, 'This is no regular expression of ECMA-262.');
        return;
      }
      shape[key] = pattern;
    } else if (key === 'enum' && Array.isArray(value)) {
      if (value.length === 0) {
        this.#invalid(key, place);
        return;
      }
      shape[key] = value;
    } else if (key === 'required' && Array.isArray(value)) {
      if (value.length > 0) shape[key] = [...new Set(value)] as Json[];
    } else if (key === 'deprecated' || key === 'readOnly' || key === 'writeOnly' || key === 'uniqueItems') {
      if (value === true) shape[key] = true;
    } else shape[key] = value;
    this.reader.mark(schema, key);
  }

  /** `nullable` is a word of 3.0 alone, and is written in later documents all the same. */
  #isNullable(schema: JsonMap, at: Pointer): boolean {
    if (!Object.hasOwn(schema, 'nullable') && schema['x-nullable'] !== true) return false;
    const key = Object.hasOwn(schema, 'nullable') ? 'nullable' : 'x-nullable';
    if (typeof schema[key] !== 'boolean') return false;
    this.reader.mark(schema, key);
    if (key === 'nullable' && this.reader.dialect === '3.1')
      this.reader.once('import/other-version', below(at, key), otherVersion);
    return schema[key] === true;
  }

  #invalid(key: string, at: Pointer): void {
    this.reader.find('import/invalid', at, `This is no value of \`${key}\`.`);
    this.reader.leave(at, 'it has no valid form');
  }
}

const depthMost = 20;
const otherVersion = '`nullable` is no word of OpenAPI 3.1; it is read as it was meant in 3.0.';

const listedItems = 'A list under `items` is no word of this version; beside no `type` it is read as alternatives.';

/** Reads the ends that are left out: bounds of their own, or flags beside a bound as they were before 3.1. Gives the keys that are neither. */
function readExclusives(shape: OpenMap, schema: JsonMap, reader: SourceReader): string[] {
  const invalid: string[] = [];
  for (const [key, bound] of exclusives) {
    const value = Object.hasOwn(schema, key) ? schema[key] : undefined;
    if (value === undefined) continue;
    if (typeof value === 'number') shape[key] = value;
    else if (value === true && typeof schema[bound] === 'number') {
      shape[key] = schema[bound];
      delete shape[bound];
    } else if (typeof value !== 'boolean') {
      invalid.push(key);
      continue;
    }
    reader.mark(schema, key);
  }
  return invalid;
}

const exclusives = [
  ['exclusiveMinimum', 'minimum'],
  ['exclusiveMaximum', 'maximum'],
] as const;
