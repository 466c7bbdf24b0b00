import type { Json, JsonMap } from '../../../document/document.ts';
import { below } from '../../../document/pointer.ts';
import { isMap, newMap, type OpenMap } from '../../../document/values.ts';
import { pullKind, pushKind } from '../../../kinds/deliveries/all.ts';
import { brokerKind } from '../../../kinds/deliveries/all-brokers.ts';
import type { ChannelWords } from '../../../kinds/deliveries/kind.ts';
import { handshakeOf } from '../../../kinds/handshakes/all.ts';
import type { Handshake } from '../../../kinds/handshakes/kind.ts';
import { differsByAddress } from '../../../kinds/handshakes/requests.ts';
import { streamKind } from '../../../kinds/streams/all.ts';
import { toldAs } from '../../../parts/event-telling.ts';
import { type Broker, pullOf } from '../../../parts/events.ts';
import { statedValue } from '../../../parts/fact.ts';
import { fitsAny } from '../../../parts/shapes/branches.ts';
import type { Spec } from '../../../parts/spec.ts';
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

/** The server that stands for the broker: its address is known to whoever runs the service. */
const brokerServer = 'broker';

/** The broker as a server; nothing for one of no known kind. */
function brokerServerOf({ word }: Broker): JsonMap | undefined {
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
function writeBroker(
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

/** How addresses are asked before anything is delivered to them, as a request and its reply. */
interface AskedAddresses {
  readonly key: string;
  readonly channel: JsonMap;
  readonly operation: string;
  readonly sends: JsonMap;
}

const key = 'addresses';

/** What a subscriber has to answer before it is told of anything; nothing where no address is asked. It follows from `confirm`, which is stated beside it. */
function writeConfirming(spec: Spec, server: string): AskedAddresses | undefined {
  const confirm = statedValue(spec.events.delivery)?.push?.confirm;
  const handshake = confirm && handshakeOf(confirm);
  if (!handshake) return undefined;
  const channel = { $ref: `#/channels/${key}` };
  return {
    key,
    channel: {
      address: null,
      title: 'Addresses that are asked',
      description: 'An address is asked before anything is posted to it, and again where it changes.',
      servers: [{ $ref: `#/servers/${server}` }],
      messages: { asked: asked(handshake), answered: answered(handshake) },
    },
    operation: 'confirmAddress',
    sends: {
      action: 'send',
      channel,
      summary: 'Asks an address whether it wants to be told of events.',
      bindings: { http: { method: handshake.method, ...query(handshake), bindingVersion: '0.3.0' } },
      messages: [{ $ref: `#/channels/${key}/messages/asked` }],
      reply: { channel, messages: [{ $ref: `#/channels/${key}/messages/answered` }] },
      'x-ninefold-follows': true,
    },
  };
}

function query({ parameters }: Handshake): JsonMap {
  return Object.keys(parameters).length === 0 ? {} : { query: shapeOf(parameters) };
}

function asked({ headers, body }: Handshake): JsonMap {
  return {
    name: 'asked',
    ...(Object.keys(headers).length > 0 && { headers: shapeOf(headers) }),
    ...(body !== undefined && { contentType: 'application/json', payload: shapeOf(body) }),
  };
}

/** An answer of success, as one of the forms that confirm; any will do where none is asked for. */
function answered({ answers }: Handshake): JsonMap {
  const forms = answers.map(shapeOf);
  const [first] = forms;
  return {
    name: 'answered',
    description: 'It confirms with a status of 200 to 299.',
    ...(first !== undefined && { payload: forms.length === 1 ? first : { ...fitsAny(forms) } }),
  };
}

/** The schema of what is written out: each text as it is, but for those that hold `{challenge}` or `{id}`. */
function shapeOf(value: Json): JsonMap {
  if (typeof value === 'string' && differsByAddress(value))
    return { type: 'string', description: `\`${value}\`, of this address alone.` };
  if (!isMap(value)) return { const: value };
  const properties: OpenMap = newMap();
  for (const [name, one] of Object.entries(value)) properties[name] = shapeOf(one);
  return { type: 'object', properties, required: Object.keys(properties) };
}
