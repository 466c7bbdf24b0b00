import type { Caller, Value } from '../exchange.ts';

/** What a request brings to its rules: request, params, caller, now, operation, version, follow. */
export type Scope = Readonly<Record<string, Value>>;

export function callerOf(scope: Scope): Caller | undefined {
  // Whoever makes a scope puts the exchange's caller in it, or nobody.
  return scope.caller as Caller | undefined;
}
