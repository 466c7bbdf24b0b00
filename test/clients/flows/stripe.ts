import assert from 'node:assert/strict';
import Stripe from 'stripe';
import { gather, given, once, type Place, pages, refused, type Vendor } from '../kit.ts';

/** The client's own paths begin with `/v1`, as the description's do. */
const connect = (place: Place, token: string): Stripe =>
  new Stripe(token, {
    apiVersion: '2023-08-16',
    host: '127.0.0.1',
    port: place.port,
    protocol: 'http',
    maxNetworkRetries: 0,
    telemetry: false,
  });

/** What a field of an answer names: the object's id, or the object where it was asked to be expanded. */
const idOf = (one: string | { readonly id: string } | null | undefined): string => {
  const named = given(one, 'reference');
  return typeof named === 'string' ? named : named.id;
};
const ids = (rows: readonly { readonly id: string }[]): string[] => rows.map(({ id }) => id);
const paid = { amount: 2000, currency: 'usd', payment_method: 'pm_card_visa', payment_method_types: ['card'], confirm: true };

/** Guide: docs.stripe.com/api (customers, products, prices, payment intents, refunds, coupons, invoices, subscriptions, webhook endpoints, tax rates; pagination, search, expanding, idempotent requests, errors, metadata). */
export const vendor: Vendor<Stripe> = {
  document: 'stripe/stripe.com.json',
  header: 'authorization',
  word: 'Bearer',
  made: 'sk_test_made_up',
  client: connect,
  strict: ['a key that is refused'],
  flows: {
    'a customer, from the first to the last day': (stripe, s) => ({
      made: async () => {
        const made = await stripe.customers.create({
          name: 'Jenny Rosen',
          email: 'jennyrosen@example.com',
          metadata: { order_id: '6735' },
        });
        assert.equal(made.object, 'customer');
        assert.deepEqual([made.name, made.email], ['Jenny Rosen', 'jennyrosen@example.com']);
        assert.equal(made.metadata.order_id, '6735');
        assert.ok(Number.isInteger(made.created), String(made.created));
        s.id = made.id;
      },
      read: async () => {
        const read = await stripe.customers.retrieve(s.id);
        assert.ok(!read.deleted, 'deleted');
        assert.deepEqual([read.id, read.email, read.metadata.order_id], [s.id, 'jennyrosen@example.com', '6735']);
      },
      'a new name, and the rest as it was': async () => {
        const changed = await stripe.customers.update(s.id, { name: 'Jenny Smith', phone: '+15555550100' });
        assert.deepEqual([changed.name, changed.phone, changed.email], ['Jenny Smith', '+15555550100', 'jennyrosen@example.com']);
      },
      'another key of the metadata beside the first': async () => {
        const { metadata } = await stripe.customers.update(s.id, { metadata: { tier: 'gold' } });
        assert.deepEqual([metadata.order_id, metadata.tier], ['6735', 'gold']);
      },
      'is in the list': async () => once(ids((await stripe.customers.list({ limit: 100 })).data), [s.id], 'customers'),
      deleted: async () => {
        const end = await stripe.customers.del(s.id);
        assert.deepEqual([end.id, end.object, end.deleted], [s.id, 'customer', true]);
      },
      'no longer in the list': async () =>
        assert.ok(!ids((await stripe.customers.list({ limit: 100 })).data).includes(s.id), 'it is'),
    }),

    'customers through all pages': (stripe, s) => ({
      'five are made': async () => {
        const made: string[] = [];
        for (let n = 1; n <= 5; n += 1) made.push((await stripe.customers.create({ name: `Customer ${n}` })).id);
        assert.equal(new Set(made).size, 5);
        s.ids = made.join(',');
      },
      'two on a page, and there is more': async () => {
        const page = await stripe.customers.list({ limit: 2 });
        assert.equal(page.object, 'list');
        assert.equal(page.data.length, 2);
        assert.equal(page.has_more, true);
      },
      'each after the last of the one before': async () => {
        const rows = await pages(
          (starting_after) => stripe.customers.list({ limit: 2, starting_after }),
          ({ data }) => data,
          ({ data, has_more }) => (has_more ? data.at(-1)?.id : undefined),
        );
        once(ids(rows), s.ids.split(','), 'pages');
      },
      'as the client walks them': async () => {
        const rows = await gather(stripe.customers.list({ limit: 2 }), (row) => [row], 200);
        once(ids(rows), s.ids.split(','), 'pages');
      },
      'back to what is before one': async () => {
        const { data: all } = await stripe.customers.list({ limit: 100 });
        const third = given(all[2], 'third customer').id;
        const { data } = await stripe.customers.list({ limit: 100, ending_before: third });
        assert.deepEqual(ids(data), ids(all.slice(0, 2)));
      },
      'not more than a hundred at once': () => refused(stripe.customers.list({ limit: 101 }), 400),
    }),

    'customers with an address': (stripe, s) => ({
      'two are made': async () => {
        s.ann = (await stripe.customers.create({ email: 'ann@example.com', name: 'Ann' })).id;
        s.bob = (await stripe.customers.create({ email: 'bob@example.com', name: 'Bob' })).id;
      },
      'listed by it': async () => {
        const { data } = await stripe.customers.list({ email: 'ann@example.com' });
        assert.deepEqual(ids(data), [s.ann]);
      },
      'none with another': async () => assert.deepEqual((await stripe.customers.list({ email: 'nobody@example.com' })).data, []),
      'searched by it': async () => {
        const found = await stripe.customers.search({ query: "email:'bob@example.com'" });
        assert.equal(found.object, 'search_result');
        assert.deepEqual(ids(found.data), [s.bob]);
      },
      'a search says what it looks for': () => refused(stripe.customers.search({} as never), 400),
    }),

    'a product and its price': (stripe, s) => ({
      'a product': async () => {
        const made = await stripe.products.create({ name: 'Gold Plan', description: 'All of it' });
        assert.deepEqual([made.object, made.name, made.description, made.active], ['product', 'Gold Plan', 'All of it', true]);
        s.product = made.id;
      },
      'its price': async () => {
        const made = await stripe.prices.create({ product: s.product, unit_amount: 1000, currency: 'usd' });
        assert.deepEqual([made.object, made.unit_amount, made.currency], ['price', 1000, 'usd']);
        assert.equal(made.type, 'one_time');
        assert.equal(idOf(made.product), s.product);
        s.price = made.id;
      },
      'the price with its product in it': async () => {
        const { product } = await stripe.prices.retrieve(s.price, { expand: ['product'] });
        assert.equal(typeof product, 'object');
        assert.equal((product as Stripe.Product).name, 'Gold Plan');
      },
      'prices of that product': async () => {
        const { data } = await stripe.prices.list({ product: s.product });
        assert.deepEqual(ids(data), [s.price]);
      },
      'the price is called something': async () => {
        const changed = await stripe.prices.update(s.price, { nickname: 'Standard', active: false });
        assert.deepEqual([changed.nickname, changed.active, changed.unit_amount], ['Standard', false, 1000]);
      },
      'it is not among the active': async () =>
        assert.ok(!ids((await stripe.prices.list({ product: s.product, active: true })).data).includes(s.price), 'it is'),
    }),

    'a payment': (stripe, s) => ({
      'meant, and not yet paid': async () => {
        const made = await stripe.paymentIntents.create({ amount: 2000, currency: 'usd', payment_method_types: ['card'] });
        assert.deepEqual([made.object, made.amount, made.currency], ['payment_intent', 2000, 'usd']);
        assert.equal(made.status, 'requires_payment_method');
        assert.equal(typeof made.client_secret, 'string');
        s.id = made.id;
      },
      'for more': async () => {
        const changed = await stripe.paymentIntents.update(s.id, { amount: 2500, description: 'Two shirts' });
        assert.deepEqual([changed.amount, changed.description], [2500, 'Two shirts']);
      },
      'with a card': async () => {
        const confirmed = await stripe.paymentIntents.confirm(s.id, { payment_method: 'pm_card_visa' });
        assert.deepEqual([confirmed.id, confirmed.status, confirmed.amount_received], [s.id, 'succeeded', 2500]);
      },
      'read as paid': async () => assert.equal((await stripe.paymentIntents.retrieve(s.id)).status, 'succeeded'),
      'what is paid is not cancelled': () => refused(stripe.paymentIntents.cancel(s.id), 400),
    }),

    'a payment held, and taken later': (stripe, s) => ({
      held: async () => {
        const held = await stripe.paymentIntents.create({ ...paid, capture_method: 'manual' });
        assert.equal(held.status, 'requires_capture');
        assert.deepEqual([held.amount_capturable, held.capture_method], [2000, 'manual']);
        s.id = held.id;
      },
      'a part of it taken': async () => {
        const taken = await stripe.paymentIntents.capture(s.id, { amount_to_capture: 1500 });
        assert.deepEqual([taken.status, taken.amount_received], ['succeeded', 1500]);
      },
      'read so': async () => assert.equal((await stripe.paymentIntents.retrieve(s.id)).amount_received, 1500),
      'not taken twice': () => refused(stripe.paymentIntents.capture(s.id), 400),
    }),

    'a payment cancelled': (stripe, s) => ({
      'of a customer': async () => {
        s.customer = (await stripe.customers.create({ name: 'Jo' })).id;
        const made = await stripe.paymentIntents.create({ amount: 700, currency: 'eur', customer: s.customer });
        assert.equal(idOf(made.customer), s.customer);
        s.id = made.id;
      },
      'listed as theirs': async () =>
        assert.deepEqual(ids((await stripe.paymentIntents.list({ customer: s.customer })).data), [s.id]),
      cancelled: async () => {
        const end = await stripe.paymentIntents.cancel(s.id, { cancellation_reason: 'requested_by_customer' });
        assert.deepEqual([end.status, end.cancellation_reason], ['canceled', 'requested_by_customer']);
        assert.ok(Number.isInteger(end.canceled_at), String(end.canceled_at));
      },
      'not confirmed any more': () => refused(stripe.paymentIntents.confirm(s.id, { payment_method: 'pm_card_visa' }), 400),
    }),

    'money given back': (stripe, s) => ({
      'a payment': async () => {
        const made = await stripe.paymentIntents.create(paid);
        assert.equal(made.status, 'succeeded');
        s.payment = made.id;
      },
      'a part of it given back': async () => {
        const made = await stripe.refunds.create({ payment_intent: s.payment, amount: 500, reason: 'requested_by_customer' });
        assert.deepEqual([made.object, made.amount, made.reason], ['refund', 500, 'requested_by_customer']);
        assert.equal(idOf(made.payment_intent), s.payment);
        s.id = made.id;
      },
      read: async () => assert.deepEqual([(await stripe.refunds.retrieve(s.id)).amount], [500]),
      'with a note of ours': async () => {
        const { metadata } = await stripe.refunds.update(s.id, { metadata: { ticket: '12' } });
        assert.equal(given(metadata, 'metadata').ticket, '12');
      },
      'listed with that payment': async () =>
        assert.deepEqual(ids((await stripe.refunds.list({ payment_intent: s.payment })).data), [s.id]),
      'not more than was paid': () => refused(stripe.refunds.create({ payment_intent: s.payment, amount: 1501 }), 400),
    }),

    'a coupon': (stripe, s) => ({
      made: async () => {
        const made = await stripe.coupons.create({ percent_off: 25.5, duration: 'repeating', duration_in_months: 3 });
        assert.deepEqual([made.object, made.percent_off, made.duration], ['coupon', 25.5, 'repeating']);
        assert.deepEqual([made.duration_in_months, made.valid, made.times_redeemed], [3, true, 0]);
        s.id = made.id;
      },
      read: async () => assert.equal((await stripe.coupons.retrieve(s.id)).percent_off, 25.5),
      'called something': async () => assert.equal((await stripe.coupons.update(s.id, { name: 'Spring' })).name, 'Spring'),
      'is in the list': async () => once(ids((await stripe.coupons.list({ limit: 100 })).data), [s.id], 'coupons'),
      deleted: async () => assert.deepEqual((await stripe.coupons.del(s.id)).deleted, true),
      'gone afterwards': () => refused(stripe.coupons.retrieve(s.id), 404),
      'neither of a part nor of an amount': () => refused(stripe.coupons.create({ duration: 'once' }), 400),
    }),

    'an invoice': (stripe, s) => ({
      'for somebody': async () => {
        s.customer = (await stripe.customers.create({ name: 'Jo', email: 'jo@example.com' })).id;
        const made = await stripe.invoices.create({
          customer: s.customer,
          collection_method: 'send_invoice',
          days_until_due: 30,
        });
        assert.deepEqual([made.object, made.status, made.collection_method], ['invoice', 'draft', 'send_invoice']);
        assert.equal(idOf(made.customer), s.customer);
        s.id = made.id;
      },
      'with one thing on it': async () => {
        const item = await stripe.invoiceItems.create({
          customer: s.customer,
          invoice: s.id,
          amount: 4200,
          currency: 'usd',
          description: 'Advice',
        });
        assert.deepEqual([item.object, item.amount, item.description], ['invoiceitem', 4200, 'Advice']);
        assert.deepEqual([idOf(item.customer), idOf(item.invoice)], [s.customer, s.id]);
      },
      'what is to be paid': async () => assert.equal((await stripe.invoices.retrieve(s.id)).amount_due, 4200),
      'made final': async () => assert.equal((await stripe.invoices.finalizeInvoice(s.id)).status, 'open'),
      'listed among the open of theirs': async () =>
        assert.deepEqual(ids((await stripe.invoices.list({ customer: s.customer, status: 'open' })).data), [s.id]),
      'made void': async () => assert.equal((await stripe.invoices.voidInvoice(s.id)).status, 'void'),
      'not paid any more': () => refused(stripe.invoices.pay(s.id), 400),
    }),

    'a subscription': (stripe, s) => ({
      'somebody, and a price of each month': async () => {
        s.customer = (await stripe.customers.create({ name: 'Jo' })).id;
        const price = await stripe.prices.create({
          unit_amount: 900,
          currency: 'usd',
          recurring: { interval: 'month' },
          product_data: { name: 'News' },
        });
        assert.deepEqual([price.type, price.recurring?.interval], ['recurring', 'month']);
        s.price = price.id;
      },
      'begins with a trial': async () => {
        const made = await stripe.subscriptions.create({
          customer: s.customer,
          items: [{ price: s.price, quantity: 2 }],
          trial_period_days: 7,
        });
        assert.deepEqual([made.object, made.status, idOf(made.customer)], ['subscription', 'trialing', s.customer]);
        const [item] = made.items.data;
        assert.deepEqual([item?.price.id, item?.quantity], [s.price, 2]);
        s.id = made.id;
      },
      read: async () => assert.equal((await stripe.subscriptions.retrieve(s.id)).id, s.id),
      'listed as theirs': async () =>
        assert.deepEqual(ids((await stripe.subscriptions.list({ customer: s.customer })).data), [s.id]),
      'to end with its time': async () =>
        assert.equal((await stripe.subscriptions.update(s.id, { cancel_at_period_end: true })).cancel_at_period_end, true),
      'ended at once': async () => {
        const end = await stripe.subscriptions.cancel(s.id);
        assert.deepEqual([end.id, end.status], [s.id, 'canceled']);
      },
      'listed no longer, unless all are asked for': async () => {
        assert.deepEqual((await stripe.subscriptions.list({ customer: s.customer })).data, []);
        assert.deepEqual(ids((await stripe.subscriptions.list({ customer: s.customer, status: 'all' })).data), [s.id]);
      },
    }),

    'an address that is told of events': (stripe, s) => ({
      made: async () => {
        const made = await stripe.webhookEndpoints.create({
          url: 'https://example.com/my/webhook/endpoint',
          enabled_events: ['charge.failed', 'charge.succeeded'],
        });
        assert.deepEqual([made.object, made.url], ['webhook_endpoint', 'https://example.com/my/webhook/endpoint']);
        assert.deepEqual(made.enabled_events, ['charge.failed', 'charge.succeeded']);
        assert.deepEqual([made.status, typeof made.secret], ['enabled', 'string']);
        s.id = made.id;
      },
      read: async () => assert.equal((await stripe.webhookEndpoints.retrieve(s.id)).id, s.id),
      'told no more': async () =>
        assert.equal((await stripe.webhookEndpoints.update(s.id, { disabled: true })).status, 'disabled'),
      'is in the list': async () => once(ids((await stripe.webhookEndpoints.list({ limit: 100 })).data), [s.id], 'addresses'),
      deleted: async () => assert.equal((await stripe.webhookEndpoints.del(s.id)).deleted, true),
      'gone afterwards': () => refused(stripe.webhookEndpoints.retrieve(s.id), 404),
    }),

    'a request sent twice': (stripe, s) => ({
      once: async () => {
        s.id = (await stripe.customers.create({ name: 'Once' }, { idempotencyKey: 'key-of-mine' })).id;
      },
      'again, which makes no other': async () =>
        assert.equal((await stripe.customers.create({ name: 'Once' }, { idempotencyKey: 'key-of-mine' })).id, s.id),
      'not with something else in it': () =>
        refused(stripe.customers.create({ name: 'Twice' }, { idempotencyKey: 'key-of-mine' }), 400, 409),
      'another key makes another': async () =>
        assert.notEqual((await stripe.customers.create({ name: 'Once' }, { idempotencyKey: 'another-key' })).id, s.id),
    }),

    'a key that is refused': (_stripe, _s, another) => ({
      'for a list': async () => {
        const thrown = await refused(another('sk_test_wrong').customers.list(), 401);
        assert.ok(thrown instanceof Stripe.errors.StripeAuthenticationError, String(thrown));
      },
      'for something new': () => refused(another('sk_test_wrong').products.create({ name: 'Stolen' }), 401),
      'for what there is in the account': () => refused(another('sk_test_wrong').balance.retrieve(), 401),
    }),

    'what is not there, and what is not right': (stripe) => ({
      'no such customer': async () => {
        const thrown = await refused(stripe.customers.retrieve('cus_missing'), 404);
        assert.ok(thrown instanceof Stripe.errors.StripeInvalidRequestError, String(thrown));
      },
      'nobody to change': () => refused(stripe.customers.update('cus_missing', { name: 'Nobody' }), 404),
      'a product has a name': async () => {
        const thrown = await refused(stripe.products.create({} as never), 400);
        assert.ok(thrown instanceof Stripe.errors.StripeInvalidRequestError, String(thrown));
      },
      'an amount is a number': () => refused(stripe.paymentIntents.create({ amount: 'much' as never, currency: 'usd' }), 400),
      'a payment has a currency': () => refused(stripe.paymentIntents.create({ amount: 100 } as never), 400),
      'a parameter that there is not': () => refused(stripe.customers.create({ nonsense: 'yes' } as never), 400),
    }),
  },
};
