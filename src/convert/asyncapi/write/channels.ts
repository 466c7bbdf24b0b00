import type { JsonMap } from '../../../document/document.ts';
import { below } from '../../../document/pointer.ts';
import { newMap, type OpenMap } from '../../../document/values.ts';
import { pullKind, pushKind } from '../../../kinds/deliveries/all.ts';
import type { ChannelWords } from '../../../kinds/deliveries/kind.ts';
import { streamKind } from '../../../kinds/streams/all.ts';
import { pullOf } from '../../../parts/events.ts';
import { statedValue } from '../../../parts/fact.ts';
import type { Spec } from '../../../parts/spec.ts';
import { brokerServer, brokerServerOf, writeBroker } from './broker.ts';
import { writeConfirming } from './confirming.ts';
import { type Message, posted } from './messages.ts';

/** Where events go, and the operations that send them there. */
interface Channels {
  readonly channels: JsonMap;
  readonly operations: JsonMap;
}

/** A channel for what is sent, one for what is listened to, or one of which nothing is known but what goes over it. */
export function writeChannels(
  spec: Spec,
  messages: readonly Message[],
  servers: JsonMap,
  security: readonly JsonMap[],
): Channels {
  const delivery = statedValue(spec.events.delivery);
  const channels: OpenMap = newMap();
  const operations: OpenMap = newMap();
  const own = ownServers(servers).map((name) => ({ $ref: `#/servers/${name}` }));
  if (messages.length === 0) return { channels, operations };
  const push = delivery?.push;
  if (push) {
    const { channel, method } = pushKind(push.word);
    channels[channel.key] = {
      address: null,
      title: channel.title,
      description: channel.description,
      servers: [{ $ref: `#/servers/${subscriberServer}` }],
      messages: byKey(messages, (message) => posted(message, push)),
    };
    operations[channel.operation] = operation(channel, messages, method);
    const asking = writeConfirming(spec, subscriberServer);
    if (asking) {
      channels[asking.key] = asking.channel;
      operations[asking.operation] = asking.sends;
    }
  }
  const pull = pullOf(spec.events);
  if (pull) {
    const { channel } = pullKind(pull.word);
    channels[channel.key] = {
      address: pull.path,
      title: channel.title,
      description: `${channel.description} ${streamKind(pull.format)?.meaning ?? ''}`.trim(),
      ...(own.length > 0 && { servers: own }),
      messages: byKey(messages, reference),
    };
    const isPublic = spec.authentication.public.includes(pull.operation.name);
    operations[channel.operation] = {
      ...operation(channel, messages, pull.method),
      ...(security.length > 0 && !isPublic && { security }),
    };
  }
  const published = delivery?.broker && writeBroker(spec, delivery.broker, messages);
  if (published) {
    channels[published.key] = published.channel;
    operations[published.operation] = published.sends;
  }
  if (Object.keys(channels).length === 0) {
    channels.events = {
      address: null,
      description: 'How events are delivered is not stated.',
      messages: byKey(messages, reference),
    };
    operations.sendEvents = operation({ key: 'events', summary: 'Sends events.' }, messages, undefined);
  }
  return { channels, operations };
}

function byKey(messages: readonly Message[], of: (message: Message) => JsonMap): JsonMap {
  const out: OpenMap = newMap();
  for (const message of messages) out[message.key] = of(message);
  return out;
}

function reference({ key }: Message): JsonMap {
  return { $ref: `#${below('/components/messages', key)}` };
}

function operation(
  { key: channel, summary }: Pick<ChannelWords, 'key' | 'summary'>,
  messages: readonly Message[],
  method: string | undefined,
): JsonMap {
  return {
    action: 'send',
    channel: { $ref: `#/channels/${channel}` },
    summary,
    ...(method !== undefined && { bindings: { http: { method, bindingVersion: '0.3.0' } } }),
    messages: messages.map(({ key }) => ({ $ref: `#${below(`/channels/${channel}/messages`, key)}` })),
  };
}

/** The server that stands for whoever listens: its address is known to it alone. */
const subscriberServer = 'subscriber';

/** The servers of a service, one for each base address, and the one that events are posted to. */
export function writeServers(spec: Spec, security: readonly JsonMap[]): JsonMap {
  const servers: OpenMap = newMap();
  const urls = statedValue(spec.purpose.baseUrls) ?? [];
  for (const [index, url] of urls.entries()) {
    const server = serverOf(url);
    if (server)
      servers[index === 0 ? 'service' : `service_${index + 1}`] = { ...server, ...(security.length > 0 && { security }) };
  }
  if (statedValue(spec.events.delivery)?.push) {
    servers[subscriberServer] = {
      host: '{host}',
      protocol: 'https',
      description: 'Whoever has subscribed.',
      variables: { host: { description: 'The host of the address that was subscribed.' } },
    };
  }
  const broker = statedValue(spec.events.delivery)?.broker;
  const server = broker && brokerServerOf(broker);
  if (server) servers[brokerServer] = server;
  return servers;
}

/** The names of the servers that are the service itself. */
function ownServers(servers: JsonMap): string[] {
  return Object.keys(servers).filter((name) => name !== subscriberServer && name !== brokerServer);
}

function serverOf(url: string): JsonMap | undefined {
  const parts = /^(https?):\/\/([^/?#]+)([^?#]*)/i.exec(url);
  if (!parts) return undefined;
  const [, protocol = '', host = '', pathname = ''] = parts;
  return { host, protocol: protocol.toLowerCase(), ...(pathname !== '' && { pathname }) };
}
