import type { SignatureKind } from './kind.ts';

/** Nothing shows where a delivery comes from; also a promise. */
export const unsigned = {
  word: 'none',
  meaning: 'Nothing: deliveries are not signed.',
  members: {},
  problems: () => [],
  usesSecret: () => false,
  compile: () => ({ sign: () => nothing }),
  flaw: () => undefined,
  nearMisses: () => [],
  headers: () => [],
  compare: () => 'same',
} as const satisfies SignatureKind;

const nothing: Readonly<Record<string, string>> = Object.freeze({});
