import assert from 'node:assert/strict';
import { Auth } from '@vonage/auth';
import { SubAccounts } from '@vonage/subaccounts';
import { given, once, type Place, refused, type State, type Vendor } from '../kit.ts';

/** The client, and the key of the primary account, which is in the path of each of its calls. */
type Client = SubAccounts & { readonly key: string };

/** What goes after `Basic` in the header: the key of the primary account and its secret. */
const credential = (key: string, secret: string): string => Buffer.from(`${key}:${secret}`).toString('base64');

const connect = (place: Place, token: string): Client => {
  const [apiKey = '', ...secret] = Buffer.from(token, 'base64').toString().split(':');
  const auth = new Auth({ apiKey, apiSecret: secret.join(':') });
  return Object.assign(new SubAccounts(auth, { apiHost: place.url }), { key: apiKey });
};

/** What the service tells of a refusal, as its errors are described. */
interface Fault {
  readonly type: string;
  readonly title: string;
  readonly detail: string;
  readonly instance: string;
  readonly invalid_parameters?: readonly { readonly name?: string; readonly reason?: string }[];
}

/** The call is refused with one of these statuses, and the answer says why. */
const fault = async (call: Promise<unknown>, ...statuses: readonly number[]): Promise<Fault> => {
  const { response } = (await refused(call, ...statuses)) as { readonly response: Response };
  const told = (await response.json()) as Fault;
  for (const member of ['type', 'title', 'detail', 'instance'] as const)
    assert.equal(typeof told[member], 'string', `the fault has no ${member}`);
  return told;
};

const long = '2020-01-01T00:00:00.000Z';
const longer = '2019-01-01T00:00:00.000Z';
const later = '2099-01-01T00:00:00.000Z';
const nobody = 'aaaa0000';

const keys = (rows: readonly { readonly apiKey: string }[]): string[] => rows.map(({ apiKey }) => apiKey);

/** A subaccount that has a balance of its own. */
const subaccount = async (v: Client, s: State, as = 'sub', name = 'Subaccount department A'): Promise<void> => {
  const made = await v.createSubAccount({ name, secret: 'Password123', usePrimaryAccountBalance: false });
  s[as] = given(made.apiKey, 'key of the subaccount');
};

/** The client reads `credit_transfers`, as the service's guide says; its description says `credit-transfers`: either is read here. */
const credits = async (v: Client, query: Record<string, string>): Promise<string[]> => {
  type Row = { readonly credit_transfer_id: string };
  const url = `${given(v.getConfig().apiHost, 'host')}/accounts/${v.key}/credit-transfers`;
  const { data } = await v.sendGetRequest<{ readonly _embedded: Readonly<Record<string, readonly Row[]>> }>(url, query);
  const rows = data._embedded.credit_transfers ?? data._embedded['credit-transfers'];
  return given(rows, 'credit transfers').map(({ credit_transfer_id }) => credit_transfer_id);
};

const balances = async (v: Client, query: Parameters<Client['listBalanceTransfers']>[0]): Promise<string[]> =>
  (await v.listBalanceTransfers(query)).map(({ balanceTransferId }) => balanceTransferId);

/** Guide: developer.vonage.com/account/subaccounts: "Overview", "Subaccount management", "Transfers", and the API's reference. */
export const vendor: Vendor<Client> = {
  document: 'nexmo/subaccounts.json',
  header: 'Authorization',
  word: 'Basic',
  made: credential('acc6111f', 'Primary1Secret9'),
  client: connect,
  flows: {
    'a subaccount from its making': (v, s) => ({
      create: async () => {
        const made = await v.createSubAccount({
          name: 'Subaccount department A',
          secret: 'Password123',
          usePrimaryAccountBalance: false,
        });
        s.sub = given(made.apiKey, 'key of the subaccount');
        assert.deepEqual([made.name, made.usePrimaryAccountBalance], ['Subaccount department A', false]);
      },
      'it is told with its secret': async () => {
        const made = await v.createSubAccount({ name: 'Subaccount department S', secret: 'Password456' });
        assert.equal((made as unknown as { readonly secret?: string }).secret, 'Password456');
        assert.notEqual(made.apiKey, s.sub);
      },
      read: async () => {
        const read = await v.getSubAccount(s.sub);
        assert.deepEqual([read.apiKey, read.name, read.usePrimaryAccountBalance], [s.sub, 'Subaccount department A', false]);
        assert.ok(!Number.isNaN(Date.parse(read.createdAt)), `made at ${read.createdAt}`);
      },
      'it is of the primary account': async () => assert.equal((await v.getSubAccount(s.sub)).primaryAccountApiKey, v.key),
      'nothing suspends it': async () => assert.equal((await v.getSubAccount(s.sub)).suspended, false),
      'it is listed': async () => once(keys(await v.listSubAccounts()), [s.sub], 'subaccounts'),
    }),

    'the subaccounts of an account': (v, s) => ({
      'three of them': async () => {
        await subaccount(v, s, 'a', 'North');
        await subaccount(v, s, 'b', 'South');
        await subaccount(v, s, 'c', 'South');
        assert.equal(new Set([s.a, s.b, s.c]).size, 3);
      },
      'each is listed once': async () => {
        const rows = await v.listSubAccounts();
        once(keys(rows), [s.a, s.b, s.c], 'subaccounts');
        assert.equal(new Set(keys(rows)).size, rows.length);
      },
      'with their names': async () => {
        const rows = await v.listSubAccounts();
        const named = [s.a, s.b, s.c].map((key) => rows.find(({ apiKey }) => apiKey === key)?.name);
        assert.deepEqual(named, ['North', 'South', 'South']);
      },
      'all of the same account': async () => {
        for (const { primaryAccountApiKey } of await v.listSubAccounts()) assert.equal(primaryAccountApiKey, v.key);
      },
      'a list tells what reading one tells': async () => {
        const row = (await v.listSubAccounts()).find(({ apiKey }) => apiKey === s.b);
        assert.deepEqual(given(row, 'subaccount'), await v.getSubAccount(s.b));
      },
    }),

    'the primary account': (v, s) => ({
      'it is the one that asks': async () => assert.equal((await v.getPrimaryAccount()).apiKey, v.key),
      'it has a balance and a limit': async () => {
        const { balance, creditLimit } = await v.getPrimaryAccount();
        assert.deepEqual([typeof balance, typeof creditLimit], ['number', 'number']);
      },
      'it is no subaccount of its own': async () => {
        await subaccount(v, s);
        const page = await v.getSubAccountPage();
        const listed = page._embedded.subaccounts.map(({ api_key }) => api_key);
        once(listed, [s.sub], 'subaccounts');
        assert.ok(!listed.includes(v.key));
      },
      'another subaccount leaves it as it is': async () => {
        const { name, createdAt } = await v.getPrimaryAccount();
        await subaccount(v, s, 'other', 'Subaccount department B');
        const after = await v.getPrimaryAccount();
        assert.deepEqual([after.apiKey, after.name, after.createdAt], [v.key, name, createdAt]);
      },
    }),

    'another name': (v, s) => ({
      'two subaccounts': async () => {
        await subaccount(v, s, 'sub', 'Subaccount department A');
        await subaccount(v, s, 'other', 'Subaccount department C');
      },
      rename: async () => {
        const changed = await v.updateSubAccount(s.sub, { name: 'Subaccount department B' });
        assert.deepEqual([changed.apiKey, changed.name], [s.sub, 'Subaccount department B']);
      },
      'it stays renamed': async () => assert.equal((await v.getSubAccount(s.sub)).name, 'Subaccount department B'),
      'nothing else has changed': async () => {
        const read = await v.getSubAccount(s.sub);
        assert.deepEqual([read.usePrimaryAccountBalance, read.suspended, read.primaryAccountApiKey], [false, false, v.key]);
      },
      'nor the other': async () => assert.equal((await v.getSubAccount(s.other)).name, 'Subaccount department C'),
      'the list says so': async () => {
        const row = (await v.listSubAccounts()).find(({ apiKey }) => apiKey === s.sub);
        assert.equal(given(row, 'subaccount').name, 'Subaccount department B');
      },
    }),

    'suspended and reactivated': (v, s) => ({
      'a subaccount': () => subaccount(v, s),
      suspend: async () => assert.equal((await v.updateSubAccount(s.sub, { suspended: true })).suspended, true),
      'it stays suspended': async () => {
        const read = await v.getSubAccount(s.sub);
        assert.deepEqual([read.suspended, read.name], [true, 'Subaccount department A']);
      },
      'it is still listed': async () => {
        const row = (await v.listSubAccounts()).find(({ apiKey }) => apiKey === s.sub);
        assert.equal(given(row, 'subaccount').suspended, true);
      },
      reactivate: async () => assert.equal((await v.updateSubAccount(s.sub, { suspended: false })).suspended, false),
      'it is active again': async () => assert.equal((await v.getSubAccount(s.sub)).suspended, false),
    }),

    'the balance of the primary account, or its own': (v, s) => ({
      'shared, where nothing else is said': async () => {
        const made = await v.createSubAccount({ name: 'Sharing' });
        s.sub = given(made.apiKey, 'key of the subaccount');
        assert.equal(made.usePrimaryAccountBalance, true);
      },
      'then it has none of its own': async () => {
        const read = await v.getSubAccount(s.sub);
        assert.deepEqual([read.balance ?? null, read.creditLimit ?? null], [null, null]);
      },
      'one that shares nothing has': async () => {
        await subaccount(v, s, 'own');
        const read = await v.getSubAccount(s.own);
        assert.deepEqual([typeof read.balance, typeof read.creditLimit], ['number', 'number']);
      },
      'no longer shared': async () => {
        const params = { usePrimaryAccountBalance: false } as Parameters<Client['updateSubAccount']>[1];
        assert.equal((await v.updateSubAccount(s.sub, params)).usePrimaryAccountBalance, false);
      },
      'it stays so': async () => {
        const read = await v.getSubAccount(s.sub);
        assert.deepEqual([read.usePrimaryAccountBalance, read.name], [false, 'Sharing']);
      },
    }),

    'balance to a subaccount': (v, s) => ({
      'a subaccount': async () => {
        await subaccount(v, s);
        s.before = String(given((await v.getSubAccount(s.sub)).balance, 'balance'));
      },
      transfer: async () => {
        const made = await v.transferBalance({ from: v.key, to: s.sub, amount: 12.5, reference: 'Start of the month' });
        s.transfer = given(made.balanceTransferId, 'id of the transfer');
        assert.deepEqual([made.from, made.to, made.amount, made.reference], [v.key, s.sub, 12.5, 'Start of the month']);
        assert.ok(!Number.isNaN(Date.parse(made.createdAt)), `made at ${made.createdAt}`);
      },
      'it is listed': async () => once(await balances(v, { startDate: long }), [s.transfer], 'transfers'),
      'as it was made': async () => {
        const rows = await v.listBalanceTransfers({ startDate: long });
        const row = given(
          rows.find(({ balanceTransferId }) => balanceTransferId === s.transfer),
          'transfer',
        );
        assert.deepEqual([row.from, row.to, row.amount, row.reference], [v.key, s.sub, 12.5, 'Start of the month']);
      },
      'the subaccount has it': async () => assert.equal((await v.getSubAccount(s.sub)).balance, Number(s.before) + 12.5),
      'and gives some of it back': async () => {
        const made = await v.transferBalance({ from: s.sub, to: v.key, amount: 2.5 });
        assert.deepEqual([made.from, made.to, made.amount], [s.sub, v.key, 2.5]);
        assert.notEqual(made.balanceTransferId, s.transfer);
        assert.equal((await v.getSubAccount(s.sub)).balance, Number(s.before) + 10);
      },
    }),

    'balance transfers of a subaccount and of a time': (v, s) => ({
      'one to each of two': async () => {
        await subaccount(v, s, 'a');
        await subaccount(v, s, 'b', 'Subaccount department B');
        s.first = (await v.transferBalance({ from: v.key, to: s.a, amount: 1 })).balanceTransferId;
        s.second = (await v.transferBalance({ from: v.key, to: s.b, amount: 2 })).balanceTransferId;
        assert.notEqual(s.first, s.second);
      },
      'both, without a filter': async () => once(await balances(v, { startDate: long }), [s.first, s.second], 'transfers'),
      'those of one': async () => {
        const rows = await v.listBalanceTransfers({ startDate: long, subaccount: s.a });
        assert.deepEqual(
          rows.map(({ balanceTransferId }) => balanceTransferId),
          [s.first],
        );
        for (const { from, to } of rows) assert.ok(from === s.a || to === s.a);
      },
      'both until then': async () =>
        once(await balances(v, { startDate: long, endDate: later }), [s.first, s.second], 'transfers'),
      'none of them long ago': async () => {
        const found = await balances(v, { startDate: longer, endDate: long });
        assert.ok(!found.includes(s.first) && !found.includes(s.second));
      },
      'none of them in years to come': async () => {
        const found = await balances(v, { startDate: later });
        assert.ok(!found.includes(s.first) && !found.includes(s.second));
      },
    }),

    'a credit limit moved': (v, s) => ({
      'two subaccounts': async () => {
        await subaccount(v, s);
        await subaccount(v, s, 'other', 'Subaccount department B');
      },
      transfer: async () => {
        const params = { from: v.key, to: s.sub, amount: 20, reference: 'For the campaign' };
        const made = await v.transferCredit(params as unknown as Parameters<Client['transferCredit']>[0]);
        s.transfer = given(made.creditTransferId, 'id of the transfer');
        assert.deepEqual([made.from, made.to, made.amount, made.reference], [v.key, s.sub, 20, 'For the campaign']);
        assert.ok(!Number.isNaN(Date.parse(made.createdAt)), `made at ${made.createdAt}`);
      },
      'it is listed': async () => once(await credits(v, { start_date: long }), [s.transfer], 'transfers'),
      'with those of its subaccount': async () =>
        assert.deepEqual(await credits(v, { start_date: long, subaccount: s.sub }), [s.transfer]),
      'not with those of the other': async () =>
        assert.deepEqual(await credits(v, { start_date: long, subaccount: s.other }), []),
      'nor with those of long ago': async () =>
        assert.ok(!(await credits(v, { start_date: longer, end_date: long })).includes(s.transfer)),
      'it is no transfer of balance': async () => assert.ok(!(await balances(v, { startDate: long })).includes(s.transfer)),
    }),

    'a number handed over': (v, s) => ({
      'a subaccount': () => subaccount(v, s),
      transfer: async () => {
        const params = { number: 23507703696, country: 'GB', from: v.key, to: s.sub };
        const made = await v.transferNumber(params as unknown as Parameters<Client['transferNumber']>[0]);
        assert.deepEqual([String(made.number), made.country], ['23507703696', 'GB']);
        assert.deepEqual([made.from, made.to], [v.key, s.sub]);
      },
      'the subaccount is as it was': async () => {
        const read = await v.getSubAccount(s.sub);
        assert.deepEqual([read.apiKey, read.name, read.suspended], [s.sub, 'Subaccount department A', false]);
      },
      'it is no transfer of balance': async () => assert.deepEqual(await balances(v, { startDate: long, subaccount: s.sub }), []),
    }),

    'what is wrong, or not there': (v, s) => ({
      'a subaccount without a name': async () => {
        const told = await fault(v.createSubAccount({ secret: 'Password123' } as unknown as { name: string }), 422);
        assert.ok(Array.isArray(told.invalid_parameters), 'the fault has no invalid parameters');
      },
      'a name of 81 letters': () => fault(v.createSubAccount({ name: 'n'.repeat(81) }), 422),
      'a balance that is shared perhaps': () =>
        fault(v.createSubAccount({ name: 'Perhaps', usePrimaryAccountBalance: 'perhaps' as unknown as boolean }), 422),
      'a subaccount that is not there': () => fault(v.getSubAccount(nobody), 404),
      'no name for it': () => fault(v.updateSubAccount(nobody, { name: 'Nobody' }), 404),
      'no transfer of nothing we know': async () => {
        await subaccount(v, s);
        const params = { from: v.key, to: s.sub } as unknown as Parameters<Client['transferBalance']>[0];
        await fault(v.transferBalance(params), 422);
      },
      'no suspension but yes or no': async () => {
        await fault(v.updateSubAccount(s.sub, { suspended: 'later' as unknown as boolean }), 422);
        assert.equal((await v.getSubAccount(s.sub)).suspended, false);
      },
    }),

    'a secret that is not right': (v, s, another) => ({
      'a subaccount': () => subaccount(v, s),
      'none are listed': async () => {
        const wrong = another(credential(v.key, 'NotTheSecret1'));
        await refused(wrong.listSubAccounts(), 401);
      },
      'none is read, and it is said why': () => fault(another(credential(v.key, 'NotTheSecret1')).getSubAccount(s.sub), 401),
      'none is made': async () => {
        const wrong = another(credential(v.key, 'NotTheSecret1'));
        await refused(wrong.createSubAccount({ name: 'Intruder' }), 401);
        assert.ok(!(await v.listSubAccounts()).some(({ name }) => name === 'Intruder'));
      },
      'nothing is moved': () => {
        const wrong = another(credential(v.key, 'NotTheSecret1'));
        return refused(wrong.transferBalance({ from: s.sub, to: v.key, amount: 1 }), 401);
      },
    }),
  },
};
