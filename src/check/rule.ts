import type { PartName, Pointer } from '../document/document.ts';
import type { Operation } from '../parts/operations.ts';
import type { Spec } from '../parts/spec.ts';

/** One thing that can be wrong with a document. Its row in `docs/findings.md` and its test stand under its code. */
export interface Rule {
  /** `part/what-is-wrong`, never reused. */
  readonly code: string;
  readonly part: PartName;
  readonly severity: 'error' | 'warning';
  /** What is wrong, in general, as one sentence. */
  readonly meaning: string;
  /** What to write instead, in general. */
  readonly remedy: string;
  readonly find: (subject: Subject) => Iterable<Wrong>;
}

/** What every rule looks at. Whatever several rules need is worked out once, before the first of them. */
export interface Subject {
  readonly spec: Spec;
  /** Every operation by name, with those no caller reaches. */
  readonly operations: readonly Operation[];
}

/** One place where a rule found something. */
export interface Wrong {
  readonly message: string;
  /** Where it differs from the rule's own. */
  readonly remedy?: string;
  readonly at: Pointer;
  /** Point at the key rather than at the value. */
  readonly onKey?: boolean;
  /** A stretch inside a text value, such as an expression: where it starts, and how long it is. */
  readonly offset?: number;
  readonly length?: number;
  readonly also?: readonly { readonly message: string; readonly at: Pointer }[];
}
