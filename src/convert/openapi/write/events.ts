import type { JsonMap } from '../../../document/document.ts';
import { newMap } from '../../../document/values.ts';
import { pullKind, pushKind } from '../../../kinds/deliveries/all.ts';
import { signatureKind } from '../../../kinds/signatures/all.ts';
import { streamKind } from '../../../kinds/streams/all.ts';
import type { EventKind, Pull, Push } from '../../../parts/events.ts';
import { entriesOf, isStated, statedValue } from '../../../parts/fact.ts';
import type { Operation } from '../../../parts/operations.ts';
import { fitsOne } from '../../../parts/shapes/branches.ts';
import { isPlainMap } from '../../../parts/source.ts';
import { envelopeExample, envelopeSchema } from '../../json-schema/write/payload-schemas.ts';
import { componentName, operationIdOf, titleOf } from '../../spec/words.ts';
import { followsKey, payloadKey, prefix } from '../own/stated-schema.ts';
import { statedSchema } from './stated-schema.ts';
import { type ExportWriting, present, statedAt } from './writing.ts';

/** What the service sends to those who subscribed: an entry a kind, where events are sent to addresses. */
export function webhooksOf(writing: ExportWriting): JsonMap | undefined {
  const push = statedValue(writing.spec.events.delivery)?.push;
  const kinds = entriesOf(writing.spec.events.kinds);
  if (!push || kinds.length === 0) return undefined;
  const out = newMap();
  for (const [name, kind] of kinds) out[name] = sentOperation(kind, push, writing, true);
  return out;
}

/** The same events beside the operation that subscribes to them: they come to the address that its body names. */
export function callbacksOf(operation: Operation, writing: ExportWriting): JsonMap | undefined {
  const push = statedValue(writing.spec.events.delivery)?.push;
  const subscribers = push?.subscribers;
  const effect = operation.endpoint && statedValue(operation.endpoint.does);
  if (!push || subscribers?.url === undefined || effect?.verb !== 'create' || effect.resource !== subscribers.resource)
    return undefined;
  const out = newMap();
  for (const [name, kind] of entriesOf(writing.spec.events.kinds))
    out[name] = { [`{$request.body#/${subscribers.url.replaceAll('.', '/')}}`]: sentOperation(kind, push, writing, false) };
  return Object.keys(out).length > 0 ? out : undefined;
}

/** What is sent, under the method that it is sent by. */
function sentOperation(kind: EventKind, push: Push, writing: ExportWriting, isOwn: boolean): JsonMap {
  const { tree } = writing.spec.document;
  const stated = statedAt(tree, 'events', 'kinds', kind.name);
  const carried = newMap();
  if (isOwn && isPlainMap(stated))
    for (const [word, value] of Object.entries(stated))
      if (word !== 'payload' || !isStated(kind.payload)) carried[prefix + word] = value;
  if (isOwn && !isPlainMap(stated) && stated !== undefined) carried[`${prefix}stated`] = stated;
  const description = writing.prose(kind.at).join('\n\n');
  const { method, mediaType, read } = pushKind(push.word);
  const event = eventBody(kind, writing);
  const body = read ? inForm(event) : event;
  const sent = present({
    operationId: isOwn ? operationIdOf(`on ${kind.name}`) : undefined,
    summary: titleOf(kind.name.replaceAll('.', ' ')),
    description: description === '' ? undefined : description,
    tags: ['Events'],
    parameters: signatureHeaders(push),
    requestBody: { required: true, content: { [mediaType]: body } },
    responses: {
      '2XX': { description: 'It is accepted.' },
      default: { description: 'It is tried again later.' },
    },
    security: [],
    ...carried,
    [followsKey]: isOwn ? undefined : true,
  });
  return { [method.toLowerCase()]: sent };
}

/** Of a form one member is the event, as JSON (OpenAPI 3.1, Encoding Object). */
function inForm({ schema = {} }: JsonMap): JsonMap {
  return {
    schema: { type: 'object', properties: { payload: schema }, required: ['payload'] },
    encoding: { payload: { contentType: 'application/json' } },
  };
}

function eventBody(kind: EventKind, writing: ExportWriting): JsonMap {
  const schema = writing.schemas.defineOnce(`${kind.name} event`, eventSchema(kind, writing));
  const shape = statedValue(kind.payload);
  const payload = shape ? writing.examples.ofShape(shape, 'answer', 'payload') : undefined;
  return present({
    schema,
    example: payload === undefined ? undefined : envelopeExample(writing.spec, kind, payload, exampleTimes),
  });
}

const exampleTimes = { id: 'evt_01JZ8Q4N6W3H9T5V7X2B1C0D4E', at: '2026-01-01T09:00:00.000Z' };

/** An event in its envelope. */
function eventSchema(kind: EventKind, writing: ExportWriting): JsonMap {
  const stated = statedAt(writing.spec.document.tree, 'events', 'kinds', kind.name, 'payload');
  const isWritten = stated !== undefined && isStated(kind.payload);
  const payload = isWritten ? { ...statedSchema(stated, writing, 'answer'), [payloadKey]: kind.name } : {};
  return envelopeSchema(writing.spec, kind, payload);
}

/** The header fields that show where an event comes from, and those that the document adds. */
function signatureHeaders({ signature, headers }: Push): JsonMap[] {
  const header = (name: string, description: string): JsonMap => ({
    name,
    in: 'header',
    required: true,
    description,
    schema: { type: 'string' },
  });
  const carried = (signature && signatureKind(signature)?.headers(signature.facts)) ?? [];
  const signed = carried.map(({ name, description }) => header(name, description));
  return [...signed, ...Object.keys(headers).map((name) => header(name, 'Stated for every delivery.'))];
}

/** The operation by which a caller listens to the stream of events. */
export function pullOperation(pull: Pull, writing: ExportWriting): JsonMap {
  const schemas = entriesOf(writing.spec.events.kinds).map(([, kind]) =>
    writing.schemas.defineOnce(`${kind.name} event`, eventSchema(kind, writing)),
  );
  const data: JsonMap = schemas.length === 1 ? (schemas[0] ?? {}) : fitsOne(schemas);
  const item: JsonMap = {
    type: 'object',
    properties: {
      id: { type: 'string' },
      event: { type: 'string', enum: [...new Set(entriesOf(writing.spec.events.kinds).map(([, { called }]) => called))] },
      data: { type: 'string', contentMediaType: 'application/json', contentSchema: data },
    },
    required: ['id', 'event', 'data'],
  };
  const format = streamKind(pull.format);
  const named = writing.schemas.defineOnce(componentName('server sent event'), { ...item, [followsKey]: true });
  const body =
    writing.edition === '3.2'
      ? { itemSchema: named }
      : { schema: { type: 'string', description: format?.meaning ?? 'Events one after another.', [`${prefix}item`]: named } };
  const { channel, operation } = pullKind(pull.word);
  const media = format?.mediaType ?? 'application/octet-stream';
  return {
    operationId: channel.operation,
    summary: titleOf(operation),
    description: `${channel.description.replace(/\.$/, '')}, over one connection that stays open${pull.keepMs === undefined ? '' : '; what was missed is sent first'}.`,
    tags: ['Events'],
    parameters: [
      {
        name: format?.resumeHeader ?? 'Last-Event-ID',
        in: 'header',
        description: 'The last event that was heard: what came after it is sent first.',
        schema: { type: 'string' },
      },
    ],
    responses: { '200': { description: 'The stream.', content: { [media]: body } } },
  };
}
