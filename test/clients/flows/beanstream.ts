import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { given, once, type Place, refused, type State, type Vendor } from '../kit.ts';

interface Card {
  name?: string;
  number?: string;
  expiry_month?: string;
  expiry_year?: string;
  cvd?: string;
  complete?: boolean;
}
interface Address {
  name?: string;
  address_line1?: string;
  city?: string;
  province?: string;
  country?: string;
  postal_code?: string;
  phone_number?: string;
  email_address?: string;
}
interface Asked {
  amount: number;
  order_number?: string;
  payment_method?: string;
  card?: Card;
  payment_profile?: { customer_code: string; card_id: number; complete?: boolean };
  billing?: Address;
  comments?: string;
  custom?: Record<string, string>;
}
interface Paid {
  readonly id: string | number;
  readonly approved: string | number;
  readonly order_number?: string;
  readonly links?: readonly { readonly href?: string; readonly method?: string }[];
}
interface Transaction extends Omit<Asked, 'card'> {
  readonly id: string | number;
  readonly approved: unknown;
  readonly card?: { readonly last_four?: string };
  readonly total_refunds?: number;
}
interface Stored {
  readonly code: number;
  readonly message: string;
  readonly customer_code: string;
}
interface Profile extends Stored {
  readonly card?: Card;
  readonly billing?: Address;
  readonly custom?: Record<string, string>;
  readonly language?: string;
}
interface Asking {
  card?: Card;
  billing?: Address;
  custom?: Record<string, string>;
  language?: string;
  comment?: string;
}
interface Found {
  readonly records: readonly { readonly trn_id: number; readonly trn_order_number?: string; readonly trn_amount?: number }[];
}
/** The client, which has no types. */
interface Client {
  setHost(url: string): void;
  readonly payments: {
    makePayment(asked: Asked): Promise<Paid>;
    getPayment(id: string): Promise<Transaction>;
    completePayment(id: string, asked: Asked): Promise<Paid>;
    voidPayment(id: string, asked: Asked): Promise<Paid>;
    returnPayment(id: string, asked: Asked): Promise<Paid>;
  };
  readonly profiles: {
    createProfile(asked: Asking): Promise<Stored>;
    getProfile(code: string): Promise<Profile>;
    updateProfile(asked: Asking, code: string): Promise<Stored>;
    deleteProfile(code: string): Promise<Stored>;
    getCards(code: string): Promise<Stored & { readonly card: readonly (Card & { readonly card_id: string })[] }>;
    addCard(code: string, card: Card): Promise<Stored>;
    updateCard(code: string, id: string, card: Card): Promise<Stored>;
    deleteCard(code: string, id: string): Promise<Stored>;
  };
  readonly reports: { query(from: string, to: string, start: number, end: number, criteria?: readonly object[]): Promise<Found> };
}
type Make = (merchant: string, payments: string, profiles: string, reports: string) => Client;
const make = createRequire(import.meta.url)('beanstream-node') as Make;

/** It makes its credential of a merchant's number and a key, and puts the version, which the description has in its address, behind that. */
const connect = (place: Place, token: string): Client => {
  const [merchant = '', key = ''] = atob(token).split(':');
  const client = make(merchant, key, key, key);
  client.setHost(place.base.replace(/v1$/, ''));
  return client;
};

const number = '4030000010001234';
const card: Card = { name: 'Jo Doe', number, expiry_month: '02', expiry_year: '29', cvd: '123' };
const billing: Address = {
  name: 'Jo Doe',
  address_line1: '123 Fake Street',
  city: 'Victoria',
  province: 'BC',
  country: 'CA',
  postal_code: 'V9A3Z4',
  phone_number: '12345678',
  email_address: 'jo@example.com',
};
const bought = (amount: number, order_number: string, more: Partial<Asked> = {}): Asked => ({
  amount,
  order_number,
  payment_method: 'card',
  card: { ...card },
  ...more,
});
/** The transaction's number, of one that was approved. */
const approved = ({ id, approved: how }: Paid): string => {
  assert.equal(Number(how), 1);
  assert.match(String(id), /^\d+$/);
  return String(id);
};
const pay = async (c: Client, amount: number, order: string): Promise<string> =>
  approved(await c.payments.makePayment(bought(amount, order)));
const profile = async (c: Client, more: Asking = {}): Promise<string> =>
  given((await c.profiles.createProfile({ card: { ...card }, billing: { ...billing }, ...more })).customer_code, 'code');
const days = (n: number): string => new Date(Date.now() + n * 24 * 3600 * 1000).toISOString();
const found = async (c: Client, start: number, end: number, criteria?: readonly object[]): Promise<Found['records']> =>
  (await c.reports.query(days(-1), days(1), start, end, criteria)).records;
const numbers = (rows: Found['records']): string[] => rows.map(({ trn_id }) => String(trn_id));
const cards = async (c: Client, s: State) => given((await c.profiles.getCards(s.id)).card, 'cards');
const told = (thrown: unknown): { readonly code?: unknown; readonly message?: unknown } => thrown as object;

/** Guide: developer.beanstream.com/documentation (take payments, pre-authorisations, returns and voids, payment profiles, analyse payments). */
export const vendor: Vendor<Client> = {
  document: 'beanstream/beanstream.com.json',
  header: 'authorization',
  word: 'Passcode',
  made: btoa('300200578:4BaD82D9197b4cc4b70a221911eE9f70'),
  client: connect,
  strict: ['a passcode that is refused'],
  flows: {
    'a payment by card': (c, s) => ({
      paid: async () => {
        const paid = await c.payments.makePayment(bought(100, 'order-1', { billing, comments: 'At the door' }));
        s.id = approved(paid);
        assert.equal(paid.order_number, 'order-1');
      },
      read: async () => {
        const read = await c.payments.getPayment(s.id);
        assert.deepEqual([String(read.id), read.amount, read.order_number], [s.id, 100, 'order-1']);
      },
      'with whom it was for': async () => {
        const read = await c.payments.getPayment(s.id);
        assert.deepEqual([read.billing?.name, read.billing?.city, read.comments], ['Jo Doe', 'Victoria', 'At the door']);
      },
      'and not with the number of the card': async () =>
        assert.ok(!JSON.stringify(await c.payments.getPayment(s.id)).includes(number), 'it is there'),
      'the same each time': async () => assert.deepEqual(await c.payments.getPayment(s.id), await c.payments.getPayment(s.id)),
    }),

    'with words of one’s own': (c, s) => ({
      paid: async () => {
        const custom = { ref1: 'Shelf 4', ref2: 'Blue', ref5: 'As a gift' };
        s.id = approved(await c.payments.makePayment(bought(12.5, 'order-2', { custom })));
      },
      'they are kept': async () => {
        const { custom } = await c.payments.getPayment(s.id);
        assert.deepEqual([custom?.ref1, custom?.ref2, custom?.ref5], ['Shelf 4', 'Blue', 'As a gift']);
      },
      'another without': async () => {
        s.other = await pay(c, 12.5, 'order-3');
        assert.notEqual(s.other, s.id);
      },
      'has none of them': async () => {
        const { custom, order_number } = await c.payments.getPayment(s.other);
        assert.equal(order_number, 'order-3');
        assert.notEqual(custom?.ref1, 'Shelf 4');
      },
    }),

    'by cash and by cheque': (c, s) => ({
      'by cash': async () => {
        s.cash = approved(await c.payments.makePayment({ amount: 20, order_number: 'cash-1', payment_method: 'cash' }));
      },
      'by cheque': async () => {
        s.cheque = approved(await c.payments.makePayment({ amount: 30, order_number: 'cheque-1', payment_method: 'cheque' }));
        assert.notEqual(s.cash, s.cheque);
      },
      'the one': async () => {
        const read = await c.payments.getPayment(s.cash);
        assert.deepEqual([read.amount, read.order_number], [20, 'cash-1']);
      },
      'the other': async () => {
        const read = await c.payments.getPayment(s.cheque);
        assert.deepEqual([read.amount, read.order_number], [30, 'cheque-1']);
      },
    }),

    'a payment that is void': (c, s) => ({
      paid: async () => {
        s.id = await pay(c, 30, 'void-1');
      },
      'not for another amount': () => refused(c.payments.voidPayment(s.id, { amount: 31 }), 400, 402, 403),
      void: async () => {
        s.void = approved(await c.payments.voidPayment(s.id, { amount: 30 }));
      },
      'a transaction of its own, read by its number': async () => {
        assert.notEqual(s.void, s.id);
        const read = await c.payments.getPayment(s.void);
        assert.deepEqual([String(read.id), read.amount], [s.void, 30]);
      },
      'the first is still known': async () => assert.equal((await c.payments.getPayment(s.id)).order_number, 'void-1'),
    }),

    'some of it given back': (c, s) => ({
      paid: async () => {
        s.id = await pay(c, 70, 'return-1');
      },
      'some of it back': async () => {
        s.back = approved(await c.payments.returnPayment(s.id, { amount: 40, order_number: 'return-1-back' }));
        assert.notEqual(s.back, s.id);
      },
      'is read by its number': async () => {
        const read = await c.payments.getPayment(s.back);
        assert.deepEqual([String(read.id), read.amount], [s.back, 40]);
      },
      'the first says how much went back': async () => {
        const read = await c.payments.getPayment(s.id);
        assert.deepEqual([read.amount, read.total_refunds], [70, 40]);
      },
      'not without an amount': () => refused(c.payments.returnPayment(s.id, {} as Asked), 400),
    }),

    'reserved first, taken afterwards': (c, s) => ({
      reserved: async () => {
        s.id = approved(await c.payments.makePayment(bought(80, 'preauth-1', { card: { ...card, complete: false } })));
      },
      'known by its number': async () => assert.equal((await c.payments.getPayment(s.id)).order_number, 'preauth-1'),
      'not more than was reserved': () =>
        refused(c.payments.completePayment(s.id, { amount: 80.5, payment_method: 'card' }), 400, 402, 403),
      taken: async () => {
        s.taken = approved(await c.payments.completePayment(s.id, { amount: 50.5, payment_method: 'card' }));
        assert.notEqual(s.taken, s.id);
      },
      'what was taken': async () => {
        const read = await c.payments.getPayment(s.taken);
        assert.deepEqual([String(read.id), read.amount], [s.taken, 50.5]);
      },
    }),

    'a profile, from the first to the last day': (c, s) => ({
      made: async () => {
        const made = await c.profiles.createProfile({ card: { ...card }, billing: { ...billing } });
        assert.deepEqual([typeof made.code, typeof made.message, typeof made.customer_code], ['number', 'string', 'string']);
        s.id = made.customer_code;
      },
      read: async () => {
        const read = await c.profiles.getProfile(s.id);
        assert.equal(read.customer_code, s.id);
        assert.partialDeepStrictEqual(read.billing, { name: 'Jo Doe', city: 'Victoria', country: 'CA' });
      },
      'moved to another town': async () => {
        const changed = await c.profiles.updateProfile({ billing: { ...billing, city: 'Vancouver' } }, s.id);
        assert.equal(changed.customer_code, s.id);
      },
      'lives there now': async () => {
        const read = await c.profiles.getProfile(s.id);
        assert.deepEqual([read.billing?.city, read.billing?.name], ['Vancouver', 'Jo Doe']);
      },
      deleted: async () => assert.equal((await c.profiles.deleteProfile(s.id)).customer_code, s.id),
      'gone afterwards': () => refused(c.profiles.getProfile(s.id), 400, 404),
    }),

    'the card of a profile': (c, s) => ({
      made: async () => {
        s.id = await profile(c);
      },
      'is in it': async () => {
        const read = given((await c.profiles.getProfile(s.id)).card, 'card');
        assert.deepEqual([read.name, read.expiry_month, read.expiry_year], ['Jo Doe', '02', '29']);
      },
      'its number is masked': async () => assert.notEqual((await c.profiles.getProfile(s.id)).card?.number, number),
      'it is the one in the list': async () => {
        const all = await cards(c, s);
        assert.deepEqual(
          all.map(({ expiry_month, expiry_year }) => [expiry_month, expiry_year]),
          [['02', '29']],
        );
      },
      'masked there too': async () => {
        for (const one of await cards(c, s)) assert.notEqual(one.number, number);
      },
    }),

    'another card for a profile': (c, s) => ({
      'a profile with one': async () => {
        s.id = await profile(c);
        assert.equal((await cards(c, s)).length, 1);
      },
      'another one': async () => {
        const second = { name: 'Jo Doe', number: '5100000010001004', expiry_month: '11', expiry_year: '30', cvd: '123' };
        assert.equal((await c.profiles.addCard(s.id, second)).customer_code, s.id);
      },
      'two in the list, each with a number of its own': async () => {
        const ids = (await cards(c, s)).map(({ card_id }) => String(card_id));
        assert.deepEqual([ids.length, new Set(ids).size], [2, 2]);
        s.card = given(ids[1], 'second card');
      },
      'valid for longer': async () => {
        const asked = { name: 'Jo Doe', number: '510000XXXXXX1004', expiry_month: '12', expiry_year: '31' };
        await c.profiles.updateCard(s.id, s.card, asked);
        const one = (await cards(c, s)).find(({ card_id }) => String(card_id) === s.card);
        assert.deepEqual([one?.expiry_month, one?.expiry_year], ['12', '31']);
      },
      'one is left when that goes': async () => {
        await c.profiles.deleteCard(s.id, s.card);
        assert.equal((await cards(c, s)).length, 1);
      },
    }),

    'what else is in a profile': (c, s) => ({
      made: async () => {
        s.id = await profile(c, { language: 'en', comment: 'Comes on Mondays', custom: { ref1: 'A friend' } });
      },
      'it is kept': async () => {
        const read = await c.profiles.getProfile(s.id);
        assert.deepEqual([read.language, read.custom?.ref1], ['en', 'A friend']);
      },
      'in another language': async () => {
        await c.profiles.updateProfile({ billing: { ...billing }, language: 'fr', custom: { ref1: 'A good friend' } }, s.id);
        const read = await c.profiles.getProfile(s.id);
        assert.deepEqual([read.language, read.custom?.ref1], ['fr', 'A good friend']);
      },
      'still the same card': async () => assert.equal((await c.profiles.getProfile(s.id)).card?.expiry_year, '29'),
    }),

    'two profiles, one of which goes': (c, s) => ({
      'two are made': async () => {
        s.one = await profile(c, { billing: { ...billing, name: 'One' } });
        s.two = await profile(c, { billing: { ...billing, name: 'Two' } });
        assert.notEqual(s.one, s.two);
      },
      'each is what it was made': async () => {
        assert.equal((await c.profiles.getProfile(s.one)).billing?.name, 'One');
        assert.equal((await c.profiles.getProfile(s.two)).billing?.name, 'Two');
      },
      'one goes': async () => assert.equal((await c.profiles.deleteProfile(s.one)).customer_code, s.one),
      'the other stays': async () => assert.equal((await c.profiles.getProfile(s.two)).billing?.name, 'Two'),
      'which is gone does not go again': () => refused(c.profiles.deleteProfile(s.one), 400, 404),
    }),

    'a payment by profile': (c, s) => ({
      'a profile': async () => {
        s.profile = await profile(c);
      },
      paid: async () => {
        const payment_profile = { customer_code: s.profile, card_id: 1, complete: true };
        const asked = { amount: 9.5, order_number: 'profile-1', payment_method: 'payment_profile', payment_profile };
        s.id = approved(await c.payments.makePayment(asked));
      },
      read: async () => {
        const read = await c.payments.getPayment(s.id);
        assert.deepEqual([read.amount, read.order_number], [9.5, 'profile-1']);
      },
      'the profile goes, the payment does not': async () => {
        await c.profiles.deleteProfile(s.profile);
        assert.equal(String((await c.payments.getPayment(s.id)).id), s.id);
      },
    }),

    'payments of these days': (c, s) => ({
      'three are made': async () => {
        const made = [await pay(c, 1, 'search-1'), await pay(c, 2, 'search-2'), await pay(c, 3, 'search-3')];
        assert.equal(new Set(made).size, 3);
        s.ids = made.join(',');
      },
      'all of them': async () => once(numbers(await found(c, 1, 1000)), s.ids.split(','), 'records'),
      'two of them alone': async () => assert.equal((await found(c, 1, 3)).length, 2),
      'page after page': async () => {
        const all: string[] = [];
        const many = (await found(c, 1, 1000)).length;
        for (let start = 1; start <= many; start += 2) all.push(...numbers(await found(c, start, start + 2)));
        once(all, s.ids.split(','), 'pages');
      },
      'by its order': async () => {
        const rows = await found(c, 1, 1000, [{ field: 5, operator: '%3D', value: 'search-2' }]);
        assert.deepEqual(numbers(rows), [s.ids.split(',')[1]]);
      },
      'those of more than one dollar and a half': async () => {
        const rows = await found(c, 1, 1000, [{ field: 2, operator: '%3E', value: '1.5' }]);
        for (const { trn_amount } of rows) assert.ok(Number(trn_amount) > 1.5, String(trn_amount));
      },
    }),

    'a passcode that is refused': (c, _s, another) => ({
      'for a payment': () => refused(another(btoa('300200578:wrong')).payments.makePayment(bought(5, 'stolen-1')), 401),
      'for what was paid': () => refused(another(btoa('300200578:wrong')).payments.getPayment('10000001'), 401),
      'for a profile': () => refused(another(btoa('300200578:wrong')).profiles.createProfile({ card: { ...card } }), 401),
      'the right one is taken': async () => assert.ok(await pay(c, 5, 'taken-1'), 'no number'),
    }),

    'what is wrong is told': (c) => ({
      'a payment without an amount': async () => {
        const { amount: _, ...asked } = bought(1, 'wrong-1');
        const { code, message } = told(await refused(c.payments.makePayment(asked as Asked), 400));
        assert.deepEqual([typeof code, typeof message], ['number', 'string']);
      },
      'an amount that is a word': () => refused(c.payments.makePayment(bought('much' as never, 'wrong-2')), 400),
      'no way of paying': () => refused(c.payments.makePayment({ amount: 1, order_number: 'wrong-3' }), 400),
      'a card that has no number': () =>
        refused(c.payments.makePayment(bought(1, 'wrong-4', { card: { name: 'Jo Doe', expiry_month: '02' } })), 400),
      'a profile of a card without a name': () =>
        refused(c.profiles.createProfile({ card: { number, expiry_month: '02', expiry_year: '29' } }), 400),
    }),

    'what is not there': (c) => ({
      'no such payment': async () => {
        const { message } = told(await refused(c.payments.getPayment('99999999'), 400, 404));
        assert.equal(typeof message, 'string');
      },
      'none to void': () => refused(c.payments.voidPayment('99999999', { amount: 1 }), 400, 404),
      'none to give back': () => refused(c.payments.returnPayment('99999999', { amount: 1 }), 400, 404),
      'no such profile': () => refused(c.profiles.getProfile('0000000000000000000000000000ABCD'), 400, 404),
      'nor cards of it': () => refused(c.profiles.getCards('0000000000000000000000000000ABCD'), 400, 404),
    }),
  },
};
