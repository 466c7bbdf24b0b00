import type { Finding, Json, JsonMap, Pointer } from '../../../document/document.ts';
import { type Foreign, type ForeignCode, foreignFindings } from '../../../document/foreign/foreign.ts';
import { below, percentDecoded } from '../../../document/pointer.ts';
import { valueAt } from '../../../document/source.ts';
import { isMap, newMap, type OpenMap } from '../../../document/values.ts';

/** A value of the source and where it stands there. */
export interface At {
  readonly value: Json | undefined;
  readonly at: Pointer;
}

/** A map of the source and where it stands there. */
export interface MapAt {
  readonly value: JsonMap;
  readonly at: Pointer;
}

/** What is kept of a source's reading beside its values: what was taken, what was found, and why something was not carried. */
export class SourceReader {
  readonly foreign: Foreign;
  readonly root: MapAt;
  readonly dialect: Dialect;
  readonly findings: Finding[] = [];
  /** By map of the source, the keys whose values were taken; only kept where somebody asks for the report. */
  readonly taken: Map<JsonMap, Set<string>> | undefined;
  /** Maps that say again what was taken elsewhere. */
  readonly again = new Set<JsonMap>();
  /** Why values were not carried, by pointer. */
  readonly reasons = new Map<Pointer, string>();
  readonly #found = new Set<string>();
  readonly #targets = new Map<string, At>();
  readonly #copies = new Map<JsonMap, JsonMap>();

  constructor(foreign: Foreign, dialect: Dialect, traces: boolean) {
    this.foreign = foreign;
    this.root = { value: foreign.value, at: '' };
    this.dialect = dialect;
    this.taken = traces ? new Map() : undefined;
  }

  /** A value below a key, which is thereby taken. */
  get(map: MapAt, key: string): At {
    return { value: this.take(map.value, key), at: below(map.at, key) };
  }

  /** The value of a key, which is thereby taken; nothing that is inherited. */
  take(map: JsonMap, key: string): Json | undefined {
    if (!Object.hasOwn(map, key)) return undefined;
    this.mark(map, key);
    return map[key];
  }

  mark(map: JsonMap, key: string): void {
    if (!this.taken) return;
    const real = this.#copies.get(map) ?? map;
    const keys = this.taken.get(real);
    if (keys) keys.add(key);
    else this.taken.set(real, new Set([key]));
  }

  /** Says that a map was made of one of the source, so that what is taken of it counts there. */
  copied(copy: JsonMap, of: JsonMap): JsonMap {
    if (this.taken) this.#copies.set(copy, of);
    return copy;
  }

  text(map: MapAt, key: string): string | undefined {
    const value = Object.hasOwn(map.value, key) ? map.value[key] : undefined;
    if (typeof value !== 'string' && typeof value !== 'number') return undefined;
    this.mark(map.value, key);
    return String(value);
  }

  flag(map: MapAt, key: string): boolean {
    const value = Object.hasOwn(map.value, key) ? map.value[key] : undefined;
    if (typeof value !== 'boolean') return false;
    this.mark(map.value, key);
    return value;
  }

  /** The map below a key; nothing where something else stands there. */
  map(map: MapAt, key: string): MapAt | undefined {
    const value = Object.hasOwn(map.value, key) ? map.value[key] : undefined;
    return isMap(value) ? { value, at: below(map.at, key) } : undefined;
  }

  /** The maps below a key, by their own keys, references followed; extensions are left out. */
  maps(map: MapAt, key: string): (readonly [string, MapAt])[] {
    const holder = this.map(map, key);
    return holder ? this.entries(holder) : [];
  }

  entries(holder: MapAt): (readonly [string, MapAt])[] {
    return Object.keys(holder.value).flatMap((name) => {
      if (name.startsWith('x-')) return [];
      const found = this.follow({ value: holder.value[name], at: below(holder.at, name) });
      return found ? [[name, found] as const] : [];
    });
  }

  /** The maps of the list below a key, references followed. */
  list(map: MapAt, key: string): MapAt[] {
    const value = Object.hasOwn(map.value, key) ? map.value[key] : undefined;
    if (!Array.isArray(value)) return [];
    const at = below(map.at, key);
    return value.flatMap((item: Json, index) => this.follow({ value: item, at: below(at, index) }) ?? []);
  }

  /** What a reference leads to, over several of them; the value itself where it is none. */
  follow({ value, at }: At): MapAt | undefined {
    let found: At = { value, at };
    for (let steps = 0; steps < referencesMost; steps++) {
      if (!isMap(found.value)) return undefined;
      const ref = refOf(found.value);
      if (ref === undefined) return { value: found.value, at: found.at };
      this.mark(found.value, '$ref');
      const target = this.target(ref);
      if (target === undefined) {
        this.find('import/ref-unresolved', found.at, `\`${ref}\` leads to nothing.`);
        return undefined;
      }
      found = target;
    }
    this.find('import/ref-unresolved', at, 'References lead round in a circle.');
    return undefined;
  }

  /** What stands at a reference into this document. */
  target(ref: string): At | undefined {
    const known = this.#targets.get(ref);
    if (known) return known;
    const pointer = pointerOfRef(ref);
    if (pointer === undefined) return undefined;
    const value = valueAt(this.root.value, pointer);
    if (value === undefined) return undefined;
    const target = { value, at: pointer };
    this.#targets.set(ref, target);
    return target;
  }

  find(code: ForeignCode, at: Pointer, message: string): void {
    if (this.findings.length >= findingsMost) return;
    const { foreign } = this;
    const kind = foreignFindings.find((one) => one.code === code);
    this.findings.push({
      code,
      severity: 'warning',
      message,
      ...(kind && { remedy: kind.remedy }),
      get place() {
        return foreign.place(at);
      },
    });
  }

  /** Finds something that is likely to be everywhere in a document, at its first place. */
  once(code: ForeignCode, at: Pointer, message: string): void {
    if (this.#found.has(message)) return;
    this.#found.add(message);
    this.find(code, at, message);
  }

  /** Says why a value of the source is not in the document. */
  leave(at: Pointer, why: string): void {
    this.reasons.set(at, why);
  }
}

/** Which of the formats a source is written in. */
export type Dialect = '2.0' | '3.0' | '3.1';

const referencesMost = 32;
const findingsMost = 1_000;

/** The reference that a map is, if it is one. */
export function refOf(map: JsonMap): string | undefined {
  const ref = Object.hasOwn(map, '$ref') ? map.$ref : undefined;
  return typeof ref === 'string' ? ref : undefined;
}

/** The pointer of a reference into the same document (RFC 6901 section 6); nothing for any other. */
export function pointerOfRef(ref: string): Pointer | undefined {
  if (ref === '#') return '';
  if (!ref.startsWith('#/')) return undefined;
  return percentDecoded(ref.slice(1));
}

/** The reference that a discriminator's mapping means: a reference, or the bare name of a schema. */
export function refOfMapping(written: string): string {
  return written.startsWith('#') ? written : `#/components/schemas/${written}`;
}

/** A map of the document that is being made, to be filled further: the importer made it, and nobody else has it yet. */
export function made(map: JsonMap): OpenMap {
  return map;
}

/** The same where one stands already, else a new one. */
export function madeOrNew(value: Json | undefined): OpenMap {
  return isMap(value) ? made(value) : newMap();
}
