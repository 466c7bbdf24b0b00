import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout } from 'node:timers/promises';
import * as api from '@linode/api-v4';
import { numbered, once, type Place, refused, type State, type Vendor } from '../kit.ts';

/** Whose call it is: the functions of Linode's package share one axios instance, which it lends for interceptors. */
const caller = new AsyncLocalStorage<{ base: string; token: string }>();

api.baseRequest.interceptors.request.use((config) => {
  const { base, token } = caller.getStore() ?? { base: '', token: '' };
  config.url = (config.url ?? '').replace(/^https:\/\/api\.linode\.com\/v4(beta)?/, base);
  if (token) config.headers.set('Authorization', `Bearer ${token}`);
  return config;
});

/** Makes a call of the package for one account. */
type Linode = <Answer>(call: () => Promise<Answer>) => Promise<Answer>;

const connect =
  (place: Place, token: string): Linode =>
  (call) =>
    caller.run({ base: place.base, token }, call);

const ids = ({ data }: { data: { id: number }[] }): number[] => data.map(({ id }) => id);

/** What Linode says of an error: a reason for each. */
const told = (thrown: unknown): { reason?: unknown; field?: unknown }[] =>
  (thrown as { response?: { data?: { errors?: { reason?: unknown }[] } } }).response?.data?.errors ?? [];

const wrong = async (call: Promise<unknown>, status: number): Promise<void> => {
  assert.equal(typeof told(await refused(call, status))[0]?.reason, 'string', 'the error has a reason');
};

const domain = (name: string) => ({ type: 'master', domain: name, soa_email: 'admin@example.org' }) as api.CreateDomainPayload;

const zone = async (linode: Linode, name: string): Promise<string> =>
  String((await linode(() => api.createDomain(domain(name)))).id);

const machine = async (linode: Linode, label: string): Promise<string> => {
  const body = {
    region: 'us-east',
    type: 'g6-nanode-1',
    image: 'linode/debian12',
    root_pass: 'aComplexP@ssword123',
    booted: false,
    label,
  };
  return String((await linode(() => api.createLinode(body as api.CreateLinodeRequest))).id);
};

const volume = async (linode: Linode, label: string): Promise<string> =>
  String((await linode(() => api.createVolume({ label, region: 'us-east', size: 20 } as api.VolumeRequestPayload))).id);

/** Reads until the row is as wanted, which takes a while at Linode; three seconds at most, and the last row if it never was. */
const until = async <Row>(read: () => Promise<Row>, wanted: (row: Row) => boolean): Promise<Row> => {
  let row = await read();
  for (let n = 0; n < 10 && !wanted(row); n++) {
    await setTimeout(300);
    row = await read();
  }
  return row;
};

const key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAwPHHGQIzAtOx2ZLOQrYB2gtpndbdMu/3NVYesbS3bp user@host';

const rules = (port: string) => ({
  inbound: [{ action: 'ACCEPT', label: 'accept-in', protocol: 'TCP', ports: port, addresses: { ipv4: ['0.0.0.0/0'] } }],
  inbound_policy: 'DROP',
  outbound: [],
  outbound_policy: 'ACCEPT',
});

const firewall = async (linode: Linode, label: string): Promise<string> =>
  String((await linode(() => api.createFirewall({ label, rules: rules('22') } as unknown as api.CreateFirewallPayload))).id);

const tied = async (linode: Linode, s: State): Promise<void> => {
  s.linode = await machine(linode, 'web-1');
  s.id = await volume(linode, 'my-volume');
};

/** Guide: linode.com/docs/api, "Access and authentication", "Pagination", "Filtering and sorting", "Errors", and the reference of each resource. */
export const vendor: Vendor<Linode> = {
  document: 'linode/linode.com.json',
  header: 'Authorization',
  word: 'Bearer',
  made: '03d084436a6c91fbafd5c4b20c82e5056a2e9ce1635920c30dc8d81dc7a6665c',
  client: connect,
  flows: {
    'a domain is added, described and deleted': (linode, s) => ({
      add: async () => {
        const made = await linode(() => api.createDomain(domain('example.org')));
        s.id = String(made.id);
        assert.deepEqual(
          [typeof made.id, made.domain, made.type, made.soa_email],
          ['number', 'example.org', 'master', 'admin@example.org'],
        );
      },
      read: async () => {
        const read = await linode(() => api.getDomain(Number(s.id)));
        assert.deepEqual([read.id, read.domain], [Number(s.id), 'example.org']);
      },
      describe: async () => {
        const body = { description: 'An example', ttl_sec: 3600 } as api.UpdateDomainPayload;
        const changed = await linode(() => api.updateDomain(Number(s.id), body));
        assert.partialDeepStrictEqual(changed, { domain: 'example.org', description: 'An example', ttl_sec: 3600 });
      },
      list: async () => {
        const list = await linode(() => api.getDomains());
        assert.deepEqual([ids(list), list.page, list.pages, list.results], [[Number(s.id)], 1, 1, 1]);
      },
      'delete answers with an empty object': async () => assert.deepEqual(await linode(() => api.deleteDomain(Number(s.id))), {}),
      'it is gone': async () =>
        wrong(
          linode(() => api.getDomain(Number(s.id))),
          404,
        ),
    }),
    'domains through all pages': (linode, s) => ({
      'add thirty': async () => {
        const made: string[] = [];
        for (let n = 1; n <= 30; n++) made.push(await zone(linode, `site-${n}.example.org`));
        s.all = made.join(' ');
      },
      'pages of twenty-five': async () => {
        const rows = await numbered(async (page) => {
          if (page > 2) return [];
          return (await linode(() => api.getDomains({ page, page_size: 25 }))).data;
        });
        once(
          rows.map(({ id }) => String(id)),
          s.all.split(' '),
        );
      },
      'a page says where it is': async () => {
        const { page, pages, results, data } = await linode(() => api.getDomains({ page: 2, page_size: 25 }));
        assert.deepEqual([page, pages, results, data.length], [2, 2, 30, 5]);
      },
    }),
    'domains, filtered and sorted': (linode, s) => ({
      'add three': async () => {
        s.id = await zone(linode, 'alpha.example.org');
        s.other = await zone(linode, 'beta.example.org');
        s.third = await zone(linode, 'gamma.example.org');
      },
      'by name': async () =>
        assert.deepEqual(ids(await linode(() => api.getDomains({}, { domain: 'beta.example.org' }))), [Number(s.other)]),
      'by one name or another': async () => {
        const filter = { '+or': [{ domain: 'alpha.example.org' }, { domain: 'gamma.example.org' }] };
        const list = await linode(() => api.getDomains({}, filter));
        once(ids(list).map(String), [s.id, s.third]);
        assert.equal(list.results, 2);
      },
      'by a part of the name': async () =>
        assert.deepEqual(ids(await linode(() => api.getDomains({}, { domain: { '+contains': 'gam' } }))), [Number(s.third)]),
      'from the last name': async () => {
        const list = await linode(() => api.getDomains({}, { '+order_by': 'domain', '+order': 'desc' }));
        assert.deepEqual(ids(list), [Number(s.third), Number(s.other), Number(s.id)]);
      },
    }),
    'the records of a domain': (linode, s) => ({
      'add the domain': async () => {
        s.domain = await zone(linode, 'example.net');
      },
      add: async () => {
        const body = { type: 'A', name: 'test', target: '203.0.113.1', ttl_sec: 604800 } as const;
        const made = await linode(() => api.createDomainRecord(Number(s.domain), body));
        s.id = String(made.id);
        assert.partialDeepStrictEqual(made, body);
      },
      'add another': async () => {
        const body = { type: 'TXT', name: 'note', target: 'v=spf1 -all' } as const;
        s.other = String((await linode(() => api.createDomainRecord(Number(s.domain), body))).id);
      },
      list: async () => once(ids(await linode(() => api.getDomainRecords(Number(s.domain)))).map(String), [s.id, s.other]),
      change: async () => {
        const changed = await linode(() => api.updateDomainRecord(Number(s.domain), Number(s.id), { target: '203.0.113.2' }));
        assert.deepEqual([changed.target, changed.name, changed.type], ['203.0.113.2', 'test', 'A']);
      },
      delete: async () => assert.deepEqual(await linode(() => api.deleteDomainRecord(Number(s.domain), Number(s.other))), {}),
      'the first is left': async () =>
        assert.deepEqual(ids(await linode(() => api.getDomainRecords(Number(s.domain)))), [Number(s.id)]),
      'the other is gone': async () =>
        wrong(
          linode(() => api.getDomainRecord(Number(s.domain), Number(s.other))),
          404,
        ),
    }),
    'a domain is cloned': (linode, s) => ({
      'add the domain': async () => {
        s.id = await zone(linode, 'first.example.org');
        const body = { type: 'A', name: 'www', target: '203.0.113.1' } as const;
        await linode(() => api.createDomainRecord(Number(s.id), body));
      },
      clone: async () => {
        const made = await linode(() => api.cloneDomain(Number(s.id), { domain: 'second.example.org' }));
        s.copy = String(made.id);
        assert.equal(made.domain, 'second.example.org');
        assert.notEqual(s.copy, s.id);
      },
      'there are two': async () => once(ids(await linode(() => api.getDomains())).map(String), [s.id, s.copy]),
      'the copy has the record': async () =>
        assert.deepEqual(
          (await linode(() => api.getDomainRecords(Number(s.copy)))).data.map(({ name, target }) => [name, target]),
          [['www', '203.0.113.1']],
        ),
    }),
    'a Linode is made, renamed and deleted': (linode, s) => ({
      create: async () => {
        s.id = await machine(linode, 'linode123');
      },
      read: async () => {
        const read = await linode(() => api.getLinode(Number(s.id)));
        assert.deepEqual([read.id, read.label, read.region, read.type], [Number(s.id), 'linode123', 'us-east', 'g6-nanode-1']);
      },
      rename: async () =>
        assert.equal((await linode(() => api.updateLinode(Number(s.id), { label: 'linode456' }))).label, 'linode456'),
      'once it is provisioned, it has its new label': async () => {
        const read = () => linode(() => api.getLinode(Number(s.id)));
        assert.equal((await until(read, ({ status }) => status !== 'provisioning')).label, 'linode456');
      },
      boot: async () => assert.deepEqual(await linode(() => api.linodeBoot(Number(s.id))), {}),
      'shut down': async () => assert.deepEqual(await linode(() => api.linodeShutdown(Number(s.id))), {}),
      'list by its label': async () =>
        assert.deepEqual(ids(await linode(() => api.getLinodes({}, { label: 'linode456' }))), [Number(s.id)]),
      delete: async () => assert.deepEqual(await linode(() => api.deleteLinode(Number(s.id))), {}),
      'it is gone': async () =>
        wrong(
          linode(() => api.getLinode(Number(s.id))),
          404,
        ),
    }),
    'a volume is attached and detached': (linode, s) => ({
      'create both': async () => tied(linode, s),
      'the volume is attached to none': async () => {
        const read = await linode(() => api.getVolume(Number(s.id)));
        assert.deepEqual([read.label, read.size, read.region, read.linode_id], ['my-volume', 20, 'us-east', null]);
      },
      attach: async () => {
        const attached = await linode(() => api.attachVolume(Number(s.id), { linode_id: Number(s.linode) } as never));
        assert.deepEqual([attached.id, attached.linode_id], [Number(s.id), Number(s.linode)]);
      },
      'it stays attached': async () =>
        assert.equal((await linode(() => api.getVolume(Number(s.id)))).linode_id, Number(s.linode)),
      detach: async () => assert.deepEqual(await linode(() => api.detachVolume(Number(s.id))), {}),
      'it is attached to none again': async () => {
        const read = () => linode(() => api.getVolume(Number(s.id)));
        assert.equal((await until(read, ({ linode_id }) => linode_id === null)).linode_id, null);
      },
    }),
    'a volume is resized, renamed and deleted': (linode, s) => ({
      create: async () => {
        s.id = await volume(linode, 'my-volume');
      },
      'once it is active, it has its size': async () => {
        const read = () => linode(() => api.getVolume(Number(s.id)));
        assert.equal((await until(read, ({ status }) => status === 'active')).size, 20);
      },
      resize: async () => assert.equal((await linode(() => api.resizeVolume(Number(s.id), { size: 30 }))).size, 30),
      rename: async () => {
        const changed = await linode(() => api.updateVolume(Number(s.id), { label: 'my-new-volume' }));
        assert.deepEqual([changed.label, changed.size], ['my-new-volume', 30]);
      },
      clone: async () => {
        const made = await linode(() => api.cloneVolume(Number(s.id), { label: 'my-copy' }));
        s.copy = String(made.id);
        assert.deepEqual([made.label, made.size], ['my-copy', 30]);
      },
      delete: async () => assert.deepEqual(await linode(() => api.deleteVolume(Number(s.id))), {}),
      'only the copy is left': async () => assert.deepEqual(ids(await linode(() => api.getVolumes())), [Number(s.copy)]),
    }),
    'a firewall and its rules': (linode, s) => ({
      create: async () => {
        s.id = await firewall(linode, 'firewall123');
      },
      'it is enabled': async () => {
        const read = await linode(() => api.getFirewall(Number(s.id)));
        assert.deepEqual([read.label, read.status], ['firewall123', 'enabled']);
        assert.deepEqual([read.rules.inbound_policy, read.rules.inbound?.[0]?.ports], ['DROP', '22']);
      },
      'change the rules': async () => {
        const body = rules('443') as unknown as api.FirewallRules;
        const changed = await linode(() => api.updateFirewallRules(Number(s.id), body));
        assert.deepEqual([changed.inbound_policy, changed.inbound?.[0]?.ports], ['DROP', '443']);
      },
      'the rules are changed': async () => {
        // The client's type says that it is a page, which it is not.
        const read = (await linode(() => api.getFirewallRules(Number(s.id)))) as unknown as api.FirewallRules;
        assert.equal(read.inbound?.[0]?.ports, '443');
      },
      disable: async () => assert.equal((await linode(() => api.disableFirewall(Number(s.id)))).status, 'disabled'),
      delete: async () => assert.deepEqual(await linode(() => api.deleteFirewall(Number(s.id))), {}),
      'it is gone': async () =>
        wrong(
          linode(() => api.getFirewall(Number(s.id))),
          404,
        ),
    }),
    'a firewall before a Linode': (linode, s) => ({
      'create both': async () => {
        s.linode = await machine(linode, 'behind');
        s.firewall = await firewall(linode, 'front');
      },
      add: async () => {
        const made = await linode(() => api.addFirewallDevice(Number(s.firewall), { id: Number(s.linode), type: 'linode' }));
        s.id = String(made.id);
        assert.deepEqual([made.entity.id, made.entity.type], [Number(s.linode), 'linode']);
      },
      list: async () =>
        assert.deepEqual(
          (await linode(() => api.getFirewallDevices(Number(s.firewall)))).data.map(({ id, entity }) => [id, entity.id]),
          [[Number(s.id), Number(s.linode)]],
        ),
      'take it away': async () =>
        assert.deepEqual(await linode(() => api.deleteFirewallDevice(Number(s.firewall), Number(s.id))), {}),
      'there is none': async () => assert.equal((await linode(() => api.getFirewallDevices(Number(s.firewall)))).results, 0),
    }),
    'an SSH key': (linode, s) => ({
      add: async () => {
        const made = await linode(() => api.createSSHKey({ label: 'My SSH Key', ssh_key: key }));
        s.id = String(made.id);
        assert.deepEqual([made.label, made.ssh_key], ['My SSH Key', key]);
      },
      rename: async () => {
        const changed = await linode(() => api.updateSSHKey(Number(s.id), { label: 'Laptop' }));
        assert.deepEqual([changed.label, changed.ssh_key], ['Laptop', key]);
      },
      list: async () => assert.deepEqual(ids(await linode(() => api.getSSHKeys())), [Number(s.id)]),
      delete: async () => assert.deepEqual(await linode(() => api.deleteSSHKey(Number(s.id))), {}),
      'it is gone': async () =>
        wrong(
          linode(() => api.getSSHKey(Number(s.id))),
          404,
        ),
    }),
    'a StackScript': (linode, s) => ({
      create: async () => {
        const body = {
          label: 'a-stackscript',
          description: 'This StackScript installs and configures MySQL',
          images: ['linode/debian12', 'linode/debian11'],
          is_public: false,
          rev_note: 'Set up MySQL',
          script: '#!/bin/bash\napt-get -q -y install mysql-server\n',
        };
        const made = await linode(() => api.createStackScript(body));
        s.id = String(made.id);
        assert.partialDeepStrictEqual(made, body);
      },
      'note a revision': async () => {
        const changed = await linode(() => api.updateStackScript(Number(s.id), { rev_note: 'Also start it' }));
        assert.deepEqual([changed.rev_note, changed.label], ['Also start it', 'a-stackscript']);
      },
      'list by its label': async () =>
        assert.deepEqual(ids(await linode(() => api.getStackScripts({}, { label: 'a-stackscript' }))), [Number(s.id)]),
      delete: async () => assert.deepEqual(await linode(() => api.deleteStackScript(Number(s.id))), {}),
      'it is gone': async () =>
        wrong(
          linode(() => api.getStackScript(Number(s.id))),
          404,
        ),
    }),
    'a NodeBalancer and its port': (linode, s) => ({
      create: async () => {
        const body = { region: 'us-east', label: 'balancer12345', client_conn_throttle: 10, configs: [] };
        const made = await linode(() => api.createNodeBalancer(body as unknown as api.CreateNodeBalancerPayload));
        s.id = String(made.id);
        assert.partialDeepStrictEqual(made, { region: 'us-east', label: 'balancer12345', client_conn_throttle: 10 });
      },
      'add a port': async () => {
        const nodes = [{ label: 'node54321', address: '192.168.210.120', port: 80, weight: 50, mode: 'accept' }];
        const body = { port: 8080, protocol: 'http', algorithm: 'roundrobin', stickiness: 'none', check: 'none', nodes };
        const made = await linode(() =>
          api.createNodeBalancerConfig(Number(s.id), body as unknown as api.CreateNodeBalancerConfig),
        );
        s.config = String(made.id);
        assert.partialDeepStrictEqual(made, {
          port: 8080,
          protocol: 'http',
          algorithm: 'roundrobin',
          nodebalancer_id: Number(s.id),
        });
      },
      'list its ports': async () =>
        assert.deepEqual(ids(await linode(() => api.getNodeBalancerConfigs(Number(s.id)))), [Number(s.config)]),
      rename: async () =>
        assert.equal((await linode(() => api.updateNodeBalancer(Number(s.id), { label: 'front-door' }))).label, 'front-door'),
      delete: async () => assert.deepEqual(await linode(() => api.deleteNodeBalancer(Number(s.id))), {}),
      'there is none': async () => assert.deepEqual((await linode(() => api.getNodeBalancers())).data, []),
    }),
    'a tag on a domain': (linode, s) => ({
      'add the domain': async () => {
        s.id = await zone(linode, 'tagged.example.org');
      },
      tag: async () => {
        const body = { label: 'example tag', domains: [Number(s.id)] };
        assert.equal((await linode(() => api.createTag(body))).label, 'example tag');
      },
      'the domain has it': async () => assert.deepEqual((await linode(() => api.getDomain(Number(s.id)))).tags, ['example tag']),
      list: async () =>
        assert.deepEqual(
          (await linode(() => api.getTags())).data.map(({ label }) => label),
          ['example tag'],
        ),
      'delete it, by its label': async () => assert.deepEqual(await linode(() => api.deleteTag('example tag')), {}),
      'there is none': async () => assert.equal((await linode(() => api.getTags())).results, 0),
    }),
    'a credential that is refused': (linode, _s, another) => ({
      'the right one is taken': async () => assert.deepEqual((await linode(() => api.getDomains())).data, []),
      'none is refused': async () =>
        wrong(
          another('')(() => api.getDomains()),
          401,
        ),
    }),
    'requests that are wrong': (linode) => ({
      'a domain that nobody added': async () =>
        wrong(
          linode(() => api.getDomain(987654)),
          404,
        ),
      'a page that is too small': async () =>
        wrong(
          linode(() => api.getDomains({ page_size: 10 })),
          400,
        ),
      'attached to nothing': async () => {
        const id = Number(await volume(linode, 'loose'));
        await wrong(
          linode(() => api.attachVolume(id, {} as never)),
          400,
        );
      },
      'a policy that is none': async () => {
        const id = Number(await firewall(linode, 'strange'));
        const body = { ...rules('22'), inbound_policy: 'PERHAPS' } as unknown as api.FirewallRules;
        await wrong(
          linode(() => api.updateFirewallRules(id, body)),
          400,
        );
      },
    }),
  },
};
