import assert from 'node:assert/strict';
import { Client } from '@hubspot/api-client';
import { given, once, type Place, pages, refused, type State, type Vendor } from '../kit.ts';

type Folder = Awaited<ReturnType<Client['files']['foldersApi']['getById']>>;
type Kept = Awaited<ReturnType<Client['files']['filesApi']['getById']>>;
type Change = Parameters<Client['files']['filesApi']['updateProperties']>[1];
type Import = Parameters<Client['files']['filesApi']['importFromUrl']>[0];
interface Page<Row> {
  readonly results: readonly Row[];
  readonly paging?: { readonly next?: { readonly after: string } };
}
interface Found {
  readonly limit?: number;
  readonly after?: string;
  readonly sort?: string[];
  readonly name?: string;
  readonly path?: string;
  readonly parentFolderId?: number;
  readonly extension?: string;
}

const connect = (place: Place, token: string): Client =>
  new Client({ accessToken: token, basePath: place.url, numberOfApiCallRetries: 0 });

/** The client takes what is searched for one after the other: most of it is left out here. */
const folders = (client: Client, { limit, after, sort, name, path, parentFolderId }: Found = {}): Promise<Page<Folder>> => {
  const times = [undefined, undefined, undefined, undefined, undefined, undefined] as const;
  return client.files.foldersApi.doSearch(
    undefined,
    after,
    undefined,
    limit,
    sort,
    undefined,
    ...times,
    name,
    path,
    parentFolderId,
  );
};
const files = (client: Client, found: Found = {}): Promise<Page<Kept>> => {
  const { limit, after, sort, name, path, parentFolderId, extension } = found;
  const times = [undefined, undefined, undefined, undefined, undefined, undefined] as const;
  const sizes = [undefined, undefined, undefined, undefined, undefined] as const;
  const api = client.files.filesApi;
  return api.doSearch(
    undefined,
    after,
    undefined,
    limit,
    sort,
    undefined,
    ...times,
    name,
    path,
    parentFolderId,
    ...sizes,
    extension,
  );
};
const ids = (page: Page<{ id: string }>): string[] => page.results.map(({ id }) => id);
const names = (page: Page<{ name?: string }>): (string | undefined)[] => page.results.map(({ name }) => name);

const folder = (client: Client, name: string, parentPath?: string): Promise<Folder> =>
  client.files.foldersApi.create({ name, parentPath });
const upload = (
  client: Client,
  name: string,
  folderPath = '/docs',
  text = 'one,two\n',
  access = 'PUBLIC_NOT_INDEXABLE',
): Promise<Kept> => {
  const file = { data: Buffer.from(text), name };
  return client.files.filesApi.upload(file, undefined, folderPath, name, undefined, JSON.stringify({ access }));
};
const kept = async (client: Client, s: State, name = 'list.csv'): Promise<void> => {
  const { id } = await folder(client, 'docs');
  s.folder = id;
  s.id = (await upload(client, name)).id;
};

/** Asks how far a task is until it is done. */
async function done<Task extends { status: string }>(ask: () => Promise<Task>): Promise<Task> {
  for (let times = 0; times < 20; times += 1) {
    const task = await ask();
    if (task.status === 'COMPLETE') return task;
    assert.match(task.status, /^(PENDING|PROCESSING)$/);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error('the task did not come to its end');
}

/** Guide: developers.hubspot.com/docs, "Files" (upload, search, signed URLs, folders), "Error handling" and "Paging". */
export const vendor: Vendor<Client> = {
  document: 'hubspot/files.json',
  header: 'Authorization',
  word: 'Bearer',
  made: 'pat-na1-00000000-0000-4000-8000-000000000000',
  client: connect,
  strict: ['a token that is refused'],
  flows: {
    'a folder is created, read and deleted': (client, s) => ({
      create: async () => {
        const made = await folder(client, 'library');
        s.id = made.id;
        assert.deepEqual([made.name, made.path, made.archived], ['library', '/library', false]);
      },
      read: async () => {
        const read = await client.files.foldersApi.getById(s.id);
        assert.deepEqual([read.id, read.name], [s.id, 'library']);
        assert.ok(read.createdAt instanceof Date);
      },
      'by its path': async () => assert.equal((await client.files.foldersApi.getByPath('library')).id, s.id),
      delete: () => client.files.foldersApi.archive(s.id),
      'it is gone': () => refused(client.files.foldersApi.getById(s.id), 404),
    }),
    'a folder within a folder': (client, s) => ({
      'create one in another': async () => {
        s.outer = (await folder(client, 'outer')).id;
        const made = await client.files.foldersApi.create({ name: 'inner', parentFolderId: s.outer });
        s.inner = made.id;
        assert.deepEqual([made.parentFolderId, made.path], [s.outer, '/outer/inner']);
      },
      'another, by the path': async () => {
        const made = await folder(client, 'second', '/outer');
        s.second = made.id;
        assert.equal(made.parentFolderId, s.outer);
      },
      'those that are in it': async () =>
        assert.deepEqual(
          ids(await folders(client, { parentFolderId: Number(s.outer) })).toSorted(),
          [s.inner, s.second].toSorted(),
        ),
      'delete one by its path': async () => {
        await client.files.foldersApi.archiveByPath('outer/inner');
        await refused(client.files.foldersApi.getById(s.inner), 404);
      },
    }),
    'a folder is renamed, which takes a while': (client, s) => ({
      create: async () => {
        s.id = (await folder(client, 'drafts')).id;
      },
      rename: async () => {
        const task = await client.files.foldersApi.updateProperties({ id: s.id, name: 'letters' });
        s.task = task.id;
        assert.ok(task.links);
      },
      'until it is done': async () => {
        const task = await done(() => client.files.foldersApi.checkUpdateStatus(s.task));
        assert.equal(task.taskId, s.task);
        assert.deepEqual([task.result?.id, task.result?.name], [s.id, 'letters']);
      },
      'it has the new name': async () => assert.equal((await client.files.foldersApi.getById(s.id)).name, 'letters'),
    }),
    'folders, page by page': (client, s) => ({
      'create five': async () => {
        const made: string[] = [];
        for (const name of ['a', 'b', 'c', 'd', 'e']) made.push((await folder(client, name)).id);
        s.ids = made.join(',');
      },
      'a page is no longer than asked for': async () => {
        const page = await folders(client, { limit: 2 });
        assert.equal(page.results.length, 2);
        assert.ok(page.paging?.next?.after);
      },
      'all pages hold each once': async () => {
        const rows = await pages(
          (after) => folders(client, { limit: 2, after }),
          (page) => page.results,
          (page) => page.paging?.next?.after,
        );
        once(
          rows.map(({ id }) => id),
          s.ids.split(','),
          'folders',
        );
      },
      'the last first': async () =>
        assert.deepEqual(names(await folders(client, { sort: ['-name'] })), ['e', 'd', 'c', 'b', 'a']),
    }),
    'a file is uploaded, read and deleted': (client, s) => ({
      'create the folder': async () => {
        s.folder = (await folder(client, 'docs')).id;
      },
      upload: async () => {
        const made = await upload(client, 'list.csv');
        s.id = made.id;
        assert.deepEqual([made.name, made.extension, made.size, made.access], ['list', 'csv', 8, 'PUBLIC_NOT_INDEXABLE']);
        assert.equal(made.parentFolderId, s.folder);
      },
      read: async () => {
        const read = await client.files.filesApi.getById(s.id);
        assert.deepEqual([read.id, read.path, read.archived], [s.id, '/docs/list.csv', false]);
      },
      'by its path': async () => {
        const { file } = await client.files.filesApi.getMetadata('docs/list.csv');
        assert.equal(file?.id, s.id);
      },
      delete: () => client.files.filesApi.archive(s.id),
      'it is gone': () => refused(client.files.filesApi.getById(s.id), 404),
    }),
    'a file is renamed and moved': (client, s) => ({
      upload: () => kept(client, s),
      rename: async () => {
        const changed = await client.files.filesApi.updateProperties(s.id, { name: 'prices' });
        assert.deepEqual([changed.id, changed.name, changed.extension], [s.id, 'prices', 'csv']);
      },
      move: async () => {
        s.to = (await folder(client, 'archive')).id;
        const changed = await client.files.filesApi.updateProperties(s.id, { parentFolderId: s.to });
        assert.deepEqual([changed.parentFolderId, changed.name], [s.to, 'prices']);
      },
      'it is there': async () => {
        const read = await client.files.filesApi.getById(s.id);
        assert.deepEqual([read.parentFolderId, read.path], [s.to, '/archive/prices.csv']);
        assert.deepEqual(ids(await files(client, { parentFolderId: Number(s.to) })), [s.id]);
      },
      'it is not where it was': async () => assert.deepEqual(ids(await files(client, { parentFolderId: Number(s.folder) })), []),
    }),
    'a file gets another content': (client, s) => ({
      upload: () => kept(client, s),
      replace: async () => {
        const file = { data: Buffer.from('one,two,three\n1,2,3\n'), name: 'list.csv' };
        const options = JSON.stringify({ access: 'PUBLIC_INDEXABLE' });
        const changed = await client.files.filesApi.replace(s.id, file, undefined, options);
        assert.deepEqual([changed.id, changed.size, changed.access], [s.id, 20, 'PUBLIC_INDEXABLE']);
      },
      'it has the new size': async () => assert.equal((await client.files.filesApi.getById(s.id)).size, 20),
    }),
    'a private file and a link to it': (client, s) => ({
      upload: async () => {
        await folder(client, 'docs');
        const made = await upload(client, 'contract.txt', '/docs', 'agreed', 'PRIVATE');
        s.id = made.id;
        assert.equal(made.access, 'PRIVATE');
      },
      'a link for an hour': async () => {
        const link = await client.files.filesApi.getSignedUrl(s.id, undefined, 3600);
        assert.deepEqual([link.name, link.extension, link.size], ['contract', 'txt', 6]);
        assert.ok(link.expiresAt.getTime() > Date.now());
        assert.ok(link.url);
      },
      'make it public': async () => {
        const changed = await client.files.filesApi.updateProperties(s.id, { access: 'PUBLIC_INDEXABLE' } as Change);
        assert.equal(changed.access, 'PUBLIC_INDEXABLE');
        assert.ok(changed.url);
      },
    }),
    'files, page by page': (client, s) => ({
      'upload five': async () => {
        await folder(client, 'docs');
        const made: string[] = [];
        for (const name of ['a.txt', 'b.txt', 'c.txt', 'd.txt', 'e.txt']) made.push((await upload(client, name)).id);
        s.ids = made.join(',');
      },
      'a page is no longer than asked for': async () => {
        const page = await files(client, { limit: 2 });
        assert.equal(page.results.length, 2);
        assert.ok(page.paging?.next?.after);
      },
      'all pages hold each once': async () => {
        const rows = await pages(
          (after) => files(client, { limit: 2, after }),
          (page) => page.results,
          (page) => page.paging?.next?.after,
        );
        once(
          rows.map(({ id }) => id),
          s.ids.split(','),
          'files',
        );
      },
      'in the order of the names': async () =>
        assert.deepEqual(names(await files(client, { sort: ['name'] })), ['a', 'b', 'c', 'd', 'e']),
    }),
    'files are searched': (client, s) => ({
      'upload three': async () => {
        s.docs = (await folder(client, 'docs')).id;
        await folder(client, 'pictures');
        s.list = (await upload(client, 'list.csv')).id;
        s.letter = (await upload(client, 'letter.txt')).id;
        s.other = (await upload(client, 'list-of-two.txt', '/pictures')).id;
      },
      'by the extension': async () =>
        assert.deepEqual(ids(await files(client, { extension: 'txt' })).toSorted(), [s.letter, s.other].toSorted()),
      'by a part of the name': async () =>
        assert.deepEqual(ids(await files(client, { name: 'list' })).toSorted(), [s.list, s.other].toSorted()),
      'by the folder': async () =>
        assert.deepEqual(ids(await files(client, { parentFolderId: Number(s.docs) })).toSorted(), [s.list, s.letter].toSorted()),
      'by both': async () =>
        assert.deepEqual(ids(await files(client, { parentFolderId: Number(s.docs), extension: 'txt' })), [s.letter]),
    }),
    'a file is fetched from elsewhere': (client, s) => ({
      ask: async () => {
        await folder(client, 'docs');
        const task = await client.files.filesApi.importFromUrl({
          url: 'https://example.com/logo.png',
          access: 'PUBLIC_NOT_INDEXABLE',
          folderPath: '/docs',
          name: 'logo',
          duplicateValidationStrategy: 'NONE',
          duplicateValidationScope: 'ENTIRE_PORTAL',
          overwrite: false,
        } as Import);
        s.task = task.id;
        assert.ok(task.links);
      },
      'how far it is': async () => {
        const task = await client.files.filesApi.checkImport(s.task);
        assert.equal(task.taskId, s.task);
        assert.match(task.status, /^(PENDING|PROCESSING|CANCELED|COMPLETE)$/);
      },
    }),
    'a file is deleted for good': (client, s) => ({
      upload: () => kept(client, s),
      delete: () => client.files.filesApi.archiveGDPR(s.id),
      'it is gone': () => refused(client.files.filesApi.getById(s.id), 404),
      'it is not found': async () => assert.deepEqual(ids(await files(client, { extension: 'csv' })), []),
    }),
    'a token that is refused': (client, _s, another) => ({
      'the right one is taken': async () => assert.ok(Array.isArray((await files(client)).results)),
      'another is not': () => refused(files(another('not-a-token')), 401),
    }),
    'requests that are wrong': (client) => ({
      'a file that never was': () => refused(client.files.filesApi.getById('99999999999'), 404),
      'a folder that never was': () => refused(client.files.foldersApi.getById('99999999999'), 404),
      'a folder without a name': () => refused(client.files.foldersApi.create({} as { name: string }), 400),
      'a file to be shown to whom': async () => {
        await folder(client, 'docs');
        const { id } = await upload(client, 'odd.txt');
        await refused(client.files.filesApi.updateProperties(id, { access: 'EVERYBODY' } as unknown as Change), 400);
      },
      'an error says what it is': async () => {
        const thrown = await refused(client.files.filesApi.getById('99999999999'), 404);
        const { body } = thrown as { body: { category?: string; message?: string; correlationId?: string } };
        assert.ok(given(body.message, 'message'));
        assert.ok(given(body.correlationId, 'correlationId'));
      },
    }),
  },
};
