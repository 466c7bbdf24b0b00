import type { Endpoint, Expand } from '../../parts/endpoints.ts';
import { entriesOf, entryOf, isStated, statedValue } from '../../parts/fact.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import type { Parameter } from '../../parts/parameters.ts';
import { pathParameters, requestShape } from '../../parts/payload.ts';
import { isNever } from '../../parts/possible-errors.ts';
import { choosingShape } from '../../parts/reach.ts';
import { toNamingSchema } from '../../parts/schemas.ts';
import type { Shape } from '../../parts/shape.ts';
import type { Spec } from '../../parts/spec.ts';
import { machineOn } from '../../parts/states.ts';
import { credentialQueries } from '../callers/accepted-schemes.ts';
import type { Compilation } from '../exchange/compilation.ts';
import type { Input, Refusal, Value } from '../exchange/exchange.ts';
import type { BodyRead } from '../http/call.ts';
import type { ParameterSpec } from '../http/parameter-reader.ts';
import { compileParameters, type ReadParameters } from '../http/parameters.ts';
import type { Validate } from '../http/validation.ts';
import { emptyText, noViolations, type Violation } from '../http/violation.ts';
import { compileExpansion, type ReadExpansion } from '../resources/representation.ts';
import type { ViewCompilation } from '../resources/view-compilation.ts';
import { compileBodyInQuery, decoderOf, resolverOf } from './body-decoder.ts';

/** Compiles the reading of what requests for an endpoint carry. */
export function compileInput(endpoint: Endpoint, paging: readonly string[], compilation: ViewCompilation): Input {
  const { spec } = compilation;
  const { specs, schema: ofParameters } = parameterSpecs(endpoint, paging, spec);
  const read: ReadParameters = compileParameters(specs, {
    known: [...fixedQuery(endpoint.path), ...credentialQueries(spec), ...versionQuery(spec)],
    undeclared: isOpenList(endpoint) ? 'ignore' : 'refuse',
    resolve: resolverOf(compilation, ofParameters),
    splitsEncoded: compilation.standIn?.isLenient === true,
  });
  const validate = validateParameters(specs, ofParameters, compilation);
  const shape = requestShape(spec, endpoint);
  const isLenient = compilation.standIn?.isLenient ?? false;
  // Of what a source says nothing at all, what is sent there is what there is.
  const isKept = isLenient && shape.standing === 'open' && compilation.standIn?.compileUndescribed(endpoint) !== undefined;
  const takesBody = isStated(shape) || (isKept && endpoint.method !== 'GET');
  const readExpansion = compileExpansion(endpoint, compilation);
  const isBodyOptional = endpoint.body === 'optional' || isLenient || isNever(spec, 'request.missing');
  const inQuery = isLenient && takesBody ? compileBodyInQuery(endpoint, statedValue(shape) ?? {}, spec) : undefined;
  const decoder = decoderOf(endpoint, statedValue(shape) ?? {}, compilation);
  return {
    takesBody,
    parameters(call, path, forgive) {
      const { values, violations } = read(path, call.query, call.headers);
      const wrong = validate ? validate(values) : noViolations;
      const all = violations.length === 0 ? wrong : [...violations, ...wrong];
      const left = forgive && all.length > 0 ? forgive(all) : all;
      if (left.length > 0) return { refusal: { when: 'request.parameter', violations: left } };
      const params = all.length > 0 ? withoutEmpty(values, all) : values;
      return askedInQuery(params, endpoint.expand, readExpansion);
    },
    body(call, bytes) {
      // A body that may be left out, and is, is a map without members.
      if (isBodyOptional && bytes.length === 0) {
        const read = inQuery?.(call.query, decoder);
        return read?.kind === 'value' ? { value: read.value, isInQuery: true } : { value: {} };
      }
      const { 'content-type': type, 'content-encoding': coding } = call.headers;
      const decoded = decoder()(bytes, textOf(type), textOf(coding));
      if (decoded.kind !== 'value' && isKept) return { value: {} };
      if (decoded.kind !== 'value') return { refusal: { when: conditionOf[decoded.kind], violations: decoded.violations } };
      return askedInBody(decoded, endpoint.expand, readExpansion);
    },
  };
}

/** What the query asks to be shown whole, as paths from the row. */
function askedInQuery(
  params: Readonly<Record<string, Value>>,
  { parameter = '' }: Partial<Expand> = {},
  readExpansion: ReadExpansion | undefined,
): { readonly params: Readonly<Record<string, Value>> } | { readonly refusal: Refusal } {
  if (params[parameter] === undefined || !readExpansion) return { params };
  const expansion = readExpansion(params[parameter], 'query');
  if ('violations' in expansion) return { refusal: { when: 'request.parameter', violations: expansion.violations } };
  return { params: { ...params, [parameter]: expansion.paths } };
}

/** Takes out of a body what asks for references to be shown whole. */
function askedInBody(
  decoded: BodyRead,
  { member, parameter }: Partial<Expand> = {},
  readExpansion: ReadExpansion | undefined,
): BodyRead | { readonly refusal: Refusal } {
  if (member === undefined || parameter === undefined || !readExpansion || !hasMember(decoded.value, member)) return decoded;
  const { [member]: asked, ...value } = decoded.value;
  const expansion = readExpansion(asked, 'body');
  if ('violations' in expansion) return { refusal: { when: 'request.parameter', violations: expansion.violations } };
  return { ...decoded, value, params: { [parameter]: expansion.paths } };
}

function hasMember(value: Value, name: string): value is Readonly<Record<string, Value>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.hasOwn(value, name);
}

function textOf(field: string | readonly string[] | undefined): string | undefined {
  return typeof field === 'string' ? field : undefined;
}

/** The condition of each way in which a body cannot be read. */
const conditionOf = {
  missing: 'request.missing',
  malformed: 'request.malformed',
  untyped: 'request.untyped',
  media: 'request.media',
  size: 'limit.size',
} as const;

/** What is sent empty and cannot be, where that is let pass, is not sent. */
function withoutEmpty(values: Readonly<Record<string, Value>>, passed: readonly Violation[]): Readonly<Record<string, Value>> {
  const empty = new Set(passed.flatMap(({ in: place, found, path }) => (place === 'query' && found === emptyText ? [path] : [])));
  return empty.size === 0 ? values : Object.fromEntries(Object.entries(values).filter(([name]) => !empty.has(name)));
}

/** Whether nobody knows which parameters there are: with an effect and nothing stated there are none but the path's. */
function isOpenList({ parameters, does }: Endpoint): boolean {
  return parameters.standing === 'open' && (parameters.question !== undefined || !isStated(does));
}

function validateParameters(specs: readonly ParameterSpec[], { $defs }: Shape, compilation: Compilation): Validate | undefined {
  const checked = specs.filter(({ shape }) => Object.keys(shape).some((key) => key !== 'type') || shape.type !== 'string');
  if (checked.length === 0) return undefined;
  const properties = Object.fromEntries(checked.map(({ name, shape }) => [name, shape]));
  const places = new Map(specs.map(({ name, in: place }) => [name, place]));
  const schema = { type: 'object', properties, ...($defs !== undefined && { $defs }) };
  const validate = compilation.validator.compile(schema, (name) => places.get(name) ?? 'query');
  const names = checked.map(({ name }) => name);
  return (values) => {
    // A record of parameters by name.
    const record = values as Readonly<Record<string, Value>>;
    return names.some((name) => record[name] !== undefined) ? validate(values) : [];
  };
}

/** The query parameter that chooses a version needs no naming. */
function versionQuery({ versioning }: Compilation['spec']): string[] {
  const select = statedValue(versioning.select);
  return select?.by === 'query' && isStated(versioning.versions) ? [select.carrier] : [];
}

/** The names that stand in a key's own query: `/search?type=x`. */
function fixedQuery(path: string): string[] {
  const query = /\?([^#]*)/.exec(path)?.[1] ?? '';
  return [...new URLSearchParams(query).keys()];
}

/** The parameters of an endpoint, and the schema of the map of them. */
interface StatedParameters {
  readonly specs: readonly ParameterSpec[];
  readonly schema: Shape;
}

/** Everything that the endpoint reads besides its body, with the shapes that follow: a filter's is its field's, whose values may be states. */
function parameterSpecs(endpoint: Endpoint, paging: readonly string[], spec: Spec): StatedParameters {
  const resource = entryOf(spec.resources.all, resourceOfEffect(statedValue(endpoint.does)) ?? '');
  const fieldShape = (name: string): Shape => {
    const field = resource && entryOf(resource.fields, name);
    const shape: Shape = (field && statedValue(field.shape)) ?? {};
    const states = resource && statedValue(machineOn(spec.states, resource.name, name)?.states);
    return states && shape.enum === undefined ? { ...shape, enum: [...states] } : shape;
  };
  const stated = entriesOf(endpoint.parameters).map(([, parameter]) =>
    specOf(parameter, fieldShape, parameter.chooses && choosingShape(spec, endpoint, parameter)),
  );
  const names = new Set(stated.map(({ name }) => name));
  const path = pathParameters(endpoint.path).filter((name) => !names.has(name));
  const lists = [endpoint.expand?.parameter, endpoint.select?.parameter].filter((name) => name !== undefined);
  const rest = [...new Set([...paging, ...lists])].filter((name) => !names.has(name));
  const all: StatedParameter[] = [
    ...stated,
    ...path.map((name): StatedParameter => ({ name, in: 'path', shape: { type: 'string' }, required: true })),
    ...rest.map(
      (name): StatedParameter => ({
        name,
        in: 'query',
        shape: lists.includes(name) ? { type: ['array', 'string'], items: { type: 'string' } } : { type: 'string' },
        required: false,
      }),
    ),
  ];
  const properties = Object.fromEntries(all.map(({ name, shape }) => [name, shape]));
  const schema = toNamingSchema(spec, { type: 'object', properties }, 'sent');
  const shapes = schema.properties as Readonly<Record<string, Shape>>;
  const specs = all.map((parameter): ParameterSpec => ({ ...parameter, shape: shapes[parameter.name] ?? {} }));
  return { specs, schema };
}

/** A parameter whose shape is not yet a schema. */
type StatedParameter = Omit<ParameterSpec, 'shape'> & { readonly shape: Shape };

function specOf(parameter: Parameter, fieldShape: (name: string) => Shape, chosen: Shape | undefined): StatedParameter {
  const { name, in: place, required, filters, op, chooses, style, explode } = parameter;
  const own = chosen ?? statedValue(parameter.shape);
  const shape: Shape = own ?? (filters === undefined ? { type: 'string' } : filterShape(fieldShape(filters), op));
  return {
    name,
    in: place,
    shape,
    required,
    ...(style !== undefined && { style: style as NonNullable<ParameterSpec['style']> }),
    ...(explode !== undefined && { explode }),
    ...(chooses?.by === 'path' && chooses.split !== undefined && { splitsEncoded: true }),
    ...(parameter.default && { default: parameter.default.value }),
  };
}

/** What a filter takes: its field's values, several of them for `in`, any text where only a part is compared. */
function filterShape(shape: Shape, op: Parameter['op']): Shape {
  if (op === 'prefix' || op === 'contains') return { type: 'string' };
  return op === 'in' ? { type: 'array', items: shape } : shape;
}
