import type { Point, Tree, Where } from './tree.ts';

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
