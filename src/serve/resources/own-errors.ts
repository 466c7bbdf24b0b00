import { entriesOf } from '../../parts/fact.ts';
import { namesOperation, type Operation } from '../../parts/operations.ts';
import { type Compilation, type Evaluate, isFailed } from '../exchange/compilation.ts';
import type { Refusal, Value } from '../exchange/exchange.ts';

/** The service's own errors at one operation: the first whose condition holds, in document order. */
type OwnErrors = (scope: Readonly<Record<string, Value>>) => Refusal | undefined;

/** Compiles them; nothing where the operation has none. A condition that cannot be evaluated is `internal`. */
export function compileOwnErrors(operation: Operation, compilation: Compilation): OwnErrors | undefined {
  const effect = operation.endpoint;
  const rules = entriesOf(compilation.spec.errors.codes).flatMap(([name, code]) =>
    code.rules.flatMap((rule): { code: string; holds: Evaluate }[] => {
      if (!rule.if || (rule.on !== undefined && !isAbout(rule.on, operation))) return [];
      // What follows from a change is refused by the errors that name it.
      if (operation.follows && rule.on === undefined) return [];
      if (effect?.errors && rule.on === undefined && !effect.errors.includes(name)) return [];
      return [{ code: name, holds: compilation.expression(rule.if, operation.name) }];
    }),
  );
  if (rules.length === 0) return undefined;
  return (scope) => {
    for (const { code, holds } of rules) {
      const value = holds(scope);
      if (isFailed(value)) return { when: 'internal', message: `The condition of ${code} failed: ${value.reason}` };
      if (value === true) return { code };
    }
    return undefined;
  };
}

function isAbout(on: readonly string[], operation: Operation): boolean {
  return operation.follows ? on.includes(operation.name) : namesOperation(on, operation);
}
