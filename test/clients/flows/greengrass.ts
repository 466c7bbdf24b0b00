import assert from 'node:assert/strict';
import { type Core, type Device, Greengrass, type Logger, type Subscription } from '@aws-sdk/client-greengrass';
import { given, once, type Place, pages, refused, type Vendor } from '../kit.ts';

/**
 * The token is an access key's id; the client signs with it (version 4). What the client throws keeps its status below
 * `$metadata`: it is put beside the message too.
 */
const connect = (place: Place, token: string): Greengrass => {
  const accessKeyId = /Credential=([^/,\s]+)/.exec(token)?.[1] ?? token;
  const client = new Greengrass({
    endpoint: place.base,
    region: 'us-east-1',
    credentials: { accessKeyId, secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' },
    maxAttempts: 1,
  });
  client.middlewareStack.add(
    (next) => async (sent) => {
      try {
        return await next(sent);
      } catch (thrown) {
        const status = (thrown as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
        if (status !== undefined) Object.defineProperty(thrown as object, 'status', { value: status, enumerable: true });
        throw thrown;
      }
    },
    { step: 'initialize', name: 'status beside the message' },
  );
  return client;
};

/** The service answers 404 (IdNotFoundException) for what is not there; its reference has nothing but BadRequestException. */
const missing = (call: Promise<unknown>): Promise<unknown> => refused(call, 404, 400, 480);
/** BadRequestException is 400 in the reference, and 480 in the description. */
const wrong = (call: Promise<unknown>): Promise<unknown> => refused(call, 400, 480);
/** The guide's common errors have 403 for a key that is not known; the description has nothing about it. */
const stranger = (call: Promise<unknown>): Promise<unknown> => refused(call, 401, 403);

const without = (rows: readonly string[], one: string): void => assert.ok(!rows.includes(one), `the list still has ${one}`);
const oneOf = (value: string | undefined, ...all: readonly string[]): void =>
  assert.ok(all.includes(value ?? ''), `${value} is none of ${all.join(', ')}`);

const nowhere = '00000000-dead-4000-8000-00000000beef';
/** Things, certificates, functions, roles, secrets and buckets belong to other services: these are there before. */
const thing = (name: string): string => `arn:aws:iot:us-east-1:123456789012:thing/${name}`;
const certificate = (letter: string): string => `arn:aws:iot:us-east-1:123456789012:cert/${letter.repeat(64)}`;
const lambda = (name: string): string => `arn:aws:lambda:us-east-1:123456789012:function:${name}:1`;
const role = (name: string): string => `arn:aws:iam::123456789012:role/service-role/${name}`;
const connector = 'arn:aws:greengrass:us-east-1::/connectors/SNS/versions/4';

const core = (Id: string, SyncShadow = true): Core => ({
  Id,
  ThingArn: thing(`${Id}_Core`),
  CertificateArn: certificate('a'),
  SyncShadow,
});
const device = (Id: string, SyncShadow = false): Device => ({
  Id,
  ThingArn: thing(Id),
  CertificateArn: certificate('b'),
  SyncShadow,
});
const telling = (Id: string, Subject: string): Subscription => ({ Id, Source: thing('sensor'), Subject, Target: 'cloud' });
const logger = (Id: string, Level: 'INFO' | 'DEBUG'): Logger => ({
  Id,
  Component: 'GreengrassSystem',
  Level,
  Space: 25_600,
  Type: 'FileSystem',
});

type From = { MaxResults: string; NextToken?: string };
type Row = { Id?: string | undefined; Version?: string | undefined };
/** The client has no walks of its own: pages are asked for one by one. */
const all = <Page extends { NextToken?: string | undefined }, Of>(
  ask: (from: From) => Promise<Page>,
  rows: (page: Page) => readonly Of[] | undefined,
  most = 50,
): Promise<Of[]> =>
  pages(
    (NextToken) => ask({ MaxResults: `${most}`, ...(NextToken !== undefined && { NextToken }) }),
    (page) => rows(page) ?? [],
    (page) => page.NextToken,
  );
const ids = (rows: readonly Row[]): string[] => rows.map(({ Id }) => given(Id, 'Id'));
const versions = (rows: readonly Row[]): string[] => rows.map(({ Version }) => given(Version, 'Version'));

const group = async (g: Greengrass, Name: string): Promise<string> => given((await g.createGroup({ Name })).Id, 'Id');
const groups = async (g: Greengrass, most?: number): Promise<string[]> =>
  ids(
    await all(
      (from) => g.listGroups(from),
      (page) => page.Groups,
      most,
    ),
  );
/** A definition of one core: the ARN of its first version. */
const coreVersion = async (g: Greengrass, Name: string): Promise<string> =>
  given((await g.createCoreDefinition({ Name, InitialVersion: { Cores: [core('main')] } })).LatestVersionArn, 'LatestVersionArn');
/** A group that could be deployed: its id, and that of its version. */
const deployable = async (g: Greengrass, Name: string): Promise<[string, string]> => {
  const CoreDefinitionVersionArn = await coreVersion(g, `${Name}-cores`);
  const made = await g.createGroup({ Name, InitialVersion: { CoreDefinitionVersionArn } });
  return [given(made.Id, 'Id'), given(made.LatestVersion, 'LatestVersion')];
};

/** Guide: docs.aws.amazon.com/greengrass/v1/developerguide (groups, definitions, deployments, connectors, tags) and its API reference. */
export const vendor: Vendor<Greengrass> = {
  document: 'greengrass/greengrass.json',
  header: 'Authorization',
  word: 'AWS4-HMAC-SHA256',
  made: 'AKIAIOSFODNN7EXAMPLE',
  client: connect,
  strict: ['a credential that is refused'],
  flows: {
    'a group, from the first to the last day': (g, s) => ({
      made: async () => {
        const made = await g.createGroup({ Name: 'FirstGroup' });
        assert.equal(made.Name, 'FirstGroup');
        s.id = given(made.Id, 'Id');
        s.arn = given(made.Arn, 'Arn');
        given(made.CreationTimestamp, 'CreationTimestamp');
      },
      read: async () => {
        const read = await g.getGroup({ GroupId: s.id });
        assert.deepEqual([read.Id, read.Arn, read.Name], [s.id, s.arn, 'FirstGroup']);
      },
      'is in the list': async () => once(await groups(g), [s.id], 'groups'),
      'has another name': async () => {
        await g.updateGroup({ GroupId: s.id, Name: 'RenamedGroup' });
        const read = await g.getGroup({ GroupId: s.id });
        assert.deepEqual([read.Id, read.Arn, read.Name], [s.id, s.arn, 'RenamedGroup']);
      },
      'so it is in the list': async () => {
        const rows = await all(
          (from) => g.listGroups(from),
          (page) => page.Groups,
        );
        assert.equal(rows.find(({ Id }) => Id === s.id)?.Name, 'RenamedGroup');
      },
      deleted: () => g.deleteGroup({ GroupId: s.id }),
      gone: () => missing(g.getGroup({ GroupId: s.id })),
      'no longer in the list': async () => without(await groups(g), s.id),
    }),

    'groups, page by page': (g, s) => ({
      'three groups, one name twice': async () => {
        s.one = await group(g, 'PagedGroup');
        s.two = await group(g, 'PagedGroup');
        s.three = await group(g, 'OtherGroup');
        assert.notEqual(s.one, s.two);
      },
      'one to a page': async () => once(await groups(g, 1), [s.one, s.two, s.three], 'groups'),
      'two to a page': async () => once(await groups(g, 2), [s.one, s.two, s.three], 'groups'),
      'no page is longer, and there is a next': async () => {
        const page = await g.listGroups({ MaxResults: '2' });
        assert.equal(page.Groups?.length, 2);
        const next = await g.listGroups({ MaxResults: '2', NextToken: given(page.NextToken, 'NextToken') });
        for (const { Id } of next.Groups ?? []) without(ids(page.Groups ?? []), given(Id, 'Id'));
      },
      'one less': async () => {
        await g.deleteGroup({ GroupId: s.two });
        const rows = await groups(g, 1);
        once(rows, [s.one, s.three], 'groups');
        without(rows, s.two);
      },
    }),

    'versions of a group': (g, s) => ({
      'a group with its first version': async () => {
        s.cores = await coreVersion(g, 'versioned-cores');
        const made = await g.createGroup({ Name: 'VersionedGroup', InitialVersion: { CoreDefinitionVersionArn: s.cores } });
        s.id = given(made.Id, 'Id');
        s.first = given(made.LatestVersion, 'LatestVersion');
        s.firstArn = given(made.LatestVersionArn, 'LatestVersionArn');
      },
      'the first is read': async () => {
        const read = await g.getGroupVersion({ GroupId: s.id, GroupVersionId: s.first });
        assert.deepEqual([read.Id, read.Version, read.Arn], [s.id, s.first, s.firstArn]);
        assert.equal(read.Definition?.CoreDefinitionVersionArn, s.cores);
      },
      'a second, with devices': async () => {
        const devices = await g.createDeviceDefinition({ Name: 'some', InitialVersion: { Devices: [device('lamp')] } });
        s.devices = given(devices.LatestVersionArn, 'LatestVersionArn');
        const made = await g.createGroupVersion({
          GroupId: s.id,
          CoreDefinitionVersionArn: s.cores,
          DeviceDefinitionVersionArn: s.devices,
        });
        assert.equal(made.Id, s.id);
        s.second = given(made.Version, 'Version');
        s.secondArn = given(made.Arn, 'Arn');
        assert.notEqual(s.second, s.first);
      },
      'it is the latest': async () => {
        const read = await g.getGroup({ GroupId: s.id });
        assert.deepEqual([read.LatestVersion, read.LatestVersionArn], [s.second, s.secondArn]);
      },
      'each is what it was': async () => {
        const first = await g.getGroupVersion({ GroupId: s.id, GroupVersionId: s.first });
        assert.equal(first.Definition?.DeviceDefinitionVersionArn, undefined);
        const second = await g.getGroupVersion({ GroupId: s.id, GroupVersionId: s.second });
        assert.deepEqual(
          [second.Definition?.CoreDefinitionVersionArn, second.Definition?.DeviceDefinitionVersionArn],
          [s.cores, s.devices],
        );
      },
      'both are in the list, page by page': async () => {
        const rows = await all(
          (from) => g.listGroupVersions({ GroupId: s.id, ...from }),
          (page) => page.Versions,
          1,
        );
        once(versions(rows), [s.first, s.second], 'versions');
        for (const { Id } of rows) assert.equal(Id, s.id);
      },
      'one that is not there': () => missing(g.getGroupVersion({ GroupId: s.id, GroupVersionId: nowhere })),
      'none of a group that is not there': () => missing(g.listGroupVersions({ GroupId: nowhere })),
    }),

    'a definition of cores, from the first to the last day': (g, s) => ({
      made: async () => {
        const made = await g.createCoreDefinition({ Name: 'MyCores', InitialVersion: { Cores: [core('first')] } });
        assert.equal(made.Name, 'MyCores');
        s.id = given(made.Id, 'Id');
        s.arn = given(made.Arn, 'Arn');
        s.version = given(made.LatestVersion, 'LatestVersion');
      },
      read: async () => {
        const read = await g.getCoreDefinition({ CoreDefinitionId: s.id });
        assert.deepEqual([read.Id, read.Arn, read.Name, read.LatestVersion], [s.id, s.arn, 'MyCores', s.version]);
      },
      'its core is in the version': async () => {
        const read = await g.getCoreDefinitionVersion({ CoreDefinitionId: s.id, CoreDefinitionVersionId: s.version });
        assert.deepEqual([read.Id, read.Version], [s.id, s.version]);
        assert.deepEqual(read.Definition?.Cores, [core('first')]);
      },
      'has another name': async () => {
        await g.updateCoreDefinition({ CoreDefinitionId: s.id, Name: 'OurCores' });
        const read = await g.getCoreDefinition({ CoreDefinitionId: s.id });
        assert.deepEqual([read.Name, read.LatestVersion], ['OurCores', s.version]);
      },
      'is in the list': async () => {
        const rows = await all(
          (from) => g.listCoreDefinitions(from),
          (page) => page.Definitions,
          1,
        );
        once(ids(rows), [s.id], 'definitions');
        assert.equal(rows.find(({ Id }) => Id === s.id)?.Name, 'OurCores');
      },
      deleted: () => g.deleteCoreDefinition({ CoreDefinitionId: s.id }),
      'gone, and not in the list': async () => {
        await missing(g.getCoreDefinition({ CoreDefinitionId: s.id }));
        const rows = await all(
          (from) => g.listCoreDefinitions(from),
          (page) => page.Definitions,
        );
        without(ids(rows), s.id);
      },
    }),

    'devices: versions that do not change': (g, s) => ({
      'without a version first': async () => {
        const made = await g.createDeviceDefinition({ Name: 'MyDevices' });
        s.id = given(made.Id, 'Id');
        assert.equal((await g.getDeviceDefinition({ DeviceDefinitionId: s.id })).LatestVersion, undefined);
      },
      'one device, then two': async () => {
        const one = await g.createDeviceDefinitionVersion({ DeviceDefinitionId: s.id, Devices: [device('lamp')] });
        const two = await g.createDeviceDefinitionVersion({
          DeviceDefinitionId: s.id,
          Devices: [device('lamp', true), device('switch')],
        });
        assert.deepEqual([one.Id, two.Id], [s.id, s.id]);
        s.one = given(one.Version, 'Version');
        s.two = given(two.Version, 'Version');
        s.twoArn = given(two.Arn, 'Arn');
      },
      'the second is the latest': async () => {
        const read = await g.getDeviceDefinition({ DeviceDefinitionId: s.id });
        assert.deepEqual([read.LatestVersion, read.LatestVersionArn], [s.two, s.twoArn]);
      },
      'each holds its own': async () => {
        const of = async (DeviceDefinitionVersionId: string) =>
          (await g.getDeviceDefinitionVersion({ DeviceDefinitionId: s.id, DeviceDefinitionVersionId })).Definition?.Devices;
        assert.deepEqual(await of(s.one), [device('lamp')]);
        assert.deepEqual(await of(s.two), [device('lamp', true), device('switch')]);
      },
      'both are in the list, page by page': async () => {
        const rows = await all(
          (from) => g.listDeviceDefinitionVersions({ DeviceDefinitionId: s.id, ...from }),
          (page) => page.Versions,
          1,
        );
        once(versions(rows), [s.one, s.two], 'versions');
      },
      'no version of what is not there': () =>
        missing(g.createDeviceDefinitionVersion({ DeviceDefinitionId: nowhere, Devices: [device('lamp')] })),
      'deleted with its versions': async () => {
        await g.deleteDeviceDefinition({ DeviceDefinitionId: s.id });
        await missing(g.getDeviceDefinition({ DeviceDefinitionId: s.id }));
        await missing(g.getDeviceDefinitionVersion({ DeviceDefinitionId: s.id, DeviceDefinitionVersionId: s.one }));
      },
    }),

    'functions: how they run': (g, s) => ({
      'a function with all of it': async () => {
        const made = await g.createFunctionDefinition({
          Name: 'MyFunctions',
          InitialVersion: {
            DefaultConfig: { Execution: { IsolationMode: 'GreengrassContainer', RunAs: { Uid: 1001, Gid: 1002 } } },
            Functions: [
              {
                Id: 'hello',
                FunctionArn: lambda('Greengrass_HelloWorld'),
                FunctionConfiguration: {
                  EncodingType: 'json',
                  Executable: 'hello.handler',
                  MemorySize: 16_384,
                  Pinned: true,
                  Timeout: 5,
                  Environment: {
                    AccessSysfs: false,
                    Variables: { STAGE: 'test', LEVEL: '3' },
                    ResourceAccessPolicies: [{ ResourceId: 'data-volume', Permission: 'rw' }],
                  },
                },
              },
            ],
          },
        });
        s.id = given(made.Id, 'Id');
        s.version = given(made.LatestVersion, 'LatestVersion');
      },
      'it runs so': async () => {
        const read = await g.getFunctionDefinitionVersion({
          FunctionDefinitionId: s.id,
          FunctionDefinitionVersionId: s.version,
        });
        const [found, ...more] = read.Definition?.Functions ?? [];
        assert.deepEqual([found?.Id, found?.FunctionArn, more], ['hello', lambda('Greengrass_HelloWorld'), []]);
        assert.partialDeepStrictEqual(found?.FunctionConfiguration, {
          EncodingType: 'json',
          Executable: 'hello.handler',
          MemorySize: 16_384,
          Pinned: true,
          Timeout: 5,
        });
      },
      'with these variables, and that volume': async () => {
        const asked = { FunctionDefinitionId: s.id, FunctionDefinitionVersionId: s.version };
        const [found] = (await g.getFunctionDefinitionVersion(asked)).Definition?.Functions ?? [];
        const environment = found?.FunctionConfiguration?.Environment;
        assert.deepEqual(environment?.Variables, { STAGE: 'test', LEVEL: '3' });
        assert.deepEqual(environment?.ResourceAccessPolicies, [{ ResourceId: 'data-volume', Permission: 'rw' }]);
      },
      'as whom, unless it says': async () => {
        const asked = { FunctionDefinitionId: s.id, FunctionDefinitionVersionId: s.version };
        const { Definition } = await g.getFunctionDefinitionVersion(asked);
        assert.deepEqual(Definition?.DefaultConfig?.Execution, {
          IsolationMode: 'GreengrassContainer',
          RunAs: { Uid: 1001, Gid: 1002 },
        });
      },
      'a version without a container': async () => {
        const made = await g.createFunctionDefinitionVersion({
          FunctionDefinitionId: s.id,
          Functions: [
            {
              Id: 'hello',
              FunctionArn: lambda('Greengrass_HelloWorld'),
              FunctionConfiguration: { Pinned: false, Timeout: 3, Environment: { Execution: { IsolationMode: 'NoContainer' } } },
            },
          ],
        });
        const asked = { FunctionDefinitionId: s.id, FunctionDefinitionVersionId: given(made.Version, 'Version') };
        const [found] = (await g.getFunctionDefinitionVersion(asked)).Definition?.Functions ?? [];
        assert.equal(found?.FunctionConfiguration?.Environment?.Execution?.IsolationMode, 'NoContainer');
        assert.equal((await g.getFunctionDefinition({ FunctionDefinitionId: s.id })).LatestVersion, made.Version);
      },
      'no other way of isolation': () =>
        wrong(
          g.createFunctionDefinitionVersion({
            FunctionDefinitionId: s.id,
            DefaultConfig: { Execution: { IsolationMode: 'Jail' as 'NoContainer' } },
          }),
        ),
      'deleted, and gone': async () => {
        await g.deleteFunctionDefinition({ FunctionDefinitionId: s.id });
        await missing(g.getFunctionDefinition({ FunctionDefinitionId: s.id }));
      },
    }),

    'subscriptions and loggers': (g, s) => ({
      'who tells what to whom': async () => {
        const Subscriptions = [telling('heat', 'room/heat'), telling('light', 'room/light')];
        const made = await g.createSubscriptionDefinition({ Name: 'MySubscriptions', InitialVersion: { Subscriptions } });
        s.id = given(made.Id, 'Id');
        s.version = given(made.LatestVersion, 'LatestVersion');
        const asked = { SubscriptionDefinitionId: s.id, SubscriptionDefinitionVersionId: s.version };
        assert.deepEqual((await g.getSubscriptionDefinitionVersion(asked)).Definition?.Subscriptions, Subscriptions);
      },
      'is renamed, and in the list': async () => {
        await g.updateSubscriptionDefinition({ SubscriptionDefinitionId: s.id, Name: 'OurSubscriptions' });
        const rows = await all(
          (from) => g.listSubscriptionDefinitions(from),
          (page) => page.Definitions,
          1,
        );
        once(
          rows.map(({ Id, Name }) => `${Id} ${Name}`),
          [`${s.id} OurSubscriptions`],
          'definitions',
        );
      },
      'deleted, and gone': async () => {
        await g.deleteSubscriptionDefinition({ SubscriptionDefinitionId: s.id });
        await missing(g.getSubscriptionDefinition({ SubscriptionDefinitionId: s.id }));
      },
      'what is logged': async () => {
        const made = await g.createLoggerDefinition({
          Name: 'MyLoggers',
          InitialVersion: { Loggers: [logger('system', 'INFO')] },
        });
        s.loggers = given(made.Id, 'Id');
        const asked = { LoggerDefinitionId: s.loggers, LoggerDefinitionVersionId: given(made.LatestVersion, 'LatestVersion') };
        assert.deepEqual((await g.getLoggerDefinitionVersion(asked)).Definition?.Loggers, [logger('system', 'INFO')]);
      },
      'and more of it': async () => {
        const Loggers = [logger('system', 'DEBUG')];
        const made = await g.createLoggerDefinitionVersion({ LoggerDefinitionId: s.loggers, Loggers });
        const latest = await g.getLoggerDefinition({ LoggerDefinitionId: s.loggers });
        assert.deepEqual([latest.LatestVersion, latest.LatestVersionArn], [made.Version, made.Arn]);
      },
      'not at a level that is none': () =>
        wrong(
          g.createLoggerDefinitionVersion({
            LoggerDefinitionId: s.loggers,
            Loggers: [{ ...logger('system', 'INFO'), Level: 'LOUD' as 'INFO' }],
          }),
        ),
      'that of loggers is gone too': async () => {
        await g.deleteLoggerDefinition({ LoggerDefinitionId: s.loggers });
        await missing(g.getLoggerDefinition({ LoggerDefinitionId: s.loggers }));
      },
    }),

    'resources and connectors': (g, s) => ({
      'a volume and a secret': async () => {
        const made = await g.createResourceDefinition({
          Name: 'MyResources',
          InitialVersion: {
            Resources: [
              {
                Id: 'data-volume',
                Name: 'data',
                ResourceDataContainer: {
                  LocalVolumeResourceData: {
                    SourcePath: '/srv/data',
                    DestinationPath: '/data',
                    GroupOwnerSetting: { AutoAddGroupOwner: true },
                  },
                },
              },
              {
                Id: 'api-secret',
                Name: 'secret',
                ResourceDataContainer: {
                  SecretsManagerSecretResourceData: {
                    ARN: 'arn:aws:secretsmanager:us-east-1:123456789012:secret:greengrass-Api-a1b2c3',
                    AdditionalStagingLabelsToDownload: ['next'],
                  },
                },
              },
            ],
          },
        });
        s.resources = given(made.Id, 'Id');
        s.version = given(made.LatestVersion, 'LatestVersion');
      },
      'each with its own data': async () => {
        const asked = { ResourceDefinitionId: s.resources, ResourceDefinitionVersionId: s.version };
        const rows = (await g.getResourceDefinitionVersion(asked)).Definition?.Resources ?? [];
        once(ids(rows), ['data-volume', 'api-secret'], 'resources');
        const data = (id: string) => rows.find(({ Id }) => Id === id)?.ResourceDataContainer;
        assert.deepEqual(data('data-volume')?.LocalVolumeResourceData, {
          SourcePath: '/srv/data',
          DestinationPath: '/data',
          GroupOwnerSetting: { AutoAddGroupOwner: true },
        });
        assert.deepEqual(data('api-secret')?.SecretsManagerSecretResourceData?.AdditionalStagingLabelsToDownload, ['next']);
      },
      'that of resources is deleted': async () => {
        await g.deleteResourceDefinition({ ResourceDefinitionId: s.resources });
        await missing(g.getResourceDefinition({ ResourceDefinitionId: s.resources }));
      },
      'a connector and its parameters': async () => {
        const Parameters = { DefaultSNSArn: 'arn:aws:sns:us-east-1:123456789012:alarms', IsolationMode: 'GreengrassContainer' };
        const Connectors = [{ Id: 'MySNSConnector', ConnectorArn: connector, Parameters }];
        const made = await g.createConnectorDefinition({ Name: 'MyConnectors', InitialVersion: { Connectors } });
        s.connectors = given(made.Id, 'Id');
        const asked = {
          ConnectorDefinitionId: s.connectors,
          ConnectorDefinitionVersionId: given(made.LatestVersion, 'LatestVersion'),
        };
        assert.deepEqual((await g.getConnectorDefinitionVersion(asked)).Definition?.Connectors, Connectors);
      },
      'is renamed, and in the list': async () => {
        await g.updateConnectorDefinition({ ConnectorDefinitionId: s.connectors, Name: 'OurConnectors' });
        const rows = await all(
          (from) => g.listConnectorDefinitions(from),
          (page) => page.Definitions,
          1,
        );
        once(
          rows.map(({ Id, Name }) => `${Id} ${Name}`),
          [`${s.connectors} OurConnectors`],
          'definitions',
        );
      },
      'not one without an ARN': () =>
        wrong(
          g.createConnectorDefinitionVersion({
            ConnectorDefinitionId: s.connectors,
            Connectors: [{ Id: 'nameless', ConnectorArn: undefined }],
          }),
        ),
    }),

    'deployments of a group, and its reset': (g, s) => ({
      'a group with a core': async () => {
        [s.id, s.version] = await deployable(g, 'DeployedGroup');
      },
      deployed: async () => {
        const made = await g.createDeployment({ GroupId: s.id, GroupVersionId: s.version, DeploymentType: 'NewDeployment' });
        s.one = given(made.DeploymentId, 'DeploymentId');
        s.oneArn = given(made.DeploymentArn, 'DeploymentArn');
      },
      'how it goes': async () => {
        const read = await g.getDeploymentStatus({ GroupId: s.id, DeploymentId: s.one });
        assert.equal(read.DeploymentType, 'NewDeployment');
        oneOf(read.DeploymentStatus, 'Building', 'InProgress', 'Success', 'Failure');
      },
      'once more': async () => {
        const made = await g.createDeployment({ GroupId: s.id, DeploymentId: s.one, DeploymentType: 'Redeployment' });
        s.two = given(made.DeploymentId, 'DeploymentId');
        assert.notEqual(s.two, s.one);
      },
      'both are in the list, page by page': async () => {
        const rows = await all(
          (from) => g.listDeployments({ GroupId: s.id, ...from }),
          (page) => page.Deployments,
          1,
        );
        once(
          rows.map((row) => `${row.DeploymentId} ${row.DeploymentType}`),
          [`${s.one} NewDeployment`, `${s.two} Redeployment`],
          'deployments',
        );
      },
      'what is deployed is not deleted': async () => {
        await wrong(g.deleteGroup({ GroupId: s.id }));
        assert.equal((await g.getGroup({ GroupId: s.id })).Name, 'DeployedGroup');
      },
      'reset by force': async () => {
        const made = await g.resetDeployments({ GroupId: s.id, Force: true });
        s.reset = given(made.DeploymentId, 'DeploymentId');
        const read = await g.getDeploymentStatus({ GroupId: s.id, DeploymentId: s.reset });
        assert.equal(read.DeploymentType, 'ForceResetDeployment');
      },
      'then it is deleted': async () => {
        await g.deleteGroup({ GroupId: s.id });
        await missing(g.getGroup({ GroupId: s.id }));
      },
    }),

    'roles of a group and of the account': (g, s) => ({
      'a group without one': async () => {
        s.id = await group(g, 'RoleGroup');
        await missing(g.getAssociatedRole({ GroupId: s.id }));
      },
      'gets one': async () => {
        given((await g.associateRoleToGroup({ GroupId: s.id, RoleArn: role('GroupRole') })).AssociatedAt, 'AssociatedAt');
        const read = await g.getAssociatedRole({ GroupId: s.id });
        assert.equal(read.RoleArn, role('GroupRole'));
        given(read.AssociatedAt, 'AssociatedAt');
      },
      'gets another in its place': async () => {
        await g.associateRoleToGroup({ GroupId: s.id, RoleArn: role('OtherRole') });
        assert.equal((await g.getAssociatedRole({ GroupId: s.id })).RoleArn, role('OtherRole'));
      },
      'not one of no name': () => wrong(g.associateRoleToGroup({ GroupId: s.id, RoleArn: undefined })),
      'has none any more': async () => {
        given((await g.disassociateRoleFromGroup({ GroupId: s.id })).DisassociatedAt, 'DisassociatedAt');
        await missing(g.getAssociatedRole({ GroupId: s.id }));
      },
      'the account gets one': async () => {
        const made = await g.associateServiceRoleToAccount({ RoleArn: role('Greengrass_ServiceRole') });
        given(made.AssociatedAt, 'AssociatedAt');
        assert.equal((await g.getServiceRoleForAccount({})).RoleArn, role('Greengrass_ServiceRole'));
      },
      'and has none any more': async () => {
        given((await g.disassociateServiceRoleFromAccount({})).DisassociatedAt, 'DisassociatedAt');
        await missing(g.getServiceRoleForAccount({}));
      },
    }),

    'certificates of a group': (g, s) => ({
      'a group makes an authority': async () => {
        s.id = await group(g, 'CertifiedGroup');
        const made = await g.createGroupCertificateAuthority({ GroupId: s.id });
        s.arn = given(made.GroupCertificateAuthorityArn, 'GroupCertificateAuthorityArn');
      },
      'it is in the list': async () => {
        const { GroupCertificateAuthorities: rows } = await g.listGroupCertificateAuthorities({ GroupId: s.id });
        const found = given(
          rows?.find(({ GroupCertificateAuthorityArn }) => GroupCertificateAuthorityArn === s.arn),
          'authority',
        );
        s.authority = given(found.GroupCertificateAuthorityId, 'GroupCertificateAuthorityId');
      },
      'it is read, with its certificate': async () => {
        const read = await g.getGroupCertificateAuthority({ GroupId: s.id, CertificateAuthorityId: s.authority });
        assert.deepEqual([read.GroupCertificateAuthorityId, read.GroupCertificateAuthorityArn], [s.authority, s.arn]);
        given(read.PemEncodedCertificate, 'PemEncodedCertificate');
      },
      'certificates are good for two weeks': async () => {
        const asked = { GroupId: s.id, CertificateExpiryInMilliseconds: '1209600000' };
        const made = await g.updateGroupCertificateConfiguration(asked);
        assert.deepEqual([made.GroupId, made.CertificateExpiryInMilliseconds], [s.id, '1209600000']);
      },
      'so it stays': async () => {
        const read = await g.getGroupCertificateConfiguration({ GroupId: s.id });
        assert.deepEqual([read.GroupId, read.CertificateExpiryInMilliseconds], [s.id, '1209600000']);
      },
      'an authority that is not there': () =>
        missing(g.getGroupCertificateAuthority({ GroupId: s.id, CertificateAuthorityId: nowhere })),
      'none for a group that is not there': () => missing(g.createGroupCertificateAuthority({ GroupId: nowhere })),
    }),

    'where a core is, what it tells, its software': (g, s) => ({
      'two addresses': async () => {
        const made = await g.updateConnectivityInfo({
          ThingName: 'MyCore',
          ConnectivityInfo: [
            { Id: 'lan', HostAddress: '192.0.2.10', PortNumber: 8883, Metadata: 'cable' },
            { Id: 'wlan', HostAddress: '192.0.2.11', PortNumber: 8883, Metadata: 'air' },
          ],
        });
        s.version = given(made.Version, 'Version');
      },
      'are read': async () => {
        const rows = (await g.getConnectivityInfo({ ThingName: 'MyCore' })).ConnectivityInfo ?? [];
        once(
          rows.map((row) => `${row.Id} ${row.HostAddress} ${row.PortNumber} ${row.Metadata}`),
          ['lan 192.0.2.10 8883 cable', 'wlan 192.0.2.11 8883 air'],
          'addresses',
        );
      },
      'one takes their place': async () => {
        const ConnectivityInfo = [{ Id: 'name', HostAddress: 'core.example.com', PortNumber: 443, Metadata: '' }];
        const made = await g.updateConnectivityInfo({ ThingName: 'MyCore', ConnectivityInfo });
        assert.notEqual(given(made.Version, 'Version'), s.version);
        const rows = (await g.getConnectivityInfo({ ThingName: 'MyCore' })).ConnectivityInfo ?? [];
        assert.deepEqual(
          rows.map((row) => [row.Id, row.HostAddress, row.PortNumber]),
          [['name', 'core.example.com', 443]],
        );
      },
      'it tells how it is': async () => {
        await g.updateThingRuntimeConfiguration({ ThingName: 'MyCore', TelemetryConfiguration: { Telemetry: 'On' } });
        const read = await g.getThingRuntimeConfiguration({ ThingName: 'MyCore' });
        assert.equal(read.RuntimeConfiguration?.TelemetryConfiguration?.Telemetry, 'On');
      },
      'it does not': async () => {
        await g.updateThingRuntimeConfiguration({ ThingName: 'MyCore', TelemetryConfiguration: { Telemetry: 'Off' } });
        const read = await g.getThingRuntimeConfiguration({ ThingName: 'MyCore' });
        assert.equal(read.RuntimeConfiguration?.TelemetryConfiguration?.Telemetry, 'Off');
      },
      'not half of it': () =>
        wrong(g.updateThingRuntimeConfiguration({ ThingName: 'MyCore', TelemetryConfiguration: { Telemetry: 'Half' as 'On' } })),
      'its software is updated': async () => {
        const made = await g.createSoftwareUpdateJob({
          S3UrlSignerRole: role('Greengrass_UpdateRole'),
          SoftwareToUpdate: 'core',
          UpdateAgentLogLevel: 'INFO',
          UpdateTargets: [thing('MyCore')],
          UpdateTargetsArchitecture: 'armv7l',
          UpdateTargetsOperatingSystem: 'raspbian',
        });
        given(made.IotJobId, 'IotJobId');
        given(made.IotJobArn, 'IotJobArn');
      },
    }),

    'many deployments at once': (g, s) => ({
      started: async () => {
        const made = await g.startBulkDeployment({
          ExecutionRoleArn: role('BulkRole'),
          InputFileUri: 's3://my-bulk-bucket/input.txt',
          tags: { wave: 'one' },
        });
        s.id = given(made.BulkDeploymentId, 'BulkDeploymentId');
        s.arn = given(made.BulkDeploymentArn, 'BulkDeploymentArn');
      },
      'how it goes': async () => {
        const read = await g.getBulkDeploymentStatus({ BulkDeploymentId: s.id });
        oneOf(read.BulkDeploymentStatus, 'Initializing', 'Running', 'Completed', 'Failed');
        assert.deepEqual(read.tags, { wave: 'one' });
      },
      'is in the list, page by page': async () => {
        const ExecutionRoleArn = role('BulkRole');
        const more = await g.startBulkDeployment({ ExecutionRoleArn, InputFileUri: 's3://my-bulk-bucket/more.txt' });
        const rows = await all(
          (from) => g.listBulkDeployments(from),
          (page) => page.BulkDeployments,
          1,
        );
        once(
          rows.map((row) => given(row.BulkDeploymentId, 'BulkDeploymentId')),
          [s.id, given(more.BulkDeploymentId, 'BulkDeploymentId')],
          'bulk deployments',
        );
        assert.equal(rows.find((row) => row.BulkDeploymentId === s.id)?.BulkDeploymentArn, s.arn);
      },
      'its reports can be read': async () => {
        const read = await g.listBulkDeploymentDetailedReports({ BulkDeploymentId: s.id });
        assert.ok(Array.isArray(read.Deployments ?? []), 'its reports are no list');
      },
      stopped: async () => {
        await g.stopBulkDeployment({ BulkDeploymentId: s.id });
        const read = await g.getBulkDeploymentStatus({ BulkDeploymentId: s.id });
        oneOf(read.BulkDeploymentStatus, 'Stopping', 'Stopped');
      },
      'not without a file': () => wrong(g.startBulkDeployment({ ExecutionRoleArn: role('BulkRole'), InputFileUri: undefined })),
      'one that is not there': async () => {
        await missing(g.getBulkDeploymentStatus({ BulkDeploymentId: nowhere }));
        await missing(g.stopBulkDeployment({ BulkDeploymentId: nowhere }));
      },
    }),

    'tags of a group and of a definition': (g, s) => ({
      'a group with one': async () => {
        const made = await g.createGroup({ Name: 'TaggedGroup', tags: { stage: 'test' } });
        s.id = given(made.Id, 'Id');
        s.arn = given(made.Arn, 'Arn');
        assert.deepEqual((await g.listTagsForResource({ ResourceArn: s.arn })).tags, { stage: 'test' });
      },
      'two more': async () => {
        await g.tagResource({ ResourceArn: s.arn, tags: { team: 'edge', cost: '42' } });
        const { tags } = await g.listTagsForResource({ ResourceArn: s.arn });
        assert.deepEqual(tags, { stage: 'test', team: 'edge', cost: '42' });
      },
      'one has another value': async () => {
        await g.tagResource({ ResourceArn: s.arn, tags: { stage: 'live' } });
        assert.equal((await g.listTagsForResource({ ResourceArn: s.arn })).tags?.stage, 'live');
      },
      'two are taken away': async () => {
        await g.untagResource({ ResourceArn: s.arn, TagKeys: ['team', 'cost'] });
        assert.deepEqual((await g.listTagsForResource({ ResourceArn: s.arn })).tags, { stage: 'live' });
      },
      'the group itself says so': async () => assert.deepEqual((await g.getGroup({ GroupId: s.id })).tags, { stage: 'live' }),
      'a definition, and its row in the list': async () => {
        const made = await g.createLoggerDefinition({ Name: 'TaggedLoggers', tags: { owner: 'ops' } });
        const { tags } = await g.getLoggerDefinition({ LoggerDefinitionId: given(made.Id, 'Id') });
        assert.deepEqual(tags, { owner: 'ops' });
        const rows = await all(
          (from) => g.listLoggerDefinitions(from),
          (page) => page.Definitions,
        );
        assert.deepEqual(rows.find(({ Id }) => Id === made.Id)?.Tags, { owner: 'ops' });
      },
      'what is not there has none': () => missing(g.listTagsForResource({ ResourceArn: s.arn.replace(s.id, nowhere) })),
    }),

    'a credential that is refused': (g, s, another) => ({
      'a group': async () => {
        s.id = await group(g, 'GuardedGroup');
      },
      'not read by another': () => stranger(another('AKIANOBODYATALL00000').getGroup({ GroupId: s.id })),
      'not listed by another': () => stranger(another('AKIANOBODYATALL00000').listGroups({})),
      'nothing made by another': () => stranger(another('AKIANOBODYATALL00000').createGroup({ Name: 'IntruderGroup' })),
      'not deleted by another': () => stranger(another('AKIANOBODYATALL00000').deleteGroup({ GroupId: s.id })),
      'it is still there, and alone': async () => {
        assert.equal((await g.getGroup({ GroupId: s.id })).Name, 'GuardedGroup');
        const rows = await all(
          (from) => g.listGroups(from),
          (page) => page.Groups,
        );
        assert.ok(!rows.some(({ Name }) => Name === 'IntruderGroup'), 'the intruder made one');
      },
    }),

    'wrong requests, and what is not there': (g, s) => ({
      'a group without a name': () => wrong(g.createGroup({ Name: undefined })),
      'a core without a thing': () =>
        wrong(g.createCoreDefinition({ Name: 'wrong', InitialVersion: { Cores: [{ ...core('none'), ThingArn: undefined }] } })),
      'two devices of one id': () =>
        wrong(g.createDeviceDefinition({ Name: 'wrong', InitialVersion: { Devices: [device('twin'), device('twin')] } })),
      'a deployment of no kind, and of no version': async () => {
        [s.id] = await deployable(g, 'WrongGroup');
        await wrong(g.createDeployment({ GroupId: s.id, DeploymentType: undefined }));
        await wrong(g.createDeployment({ GroupId: s.id, GroupVersionId: s.id, DeploymentType: 'Sideways' as 'NewDeployment' }));
      },
      'a deployment of a version that is not there': () =>
        missing(g.createDeployment({ GroupId: s.id, GroupVersionId: nowhere, DeploymentType: 'NewDeployment' })),
      'what is not there is not read': async () => {
        await missing(g.getGroup({ GroupId: nowhere }));
        await missing(g.getCoreDefinition({ CoreDefinitionId: nowhere }));
        await missing(g.getResourceDefinition({ ResourceDefinitionId: nowhere }));
        await missing(g.getDeploymentStatus({ GroupId: s.id, DeploymentId: nowhere }));
      },
      'nor changed': async () => {
        await missing(g.updateGroup({ GroupId: nowhere, Name: 'late' }));
        await missing(g.updateFunctionDefinition({ FunctionDefinitionId: nowhere, Name: 'late' }));
        await missing(g.createGroupVersion({ GroupId: nowhere }));
      },
      'nor deleted': async () => {
        await missing(g.deleteGroup({ GroupId: nowhere }));
        await missing(g.deleteSubscriptionDefinition({ SubscriptionDefinitionId: nowhere }));
      },
    }),
  },
};
