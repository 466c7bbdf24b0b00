import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import axios from 'axios';
import { given, once, type Place, pages, refused, type State, type Vendor } from '../kit.ts';

/**
 * The client's own types lose themselves in a folder that its package does not have, and its ES modules do not load in Node:
 * it is loaded as CommonJS, and these are the operations that the description has too. They give what axios gives.
 */
interface Answer<T> {
  readonly status: number;
  readonly data: T;
}
type Call<P, T> = (asked: P & { readonly options?: object }) => Promise<Answer<T>>;

interface Item<A> {
  readonly id: string;
  readonly type: string;
  readonly attributes: A;
}
interface List<T> {
  readonly data: readonly T[];
  readonly links: { readonly first?: string | null; readonly next?: string | null; readonly previous?: string | null };
  readonly meta: { readonly limit: number; readonly offset: number; readonly total_items: number };
}
interface System {
  readonly display_name: string;
  readonly rhsa_count: number;
  readonly packages_installed: number;
  readonly stale: boolean;
}
interface Advisory {
  readonly synopsis: string;
  readonly description: string;
  readonly public_date: string;
  readonly severity?: number | null;
}
interface AdvisoryDetail extends Advisory {
  readonly cves?: readonly string[] | null;
}
interface Package {
  readonly name: string;
  readonly summary: string;
  readonly systems_installed: number;
}
interface PackageDetail {
  readonly name: string;
  readonly summary: string;
  readonly version: string;
}
interface PackageSystem {
  readonly id: string;
  readonly display_name: string;
  readonly installed_evra: string;
  readonly updatable: boolean;
}
interface SystemPackage {
  readonly name: string;
  readonly evra: string;
  readonly updatable: boolean;
}
type Flat<A> = A & { readonly id: string };
interface Paged {
  readonly limit?: number;
  readonly offset?: number;
  readonly sort?: string;
  readonly search?: string;
}
interface OfSystems extends Paged {
  readonly filterId?: string;
  readonly filterDisplayName?: string;
  /** Numbers by the client's types; the guide's operators (`geq:1`) are texts, as the description has them. */
  readonly filterRhsaCount?: number | string;
  readonly filterStale?: boolean;
  readonly tags?: readonly string[];
}
interface OfAdvisories extends Paged {
  readonly filterId?: string;
  readonly filterSeverity?: number | string;
}
interface OfPackages extends Paged {
  readonly filterName?: string;
  readonly filterUpdatable?: boolean;
}
type View = Call<
  { body: { systems?: readonly string[]; advisories?: readonly string[] } },
  { data: Record<string, readonly string[]> }
>;

interface Patch {
  /** The client's own way to send what it has no operation for. */
  sendRequest<T>(request: Promise<{ urlObj: URL; options: object }>): Promise<Answer<T>>;
  listSystems: Call<OfSystems, List<Item<System>>>;
  detailSystem: Call<{ inventoryId: string }, { data: Item<System> }>;
  listSystemAdvisories: Call<{ inventoryId: string } & OfAdvisories, List<Item<Advisory>>>;
  systemPackages: Call<{ inventoryId: string } & OfPackages, List<SystemPackage>>;
  listAdvisories: Call<OfAdvisories, List<Item<Advisory>>>;
  detailAdvisory: Call<{ advisoryId: string }, { data: Item<AdvisoryDetail> }>;
  listAdvisorySystems: Call<{ advisoryId: string } & OfSystems, List<Item<System>>>;
  listPackages: Call<OfPackages, List<Package>>;
  latestPackage: Call<{ packageName: string }, { data: Item<PackageDetail> }>;
  packageSystems: Call<{ packageName: string } & Paged, List<PackageSystem>>;
  packageVersions: Call<{ packageName: string } & Paged, List<{ readonly evra: string }>>;
  viewSystemsAdvisories: View;
  viewAdvisoriesSystems: View;
  exportSystems: Call<OfSystems, readonly Flat<System>[]>;
  exportAdvisories: Call<OfAdvisories, readonly Flat<Advisory>[]>;
  exportPackages: Call<OfPackages, readonly Package[]>;
  exportSystemPackages: Call<{ inventoryId: string } & OfPackages, readonly SystemPackage[]>;
  exportSystemAdvisories: Call<{ inventoryId: string } & OfAdvisories, readonly Flat<Advisory>[]>;
  exportAdvisorySystems: Call<{ advisoryId: string }, readonly Flat<System>[]>;
  exportPackageSystems: Call<{ packageName: string }, readonly PackageSystem[]>;
}
type Config = { readonly axios: ReturnType<typeof axios.create> };
const { PatchClient } = createRequire(import.meta.url)('@redhat-cloud-services/patch-client/api') as {
  readonly PatchClient: (base: string, config: Config) => Patch;
};

/** The identity goes out by the axios that the client is given: the key in its own configuration comes after the call is sent. */
const connect = (place: Place, token: string): Patch =>
  PatchClient(`${place.url}/api/patch/v1`, { axios: axios.create({ headers: { 'x-rh-identity': token } }) });

/** Systems are registered by another service (Insights), and deleted here: the client of today has no operation for that. */
const remove = (p: Patch, id: string): Promise<Answer<unknown>> =>
  p.sendRequest(
    Promise.resolve({
      urlObj: new URL(`/systems/${encodeURIComponent(id)}`, 'https://example.com'),
      options: { method: 'DELETE' },
    }),
  );

const noSystem = '00000000-0000-4000-8000-000000000000';
const noAdvisory = 'RHSA-1900:0001';
const noPackage = 'no-such-package-at-all';

/** A filter is `OPERATOR:VALUE`, or a value alone: one with a colon, as advisories' ids have, needs its operator. */
const exactly = (value: string): string => (value.includes(':') ? `eq:${value}` : value);

const ids = (rows: readonly { readonly id: string }[]): string[] => rows.map(({ id }) => id);

/** Systems, advisories and packages are known beforehand: what an account has is what its systems have uploaded. */
const system = async (p: Patch, s: State): Promise<Item<System>> => {
  const found = given((await p.listSystems({ limit: 20 })).data.data[0], 'system');
  s.system = found.id;
  s.name = found.attributes.display_name;
  return found;
};
const advisory = async (p: Patch, s: State): Promise<Item<Advisory>> => {
  const found = given((await p.listAdvisories({ limit: 20 })).data.data[0], 'advisory');
  s.advisory = found.id;
  return found;
};
const pack = async (p: Patch, s: State): Promise<Package> => {
  const found = given((await p.listPackages({ limit: 20 })).data.data[0], 'package');
  s.package = found.name;
  return found;
};
/** A system and an advisory that is applicable to it. */
const pair = async (p: Patch, s: State): Promise<void> => {
  await advisory(p, s);
  s.system = given((await p.listAdvisorySystems({ advisoryId: s.advisory })).data.data[0], 'system of the advisory').id;
};

const walk = <T>(ask: (limit: number, offset: number) => Promise<Answer<List<T>>>): Promise<T[]> =>
  pages(
    async (_from, page) => (await ask(2, (page - 1) * 2)).data,
    ({ data }) => data,
    ({ links }) => links.next || undefined,
    100,
  );
const grows = (numbers: readonly number[]): void =>
  assert.deepEqual(
    numbers,
    numbers.toSorted((a, b) => a - b),
  );

const nobody = btoa(JSON.stringify({ identity: {} }));

/** Guide: console.redhat.com/docs/api/patch, and the "API custom filters" page of the wiki that the description names. */
export const vendor: Vendor<Patch> = {
  document: 'patchman/patchman-engine.json',
  header: 'x-rh-identity',
  made: btoa(
    JSON.stringify({
      identity: {
        account_number: '0000001',
        org_id: 'org_1',
        type: 'User',
        user: { username: 'jdoe', email: 'jdoe@example.com', is_org_admin: true },
        internal: { org_id: 'org_1' },
      },
      entitlements: { insights: { is_entitled: true } },
    }),
  ),
  client: connect,
  strict: ['an identity that is refused'],
  flows: {
    'a system, from the list to its details': (p, s) => ({
      'the list has one': async () => {
        const found = await system(p, s);
        assert.deepEqual([typeof found.id, found.type], ['string', 'system']);
      },
      'it is there by itself': async () => {
        const { data } = (await p.detailSystem({ inventoryId: s.system })).data;
        assert.deepEqual([data.id, data.type, data.attributes.display_name], [s.system, 'system', s.name]);
      },
      'with what the list told of it': async () => {
        const { data } = (await p.listSystems({ filterId: s.system })).data;
        const one = (await p.detailSystem({ inventoryId: s.system })).data.data;
        const { rhsa_count, packages_installed, stale } = given(data[0], 'row').attributes;
        assert.deepEqual(
          [one.attributes.rhsa_count, one.attributes.packages_installed, one.attributes.stale],
          [rhsa_count, packages_installed, stale],
        );
      },
      'one that is not there': () => refused(p.detailSystem({ inventoryId: noSystem }), 404),
    }),

    'systems through all pages': (p, s) => ({
      'one on a page': async () => {
        const { data, meta } = (await p.listSystems({ limit: 1, offset: 0 })).data;
        assert.deepEqual([data.length, meta.limit, meta.offset], [1, 1, 0]);
        s.total = String(meta.total_items);
        s.first = given(data[0], 'system').id;
      },
      'all of them, each once': async () => {
        const rows = ids(await walk((limit, offset) => p.listSystems({ limit, offset })));
        assert.equal(rows.length, Number(s.total));
        once(rows, rows, 'systems');
        assert.ok(rows.includes(s.first), 'the first is missing');
      },
      'the next one after it is another': async () => {
        const { data, meta } = (await p.listSystems({ limit: 1, offset: 1 })).data;
        assert.deepEqual([data.length, meta.offset], [1, 1]);
        assert.notEqual(given(data[0], 'system').id, s.first);
      },
      'the first page has none before it': async () =>
        assert.equal((await p.listSystems({ limit: 1, offset: 0 })).data.links.previous || undefined, undefined),
    }),

    'systems in an order': (p, s) => ({
      'by the security advisories of each': async () => {
        const { data } = (await p.listSystems({ sort: 'rhsa_count', limit: 50 })).data;
        assert.ok(data.length > 0, 'no system');
        grows(data.map(({ attributes }) => attributes.rhsa_count));
      },
      'by the packages of each': async () => {
        const { data } = (await p.listSystems({ sort: 'packages_installed', limit: 50 })).data;
        grows(data.map(({ attributes }) => attributes.packages_installed));
      },
      'by their ids': async () => {
        const rows = ids((await p.listSystems({ sort: 'id', limit: 50 })).data.data);
        assert.deepEqual(rows, rows.toSorted());
        s.first = given(rows[0], 'system');
      },
      'the same on a smaller page': async () =>
        assert.deepEqual(ids((await p.listSystems({ sort: 'id', limit: 1 })).data.data), [s.first]),
      'by nothing that there is not': () => refused(p.listSystems({ sort: 'colour' }), 400),
    }),

    'systems asked for': (p, s) => ({
      'a system': () => system(p, s),
      'by its name': async () => {
        const { data } = (await p.listSystems({ filterDisplayName: exactly(s.name), limit: 50 })).data;
        assert.ok(ids(data).includes(s.system), 'it is missing');
        for (const { attributes } of data) assert.equal(attributes.display_name, s.name);
      },
      'by its id': async () => assert.deepEqual(ids((await p.listSystems({ filterId: s.system })).data.data), [s.system]),
      'by a part of its name': async () => {
        const rows = ids((await p.listSystems({ search: s.name, limit: 50 })).data.data);
        assert.ok(rows.includes(s.system), 'it is missing');
      },
      'with security advisories': async () => {
        const { data } = (await p.listSystems({ filterRhsaCount: 'geq:1', limit: 50 })).data;
        for (const { attributes } of data) assert.ok(attributes.rhsa_count >= 1, String(attributes.rhsa_count));
      },
      'those that are not stale': async () => {
        const { data } = (await p.listSystems({ filterStale: false, limit: 50 })).data;
        for (const { attributes } of data) assert.equal(attributes.stale, false);
      },
      'by a name that none has': async () => {
        const { data, meta } = (await p.listSystems({ filterDisplayName: 'no-such-host.example.com' })).data;
        assert.deepEqual([data.length, meta.total_items], [0, 0]);
      },
    }),

    'an advisory, from the list to its details': (p, s) => ({
      'the list has one': async () => {
        const found = await advisory(p, s);
        assert.equal(found.type, 'advisory');
        s.synopsis = found.attributes.synopsis;
      },
      'it is there by itself': async () => {
        const { data } = (await p.detailAdvisory({ advisoryId: s.advisory })).data;
        assert.deepEqual([data.id, data.type, data.attributes.synopsis], [s.advisory, 'advisory', s.synopsis]);
      },
      'it tells what it mends': async () => {
        const { cves } = (await p.detailAdvisory({ advisoryId: s.advisory })).data.data.attributes;
        for (const cve of cves ?? []) assert.equal(typeof cve, 'string');
      },
      'one that is not there': () => refused(p.detailAdvisory({ advisoryId: noAdvisory }), 404),
    }),

    'advisories asked for': (p, s) => ({
      'an advisory': () => advisory(p, s),
      'by its id': async () =>
        assert.deepEqual(ids((await p.listAdvisories({ filterId: exactly(s.advisory) })).data.data), [s.advisory]),
      'by one of two ids': async () =>
        assert.deepEqual(ids((await p.listAdvisories({ filterId: `in:${s.advisory},${noAdvisory}` })).data.data), [s.advisory]),
      'of two severities': async () => {
        const { data } = (await p.listAdvisories({ filterSeverity: 'in:3,4', limit: 50 })).data;
        for (const { attributes } of data) assert.ok([3, 4].includes(Number(attributes.severity)), String(attributes.severity));
      },
      'by what is in it': async () => {
        const rows = ids((await p.listAdvisories({ search: s.advisory, limit: 50 })).data.data);
        assert.ok(rows.includes(s.advisory), 'it is missing');
      },
      'in the order of their ids, through all pages': async () => {
        const rows = await walk((limit, offset) => p.listAdvisories({ limit, offset, sort: 'id' }));
        once(ids(rows), ids(rows), 'advisories');
        assert.ok(ids(rows).includes(s.advisory), 'it is missing');
      },
    }),

    'systems to which an advisory applies': (p, s) => ({
      'an advisory and a system of it': () => pair(p, s),
      'its systems, each once': async () => {
        const rows = ids(await walk((limit, offset) => p.listAdvisorySystems({ advisoryId: s.advisory, limit, offset })));
        once(rows, [...new Set(rows)], 'systems');
        assert.ok(rows.includes(s.system), 'it is missing');
      },
      'the system alone': async () => {
        const { data } = (await p.listAdvisorySystems({ advisoryId: s.advisory, filterId: s.system })).data;
        assert.deepEqual(ids(data), [s.system]);
      },
      'it is a system of the account': async () =>
        assert.equal((await p.detailSystem({ inventoryId: s.system })).data.data.id, s.system),
      'which has the advisory': async () => {
        const { data } = (await p.listSystemAdvisories({ inventoryId: s.system, filterId: exactly(s.advisory) })).data;
        assert.deepEqual(ids(data), [s.advisory]);
      },
      'of an advisory that is not there': () => refused(p.listAdvisorySystems({ advisoryId: noAdvisory }), 404),
    }),

    'advisories of a system': (p, s) => ({
      'a system': () => system(p, s),
      'its advisories, each once': async () => {
        const rows = await walk((limit, offset) => p.listSystemAdvisories({ inventoryId: s.system, limit, offset }));
        once(ids(rows), [...new Set(ids(rows))], 'advisories');
        for (const { type } of rows) assert.equal(type, 'advisory');
      },
      'no more than asked for': async () => {
        const { data, meta } = (await p.listSystemAdvisories({ inventoryId: s.system, limit: 1 })).data;
        assert.ok(data.length <= 1, `${data.length} rows`);
        assert.equal(meta.limit, 1);
      },
      'by no order that there is not': () => refused(p.listSystemAdvisories({ inventoryId: s.system, sort: 'colour' }), 400),
      'of a system that is not there': () => refused(p.listSystemAdvisories({ inventoryId: noSystem }), 404),
    }),

    'systems and advisories side by side': (p, s) => ({
      'a system and an advisory of it': () => pair(p, s),
      'advisories of the system': async () => {
        const { data } = (await p.viewSystemsAdvisories({ body: { systems: [s.system], advisories: [s.advisory] } })).data;
        assert.deepEqual(data[s.system], [s.advisory]);
      },
      'systems of the advisory': async () => {
        const { data } = (await p.viewAdvisoriesSystems({ body: { systems: [s.system], advisories: [s.advisory] } })).data;
        assert.deepEqual(data[s.advisory], [s.system]);
      },
      'what was not asked for is not told': async () => {
        const { data } = (await p.viewSystemsAdvisories({ body: { systems: [s.system], advisories: [s.advisory] } })).data;
        for (const id of Object.keys(data)) assert.equal(id, s.system);
      },
      'systems are a list': () =>
        refused(p.viewSystemsAdvisories({ body: { systems: s.system as never, advisories: [s.advisory] } }), 400),
      'so are advisories': () =>
        refused(p.viewAdvisoriesSystems({ body: { systems: [s.system], advisories: { id: s.advisory } as never } }), 400),
    }),

    'a package, and where it is': (p, s) => ({
      'the list has one': () => pack(p, s),
      'its newest version': async () => {
        const { data } = (await p.latestPackage({ packageName: s.package })).data;
        assert.deepEqual([data.type, data.attributes.name], ['package', s.package]);
      },
      'its versions, each once': async () => {
        const { data } = (await p.packageVersions({ packageName: s.package, limit: 50 })).data;
        const rows = data.map(({ evra }) => evra);
        once(rows, rows, 'versions');
      },
      'the systems that have it': async () => {
        const { data } = (await p.packageSystems({ packageName: s.package, limit: 50 })).data;
        for (const { id, updatable } of data) assert.deepEqual([typeof id, typeof updatable], ['string', 'boolean']);
      },
      'the same as they are exported': async () => {
        const { data } = (await p.packageSystems({ packageName: s.package, limit: 50 })).data;
        once(ids((await p.exportPackageSystems({ packageName: s.package })).data), ids(data), 'systems');
      },
      'one that is not there': () => refused(p.latestPackage({ packageName: noPackage }), 404),
    }),

    'packages asked for': (p, s) => ({
      'a package': async () => {
        s.summary = (await pack(p, s)).summary;
      },
      'by its name': async () => {
        const { data } = (await p.listPackages({ filterName: exactly(s.package) })).data;
        assert.deepEqual(
          data.map(({ name, summary }) => [name, summary]),
          [[s.package, s.summary]],
        );
      },
      'by a part of it': async () => {
        const { data } = (await p.listPackages({ search: s.package, limit: 50 })).data;
        assert.ok(data.map(({ name }) => name).includes(s.package), 'it is missing');
      },
      'those of most systems last': async () => {
        const { data } = (await p.listPackages({ sort: 'systems_installed', limit: 50 })).data;
        grows(data.map(({ systems_installed }) => systems_installed));
      },
      'through all pages': async () => {
        const rows = (await walk((limit, offset) => p.listPackages({ limit, offset }))).map(({ name }) => name);
        once(rows, rows, 'packages');
        assert.ok(rows.includes(s.package), 'it is missing');
      },
      'by a name that none has': async () => assert.deepEqual((await p.listPackages({ filterName: noPackage })).data.data, []),
    }),

    'packages of a system': (p, s) => ({
      'a system': () => system(p, s),
      'what is installed': async () => {
        const { data } = (await p.systemPackages({ inventoryId: s.system, limit: 50 })).data;
        for (const { name, evra } of data) assert.deepEqual([typeof name, typeof evra], ['string', 'string']);
        s.count = String(data.length);
      },
      'what has an update': async () => {
        const { data } = (await p.systemPackages({ inventoryId: s.system, filterUpdatable: true, limit: 50 })).data;
        for (const { updatable } of data) assert.equal(updatable, true);
        assert.ok(data.length <= Number(s.count), `${data.length} of ${s.count}`);
      },
      'what has none': async () => {
        const { data } = (await p.systemPackages({ inventoryId: s.system, filterUpdatable: false, limit: 50 })).data;
        for (const { updatable } of data) assert.equal(updatable, false);
      },
      'as it is exported': async () => {
        const { data } = await p.exportSystemPackages({ inventoryId: s.system, filterUpdatable: true });
        for (const { updatable } of data) assert.equal(updatable, true);
      },
      'of a system that is not there': () => refused(p.systemPackages({ inventoryId: noSystem }), 404),
    }),

    'what is exported': (p, s) => ({
      'a system and an advisory of it': () => pair(p, s),
      'systems, flat': async () => {
        const { data } = await p.exportSystems({});
        once(ids(data), [s.system], 'systems');
        assert.equal(typeof given(data[0], 'system').display_name, 'string');
      },
      'systems as a table': async () => {
        const { data } = await p.exportSystems({ options: { headers: { Accept: 'text/csv' } } });
        assert.equal(typeof data, 'string');
        assert.ok(String(data).includes(s.system), 'the system is missing');
      },
      'advisories, one of them': async () => {
        assert.deepEqual(ids((await p.exportAdvisories({ filterId: exactly(s.advisory) })).data), [s.advisory]);
      },
      'advisories of the system': async () =>
        once(ids((await p.exportSystemAdvisories({ inventoryId: s.system })).data), [s.advisory], 'advisories'),
      'systems of the advisory': async () =>
        once(ids((await p.exportAdvisorySystems({ advisoryId: s.advisory })).data), [s.system], 'systems'),
      'packages in an order': async () => {
        const { data } = await p.exportPackages({ sort: 'systems_installed' });
        grows(data.map(({ systems_installed }) => systems_installed));
      },
    }),

    'a system is deleted': (p, s) => ({
      'a system': () => system(p, s),
      deleted: async () => assert.equal((await remove(p, s.system)).status, 200),
      'it is gone': () => refused(p.detailSystem({ inventoryId: s.system }), 404),
      'it is not in the list': async () => {
        const rows = ids(await walk((limit, offset) => p.listSystems({ limit, offset })));
        assert.ok(!rows.includes(s.system), 'still listed');
      },
      'nor exported': async () => assert.ok(!ids((await p.exportSystems({})).data).includes(s.system), 'still exported'),
      'nor has it packages': () => refused(p.systemPackages({ inventoryId: s.system }), 404),
      'it cannot be deleted again': () => refused(remove(p, s.system), 404),
    }),

    'what is not right, and what is not there': (p) => ({
      'a limit is a number': () => refused(p.listSystems({ limit: 'many' as never }), 400),
      'so is an offset': () => refused(p.listAdvisories({ offset: 'far' as never }), 400),
      'packages have orders of their own': () => refused(p.listPackages({ sort: 'rhsa_count' }), 400),
      'a view needs a body': () => refused(p.viewAdvisoriesSystems({ body: 'everything' as never }), 400),
      'no such system to delete': () => refused(remove(p, noSystem), 404),
      'nor to export': () => refused(p.exportSystemPackages({ inventoryId: noSystem }), 404),
      'nor systems of such a package': () => refused(p.packageSystems({ packageName: noPackage }), 404),
    }),

    'an identity that is refused': (p, _s, another) => ({
      'the right one is taken': async () => assert.equal((await p.listSystems({ limit: 1 })).status, 200),
      'an empty one is not': () => refused(another(nobody).listSystems({ limit: 1 }), 401, 403),
      'nor one that is none': () => refused(another('nobody').listAdvisories({ limit: 1 }), 401),
      'nor does it view': () => refused(another('nobody').viewSystemsAdvisories({ body: { systems: [noSystem] } }), 401),
      'nor delete': () => refused(remove(another('nobody'), noSystem), 401),
    }),
  },
};
