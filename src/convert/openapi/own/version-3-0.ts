import type { Json, JsonMap } from '../../../document/document.ts';
import { isMap, isSame, newMap, type OpenMap } from '../../../document/values.ts';
import { mapInner } from '../../../parts/shapes/branches.ts';

/** At a schema of 3.0: the words of 3.1 that stood there, and those of 3.0 that stand for them. */
export const raisedKey = 'x-ninefold-3.1';

/** An export as OpenAPI 3.0 as the one of 3.1 that it was made of; any other as it is. */
export function raised(document: JsonMap): JsonMap {
  if (typeof document.openapi !== 'string' || !document.openapi.startsWith('3.0')) return document;
  const { info, 'x-webhooks': webhooks, ...rest } = eachSchema(document, raiseSchema);
  return { ...rest, info: raiseInfo(isMap(info) ? info : newMap()), ...(webhooks !== undefined && { webhooks }) };
}

/** The summary is what the description begins with: as it was written there, or the first paragraph of what stands there now. */
function raiseInfo({ 'x-ninefold-summary': carried, ...info }: JsonMap): JsonMap {
  const { description, ...others } = info;
  if (typeof carried !== 'string' || typeof description !== 'string') return info;
  const summary = description.startsWith(carried) ? carried : (description.split(/\n\s*\n/)[0]?.trim() ?? '');
  const rest = description.slice(description.indexOf(summary) + summary.length).trimStart();
  return { ...others, ...(summary !== '' && { summary }), ...(rest !== '' && { description: rest }) };
}

function raiseSchema(schema: Json): Json {
  if (!isMap(schema)) return schema;
  const own = schema[raisedKey];
  const { words, instead } = isMap(own) ? own : newMap();
  const stands = (words !== undefined || instead !== undefined) && isSame(standing(schema, instead), instead ?? newMap());
  if (stands && typeof words === 'boolean') return words;
  const out = newMap();
  for (const [key, value] of Object.entries(schema)) {
    if (key === raisedKey || (stands && isMap(instead) && Object.hasOwn(instead, key))) continue;
    out[key] = mapInner(key, value, raiseSchema);
  }
  raiseTypes(out);
  raiseBounds(out);
  return stands && isMap(words) ? { ...out, ...words } : out;
}

/** What stands now of the words that were put in place of others. */
function standing(schema: JsonMap, instead: Json | undefined): JsonMap {
  const out = newMap();
  for (const word of Object.keys(isMap(instead) ? instead : {})) if (schema[word] !== undefined) out[word] = schema[word];
  return out;
}

function raiseTypes(out: OpenMap): void {
  const { nullable, type } = out;
  delete out.nullable;
  if (nullable === true && typeof type === 'string') out.type = [type, 'null'];
}

function raiseBounds(out: OpenMap): void {
  for (const [exclusive, inclusive] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    const flag = out[exclusive];
    if (typeof flag === 'boolean') {
      const bound = out[inclusive];
      delete out[exclusive];
      if (flag && bound !== undefined) {
        delete out[inclusive];
        out[exclusive] = bound;
      }
    }
    for (const word of [inclusive, exclusive]) {
      const carried = out[`x-ninefold-3.0-${word}`];
      delete out[`x-ninefold-3.0-${word}`];
      if (carried !== undefined) out[word] = carried;
    }
  }
}

/** A change of one whole schema. */
type OfSchema = (schema: Json) => Json;

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
