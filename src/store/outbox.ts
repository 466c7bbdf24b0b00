/** What a store keeps of events: each with the change that emitted it, its deliveries, and every attempt at them. */

/** An event as it is recorded. */
export interface NewEvent {
  readonly id: string;
  readonly kind: string;
  readonly atMs: number;
  /** The operation that emitted it. */
  readonly operation: string;
  /** The row that it is about; null where it is about none. */
  readonly resource: string | null;
  readonly row: string | null;
  /** JSON text. */
  readonly payload: string;
  /** JSON text of what decides who receives it, where that is not the payload. */
  readonly image: string | null;
  /** Which trace it came of (`traceparent`), where that was followed. */
  readonly trace?: string;
}

export interface StoredEvent extends NewEvent {
  /** The order in which events were recorded; never reused. */
  readonly seq: number;
}

/** Events after one number, up to another and including it, that were recorded before a time. */
export interface EventStretch {
  readonly beforeMs: number;
  readonly afterSeq: number;
  readonly throughSeq: number;
}

/** One event for one subscriber. */
export interface NewDelivery {
  readonly event: number;
  readonly subscriber: string;
  /** Deliveries of one lane go one after another, in the order in which they were added; null = in no order. */
  readonly lane: string | null;
  readonly dueMs: number;
}

export type DeliveryOutcome = 'accepted' | 'given up';

export interface StoredDelivery {
  readonly seq: number;
  readonly event: number;
  readonly subscriber: string;
  /** How often it was tried since it was added, or was asked for again. */
  readonly tries: number;
  /** Null while an earlier one of its lane is not settled, and once it is settled itself. */
  readonly dueMs: number | null;
  readonly settledMs: number | null;
  readonly outcome: DeliveryOutcome | null;
}

/** One try, and what came of it. */
export interface Attempt {
  readonly atMs: number;
  readonly tookMs: number;
  readonly status: number | null;
  readonly error: string | null;
  /** The beginning of what was answered. */
  readonly response: string | null;
}

/** Where one stands among those that are due. */
export interface DuePlace {
  readonly dueMs: number;
  readonly seq: number;
}

export interface DeliveryQuery {
  readonly beforeSeq?: number;
  readonly event?: number;
  readonly outcome?: DeliveryOutcome;
}

export interface OutboxReader {
  event(seq: number): StoredEvent | undefined;
  eventNamed(id: string): StoredEvent | undefined;
  /** Events in the order in which they were recorded. */
  events(afterSeq: number, most: number): StoredEvent[];
  /** The last event's number; 0 where there is none. */
  lastEvent(): number;
  /** What is due for a subscriber, earliest first; `after` goes on behind the last one that was read. */
  due(subscriber: string, nowMs: number, most: number, after?: DuePlace): StoredDelivery[];
  /** The next subscriber in the order of their names for which something waits, and when the first of it is due. */
  awaited(afterSubscriber: string): { readonly subscriber: string; readonly dueMs: number } | undefined;
  /** When the first of what waits for a subscriber is due. */
  dueFirst(subscriber: string): number | undefined;
  delivery(seq: number): StoredDelivery | undefined;
  /** Newest first. */
  deliveries(query: DeliveryQuery, most: number): StoredDelivery[];
  attempts(delivery: number): Attempt[];
  /** What is remembered of a subscriber, as it was kept. */
  subscriber(id: string): string | undefined;
}

/** Events and deliveries inside a change. */
export interface Outbox extends OutboxReader {
  addEvent(event: NewEvent): number;
  /** It is due at its time, or once the earlier ones of its lane are settled. */
  addDelivery(delivery: NewDelivery): number;
  attempted(delivery: number, attempt: Attempt): void;
  /** Counts a try and is due again later. */
  postpone(delivery: number, dueMs: number): void;
  /** Nothing more is done about it; the next one of its lane is due. One that is settled already stays as it is. */
  settle(delivery: number, outcome: DeliveryOutcome, nowMs: number): void;
  /** Makes a delivery due again from its first try on, whatever came of it; false where there is none. */
  again(delivery: number, nowMs: number): boolean;
  keepSubscriber(id: string, state: string): void;
  forgetSubscriber(id: string): void;
  /**
   * Removes deliveries that were settled before a time with their attempts, and events of a stretch that were recorded
   * before a time and have no delivery left; a bounded number of each. Returns how many went, and how far events were looked through.
   */
  prune(deliveriesBeforeMs: number, events: EventStretch, most: number): { removed: number; reached: number };
}
