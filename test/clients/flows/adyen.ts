import assert from 'node:assert/strict';
import { BalancePlatformAPI, Client, Config, EnvironmentEnum, Types } from '@adyen/api-library';
import { given, once, type Place, refused, type State, type Vendor } from '../kit.ts';

type Transport = NonNullable<ConstructorParameters<typeof Client>[1]>;

const bcl = Types.balancePlatform;

/** The way which the library's README gives for a server of one's own: the client does all but the request itself. */
const transport = (place: Place): Transport => ({
  async request(endpoint, json, config, _required, options) {
    const { pathname } = new URL(endpoint);
    const query = new URLSearchParams(options?.params as Record<string, string> | undefined);
    const method = options?.method ?? 'POST';
    const key = options?.idempotencyKey;
    const response = await fetch(`${place.base}${pathname.replace(/^\/bcl\/v2/, '')}${query.size > 0 ? `?${query}` : ''}`, {
      method,
      headers: {
        'content-type': 'application/json',
        'x-api-key': config.apiKey ?? '',
        ...(key ? { 'idempotency-key': key } : {}),
      },
      ...(method === 'GET' || method === 'DELETE' ? {} : { body: json }),
    });
    const body = await response.text();
    if (!response.ok) throw Object.assign(new Error(body), { statusCode: response.status, responseBody: body });
    return body;
  },
});

const connect = (place: Place, apiKey: string): BalancePlatformAPI =>
  new BalancePlatformAPI(new Client(new Config({ apiKey, environment: EnvironmentEnum.TEST }), transport(place)));

const ids = (rows: readonly { id?: string }[]): string[] => rows.map((row) => row.id ?? '');

const holder = async (adyen: BalancePlatformAPI, legalEntityId = 'LE322KT223222D5FJ7THR293F'): Promise<string> =>
  (await adyen.AccountHoldersApi.createAccountHolder({ legalEntityId, description: 'Liable account holder' })).id;

const account = async (adyen: BalancePlatformAPI, accountHolderId: string): Promise<string> =>
  (await adyen.BalanceAccountsApi.createBalanceAccount({ accountHolderId, description: 'Main balance account' })).id;

const opened = async (adyen: BalancePlatformAPI, s: State): Promise<void> => {
  s.holder = await holder(adyen);
  s.account = await account(adyen, s.holder);
};

const card = (name: string): Types.balancePlatform.CardInfo => ({
  brand: 'visa',
  brandVariant: 'visadebit',
  cardholderName: name,
  formFactor: bcl.CardInfo.FormFactorEnum.Virtual,
});

const issued = async (adyen: BalancePlatformAPI, s: State): Promise<void> => {
  await opened(adyen, s);
  const made = await adyen.PaymentInstrumentsApi.createPaymentInstrument({
    type: bcl.PaymentInstrumentInfo.TypeEnum.Card,
    issuingCountryCode: 'NL',
    balanceAccountId: s.account,
    card: card('Simon Hopper'),
  });
  s.id = made.id;
};

const rule = (reference: string, type: string, of: string): Types.balancePlatform.TransactionRuleInfo => ({
  description: 'Up to 1000 EUR per card each day',
  reference,
  entityKey: { entityType: type, entityReference: of },
  status: bcl.TransactionRuleInfo.StatusEnum.Active,
  interval: { type: bcl.TransactionRuleInterval.TypeEnum.Daily },
  ruleRestrictions: { totalAmount: { operation: 'greaterThan', value: { currency: 'EUR', value: 100000 } } },
  type: bcl.TransactionRuleInfo.TypeEnum.Velocity,
});

const sweep = (currency: string, to: string): Types.balancePlatform.CreateSweepConfigurationV2 => ({
  counterparty: { transferInstrumentId: to },
  currency,
  schedule: { type: bcl.SweepSchedule.TypeEnum.Daily },
  triggerAmount: { currency, value: 50000 },
  category: bcl.CreateSweepConfigurationV2.CategoryEnum.Bank,
  type: bcl.CreateSweepConfigurationV2.TypeEnum.Push,
  status: bcl.CreateSweepConfigurationV2.StatusEnum.Active,
});

/** What nobody made is answered 422 by the guide's error table; the description has no 404 anywhere. */
const unknown = (call: Promise<unknown>) => refused(call, 404, 422);

/** Guide: docs.adyen.com, "Account structure", "Sweeps", "Create cards", "Transaction rules", "API idempotency", "Balance platform errors". */
export const vendor: Vendor<BalancePlatformAPI> = {
  document: 'adyen/BalancePlatformService.json',
  header: 'X-API-Key',
  made: 'AQEyhmfxLI3MaBFLw0m/n3Q5qf3VaY9UCJ14XWZE03G/k2NFitRvbe4N1XqH1eHaH2AksaEQwV1bDb7kfNy1WIxIIkxgBw==',
  client: connect,
  strict: ['a key that is refused'],
  flows: {
    'an account holder is created, read and changed': (adyen, s) => ({
      create: async () => {
        const body = {
          legalEntityId: 'LE322KT223222D5FJ7THR293F',
          description: 'S. Hopper - Staff 123',
          reference: 'S.Eller-001',
        };
        const made = await adyen.AccountHoldersApi.createAccountHolder(body);
        s.id = made.id;
        assert.partialDeepStrictEqual({ ...made }, body);
      },
      'it is active': async () => {
        const read = await adyen.AccountHoldersApi.getAccountHolder(s.id);
        assert.deepEqual([read.id, read.status], [s.id, 'active']);
      },
      'change its description': async () =>
        assert.equal(
          (await adyen.AccountHoldersApi.updateAccountHolder(s.id, { description: 'S. Hopper - Manager' })).description,
          'S. Hopper - Manager',
        ),
      'its reference is as before': async () => {
        const read = await adyen.AccountHoldersApi.getAccountHolder(s.id);
        assert.deepEqual([read.description, read.reference], ['S. Hopper - Manager', 'S.Eller-001']);
      },
    }),
    'how an account holder is reached': (adyen, s) => ({
      create: async () => {
        s.id = await holder(adyen);
      },
      'say it': async () => {
        const contactDetails = {
          email: 's.hopper@example.com',
          phone: { number: '+315551231234', type: bcl.Phone.TypeEnum.Mobile },
          address: { city: 'Amsterdam', country: 'NL', street: 'Brannan Street', houseNumberOrName: '274', postalCode: '1020CD' },
        };
        await adyen.AccountHoldersApi.updateAccountHolder(s.id, { contactDetails, timeZone: 'Europe/Amsterdam' });
      },
      'it is read': async () => {
        const read = await adyen.AccountHoldersApi.getAccountHolder(s.id);
        assert.equal(read.timeZone, 'Europe/Amsterdam');
        assert.equal(read.contactDetails?.email, 's.hopper@example.com');
        assert.equal(read.contactDetails?.address.city, 'Amsterdam');
      },
    }),
    'an account holder is suspended and closed': (adyen, s) => ({
      create: async () => {
        s.id = await holder(adyen);
      },
      suspend: async () => {
        const status = bcl.AccountHolderUpdateRequest.StatusEnum.Suspended;
        assert.equal((await adyen.AccountHoldersApi.updateAccountHolder(s.id, { status })).status, 'suspended');
      },
      'it stays suspended': async () => assert.equal((await adyen.AccountHoldersApi.getAccountHolder(s.id)).status, 'suspended'),
      close: async () => {
        const status = bcl.AccountHolderUpdateRequest.StatusEnum.Closed;
        assert.equal((await adyen.AccountHoldersApi.updateAccountHolder(s.id, { status })).status, 'closed');
      },
      'it stays closed': async () => assert.equal((await adyen.AccountHoldersApi.getAccountHolder(s.id)).status, 'closed'),
    }),
    'a request sent twice under one key': (adyen, s) => ({
      'the first creates': async () => {
        const made = await adyen.AccountHoldersApi.createAccountHolder(
          { legalEntityId: 'LE322KT223222D5FJ7THR293F', description: 'Once only' },
          { idempotencyKey: '37ca9c97-d1d1-4c62-89e8-706891a563ed' },
        );
        s.id = made.id;
      },
      'the second answers the same': async () => {
        const made = await adyen.AccountHoldersApi.createAccountHolder(
          { legalEntityId: 'LE322KT223222D5FJ7THR293F', description: 'Once only' },
          { idempotencyKey: '37ca9c97-d1d1-4c62-89e8-706891a563ed' },
        );
        assert.equal(made.id, s.id);
      },
      'another key creates another': async () => {
        const made = await adyen.AccountHoldersApi.createAccountHolder(
          { legalEntityId: 'LE322KT223222D5FJ7THR293F', description: 'Once only' },
          { idempotencyKey: 'a2ac4b1e-7e4d-4b57-9d1e-3c1f2b8a9c55' },
        );
        assert.notEqual(made.id, s.id);
      },
    }),
    'a balance account of an account holder': (adyen, s) => ({
      'create the holder': async () => {
        s.holder = await holder(adyen);
      },
      create: async () => {
        const body = { accountHolderId: s.holder, description: 'S.Hopper - Main balance account', defaultCurrencyCode: 'EUR' };
        const made = await adyen.BalanceAccountsApi.createBalanceAccount(body);
        s.id = made.id;
        assert.partialDeepStrictEqual({ ...made }, body);
      },
      read: async () => {
        const read = await adyen.BalanceAccountsApi.getBalanceAccount(s.id);
        assert.deepEqual([read.id, read.accountHolderId, read.status], [s.id, s.holder, 'active']);
      },
      change: async () =>
        assert.equal(
          (await adyen.BalanceAccountsApi.updateBalanceAccount(s.id, { description: 'Savings' })).description,
          'Savings',
        ),
      'among those of its holder': async () => {
        const page = await adyen.AccountHoldersApi.getAllBalanceAccountsOfAccountHolder(s.holder);
        assert.deepEqual(ids(page.balanceAccounts), [s.id]);
        assert.deepEqual([page.hasNext, page.hasPrevious], [false, false]);
      },
    }),
    'balance accounts page by page': (adyen, s) => ({
      'create five for one holder': async () => {
        s.holder = await holder(adyen);
        const made: string[] = [];
        for (let number = 1; number <= 5; number += 1) made.push(await account(adyen, s.holder));
        s.ids = made.join(',');
      },
      'the first page has a next one': async () => {
        const page = await adyen.AccountHoldersApi.getAllBalanceAccountsOfAccountHolder(s.holder, 0, 2);
        assert.equal(page.balanceAccounts.length, 2);
        assert.deepEqual([page.hasNext, page.hasPrevious], [true, false]);
      },
      'all pages together hold each once': async () => {
        const rows: string[] = [];
        for (let offset = 0; offset <= 40; offset += 2) {
          const page = await adyen.AccountHoldersApi.getAllBalanceAccountsOfAccountHolder(s.holder, offset, 2);
          rows.push(...ids(page.balanceAccounts));
          if (!page.hasNext) break;
        }
        once(rows, s.ids.split(','), 'balance accounts');
      },
      'the last has one before': async () => {
        const page = await adyen.AccountHoldersApi.getAllBalanceAccountsOfAccountHolder(s.holder, 4, 2);
        assert.equal(page.balanceAccounts.length, 1);
        assert.deepEqual([page.hasNext, page.hasPrevious], [false, true]);
      },
    }),
    'balance accounts of two holders': (adyen, s) => ({
      'create both': async () => {
        s.first = await holder(adyen);
        s.second = await holder(adyen);
      },
      'an account for each': async () => {
        s.one = await account(adyen, s.first);
        s.two = await account(adyen, s.second);
      },
      'each has its own alone': async () => {
        const of = async (id: string) =>
          ids((await adyen.AccountHoldersApi.getAllBalanceAccountsOfAccountHolder(id)).balanceAccounts);
        assert.deepEqual(await of(s.first), [s.one]);
        assert.deepEqual(await of(s.second), [s.two]);
      },
    }),
    'a sweep is created, changed and deleted': (adyen, s) => ({
      'create the accounts': () => opened(adyen, s),
      create: async () => {
        const made = await adyen.CustomPayoutSchedulesSweepsApi.createSweep(s.account, sweep('EUR', 'SE322JV223222F5GNXSR89TMW'));
        s.id = made.id;
        assert.deepEqual([made.currency, made.schedule.type, made.status], ['EUR', 'daily', 'active']);
      },
      read: async () => {
        const read = await adyen.CustomPayoutSchedulesSweepsApi.getSweep(s.account, s.id);
        assert.equal(read.counterparty.transferInstrumentId, 'SE322JV223222F5GNXSR89TMW');
        assert.partialDeepStrictEqual({ ...read.triggerAmount }, { currency: 'EUR', value: 50000 });
      },
      'switch it off': async () => {
        const status = bcl.UpdateSweepConfigurationV2.StatusEnum.Inactive;
        assert.equal((await adyen.CustomPayoutSchedulesSweepsApi.updateSweep(s.account, s.id, { status })).status, 'inactive');
      },
      delete: () => adyen.CustomPayoutSchedulesSweepsApi.deleteSweep(s.account, s.id),
      'it is gone': () => unknown(adyen.CustomPayoutSchedulesSweepsApi.getSweep(s.account, s.id)),
    }),
    'the sweeps of an account': (adyen, s) => ({
      'create the accounts': () => opened(adyen, s),
      'none yet': async () =>
        assert.deepEqual((await adyen.CustomPayoutSchedulesSweepsApi.getAllSweepsForBalanceAccount(s.account)).sweeps, []),
      'create two': async () => {
        const made: string[] = [];
        for (const currency of ['EUR', 'USD'])
          made.push(
            (await adyen.CustomPayoutSchedulesSweepsApi.createSweep(s.account, sweep(currency, 'SE322JV223222F5GNXSR89TMW'))).id,
          );
        s.ids = made.join(',');
      },
      'both are listed': async () => {
        const page = await adyen.CustomPayoutSchedulesSweepsApi.getAllSweepsForBalanceAccount(s.account);
        once(ids(page.sweeps), s.ids.split(','), 'sweeps');
        assert.equal(page.hasNext, false);
      },
      'another account has none of them': async () => {
        const other = await account(adyen, s.holder);
        assert.deepEqual((await adyen.CustomPayoutSchedulesSweepsApi.getAllSweepsForBalanceAccount(other)).sweeps, []);
      },
    }),
    'a card is issued': (adyen, s) => ({
      'create the accounts': () => opened(adyen, s),
      issue: async () => {
        const made = await adyen.PaymentInstrumentsApi.createPaymentInstrument({
          type: bcl.PaymentInstrumentInfo.TypeEnum.Card,
          issuingCountryCode: 'NL',
          balanceAccountId: s.account,
          description: 'S. Hopper - Main card',
          card: card('Simon Hopper'),
        });
        s.id = made.id;
        assert.deepEqual([made.type, made.balanceAccountId, made.description], ['card', s.account, 'S. Hopper - Main card']);
        assert.equal(made.card?.cardholderName, 'Simon Hopper');
      },
      read: async () => {
        const read = await adyen.PaymentInstrumentsApi.getPaymentInstrument(s.id);
        assert.deepEqual([read.id, read.issuingCountryCode, read.card?.brandVariant], [s.id, 'NL', 'visadebit']);
      },
      'among those of its account': async () => {
        const page = await adyen.BalanceAccountsApi.getPaymentInstrumentsLinkedToBalanceAccount(s.account);
        assert.deepEqual(ids(given(page.paymentInstruments, 'payment instruments')), [s.id]);
      },
    }),
    'a card is suspended, taken up again and closed': (adyen, s) => ({
      'issue it': () => issued(adyen, s),
      'it is active': async () =>
        assert.equal(
          (
            await adyen.PaymentInstrumentsApi.updatePaymentInstrument(s.id, {
              status: bcl.PaymentInstrumentUpdateRequest.StatusEnum.Active,
            })
          ).status,
          'active',
        ),
      suspend: async () => {
        const status = bcl.PaymentInstrumentUpdateRequest.StatusEnum.Suspended;
        const statusReason = bcl.PaymentInstrumentUpdateRequest.StatusReasonEnum.SuspectedFraud;
        const changed = await adyen.PaymentInstrumentsApi.updatePaymentInstrument(s.id, { status, statusReason });
        assert.deepEqual([changed.status, changed.statusReason], ['suspended', 'suspectedFraud']);
      },
      'it is suspended': async () =>
        assert.equal((await adyen.PaymentInstrumentsApi.getPaymentInstrument(s.id)).status, 'suspended'),
      close: async () => {
        const status = bcl.PaymentInstrumentUpdateRequest.StatusEnum.Closed;
        const statusReason = bcl.PaymentInstrumentUpdateRequest.StatusReasonEnum.Lost;
        await adyen.PaymentInstrumentsApi.updatePaymentInstrument(s.id, { status, statusReason });
        assert.equal((await adyen.PaymentInstrumentsApi.getPaymentInstrument(s.id)).status, 'closed');
      },
    }),
    'cards by their status': (adyen, s) => ({
      'two are issued': async () => {
        await issued(adyen, s);
        const made = await adyen.PaymentInstrumentsApi.createPaymentInstrument({
          type: bcl.PaymentInstrumentInfo.TypeEnum.Card,
          issuingCountryCode: 'NL',
          balanceAccountId: s.account,
          status: bcl.PaymentInstrumentInfo.StatusEnum.Active,
          card: card('Ada Hopper'),
        });
        s.other = made.id;
      },
      'one is suspended': async () => {
        await adyen.PaymentInstrumentsApi.updatePaymentInstrument(s.id, {
          status: bcl.PaymentInstrumentUpdateRequest.StatusEnum.Suspended,
          statusReason: bcl.PaymentInstrumentUpdateRequest.StatusReasonEnum.Other,
        });
      },
      'it alone is listed as suspended': async () => {
        const page = await adyen.BalanceAccountsApi.getPaymentInstrumentsLinkedToBalanceAccount(
          s.account,
          undefined,
          10,
          'suspended',
        );
        assert.deepEqual(ids(given(page.paymentInstruments, 'payment instruments')), [s.id]);
      },
    }),
    'a group of cards': (adyen, s) => ({
      create: async () => {
        const body = {
          balancePlatform: 'YOUR_BALANCE_PLATFORM',
          txVariant: 'mc',
          description: 'Staff cards',
          reference: 'staff',
        };
        const made = await adyen.PaymentInstrumentGroupsApi.createPaymentInstrumentGroup(body);
        s.id = given(made.id, 'id');
        assert.partialDeepStrictEqual({ ...made }, body);
      },
      read: async () => {
        const read = await adyen.PaymentInstrumentGroupsApi.getPaymentInstrumentGroup(s.id);
        assert.deepEqual([read.id, read.txVariant, read.description], [s.id, 'mc', 'Staff cards']);
      },
      'a card in it': async () => {
        await opened(adyen, s);
        const made = await adyen.PaymentInstrumentsApi.createPaymentInstrument({
          type: bcl.PaymentInstrumentInfo.TypeEnum.Card,
          issuingCountryCode: 'NL',
          balanceAccountId: s.account,
          paymentInstrumentGroupId: s.id,
          card: card('Simon Hopper'),
        });
        assert.equal(made.paymentInstrumentGroupId, s.id);
      },
    }),
    'a rule for the transactions of a card': (adyen, s) => ({
      'issue it': async () => {
        await issued(adyen, s);
        s.card = s.id;
      },
      create: async () => {
        const made = await adyen.TransactionRulesApi.createTransactionRule(rule('daily-1000', 'paymentInstrument', s.card));
        s.rule = given(made.id, 'id');
        assert.deepEqual([made.reference, made.type, made.status], ['daily-1000', 'velocity', 'active']);
      },
      read: async () => {
        const { transactionRule: read } = await adyen.TransactionRulesApi.getTransactionRule(s.rule);
        assert.deepEqual([read?.id, read?.entityKey.entityReference], [s.rule, s.card]);
      },
      'among those of the card': async () => {
        const { transactionRules } = await adyen.PaymentInstrumentsApi.getAllTransactionRulesForPaymentInstrument(s.card);
        assert.deepEqual(ids(given(transactionRules, 'rules')), [s.rule]);
      },
      'switch it off': async () => {
        const status = bcl.TransactionRuleInfo.StatusEnum.Inactive;
        const body = { ...rule('daily-1000', 'paymentInstrument', s.card), status };
        assert.equal((await adyen.TransactionRulesApi.updateTransactionRule(s.rule, body)).status, 'inactive');
      },
      'delete answers with what was deleted': async () =>
        assert.equal((await adyen.TransactionRulesApi.deleteTransactionRule(s.rule)).id, s.rule),
      'it is gone': () => unknown(adyen.TransactionRulesApi.getTransactionRule(s.rule)),
    }),
    'requests that are wrong': (adyen, s) => ({
      'an account holder that nobody made': () =>
        unknown(adyen.AccountHoldersApi.getAccountHolder('AH0000000000000000000000001')),
      'an account holder without its legal entity': async () => {
        const thrown = await refused(adyen.AccountHoldersApi.createAccountHolder({ description: 'Nobody' } as never), 400, 422);
        const body = JSON.parse((thrown as { responseBody: string }).responseBody) as { errorCode?: unknown; status?: unknown };
        assert.deepEqual([typeof body.errorCode, typeof body.status], ['string', 'number']);
      },
      'a balance account for nobody': () =>
        unknown(adyen.BalanceAccountsApi.createBalanceAccount({ accountHolderId: 'AH0000000000000000000000002' })),
      'a status there is not': async () => {
        s.id = await holder(adyen);
        await refused(adyen.AccountHoldersApi.updateAccountHolder(s.id, { status: 'asleep' as never }), 400, 422);
      },
      'which changed nothing': async () => assert.equal((await adyen.AccountHoldersApi.getAccountHolder(s.id)).status, 'active'),
    }),
    'a key that is refused': (adyen, s, another) => ({
      'the right one is taken': async () => {
        s.id = await holder(adyen);
      },
      'a wrong one is not': () => refused(another('wrong').AccountHoldersApi.getAccountHolder(s.id), 401),
      'nor does it create': () => refused(holder(another('wrong')), 401),
    }),
  },
};
