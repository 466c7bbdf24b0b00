import { authenticationTrials } from './authentication/all.ts';
import { whoMay } from './authentication/users.ts';
import { eventTrials } from './events/all.ts';
import type { Observer } from './observer.ts';
import { readBack } from './resources/read-back.ts';
import { shownShapes } from './resources/shown-shapes.ts';
import type { Trial } from './trial.ts';

/** Every trial, the cheap and certain first. One file each, in the folder of its part. */
export const trials: readonly Trial[] = [readBack, ...authenticationTrials, ...eventTrials];

/** What every answer is held to. */
export const observers: readonly Observer[] = [shownShapes, whoMay];
