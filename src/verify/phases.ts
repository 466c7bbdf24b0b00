import type { Trial } from './session/trial.ts';

/**
 * The noises one after the other, each until so much is used of what trials have: who has little has looked at something of each. What is
 * left of them goes on in the end.
 */
export const phases: readonly (readonly [noise: Trial['noise'], share: number])[] = [
  ['quiet', 0.6],
  ['alone', 0.75],
  ['loud', 0.9],
  ['quiet', 1],
  ['alone', 1],
  ['loud', 1],
];

/** How much of what trials have is for each phase at least. */
export const shareLeast = 0.15;
