import { ulid } from '../identifiers.ts';
import { checkNew, checkPatch, type Fields, flag, text, whole, wrong } from './checks.ts';
import { type Answer, type Exchange, Refusal, type Route, type Violation } from './exchange.ts';
import { anyText, cursorNames, cursorPage, readCursorPage, readQuery } from './pages.ts';
import { apply } from './products.ts';
import type { Caller, Order, Product, Shop, User, Version } from './shop.ts';
import { tellOrder } from './told.ts';

const readOnly = ['id', 'customer', 'status', 'total', 'reason', 'paid_at', 'created_at', 'updated_at'];
const expiryMs = 30 * 60_000;
const everybody: readonly User[] = ['customer', 'clerk'];

export const orderRoutes: readonly Route[] = [
  { method: 'POST', path: '/orders', operation: 'create order', users: ['customer'], takesBody: 'json', run: create },
  { method: 'GET', path: '/orders', operation: 'list order', users: everybody, query: readList, run: listOrders },
  { method: 'GET', path: '/orders/{id}', operation: 'read order', users: everybody, run: read },
  { method: 'PATCH', path: '/orders/{id}', operation: 'update order', users: ['customer'], takesBody: 'patch', run: update },
  { method: 'DELETE', path: '/orders/{id}', operation: 'delete order', users: ['customer'], run: remove },
];

function fieldsOf(version: Version): Fields {
  return {
    product: { check: text(), isRequired: true },
    quantity: { check: whole(1, 20), isRequired: true },
    gift: { check: flag, isKept: true },
    [version === '2025-05-01' ? 'message' : 'remark']: { check: text({ max: 140 }) },
    phrase: { check: text({ min: 4, max: 40 }) },
  };
}

/** What older versions call a remark. */
function raised(sent: Record<string, unknown>): Record<string, unknown> {
  const { remark, ...rest } = sent;
  return Object.hasOwn(sent, 'remark') ? { ...rest, message: remark } : rest;
}

function create({ shop, version, body, caller }: Exchange): Answer {
  const { faults } = shop;
  const lenient = faults.has('quantity-from-text') ? withNumber(body) : body;
  const dropped = faults.has('customer-from-body') ? readOnly.filter((name) => name !== 'customer') : readOnly;
  const fields = faults.has('customer-from-body') ? { ...fieldsOf(version), customer: { check: text() } } : fieldsOf(version);
  const sent = raised(checkNew(lenient, fields, dropped));
  const product = shop.products.get(String(sent.product));
  if (!product) throw new Refusal('no_such_reference', [missing(sent.product)]);
  const at = new Date(shop.clock.now()).toISOString();
  const order = {
    id: `ord_${ulid()}`,
    customer: caller.id,
    ...(!faults.has('gift-not-filled-in') && { gift: false }),
    ...sent,
    status: 'open',
    total: totalOf(product, Number(sent.quantity)),
    created_at: at,
    updated_at: at,
    // checkNew has found every field that a new one needs.
  } as unknown as Order;
  const isForSale = product.listed || faults.has('unlisted-sold');
  if (!isForSale && !faults.has('refused-order-kept')) throw new Refusal('not_for_sale');
  shop.orders.set(order.id, order);
  if (!isForSale) throw new Refusal('not_for_sale');
  expireLater(shop, order);
  for (let times = faults.has('placed-told-twice') ? 2 : 1; times > 0; times--) emit(shop, 'order.placed', order);
  const headers = faults.has('location-missing') ? {} : { Location: `/shop/orders/${order.id}` };
  return { status: 201, headers, body: tellOrder(order, version, shop) };
}

function withNumber(body: unknown): unknown {
  const sent: Record<string, unknown> = typeof body === 'object' && body !== null ? { ...body } : {};
  return /^\d+$/.test(String(sent.quantity)) ? { ...sent, quantity: Number(sent.quantity) } : body;
}

function missing(sent: unknown): Violation {
  return wrong('/product', sent, 'the identifier of a product');
}

function totalOf({ price }: Product, quantity: number): number {
  return price * quantity;
}

/** An order that is not paid in half an hour is called off. */
function expireLater(shop: Shop, order: Order): void {
  if (shop.faults.has('open-for-ever')) return;
  const callOff = shop.clock.at(Date.parse(order.created_at) + expiryMs, () => {
    const now = shop.orders.get(order.id);
    if (now?.status !== 'open') return;
    const next = store(shop, { ...now, status: 'cancelled' });
    if (!shop.faults.has('expiry-told-to-nobody')) emit(shop, 'order.cancelled', next);
  });
  shop.expiries.set(order.id, callOff);
}

function read({ shop, version, caller, path }: Exchange): Answer {
  return { status: 200, body: tellOrder(find(shop, path, caller, 'foreign-order-read'), version, shop) };
}

function readList(sent: URLSearchParams) {
  return readQuery(sent, { status: anyText, product: anyText }, cursorNames);
}

function listOrders({ shop, version, caller, query, request }: Exchange): Answer {
  const page = readCursorPage(new URL(request.url ?? '/', 'http://shop').searchParams, shop, version);
  const rows = [...shop.orders.values()].filter(
    (order) =>
      (isVisible(order, caller) || shop.faults.has('all-orders-listed')) &&
      (query.status === undefined || order.status === query.status) &&
      (query.product === undefined || order.product === query.product),
  );
  const newestFirst = ({ created_at }: Order): number => -Date.parse(created_at);
  const { data, next } = cursorPage(rows, newestFirst, page, shop);
  return { status: 200, body: { data: data.map((one) => tellOrder(one, version, shop)), next_cursor: next } };
}

function update({ shop, version, caller, path, body }: Exchange): Answer {
  const { faults } = shop;
  const order = find(shop, path, caller);
  const sent = raised(checkPatch(body, fieldsOf(version), readOnly));
  if (sent.product !== undefined && sent.product !== order.product && !faults.has('product-exchanged')) {
    throw new Refusal('invalid', [wrong('/product', sent.product, 'its value unchanged')]);
  }
  const next = apply(order, sent);
  const product = shop.products.get(next.product);
  if (!product) throw new Refusal('no_such_reference', [missing(next.product)]);
  if (order.status !== 'open' && !(order.status === 'paid' && faults.has('paid-order-changed'))) throw new Refusal('wrong_state');
  if (JSON.stringify(next) === JSON.stringify(order)) return { status: 200, body: tellOrder(order, version, shop) };
  if (!faults.has('total-not-counted-again')) next.total = totalOf(product, next.quantity);
  return { status: 200, body: tellOrder(store(shop, next), version, shop) };
}

function remove({ shop, caller, path }: Exchange): Answer {
  const order = find(shop, path, caller);
  if (!['cancelled', 'returned'].includes(order.status) && !shop.faults.has('open-order-deleted'))
    throw new Refusal('wrong_state');
  shop.orders.delete(order.id);
  shop.expiries.get(order.id)?.();
  for (const note of shop.notes.values()) {
    if (note.order === order.id && !shop.faults.has('notes-outlive-order')) shop.notes.delete(note.id);
  }
  const payload = { own: { order: order.id } };
  shop.emit({ kind: 'order.removed', payload, about: order.id, mayRead: (reader) => isVisible(order, reader) });
  return { status: 204 };
}

/** Puts an order in the place of the one that it was. */
export function store(shop: Shop, order: Order): Order {
  const next = { ...order, updated_at: new Date(shop.clock.now()).toISOString() };
  shop.orders.set(order.id, next);
  return next;
}

/** Tells of an order. */
export function emit(shop: Shop, kind: string, order: Order): void {
  const mayRead = (reader: Caller): boolean => isVisible(order, reader) || shop.faults.has('told-of-foreign-orders');
  const spelt = kind === 'order.cancelled' && shop.faults.has('canceled-spelt-american') ? 'order.canceled' : kind;
  shop.emit({ kind: spelt, payload: { order }, about: order.id, mayRead });
}

export function isVisible({ customer }: Order, { id, user }: Caller): boolean {
  return user === 'clerk' || customer === id;
}

/** The order that a path names, if this caller may know of it. */
export function find(
  { orders, faults }: Shop,
  { id = '' }: Readonly<Record<string, string>>,
  caller: Caller,
  open?: 'foreign-order-read',
): Order {
  const order = orders.get(id);
  if (!order) throw new Refusal('not_found');
  if (isVisible(order, caller) || (open && faults.has(open))) return order;
  throw new Refusal(faults.has('foreign-order-is-forbidden') ? 'forbidden' : 'not_found');
}
