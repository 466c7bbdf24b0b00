import assert from 'node:assert/strict';
import { auth, metastore, type metastore_v1beta } from 'googleapis/build/src/apis/metastore/index.js';
import { given, once, type Place, pages, refused, type Vendor } from '../kit.ts';

type Metastore = metastore_v1beta.Metastore;
type Operation = metastore_v1beta.Schema$Operation;
type Service = metastore_v1beta.Schema$Service;
type Federation = metastore_v1beta.Schema$Federation;

const connect = (place: Place, token: string): Metastore => {
  const caller = new auth.OAuth2();
  caller.setCredentials({ access_token: token });
  return metastore({ version: 'v1beta', auth: caller, rootUrl: `${place.url}/`, retry: false });
};

const project = 'projects/dpms-guide';
const location = `${project}/locations/us-central1`;
const service = (id: string): string => `${location}/services/${id}`;
const federation = (id: string): string => `${location}/federations/${id}`;
const someone = 'user:ana@example.com';
const pause = (): Promise<void> => new Promise((done) => setTimeout(done, 200));

const without = (rows: readonly string[], one: string): void => assert.ok(!rows.includes(one), `the list still has ${one}`);
const oneOf = (value: string | null | undefined, ...all: readonly string[]): void =>
  assert.ok(all.includes(value ?? ''), `${value} is none of ${all.join(', ')}`);
const names = (rows: readonly { name?: string | null }[]): string[] => rows.map(({ name }) => given(name, 'name'));

/** Changes are long-running: the operation is asked for until it is done, for two seconds. */
const done = async (m: Metastore, started: Operation): Promise<Operation> => {
  const name = given(started.name, 'name of the operation');
  let at = started;
  for (let turn = 0; turn < 10 && !at.done; turn += 1) {
    if (turn > 0) await pause();
    at = (await m.projects.locations.operations.get({ name })).data;
    assert.equal(at.name, name);
  }
  assert.equal(at.done, true, 'the operation is not done');
  return at;
};
/** ... and it has come to a good end. */
const finished = async (m: Metastore, started: Operation): Promise<Operation> => {
  const at = await done(m, started);
  assert.equal(at.error ?? undefined, undefined, `the operation failed: ${at.error?.message}`);
  return at;
};

const start = async (m: Metastore, serviceId: string, requestBody: Service = {}, requestId?: string): Promise<Operation> =>
  (await m.projects.locations.services.create({ parent: location, serviceId, requestBody, ...(requestId && { requestId }) }))
    .data;
const make = async (m: Metastore, id: string, body: Service = {}): Promise<Operation> => finished(m, await start(m, id, body));
const read = async (m: Metastore, id: string): Promise<Service> =>
  (await m.projects.locations.services.get({ name: service(id) })).data;
const change = async (m: Metastore, id: string, updateMask: string, requestBody: Service): Promise<Operation> =>
  finished(m, (await m.projects.locations.services.patch({ name: service(id), updateMask, requestBody })).data);
const remove = async (m: Metastore, id: string): Promise<Operation> =>
  finished(m, (await m.projects.locations.services.delete({ name: service(id) })).data);

type Asked = Omit<metastore_v1beta.Params$Resource$Projects$Locations$Services$List, 'parent' | 'pageToken'>;
const services = (m: Metastore, asked: Asked = {}): Promise<Service[]> =>
  pages(
    async (pageToken) =>
      (await m.projects.locations.services.list({ parent: location, ...asked, ...(pageToken && { pageToken }) })).data,
    (page) => page.services ?? [],
    (page) => page.nextPageToken || undefined,
  );
const backups = (m: Metastore, id: string, pageSize = 100): Promise<metastore_v1beta.Schema$Backup[]> =>
  pages(
    async (pageToken) =>
      (await m.projects.locations.services.backups.list({ parent: service(id), pageSize, ...(pageToken && { pageToken }) })).data,
    (page) => page.backups ?? [],
    (page) => page.nextPageToken || undefined,
  );
const backup = async (m: Metastore, id: string, backupId: string, description = 'made by hand'): Promise<Operation> => {
  const asked = { parent: service(id), backupId, requestBody: { description } };
  return finished(m, (await m.projects.locations.services.backups.create(asked)).data);
};
const imports = (m: Metastore, id: string, pageSize = 100): Promise<metastore_v1beta.Schema$MetadataImport[]> =>
  pages(
    async (pageToken) => {
      const asked = { parent: service(id), pageSize, ...(pageToken && { pageToken }) };
      return (await m.projects.locations.services.metadataImports.list(asked)).data;
    },
    (page) => page.metadataImports ?? [],
    (page) => page.nextPageToken || undefined,
  );
const federations = (m: Metastore, pageSize = 100): Promise<Federation[]> =>
  pages(
    async (pageToken) =>
      (await m.projects.locations.federations.list({ parent: location, pageSize, ...(pageToken && { pageToken }) })).data,
    (page) => page.federations ?? [],
    (page) => page.nextPageToken || undefined,
  );

/** Guide: cloud.google.com/dataproc-metastore/docs (services, backups, import and export, federations, access) and its REST reference, v1beta. */
export const vendor: Vendor<Metastore> = {
  document: 'metastore/metastore.json',
  header: 'Authorization',
  word: 'Bearer',
  made: 'ya29.a0AfB_byExampleTokenOfAnOwner',
  client: connect,
  strict: ['a credential that is refused'],
  flows: {
    'a service, from the first to the last day': (m, s) => ({
      'asked for': async () => {
        const body: Service = { tier: 'DEVELOPER', hiveMetastoreConfig: { version: '3.1.2' }, labels: { env: 'test' } };
        const started = await start(m, 'life', body);
        s.operation = given(started.name, 'name');
        assert.match(s.operation, /^projects\/[^/]+\/locations\/us-central1\/operations\/[^/]+$/);
      },
      'made, after a while': async () => {
        const { response } = await finished(m, { name: s.operation });
        assert.partialDeepStrictEqual(response, { name: service('life'), tier: 'DEVELOPER', labels: { env: 'test' } });
      },
      read: async () => {
        const at = await read(m, 'life');
        assert.partialDeepStrictEqual(at, { name: service('life'), tier: 'DEVELOPER', labels: { env: 'test' }, state: 'ACTIVE' });
        assert.equal(at.hiveMetastoreConfig?.version, '3.1.2');
        s.uid = given(at.uid, 'uid');
        s.created = given(at.createTime, 'createTime');
        assert.ok(Math.abs(Date.parse(s.created) - Date.now()) < 3_600_000, `made at ${s.created}`);
      },
      'its name is taken': () => refused(start(m, 'life'), 409),
      'is in the list': async () => once(names(await services(m)), [service('life')], 'services'),
      'changed: other labels': async () => {
        await change(m, 'life', 'labels', { labels: { env: 'live', team: 'lake' } });
        const at = await read(m, 'life');
        assert.deepEqual(at.labels, { env: 'live', team: 'lake' });
        assert.deepEqual([at.uid, at.createTime, at.tier], [s.uid, s.created, 'DEVELOPER']);
        assert.ok(Date.parse(given(at.updateTime, 'updateTime')) >= Date.parse(s.created), 'changed before it was made');
      },
      deleted: () => remove(m, 'life'),
      gone: () => refused(read(m, 'life'), 404),
      'no longer in the list, nor deleted twice': async () => {
        without(names(await services(m)), service('life'));
        await refused(m.projects.locations.services.delete({ name: service('life') }), 404);
      },
    }),

    'what a service has if nothing is said': (m) => ({
      'made of nothing': () => make(m, 'bare'),
      'port 9083, stable, Thrift': async () => {
        const at = await read(m, 'bare');
        assert.deepEqual([at.port, at.releaseChannel, at.hiveMetastoreConfig?.endpointProtocol], [9083, 'STABLE', 'THRIFT']);
      },
      'an active one has an endpoint, and a place for its artifacts': async () => {
        const at = await read(m, 'bare');
        assert.equal(at.state, 'ACTIVE');
        assert.match(given(at.endpointUri, 'endpointUri'), /^thrift:\/\//);
        assert.match(given(at.artifactGcsUri, 'artifactGcsUri'), /^gs:\/\//);
      },
      'a version of Hive is chosen for it': async () =>
        assert.match(given((await read(m, 'bare')).hiveMetastoreConfig?.version, 'version'), /^\d+\.\d+\.\d+$/),
      'what only the service says is not taken from the caller': async () => {
        await make(m, 'liar', { state: 'ERROR', uid: 'mine', createTime: '2001-01-01T00:00:00Z' });
        const at = await read(m, 'liar');
        assert.equal(at.state, 'ACTIVE');
        assert.notEqual(at.uid, 'mine');
        assert.notEqual(new Date(given(at.createTime, 'createTime')).getUTCFullYear(), 2001);
      },
      'each has its own uid': async () => assert.notEqual((await read(m, 'bare')).uid, (await read(m, 'liar')).uid),
    }),

    'services through all pages, sorted and filtered': (m) => ({
      'five, in no order': async () => {
        const env: Record<string, string> = { c: 'live', a: 'test', e: 'live', b: 'test', d: 'live' };
        for (const letter of Object.keys(env)) {
          const tier = letter === 'e' ? 'ENTERPRISE' : 'DEVELOPER';
          await make(m, `page-${letter}`, { tier, labels: { env: given(env[letter], 'label') } });
        }
      },
      'no more on a page than asked for': async () => {
        const page = (await m.projects.locations.services.list({ parent: location, pageSize: 2 })).data;
        assert.ok(given(page.services, 'services').length <= 2, 'more than two');
        given(page.nextPageToken, 'nextPageToken');
      },
      'all of them, each once': async () => {
        const rows = names(await services(m, { pageSize: 2 }));
        once(rows, [...new Set(rows), ...['a', 'b', 'c', 'd', 'e'].map((at) => service(`page-${at}`))], 'services');
      },
      'sorted by name, backwards': async () => {
        const rows = names(await services(m, { orderBy: 'name desc' })).filter((row) => row.includes('/services/page-'));
        assert.deepEqual(
          rows,
          ['e', 'd', 'c', 'b', 'a'].map((at) => service(`page-${at}`)),
        );
      },
      'those of one label': async () => {
        const rows = names(await services(m, { filter: 'labels.env = "test"' }));
        once(rows, [service('page-a'), service('page-b')], 'services');
        for (const at of ['c', 'd', 'e']) without(rows, service(`page-${at}`));
      },
      'those of one tier, through pages': async () => {
        const rows = names(await services(m, { filter: 'tier = "ENTERPRISE"', pageSize: 1 }));
        once(rows, [service('page-e')], 'services');
        without(rows, service('page-a'));
      },
      'none of them in another location': async () => {
        const { data } = await m.projects.locations.services.list({ parent: `${project}/locations/europe-west1` });
        for (const at of ['a', 'e']) without(names(data.services ?? []), service(`page-${at}`));
      },
      'one less': async () => {
        await remove(m, 'page-b');
        const rows = names(await services(m, { pageSize: 2 }));
        once(rows, [service('page-a'), service('page-c')], 'services');
        without(rows, service('page-b'));
      },
    }),

    'changing what the mask says, and nothing else': (m) => ({
      made: () =>
        make(m, 'masked', {
          labels: { env: 'test' },
          hiveMetastoreConfig: { version: '3.1.2', configOverrides: { 'hive.metastore.warehouse.dir': 'gs://lake/warehouse' } },
          telemetryConfig: { logFormat: 'JSON' },
          maintenanceWindow: { hourOfDay: 2, dayOfWeek: 'SUNDAY' },
        }),
      'the labels, though more is sent': async () => {
        await change(m, 'masked', 'labels', { labels: { env: 'live' }, telemetryConfig: { logFormat: 'LEGACY' } });
        const at = await read(m, 'masked');
        assert.deepEqual([at.labels, at.telemetryConfig?.logFormat], [{ env: 'live' }, 'JSON']);
      },
      'what is nested': async () => {
        const configOverrides = { 'hive.metastore.warehouse.dir': 'gs://lake/other', 'hive.stats.autogather': 'false' };
        await change(m, 'masked', 'hiveMetastoreConfig.configOverrides', { hiveMetastoreConfig: { configOverrides } });
        const at = await read(m, 'masked');
        assert.deepEqual(at.hiveMetastoreConfig?.configOverrides, configOverrides);
        assert.deepEqual([at.hiveMetastoreConfig?.version, at.labels], ['3.1.2', { env: 'live' }]);
      },
      'two at once': async () => {
        await change(m, 'masked', 'telemetryConfig.logFormat,maintenanceWindow', {
          telemetryConfig: { logFormat: 'LEGACY' },
          maintenanceWindow: { hourOfDay: 5, dayOfWeek: 'MONDAY' },
        });
        const at = await read(m, 'masked');
        assert.equal(at.telemetryConfig?.logFormat, 'LEGACY');
        assert.deepEqual(at.maintenanceWindow, { hourOfDay: 5, dayOfWeek: 'MONDAY' });
      },
      'what is masked and not sent is taken away': async () => {
        await change(m, 'masked', 'labels', {});
        assert.deepEqual((await read(m, 'masked')).labels ?? {}, {});
      },
      'not without a mask': () =>
        refused(m.projects.locations.services.patch({ name: service('masked'), requestBody: { labels: { env: 'x' } } }), 400),
      'not what is no field': () =>
        refused(
          m.projects.locations.services.patch({ name: service('masked'), updateMask: 'colour', requestBody: { labels: {} } }),
          400,
        ),
      'not what does not change': async () => {
        const asked = { name: service('masked'), updateMask: 'databaseType', requestBody: { databaseType: 'SPANNER' } };
        await refused(m.projects.locations.services.patch(asked), 400);
        assert.notEqual((await read(m, 'masked')).databaseType, 'SPANNER');
      },
      'not what is not there': () =>
        refused(
          m.projects.locations.services.patch({ name: service('nowhere'), updateMask: 'labels', requestBody: { labels: {} } }),
          404,
        ),
    }),

    'a service of a Kerberos realm': (m) => {
      const kerberosConfig = {
        keytab: { cloudSecret: 'projects/dpms-guide/secrets/keytab/versions/1' },
        principal: 'hive/host.example.com@EXAMPLE.COM',
        krb5ConfigGcsUri: 'gs://dpms-guide/krb5.conf',
      };
      return {
        made: () => make(m, 'kerberos', { hiveMetastoreConfig: { version: '3.1.2', kerberosConfig } }),
        'it says which': async () =>
          assert.deepEqual((await read(m, 'kerberos')).hiveMetastoreConfig?.kerberosConfig, kerberosConfig),
        'another version of the secret': async () => {
          const keytab = { cloudSecret: 'projects/dpms-guide/secrets/keytab/versions/2' };
          await change(m, 'kerberos', 'hive_metastore_config.kerberos_config.keytab', {
            hiveMetastoreConfig: { kerberosConfig: { keytab } },
          });
          const at = (await read(m, 'kerberos')).hiveMetastoreConfig?.kerberosConfig;
          assert.deepEqual(at, { ...kerberosConfig, keytab });
        },
        'out of the realm: masked, and left out': async () => {
          await change(m, 'kerberos', 'hive_metastore_config.kerberos_config', {});
          const at = await read(m, 'kerberos');
          assert.equal(at.hiveMetastoreConfig?.kerberosConfig ?? undefined, undefined);
          assert.equal(at.hiveMetastoreConfig?.version, '3.1.2');
        },
        'in again': async () => {
          await change(m, 'kerberos', 'hive_metastore_config.kerberos_config', { hiveMetastoreConfig: { kerberosConfig } });
          assert.deepEqual((await read(m, 'kerberos')).hiveMetastoreConfig?.kerberosConfig, kerberosConfig);
        },
      };
    },

    'size, maintenance and scheduled backups': (m) => ({
      made: () =>
        make(m, 'sized', {
          scalingConfig: { instanceSize: 'MEDIUM' },
          maintenanceWindow: { hourOfDay: 3, dayOfWeek: 'SATURDAY' },
        }),
      'it has that size and window': async () => {
        const at = await read(m, 'sized');
        assert.equal(at.scalingConfig?.instanceSize, 'MEDIUM');
        assert.deepEqual(at.maintenanceWindow, { hourOfDay: 3, dayOfWeek: 'SATURDAY' });
      },
      'scaled by a factor': async () => {
        await change(m, 'sized', 'scalingConfig', { scalingConfig: { scalingFactor: 2 } });
        assert.equal((await read(m, 'sized')).scalingConfig?.scalingFactor, 2);
      },
      'no window at the 25th hour': async () => {
        const maintenanceWindow = { hourOfDay: 25, dayOfWeek: 'SATURDAY' };
        const asked = { name: service('sized'), updateMask: 'maintenanceWindow', requestBody: { maintenanceWindow } };
        await refused(m.projects.locations.services.patch(asked), 400);
        assert.equal((await read(m, 'sized')).maintenanceWindow?.hourOfDay, 3);
      },
      'backed up every night': async () => {
        const how = { cronSchedule: '0 2 * * *', timeZone: 'America/Los_Angeles', backupLocation: 'gs://dpms-guide/backups' };
        await change(m, 'sized', 'scheduledBackup', { scheduledBackup: { enabled: true, ...how } });
        const at = (await read(m, 'sized')).scheduledBackup;
        assert.partialDeepStrictEqual(at, { enabled: true, ...how });
        assert.ok(Date.parse(given(at?.nextScheduledTime, 'nextScheduledTime')) > Date.now(), 'the next one is in the past');
      },
      'not any more': async () => {
        await change(m, 'sized', 'scheduledBackup.enabled', { scheduledBackup: { enabled: false } });
        const at = (await read(m, 'sized')).scheduledBackup;
        assert.equal(at?.enabled ?? false, false);
      },
      'none without a schedule': async () => {
        await make(m, 'unscheduled');
        const scheduledBackup = { enabled: true, backupLocation: 'gs://dpms-guide/backups' };
        const asked = { name: service('unscheduled'), updateMask: 'scheduledBackup', requestBody: { scheduledBackup } };
        await refused(m.projects.locations.services.patch(asked), 400);
        assert.equal((await read(m, 'unscheduled')).scheduledBackup?.enabled ?? false, false);
      },
    }),

    operations: (m, s) => {
      const all = (pageSize = 100): Promise<Operation[]> =>
        pages(
          async (pageToken) =>
            (await m.projects.locations.operations.list({ name: location, pageSize, ...(pageToken && { pageToken }) })).data,
          (page) => page.operations ?? [],
          (page) => page.nextPageToken || undefined,
        );
      return {
        'two services are asked for': async () => {
          s.one = given((await start(m, 'op-one')).name, 'name');
          s.two = given((await start(m, 'op-two')).name, 'name');
          assert.notEqual(s.one, s.two);
        },
        'what the first does': async () => {
          const { data } = await m.projects.locations.operations.get({ name: s.one });
          assert.partialDeepStrictEqual(data.metadata, { target: service('op-one'), verb: 'create', apiVersion: 'v1beta' });
          assert.equal(data.metadata?.requestedCancellation ?? false, false);
          given(data.metadata?.createTime, 'createTime');
        },
        'when it is done, it says what came of it, and when': async () => {
          const at = await finished(m, { name: s.one });
          assert.equal(at.response?.name, service('op-one'));
          assert.match(given(at.response?.['@type'], '@type'), /metastore\.v1beta\.Service$/);
          given(at.metadata?.endTime, 'endTime');
        },
        'both are in the list, through all pages': async () => {
          await finished(m, { name: s.two });
          once(names(await all(1)), [s.one, s.two], 'operations');
        },
        'a deletion is one too': async () => {
          const { data } = await m.projects.locations.services.delete({ name: service('op-two') });
          s.three = given(data.name, 'name');
          const at = await finished(m, data);
          assert.partialDeepStrictEqual(at.metadata, { target: service('op-two'), verb: 'delete' });
          once(names(await all()), [s.one, s.two, s.three], 'operations');
        },
        'one is forgotten': async () => {
          await m.projects.locations.operations.delete({ name: s.one });
          await refused(m.projects.locations.operations.get({ name: s.one }), 404);
          without(names(await all()), s.one);
        },
        'what it made is still there': async () => assert.equal((await read(m, 'op-one')).name, service('op-one')),
        'one that was not': async () => {
          const name = `${location}/operations/operation-1700000000000-00000000-dead-beef`;
          await refused(m.projects.locations.operations.get({ name }), 404);
          await refused(m.projects.locations.operations.cancel({ name, requestBody: {} }), 404);
        },
      };
    },

    'asked twice, and thought better of': (m, s) => {
      const requestId = 'b5c1a1f0-6f0e-4d0c-9c1d-0a4f1c2d3e4f';
      return {
        'the same request twice is one': async () => {
          s.first = given((await start(m, 'twice', { labels: { env: 'test' } }, requestId)).name, 'name');
          s.second = given((await start(m, 'twice', { labels: { env: 'test' } }, requestId)).name, 'name');
          assert.equal(s.second, s.first);
        },
        'it is made once': async () => {
          await finished(m, { name: s.first });
          once(names(await services(m)), [service('twice')], 'services');
        },
        'another request for it is too many': () =>
          refused(start(m, 'twice', { labels: { env: 'test' } }, 'c6d2b2a1-7a1f-4e1d-8d2e-1b5a2d3e4f5a'), 409),
        'a request id that is none': async () => {
          await refused(start(m, 'twice-b', {}, 'not-a-uuid'), 400);
          await refused(start(m, 'twice-b', {}, '00000000-0000-0000-0000-000000000000'), 400);
          without(names(await services(m)), service('twice-b'));
        },
        'one is cancelled at once': async () => {
          s.late = given((await start(m, 'cancelled')).name, 'name');
          await m.projects.locations.operations.cancel({ name: s.late, requestBody: {} });
        },
        'it ends: cancelled, or made before': async () => {
          const at = await done(m, { name: s.late });
          if (at.error) assert.equal(at.error.code, 1);
          else assert.equal((await read(m, 'cancelled')).name, service('cancelled'));
        },
      };
    },

    'backups of a service': (m, s) => ({
      'a service': () => make(m, 'backed', { hiveMetastoreConfig: { version: '3.1.2' }, labels: { env: 'test' } }),
      'three backups': async () => {
        const { response, metadata } = await backup(m, 'backed', 'first', 'before the change');
        assert.equal(response?.name, `${service('backed')}/backups/first`);
        assert.equal(metadata?.target, `${service('backed')}/backups/first`);
        for (const at of ['second', 'third']) await backup(m, 'backed', at);
      },
      'one is read, with the service as it was': async () => {
        await change(m, 'backed', 'labels', { labels: { env: 'live' } });
        const at = (await m.projects.locations.services.backups.get({ name: `${service('backed')}/backups/first` })).data;
        assert.deepEqual([at.description, at.state], ['before the change', 'ACTIVE']);
        assert.deepEqual([at.serviceRevision?.name, at.serviceRevision?.labels], [service('backed'), { env: 'test' }]);
        assert.ok(Date.parse(given(at.endTime, 'endTime')) >= Date.parse(given(at.createTime, 'createTime')), 'ended too soon');
      },
      'its name is taken': () => {
        const asked = { parent: service('backed'), backupId: 'first', requestBody: { description: 'again' } };
        return refused(m.projects.locations.services.backups.create(asked), 409);
      },
      'all of them, through pages': async () => {
        const all = ['first', 'second', 'third'].map((at) => `${service('backed')}/backups/${at}`);
        once(names(await backups(m, 'backed', 1)), all, 'backups');
      },
      'those of another are its own': async () => {
        await make(m, 'other');
        await backup(m, 'other', 'first', 'of another');
        once(names(await backups(m, 'other')), [`${service('other')}/backups/first`], 'backups');
        without(names(await backups(m, 'other')), `${service('backed')}/backups/first`);
      },
      'one is deleted, and gone': async () => {
        const name = `${service('backed')}/backups/second`;
        await finished(m, (await m.projects.locations.services.backups.delete({ name })).data);
        await refused(m.projects.locations.services.backups.get({ name }), 404);
        without(names(await backups(m, 'backed')), name);
        s.left = `${service('backed')}/backups/third`;
      },
      'with the service they are all gone': async () => {
        await remove(m, 'backed');
        await refused(m.projects.locations.services.backups.get({ name: s.left }), 404);
      },
      'none of a service that is not there': () =>
        refused(
          m.projects.locations.services.backups.create({ parent: service('nowhere'), backupId: 'first', requestBody: {} }),
          404,
        ),
    }),

    'a service is restored': (m) => ({
      'a service and its backup': async () => {
        await make(m, 'restored', {
          hiveMetastoreConfig: { version: '3.1.2', configOverrides: { 'hive.stats.autogather': 'true' } },
        });
        await backup(m, 'restored', 'good');
      },
      'restored, metadata alone': async () => {
        const requestBody = { backup: `${service('restored')}/backups/good`, restoreType: 'METADATA_ONLY' };
        const { data } = await m.projects.locations.services.restore({ service: service('restored'), requestBody });
        const { metadata, response } = await finished(m, data);
        assert.equal(metadata?.target, service('restored'));
        assert.partialDeepStrictEqual(response, { backup: `${service('restored')}/backups/good`, type: 'METADATA_ONLY' });
      },
      'it is told of': async () => {
        const at = await read(m, 'restored');
        const rows = given(at.metadataManagementActivity?.restores, 'restores');
        const row = rows.find((one) => one.backup === `${service('restored')}/backups/good`);
        assert.deepEqual([row?.state, row?.type, at.state], ['SUCCEEDED', 'METADATA_ONLY', 'ACTIVE']);
      },
      'of what is not there': async () => {
        const requestBody = { backup: `${service('restored')}/backups/nowhere` };
        await refused(m.projects.locations.services.restore({ service: service('restored'), requestBody }), 400, 404);
      },
      'of nothing': () => refused(m.projects.locations.services.restore({ service: service('restored'), requestBody: {} }), 400),
      'of two things': () => {
        const requestBody = { backup: `${service('restored')}/backups/good`, backupLocation: 'gs://dpms-guide/backups/good' };
        return refused(m.projects.locations.services.restore({ service: service('restored'), requestBody }), 400);
      },
      'a service that is not there': () => {
        const requestBody = { backup: `${service('restored')}/backups/good` };
        return refused(m.projects.locations.services.restore({ service: service('nowhere'), requestBody }), 404);
      },
    }),

    'metadata is imported': (m) => {
      const name = (id: string): string => `${service('importing')}/metadataImports/${id}`;
      const dump = (at: string) => ({ type: 'MYSQL', gcsUri: `gs://dpms-guide/${at}.sql` });
      const bring = async (id: string, description: string): Promise<Operation> => {
        const requestBody = { description, databaseDump: dump(id) };
        const asked = { parent: service('importing'), metadataImportId: id, requestBody };
        return finished(m, (await m.projects.locations.services.metadataImports.create(asked)).data);
      };
      return {
        'a service': () => make(m, 'importing'),
        'two imports': async () => {
          const { response, metadata } = await bring('old-hive', 'from the cluster');
          assert.equal(response?.name, name('old-hive'));
          assert.equal(metadata?.target, name('old-hive'));
          await bring('older-hive', 'from before');
        },
        'one is read': async () => {
          const { data } = await m.projects.locations.services.metadataImports.get({ name: name('old-hive') });
          assert.partialDeepStrictEqual(data, { name: name('old-hive'), description: 'from the cluster', state: 'SUCCEEDED' });
          assert.partialDeepStrictEqual(data.databaseDump, dump('old-hive'));
          given(data.createTime, 'createTime');
        },
        'both in the list, through pages': async () =>
          once(names(await imports(m, 'importing', 1)), [name('old-hive'), name('older-hive')], 'imports'),
        'another description': async () => {
          const asked = { name: name('old-hive'), updateMask: 'description', requestBody: { description: 'the last one' } };
          await finished(m, (await m.projects.locations.services.metadataImports.patch(asked)).data);
          const { data } = await m.projects.locations.services.metadataImports.get({ name: name('old-hive') });
          assert.equal(data.description, 'the last one');
          assert.equal(data.databaseDump?.gcsUri, dump('old-hive').gcsUri);
        },
        'not another dump': async () => {
          const asked = { name: name('old-hive'), updateMask: 'databaseDump', requestBody: { databaseDump: dump('other') } };
          await refused(m.projects.locations.services.metadataImports.patch(asked), 400);
        },
        'its name is taken': () => {
          const asked = { parent: service('importing'), metadataImportId: 'old-hive', requestBody: { databaseDump: dump('x') } };
          return refused(m.projects.locations.services.metadataImports.create(asked), 409);
        },
        'not from what is no bucket': async () => {
          const requestBody = { databaseDump: { type: 'MYSQL', gcsUri: 'https://example.com/dump.sql' } };
          const asked = { parent: service('importing'), metadataImportId: 'from-web', requestBody };
          await refused(m.projects.locations.services.metadataImports.create(asked), 400);
          without(names(await imports(m, 'importing')), name('from-web'));
        },
        'one that is not there': () => refused(m.projects.locations.services.metadataImports.get({ name: name('nowhere') }), 404),
      };
    },

    'metadata is exported and asked': (m) => ({
      'a service of the newer kind': () =>
        make(m, 'exporting', { databaseType: 'SPANNER', scalingConfig: { instanceSize: 'SMALL' } }),
      exported: async () => {
        const requestBody = { destinationGcsFolder: 'gs://dpms-guide/exports', databaseDumpType: 'AVRO' };
        const { data } = await m.projects.locations.services.exportMetadata({ service: service('exporting'), requestBody });
        const { response } = await finished(m, data);
        assert.partialDeepStrictEqual(response, { databaseDumpType: 'AVRO', state: 'SUCCEEDED' });
        assert.match(given(response?.destinationGcsUri, 'destinationGcsUri'), /^gs:\/\/dpms-guide\/exports\/.+/);
      },
      'it is told of': async () => {
        const rows = given((await read(m, 'exporting')).metadataManagementActivity?.metadataExports, 'metadataExports');
        const row = rows.find(({ destinationGcsUri }) => destinationGcsUri?.startsWith('gs://dpms-guide/exports/'));
        assert.deepEqual([row?.databaseDumpType, row?.state], ['AVRO', 'SUCCEEDED']);
        given(row?.startTime, 'startTime');
      },
      asked: async () => {
        const asked = { service: service('exporting'), requestBody: { query: 'SELECT name FROM DBS' } };
        const { response, metadata } = await finished(m, (await m.projects.locations.services.queryMetadata(asked)).data);
        assert.equal(metadata?.target, service('exporting'));
        assert.match(given(response?.resultManifestUri, 'resultManifestUri'), /^gs:\/\//);
      },
      'not asked nothing': () =>
        refused(m.projects.locations.services.queryMetadata({ service: service('exporting'), requestBody: {} }), 400),
      'no table is moved from nowhere to nowhere': () => {
        const requestBody = { tableName: 'orders', dbName: 'sales' };
        return refused(m.projects.locations.services.moveTableToDatabase({ service: service('exporting'), requestBody }), 400);
      },
      'nor is a place changed without saying which': () => {
        const requestBody = { resourceName: 'databases/sales/tables/orders' };
        return refused(m.projects.locations.services.alterLocation({ service: service('exporting'), requestBody }), 400);
      },
      'nothing of a service that is not there': async () => {
        const at = service('nowhere');
        const services = m.projects.locations.services;
        const requestBody = { destinationGcsFolder: 'gs://dpms-guide/exports' };
        await refused(services.exportMetadata({ service: at, requestBody }), 404);
        await refused(services.queryMetadata({ service: at, requestBody: { query: 'SELECT 1' } }), 404);
      },
    }),

    'a federation': (m) => {
      const one = { '1': { name: service('federated'), metastoreType: 'DATAPROC_METASTORE' } };
      const two = { ...one, '2': { name: project, metastoreType: 'BIGQUERY' } };
      const make2 = async (federationId: string, requestBody: Federation): Promise<Operation> =>
        finished(m, (await m.projects.locations.federations.create({ parent: location, federationId, requestBody })).data);
      return {
        'of one service': async () => {
          await make(m, 'federated', { hiveMetastoreConfig: { version: '3.1.2', endpointProtocol: 'GRPC' } });
          const { response } = await make2('all', { version: '3.1.2', backendMetastores: one, labels: { env: 'test' } });
          assert.equal(response?.name, federation('all'));
        },
        read: async () => {
          const at = (await m.projects.locations.federations.get({ name: federation('all') })).data;
          assert.partialDeepStrictEqual(at, {
            name: federation('all'),
            version: '3.1.2',
            labels: { env: 'test' },
            state: 'ACTIVE',
          });
          assert.deepEqual(at.backendMetastores, one);
          given(at.uid, 'uid');
          given(at.endpointUri, 'endpointUri');
        },
        'in the list, through pages': async () => {
          await make2('bigquery', { version: '3.1.2', backendMetastores: { '1': { name: project, metastoreType: 'BIGQUERY' } } });
          once(names(await federations(m, 1)), [federation('all'), federation('bigquery')], 'federations');
          without(names(await services(m)), federation('all'));
        },
        'its name is taken': () => {
          const asked = { parent: location, federationId: 'all', requestBody: { version: '3.1.2', backendMetastores: one } };
          return refused(m.projects.locations.federations.create(asked), 409);
        },
        'BigQuery is added': async () => {
          const asked = { name: federation('all'), updateMask: 'backendMetastores', requestBody: { backendMetastores: two } };
          await finished(m, (await m.projects.locations.federations.patch(asked)).data);
          const at = (await m.projects.locations.federations.get({ name: federation('all') })).data;
          assert.deepEqual(at.backendMetastores, two);
          assert.deepEqual([at.labels, at.version], [{ env: 'test' }, '3.1.2']);
        },
        'its version does not change': () => {
          const asked = { name: federation('all'), updateMask: 'version', requestBody: { version: '2.3.6' } };
          return refused(m.projects.locations.federations.patch(asked), 400);
        },
        'deleted, and gone': async () => {
          await finished(m, (await m.projects.locations.federations.delete({ name: federation('all') })).data);
          await refused(m.projects.locations.federations.get({ name: federation('all') }), 404);
          without(names(await federations(m)), federation('all'));
        },
        'the service is still there': async () => assert.equal((await read(m, 'federated')).name, service('federated')),
      };
    },

    'who may use a service, and its databases': (m, s) => ({
      'nobody in particular, at first': async () => {
        await make(m, 'guarded');
        const { data } = await m.projects.locations.services.getIamPolicy({ resource: service('guarded') });
        assert.deepEqual(data.bindings ?? [], []);
      },
      'one may see it': async () => {
        const bindings = [{ role: 'roles/metastore.viewer', members: [someone] }];
        const { data } = await m.projects.locations.services.setIamPolicy({
          resource: service('guarded'),
          requestBody: { policy: { bindings } },
        });
        assert.deepEqual(data.bindings, bindings);
        s.etag = given(data.etag, 'etag');
        assert.deepEqual(
          (await m.projects.locations.services.getIamPolicy({ resource: service('guarded') })).data.bindings,
          bindings,
        );
      },
      'and change it': async () => {
        const bindings = [{ role: 'roles/metastore.editor', members: [someone] }];
        const policy = { bindings, etag: s.etag };
        await m.projects.locations.services.setIamPolicy({ resource: service('guarded'), requestBody: { policy } });
        const { data } = await m.projects.locations.services.getIamPolicy({ resource: service('guarded') });
        assert.deepEqual(data.bindings, bindings);
        assert.notEqual(data.etag, s.etag);
      },
      'not by what was read before that': async () => {
        const policy = { bindings: [], etag: s.etag };
        await refused(m.projects.locations.services.setIamPolicy({ resource: service('guarded'), requestBody: { policy } }), 409);
        const { data } = await m.projects.locations.services.getIamPolicy({ resource: service('guarded') });
        assert.equal(data.bindings?.[0]?.role, 'roles/metastore.editor');
      },
      'what the caller may': async () => {
        const permissions = ['metastore.services.get', 'metastore.services.update'];
        const { data } = await m.projects.locations.services.testIamPermissions({
          resource: service('guarded'),
          requestBody: { permissions },
        });
        assert.deepEqual((data.permissions ?? []).toSorted(), permissions);
      },
      'a database has a policy of its own': async () => {
        const resource = `${service('guarded')}/databases/default`;
        const bindings = [{ role: 'roles/metastore.metadataViewer', members: [someone] }];
        const databases = m.projects.locations.services.databases;
        await databases.setIamPolicy({ resource, requestBody: { policy: { bindings } } });
        assert.deepEqual((await databases.getIamPolicy({ resource })).data.bindings, bindings);
        const { data } = await m.projects.locations.services.getIamPolicy({ resource: service('guarded') });
        assert.equal(data.bindings?.[0]?.role, 'roles/metastore.editor');
      },
      'it is removed': async () => {
        const resource = `${service('guarded')}/databases/default`;
        const { data } = await m.projects.locations.services.removeIamPolicy({ resource, requestBody: {} });
        assert.equal(data.success, true);
        assert.deepEqual((await m.projects.locations.services.databases.getIamPolicy({ resource })).data.bindings ?? [], []);
      },
      'none for a service that is not there': () => {
        const policy = { bindings: [{ role: 'roles/metastore.viewer', members: [someone] }] };
        return refused(
          m.projects.locations.services.setIamPolicy({ resource: service('nowhere'), requestBody: { policy } }),
          404,
        );
      },
    }),

    'a credential that is refused': (m, s, another) => {
      const stranger = another('a-wrong-token');
      return {
        'a service': async () => {
          await make(m, 'private');
          s.uid = given((await read(m, 'private')).uid, 'uid');
        },
        'not read by another': () => refused(read(stranger, 'private'), 401),
        'not listed by another': () => refused(stranger.projects.locations.services.list({ parent: location }), 401),
        'nothing made by another': () => refused(start(stranger, 'intruder'), 401),
        'not changed by another': () => {
          const asked = { name: service('private'), updateMask: 'labels', requestBody: { labels: { by: 'intruder' } } };
          return refused(stranger.projects.locations.services.patch(asked), 401);
        },
        'not deleted by another': () => refused(stranger.projects.locations.services.delete({ name: service('private') }), 401),
        'it is still there, as it was, and alone': async () => {
          const at = await read(m, 'private');
          assert.deepEqual([at.uid, at.labels ?? {}], [s.uid, {}]);
          without(names(await services(m)), service('intruder'));
        },
      };
    },

    'wrong requests, and what is not there': (m) => ({
      'a service without an id': () => refused(m.projects.locations.services.create({ parent: location, requestBody: {} }), 400),
      'ids that are none': async () => {
        for (const id of ['1st', 'x', 'ends-', 'under_score']) {
          await refused(start(m, id), 400);
          without(names(await services(m)), service(id));
        }
      },
      'words that are none of the field': async () => {
        await refused(start(m, 'worded', { tier: 'GOLD' }), 400);
        await refused(start(m, 'worded', { port: 'nine' as unknown as number }), 400);
        await refused(start(m, 'worded', { colour: 'red' } as Service), 400);
        without(names(await services(m)), service('worded'));
      },
      'pages that are none': async () => {
        await refused(m.projects.locations.services.list({ parent: location, pageSize: -1 }), 400);
        await refused(m.projects.locations.services.list({ parent: location, pageToken: 'not-a-token' }), 400);
      },
      'what is not there is not read': async () => {
        await refused(read(m, 'nowhere'), 404);
        await refused(m.projects.locations.federations.get({ name: federation('nowhere') }), 404);
        await refused(m.projects.locations.services.backups.get({ name: `${service('nowhere')}/backups/one` }), 404);
      },
      'nor deleted': async () => {
        await refused(m.projects.locations.services.delete({ name: service('nowhere') }), 404);
        await refused(m.projects.locations.federations.delete({ name: federation('nowhere') }), 404);
      },
      'there are locations, and there is no such one': async () => {
        const { data } = await m.projects.locations.list({ name: project });
        for (const { name } of (data.locations ?? []).slice(0, 3)) {
          const at = (await m.projects.locations.get({ name: given(name, 'name') })).data;
          assert.equal(at.name, name);
          oneOf(at.locationId, given(name, 'name').split('/').at(-1) ?? '');
        }
        await refused(m.projects.locations.get({ name: `${project}/locations/atlantis-1` }), 403, 404);
      },
    }),
  },
};
