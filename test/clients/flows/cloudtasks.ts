import assert from 'node:assert/strict';
import { auth, cloudtasks, type cloudtasks_v2beta3 } from 'googleapis/build/src/apis/cloudtasks/index.js';
import { given, once, type Place, pages, refused, type Vendor } from '../kit.ts';

type Queue = cloudtasks_v2beta3.Schema$Queue;
type Task = cloudtasks_v2beta3.Schema$Task;
type Client = cloudtasks_v2beta3.Resource$Projects$Locations;

/** `rootUrl` is the client's own option; it would ask again four times where it finds the server broken. */
const connect = (place: Place, token: string): Client => {
  const credential = new auth.OAuth2();
  credential.setCredentials({ access_token: token });
  return cloudtasks({ version: 'v2beta3', auth: credential, rootUrl: `${place.url}/`, retry: false }).projects.locations;
};

/** A project is made by another service, and its location is there. */
const project = 'projects/my-project';
const parent = `${project}/locations/us-central1`;
const at = (id: string): string => `${parent}/queues/${id}`;
const inside = (queue: string, id: string): string => `${at(queue)}/tasks/${id}`;
const base64 = (text: string): string => Buffer.from(text).toString('base64');

const queue = async (c: Client, id: string, more: Queue = {}): Promise<Queue> =>
  (await c.queues.create({ parent, requestBody: { name: at(id), ...more } })).data;
/** Tasks are scheduled for an hour from now, so that none is dispatched before a flow has ended. */
const later = (): string => new Date(Math.ceil(Date.now() / 1000) * 1000 + 3_600_000).toISOString();
const target = { url: 'https://tasks.invalid/log_payload', httpMethod: 'POST' };
const task = async (c: Client, on: string, id: string | undefined, more: Task = {}): Promise<Task> => {
  const what: Task = { httpRequest: target, scheduleTime: later(), ...more };
  const named = id === undefined ? what : { name: inside(on, id), ...what };
  return (await c.queues.tasks.create({ parent: at(on), requestBody: { task: named } })).data;
};
const names = (rows: readonly { readonly name?: string | null }[]): string[] => rows.map(({ name }) => given(name, 'name'));
const queues = async (c: Client, more: { filter?: string; pageSize?: number } = {}): Promise<Queue[]> =>
  pages(
    async (pageToken) => (await c.queues.list({ parent, ...more, ...(pageToken === undefined ? {} : { pageToken }) })).data,
    ({ queues }) => queues ?? [],
    ({ nextPageToken }) => nextPageToken || undefined,
  );
const tasks = async (c: Client, on: string, pageSize?: number): Promise<string[]> =>
  names(
    await pages(
      async (pageToken) =>
        (
          await c.queues.tasks.list({
            parent: at(on),
            ...(pageSize === undefined ? {} : { pageSize }),
            ...(pageToken === undefined ? {} : { pageToken }),
          })
        ).data,
      ({ tasks }) => tasks ?? [],
      ({ nextPageToken }) => nextPageToken || undefined,
    ),
  );
/** A purge may take a while: it is asked for until it is so, for less than a step may last. */
const eventually = async (so: () => Promise<boolean>, what: string): Promise<void> => {
  for (let turn = 0; turn < 30; turn += 1) {
    if (await so()) return;
    await new Promise((done) => setTimeout(done, 400));
  }
  throw new Error(what);
};
const member = 'user:mike@example.com';
const enqueuer = { role: 'roles/cloudtasks.enqueuer', members: [member] };
const viewer = { role: 'roles/cloudtasks.viewer', members: [member, 'serviceAccount:my-app@my-project.iam.gserviceaccount.com'] };

/** Guide: cloud.google.com/tasks/docs (creating queues and HTTP tasks, managing them) and its REST reference, v2beta3. */
export const vendor: Vendor<Client> = {
  document: 'cloudtasks/cloudtasks.json',
  header: 'Authorization',
  word: 'Bearer',
  made: 'ya29.made-up',
  client: connect,
  strict: ['a credential that is refused'],
  flows: {
    'a queue, from the first to the last day': (c) => ({
      made: async () => {
        const made = await queue(c, 'life-queue', {
          rateLimits: { maxDispatchesPerSecond: 5, maxConcurrentDispatches: 2 },
          retryConfig: { maxAttempts: 5, minBackoff: '1s', maxBackoff: '60s', maxDoublings: 3 },
        });
        assert.deepEqual([made.name, made.state], [at('life-queue'), 'RUNNING']);
      },
      read: async () => {
        const { data } = await c.queues.get({ name: at('life-queue') });
        assert.partialDeepStrictEqual(data, {
          name: at('life-queue'),
          state: 'RUNNING',
          rateLimits: { maxDispatchesPerSecond: 5, maxConcurrentDispatches: 2 },
          retryConfig: { maxAttempts: 5, minBackoff: '1s', maxBackoff: '60s', maxDoublings: 3 },
        });
      },
      'is in the list': async () => once(names(await queues(c)), [at('life-queue')], 'queues'),
      'more attempts': async () => {
        const requestBody: Queue = { retryConfig: { maxAttempts: 7 } };
        const { data } = await c.queues.patch({
          name: at('life-queue'),
          updateMask: 'retryConfig.maxAttempts',
          requestBody,
        });
        assert.deepEqual([data.name, data.retryConfig?.maxAttempts], [at('life-queue'), 7]);
      },
      'the rest stays': async () => {
        const { data } = await c.queues.get({ name: at('life-queue') });
        assert.partialDeepStrictEqual(data, {
          state: 'RUNNING',
          rateLimits: { maxDispatchesPerSecond: 5, maxConcurrentDispatches: 2 },
          retryConfig: { maxAttempts: 7, maxBackoff: '60s' },
        });
      },
      deleted: () => c.queues.delete({ name: at('life-queue') }),
      gone: () => refused(c.queues.get({ name: at('life-queue') }), 404),
      'no longer in the list': async () => assert.ok(!names(await queues(c)).includes(at('life-queue')), 'it is'),
    }),

    'queues through all pages': (c) => ({
      'five are made, in no order': async () => {
        for (const id of ['page-c', 'page-a', 'page-e', 'page-b', 'page-d']) await queue(c, id);
      },
      'no more on a page than asked for': async () => {
        const { data } = await c.queues.list({ parent, pageSize: 2 });
        assert.ok(given(data.queues, 'queues').length <= 2, 'more than two');
        given(data.nextPageToken || undefined, 'next page token');
      },
      'all of them, each once': async () => {
        const rows = names(await queues(c, { pageSize: 2 }));
        once(rows, [...new Set(rows)], 'queues');
        once(
          rows,
          ['a', 'b', 'c', 'd', 'e'].map((letter) => at(`page-${letter}`)),
          'queues',
        );
      },
      'in the order of their names': async () => {
        const rows = names(await queues(c, { pageSize: 2 })).filter((name) => name.startsWith(at('page-')));
        assert.deepEqual(rows, rows.toSorted());
      },
      'those of another location are others': async () => {
        const { data } = await c.queues.list({ parent: `${project}/locations/europe-west1` });
        assert.ok(!names(data.queues ?? []).some((name) => name.startsWith(parent)), 'they are listed');
      },
      'how many tasks they hold is told where it is asked for': async () => {
        const { data } = await c.queues.list({ parent, readMask: 'name,stats' });
        const row = given(
          (data.queues ?? []).find(({ name }) => name === at('page-a')),
          'row',
        );
        given(row.stats, 'stats');
        assert.equal(row.state, undefined);
      },
      'and only there': async () => {
        for (const { stats } of await queues(c)) assert.equal(stats, undefined);
      },
    }),

    'a queue is paused and resumed': (c) => ({
      'two queues': async () => {
        await queue(c, 'rest-one');
        await queue(c, 'rest-two');
      },
      'one is paused': async () => {
        const { data } = await c.queues.pause({ name: at('rest-one'), requestBody: {} });
        assert.deepEqual([data.name, data.state], [at('rest-one'), 'PAUSED']);
      },
      'it is, and the other is not': async () => {
        const states = [];
        for (const id of ['rest-one', 'rest-two']) states.push((await c.queues.get({ name: at(id) })).data.state);
        assert.deepEqual(states, ['PAUSED', 'RUNNING']);
      },
      'it is found by its state': async () => {
        const rows = await queues(c, { filter: 'state: PAUSED' });
        once(names(rows), [at('rest-one')], 'paused queues');
        for (const { state } of rows) assert.equal(state, 'PAUSED');
      },
      'it still takes tasks': async () => {
        const made = await task(c, 'rest-one', 'waiting');
        assert.equal(made.name, inside('rest-one', 'waiting'));
      },
      'a change does not wake it': async () => {
        const requestBody: Queue = { rateLimits: { maxConcurrentDispatches: 3 } };
        const updateMask = 'rateLimits.maxConcurrentDispatches';
        const { data } = await c.queues.patch({ name: at('rest-one'), updateMask, requestBody });
        assert.deepEqual([data.state, data.rateLimits?.maxConcurrentDispatches], ['PAUSED', 3]);
      },
      'it is resumed': async () => {
        const { data } = await c.queues.resume({ name: at('rest-one'), requestBody: {} });
        assert.deepEqual([data.name, data.state], [at('rest-one'), 'RUNNING']);
      },
      'it runs, and its task is there': async () => {
        assert.equal((await c.queues.get({ name: at('rest-one') })).data.state, 'RUNNING');
        assert.deepEqual(await tasks(c, 'rest-one'), [inside('rest-one', 'waiting')]);
      },
    }),

    'a queue is made by a change': (c) => ({
      'it is not there': () => refused(c.queues.get({ name: at('by-change') }), 404),
      'it is changed, and so it is made': async () => {
        const requestBody: Queue = { name: at('by-change'), retryConfig: { maxAttempts: 3 } };
        const { data } = await c.queues.patch({ name: at('by-change'), requestBody });
        assert.deepEqual([data.name, data.retryConfig?.maxAttempts], [at('by-change'), 3]);
      },
      'it is there': async () => {
        const { data } = await c.queues.get({ name: at('by-change') });
        assert.deepEqual([data.name, data.state, data.retryConfig?.maxAttempts], [at('by-change'), 'RUNNING', 3]);
      },
      once: async () => once(names(await queues(c)), [at('by-change')], 'queues'),
      'it is not made again': () => refused(queue(c, 'by-change'), 409),
      'changed again, it is the same': async () => {
        const requestBody: Queue = { retryConfig: { maxAttempts: 4 } };
        await c.queues.patch({ name: at('by-change'), updateMask: 'retryConfig.maxAttempts', requestBody });
        once(names(await queues(c)), [at('by-change')], 'queues');
        assert.equal((await c.queues.get({ name: at('by-change') })).data.retryConfig?.maxAttempts, 4);
      },
    }),

    'a task, from the first to the last day': (c, s) => ({
      'a queue': () => queue(c, 'task-life'),
      made: async () => {
        s.when = later();
        const made = await task(c, 'task-life', 'first', { scheduleTime: s.when });
        assert.deepEqual([made.name, made.httpRequest?.url], [inside('task-life', 'first'), target.url]);
        given(made.createTime, 'createTime');
      },
      read: async () => {
        const { data } = await c.queues.tasks.get({ name: inside('task-life', 'first') });
        assert.equal(data.name, inside('task-life', 'first'));
        assert.deepEqual([data.httpRequest?.url, data.httpRequest?.httpMethod], [target.url, 'POST']);
        assert.equal(Date.parse(given(data.scheduleTime, 'scheduleTime')), Date.parse(s.when));
      },
      'is in the list of its queue': async () => assert.deepEqual(await tasks(c, 'task-life'), [inside('task-life', 'first')]),
      'another of its name is not made': () => refused(task(c, 'task-life', 'first'), 409),
      deleted: () => c.queues.tasks.delete({ name: inside('task-life', 'first') }),
      gone: async () => {
        await refused(c.queues.tasks.get({ name: inside('task-life', 'first') }), 404);
        assert.deepEqual(await tasks(c, 'task-life'), []);
      },
      /** "The IDs of deleted tasks are not immediately available for reuse." */
      'its name is not free yet': () => refused(task(c, 'task-life', 'first'), 409),
    }),

    'tasks of two queues': (c, s) => ({
      'two queues': async () => {
        await queue(c, 'side-left');
        await queue(c, 'side-right');
      },
      'one task has the same id in both': async () => {
        assert.equal((await task(c, 'side-left', 'same')).name, inside('side-left', 'same'));
        assert.equal((await task(c, 'side-right', 'same')).name, inside('side-right', 'same'));
      },
      'two have names that the service gives': async () => {
        s.one = given((await task(c, 'side-left', undefined)).name, 'name');
        s.two = given((await task(c, 'side-left', undefined)).name, 'name');
        assert.notEqual(s.one, s.two);
        for (const name of [s.one, s.two]) {
          assert.ok(name.startsWith(inside('side-left', '')), name);
          assert.match(name.slice(inside('side-left', '').length), /^[\w-]+$/);
        }
      },
      'by which they are read': async () => {
        assert.equal((await c.queues.tasks.get({ name: s.one })).data.name, s.one);
        assert.equal((await c.queues.tasks.get({ name: s.two })).data.name, s.two);
      },
      'each queue lists its own': async () => {
        assert.deepEqual((await tasks(c, 'side-left')).sort(), [inside('side-left', 'same'), s.one, s.two].sort());
        assert.deepEqual(await tasks(c, 'side-right'), [inside('side-right', 'same')]);
      },
      'one is deleted': () => c.queues.tasks.delete({ name: inside('side-left', 'same') }),
      'that of the other queue is still there': async () => {
        await refused(c.queues.tasks.get({ name: inside('side-left', 'same') }), 404);
        assert.equal((await c.queues.tasks.get({ name: inside('side-right', 'same') })).data.name, inside('side-right', 'same'));
      },
    }),

    'tasks through all pages': (c) => ({
      'a queue': () => queue(c, 'many-tasks'),
      'it has none': async () => assert.deepEqual(await tasks(c, 'many-tasks'), []),
      'five are made': async () => {
        for (const id of ['t5a', 't3b', 't9c', 't1d', 't7e']) await task(c, 'many-tasks', id);
      },
      'no more on a page than asked for': async () => {
        const { data } = await c.queues.tasks.list({ parent: at('many-tasks'), pageSize: 2 });
        assert.ok((data.tasks ?? []).length <= 2, 'more than two');
        given(data.nextPageToken || undefined, 'next page token');
      },
      'all of them, each once': async () => {
        const wanted = ['t1d', 't3b', 't5a', 't7e', 't9c'].map((id) => inside('many-tasks', id));
        assert.deepEqual((await tasks(c, 'many-tasks', 2)).sort(), wanted);
      },
      'one fewer when one is deleted': async () => {
        await c.queues.tasks.delete({ name: inside('many-tasks', 't5a') });
        const wanted = ['t1d', 't3b', 't7e', 't9c'].map((id) => inside('many-tasks', id));
        assert.deepEqual((await tasks(c, 'many-tasks', 3)).sort(), wanted);
      },
    }),

    /** What a view leaves out is told of the body of an App Engine task. */
    'views of a task': (c) => ({
      'a queue': () => queue(c, 'views'),
      'a task with a body': async () => {
        const made = await task(c, 'views', 'payload', {
          httpRequest: undefined,
          appEngineHttpRequest: {
            relativeUri: '/log_payload',
            httpMethod: 'POST',
            headers: { 'Content-Type': 'text/plain' },
            body: base64('hello'),
          },
        });
        assert.deepEqual([made.view, made.appEngineHttpRequest?.relativeUri], ['BASIC', '/log_payload']);
      },
      'the basic view, as it is': async () => {
        const { data } = await c.queues.tasks.get({ name: inside('views', 'payload') });
        assert.deepEqual([data.view, data.appEngineHttpRequest?.body], ['BASIC', undefined]);
      },
      'the full view': async () => {
        const { data } = await c.queues.tasks.get({ name: inside('views', 'payload'), responseView: 'FULL' });
        assert.deepEqual([data.view, data.appEngineHttpRequest?.body], ['FULL', base64('hello')]);
        assert.equal(data.appEngineHttpRequest?.headers?.['Content-Type'], 'text/plain');
      },
      'of a list': async () => {
        const { data } = await c.queues.tasks.list({ parent: at('views'), responseView: 'FULL' });
        assert.deepEqual(
          (data.tasks ?? []).map(({ name, view, appEngineHttpRequest: asked }) => [name, view, asked?.body]),
          [[inside('views', 'payload'), 'FULL', base64('hello')]],
        );
      },
      'of one as it is made': async () => {
        const httpRequest = { ...target, body: base64('hi') };
        const what: Task = { name: inside('views', 'full'), httpRequest, scheduleTime: later() };
        const { data } = await c.queues.tasks.create({ parent: at('views'), requestBody: { task: what, responseView: 'FULL' } });
        assert.deepEqual([data.view, data.httpRequest?.body], ['FULL', base64('hi')]);
      },
      'no view that there is not': () =>
        refused(c.queues.tasks.get({ name: inside('views', 'payload'), responseView: 'SIDE' }), 400),
    }),

    'a queue is purged': (c) => ({
      'a queue': async () => assert.equal((await queue(c, 'purged')).purgeTime, undefined),
      'three tasks': async () => {
        for (const id of ['p1', 'p2', 'p3']) await task(c, 'purged', id);
        assert.equal((await tasks(c, 'purged')).length, 3);
      },
      purged: async () => {
        const { data } = await c.queues.purge({ name: at('purged'), requestBody: {} });
        assert.equal(data.name, at('purged'));
      },
      'it has none': () => eventually(async () => (await tasks(c, 'purged')).length === 0, 'it still has some'),
      'none is there by itself': () => refused(c.queues.tasks.get({ name: inside('purged', 'p2') }), 404),
      'the queue is, and tells when': async () => {
        const { data } = await c.queues.get({ name: at('purged') });
        assert.equal(data.state, 'RUNNING');
        given(data.purgeTime, 'purgeTime');
      },
      'it takes new ones': async () => {
        await task(c, 'purged', 'p4');
        assert.deepEqual(await tasks(c, 'purged'), [inside('purged', 'p4')]);
      },
    }),

    /** The target is a host that there never is, so that each attempt fails and the task stays. */
    'a task is run at once': (c) => ({
      'a paused queue': async () => {
        await queue(c, 'run-now');
        await c.queues.pause({ name: at('run-now'), requestBody: {} });
      },
      'a task': () => task(c, 'run-now', 'urgent'),
      'it was not tried yet': async () => {
        const { data } = await c.queues.tasks.get({ name: inside('run-now', 'urgent') });
        assert.deepEqual([data.dispatchCount ?? 0, data.firstAttempt ?? undefined], [0, undefined]);
      },
      run: async () => {
        const { data } = await c.queues.tasks.run({ name: inside('run-now', 'urgent'), requestBody: {} });
        assert.equal(data.name, inside('run-now', 'urgent'));
        assert.ok(given(data.dispatchCount, 'dispatchCount') >= 1, 'it was not dispatched');
      },
      'the queue is paused still': async () => assert.equal((await c.queues.get({ name: at('run-now') })).data.state, 'PAUSED'),
      'another, with all that is known of it': async () => {
        await task(c, 'run-now', 'whole', { httpRequest: { ...target, body: base64('now') } });
        const requestBody = { responseView: 'FULL' };
        const { data } = await c.queues.tasks.run({ name: inside('run-now', 'whole'), requestBody });
        assert.deepEqual([data.view, data.httpRequest?.body], ['FULL', base64('now')]);
      },
      'one that is not there': () => refused(c.queues.tasks.run({ name: inside('run-now', 'nowhere'), requestBody: {} }), 404),
    }),

    'tasks that are buffered': (c) => ({
      'a queue with a target, which is paused': async () => {
        const httpTarget = {
          httpMethod: 'POST',
          uriOverride: { scheme: 'HTTPS', host: 'tasks.invalid', pathOverride: { path: '/hook' } },
        };
        const made = await queue(c, 'buffered', { httpTarget });
        assert.partialDeepStrictEqual(made.httpTarget, httpTarget);
        await c.queues.pause({ name: at('buffered'), requestBody: {} });
      },
      'a task is buffered': async () => {
        const requestBody = { body: { contentType: 'text/plain', data: base64('hello') } };
        const { data } = await c.queues.tasks.buffer({ queue: at('buffered'), taskId: 'b1', requestBody });
        assert.equal(given(data.task, 'task').name, inside('buffered', 'b1'));
      },
      'it is read': async () => {
        const { data } = await c.queues.tasks.get({ name: inside('buffered', 'b1') });
        assert.equal(data.name, inside('buffered', 'b1'));
      },
      'it is listed with the next': async () => {
        await c.queues.tasks.buffer({ queue: at('buffered'), taskId: 'b2', requestBody: {} });
        assert.deepEqual((await tasks(c, 'buffered')).sort(), [inside('buffered', 'b1'), inside('buffered', 'b2')]);
      },
      'it is deleted as others are': async () => {
        await c.queues.tasks.delete({ name: inside('buffered', 'b1') });
        await refused(c.queues.tasks.get({ name: inside('buffered', 'b1') }), 404);
      },
      'a queue without a target takes none': async () => {
        await queue(c, 'untargeted');
        await refused(c.queues.tasks.buffer({ queue: at('untargeted'), taskId: 'b1', requestBody: {} }), 400);
      },
      'nor does one that is not there': () =>
        refused(c.queues.tasks.buffer({ queue: at('nowhere'), taskId: 'b1', requestBody: {} }), 404),
    }),

    'who may do what with a queue': (c, s) => ({
      'a queue': () => queue(c, 'guarded-by-policy'),
      'it has an empty policy': async () => {
        const { data } = await c.queues.getIamPolicy({ resource: at('guarded-by-policy'), requestBody: {} });
        assert.deepEqual(data.bindings ?? [], []);
      },
      'one is set': async () => {
        const requestBody = { policy: { bindings: [enqueuer] } };
        const { data } = await c.queues.setIamPolicy({ resource: at('guarded-by-policy'), requestBody });
        assert.partialDeepStrictEqual(data.bindings, [enqueuer]);
      },
      'it is told': async () => {
        const { data } = await c.queues.getIamPolicy({ resource: at('guarded-by-policy'), requestBody: {} });
        assert.partialDeepStrictEqual(data.bindings, [enqueuer]);
        s.etag = given(data.etag, 'etag');
      },
      'another takes its place': async () => {
        const resource = at('guarded-by-policy');
        await c.queues.setIamPolicy({ resource, requestBody: { policy: { etag: s.etag, bindings: [viewer] } } });
        const { bindings } = (await c.queues.getIamPolicy({ resource, requestBody: {} })).data;
        assert.deepEqual(
          given(bindings, 'bindings').map(({ role }) => role),
          [viewer.role],
        );
        assert.deepEqual(given(given(bindings, 'bindings')[0]?.members, 'members').toSorted(), viewer.members.toSorted());
      },
      'what one may do is some of what is asked': async () => {
        const permissions = ['cloudtasks.queues.get', 'cloudtasks.tasks.create'];
        const { data } = await c.queues.testIamPermissions({ resource: at('guarded-by-policy'), requestBody: { permissions } });
        for (const one of data.permissions ?? []) assert.ok(permissions.includes(one), `${one} was not asked`);
      },
      'nothing, with a queue that is not there': async () => {
        const requestBody = { permissions: ['cloudtasks.queues.get'] };
        const { data } = await c.queues.testIamPermissions({ resource: at('nowhere'), requestBody });
        assert.deepEqual(data.permissions ?? [], []);
      },
      'which has no policy either': () => refused(c.queues.getIamPolicy({ resource: at('nowhere'), requestBody: {} }), 403, 404),
    }),

    /** Locations are there beforehand: no call makes one. */
    'where queues may be': (c, s) => ({
      'locations, through all pages': async () => {
        const rows = await pages(
          async (pageToken) =>
            (await c.list({ name: project, pageSize: 10, ...(pageToken === undefined ? {} : { pageToken }) })).data,
          ({ locations }) => locations ?? [],
          ({ nextPageToken }) => nextPageToken || undefined,
        );
        once(names(rows), names(rows), 'locations');
        const row = given(rows[0], 'location');
        s.location = given(row.name, 'name');
        s.id = given(row.locationId, 'locationId');
      },
      'one by itself': async () => {
        const { data } = await c.get({ name: s.location });
        assert.deepEqual([data.name, data.locationId], [s.location, s.id]);
      },
      'a queue there': async () => {
        const name = `${project}/locations/${s.id}/queues/placed`;
        const { data } = await c.queues.create({ parent: `${project}/locations/${s.id}`, requestBody: { name } });
        assert.equal(data.name, name);
      },
      'it is listed there': async () => {
        const { data } = await c.queues.list({ parent: `${project}/locations/${s.id}` });
        once(names(data.queues ?? []), [`${project}/locations/${s.id}/queues/placed`], 'queues');
      },
    }),

    'wrong requests': (c) => ({
      'a queue without a name': () => refused(c.queues.create({ parent, requestBody: {} }), 400),
      'a queue with a name that may not be': () => refused(queue(c, 'not a queue!'), 400),
      'more at once than is allowed': () =>
        refused(queue(c, 'wrong-one', { rateLimits: { maxConcurrentDispatches: 5001 } }), 400),
      'fewer attempts than none': () => refused(queue(c, 'wrong-one', { retryConfig: { maxAttempts: -2 } }), 400),
      'it was not made': () => refused(c.queues.get({ name: at('wrong-one') }), 404),
      'tasks of no known method, or to no address': async () => {
        await queue(c, 'wrong-tasks');
        await refused(task(c, 'wrong-tasks', 'w1', { httpRequest: { ...target, httpMethod: 'FETCH' } }), 400);
        await refused(task(c, 'wrong-tasks', 'w2', { httpRequest: { httpMethod: 'POST' } }), 400);
      },
      'a body where its method has none, or too short a deadline': async () => {
        const httpRequest = { ...target, httpMethod: 'GET', body: base64('hello') };
        await refused(task(c, 'wrong-tasks', 'w3', { httpRequest }), 400);
        await refused(task(c, 'wrong-tasks', 'w4', { dispatchDeadline: '5s' }), 400);
      },
      'none of them was made': async () => assert.deepEqual(await tasks(c, 'wrong-tasks'), []),
    }),

    'what is not there': (c) => ({
      'a queue': () => refused(c.queues.get({ name: at('nowhere') }), 404),
      'pausing it': () => refused(c.queues.pause({ name: at('nowhere'), requestBody: {} }), 404),
      'purging it': () => refused(c.queues.purge({ name: at('nowhere'), requestBody: {} }), 404),
      'deleting it': () => refused(c.queues.delete({ name: at('nowhere') }), 404),
      'a task in it': () => refused(task(c, 'nowhere', 'first'), 404),
      'a task of a queue that is there': async () => {
        await queue(c, 'empty-one');
        await refused(c.queues.tasks.get({ name: inside('empty-one', 'none') }), 404);
      },
      'deleting that': () => refused(c.queues.tasks.delete({ name: inside('empty-one', 'none') }), 404),
      'what was in a queue, when the queue is deleted': async () => {
        await task(c, 'empty-one', 'left');
        await c.queues.delete({ name: at('empty-one') });
        await refused(c.queues.tasks.get({ name: inside('empty-one', 'left') }), 404);
      },
    }),

    'a credential that is refused': (c, _s, another) => ({
      'a queue': () => queue(c, 'guarded'),
      'not read by another': () => refused(another('ya29.no-one').queues.get({ name: at('guarded') }), 401),
      'not listed by another': () => refused(another('ya29.no-one').queues.list({ parent }), 401),
      'no task by another': () => refused(task(another('ya29.no-one'), 'guarded', 'sneaked'), 401),
      'not deleted by another': () => refused(another('ya29.no-one').queues.delete({ name: at('guarded') }), 401),
      'it is still there, and has no task': async () => {
        assert.equal((await c.queues.get({ name: at('guarded') })).data.name, at('guarded'));
        assert.deepEqual(await tasks(c, 'guarded'), []);
      },
    }),
  },
};
