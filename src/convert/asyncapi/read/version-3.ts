import type { Json } from '../../../document/document.ts';
import { below, pathOf } from '../../../document/pointer.ts';
import { isMap } from '../../../document/values.ts';
import type { At, MapAt, Reader } from '../../openapi/reader.ts';
import { messageName } from './message-names.ts';
import type { NamedMessage, Operation } from './operation.ts';

/** AsyncAPI 3: operations stand by themselves, and name a channel and those of its messages that they are about. */
export function operationsOfVersion3(reader: Reader): Operation[] {
  const operations = reader.maps(reader.root, 'operations').flatMap(([, map]) => operationOf(map, reader));
  if (operations.length > 0 || reader.map(reader.root, 'operations')) {
    reader.mark(reader.root.value, 'operations');
    return operations;
  }
  for (const [, channel] of reader.maps(reader.root, 'channels')) {
    reader.leave(channel.at, 'no operation says who sends what goes over it');
  }
  return [];
}

function operationOf(map: MapAt, reader: Reader): Operation[] {
  const action = reader.text(map, 'action');
  if (action !== 'send' && action !== 'receive') {
    reader.find('import/invalid', map.at, 'The action of an operation is `send` or `receive`.');
    return [];
  }
  const channel = reader.follow(reader.get(map, 'channel'));
  if (!channel) reader.find('import/invalid', map.at, 'An operation names the channel that it goes over.');
  if (reader.map(map, 'reply')) reader.leave(below(map.at, 'reply'), 'an answer is no event');
  return [{ at: map.at, sends: action === 'send', messages: messagesOf(map, channel, reader) }];
}

/** The messages that an operation lists; without a list, all of its channel. */
function messagesOf(map: MapAt, channel: MapAt | undefined, reader: Reader): NamedMessage[] {
  if (Object.hasOwn(map.value, 'messages')) {
    const { value, at } = reader.get(map, 'messages');
    if (Array.isArray(value)) {
      return value.flatMap((item: Json, index) => messageAt({ value: item, at: below(at, index) }, wordOf(item), reader));
    }
    reader.find('import/invalid', at, 'The messages of an operation are a list of references.');
  }
  const holder = channel && reader.map(channel, 'messages');
  return Object.entries(holder?.value ?? {}).flatMap(([name, value]) =>
    messageAt({ value, at: below(holder?.at ?? '', name) }, name, reader),
  );
}

function messageAt(written: At, otherwise: string, reader: Reader): NamedMessage[] {
  const map = reader.follow(written);
  if (!map || !isMap(written.value)) return [];
  // A channel may refer to a message elsewhere; the key that it has there is still its name.
  return [{ name: messageName(map, written.value, otherwise, reader), map }];
}

function wordOf(item: Json): string {
  const ref = isMap(item) && typeof item.$ref === 'string' ? item.$ref : '';
  return pathOf(ref.slice(ref.indexOf('#') + 1)).at(-1) ?? 'message';
}
