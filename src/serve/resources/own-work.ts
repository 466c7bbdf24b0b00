import type { Transaction } from '../../store/store.ts';
import type { Models, Work } from './act.ts';
import type { Drawn } from './drawn.ts';
import { follower } from './follower.ts';

/** A change that the service itself makes, and no caller: by the clock, at the start, in a trial. */
export function ownWork(rows: Transaction, models: Models, draw: Drawn, operation: string): Work {
  const { nowMs } = draw;
  draw.restart();
  const scope = { now: nowMs, operation, version: '', follow: follower(rows, models) };
  return { rows, models, nowMs, draw, scope, stored: [] };
}
