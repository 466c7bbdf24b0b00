import type { Json, JsonMap } from '../../document/document.ts';
import type { Endpoint } from '../endpoints.ts';
import { entriesOf, isStated, statedValue } from '../fact.ts';
import { resourceOfEffect } from '../operations.ts';
import type { Order, Parameter } from '../parameters.ts';
import { fieldParameters } from '../payload.ts';
import type { Shape } from '../shape.ts';
import { isPlainMap, named } from '../source.ts';
import type { Spec } from '../spec.ts';
import type { Machine } from '../states.ts';
import type { Carries } from './carries.ts';
import { type History, olderValue, type ResourceCarry } from './carry.ts';
import type { FieldChange } from './earlier-resources.ts';

/**
 * The document as it was in one of its versions: its resources, the names and states of their machines, its endpoints and
 * what their parameters are called. Expressions stay as they are: they speak of the newest shape, in which everything is done.
 */
export function specInVersion(spec: Spec, history: History, carries: Carries): Spec {
  const level = history.levelOf(carries.version);
  const { resources, states, endpoints } = spec;
  return {
    ...spec,
    resources: isStated(resources.all)
      ? {
          ...resources,
          all: {
            ...resources.all,
            value: named(
              Object.entries(resources.all.value).map(
                ([name, resource]) => [name, carries.resources.at(name, level) ?? resource] as const,
              ),
            ),
          },
        }
      : resources,
    states: isStated(states.all)
      ? {
          ...states,
          all: {
            ...states.all,
            value: named(
              Object.entries(states.all.value).map(
                ([name, machine]) =>
                  [
                    name,
                    isStated(machine) ? { ...machine, value: earlierMachine(machine.value, history, carries) } : machine,
                  ] as const,
              ),
            ),
          },
        }
      : states,
    endpoints: isStated(endpoints.all)
      ? {
          ...endpoints,
          all: {
            ...endpoints.all,
            value: named(
              Object.entries(endpoints.all.value)
                .filter(([key]) => isServed(history, carries.version, key))
                .map(([key, endpoint]) => [key, endpointInVersion(endpoint, carries)] as const),
            ),
          },
        }
      : endpoints,
  };
}

/** The state field may have had another name, and the states too. */
function earlierMachine(machine: Machine, history: History, carries: Carries): Machine {
  const changes = carries.resources.changes(machine.resource, history.newest, history.levelOf(carries.version));
  let { field } = machine;
  const names = new Map((statedValue(machine.states) ?? []).map((state) => [state, state]));
  for (const { change } of changes) {
    if (change.kind === 'rename' && change.to === field) field = change.field;
    else if (change.kind === 'enum' && change.field === field)
      for (const [newest, name] of names) names.set(newest, olderState(change, name));
  }
  const older = (state: string) => names.get(state) ?? state;
  return {
    ...machine,
    field,
    initial: machine.initial.map((target) => ({ ...target, state: older(target.state) })),
    states: isStated(machine.states) ? { ...machine.states, value: machine.states.value.map(older) } : machine.states,
    transitions: isStated(machine.transitions)
      ? {
          ...machine.transitions,
          value: named(
            entriesOf(machine.transitions).map(([name, transition]) => [
              name,
              {
                ...transition,
                from: transition.from === '*' ? transition.from : transition.from.map(older),
                to: transition.to.map((target) => ({ ...target, state: older(target.state) })),
              },
            ]),
          ),
        }
      : machine.transitions,
  };
}

function olderState(change: Extract<FieldChange, { kind: 'enum' }>, state: string): string {
  const found = Object.entries(change.values).find(([, value]) => value === state);
  return found ? String(olderValue(found[0], state)) : state;
}

/** Whether an endpoint is there in a version: not added after it, and not removed by then. */
export function isServed(history: History, version: string, key: string): boolean {
  const level = history.levelOf(version);
  return history.steps.every(
    ({ change, level: below }) =>
      change.kind !== 'endpoint' ||
      change.endpoint !== key ||
      (change.added && below < level) ||
      (change.removed && below >= level) ||
      (!change.added && !change.removed),
  );
}

/** An endpoint in the words of a version: parameters and sort values that are named after fields bear that version's names. */
function endpointInVersion(endpoint: Endpoint, carries: Carries): Endpoint {
  const resource = resourceOfEffect(statedValue(endpoint.does));
  const carry = resource === undefined ? undefined : carries.resource(resource);
  if (!carry) return endpoint;
  return {
    ...endpoint,
    path: fieldParameters(endpoint).reduce(
      (path, name) => path.replace(`{${name}}`, `{${olderName(carry, name)}}`),
      endpoint.path,
    ),
    order: endpoint.order.flatMap((order) => olderOrder(carry, order)),
    parameters: isStated(endpoint.parameters)
      ? {
          ...endpoint.parameters,
          value: named(
            Object.values(endpoint.parameters.value)
              .flatMap((parameter) => olderParameter(carry, parameter, endpoint) ?? [])
              .map((parameter) => [parameter.name, parameter] as const),
          ),
        }
      : endpoint.parameters,
  };
}

/** What a parameter is called in the older version: as its field is, where it is named after one. */
export function olderParameterName(
  carry: ResourceCarry,
  { name, filters, in: place }: Pick<Parameter, 'name' | 'filters' | 'in'>,
): string {
  return filters === name || place === 'path' ? olderName(carry, name) : name;
}

/** A parameter of the older version; nothing where it filters by what was not there, or by what cannot be compared so. */
function olderParameter(carry: ResourceCarry, parameter: Parameter, endpoint: Endpoint): Parameter | undefined {
  const name = olderParameterName(carry, parameter);
  if (parameter.sortNames) return parameter;
  if (parameter.sorts)
    return {
      ...parameter,
      shape: isStated(parameter.shape) ? { ...parameter.shape, value: olderSort(carry, parameter.shape.value) } : parameter.shape,
    };
  const line = parameter.filters === undefined ? undefined : carry.newer(parameter.filters);
  if (!line) return parameter.in === 'path' && endpoint.path.includes(`{${parameter.name}}`) ? { ...parameter, name } : parameter;
  const isEqual = parameter.op === '=' || parameter.op === 'in';
  if (line.older === undefined || (line.isMapped && !isEqual)) return undefined;
  const own = statedValue(parameter.shape);
  const isOwn = own !== undefined && !line.isMapped;
  return {
    ...parameter,
    name,
    filters: line.older,
    // A mapped field is asked for by its older values, so their shape is the field's.
    shape: isOwn ? parameter.shape : { standing: 'open', at: parameter.at },
  };
}

function olderName(carry: ResourceCarry, name: string): string {
  return carry.newer(name)?.older ?? name;
}

function olderOrder(carry: ResourceCarry, order: Order): Order[] {
  const line = carry.newer(order.field);
  if (!line) return [order];
  return line.older === undefined ? [] : [{ ...order, field: line.older }];
}

/** The sort values of the older version: those of fields that it has, and whose values have the same order in both. */
function olderSort(carry: ResourceCarry, shape: Shape): Shape {
  const out: Record<string, Json> = { ...shape };
  if (Array.isArray(shape.enum))
    out.enum = shape.enum.flatMap((word) => (typeof word === 'string' ? (olderSortWord(carry, word) ?? []) : [word]));
  if (typeof shape.const === 'string') out.const = olderSortWord(carry, shape.const) ?? shape.const;
  for (const [name, inner] of Object.entries(shape)) {
    if (name === 'enum' || name === 'const') continue;
    if (isPlainMap(inner)) out[name] = olderSort(carry, inner);
    else if (Array.isArray(inner))
      out[name] = inner.map((item: Json) => (isPlainMap(item) ? (olderSort(carry, item as JsonMap) as Json) : item));
  }
  return out;
}

function olderSortWord(carry: ResourceCarry, word: string): string | undefined {
  const sign = /^[-+]/.exec(word)?.[0] ?? '';
  const line = carry.newer(word.slice(sign.length));
  if (!line) return word;
  return line.older === undefined || !line.isOrdered ? undefined : sign + line.older;
}
