import type { Json } from '../../document/document.ts';
import { envelopedFlaw, readEnveloped, type Told } from '../../kinds/envelopes/reading.ts';
import { type Delivery, envelopeOf } from '../../parts/events.ts';
import { entriesOf, statedValue } from '../../parts/fact.ts';
import type { Spec } from '../../parts/spec.ts';
import type { ReceivedDelivery } from './receiver.ts';

export function deliveryOf(spec: Spec): Delivery | undefined {
  return statedValue(spec.events.delivery);
}

/** What came, as far as it is read here. */
type Come = Pick<ReceivedDelivery, 'body' | 'headers'>;

/** Reads an event by the document's own envelope, and by what stands beside it. */
export function toldIn(spec: Spec, come: Come): Told {
  const told = readEnveloped(envelopeOf(spec.events).members, come.body);
  return told.kind === undefined ? { ...told, kind: kindBeside(spec, come) } : told;
}

/** The kind of an event whose envelope does not say it: a stated header has it, a line of the stream, or there is only one. */
function kindBeside(spec: Spec, { headers }: Come): string | undefined {
  const kinds = entriesOf(spec.events.kinds).map(([name]) => name);
  const stated = Object.entries(deliveryOf(spec)?.push?.headers ?? {});
  const [name] = stated.find(([, { source }]) => source.trim() === 'event.kind') ?? [];
  const said = (name === undefined ? undefined : headers[name.toLowerCase()]) ?? headers.event;
  const members = envelopeOf(spec.events).members;
  const isSaid = members !== undefined && Object.values(members).includes('event.kind');
  return said ?? (kinds.length === 1 && !isSaid ? kinds[0] : undefined);
}

/** Whether the envelope shows the payload as it is. */
export function showsPayload(spec: Spec): boolean {
  const { members } = envelopeOf(spec.events);
  return members === undefined || Object.values(members).includes('event.payload');
}

/** Whether the envelope has the kind in it. */
export function showsKind(spec: Spec): boolean {
  const { members } = envelopeOf(spec.events);
  return members !== undefined && Object.values(members).includes('event.kind');
}

/** Whether the body of an event has its payload as it is, and not only what an expression reads of it. */
export function tellsPayload(spec: Spec): boolean {
  const { members } = envelopeOf(spec.events);
  return members === undefined || Object.values(members).includes('event.payload');
}

/** What is wrong with an envelope; nothing where every member is there and of its sort. */
export function envelopeFlaw(spec: Spec, body: Json | undefined): string | undefined {
  return envelopedFlaw(envelopeOf(spec.events).members, body);
}
