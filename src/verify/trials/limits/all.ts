import type { Trial } from '../../session/trial.ts';
import { atOnce } from './at-once.ts';
import { pageSizes } from './pages.ts';
import { quotas } from './quotas.ts';
import { rates } from './rates.ts';
import { rowLimits } from './rows.ts';
import { sizes } from './sizes.ts';
import { times } from './times.ts';
import { uncountedAnswers } from './uncounted.ts';

/** The trials of part 8, the loud ones last. */
export const limitTrials: readonly Trial[] = [times, sizes, pageSizes, rates, uncountedAnswers, quotas, rowLimits, atOnce];
