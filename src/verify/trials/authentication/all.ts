import type { Trial } from '../../session/trial.ts';
import { belowParents } from './below.ts';
import { besideOthers } from './beside.ts';
import { credentialFormats } from './formats.ts';
import { permittedLists } from './lists.ts';
import { lookUps } from './look-ups.ts';
import { origins } from './origins.ts';
import { referring } from './referring.ts';
import { rows } from './rows.ts';
import { signedRequests } from './signed-requests.ts';
import { users } from './users.ts';
import { who } from './who.ts';

/** The trials of part 5. */
export const authenticationTrials: readonly Trial[] = [
  who,
  users,
  credentialFormats,
  signedRequests,
  origins,
  rows,
  permittedLists,
  lookUps,
  referring,
  belowParents,
  besideOthers,
];
