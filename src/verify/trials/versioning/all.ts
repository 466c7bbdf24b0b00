import type { Trial } from '../../session/trial.ts';
import { endingAll } from '../events/ear.ts';
import { eventVersions } from './events.ts';
import { selecting } from './selecting.ts';
import { shapes } from './shapes.ts';
import { olderUses } from './used.ts';

/** The trials of part 9. */
export const versioningTrials: readonly Trial[] = [selecting, shapes, olderUses, endingAll(eventVersions)];
