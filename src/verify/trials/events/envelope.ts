import type { Json } from '../../../document/document.ts';
import { isMap, isSame } from '../../../document/values.ts';
import { envelopedFlaw, readEnveloped, type Told } from '../../../kinds/envelopes/reading.ts';
import { toldAs } from '../../../parts/event-telling.ts';
import { type Delivery, type EventKind, eventEnvelopeOf } from '../../../parts/events.ts';
import { entriesOf, statedValue } from '../../../parts/fact.ts';
import type { Spec } from '../../../parts/spec.ts';
import { asText } from '../../exchange/as-text.ts';
import type { TrialCaller } from '../../exchange/callers.ts';
import type { Flaw } from '../../exchange/claim.ts';
import { isNeverShown } from '../../model/fields.ts';
import type { Model } from '../../model/model.ts';
import { oneLine } from '../../values/difference.ts';
import { isPlainField, knownOf, type ObservedChange } from './expected.ts';
import type { ReceivedDelivery } from './receiver.ts';

export function deliveryOf(spec: Spec): Delivery | undefined {
  return statedValue(spec.events.delivery);
}

/** What came, as far as it is read here. */
type Come = Pick<ReceivedDelivery, 'body' | 'headers'>;

/** Reads an event by the document's own envelope, and by what stands beside it. */
export function toldIn(spec: Spec, come: Come): Told {
  const told = readEnveloped(eventEnvelopeOf(spec.events).members, come.body);
  const called = told.kind ?? calledBeside(spec, come);
  return { ...told, kind: called === undefined ? onlyKind(spec) : keyOf(spec, called, come, told.payload) };
}

/** How it is told that an event is of a kind: what `event` has in expressions. */
export function toldOf(spec: Spec, { kind }: Told): { readonly kind: string; readonly action?: string } {
  return kind === undefined ? { kind: '' } : toldAs(spec, kind);
}

/** The key of the kind that is called so, told from others of that name by its action; nothing where that is not said. */
function keyOf(spec: Spec, called: string, come: Come, payload: Json | undefined): string | undefined {
  const kinds = entriesOf(spec.events.kinds).map(([, kind]) => kind);
  const like = kinds.filter((kind) => kind.called === called);
  if (like.length === 1) return like[0]?.name;
  const said = [
    actionIn(spec, come),
    saidBeside(spec, come, 'event.action'),
    ...like.map((kind) => actionOfPayload(kind, payload)),
  ];
  const action = said.find((one) => one !== undefined);
  if (like.length > 0 && action === undefined) return undefined;
  const told = like.find((kind) => kind.action === action);
  // What is called as no kind is must not be taken for one by its key.
  const stranger = like.length > 0 ? `${called}.${action}` : called;
  return told?.name ?? (kinds.some(({ name }) => name === stranger) ? `"${stranger}"` : stranger);
}

function actionIn(spec: Spec, { body }: Come): string | undefined {
  const [name] = Object.entries(eventEnvelopeOf(spec.events).members ?? {}).find(([, source]) => source === 'event.action') ?? [];
  const value = name !== undefined && body !== undefined && isMap(body) ? body[name] : undefined;
  return typeof value === 'string' ? value : undefined;
}

/** The action that a payload says, where the kind has it say so. */
function actionOfPayload({ data }: EventKind, payload: Json | undefined): string | undefined {
  if (!data || 'source' in data || payload === undefined || !isMap(payload)) return undefined;
  const [name] = Object.entries(data).find(([, { source }]) => asText(source).trim() === 'event.action') ?? [];
  const value = name === undefined ? undefined : payload[name];
  return typeof value === 'string' ? value : undefined;
}

/** What a stated header of a delivery says by an expression. */
function saidBeside(spec: Spec, { headers }: Come, source: string): string | undefined {
  const stated = Object.entries(deliveryOf(spec)?.push?.headers ?? {});
  const [name] = stated.find(([, header]) => header.source.trim() === source) ?? [];
  return name === undefined ? undefined : headers[name.toLowerCase()];
}

/** What an event is called whose envelope does not say it: a stated header has it, or a line of the stream. */
function calledBeside(spec: Spec, come: Come): string | undefined {
  return saidBeside(spec, come, 'event.kind') ?? come.headers.event;
}

/** The kind of what does not say its own: the only one. */
function onlyKind(spec: Spec): string | undefined {
  const kinds = entriesOf(spec.events.kinds).map(([name]) => name);
  return kinds.length === 1 && !showsKind(spec) ? kinds[0] : undefined;
}

/** Whether the envelope shows the payload as it is. */
export function showsPayload(spec: Spec): boolean {
  const { members } = eventEnvelopeOf(spec.events);
  return members === undefined || Object.values(members).includes('event.payload');
}

/** Whether the envelope has the kind in it. */
export function showsKind(spec: Spec): boolean {
  const { members } = eventEnvelopeOf(spec.events);
  return members !== undefined && Object.values(members).includes('event.kind');
}

/** Whether the body of an event has its payload as it is, and not only what an expression reads of it. */
function tellsPayload(spec: Spec): boolean {
  const { members } = eventEnvelopeOf(spec.events);
  return members === undefined || Object.values(members).includes('event.payload');
}

/** What is wrong with an envelope; nothing where every member is there and of its sort. */
export function envelopeFlaw(spec: Spec, body: Json | undefined): string | undefined {
  return envelopedFlaw(eventEnvelopeOf(spec.events).members, body);
}

/** What is wrong with the payload of an event about a change, as a subscriber's maker is told of it. */
export function payloadFlaw(
  model: Model,
  kind: EventKind,
  payload: Json | undefined,
  change: ObservedChange,
  maker: TrialCaller | undefined,
  item?: Json,
): Flaw | undefined {
  const shape = statedValue(kind.payload);
  if (!shape || !tellsPayload(model.spec)) return undefined;
  if (payload === undefined) return { promised: `an event ${kind.name} has a payload`, seen: 'there is none' };
  const [misfit] = model.schemas.of(shape, 'shown')(payload);
  const seen = oneLine(payload);
  if (misfit) return { promised: `the payload of ${kind.name}: ${[...misfit.path].join('.')} ${misfit.message}`, seen };
  const resource = typeof shape.resource === 'string' ? shape.resource : undefined;
  const hidden = resource === undefined ? undefined : hiddenIn(model, resource, payload, maker);
  if (hidden !== undefined) return { promised: `${hidden} is not shown to ${maker?.user ?? 'the subscriber'}`, seen };
  if (kind.data) return dataFlaw(model, kind, payload, change, item);
  if (shape.ref !== undefined && shape.ref === change.operation.resource) return referenceFlaw(model, shape.ref, payload, change);
  return resource === undefined || resource !== change.operation.resource
    ? undefined
    : rowFlaw(model, resource, payload, change, maker);
}

/** A payload by reference is the identifier of the row. */
function referenceFlaw(model: Model, resource: Json, payload: Json, { before, after }: ObservedChange): Flaw | undefined {
  const id = (after ?? before)?.[model.identifierField(asText(resource))];
  if (id === undefined || isSame(id, payload)) return undefined;
  return { promised: `the identifier of the row: ${oneLine(id)}`, seen: oneLine(payload) };
}

function hiddenIn(model: Model, resource: string, payload: Json, maker: TrialCaller | undefined): string | undefined {
  const stated = model.resource(resource);
  if (!stated || !isMap(payload)) return undefined;
  return entriesOf(stated.fields).find(
    ([name, field]) => Object.hasOwn(payload, name) && isNeverShown(model.spec, field, maker),
  )?.[0];
}

/** A payload that is the resource itself shows the row as it is, or as it was before its deletion. */
function rowFlaw(
  model: Model,
  resource: string,
  payload: Json,
  change: ObservedChange,
  maker: TrialCaller | undefined,
): Flaw | undefined {
  const effect = change.operation.endpoint && statedValue(change.operation.endpoint.does);
  const row = change.after ?? (effect?.verb === 'delete' ? change.before : undefined);
  const stated = model.resource(resource);
  if (!row || !stated || !isMap(payload)) return undefined;
  // What a rule leaves out for whoever subscribed may be there, or not.
  const unseen = new Set([...change.unseen, ...model.unseenBy(resource, maker)]);
  for (const [name, field] of entriesOf(stated.fields)) {
    // Children are in answers alone.
    if (field.children || unseen.has(name) || !isPlainField(model, resource, name)) continue;
    if (!isSame(row[name], payload[name]))
      return { promised: `${name} as it is in the row: ${oneLine(row[name])}`, seen: oneLine(payload[name]) };
  }
  return undefined;
}

/** What `data` reckons, as far as it can be reckoned here. */
function dataFlaw(model: Model, kind: EventKind, payload: Json, change: ObservedChange, item?: Json): Flaw | undefined {
  const { data } = kind;
  if (!data || 'source' in data || !isMap(payload)) return undefined;
  for (const [name, expression] of Object.entries(data)) {
    // What refers to a whole row is held to its shape alone.
    if (['next', 'resource'].includes(expression.source.trim())) continue;
    const evaluated = model.expressions.evaluate(expression, change.operation.name, knownOf(model, kind, change, item));
    // Null counts as absent, in a payload too.
    if (typeof evaluated === 'string' || isSame(evaluated.value ?? null, payload[name] ?? null)) continue;
    return { promised: `${name} is \`${expression.source}\`: ${oneLine(evaluated.value)}`, seen: oneLine(payload[name]) };
  }
  return undefined;
}
