import { below } from '../document/pointer.ts';
import type { Choosing } from './choosing.ts';
import type { Endpoint, Endpoints } from './endpoints.ts';
import { entriesOf, entryOf, isStated, statedValue } from './fact.ts';
import type { Parameter } from './parameters.ts';
import type { Resources } from './resources.ts';
import { isPlainMap, named } from './source.ts';

/** The endpoints, in which a filter by a field that is a list asks for rows that have the value in it, or one of the values. */
export function filteringLists(endpoints: Endpoints, resources: Resources): Endpoints {
  const { all } = endpoints;
  if (!isStated(all)) return endpoints;
  const value = Object.entries(all.value).map(([key, endpoint]) => [key, withLists(endpoint, resources)] as const);
  return { ...endpoints, all: { ...all, value: named(value) } };
}

function withLists(endpoint: Endpoint, resources: Resources): Endpoint {
  const { parameters, does } = endpoint;
  const effect = statedValue(does);
  if (effect?.verb !== 'list' || !isStated(parameters)) return endpoint;
  const resource = entryOf(resources.all, effect.resource);
  const lists = new Set(
    entriesOf(resource?.fields).flatMap(([name, { shape, children }]) => {
      const { type, items } = statedValue(shape) ?? {};
      const isOfScalars = type === 'array' && isPlainMap(items) && (scalars.has(String(items.type)) || items.ref !== undefined);
      return isOfScalars && !children ? [name] : [];
    }),
  );
  const isByList = ({ filters, op }: Parameter) => filters !== undefined && lists.has(filters) && compared.has(op);
  if (!entriesOf(parameters).some(([, one]) => isByList(one))) return endpoint;
  const value = entriesOf(parameters).map(([name, one]) => [name, isByList(one) ? choosingBy(one) : one] as const);
  return { ...endpoint, parameters: { ...parameters, value: named(value) } };
}

const scalars: ReadonlySet<string> = new Set(['string', 'integer', 'number', 'boolean']);
const compared: ReadonlySet<Parameter['op']> = new Set(['=', 'in', 'contains']);

function choosingBy({ filters = '', ...parameter }: Parameter): Parameter {
  const at = parameter.name === filters ? parameter.at : below(parameter.at, 'filters');
  const chooses: Choosing = { by: 'path', path: filters, at, ignoreCase: false, isAll: false };
  return { ...parameter, chooses };
}
