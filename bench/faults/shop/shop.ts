/** What the shop keeps: maps in memory, and the names of their rows. */
import type { Clock } from '../clock.ts';
import type { Switches } from '../fault.ts';
import type { ShopFault } from './faults.ts';

export type User = 'customer' | 'clerk';

export interface Caller {
  readonly id: string;
  readonly user: User;
}

export type Version = '2024-05-01' | '2025-05-01';

export interface Measure {
  readonly width: number;
  readonly height: number;
}

export interface Product {
  readonly id: string;
  sku: string;
  name: string;
  kind: string;
  price: number;
  cost?: number;
  measure?: Measure;
  tags: string[];
  listed: boolean;
  created_at: string;
  updated_at: string;
}

export interface Coupon {
  readonly code: string;
  percent: number;
  ends_on?: string;
  contact?: string;
}

export interface Order {
  readonly id: string;
  customer: string;
  product: string;
  quantity: number;
  gift: boolean;
  message?: string;
  phrase?: string;
  status: string;
  total: number;
  reason?: string;
  paid_at?: string;
  created_at: string;
  updated_at: string;
}

export interface Note {
  readonly id: string;
  readonly order: string;
  readonly author: string;
  readonly text: string;
  readonly at: string;
}

export interface Webhook {
  readonly id: string;
  readonly owner: string;
  url: string;
  events: string[];
  readonly secret: string;
  enabled: boolean;
}

export interface Shop {
  readonly clock: Clock;
  readonly faults: Switches<ShopFault>;
  /** Keys that were given out, and those that were taken back since. */
  readonly keys: ReadonlyMap<string, Caller>;
  readonly revoked: ReadonlyMap<string, Caller>;
  readonly products: Map<string, Product>;
  readonly coupons: Map<string, Coupon>;
  readonly orders: Map<string, Order>;
  readonly notes: Map<string, Note>;
  readonly webhooks: Map<string, Webhook>;
  /** What calls off the expiry of an order that is still open. */
  readonly expiries: Map<string, () => void>;
  /** Tells subscribers what has happened. */
  emit(event: Event): void;
  /** A subscriber is made in a version by a caller; both decide what it is told. */
  subscribe(webhook: Webhook, maker: Caller, version: Version): void;
}

/** Something that has happened to a row. */
export interface Event {
  readonly kind: string;
  /** The resource of the payload and the row of it, or a payload of its own. */
  readonly payload:
    | { readonly product: Product }
    | { readonly order: Order }
    | { readonly note: Note }
    | { readonly own: object };
  /** The row that it is about, in whose order subscribers are told. */
  readonly about: string;
  mayRead(caller: Caller): boolean;
}

export const kinds = [
  'product.priced',
  'order.placed',
  'order.paid',
  'order.shipped',
  'order.cancelled',
  'order.removed',
  'note.added',
] as const;
