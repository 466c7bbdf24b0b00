import type { Json } from '../../document/document.ts';
import type { Fits } from './fit.ts';

/** Where a value is made: what it follows from, what it may refer to, and who is told of it. */
export interface Ground {
  /** The same seed and path give the same value. */
  readonly seed: string;
  /** The identifier of a row that is there; nothing where none can be had. */
  identifierOf(resource: string, path: string): Json | undefined;
  /** A row that is there, for where the thing itself is to stand and its identifier was given. */
  rowOf?(resource: string, id: string | number): unknown;
  /** Told each place that was made up, not what stands inside it. */
  sampled(path: string): void;
  /** Whether members that are not required are made too, as far as the budget goes. */
  readonly isFull?: boolean;
  /** How many values may still be made; what is beyond it cannot be made. Shared by everything that is made together. */
  readonly budget?: SampleBudget;
}

export interface SampleBudget {
  left: number;
}

/** Values of one shape. Paths are JSON Pointers. */
export interface Sampler {
  readonly fits: Fits;
  /** How deep the shallowest value is. */
  readonly cost: number;
  /** Whether there is only one value, so that nothing is made up. */
  readonly isFixed: boolean;
  /** A value from nothing: what is required and no more; `nothing` where there is none. */
  make(ground: Ground, path: string): unknown;
  /** A value that keeps of a given one what fits, and makes up what is required and not there. */
  complete(given: unknown, ground: Ground, path: string): unknown;
}

/** The two things that a sort of shape knows: to make a value, and to mend one that does not fit. */
export type SampleMeans = Pick<Sampler, 'make' | 'complete'>;

/** Finds the sampler of a shape inside another, by the name of the member that holds it. */
export type SamplerOf = (shape: Json, name: string) => Sampler;

/** Stands for a value that cannot be made: there is none, or not by these means. */
export const nothing = Symbol('nothing');
