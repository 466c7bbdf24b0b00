/** A pattern made ready, and the work that it may cost an engine. */

import { type PatternDialect, readPattern } from './read-pattern.ts';
import { runnerOf, stepsMax } from './run.ts';
import { type CharacterSet, everything, layProgram, type Program, type Tree } from './steps.ts';

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

/**
 * The length of the longest text on which an engine that goes back and tries again takes no more than `workMax` steps, whatever the
 * text: infinity for a pattern with one way through each text. Zero where a repeat within a repeat can part a text in many ways.
 */
function longestTried(tree: Tree, workMax: number): number {
  const { factor, degree } = waysOf(tree, 0n);
  const length = lengthOf(tree);
  const isBounded = length <= lengthMax;
  // Each way is as long as the text or as the pattern, and without `^` one begins at every place.
  const exponent = degree + (isBounded ? 0 : 1) + (startsAtStart(tree) ? 0 : 1);
  const most = workMax / (factor * (isBounded ? Math.max(1, length) : 1));
  if (!(most >= 1)) return 0;
  return exponent <= 1 ? Number.POSITIVE_INFINITY : Math.floor(most ** (1 / exponent));
}

const lengthMax = 1000;

/** How many ways there are through a text of n characters, at most: `factor` times n to the power of `degree`. */
interface Ways {
  readonly factor: number;
  readonly degree: number;
}

const oneWay: Ways = { factor: 1, degree: 0 };
const tooMany: Ways = { factor: Number.POSITIVE_INFINITY, degree: 0 };

/** `follow` is what may stand behind it: where that and what may stand within share no character, there is no choice. */
function waysOf(tree: Tree, follow: CharacterSet): Ways {
  if (tree.op === 'point' || tree.op === 'where') return oneWay;
  if (tree.op === 'back') return { factor: 1, degree: 1 };
  if (tree.op === 'look') {
    const { factor, degree } = waysOf(tree.of, 0n);
    return { factor, degree: degree + 1 };
  }
  if (tree.op === 'repeat') return waysOfRepeat(tree, follow);
  if (tree.op === 'either') {
    const each = tree.ways.map((way) => waysOf(way, follow));
    const starts = tree.ways.map((way) => startOf(way, follow));
    const isChoice = tree.ways.filter(isEmpty).length > 1 || starts.some((start, n) => meets(start, starts.slice(0, n)));
    const factors = each.map(({ factor }) => factor);
    return {
      factor: isChoice ? factors.reduce((sum, factor) => sum + factor, 0) : Math.max(...factors),
      degree: Math.max(...each.map(({ degree }) => degree)),
    };
  }
  let ways = oneWay;
  let behind = follow;
  for (const item of tree.of.toReversed()) {
    const own = waysOf(item, behind);
    ways = { factor: ways.factor * own.factor, degree: ways.degree + own.degree };
    behind = startOf(item, behind);
  }
  return ways;
}

function meets(set: CharacterSet, others: readonly CharacterSet[]): boolean {
  return others.some((other) => (other & set) !== 0n);
}

function waysOfRepeat({ of, least, most }: Extract<Tree, { op: 'repeat' }>, follow: CharacterSet): Ways {
  if (most === 0) return oneWay;
  if (most > 1 && isEmpty(of)) return tooMany;
  const first = startOf(of, 0n);
  const inner = waysOf(of, most > 1 ? first | follow : follow);
  const isOne = inner.factor === 1 && inner.degree === 0;
  if (!isOne && most === Number.POSITIVE_INFINITY) return tooMany;
  const factor = isOne ? 1 : inner.factor ** most;
  const degree = isOne ? 0 : inner.degree * most;
  if (least === most || (first & follow) === 0n) return { factor, degree };
  return most === Number.POSITIVE_INFINITY ? { factor, degree: degree + 1 } : { factor: factor * (most - least + 1), degree };
}

/** The characters that may stand where it begins. */
function startOf(tree: Tree, follow: CharacterSet): CharacterSet {
  if (tree.op === 'point') return tree.set;
  if (tree.op === 'where') return tree.where === 'end' ? 0n : follow;
  if (tree.op === 'look') return follow;
  if (tree.op === 'back') return everything;
  if (tree.op === 'either') return tree.ways.reduce((set, way) => set | startOf(way, follow), 0n);
  if (tree.op === 'row') return tree.of.reduceRight((behind, item) => startOf(item, behind), follow);
  if (tree.most === 0) return follow;
  return startOf(tree.of, follow) | (tree.least === 0 ? follow : 0n);
}

/** Whether it may take no character at all. */
function isEmpty(tree: Tree): boolean {
  if (tree.op === 'point') return false;
  if (tree.op === 'either') return tree.ways.some(isEmpty);
  if (tree.op === 'row') return tree.of.every(isEmpty);
  return tree.op !== 'repeat' || tree.least === 0 || isEmpty(tree.of);
}

/** How many characters it takes at most. */
function lengthOf(tree: Tree): number {
  if (tree.op === 'point') return 1;
  if (tree.op === 'where') return 0;
  if (tree.op === 'back' || tree.op === 'look') return Number.POSITIVE_INFINITY;
  if (tree.op === 'either') return Math.max(...tree.ways.map(lengthOf));
  if (tree.op === 'row') return tree.of.reduce((sum, item) => sum + lengthOf(item), 0);
  const length = lengthOf(tree.of);
  return length === 0 ? 0 : length * tree.most;
}

/** Whether it is found at the start of a text or nowhere. */
function startsAtStart(tree: Tree): boolean {
  if (tree.op === 'where') return tree.where === 'start';
  if (tree.op === 'either') return tree.ways.every(startsAtStart);
  if (tree.op === 'row')
    return tree.of.some(
      (item, n) => startsAtStart(item) && tree.of.slice(0, n).every((one) => one.op === 'where' || one.op === 'look'),
    );
  return tree.op === 'repeat' && tree.least > 0 && startsAtStart(tree.of);
}
