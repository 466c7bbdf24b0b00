/** What is made to order: values of a format, texts in which a pattern is found, and identifiers of either. */

import { formatNamed } from '../../kinds/formats/all.ts';
import type { Format } from '../../kinds/formats/kind.ts';
import { secondsOf, standardFormatNamed } from '../../kinds/formats/standard.ts';
import { compilePattern, programOfShape } from '../patterns/pattern.ts';
import type { Instruction } from '../patterns/steps.ts';
import type { Shape } from '../shape.ts';
import type { Chance, Fits } from './sampler.ts';

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

/** The steps of a pattern; of one whose repetitions are too many for that, those of one that repeats less, whose texts it finds too. */
function sampledProgram(pattern: string): ReturnType<typeof programOfShape> {
  return programOfShape(pattern) ?? programOfShape(pattern.replaceAll(/(?<!\\)\{(\d{1,4}),(\d{0,6})\}/g, withFewer));
}

function withFewer(_text: string, least: string, most: string): string {
  return `{${least},${Math.min(Number(least) + moreMost, most === '' ? Number.POSITIVE_INFINITY : Number(most))}}`;
}

/** So many more of something than there have to be are made at the most. */
const moreMost = 8;

/** A shortest text in which a pattern is found, made of plain characters; undefined where there is none, or none so simple. */
export function sampleOfPattern(pattern: string): string | undefined {
  const program = sampledProgram(pattern);
  const text = program && shortestWay(program.steps);
  return text !== undefined && compilePattern(pattern)?.test(text) ? text : undefined;
}

/** Makes texts in which a pattern is found, each by a way of its own through it; undefined where the pattern is beyond these means. */
export function compilePatternSamples(
  pattern: string,
): ((chance: Chance, least: number, most?: number) => string | undefined) | undefined {
  // Part of a name that may be empty hardly ever is.
  const program = sampledProgram(pattern.replaceAll(/(?<!\\)\]\*(?!\?)/g, ']+')) ?? sampledProgram(pattern);
  const isFound = compilePattern(pattern)?.test;
  if (!program || !isFound) return undefined;
  const { steps } = program;
  const toEnd = distances(steps);
  if (!Number.isFinite(toEnd[0] ?? Number.POSITIVE_INFINITY)) return undefined;
  const choices = steps.map((step) => (step.op === 'point' ? charactersFor(step) : []));
  return (chance, least, most = usualLength) => {
    const wished = Math.max(least, Math.min(usualLength, most));
    for (let tries = 0; tries < triesMost; tries++) {
      const text = wander(steps, toEnd, choices, chance, wished);
      if (text !== undefined && text.length >= least && isFound(text)) return text;
    }
    return undefined;
  };
}

const triesMost = 8;
const stepsMost = 4000;
/** So many characters are gone through at random before the shortest way to the end is taken. */
const usualLength = 16;

/** Goes through the steps, at each fork a way by chance, until the text is long enough; then by the shortest way. */
function wander(
  steps: readonly Instruction[],
  toEnd: readonly number[],
  choices: readonly (readonly string[])[],
  chance: Chance,
  wished: number,
): string | undefined {
  let text = '';
  let at = 0;
  for (let round = 0; round < stepsMost; round++) {
    const step = steps[at];
    if (step === undefined || step.op === 'end') return text;
    if (step.op === 'where' || step.op === 'look') at += 1;
    else if (step.op === 'point') {
      const taken = choices[at] ?? [];
      text += taken[chance.below(taken.length)] ?? '';
      at += 1;
    } else {
      const ways = step.to.filter((to) => Number.isFinite(toEnd[to] ?? Number.POSITIVE_INFINITY));
      const shortest = Math.min(...ways.map((to) => toEnd[to] ?? Number.POSITIVE_INFINITY));
      const isShort = text.length < wished;
      // The way into a loop is its first: taking it as long as the text is short makes texts of one length.
      if (isShort && isLoop(steps, step.to)) at = step.to[0] ?? steps.length;
      else {
        const open = isShort ? ways : ways.filter((to) => toEnd[to] === shortest);
        at = open[chance.below(open.length)] ?? steps.length;
      }
    }
  }
  return undefined;
}

/** Whether a fork repeats what stands before it as often as one likes: its first way comes back to it. */
function isLoop(steps: readonly Instruction[], to: readonly number[]): boolean {
  const [into, out] = to;
  if (into === undefined || out === undefined || to.length !== 2) return false;
  const back = steps[out - 1];
  return back?.op === 'fork' && back.to.length === 1 && back.to[0] === into - 1;
}

/** The least number of characters from each step to the end. */
function distances(steps: readonly Instruction[]): number[] {
  const found = steps.map(({ op }) => (op === 'end' ? 0 : Number.POSITIVE_INFINITY));
  for (let changed = true; changed; ) {
    changed = false;
    for (let at = steps.length - 1; at >= 0; at--) {
      const step = steps[at];
      if (step === undefined || step.op === 'end') continue;
      const after = found[at + 1] ?? 0;
      const next =
        step.op === 'fork'
          ? Math.min(...step.to.map((to) => found[to] ?? 0))
          : step.op === 'where' || step.op === 'look'
            ? after
            : plainCharacters.some(takenBy(step))
              ? after + 1
              : Number.POSITIVE_INFINITY;
      if (next < (found[at] ?? 0)) {
        found[at] = next;
        changed = true;
      }
    }
  }
  return found;
}

/** Letters and digits where a step takes any, else whatever of ASCII it takes. */
function charactersFor(step: Extract<Instruction, { op: 'point' }>): readonly string[] {
  const taken = plainCharacters.filter(takenBy(step));
  const usual = taken.filter((character) => /[A-Za-z0-9]/.test(character));
  return usual.length > 0 ? usual : taken;
}

function takenBy({ takes }: Extract<Instruction, { op: 'point' }>): (character: string) => boolean {
  return (character) => takes(character.codePointAt(0) ?? 0);
}

/** Goes through the steps of a pattern in rounds, a character a round, until one way has come to the end. */
function shortestWay(steps: readonly Instruction[]): string | undefined {
  const reached = new Set<number>();
  let texts = new Map<number, string>([[0, '']]);
  while (texts.size > 0) {
    const next = new Map<number, string>();
    // Entries that are added while the map is gone through are gone through as well.
    for (const [index, text] of texts) {
      if (reached.has(index)) continue;
      reached.add(index);
      const step = steps[index];
      if (step === undefined || step.op === 'end') return text;
      if (step.op === 'fork') for (const to of step.to) texts.set(to, texts.get(to) ?? text);
      else if (step.op === 'where' || step.op === 'look') texts.set(index + 1, texts.get(index + 1) ?? text);
      else {
        const character = plainCharacters.find(takenBy(step));
        if (character !== undefined && !next.has(index + 1)) next.set(index + 1, text + character);
      }
    }
    texts = next;
  }
  return undefined;
}

/** The printable characters of ASCII, the most usual ones first. */
const plainCharacters = [...'aA0', ...Array.from({ length: 95 }, (_, index) => String.fromCharCode(126 - index))];

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
  const make = makerOfTexts(resource, shape, examples, fits);
  // Of a format of which no likeness is made by chance (`2600:3c01::`), a value of it.
  const format = typeof shape.format === 'string' ? formatOf(shape.format) : undefined;
  return (chance, sequence) => {
    for (let tries = 0; tries < triesMost; tries++) {
      const text = make(chance, sequence);
      if (text !== undefined && fits(text)) return text;
    }
    const made = format?.type === 'string' ? String(format.make(chance)) : '';
    return made !== '' && fits(made) ? made : undefined;
  };
}

function makerOfTexts(
  resource: string,
  shape: Shape,
  examples: readonly unknown[],
  fits: Fits,
): (chance: Chance, sequence: number) => string | undefined {
  if (typeof shape.pattern === 'string') {
    const least = typeof shape.minLength === 'number' ? shape.minLength : 0;
    const made = compilePatternSamples(shape.pattern);
    const most = typeof shape.maxLength === 'number' ? shape.maxLength : undefined;
    if (made) return (chance) => made(chance, least, most);
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
