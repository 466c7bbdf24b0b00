import { formatNamed } from '../../kinds/formats/all.ts';
import { standardFormatNamed } from '../../kinds/formats/standard.ts';
import type { Shape } from '../shape.ts';
import { sampleOfPattern } from './pattern.ts';

/** The least number that the bounds allow, from 1 on where they allow it. */
export function smallestNumber(shape: Shape, isWhole: boolean): number {
  if (typeof shape.format === 'string') {
    const example = formatNamed(shape.format)?.example;
    if (typeof example === 'number') return example;
  }
  const bound = (key: string): number | undefined => (typeof shape[key] === 'number' ? shape[key] : undefined);
  const step = bound('multipleOf') ?? (isWhole ? 1 : undefined);
  const above = bound('exclusiveMinimum');
  const least = bound('minimum') ?? (above === undefined ? undefined : above + (step ?? 0.5));
  const most = bound('maximum') ?? bound('exclusiveMaximum');
  const wished = least ?? (most !== undefined && most < 1 ? most - (step ?? 1) : 1);
  return step === undefined ? wished : Math.ceil(wished / step) * step;
}

/** The name of a field as words, cut or filled up to the length that a text may have; an example of its format, or of its pattern. */
export function smallestText(shape: Shape, name: string): string | undefined {
  const least = typeof shape.minLength === 'number' ? shape.minLength : 1;
  const most = typeof shape.maxLength === 'number' ? shape.maxLength : Number.POSITIVE_INFINITY;
  if (typeof shape.pattern === 'string') {
    const text = sampleOfPattern(shape.pattern);
    return text !== undefined && text.length >= least && text.length <= most ? text : undefined;
  }
  if (typeof shape.format === 'string') {
    const own = formatNamed(shape.format)?.example;
    return typeof own === 'string' ? own : standardFormatNamed(shape.format)?.example;
  }
  return least > textMost ? undefined : name.replaceAll(/[_-]+/g, ' ').padEnd(least, '.').slice(0, most);
}

const textMost = 200;
