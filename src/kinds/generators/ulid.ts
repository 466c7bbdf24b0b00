import type { Draw, Generator } from './kind.ts';

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** ULID: 48 bits of time and 80 of chance in 26 characters of Crockford's base 32; of one millisecond they are in order. */
export const ulidGenerator = {
  word: 'ulid',
  meaning: 'A ULID: 26 characters that sort by the time they were made.',
  takesLength: false,
  mixesCases: false,
  make: (draw) => encodeTime(draw.nowMs) + encodeChance(draw),
  pattern: () => '[0-7][0-9A-HJKMNP-TV-Z]{25}',
} as const satisfies Generator;

function encodeTime(ms: number): string {
  let rest = ms;
  let text = '';
  for (let index = 0; index < 10; index++) {
    text = alphabet.charAt(rest % 32) + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

function encodeChance(draw: Draw): string {
  const bytes = draw.bytes(16);
  let text = '';
  for (let index = 0; index < 16; index++) text += alphabet.charAt((bytes[index] as number) & 31);
  return text;
}
