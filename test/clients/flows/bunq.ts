import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { createRequire } from 'node:module';
import { given, once, type Place, pages, refused, type State, type Vendor } from '../kit.ts';

type Row = Readonly<Record<string, unknown>>;
interface Amount {
  readonly value: string;
  readonly currency: string;
}
interface Alias {
  readonly type: string;
  readonly value: string;
  readonly name?: string;
}
interface Page {
  readonly count: number;
  readonly older_id?: number;
}
type Call<Given extends readonly unknown[], Answer = unknown> = (...given: Given) => Promise<Answer>;
/** A user and an account, and what is in it. */
type In<Given extends readonly unknown[], Answer = unknown> = Call<[user: number, account: number, ...Given], Answer>;

interface Transport {
  readonly interceptors: { readonly response: { use(done: (response: { data: unknown }) => { data: unknown }): void } };
}
type Send = (
  url: string,
  method: string,
  data: object,
  headers: object,
  options: object,
  transport?: unknown,
) => Promise<unknown>;

/** The parts of the client that are used here: nearly all of its own types are `any`. */
interface Client {
  readonly Session: {
    apiKey: string;
    environmentUrl: string;
    privateKey: unknown;
    publicKeyPem: string;
    sessionId: number;
    sessionToken: string;
    sessionTimeout: number;
    sessionExpiryTime: Date;
  };
  readonly ApiAdapter: { request: Send; readonly RequestLimitFactory: { readonly axiosClients: readonly Transport[] } };
  readonly api: {
    readonly installation: { readonly add: Call<[], Row> };
    readonly deviceRegistration: { readonly add: Call<[{ description: string; permitted_ips: string[] }]> };
    readonly sessionServer: { readonly add: Call<[], Row>; readonly delete: Call<[]> };
    readonly user: { readonly list: Call<[]>; readonly get: Call<[number]> };
    readonly monetaryAccount: { readonly get: Call<[number, number]>; readonly list: Call<[number], unknown[]> };
    readonly monetaryAccountBank: {
      readonly get: Call<[number, number]>;
      readonly list: Call<[number], unknown[]>;
      readonly post: Call<[user: number, currency: string, description: string, dailyLimit: string, color: string], unknown[]>;
      readonly put: Call<[number, number, object], unknown[]>;
    };
    readonly monetaryAccountSavings: {
      readonly get: Call<[number, number]>;
      readonly list: Call<[number], unknown[]>;
      readonly post: Call<
        [user: number, currency: string, description: string, dailyLimit: string, color: string, goal: string],
        unknown[]
      >;
      readonly put: Call<[number, number, object], unknown[]>;
    };
    readonly payment: {
      readonly get: In<[number]>;
      readonly list: In<[Page?], unknown[]>;
      readonly post: In<[description: string, amount: Amount, to: Alias], unknown[]>;
    };
    readonly draftPayment: {
      readonly get: In<[number]>;
      readonly list: In<[], unknown[]>;
      readonly post: In<[description: string, amount: Amount, to: Alias | readonly Alias[]], unknown[]>;
    };
    readonly schedulePayment: {
      readonly get: In<[number]>;
      readonly list: In<[], unknown[]>;
      readonly post: In<[payment: object, schedule: object], unknown[]>;
      readonly put: In<[number, payment: object, schedule: object], unknown[]>;
      readonly delete: In<[number]>;
    };
    readonly requestInquiry: {
      readonly get: In<[number]>;
      readonly list: In<[], unknown[]>;
      readonly post: In<[description: string, amount: Amount, from: Alias, options?: object], unknown[]>;
      readonly put: In<[number, status: string], unknown[]>;
    };
    readonly bunqMeTabs: {
      readonly get: In<[number]>;
      readonly list: In<[], unknown[]>;
      readonly post: In<[description: string, amount: Amount, options?: object], unknown[]>;
      readonly put: In<[number, status: string], unknown[]>;
    };
    readonly customerStatementExport: {
      readonly get: In<[number]>;
      readonly list: In<[], unknown[]>;
      readonly post: In<[format: string, from: string, until: string]>;
      readonly delete: In<[number]>;
    };
    readonly noteText: {
      readonly get: Call<['payment', number, number, number, number]>;
      readonly list: Call<['payment', number, number, number], unknown[]>;
      readonly post: Call<['payment', number, number, number, string], unknown[]>;
      readonly put: Call<['payment', number, number, number, number, string], unknown[]>;
      readonly delete: Call<['payment', number, number, number, number]>;
    };
  };
}
interface Store {
  readonly get: (key: string) => string | undefined;
  readonly set: (key: string, value: string) => void;
  readonly remove: (key: string) => void;
}
const near = createRequire(import.meta.url);
const { default: BunqJSClient } = near('@bunq-community/bunq-js-client') as {
  default: new (store: Store, logger: object) => Client;
};
const forge = createRequire(near.resolve('@bunq-community/bunq-js-client'))('node-forge') as {
  pki: { privateKeyFromPem(pem: string): unknown };
};
const pair = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
});

const object = (value: unknown): value is Row => typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * The guide has every answer in a list `Response`, each in an object named for its type; the schemas of the description have
 * neither. What came without is put into such a list, and `bare` takes both.
 */
const enveloped = (body: unknown): unknown => {
  if (Array.isArray(body)) return { Response: body };
  if (!object(body) || 'Response' in body || 'Error' in body) return body;
  const { Id, Token, ServerPublicKey, ...user } = body;
  if (Token !== undefined) return { Response: [{ Id }, { Token }, ServerPublicKey === undefined ? user : { ServerPublicKey }] };
  return { Response: [Object.keys(body).join() === 'id' ? { Id: body } : body] };
};
const bare = (row: unknown, type: string): Row => {
  assert.ok(object(row), 'the answer is no object');
  const all = Object.values(row);
  const inner = row[type] ?? (all.length === 1 ? all[0] : undefined);
  return object(inner) ? inner : row;
};
const id = (row: Row): number => Number(given(row.id, 'id'));
/** The id of what was made: `[{ "Id": { "id": 42 } }]`. */
const made = (answer: unknown): number => {
  const [first] = Array.isArray(answer) ? (answer as unknown[]) : [answer];
  return id(bare(first, 'Id'));
};
const ids = (rows: readonly unknown[], type: string): string[] => rows.map((row) => String(id(bare(row, type))));
const amount = (value: unknown): [number, unknown] => {
  assert.ok(object(value), 'there is no amount');
  return [Math.abs(Number(value.value)), value.currency];
};

const quiet = { debug: () => undefined, error: () => undefined, info: () => undefined, warn: () => undefined };

/** A client whose session is open already: the token is that of the session. */
const connect = (place: Place, token: string): Client => {
  const held = new Map<string, string>();
  const client = new BunqJSClient(
    {
      get: (key) => held.get(key),
      set: (key, value) => {
        held.set(key, value);
      },
      remove: (key) => {
        held.delete(key);
      },
    },
    quiet,
  );
  Object.assign(client.Session, {
    apiKey: 'sandbox_5c1f0e8a7b6d4c3b2a190f8e7d6c5b4a5c1f0e8a7b6d4c3b2a190f8e',
    // The client begins each path with `/v1`, with which the description's servers end.
    environmentUrl: place.url,
    privateKey: forge.pki.privateKeyFromPem(pair.privateKey),
    publicKeyPem: pair.publicKey,
    sessionId: 1,
    sessionToken: token,
    sessionTimeout: 604_800_000,
    sessionExpiryTime: new Date(Date.now() + 604_800_000),
  });
  const own = given(client.ApiAdapter.RequestLimitFactory.axiosClients[0], 'transport');
  own.interceptors.response.use((response) => {
    const { data } = response;
    if (typeof data === 'string' && data !== '') response.data = JSON.stringify(enveloped(JSON.parse(data)));
    return response;
  });
  /** Some calls of the client go by the axios of everybody: all go by its own here. */
  const send = client.ApiAdapter.request.bind(client.ApiAdapter);
  client.ApiAdapter.request = (url, method, data, headers, options) => send(url, method, data, headers, options, own);
  return client;
};

const euro = (value: string): Amount => ({ value, currency: 'EUR' });
const bravo: Alias = { type: 'EMAIL', value: 'bravo@bunq.com', name: 'Bravo' };
/** Of the sandbox, who grants every request up to 500 euro. */
const sugardaddy: Alias = { type: 'EMAIL', value: 'sugardaddy@bunq.com', name: 'Sugar Daddy' };

/** The user of the session, of whichever kind. */
const user = async ({ api }: Client): Promise<number> => {
  const row = await api.user.list();
  assert.ok(object(row), 'there is no user');
  const found = [row, ...Object.values(row)].filter(object).find((one) => typeof one.id === 'number');
  return id(given(found, 'user'));
};
const account = async (c: Client, s: State, description: string): Promise<number> =>
  made(await c.api.monetaryAccountBank.post(Number(s.user), 'EUR', description, '1000.00', '#FF2D55'));
/** A user, an account and money in it. */
const rich = async (c: Client, s: State): Promise<void> => {
  s.user = String(await user(c));
  s.account = String(await account(c, s, 'Everyday'));
  await c.api.requestInquiry.post(Number(s.user), Number(s.account), 'You are the best', euro('500.00'), sugardaddy);
};
const where = (s: State): [user: number, account: number] => [Number(s.user), Number(s.account)];

/** What the description says of every refusal: `{ "Error": [{ "error_description": "…" }] }`. */
const told = async (call: Promise<unknown>, ...statuses: readonly number[]): Promise<void> => {
  const thrown = (await refused(call, ...statuses)) as { readonly response?: { readonly data?: unknown } };
  const data = thrown.response?.data;
  const body: unknown = typeof data === 'string' ? JSON.parse(data) : data;
  assert.ok(object(body) && Array.isArray(body.Error), 'it does not say why');
  const [first] = body.Error as unknown[];
  assert.ok(object(first) && typeof first.error_description === 'string', 'it does not say why');
};
const nowhere = 987_654_321;

/** Guide: doc.bunq.com, which is in the description, "Getting started", "API conventions", "Pagination", "Errors"; the client's README. */
export const vendor: Vendor<Client> = {
  document: 'bunq/bunq.com.json',
  header: 'X-Bunq-Client-Authentication',
  made: '5c1f0e8a7b6d4c3b2a190f8e7d6c5b4a5c1f0e8a7b6d4c3b2a190f8e7d6c5b4a',
  client: connect,
  strict: ['an installation, a device and a session', 'a token that is refused'],
  flows: {
    'an installation, a device and a session': (c, s, another) => ({
      install: async () => {
        const { id: installation, token, serverPublicKey } = await c.api.installation.add();
        assert.equal(typeof installation, 'number');
        assert.equal(typeof serverPublicKey, 'string');
        s.installed = String(given(bare(token, 'Token').token, 'token'));
      },
      'register a device': async () => {
        const installed = another(s.installed);
        const device = await installed.api.deviceRegistration.add({ description: 'My flows', permitted_ips: [] });
        assert.equal(typeof device, 'number');
      },
      'open a session': async () => {
        const { id: session, token, user_info: who } = await another(s.installed).api.sessionServer.add();
        assert.ok(object(who) && Object.keys(who).length > 0, 'nobody is in the session');
        s.id = String(given(session, 'id'));
        s.token = String(given(bare(token, 'Token').token, 'token'));
        assert.notEqual(s.token, s.installed);
      },
      'its token is good': async () => {
        s.user = String(await user(another(s.token)));
      },
      'close it': async () => {
        const session = another(s.token);
        session.Session.sessionId = Number(s.id);
        await session.api.sessionServer.delete();
      },
      'its token is good no more': async () => told(another(s.token).api.user.list(), 401, 403),
    }),

    'the user': (c, s) => ({
      'who it is': async () => {
        s.id = String(await user(c));
      },
      'read by the id': async () => {
        const row = await c.api.user.get(Number(s.id));
        assert.ok(object(row), 'there is no user');
        assert.ok([row, ...Object.values(row)].filter(object).some((one) => one.id === Number(s.id)));
      },
      'accounts are listed': async () => assert.ok(Array.isArray(await c.api.monetaryAccount.list(Number(s.id)))),
      'somebody else is not to be read': async () => told(c.api.user.get(nowhere), 400, 403, 404),
    }),

    'a bank account from its making to its end': (c, s) => {
      const read = async (): Promise<Row> =>
        bare(await c.api.monetaryAccountBank.get(Number(s.user), Number(s.id)), 'MonetaryAccountBank');
      return {
        create: async () => {
          s.user = String(await user(c));
          s.id = String(made(await c.api.monetaryAccountBank.post(Number(s.user), 'EUR', 'Holiday', '750.00', '#FF2D55')));
        },
        read: async () => {
          const row = await read();
          assert.deepEqual([row.id, row.description, row.currency], [Number(s.id), 'Holiday', 'EUR']);
          assert.deepEqual(amount(row.daily_limit), [750, 'EUR']);
          assert.ok(object(row.setting) && row.setting.color === '#FF2D55');
        },
        'it is the user’s': async () => assert.equal((await read()).user_id, Number(s.user)),
        'it is listed': async () =>
          once(ids(await c.api.monetaryAccountBank.list(Number(s.user)), 'MonetaryAccountBank'), [s.id], 'accounts'),
        change: async () => {
          const changed = await c.api.monetaryAccountBank.put(Number(s.user), Number(s.id), {
            currency: 'EUR',
            description: 'Winter holiday',
          });
          assert.equal(made(changed), Number(s.id));
        },
        'it stays changed': async () => {
          const row = await read();
          assert.deepEqual([row.description, row.currency], ['Winter holiday', 'EUR']);
          assert.deepEqual(amount(row.daily_limit), [750, 'EUR']);
        },
        cancel: async () =>
          c.api.monetaryAccountBank.put(Number(s.user), Number(s.id), {
            currency: 'EUR',
            status: 'CANCELLED',
            sub_status: 'REDEMPTION_VOLUNTARY',
            reason: 'OTHER',
            reason_description: 'It was a flow',
          }),
        'it is cancelled': async () => {
          const { status, sub_status: sub, reason } = await read();
          assert.deepEqual([status, sub, reason], ['CANCELLED', 'REDEMPTION_VOLUNTARY', 'OTHER']);
        },
      };
    },

    'several accounts': (c, s) => ({
      create: async () => {
        s.user = String(await user(c));
        s.one = String(await account(c, s, 'One'));
        s.two = String(await account(c, s, 'Two'));
        s.three = String(await account(c, s, 'Three'));
      },
      'list each once': async () => {
        const rows = await c.api.monetaryAccountBank.list(Number(s.user));
        once(ids(rows, 'MonetaryAccountBank'), [s.one, s.two, s.three], 'accounts');
      },
      'among accounts of all kinds': async () => {
        const rows = await c.api.monetaryAccount.list(Number(s.user));
        const banks = rows.filter((row) => object(row) && object(row.MonetaryAccountBank));
        once(ids(banks, 'MonetaryAccountBank'), [s.one, s.two, s.three], 'accounts');
      },
      'one of them as one of all kinds': async () => {
        const row = bare(await c.api.monetaryAccount.get(Number(s.user), Number(s.two)), 'MonetaryAccountBank');
        assert.deepEqual([row.id, row.description], [Number(s.two), 'Two']);
      },
    }),

    'a savings account': (c, s) => {
      const read = async (): Promise<Row> =>
        bare(await c.api.monetaryAccountSavings.get(Number(s.user), Number(s.id)), 'MonetaryAccountSavings');
      return {
        create: async () => {
          s.user = String(await user(c));
          const answer = await c.api.monetaryAccountSavings.post(Number(s.user), 'EUR', 'A boat', '0.00', '#3394D7', '9000.00');
          s.id = String(made(answer));
        },
        read: async () => {
          const row = await read();
          assert.deepEqual([row.id, row.description, row.currency], [Number(s.id), 'A boat', 'EUR']);
          assert.deepEqual(amount(row.savings_goal), [9000, 'EUR']);
        },
        'it is listed': async () =>
          once(ids(await c.api.monetaryAccountSavings.list(Number(s.user)), 'MonetaryAccountSavings'), [s.id], 'accounts'),
        'it is no bank account': async () => {
          const banks = await c.api.monetaryAccountBank.list(Number(s.user));
          assert.ok(banks.every((row) => bare(row, 'MonetaryAccountBank').description !== 'A boat'));
        },
        'another goal': async () =>
          c.api.monetaryAccountSavings.put(Number(s.user), Number(s.id), { currency: 'EUR', savings_goal: euro('12000.00') }),
        'it stays so': async () => {
          const row = await read();
          assert.deepEqual([row.description, ...amount(row.savings_goal)], ['A boat', 12_000, 'EUR']);
        },
      };
    },

    'a payment': (c, s) => ({
      'an account with money': async () => rich(c, s),
      pay: async () => {
        s.id = String(made(await c.api.payment.post(...where(s), 'Payment for drinks.', euro('12.50'), bravo)));
      },
      read: async () => {
        const row = bare(await c.api.payment.get(...where(s), Number(s.id)), 'Payment');
        assert.deepEqual([row.id, row.description, ...amount(row.amount)], [Number(s.id), 'Payment for drinks.', 12.5, 'EUR']);
      },
      'it is of the account': async () => {
        const row = bare(await c.api.payment.get(...where(s), Number(s.id)), 'Payment');
        assert.equal(row.monetary_account_id, Number(s.account));
      },
      'it is listed': async () => once(ids(await c.api.payment.list(...where(s)), 'Payment'), [s.id], 'payments'),
      'not in another account': async () => {
        s.other = String(await account(c, s, 'Another'));
        const rows = await c.api.payment.list(Number(s.user), Number(s.other));
        assert.ok(!ids(rows, 'Payment').includes(s.id));
      },
    }),

    'payments through all pages': (c, s) => {
      const paid: string[] = [];
      const page = (more: { older_id?: number } = {}): Promise<unknown[]> =>
        c.api.payment.list(...where(s), { count: 3, ...more });
      return {
        'an account with money': async () => rich(c, s),
        'pay seven times': async () => {
          for (let n = 1; n <= 7; n += 1) {
            paid.push(String(made(await c.api.payment.post(...where(s), `Drink ${n}`, euro(`${n}.00`), bravo))));
          }
        },
        'a page holds what was asked for': async () => assert.equal((await page()).length, 3),
        'each is on one of the pages': async () => {
          assert.equal(paid.length, 7);
          const rows = await pages(
            (older) => page(older === undefined ? {} : { older_id: Number(older) }),
            (one) => one,
            (one) => (one.length < 3 ? undefined : String(Math.min(...ids(one, 'Payment').map(Number)))),
            6,
          );
          once(ids(rows, 'Payment'), paid, 'payments');
        },
        'all at once': async () => once(ids(await c.api.payment.list(...where(s), { count: 200 }), 'Payment'), paid, 'payments'),
      };
    },

    'a note on a payment': (c, s) => {
      const at = (): ['payment', number, number, number] => ['payment', ...where(s), Number(s.payment)];
      return {
        'a payment': async () => {
          await rich(c, s);
          s.payment = String(made(await c.api.payment.post(...where(s), 'Drinks', euro('5.00'), bravo)));
        },
        create: async () => {
          s.id = String(made(await c.api.noteText.post(...at(), 'With friends')));
        },
        read: async () => {
          const row = bare(await c.api.noteText.get(...at(), Number(s.id)), 'NoteText');
          assert.deepEqual([row.id, row.content], [Number(s.id), 'With friends']);
        },
        'it is listed': async () => once(ids(await c.api.noteText.list(...at()), 'NoteText'), [s.id], 'notes'),
        change: async () => c.api.noteText.put(...at(), Number(s.id), 'With old friends'),
        'it stays changed': async () =>
          assert.equal(bare(await c.api.noteText.get(...at(), Number(s.id)), 'NoteText').content, 'With old friends'),
        delete: async () => c.api.noteText.delete(...at(), Number(s.id)),
        gone: async () => told(c.api.noteText.get(...at(), Number(s.id)), 404),
        'it is listed no more': async () => assert.ok(!ids(await c.api.noteText.list(...at()), 'NoteText').includes(s.id)),
      };
    },

    'a draft of payments': (c, s) => {
      const entries = async (): Promise<Row[]> => {
        const row = bare(await c.api.draftPayment.get(...where(s), Number(s.id)), 'DraftPayment');
        assert.ok(Array.isArray(row.entries), 'it has no entries');
        return (row.entries as unknown[]).filter(object);
      };
      return {
        'an account with money': async () => rich(c, s),
        create: async () => {
          s.id = String(made(await c.api.draftPayment.post(...where(s), 'Rent', euro('80.00'), bravo)));
        },
        read: async () => {
          const [entry, ...more] = await entries();
          assert.deepEqual([entry?.description, ...amount(entry?.amount)], ['Rent', 80, 'EUR']);
          assert.equal(more.length, 0);
        },
        'it waits': async () => {
          const row = bare(await c.api.draftPayment.get(...where(s), Number(s.id)), 'DraftPayment');
          assert.deepEqual([row.id, row.status], [Number(s.id), 'PENDING']);
        },
        'it is listed': async () => once(ids(await c.api.draftPayment.list(...where(s)), 'DraftPayment'), [s.id], 'drafts'),
        'nothing is paid yet': async () => {
          const rows = await c.api.payment.list(...where(s));
          assert.ok(rows.every((row) => bare(row, 'Payment').description !== 'Rent'));
        },
        'one to two at once': async () => {
          s.id = String(made(await c.api.draftPayment.post(...where(s), 'Gifts', euro('20.00'), [bravo, sugardaddy])));
          assert.deepEqual(
            (await entries()).map(({ description }) => description),
            ['Gifts', 'Gifts'],
          );
        },
      };
    },

    'a request for money': (c, s) => {
      const read = async (): Promise<Row> => bare(await c.api.requestInquiry.get(...where(s), Number(s.id)), 'RequestInquiry');
      return {
        'an account': async () => {
          s.user = String(await user(c));
          s.account = String(await account(c, s, 'Everyday'));
        },
        create: async () => {
          const reference = { merchant_reference: 'flow-1' };
          s.id = String(made(await c.api.requestInquiry.post(...where(s), 'Your drinks', euro('7.25'), bravo, reference)));
        },
        read: async () => {
          const row = await read();
          assert.deepEqual(
            [row.id, row.description, ...amount(row.amount_inquired), row.merchant_reference],
            [Number(s.id), 'Your drinks', 7.25, 'EUR', 'flow-1'],
          );
          assert.equal(row.monetary_account_id, Number(s.account));
        },
        'it is listed': async () => once(ids(await c.api.requestInquiry.list(...where(s)), 'RequestInquiry'), [s.id], 'requests'),
        revoke: async () => c.api.requestInquiry.put(...where(s), Number(s.id), 'REVOKED'),
        'it is revoked': async () => {
          const row = await read();
          assert.deepEqual([row.status, row.description], ['REVOKED', 'Your drinks']);
        },
      };
    },

    'a link of bunq.me': (c, s) => {
      const read = async (): Promise<Row> => bare(await c.api.bunqMeTabs.get(...where(s), Number(s.id)), 'BunqMeTab');
      return {
        'an account': async () => {
          s.user = String(await user(c));
          s.account = String(await account(c, s, 'Everyday'));
        },
        create: async () => {
          s.id = String(made(await c.api.bunqMeTabs.post(...where(s), 'Pizza', euro('9.00'))));
        },
        read: async () => {
          const { id: own, bunqme_tab_entry: entry } = await read();
          assert.ok(object(entry), 'it has no entry');
          assert.deepEqual([own, entry.description, ...amount(entry.amount_inquired)], [Number(s.id), 'Pizza', 9, 'EUR']);
        },
        'it has an address to share': async () => assert.equal(typeof (await read()).bunqme_tab_share_url, 'string'),
        'it is listed': async () => once(ids(await c.api.bunqMeTabs.list(...where(s)), 'BunqMeTab'), [s.id], 'links'),
        cancel: async () => c.api.bunqMeTabs.put(...where(s), Number(s.id), 'CANCELLED'),
        'it is cancelled': async () => assert.equal((await read()).status, 'CANCELLED'),
      };
    },

    'a payment of every month': (c, s) => {
      const schedule = { time_start: '2027-01-01 08:00:00.000000', recurrence_unit: 'MONTHLY', recurrence_size: 1 };
      const rent = (value: string): object => ({ amount: euro(value), counterparty_alias: bravo, description: 'Rent of flows' });
      const read = async (): Promise<{ payment: Row; schedule: Row }> => {
        const row = bare(await c.api.schedulePayment.get(...where(s), Number(s.id)), 'ScheduledPayment');
        assert.ok(object(row.payment) && object(row.schedule), 'it is not whole');
        return { payment: row.payment, schedule: row.schedule };
      };
      const listed = async (): Promise<number> => {
        const rows = await c.api.schedulePayment.list(...where(s));
        const payments = rows.map((row) => bare(row, 'ScheduledPayment').payment).filter(object);
        return payments.filter(({ description }) => description === 'Rent of flows').length;
      };
      return {
        'an account with money': async () => rich(c, s),
        create: async () => {
          s.id = String(made(await c.api.schedulePayment.post(...where(s), rent('80.00'), schedule)));
        },
        read: async () => {
          const row = await read();
          assert.deepEqual([row.payment.description, ...amount(row.payment.amount)], ['Rent of flows', 80, 'EUR']);
          assert.deepEqual([row.schedule.recurrence_unit, row.schedule.recurrence_size], ['MONTHLY', 1]);
        },
        'it is listed': async () => assert.equal(await listed(), 1),
        change: async () =>
          c.api.schedulePayment.put(...where(s), Number(s.id), rent('85.00'), { ...schedule, recurrence_size: 2 }),
        'it stays changed': async () => {
          const row = await read();
          assert.deepEqual([...amount(row.payment.amount), row.schedule.recurrence_size], [85, 'EUR', 2]);
        },
        delete: async () => c.api.schedulePayment.delete(...where(s), Number(s.id)),
        gone: async () => told(c.api.schedulePayment.get(...where(s), Number(s.id)), 404),
        'it is listed no more': async () => assert.equal(await listed(), 0),
      };
    },

    'a statement of an account': (c, s) => ({
      'an account': async () => {
        s.user = String(await user(c));
        s.account = String(await account(c, s, 'Everyday'));
      },
      create: async () => {
        s.id = String(made(await c.api.customerStatementExport.post(...where(s), 'CSV', '2026-10-01', '2026-10-31')));
      },
      read: async () => {
        const row = bare(await c.api.customerStatementExport.get(...where(s), Number(s.id)), 'CustomerStatement');
        assert.deepEqual(
          [row.id, row.statement_format, String(row.date_start).slice(0, 10), String(row.date_end).slice(0, 10)],
          [Number(s.id), 'CSV', '2026-10-01', '2026-10-31'],
        );
      },
      'it is listed': async () =>
        once(ids(await c.api.customerStatementExport.list(...where(s)), 'CustomerStatement'), [s.id], 'statements'),
      delete: async () => c.api.customerStatementExport.delete(...where(s), Number(s.id)),
      gone: async () => told(c.api.customerStatementExport.get(...where(s), Number(s.id)), 404),
      'it is listed no more': async () => {
        const rows = await c.api.customerStatementExport.list(...where(s));
        assert.ok(!ids(rows, 'CustomerStatement').includes(s.id));
      },
    }),

    'what is wrong': (c, s) => ({
      'an account without a currency': async () => {
        s.user = String(await user(c));
        const none = undefined as unknown as string;
        await told(c.api.monetaryAccountBank.post(Number(s.user), none, 'Poor', '10.00', '#FF2D55'), 400);
      },
      'it was not made': async () => {
        const rows = await c.api.monetaryAccountBank.list(Number(s.user));
        assert.ok(rows.every((row) => bare(row, 'MonetaryAccountBank').description !== 'Poor'));
      },
      'a statement without its dates': async () => {
        s.account = String(await account(c, s, 'Everyday'));
        const none = undefined as unknown as string;
        await told(c.api.customerStatementExport.post(...where(s), 'CSV', none, none), 400);
      },
      'an account that is not there': async () => told(c.api.monetaryAccountBank.get(Number(s.user), nowhere), 403, 404),
      'its change': async () =>
        told(c.api.monetaryAccountBank.put(Number(s.user), nowhere, { currency: 'EUR', description: 'No' }), 403, 404),
      'a payment that is not there': async () => told(c.api.payment.get(...where(s), nowhere), 404),
      'a payment from an account that is not there': async () =>
        told(c.api.payment.post(Number(s.user), nowhere, 'Drinks', euro('1.00'), bravo), 400, 403, 404),
    }),

    'a token that is refused': (c, s, another) => ({
      'the right one': async () => {
        s.user = String(await user(c));
      },
      'a wrong one is nobody': async () => told(another('nobody-has-this-token').api.user.list(), 401, 403),
      'it makes nothing': async () => {
        const b = another('nobody-has-this-token');
        await told(b.api.monetaryAccountBank.post(Number(s.user), 'EUR', 'Intruder', '10.00', '#FF2D55'), 401, 403);
      },
      'nothing was made': async () => {
        const rows = await c.api.monetaryAccountBank.list(Number(s.user));
        assert.ok(rows.every((row) => bare(row, 'MonetaryAccountBank').description !== 'Intruder'));
      },
    }),
  },
};
