import type { Json, JsonMap } from '../../../document/document.ts';
import { isMap, newMap, type OpenMap } from '../../../document/values.ts';
import { handshakeOf } from '../../../kinds/handshakes/all.ts';
import { differsByAddress } from '../../../kinds/handshakes/asking.ts';
import type { Handshake } from '../../../kinds/handshakes/kind.ts';
import { statedValue } from '../../../parts/fact.ts';
import { fitsAny } from '../../../parts/shapes/branches.ts';
import type { Spec } from '../../../parts/spec.ts';

/** How addresses are asked before anything is delivered to them, as a request and its reply. */
export interface AskedAddresses {
  readonly key: string;
  readonly channel: JsonMap;
  readonly operation: string;
  readonly sends: JsonMap;
}

const key = 'addresses';

/** What a subscriber has to answer before it is told of anything; nothing where no address is asked. It follows from `confirm`, which is stated beside it. */
export function writeConfirming(spec: Spec, server: string): AskedAddresses | undefined {
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
