import { bucket } from './bucket.ts';
import { fixed } from './fixed.ts';
import type { RateKind } from './kind.ts';
import { sliding } from './sliding.ts';

/** Every word that a rate's `kind` may be; the first is meant where none is stated. */
export const rateKinds: readonly [RateKind, ...RateKind[]] = [sliding, fixed, bucket];
