import { authenticationTrials } from './authentication/all.ts';
import { whoMay } from './authentication/users.ts';
import { answers } from './endpoints/answers.ts';
import { refusals } from './errors/refusals.ts';
import { eventTrials } from './events/all.ts';
import { limitTrials } from './limits/all.ts';
import type { Observer } from './observer.ts';
import { purposeTrials } from './purpose/all.ts';
import { shownShapes, shownStates } from './resources/shown-shapes.ts';
import { stored } from './resources/stored.ts';
import type { Trial } from './trial.ts';
import { versioningTrials } from './versioning/all.ts';

/** Every trial, the cheap and certain first. One file each, in the folder of its part. */
export const trials: readonly Trial[] = [
  stored,
  ...purposeTrials,
  ...authenticationTrials,
  ...eventTrials,
  ...limitTrials,
  ...versioningTrials,
];

/** What every answer is held to. */
export const observers: readonly Observer[] = [answers, refusals, shownShapes, shownStates, whoMay];
