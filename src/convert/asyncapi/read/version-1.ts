import type { Json } from '../../../document/document.ts';
import { below } from '../../../document/pointer.ts';
import type { MapAt, Reader } from '../../openapi/reader.ts';
import type { NamedMessage, Operation } from './operation.ts';
import { messagesOf } from './version-2.ts';

/**
 * AsyncAPI 1: topics with what may be subscribed and published, or the frames of a stream that are read and written, or events
 * that are sent and received. A message stands there by itself, and the topic is its name.
 */
export function operationsOfVersion1(reader: Reader): Operation[] {
  const topics = reader.maps(reader.root, 'topics').flatMap(([name, topic]) => topicOperations(name, topic, reader));
  if (topics.length > 0) reader.mark(reader.root.value, 'topics');
  return [...topics, ...frames('stream', 'read', 'write', reader), ...frames('events', 'send', 'receive', reader)];
}

function topicOperations(name: string, topic: MapAt, reader: Reader): Operation[] {
  return (['subscribe', 'publish'] as const).flatMap((action) => {
    if (!Object.hasOwn(topic.value, action)) return [];
    const written = reader.get(topic, action);
    return [{ at: written.at, sends: action === 'subscribe', messages: messagesOf(written, name, reader) }];
  });
}

/** Lists of messages: those of the first word come from the service. */
function frames(key: 'stream' | 'events', from: string, to: string, reader: Reader): Operation[] {
  const holder = reader.map(reader.root, key);
  if (!holder) return [];
  reader.mark(reader.root.value, key);
  return [from, to].flatMap((word) => {
    if (!Object.hasOwn(holder.value, word)) return [];
    const { value, at } = reader.get(holder, word);
    const messages: NamedMessage[] = (Array.isArray(value) ? value : []).flatMap((item: Json, index) =>
      messagesOf({ value: item, at: below(at, index) }, `${key}.${word}.${index + 1}`, reader),
    );
    return [{ at, sends: word === from, messages }];
  });
}
