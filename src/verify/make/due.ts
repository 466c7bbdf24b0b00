import type { Transition } from '../../parts/states.ts';
import type { TrialRow } from '../exchange/row.ts';
import type { Model } from '../model/model.ts';
import type { ShownFields } from '../model/row-shown.ts';
import type { Session } from '../session/session.ts';

/** When the clock fires a transition on a row that was in its state then; nothing where that cannot be reckoned of what was shown. */
export function dueAt(model: Model, { after, atTime }: Transition, row: ShownFields, enteredMs: number): number | undefined {
  if (after) return enteredMs + after.ms;
  const evaluated = atTime && model.expressions.evaluate(atTime, undefined, { context: { resource: row } });
  const ms = typeof evaluated === 'object' ? Date.parse(String(evaluated.value)) : Number.NaN;
  return Number.isFinite(ms) ? ms : undefined;
}

/** How long it is until then. */
export function dueIn({ model, run }: Session, row: TrialRow, transition: Transition): number | undefined {
  const nowMs = run.clock.toService(Date.now());
  const atMs = dueAt(model, transition, row.fields ?? {}, nowMs);
  return atMs === undefined ? undefined : Math.max(0, atMs - nowMs);
}
