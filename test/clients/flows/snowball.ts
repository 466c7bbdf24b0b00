import assert from 'node:assert/strict';
import {
  type Address,
  type CreateClusterCommandInput,
  type CreateJobCommandInput,
  paginateDescribeAddresses,
  paginateListClusterJobs,
  paginateListClusters,
  paginateListCompatibleImages,
  paginateListJobs,
  paginateListLongTermPricing,
  Snowball,
} from '@aws-sdk/client-snowball';
import { gather, given, once, type Place, refused, type State, type Vendor } from '../kit.ts';

/**
 * The token is an access key's id; the client signs with it (version 4). The signature of the printed header, where there is
 * one, says whose key it is. What the client throws keeps its status below `$metadata`: it is put beside the message too.
 */
const connect = (place: Place, token: string): Snowball => {
  const accessKeyId = /Credential=([^/,\s]+)/.exec(token)?.[1] ?? token;
  const client = new Snowball({
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

/** Every error of this protocol is a 400 by the guide; the description numbers an operation's errors from 480 on. */
const errors = [400, 480, 481, 482, 483, 484, 485] as const;
const no = (call: Promise<unknown>): Promise<unknown> => refused(call, ...errors);

/** Keys, roles, topics and buckets are other services': these are there before. */
const KmsKeyARN = 'arn:aws:kms:us-east-1:123456789012:key/abcd1234-12ab-34cd-56ef-123456123456';
const RoleARN = 'arn:aws:iam::123456789012:role/snowball-import-s3-role';
const OtherRoleARN = 'arn:aws:iam::123456789012:role/snowball-local-s3-role';
const SnsTopicARN = 'arn:aws:sns:us-east-1:123456789012:snow-jobs';
const Resources = { S3Resources: [{ BucketArn: 'arn:aws:s3:::pictures-of-the-harbour' }] };
const noJob = 'JID0000dead-0000-4000-8000-00000000beef';
const noCluster = 'CID0000dead-0000-4000-8000-00000000beef';
const noAddress = 'ADID0000dead-0000-4000-8000-00000000beef';
const noPricing = 'LTPID0000dead-0000-4000-8000-00000000beef';

const home: Address = {
  Name: 'Ana Carolina Silva',
  Company: 'AnyCompany',
  Street1: '123 Main Street',
  City: 'Seattle',
  StateOrProvince: 'WA',
  Country: 'USA',
  PostalCode: '98101',
  PhoneNumber: '206-555-0100',
};
const address = async (c: Snowball, more: Partial<Address> = {}): Promise<string> =>
  given((await c.createAddress({ Address: { ...home, ...more } })).AddressId, 'AddressId');
const importing = (AddressId: string, Description: string): CreateJobCommandInput => ({
  JobType: 'IMPORT',
  Resources,
  Description,
  AddressId,
  KmsKeyARN,
  RoleARN,
  SnowballCapacityPreference: 'T80',
  ShippingOption: 'SECOND_DAY',
  SnowballType: 'EDGE',
});
const job = async (c: Snowball, s: State, Description: string, more: Partial<CreateJobCommandInput> = {}): Promise<string> => {
  if (!Object.keys(s).includes('address')) s.address = await address(c);
  return given((await c.createJob({ ...importing(s.address, Description), ...more })).JobId, 'JobId');
};
const readJob = async (c: Snowball, JobId: string) => given((await c.describeJob({ JobId })).JobMetadata, 'JobMetadata');
const clusterOf = (AddressId: string, Description: string): CreateClusterCommandInput => ({
  JobType: 'LOCAL_USE',
  Resources,
  Description,
  AddressId,
  KmsKeyARN,
  RoleARN: OtherRoleARN,
  SnowballType: 'EDGE',
  ShippingOption: 'SECOND_DAY',
});
const cluster = async (c: Snowball, s: State, Description: string): Promise<string> => {
  if (!Object.keys(s).includes('address')) s.address = await address(c);
  return given((await c.createCluster(clusterOf(s.address, Description))).ClusterId, 'ClusterId');
};
const readCluster = async (c: Snowball, ClusterId: string) =>
  given((await c.describeCluster({ ClusterId })).ClusterMetadata, 'ClusterMetadata');

const jobs = (client: Snowball, pageSize = 100) =>
  gather(paginateListJobs({ client, pageSize }, {}), (page) => given(page.JobListEntries, 'JobListEntries'));
const clusters = (client: Snowball, pageSize = 100) =>
  gather(paginateListClusters({ client, pageSize }, {}), (page) => given(page.ClusterListEntries, 'ClusterListEntries'));
const nodes = (client: Snowball, ClusterId: string, pageSize = 100) =>
  gather(paginateListClusterJobs({ client, pageSize }, { ClusterId }), (page) => given(page.JobListEntries, 'JobListEntries'));
const addresses = (client: Snowball, pageSize = 100) =>
  gather(paginateDescribeAddresses({ client, pageSize }, {}), (page) => given(page.Addresses, 'Addresses'));
const pricings = (client: Snowball, pageSize = 100) =>
  gather(paginateListLongTermPricing({ client, pageSize }, {}), (page) =>
    given(page.LongTermPricingEntries, 'LongTermPricingEntries'),
  );
const id = (one: string | undefined): string => given(one, 'id');

/** Guide: docs.aws.amazon.com/snowball/latest/api-reference (each action, its errors, the JSON protocol), and the developer guide on jobs, clusters and their states. */
export const vendor: Vendor<Snowball> = {
  document: 'snowball/snowball.json',
  header: 'Authorization',
  word: 'AWS4-HMAC-SHA256',
  made: 'AKIAIOSFODNN7EXAMPLE',
  client: connect,
  strict: ['a key that is refused'],
  flows: {
    'an address to send to': (c, s) => ({
      make: async () => {
        s.id = await address(c, { Street2: 'Dock 4' });
      },
      read: async () => {
        const { Address: read } = await c.describeAddress({ AddressId: s.id });
        assert.partialDeepStrictEqual(read, { ...home, Street2: 'Dock 4', AddressId: s.id });
      },
      'is in the list': async () =>
        once(
          (await addresses(c)).map(({ AddressId }) => id(AddressId)),
          [s.id],
          'addresses',
        ),
      'a second is another': async () => {
        s.other = await address(c, { City: 'Tacoma', PostalCode: '98402' });
        assert.notEqual(s.other, s.id);
      },
      'both are read as they are': async () => {
        assert.equal((await c.describeAddress({ AddressId: s.other })).Address?.City, 'Tacoma');
        assert.equal((await c.describeAddress({ AddressId: s.id })).Address?.City, 'Seattle');
      },
    }),

    'addresses through all pages': (c, s) => ({
      'make five': async () => {
        for (let n = 1; n <= 5; n += 1) s[`a${n}`] = await address(c, { Street1: `${n} Harbour Road` });
      },
      'two a page': async () => {
        const page = await c.describeAddresses({ MaxResults: 2 });
        assert.equal(given(page.Addresses, 'Addresses').length, 2);
        s.next = given(page.NextToken, 'NextToken');
      },
      'the next page is another': async () => {
        const page = await c.describeAddresses({ MaxResults: 2, NextToken: s.next });
        const first = await c.describeAddresses({ MaxResults: 2 });
        const seen = given(first.Addresses, 'Addresses').map(({ AddressId }) => id(AddressId));
        for (const { AddressId } of given(page.Addresses, 'Addresses')) assert.ok(!seen.includes(id(AddressId)), 'it repeats');
      },
      'all of them, each once': async () => {
        const found = (await addresses(c, 2)).map(({ AddressId }) => id(AddressId));
        once(found, [s.a1, s.a2, s.a3, s.a4, s.a5], 'addresses');
      },
      'a token that is none': () => no(c.describeAddresses({ MaxResults: 2, NextToken: 'no-such-token' })),
    }),

    'an import job, from the order to its end': (c, s) => ({
      'an address for it': async () => {
        s.address = await address(c);
      },
      order: async () => {
        s.id = await job(c, s, 'Pictures of the harbour');
      },
      read: async () => {
        const read = await readJob(c, s.id);
        assert.deepEqual(
          [read.JobId, read.JobType, read.Description, read.AddressId, read.SnowballType, read.SnowballCapacityPreference],
          [s.id, 'IMPORT', 'Pictures of the harbour', s.address, 'EDGE', 'T80'],
        );
        assert.deepEqual([read.KmsKeyARN, read.RoleARN], [KmsKeyARN, RoleARN]);
        assert.partialDeepStrictEqual(read.Resources, Resources);
      },
      'how it is sent': async () => assert.equal((await readJob(c, s.id)).ShippingDetails?.ShippingOption, 'SECOND_DAY'),
      'is in the list': async () => {
        const found = await jobs(c);
        once(
          found.map(({ JobId }) => id(JobId)),
          [s.id],
          'jobs',
        );
        assert.equal(found.find(({ JobId }) => JobId === s.id)?.Description, 'Pictures of the harbour');
      },
      cancel: () => c.cancelJob({ JobId: s.id }),
      'it is cancelled': async () => assert.equal((await readJob(c, s.id)).JobState, 'Cancelled'),
      'in the list too': async () => assert.equal((await jobs(c)).find(({ JobId }) => JobId === s.id)?.JobState, 'Cancelled'),
    }),

    'a job is new': (c, s) => ({
      order: async () => {
        s.id = await job(c, s, 'A new one');
      },
      'its state': async () => assert.equal((await readJob(c, s.id)).JobState, 'New'),
      'since when': async () => assert.ok((await readJob(c, s.id)).CreationDate instanceof Date, 'no CreationDate'),
      'no manifest before it is with the customer': () => no(c.getJobManifest({ JobId: s.id })),
      'nor a code to unlock': () => no(c.getJobUnlockCode({ JobId: s.id })),
    }),

    'a job is changed while it is new': (c, s) => ({
      order: async () => {
        s.id = await job(c, s, 'Before');
      },
      'another description': async () => {
        await c.updateJob({ JobId: s.id, Description: 'After' });
        assert.equal((await readJob(c, s.id)).Description, 'After');
      },
      'the rest is as it was': async () => {
        const read = await readJob(c, s.id);
        assert.deepEqual([read.JobType, read.AddressId, read.RoleARN], ['IMPORT', s.address, RoleARN]);
      },
      'another address': async () => {
        s.other = await address(c, { City: 'Tacoma' });
        await c.updateJob({ JobId: s.id, AddressId: s.other });
        assert.equal((await readJob(c, s.id)).AddressId, s.other);
      },
      'a faster way, and who is told': async () =>
        c.updateJob({
          JobId: s.id,
          ShippingOption: 'NEXT_DAY',
          Notification: { SnsTopicARN, JobStatesToNotify: ['WithCustomer', 'Complete'], NotifyAll: false },
        }),
      'are read': async () => {
        const read = await readJob(c, s.id);
        assert.equal(read.ShippingDetails?.ShippingOption, 'NEXT_DAY');
        assert.deepEqual(
          [read.Notification?.SnsTopicARN, read.Notification?.JobStatesToNotify],
          [SnsTopicARN, ['WithCustomer', 'Complete']],
        );
      },
      'not to an address that is not there': () => no(c.updateJob({ JobId: s.id, AddressId: noAddress })),
      'it stays at the other': async () => assert.equal((await readJob(c, s.id)).AddressId, s.other),
    }),

    'what is cancelled cannot be changed': (c, s) => ({
      order: async () => {
        s.id = await job(c, s, 'Not for long');
      },
      cancel: () => c.cancelJob({ JobId: s.id }),
      'no other description': () => no(c.updateJob({ JobId: s.id, Description: 'Too late' })),
      'it is as it was': async () => {
        const read = await readJob(c, s.id);
        assert.deepEqual([read.JobState, read.Description], ['Cancelled', 'Not for long']);
      },
    }),

    'jobs through all pages': (c, s) => ({
      'order five': async () => {
        for (let n = 1; n <= 5; n += 1) s[`j${n}`] = await job(c, s, `Part ${n}`);
      },
      'two a page': async () => {
        const page = await c.listJobs({ MaxResults: 2 });
        assert.equal(given(page.JobListEntries, 'JobListEntries').length, 2);
        assert.equal(typeof page.NextToken, 'string');
      },
      'all of them, each once': async () => {
        const found = (await jobs(c, 2)).map(({ JobId }) => id(JobId));
        once(found, [s.j1, s.j2, s.j3, s.j4, s.j5], 'jobs');
        assert.equal(new Set(found).size, found.length);
      },
      'each is what was ordered': async () => {
        const found = await jobs(c, 3);
        for (let n = 1; n <= 5; n += 1) {
          const one = found.find(({ JobId }) => JobId === s[`j${n}`]);
          assert.deepEqual([one?.Description, one?.JobType, one?.SnowballType], [`Part ${n}`, 'IMPORT', 'EDGE']);
        }
      },
      'a token that is none': () => no(c.listJobs({ NextToken: 'no-such-token' })),
    }),

    'jobs of other kinds': (c, s) => ({
      'an export of a range': async () => {
        s.export = await job(c, s, 'Out again', {
          JobType: 'EXPORT',
          Resources: {
            S3Resources: [{ BucketArn: 'arn:aws:s3:::pictures-of-the-harbour', KeyRange: { BeginMarker: 'a', EndMarker: 'm' } }],
          },
        });
        const range = (await readJob(c, s.export)).Resources?.S3Resources?.[0]?.KeyRange;
        assert.deepEqual([range?.BeginMarker, range?.EndMarker], ['a', 'm']);
      },
      'a device for use on the spot': async () => {
        s.local = await job(c, s, 'On the quay', { JobType: 'LOCAL_USE', RemoteManagement: 'INSTALLED_AUTOSTART' });
        const read = await readJob(c, s.local);
        assert.deepEqual([read.JobType, read.RemoteManagement], ['LOCAL_USE', 'INSTALLED_AUTOSTART']);
      },
      'a small one, with wireless': async () => {
        s.cone = await job(c, s, 'In a bag', {
          SnowballType: 'SNC1_SSD',
          SnowballCapacityPreference: 'T14',
          DeviceConfiguration: { SnowconeDeviceConfiguration: { WirelessConnection: { IsWifiEnabled: true } } },
        });
        const read = await readJob(c, s.cone);
        const wireless = read.DeviceConfiguration?.SnowconeDeviceConfiguration?.WirelessConnection;
        assert.deepEqual([read.SnowballType, wireless?.IsWifiEnabled], ['SNC1_SSD', true]);
      },
      'with a service on the device': async () => {
        s.nfs = await job(c, s, 'With files', {
          OnDeviceServiceConfiguration: { NFSOnDeviceService: { StorageLimit: 42, StorageUnit: 'TB' } },
        });
        const nfs = (await readJob(c, s.nfs)).OnDeviceServiceConfiguration?.NFSOnDeviceService;
        assert.deepEqual([nfs?.StorageLimit, nfs?.StorageUnit], [42, 'TB']);
      },
      'all are listed, as what they are': async () => {
        const found = await jobs(c);
        const kinds = [s.export, s.local, s.cone, s.nfs].map((one) => found.find(({ JobId }) => JobId === one)?.JobType);
        assert.deepEqual(kinds, ['EXPORT', 'LOCAL_USE', 'IMPORT', 'IMPORT']);
      },
    }),

    'a cluster, from the order to its end': (c, s) => ({
      order: async () => {
        s.id = await cluster(c, s, 'Data of the environment');
      },
      read: async () => {
        const read = await readCluster(c, s.id);
        assert.deepEqual(
          [read.ClusterId, read.Description, read.JobType, read.SnowballType, read.AddressId, read.ShippingOption],
          [s.id, 'Data of the environment', 'LOCAL_USE', 'EDGE', s.address, 'SECOND_DAY'],
        );
        assert.deepEqual([read.KmsKeyARN, read.RoleARN], [KmsKeyARN, OtherRoleARN]);
      },
      'it waits for its nodes': async () => assert.equal((await readCluster(c, s.id)).ClusterState, 'AwaitingQuorum'),
      'is in the list': async () =>
        once(
          (await clusters(c)).map(({ ClusterId }) => id(ClusterId)),
          [s.id],
          'clusters',
        ),
      'called something else': async () => {
        await c.updateCluster({ ClusterId: s.id, Description: 'Data of the sea', ShippingOption: 'NEXT_DAY' });
        const read = await readCluster(c, s.id);
        assert.deepEqual([read.Description, read.ShippingOption, read.AddressId], ['Data of the sea', 'NEXT_DAY', s.address]);
      },
      cancel: () => c.cancelCluster({ ClusterId: s.id }),
      'it is cancelled': async () => assert.equal((await readCluster(c, s.id)).ClusterState, 'Cancelled'),
    }),

    'nodes of two clusters': (c, s) => ({
      'two clusters': async () => {
        s.one = await cluster(c, s, 'One');
        s.two = await cluster(c, s, 'Two');
        assert.notEqual(s.one, s.two);
      },
      'three nodes for the one, one for the other': async () => {
        for (const name of ['n1', 'n2', 'n3']) s[name] = given((await c.createJob({ ClusterId: s.one })).JobId, 'JobId');
        s.lone = given((await c.createJob({ ClusterId: s.two })).JobId, 'JobId');
      },
      'a node says whose it is': async () => assert.equal((await readJob(c, s.n1)).ClusterId, s.one),
      'each is in its own': async () => {
        const here = (await nodes(c, s.one)).map(({ JobId }) => id(JobId));
        once(here, [s.n1, s.n2, s.n3], 'nodes');
        assert.ok(!here.includes(s.lone), 'the other is there too');
        once(
          (await nodes(c, s.two)).map(({ JobId }) => id(JobId)),
          [s.lone],
          'nodes',
        );
      },
      'in pages of two as well': async () => {
        const page = await c.listClusterJobs({ ClusterId: s.one, MaxResults: 2 });
        assert.equal(given(page.JobListEntries, 'JobListEntries').length, 2);
        once(
          (await nodes(c, s.one, 2)).map(({ JobId }) => id(JobId)),
          [s.n1, s.n2, s.n3],
          'nodes',
        );
      },
      'a node has what its cluster has': async () => {
        const read = await readJob(c, s.n2);
        assert.deepEqual([read.JobType, read.AddressId], ['LOCAL_USE', s.address]);
      },
      'no node for a cluster that is not there': () => no(c.createJob({ ClusterId: noCluster })),
    }),

    'clusters through all pages': (c, s) => ({
      'order three': async () => {
        for (const name of ['k1', 'k2', 'k3']) s[name] = await cluster(c, s, `Cluster ${name}`);
      },
      'one a page': async () => {
        const page = await c.listClusters({ MaxResults: 1 });
        assert.equal(given(page.ClusterListEntries, 'ClusterListEntries').length, 1);
        assert.equal(typeof page.NextToken, 'string');
      },
      'all of them, each once': async () =>
        once(
          (await clusters(c, 1)).map(({ ClusterId }) => id(ClusterId)),
          [s.k1, s.k2, s.k3],
          'clusters',
        ),
      'each is what was ordered': async () => {
        const found = await clusters(c);
        for (const name of ['k1', 'k2', 'k3'])
          assert.equal(found.find(({ ClusterId }) => ClusterId === s[name])?.Description, `Cluster ${name}`);
      },
    }),

    'a device for a year': (c, s) => ({
      order: async () => {
        const made = await c.createLongTermPricing({
          LongTermPricingType: 'OneYear',
          SnowballType: 'EDGE_C',
          IsLongTermPricingAutoRenew: true,
        });
        s.id = given(made.LongTermPricingId, 'LongTermPricingId');
      },
      'is in the list': async () => {
        const one = (await pricings(c)).find(({ LongTermPricingId }) => LongTermPricingId === s.id);
        assert.deepEqual(
          [one?.LongTermPricingType, one?.SnowballType, one?.IsLongTermPricingAutoRenew],
          ['OneYear', 'EDGE_C', true],
        );
      },
      'not once more': () => c.updateLongTermPricing({ LongTermPricingId: s.id, IsLongTermPricingAutoRenew: false }),
      'the list says so': async () => {
        const one = (await pricings(c)).find(({ LongTermPricingId }) => LongTermPricingId === s.id);
        assert.deepEqual([one?.LongTermPricingType, one?.IsLongTermPricingAutoRenew], ['OneYear', false]);
      },
      'a second, for three': async () => {
        const made = await c.createLongTermPricing({ LongTermPricingType: 'ThreeYear', SnowballType: 'EDGE_S' });
        s.second = given(made.LongTermPricingId, 'LongTermPricingId');
      },
      'both, one a page': async () =>
        once(
          (await pricings(c, 1)).map(({ LongTermPricingId }) => id(LongTermPricingId)),
          [s.id, s.second],
          'pricings',
        ),
    }),

    'what there is to choose from': (c) => ({
      'how many devices one may have': async () => {
        const { SnowballLimit, SnowballsInUse } = await c.getSnowballUsage({});
        assert.deepEqual([typeof SnowballLimit, typeof SnowballsInUse], ['number', 'number']);
      },
      'images for devices': async () => {
        const images = await gather(paginateListCompatibleImages({ client: c, pageSize: 100 }, {}), (page) =>
          given(page.CompatibleImages, 'CompatibleImages'),
        );
        for (const { AmiId } of images) assert.equal(typeof AmiId, 'string');
      },
      'versions of a service': async () => {
        const { ServiceName, ServiceVersions } = await c.listServiceVersions({ ServiceName: 'KUBERNETES' });
        assert.equal(ServiceName, 'KUBERNETES');
        for (const { Version } of given(ServiceVersions, 'ServiceVersions')) assert.equal(typeof Version, 'string');
      },
      'where devices are picked up': async () => {
        const { Addresses } = await c.listPickupLocations({ MaxResults: 5 });
        assert.ok(given(Addresses, 'Addresses').length <= 5, 'more than five');
      },
    }),

    'what is not there': (c) => ({
      'no address': () => no(c.describeAddress({ AddressId: noAddress })),
      'no job': () => no(c.describeJob({ JobId: noJob })),
      'nothing to cancel': () => no(c.cancelJob({ JobId: noJob })),
      'no cluster': () => no(c.describeCluster({ ClusterId: noCluster })),
      'no nodes of it': () => no(c.listClusterJobs({ ClusterId: noCluster })),
      'no label to send it back': () => no(c.createReturnShippingLabel({ JobId: noJob, ShippingOption: 'STANDARD' })),
      'nothing that arrives': () => no(c.updateJobShipmentState({ JobId: noJob, ShipmentState: 'RECEIVED' })),
      'no pricing': () => no(c.updateLongTermPricing({ LongTermPricingId: noPricing, IsLongTermPricingAutoRenew: true })),
    }),

    'what cannot be': (c, s) => ({
      'no address without one': () => no(c.createAddress({ Address: undefined })),
      'an id of another form': () => no(c.describeJob({ JobId: 'not-an-id' })),
      'a kind of device there is not': async () => {
        s.address = await address(c);
        await no(c.createCluster({ ...clusterOf(s.address, 'Odd'), SnowballType: 'MELTED' as never }));
      },
      'a job to nowhere': () => no(c.createJob(importing(noAddress, 'To nowhere'))),
      'more than a hundred a page': () => no(c.listJobs({ MaxResults: 101 })),
      'none of it is listed': async () => {
        assert.ok(!(await clusters(c)).some(({ Description }) => Description === 'Odd'), 'the cluster is');
        assert.ok(!(await jobs(c)).some(({ Description }) => Description === 'To nowhere'), 'the job is');
      },
    }),

    'a key that is refused': (_c, _s, another) => ({
      'it lists nothing': () => refused(another('AKIDNOTTHERIGHTONE00').listJobs({}), 400, 401, 403),
      'nor reads anything': () => refused(another('AKIDNOTTHERIGHTONE00').describeJob({ JobId: noJob }), 400, 401, 403),
      'nor makes anything': () => refused(another('AKIDNOTTHERIGHTONE00').createAddress({ Address: home }), 400, 401, 403),
    }),
  },
};
