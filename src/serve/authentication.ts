import { isCallerKnown } from '../parts/expressions/operation-scope.ts';
import { namesOperation } from '../parts/operations.ts';
import type { Compilation } from './compilation.ts';
import type { Engine } from './engine.ts';
import type { Call, Caller, Refusal } from './exchange.ts';
import type { Plan } from './plan.ts';

/** Step 4: who is calling. Nobody, where the operation asks for no credential and none is looked at. */
export type Identified = { readonly caller: Caller | undefined } | { readonly refusal: Refusal };
export type Identify = (call: Call, plan: Plan) => Identified | Promise<Identified>;

/** Compiles the looking at credentials. Every caller is taken for the same user, unless somebody else says who calls. */
export function compileAuthentication({ compilation, identify }: Engine): Identify {
  if (identify) return (call, plan) => identifiedBy(identify(call), plan, compilation);
  const identified: Identified = { caller: { id: 'local', user: compilation.user ?? '', scopes: [] } };
  return () => identified;
}

/** No credential is looked at where an operation is public; nobody may call where each rule is for callers that are known. */
function identifiedBy(caller: Caller | undefined, { operation }: Plan, { spec }: Compilation): Identified {
  if (namesOperation(spec.authentication.public, operation)) return { caller: undefined };
  if (!caller && isCallerKnown(spec, operation)) return { refusal: { when: 'caller.unknown' } };
  return { caller };
}
