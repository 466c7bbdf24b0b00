import type { EventKind } from './events.ts';
import { entriesOf, statedValue } from './fact.ts';
import { namesOperation, type Operation } from './operations.ts';
import type { Spec } from './spec.ts';

/** The resources that events are about; nothing among them where some may be about no row. */
export function loggedResources(spec: Spec, operations: readonly Operation[]): ReadonlySet<string | undefined> {
  return new Set(entriesOf(spec.events.kinds).flatMap(([, kind]) => aboutOf(kind, operations)));
}

function aboutOf(kind: EventKind, operations: readonly Operation[]): readonly (string | undefined)[] {
  if (kind.clock) return [kind.clock.of];
  const emitters = operations.filter((operation) => namesOperation(statedValue(kind.on) ?? [], operation, 'event'));
  const about = emitters.map(({ resource }) => resource);
  if (about.length > 0 && !about.includes(undefined)) return about;
  // What a handler emits is about the row that its payload is, where that is stored.
  const { resource } = statedValue(kind.payload) ?? {};
  return [...about, undefined, ...(typeof resource === 'string' ? [resource] : [])];
}
