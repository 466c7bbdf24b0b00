import assert from 'node:assert/strict';
import { QdrantClient } from '@qdrant/js-client-rest';
import { once, type Place, pages, refused, type Vendor } from '../kit.ts';

const connect = (place: Place, token: string): QdrantClient =>
  new QdrantClient({ url: place.url, apiKey: token, checkCompatibility: false });

const vectors = { size: 4, distance: 'Dot' } as const;

const points = [
  { id: 1, vector: [0.05, 0.61, 0.76, 0.74], payload: { city: 'Berlin' } },
  { id: 2, vector: [0.19, 0.81, 0.75, 0.11], payload: { city: 'London' } },
  { id: 3, vector: [0.36, 0.55, 0.47, 0.94], payload: { city: 'Moscow' } },
  { id: 4, vector: [0.18, 0.01, 0.85, 0.8], payload: { city: 'New York' } },
  { id: 5, vector: [0.24, 0.18, 0.22, 0.44], payload: { city: 'Beijing' } },
];

const filled = async (client: QdrantClient): Promise<void> => {
  await client.createCollection('cities', { vectors });
  await client.upsert('cities', { wait: true, points });
};

const names = async (client: QdrantClient): Promise<string[]> =>
  (await client.getCollections()).collections.map(({ name }) => name);

/** Guide: qdrant.tech, "Local quickstart", "Collections", "Points", "Payload". */
export const vendor: Vendor<QdrantClient> = {
  document: 'qdrant/openapi-v1.18.json',
  header: 'api-key',
  made: 'made-up-key',
  client: connect,
  flows: {
    'a collection from its making to its end': (client) => ({
      'it is not there yet': async () => assert.equal((await client.collectionExists('cities')).exists, false),
      create: async () => assert.equal(await client.createCollection('cities', { vectors }), true),
      'it is there': async () => assert.equal((await client.collectionExists('cities')).exists, true),
      'read its settings': async () => {
        const info = await client.getCollection('cities');
        assert.partialDeepStrictEqual(info.config.params.vectors, vectors);
      },
      list: async () => once(await names(client), ['cities']),
      delete: async () => assert.equal(await client.deleteCollection('cities'), true),
      'it exists no more': async () => assert.equal((await client.collectionExists('cities')).exists, false),
      gone: async () => refused(client.getCollection('cities'), 404),
    }),
    'several collections are listed': (client) => ({
      create: async () => {
        for (const name of ['one', 'two', 'three']) await client.createCollection(name, { vectors });
      },
      'list each once': async () => once(await names(client), ['one', 'two', 'three']),
      'delete one': async () => client.deleteCollection('two'),
      'list the others': async () => {
        const left = await names(client);
        once(left, ['one', 'three']);
        assert.ok(!left.includes('two'));
      },
    }),
    'points are put, read and deleted': (client) => ({
      create: async () => client.createCollection('cities', { vectors }),
      put: async () => assert.equal((await client.upsert('cities', { wait: true, points })).status, 'completed'),
      'read two by their ids': async () => {
        const read = await client.retrieve('cities', { ids: [2, 4] });
        assert.deepEqual(read.map(({ id }) => id).sort(), [2, 4]);
        assert.deepEqual(read.find(({ id }) => id === 2)?.payload, { city: 'London' });
      },
      'read one with its vector': async () => {
        const [one] = await client.retrieve('cities', { ids: [1], with_vector: true });
        assert.equal((one?.vector as number[] | undefined)?.length, 4);
      },
      count: async () => assert.equal((await client.count('cities', { exact: true })).count, 5),
      delete: async () => assert.equal((await client.delete('cities', { wait: true, points: [2] })).status, 'completed'),
      gone: async () => assert.deepEqual(await client.retrieve('cities', { ids: [2] }), []),
      'count again': async () => assert.equal((await client.count('cities', { exact: true })).count, 4),
    }),
    'points through all pages': (client) => ({
      fill: async () => filled(client),
      'scroll in pages of two': async () => {
        const rows = await pages(
          (from) => client.scroll('cities', { limit: 2, ...(from === undefined ? {} : { offset: Number(from) }) }),
          (page) => page.points,
          (page) => page.next_page_offset?.toString(),
        );
        once(
          rows.map(({ id }) => String(id)),
          ['1', '2', '3', '4', '5'],
        );
        assert.equal(rows.length, 5);
      },
      'a page holds what was asked for': async () => assert.equal((await client.scroll('cities', { limit: 2 })).points.length, 2),
    }),
    'a point is put again': (client) => ({
      fill: async () => filled(client),
      'put one again': async () =>
        client.upsert('cities', { wait: true, points: [{ id: 1, vector: [0.1, 0.2, 0.3, 0.4], payload: { city: 'Bonn' } }] }),
      'it is replaced': async () =>
        assert.deepEqual((await client.retrieve('cities', { ids: [1] }))[0]?.payload, { city: 'Bonn' }),
      'there are as many as before': async () => assert.equal((await client.count('cities', { exact: true })).count, 5),
    }),
    'the payload of a point': (client) => {
      const payload = async (): Promise<unknown> => (await client.retrieve('cities', { ids: [1] }))[0]?.payload;
      return {
        fill: async () => filled(client),
        'set a member': async () => client.setPayload('cities', { wait: true, payload: { country: 'Germany' }, points: [1] }),
        'the others stay': async () => assert.deepEqual(await payload(), { city: 'Berlin', country: 'Germany' }),
        overwrite: async () => client.overwritePayload('cities', { wait: true, payload: { city: 'Bern', size: 2 }, points: [1] }),
        'only the new one is there': async () => assert.deepEqual(await payload(), { city: 'Bern', size: 2 }),
        'delete a member': async () => client.deletePayload('cities', { wait: true, keys: ['size'], points: [1] }),
        'it is not there': async () => assert.deepEqual(await payload(), { city: 'Bern' }),
        clear: async () => client.clearPayload('cities', { wait: true, points: [1] }),
        'nothing is there': async () => assert.deepEqual((await payload()) ?? {}, {}),
      };
    },
    'aliases of a collection': (client) => ({
      create: async () => client.createCollection('cities', { vectors }),
      'give it an alias': async () =>
        assert.equal(
          await client.updateCollectionAliases({
            actions: [{ create_alias: { collection_name: 'cities', alias_name: 'places' } }],
          }),
          true,
        ),
      'list all aliases': async () =>
        assert.deepEqual((await client.getAliases()).aliases, [{ alias_name: 'places', collection_name: 'cities' }]),
      'list those of the collection': async () =>
        assert.deepEqual(
          (await client.getCollectionAliases('cities')).aliases.map(({ alias_name }) => alias_name),
          ['places'],
        ),
      'take it away': async () => client.updateCollectionAliases({ actions: [{ delete_alias: { alias_name: 'places' } }] }),
      'there is none': async () => assert.deepEqual((await client.getAliases()).aliases, []),
    }),
    'an index on a member of the payload': (client) => ({
      fill: async () => filled(client),
      create: async () => {
        const index = { wait: true, field_name: 'city', field_schema: 'keyword' as const };
        assert.equal((await client.createPayloadIndex('cities', index))?.status, 'completed');
      },
      'the collection tells it': async () =>
        assert.equal((await client.getCollection('cities')).payload_schema.city?.data_type, 'keyword'),
      delete: async () => client.deletePayloadIndex('cities', 'city', { wait: true }),
      'the collection does not tell it': async () =>
        assert.equal((await client.getCollection('cities')).payload_schema.city, undefined),
    }),
    'a query for the nearest': (client) => ({
      fill: async () => filled(client),
      query: async () => {
        const found = await client.query('cities', { query: [0.2, 0.1, 0.9, 0.7], limit: 3, with_payload: true });
        assert.equal(found.points.length, 3);
        for (const { id, score } of found.points) {
          assert.ok(points.some((point) => point.id === id));
          assert.equal(typeof score, 'number');
        }
      },
      'only what a filter lets through': async () => {
        const filter = { must: [{ key: 'city', match: { value: 'London' } }] };
        const found = await client.query('cities', { query: [0.2, 0.1, 0.9, 0.7], filter, limit: 3, with_payload: true });
        assert.deepEqual(
          found.points.map(({ id }) => id),
          [2],
        );
      },
      'scroll what a filter lets through': async () => {
        const found = await client.scroll('cities', { filter: { must: [{ key: 'city', match: { value: 'London' } }] } });
        assert.deepEqual(
          found.points.map(({ id }) => id),
          [2],
        );
      },
    }),
    'a snapshot of a collection': (client, s) => ({
      fill: async () => filled(client),
      create: async () => {
        const made = await client.createSnapshot('cities');
        assert.ok(made !== null && made.name.length > 0);
        s.name = made.name;
      },
      list: async () =>
        once(
          (await client.listSnapshots('cities')).map(({ name }) => name),
          [s.name],
        ),
      delete: async () => assert.equal(await client.deleteSnapshot('cities', s.name), true),
      'gone from the list': async () => assert.deepEqual(await client.listSnapshots('cities'), []),
    }),
    'requests that are wrong': (client) => ({
      'a collection that nobody made': async () => {
        const thrown = (await refused(client.getCollection('nowhere'), 404)) as { data?: { status?: { error?: unknown } } };
        assert.equal(typeof thrown.data?.status?.error, 'string');
      },
      'a collection of no size': async () =>
        refused(client.createCollection('bad', { vectors: { size: 'four' as unknown as number, distance: 'Dot' } }), 400, 422),
      'a name that is taken': async () => {
        await client.createCollection('cities', { vectors });
        await refused(client.createCollection('cities', { vectors }), 400, 409);
      },
      'points without ids': async () =>
        refused(
          client.upsert('cities', { points: [{ vector: [1, 2, 3, 4] } as unknown as { id: number; vector: number[] }] }),
          400,
          422,
        ),
    }),
    'no credential is asked for': (_client, _s, _another, place) => {
      const open = new QdrantClient({ url: place.url, checkCompatibility: false });
      return {
        'create without one': async () => assert.equal(await open.createCollection('open', { vectors }), true),
        'list without one': async () => once(await names(open), ['open']),
      };
    },
  },
};
