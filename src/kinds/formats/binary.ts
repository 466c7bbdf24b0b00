import type { Format } from './kind.ts';

/** Bytes (OpenAPI 3.0): a file or a whole body as it came, or a string in JSON, of which nothing is asked. */
export const binary = {
  word: 'binary',
  type: 'string',
  meaning: 'bytes',
  example: '',
  standsFor: 'bytes',
  test: () => true,
} as const satisfies Format;
