import assert from 'node:assert/strict';
import {
  OsfApiError,
  OsfAuthenticationError,
  OsfClient,
  OsfNotFoundError,
  OsfPermissionError,
  OsfServerError,
} from 'osf-api-v2-typescript';
import { gather, given, once, type Place, refused, type State, type Vendor } from '../kit.ts';

/** The client resolves each path against its address, which therefore ends with a slash. */
const connect = (place: Place, token: string): OsfClient => new OsfClient({ token, baseUrl: `${place.base}/`, timeout: 15000 });
type Client = OsfClient;

/** The client's errors tell their status by their class; that of any other refusal (400, 409, 410) by their message, or by none. */
const told = (call: Promise<unknown>): Promise<unknown> =>
  call.catch((thrown: unknown) => {
    if (!(thrown instanceof OsfApiError) || thrown instanceof OsfServerError || thrown.message.startsWith('Request '))
      throw thrown;
    const status =
      thrown instanceof OsfAuthenticationError
        ? 401
        : thrown instanceof OsfPermissionError
          ? 403
          : thrown instanceof OsfNotFoundError
            ? 404
            : thrown.constructor === OsfApiError
              ? Number(/^HTTP Error (\d+)/.exec(thrown.message)?.[1] ?? 400)
              : undefined;
    throw status === undefined ? thrown : Object.assign(thrown, { status });
  });
const no = (call: Promise<unknown>, ...statuses: number[]): Promise<unknown> => refused(told(call), ...statuses);
/** What was deleted is not found, or gone for good (410), which the client tells like a wrong request. */
const gone = (call: Promise<unknown>): Promise<unknown> => no(call, 404, 410, 400);

const ids = (rows: readonly { readonly id?: string }[]): string[] => rows.map(({ id }) => given(id, 'id'));
const project = async (client: Client, s: State, title = 'An Excellent Project Title'): Promise<void> => {
  s.node = given((await client.nodes.create({ title, category: 'project' })).id, 'id');
};
/** The schema of registrations that the description's example names. */
const registration_schema_id = '61e02b6c90de34000ae3447a';

/** Guide: developer.osf.io: "Nodes", "Contributors", "Comments", "Collections", "Draft Registrations", "Users", "Licenses", "Citations", "Pagination", "Filtering", "Errors & Error Codes". */
export const vendor: Vendor<Client> = {
  document: 'osf/osf.io.json',
  header: 'authorization',
  word: 'Bearer',
  made: 'q7ZPbGbVLqCfGZ0Yw3VdU8nXc1kTe2RmJ5aHs4iWoB6yDtNuFxKlErMpQvSzAgCjOh9XyI',
  client: connect,
  strict: ['a token that is refused'],
  flows: {
    'a project, from the first to the last day': (client, s) => ({
      create: async () => {
        const node = await client.nodes.create({
          title: 'An Excellent Project Title',
          category: 'software',
          description: 'An abstract.',
        });
        s.id = given(node.id, 'id');
        assert.deepEqual(
          [node.type, node.title, node.category, node.description],
          ['nodes', 'An Excellent Project Title', 'software', 'An abstract.'],
        );
      },
      'read, and private': async () => {
        const node = await client.nodes.getById(s.id);
        assert.deepEqual(
          [node.id, node.title, node.category, node.public],
          [s.id, 'An Excellent Project Title', 'software', false],
        );
      },
      'in the list': async () => once(ids((await client.nodes.listNodes()).data), [s.id], 'nodes'),
      'made public, with tags': async () => {
        const node = await client.nodes.update(s.id, {
          description: 'An updated abstract.',
          public: true,
          tags: ['cancer biology', 'reproducibility'],
        });
        assert.deepEqual([node.id, node.description, node.public], [s.id, 'An updated abstract.', true]);
        assert.deepEqual(node.tags, ['cancer biology', 'reproducibility']);
      },
      'read so, and what was not said is as it was': async () => {
        const node = await client.nodes.getById(s.id);
        assert.deepEqual(
          [node.title, node.category, node.description, node.public],
          ['An Excellent Project Title', 'software', 'An updated abstract.', true],
        );
      },
      delete: async () => client.nodes.deleteNode(s.id),
      'it is gone': async () => {
        await gone(client.nodes.getById(s.id));
      },
      'and no longer in the list': async () => assert.ok(!ids((await client.nodes.listNodes()).data).includes(s.id)),
    }),

    'projects through all pages': (client, s) => ({
      'twelve are made': async () => {
        for (let n = 1; n <= 12; n += 1)
          s[`id${n}`] = given((await client.nodes.create({ title: `Paged ${n}`, category: 'data' })).id, 'id');
      },
      'ten to a page, and more to come': async () => {
        const first = await client.nodes.listNodesPaginated({ 'filter[title]': 'Paged' });
        assert.deepEqual([first.data.length, first.hasNext], [10, true]);
      },
      'each of them once on all pages': async () => {
        const rows = await gather(await client.nodes.listNodesPaginated({ 'filter[title]': 'Paged' }), (page) => page);
        once(
          ids(rows),
          Array.from({ length: 12 }, (_, n) => s[`id${n + 1}`] ?? ''),
          'pages',
        );
      },
      'the second page by its number': async () => {
        const { data } = await client.nodes.listNodes({ 'filter[title]': 'Paged', page: 2 });
        assert.equal(data.length, 2);
      },
    }),

    'projects that are looked for': (client, s) => ({
      'three of them': async () => {
        s.one = given((await client.nodes.create({ title: 'Reproducibility of mice', category: 'hypothesis' })).id, 'id');
        s.two = given((await client.nodes.create({ title: 'Reproducibility of men', category: 'procedure' })).id, 'id');
        s.three = given((await client.nodes.create({ title: 'Something else', category: 'hypothesis' })).id, 'id');
      },
      'by a part of the title': async () => {
        const found = ids((await client.nodes.listNodes({ 'filter[title]': 'eproducibility' })).data);
        once(found, [s.one, s.two]);
        assert.ok(!found.includes(s.three));
      },
      'by the category': async () => {
        const { data } = await client.nodes.listNodes({ 'filter[category]': 'hypothesis' });
        once(ids(data), [s.one, s.three]);
        assert.ok(data.every(({ category }) => category === 'hypothesis'));
      },
      'by both': async () => {
        const { data } = await client.nodes.listNodes({ 'filter[title]': 'eproducibility', 'filter[category]': 'hypothesis' });
        assert.deepEqual(ids(data), [s.one]);
      },
      'two by their ids': async () => {
        const { data } = await client.nodes.listNodes({ 'filter[id]': `${s.two},${s.three}` });
        assert.deepEqual(ids(data).sort(), [s.two, s.three].sort());
      },
      'only those that are public': async () => {
        await client.nodes.update(s.two, { public: true });
        const { data } = await client.nodes.listNodes({ 'filter[public]': true });
        assert.deepEqual([ids(data).includes(s.two), ids(data).includes(s.three)], [true, false]);
      },
    }),

    'who works on a project': (client, s) => ({
      'a project, and somebody else': async () => {
        await project(client, s);
        const me = await client.users.me();
        const { data } = await client.users.listUsers();
        s.user = given(
          ids(data).find((id) => id !== me.id),
          'user',
        );
      },
      'may read it': async () => {
        const contributor = await client.contributors.addToNode(s.node, {
          userId: s.user,
          permission: 'read',
          bibliographic: false,
        });
        assert.deepEqual([contributor.permission, contributor.bibliographic], ['read', false]);
      },
      read: async () => {
        const contributor = await client.contributors.getByNodeAndUser(s.node, s.user);
        assert.deepEqual([contributor.type, contributor.permission, contributor.bibliographic], ['contributors', 'read', false]);
      },
      'may write to it': async () => {
        const contributor = await client.contributors.update(s.node, s.user, { permission: 'write', bibliographic: true });
        assert.deepEqual([contributor.permission, contributor.bibliographic], ['write', true]);
      },
      'listed so': async () => {
        const { data } = await client.contributors.listByNode(s.node);
        assert.ok(data.some(({ permission, bibliographic }) => permission === 'write' && bibliographic === true));
      },
      'by what they may': async () => {
        const { data } = await client.contributors.listByNode(s.node, { 'filter[permission]': 'write' });
        assert.ok(data.length > 0 && data.every(({ permission }) => permission === 'write'));
      },
      'no longer': async () => client.contributors.removeFromNode(s.node, s.user),
      'not to be found there': async () => {
        await no(client.contributors.getByNodeAndUser(s.node, s.user), 404);
      },
      'still a user': async () => assert.equal((await client.users.getById(s.user)).id, s.user),
    }),

    'what is said of a project': (client, s) => ({
      'a comment': async () => {
        await project(client, s);
        const comment = await client.comments.create(s.node, { content: 'comment content' });
        s.id = given(comment.id, 'id');
        assert.deepEqual([comment.type, comment.content], ['comments', 'comment content']);
      },
      'a reply to it': async () => {
        const reply = await client.comments.create(s.node, { content: 'I agree', target_type: 'comments', target_id: s.id });
        s.reply = given(reply.id, 'id');
        assert.equal(reply.content, 'I agree');
      },
      read: async () => {
        const comment = await client.comments.getById(s.id);
        assert.deepEqual([comment.id, comment.content, comment.deleted], [s.id, 'comment content', false]);
      },
      'listed with that project': async () => once(ids((await client.comments.listByNode(s.node)).data), [s.id], 'comments'),
      'the replies': async () => {
        const { data } = await client.comments.listByNode(s.node, { 'filter[target_id]': s.id });
        assert.deepEqual(ids(data), [s.reply]);
      },
      'nothing is said of another project': async () => {
        const other = given((await client.nodes.create({ title: 'Another', category: 'other' })).id, 'id');
        assert.deepEqual((await client.comments.listByNode(other)).data, []);
      },
      delete: async () => client.comments.delete(s.id),
      'deleted, but not beyond recall': async () => {
        const deleted = await client.comments.getById(s.id).then(
          (comment) => comment.deleted,
          (thrown: unknown) => {
            if (thrown instanceof OsfNotFoundError) return true;
            throw thrown;
          },
        );
        assert.equal(deleted, true);
      },
    }),

    'a collection': (client, s) => ({
      create: async () => {
        const collection = await client.collections.create({ title: 'An Excellent Collection Title' });
        s.id = given(collection.id, 'id');
        assert.deepEqual([collection.type, collection.title], ['collections', 'An Excellent Collection Title']);
      },
      read: async () => {
        const collection = await client.collections.getById(s.id);
        assert.deepEqual([collection.id, collection.title], [s.id, 'An Excellent Collection Title']);
      },
      list: async () => once(ids((await client.collections.listCollections()).data), [s.id], 'collections'),
      'a project in it': async () => {
        await project(client, s);
        await client.collections.addLinkedNode(s.id, s.node);
      },
      'and out again': async () => client.collections.removeLinkedNode(s.id, s.node),
      'the project is still there': async () => assert.equal((await client.nodes.getById(s.node)).id, s.node),
      delete: async () => client.collections.delete(s.id),
      'it is gone': async () => {
        await gone(client.collections.getById(s.id));
      },
    }),

    'a draft of a registration': (client, s) => ({
      create: async () => {
        const draft = await client.draftRegistrations.create({
          registration_schema_id,
          title: 'A plan',
          description: 'What we are about to do.',
        });
        s.id = given(draft.id, 'id');
        assert.deepEqual(
          [draft.type, draft.title, draft.description],
          ['draft_registrations', 'A plan', 'What we are about to do.'],
        );
      },
      read: async () => {
        const draft = await client.draftRegistrations.getById(s.id);
        assert.deepEqual([draft.id, draft.title], [s.id, 'A plan']);
      },
      'another title, and an answer': async () => {
        const draft = await client.draftRegistrations.update(s.id, {
          title: 'test title change',
          registration_responses: { summary: 'Test Value' },
        });
        assert.deepEqual(
          [draft.id, draft.title, draft.registration_responses],
          [s.id, 'test title change', { summary: 'Test Value' }],
        );
      },
      'read so': async () => {
        const draft = await client.draftRegistrations.getById(s.id);
        assert.deepEqual([draft.title, draft.description], ['test title change', 'What we are about to do.']);
      },
      list: async () => once(ids((await client.draftRegistrations.listDraftRegistrations()).data), [s.id], 'drafts'),
      delete: async () => client.draftRegistrations.delete(s.id),
      'it is gone': async () => {
        await gone(client.draftRegistrations.getById(s.id));
      },
    }),

    'a draft from a project': (client, s) => ({
      'a project': async () => project(client, s, 'To be registered'),
      'a draft of it': async () => {
        const draft = await client.draftRegistrations.create({
          registration_schema_id,
          title: 'Registered soon',
          branched_from: s.node,
        });
        s.id = given(draft.id, 'id');
        assert.equal(draft.title, 'Registered soon');
      },
      'who works on it is a list': async () =>
        assert.ok(Array.isArray((await client.draftRegistrations.listContributors(s.id)).data)),
      'the project can still be changed': async () =>
        assert.equal((await client.nodes.update(s.node, { title: 'Changed' })).title, 'Changed'),
    }),

    'who one is': (client, s) => ({
      me: async () => {
        const me = await client.users.me();
        s.id = given(me.id, 'id');
        assert.deepEqual([me.type, typeof me.full_name], ['users', 'string']);
        s.name = me.full_name;
      },
      'by the id': async () => {
        const user = await client.users.getById(s.id);
        assert.deepEqual([user.id, user.full_name], [s.id, s.name]);
      },
      'by the name': async () => {
        const { data } = await client.users.listUsers({ 'filter[full_name]': s.name });
        assert.ok(ids(data).includes(s.id));
      },
      'nobody of that name': async () =>
        assert.deepEqual((await client.users.listUsers({ 'filter[full_name]': 'Nobody Whomsoever 4711' })).data, []),
    }),

    'licenses and ways to cite': (client, s) => ({
      'a license of the list': async () => {
        const license = given((await client.licenses.listLicenses()).data[0], 'license');
        s.license = given(license.id, 'id');
        s.name = license.name;
      },
      'read by its id': async () => {
        const license = await client.licenses.getById(s.license);
        assert.deepEqual([license.id, license.name], [s.license, s.name]);
      },
      'found by its name': async () => {
        const { data } = await client.licenses.listLicenses({ 'filter[name]': s.name });
        assert.ok(ids(data).includes(s.license));
        assert.ok(data.every(({ name }) => name.includes(s.name)));
      },
      'every license on all pages once': async () => {
        const all = ids(await gather(await client.licenses.listLicensesPaginated(), (page) => page));
        assert.equal(new Set(all).size, all.length);
        assert.ok(all.includes(s.license));
      },
      'a style of the list, by its id': async () => {
        const { data } = await client.citations.listStyles();
        const style = given(data[0], 'style');
        assert.equal((await client.citations.getStyle(style.id)).title, style.title);
      },
    }),

    'a token that is refused': (_client, _s, another) => ({
      'nobody is me': async () => {
        await no(another('nobody').users.me(), 401);
      },
      'nothing is made': async () => {
        await no(another('nobody').nodes.create({ title: 'Not mine', category: 'project' }), 401);
      },
    }),

    'requests that are wrong': (client) => ({
      'a project that nobody has made': async () => {
        await no(client.nodes.getById('zzzzz'), 404);
      },
      'change of one that nobody has made': async () => {
        await no(client.nodes.update('zzzzz', { title: 'Nothing' }), 404);
      },
      'delete of one that nobody has made': async () => {
        await no(client.nodes.deleteNode('zzzzz'), 404);
      },
      'a project without a category': async () => {
        await no(client.nodes.create({ title: 'No category' } as never), 400);
      },
      'a project without a title': async () => {
        await no(client.nodes.create({ category: 'project' } as never), 400);
      },
      'a category that there is not': async () => {
        await no(client.nodes.create({ title: 'Odd', category: 'cooking' as never }), 400);
      },
      'a user that nobody is': async () => {
        await no(client.users.getById('zzzzz'), 404);
      },
    }),
  },
};
