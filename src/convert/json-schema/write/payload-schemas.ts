import type { Json, JsonMap } from '../../../document/document.ts';
import { newMap, type OpenMap } from '../../../document/values.ts';
import { literalOf } from '../../../kinds/envelopes/all.ts';
import { timeFormat } from '../../../kinds/formats/all.ts';
import { type EventKind, eventEnvelopeOf } from '../../../parts/events.ts';
import { entriesOf, statedValue } from '../../../parts/fact.ts';
import type { Spec } from '../../../parts/spec.ts';
import type { SchemaWriter } from './schema-writer.ts';

/** What a refusal looks like: RFC 9457 with this language's members, or the stated shape; nothing where that is open. */
export function errorSchema(spec: Spec, writer: SchemaWriter): JsonMap | undefined {
  const payload = statedValue(spec.errors.payload);
  if (payload === undefined) return undefined;
  if (payload === 'problem') return problemSchema(spec);
  const shape = statedValue(payload.shape);
  return shape && writer.shape(shape, 'answer');
}

/** The media type of a refusal. */
export function errorMedia(spec: Spec): string {
  const payload = statedValue(spec.errors.payload);
  return payload === undefined || payload === 'problem' ? 'application/problem+json' : 'application/json';
}

/** RFC 9457 section 3. `code` is left out where no stated code is for the condition; codes may bring members of their own. */
function problemSchema(spec: Spec): JsonMap {
  const codes = entriesOf(spec.errors.codes).map(([name]) => name);
  const isWhole = codes.length > 0 && spec.errors.others === undefined;
  return {
    description: 'A refusal (RFC 9457).',
    type: 'object',
    properties: {
      type: { type: 'string', format: 'uri-reference' },
      title: { type: 'string' },
      status: { type: 'integer', minimum: 200, maximum: 599 },
      detail: { type: 'string' },
      code: { type: 'string', ...(isWhole && { enum: codes }) },
      request_id: { type: 'string' },
      violations: { type: 'array', items: violation },
      ...constantsOf(spec),
    },
    required: ['type', 'title', 'status', 'detail', 'request_id'],
  };
}

const violation: JsonMap = {
  type: 'object',
  properties: {
    in: { type: 'string', enum: ['body', 'path', 'query', 'header', 'cookie'] },
    path: { type: 'string', description: 'A JSON Pointer into the body, or the name of a parameter.' },
    found: { type: 'string' },
    expected: { type: 'string' },
  },
  required: ['in', 'path', 'expected'],
};

/** The constants that codes bring, each with the values it may have. */
function constantsOf(spec: Spec): JsonMap {
  const values = new Map<string, Json[]>();
  for (const [, { constants }] of entriesOf(spec.errors.codes)) {
    for (const [name, value] of Object.entries(constants)) values.set(name, [...(values.get(name) ?? []), value]);
  }
  const out: Record<string, Json> = Object.create(null);
  for (const [name, list] of values) out[name] = { enum: [...new Set(list)] };
  return out;
}

/** What a kind of event carries; nothing where that is open. */
export function payloadSchema(kind: EventKind, writer: SchemaWriter): JsonMap | undefined {
  const shape = statedValue(kind.payload);
  return shape && writer.shape(shape, 'answer');
}

/** An event as it is sent: its payload within the envelope, or alone. */
export function envelopeSchema(spec: Spec, kind: EventKind, payload: JsonMap): JsonMap {
  if (isBare(spec)) return payload;
  const members = statedEnvelopeMembers(spec);
  const properties: Record<string, Json> = Object.create(null);
  for (const [name, source] of members) properties[name] = memberSchema(source, kind, payload);
  return { type: 'object', properties, required: members.map(([name]) => name) };
}

/** Whether payloads are sent as they are. */
export function isBare(spec: Spec): boolean {
  return eventEnvelopeOf(spec.events).members === undefined;
}

/** What an envelope is made of, each with its expression: as stated, or as it follows by rule; nothing where there is none. */
export function statedEnvelopeMembers(spec: Spec): readonly (readonly [name: string, source: string])[] {
  return Object.entries(eventEnvelopeOf(spec.events).members ?? {});
}

/** An example of an event in its envelope; nothing where a member is made by an expression that is not known. */
export function envelopeExample(
  spec: Spec,
  kind: EventKind,
  payload: Json,
  { id, at }: { readonly id: string; readonly at: string },
): Json | undefined {
  if (isBare(spec)) return payload;
  const known: Readonly<Record<string, Json>> = {
    'event.id': id,
    'event.kind': kind.called,
    ...(kind.action !== undefined && { 'event.action': kind.action }),
    'event.at': at,
    'event.payload': payload,
  };
  const out: OpenMap = newMap();
  for (const [name, source] of statedEnvelopeMembers(spec)) {
    const value = known[source] ?? literalOf(source);
    if (value === undefined) return undefined;
    out[name] = value;
  }
  return out;
}

/** What is known of an expression's value without evaluating it. */
function memberSchema(source: string, kind: EventKind, payload: JsonMap): JsonMap {
  if (source === 'event.id') return { type: 'string', description: 'One over all tries.' };
  if (source === 'event.kind') return { type: 'string', const: kind.called };
  if (source === 'event.action' && kind.action !== undefined) return { type: 'string', const: kind.action };
  if (source === 'event.at') return { type: 'string', format: timeFormat };
  if (source === 'event.payload') return payload;
  const literal = literalOf(source);
  if (typeof literal === 'string') return { type: 'string', const: literal };
  if (typeof literal === 'number') return { type: 'integer', const: literal };
  return literal === undefined ? {} : { type: 'boolean', const: literal };
}
