import { brokerKind } from '../../kinds/deliveries/all-brokers.ts';
import { statedValue } from '../../parts/fact.ts';
import type { StoredEvent } from '../../store/outbox.ts';
import type { Post } from './posts.ts';
import type { EventsSetting } from './setting.ts';

/** Who the broker is among those that events are sent to: no row has such an identifier with a blank at its end. */
export const brokerSubscriber = 'broker ';

/** How an event is told and written with all that anybody is shown. */
interface Writing {
  told(kind: string): { readonly kind: string };
  whole(event: StoredEvent): string | { readonly wrong: string };
}

/** Compiles what the broker that a document states is given of an event. */
export function compilePublishing(
  { compilation }: EventsSetting,
  wrapping: Writing,
): (event: StoredEvent, address: string) => Post | { readonly wrong: string } {
  const stated = statedValue(compilation.spec.events.delivery)?.broker;
  const kind = brokerKind(stated?.word);
  if (!stated || !kind) return () => ({ wrong: 'The document states no broker.' });
  return (event, address) => {
    const enveloped = wrapping.whole(event);
    if (typeof enveloped !== 'string') return enveloped;
    const { id, resource, row, payload } = event;
    const { subject, headers, body } = kind.message(stated, {
      id,
      kind: wrapping.told(event.kind).kind,
      at: new Date(event.atMs).toISOString(),
      row: resource === null || row === null ? undefined : `${resource}/${row}`,
      payload,
      enveloped,
    });
    return { method: 'POST', url: address, headers, body, isPrivate: true, broker: { subject } };
  };
}
