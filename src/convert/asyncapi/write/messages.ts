import type { Json, JsonMap } from '../../../document/document.ts';
import { below } from '../../../document/pointer.ts';
import { isMap, newMap, type OpenMap } from '../../../document/values.ts';
import { pushKind } from '../../../kinds/deliveries/all.ts';
import { readTemplate } from '../../../kinds/generators/template.ts';
import { signatureKind } from '../../../kinds/signatures/all.ts';
import type { EventKind, Push } from '../../../parts/events.ts';
import { entriesOf, entryOf, isStated, statedValue } from '../../../parts/fact.ts';
import { isAlwaysShown } from '../../../parts/payload.ts';
import { chanceOf, nothing } from '../../../parts/samples/sampler.ts';
import { Samples } from '../../../parts/samples/samples.ts';
import { conjunctionOf, fitsAll, hasMeaning, mapInner } from '../../../parts/shapes/branches.ts';
import type { Spec } from '../../../parts/spec.ts';
import {
  envelopeExample,
  envelopeSchema,
  isBare,
  payloadSchema,
  statedEnvelopeMembers,
} from '../../json-schema/write/payload-schemas.ts';
import type { SchemaWriter } from '../../json-schema/write/schema-writer.ts';
import { DefinitionNames } from '../../json-schema/write/shape-schema.ts';
import { type ProseAt, unsettledLine } from '../../spec/words.ts';

/** One kind of event as AsyncAPI speaks of it. */
export interface Message {
  /** The key that it has everywhere: its kind, made of the letters that a key may have. */
  readonly key: string;
  /** The kind of event. */
  readonly name: string;
  /** The message without headers. */
  readonly bare: JsonMap;
  /** The schema of what it carries, without its envelope. */
  readonly carried: JsonMap;
}

const exampleTimes = { id: 'evt_01KDWQ5G00WZ3P8J1N4R7T2V6X', at: '2026-01-01T00:00:00.000Z' };

/** The messages that a service sends: every kind of event, in its envelope. */
export function writeMessages(spec: Spec, writer: SchemaWriter, prose: ProseAt): Message[] {
  const names = new DefinitionNames();
  const exampleOf = payloadExamples(spec);
  const members = statedEnvelopeMembers(spec);
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
      name,
      carried: toDraft07(carried ?? open),
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
export function posted({ bare }: Message, push: Push): JsonMap {
  const headers = headersOf(push);
  const { correlationId: _id, ...rest } = bare;
  const idHeader = push.signature && signatureKind(push.signature)?.idHeader;
  const { mediaType, read } = pushKind(push.word);
  return {
    ...rest,
    ...(read && { contentType: mediaType }),
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
function headersOf({ signature, headers }: Push): JsonMap | undefined {
  const properties: OpenMap = newMap();
  for (const { name, pattern, description } of (signature && signatureKind(signature)?.headers(signature.facts)) ?? [])
    properties[name] = { type: 'string', ...(pattern !== undefined && { pattern }), description };
  const required = Object.keys(properties);
  for (const name of Object.keys(headers)) properties[name] = { type: 'string' };
  return Object.keys(properties).length === 0
    ? undefined
    : { type: 'object', properties, ...(required.length > 0 && { required }) };
}

/** Makes an example of what a kind of event carries: the same for the same document; nothing where none can be made. */
function payloadExamples(spec: Spec): (kind: EventKind) => Json | undefined {
  const samples = new Samples(spec);
  const identifierOf = (resource: string, path: string): Json | undefined =>
    identifierLike(spec, resource, path) ?? samples.identifiers(resource)(chanceOf(`${resource}\n${path}`), 1);
  return (kind) => {
    const shape = statedValue(kind.payload);
    if (!shape) return undefined;
    const made = samples.of(shape).make({ seed: kind.name, identifierOf, sampled: () => {} }, '');
    // What samples make is JSON, or nothing.
    return made === nothing ? undefined : shown(made as Json, shape, spec, kind.name);
  };
}

/** An identifier as its resource says that they are made. */
function identifierLike(spec: Spec, name: string, seed: string): string | undefined {
  const resource = entryOf(spec.resources.all, name);
  const generate = resource && statedValue(resource.identifier)?.generate;
  const read = generate === undefined || generate === 'integer' || generate === 'client' ? undefined : readTemplate(generate);
  return read && 'template' in read ? read.template.make(chanceOf(`${name}\n${seed}`)) : undefined;
}

/** A value as whoever listens sees it: without the fields that not everybody is shown. In a union nobody knows which they are. */
function shown(value: Json, shape: JsonMap, spec: Spec, seed: string): Json | undefined {
  if (Array.isArray(value)) {
    const list = (value as readonly Json[]).map((item) => (isMap(shape.items) ? shown(item, shape.items, spec, seed) : item));
    return list.includes(undefined) ? undefined : (list as Json[]);
  }
  if (!isMap(value)) return value;
  if (hasMeaning(shape, 'exclusive alternatives', 'alternatives', 'conjunction', 'reference')) return undefined;
  const resource = typeof shape.resource === 'string' ? entryOf(spec.resources.all, shape.resource) : undefined;
  const out: OpenMap = newMap();
  for (const [name, inner] of Object.entries(value)) {
    const field = resource && entryOf(resource.fields, name);
    if (field && !isAlwaysShown(spec, field)) continue;
    const own =
      resource && statedValue(resource.identifier)?.field === name ? identifierLike(spec, resource.name, seed) : undefined;
    const stated = field ? statedValue(field.shape) : isMap(shape.properties) ? shape.properties[name] : undefined;
    const one = own ?? (isMap(stated) ? shown(inner, stated, spec, seed) : inner);
    if (one === undefined) return undefined;
    out[name] = one;
  }
  return out;
}

/**
 * A schema of 2020-12 in the words of draft 07, which AsyncAPI's own schemas extend: a reference has no siblings there, a tuple
 * stands under `items`, and what one property asks of others under `dependencies`.
 */
export function toDraft07(schema: JsonMap): JsonMap {
  const { $ref, prefixItems, items, dependentRequired, dependentSchemas, ...rest } = schema;
  const out: OpenMap = newMap();
  for (const [key, value] of Object.entries(rest)) out[key] = mapInner(key, value, one);
  if (Array.isArray(prefixItems)) {
    out.items = prefixItems.map(one);
    if (items !== undefined) out.additionalItems = one(items);
  } else if (items !== undefined) out.items = one(items);
  const dependencies = {
    ...mapOf(dependentRequired),
    ...mapOf(mapInner<Json>('dependentSchemas', mapOf(dependentSchemas), one)),
  };
  if (Object.keys(dependencies).length > 0) out.dependencies = dependencies;
  if (typeof $ref !== 'string') return out;
  if (Object.keys(out).length === 0) return { $ref };
  return { ...out, ...fitsAll<Json>([{ $ref }, ...conjunctionOf(out)]) };
}

function one(value: Json): Json {
  return isMap(value) ? toDraft07(value) : value;
}

function mapOf(value: Json | undefined): JsonMap {
  return isMap(value) ? value : newMap();
}
