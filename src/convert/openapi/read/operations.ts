import type { JsonMap } from '../../../document/document.ts';
import { newMap } from '../../../document/values.ts';
import {
  type Content,
  headersOf,
  type Response,
  type SourceBody,
  type SourceOperation,
  type SourceParameter,
  schemaOfParameter,
} from './operation.ts';
import { madeBelow, withNamedOwners } from './owner-parameters.ts';
import { atOwnServers } from './purpose.ts';
import { type MapAt, refOf, type SourceReader } from './reader.ts';
import { withSpreadNames } from './spread-names.ts';
import { swaggerBody, swaggerParameter, swaggerResponse } from './swagger.ts';

const methods: ReadonlySet<string> = new Set(['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace', 'query']);

/** Every operation of a source, in its order. */
export function readOperations(reader: SourceReader): SourceOperation[] {
  const items = new Map<SourceOperation, MapAt>();
  const isMadeBelow = madeBelow(reader.maps(reader.root, 'paths'));
  for (const [path, item] of reader.maps(reader.root, 'paths')) {
    reader.mark(reader.root.value, 'paths');
    if (path.startsWith('/'))
      for (const operation of itemOperations(path, item, reader)) items.set(withNamedOwners(operation, isMadeBelow), item);
    else reader.find('import/invalid', item.at, `\`${path}\` is no path.`);
  }
  const operations = [...items.keys()];
  return withSpreadNames(
    reader.dialect === '2.0' ? operations : atOwnServers(operations, (operation) => items.get(operation), reader),
    reader,
  );
}

/** The operations of one path item; also those of a webhook or a callback, whose path is no path. */
export function itemOperations(path: string, item: MapAt, reader: SourceReader): SourceOperation[] {
  const own = Object.keys(item.value)
    .filter((key) => methods.has(key))
    .map((key): readonly [string, MapAt | undefined] => [key.toUpperCase(), operationMap(item, key, reader)]);
  const more = reader.maps(item, 'additionalOperations');
  return [...own, ...more].flatMap(([method, map]) => (map === undefined ? [] : [operationOf(method, path, item, map, reader)]));
}

/** The map of an operation. A reference in its place is none that OpenAPI knows, and is followed all the same. */
function operationMap(item: MapAt, key: string, reader: SourceReader): MapAt | undefined {
  const map = reader.map(item, key);
  if (map === undefined || refOf(map.value) === undefined) return map;
  reader.find('import/invalid', map.at, 'A reference cannot stand for an operation in OpenAPI; it is followed.');
  return reader.follow({ value: map.value, at: map.at });
}

function operationOf(method: string, path: string, item: MapAt, map: MapAt, reader: SourceReader): SourceOperation {
  const parameters = parametersOf(item, map, reader);
  const isSwagger = reader.dialect === '2.0';
  return {
    key: `${method} ${path}`,
    method,
    path,
    map,
    id: reader.text(map, 'operationId'),
    parameters: parameters.flatMap((parameter) => parametersFrom(parameter, reader)),
    body: isSwagger ? swaggerBody(map, parameters, reader) : bodyOf(map, reader),
    responses: responsesOf(map, reader),
  };
}

/** The parameters of a path item and of its operation, which stands above it where both name one. */
function parametersOf(item: MapAt, map: MapAt, reader: SourceReader): MapAt[] {
  const own = reader.list(map, 'parameters');
  const known = new Set(own.map(({ value }) => `${value.in} ${value.name}`));
  return [...reader.list(item, 'parameters').filter(({ value }) => !known.has(`${value.in} ${value.name}`)), ...own];
}

function parametersFrom(map: MapAt, reader: SourceReader): readonly SourceParameter[] {
  if (map.value.in === 'querystring') return queryMembers(map, reader);
  const parameter = parameterOf(map, reader);
  return parameter === undefined ? [] : [parameter];
}

/** The members of a whole query that is written as a form (OpenAPI 3.2): each is a parameter of the query. */
function queryMembers(map: MapAt, reader: SourceReader): SourceParameter[] {
  const form = reader.maps(map, 'content').find(([type]) => /^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(type))?.[1];
  const schema = form && reader.follow(reader.get(form, 'schema'));
  const properties = schema && reader.map(schema, 'properties');
  if (!properties) {
    reader.leave(map.at, 'a parameter that is the whole query');
    return [];
  }
  for (const key of ['name', 'in', 'content']) reader.mark(map.value, key);
  for (const key of ['type', 'properties']) reader.mark(schema.value, key);
  const required = reader.take(schema.value, 'required');
  return Object.keys(properties.value).map((name) => {
    const member = reader.get(properties, name);
    const own: JsonMap = Object.assign(newMap(), { required: Array.isArray(required) && required.includes(name) });
    return { name, in: 'query', map: { value: own, at: member.at }, schema: member, style: undefined, explode: undefined };
  });
}

function parameterOf(map: MapAt, reader: SourceReader): SourceParameter | undefined {
  const name = map.value.name;
  const place = map.value.in;
  if (place === 'body' || place === 'formData') return undefined;
  if (typeof name !== 'string' || (place !== 'path' && place !== 'query' && place !== 'header' && place !== 'cookie')) {
    reader.find('import/invalid', map.at, 'A parameter has a name, and stands in the path, the query, a header or a cookie.');
    return undefined;
  }
  reader.mark(map.value, 'name');
  reader.mark(map.value, 'in');
  if (reader.dialect === '2.0') return swaggerParameter(name, place, map, reader);
  const style = reader.text(map, 'style');
  const explode = Object.hasOwn(map.value, 'explode') ? reader.flag(map, 'explode') : undefined;
  return { name, in: place, map, schema: schemaOfParameter(map, reader), style, explode };
}

function bodyOf(map: MapAt, reader: SourceReader): SourceBody | undefined {
  if (!Object.hasOwn(map.value, 'requestBody')) return undefined;
  const body = reader.follow(reader.get(map, 'requestBody'));
  if (body === undefined) return undefined;
  return { at: body.at, required: reader.flag(body, 'required'), content: contentOf(body, reader) };
}

/** The media types of a body. One that refers to another place is none that 3.0 or 3.1 knows, and is followed all the same. */
function contentOf(holder: MapAt, reader: SourceReader): Content[] {
  const content = reader.map(holder, 'content');
  if (content === undefined) return [];
  const followed = typeof content.value.$ref === 'string' ? referredContent(content, reader) : content;
  if (followed === undefined) return [];
  reader.mark(holder.value, 'content');
  return reader.entries(followed).map(([type, map]) => {
    reader.mark(followed.value, type);
    return { type, map, schema: reader.get(map, 'schema') };
  });
}

/** `content: { $ref }` is written where media types are meant, or one of them for JSON. */
function referredContent(content: MapAt, reader: SourceReader): MapAt | undefined {
  reader.find('import/invalid', content.at, 'A reference cannot stand for `content` in OpenAPI 3.0 and 3.1; it is followed.');
  const target = reader.follow({ value: content.value, at: content.at });
  if (target === undefined || !Object.hasOwn(target.value, 'schema')) return target;
  const value: JsonMap = Object.assign(newMap(), { 'application/json': target.value });
  return { value, at: target.at };
}

function responsesOf(map: MapAt, reader: SourceReader): Response[] {
  const entries = reader.maps(map, 'responses');
  if (entries.length > 0) reader.mark(map.value, 'responses');
  return entries.flatMap(([status, response]) => {
    if (!/^(?:\d{3}|\dXX|default)$/i.test(status)) {
      reader.find('import/invalid', response.at, `\`${status}\` is no status.`);
      return [];
    }
    const code = status.toLowerCase() === 'default' ? 'default' : status.toUpperCase();
    if (reader.dialect === '2.0') return [swaggerResponse(code, map, response, reader)];
    return [{ status: code, map: response, content: contentOf(response, reader), headers: headersOf(response, reader) }];
  });
}
