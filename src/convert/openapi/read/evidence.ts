import type { Place, Pointer, Prose } from '../../../document/document.ts';
import type { Foreign } from '../../../document/foreign/foreign.ts';
import { above, below, pathOf } from '../../../document/pointer.ts';
import { valueAt } from '../../../document/source.ts';
import { alternativesWord } from '../../../parts/shapes/keywords.ts';

/** What a tool read off something: a row of a document's `evidence`. */
export interface Evidence {
  /** The fact of the document. */
  readonly fact: Pointer;
  readonly rule: string;
  /** The place of the source, as a pointer into it. */
  readonly from: Pointer;
  readonly confidence: number;
}

/** From each fact of the document that is made, the way back to where the source says it. */
export class Trail {
  readonly #foreign: Foreign;
  readonly origins = new Map<Pointer, Pointer>();
  readonly #words = new Map<Pointer, Pointer>();
  readonly evidence: Evidence[] = [];
  readonly proses: Prose[] = [];

  constructor(foreign: Foreign) {
    this.#foreign = foreign;
  }

  /** What stands at a pointer of the document was said at one of the source. */
  from(at: Pointer, source: Pointer): void {
    this.origins.set(at, source);
  }

  /** What stands at a pointer was said in two maps: words of its own in the second, everything else in the first. */
  fromBoth(at: Pointer, source: Pointer, words: Pointer): void {
    this.origins.set(at, source);
    if (words !== source) this.#words.set(at, words);
  }

  /** What stands at a pointer of the document was inferred by a rule. */
  infer(fact: Pointer, rule: string, from: Pointer, confidence: number): void {
    this.evidence.push({ fact, rule, from, confidence });
    this.origins.set(fact, from);
  }

  prose(at: Pointer, source: Pointer, text: string | undefined): void {
    if (text === undefined || text.trim() === '') return;
    const foreign = this.#foreign;
    this.proses.push({
      at,
      text: text.trim(),
      get place() {
        return foreign.place(below(source, 'description'));
      },
    });
  }

  /**
   * Where the source says what stands at a pointer: what was noted for it, or for what is around it and the same keys below
   * that, as far as the source goes.
   */
  origin(pointer: Pointer): Pointer | undefined {
    const rest: string[] = [];
    for (let at: Pointer | undefined = pointer; at !== undefined; at = above(at)) {
      const known = this.origins.get(at);
      const words = known === undefined ? undefined : this.#words.get(at);
      const [word = ''] = rest;
      if (words !== undefined && this.#holds(below(words, word))) return this.#down(words, rest);
      if (words !== undefined && ownWords.has(word)) return words;
      if (known !== undefined) return this.#down(known, rest);
      const last = pathOf(at).at(-1);
      if (last !== undefined) rest.unshift(last);
    }
    return undefined;
  }

  #down(from: Pointer, rest: readonly string[]): Pointer {
    let at = from;
    for (let index = 0; index < rest.length; index++) {
      const word = rest[index] as string;
      const next = [word, ...(formerWords.get(word) ?? [])].map((one) => below(at, one)).find((one) => this.#holds(one));
      if (next !== undefined) at = next;
      // Alternatives with null, and the place of a parameter's whole shape, stand around what the source says.
      else if (word === alternativesWord) index += 1;
      else if (word !== 'shape') return at;
    }
    return at;
  }

  #holds(pointer: Pointer): boolean {
    return valueAt(this.#foreign.value, pointer) !== undefined;
  }

  /** The places of a document's facts, each looked for in the source when it is asked for. */
  places(): ReadonlyMap<string, Place> {
    return new OriginPlaces(this, this.#foreign);
  }
}

/** Words of a parameter that are none of its schema, said or not. */
const ownWords: ReadonlySet<string> = new Set(['in', 'required', 'style', 'explode']);

/** Words of a schema with what stands in their place in a source. */
const formerWords: ReadonlyMap<string, readonly string[]> = new Map([
  [alternativesWord, ['items']],
  ['prefixItems', ['items']],
  ['examples', ['example']],
  ['exclusiveMinimum', ['minimum']],
  ['exclusiveMaximum', ['maximum']],
]);

/** A map of places that is never filled: half a million of them would cost more than the document itself. */
class OriginPlaces extends Map<string, Place> {
  readonly #trail: Trail;
  readonly #foreign: Foreign;

  constructor(trail: Trail, foreign: Foreign) {
    super();
    this.#trail = trail;
    this.#foreign = foreign;
  }

  override get(pointer: string): Place | undefined {
    const onKey = pointer.endsWith('#');
    const origin = this.#trail.origin(onKey ? pointer.slice(0, -1) : pointer);
    return origin === undefined ? undefined : this.#foreign.place(onKey ? `${origin}#` : origin);
  }

  override has(pointer: string): boolean {
    return this.get(pointer) !== undefined;
  }
}
