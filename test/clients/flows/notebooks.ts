import assert from 'node:assert/strict';
import { setTimeout as rest } from 'node:timers/promises';
import { auth, notebooks, type notebooks_v2 } from 'googleapis/build/src/apis/notebooks/index.js';
import { given, once, type Place, pages, refused, type Vendor } from '../kit.ts';

type Notebooks = notebooks_v2.Notebooks;
type Instance = notebooks_v2.Schema$Instance;
type Operation = notebooks_v2.Schema$Operation;

/** The client's paths begin with `/v2`, as the description's do: it is pointed at the bare address. */
const connect = (place: Place, token: string): Notebooks => {
  const caller = new auth.OAuth2();
  caller.setCredentials({ access_token: token });
  return notebooks({ version: 'v2', auth: caller, rootUrl: `${place.url}/`, retry: false });
};

/** Projects and their locations are other services': these are there before. */
const project = 'projects/test-project';
const parent = `${project}/locations/us-central1-a`;
const elsewhere = `${project}/locations/europe-west1-b`;
const named = (id: string, within = parent): string => `${within}/instances/${id}`;

/** The machine of the guide: one disk to start from and one for data, whose sizes are texts, as all of 64 bits. */
const asked: Instance = {
  labels: { team: 'vision' },
  gceSetup: {
    machineType: 'n1-standard-4',
    bootDisk: { diskSizeGb: '150', diskType: 'PD_BALANCED' },
    dataDisks: [{ diskSizeGb: '100', diskType: 'PD_STANDARD' }],
    vmImage: { project: 'cloud-notebooks-managed', family: 'workbench-instances' },
  },
};

/** Asks about an operation until it is done, as the guide has it; where there is nothing to ask about, all is done. */
const settled = async (n: Notebooks, started: Promise<{ data: Operation }>): Promise<Operation> => {
  let { data: operation } = await started;
  for (let times = 0; operation.name && !operation.done; times += 1) {
    assert.ok(times < 60, `${operation.name} does not end`);
    await rest(50);
    operation = (await n.projects.locations.operations.get({ name: operation.name })).data;
  }
  assert.equal(operation.error ?? undefined, undefined);
  return operation;
};
const make = (n: Notebooks, instanceId: string, requestBody = asked, within = parent): Promise<Operation> =>
  settled(n, n.projects.locations.instances.create({ parent: within, instanceId, requestBody }));
const read = async (n: Notebooks, id: string, within = parent): Promise<Instance> =>
  (await n.projects.locations.instances.get({ name: named(id, within) })).data;
const patch = (n: Notebooks, id: string, updateMask: string, requestBody: Instance): Promise<Operation> =>
  settled(n, n.projects.locations.instances.patch({ name: named(id), updateMask, requestBody }));
const remove = (n: Notebooks, id: string, within = parent): Promise<Operation> =>
  settled(n, n.projects.locations.instances.delete({ name: named(id, within) }));

const rows = (n: Notebooks, within = parent, pageSize = 50, more: { orderBy?: string } = {}): Promise<Instance[]> =>
  pages(
    async (pageToken) => {
      const from = pageToken === undefined ? {} : { pageToken };
      return (await n.projects.locations.instances.list({ parent: within, pageSize, ...more, ...from })).data;
    },
    ({ instances }) => instances ?? [],
    ({ nextPageToken }) => nextPageToken || undefined,
  );
const names = (all: readonly Instance[]): string[] => all.map(({ name }) => given(name, 'name'));
const listed = async (n: Notebooks, id: string): Promise<Instance> =>
  given(
    (await rows(n)).find(({ name }) => name === named(id)),
    id,
  );
const without = (all: readonly string[], one: string): void => assert.ok(!all.includes(one), `the list still has ${one}`);

const operations = (n: Notebooks, pageSize = 50): Promise<Operation[]> =>
  pages(
    async (pageToken) => {
      const from = pageToken === undefined ? {} : { pageToken };
      return (await n.projects.locations.operations.list({ name: parent, pageSize, ...from })).data;
    },
    ({ operations: page }) => page ?? [],
    ({ nextPageToken }) => nextPageToken || undefined,
  );

const viewer = { role: 'roles/notebooks.viewer', members: ['user:mike@example.com', 'group:admins@example.com'] };
const admin = { role: 'roles/notebooks.admin', members: ['serviceAccount:my-project-id@appspot.gserviceaccount.com'] };
const nobody = 'ya29.of-no-one';

/** Guide: cloud.google.com/vertex-ai/docs/workbench (instances; reference/rest, v2), google.aip.dev/151 on operations, and cloud.google.com/apis/design/errors. */
export const vendor: Vendor<Notebooks> = {
  document: 'notebooks/notebooks.json',
  header: 'Authorization',
  word: 'Bearer',
  made: 'ya29.made-up',
  client: connect,
  strict: ['a credential that is refused'],
  flows: {
    'an instance, from the first to the last day': (n) => ({
      made: async () => {
        await make(n, 'lifecycle1');
      },
      read: async () => {
        const got = await read(n, 'lifecycle1');
        assert.equal(got.name, named('lifecycle1'));
        assert.partialDeepStrictEqual(got, { labels: asked.labels, gceSetup: { machineType: 'n1-standard-4' } });
      },
      'is in the list': async () => once(names(await rows(n)), [named('lifecycle1')], 'instances'),
      'other labels': async () => {
        await patch(n, 'lifecycle1', 'labels', { labels: { team: 'speech' } });
        assert.deepEqual((await read(n, 'lifecycle1')).labels, { team: 'speech' });
      },
      'the rest stays': async () => {
        const got = await read(n, 'lifecycle1');
        assert.deepEqual([got.name, got.gceSetup?.machineType], [named('lifecycle1'), 'n1-standard-4']);
      },
      deleted: async () => {
        await remove(n, 'lifecycle1');
      },
      gone: () => refused(read(n, 'lifecycle1'), 404),
      'no longer in the list': async () => without(names(await rows(n)), named('lifecycle1')),
    }),

    'what an instance is made of': (n) => {
      const gceSetup = {
        machineType: 'n1-standard-8',
        acceleratorConfigs: [{ type: 'NVIDIA_TESLA_T4', coreCount: '1' }],
        gpuDriverConfig: { enableGpuDriver: true },
        networkInterfaces: [
          {
            network: `${project}/global/networks/default`,
            subnet: `${project}/regions/us-central1/subnetworks/default`,
            nicType: 'GVNIC',
          },
        ],
        containerImage: { repository: 'gcr.io/deeplearning-platform-release/base-cu113', tag: 'latest' },
        serviceAccounts: [{ email: 'notebooks@test-project.iam.gserviceaccount.com' }],
        shieldedInstanceConfig: { enableSecureBoot: true, enableVtpm: true, enableIntegrityMonitoring: true },
        metadata: { 'idle-timeout-seconds': '3600' },
        tags: ['deeplearning-vm', 'notebook-instance'],
        disablePublicIp: true,
      };
      return {
        made: async () => {
          await make(n, 'machine1', { gceSetup, disableProxyAccess: true });
        },
        'the list has the machine': async () => {
          const { machineType, tags, metadata, disablePublicIp } = given((await listed(n, 'machine1')).gceSetup, 'gceSetup');
          assert.equal(machineType, 'n1-standard-8');
          assert.deepEqual([tags, disablePublicIp], [gceSetup.tags, true]);
          assert.partialDeepStrictEqual(metadata, gceSetup.metadata);
        },
        'with what is in it': async () => {
          const row = given((await listed(n, 'machine1')).gceSetup, 'gceSetup');
          assert.deepEqual(
            [row.acceleratorConfigs, row.gpuDriverConfig],
            [gceSetup.acceleratorConfigs, gceSetup.gpuDriverConfig],
          );
          assert.deepEqual(row.shieldedInstanceConfig, gceSetup.shieldedInstanceConfig);
        },
        'and what it runs, for whom': async () => {
          const row = given((await listed(n, 'machine1')).gceSetup, 'gceSetup');
          assert.deepEqual(row.containerImage, gceSetup.containerImage);
          assert.partialDeepStrictEqual(row.serviceAccounts, gceSetup.serviceAccounts);
          assert.partialDeepStrictEqual(row.networkInterfaces, gceSetup.networkInterfaces);
        },
        'it is not at the proxy': async () => assert.equal((await listed(n, 'machine1')).disableProxyAccess, true),
        'by itself it is the same': async () => {
          const got = await read(n, 'machine1');
          assert.partialDeepStrictEqual(got, { name: named('machine1'), disableProxyAccess: true, gceSetup });
        },
      };
    },

    'the operation that makes one': (n, s) => ({
      'it is told of at once': async () => {
        const { data } = await n.projects.locations.instances.create({ parent, instanceId: 'long1', requestBody: asked });
        s.operation = given(data.name, 'name');
        assert.match(s.operation, /(^|\/)operations\/[^/]+$/);
      },
      'it ends well': async () => {
        const done = await settled(n, n.projects.locations.operations.get({ name: s.operation }));
        assert.deepEqual([done.name, done.done], [s.operation, true]);
      },
      'its answer is the instance': async () => {
        const { data } = await n.projects.locations.operations.get({ name: s.operation });
        assert.equal(given(data.response, 'response').name, named('long1'));
      },
      'the instance is there': async () => assert.equal((await listed(n, 'long1')).name, named('long1')),
      'it is among the operations of the location': async () =>
        once(
          (await operations(n)).map(({ name }) => given(name, 'name')),
          [s.operation],
          'operations',
        ),
      'nobody needs it any more': async () => {
        await n.projects.locations.operations.delete({ name: s.operation });
        await refused(n.projects.locations.operations.get({ name: s.operation }), 404);
      },
      'the instance stays': async () => assert.equal((await listed(n, 'long1')).name, named('long1')),
    }),

    'operations through all pages': (n, s) => ({
      'three are begun': async () => {
        for (const at of [1, 2, 3]) {
          const instanceId = `begun${at}`;
          const { data } = await n.projects.locations.instances.create({ parent, instanceId, requestBody: asked });
          s[`o${at}`] = given(data.name, 'name');
        }
      },
      'all of them, each once': async () =>
        once(
          (await operations(n, 1)).map(({ name }) => given(name, 'name')),
          [s.o1, s.o2, s.o3],
          'operations',
        ),
      'each ends well': async () => {
        for (const name of [s.o1, s.o2, s.o3]) await settled(n, n.projects.locations.operations.get({ name }));
      },
      'one that is not there': async () => {
        const name = `${parent}/operations/operation-0-none`;
        await refused(n.projects.locations.operations.get({ name }), 404);
        await refused(n.projects.locations.operations.cancel({ name, requestBody: {} }), 404);
      },
    }),

    'instances through all pages': (n, s) => ({
      'five are made': async () => {
        for (const at of [1, 2, 3, 4, 5]) await make(n, `page${at}`);
      },
      'two on the first page': async () => {
        const { data } = await n.projects.locations.instances.list({ parent, pageSize: 2 });
        assert.equal(data.instances?.length, 2);
        s.first = names(given(data.instances, 'instances')).join(' ');
        s.next = given(data.nextPageToken, 'nextPageToken');
      },
      'others on the next': async () => {
        const { data } = await n.projects.locations.instances.list({ parent, pageSize: 2, pageToken: s.next });
        assert.equal(data.instances?.length, 2);
        for (const name of names(given(data.instances, 'instances'))) without(s.first.split(' '), name);
      },
      'all of them, each once': async () =>
        once(
          names(await rows(n, parent, 2)),
          [1, 2, 3, 4, 5].map((at) => named(`page${at}`)),
          'instances',
        ),
      'all on one page': async () =>
        once(
          names(await rows(n, parent, 100)),
          [1, 2, 3, 4, 5].map((at) => named(`page${at}`)),
          'instances',
        ),
    }),

    'instances by their names': (n) => ({
      'three are made': async () => {
        for (const id of ['order-b', 'order-c', 'order-a']) await make(n, id);
      },
      'from the first to the last': async () => {
        const all = names(await rows(n, parent, 100, { orderBy: 'name' }));
        once(
          all,
          ['order-a', 'order-b', 'order-c'].map((id) => named(id)),
          'instances',
        );
        assert.deepEqual(all, all.toSorted());
      },
      'from the last to the first': async () => {
        const all = names(await rows(n, parent, 100, { orderBy: 'name desc' }));
        once(
          all,
          ['order-a', 'order-b', 'order-c'].map((id) => named(id)),
          'instances',
        );
        assert.deepEqual(all, all.toSorted().toReversed());
      },
      'on small pages too': async () => {
        const all = names(await rows(n, parent, 1, { orderBy: 'name desc' }));
        assert.deepEqual(all, all.toSorted().toReversed());
      },
    }),

    'instances of two locations': (n) => ({
      'one in the one': async () => {
        await make(n, 'here1');
      },
      'one in the other': async () => {
        await make(n, 'there1', asked, elsewhere);
      },
      'one of the same name in each': async () => {
        await make(n, 'both1', { labels: { at: 'here' } });
        await make(n, 'both1', { labels: { at: 'there' } }, elsewhere);
      },
      'the first location has its own': async () => {
        const all = names(await rows(n));
        once(all, [named('here1'), named('both1')], 'instances');
        without(all, named('there1', elsewhere));
      },
      'the second has its own': async () => {
        const all = names(await rows(n, elsewhere));
        once(all, [named('there1', elsewhere), named('both1', elsewhere)], 'instances');
        without(all, named('here1'));
      },
      'not found in the wrong one': () => refused(read(n, 'here1', elsewhere), 404),
      'one of the same name is deleted': async () => {
        await remove(n, 'both1');
        without(names(await rows(n)), named('both1'));
      },
      'the other is still there': async () => {
        const row = (await rows(n, elsewhere)).find(({ name }) => name === named('both1', elsewhere));
        assert.deepEqual(row?.labels, { at: 'there' });
      },
    }),

    'a name is given once': (n) => ({
      made: async () => {
        await make(n, 'unique1');
      },
      'not a second time': () =>
        refused(n.projects.locations.instances.create({ parent, instanceId: 'unique1', requestBody: { labels: {} } }), 409),
      'it is there once, as it was': async () => {
        const all = (await rows(n)).filter(({ name }) => name === named('unique1'));
        assert.deepEqual(
          all.map(({ labels }) => labels),
          [asked.labels],
        );
      },
      'a request that comes twice is one': async () => {
        const request = { parent, instanceId: 'again1', requestBody: asked, requestId: '5f2b3c4d-0a1b-4c2d-8e3f-123456789abc' };
        await settled(n, n.projects.locations.instances.create(request));
        await settled(n, n.projects.locations.instances.create(request));
        once(names(await rows(n)), [named('again1')], 'instances');
      },
      'deleted, it is free again': async () => {
        await remove(n, 'unique1');
        await make(n, 'unique1', { labels: { second: 'yes' } });
        assert.deepEqual((await listed(n, 'unique1')).labels, { second: 'yes' });
      },
    }),

    'an instance is stopped and started': (n) => ({
      'an instance': async () => {
        await make(n, 'pause1');
      },
      'it runs': async () => assert.equal((await listed(n, 'pause1')).state, 'ACTIVE'),
      stopped: async () => {
        await settled(n, n.projects.locations.instances.stop({ name: named('pause1'), requestBody: {} }));
        assert.equal((await listed(n, 'pause1')).state, 'STOPPED');
      },
      'by itself it says so too': async () => assert.equal((await read(n, 'pause1')).state, 'STOPPED'),
      started: async () => {
        await settled(n, n.projects.locations.instances.start({ name: named('pause1'), requestBody: {} }));
        assert.equal((await listed(n, 'pause1')).state, 'ACTIVE');
      },
      reset: async () => {
        await settled(n, n.projects.locations.instances.reset({ name: named('pause1'), requestBody: {} }));
        assert.equal((await listed(n, 'pause1')).state, 'ACTIVE');
      },
      'what it is stays': async () => assert.deepEqual((await listed(n, 'pause1')).labels, asked.labels),
    }),

    'a machine is changed': (n) => ({
      'an instance, stopped': async () => {
        await make(n, 'change1');
        await settled(n, n.projects.locations.instances.stop({ name: named('change1'), requestBody: {} }));
      },
      'another type of machine': async () => {
        await patch(n, 'change1', 'gceSetup.machine_type', { gceSetup: { machineType: 'n1-standard-16' } });
        assert.equal((await listed(n, 'change1')).gceSetup?.machineType, 'n1-standard-16');
      },
      'its disks stay': async () => {
        const { bootDisk, dataDisks } = given((await listed(n, 'change1')).gceSetup, 'gceSetup');
        assert.partialDeepStrictEqual([bootDisk, dataDisks?.[0]], [{ diskSizeGb: '150' }, { diskSizeGb: '100' }]);
      },
      'what the mask does not name is not changed': async () => {
        await patch(n, 'change1', 'labels', { labels: { team: 'text' }, disableProxyAccess: true });
        const row = await listed(n, 'change1');
        assert.deepEqual([row.labels, row.disableProxyAccess ?? false], [{ team: 'text' }, false]);
      },
      'metadata of its own': async () => {
        const metadata = { 'report-event-health': 'true' };
        await patch(n, 'change1', 'gceSetup.metadata', { gceSetup: { metadata } });
        const { gceSetup } = await listed(n, 'change1');
        assert.partialDeepStrictEqual(gceSetup?.metadata, metadata);
        assert.equal(gceSetup?.machineType, 'n1-standard-16');
      },
      'a mask that names nothing of it': async () => {
        await refused(
          n.projects.locations.instances.patch({ name: named('change1'), updateMask: 'colour', requestBody: { labels: {} } }),
          400,
        );
        assert.deepEqual((await listed(n, 'change1')).labels, { team: 'text' });
      },
    }),

    'disks grow': (n) => ({
      'an instance': async () => {
        await make(n, 'disks1');
      },
      'more room for data': async () => {
        const requestBody = { dataDisk: { diskSizeGb: '200' } };
        await settled(n, n.projects.locations.instances.resizeDisk({ notebookInstance: named('disks1'), requestBody }));
        assert.equal((await listed(n, 'disks1')).gceSetup?.dataDisks?.[0]?.diskSizeGb, '200');
      },
      'the other disk is as it was': async () => assert.equal((await listed(n, 'disks1')).gceSetup?.bootDisk?.diskSizeGb, '150'),
      'more room to start from': async () => {
        const requestBody = { bootDisk: { diskSizeGb: '250' } };
        await settled(n, n.projects.locations.instances.resizeDisk({ notebookInstance: named('disks1'), requestBody }));
        assert.equal((await listed(n, 'disks1')).gceSetup?.bootDisk?.diskSizeGb, '250');
      },
      'both are there by themselves': async () => {
        const { bootDisk, dataDisks } = given((await read(n, 'disks1')).gceSetup, 'gceSetup');
        assert.deepEqual([bootDisk?.diskSizeGb, dataDisks?.[0]?.diskSizeGb], ['250', '200']);
      },
      'not those of an instance that is not there': () =>
        refused(
          n.projects.locations.instances.resizeDisk({
            notebookInstance: named('nowhere1'),
            requestBody: { dataDisk: { diskSizeGb: '200' } },
          }),
          404,
        ),
    }),

    'who may do what': (n, s) => ({
      'an instance, of which nobody has said so': async () => {
        await make(n, 'policy1');
        const { data } = await n.projects.locations.instances.getIamPolicy({ resource: named('policy1') });
        assert.deepEqual(data.bindings ?? [], []);
        s.etag = data.etag ?? '';
      },
      'two roles': async () => {
        const policy = { bindings: [viewer, admin], ...(s.etag && { etag: s.etag }) };
        const { data } = await n.projects.locations.instances.setIamPolicy({
          resource: named('policy1'),
          requestBody: { policy },
        });
        assert.deepEqual(data.bindings?.map(({ role }) => role).sort(), [admin.role, viewer.role]);
      },
      'they are read back': async () => {
        const { data } = await n.projects.locations.instances.getIamPolicy({ resource: named('policy1') });
        const bindings = given(data.bindings, 'bindings');
        for (const { role, members } of [viewer, admin]) {
          const found = given(
            bindings.find((binding) => binding.role === role),
            role,
          );
          assert.deepEqual(found.members?.toSorted(), members.toSorted());
        }
        s.etag = data.etag ?? '';
      },
      'another policy takes their place': async () => {
        const policy = { bindings: [viewer], ...(s.etag && { etag: s.etag }) };
        await n.projects.locations.instances.setIamPolicy({ resource: named('policy1'), requestBody: { policy } });
        const { data } = await n.projects.locations.instances.getIamPolicy({ resource: named('policy1') });
        assert.deepEqual(
          data.bindings?.map(({ role }) => role),
          [viewer.role],
        );
      },
      'what the caller may do is some of what was asked': async () => {
        const permissions = ['notebooks.instances.get', 'notebooks.instances.delete'];
        const { data } = await n.projects.locations.instances.testIamPermissions({
          resource: named('policy1'),
          requestBody: { permissions },
        });
        for (const one of data.permissions ?? []) assert.ok(permissions.includes(one), `${one} was not asked for`);
      },
      'of an instance that is not there, nothing': async () => {
        const { data } = await n.projects.locations.instances.testIamPermissions({
          resource: named('nowhere1'),
          requestBody: { permissions: ['notebooks.instances.get'] },
        });
        assert.deepEqual(data.permissions ?? [], []);
      },
      'nor has that a policy': () =>
        refused(
          n.projects.locations.instances.setIamPolicy({
            resource: named('nowhere1'),
            requestBody: { policy: { bindings: [viewer] } },
          }),
          404,
        ),
    }),

    'an instance is looked after': (n) => ({
      'an instance': async () => {
        await make(n, 'care1');
      },
      'whether there is a newer one': async () => {
        const { data } = await n.projects.locations.instances.checkUpgradability({ notebookInstance: named('care1') });
        assert.ok(['boolean', 'undefined'].includes(typeof data.upgradeable), 'it does not say');
        if (!data.upgradeable) assert.deepEqual([data.upgradeVersion || '', data.upgradeImage || ''], ['', '']);
      },
      'what is wrong with it': async () => {
        const diagnosticConfig = { gcsBucket: 'gs://test-project-logs', relativePath: 'care1' };
        const requestBody = { diagnosticConfig, timeoutMinutes: 10 };
        await settled(n, n.projects.locations.instances.diagnose({ name: named('care1'), requestBody }));
      },
      'it is as it was': async () => {
        const { labels, gceSetup } = await listed(n, 'care1');
        assert.deepEqual([labels, gceSetup?.machineType], [asked.labels, asked.gceSetup?.machineType]);
      },
      'one that is not there': async () => {
        await refused(n.projects.locations.instances.checkUpgradability({ notebookInstance: named('nowhere1') }), 404);
        await refused(n.projects.locations.instances.upgrade({ name: named('nowhere1'), requestBody: {} }), 404);
      },
      'nor goes that back to what it was': () =>
        refused(
          n.projects.locations.instances.rollback({
            name: named('nowhere1'),
            requestBody: { targetSnapshot: `${project}/global/snapshots/krwlzipynril`, revisionId: '1' },
          }),
          404,
        ),
    }),

    // What a location offers is set by Google, and no call makes any of it: what is told is looked at, as far as there is any.
    'what there is to choose from': (n) => ({
      'locations, through all pages': async () => {
        const all = await pages(
          async (pageToken) => {
            const from = pageToken === undefined ? {} : { pageToken };
            return (await n.projects.locations.list({ name: project, pageSize: 2, ...from })).data;
          },
          ({ locations }) => locations ?? [],
          ({ nextPageToken }) => nextPageToken || undefined,
        );
        const ids = all.map(({ locationId }) => given(locationId, 'locationId'));
        once(ids, ids, 'locations');
      },
      'no more of them on a page than were asked for': async () => {
        const { data } = await n.projects.locations.list({ name: project, pageSize: 1 });
        assert.ok((data.locations ?? []).length <= 1, 'there are more');
      },
      'images to make one of': async () => {
        const { data } = await n.projects.locations.instances.getConfig({ name: parent });
        for (const { imageName, releaseName } of data.availableImages ?? []) {
          assert.ok(imageName === undefined || typeof imageName === 'string');
          assert.ok(releaseName === undefined || typeof releaseName === 'string');
        }
      },
      'machines, and the one without being asked': async () => {
        const { data } = await n.projects.locations.instances.getConfig({ name: parent });
        const { defaultValues, supportedValues } = data;
        assert.ok(['string', 'undefined'].includes(typeof defaultValues?.machineType));
        for (const one of supportedValues?.machineTypes ?? []) assert.equal(typeof one, 'string');
      },
    }),

    'a credential that is refused': (n, _s, another) => ({
      'an instance': async () => {
        await make(n, 'guarded1');
      },
      'not read by another': () => refused(read(another(nobody), 'guarded1'), 401),
      'not listed by another': () => refused(another(nobody).projects.locations.instances.list({ parent }), 401),
      'nothing made by another': () =>
        refused(
          another(nobody).projects.locations.instances.create({ parent, instanceId: 'intruder1', requestBody: asked }),
          401,
        ),
      'not stopped by another': () =>
        refused(another(nobody).projects.locations.instances.stop({ name: named('guarded1'), requestBody: {} }), 401),
      'not deleted by another': () =>
        refused(another(nobody).projects.locations.instances.delete({ name: named('guarded1') }), 401),
      'it is still there, alone': async () => {
        const all = names(await rows(n));
        once(all, [named('guarded1')], 'instances');
        without(all, named('intruder1'));
      },
    }),

    'wrong requests, and what is not there': (n) => ({
      'a disk of no known type': () =>
        refused(make(n, 'wrong1', { gceSetup: { bootDisk: { diskType: 'PD_PUNCHED', diskSizeGb: '150' } } }), 400),
      'a disk of no number of gigabytes': () =>
        refused(make(n, 'wrong1', { gceSetup: { dataDisks: [{ diskSizeGb: 'plenty' }] } }), 400),
      'labels that are no map': () => refused(make(n, 'wrong1', { labels: 'none' as unknown as Record<string, string> }), 400),
      'none was made': async () => without(names(await rows(n)), named('wrong1')),
      'no id at all': () => refused(n.projects.locations.instances.create({ parent, requestBody: asked }), 400),
      'an instance that is not there': async () => {
        await refused(read(n, 'nowhere1'), 404);
        await refused(patch(n, 'nowhere1', 'labels', { labels: {} }), 404);
        await refused(remove(n, 'nowhere1'), 404);
      },
      'is not stopped, nor reset': async () => {
        await refused(n.projects.locations.instances.stop({ name: named('nowhere1'), requestBody: {} }), 404);
        await refused(n.projects.locations.instances.reset({ name: named('nowhere1'), requestBody: {} }), 404);
      },
    }),
  },
};
