import type { Endpoint } from '../endpoints.ts';
import { isStated, statedValue } from '../fact.ts';
import { requestShape } from '../payload.ts';
import type { Spec } from '../spec.ts';
import { type FactInstance, type FactKind, instance, stated } from './kind.ts';

/** Methods and path shapes once each, or per `others`; the rest per endpoint, its effect counting in the response. */
export const endpointFacts: readonly FactKind[] = [
  {
    part: 'endpoints',
    kind: 'methods',
    arises: once,
    whenOpen: 'Every request answers 501; with `others`, one that is not listed.',
  },
  {
    part: 'endpoints',
    kind: 'path shapes',
    arises: once,
    whenOpen: 'Every request answers 501; with `others`, one that is not listed.',
  },
  {
    part: 'endpoints',
    kind: 'parameters',
    arises: (spec) => perEndpoint(spec, parameters),
    whenOpen: 'A request that sends a query answers 501.',
  },
  {
    part: 'endpoints',
    kind: 'request payload shapes',
    arises: (spec) => perEndpoint(spec, (endpoint) => request(spec, endpoint)),
    whenOpen: 'The endpoint answers 501.',
  },
  {
    part: 'endpoints',
    kind: 'response payload shapes',
    arises: (spec) => perEndpoint(spec, response),
    whenOpen: 'The endpoint answers 501.',
  },
];

function once({ endpoints }: Spec): FactInstance[] {
  return [instance('service', endpoints.all), ...(endpoints.others ? [instance('others', endpoints.others)] : [])];
}

function perEndpoint(spec: Spec, arise: (endpoint: Endpoint) => FactInstance): FactInstance[] {
  const { all } = spec.endpoints;
  if (isStated(all)) return Object.values(all.value).map(arise);
  return all.standing === 'none' ? [] : [instance('service', all)];
}

/** An endpoint with a stated effect and no `parameters` has none but those of its path. */
function parameters(endpoint: Endpoint): FactInstance {
  const { key, at, does, parameters } = endpoint;
  if (parameters.standing === 'open' && parameters.question === undefined && isStated(does)) return stated(key, at);
  return instance(key, parameters);
}

function request(spec: Spec, endpoint: Endpoint): FactInstance {
  return { ...instance(endpoint.key, requestShape(spec, endpoint)), at: `${endpoint.at}/request` };
}

/** The answer follows from every effect but a handler's and a reply's, which have to state it. */
function response(endpoint: Endpoint): FactInstance {
  const { key, does, response } = endpoint;
  if (!isStated(does)) return instance(key, does);
  if (response.standing !== 'open' || response.question !== undefined) return instance(key, response);
  const verb = statedValue(does)?.verb;
  return verb === 'handler' || verb === 'reply' ? instance(key, response) : stated(key, response.at);
}
