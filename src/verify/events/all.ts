import type { Trial } from '../trial.ts';
import { emitting } from './emitting.ts';

/** The trials of part 6. */
export const eventTrials: readonly Trial[] = [emitting];
