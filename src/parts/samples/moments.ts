import { formatNamed } from '../../kinds/formats/all.ts';
import { secondsOf } from '../../kinds/formats/standard.ts';
import type { Shape } from '../shape.ts';
import type { Chance } from './chance.ts';
import { formatOf } from './formats.ts';

/**
 * Makes the moment that a number stands for: in seconds or milliseconds since 1970, as its description has it (`UNIX timestamp (in seconds)`), else in seconds by its
 * format, or by the name of a whole number alone (`created`, `expires_at`). Nothing where it is no moment, or where its bounds admit none.
 */
export function momentOf(
  shape: Shape,
  name: string,
  isWhole: boolean,
  { least, most }: { readonly least: number; readonly most: number },
): ((chance: Chance) => number) | undefined {
  const unit = unitSaid(shape) ?? (isOfTime(shape.format) || (isWhole && isMoment(name, shape)) ? 'seconds' : undefined);
  if (unit === undefined) return undefined;
  const grain = unit === 'seconds' ? 1 : 1000;
  const [from, to] = secondsFrom;
  if (least > from * grain || most < to * grain) return undefined;
  return grain === 1 ? secondsOf : (chance) => secondsOf(chance) * grain;
}

function isOfTime(format: unknown): boolean {
  const known = typeof format === 'string' ? formatOf(format) : undefined;
  return known?.type === 'number' && formatNamed(format)?.time !== undefined;
}

function unitSaid({ description, format }: Shape): 'seconds' | 'milliseconds' | undefined {
  if (typeof description !== 'string') return undefined;
  const text = description.slice(0, readMost);
  if (!sinceEpoch.test(text) && !(moment.test(text) && unitNamed.test(text))) return undefined;
  const isTooMuch = typeof format === 'string' && formatOf(format)?.test(secondsFrom[0] * 1000) === false;
  return !isTooMuch && /milli-?seconds?|\bmillis?\b|\bms\b/i.test(text) ? 'milliseconds' : 'seconds';
}

const readMost = 400;
/** A count of epochs is none, nor is what is said of another timestamp. */
const sinceEpoch =
  /\bunix[ -]?(?:epoch|time(?:stamp)?|seconds|(?:milli)?second)|\bepoch (?:time(?:stamp)?|(?:milli)?seconds)|\bsince (?:the )?(?:unix )?epoch\b|\btimestamp\b[^.]{0,40}\bsince 1970/i;
const moment = /^(?:the |a )?(?:date|time|moment|timestamp)\b(?! period| window| zone)/i;
const unitNamed = /\bin (?:milli)?seconds\b|\((?:milli)?seconds\)/i;

const secondsFrom = [1_735_689_600, 1_767_225_600] as const;

/** `created`, `expires_at`, `start_date`: in interfaces whose times are integers, these are seconds since 1970. */
function isMoment(name: string, { format }: Shape): boolean {
  return format === undefined && /(?:^|_)(?:created|updated|modified|expires|timestamp)$|_(?:at|date|time)$/.test(name);
}
