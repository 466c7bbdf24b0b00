import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { given, once, type Place, pages, type State, statusOf, type Vendor } from '../kit.ts';

type Done<Answer> = (error: unknown, answer?: Answer) => void;
type Contact = {
  readonly firstName?: string;
  readonly lastName?: string;
  readonly city?: string;
  readonly country?: string;
  readonly state?: string;
  readonly zipCode?: string;
  readonly workEmail?: string;
};
type NewAccount = {
  readonly accountNumber: string;
  readonly name: string;
  readonly currency: string;
  readonly paymentTerm: string;
  readonly billCycleDay: number;
  readonly notes?: string;
  readonly billToContact: Contact;
  readonly subscription?: Omit<NewSubscription, 'accountKey'>;
};
type Account = {
  readonly basicInfo: {
    readonly id: string;
    readonly accountNumber: string;
    readonly name: string;
    readonly notes?: string;
    readonly crmId?: string;
    readonly status?: string;
  };
  readonly billingAndPayment: {
    readonly currency: string;
    readonly paymentTerm: string;
    readonly billCycleDay: number | string;
  };
  readonly billToContact: Contact;
};
type Summary = {
  readonly basicInfo: { readonly id: string; readonly accountNumber: string; readonly name: string };
  readonly subscriptions: readonly { readonly id: string; readonly subscriptionNumber: string }[];
};
type NewSubscription = {
  readonly accountKey: string;
  readonly termType: string;
  readonly contractEffectiveDate: string;
  readonly initialTerm?: number;
  readonly renewalTerm?: number;
  readonly autoRenew?: boolean;
  readonly notes?: string;
  readonly subscribeToRatePlans: readonly { readonly productRatePlanId: string }[];
};
type Subscription = {
  readonly id: string;
  readonly subscriptionNumber: string;
  readonly accountId: string;
  readonly accountNumber: string;
  readonly termType: string;
  readonly status: string;
  readonly notes?: string;
  readonly autoRenew?: boolean;
  readonly initialTerm?: number;
  readonly renewalTerm?: number;
  readonly contractEffectiveDate: string;
};
type Holder = {
  readonly cardHolderName: string;
  readonly addressLine1?: string;
  readonly city: string;
  readonly country: string;
  readonly state: string;
  readonly zipCode: string;
};
type NewCard = {
  readonly accountKey: string;
  readonly creditCardType: string;
  readonly creditCardNumber: string;
  readonly expirationMonth: number;
  readonly expirationYear: number;
  readonly securityCode: string;
  readonly defaultPaymentMethod?: boolean;
  readonly cardHolderInfo: Holder;
};
type Card = {
  readonly id: string;
  readonly cardType: string;
  readonly cardNumber: string;
  readonly expirationMonth: number;
  readonly expirationYear: number;
  readonly defaultPaymentMethod: boolean;
  readonly cardHolderInfo: Partial<Holder>;
};
type Product = {
  readonly id: string;
  readonly name: string;
  readonly sku: string;
  readonly productRatePlans: string | readonly { readonly id: string }[];
};
type Paged = { readonly nextPage?: string | null };
type Asked = Readonly<Record<string, string | number>>;
type Made = { readonly success: boolean };

type MadeAccount = Made & {
  readonly accountId: string;
  readonly accountNumber: string;
  readonly subscriptionId?: string;
  readonly subscriptionNumber?: string;
};

/** The parts of the client that are used here: it has no types of its own. */
interface Zuora {
  readonly account: {
    create(what: NewAccount, done: Done<MadeAccount>): void;
    get(key: string, done: Done<Account>): void;
    summary(key: string, done: Done<Summary>): void;
    update(key: string, what: object, done: Done<Made>): void;
  };
  readonly catalog: { get(asked: Asked, done: Done<Paged & { readonly products: readonly Product[] }>): void };
  readonly payment: {
    create(what: NewCard, done: Done<Made & { readonly paymentMethodId: string }>): void;
    get(key: string, asked: Asked, done: Done<Paged & { readonly creditCards: readonly Card[] }>): void;
    update(id: string, what: object, done: Done<Made & { readonly paymentMethodId: string }>): void;
    del(id: string, done: Done<Made>): void;
  };
  readonly subscription: {
    getByAccount(key: string, asked: Asked, done: Done<Paged & { readonly subscriptions: readonly Subscription[] }>): void;
    getByKey(key: string, done: Done<Subscription>): void;
    update(key: string, what: object, done: Done<Made & { readonly subscriptionId: string }>): void;
    renew(key: string, what: object, done: Done<Made & { readonly termEndDate: string }>): void;
    cancel(key: string, what: object, done: Done<Made & { readonly cancelledDate: string }>): void;
  };
  readonly transaction: {
    getInvoices(key: string, asked: Asked, done: Done<Paged & { readonly invoices: readonly { readonly id: string }[] }>): void;
    getPayments(key: string, asked: Asked, done: Done<Paged & { readonly payments: readonly { readonly id: string }[] }>): void;
    collect(key: string, what: object, done: Done<Made>): void;
  };
}

/** What the client sends with, below its wrapper. */
interface Sending {
  request(options: { path: string }, done: unknown): unknown;
}
/** The client's wrapper: it asks for any path. */
interface Asking {
  get<Answer>(path: string, asked: Asked, done: Done<Answer>): void;
  post<Answer>(path: string, what: object, done: Done<Answer>): void;
  put<Answer>(path: string, what: object, done: Done<Answer>): void;
}
type Options = { readonly user: string; readonly password: string; readonly url: string };
const { create } = createRequire(import.meta.url)('zuora') as { create: (options: Options) => Zuora };

/** The client puts user and password into a header of the basic kind; it has the path of the service's older address, `/rest/v1`. */
const connect = (place: Place, token: string): Zuora => {
  const [user = '', ...password] = Buffer.from(token, 'base64').toString().split(':');
  const zuora = create({ user: user || 'nobody', password: password.join(':') || 'nothing', url: place.url });
  const { client } = (zuora.account as unknown as { client: { client: Sending } }).client;
  const { request } = client;
  client.request = (options, done) =>
    request.call(client, Object.assign(options, { path: options.path.replace(/^\/rest\/v1\//, '/v1/') }), done);
  return zuora;
};

/**
 * What the client checks of a subscription by itself fails for every date, with the validator it asks for: subscriptions are
 * made, previewed and cancelled at a date by its wrapper, which checks nothing.
 */
const wrapper = (z: Zuora): Asking => (z.subscription as unknown as { client: Asking }).client;

/** The client gives an answer without success as an error, and beside it the answer with its reasons. */
const call = <Answer>(ask: (done: Done<Answer>) => void): Promise<Answer> =>
  new Promise((resolve, reject) => {
    ask((error, answer) => {
      if (!error) {
        resolve(answer as Answer);
        return;
      }
      const thrown = error instanceof Error ? error : new Error(`the client refuses it: ${JSON.stringify(error)}`);
      reject(Object.assign(thrown, { reasons: (answer as { reasons?: unknown } | undefined)?.reasons }));
    });
  });

/** The statuses that mean the same as a category of the guide's error codes; most errors come with the status 200. */
const meaning: Readonly<Record<string, readonly number[]>> = {
  11: [401],
  20: [400, 422],
  21: [400, 422],
  22: [400, 422],
  40: [404],
};
/** The call is refused, with a code that ends with one of the categories. */
const declined = async (asked: Promise<unknown>, ...categories: readonly string[]): Promise<void> => {
  try {
    await asked;
  } catch (thrown) {
    const { reasons } = thrown as { reasons?: readonly { readonly code: number }[] };
    const codes = (reasons ?? []).map(({ code }) => String(code));
    if (codes.some((code) => categories.includes(code.slice(-2)) || (categories.includes('11') && code.startsWith('9')))) return;
    const status = statusOf(thrown);
    if (status !== undefined && categories.some((category) => meaning[category]?.includes(status))) return;
    const told = new Error(`refused with ${status ?? codes.join(' ')}: ${(thrown as Error).message}`, { cause: thrown });
    throw status === undefined ? told : Object.assign(told, { status });
  }
  assert.fail(`not refused with an error of the kind ${categories.join(' or ')}`);
};

let count = 0;
/** Numbers of accounts are the caller's own, and each is given once. */
const number = (): string => {
  count += 1;
  return `A-${Date.now().toString(36)}-${count}`;
};
const acme = (name: string): NewAccount => ({
  accountNumber: number(),
  name,
  currency: 'USD',
  paymentTerm: 'Net 30',
  billCycleDay: 1,
  notes: 'by way of the partner',
  billToContact: {
    firstName: 'John',
    lastName: 'Smith',
    city: 'San Francisco',
    country: 'United States',
    state: 'California',
    zipCode: '94105',
    workEmail: 'smith@example.com',
  },
});
const account = async (z: Zuora, s: State, as: string, what: NewAccount = acme('Acme')): Promise<void> => {
  const made = await call<{ accountId: string; accountNumber: string }>((done) => z.account.create(what, done));
  [s[as], s[`${as} number`]] = [given(made.accountId, 'accountId'), given(made.accountNumber, 'accountNumber')];
};
const read = (z: Zuora, key: string): Promise<Account> => call((done) => z.account.get(key, done));
const changed = (z: Zuora, key: string, what: object): Promise<Made> => call((done) => z.account.update(key, what, done));

/** The address of the next page has what it is to be asked with. */
const following = (page: Paged): string | undefined => {
  if (!page.nextPage) return undefined;
  return new URL(page.nextPage, 'https://rest.zuora.com').search;
};
const asking = (size: number, next: string | undefined): Asked =>
  next === undefined ? { pageSize: size } : Object.fromEntries(new URLSearchParams(next));

const card = (accountKey: string, what: Partial<NewCard> = {}): NewCard => ({
  accountKey,
  creditCardType: 'Visa',
  creditCardNumber: '4111111111111111',
  expirationMonth: 10,
  expirationYear: 2030,
  securityCode: '331',
  cardHolderInfo: {
    cardHolderName: 'John Smith',
    addressLine1: '77 Beale St',
    city: 'San Francisco',
    country: 'United States',
    state: 'California',
    zipCode: '94105',
  },
  ...what,
});
const pay = async (z: Zuora, s: State, as: string, what: NewCard): Promise<void> => {
  s[as] = given(
    (await call<{ paymentMethodId: string }>((done) => z.payment.create(what, done))).paymentMethodId,
    'paymentMethodId',
  );
};
const cards = (z: Zuora, key: string, size = 20): Promise<Card[]> =>
  pages(
    (next) => call<Paged & { readonly creditCards: readonly Card[] }>((done) => z.payment.get(key, asking(size, next), done)),
    ({ creditCards }) => creditCards,
    following,
  );
const ids = (rows: readonly { readonly id: string }[]): string[] => rows.map(({ id }) => id);

const products = (z: Zuora, size = 10): Promise<Product[]> =>
  pages(
    (next) => call<Paged & { readonly products: readonly Product[] }>((done) => z.catalog.get(asking(size, next), done)),
    (page) => page.products,
    following,
  );
/** Rate plans of a product: older versions of the service give them with it, newer ones their address. */
const plansOf = async (z: Zuora, { productRatePlans }: Product): Promise<readonly { readonly id: string }[]> => {
  if (typeof productRatePlans !== 'string') return productRatePlans ?? [];
  const { pathname } = new URL(productRatePlans, 'https://rest.zuora.com');
  const path = pathname.replace(/^\/v1\//, '/');
  return (
    (await call<{ productRatePlans: readonly { id: string }[] }>((done) => wrapper(z).get(path, {}, done))).productRatePlans ?? []
  );
};
/** A rate plan of the catalog: this client makes none. */
const plan = async (z: Zuora, s: State): Promise<void> => {
  const all = await products(z);
  for (const product of all.slice(0, 5)) {
    const found = (await plansOf(z, product).catch(() => []))[0];
    if (found === undefined) continue;
    s.plan = found.id;
    return;
  }
  /** A service of products without plans knows no better. */
  s.plan = given(all[0], 'product').id;
};
const terms = (s: State): Omit<NewSubscription, 'accountKey'> => ({
  termType: 'TERMED',
  contractEffectiveDate: '2026-02-01',
  initialTerm: 12,
  renewalTerm: 3,
  autoRenew: true,
  notes: 'a test subscription',
  subscribeToRatePlans: [{ productRatePlanId: s.plan }],
});
const subscribing = (s: State, as: string, what: Partial<NewSubscription> = {}): NewSubscription => ({
  accountKey: s[as],
  ...terms(s),
  ...what,
});
const subscribe = async (z: Zuora, s: State, as: string, what: NewSubscription): Promise<void> => {
  const made = await call<{ subscriptionId: string; subscriptionNumber: string }>((done) =>
    wrapper(z).post('/subscriptions', what, done),
  );
  s[as] = given(made.subscriptionId, 'subscriptionId');
  s[`${as} number`] = given(made.subscriptionNumber, 'subscriptionNumber');
};
const subscription = (z: Zuora, key: string): Promise<Subscription> => call((done) => z.subscription.getByKey(key, done));
const subscriptions = (z: Zuora, key: string, size = 20): Promise<Subscription[]> =>
  pages(
    (next) =>
      call<Paged & { readonly subscriptions: readonly Subscription[] }>((done) =>
        z.subscription.getByAccount(key, asking(size, next), done),
      ),
    (page) => page.subscriptions,
    following,
  );
const numbers = (rows: readonly Subscription[]): string[] => rows.map(({ subscriptionNumber }) => subscriptionNumber);

const nothing = '402892c74c9193cd014c000000000000';

/** Guide: developer.zuora.com/v1-api-reference, with its parts on keys, errors and pagination, and its tutorials. */
export const vendor: Vendor<Zuora> = {
  document: 'zuora/zuora.com.json',
  header: 'Authorization',
  word: 'Basic',
  made: Buffer.from('api.user@example.com:made-up-password').toString('base64'),
  client: connect,
  strict: ['a user who is refused'],
  flows: {
    'an account': (z, s) => {
      const what = acme('Acme Corporation');
      return {
        create: async () => {
          await account(z, s, 'id', what);
          assert.equal(s['id number'], what.accountNumber);
        },
        'read by its id': async () => {
          const { basicInfo, billingAndPayment } = await read(z, s.id);
          assert.deepEqual(
            [basicInfo.id, basicInfo.accountNumber, basicInfo.name, basicInfo.notes],
            [s.id, what.accountNumber, what.name, what.notes],
          );
          assert.deepEqual([billingAndPayment.currency, billingAndPayment.paymentTerm], ['USD', 'Net 30']);
          assert.equal(String(billingAndPayment.billCycleDay), '1');
        },
        'read by its number': async () => assert.equal((await read(z, what.accountNumber)).basicInfo.id, s.id),
        'to whom its bills go': async () => {
          const { billToContact } = await read(z, s.id);
          assert.deepEqual(
            [billToContact.firstName, billToContact.lastName, billToContact.city, billToContact.workEmail],
            ['John', 'Smith', 'San Francisco', 'smith@example.com'],
          );
        },
        'in short': async () => {
          const { basicInfo, subscriptions: held } = await call<Summary>((done) => z.account.summary(s.id, done));
          assert.deepEqual([basicInfo.id, basicInfo.accountNumber, basicInfo.name], [s.id, what.accountNumber, what.name]);
          assert.deepEqual(held ?? [], []);
        },
        'another is another': async () => {
          await account(z, s, 'other', acme('Another'));
          assert.notEqual(s.other, s.id);
          assert.deepEqual(
            [(await read(z, s.id)).basicInfo.name, (await read(z, s.other)).basicInfo.name],
            [what.name, 'Another'],
          );
        },
      };
    },

    'an account is changed': (z, s) => ({
      'two accounts': async () => {
        await account(z, s, 'id', acme('Before'));
        await account(z, s, 'other', acme('Beside'));
      },
      'another name, and notes': async () => {
        await changed(z, s.id, { name: 'After', notes: 'has a new name', crmId: 'crm-1' });
      },
      'so it is': async () => {
        const { name, notes, crmId } = (await read(z, s.id)).basicInfo;
        assert.deepEqual([name, notes, crmId], ['After', 'has a new name', 'crm-1']);
      },
      'what was not said is as it was': async () => {
        const { billingAndPayment, billToContact, basicInfo } = await read(z, s.id);
        assert.deepEqual(
          [billingAndPayment.currency, billToContact.lastName, basicInfo.accountNumber],
          ['USD', 'Smith', s['id number']],
        );
      },
      'in short it is changed too': async () => {
        assert.equal((await call<Summary>((done) => z.account.summary(s.id, done))).basicInfo.name, 'After');
      },
      'by its number': async () => {
        await changed(z, s['id number'], { notes: 'by its number' });
        const { name, notes } = (await read(z, s.id)).basicInfo;
        assert.deepEqual([name, notes], ['After', 'by its number']);
      },
      'the other is not': async () => assert.equal((await read(z, s.other)).basicInfo.name, 'Beside'),
    }),

    'the bills go to another': (z, s) => ({
      'an account': () => account(z, s, 'id'),
      'to her': async () => {
        const billToContact = {
          firstName: 'Jane',
          lastName: 'Miller',
          city: 'Oakland',
          country: 'United States',
          state: 'California',
        };
        await changed(z, s.id, { billToContact });
      },
      'so it is': async () => {
        const { firstName, lastName, city } = (await read(z, s.id)).billToContact;
        assert.deepEqual([firstName, lastName, city], ['Jane', 'Miller', 'Oakland']);
      },
      'goods to someone else': async () => {
        await changed(z, s.id, {
          soldToContact: { firstName: 'Max', lastName: 'Meyer', country: 'United States', state: 'Nevada' },
        });
      },
      'the bills still to her': async () => assert.equal((await read(z, s.id)).billToContact.lastName, 'Miller'),
      'the goods to him': async () => {
        const { soldToContact } = await call<Account & { readonly soldToContact: Contact }>((done) =>
          z.account.get(s.id, done as Done<Account>),
        );
        assert.deepEqual([soldToContact.firstName, soldToContact.lastName], ['Max', 'Meyer']);
      },
    }),

    'a card of an account': (z, s) => ({
      'an account with a card': async () => {
        await account(z, s, 'id');
        await pay(z, s, 'card', card(s.id, { defaultPaymentMethod: true }));
      },
      'it is listed once': async () => once(ids(await cards(z, s.id)), [s.card], 'cards'),
      'as it was given, but for its number': async () => {
        const one = given(
          (await cards(z, s.id)).find(({ id }) => id === s.card),
          'card',
        );
        assert.deepEqual([one.cardType, one.expirationMonth, one.expirationYear].map(String), ['Visa', '10', '2030']);
        assert.ok(one.cardNumber.endsWith('1111') && one.cardNumber !== '4111111111111111', one.cardNumber);
      },
      'and its holder': async () => {
        const { cardHolderInfo } = given(
          (await cards(z, s.id)).find(({ id }) => id === s.card),
          'card',
        );
        assert.deepEqual(
          [cardHolderInfo.cardHolderName, cardHolderInfo.city, cardHolderInfo.zipCode],
          ['John Smith', 'San Francisco', '94105'],
        );
      },
      'by the number of the account too': async () => once(ids(await cards(z, s['id number'])), [s.card], 'cards'),
      'another account has none': async () => {
        await account(z, s, 'other');
        assert.deepEqual(await cards(z, s.other), []);
      },
    }),

    'a card is changed': (z, s) => ({
      'an account with a card': async () => {
        await account(z, s, 'id');
        await pay(z, s, 'card', card(s.id));
      },
      'it ends later': async () => {
        const { cardHolderInfo } = card(s.id);
        const what = { ...cardHolderInfo, expirationMonth: 12, expirationYear: 2030, securityCode: '331', city: 'Oakland' };
        const { paymentMethodId } = await call<{ paymentMethodId: string }>((done) => z.payment.update(s.card, what, done));
        assert.equal(paymentMethodId, s.card);
      },
      'so it does': async () => {
        const one = given(
          (await cards(z, s.id)).find(({ id }) => id === s.card),
          'card',
        );
        assert.deepEqual([one.expirationMonth, one.expirationYear, one.cardHolderInfo.city].map(String), [
          '12',
          '2030',
          'Oakland',
        ]);
      },
      'it is the same card': async () => {
        const one = given(
          (await cards(z, s.id)).find(({ id }) => id === s.card),
          'card',
        );
        assert.deepEqual([one.cardType, one.cardHolderInfo.cardHolderName], ['Visa', 'John Smith']);
      },
      'still there once': async () => once(ids(await cards(z, s.id)), [s.card], 'cards'),
    }),

    'a card is taken away': (z, s) => ({
      'an account with two cards': async () => {
        await account(z, s, 'id');
        await pay(z, s, 'first', card(s.id, { defaultPaymentMethod: true }));
        const number = { creditCardType: 'MasterCard', creditCardNumber: '5555555555554444', defaultPaymentMethod: false };
        await pay(z, s, 'second', card(s.id, number));
        assert.notEqual(s.first, s.second);
      },
      'both are listed': async () => once(ids(await cards(z, s.id)), [s.first, s.second], 'cards'),
      'the first is what it pays with': async () => {
        const all = await cards(z, s.id);
        assert.deepEqual(
          all.filter(({ defaultPaymentMethod }) => defaultPaymentMethod).map(({ id }) => id),
          [s.first],
        );
      },
      'the second is deleted': async () => {
        await call<Made>((done) => z.payment.del(s.second, done));
      },
      'the first is left': async () => {
        const all = ids(await cards(z, s.id));
        once(all, [s.first], 'cards');
        assert.ok(!all.includes(s.second));
      },
      'it cannot be deleted again': () =>
        declined(
          call((done) => z.payment.del(s.second, done)),
          '40',
        ),
    }),

    'cards page by page': (z, s) => ({
      'an account with five': async () => {
        await account(z, s, 'id');
        for (const as of ['a', 'b', 'c', 'd', 'e']) await pay(z, s, as, card(s.id));
        s.all = [s.a, s.b, s.c, s.d, s.e].join(' ');
      },
      'two on a page, and there is more': async () => {
        const page = await call<Paged & { readonly creditCards: readonly Card[] }>((done) =>
          z.payment.get(s.id, { pageSize: 2 }, done),
        );
        assert.equal(page.creditCards.length, 2);
        assert.ok(page.nextPage);
      },
      'through all pages': async () => once(ids(await cards(z, s.id, 2)), s.all.split(' '), 'cards'),
      'there are five': async () => assert.equal((await cards(z, s.id, 2)).length, 5),
      'on one page there is no more': async () => {
        const page = await call<Paged & { readonly creditCards: readonly Card[] }>((done) =>
          z.payment.get(s.id, { pageSize: 40 }, done),
        );
        assert.equal(page.creditCards.length, 5);
        assert.ok(!page.nextPage);
      },
      'one less': async () => {
        await call<Made>((done) => z.payment.del(s.c, done));
        const all = ids(await cards(z, s.id, 2));
        once(all, [s.a, s.b, s.d, s.e], 'cards');
        assert.equal(all.length, 4);
      },
    }),

    'a subscription': (z, s) => ({
      'a plan': () => plan(z, s),
      'an account, with a subscription from the beginning': async () => {
        const made = await call<MadeAccount>((done) => z.account.create({ ...acme('Acme'), subscription: terms(s) }, done));
        [s.id, s.sub] = [given(made.accountId, 'accountId'), given(made.subscriptionId, 'subscriptionId')];
        s['sub number'] = given(made.subscriptionNumber, 'subscriptionNumber');
      },
      'read by its id': async () => {
        const sub = await subscription(z, s.sub);
        assert.deepEqual([sub.id, sub.subscriptionNumber, sub.accountId], [s.sub, s['sub number'], s.id]);
      },
      'as it was made': async () => {
        const sub = await subscription(z, s['sub number']);
        assert.deepEqual(
          [sub.termType, sub.initialTerm, sub.renewalTerm, sub.autoRenew, sub.notes],
          ['TERMED', 12, 3, true, 'a test subscription'],
        );
        assert.equal(sub.contractEffectiveDate.slice(0, 10), '2026-02-01');
      },
      'it belongs to the account': async () => {
        const all = await subscriptions(z, s.id);
        once(numbers(all), [s['sub number']], 'subscriptions');
        assert.ok(all.every(({ accountId }) => accountId === s.id));
      },
      'in short the account has it': async () => {
        const { subscriptions: held } = await call<Summary>((done) => z.account.summary(s.id, done));
        once(
          held.map(({ subscriptionNumber }) => subscriptionNumber),
          [s['sub number']],
          'subscriptions',
        );
      },
      'another account has none': async () => {
        await account(z, s, 'other');
        assert.deepEqual(await subscriptions(z, s.other), []);
      },
    }),

    'a subscription is changed': (z, s) => ({
      'an account with one': async () => {
        await account(z, s, 'id');
        await plan(z, s);
        await subscribe(z, s, 'sub', subscribing(s, 'id'));
      },
      'other notes, and it is not renewed': async () => {
        const what = { notes: 'it ends by itself', autoRenew: false, renewalTerm: 6 };
        await call<Made>((done) => z.subscription.update(s['sub number'], what, done));
      },
      /** Its number stays; each change gives it another id. */
      'so it is': async () => {
        const { notes, autoRenew, renewalTerm } = await subscription(z, s['sub number']);
        assert.deepEqual([notes, autoRenew, renewalTerm], ['it ends by itself', false, 6]);
      },
      'what was not said is as it was': async () => {
        const { termType, initialTerm, accountId } = await subscription(z, s['sub number']);
        assert.deepEqual([termType, initialTerm, accountId], ['TERMED', 12, s.id]);
      },
      'still there once': async () => once(numbers(await subscriptions(z, s.id)), [s['sub number']], 'subscriptions'),
      renew: async () => {
        const { termEndDate } = await call<{ termEndDate: string }>((done) => z.subscription.renew(s['sub number'], {}, done));
        assert.equal(typeof termEndDate, 'string');
      },
    }),

    'a subscription is cancelled': (z, s) => ({
      'an account with two': async () => {
        await account(z, s, 'id');
        await plan(z, s);
        await subscribe(z, s, 'one', subscribing(s, 'id'));
        await subscribe(z, s, 'two', subscribing(s, 'id', { termType: 'EVERGREEN' }));
      },
      'both are active': async () => {
        const all = await subscriptions(z, s.id);
        once(numbers(all), [s['one number'], s['two number']], 'subscriptions');
        assert.deepEqual(
          all.map(({ status }) => status),
          ['Active', 'Active'],
        );
      },
      cancel: async () => {
        const what = { cancellationPolicy: 'SpecificDate', cancellationEffectiveDate: '2026-03-01', invoiceCollect: false };
        const { cancelledDate } = await call<{ cancelledDate: string }>((done) =>
          wrapper(z).put(`/subscriptions/${s['one number']}/cancel`, what, done),
        );
        assert.equal(cancelledDate.slice(0, 10), '2026-03-01');
      },
      'it is cancelled': async () => assert.equal((await subscription(z, s['one number'])).status, 'Cancelled'),
      'the other is not': async () => {
        const { status, termType } = await subscription(z, s['two number']);
        assert.deepEqual([status, termType], ['Active', 'EVERGREEN']);
      },
      'both are still listed': async () =>
        once(numbers(await subscriptions(z, s.id)), [s['one number'], s['two number']], 'subscriptions'),
    }),

    'subscriptions page by page': (z, s) => ({
      'an account with five': async () => {
        await account(z, s, 'id');
        await plan(z, s);
        const made: string[] = [];
        for (const as of ['a', 'b', 'c', 'd', 'e']) {
          await subscribe(z, s, as, subscribing(s, 'id', { notes: `subscription ${as}` }));
          made.push(s[`${as} number`]);
        }
        s.all = made.join(' ');
      },
      'two on a page': async () => {
        const page = await call<Paged & { readonly subscriptions: readonly Subscription[] }>((done) =>
          z.subscription.getByAccount(s.id, { pageSize: 2 }, done),
        );
        assert.equal(page.subscriptions.length, 2);
        assert.ok(page.nextPage);
      },
      'through all pages': async () => once(numbers(await subscriptions(z, s.id, 2)), s.all.split(' '), 'subscriptions'),
      'there are five': async () => assert.equal((await subscriptions(z, s.id, 2)).length, 5),
      'by the number of the account': async () =>
        once(numbers(await subscriptions(z, s['id number'], 3)), s.all.split(' '), 'subscriptions'),
      'each has its own notes': async () => {
        const notes = (await subscriptions(z, s.id, 2)).map((one) => one.notes ?? '');
        assert.deepEqual(
          notes.sort(),
          ['a', 'b', 'c', 'd', 'e'].map((as) => `subscription ${as}`),
        );
      },
    }),

    'to see what it would cost': (z, s) => ({
      'an account and a plan': async () => {
        await account(z, s, 'id');
        await plan(z, s);
      },
      preview: async () => {
        const { success } = await call<Made>((done) => wrapper(z).post('/subscriptions/preview', subscribing(s, 'id'), done));
        assert.equal(success, true);
      },
      'nothing has been made': async () => assert.deepEqual(await subscriptions(z, s.id), []),
      'for whom there is no account': async () => {
        const what = { ...terms(s), previewAccountInfo: { currency: 'USD', billCycleDay: 1 } };
        assert.equal((await call<Made>((done) => wrapper(z).post('/subscriptions/preview', what, done))).success, true);
      },
      'and then it is made': async () => {
        await subscribe(z, s, 'sub', subscribing(s, 'id'));
        once(numbers(await subscriptions(z, s.id)), [s['sub number']], 'subscriptions');
      },
    }),

    'what there is to sell': (z, s) => ({
      'there are products': async () => {
        const all = await products(z, 40);
        const one = given(all[0], 'product');
        [s.id, s.name, s.all] = [one.id, one.name, ids(all).join(' ')];
      },
      'each once': async () => {
        const all = ids(await products(z, 40));
        once(all, s.all.split(' '), 'products');
        once(all, all, 'products');
      },
      'one on a page': async () => {
        const page = await call<Paged & { readonly products: readonly Product[] }>((done) =>
          z.catalog.get({ pageSize: 1 }, done),
        );
        assert.equal(page.products.length, 1);
        assert.equal(Boolean(page.nextPage), s.all.split(' ').length > 1);
      },
      'through all pages': async () => once(ids(await products(z, 1)), s.all.split(' '), 'products'),
      'the same name again': async () =>
        assert.equal(
          given(
            (await products(z, 40)).find(({ id }) => id === s.id),
            'product',
          ).name,
          s.name,
        ),
    }),

    'invoices and payments': (z, s) => ({
      'an account': () => account(z, s, 'id'),
      'it has no invoices': async () => {
        const { invoices } = await call<{ invoices: readonly unknown[] }>((done) =>
          z.transaction.getInvoices(s.id, { pageSize: 40 }, done),
        );
        assert.deepEqual(invoices, []);
      },
      'and has not paid': async () => {
        const { payments } = await call<{ payments: readonly unknown[] }>((done) =>
          z.transaction.getPayments(s.id, { pageSize: 40 }, done),
        );
        assert.deepEqual(payments, []);
      },
      'by its number, too': async () => {
        const { invoices } = await call<{ invoices: readonly unknown[] }>((done) =>
          z.transaction.getInvoices(s['id number'], { pageSize: 40 }, done),
        );
        assert.deepEqual(invoices, []);
      },
      'bills of no one': () =>
        declined(
          call((done) => z.transaction.collect(nothing, {}, done)),
          '40',
        ),
      'invoices of no one': () =>
        declined(
          call((done) => z.transaction.getInvoices(nothing, {}, done)),
          '40',
        ),
      'payments of no one': () =>
        declined(
          call((done) => z.transaction.getPayments(nothing, {}, done)),
          '40',
        ),
    }),

    'what is wrong, and what is not there': (z, s) => ({
      'an account, and a subscription': async () => {
        await account(z, s, 'id');
        await plan(z, s);
        await subscribe(z, s, 'sub', subscribing(s, 'id'));
      },
      /** The guide's example of an error: 53100320, "'termType' value should be one of: TERMED, EVERGREEN". */
      'a term of no kind': () =>
        declined(
          call((done) => z.subscription.update(s['sub number'], { termType: 'SOMETIMES' }, done)),
          '20',
        ),
      'it is as it was': async () => assert.equal((await subscription(z, s['sub number'])).termType, 'TERMED'),
      'a renewal term that is a word': () =>
        declined(
          call((done) => z.subscription.update(s['sub number'], { renewalTerm: 'a month' }, done)),
          '20',
        ),
      'no account': () =>
        declined(
          call((done) => z.account.get(nothing, done)),
          '40',
        ),
      'none to change': () =>
        declined(
          call((done) => z.account.update(nothing, { name: 'Nobody' }, done)),
          '40',
        ),
      'no subscription': () =>
        declined(
          call((done) => z.subscription.getByKey(nothing, done)),
          '40',
        ),
      'none to cancel': () => {
        const what = { cancellationPolicy: 'EndOfCurrentTerm', invoiceCollect: false };
        return declined(
          call((done) => z.subscription.cancel(nothing, what, done)),
          '40',
        );
      },
      'no card': () =>
        declined(
          call((done) => z.payment.del(nothing, done)),
          '40',
        ),
    }),

    'a user who is refused': (z, s, another) => {
      const other = another(Buffer.from('nobody@example.com:no-such-password').toString('base64'));
      return {
        'an account': () => account(z, s, 'id', acme('Mine')),
        'not to read for another': () =>
          declined(
            call((done) => other.account.get(s.id, done)),
            '11',
          ),
        'none to make': () =>
          declined(
            call((done) => other.account.create(acme('Intruder'), done)),
            '11',
          ),
        'not to change': () =>
          declined(
            call((done) => other.account.update(s.id, { name: 'Theirs' }, done)),
            '11',
          ),
        'no catalog': () =>
          declined(
            call((done) => other.catalog.get({ pageSize: 1 }, done)),
            '11',
          ),
        'it is as it was': async () => assert.equal((await read(z, s.id)).basicInfo.name, 'Mine'),
      };
    },
  },
};
