import type { Draw, Generator } from './kind.ts';

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/**
 * ULID: 48 bits of time and 80 of chance in 26 characters of Crockford's base 32. Those that one process makes in one millisecond are in
 * order: the first forty bits of their chance rise, the others are drawn for each.
 */
export const ulidGenerator = {
  word: 'ulid',
  meaning: 'A ULID: 26 characters that sort by the time they were made.',
  takesLength: false,
  mixesCases: false,
  make(draw) {
    const rising = draw.rising?.();
    const chance = encodeChance(draw, rising === undefined ? 16 : 8);
    const time = encodeTime(draw.nowMs);
    return rising === undefined ? time + chance : time + fourOf(Math.floor(rising / 2 ** 20)) + fourOf(rising % 2 ** 20) + chance;
  },
  pattern: () => '[0-7][0-9A-HJKMNP-TV-Z]{25}',
} as const satisfies Generator;

let lastMs = Number.NaN;
let lastTime = '';

/** Many are made in one millisecond: its text is made once. */
function encodeTime(ms: number): string {
  if (ms === lastMs) return lastTime;
  const high = fourOf(Math.floor(ms / 2 ** 40)).slice(2);
  lastTime = high + fourOf(Math.floor(ms / 2 ** 20) % 2 ** 20) + fourOf(ms % 2 ** 20);
  lastMs = ms;
  return lastTime;
}

/** Twenty bits as four characters. */
function fourOf(bits: number): string {
  return (
    alphabet.charAt(bits >>> 15) +
    alphabet.charAt((bits >>> 10) & 31) +
    alphabet.charAt((bits >>> 5) & 31) +
    alphabet.charAt(bits & 31)
  );
}

function encodeChance(draw: Draw, length: number): string {
  const bytes = draw.bytes(length);
  let text = '';
  for (let index = 0; index < length; index++) text += alphabet.charAt((bytes[index] as number) & 31);
  return text;
}
