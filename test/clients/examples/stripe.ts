import assert from 'node:assert/strict';
import { once as happens } from 'node:events';
import { createServer } from 'node:http';
import Stripe from 'stripe';
import { gather, once, type Place, refused, type State, type Vendor } from '../kit.ts';

const month = { unit_amount: 1500, currency: 'usd', recurring: { interval: 'month' as const } };

const connect = (place: Place, token: string): Stripe =>
  new Stripe(token, {
    host: '127.0.0.1',
    port: place.port,
    protocol: 'http',
    telemetry: false,
    maxNetworkRetries: 0,
    apiVersion: '2023-08-16',
  });

/** What Stripe's errors say besides their status. */
const wordsOf = (thrown: unknown): { type?: string; code?: string; param?: string; decline_code?: string } =>
  (thrown as { raw?: object }).raw ?? {};

const customerOf = async (stripe: Stripe, s: State): Promise<string> => {
  const { id } = await stripe.customers.create({ email: 'jenny.rosen@example.com', name: 'Jenny Rosen' });
  s.customer = id;
  return id;
};

/** A customer with a card to charge, and a price by the month. */
const subscriber = async (stripe: Stripe, s: State): Promise<void> => {
  const customer = await customerOf(stripe, s);
  const method = await stripe.paymentMethods.attach('pm_card_visa', { customer });
  await stripe.customers.update(customer, { invoice_settings: { default_payment_method: method.id } });
  const product = await stripe.products.create({ name: 'Gold Plan' });
  s.product = product.id;
  s.price = (await stripe.prices.create({ ...month, product: product.id })).id;
};

/** The first call that comes to an address of this machine, with the address to subscribe with. */
async function listener(): Promise<{ url: string; next: () => Promise<{ body: string; signature: string }>; end: () => void }> {
  const calls: { body: string; signature: string }[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      calls.push({ body: Buffer.concat(parts).toString(), signature: String(request.headers['stripe-signature']) });
      response.end();
      server.emit('called');
    });
  });
  server.listen(0, '127.0.0.1');
  await happens(server, 'listening');
  const { port } = server.address() as { port: number };
  const next = async () => {
    while (calls.length === 0) await happens(server, 'called');
    return calls.shift()!;
  };
  return { url: `http://127.0.0.1:${port}/hook`, next, end: () => server.close() };
}

/** Guide: docs.stripe.com, "Accept a payment", "Build a subscriptions integration", "Invoicing", "Webhooks", "Errors", "Pagination", "Idempotent requests". */
export const vendor: Vendor<Stripe> = {
  document: 'examples/payments.md',
  header: 'Authorization',
  word: 'Bearer',
  made: 'sk_test_4eC39HqLyjWDarjtT1zdp7dc',
  client: connect,
  known: { callers: [{ user: 'merchant', id: 'acct_1' }] },
  flows: {
    'a customer from its making to its end': (stripe, s) => ({
      create: async () => {
        const made = await stripe.customers.create({
          name: 'Jenny Rosen',
          email: 'jenny.rosen@example.com',
          metadata: { order_id: '6735' },
        });
        s.id = made.id;
        assert.match(made.id, /^cus_/);
        assert.deepEqual([made.object, made.name, made.livemode], ['customer', 'Jenny Rosen', false]);
        assert.ok(Math.abs(made.created - Date.now() / 1000) < 60);
      },
      read: async () => {
        const read = (await stripe.customers.retrieve(s.id)) as Stripe.Customer;
        assert.deepEqual([read.id, read.email, read.metadata.order_id], [s.id, 'jenny.rosen@example.com', '6735']);
      },
      change: async () => {
        const changed = await stripe.customers.update(s.id, { name: 'Jenny R.', metadata: { plan: 'gold' } });
        assert.deepEqual([changed.name, changed.email], ['Jenny R.', 'jenny.rosen@example.com']);
        assert.deepEqual({ ...changed.metadata }, { order_id: '6735', plan: 'gold' });
      },
      'take a word of metadata away': async () => {
        const changed = await stripe.customers.update(s.id, { metadata: { order_id: '' } });
        assert.deepEqual({ ...changed.metadata }, { plan: 'gold' });
      },
      'list by address': async () => {
        const { data } = await stripe.customers.list({ email: 'jenny.rosen@example.com', limit: 3 });
        assert.deepEqual(
          data.map(({ id }) => id),
          [s.id],
        );
      },
      delete: async () => {
        const gone = await stripe.customers.del(s.id);
        assert.deepEqual([gone.id, gone.object, gone.deleted], [s.id, 'customer', true]);
      },
      'read what is deleted': async () => {
        const gone = await stripe.customers.retrieve(s.id);
        assert.equal(gone.deleted, true);
      },
    }),
    'all customers, page by page': (stripe, s) => ({
      create: async () => {
        for (let n = 0; n < 7; n += 1) await stripe.customers.create({ name: `customer ${n}` });
      },
      'the first page': async () => {
        const page = await stripe.customers.list({ limit: 3 });
        assert.deepEqual([page.object, page.data.length, page.has_more, page.url], ['list', 3, true, '/v1/customers']);
        assert.equal(page.data[0].name, 'customer 6');
        s.last = page.data[2].id;
        s.first = page.data[0].id;
      },
      'what comes after': async () => {
        const page = await stripe.customers.list({ limit: 3, starting_after: s.last });
        assert.deepEqual(
          page.data.map(({ name }) => name),
          ['customer 3', 'customer 2', 'customer 1'],
        );
        s.second = page.data[0].id;
      },
      'what came before': async () => {
        const page = await stripe.customers.list({ limit: 3, ending_before: s.second });
        assert.deepEqual(
          page.data.map(({ name }) => name),
          ['customer 6', 'customer 5', 'customer 4'],
        );
      },
      'all by itself': async () => {
        const names = await gather(stripe.customers.list({ limit: 3 }), (row) => [row.name ?? '']);
        once(names, ['customer 0', 'customer 3', 'customer 6']);
      },
      'more than a hundred at once': async () => refused(stripe.customers.list({ limit: 101 }), 400),
    }),
    'products and prices': (stripe, s) => ({
      'create a product': async () => {
        const product = await stripe.products.create({ name: 'Gold Plan' });
        s.product = product.id;
        assert.deepEqual([product.object, product.name, product.active], ['product', 'Gold Plan', true]);
      },
      'create its price': async () => {
        const price = await stripe.prices.create({ ...month, product: s.product });
        s.price = price.id;
        assert.match(price.id, /^price_/);
        assert.deepEqual([price.object, price.active, price.unit_amount, price.product], ['price', true, 1500, s.product]);
        assert.deepEqual([price.type, price.recurring?.interval, price.recurring?.interval_count], ['recurring', 'month', 1]);
      },
      'a price for once': async () => {
        const price = await stripe.prices.create({ unit_amount: 500, currency: 'usd', product: s.product });
        assert.deepEqual([price.type, price.recurring], ['one_time', null]);
      },
      'list those of the product': async () => {
        const { data } = await stripe.prices.list({ product: s.product, type: 'recurring' });
        assert.deepEqual(
          data.map(({ id }) => id),
          [s.price],
        );
      },
      'show the product in it': async () => {
        const price = await stripe.prices.retrieve(s.price, { expand: ['product'] });
        assert.equal((price.product as Stripe.Product).name, 'Gold Plan');
      },
      'take it off': async () => {
        const price = await stripe.prices.update(s.price, { active: false, metadata: { order_id: '6735' } });
        assert.deepEqual([price.active, price.metadata.order_id], [false, '6735']);
      },
      'a price of nothing that is sold': async () => {
        const error = wordsOf(await refused(stripe.prices.create({ ...month, product: 'prod_none' }), 400));
        assert.equal(error.type, 'invalid_request_error');
      },
    }),
    'a payment is accepted': (stripe, s) => ({
      create: async () => {
        const intent = await stripe.paymentIntents.create({
          amount: 2000,
          currency: 'usd',
          payment_method_types: ['card'],
        });
        s.id = intent.id;
        assert.match(intent.id, /^pi_/);
        assert.deepEqual([intent.object, intent.status, intent.amount], ['payment_intent', 'requires_payment_method', 2000]);
        assert.ok(intent.client_secret?.startsWith(`${intent.id}_secret_`));
      },
      change: async () => {
        const intent = await stripe.paymentIntents.update(s.id, { amount: 2100, metadata: { order_id: '6735' } });
        assert.deepEqual([intent.amount, intent.metadata.order_id], [2100, '6735']);
      },
      confirm: async () => {
        const intent = await stripe.paymentIntents.confirm(s.id, { payment_method: 'pm_card_visa' });
        assert.deepEqual([intent.status, intent.amount_received], ['succeeded', 2100]);
      },
      read: async () => assert.equal((await stripe.paymentIntents.retrieve(s.id)).status, 'succeeded'),
      'a second confirmation': async () => {
        const error = wordsOf(await refused(stripe.paymentIntents.confirm(s.id, { payment_method: 'pm_card_visa' }), 400));
        assert.equal(error.code, 'payment_intent_unexpected_state');
      },
    }),
    'a card is declined, and another one is taken': (stripe, s) => ({
      create: async () => {
        const intent = await stripe.paymentIntents.create({ amount: 2000, currency: 'usd', payment_method_types: ['card'] });
        s.id = intent.id;
      },
      'a card that is declined': async () => {
        const thrown = await refused(stripe.paymentIntents.confirm(s.id, { payment_method: 'pm_card_visa_chargeDeclined' }), 402);
        assert.ok(thrown instanceof Stripe.errors.StripeCardError);
        assert.deepEqual([wordsOf(thrown).code, wordsOf(thrown).decline_code], ['card_declined', 'generic_decline']);
        assert.equal(thrown.payment_intent?.id, s.id);
      },
      'what is left': async () => {
        const intent = await stripe.paymentIntents.retrieve(s.id);
        assert.equal(intent.status, 'requires_payment_method');
        assert.equal(intent.last_payment_error?.code, 'card_declined');
      },
      'another card': async () => {
        const intent = await stripe.paymentIntents.confirm(s.id, { payment_method: 'pm_card_mastercard' });
        assert.deepEqual([intent.status, intent.last_payment_error], ['succeeded', null]);
      },
    }),
    'a payment is held, then captured': (stripe, s) => ({
      'create and confirm': async () => {
        const intent = await stripe.paymentIntents.create({
          amount: 1099,
          currency: 'usd',
          payment_method_types: ['card'],
          capture_method: 'manual',
          payment_method: 'pm_card_visa',
          confirm: true,
        });
        s.id = intent.id;
        assert.deepEqual([intent.status, intent.amount_capturable], ['requires_capture', 1099]);
      },
      'capture a part': async () => {
        const intent = await stripe.paymentIntents.capture(s.id, { amount_to_capture: 750 });
        assert.deepEqual([intent.status, intent.amount_received, intent.amount_capturable], ['succeeded', 750, 0]);
      },
      'capture again': async () => refused(stripe.paymentIntents.capture(s.id), 400),
    }),
    'a payment is cancelled': (stripe, s) => ({
      create: async () => {
        s.id = (await stripe.paymentIntents.create({ amount: 2000, currency: 'usd', payment_method_types: ['card'] })).id;
      },
      cancel: async () => {
        const intent = await stripe.paymentIntents.cancel(s.id, { cancellation_reason: 'requested_by_customer' });
        assert.deepEqual([intent.status, intent.cancellation_reason], ['canceled', 'requested_by_customer']);
        assert.ok(typeof intent.canceled_at === 'number');
      },
      'confirm what is cancelled': async () =>
        refused(stripe.paymentIntents.confirm(s.id, { payment_method: 'pm_card_visa' }), 400),
    }),
    'a payment is given back': (stripe, s) => ({
      pay: async () => {
        const intent = await stripe.paymentIntents.create({
          amount: 1000,
          currency: 'usd',
          payment_method_types: ['card'],
          payment_method: 'pm_card_visa',
          confirm: true,
        });
        s.id = intent.id;
        assert.equal(intent.status, 'succeeded');
      },
      'a part': async () => {
        const refund = await stripe.refunds.create({ payment_intent: s.id, amount: 400, reason: 'requested_by_customer' });
        assert.deepEqual([refund.object, refund.amount, refund.status], ['refund', 400, 'succeeded']);
      },
      'more than is left': async () => {
        const error = wordsOf(await refused(stripe.refunds.create({ payment_intent: s.id, amount: 700 }), 400));
        assert.equal(error.type, 'invalid_request_error');
      },
      'the rest': async () => assert.equal((await stripe.refunds.create({ payment_intent: s.id })).amount, 600),
      list: async () => assert.equal((await stripe.refunds.list({ payment_intent: s.id })).data.length, 2),
    }),
    'a card is kept for later': (stripe, s) => ({
      customer: async () => customerOf(stripe, s),
      'make the card': async () => {
        const method = await stripe.paymentMethods.create({
          type: 'card',
          card: { number: '4242424242424242', exp_month: 8, exp_year: 2034, cvc: '314' },
        });
        s.method = method.id;
        assert.match(method.id, /^pm_/);
        assert.deepEqual([method.object, method.card?.brand, method.card?.last4], ['payment_method', 'visa', '4242']);
        assert.equal((method.card as { number?: string }).number, undefined);
      },
      attach: async () => {
        const method = await stripe.paymentMethods.attach(s.method, { customer: s.customer });
        assert.equal(method.customer, s.customer);
      },
      list: async () => {
        const { data } = await stripe.customers.listPaymentMethods(s.customer, { type: 'card' });
        assert.deepEqual(
          data.map(({ id }) => id),
          [s.method],
        );
      },
      charge: async () => {
        const intent = await stripe.paymentIntents.create({
          amount: 1099,
          currency: 'usd',
          customer: s.customer,
          payment_method: s.method,
          payment_method_types: ['card'],
          off_session: true,
          confirm: true,
        });
        assert.deepEqual([intent.status, intent.customer], ['succeeded', s.customer]);
      },
      detach: async () => assert.equal((await stripe.paymentMethods.detach(s.method)).customer, null),
    }),
    'a subscription from its making to its end': (stripe, s) => ({
      'what it needs': async () => subscriber(stripe, s),
      create: async () => {
        const made = await stripe.subscriptions.create({
          customer: s.customer,
          items: [{ price: s.price }],
          expand: ['latest_invoice'],
        });
        s.id = made.id;
        s.item = made.items.data[0].id;
        assert.match(made.id, /^sub_/);
        assert.deepEqual([made.object, made.status, made.customer], ['subscription', 'active', s.customer]);
        assert.deepEqual([made.items.data[0].price.id, made.items.data[0].quantity], [s.price, 1]);
        const invoice = made.latest_invoice as Stripe.Invoice;
        assert.deepEqual([invoice.status, invoice.amount_paid], ['paid', 1500]);
        assert.ok(made.current_period_end - made.current_period_start >= 28 * 86_400);
      },
      read: async () => assert.equal((await stripe.subscriptions.retrieve(s.id)).items.data.length, 1),
      'more of it': async () => {
        const changed = await stripe.subscriptions.update(s.id, { items: [{ id: s.item, quantity: 3 }] });
        assert.deepEqual([changed.items.data[0].id, changed.items.data[0].quantity], [s.item, 3]);
      },
      'list those of the customer': async () => {
        const { data } = await stripe.subscriptions.list({ customer: s.customer, status: 'active' });
        assert.deepEqual(
          data.map(({ id }) => id),
          [s.id],
        );
      },
      'to end with its period': async () => {
        const changed = await stripe.subscriptions.update(s.id, { cancel_at_period_end: true });
        assert.deepEqual([changed.status, changed.cancel_at_period_end], ['active', true]);
      },
      'end it now': async () => {
        const ended = await stripe.subscriptions.cancel(s.id);
        assert.equal(ended.status, 'canceled');
        assert.ok(typeof ended.canceled_at === 'number');
      },
      'no longer among the active': async () => {
        const { data } = await stripe.subscriptions.list({ customer: s.customer });
        assert.equal(data.length, 0);
      },
      'among all': async () => {
        const { data } = await stripe.subscriptions.list({ customer: s.customer, status: 'all' });
        assert.equal(data.length, 1);
      },
    }),
    'a subscription on trial': (stripe, s) => ({
      'what it needs': async () => subscriber(stripe, s),
      create: async () => {
        const made = await stripe.subscriptions.create({
          customer: s.customer,
          items: [{ price: s.price, quantity: 2 }],
          trial_period_days: 7,
        });
        s.id = made.id;
        assert.equal(made.status, 'trialing');
        assert.ok(Math.abs((made.trial_end ?? 0) - (Date.now() / 1000 + 7 * 86_400)) < 60);
        assert.equal(made.items.data[0].quantity, 2);
      },
      'end the trial': async () => {
        const changed = await stripe.subscriptions.update(s.id, { trial_end: 'now' });
        assert.equal(changed.status, 'active');
      },
      'items of it': async () => {
        const { data } = await stripe.subscriptionItems.list({ subscription: s.id });
        assert.deepEqual(
          data.map(({ quantity }) => quantity),
          [2],
        );
      },
    }),
    'an invoice is written, sent and paid': (stripe, s) => ({
      'what it needs': async () => subscriber(stripe, s),
      create: async () => {
        const invoice = await stripe.invoices.create({
          customer: s.customer,
          collection_method: 'send_invoice',
          days_until_due: 30,
        });
        s.id = invoice.id;
        assert.match(invoice.id, /^in_/);
        assert.deepEqual([invoice.object, invoice.status, invoice.number], ['invoice', 'draft', null]);
      },
      'a line': async () => {
        const item = await stripe.invoiceItems.create({
          customer: s.customer,
          invoice: s.id,
          amount: 2500,
          currency: 'usd',
          description: 'One-time setup fee',
        });
        assert.deepEqual([item.object, item.amount, item.invoice], ['invoiceitem', 2500, s.id]);
      },
      'its lines': async () => {
        const { data } = await stripe.invoices.listLineItems(s.id);
        assert.deepEqual(
          data.map(({ amount, description }) => [amount, description]),
          [[2500, 'One-time setup fee']],
        );
      },
      finalize: async () => {
        const invoice = await stripe.invoices.finalizeInvoice(s.id);
        assert.deepEqual([invoice.status, invoice.total, invoice.amount_due], ['open', 2500, 2500]);
        assert.match(invoice.number ?? '', /-0001$/);
      },
      pay: async () => {
        const invoice = await stripe.invoices.pay(s.id);
        assert.deepEqual([invoice.status, invoice.amount_paid, invoice.amount_remaining], ['paid', 2500, 0]);
      },
      'pay again': async () => refused(stripe.invoices.pay(s.id), 400),
      'list those of the customer': async () => {
        const { data } = await stripe.invoices.list({ customer: s.customer, status: 'paid' });
        assert.deepEqual(
          data.map(({ id }) => id),
          [s.id],
        );
      },
    }),
    'an invoice is voided': (stripe, s) => ({
      'what it needs': async () => subscriber(stripe, s),
      'a draft is thrown away': async () => {
        const draft = await stripe.invoices.create({ customer: s.customer });
        const gone = await stripe.invoices.del(draft.id);
        assert.deepEqual([gone.id, gone.deleted], [draft.id, true]);
        await refused(stripe.invoices.retrieve(draft.id), 404);
      },
      'an open one': async () => {
        const { id } = await stripe.invoices.create({
          customer: s.customer,
          collection_method: 'send_invoice',
          days_until_due: 30,
        });
        s.id = id;
        await stripe.invoiceItems.create({ customer: s.customer, invoice: id, amount: 500, currency: 'usd' });
        await stripe.invoices.finalizeInvoice(id);
      },
      'is not thrown away': async () => refused(stripe.invoices.del(s.id), 400),
      void: async () => assert.equal((await stripe.invoices.voidInvoice(s.id)).status, 'void'),
      'and not paid': async () => refused(stripe.invoices.pay(s.id), 400),
    }),
    'events are told': (stripe, s) => {
      let heard: Awaited<ReturnType<typeof listener>>;
      return {
        subscribe: async () => {
          heard = await listener();
          const made = await stripe.webhookEndpoints.create({ url: heard.url, enabled_events: ['customer.created'] });
          s.id = made.id;
          s.secret = made.secret ?? '';
          assert.match(made.id, /^we_/);
          assert.match(s.secret, /^whsec_/);
          assert.deepEqual([made.object, made.status], ['webhook_endpoint', 'enabled']);
        },
        'its secret is shown once': async () => assert.equal((await stripe.webhookEndpoints.retrieve(s.id)).secret, undefined),
        'a customer is made': async () => {
          s.customer = (await stripe.customers.create({ name: 'Jenny Rosen' })).id;
        },
        'the event comes, and is signed': async () => {
          const { body, signature } = await heard.next();
          const event = stripe.webhooks.constructEvent(body, signature, s.secret);
          s.event = event.id;
          assert.deepEqual([event.object, event.type], ['event', 'customer.created']);
          assert.equal((event.data.object as Stripe.Customer).id, s.customer);
        },
        'read it again': async () => {
          const event = await stripe.events.retrieve(s.event);
          assert.deepEqual([event.id, event.type], [s.event, 'customer.created']);
          assert.equal((event.data.object as Stripe.Customer).id, s.customer);
        },
        'list by type': async () => {
          const { data } = await stripe.events.list({ type: 'customer.created', limit: 10 });
          once(
            data.map(({ id }) => id),
            [s.event],
          );
        },
        'everything else too': async () => {
          const changed = await stripe.webhookEndpoints.update(s.id, { enabled_events: ['*'] });
          assert.deepEqual(changed.enabled_events, ['*']);
          await stripe.customers.update(s.customer, { name: 'Jenny R.' });
          const { body, signature } = await heard.next();
          const event = stripe.webhooks.constructEvent(body, signature, s.secret);
          assert.equal(event.type, 'customer.updated');
          assert.equal((event.data.previous_attributes as { name?: string }).name, 'Jenny Rosen');
        },
        'switch it off': async () => {
          const changed = await stripe.webhookEndpoints.update(s.id, { disabled: true });
          assert.equal(changed.status, 'disabled');
        },
        unsubscribe: async () => {
          heard.end();
          const gone = await stripe.webhookEndpoints.del(s.id);
          assert.deepEqual([gone.id, gone.deleted], [s.id, true]);
        },
      };
    },
    'a request comes twice': (stripe, s) => ({
      'the same customer': async () => {
        const first = await stripe.customers.create({ name: 'Ada' }, { idempotencyKey: 'KG5LxwFBepaKHyUD' });
        const second = await stripe.customers.create({ name: 'Ada' }, { idempotencyKey: 'KG5LxwFBepaKHyUD' });
        s.id = first.id;
        assert.equal(second.id, first.id);
      },
      'and no other': async () => assert.equal((await stripe.customers.list()).data.length, 1),
      'another request under the key': async () => {
        const thrown = await refused(stripe.customers.create({ name: 'Bob' }, { idempotencyKey: 'KG5LxwFBepaKHyUD' }), 400);
        assert.ok(thrown instanceof Stripe.errors.StripeIdempotencyError);
      },
    }),
    'things are shown inside others': (stripe, s) => ({
      'what it needs': async () => subscriber(stripe, s),
      pay: async () => {
        const intent = await stripe.paymentIntents.create({
          amount: 900,
          currency: 'usd',
          customer: s.customer,
          payment_method: 'pm_card_visa',
          payment_method_types: ['card'],
          confirm: true,
          expand: ['customer'],
        });
        s.id = intent.id;
        assert.equal((intent.customer as Stripe.Customer).email, 'jenny.rosen@example.com');
      },
      'two at once': async () => {
        const intent = await stripe.paymentIntents.retrieve(s.id, { expand: ['customer', 'payment_method'] });
        assert.equal((intent.customer as Stripe.Customer).id, s.customer);
        assert.equal((intent.payment_method as Stripe.PaymentMethod).card?.last4, '4242');
      },
      'in a list': async () => {
        const { data } = await stripe.paymentIntents.list({ customer: s.customer, expand: ['data.customer'] });
        assert.equal((data[0].customer as Stripe.Customer).id, s.customer);
      },
      'what cannot be': async () => refused(stripe.paymentIntents.retrieve(s.id, { expand: ['amount'] }), 400),
    }),
    'what is wrong is said': (stripe, _s, another) => ({
      'a thing that is not there': async () => {
        const error = wordsOf(await refused(stripe.customers.retrieve('cus_none'), 404));
        assert.deepEqual([error.type, error.code, error.param], ['invalid_request_error', 'resource_missing', 'id']);
      },
      'a parameter that is missing': async () => {
        // @ts-expect-error: the currency is what is missing
        const error = wordsOf(await refused(stripe.paymentIntents.create({ amount: 100 }), 400));
        assert.deepEqual([error.type, error.code, error.param], ['invalid_request_error', 'parameter_missing', 'currency']);
      },
      'a parameter that nobody knows': async () => {
        // @ts-expect-error: nobody knows it
        const error = wordsOf(await refused(stripe.customers.create({ colour: 'red' }), 400));
        assert.deepEqual([error.code, error.param], ['parameter_unknown', 'colour']);
      },
      'a number that is none': async () => {
        // @ts-expect-error: no number
        const error = wordsOf(await refused(stripe.paymentIntents.create({ amount: 'many', currency: 'usd' }), 400));
        assert.deepEqual([error.code, error.param], ['parameter_invalid_integer', 'amount']);
      },
      'a key that is none': async () => {
        const thrown = await refused(another('sk_test_none').customers.list(), 401);
        assert.ok(thrown instanceof Stripe.errors.StripeAuthenticationError);
      },
      'each answer names its request': async () => {
        const page = await stripe.customers.list();
        assert.match(page.lastResponse.requestId, /^req_/);
      },
    }),
  },
};
