import type { Pointer } from '../../document/document.ts';
import { below } from '../../document/pointer.ts';
import { isMap, newMap, type OpenMap } from '../../document/values.ts';
import { type Content, mainContent, type Operation } from './operation.ts';
import type { Reader } from './reader.ts';
import type { Shapes } from './shapes.ts';
import type { Trail } from './trail.ts';

/** Writes the body of an operation: its shape, whether it has to be sent, and its media types. */
export function writeBody(endpoint: OpenMap, { body, method }: Operation, at: Pointer, shapes: Shapes, trail: Trail): void {
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
export function mediaTypes(content: readonly Content[], main: Content, reader: Reader): string[] {
  if (content.length === 1) return [main.type];
  const text = JSON.stringify(main.schema.value);
  return content.map(({ type, schema }) => {
    if (type !== main.type && JSON.stringify(schema.value) !== text) {
      reader.leave(schema.at, 'another media type of the same body says another schema');
    } else if (type !== main.type && isMap(schema.value)) reader.again.add(schema.value);
    return type;
  });
}
