import type { Generator } from './kind.ts';

/** UUID version 4 (RFC 9562 section 5.4). */
export const uuid = {
  word: 'uuid',
  meaning: 'A random UUID (version 4).',
  takesLength: false,
  mixesCases: false,
  make: (draw) => draw.uuid(),
  pattern: () => '[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}',
  recognise: ({ format }) => (format === 'uuid' ? { template: 'uuid', confidence: 0.8 } : undefined),
} as const satisfies Generator;
