import { Failed as FailedValue } from '../../parts/expressions/cel-value.ts';
import { compileExpression } from '../../parts/expressions/compile.ts';
import type { EvaluationContext } from '../../parts/expressions/frame.ts';
import type { Read } from '../../parts/expressions/reads.ts';
import type { Scope } from '../../parts/expressions/scope.ts';
import type { ExpressionUse } from '../../parts/expressions/use.ts';
import type { Expression } from '../../parts/fact.ts';
import type { Spec } from '../../parts/spec.ts';
import { expressionUsesNear, partOf } from '../../parts/uses/all.ts';
import type { Value } from './exchange.ts';

/** An expression in the scope of one operation, ready to run. */
export interface Prepared {
  readonly source: string;
  readonly scope: Scope;
  /** Every path that it reads of its variables. */
  reads(): readonly Read[];
  readonly evaluate: Evaluate;
}

/**
 * Compiles the expressions of a document by their places, each in the scope of the operation that it is evaluated for; the
 * uses of a part are gone through once, on its first expression.
 */
export function compileExpressions(spec: Spec): (expression: Expression, operation?: string) => Prepared {
  const byPart = new Map<string, ReadonlyMap<string, ExpressionUse>>();
  const usesNear = (at: string): ReadonlyMap<string, ExpressionUse> => {
    const uses = byPart.get(partOf(at)) ?? new Map(expressionUsesNear(spec, at).map((use) => [use.at, use]));
    byPart.set(partOf(at), uses);
    return uses;
  };
  const known = new Map<string, Prepared>();
  return (expression, operation) => {
    const use = usesNear(expression.at).get(expression.at);
    const scope = use?.scopes.find((candidate) => candidate.operation === operation) ?? use?.scopes[0];
    const key = `${expression.at}\n${scope?.operation ?? ''}`;
    const found = known.get(key);
    if (found) return found;
    const prepared = use && scope ? prepare(spec, { ...use, scope: scope.scope }) : nowhere(expression);
    known.set(key, prepared);
    return prepared;
  };
}

function prepare(spec: Spec, use: Parameters<typeof compileExpression>[1]): Prepared {
  let compiled: ReturnType<typeof compileExpression> | undefined;
  const ready = () => {
    compiled ??= compileExpression(spec, use);
    return compiled;
  };
  return {
    source: use.source,
    scope: use.scope,
    reads: () => ready().reads,
    evaluate(scope) {
      // A scope holds JSON values, a clock and a follower by name, which is what a context is.
      const value = ready().evaluate(scope as EvaluationContext);
      return value instanceof FailedValue ? new EvaluationFailure(value.message) : value;
    },
  };
}

function nowhere({ source }: Expression): Prepared {
  const failed = new EvaluationFailure('it stands where nothing evaluates it');
  return { source, scope: {}, reads: () => [], evaluate: () => failed };
}

/** An expression that could not be evaluated: what types cannot exclude fails closed. */
export class EvaluationFailure {
  readonly reason: string;
  constructor(reason: string) {
    this.reason = reason;
  }
}

export function isFailed(value: Value): value is EvaluationFailure {
  return value instanceof EvaluationFailure;
}

/** Evaluates an expression over named JSON values; never throws. */
export type Evaluate = (scope: Readonly<Record<string, Value>>) => Value;
export type CompileExpression = (expression: Expression) => Evaluate;
