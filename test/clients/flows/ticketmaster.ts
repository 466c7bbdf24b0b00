import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { given, numbered, once, type Place, refused, type Vendor } from '../kit.ts';

type Query = Record<string, string | readonly string[]>;

/** What the client gives of a search: the description has a bare list, the guide a page of it, which the client unwraps. */
type Found<Row> = readonly Row[] | { readonly items: readonly Row[] };
interface Published<Row> {
  readonly all: (query: Query) => Promise<Found<Row>>;
  readonly find: (id: string) => Promise<Row>;
}
interface Entity {
  readonly id: string;
  readonly type: string;
  readonly name?: string;
  readonly url?: string;
  readonly test?: boolean;
  readonly distance?: number;
}
interface Level {
  readonly id?: string;
  readonly name?: string;
}
interface Classification {
  readonly segment?: Level;
  readonly genre?: Level;
  readonly subGenre?: Level;
  readonly type?: Level;
  readonly subType?: Level;
}
interface Attraction extends Entity {
  readonly classifications?: readonly Classification[];
}
interface Event extends Attraction {
  readonly dates?: { readonly start?: { readonly dateTime?: string } };
}
interface Venue extends Entity {
  readonly country?: { readonly countryCode?: string };
  readonly state?: { readonly stateCode?: string };
}
interface Images {
  readonly id: string;
  readonly type: string;
  readonly images?: readonly { readonly url?: string }[];
}
interface Discovery {
  readonly attraction: Published<Attraction>;
  readonly classification: Published<Classification>;
  readonly event: Published<Event> & { readonly findImages: (id: string) => Promise<Images> };
  readonly venue: Published<Venue>;
}
type Sdk = (apikey: string) => { readonly discovery: { readonly v2: Discovery } };
type Fetch = (url: string, options?: object) => Promise<{ readonly status: number }>;

/** The call whose request goes out next; its status is noted, since the client throws the body of a refusal alone. */
let asked: { status?: number } = {};

const require = createRequire(import.meta.url);
/** Its address is of the whole process. */
const config = require('ticketmaster/dist/node/config.js') as { baseURL: string };

/** The client over the `fetch` that it brings, with an ear at it while the client is loaded. */
const load = (): Sdk => {
  const inner = createRequire(require.resolve('ticketmaster'));
  const real = inner('isomorphic-fetch') as Fetch;
  const held = given(inner.cache[inner.resolve('isomorphic-fetch')], 'module');
  const heard: Fetch = async (url, options) => {
    const mine = asked;
    const answer = await real(url, options);
    mine.status = answer.status;
    return answer;
  };
  held.exports = heard;
  try {
    return require('ticketmaster') as Sdk;
  } finally {
    held.exports = real;
  }
};
const ticketmaster = load();

interface Kind<Row> {
  /** The rows that a search finds. */
  readonly all: (query?: Query) => Promise<readonly Row[]>;
  readonly find: (id: string) => Promise<Row>;
}
interface Client {
  readonly attraction: Kind<Attraction>;
  readonly classification: Kind<Classification>;
  readonly event: Kind<Event> & { readonly findImages: (id: string) => Promise<Images> };
  readonly venue: Kind<Venue>;
}

/** The client itself says `/discovery/v2` before each path, as the description does in its paths too; its key goes in the query, as `apikey`. */
const connect = (place: Place, token: string): Client => {
  const told = async <T>(call: () => Promise<T>): Promise<T> => {
    const mine: { status?: number } = {};
    [asked, config.baseURL] = [mine, place.base];
    try {
      return await call();
    } catch (thrown) {
      if (mine.status === undefined || mine.status === 200) throw thrown;
      const words = thrown instanceof Error ? thrown.message : JSON.stringify(thrown);
      throw Object.assign(new Error(`${mine.status}: ${words}`), { status: mine.status });
    }
  };
  const kind = <Row>(own: Published<Row>): Kind<Row> => ({
    all: async (query = {}) => {
      try {
        const found = await told(() => own.all({ ...query }));
        return 'items' in found ? found.items : found;
      } catch (thrown) {
        // A page that has found nothing has no `_embedded`, which the client does not expect.
        if (thrown instanceof TypeError && /undefined or null to object/.test(thrown.message)) return [];
        throw thrown;
      }
    },
    find: (id) => told(() => own.find(id)),
  });
  const { v2 } = ticketmaster(token).discovery;
  return {
    attraction: kind(v2.attraction),
    classification: kind(v2.classification),
    event: { ...kind(v2.event), findImages: (id) => told(() => v2.event.findImages(id)) },
    venue: kind(v2.venue),
  };
};

const ids = (rows: readonly Entity[]): string[] => rows.map(({ id }) => id);
const names = (rows: readonly Entity[]): string[] => rows.map(({ name }) => given(name, 'name'));
const distances = (rows: readonly Entity[]): number[] => rows.flatMap(({ distance }) => distance ?? []);

const sorted = (all: readonly (string | number)[]): boolean =>
  all.every((one, index) => index === 0 || given(all[index - 1], 'one before') <= one);
/** In the order of the alphabet, whether or not capitals are before all others. */
const ordered = (all: readonly string[]): boolean => sorted(all) || sorted(all.map((one) => one.toLowerCase()));

const levels = ({ segment, genre, subGenre, type, subType }: Classification): Level[] =>
  [segment, genre, subGenre, type, subType].flatMap((level) => level ?? []);

/** A day before or after a time, as the service reads times. */
const day = (time: string, days: number): string =>
  `${new Date(Date.parse(time) + days * 86_400_000).toISOString().slice(0, 19)}Z`;

const nowhere = 'thereIsNoSuchId0';
const downtown = '34.0522,-118.2437';

/** Guide: developer.ticketmaster.com, "Getting started", "Discovery API v2", "API Explorer", and the client's README. */
export const vendor: Vendor<Client> = {
  document: 'ticketmaster/discovery.json',
  header: 'apikey',
  made: '7elxdku9GGG5k8j0Xm8KWdANDgecHMV0',
  client: connect,
  strict: ['a key that is refused'],
  flows: {
    'events, and one of them with its pictures': (t, s) => ({
      'there are some': async () => {
        const rows = await t.event.all();
        const first = given(rows[0], 'first event');
        s.id = given(first.id, 'id');
        s.name = given(first.name, 'name');
        assert.equal(new Set(ids(rows)).size, rows.length);
      },
      'they are events': async () => {
        for (const { id, type } of await t.event.all()) assert.deepEqual([typeof id, type], ['string', 'event']);
      },
      'one of them': async () => {
        const read = await t.event.find(s.id);
        assert.deepEqual([read.id, read.name], [s.id, s.name]);
      },
      'its pictures': async () => {
        const read = await t.event.findImages(s.id);
        assert.deepEqual([read.id, read.type], [s.id, 'event']);
        for (const { url } of given(read.images, 'images')) assert.equal(typeof url, 'string');
      },
      'the same when asked again': async () => assert.deepEqual(await t.event.find(s.id), await t.event.find(s.id)),
    }),

    'attractions, and one of them': (t, s) => ({
      'there are some': async () => {
        const rows = await t.attraction.all();
        const first = given(rows[0], 'first attraction');
        s.id = given(first.id, 'id');
        s.name = given(first.name, 'name');
        for (const { type } of rows) assert.equal(type, 'attraction');
      },
      'one of them': async () => {
        const read = await t.attraction.find(s.id);
        assert.deepEqual([read.id, read.name], [s.id, s.name]);
      },
      'found by its name': async () => once(ids(await t.attraction.all({ keyword: s.name, size: '100' })), [s.id], 'found'),
      'of what kind it is': async () => {
        const [first] = given((await t.attraction.find(s.id)).classifications, 'classifications');
        s.segment = given(given(first, 'first classification').segment?.name, 'name of its segment');
      },
      'it is among those of its kind': async () => {
        const rows = await t.attraction.all({ classificationName: [s.segment], size: '100' });
        once(ids(rows), [s.id], 'found');
      },
      'which are all of it': async () => {
        for (const { id, classifications } of await t.attraction.all({ classificationName: [s.segment] })) {
          const told = given(classifications, 'classifications').flatMap(levels);
          assert.ok(
            told.some(({ name }) => name === s.segment),
            `${id} is none of ${s.segment}`,
          );
        }
      },
    }),

    'venues of a country': (t, s) => ({
      'there are some': async () => {
        const rows = await t.venue.all();
        const first = rows.find(({ country }) => country?.countryCode);
        s.id = given(first, 'venue with a country').id;
        s.country = given(first?.country?.countryCode, 'country');
        for (const { type } of rows) assert.equal(type, 'venue');
      },
      'one of them': async () => {
        const read = await t.venue.find(s.id);
        assert.deepEqual([read.id, read.country?.countryCode], [s.id, s.country]);
      },
      'those of its country': async () => {
        const rows = await t.venue.all({ countryCode: s.country, size: '100' });
        once(ids(rows), [s.id], 'venues');
        for (const { country } of rows) assert.equal(given(country, 'country').countryCode, s.country);
      },
      'those of its state': async () => {
        const stateCode = given((await t.venue.find(s.id)).state?.stateCode, 'state');
        const rows = await t.venue.all({ countryCode: s.country, stateCode, size: '100' });
        once(ids(rows), [s.id], 'venues');
        for (const { state } of rows) assert.equal(given(state, 'state').stateCode, stateCode);
      },
      'none of a country there is not': async () => assert.deepEqual(await t.venue.all({ countryCode: 'ZZ' }), []),
    }),

    'events page by page': (t, s) => ({
      'two of them': async () => {
        const rows = await t.event.all({ size: '2', sort: 'id,asc' });
        assert.ok(rows.length > 0 && rows.length <= 2, `${rows.length} rows of a page of 2`);
        s.first = ids(rows).join(' ');
      },
      'the first page is numbered 0': async () => {
        const rows = await t.event.all({ size: '2', page: '0', sort: 'id,asc' });
        assert.equal(ids(rows).join(' '), s.first);
      },
      'the next are others': async () => {
        const rows = await t.event.all({ size: '2', page: '1', sort: 'id,asc' });
        assert.ok(rows.length <= 2);
        for (const id of ids(rows)) assert.ok(!s.first.split(' ').includes(id), `${id} is on both pages`);
      },
      'a longer page begins with them': async () => {
        const rows = ids(await t.event.all({ size: '4', sort: 'id,asc' }));
        const second = ids(await t.event.all({ size: '2', page: '1', sort: 'id,asc' }));
        assert.deepEqual(rows, [...s.first.split(' '), ...second]);
      },
      'five pages have no event twice': async () => {
        const ask = async (page: number) =>
          page < 5 ? ids(await t.event.all({ size: '2', page: String(page), sort: 'id,asc' })) : [];
        const all = await numbered(ask, 0, 6);
        assert.equal(new Set(all).size, all.length);
      },
    }),

    'attractions by their names': (t) => ({
      'from A to Z': async () => {
        const all = names(await t.attraction.all({ sort: 'name,asc', size: '50' }));
        assert.ok(ordered(all), `not in order: ${all.slice(0, 4).join(', ')}`);
      },
      'from Z to A': async () => {
        const all = names(await t.attraction.all({ sort: 'name,desc', size: '50' })).reverse();
        assert.ok(ordered(all), `not in order: ${all.slice(0, 4).join(', ')}`);
      },
      'the last begins the other way round': async () => {
        const [first] = names(await t.attraction.all({ sort: 'name,asc', size: '1' }));
        const [last] = names(await t.attraction.all({ sort: 'name,desc', size: '1' }));
        assert.ok(ordered([given(first, 'first name'), given(last, 'last name')]), `${first} is after ${last}`);
      },
      'over two pages': async () => {
        const pages = ['0', '1'].map((page) => t.attraction.all({ sort: 'name,asc', size: '3', page }));
        const all = (await Promise.all(pages)).flatMap(names);
        assert.ok(ordered(all), `not in order: ${all.join(', ')}`);
      },
    }),

    'events of a time': (t, s) => ({
      'one whose time is known': async () => {
        const rows = await t.event.all({ size: '50' });
        const first = given(
          rows.find(({ dates }) => dates?.start?.dateTime),
          'event with a time',
        );
        s.id = first.id;
        s.time = given(first.dates?.start?.dateTime, 'time');
      },
      'from the day before to the day after': async () => {
        const window = { startDateTime: day(s.time, -1), endDateTime: day(s.time, 1), size: '100' };
        once(ids(await t.event.all(window)), [s.id], 'events');
      },
      'none begins at another time': async () => {
        const window = { startDateTime: day(s.time, -1), endDateTime: day(s.time, 1), size: '100' };
        for (const { id, dates } of await t.event.all(window)) {
          const off = Math.abs(Date.parse(given(dates?.start?.dateTime, `time of ${id}`)) - Date.parse(s.time));
          assert.ok(off <= 86_400_000, `${id} begins at ${dates?.start?.dateTime}`);
        }
      },
      'not from two days after': async () =>
        assert.ok(!ids(await t.event.all({ startDateTime: day(s.time, 2), size: '100' })).includes(s.id)),
      'nor until two days before': async () =>
        assert.ok(!ids(await t.event.all({ endDateTime: day(s.time, -2), size: '100' })).includes(s.id)),
      'the earliest first': async () => {
        const rows = await t.event.all({ sort: 'date,asc', size: '50' });
        const times = rows.flatMap(({ dates }) => dates?.start?.dateTime ?? []).map((time) => Date.parse(time));
        assert.ok(sorted(times), 'not in the order of their times');
      },
    }),

    'what is near': (t) => ({
      'venues within 20 miles': async () => {
        const rows = await t.venue.all({ latlong: downtown, radius: '20', unit: 'miles' });
        for (const far of distances(rows)) assert.ok(far <= 20, `${far} miles`);
      },
      'within 20 kilometres': async () => {
        const rows = await t.venue.all({ latlong: downtown, radius: '20', unit: 'km' });
        for (const far of distances(rows)) assert.ok(far <= 20, `${far} kilometres`);
      },
      'the nearest first': async () => {
        const rows = await t.venue.all({ latlong: downtown, radius: '500', sort: 'distance,asc' });
        assert.ok(sorted(distances(rows)), 'not in the order of distance');
      },
      'events within 50 miles': async () => {
        const rows = await t.event.all({ latlong: downtown, radius: '50', unit: 'miles', sort: 'distance,asc' });
        for (const far of distances(rows)) assert.ok(far <= 50, `${far} miles`);
        assert.ok(sorted(distances(rows)), 'not in the order of distance');
      },
    }),

    'what kinds there are': (t, s) => ({
      'some of segments': async () => {
        const rows = await t.classification.all();
        const { segment } = given(
          rows.find((row) => row.segment?.id),
          'classification with a segment',
        );
        s.id = given(segment?.id, 'id of the segment');
        s.name = given(segment?.name, 'name of the segment');
      },
      'one of them': async () => {
        const { segment } = await t.classification.find(s.id);
        assert.deepEqual([segment?.id, segment?.name], [s.id, s.name]);
      },
      'found by its id': async () => {
        const rows = await t.classification.all({ id: s.id });
        assert.ok(rows.length > 0, 'none found');
        for (const row of rows) assert.ok(levels(row).some(({ id }) => id === s.id));
      },
      'the segment alone': async () => {
        const read = (await t.classification.find(`segments/${s.id}`)) as Level;
        assert.deepEqual([read.id, read.name], [s.id, s.name]);
      },
      'events of that kind': async () => {
        for (const { id, classifications } of await t.event.all({ classificationId: [s.id] })) {
          const told = given(classifications, 'classifications').flatMap(levels);
          assert.ok(
            told.some((level) => level.id === s.id),
            `${id} is none of ${s.name}`,
          );
        }
      },
    }),

    'searches that narrow': (t, s) => ({
      'an event by its id': async () => {
        s.id = given((await t.event.all({ size: '1' }))[0], 'first event').id;
        assert.deepEqual(ids(await t.event.all({ id: s.id })), [s.id]);
      },
      'by its name': async () => {
        const { name } = await t.event.find(s.id);
        once(ids(await t.event.all({ keyword: given(name, 'name'), size: '100' })), [s.id], 'found');
      },
      'by its name, and another id': async () => {
        const { name } = await t.event.find(s.id);
        assert.deepEqual(await t.event.all({ keyword: given(name, 'name'), id: nowhere }), []);
      },
      'no attraction of words that nobody has': async () =>
        assert.deepEqual(await t.attraction.all({ keyword: 'xqzjvkwyqpzx' }), []),
      'no events of a venue that is not there': async () => assert.deepEqual(await t.event.all({ venueId: nowhere }), []),
      'no tests, where they are not asked for': async () => {
        for (const { id, test } of await t.event.all({ size: '50' })) assert.notEqual(test, true, `${id} is a test`);
      },
    }),

    'what is not there': (t) => ({
      'an event': () => refused(t.event.find(nowhere), 404),
      'its pictures': () => refused(t.event.findImages(nowhere), 404),
      'an attraction': () => refused(t.attraction.find(nowhere), 404),
      'a venue': () => refused(t.venue.find(nowhere), 404),
      'a kind': async () => {
        await refused(t.classification.find(nowhere), 404);
        await refused(t.classification.find(`genres/${nowhere}`), 404);
      },
    }),

    'what is wrong': (t) => ({
      'in an order there is not': () => refused(t.attraction.all({ sort: 'size,asc' }), 400),
      'near a place that is none': () => refused(t.venue.all({ latlong: 'north,south' }), 400),
      'within a distance that is none': () => refused(t.event.all({ latlong: downtown, radius: 'far' }), 400),
      'in a unit there is not': () => refused(t.event.all({ latlong: downtown, radius: '5', unit: 'parsecs' }), 400),
      'of a market that has no number': () => refused(t.event.all({ marketId: 'london' }), 400),
      'a page that is too long': () => refused(t.event.all({ size: '501' }), 400),
    }),

    'a key that is refused': (_t, _s, another) => ({
      'no events': () => refused(another('nobodyHasThisKey').event.all(), 401),
      'no venues': () => refused(another('nobodyHasThisKey').venue.all({ countryCode: 'US' }), 401),
      'none of them alone': () => refused(another('nobodyHasThisKey').attraction.find(nowhere), 401),
      'no key at all': () => refused(another('').event.all(), 401),
    }),
  },
};
