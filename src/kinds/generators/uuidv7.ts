import type { Generator } from './kind.ts';

/** UUID version 7 (RFC 9562 section 5.7): 48 bits of time, the rest chance. */
export const uuidv7 = {
  word: 'uuidv7',
  meaning: 'A UUID that sorts by the time it was made (version 7).',
  takesLength: false,
  mixesCases: false,
  make(draw) {
    const time = draw.nowMs.toString(16).padStart(12, '0');
    const chance = draw.uuid();
    return `${time.slice(0, 8)}-${time.slice(8, 12)}-7${chance.slice(15)}`;
  },
  pattern: () => '[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}',
} as const satisfies Generator;
