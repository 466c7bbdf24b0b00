import type { Draw } from '../kinds/generators/kind.ts';
import type { Reader } from '../store/store.ts';
import { follower, type Models, type Work } from './acts/act.ts';
import type { Chance } from './clock.ts';
import type { Exchange } from './exchange.ts';

/** What is drawn for a change; started anew, it gives the same again. */
export interface RepeatedDraw extends Draw {
  restart(): void;
}

/** Time and chance drawn once for one change, so that its body can be run again and come to the same. */
export function drawOnce(chance: Chance, nowMs: number): RepeatedDraw {
  const drawn: (Uint8Array | string)[] = [];
  let next = 0;
  const again = <T extends Uint8Array | string>(make: () => T): T => {
    if (next === drawn.length) drawn.push(make());
    // What was drawn at this place the first time is of the same kind: the body is the same.
    return drawn[next++] as T;
  };
  return {
    nowMs,
    bytes: (length) => again(() => chance.bytes(length)),
    uuid: () => again(() => chance.uuid()),
    restart: () => {
      next = 0;
    },
  };
}

/** What a change or a reading has at hand for one exchange. */
export function workFor<Rows extends Reader>(rows: Rows, models: Models, exchange: Exchange, draw: Work['draw']): Work<Rows> {
  return {
    rows,
    models,
    nowMs: exchange.nowMs,
    draw,
    scope: {
      request: exchange.request,
      params: exchange.params,
      caller: exchange.caller,
      now: exchange.nowMs,
      operation: exchange.plan.operation.name,
      version: exchange.view.version ?? '',
      follow: follower(rows, models),
    },
    stored: [],
  };
}
