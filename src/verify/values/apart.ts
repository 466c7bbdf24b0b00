import type { Json, JsonMap } from '../../document/document.ts';
import { formatNamed } from '../../kinds/formats/all.ts';
import type { Draw } from '../../kinds/generators/kind.ts';
import type { Shape } from '../../parts/shape.ts';
import { branchesOf } from '../../parts/shapes/branches.ts';
import { asText } from '../exchange/as-text.ts';
import { Fresh, type Symbolic } from '../exchange/symbol.ts';
import { boundsOf } from './scalars.ts';

/** Up to three values of a shape, in their order, such that numbers would come in another as texts; none where it is beyond us. */
export function valuesApart(shape: Shape | JsonMap, own: OwnText): readonly Symbolic[] {
  if (Array.isArray(shape.enum)) return shape.enum.filter((one: Json) => one !== null).slice(0, 3);
  const type = typeOf(shape);
  if (type === 'boolean') return [false, true];
  if (type === 'integer' || type === 'number') return numbersApart(shape, type);
  if (isFreeText(shape)) return [own.with('', 'a'), own.with('', 'b'), own.with('', 'c')];
  if (type !== 'string' || shape.pattern !== undefined) return [];
  if (shape.format === 'date') return ['2031-02-09', '2031-02-10', '2031-11-01'];
  const time = formatNamed(shape.format)?.time;
  return time ? momentsApart.map(([ms, minutes]) => momentAt(time, ms, minutes)) : [];
}

/** Three moments and how far from UTC each is written, in minutes: as texts they would come the other way round. */
const momentsApart: readonly (readonly [ms: number, minutes: number])[] = [
  [Date.UTC(2031, 1, 9, 20), 330],
  [Date.UTC(2031, 1, 9, 22), 0],
  [Date.UTC(2031, 1, 9, 23), -330],
];

type MomentFormat = NonNullable<NonNullable<ReturnType<typeof formatNamed>>['time']>;

/** A moment as the clocks so many minutes ahead of UTC have it, where its format can say so. */
function momentAt(time: MomentFormat, ms: number, minutes: number): Json {
  const [hours, rest] = [Math.trunc(Math.abs(minutes) / 60), Math.abs(minutes) % 60].map((part) => asText(part).padStart(2, '0'));
  const text = new Date(ms + minutes * 60_000).toISOString().replace('Z', `${minutes < 0 ? '-' : '+'}${hours}:${rest}`);
  return minutes !== 0 && time.readMs(text) === ms ? text : time.write(ms);
}

/** The same moment written in another way, where a value is one: who asks for it by either asks for the same rows. */
export function sameOtherwise({ format }: Shape | JsonMap, value: Symbolic): Symbolic {
  const time = formatNamed(format)?.time;
  const ms = typeof value === 'string' ? time?.readMs(value) : undefined;
  return time && ms !== undefined ? time.write(ms) : value;
}

/** Whether any short text of letters and digits will do. */
export function isFreeText(shape: Shape | JsonMap): boolean {
  const { minLength, maxLength, pattern, format } = shape;
  return (
    typeOf(shape) === 'string' &&
    shape.enum === undefined &&
    (pattern ?? format) === undefined &&
    (typeof minLength !== 'number' || minLength <= 10) &&
    (typeof maxLength !== 'number' || maxLength >= ownTextMost)
  );
}

/** The one type that a shape has beside null. */
function typeOf(shape: Shape | JsonMap): string | undefined {
  const { type, resource, ref } = shape;
  if (branchesOf(shape).length > 0 || (resource ?? ref ?? shape.const)) return undefined;
  const types = (Array.isArray(type) ? type : [type]).filter((one) => one !== 'null');
  return types.length === 1 && typeof types[0] === 'string' ? types[0] : undefined;
}

function numbersApart(shape: Shape | JsonMap, type: 'integer' | 'number'): readonly number[] {
  const { min, max, step } = boundsOf(shape as JsonMap, type);
  const fits = (value: number) => value >= min && value <= max && (step === 0 || Number.isInteger(value / step));
  const apart = triplesApart.find((values) => values.every(fits)) ?? triplesAt(step || 1).find((values) => values.every(fits));
  if (apart) return apart;
  const gap = step === 0 ? (max - min) / 4 : step;
  return [0, 1, 2].map((count) => Number((min + count * gap).toPrecision(12))).filter(fits);
}

/** Small numbers, in the order in which they are preferred. */
const triplesApart: readonly (readonly number[])[] = [
  [9, 10, 100],
  [2, 9, 10],
];

/** Multiples of a step about each power of ten, the last of one more digit: as a text it would come first. */
function triplesAt(step: number): (readonly number[])[] {
  return Array.from({ length: 12 }, (_, digits) => Math.ceil(10 ** digits / step) * step).flatMap((high) => [
    [high - step, high, 10 * high],
    [high - 2 * step, high - step, high],
  ]);
}

/** The most characters that such a text has, with a little before and after it. */
const ownTextMost = 14;

/** A text that nobody else has, and texts that are made of it: whoever looks for one of them finds the others, and nothing else. */
export class OwnText {
  readonly #made = new WeakMap<Draw, string>();

  /** Letters and digits alone, of one case, so that everybody orders and compares them in the same way. */
  with(before = '', after = ''): Fresh {
    return new Fresh((draw) => `${before}${this.#of(draw)}${after}`);
  }

  #of(draw: Draw): string {
    const known = this.#made.get(draw) ?? `nf${Buffer.from(draw.bytes(4)).toString('hex')}`;
    this.#made.set(draw, known);
    return known;
  }
}
