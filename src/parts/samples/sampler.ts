/** What samples are made with: the chance that follows from a text, and the ground on which a sampler makes values of a shape. */

import type { Json } from '../../document/document.ts';
import type { FormatDraw } from '../../kinds/formats/standard.ts';

/** What samples are made of: chance that is the same for the same text. */
export type Chance = FormatDraw;

/** Samples are of this year, whenever they are made: the first second of 2026. */
const sampledMs = 1_767_225_600_000;

/** Chance that follows from a text: 128 bits of it start a generator of small numbers (sfc32). It keeps no secrets. */
export function chanceOf(text: string): Chance {
  const next = smallNumbers(text);
  const bytes = (length: number): Uint8Array => Uint8Array.from({ length }, () => next() >>> 24);
  return {
    nowMs: sampledMs,
    bytes,
    uuid: () => uuidOf(bytes(16)),
    below: (bound) => Math.floor((next() / 2 ** 32) * bound),
  };
}

/** UUID version 4 (RFC 9562 section 5.4) of 16 bytes. */
function uuidOf(bytes: Uint8Array): string {
  const hex = [...bytes].map((byte, at) =>
    (at === 6 ? (byte & 15) | 64 : at === 8 ? (byte & 63) | 128 : byte).toString(16).padStart(2, '0'),
  );
  return [hex.slice(0, 4), hex.slice(4, 6), hex.slice(6, 8), hex.slice(8, 10), hex.slice(10)]
    .map((part) => part.join(''))
    .join('-');
}

function smallNumbers(text: string): () => number {
  let [a, b, c, d] = [0x9e3779b9, 0x243f6a88, 0xb7e15162, 0x2545f491];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    a = b ^ Math.imul(a ^ code, 597_399_067);
    b = c ^ Math.imul(b ^ code, 2_869_860_233);
    c = d ^ Math.imul(c ^ code, 951_274_213);
    d = a ^ Math.imul(d ^ code, 2_716_044_179);
  }
  const next = (): number => {
    const sum = (a + b + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;
    return sum >>> 0;
  };
  // The first numbers still look like the text.
  for (let round = 0; round < 12; round++) next();
  return next;
}

/** Whether a value surely is of a shape. Where a keyword is beyond these means, none is. */
export type Fits = (value: unknown) => boolean;

/** Where a value is made: what it follows from, what it may refer to, and who is told of it. */
export interface Ground {
  /** The same seed and path give the same value. */
  readonly seed: string;
  /** The identifier of a row that is there; nothing where none can be had. */
  identifierOf(resource: string, path: string): Json | undefined;
  /** A row that is there, for where the thing itself is to stand and its identifier was given. */
  rowOf?(resource: string, id: string | number): unknown;
  /** Told each place that was made up, not what stands inside it. */
  sampled(path: string): void;
  /** Whether members that are not required are made too, as far as the budget goes. */
  readonly isFull?: boolean;
  /** Whether what may be null is, wherever it stands: of a new thing nobody knows what has come about. */
  readonly keepsNull?: true;
  /** How many values may still be made; what is beyond it cannot be made. Shared by everything that is made together. */
  readonly budget?: SampleBudget;
}

export interface SampleBudget {
  left: number;
}

/** Values of one shape. Paths are JSON Pointers. */
export interface Sampler {
  readonly fits: Fits;
  /** How deep the shallowest value is. */
  readonly cost: number;
  /** Whether there is only one value, so that nothing is made up. */
  readonly isFixed: boolean;
  /** A value from nothing: what is required and no more; `nothing` where there is none. */
  make(ground: Ground, path: string): unknown;
  /** A value that keeps of a given one what fits, and makes up what is required and not there. */
  complete(given: unknown, ground: Ground, path: string): unknown;
}

/** The two things that a sort of shape knows: to make a value, and to mend one that does not fit. */
export type SampleMeans = Pick<Sampler, 'make' | 'complete'>;

/** Finds the sampler of a shape inside another, by the name of the member that holds it. */
export type SamplerOf = (shape: Json, name: string) => Sampler;

/** Stands for a value that cannot be made: there is none, or not by these means. */
export const nothing = Symbol('nothing');
