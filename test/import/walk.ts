import { isDeepStrictEqual } from 'node:util';
import type { Imported } from '../../src/convert/openapi/import.ts';
import type { Json, JsonMap, Pointer } from '../../src/document/document.ts';
import { below, pathOf } from '../../src/document/pointer.ts';
import { valueAt } from '../../src/document/source.ts';
import { isMap, isStanding } from '../../src/document/values.ts';

/** Every stated fact of a document that the source does not say at the place that it is led back to. */
export function unsaid({ document, trail }: Imported, source: JsonMap): string[] {
  const inferred = new Set(trail.evidence.map(({ fact }) => fact));
  const wrong: string[] = [];
  const visit = (value: Json, at: Pointer): void => {
    if (at === '/evidence' || inferred.has(at) || isStanding(value)) return;
    if (Array.isArray(value)) for (const [index, item] of value.entries()) visit(item, below(at, index));
    else if (isMap(value)) for (const [key, inner] of Object.entries(value)) visit(inner, below(at, key));
    else if (!isSaid(value, at, trail.origin(at), source)) {
      wrong.push(
        `${at} = ${JSON.stringify(value)} from ${trail.origin(at)} = ${JSON.stringify(valueAt(source, trail.origin(at) ?? ''))?.slice(0, 100)}`,
      );
    }
  };
  visit(document.tree, '');
  return wrong;
}

function isSaid(value: Json, at: Pointer, origin: Pointer | undefined, source: JsonMap): boolean {
  if (origin === undefined) return false;
  const said = valueAt(source, origin);
  if (isDeepStrictEqual(value, said)) return true;
  if (typeof value === 'string' && typeof said === 'string' && (value === said.trim() || value === withoutEscapes(said)))
    return true;
  const around = valueAt(source, origin.slice(0, origin.lastIndexOf('/')));
  // Null stands beside a type that is one word in the source, and beside it a flag.
  if (typeof said === 'string' && value === `${said}?` && isMap(around) && allowsNull(around)) return true;
  if (value === 'null' && isMap(around) && !isMap(said) && allowsNull(around)) return true;
  // A type beside the one thing that it is of is that thing.
  if (isMap(around) && isMap(said) === false && typeof value === 'string' && shapeSays(value, around, source, [])) return true;
  const path = pathOf(at);
  const key = path.findLast((word) => !/^\d+$/.test(word)) ?? '';
  return (sayings[key] ?? shapeSays)(value, said, source, path) || shapeSays(value, said, source, path);
}

type Saying = (value: Json, said: Json | undefined, source: JsonMap, path: readonly string[]) => boolean;

/** Forms in which the language says what a source says with other words, by the key of the fact. */
const sayings: Readonly<Record<string, Saying>> = {
  base_url: (value, said, source) => {
    const servers = Array.isArray(said) ? said.filter(isMap) : [];
    const filled = servers.map(({ url, variables }) =>
      String(url).replaceAll(/\{([^{}]+)\}/g, (_, name: string) => {
        const variable = isMap(variables) ? variables[name] : undefined;
        return isMap(variable) ? String(variable.default) : '';
      }),
    );
    // A server of AsyncAPI says its host by itself.
    const host = isMap(said) ? (said.host ?? said.url) : undefined;
    return (
      filled.some((url) => url.replace(/\/+$/, '') === value) ||
      (typeof host === 'string' && String(value).includes(host.replace(/\{.*/s, ''))) ||
      String(value).includes(String(source.host ?? source.basePath))
    );
  },
  consumes: (value, said, source, path) => mediaTypes(said, source, path, 'consumes').includes(String(value)),
  produces: (value, said, source, path) => mediaTypes(said, source, path, 'produces').includes(String(value)),
  // What the source leaves unsaid holds by the rules of JSON Schema, of parameters and of lists in old documents.
  additionalProperties: (value, said) => value === true && isMap(said) && said.additionalProperties !== false,
  explode: (value, said) => isMap(said) && (said.type === 'array' || said.explode === value),
  style: (value, said) => isMap(said) && said.type === 'array' && typeof value === 'string',
  required: (value, said) =>
    isMap(said) &&
    (said.required === value ||
      // An answer may lack a header that is not said to be required.
      (value === false && said.required === undefined) ||
      (Array.isArray(said.required) && said.required.includes(value))),
  accept: (value, _said, source) => JSON.stringify(source).includes(`"${value}":[`),
  body: (value, said) => value === 'optional' && (!isMap(said) || said.required !== true),
  public: () => true,
  // An operation without a name is called by its key.
  as: (value, _said, _source, path) => value === path[1],
  on: (_value, said) => isMap(said) && isMap(said.callbacks),
  prefix: (value, said) => value === 'Bearer' && isMap(said) && /bearer/i.test(String(said.scheme)),
  header: (value, said) => isMap(said) && (said.name === value || (value === 'Authorization' && said.type === 'http')),
  format: (value, said) => isMap(said) && (said.bearerFormat === value || said.type === 'file'),
  in: (value, said) => isMap(said) && said.in === value,
  type: (value, said) =>
    value === 'unverifiable' ||
    (value === 'oauth2' && said === 'openIdConnect') ||
    (value === 'api_key' && (said === 'http' || said === 'apiKey' || said === 'httpApiKey')) ||
    (value === 'basic' && said === 'http'),
  deprecated: (value, said) => isMap(said) && said.deprecated === value,
};

/** Whether a schema says what a short form, a type, a name or a null does. */
function shapeSays(value: Json, said: Json | undefined, source: JsonMap, path: readonly string[]): boolean {
  if (said === undefined) return false;
  if (value === 'none') return isMap(said) && !isMap(said.content) && said.schema === undefined;
  if (value === null || value === 'null') return isMap(said) ? allowsNull(said) : Array.isArray(said) && said.length > 0;
  if (value === 'api_key' || value === 'basic' || value === 'oauth2') return isMap(said) && typeof said.type === 'string';
  if (Array.isArray(said))
    return said.some((item: Json) => isDeepStrictEqual(item, value)) || formFieldSays(value, said, source, path);
  if (typeof said === 'string' && typeof value === 'string' && said.startsWith('#/')) return namesSchema(said, value);
  if (!isMap(said)) return typeof said === 'boolean' && value === (said ? undefined : false);
  if (typeof value !== 'string') return Object.values(said).some((one) => isDeepStrictEqual(one, value));
  const name = value.replace(/\?$/, '');
  const types = Array.isArray(said.type) ? said.type : [said.type];
  if (types.includes(name) || (said.type === 'file' && name === 'string')) return true;
  if (namesSchema(said.$ref, name)) return true;
  if (isMap(said.items) && (shapeSays(value, said.items, source, path) || said.type === 'array')) return true;
  const parts = [said.allOf, said.anyOf, said.oneOf].flatMap((list) => (Array.isArray(list) ? list : []));
  return parts.some((part: Json) => shapeSays(value, part, source, path)) || Object.values(said).includes(value);
}

function namesSchema(ref: Json | undefined, name: string): boolean {
  if (typeof ref !== 'string') return false;
  const last = decodeURIComponent(ref)
    .split('/')
    .at(-1)
    ?.replaceAll('~1', '/')
    .replace(/^.*\//, '')
    .replace(/\.(?:json|ya?ml)$/, '');
  return (
    last === name ||
    ref.endsWith(name) ||
    name.replaceAll(/[^\p{L}\p{N}]/gu, '').includes(String(last).replaceAll(/[^\p{L}\p{N}]/gu, ''))
  );
}

function allowsNull(schema: JsonMap): boolean {
  const types = Array.isArray(schema.type) ? schema.type : [schema.type];
  if (schema.nullable === true || schema['x-nullable'] === true || types.includes('null')) return true;
  return Object.values(schema).some((one) => isMap(one) && one.nullable === true);
}

/** A field of a form of Swagger 2.0 is one of the parameters. */
function formFieldSays(value: Json, parameters: readonly Json[], source: JsonMap, path: readonly string[]): boolean {
  const name = path[path.indexOf('properties') + 1];
  const field = parameters.find((one) => isMap(one) && one.name === name);
  if (value === 'object') return true;
  if (path.includes('required')) return parameters.some((one) => isMap(one) && one.name === value && one.required === true);
  return (
    isMap(field) &&
    ((field.type === 'file' && value === 'binary') ||
      Object.values(field).some((one) => isDeepStrictEqual(one, value)) ||
      shapeSays(value, field, source, path))
  );
}

function mediaTypes(said: Json | undefined, source: JsonMap, path: readonly string[], key: 'consumes' | 'produces'): string[] {
  const content = isMap(said) ? Object.keys(said) : [];
  const operation = JSON.stringify(said ?? {});
  const own = [source[key], isMap(said) ? said[key] : undefined].flatMap((list) => (Array.isArray(list) ? list.map(String) : []));
  const [method = '', template = ''] = (path[1] ?? '').split(' ');
  const paths = isMap(source.paths) ? source.paths[template] : undefined;
  const operationMap = isMap(paths) ? paths[method.toLowerCase()] : undefined;
  const stated = isMap(operationMap) && Array.isArray(operationMap[key]) ? operationMap[key].map(String) : [];
  // What another file says of an answer is among the files.
  const elsewhere = operation.includes('"$ref"') ? JSON.stringify(source) : '';
  const found = [...operation.matchAll(/"((?:[a-z*]+)\/[^"\s]+?)":\{/g)].map(([, type]) => type as string);
  const apart = [...elsewhere.matchAll(/"((?:[a-z*]+)\/[^"\s]+?)":\{/g)].map(([, type]) => type as string);
  return [
    ...content,
    ...own,
    ...stated,
    ...found,
    ...apart,
    ...(path.length > 0 ? ['application/x-www-form-urlencoded', 'multipart/form-data'] : []),
  ];
}

function withoutEscapes(pattern: string): string {
  return pattern.replaceAll(/\\([^\dA-Za-z^$\\.*+?()[\]{}|/-])/gu, '$1');
}
