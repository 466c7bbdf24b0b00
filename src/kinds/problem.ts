import type { PartName } from '../document/document.ts';

/** A rule of a kind: a row of the catalogue of findings, and what is wrong by it with what a document states of the kind. */
export interface KindRule<Facts> {
  /** `part/what-is-wrong`, never reused. */
  readonly code: `${PartName}/${string}`;
  readonly severity: 'error' | 'warning';
  /** What is wrong, in general, as one sentence. */
  readonly meaning: string;
  /** What to write instead, in general. */
  readonly remedy: string;
  problems(facts: Facts): readonly Problem[];
}

/** One misuse of a kind, at the place where it is stated. */
export interface Problem {
  readonly message: string;
  /** Where it differs from the rule's own. */
  readonly remedy?: string;
  /** The member that is wrong; absent = the whole. */
  readonly member?: string;
}
