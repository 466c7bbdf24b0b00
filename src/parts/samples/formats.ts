import { formatNamed } from '../../kinds/formats/all.ts';
import type { Format } from '../../kinds/formats/kind.ts';
import { secondsOf, standardFormatNamed } from '../../kinds/formats/standard.ts';
import type { Chance } from './chance.ts';

/** A format as samples need it: a test, and values of it. */
interface SampledFormat {
  readonly type: 'string' | 'number';
  test(value: string | number | bigint): boolean;
  make(chance: Chance): string | number;
}

/** A format by its word: this language's own, or one of JSON Schema 2020-12 (validation, section 7.3); nothing for another, which constrains nothing. */
export function formatOf(word: string): SampledFormat | undefined {
  const stated = formatNamed(word);
  if (stated) return { type: stated.type, test: (value) => stated.test(value), make: makerOf(stated) };
  const standard = standardFormatNamed(word);
  return (
    standard && { type: 'string', test: (value) => standard.sure.test(String(value)), make: (chance) => standard.make(chance) }
  );
}

/** What makes values of a format of this language: of a time, a moment; else what makes those that it covers, or its example. */
function makerOf({ time, covers, example }: Format): SampledFormat['make'] {
  if (time) return (chance) => time.write(secondsOf(chance) * 1000);
  const covered = standardFormatNamed(covers);
  return covered ? (chance) => covered.make(chance) : () => example;
}
