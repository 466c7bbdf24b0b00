import assert from 'node:assert/strict';
import { Client } from 'mollie-api-typescript';
import { fitting, gather, given, once, type Place, refused, type Vendor } from '../kit.ts';

const connect = (place: Place, token: string): Client => new Client({ security: { apiKey: token }, serverURL: place.url });

/**
 * Webhooks are managed by an organization's access token, not by a website's key: the last of the tokens that are printed,
 * where there are several.
 */
const organization = (place: Place): Client => {
  const token = fitting(place, { header: 'Authorization', word: 'Bearer' }).at(-1) ?? 'access_madeup';
  return new Client({ security: { advancedAccessToken: token }, serverURL: place.url });
};

const euros = (value: string): { currency: string; value: string } => ({ currency: 'EUR', value });

const customer = async (mollie: Client, name: string): Promise<string> =>
  given((await mollie.customers.create({ entityCustomer: { name, email: 'jane@example.org' } })).id, 'id');

const payment = async (mollie: Client, description: string): Promise<string> => {
  const paymentRequest = { description, amount: euros('10.00'), redirectUrl: 'https://webshop.example.org/done' };
  return given((await mollie.payments.create({ paymentRequest })).id, 'id');
};

/** Guide: docs.mollie.com, "Accepting payments", "Recurring payments", "Pagination", "Handling errors" and the reference. */
export const vendor: Vendor<Client> = {
  document: 'mollie/out.openapi.yaml.gz',
  header: 'Authorization',
  word: 'Bearer',
  made: 'test_madeup',
  client: connect,
  flows: {
    'a customer from the making to the end': (mollie, s) => ({
      create: async () => {
        const made = await mollie.customers.create({
          entityCustomer: { name: 'Jane Doe', email: 'jane@example.org', locale: 'en_US', metadata: { tier: 'gold' } },
        });
        s.id = given(made.id, 'id');
        assert.deepEqual([made.resource, made.name, made.email], ['customer', 'Jane Doe', 'jane@example.org']);
      },
      read: async () => {
        const read = await mollie.customers.get({ customerId: s.id });
        assert.deepEqual([read.id, read.name, read.metadata], [s.id, 'Jane Doe', { tier: 'gold' }]);
      },
      change: async () => {
        const made = await mollie.customers.update({ customerId: s.id, requestBody: { name: 'Jane Roe' } });
        assert.equal(made.name, 'Jane Roe');
      },
      'read the new name and the old address': async () => {
        const read = await mollie.customers.get({ customerId: s.id });
        assert.deepEqual([read.name, read.email], ['Jane Roe', 'jane@example.org']);
      },
      delete: async () => mollie.customers.delete({ customerId: s.id }),
      gone: async () => refused(mollie.customers.get({ customerId: s.id }), 404, 410),
    }),
    'customers through all pages': (mollie, s) => ({
      create: async () => {
        for (const n of [1, 2, 3, 4, 5]) s[`id${n}`] = await customer(mollie, `Customer ${n}`);
      },
      'walk pages of two': async () => {
        const rows = await gather(await mollie.customers.list({ limit: 2 }), (page) => page.result.embedded.customers);
        once(
          rows.map(({ id }) => id),
          [s.id1, s.id2, s.id3, s.id4, s.id5],
        );
      },
      'a page holds and counts what was asked for': async () => {
        for await (const page of await mollie.customers.list({ limit: 2 })) {
          assert.equal(page.result.count, 2);
          assert.equal(page.result.embedded.customers.length, 2);
          break;
        }
      },
    }),
    'a payment is made, changed and cancelled': (mollie, s) => ({
      create: async () => {
        const made = await mollie.payments.create({
          paymentRequest: {
            description: 'Chess Board',
            amount: euros('10.00'),
            redirectUrl: 'https://webshop.example.org/done',
            metadata: { order: '12345' },
          },
        });
        s.id = given(made.id, 'id');
        assert.deepEqual([made.description, made.amount, made.status], ['Chess Board', euros('10.00'), 'open']);
      },
      read: async () => {
        const read = await mollie.payments.get({ paymentId: s.id });
        assert.deepEqual([read.id, read.amount, read.metadata], [s.id, euros('10.00'), { order: '12345' }]);
      },
      change: async () => {
        const made = await mollie.payments.update({ paymentId: s.id, requestBody: { description: 'Chess Set' } });
        assert.equal(made.description, 'Chess Set');
      },
      'read the change': async () => assert.equal((await mollie.payments.get({ paymentId: s.id })).description, 'Chess Set'),
      cancel: async () => assert.equal((await mollie.payments.cancel({ paymentId: s.id })).status, 'canceled'),
      'read that it is cancelled': async () => assert.equal((await mollie.payments.get({ paymentId: s.id })).status, 'canceled'),
    }),
    'payments through all pages': (mollie, s) => ({
      create: async () => {
        for (const n of [1, 2, 3]) s[`id${n}`] = await payment(mollie, `Order ${n}`);
      },
      'walk pages of one': async () => {
        const rows = await gather(await mollie.payments.list({ limit: 1 }), (page) =>
          given(given(page.result.embedded.payments, 'payments'), 'payments'),
        );
        once(
          rows.map(({ id }) => id),
          [s.id1, s.id2, s.id3],
        );
      },
    }),
    'a payment of a customer': (mollie, s) => ({
      'create the customer': async () => {
        s.customer = await customer(mollie, 'Payer');
      },
      create: async () => {
        const paymentRequest = { description: 'First', amount: euros('25.00'), redirectUrl: 'https://webshop.example.org/done' };
        const made = await mollie.customers.createPayment({ customerId: s.customer, paymentRequest });
        s.id = given(made.id, 'id');
        assert.equal(made.description, 'First');
      },
      'it names the customer': async () => assert.equal((await mollie.payments.get({ paymentId: s.id })).customerId, s.customer),
      'list those of the customer': async () => {
        await payment(mollie, 'Of nobody');
        const rows = await gather(await mollie.customers.listPayments({ customerId: s.customer }), (page) =>
          given(page.result.embedded.payments, 'payments'),
        );
        assert.deepEqual(
          rows.map(({ id }) => id),
          [s.id],
        );
      },
    }),
    'a payment link is archived and deleted': (mollie, s) => ({
      create: async () => {
        const made = await mollie.paymentLinks.create({ requestBody: { description: 'Bicycle tires', amount: euros('24.95') } });
        s.id = given(made.id, 'id');
        assert.deepEqual([made.description, made.amount, made.archived], ['Bicycle tires', euros('24.95'), false]);
      },
      list: async () => {
        const rows = await gather(await mollie.paymentLinks.list({ limit: 1 }), (page) =>
          given(given(page.result.embedded.paymentLinks, 'paymentLinks'), 'paymentLinks'),
        );
        once(
          rows.map(({ id }) => id),
          [s.id],
        );
      },
      archive: async () => {
        const made = await mollie.paymentLinks.update({ paymentLinkId: s.id, requestBody: { archived: true } });
        assert.equal(made.archived, true);
      },
      'read that it is archived': async () =>
        assert.equal((await mollie.paymentLinks.get({ paymentLinkId: s.id })).archived, true),
      delete: async () => mollie.paymentLinks.delete({ paymentLinkId: s.id }),
      gone: async () => refused(mollie.paymentLinks.get({ paymentLinkId: s.id }), 404),
    }),
    'a mandate is given and revoked': (mollie, s) => ({
      'create the customer': async () => {
        s.customer = await customer(mollie, 'Debtor');
      },
      create: async () => {
        const made = await mollie.mandates.create({
          customerId: s.customer,
          mandateRequest: { method: 'directdebit', consumerName: 'Jane Doe', consumerAccount: 'NL55INGB0000000000' },
        });
        s.id = given(made.id, 'id');
        assert.equal(made.method, 'directdebit');
      },
      read: async () => assert.equal((await mollie.mandates.get({ customerId: s.customer, mandateId: s.id })).id, s.id),
      list: async () => {
        const rows = await gather(
          await mollie.mandates.list({ customerId: s.customer }),
          (page) => page.result.embedded.mandates,
        );
        once(
          rows.map(({ id }) => id),
          [s.id],
        );
      },
      revoke: async () => mollie.mandates.revoke({ customerId: s.customer, mandateId: s.id }),
      gone: async () => refused(mollie.mandates.get({ customerId: s.customer, mandateId: s.id }), 404),
    }),
    'a subscription is made, changed and cancelled': (mollie, s) => ({
      'create the customer': async () => {
        s.customer = await customer(mollie, 'Reader');
      },
      create: async () => {
        const made = await mollie.subscriptions.create({
          customerId: s.customer,
          subscriptionRequest: { amount: euros('25.00'), interval: '3 months', times: 4, description: 'Quarterly payment' },
        });
        s.id = given(made.id, 'id');
        assert.deepEqual([made.amount, made.interval, made.times], [euros('25.00'), '3 months', 4]);
      },
      change: async () => {
        const made = await mollie.subscriptions.update({
          customerId: s.customer,
          subscriptionId: s.id,
          requestBody: { amount: euros('30.00') },
        });
        assert.deepEqual(made.amount, euros('30.00'));
      },
      'read the change': async () => {
        const read = await mollie.subscriptions.get({ customerId: s.customer, subscriptionId: s.id });
        assert.deepEqual([read.amount, read.interval], [euros('30.00'), '3 months']);
      },
      'list those of the customer': async () => {
        const rows = await gather(await mollie.subscriptions.list({ customerId: s.customer }), (page) =>
          given(page.result.embedded.subscriptions, 'subscriptions'),
        );
        once(
          rows.map(({ id }) => id),
          [s.id],
        );
      },
      cancel: async () => {
        const made = await mollie.subscriptions.cancel({ customerId: s.customer, subscriptionId: s.id });
        assert.equal(made.status, 'canceled');
      },
    }),
    'a webhook is made, changed, tried and deleted': (_client, s, _another, place) => {
      const mollie = organization(place);
      return {
        create: async () => {
          const made = await mollie.webhooks.create({
            requestBody: { name: 'Webhook #1', url: 'https://example.org/in', eventTypes: ['payment-link.paid'] },
          });
          s.id = given(made.id, 'id');
          assert.deepEqual(
            [made.name, made.url, made.eventTypes],
            ['Webhook #1', 'https://example.org/in', ['payment-link.paid']],
          );
          assert.equal(typeof made.webhookSecret, 'string');
        },
        change: async () =>
          assert.equal(
            (await mollie.webhooks.update({ webhookId: s.id, requestBody: { name: 'Webhook #2' } })).name,
            'Webhook #2',
          ),
        'read the change': async () => assert.equal((await mollie.webhooks.get({ webhookId: s.id })).name, 'Webhook #2'),
        list: async () => {
          const rows = await gather(await mollie.webhooks.list(), (page) => page.result.embedded.webhooks);
          once(
            rows.map(({ id }) => id),
            [s.id],
          );
        },
        'try it': async () => mollie.webhooks.test({ webhookId: s.id }),
        delete: async () => mollie.webhooks.delete({ webhookId: s.id }),
        gone: async () => refused(mollie.webhooks.get({ webhookId: s.id }), 404),
      };
    },
    'a credential that is refused': (mollie, _s, another) => ({
      'the right one is taken': async () => {
        await mollie.customers.list();
      },
      'another is refused': async () => refused(another('test_not_of_this_service').customers.list(), 401),
      'another may not write': async () => refused(customer(another('test_not_of_this_service'), 'Eve'), 401),
    }),
    'requests that are wrong': (mollie) => ({
      'a payment that nobody made': async () => {
        const thrown = (await refused(mollie.payments.get({ paymentId: 'tr_nobodymadethis' }), 404)) as { detail?: unknown };
        assert.equal(typeof thrown.detail, 'string');
      },
      'a page that is too large': async () => refused(mollie.payments.list({ limit: 251 }), 400),
      'an interval that there is not': async () => {
        const customerId = await customer(mollie, 'Odd');
        const subscriptionRequest = { amount: euros('5.00'), interval: 'now and then', description: 'Odd' };
        await refused(mollie.subscriptions.create({ customerId, subscriptionRequest }), 400, 422);
      },
      'a page of nothing': async () => refused(mollie.customers.list({ limit: 0 }), 400),
    }),
  },
};
