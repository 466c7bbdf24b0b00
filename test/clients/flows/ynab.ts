import assert from 'node:assert/strict';
import * as ynab from 'ynab';
import { given, once, type Place, refused, type State, type Vendor } from '../kit.ts';

type Asked = ynab.NewTransaction;
type Detail = ynab.TransactionDetail;

/**
 * The client throws the body of an error alone, without its status: what it calls after each answer throws it with both.
 */
const post = async ({ response }: { response: Response }): Promise<undefined> => {
  if (!response.ok) throw Object.assign(new Error(await response.text()), { status: response.status });
};

const connect = (place: Place, token: string) => {
  const api = new ynab.API(token, place.base);
  return {
    accounts: api.accounts.withPostMiddleware(post),
    budgets: api.budgets.withPostMiddleware(post),
    categories: api.categories.withPostMiddleware(post),
    months: api.months.withPostMiddleware(post),
    payeeLocations: api.payeeLocations.withPostMiddleware(post),
    payees: api.payees.withPostMiddleware(post),
    transactions: api.transactions.withPostMiddleware(post),
    user: api.user.withPostMiddleware(post),
  };
};

type Ynab = ReturnType<typeof connect>;

const ids = (rows: readonly { id: string }[]): string[] => rows.map(({ id }) => id);

/** Budgets are made in the application alone: an account has one. */
const budget = async (api: Ynab, s: State): Promise<void> => {
  const { budgets } = (await api.budgets.getBudgets()).data;
  s.budget = given(budgets[0], 'budget').id;
};

const account = async (api: Ynab, s: State, name = 'Checking'): Promise<string> => {
  if (!Object.keys(s).includes('budget')) await budget(api, s);
  const asked = { name, type: ynab.AccountType.Checking, balance: 100_000 };
  s.account = (await api.accounts.createAccount(s.budget, { account: asked })).data.account.id;
  return s.account;
};

const spend = async (api: Ynab, s: State, asked: Partial<Asked> = {}): Promise<Detail> => {
  const transaction = { account_id: s.account, date: '2026-03-02', amount: -12_340, ...asked };
  const { data } = await api.transactions.createTransaction(s.budget, { transaction });
  return given(data.transaction, 'transaction');
};

const listed = async (api: Ynab, s: State, ...filter: [string?, ('uncategorized' | 'unapproved')?, number?]): Promise<string[]> =>
  ids((await api.transactions.getTransactions(s.budget, ...filter)).data.transactions);

const category = async (api: Ynab, s: State): Promise<ynab.Category> => {
  const groups = (await api.categories.getCategories(s.budget)).data.category_groups;
  return given(groups.flatMap(({ categories }) => categories)[0], 'category');
};

/** Guide: api.ynab.com, "Quick Start", "Data Formats", "Endpoints", "Delta Requests", "Errors", "Best Practices". */
export const vendor: Vendor<Ynab> = {
  document: 'ynab/youneedabudget.com.json',
  header: 'Authorization',
  word: 'Bearer',
  made: 'pZ8mT1kQ4vX7cN2bL5sR9wD3fG6hJ0aY_ninefoldFlows',
  client: connect,
  flows: {
    'a budget, its settings and its user': (api, s) => ({
      'the user has an id': async () => assert.equal(typeof (await api.user.getUser()).data.user.id, 'string'),
      'there is a budget': async () => budget(api, s),
      'read it whole': async () => {
        const { data } = await api.budgets.getBudgetById(s.budget);
        assert.deepEqual([data.budget.id, typeof data.server_knowledge], [s.budget, 'number']);
      },
      'its settings have formats': async () => {
        const { settings } = (await api.budgets.getBudgetSettingsById(s.budget)).data;
        assert.equal(typeof settings.currency_format, 'object');
        assert.equal(typeof settings.date_format, 'object');
      },
      'another budget is not there': async () => {
        await refused(api.budgets.getBudgetById('3b8cbb2e-0f2f-4e43-a4a5-6cb5d9f1e001'), 404);
      },
    }),
    'an account is opened': (api, s) => ({
      open: async () => {
        await budget(api, s);
        const asked = { name: 'Rainy Day', type: ynab.AccountType.Savings, balance: 250_500 };
        const { account: made } = (await api.accounts.createAccount(s.budget, { account: asked })).data;
        s.id = made.id;
        assert.partialDeepStrictEqual(made, { ...asked, deleted: false, closed: false });
      },
      read: async () => {
        const { account: read } = (await api.accounts.getAccountById(s.budget, s.id)).data;
        assert.deepEqual([read.id, read.name, read.type, read.balance], [s.id, 'Rainy Day', 'savings', 250_500]);
      },
      list: async () => once(ids((await api.accounts.getAccounts(s.budget)).data.accounts), [s.id], 'accounts'),
      'an account that is not there': async () => {
        await refused(api.accounts.getAccountById(s.budget, '6ac2d1b2-5d5c-4a02-9d59-9d9b8cf4f002'), 404);
      },
    }),
    'a transaction is made, changed and deleted': (api, s) => ({
      'an account for it': async () => account(api, s),
      create: async () => {
        const made = await spend(api, s, { memo: 'coffee', cleared: 'uncleared', approved: true, flag_color: 'red' });
        s.id = made.id;
        const asked = { account_id: s.account, date: '2026-03-02', amount: -12_340, memo: 'coffee', approved: true };
        assert.partialDeepStrictEqual(made, { ...asked, cleared: 'uncleared', flag_color: 'red', deleted: false });
      },
      read: async () => {
        const { transaction } = (await api.transactions.getTransactionById(s.budget, s.id)).data;
        assert.deepEqual([transaction.id, transaction.amount, transaction.memo], [s.id, -12_340, 'coffee']);
      },
      change: async () => {
        const transaction = { amount: -15_000, memo: 'coffee and cake', cleared: 'cleared' as const };
        const { data } = await api.transactions.updateTransaction(s.budget, s.id, {
          transaction: { ...transaction, account_id: s.account, date: '2026-03-03' },
        });
        assert.partialDeepStrictEqual(data.transaction, { ...transaction, id: s.id, date: '2026-03-03' });
      },
      'it stays changed': async () => {
        const { transaction } = (await api.transactions.getTransactionById(s.budget, s.id)).data;
        assert.deepEqual([transaction.amount, transaction.memo, transaction.cleared], [-15_000, 'coffee and cake', 'cleared']);
      },
      delete: async () => {
        const { data } = await api.transactions.deleteTransaction(s.budget, s.id);
        assert.equal(data.transaction.id, s.id);
      },
      'it is gone': async () => refused(api.transactions.getTransactionById(s.budget, s.id), 404),
      'it is not listed': async () => assert.ok(!(await listed(api, s)).includes(s.id)),
      'it cannot be deleted again': async () => refused(api.transactions.deleteTransaction(s.budget, s.id), 404),
    }),
    'many transactions in one call': (api, s) => ({
      'an account for them': async () => account(api, s),
      create: async () => {
        const transactions = [1, 2, 3].map((n) => ({
          account_id: s.account,
          date: `2026-04-0${n}`,
          amount: n * -1000,
          memo: `lunch ${n}`,
        }));
        const { data } = await api.transactions.createTransactions(s.budget, { transactions });
        assert.equal(data.transaction_ids.length, 3);
        [s.id1, s.id2, s.id3] = data.transaction_ids as [string, string, string];
      },
      'all of them are listed': async () => once(await listed(api, s), [s.id1, s.id2, s.id3], 'transactions'),
      'the second is what was sent second': async () => {
        const { transaction } = (await api.transactions.getTransactionById(s.budget, s.id2)).data;
        assert.deepEqual([transaction.memo, transaction.amount, transaction.date], ['lunch 2', -2000, '2026-04-02']);
      },
      'change two of them': async () => {
        const transactions = [
          { id: s.id1, memo: 'dinner 1' },
          { id: s.id3, memo: 'dinner 3' },
        ];
        const { data } = await api.transactions.updateTransactions(s.budget, { transactions });
        once(data.transaction_ids, [s.id1, s.id3], 'changed ids');
      },
      'they are changed, and the other is not': async () => {
        const memos = [];
        for (const id of [s.id1, s.id2, s.id3])
          memos.push((await api.transactions.getTransactionById(s.budget, id)).data.transaction.memo);
        assert.deepEqual(memos, ['dinner 1', 'lunch 2', 'dinner 3']);
      },
    }),
    'transactions of an account alone': (api, s) => ({
      'two accounts, a transaction of each': async () => {
        s.one = await account(api, s, 'Wallet');
        s.mine = (await spend(api, s)).id;
        s.two = await account(api, s, 'Card');
        s.other = (await spend(api, s)).id;
      },
      'the first account has its own': async () => {
        const rows = ids((await api.transactions.getTransactionsByAccount(s.budget, s.one)).data.transactions);
        assert.deepEqual([rows.includes(s.mine), rows.includes(s.other)], [true, false]);
      },
      'so has the second': async () => {
        const rows = ids((await api.transactions.getTransactionsByAccount(s.budget, s.two)).data.transactions);
        assert.deepEqual([rows.includes(s.mine), rows.includes(s.other)], [false, true]);
      },
      'the budget has both': async () => once(await listed(api, s), [s.mine, s.other], 'transactions'),
      'an account that is not there has none': async () =>
        refused(api.transactions.getTransactionsByAccount(s.budget, '6ac2d1b2-5d5c-4a02-9d59-9d9b8cf4f003'), 404),
    }),
    'transactions since a date': (api, s) => ({
      'one of January, one of May': async () => {
        await account(api, s);
        s.january = (await spend(api, s, { date: '2026-01-15' })).id;
        s.may = (await spend(api, s, { date: '2026-05-15' })).id;
      },
      'since March there is one': async () => {
        const rows = await listed(api, s, '2026-03-01');
        assert.deepEqual([rows.includes(s.january), rows.includes(s.may)], [false, true]);
      },
      'a date counts itself': async () => assert.ok((await listed(api, s, '2026-05-15')).includes(s.may)),
      'what is no date is refused': async () => refused(listed(api, s, 'yesterday'), 400),
    }),
    'transactions to approve': (api, s) => ({
      'one approved, one not': async () => {
        await account(api, s);
        s.done = (await spend(api, s, { approved: true })).id;
        s.open = (await spend(api, s, { approved: false })).id;
      },
      'the unapproved': async () => {
        const rows = await listed(api, s, undefined, 'unapproved');
        assert.deepEqual([rows.includes(s.open), rows.includes(s.done)], [true, false]);
      },
      approve: async () => {
        const transactions = [{ id: s.open, approved: true }];
        await api.transactions.updateTransactions(s.budget, { transactions });
      },
      'nothing is left to approve': async () => {
        const rows = await listed(api, s, undefined, 'unapproved');
        assert.deepEqual([rows.includes(s.open), rows.includes(s.done)], [false, false]);
      },
    }),
    'an import is done once': (api, s) => ({
      'import a transaction': async () => {
        await account(api, s);
        const made = await spend(api, s, { import_id: 'YNAB:-12340:2026-03-02:1' });
        s.id = made.id;
        assert.equal(made.import_id, 'YNAB:-12340:2026-03-02:1');
      },
      'the same import is a conflict': async () => refused(spend(api, s, { import_id: 'YNAB:-12340:2026-03-02:1' }), 409),
      'another one is not': async () => {
        s.next = (await spend(api, s, { import_id: 'YNAB:-12340:2026-03-02:2' })).id;
        assert.notEqual(s.next, s.id);
      },
      'each is there once': async () => once(await listed(api, s), [s.id, s.next], 'transactions'),
    }),
    'only what changed since': (api, s) => ({
      'a transaction, and what the server knows then': async () => {
        await account(api, s);
        s.old = (await spend(api, s)).id;
        s.known = String((await api.transactions.getTransactions(s.budget)).data.server_knowledge);
      },
      'another one': async () => {
        s.fresh = (await spend(api, s)).id;
      },
      'the server knows more': async () => {
        const { data } = await api.transactions.getTransactions(s.budget);
        assert.ok(data.server_knowledge > Number(s.known), `${data.server_knowledge} is not more than ${s.known}`);
      },
      'since then there is the new one alone': async () => {
        const rows = await listed(api, s, undefined, undefined, Number(s.known));
        assert.deepEqual([rows.includes(s.fresh), rows.includes(s.old)], [true, false]);
      },
    }),
    'a category of a transaction': (api, s) => ({
      'a category of the budget': async () => {
        await account(api, s);
        s.category = (await category(api, s)).id;
      },
      'spend on it': async () => {
        const made = await spend(api, s, { category_id: s.category });
        s.id = made.id;
        assert.equal(made.category_id, s.category);
      },
      'the category has the transaction': async () => {
        const { data } = await api.transactions.getTransactionsByCategory(s.budget, s.category);
        once(ids(data.transactions), [s.id], 'transactions');
      },
      'the uncategorized are others': async () => {
        s.bare = (await spend(api, s)).id;
        const rows = await listed(api, s, undefined, 'uncategorized');
        assert.deepEqual([rows.includes(s.bare), rows.includes(s.id)], [true, false]);
      },
    }),
    'a month is budgeted': (api, s) => ({
      'a category and a month': async () => {
        await budget(api, s);
        s.category = (await category(api, s)).id;
        const { months } = (await api.months.getBudgetMonths(s.budget)).data;
        s.month = given(months[0], 'month').month;
      },
      'the month has categories': async () => {
        const { month } = (await api.months.getBudgetMonth(s.budget, s.month)).data;
        assert.deepEqual([month.month, Array.isArray(month.categories)], [s.month, true]);
      },
      'budget 150': async () => {
        const asked = { category: { budgeted: 150_000 } };
        const { data } = await api.categories.updateMonthCategory(s.budget, s.month, s.category, asked);
        assert.deepEqual([data.category.id, data.category.budgeted], [s.category, 150_000]);
      },
      'it stays budgeted': async () => {
        const { data } = await api.categories.getMonthCategoryById(s.budget, s.month, s.category);
        assert.deepEqual([data.category.id, data.category.budgeted], [s.category, 150_000]);
      },
      'an amount is a number': async () => {
        const asked = { category: { budgeted: 'much' as unknown as number } };
        await refused(api.categories.updateMonthCategory(s.budget, s.month, s.category, asked), 400);
      },
    }),
    'payees of a budget': (api, s) => ({
      'a payee': async () => {
        await account(api, s);
        s.payee = given((await api.payees.getPayees(s.budget)).data.payees[0], 'payee').id;
      },
      read: async () => assert.equal((await api.payees.getPayeeById(s.budget, s.payee)).data.payee.id, s.payee),
      'pay them': async () => {
        const made = await spend(api, s, { payee_id: s.payee });
        s.id = made.id;
        assert.equal(made.payee_id, s.payee);
      },
      'they have the transaction': async () => {
        const { data } = await api.transactions.getTransactionsByPayee(s.budget, s.payee);
        once(ids(data.transactions), [s.id], 'transactions');
      },
      'where they are': async () =>
        assert.ok(Array.isArray((await api.payeeLocations.getPayeeLocationsByPayee(s.budget, s.payee)).data.payee_locations)),
      'a payee who is not there': async () =>
        refused(api.payees.getPayeeById(s.budget, '6ac2d1b2-5d5c-4a02-9d59-9d9b8cf4f004'), 404),
    }),
    'a wrong transaction': (api, s) => ({
      'an account for it': async () => account(api, s),
      'it needs a date and an amount': async () => {
        const transaction = { account_id: s.account, memo: 'nothing else' };
        await refused(api.transactions.createTransaction(s.budget, { transaction }), 400);
      },
      'a flag has one of six colours': async () => refused(spend(api, s, { flag_color: 'pink' as 'red' }), 400),
      'an account has a type': async () => {
        const asked = { name: 'Mattress', balance: 0 } as ynab.SaveAccount;
        await refused(api.accounts.createAccount(s.budget, { account: asked }), 400);
      },
      'the account has no transaction': async () => {
        const { data } = await api.transactions.getTransactionsByAccount(s.budget, s.account);
        assert.deepEqual(
          data.transactions.filter(({ memo }) => memo === 'nothing else'),
          [],
        );
      },
    }),
    'a credential that is refused': (api, _s, another) => ({
      'the right one is taken': async () => assert.equal(typeof (await api.user.getUser()).data.user.id, 'string'),
      'another one is not': async () => refused(another('nobody').user.getUser(), 401),
      'nor does it read budgets': async () => refused(another('nobody').budgets.getBudgets(), 401),
    }),
  },
  strict: ['a credential that is refused'],
};
