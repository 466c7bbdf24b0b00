import type { Generator } from './kind.ts';

/** `{hex:8}`: that many digits of base 16, in small letters, each as likely as the others. */
export const hex = {
  word: 'hex',
  meaning: 'That many random digits of base 16.',
  takesLength: true,
  mixesCases: false,
  make(draw, length) {
    let text = '';
    for (const byte of draw.bytes(length)) text += (byte & 15).toString(16);
    return text;
  },
  pattern: (length) => `[0-9a-f]{${length}}`,
} as const satisfies Generator;
