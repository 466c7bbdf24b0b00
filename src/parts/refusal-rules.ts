import { type ErrorCondition, generalCondition } from './conditions.ts';
import type { ErrorCode, ErrorRule, Errors } from './errors.ts';
import { entriesOf, statedValue } from './fact.ts';
import { namesOperation, type Operation } from './operations.ts';

/** A code, and the rule of it that speaks. */
export interface RefusalRule {
  readonly code: ErrorCode;
  readonly rule: ErrorRule;
}

/**
 * The rule that answers a condition at an operation, or to a request that reaches none: one for that very condition before one for the
 * general condition above it, and one that names the operation before one for all.
 */
export function ruleFor(errors: Errors, condition: ErrorCondition, operation: Operation | undefined): RefusalRule | undefined {
  const own = narrowest(errors, condition, operation);
  const general = generalCondition(condition);
  return own ?? (general === condition ? undefined : narrowest(errors, general, operation));
}

function narrowest({ codes }: Errors, condition: ErrorCondition, operation: Operation | undefined): RefusalRule | undefined {
  const rules = entriesOf(codes).flatMap(([, code]) =>
    code.rules.filter((rule) => statedValue(rule.when)?.includes(condition)).map((rule) => ({ code, rule })),
  );
  const named = operation && rules.find(({ rule }) => rule.on !== undefined && namesOperation(rule.on, operation));
  return named ?? rules.find(({ rule }) => rule.on === undefined);
}
