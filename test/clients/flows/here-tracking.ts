import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { given, once, type Place, pages, refused, type State, type Vendor } from '../kit.ts';

type Rows<T> = { readonly data: readonly T[]; readonly count?: number; readonly pageToken?: string };
type Point = { readonly lat: number; readonly lng: number };
type Fence = {
  readonly type: string;
  readonly name?: string;
  readonly description?: string;
  readonly definition: { readonly center?: Point; readonly radius?: number; readonly points?: readonly Point[] };
};
type Geofence = { readonly id: string; readonly geofence: Fence };
type Device = { readonly trackingId: string };
type Payload = Readonly<Record<string, unknown>>;
type Side = { readonly payload?: Payload };
type Shadow = { readonly desired?: Side; readonly reported?: Side };
type Aliases = { readonly data: Readonly<Record<string, readonly string[]>> };
type License = { readonly appId: string; readonly type: string };

type Part = Readonly<Record<string, (...given: readonly unknown[]) => Promise<unknown>>>;
type Named = 'geofences' | 'devices' | 'vendor' | 'shadows' | 'traces' | 'transitions' | 'users' | 'aliases';
type Client = Readonly<Record<Named, Part>>;
/** A part of the client and its method, what it is given, and what goes beside the token. */
type Ask = <T = unknown>(part: Named, method: string, given?: readonly unknown[], more?: object) => Promise<T>;

/** What the package is built of: its door for Node puts an old `fetch` in the place of everybody's. */
const Tracking = createRequire(import.meta.url)('@here/tracking-js/src/index.js') as new () => Client;

/** The address is a field of the client, which rejects with the answer itself. */
const connect = (place: Place, token: string): Ask => {
  const client = Object.assign(new Tracking(), { _host: place.base });
  return async <T>(part: Named, method: string, asked: readonly unknown[] = [], more: object = {}) => {
    try {
      return (await client[part][method](...asked, { ...more, token })) as T;
    } catch (thrown) {
      if (!(thrown instanceof Response)) throw thrown;
      throw Object.assign(new Error(await thrown.text()), { status: thrown.status });
    }
  };
};

const circle = (name: string, radius = 100): Fence => ({
  type: 'circle',
  name,
  description: `About ${name}`,
  definition: { center: { lat: 52.5308, lng: 13.3849 }, radius },
});
const triangle: readonly Point[] = [
  { lat: 52.5, lng: 13.3 },
  { lat: 52.6, lng: 13.4 },
  { lat: 52.5, lng: 13.5 },
];
const fence = async (ask: Ask, made: object): Promise<string> =>
  given((await ask<{ readonly id?: string }>('geofences', 'create', [made])).id, 'id');
const read = async (ask: Ask, id: string): Promise<Fence> => (await ask<Geofence>('geofences', 'get', [id])).geofence;
const fences = (ask: Ask, count = 100): Promise<string[]> =>
  pages(
    (pageToken) => ask<Rows<Geofence>>('geofences', 'list', [], pageToken === undefined ? { count } : { count, pageToken }),
    ({ data }) => {
      assert.ok(data.length <= count, `a page of ${data.length}`);
      return data.map(({ id }) => id);
    },
    ({ pageToken }) => pageToken,
  );
/** Devices are claimed by hand, with what is printed on them: it is the first that the user has. */
const device = async (ask: Ask, s: State): Promise<void> => {
  s.device = given((await ask<Rows<Device>>('users', 'listDevices')).data[0]?.trackingId, 'device');
};
const aliases = async (ask: Ask, of: string, more: object = {}): Promise<Aliases['data']> =>
  (await ask<Aliases>('aliases', 'get', [of], more)).data;
const shadow = (ask: Ask, of: string): Promise<Shadow> => ask<Shadow>('shadows', 'get', [of]);
const license = async (ask: Ask, s: State): Promise<void> => {
  s.app = given((await ask<readonly License[]>('users', 'getLicenseInfo'))[0]?.appId, 'license');
};
const nobody = '00000000-0000-4000-8000-000000000000';

/** Guide: developer.here.com/documentation/tracking, "Getting started" 1 to 9, "Geofences", "Aliases and metadata", "Shadows"; the client's README. */
export const vendor: Vendor<Ask> = {
  document: 'here/tracking.json',
  header: 'Authorization',
  word: 'Bearer',
  made: 'h1.made-up-token.of-nobody',
  client: connect,
  strict: ['a token that is refused'],
  flows: {
    'a geofence from its making to its end': (ask, s) => ({
      create: async () => {
        s.id = await fence(ask, circle('Harbour'));
      },
      read: async () => assert.deepEqual(await read(ask, s.id), circle('Harbour')),
      'it is listed': async () => once(await fences(ask), [s.id], 'geofences'),
      change: async () => {
        const { id, geofence } = await ask<Geofence>('geofences', 'update', [{ ...circle('Old harbour', 250), id: s.id }]);
        assert.deepEqual([id, geofence.name, geofence.definition.radius], [s.id, 'Old harbour', 250]);
      },
      'it is changed': async () => {
        const { type, name, definition } = await read(ask, s.id);
        assert.deepEqual([type, name, definition.radius], ['circle', 'Old harbour', 250]);
      },
      remove: async () => ask('geofences', 'remove', [s.id]),
      'it is gone': async () => refused(ask('geofences', 'get', [s.id]), 404),
      'it is not listed': async () => assert.ok(!(await fences(ask)).includes(s.id)),
    }),
    'geofences through all pages': (ask, s) => ({
      'make five': async () => {
        for (const name of ['a', 'b', 'c', 'd', 'e']) s[name] = await fence(ask, circle(`page-${name}`));
      },
      'two at a time': async () => once(await fences(ask, 2), [s.a, s.b, s.c, s.d, s.e], 'geofences'),
      'all at once': async () => once(await fences(ask), [s.a, s.b, s.c, s.d, s.e], 'geofences'),
      'one goes': async () => ask('geofences', 'remove', [s.c]),
      'four are left': async () => {
        const all = await fences(ask, 2);
        once(all, [s.a, s.b, s.d, s.e], 'geofences');
        assert.ok(!all.includes(s.c));
      },
    }),
    'a polygon': (ask, s) => ({
      create: async () => {
        s.id = await fence(ask, { type: 'polygon', name: 'Yard', definition: { points: triangle } });
      },
      read: async () => {
        const { type, name, definition } = await read(ask, s.id);
        assert.deepEqual([type, name, definition.points], ['polygon', 'Yard', triangle]);
      },
      'it becomes a circle': async () => ask('geofences', 'update', [{ ...circle('Yard'), id: s.id }]),
      'it is one': async () => {
        const { type, definition } = await read(ask, s.id);
        assert.deepEqual([type, definition.radius, definition.points], ['circle', 100, undefined]);
      },
    }),
    'geofences that are none': (ask, s) => ({
      'how many there are': async () => {
        s.count = String((await fences(ask)).length);
      },
      'of two points': async () =>
        refused(fence(ask, { type: 'polygon', name: 'Line', definition: { points: triangle.slice(0, 2) } }), 400),
      'without a radius': async () =>
        refused(fence(ask, { type: 'circle', name: 'Dot', definition: { center: { lat: 52.5, lng: 13.3 } } }), 400),
      'off the globe': async () =>
        refused(fence(ask, { type: 'circle', definition: { center: { lat: 99, lng: 13.3 }, radius: 10 } }), 400),
      'of a shape that is none': async () => refused(fence(ask, { ...circle('Star'), type: 'star' }), 400),
      'with a name too long': async () => refused(fence(ask, circle('n'.repeat(51))), 400),
      'there are as many': async () => assert.equal(String((await fences(ask)).length), s.count),
    }),
    'all geofences at once': (ask, s) => ({
      'make three': async () => {
        for (const name of ['one', 'two', 'three']) s[name] = await fence(ask, circle(name));
      },
      'remove all': async () => ask('geofences', 'removeAll', [true]),
      'none is left': async () => assert.deepEqual(await fences(ask), []),
      'nor is one read': async () => refused(ask('geofences', 'get', [s.two]), 404),
      'another can be made': async () => {
        s.four = await fence(ask, circle('four'));
        assert.deepEqual(await fences(ask), [s.four]);
      },
    }),
    'devices of a geofence': (ask, s) => ({
      'a device': async () => device(ask, s),
      'a geofence': async () => {
        s.id = await fence(ask, circle('Depot'));
      },
      'it has none': async () => assert.deepEqual((await ask<Rows<Device>>('geofences', 'getDevices', [s.id])).data, []),
      'add the device': async () => ask('geofences', 'addDevice', [s.id, s.device]),
      'the geofence has it': async () => {
        const { data } = await ask<Rows<Device>>('geofences', 'getDevices', [s.id]);
        assert.deepEqual(
          data.map(({ trackingId }) => trackingId),
          [s.device],
        );
      },
      'the device has it': async () => {
        const { data } = await ask<Rows<Geofence>>('devices', 'getGeofences', [s.device]);
        const rows = data.map(({ id }) => id);
        once(rows, [s.id], 'geofences');
      },
      'remove the device': async () => ask('geofences', 'removeDevice', [s.id, s.device]),
      'it has none again': async () => assert.deepEqual((await ask<Rows<Device>>('geofences', 'getDevices', [s.id])).data, []),
    }),
    'an alias from its making to its end': (ask, s) => ({
      'a device': async () => device(ask, s),
      add: async () => ask('aliases', 'add', [s.device, 'cargoId', '123-456']),
      'the device has it': async () => once((await aliases(ask, s.device)).cargoId ?? [], ['123-456'], 'aliases'),
      'the device is found by it': async () =>
        assert.equal((await ask<Device>('aliases', 'getTrackingId', ['cargoId', '123-456'])).trackingId, s.device),
      delete: async () => ask('aliases', 'deleteOne', [s.device, 'cargoId', '123-456']),
      'the device has it no more': async () => assert.ok(!((await aliases(ask, s.device)).cargoId ?? []).includes('123-456')),
      'nor is it found by it': async () => refused(ask('aliases', 'getTrackingId', ['cargoId', '123-456']), 404),
    }),
    'aliases by their type': (ask, s) => ({
      'a device': async () => device(ask, s),
      'add three of two types': async () => {
        for (const name of ['left', 'right']) await ask('aliases', 'add', [s.device, 'engine', name]);
        await ask('aliases', 'add', [s.device, 'tank', 'main']);
      },
      'of one type': async () => {
        const { data } = await ask<Aliases>('aliases', 'getByType', [s.device, 'engine']);
        assert.deepEqual([[...data.engine].sort(), data.tank], [['left', 'right'], undefined]);
      },
      'or by a filter': async () => {
        const found = await aliases(ask, s.device, { type: 'tank' });
        assert.deepEqual([found.tank, found.engine], [['main'], undefined]);
      },
      'delete those of one type': async () => ask('aliases', 'deleteByType', [s.device, 'engine']),
      'the other is left': async () => {
        const { engine, tank } = await aliases(ask, s.device);
        assert.deepEqual([engine ?? [], tank], [[], ['main']]);
      },
      'delete all': async () => ask('aliases', 'delete', [s.device]),
      'none is left': async () => assert.deepEqual(await aliases(ask, s.device), {}),
    }),
    'aliases of a project': (ask, s) => ({
      'a device': async () => device(ask, s),
      add: async () => ask('aliases', 'add', [s.device, 'pallet', 'P-1']),
      'it is listed': async () => {
        const { data } = await ask<Rows<{ readonly trackingId: string; readonly aliases: object }>>('aliases', 'getAll', [], {
          type: 'pallet',
        });
        once(
          data.map(({ trackingId }) => trackingId),
          [s.device],
          'devices',
        );
      },
      'none of another type': async () =>
        assert.deepEqual((await ask<Rows<Device>>('aliases', 'getAll', [], { type: 'no-such-type' })).data, []),
    }),
    'the shadow of a device': (ask, s) => ({
      'a device': async () => device(ask, s),
      set: async () => {
        const { desired } = await ask<Shadow>('shadows', 'setDesired', [s.device, { payload: { colour: 'red', speed: 3 } }]);
        assert.deepEqual(desired?.payload, { colour: 'red', speed: 3 });
      },
      read: async () => assert.deepEqual((await shadow(ask, s.device)).desired?.payload, { colour: 'red', speed: 3 }),
      'one side of it': async () => {
        const { payload } = await ask<Side>('shadows', 'getDesired', [s.device]);
        assert.deepEqual(payload, { colour: 'red', speed: 3 });
      },
      'among several': async () => {
        const rows = await ask<readonly { readonly trackingId: string; readonly body: Shadow }[]>('shadows', 'getBatch', [
          [s.device],
        ]);
        const found = given(
          rows.find(({ trackingId }) => trackingId === s.device),
          'shadow',
        );
        assert.deepEqual(found.body.desired?.payload, { colour: 'red', speed: 3 });
      },
      clear: async () => ask('shadows', 'clear', [s.device]),
      'it is empty': async () => assert.equal((await shadow(ask, s.device)).desired?.payload?.colour, undefined),
    }),
    'where a device was': (ask, s) => ({
      'a device': async () => device(ask, s),
      'its traces, the last first': async () => {
        const between = { before: Date.now(), after: 1 };
        const { data } = await ask<Rows<{ readonly timestamp: number }>>('traces', 'get', [s.device, between], { count: 10 });
        const times = data.map(({ timestamp }) => timestamp);
        assert.ok(data.length <= 10, `a page of ${data.length}`);
        assert.deepEqual(
          times,
          [...times].sort((a, b) => b - a),
        );
      },
      'its transitions': async () => {
        const { data } = await ask<Rows<{ readonly trackingId: string; readonly inOut: string }>>('transitions', 'get', [
          s.device,
          { before: Date.now(), after: 1 },
        ]);
        for (const row of data) assert.equal(row.trackingId, s.device);
      },
      'remove its traces': async () => ask('traces', 'remove', [s.device]),
      'none is left': async () =>
        assert.deepEqual((await ask<Rows<object>>('traces', 'get', [s.device, { before: Date.now(), after: 1 }])).data, []),
    }),
    'licenses in a batch': (ask, s) => ({
      'the license of the project': async () => license(ask, s),
      'how many devices there are': async () => assert.equal(typeof (await ask('vendor', 'getLicenseCount', [s.app])), 'number'),
      'ask for two': async () => {
        s.job = given(await ask<string | undefined>('vendor', 'requestBatch', [s.app, 2]), 'job');
      },
      'how far it is': async () => {
        const { percent, status } = await ask<{ readonly percent: number; readonly status: string }>(
          'vendor',
          'checkBatchStatus',
          [s.job],
        );
        assert.equal(typeof percent, 'number');
        assert.ok(['started', 'complete'].includes(status), status);
      },
      'what came of it': async () => {
        const { data } = await ask<Rows<{ readonly deviceId: string }>>('vendor', 'getBatchResults', [s.job]);
        for (const { deviceId } of data) assert.equal(typeof deviceId, 'string');
      },
      'not of another job': async () => refused(ask('vendor', 'checkBatchStatus', [nobody]), 404),
    }),
    'what is not there': (ask) => ({
      'a geofence': async () => refused(ask('geofences', 'get', [nobody]), 404),
      'it is not changed': async () => refused(ask('geofences', 'update', [{ ...circle('Nobody'), id: nobody }]), 404),
      'nor removed': async () => refused(ask('geofences', 'remove', [nobody]), 404),
      'a device': async () => refused(ask('devices', 'trackingId', [nobody]), 404),
      'an alias': async () => refused(ask('aliases', 'getTrackingId', ['cargoId', 'no-such-cargo']), 404),
    }),
    'a token that is refused': (ask, s, another) => ({
      'the right one': async () => {
        s.id = await fence(ask, circle('Guarded'));
      },
      'a wrong one lists nothing': async () => refused(another('wrong')('geofences', 'list'), 401, 403),
      'nor reads anything': async () => refused(another('wrong')('geofences', 'get', [s.id]), 401, 403),
      'nor removes anything': async () => refused(another('wrong')('geofences', 'remove', [s.id]), 401, 403),
      'all is as it was': async () => assert.equal((await read(ask, s.id)).name, 'Guarded'),
    }),
  },
};
