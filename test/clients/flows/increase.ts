import assert from 'node:assert/strict';
import Increase, { toFile } from 'increase';
import { gather, once, type Place, refused, type State, type Vendor } from '../kit.ts';

const connect = (place: Place, token: string): Increase => new Increase({ baseURL: place.base, apiKey: token, maxRetries: 0 });

const account = async (increase: Increase, name: string): Promise<string> => (await increase.accounts.create({ name })).id;

/** Two accounts, and a transfer from one to the other which waits for an approval. */
const pending = async (increase: Increase, s: State): Promise<void> => {
  s.from = await account(increase, 'Operations');
  s.to = await account(increase, 'Payroll');
  const asked = { account_id: s.from, destination_account_id: s.to, amount: 100_00, description: 'Wages' };
  const made = await increase.accountTransfers.create({ ...asked, require_approval: true });
  s.id = made.id;
  assert.partialDeepStrictEqual(made, { ...asked, status: 'pending_approval' });
};

const page = <Row>({ data }: { data: Row[] }): Row[] => data;

/** The members of Increase's error, which the client keeps whole. */
const told = (thrown: unknown): { type?: unknown; title?: unknown; status?: unknown } =>
  (thrown as { error?: { type?: unknown; title?: unknown; status?: unknown } }).error ?? {};

/** Guide: increase.com/documentation, "API overview", "Errors", "Pagination", "Idempotency keys", "Transfer approvals", "Webhooks". */
export const vendor: Vendor<Increase> = {
  document: 'increase/increase.com.json',
  header: 'Authorization',
  word: 'Bearer',
  made: 'sandbox_key_1234567890',
  client: connect,
  flows: {
    'an account is opened, renamed and closed': (increase, s) => ({
      open: async () => {
        const made = await increase.accounts.create({ name: 'New Account!' });
        s.id = made.id;
        assert.deepEqual([made.type, made.name, made.status], ['account', 'New Account!', 'open']);
      },
      read: async () => {
        const read = await increase.accounts.retrieve(s.id);
        assert.deepEqual([read.id, read.name], [s.id, 'New Account!']);
      },
      rename: async () =>
        assert.equal((await increase.accounts.update(s.id, { name: 'My renamed account' })).name, 'My renamed account'),
      list: async () =>
        assert.deepEqual(
          (await increase.accounts.list()).data.map(({ id, name }) => [id, name]),
          [[s.id, 'My renamed account']],
        ),
      close: async () => assert.equal((await increase.accounts.close(s.id)).status, 'closed'),
      'it is closed': async () => {
        const read = await increase.accounts.retrieve(s.id);
        assert.deepEqual([read.name, read.status], ['My renamed account', 'closed']);
      },
    }),
    'accounts through all pages': (increase, s) => ({
      'open five': async () => {
        for (const n of [1, 2, 3, 4, 5]) s[`id${n}`] = await account(increase, `Account ${n}`);
      },
      'the client walks pages of two': async () => {
        const rows = await gather((await increase.accounts.list({ limit: 2 })).iterPages(), page);
        assert.equal(rows.length, 5);
        once(
          rows.map(({ id }) => id),
          [s.id1, s.id2, s.id3, s.id4, s.id5],
        );
      },
      'a page holds what was asked for, and a cursor': async () => {
        const first = await increase.accounts.list({ limit: 2 });
        assert.deepEqual([first.data.length, typeof first.next_cursor], [2, 'string']);
      },
      'the last page has no cursor': async () => assert.equal((await increase.accounts.list({ limit: 100 })).next_cursor, null),
    }),
    'the numbers of an account': (increase, s) => ({
      'open two accounts': async () => {
        s.account = await account(increase, 'Rent');
        s.other = await account(increase, 'Taxes');
      },
      create: async () => {
        const made = await increase.accountNumbers.create({ account_id: s.account, name: 'Rent payments' });
        s.id = made.id;
        assert.deepEqual([made.account_id, made.name, made.status], [s.account, 'Rent payments', 'active']);
        assert.deepEqual([typeof made.account_number, typeof made.routing_number], ['string', 'string']);
      },
      'list those of the account': async () =>
        assert.deepEqual(
          (await increase.accountNumbers.list({ account_id: s.account })).data.map(({ id }) => id),
          [s.id],
        ),
      'the other account has none': async () =>
        assert.deepEqual((await increase.accountNumbers.list({ account_id: s.other })).data, []),
      disable: async () => assert.equal((await increase.accountNumbers.update(s.id, { status: 'disabled' })).status, 'disabled'),
      'it is disabled, and named as before': async () => {
        const read = await increase.accountNumbers.retrieve(s.id);
        assert.deepEqual([read.status, read.name], ['disabled', 'Rent payments']);
      },
    }),
    'a transfer is approved': (increase, s) => ({
      create: async () => pending(increase, s),
      approve: async () => {
        const approved = await increase.accountTransfers.approve(s.id);
        assert.equal(approved.id, s.id);
        assert.notEqual(approved.status, 'pending_approval');
      },
      'it says when': async () => {
        const read = await increase.accountTransfers.retrieve(s.id);
        assert.equal(typeof read.approval?.approved_at, 'string');
      },
      'list those of the account': async () =>
        assert.deepEqual(
          (await increase.accountTransfers.list({ account_id: s.from })).data.map(({ id }) => id),
          [s.id],
        ),
    }),
    'a transfer is canceled': (increase, s) => ({
      create: async () => pending(increase, s),
      cancel: async () => assert.equal((await increase.accountTransfers.cancel(s.id)).status, 'canceled'),
      'it is canceled': async () => {
        const read = await increase.accountTransfers.retrieve(s.id);
        assert.deepEqual([read.status, typeof read.cancellation?.canceled_at], ['canceled', 'string']);
      },
    }),
    'an account at another bank': (increase, s) => ({
      create: async () => {
        const asked = {
          routing_number: '101050001',
          account_number: '987654321',
          description: 'Landlord',
          funding: 'checking',
        } as const;
        const made = await increase.externalAccounts.create(asked);
        s.id = made.id;
        assert.partialDeepStrictEqual(made, { ...asked, status: 'active' });
      },
      read: async () => assert.equal((await increase.externalAccounts.retrieve(s.id)).description, 'Landlord'),
      archive: async () =>
        assert.equal((await increase.externalAccounts.update(s.id, { status: 'archived' })).status, 'archived'),
      'list the archived ones': async () =>
        assert.deepEqual(
          (await increase.externalAccounts.list({ status: { in: ['archived'] } })).data.map(({ id }) => id),
          [s.id],
        ),
      'no active one is left': async () =>
        assert.deepEqual((await increase.externalAccounts.list({ status: { in: ['active'] } })).data, []),
    }),
    'a webhook subscription': (increase, s) => ({
      create: async () => {
        const asked = { url: 'https://website.com/webhooks', selected_event_category: 'account.created' } as const;
        const made = await increase.eventSubscriptions.create(asked);
        s.id = made.id;
        assert.partialDeepStrictEqual(made, { ...asked, status: 'active' });
      },
      disable: async () =>
        assert.equal((await increase.eventSubscriptions.update(s.id, { status: 'disabled' })).status, 'disabled'),
      list: async () =>
        assert.deepEqual(
          (await increase.eventSubscriptions.list()).data.map(({ id, status }) => [id, status]),
          [[s.id, 'disabled']],
        ),
      delete: async () => assert.equal((await increase.eventSubscriptions.update(s.id, { status: 'deleted' })).status, 'deleted'),
      'it says that it is deleted': async () =>
        assert.equal((await increase.eventSubscriptions.retrieve(s.id)).status, 'deleted'),
    }),
    'a card': (increase, s) => ({
      'open the account': async () => {
        s.account = await account(increase, 'Travel');
      },
      create: async () => {
        const made = await increase.cards.create({ account_id: s.account, description: 'Card for Ian Crease' });
        s.id = made.id;
        assert.deepEqual([made.account_id, made.description, made.status], [s.account, 'Card for Ian Crease', 'active']);
      },
      'read its sensitive details': async () => {
        const details = await increase.cards.details(s.id);
        assert.deepEqual([details.card_id, typeof details.primary_account_number], [s.id, 'string']);
      },
      'send it elsewhere': async () => {
        const billing_address = { line1: '33 Liberty Street', city: 'New York', state: 'NY', postal_code: '10045' };
        assert.partialDeepStrictEqual(await increase.cards.update(s.id, { billing_address }), { billing_address });
      },
      cancel: async () => assert.equal((await increase.cards.update(s.id, { status: 'canceled' })).status, 'canceled'),
      'list those of the account': async () =>
        assert.deepEqual(
          (await increase.cards.list({ account_id: s.account })).data.map(({ id, status }) => [id, status]),
          [[s.id, 'canceled']],
        ),
    }),
    'a set of bookkeeping entries': (increase, s) => ({
      'create two accounts': async () => {
        s.debit = (await increase.bookkeepingAccounts.create({ name: 'Money in' })).id;
        s.credit = (await increase.bookkeepingAccounts.create({ name: 'Money out' })).id;
      },
      'list them': async () =>
        once(
          (await increase.bookkeepingAccounts.list()).data.map(({ id }) => id),
          [s.debit, s.credit],
        ),
      book: async () => {
        const entries = [
          { account_id: s.debit, amount: 100 },
          { account_id: s.credit, amount: -100 },
        ];
        const made = await increase.bookkeepingEntrySets.create({ entries });
        assert.equal(made.type, 'bookkeeping_entry_set');
        assert.partialDeepStrictEqual(made.entries, entries);
      },
    }),
    'a file, sent as a form': (increase, s) => ({
      upload: async () => {
        const file = await toFile(Buffer.from('a scan'), 'scan.txt', { type: 'text/plain' });
        const made = await increase.files.create({ file, purpose: 'identity_document', description: 'A scan' });
        s.id = made.id;
        assert.deepEqual([made.type, made.purpose, made.description], ['file', 'identity_document', 'A scan']);
        assert.equal(made.direction, 'to_increase');
      },
      read: async () => assert.equal((await increase.files.retrieve(s.id)).description, 'A scan'),
      list: async () =>
        assert.deepEqual(
          (await increase.files.list({ purpose: { in: ['identity_document'] } })).data.map(({ id }) => id),
          [s.id],
        ),
    }),
    'a request sent twice with one key': (increase, s) => ({
      once: async () => {
        const idempotencyKey = 'RYegFXLgmv4U3RNsl4ct';
        s.id = (await increase.accounts.create({ name: 'Only one' }, { idempotencyKey })).id;
      },
      again: async () => {
        const idempotencyKey = 'RYegFXLgmv4U3RNsl4ct';
        assert.equal((await increase.accounts.create({ name: 'Only one' }, { idempotencyKey })).id, s.id);
      },
      'there is one': async () => assert.equal((await increase.accounts.list()).data.length, 1),
    }),
    'a credential that is refused': (increase, _s, another) => ({
      'the right one is taken': async () => assert.deepEqual((await increase.accounts.list()).data, []),
      'none is refused': async () => assert.equal(told(await refused(another('').accounts.list(), 401)).status, 401),
    }),
    'requests that are wrong': (increase) => ({
      'an account that nobody opened': async () => {
        const { type, title, status } = told(await refused(increase.accounts.retrieve('account_in71c4amph0vgo2qllky'), 404));
        assert.deepEqual([type, typeof title, status], ['object_not_found_error', 'string', 404]);
      },
      'an account without its name': async () => {
        const thrown = await refused(increase.accounts.create({} as { name: string }), 400);
        assert.equal(told(thrown).type, 'invalid_parameters_error');
      },
      'an amount that is a word': async () => {
        const asked = { account_id: 'account_a', destination_account_id: 'account_b', description: 'Wages' };
        await refused(increase.accountTransfers.create({ ...asked, amount: 'much' as unknown as number }), 400);
      },
    }),
  },
};
