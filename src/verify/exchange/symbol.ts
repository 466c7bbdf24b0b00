import type { Json } from '../../document/document.ts';
import type { Draw } from '../../kinds/generators/kind.ts';
import { asText } from './as-text.ts';
import { isExchange } from './exchange.ts';
import { asLater } from './later.ts';

/** Where in an answer a value stands. */
export type Spot =
  | { readonly in: 'body'; readonly pointer: readonly (string | number)[] }
  /** A header; with a pattern, what its first group finds there. */
  | { readonly in: 'header'; readonly name: string; readonly pattern?: string };

/** A value of an earlier answer, which is another one in every run. */
export class Captured {
  readonly step: number;
  readonly spot: Spot;
  /** A text that stands before it. */
  readonly before: string;
  constructor(step: number, spot: Spot, before = '') {
    this.step = step;
    this.spot = spot;
    this.before = before;
  }
}

/** A value that is made anew for every run, so that nothing that is there already has it. */
export class Fresh {
  /** The text before the new part, for a value that is such a text; a shell can then make one too. */
  readonly prefix: string | undefined;
  /** Made from chance, or from other new values of the same run. */
  readonly make: (draw: Draw, run: Values) => Json;
  /** What a shell has in its place, where that is a variable and more: an address of the receiver that the script starts. */
  readonly shell: { readonly variable: string; readonly rest: string } | undefined;
  constructor(make: (draw: Draw, run: Values) => Json, prefix?: string, shell?: Fresh['shell']) {
    this.make = make;
    this.prefix = prefix;
    this.shell = shell;
  }
}

/** JSON with values in it that only a run knows. */
export type Symbolic = Json | Captured | Fresh | readonly Symbolic[] | { readonly [key: string]: Symbolic };

/** What values are found in: the answers so far, and what is new in this run. */
export interface Values {
  /** What each step gave so far, by its number. */
  readonly results: unknown[];
  /** The values that are new in this run. */
  readonly fresh: DrawnValues;
  readonly draw: Draw;
  /** How much later by the service's clock than it was drawn for a body is sent: times in it are as much later. */
  laterMs?: number;
}

/** A text that no earlier run has used. */
export function freshText(prefix: string, length = 10): Fresh {
  return new Fresh((draw) => `${prefix}${token(draw, length)}`, prefix);
}

/** The value in a run. @throws {Missing} where the answer that it comes from does not have it. */
export function resolve(value: Symbolic, run: Values): Json {
  if (value instanceof Captured) return valueAt(value, run);
  if (value instanceof Fresh) {
    const known = run.fresh.get(value);
    if (known !== undefined) return known;
    const made = value.make(run.draw, run);
    run.fresh.set(value, made);
    return made;
  }
  if (isList(value)) return value.map((item) => resolve(item, run));
  if (typeof value === 'string') return run.laterMs === undefined ? value : asLater(value, run.laterMs);
  if (typeof value !== 'object' || value === null) return value;
  const out: Record<string, Json> = Object.create(null);
  for (const [key, item] of Object.entries(value)) out[key] = resolve(item as Symbolic, run);
  return out;
}

/** An earlier answer lacks a value that a later request needs. */
export class Missing extends Error {
  override readonly name = 'Missing';
}

/** Every value in it that comes from an earlier answer. */
export function capturesIn(value: Symbolic): Captured[] {
  if (value instanceof Captured) return [value];
  if (value instanceof Fresh || typeof value !== 'object' || value === null) return [];
  return (isList(value) ? [...value] : Object.values(value)).flatMap((item) => capturesIn(item as Symbolic));
}

/** The same value where the answers that it is taken from have other numbers. */
export function renumbered(value: Symbolic, numbers: ReadonlyMap<number, number>): Symbolic {
  if (value instanceof Captured) return new Captured(numbers.get(value.step) ?? value.step, value.spot, value.before);
  if (value instanceof Fresh || typeof value !== 'object' || value === null) return value;
  if (isList(value)) return value.map((item) => renumbered(item, numbers));
  const out: Record<string, Symbolic> = Object.create(null);
  for (const [key, item] of Object.entries(value)) out[key] = renumbered(item as Symbolic, numbers);
  return out;
}

/** Every value in it that each run makes anew. */
export function freshIn(value: Symbolic): Fresh[] {
  if (value instanceof Fresh) return [value];
  if (value instanceof Captured || typeof value !== 'object' || value === null) return [];
  return (isList(value) ? [...value] : Object.values(value)).flatMap((item) => freshIn(item as Symbolic));
}

export function isList(value: Symbolic): value is readonly Symbolic[] {
  return Array.isArray(value);
}

function valueAt({ step, spot, before }: Captured, run: Values): Json {
  const exchange = run.results[step];
  const value = isExchange(exchange) ? spotIn(exchange, spot) : undefined;
  if (value === undefined)
    throw new Missing(`step ${step + 1} gave no ${spot.in === 'header' ? spot.name : spot.pointer.join('/')}`);
  return before === '' ? value : `${before}${asText(value)}`;
}

function spotIn(exchange: { readonly headers: Readonly<Record<string, string>>; readonly body: Json | undefined }, spot: Spot) {
  if (spot.in === 'header') {
    const value = exchange.headers[spot.name];
    return spot.pattern === undefined || value === undefined ? value : new RegExp(spot.pattern).exec(value)?.[1];
  }
  return spot.pointer.reduce<Json | undefined>((at, key) => {
    if (typeof at !== 'object' || at === null) return undefined;
    // The cast holds: a list and a map both answer to an own key, and give nothing for one that they do not have.
    return Object.hasOwn(at, key) ? (at as Record<string | number, Json>)[key] : undefined;
  }, exchange.body);
}

const letters = 'abcdefghijklmnopqrstuvwxyz0123456789';

function token(draw: Draw, length: number): string {
  return [...draw.bytes(length)].map((byte) => letters[byte % letters.length]).join('');
}

/** The values that were drawn in a run, each by what it stands for. */
export class DrawnValues extends Map<Fresh, Json> {
  readonly #all = new Set<Json>();

  override set(one: Fresh, value: Json): this {
    this.#all.add(value);
    return super.set(one, value);
  }

  /** Whether something was drawn before: asked for every value of few. */
  holds(value: Json): boolean {
    return this.#all.has(value);
  }
}
