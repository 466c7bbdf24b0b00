import type { Endpoint } from '../parts/endpoints.ts';
import { entriesOf, entryOf, statedValue } from '../parts/fact.ts';
import { resourceOfEffect } from '../parts/operations.ts';
import type { Parameter } from '../parts/parameters.ts';
import { pathParameters } from '../parts/payload.ts';
import { toJsonSchema } from '../parts/schemas.ts';
import type { Shape } from '../parts/shape.ts';
import type { Spec } from '../parts/spec.ts';
import type { ParameterSpec } from './wire/parameter-reader.ts';

/** The parameters of an endpoint, and the schema of the map of them. */
export interface StatedParameters {
  readonly specs: readonly ParameterSpec[];
  readonly schema: Shape;
  readonly resolve: (ref: string) => Shape | undefined;
}

/** Everything that the endpoint reads besides its body, with the shapes that follow: a filter's is its field's. */
export function parameterSpecs(endpoint: Endpoint, paging: readonly string[], spec: Spec): StatedParameters {
  const resource = entryOf(spec.resources.all, resourceOfEffect(statedValue(endpoint.does)) ?? '');
  const fieldShape = (name: string): Shape => {
    const field = resource && entryOf(resource.fields, name);
    return (field && statedValue(field.shape)) ?? {};
  };
  const stated = entriesOf(endpoint.parameters).map(([, parameter]) => specOf(parameter, fieldShape));
  const names = new Set(stated.map(({ name }) => name));
  const path = pathParameters(endpoint.path).filter((name) => !names.has(name));
  const rest = [...paging, ...(endpoint.expand ? [endpoint.expand.parameter] : [])].filter((name) => !names.has(name));
  const all: StatedParameter[] = [
    ...stated,
    ...path.map((name): StatedParameter => ({ name, in: 'path', shape: { type: 'string' }, required: true })),
    ...rest.map(
      (name): StatedParameter => ({
        name,
        in: 'query',
        shape:
          name === endpoint.expand?.parameter ? { type: ['array', 'string'], items: { type: 'string' } } : { type: 'string' },
        required: false,
      }),
    ),
  ];
  const properties = Object.fromEntries(all.map(({ name, shape }) => [name, shape]));
  const schema = toJsonSchema(spec, { type: 'object', properties }, 'sent');
  const shapes = schema.properties as Readonly<Record<string, Shape>>;
  const specs = all.map((parameter): ParameterSpec => ({ ...parameter, shape: shapes[parameter.name] ?? {} }));
  return { specs, schema, resolve: (ref) => resolveIn(schema, ref) };
}

/** A parameter whose shape is not yet a schema. */
type StatedParameter = Omit<ParameterSpec, 'shape'> & { readonly shape: Shape };

/** The definition that a schema's own reference names. */
export function resolveIn({ $defs }: Shape, ref: string): Shape | undefined {
  // Definitions are schemas by name, and references as they are written here name them whole.
  const definitions = $defs as Readonly<Record<string, Shape>> | undefined;
  const name = decodeURIComponent(ref.replace('#/$defs/', ''));
  return definitions?.[name.replaceAll('~1', '/').replaceAll('~0', '~')];
}

function specOf(parameter: Parameter, fieldShape: (name: string) => Shape): StatedParameter {
  const { name, in: place, required, filters, op, style, explode } = parameter;
  const own = statedValue(parameter.shape);
  const shape: Shape = own ?? (filters === undefined ? { type: 'string' } : filterShape(fieldShape(filters), op));
  return {
    name,
    in: place,
    shape,
    required,
    ...(style !== undefined && { style: style as NonNullable<ParameterSpec['style']> }),
    ...(explode !== undefined && { explode }),
    ...(parameter.default && { default: parameter.default.value }),
  };
}

/** What a filter takes: its field's values, several of them for `in`, any text where only a part is compared. */
function filterShape(shape: Shape, op: Parameter['op']): Shape {
  if (op === 'prefix' || op === 'contains') return { type: 'string' };
  return op === 'in' ? { type: 'array', items: shape } : shape;
}
