import type { Pointer } from '../../document/document.ts';
import type { Shape } from '../shape.ts';
import type { Scope } from './scope.ts';

/** What an expression has to come to: a value of a shape, or null too where it may be left out. */
export interface Expected {
  readonly shape: Shape;
  readonly optional?: boolean;
}

/** One expression of a document, and all that its place says of it. */
export interface ExpressionUse {
  readonly at: Pointer;
  readonly source: string;
  /** What it is, for messages: `the condition of the transition return of parcel`. */
  readonly name: string;
  /** Whether it is made of others, each of which is a use of its own. */
  readonly isMade?: boolean;
  /** A condition is asked again and again, so one that never changes is a mistake; a value may be constant. */
  readonly role: 'condition' | 'value';
  readonly expected: Expected;
  /** What an evaluation that comes to nothing means there. */
  readonly failure: 'refused' | 'blocked' | 'unknown caller' | 'unsent' | 'internal';
  /** The scope in each operation that it stands for; one without a name where no operation is concerned. */
  readonly scopes: readonly UseScope[];
}

export interface UseScope {
  readonly operation?: string;
  readonly scope: Scope;
}

/** What a condition has to come to. */
export const aBoolean: Expected = { shape: { type: 'boolean' } };
