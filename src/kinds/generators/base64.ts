import type { Generator } from './kind.ts';

/** `{base64:32}`: that many random bytes in base64 (RFC 4648 section 4), with padding. */
export const base64 = {
  word: 'base64',
  meaning: 'That many random bytes in base64.',
  takesLength: true,
  mixesCases: true,
  make(draw, length) {
    let text = '';
    for (const byte of draw.bytes(length)) text += String.fromCharCode(byte);
    return btoa(text);
  },
  pattern: (length) => `[A-Za-z0-9+/]{${Math.ceil((length * 4) / 3)}}={0,2}`,
} as const satisfies Generator;
