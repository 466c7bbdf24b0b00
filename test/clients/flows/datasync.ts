import assert from 'node:assert/strict';
import {
  type CreateLocationNfsCommandInput,
  type CreateTaskCommandInput,
  DataSync,
  type LocationFilter,
  type NfsVersion,
  paginateListAgents,
  paginateListLocations,
  paginateListTagsForResource,
  paginateListTaskExecutions,
  paginateListTasks,
  type TaskFilter,
  type VerifyMode,
} from '@aws-sdk/client-datasync';
import { gather, given, once, type Place, refused, type State, type Vendor } from '../kit.ts';

/**
 * The token is an access key's id; the client signs with it (version 4). What the client throws keeps its status below
 * `$metadata`: it is put beside the message too.
 */
const connect = (place: Place, token: string): DataSync => {
  const accessKeyId = /Credential=([^/,\s]+)/.exec(token)?.[1] ?? token;
  const client = new DataSync({
    endpoint: place.base,
    region: 'us-east-2',
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
type Client = DataSync;

/** InvalidRequestException, for what is not right and what is not there, is a 400 by the guide, and a 480 by the description. */
const invalid = (call: Promise<unknown>): Promise<unknown> => refused(call, 400, 480);
/** The guide's common errors have 403 for a key that is not known; the description has nothing about it. */
const stranger = (call: Promise<unknown>): Promise<unknown> => refused(call, 401, 403);

const account = 'arn:aws:datasync:us-east-2:123456789012';
const noAgent = `${account}:agent/agent-0deadbeefdeadbeef`;
const noLocation = `${account}:location/loc-0deadbeefdeadbeef`;
const noTask = `${account}:task/task-0deadbeefdeadbeef`;
/** Roles and log groups are other services': these are there before. */
const role = 'arn:aws:iam::123456789012:role/datasync-s3-access';
const log = 'arn:aws:logs:us-east-2:123456789012:log-group:/log/datasync:*';

/** Keys are made by the agents themselves, and are good once. */
let keys = 0;
const key = (): string => `AAAAA-1BBBB-22CCC-333DD-${String(++keys).padStart(5, 'E')}`;
const agent = async (d: Client, AgentName: string): Promise<string> =>
  given((await d.createAgent({ ActivationKey: key(), AgentName })).AgentArn, 'AgentArn');
const agents = async (d: Client, pageSize = 100): Promise<string[]> =>
  (await gather(paginateListAgents({ client: d, pageSize }, {}), ({ Agents }) => Agents ?? [])).map(({ AgentArn }) =>
    given(AgentArn, 'AgentArn'),
  );

const bucket = async (d: Client, name: string, Subdirectory = '/photos'): Promise<string> => {
  const what = { S3BucketArn: `arn:aws:s3:::${name}`, Subdirectory, S3Config: { BucketAccessRoleArn: role } };
  return given((await d.createLocationS3(what)).LocationArn, 'LocationArn');
};
const nfs = async (
  d: Client,
  agentArn: string,
  ServerHostname: string,
  more: Partial<CreateLocationNfsCommandInput> = {},
): Promise<string> => {
  const what = { ServerHostname, Subdirectory: '/exports/home', OnPremConfig: { AgentArns: [agentArn] }, ...more };
  return given((await d.createLocationNfs(what)).LocationArn, 'LocationArn');
};
const locations = async (d: Client, Filters: LocationFilter[] = [], pageSize = 100): Promise<{ arn: string; uri: string }[]> => {
  const walk = paginateListLocations({ client: d, pageSize }, Filters.length === 0 ? {} : { Filters });
  const rows = await gather(walk, (page) => page.Locations ?? []);
  return rows.map(({ LocationArn, LocationUri }) => ({
    arn: given(LocationArn, 'LocationArn'),
    uri: given(LocationUri, 'LocationUri'),
  }));
};
const arns = (rows: readonly { readonly arn: string }[]): string[] => rows.map(({ arn }) => arn);

/** Two buckets; the state has both. */
const ends = async (d: Client, s: State, name: string): Promise<void> => {
  s.from = await bucket(d, `${name}-source`);
  s.to = await bucket(d, `${name}-destination`);
};
const task = async (d: Client, s: State, Name: string, more: Partial<CreateTaskCommandInput> = {}): Promise<string> =>
  given((await d.createTask({ SourceLocationArn: s.from, DestinationLocationArn: s.to, Name, ...more })).TaskArn, 'TaskArn');
const tasks = async (d: Client, Filters: TaskFilter[] = [], pageSize = 100): Promise<string[]> => {
  const walk = paginateListTasks({ client: d, pageSize }, Filters.length === 0 ? {} : { Filters });
  return (await gather(walk, ({ Tasks }) => Tasks ?? [])).map(({ TaskArn }) => given(TaskArn, 'TaskArn'));
};
const executions = async (d: Client, TaskArn: string, pageSize = 100): Promise<string[]> => {
  const rows = await gather(
    paginateListTaskExecutions({ client: d, pageSize }, { TaskArn }),
    (page) => page.TaskExecutions ?? [],
  );
  return rows.map(({ TaskExecutionArn }) => given(TaskExecutionArn, 'TaskExecutionArn'));
};
const tags = async (d: Client, ResourceArn: string, pageSize = 100): Promise<string[]> => {
  const rows = await gather(paginateListTagsForResource({ client: d, pageSize }, { ResourceArn }), (page) => page.Tags ?? []);
  return rows.map(({ Key, Value }) => `${Key}=${Value}`).toSorted();
};
/** What goes on behind an answer is asked for until it is done, for less than a step may last. */
const eventually = async (so: () => Promise<boolean>, what: string): Promise<void> => {
  for (let turn = 0; turn < 30; turn += 1) {
    if (await so()) return;
    await new Promise((done) => setTimeout(done, 400));
  }
  throw new Error(what);
};
const ready = (d: Client, TaskArn: string): Promise<void> =>
  eventually(async () => (await d.describeTask({ TaskArn })).Status === 'AVAILABLE', 'not available');
const five = ['c', 'a', 'e', 'b', 'd'];

/** Guide: docs.aws.amazon.com/datasync/latest/userguide, and its API reference. */
export const vendor: Vendor<Client> = {
  document: 'datasync/datasync.json',
  header: 'Authorization',
  word: 'AWS4-HMAC-SHA256',
  made: 'AKIAIOSFODNN7EXAMPLE',
  client: connect,
  strict: ['a key that is refused'],
  flows: {
    'an agent, from the first to the last day': (d, s) => ({
      activated: async () => {
        s.id = await agent(d, 'MyAgent');
        assert.match(s.id, /^arn:aws[a-z-]*:datasync:[a-z0-9-]+:\d{12}:agent\/agent-[0-9a-z]{17}$/);
      },
      read: async () => {
        const found = await d.describeAgent({ AgentArn: s.id });
        assert.deepEqual([found.AgentArn, found.Name], [s.id, 'MyAgent']);
        assert.ok(['ONLINE', 'OFFLINE'].includes(String(found.Status)), found.Status);
      },
      'when it was activated': async () => {
        const age = Date.now() - given((await d.describeAgent({ AgentArn: s.id })).CreationTime, 'CreationTime').getTime();
        assert.ok(Math.abs(age) < 600_000, `${age} ms ago`);
      },
      'is in the list, of small pages too': async () => {
        await agent(d, 'MySecond');
        once(await agents(d), [s.id], 'agents');
        assert.equal((await d.listAgents({ MaxResults: 1 })).Agents?.length, 1);
        once(await agents(d, 1), [s.id], 'agents');
      },
      'called something else': async () => {
        await d.updateAgent({ AgentArn: s.id, Name: 'MyOtherAgent' });
        assert.equal((await d.describeAgent({ AgentArn: s.id })).Name, 'MyOtherAgent');
      },
      'so it is in the list': async () => {
        const rows = await gather(paginateListAgents({ client: d }, {}), ({ Agents }) => Agents ?? []);
        assert.equal(rows.find(({ AgentArn }) => AgentArn === s.id)?.Name, 'MyOtherAgent');
      },
      deleted: () => d.deleteAgent({ AgentArn: s.id }),
      gone: () => invalid(d.describeAgent({ AgentArn: s.id })),
      'no longer in the list': async () => assert.ok(!(await agents(d)).includes(s.id), 'it is'),
    }),

    'a bucket, from the first to the last day': (d, s) => ({
      made: async () => {
        const what = {
          S3BucketArn: 'arn:aws:s3:::my-photos',
          Subdirectory: '/holidays',
          S3StorageClass: 'STANDARD_IA' as const,
          S3Config: { BucketAccessRoleArn: role },
        };
        s.id = given((await d.createLocationS3(what)).LocationArn, 'LocationArn');
        assert.match(s.id, /^arn:aws[a-z-]*:datasync:[a-z0-9-]+:\d{12}:location\/loc-[0-9a-z]{17}$/);
      },
      read: async () => {
        const found = await d.describeLocationS3({ LocationArn: s.id });
        assert.deepEqual([found.LocationArn, found.S3StorageClass], [s.id, 'STANDARD_IA']);
        assert.equal(found.S3Config?.BucketAccessRoleArn, role);
      },
      'where it is': async () =>
        assert.match(
          given((await d.describeLocationS3({ LocationArn: s.id })).LocationUri, 'LocationUri'),
          /^s3:\/\/.*my-photos\/holidays\/?$/,
        ),
      'is in the list, at the same place': async () => {
        const rows = await locations(d);
        once(arns(rows), [s.id], 'locations');
        const { LocationUri } = await d.describeLocationS3({ LocationArn: s.id });
        assert.equal(rows.find(({ arn }) => arn === s.id)?.uri, LocationUri);
      },
      deleted: () => d.deleteLocation({ LocationArn: s.id }),
      gone: () => invalid(d.describeLocationS3({ LocationArn: s.id })),
      'no longer in the list': async () => assert.ok(!arns(await locations(d)).includes(s.id), 'it is'),
      'nor deleted twice': () => invalid(d.deleteLocation({ LocationArn: s.id })),
    }),

    'a server of files': (d, s) => ({
      'by an agent': async () => {
        s.agent = await agent(d, 'Of files');
        s.id = await nfs(d, s.agent, 'files.example.com', { MountOptions: { Version: 'NFS3' } });
      },
      read: async () => {
        const found = await d.describeLocationNfs({ LocationArn: s.id });
        assert.deepEqual([found.LocationArn, found.MountOptions?.Version], [s.id, 'NFS3']);
        assert.deepEqual(found.OnPremConfig?.AgentArns, [s.agent]);
      },
      'where it is': async () =>
        assert.match(
          given((await d.describeLocationNfs({ LocationArn: s.id })).LocationUri, 'LocationUri'),
          /^nfs:\/\/files\.example\.com\/exports\/home\/?$/,
        ),
      'another version, and another agent': async () => {
        s.other = await agent(d, 'Of files, too');
        const OnPremConfig = { AgentArns: [s.agent, s.other] };
        await d.updateLocationNfs({ LocationArn: s.id, OnPremConfig, MountOptions: { Version: 'NFS4_1' } });
        const found = await d.describeLocationNfs({ LocationArn: s.id });
        assert.deepEqual(
          [found.MountOptions?.Version, found.OnPremConfig?.AgentArns?.toSorted()],
          ['NFS4_1', [s.agent, s.other].toSorted()],
        );
      },
      'another path': async () => {
        await d.updateLocationNfs({ LocationArn: s.id, Subdirectory: '/exports/work' });
        const found = await d.describeLocationNfs({ LocationArn: s.id });
        assert.match(given(found.LocationUri, 'LocationUri'), /^nfs:\/\/files\.example\.com\/exports\/work\/?$/);
        assert.equal(found.MountOptions?.Version, 'NFS4_1');
      },
      'not with a version that there is not': () =>
        invalid(d.updateLocationNfs({ LocationArn: s.id, MountOptions: { Version: 'NFS9' as NfsVersion } })),
    }),

    'a share of Windows': (d, s) => ({
      'by its user': async () => {
        s.agent = await agent(d, 'Of shares');
        const who = { User: 'user-1', Domain: 'example.com', Password: 'Sw0rdfish' };
        const what = {
          ServerHostname: 'smb.example.com',
          Subdirectory: '/share',
          AgentArns: [s.agent],
          MountOptions: { Version: 'SMB3' as const },
        };
        s.id = given((await d.createLocationSmb({ ...what, ...who })).LocationArn, 'LocationArn');
      },
      read: async () => {
        const found = await d.describeLocationSmb({ LocationArn: s.id });
        assert.deepEqual([found.LocationArn, found.User, found.Domain], [s.id, 'user-1', 'example.com']);
        assert.deepEqual([found.AgentArns, found.MountOptions?.Version], [[s.agent], 'SMB3']);
        assert.match(given(found.LocationUri, 'LocationUri'), /^smb:\/\/smb\.example\.com\/share\/?$/);
      },
      'the password is kept': async () =>
        assert.ok(!JSON.stringify(await d.describeLocationSmb({ LocationArn: s.id })).includes('Sw0rdfish'), 'it is told'),
      'another user': async () => {
        await d.updateLocationSmb({ LocationArn: s.id, User: 'user-2', Password: 'Swordf1sh' });
        const found = await d.describeLocationSmb({ LocationArn: s.id });
        assert.deepEqual([found.User, found.Domain, found.AgentArns], ['user-2', 'example.com', [s.agent]]);
      },
      deleted: () => d.deleteLocation({ LocationArn: s.id }),
      gone: () => invalid(d.describeLocationSmb({ LocationArn: s.id })),
    }),

    'a store of objects': (d, s) => ({
      'by its key': async () => {
        s.agent = await agent(d, 'Of objects');
        const at = { ServerHostname: 'objects.example.com', ServerPort: 8443, ServerProtocol: 'HTTPS' as const };
        const what = {
          BucketName: 'my-bucket',
          Subdirectory: '/a',
          AccessKey: 'my-key',
          SecretKey: 'T0pSecret',
          AgentArns: [s.agent],
        };
        s.id = given((await d.createLocationObjectStorage({ ...at, ...what })).LocationArn, 'LocationArn');
      },
      read: async () => {
        const found = await d.describeLocationObjectStorage({ LocationArn: s.id });
        assert.deepEqual([found.LocationArn, found.AccessKey, found.AgentArns], [s.id, 'my-key', [s.agent]]);
        assert.deepEqual([found.ServerPort, found.ServerProtocol], [8443, 'HTTPS']);
      },
      'the secret is kept': async () =>
        assert.ok(
          !JSON.stringify(await d.describeLocationObjectStorage({ LocationArn: s.id })).includes('T0pSecret'),
          'it is told',
        ),
      'another port': async () => {
        await d.updateLocationObjectStorage({ LocationArn: s.id, ServerPort: 8080, ServerProtocol: 'HTTP' });
        const found = await d.describeLocationObjectStorage({ LocationArn: s.id });
        assert.deepEqual([found.ServerPort, found.ServerProtocol, found.AccessKey], [8080, 'HTTP', 'my-key']);
      },
      'not one that there is not': () => invalid(d.updateLocationObjectStorage({ LocationArn: s.id, ServerPort: 70000 })),
    }),

    'a cluster of Hadoop': (d, s) => ({
      'by its user': async () => {
        s.agent = await agent(d, 'Of clusters');
        const NameNodes = [{ Hostname: 'namenode.example.com', Port: 8020 }];
        const what = { AuthenticationType: 'SIMPLE' as const, SimpleUser: 'hdfs', BlockSize: 134217728, ReplicationFactor: 3 };
        const made = await d.createLocationHdfs({ NameNodes, Subdirectory: '/data', AgentArns: [s.agent], ...what });
        s.id = given(made.LocationArn, 'LocationArn');
      },
      read: async () => {
        const found = await d.describeLocationHdfs({ LocationArn: s.id });
        assert.deepEqual(found.NameNodes, [{ Hostname: 'namenode.example.com', Port: 8020 }]);
        assert.deepEqual([found.AuthenticationType, found.SimpleUser], ['SIMPLE', 'hdfs']);
        assert.deepEqual([found.BlockSize, found.ReplicationFactor], [134217728, 3]);
      },
      'more of each block': async () => {
        await d.updateLocationHdfs({ LocationArn: s.id, ReplicationFactor: 5, SimpleUser: 'hive' });
        const found = await d.describeLocationHdfs({ LocationArn: s.id });
        assert.deepEqual([found.ReplicationFactor, found.SimpleUser, found.BlockSize], [5, 'hive', 134217728]);
      },
      'not too many': () => invalid(d.updateLocationHdfs({ LocationArn: s.id, ReplicationFactor: 513 })),
    }),

    'locations through all pages': (d, s) => ({
      'five are made': async () => {
        const made: string[] = [];
        for (const letter of five) made.push(await bucket(d, `page-${letter}`));
        s.made = made.join();
      },
      'no more on a page than asked for': async () => {
        const page = await d.listLocations({ MaxResults: 2 });
        assert.equal(page.Locations?.length, 2);
        given(page.NextToken || undefined, 'NextToken');
      },
      'all of them, each once': async () => {
        const rows = arns(await locations(d, [], 2));
        once(rows, [...new Set([...rows, ...s.made.split(',')])], 'locations');
      },
      'one less when one is deleted': async () => {
        const before = await locations(d, [], 2);
        await d.deleteLocation({ LocationArn: given(s.made.split(',')[2], 'arn') });
        assert.equal((await locations(d, [], 2)).length, before.length - 1);
      },
    }),

    'locations of one kind': (d, s) => ({
      'a bucket and a server': async () => {
        s.bucket = await bucket(d, 'kind-of-bucket');
        s.server = await nfs(d, await agent(d, 'Of kinds'), 'kind.example.com');
      },
      'buckets only': async () => {
        const rows = await locations(d, [{ Name: 'LocationType', Values: ['S3'], Operator: 'Equals' }]);
        once(arns(rows), [s.bucket], 'locations');
        for (const { uri } of rows) assert.match(uri, /^s3:/);
      },
      'servers only': async () => {
        const rows = await locations(d, [{ Name: 'LocationType', Values: ['NFS'], Operator: 'Equals' }]);
        once(arns(rows), [s.server], 'locations');
        assert.ok(!arns(rows).includes(s.bucket), 'the bucket is there');
      },
      'all but buckets': async () => {
        const rows = await locations(d, [{ Name: 'LocationType', Values: ['S3'], Operator: 'NotEquals' }]);
        once(arns(rows), [s.server], 'locations');
        assert.ok(!arns(rows).includes(s.bucket), 'the bucket is there');
      },
      'by where it is': async () => {
        const rows = await locations(d, [{ Name: 'LocationUri', Values: ['kind.example.com'], Operator: 'Contains' }]);
        assert.deepEqual(arns(rows), [s.server]);
      },
      'nothing is that new': async () =>
        assert.deepEqual(
          await locations(d, [{ Name: 'CreationTime', Values: ['2099-01-01T00:00:00'], Operator: 'GreaterThanOrEqual' }]),
          [],
        ),
      'not by what there is not': () =>
        invalid(
          d.listLocations({ Filters: [{ Name: 'Colour' as LocationFilter['Name'], Values: ['red'], Operator: 'Equals' }] }),
        ),
    }),

    'a task, from the first to the last day': (d, s) => ({
      made: async () => {
        await ends(d, s, 'life');
        s.id = await task(d, s, 'Nightly', { CloudWatchLogGroupArn: log });
        assert.match(s.id, /^arn:aws[a-z-]*:datasync:[a-z0-9-]*:\d{12}:task\/task-[0-9a-f]{17}$/);
      },
      read: async () => {
        const found = await d.describeTask({ TaskArn: s.id });
        assert.deepEqual([found.TaskArn, found.Name, found.CloudWatchLogGroupArn], [s.id, 'Nightly', log]);
        assert.deepEqual([found.SourceLocationArn, found.DestinationLocationArn], [s.from, s.to]);
        assert.ok(['AVAILABLE', 'CREATING'].includes(String(found.Status)), found.Status);
      },
      'is in the list, by its name': async () => {
        const rows = await gather(paginateListTasks({ client: d }, {}), ({ Tasks }) => Tasks ?? []);
        once(
          rows.map(({ TaskArn }) => given(TaskArn, 'TaskArn')),
          [s.id],
          'tasks',
        );
        assert.equal(rows.find(({ TaskArn }) => TaskArn === s.id)?.Name, 'Nightly');
      },
      'called something else': () => d.updateTask({ TaskArn: s.id, Name: 'Weekly' }),
      'the rest stays': async () => {
        const found = await d.describeTask({ TaskArn: s.id });
        assert.deepEqual([found.Name, found.CloudWatchLogGroupArn], ['Weekly', log]);
        assert.deepEqual([found.SourceLocationArn, found.DestinationLocationArn], [s.from, s.to]);
      },
      deleted: () => d.deleteTask({ TaskArn: s.id }),
      gone: () => invalid(d.describeTask({ TaskArn: s.id })),
      'no longer in the list': async () => assert.ok(!(await tasks(d)).includes(s.id), 'it is'),
      'the locations stay': async () => once(arns(await locations(d)), [s.from, s.to], 'locations'),
    }),

    'how a task works': (d, s) => ({
      'with options, filters and times': async () => {
        await ends(d, s, 'options');
        s.id = await task(d, s, 'Choosy', {
          Options: { VerifyMode: 'ONLY_FILES_TRANSFERRED', OverwriteMode: 'NEVER', BytesPerSecond: 1048576, LogLevel: 'BASIC' },
          Includes: [{ FilterType: 'SIMPLE_PATTERN', Value: '/folder1|/folder2' }],
          Excludes: [{ FilterType: 'SIMPLE_PATTERN', Value: '*.tmp' }],
          Schedule: { ScheduleExpression: 'cron(0 12 ? * SUN,WED *)' },
        });
      },
      'its options': async () => {
        const { Options } = await d.describeTask({ TaskArn: s.id });
        assert.deepEqual([Options?.VerifyMode, Options?.OverwriteMode], ['ONLY_FILES_TRANSFERRED', 'NEVER']);
        assert.deepEqual([Options?.BytesPerSecond, Options?.LogLevel], [1048576, 'BASIC']);
      },
      'its filters and times': async () => {
        const found = await d.describeTask({ TaskArn: s.id });
        assert.deepEqual(found.Includes, [{ FilterType: 'SIMPLE_PATTERN', Value: '/folder1|/folder2' }]);
        assert.deepEqual(found.Excludes, [{ FilterType: 'SIMPLE_PATTERN', Value: '*.tmp' }]);
        assert.equal(found.Schedule?.ScheduleExpression, 'cron(0 12 ? * SUN,WED *)');
      },
      'what is not said is as ever': async () => {
        const { Options } = await d.describeTask({ TaskArn: await task(d, s, 'Plain') });
        assert.deepEqual(
          [Options?.VerifyMode, Options?.Atime, Options?.Mtime],
          ['POINT_IN_TIME_CONSISTENT', 'BEST_EFFORT', 'PRESERVE'],
        );
        assert.deepEqual([Options?.PreserveDeletedFiles, Options?.TaskQueueing], ['PRESERVE', 'ENABLED']);
      },
      'other options and times': async () => {
        const Schedule = { ScheduleExpression: 'cron(0 1 * * ? *)' };
        const Excludes = [{ FilterType: 'SIMPLE_PATTERN' as const, Value: '*.bak' }];
        await d.updateTask({ TaskArn: s.id, Schedule, Excludes, Options: { OverwriteMode: 'ALWAYS' } });
        const found = await d.describeTask({ TaskArn: s.id });
        assert.deepEqual([found.Options?.OverwriteMode, found.Schedule], ['ALWAYS', Schedule]);
        assert.deepEqual([found.Excludes, found.Name], [Excludes, 'Choosy']);
      },
      'not with an option that there is not': () =>
        invalid(d.updateTask({ TaskArn: s.id, Options: { VerifyMode: 'PERHAPS' as VerifyMode } })),
    }),

    'tasks through all pages, and of one place': (d, s) => ({
      'five, and one between other places': async () => {
        await ends(d, s, 'others');
        s.other = await task(d, s, 'Elsewhere');
        await ends(d, s, 'pages');
        const made: string[] = [];
        for (const letter of five) made.push(await task(d, s, `Page ${letter}`));
        s.made = made.join();
      },
      'no more on a page than asked for': async () => {
        const page = await d.listTasks({ MaxResults: 2 });
        assert.equal(page.Tasks?.length, 2);
        given(page.NextToken || undefined, 'NextToken');
      },
      'all of them, each once': async () => {
        const rows = await tasks(d, [], 2);
        once(rows, [...new Set([...rows, s.other, ...s.made.split(',')])], 'tasks');
      },
      'those of one place': async () => {
        const rows = await tasks(d, [{ Name: 'LocationId', Values: [s.from], Operator: 'Equals' }]);
        assert.deepEqual(rows.toSorted(), s.made.split(',').toSorted());
      },
      'on pages as well': async () => {
        const rows = await tasks(d, [{ Name: 'LocationId', Values: [s.from], Operator: 'Equals' }], 2);
        assert.deepEqual(rows.toSorted(), s.made.split(',').toSorted());
      },
    }),

    'a task is carried out': (d, s) => ({
      'a task that is ready': async () => {
        await ends(d, s, 'run');
        s.task = await task(d, s, 'Runner', { Options: { VerifyMode: 'ONLY_FILES_TRANSFERRED' } });
        await ready(d, s.task);
      },
      started: async () => {
        const Includes = [{ FilterType: 'SIMPLE_PATTERN' as const, Value: '/folder1' }];
        const made = await d.startTaskExecution({ TaskArn: s.task, OverrideOptions: { OverwriteMode: 'NEVER' }, Includes });
        s.id = given(made.TaskExecutionArn, 'TaskExecutionArn');
        assert.ok(s.id.startsWith(`${s.task}/execution/exec-`), s.id);
      },
      read: async () => {
        const found = await d.describeTaskExecution({ TaskExecutionArn: s.id });
        assert.equal(found.TaskExecutionArn, s.id);
        assert.match(String(found.Status), /^(QUEUED|LAUNCHING|PREPARING|TRANSFERRING|VERIFYING|SUCCESS|ERROR)$/);
        given(found.StartTime, 'StartTime');
      },
      'as it was asked for': async () => {
        const found = await d.describeTaskExecution({ TaskExecutionArn: s.id });
        assert.deepEqual(found.Includes, [{ FilterType: 'SIMPLE_PATTERN', Value: '/folder1' }]);
        assert.equal(found.Options?.OverwriteMode, 'NEVER');
      },
      'is in the list of its task': async () => once(await executions(d, s.task), [s.id], 'executions'),
      'not in that of another': async () => {
        assert.deepEqual(await executions(d, await task(d, s, 'Idle')), []);
      },
      'nothing carries out what is not there': () => invalid(d.startTaskExecution({ TaskArn: noTask })),
    }),

    'an execution is slowed down, and stopped': (d, s) => ({
      started: async () => {
        await ends(d, s, 'stop');
        s.task = await task(d, s, 'Stopper', { Options: { BytesPerSecond: 2097152 } });
        await ready(d, s.task);
        s.id = given((await d.startTaskExecution({ TaskArn: s.task })).TaskExecutionArn, 'TaskExecutionArn');
      },
      slower: async () => {
        await d.updateTaskExecution({ TaskExecutionArn: s.id, Options: { BytesPerSecond: 1048576 } });
        assert.equal((await d.describeTaskExecution({ TaskExecutionArn: s.id })).Options?.BytesPerSecond, 1048576);
      },
      'the task is as fast as ever': async () =>
        assert.equal((await d.describeTask({ TaskArn: s.task })).Options?.BytesPerSecond, 2097152),
      stopped: () => d.cancelTaskExecution({ TaskExecutionArn: s.id }),
      'it did not come to its end': () =>
        eventually(async () => (await d.describeTaskExecution({ TaskExecutionArn: s.id })).Status === 'ERROR', 'it goes on'),
      'and stays in the list': async () => once(await executions(d, s.task), [s.id], 'executions'),
    }),

    tags: (d, s) => ({
      'made with two': async () => {
        await ends(d, s, 'tags');
        const Tags = [
          { Key: 'Department', Value: 'Finance' },
          { Key: 'Stage', Value: 'Test' },
        ];
        s.id = await task(d, s, 'Tagged', { Tags });
      },
      read: async () => assert.deepEqual(await tags(d, s.id), ['Department=Finance', 'Stage=Test']),
      'one more, and one changed': async () => {
        await d.tagResource({
          ResourceArn: s.id,
          Tags: [
            { Key: 'Owner', Value: 'Jane' },
            { Key: 'Stage', Value: 'Live' },
          ],
        });
        assert.deepEqual(await tags(d, s.id), ['Department=Finance', 'Owner=Jane', 'Stage=Live']);
      },
      'on pages of one': async () => assert.deepEqual(await tags(d, s.id, 1), ['Department=Finance', 'Owner=Jane', 'Stage=Live']),
      'one less': async () => {
        await d.untagResource({ ResourceArn: s.id, Keys: ['Department'] });
        assert.deepEqual(await tags(d, s.id), ['Owner=Jane', 'Stage=Live']);
      },
      'a place has its own': async () => {
        await d.tagResource({ ResourceArn: s.from, Tags: [{ Key: 'Owner', Value: 'Joe' }] });
        assert.deepEqual([await tags(d, s.from), await tags(d, s.to)], [['Owner=Joe'], []]);
      },
      'not on what is not there': () => invalid(d.tagResource({ ResourceArn: noTask, Tags: [{ Key: 'Owner', Value: 'Jane' }] })),
    }),

    'a key that is refused': (d, _s, another) => ({
      'the right one is taken': async () => assert.ok(Array.isArray((await d.listTasks({})).Tasks)),
      'a wrong one is not, for a list': () => stranger(another('AKIAWRONGWRONGWRONGX').listTasks({})),
      'nor for a write': () => stranger(bucket(another('AKIAWRONGWRONGWRONGX'), 'stolen')),
      'nothing was written': async () => assert.ok(!(await locations(d)).some(({ uri }) => uri.includes('stolen')), 'it was'),
    }),

    'what is not there, and what is not right': (d, s) => ({
      'no such agent, place or task': async () => {
        await invalid(d.describeAgent({ AgentArn: noAgent }));
        await invalid(d.describeLocationS3({ LocationArn: noLocation }));
        await invalid(d.describeTask({ TaskArn: noTask }));
      },
      'nor to delete': async () => {
        await invalid(d.deleteAgent({ AgentArn: noAgent }));
        await invalid(d.deleteTask({ TaskArn: noTask }));
      },
      'a key has its form': () => invalid(d.createAgent({ ActivationKey: 'let-me-in' })),
      'a bucket has a role': () => invalid(d.createLocationS3({ S3BucketArn: 'arn:aws:s3:::roleless', S3Config: undefined })),
      'a server has an agent': () =>
        invalid(
          d.createLocationNfs({ ServerHostname: 'files.example.com', Subdirectory: '/a', OnPremConfig: { AgentArns: [] } }),
        ),
      'a task has two ends': async () => {
        await ends(d, s, 'halves');
        await invalid(d.createTask({ SourceLocationArn: s.from, DestinationLocationArn: undefined }));
      },
      'which are there': () => invalid(d.createTask({ SourceLocationArn: s.from, DestinationLocationArn: noLocation })),
      'a page has at most a hundred': () => invalid(d.listTasks({ MaxResults: 101 })),
      'a place is of the kind that is asked for': () => invalid(d.describeLocationNfs({ LocationArn: s.from })),
    }),
  },
};
