import type { Document, Json, JsonMap, Pointer } from '../document/document.ts';
import { below } from '../document/pointer.ts';
import type { Expression, Fact, Named, Unstated } from './fact.ts';

/** What reading a document keeps beside its tree: which facts a tool inferred. */
export interface Reading {
  readonly document: Document;
  readonly inferred: ReadonlySet<Pointer>;
}

/**
 * A value of the tree together with its place, for the readers of the nine parts. It never throws: a value of the wrong
 * form reads as absent, since the form of the tree has been checked against the schema and found wanting already.
 */
export class Source {
  readonly reading: Reading;
  readonly value: Json | undefined;
  readonly at: Pointer;

  constructor(reading: Reading, value: Json | undefined, at: Pointer) {
    this.reading = reading;
    this.value = value;
    this.at = at;
  }

  get(key: string): Source {
    return new Source(this.reading, isPlainMap(this.value) ? own(this.value, key) : undefined, below(this.at, key));
  }

  has(key: string): boolean {
    return isPlainMap(this.value) && own(this.value, key) !== undefined;
  }

  get isMap(): boolean {
    return isPlainMap(this.value);
  }

  entries(): [string, Source][] {
    return isPlainMap(this.value) ? Object.keys(this.value).map((key) => [key, this.get(key)]) : [];
  }

  /** The items of a list; a lone value is a list of one. */
  items(): Source[] {
    if (this.value === undefined) return [];
    const list = Array.isArray(this.value) ? (this.value as Json[]) : undefined;
    if (!list) return [this];
    return list.map((item, index) => new Source(this.reading, item, `${this.at}/${index}`));
  }

  /** The items of a list for which `none` may stand: then, and where nothing is written, there are none. */
  listed(): Source[] {
    return this.unstated() ? [] : this.items();
  }

  text(): string | undefined {
    if (typeof this.value === 'string') return this.value;
    return typeof this.value === 'number' || typeof this.value === 'boolean' ? String(this.value) : undefined;
  }

  number(): number | undefined {
    return typeof this.value === 'number' ? this.value : undefined;
  }

  flag(): boolean | undefined {
    return typeof this.value === 'boolean' ? this.value : undefined;
  }

  /** A list of words; a lone word is a list of one. */
  words(): string[] {
    return this.items().flatMap((item) => item.text() ?? []);
  }

  expression(): Expression | undefined {
    const source = this.text();
    return source === undefined ? undefined : { source, at: this.at };
  }

  expressions(): Named<Expression> {
    return named(
      this.entries().flatMap(([key, source]) => {
        const expression = source.expression();
        return expression ? [[key, expression] as const] : [];
      }),
    );
  }

  /** A map of values, each an expression, or a map or a list of such: `{ error: { code: code, tags: ["'a'"] } }`. */
  madeValues(): Named<Expression> {
    return named(
      this.entries().flatMap(([key, source]) => {
        const made = source.#made();
        return made ? [[key, made] as const] : [];
      }),
    );
  }

  /** What is written as one expression, or in parts as the one that makes them; a part stands alone, whatever is written in it. */
  #made(): Expression | undefined {
    const isList = Array.isArray(this.value);
    if (!isList && (!this.isMap || this.unstated('tags only'))) return this.expression();
    const entries = isList ? this.items().map((item, index) => [String(index), item] as const) : this.entries();
    const parts = entries.flatMap(([key, source]) => {
      const made = source.#made();
      return made ? [[key, made] as const] : [];
    });
    const written = parts.map(([key, { source }]) => (isList ? `(${source}\n)` : `${JSON.stringify(key)}: (${source}\n)`));
    return { source: isList ? `[${written.join(', ')}]` : `{${written.join(', ')}}`, at: this.at, parts: named(parts) };
  }

  /** What is written under words that belong to kinds; one that stands open, or that cannot be read, is left out. */
  members<T>(words: readonly string[], read: (source: Source) => T | undefined): Named<T> {
    return named(
      words.flatMap((word) => {
        const own = this.get(word);
        const value = own.unstated('tags only') ? undefined : read(own);
        return value === undefined ? [] : [[word, value] as const];
      }),
    );
  }

  /** The standing written here instead of a value. Bare `none` and `any` count where a map, a list or a rule is expected. */
  unstated(bare: 'bare words' | 'tags only' = 'bare words'): Unstated | undefined {
    const { value, at } = this;
    if (value === undefined) return { standing: 'open', at };
    if (bare === 'bare words' && (value === 'none' || value === 'any')) return { standing: value, at };
    if (!isPlainMap(value)) return undefined;
    if ('$open' in value) {
      const question = value.$open;
      return typeof question === 'string' && question !== '' ? { standing: 'open', at, question } : { standing: 'open', at };
    }
    if ('$none' in value) return { standing: 'none', at };
    if ('$any' in value) return { standing: 'any', at };
    return undefined;
  }

  /** A part for the whole of which a standing is written: each of its facts has it. */
  eachOf(words: readonly string[]): Source {
    const { value } = this;
    const standing = value === undefined ? undefined : this.unstated();
    if (!standing) return this;
    const one: Json = isPlainMap(value) ? value : { [`$${standing.standing}`]: true };
    return new Source(this.reading, named(words.map((word) => [word, one] as const)), this.at);
  }

  /** A fact: the standing written here, or what `read` makes of the value; what it cannot read is open. */
  fact<T>(read: (source: Source) => T | undefined, bare: 'bare words' | 'tags only' = 'bare words'): Fact<T> {
    const unstated = this.unstated(bare);
    if (unstated) return unstated;
    const value = read(this);
    if (value === undefined) return { standing: 'open', at: this.at };
    return { standing: this.reading.inferred.has(this.at) ? 'inferred' : 'stated', value, at: this.at };
  }
}

/** A map without a prototype. */
export function named<T>(entries: Iterable<readonly [string, T]>): Named<T> {
  const map: Record<string, T> = Object.create(null);
  for (const [key, value] of entries) map[key] = value;
  return map;
}

export function isPlainMap(value: Json | undefined): value is JsonMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function own(map: JsonMap, key: string): Json | undefined {
  return Object.hasOwn(map, key) ? map[key] : undefined;
}
