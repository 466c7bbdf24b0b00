import { entriesOf } from '../../parts/fact.ts';
import { namesOperation, type Operation } from '../../parts/operations.ts';
import { type Compilation, isFailed, type PreparedExpression, unfit } from '../exchange/compilation.ts';
import type { Refusal, Value } from '../exchange/exchange.ts';
import type { RowModel } from './model.ts';

/** The service's own errors at one operation: the first whose condition holds, in document order. */
type OwnErrors = (scope: Readonly<Record<string, Value>>) => Refusal | undefined;

/** Compiles them; nothing where the operation has none. A condition that cannot be evaluated is the fault of what it reads of the request. */
export function compileOwnErrors(
  operation: Operation,
  compilation: Compilation,
  moved: readonly string[] = [],
): OwnErrors | undefined {
  const effect = operation.endpoint;
  const rules = entriesOf(compilation.spec.errors.codes).flatMap(([name, code]) =>
    code.rules.flatMap((rule): { code: string; condition: PreparedExpression }[] => {
      const isMoved = moved.some((one) => rule.on?.includes(one));
      if (!rule.if || (rule.on !== undefined && !isMoved && !isAbout(rule.on, operation))) return [];
      // What follows from a change is refused by the errors that name it.
      if (operation.follows && rule.on === undefined) return [];
      if (effect?.errors && rule.on === undefined && !effect.errors.includes(name)) return [];
      return [{ code: name, condition: compilation.prepare(rule.if, operation.name) }];
    }),
  );
  if (rules.length === 0) return undefined;
  return (scope) => {
    for (const { code, condition } of rules) {
      const value = condition.evaluate(scope);
      if (isFailed(value)) {
        const evaluated = { expression: condition, operation: operation.name, names: scope };
        const message = `The condition of ${code} failed: ${value.reason}`;
        return unfit(compilation.spec, evaluated, message, `a value of which it can be told whether it is ${code}`);
      }
      if (value === true) return { code };
    }
    return undefined;
  };
}

/** The same for an update, and besides for the transition that it is. */
export function compileMovedErrors(
  operation: Operation,
  { name, machines }: Pick<RowModel, 'name' | 'machines'>,
  compilation: Compilation,
):
  | ((
      scope: Readonly<Record<string, Value>>,
      moved: { readonly transitions?: readonly string[] | undefined },
    ) => Refusal | undefined)
  | undefined {
  const own = compileOwnErrors(operation, compilation);
  const moves = machines.flatMap((machine) => machine.moves(operation.name) ?? []);
  if (moves.length === 0) return own;
  const known = new Map<string, OwnErrors | undefined>();
  const moving = (transitions: readonly string[]): OwnErrors | undefined => {
    const key = transitions.join('\n');
    if (!known.has(key))
      known.set(
        key,
        compileOwnErrors(
          operation,
          compilation,
          transitions.map((one) => `${one} ${name}`),
        ),
      );
    return known.get(key);
  };
  return (scope, { transitions }) => (transitions === undefined ? own : moving(transitions))?.(scope);
}

function isAbout(on: readonly string[], operation: Operation): boolean {
  return operation.follows ? on.includes(operation.name) : namesOperation(on, operation);
}
