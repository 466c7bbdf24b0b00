import assert from 'node:assert/strict';
import { FetchRequestAdapter } from '@microsoft/kiota-http-fetchlibrary';
import { refused as denied, given, numbered, once, type Place, type State, type Vendor } from '../kit.ts';

/** What the flows read of its answers: the client writes names in its own case. */
interface Thing {
  id?: number | string | null;
  name?: string | null;
  description?: string | null;
}
interface DnsRecord extends Thing {
  type?: string | null;
  data?: string | null;
  ttl?: number | null;
}
interface Volume extends Thing {
  sizeGigabytes?: number | null;
  filesystemType?: string | null;
}
interface Droplet extends Thing {
  tags?: string[] | null;
  status?: string | null;
}
interface Action extends Thing {
  type?: string | null;
  status?: string | null;
}
interface Firewall extends Thing {
  inboundRules?: { protocol?: string | null; ports?: string | null }[] | null;
}
interface Project extends Thing {
  purpose?: string | null;
  environment?: string | null;
}
interface Vpc extends Thing {
  region?: string | null;
  ipRange?: string | null;
}
interface Check extends Thing {
  type?: string | null;
  target?: string | null;
  enabled?: boolean | null;
}
interface Alert extends Thing {
  threshold?: number | null;
  comparison?: string | null;
}
interface Key extends Thing {
  publicKey?: string | null;
  fingerprint?: string | null;
}
interface Answer {
  account?: { email?: string | null; status?: string | null };
  action?: Action;
  actions?: Action[];
  alert?: Alert;
  alerts?: Alert[];
  check?: Check;
  checks?: Check[];
  domain?: Thing;
  domains?: Thing[];
  domainRecord?: DnsRecord;
  domainRecords?: DnsRecord[];
  droplet?: Droplet;
  droplets?: Droplet[];
  firewall?: Firewall;
  firewalls?: Firewall[];
  meta?: { total?: number | null };
  project?: Project;
  projects?: Project[];
  snapshot?: Thing;
  snapshots?: Thing[];
  sshKey?: Key;
  sshKeys?: Key[];
  tag?: Thing;
  tags?: Thing[];
  volume?: Volume;
  volumes?: Volume[];
  vpc?: Vpc;
  vpcs?: Vpc[];
}

/** A path of the client: what may be asked of it. */
interface Path {
  get(asked?: { queryParameters: object }): Promise<Answer | undefined>;
  post(body: object): Promise<Answer | undefined>;
  put(body: object): Promise<Answer | undefined>;
  patch(body: object): Promise<Answer | undefined>;
  delete(asked?: object): Promise<unknown>;
}

interface Client {
  readonly v2: {
    readonly account: Path & { readonly keys: Path & { bySsh_key_identifier(id: number): Path } };
    readonly domains: Path & {
      byDomain_name(name: string): Path & { readonly records: Path & { byDomain_record_id(id: number): Path } };
    };
    readonly droplets: Path & { byDroplet_id(id: number): Path & { readonly actions: Path & { byAction_id(id: number): Path } } };
    readonly firewalls: Path & { byFirewall_id(id: string): Path & { readonly rules: Path } };
    readonly projects: Path & { byProject_id(id: string): Path };
    readonly tags: Path & { byTag_id(id: string): Path & { readonly resources: Path } };
    readonly uptime: {
      readonly checks: Path & { byCheck_id(id: string): Path & { readonly alerts: Path & { byAlert_id(id: string): Path } } };
    };
    readonly volumes: Path & {
      readonly snapshots: { bySnapshot_id(id: string): Path };
      byVolume_id(id: string): Path & { readonly snapshots: Path };
    };
    readonly vpcs: Path & { byVpc_id(id: string): Path };
  };
}

type Ocean = Client['v2'];

/** The package has its sources beside its JavaScript, and `tsc` would check all of them by this project's rules: no types of it. */
const dots = (await import('@digitalocean/dots' as string)) as {
  createDigitalOceanClient(adapter: FetchRequestAdapter): Client;
  DigitalOceanApiKeyAuthenticationProvider: new (token: string) => ConstructorParameters<typeof FetchRequestAdapter>[0];
};

const connect = (place: Place, token: string): Ocean => {
  const adapter = new FetchRequestAdapter(new dots.DigitalOceanApiKeyAuthenticationProvider(token));
  adapter.baseUrl = place.url;
  return dots.createDigitalOceanClient(adapter).v2;
};

/** The client keeps the status of an error in `responseStatusCode`. */
const refused = (call: Promise<unknown>, ...statuses: readonly number[]): Promise<unknown> =>
  denied(
    call.catch((thrown: { responseStatusCode?: number }) => {
      throw Object.assign(thrown, { status: thrown.responseStatusCode });
    }),
    ...statuses,
  );

const idOf = (thing: Thing | null | undefined): string => String(given(thing?.id, 'id'));
const ids = (rows: readonly Thing[] | undefined): string[] => given(rows, 'rows').map(idOf);
const names = (rows: readonly Thing[] | undefined): string[] => given(rows, 'rows').map(({ name }) => given(name, 'name'));
const by = (queryParameters: object): { queryParameters: object } => ({ queryParameters });

const domain = async (ocean: Ocean, name: string): Promise<void> => {
  const made = await ocean.domains.post({ name });
  assert.equal(made?.domain?.name, name);
};

const newVolume = { sizeGigabytes: 10, region: 'nyc1', filesystemType: 'ext4' };
const volume = async (ocean: Ocean, name: string, asked: object = {}): Promise<string> =>
  idOf((await ocean.volumes.post({ name, ...newVolume, ...asked }))?.volume);

const droplet = async (ocean: Ocean, s: State, name = 'web-1', asked: object = {}): Promise<string> => {
  const body = { name, region: 'nyc3', size: 's-1vcpu-1gb', image: 'ubuntu-20-04-x64', ...asked };
  s.droplet = idOf((await ocean.droplets.post(body))?.droplet);
  return s.droplet;
};

const rule = (ports: string): object => ({ protocol: 'tcp', ports, sources: { addresses: ['0.0.0.0/0'] } });

/** Guide: docs.digitalocean.com/reference/api (introduction, and each of its resources). */
export const vendor: Vendor<Ocean> = {
  document: 'digitalocean/digitalocean.com.json',
  header: 'Authorization',
  word: 'Bearer',
  made: 'dop_v1_8c1b4d7e2f5a9063b7d1c4e8f2a5906',
  client: connect,
  flows: {
    'a domain is made and deleted': (ocean) => ({
      create: async () => domain(ocean, 'example.com'),
      read: async () => assert.equal((await ocean.domains.byDomain_name('example.com').get())?.domain?.name, 'example.com'),
      list: async () => once(names((await ocean.domains.get(by({ perPage: 200 })))?.domains), ['example.com'], 'domains'),
      delete: async () => ocean.domains.byDomain_name('example.com').delete(),
      'it is gone': async () => {
        await refused(ocean.domains.byDomain_name('example.com').get(), 404);
      },
      'it is not listed': async () =>
        assert.ok(!names((await ocean.domains.get(by({ perPage: 200 })))?.domains).includes('example.com')),
    }),
    'a record of a domain is changed': (ocean, s) => {
      const records = ocean.domains.byDomain_name('records.example').records;
      return {
        'the domain': async () => domain(ocean, 'records.example'),
        create: async () => {
          const asked = { type: 'A', name: 'www', data: '162.10.66.0', ttl: 1800 };
          const made = (await records.post(asked))?.domainRecord;
          s.id = idOf(made);
          assert.deepEqual([made?.type, made?.name, made?.data, made?.ttl], ['A', 'www', '162.10.66.0', 1800]);
        },
        read: async () => assert.equal((await records.byDomain_record_id(Number(s.id)).get())?.domainRecord?.name, 'www'),
        change: async () => {
          const changed = (await records.byDomain_record_id(Number(s.id)).patch({ type: 'A', name: 'blog' }))?.domainRecord;
          assert.deepEqual([changed?.name, changed?.data], ['blog', '162.10.66.0']);
        },
        'it stays changed': async () => {
          const read = (await records.byDomain_record_id(Number(s.id)).get())?.domainRecord;
          assert.deepEqual([read?.name, read?.ttl], ['blog', 1800]);
        },
        delete: async () => records.byDomain_record_id(Number(s.id)).delete(),
        'it is gone': async () => {
          await refused(records.byDomain_record_id(Number(s.id)).get(), 404);
        },
      };
    },
    'records of one domain, and of one type': (ocean, s) => {
      const of = (name: string) => ocean.domains.byDomain_name(name).records;
      return {
        'two domains': async () => {
          await domain(ocean, 'one.example');
          await domain(ocean, 'two.example');
          s.www = idOf((await of('one.example').post({ type: 'A', name: 'www', data: '10.0.0.1' }))?.domainRecord);
          s.txt = idOf((await of('one.example').post({ type: 'TXT', name: 'note', data: 'hello' }))?.domainRecord);
          s.other = idOf((await of('two.example').post({ type: 'A', name: 'www', data: '10.0.0.2' }))?.domainRecord);
        },
        'the first has its own': async () => {
          const rows = ids((await of('one.example').get(by({ perPage: 200 })))?.domainRecords);
          once(rows, [s.www, s.txt], 'records');
          assert.ok(!rows.includes(s.other));
        },
        'by type': async () => {
          const rows = ids((await of('one.example').get(by({ type: 'TXT' })))?.domainRecords);
          assert.deepEqual([rows.includes(s.txt), rows.includes(s.www)], [true, false]);
        },
        'a record of another domain is not there': async () => {
          await refused(of('one.example').byDomain_record_id(Number(s.other)).get(), 404);
        },
        'a domain that is not there has none': async () => {
          await refused(of('nowhere.example').get(), 404);
        },
      };
    },
    'volumes through numbered pages': (ocean, s) => ({
      'create five': async () => {
        for (const n of [1, 2, 3, 4, 5]) s[`id${n}`] = await volume(ocean, `page-${n}`);
      },
      'pages of two, until one is empty': async () => {
        const rows = await numbered(async (page) =>
          given((await ocean.volumes.get(by({ page, perPage: 2 })))?.volumes, 'volumes'),
        );
        once(ids(rows), [s.id1, s.id2, s.id3, s.id4, s.id5], 'pages');
        s.count = String(rows.length);
      },
      'each page says how many there are in all': async () => {
        const page = await ocean.volumes.get(by({ page: 1, perPage: 2 }));
        assert.deepEqual([page?.volumes?.length, String(page?.meta?.total)], [2, s.count]);
      },
    }),
    'a volume is made, found and deleted': (ocean, s) => ({
      create: async () => {
        const made = (await ocean.volumes.post({ name: 'examples', description: 'Block store', ...newVolume }))?.volume;
        s.id = idOf(made);
        assert.deepEqual([made?.name, made?.description, made?.sizeGigabytes], ['examples', 'Block store', 10]);
      },
      read: async () => {
        const read = (await ocean.volumes.byVolume_id(s.id).get())?.volume;
        assert.deepEqual([String(read?.id), read?.name], [s.id, 'examples']);
      },
      'find it by its name': async () => {
        s.other = await volume(ocean, 'spare');
        assert.deepEqual(ids((await ocean.volumes.get(by({ name: 'examples', region: 'nyc1' })))?.volumes), [s.id]);
      },
      delete: async () => ocean.volumes.byVolume_id(s.id).delete(),
      'it is gone': async () => {
        await refused(ocean.volumes.byVolume_id(s.id).get(), 404);
      },
      'the other is left': async () => assert.equal((await ocean.volumes.byVolume_id(s.other).get())?.volume?.name, 'spare'),
    }),
    'a snapshot of a volume': (ocean, s) => ({
      'a volume': async () => {
        s.id = await volume(ocean, 'precious');
      },
      snapshot: async () => {
        const made = (await ocean.volumes.byVolume_id(s.id).snapshots.post({ name: 'before-upgrade' }))?.snapshot;
        s.snapshot = idOf(made);
        assert.equal(made?.name, 'before-upgrade');
      },
      'the volume has it': async () =>
        once(ids((await ocean.volumes.byVolume_id(s.id).snapshots.get())?.snapshots), [s.snapshot], 'snapshots'),
      read: async () =>
        assert.equal((await ocean.volumes.snapshots.bySnapshot_id(s.snapshot).get())?.snapshot?.name, 'before-upgrade'),
      delete: async () => ocean.volumes.snapshots.bySnapshot_id(s.snapshot).delete(),
      'it is gone': async () => {
        await refused(ocean.volumes.snapshots.bySnapshot_id(s.snapshot).get(), 404);
      },
    }),
    'a droplet is made and deleted': (ocean, s) => ({
      create: async () => {
        await droplet(ocean, s, 'example.com', { tags: ['env:prod', 'web'] });
      },
      read: async () => {
        const read = (await ocean.droplets.byDroplet_id(Number(s.droplet)).get())?.droplet;
        assert.deepEqual([String(read?.id), read?.name, read?.tags], [s.droplet, 'example.com', ['env:prod', 'web']]);
        assert.ok(['new', 'active', 'off', 'archive'].includes(given(read?.status, 'status')));
      },
      'find it by its name': async () => {
        await droplet(ocean, { ...s }, 'another.example');
        assert.deepEqual(ids((await ocean.droplets.get(by({ name: 'example.com' })))?.droplets), [s.droplet]);
      },
      delete: async () => ocean.droplets.byDroplet_id(Number(s.droplet)).delete(),
      'it is gone': async () => {
        await refused(ocean.droplets.byDroplet_id(Number(s.droplet)).get(), 404);
      },
      'it cannot be deleted again': async () => {
        await refused(ocean.droplets.byDroplet_id(Number(s.droplet)).delete(), 404);
      },
    }),
    'actions of a droplet': (ocean, s) => {
      const actions = () => ocean.droplets.byDroplet_id(Number(s.droplet)).actions;
      return {
        'a droplet': async () => {
          await droplet(ocean, s);
        },
        rename: async () => {
          const made = (await actions().post({ type: 'rename', name: 'web-2' }))?.action;
          s.action = idOf(made);
          assert.equal(made?.type, 'rename');
          assert.ok(['in-progress', 'completed'].includes(given(made?.status, 'status')));
        },
        'read the action': async () => {
          const read = (await actions().byAction_id(Number(s.action)).get())?.action;
          assert.deepEqual([String(read?.id), read?.type], [s.action, 'rename']);
        },
        'power it off': async () => assert.equal((await actions().post({ type: 'power_off' }))?.action?.type, 'power_off'),
        'the droplet has both actions': async () => {
          const types = given((await actions().get())?.actions, 'actions').map(({ type }) => given(type, 'type'));
          once(types, ['rename', 'power_off'], 'types');
        },
        'a droplet that is not there does nothing': async () => {
          await refused(ocean.droplets.byDroplet_id(987654321).actions.post({ type: 'reboot' }), 404);
        },
        'there is no such action': async () => {
          await refused(ocean.droplets.byDroplet_id(Number(s.droplet)).actions.post({ type: 'levitate' }), 400, 422);
        },
      };
    },
    'droplets of a tag': (ocean, s) => ({
      'three droplets, two of a tag': async () => {
        s.a = await droplet(ocean, s, 'a', { tags: ['blue'] });
        s.b = await droplet(ocean, s, 'b', { tags: ['blue', 'green'] });
        s.c = await droplet(ocean, s, 'c', { tags: ['green'] });
      },
      'the blue': async () => {
        const rows = ids((await ocean.droplets.get(by({ tagName: 'blue' })))?.droplets);
        once(rows, [s.a, s.b], 'droplets');
        assert.ok(!rows.includes(s.c));
      },
      'delete the blue': async () => ocean.droplets.delete(by({ tagName: 'blue' })),
      'they are gone': async () => {
        await refused(ocean.droplets.byDroplet_id(Number(s.a)).get(), 404);
        await refused(ocean.droplets.byDroplet_id(Number(s.b)).get(), 404);
      },
      'the other is left': async () => assert.equal((await ocean.droplets.byDroplet_id(Number(s.c)).get())?.droplet?.name, 'c'),
    }),
    'a tag is made and put on a volume': (ocean, s) => ({
      create: async () => assert.equal((await ocean.tags.post({ name: 'extra-awesome' }))?.tag?.name, 'extra-awesome'),
      read: async () => assert.equal((await ocean.tags.byTag_id('extra-awesome').get())?.tag?.name, 'extra-awesome'),
      list: async () => once(names((await ocean.tags.get(by({ perPage: 200 })))?.tags), ['extra-awesome'], 'tags'),
      'put it on a volume, and take it off': async () => {
        s.id = await volume(ocean, 'tagged');
        const resources = [{ resourceId: s.id, resourceType: 'volume' }];
        await ocean.tags.byTag_id('extra-awesome').resources.post({ resources });
        await ocean.tags.byTag_id('extra-awesome').resources.delete({ resources });
      },
      delete: async () => ocean.tags.byTag_id('extra-awesome').delete(),
      'it is gone': async () => {
        await refused(ocean.tags.byTag_id('extra-awesome').get(), 404);
      },
    }),
    'a firewall is made, replaced and deleted': (ocean, s) => ({
      create: async () => {
        const made = (await ocean.firewalls.post({ name: 'front', inboundRules: [rule('80')] }))?.firewall;
        s.id = idOf(made);
        assert.deepEqual([made?.name, made?.inboundRules?.map(({ ports }) => ports)], ['front', ['80']]);
      },
      read: async () => assert.equal((await ocean.firewalls.byFirewall_id(s.id).get())?.firewall?.name, 'front'),
      replace: async () => {
        const put = (await ocean.firewalls.byFirewall_id(s.id).put({ name: 'edge', inboundRules: [rule('443')] }))?.firewall;
        assert.deepEqual([String(put?.id), put?.name], [s.id, 'edge']);
      },
      'it has the new rules alone': async () => {
        const read = (await ocean.firewalls.byFirewall_id(s.id).get())?.firewall;
        assert.deepEqual([read?.name, read?.inboundRules?.map(({ ports }) => ports)], ['edge', ['443']]);
      },
      'it is listed': async () => once(ids((await ocean.firewalls.get(by({ perPage: 200 })))?.firewalls), [s.id], 'firewalls'),
      delete: async () => ocean.firewalls.byFirewall_id(s.id).delete(),
      'it is gone': async () => {
        await refused(ocean.firewalls.byFirewall_id(s.id).get(), 404);
      },
    }),
    'a project is changed in part and whole': (ocean, s) => ({
      create: async () => {
        const asked = { name: 'my-web-api', description: 'My website API', purpose: 'Service or API', environment: 'Production' };
        const made = (await ocean.projects.post(asked))?.project;
        s.id = idOf(made);
        assert.partialDeepStrictEqual(made, asked);
      },
      'change one thing': async () => {
        const changed = (await ocean.projects.byProject_id(s.id).patch({ environment: 'Staging' }))?.project;
        assert.deepEqual([changed?.environment, changed?.name], ['Staging', 'my-web-api']);
      },
      'it keeps the rest': async () => {
        const read = (await ocean.projects.byProject_id(s.id).get())?.project;
        assert.deepEqual([read?.environment, read?.purpose, read?.description], ['Staging', 'Service or API', 'My website API']);
      },
      'replace it whole': async () => {
        const asked = { name: 'site', description: 'A site', purpose: 'Website', environment: 'Development', isDefault: false };
        const put = (await ocean.projects.byProject_id(s.id).put(asked))?.project;
        assert.deepEqual([String(put?.id), put?.name, put?.purpose], [s.id, 'site', 'Website']);
      },
      'it is listed': async () => once(ids((await ocean.projects.get(by({ perPage: 200 })))?.projects), [s.id], 'projects'),
      delete: async () => ocean.projects.byProject_id(s.id).delete(),
      'it is gone': async () => {
        await refused(ocean.projects.byProject_id(s.id).get(), 404);
      },
    }),
    'a private network is renamed': (ocean, s) => ({
      create: async () => {
        const asked = { name: 'env.prod-vpc', description: 'VPC for production', region: 'nyc1', ipRange: '10.10.10.0/24' };
        const made = (await ocean.vpcs.post(asked))?.vpc;
        s.id = idOf(made);
        assert.partialDeepStrictEqual(made, asked);
      },
      rename: async () => {
        const changed = (await ocean.vpcs.byVpc_id(s.id).patch({ name: 'prod-vpc' }))?.vpc;
        assert.deepEqual([changed?.name, changed?.description], ['prod-vpc', 'VPC for production']);
      },
      read: async () => {
        const read = (await ocean.vpcs.byVpc_id(s.id).get())?.vpc;
        assert.deepEqual([read?.name, read?.region, read?.ipRange], ['prod-vpc', 'nyc1', '10.10.10.0/24']);
      },
      delete: async () => ocean.vpcs.byVpc_id(s.id).delete(),
      'it is gone': async () => {
        await refused(ocean.vpcs.byVpc_id(s.id).get(), 404);
      },
    }),
    'an uptime check, and its alerts': (ocean, s) => {
      const alerts = () => ocean.uptime.checks.byCheck_id(s.id).alerts;
      return {
        'create the check': async () => {
          const asked = {
            name: 'Landing page',
            type: 'https',
            target: 'https://www.landingpage.com',
            regions: ['us_east'],
            enabled: true,
          };
          const made = (await ocean.uptime.checks.post(asked))?.check;
          s.id = idOf(made);
          assert.deepEqual([made?.name, made?.type, made?.enabled], ['Landing page', 'https', true]);
        },
        'switch it off': async () => {
          const asked = {
            name: 'Landing page',
            type: 'https',
            target: 'https://www.landingpage.com',
            regions: ['us_east'],
            enabled: false,
          };
          assert.equal((await ocean.uptime.checks.byCheck_id(s.id).put(asked))?.check?.enabled, false);
          assert.equal((await ocean.uptime.checks.byCheck_id(s.id).get())?.check?.enabled, false);
        },
        'create an alert': async () => {
          const notifications = { email: ['bob@example.com'], slack: [] };
          const asked = {
            name: 'Slow',
            type: 'latency',
            threshold: 300,
            comparison: 'greater_than',
            period: '2m',
            notifications,
          };
          const made = (await alerts().post(asked))?.alert;
          s.alert = idOf(made);
          assert.deepEqual([made?.name, made?.threshold, made?.comparison], ['Slow', 300, 'greater_than']);
        },
        'the check has it': async () => once(ids((await alerts().get())?.alerts), [s.alert], 'alerts'),
        'delete the alert': async () => alerts().byAlert_id(s.alert).delete(),
        'it is gone, the check is not': async () => {
          await refused(alerts().byAlert_id(s.alert).get(), 404);
          assert.equal((await ocean.uptime.checks.byCheck_id(s.id).get())?.check?.name, 'Landing page');
        },
        'a check pings or asks, it does not guess': async () => {
          const asked = { name: 'Odd', type: 'guess', target: 'https://www.landingpage.com', regions: ['us_east'] };
          await refused(ocean.uptime.checks.post(asked), 400, 422);
        },
      };
    },
    'a key of mine is renamed': (ocean, s) => ({
      add: async () => {
        const publicKey = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ5jQh0c4m9b6bKxvC0XJf8q1YQZb0c0e7p2V5N2l1Qd example';
        const made = (await ocean.account.keys.post({ name: 'My key', publicKey }))?.sshKey;
        s.id = idOf(made);
        assert.deepEqual([made?.name, made?.publicKey], ['My key', publicKey]);
      },
      rename: async () => {
        const put = (await ocean.account.keys.bySsh_key_identifier(Number(s.id)).put({ name: 'My laptop' }))?.sshKey;
        assert.deepEqual([String(put?.id), put?.name], [s.id, 'My laptop']);
      },
      read: async () =>
        assert.equal((await ocean.account.keys.bySsh_key_identifier(Number(s.id)).get())?.sshKey?.name, 'My laptop'),
      list: async () => once(ids((await ocean.account.keys.get(by({ perPage: 200 })))?.sshKeys), [s.id], 'keys'),
      delete: async () => ocean.account.keys.bySsh_key_identifier(Number(s.id)).delete(),
      'it is gone': async () => {
        await refused(ocean.account.keys.bySsh_key_identifier(Number(s.id)).get(), 404);
      },
    }),
    'a wrong request': (ocean, s) => ({
      'a droplet needs a size and an image': async () => {
        await refused(ocean.droplets.post({ name: 'bare' }), 400, 422);
      },
      'a key has a public part': async () => {
        await refused(ocean.account.keys.post({ name: 'hollow' }), 400, 422);
      },
      'a snapshot needs a name': async () => {
        s.id = await volume(ocean, 'unnamed');
        await refused(ocean.volumes.byVolume_id(s.id).snapshots.post({ tags: ['x'] }), 400, 422);
      },
      'nothing was made': async () => {
        assert.deepEqual(ids((await ocean.droplets.get(by({ name: 'bare' })))?.droplets), []);
        assert.deepEqual(ids((await ocean.volumes.byVolume_id(s.id).snapshots.get())?.snapshots), []);
      },
    }),
    'a credential that is refused': (ocean, _s, another) => ({
      'the right one is taken': async () => assert.equal(typeof (await ocean.account.get())?.account?.email, 'string'),
      'another one is not': async () => {
        await refused(another('nobody').account.get(), 401);
      },
      'nor does it read droplets': async () => {
        await refused(another('nobody').droplets.get(), 401);
      },
    }),
  },
  strict: ['a credential that is refused'],
};
