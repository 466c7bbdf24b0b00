import assert from 'node:assert/strict';
import { type BasecampClient, createBasecampClient } from '@37signals/basecamp';
import { given, once, type Place, refused, type Vendor } from '../kit.ts';

const connect = (place: Place, token: string): BasecampClient =>
  createBasecampClient({ accountId: '1', accessToken: token, baseUrl: `${place.url}/1`, enableRetry: false });

const ids = (rows: readonly { id: number }[]): string[] => rows.map(({ id }) => String(id));

/** The places of a project that comes with them: its set of to-dos, its message board, its documents, its card column. */
const [todoset, board, vault, column] = [1069479520, 1069479521, 1069479522, 1069479523];

const todolist = async (basecamp: BasecampClient): Promise<string> =>
  String(given((await basecamp.todolists.create(todoset, { name: 'Launch' })).id, 'id'));

const message = async (basecamp: BasecampClient, subject: string): Promise<string> =>
  String(given((await basecamp.messages.create(board, { subject, content: '<p>Hello</p>', status: 'active' })).id, 'id'));

/** Guide: github.com/basecamp/bc3-api (projects, to-dos, messages, comments, recordings, webhooks) and the client's README. */
export const vendor: Vendor<BasecampClient> = {
  document: 'basecamp/openapi.json.gz',
  header: 'Authorization',
  word: 'Bearer',
  made: 'made-up-token',
  client: connect,
  flows: {
    'a project from its making to the trash': (basecamp, s) => ({
      create: async () => {
        const made = await basecamp.projects.create({ name: 'Marketing Campaign', description: 'For Client: X Corp' });
        s.id = String(given(made.id, 'id'));
        assert.deepEqual([made.name, made.description], ['Marketing Campaign', 'For Client: X Corp']);
      },
      read: async () => assert.equal((await basecamp.projects.get(Number(s.id))).name, 'Marketing Campaign'),
      change: async () =>
        assert.equal((await basecamp.projects.update(Number(s.id), { name: 'Sales Campaign' })).name, 'Sales Campaign'),
      'read the change': async () => assert.equal((await basecamp.projects.get(Number(s.id))).name, 'Sales Campaign'),
      list: async () => once(ids(await basecamp.projects.list()), [s.id]),
      trash: async () => basecamp.projects.trash(Number(s.id)),
      'gone from the list': async () => assert.ok(!ids(await basecamp.projects.list()).includes(s.id)),
    }),
    'projects through all pages': (basecamp, s) => ({
      create: async () => {
        for (let n = 1; n <= 20; n += 1) s[`id${n}`] = String((await basecamp.projects.create({ name: `Project ${n}` })).id);
      },
      'the client walks all pages': async () => once(ids(await basecamp.projects.list()), [s.id1, s.id10, s.id19, s.id20]),
      'it tells how many there are': async () => {
        const { meta } = await basecamp.projects.list();
        assert.ok(meta.totalCount >= 20, `totalCount is ${meta.totalCount}`);
      },
    }),
    'a list of to-dos': (basecamp, s) => ({
      create: async () => {
        const made = await basecamp.todolists.create(todoset, { name: 'Hardware', description: 'Things to buy' });
        s.id = String(given(made.id, 'id'));
        assert.equal(made.name, 'Hardware');
      },
      list: async () => once(ids(await basecamp.todolists.list(todoset)), [s.id]),
      change: async () => {
        await basecamp.todolists.update(Number(s.id), { name: 'Software' });
      },
      'read the change': async () => assert.match(JSON.stringify(await basecamp.todolists.get(Number(s.id))), /"Software"/),
    }),
    'a to-do is done and undone': (basecamp, s) => ({
      'create the list': async () => {
        s.list = await todolist(basecamp);
      },
      create: async () => {
        const made = await basecamp.todos.create(Number(s.list), { content: 'Program it', dueOn: '2026-12-01' });
        s.id = String(given(made.id, 'id'));
        assert.deepEqual([made.content, made.due_on], ['Program it', '2026-12-01']);
      },
      list: async () => assert.deepEqual(ids(await basecamp.todos.list(Number(s.list))), [s.id]),
      'it is not done': async () => assert.equal((await basecamp.todos.get(Number(s.id))).completed, false),
      do: async () => basecamp.todos.complete(Number(s.id)),
      'it is done': async () => assert.equal((await basecamp.todos.get(Number(s.id))).completed, true),
      undo: async () => basecamp.todos.uncomplete(Number(s.id)),
      'it is not done again': async () => assert.equal((await basecamp.todos.get(Number(s.id))).completed, false),
      change: async () => assert.equal((await basecamp.todos.update(Number(s.id), { content: 'Test it' })).content, 'Test it'),
    }),
    'a message is posted, changed and pinned': (basecamp, s) => ({
      create: async () => {
        const made = await basecamp.messages.create(board, { subject: 'Kickoff', content: '<p>Welcome!</p>', status: 'active' });
        s.id = String(given(made.id, 'id'));
        assert.deepEqual([made.subject, made.content], ['Kickoff', '<p>Welcome!</p>']);
      },
      list: async () => once(ids(await basecamp.messages.list(board)), [s.id]),
      change: async () =>
        assert.equal((await basecamp.messages.update(Number(s.id), { subject: 'Kick-off' })).subject, 'Kick-off'),
      read: async () => {
        const read = await basecamp.messages.get(Number(s.id));
        assert.deepEqual([read.subject, read.content], ['Kick-off', '<p>Welcome!</p>']);
      },
      pin: async () => basecamp.messages.pin(Number(s.id)),
      unpin: async () => basecamp.messages.unpin(Number(s.id)),
    }),
    'comments on a message': (basecamp, s) => ({
      'create the message': async () => {
        s.message = await message(basecamp, 'Discussed');
      },
      create: async () => {
        const made = await basecamp.comments.create(Number(s.message), { content: '<p>Yes</p>' });
        s.id = String(given(made.id, 'id'));
        assert.equal(made.content, '<p>Yes</p>');
      },
      list: async () => assert.deepEqual(ids(await basecamp.comments.list(Number(s.message))), [s.id]),
      change: async () =>
        assert.equal((await basecamp.comments.update(Number(s.id), { content: '<p>No</p>' })).content, '<p>No</p>'),
      read: async () => assert.equal((await basecamp.comments.get(Number(s.id))).content, '<p>No</p>'),
      'none on another message': async () => {
        const other = await message(basecamp, 'Quiet');
        assert.deepEqual(ids(await basecamp.comments.list(Number(other))), []);
      },
    }),
    'a message is archived and trashed': (basecamp, s) => {
      const status = async () => (await basecamp.messages.get(Number(s.id))).status;
      return {
        create: async () => {
          s.id = await message(basecamp, 'Old news');
        },
        'it is active': async () => assert.equal(await status(), 'active'),
        archive: async () => basecamp.recordings.archive(Number(s.id)),
        'it is archived': async () => assert.equal(await status(), 'archived'),
        'take it back': async () => basecamp.recordings.unarchive(Number(s.id)),
        'it is active again': async () => assert.equal(await status(), 'active'),
        trash: async () => basecamp.recordings.trash(Number(s.id)),
        'it is in the trash': async () => assert.equal(await status(), 'trashed'),
      };
    },
    'a webhook of a project': (basecamp, s) => ({
      'create the project': async () => {
        s.project = String((await basecamp.projects.create({ name: 'Hooked' })).id);
      },
      create: async () => {
        const made = await basecamp.webhooks.create(Number(s.project), { payloadUrl: 'https://example.com/in', types: ['Todo'] });
        s.id = String(given(made.id, 'id'));
        assert.equal(made.payload_url, 'https://example.com/in');
      },
      list: async () => assert.deepEqual(ids(await basecamp.webhooks.list(Number(s.project))), [s.id]),
      change: async () => {
        const made = await basecamp.webhooks.update(Number(s.id), { payloadUrl: 'https://example.com/new' });
        assert.equal(made.payload_url, 'https://example.com/new');
      },
      delete: async () => basecamp.webhooks.delete(Number(s.id)),
      gone: async () => refused(basecamp.webhooks.get(Number(s.id)), 404),
    }),
    'a document': (basecamp, s) => ({
      create: async () => {
        const made = await basecamp.documents.create(vault, {
          title: 'New Hire Info',
          content: '<div>Hi</div>',
          status: 'active',
        });
        s.id = String(given(made.id, 'id'));
        assert.deepEqual([made.title, made.content], ['New Hire Info', '<div>Hi</div>']);
      },
      list: async () => once(ids(await basecamp.documents.list(vault)), [s.id]),
      change: async () =>
        assert.equal((await basecamp.documents.update(Number(s.id), { title: 'Info', content: '<div>Ho</div>' })).title, 'Info'),
      read: async () => assert.equal((await basecamp.documents.get(Number(s.id))).content, '<div>Ho</div>'),
    }),
    'a card is moved': (basecamp, s) => ({
      create: async () => {
        const made = await basecamp.cards.create(column, { title: 'Card', content: '<div>do</div>' });
        s.id = String(given(made.id, 'id'));
        assert.equal(made.title, 'Card');
      },
      list: async () => once(ids(await basecamp.cards.list(column)), [s.id]),
      change: async () => assert.equal((await basecamp.cards.update(Number(s.id), { title: 'Task' })).title, 'Task'),
      move: async () => basecamp.cards.move(Number(s.id), { columnId: column + 1 }),
      read: async () => assert.equal((await basecamp.cards.get(Number(s.id))).title, 'Task'),
    }),
    'people of the account': (basecamp, s) => ({
      'who am I': async () => {
        const me = await basecamp.people.me();
        s.id = String(given(me.id, 'id'));
        assert.equal(typeof me.name, 'string');
      },
      'read myself': async () => assert.equal(String((await basecamp.people.get(Number(s.id))).id), s.id),
      list: async () => {
        const people = ids(await basecamp.people.list());
        assert.equal(new Set(people).size, people.length, 'a person is listed twice');
      },
    }),
    'requests that are wrong': (basecamp) => ({
      'a project that nobody made': async () => refused(basecamp.projects.get(404404), 404),
      'a to-do that nobody made': async () => refused(basecamp.todos.get(404404), 404),
      'a project whose name is no text': async () =>
        refused(basecamp.projects.create({ name: { en: 'x' } as unknown as string }), 400, 422),
      'a webhook whose types are no list': async () =>
        refused(
          basecamp.webhooks.create(1, { payloadUrl: 'https://example.com/in', types: 'Todo' as unknown as string[] }),
          400,
          422,
        ),
    }),
  },
};
