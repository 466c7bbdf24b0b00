import type { Expression } from '../parts/fact.ts';
import type { Value } from './exchange.ts';

/** An expression that could not be evaluated: what types cannot exclude fails closed. */
export class Failed {
  readonly reason: string;
  constructor(reason: string) {
    this.reason = reason;
  }
}

export function isFailed(value: Value): value is Failed {
  return value instanceof Failed;
}

/** Evaluates an expression over named JSON values; never throws. */
export type Evaluate = (scope: Readonly<Record<string, Value>>) => Value;
export type CompileExpression = (expression: Expression) => Evaluate;
