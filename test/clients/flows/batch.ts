import assert from 'node:assert/strict';
import { BatchServiceClient } from '@azure/batch';
import { given, once, type Place, pages, refused, type Vendor } from '../kit.ts';

type Batch = BatchServiceClient;

/** A token of Azure Active Directory, as the guide has it; what fails is not tried again. */
const connect = (place: Place, token: string): Batch =>
  new BatchServiceClient(
    {
      signRequest: async (request) => {
        request.headers.set('authorization', `Bearer ${token}`);
        return request;
      },
    },
    { baseUri: place.url, noRetryPolicy: true },
  );

/** A pool without a machine in it. */
const empty = {
  vmSize: 'standard_a1',
  cloudServiceConfiguration: { osFamily: '5' },
  targetDedicatedNodes: 0,
  targetLowPriorityNodes: 0,
};

const pool = (b: Batch, id: string): Promise<unknown> => b.pool.add({ id, ...empty });
const job = (b: Batch, id: string): Promise<unknown> => b.job.add({ id, poolInfo: { poolId: 'workers' } });
const schedule = (b: Batch, id: string): Promise<unknown> =>
  b.jobSchedule.add({
    id,
    schedule: { recurrenceInterval: 'PT1H' },
    jobSpecification: { poolInfo: { poolId: 'workers' }, priority: 10 },
  });

const ids = (rows: readonly { readonly id?: string }[]): string[] => rows.map(({ id }) => id ?? '');

const pools = async (b: Batch, maxResults: number): Promise<string[]> =>
  ids(
    await pages(
      (from) => (from === undefined ? b.pool.list({ poolListOptions: { maxResults } }) : b.pool.listNext(from)),
      (page) => page,
      (page) => page.odatanextLink,
    ),
  );
const jobs = async (b: Batch, maxResults: number): Promise<string[]> =>
  ids(
    await pages(
      (from) => (from === undefined ? b.job.list({ jobListOptions: { maxResults } }) : b.job.listNext(from)),
      (page) => page,
      (page) => page.odatanextLink,
    ),
  );
const tasks = async (b: Batch, of: string, maxResults: number): Promise<string[]> =>
  ids(
    await pages(
      (from) => (from === undefined ? b.task.list(of, { taskListOptions: { maxResults } }) : b.task.listNext(from)),
      (page) => page,
      (page) => page.odatanextLink,
    ),
  );
const schedules = async (b: Batch, maxResults: number): Promise<string[]> =>
  ids(
    await pages(
      (from) =>
        from === undefined ? b.jobSchedule.list({ jobScheduleListOptions: { maxResults } }) : b.jobSchedule.listNext(from),
      (page) => page,
      (page) => page.odatanextLink,
    ),
  );

/** What is deleted is on its way out until it is gone: it is then not found. */
const leaves = async (read: Promise<{ readonly state?: string }>): Promise<unknown> => {
  try {
    const { state } = await read;
    return assert.equal(state, 'deleting');
  } catch (thrown) {
    return thrown instanceof assert.AssertionError ? Promise.reject(thrown) : refused(Promise.reject(thrown), 404);
  }
};

const among = (state: string | undefined, ...states: readonly string[]): void =>
  assert.ok(state !== undefined && states.includes(state), `the state is ${state}, not ${states.join(' or ')}`);

/** A certificate that is no secret: it was signed by itself for this flow. */
const certificate = {
  thumbprintAlgorithm: 'sha1',
  thumbprint: '34b53feaab5dd7bdbff002be8a043c983e95aeaf',
  certificateFormat: 'cer',
  data: [
    'MIICAjCCAWugAwIBAgIUM1+3fGUmBG74VlzMopd9Iod5tBUwDQYJKoZIhvcNAQELBQAwEjEQMA4GA1UEAwwHbmlnaHRseTAgFw0yNjEx',
    'MjgxODE4MjhaGA8yMTI2MTEwNDE4MTgyOFowEjEQMA4GA1UEAwwHbmlnaHRseTCBnzANBgkqhkiG9w0BAQEFAAOBjQAwgYkCgYEAp5Ga',
    'h8oF/CoyGvAB0VCYU9nbtrLHydD1gEBacF/tMOoDphz/XMbTnmyQLmh6ejOKt9+7xNR5n2zzNahadvySvGLiSdd8tVkLckVvNPQtR9SF',
    'G+mjNuJhmbhtsLE1ghLhewZUy40/f/6ngAUqcSexLKSAmWC/E8+3Z+gqsVAQJOECAwEAAaNTMFEwHQYDVR0OBBYEFM3qF5s8HEW+DttO',
    'ZVYoPMsLLoigMB8GA1UdIwQYMBaAFM3qF5s8HEW+DttOZVYoPMsLLoigMA8GA1UdEwEB/wQFMAMBAf8wDQYJKoZIhvcNAQELBQADgYEA',
    'mPJMpryX4mgpj+ngaY5YAF9ubDdmK89/uo2iDXBCWm/iARIzyq4tUHOfAUTEEi+vIPaHReGV7o5dUdCOAU5K7GF/vzc2sUjh96yc35uE',
    'oOU95e1GruxbE0oQd/o9z7G6ff5GKMto90BWIN5XwDA2/DpsEc8dKPbuyLd1R4Vfljk=',
  ].join(''),
} as const;

/** Guide: learn.microsoft.com, "Batch service workflow and resources", "Batch service REST API reference", 2018-08-01.7.0. */
export const vendor: Vendor<Batch> = {
  document: 'batch/batch-BatchService.json',
  header: 'authorization',
  word: 'Bearer',
  made: 'made-up-token',
  client: connect,
  flows: {
    'a pool from its making to its end': (b) => ({
      'it is not there yet': async () => assert.equal((await b.pool.exists('workers')).body, false),
      create: async () =>
        b.pool.add({ id: 'workers', displayName: 'The workers', ...empty, metadata: [{ name: 'team', value: 'render' }] }),
      'it is there': async () => assert.equal((await b.pool.exists('workers')).body, true),
      read: async () => {
        const read = await b.pool.get('workers');
        assert.equal(read.id, 'workers');
        assert.equal(read.displayName, 'The workers');
        assert.equal(read.vmSize, 'standard_a1');
        assert.equal(read.cloudServiceConfiguration?.osFamily, '5');
        assert.equal(read.state, 'active');
        assert.deepEqual(read.metadata, [{ name: 'team', value: 'render' }]);
      },
      list: async () => once(await pools(b, 100), ['workers']),
      change: async () => b.pool.patch('workers', { metadata: [{ name: 'team', value: 'sound' }] }),
      'it is changed, and only what was sent': async () => {
        const read = await b.pool.get('workers');
        assert.deepEqual(read.metadata, [{ name: 'team', value: 'sound' }]);
        assert.equal(read.displayName, 'The workers');
      },
      delete: async () => b.pool.deleteMethod('workers'),
      'it leaves': async () => leaves(b.pool.get('workers')),
    }),
    'pools through all pages': (b) => ({
      create: async () => {
        for (const id of ['red', 'orange', 'yellow', 'green', 'blue']) await pool(b, id);
      },
      'in pages of two': async () => once(await pools(b, 2), ['red', 'orange', 'yellow', 'green', 'blue']),
      'a page holds no more than was asked for': async () =>
        assert.ok((await b.pool.list({ poolListOptions: { maxResults: 2 } })).length <= 2),
      'a first page is not all': async () =>
        given((await b.pool.list({ poolListOptions: { maxResults: 2 } })).odatanextLink, 'next link'),
    }),
    'the size of a pool': (b) => ({
      create: async () => pool(b, 'workers'),
      'it has no machine': async () => assert.equal((await b.pool.get('workers')).targetDedicatedNodes, 0),
      resize: async () => b.pool.resize('workers', { targetDedicatedNodes: 3, targetLowPriorityNodes: 1 }),
      'it is to have as many as were asked for': async () => {
        const read = await b.pool.get('workers');
        assert.equal(read.targetDedicatedNodes, 3);
        assert.equal(read.targetLowPriorityNodes, 1);
        among(read.allocationState, 'resizing', 'steady');
      },
      'a pool that nobody made': async () => refused(b.pool.resize('nowhere', { targetDedicatedNodes: 1 }), 404),
    }),
    'a pool that scales by itself': (b) => ({
      create: async () => pool(b, 'workers'),
      'it does not yet': async () => assert.notEqual((await b.pool.get('workers')).enableAutoScale, true),
      enable: async () =>
        b.pool.enableAutoScale('workers', { autoScaleFormula: '$TargetDedicatedNodes=0;', autoScaleEvaluationInterval: 'PT10M' }),
      'it does': async () => {
        const read = await b.pool.get('workers');
        assert.equal(read.enableAutoScale, true);
        assert.equal(read.autoScaleFormula, '$TargetDedicatedNodes=0;');
        assert.equal(read.autoScaleEvaluationInterval, 'PT10M');
      },
      'evaluate another formula': async () => {
        const { timestamp } = await b.pool.evaluateAutoScale('workers', '$TargetDedicatedNodes=2;');
        assert.ok(timestamp instanceof Date && !Number.isNaN(timestamp.getTime()));
      },
      'the formula is as it was': async () =>
        assert.equal((await b.pool.get('workers')).autoScaleFormula, '$TargetDedicatedNodes=0;'),
      disable: async () => b.pool.disableAutoScale('workers'),
      'it does no more': async () => assert.notEqual((await b.pool.get('workers')).enableAutoScale, true),
    }),
    'all properties of a pool at once': (b) => ({
      create: async () =>
        b.pool.add({
          id: 'workers',
          ...empty,
          startTask: { commandLine: 'cmd /c echo ready', waitForSuccess: true },
          metadata: [{ name: 'team', value: 'render' }],
        }),
      'it has a start task': async () => assert.equal((await b.pool.get('workers')).startTask?.commandLine, 'cmd /c echo ready'),
      'replace them': async () =>
        b.pool.updateProperties('workers', {
          certificateReferences: [],
          applicationPackageReferences: [],
          metadata: [{ name: 'floor', value: '2' }],
        }),
      'they are those': async () => assert.deepEqual((await b.pool.get('workers')).metadata, [{ name: 'floor', value: '2' }]),
      'what was left out is gone': async () => assert.equal((await b.pool.get('workers')).startTask, undefined),
    }),
    'a job from its making to its end': (b) => ({
      'create a pool': async () => pool(b, 'workers'),
      create: async () =>
        b.job.add({
          id: 'nightly',
          displayName: 'Each night',
          priority: 100,
          constraints: { maxTaskRetryCount: 3 },
          poolInfo: { poolId: 'workers' },
          metadata: [{ name: 'owner', value: 'ada' }],
        }),
      read: async () => {
        const read = await b.job.get('nightly');
        assert.equal(read.id, 'nightly');
        assert.equal(read.displayName, 'Each night');
        assert.equal(read.priority, 100);
        assert.equal(read.poolInfo?.poolId, 'workers');
        assert.equal(read.constraints?.maxTaskRetryCount, 3);
        assert.equal(read.state, 'active');
        assert.deepEqual(read.metadata, [{ name: 'owner', value: 'ada' }]);
      },
      list: async () => once(await jobs(b, 100), ['nightly']),
      'change one property': async () => b.job.patch('nightly', { priority: -50 }),
      'the others stay': async () => {
        const read = await b.job.get('nightly');
        assert.equal(read.priority, -50);
        assert.deepEqual(read.metadata, [{ name: 'owner', value: 'ada' }]);
      },
      'change all properties': async () =>
        b.job.update('nightly', { poolInfo: { poolId: 'workers' }, priority: 7, metadata: [{ name: 'owner', value: 'bob' }] }),
      'they are those': async () => {
        const read = await b.job.get('nightly');
        assert.equal(read.priority, 7);
        assert.deepEqual(read.metadata, [{ name: 'owner', value: 'bob' }]);
      },
      delete: async () => b.job.deleteMethod('nightly'),
      'it leaves': async () => leaves(b.job.get('nightly')),
    }),
    'jobs through all pages, and a search of them': (b) => ({
      create: async () => {
        await pool(b, 'workers');
        for (const id of ['report-1', 'report-2', 'report-3', 'film-1', 'film-2']) await job(b, id);
      },
      'in pages of two': async () => once(await jobs(b, 2), ['report-1', 'report-2', 'report-3', 'film-1', 'film-2']),
      'by how their ids begin': async () => {
        const found = ids(await b.job.list({ jobListOptions: { filter: "startswith(id,'report-')" } }));
        once(found, ['report-1', 'report-2', 'report-3']);
        assert.ok(found.every((id) => id.startsWith('report-')));
      },
      'by one id': async () =>
        assert.deepEqual(ids(await b.job.list({ jobListOptions: { filter: "id eq 'film-2'" } })), ['film-2']),
      'only some properties': async () => {
        const found = await b.job.list({ jobListOptions: { filter: "id eq 'film-2'", select: 'id,state' } });
        assert.equal(found[0]?.id, 'film-2');
        assert.equal(found[0]?.state, 'active');
        assert.equal(found[0]?.poolInfo, undefined);
      },
    }),
    'a job is stopped and goes on': (b) => ({
      create: async () => {
        await pool(b, 'workers');
        await job(b, 'nightly');
      },
      disable: async () => b.job.disable('nightly', 'requeue'),
      'it is disabled, or about to be': async () => among((await b.job.get('nightly')).state, 'disabling', 'disabled'),
      enable: async () => b.job.enable('nightly'),
      'it is active, or about to be': async () => among((await b.job.get('nightly')).state, 'enabling', 'active'),
      terminate: async () => b.job.terminate('nightly', { terminateReason: 'enough of it' }),
      'it is completed, or about to be': async () => {
        const read = await b.job.get('nightly');
        among(read.state, 'terminating', 'completed');
        if (read.state === 'completed') assert.equal(read.executionInfo?.terminateReason, 'enough of it');
      },
      'no task is added to it': async () => refused(b.task.add('nightly', { id: 'late', commandLine: 'cmd /c echo late' }), 409),
    }),
    'a task from its making to its end': (b) => ({
      'create its job': async () => {
        await pool(b, 'workers');
        await job(b, 'nightly');
      },
      create: async () =>
        b.task.add('nightly', {
          id: 'first',
          displayName: 'The first',
          commandLine: 'cmd /c echo hello',
          environmentSettings: [{ name: 'PLACE', value: 'world' }],
          constraints: { maxTaskRetryCount: 1 },
        }),
      read: async () => {
        const read = await b.task.get('nightly', 'first');
        assert.equal(read.id, 'first');
        assert.equal(read.displayName, 'The first');
        assert.equal(read.commandLine, 'cmd /c echo hello');
        assert.deepEqual(read.environmentSettings, [{ name: 'PLACE', value: 'world' }]);
        assert.equal(read.constraints?.maxTaskRetryCount, 1);
      },
      list: async () => once(await tasks(b, 'nightly', 100), ['first']),
      change: async () => b.task.update('nightly', 'first', { constraints: { maxTaskRetryCount: 5 } }),
      'it is changed': async () => assert.equal((await b.task.get('nightly', 'first')).constraints?.maxTaskRetryCount, 5),
      delete: async () => b.task.deleteMethod('nightly', 'first'),
      gone: async () => refused(b.task.get('nightly', 'first'), 404),
      'gone from the list': async () => assert.ok(!(await tasks(b, 'nightly', 100)).includes('first')),
    }),
    'many tasks at once': (b) => ({
      'create their job': async () => {
        await pool(b, 'workers');
        await job(b, 'nightly');
      },
      'add three': async () => {
        const { value } = await b.task.addCollection(
          'nightly',
          ['one', 'two', 'three'].map((id) => ({ id, commandLine: `cmd /c echo ${id}` })),
        );
        const results = given(value, 'value');
        assert.deepEqual(results.map(({ taskId }) => taskId).sort(), ['one', 'three', 'two']);
        for (const { status } of results) assert.equal(status, 'success');
      },
      'each is there': async () => {
        for (const id of ['one', 'two', 'three'])
          assert.equal((await b.task.get('nightly', id)).commandLine, `cmd /c echo ${id}`);
      },
      'they are listed': async () => once(await tasks(b, 'nightly', 100), ['one', 'two', 'three']),
      'one that is there and one that is not': async () => {
        const { value } = await b.task.addCollection('nightly', [
          { id: 'one', commandLine: 'cmd /c echo again' },
          { id: 'four', commandLine: 'cmd /c echo four' },
        ]);
        const results = given(value, 'value');
        assert.equal(results.find(({ taskId }) => taskId === 'one')?.status, 'clienterror');
        assert.equal(results.find(({ taskId }) => taskId === 'four')?.status, 'success');
      },
      'they are counted': async () => {
        const { active, running, completed } = await b.job.getTaskCounts('nightly');
        assert.equal(active + running + completed, 4);
      },
    }),
    'tasks of two jobs through all pages': (b) => ({
      create: async () => {
        await pool(b, 'workers');
        await job(b, 'day');
        await job(b, 'night');
        for (const id of ['1', '2', '3', '4', '5']) await b.task.add('day', { id: `day-${id}`, commandLine: 'cmd /c echo day' });
        await b.task.add('night', { id: 'night-1', commandLine: 'cmd /c echo night' });
      },
      'those of one in pages of two': async () => {
        const found = await tasks(b, 'day', 2);
        assert.deepEqual(found.sort(), ['day-1', 'day-2', 'day-3', 'day-4', 'day-5']);
      },
      'those of the other': async () => assert.deepEqual(await tasks(b, 'night', 2), ['night-1']),
      'one is not in the other job': async () => refused(b.task.get('night', 'day-1'), 404),
      'they go with their job': async () => {
        await b.job.deleteMethod('day');
        await leaves(b.job.get('day'));
      },
      'the other job keeps its own': async () => assert.equal((await b.task.get('night', 'night-1')).id, 'night-1'),
    }),
    'a task is ended and begins again': (b) => ({
      create: async () => {
        await pool(b, 'workers');
        await job(b, 'nightly');
        await b.task.add('nightly', { id: 'long', commandLine: 'cmd /c ping -n 1000 localhost' });
      },
      'it waits': async () => assert.equal((await b.task.get('nightly', 'long')).state, 'active'),
      terminate: async () => b.task.terminate('nightly', 'long'),
      'it is completed': async () => assert.equal((await b.task.get('nightly', 'long')).state, 'completed'),
      reactivate: async () => b.task.reactivate('nightly', 'long'),
      'it waits again': async () => assert.equal((await b.task.get('nightly', 'long')).state, 'active'),
      'a task that nobody made': async () => refused(b.task.terminate('nightly', 'none'), 404),
    }),
    'a job schedule from its making to its end': (b) => ({
      'it is not there yet': async () => assert.equal((await b.jobSchedule.exists('hourly')).body, false),
      create: async () => {
        await pool(b, 'workers');
        await schedule(b, 'hourly');
      },
      'it is there': async () => assert.equal((await b.jobSchedule.exists('hourly')).body, true),
      read: async () => {
        const read = await b.jobSchedule.get('hourly');
        assert.equal(read.id, 'hourly');
        assert.equal(read.schedule?.recurrenceInterval, 'PT1H');
        assert.equal(read.jobSpecification?.poolInfo.poolId, 'workers');
        assert.equal(read.jobSpecification?.priority, 10);
      },
      list: async () => once(await schedules(b, 100), ['hourly']),
      change: async () => b.jobSchedule.patch('hourly', { metadata: [{ name: 'owner', value: 'ada' }] }),
      'it is changed': async () => {
        const read = await b.jobSchedule.get('hourly');
        assert.deepEqual(read.metadata, [{ name: 'owner', value: 'ada' }]);
        assert.equal(read.schedule?.recurrenceInterval, 'PT1H');
      },
      'its jobs are of its pool': async () => {
        for (const { poolInfo } of await b.job.listFromJobSchedule('hourly')) assert.equal(poolInfo?.poolId, 'workers');
      },
      delete: async () => b.jobSchedule.deleteMethod('hourly'),
      'it leaves': async () => leaves(b.jobSchedule.get('hourly')),
    }),
    'job schedules: pages, and one that rests': (b) => ({
      create: async () => {
        await pool(b, 'workers');
        for (const id of ['spring', 'summer', 'autumn']) await schedule(b, id);
      },
      'in pages of two': async () => once(await schedules(b, 2), ['spring', 'summer', 'autumn']),
      disable: async () => b.jobSchedule.disable('summer'),
      'it is disabled': async () => assert.equal((await b.jobSchedule.get('summer')).state, 'disabled'),
      'the others are not': async () => assert.equal((await b.jobSchedule.get('spring')).state, 'active'),
      enable: async () => b.jobSchedule.enable('summer'),
      'it is active': async () => assert.equal((await b.jobSchedule.get('summer')).state, 'active'),
      terminate: async () => b.jobSchedule.terminate('summer'),
      'it is completed, or about to be': async () => among((await b.jobSchedule.get('summer')).state, 'terminating', 'completed'),
    }),
    'a certificate': (b) => {
      const { thumbprintAlgorithm, thumbprint } = certificate;
      const thumbprints = async (): Promise<string[]> =>
        (await b.certificate.list()).map((row) => (row.thumbprint ?? '').toLowerCase());
      return {
        'it is not there yet': async () => refused(b.certificate.get(thumbprintAlgorithm, thumbprint), 404),
        add: async () => b.certificate.add(certificate),
        read: async () => {
          const read = await b.certificate.get(thumbprintAlgorithm, thumbprint);
          assert.equal(read.thumbprint?.toLowerCase(), thumbprint);
          assert.equal(read.thumbprintAlgorithm, thumbprintAlgorithm);
          assert.equal(read.state, 'active');
        },
        list: async () => once(await thumbprints(), [thumbprint]),
        'it cannot be added again': async () => refused(b.certificate.add(certificate), 409),
        delete: async () => b.certificate.deleteMethod(thumbprintAlgorithm, thumbprint),
        'it leaves': async () => leaves(b.certificate.get(thumbprintAlgorithm, thumbprint)),
      };
    },
    'requests that are wrong': (b) => ({
      'a pool that nobody made': async () => {
        const thrown = (await refused(b.pool.get('nowhere'), 404)) as { body?: { code?: unknown } };
        assert.equal(typeof thrown.body?.code, 'string');
      },
      'a name that is taken': async () => {
        await pool(b, 'workers');
        await refused(pool(b, 'workers'), 409);
      },
      'a job that nobody made': async () => refused(b.job.patch('nowhere', { priority: 1 }), 404),
      'a task of a job that nobody made': async () => refused(b.task.add('nowhere', { id: 'a', commandLine: 'cmd' }), 404),
      'a change of what has changed since': async () => {
        await job(b, 'nightly');
        const ifMatch = given((await b.job.get('nightly')).eTag, 'eTag');
        await b.job.patch('nightly', { priority: 1 }, { jobPatchOptions: { ifMatch } });
        await refused(b.job.patch('nightly', { priority: 2 }, { jobPatchOptions: { ifMatch } }), 412);
      },
      'it is as it was before': async () => assert.equal((await b.job.get('nightly')).priority, 1),
      'a job schedule that nobody made': async () => refused(b.jobSchedule.deleteMethod('nowhere'), 404),
    }),
  },
};
