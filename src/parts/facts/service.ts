/** The facts of what a service is for, what it keeps and what can be asked of it: parts 1 to 4. */

import type { Endpoint } from '../endpoints.ts';
import { type Fact, isStated, statedValue } from '../fact.ts';
import { requestShape } from '../payload.ts';
import type { Field, Resource } from '../resources.ts';
import type { Shape } from '../shape.ts';
import type { Spec } from '../spec.ts';
import { type Machine, machinesOf } from '../states.ts';
import { type FactInstance, type FactKind, follows, instance, stated } from './kind.ts';

const goesOn = 'Nothing: it is not needed to answer.';

/** Purpose: its four kinds, once each. */
export const purposeFacts: readonly FactKind[] = [
  { part: 'purpose', kind: 'purpose', arises: (spec) => [instance('service', spec.purpose.purpose)], whenOpen: goesOn },
  { part: 'purpose', kind: 'functions', arises: (spec) => [instance('service', spec.purpose.functions)], whenOpen: goesOn },
  { part: 'purpose', kind: 'users', arises: (spec) => [instance('service', spec.purpose.users)], whenOpen: goesOn },
  {
    part: 'purpose',
    kind: 'base address',
    arises: (spec) => [instance('service', spec.purpose.baseUrls)],
    whenOpen: 'Endpoints are served at the root of the host.',
  },
];

/** Resources: once; per resource; per field. Where the list above is open, so is what would stand below it. */
export const resourceFacts: readonly FactKind[] = [
  {
    part: 'resources',
    kind: 'resources',
    arises: ({ resources }) => [
      instance('service', resources.all),
      ...(resources.others ? [instance('others', resources.others)] : []),
    ],
    whenOpen: 'Operations on a resource that is not stated answer 501.',
  },
  {
    part: 'resources',
    kind: 'identifiers',
    arises: (spec) => perResource(spec, (resource) => [identifierInstance(resource)]),
    whenOpen: 'Operations that need the identifier answer 501.',
  },
  {
    part: 'resources',
    kind: 'field names',
    arises: (spec) => perResource(spec, (resource) => [instance(resource.name, resource.fields)]),
    whenOpen: 'Operations that need the fields answer 501.',
  },
  {
    part: 'resources',
    kind: 'types',
    arises: (spec) => perField(spec, (field, subject) => [instance(subject, field.shape)]),
    whenOpen: 'A request that sends the field answers 501.',
  },
  {
    part: 'resources',
    kind: 'formats',
    arises: (spec) => perField(spec, (field, subject) => (hasFormat(field.shape) ? [instance(subject, field.shape)] : [])),
    whenOpen: 'A request that sends the field answers 501, with its type.',
  },
  {
    part: 'resources',
    kind: 'required flags',
    arises: (spec) => perField(spec, (field, subject) => [follows(subject, field.at, field.required)]),
    whenOpen: 'A request that leaves the field out answers 501.',
  },
  {
    part: 'resources',
    kind: 'allowed values',
    arises: (spec) => perField(spec, (field, subject) => [instance(subject, field.shape)]),
    whenOpen: 'A request that sends the field answers 501, with its type.',
  },
];

function perResource(spec: Spec, arise: (resource: Resource) => readonly FactInstance[]): FactInstance[] {
  const { all } = spec.resources;
  if (isStated(all)) return Object.values(all.value).flatMap(arise);
  return all.standing === 'none' ? [] : [instance('service', all)];
}

function perField(spec: Spec, arise: (field: Field, subject: string) => readonly FactInstance[]): FactInstance[] {
  return perResource(spec, ({ name, fields }) => {
    if (!isStated(fields)) return fields.standing === 'none' ? [] : [instance(name, fields)];
    return Object.values(fields.value).flatMap((field) => arise(field, `${name}.${field.name}`));
  });
}

/** A stated identifier that does not say how it is made is open at that word. */
function identifierInstance({ name, identifier }: Resource): FactInstance {
  if (isStated(identifier) && identifier.value.generate === undefined) {
    return { subject: name, at: `${identifier.at}/generate`, standing: 'open' };
  }
  return instance(name, identifier);
}

/** Strings and numbers have formats; what has an open shape may be one of them. */
function hasFormat(shape: Fact<Shape>): boolean {
  if (!isStated(shape)) return true;
  const { type, ref, resource } = shape.value;
  if (ref !== undefined) return true;
  if (resource !== undefined || type === undefined) return false;
  const types = Array.isArray(type) ? type : [type];
  return types.some((word) => word === 'string' || word === 'number' || word === 'integer');
}

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

/** States and transitions: per resource with an identifier. */
export const stateFacts: readonly FactKind[] = [
  {
    part: 'states',
    kind: 'states',
    arises: (spec) =>
      perMachine(
        spec,
        (machine) => machine.states,
        (machine) => machine.others,
      ),
    whenOpen: 'Nothing: the resource has no machine.',
  },
  {
    part: 'states',
    kind: 'transitions',
    arises: (spec) =>
      perMachine(
        spec,
        (machine) => machine.transitions,
        (machine) => machine.others,
      ),
    whenOpen: 'An operation that would be a transition answers 501.',
  },
];

function perMachine(
  spec: Spec,
  pick: (machine: Machine) => Fact<unknown>,
  others: (machine: Machine) => Fact<unknown> | undefined,
): FactInstance[] {
  const { all } = spec.resources;
  const { states } = spec;
  if (!isStated(all)) return all.standing === 'none' ? [] : [instance('service', states.all)];
  const identified = Object.values(all.value).filter((resource) => resource.identifier.standing !== 'none');
  return identified.flatMap(({ name }): FactInstance[] => {
    if (!isStated(states.all)) return [follows(name, `${states.at}/${name}`, states.all)];
    const own = states.all.value[name];
    const machines = machinesOf(states, name);
    if (!own && machines.length === 0)
      return [{ subject: name, at: `${states.at}/${name}`, standing: states.others?.standing === 'any' ? 'any' : 'open' }];
    if (own && !isStated(own)) return [instance(name, own)];
    return machines.flatMap((machine) => {
      const rest = others(machine);
      return [instance(machine.key, pick(machine)), ...(rest ? [instance(`${machine.key}, others`, rest)] : [])];
    });
  });
}
