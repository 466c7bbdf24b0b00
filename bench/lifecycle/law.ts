/** The laws that any service keeps which makes, reads, lists, changes and deletes things, and one life in which they are asked. */
import type { Json } from '../../src/document/document.ts';
import type { Asking, Told } from './asking.ts';
import type { DescribedOperation } from './description.ts';
import type { Family } from './families.ts';

export const laws = [
  'created',
  'echoed',
  'identifier',
  'read',
  'listed',
  'twice',
  'changed',
  'deleted',
  'gone',
  'refused',
  'let in',
  'unknown',
] as const;

/** The laws of lists that are walked page after page (`paged.ts`). */
export const pagedLaws = ['cut', 'walked', 'totals', 'counted', 'names'] as const;

export type Law = (typeof laws)[number] | (typeof pagedLaws)[number];

/** What came of a law that was asked. */
export interface Kept {
  readonly law: Law;
  readonly isHeld: boolean;
  /** The operation that was asked. */
  readonly operation: string;
  readonly reason: string;
  readonly status: number;
  /** What the answer says of it. */
  readonly message: string;
}

export interface Life {
  readonly family: Family;
  readonly families: ReadonlyMap<string, Family>;
  readonly asking: Asking;
  /** For the parameters before the one that names a thing. */
  readonly owners: readonly string[];
  readonly kept: Kept[];
  hold(law: Law, operation: DescribedOperation, told: Told, broken: string | undefined): boolean;
}

/** A thing that was made. */
export interface Made {
  readonly body: Json | undefined;
  readonly told: Told;
  /** What it is called in paths; nothing where no answer says so. */
  readonly id: string | undefined;
}
