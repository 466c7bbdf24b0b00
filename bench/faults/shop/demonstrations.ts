/** How each fault of the shop is seen in a few requests. */
import { createHmac } from 'node:crypto';
import type { Act, Demonstration, Seen } from '../demonstration.ts';
import { carries, is, lacks, listing, lists, type Right, rowsOf, shows, tells, tellsOf } from '../seen.ts';
import type { ShopFault } from './faults.ts';

const older = { 'Shop-Version': '2024-05-01' };

const numbers = 'pqrstuvwxyz';

/** Clara puts something on the shelf: a ball for 1000 cents, unless told otherwise. */
function product(keep = 'p', more: object = {}): Act {
  const sku = `ABC-000${numbers.indexOf(keep)}`;
  return {
    as: 'clara',
    send: 'POST /shop/products',
    body: { sku, name: `Ball ${keep}`, kind: 'toy', price: 1000, ...more },
    keep,
  };
}

/** Anna orders three of it. */
function order(keep = 'o', more: object = {}): Act {
  return { as: 'anna', send: 'POST /shop/orders', body: { product: '$p', quantity: 3, ...more }, keep };
}

function hook(as = 'clara', more: object = {}): Act[] {
  return [{ hooks: 0 }, { as, send: 'POST /shop/webhooks', body: { url: '$hook', ...more }, keep: 'h' }];
}

const get = (path: string, as = 'anna', more: { headers?: Record<string, string>; keep?: string } = {}): Act => ({
  as,
  send: `GET /shop${path}`,
  ...more,
});
const post = (path: string, as = 'anna', body?: unknown): Act => ({
  as,
  send: `POST /shop${path}`,
  ...(body !== undefined && { body }),
});
const patch = (path: string, body: unknown, as = 'anna'): Act => ({ as, send: `PATCH /shop${path}`, body });
const remove = (path: string, as = 'anna'): Act => ({ as, send: `DELETE /shop${path}` });
const put = (path: string, body: unknown): Act => ({ as: 'clara', send: `PUT /shop${path}`, body });
const note = (keep = 'n', as = 'anna', body: object = { text: 'Hello' }): Act => ({
  as,
  send: 'POST /shop/orders/$o/notes',
  body,
  keep,
});
const times = (count: number, act: Act): Act[] => Array.from({ length: count }, () => act);

const ordered = [product(), order()];
const paid = [...ordered, post('/orders/$o/pay')];
const shipped = [...paid, post('/orders/$o/ship', 'clara')];
const delivered = [...shipped, post('/orders/$o/deliver', 'clara')];
const three = [product('p', { price: 90 }), product('q', { price: 1000 }), product('r', { price: 500 })];
const six = [...numbers.slice(0, 6)].map((keep) => product(keep));

/** A list of notes with these texts. */
function notes(...texts: readonly string[]): Right {
  return ({ last }) => {
    const shown: readonly { readonly text?: unknown }[] = Object(last.body).notes ?? [];
    return JSON.stringify(shown.map(({ text }) => text)) === JSON.stringify(texts);
  };
}

function see(right: Right, ...acts: readonly Act[]): Demonstration {
  return { acts, right };
}

export const shopDemonstrations: Readonly<Record<ShopFault, Demonstration>> = {
  'prefix-not-needed': see(is(404), { as: 'anna', send: 'GET /products' }),
  'clerks-locked-out': see(is(200), get('/products', 'clara')),
  'customers-suspended': see(is(200), get('/products')),
  'deliveries-switched-off': see(is(200), ...delivered),
  'notes-switched-off': see(is(201), ...ordered, note()),
  'coupons-not-set-up': see(is(201), put('/coupons/SALE', { percent: 5 })),
  'another-shops-name': see(shows({ name: 'Corner Shop' }), { send: 'GET /shop/about' }),

  'found-told-as-new': see(is(200), product('p'), product('p')),
  'found-refused': see(is(200), product('p'), product('p')),
  'found-made-again': see(
    ({ answers: [made, found] }) => Object(made?.body).id === Object(found?.body).id,
    ...[product('p'), product('p')],
  ),
  'found-overwritten': see(shows({ price: 1000 }), product('p'), product('p', { price: 5 })),
  'sku-taken-by-update': see(is(409, 'taken'), product('p'), product('q'), patch('/products/$p', { sku: 'ABC-0001' }, 'clara')),
  'sku-pattern-unanchored': see(is(422), product('p', { sku: 'xABC-0001' })),
  'empty-name': see(is(422), product('p', { name: '' })),
  'name-cut-at-fifty': see(shows({ name: 'n'.repeat(60) }), product('p', { name: 'n'.repeat(60) })),
  'fifth-tag': see(is(422), product('p', { tags: ['a', 'b', 'c', 'd', 'e'] })),
  'cost-shown-to-all': see(lacks('cost'), product('p', { cost: 5 }), get('/products/$p')),
  'margin-in-answers': see(lacks('margin'), product()),
  'updated-at-stands-still': see(
    ({ answers: [made, changed] }) => Object(made?.body).updated_at < Object(changed?.body).updated_at,
    ...[product(), { wait: 1000 }, patch('/products/$p', { price: 5 }, 'clara')],
  ),
  'update-not-stored': see(
    shows({ name: 'Top' }),
    product(),
    patch('/products/$p', { name: 'Top' }, 'clara'),
    get('/products/$p'),
  ),
  'contact-without-at': see(is(422), put('/coupons/SALE', { percent: 5, contact: 'nobody' })),
  'day-31-of-february': see(is(422), put('/coupons/SALE', { percent: 5, ends_on: '2026-02-31' })),
  'percent-to-hundred': see(is(422), put('/coupons/SALE', { percent: 91 })),
  'customer-from-body': see(shows({ customer: 'anna' }), product(), order('o', { customer: 'ben' })),
  'gift-not-filled-in': see(shows({ gift: false }), ...ordered),
  'phrase-echoed': see(lacks('phrase'), product(), order('o', { phrase: 'open sesame' })),
  'total-not-counted-again': see(shows({ total: 5000 }), ...ordered, patch('/orders/$o', { quantity: 5 })),
  'total-as-text': see(shows({ total: 3000 }), ...ordered),
  'product-exchanged': see(is(422, 'invalid'), product('p'), product('q'), order(), patch('/orders/$o', { product: '$q' })),
  'ordered-product-deleted': see(is(409, 'in_use'), ...ordered, remove('/products/$p', 'clara')),
  'notes-outlive-order': see(
    ({ last }) => last.status === 404,
    ...[...ordered, note(), post('/orders/$o/cancel'), remove('/orders/$o'), get('/notes/$n', 'clara')],
  ),
  'paid-at-missing': see(({ last }) => typeof Object(last.body).paid_at === 'string', ...paid),
  'long-notes': see(is(422), ...ordered, note('n', 'anna', { text: 'n'.repeat(201) })),
  'secret-told-again': see(lacks('secret'), ...hook(), get('/webhooks/$h', 'clara')),

  'paid-twice': see(is(409, 'wrong_state'), ...paid, post('/orders/$o/pay')),
  'payments-race': see(
    ({ answers }) => answers.filter(({ status }) => status === 200).length === 1,
    ...[...ordered, { together: [post('/orders/$o/pay'), post('/orders/$o/pay')] }],
  ),
  'shipped-order-cancelled': see(is(409, 'too_late'), ...shipped, post('/orders/$o/cancel')),
  'one-more-returned': see(
    is(422, 'too_many_items'),
    ...delivered,
    post('/orders/$o/return', 'anna', { reason: 'broken', items: 4 }),
  ),
  'open-for-ever': see(shows({ status: 'cancelled' }), ...ordered, { wait: 31 * 60_000 }, get('/orders/$o')),
  'shipping-not-stored': see(shows({ status: 'shipped' }), ...shipped, get('/orders/$o')),
  'shipping-not-noted': see(notes('Sent: 3'), ...shipped, get('/orders/$o/notes')),
  'shipping-noted-twice': see(notes('Sent: 3'), ...shipped, get('/orders/$o/notes')),
  'shipping-noted-without-quantity': see(notes('Sent: 3'), ...shipped, get('/orders/$o/notes')),
  'shipping-noted-by-customer': see(
    ({ last }) => Object(last.body).notes?.[0]?.author === 'shop',
    ...[...shipped, get('/orders/$o/notes')],
  ),
  'refused-shipping-noted': see(notes(), ...ordered, post('/orders/$o/ship', 'clara'), get('/orders/$o/notes')),
  'shipped-is-underway': see(shows({ status: 'shipped' }), ...shipped),
  'paid-order-changed': see(is(409, 'wrong_state'), ...paid, patch('/orders/$o', { quantity: 1 })),
  'open-order-deleted': see(is(409, 'wrong_state'), ...ordered, remove('/orders/$o')),

  'put-is-patch': see(is(405), product(), put('/products/$p', { name: 'Top' })),
  'unknown-path-answered': see(is(404), get('/nowhere')),
  'slash-at-the-end': see(is(404), get('/products/')),
  'kind-filter-ignored': see(lists(0), product(), get('/products?kind=book')),
  'max-price-excluded': see(lists(1), product(), get('/products?max_price=1000')),
  'price-sorted-as-text': see(listing('price', [90, 500, 1000]), ...three, get('/products?sort=price')),
  'unknown-parameters-pass': see(is(400, 'bad_parameter'), get('/products?colour=red')),
  'express-unless-told': see(shows({ express: false }), get('/postage?grams=5')),
  'heavier-than-stated': see(is(400), get('/postage?grams=20001')),
  'grams-as-text': see(shows({ grams: 5 }), get('/postage?grams=5')),
  'quantity-from-text': see(is(422), product(), order('o', { quantity: '3' })),
  'any-media-type': see(is(415), product(), {
    as: 'anna',
    send: 'POST /shop/orders',
    body: '{"product":"$p","quantity":1}',
    headers: { 'Content-Type': 'text/plain' },
  }),
  'location-missing': see(carries('location', /^\/shop\/orders\/ord_/), ...ordered),
  'put-always-201': see(is(200), put('/coupons/SALE', { percent: 5 }), put('/coupons/SALE', { percent: 6 })),
  'put-merges': see(
    lacks('ends_on'),
    put('/coupons/SALE', { percent: 5, ends_on: '2030-01-31' }),
    put('/coupons/SALE', { percent: 6 }),
  ),
  'delete-answers-200': see(is(204), product(), remove('/products/$p', 'clara')),
  'answers-as-text': see(carries('content-type', 'application/json'), get('/products')),

  'revoked-key-taken': see(is(401), get('/products', 'emma')),
  'key-by-its-beginning': see(is(401), { send: 'GET /shop/products', headers: { 'X-Shop-Key': 'sk_Anna0000000000000000000zz' } }),
  'key-of-any-case': see(is(401), { send: 'GET /shop/products', headers: { 'X-Shop-Key': 'SK_ANNA0000000000000000000A' } }),
  'unknown-key-is-a-customer': see(is(401), { send: 'GET /shop/products', headers: { 'X-Shop-Key': 'anything' } }),
  'key-as-bearer': see(is(401), { send: 'GET /shop/products', headers: { Authorization: 'Bearer sk_Anna0000000000000000000a' } }),
  'foreign-order-read': see(is(404), ...ordered, get('/orders/$o', 'ben')),
  'all-orders-listed': see(lists(0), ...ordered, get('/orders', 'ben')),
  'foreign-order-is-forbidden': see(is(404), ...ordered, get('/orders/$o', 'ben')),
  'foreign-note-read': see(is(404), ...ordered, note(), get('/notes/$n', 'ben')),
  'foreign-note-deleted': see(is(403), ...ordered, note(), remove('/notes/$n', 'clara')),
  'foreign-webhook-changed': see(is(404), ...hook(), patch('/webhooks/$h', { enabled: false }, 'dirk')),
  'customer-changes-product': see(is(403), product(), patch('/products/$p', { price: 1 })),
  'customer-deletes-coupon': see(is(403), put('/coupons/SALE', { percent: 5 }), remove('/coupons/SALE')),
  'clerk-cannot-cancel': see(is(200), ...ordered, post('/orders/$o/cancel', 'clara')),

  'expiry-told-to-nobody': see(
    tells('order.cancelled'),
    ...hook('anna', { events: ['order.cancelled'] }),
    ...ordered,
    { wait: 31 * 60_000 },
    { hooks: 1 },
  ),
  'refused-payment-told': see(tells('order.paid'), ...hook('anna', { events: ['order.paid'] }), ...paid, post('/orders/$o/pay'), {
    hooks: 2,
  }),
  'placed-told-twice': see(tells('order.placed'), ...hook(), ...ordered, { hooks: 2 }),
  'priced-at-every-update': see(tells(), ...hook(), product(), patch('/products/$p', { name: 'Top' }, 'clara'), { hooks: 1 }),
  'canceled-spelt-american': see(
    tells('order.placed', 'order.cancelled'),
    ...hook('anna'),
    ...ordered,
    { hooks: 1 },
    post('/orders/$o/cancel'),
    { hooks: 2 },
  ),
  'shipped-without-quantity': see(tellsOf({ quantity: 3 }), ...hook('clara', { events: ['order.shipped'] }), ...shipped, {
    hooks: 1,
  }),
  'phrase-in-events': see(tellsOf({ phrase: undefined }), ...hook(), product(), order('o', { phrase: 'open sesame' }), {
    hooks: 1,
  }),
  'cost-in-events': see(
    tellsOf({ cost: undefined }),
    ...hook('anna'),
    product('p', { cost: 5 }),
    patch('/products/$p', { price: 7 }, 'clara'),
    { hooks: 1 },
  ),
  'told-of-foreign-orders': see(tells(), ...hook('ben'), ...ordered, { hooks: 1 }),
  'told-of-every-kind': see(tells(), ...hook('anna', { events: ['note.added'] }), ...ordered, { hooks: 1 }),
  'told-out-of-order': see(
    ({ told }) => told.filter(({ kind }) => kind === 'order.paid').length === 0,
    ...[
      { hooks: 0, answer: 500 },
      ...hook('anna').slice(1),
      ...ordered,
      { hooks: 1, answer: 500 },
      post('/orders/$o/pay'),
      { hooks: 2, answer: 500 },
    ],
  ),
  'told-only-once': see(
    tells('order.placed', 'order.placed'),
    { hooks: 0, answer: 500 },
    ...hook('anna').slice(1),
    ...ordered,
    { hooks: 1, answer: 500 },
    { wait: 1100 },
    { hooks: 2 },
  ),
  'any-answer-accepts': see(
    tells('order.placed', 'order.placed'),
    { hooks: 0, answer: 500 },
    ...hook('anna').slice(1),
    ...ordered,
    { hooks: 1, answer: 500 },
    { wait: 1100 },
    { hooks: 2 },
  ),
  'another-id-each-try': see(
    ({ told: [first, second] }) => first !== undefined && first.id === second?.id,
    ...[{ hooks: 0, answer: 500 }, ...hook('anna').slice(1), ...ordered, { hooks: 1, answer: 500 }, { wait: 1100 }, { hooks: 2 }],
  ),
  'signed-without-time': see(isSigned, ...hook(), ...ordered, { hooks: 1 }),

  'invalid-is-400': see(is(422, 'invalid'), product('p', { price: 0 })),
  'missing-is-410': see(is(404, 'not_found'), get('/products/nothing')),
  'malformed-is-broken': see(is(400, 'malformed'), {
    as: 'anna',
    send: 'POST /shop/orders',
    body: '{',
    headers: { 'Content-Type': 'application/json' },
  }),
  'code-missing': see(is(404, 'not_found'), get('/products/nothing')),
  'problem-as-json': see(carries('content-type', 'application/problem+json'), get('/products/nothing')),
  'stack-in-problem': see(shows({ stack: undefined }), {
    as: 'anna',
    send: 'POST /shop/orders',
    body: '{',
    headers: { 'Content-Type': 'application/json' },
  }),
  'not-paid-is-wrong-state': see(is(409, 'not_paid'), ...ordered, post('/orders/$o/ship', 'clara')),
  'in-use-called-conflict': see(is(409, 'in_use'), ...ordered, remove('/products/$p', 'clara')),
  'unlisted-sold': see(is(422, 'not_for_sale'), product('p', { listed: false }), order()),
  'refused-order-kept': see(lists(0), product('p', { listed: false }), order(), get('/orders')),
  'method-is-not-found': see(is(405), { as: 'clara', send: 'DELETE /shop/products' }),
  'accept-ignored': see(is(406), { as: 'anna', send: 'GET /shop/products', headers: { Accept: 'text/html' } }),

  'rate-not-kept': see(is(429, 'slow_down'), ...times(26, get('/postage?grams=5'))),
  'one-more-in-the-window': see(is(429), ...times(26, get('/postage?grams=5'))),
  'rate-for-all-callers': see(is(200), ...times(25, get('/postage?grams=5')), get('/postage?grams=5', 'ben')),
  'retry-after-too-short': see(({ last }) => Number(last.headers['retry-after']) > 1, ...times(26, get('/postage?grams=5'))),
  'large-body-taken': see(is(413), {
    as: 'anna',
    send: 'POST /shop/orders',
    body: `"${'x'.repeat(8191)}"`,
    headers: { 'Content-Type': 'application/json' },
  }),
  'one-byte-less': see(is(422), {
    as: 'anna',
    send: 'POST /shop/orders',
    body: `"${'x'.repeat(8190)}"`,
    headers: { 'Content-Type': 'application/json' },
  }),
  'long-address-taken': see(is(413), get(`/products?name=${'x'.repeat(2048)}`)),
  'slow-body-awaited': see(is(408), { dawdle: 'POST /shop/orders anna' }),
  'page-of-ten': see(lists(5), ...six, get('/products')),
  'page-max-twice': see(is(400, 'bad_page'), get('/products?limit=21')),
  'page-size-clamped': see(is(400, 'bad_page'), get('/products?limit=21')),
  'cursor-is-a-position': see(
    ({ answers }) => rowsOf(answers.at(-1)!, 'data')[0]?.id !== rowsOf(answers.at(-3)!, 'data').at(-1)?.id,
    ...[
      product(),
      ...times(3, order()),
      { wait: 1000 },
      get('/orders?limit=2', 'anna', { keep: 'page' }),
      order(),
      get('/orders?limit=2&cursor=$page.next'),
    ],
  ),
  'cursor-on-last-page': see(shows({ next_cursor: null }), ...six.slice(0, 5), get('/products')),
  'cursor-of-any-query': see(
    is(400, 'bad_page'),
    ...[...six, get('/products?kind=toy', 'anna', { keep: 'page' }), get('/products?sort=price&cursor=$page.next')],
  ),
  'page-repeats-last-note': see(lists(1, 'notes'), ...ordered, note('n'), note('m'), get('/orders/$o/notes?after=$n')),
  'large-take-refused': see(is(200), get('/coupons?take=11', 'clara')),
  'total-of-the-page': see(
    shows({ total: 2 }),
    put('/coupons/SALE', { percent: 5 }),
    put('/coupons/MORE', { percent: 5 }),
    get('/coupons?take=1', 'clara'),
  ),
  'quota-without-end': see(
    is(429, 'quota_used'),
    product(),
    ...times(61, order()).flatMap((act) => [act, post('/orders/$o/cancel')]),
  ),
  'quota-for-all': see(
    is(200),
    ...[
      product(),
      ...times(60, order()).flatMap((act) => [act, post('/orders/$o/cancel')]),
      order(),
      post('/orders/$o/cancel', 'clara'),
    ],
  ),

  'oldest-by-default': see(shows({ tags: [] }), product(), get('/products/$p')),
  'unknown-version-is-current': see(
    is(400, 'unknown_version'),
    get('/products', 'anna', { headers: { 'Shop-Version': '2020-01-01' } }),
  ),
  'version-not-named': see(carries('shop-version', '2025-05-01'), get('/products')),
  'retired-version-served': see(
    is(410, 'retired_version'),
    get('/products', 'anna', { headers: { 'Shop-Version': '2023-05-01' } }),
  ),
  'deprecation-not-told': see(carries('deprecation', '@1746057600'), get('/products', 'anna', { headers: older })),
  'sunset-a-year-early': see(carries('sunset', 'Sun, 01 May 2095 00:00:00 GMT'), get('/products', 'anna', { headers: older })),
  'remark-not-renamed': see(
    shows({ remark: 'hi' }),
    product(),
    order('o', { message: 'hi' }),
    get('/orders/$o', 'anna', { headers: older }),
  ),
  'tags-in-old-version': see(lacks('tags'), product(), get('/products/$p', 'anna', { headers: older })),
  'kind-not-translated': see(
    shows({ kind: 'novel' }),
    product('p', { kind: 'book' }),
    get('/products/$p', 'anna', { headers: older }),
  ),
  'price-in-cents-for-all': see(shows({ price: 10 }), product(), get('/products/$p', 'anna', { headers: older })),
  'events-in-newest-version': see(
    tellsOf({ remark: 'hi' }),
    ...[
      { hooks: 0 },
      { as: 'anna', send: 'POST /shop/webhooks', body: { url: '$hook' }, headers: older },
      product(),
      order('o', { message: 'hi' }),
      { hooks: 1 },
    ],
  ),
};

/** Standard Webhooks: the signature is over the identifier, the time and the body. */
function isSigned({ told: [first], kept }: Seen): boolean {
  if (!first) return false;
  const key = Buffer.from(String(kept.get('h.secret')).replace('whsec_', ''), 'base64');
  const signed = `${first.headers['webhook-id']}.${first.headers['webhook-timestamp']}.${first.text}`;
  return first.headers['webhook-signature'] === `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
}
