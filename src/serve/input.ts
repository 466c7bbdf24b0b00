import { keyOfFragmentStep } from '../document/pointer.ts';
import type { Endpoint } from '../parts/endpoints.ts';
import { isStated, statedValue } from '../parts/fact.ts';
import { requestShape } from '../parts/payload.ts';
import { toNamingSchema } from '../parts/schemas.ts';
import type { Shape } from '../parts/shape.ts';
import { isMap } from '../parts/source.ts';
import { credentialQueries } from './authentication/shown.ts';
import type { Compilation } from './compilation.ts';
import type { Input, Value } from './exchange.ts';
import { compileExpansion } from './expansion.ts';
import { parameterSpecs } from './stated-parameters.ts';
import type { Validate } from './wire/ajv.ts';
import { compileBody, type DecodeBody } from './wire/body.ts';
import type { ParameterSpec } from './wire/parameter-reader.ts';
import { compileParameters, type ReadParameters } from './wire/parameters.ts';
import type { Resolve } from './wire/schema.ts';

/** Compiles the reading of what requests for an endpoint carry. */
export function compileInput(endpoint: Endpoint, paging: readonly string[], compilation: Compilation): Input {
  const { spec } = compilation;
  const { specs, schema: ofParameters } = parameterSpecs(endpoint, paging, spec);
  const read: ReadParameters = compileParameters(specs, {
    known: [...fixedQuery(endpoint.path), ...credentialQueries(spec), ...versionQuery(spec)],
    undeclared: isOpenList(endpoint) ? 'ignore' : 'refuse',
    resolve: resolverOf(compilation, ofParameters),
  });
  const validate = validateParameters(specs, ofParameters, compilation);
  const shape = requestShape(spec, endpoint);
  const takesBody = isStated(shape);
  const files = statedValue(spec.limits.size)?.file;
  const badExpansion = compileExpansion(endpoint, compilation);
  let decode: DecodeBody | undefined;
  const decoder = () => {
    if (decode) return decode;
    const accepted =
      endpoint.consumes ??
      (statedValue(endpoint.does)?.verb === 'update'
        ? ['application/json', 'application/merge-patch+json']
        : ['application/json']);
    const schema = toNamingSchema(spec, statedValue(shape) ?? {}, 'sent');
    decode = compileBody({
      accepted,
      shape: schema,
      resolve: resolverOf(compilation, schema),
      ...(files !== undefined && { fileBytes: files }),
    });
    return decode;
  };
  return {
    takesBody,
    parameters(call, path, forgive) {
      const { values, violations } = read(path, call.query, call.headers);
      const wrong = validate(values);
      const all = violations.length === 0 ? wrong : forgive([...violations, ...wrong]);
      const bad = all.length > 0 ? all : badExpansion(values);
      return bad.length > 0 ? { refusal: { when: 'request.parameter', violations: bad } } : { params: values };
    },
    body(call, bytes) {
      // A body that may be left out, and is, is a map without members.
      if (endpoint.body === 'optional' && bytes.length === 0) return { value: {} };
      const type = call.headers['content-type'];
      const coding = call.headers['content-encoding'];
      const decoded = decoder()(
        bytes,
        typeof type === 'string' ? type : undefined,
        typeof coding === 'string' ? coding : undefined,
      );
      if (decoded.kind === 'value') return { value: decoded.value };
      const when = decoded.kind === 'media' ? 'request.media' : decoded.kind === 'size' ? 'limit.size' : 'request.malformed';
      return { refusal: { when, violations: decoded.violations } };
    },
  };
}

/** Finds what a schema refers to: a resource by its name, or one of the schema's own definitions. */
function resolverOf({ named }: Compilation, { $defs }: Shape): Resolve {
  const own = isMap($defs) ? $defs : {};
  return (ref) => {
    if (ref.startsWith('named:')) return named(ref.slice('named:'.length));
    const definition = own[keyOfFragmentStep(ref.replace('#/$defs/', ''))];
    return isMap(definition) ? definition : undefined;
  };
}

/** Whether nobody knows which parameters there are: with an effect and nothing stated there are none but the path's. */
function isOpenList({ parameters, does }: Endpoint): boolean {
  return parameters.standing === 'open' && (parameters.question !== undefined || !isStated(does));
}

function validateParameters(specs: readonly ParameterSpec[], { $defs }: Shape, compilation: Compilation): Validate {
  const checked = specs.filter(({ shape }) => Object.keys(shape).some((key) => key !== 'type') || shape.type !== 'string');
  if (checked.length === 0) return () => [];
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
