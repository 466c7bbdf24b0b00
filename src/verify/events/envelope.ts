import type { Json } from '../../document/document.ts';
import { envelopeFlaw as flawOf, readEnveloped, type Told } from '../../kinds/envelopes/reading.ts';
import { type Delivery, envelopeOf } from '../../parts/events.ts';
import { statedValue } from '../../parts/fact.ts';
import type { Spec } from '../../parts/spec.ts';

export function deliveryOf(spec: Spec): Delivery | undefined {
  return statedValue(spec.events.delivery);
}

/** Reads an event by the document's own envelope. */
export function toldIn(spec: Spec, body: Json | undefined): Told {
  return readEnveloped(envelopeOf(spec.events).members, body);
}

/** What is wrong with an envelope; nothing where every member is there and of its sort. */
export function envelopeFlaw(spec: Spec, body: Json | undefined): string | undefined {
  return flawOf(envelopeOf(spec.events).members, body);
}
