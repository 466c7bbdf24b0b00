import type { JsonMap } from '../../../document/document.ts';
import { below } from '../../../document/pointer.ts';
import { newMap, type OpenMap } from '../../../document/values.ts';
import { streamKind } from '../../../kinds/streams/all.ts';
import { statedValue } from '../../../parts/fact.ts';
import type { Spec } from '../../../parts/spec.ts';
import { type Message, posted } from './messages.ts';

/** Where events go, and the operations that send them there. */
interface Channels {
  readonly channels: JsonMap;
  readonly operations: JsonMap;
}

/** A channel for web hooks, one for the stream, or one of which nothing is known but what goes over it. */
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
  if (delivery?.webhook) {
    const { webhook } = delivery;
    channels.webhooks = {
      address: null,
      title: 'Web hooks',
      description: 'Events are posted to the address of every subscriber.',
      servers: [{ $ref: `#/servers/${subscriberServer}` }],
      messages: byKey(messages, (message) => posted(message, webhook)),
    };
    operations.postEvents = operation('webhooks', messages, 'POST', 'Posts events to subscribers.');
  }
  if (delivery?.stream) {
    const { stream } = delivery;
    channels.stream = {
      address: stream.path,
      title: 'Stream',
      description: `Events as they happen. ${streamKind(stream.format)?.meaning ?? ''}`.trim(),
      ...(own.length > 0 && { servers: own }),
      messages: byKey(messages, reference),
    };
    const isPublic = spec.authentication.public.includes('stream events');
    operations.streamEvents = {
      ...operation('stream', messages, stream.method, 'Streams events to whoever is connected.'),
      ...(security.length > 0 && !isPublic && { security }),
    };
  }
  if (Object.keys(channels).length === 0) {
    channels.events = {
      address: null,
      description: 'How events are delivered is not stated.',
      messages: byKey(messages, reference),
    };
    operations.sendEvents = operation('events', messages, undefined, 'Sends events.');
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

function operation(channel: string, messages: readonly Message[], method: string | undefined, summary: string): JsonMap {
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
  if (statedValue(spec.events.delivery)?.webhook) {
    servers[subscriberServer] = {
      host: '{host}',
      protocol: 'https',
      description: 'Whoever has subscribed.',
      variables: { host: { description: 'The host of the address that was subscribed.' } },
    };
  }
  return servers;
}

/** The names of the servers that are the service itself. */
function ownServers(servers: JsonMap): string[] {
  return Object.keys(servers).filter((name) => name !== subscriberServer);
}

function serverOf(url: string): JsonMap | undefined {
  const parts = /^(https?):\/\/([^/?#]+)([^?#]*)/i.exec(url);
  if (!parts) return undefined;
  const [, protocol = '', host = '', pathname = ''] = parts;
  return { host, protocol: protocol.toLowerCase(), ...(pathname !== '' && { pathname }) };
}
