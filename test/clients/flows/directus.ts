import assert from 'node:assert/strict';
import * as directus from '@directus/sdk';
import { numbered, once, type Place, refused, type State, type Vendor } from '../kit.ts';

interface Article {
  id: number;
  title: string;
  status: string;
}

interface Schema {
  articles: Article[];
}

/** `ask` sends one of the client's commands; `anew` is a client that logs in by itself. */
interface Directus {
  readonly ask: <Answer>(command: directus.RestCommand<Answer, Schema>) => Promise<Answer>;
  readonly anew: () => ReturnType<typeof logging>;
}

const logging = (place: Place) =>
  directus
    .createDirectus<Schema>(place.base)
    .with(directus.authentication('json', { autoRefresh: false }))
    .with(directus.rest());

const connect = (place: Place, token: string): Directus => {
  const open = directus.createDirectus<Schema>(place.base).with(directus.rest());
  const client = token === '' ? open : open.with(directus.staticToken(token));
  return { ask: (command) => client.request(command), anew: () => logging(place) };
};

const article = { title: 'Hello world', status: 'draft' };

/** The collection which the guide begins with, and its fields. */
const collection = async ({ ask }: Directus): Promise<void> => {
  const id = { field: 'id', type: 'integer', schema: { is_primary_key: true, has_auto_increment: true } };
  const fields = [id, { field: 'title', type: 'string' }, { field: 'status', type: 'string' }];
  const asked = { collection: 'articles', fields, schema: {}, meta: { note: 'What we publish', versioning: true } };
  await ask(directus.createCollection(asked as directus.NestedPartial<directus.DirectusCollection<Schema>>));
};

const write = async ({ ask }: Directus, title: string): Promise<string> =>
  String((await ask(directus.createItem('articles', { ...article, title }))).id);

const flow = async ({ ask }: Directus, s: State): Promise<void> => {
  s.flow = (await ask(directus.createFlow({ name: 'Nightly', trigger: 'schedule', status: 'inactive' }))).id;
};

/** The first error's message, which every refusal of Directus has. */
const message = (thrown: unknown): unknown => (thrown as { errors?: { message?: unknown }[] }).errors?.[0]?.message;

/** Guide: directus.io/docs, "Connect", "Items", "Collections", "Users", "Automation". What is not there is forbidden or not found. */
export const vendor: Vendor<Directus> = {
  document: 'directus/openapi.json',
  header: 'Authorization',
  word: 'Bearer',
  made: 'admin-static-token',
  client: connect,
  flows: {
    'an item from its making to its end': (client, s) => ({
      'create the collection': async () => collection(client),
      create: async () => {
        const made = await client.ask(directus.createItem('articles', article));
        s.id = String(made.id);
        assert.deepEqual([made.title, made.status], ['Hello world', 'draft']);
      },
      read: async () => {
        const read = await client.ask(directus.readItem('articles', s.id));
        assert.deepEqual([String(read.id), read.title], [s.id, 'Hello world']);
      },
      change: async () => {
        const changed = await client.ask(directus.updateItem('articles', s.id, { status: 'published' }));
        assert.deepEqual([changed.title, changed.status], ['Hello world', 'published']);
      },
      'read the change': async () => assert.equal((await client.ask(directus.readItem('articles', s.id))).status, 'published'),
      delete: async () => client.ask(directus.deleteItem('articles', s.id)),
      gone: async () => refused(client.ask(directus.readItem('articles', s.id)), 403, 404),
    }),
    'items through all pages': (client, s) => ({
      'create the collection and five items': async () => {
        await collection(client);
        for (const n of [1, 2, 3, 4, 5]) s[`id${n}`] = await write(client, `Article ${n}`);
      },
      'walk pages of two': async () => {
        const rows = await numbered((page) => client.ask(directus.readItems('articles', { limit: 2, page, sort: ['id'] })));
        assert.equal(rows.length, 5);
        once(
          rows.map(({ id }) => String(id)),
          [s.id1, s.id2, s.id3, s.id4, s.id5],
        );
      },
      'by an offset': async () => {
        const rows = await client.ask(directus.readItems('articles', { limit: 2, offset: 4 }));
        assert.equal(rows.length, 1);
      },
      'a filter narrows': async () => {
        const rows = await client.ask(directus.readItems('articles', { filter: { title: { _eq: 'Article 3' } } }));
        assert.deepEqual(
          rows.map(({ id }) => String(id)),
          [s.id3],
        );
      },
      'backwards by the title': async () => {
        const rows = await client.ask(directus.readItems('articles', { sort: ['-title'], limit: 1 }));
        assert.equal(rows[0]?.title, 'Article 5');
      },
    }),
    'a collection and its fields': (client) => ({
      create: async () => collection(client),
      read: async () => {
        const read = await client.ask(directus.readCollection('articles'));
        assert.deepEqual([read.collection, read.meta.note], ['articles', 'What we publish']);
      },
      'add a field': async () => {
        const field = await client.ask(directus.createField('articles', { field: 'body', type: 'text' }));
        assert.deepEqual([field.field, field.type, field.collection], ['body', 'text', 'articles']);
      },
      'read the field': async () => assert.equal((await client.ask(directus.readField('articles', 'body'))).type, 'text'),
      'take the field away': async () => client.ask(directus.deleteField('articles', 'body')),
      'the field is gone': async () => refused(client.ask(directus.readField('articles', 'body')), 403, 404),
      delete: async () => client.ask(directus.deleteCollection('articles')),
      gone: async () => refused(client.ask(directus.readCollection('articles')), 403, 404),
    }),
    'a user': (client, s) => ({
      create: async () => {
        const user = { first_name: 'Ada', last_name: 'Lovelace', email: 'ada@example.com', password: 'd1r3ctu5' };
        const made = await client.ask(directus.createUser(user));
        s.id = made.id;
        assert.deepEqual([made.first_name, made.last_name, made.email], ['Ada', 'Lovelace', 'ada@example.com']);
        assert.notEqual(made.password, 'd1r3ctu5');
      },
      read: async () => assert.equal((await client.ask(directus.readUser(s.id))).email, 'ada@example.com'),
      change: async () => {
        const changed = await client.ask(directus.updateUser(s.id, { title: 'Countess' }));
        assert.deepEqual([changed.title, changed.first_name], ['Countess', 'Ada']);
      },
      'suspend her': async () =>
        assert.equal((await client.ask(directus.updateUser(s.id, { status: 'suspended' }))).status, 'suspended'),
      list: async () =>
        once(
          (await client.ask(directus.readUsers())).map(({ id }) => id),
          [s.id],
        ),
      delete: async () => client.ask(directus.deleteUser(s.id)),
      gone: async () => refused(client.ask(directus.readUser(s.id)), 403, 404),
    }),
    'folders, one in another': (client, s) => ({
      create: async () => {
        const made = await client.ask(directus.createFolder({ name: 'Pictures' }));
        s.id = made.id;
        assert.equal(made.name, 'Pictures');
      },
      'create one in it': async () => {
        const made = await client.ask(directus.createFolder({ name: 'Holidays', parent: s.id }));
        s.inner = made.id;
        assert.deepEqual([made.name, made.parent], ['Holidays', s.id]);
      },
      rename: async () => assert.equal((await client.ask(directus.updateFolder(s.inner, { name: 'Work' }))).name, 'Work'),
      list: async () =>
        once(
          (await client.ask(directus.readFolders())).map(({ id }) => id),
          [s.id, s.inner],
        ),
      delete: async () => client.ask(directus.deleteFolder(s.inner)),
      gone: async () => refused(client.ask(directus.readFolder(s.inner)), 403, 404),
      'the other one stays': async () => assert.equal((await client.ask(directus.readFolder(s.id))).name, 'Pictures'),
    }),
    'a file, sent as a form': (client, s) => ({
      upload: async () => {
        const form = new FormData();
        form.append('title', 'Greeting');
        form.append('file', new Blob(['Hello World'], { type: 'text/plain' }), 'hello.txt');
        const made = await client.ask(directus.uploadFiles(form));
        s.id = made.id;
        assert.equal(made.title, 'Greeting');
      },
      read: async () => assert.equal((await client.ask(directus.readFile(s.id))).title, 'Greeting'),
      change: async () => {
        const changed = await client.ask(directus.updateFile(s.id, { description: 'To all' }));
        assert.deepEqual([changed.title, changed.description], ['Greeting', 'To all']);
      },
      list: async () =>
        once(
          (await client.ask(directus.readFiles())).map(({ id }) => id),
          [s.id],
        ),
      delete: async () => client.ask(directus.deleteFile(s.id)),
      gone: async () => refused(client.ask(directus.readFile(s.id)), 403, 404),
    }),
    'a flow and its operation': (client, s) => ({
      'create the flow': async () => {
        await flow(client, s);
        const read = await client.ask(directus.readFlow(s.flow));
        assert.deepEqual([read.name, read.status, read.trigger], ['Nightly', 'inactive', 'schedule']);
      },
      'create its operation': async () => {
        const operation = { flow: s.flow, name: 'Log', key: 'log', type: 'log', position_x: 12, position_y: 4 };
        const made = await client.ask(directus.createOperation(operation));
        s.id = made.id;
        assert.deepEqual([made.key, made.type, made.position_x], ['log', 'log', 12]);
      },
      'switch it on': async () =>
        assert.equal((await client.ask(directus.updateFlow(s.flow, { status: 'active' }))).status, 'active'),
      'move the operation': async () =>
        assert.equal((await client.ask(directus.updateOperation(s.id, { position_x: 20 }))).position_x, 20),
      'delete the operation': async () => client.ask(directus.deleteOperation(s.id)),
      'the operation is gone': async () => refused(client.ask(directus.readOperation(s.id)), 403, 404),
      delete: async () => client.ask(directus.deleteFlow(s.flow)),
      gone: async () => refused(client.ask(directus.readFlow(s.flow)), 403, 404),
    }),
    'a comment on an item': (client, s) => ({
      'create the item': async () => {
        await collection(client);
        s.item = await write(client, 'Talked about');
      },
      create: async () => {
        const made = await client.ask(directus.createComment({ collection: 'articles', item: s.item, comment: 'Well said' }));
        s.id = made.id;
        assert.deepEqual([made.collection, made.item, made.comment], ['articles', s.item, 'Well said']);
      },
      change: async () =>
        assert.equal((await client.ask(directus.updateComment(s.id, { comment: 'Badly said' }))).comment, 'Badly said'),
      'read the change': async () => assert.equal((await client.ask(directus.readComment(s.id))).comment, 'Badly said'),
      delete: async () => client.ask(directus.deleteComment(s.id)),
      gone: async () => refused(client.ask(directus.readComment(s.id)), 403, 404),
    }),
    'a version of an item is promoted': (client, s) => ({
      'create the item': async () => {
        await collection(client);
        s.item = await write(client, 'First title');
      },
      create: async () => {
        const version = { key: 'draft', name: 'My draft', collection: 'articles', item: s.item } as const;
        const made = await client.ask(directus.createContentVersion(version));
        s.id = made.id;
        assert.deepEqual([made.key, made.name, made.item], ['draft', 'My draft', s.item]);
      },
      'save a change in it': async () => client.ask(directus.saveToContentVersion(s.id, { title: 'Second title' })),
      'the item is as it was': async () =>
        assert.equal((await client.ask(directus.readItem('articles', s.item))).title, 'First title'),
      compare: async () => {
        s.hash = String((await client.ask(directus.compareContentVersion(s.id))).mainHash);
      },
      promote: async () => client.ask(directus.promoteContentVersion(s.id, s.hash)),
      'the item is changed': async () =>
        assert.equal((await client.ask(directus.readItem('articles', s.item))).title, 'Second title'),
    }),
    'the server and its settings': (client) => ({
      ping: async () => assert.equal(await client.ask(directus.serverPing()), 'pong'),
      'a random string of a length': async () => assert.equal((await client.ask(directus.randomString(24))).length, 24),
      'change a setting': async () => {
        const changed = await client.ask(directus.updateSettings({ project_name: 'Acme' }));
        assert.partialDeepStrictEqual(changed, { project_name: 'Acme' });
      },
      'read the change': async () =>
        assert.partialDeepStrictEqual(await client.ask(directus.readSettings()), { project_name: 'Acme' }),
    }),
    credentials: (client, _s, another) => ({
      'the right one is taken': async () => assert.ok(Array.isArray(await client.ask(directus.readFolders()))),
      'none is refused': async () =>
        assert.equal(typeof message(await refused(another('').ask(directus.readFolders()), 401, 403)), 'string'),
      'a user logs in': async () => {
        await client.ask(directus.createUser({ email: 'ada@example.com', password: 'd1r3ctu5' }));
        const answer = await client.anew().login({ email: 'ada@example.com', password: 'd1r3ctu5' });
        assert.deepEqual([typeof answer.access_token, typeof answer.refresh_token], ['string', 'string']);
      },
    }),
    'requests that are wrong': (client) => ({
      'a folder that nobody made': async () => {
        const thrown = await refused(client.ask(directus.readFolder('5d9b6c6a-0000-4000-8000-000000000000')), 403, 404);
        assert.equal(typeof message(thrown), 'string');
      },
      'a folder without its name': async () => refused(client.ask(directus.createFolder({})), 400, 422),
      'a comment on nothing': async () => refused(client.ask(directus.createComment({ comment: 'Lost' })), 400, 422),
    }),
  },
};
