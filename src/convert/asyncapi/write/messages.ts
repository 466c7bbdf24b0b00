import type { JsonMap } from '../../../document/document.ts';
import { below } from '../../../document/pointer.ts';
import { newMap, type OpenMap } from '../../../document/values.ts';
import { signatureKind } from '../../../kinds/signatures/all.ts';
import type { Webhook } from '../../../parts/events.ts';
import { entriesOf, isStated } from '../../../parts/fact.ts';
import type { Spec } from '../../../parts/spec.ts';
import { DefinitionNames } from '../../json-schema/definition-names.ts';
import { envelopeExample, envelopeMembers, envelopeSchema, isBare, payloadSchema } from '../../json-schema/event-schema.ts';
import type { SchemaWriter } from '../../json-schema/schema-writer.ts';
import type { Prose } from '../../prose.ts';
import { unsettledLine } from '../../unsettled.ts';
import { toDraft07 } from './draft-07.ts';
import { payloadExamples } from './examples.ts';

/** One kind of event as AsyncAPI speaks of it. */
export interface Message {
  /** The key that it has everywhere: its kind, made of the letters that a key may have. */
  readonly key: string;
  /** The message without headers. */
  readonly bare: JsonMap;
}

const exampleTimes = { id: 'evt_01KDWQ5G00WZ3P8J1N4R7T2V6X', at: '2026-01-01T00:00:00.000Z' };

/** The messages that a service sends: every kind of event, in its envelope. */
export function writeMessages(spec: Spec, writer: SchemaWriter, prose: Prose): Message[] {
  const names = new DefinitionNames();
  const exampleOf = payloadExamples(spec);
  const members = envelopeMembers(spec);
  const id = members.find(([, source]) => source === 'event.id')?.[0];
  const payload = members.find(([, source]) => source === 'event.payload')?.[0];
  return entriesOf(spec.events.kinds).map(([name, kind]) => {
    const key = names.claim(name);
    const description = prose(kind.at).join('\n\n');
    const carried = isStated(kind.payload) ? payloadSchema(kind, writer) : undefined;
    const open = isStated(kind.payload) ? {} : { $comment: unsettledLine(`what ${name} carries`, kind.payload) };
    const made = exampleOf(kind);
    const example = made === undefined ? undefined : envelopeExample(spec, kind, made, exampleTimes);
    return {
      key,
      bare: {
        name,
        ...(description !== '' && { description }),
        contentType: 'application/json',
        payload: isBare(spec)
          ? toDraft07(carried ?? open)
          : writer.define(`${key}_event`, envelopeSchema(spec, kind, carried ?? open)),
        ...(id !== undefined && { correlationId: correlationId(`$message.payload#${below('', id)}`) }),
        ...(example !== undefined && { examples: [{ payload: example }] }),
        ...(payload !== undefined && { 'x-ninefold-payload': payload }),
      },
    };
  });
}

/** A message as it is posted to a subscriber: with the header fields of its signature and those that are stated. */
export function posted({ bare }: Message, webhook: Webhook): JsonMap {
  const headers = headersOf(webhook);
  const { correlationId: _id, ...rest } = bare;
  const idHeader = webhook.signature && signatureKind(webhook.signature)?.idHeader;
  return {
    ...rest,
    ...(headers && { headers }),
    ...(idHeader !== undefined
      ? { correlationId: correlationId(`$message.header#${below('', idHeader)}`) }
      : _id && { correlationId: _id }),
  };
}

function correlationId(location: string): JsonMap {
  return { description: 'The identifier of the event, the same over all tries.', location };
}

/** The header fields of the signature, and the stated ones. */
function headersOf({ signature, headers }: Webhook): JsonMap | undefined {
  const properties: OpenMap = newMap();
  for (const { name, pattern, description } of (signature && signatureKind(signature)?.headers(signature.facts)) ?? [])
    properties[name] = { type: 'string', ...(pattern !== undefined && { pattern }), description };
  const required = Object.keys(properties);
  for (const name of Object.keys(headers)) properties[name] = { type: 'string' };
  return Object.keys(properties).length === 0
    ? undefined
    : { type: 'object', properties, ...(required.length > 0 && { required }) };
}
