import { StoreUnavailable } from '../../store/failures.ts';
import type { Clock } from '../http/clock.ts';

type OnFailure = (failure: unknown, requestId: string) => void;

/** How long what keeps failing in the same way is not told again. */
const quietMs = 60_000;

/** Tells failures; those of a store that cannot be read or written once a minute, for then every request has the same one. */
export function quietly(tell: OnFailure, clock: Clock): OnFailure {
  let toldMs = Number.NEGATIVE_INFINITY;
  let untold = 0;
  return (failure, requestId) => {
    if (!(failure instanceof StoreUnavailable)) return tell(failure, requestId);
    const nowMs = clock.now();
    if (nowMs - toldMs < quietMs) {
      untold += 1;
      return;
    }
    toldMs = nowMs;
    tell(
      untold === 0 ? failure : new Error(`${failure.message} (and ${untold} more since it was last told)`, { cause: failure }),
      requestId,
    );
    untold = 0;
  };
}
