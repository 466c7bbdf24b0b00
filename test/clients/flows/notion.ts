import assert from 'node:assert/strict';
import { Client, collectPaginatedAPI } from '@notionhq/client';
import { given, once, type Place, refused, type Vendor } from '../kit.ts';

const connect = (place: Place, token: string): Client => new Client({ auth: token, baseUrl: place.url, retry: false });

const words = (content: string): { text: { content: string } }[] => [{ text: { content } }];
const title = (content: string): { title: { title: { text: { content: string } }[] } } => ({ title: { title: words(content) } });
const paragraph = (content: string) => ({ type: 'paragraph' as const, paragraph: { rich_text: words(content) } });

/** What the guide calls a workspace page: the only parent that nobody has to make first. */
const workspace = { type: 'workspace' as const, workspace: true as const };

const page = async (notion: Client, name: string): Promise<string> =>
  given((await notion.pages.create({ parent: workspace, properties: title(name) })).id, 'id');

const trashed = (answer: unknown): unknown => (answer as { in_trash?: unknown }).in_trash;
const nowhere = '0c940186-ab70-4351-bb34-2d16f0635d49';

/** Guide: developers.notion.com, "Working with page content", "Pagination", "Working with comments", and the reference. */
export const vendor: Vendor<Client> = {
  document: 'notion/notion-openapi.json',
  header: 'Authorization',
  word: 'Bearer',
  made: 'ntn_madeup',
  client: connect,
  flows: {
    'a page is made, read, renamed, trashed and restored': (notion, s) => ({
      create: async () => {
        const made = await notion.pages.create({
          parent: workspace,
          properties: title('Tuscan kale'),
          icon: { type: 'emoji', emoji: '🥬' },
        });
        assert.equal(made.object, 'page');
        s.id = given(made.id, 'id');
      },
      read: async () => {
        const read = await notion.pages.retrieve({ page_id: s.id });
        assert.deepEqual([read.object, read.id], ['page', s.id]);
        assert.ok(JSON.stringify(read).includes('Tuscan kale'), 'the page does not hold its title');
      },
      rename: async () => assert.equal((await notion.pages.update({ page_id: s.id, properties: title('Lacinato') })).id, s.id),
      'read the new title': async () =>
        assert.ok(
          JSON.stringify(await notion.pages.retrieve({ page_id: s.id })).includes('Lacinato'),
          'the title is the old one',
        ),
      'put it into the trash': async () =>
        assert.equal(trashed(await notion.pages.update({ page_id: s.id, in_trash: true })), true),
      'it is in the trash': async () => assert.equal(trashed(await notion.pages.retrieve({ page_id: s.id })), true),
      'take it out': async () => assert.equal(trashed(await notion.pages.update({ page_id: s.id, in_trash: false })), false),
    }),
    'a page below a page': (notion, s) => ({
      'create the upper one': async () => {
        s.parent = await page(notion, 'Recipes');
      },
      'create the lower one': async () => {
        const parent = { type: 'page_id' as const, page_id: s.parent };
        s.id = given((await notion.pages.create({ parent, properties: title('Soup') })).id, 'id');
      },
      'it names its parent': async () => {
        const read = (await notion.pages.retrieve({ page_id: s.id })) as { parent?: { page_id?: string } };
        assert.equal(read.parent?.page_id, s.parent);
      },
      'move it to another': async () => {
        s.other = await page(notion, 'Dinners');
        const moved = await notion.pages.move({ page_id: s.id, parent: { type: 'page_id', page_id: s.other } });
        assert.equal(moved.id, s.id);
      },
      'it names the other': async () => {
        const read = (await notion.pages.retrieve({ page_id: s.id })) as { parent?: { page_id?: string } };
        assert.equal(read.parent?.page_id, s.other);
      },
    }),
    'pages are searched through all pages of the answer': (notion, s) => ({
      create: async () => {
        for (const n of [1, 2, 3, 4, 5]) s[`id${n}`] = await page(notion, `Plan ${n}`);
      },
      'search them all': async () => {
        const filter = { property: 'object' as const, value: 'page' as const };
        const found = await collectPaginatedAPI(notion.search, { filter, page_size: 2 });
        once(
          found.map(({ id }) => id),
          [s.id1, s.id2, s.id3, s.id4, s.id5],
        );
      },
      'a page of the answer holds what was asked for': async () => {
        const found = await notion.search({ page_size: 2 });
        assert.equal(found.object, 'list');
        assert.equal(found.results.length, 2);
        assert.equal(found.has_more, true);
        assert.equal(typeof found.next_cursor, 'string');
      },
    }),
    'content is appended, listed, changed and deleted': (notion, s) => ({
      'create a page': async () => {
        s.page = await page(notion, 'Notes');
      },
      append: async () => {
        const children = [paragraph('one'), paragraph('two'), paragraph('three')];
        const added = await notion.blocks.children.append({ block_id: s.page, children });
        assert.equal(added.object, 'list');
        assert.equal(added.results.length, 3);
        for (const [n, block] of added.results.entries()) s[`id${n}`] = given(block.id, 'id');
      },
      'list through all pages': async () => {
        const blocks = await collectPaginatedAPI(notion.blocks.children.list, { block_id: s.page, page_size: 2 });
        assert.deepEqual(
          blocks.map(({ id }) => id),
          [s.id0, s.id1, s.id2],
        );
      },
      read: async () => {
        const block = await notion.blocks.retrieve({ block_id: s.id1 });
        assert.deepEqual([block.object, (block as { type?: string }).type], ['block', 'paragraph']);
        assert.ok(JSON.stringify(block).includes('two'), 'the block does not hold its text');
      },
      change: async () => {
        const block = await notion.blocks.update({ block_id: s.id1, paragraph: { rich_text: words('second') } });
        assert.ok(JSON.stringify(block).includes('second'), 'the text is the old one');
      },
      delete: async () => assert.equal(trashed(await notion.blocks.delete({ block_id: s.id1 })), true),
      'gone from the list': async () => {
        const blocks = await collectPaginatedAPI(notion.blocks.children.list, { block_id: s.page });
        assert.deepEqual(
          blocks.map(({ id }) => id),
          [s.id0, s.id2],
        );
      },
    }),
    'comments on a page': (notion, s) => ({
      'create a page': async () => {
        s.page = await page(notion, 'Discussed');
      },
      comment: async () => {
        const made = await notion.comments.create({ parent: { page_id: s.page }, rich_text: words('Looks good') });
        s.id = given(made.id, 'id');
        assert.equal(made.object, 'comment');
      },
      'comment twice more': async () => {
        for (const text of ['And to me', 'Me too'])
          await notion.comments.create({ parent: { page_id: s.page }, rich_text: words(text) });
      },
      'list through all pages': async () => {
        const comments = await collectPaginatedAPI(notion.comments.list, { block_id: s.page, page_size: 2 });
        assert.equal(comments.length, 3);
        once(
          comments.map(({ id }) => id),
          [s.id],
        );
        assert.ok(JSON.stringify(comments).includes('Looks good'), 'the comment does not hold its text');
      },
      'no comments on another page': async () => {
        const other = await page(notion, 'Quiet');
        assert.deepEqual((await notion.comments.list({ block_id: other })).results, []);
      },
    }),
    'a page as Markdown': (notion, s) => ({
      'create a page': async () => {
        s.page = await page(notion, 'Letter');
      },
      write: async () => {
        const made = await notion.pages.updateMarkdown({
          page_id: s.page,
          type: 'replace_content',
          replace_content: { new_str: '# Dear reader' },
        });
        assert.equal(made.object, 'page_markdown');
      },
      read: async () => {
        const read = await notion.pages.retrieveMarkdown({ page_id: s.page });
        assert.equal(read.object, 'page_markdown');
        assert.ok(read.markdown.includes('Dear reader'), 'the Markdown is not what was written');
      },
      'read a page that nobody made': async () => refused(notion.pages.retrieveMarkdown({ page_id: nowhere }), 404),
    }),
    'users of the workspace': (notion, s) => ({
      'who am I': async () => {
        const me = await notion.users.me({});
        assert.deepEqual([me.object, me.type], ['user', 'bot']);
        s.me = given(me.id, 'id');
      },
      'list through all pages': async () => {
        const users = await collectPaginatedAPI(notion.users.list, { page_size: 2 });
        const ids = users.map(({ id }) => id);
        assert.equal(new Set(ids).size, ids.length, 'a user is listed twice');
        for (const { object } of users) assert.equal(object, 'user');
      },
      'read myself by my id': async () => assert.equal((await notion.users.retrieve({ user_id: s.me })).id, s.me),
    }),
    'a page with its first content': (notion, s) => ({
      create: async () => {
        const children = [paragraph('born with it')];
        const made = await notion.pages.create({ parent: workspace, properties: title('Full'), children });
        s.id = given(made.id, 'id');
      },
      'list its content': async () => {
        const { results } = await notion.blocks.children.list({ block_id: s.id });
        assert.equal(results.length, 1);
        assert.ok(JSON.stringify(results).includes('born with it'), 'the content is not there');
      },
    }),
    'a credential that is refused': (notion, _s, another) => ({
      'the right one is taken': async () => assert.equal((await notion.users.me({})).object, 'user'),
      'another is refused': async () => refused(another('not-a-token-of-this-service').users.me({}), 401),
      'another may not write': async () =>
        refused(another('not-a-token').pages.create({ parent: workspace, properties: title('No') }), 401),
    }),
    'requests that are wrong': (notion) => ({
      'a page without the properties it must have': async () =>
        refused(notion.pages.create({ parent: workspace } as Parameters<Client['pages']['create']>[0]), 400),
      'an append without children': async () => {
        const id = await page(notion, 'Empty');
        await refused(
          notion.blocks.children.append({ block_id: id } as Parameters<Client['blocks']['children']['append']>[0]),
          400,
        );
      },
      'a search for what there is not': async () =>
        refused(notion.search({ filter: { property: 'object', value: 'spaceship' as 'page' } }), 400),
      'a page that nobody made': async () => refused(notion.pages.retrieve({ page_id: nowhere }), 404, 400),
    }),
  },
};
