import type { Json } from '../../../document/document.ts';
import { below } from '../../../document/pointer.ts';
import { isMap } from '../../../document/values.ts';
import type { At, MapAt, Reader } from '../../openapi/reader.ts';
import { messageName } from './message-names.ts';
import type { NamedMessage, Operation } from './operation.ts';

/** AsyncAPI 2: under a channel stands what its users may do: `subscribe` to what the service sends, `publish` to it. */
export function operationsOfVersion2(reader: Reader): Operation[] {
  reader.mark(reader.root.value, 'channels');
  return reader.maps(reader.root, 'channels').flatMap(([name, channel]) => operationsUnder(name, channel, reader));
}

function operationsUnder(name: string, channel: MapAt, reader: Reader): Operation[] {
  return (['subscribe', 'publish'] as const).flatMap((action) => {
    const map = reader.map(channel, action);
    if (!map) return [];
    const otherwise = reader.text(map, 'operationId') ?? name;
    return [{ at: map.at, sends: action === 'subscribe', messages: messagesOf(reader.get(map, 'message'), otherwise, reader) }];
  });
}

/** A message, or one of several. */
export function messagesOf(written: At, otherwise: string, reader: Reader): NamedMessage[] {
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
