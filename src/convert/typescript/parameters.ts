import type { Json } from '../../document/document.ts';
import { pageStyle } from '../../kinds/pages/all.ts';
import { parametersOf } from '../../kinds/pages/kind.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf, entryOf, type Fact, isStated, statedValue } from '../../parts/fact.ts';
import { isCut, type Pagination } from '../../parts/limits.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import type { Parameter } from '../../parts/parameters.ts';
import { pathParameters } from '../../parts/payload.ts';
import { choosingShape } from '../../parts/reach.ts';
import type { Shape } from '../../parts/shape.ts';
import { machineOn } from '../../parts/states.ts';
import { unsettledLine } from '../spec/words.ts';
import { type ShapeReading, shapeType } from './shape-type.ts';
import { deprecationText, listType, type ObjectMember, union, unknownType, word } from './syntax.ts';

/** The parameters of an endpoint: those that are stated, and those that its path, its pages and its expansion bring. */
export function parameterMembers(endpoint: Endpoint, reading: ShapeReading): ObjectMember[] {
  const stated = entriesOf(endpoint.parameters).map(([, parameter]) => statedMember(parameter, endpoint, reading));
  const known = new Set(stated.map(({ name }) => name));
  const path = pathParameters(endpoint.path).map((name): ObjectMember => ({ name, type: word('string') }));
  const rest = [...path, ...pageMembers(endpoint, reading), ...listMembers(endpoint)];
  return [...stated, ...rest.filter(({ name }) => !known.has(name))];
}

/** The parameters that have a value even where nobody gives one. */
export function filledParameters(endpoint: Endpoint): string[] {
  return entriesOf(endpoint.parameters).flatMap(([name, parameter]) => (parameter.default && !parameter.required ? [name] : []));
}

function statedMember(parameter: Parameter, endpoint: Endpoint, reading: ShapeReading): ObjectMember {
  const { name, filters, deprecated } = parameter;
  const own = parameter.chooses ? choosingShape(reading.spec, endpoint, parameter) : statedValue(parameter.shape);
  const shape: Shape = own ?? (filters === undefined ? { type: 'string' } : filterShape(parameter, filters, endpoint, reading));
  const unsettled = isFollowing(parameter.shape) || isStated(parameter.shape) ? undefined : parameter.shape;
  const gone = deprecationText(deprecated);
  return {
    name,
    type: unsettled ? unknownType : shapeType(shape, reading),
    optional: !parameter.required,
    doc: [
      ...(typeof shape.description === 'string' ? [shape.description] : []),
      ...(unsettled ? [unsettledLine(`the type of ${name}`, unsettled)] : []),
    ],
    ...(gone !== undefined && { deprecated: gone }),
  };
}

/** Where nothing is said of a shape, it follows: from the field that is filtered by, or it is a text. */
function isFollowing(shape: Fact<Shape>): boolean {
  return shape.standing === 'open' && shape.question === undefined;
}

/** What a filter takes: its field's values, several of them for `in`, any text where only a part is compared. */
function filterShape({ op }: Parameter, filters: string, endpoint: Endpoint, { spec }: ShapeReading): Shape {
  if (op === 'prefix' || op === 'contains') return { type: 'string' };
  const name = resourceOfEffect(statedValue(endpoint.does)) ?? '';
  const resource = entryOf(spec.resources.all, name);
  const field = resource && entryOf(resource.fields, filters);
  const states = statedValue(machineOn(spec.states, name, filters)?.states);
  const one: Shape = states ? { enum: [...states] } : ((field && statedValue(field.shape)) ?? {});
  return op === 'in' ? { type: 'array', items: one } : one;
}

/** The pagination of a list: its endpoint's own, or that of the service. */
export function listPagination(endpoint: Endpoint, reading: ShapeReading): Pagination | undefined {
  if (statedValue(endpoint.does)?.verb !== 'list') return undefined;
  return statedValue(endpoint.pagination ?? reading.spec.limits.pagination);
}

function pageMembers(endpoint: Endpoint, reading: ShapeReading): ObjectMember[] {
  const pagination = listPagination(endpoint, reading);
  if (!isCut(pagination)) return [];
  const places = parametersOf(pageStyle(pagination.style), pagination).map(({ name, parameter: { schema } }) => ({
    name,
    type: word(schema.type === 'integer' ? 'number' : 'string'),
    optional: true,
  }));
  const { size } = pagination;
  return [...places, ...(size === undefined ? [] : [{ name: size, type: word('number'), optional: true }])];
}

/** What is shown whole, and what is shown at all. */
function listMembers({ expand, select }: Endpoint): ObjectMember[] {
  return [expand, select].flatMap((one) =>
    one ? [{ name: one.parameter, type: union([word('string'), listType(word('string'))]), optional: true }] : [],
  );
}

/** The properties of a stated body that have a value even where nobody gives one. */
export function filledProperties(shape: Shape | undefined): string[] {
  const properties = shape?.type === 'object' ? shape.properties : undefined;
  if (typeof properties !== 'object' || properties === null || Array.isArray(properties)) return [];
  const entries: [string, Json][] = Object.entries(properties);
  return entries.flatMap(([name, inner]) => (typeof inner === 'object' && inner !== null && 'default' in inner ? [name] : []));
}
