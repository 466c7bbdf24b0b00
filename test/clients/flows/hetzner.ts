import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { given, once, type Place, pages, refused, type Vendor } from '../kit.ts';

type Key = { readonly id: number; readonly name: string; readonly publicKey: string; readonly fingerprint: string };
type Page<Name extends string, Row> = Readonly<Record<Name, readonly Row[]>> & {
  readonly nextPage?: number | null;
  readonly totalEntries?: number;
};
type Subnet = { readonly type: string; readonly ip_range: string; readonly network_zone: string };
type Route = { readonly destination: string; readonly gateway: string };
type Network = {
  readonly id: number;
  readonly name: string;
  readonly ip_range: string;
  readonly subnets: readonly Subnet[];
  readonly routes: readonly Route[];
  readonly labels: Readonly<Record<string, string>>;
};
type Action = { readonly id: number; readonly command: string; readonly status: string };
type Named = { readonly id: number; readonly name: string };

/** The parts of the client that are used here: it has no types of its own. */
interface Hetzner {
  readonly axios: {
    readonly defaults: { validateStatus: (status: number) => boolean };
    readonly interceptors: { readonly response: { use(done: undefined, failed: (error: object) => unknown): void } };
  };
  readonly sshKeys: {
    list(asked?: object): Promise<Page<'sshKeys', Key>>;
    get(id: number): Promise<Key>;
    create(name?: string, publicKey?: string): Promise<Key>;
    changeName(id: number, name: string): Promise<{ readonly ssh_key: Key }>;
    delete(id: number): Promise<void>;
  };
  readonly networks: {
    readonly actions: {
      addSubnet(id: number, type: string, ipRange: string): Promise<Action>;
      deleteSubnet(id: number, ipRange: string): Promise<Action>;
      addRoute(id: number, destination: string, gateway: string): Promise<Action>;
      changeIPRange(id: number, ipRange: string): Promise<Action>;
      list(id: number): Promise<Page<'actions', Action>>;
      get(id: number, action: number): Promise<Action>;
    };
    get(id: number): Promise<Network>;
    create(name?: string, ipRange?: string, subnets?: object[], routes?: object[], labels?: object): Promise<Network>;
    update(id: number, name: string, labels?: object): Promise<Network>;
    delete(id: number): Promise<void>;
  };
  readonly locations: { list(asked?: object): Promise<Page<'locations', Named>>; get(id: number): Promise<Named> };
}

const { Client } = createRequire(import.meta.url)('hcloud-js') as { Client: new (options: object) => Hetzner };

/** The client throws the code and the message of an error alone: its status is told too. */
const connect = (place: Place, token: string): Hetzner => {
  const client = new Client({ token, baseURL: place.base });
  let status = 0;
  client.axios.defaults.validateStatus = (answered) => {
    status = answered;
    return answered < 300;
  };
  client.axios.interceptors.response.use(undefined, (error) => Promise.reject(Object.assign(error, { status })));
  return client;
};

/** A public key of its own for each name. */
const publicKey = (name: string): string => {
  const type = 'ssh-ed25519';
  const text = (bytes: Buffer): Buffer => Buffer.concat([Buffer.from([0, 0, 0, bytes.length]), bytes]);
  const bytes = Buffer.concat([text(Buffer.from(type)), text(createHash('sha256').update(name).digest())]);
  return `${type} ${bytes.toString('base64')}`;
};

const key = (api: Hetzner, name: string): Promise<Key> => api.sshKeys.create(name, publicKey(name));
const keys = async (api: Hetzner, asked: object = {}): Promise<string[]> => {
  const rows = await pages(
    (_, page) => api.sshKeys.list({ ...asked, page }),
    ({ sshKeys }) => sshKeys,
    ({ nextPage }) => (nextPage ? String(nextPage) : undefined),
  );
  return rows.map(({ id }) => String(id));
};
const network = (api: Hetzner, name: string): Promise<Network> =>
  api.networks.create(name, '10.0.0.0/16', undefined, undefined, { environment: 'test' });

/** Guide: docs.hetzner.cloud, "Pagination", "Errors", "Labels", "SSH Keys", "Networks", "Network Actions", "Locations". */
export const vendor: Vendor<Hetzner> = {
  document: 'hetzner/hetzner.cloud.json',
  header: 'Authorization',
  word: 'Bearer',
  made: 'LRK9DAWQ1ZAEFSrCNEEzLCUwhYX1U3g7wMg4dTlkkDC96fyDuyJ39nVbVjCKSDfj',
  client: connect,
  strict: ['a token that is refused'],
  flows: {
    'a key from its making to its end': (api, s) => ({
      create: async () => {
        const made = await key(api, 'laptop');
        s.id = String(made.id);
        assert.deepEqual([made.name, made.publicKey, typeof made.fingerprint], ['laptop', publicKey('laptop'), 'string']);
      },
      read: async () => {
        const read = await api.sshKeys.get(Number(s.id));
        assert.deepEqual([String(read.id), read.name, read.publicKey], [s.id, 'laptop', publicKey('laptop')]);
      },
      rename: async () => {
        const { ssh_key: changed } = await api.sshKeys.changeName(Number(s.id), 'old laptop');
        assert.deepEqual([String(changed.id), changed.name], [s.id, 'old laptop']);
      },
      'it stays renamed': async () => {
        const read = await api.sshKeys.get(Number(s.id));
        assert.deepEqual([read.name, read.publicKey], ['old laptop', publicKey('laptop')]);
      },
      delete: async () => api.sshKeys.delete(Number(s.id)),
      'it is gone': async () => refused(api.sshKeys.get(Number(s.id)), 404),
      'it is not listed': async () => assert.ok(!(await keys(api)).includes(s.id)),
    }),
    'keys page by page': (api, s) => ({
      'make five': async () => {
        const made = [];
        for (const name of ['a-key', 'b-key', 'c-key', 'd-key', 'e-key']) made.push(String((await key(api, name)).id));
        s.all = made.join(' ');
        once(made, made, 'made ids');
      },
      'two on a page': async () => {
        const page = await api.sshKeys.list({ perPage: 2, page: 1 });
        assert.equal(page.sshKeys.length, 2);
        assert.equal(page.nextPage, 2);
      },
      'all pages': async () => once(await keys(api, { perPage: 2 }), s.all.split(' '), 'keys'),
      'how many there are': async () => {
        const { totalEntries } = await api.sshKeys.list({ perPage: 2 });
        assert.equal(totalEntries, (await keys(api)).length);
      },
    }),
    'a key by its name': (api, s) => ({
      'make two': async () => {
        s.id = String((await key(api, 'office')).id);
        s.other = String((await key(api, 'home')).id);
      },
      'the one of that name': async () => assert.deepEqual(await keys(api, { name: 'office' }), [s.id]),
      'none of another name': async () => assert.deepEqual(await keys(api, { name: 'garage' }), []),
    }),
    'a network from its making to its end': (api, s) => ({
      create: async () => {
        const made = await network(api, 'mynet');
        s.id = String(made.id);
        assert.deepEqual([made.name, made.ip_range, made.labels], ['mynet', '10.0.0.0/16', { environment: 'test' }]);
      },
      read: async () => {
        const read = await api.networks.get(Number(s.id));
        assert.deepEqual([String(read.id), read.name, read.ip_range], [s.id, 'mynet', '10.0.0.0/16']);
      },
      change: async () => {
        const changed = await api.networks.update(Number(s.id), 'new-name', { environment: 'prod' });
        assert.deepEqual([String(changed.id), changed.name, changed.labels], [s.id, 'new-name', { environment: 'prod' }]);
      },
      'it stays changed': async () => {
        const read = await api.networks.get(Number(s.id));
        assert.deepEqual([read.name, read.ip_range, read.labels], ['new-name', '10.0.0.0/16', { environment: 'prod' }]);
      },
      delete: async () => api.networks.delete(Number(s.id)),
      'it is gone': async () => refused(api.networks.get(Number(s.id)), 404),
    }),
    'a network with subnets and routes': (api, s) => ({
      create: async () => {
        const subnets = [{ type: 'cloud', ip_range: '10.0.1.0/24', network_zone: 'eu-central' }];
        const routes = [{ destination: '10.100.1.0/24', gateway: '10.0.1.1' }];
        s.id = String((await api.networks.create('routed', '10.0.0.0/16', subnets, routes)).id);
      },
      'it has the subnet': async () => {
        const { subnets } = await api.networks.get(Number(s.id));
        assert.deepEqual(
          subnets.map(({ type, ip_range, network_zone }) => [type, ip_range, network_zone]),
          [['cloud', '10.0.1.0/24', 'eu-central']],
        );
      },
      'it has the route': async () => {
        const { routes } = await api.networks.get(Number(s.id));
        assert.deepEqual(
          routes.map(({ destination, gateway }) => [destination, gateway]),
          [['10.100.1.0/24', '10.0.1.1']],
        );
      },
    }),
    'a subnet is added and deleted': (api, s) => ({
      'a network': async () => {
        s.id = String((await network(api, 'growing')).id);
      },
      add: async () =>
        assert.equal((await api.networks.actions.addSubnet(Number(s.id), 'cloud', '10.0.2.0/24')).command, 'add_subnet'),
      'the network has it': async () => {
        const { subnets } = await api.networks.get(Number(s.id));
        assert.deepEqual(
          subnets.map(({ ip_range }) => ip_range),
          ['10.0.2.0/24'],
        );
      },
      delete: async () =>
        assert.equal((await api.networks.actions.deleteSubnet(Number(s.id), '10.0.2.0/24')).command, 'delete_subnet'),
      'the network has none': async () => assert.deepEqual((await api.networks.get(Number(s.id))).subnets, []),
    }),
    'what was done to a network': (api, s) => ({
      'a network': async () => {
        s.id = String((await network(api, 'acted')).id);
      },
      'another range': async () => {
        const action = await api.networks.actions.changeIPRange(Number(s.id), '10.0.0.0/12');
        s.action = String(action.id);
        assert.equal(action.command, 'change_ip_range');
      },
      'the network has it': async () => assert.equal((await api.networks.get(Number(s.id))).ip_range, '10.0.0.0/12'),
      'read the action': async () => {
        const action = await api.networks.actions.get(Number(s.id), Number(s.action));
        assert.deepEqual([String(action.id), action.command], [s.action, 'change_ip_range']);
      },
      'it is listed': async () => {
        const { actions } = await api.networks.actions.list(Number(s.id));
        once(
          actions.map(({ id }) => String(id)),
          [s.action],
          'actions',
        );
      },
    }),
    'where servers can be': (api, s) => ({
      'there are locations': async () => {
        const { locations } = await api.locations.list();
        const one = given(locations[0], 'location');
        [s.id, s.name] = [String(one.id), one.name];
      },
      'read one': async () => {
        const { id, name } = await api.locations.get(Number(s.id));
        assert.deepEqual([String(id), name], [s.id, s.name]);
      },
      'one by its name': async () => {
        const { locations } = await api.locations.list({ name: s.name });
        assert.deepEqual(
          locations.map(({ name }) => name),
          [s.name],
        );
      },
    }),
    'what is wrong': (api) => ({
      'a key without a name': async () => refused(api.sshKeys.create(undefined, publicKey('none')), 400, 422),
      'a key without a key': async () => refused(api.sshKeys.create('empty'), 400, 422),
      'a network without a range': async () => refused(api.networks.create('nowhere'), 400, 422),
      'a key that is not there': async () => {
        const thrown = await refused(api.sshKeys.get(999_999_999), 404);
        assert.equal(typeof (thrown as { message: unknown }).message, 'string');
      },
      'a network that is not there': async () => refused(api.networks.delete(999_999_999), 404),
    }),
    'a token that is refused': (api, _, another) => ({
      'the right one': async () => assert.ok(Array.isArray((await api.sshKeys.list()).sshKeys)),
      'a wrong one': async () => refused(another('nobodyHasThisToken').sshKeys.list(), 401),
      'it cannot make anything': async () => refused(key(another('nobodyHasThisToken'), 'intruder'), 401),
    }),
  },
};
