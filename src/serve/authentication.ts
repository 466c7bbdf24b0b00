import type { Engine } from './engine.ts';
import type { Call, Caller, Refusal } from './exchange.ts';
import type { Plan } from './plan.ts';

/** Step 4: who is calling. Nobody, where the operation asks for no credential and none is looked at. */
export type Identified = { readonly caller: Caller | undefined } | { readonly refusal: Refusal };
export type Identify = (call: Call, plan: Plan) => Identified | Promise<Identified>;

/** Compiles the looking at credentials. Every caller is taken for the same user. */
export function compileAuthentication({ compilation }: Engine): Identify {
  const identified: Identified = { caller: { id: 'local', user: compilation.user ?? '', scopes: [] } };
  return () => identified;
}
