import type { Format } from './kind.ts';

/** A host name that may hold letters outside ASCII (RFC 5890): labels of letters, marks, digits and hyphens, 63 characters at most, 253 in all. */
export const idnHostname = {
  word: 'idn-hostname',
  type: 'string',
  meaning: 'a host name',
  example: 'müller.example',
  covers: 'hostname',
  test: (value) =>
    typeof value === 'string' && value.length <= 253 && value.split(/[.。．｡]/).every((label) => LABEL.test(label)),
} as const satisfies Format;

/** Joiners are allowed inside a label; what they may join there (RFC 5892 appendix A) is not asked. */
const LABEL =
  /^[\p{L}\p{N}](?:(?:[\p{L}\p{M}\p{N}\u00b7\u0375\u05f3\u05f4\u30fb-]|\u200c|\u200d){0,61}[\p{L}\p{M}\p{N}\u05f3\u05f4])?$/u;
