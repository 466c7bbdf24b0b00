/** What a client that knows nothing else reads off a description in OpenAPI or Swagger: its operations, and schemas without references. */
import type { Json, JsonMap } from '../../src/document/document.ts';
import { isMap } from '../../src/document/values.ts';

export interface DescribedParameter {
  readonly name: string;
  readonly place: string;
  readonly isRequired: boolean;
  readonly schema: JsonMap;
  readonly example: Json | undefined;
}

export interface DescribedAnswer {
  /** Of its body in JSON. */
  readonly schema: JsonMap | undefined;
  /** Whether a body is stated in any media type. */
  readonly hasBody: boolean;
  readonly headers: readonly string[];
}

export interface DescribedOperation {
  readonly method: string;
  readonly path: string;
  /** What it is called, in lower case: its identifier and its summary. */
  readonly words: string;
  readonly parameters: readonly DescribedParameter[];
  readonly body: { readonly mediaType: string; readonly schema: JsonMap; readonly example: Json | undefined } | undefined;
  /** Whether a body is stated that cannot be made here. */
  readonly isForeign: boolean;
  readonly answers: ReadonlyMap<string, DescribedAnswer>;
  /** Names of schemes that go together, by alternative; none where nothing has to be shown. */
  readonly security: readonly (readonly string[])[];
  /** Whether nothing is said of it, neither here nor for all. */
  readonly isSecurityUnsaid: boolean;
}

export interface Described {
  readonly version: string;
  readonly operations: readonly DescribedOperation[];
  /** A schema without `$ref` and `allOf` at its top. */
  flat(schema: Json | undefined): JsonMap;
  /** The schemas of its members; those of all forms where it has several. */
  membersOf(schema: Json | undefined): Readonly<Record<string, Json>>;
}

const methods = ['get', 'put', 'post', 'patch', 'delete'];
const hopsMax = 20;

export function describedBy(root: JsonMap): Described {
  const known = new Map<JsonMap, JsonMap>();
  const followed = (value: Json | undefined): JsonMap => {
    let here = value;
    for (let hop = 0; isMap(here) && typeof here.$ref === 'string'; hop++) {
      if (hop === hopsMax) return {};
      here = pointed(root, here.$ref);
    }
    return isMap(here) ? here : {};
  };
  const flat = (schema: Json | undefined): JsonMap => {
    const here = followed(schema);
    const before = known.get(here);
    if (before) return before;
    // One that contains itself is as it stands.
    known.set(here, here);
    const merged = Array.isArray(here.allOf) ? here.allOf.reduce<JsonMap>((all, part) => both(all, flat(part)), here) : here;
    known.set(here, merged);
    return merged;
  };
  const membersOf = (schema: Json | undefined, depth = 0): Readonly<Record<string, Json>> => {
    const here = flat(schema);
    const own = isMap(here.properties) ? here.properties : {};
    const forms = depth > 3 ? [] : [here.oneOf, here.anyOf].flatMap((some) => (Array.isArray(some) ? some : []));
    return Object.assign(Object.create(null), ...forms.map((form) => membersOf(form, depth + 1)), own);
  };
  const info = isMap(root.info) ? root.info : {};
  return {
    version: String(info.version ?? '1'),
    operations: operationsOf(root, followed),
    flat,
    membersOf: (schema) => membersOf(schema),
  };
}

function pointed(root: JsonMap, reference: string): Json | undefined {
  if (!reference.startsWith('#/')) return undefined;
  let here: Json | undefined = root;
  for (const step of reference.slice(2).split('/')) {
    const name = unescaped(step);
    here = isMap(here) ? here[name] : Array.isArray(here) ? here[Number(name)] : undefined;
  }
  return here;
}

function unescaped(step: string): string {
  const plain = step.replaceAll('~1', '/').replaceAll('~0', '~');
  try {
    return decodeURIComponent(plain);
  } catch {
    return plain;
  }
}

/** What holds of both; examples of a part show less than the whole. */
function both(one: JsonMap, other: JsonMap): JsonMap {
  const { allOf: _, example: __, examples: ___, ...rest } = other;
  const lists = [one.required, other.required].flatMap((list) => (Array.isArray(list) ? list : []));
  const { allOf: ____, ...own } = one;
  return {
    ...rest,
    ...own,
    ...((isMap(one.properties) || isMap(other.properties)) && {
      properties: { ...(isMap(other.properties) && other.properties), ...(isMap(one.properties) && one.properties) },
    }),
    ...(lists.length > 0 && { required: [...new Set(lists)] }),
  };
}

type Follow = (value: Json | undefined) => JsonMap;

function operationsOf(root: JsonMap, followed: Follow): DescribedOperation[] {
  const paths = isMap(root.paths) ? root.paths : {};
  const found: DescribedOperation[] = [];
  for (const [path, value] of Object.entries(paths)) {
    const item = followed(value);
    for (const method of methods)
      if (isMap(item[method])) found.push(operationOf(root, { path, method, item, operation: item[method] }, followed));
  }
  return found;
}

interface Written {
  readonly path: string;
  readonly method: string;
  readonly item: JsonMap;
  readonly operation: JsonMap;
}

function operationOf(root: JsonMap, { path, method, item, operation }: Written, followed: Follow): DescribedOperation {
  const written = [item.parameters, operation.parameters].flatMap((list) => (Array.isArray(list) ? list : [])).map(followed);
  const parameters = written
    .filter((one) => typeof one.name === 'string' && ['path', 'query', 'header', 'cookie'].includes(String(one.in)))
    .map(parameterOf(followed));
  const consumes = [operation.consumes, root.consumes].find((list) => Array.isArray(list)) ?? ['application/json'];
  const body = bodyOf(followed(operation.requestBody), written, consumes.map(String), followed);
  const responses = isMap(operation.responses) ? operation.responses : {};
  return {
    method: method.toUpperCase(),
    path,
    words: `${operation.operationId ?? ''} ${operation.summary ?? ''}`.toLowerCase(),
    parameters,
    body,
    isForeign:
      body === undefined && (isMap(operation.requestBody) || written.some((one) => /^(?:body|formData)$/.test(`${one.in}`))),
    answers: new Map(Object.entries(responses).map(([status, answer]) => [status.toUpperCase(), answerOf(followed(answer))])),
    security: securityOf(operation.security ?? root.security),
    isSecurityUnsaid: operation.security === undefined && root.security === undefined,
  };
}

function parameterOf(followed: Follow): (one: JsonMap) => DescribedParameter {
  return (one) => {
    const content = isMap(one.content) ? followed(Object.values(one.content)[0]) : undefined;
    const schema = isMap(one.schema) ? followed(one.schema) : content ? followed(content.schema) : one;
    return {
      name: String(one.name),
      place: String(one.in),
      isRequired: one.required === true || one.in === 'path',
      schema,
      example: exampleOf(one, followed),
    };
  };
}

/** Its own example, or the first of several. */
function exampleOf(one: JsonMap, followed: Follow): Json | undefined {
  if (one.example !== undefined) return one.example;
  if (one['x-example'] !== undefined) return one['x-example'];
  const [first] = isMap(one.examples) ? Object.values(one.examples) : [];
  return first === undefined ? undefined : followed(first).value;
}

function bodyOf(
  request: JsonMap,
  written: readonly JsonMap[],
  consumes: readonly string[],
  followed: Follow,
): DescribedOperation['body'] {
  const content = isMap(request.content) ? request.content : {};
  const mediaType = chosen(Object.keys(content));
  if (mediaType !== undefined) {
    const stated = followed(content[mediaType]);
    const schema = isMap(stated.schema) ? stated.schema : {};
    return { mediaType: sentAs(mediaType), schema, example: exampleOf(stated, followed) };
  }
  const whole = written.find((one) => one.in === 'body');
  const type = chosen(consumes);
  if (whole && type !== undefined)
    return { mediaType: sentAs(type), schema: isMap(whole.schema) ? whole.schema : {}, example: exampleOf(whole, followed) };
  const fields = written.filter((one) => one.in === 'formData');
  if (fields.length === 0 || fields.some((one) => one.type === 'file')) return undefined;
  return {
    mediaType: 'application/x-www-form-urlencoded',
    schema: {
      type: 'object',
      properties: Object.fromEntries(fields.map(({ name, in: _, required: __, ...schema }) => [String(name), schema])),
      required: fields.filter((one) => one.required === true).map((one) => String(one.name)),
    },
    example: undefined,
  };
}

function chosen(types: readonly string[]): string | undefined {
  const plain = types.filter((type) => !/patch|stream|ndjson|seq/i.test(type));
  return (
    plain.find((type) => /^application\/json\b/i.test(type)) ??
    plain.find((type) => /json/i.test(type)) ??
    plain.find((type) => type === '*/*' || type === 'application/*') ??
    plain.find((type) => /x-www-form-urlencoded/i.test(type))
  );
}

function sentAs(mediaType: string): string {
  return mediaType.includes('*') ? 'application/json' : mediaType;
}

function answerOf(answer: JsonMap): DescribedAnswer {
  const content = isMap(answer.content) ? answer.content : {};
  const type = Object.keys(content).find((one) => /json|\*/i.test(one));
  const stated = type === undefined ? undefined : content[type];
  const schema = isMap(stated) ? stated.schema : answer.schema;
  return {
    schema: isMap(schema) ? schema : undefined,
    hasBody: Object.keys(content).length > 0 || isMap(answer.schema),
    headers: isMap(answer.headers) ? Object.keys(answer.headers).map((name) => name.toLowerCase()) : [],
  };
}

function securityOf(security: Json | undefined): readonly (readonly string[])[] {
  const alternatives = (Array.isArray(security) ? security : []).map((one) => (isMap(one) ? Object.keys(one) : []));
  return alternatives.some((names) => names.length === 0) ? [] : alternatives;
}
