import assert from 'node:assert/strict';
import { type AccountResource, type TransactionResource, UpApi } from 'up-bank-api';
import { given, once, type Place, pages, refused, type State, type Vendor } from '../kit.ts';

type Next = null | (() => Promise<unknown>);
/** What the client sends with: it makes it of the token, and keeps its address as a field. */
interface Sender {
  readonly api: { readonly defaults: { baseURL?: string } };
  readonly get: (url: string) => Promise<unknown>;
  processLink: (link: string | null) => Next;
}

/** The client has no option for another address, but a field; from the links of a page it cuts as much as the vendor's own address is long. */
const connect = (place: Place, token: string): UpApi => {
  const up = new UpApi(token);
  const sender = (up as unknown as { readonly api: Sender }).api;
  sender.api.defaults.baseURL = `${place.base}/`;
  const own = sender.processLink.bind(sender);
  sender.processLink = (link) => (link?.startsWith(place.url) ? () => sender.get(link) : own(link));
  return up;
};

type Hook = Awaited<ReturnType<UpApi['webhooks']['create']>>['data'];
type Page<Row> = { readonly data: readonly Row[]; readonly links: { readonly next: null | (() => Promise<Page<Row>>) } };

const ids = (rows: readonly { readonly id: string }[]): string[] => rows.map(({ id }) => id);
/** One webhook: its type says that it is the answer's data, while the answer is what is told. */
const hook = async (up: UpApi, id: string): Promise<Hook> => ((await up.webhooks.retrieve(id)) as unknown as { data: Hook }).data;
const event = async (up: UpApi, id: string) =>
  ((await up.webhooks.ping(id)) as unknown as { data: Awaited<ReturnType<UpApi['webhooks']['ping']>> }).data;
/** Page after page, as the list's own `next` leads. */
const walk = <Row>(first: () => Promise<Page<Row>>): Promise<Row[]> => {
  let next: null | (() => Promise<Page<Row>>) = first;
  return pages(
    async () => {
      const page = await given(next, 'next page')();
      next = page.links.next;
      return page;
    },
    ({ data }) => data,
    ({ links }) => (links.next === null ? undefined : 'another'),
  );
};
const account = async (up: UpApi): Promise<AccountResource> => given((await up.accounts.list()).data[0], 'account');
const transaction = async (up: UpApi): Promise<TransactionResource> =>
  given((await up.transactions.list()).data[0], 'transaction');
const tagsOf = async (up: UpApi, s: State): Promise<string[]> =>
  ids((await up.transactions.retrieve(s.id)).data.relationships.tags.data);
const money = ({ currencyCode, value, valueInBaseUnits }: AccountResource['attributes']['balance']): void => {
  assert.deepEqual([typeof currencyCode, typeof value], ['string', 'string']);
  assert.ok(Number.isInteger(valueInBaseUnits), String(valueInBaseUnits));
};
const missing = '00000000-0000-4000-8000-000000000000';

/** Guide: developer.up.com.au (accounts, categories, tags, transactions, utility endpoints, webhooks; pagination, errors). */
export const vendor: Vendor<UpApi> = {
  document: 'up/up.com.au.json',
  header: 'authorization',
  word: 'Bearer',
  made: 'up:yeah:made-up',
  client: connect,
  strict: ['a token that is refused', 'whether the token is right'],
  flows: {
    'whether the token is right': (up, _s, another) => ({
      asked: async () => {
        const { meta } = await up.util.ping();
        assert.deepEqual([typeof meta.id, typeof meta.statusEmoji], ['string', 'string']);
      },
      'the same caller each time': async () => assert.equal((await up.util.ping()).meta.id, (await up.util.ping()).meta.id),
      'not with a wrong one': () => refused(another('up:yeah:wrong').util.ping(), 401),
    }),

    'a webhook, from the first to the last day': (up, s) => ({
      made: async () => {
        const { data } = await up.webhooks.create('https://example.com/webhook', 'Example webhook');
        assert.equal(data.type, 'webhooks');
        assert.deepEqual([data.attributes.url, data.attributes.description], ['https://example.com/webhook', 'Example webhook']);
        assert.equal(typeof data.attributes.secretKey, 'string');
        assert.ok(!Number.isNaN(Date.parse(data.attributes.createdAt)), data.attributes.createdAt);
        s.id = data.id;
      },
      read: async () => {
        const read = await hook(up, s.id);
        assert.deepEqual([read.id, read.type, read.attributes.url], [s.id, 'webhooks', 'https://example.com/webhook']);
      },
      'its key was told that one time': async () => assert.equal((await hook(up, s.id)).attributes.secretKey, undefined),
      'is in the list': async () => once(ids((await up.webhooks.list({ pageSize: 100 })).data), [s.id], 'webhooks'),
      'deleted without a word': async () => assert.ok(!(await (up.webhooks.delete(s.id) as Promise<unknown>)), 'a word'),
      'gone afterwards': () => refused(up.webhooks.retrieve(s.id), 404),
      'no longer in the list': async () =>
        assert.ok(!ids((await up.webhooks.list({ pageSize: 100 })).data).includes(s.id), 'it is'),
    }),

    'a webhook that is tried': (up, s) => ({
      made: async () => {
        s.id = (await up.webhooks.create('https://example.com/tried')).data.id;
      },
      'without a description': async () => assert.equal((await hook(up, s.id)).attributes.description ?? null, null),
      tried: async () => {
        const sent = await event(up, s.id);
        assert.deepEqual([sent.type, sent.attributes.eventType], ['webhook-events', 'PING']);
        assert.equal(sent.relationships.webhook.data.id, s.id);
        assert.equal(typeof sent.id, 'string');
      },
      'an event of its own each time': async () => assert.notEqual((await event(up, s.id)).id, (await event(up, s.id)).id),
      'none that is not there': () => refused(up.webhooks.ping(missing), 404),
    }),

    'webhooks through all pages': (up, s) => ({
      'five are made': async () => {
        const made: string[] = [];
        for (let n = 1; n <= 5; n += 1) made.push((await up.webhooks.create(`https://example.com/${n}`, `No. ${n}`)).data.id);
        assert.equal(new Set(made).size, 5);
        s.ids = made.join(',');
      },
      'two on a page, and there is another': async () => {
        const { data, links } = await up.webhooks.list({ pageSize: 2 });
        assert.equal(data.length, 2);
        assert.equal(typeof given(links.next, 'next page'), 'function');
        assert.equal(links.prev, null);
      },
      'page after page': async () => once(ids(await walk(() => up.webhooks.list({ pageSize: 2 }))), s.ids.split(','), 'pages'),
      'and back': async () => {
        const first = await up.webhooks.list({ pageSize: 2 });
        const second = await given(first.links.next, 'next page')();
        const back = await given(second.links.prev, 'page before')();
        assert.deepEqual(ids(back.data), ids(first.data));
      },
      'the last has none after it': async () => assert.equal((await up.webhooks.list({ pageSize: 100 })).links.next, null),
    }),

    'two webhooks, one of which goes': (up, s) => ({
      'two are made': async () => {
        s.one = (await up.webhooks.create('https://example.com/one', 'One')).data.id;
        s.two = (await up.webhooks.create('https://example.com/two', 'Two')).data.id;
        assert.notEqual(s.one, s.two);
      },
      'each is what it was made': async () => {
        assert.equal((await hook(up, s.one)).attributes.description, 'One');
        assert.equal((await hook(up, s.two)).attributes.description, 'Two');
      },
      'one goes': () => up.webhooks.delete(s.one),
      'the other stays': async () => assert.equal((await hook(up, s.two)).attributes.url, 'https://example.com/two'),
      'which goes does not go twice': () => refused(up.webhooks.delete(s.one), 404),
    }),

    accounts: (up, s) => ({
      list: async () => {
        const one = await account(up);
        assert.equal(one.type, 'accounts');
        assert.ok(['SAVER', 'TRANSACTIONAL', 'HOME_LOAN'].includes(one.attributes.accountType), one.attributes.accountType);
        money(one.attributes.balance);
        s.id = one.id;
      },
      'one of them': async () => {
        const { data } = await up.accounts.retrieve(s.id);
        assert.deepEqual([data.id, data.type], [s.id, 'accounts']);
      },
      'as it is in the list': async () => {
        const listed = (await up.accounts.list({ pageSize: 100 })).data.find(({ id }) => id === s.id);
        assert.deepEqual((await up.accounts.retrieve(s.id)).data.attributes, listed?.attributes);
      },
      'not more on a page than asked': async () => assert.equal((await up.accounts.list({ pageSize: 1 })).data.length, 1),
      'none that is not there': () => refused(up.accounts.retrieve(missing), 404),
    }),

    'accounts through all pages': (up) => ({
      'page after page': async () => {
        const all = ids((await up.accounts.list({ pageSize: 100 })).data);
        const found = ids(await walk(() => up.accounts.list({ pageSize: 1 })));
        once(found, all, 'pages');
        assert.equal(found.length, all.length);
      },
      'the first has none before it': async () => assert.equal((await up.accounts.list({ pageSize: 1 })).links.prev, null),
      'a page has a number of rows': () => refused(up.accounts.list({ pageSize: 'many' as never }), 400),
    }),

    categories: (up, s) => ({
      list: async () => {
        const one = given((await up.categories.list()).data[0], 'category');
        assert.deepEqual([one.type, typeof one.attributes.name], ['categories', 'string']);
        assert.ok(Array.isArray(one.relationships.children.data), 'children');
        s.id = one.id;
      },
      'one of them': async () => {
        const { data } = await up.categories.retrieve(s.id);
        assert.deepEqual([data.id, data.type], [s.id, 'categories']);
      },
      'those below one': async () => {
        for (const { relationships } of (await up.categories.list({ parent: s.id })).data)
          assert.equal(relationships.parent.data?.id, s.id);
      },
      'none that is not there': () => refused(up.categories.retrieve('no-such-category'), 404),
      'nor those below it': () => refused(up.categories.list({ parent: 'no-such-category' }), 404),
    }),

    transactions: (up, s) => ({
      list: async () => {
        const one = await transaction(up);
        assert.equal(one.type, 'transactions');
        assert.ok(['HELD', 'SETTLED'].includes(one.attributes.status), one.attributes.status);
        assert.equal(typeof one.attributes.description, 'string');
        money(one.attributes.amount);
        s.id = one.id;
      },
      'one of them': async () => assert.equal((await up.transactions.retrieve(s.id)).data.id, s.id),
      'as it is in the list': async () => {
        const listed = (await up.transactions.list({ pageSize: 100 })).data.find(({ id }) => id === s.id);
        assert.deepEqual((await up.transactions.retrieve(s.id)).data.attributes, listed?.attributes);
      },
      'page after page': async () => {
        const all = ids((await up.transactions.list({ pageSize: 100 })).data);
        once(ids(await walk(() => up.transactions.list({ pageSize: 1 }))), all, 'pages');
      },
      'none that is not there': () => refused(up.transactions.retrieve(missing), 404),
    }),

    'transactions of a kind': (up, s) => ({
      settled: async () => {
        for (const { attributes } of (await up.transactions.list({ filterStatus: 'SETTLED' })).data)
          assert.equal(attributes.status, 'SETTLED');
      },
      held: async () => {
        for (const { attributes } of (await up.transactions.list({ filterStatus: 'HELD' })).data)
          assert.equal(attributes.status, 'HELD');
      },
      'either the one or the other': async () => {
        const count = async (filterStatus?: string) =>
          (await up.transactions.list({ pageSize: 100, ...(filterStatus === undefined ? {} : { filterStatus }) })).data.length;
        assert.equal((await count('SETTLED')) + (await count('HELD')), await count());
      },
      'since a time': async () => {
        s.since = '2020-01-01T01:02:03Z';
        for (const { attributes } of (await up.transactions.list({ filterSince: s.since })).data)
          assert.ok(Date.parse(attributes.createdAt) >= Date.parse(s.since), attributes.createdAt);
      },
      'until a time': async () => {
        for (const { attributes } of (await up.transactions.list({ filterUntil: s.since })).data)
          assert.ok(Date.parse(attributes.createdAt) < Date.parse(s.since), attributes.createdAt);
      },
      'not of a status that there is not': () => refused(up.transactions.list({ filterStatus: 'LOST' }), 400),
    }),

    'transactions of an account': (up, s) => ({
      'an account': async () => {
        s.id = (await account(up)).id;
      },
      'its own alone': async () => {
        for (const { type, relationships } of (await up.transactions.listByAccount(s.id)).data)
          assert.deepEqual([type, relationships.account.data.id], ['transactions', s.id]);
      },
      'not more on a page than asked': async () =>
        assert.ok((await up.transactions.listByAccount(s.id, { pageSize: 1 })).data.length <= 1, 'more'),
      'of a status': async () => {
        for (const { attributes } of (await up.transactions.listByAccount(s.id, { filterStatus: 'SETTLED' })).data)
          assert.equal(attributes.status, 'SETTLED');
      },
      'of an account that is not there': () => refused(up.transactions.listByAccount(missing), 404),
    }),

    'tags of a transaction': (up, s) => ({
      'a transaction': async () => {
        s.id = (await transaction(up)).id;
      },
      'two put on it': () =>
        up.tags.addTagsToTransaction(s.id, [
          { type: 'tags', id: 'Holiday' },
          { type: 'tags', id: 'Queensland' },
        ]),
      'they are on it': async () => once(await tagsOf(up, s), ['Holiday', 'Queensland'], 'tags'),
      'found by one of them': async () => once(ids((await up.transactions.list({ filterTag: 'Holiday' })).data), [s.id], 'rows'),
      'one taken off': () => up.tags.removeTagsFromTransaction(s.id, [{ type: 'tags', id: 'Holiday' }]),
      'the other stays': async () => {
        const tags = await tagsOf(up, s);
        assert.ok(!tags.includes('Holiday'), 'it is still there');
        once(tags, ['Queensland'], 'tags');
      },
      'none on what is not there': () => refused(up.tags.addTagsToTransaction(missing, [{ type: 'tags', id: 'Holiday' }]), 404),
    }),

    'tags in use': (up, s) => ({
      'a tag put on a transaction': async () => {
        s.id = (await transaction(up)).id;
        await up.tags.addTagsToTransaction(s.id, [{ type: 'tags', id: 'Pizza Night' }]);
      },
      'it is listed': async () => {
        const { data } = await up.tags.list({ pageSize: 100 });
        for (const { type } of data) assert.equal(type, 'tags');
        once(ids(data), ['Pizza Night'], 'tags');
      },
      'page after page': async () =>
        once(ids(await walk(() => up.tags.list({ pageSize: 1 }))), ids((await up.tags.list({ pageSize: 100 })).data), 'pages'),
    }),

    'a token that is refused': (_up, _s, another) => ({
      'when it is tried': async () => {
        const thrown = await refused(another('up:yeah:wrong').util.ping(), 401);
        const { errors } = (thrown as { response: { data: { errors: { status: string; title: string }[] } } }).response.data;
        assert.deepEqual([errors[0]?.status, typeof errors[0]?.title], ['401', 'string']);
      },
      'for accounts': () => refused(another('up:yeah:wrong').accounts.list(), 401),
      'for a webhook': () => refused(another('up:yeah:wrong').webhooks.create('https://example.com/stolen'), 401),
    }),

    'what is not there, and what is not right': (up) => ({
      'no such webhook': () => refused(up.webhooks.retrieve(missing), 404),
      'none to delete': () => refused(up.webhooks.delete(missing), 404),
      'a webhook has an address': () => refused(up.webhooks.create(undefined as never, 'Nowhere'), 400, 422),
      'which is one': () => refused(up.webhooks.create(7 as never, 'Seven'), 400, 422),
      'a page has a number of rows': () => refused(up.webhooks.list({ pageSize: 'many' as never }), 400),
    }),
  },
};
