import type { Trial } from '../trial.ts';
import { pages } from './pages.ts';
import { rates } from './rates.ts';
import { sizes } from './sizes.ts';

/** The trials of part 8, the loud ones last. */
export const limitTrials: readonly Trial[] = [sizes, pages, rates];
