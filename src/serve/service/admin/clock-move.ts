import type { Json } from '../../../document/document.ts';
import { instantOf, plusLapse } from '../../../parts/expressions/instant.ts';
import { isPlainMap } from '../../../parts/source.ts';

/** Where `{ now }` or `{ advance }` leads a clock, in milliseconds since 1970; nothing where it is neither, or later than RFC 3339 can write. */
export function targetOf(asked: Json | undefined, nowMs: number): number | undefined {
  const { now, advance, ...rest } = isPlainMap(asked) ? asked : {};
  if (Object.keys(rest).length > 0 || (now === undefined) === (advance === undefined)) return undefined;
  const target = typeof now === 'string' ? instantOf(now) : typeof advance === 'string' ? plusLapse(nowMs, advance) : undefined;
  return target !== undefined && target <= latestMs ? target : undefined;
}

/** The last millisecond that RFC 3339 can write. */
const latestMs = Date.UTC(9999, 11, 31, 23, 59, 59, 999);
