import { type PatternDialect, readPattern } from './read-pattern.ts';
import { runnerOf, stepsMax } from './run.ts';
import { layProgram, type Program } from './steps.ts';
import type { Tree } from './tree.ts';
import { longestTried } from './work.ts';

/** A pattern of JSON Schema (Validation section 6.3.3), made ready once. */
export interface Pattern {
  /** Whether it is found in a text; undefined where finding out could take too long, which it never does up to `longest`. */
  test(text: string): boolean | undefined;
  /** The length, in UTF-16 code units, up to which every text can be held to it. */
  readonly longest: number;
}

/**
 * Makes a pattern ready to be looked for in time that is linear in the text: by JavaScript's own engine where it has no choice to make
 * or the text is short for the choices that there are, else by going all ways at once. Both find the same. What no engine does in linear
 * time, such as a reference back to what a group took, is held to short texts alone. Undefined for what is no pattern of ECMA-262.
 */
export function compilePattern(pattern: string): Pattern | undefined {
  const expression = expressionOf(pattern);
  if (!expression) return undefined;
  const byPoints = expression.unicode;
  const tree = readPattern(pattern, byPoints ? 'points' : 'units');
  const longestOwn = typeof tree === 'string' ? 0 : longestTried(tree, triesMax);
  if (longestOwn === Number.POSITIVE_INFINITY) return { test: (text) => expression.test(text), longest: longestOwn };
  const program = typeof tree === 'string' ? tree : layProgram(tree);
  const run = typeof program === 'string' ? undefined : runnerOf(program, byPoints);
  return {
    test: (text) => (text.length <= longestOwn ? expression.test(text) : run?.(text)),
    longest: Math.max(longestOwn, typeof program === 'string' ? 0 : Math.floor(stepsMax / 2 / sizeOf(program))),
  };
}

/** The steps of a pattern in a dialect, or what of it is not understood. */
export function programOf(pattern: string, dialect: PatternDialect): Program | string {
  const tree: Tree | string = readPattern(pattern, dialect);
  return typeof tree === 'string' ? tree : layProgram(tree);
}

/** The steps of a pattern of JSON Schema; undefined where it has none. */
export function programOfShape(pattern: string): Program | undefined {
  const expression = expressionOf(pattern);
  const program = expression && programOf(pattern, expression.unicode ? 'points' : 'units');
  return typeof program === 'string' ? undefined : program;
}

/** So many steps an engine that goes back may take: about a hundredth of a second. */
const triesMax = 1e6;

function sizeOf({ steps, looks }: Program): number {
  return looks.reduce((sum, look) => sum + look.steps.length + 1, steps.length + 1);
}

/** By code points where the pattern allows it, else as older authors wrote it. */
function expressionOf(pattern: string): RegExp | undefined {
  for (const flags of ['u', '']) {
    try {
      return new RegExp(pattern, flags);
    } catch {}
  }
  return undefined;
}
