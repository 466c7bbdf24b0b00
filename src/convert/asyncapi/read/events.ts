import type { Json } from '../../../document/document.ts';
import { below } from '../../../document/pointer.ts';
import { isMap, newMap, type OpenMap } from '../../../document/values.ts';
import type { At, MapAt, Reader } from '../../openapi/reader.ts';
import type { Shapes } from '../../openapi/shapes.ts';
import type { Trail } from '../../openapi/trail.ts';
import type { NamedMessage, Operation } from './operation.ts';

/** Writes what a service sends as kinds of event. What is sent to it over a channel is nothing that the nine parts hold. */
export function writeEvents(operations: readonly Operation[], shapes: Shapes, trail: Trail, isOwn: boolean): OpenMap | undefined {
  const { reader } = shapes;
  const kinds: OpenMap = newMap();
  const places = new Map<string, string>();
  for (const { at, sends, messages } of operations) {
    if (!sends) {
      reader.leave(at, 'what is sent to a service over a channel is none of its events');
      continue;
    }
    for (const message of messages) writeKind(message, kinds, places, shapes, trail);
  }
  if (Object.keys(kinds).length === 0) return undefined;
  if (isOwn) return Object.assign(newMap(), { kinds });
  // A message of others carries its payload and nothing around it.
  const [first = ''] = places.values();
  trail.from('/events/envelope', below(first, 'payload'));
  return Object.assign(newMap(), { envelope: 'none', kinds });
}

/** A message that several operations send is one kind; another one of the same name is told apart by a number. */
function writeKind({ name, map }: NamedMessage, kinds: OpenMap, places: Map<string, string>, shapes: Shapes, trail: Trail): void {
  const { reader } = shapes;
  let key = name;
  for (let count = 2; places.has(key); count++) {
    if (places.get(key) === map.at || isAlike(places.get(key) ?? '', map, reader)) return;
    if (count === 2) reader.find('import/contradiction', map.at, `Two messages are called \`${name}\`.`);
    key = `${name}_${count}`;
  }
  places.set(key, map.at);
  const at = below('/events/kinds', key);
  const kind: OpenMap = newMap();
  trail.from(at, map.at);
  const payload = payloadOf(map, reader);
  const shape = payload && shapes.of(payload);
  if (payload && shape !== undefined) {
    kind.payload = shape;
    trail.from(below(at, 'payload'), payload.at);
  }
  const words = [reader.text(map, 'title'), reader.text(map, 'summary'), reader.text(map, 'description')];
  trail.prose(at, map.at, words.filter((text, index) => text && words.indexOf(text) === index).join('\n\n'));
  kinds[key] = kind;
}

/** Whether two messages of one name carry the same. */
function isAlike(at: string, other: MapAt, reader: Reader): boolean {
  const known = reader.target(`#${at}`)?.value;
  return isMap(known) && JSON.stringify(known.payload) === JSON.stringify(other.value.payload);
}

/** The schema of what a message carries; nothing where it is in a language of schemas that is not JSON Schema. */
function payloadOf(message: MapAt, reader: Reader): At | undefined {
  if (!Object.hasOwn(message.value, 'payload')) return undefined;
  const format = reader.text(message, 'schemaFormat');
  const payload = reader.get(message, 'payload');
  const inner = isMap(payload.value) && Object.hasOwn(payload.value, 'schemaFormat') ? payload : undefined;
  const language = inner && isMap(inner.value) ? inner.value.schemaFormat : format;
  if (typeof language === 'string' && !isJsonSchema(language)) {
    reader.leave(payload.at, `its schema is written in ${language}`);
    return undefined;
  }
  if (!inner || !isMap(inner.value)) return carried(payload, message, reader);
  reader.mark(inner.value, 'schemaFormat');
  return reader.get({ value: inner.value, at: inner.at }, 'schema');
}

/** In an export of our own, the member of the message that is the payload; the rest is its envelope. */
function carried(payload: At, message: MapAt, reader: Reader): At {
  const member = reader.text(message, 'x-ninefold-payload');
  const whole = member === undefined ? undefined : reader.follow(payload);
  const properties = whole && reader.map(whole, 'properties');
  const inner: Json | undefined = properties && member !== undefined ? properties.value[member] : undefined;
  return inner === undefined || !properties ? payload : { value: inner, at: below(properties.at, member ?? '') };
}

/** AsyncAPI's own schemas, OpenAPI's and those of JSON Schema, in JSON or YAML. */
function isJsonSchema(format: string): boolean {
  return /^application\/(?:vnd\.aai\.asyncapi|vnd\.oai\.openapi|schema)(?:\+json|\+yaml)?(?:;|$)/.test(format);
}
