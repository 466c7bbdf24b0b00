import type { Json, JsonMap } from '../../document/document.ts';
import { timeFormat } from '../../kinds/formats/all.ts';
import type { EventKind } from '../../parts/events.ts';
import { statedValue } from '../../parts/fact.ts';
import type { Spec } from '../../parts/spec.ts';
import type { SchemaWriter } from './schema-writer.ts';

/** What a kind of event carries; nothing where that is open. */
export function payloadSchema(kind: EventKind, writer: SchemaWriter): JsonMap | undefined {
  const shape = statedValue(kind.payload);
  return shape && writer.shape(shape, 'answer');
}

/** An event as it is sent: its payload within the envelope, or alone. */
export function envelopeSchema(spec: Spec, kind: EventKind, payload: JsonMap): JsonMap {
  if (isBare(spec)) return payload;
  const members = envelopeMembers(spec);
  const properties: Record<string, Json> = Object.create(null);
  for (const [name, source] of members) properties[name] = memberSchema(source, kind, payload);
  return { type: 'object', properties, required: members.map(([name]) => name) };
}

/** Whether payloads are sent as they are. */
export function isBare(spec: Spec): boolean {
  return statedValue(spec.events.delivery)?.isBare === true;
}

/** What an envelope is made of, each with its expression: as stated, or as it follows by rule; nothing where there is none. */
export function envelopeMembers(spec: Spec): readonly (readonly [name: string, source: string])[] {
  if (isBare(spec)) return [];
  const stated = statedValue(spec.events.delivery)?.envelope;
  return stated ? Object.entries(stated).map(([name, { source }]) => [name, source.trim()]) : usual;
}

/** The envelope of a document that states none. */
const usual = [
  ['id', 'event.id'],
  ['type', 'event.kind'],
  ['timestamp', 'event.at'],
  ['data', 'event.payload'],
] as const;

/** What is known of an expression's value without evaluating it. */
function memberSchema(source: string, kind: EventKind, payload: JsonMap): JsonMap {
  if (source === 'event.id') return { type: 'string', description: 'One over all tries.' };
  if (source === 'event.kind') return { type: 'string', const: kind.name };
  if (source === 'event.at') return { type: 'string', format: timeFormat };
  if (source === 'event.payload') return payload;
  const literal = /^'([^'\\]*)'$|^"([^"\\]*)"$/.exec(source);
  if (literal) return { type: 'string', const: literal[1] ?? literal[2] ?? '' };
  if (/^-?\d+$/.test(source)) return { type: 'integer', const: Number(source) };
  return source === 'true' || source === 'false' ? { type: 'boolean', const: source === 'true' } : {};
}
