import type { Rate } from '../../parts/limits.ts';

const units: readonly (readonly [string, number])[] = [
  ['w', 604_800_000],
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
];

/**
 * What rates are called in the header fields: whom they count, for whom, of what, and over which time: `caller-1m`,
 * `address-1s-create-parcel`. How much is allowed is not in the name, so that it can change. Two of one name are numbered.
 */
export function policyNames(rates: readonly Rate[]): string[] {
  const seen = new Map<string, number>();
  return rates.map(({ per, to = [], on = [], windowMs }) => {
    const name = [per, durationText(windowMs), ...several(to), ...several(on)].join('-').replaceAll(/[^\w.+-]+/g, '-');
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    return count === 1 ? name : `${name}-${count}`;
  });
}

function durationText(ms: number): string {
  const [unit, unitMs] = units.find(([, of]) => ms > 0 && ms % of === 0) ?? ['ms', 1];
  return `${ms / unitMs}${unit}`;
}

/** The first, and how many more. */
function several(words: readonly string[]): string[] {
  const [first, ...more] = words;
  if (first === undefined) return [];
  return [more.length === 0 ? first : `${first}+${more.length}`];
}
