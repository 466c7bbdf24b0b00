import type { Json } from '../../../document/document.ts';
import { pathOf } from '../../../document/pointer.ts';
import { entriesOf, entryOf, statedValue } from '../../../parts/fact.ts';
import { type Chance, chanceOf } from '../../../parts/samples/sampler.ts';
import { Samples } from '../../../parts/samples/samples.ts';
import type { Spec } from '../../../parts/spec.ts';
import type { Reader, Transaction } from '../../../store/store.ts';
import type { Exchange, Fields } from '../../exchange/exchange.ts';
import type { RowModel } from '../model.ts';
import { Likeness } from './likeness.ts';
import { compileOwnAddresses } from './own-addresses.ts';
import { shownIdentifier } from './shown-identifiers.ts';

/** What a stand-in makes up, remembered with its row and told with every answer that shows it. */

/** What fills in, for a stand-in, what nothing but an open fact leaves undetermined: from shapes, the same for the same seed. */
export class Sampling {
  readonly samples: Samples;
  /** Those of answers, in which a reference may be shown whole. */
  readonly shown: Samples;
  readonly seed: string;
  /** What new rows are like. */
  readonly likeness: Likeness;
  readonly #identifiers = new Map<string, ReturnType<Samples['identifiers']>>();

  readonly #spec: Spec;

  constructor(spec: Spec, seed: string) {
    this.#spec = spec;
    this.samples = new Samples(spec, { size: 'ordinary', takesAny: true });
    this.shown = new Samples(spec, { size: 'ordinary', showsWhole: true, takesAny: true });
    this.seed = seed;
    this.likeness = new Likeness(spec, this.samples);
    this.isTagging = entriesOf(spec.endpoints.all).some(([, { operation, path }]) => /tag/i.test(`${operation} ${path}`));
  }

  /** Whether some operation is called after tags: what things are tagged with when they are made is kept for it. */
  readonly isTagging: boolean;

  readonly #addresses = new WeakMap<RowModel, ReturnType<typeof compileOwnAddresses>>();

  /** The paths that a new row says of itself, by field. */
  addressesIn(model: RowModel, row: Fields): Readonly<Record<string, string>> {
    const known = this.#addresses.get(model) ?? compileOwnAddresses(this.#spec, model, this.samples, this.likeness);
    this.#addresses.set(model, known);
    return known(row);
  }

  /** The field by which rows of a resource are told apart where they are shown. */
  identifierOf(resource: string): string | undefined {
    const stated = entryOf(this.#spec.resources.all, resource);
    return stated && shownIdentifier(stated);
  }

  readonly #listed = new Map<string, ReadonlyMap<string, Json>>();

  /** What lists of a resource narrow it to where nobody asks: a new row that says nothing of it is one that they show. */
  listedUsually(resource: string): ReadonlyMap<string, Json> {
    const known = this.#listed.get(resource);
    if (known) return known;
    const all = new Map<string, Json>();
    for (const [, { does, parameters }] of entriesOf(this.#spec.endpoints.all)) {
      const effect = statedValue(does);
      if (effect?.verb !== 'list' || effect.resource !== resource) continue;
      for (const [, { filters, chooses, op, default: usual }] of entriesOf(parameters))
        if (filters !== undefined && !chooses && op === '=' && usual && !all.has(filters)) all.set(filters, usual.value);
    }
    this.#listed.set(resource, all);
    return all;
  }

  /** The chance of one place. */
  chance(place: string): Chance {
    return chanceOf(`${this.seed}\n${place}`);
  }

  /** An identifier for a resource that does not say how they are made, the same for the same place and number. */
  identifier(resource: string, place: string, sequence: number): string | number | undefined {
    const make = this.#identifiers.get(resource) ?? this.samples.identifiers(resource, this.likeness.exampleOf(resource));
    this.#identifiers.set(resource, make);
    return make(this.chance(place), sequence);
  }
}

/** Remembers which fields of a row were made up, so that each answer that shows it can say so. */
export function keepNames(rows: Transaction, resource: string, id: string, names: readonly string[]): void {
  rows.keep(keyOf(resource, id), { fingerprint: '', body: names.join('\n'), expiresMs: Number.MAX_SAFE_INTEGER });
}

/** The fields of a row that were made up. */
export function namesOfRow(rows: Reader, resource: string, id: string): string[] {
  const body = rows.record(keyOf(resource, id), 0)?.body ?? '';
  return body === '' ? [] : body.split('\n');
}

function keyOf(resource: string, id: string): string {
  return `sampled\n${resource}\n${id}`;
}

/** The place of something that was made up, as the header names it: `/data/0/name` is `data[].name`, the whole `*`. */
export function nameOf(path: string): string {
  if (path === '') return '*';
  return pathOf(path)
    .map((key, at) => (/^\d+$/.test(key) ? '[]' : `${at === 0 ? '' : '.'}${key}`))
    .join('');
}

/** Names what was made up in the answer to a request. */
export function tellSampled(exchange: Exchange, names: readonly string[]): void {
  if (names.length > 0) exchange.sampled = [...new Set([...(exchange.sampled ?? []), ...names])];
}

/** The names as a header carries them; a name that a header cannot carry is percent-encoded. */
export function sampledHeader(names: readonly string[]): string {
  const told = names
    .slice(0, toldMost)
    .map((name) => name.toWellFormed().replaceAll(/[^\x21-\x2b\x2d-\x7e]/gu, encodeURIComponent));
  return names.length > toldMost ? `${told.join(', ')}, and ${names.length - toldMost} more` : told.join(', ');
}

const toldMost = 64;
