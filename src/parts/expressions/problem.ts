/** Something wrong with an expression. Offsets count into its text. */
export interface ExpressionProblem {
  readonly kind: 'parse' | 'type' | 'scope' | 'field' | 'absent' | 'result' | 'constant' | 'size';
  /** What is wrong, as one sentence. */
  readonly message: string;
  /** What to write instead. */
  readonly remedy?: string;
  readonly offset?: number;
  readonly length?: number;
  /** The operations in which it is wrong, where the expression stands for several and is not wrong in all. */
  readonly operations?: readonly string[];
}
