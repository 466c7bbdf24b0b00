import { formatNamed } from '../../kinds/formats/all.ts';
import type { Shape } from '../shape.ts';
import type { Chance } from './chance.ts';
import { formatOf, secondsOf } from './formats.ts';

/** Makes numbers within the bounds of a shape; undefined where none is. */
export function compileNumbers(shape: Shape, isWhole: boolean, name: string): (chance: Chance) => number | undefined {
  const bound = (key: string): number | undefined => {
    const value = shape[key];
    return typeof value === 'number' ? value : typeof value === 'bigint' ? Number(value) : undefined;
  };
  const step = bound('multipleOf') ?? (isWhole ? 1 : undefined);
  const grain = step ?? 0.01;
  const least = Math.max(bound('minimum') ?? -Infinity, (bound('exclusiveMinimum') ?? -Infinity) + grain);
  const most = Math.min(bound('maximum') ?? Infinity, (bound('exclusiveMaximum') ?? Infinity) - grain);
  if (least > most) return () => undefined;
  const format = typeof shape.format === 'string' ? formatOf(shape.format) : undefined;
  if (format?.type === 'number' && formatNamed(shape.format)?.time && fits(secondsFrom, least, most)) return secondsOf;
  // A moment in seconds, by its name alone, where it is within the bounds.
  if (shape.format === undefined && isMoment(name) && isWhole && fits(secondsFrom, least, most)) return secondsOf;
  const from = Number.isFinite(least) ? least : Math.min(1, most);
  const to = Math.min(most, from + 1000 * grain);
  return (chance) => {
    const wished = from + chance.below(Math.floor((to - from) / grain) + 1) * grain;
    const stepped = step === undefined ? Math.round(wished * 100) / 100 : Math.ceil(wished / step) * step;
    const rounded = Number(stepped.toPrecision(12));
    if (rounded >= least && rounded <= most) return rounded;
    const first = step === undefined ? from : Math.ceil(from / step) * step;
    return first <= most ? Number(first.toPrecision(12)) : undefined;
  };
}

const secondsFrom = [1_735_689_600, 1_767_225_600] as const;

function fits([from, to]: readonly [number, number], least: number, most: number): boolean {
  return least <= from && most >= to;
}

/** `created`, `expires_at`, `start_date`: in interfaces whose times are integers, these are seconds since 1970. */
function isMoment(name: string): boolean {
  return /(?:^|_)(?:created|updated|modified|expires|timestamp)$|_(?:at|date|time)$/.test(name);
}
