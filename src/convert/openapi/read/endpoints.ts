import type { Json, JsonMap, Pointer } from '../../../document/document.ts';
import { below } from '../../../document/pointer.ts';
import { isMap, newMap, type OpenMap } from '../../../document/values.ts';
import { isJson } from '../../../kinds/http-token.ts';
import type { Trail } from './evidence.ts';
import { exampleOf, examplesOf, showingExamples } from './examples.ts';
import { type Content, isStream, mainContent, type Response, type SourceOperation, type SourceParameter } from './operation.ts';
import { type At, type MapAt, madeOrNew, type SourceReader } from './reader.ts';
import type { Shapes } from './shapes.ts';

/** Writes what the source states of one operation as an endpoint; what it does is for the rules to infer. */
export function writeEndpoint(operation: SourceOperation, name: string | undefined, shapes: Shapes, trail: Trail): OpenMap {
  const { reader } = shapes;
  const at = below('/endpoints', operation.key);
  const endpoint: OpenMap = newMap();
  trail.from(at, operation.map.at);
  if (name !== undefined) {
    endpoint.as = name;
    trail.from(below(at, 'as'), below(operation.map.at, 'operationId'));
  }
  const parameters = writeParameters(operation, at, shapes, trail);
  if (Object.keys(parameters).length > 0) endpoint.parameters = parameters;
  writeBody(endpoint, operation, at, shapes, trail);
  const response = writeResponses(operation, at, shapes, trail);
  if (Object.keys(response).length > 0) endpoint.response = response;
  const produces = producedTypes(operation.responses);
  if (produces.length > 0 && !(produces.length === 1 && produces[0] === 'application/json')) endpoint.produces = produces;
  if (reader.flag(operation.map, 'deprecated')) {
    endpoint.deprecated = true;
    trail.from(below(at, 'deprecated'), below(operation.map.at, 'deprecated'));
  }
  const [summary, description] = [reader.text(operation.map, 'summary'), reader.text(operation.map, 'description')];
  trail.prose(at, operation.map.at, [summary, description].filter((text) => text !== undefined && text !== '').join('\n\n'));
  return endpoint;
}

function writeParameters(operation: SourceOperation, at: Pointer, shapes: Shapes, trail: Trail): OpenMap {
  const { reader } = shapes;
  const parameters: OpenMap = newMap();
  const named = new Set([...operation.path.replace(/[?#].*$/, '').matchAll(/\{([^{}]+)\}/g)].map(([, name]) => name));
  for (const parameter of operation.parameters) {
    const { name, map } = parameter;
    if (parameter.in === 'header' && ownHeaders.has(name.toLowerCase())) {
      reader.leave(map.at, 'a header that is described by media types and security alone');
    } else if (Object.hasOwn(parameters, name)) {
      reader.find('import/parameter-twice', map.at, `\`${name}\` stands in two places of one request; the first is kept.`);
      reader.leave(map.at, 'another parameter of the operation has this name');
    } else if (parameter.in === 'path' && !named.has(name)) {
      reader.find('import/contradiction', map.at, `\`${operation.path}\` has no \`{${name}}\`.`);
      reader.leave(map.at, 'the path has no such parameter');
    } else {
      const inner = below(below(at, 'parameters'), name);
      trail.fromBoth(inner, parameter.schema.value === undefined ? map.at : parameter.schema.at, map.at);
      parameters[name] = writeParameter(parameter, shapes);
    }
  }
  return parameters;
}

/** OpenAPI gives these headers a meaning of their own, and says that a parameter of such a name is not read. */
const ownHeaders: ReadonlySet<string> = new Set(['accept', 'content-type', 'authorization']);

function writeParameter({ in: place, map, schema, style, explode }: SourceParameter, shapes: Shapes): Json {
  const { reader } = shapes;
  const written: OpenMap = newMap();
  written.in = place;
  const isRequired = reader.flag(map, 'required');
  if (isRequired && place !== 'path') written.required = true;
  // The cookie style of 3.2 is a form that is not encoded by percents.
  if (place === 'cookie' && style === 'cookie') reader.leave(below(map.at, 'style'), 'a cookie is read as a form');
  else if (style !== undefined && styles[place].includes(style)) written.style = style;
  else if (style !== undefined) {
    reader.find('import/contradiction', below(map.at, 'style'), `There is no style \`${style}\` in the ${place}.`);
    reader.leave(below(map.at, 'style'), 'its place has no such style');
  }
  if (explode !== undefined) written.explode = explode;
  if (reader.flag(map, 'deprecated')) written.deprecated = true;
  Object.assign(written, parameterShape(shapes.of(schema)));
  const description = reader.text(map, 'description');
  if (description !== undefined && description !== '') {
    written.description = description;
    leaveInner(schema, map, reader);
  }
  return written;
}

/** The description of a parameter or a header stands before the one that its schema has. */
function leaveInner(schema: At, outer: MapAt, reader: SourceReader): void {
  const inner = isMap(schema.value) ? schema.value.description : undefined;
  // In Swagger 2.0 the two are one.
  if (schema.at !== outer.at && typeof inner === 'string' && inner !== outer.value.description)
    reader.leave(below(schema.at, 'description'), 'what the schema stands in is described otherwise');
}

/** The words of a shape beside those of a parameter, which takes no short form, and examples as a list. */
function parameterShape(shape: Json | undefined): JsonMap {
  if (shape === undefined || shape === false) return newMap();
  if (typeof shape === 'string') return Object.assign(newMap(), { type: shape });
  if (Array.isArray(shape)) return Object.assign(newMap(), { type: 'array', items: shape[0] });
  // What is neither a text nor a list, nor none, is a map.
  const { example, ...rest } = madeOrNew(shape);
  if (example !== undefined) rest.examples = [example];
  // `required` is the parameter's own flag here; the list of an object needs a place of its own.
  return Array.isArray(rest.required) ? Object.assign(newMap(), { shape: rest }) : rest;
}

const styles: Readonly<Record<SourceParameter['in'], readonly string[]>> = {
  path: ['simple', 'label', 'matrix'],
  query: ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'],
  header: ['simple'],
  cookie: ['form'],
};

function writeResponses(operation: SourceOperation, at: Pointer, shapes: Shapes, trail: Trail): OpenMap {
  const responses: OpenMap = newMap();
  for (const response of operation.responses) {
    const place = below(below(at, 'response'), response.status);
    responses[response.status] = writeResponse(response, place, shapes, trail);
  }
  return responses;
}

function writeResponse(response: Response, at: Pointer, shapes: Shapes, trail: Trail): Json {
  const { reader } = shapes;
  trail.from(at, response.map.at);
  const main = mainContent(response.content);
  const shape = main && shapes.of(main.schema);
  const headers: OpenMap = newMap();
  for (const { name, map, schema, required } of response.headers) {
    const place = below(below(at, 'headers'), name);
    trail.from(below(place, 'shape'), schema.at);
    trail.from(below(below(place, 'shape'), 'description'), below(map.at, 'description'));
    const written = shapes.of(schema);
    const description = reader.text(map, 'description');
    if (description !== undefined && description !== '') leaveInner(schema, map, reader);
    const shapeOfHeader = withDescription(written === undefined || written === false ? newMap() : written, description);
    headers[name] = { shape: shapeOfHeader, ...(!required && { required: false }) };
  }
  trail.prose(at, response.map.at, reader.text(response.map, 'description'));
  if (main) mediaTypes(response.content, main, reader);
  const produces = ownTypes(response);
  const isShaped = shape !== undefined && shape !== false;
  const showing = main && isShaped ? showingExamples(main, response.content) : undefined;
  const examples = showing ? examplesOf(showing, at, shapes, trail) : newMap();
  const stream = streamOf(response, at, shapes, trail);
  const beside = {
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(produces && { produces }),
    ...(Object.keys(examples).length > 0 && { examples }),
    ...(stream !== undefined && { stream }),
  };
  const isFull = Object.keys(beside).length > 0;
  if (!isShaped) {
    const example = main && exampleOf(main, reader);
    if (example !== undefined) {
      trail.from(below(at, 'example'), example.at);
      return { example: example.value ?? null, ...beside };
    }
    const written = main === undefined ? 'none' : newMap();
    return isFull ? { shape: written, ...beside } : written;
  }
  trail.from(below(at, 'shape'), main?.schema.at ?? response.map.at);
  if (typeof shape === 'string' && !isFull) {
    trail.from(at, main?.schema.at ?? response.map.at);
    return shape;
  }
  return { shape, ...beside };
}

/** The media types of an answer that is none of success, where they are more than JSON. */
function ownTypes({ status, content }: Response): string[] | undefined {
  const types = content.map(({ type }) => type);
  const isUsual = types.every((type) => type === 'application/json');
  return /^[23]/.test(status) || isUsual ? undefined : types;
}

/** The shape of the pieces of a stream: `itemSchema` from OpenAPI 3.2 on, before it the schema of the media type. */
function streamOf({ content }: Response, at: Pointer, shapes: Shapes, trail: Trail): Json | undefined {
  const stream = content.find(({ type }) => isStream(type));
  if (!stream) return undefined;
  const { map } = stream;
  const own = map && Object.hasOwn(map.value, 'itemSchema') ? shapes.reader.get(map, 'itemSchema') : stream.schema;
  const shape = shapes.of(own);
  if (shape === undefined || shape === false) return undefined;
  trail.from(below(at, 'stream'), own.at);
  return shape;
}

function withDescription(shape: Json, description: string | undefined): Json {
  if (description === undefined || description === '') return shape;
  const base = typeof shape === 'string' ? { type: shape } : Array.isArray(shape) ? { type: 'array', items: shape[0] } : shape;
  return isMap(base) ? Object.assign(newMap(), base, { description }) : shape;
}

/** The media types in which an operation answers for success, JSON first. */
function producedTypes(responses: readonly Response[]): string[] {
  const types = new Set<string>();
  for (const { status, content } of responses) if (/^[23]/.test(status)) for (const { type } of content) types.add(type);
  return [...types].sort((a, b) => Number(isJson(b)) - Number(isJson(a)));
}

/** Writes the body of an operation: its shape, whether it has to be sent, and its media types. */
function writeBody(endpoint: OpenMap, { body, method }: SourceOperation, at: Pointer, shapes: Shapes, trail: Trail): void {
  if (body === undefined) return;
  const main = mainContent(body.content);
  if (main === undefined) return;
  if (isEmptyForm(main) && (method === 'GET' || method === 'HEAD' || method === 'DELETE')) {
    shapes.reader.leave(body.at, 'a form without fields, which says that there is no body');
    return;
  }
  const shape = shapes.of(main.schema);
  trail.from(below(at, 'request'), main.schema.at);
  endpoint.request = shape === undefined || shape === false ? newMap() : shape;
  if (!body.required) {
    endpoint.body = 'optional';
    trail.from(below(at, 'body'), body.at);
  }
  const types = mediaTypes(body.content, main, shapes.reader);
  if (!(types.length === 1 && types[0] === 'application/json')) {
    endpoint.consumes = types;
    trail.from(below(at, 'consumes'), below(body.at, 'content'));
  }
}

/** A form of which every field is missing, and none allowed. */
function isEmptyForm({ schema: { value } }: Content): boolean {
  return isMap(value) && isMap(value.properties) && Object.keys(value.properties).length === 0;
}

/** The media types of a body. Where one says another schema than the one that was taken, that is not carried. */
function mediaTypes(content: readonly Content[], main: Content, reader: SourceReader): string[] {
  if (content.length === 1) return [main.type];
  const text = JSON.stringify(main.schema.value);
  return content.map(({ type, schema }) => {
    if (isStream(type)) return type;
    if (type !== main.type && JSON.stringify(schema.value) !== text) {
      reader.leave(schema.at, 'another media type of the same body says another schema');
    } else if (type !== main.type && isMap(schema.value)) reader.again.add(schema.value);
    return type;
  });
}
