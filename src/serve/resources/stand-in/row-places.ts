import type { Json } from '../../../document/document.ts';
import { plainName } from '../../../document/nearest.ts';
import type { Samples } from '../../../parts/samples/samples.ts';
import { isPlainMap } from '../../../parts/source.ts';
import { isFields } from '../body.ts';
import type { RowPlace } from './comparisons.ts';

/** What a list shows: their members by name with their shapes, and the one that tells them apart. */
export interface NarrowedThings {
  readonly members: ReadonlyMap<string, Json | undefined>;
  readonly identifier: string;
  /** Whether they have whatever is sent. */
  readonly isAny: boolean;
  /** Whether nobody can make one: what a search finds of them is made up, and none would have its words. */
  readonly isUnmade?: boolean;
  /** Whether a member can be looked for by a filter that the document states. */
  has(member: string): boolean;
}

/** Where rows have what the words of a request speak of. */
export interface Places {
  readonly isUnmade: boolean;
  /** The place that a word of a request speaks of, however it is written; nothing where it is none. */
  find(name: string): RowPlace | undefined;
  /** Whether a word speaks of a text that may be any. */
  isFreeText(name: string): boolean;
}

/** The fields of a resource, and those inside its one map that has a member so called: `attributes`. */
export function placesOf({ members: fields, identifier, isAny, isUnmade = false }: NarrowedThings, samples: Samples): Places {
  const own = new Map<string, RowPlace>();
  const inner = new Map<string, RowPlace[]>();
  const texts = new Set<string>();
  const know = (name: string, shape: Json | undefined) => {
    const { type, enum: listed, const: only, format } = shape && isPlainMap(shape) ? samples.whole(shape) : {};
    if (type === 'string' && [listed, only, format].every((one) => one === undefined)) texts.add(plainName(name));
  };
  for (const [name, shape] of fields) {
    own.set(plainName(name), (row) => [row[name]]);
    if (name !== identifier) know(name, shape);
    const members: Readonly<Record<string, Json>> = shape && isPlainMap(shape) ? samples.membersOf(shape) : {};
    for (const [member, one] of Object.entries(members)) {
      know(member, one);
      const place: RowPlace = (row) => [isFields(row[name]) ? row[name][member] : undefined];
      inner.set(plainName(member), [...(inner.get(plainName(member)) ?? []), place]);
    }
  }
  const at = (name: string): RowPlace | undefined => {
    const nested = inner.get(name) ?? [];
    return own.get(name) ?? (nested.length === 1 ? nested[0] : undefined);
  };
  return {
    isUnmade,
    isFreeText: (name) => texts.has(plainName(name)),
    find(name) {
      const word = plainName(name);
      if (word === '') return undefined;
      // Things of which nothing is known have whatever is sent.
      if (isAny && !own.has(word)) return (row) => [row[name]];
      return (
        at(word) ??
        at(`${word}s`) ??
        at(word.replace(/s$/, '')) ??
        at(word.replace(/es$/, '')) ??
        at(word.replace(/(?:g|uu)?ids?$/, '')) ??
        at(`${word}id`) ??
        // `nameFilter`, `typeEquals`.
        (/.(?:filters?|equals)$/.test(word) ? at(word.replace(/(?:filters?|equals)$/, '')) : undefined) ??
        (word === 'ids' ? (row) => [row[identifier]] : undefined)
      );
    },
  };
}
