import type { EventKind } from './events.ts';
import { entriesOf, entryOf } from './fact.ts';
import type { Spec } from './spec.ts';

/** What whoever listens may ask for to hear of one kind alone: its name, with its action where it has one. */
export function askedFor({ called, action }: EventKind): string {
  return action === undefined ? called : `${called}.${action}`;
}

/** Whether a word of a subscriber's list means a kind: its name, with its action or for every action, all of a family, or `*`. */
export function meansKind(word: string, kind: EventKind): boolean {
  if (word === '*' || word === kind.called) return true;
  const whole = askedFor(kind);
  return word === whole || (word.endsWith('.*') && whole.startsWith(word.slice(0, -1)));
}

/** How a kind is told: by its name and its action, where the document states one. What is stored may be of a kind that is gone. */
export function toldAs(spec: Spec, name: string): { readonly kind: string; readonly action?: string } {
  const kind = entryOf(spec.events.kinds, name);
  return { kind: kind?.called ?? name, ...(kind?.action !== undefined && { action: kind.action }) };
}

/** Whether kinds are told by more than a name of their own. */
export function hasActions({ events }: Spec): boolean {
  return entriesOf(events.kinds).some(([, { action }]) => action !== undefined);
}

/** What expressions of an event that the clock tells are known by. */
export function clockOperation(kind: string): string {
  return `tell ${kind}`;
}
