import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { given, once, type Place, type Vendor } from '../kit.ts';

type Content = { readonly content: string; readonly disabled?: boolean };
type Set = { readonly name: string; readonly type: string; readonly ttl: number; readonly records: readonly Content[] };
type Zone = { readonly id?: string; readonly name?: string; readonly kind?: string; readonly rrsets?: readonly Set[] };
type Hit = { readonly name: string; readonly object_type: string; readonly content?: string };
type Key = { readonly id: number; readonly active: boolean; readonly keytype: string; readonly dnskey?: string };
type Entry = { readonly name: string; readonly type?: string; readonly ttl?: number; readonly content?: string[] };

/** The parts of the client that are used here: it has no types of its own, and tells a refusal by what it answers alone. */
interface PowerDns {
  getZones(): Promise<readonly Zone[]>;
  createZone(name: string, kind?: string): Promise<Set | false>;
  getZoneWithMeta(name: string): Promise<Zone>;
  getZone(name: string): Promise<readonly Set[]>;
  deleteZone(name: string): Promise<boolean>;
  setRecords(records: readonly Entry[]): Promise<readonly boolean[]>;
  deleteRecords(records: readonly Entry[]): Promise<boolean>;
  appendRecord(record: Entry): Promise<readonly boolean[]>;
  search(asked: { readonly query: string; readonly max?: number; readonly object_type?: string }): Promise<readonly Hit[]>;
  findRecords(find: string, zone: string): Promise<readonly Set[]>;
  findRecordsGlobal(find: string): Promise<readonly Set[]>;
  replaceRecords(find: string, replace: string, zone: string): Promise<number>;
  createCryptokey(zone: string, key?: { keytype: string; active: boolean }): Promise<Key>;
  getCryptoKeys(zone: string): Promise<readonly Key[]>;
  deleteCryptoKey(zone: string, id: string): Promise<unknown>;
}

const { PowerdnsClient } = createRequire(import.meta.url)('@firstdorsal/powerdns-api') as {
  PowerdnsClient: new (address: string, key: string) => PowerDns;
};

const connect = (place: Place, token: string): PowerDns => new PowerdnsClient(`${place.url}/api/v1/servers/localhost`, token);

/** Makes a zone, whose answer has to be a zone's. */
const zone = async (api: PowerDns, name: string, kind?: string): Promise<void> => {
  await api.createZone(name, kind);
  assert.equal((await api.getZoneWithMeta(name)).name, `${name}.`);
};
const zones = async (api: PowerDns): Promise<string[]> => (await api.getZones()).map(({ name }) => String(name));

/** The contents of the records of a name and a type, in an order of their own. */
const contents = async (api: PowerDns, of: string, name: string, type = 'A'): Promise<string[]> =>
  (await api.getZone(of))
    .filter((set) => set.name === `${name}.` && set.type === type)
    .flatMap(({ records }) => records.map(({ content }) => content))
    .sort();
const put = async (api: PowerDns, ...records: readonly Entry[]): Promise<void> => {
  const done = await api.setRecords(records);
  assert.ok(done.length > 0 && done.every((one) => one === true), `set: ${done.join(', ')}`);
};
/** The client answers nothing, or throws what it could not read. */
const nothing = async (call: Promise<unknown>, ...allowed: readonly unknown[]): Promise<void> => {
  let answer: unknown;
  try {
    answer = await call;
  } catch {
    return;
  }
  assert.ok(
    allowed.some((one) => JSON.stringify(one) === JSON.stringify(answer)),
    `not refused, but answered ${JSON.stringify(answer)?.slice(0, 60)}`,
  );
};

/** Guide: doc.powerdns.com/authoritative/http-api, "Zones", "Cryptokeys", "Searching"; the client's README. */
export const vendor: Vendor<PowerDns> = {
  document: 'powerdns/powerdns.local.json',
  header: 'X-API-Key',
  made: 'c2VjcmV0LWtleS1mb3ItdGVzdHM',
  client: connect,
  strict: ['a key that is refused'],
  flows: {
    'a zone from its making to its end': (api) => ({
      create: async () => api.createZone('example.com'),
      read: async () => {
        const { name, kind } = await api.getZoneWithMeta('example.com');
        assert.deepEqual([name, kind], ['example.com.', 'Native']);
      },
      'it is listed': async () => once(await zones(api), ['example.com.'], 'zones'),
      delete: async () => assert.equal(await api.deleteZone('example.com'), true),
      'it is gone': async () => assert.equal((await api.getZoneWithMeta('example.com')).name, undefined),
      'it is not listed': async () => assert.ok(!(await zones(api)).includes('example.com.')),
    }),
    'several zones': (api) => ({
      'make three': async () => {
        for (const name of ['one.org', 'two.org', 'three.org']) await zone(api, name);
      },
      'each is listed once': async () => once(await zones(api), ['one.org.', 'two.org.', 'three.org.'], 'zones'),
      'each is itself': async () => assert.equal((await api.getZoneWithMeta('two.org')).name, 'two.org.'),
      'delete one': async () => assert.equal(await api.deleteZone('two.org'), true),
      'the others stay': async () => {
        const left = await zones(api);
        once(left, ['one.org.', 'three.org.'], 'zones');
        assert.ok(!left.includes('two.org.'));
      },
    }),
    'kinds of zones': (api) => ({
      'make one of each': async () => {
        await api.createZone('master.net', 'Master');
        await api.createZone('slave.net', 'Slave');
      },
      'a master': async () => assert.equal((await api.getZoneWithMeta('master.net')).kind, 'Master'),
      'a slave': async () => assert.equal((await api.getZoneWithMeta('slave.net')).kind, 'Slave'),
      'none of another kind': async () => nothing(api.createZone('odd.net', 'Odd'), false),
      'it was not made': async () => {
        const names = await zones(api);
        once(names, ['master.net.', 'slave.net.'], 'zones');
        assert.ok(!names.includes('odd.net.'));
      },
    }),
    'a zone that is there already': (api) => ({
      create: async () => zone(api, 'twice.org'),
      'a record in it': async () => put(api, { name: 'www.twice.org', content: ['192.0.2.1'] }),
      'the same zone again': async () => nothing(api.createZone('twice.org'), false),
      'it is listed once': async () => once(await zones(api), ['twice.org.'], 'zones'),
      'its record stays': async () => assert.deepEqual(await contents(api, 'twice.org', 'www.twice.org'), ['192.0.2.1']),
    }),
    'zones that are not there': (api) => ({
      read: async () => assert.equal((await api.getZoneWithMeta('nowhere.org')).name, undefined),
      'its records': async () => assert.deepEqual(await api.getZone('nowhere.org'), []),
      'set a record': async () => nothing(api.setRecords([{ name: 'www.nowhere.org', content: ['192.0.2.1'] }]), [false]),
      delete: async () => nothing(api.deleteZone('nowhere.org'), false),
      'nothing came of it': async () => assert.ok(!(await zones(api)).includes('nowhere.org.')),
    }),
    'a record from its making to its end': (api) => ({
      'make a zone': async () => zone(api, 'records.org'),
      set: async () => put(api, { name: 'www.records.org', type: 'A', ttl: 300, content: ['192.0.2.10'] }),
      read: async () => {
        const found = (await api.getZone('records.org')).find(({ name, type }) => name === 'www.records.org.' && type === 'A');
        assert.deepEqual([found?.ttl, found?.records.map(({ content }) => content)], [300, ['192.0.2.10']]);
      },
      'set it again': async () => {
        await put(api, { name: 'www.records.org', type: 'A', ttl: 600, content: ['192.0.2.11'] });
        assert.deepEqual(await contents(api, 'records.org', 'www.records.org'), ['192.0.2.11']);
      },
      delete: async () => assert.equal(await api.deleteRecords([{ name: 'www.records.org', type: 'A' }]), true),
      'it is gone': async () => {
        assert.deepEqual(await contents(api, 'records.org', 'www.records.org'), []);
        assert.equal((await api.getZoneWithMeta('records.org')).name, 'records.org.');
      },
    }),
    'records of several types': (api) => ({
      'make a zone': async () => zone(api, 'mixed.org'),
      'two addresses': async () => put(api, { name: 'mixed.org', type: 'A', content: ['192.0.2.1', '192.0.2.2'] }),
      'mail and a text': async () =>
        put(
          api,
          { name: 'mixed.org', type: 'MX', content: ['10 mail.mixed.org.'] },
          { name: 'mixed.org', type: 'TXT', content: ['"v=spf1 -all"'] },
        ),
      'all are there': async () => {
        assert.deepEqual(await contents(api, 'mixed.org', 'mixed.org', 'A'), ['192.0.2.1', '192.0.2.2']);
        assert.deepEqual(await contents(api, 'mixed.org', 'mixed.org', 'MX'), ['10 mail.mixed.org.']);
        assert.deepEqual(await contents(api, 'mixed.org', 'mixed.org', 'TXT'), ['"v=spf1 -all"']);
      },
      'delete one type': async () => assert.equal(await api.deleteRecords([{ name: 'mixed.org', type: 'A' }]), true),
      'the others stay': async () => {
        assert.deepEqual(await contents(api, 'mixed.org', 'mixed.org', 'A'), []);
        assert.deepEqual(await contents(api, 'mixed.org', 'mixed.org', 'MX'), ['10 mail.mixed.org.']);
      },
    }),
    'records of two zones': (api) => ({
      'make two': async () => {
        await zone(api, 'left.org');
        await zone(api, 'right.org');
      },
      'set in both at once': async () =>
        put(api, { name: 'left.org', content: ['192.0.2.1'] }, { name: 'right.org', content: ['192.0.2.2'] }),
      'each has its own': async () => {
        assert.deepEqual(await contents(api, 'left.org', 'left.org'), ['192.0.2.1']);
        assert.deepEqual(await contents(api, 'right.org', 'right.org'), ['192.0.2.2']);
      },
      'delete one zone': async () => assert.equal(await api.deleteZone('left.org'), true),
      'the other keeps its record': async () => {
        assert.deepEqual(await contents(api, 'right.org', 'right.org'), ['192.0.2.2']);
        assert.deepEqual(await api.getZone('left.org'), []);
      },
    }),
    'records that cannot be': (api) => ({
      'make a zone': async () => zone(api, 'strict.org'),
      'one without a right type': async () =>
        nothing(api.setRecords([{ name: 'www.strict.org', type: 'NOTATYPE', content: ['192.0.2.1'] }]), [false]),
      'one of another zone': async () => {
        const call = api.deleteRecords([
          { name: 'www.strict.org', type: 'A' },
          { name: 'www.elsewhere.org', type: 'A' },
        ]);
        await nothing(call, false);
      },
      'none of them is there': async () => assert.deepEqual(await contents(api, 'strict.org', 'www.strict.org', 'NOTATYPE'), []),
      'a right one': async () => {
        await put(api, { name: 'www.strict.org', content: ['192.0.2.1'] });
        assert.deepEqual(await contents(api, 'strict.org', 'www.strict.org'), ['192.0.2.1']);
      },
    }),
    'a record more': (api) => ({
      'make a zone': async () => zone(api, 'more.org'),
      'a first': async () => put(api, { name: 'www.more.org', type: 'A', ttl: 300, content: ['192.0.2.1'] }),
      'a second': async () => {
        const done = await api.appendRecord({ name: 'www.more.org', type: 'A', ttl: 300, content: ['192.0.2.2'] });
        assert.deepEqual(done, [true]);
      },
      'both are there': async () => assert.deepEqual(await contents(api, 'more.org', 'www.more.org'), ['192.0.2.1', '192.0.2.2']),
      'in one set': async () => {
        const sets = (await api.getZone('more.org')).filter(({ name, type }) => name === 'www.more.org.' && type === 'A');
        assert.equal(sets.length, 1);
      },
    }),
    'what is searched': (api) => ({
      'make two zones': async () => {
        await zone(api, 'harbour.org');
        await zone(api, 'hill.org');
      },
      'a record in one': async () => put(api, { name: 'www.harbour.org', content: ['192.0.2.7'] }),
      'a zone by its name': async () => {
        const hits = await api.search({ query: 'harbour.org', max: 10, object_type: 'zone' });
        assert.deepEqual(
          hits.map(({ name, object_type }) => [name, object_type]),
          [['harbour.org.', 'zone']],
        );
      },
      'a record by its name': async () => {
        const hits = await api.search({ query: 'www.harbour.org', max: 10, object_type: 'record' });
        assert.deepEqual(
          hits.map(({ name, object_type, content }) => [name, object_type, content]),
          [['www.harbour.org.', 'record', '192.0.2.7']],
        );
      },
      'no more than asked for': async () => {
        const hits = await api.search({ query: '*h*.org', max: 1, object_type: 'zone' });
        assert.equal(hits.length, 1);
      },
      'nothing by what is not there': async () =>
        assert.deepEqual(await api.search({ query: 'nowhere.org', max: 10, object_type: 'zone' }), []),
    }),
    'records by their content': (api) => ({
      'make a zone': async () => zone(api, 'moving.org'),
      'three records': async () => {
        await put(
          api,
          { name: 'moving.org', content: ['192.0.2.1'] },
          { name: 'www.moving.org', content: ['192.0.2.1'] },
          { name: 'ftp.moving.org', content: ['192.0.2.9'] },
        );
      },
      'find two': async () => {
        const found = await api.findRecords('192.0.2.1', 'moving.org');
        assert.deepEqual(found.map(({ name }) => name).sort(), ['moving.org.', 'www.moving.org.']);
      },
      'in all zones': async () => {
        const found = await api.findRecordsGlobal('192.0.2.9');
        assert.deepEqual(
          found.map(({ name }) => name),
          ['ftp.moving.org.'],
        );
      },
      'replace two': async () => assert.equal(await api.replaceRecords('192.0.2.1', '198.51.100.1', 'moving.org'), 2),
      'they are replaced': async () => {
        assert.deepEqual(await contents(api, 'moving.org', 'www.moving.org'), ['198.51.100.1']);
        assert.deepEqual(await contents(api, 'moving.org', 'ftp.moving.org'), ['192.0.2.9']);
      },
    }),
    'a key of a zone': (api, s) => ({
      'make a zone': async () => zone(api, 'signed.org'),
      create: async () => {
        const made = await api.createCryptokey('signed.org', { keytype: 'ksk', active: true });
        s.id = String(given(made.id, 'id'));
        assert.deepEqual([made.keytype, made.active], ['ksk', true]);
      },
      'it is listed': async () => {
        const keys = await api.getCryptoKeys('signed.org');
        once(
          keys.map(({ id }) => String(id)),
          [s.id],
          'keys',
        );
        assert.equal(keys.find(({ id }) => String(id) === s.id)?.keytype, 'ksk');
      },
      delete: async () => assert.equal(await api.deleteCryptoKey('signed.org', s.id), true),
      'it is gone': async () => assert.deepEqual(await api.getCryptoKeys('signed.org'), []),
    }),
    'keys of two zones': (api, s) => ({
      'make two zones': async () => {
        await zone(api, 'east.org');
        await zone(api, 'west.org');
      },
      'two keys here, one there': async () => {
        s.first = String((await api.createCryptokey('east.org', { keytype: 'ksk', active: true })).id);
        s.second = String((await api.createCryptokey('east.org', { keytype: 'zsk', active: false })).id);
        s.third = String((await api.createCryptokey('west.org', { keytype: 'csk', active: true })).id);
      },
      'here are two': async () => {
        const keys = await api.getCryptoKeys('east.org');
        assert.deepEqual(
          keys.map(({ id, keytype, active }) => [String(id), keytype, active]).sort(),
          [
            [s.first, 'ksk', true],
            [s.second, 'zsk', false],
          ].sort(),
        );
      },
      'there is one': async () => {
        const keys = await api.getCryptoKeys('west.org');
        assert.deepEqual(
          keys.map(({ id, keytype }) => [String(id), keytype]),
          [[s.third, 'csk']],
        );
      },
      'one goes with its zone': async () => {
        assert.equal(await api.deleteZone('west.org'), true);
        assert.equal((await api.getCryptoKeys('east.org')).length, 2);
      },
    }),
    'a key that is refused': (api, _, another) => ({
      'the right key': async () => zone(api, 'guarded.org'),
      'a wrong one lists nothing': async () => {
        const answered = await another('wrong')
          .getZones()
          .catch(() => []);
        assert.ok(!Array.isArray(answered) || answered.length === 0, 'zones are told');
      },
      'nor reads anything': async () => assert.equal((await another('wrong').getZoneWithMeta('guarded.org')).name, undefined),
      'nor makes anything': async () => nothing(another('wrong').createZone('theirs.org'), false),
      'nor deletes anything': async () => nothing(another('wrong').deleteZone('guarded.org'), false),
      'all is as it was': async () => {
        const names = await zones(api);
        once(names, ['guarded.org.'], 'zones');
        assert.ok(!names.includes('theirs.org.'));
      },
    }),
  },
};
