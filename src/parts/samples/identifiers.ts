import { formatNamed } from '../../kinds/formats/all.ts';
import { standardFormatNamed } from '../../kinds/formats/standard.ts';
import type { Shape } from '../shape.ts';
import type { Chance } from './chance.ts';
import type { Fits } from './fit.ts';
import { compilePatternSamples, formatOf } from './formats.ts';

/** Makes an identifier of a resource that nothing says how to make; undefined where none fits. */
export type MakeIdentifier = (chance: Chance, sequence: number) => string | number | undefined;

/**
 * A plausible generator for the shape of an identifier: numbers are counted; texts follow the pattern, the format or the
 * likeness of an example, such as its prefix; else they are the name of the resource and what tells them apart.
 */
export function compileIdentifiers(resource: string, shape: Shape, examples: readonly unknown[], fits: Fits): MakeIdentifier {
  const types = Array.isArray(shape.type) ? shape.type : [shape.type];
  if (types.includes('integer') || types.includes('number')) {
    const first = typeof shape.minimum === 'number' ? Math.max(shape.minimum, 1) : 1;
    return (_chance, sequence) => (fits(first + sequence - 1) ? first + sequence - 1 : undefined);
  }
  const make = makerOf(resource, shape, examples, fits);
  return (chance, sequence) => {
    for (let tries = 0; tries < triesMost; tries++) {
      const text = make(chance, sequence);
      if (text !== undefined && fits(text)) return text;
    }
    return undefined;
  };
}

const triesMost = 8;

function makerOf(
  resource: string,
  shape: Shape,
  examples: readonly unknown[],
  fits: Fits,
): (chance: Chance, sequence: number) => string | undefined {
  if (typeof shape.pattern === 'string') {
    const least = typeof shape.minLength === 'number' ? shape.minLength : 0;
    const made = compilePatternSamples(shape.pattern);
    if (made) return (chance) => made(chance, least);
  }
  const format = typeof shape.format === 'string' ? formatOf(shape.format) : undefined;
  if (format?.type === 'string' && isTelling(shape.format)) return (chance) => String(format.make(chance));
  const example = examples.find((one): one is string => typeof one === 'string' && one.length >= 4 && fits(one));
  if (example !== undefined) return likenessOf(example);
  const most = typeof shape.maxLength === 'number' ? shape.maxLength : Number.POSITIVE_INFINITY;
  const prefix = `${resource.replaceAll(/[^A-Za-z0-9]+/g, '_').toLowerCase()}_`;
  const before = prefix.length + 16 <= most ? prefix : '';
  return (chance) => before + alike('a0'.repeat(12), chance).slice(0, most - before.length);
}

/** Formats that tell one thing from all others; an identifier that is a date is not made up by chance. */
function isTelling(format: unknown): boolean {
  return (standardFormatNamed(format) ?? formatNamed(format))?.isTelling === true;
}

/** Texts that look like an example: the same words before a `_` or `-`, then characters of the same sorts. */
function likenessOf(example: string): (chance: Chance) => string {
  const cut = Math.max(example.lastIndexOf('_'), example.slice(0, -4).lastIndexOf('-')) + 1;
  const isUuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(example);
  if (isUuid) return (chance) => chance.uuid();
  const [prefix, rest] = example.length - cut >= 4 ? [example.slice(0, cut), example.slice(cut)] : ['', example];
  return (chance) => prefix + alike(rest, chance);
}

function alike(text: string, chance: Chance): string {
  const isHex = /^[\da-f]*\d[\da-f]*$/.test(text) && /[a-f]/.test(text);
  let made = '';
  for (const character of text) {
    const alphabet = isHex
      ? '0123456789abcdef'
      : /\d/.test(character)
        ? made === ''
          ? '123456789'
          : '0123456789'
        : /[a-z]/.test(character)
          ? 'abcdefghijklmnopqrstuvwxyz'
          : /[A-Z]/.test(character)
            ? 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
            : character;
    made += alphabet.charAt(chance.below(alphabet.length));
  }
  return made;
}
