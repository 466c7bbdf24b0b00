import { programOf } from '../patterns/pattern.ts';
import { runnerOf } from '../patterns/run.ts';
import { type ArgumentType, bool, type CelType, celList, int, type Overload, string } from './cel-type.ts';
import { type CelValue, charge, chargeItems, chargeText, Failed, type Frame } from './cel-value.ts';

/** The functions on strings. Positions count code points. */
export const textFunctions: readonly Overload[] = [
  onText('startsWith', ['string'], bool, ([text, start]) => (text as string).startsWith(start as string)),
  onText('endsWith', ['string'], bool, ([text, end]) => (text as string).endsWith(end as string)),
  onText('contains', ['string'], bool, ([text, part]) => (text as string).includes(part as string)),
  onText('matches', ['string'], bool, ([text, pattern], frame) => matches(text as string, pattern as string, frame)),
  {
    name: 'matches',
    args: ['string', 'string'],
    result: bool,
    run: ([text, pattern], frame) => matches(text as string, pattern as string, frame),
  },
  onText('lowerAscii', [], string, ([text]) => (text as string).replace(/[A-Z]+/g, (word) => word.toLowerCase())),
  onText('upperAscii', [], string, ([text]) => (text as string).replace(/[a-z]+/g, (word) => word.toUpperCase())),
  onText('trim', [], string, ([text]) => (text as string).trim()),
  onText('indexOf', ['string'], int, ([text, part]) => indexOf(text as string, part as string, 0n)),
  onText('indexOf', ['string', 'int'], int, ([text, part, from]) => indexOf(text as string, part as string, from as bigint)),
  onText('lastIndexOf', ['string'], int, ([text, part]) => lastIndexOf(text as string, part as string)),
  onText('lastIndexOf', ['string', 'int'], int, ([text, part, from]) =>
    lastIndexOf(text as string, part as string, from as bigint),
  ),
  onText('substring', ['int'], string, ([text, start]) => substring(text as string, start as bigint)),
  onText('substring', ['int', 'int'], string, ([text, start, end]) => substring(text as string, start as bigint, end as bigint)),
  onText('split', ['string'], celList(string), ([text, by], frame) => split(text as string, by as string, -1n, frame)),
  onText('split', ['string', 'int'], celList(string), ([text, by, most], frame) =>
    split(text as string, by as string, most as bigint, frame),
  ),
  { name: 'join', on: 'texts', args: [], result: string, run: ([list], frame) => join(list as readonly string[], '', frame) },
  {
    name: 'join',
    on: 'texts',
    args: ['string'],
    result: string,
    run: ([list, by], frame) => join(list as readonly string[], by as string, frame),
  },
];

// The casts of this file are proven by the slots: a value only comes here where `slotHolds` said so.

function onText(
  name: string,
  args: readonly ArgumentType[],
  result: CelType,
  run: (values: readonly CelValue[], frame: Frame) => CelValue,
): Overload {
  return {
    name,
    on: 'string',
    args,
    result,
    run: (values, frame) => {
      chargeText(frame, (values[0] as string).length);
      return run(values, frame);
    },
  };
}

/** A text by code points: itself where none takes two units. */
function points(text: string): {
  readonly length: number;
  slice(start: number, end?: number): string;
  find(part: string, from: number): number;
  findLast(part: string, from: number): number;
} {
  if (!/[\ud800-\udfff]/.test(text)) {
    return {
      length: text.length,
      slice: (start, end) => text.slice(start, end),
      find: (part, from) => text.indexOf(part, from),
      findLast: (part, from) => text.lastIndexOf(part, from),
    };
  }
  const list = Array.from(text);
  const units = (point: number) => list.slice(0, point).join('').length;
  const point = (unit: number) => (unit < 0 ? -1 : Array.from(text.slice(0, unit)).length);
  return {
    length: list.length,
    slice: (start, end) => list.slice(start, end).join(''),
    find: (part, from) => point(text.indexOf(part, units(from))),
    findLast: (part, from) => point(text.lastIndexOf(part, units(from))),
  };
}

function position(index: bigint, length: number): number {
  if (index >= 0n && index <= BigInt(length)) return Number(index);
  throw new Failed('index', `position ${index} of a text of ${length}`);
}

function indexOf(text: string, part: string, from: bigint): bigint {
  const by = points(text);
  return BigInt(by.find(part, position(from, by.length)));
}

function lastIndexOf(text: string, part: string, from?: bigint): bigint {
  const by = points(text);
  return BigInt(by.findLast(part, from === undefined ? by.length : position(from, by.length)));
}

function substring(text: string, start: bigint, end?: bigint): string {
  const by = points(text);
  const from = position(start, by.length);
  const to = end === undefined ? by.length : position(end, by.length);
  if (to < from) throw new Failed('index', 'a text that would end before it starts');
  return by.slice(from, to);
}

/** `most` below zero = as many parts as there are; 0 = none; else the last part holds the rest. */
function split(text: string, by: string, most: bigint, frame: Frame): readonly string[] {
  if (most === 0n) return [];
  const parts = by === '' ? Array.from(text) : text.split(by);
  chargeItems(frame, parts.length);
  if (most < 0n || BigInt(parts.length) <= most) return parts;
  const kept = Number(most) - 1;
  return [...parts.slice(0, kept), parts.slice(kept).join(by)];
}

function join(list: readonly string[], by: string, frame: Frame): string {
  chargeItems(frame, list.length);
  chargeText(
    frame,
    list.reduce((sum, item) => sum + item.length + by.length, 0),
  );
  return list.join(by);
}

/**
 * Whether a pattern is found in a text. Patterns are those that can be matched in one pass over the text, as CEL has them
 * (https://github.com/google/re2/wiki/Syntax).
 */
function matches(text: string, pattern: string, frame: Frame): boolean {
  const { size, run } = runnerFor(pattern);
  charge(frame, (text.length * size) >> 6);
  const isFound = run(text);
  if (isFound === undefined) throw new Failed('size', 'a text too long for its pattern');
  return isFound;
}

interface Runner {
  readonly size: number;
  readonly run: (text: string) => boolean | undefined;
}

const runners = new Map<string, Runner>();
const runnersMax = 200;

function runnerFor(pattern: string): Runner {
  const known = runners.get(pattern);
  if (known) return known;
  const program = programOf(pattern, 're2');
  if (typeof program === 'string') throw new Failed('conversion', 'a pattern that cannot be read');
  const runner = { size: program.steps.length, run: runnerOf(program, true) };
  if (runners.size < runnersMax) runners.set(pattern, runner);
  return runner;
}
