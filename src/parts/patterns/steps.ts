/** One step of a pattern: takes a character, goes on at several places, asks where it is or what stands around, or ends. */
export type Instruction =
  | Point
  | Where
  | { readonly op: 'fork'; readonly to: readonly number[] }
  | { readonly op: 'look'; readonly look: number }
  | { readonly op: 'end' };

/** What a pattern asks to stand around a place, as steps of its own; those that look ahead are laid from their end to their start. */
export interface LookAround {
  readonly isAhead: boolean;
  readonly isWanted: boolean;
  readonly steps: readonly Instruction[];
}

/** A pattern as steps. A look comes after those that stand within it. */
export interface Program {
  readonly steps: readonly Instruction[];
  readonly looks: readonly LookAround[];
}

/** Lays out a pattern's tree as steps, or says why it has none. */
export function layProgram(tree: Tree): Program | string {
  const looks: LookAround[] = [];
  try {
    return { steps: layWhole(tree, false, looks), looks };
  } catch (error) {
    if (error instanceof NoSteps) return error.message;
    throw error;
  }
}

class NoSteps extends Error {}

const instructionsMax = 2000;
/** Each doubles what has to be told apart in front of a character. */
const looksMax = 10;

function layWhole(tree: Tree, isBackwards: boolean, looks: LookAround[]): Instruction[] {
  const steps: Instruction[] = [];
  lay(tree, steps, isBackwards, looks);
  return [...steps, { op: 'end' }];
}

function lay(tree: Tree, steps: Instruction[], isBackwards: boolean, looks: LookAround[]): void {
  if (steps.length > instructionsMax) throw new NoSteps('more repeats than a pattern may have');
  if (tree.op === 'back') throw new NoSteps('a reference back to what a group took');
  if (tree.op === 'point' || tree.op === 'where') steps.push(tree);
  else if (tree.op === 'row')
    for (const item of isBackwards ? tree.of.toReversed() : tree.of) lay(item, steps, isBackwards, looks);
  else if (tree.op === 'either') layEither(tree.ways, steps, isBackwards, looks);
  else if (tree.op === 'repeat') layRepeat(tree, steps, isBackwards, looks);
  else {
    const { isAhead, isWanted } = tree;
    looks.push({ isAhead, isWanted, steps: layWhole(tree.of, isAhead, looks) });
    if (looks.length > looksMax) throw new NoSteps('more that looks ahead or behind than a pattern may have');
    steps.push({ op: 'look', look: looks.length - 1 });
  }
}

/** Where a fork leads is filled in once it is known. */
function layFork(steps: Instruction[], ...to: number[]): number[] {
  steps.push({ op: 'fork', to });
  return to;
}

function layEither(ways: readonly Tree[], steps: Instruction[], isBackwards: boolean, looks: LookAround[]): void {
  const starts = layFork(steps);
  const exits = ways.map((way) => {
    starts.push(steps.length);
    lay(way, steps, isBackwards, looks);
    return layFork(steps);
  });
  for (const exit of exits) exit.push(steps.length);
}

function layRepeat(tree: Extract<Tree, { op: 'repeat' }>, steps: Instruction[], isBackwards: boolean, looks: LookAround[]): void {
  const start = steps.length;
  for (let count = 0; count < tree.least; count++) {
    lay(tree.of, steps, isBackwards, looks);
    // What is empty is as empty any number of times.
    if (steps.length === start) break;
  }
  const again = steps.length;
  const exits: number[][] = [];
  for (let count = tree.least; count < tree.most; count++) {
    exits.push(layFork(steps, steps.length + 1));
    lay(tree.of, steps, isBackwards, looks);
    if (tree.most === Number.POSITIVE_INFINITY) {
      layFork(steps, again);
      break;
    }
  }
  for (const exit of exits) exit.push(steps.length);
}

/** A pattern as it is put together. A group is what stands in it: what it captures is of no use to who asks whether it is found. */
export type Tree =
  | Point
  | Where
  | { readonly op: 'row'; readonly of: readonly Tree[] }
  | { readonly op: 'either'; readonly ways: readonly Tree[] }
  | { readonly op: 'repeat'; readonly of: Tree; readonly least: number; readonly most: number }
  | { readonly op: 'look'; readonly isAhead: boolean; readonly isWanted: boolean; readonly of: Tree }
  /** The text that a group before it took, again. */
  | { readonly op: 'back' };

/** One character: which it may be, and the same as a set. */
export interface Point {
  readonly op: 'point';
  readonly takes: (point: number) => boolean;
  readonly set: CharacterSet;
}

interface Where {
  readonly op: 'where';
  readonly where: 'start' | 'end' | 'edge' | 'inside';
}

/** A bit for each character of ASCII, and one for all others together: sets that share no bit share no character. */
export type CharacterSet = bigint;

export const beyondAscii: CharacterSet = 1n << 128n;
export const everything: CharacterSet = (1n << 129n) - 1n;

/** The set of a table of ASCII. */
export function asciiOf(table: Uint8Array): CharacterSet {
  let set = 0n;
  for (let point = 0; point < 128; point++) if (table[point] === 1) set |= 1n << BigInt(point);
  return set;
}

/** Characters that a pattern does not tell apart are one letter to it: a number, from 0. */
export class Alphabet {
  /** For each step of the program that takes a character, which of the points it is; -1 for all others. */
  private readonly pointOf: Int32Array;
  private readonly points: readonly Point[];
  private readonly letters = new Map<string, number>();
  /** For each letter what the points say to it, and last whether it is of a word. */
  private readonly said: Uint8Array[] = [];
  private readonly ascii = new Int32Array(128).fill(-1);
  private readonly beyond = new Map<number, number>();

  constructor(steps: readonly Instruction[]) {
    const points: Point[] = [];
    const known = new Map<Point, number>();
    this.pointOf = Int32Array.from(steps, (step) => {
      if (step.op !== 'point') return -1;
      const at = known.get(step) ?? points.push(step) - 1;
      known.set(step, at);
      return at;
    });
    this.points = points;
  }

  /** What it costs to look at a character that was not seen before, in steps. */
  get cost(): number {
    return this.points.length;
  }

  /** The letter of a character; undefined where that has to be found out first. */
  known(point: number): number | undefined {
    if (point >= 128) return this.beyond.get(point);
    const letter = this.ascii[point] as number;
    return letter < 0 ? undefined : letter;
  }

  find(point: number): number {
    const said = Uint8Array.from([...this.points.map(({ takes }) => takes(point)), isWord(point)], Number);
    const key = said.join('');
    const letter = this.letters.get(key) ?? this.said.push(said) - 1;
    this.letters.set(key, letter);
    if (point < 128) this.ascii[point] = letter;
    else if (this.beyond.size < pointsKept) this.beyond.set(point, letter);
    return letter;
  }

  takes(step: number, letter: number): boolean {
    return this.said[letter]?.[this.pointOf[step] as number] === 1;
  }

  isWord(letter: number): boolean {
    return this.said[letter]?.[this.points.length] === 1;
  }
}

const pointsKept = 20_000;

/** A letter, digit or underscore of ASCII. */
function isWord(point: number): boolean {
  return (point > 96 && point < 123) || (point > 64 && point < 91) || (point > 47 && point < 58) || point === 95;
}
