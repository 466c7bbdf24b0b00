/** What becomes of an order: paid, sent, returned, cancelled. */
import { setTimeout as delay } from 'node:timers/promises';
import { checkNew, type Fields, text, whole } from './checks.ts';
import { type Answer, type Exchange, Refusal, type Route } from './exchange.ts';
import { addNote } from './notes.ts';
import { emit, find, isVisible, store } from './orders.ts';
import { spend } from './quotas.ts';
import type { Order, Shop, User } from './shop.ts';
import { tellOrder } from './told.ts';

const everybody: readonly User[] = ['customer', 'clerk'];

export const orderMoveRoutes: readonly Route[] = [
  { method: 'POST', path: '/orders/{id}/pay', operation: 'pay order', users: ['customer'], run: pay },
  { method: 'POST', path: '/orders/{id}/ship', operation: 'ship order', users: ['clerk'], run: ship },
  { method: 'POST', path: '/orders/{id}/deliver', operation: 'deliver order', users: ['clerk'], run: deliver },
  {
    method: 'POST',
    path: '/orders/{id}/return',
    operation: 'return order',
    users: ['customer'],
    takesBody: 'json',
    run: giveBack,
  },
  { method: 'POST', path: '/orders/{id}/cancel', operation: 'cancel order', users: everybody, run: cancel },
];

async function pay({ shop, version, caller, path }: Exchange): Promise<Answer> {
  const { faults } = shop;
  const order = find(shop, path, caller);
  if (faults.has('refused-payment-told') && order.status !== 'open') emit(shop, 'order.paid', order);
  if (order.status !== 'open' && !(order.status === 'paid' && faults.has('paid-twice'))) throw new Refusal('wrong_state');
  // The bank is asked between the look and the change.
  if (faults.has('payments-race')) await delay(25);
  const paid_at = new Date(shop.clock.now()).toISOString();
  const next = store(shop, { ...order, status: 'paid', ...(!faults.has('paid-at-missing') && { paid_at }) });
  emit(shop, 'order.paid', next);
  return { status: 200, body: tellOrder(next, version, shop) };
}

function ship({ shop, version, caller, path }: Exchange): Answer {
  const order = find(shop, path, caller);
  if (order.status !== 'paid') {
    if (shop.faults.has('refused-shipping-noted')) noteShipped(shop, order);
    throw new Refusal(shop.faults.has('not-paid-is-wrong-state') ? 'wrong_state' : 'not_paid');
  }
  const shipped: Order = { ...order, status: shop.faults.has('shipped-is-underway') ? 'underway' : 'shipped' };
  const next = shop.faults.has('shipping-not-stored') ? shipped : store(shop, shipped);
  const notes = shop.faults.has('shipping-noted-twice') ? 2 : shop.faults.has('shipping-not-noted') ? 0 : 1;
  for (let times = 0; times < notes; times++) noteShipped(shop, next);
  const { id, quantity } = next;
  const at = new Date(shop.clock.now()).toISOString();
  const own = { order: id, ...(!shop.faults.has('shipped-without-quantity') && { quantity }), at };
  shop.emit({ kind: 'order.shipped', payload: { own }, about: id, mayRead: (reader) => isVisible(next, reader) });
  return { status: 200, body: tellOrder(next, version, shop) };
}

/** What is sent is noted down by the shop itself. */
function noteShipped(shop: Shop, order: Order): void {
  const text = shop.faults.has('shipping-noted-without-quantity') ? 'Sent' : `Sent: ${order.quantity}`;
  const author = shop.faults.has('shipping-noted-by-customer') ? order.customer : 'shop';
  addNote(shop, order, author, text);
}

function deliver({ shop, version, caller, path }: Exchange): Answer {
  const order = find(shop, path, caller);
  if (order.status !== 'shipped') throw new Refusal('wrong_state');
  if (shop.faults.has('deliveries-switched-off')) throw new Refusal('unavailable');
  return { status: 200, body: tellOrder(store(shop, { ...order, status: 'delivered' }), version, shop) };
}

const returned: Fields = {
  reason: { check: text({ min: 1, max: 80 }), isRequired: true },
  items: { check: whole(1, 20), isRequired: true },
};

function giveBack({ shop, version, caller, path, body }: Exchange): Answer {
  const order = find(shop, path, caller);
  const { reason, items } = checkReturn(body);
  if (order.status !== 'delivered') throw new Refusal('wrong_state');
  const most = order.quantity + (shop.faults.has('one-more-returned') ? 1 : 0);
  if (items > most) throw new Refusal('too_many_items');
  return { status: 200, body: tellOrder(store(shop, { ...order, status: 'returned', reason }), version, shop) };
}

/** Members that nobody stated pass: it is a form, and no resource. */
function checkReturn(body: unknown): { readonly reason: string; readonly items: number } {
  const sent = checkNew(body, { ...others(body), ...returned }, []);
  return { reason: String(sent.reason), items: Number(sent.items) };
}

function others(body: unknown): Fields {
  return Object.fromEntries(Object.keys(Object(body)).map((name) => [name, { check: () => [] }]));
}

function cancel({ shop, version, caller, path }: Exchange): Answer {
  const order = find(shop, path, caller);
  const from = shop.faults.has('shipped-order-cancelled') ? ['open', 'paid', 'shipped'] : ['open', 'paid'];
  if (!from.includes(order.status)) throw new Refusal('too_late');
  spend(shop, caller);
  const next = store(shop, { ...order, status: 'cancelled' });
  emit(shop, 'order.cancelled', next);
  return { status: 200, body: tellOrder(next, version, shop) };
}
