import type { EventKind } from '../events.ts';
import { isStated } from '../fact.ts';
import type { Spec } from '../spec.ts';
import { type FactInstance, type FactKind, instance } from './kind.ts';

const noEvents = 'Nothing: no events are sent.';

/** Kinds of event and the delivery mechanism once each; payload shapes and emitting operations per kind. */
export const eventFacts: readonly FactKind[] = [
  {
    part: 'events',
    kind: 'kinds of event',
    arises: ({ events }) => [instance('service', events.kinds), ...(events.others ? [instance('others', events.others)] : [])],
    whenOpen: noEvents,
  },
  {
    part: 'events',
    kind: 'delivery mechanism',
    arises: ({ events }) => [instance('service', events.delivery)],
    whenOpen: noEvents,
  },
  {
    part: 'events',
    kind: 'payload shapes',
    arises: (spec) => perKind(spec, (kind) => instance(kind.name, kind.payload)),
    whenOpen: noEvents,
  },
  {
    part: 'events',
    kind: 'emitting operations',
    arises: (spec) => perKind(spec, (kind) => instance(kind.name, kind.on)),
    whenOpen: noEvents,
  },
];

function perKind(spec: Spec, arise: (kind: EventKind) => FactInstance): FactInstance[] {
  const { kinds } = spec.events;
  if (isStated(kinds)) return Object.values(kinds.value).map(arise);
  return kinds.standing === 'none' ? [] : [instance('service', kinds)];
}
