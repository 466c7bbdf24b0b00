import assert from 'node:assert/strict';
import {
  type ListDevicesCommandInput,
  Panorama,
  type ProvisionDeviceCommandOutput,
  paginateListApplicationInstanceDependencies,
  paginateListApplicationInstanceNodeInstances,
  paginateListApplicationInstances,
  paginateListDevices,
  paginateListDevicesJobs,
  paginateListNodeFromTemplateJobs,
  paginateListNodes,
  paginateListPackageImportJobs,
  paginateListPackages,
} from '@aws-sdk/client-panorama';
import { gather, given, once, type Place, refused, type Vendor } from '../kit.ts';

/**
 * The token is an access key's id; the client signs with it (version 4). What the client throws keeps its status below
 * `$metadata`: it is put beside the message too.
 */
const connect = (place: Place, token: string): Panorama => {
  const accessKeyId = /Credential=([^/,\s]+)/.exec(token)?.[1] ?? token;
  const client = new Panorama({
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

/** The guide's status of each exception (wrong 400, not there 404, conflict 409); the description has a number of its own, by operation. */
const wrong = (call: Promise<unknown>, described = 481): Promise<unknown> => refused(call, 400, described);
const missing = (call: Promise<unknown>, described = 483): Promise<unknown> => refused(call, 404, described);
const conflict = (call: Promise<unknown>, described = 480): Promise<unknown> => refused(call, 409, described);
/** The guide's common errors have 403 for a key that is not known; the description has 48x for AccessDeniedException. */
const stranger = (call: Promise<unknown>, ...described: number[]): Promise<unknown> => refused(call, 401, 403, ...described);

const without = (rows: readonly string[], one: string): void => assert.ok(!rows.includes(one), `the list still has ${one}`);
const oneOf = (value: string | undefined, ...all: readonly string[]): void =>
  assert.ok(all.includes(value ?? ''), `${value} is none of ${all.join(', ')}`);
const recent = (value: Date | undefined, what: string): void => {
  assert.ok(value instanceof Date, `${what} is no time`);
  assert.ok(Math.abs(value.getTime() - Date.now()) < 3_600_000, `${what} is ${value.toISOString()}, not now`);
};
/** What is under way is asked for until it is not, for a short while. */
const settled = async (status: () => Promise<string | undefined>): Promise<string | undefined> => {
  let now = await status();
  for (let turn = 0; turn < 10 && /PENDING|PROGRESS|REQUESTED/.test(now ?? ''); turn += 1) {
    await new Promise((done) => setTimeout(done, 150));
    now = await status();
  }
  return now;
};

const nowhere = 'nosuchthing-aaaabbbbccccdddd2222333344';
const RuntimeRoleArn = 'arn:aws:iam::123456789012:role/PanoramaApplianceServiceRole';
const hash = (letter: string): string => letter.repeat(64);
const firstPatch = hash('a');
const secondPatch = hash('b');

const provision = async (p: Panorama, Name: string, Tags?: Record<string, string>): Promise<string> => {
  const made = await p.provisionDevice({ Name, ...(Tags && { Tags }) });
  return given(made.DeviceId, 'DeviceId');
};
const devices = async (p: Panorama, asked: ListDevicesCommandInput = {}, pageSize = 25): Promise<string[]> => {
  const rows = await gather(paginateListDevices({ client: p, pageSize }, asked), (page) => page.Devices ?? []);
  return rows.map(({ DeviceId }) => given(DeviceId, 'DeviceId'));
};
const packaged = async (p: Panorama, PackageName: string, Tags?: Record<string, string>): Promise<string> => {
  const made = await p.createPackage({ PackageName, ...(Tags && { Tags }) });
  return given(made.PackageId, 'PackageId');
};
const packages = async (p: Panorama, pageSize = 2): Promise<string[]> => {
  const rows = await gather(paginateListPackages({ client: p, pageSize }, {}), (page) => page.Packages ?? []);
  return rows.map(({ PackageId }) => given(PackageId, 'PackageId'));
};
const manifest = (version = '1.0'): string =>
  JSON.stringify({
    nodeGraph: {
      envelopeVersion: '2021-01-01',
      packages: [
        { name: '123456789012::SAMPLE_CODE', version },
        { name: 'panorama::abstract_rtsp_media_source', version: '1.0' },
        { name: 'panorama::hdmi_data_sink', version: '1.0' },
      ],
      nodes: [
        { name: 'code_node', interface: '123456789012::SAMPLE_CODE.interface' },
        { name: 'camera_node', interface: 'panorama::abstract_rtsp_media_source.rtsp_v1_interface', overridable: true },
        { name: 'output_node', interface: 'panorama::hdmi_data_sink.hdmi0' },
      ],
      edges: [
        { producer: 'camera_node.video_out', consumer: 'code_node.video_in' },
        { producer: 'code_node.video_out', consumer: 'output_node.video_in' },
      ],
    },
  });
const overrides = JSON.stringify({
  nodeGraphOverrides: {
    envelopeVersion: '2021-01-01',
    packages: [{ name: '123456789012::warehouse-camera', version: '1.0' }],
    nodes: [{ name: 'my_camera', interface: '123456789012::warehouse-camera.warehouse-camera' }],
    nodeOverrides: [{ replace: 'camera_node', with: [{ name: 'my_camera' }] }],
  },
});
const deploy = async (p: Panorama, device: string, Name: string): Promise<string> => {
  const made = await p.createApplicationInstance({
    Name,
    DefaultRuntimeContextDevice: device,
    ManifestPayload: { PayloadData: manifest() },
    RuntimeRoleArn,
  });
  return given(made.ApplicationInstanceId, 'ApplicationInstanceId');
};
type Asked = NonNullable<Parameters<Panorama['listApplicationInstances']>[0]>;
const applications = async (p: Panorama, asked: Asked = {}, pageSize = 25): Promise<string[]> => {
  const rows = await gather(
    paginateListApplicationInstances({ client: p, pageSize }, asked),
    (page) => page.ApplicationInstances ?? [],
  );
  return rows.map(({ ApplicationInstanceId }) => given(ApplicationInstanceId, 'ApplicationInstanceId'));
};
const imported = async (p: Panorama, ClientToken: string, ObjectKey: string, PackageVersion = '1.0'): Promise<string> => {
  const made = await p.createPackageImportJob({
    ClientToken,
    JobType: 'NODE_PACKAGE_VERSION',
    InputConfig: {
      PackageVersionInputConfig: { S3Location: { Region: 'us-east-1', BucketName: 'my-panorama-code', ObjectKey } },
    },
    OutputConfig: { PackageVersionOutputConfig: { PackageName: 'SAMPLE_CODE', PackageVersion, MarkLatest: true } },
    JobTags: [{ ResourceType: 'PACKAGE', Tags: { team: 'vision' } }],
  });
  return given(made.JobId, 'JobId');
};
const camera = async (p: Panorama, NodeName: string, OutputPackageName: string): Promise<string> => {
  const made = await p.createNodeFromTemplateJob({
    TemplateType: 'RTSP_CAMERA_STREAM',
    NodeName,
    NodeDescription: 'the camera over the gate',
    OutputPackageName,
    OutputPackageVersion: '1.0',
    TemplateParameters: { Username: 'viewer', Password: 'hunter2-hunter2', StreamUrl: 'rtsp://192.168.0.99/live' },
  });
  return given(made.JobId, 'JobId');
};
const tagsOf = async (p: Panorama, ResourceArn: string): Promise<Record<string, string>> =>
  (await p.listTagsForResource({ ResourceArn })).Tags ?? {};
const byPage = (letter: string): string => `page-device-${letter}`;

/** Guide: docs.aws.amazon.com/panorama/latest/dev (appliances, packages, applications, camera streams, tags) and its API reference. */
export const vendor: Vendor<Panorama> = {
  document: 'panorama/panorama.json',
  header: 'Authorization',
  word: 'AWS4-HMAC-SHA256',
  made: 'AKIAIOSFODNN7EXAMPLE',
  client: connect,
  strict: ['a credential that is refused'],
  flows: {
    'an appliance, from the first to the last day': (p, s) => ({
      provisioned: async () => {
        const made: ProvisionDeviceCommandOutput = await p.provisionDevice({
          Name: 'lobby-appliance',
          Description: 'by the door',
          Tags: { site: 'berlin' },
        });
        oneOf(made.Status, 'AWAITING_PROVISIONING', 'PENDING');
        s.id = given(made.DeviceId, 'DeviceId');
        s.arn = given(made.Arn, 'Arn');
      },
      read: async () => {
        const read = await p.describeDevice({ DeviceId: s.id });
        assert.deepEqual(
          [read.DeviceId, read.Arn, read.Name, read.Description, read.Tags],
          [s.id, s.arn, 'lobby-appliance', 'by the door', { site: 'berlin' }],
        );
        recent(read.CreatedTime, 'CreatedTime');
      },
      'it waits for its archive of certificates to be plugged in': async () => {
        const read = await p.describeDevice({ DeviceId: s.id });
        oneOf(read.ProvisioningStatus, 'AWAITING_PROVISIONING', 'PENDING');
        oneOf(read.DeviceAggregatedStatus, 'AWAITING_PROVISIONING', 'PENDING');
      },
      'is in the list': async () => {
        const rows = await gather(paginateListDevices({ client: p, pageSize: 25 }, {}), ({ Devices }) => Devices ?? []);
        once(
          rows.map((row) => `${row.DeviceId} ${row.Name} ${row.Description}`),
          [`${s.id} lobby-appliance by the door`],
          'devices',
        );
      },
      'its description is changed': async () => {
        const made = await p.updateDeviceMetadata({ DeviceId: s.id, Description: 'behind the desk' });
        assert.equal(made.DeviceId, s.id);
      },
      'nothing else is': async () => {
        const read = await p.describeDevice({ DeviceId: s.id });
        assert.deepEqual(
          [read.Description, read.Name, read.Arn, read.Tags],
          ['behind the desk', 'lobby-appliance', s.arn, { site: 'berlin' }],
        );
      },
      deleted: async () => assert.equal((await p.deleteDevice({ DeviceId: s.id })).DeviceId, s.id),
      gone: () => missing(p.describeDevice({ DeviceId: s.id }), 482),
      'no longer in the list': async () => without(await devices(p), s.id),
    }),

    'appliances through all pages': (p, s) => ({
      'five are provisioned, in no order': async () => {
        for (const letter of ['c', 'a', 'e', 'b', 'd']) s[letter] = await provision(p, byPage(letter));
      },
      'no more on a page than asked for': async () => {
        const page = await p.listDevices({ MaxResults: 2 });
        assert.ok(given(page.Devices, 'Devices').length <= 2, 'more than two');
        given(page.NextToken, 'NextToken');
      },
      'all of them, each once': async () => {
        const rows = await devices(p, {}, 2);
        once(rows, [...new Set(rows), s.a, s.b, s.c, s.d, s.e], 'devices');
      },
      'by name, up and down': async () => {
        const names = async (SortOrder: 'ASCENDING' | 'DESCENDING'): Promise<string[]> => {
          const walk = paginateListDevices({ client: p, pageSize: 2 }, { SortBy: 'NAME', SortOrder });
          const rows = await gather(walk, ({ Devices }) => Devices ?? []);
          return rows.map(({ Name }) => Name ?? '').filter((name) => name.startsWith('page-device-'));
        };
        const up = ['a', 'b', 'c', 'd', 'e'].map(byPage);
        assert.deepEqual(await names('ASCENDING'), up);
        assert.deepEqual(await names('DESCENDING'), up.toReversed());
      },
      'one less': async () => {
        await p.deleteDevice({ DeviceId: s.b });
        const rows = await devices(p, {}, 2);
        once(rows, [s.a, s.c, s.d, s.e], 'devices');
        without(rows, s.b);
      },
    }),

    'appliances that are looked for': (p, s) => ({
      'two are provisioned': async () => {
        s.gate = await provision(p, 'gate-seventeen');
        s.roof = await provision(p, 'roof-west');
      },
      'one by its name': async () => {
        const rows = await devices(p, { NameFilter: 'gate-seventeen' });
        once(rows, [s.gate], 'devices');
        without(rows, s.roof);
      },
      'both among those in their state': async () => {
        const status = (await p.describeDevice({ DeviceId: s.gate })).DeviceAggregatedStatus;
        const rows = await devices(p, { DeviceAggregatedStatusFilter: given(status, 'DeviceAggregatedStatus') });
        once(rows, [s.gate, s.roof], 'devices');
      },
      'neither among those that are online': async () => {
        const walk = paginateListDevices({ client: p, pageSize: 25 }, { DeviceAggregatedStatusFilter: 'ONLINE' });
        const rows = await gather(walk, ({ Devices }) => Devices ?? []);
        for (const row of rows) assert.equal(row.DeviceAggregatedStatus, 'ONLINE');
        without(
          rows.map(({ DeviceId }) => DeviceId ?? ''),
          s.gate,
        );
      },
      'not by a state that there is not': () => wrong(p.listDevices({ DeviceAggregatedStatusFilter: 'ASLEEP' as 'ONLINE' })),
      'not sorted by what there is not': () => wrong(p.listDevices({ SortBy: 'COLOUR' as 'NAME' })),
    }),

    'how an appliance gets into the network': (p, s) => {
      const NetworkingConfiguration = {
        Ethernet0: {
          ConnectionType: 'STATIC_IP' as const,
          StaticIpConnectionInfo: {
            IpAddress: '192.168.1.17',
            Mask: '255.255.255.0',
            DefaultGateway: '192.168.1.1',
            Dns: ['192.168.1.1', '8.8.8.8'],
          },
        },
        Ethernet1: { ConnectionType: 'DHCP' as const },
        Ntp: { NtpServers: ['0.pool.ntp.org', '1.pool.ntp.org'] },
      };
      return {
        'one with a fixed address': async () => {
          const made = await p.provisionDevice({ Name: 'wired-appliance', NetworkingConfiguration });
          s.id = given(made.DeviceId, 'DeviceId');
          s.arn = given(made.Arn, 'Arn');
          s.archive = `${made.Certificates?.length ?? 0} bytes`;
          s.thing = made.IotThingName ?? '';
        },
        'there is an archive of certificates to carry to it, and a thing': async () => {
          assert.notEqual(s.archive, '0 bytes');
          assert.notEqual(s.thing, '');
          assert.match(s.arn, /^arn:aws[\w-]*:panorama:[\w-]*:\d{12}:device\/.+/);
        },
        'it is kept as given': async () => {
          const read = await p.describeDevice({ DeviceId: s.id });
          assert.deepEqual(read.NetworkingConfiguration?.Ethernet0, NetworkingConfiguration.Ethernet0);
          assert.equal(read.NetworkingConfiguration?.Ethernet1?.ConnectionType, 'DHCP');
          assert.deepEqual(read.NetworkingConfiguration?.Ntp?.NtpServers, NetworkingConfiguration.Ntp.NtpServers);
        },
        'and when its description is changed': async () => {
          await p.updateDeviceMetadata({ DeviceId: s.id, Description: 'on the shelf' });
          const read = await p.describeDevice({ DeviceId: s.id });
          assert.deepEqual(read.NetworkingConfiguration?.Ethernet0, NetworkingConfiguration.Ethernet0);
        },
        'no address of 999': () => {
          const StaticIpConnectionInfo = { ...NetworkingConfiguration.Ethernet0.StaticIpConnectionInfo, IpAddress: '999.1.1.1' };
          const Ethernet0 = { ConnectionType: 'STATIC_IP' as const, StaticIpConnectionInfo };
          return wrong(p.provisionDevice({ Name: 'unwired-appliance', NetworkingConfiguration: { Ethernet0 } }));
        },
        'no wireless': () =>
          wrong(
            p.provisionDevice({
              Name: 'unwired-appliance',
              NetworkingConfiguration: { Ethernet0: { ConnectionType: 'WIFI' as 'DHCP' } },
            }),
          ),
        'nothing came of it': async () => {
          const rows = await gather(paginateListDevices({ client: p, pageSize: 25 }, {}), ({ Devices }) => Devices ?? []);
          without(
            rows.map(({ Name }) => Name ?? ''),
            'unwired-appliance',
          );
        },
      };
    },

    'a package, from the first to the last day': (p, s) => ({
      made: async () => {
        const made = await p.createPackage({ PackageName: 'PEOPLE_COUNTER', Tags: { team: 'vision' } });
        s.id = given(made.PackageId, 'PackageId');
        s.arn = given(made.Arn, 'Arn');
        const where = given(made.StorageLocation, 'StorageLocation');
        s.bucket = given(where.Bucket, 'Bucket');
        s.repo = given(where.RepoPrefixLocation, 'RepoPrefixLocation');
        s.manifests = given(where.ManifestPrefixLocation, 'ManifestPrefixLocation');
      },
      read: async () => {
        const read = await p.describePackage({ PackageId: s.id });
        assert.deepEqual(
          [read.PackageId, read.PackageName, read.Arn, read.Tags],
          [s.id, 'PEOPLE_COUNTER', s.arn, { team: 'vision' }],
        );
        recent(read.CreatedTime, 'CreatedTime');
      },
      'it is stored where it was': async () => {
        const { StorageLocation } = await p.describePackage({ PackageId: s.id });
        assert.deepEqual(
          [StorageLocation?.Bucket, StorageLocation?.RepoPrefixLocation, StorageLocation?.ManifestPrefixLocation],
          [s.bucket, s.repo, s.manifests],
        );
      },
      'its name is taken': () => conflict(p.createPackage({ PackageName: 'PEOPLE_COUNTER' })),
      'is in the list': async () => {
        const rows = await gather(paginateListPackages({ client: p, pageSize: 25 }, {}), ({ Packages }) => Packages ?? []);
        once(
          rows.map((row) => `${row.PackageId} ${row.PackageName} ${row.Arn}`),
          [`${s.id} PEOPLE_COUNTER ${s.arn}`],
          'packages',
        );
      },
      deleted: () => p.deletePackage({ PackageId: s.id, ForceDelete: true }),
      gone: () => missing(p.describePackage({ PackageId: s.id })),
      'no longer in the list': async () => without(await packages(p), s.id),
      'not deleted again': () => missing(p.deletePackage({ PackageId: s.id })),
    }),

    'versions and patches of a package': (p, s) => ({
      'a package': async () => {
        s.id = await packaged(p, 'VERSIONED_CODE');
      },
      'a version is registered': async () => {
        await p.registerPackageVersion({ PackageId: s.id, PackageVersion: '1.0', PatchVersion: firstPatch, MarkLatest: true });
        const ask = () => p.describePackageVersion({ PackageId: s.id, PackageVersion: '1.0', PatchVersion: firstPatch });
        const status = await settled(async () => (await ask()).Status);
        oneOf(status, 'REGISTER_PENDING', 'REGISTER_COMPLETED');
        const read = await ask();
        assert.deepEqual(
          [read.PackageId, read.PackageName, read.PackageVersion, read.PatchVersion],
          [s.id, 'VERSIONED_CODE', '1.0', firstPatch],
        );
      },
      'it is the latest patch': async () => {
        const read = await p.describePackageVersion({ PackageId: s.id, PackageVersion: '1.0', PatchVersion: firstPatch });
        assert.equal(read.IsLatestPatch, true);
      },
      'a second patch is the latest': async () => {
        const PatchVersion = secondPatch;
        await p.registerPackageVersion({ PackageId: s.id, PackageVersion: '1.0', PatchVersion, MarkLatest: true });
        await settled(
          async () => (await p.describePackageVersion({ PackageId: s.id, PackageVersion: '1.0', PatchVersion })).Status,
        );
        const latest = await p.describePackageVersion({ PackageId: s.id, PackageVersion: '1.0', PatchVersion });
        assert.deepEqual([latest.PatchVersion, latest.IsLatestPatch], [secondPatch, true]);
      },
      'the first no longer is': async () => {
        const read = await p.describePackageVersion({ PackageId: s.id, PackageVersion: '1.0', PatchVersion: firstPatch });
        assert.deepEqual([read.PatchVersion, read.IsLatestPatch], [firstPatch, false]);
      },
      'without a patch, the latest is read': async () => {
        const read = await p.describePackageVersion({ PackageId: s.id, PackageVersion: '1.0' });
        assert.equal(read.PatchVersion, secondPatch);
      },
      'a version that is no number is not registered': () =>
        wrong(p.registerPackageVersion({ PackageId: s.id, PackageVersion: 'latest', PatchVersion: firstPatch })),
      'the second is taken away': async () => {
        await p.deregisterPackageVersion({
          PackageId: s.id,
          PackageVersion: '1.0',
          PatchVersion: secondPatch,
          UpdatedLatestPatchVersion: firstPatch,
        });
        await missing(p.describePackageVersion({ PackageId: s.id, PackageVersion: '1.0', PatchVersion: secondPatch }));
      },
      'the first is the latest again': async () => {
        const read = await p.describePackageVersion({ PackageId: s.id, PackageVersion: '1.0', PatchVersion: firstPatch });
        assert.deepEqual([read.PatchVersion, read.IsLatestPatch], [firstPatch, true]);
      },
    }),

    'an application is deployed and removed': (p, s) => ({
      'an appliance': async () => {
        s.device = await provision(p, 'deploy-appliance');
      },
      deployed: async () => {
        const made = await p.createApplicationInstance({
          Name: 'people-at-the-gate',
          Description: 'counts them',
          DefaultRuntimeContextDevice: s.device,
          ManifestPayload: { PayloadData: manifest() },
          ManifestOverridesPayload: { PayloadData: overrides },
          RuntimeRoleArn,
          Tags: { stage: 'test' },
        });
        s.id = given(made.ApplicationInstanceId, 'ApplicationInstanceId');
      },
      read: async () => {
        const read = await p.describeApplicationInstance({ ApplicationInstanceId: s.id });
        assert.deepEqual(
          [read.ApplicationInstanceId, read.Name, read.Description, read.DefaultRuntimeContextDevice, read.RuntimeRoleArn],
          [s.id, 'people-at-the-gate', 'counts them', s.device, RuntimeRoleArn],
        );
        assert.deepEqual(read.Tags, { stage: 'test' });
        assert.match(read.Status ?? '', /^DEPLOYMENT_/);
        recent(read.CreatedTime, 'CreatedTime');
        given(read.Arn, 'Arn');
      },
      'its appliance has a name there': async () => {
        const read = await p.describeApplicationInstance({ ApplicationInstanceId: s.id });
        assert.equal(read.DefaultRuntimeContextDeviceName, 'deploy-appliance');
      },
      'its manifest is as given': async () => {
        const read = await p.describeApplicationInstanceDetails({ ApplicationInstanceId: s.id });
        assert.deepEqual([read.ApplicationInstanceId, read.Name], [s.id, 'people-at-the-gate']);
        assert.deepEqual(JSON.parse(given(read.ManifestPayload?.PayloadData, 'PayloadData')), JSON.parse(manifest()));
        assert.deepEqual(JSON.parse(given(read.ManifestOverridesPayload?.PayloadData, 'PayloadData')), JSON.parse(overrides));
      },
      'is in the list': async () => once(await applications(p), [s.id], 'applications'),
      removed: async () => {
        await p.removeApplicationInstance({ ApplicationInstanceId: s.id });
        const read = await p.describeApplicationInstance({ ApplicationInstanceId: s.id });
        assert.match(read.Status ?? '', /^REMOVAL_/);
      },
      'it is not among those deployed': async () =>
        without(await applications(p, { StatusFilter: 'DEPLOYMENT_SUCCEEDED' }), s.id),
      'what is not there is not removed': () => missing(p.removeApplicationInstance({ ApplicationInstanceId: nowhere })),
    }),

    'applications that are looked for, through all pages': (p, s) => ({
      'three on two appliances': async () => {
        s.north = await provision(p, 'north-appliance');
        s.south = await provision(p, 'south-appliance');
        s.one = await deploy(p, s.north, 'app-one');
        s.two = await deploy(p, s.north, 'app-two');
        s.three = await deploy(p, s.south, 'app-three');
      },
      'all of them, each once': async () => {
        const rows = await applications(p, {}, 1);
        once(rows, [...new Set(rows), s.one, s.two, s.three], 'applications');
      },
      'those of one appliance': async () => {
        const rows = await applications(p, { DeviceId: s.north }, 1);
        once(rows, [s.one, s.two], 'applications');
        without(rows, s.three);
      },
      'each with its appliance and name': async () => {
        const walk = paginateListApplicationInstances({ client: p }, { DeviceId: s.south });
        const rows = await gather(walk, ({ ApplicationInstances }) => ApplicationInstances ?? []);
        once(
          rows.map((row) => `${row.ApplicationInstanceId} ${row.Name} ${row.DefaultRuntimeContextDevice}`),
          [`${s.three} app-three ${s.south}`],
          'applications',
        );
      },
      'none that was removed': async () => {
        const rows = await applications(p, { StatusFilter: 'REMOVAL_SUCCEEDED' });
        for (const id of [s.one, s.two, s.three]) without(rows, id);
      },
      'those in deployment, while they are': async () => {
        const { Status } = await p.describeApplicationInstance({ ApplicationInstanceId: s.one });
        if (!/^DEPLOYMENT_(PENDING|REQUESTED|IN_PROGRESS)$/.test(Status ?? '')) return;
        const rows = await applications(p, { StatusFilter: 'PROCESSING_DEPLOYMENT' });
        const { Status: after } = await p.describeApplicationInstance({ ApplicationInstanceId: s.one });
        if (after === Status) once(rows, [s.one], 'applications');
      },
    }),

    'an application takes the place of another': (p, s) => ({
      'the first version': async () => {
        s.device = await provision(p, 'update-appliance');
        s.first = await deploy(p, s.device, 'counter-v1');
      },
      'the second in its place': async () => {
        const made = await p.createApplicationInstance({
          Name: 'counter-v2',
          DefaultRuntimeContextDevice: s.device,
          ManifestPayload: { PayloadData: manifest('2.0') },
          ApplicationInstanceIdToReplace: s.first,
        });
        s.second = given(made.ApplicationInstanceId, 'ApplicationInstanceId');
        assert.notEqual(s.second, s.first);
      },
      'it says whose place it takes': async () => {
        const read = await p.describeApplicationInstance({ ApplicationInstanceId: s.second });
        assert.deepEqual([read.ApplicationInstanceIdToReplace, read.Name], [s.first, 'counter-v2']);
        const details = await p.describeApplicationInstanceDetails({ ApplicationInstanceId: s.second });
        assert.equal(details.ApplicationInstanceIdToReplace, s.first);
        assert.deepEqual(JSON.parse(given(details.ManifestPayload?.PayloadData, 'PayloadData')), JSON.parse(manifest('2.0')));
      },
      'the first took nobody’s': async () => {
        const read = await p.describeApplicationInstanceDetails({ ApplicationInstanceId: s.first });
        assert.deepEqual([read.ApplicationInstanceIdToReplace, read.Name], [undefined, 'counter-v1']);
      },
      'both are of that appliance': async () => {
        const rows = await applications(p, { DeviceId: s.device });
        once(rows, [s.second], 'applications');
      },
    }),

    'the nodes of an application': (p, s) => ({
      'an application': async () => {
        s.device = await provision(p, 'node-appliance');
        s.app = await deploy(p, s.device, 'app-of-nodes');
      },
      'its node instances can be listed': async () => {
        const walk = paginateListApplicationInstanceNodeInstances({ client: p, pageSize: 2 }, { ApplicationInstanceId: s.app });
        const rows = await gather(walk, ({ NodeInstances }) => NodeInstances ?? []);
        const ids = rows.map(({ NodeInstanceId }) => given(NodeInstanceId, 'NodeInstanceId'));
        once(ids, [...new Set(ids)], 'node instances');
        for (const row of rows) oneOf(row.CurrentStatus, 'RUNNING', 'ERROR', 'NOT_AVAILABLE', 'PAUSED');
      },
      'and what it depends on': async () => {
        const walk = paginateListApplicationInstanceDependencies({ client: p, pageSize: 2 }, { ApplicationInstanceId: s.app });
        const rows = await gather(walk, ({ PackageObjects }) => PackageObjects ?? []);
        for (const row of rows) assert.match(given(row.PackageVersion, 'PackageVersion'), /^\d+\.\d+$/);
      },
      'its camera is paused': async () => {
        const made = await p.signalApplicationInstanceNodeInstances({
          ApplicationInstanceId: s.app,
          NodeSignals: [{ NodeInstanceId: 'camera_node', Signal: 'PAUSE' }],
        });
        assert.equal(made.ApplicationInstanceId, s.app);
      },
      'and goes on': async () => {
        const made = await p.signalApplicationInstanceNodeInstances({
          ApplicationInstanceId: s.app,
          NodeSignals: [{ NodeInstanceId: 'camera_node', Signal: 'RESUME' }],
        });
        assert.equal(made.ApplicationInstanceId, s.app);
      },
      'it cannot be told to sing': () =>
        wrong(
          p.signalApplicationInstanceNodeInstances({
            ApplicationInstanceId: s.app,
            NodeSignals: [{ NodeInstanceId: 'camera_node', Signal: 'SING' as 'PAUSE' }],
          }),
          480,
        ),
      'nodes of a kind are listed, each once': async () => {
        const walk = paginateListNodes({ client: p, pageSize: 2 }, { Category: 'MEDIA_SOURCE' });
        const rows = await gather(walk, ({ Nodes }) => Nodes ?? []);
        for (const row of rows) assert.equal(row.Category, 'MEDIA_SOURCE');
        const ids = rows.map((row) => `${row.NodeId} ${row.PackageVersion} ${row.PatchVersion}`);
        once(ids, [...new Set(ids)], 'nodes');
      },
      'not of a kind that there is not': () => wrong(p.listNodes({ Category: 'MEDIA_SINKHOLE' as 'MEDIA_SINK' })),
      'a node that is not there is not read': () => missing(p.describeNode({ NodeId: nowhere })),
    }),

    'jobs for appliances: new software, a reboot': (p, s) => ({
      'an update of one': async () => {
        s.device = await provision(p, 'job-appliance');
        s.other = await provision(p, 'idle-appliance');
        const { Jobs } = await p.createJobForDevices({
          DeviceIds: [s.device],
          JobType: 'OTA',
          DeviceJobConfig: { OTAJobConfig: { ImageVersion: '6.2.1', AllowMajorVersionUpdate: true } },
        });
        assert.deepEqual(
          given(Jobs, 'Jobs').map(({ DeviceId }) => DeviceId),
          [s.device],
        );
        s.ota = given(Jobs?.[0]?.JobId, 'JobId');
      },
      'it is read': async () => {
        const read = await p.describeDeviceJob({ JobId: s.ota });
        assert.deepEqual(
          [read.JobId, read.DeviceId, read.DeviceName, read.JobType, read.ImageVersion],
          [s.ota, s.device, 'job-appliance', 'OTA', '6.2.1'],
        );
        oneOf(read.Status, 'PENDING', 'IN_PROGRESS', 'VERIFYING', 'REBOOTING', 'DOWNLOADING', 'COMPLETED', 'FAILED');
        recent(read.CreatedTime, 'CreatedTime');
      },
      'it is among the jobs of its appliance': async () => {
        const walk = paginateListDevicesJobs({ client: p, pageSize: 1 }, { DeviceId: s.device });
        const rows = await gather(walk, ({ DeviceJobs }) => DeviceJobs ?? []);
        once(
          rows.map((row) => `${row.JobId} ${row.DeviceId} ${row.JobType}`),
          [`${s.ota} ${s.device} OTA`],
          'jobs',
        );
      },
      'not of the other': async () => {
        const walk = paginateListDevicesJobs({ client: p }, { DeviceId: s.other });
        const rows = await gather(walk, ({ DeviceJobs }) => DeviceJobs ?? []);
        without(
          rows.map(({ JobId }) => JobId ?? ''),
          s.ota,
        );
      },
      'the appliance says which was its latest': async () => {
        const { LatestDeviceJob } = await p.describeDevice({ DeviceId: s.device });
        assert.deepEqual([LatestDeviceJob?.JobType, LatestDeviceJob?.ImageVersion], ['OTA', '6.2.1']);
      },
      'the other is to reboot': async () => {
        const { Jobs } = await p.createJobForDevices({ DeviceIds: [s.other], JobType: 'REBOOT' });
        const read = await p.describeDeviceJob({ JobId: given(Jobs?.[0]?.JobId, 'JobId') });
        assert.deepEqual([read.DeviceId, read.JobType, read.ImageVersion], [s.other, 'REBOOT', undefined]);
      },
      'no job of a kind that there is not': () =>
        wrong(p.createJobForDevices({ DeviceIds: [s.device], JobType: 'POLISH' as 'REBOOT' })),
      'no job for what is not there': () => missing(p.createJobForDevices({ DeviceIds: [nowhere], JobType: 'REBOOT' })),
    }),

    'packages are imported': (p, s) => ({
      'two imports': async () => {
        s.one = await imported(p, 'import-token-1', 'code/v1.tar.gz');
        s.two = await imported(p, 'import-token-2', 'code/v2.tar.gz', '2.0');
        assert.notEqual(s.one, s.two);
      },
      'the first is read': async () => {
        const read = await p.describePackageImportJob({ JobId: s.one });
        assert.deepEqual([read.JobId, read.JobType, read.ClientToken], [s.one, 'NODE_PACKAGE_VERSION', 'import-token-1']);
        oneOf(read.Status, 'PENDING', 'SUCCEEDED', 'FAILED');
        recent(read.CreatedTime, 'CreatedTime');
      },
      'it says from where, and to where': async () => {
        const read = await p.describePackageImportJob({ JobId: s.one });
        assert.deepEqual(read.InputConfig?.PackageVersionInputConfig?.S3Location, {
          Region: 'us-east-1',
          BucketName: 'my-panorama-code',
          ObjectKey: 'code/v1.tar.gz',
        });
        assert.deepEqual(read.OutputConfig?.PackageVersionOutputConfig, {
          PackageName: 'SAMPLE_CODE',
          PackageVersion: '1.0',
          MarkLatest: true,
        });
        assert.deepEqual(read.JobTags, [{ ResourceType: 'PACKAGE', Tags: { team: 'vision' } }]);
      },
      'both are listed': async () => {
        const walk = paginateListPackageImportJobs({ client: p, pageSize: 1 }, {});
        const rows = await gather(walk, ({ PackageImportJobs }) => PackageImportJobs ?? []);
        const type = 'NODE_PACKAGE_VERSION';
        once(
          rows.map((row) => `${row.JobId} ${row.JobType}`),
          [`${s.one} ${type}`, `${s.two} ${type}`],
          'jobs',
        );
      },
      'no import of a kind that there is not': () =>
        wrong(
          p.createPackageImportJob({
            ClientToken: 'import-token-3',
            JobType: 'FLOPPY_DISK' as 'NODE_PACKAGE_VERSION',
            InputConfig: {},
            OutputConfig: {},
          }),
        ),
      'no import that there is not': () => refused(p.describePackageImportJob({ JobId: nowhere }), 400, 404, 481),
    }),

    'a camera stream becomes a node': (p, s) => ({
      'two cameras': async () => {
        s.gate = await camera(p, 'gate-camera', 'GATE_CAMERA');
        s.roof = await camera(p, 'roof-camera', 'ROOF_CAMERA');
      },
      'one is read': async () => {
        const read = await p.describeNodeFromTemplateJob({ JobId: s.gate });
        assert.deepEqual(
          [read.JobId, read.NodeName, read.NodeDescription, read.OutputPackageName, read.OutputPackageVersion, read.TemplateType],
          [s.gate, 'gate-camera', 'the camera over the gate', 'GATE_CAMERA', '1.0', 'RTSP_CAMERA_STREAM'],
        );
        oneOf(read.Status, 'PENDING', 'SUCCEEDED', 'FAILED');
      },
      'it says where its stream is': async () => {
        const { TemplateParameters } = await p.describeNodeFromTemplateJob({ JobId: s.gate });
        assert.equal(TemplateParameters?.StreamUrl, 'rtsp://192.168.0.99/live');
        assert.deepEqual(Object.keys(TemplateParameters ?? {}).toSorted(), ['Password', 'StreamUrl', 'Username']);
      },
      'but not its password': async () => {
        const { TemplateParameters } = await p.describeNodeFromTemplateJob({ JobId: s.gate });
        assert.notEqual(TemplateParameters?.Password, 'hunter2-hunter2');
      },
      'both are listed': async () => {
        const walk = paginateListNodeFromTemplateJobs({ client: p, pageSize: 1 }, {});
        const rows = await gather(walk, ({ NodeFromTemplateJobs }) => NodeFromTemplateJobs ?? []);
        once(
          rows.map((row) => `${row.JobId} ${row.NodeName} ${row.TemplateType}`),
          [`${s.gate} gate-camera RTSP_CAMERA_STREAM`, `${s.roof} roof-camera RTSP_CAMERA_STREAM`],
          'jobs',
        );
      },
      'when the job is done, the node is there': async () => {
        const status = await settled(async () => (await p.describeNodeFromTemplateJob({ JobId: s.gate })).Status);
        if (status !== 'SUCCEEDED') return;
        const rows = await gather(paginateListNodes({ client: p }, { PackageName: 'GATE_CAMERA' }), ({ Nodes }) => Nodes ?? []);
        once(
          rows.map(({ Name, Category }) => `${Name} ${Category}`),
          ['gate-camera MEDIA_SOURCE'],
          'nodes',
        );
      },
      'no node of a template that there is not': () =>
        wrong(
          p.createNodeFromTemplateJob({
            TemplateType: 'TELEGRAPH' as 'RTSP_CAMERA_STREAM',
            NodeName: 'wire',
            OutputPackageName: 'WIRE',
            OutputPackageVersion: '1.0',
            TemplateParameters: { StreamUrl: 'rtsp://192.168.0.99/live' },
          }),
        ),
    }),

    'tags of an appliance and a package': (p, s) => ({
      'an appliance with one': async () => {
        const made = await p.provisionDevice({ Name: 'tagged-appliance', Tags: { stage: 'test' } });
        s.id = given(made.DeviceId, 'DeviceId');
        s.arn = given(made.Arn, 'Arn');
        assert.deepEqual(await tagsOf(p, s.arn), { stage: 'test' });
      },
      'two more': async () => {
        await p.tagResource({ ResourceArn: s.arn, Tags: { team: 'vision', cost: '42' } });
        assert.deepEqual(await tagsOf(p, s.arn), { stage: 'test', team: 'vision', cost: '42' });
      },
      'one has another value': async () => {
        await p.tagResource({ ResourceArn: s.arn, Tags: { stage: 'live' } });
        assert.deepEqual(await tagsOf(p, s.arn), { stage: 'live', team: 'vision', cost: '42' });
      },
      'the appliance has them too': async () => {
        const read = await p.describeDevice({ DeviceId: s.id });
        assert.deepEqual(read.Tags, { stage: 'live', team: 'vision', cost: '42' });
      },
      'two are taken away': async () => {
        await p.untagResource({ ResourceArn: s.arn, TagKeys: ['team', 'cost'] });
        assert.deepEqual(await tagsOf(p, s.arn), { stage: 'live' });
      },
      'a package has its own': async () => {
        const made = await p.createPackage({ PackageName: 'TAGGED_CODE' });
        s.package = given(made.Arn, 'Arn');
        assert.deepEqual(await tagsOf(p, s.package), {});
        await p.tagResource({ ResourceArn: s.package, Tags: { owner: 'ops' } });
        assert.deepEqual(await tagsOf(p, s.package), { owner: 'ops' });
        assert.deepEqual(await tagsOf(p, s.arn), { stage: 'live' });
      },
      'what is not there has none': async () => {
        await missing(p.listTagsForResource({ ResourceArn: `${s.arn}-not-there` }), 481);
        await missing(p.tagResource({ ResourceArn: `${s.arn}-not-there`, Tags: { stage: 'test' } }), 481);
      },
    }),

    'a credential that is refused': (p, s, another) => ({
      'an appliance': async () => {
        s.id = await provision(p, 'guarded-appliance');
      },
      'not read by another': () => stranger(another('AKIANOBODYATALL00000').describeDevice({ DeviceId: s.id }), 481),
      'not listed by another': () => stranger(another('AKIANOBODYATALL00000').listDevices({}), 482),
      'nothing made by another': () =>
        stranger(another('AKIANOBODYATALL00000').createPackage({ PackageName: 'INTRUDER_CODE' }), 482),
      'not deleted by another': () => stranger(another('AKIANOBODYATALL00000').deleteDevice({ DeviceId: s.id }), 482),
      'it is still there, and alone': async () => {
        assert.equal((await p.describeDevice({ DeviceId: s.id })).Name, 'guarded-appliance');
        const rows = await gather(paginateListPackages({ client: p, pageSize: 25 }, {}), ({ Packages }) => Packages ?? []);
        without(
          rows.map(({ PackageName }) => PackageName ?? ''),
          'INTRUDER_CODE',
        );
      },
    }),

    'wrong requests, and what is not there': (p) => ({
      'an appliance whose name has spaces': () => wrong(p.provisionDevice({ Name: 'no spaces here' })),
      'a package of forbidden letters': () => wrong(p.createPackage({ PackageName: 'no/slashes!' })),
      'neither was made': async () => {
        const rows = await gather(paginateListDevices({ client: p, pageSize: 25 }, {}), ({ Devices }) => Devices ?? []);
        without(
          rows.map(({ Name }) => Name ?? ''),
          'no spaces here',
        );
        const others = await gather(paginateListPackages({ client: p, pageSize: 25 }, {}), ({ Packages }) => Packages ?? []);
        without(
          others.map(({ PackageName }) => PackageName ?? ''),
          'no/slashes!',
        );
      },
      'an application for no appliance': () =>
        wrong(
          p.createApplicationInstance({
            DefaultRuntimeContextDevice: undefined,
            ManifestPayload: { PayloadData: manifest() },
          }),
          480,
        ),
      'a page of too many rows': () => wrong(p.listDevices({ MaxResults: 1000 })),
      'what is not there is not read': async () => {
        await missing(p.describeDevice({ DeviceId: nowhere }), 482);
        await missing(p.describeDeviceJob({ JobId: nowhere }));
        await missing(p.describePackage({ PackageId: nowhere }));
        await missing(p.describePackageVersion({ PackageId: nowhere, PackageVersion: '1.0' }));
        await missing(p.describeApplicationInstance({ ApplicationInstanceId: nowhere }));
        await missing(p.describeApplicationInstanceDetails({ ApplicationInstanceId: nowhere }));
      },
      'nor changed, nor deleted': async () => {
        await missing(p.updateDeviceMetadata({ DeviceId: nowhere, Description: 'nobody' }));
        await missing(p.deleteDevice({ DeviceId: nowhere }));
        await missing(p.deletePackage({ PackageId: nowhere }));
      },
    }),
  },
};
