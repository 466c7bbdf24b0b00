import type { Comparison } from '../comparison.ts';
import { generators } from './all.ts';
import type { Draw, Generator } from './kind.ts';
import { number } from './number.ts';
import { random } from './random.ts';
import { ulidGenerator } from './ulid.ts';

/** A template such as `pcl_{ulid}`, taken apart once. */
export interface Template {
  make(draw: Draw): string;
  /** What it makes, as a regular expression. */
  readonly pattern: string;
  /** Whether a text of it in the other case is another one. */
  readonly mixesCases: boolean;
  /** Whether it counts. */
  readonly counts: boolean;
  /** The fields of the same row that it holds. */
  readonly fields: readonly string[];
  /** The number that a text of it was counted to; nothing where it is no text of it. */
  numberIn(text: string): number | undefined;
}

/** For what a template makes a text: a row has numbers and other fields. */
export interface TemplateSetting {
  /** The fields of the row that a text may hold. */
  readonly fields: readonly string[];
}

/** The template of names that sort by the time they were made, and the one of secrets, where none is stated. */
export const sortableTemplate = `{${ulidGenerator.word}}`;
export const secretTemplate = `{${random.word}:32}`;

const known: readonly Generator[] = generators;

/** A generator's part of a template. */
interface Drawing {
  readonly generator: Generator;
  readonly length: number;
  readonly alphabet: string | undefined;
}

/** The characters that are named one by one or as stretches, each once; nothing where they are fewer than two. */
function alphabetOf(named: string): string | undefined {
  const characters = new Set<string>();
  for (const [, from = '', to = from] of named.matchAll(/([!-~])(?:-([!-~]))?/g)) {
    if (to < from) return undefined;
    for (let code = from.charCodeAt(0); code <= to.charCodeAt(0); code++) characters.add(String.fromCharCode(code));
  }
  return characters.size < 2 || /[^!-~]/.test(named) ? undefined : [...characters].join('');
}

function hasBothCases(alphabet: string | undefined): boolean {
  return alphabet === undefined || (/[a-z]/.test(alphabet) && /[A-Z]/.test(alphabet));
}

/** Reads a template; a bare word such as `uuid` is a template of that word alone. Says what is wrong with a bad one. */
export function readTemplate(text: string, row?: TemplateSetting): { readonly template: Template } | { readonly wrong: string } {
  const source = known.some(({ word }) => word === text) ? `{${text}}` : text;
  const steps: Step[] = [];
  let from = 0;
  for (const match of source.matchAll(/\{([^{}]*)\}/g)) {
    if (match.index > from) steps.push(source.slice(from, match.index));
    from = match.index + match[0].length;
    const step = readStep(match[1] as string, row);
    if ('wrong' in step) return step;
    steps.push(step);
  }
  if (from < source.length) steps.push(source.slice(from));
  if (!steps.some((step) => typeof step !== 'string'))
    return { wrong: `\`${text}\` has no generator in it, so it would always be the same: write for example ${text}{ulid}.` };
  if (steps.filter(isCounting).length > 1) return { wrong: `\`${text}\` counts twice: one \`{${number.word}}\` is enough.` };
  return { template: templateOf(steps) };
}

type Step = string | Drawing | { readonly field: string };

function isCounting(step: Step): boolean {
  return typeof step !== 'string' && 'generator' in step && step.generator.counts === true;
}

/** What stands between braces: a generator with what it takes, or another field of the row. */
function readStep(inner: string, row: TemplateSetting | undefined): Exclude<Step, string> | { readonly wrong: string } {
  if (row?.fields.includes(inner)) return { field: inner };
  const [word = '', length, named] = inner.split(':', 3);
  const generator = known.find((candidate) => candidate.word === word);
  if (!generator) {
    const there = known.filter(({ counts }) => row || !counts).map((one) => `{${one.word}${one.takesLength ? ':N' : ''}}`);
    return { wrong: `\`{${inner}}\` is no generator; there are ${there.join(', ')}.` };
  }
  if (generator.counts && !row) return { wrong: `\`{${inner}}\` counts rows, and this is a field of none.` };
  const count = length === undefined && generator.takesLength === 'optional' ? 1 : Number(length);
  if (generator.takesLength && !(Number.isInteger(count) && count >= 1 && count <= 1024))
    return { wrong: `\`{${word}}\` needs a length from 1 to 1024: {${word}:24}.` };
  if (!generator.takesLength && length !== undefined) return { wrong: `\`{${word}}\` takes no length.` };
  const alphabet = named === undefined ? undefined : alphabetOf(named);
  if (named !== undefined && !(generator.takesAlphabet && alphabet !== undefined))
    return {
      wrong: generator.takesAlphabet
        ? `\`${named}\` names no characters to draw on: write two or more, or stretches of them, such as A-Z0-9.`
        : `\`{${word}}\` draws on what it draws on, and takes no characters.`,
    };
  return { generator, length: count, alphabet };
}

function templateOf(steps: readonly Step[]): Template {
  const inner = steps.map(patternOfStep);
  const pattern = `^${inner.join('')}$`;
  const counts = steps.some(isCounting);
  const counted = counts
    ? new RegExp(`^${steps.map((step, at) => (isCounting(step) ? `(${inner[at]})` : inner[at])).join('')}$`, 'u')
    : undefined;
  return {
    make(draw) {
      let text = '';
      for (const step of steps) {
        if (typeof step === 'string') text += step;
        else if ('field' in step) text += draw.field?.(step.field) ?? '';
        else text += step.generator.make(draw, step.length, step.alphabet);
      }
      return text;
    },
    mixesCases: steps.some(
      (step) => typeof step !== 'string' && ('field' in step || (step.generator.mixesCases && hasBothCases(step.alphabet))),
    ),
    pattern,
    counts,
    fields: steps.flatMap((step) => (typeof step !== 'string' && 'field' in step ? [step.field] : [])),
    numberIn(text) {
      const digits = counted?.exec(text)?.[1];
      return digits === undefined ? undefined : Number(digits);
    },
  };
}

function patternOfStep(step: Step): string {
  if (typeof step === 'string') return step.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
  return 'field' in step ? '.+' : step.generator.pattern(step.length, step.alphabet);
}

/**
 * How what a later template makes stands to what an earlier one made. Whoever reads such texts keeps them by their form: it is
 * the same, or another one.
 */
export function compareTemplates(before: string, after: string): Comparison {
  return patternOf(before) === patternOf(after) ? 'same' : 'other';
}

function patternOf(text: string): string {
  const read = readTemplate(text);
  return 'template' in read ? read.template.pattern : text;
}
