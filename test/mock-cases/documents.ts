import type { JsonMap } from '../../src/document/document.ts';

/** What an answer is stated to be: nothing, or by media type its example, its examples by name, or its schema. */
type Stated = Readonly<Record<string, JsonMap>> | undefined;

interface Parameter {
  readonly in: 'query' | 'header' | 'path';
  readonly name: string;
  readonly required?: boolean;
  readonly schema?: JsonMap;
  readonly style?: string;
  readonly explode?: boolean;
}

/** One operation, what is sent to it, and the status that another mock server answers with. */
export interface MockCase {
  readonly name: string;
  /** The formats that can say it; both unless given. */
  readonly format?: Format;
  /** `/todos` unless given. */
  readonly path?: string;
  readonly method?: string;
  readonly responses: Readonly<Record<string, Stated>>;
  /** Other operations of the document, by path. */
  readonly others?: Readonly<Record<string, Stated>>;
  readonly parameters?: readonly Parameter[];
  readonly body?: { readonly type: string; readonly schema: JsonMap; readonly encoding?: JsonMap };
  /** Names of schemes, all of each list at once. */
  readonly security?: readonly (readonly string[])[];
  /** The same of the operation alone. */
  readonly own?: readonly (readonly string[])[];
  readonly sent?: {
    readonly path?: string;
    readonly method?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string;
  };
  readonly status: number;
}

export type Format = 'openapi' | 'swagger';

const flow = { authorizationUrl: '/oauth/authorize', tokenUrl: '/oauth/token', scopes: { read: 'Reads.', write: 'Writes.' } };
const schemes: Readonly<Record<string, { readonly openapi: JsonMap; readonly swagger?: JsonMap }>> = {
  basic: { openapi: { type: 'http', scheme: 'basic' }, swagger: { type: 'basic' } },
  bearer: { openapi: { type: 'http', scheme: 'bearer' } },
  digest: { openapi: { type: 'http', scheme: 'digest' } },
  header: alike({ type: 'apiKey', in: 'header', name: 'X-API-Key' }),
  query: alike({ type: 'apiKey', in: 'query', name: 'apiKey' }),
  cookie: { openapi: { type: 'apiKey', in: 'cookie', name: 'SESSIONID' } },
  oauth: {
    openapi: { type: 'oauth2', flows: { authorizationCode: flow } },
    swagger: { type: 'oauth2', flow: 'accessCode', ...flow },
  },
  openId: { openapi: { type: 'openIdConnect', openIdConnectUrl: '/.well-known/openid-configuration' } },
};

function alike(scheme: JsonMap): { readonly openapi: JsonMap; readonly swagger: JsonMap } {
  return { openapi: scheme, swagger: scheme };
}

/** The formats that a case can be written in: Swagger has neither every scheme nor every word. */
export function formatsOf({ format, security = [], own = [] }: MockCase): readonly Format[] {
  if (format) return [format];
  const isInBoth = [...security, ...own].flat().every((name) => schemes[name]?.swagger !== undefined);
  return isInBoth ? ['openapi', 'swagger'] : ['openapi'];
}

export function documentOf(one: MockCase, format: Format): JsonMap {
  const names = [...new Set([...(one.security ?? []), ...(one.own ?? [])].flat())];
  const stated = Object.fromEntries(names.map((name) => [name, schemes[name]?.[format] ?? {}]));
  const operation = {
    ...(format === 'openapi' ? inOpenApi(one) : inSwagger(one)),
    ...(one.own && { security: one.own.map(requirement) }),
  };
  const paths: Record<string, JsonMap> = { [one.path ?? '/todos']: { [one.method ?? 'get']: operation } };
  for (const [path, answer] of Object.entries(one.others ?? {})) {
    paths[path] = { get: { responses: { 200: { description: 'Other.', ...(answer && { content: answer }) } } } };
  }
  return {
    ...(format === 'openapi' ? { openapi: '3.0.2' } : { swagger: '2.0' }),
    info: { title: 'Mocked', version: '1' },
    paths,
    ...(one.security && { security: one.security.map(requirement) }),
    ...(names.length > 0 &&
      (format === 'openapi' ? { components: { securitySchemes: stated } } : { securityDefinitions: stated })),
  };
}

function requirement(names: readonly string[]): JsonMap {
  return Object.fromEntries(names.map((name) => [name, /oauth|openId/.test(name) ? ['read'] : []]));
}

function inOpenApi({ responses, parameters, body }: MockCase): JsonMap {
  return {
    ...(parameters && { parameters: parameters.map((one) => ({ ...one })) }),
    ...(body && {
      requestBody: { content: { [body.type]: { schema: body.schema, ...(body.encoding && { encoding: body.encoding }) } } },
    }),
    responses: Object.fromEntries(
      Object.entries(responses).map(([status, stated]) => [status, { description: status, ...(stated && { content: stated }) }]),
    ),
  };
}

function inSwagger({ responses, parameters = [], body }: MockCase): JsonMap {
  const types = [...new Set(Object.values(responses).flatMap((stated) => Object.keys(stated ?? {})))];
  const flat = parameters.map(
    ({ schema, style: _, explode: __, ...one }): JsonMap => ({ ...one, ...(schema ?? { type: 'string' }) }),
  );
  return {
    ...(types.length > 0 && { produces: types }),
    ...(body && { consumes: [body.type] }),
    parameters: [...flat, ...(body ? bodyInSwagger(body) : [])],
    responses: Object.fromEntries(Object.entries(responses).map(([status, stated]) => [status, answerInSwagger(status, stated)])),
  };
}

function bodyInSwagger({ type, schema }: NonNullable<MockCase['body']>): JsonMap[] {
  if (type === 'application/json') return [{ in: 'body', name: 'body', schema }];
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  // The cases state their forms as maps of properties.
  const properties = Object.entries((schema.properties ?? {}) as Readonly<Record<string, JsonMap>>);
  return properties.map(([name, one]) => ({ in: 'formData', name, required: required.has(name), ...one }));
}

function answerInSwagger(status: string, stated: Stated): JsonMap {
  const all = Object.entries(stated ?? {});
  const examples = all.flatMap(([type, { example }]) => (example === undefined ? [] : [[type, example]]));
  const schema = all.find(([, one]) => one.schema !== undefined)?.[1].schema;
  return {
    description: status,
    ...(schema !== undefined && { schema }),
    ...(examples.length > 0 && { examples: Object.fromEntries(examples) }),
  };
}
