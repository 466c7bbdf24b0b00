import { timeFormat } from '../../kinds/formats/all.ts';
import type { Shape } from '../shape.ts';
import type { Chance } from './chance.ts';
import { formatOf, letters } from './formats.ts';
import { compilePatternSamples } from './pattern.ts';

/** Makes texts of a shape: by its pattern, its format, the name of the field, within its lengths; undefined where none is found. */
export function compileTexts(shape: Shape, name: string): (chance: Chance) => string | undefined {
  const least = typeof shape.minLength === 'number' ? shape.minLength : 0;
  const most = typeof shape.maxLength === 'number' ? shape.maxLength : Number.POSITIVE_INFINITY;
  const isOfLength = (text: string): boolean => [...text].length >= least && [...text].length <= most;
  const format = typeof shape.format === 'string' ? formatOf(shape.format) : undefined;
  const pattern = typeof shape.pattern === 'string' ? compilePatternSamples(shape.pattern) : undefined;
  if (shape.pattern !== undefined) {
    return (chance) => {
      const text = pattern?.(chance, least);
      return text !== undefined && isOfLength(text) && (format?.test(text) ?? true) ? text : undefined;
    };
  }
  if (format?.type === 'string') {
    return (chance) => {
      const text = String(format.make(chance));
      return isOfLength(text) ? text : undefined;
    };
  }
  if (least > textMost) return () => undefined;
  const byName = nameRows.find(({ named }) => named.test(name));
  return (chance) => {
    const wished = byName?.make(chance);
    if (wished !== undefined && isOfLength(wished)) return wished;
    const words = `${name.replaceAll(/[^A-Za-z0-9]+/g, ' ').trim() || 'text'} ${letters(chance, 4)}`;
    return words.padEnd(least, '.').slice(0, most);
  };
}

/** A text that is longer than this is nobody's sample. */
const textMost = 10_000;

/** What a text without a format is most likely by the name of its field. */
const nameRows: readonly { readonly named: RegExp; make(chance: Chance): string }[] = [
  { named: /e_?mail$/i, make: (chance) => `somebody-${letters(chance, 4)}@example.com` },
  { named: /(?:^|_)(?:ur[il]|href|link)$|[a-z]Ur[il]$/, make: (chance) => `https://example.com/${letters(chance, 6)}` },
  { named: /(?:^|_)phone(?:_number)?$/i, make: (chance) => `+49309018${String(chance.below(100)).padStart(2, '0')}` },
  { named: /(?:^|_)country(?:_code)?$/i, make: () => 'DE' },
  { named: /(?:^|_)currency$/i, make: () => 'eur' },
  { named: /(?:^|_)(?:created|updated|modified|expires)_?at$|[a-z](?:Created|Updated|Expires)At$/i, make: momentOf },
  { named: /(?:^|_)uuid$/i, make: (chance) => chance.uuid() },
  { named: /(?:^|_)ids?$|[a-z]Ids?$/, make: (chance) => letters(chance, 16) },
];

function momentOf(chance: Chance): string {
  return String(formatOf(timeFormat)?.make(chance) ?? '');
}
