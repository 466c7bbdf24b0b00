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
