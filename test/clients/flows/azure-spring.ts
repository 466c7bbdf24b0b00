import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import type { AppPlatformManagementClient } from '@azure/arm-appplatform';
import { TokenCredentials } from '@azure/ms-rest-js';
import { given, once, type Place, pages, refused, type Vendor } from '../kit.ts';

type Options = { readonly baseUri: string; readonly longRunningOperationRetryTimeout: number };
type Made = new (credentials: TokenCredentials, subscription: string, options: Options) => AppPlatformManagementClient;
const { AppPlatformManagementClient: Platform } = createRequire(import.meta.url)('@azure/arm-appplatform') as {
  AppPlatformManagementClient: Made;
};

/** What takes its time is asked for each second, not each half minute. */
const connect = (place: Place, token: string): AppPlatformManagementClient =>
  new Platform(new TokenCredentials(token), '00000000-1111-4222-8333-444444444444', {
    baseUri: place.base,
    longRunningOperationRetryTimeout: 1,
  });

type Row = { readonly name?: string };
type Page = readonly Row[] & { readonly nextLink?: string };
const group = 'harbour-group';
const names = (rows: readonly Row[]): string[] => rows.map(({ name }) => given(name, 'name'));
const all = (list: () => Promise<Page>, listNext: (link: string) => Promise<Page>): Promise<string[]> =>
  pages<Page, string>(
    (next) => (next === undefined ? list() : listNext(next)),
    names,
    ({ nextLink }) => nextLink,
  );
const services = (client: AppPlatformManagementClient, of = group): Promise<string[]> =>
  all(
    () => client.services.list(of),
    (next) => client.services.listNext(next),
  );
const apps = (client: AppPlatformManagementClient, service: string): Promise<string[]> =>
  all(
    () => client.apps.list(group, service),
    (next) => client.apps.listNext(next),
  );
const deployments = (client: AppPlatformManagementClient, service: string, app: string): Promise<string[]> =>
  all(
    () => client.deployments.list(group, service, app),
    (next) => client.deployments.listNext(next),
  );
const bindings = (client: AppPlatformManagementClient, service: string, app: string): Promise<string[]> =>
  all(
    () => client.bindings.list(group, service, app),
    (next) => client.bindings.listNext(next),
  );
const service = (client: AppPlatformManagementClient, name: string, of = group) =>
  client.services.createOrUpdate(of, name, { location: 'westeurope', tags: { team: 'cranes' } });
const app = (client: AppPlatformManagementClient, of: string, name: string) =>
  client.apps.createOrUpdate(group, of, name, { properties: { publicProperty: true } });
const deployment = (client: AppPlatformManagementClient, of: string, inApp: string, name: string) =>
  client.deployments.createOrUpdate(group, of, inApp, name, {
    properties: {
      source: { type: 'Jar', relativePath: 'resources/app.jar', version: '1.0' },
      deploymentSettings: { cpu: 2, memoryInGB: 3, jvmOptions: '-Xmx2g', environmentVariables: { COLOUR: 'red' } },
    },
  });
const binding = (client: AppPlatformManagementClient, of: string, inApp: string, name: string) =>
  client.bindings.createOrUpdate(group, of, inApp, name, {
    properties: {
      resourceName: 'harbour-redis',
      resourceType: 'Microsoft.Cache',
      resourceId: `/subscriptions/0/resourceGroups/${group}/providers/Microsoft.Cache/Redis/harbour-redis`,
      key: 'made-up-key',
      bindingParameters: { useSsl: 'true' },
    },
  });

/** Guide: learn.microsoft.com/azure/spring-apps, "Quickstart", "Set up a staging environment", "Bind an Azure Cache for Redis", and the REST reference; the client's README. */
export const vendor: Vendor<AppPlatformManagementClient> = {
  document: 'azure-spring/appplatform.json',
  header: 'Authorization',
  word: 'Bearer',
  made: 'eyJhbGciOiJub25lIn0.bWFkZS11cC1hcm0.bm9ib2R5',
  client: connect,
  strict: ['a token that is refused'],
  flows: {
    'a service from its making to its end': (client) => ({
      create: async () => {
        const { name, location, tags } = await service(client, 'harbour-one');
        assert.deepEqual([name, location, tags], ['harbour-one', 'westeurope', { team: 'cranes' }]);
      },
      read: async () => {
        const { name, location, tags } = await client.services.get(group, 'harbour-one');
        assert.deepEqual([name, location, tags], ['harbour-one', 'westeurope', { team: 'cranes' }]);
      },
      'it is listed': async () => once(await services(client), ['harbour-one'], 'services'),
      change: async () => client.services.update(group, 'harbour-one', { tags: { team: 'pilots' } }),
      'it is changed': async () => {
        const { location, tags } = await client.services.get(group, 'harbour-one');
        assert.deepEqual([location, tags], ['westeurope', { team: 'pilots' }]);
      },
      delete: async () => client.services.deleteMethod(group, 'harbour-one'),
      'it is gone': async () => refused(client.services.get(group, 'harbour-one'), 404),
      'it is not listed': async () => assert.ok(!(await services(client)).includes('harbour-one')),
    }),
    'a service that comes about': (client) => ({
      create: async () => {
        const { properties } = await service(client, 'harbour-slow');
        assert.equal(properties?.provisioningState, 'Succeeded');
      },
      'it has': async () =>
        assert.equal((await client.services.get(group, 'harbour-slow')).properties?.provisioningState, 'Succeeded'),
      'it has an id of its own': async () => {
        const { id, properties } = await client.services.get(group, 'harbour-slow');
        assert.deepEqual([typeof id, typeof properties?.serviceId], ['string', 'string']);
      },
      'put again, it is the same': async () => {
        await service(client, 'harbour-slow');
        once(await services(client), ['harbour-slow'], 'services');
      },
    }),
    'services of two groups': (client) => ({
      'two here, one there': async () => {
        for (const name of ['north-one', 'north-two']) await service(client, name);
        await service(client, 'south-one', 'other-group');
      },
      'each is in its own': async () => {
        const here = await services(client);
        once(here, ['north-one', 'north-two'], 'services');
        assert.ok(!here.includes('south-one'));
        once(await services(client, 'other-group'), ['south-one'], 'services');
      },
      'not by way of the other': async () => refused(client.services.get('other-group', 'north-one'), 404),
      'all are in the subscription': async () => {
        const found = await all(
          () => client.services.listBySubscription(),
          (next) => client.services.listBySubscriptionNext(next),
        );
        once(found, ['north-one', 'north-two', 'south-one'], 'services');
      },
      'delete one': async () => client.services.deleteMethod(group, 'north-one'),
      'the others stay': async () => {
        assert.ok(!(await services(client)).includes('north-one'));
        once(await services(client), ['north-two'], 'services');
        once(await services(client, 'other-group'), ['south-one'], 'services');
      },
    }),
    'names of services': (client) => ({
      'one is free': async () => {
        const asked = { type: 'Microsoft.AppPlatform/Spring', name: 'harbour-name' };
        assert.equal(typeof (await client.services.checkNameAvailability('westeurope', asked)).nameAvailable, 'boolean');
      },
      'take it': async () => service(client, 'harbour-name'),
      'it is read in the place': async () =>
        assert.equal((await client.services.get(group, 'harbour-name')).location, 'westeurope'),
      'operations there are': async () => {
        for (const { name } of await client.operations.list()) assert.equal(typeof name, 'string');
      },
    }),
    'keys of a service': (client, s) => ({
      'make a service': async () => service(client, 'harbour-keys'),
      enable: async () => {
        const { enabled, primaryKey } = await client.services.enableTestEndpoint(group, 'harbour-keys');
        assert.equal(enabled, true);
        s.key = given(primaryKey, 'primaryKey');
      },
      list: async () => assert.equal((await client.services.listTestKeys(group, 'harbour-keys')).primaryKey, s.key),
      'make one anew': async () => {
        const made = await client.services.regenerateTestKey(group, 'harbour-keys', { keyType: 'Primary' });
        assert.notEqual(given(made.primaryKey, 'primaryKey'), s.key);
        s.other = given(made.primaryKey, 'primaryKey');
      },
      'it is the one': async () => assert.equal((await client.services.listTestKeys(group, 'harbour-keys')).primaryKey, s.other),
      disable: async () => client.services.disableTestEndpoint(group, 'harbour-keys'),
    }),
    'an app from its making to its end': (client) => ({
      'make a service': async () => service(client, 'harbour-apps'),
      create: async () => {
        const { name, properties } = await app(client, 'harbour-apps', 'gate');
        assert.deepEqual([name, properties?.publicProperty], ['gate', true]);
      },
      read: async () => {
        const { name, properties } = await client.apps.get(group, 'harbour-apps', 'gate');
        assert.deepEqual([name, properties?.publicProperty], ['gate', true]);
      },
      'it is listed': async () => once(await apps(client, 'harbour-apps'), ['gate'], 'apps'),
      change: async () =>
        client.apps.update(group, 'harbour-apps', 'gate', {
          properties: { publicProperty: false, temporaryDisk: { sizeInGB: 2, mountPath: '/tmp' } },
        }),
      'it is changed': async () => {
        const { properties } = await client.apps.get(group, 'harbour-apps', 'gate');
        assert.deepEqual([properties?.publicProperty, properties?.temporaryDisk?.sizeInGB], [false, 2]);
      },
      delete: async () => client.apps.deleteMethod(group, 'harbour-apps', 'gate'),
      'it is gone': async () => refused(client.apps.get(group, 'harbour-apps', 'gate'), 404),
    }),
    'apps of two services': (client) => ({
      'make two services': async () => {
        await service(client, 'left');
        await service(client, 'right');
      },
      'two here, one there': async () => {
        for (const name of ['one', 'two']) await app(client, 'left', name);
        await app(client, 'right', 'three');
      },
      'each is in its own': async () => {
        assert.deepEqual((await apps(client, 'left')).sort(), ['one', 'two']);
        assert.deepEqual(await apps(client, 'right'), ['three']);
      },
      'not by way of the other': async () => refused(client.apps.get(group, 'right', 'one'), 404),
      'one service goes': async () => client.services.deleteMethod(group, 'left'),
      'and its apps with it': async () => refused(client.apps.get(group, 'left', 'one'), 404),
      'the other stays': async () => assert.deepEqual(await apps(client, 'right'), ['three']),
    }),
    'where an app is brought': (client) => ({
      'make a service and an app': async () => {
        await service(client, 'harbour-upload');
        await app(client, 'harbour-upload', 'gate');
      },
      'an address to bring it': async () => {
        const { relativePath, uploadUrl } = await client.apps.getResourceUploadUrl(group, 'harbour-upload', 'gate');
        assert.deepEqual([typeof relativePath, typeof uploadUrl], ['string', 'string']);
      },
      'none for an app that is not there': async () =>
        refused(client.apps.getResourceUploadUrl(group, 'harbour-upload', 'no-such-app'), 404),
      'the app is as it was': async () => once(await apps(client, 'harbour-upload'), ['gate'], 'apps'),
    }),
    'a deployment from its making to its end': (client) => ({
      'make a service and an app': async () => {
        await service(client, 'harbour-deploys');
        await app(client, 'harbour-deploys', 'gate');
      },
      create: async () => {
        const { name, properties } = await deployment(client, 'harbour-deploys', 'gate', 'blue');
        assert.deepEqual([name, properties?.deploymentSettings?.cpu, properties?.source?.type], ['blue', 2, 'Jar']);
      },
      read: async () => {
        const { properties } = await client.deployments.get(group, 'harbour-deploys', 'gate', 'blue');
        const { cpu, memoryInGB, jvmOptions, environmentVariables } = given(properties?.deploymentSettings, 'settings');
        assert.deepEqual([cpu, memoryInGB, jvmOptions, environmentVariables], [2, 3, '-Xmx2g', { COLOUR: 'red' }]);
      },
      'it is listed': async () => once(await deployments(client, 'harbour-deploys', 'gate'), ['blue'], 'deployments'),
      change: async () =>
        client.deployments.update(group, 'harbour-deploys', 'gate', 'blue', {
          properties: { deploymentSettings: { cpu: 4, memoryInGB: 8 } },
        }),
      'it is changed': async () => {
        const { properties } = await client.deployments.get(group, 'harbour-deploys', 'gate', 'blue');
        const { cpu, memoryInGB } = given(properties?.deploymentSettings, 'settings');
        assert.deepEqual([cpu, memoryInGB, properties?.source?.version], [4, 8, '1.0']);
      },
      delete: async () => client.deployments.deleteMethod(group, 'harbour-deploys', 'gate', 'blue'),
      'it is gone': async () => refused(client.deployments.get(group, 'harbour-deploys', 'gate', 'blue'), 404),
    }),
    'a deployment that is started and stopped': (client) => ({
      'make what it needs': async () => {
        await service(client, 'harbour-runs');
        await app(client, 'harbour-runs', 'gate');
        await deployment(client, 'harbour-runs', 'gate', 'blue');
      },
      stop: async () => client.deployments.stop(group, 'harbour-runs', 'gate', 'blue'),
      start: async () => client.deployments.start(group, 'harbour-runs', 'gate', 'blue'),
      restart: async () => client.deployments.restart(group, 'harbour-runs', 'gate', 'blue'),
      'its logs': async () => {
        const found = await client.deployments.getLogFileUrl(group, 'harbour-runs', 'gate', 'blue');
        assert.equal(typeof found.url, 'string');
      },
      'not one that is not there': async () => refused(client.deployments.start(group, 'harbour-runs', 'gate', 'green'), 404),
    }),
    'blue and green': (client) => ({
      'make what they need': async () => {
        await service(client, 'harbour-stages');
        for (const name of ['gate', 'yard']) await app(client, 'harbour-stages', name);
      },
      'two deployments of one app, one of another': async () => {
        for (const name of ['blue', 'green']) await deployment(client, 'harbour-stages', 'gate', name);
        await deployment(client, 'harbour-stages', 'yard', 'red');
      },
      'each is in its own': async () => {
        assert.deepEqual((await deployments(client, 'harbour-stages', 'gate')).sort(), ['blue', 'green']);
        assert.deepEqual(await deployments(client, 'harbour-stages', 'yard'), ['red']);
      },
      'all are in the service': async () => {
        const found = await all(
          () => client.deployments.listForCluster(group, 'harbour-stages'),
          (next) => client.deployments.listForClusterNext(next),
        );
        once(found, ['blue', 'green', 'red'], 'deployments');
      },
      'make green the active one': async () =>
        client.apps.update(group, 'harbour-stages', 'gate', { properties: { activeDeploymentName: 'green' } }),
      'it is': async () => {
        const { properties } = await client.apps.get(group, 'harbour-stages', 'gate');
        assert.equal(properties?.activeDeploymentName, 'green');
      },
    }),
    'a binding from its making to its end': (client) => ({
      'make a service and an app': async () => {
        await service(client, 'harbour-binds');
        await app(client, 'harbour-binds', 'gate');
      },
      create: async () => {
        const { name, properties } = await binding(client, 'harbour-binds', 'gate', 'cache');
        assert.deepEqual([name, properties?.resourceName], ['cache', 'harbour-redis']);
      },
      read: async () => {
        const { properties } = await client.bindings.get(group, 'harbour-binds', 'gate', 'cache');
        assert.deepEqual(
          [properties?.resourceName, properties?.resourceType, properties?.bindingParameters],
          ['harbour-redis', 'Microsoft.Cache', { useSsl: 'true' }],
        );
      },
      'it is listed': async () => once(await bindings(client, 'harbour-binds', 'gate'), ['cache'], 'bindings'),
      change: async () =>
        client.bindings.update(group, 'harbour-binds', 'gate', 'cache', { properties: { key: 'other-made-up-key' } }),
      'the rest is as it was': async () => {
        const { properties } = await client.bindings.get(group, 'harbour-binds', 'gate', 'cache');
        assert.equal(properties?.resourceName, 'harbour-redis');
      },
      delete: async () => client.bindings.deleteMethod(group, 'harbour-binds', 'gate', 'cache'),
      'it is gone': async () => refused(client.bindings.get(group, 'harbour-binds', 'gate', 'cache'), 404),
    }),
    'what cannot be': (client) => ({
      'make what it needs': async () => {
        await service(client, 'harbour-odd');
        await app(client, 'harbour-odd', 'gate');
      },
      'a key that is none': async () =>
        refused(client.services.regenerateTestKey(group, 'harbour-odd', { keyType: 'Third' as never }), 400),
      'an app of no service': async () => refused(app(client, 'no-such-service', 'gate'), 404),
      'a deployment of no app': async () => refused(deployment(client, 'harbour-odd', 'no-such-app', 'blue'), 404),
      'a source that is none': async () =>
        refused(
          client.deployments.createOrUpdate(group, 'harbour-odd', 'gate', 'odd', {
            properties: { source: { type: 'Tape' as never, relativePath: 'x' } },
          }),
          400,
        ),
      'none of it is listed': async () => assert.deepEqual(await deployments(client, 'harbour-odd', 'gate'), []),
    }),
    'what is not there': (client) => ({
      'a service': async () => refused(client.services.get(group, 'no-such-service'), 404),
      'it has no keys': async () => refused(client.services.listTestKeys(group, 'no-such-service'), 404),
      'an app': async () => refused(client.apps.get(group, 'no-such-service', 'gate'), 404),
      'a deployment': async () => refused(client.deployments.get(group, 'no-such-service', 'gate', 'blue'), 404),
      'a binding': async () => refused(client.bindings.get(group, 'no-such-service', 'gate', 'cache'), 404),
    }),
    'a token that is refused': (client, _s, another) => ({
      'the right one': async () => service(client, 'harbour-guarded'),
      'a wrong one lists nothing': async () => refused(another('wrong').services.list(group), 401, 403),
      'nor reads anything': async () => refused(another('wrong').services.get(group, 'harbour-guarded'), 401, 403),
      'nor deletes anything': async () => refused(another('wrong').services.deleteMethod(group, 'harbour-guarded'), 401, 403),
      'all is as it was': async () => assert.equal((await client.services.get(group, 'harbour-guarded')).location, 'westeurope'),
    }),
  },
};
