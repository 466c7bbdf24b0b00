import type { Json, Pointer } from '../../document/document.ts';
import { below } from '../../document/pointer.ts';
import { isMap, newMap, type OpenMap } from '../../document/values.ts';
import { made } from './made.ts';
import { type Content, mainContent, type Operation } from './operation.ts';
import { itemOperations } from './operations.ts';
import type { MapAt } from './reader.ts';
import { nameOfOperation } from './security.ts';
import type { Shapes } from './shapes.ts';
import type { Trail } from './trail.ts';

/** Writes webhooks and callbacks as kinds of event, which are sent by webhook. */
export function writeEvents(operations: readonly Operation[], shapes: Shapes, trail: Trail): OpenMap | undefined {
  const { reader } = shapes;
  const kinds: OpenMap = newMap();
  const key = Object.hasOwn(reader.root.value, 'webhooks') ? 'webhooks' : 'x-webhooks';
  for (const [name, item] of reader.maps(reader.root, key)) {
    reader.mark(reader.root.value, key);
    writeKind(kinds, name, item, shapes, trail);
  }
  for (const operation of operations) {
    for (const [name, callback] of reader.maps(operation.map, 'callbacks')) {
      reader.mark(operation.map.value, 'callbacks');
      for (const [address, item] of reader.entries(callback)) {
        reader.leave(below(callback.at, address), 'the address of a callback is an expression over its request');
        writeKind(kinds, name, item, shapes, trail, operation);
      }
    }
  }
  if (Object.keys(kinds).length === 0) return undefined;
  trail.from('/events/delivery', below('', key));
  // What a webhook's schema describes is the whole body.
  const [first = ''] = Object.keys(kinds);
  trail.from('/events/delivery/envelope', trail.origin(below('/events/kinds', first)) ?? below('', key));
  return { delivery: { webhook: newMap(), envelope: 'none' }, kinds };
}

function writeKind(kinds: OpenMap, name: string, item: MapAt, shapes: Shapes, trail: Trail, by?: Operation): void {
  const { reader } = shapes;
  const [operation] = itemOperations(name, item, reader);
  if (operation === undefined) return;
  if (Object.hasOwn(kinds, name)) {
    reader.leave(item.at, 'another event has this name');
    return;
  }
  const kind: OpenMap = newMap();
  const at = below('/events/kinds', name);
  trail.from(at, operation.map.at);
  if (by) {
    kind.on = [by.key];
    trail.from(below(at, 'on'), by.map.at);
  }
  const main = operation.body && mainContent(operation.body.content);
  if (main) writePayload(kind, main, at, shapes, trail);
  const words = [reader.text(operation.map, 'summary'), reader.text(operation.map, 'description')];
  trail.prose(at, operation.map.at, words.filter((text) => text !== undefined && text !== '').join('\n\n'));
  kinds[name] = kind;
}

function writePayload(kind: OpenMap, { schema }: Content, at: Pointer, shapes: Shapes, trail: Trail): void {
  const shape: Json | undefined = shapes.of(schema);
  if (shape === undefined || shape === false) return;
  kind.payload = shape;
  trail.from(below(at, 'payload'), schema.at);
}

/** Speaks of the operations that emit events by the names that they have in the end. */
export function nameEmitters(tree: OpenMap, endpoints: OpenMap, operations: readonly Operation[]): void {
  const kinds = isMap(tree.events) ? tree.events.kinds : undefined;
  for (const kind of isMap(kinds) ? Object.values(kinds) : []) {
    if (!isMap(kind) || !Array.isArray(kind.on)) continue;
    const emitters = operations.filter(({ key }) => (kind.on as readonly Json[]).includes(key));
    made(kind).on = emitters.map((operation) => nameOfOperation(endpoints, operation));
  }
}
