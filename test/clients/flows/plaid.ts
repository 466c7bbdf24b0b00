import assert from 'node:assert/strict';
import {
  Configuration,
  CountryCode,
  type PaymentAmountCurrency,
  PaymentInitiationConsentScope,
  PlaidApi,
  Products,
  WalletISOCurrencyCode,
} from 'plaid';
import { once, type Place, pages, refused, type State, type Vendor } from '../kit.ts';

/** The README's way: the two headers with the keys; the client adds the header with the version of the API. */
const connect = (place: Place, secret: string): PlaidApi =>
  new PlaidApi(
    new Configuration({
      basePath: place.base,
      baseOptions: { headers: { 'PLAID-CLIENT-ID': '64b5a2f0c1d9e80013f7a4b2', 'PLAID-SECRET': secret } },
    }),
  );

interface PlaidError {
  readonly error_type?: unknown;
  readonly error_code?: unknown;
  readonly error_message?: unknown;
}

/** The members of Plaid's error, as the README reads them. */
const told = (thrown: unknown): PlaidError => (thrown as { response?: { data?: PlaidError } }).response?.data ?? {};

/** Plaid answers what is wrong with 400, and says what it is by type and code. */
const wrong = async (call: Promise<unknown>): Promise<PlaidError> => {
  const error = told(await refused(call, 400));
  assert.deepEqual(
    [typeof error.error_type, typeof error.error_code, typeof error.error_message],
    ['string', 'string', 'string'],
  );
  return error;
};

/** An Item of First Platypus Bank, made in the Sandbox without Link. */
const link = async (plaid: PlaidApi, s: State): Promise<void> => {
  const { data: made } = await plaid.sandboxPublicTokenCreate({
    institution_id: 'ins_109508',
    initial_products: [Products.Auth],
    options: { webhook: 'https://www.genericwebhookurl.com/webhook' },
  });
  s.public = made.public_token;
  const { data: exchanged } = await plaid.itemPublicTokenExchange({ public_token: s.public });
  s.access = exchanged.access_token;
  s.item = exchanged.item_id;
};

const gbp = (value: number) => ({ currency: 'GBP' as PaymentAmountCurrency, value });

const recipient = {
  name: 'John Doe',
  iban: 'NL02ABNA0123456789',
  address: { street: ['96 Guild Street', '9th Floor'], city: 'London', postal_code: 'SE14 8JW', country: 'GB' },
};

const receiving = async (plaid: PlaidApi): Promise<string> =>
  (await plaid.paymentInitiationRecipientCreate(recipient)).data.recipient_id;

const paying = async (plaid: PlaidApi, recipient_id: string, reference: string, value: number): Promise<string> =>
  (await plaid.paymentInitiationPaymentCreate({ recipient_id, reference, amount: gbp(value) })).data.payment_id;

/** Guide: plaid.com/docs, "API overview", "Items", "Sandbox", "Link", "Payment Initiation", "Virtual Accounts", "Transfer" (test clocks), "Errors". */
export const vendor: Vendor<PlaidApi> = {
  document: 'plaid/plaid.com.json',
  header: 'PLAID-SECRET',
  made: '5c1e8f0b2d7a4936e05b7f1c8a9d24',
  client: connect,
  flows: {
    'an Item is linked': (plaid, s) => ({
      link: async () => link(plaid, s),
      'the tokens are unlike': async () => assert.equal(new Set([s.public, s.access, s.item]).size, 3),
      'read it': async () => {
        const { item } = (await plaid.itemGet({ access_token: s.access })).data;
        assert.deepEqual([item.item_id, item.institution_id], [s.item, 'ins_109508']);
        assert.equal(item.webhook, 'https://www.genericwebhookurl.com/webhook');
        assert.equal(item.error, null);
      },
      'each answer has an id of its own': async () => {
        const first = (await plaid.itemGet({ access_token: s.access })).data.request_id;
        assert.notEqual((await plaid.itemGet({ access_token: s.access })).data.request_id, first);
      },
    }),
    'two Items are two': (plaid, s) => ({
      'link one': async () => {
        await link(plaid, s);
        s.first = s.item;
        s.token = s.access;
      },
      'link another': async () => {
        await link(plaid, s);
        assert.notEqual(s.item, s.first);
      },
      'each token reads its own': async () => {
        assert.equal((await plaid.itemGet({ access_token: s.token })).data.item.item_id, s.first);
        assert.equal((await plaid.itemGet({ access_token: s.access })).data.item.item_id, s.item);
      },
    }),
    'the webhook of an Item is changed': (plaid, s) => ({
      link: async () => link(plaid, s),
      change: async () => {
        const webhook = 'https://www.example.com/hooks/plaid';
        const { item } = (await plaid.itemWebhookUpdate({ access_token: s.access, webhook })).data;
        assert.deepEqual([item.item_id, item.webhook], [s.item, webhook]);
      },
      'it is changed': async () => {
        const { item } = (await plaid.itemGet({ access_token: s.access })).data;
        assert.deepEqual([item.webhook, item.institution_id], ['https://www.example.com/hooks/plaid', 'ins_109508']);
      },
    }),
    'an Item is removed': (plaid, s) => ({
      link: async () => link(plaid, s),
      remove: async () => assert.equal(typeof (await plaid.itemRemove({ access_token: s.access })).data.request_id, 'string'),
      'its token reads nothing': async () => {
        await wrong(plaid.itemGet({ access_token: s.access }));
      },
      'nor has it accounts': async () => {
        await wrong(plaid.accountsGet({ access_token: s.access }));
      },
    }),
    'an access token is rotated': (plaid, s) => ({
      link: async () => link(plaid, s),
      rotate: async () => {
        s.next = (await plaid.itemAccessTokenInvalidate({ access_token: s.access })).data.new_access_token;
        assert.notEqual(s.next, s.access);
      },
      'the new one reads the Item': async () =>
        assert.equal((await plaid.itemGet({ access_token: s.next })).data.item.item_id, s.item),
      'the old one does not': async () => {
        await wrong(plaid.itemGet({ access_token: s.access }));
      },
    }),
    'the accounts of an Item': (plaid, s) => ({
      link: async () => link(plaid, s),
      list: async () => {
        const { accounts, item } = (await plaid.accountsGet({ access_token: s.access })).data;
        assert.equal(item.item_id, s.item);
        assert.ok(accounts.length > 0, 'an Item of the Sandbox has accounts');
        s.account = accounts[0]!.account_id;
      },
      'list one': async () => {
        const { accounts } = (await plaid.accountsGet({ access_token: s.access, options: { account_ids: [s.account] } })).data;
        assert.deepEqual(
          accounts.map(({ account_id }) => account_id),
          [s.account],
        );
      },
      'a token for a processor': async () => {
        const asked = { access_token: s.access, account_id: s.account, processor: 'dwolla' } as const;
        const made = await plaid.processorTokenCreate(asked as Parameters<PlaidApi['processorTokenCreate']>[0]);
        assert.equal(typeof made.data.processor_token, 'string');
      },
    }),
    'an Item asks for its login again': (plaid, s) => ({
      link: async () => link(plaid, s),
      'force it': async () =>
        assert.equal((await plaid.sandboxItemResetLogin({ access_token: s.access })).data.reset_login, true),
      'it says so': async () => {
        const { error } = (await plaid.itemGet({ access_token: s.access })).data.item;
        assert.deepEqual([error?.error_type, error?.error_code], ['ITEM_ERROR', 'ITEM_LOGIN_REQUIRED']);
      },
    }),
    'a token for Link': (plaid, s) => ({
      create: async () => {
        const { data: made } = await plaid.linkTokenCreate({
          client_name: 'Insert Client name here',
          language: 'en',
          country_codes: [CountryCode.Us],
          products: [Products.Auth, Products.Identity],
          user: { client_user_id: 'c0e2c4ee-b763-4af5-cfe9-46a46bce883d' },
          webhook: 'https://example.com/webhook',
        });
        s.token = made.link_token;
        s.expiration = made.expiration;
        assert.ok(Date.parse(made.expiration) > 0, 'a time');
      },
      read: async () => {
        const { data: read } = await plaid.linkTokenGet({ link_token: s.token });
        assert.deepEqual([read.link_token, Date.parse(read.expiration ?? '')], [s.token, Date.parse(s.expiration)]);
        assert.partialDeepStrictEqual(read.metadata, {
          client_name: 'Insert Client name here',
          language: 'en',
          country_codes: ['US'],
          initial_products: ['auth', 'identity'],
          webhook: 'https://example.com/webhook',
        });
      },
    }),
    'recipients of payments': (plaid, s) => ({
      create: async () => {
        s.id = await receiving(plaid);
      },
      'create another, by its number': async () => {
        const bacs = { account: '26207729', sort_code: '560029' };
        s.other = (await plaid.paymentInitiationRecipientCreate({ name: 'Wonder Wallet', bacs })).data.recipient_id;
      },
      read: async () => {
        const { data: read } = await plaid.paymentInitiationRecipientGet({ recipient_id: s.id });
        assert.partialDeepStrictEqual(read, { ...recipient, recipient_id: s.id });
      },
      list: async () =>
        once(
          (await plaid.paymentInitiationRecipientList({})).data.recipients.map(({ recipient_id }) => recipient_id),
          [s.id, s.other],
        ),
    }),
    'a payment': (plaid, s) => ({
      'create the recipient': async () => {
        s.recipient = await receiving(plaid);
      },
      create: async () => {
        const asked = { recipient_id: s.recipient, reference: 'TestPayment', amount: gbp(100) };
        const { data: made } = await plaid.paymentInitiationPaymentCreate(asked);
        s.id = made.payment_id;
        assert.equal(made.status, 'PAYMENT_STATUS_INPUT_NEEDED');
      },
      read: async () => {
        const { data: read } = await plaid.paymentInitiationPaymentGet({ payment_id: s.id });
        assert.partialDeepStrictEqual(read, {
          payment_id: s.id,
          recipient_id: s.recipient,
          reference: 'TestPayment',
          amount: { currency: 'GBP', value: 100 },
          status: 'PAYMENT_STATUS_INPUT_NEEDED',
        });
      },
      list: async () =>
        assert.deepEqual(
          (await plaid.paymentInitiationPaymentList({})).data.payments.map(({ payment_id }) => payment_id),
          [s.id],
        ),
    }),
    'payments through all pages': (plaid, s) => ({
      'create five': async () => {
        const to = await receiving(plaid);
        for (const n of [1, 2, 3, 4, 5]) s[`id${n}`] = await paying(plaid, to, `Payment ${n}`, n);
      },
      'pages of two, by the cursor': async () => {
        const rows = await pages(
          async (cursor) => (await plaid.paymentInitiationPaymentList(cursor ? { count: 2, cursor } : { count: 2 })).data,
          ({ payments }) => payments,
          ({ next_cursor }) => next_cursor,
        );
        once(
          rows.map(({ payment_id }) => payment_id),
          [s.id1, s.id2, s.id3, s.id4, s.id5],
        );
      },
      'the newest come first': async () =>
        assert.deepEqual(
          (await plaid.paymentInitiationPaymentList({ count: 2 })).data.payments.map(({ reference }) => reference),
          ['Payment 5', 'Payment 4'],
        ),
    }),
    'a consent to payments': (plaid, s) => ({
      'create the recipient': async () => {
        s.recipient = await receiving(plaid);
      },
      create: async () => {
        const { data: made } = await plaid.paymentInitiationConsentCreate({
          recipient_id: s.recipient,
          reference: 'TestPaymentConsent',
          // The client's type is a set, which JSON does not have; the guide sends a list.
          scopes: [PaymentInitiationConsentScope.MeToMe] as unknown as Set<PaymentInitiationConsentScope>,
          constraints: {
            max_payment_amount: gbp(15),
            periodic_amounts: [{ amount: gbp(40), alignment: 'CALENDAR', interval: 'MONTH' }],
          } as Parameters<PlaidApi['paymentInitiationConsentCreate']>[0]['constraints'],
        });
        s.id = made.consent_id;
        assert.equal(made.status, 'UNAUTHORISED');
      },
      read: async () => {
        const { data: read } = await plaid.paymentInitiationConsentGet({ consent_id: s.id });
        assert.partialDeepStrictEqual(read, {
          consent_id: s.id,
          recipient_id: s.recipient,
          reference: 'TestPaymentConsent',
          scopes: ['ME_TO_ME'],
          status: 'UNAUTHORISED',
          constraints: { max_payment_amount: { currency: 'GBP', value: 15 } },
        });
      },
    }),
    'e-wallets': (plaid, s) => ({
      create: async () => {
        const { data: made } = await plaid.walletCreate({ iso_currency_code: WalletISOCurrencyCode.Gbp });
        s.id = made.wallet_id;
        assert.partialDeepStrictEqual(made.balance, { iso_currency_code: 'GBP', current: 0 });
      },
      'create one in euros': async () => {
        s.other = (await plaid.walletCreate({ iso_currency_code: WalletISOCurrencyCode.Eur })).data.wallet_id;
      },
      read: async () => {
        const { data: read } = await plaid.walletGet({ wallet_id: s.id });
        assert.deepEqual([read.wallet_id, read.balance.iso_currency_code], [s.id, 'GBP']);
      },
      'list those in euros': async () =>
        assert.deepEqual(
          (await plaid.walletList({ iso_currency_code: WalletISOCurrencyCode.Eur })).data.wallets.map(
            ({ wallet_id }) => wallet_id,
          ),
          [s.other],
        ),
      'pages of one, by the cursor': async () => {
        const rows = await pages(
          async (cursor) => (await plaid.walletList(cursor ? { count: 1, cursor } : { count: 1 })).data,
          ({ wallets }) => wallets,
          ({ next_cursor }) => next_cursor,
        );
        once(
          rows.map(({ wallet_id }) => wallet_id),
          [s.id, s.other],
        );
      },
    }),
    'an Asset Report': (plaid, s) => ({
      link: async () => link(plaid, s),
      create: async () => {
        const { data: made } = await plaid.assetReportCreate({ access_tokens: [s.access], days_requested: 60 });
        s.token = made.asset_report_token;
        assert.notEqual(made.asset_report_id, made.asset_report_token);
      },
      remove: async () => assert.equal((await plaid.assetReportRemove({ asset_report_token: s.token })).data.removed, true),
      'it is gone': async () => {
        await wrong(plaid.assetReportGet({ asset_report_token: s.token }));
      },
    }),
    'a clock for trials of transfers': (plaid, s) => ({
      create: async () => {
        const { test_clock } = (await plaid.sandboxTransferTestClockCreate({ virtual_time: '2026-06-15T07:00:00Z' })).data;
        s.id = test_clock.test_clock_id;
        assert.equal(Date.parse(test_clock.virtual_time), Date.parse('2026-06-15T07:00:00Z'));
      },
      advance: async () => {
        const asked = { test_clock_id: s.id, new_virtual_time: '2026-06-16T07:00:00Z' };
        assert.equal(typeof (await plaid.sandboxTransferTestClockAdvance(asked)).data.request_id, 'string');
      },
      'it is later': async () => {
        const { test_clock } = (await plaid.sandboxTransferTestClockGet({ test_clock_id: s.id })).data;
        assert.equal(Date.parse(test_clock.virtual_time), Date.parse('2026-06-16T07:00:00Z'));
      },
      list: async () =>
        assert.deepEqual(
          (await plaid.sandboxTransferTestClockList({})).data.test_clocks.map(({ test_clock_id }) => test_clock_id),
          [s.id],
        ),
    }),
    'a credential that is refused': (plaid, _s, another) => ({
      'the right one is taken': async () =>
        assert.deepEqual((await plaid.paymentInitiationRecipientList({})).data.recipients, []),
      'none is refused': async () => {
        await wrong(another('').paymentInitiationRecipientList({}));
      },
    }),
    'requests that are wrong': (plaid) => ({
      'a token that is none': async () => {
        const error = await wrong(plaid.itemGet({ access_token: 'access-sandbox-de3ce8ef-33f8-452c-a685-8671031fc0f6' }));
        assert.equal(error.error_type, 'INVALID_INPUT');
      },
      'no token': async () => {
        const error = await wrong(plaid.itemGet({} as { access_token: string }));
        assert.equal(error.error_type, 'INVALID_REQUEST');
      },
      'an amount that is a word': async () => {
        const amount = { currency: 'GBP', value: 'much' } as unknown as ReturnType<typeof gbp>;
        const recipient_id = 'recipient-id-sandbox-9b6b4679-914b-445b-9450-efbdb80296f6';
        const error = await wrong(plaid.paymentInitiationPaymentCreate({ recipient_id, reference: 'TestPayment', amount }));
        assert.equal(error.error_type, 'INVALID_REQUEST');
      },
    }),
  },
};
