import assert from 'node:assert/strict';
import { type Cluster, type DatabaseUnion, type EventHubDataConnection, KustoManagementClient } from '@azure/arm-kusto';
import { gather, given, once, type Place, refused, type State, type Vendor } from '../kit.ts';

const subscription = '12345678-1234-1234-1234-123456789098';

/**
 * The client gives its credential away over https alone: it is pointed at the place with https, and what comes after its
 * signing sends it on with http; a link that the place gave comes back the same way. `apiVersion` is that of the description.
 */
const connect = (place: Place, token: string): KustoManagementClient => {
  const credential = { getToken: async () => ({ token, expiresOnTimestamp: Date.now() + 3_600_000 }) };
  const client = new KustoManagementClient(credential, subscription, {
    endpoint: place.url.replace(/^http:/, 'https:'),
    apiVersion: '2019-09-07',
    retryOptions: { maxRetries: 0 },
  });
  client.pipeline.addPolicy(
    {
      name: 'links of the place',
      sendRequest: (request, next) => {
        request.url = request.url.replace(/^http:/, 'https:');
        return next(request);
      },
    },
    { phase: 'Serialize' },
  );
  client.pipeline.addPolicy(
    {
      name: 'to the place',
      sendRequest: (request, next) => {
        request.url = request.url.replace(/^https:/, 'http:');
        request.allowInsecureConnection = true;
        return next(request);
      },
    },
    { afterPhase: 'Sign' },
  );
  return client;
};

/** Resource groups are another provider's: these are there before. */
const group = 'kustorptest';
const otherGroup = 'kustorpother';
const location = 'westus';
const asked: Cluster = { location, sku: { name: 'Standard_L8s', tier: 'Standard', capacity: 2 } };
const hub = `/subscriptions/${subscription}/resourceGroups/${group}/providers/Microsoft.EventHub/namespaces/ns1/eventhubs/hub1`;

/** Long-running operations are asked about often, so that a step need not wait for the client's two seconds. */
const soon = { updateIntervalInMs: 50 };
/** As before, and the status of the first answer is kept. */
const watched = () => {
  const seen: number[] = [];
  return { seen, options: { ...soon, onResponse: ({ status }: { status: number }) => void seen.push(status) } };
};

const last = (name: string | undefined): string => given(given(name, 'name').split('/').at(-1), 'name');
const lasts = (rows: readonly { readonly name?: string }[]): string[] => rows.map(({ name }) => last(name));
const cluster = async (k: KustoManagementClient, s: State, name: string, within = group, more: Partial<Cluster> = {}) => {
  const made = await k.clusters.beginCreateOrUpdateAndWait(within, name, { ...asked, ...more }, soon);
  s[name] = given(made.id, 'id');
  return made;
};
const readWrite = (softDeletePeriod = 'P1D'): DatabaseUnion => ({ kind: 'ReadWrite', location, softDeletePeriod });
const database = (k: KustoManagementClient, on: string, name: string, how = readWrite()) =>
  k.databases.beginCreateOrUpdateAndWait(group, on, name, how, soon);
const databases = async (k: KustoManagementClient, on: string): Promise<string[]> =>
  lasts(await gather(k.databases.listByCluster(group, on).byPage(), (page) => page));
const connection = (consumerGroup = 'testConsumerGroup1'): EventHubDataConnection => ({
  kind: 'EventHub',
  location,
  eventHubResourceId: hub,
  consumerGroup,
  tableName: 'Events',
  dataFormat: 'JSON',
});
const connections = async (k: KustoManagementClient, on: string, name: string): Promise<string[]> =>
  lasts(await gather(k.dataConnections.listByDatabase(group, on, name).byPage(), (page) => page));
const viewer = { name: 'Some User', role: 'Viewer', type: 'User', email: 'user@microsoft.com', fqn: 'aaduser=some_guid' };
const admin = { name: 'Kusto App', role: 'Admin', type: 'App', appId: 'some_guid_app_id', fqn: 'aadapp=some_guid_app_id' };
const same = (one: string | undefined, other: string, what: string): void =>
  assert.equal(given(one, what).toLowerCase(), other.toLowerCase());

/** Guide: learn.microsoft.com/rest/api/azurerekusto (clusters, databases, data connections, attached database configurations) and Resource Manager's on asynchronous operations. */
export const vendor: Vendor<KustoManagementClient> = {
  document: 'kusto/azure-kusto.json',
  header: 'Authorization',
  word: 'Bearer',
  made: 'eyJ0eXAiOiJKV1QiLCJhbGciOiJub25lIn0.eyJzdWIiOiJuaW5lZm9sZCJ9.made-up',
  client: connect,
  strict: ['a credential that is refused'],
  flows: {
    'a cluster, from the first to the last day': (k, s) => ({
      made: async () => {
        const made = await cluster(k, s, 'lifecycle1', group, { tags: { team: 'logs' }, enableStreamingIngest: true });
        assert.equal(last(made.name), 'lifecycle1');
        assert.deepEqual([made.location, made.sku, made.tags], [location, asked.sku, { team: 'logs' }]);
      },
      read: async () => {
        const read = await k.clusters.get(group, 'lifecycle1');
        assert.deepEqual([read.location, read.sku, read.tags], [location, asked.sku, { team: 'logs' }]);
        assert.deepEqual([read.id, read.enableStreamingIngest], [s.lifecycle1, true]);
      },
      'is in the list of its group': async () => {
        const rows = await gather(k.clusters.listByResourceGroup(group).byPage(), (page) => page);
        once(lasts(rows), ['lifecycle1'], 'clusters');
      },
      'other tags': async () => {
        const changed = await k.clusters.beginUpdateAndWait(group, 'lifecycle1', { tags: { team: 'metrics' } }, soon);
        assert.deepEqual([changed.tags, changed.location], [{ team: 'metrics' }, location]);
      },
      'the rest stays': async () => {
        const read = await k.clusters.get(group, 'lifecycle1');
        assert.deepEqual([read.tags, read.sku, read.location], [{ team: 'metrics' }, asked.sku, location]);
      },
      deleted: () => k.clusters.beginDeleteAndWait(group, 'lifecycle1', soon),
      gone: () => refused(k.clusters.get(group, 'lifecycle1'), 404),
      'no longer in the list': async () => {
        const rows = await gather(k.clusters.listByResourceGroup(group).byPage(), (page) => page);
        assert.ok(!lasts(rows).includes('lifecycle1'), 'it is');
      },
    }),

    'a put makes, and then changes': (k) => ({
      'the first makes': async () => {
        const { seen, options } = watched();
        const made = await k.clusters.beginCreateOrUpdateAndWait(group, 'twice1', asked, options);
        assert.equal(seen[0], 201);
        assert.equal(made.sku.capacity, 2);
      },
      'the second changes': async () => {
        const { seen, options } = watched();
        const sku = { ...asked.sku, capacity: 4 };
        const changed = await k.clusters.beginCreateOrUpdateAndWait(group, 'twice1', { ...asked, sku }, options);
        assert.equal(seen[0], 200);
        assert.deepEqual(changed.sku, sku);
      },
      'it stays changed': async () => assert.equal((await k.clusters.get(group, 'twice1')).sku.capacity, 4),
      'it is there once': async () => {
        const rows = await gather(k.clusters.listByResourceGroup(group).byPage(), (page) => page);
        once(lasts(rows), ['twice1'], 'clusters');
      },
      'it is provisioned': async () => assert.equal((await k.clusters.get(group, 'twice1')).provisioningState, 'Succeeded'),
    }),

    'clusters of two resource groups': (k, s) => ({
      'one in the one': () => cluster(k, s, 'groupone1'),
      'one in the other': () => cluster(k, s, 'grouptwo1', otherGroup),
      'the first group has its own': async () => {
        const rows = lasts(await gather(k.clusters.listByResourceGroup(group).byPage(), (page) => page));
        once(rows, ['groupone1'], 'clusters');
        assert.ok(!rows.includes('grouptwo1'), 'it lists one of another group');
      },
      'the second has its own': async () => {
        const rows = lasts(await gather(k.clusters.listByResourceGroup(otherGroup).byPage(), (page) => page));
        once(rows, ['grouptwo1'], 'clusters');
        assert.ok(!rows.includes('groupone1'), 'it lists one of another group');
      },
      'the subscription has both': async () => {
        const rows = await gather(k.clusters.list().byPage(), (page) => page);
        once(lasts(rows), ['groupone1', 'grouptwo1'], 'clusters');
      },
      'not found in the wrong group': () => refused(k.clusters.get(otherGroup, 'groupone1'), 404),
    }),

    'a cluster is stopped and started': (k, s) => ({
      'a cluster': () => cluster(k, s, 'pause1'),
      stopped: () => k.clusters.beginStopAndWait(group, 'pause1', soon),
      'says so': async () => assert.equal((await k.clusters.get(group, 'pause1')).state, 'Stopped'),
      started: () => k.clusters.beginStartAndWait(group, 'pause1', soon),
      'runs again': async () => assert.equal((await k.clusters.get(group, 'pause1')).state, 'Running'),
      'one that is not there': () => refused(k.clusters.beginStopAndWait(group, 'nowhere1', soon), 404),
    }),

    'names that are free and taken': (k, s) => ({
      'a free one of a cluster': async () => {
        const told = await k.clusters.checkNameAvailability(location, { name: 'names1', type: 'Microsoft.Kusto/clusters' });
        assert.equal(told.nameAvailable, true);
      },
      'a cluster takes it': () => cluster(k, s, 'names1'),
      'it is taken': async () => {
        const told = await k.clusters.checkNameAvailability(location, { name: 'names1', type: 'Microsoft.Kusto/clusters' });
        assert.deepEqual([told.nameAvailable, told.reason], [false, 'AlreadyExists']);
      },
      'a database in it': () => database(k, 'names1', 'orders'),
      'that name is taken there': async () => {
        const wanted = { name: 'orders', type: 'Microsoft.Kusto/clusters/databases' as const };
        assert.equal((await k.databases.checkNameAvailability(group, 'names1', wanted)).nameAvailable, false);
      },
      'another is free': async () => {
        const wanted = { name: 'returns', type: 'Microsoft.Kusto/clusters/databases' as const };
        assert.equal((await k.databases.checkNameAvailability(group, 'names1', wanted)).nameAvailable, true);
      },
    }),

    'a database, from the first to the last day': (k, s) => ({
      'a cluster': () => cluster(k, s, 'dblife1'),
      made: async () => {
        const how = { kind: 'ReadWrite' as const, location, softDeletePeriod: 'P365D', hotCachePeriod: 'P31D' };
        const made = await database(k, 'dblife1', 'telemetry', how);
        assert.equal(last(made.name), 'telemetry');
        assert.partialDeepStrictEqual(made, how);
      },
      read: async () => {
        const read = await k.databases.get(group, 'dblife1', 'telemetry');
        assert.partialDeepStrictEqual(read, { kind: 'ReadWrite', location, softDeletePeriod: 'P365D', hotCachePeriod: 'P31D' });
      },
      'a shorter time in the cache': async () => {
        const how = { kind: 'ReadWrite' as const, location, softDeletePeriod: 'P365D', hotCachePeriod: 'P7D' };
        const changed = await k.databases.beginUpdateAndWait(group, 'dblife1', 'telemetry', how, soon);
        assert.partialDeepStrictEqual(changed, how);
      },
      'it stays changed': async () => {
        const read = await k.databases.get(group, 'dblife1', 'telemetry');
        assert.partialDeepStrictEqual(read, { kind: 'ReadWrite', softDeletePeriod: 'P365D', hotCachePeriod: 'P7D' });
      },
      deleted: () => k.databases.beginDeleteAndWait(group, 'dblife1', 'telemetry', soon),
      gone: () => refused(k.databases.get(group, 'dblife1', 'telemetry'), 404),
      'the list is empty': async () => assert.deepEqual(await databases(k, 'dblife1'), []),
    }),

    'databases of two clusters': (k, s) => ({
      'two clusters': async () => {
        await cluster(k, s, 'left1');
        await cluster(k, s, 'right1');
      },
      'three databases in the one': async () => {
        for (const name of ['db1', 'db2', 'db3']) await database(k, 'left1', name);
      },
      'one of the same name in the other': async () => {
        const made = await database(k, 'right1', 'db1', readWrite('P2D'));
        assert.partialDeepStrictEqual(made, { softDeletePeriod: 'P2D' });
      },
      'all of the one': async () => assert.deepEqual((await databases(k, 'left1')).sort(), ['db1', 'db2', 'db3']),
      'all of the other': async () => assert.deepEqual(await databases(k, 'right1'), ['db1']),
      'each keeps what is its own': async () => {
        assert.partialDeepStrictEqual(await k.databases.get(group, 'left1', 'db1'), { softDeletePeriod: 'P1D' });
      },
      'one is deleted': () => k.databases.beginDeleteAndWait(group, 'left1', 'db1', soon),
      'that of the other cluster is still there': async () => {
        assert.partialDeepStrictEqual(await k.databases.get(group, 'right1', 'db1'), { softDeletePeriod: 'P2D' });
      },
    }),

    'principals of a database': (k, s) => ({
      'a database': async () => {
        await cluster(k, s, 'people1');
        await database(k, 'people1', 'crm');
      },
      'two are added': async () => {
        const { value } = await k.databases.addPrincipals(group, 'people1', 'crm', { value: [viewer, admin] });
        once(
          given(value, 'value').map(({ name, role }) => `${name} ${role}`),
          ['Some User Viewer', 'Kusto App Admin'],
          'principals',
        );
      },
      'both are listed': async () => {
        const rows = await gather(k.databases.listPrincipals(group, 'people1', 'crm').byPage(), (page) => page);
        once(
          rows.map(({ fqn }) => fqn ?? ''),
          [viewer.fqn, admin.fqn],
          'principals',
        );
      },
      'one is removed': async () => {
        const { value } = await k.databases.removePrincipals(group, 'people1', 'crm', { value: [viewer] });
        assert.ok(!given(value, 'value').some(({ fqn }) => fqn === viewer.fqn), 'it is still there');
      },
      'the other stays': async () => {
        const rows = await gather(k.databases.listPrincipals(group, 'people1', 'crm').byPage(), (page) => page);
        const fqns = rows.map(({ fqn }) => fqn);
        assert.deepEqual([fqns.includes(viewer.fqn), fqns.includes(admin.fqn)], [false, true]);
      },
      'of a database that is not there': () =>
        refused(k.databases.addPrincipals(group, 'people1', 'nowhere', { value: [viewer] }), 404),
    }),

    'a data connection, from the first to the last day': (k, s) => ({
      'a database': async () => {
        await cluster(k, s, 'streams1');
        await database(k, 'streams1', 'events');
      },
      made: async () => {
        const how = connection();
        const made = await k.dataConnections.beginCreateOrUpdateAndWait(group, 'streams1', 'events', 'hub1', how, soon);
        assert.equal(last(made.name), 'hub1');
        assert.partialDeepStrictEqual(made, how);
      },
      read: async () =>
        assert.partialDeepStrictEqual(await k.dataConnections.get(group, 'streams1', 'events', 'hub1'), connection()),
      'is in the list': async () => assert.deepEqual(await connections(k, 'streams1', 'events'), ['hub1']),
      'another consumer group': async () => {
        const how = connection('testConsumerGroup2');
        const changed = await k.dataConnections.beginUpdateAndWait(group, 'streams1', 'events', 'hub1', how, soon);
        assert.partialDeepStrictEqual(changed, { kind: 'EventHub', consumerGroup: 'testConsumerGroup2' });
      },
      'it stays changed': async () => {
        const read = await k.dataConnections.get(group, 'streams1', 'events', 'hub1');
        assert.partialDeepStrictEqual(read, connection('testConsumerGroup2'));
      },
      deleted: () => k.dataConnections.beginDeleteAndWait(group, 'streams1', 'events', 'hub1', soon),
      gone: () => refused(k.dataConnections.get(group, 'streams1', 'events', 'hub1'), 404),
    }),

    'connections of two kinds in one database': (k, s) => ({
      'a database': async () => {
        await cluster(k, s, 'kinds1');
        await database(k, 'kinds1', 'events');
      },
      'a free name': async () => {
        const wanted = { name: 'hub1', type: 'Microsoft.Kusto/clusters/databases/dataConnections' as const };
        assert.equal((await k.dataConnections.checkNameAvailability(group, 'kinds1', 'events', wanted)).nameAvailable, true);
      },
      'the parameters are found valid': async () => {
        const what = { dataConnectionName: 'hub1', properties: connection() };
        const told = await k.dataConnections.beginDataConnectionValidationAndWait(group, 'kinds1', 'events', what, soon);
        assert.ok(Array.isArray(told.value ?? []), 'it tells no list of what is wrong');
      },
      'an event hub': () => k.dataConnections.beginCreateOrUpdateAndWait(group, 'kinds1', 'events', 'hub1', connection(), soon),
      'an iot hub': async () => {
        const how = {
          kind: 'IotHub' as const,
          location,
          iotHubResourceId: `/subscriptions/${subscription}/resourceGroups/${group}/providers/Microsoft.Devices/IotHubs/iot1`,
          consumerGroup: '$Default',
          sharedAccessPolicyName: 'iothubowner',
        };
        const made = await k.dataConnections.beginCreateOrUpdateAndWait(group, 'kinds1', 'events', 'iot1', how, soon);
        assert.partialDeepStrictEqual(made, how);
      },
      'both are listed, each with its kind': async () => {
        const rows = await gather(k.dataConnections.listByDatabase(group, 'kinds1', 'events').byPage(), (page) => page);
        assert.deepEqual(rows.map(({ name, kind }) => `${last(name)} ${kind}`).sort(), ['hub1 EventHub', 'iot1 IotHub']);
      },
      'the name is free no more': async () => {
        const wanted = { name: 'hub1', type: 'Microsoft.Kusto/clusters/databases/dataConnections' as const };
        assert.equal((await k.dataConnections.checkNameAvailability(group, 'kinds1', 'events', wanted)).nameAvailable, false);
      },
    }),

    'a database is followed by another cluster': (k, s) => ({
      'a leader with a database': async () => {
        await cluster(k, s, 'leader1');
        await database(k, 'leader1', 'shared');
      },
      'a follower': () => cluster(k, s, 'follower1'),
      'the database is attached': async () => {
        const how = {
          location,
          databaseName: 'shared',
          clusterResourceId: s.leader1,
          defaultPrincipalsModificationKind: 'Union',
        };
        const { attachedDatabaseConfigurations: attached } = k;
        const made = await attached.beginCreateOrUpdateAndWait(group, 'follower1', 'share1', how, soon);
        assert.partialDeepStrictEqual(made, how);
      },
      'it is read back': async () => {
        const read = await k.attachedDatabaseConfigurations.get(group, 'follower1', 'share1');
        assert.deepEqual([last(read.name), read.databaseName], ['share1', 'shared']);
        same(read.clusterResourceId, s.leader1, 'clusterResourceId');
      },
      'the leader knows of it': async () => {
        const rows = await gather(k.clusters.listFollowerDatabases(group, 'leader1').byPage(), (page) => page);
        const row = rows.find(({ attachedDatabaseConfigurationName: name }) => name === 'share1');
        same(given(row, 'follower').clusterResourceId, s.follower1, 'clusterResourceId');
      },
      'the leader detaches it': () => {
        const what = { clusterResourceId: s.follower1, attachedDatabaseConfigurationName: 'share1' };
        return k.clusters.beginDetachFollowerDatabasesAndWait(group, 'leader1', what, soon);
      },
      'the follower has it no more': () => refused(k.attachedDatabaseConfigurations.get(group, 'follower1', 'share1'), 404),
      'the leader has no follower': async () => {
        const rows = await gather(k.clusters.listFollowerDatabases(group, 'leader1').byPage(), (page) => page);
        assert.deepEqual(rows, []);
      },
    }),

    'an attached database is taken away by the follower': (k, s) => ({
      'two clusters': async () => {
        await cluster(k, s, 'owner1');
        await cluster(k, s, 'reader1');
      },
      'all databases are attached': () =>
        k.attachedDatabaseConfigurations.beginCreateOrUpdateAndWait(
          group,
          'reader1',
          'all1',
          { location, databaseName: '*', clusterResourceId: s.owner1, defaultPrincipalsModificationKind: 'Replace' },
          soon,
        ),
      'it is listed': async () => {
        const rows = await gather(k.attachedDatabaseConfigurations.listByCluster(group, 'reader1').byPage(), (page) => page);
        assert.deepEqual(
          rows.map(({ name, databaseName, defaultPrincipalsModificationKind: kind }) => [last(name), databaseName, kind]),
          [['all1', '*', 'Replace']],
        );
      },
      'the owner has none of its own': async () => {
        const rows = await gather(k.attachedDatabaseConfigurations.listByCluster(group, 'owner1').byPage(), (page) => page);
        assert.deepEqual(rows, []);
      },
      'it is deleted': () => k.attachedDatabaseConfigurations.beginDeleteAndWait(group, 'reader1', 'all1', soon),
      'it is gone': () => refused(k.attachedDatabaseConfigurations.get(group, 'reader1', 'all1'), 404),
    }),

    'what the provider offers': (k, s) => ({
      'operations, through all pages': async () => {
        const rows = await gather(k.operations.list().byPage(), (page) => page);
        for (const { name } of rows) assert.ok(name === undefined || typeof name === 'string');
      },
      'sizes of the subscription': async () => {
        const rows = await gather(k.clusters.listSkus().byPage(), (page) => page);
        for (const { name } of rows) assert.ok(name === undefined || typeof name === 'string');
      },
      'a cluster': () => cluster(k, s, 'sizes1'),
      'sizes for it': async () => {
        const rows = await gather(k.clusters.listSkusByResource(group, 'sizes1').byPage(), (page) => page);
        for (const { sku, capacity } of rows) {
          assert.ok(sku === undefined || typeof sku.name === 'string');
          assert.ok(capacity === undefined || typeof capacity.maximum === 'number');
        }
      },
      'sizes for one that is not there': () =>
        refused(
          gather(k.clusters.listSkusByResource(group, 'nowhere1').byPage(), (page) => page),
          404,
        ),
    }),

    'a credential that is refused': (k, s, another) => ({
      'a cluster': () => cluster(k, s, 'guarded1'),
      'not read by another': () => refused(another('eyJ.of.no-one').clusters.get(group, 'guarded1'), 401),
      'not listed by another': () =>
        refused(
          gather(another('eyJ.of.no-one').clusters.list().byPage(), (page) => page),
          401,
        ),
      'not deleted by another': () => refused(another('eyJ.of.no-one').clusters.beginDeleteAndWait(group, 'guarded1', soon), 401),
      'it is still there': async () => assert.equal(last((await k.clusters.get(group, 'guarded1')).name), 'guarded1'),
    }),

    'wrong requests': (k, s) => ({
      'a cluster of no known size': () => {
        const wrong = { location, sku: { name: 'Standard_Enormous', tier: 'Standard' } };
        return refused(k.clusters.beginCreateOrUpdateAndWait(group, 'wrong1', wrong, soon), 400);
      },
      'it was not made': () => refused(k.clusters.get(group, 'wrong1'), 404),
      'a database to try with': async () => {
        await cluster(k, s, 'wrong2');
        await database(k, 'wrong2', 'crm');
      },
      'a principal of no known role': () =>
        refused(k.databases.addPrincipals(group, 'wrong2', 'crm', { value: [{ ...viewer, role: 'Emperor' }] }), 400),
      'a connection of no known format': () => {
        const wrong = { ...connection(), dataFormat: 'PUNCHCARD' };
        return refused(k.dataConnections.beginCreateOrUpdateAndWait(group, 'wrong2', 'crm', 'hub1', wrong, soon), 400);
      },
      'it was not made either': async () => assert.deepEqual(await connections(k, 'wrong2', 'crm'), []),
    }),

    'what is not there': (k, s) => ({
      'a cluster': () => refused(k.clusters.get(group, 'nowhere1'), 404),
      'changing it': () => refused(k.clusters.beginUpdateAndWait(group, 'nowhere1', { tags: { a: 'b' } }, soon), 404),
      'making a database in it': () => refused(database(k, 'nowhere1', 'late'), 404),
      'deleting it is no error': async () => {
        const { seen, options } = watched();
        await k.clusters.beginDeleteAndWait(group, 'nowhere1', options);
        assert.equal(seen[0], 204);
      },
      'a cluster that is there': () => cluster(k, s, 'empty1'),
      'a database in it': () => refused(k.databases.get(group, 'empty1', 'none'), 404),
      'deleting that is no error either': async () => {
        const { seen, options } = watched();
        await k.databases.beginDeleteAndWait(group, 'empty1', 'none', options);
        assert.equal(seen[0], 204);
      },
    }),
  },
};
