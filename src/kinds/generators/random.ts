import type { Generator } from './kind.ts';

const usual = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** `{random:24}`: that many characters of A–Z, a–z, 0–9, or of those that are named, each as likely as the others. */
export const random = {
  word: 'random',
  meaning: 'That many random characters of A–Z, a–z, 0–9.',
  takesLength: true,
  takesAlphabet: true,
  mixesCases: true,
  make(draw, length, alphabet = usual) {
    // Bytes from there on are thrown away: the alphabet goes into what is below a whole number of times, so no character is likelier.
    const most = 256 - (256 % alphabet.length);
    let text = '';
    while (text.length < length)
      for (const byte of draw.bytes(length))
        if (byte < most && text.length < length) text += alphabet.charAt(byte % alphabet.length);
    return text;
  },
  pattern: (length, alphabet) => `[${alphabet === undefined ? 'A-Za-z0-9' : alphabet.replace(/[\\\]^-]/g, '\\$&')}]{${length}}`,
  recognise({ pattern }) {
    // The letters that a pattern begins with, up to their last separator: `^adr_[a-zA-Z0-9]+$` has `adr_`.
    const prefix = typeof pattern === 'string' ? /^\^([A-Za-z]+[_-])\[/.exec(pattern)?.[1] : undefined;
    if (prefix === undefined) return undefined;
    return { template: `${prefix}{random:16}`, sample: `${prefix}${'a1'.repeat(8)}`, confidence: 0.6 };
  },
} as const satisfies Generator;
