import type { Trial } from '../../session/trial.ts';
import { confirmingTrial } from './confirming.ts';
import { delivering } from './delivering.ts';
import { disabling } from './disabling.ts';
import { endingAll } from './ear.ts';
import { emitting } from './emitting.ts';
import { families } from './families.ts';
import { kept } from './kept.ts';
import { later } from './later.ts';
import { logKept } from './log-kept.ts';
import { logged } from './logged.ts';
import { refused } from './refused.ts';
import { resuming } from './resuming.ts';
import { toldByClock } from './told-by-clock.ts';
import { allTries } from './tries.ts';
import { unchangedIsSilent } from './unchanged.ts';

const all = [
  logged,
  logKept,
  confirmingTrial,
  emitting,
  refused,
  unchangedIsSilent,
  delivering,
  families,
  resuming,
  later,
  toldByClock,
  kept,
  allTries,
  disabling,
];

/** The trials of part 6. */
export const eventTrials: readonly Trial[] = all.map(endingAll);
