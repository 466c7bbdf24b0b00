import assert from 'node:assert/strict';
import {
  EMRContainers,
  type JobDriver,
  paginateListJobRuns,
  paginateListJobTemplates,
  paginateListManagedEndpoints,
  paginateListVirtualClusters,
} from '@aws-sdk/client-emr-containers';
import { gather, given, once, type Place, refused, type Vendor } from '../kit.ts';

/**
 * The token is an access key's id; the client signs with it (version 4). What the client throws keeps its status below
 * `$metadata`: it is put beside the message too.
 */
const connect = (place: Place, token: string): EMRContainers => {
  const accessKeyId = /Credential=([^/,\s]+)/.exec(token)?.[1] ?? token;
  const client = new EMRContainers({
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

/** The guide has a 400 for each of the service's own exceptions, also for what is not there; the description has a number of its own for each. */
const wrong = (call: Promise<unknown>, described = 480): Promise<unknown> => refused(call, 400, described);
const missing = (call: Promise<unknown>, ...described: number[]): Promise<unknown> => refused(call, 400, 404, ...described);
/** The guide's common errors have 403 for a key that is not known; the description has nothing about it. */
const stranger = (call: Promise<unknown>): Promise<unknown> => refused(call, 401, 403);

const without = (rows: readonly string[], one: string): void => assert.ok(!rows.includes(one), `the list still has ${one}`);
const oneOf = (value: string | undefined, ...all: readonly string[]): void =>
  assert.ok(all.includes(value ?? ''), `${value} is none of ${all.join(', ')}`);
const recent = (value: Date | undefined, what: string): void => {
  assert.ok(value instanceof Date, `${what} is no time`);
  assert.ok(Math.abs(value.getTime() - Date.now()) < 3_600_000, `${what} is ${value.toISOString()}, not now`);
};
/** What is under way is asked for until it is not, for a short while. */
const settled = async (state: () => Promise<string | undefined>): Promise<string | undefined> => {
  let now = await state();
  for (let turn = 0; turn < 10 && /ING$/.test((now ?? '').replace('RUNNING', '')); turn += 1) {
    await new Promise((done) => setTimeout(done, 150));
    now = await state();
  }
  return now;
};

const nowhere = '0123456789abcdefghijklmno';
/** Kubernetes clusters, roles, buckets, keys and certificates belong to other services: these are there before. */
const executionRoleArn = 'arn:aws:iam::123456789012:role/EMRContainers-JobExecutionRole';
const kmsKeyArn = 'arn:aws:kms:us-east-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab';
const releaseLabel = 'emr-6.9.0-latest';
const eks = 'analytics-eks';
const hour = 3_600_000;

const pi = (tasks = '10'): JobDriver => ({
  sparkSubmitJobDriver: {
    entryPoint: 's3://my-bucket/scripts/pi.py',
    entryPointArguments: [tasks],
    sparkSubmitParameters: '--conf spark.executor.instances=2 --conf spark.executor.memory=2G --conf spark.driver.cores=1',
  },
});
const provider = (namespace: string, id = eks) => ({ id, type: 'EKS' as const, info: { eksInfo: { namespace } } });
const cluster = async (e: EMRContainers, name: string, tags?: Record<string, string>, id = eks): Promise<string> => {
  const made = await e.createVirtualCluster({
    name,
    containerProvider: provider(`ns-${name}`, id),
    clientToken: `token-of-${name}`,
    ...(tags && { tags }),
  });
  return given(made.id, 'id');
};
type Clusters = NonNullable<Parameters<EMRContainers['listVirtualClusters']>[0]>;
const clusters = async (e: EMRContainers, asked: Clusters = {}, pageSize = 100): Promise<string[]> => {
  const rows = await gather(paginateListVirtualClusters({ client: e, pageSize }, asked), (page) => page.virtualClusters ?? []);
  return rows.map(({ id }) => given(id, 'id'));
};
const run = async (e: EMRContainers, virtualClusterId: string, name: string): Promise<string> => {
  const made = await e.startJobRun({
    virtualClusterId,
    name,
    executionRoleArn,
    releaseLabel,
    jobDriver: pi(),
    clientToken: `token-of-${name}`,
  });
  return given(made.id, 'id');
};
type Runs = NonNullable<Parameters<EMRContainers['listJobRuns']>[0]>;
const runs = async (e: EMRContainers, asked: Runs, pageSize = 100): Promise<string[]> => {
  const rows = await gather(paginateListJobRuns({ client: e, pageSize }, asked), (page) => page.jobRuns ?? []);
  return rows.map(({ id }) => given(id, 'id'));
};
const template = async (e: EMRContainers, name: string, tags?: Record<string, string>): Promise<string> => {
  const made = await e.createJobTemplate({
    name,
    clientToken: `token-of-${name}`,
    jobTemplateData: { executionRoleArn, releaseLabel, jobDriver: pi() },
    ...(tags && { tags }),
  });
  return given(made.id, 'id');
};
type Templates = NonNullable<Parameters<EMRContainers['listJobTemplates']>[0]>;
const templates = async (e: EMRContainers, asked: Templates = {}, pageSize = 100): Promise<string[]> => {
  const rows = await gather(paginateListJobTemplates({ client: e, pageSize }, asked), (page) => page.templates ?? []);
  return rows.map(({ id }) => given(id, 'id'));
};
const endpoint = async (e: EMRContainers, virtualClusterId: string, name: string): Promise<string> => {
  const made = await e.createManagedEndpoint({
    virtualClusterId,
    name,
    type: 'JUPYTER_ENTERPRISE_GATEWAY',
    releaseLabel,
    executionRoleArn,
    clientToken: `token-of-${name}`,
  });
  return given(made.id, 'id');
};
type Endpoints = NonNullable<Parameters<EMRContainers['listManagedEndpoints']>[0]>;
const endpoints = async (e: EMRContainers, asked: Endpoints, pageSize = 100): Promise<string[]> => {
  const rows = await gather(paginateListManagedEndpoints({ client: e, pageSize }, asked), (page) => page.endpoints ?? []);
  return rows.map(({ id }) => given(id, 'id'));
};
const stateOf = async (e: EMRContainers, id: string): Promise<string | undefined> =>
  (await e.describeVirtualCluster({ id })).virtualCluster?.state;

/** Guide: docs.aws.amazon.com/emr/latest/EMR-on-EKS-DevelopmentGuide (virtual clusters, job runs, job templates, interactive endpoints) and its API reference. */
/** A word of a template that is to be filled in. */
const blank = (name: string): string => `$\{${name}}`;

export const vendor: Vendor<EMRContainers> = {
  document: 'emr-containers/emr-containers.json',
  header: 'Authorization',
  word: 'AWS4-HMAC-SHA256',
  made: 'AKIAIOSFODNN7EXAMPLE',
  client: connect,
  strict: ['a credential that is refused'],
  flows: {
    'a virtual cluster, from the first to the last day': (e, s) => ({
      made: async () => {
        const made = await e.createVirtualCluster({
          name: 'life-cluster',
          containerProvider: provider('spark-jobs'),
          clientToken: 'life-1',
          tags: { team: 'data' },
        });
        assert.equal(made.name, 'life-cluster');
        s.id = given(made.id, 'id');
        s.arn = given(made.arn, 'arn');
      },
      'its ARN is of a virtual cluster, with its identifier': async () => {
        assert.match(s.arn, /^arn:aws[\w-]*:emr-containers:.+:\d{12}:\/virtualclusters\/[0-9a-zA-Z]+$/);
        assert.ok(s.arn.endsWith(`/${s.id}`), `${s.arn} of ${s.id}`);
      },
      read: async () => {
        const { virtualCluster: read } = await e.describeVirtualCluster({ id: s.id });
        assert.deepEqual([read?.id, read?.name, read?.arn, read?.tags], [s.id, 'life-cluster', s.arn, { team: 'data' }]);
        assert.deepEqual(read?.containerProvider, provider('spark-jobs'));
        recent(read?.createdAt, 'createdAt');
      },
      'it is running': async () => assert.equal(await stateOf(e, s.id), 'RUNNING'),
      'is in the list': async () => {
        const rows = await gather(paginateListVirtualClusters({ client: e }, {}), (page) => page.virtualClusters ?? []);
        once(
          rows.map((row) => `${row.id} ${row.name} ${row.arn}`),
          [`${s.id} life-cluster ${s.arn}`],
          'clusters',
        );
      },
      deleted: async () => assert.equal((await e.deleteVirtualCluster({ id: s.id })).id, s.id),
      'it is terminated, after a while': async () => {
        const state = await settled(() => stateOf(e, s.id));
        oneOf(state, 'TERMINATING', 'TERMINATED');
      },
      'and not among those that run': async () => without(await clusters(e, { states: ['RUNNING'] }), s.id),
    }),

    'virtual clusters through all pages': (e, s) => ({
      'five are made, in no order': async () => {
        for (const letter of ['c', 'a', 'e', 'b', 'd']) s[letter] = await cluster(e, `page-${letter}`);
      },
      'no more on a page than asked for': async () => {
        const page = await e.listVirtualClusters({ maxResults: 2 });
        assert.ok(given(page.virtualClusters, 'virtualClusters').length <= 2, 'more than two');
        given(page.nextToken, 'nextToken');
      },
      'all of them, each once': async () => {
        const rows = await clusters(e, {}, 2);
        once(rows, [...new Set(rows), s.a, s.b, s.c, s.d, s.e], 'clusters');
      },
      'each with its own namespace': async () => {
        const rows = await gather(paginateListVirtualClusters({ client: e }, {}), (page) => page.virtualClusters ?? []);
        const row = rows.find(({ id }) => id === s.c);
        assert.deepEqual([row?.name, row?.containerProvider?.info?.eksInfo?.namespace], ['page-c', 'ns-page-c']);
      },
      'one less of those that run': async () => {
        await e.deleteVirtualCluster({ id: s.b });
        const rows = await clusters(e, { states: ['RUNNING'] }, 2);
        once(rows, [s.a, s.c, s.d, s.e], 'clusters');
        without(rows, s.b);
      },
    }),

    'virtual clusters that are looked for': (e, s) => ({
      'two in one Kubernetes cluster, one in another': async () => {
        s.one = await cluster(e, 'find-one', undefined, 'eks-north');
        s.two = await cluster(e, 'find-two', undefined, 'eks-north');
        s.three = await cluster(e, 'find-three', undefined, 'eks-south');
      },
      'those of the first': async () => {
        const rows = await clusters(e, { containerProviderId: 'eks-north', containerProviderType: 'EKS' }, 1);
        once(rows, [s.one, s.two], 'clusters');
        without(rows, s.three);
      },
      'those of the last hour, and of the one before': async () => {
        const before = new Date(Date.now() - hour);
        once(await clusters(e, { createdAfter: before }), [s.one, s.two, s.three], 'clusters');
        const older = await clusters(e, { createdBefore: before });
        for (const id of [s.one, s.two, s.three]) without(older, id);
      },
      'those that run, or did': async () => {
        await e.deleteVirtualCluster({ id: s.two });
        await settled(() => stateOf(e, s.two));
        const rows = await clusters(e, { states: ['TERMINATING', 'TERMINATED'] });
        once(rows, [s.two], 'clusters');
        without(rows, s.one);
        once(await clusters(e, { states: ['RUNNING', 'TERMINATING', 'TERMINATED'] }), [s.one, s.two, s.three], 'clusters');
      },
      'not by a state that there is not': () => wrong(e.listVirtualClusters({ states: ['ASLEEP' as 'RUNNING'] })),
    }),

    'one namespace is for one virtual cluster': (e, s) => ({
      'a cluster': async () => {
        const made = await e.createVirtualCluster({
          name: 'first-comer',
          containerProvider: provider('crowded'),
          clientToken: 'crowd-1',
        });
        s.id = given(made.id, 'id');
      },
      'asked for again in the same words, it is the same': async () => {
        const again = await e.createVirtualCluster({
          name: 'first-comer',
          containerProvider: provider('crowded'),
          clientToken: 'crowd-1',
        });
        assert.equal(again.id, s.id);
      },
      'it is in the list once': async () => {
        const rows = await gather(paginateListVirtualClusters({ client: e }, {}), (page) => page.virtualClusters ?? []);
        once(
          rows.map(({ name }) => given(name, 'name')),
          ['first-comer'],
          'clusters',
        );
      },
      'another does not get its namespace': () =>
        wrong(e.createVirtualCluster({ name: 'late-comer', containerProvider: provider('crowded'), clientToken: 'crowd-2' })),
      'but one beside it': async () => {
        const made = await e.createVirtualCluster({
          name: 'late-comer',
          containerProvider: provider('spacious'),
          clientToken: 'crowd-3',
        });
        assert.notEqual(given(made.id, 'id'), s.id);
      },
    }),

    'a job runs': (e, s) => ({
      'a cluster': async () => {
        s.cluster = await cluster(e, 'job-cluster');
      },
      started: async () => {
        const made = await e.startJobRun({
          virtualClusterId: s.cluster,
          name: 'pi-ten',
          executionRoleArn,
          releaseLabel,
          jobDriver: pi(),
          retryPolicyConfiguration: { maxAttempts: 3 },
          clientToken: 'pi-1',
          tags: { stage: 'test' },
        });
        assert.deepEqual([made.name, made.virtualClusterId], ['pi-ten', s.cluster]);
        s.id = given(made.id, 'id');
        s.arn = given(made.arn, 'arn');
      },
      read: async () => {
        const { jobRun: read } = await e.describeJobRun({ virtualClusterId: s.cluster, id: s.id });
        assert.deepEqual(
          [
            read?.id,
            read?.name,
            read?.virtualClusterId,
            read?.arn,
            read?.executionRoleArn,
            read?.releaseLabel,
            read?.clientToken,
          ],
          [s.id, 'pi-ten', s.cluster, s.arn, executionRoleArn, releaseLabel, 'pi-1'],
        );
        assert.deepEqual(read?.tags, { stage: 'test' });
        recent(read?.createdAt, 'createdAt');
      },
      'what it does': async () => {
        const { jobRun: read } = await e.describeJobRun({ virtualClusterId: s.cluster, id: s.id });
        assert.deepEqual(read?.jobDriver?.sparkSubmitJobDriver, pi().sparkSubmitJobDriver);
        assert.equal(read?.retryPolicyConfiguration?.maxAttempts, 3);
      },
      'how it is': async () => {
        const { jobRun: read } = await e.describeJobRun({ virtualClusterId: s.cluster, id: s.id });
        oneOf(read?.state, 'PENDING', 'SUBMITTED', 'RUNNING', 'COMPLETED');
      },
      'is in the list of its cluster': async () => {
        const walk = paginateListJobRuns({ client: e }, { virtualClusterId: s.cluster });
        const rows = await gather(walk, ({ jobRuns }) => jobRuns ?? []);
        once(
          rows.map((row) => `${row.id} ${row.name} ${row.virtualClusterId}`),
          [`${s.id} pi-ten ${s.cluster}`],
          'jobs',
        );
      },
      'asked for again in the same words, it is the same': async () => {
        const again = await e.startJobRun({
          virtualClusterId: s.cluster,
          name: 'pi-ten',
          executionRoleArn,
          releaseLabel,
          jobDriver: pi(),
          retryPolicyConfiguration: { maxAttempts: 3 },
          clientToken: 'pi-1',
          tags: { stage: 'test' },
        });
        assert.equal(again.id, s.id);
      },
      'not known in another cluster': async () => {
        const other = await cluster(e, 'jobless-cluster');
        without(await runs(e, { virtualClusterId: other }), s.id);
        await missing(e.describeJobRun({ virtualClusterId: other, id: s.id }), 481);
      },
      'none in a cluster that is not there': () => missing(run(e, nowhere, 'pi-nowhere'), 480, 481),
    }),

    'a job is cancelled': (e, s) => ({
      'two jobs': async () => {
        s.cluster = await cluster(e, 'cancel-cluster');
        s.id = await run(e, s.cluster, 'to-be-cancelled');
        s.other = await run(e, s.cluster, 'to-be-left');
      },
      cancelled: async () => {
        const made = await e.cancelJobRun({ virtualClusterId: s.cluster, id: s.id });
        assert.deepEqual([made.id, made.virtualClusterId], [s.id, s.cluster]);
      },
      'it says so': async () => {
        const { jobRun } = await e.describeJobRun({ virtualClusterId: s.cluster, id: s.id });
        oneOf(jobRun?.state, 'CANCEL_PENDING', 'CANCELLED');
      },
      'the other does not': async () => {
        const { jobRun } = await e.describeJobRun({ virtualClusterId: s.cluster, id: s.other });
        oneOf(jobRun?.state, 'PENDING', 'SUBMITTED', 'RUNNING', 'COMPLETED');
      },
      'it is among those cancelled': async () => {
        const rows = await runs(e, { virtualClusterId: s.cluster, states: ['CANCEL_PENDING', 'CANCELLED'] });
        once(rows, [s.id], 'jobs');
        without(rows, s.other);
      },
      'not among those under way': async () => {
        const rows = await runs(e, { virtualClusterId: s.cluster, states: ['PENDING', 'SUBMITTED', 'RUNNING', 'COMPLETED'] });
        once(rows, [s.other], 'jobs');
        without(rows, s.id);
      },
      'what is not there is not cancelled': () => missing(e.cancelJobRun({ virtualClusterId: s.cluster, id: nowhere }), 480),
    }),

    'jobs that are looked for, through all pages': (e, s) => ({
      'four in one cluster': async () => {
        s.cluster = await cluster(e, 'many-cluster');
        for (const name of ['nightly', 'hourly', 'weekly', 'yearly']) s[name] = await run(e, s.cluster, name);
      },
      'no more on a page than asked for': async () => {
        const page = await e.listJobRuns({ virtualClusterId: s.cluster, maxResults: 2 });
        assert.ok(given(page.jobRuns, 'jobRuns').length <= 2, 'more than two');
        given(page.nextToken, 'nextToken');
      },
      'all of them, each once': async () => {
        const rows = await runs(e, { virtualClusterId: s.cluster }, 1);
        once(rows, [...new Set(rows), s.nightly, s.hourly, s.weekly, s.yearly], 'jobs');
      },
      'one by its name': async () => {
        const rows = await runs(e, { virtualClusterId: s.cluster, name: 'weekly' });
        once(rows, [s.weekly], 'jobs');
        for (const id of [s.nightly, s.hourly, s.yearly]) without(rows, id);
      },
      'those of the last hour, and of the one before': async () => {
        const before = new Date(Date.now() - hour);
        once(await runs(e, { virtualClusterId: s.cluster, createdAfter: before }), [s.nightly, s.yearly], 'jobs');
        without(await runs(e, { virtualClusterId: s.cluster, createdBefore: before }), s.nightly);
      },
      'none that failed': async () => without(await runs(e, { virtualClusterId: s.cluster, states: ['FAILED'] }), s.hourly),
      'not by a state that there is not': () =>
        wrong(e.listJobRuns({ virtualClusterId: s.cluster, states: ['BORED' as 'PENDING'] })),
    }),

    'a job of SQL, with its settings and logs': (e, s) => {
      const configurationOverrides = {
        applicationConfiguration: [
          {
            classification: 'spark-defaults',
            properties: { 'spark.dynamicAllocation.enabled': 'false', 'spark.driver.memory': '2G' },
          },
        ],
        monitoringConfiguration: {
          persistentAppUI: 'ENABLED' as const,
          cloudWatchMonitoringConfiguration: { logGroupName: '/emr-containers/jobs', logStreamNamePrefix: 'sql' },
          s3MonitoringConfiguration: { logUri: 's3://my-logs/emr/' },
          containerLogRotationConfiguration: { rotationSize: '10MB', maxFilesToKeep: 5 },
        },
      };
      const jobDriver = {
        sparkSqlJobDriver: {
          entryPoint: 's3://my-bucket/scripts/report.sql',
          sparkSqlParameters: '--conf spark.executor.instances=1',
        },
      };
      return {
        started: async () => {
          s.cluster = await cluster(e, 'sql-cluster');
          const made = await e.startJobRun({
            virtualClusterId: s.cluster,
            name: 'report',
            executionRoleArn,
            releaseLabel: 'emr-6.10.0-latest',
            jobDriver,
            configurationOverrides,
            clientToken: 'sql-1',
          });
          s.id = given(made.id, 'id');
        },
        'it has its query, and nothing else to do': async () => {
          const { jobRun } = await e.describeJobRun({ virtualClusterId: s.cluster, id: s.id });
          assert.deepEqual(jobRun?.jobDriver?.sparkSqlJobDriver, jobDriver.sparkSqlJobDriver);
          assert.equal(jobRun?.jobDriver?.sparkSubmitJobDriver, undefined);
          assert.equal(jobRun?.releaseLabel, 'emr-6.10.0-latest');
        },
        'its settings are as given': async () => {
          const { jobRun } = await e.describeJobRun({ virtualClusterId: s.cluster, id: s.id });
          assert.partialDeepStrictEqual(jobRun?.configurationOverrides?.applicationConfiguration, [
            ...configurationOverrides.applicationConfiguration,
          ]);
        },
        'and where its logs go': async () => {
          const { jobRun } = await e.describeJobRun({ virtualClusterId: s.cluster, id: s.id });
          assert.partialDeepStrictEqual(
            jobRun?.configurationOverrides?.monitoringConfiguration,
            configurationOverrides.monitoringConfiguration,
          );
        },
        'no more than fifty files of them': () =>
          wrong(
            e.startJobRun({
              virtualClusterId: s.cluster,
              name: 'loud',
              executionRoleArn,
              releaseLabel,
              jobDriver,
              configurationOverrides: {
                monitoringConfiguration: { containerLogRotationConfiguration: { rotationSize: '10MB', maxFilesToKeep: 51 } },
              },
              clientToken: 'sql-2',
            }),
          ),
        'that job was not started': async () =>
          assert.deepEqual(await runs(e, { virtualClusterId: s.cluster, name: 'loud' }), []),
      };
    },

    'a job template, from the first to the last day': (e, s) => ({
      made: async () => {
        const made = await e.createJobTemplate({
          name: 'life-template',
          clientToken: 'life-template-1',
          jobTemplateData: { executionRoleArn, releaseLabel, jobDriver: pi('100'), jobTags: { from: 'template' } },
          kmsKeyArn,
          tags: { team: 'data' },
        });
        assert.equal(made.name, 'life-template');
        recent(made.createdAt, 'createdAt');
        s.id = given(made.id, 'id');
        s.arn = given(made.arn, 'arn');
      },
      read: async () => {
        const { jobTemplate: read } = await e.describeJobTemplate({ id: s.id });
        assert.deepEqual(
          [read?.id, read?.name, read?.arn, read?.kmsKeyArn, read?.tags],
          [s.id, 'life-template', s.arn, kmsKeyArn, { team: 'data' }],
        );
      },
      'it has the job as given': async () => {
        const { jobTemplate: read } = await e.describeJobTemplate({ id: s.id });
        const data = given(read?.jobTemplateData, 'jobTemplateData');
        assert.deepEqual(
          [data.executionRoleArn, data.releaseLabel, data.jobTags],
          [executionRoleArn, releaseLabel, { from: 'template' }],
        );
        assert.deepEqual(data.jobDriver?.sparkSubmitJobDriver, pi('100').sparkSubmitJobDriver);
      },
      'is in the list': async () => {
        const rows = await gather(paginateListJobTemplates({ client: e }, {}), (page) => page.templates ?? []);
        once(
          rows.map((row) => `${row.id} ${row.name} ${row.arn}`),
          [`${s.id} life-template ${s.arn}`],
          'templates',
        );
      },
      'asked for again in the same words, it is the same': async () => {
        const again = await e.createJobTemplate({
          name: 'life-template',
          clientToken: 'life-template-1',
          jobTemplateData: { executionRoleArn, releaseLabel, jobDriver: pi('100'), jobTags: { from: 'template' } },
          kmsKeyArn,
          tags: { team: 'data' },
        });
        assert.equal(again.id, s.id);
      },
      deleted: async () => assert.equal((await e.deleteJobTemplate({ id: s.id })).id, s.id),
      gone: () => missing(e.describeJobTemplate({ id: s.id }), 481),
      'no longer in the list': async () => without(await templates(e), s.id),
    }),

    'job templates through all pages': (e, s) => ({
      'four are made, in no order': async () => {
        for (const letter of ['d', 'b', 'a', 'c']) s[letter] = await template(e, `page-${letter}`);
      },
      'no more on a page than asked for': async () => {
        const page = await e.listJobTemplates({ maxResults: 1 });
        assert.equal(given(page.templates, 'templates').length, 1);
        given(page.nextToken, 'nextToken');
      },
      'all of them, each once': async () => {
        const rows = await templates(e, {}, 1);
        once(rows, [...new Set(rows), s.a, s.b, s.c, s.d], 'templates');
      },
      'those of the last hour, and of the one before': async () => {
        const before = new Date(Date.now() - hour);
        once(await templates(e, { createdAfter: before }), [s.a, s.b, s.c, s.d], 'templates');
        without(await templates(e, { createdBefore: before }), s.a);
      },
      'one less': async () => {
        await e.deleteJobTemplate({ id: s.c });
        const rows = await templates(e, {}, 2);
        once(rows, [s.a, s.b, s.d], 'templates');
        without(rows, s.c);
      },
    }),

    'a job is started from a template': (e, s) => ({
      'a template with two blanks': async () => {
        s.cluster = await cluster(e, 'template-cluster');
        const made = await e.createJobTemplate({
          name: 'with-blanks',
          clientToken: 'blanks-1',
          jobTemplateData: {
            executionRoleArn,
            releaseLabel: blank('Release'),
            jobDriver: {
              sparkSubmitJobDriver: { entryPoint: 's3://my-bucket/scripts/etl.py', entryPointArguments: [blank('InputPath')] },
            },
            parameterConfiguration: {
              Release: { type: 'STRING', defaultValue: releaseLabel },
              InputPath: { type: 'STRING' },
            },
          },
        });
        s.template = given(made.id, 'id');
      },
      'they are kept': async () => {
        const data = (await e.describeJobTemplate({ id: s.template })).jobTemplate?.jobTemplateData;
        assert.equal(data?.releaseLabel, blank('Release'));
        assert.deepEqual(data?.parameterConfiguration?.Release, { type: 'STRING', defaultValue: releaseLabel });
        assert.equal(data?.parameterConfiguration?.InputPath?.type, 'STRING');
      },
      'a job is started, with one filled in': async () => {
        const made = await e.startJobRun({
          virtualClusterId: s.cluster,
          name: 'etl-monday',
          jobTemplateId: s.template,
          jobTemplateParameters: { InputPath: 's3://my-bucket/monday/' },
          clientToken: 'etl-1',
        });
        assert.deepEqual([made.name, made.virtualClusterId], ['etl-monday', s.cluster]);
        s.id = given(made.id, 'id');
      },
      'it does what the template says': async () => {
        const { jobRun } = await e.describeJobRun({ virtualClusterId: s.cluster, id: s.id });
        assert.equal(jobRun?.executionRoleArn, executionRoleArn);
        assert.equal(jobRun?.jobDriver?.sparkSubmitJobDriver?.entryPoint, 's3://my-bucket/scripts/etl.py');
      },
      'with what was filled in, and the default': async () => {
        const { jobRun } = await e.describeJobRun({ virtualClusterId: s.cluster, id: s.id });
        assert.deepEqual(jobRun?.jobDriver?.sparkSubmitJobDriver?.entryPointArguments, ['s3://my-bucket/monday/']);
        assert.equal(jobRun?.releaseLabel, releaseLabel);
      },
      'none with a blank that has no default': () =>
        wrong(e.startJobRun({ virtualClusterId: s.cluster, name: 'etl-blank', jobTemplateId: s.template, clientToken: 'etl-2' })),
      'none of a template that is not there': () =>
        missing(
          e.startJobRun({ virtualClusterId: s.cluster, name: 'etl-none', jobTemplateId: nowhere, clientToken: 'etl-3' }),
          480,
          481,
        ),
    }),

    'an interactive endpoint, from the first to the last day': (e, s) => ({
      made: async () => {
        s.cluster = await cluster(e, 'studio-cluster');
        const made = await e.createManagedEndpoint({
          virtualClusterId: s.cluster,
          name: 'life-endpoint',
          type: 'JUPYTER_ENTERPRISE_GATEWAY',
          releaseLabel,
          executionRoleArn,
          configurationOverrides: {
            monitoringConfiguration: { cloudWatchMonitoringConfiguration: { logGroupName: '/emr-containers/endpoints' } },
          },
          clientToken: 'life-endpoint-1',
          tags: { team: 'science' },
        });
        assert.deepEqual([made.name, made.virtualClusterId], ['life-endpoint', s.cluster]);
        s.id = given(made.id, 'id');
        s.arn = given(made.arn, 'arn');
      },
      read: async () => {
        const { endpoint: read } = await e.describeManagedEndpoint({ virtualClusterId: s.cluster, id: s.id });
        assert.deepEqual(
          [read?.id, read?.name, read?.arn, read?.virtualClusterId, read?.type, read?.releaseLabel, read?.executionRoleArn],
          [s.id, 'life-endpoint', s.arn, s.cluster, 'JUPYTER_ENTERPRISE_GATEWAY', releaseLabel, executionRoleArn],
        );
        assert.deepEqual(read?.tags, { team: 'science' });
        assert.equal(
          read?.configurationOverrides?.monitoringConfiguration?.cloudWatchMonitoringConfiguration?.logGroupName,
          '/emr-containers/endpoints',
        );
        recent(read?.createdAt, 'createdAt');
      },
      'it is being made, or ready': async () => {
        const { endpoint: read } = await e.describeManagedEndpoint({ virtualClusterId: s.cluster, id: s.id });
        oneOf(read?.state, 'CREATING', 'ACTIVE');
      },
      'is in the list of its cluster': async () => {
        const walk = paginateListManagedEndpoints({ client: e }, { virtualClusterId: s.cluster });
        const rows = await gather(walk, (page) => page.endpoints ?? []);
        once(
          rows.map((row) => `${row.id} ${row.name} ${row.type}`),
          [`${s.id} life-endpoint JUPYTER_ENTERPRISE_GATEWAY`],
          'endpoints',
        );
      },
      'of no other': async () => {
        const other = await cluster(e, 'plain-cluster');
        without(await endpoints(e, { virtualClusterId: other }), s.id);
      },
      deleted: async () => {
        const gone = await e.deleteManagedEndpoint({ virtualClusterId: s.cluster, id: s.id });
        assert.deepEqual([gone.id, gone.virtualClusterId], [s.id, s.cluster]);
      },
      'it is terminated, after a while': async () => {
        const state = await settled(
          async () => (await e.describeManagedEndpoint({ virtualClusterId: s.cluster, id: s.id })).endpoint?.state,
        );
        oneOf(state, 'TERMINATING', 'TERMINATED');
      },
      'and not among those ready': async () =>
        without(await endpoints(e, { virtualClusterId: s.cluster, states: ['CREATING', 'ACTIVE'] }), s.id),
    }),

    'interactive endpoints that are looked for, and their credentials': (e, s) => ({
      'three in one cluster': async () => {
        s.cluster = await cluster(e, 'endpoint-cluster');
        for (const name of ['red', 'green', 'blue']) s[name] = await endpoint(e, s.cluster, name);
      },
      'all of them, each once': async () => {
        const rows = await endpoints(e, { virtualClusterId: s.cluster }, 1);
        once(rows, [...new Set(rows), s.red, s.green, s.blue], 'endpoints');
      },
      'those of their kind, and of another': async () => {
        const virtualClusterId = s.cluster;
        const rows = await endpoints(e, { virtualClusterId, types: ['JUPYTER_ENTERPRISE_GATEWAY'] });
        once(rows, [s.red, s.green, s.blue], 'endpoints');
        without(await endpoints(e, { virtualClusterId, types: ['LIVY'] }), s.red);
      },
      'those of the last hour, and of the one before': async () => {
        const before = new Date(Date.now() - hour);
        once(await endpoints(e, { virtualClusterId: s.cluster, createdAfter: before }), [s.red, s.blue], 'endpoints');
        without(await endpoints(e, { virtualClusterId: s.cluster, createdBefore: before }), s.red);
      },
      'a credential for half an hour, when it is ready': async () => {
        await settled(async () => (await e.describeManagedEndpoint({ virtualClusterId: s.cluster, id: s.red })).endpoint?.state);
        const made = await e.getManagedEndpointSessionCredentials({
          virtualClusterIdentifier: s.cluster,
          endpointIdentifier: s.red,
          executionRoleArn,
          credentialType: 'TOKEN',
          durationInSeconds: 1800,
          clientToken: 'session-1',
        });
        assert.ok(given(made.credentials?.token, 'token').length > 0, 'the token is empty');
        given(made.id, 'id');
        const minutes = (given(made.expiresAt, 'expiresAt').getTime() - Date.now()) / 60_000;
        assert.ok(minutes > 25 && minutes < 35, `it expires in ${minutes} minutes, not in 30`);
      },
      'none for what is not there': () =>
        missing(
          e.getManagedEndpointSessionCredentials({
            virtualClusterIdentifier: s.cluster,
            endpointIdentifier: nowhere,
            executionRoleArn,
            credentialType: 'TOKEN',
            clientToken: 'session-2',
          }),
          480,
          482,
        ),
    }),

    'tags of a cluster and a job': (e, s) => ({
      'a cluster with one': async () => {
        const made = await e.createVirtualCluster({
          name: 'tagged-cluster',
          containerProvider: provider('tagged'),
          clientToken: 'tagged-1',
          tags: { stage: 'test' },
        });
        s.id = given(made.id, 'id');
        s.arn = given(made.arn, 'arn');
        assert.deepEqual((await e.listTagsForResource({ resourceArn: s.arn })).tags, { stage: 'test' });
      },
      'two more': async () => {
        await e.tagResource({ resourceArn: s.arn, tags: { team: 'data', cost: '42' } });
        const { tags } = await e.listTagsForResource({ resourceArn: s.arn });
        assert.deepEqual(tags, { stage: 'test', team: 'data', cost: '42' });
      },
      'one has another value': async () => {
        await e.tagResource({ resourceArn: s.arn, tags: { stage: 'live' } });
        assert.equal((await e.listTagsForResource({ resourceArn: s.arn })).tags?.stage, 'live');
      },
      'the cluster has them too': async () => {
        const { virtualCluster } = await e.describeVirtualCluster({ id: s.id });
        assert.deepEqual(virtualCluster?.tags, { stage: 'live', team: 'data', cost: '42' });
      },
      'two are taken away': async () => {
        await e.untagResource({ resourceArn: s.arn, tagKeys: ['team', 'cost'] });
        assert.deepEqual((await e.listTagsForResource({ resourceArn: s.arn })).tags, { stage: 'live' });
      },
      'a job has its own': async () => {
        const made = await e.startJobRun({
          virtualClusterId: s.id,
          name: 'tagged-job',
          executionRoleArn,
          releaseLabel,
          jobDriver: pi(),
          clientToken: 'tagged-2',
          tags: { owner: 'ops' },
        });
        const resourceArn = given(made.arn, 'arn');
        await e.tagResource({ resourceArn, tags: { shift: 'night' } });
        assert.deepEqual((await e.listTagsForResource({ resourceArn })).tags, { owner: 'ops', shift: 'night' });
        assert.deepEqual((await e.listTagsForResource({ resourceArn: s.arn })).tags, { stage: 'live' });
      },
      'what is not there has none': () => missing(e.listTagsForResource({ resourceArn: s.arn.replace(/[^/]+$/, nowhere) }), 482),
    }),

    'a credential that is refused': (e, s, another) => ({
      'a cluster': async () => {
        s.id = await cluster(e, 'guarded-cluster');
      },
      'not read by another': () => stranger(another('AKIANOBODYATALL00000').describeVirtualCluster({ id: s.id })),
      'not listed by another': () => stranger(another('AKIANOBODYATALL00000').listVirtualClusters({})),
      'nothing made by another': () => stranger(cluster(another('AKIANOBODYATALL00000'), 'intruder-cluster')),
      'not deleted by another': () => stranger(another('AKIANOBODYATALL00000').deleteVirtualCluster({ id: s.id })),
      'it is still running, and alone': async () => {
        assert.equal(await stateOf(e, s.id), 'RUNNING');
        const rows = await gather(paginateListVirtualClusters({ client: e }, {}), (page) => page.virtualClusters ?? []);
        without(
          rows.map(({ name }) => name ?? ''),
          'intruder-cluster',
        );
      },
    }),

    'wrong requests, and what is not there': (e, s) => ({
      'a cluster in what is no Kubernetes': () =>
        wrong(
          e.createVirtualCluster({
            name: 'wrong-provider',
            containerProvider: { ...provider('wrong'), type: 'MAINFRAME' as 'EKS' },
            clientToken: 'wrong-1',
          }),
        ),
      'a cluster with too long a name': () =>
        wrong(e.createVirtualCluster({ name: 'n'.repeat(65), containerProvider: provider('wrong'), clientToken: 'wrong-2' })),
      'neither was made': async () => {
        const rows = await gather(paginateListVirtualClusters({ client: e }, {}), (page) => page.virtualClusters ?? []);
        const names = rows.map(({ name }) => name ?? '');
        without(names, 'wrong-provider');
        without(names, 'n'.repeat(65));
      },
      'a job with what is no role': async () => {
        s.cluster = await cluster(e, 'wrong-cluster');
        await wrong(
          e.startJobRun({
            virtualClusterId: s.cluster,
            name: 'no-role',
            executionRoleArn: 'my-best-role-ever-seen',
            releaseLabel,
            jobDriver: pi(),
            clientToken: 'wrong-3',
          }),
        );
      },
      'a template without a job': () =>
        wrong(
          e.createJobTemplate({
            name: 'jobless',
            clientToken: 'wrong-4',
            jobTemplateData: { executionRoleArn, releaseLabel, jobDriver: undefined },
          }),
        ),
      'what is not there is not read': async () => {
        await missing(e.describeVirtualCluster({ id: nowhere }), 481);
        await missing(e.describeJobRun({ virtualClusterId: s.cluster, id: nowhere }), 481);
        await missing(e.describeJobTemplate({ id: nowhere }), 481);
        await missing(e.describeManagedEndpoint({ virtualClusterId: s.cluster, id: nowhere }), 481);
      },
      'nor deleted': async () => {
        await missing(e.deleteVirtualCluster({ id: nowhere }), 480);
        await missing(e.deleteManagedEndpoint({ virtualClusterId: s.cluster, id: nowhere }), 480);
      },
    }),
  },
};
