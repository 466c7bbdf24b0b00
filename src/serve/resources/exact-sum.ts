/**
 * A sum of numbers in which nothing is lost, so that what was added can be taken away again: a whole number of units of a
 * power of two. Sums of doubles would depend on the order in which they were made.
 */
export interface ExactSum {
  readonly units: bigint;
  /** A unit is two to this power. */
  readonly power: number;
}

export const noSum: ExactSum = { units: 0n, power: 0 };

/** A finite number as a sum of its own. */
export function exactly(value: number | bigint): ExactSum {
  if (typeof value === 'bigint') return { units: value, power: 0 };
  if (Number.isSafeInteger(value)) return { units: BigInt(value), power: 0 };
  let power = 0;
  let scaled = value;
  // Doubling is exact as long as nothing overflows, and a double has no more than 1074 places after the point.
  while (!Number.isInteger(scaled)) {
    scaled *= 2;
    power -= 1;
  }
  return { units: BigInt(scaled), power };
}

export function plus(one: ExactSum, other: ExactSum, times: 1 | -1): ExactSum {
  const power = Math.min(one.power, other.power);
  const unitsOf = (sum: ExactSum) => sum.units << BigInt(sum.power - power);
  return trimmed(unitsOf(one) + BigInt(times) * unitsOf(other), power);
}

function trimmed(units: bigint, power: number): ExactSum {
  if (units === 0n) return noSum;
  let [rest, up] = [units, power];
  while (up < 0 && (rest & 1n) === 0n) {
    rest >>= 1n;
    up += 1;
  }
  return { units: rest, power: up };
}

/** The nearest double, ties to even (IEEE 754 section 4.3.1). */
export function nearestDouble({ units, power }: ExactSum): number {
  if (power >= 0) return Number(units);
  const size = (units < 0n ? -units : units).toString(2).length;
  // What has no more than 53 bits is exact, and so is dividing it in two steps where the power is beyond a double.
  const spare = Math.max(0, size - 64);
  const dropped = spare > 0 && (units & ((1n << BigInt(spare)) - 1n)) !== 0n;
  // A bit that stands for all that were dropped keeps a tie from being seen where there is none.
  const kept = (units >> BigInt(spare)) | (dropped ? 1n : 0n);
  const up = power + spare;
  const half = Math.trunc(up / 2);
  return Number(kept) * 2 ** half * 2 ** (up - half);
}

export function sumText({ units, power }: ExactSum): string {
  return power === 0 ? String(units) : `${units} ${power}`;
}

export function readSum(text: string | undefined): ExactSum {
  if (text === undefined) return noSum;
  const [units = '0', power = '0'] = text.split(' ');
  return { units: BigInt(units), power: Number(power) };
}
