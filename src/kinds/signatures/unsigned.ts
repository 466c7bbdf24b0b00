import type { SignatureKind } from './kind.ts';

/** Nothing shows where a delivery comes from; also a promise. */
export const unsigned: SignatureKind<'none'> = {
  word: 'none',
  meaning: 'Nothing: deliveries are not signed.',
  rules: [],
  usesSecret: () => false,
  compile: () => ({ sign: () => nothing }),
  flaw: () => undefined,
  nearMisses: () => [],
  headers: () => [],
  compare: () => 'same',
};

const nothing: Readonly<Record<string, string>> = Object.freeze({});
