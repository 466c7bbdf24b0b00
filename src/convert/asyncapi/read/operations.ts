import type { Json, JsonMap } from '../../../document/document.ts';
import { below, pathOf } from '../../../document/pointer.ts';
import { isMap } from '../../../document/values.ts';
import { type At, type MapAt, refOf, type SourceReader } from '../../openapi/read/reader.ts';

/** Every operation of a source. Its form says which version it is of, for that is what was shipped. */
export function readMessageOperations(reader: SourceReader, version: string): MessageOperation[] {
  const { value } = reader.root;
  const isFirst = version.startsWith('1') || ['topics', 'stream', 'events'].some((key) => Object.hasOwn(value, key));
  if (isFirst) return operationsOfVersion1(reader);
  return version.startsWith('2') ? operationsOfVersion2(reader) : operationsOfVersion3(reader);
}

/** One operation of a source, whatever its version: what the service sends, or takes, over a channel. */
export interface MessageOperation {
  readonly at: string;
  /** Whether the service sends the messages; else whoever uses it does. */
  readonly sends: boolean;
  readonly messages: readonly NamedMessage[];
}

/** A message and the name that stands nearest to it. */
export interface NamedMessage {
  readonly name: string;
  readonly map: MapAt;
}

/** What a message is called: by itself, by what refers to it, else by where it stands. */
function messageName(message: MapAt, written: JsonMap, otherwise: string, reader: SourceReader): string {
  const own = reader.text(message, 'name') ?? reader.text(message, 'messageId');
  if (own !== undefined && own !== '') return own;
  const ref = refOf(written);
  const referred = ref === undefined ? undefined : pathOf(ref.slice(ref.indexOf('#') + 1)).at(-1);
  return referred === undefined || referred === '' ? otherwise : referred;
}

/**
 * AsyncAPI 1: topics with what may be subscribed and published, or the frames of a stream that are read and written, or events
 * that are sent and received. A message stands there by itself, and the topic is its name.
 */
function operationsOfVersion1(reader: SourceReader): MessageOperation[] {
  const topics = reader.maps(reader.root, 'topics').flatMap(([name, topic]) => topicOperations(name, topic, reader));
  if (topics.length > 0) reader.mark(reader.root.value, 'topics');
  return [...topics, ...frames('stream', 'read', 'write', reader), ...frames('events', 'send', 'receive', reader)];
}

function topicOperations(name: string, topic: MapAt, reader: SourceReader): MessageOperation[] {
  return (['subscribe', 'publish'] as const).flatMap((action) => {
    if (!Object.hasOwn(topic.value, action)) return [];
    const written = reader.get(topic, action);
    return [{ at: written.at, sends: action === 'subscribe', messages: messagesOf(written, name, reader) }];
  });
}

/** Lists of messages: those of the first word come from the service. */
function frames(key: 'stream' | 'events', from: string, to: string, reader: SourceReader): MessageOperation[] {
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

/** AsyncAPI 2: under a channel stands what its users may do: `subscribe` to what the service sends, `publish` to it. */
function operationsOfVersion2(reader: SourceReader): MessageOperation[] {
  reader.mark(reader.root.value, 'channels');
  return reader.maps(reader.root, 'channels').flatMap(([name, channel]) => operationsUnder(name, channel, reader));
}

function operationsUnder(name: string, channel: MapAt, reader: SourceReader): MessageOperation[] {
  return (['subscribe', 'publish'] as const).flatMap((action) => {
    const map = reader.map(channel, action);
    if (!map) return [];
    const otherwise = reader.text(map, 'operationId') ?? name;
    return [{ at: map.at, sends: action === 'subscribe', messages: messagesOf(reader.get(map, 'message'), otherwise, reader) }];
  });
}

/** A message, or one of several. */
function messagesOf(written: At, otherwise: string, reader: SourceReader): NamedMessage[] {
  const { value, at } = written;
  if (isMap(value) && Array.isArray(value.oneOf) && !Object.hasOwn(value, 'payload')) {
    reader.mark(value, 'oneOf');
    const list = below(at, 'oneOf');
    return value.oneOf.flatMap((item: Json, index) =>
      messagesOf({ value: item, at: below(list, index) }, `${otherwise}.${index + 1}`, reader),
    );
  }
  const map = reader.follow(written);
  if (!map || !isMap(value)) {
    if (value !== undefined && !isMap(value)) reader.find('import/invalid', at, 'A message is a map.');
    return [];
  }
  if (Array.isArray(map.value.oneOf) && map.value !== value) return messagesOf(map, otherwise, reader);
  return [{ name: messageName(map, value, otherwise, reader), map }];
}

/** AsyncAPI 3: operations stand by themselves, and name a channel and those of its messages that they are about. */
function operationsOfVersion3(reader: SourceReader): MessageOperation[] {
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

function operationOf(map: MapAt, reader: SourceReader): MessageOperation[] {
  // What an export of our own says for the sake of other tools.
  if (map.value['x-ninefold-follows'] === true) return [];
  const action = reader.text(map, 'action');
  if (action !== 'send' && action !== 'receive') {
    reader.find('import/invalid', map.at, 'The action of an operation is `send` or `receive`.');
    return [];
  }
  const channel = reader.follow(reader.get(map, 'channel'));
  if (!channel) reader.find('import/invalid', map.at, 'An operation names the channel that it goes over.');
  if (reader.map(map, 'reply')) reader.leave(below(map.at, 'reply'), 'an answer is no event');
  return [{ at: map.at, sends: action === 'send', messages: channelMessages(map, channel, reader) }];
}

/** The messages that an operation lists; without a list, all of its channel. */
function channelMessages(map: MapAt, channel: MapAt | undefined, reader: SourceReader): NamedMessage[] {
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

function messageAt(written: At, otherwise: string, reader: SourceReader): NamedMessage[] {
  const map = reader.follow(written);
  if (!map || !isMap(written.value)) return [];
  // A channel may refer to a message elsewhere; the key that it has there is still its name.
  return [{ name: messageName(map, written.value, otherwise, reader), map }];
}

function wordOf(item: Json): string {
  const ref = isMap(item) && typeof item.$ref === 'string' ? item.$ref : '';
  return pathOf(ref.slice(ref.indexOf('#') + 1)).at(-1) ?? 'message';
}
