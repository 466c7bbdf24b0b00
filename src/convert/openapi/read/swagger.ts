import type { Json, JsonMap } from '../../../document/document.ts';
import { below } from '../../../document/pointer.ts';
import { newMap, type OpenMap } from '../../../document/values.ts';
import { type Content, headersOf, type Response, type SourceBody, type SourceParameter } from './operation.ts';
import type { MapAt, SourceReader } from './reader.ts';

/** A parameter of Swagger 2.0, whose schema stands among its own words. */
export function swaggerParameter(name: string, place: SourceParameter['in'], map: MapAt, reader: SourceReader): SourceParameter {
  const format = reader.text(map, 'collectionFormat');
  const isList = map.value.type === 'array';
  const isCarried = place === 'query' ? Object.hasOwn(collectionStyles, format ?? 'csv') : (format ?? 'csv') === 'csv';
  if (isList && !isCarried) reader.leave(below(map.at, 'collectionFormat'), 'lists cannot be written so in this place');
  const [style, explode] = isList ? (collectionStyles[format ?? 'csv'] ?? [undefined, undefined]) : [undefined, undefined];
  return {
    name,
    in: place,
    map,
    schema: { value: reader.copied(schemaWords(map.value), map.value), at: map.at },
    style: place === 'query' ? style : undefined,
    explode,
  };
}

/** How lists are written, in the words of OpenAPI 3; without a word they stand with commas between them. */
const collectionStyles: Readonly<Record<string, readonly [string | undefined, boolean | undefined]>> = {
  csv: ['form', false],
  ssv: ['spaceDelimited', false],
  pipes: ['pipeDelimited', false],
  multi: ['form', true],
};

/** What is left of a parameter when the words that are no schema are taken away. The places of what is left stay the same. */
function schemaWords(parameter: JsonMap): JsonMap {
  const schema: OpenMap = newMap();
  for (const [key, value] of Object.entries(parameter)) if (!parameterWords.has(key)) schema[key] = value;
  return schema;
}

const parameterWords: ReadonlySet<string> = new Set(['name', 'in', 'required', 'collectionFormat', 'allowEmptyValue', 'schema']);

/** The body of an operation of Swagger 2.0: its `body` parameter, or its form made of `formData` parameters. */
export function swaggerBody(operation: MapAt, parameters: readonly MapAt[], reader: SourceReader): SourceBody | undefined {
  const body = parameters.find(({ value }) => value.in === 'body');
  if (body) {
    for (const key of ['name', 'in']) reader.mark(body.value, key);
    const schema = reader.get(body, 'schema');
    const types = mediaTypes('consumes', operation, reader);
    const content = (types.length > 0 ? types : ['application/json']).map((type): Content => ({ type, schema, map: undefined }));
    return { at: body.at, required: reader.flag(body, 'required'), content };
  }
  const fields = parameters.filter(({ value }) => value.in === 'formData' && typeof value.name === 'string');
  return fields.length === 0 ? undefined : swaggerForm(operation, fields, reader);
}

/** A form has no place of its own; its fields lead back to their parameters. */
function swaggerForm(operation: MapAt, fields: readonly MapAt[], reader: SourceReader): SourceBody {
  const properties: OpenMap = newMap();
  const required: string[] = [];
  for (const field of fields) {
    for (const key of ['name', 'in', 'type']) reader.mark(field.value, key);
    const name = String(field.value.name);
    properties[name] = reader.copied(schemaWords(field.value), field.value);
    if (reader.flag(field, 'required')) required.push(name);
  }
  const schema: JsonMap = Object.assign(newMap(), { type: 'object', properties, ...(required.length > 0 && { required }) });
  const hasFile = fields.some(({ value }) => value.type === 'file');
  const stated = mediaTypes('consumes', operation, reader);
  const forms = stated.filter((type) => /form/.test(type));
  if (forms.length < stated.length && Object.hasOwn(operation.value, 'consumes'))
    reader.leave(below(operation.at, 'consumes'), 'a media type in which no form is written');
  const types = forms.length > 0 ? forms : [hasFile ? 'multipart/form-data' : 'application/x-www-form-urlencoded'];
  const at = below(operation.at, 'parameters');
  return {
    at,
    required: required.length > 0,
    content: types.map((type): Content => ({ type, schema: { value: schema, at }, map: undefined })),
  };
}

/** A response of Swagger 2.0, in each media type that its operation produces. */
export function swaggerResponse(status: string, operation: MapAt, map: MapAt, reader: SourceReader): Response {
  const schema = reader.get(map, 'schema');
  const types = mediaTypes('produces', operation, reader);
  const shown = reader.map(map, 'examples');
  const typesShown = Object.keys(shown?.value ?? {}).filter((type) => type.includes('/'));
  if (typesShown.length > 0) reader.mark(map.value, 'examples');
  const usual = types.length > 0 ? types : ['application/json'];
  // Without a schema an answer is known by what is shown of it alone.
  const written = schema.value === undefined ? typesShown : [...new Set([...usual, ...typesShown])];
  const content = written.map(
    (type): Content => ({ type, schema, map: undefined, ...(shown && typesShown.includes(type) && { shown }) }),
  );
  return { status, map, content, headers: headersOf(map, reader) };
}

function mediaTypes(key: 'consumes' | 'produces', operation: MapAt, reader: SourceReader): string[] {
  const own = reader.take(operation.value, key);
  const list: Json | undefined = own ?? reader.take(reader.root.value, key);
  return Array.isArray(list) ? list.filter((type): type is string => typeof type === 'string') : [];
}

/** The base addresses of Swagger 2.0: each of its schemes with the host and the path. */
export function swaggerServers(reader: SourceReader): string[] {
  const { root } = reader;
  const host = reader.text(root, 'host');
  const base = reader.text(root, 'basePath') ?? '';
  if (host === undefined) return base === '' ? [] : [base];
  const schemes = reader.take(root.value, 'schemes');
  const words = Array.isArray(schemes) ? schemes.filter((word): word is string => word === 'http' || word === 'https') : [];
  if (Array.isArray(schemes) && words.length < schemes.length) reader.leave('/schemes', 'a scheme that is none of HTTP');
  return (words.length > 0 ? words : ['https']).map((scheme) => `${scheme}://${host}${base.replace(/\/+$/, '')}`);
}
