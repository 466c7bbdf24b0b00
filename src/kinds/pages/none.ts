import type { PageStyle } from './kind.ts';

/** No pages: a list is shown in one piece, whatever else its answer tells. */
export const none = {
  word: 'none',
  meaning: 'a list is shown in one piece',
  tells: 'nothing',
  parameters: [],
  isSteady: true,
  recognise: () => undefined,
} as const satisfies PageStyle;
