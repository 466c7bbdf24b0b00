import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import type { IClearBlade } from 'clearblade-js-client';
import { given, numbered, once, type Place, refused, type State, type Vendor } from '../kit.ts';

type Asked = {
  readonly method?: string;
  readonly endpoint?: string;
  readonly qs?: string;
  readonly body?: unknown;
  readonly URI?: string;
  readonly systemKey?: string;
  readonly systemSecret?: string;
  readonly authToken?: string;
  readonly user?: { readonly authToken?: string };
};
type Done<Answer> = (error: boolean, answer: Answer) => void;
type Query = ReturnType<IClearBlade['Query']>;
type Made = (options: { request: (asked: Asked, done: Done<unknown>) => void }) => IClearBlade;

const systemKey = 'c0f8e2c50bbeeafb87f5efa2eee301';
const systemSecret = 'C0F8E2C50BD2E1D5BDB6F0C4E7A501';

/** What the client puts into a request of a browser goes by `fetch`; what is refused is told with its status. */
const request = (asked: Asked, done: Done<unknown>): void => {
  const method = asked.method ?? 'GET';
  const token = asked.authToken ?? asked.user?.authToken;
  const body = asked.body ?? {};
  const sends = method === 'POST' || method === 'PUT' || (method === 'DELETE' && Object.keys(body as object).length > 0);
  const headers: Record<string, string> = { Accept: 'application/json' };
  if (token) headers['ClearBlade-UserToken'] = token;
  if (asked.systemKey) headers['ClearBlade-SystemKey'] = asked.systemKey;
  if (asked.systemSecret) headers['ClearBlade-SystemSecret'] = asked.systemSecret;
  if (sends) headers['Content-Type'] = 'application/json';
  const send = async (): Promise<unknown> => {
    const address = `${asked.URI}/${asked.endpoint}${asked.qs ? `?${asked.qs}` : ''}`;
    const answer = await fetch(address, { method, headers, ...(sends ? { body: JSON.stringify(body) } : {}) });
    const text = await answer.text();
    if (!answer.ok) throw Object.assign(new Error(text || answer.statusText), { status: answer.status });
    try {
      return JSON.parse(text) as unknown;
    } catch {
      return text;
    }
  };
  send().then(
    (answer) => done(false, answer),
    (thrown: unknown) => done(true, thrown),
  );
};

/** The client is one for browsers: it looks for a window when it is loaded and when it is made, and then no more. */
const inWindow = <T>(make: () => T): T => {
  const all = globalThis as { window?: unknown };
  const before = Object.getOwnPropertyDescriptor(all, 'window');
  Object.defineProperty(all, 'window', { value: { console }, configurable: true, writable: true });
  try {
    return make();
  } finally {
    if (before === undefined) delete all.window;
    else Object.defineProperty(all, 'window', before);
  }
};
const { ClearBlade } = inWindow(() => createRequire(import.meta.url)('clearblade-js-client') as { ClearBlade: Made });

const me = 'cbman@clearblade.com';
const connect = (place: Place, token: string): IClearBlade => {
  const cb = inWindow(() => ClearBlade({ request }));
  cb.init({ URI: place.base, systemKey, systemSecret, useUser: { email: me, authToken: token } });
  return cb;
};

/** One call with a callback: what it is told as an error is thrown. */
const ask = <Answer>(call: (done: Done<Answer>) => void): Promise<Answer> =>
  new Promise((answered, failed) => {
    call((error, answer) => {
      if (error) failed((answer as unknown) instanceof Error ? answer : new Error(String(answer)));
      else answered(answer);
    });
  });

type Device = Readonly<Record<string, unknown>> & { readonly name: string };
type Row = Readonly<Record<string, unknown>> & { readonly item_id: string };

const sensor = (name: string, more: object = {}): object => ({
  name,
  type: 'sensor',
  state: 'On',
  description: 'This device is a sensor',
  allow_key_auth: true,
  allow_certificate_auth: false,
  active_key: '1574445864',
  ...more,
});
const makeDevice = (cb: IClearBlade, name: string, more: object = {}): Promise<Device> =>
  ask<Device>((done) => cb.Device().create(sensor(name, more), done));
const devices = (cb: IClearBlade, query: Query = cb.Query()): Promise<readonly Device[]> =>
  ask<Device[]>((done) => cb.Device().fetch(query, done));
const device = async (cb: IClearBlade, name: string): Promise<Device> => {
  const found = await devices(cb, cb.Query().equalTo('name', name));
  assert.equal(found.length, 1, `there are ${found.length} devices of the name ${name}`);
  return given(found[0], 'device');
};
const deviceCount = async (cb: IClearBlade): Promise<number> =>
  (await ask<{ count: number }>((done) => cb.Device().count(cb.Query(), done))).count;
const noDevices = (cb: IClearBlade, query: Query): Promise<unknown> => ask((done) => cb.Device().delete(query, done));

type Edge = Readonly<Record<string, unknown>> & { readonly name: string };
const edge = { system_key: systemKey, system_secret: systemSecret, token: 'mbSSBhDnPZQcUhKM', description: 'In the barn' };
const makeEdge = (cb: IClearBlade, name: string): Promise<unknown> => ask((done) => cb.Edge().create(edge, name, done));
const edges = (cb: IClearBlade): Promise<readonly Edge[]> =>
  ask<Edge[]>((done) => cb.getEdges(cb.Query(), done as unknown as Parameters<IClearBlade['getEdges']>[1]));
const edgeCount = async (cb: IClearBlade): Promise<number> =>
  (await ask<{ count: number }>((done) => cb.Edge().count(cb.Query(), done))).count;

/** Collections are made in the console: one that is there is taken. */
const collection = async (cb: IClearBlade, s: State): Promise<void> => {
  const found = await ask<{ name: string; collectionID: string }[]>((done) => cb.getAllCollections(done as never));
  const one = given(found[0], 'collection');
  [s.name, s.collection] = [given(one.name, 'name'), given(one.collectionID, 'id')];
};
const weather = (city: string, temperature: number): object => ({
  city,
  state: 'Texas',
  country: 'USA',
  temperature,
  weather: 'Sunny',
});
const named = (cb: IClearBlade, s: State) => cb.Collection<Row>({ collectionName: given(s.name, 'name') });
const addRow = async (cb: IClearBlade, s: State, row: object): Promise<string> => {
  const made = await ask<Row[]>((done) => named(cb, s).create(row as Partial<Row>, done as never));
  assert.equal(made.length, 1);
  return given(made[0], 'row').item_id;
};
const rows = async (cb: IClearBlade, s: State, query: Query): Promise<Row[]> =>
  (await ask<{ data: Row }[]>((done) => named(cb, s).fetch(query, done as never))).map(({ data }) => data);
const itemIds = (found: readonly Row[]): string[] => found.map(({ item_id }) => item_id);

type User = { readonly email: string; readonly user_id: string; readonly creation_date?: string };
const users = (cb: IClearBlade, query: Query = cb.Query()): Promise<{ Data: readonly User[]; Total: number }> =>
  ask((done) => cb.User().allUsers(query, done as never));
/** Registering, and signing in, make the client one of that user: it is another that does so. */
const register = (cb: IClearBlade, email: string, password: string): Promise<{ email: string; authToken: string }> =>
  ask((done) => cb.registerUser(email, password, done as never));
const login = (cb: IClearBlade, email: string, password: string): Promise<{ email: string; authToken: string }> =>
  ask((done) => cb.loginUser(email, password, done as never));

const definition = (topic: string, service_name: string): object => ({
  def_module: 'Messaging',
  def_name: 'Publish',
  service_name,
  disabled: false,
  key_value_pairs: { topic },
});
type Trigger = {
  readonly name: string;
  readonly service_name: string;
  readonly key_value_pairs: { readonly topic?: string };
};
/** The description answers a trigger in a list of its own, the client's types the trigger itself. */
const trigger = (answer: Trigger | readonly Trigger[]): Trigger =>
  given(Array.isArray(answer) ? (answer as readonly Trigger[])[0] : (answer as Trigger), 'trigger');

/** Guide: docs.clearblade.com, "JavaScript API", "Query Structure", "REST API": devices, edges, data, users, triggers. */
export const vendor: Vendor<IClearBlade> = {
  document: 'clearblade/clearblade.com.json',
  header: 'ClearBlade-UserToken',
  made: 'jt-w5IiOOnhuSp8hJbanB2Tluj_ShXphjAta0_6_mAcUPSbatjFRYr1m5Ojl4skSOZ3txbbkFWArnUnfNA==',
  client: connect,
  strict: ['a token that is refused'],
  flows: {
    'a device from its making to its end': (cb) => ({
      create: async () => {
        const made = await makeDevice(cb, 'thermometer');
        assert.deepEqual([made.name, made.type, made.state], ['thermometer', 'sensor', 'On']);
        assert.deepEqual([made.allow_key_auth, made.allow_certificate_auth], [true, false]);
      },
      'it is of this system': async () => assert.equal((await device(cb, 'thermometer')).system_key, systemKey),
      'it is listed once': async () =>
        once(
          (await devices(cb)).map(({ name }) => name),
          ['thermometer'],
          'devices',
        ),
      change: async () => {
        const changed = await ask<Device>((done) =>
          cb.Device().updateDeviceByName('thermometer', { state: 'Off' }, false, done as never),
        );
        assert.deepEqual([changed.name, changed.state, changed.type], ['thermometer', 'Off', 'sensor']);
      },
      'it stays changed': async () => {
        const found = await device(cb, 'thermometer');
        assert.deepEqual([found.state, found.type, found.description], ['Off', 'sensor', 'This device is a sensor']);
      },
      delete: () => noDevices(cb, cb.Query().equalTo('name', 'thermometer')),
      'it is gone': async () => assert.deepEqual(await devices(cb, cb.Query().equalTo('name', 'thermometer')), []),
      'it is not listed': async () => assert.ok(!(await devices(cb)).some(({ name }) => name === 'thermometer')),
      'it cannot be changed': () =>
        refused(
          ask((done) => cb.Device().updateDeviceByName('thermometer', { state: 'On' }, false, done as never)),
          400,
          404,
        ),
    }),

    'devices page by page': (cb, s) => ({
      'make five': async () => {
        for (const name of ['p1', 'p2', 'p3', 'p4', 'p5']) await makeDevice(cb, name, { type: 'pump' });
        s.all = 'p1 p2 p3 p4 p5';
      },
      'two on a page': async () => assert.equal((await devices(cb, cb.Query().equalTo('type', 'pump').setPage(2, 1))).length, 2),
      'the last page': async () => assert.equal((await devices(cb, cb.Query().equalTo('type', 'pump').setPage(2, 3))).length, 1),
      'the pages of all pumps': async () => {
        const found = await numbered((page) => devices(cb, cb.Query().equalTo('type', 'pump').setPage(2, page)));
        assert.deepEqual(found.map(({ name }) => name).sort(), s.all.split(' '));
      },
      'all pages': async () => {
        const found = await numbered((page) => devices(cb, cb.Query().ascending('name').setPage(3, page)));
        once(
          found.map(({ name }) => name),
          s.all.split(' '),
          'devices',
        );
      },
      'as many as there are': async () => {
        const found = await numbered((page) => devices(cb, cb.Query().ascending('name').setPage(3, page)));
        assert.equal(await deviceCount(cb), found.length);
      },
    }),

    'devices that are looked for': (cb) => ({
      'make three': async () => {
        await makeDevice(cb, 'lamp-kitchen', { type: 'lamp', state: 'On' });
        await makeDevice(cb, 'lamp-cellar', { type: 'lamp', state: 'Off' });
        await makeDevice(cb, 'valve-cellar', { type: 'valve', state: 'Off' });
      },
      'of one kind': async () => {
        const found = await devices(cb, cb.Query().equalTo('type', 'lamp'));
        assert.deepEqual(found.map(({ name }) => name).sort(), ['lamp-cellar', 'lamp-kitchen']);
      },
      'of one kind and state': async () => {
        const found = await devices(cb, cb.Query().equalTo('type', 'lamp').equalTo('state', 'Off'));
        assert.deepEqual(
          found.map(({ name }) => name),
          ['lamp-cellar'],
        );
      },
      'of one kind, but not that one': async () => {
        const found = await devices(cb, cb.Query().equalTo('type', 'lamp').notEqualTo('name', 'lamp-cellar'));
        assert.deepEqual(
          found.map(({ name }) => name),
          ['lamp-kitchen'],
        );
      },
      'by a pattern': async () => {
        const found = await devices(cb, cb.Query().matches('name', '-cellar$'));
        assert.deepEqual(found.map(({ name }) => name).sort(), ['lamp-cellar', 'valve-cellar']);
      },
      'in the order of names, backwards': async () => {
        const found = await devices(cb, cb.Query().matches('name', '^(lamp|valve)-').descending('name'));
        assert.deepEqual(
          found.map(({ name }) => name),
          ['valve-cellar', 'lamp-kitchen', 'lamp-cellar'],
        );
      },
      'one or the other': async () => {
        const either = cb.Query().equalTo('name', 'lamp-kitchen').or(cb.Query().equalTo('name', 'valve-cellar'));
        assert.deepEqual((await devices(cb, either)).map(({ name }) => name).sort(), ['lamp-kitchen', 'valve-cellar']);
      },
      'none of that name': async () => assert.deepEqual(await devices(cb, cb.Query().equalTo('name', 'lamp-attic')), []),
    }),

    'many devices at once': (cb, s) => ({
      'make four': async () => {
        s.before = String(await deviceCount(cb));
        for (const name of ['f1', 'f2', 'f3']) await makeDevice(cb, name, { type: 'fan', state: 'Off' });
        await makeDevice(cb, 'g1', { type: 'gate', state: 'Off' });
      },
      'there are four more': async () => assert.equal(await deviceCount(cb), Number(s.before) + 4),
      'switch on the fans': () =>
        ask((done) => cb.Device().update(cb.Query().equalTo('type', 'fan'), { state: 'On' }, false, done as never)),
      'they are on': async () => {
        const found = await devices(cb, cb.Query().equalTo('type', 'fan'));
        assert.deepEqual(found.map(({ name, state }) => `${name} ${state}`).sort(), ['f1 On', 'f2 On', 'f3 On']);
      },
      'the gate is not': async () => assert.equal((await device(cb, 'g1')).state, 'Off'),
      'no more fans': async () => {
        await noDevices(cb, cb.Query().equalTo('type', 'fan'));
        assert.deepEqual(await devices(cb, cb.Query().equalTo('type', 'fan')), []);
      },
      'the gate is still there': async () => {
        assert.equal((await device(cb, 'g1')).type, 'gate');
        assert.equal(await deviceCount(cb), Number(s.before) + 1);
      },
    }),

    'what there is to know of devices and edges': (cb, s) => ({
      'columns of devices': async () => {
        const columns = await ask<{ ColumnName: string; ColumnType: string }[]>((done) => cb.Device().columns(done));
        assert.ok(columns.length > 0);
        for (const { ColumnName, ColumnType } of columns)
          assert.deepEqual([typeof ColumnName, typeof ColumnType], ['string', 'string']);
      },
      'how many devices': async () => {
        s.devices = String(await deviceCount(cb));
        assert.ok(Number.isInteger(Number(s.devices)));
      },
      'one more': async () => {
        await makeDevice(cb, 'counted');
        assert.equal(await deviceCount(cb), Number(s.devices) + 1);
      },
      'and one less': async () => {
        await noDevices(cb, cb.Query().equalTo('name', 'counted'));
        assert.equal(await deviceCount(cb), Number(s.devices));
      },
      'columns of edges': async () => assert.ok(Array.isArray(await ask<unknown>((done) => cb.Edge().columns(done as never)))),
      'how many edges': async () => assert.ok(Number.isInteger(await edgeCount(cb))),
    }),

    'an edge from its making to its end': (cb, s) => ({
      create: async () => {
        s.before = String(await edgeCount(cb));
        await makeEdge(cb, 'barn');
      },
      'it is listed': async () => {
        const found = (await edges(cb)).filter(({ name }) => name === 'barn');
        assert.deepEqual(
          found.map(({ name, description }) => [name, description]),
          [['barn', 'In the barn']],
        );
      },
      'there is one more': async () => assert.equal(await edgeCount(cb), Number(s.before) + 1),
      change: () =>
        ask((done) =>
          cb
            .Edge()
            .updateEdgeByName(
              'barn',
              { system_key: systemKey, system_secret: systemSecret, description: 'Behind the barn' },
              done as never,
            ),
        ),
      'it stays changed': async () =>
        assert.equal((await edges(cb)).find(({ name }) => name === 'barn')?.description, 'Behind the barn'),
      delete: () => ask((done) => cb.Edge().deleteEdgeByName('barn', done)),
      'it is not listed': async () => assert.ok(!(await edges(cb)).some(({ name }) => name === 'barn')),
      'there are as many as before': async () => assert.equal(await edgeCount(cb), Number(s.before)),
    }),

    'a row of a collection': (cb, s) => ({
      'a collection': () => collection(cb, s),
      create: async () => {
        s.row = await addRow(cb, s, weather('Austin', 102));
      },
      read: async () => {
        const [row, ...more] = await rows(cb, s, cb.Query().equalTo('item_id', s.row));
        assert.deepEqual([row?.item_id, row?.city, row?.temperature, more.length], [s.row, 'Austin', 102, 0]);
      },
      change: () =>
        ask((done) =>
          named(cb, s).update(cb.Query().equalTo('item_id', s.row), { temperature: 70 } as Partial<Row>, done as never),
        ),
      'it stays changed': async () => {
        const [row] = await rows(cb, s, cb.Query().equalTo('item_id', s.row));
        assert.deepEqual([row?.item_id, row?.city, row?.temperature], [s.row, 'Austin', 70]);
      },
      remove: () => ask((done) => named(cb, s).remove(cb.Query().equalTo('item_id', s.row), done)),
      'it is gone': async () => assert.deepEqual(await rows(cb, s, cb.Query().equalTo('item_id', s.row)), []),
    }),

    'rows of a collection that are looked for': (cb, s) => ({
      'a collection': () => collection(cb, s),
      'four rows': async () => {
        s.austin = await addRow(cb, s, weather('Austin', 102));
        s.dallas = await addRow(cb, s, weather('Dallas', 95));
        s.houston = await addRow(cb, s, weather('Houston', 88));
        s.waco = await addRow(cb, s, weather('Waco', 71));
        once([s.austin, s.dallas, s.houston, s.waco], [s.austin, s.dallas, s.houston, s.waco], 'ids');
      },
      'of one city': async () => assert.deepEqual(itemIds(await rows(cb, s, cb.Query().equalTo('city', 'Dallas'))), [s.dallas]),
      'where it is hot': async () => {
        const hot = await rows(cb, s, cb.Query().equalTo('state', 'Texas').greaterThan('temperature', 90));
        assert.deepEqual(itemIds(hot).sort(), [s.austin, s.dallas].sort());
      },
      'where it is not': async () => {
        const cool = await rows(cb, s, cb.Query().equalTo('state', 'Texas').lessThanEqualTo('temperature', 88));
        assert.deepEqual(itemIds(cool).sort(), [s.houston, s.waco].sort());
      },
      'the coolest first': async () => {
        const found = await rows(cb, s, cb.Query().equalTo('state', 'Texas').ascending('temperature'));
        assert.deepEqual(itemIds(found), [s.waco, s.houston, s.dallas, s.austin]);
      },
      'two of them, and the next two': async () => {
        const page = (number: number) =>
          rows(cb, s, cb.Query().equalTo('state', 'Texas').descending('temperature').setPage(2, number));
        assert.deepEqual(itemIds(await page(1)), [s.austin, s.dallas]);
        assert.deepEqual(itemIds(await page(2)), [s.houston, s.waco]);
      },
      'some are removed': async () => {
        await ask((done) => named(cb, s).remove(cb.Query().greaterThan('temperature', 90).equalTo('state', 'Texas'), done));
        assert.deepEqual(itemIds(await rows(cb, s, cb.Query().equalTo('state', 'Texas'))).sort(), [s.houston, s.waco].sort());
      },
    }),

    'all rows of a collection page by page': (cb, s) => ({
      'a collection': () => collection(cb, s),
      'five rows': async () => {
        const made: string[] = [];
        for (const city of ['A', 'B', 'C', 'D', 'E']) made.push(await addRow(cb, s, weather(city, 70)));
        s.all = made.join(' ');
      },
      'two on a page': async () => assert.equal((await rows(cb, s, cb.Query().setPage(2, 1))).length, 2),
      'all pages': async () => {
        const found = await numbered((page) => rows(cb, s, cb.Query().ascending('item_id').setPage(2, page)));
        once(itemIds(found), s.all.split(' '), 'rows');
      },
      'only those columns': async () => {
        const [one] = await rows(cb, s, cb.Query().equalTo('city', 'C').columns(['city']));
        assert.deepEqual([one?.city, one?.weather], ['C', undefined]);
      },
      'without a query': async () => {
        const found = await ask<{ data: Row }[]>((done) => named(cb, s).fetch(done as never));
        once(itemIds(found.map(({ data }) => data)), s.all.split(' '), 'rows');
      },
    }),

    'a collection by its id': (cb, s) => ({
      'a collection': () => collection(cb, s),
      'its columns': async () => {
        const columns = await ask<{ ColumnName: string; ColumnType: string }[]>((done) =>
          cb.Collection<Row>({ collectionID: s.collection }).columns(done),
        );
        once(
          columns.map(({ ColumnName }) => ColumnName),
          ['item_id'],
          'columns',
        );
      },
      'a row': async () => {
        const made = await ask<Row[]>((done) =>
          cb.Collection<Row>(s.collection).create(weather('El Paso', 99) as Partial<Row>, done as never),
        );
        s.row = given(made[0], 'row').item_id;
      },
      'it is there': async () => {
        const found = await ask<{ data: Row }[]>((done) =>
          cb.Collection<Row>(s.collection).fetch(cb.Query().equalTo('item_id', s.row), done as never),
        );
        assert.deepEqual(
          found.map(({ data }) => [data.item_id, data.city]),
          [[s.row, 'El Paso']],
        );
      },
      'by the name as well': async () =>
        assert.deepEqual(itemIds(await rows(cb, s, cb.Query().equalTo('item_id', s.row))), [s.row]),
      'change by a query of its own': async () => {
        const query = cb.Query({ collectionID: s.collection }).equalTo('item_id', s.row);
        await ask((done) => query.update({ weather: 'Rain' }, done));
        const found = await ask<{ data: Row }[]>((done) => query.fetch(done as never));
        assert.deepEqual(
          found.map(({ data }) => [data.weather, data.city]),
          [['Rain', 'El Paso']],
        );
      },
      'the item destroys itself': async () => {
        const item = cb.Item({ item_id: s.row }, { collectionID: s.collection });
        await ask((done) => item.destroy(done));
      },
      'it is gone': async () => assert.deepEqual(await rows(cb, s, cb.Query().equalTo('item_id', s.row)), []),
    }),

    'a user who registers': (cb, s, another) => ({
      register: async () => {
        const made = await register(another(cb.user.authToken), 'tom@example.com', 'cl34rbl4d3');
        s.token = given(made.authToken, 'token');
        assert.equal(made.email, 'tom@example.com');
      },
      'who it is': async () => {
        const own = await ask<User>((done) =>
          another(s.token)
            .User()
            .getUser(done as never),
        );
        s.user = given(own.user_id, 'id');
        assert.equal(own.email, 'tom@example.com');
      },
      'it is signed in': async () =>
        assert.equal(await ask<boolean>((done) => another(s.token).isCurrentUserAuthenticated(done)), true),
      'it is listed once': async () => {
        const { Data, Total } = await users(another(s.token));
        once(
          Data.map(({ email }) => email),
          ['tom@example.com'],
          'users',
        );
        assert.ok(Total >= Data.length);
      },
      'and found': async () => {
        const { Data, Total } = await users(another(s.token), cb.Query().equalTo('email', 'tom@example.com'));
        assert.deepEqual([Data.map(({ user_id }) => user_id), Total], [[s.user], 1]);
      },
      'not twice': () => refused(register(another(s.token), 'tom@example.com', 'other'), 400),
    }),

    'a user who comes again': (cb, s, another) => ({
      register: async () => {
        s.first = given((await register(another(cb.user.authToken), 'ann@example.com', 'cl34rbl4d3')).authToken, 'token');
      },
      'sign in': async () => {
        const session = await login(another(s.first), 'ann@example.com', 'cl34rbl4d3');
        s.token = given(session.authToken, 'token');
        assert.equal(session.email, 'ann@example.com');
      },
      'who it is': async () =>
        assert.equal(
          (
            await ask<User>((done) =>
              another(s.token)
                .User()
                .getUser(done as never),
            )
          ).email,
          'ann@example.com',
        ),
      'not with a wrong password': () => refused(login(another(s.token), 'ann@example.com', 'guess'), 400, 401),
      'another password': () => ask((done) => another(s.token).User().setPassword('cl34rbl4d3', 'P@ssw0rd', done)),
      'with the new one': async () =>
        assert.ok((await login(another(s.token), 'ann@example.com', 'P@ssw0rd')).authToken.length > 0),
      'no longer with the old one': () => refused(login(another(s.token), 'ann@example.com', 'cl34rbl4d3'), 400, 401),
      'sign out': async () =>
        assert.equal(await ask<unknown>((done) => another(s.token).logoutUser(done as never)), 'User Logged out'),
    }),

    'a user who is deleted': (cb, s, another) => ({
      'it is made': async () => {
        s.token = given((await register(another(cb.user.authToken), 'bob@example.com', 'cl34rbl4d3')).authToken, 'token');
        s.user = (
          await ask<User>((done) =>
            another(s.token)
              .User()
              .getUser(done as never),
          )
        ).user_id;
      },
      'it is listed': async () => {
        const { Data } = await users(cb);
        once(
          Data.map(({ user_id }) => user_id),
          [s.user],
          'users',
        );
      },
      delete: () => ask((done) => cb.User().deleteUser({ user_id: s.user }, done)),
      'it is not listed': async () => assert.ok(!(await users(cb)).Data.some(({ user_id }) => user_id === s.user)),
      'nor found': async () => {
        const { Data, Total } = await users(cb, cb.Query().equalTo('email', 'bob@example.com'));
        assert.deepEqual([Data, Total], [[], 0]);
      },
      'it cannot sign in': () => refused(login(another(cb.user.authToken), 'bob@example.com', 'cl34rbl4d3'), 400, 401),
    }),

    'a trigger from its making to its end': (cb) => ({
      create: async () => {
        const made = trigger(
          await ask<Trigger>((done) =>
            cb.Triggers().create('Hot', definition('temperature/sensorA', 'updateTemps'), done as never),
          ),
        );
        assert.deepEqual(
          [made.name, made.service_name, made.key_value_pairs.topic],
          ['Hot', 'updateTemps', 'temperature/sensorA'],
        );
      },
      change: async () => {
        const changed = trigger(
          await ask<Trigger>((done) =>
            cb.Triggers().update('Hot', definition('temperature/sensorB', 'updateTemps'), done as never),
          ),
        );
        assert.deepEqual([changed.name, changed.key_value_pairs.topic], ['Hot', 'temperature/sensorB']);
      },
      'another beside it': async () => {
        const made = trigger(
          await ask<Trigger>((done) =>
            cb.Triggers().create('Cold', definition('temperature/cellar', 'updateTemps'), done as never),
          ),
        );
        assert.deepEqual([made.name, made.key_value_pairs.topic], ['Cold', 'temperature/cellar']);
      },
      'not without its service': () =>
        refused(
          ask((done) => cb.Triggers().create('Idle', { def_module: 'Messaging', def_name: 'Publish' }, done as never)),
          400,
        ),
      delete: () => ask((done) => cb.Triggers().delete('Hot', done)),
      'it cannot be changed any more': () =>
        refused(
          ask((done) => cb.Triggers().update('Hot', definition('temperature/sensorA', 'updateTemps'), done as never)),
          400,
          404,
        ),
    }),

    'what is wrong': (cb) => ({
      'an edge without its system': () =>
        refused(
          ask((done) => cb.Edge().create({ description: 'Nowhere' }, 'nowhere', done)),
          400,
        ),
      'it was not made': async () => assert.ok(!(await edges(cb)).some(({ name }) => name === 'nowhere')),
      'a change of no edge': () =>
        refused(
          ask((done) =>
            cb.Edge().updateEdgeByName('no-such-edge', { system_key: systemKey, system_secret: systemSecret }, done as never),
          ),
          400,
          404,
        ),
      'a change of no device': () =>
        refused(
          ask((done) => cb.Device().updateDeviceByName('no-such-device', { state: 'On' }, false, done as never)),
          400,
          404,
        ),
      'no second device of a name': async () => {
        await makeDevice(cb, 'only-one');
        await refused(makeDevice(cb, 'only-one'), 400, 409);
        assert.equal((await device(cb, 'only-one')).name, 'only-one');
      },
      'a password without the old one': () =>
        refused(
          ask((done) => cb.User().setPassword(undefined as unknown as string, 'P@ssw0rd', done)),
          400,
        ),
    }),

    'a token that is refused': (cb, _, another) => ({
      'the right one': async () => assert.ok(Array.isArray(await devices(cb))),
      'a wrong one': () => refused(devices(another('nobodyHasThisToken')), 400, 401),
      'it makes no device': () => refused(makeDevice(another('nobodyHasThisToken'), 'intruder'), 400, 401),
      'it is nobody': () =>
        refused(
          ask((done) =>
            another('nobodyHasThisToken')
              .User()
              .getUser(done as never),
          ),
          400,
          401,
        ),
      'it lists nobody': () => refused(users(another('nobodyHasThisToken')), 400, 401, 403),
      'there is no intruder': async () => assert.deepEqual(await devices(cb, cb.Query().equalTo('name', 'intruder')), []),
    }),
  },
};
