import type { Trial } from '../../session/trial.ts';
import { baseAddress } from './base-address.ts';
import { functions } from './functions.ts';
import { purposeUsers } from './users.ts';

/** The trials of part 1. */
export const purposeTrials: readonly Trial[] = [baseAddress, purposeUsers, functions];
