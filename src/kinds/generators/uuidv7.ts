import type { Generator } from './kind.ts';

/** UUID version 7 (RFC 9562 section 5.7): 48 bits of time, the rest chance, whose first forty bits rise within a millisecond (section 6.2, method 2). */
export const uuidv7 = {
  word: 'uuidv7',
  meaning: 'A UUID that sorts by the time it was made (version 7).',
  takesLength: false,
  mixesCases: false,
  make(draw) {
    const time = draw.nowMs.toString(16).padStart(12, '0');
    const chance = draw.uuid();
    const rising = draw.rising?.();
    const rest = rising === undefined ? chance.slice(15) : `${risingDigits(rising, chance)}${chance.slice(28)}`;
    return `${time.slice(0, 8)}-${time.slice(8, 12)}-7${rest}`;
  },
  pattern: () => '[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}',
} as const satisfies Generator;

/** Forty bits where the version and the variant leave room: twelve, fourteen beside the variant, and fourteen before two by chance. */
function risingDigits(rising: number, chance: string): string {
  const hex = (number: number, length: number) => number.toString(16).padStart(length, '0');
  const [high, middle, low] = [Math.floor(rising / 2 ** 28), Math.floor(rising / 2 ** 14) & 0x3fff, rising & 0x3fff];
  const two = Number.parseInt(chance.charAt(27), 16) & 3;
  return `${hex(high, 3)}-${hex(0x8000 | middle, 4)}-${hex((low << 2) | two, 4)}`;
}
