import assert from 'node:assert/strict';
import { createPocketSmithClient } from 'pocketsmith-ts';
import { given, once, type Place, pages, refused, type State, type Vendor } from '../kit.ts';

type PocketSmith = ReturnType<typeof createPocketSmithClient>;

const connect = (place: Place, token: string): PocketSmith => createPocketSmithClient({ baseUrl: place.base, apiKey: token });

interface Answer<T> {
  readonly data?: T;
  readonly error?: unknown;
  readonly response: Response;
}

/** The client gives back what was refused as it gives back what was done: here a refusal is thrown, with its status. */
const full = async <T>(call: Promise<Answer<T>>): Promise<{ readonly data: T; readonly response: Response }> => {
  const { data, error, response } = await call;
  if (!response.ok) {
    throw Object.assign(new Error(`${response.status} ${JSON.stringify(error)}`), { status: response.status, body: error });
  }
  return { data: given(data, 'body'), response };
};
const done = async <T>(call: Promise<Answer<T>>): Promise<T> => (await full(call)).data;

/** What the description says of every refusal: `{ "error": "…" }`. */
const told = async (call: Promise<unknown>, ...statuses: readonly number[]): Promise<void> => {
  const thrown = (await refused(call, ...statuses)) as { readonly body?: { readonly error?: unknown } };
  assert.equal(typeof thrown.body?.error, 'string');
};

/** The page that the header `Link` names as the next one. */
const next = (response: Response): string | undefined => {
  for (const link of (response.headers.get('link') ?? '').split(/,(?=\s*<)/)) {
    const [, address = '', rel = ''] = /<([^>]*)>.*rel="?([^";]+)"?/.exec(link) ?? [];
    if (rel === 'next') return new URL(address, 'http://127.0.0.1').searchParams.get('page') ?? undefined;
  }
  return undefined;
};

interface Row {
  readonly id?: number | string;
  readonly title?: string;
}

const ids = (rows: readonly Row[]): string[] => rows.map(({ id }) => String(id));
const day = (date: string | undefined): string => given(date, 'date').slice(0, 10);
const code = (currency: string | undefined): string => given(currency, 'currency').toLowerCase();
const to = (id: number | string): { readonly path: { id: number } } => ({ path: { id: Number(id) } });
const user = async (c: PocketSmith): Promise<number> => given((await done(c.GET('/me'))).id, 'id');

const institution = async (c: PocketSmith, title: string): Promise<string> => {
  const made = await done(
    c.POST('/users/{id}/institutions', { params: to(await user(c)), body: { title, currency_code: 'nzd' } }),
  );
  return String(given(made.id, 'id'));
};
const account = async (c: PocketSmith, at: string, title: string) =>
  done(
    c.POST('/users/{id}/accounts', {
      params: to(await user(c)),
      body: { institution_id: Number(at), title, currency_code: 'nzd', type: 'bank' },
    }),
  );
/** An account in an institution, for transactions and events. */
const opened = async (c: PocketSmith, s: State): Promise<void> => {
  s.user = String(await user(c));
  s.institution = await institution(c, 'Bank of Flows');
  const made = await account(c, s.institution, 'Everyday');
  s.account = String(given(made.id, 'id'));
  s.transactions = String(given(made.primary_transaction_account?.id, 'primary transaction account'));
  s.scenario = String(given(made.primary_scenario?.id, 'primary scenario'));
};
const category = async (c: PocketSmith, title: string, more: { parent_id?: number; colour?: string } = {}): Promise<string> => {
  const made = await done(c.POST('/users/{id}/categories', { params: to(await user(c)), body: { title, ...more } }));
  return String(given(made.id, 'id'));
};
const spent = async (
  c: PocketSmith,
  at: string,
  payee: string,
  date: string,
  amount: number,
  more: { category_id?: number; labels?: string } = {},
): Promise<string> => {
  const made = await done(
    c.POST('/transaction_accounts/{id}/transactions', { params: to(at), body: { payee, date, amount, ...more } }),
  );
  return String(given(made.id, 'id'));
};
const receipt = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
const attachment = async (c: PocketSmith, title: string): Promise<string> => {
  const made = await done(
    c.POST('/users/{id}/attachments', {
      params: to(await user(c)),
      body: { title, file_name: 'taxi.png', file_data: receipt },
    }),
  );
  return String(given(made.id, 'id'));
};

/** Guide: developers.pocketsmith.com, "Introduction", "Pagination", "Errors", and its reference; pocketsmith-ts's README. */
export const vendor: Vendor<PocketSmith> = {
  document: 'pocketsmith/pocketsmith.com.json',
  header: 'X-Developer-Key',
  made: 'made-up-developer-key-of-a-user',
  client: connect,
  strict: ['a key that is refused'],
  flows: {
    'the authorised user': (c, s) => ({
      'who it is': async () => {
        s.id = String(await user(c));
      },
      'read by its id': async () => assert.equal((await done(c.GET('/users/{id}', { params: to(s.id) }))).id, Number(s.id)),
      change: async () => {
        const changed = await done(
          c.PUT('/users/{id}', { params: to(s.id), body: { name: 'Foo Barrington', time_zone: 'Auckland', week_start_day: 1 } }),
        );
        assert.deepEqual([changed.name, changed.time_zone, changed.week_start_day], ['Foo Barrington', 'Auckland', 1]);
      },
      'it stays changed': async () => {
        const me = await done(c.GET('/me'));
        assert.deepEqual([me.id, me.name, me.time_zone], [Number(s.id), 'Foo Barrington', 'Auckland']);
      },
      'another user is not to be read': async () =>
        told(done(c.GET('/users/{id}', { params: to(Number(s.id) + 987_654) })), 403, 404),
    }),

    'an institution from its making to its end': (c, s) => ({
      create: async () => {
        s.user = String(await user(c));
        const { data: made, response } = await full(
          c.POST('/users/{id}/institutions', {
            params: to(s.user),
            body: { title: 'Bank of Foo', currency_code: 'nzd' },
          }),
        );
        s.id = String(given(made.id, 'id'));
        assert.equal(response.status, 201);
        assert.deepEqual([made.title, code(made.currency_code)], ['Bank of Foo', 'nzd']);
      },
      read: async () => {
        const { id, title } = await done(c.GET('/institutions/{id}', { params: to(s.id) }));
        assert.deepEqual([id, title], [Number(s.id), 'Bank of Foo']);
      },
      'it is listed': async () => once(ids(await done(c.GET('/users/{id}/institutions', { params: to(s.user) }))), [s.id]),
      change: async () => {
        const changed = await done(
          c.PUT('/institutions/{id}', { params: to(s.id), body: { title: 'Bank of Bar', currency_code: 'aud' } }),
        );
        assert.deepEqual([changed.id, changed.title, code(changed.currency_code)], [Number(s.id), 'Bank of Bar', 'aud']);
      },
      'it stays changed': async () => {
        const { title, currency_code: currency } = await done(c.GET('/institutions/{id}', { params: to(s.id) }));
        assert.deepEqual([title, code(currency)], ['Bank of Bar', 'aud']);
      },
      delete: async () => {
        const { response } = await full(c.DELETE('/institutions/{id}', { params: to(s.id) }));
        assert.equal(response.status, 204);
      },
      gone: async () => told(done(c.GET('/institutions/{id}', { params: to(s.id) })), 404),
      'it is listed no more': async () => {
        const left = ids(await done(c.GET('/users/{id}/institutions', { params: to(s.user) })));
        assert.ok(!left.includes(s.id));
      },
    }),

    'one institution is merged into another': (c, s) => ({
      'make both': async () => {
        s.from = await institution(c, 'Small Bank');
        s.into = await institution(c, 'Large Bank');
      },
      'an account in the first': async () => {
        s.account = String(given((await account(c, s.from, 'Savings')).id, 'id'));
      },
      'the first has it': async () =>
        once(ids(await done(c.GET('/institutions/{id}/accounts', { params: to(s.from) }))), [s.account]),
      'the other has not': async () => {
        const rows = ids(await done(c.GET('/institutions/{id}/accounts', { params: to(s.into) })));
        assert.ok(!rows.includes(s.account));
      },
      merge: async () =>
        done(
          c.DELETE('/institutions/{id}', {
            params: { ...to(s.from), query: { merge_into_institution_id: Number(s.into) } },
          }),
        ),
      'the first is gone': async () => told(done(c.GET('/institutions/{id}', { params: to(s.from) })), 404),
      'the account is there': async () =>
        assert.equal((await done(c.GET('/accounts/{id}', { params: to(s.account) }))).title, 'Savings'),
      'the other has it': async () =>
        once(ids(await done(c.GET('/institutions/{id}/accounts', { params: to(s.into) }))), [s.account]),
    }),

    'an account from its making to its end': (c, s) => ({
      'an institution for it': async () => {
        s.institution = await institution(c, 'Bank of Foo');
      },
      create: async () => {
        const made = await account(c, s.institution, 'Everyday');
        s.id = String(given(made.id, 'id'));
        assert.deepEqual([made.title, made.type, code(made.currency_code)], ['Everyday', 'bank', 'nzd']);
      },
      read: async () => {
        const { id, title, type } = await done(c.GET('/accounts/{id}', { params: to(s.id) }));
        assert.deepEqual([id, title, type], [Number(s.id), 'Everyday', 'bank']);
      },
      'it is among those of the user': async () =>
        once(ids(await done(c.GET('/users/{id}/accounts', { params: to(await user(c)) }))), [s.id]),
      'it is among those of the institution': async () =>
        once(ids(await done(c.GET('/institutions/{id}/accounts', { params: to(s.institution) }))), [s.id]),
      change: async () => {
        const changed = await done(
          c.PUT('/accounts/{id}', { params: to(s.id), body: { title: 'Rainy day', type: 'cash', is_net_worth: true } }),
        );
        assert.deepEqual([changed.title, changed.type, changed.is_net_worth], ['Rainy day', 'cash', true]);
      },
      'it stays changed': async () => {
        const { title, type, is_net_worth: worth } = await done(c.GET('/accounts/{id}', { params: to(s.id) }));
        assert.deepEqual([title, type, worth], ['Rainy day', 'cash', true]);
      },
      delete: async () => assert.equal((await full(c.DELETE('/accounts/{id}', { params: to(s.id) }))).response.status, 204),
      gone: async () => told(done(c.GET('/accounts/{id}', { params: to(s.id) })), 404),
      'it is listed no more': async () => {
        const left = ids(await done(c.GET('/institutions/{id}/accounts', { params: to(s.institution) })));
        assert.ok(!left.includes(s.id));
      },
    }),

    'the order of accounts': (c, s) => ({
      'make three': async () => {
        s.institution = await institution(c, 'Bank of Foo');
        for (const title of ['one', 'two', 'three']) {
          s[title] = String(given((await account(c, s.institution, title)).id, 'id'));
        }
      },
      'list them': async () => {
        const rows = await done(c.GET('/users/{id}/accounts', { params: to(await user(c)) }));
        once(ids(rows), [s.one, s.two, s.three], 'accounts');
      },
      'turn the order around': async () => {
        const id = await user(c);
        const rows = await done(c.GET('/users/{id}/accounts', { params: to(id) }));
        const turned = rows.toReversed();
        const answered = await done(c.PUT('/users/{id}/accounts', { params: to(id), body: { accounts: turned } }));
        assert.deepEqual(ids(answered), ids(turned));
      },
      'none was lost': async () => {
        const rows = await done(c.GET('/users/{id}/accounts', { params: to(await user(c)) }));
        once(ids(rows), [s.one, s.two, s.three], 'accounts');
      },
    }),

    'the transaction account of an account': (c, s) => ({
      'open an account': async () => opened(c, s),
      read: async () => {
        const read = await done(c.GET('/transaction_accounts/{id}', { params: to(s.transactions) }));
        assert.deepEqual([read.id, read.institution?.id], [Number(s.transactions), Number(s.institution)]);
      },
      'it is listed': async () =>
        once(ids(await done(c.GET('/users/{id}/transaction_accounts', { params: to(s.user) }))), [s.transactions]),
      'set its starting balance': async () => {
        const changed = await done(
          c.PUT('/transaction_accounts/{id}', {
            params: to(s.transactions),
            body: { starting_balance: 1250.5, starting_balance_date: '2026-01-01' },
          }),
        );
        assert.deepEqual([changed.starting_balance, day(changed.starting_balance_date)], [1250.5, '2026-01-01']);
      },
      'it stays set': async () => {
        const read = await done(c.GET('/transaction_accounts/{id}', { params: to(s.transactions) }));
        assert.deepEqual([read.starting_balance, day(read.starting_balance_date)], [1250.5, '2026-01-01']);
      },
      'move it to another institution': async () => {
        s.other = await institution(c, 'Bank of Bar');
        await done(
          c.PUT('/transaction_accounts/{id}', { params: to(s.transactions), body: { institution_id: Number(s.other) } }),
        );
        const read = await done(c.GET('/transaction_accounts/{id}', { params: to(s.transactions) }));
        assert.equal(read.institution?.id, Number(s.other));
      },
      'the account tells it': async () => {
        const read = await done(c.GET('/accounts/{id}', { params: to(s.account) }));
        assert.equal(read.primary_transaction_account?.starting_balance, 1250.5);
      },
    }),

    'a transaction from its making to its end': (c, s) => ({
      'open an account': async () => opened(c, s),
      create: async () => {
        const { data: made, response } = await full(
          c.POST('/transaction_accounts/{id}/transactions', {
            params: to(s.transactions),
            body: {
              payee: 'St Martins New World',
              amount: -34.6,
              date: '2026-11-02',
              note: 'Too much on cheese',
              memo: 'groceries',
              labels: 'cheese,weekly',
              needs_review: true,
            },
          }),
        );
        s.id = String(given(made.id, 'id'));
        assert.equal(response.status, 201);
        assert.deepEqual(
          [made.payee, made.amount, day(made.date), made.note, made.memo, made.needs_review],
          ['St Martins New World', -34.6, '2026-11-02', 'Too much on cheese', 'groceries', true],
        );
      },
      read: async () => {
        const read = await done(c.GET('/transactions/{id}', { params: to(s.id) }));
        assert.deepEqual([read.id, read.payee, read.amount, read.type], [Number(s.id), 'St Martins New World', -34.6, 'debit']);
        assert.equal(read.transaction_account?.id, Number(s.transactions));
        assert.deepEqual(read.labels?.toSorted(), ['cheese', 'weekly']);
      },
      'in the transaction account': async () => {
        const rows = await done(c.transactions.getByTransactionAccount(Number(s.transactions)));
        once(ids(rows), [s.id], 'transactions');
      },
      'in the account': async () => once(ids(await done(c.transactions.getByAccount(Number(s.account)))), [s.id], 'transactions'),
      'of the user': async () => {
        const query = { start_date: '2026-11-01', end_date: '2026-11-03' };
        once(ids(await done(c.GET('/users/{id}/transactions', { params: { ...to(s.user), query } }))), [s.id]);
      },
      'its labels are known': async () => {
        const labels = await done(c.GET('/users/{id}/labels', { params: to(s.user) }));
        once(labels, ['cheese', 'weekly'], 'labels');
      },
      change: async () => {
        const changed = await done(
          c.PUT('/transactions/{id}', { params: to(s.id), body: { amount: -30, note: 'Less cheese', needs_review: false } }),
        );
        assert.deepEqual([changed.amount, changed.note, changed.needs_review], [-30, 'Less cheese', false]);
      },
      'the rest stays': async () => {
        const read = await done(c.GET('/transactions/{id}', { params: to(s.id) }));
        assert.deepEqual([read.amount, read.note, read.payee], [-30, 'Less cheese', 'St Martins New World']);
      },
      delete: async () => assert.equal((await full(c.DELETE('/transactions/{id}', { params: to(s.id) }))).response.status, 204),
      gone: async () => told(done(c.GET('/transactions/{id}', { params: to(s.id) })), 404),
      'it is listed no more': async () => {
        const rows = await done(c.transactions.getByTransactionAccount(Number(s.transactions)));
        assert.ok(!ids(rows).includes(s.id));
      },
    }),

    'transactions through all pages': (c, s) => {
      const made: string[] = [];
      const page = async (number: number) =>
        full(c.transactions.getByTransactionAccount(Number(s.transactions), { page: number }));
      return {
        'open an account': async () => opened(c, s),
        'make thirty-four, of which thirty are on a page': async () => {
          for (let n = 1; n <= 34; n += 1) {
            made.push(await spent(c, s.transactions, `Payee ${n}`, `2026-10-${String((n % 28) + 1).padStart(2, '0')}`, -n));
          }
        },
        'each is on one of the pages': async () => {
          assert.equal(made.length, 34);
          const rows = await pages(
            async (from) => page(Number(from ?? '1')),
            ({ data }): readonly Row[] => data,
            ({ response }) => next(response),
          );
          once(ids(rows), made, 'transactions');
        },
        'the headers of the first page': async () => {
          const { data, response } = await page(1);
          assert.equal(Number(response.headers.get('total')), 34);
          assert.equal(Number(response.headers.get('per-page')), data.length);
        },
        'the second page repeats nothing of the first': async () => {
          const first = ids((await page(1)).data);
          const second = ids((await page(2)).data);
          assert.deepEqual(
            second.filter((id) => first.includes(id)),
            [],
          );
        },
      };
    },

    'a search in transactions': (c, s) => ({
      'open an account': async () => opened(c, s),
      'make some': async () => {
        s.food = await category(c, 'Food');
        s.cheese = await spent(c, s.transactions, 'Cheesemonger', '2026-09-05', -12, { category_id: Number(s.food) });
        s.bread = await spent(c, s.transactions, 'Bakery', '2026-09-15', -4);
        s.wages = await spent(c, s.transactions, 'Employer', '2026-09-25', 2500);
      },
      'by a word': async () => {
        const rows = await done(c.transactions.getByTransactionAccount(Number(s.transactions), { search: 'Cheesemonger' }));
        assert.deepEqual(ids(rows), [s.cheese]);
      },
      'between two dates': async () => {
        const rows = await done(
          c.transactions.getByTransactionAccount(Number(s.transactions), { start_date: '2026-09-10', end_date: '2026-09-20' }),
        );
        assert.deepEqual(ids(rows), [s.bread]);
      },
      'of one type': async () => {
        const rows = await done(c.transactions.getByTransactionAccount(Number(s.transactions), { type: 'credit' }));
        assert.deepEqual(ids(rows), [s.wages]);
      },
      'those without a category': async () => {
        const rows = await done(
          c.GET('/transaction_accounts/{id}/transactions', { params: { ...to(s.transactions), query: { uncategorised: 1 } } }),
        );
        assert.deepEqual(ids(rows).sort(), [s.bread, s.wages].sort());
      },
      'one without a word of it': async () => {
        const rows = await done(c.transactions.getByTransactionAccount(Number(s.transactions), { search: 'Nobody paid this' }));
        assert.deepEqual(rows, []);
      },
    }),

    'a category and one below it': (c, s) => ({
      create: async () => {
        s.user = String(await user(c));
        const { data: made, response } = await full(
          c.POST('/users/{id}/categories', {
            params: to(s.user),
            body: { title: 'Drinks', colour: '#00ff00', is_bill: true, refund_behaviour: 'credits_are_refunds' },
          }),
        );
        s.id = String(given(made.id, 'id'));
        assert.equal(response.status, 201);
        assert.deepEqual(
          [made.title, made.colour, made.is_bill, made.refund_behaviour],
          ['Drinks', '#00ff00', true, 'credits_are_refunds'],
        );
      },
      'one below it': async () => {
        s.child = await category(c, 'Beer', { parent_id: Number(s.id) });
        assert.equal((await done(c.GET('/categories/{id}', { params: to(s.child) }))).parent_id, Number(s.id));
      },
      'it tells its children': async () => {
        const read = await done(c.GET('/categories/{id}', { params: to(s.id) }));
        once(ids(read.children ?? []), [s.child], 'children');
      },
      'it is listed': async () =>
        once(ids(await done(c.GET('/users/{id}/categories', { params: to(s.user) }))), [s.id], 'categories'),
      change: async () => {
        const changed = await done(
          c.PUT('/categories/{id}', { params: to(s.child), body: { title: 'Craft beer', roll_up: true } }),
        );
        assert.deepEqual([changed.title, changed.roll_up, changed.parent_id], ['Craft beer', true, Number(s.id)]);
      },
      'it stays changed': async () => {
        const read = await done(c.GET('/categories/{id}', { params: to(s.child) }));
        assert.deepEqual([read.title, read.roll_up], ['Craft beer', true]);
      },
      delete: async () => assert.equal((await full(c.DELETE('/categories/{id}', { params: to(s.child) }))).response.status, 204),
      gone: async () => told(done(c.GET('/categories/{id}', { params: to(s.child) })), 404),
      'it is no child any more': async () => {
        const read = await done(c.GET('/categories/{id}', { params: to(s.id) }));
        assert.ok(!ids(read.children ?? []).includes(s.child));
      },
    }),

    'transactions of a category': (c, s) => ({
      'open an account': async () => opened(c, s),
      'make categories': async () => {
        s.food = await category(c, 'Food');
        s.travel = await category(c, 'Travel');
      },
      'a transaction in one': async () => {
        s.id = await spent(c, s.transactions, 'Taxi', '2026-08-01', -40, { category_id: Number(s.food) });
        const read = await done(c.GET('/transactions/{id}', { params: to(s.id) }));
        assert.deepEqual([read.category?.id, read.category?.title], [Number(s.food), 'Food']);
      },
      'the category has it': async () =>
        once(ids(await done(c.GET('/categories/{id}/transactions', { params: { path: { id: s.food } } }))), [s.id]),
      'move it to the other': async () => {
        const changed = await done(c.PUT('/transactions/{id}', { params: to(s.id), body: { category_id: Number(s.travel) } }));
        assert.equal(changed.category?.id, Number(s.travel));
      },
      'the first has it no more': async () => {
        const rows = await done(c.GET('/categories/{id}/transactions', { params: { path: { id: s.food } } }));
        assert.ok(!ids(rows).includes(s.id));
      },
      'both together have it': async () => {
        const path = { id: `${s.food},${s.travel}` };
        once(ids(await done(c.GET('/categories/{id}/transactions', { params: { path } }))), [s.id]);
      },
      'delete the category': async () => done(c.DELETE('/categories/{id}', { params: to(s.travel) })),
      'the transaction has none': async () => {
        const read = await done(c.GET('/transactions/{id}', { params: to(s.id) }));
        assert.deepEqual([read.payee, read.category ?? null], ['Taxi', null]);
      },
    }),

    'a rule of a category': (c, s) => ({
      'make a category': async () => {
        s.user = String(await user(c));
        s.category = await category(c, 'Groceries');
      },
      create: async () => {
        const made = await done(
          c.POST('/categories/{id}/category_rules', { params: to(s.category), body: { payee_matches: 'Countdown' } }),
        );
        s.id = String(given(made.id, 'id'));
        assert.deepEqual([made.payee_matches, made.category?.id], ['Countdown', Number(s.category)]);
      },
      'it is listed': async () => {
        const rows = await done(c.GET('/users/{id}/category_rules', { params: to(s.user) }));
        once(ids(rows), [s.id], 'rules');
        const rule = rows.find((row: Row) => row.id === Number(s.id));
        assert.deepEqual([rule?.payee_matches, rule?.category?.title], ['Countdown', 'Groceries']);
      },
      'one for a category that is not there': async () =>
        told(
          done(c.POST('/categories/{id}/category_rules', { params: to(987_654_321), body: { payee_matches: 'Countdown' } })),
          403,
          404,
        ),
    }),

    'an attachment of a transaction': (c, s) => ({
      'a transaction': async () => {
        await opened(c, s);
        s.transaction = await spent(c, s.transactions, 'Taxi', '2026-07-01', -40);
      },
      create: async () => {
        s.id = await attachment(c, 'Invoice for taxi');
        const read = await done(c.GET('/attachments/{id}', { params: to(s.id) }));
        assert.deepEqual([read.id, read.title, read.file_name], [Number(s.id), 'Invoice for taxi', 'taxi.png']);
      },
      'it waits for a transaction': async () => {
        const params = { ...to(s.user), query: { unassigned: 1 } };
        once(ids(await done(c.GET('/users/{id}/attachments', { params }))), [s.id], 'attachments');
      },
      'change its title': async () => {
        const changed = await done(c.PUT('/attachments/{id}', { params: to(s.id), body: { title: 'Invoice' } }));
        assert.deepEqual([changed.title, changed.file_name], ['Invoice', 'taxi.png']);
      },
      assign: async () => {
        const assigned = await done(
          c.POST('/transactions/{id}/attachments', {
            params: to(s.transaction),
            body: { attachment_id: Number(s.id) },
          }),
        );
        assert.deepEqual([assigned.id, assigned.title], [Number(s.id), 'Invoice']);
      },
      'the transaction has it': async () =>
        once(ids(await done(c.GET('/transactions/{id}/attachments', { params: to(s.transaction) }))), [s.id]),
      'it waits no more': async () => {
        const params = { ...to(s.user), query: { unassigned: 1 } };
        assert.ok(!ids(await done(c.GET('/users/{id}/attachments', { params }))).includes(s.id));
      },
      'take it away': async () => {
        const path = { transaction_id: Number(s.transaction), attachment_id: Number(s.id) };
        await done(c.DELETE('/transactions/{transaction_id}/attachments/{attachment_id}', { params: { path } }));
        assert.deepEqual(await done(c.GET('/transactions/{id}/attachments', { params: to(s.transaction) })), []);
      },
      'it is still there': async () =>
        assert.equal((await done(c.GET('/attachments/{id}', { params: to(s.id) }))).title, 'Invoice'),
      delete: async () => done(c.DELETE('/attachments/{id}', { params: to(s.id) })),
      gone: async () => told(done(c.GET('/attachments/{id}', { params: to(s.id) })), 404),
    }),

    'an event of a scenario': (c, s) => {
      const query = { start_date: '2027-03-01', end_date: '2027-03-31' };
      const event = () => ({ path: { id: s.id } });
      return {
        'open an account': async () => {
          await opened(c, s);
          s.category = await category(c, 'Beer');
        },
        create: async () => {
          const made = await done(
            c.POST('/scenarios/{id}/events', {
              params: to(s.scenario),
              body: {
                category_id: Number(s.category),
                date: '2027-03-05',
                amount: -250.5,
                repeat_type: 'once',
                note: 'A barrel',
              },
            }),
          );
          s.id = given(made.id, 'id');
          assert.deepEqual(
            [made.amount, made.note, made.repeat_type, day(made.date)],
            [-250.5, 'A barrel', 'once', '2027-03-05'],
          );
        },
        read: async () => {
          const read = await done(c.GET('/events/{id}', { params: event() }));
          assert.deepEqual([read.id, read.category?.id, read.scenario?.id], [s.id, Number(s.category), Number(s.scenario)]);
        },
        'the scenario has it': async () =>
          once(ids(await done(c.GET('/scenarios/{id}/events', { params: { ...to(s.scenario), query } }))), [s.id]),
        'the user has it': async () =>
          once(ids(await done(c.GET('/users/{id}/events', { params: { ...to(s.user), query } }))), [s.id]),
        'not in another month': async () => {
          const other = { start_date: '2027-05-01', end_date: '2027-05-31' };
          const rows = await done(c.GET('/scenarios/{id}/events', { params: { ...to(s.scenario), query: other } }));
          assert.ok(!ids(rows).includes(s.id));
        },
        change: async () => {
          const changed = await done(
            c.PUT('/events/{id}', { params: event(), body: { behaviour: 'one', amount: -200, note: 'Half a barrel' } }),
          );
          assert.deepEqual([changed.amount, changed.note], [-200, 'Half a barrel']);
        },
        delete: async () => done(c.DELETE('/events/{id}', { params: { ...event(), query: { behaviour: 'one' } } })),
        'the scenario has it no more': async () => {
          const rows = await done(c.GET('/scenarios/{id}/events', { params: { ...to(s.scenario), query } }));
          assert.ok(!ids(rows).includes(s.id));
        },
      };
    },

    'what is wrong': (c, s) => ({
      'an institution without a title': async () => {
        s.user = String(await user(c));
        const body = { currency_code: 'nzd' } as { currency_code: string; title: string };
        await told(done(c.POST('/users/{id}/institutions', { params: to(s.user), body })), 422);
      },
      'an account of no known type': async () => {
        s.institution = await institution(c, 'Bank of Foo');
        const body = {
          institution_id: Number(s.institution),
          title: 'Odd',
          currency_code: 'nzd',
          type: 'shoebox' as 'other_asset',
        };
        await told(done(c.POST('/users/{id}/accounts', { params: to(s.user), body })), 422);
      },
      'a transaction without a payee': async () => {
        await opened(c, s);
        const body = { amount: 1, date: '2026-11-02' } as { amount: number; date: string; payee: string };
        await told(done(c.POST('/transaction_accounts/{id}/transactions', { params: to(s.transactions), body })), 422);
      },
      'nothing was made of it': async () =>
        assert.deepEqual(await done(c.transactions.getByTransactionAccount(Number(s.transactions))), []),
      'an end without a start': async () =>
        told(done(c.transactions.getByTransactionAccount(Number(s.transactions), { end_date: '2026-11-02' })), 400),
      'a transaction that is not there': async () => told(done(c.GET('/transactions/{id}', { params: to(987_654_321) })), 404),
      'its change': async () => told(done(c.PUT('/transactions/{id}', { params: to(987_654_321), body: { note: 'x' } })), 404),
      'its end': async () => told(done(c.DELETE('/transactions/{id}', { params: to(987_654_321) })), 404),
    }),

    'a key that is refused': (c, s, another) => ({
      'the right one': async () => {
        s.user = String(await user(c));
      },
      'a wrong one is nobody': async () => refused(done(another('nobody-has-this-key').GET('/me')), 401, 403),
      'it makes nothing': async () =>
        refused(
          done(
            another('nobody-has-this-key').POST('/users/{id}/categories', {
              params: to(s.user),
              body: { title: 'Intruder' },
            }),
          ),
          401,
          403,
        ),
      'nothing was made': async () => {
        const rows = await done(c.GET('/users/{id}/categories', { params: to(s.user) }));
        assert.ok(rows.every((row: Row) => row.title !== 'Intruder'));
      },
    }),
  },
};
