import type { Trial } from '../trial.ts';
import { delivering } from './delivering.ts';
import { emitting } from './emitting.ts';
import { later } from './later.ts';
import { refused } from './refused.ts';
import { resuming } from './resuming.ts';

/** The trials of part 6. */
export const eventTrials: readonly Trial[] = [emitting, refused, delivering, resuming, later];
