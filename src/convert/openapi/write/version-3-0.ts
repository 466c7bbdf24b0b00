import type { Json, JsonMap } from '../../../document/document.ts';
import { isMap, newMap, type OpenMap } from '../../../document/values.ts';
import { conjunctionOf, fitsAny, mapInner } from '../../../parts/shapes/branches.ts';
import { alternativesWord, conjunctionWord } from '../../../parts/shapes/keywords.ts';
import { eachSchema, raisedKey } from '../own/version-3-0.ts';

/**
 * OpenAPI 3.1 as 3.0.4: what 3.0 can say in another way it says so, and what it cannot say is left out. The words that stood
 * there are carried beside those that stand for them, so that reading takes them up again.
 */
export function lowered(document: JsonMap): JsonMap {
  const { webhooks, info, components, ...rest } = eachSchema(document, lowerSchema);
  return {
    ...rest,
    ...(isMap(components) && { components: lowerComponents(components) }),
    openapi: '3.0.4',
    info: lowerInfo(isMap(info) ? info : newMap()),
    ...(webhooks !== undefined && { 'x-webhooks': webhooks }),
  };
}

/** 3.0 has no word for certificates: the header in which a proxy tells one is a key (RFC 9440 section 2). */
function lowerComponents({ securitySchemes, ...components }: JsonMap): JsonMap {
  if (!isMap(securitySchemes)) return components;
  const schemes = newMap();
  for (const [name, scheme] of Object.entries(securitySchemes))
    schemes[name] =
      isMap(scheme) && scheme.type === 'mutualTLS' ? { ...scheme, type: 'apiKey', in: 'header', name: 'Client-Cert' } : scheme;
  return { ...components, securitySchemes: schemes };
}

/** The summary begins the description. */
function lowerInfo({ summary, description, ...info }: JsonMap): JsonMap {
  if (typeof summary !== 'string') return description === undefined ? info : { ...info, description };
  const text = typeof description === 'string' ? `${summary}\n\n${description}` : summary;
  return { ...info, description: text, 'x-ninefold-summary': summary };
}

/** A JSON Schema 2020-12 as a schema object of 3.0. */
function lowerSchema(schema: Json): Json {
  if (schema === true) return { [raisedKey]: { words: true } };
  if (schema === false) return { not: {}, [raisedKey]: { words: false, instead: { not: {} } } };
  if (!isMap(schema)) return schema;
  const inner = withLoweredInside(schema);
  const words: OpenMap = newMap();
  const instead: OpenMap = newMap();
  const out: OpenMap = newMap();
  for (const [key, value] of Object.entries(inner)) {
    if (lacking.has(key)) words[key] = schema[key] ?? value;
    else out[key] = value;
  }
  const put = (word: string, value: Json): void => {
    if (Object.hasOwn(schema, word)) words[word] = schema[word] ?? null;
    out[word] = value;
    instead[word] = value;
  };
  lowerReference(schema, out, words, put);
  lowerTypes(schema, out, words, put);
  lowerValues(schema, out, words, put);
  lowerBounds(out);
  if (Object.keys(words).length === 0 && Object.keys(instead).length === 0) return out;
  return { ...out, [raisedKey]: { words, ...(Object.keys(instead).length > 0 && { instead }) } };
}

/** The words of 2020-12 that 3.0 does not have. */
const lacking: ReadonlySet<string> = new Set(
  (
    'const examples $comment $defs patternProperties prefixItems contains minContains maxContains propertyNames dependentRequired ' +
    'dependentSchemas if then else unevaluatedItems unevaluatedProperties contentEncoding contentMediaType contentSchema'
  ).split(' '),
);

function withLoweredInside(schema: JsonMap): JsonMap {
  const out = newMap();
  for (const [key, value] of Object.entries(schema)) {
    if (key === 'additionalProperties' && typeof value === 'boolean') out[key] = value;
    else out[key] = mapInner(key, value, lowerSchema);
  }
  return out;
}

type Put = (word: string, value: Json) => void;

/** 3.0 does not look at what stands beside a reference. */
function lowerReference({ $ref, ...beside }: JsonMap, out: OpenMap, words: OpenMap, put: Put): void {
  if ($ref === undefined || Object.keys(beside).length === 0) return;
  delete out.$ref;
  words.$ref = $ref;
  put(conjunctionWord, [{ $ref }, ...conjunctionOf(out)]);
}

/** One type, and null by a flag of its own. */
function lowerTypes(schema: JsonMap, out: OpenMap, words: OpenMap, put: Put): void {
  const types: readonly Json[] = Array.isArray(schema.type) ? schema.type : schema.type === undefined ? [] : [schema.type];
  const others = types.filter((type) => type !== 'null');
  const isNullable = others.length < types.length;
  if (isNullable) out.nullable = true;
  const [only] = others;
  if (others.length === 1 && isNullable && only !== undefined) {
    out.type = only;
    // Reading puts null last.
    if (types[0] === 'null') {
      put('type', only);
      put('nullable', true);
    }
  }
  if (others.length === 0 && isNullable) {
    delete out.type;
    words.type = schema.type ?? 'null';
    put('nullable', true);
    put('enum', [null]);
  } else if (others.length > 1) {
    delete out.type;
    words.type = schema.type ?? [];
    const branches = others.map((type) => (type === 'array' ? { type, items: {} } : { type }));
    if (out[alternativesWord] === undefined) put(alternativesWord, branches);
    else put(conjunctionWord, [...conjunctionOf(out), fitsAny(branches)]);
  }
  if (out.type === 'array' && out.items === undefined) put('items', {});
  if (!isNullable || !Array.isArray(out.enum) || out.enum.includes(null)) return;
  // Of a list of words without null the flag says nothing.
  delete out.nullable;
  if (only === undefined || others.length > 1) return;
  words.type = schema.type ?? [];
  put('type', only);
}

function lowerValues(schema: JsonMap, out: OpenMap, words: OpenMap, put: Put): void {
  if (schema.const !== undefined && schema.enum === undefined) put('enum', [schema.const]);
  if (schema.const === null) put('nullable', true);
  const [example] = Array.isArray(schema.examples) ? (schema.examples as readonly Json[]) : [];
  if (example !== undefined && schema.example === undefined) put('example', example);
  for (const word of ['required', 'enum']) {
    if (!Array.isArray(out[word]) || out[word].length > 0) continue;
    words[word] = [];
    delete out[word];
  }
}

/** A bound that excludes itself is a bound and a flag; where both are stated, the narrower one stands. */
function lowerBounds(out: OpenMap): void {
  for (const [exclusive, inclusive, narrower] of [
    ['exclusiveMinimum', 'minimum', (own: number, other: number) => own >= other],
    ['exclusiveMaximum', 'maximum', (own: number, other: number) => own <= other],
  ] as const) {
    const own = out[exclusive];
    if (typeof own !== 'number') continue;
    const other = out[inclusive];
    delete out[exclusive];
    if (typeof other === 'number') out[`x-ninefold-3.0-${inclusive}`] = other;
    if (typeof other === 'number' && !narrower(own, other)) out[`x-ninefold-3.0-${exclusive}`] = own;
    else {
      out[inclusive] = own;
      out[exclusive] = true;
    }
  }
}
