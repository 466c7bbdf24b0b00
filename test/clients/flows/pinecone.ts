import assert from 'node:assert/strict';
import { Pinecone, type PineconeRecord } from '@pinecone-database/pinecone';
import { given, once, type Place, refused, type Vendor } from '../kit.ts';

/** The client asks the hosts of its environment: its own fetch function leads those requests to the place. */
const connect = (place: Place, token: string): Pinecone =>
  new Pinecone({
    apiKey: token,
    environment: 'us-east1-gcp',
    projectId: 'abcd1234',
    fetchApi: (asked, init) => {
      const { pathname, search } = new URL(String(asked));
      return fetch(`${place.url}${pathname}${search}`, init);
    },
  });

const statuses: Readonly<Record<string, number>> = {
  PineconeBadRequestError: 400,
  PineconeAuthorizationError: 401,
  PineconeNotFoundError: 404,
  PineconeConflictError: 409,
};

/** The client tells the status of an error by its name alone. */
const told = <T>(call: Promise<T>): Promise<T> =>
  call.catch((error: Error) => Promise.reject(Object.assign(error, { status: statuses[error.name] })));

type Made = Parameters<Pinecone['createIndex']>[0];

const index = (api: Pinecone, name: string, more: Partial<Made> = {}): Promise<void> =>
  api.createIndex({ name, dimension: 3, ...more }) as Promise<void>;
const indexes = async (api: Pinecone): Promise<string[]> => (await api.listIndexes()).map(({ name }) => name);
const collections = async (api: Pinecone): Promise<string[]> => (await api.listCollections()).map(({ name }) => name);

const films: PineconeRecord[] = [
  { id: 'alien', values: [1, 0, 0], metadata: { genre: 'horror', year: 1979 } },
  { id: 'airplane', values: [0, 1, 0], metadata: { genre: 'comedy', year: 1980 } },
  { id: 'amadeus', values: [0, 0, 1], metadata: { genre: 'drama', year: 1984 } },
];

/** Guide: docs.pinecone.io of 2023, "Manage indexes", "Collections", "Upsert", "Query data", "Metadata filtering", "Namespaces"; the client's README. */
export const vendor: Vendor<Pinecone> = {
  document: 'pinecone/pinecone.io.json',
  header: 'Api-Key',
  made: '3c4e8f52-6b1d-4a0f-9a57-0d2c7b9e1f63',
  client: connect,
  strict: ['a key that is refused'],
  flows: {
    'an index from its making to its end': (api) => ({
      create: async () => index(api, 'sample-index', { dimension: 1536 }),
      describe: async () => {
        const { database } = await api.describeIndex('sample-index');
        assert.deepEqual([database?.name, database?.dimension], ['sample-index', 1536]);
      },
      'it is listed': async () => once(await indexes(api), ['sample-index'], 'indexes'),
      delete: async () => api.deleteIndex('sample-index'),
      'it is gone': async () => refused(told(api.describeIndex('sample-index')), 404),
      'it is not listed': async () => assert.ok(!(await indexes(api)).includes('sample-index')),
    }),
    'an index with all that can be said of it': (api) => ({
      create: async () =>
        index(api, 'sample-index-2', {
          dimension: 1536,
          metric: 'dotproduct',
          pods: 2,
          replicas: 2,
          podType: 'p1.x2',
          metadataConfig: { indexed: ['product_type'] },
        }),
      describe: async () => {
        const { database } = await api.describeIndex('sample-index-2');
        assert.deepEqual([database?.name, database?.dimension], ['sample-index-2', 1536]);
        assert.deepEqual([database?.metric, database?.pods, database?.replicas], ['dotproduct', 2, 2]);
        assert.equal(database?.podType, 'p1.x2');
      },
      'make one with the least': async () => index(api, 'plain'),
      'what it is without a word': async () => {
        const { database } = await api.describeIndex('plain');
        assert.deepEqual([database?.pods, database?.replicas], [1, 1]);
      },
      'each is listed once': async () => once(await indexes(api), ['sample-index-2', 'plain'], 'indexes'),
    }),
    'an index is scaled': (api) => ({
      create: async () => index(api, 'scaled', { metric: 'euclidean', podType: 's1.x1' }),
      'more replicas': async () => api.configureIndex('scaled', { replicas: 3 }),
      'they are there': async () => {
        const { database } = await api.describeIndex('scaled');
        assert.equal(database?.replicas, 3);
      },
      'a larger pod': async () => api.configureIndex('scaled', { podType: 's1.x2' }),
      'the rest is as it was': async () => {
        const { database } = await api.describeIndex('scaled');
        assert.deepEqual([database?.podType, database?.replicas], ['s1.x2', 3]);
        assert.deepEqual([database?.name, database?.dimension, database?.metric], ['scaled', 3, 'euclidean']);
      },
    }),
    'several indexes': (api) => ({
      'make four': async () => {
        for (const name of ['one', 'two', 'three', 'four']) await index(api, name);
      },
      'each is listed once': async () => once(await indexes(api), ['one', 'two', 'three', 'four'], 'indexes'),
      'delete two of them': async () => {
        await api.deleteIndex('one');
        await api.deleteIndex('three');
      },
      'the others stay': async () => {
        const names = await indexes(api);
        once(names, ['two', 'four'], 'indexes');
        assert.ok(!names.includes('one') && !names.includes('three'));
      },
      'and can be described': async () => assert.equal((await api.describeIndex('four')).database?.name, 'four'),
    }),
    'a name that is taken': (api) => ({
      create: async () => index(api, 'taken'),
      'the same name again': async () => refused(told(index(api, 'taken')), 409),
      'it is listed once': async () => once(await indexes(api), ['taken'], 'indexes'),
      'without a complaint': async () => index(api, 'taken', { suppressConflicts: true }),
      'free again': async () => {
        await api.deleteIndex('taken');
        await index(api, 'taken', { dimension: 8 });
        assert.equal((await api.describeIndex('taken')).database?.dimension, 8);
      },
    }),
    'an index that cannot be': (api) => ({
      'an unknown metric': async () => refused(told(index(api, 'odd', { metric: 'hamming' })), 400),
      'an unknown pod': async () => refused(told(index(api, 'odd', { podType: 'z9.x9' })), 400),
      'too many dimensions': async () => refused(told(index(api, 'odd', { dimension: 20001 })), 400),
      'none of them was made': async () => assert.ok(!(await indexes(api)).includes('odd')),
      'a right one': async () => {
        await index(api, 'odd', { metric: 'cosine' });
        once(await indexes(api), ['odd'], 'indexes');
      },
    }),
    'indexes that are not there': (api) => ({
      describe: async () => refused(told(api.describeIndex('nowhere')), 404),
      configure: async () => refused(told(api.configureIndex('nowhere', { replicas: 2 })), 404),
      delete: async () => refused(told(api.deleteIndex('nowhere')), 404),
      'nothing came of it': async () => assert.ok(!(await indexes(api)).includes('nowhere')),
    }),
    'a collection from its making to its end': (api) => ({
      'make an index': async () => index(api, 'products'),
      create: async () => api.createCollection({ name: 'products-copy', source: 'products' }),
      describe: async () => {
        const read = await api.describeCollection('products-copy');
        assert.equal(read.name, 'products-copy');
        given(read.status, 'status');
        once(await collections(api), ['products-copy'], 'collections');
      },
      delete: async () => api.deleteCollection('products-copy'),
      'it is gone': async () => refused(told(api.describeCollection('products-copy')), 404),
      'its index stays': async () => {
        assert.ok(!(await collections(api)).includes('products-copy'));
        once(await indexes(api), ['products'], 'indexes');
      },
    }),
    'an index out of a collection': (api) => ({
      'make an index': async () => index(api, 'source'),
      'make a collection': async () => api.createCollection({ name: 'kept', source: 'source' }),
      'the same name again': async () => refused(told(api.createCollection({ name: 'kept', source: 'source' })), 409),
      'make an index out of it': async () => index(api, 'restored', { sourceCollection: 'kept', podType: 'p1.x1' }),
      'it is there': async () => {
        const { database } = await api.describeIndex('restored');
        assert.deepEqual([database?.name, database?.dimension], ['restored', 3]);
        once(await indexes(api), ['source', 'restored'], 'indexes');
      },
      'a collection that is not there': async () => refused(told(api.deleteCollection('nothing')), 404),
    }),
    'records are found': (api) => ({
      'make an index': async () => index(api, 'films', { waitUntilReady: false }),
      upsert: async () => api.index('films').upsert(films),
      'find one by its id': async () => {
        const { matches } = await api.index('films').query({ id: 'alien', topK: 1, includeValues: true, includeMetadata: true });
        assert.deepEqual(
          matches.map(({ id, values, metadata }) => [id, values, metadata]),
          [['alien', [1, 0, 0], { genre: 'horror', year: 1979 }]],
        );
      },
      'find one by its values': async () => {
        const { matches } = await api.index('films').query({ vector: [0, 1, 0], topK: 1 });
        assert.deepEqual(
          matches.map(({ id }) => id),
          ['airplane'],
        );
      },
      'all of them': async () => {
        const { matches } = await api.index('films').query({ vector: [1, 1, 1], topK: 10 });
        assert.deepEqual(matches.map(({ id }) => id).sort(), ['airplane', 'alien', 'amadeus']);
      },
      'how many there are': async () => {
        const stats = await api.index('films').describeIndexStats();
        assert.deepEqual([stats.totalRecordCount, stats.dimension], [3, 3]);
      },
    }),
    'records are changed': (api) => ({
      'make an index': async () => index(api, 'changing'),
      upsert: async () => api.index('changing').upsert(films),
      'change one': async () =>
        api.index('changing').update({ id: 'amadeus', values: [0, 0.5, 0.5], metadata: { genre: 'music' } }),
      'it is changed': async () => {
        const asked = { id: 'amadeus', topK: 1, includeValues: true, includeMetadata: true };
        const [found] = (await api.index('changing').query(asked)).matches;
        assert.deepEqual([found?.id, found?.values, found?.metadata?.genre], ['amadeus', [0, 0.5, 0.5], 'music']);
        assert.equal(found?.metadata?.year, 1984);
      },
      'upsert one again': async () => api.index('changing').upsert([{ id: 'alien', values: [0.5, 0.5, 0] }]),
      'there are no more of them': async () =>
        assert.equal((await api.index('changing').describeIndexStats()).totalRecordCount, 3),
    }),
    'records are deleted': (api) => ({
      'make an index': async () => index(api, 'leaving'),
      upsert: async () => api.index('leaving').upsert(films),
      'delete one': async () => api.index('leaving').deleteOne('alien'),
      'it is gone': async () => {
        const { matches } = await api.index('leaving').query({ vector: [1, 1, 1], topK: 10 });
        assert.deepEqual(matches.map(({ id }) => id).sort(), ['airplane', 'amadeus']);
      },
      'delete the others': async () => api.index('leaving').deleteMany(['airplane', 'amadeus']),
      'none is left': async () => {
        const { matches } = await api.index('leaving').query({ vector: [1, 1, 1], topK: 10 });
        assert.deepEqual(matches, []);
      },
    }),
    'records in namespaces': (api) => ({
      'make an index': async () => index(api, 'spaces'),
      'two here, one there': async () => {
        await api.index('spaces').namespace('here').upsert(films.slice(0, 2));
        await api.index('spaces').namespace('there').upsert(films.slice(2));
      },
      'how many in each': async () => {
        const { namespaces } = await api.index('spaces').describeIndexStats();
        assert.deepEqual([namespaces?.here?.recordCount, namespaces?.there?.recordCount], [2, 1]);
      },
      'a query stays in its own': async () => {
        const found = await api
          .index('spaces')
          .namespace('there')
          .query({ vector: [1, 1, 1], topK: 10 });
        assert.deepEqual([found.namespace, found.matches.map(({ id }) => id)], ['there', ['amadeus']]);
      },
      'empty one of them': async () => api.index('spaces').namespace('here').deleteAll(),
      'the other stays': async () => {
        const here = await api
          .index('spaces')
          .namespace('here')
          .query({ vector: [1, 1, 1], topK: 10 });
        const there = await api
          .index('spaces')
          .namespace('there')
          .query({ vector: [1, 1, 1], topK: 10 });
        assert.deepEqual([here.matches.length, there.matches.map(({ id }) => id)], [0, ['amadeus']]);
      },
    }),
    'records by their metadata': (api) => ({
      'make an index': async () => index(api, 'library'),
      upsert: async () => api.index('library').upsert(films),
      'one value': async () => {
        const filter = { genre: { $eq: 'drama' } };
        const { matches } = await api.index('library').query({ vector: [1, 1, 1], topK: 10, filter });
        assert.deepEqual(
          matches.map(({ id }) => id),
          ['amadeus'],
        );
      },
      'one of two values': async () => {
        const filter = { genre: { $in: ['comedy', 'horror'] } };
        const { matches } = await api.index('library').query({ vector: [1, 1, 1], topK: 10, filter });
        assert.deepEqual(matches.map(({ id }) => id).sort(), ['airplane', 'alien']);
      },
      'a range': async () => {
        const filter = { year: { $gte: 1980 } };
        const { matches } = await api.index('library').query({ vector: [1, 1, 1], topK: 10, filter });
        assert.deepEqual(matches.map(({ id }) => id).sort(), ['airplane', 'amadeus']);
      },
      'no more than asked for': async () => {
        const { matches } = await api.index('library').query({ vector: [1, 1, 1], topK: 2 });
        assert.equal(matches.length, 2);
      },
    }),
    'a key that is refused': (api, _, another) => ({
      'the right key': async () => index(api, 'guarded'),
      'a wrong key reads nothing': async () => refused(told(another('wrong').listIndexes()), 401),
      'nor makes anything': async () => refused(told(index(another('wrong'), 'theirs')), 401),
      'nor deletes anything': async () => refused(told(another('wrong').deleteIndex('guarded')), 401),
      'all is as it was': async () => {
        const names = await indexes(api);
        once(names, ['guarded'], 'indexes');
        assert.ok(!names.includes('theirs'));
      },
    }),
  },
};
