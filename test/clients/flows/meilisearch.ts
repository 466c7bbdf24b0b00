import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { type EnqueuedTask, MeiliSearch, type TaskStatus, type TaskTypes } from 'meilisearch';
import { given, numbered, once, type Place, refused, type Vendor } from '../kit.ts';

type Book = {
  readonly id: number;
  readonly title: string;
  readonly author?: string;
  readonly genre?: string;
  readonly price?: number;
};

const connect = (place: Place, token: string): MeiliSearch => new MeiliSearch({ host: place.url, apiKey: token });

/** The books of the description's own example. */
const shelf: readonly Book[] = [
  { id: 1, title: 'Alice In Wonderland', author: 'Lewis Carroll', genre: 'fantasy', price: 25.99 },
  { id: 2, title: 'Pride and Prejudice', author: 'Jane Austen', genre: 'romance', price: 3.5 },
  { id: 4, title: 'Harry Potter and the Half-Blood Prince', author: 'J. K. Rowling', genre: 'fantasy', price: 12 },
  { id: 456, title: 'Le Petit Prince', author: 'Antoine de Saint-Exupery', genre: 'adventure', price: 10 },
  { id: 1344, title: 'The Hobbit', author: 'J. R. R. Tolkien', genre: 'fantasy', price: 7.25 },
];

/** Waits for a task by the list of tasks, as the description has no other one than 0, and says how it ended where that is told. */
const done = async (client: MeiliSearch, asked: Promise<EnqueuedTask>): Promise<string | undefined> => {
  const { taskUid } = await asked;
  for (let tries = 0; tries < 60; tries += 1) {
    const answered = await client.getTasks({ uids: [taskUid] }).catch(() => undefined);
    const status: string | undefined = answered?.results?.find(({ uid }) => uid === taskUid)?.status;
    if (status !== 'enqueued' && status !== 'processing') return status;
    await sleep(50);
  }
  return undefined;
};
const books = (client: MeiliSearch) => client.index<Book>('books');
/** The index `books`, which is the one that the description knows, with the shelf in it. */
const filled = async (client: MeiliSearch): Promise<void> => {
  await done(client, client.createIndex('books', { primaryKey: 'id' }));
  await done(client, books(client).addDocuments([...shelf]));
};
const ids = (rows: readonly { readonly id: number }[]): number[] => rows.map(({ id }) => id).sort((a, b) => a - b);
const listed = async (client: MeiliSearch): Promise<number[]> => ids((await books(client).getDocuments({ limit: 100 })).results);
const indexes = async (client: MeiliSearch): Promise<string[]> =>
  (await client.getRawIndexes({ limit: 100 })).results.map(({ uid }) => uid);

/** Guide: www.meilisearch.com/docs/v1.1, "Quick start", "Documents", "Search", "Settings", "Tasks", "Keys", "Error codes"; the client's README. */
export const vendor: Vendor<MeiliSearch> = {
  document: 'meilisearch/meilisearch.com.json',
  header: 'Authorization',
  word: 'Bearer',
  made: 'bWVpbGktbWFzdGVyLWtleS1mb3ItdGVzdHM',
  client: connect,
  strict: ['a key that is refused'],
  flows: {
    'an index from its making to its end': (client) => ({
      create: async () => {
        const task = await client.createIndex('books', { primaryKey: 'isbn' });
        assert.deepEqual([task.indexUid, task.type], ['books', 'indexCreation']);
        await done(client, Promise.resolve(task));
      },
      read: async () => {
        const { uid, primaryKey } = await client.getRawIndex('books');
        assert.deepEqual([uid, primaryKey], ['books', 'isbn']);
      },
      'it is listed': async () => once(await indexes(client), ['books'], 'indexes'),
      change: async () => done(client, client.updateIndex('books', { primaryKey: 'id' })),
      'it is changed': async () => assert.equal((await client.getRawIndex('books')).primaryKey, 'id'),
      delete: async () => done(client, client.deleteIndex('books')),
      'it is gone': async () => refused(client.getRawIndex('books'), 404),
      'it is not listed': async () => assert.ok(!(await indexes(client)).includes('books')),
    }),
    'an index that is there already': (client) => ({
      create: async () => done(client, client.createIndex('books', { primaryKey: 'id' })),
      'the same again fails later': async () =>
        assert.equal(await done(client, client.createIndex('books', { primaryKey: 'title' })), 'failed'),
      'it is listed once': async () => once(await indexes(client), ['books'], 'indexes'),
      'it is as it was': async () => assert.equal((await client.getRawIndex('books')).primaryKey, 'id'),
      'no index has such a name': async () => refused(client.createIndex('not a name!'), 400),
    }),
    'documents from their making to their end': (client) => ({
      'make an index': async () => done(client, client.createIndex('books', { primaryKey: 'id' })),
      'it is empty': async () => assert.equal((await books(client).getDocuments()).total, 0),
      'add five': async () => {
        const task = await books(client).addDocuments([...shelf]);
        assert.deepEqual([task.indexUid, task.type], ['books', 'documentAdditionOrUpdate']);
        await done(client, Promise.resolve(task));
      },
      'read one': async () => assert.deepEqual(await books(client).getDocument(2), shelf[1]),
      'all are listed': async () => assert.deepEqual(await listed(client), ids(shelf)),
      'delete one': async () => done(client, books(client).deleteDocument(1)),
      'it is not listed': async () => assert.deepEqual(await listed(client), [2, 4, 456, 1344]),
    }),
    'documents through all pages': (client) => ({
      'make five': async () => filled(client),
      'two at a time': async () => {
        const all = await numbered(async (page) => {
          const { results, limit } = await books(client).getDocuments({ limit: 2, offset: (page - 1) * 2 });
          assert.ok(limit === 2 && results.length <= 2, `a page of ${results.length}`);
          return results;
        });
        assert.deepEqual(ids(all), ids(shelf));
      },
      'they are counted': async () => {
        const { total, offset, results } = await books(client).getDocuments({ limit: 1, offset: 3 });
        assert.deepEqual([total, offset, results.length], [5, 3, 1]);
      },
      'some fields of them': async () => {
        const { results } = await books(client).getDocuments({ limit: 100, fields: ['id', 'title'] });
        assert.deepEqual(
          results.map((row) => Object.keys(row).sort()),
          shelf.map(() => ['id', 'title']),
        );
      },
      'not of such a size': async () => refused(books(client).getDocuments({ limit: -1 }), 400),
    }),
    'a document that is changed': (client) => ({
      'make five': async () => filled(client),
      'some of it': async () => done(client, books(client).updateDocuments([{ id: 2, author: 'J. Austen' }])),
      'the rest stays': async () => assert.deepEqual(await books(client).getDocument(2), { ...shelf[1], author: 'J. Austen' }),
      'all of it': async () => done(client, books(client).addDocuments([{ id: 2, title: 'Emma' }])),
      'nothing else stays': async () => assert.deepEqual(await books(client).getDocument(2), { id: 2, title: 'Emma' }),
      'there are as many as before': async () => assert.deepEqual(await listed(client), ids(shelf)),
    }),
    'several documents deleted': (client) => ({
      'make five': async () => filled(client),
      'delete two': async () => done(client, books(client).deleteDocuments([1, 2])),
      'three are left': async () => assert.deepEqual(await listed(client), [4, 456, 1344]),
      'one of the two is gone': async () => refused(books(client).getDocument(2), 404),
      'delete all': async () => done(client, books(client).deleteAllDocuments()),
      'none is left': async () => assert.deepEqual(await listed(client), []),
      'the index stays': async () => assert.equal((await client.getRawIndex('books')).uid, 'books'),
    }),
    'what is searched': (client) => ({
      'make five': async () => filled(client),
      'by a word': async () => {
        const { hits, query } = await books(client).search('hobbit');
        assert.deepEqual([ids(hits), query], [[1344], 'hobbit']);
      },
      'with a fault in it': async () => assert.deepEqual(ids((await books(client).search('wonderlnad')).hits), [1]),
      'by a word of two': async () => assert.deepEqual(ids((await books(client).search('prince')).hits), [4, 456]),
      all: async () => assert.deepEqual(ids((await books(client).search('')).hits), ids(shelf)),
      'no more than asked for': async () => {
        const { hits, limit, offset } = await books(client).search('', { limit: 2, offset: 1 });
        assert.deepEqual([hits.length, limit, offset], [2, 2, 1]);
      },
      'nothing by what is not there': async () => assert.deepEqual((await books(client).search('xylophonist')).hits, []),
    }),
    'what is searched with a filter': (client) => ({
      'make five': async () => filled(client),
      'not before it is said so': async () => refused(books(client).search('', { filter: 'genre = fantasy' }), 400),
      'say so': async () =>
        done(client, books(client).updateSettings({ filterableAttributes: ['genre', 'price'], sortableAttributes: ['price'] })),
      'by a value': async () =>
        assert.deepEqual(ids((await books(client).search('', { filter: 'genre = fantasy' })).hits), [1, 4, 1344]),
      'by two': async () => {
        const { hits } = await books(client).search('', { filter: ['genre = fantasy', 'price < 20'] });
        assert.deepEqual(ids(hits), [4, 1344]);
      },
      'in an order': async () => {
        const { hits } = await books(client).search('', { sort: ['price:asc'] });
        assert.deepEqual(
          hits.map(({ id }) => id),
          [2, 1344, 456, 4, 1],
        );
      },
      'how many of each': async () => {
        const { facetDistribution } = await books(client).search('', { facets: ['genre'] });
        assert.deepEqual(facetDistribution?.genre, { adventure: 1, fantasy: 3, romance: 1 });
      },
    }),
    'what a search shows': (client) => ({
      'make five': async () => filled(client),
      'some fields': async () => {
        const { hits } = await books(client).search('hobbit', { attributesToRetrieve: ['title'] });
        assert.deepEqual(hits, [{ title: 'The Hobbit' }]);
      },
      'what fits is marked': async () => {
        const { hits } = await books(client).search('hobbit', { attributesToHighlight: ['title'] });
        assert.equal(hits[0]?._formatted?.title, 'The <em>Hobbit</em>');
      },
      'by GET too': async () => {
        const { hits } = await books(client).searchGet('prince', { attributesToRetrieve: ['id'], limit: 10 });
        assert.deepEqual(ids(hits), [4, 456]);
      },
      'two searches at once': async () => {
        const queries = [
          { indexUid: 'books', q: 'hobbit' },
          { indexUid: 'books', q: 'prejudice' },
        ];
        const { results } = await client.multiSearch<Book>({ queries });
        assert.deepEqual(
          results.map(({ indexUid, hits }) => [indexUid, ids(hits)]),
          [
            ['books', [1344]],
            ['books', [2]],
          ],
        );
      },
    }),
    'all settings of an index': (client) => ({
      'make an index': async () => done(client, client.createIndex('books', { primaryKey: 'id' })),
      'the usual ones': async () => {
        const { displayedAttributes, searchableAttributes, stopWords } = await books(client).getSettings();
        assert.deepEqual([displayedAttributes, searchableAttributes, stopWords], [['*'], ['*'], []]);
      },
      change: async () =>
        done(client, books(client).updateSettings({ searchableAttributes: ['title', 'author'], stopWords: ['of', 'the'] })),
      'they are changed': async () => {
        const { displayedAttributes, searchableAttributes, stopWords } = await books(client).getSettings();
        assert.deepEqual([displayedAttributes, searchableAttributes], [['*'], ['title', 'author']]);
        assert.deepEqual([...(stopWords ?? [])].sort(), ['of', 'the']);
      },
      'set back': async () => done(client, books(client).resetSettings()),
      'they are as before': async () => {
        const { searchableAttributes, stopWords } = await books(client).getSettings();
        assert.deepEqual([searchableAttributes, stopWords], [['*'], []]);
      },
    }),
    'a setting by itself': (client) => ({
      'make an index': async () => done(client, client.createIndex('books', { primaryKey: 'id' })),
      'words that mean the same': async () =>
        done(client, books(client).updateSynonyms({ hp: ['harry potter'], 'harry potter': ['hp'] })),
      'read them': async () =>
        assert.deepEqual(await books(client).getSynonyms(), { hp: ['harry potter'], 'harry potter': ['hp'] }),
      'without them': async () => {
        await done(client, books(client).resetSynonyms());
        assert.deepEqual(await books(client).getSynonyms(), {});
      },
      'what is shown': async () => {
        await done(client, books(client).updateDisplayedAttributes(['title']));
        assert.deepEqual(await books(client).getDisplayedAttributes(), ['title']);
      },
      'most of all pages': async () => {
        await done(client, books(client).updatePagination({ maxTotalHits: 2000 }));
        assert.deepEqual(await books(client).getPagination(), { maxTotalHits: 2000 });
      },
      'it is among all of them': async () => assert.deepEqual((await books(client).getSettings()).displayedAttributes, ['title']),
    }),
    'tasks that were done': (client, s) => ({
      'make an index': async () => {
        const { taskUid } = await client.createIndex('books', { primaryKey: 'id' });
        s.first = String(given(taskUid, 'taskUid'));
      },
      'add documents': async () => {
        const asked = books(client).addDocuments([...shelf]);
        s.second = String(given((await asked).taskUid, 'taskUid'));
        assert.notEqual(s.first, s.second);
        await done(client, asked);
      },
      'both are listed': async () => {
        const { results } = await client.getTasks({ indexUids: ['books'] });
        once(
          results.map(({ uid }) => String(uid)),
          [s.first, s.second],
          'tasks',
        );
      },
      'both are well ended': async () => {
        const { results } = await client.getTasks({ uids: [Number(s.first), Number(s.second)] });
        assert.deepEqual(
          results.map(({ status }) => status),
          ['succeeded', 'succeeded'],
        );
      },
      'one by its type': async () => {
        const { results } = await client.getTasks({ types: ['documentAdditionOrUpdate' as TaskTypes] });
        assert.deepEqual(
          results.map(({ uid, type }) => [String(uid), type]),
          [[s.second, 'documentAdditionOrUpdate']],
        );
      },
      'none failed': async () => assert.deepEqual((await client.getTasks({ statuses: ['failed' as TaskStatus] })).results, []),
      'none of such a state': async () => refused(client.getTasks({ statuses: ['happy' as TaskStatus] }), 400),
    }),
    'keys of the service': (client, s) => ({
      create: async () => {
        const made = await client.createKey({
          name: 'docs-key',
          description: 'Add and delete documents of books',
          actions: ['documents.add', 'documents.delete'],
          indexes: ['books'],
          expiresAt: null,
        });
        s.uid = given(made.uid, 'uid');
        assert.deepEqual([made.name, made.actions, made.indexes], ['docs-key', ['documents.add', 'documents.delete'], ['books']]);
      },
      'it is listed': async () => {
        const { results } = await client.getKeys({ limit: 100 });
        once(
          results.map(({ uid }) => uid),
          [s.uid],
          'keys',
        );
        assert.equal(results.find(({ uid }) => uid === s.uid)?.description, 'Add and delete documents of books');
      },
      'another one': async () => {
        const { uid, key } = await client.createKey({ actions: ['search'], indexes: ['*'], expiresAt: null });
        assert.ok(given(key, 'key').length > 0 && uid !== s.uid);
      },
      'not one without what it may': async () => refused(client.createKey({ indexes: ['books'], expiresAt: null } as never), 400),
      'nor one for what there is not': async () =>
        refused(client.createKey({ actions: ['documents.paint'], indexes: ['books'], expiresAt: null }), 400),
    }),
    'how the service does': (client) => ({
      health: async () => assert.equal((await client.health()).status, 'available'),
      version: async () => assert.match((await client.getVersion()).pkgVersion, /^\d+\.\d+\.\d+/),
      'make five': async () => filled(client),
      'those of the index': async () => assert.equal((await books(client).getStats()).numberOfDocuments, 5),
      'those of all': async () => assert.equal((await client.getStats()).indexes.books?.numberOfDocuments, 5),
      'a dump': async () => assert.equal((await client.createDump()).type, 'dumpCreation'),
    }),
    'a key that is refused': (client, _, another) => ({
      'the right key': async () => done(client, client.createIndex('books', { primaryKey: 'id' })),
      'a wrong one lists nothing': async () => refused(another('wrong').getRawIndexes(), 401, 403),
      'nor reads anything': async () => refused(another('wrong').getRawIndex('books'), 401, 403),
      'nor deletes anything': async () => refused(another('wrong').deleteIndex('books'), 401, 403),
      'all is as it was': async () => assert.equal((await client.getRawIndex('books')).primaryKey, 'id'),
      'health is told to all': async () => assert.equal((await another('wrong').health()).status, 'available'),
    }),
  },
};
