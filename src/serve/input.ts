import type { Endpoint } from '../parts/endpoints.ts';
import { entryOf, isStated, statedValue } from '../parts/fact.ts';
import { resourceOfEffect } from '../parts/operations.ts';
import { requestShape } from '../parts/payload.ts';
import { toJsonSchema } from '../parts/schemas.ts';
import type { Shape } from '../parts/shape.ts';
import { credentialQueries } from './authentication/shown.ts';
import type { Compilation } from './compilation.ts';
import type { Call, Refusal, Value } from './exchange.ts';
import { parameterSpecs, resolveIn } from './stated-parameters.ts';
import type { Validate } from './wire/ajv.ts';
import { compileBody, type DecodeBody } from './wire/body.ts';
import type { ParameterSpec } from './wire/parameter-reader.ts';
import { compileParameters, type ReadParameters } from './wire/parameters.ts';
import { describeValue, noViolations, type Violation } from './wire/violation.ts';

/** Reads what a request carries: its parameters and its body, each refused where it is not right. */
export interface Input {
  readonly takesBody: boolean;
  parameters(
    call: Call,
    path: Readonly<Record<string, string>>,
  ): { readonly params: Readonly<Record<string, Value>> } | { readonly refusal: Refusal };
  body(call: Call, bytes: Buffer): { readonly value: Value } | { readonly refusal: Refusal };
}

export function compileInput(endpoint: Endpoint, paging: readonly string[], compilation: Compilation): Input {
  const { spec } = compilation;
  const { specs, resolve, schema: ofParameters } = parameterSpecs(endpoint, paging, spec);
  const read: ReadParameters = compileParameters(specs, {
    resolve,
    known: [...fixedQuery(endpoint.path), ...credentialQueries(spec), ...versionQuery(spec)],
    undeclared: isOpenList(endpoint) ? 'ignore' : 'refuse',
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
    const schema = toJsonSchema(spec, statedValue(shape) ?? {}, 'sent');
    decode = compileBody({
      accepted,
      shape: schema,
      resolve: (ref) => resolveIn(schema, ref),
      ...(files !== undefined && { fileBytes: files }),
    });
    return decode;
  };
  return {
    takesBody,
    parameters(call, path) {
      const { values, violations } = read(path, call.query, call.headers);
      const wrong = validate(values);
      const all = violations.length === 0 ? wrong : [...violations, ...wrong];
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

/** What is asked to be shown whole must be references, as deep as the endpoint says. */
function compileExpansion(
  { does, expand }: Endpoint,
  { spec }: Compilation,
): (values: Readonly<Record<string, Value>>) => readonly Violation[] {
  const root = resourceOfEffect(statedValue(does));
  if (!expand || root === undefined) return () => noViolations;
  const leads = (resource: string | undefined, [field, ...rest]: readonly string[], depth: number): boolean => {
    if (field === undefined) return true;
    const stated = resource === undefined || depth === 0 ? undefined : entryOf(spec.resources.all, resource);
    const target = stated && entryOf(stated.fields, field)?.ref;
    return target !== undefined && leads(target, rest, depth - 1);
  };
  return (values) => {
    const bad = expansionPaths(values[expand.parameter]).filter((path) => !leads(root, path.split('.'), expand.depth));
    return bad.map((path) => ({
      in: 'query',
      path: expand.parameter,
      found: describeValue(path),
      expected: 'a field that refers to something',
    }));
  };
}

/** The paths that an expansion names: several parameters, or one text parted by commas. */
export function expansionPaths(value: Value): string[] {
  if (value === undefined) return [];
  const list = Array.isArray(value) ? value : [value];
  return list
    .flatMap((entry) => String(entry).split(','))
    .map((path) => path.trim())
    .filter((path) => path !== '');
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
