import assert from 'node:assert/strict';
import {
  addresses,
  autocomplete,
  Client,
  checkKeyUsability,
  keys,
  lookupAddress,
  lookupPostcode,
  lookupUdprn,
  lookupUmprn,
  postcodes,
  toAddressIdQuery,
  udprn,
} from '@ideal-postcodes/core-axios';
import { given, once, type Place, refused, type Vendor } from '../kit.ts';

/** Its address is a host; the version is put after it. */
const connect = (place: Place, token: string): Client =>
  new Client({ api_key: token, tls: false, baseUrl: new URL(place.url).host });

/** What the helpers of the client send for one who calls its resources by hand. */
const by = (client: Client): { header: Record<string, string> } => ({ header: toAddressIdQuery({ client }).header });
/** A refusal's status is in a field of the client's own. */
const told = async (answer: Promise<unknown>): Promise<unknown> => {
  try {
    return await answer;
  } catch (thrown) {
    const { httpStatus } = thrown as { readonly httpStatus?: number };
    throw httpStatus === undefined ? thrown : Object.assign(thrown as Error, { status: httpStatus });
  }
};
const turned = (answer: Promise<unknown>, ...statuses: number[]): Promise<unknown> => refused(told(answer), ...statuses);
const codeOf = (thrown: unknown): unknown => (thrown as { response?: { body?: { code?: number } } }).response?.body?.code;
type Asked = Record<string, string>;
const texts = (rows: readonly object[], name: string): string[] =>
  rows.map((row) => String(given((row as Record<string, unknown>)[name], name)));
const bare = (postcode: string): string => postcode.replaceAll(' ', '').toUpperCase();

/** Guide: ideal-postcodes.co.uk, "Testing" of each call with its postcodes and numbers, "Authentication", "Filtering", "Errors"; core-interface's README. */
export const vendor: Vendor<Client> = {
  document: 'ideal-postcodes/ideal-postcodes.co.uk.json',
  header: 'authorization',
  word: 'IDEALPOSTCODES',
  made: 'iddqd',
  hides: true,
  client: connect,
  strict: ['a key that is refused'],
  flows: {
    'the addresses of a postcode': (client) => ({
      'look it up': async () => {
        const found = await lookupPostcode({ client, postcode: 'ID1 1QD' });
        assert.ok(found.length > 0, 'no addresses');
        for (const one of texts(found, 'postcode')) assert.equal(bare(one), 'ID11QD');
      },
      'small letters and no space': async () => {
        const found = await lookupPostcode({ client, postcode: 'id11qd' });
        for (const one of texts(found, 'postcode')) assert.equal(bare(one), 'ID11QD');
        assert.ok(found.length > 0, 'no addresses');
      },
      'each address has lines and a town': async () => {
        for (const one of await lookupPostcode({ client, postcode: 'ID1 1QD' })) {
          assert.equal(typeof one.line_1, 'string');
          assert.equal(typeof one.post_town, 'string');
        }
      },
      'the same each time': async () => {
        const ask = async (): Promise<string[]> => texts(await lookupPostcode({ client, postcode: 'ID1 1QD' }), 'line_1');
        assert.deepEqual(await ask(), await ask());
      },
    }),
    'a postcode that is not there': (client) => ({
      'no address': async () => assert.deepEqual(await lookupPostcode({ client, postcode: 'ID1 KFA' }), []),
      'asked by hand it is refused': async () => {
        const thrown = await turned(postcodes.retrieve(client, 'ID1 KFA', by(client)), 404);
        assert.equal(codeOf(thrown), 4040);
      },
      'others are still found': async () =>
        assert.ok((await lookupPostcode({ client, postcode: 'ID1 1QD' })).length > 0, 'no addresses'),
      'nor another that is none': async () => assert.deepEqual(await lookupPostcode({ client, postcode: 'ZZ99 9ZZ' }), []),
    }),
    'a key whose lookups are used up': (client) => ({
      'no balance': async () => {
        const thrown = await turned(lookupPostcode({ client, postcode: 'ID1 CLIP' }), 402);
        assert.equal(codeOf(thrown), 4020);
      },
      'the limit of a day': async () => {
        const thrown = await turned(lookupPostcode({ client, postcode: 'ID1 CHOP' }), 402);
        assert.equal(codeOf(thrown), 4021);
      },
      'of a number of an address': async () => turned(lookupUdprn({ client, udprn: -2 }), 402),
      'and its limit': async () => turned(lookupUdprn({ client, udprn: -3 }), 402),
      'a test costs nothing': async () => assert.equal((await checkKeyUsability({ client })).available, true),
    }),
    'an address by its number': (client, s) => ({
      find: async () => {
        const one = given(await lookupUdprn({ client, udprn: 0 }), 'address');
        s.postcode = given(one.postcode, 'postcode');
        s.town = given(one.post_town, 'post_town');
      },
      'it is the same again': async () => {
        const one = given(await lookupUdprn({ client, udprn: 0 }), 'address');
        assert.deepEqual([one.postcode, one.post_town], [s.postcode, s.town]);
      },
      'none that is not there': async () => assert.equal(await lookupUdprn({ client, udprn: -1 }), null),
      'asked by hand it is refused': async () => {
        const thrown = await turned(udprn.retrieve(client, '-1', by(client)), 404);
        assert.equal(codeOf(thrown), 4044);
      },
    }),
    'an address of a postcode by its number': (client, s) => ({
      'look the postcode up': async () => {
        const one = given((await lookupPostcode({ client, postcode: 'ID1 1QD' }))[0], 'address');
        s.number = String(given((one as { udprn?: number | string }).udprn, 'udprn'));
        s.line = given(one.line_1, 'line_1');
      },
      'its number leads to it': async () => {
        const one = given(await lookupUdprn({ client, udprn: Number(s.number) }), 'address');
        assert.equal(String(one.udprn), s.number);
        assert.equal(one.line_1, s.line);
      },
      'its postcode is the one': async () => {
        const one = given(await lookupUdprn({ client, udprn: Number(s.number) }), 'address');
        assert.equal(bare(given(one.postcode, 'postcode')), 'ID11QD');
      },
      'it is among those of the postcode once': async () =>
        once(texts(await lookupPostcode({ client, postcode: 'ID1 1QD' }), 'udprn'), [s.number], 'addresses'),
    }),
    'a residence by its number': (client) => ({
      find: async () => {
        const one = given(await lookupUmprn({ client, umprn: 0 }), 'address');
        assert.equal(typeof one.postcode, 'string');
        assert.equal(typeof one.umprn, 'number');
      },
      'none that is not there': async () => assert.equal(await lookupUmprn({ client, umprn: -1 }), null),
      'no balance': async () => turned(lookupUmprn({ client, umprn: -2 }), 402),
      'the limit of a day': async () => turned(lookupUmprn({ client, umprn: -3 }), 402),
    }),
    'some members of an address': (client) => ({
      'of a postcode': async () => {
        const found = await lookupPostcode({ client, postcode: 'ID1 1QD', filter: ['line_1', 'postcode'] });
        assert.ok(found.length > 0, 'no addresses');
        for (const one of found) assert.deepEqual(Object.keys(one).sort(), ['line_1', 'postcode']);
      },
      'of an address': async () => {
        const one = given(await lookupUdprn({ client, udprn: 0, filter: ['line_1', 'post_town'] }), 'address');
        assert.deepEqual(Object.keys(one).sort(), ['line_1', 'post_town']);
      },
      'of a search': async () => {
        for (const one of await lookupAddress({ client, query: 'ID1 1QD', filter: ['postcode'] }))
          assert.deepEqual(Object.keys(one), ['postcode']);
      },
      'all of them without a filter': async () => {
        const one = given(await lookupUdprn({ client, udprn: 0 }), 'address');
        for (const name of ['line_1', 'line_2', 'line_3', 'post_town', 'postcode', 'udprn']) assert.ok(name in one, name);
      },
    }),
    'a search for addresses': (client) => ({
      search: async () => {
        const found = await lookupAddress({ client, query: 'ID1 1QD' });
        assert.ok(found.length > 0, 'no addresses');
        for (const one of found) assert.equal(typeof one.postcode, 'string');
      },
      'no more than ten unless asked': async () => {
        const { body } = await addresses.list(client, { ...by(client), query: { query: 'High Street' } });
        const { hits, limit, page } = body.result;
        assert.deepEqual([limit, page], [10, 0]);
        assert.ok(hits.length <= 10, `${hits.length} of them`);
      },
      'no more than asked': async () =>
        assert.ok((await lookupAddress({ client, query: 'High Street', limit: 2 })).length <= 2, 'more than two'),
      'the limit is told': async () => {
        const { body } = await addresses.list(client, { ...by(client), query: { query: 'High Street', limit: '2' } });
        assert.equal(body.result.limit, 2);
      },
      'not more than the most': async () =>
        turned(addresses.list(client, { ...by(client), query: { query: 'High Street', limit: '1000' } }), 400),
    }),
    'all pages of a search': (client, s) => ({
      'how many there are': async () => {
        const { body } = await addresses.list(client, { ...by(client), query: { query: 'London', limit: '1' } });
        s.total = String(body.result.total);
        assert.equal(body.result.hits.length, Math.min(1, body.result.total));
      },
      'each page is told': async () => {
        for (const page of ['0', '1']) {
          const { body } = await addresses.list(client, { ...by(client), query: { query: 'London', limit: '1', page } });
          assert.equal(body.result.page, Number(page));
        }
      },
      'they have as many as are told': async () => {
        let count = 0;
        for (let page = 0; page <= 10 && count < Number(s.total); page += 1)
          count += (await lookupAddress({ client, query: 'London', limit: 10, page })).length;
        assert.equal(count, Math.min(Number(s.total), 110));
      },
      'nothing after the last': async () => {
        const last = Math.ceil(Number(s.total) / 100);
        if (last <= 10) assert.deepEqual(await lookupAddress({ client, query: 'London', limit: 100, page: last }), []);
      },
    }),
    'whether a key can be used': (client) => ({
      'it can': async () => assert.equal((await checkKeyUsability({ client })).available, true),
      'by its name': async () =>
        assert.equal((await checkKeyUsability({ client, api_key: client.config.api_key })).available, true),
      'it tells the contexts': async () => assert.ok(Array.isArray((await checkKeyUsability({ client })).contexts)),
      'not one that is not there': async () => turned(checkKeyUsability({ client, api_key: 'foo' }), 404),
    }),
    'what a key was used for': (client) => ({
      usage: async () => {
        const { body } = await keys.usage(client, client.config.api_key, {
          ...by(client),
          query: { user_token: 'secret_token' },
        });
        assert.equal(typeof body.result.total, 'number');
        assert.ok(Array.isArray(body.result.dailyCount));
      },
      'its days add up': async () => {
        const { body } = await keys.usage(client, client.config.api_key, {
          ...by(client),
          query: { user_token: 'secret_token' },
        });
        const { total, dailyCount } = body.result;
        assert.equal(
          dailyCount.reduce((sum, { count }) => sum + count, 0),
          total,
        );
      },
      'of some days': async () => {
        const [start, end] = ['1418556452651', '1418642852651'];
        const { body } = await keys.usage(client, client.config.api_key, { ...by(client), query: { start, end } });
        assert.deepEqual([Date.parse(body.result.start), Date.parse(body.result.end)], [Number(start), Number(end)]);
      },
      'of what has a tag': async () => {
        const { body } = await keys.usage(client, client.config.api_key, { ...by(client), query: { tags: 'sales' } });
        assert.equal(typeof body.result.total, 'number');
      },
      'none of a day that is none': async () =>
        turned(keys.usage(client, client.config.api_key, { ...by(client), query: { start: 'yesterday' } }), 400),
    }),
    'suggestions while one types': (client, s) => ({
      suggest: async () => {
        const { body } = await autocomplete.list(client, { ...by(client), query: { query: '10 downing street' } as Asked });
        const one = given(body.result.hits[0], 'suggestion');
        s.id = given(one.id, 'id');
        assert.equal(typeof one.suggestion, 'string');
      },
      'no more than asked': async () => {
        const query = { query: '10 downing street', limit: '1' } as Asked;
        assert.equal((await autocomplete.list(client, { ...by(client), query })).body.result.hits.length, 1);
      },
      'one of them becomes an address': async () => {
        const { body } = await autocomplete.gbr(client, s.id, by(client));
        assert.equal((body.result as { id?: string }).id, s.id);
      },
      'none that is not there': async () => turned(autocomplete.gbr(client, 'paf_0', by(client)), 404),
      'not with a limit that is none': async () => {
        const query = { query: '10 downing street', limit: 'many' } as Asked;
        await turned(autocomplete.list(client, { ...by(client), query }), 400);
      },
    }),
    'an address of the United States': (client, s) => ({
      suggest: async () => {
        const query = { query: '1600 pennsylvania', context: 'usa' } as Asked;
        const { body } = await autocomplete.list(client, { ...by(client), query });
        s.id = given(body.result.hits[0]?.id, 'id');
      },
      'it becomes an address': async () => {
        const { result } = (await autocomplete.usa(client, s.id, by(client))).body;
        assert.equal((result as { id?: string }).id, s.id);
      },
      'with a state and a zip code': async () => {
        const { result } = (await autocomplete.usa(client, s.id, by(client))).body;
        for (const name of ['state', 'zip_code']) assert.ok(name in (result as object), name);
      },
      'none that is not there': async () => turned(autocomplete.usa(client, 'usps_0', by(client)), 404),
    }),
    'what a lookup is for': (client) => ({
      'a postcode with tags': async () =>
        assert.ok((await lookupPostcode({ client, postcode: 'ID1 1QD', tags: ['sales', 'uk'] })).length > 0, 'no addresses'),
      'an address with a tag': async () => given(await lookupUdprn({ client, udprn: 0, tags: ['sales'] }), 'address'),
      'for whom': async () =>
        assert.ok((await lookupPostcode({ client, postcode: 'ID1 1QD', sourceIp: '8.8.8.8' })).length > 0, 'no addresses'),
      'a search with a tag': async () =>
        assert.ok(Array.isArray(await lookupAddress({ client, query: 'ID1 1QD', tags: ['sales'] }))),
    }),
    'a key that is refused': (_client, _s, another) => ({
      'of a postcode': async () => {
        const thrown = await turned(lookupPostcode({ client: another('foo'), postcode: 'ID1 1QD' }), 401);
        assert.equal(codeOf(thrown), 4010);
      },
      'of a search': async () => turned(lookupAddress({ client: another('foo'), query: 'ID1 1QD' }), 401),
      'of an address': async () => turned(lookupUdprn({ client: another('foo'), udprn: 0 }), 401),
      'of a residence': async () => turned(lookupUmprn({ client: another('foo'), umprn: 0 }), 401),
    }),
  },
};
