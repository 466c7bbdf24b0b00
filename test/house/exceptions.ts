/**
 * What the house does not keep yet, or never will, and why. Tables with reasons are for what is better so; the lists are what is
 * left to do: they may only become shorter, and the house test names an entry that is not needed any more.
 */

/** Files of `src` over 300 lines, each with the reason why splitting it would make it worse. */
export const longFiles: Readonly<Record<string, string>> = {};

/** Functions over 60 lines, each with the reason why its steps stand in one. */
export const longFunctions: Readonly<Record<string, string>> = {
  'src/serve/serve.ts#compileRoad': 'the fifteen steps of a request are read from top to bottom on one page',
};

/** Files that tests alone reach, each with the reason why it lies in `src`. */
export const testsAlone: Readonly<Record<string, string>> = {
  'src/check/catalogue.ts':
    'it gathers what the rules say of their own findings, and no verb lists findings that were not made: docs/findings.md is held to it',
  'src/kinds/pages/compare.ts':
    "it is the pages' part of what every sort of kind says of itself: how two of it compare; no verb compares documents yet",
};

/** Arrows between folders of one room that still go up. */
export const upwardArrows: readonly string[] = [];

/** Exported names that still stand for several things. */
export const severalMeanings: readonly string[] = [];

/** Exports that nobody imports. */
export const unusedExports: readonly string[] = [];

/** Files beside `src` that still close a circle of imports. */
export const circlesBeside: readonly string[] = [];
