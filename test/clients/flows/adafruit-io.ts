import assert from 'node:assert/strict';
import { given, once, type Place, pages, refused, type State, type Vendor } from '../kit.ts';

/**
 * The vendor's package (`adafruit-io` 4.4.0) has no calls of its own: it makes them of a Swagger 2.0 text, which it asks of the
 * host that it is pointed at, at `/api/docs/v1.json`, of the API before this one. So these are the calls of the vendor's guide,
 * as its examples do them: an address, the header `X-AIO-Key` and JSON.
 */
const connect = (place: Place, token: string) => {
  const send = async <T>(method: string, path: string, body?: unknown, type = 'application/json'): Promise<T> => {
    const response = await fetch(`${place.base}${path}`, {
      method,
      headers: { 'X-AIO-Key': token, Accept: 'application/json', ...(body !== undefined && { 'Content-Type': type }) },
      ...(body !== undefined && { body: type === 'application/json' ? JSON.stringify(body) : String(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw Object.assign(new Error(`${response.status}: ${text}`), { status: response.status });
    return (response.headers.get('content-type')?.includes('json') && text !== '' ? JSON.parse(text) : text) as T;
  };
  return {
    get: <T>(path: string, query: Record<string, string | number> = {}) => {
      const asked = new URLSearchParams(
        Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
      ).toString();
      return send<T>('GET', asked === '' ? path : `${path}?${asked}`);
    },
    post: <T>(path: string, body?: unknown, type?: string) => send<T>('POST', path, body, type),
    patch: <T>(path: string, body: unknown) => send<T>('PATCH', path, body),
    put: <T>(path: string, body: unknown) => send<T>('PUT', path, body),
    remove: (path: string) => send<unknown>('DELETE', path),
  };
};
type Io = ReturnType<typeof connect>;

interface Feed {
  readonly id: number;
  readonly key: string;
  readonly name: string;
  readonly description?: string | null;
  readonly license?: string | null;
  readonly last_value?: string | null;
  readonly details?: { readonly data?: { readonly count?: number } };
}
interface Data {
  readonly id: string;
  readonly value: string;
  readonly feed_id?: number;
  readonly created_at: string;
  readonly lat?: number | string | null;
  readonly lon?: number | string | null;
  readonly ele?: number | string | null;
}
interface Group {
  readonly id: number;
  readonly name: string;
  readonly description?: string | null;
  readonly feeds?: readonly Feed[];
}
interface Dashboard {
  readonly key: string;
  readonly name: string;
  readonly description?: string | null;
}
interface Block {
  readonly id?: string | number;
  readonly key?: string;
  readonly name: string;
  readonly visual_type: string;
  readonly row?: number;
  readonly column?: number;
  readonly size_x?: number;
  readonly size_y?: number;
}
interface Permission {
  readonly id: number;
  readonly scope: string;
  readonly scope_value?: string | null;
}
interface Activity {
  readonly id: number;
  readonly action: string;
  readonly model: string;
}

/** Whose account it is: it is known beforehand, and in every path. */
const me = '/io_username';

/** A wrong body or query: the description has no status for it, the guide's table of errors has these. */
const wrong = [400, 422];

const feed = async (io: Io, s: State, key: string): Promise<Feed> => {
  const made = await io.post<Feed>(`${me}/feeds`, { key, name: `Feed ${key}` });
  s.key = given(made.key, 'key');
  s.feed = `${me}/feeds/${s.key}`;
  return made;
};
const add = async (io: Io, s: State, value: string, asked: object = {}): Promise<Data> =>
  io.post<Data>(`${s.feed}/data`, { value, ...asked });
const group = async (io: Io, s: State, key: string): Promise<Group> => {
  const made = await io.post<Group>(`${me}/groups`, { key, name: `Group ${key}`, description: 'Made by a flow' });
  s.group = `${me}/groups/${key}`;
  return made;
};
const dashboard = async (io: Io, s: State, key: string): Promise<Dashboard> => {
  const made = await io.post<Dashboard>(`${me}/dashboards`, { key, name: `Dashboard ${key}`, description: 'Made by a flow' });
  s.dashboard = `${me}/dashboards/${key}`;
  return made;
};
/** Blocks are found by the id that the service gives them, which the description leaves out, or by the key sent. */
const idOf = ({ id, key }: { readonly id?: string | number; readonly key?: string }): string => String(given(id ?? key, 'id'));

/** Five values, a minute apart, the oldest first. */
const minutes = [
  '2026-03-02T10:00:00Z',
  '2026-03-02T10:01:00Z',
  '2026-03-02T10:02:00Z',
  '2026-03-02T10:03:00Z',
  '2026-03-02T10:04:00Z',
];
const five = (io: Io, s: State): Promise<readonly Data[]> =>
  io.post<readonly Data[]>(
    `${s.feed}/data/batch`,
    minutes.map((created_at, n) => ({ value: String(20 + n), created_at })),
  );
const values = (rows: readonly Data[]): string[] => rows.map(({ value }) => value);

/** Guide: io.adafruit.com/api/docs ("Authentication", "Data Format", "HTTP Status Codes", "Pagination", "Feeds", "Data", "Groups"). */
export const vendor: Vendor<Io> = {
  document: 'adafruit-io/adafruit.com.json',
  header: 'X-AIO-Key',
  made: 'aio_kQ4vX7cN2bL5sR9wD3fG6hJ0aYzT',
  client: connect,
  strict: ['a key that is refused'],
  flows: {
    'a feed is made, changed and deleted': (io, s) => ({
      make: async () => {
        const asked = {
          key: 'greenhouse-temperature',
          name: 'Greenhouse Temperature',
          description: 'In degrees',
          license: 'MIT',
        };
        const made = await io.post<Feed>(`${me}/feeds`, asked);
        assert.partialDeepStrictEqual(made, asked);
        s.feed = `${me}/feeds/${made.key}`;
        s.id = String(given(made.id, 'id'));
      },
      read: async () => {
        const { id, key, name, description } = await io.get<Feed>(s.feed);
        assert.deepEqual(
          [String(id), key, name, description],
          [s.id, 'greenhouse-temperature', 'Greenhouse Temperature', 'In degrees'],
        );
      },
      list: async () => {
        const rows = await io.get<Feed[]>(`${me}/feeds`);
        once(
          rows.map(({ key }) => key),
          ['greenhouse-temperature'],
          'feeds',
        );
      },
      change: async () => {
        const changed = await io.patch<Feed>(s.feed, { description: 'In kelvin' });
        assert.deepEqual([changed.description, changed.name], ['In kelvin', 'Greenhouse Temperature']);
      },
      'it stays changed': async () => {
        const { id, name, description } = await io.get<Feed>(s.feed);
        assert.deepEqual([String(id), name, description], [s.id, 'Greenhouse Temperature', 'In kelvin']);
      },
      delete: () => io.remove(s.feed),
      'it is gone': () => refused(io.get(s.feed), 404),
      'it is not listed': async () => {
        const rows = await io.get<Feed[]>(`${me}/feeds`);
        assert.ok(!rows.some(({ key }) => key === 'greenhouse-temperature'), 'still listed');
      },
    }),

    'a feed is replaced': (io, s) => ({
      'a feed': () => feed(io, s, 'pump'),
      'replaced by another of its key': async () => {
        const asked = { key: 'pump', name: 'Water Pump', description: 'On or off', license: 'CC0' };
        assert.partialDeepStrictEqual(await io.put<Feed>(s.feed, asked), asked);
      },
      'read so': async () => {
        const { key, name, description, license } = await io.get<Feed>(s.feed);
        assert.deepEqual([key, name, description, license], ['pump', 'Water Pump', 'On or off', 'CC0']);
      },
      'still one': async () => {
        const rows = await io.get<Feed[]>(`${me}/feeds`);
        once(
          rows.map(({ key }) => key),
          ['pump'],
          'feeds',
        );
      },
      'none is replaced that is not there': () => refused(io.put(`${me}/feeds/never-made`, { name: 'Nothing' }), 404),
    }),

    'a value of a feed': (io, s) => ({
      'a feed': () => feed(io, s, 'counter'),
      add: async () => {
        const made = await add(io, s, '42');
        assert.equal(made.value, '42');
        s.id = String(given(made.id, 'id'));
      },
      read: async () => {
        const { id, value } = await io.get<Data>(`${s.feed}/data/${s.id}`);
        assert.deepEqual([String(id), value], [s.id, '42']);
      },
      'it is the last': async () => assert.equal((await io.get<Data>(`${s.feed}/data/last`)).value, '42'),
      change: async () => assert.equal((await io.patch<Data>(`${s.feed}/data/${s.id}`, { value: '43' })).value, '43'),
      'it stays changed': async () => assert.deepEqual(values(await io.get<Data[]>(`${s.feed}/data`)), ['43']),
      'delete, and it is gone': async () => {
        await io.remove(`${s.feed}/data/${s.id}`);
        await refused(io.get(`${s.feed}/data/${s.id}`), 404);
      },
      'the feed has none': async () => assert.deepEqual(await io.get<Data[]>(`${s.feed}/data`), []),
    }),

    'where and when a value was': (io, s) => ({
      'a feed': () => feed(io, s, 'bicycle'),
      'a value with its place and time': async () => {
        const asked = { lat: '40.726190', lon: '-74.005334', ele: '6', created_at: '2026-03-02T08:30:00Z' };
        s.id = String((await add(io, s, 'locked', asked)).id);
      },
      'both are read': async () => {
        const { value, lat, lon, ele, created_at } = await io.get<Data>(`${s.feed}/data/${s.id}`);
        assert.deepEqual([value, Number(lat), Number(lon), Number(ele)], ['locked', 40.72619, -74.005334, 6]);
        assert.equal(Date.parse(created_at), Date.parse('2026-03-02T08:30:00Z'));
      },
      'in one line for a broker': async () => {
        const line = String(await io.get<unknown>(`${s.feed}/data/retain`)).trim();
        const [value, lat, lon, ele] = line.split(',');
        assert.deepEqual([value, Number(lat), Number(lon), Number(ele)], ['locked', 40.72619, -74.005334, 6]);
      },
      'only what is asked for': async () => {
        const row = await io.get<Data>(`${s.feed}/data/${s.id}`, { include: 'value,created_at' });
        assert.equal(row.value, 'locked');
        assert.deepEqual([Object.hasOwn(row, 'lat'), Object.hasOwn(row, 'lon')], [false, false]);
      },
    }),

    'values through all pages': (io, s) => ({
      'a feed': () => feed(io, s, 'barometer'),
      'five values in one call': async () => {
        const made = await five(io, s);
        assert.deepEqual(values(made).toSorted(), ['20', '21', '22', '23', '24']);
      },
      'all of them, the newest first': async () =>
        assert.deepEqual(values(await io.get<Data[]>(`${s.feed}/data`)), ['24', '23', '22', '21', '20']),
      'no more than asked for': async () =>
        assert.deepEqual(values(await io.get<Data[]>(`${s.feed}/data`, { limit: 2 })), ['24', '23']),
      'those before the oldest of a page': async () => {
        const page = await io.get<Data[]>(`${s.feed}/data`, { limit: 2 });
        const { created_at } = given(page[1], 'second row');
        assert.deepEqual(values(await io.get<Data[]>(`${s.feed}/data`, { limit: 2, end_time: created_at })), ['22', '21']);
      },
      'page after page': async () => {
        const rows = await pages(
          (from) => io.get<Data[]>(`${s.feed}/data`, { limit: 2, ...(from !== undefined && { end_time: from }) }),
          (page) => page,
          (page) => (page.length < 2 ? undefined : page[1]?.created_at),
        );
        assert.deepEqual(values(rows), ['24', '23', '22', '21', '20']);
      },
      'the feed tells how many': async () => {
        const { key, details } = await io.get<Feed>(`${s.feed}/details`);
        assert.deepEqual([key, details?.data?.count], ['barometer', 5]);
      },
    }),

    'values of a time': (io, s) => ({
      'a feed with five values': async () => {
        await feed(io, s, 'anemometer');
        await five(io, s);
      },
      'since a time': async () => {
        const rows = values(await io.get<Data[]>(`${s.feed}/data`, { start_time: '2026-03-02T10:02:30Z' }));
        assert.deepEqual(rows, ['24', '23']);
      },
      'until a time': async () => {
        const rows = values(await io.get<Data[]>(`${s.feed}/data`, { end_time: '2026-03-02T10:01:30Z' }));
        assert.deepEqual(rows, ['21', '20']);
      },
      'between two': async () => {
        const asked = { start_time: '2026-03-02T10:00:30Z', end_time: '2026-03-02T10:03:30Z' };
        assert.deepEqual(values(await io.get<Data[]>(`${s.feed}/data`, asked)), ['23', '22', '21']);
      },
      'of another day there is none': async () => {
        const asked = { start_time: '2026-03-03T00:00:00Z', end_time: '2026-03-04T00:00:00Z' };
        assert.deepEqual(await io.get<Data[]>(`${s.feed}/data`, asked), []);
      },
      'as a chart': async () => {
        const asked = { start_time: '2026-03-02T10:00:00Z', end_time: '2026-03-02T11:00:00Z' };
        const chart = await io.get<{ columns: string[]; data: string[][]; feed: Feed }>(`${s.feed}/data/chart`, asked);
        assert.deepEqual([chart.feed.key, Array.isArray(chart.columns), Array.isArray(chart.data)], ['anemometer', true, true]);
      },
    }),

    'values one after the other': (io, s) => ({
      'a feed with five values': async () => {
        await feed(io, s, 'queue');
        await five(io, s);
      },
      'the next of a queue not begun is the first': async () =>
        assert.equal((await io.get<Data>(`${s.feed}/data/next`)).value, '20'),
      'then the second': async () => assert.equal((await io.get<Data>(`${s.feed}/data/next`)).value, '21'),
      'the one before, twice the same': async () => {
        const { value } = await io.get<Data>(`${s.feed}/data/previous`);
        assert.equal((await io.get<Data>(`${s.feed}/data/previous`)).value, value);
      },
      'and on with the third': async () => assert.equal((await io.get<Data>(`${s.feed}/data/next`)).value, '22'),
      'the oldest': async () => assert.equal((await io.get<Data>(`${s.feed}/data/first`)).value, '20'),
      'the newest': async () => assert.equal((await io.get<Data>(`${s.feed}/data/last`)).value, '24'),
      'which the feed tells of': async () => assert.equal((await io.get<Feed>(s.feed)).last_value, '24'),
    }),

    'a group is made, changed and deleted': (io, s) => ({
      make: async () => {
        const made = await group(io, s, 'weather');
        assert.deepEqual([made.name, made.description], ['Group weather', 'Made by a flow']);
        s.id = String(given(made.id, 'id'));
      },
      read: async () => {
        const { id, name, description } = await io.get<Group>(s.group);
        assert.deepEqual([String(id), name, description], [s.id, 'Group weather', 'Made by a flow']);
      },
      list: async () => {
        const rows = await io.get<Group[]>(`${me}/groups`);
        once(
          rows.map(({ id }) => String(id)),
          [s.id],
          'groups',
        );
      },
      change: async () =>
        assert.equal((await io.patch<Group>(s.group, { description: 'Wind and rain' })).description, 'Wind and rain'),
      'it stays changed': async () => {
        const { name, description } = await io.get<Group>(s.group);
        assert.deepEqual([name, description], ['Group weather', 'Wind and rain']);
      },
      delete: () => io.remove(s.group),
      'it is gone': () => refused(io.get(s.group), 404),
    }),

    'feeds of a group': (io, s) => ({
      'a group': () => group(io, s, 'cellar'),
      'a feed in it': async () => {
        const made = await io.post<Feed>(`${s.group}/feeds`, { key: 'humidity', name: 'Cellar Humidity' });
        assert.equal(made.name, 'Cellar Humidity');
        s.id = String(given(made.id, 'id'));
      },
      'is among its feeds': async () => {
        const rows = await io.get<Feed[]>(`${s.group}/feeds`);
        once(
          rows.map(({ id, name }) => `${id} ${name}`),
          [`${s.id} Cellar Humidity`],
          'feeds',
        );
      },
      'and told with the group': async () => {
        const { feeds } = await io.get<Group>(s.group);
        once(
          given(feeds, 'feeds').map(({ name }) => name),
          ['Cellar Humidity'],
          'feeds',
        );
      },
      'another feed': async () => {
        s.other = String((await feed(io, s, 'door')).id);
      },
      'is added': async () => {
        await io.post<Group>(`${s.group}/add?feed_key=${s.key}`);
        const rows = await io.get<Feed[]>(`${s.group}/feeds`);
        once(
          rows.map(({ id }) => String(id)),
          [s.id, s.other],
          'feeds',
        );
      },
      'and removed': async () => {
        await io.post<Group>(`${s.group}/remove?feed_key=${s.key}`);
        const rows = await io.get<Feed[]>(`${s.group}/feeds`);
        assert.deepEqual(
          rows.map(({ id }) => String(id)),
          [s.id],
        );
      },
      'it is a feed still': async () => assert.equal(String((await io.get<Feed>(s.feed)).id), s.other),
    }),

    'values of a whole group': (io, s) => ({
      'a group with two feeds': async () => {
        await group(io, s, 'station');
        for (const key of ['wind', 'rain']) await io.post<Feed>(`${s.group}/feeds`, { key, name: `Station ${key}` });
      },
      'a value for each in one call': async () => {
        const feeds = [
          { key: 'wind', value: '7' },
          { key: 'rain', value: '0' },
        ];
        const made = await io.post<Data[]>(`${s.group}/data`, { feeds, location: { lat: 48.2, lon: 16.37 } });
        assert.deepEqual(values(made).toSorted(), ['0', '7']);
      },
      'the wind': async () => assert.deepEqual(values(await io.get<Data[]>(`${s.group}/feeds/wind/data`)), ['7']),
      'more wind': async () => assert.equal((await io.post<Data>(`${s.group}/feeds/wind/data`, { value: '9' })).value, '9'),
      'and more rain': async () => {
        const asked = [{ value: '1' }, { value: '2' }];
        const made = await io.post<Data[]>(`${s.group}/feeds/rain/data/batch`, asked);
        assert.deepEqual(values(made).toSorted(), ['1', '2']);
      },
      'each has its own': async () => {
        assert.deepEqual(values(await io.get<Data[]>(`${s.group}/feeds/wind/data`)).toSorted(), ['7', '9']);
        assert.deepEqual(values(await io.get<Data[]>(`${s.group}/feeds/rain/data`)).toSorted(), ['0', '1', '2']);
      },
      'feeds are to be named': () => refused(io.post(`${s.group}/data`, { location: { lat: 1, lon: 2 } }), ...wrong),
    }),

    'a dashboard is made, replaced and deleted': (io, s) => ({
      make: async () => {
        const made = await dashboard(io, s, 'hall');
        assert.deepEqual([made.key, made.name, made.description], ['hall', 'Dashboard hall', 'Made by a flow']);
      },
      read: async () => {
        const { key, name } = await io.get<Dashboard>(s.dashboard);
        assert.deepEqual([key, name], ['hall', 'Dashboard hall']);
      },
      list: async () => {
        const rows = await io.get<Dashboard[]>(`${me}/dashboards`);
        once(
          rows.map(({ key }) => key),
          ['hall'],
          'dashboards',
        );
      },
      replace: async () => {
        const asked = { key: 'hall', name: 'Entrance', description: 'Who comes and goes' };
        assert.partialDeepStrictEqual(await io.put<Dashboard>(s.dashboard, asked), asked);
      },
      'it stays so': async () => {
        const { name, description } = await io.get<Dashboard>(s.dashboard);
        assert.deepEqual([name, description], ['Entrance', 'Who comes and goes']);
      },
      delete: () => io.remove(s.dashboard),
      'it is gone': () => refused(io.get(s.dashboard), 404),
    }),

    'blocks of a dashboard': (io, s) => ({
      'a dashboard': () => dashboard(io, s, 'kitchen'),
      'a block': async () => {
        const asked = { key: 'oven', name: 'Oven', visual_type: 'gauge', row: 0, column: 2, size_x: 3, size_y: 2 };
        const made = await io.post<Block>(`${s.dashboard}/blocks`, asked);
        assert.deepEqual([made.name, made.visual_type, made.size_x], ['Oven', 'gauge', 3]);
        s.block = `${s.dashboard}/blocks/${idOf(made)}`;
      },
      read: async () => {
        const { name, visual_type, row, column } = await io.get<Block>(s.block);
        assert.deepEqual([name, visual_type, row, column], ['Oven', 'gauge', 0, 2]);
      },
      list: async () => {
        const rows = await io.get<Block[]>(`${s.dashboard}/blocks`);
        once(
          rows.map(({ name }) => name),
          ['Oven'],
          'blocks',
        );
      },
      move: async () => {
        const { row, column, name } = await io.patch<Block>(s.block, { row: 4, column: 1 });
        assert.deepEqual([row, column, name], [4, 1, 'Oven']);
      },
      'it stays there': async () => {
        const { row, column, size_x } = await io.get<Block>(s.block);
        assert.deepEqual([row, column, size_x], [4, 1, 3]);
      },
      'delete, and it is gone': async () => {
        await io.remove(s.block);
        await refused(io.get(s.block), 404);
      },
      'the dashboard has none': async () => assert.deepEqual(await io.get<Block[]>(`${s.dashboard}/blocks`), []),
    }),

    'who may see a feed': (io, s) => ({
      'a feed': () => feed(io, s, 'shared'),
      'everybody may read it': async () => {
        const made = await io.post<Permission>(`${s.feed}/acl`, { mode: 'r', scope: 'public' });
        assert.equal(made.scope, 'public');
        s.acl = `${s.feed}/acl/${given(made.id, 'id')}`;
        s.id = String(made.id);
      },
      read: async () => {
        const { id, scope } = await io.get<Permission>(s.acl);
        assert.deepEqual([String(id), scope], [s.id, 'public']);
      },
      list: async () => {
        const rows = await io.get<Permission[]>(`${s.feed}/acl`);
        once(
          rows.map(({ id }) => String(id)),
          [s.id],
          'permissions',
        );
      },
      'one user alone may': async () => {
        const asked = { mode: 'rw', scope: 'user', scope_value: 'jdoe' };
        const changed = await io.put<Permission>(s.acl, asked);
        assert.deepEqual([changed.scope, changed.scope_value], ['user', 'jdoe']);
      },
      'which stays so': async () => {
        const { scope, scope_value } = await io.get<Permission>(s.acl);
        assert.deepEqual([scope, scope_value], ['user', 'jdoe']);
      },
      'no scope that there is not': () => refused(io.post(`${s.feed}/acl`, { mode: 'r', scope: 'everybody' }), ...wrong),
      'delete, and it is gone': async () => {
        await io.remove(s.acl);
        await refused(io.get(s.acl), 404);
      },
    }),

    'the account, and what was done': (io, s) => ({
      'whose it is': async () => {
        const { id, username } = await io.get<{ id: number; username: string }>('/user');
        assert.deepEqual([typeof id, typeof username], ['number', 'string']);
      },
      'how much it may do': async () => {
        const answer = await io.get<{ data_rate_limit: number; active_data_rate: number }>(`${me}/throttle`);
        assert.deepEqual([Number.isInteger(answer.data_rate_limit), Number.isInteger(answer.active_data_rate)], [true, true]);
      },
      'a feed is made': () => feed(io, s, 'logged'),
      'what was done': async () => {
        const rows = await io.get<Activity[]>(`${me}/activities`);
        s.ids = JSON.stringify(rows.map(({ id }) => id));
        for (const { action, model } of rows) assert.deepEqual([typeof action, typeof model], ['string', 'string']);
      },
      'no more than asked for': async () => assert.ok((await io.get<Activity[]>(`${me}/activities`, { limit: 1 })).length <= 1),
      'all of it is forgotten': () => io.remove(`${me}/activities`),
      'and gone': async () => {
        const before = JSON.parse(s.ids) as number[];
        for (const { id } of await io.get<Activity[]>(`${me}/activities`))
          assert.ok(!before.includes(id), `${id} is still there`);
      },
    }),

    'what is not there, and what is not right': (io, s) => ({
      'no such feed': () => refused(io.get(`${me}/feeds/never-made`), 404),
      'no value for it': () => refused(io.post(`${me}/feeds/never-made/data`, { value: '1' }), 404),
      'none to delete': () => refused(io.remove(`${me}/feeds/never-made`), 404),
      'no such group, nor feeds of it': () => refused(io.get(`${me}/groups/never-made/feeds`), 404),
      'a name is a text': () => refused(io.post(`${me}/feeds`, { key: 'odd', name: { first: 'Odd' } }), ...wrong),
      'a limit is a number': async () => {
        await feed(io, s, 'even');
        await refused(io.get(`${s.feed}/data`, { limit: 'many' }), ...wrong);
      },
      'many values are a list': () => refused(io.post(`${s.feed}/data/batch`, { value: '1' }), ...wrong),
      'a value that is not there': () => refused(io.get(`${s.feed}/data/0DNOSUCHVALUE0000000000000`), 404),
    }),

    'a key that is refused': (io, _s, another) => ({
      'the right one is taken': async () => assert.ok(Array.isArray(await io.get<Feed[]>(`${me}/feeds`)), 'no list'),
      'another one is not': () => refused(another('nobody').get(`${me}/feeds`), 401, 403),
      'nor does it make a feed': () =>
        refused(another('nobody').post(`${me}/feeds`, { key: 'stolen', name: 'Stolen' }), 401, 403),
      'nor tell whose it is': () => refused(another('nobody').get('/user'), 401, 403),
    }),
  },
};
