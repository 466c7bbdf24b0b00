import { entryOf } from '../../parts/fact.ts';
import type { Engine } from '../engine.ts';
import type { Input, Plan, Refusal } from '../exchange.ts';
import { compileInput } from '../input.ts';
import type { OpenFact } from '../open.ts';
import { compileLower } from './lowered-refusals.ts';
import { compileRaiseBody } from './raised-body.ts';
import { compileRaiseParameters } from './raised-parameters.ts';
import type { OlderVersion } from './versions.ts';

/**
 * An endpoint as an older version has it: it reads requests in that version's words and raises them to the newest, in which
 * the same run carries them out. `open` are facts without which the version's shapes are not known.
 */
export function planInVersion(plan: Plan, older: OlderVersion, open: readonly OpenFact[], engine: Engine): Plan {
  const { compilation, acceptsOpen } = engine;
  const { spec } = compilation;
  const { endpoint } = plan;
  const olderEndpoint = entryOf(older.spec.endpoints.all, endpoint.key) ?? endpoint;
  const parameters = compileRaiseParameters(endpoint, older, spec);
  const body = plan.input.takesBody ? compileRaiseBody(endpoint, older, spec) : undefined;
  const lower = compileLower(endpoint, older, parameters);
  const { doubtsOf } = plan;
  return {
    ...plan,
    input: inVersion(compileInput(olderEndpoint, plan.paging, { ...compilation, spec: older.spec })),
    inDoubt: acceptsOpen ? plan.inDoubt : [...plan.inDoubt, ...open],
    doubtsOf: acceptsOpen && open.length > 0 ? (exchange) => [...(doubtsOf?.(exchange) ?? []), ...open] : doubtsOf,
    lower,
    raise:
      (parameters || body) &&
      ((exchange) => {
        if (parameters) {
          exchange.params = parameters.params(exchange.params);
          exchange.pathParams = parameters.path(exchange.pathParams);
        }
        if (!body) return;
        const raised = body(exchange.request, exchange.view.user);
        exchange.older = raised.older;
        exchange.request = raised.request;
      }),
  };
}

/** What is wrong with a request is said in the words that it was read in. */
function inVersion(input: Input): Input {
  const mark = (refusal: Refusal): { readonly refusal: Refusal } => ({ refusal: { ...refusal, inVersion: true } });
  return {
    takesBody: input.takesBody,
    parameters(call, path, forgive) {
      const taken = input.parameters(call, path, forgive);
      return 'refusal' in taken ? mark(taken.refusal) : taken;
    },
    body(call, bytes) {
      const taken = input.body(call, bytes);
      return 'refusal' in taken ? mark(taken.refusal) : taken;
    },
  };
}
