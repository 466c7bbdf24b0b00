import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import Stripe from 'stripe';
import { check, readDocument } from '../src/index.ts';
import { startReceiver } from './events/receiver.ts';
import { startTrial } from './events/trial.ts';

const file = 'examples/payments.md';
const { webhooks } = new Stripe('sk_test_x', { apiVersion: '2023-08-16' });
const day = 86_400_000;
const approved = '4242424242424242';
const declined = '4000000000000002';
const empty = '4000000000009995';

type Form = Readonly<Record<string, string | number | boolean>>;
// What came back is whatever the test says it is.
// biome-ignore lint/suspicious/noExplicitAny: as above
type Body = any;

/** The example, served over a store, with forms for bodies and the clock moved by hand. */
async function open(context: TestContext) {
  const trial = await startTrial(context, await readDocument(file));
  const ask = async (method: string, path: string, form?: Form, headers: Readonly<Record<string, string>> = {}) => {
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    const response = await trial.service.fetch(
      new Request(`http://127.0.0.1/v1${path}`, {
        method,
        headers: { 'x-who': 'merchant/acct_1', ...(form && type), ...headers },
        ...(form && {
          body: new URLSearchParams(
            Object.entries(form).map(([name, value]): [string, string] => [name, String(value)]),
          ).toString(),
        }),
      }),
    );
    return { status: response.status, json: (await response.json()) as Body };
  };
  const post = async (path: string, form: Form = {}, status = 201) => {
    const answer = await ask('POST', path, form);
    assert.equal(answer.status, status, JSON.stringify(answer.json));
    return answer.json;
  };
  const get = async (path: string) => {
    const answer = await ask('GET', path);
    assert.equal(answer.status, 200, JSON.stringify(answer.json));
    return answer.json;
  };
  const card = (number: string, customer: string) =>
    post('/payment_methods', { type: 'card', customer, 'card[number]': number, 'card[exp_month]': 4, 'card[exp_year]': 2030 });
  /** A customer whose invoices go to a card of this number, and a price of 9 euros a month. */
  const customerWith = async (number: string) => {
    const { id } = await post('/customers', { email: 'ada@example.com' });
    const { id: method } = await card(number, id);
    return post(`/customers/${id}`, { default_payment_method: method }, 200);
  };
  const monthly = async (amount = 900) => {
    const product = await post('/products', { name: 'Gold' });
    return post('/prices', { product: product.id, unit_amount: amount, currency: 'eur', 'recurring[interval]': 'month' });
  };
  const types = async () => (await get('/events?limit=100')).data.map(({ type }: Body) => type) as string[];
  context.after(() => assert.deepEqual(trial.failures, []));
  return { trial, ask, post, get, card, customerWith, monthly, types };
}

test('the example is sound, says everything, and has no more than 600 lines', async () => {
  const { findings, ledger } = check(await readDocument(file));
  assert.deepEqual(findings, []);
  assert.deepEqual(
    ledger.facts.filter(({ standing }) => standing === 'open'),
    [],
  );
  assert.ok(readFileSync(file, 'utf8').split('\n').length <= 601);
});

test('bodies are forms, metadata is merged, and what is wrong is told in an envelope of its own', async (context) => {
  const { ask, post } = await open(context);
  const made = await post('/customers', { name: 'Ada', email: 'ada@example.com', 'metadata[team]': 'engines' });
  assert.match(made.id, /^cus_\w{14}$/);
  assert.deepEqual([made.object, made.metadata], ['customer', { team: 'engines' }]);
  const changed = await post(`/customers/${made.id}`, { 'metadata[level]': '7' }, 200);
  assert.deepEqual([changed.name, changed.metadata], ['Ada', { team: 'engines', level: '7' }]);
  const refusals = [
    [{ email: 'ada' }, 'parameter_invalid', '/email'],
    [{ nmae: 'Ada' }, 'parameter_unknown', '/nmae'],
  ] as const;
  for (const [form, code, param] of refusals) {
    const { status, json } = await ask('POST', '/customers', form);
    assert.deepEqual([status, json.error.type, json.error.code, json.error.param], [400, 'invalid_request_error', code, param]);
  }
  assert.equal((await ask('POST', '/products', {})).json.error.code, 'parameter_missing');
});

test('who is deleted is told of as deleted, and nobody is seen by another account', async (context) => {
  const { ask, post, get } = await open(context);
  const { id } = await post('/customers', { name: 'Ada' });
  const other = { 'x-who': 'merchant/acct_2' };
  assert.equal((await ask('GET', `/customers/${id}`, undefined, { 'x-who': '' })).json.error.code, 'api_key_invalid');
  assert.equal((await ask('GET', `/customers/${id}`, undefined, other)).json.error.code, 'resource_missing');
  assert.deepEqual((await ask('GET', '/customers', undefined, other)).json, { object: 'list', data: [], has_more: false });
  assert.deepEqual((await ask('POST', '/payment_intents', { amount: 500, currency: 'eur', customer: id }, other)).status, 400);
  assert.deepEqual((await ask('DELETE', `/customers/${id}`)).json, { id, object: 'customer', deleted: true });
  assert.deepEqual(await get(`/customers/${id}`), { id, object: 'customer', deleted: true });
  assert.equal((await ask('POST', `/customers/${id}`, { name: 'B' })).status, 404);
});

test('a declined card is answered with its error, again under its key, and leaves its payment to be tried again', async (context) => {
  const { ask, post, get, card, customerWith, types } = await open(context);
  const customer = await customerWith(approved);
  const payment = await post('/payment_intents', { amount: 500, currency: 'eur', customer: customer.id });
  assert.ok(payment.client_secret.startsWith(`${payment.id}_secret_`));
  const path = `/payment_intents/${payment.id}`;
  assert.equal((await ask('POST', `${path}/confirm`)).json.error.code, 'payment_method_missing');
  const { id: bad } = await card(declined, customer.id);
  for (let time = 0; time < 2; time++) {
    const { status, json } = await ask('POST', `${path}/confirm`, { payment_method: bad }, { 'idempotency-key': 'one' });
    assert.deepEqual([status, json.error.type, json.error.code], [402, 'card_error', 'card_declined']);
  }
  const left = await get(path);
  assert.deepEqual([left.status, left.payment_method, left.amount_received], ['requires_payment_method', bad, 0]);
  assert.deepEqual(left.last_payment_error, { type: 'card_error', code: 'card_declined' });
  const { id: poor } = await card(empty, customer.id);
  assert.equal((await ask('POST', `${path}/confirm`, { payment_method: poor })).json.error.code, 'insufficient_funds');
  const paid = await post(`${path}/confirm`, { payment_method: customer.default_payment_method }, 200);
  assert.deepEqual([paid.status, paid.amount_received, paid.last_payment_error], ['succeeded', 500, undefined]);
  assert.equal((await ask('POST', `${path}/confirm`)).json.error.code, 'unexpected_state');
  // The first refusal was decided by nothing that changes; the two cards were told of, each once.
  assert.equal((await types()).filter((type) => type === 'payment_intent.payment_failed').length, 2);
});

test('one key makes one payment, however often it is sent, and is good for nothing else', async (context) => {
  const { ask, get } = await open(context);
  const once = { 'idempotency-key': 'k' };
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => ask('POST', '/payment_intents', { amount: 700, currency: 'usd' }, once)),
  );
  const made = answers.filter(({ status }) => status === 201);
  assert.ok(made.length >= 1);
  assert.equal(new Set(made.map(({ json }) => json.id)).size, 1);
  assert.equal((await get('/payment_intents')).data.length, 1);
  const { status, json } = await ask('POST', '/payment_intents', { amount: 701, currency: 'usd' }, once);
  assert.deepEqual([status, json.error.type, json.error.code], [400, 'idempotency_error', 'idempotency_key_reused']);
});

test('no more is given back than was paid, whoever races', async (context) => {
  const { ask, post, get, customerWith } = await open(context);
  const customer = await customerWith(approved);
  const { id } = await post('/payment_intents', {
    amount: 500,
    currency: 'eur',
    payment_method: customer.default_payment_method,
  });
  assert.equal((await ask('POST', '/refunds', { payment_intent: id, amount: 100 })).json.error.code, 'refund_too_large');
  await post(`/payment_intents/${id}/confirm`, {}, 200);
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => ask('POST', '/refunds', { payment_intent: id, amount: 200, reason: 'duplicate' })),
  );
  assert.equal(answers.filter(({ status }) => status === 201).length, 2);
  assert.equal((await get(`/payment_intents/${id}`)).amount_refunded, 400);
});

test('a subscription bills its items at once, pays by the card of its customer, and renews by the clock', async (context) => {
  const { trial, post, get, customerWith, monthly } = await open(context);
  const [customer, gold, extra] = [await customerWith(approved), await monthly(900), await monthly(100)];
  const made = await post('/subscriptions', {
    customer: customer.id,
    currency: 'eur',
    'items[0][price]': gold.id,
    'items[1][price]': extra.id,
    'items[1][quantity]': 3,
  });
  assert.equal(made.status, 'active');
  assert.deepEqual(
    made.items.data.map(({ price, quantity }: Body) => [price.id, quantity]),
    [
      [gold.id, 1],
      [extra.id, 3],
    ],
  );
  const [first] = (await get(`/invoices?subscription=${made.id}&expand[]=payment_intent`)).data;
  assert.deepEqual(
    [first.status, first.total, first.amount_paid, first.billing_reason],
    ['paid', 1200, 1200, 'subscription_create'],
  );
  assert.deepEqual(
    first.lines.data.map(({ amount }: Body) => amount),
    [900, 300],
  );
  assert.deepEqual([first.payment_intent.status, first.payment_intent.amount], ['succeeded', 1200]);
  await trial.advance(31 * day);
  const renewed = await get(`/subscriptions/${made.id}?expand[]=latest_invoice`);
  assert.equal(renewed.current_period_start, made.current_period_end);
  assert.deepEqual([renewed.latest_invoice.status, renewed.latest_invoice.billing_reason], ['paid', 'subscription_cycle']);
  assert.equal(renewed.latest_invoice.number, `${customer.invoice_prefix}-0002`);
  await post(`/subscriptions/${made.id}`, { cancel_at_period_end: true }, 200);
  await trial.advance(31 * day);
  assert.equal((await get(`/subscriptions/${made.id}`)).status, 'canceled');
  assert.equal((await get('/invoices')).data.length, 2);
});

test('a subscription whose card is declined is incomplete until its payment is, and lapses after a day', async (context) => {
  const { trial, ask, post, get, card, customerWith, monthly } = await open(context);
  const [customer, gold] = [await customerWith(declined), await monthly()];
  const subscribe = () => post('/subscriptions', { customer: customer.id, currency: 'eur', 'items[0][price]': gold.id });
  const [one, two] = [await subscribe(), await subscribe()];
  assert.deepEqual([one.status, two.status], ['incomplete', 'incomplete']);
  const invoice = await get(`/invoices/${one.latest_invoice}`);
  assert.deepEqual([invoice.status, invoice.attempt_count], ['open', 1]);
  assert.equal((await ask('POST', `/invoices/${invoice.id}/pay`)).json.error.code, 'card_declined');
  const { id } = await card(approved, customer.id);
  await post(`/payment_intents/${invoice.payment_intent}/confirm`, { payment_method: id }, 200);
  assert.equal((await get(`/invoices/${invoice.id}`)).status, 'paid');
  assert.equal((await get(`/subscriptions/${one.id}`)).status, 'active');
  await trial.advance(day);
  assert.equal((await get(`/subscriptions/${two.id}`)).status, 'incomplete_expired');
  // What comes due meets the bad card again: the subscription is behind until the invoice is paid.
  await trial.advance(31 * day);
  const behind = await get(`/subscriptions/${one.id}`);
  assert.equal(behind.status, 'past_due');
  await post(`/invoices/${behind.latest_invoice}`, { default_payment_method: id }, 200);
  await post(`/invoices/${behind.latest_invoice}/pay`, {}, 200);
  assert.equal((await get(`/subscriptions/${one.id}`)).status, 'active');
});

test('a trial is reminded of three days before its end, and billed then', async (context) => {
  const { trial, post, get, customerWith, monthly, types } = await open(context);
  const [customer, gold] = [await customerWith(approved), await monthly()];
  const form = { customer: customer.id, currency: 'eur', trial_period_days: 10, 'items[0][price]': gold.id };
  const made = await post('/subscriptions', form);
  assert.deepEqual([made.status, made.trial_end - made.created, made.latest_invoice], ['trialing', 10 * 86_400, undefined]);
  await trial.advance(6 * day);
  assert.ok(!(await types()).includes('customer.subscription.trial_will_end'));
  await trial.advance(day);
  assert.equal((await types()).filter((type) => type === 'customer.subscription.trial_will_end').length, 1);
  await trial.advance(3 * day);
  const { status, latest_invoice: billed } = await get(`/subscriptions/${made.id}?expand[]=latest_invoice`);
  assert.deepEqual([status, billed.status, billed.total], ['active', 'paid', 900]);
});

test('prices that do not fit a subscription are refused at their place, with nothing left of it', async (context) => {
  const { ask, post, get, customerWith, monthly } = await open(context);
  const [customer, gold] = [await customerWith(approved), await monthly()];
  const once = await post('/prices', { product: gold.product, unit_amount: 100, currency: 'eur' });
  const form = { customer: customer.id, currency: 'eur', 'items[0][price]': gold.id, 'items[1][price]': once.id };
  assert.equal((await ask('POST', '/subscriptions', form)).json.error.code, 'price_mismatch');
  assert.equal((await get('/subscriptions')).data.length, 0);
  assert.equal((await get('/invoices')).data.length, 0);
});

test('invoices are numbered without a gap where they are finalized, for each customer, whoever races', async (context) => {
  const { ask, post, get, customerWith } = await open(context);
  const [ada, bob] = [await customerWith(approved), await customerWith(approved)];
  const draft = (customer: Body, amount: number) =>
    post('/invoices', { customer: customer.id, currency: 'eur', 'lines[0][unit_amount]': amount, 'lines[0][quantity]': 2 });
  const drafts = await Promise.all(Array.from({ length: 8 }, (_, at) => draft(ada, at === 3 ? 10 : 500)));
  assert.ok(drafts.every(({ number, status }) => number === undefined && status === 'draft'));
  const finals = await Promise.all(drafts.map(({ id }) => ask('POST', `/invoices/${id}/finalize`)));
  // One comes to too little, and draws no number.
  assert.equal(finals[3]?.json.error.code, 'amount_out_of_range');
  const numbers = finals.flatMap(({ json }) => json.number ?? []).sort();
  assert.deepEqual(
    numbers,
    [1, 2, 3, 4, 5, 6, 7].map((at) => `${ada.invoice_prefix}-000${at}`),
  );
  const other = await post(`/invoices/${(await draft(bob, 500)).id}/finalize`, {}, 200);
  assert.equal(other.number, `${bob.invoice_prefix}-0001`);
  const late = await ask('POST', `/invoices/${other.id}/lines`, { unit_amount: 5 });
  assert.equal(late.json.error.code, 'invoice_not_editable');
  assert.equal((await post(`/invoices/${other.id}/pay`, {}, 200)).amount_paid, 1000);
  const voided = await post(`/invoices/${finals[0]?.json.id}/void`, {}, 200);
  assert.equal((await get(`/payment_intents/${voided.payment_intent}`)).status, 'canceled');
  assert.equal((await get(`/customers/${ada.id}`)).next_invoice_sequence, 8);
});

test('lists go on after a thing, and references are shown whole where that is asked for', async (context) => {
  const { post, get, customerWith } = await open(context);
  const customer = await customerWith(approved);
  const made = [];
  for (let at = 0; at < 5; at++)
    made.push((await post('/payment_intents', { amount: 500 + at, currency: 'eur', customer: customer.id })).id);
  const seen: string[] = [];
  for (let after = ''; ; ) {
    const page = await get(`/payment_intents?limit=2${after}`);
    assert.equal(page.object, 'list');
    seen.push(...page.data.map(({ id }: Body) => id));
    if (!page.has_more) break;
    after = `&starting_after=${seen.at(-1)}`;
  }
  assert.deepEqual(seen.toSorted(), made.toSorted());
  const one = await get(`/payment_intents/${made[0]}?expand[]=customer.default_payment_method`);
  assert.deepEqual(one.customer.default_payment_method.card, { exp_month: 4, exp_year: 2030, last4: approved.slice(-4) });
  assert.equal((await get(`/payment_intents/${made[0]}`)).customer, customer.id);
});

test('webhooks tell of the rows of the log, signed so that the library of another service reads them', async (context) => {
  const { trial, ask, post, get, customerWith } = await open(context);
  const receiver = await startReceiver(context);
  const hook = await post('/webhook_endpoints', {
    url: receiver.url,
    'enabled_events[0]': 'refund.created',
    'enabled_events[1]': 'payment_intent.succeeded',
  });
  assert.match(hook.secret, /^whsec_/);
  assert.equal((await get(`/webhook_endpoints/${hook.id}`)).secret, undefined);
  const unknown = await ask('POST', '/webhook_endpoints', { url: receiver.url, 'enabled_events[0]': 'refund.made' });
  assert.equal(unknown.json.error.code, 'parameter_invalid');
  const customer = await customerWith(approved);
  const { id } = await post('/payment_intents', {
    amount: 500,
    currency: 'eur',
    payment_method: customer.default_payment_method,
  });
  const confirmed = await post(`/payment_intents/${id}/confirm`, {}, 200);
  await post('/refunds', { payment_intent: id, amount: 500 });
  await trial.service.settled();
  assert.deepEqual(receiver.received.map(({ json }) => json.type).sort(), ['payment_intent.succeeded', 'refund.created']);
  for (const { body, headers } of receiver.received) {
    const signature = String(headers['payments-signature']);
    const event = webhooks.constructEvent(body, signature, hook.secret, 300, undefined, trial.clock.now()) as Body;
    assert.deepEqual(await get(`/events/${event.id}`), event);
    assert.throws(() => webhooks.constructEvent(`${body} `, signature, hook.secret, 300, undefined, trial.clock.now()));
  }
  const [paid] = (await get('/events?type=payment_intent.succeeded')).data;
  assert.deepEqual(paid.data, { object: confirmed });
});
