import assert from 'node:assert/strict';
import {
  type ApplicationConfiguration,
  type ApplicationDetail,
  type CreateApplicationRequest,
  type Input,
  KinesisAnalyticsV2,
  type Output,
  type PropertyGroup,
  paginateListApplicationSnapshots,
  paginateListApplications,
  paginateListApplicationVersions,
  type RuntimeEnvironment,
  type SourceSchema,
  type Tag,
} from '@aws-sdk/client-kinesis-analytics-v2';
import { gather, given, once, type Place, refused, type Vendor } from '../kit.ts';

/**
 * The token is an access key's id; the client signs with it (version 4). What the client throws keeps its status below
 * `$metadata`: it is put beside the message too.
 */
const connect = (place: Place, token: string): KinesisAnalyticsV2 => {
  const accessKeyId = /Credential=([^/,\s]+)/.exec(token)?.[1] ?? token;
  const client = new KinesisAnalyticsV2({
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

/** The guide has a 400 for each of the service's own exceptions; the description has numbers of its own for each, by operation. */
const denied = (call: Promise<unknown>, ...described: readonly number[]): Promise<unknown> => refused(call, 400, ...described);
/** The guide's common errors have 400 and 403 for a key that is not known; the description has nothing about it. */
const stranger = (call: Promise<unknown>): Promise<unknown> => refused(call, 400, 401, 403);

const without = (rows: readonly string[], one: string): void => assert.ok(!rows.includes(one), `the list still has ${one}`);
const oneOf = (value: string | undefined, ...all: readonly string[]): void =>
  assert.ok(all.includes(value ?? ''), `${value} is none of ${all.join(', ')}`);
/** What is on its way to another status is asked for until it has it, for a few seconds. */
const settled = async (status: () => Promise<string | undefined>): Promise<string | undefined> => {
  let now = await status();
  for (
    let turn = 0;
    turn < 10 && /^(?:START|STOPP|UPDAT|DELET|CREAT|FORCE_STOPP|AUTOSCAL|ROLLING_BACK)/.test(now ?? '');
    turn += 1
  ) {
    await new Promise((done) => setTimeout(done, 300));
    now = await status();
  }
  return now;
};

/** Roles, buckets, streams, functions, subnets and databases belong to other services: these are there before. */
const ServiceExecutionRole = 'arn:aws:iam::123456789012:role/service-role/kinesis-analytics-MyApplication';
const BucketARN = 'arn:aws:s3:::ka-app-code';
const stream = (name: string): string => `arn:aws:kinesis:us-east-1:123456789012:stream/${name}`;
const firehose = (name: string): string => `arn:aws:firehose:us-east-1:123456789012:deliverystream/${name}`;
const lambda = (name: string): string => `arn:aws:lambda:us-east-1:123456789012:function:${name}`;
const logs = (name: string): string =>
  `arn:aws:logs:us-east-1:123456789012:log-group:/aws/kinesis-analytics/app:log-stream:${name}`;

const jar = (FileKey = 'aws-kinesis-analytics-java-apps-1.0.jar'): ApplicationConfiguration => ({
  ApplicationCodeConfiguration: {
    CodeContentType: 'ZIPFILE',
    CodeContent: { S3ContentLocation: { BucketARN, FileKey } },
  },
});
const properties = (region: string): PropertyGroup[] => [
  {
    PropertyGroupId: 'ProducerConfigProperties',
    PropertyMap: { 'flink.stream.initpos': 'LATEST', 'aws.region': region, AggregationEnabled: 'false' },
  },
  { PropertyGroupId: 'ConsumerConfigProperties', PropertyMap: { 'aws.region': region } },
];
/** A Flink application. */
const flink = async (
  k: KinesisAnalyticsV2,
  ApplicationName: string,
  more: Partial<CreateApplicationRequest> = {},
): Promise<ApplicationDetail> => {
  const made = await k.createApplication({
    ApplicationName,
    RuntimeEnvironment: 'FLINK-1_15',
    ServiceExecutionRole,
    ApplicationConfiguration: jar(),
    ...more,
  });
  return given(made.ApplicationDetail, 'ApplicationDetail');
};
const code = `CREATE OR REPLACE STREAM "DESTINATION_SQL_STREAM" (ticker VARCHAR(4), price REAL);
CREATE OR REPLACE PUMP "STREAM_PUMP" AS INSERT INTO "DESTINATION_SQL_STREAM"
SELECT STREAM "ticker", "price" FROM "SOURCE_SQL_STREAM_001";`;
/** An application of SQL. */
const sql = async (k: KinesisAnalyticsV2, ApplicationName: string): Promise<ApplicationDetail> => {
  const made = await k.createApplication({
    ApplicationName,
    RuntimeEnvironment: 'SQL-1_0',
    ServiceExecutionRole,
    ApplicationConfiguration: {
      ApplicationCodeConfiguration: { CodeContentType: 'PLAINTEXT', CodeContent: { TextContent: code } },
    },
  });
  return given(made.ApplicationDetail, 'ApplicationDetail');
};
const read = async (k: KinesisAnalyticsV2, ApplicationName: string): Promise<ApplicationDetail> =>
  given((await k.describeApplication({ ApplicationName })).ApplicationDetail, 'ApplicationDetail');
const statusOf = async (k: KinesisAnalyticsV2, name: string): Promise<string | undefined> =>
  (await read(k, name)).ApplicationStatus;
const applications = async (k: KinesisAnalyticsV2, pageSize = 50): Promise<string[]> => {
  const rows = await gather(paginateListApplications({ client: k, pageSize }, {}), (page) => page.ApplicationSummaries ?? []);
  return rows.map((row) => given(row.ApplicationName, 'ApplicationName'));
};
const start = (k: KinesisAnalyticsV2, ApplicationName: string) =>
  k.startApplication({
    ApplicationName,
    RunConfiguration: {
      FlinkRunConfiguration: { AllowNonRestoredState: false },
      ApplicationRestoreConfiguration: { ApplicationRestoreType: 'SKIP_RESTORE_FROM_SNAPSHOT' },
    },
  });
const tags = async (k: KinesisAnalyticsV2, ResourceARN: string): Promise<string[]> =>
  ((await k.listTagsForResource({ ResourceARN })).Tags ?? []).map(({ Key, Value }: Tag) => `${Key}=${Value ?? ''}`).toSorted();
const ticks: SourceSchema = {
  RecordFormat: { RecordFormatType: 'JSON', MappingParameters: { JSONMappingParameters: { RecordRowPath: '$' } } },
  RecordEncoding: 'UTF-8',
  RecordColumns: [
    { Name: 'ticker', Mapping: '$.TICKER', SqlType: 'VARCHAR(8)' },
    { Name: 'price', Mapping: '$.PRICE', SqlType: 'DOUBLE' },
  ],
};
const source = (Count = 1): Input => ({
  NamePrefix: 'SOURCE_SQL_STREAM',
  KinesisStreamsInput: { ResourceARN: stream('ticks') },
  InputParallelism: { Count },
  InputSchema: ticks,
});
const target = (Name: string, name: string): Output => ({
  Name,
  KinesisStreamsOutput: { ResourceARN: stream(name) },
  DestinationSchema: { RecordFormatType: 'JSON' },
});
const companies: SourceSchema = {
  RecordFormat: {
    RecordFormatType: 'CSV',
    MappingParameters: { CSVMappingParameters: { RecordRowDelimiter: '\n', RecordColumnDelimiter: ',' } },
  },
  RecordEncoding: 'UTF-8',
  RecordColumns: [
    { Name: 'Ticker', SqlType: 'VARCHAR(64)' },
    { Name: 'Company', SqlType: 'VARCHAR(64)' },
  ],
};
const parts = async (k: KinesisAnalyticsV2, name: string) =>
  (await read(k, name)).ApplicationConfigurationDescription?.SqlApplicationConfigurationDescription ?? {};

/** Guide: docs.aws.amazon.com/managed-flink/latest (applications, snapshots, VPC, Studio), kinesisanalytics/latest/dev (SQL) and the V2 API reference. */
export const vendor: Vendor<KinesisAnalyticsV2> = {
  document: 'kinesisanalyticsv2/kinesisanalyticsv2.json',
  header: 'Authorization',
  word: 'AWS4-HMAC-SHA256',
  made: 'AKIAIOSFODNN7EXAMPLE',
  client: connect,
  strict: ['a credential that is refused'],
  flows: {
    'an application, from the first to the last day': (k, s) => ({
      made: async () => {
        const made = await flink(k, 'life-app', { ApplicationDescription: 'reads, and writes again' });
        assert.deepEqual(
          [made.ApplicationName, made.RuntimeEnvironment, made.ApplicationStatus, made.ApplicationVersionId],
          ['life-app', 'FLINK-1_15', 'READY', 1],
        );
        s.arn = given(made.ApplicationARN, 'ApplicationARN');
      },
      'its ARN ends with its name': () => {
        assert.match(s.arn ?? '', /^arn:aws:kinesisanalytics:us-east-1:\d{12}:application\/life-app$/);
        return Promise.resolve();
      },
      read: async () => {
        const app = await read(k, 'life-app');
        assert.deepEqual(
          [app.ApplicationARN, app.ApplicationDescription, app.ServiceExecutionRole, app.ApplicationVersionId],
          [s.arn, 'reads, and writes again', ServiceExecutionRole, 1],
        );
        assert.ok(app.CreateTimestamp instanceof Date, 'it was made at no time');
      },
      'its name is taken': () => denied(flink(k, 'life-app'), 481),
      'is in the list': async () => once(await applications(k), ['life-app'], 'applications'),
      'not deleted as if it had been made at another time': async () => {
        const CreateTimestamp = new Date('2020-02-02T02:02:02Z');
        await denied(k.deleteApplication({ ApplicationName: 'life-app', CreateTimestamp }), 480, 481, 483, 484);
        assert.equal(await statusOf(k, 'life-app'), 'READY');
      },
      deleted: async () => {
        const { CreateTimestamp } = await read(k, 'life-app');
        await k.deleteApplication({ ApplicationName: 'life-app', CreateTimestamp });
      },
      'gone, after a while': () =>
        denied(
          settled(() => statusOf(k, 'life-app')).then(() => read(k, 'life-app')),
          480,
        ),
      'no longer in the list': async () => without(await applications(k), 'life-app'),
    }),

    'applications through all pages': (k, s) => ({
      'five are made, in no order': async () => {
        for (const letter of ['c', 'a', 'e', 'b', 'd']) {
          s[letter] = given((await flink(k, `page-${letter}`)).ApplicationARN, 'ApplicationARN');
        }
      },
      'no more on a page than asked for': async () => {
        const page = await k.listApplications({ Limit: 2 });
        assert.equal(given(page.ApplicationSummaries, 'ApplicationSummaries').length, 2);
        given(page.NextToken, 'NextToken');
      },
      'all of them, each once': async () => {
        const rows = await applications(k, 2);
        once(rows, [...new Set(rows), 'page-a', 'page-b', 'page-c', 'page-d', 'page-e'], 'applications');
      },
      'each with what it is': async () => {
        const rows = await gather(paginateListApplications({ client: k }, {}), (page) => page.ApplicationSummaries ?? []);
        const row = rows.find(({ ApplicationName }) => ApplicationName === 'page-c');
        assert.deepEqual(
          [row?.ApplicationARN, row?.ApplicationStatus, row?.ApplicationVersionId, row?.RuntimeEnvironment],
          [s.c, 'READY', 1, 'FLINK-1_15'],
        );
      },
      'one less': async () => {
        const { CreateTimestamp } = await read(k, 'page-b');
        await k.deleteApplication({ ApplicationName: 'page-b', CreateTimestamp });
        await denied(
          settled(() => statusOf(k, 'page-b')).then(() => read(k, 'page-b')),
          480,
        );
        const rows = await applications(k, 2);
        once(rows, ['page-a', 'page-c', 'page-d', 'page-e'], 'applications');
        without(rows, 'page-b');
      },
    }),

    'how a Flink application is set up': (k) => ({
      'made with all of it': async () => {
        const made = await flink(k, 'setup-app', {
          ApplicationConfiguration: {
            ...jar(),
            EnvironmentProperties: { PropertyGroups: properties('us-east-1') },
            FlinkApplicationConfiguration: {
              CheckpointConfiguration: {
                ConfigurationType: 'CUSTOM',
                CheckpointingEnabled: true,
                CheckpointInterval: 30000,
                MinPauseBetweenCheckpoints: 2500,
              },
              MonitoringConfiguration: { ConfigurationType: 'CUSTOM', MetricsLevel: 'TASK', LogLevel: 'WARN' },
              ParallelismConfiguration: {
                ConfigurationType: 'CUSTOM',
                Parallelism: 4,
                ParallelismPerKPU: 2,
                AutoScalingEnabled: false,
              },
            },
            ApplicationSnapshotConfiguration: { SnapshotsEnabled: false },
          },
        });
        assert.equal(made.ApplicationVersionId, 1);
      },
      'its code is where it was put': async () => {
        const { ApplicationConfigurationDescription: all } = await read(k, 'setup-app');
        assert.equal(all?.ApplicationCodeConfigurationDescription?.CodeContentType, 'ZIPFILE');
        assert.partialDeepStrictEqual(all?.ApplicationCodeConfigurationDescription?.CodeContentDescription, {
          S3ApplicationCodeLocationDescription: { BucketARN, FileKey: 'aws-kinesis-analytics-java-apps-1.0.jar' },
        });
      },
      'its properties': async () => {
        const { ApplicationConfigurationDescription: all } = await read(k, 'setup-app');
        const groups = given(all?.EnvironmentPropertyDescriptions?.PropertyGroupDescriptions, 'PropertyGroupDescriptions');
        assert.equal(groups.length, 2);
        for (const group of properties('us-east-1')) {
          assert.deepEqual(
            groups.find(({ PropertyGroupId }) => PropertyGroupId === group.PropertyGroupId)?.PropertyMap,
            group.PropertyMap,
          );
        }
      },
      'its checkpoints, what it tells, how much of it runs': async () => {
        const { ApplicationConfigurationDescription: all } = await read(k, 'setup-app');
        assert.partialDeepStrictEqual(all?.FlinkApplicationConfigurationDescription, {
          CheckpointConfigurationDescription: {
            ConfigurationType: 'CUSTOM',
            CheckpointingEnabled: true,
            CheckpointInterval: 30000,
            MinPauseBetweenCheckpoints: 2500,
          },
          MonitoringConfigurationDescription: { ConfigurationType: 'CUSTOM', MetricsLevel: 'TASK', LogLevel: 'WARN' },
          ParallelismConfigurationDescription: {
            ConfigurationType: 'CUSTOM',
            Parallelism: 4,
            ParallelismPerKPU: 2,
            AutoScalingEnabled: false,
          },
        });
      },
      'it takes no snapshots': async () => {
        const { ApplicationConfigurationDescription: all } = await read(k, 'setup-app');
        assert.equal(all?.ApplicationSnapshotConfigurationDescription?.SnapshotsEnabled, false);
      },
      'one that is told nothing makes a checkpoint every minute': async () => {
        const FlinkApplicationConfiguration = { CheckpointConfiguration: { ConfigurationType: 'DEFAULT' as const } };
        await flink(k, 'plain-app', { ApplicationConfiguration: { ...jar(), FlinkApplicationConfiguration } });
        const { ApplicationConfigurationDescription: all } = await read(k, 'plain-app');
        assert.partialDeepStrictEqual(all?.FlinkApplicationConfigurationDescription?.CheckpointConfigurationDescription, {
          ConfigurationType: 'DEFAULT',
          CheckpointingEnabled: true,
          CheckpointInterval: 60000,
          MinPauseBetweenCheckpoints: 5000,
        });
      },
    }),

    'an application is changed, and its versions': (k) => ({
      'made with properties': async () => {
        const EnvironmentProperties = { PropertyGroups: properties('us-east-1') };
        await flink(k, 'version-app', { ApplicationConfiguration: { ...jar('app-1.0.jar'), EnvironmentProperties } });
      },
      'other code and other properties are version two': async () => {
        const made = await k.updateApplication({
          ApplicationName: 'version-app',
          CurrentApplicationVersionId: 1,
          ApplicationConfigurationUpdate: {
            ApplicationCodeConfigurationUpdate: {
              CodeContentUpdate: { S3ContentLocationUpdate: { FileKeyUpdate: 'app-2.0.jar' } },
            },
            EnvironmentPropertyUpdates: { PropertyGroups: properties('eu-west-1') },
          },
        });
        assert.deepEqual(
          [made.ApplicationDetail?.ApplicationName, made.ApplicationDetail?.ApplicationVersionId],
          ['version-app', 2],
        );
      },
      'it is read so': async () => {
        await settled(() => statusOf(k, 'version-app'));
        const { ApplicationVersionId, ApplicationConfigurationDescription: all } = await read(k, 'version-app');
        const where = all?.ApplicationCodeConfigurationDescription?.CodeContentDescription?.S3ApplicationCodeLocationDescription;
        assert.deepEqual([ApplicationVersionId, where?.BucketARN, where?.FileKey], [2, BucketARN, 'app-2.0.jar']);
        const groups = all?.EnvironmentPropertyDescriptions?.PropertyGroupDescriptions ?? [];
        const consumer = groups.find(({ PropertyGroupId }) => PropertyGroupId === 'ConsumerConfigProperties');
        assert.deepEqual([groups.length, consumer?.PropertyMap], [2, { 'aws.region': 'eu-west-1' }]);
      },
      'not changed by who knows only the first version': async () => {
        const ServiceExecutionRoleUpdate = `${ServiceExecutionRole}-late`;
        await denied(
          k.updateApplication({ ApplicationName: 'version-app', CurrentApplicationVersionId: 1, ServiceExecutionRoleUpdate }),
          484,
        );
        const app = await read(k, 'version-app');
        assert.deepEqual([app.ApplicationVersionId, app.ServiceExecutionRole], [2, ServiceExecutionRole]);
      },
      'nor by who knows no version': () =>
        denied(
          k.updateApplication({ ApplicationName: 'version-app', ServiceExecutionRoleUpdate: `${ServiceExecutionRole}-none` }),
          483,
          484,
          485,
        ),
      'but by who has its token, once': async () => {
        const ConditionalToken = given((await read(k, 'version-app')).ConditionalToken, 'ConditionalToken');
        const ServiceExecutionRoleUpdate = `${ServiceExecutionRole}-2`;
        await k.updateApplication({ ApplicationName: 'version-app', ConditionalToken, ServiceExecutionRoleUpdate });
        await settled(() => statusOf(k, 'version-app'));
        const app = await read(k, 'version-app');
        assert.deepEqual([app.ApplicationVersionId, app.ServiceExecutionRole], [3, ServiceExecutionRoleUpdate]);
        assert.notEqual(app.ConditionalToken, ConditionalToken);
        await denied(k.updateApplication({ ApplicationName: 'version-app', ConditionalToken, ServiceExecutionRoleUpdate }), 484);
      },
      'all versions are listed': async () => {
        const walk = paginateListApplicationVersions({ client: k, pageSize: 1 }, { ApplicationName: 'version-app' });
        const rows = await gather(walk, (page) => page.ApplicationVersionSummaries ?? []);
        once(
          rows.map(({ ApplicationVersionId }) => `${ApplicationVersionId}`),
          ['1', '2'],
          'versions',
        );
      },
      'the first can still be described': async () => {
        const { ApplicationVersionDetail: first } = await k.describeApplicationVersion({
          ApplicationName: 'version-app',
          ApplicationVersionId: 1,
        });
        const described = first?.ApplicationConfigurationDescription?.ApplicationCodeConfigurationDescription;
        assert.deepEqual(
          [first?.ApplicationVersionId, described?.CodeContentDescription?.S3ApplicationCodeLocationDescription?.FileKey],
          [1, 'app-1.0.jar'],
        );
      },
      'what was not yet is not': async () => {
        await denied(k.describeApplicationVersion({ ApplicationName: 'version-app', ApplicationVersionId: 99 }), 480, 481);
        await denied(
          k.rollbackApplication({ ApplicationName: 'version-app', CurrentApplicationVersionId: 3 }),
          481,
          482,
          483,
          485,
        );
      },
    }),

    'an application is started and stopped': (k) => ({
      'it is ready, and not to be stopped': async () => {
        await flink(k, 'running-app');
        await denied(k.stopApplication({ ApplicationName: 'running-app' }), 481, 482, 483, 484);
        assert.equal(await statusOf(k, 'running-app'), 'READY');
      },
      'not started from a snapshot that is not there': async () => {
        const ApplicationRestoreConfiguration = {
          ApplicationRestoreType: 'RESTORE_FROM_CUSTOM_SNAPSHOT' as const,
          SnapshotName: 'no-such-snapshot',
        };
        await denied(
          k.startApplication({ ApplicationName: 'running-app', RunConfiguration: { ApplicationRestoreConfiguration } }),
          480,
          482,
          483,
          484,
        );
      },
      started: async () => {
        await start(k, 'running-app');
        oneOf(await statusOf(k, 'running-app'), 'STARTING', 'RUNNING');
      },
      'not twice': () => denied(start(k, 'running-app'), 481, 484),
      'it runs, without what it had before': async () => {
        assert.equal(await settled(() => statusOf(k, 'running-app')), 'RUNNING');
        const { ApplicationConfigurationDescription: all } = await read(k, 'running-app');
        const restore = all?.RunConfigurationDescription?.ApplicationRestoreConfigurationDescription;
        assert.equal(restore?.ApplicationRestoreType, 'SKIP_RESTORE_FROM_SNAPSHOT');
      },
      'its dashboard can be seen': async () => {
        const made = await k.createApplicationPresignedUrl({
          ApplicationName: 'running-app',
          UrlType: 'FLINK_DASHBOARD_URL',
          SessionExpirationDurationInSeconds: 1800,
        });
        assert.ok(given(made.AuthorizedUrl, 'AuthorizedUrl').length > 0, 'nowhere');
      },
      stopped: async () => {
        await k.stopApplication({ ApplicationName: 'running-app', Force: true });
        oneOf(await statusOf(k, 'running-app'), 'FORCE_STOPPING', 'STOPPING', 'READY');
        assert.equal(await settled(() => statusOf(k, 'running-app')), 'READY');
      },
      'what is not there is neither': async () => {
        await denied(start(k, 'no-such-app'), 480);
        await denied(k.stopApplication({ ApplicationName: 'no-such-app' }), 480);
      },
    }),

    'snapshots of what an application knows': (k) => ({
      'none of one that does not run': async () => {
        await flink(k, 'snap-app');
        await denied(k.createApplicationSnapshot({ ApplicationName: 'snap-app', SnapshotName: 'too-early' }), 480, 483, 485, 486);
      },
      'three of one that does': async () => {
        await start(k, 'snap-app');
        await settled(() => statusOf(k, 'snap-app'));
        for (const SnapshotName of ['snap-1', 'snap-2', 'snap-3']) {
          await k.createApplicationSnapshot({ ApplicationName: 'snap-app', SnapshotName });
          await settled(
            async () =>
              (await k.describeApplicationSnapshot({ ApplicationName: 'snap-app', SnapshotName })).SnapshotDetails
                ?.SnapshotStatus,
          );
        }
      },
      'one is read': async () => {
        const { SnapshotDetails } = await k.describeApplicationSnapshot({ ApplicationName: 'snap-app', SnapshotName: 'snap-1' });
        assert.deepEqual([SnapshotDetails?.SnapshotName, SnapshotDetails?.ApplicationVersionId], ['snap-1', 1]);
        oneOf(SnapshotDetails?.SnapshotStatus, 'CREATING', 'READY');
        assert.ok(SnapshotDetails?.SnapshotCreationTimestamp instanceof Date, 'it was made at no time');
      },
      'its name is taken': () =>
        denied(k.createApplicationSnapshot({ ApplicationName: 'snap-app', SnapshotName: 'snap-1' }), 480, 483, 485),
      'all of them, each once': async () => {
        const walk = paginateListApplicationSnapshots({ client: k, pageSize: 1 }, { ApplicationName: 'snap-app' });
        const rows = await gather(walk, (page) => page.SnapshotSummaries ?? []);
        once(
          rows.map(({ SnapshotName }) => given(SnapshotName, 'SnapshotName')),
          ['snap-1', 'snap-2', 'snap-3'],
          'snapshots',
        );
      },
      'none of them is of another application': async () => {
        await flink(k, 'snapless-app');
        assert.deepEqual((await k.listApplicationSnapshots({ ApplicationName: 'snapless-app' })).SnapshotSummaries ?? [], []);
        await denied(k.describeApplicationSnapshot({ ApplicationName: 'snapless-app', SnapshotName: 'snap-1' }), 480);
      },
      'one is deleted, and gone after a while': async () => {
        const named = { ApplicationName: 'snap-app', SnapshotName: 'snap-2' };
        const { SnapshotDetails } = await k.describeApplicationSnapshot(named);
        const SnapshotCreationTimestamp = given(SnapshotDetails?.SnapshotCreationTimestamp, 'SnapshotCreationTimestamp');
        await k.deleteApplicationSnapshot({ ...named, SnapshotCreationTimestamp });
        const status = async () => (await k.describeApplicationSnapshot(named)).SnapshotDetails?.SnapshotStatus;
        await denied(settled(status).then(status), 480);
      },
      'the others are still there': async () => {
        const { SnapshotSummaries } = await k.listApplicationSnapshots({ ApplicationName: 'snap-app' });
        const names = (SnapshotSummaries ?? []).map(({ SnapshotName }) => given(SnapshotName, 'SnapshotName'));
        once(names, ['snap-1', 'snap-3'], 'snapshots');
        without(names, 'snap-2');
      },
    }),

    'where an application writes its log': (k, s) => ({
      'nowhere, at first': async () => {
        s.arn = given((await flink(k, 'log-app')).ApplicationARN, 'ApplicationARN');
        assert.deepEqual((await read(k, 'log-app')).CloudWatchLoggingOptionDescriptions ?? [], []);
      },
      'a log stream is added, which is version two': async () => {
        const made = await k.addApplicationCloudWatchLoggingOption({
          ApplicationName: 'log-app',
          CurrentApplicationVersionId: 1,
          CloudWatchLoggingOption: { LogStreamARN: logs('one') },
        });
        assert.deepEqual([made.ApplicationARN, made.ApplicationVersionId], [s.arn, 2]);
        const [first] = given(made.CloudWatchLoggingOptionDescriptions, 'CloudWatchLoggingOptionDescriptions');
        assert.equal(first?.LogStreamARN, logs('one'));
        s.id = given(first?.CloudWatchLoggingOptionId, 'CloudWatchLoggingOptionId');
      },
      'not by who knows only version one': () =>
        denied(
          k.addApplicationCloudWatchLoggingOption({
            ApplicationName: 'log-app',
            CurrentApplicationVersionId: 1,
            CloudWatchLoggingOption: { LogStreamARN: logs('late') },
          }),
          483,
        ),
      'it writes to another': async () => {
        await settled(() => statusOf(k, 'log-app'));
        await k.updateApplication({
          ApplicationName: 'log-app',
          CurrentApplicationVersionId: 2,
          CloudWatchLoggingOptionUpdates: [{ CloudWatchLoggingOptionId: s.id, LogStreamARNUpdate: logs('two') }],
        });
        await settled(() => statusOf(k, 'log-app'));
        const app = await read(k, 'log-app');
        assert.equal(app.ApplicationVersionId, 3);
        assert.deepEqual(
          app.CloudWatchLoggingOptionDescriptions?.map((one) => `${one.CloudWatchLoggingOptionId} ${one.LogStreamARN}`),
          [`${s.id} ${logs('two')}`],
        );
      },
      'to none that was never added': () =>
        denied(
          k.deleteApplicationCloudWatchLoggingOption({
            ApplicationName: 'log-app',
            CurrentApplicationVersionId: 3,
            CloudWatchLoggingOptionId: '99.9',
          }),
          480,
          482,
          484,
        ),
      'to none again': async () => {
        const made = await k.deleteApplicationCloudWatchLoggingOption({
          ApplicationName: 'log-app',
          CurrentApplicationVersionId: 3,
          CloudWatchLoggingOptionId: s.id,
        });
        assert.deepEqual([made.ApplicationARN, made.ApplicationVersionId], [s.arn, 4]);
        assert.deepEqual((await read(k, 'log-app')).CloudWatchLoggingOptionDescriptions ?? [], []);
      },
    }),

    'an application in a private network': (k, s) => ({
      'in none, at first': async () => {
        s.arn = given((await flink(k, 'vpc-app')).ApplicationARN, 'ApplicationARN');
        const { ApplicationConfigurationDescription: all } = await read(k, 'vpc-app');
        assert.deepEqual(all?.VpcConfigurationDescriptions ?? [], []);
      },
      'two subnets and a security group': async () => {
        const made = await k.addApplicationVpcConfiguration({
          ApplicationName: 'vpc-app',
          CurrentApplicationVersionId: 1,
          VpcConfiguration: { SubnetIds: ['subnet-0a1b2c3d', 'subnet-1a2b3c4d'], SecurityGroupIds: ['sg-0a1b2c3d'] },
        });
        assert.deepEqual([made.ApplicationARN, made.ApplicationVersionId], [s.arn, 2]);
        assert.deepEqual(made.VpcConfigurationDescription?.SubnetIds, ['subnet-0a1b2c3d', 'subnet-1a2b3c4d']);
        assert.deepEqual(made.VpcConfigurationDescription?.SecurityGroupIds, ['sg-0a1b2c3d']);
        s.id = given(made.VpcConfigurationDescription?.VpcConfigurationId, 'VpcConfigurationId');
        given(made.VpcConfigurationDescription?.VpcId, 'VpcId');
      },
      'it says so': async () => {
        const { ApplicationVersionId, ApplicationConfigurationDescription: all } = await read(k, 'vpc-app');
        assert.equal(ApplicationVersionId, 2);
        assert.deepEqual(
          all?.VpcConfigurationDescriptions?.map((one) => [one.VpcConfigurationId, one.SubnetIds, one.SecurityGroupIds]),
          [[s.id, ['subnet-0a1b2c3d', 'subnet-1a2b3c4d'], ['sg-0a1b2c3d']]],
        );
      },
      'another security group': async () => {
        await settled(() => statusOf(k, 'vpc-app'));
        await k.updateApplication({
          ApplicationName: 'vpc-app',
          CurrentApplicationVersionId: 2,
          ApplicationConfigurationUpdate: {
            VpcConfigurationUpdates: [{ VpcConfigurationId: s.id, SecurityGroupIdUpdates: ['sg-9a8b7c6d'] }],
          },
        });
        await settled(() => statusOf(k, 'vpc-app'));
        const { ApplicationConfigurationDescription: all } = await read(k, 'vpc-app');
        const [one] = all?.VpcConfigurationDescriptions ?? [];
        assert.deepEqual(
          [one?.VpcConfigurationId, one?.SubnetIds, one?.SecurityGroupIds],
          [s.id, ['subnet-0a1b2c3d', 'subnet-1a2b3c4d'], ['sg-9a8b7c6d']],
        );
      },
      'not without a subnet': () =>
        denied(
          k.addApplicationVpcConfiguration({
            ApplicationName: 'vpc-app',
            CurrentApplicationVersionId: 3,
            VpcConfiguration: { SubnetIds: [], SecurityGroupIds: ['sg-0a1b2c3d'] },
          }),
          482,
          484,
        ),
      'in none again': async () => {
        const made = await k.deleteApplicationVpcConfiguration({
          ApplicationName: 'vpc-app',
          CurrentApplicationVersionId: 3,
          VpcConfigurationId: s.id,
        });
        assert.deepEqual([made.ApplicationARN, made.ApplicationVersionId], [s.arn, 4]);
        const { ApplicationConfigurationDescription: all } = await read(k, 'vpc-app');
        assert.deepEqual(all?.VpcConfigurationDescriptions ?? [], []);
      },
    }),

    'tags of an application': (k, s) => ({
      'made with one': async () => {
        s.arn = given((await flink(k, 'tag-app', { Tags: [{ Key: 'stage', Value: 'test' }] })).ApplicationARN, 'ApplicationARN');
        assert.deepEqual(await tags(k, s.arn), ['stage=test']);
      },
      'two more': async () => {
        await k.tagResource({
          ResourceARN: s.arn,
          Tags: [
            { Key: 'team', Value: 'streams' },
            { Key: 'cost', Value: '42' },
          ],
        });
        assert.deepEqual(await tags(k, s.arn), ['cost=42', 'stage=test', 'team=streams']);
      },
      'one has another value': async () => {
        await k.tagResource({ ResourceARN: s.arn, Tags: [{ Key: 'stage', Value: 'live' }] });
        assert.deepEqual(await tags(k, s.arn), ['cost=42', 'stage=live', 'team=streams']);
      },
      'two are taken away': async () => {
        await k.untagResource({ ResourceARN: s.arn, TagKeys: ['team', 'cost'] });
        assert.deepEqual(await tags(k, s.arn), ['stage=live']);
      },
      'its version is the same': async () => assert.equal((await read(k, 'tag-app')).ApplicationVersionId, 1),
      'what is not there has none': async () => {
        await denied(k.listTagsForResource({ ResourceARN: `${s.arn}-not-there` }), 480, 481);
        await denied(k.tagResource({ ResourceARN: `${s.arn}-not-there`, Tags: [{ Key: 'a', Value: 'b' }] }), 480, 483);
      },
    }),

    'when an application may be mended': (k, s) => ({
      'from three in the morning': async () => {
        s.arn = given((await flink(k, 'window-app')).ApplicationARN, 'ApplicationARN');
        const made = await k.updateApplicationMaintenanceConfiguration({
          ApplicationName: 'window-app',
          ApplicationMaintenanceConfigurationUpdate: { ApplicationMaintenanceWindowStartTimeUpdate: '03:00' },
        });
        assert.equal(made.ApplicationARN, s.arn);
        assert.equal(made.ApplicationMaintenanceConfigurationDescription?.ApplicationMaintenanceWindowStartTime, '03:00');
      },
      'it says so': async () => {
        const { ApplicationMaintenanceConfigurationDescription: window } = await read(k, 'window-app');
        assert.equal(window?.ApplicationMaintenanceWindowStartTime, '03:00');
      },
      'for eight hours': async () => {
        const { ApplicationMaintenanceConfigurationDescription: window } = await read(k, 'window-app');
        assert.equal(window?.ApplicationMaintenanceWindowEndTime, '11:00');
      },
      'at another time, and over midnight': async () => {
        await k.updateApplicationMaintenanceConfiguration({
          ApplicationName: 'window-app',
          ApplicationMaintenanceConfigurationUpdate: { ApplicationMaintenanceWindowStartTimeUpdate: '22:30' },
        });
        const { ApplicationMaintenanceConfigurationDescription: window } = await read(k, 'window-app');
        assert.deepEqual(
          [window?.ApplicationMaintenanceWindowStartTime, window?.ApplicationMaintenanceWindowEndTime],
          ['22:30', '06:30'],
        );
      },
      'not at twenty-five': () =>
        denied(
          k.updateApplicationMaintenanceConfiguration({
            ApplicationName: 'window-app',
            ApplicationMaintenanceConfigurationUpdate: { ApplicationMaintenanceWindowStartTimeUpdate: '25:00' },
          }),
          482,
        ),
      'not for what is not there': () =>
        denied(
          k.updateApplicationMaintenanceConfiguration({
            ApplicationName: 'no-such-app',
            ApplicationMaintenanceConfigurationUpdate: { ApplicationMaintenanceWindowStartTimeUpdate: '03:00' },
          }),
          480,
        ),
    }),

    'a notebook of the Studio': (k) => ({
      made: async () => {
        const { ApplicationDetail: made } = await k.createApplication({
          ApplicationName: 'studio-note',
          RuntimeEnvironment: 'ZEPPELIN-FLINK-3_0',
          ApplicationMode: 'INTERACTIVE',
          ServiceExecutionRole,
          ApplicationConfiguration: {
            ZeppelinApplicationConfiguration: {
              MonitoringConfiguration: { LogLevel: 'INFO' },
              CatalogConfiguration: {
                GlueDataCatalogConfiguration: { DatabaseARN: 'arn:aws:glue:us-east-1:123456789012:database/notes' },
              },
              CustomArtifactsConfiguration: [
                {
                  ArtifactType: 'DEPENDENCY_JAR',
                  MavenReference: { GroupId: 'org.apache.flink', ArtifactId: 'flink-sql-connector-kinesis', Version: '1.15.4' },
                },
              ],
            },
          },
        });
        assert.deepEqual(
          [made?.ApplicationName, made?.RuntimeEnvironment, made?.ApplicationMode, made?.ApplicationStatus],
          ['studio-note', 'ZEPPELIN-FLINK-3_0', 'INTERACTIVE', 'READY'],
        );
      },
      read: async () => {
        const { ApplicationMode, ApplicationConfigurationDescription: all } = await read(k, 'studio-note');
        assert.equal(ApplicationMode, 'INTERACTIVE');
        assert.partialDeepStrictEqual(all?.ZeppelinApplicationConfigurationDescription, {
          MonitoringConfigurationDescription: { LogLevel: 'INFO' },
          CatalogConfigurationDescription: {
            GlueDataCatalogConfigurationDescription: { DatabaseARN: 'arn:aws:glue:us-east-1:123456789012:database/notes' },
          },
        });
      },
      'its artifact is described': async () => {
        const { ApplicationConfigurationDescription: all } = await read(k, 'studio-note');
        const found = all?.ZeppelinApplicationConfigurationDescription?.CustomArtifactsConfigurationDescription ?? [];
        assert.partialDeepStrictEqual(found, [
          { ArtifactType: 'DEPENDENCY_JAR', MavenReferenceDescription: { ArtifactId: 'flink-sql-connector-kinesis' } },
        ]);
      },
      'in the list with its mode': async () => {
        const rows = await gather(paginateListApplications({ client: k }, {}), (page) => page.ApplicationSummaries ?? []);
        once(
          rows.map((row) => `${row.ApplicationName} ${row.ApplicationMode} ${row.RuntimeEnvironment}`),
          ['studio-note INTERACTIVE ZEPPELIN-FLINK-3_0'],
          'applications',
        );
      },
      'it tells more': async () => {
        await k.updateApplication({
          ApplicationName: 'studio-note',
          CurrentApplicationVersionId: 1,
          ApplicationConfigurationUpdate: {
            ZeppelinApplicationConfigurationUpdate: { MonitoringConfigurationUpdate: { LogLevelUpdate: 'DEBUG' } },
          },
        });
        await settled(() => statusOf(k, 'studio-note'));
        const { ApplicationVersionId, ApplicationConfigurationDescription: all } = await read(k, 'studio-note');
        const zeppelin = all?.ZeppelinApplicationConfigurationDescription;
        assert.deepEqual([ApplicationVersionId, zeppelin?.MonitoringConfigurationDescription?.LogLevel], [2, 'DEBUG']);
        assert.match(
          zeppelin?.CatalogConfigurationDescription?.GlueDataCatalogConfigurationDescription?.DatabaseARN ?? '',
          /database\/notes$/,
        );
      },
      'not to be opened before it runs': () =>
        denied(k.createApplicationPresignedUrl({ ApplicationName: 'studio-note', UrlType: 'ZEPPELIN_UI_URL' }), 481, 482),
      'opened when it does': async () => {
        await k.startApplication({ ApplicationName: 'studio-note' });
        assert.equal(await settled(() => statusOf(k, 'studio-note')), 'RUNNING');
        const made = await k.createApplicationPresignedUrl({ ApplicationName: 'studio-note', UrlType: 'ZEPPELIN_UI_URL' });
        given(made.AuthorizedUrl, 'AuthorizedUrl');
      },
    }),

    'what an application of SQL reads': (k, s) => ({
      'made with its code': async () => {
        const made = await sql(k, 'sql-in');
        assert.deepEqual([made.RuntimeEnvironment, made.ApplicationVersionId], ['SQL-1_0', 1]);
        s.arn = given(made.ApplicationARN, 'ApplicationARN');
        const { ApplicationConfigurationDescription: all } = await read(k, 'sql-in');
        const described = all?.ApplicationCodeConfigurationDescription;
        assert.deepEqual([described?.CodeContentType, described?.CodeContentDescription?.TextContent], ['PLAINTEXT', code]);
      },
      'a stream is added, which is version two': async () => {
        const made = await k.addApplicationInput({ ApplicationName: 'sql-in', CurrentApplicationVersionId: 1, Input: source(2) });
        assert.deepEqual([made.ApplicationARN, made.ApplicationVersionId], [s.arn, 2]);
        s.id = given(made.InputDescriptions?.[0]?.InputId, 'InputId');
      },
      'it is described': async () => {
        const { InputDescriptions } = await parts(k, 'sql-in');
        assert.equal(InputDescriptions?.length, 1);
        assert.partialDeepStrictEqual(InputDescriptions?.[0], {
          InputId: s.id,
          NamePrefix: 'SOURCE_SQL_STREAM',
          KinesisStreamsInputDescription: { ResourceARN: stream('ticks') },
          InputSchema: ticks,
          InputParallelism: { Count: 2 },
        });
      },
      'as two streams within the application': async () => {
        const { InputDescriptions } = await parts(k, 'sql-in');
        assert.deepEqual(InputDescriptions?.[0]?.InAppStreamNames, ['SOURCE_SQL_STREAM_001', 'SOURCE_SQL_STREAM_002']);
      },
      'a function prepares what it reads': async () => {
        const InputProcessingConfiguration = { InputLambdaProcessor: { ResourceARN: lambda('prepare') } };
        const made = await k.addApplicationInputProcessingConfiguration({
          ApplicationName: 'sql-in',
          CurrentApplicationVersionId: 2,
          InputId: s.id,
          InputProcessingConfiguration,
        });
        assert.deepEqual([made.ApplicationVersionId, made.InputId], [3, s.id]);
        const found = (await parts(k, 'sql-in')).InputDescriptions?.[0]?.InputProcessingConfigurationDescription;
        assert.equal(found?.InputLambdaProcessorDescription?.ResourceARN, lambda('prepare'));
      },
      'not for an input that is not there': () =>
        denied(
          k.addApplicationInputProcessingConfiguration({
            ApplicationName: 'sql-in',
            CurrentApplicationVersionId: 3,
            InputId: '99.9',
            InputProcessingConfiguration: { InputLambdaProcessor: { ResourceARN: lambda('prepare') } },
          }),
          480,
          482,
          484,
        ),
      'none prepares it any more': async () => {
        const made = await k.deleteApplicationInputProcessingConfiguration({
          ApplicationName: 'sql-in',
          CurrentApplicationVersionId: 3,
          InputId: s.id,
        });
        assert.equal(made.ApplicationVersionId, 4);
        const [one] = (await parts(k, 'sql-in')).InputDescriptions ?? [];
        assert.deepEqual([one?.InputId, one?.InputProcessingConfigurationDescription], [s.id, undefined]);
      },
      'it reads another stream': async () => {
        const InputUpdates = [{ InputId: s.id, KinesisStreamsInputUpdate: { ResourceARNUpdate: stream('other-ticks') } }];
        const ApplicationConfigurationUpdate = { SqlApplicationConfigurationUpdate: { InputUpdates } };
        await k.updateApplication({ ApplicationName: 'sql-in', CurrentApplicationVersionId: 4, ApplicationConfigurationUpdate });
        const [one] = (await parts(k, 'sql-in')).InputDescriptions ?? [];
        assert.deepEqual(
          [one?.KinesisStreamsInputDescription?.ResourceARN, one?.NamePrefix],
          [stream('other-ticks'), 'SOURCE_SQL_STREAM'],
        );
      },
      'it has no versions to list, and no snapshots': async () => {
        await denied(k.listApplicationVersions({ ApplicationName: 'sql-in' }), 480, 482);
        await denied(k.createApplicationSnapshot({ ApplicationName: 'sql-in', SnapshotName: 'none' }), 483, 484, 485);
      },
    }),

    'where an application of SQL writes': (k, s) => ({
      'to a stream': async () => {
        s.arn = given((await sql(k, 'sql-out')).ApplicationARN, 'ApplicationARN');
        const made = await k.addApplicationOutput({
          ApplicationName: 'sql-out',
          CurrentApplicationVersionId: 1,
          Output: target('DESTINATION_SQL_STREAM', 'prices'),
        });
        assert.deepEqual([made.ApplicationARN, made.ApplicationVersionId], [s.arn, 2]);
        s.one = given(made.OutputDescriptions?.find(({ Name }) => Name === 'DESTINATION_SQL_STREAM')?.OutputId, 'OutputId');
      },
      'and its errors to a delivery stream': async () => {
        const made = await k.addApplicationOutput({
          ApplicationName: 'sql-out',
          CurrentApplicationVersionId: 2,
          Output: {
            Name: 'error_stream',
            KinesisFirehoseOutput: { ResourceARN: firehose('errors') },
            DestinationSchema: { RecordFormatType: 'CSV' },
          },
        });
        assert.equal(made.ApplicationVersionId, 3);
        const { OutputDescriptions = [] } = await parts(k, 'sql-out');
        s.two = given(OutputDescriptions.find(({ Name }) => Name === 'error_stream')?.OutputId, 'OutputId');
        assert.notEqual(s.one, s.two);
      },
      'both are described': async () => {
        const { OutputDescriptions = [] } = await parts(k, 'sql-out');
        once(
          OutputDescriptions.map(({ OutputId, Name }) => `${OutputId} ${Name}`),
          [`${s.one} DESTINATION_SQL_STREAM`, `${s.two} error_stream`],
          'outputs',
        );
        const one = OutputDescriptions.find(({ OutputId }) => OutputId === s.one);
        assert.equal(one?.KinesisStreamsOutputDescription?.ResourceARN, stream('prices'));
        assert.deepEqual(one?.DestinationSchema, { RecordFormatType: 'JSON' });
      },
      'not by who knows only version one': () =>
        denied(
          k.addApplicationOutput({
            ApplicationName: 'sql-out',
            CurrentApplicationVersionId: 1,
            Output: target('LATE_SQL_STREAM', 'late'),
          }),
          483,
        ),
      'the first writes another way': async () => {
        const OutputUpdates = [
          {
            OutputId: s.one,
            KinesisStreamsOutputUpdate: { ResourceARNUpdate: stream('more-prices') },
            DestinationSchemaUpdate: { RecordFormatType: 'CSV' as const },
          },
        ];
        const ApplicationConfigurationUpdate = { SqlApplicationConfigurationUpdate: { OutputUpdates } };
        await k.updateApplication({ ApplicationName: 'sql-out', CurrentApplicationVersionId: 3, ApplicationConfigurationUpdate });
        const one = (await parts(k, 'sql-out')).OutputDescriptions?.find(({ OutputId }) => OutputId === s.one);
        assert.deepEqual(
          [one?.Name, one?.KinesisStreamsOutputDescription?.ResourceARN, one?.DestinationSchema?.RecordFormatType],
          ['DESTINATION_SQL_STREAM', stream('more-prices'), 'CSV'],
        );
      },
      'one is deleted, and gone': async () => {
        const named = { ApplicationName: 'sql-out', OutputId: s.two };
        const made = await k.deleteApplicationOutput({ ...named, CurrentApplicationVersionId: 4 });
        assert.deepEqual([made.ApplicationARN, made.ApplicationVersionId], [s.arn, 5]);
        const ids = ((await parts(k, 'sql-out')).OutputDescriptions ?? []).map(({ OutputId }) => OutputId);
        assert.deepEqual(ids, [s.one]);
        await denied(k.deleteApplicationOutput({ ...named, CurrentApplicationVersionId: 5 }), 480, 482, 484);
      },
    }),

    'what an application of SQL looks up': (k, s) => ({
      'a table of companies': async () => {
        s.arn = given((await sql(k, 'sql-ref')).ApplicationARN, 'ApplicationARN');
        const made = await k.addApplicationReferenceDataSource({
          ApplicationName: 'sql-ref',
          CurrentApplicationVersionId: 1,
          ReferenceDataSource: {
            TableName: 'CompanyName',
            S3ReferenceDataSource: { BucketARN, FileKey: 'TickerReference.csv' },
            ReferenceSchema: companies,
          },
        });
        assert.deepEqual([made.ApplicationARN, made.ApplicationVersionId], [s.arn, 2]);
        s.id = given(made.ReferenceDataSourceDescriptions?.[0]?.ReferenceId, 'ReferenceId');
      },
      'it is described': async () => {
        const { ReferenceDataSourceDescriptions } = await parts(k, 'sql-ref');
        assert.partialDeepStrictEqual(ReferenceDataSourceDescriptions, [
          {
            ReferenceId: s.id,
            TableName: 'CompanyName',
            S3ReferenceDataSourceDescription: { BucketARN, FileKey: 'TickerReference.csv' },
            ReferenceSchema: companies,
          },
        ]);
      },
      'from another file': async () => {
        const ReferenceDataSourceUpdates = [
          { ReferenceId: s.id, S3ReferenceDataSourceUpdate: { FileKeyUpdate: 'TickerReference-2.csv' } },
        ];
        const ApplicationConfigurationUpdate = { SqlApplicationConfigurationUpdate: { ReferenceDataSourceUpdates } };
        const made = await k.updateApplication({
          ApplicationName: 'sql-ref',
          CurrentApplicationVersionId: 2,
          ApplicationConfigurationUpdate,
        });
        assert.equal(made.ApplicationDetail?.ApplicationVersionId, 3);
        const [one] = (await parts(k, 'sql-ref')).ReferenceDataSourceDescriptions ?? [];
        assert.deepEqual(one?.S3ReferenceDataSourceDescription?.FileKey, 'TickerReference-2.csv');
        assert.deepEqual([one?.TableName, one?.S3ReferenceDataSourceDescription?.BucketARN], ['CompanyName', BucketARN]);
      },
      'other code beside it': async () => {
        const TextContentUpdate = `${code}\n-- and the names of companies`;
        await k.updateApplication({
          ApplicationName: 'sql-ref',
          CurrentApplicationVersionId: 3,
          ApplicationConfigurationUpdate: { ApplicationCodeConfigurationUpdate: { CodeContentUpdate: { TextContentUpdate } } },
        });
        const { ApplicationConfigurationDescription: all } = await read(k, 'sql-ref');
        const described = all?.ApplicationCodeConfigurationDescription;
        assert.deepEqual(
          [described?.CodeContentType, described?.CodeContentDescription?.TextContent],
          ['PLAINTEXT', TextContentUpdate],
        );
        assert.equal(all?.SqlApplicationConfigurationDescription?.ReferenceDataSourceDescriptions?.length, 1);
      },
      'a table without columns is none': () =>
        denied(
          k.addApplicationReferenceDataSource({
            ApplicationName: 'sql-ref',
            CurrentApplicationVersionId: 4,
            ReferenceDataSource: {
              TableName: 'Empty',
              S3ReferenceDataSource: { BucketARN, FileKey: 'empty.csv' },
              ReferenceSchema: { ...companies, RecordColumns: [] },
            },
          }),
          482,
          484,
        ),
      'deleted, and gone': async () => {
        const made = await k.deleteApplicationReferenceDataSource({
          ApplicationName: 'sql-ref',
          CurrentApplicationVersionId: 4,
          ReferenceId: s.id,
        });
        assert.deepEqual([made.ApplicationARN, made.ApplicationVersionId], [s.arn, 5]);
        assert.deepEqual((await parts(k, 'sql-ref')).ReferenceDataSourceDescriptions ?? [], []);
      },
      'no private network for SQL': () =>
        denied(
          k.addApplicationVpcConfiguration({
            ApplicationName: 'sql-ref',
            CurrentApplicationVersionId: 5,
            VpcConfiguration: { SubnetIds: ['subnet-0a1b2c3d'], SecurityGroupIds: ['sg-0a1b2c3d'] },
          }),
          482,
          484,
        ),
    }),

    'a credential that is refused': (k, s, another) => ({
      'an application': async () => {
        const made = await flink(k, 'guarded-app');
        s.arn = given(made.ApplicationARN, 'ApplicationARN');
      },
      'not read by another': () =>
        stranger(another('AKIANOBODYATALL00000').describeApplication({ ApplicationName: 'guarded-app' })),
      'not listed by another': () => stranger(another('AKIANOBODYATALL00000').listApplications({})),
      'nothing made by another': () => stranger(flink(another('AKIANOBODYATALL00000'), 'intruder-app')),
      'not started by another': () => stranger(start(another('AKIANOBODYATALL00000'), 'guarded-app')),
      'not deleted by another': async () => {
        const { CreateTimestamp } = await read(k, 'guarded-app');
        await stranger(another('AKIANOBODYATALL00000').deleteApplication({ ApplicationName: 'guarded-app', CreateTimestamp }));
      },
      'it is still there, and alone': async () => {
        const app = await read(k, 'guarded-app');
        assert.deepEqual([app.ApplicationARN, app.ApplicationStatus], [s.arn, 'READY']);
        without(await applications(k), 'intruder-app');
      },
    }),

    'wrong requests, and what is not there': (k) => ({
      'a name of forbidden letters': async () => {
        await denied(flink(k, 'no spaces here'), 483, 484);
        without(await applications(k), 'no spaces here');
      },
      'a runtime that there is not': async () => {
        await denied(flink(k, 'wrong-app', { RuntimeEnvironment: 'FLINK-0_1' as RuntimeEnvironment }), 483, 484);
        await denied(k.describeApplication({ ApplicationName: 'wrong-app' }), 480);
      },
      'without a role': () => denied(flink(k, 'wrong-app', { ServiceExecutionRole: undefined }), 483, 484),
      'a checkpoint of no type': () =>
        denied(
          flink(k, 'wrong-app', {
            ApplicationConfiguration: {
              ...jar(),
              FlinkApplicationConfiguration: { CheckpointConfiguration: { ConfigurationType: 'SOMETIMES' as 'CUSTOM' } },
            },
          }),
          483,
          484,
        ),
      'a page of no rows, and one of too many': async () => {
        await denied(k.listApplications({ Limit: 0 }), 480);
        await denied(k.listApplications({ Limit: 51 }), 480);
      },
      'a schema is not found in nothing': () => denied(k.discoverInputSchema({ ServiceExecutionRole: undefined }), 480, 484),
      'what is not there is not read': async () => {
        await denied(k.describeApplication({ ApplicationName: 'no-such-app' }), 480);
        await denied(k.describeApplicationSnapshot({ ApplicationName: 'no-such-app', SnapshotName: 'none' }), 480);
        await denied(k.listApplicationVersions({ ApplicationName: 'no-such-app' }), 481);
      },
      'nor changed, nor deleted': async () => {
        const ServiceExecutionRoleUpdate = ServiceExecutionRole;
        await denied(
          k.updateApplication({ ApplicationName: 'no-such-app', CurrentApplicationVersionId: 1, ServiceExecutionRoleUpdate }),
          481,
        );
        await denied(k.deleteApplication({ ApplicationName: 'no-such-app', CreateTimestamp: new Date() }), 481);
      },
      'nothing was made': async () => without(await applications(k), 'wrong-app'),
    }),
  },
};
