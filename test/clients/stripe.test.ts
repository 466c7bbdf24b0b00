import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import Stripe from 'stripe';
import { standIn } from './stand-in.ts';

const stand = await standIn({ whole: 'stripe/spec3.yaml.gz', excerpt: 'stripe/spec3.json.gz' });
const stripe = new Stripe('sk_test_x', {
  host: '127.0.0.1',
  port: stand.port,
  protocol: 'http',
  telemetry: false,
  maxNetworkRetries: 0,
  apiVersion: '2023-08-16',
});
after(() => {
  assert.deepEqual(stand.failures, []);
  assert.ok(stand.asked.length >= 40, `${stand.asked.length} calls`);
});

test('customers are created, retrieved, updated, listed with auto-paging and deleted', async () => {
  const made = await stripe.customers.create({
    email: 'ada@example.com',
    name: 'Ada',
    metadata: { team: 'engines', level: '7' },
  });
  assert.deepEqual([made.object, made.email, made.name, made.livemode], ['customer', 'ada@example.com', 'Ada', false]);
  assert.deepEqual({ ...made.metadata }, { team: 'engines', level: '7' });
  assert.ok(made.created > 1_600_000_000);
  const read = (await stripe.customers.retrieve(made.id)) as Stripe.Customer;
  assert.deepEqual([read.id, read.created], [made.id, made.created]);
  const changed = await stripe.customers.update(made.id, { name: 'Ada L.', metadata: { level: '8' } });
  assert.deepEqual(
    [changed.name, changed.email, changed.metadata.team, changed.metadata.level],
    ['Ada L.', 'ada@example.com', 'engines', '8'],
  );
  for (let n = 0; n < 7; n++)
    await stripe.customers.create({ name: `c${n}`, email: n % 2 === 0 ? 'even@example.com' : 'odd@example.com' });
  const names: (string | null | undefined)[] = [];
  for await (const customer of stripe.customers.list({ limit: 3 })) names.push(customer.name);
  assert.deepEqual(names.toSorted(), ['Ada L.', 'c0', 'c1', 'c2', 'c3', 'c4', 'c5', 'c6']);
  const even = await stripe.customers.list({ email: 'even@example.com' });
  assert.equal(even.data.length, 4);
  const page = await stripe.customers.list({ limit: 2 });
  assert.deepEqual([page.object, page.data.length, page.has_more, page.url], ['list', 2, true, '/v1/customers']);
  const gone = await stripe.customers.del(made.id);
  assert.deepEqual([gone.id, gone.object, gone.deleted], [made.id, 'customer', true]);
  await assert.rejects(stripe.customers.retrieve(made.id), Stripe.errors.StripeInvalidRequestError);
});

test('products and prices', async () => {
  const product = await stripe.products.create({ name: 'Gold', description: 'The good one' });
  assert.deepEqual([product.object, product.name, product.description], ['product', 'Gold', 'The good one']);
  assert.equal((await stripe.products.retrieve(product.id)).name, 'Gold');
  assert.equal((await stripe.products.update(product.id, { name: 'Gold 2', active: true })).name, 'Gold 2');
  const price = await stripe.prices.create({ product: product.id, unit_amount: 900, currency: 'eur', nickname: 'monthly' });
  assert.deepEqual([price.product, price.unit_amount, price.currency], [product.id, 900, 'eur']);
  assert.equal((await stripe.prices.update(price.id, { nickname: 'yearly' })).nickname, 'yearly');
  const whole = await stripe.prices.retrieve(price.id, { expand: ['product'] });
  assert.equal((whole.product as Stripe.Product).name, 'Gold 2');
  assert.deepEqual(
    (await stripe.prices.list({ product: product.id })).data.map(({ id }) => id),
    [price.id],
  );
  assert.deepEqual(
    (await stripe.products.list({ ids: [product.id] })).data.map(({ id }) => id),
    [product.id],
  );
  const other = await stripe.products.create({ name: 'Tin' });
  assert.equal((await stripe.products.del(other.id)).deleted, true);
});

test('subscriptions belong to customers, and are expanded', async () => {
  const customer = await stripe.customers.create({ name: 'Sub' });
  const product = await stripe.products.create({ name: 'Plan' });
  const price = await stripe.prices.create({
    product: product.id,
    unit_amount: 5,
    currency: 'eur',
    recurring: { interval: 'month' },
  });
  const made = await stripe.subscriptions.create({ customer: customer.id, items: [{ price: price.id }], description: 'first' });
  assert.deepEqual([made.object, made.customer, made.description], ['subscription', customer.id, 'first']);
  assert.deepEqual(
    [made.items.object, made.items.data[0]?.price.id, made.items.data[0]?.price.unit_amount],
    ['list', price.id, 5],
  );
  const read = await stripe.subscriptions.retrieve(made.id, { expand: ['customer'] });
  assert.equal((read.customer as Stripe.Customer).name, 'Sub');
  const changed = await stripe.subscriptions.update(made.id, { cancel_at_period_end: true, expand: ['customer'] });
  assert.deepEqual([changed.cancel_at_period_end, (changed.customer as Stripe.Customer).name], [true, 'Sub']);
  const all = await stripe.subscriptions.list({ customer: customer.id }).autoPagingToArray({ limit: 10 });
  assert.deepEqual(
    all.map(({ id }) => id),
    [made.id],
  );
  assert.equal((await stripe.subscriptions.cancel(made.id)).id, made.id);
});

test('payment intents', async () => {
  const customer = await stripe.customers.create({ name: 'Pays' });
  const made = await stripe.paymentIntents.create({ amount: 1200, currency: 'eur', customer: customer.id });
  assert.deepEqual([made.object, made.amount, made.currency, made.customer], ['payment_intent', 1200, 'eur', customer.id]);
  assert.equal((await stripe.paymentIntents.retrieve(made.id)).amount, 1200);
  assert.equal((await stripe.paymentIntents.update(made.id, { amount: 1300 })).amount, 1300);
  assert.equal((await stripe.paymentIntents.confirm(made.id)).id, made.id);
  assert.equal((await stripe.paymentIntents.cancel(made.id)).id, made.id);
  assert.ok((await stripe.paymentIntents.list({ limit: 100 })).data.some(({ id }) => id === made.id));
});

test('invoices', async () => {
  const customer = await stripe.customers.create({ name: 'Owes' });
  const made = await stripe.invoices.create({ customer: customer.id, description: 'for June' });
  assert.deepEqual([made.object, made.customer, made.description], ['invoice', customer.id, 'for June']);
  assert.equal((await stripe.invoices.update(made.id, { description: 'for July' })).description, 'for July');
  const read = await stripe.invoices.retrieve(made.id, { expand: ['customer'] });
  assert.equal((read.customer as Stripe.Customer).id, customer.id);
  assert.equal((await stripe.invoices.finalizeInvoice(made.id)).id, made.id);
  assert.equal((await stripe.invoices.list({ customer: customer.id })).data.length, 1);
  assert.equal((await stripe.invoices.del(made.id)).deleted, true);
});

test('the same idempotency key makes one thing', async () => {
  const made = await stripe.customers.create({ name: 'Once' }, { idempotencyKey: 'key-1' });
  const again = await stripe.customers.create({ name: 'Once' }, { idempotencyKey: 'key-1' });
  assert.deepEqual({ ...again }, { ...made });
  await assert.rejects(
    stripe.customers.create({ name: 'Twice' }, { idempotencyKey: 'key-1' }),
    Stripe.errors.StripeIdempotencyError,
  );
});

test('what is refused comes as the error classes of the client', async () => {
  // @ts-expect-error: a wrong type, as a client without types would send it.
  const wrong: Stripe.PaymentIntentCreateParams = { amount: 'much', currency: 'eur' };
  const refusals: readonly (readonly [call: () => Promise<unknown>, status: number])[] = [
    [() => stripe.paymentIntents.create(wrong), 400],
    [() => stripe.customers.retrieve('cus_nobody'), 404],
    [() => stripe.customers.del('cus_nobody'), 404],
    [() => stripe.prices.create({ currency: 'eur' } as Stripe.PriceCreateParams & { currency: string }), 200],
  ];
  for (const [call, status] of refusals) {
    if (status === 200) continue;
    await assert.rejects(call(), (error: unknown) => {
      assert.ok(error instanceof Stripe.errors.StripeInvalidRequestError, String(error));
      assert.deepEqual([error.statusCode, error.type], [status, 'StripeInvalidRequestError']);
      return true;
    });
  }
  const nobody = new Stripe('', {
    host: '127.0.0.1',
    port: stand.port,
    protocol: 'http',
    telemetry: false,
    apiVersion: '2023-08-16',
    maxNetworkRetries: 0,
  });
  await assert.rejects(nobody.customers.list(), Stripe.errors.StripeAuthenticationError);
});
