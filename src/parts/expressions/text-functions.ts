import { bool, type CelType, celList, int, string } from './cel-type.ts';
import { Failed, type Value } from './cel-value.ts';
import { charge, chargeItems, chargeText, type Frame } from './frame.ts';
import type { ArgumentType, Overload } from './overload.ts';
import { type Instruction, readPattern } from './read-pattern.ts';

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
  run: (values: readonly Value[], frame: Frame) => Value,
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
 * (https://github.com/google/re2/wiki/Syntax), so that no text makes a pattern slow; JavaScript's own engine goes back and tries again.
 */
function matches(text: string, pattern: string, frame: Frame): boolean {
  const program = programOf(pattern);
  charge(frame, (text.length * program.length) >> 6);
  return run(program, text);
}

const programs = new Map<string, readonly Instruction[]>();
const programsMax = 200;

function programOf(pattern: string): readonly Instruction[] {
  const known = programs.get(pattern);
  if (known) return known;
  const read = readPattern(pattern);
  if (!Array.isArray(read)) throw new Failed('conversion', 'a pattern that cannot be read');
  if (programs.size < programsMax) programs.set(pattern, read);
  return read;
}

/** All the ways through the pattern at once: the set of instructions that the text so far can have led to. */
function run(program: readonly Instruction[], text: string): boolean {
  let current: number[] = [];
  const seen = new Int32Array(program.length).fill(-1);
  for (let at = 0; ; ) {
    const point = text.codePointAt(at);
    const next: number[] = [];
    // A match may begin anywhere, so the pattern's start joins at every place.
    if (enter(program, 0, text, at, current, seen)) return true;
    if (point === undefined) return false;
    const after = at + (point > 0xffff ? 2 : 1);
    for (const index of current) {
      const instruction = program[index] as Instruction;
      if (instruction.op === 'point' && instruction.takes(point) && enter(program, index + 1, text, after, next, seen))
        return true;
    }
    current = next;
    at = after;
  }
}

/** Adds an instruction and all that it leads to without taking a character; true when the pattern ends there. */
function enter(
  program: readonly Instruction[],
  from: number,
  text: string,
  at: number,
  list: number[],
  seen: Int32Array,
): boolean {
  const pending = [from];
  for (let index = pending.pop(); index !== undefined; index = pending.pop()) {
    if (seen[index] === at) continue;
    seen[index] = at;
    const instruction = program[index] as Instruction;
    if (instruction.op === 'end') return true;
    if (instruction.op === 'point') list.push(index);
    else if (instruction.op === 'fork') pending.push(...instruction.to);
    else if (holds(instruction.where, text, at)) pending.push(index + 1);
  }
  return false;
}

function holds(where: 'start' | 'end' | 'edge' | 'inside', text: string, at: number): boolean {
  if (where === 'start') return at === 0;
  if (where === 'end') return at === text.length;
  const edge = isWord(text[at - 1]) !== isWord(text[at]);
  return where === 'edge' ? edge : !edge;
}

function isWord(character: string | undefined): boolean {
  return character !== undefined && /\w/.test(character);
}
