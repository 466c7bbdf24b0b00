import type { Generator } from './kind.ts';

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** `{random:24}`: that many characters of A–Z, a–z, 0–9, each as likely as the others. */
export const random = {
  word: 'random',
  meaning: 'That many random characters of A–Z, a–z, 0–9.',
  takesLength: true,
  mixesCases: true,
  make(draw, length) {
    let text = '';
    // Bytes from 248 on are thrown away: 62 goes four times into 248, so no character is likelier.
    while (text.length < length)
      for (const byte of draw.bytes(length)) if (byte < 248 && text.length < length) text += alphabet.charAt(byte % 62);
    return text;
  },
  pattern: (length) => `[A-Za-z0-9]{${length}}`,
  recognise({ pattern }) {
    // The letters that a pattern begins with, up to their last separator: `^adr_[a-zA-Z0-9]+$` has `adr_`.
    const prefix = typeof pattern === 'string' ? /^\^([A-Za-z]+[_-])\[/.exec(pattern)?.[1] : undefined;
    if (prefix === undefined) return undefined;
    return { template: `${prefix}{random:16}`, sample: `${prefix}${'a1'.repeat(8)}`, confidence: 0.6 };
  },
} as const satisfies Generator;
