import assert from 'node:assert/strict';
import { auth, tasks, type tasks_v1 } from '@googleapis/tasks';
import { given, once, type Place, pages, refused, type State, type Vendor } from '../kit.ts';

type Tasks = tasks_v1.Tasks;

const connect = (place: Place, token: string): Tasks => {
  const user = new auth.OAuth2();
  user.setCredentials({ access_token: token });
  return tasks({ version: 'v1', auth: user, rootUrl: `${place.url}/`, retry: false });
};

const list = async (client: Tasks, s: State, title = 'Groceries'): Promise<string> => {
  s.list = given((await client.tasklists.insert({ requestBody: { title } })).data.id, 'id');
  return s.list;
};
const task = async (
  client: Tasks,
  s: State,
  title: string,
  where: { parent?: string; previous?: string } = {},
): Promise<string> => given((await client.tasks.insert({ tasklist: s.list, requestBody: { title }, ...where })).data.id, 'id');
const titles = async (client: Tasks, s: State, asked: tasks_v1.Params$Resource$Tasks$List = {}): Promise<(string | null)[]> =>
  ((await client.tasks.list({ tasklist: s.list, ...asked })).data.items ?? []).map(({ title }) => title ?? null);
const nowhere = 'MDAwMDAwMDAwMDAwMDAwMDAwMDA6MDow';

/** Guide: developers.google.com/workspace/tasks (the parameters, "Performance tips" and "Errors") and the reference of its methods. */
export const vendor: Vendor<Tasks> = {
  document: 'google-tasks/tasks.json',
  header: 'Authorization',
  word: 'Bearer',
  made: 'ya29.an-access-token',
  client: connect,
  strict: ['a token that is refused'],
  flows: {
    'a list is created, read, renamed and deleted': (client, s) => ({
      create: async () => {
        const { data } = await client.tasklists.insert({ requestBody: { title: 'Groceries' } });
        s.list = given(data.id, 'id');
        assert.deepEqual([data.kind, data.title], ['tasks#taskList', 'Groceries']);
        assert.ok(data.etag);
      },
      read: async () => {
        const { data } = await client.tasklists.get({ tasklist: s.list });
        assert.deepEqual([data.id, data.title], [s.list, 'Groceries']);
      },
      rename: async () => {
        const { data } = await client.tasklists.patch({ tasklist: s.list, requestBody: { title: 'Shopping' } });
        assert.deepEqual([data.id, data.title], [s.list, 'Shopping']);
      },
      'put another in its place': async () => {
        const { data } = await client.tasklists.update({ tasklist: s.list, requestBody: { id: s.list, title: 'Errands' } });
        assert.deepEqual([data.id, data.title], [s.list, 'Errands']);
      },
      'it stays so': async () => assert.equal((await client.tasklists.get({ tasklist: s.list })).data.title, 'Errands'),
      delete: async () => {
        await client.tasklists.delete({ tasklist: s.list });
      },
      'it is gone': () => refused(client.tasklists.get({ tasklist: s.list }), 404),
    }),
    'lists, page by page': (client, s) => ({
      'create five': async () => {
        const made: string[] = [];
        for (const title of ['one', 'two', 'three', 'four', 'five']) made.push(await list(client, s, title));
        s.lists = made.join(',');
      },
      'a page is no longer than asked for': async () => {
        const { data } = await client.tasklists.list({ maxResults: 2 });
        assert.deepEqual([data.kind, data.items?.length], ['tasks#taskLists', 2]);
        assert.ok(data.nextPageToken);
      },
      'all pages hold each once': async () => {
        const rows = await pages(
          async (pageToken) => (await client.tasklists.list({ maxResults: 2, pageToken })).data,
          (page) => page.items ?? [],
          (page) => page.nextPageToken,
        );
        once(
          rows.map(({ id }) => given(id, 'id')),
          s.lists.split(','),
          'lists',
        );
      },
    }),
    'a task is created, read, changed and deleted': (client, s) => ({
      'create the list': () => list(client, s),
      create: async () => {
        const requestBody = { title: 'Milk', notes: 'two pints', due: '2037-01-02T00:00:00.000Z' };
        const { data } = await client.tasks.insert({ tasklist: s.list, requestBody });
        s.id = given(data.id, 'id');
        assert.deepEqual([data.kind, data.title, data.notes, data.status], ['tasks#task', 'Milk', 'two pints', 'needsAction']);
        assert.equal(data.due, '2037-01-02T00:00:00.000Z');
      },
      read: async () => {
        const { data } = await client.tasks.get({ tasklist: s.list, task: s.id });
        assert.deepEqual([data.id, data.title, data.notes], [s.id, 'Milk', 'two pints']);
      },
      'change the notes': async () => {
        const { data } = await client.tasks.patch({ tasklist: s.list, task: s.id, requestBody: { notes: 'three pints' } });
        assert.deepEqual([data.title, data.notes], ['Milk', 'three pints']);
      },
      'put another in its place': async () => {
        const requestBody = { id: s.id, title: 'Oat milk', status: 'needsAction' };
        const { data } = await client.tasks.update({ tasklist: s.list, task: s.id, requestBody });
        assert.deepEqual([data.id, data.title], [s.id, 'Oat milk']);
      },
      'it is listed': async () => assert.deepEqual(await titles(client, s), ['Oat milk']),
      delete: async () => {
        await client.tasks.delete({ tasklist: s.list, task: s.id });
      },
      'it is not listed': async () => assert.deepEqual(await titles(client, s), []),
    }),
    'tasks, page by page': (client, s) => ({
      'create seven': async () => {
        await list(client, s);
        const made: string[] = [];
        for (let number = 1; number <= 7; number += 1) made.push(await task(client, s, `task ${number}`));
        s.ids = made.join(',');
      },
      'a page is no longer than asked for': async () => {
        const { data } = await client.tasks.list({ tasklist: s.list, maxResults: 3 });
        assert.deepEqual([data.kind, data.items?.length], ['tasks#tasks', 3]);
        assert.ok(data.nextPageToken);
      },
      'all pages hold each once': async () => {
        const rows = await pages(
          async (pageToken) => (await client.tasks.list({ tasklist: s.list, maxResults: 3, pageToken })).data,
          (page) => page.items ?? [],
          (page) => page.nextPageToken,
        );
        once(
          rows.map(({ id }) => given(id, 'id')),
          s.ids.split(','),
          'tasks',
        );
      },
      'the last page has no next': async () =>
        assert.equal((await client.tasks.list({ tasklist: s.list, maxResults: 100 })).data.nextPageToken ?? undefined, undefined),
    }),
    'a task is completed': (client, s) => ({
      'create two': async () => {
        await list(client, s);
        s.id = await task(client, s, 'Bread');
        await task(client, s, 'Butter');
      },
      complete: async () => {
        const { data } = await client.tasks.patch({ tasklist: s.list, task: s.id, requestBody: { status: 'completed' } });
        assert.equal(data.status, 'completed');
        assert.ok(data.completed);
      },
      'without those that are done': async () => assert.deepEqual(await titles(client, s, { showCompleted: false }), ['Butter']),
      'to be done again': async () => {
        const { data } = await client.tasks.patch({
          tasklist: s.list,
          task: s.id,
          requestBody: { status: 'needsAction', completed: null },
        });
        assert.deepEqual([data.status, data.completed ?? undefined], ['needsAction', undefined]);
      },
      'both are to be done': async () =>
        once((await titles(client, s, { showCompleted: false })).map(String), ['Bread', 'Butter'], 'tasks'),
    }),
    'what is done is cleared': (client, s) => ({
      'create two, and complete one': async () => {
        await list(client, s);
        s.id = await task(client, s, 'Done');
        await task(client, s, 'To do');
        await client.tasks.patch({ tasklist: s.list, task: s.id, requestBody: { status: 'completed' } });
      },
      clear: async () => {
        await client.tasks.clear({ tasklist: s.list });
      },
      'it is not listed': async () => assert.deepEqual(await titles(client, s), ['To do']),
      'it is hidden': async () => {
        const { data } = await client.tasks.get({ tasklist: s.list, task: s.id });
        assert.deepEqual([data.status, data.hidden], ['completed', true]);
      },
      'with those that are hidden': async () =>
        once((await titles(client, s, { showHidden: true, showCompleted: true })).map(String), ['Done', 'To do'], 'tasks'),
    }),
    'a task within a task': (client, s) => ({
      'create a task and one within': async () => {
        await list(client, s);
        s.parent = await task(client, s, 'Cake');
        s.id = await task(client, s, 'Eggs', { parent: s.parent });
      },
      'it says within which it is': async () =>
        assert.equal((await client.tasks.get({ tasklist: s.list, task: s.id })).data.parent, s.parent),
      'out of it': async () => {
        const { data } = await client.tasks.move({ tasklist: s.list, task: s.id });
        assert.deepEqual([data.id, data.parent ?? undefined], [s.id, undefined]);
      },
      'into it again': async () => {
        const { data } = await client.tasks.move({ tasklist: s.list, task: s.id, parent: s.parent });
        assert.equal(data.parent, s.parent);
      },
    }),
    'tasks are put in order': (client, s) => ({
      'each new one is first': async () => {
        await list(client, s);
        s.a = await task(client, s, 'a');
        s.b = await task(client, s, 'b');
        s.c = await task(client, s, 'c');
        assert.deepEqual(await titles(client, s), ['c', 'b', 'a']);
      },
      'one after another': async () => {
        await client.tasks.move({ tasklist: s.list, task: s.c, previous: s.a });
        assert.deepEqual(await titles(client, s), ['b', 'a', 'c']);
      },
      'one before all': async () => {
        await client.tasks.move({ tasklist: s.list, task: s.a });
        assert.deepEqual(await titles(client, s), ['a', 'b', 'c']);
      },
      'a new one after another': async () => {
        await task(client, s, 'd', { previous: s.b });
        assert.deepEqual(await titles(client, s), ['a', 'b', 'd', 'c']);
      },
    }),
    'tasks that are due': (client, s) => ({
      'create three': async () => {
        await list(client, s);
        for (const [title, day] of [
          ['early', '02'],
          ['middle', '12'],
          ['late', '22'],
        ]) {
          const requestBody = { title, due: `2037-01-${day}T00:00:00.000Z` };
          await client.tasks.insert({ tasklist: s.list, requestBody });
        }
      },
      'from a day on': async () => {
        const found = await titles(client, s, { dueMin: '2037-01-10T00:00:00.000Z' });
        assert.deepEqual(found.toSorted(), ['late', 'middle']);
      },
      'between two days': async () =>
        assert.deepEqual(await titles(client, s, { dueMin: '2037-01-10T00:00:00.000Z', dueMax: '2037-01-20T00:00:00.000Z' }), [
          'middle',
        ]),
      'none so late': async () => assert.deepEqual(await titles(client, s, { dueMin: '2038-01-01T00:00:00.000Z' }), []),
    }),
    'tasks that were deleted are shown when asked for': (client, s) => ({
      'create two, and delete one': async () => {
        await list(client, s);
        s.id = await task(client, s, 'wrong');
        await task(client, s, 'right');
        await client.tasks.delete({ tasklist: s.list, task: s.id });
      },
      'not by default': async () => assert.deepEqual(await titles(client, s), ['right']),
      'when asked for': async () => {
        const { data } = await client.tasks.list({ tasklist: s.list, showDeleted: true });
        const deleted = (data.items ?? []).filter((item) => item.deleted);
        assert.deepEqual(
          deleted.map(({ id }) => id),
          [s.id],
        );
      },
    }),
    'two lists are two': (client, s) => ({
      'create two, with a task each': async () => {
        s.first = await list(client, s, 'home');
        await task(client, s, 'sweep');
        s.second = await list(client, s, 'work');
        s.id = await task(client, s, 'write');
      },
      'each has its own': async () => {
        assert.deepEqual(await titles(client, s, { tasklist: s.first }), ['sweep']);
        assert.deepEqual(await titles(client, s, { tasklist: s.second }), ['write']);
      },
      'a task is not in the other': () => refused(client.tasks.get({ tasklist: s.first, task: s.id }), 404),
      'delete one list': async () => {
        await client.tasklists.delete({ tasklist: s.second });
        await refused(client.tasks.list({ tasklist: s.second }), 404);
      },
      'the other is as it was': async () => assert.deepEqual(await titles(client, s, { tasklist: s.first }), ['sweep']),
    }),
    'only some members of an answer': (client, s) => ({
      'create a task': async () => {
        await list(client, s);
        s.id = await task(client, s, 'Milk');
      },
      'two of a task': async () => {
        const { data } = await client.tasks.get({ tasklist: s.list, task: s.id, fields: 'id,title' });
        assert.deepEqual(data, { id: s.id, title: 'Milk' });
      },
      'the titles of all': async () => {
        const { data } = await client.tasks.list({ tasklist: s.list, fields: 'items/title' });
        assert.deepEqual(data, { items: [{ title: 'Milk' }] });
      },
    }),
    'a token that is refused': (client, _s, another) => ({
      'the right one is taken': async () => assert.equal((await client.tasklists.list()).data.kind, 'tasks#taskLists'),
      'another is not': () => refused(another('not-a-token').tasklists.list(), 401),
    }),
    'requests that are wrong': (client, s) => ({
      'a list that never was': () => refused(client.tasklists.get({ tasklist: nowhere }), 404),
      'a task that never was': async () => {
        await list(client, s);
        await refused(client.tasks.get({ tasklist: s.list, task: nowhere }), 404);
      },
      'a task in a list that never was': () =>
        refused(client.tasks.insert({ tasklist: nowhere, requestBody: { title: 'lost' } }), 404),
      'a state that is none': () =>
        refused(client.tasks.insert({ tasklist: s.list, requestBody: { title: 'half', status: 'half-done' } }), 400),
    }),
  },
};
