import * as fc from 'fast-check';
import type { JsonMap } from '../../document/document.ts';
import { formatNamed, standsFor } from '../../kinds/formats/all.ts';
import type { Format } from '../../kinds/formats/kind.ts';
import { standardFormatNamed } from '../../kinds/formats/standard.ts';
import { compilePattern } from '../../parts/patterns/pattern.ts';
import { asText } from '../exchange/as-text.ts';
import type { SampleStyle } from '../exchange/row.ts';

/** Arbitraries are dear to make, hold nothing, and are asked for with every body that is drawn. */
const known = new Map<string, fc.Arbitrary<string>>();

/** Texts of a shape. Lengths count code points, as JSON Schema does. */
export function texts(shape: JsonMap, style: SampleStyle): fc.Arbitrary<string> {
  const key = JSON.stringify([style, shape.minLength, shape.maxLength, shape.pattern, shape.format]);
  const made = known.get(key) ?? textsOf(shape, style);
  known.set(key, made);
  return made;
}

function textsOf(shape: JsonMap, style: SampleStyle): fc.Arbitrary<string> {
  const least = typeof shape.minLength === 'number' ? shape.minLength : 0;
  const most = typeof shape.maxLength === 'number' ? shape.maxLength : Number.POSITIVE_INFINITY;
  const fits = (text: string) => {
    const length = [...text].length;
    return length >= least && length <= most;
  };
  if (typeof shape.pattern === 'string') return fitting(ofPattern(shape.pattern, shape.format, least, most), fits);
  if (typeof shape.format === 'string' && !standsFor(shape.format, 'bytes') && shape.format !== 'password') {
    const format = ofFormat(shape.format);
    if (format) return fitting(style === 'plain' ? format.plain : format.full, fits);
  }
  if (least > 100_000) throw new NoValue(`a text of ${least} characters`);
  const short = Math.min(Math.max(least, 8), most);
  if (style === 'plain') return word(Math.max(least, Math.min(4, most)), short);
  const long = Math.min(most, Math.max(least, 60));
  const any = fc
    .string({ unit: fc.constantFrom(...characters), minLength: least, maxLength: long })
    .map(unpadded)
    .filter(fits);
  const atLeast = word(Math.max(least, Math.min(1, most)), Math.max(least, Math.min(1, most)));
  return most <= 10_000 ? fc.oneof(any, atLeast, word(most, most)) : fc.oneof(any, atLeast);
}

/** Letters of several alphabets, signs that quoting has to survive, and one beyond the basic plane. No controls: HTTP and JSON have rules of their own for those. */
const characters = [
  ...'abcdefghijklmnopqrstuvwxyzABCXYZ0123456789 -_.,:;!?()[]{}<>&\'"/\\%+#@*=$€äöüßéñøåçλжя日本語한글عربيहिन्दी😀🚀',
];

function word(min: number, max: number): fc.Arbitrary<string> {
  return fc.string({ unit: fc.constantFrom(...'abcdefghijkmnopqrstuvwxyz'), minLength: min, maxLength: max });
}

/** Blanks at an end are cut off by some, and no document says whether they may be. */
function unpadded(text: string): string {
  return text.replace(/^ | $/g, 'x');
}

function ofPattern(pattern: string, format: unknown, least: number, most: number): fc.Arbitrary<string> {
  try {
    const expression = new RegExp(pattern, 'u');
    const size = Number.isFinite(most) ? { size: 'medium' as const } : {};
    const compiled = compilePattern(pattern);
    const made = fitting(
      fc.stringMatching(expression, size),
      (text) => compiled?.test(text) === true && !/[\p{Cc}\p{Cs}]/u.test(text),
    );
    const kind = formatNamed(format);
    return fitting(made, (text) => (kind ? kind.test(text) : text.length >= least || least === 0));
  } catch {
    throw new NoValue(`texts of the pattern ${pattern} are not made here`);
  }
}

interface FormatValues {
  readonly plain: fc.Arbitrary<string>;
  readonly full: fc.Arbitrary<string>;
}

/** Texts of a format; nothing for one that constrains nothing. @throws {NoValue} for one that we have no values of. */
function ofFormat(format: string): FormatValues | undefined {
  const own = formatNamed(format);
  const full = (own && ofOwn(own)) ?? made.get(format);
  const plain = typeof own?.example === 'string' ? own.example : standardFormatNamed(format)?.example;
  if (full) return { full, plain: plain === undefined ? full : fc.constant(plain) };
  if (plain !== undefined) return { plain: fc.constant(plain), full: fc.constant(plain) };
  return undefined;
}

/** Texts of a format of this language, by what they stand for; nothing where only its example is known. */
function ofOwn({ time, type, standsFor: what, covers }: Format): fc.Arbitrary<string> | undefined {
  if (time && type === 'string') return instants.map((date) => asText(time.write(date.getTime())));
  if (what === 'digits') return fc.integer({ min: -99_999, max: 99_999 }).map((cents) => (cents / 100).toFixed(2));
  return made.get(covers ?? '');
}

const instants = fc.date({ min: new Date('2000-01-01T00:00:00Z'), max: new Date('2037-12-31T23:59:59Z'), noInvalidDate: true });
/** Nobody's, for good (RFC 2606): a service that sends something to what it was given reaches nobody. */
const host = word(1, 8).map((name) => `${name}.example`);

/** Wider than what samples are made of, and on purpose made apart: times of forty years, mail to nobody, every version of a UUID. */
const made: ReadonlyMap<string, fc.Arbitrary<string>> = new Map([
  ['date', instants.map((date) => date.toISOString().slice(0, 10))],
  ['time', instants.map((date) => `${date.toISOString().slice(11, 19)}Z`)],
  ['email', fc.tuple(word(1, 10), host).map(([name, at]) => `${name}@${at}`)],
  ['hostname', host],
  ['ipv4', fc.tuple(fc.integer({ min: 1, max: 254 }), fc.integer({ min: 0, max: 255 })).map(([a, b]) => `192.0.${b}.${a}`)],
  ['uri', fc.tuple(host, word(0, 8)).map(([at, path]) => `https://${at}/${path}`)],
  ['uuid', fc.uuid()],
]);

/** The bounds of a number's shape; absent ones are bounds that every implementation of JSON keeps. */
export function boundsOf(
  shape: JsonMap,
  type: 'integer' | 'number',
): { readonly min: number; readonly max: number; readonly step: number } {
  const of = (word: string) => (typeof shape[word] === 'number' ? shape[word] : undefined);
  const step = of('multipleOf') ?? (type === 'integer' ? 1 : 0);
  const gap = step === 0 ? 0.001 : step;
  const above = of('exclusiveMinimum');
  const below = of('exclusiveMaximum');
  const [lowest, highest] = formatNamed(shape.format)?.time ? [0, 4_000_000_000] : [-(2 ** 31), 2 ** 31 - 1];
  const least = Math.max(of('minimum') ?? Number.NEGATIVE_INFINITY, above === undefined ? Number.NEGATIVE_INFINITY : above + gap);
  const most = Math.min(of('maximum') ?? Number.POSITIVE_INFINITY, below === undefined ? Number.POSITIVE_INFINITY : below - gap);
  const min = Number.isFinite(least) ? least : Math.min(lowest, Number.isFinite(most) ? most - 1000 : lowest);
  return { min, max: Number.isFinite(most) ? most : Math.max(highest, min + 1000), step };
}

/** Numbers of a shape: at the bounds, near them, and between. */
export function numbers(shape: JsonMap, type: 'integer' | 'number', style: SampleStyle): fc.Arbitrary<number> {
  const { min, max, step } = boundsOf(shape, type);
  if (step > 0) {
    const from = Math.ceil(min / step - 1e-9);
    const to = Math.floor(max / step + 1e-9);
    const plain = Math.min(Math.max(from, 1), to);
    // A step such as 0.01 is reckoned from the text of it, so that no digit is made up.
    const scaled = (count: number) => Number((count * step).toPrecision(15));
    return style === 'plain' ? fc.constant(scaled(plain)) : fc.integer({ min: from, max: to }).map(scaled);
  }
  if (style === 'plain') return fc.constant(Math.min(Math.max(min, 1), max));
  return fc.oneof(
    fc.constant(min),
    fc.constant(max),
    fc.integer({ min: 0, max: 1000 }).map((part) => between(min, max, part / 1000)),
  );
}

function between(min: number, max: number, share: number): number {
  const value = Number((min + (max - min) * share).toPrecision(9));
  return Math.min(Math.max(value, min), max);
}

/** No value of the shape is found by what we know. */
export class NoValue extends Error {
  override readonly name = 'NoValue';
}

const missesMax = 1000;

/** The values that fit; where a thousand in a row do not, there may be none. @throws {NoValue} when one is drawn */
export function fitting<T>(values: fc.Arbitrary<T>, fits: (value: T) => boolean): fc.Arbitrary<T> {
  let misses = 0;
  return values.filter((value) => {
    if (fits(value)) {
      misses = 0;
      return true;
    }
    misses += 1;
    if (misses > missesMax) throw new NoValue('a thousand draws brought no value that fits');
    return false;
  });
}
