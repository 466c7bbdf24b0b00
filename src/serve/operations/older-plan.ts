import { pathOf, pointerOf } from '../../document/pointer.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { entryOf, isStated, statedValue } from '../../parts/fact.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import type { Exchange, Input, Plan, Refusal } from '../exchange/exchange.ts';
import type { OpenFact } from '../exchange/open.ts';
import type { OlderVersion } from '../exchange/versions.ts';
import { describeValue, type Violation } from '../http/violation.ts';
import { compileRaiseBody, valueAtPath } from '../resources/older-body.ts';
import type { Engine } from './engine.ts';
import { compileInput } from './input.ts';
import { compileRaiseParameters, type RaiseParameters } from './request-parameters.ts';

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

/** Compiles the telling of refusals in the words of an older version; nothing where they are the same. */
function compileLower(
  endpoint: Endpoint,
  older: OlderVersion,
  raised: RaiseParameters | undefined,
): ((refusal: Refusal, exchange: Exchange) => Refusal) | undefined {
  const resource = resourceOfEffect(statedValue(endpoint.does));
  const own = isStated(endpoint.request) ? older.carries.shape(endpoint.request.value) : undefined;
  const carry = own ?? (resource === undefined ? undefined : older.carries.resource(resource));
  if (!carry && !raised) return undefined;
  const lower = (violation: Violation, exchange: Exchange): Violation => {
    if (violation.in !== 'body') return { ...violation, path: raised?.olderName(violation.path) ?? violation.path };
    const place = carry?.place(pathOf(violation.path));
    if (!place) return violation;
    const path = pointerOf(place.path);
    if (!place.isMapped) return { ...violation, path };
    const found = describeValue(valueAtPath(exchange.older?.body ?? exchange.request, place.path));
    return { ...violation, path, found, expected: `what is ${violation.expected} in the newest version` };
  };
  return (refusal, exchange) =>
    refusal.violations && !refusal.inVersion
      ? { ...refusal, violations: refusal.violations.map((violation) => lower(violation, exchange)) }
      : refusal;
}
