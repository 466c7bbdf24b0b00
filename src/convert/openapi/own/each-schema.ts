import type { Json, JsonMap } from '../../../document/document.ts';
import { isMap, newMap } from '../../../document/values.ts';

/** A change of one whole schema. */
export type OfSchema = (schema: Json) => Json;

/** A document with every schema changed, wherever OpenAPI has one; what stands inside a schema is the change's own business. */
export function eachSchema(document: JsonMap, change: OfSchema): JsonMap {
  return withMembers(document, {
    paths: (paths) => eachValue(paths, (item) => ofPathItem(item, change)),
    webhooks: (hooks) => eachValue(hooks, (item) => ofPathItem(item, change)),
    'x-webhooks': (hooks) => eachValue(hooks, (item) => ofPathItem(item, change)),
    components: (components) =>
      withMembers(components, {
        schemas: (schemas) => eachValue(schemas, change),
        parameters: (parameters) => eachValue(parameters, (one) => ofParameter(one, change)),
        headers: (headers) => eachValue(headers, (one) => ofParameter(one, change)),
        responses: (responses) => eachValue(responses, (one) => ofResponse(one, change)),
      }),
  }) as JsonMap;
}

/** Changes the members that are there. */
function withMembers(value: Json, changes: Readonly<Record<string, OfSchema>>): Json {
  if (!isMap(value)) return value;
  const out = newMap();
  for (const [key, inner] of Object.entries(value))
    out[key] = Object.hasOwn(changes, key) ? (changes[key]?.(inner) ?? inner) : inner;
  return out;
}

function eachValue(value: Json, change: OfSchema): Json {
  if (!isMap(value)) return value;
  const out = newMap();
  for (const [key, inner] of Object.entries(value)) out[key] = key.startsWith('x-') ? inner : change(inner);
  return out;
}

function eachItem(value: Json, change: OfSchema): Json {
  return Array.isArray(value) ? (value as readonly Json[]).map((item) => change(item)) : value;
}

const methods: readonly string[] = 'get put post delete options head patch trace query'.split(' ');

function ofPathItem(item: Json, change: OfSchema): Json {
  const operation: OfSchema = (value) => ofOperation(value, change);
  return withMembers(item, {
    ...Object.fromEntries(methods.map((method) => [method, operation])),
    additionalOperations: (value) => eachValue(value, operation),
    'x-ninefold-operations': (value) => eachValue(value, operation),
  });
}

function ofOperation(operation: Json, change: OfSchema): Json {
  return withMembers(operation, {
    parameters: (parameters) => eachItem(parameters, (one) => ofParameter(one, change)),
    requestBody: (body) => withMembers(body, { content: (content) => ofContent(content, change) }),
    responses: (responses) => eachValue(responses, (one) => ofResponse(one, change)),
    callbacks: (callbacks) => eachValue(callbacks, (one) => eachValue(one, (item) => ofPathItem(item, change))),
  });
}

function ofResponse(response: Json, change: OfSchema): Json {
  return withMembers(response, {
    headers: (headers) => eachValue(headers, (one) => ofParameter(one, change)),
    content: (content) => ofContent(content, change),
  });
}

function ofContent(content: Json, change: OfSchema): Json {
  return eachValue(content, (body) => withMembers(body, { schema: change, itemSchema: change }));
}

function ofParameter(parameter: Json, change: OfSchema): Json {
  return withMembers(parameter, { schema: change });
}
