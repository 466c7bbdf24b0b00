import { Failed as FailedValue } from '../parts/expressions/cel-value.ts';
import { compileExpression } from '../parts/expressions/compile.ts';
import type { Context } from '../parts/expressions/frame.ts';
import type { ExpressionUse } from '../parts/expressions/use.ts';
import { expressionUses } from '../parts/expressions/uses.ts';
import type { Expression } from '../parts/fact.ts';
import type { Spec } from '../parts/spec.ts';
import { type Evaluate, Failed } from './evaluate.ts';

/**
 * Compiles the expressions of a document by their places, each in the scope of the operation that it is evaluated for; the
 * uses are gone through once, on the first expression.
 */
export function compileExpressions(spec: Spec): (expression: Expression, operation?: string) => Evaluate {
  let uses: Map<string, ExpressionUse> | undefined;
  const known = new Map<string, Evaluate>();
  return (expression, operation) => {
    uses ??= new Map(expressionUses(spec).map((use) => [use.at, use]));
    const use = uses.get(expression.at);
    const scope = use?.scopes.find((candidate) => candidate.operation === operation) ?? use?.scopes[0];
    const key = `${expression.at}\n${scope?.operation ?? ''}`;
    const found = known.get(key);
    if (found) return found;
    const evaluate =
      use && scope ? compile(spec, { ...use, scope: scope.scope }) : () => new Failed('it stands where nothing evaluates it');
    known.set(key, evaluate);
    return evaluate;
  };
}

function compile(spec: Spec, use: Parameters<typeof compileExpression>[1]): Evaluate {
  let compiled: ReturnType<typeof compileExpression> | undefined;
  return (scope) => {
    compiled ??= compileExpression(spec, use);
    // A scope holds JSON values, a clock and a follower by name, which is what a context is.
    const value = compiled.evaluate(scope as Context);
    return value instanceof FailedValue ? new Failed(value.message) : value;
  };
}
