import type { Erasure } from '../maintenance.ts';
import type { Attempt, DeliveryOutcome, NewDelivery, NewEvent } from '../outbox.ts';
import type { Mark } from '../sharing.ts';
import type { StoredCredential, Timer } from '../store.ts';

/** What is done by its own statement, and what of it. */
export interface OpWork {
  readonly clear: undefined;
  readonly erase: Erasure;
  readonly setTimer: Timer;
  readonly timerFired: Timer;
  readonly clearTimer: Pick<Timer, 'resource' | 'id' | 'name'>;
  readonly clearTimers: Pick<Timer, 'resource' | 'id'>;
  readonly forgetTimers: Pick<Timer, 'resource' | 'id'>;
  readonly putCredential: StoredCredential;
  readonly removeCredential: Pick<StoredCredential, 'name' | 'serial'>;
  readonly addEvent: NewEvent & { readonly seq: number };
  readonly addDelivery: NewDelivery & { readonly seq: number };
  readonly attempted: Attempt & { readonly delivery: number };
  readonly postpone: { readonly delivery: number; readonly dueMs: number };
  readonly settle: { readonly delivery: number; readonly outcome: DeliveryOutcome; readonly nowMs: number };
  readonly again: { readonly delivery: number; readonly nowMs: number };
  readonly keepSubscriber: { readonly id: string; readonly state: string };
  readonly forgetSubscriber: { readonly id: string };
  readonly prune: { readonly deliveries: readonly number[]; readonly events: readonly number[] };
}

export type OpKind = keyof OpWork;

/** One thing that a body did. */
export type Op = {
  [K in OpKind]: {
    readonly kind: K;
    /** What others may not be done before or after, that touch the same; `*` = all others. */
    readonly touches: string;
    /** Two of one kind with the same one are not done by one statement. */
    readonly exact: string;
  } & (OpWork[K] extends undefined ? object : { readonly of: OpWork[K] });
}[OpKind];

/** What is done by one statement. */
export interface OpGroup {
  readonly kind: OpKind;
  readonly ops: Op[];
  readonly touches: Set<string>;
  readonly exacts: Set<string>;
}

/** Puts together what one statement can do, without changing the order of what touches the same. */
export function groupsOf(ops: readonly Op[]): OpGroup[] {
  const groups: OpGroup[] = [];
  for (const op of ops) {
    let place: OpGroup | undefined;
    for (let index = groups.length - 1; index >= 0; index--) {
      const group = groups[index]!;
      const isSameKind = group.kind === op.kind;
      if (isSameKind && !group.exacts.has(op.exact)) place = group;
      if (group.touches.has(op.touches) || group.touches.has('*') || op.touches === '*') break;
    }
    if (!place) {
      place = { kind: op.kind, ops: [], touches: new Set(), exacts: new Set() };
      groups.push(place);
    }
    place.ops.push(op);
    place.touches.add(op.touches);
    place.exacts.add(op.exact);
  }
  return groups;
}

/** The columns of a store's row that say by which change something beside rows was last changed. */
export const markNames = ['events', 'credentials', 'subscribers', 'timers'] as const satisfies readonly Mark[];

/** Which of them says so, by what changes it. */
export const marks: Partial<Record<OpKind, Mark>> = {
  addEvent: 'events',
  addDelivery: 'events',
  settle: 'events',
  again: 'events',
  clear: 'events',
  putCredential: 'credentials',
  removeCredential: 'credentials',
  keepSubscriber: 'subscribers',
  forgetSubscriber: 'subscribers',
  setTimer: 'timers',
  clearTimer: 'timers',
  clearTimers: 'timers',
  timerFired: 'timers',
};
