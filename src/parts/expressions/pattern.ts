import { Failed } from './cel-value.ts';
import { charge, type Frame } from './frame.ts';
import { type Instruction, readPattern } from './read-pattern.ts';

/**
 * Whether a pattern is found in a text. Patterns are those that can be matched in one pass over the text, as CEL has them
 * (https://github.com/google/re2/wiki/Syntax), so that no text makes a pattern slow; JavaScript's own engine goes back and tries again.
 */
export function matches(text: string, pattern: string, frame: Frame): boolean {
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
