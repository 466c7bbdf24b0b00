import type { Json, JsonMap } from '../../document/document.ts';
import type { Endpoint, Order } from '../endpoints.ts';
import { isStated, statedValue } from '../fact.ts';
import { resourceOfEffect } from '../operations.ts';
import type { Parameter } from '../parameters.ts';
import { pathParameters } from '../payload.ts';
import type { Shape } from '../shape.ts';
import { isMap, named } from '../source.ts';
import type { Carries } from './carries.ts';
import type { ResourceCarry } from './carry.ts';
import type { History } from './history.ts';

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
export function endpointInVersion(endpoint: Endpoint, carries: Carries): Endpoint {
  const resource = resourceOfEffect(statedValue(endpoint.does));
  const carry = resource === undefined ? undefined : carries.resource(resource);
  if (!carry) return endpoint;
  return {
    ...endpoint,
    path: pathParameters(endpoint.path).reduce(
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
    if (isMap(inner)) out[name] = olderSort(carry, inner);
    else if (Array.isArray(inner))
      out[name] = inner.map((item: Json) => (isMap(item) ? (olderSort(carry, item as JsonMap) as Json) : item));
  }
  return out;
}

function olderSortWord(carry: ResourceCarry, word: string): string | undefined {
  const sign = /^[-+]/.exec(word)?.[0] ?? '';
  const line = carry.newer(word.slice(sign.length));
  if (!line) return word;
  return line.older === undefined || !line.isOrdered ? undefined : sign + line.older;
}
