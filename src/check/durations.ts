import type { Pointer } from '../document/document.ts';
import { valueAt } from '../document/place.ts';
import { isMap } from '../document/values.ts';
import { durationMs } from '../kinds/durations.ts';
import type { Subject, Wrong } from './rule.ts';

/** What is wrong where a text that stands at a place is no duration; nothing where nothing, or something open, stands. */
export function notADuration({ spec }: Subject, at: Pointer): Wrong[] {
  const text = valueAt(spec.document.tree, at);
  if (text === undefined || isMap(text) || (typeof text === 'string' && durationMs(text) !== undefined)) return [];
  return [{ message: `\`${String(text)}\` is no duration.`, at }];
}
