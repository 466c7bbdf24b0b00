import type { Json, JsonMap } from '../../../document/document.ts';
import { below } from '../../../document/pointer.ts';
import { newMap, type OpenMap } from '../../../document/values.ts';
import { brokerKind } from '../../../kinds/deliveries/all-brokers.ts';
import { toldAs } from '../../../parts/event-names.ts';
import type { Broker } from '../../../parts/events.ts';
import type { Spec } from '../../../parts/spec.ts';
import type { Message } from './messages.ts';

/** The server that stands for the broker: its address is known to whoever runs the service. */
export const brokerServer = 'broker';

/** The broker as a server; nothing for one of no known kind. */
export function brokerServerOf({ word }: Broker): JsonMap | undefined {
  const kind = brokerKind(word);
  return (
    kind && {
      host: '{host}',
      protocol: kind.channel.protocol,
      description: 'The broker that events are published to.',
      variables: { host: { description: 'Its address, which the service is started with.' } },
    }
  );
}

/** The channel of a broker and the operation that publishes over it; nothing for one of no known kind. */
export function writeBroker(
  spec: Spec,
  broker: Broker,
  messages: readonly Message[],
): { readonly key: string; readonly channel: JsonMap; readonly operation: string; readonly sends: JsonMap } | undefined {
  const kind = brokerKind(broker.word);
  if (!kind) return undefined;
  const { key, title, description, operation, summary, bindings } = kind.channel;
  const address = kind.channel.address(broker);
  const carried: OpenMap = newMap();
  for (const message of messages) carried[message.key] = published(broker, message, toldAs(spec, message.name).kind);
  return {
    key,
    channel: {
      address,
      title,
      description,
      servers: [{ $ref: `#/servers/${brokerServer}` }],
      // Where each kind has a place of its own.
      ...(address?.includes('{kind}') && {
        parameters: {
          kind: { description: 'The kind of event.', enum: [...new Set(messages.map(({ name }) => toldAs(spec, name).kind))] },
        },
      }),
      messages: carried,
    },
    operation,
    sends: {
      action: 'send',
      channel: { $ref: `#/channels/${key}` },
      summary,
      // A binding is a map of texts.
      bindings: bindings as JsonMap,
      messages: messages.map((message) => ({ $ref: `#${below(`/channels/${key}/messages`, message.key)}` })),
    },
  };
}

/** A message as the broker is given it. */
function published(broker: Broker, { bare, carried }: Message, kind: string): JsonMap {
  const described = brokerKind(broker.word)?.describes(broker, kind, carried);
  const headers = Object.entries(described?.headers ?? {});
  const properties = Object.fromEntries(
    headers.map(([field, description]): [string, Json] => [field, { type: 'string', description }]),
  );
  const { correlationId: _id, examples: _examples, 'x-ninefold-payload': _payload, ...rest } = bare;
  return {
    ...(described?.payload ? rest : bare),
    ...(described && { contentType: described.contentType }),
    // A schema is JSON.
    ...(described?.payload && { payload: described.payload as JsonMap }),
    ...(headers.length > 0 && { headers: { type: 'object', properties, required: headers.map(([field]) => field) } }),
  };
}
