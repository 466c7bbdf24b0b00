import assert from 'node:assert/strict';
import { KintoClient } from 'kinto';
import { gather, given, once, type Place, refused, type State, type Vendor } from '../kit.ts';

type Row = { readonly id: string; readonly last_modified: number };
type Page = Awaited<ReturnType<KintoClient['listBuckets']>>;
type Records = ReturnType<ReturnType<KintoClient['bucket']>['collection']>;

const connect = (place: Place, token: string): KintoClient =>
  new KintoClient(place.base, { headers: { Authorization: `Basic ${token}` } });

const ids = (rows: readonly Row[]): string[] => rows.map(({ id }) => given(id, 'id'));
const times = (rows: readonly Row[]): number[] => rows.map((row) => given(row.last_modified, 'last_modified'));
/** The first bucket and the first of its collections, as one who looks around finds them. */
const look = async (client: KintoClient, s: State): Promise<Records> => {
  s.bucket = given(ids((await client.listBuckets()).data)[0], 'bucket');
  s.collection = given(ids((await client.bucket(s.bucket).listCollections()).data)[0], 'collection');
  return recordsOf(client, s);
};
const recordsOf = (client: KintoClient, s: State): Records => client.bucket(s.bucket).collection(s.collection);
/** Page after page, as the client's own `next` leads. */
async function* walk(first: Promise<Page>): AsyncGenerator<Page> {
  let page = await first;
  yield page;
  while (page.hasNextPage) {
    page = await page.next();
    yield page;
  }
}
const rows = ({ data }: Page): readonly Row[] => data;
const hello = 'data:text/plain;name=hello.txt;base64,SGVsbG8gd29ybGQ=';

/** Guide: remote-settings.readthedocs.io, "Client specifications" and "Getting started"; docs.kinto-storage.org, "API reference" 1.x; the HTTP client's documentation of kinto.js. */
export const vendor: Vendor<KintoClient> = {
  document: 'kinto/kinto.json',
  header: 'authorization',
  word: 'Basic',
  made: btoa('alice:wonderland'),
  client: connect,
  strict: ['a user who is refused'],
  flows: {
    'what the server is': (client) => ({
      read: async () => {
        const { project_name, http_api_version, url } = await client.fetchServerInfo();
        assert.deepEqual([typeof project_name, typeof http_api_version], ['string', 'string']);
        assert.match(url, /^https?:\/\//);
      },
      'it is kept': async () => assert.equal(given(client.serverInfo, 'server info').url, (await client.fetchServerInfo()).url),
      'its version': async () => assert.match(await client.fetchHTTPApiVersion(), /^1\.\d+/),
      'its settings': async () => {
        const { readonly, batch_max_requests } = await client.fetchServerSettings();
        assert.equal(typeof readonly, 'boolean');
        assert.ok(batch_max_requests > 0, String(batch_max_requests));
      },
      'what it is able to do': async () => assert.equal(typeof (await client.fetchServerCapabilities()), 'object'),
      'whom it knows': async () => assert.equal(typeof given(await client.fetchUser(), 'user').id, 'string'),
    }),
    buckets: (client, s) => ({
      list: async () => {
        const { data } = await client.listBuckets();
        s.id = given(ids(data)[0], 'bucket');
        for (const time of times(data)) assert.ok(Number.isInteger(time), String(time));
      },
      'one of them': async () => assert.equal((await client.bucket(s.id).getData<Row>()).id, s.id),
      'who may do what': async () => assert.equal(typeof (await client.bucket(s.id).getPermissions()), 'object'),
      'each is listed once': async () => once(ids((await client.listBuckets()).data), [s.id], 'buckets'),
      'none that is not there': async () => refused(client.bucket('nowhere').getData(), 401, 403, 404),
    }),
    'collections of a bucket': (client, s) => ({
      'a bucket': async () => {
        s.bucket = given(ids((await client.listBuckets()).data)[0], 'bucket');
      },
      list: async () => {
        const { data } = await client.bucket(s.bucket).listCollections();
        s.id = given(ids(data)[0], 'collection');
        once(ids(data), [s.id], 'collections');
      },
      'one of them': async () => assert.equal((await client.bucket(s.bucket).collection(s.id).getData<Row>()).id, s.id),
      'who may do what': async () =>
        assert.equal(typeof (await client.bucket(s.bucket).collection(s.id).getPermissions()), 'object'),
      'none that is not there': async () => refused(client.bucket(s.bucket).collection('nothing').getData(), 404),
      'nor of a bucket that is not': async () => refused(client.bucket('nowhere').listCollections(), 401, 403, 404),
    }),
    'records of a collection': (client, s) => ({
      'a collection': async () => look(client, s),
      list: async () => {
        const { data, last_modified } = await recordsOf(client, s).listRecords();
        s.id = given(ids(data)[0], 'record');
        assert.match(given(last_modified, 'time of the list'), /^\d+$/);
      },
      'one of them': async () => assert.equal((await recordsOf(client, s).getRecord<Row>(s.id)).data.id, s.id),
      'as it is in the list': async () => {
        const listed = (await recordsOf(client, s).listRecords()).data.find(({ id }) => id === s.id);
        assert.deepEqual((await recordsOf(client, s).getRecord<Row>(s.id)).data, listed);
      },
      'none that is not there': async () => refused(recordsOf(client, s).getRecord('00000000-0000-4000-8000-000000000000'), 404),
      'nor of a collection that is not': async () => refused(client.bucket(s.bucket).collection('nothing').listRecords(), 404),
    }),
    'groups of a bucket': (client, s) => ({
      'a bucket': async () => {
        s.bucket = given(ids((await client.listBuckets()).data)[0], 'bucket');
      },
      list: async () => {
        const { data } = await client.bucket(s.bucket).listGroups();
        s.id = given(ids(data)[0], 'group');
      },
      'one of them': async () => {
        const { data } = await client.bucket(s.bucket).getGroup(s.id);
        assert.equal(data.id, s.id);
        assert.ok(Array.isArray(data.members), 'members');
      },
      'with a filter': async () => {
        const { data } = await client.bucket(s.bucket).listGroups({ filters: { id: s.id } });
        assert.deepEqual(ids(data), [s.id]);
      },
      'none that is not there': async () => refused(client.bucket(s.bucket).getGroup('nobodies'), 404),
    }),
    'all pages of records': (client, s) => ({
      'a collection': async () => look(client, s),
      'one on a page': async () => {
        const { data } = await recordsOf(client, s).listRecords({ limit: 1 });
        assert.equal(data.length, 1);
      },
      'another page while there is more': async () => {
        const all = (await recordsOf(client, s).listRecords()).data;
        assert.equal((await recordsOf(client, s).listRecords({ limit: 1 })).hasNextPage, all.length > 1);
      },
      'page after page': async () => {
        const found = await gather(walk(recordsOf(client, s).listRecords({ limit: 1 })), rows);
        const all = ids((await recordsOf(client, s).listRecords()).data);
        once(ids(found), all, 'pages');
        assert.equal(found.length, all.length);
      },
      'all at once': async () => {
        const { data, hasNextPage } = await recordsOf(client, s).listRecords({ limit: 1, pages: Number.POSITIVE_INFINITY });
        assert.equal(hasNextPage, false);
        assert.deepEqual(ids(data), ids((await recordsOf(client, s).listRecords()).data));
      },
    }),
    'all pages of buckets': (client) => ({
      'page after page': async () => {
        const found = await gather(walk(client.listBuckets({ limit: 1 })), rows);
        once(ids(found), ids((await client.listBuckets()).data), 'pages');
      },
      'no more than asked': async () => assert.equal((await client.listBuckets({ limit: 1 })).data.length, 1),
      'all at once': async () => {
        const { data } = await client.listBuckets({ limit: 1, pages: Number.POSITIVE_INFINITY });
        assert.equal(data.length, (await client.listBuckets()).data.length);
      },
      'not a limit that is none': async () => refused(client.listBuckets({ limit: 'many' as never }), 400),
    }),
    'records in an order': (client, s) => ({
      'a collection': async () => look(client, s),
      'the newest first, unless asked': async () => {
        const found = times((await recordsOf(client, s).listRecords()).data);
        assert.deepEqual(
          found,
          found.toSorted((one, other) => other - one),
        );
      },
      'the oldest first': async () => {
        const found = times((await recordsOf(client, s).listRecords({ sort: 'last_modified' })).data);
        assert.deepEqual(
          found,
          found.toSorted((one, other) => one - other),
        );
      },
      'by their ids': async () => {
        const found = ids((await recordsOf(client, s).listRecords({ sort: 'id' })).data);
        assert.deepEqual(found, found.toSorted());
      },
      backwards: async () => {
        const found = ids((await recordsOf(client, s).listRecords({ sort: '-id' })).data);
        assert.deepEqual(found, found.toSorted().reverse());
      },
    }),
    'records of a kind': (client, s) => ({
      'a collection': async () => look(client, s),
      'its records': async () => {
        const { data } = await recordsOf(client, s).listRecords();
        s.id = given(ids(data)[0], 'record');
        s.time = String(times(data)[0]);
      },
      'with an id': async () => {
        const { data } = await recordsOf(client, s).listRecords({ filters: { id: s.id } });
        assert.deepEqual(ids(data), [s.id]);
      },
      'with one of several': async () => {
        const { data } = await recordsOf(client, s).listRecords({ filters: { in_id: `${s.id},nothing` } });
        assert.deepEqual(ids(data), [s.id]);
      },
      'with another': async () => {
        const { data } = await recordsOf(client, s).listRecords({ filters: { not_id: s.id } });
        assert.ok(!ids(data).includes(s.id), 'it is there');
      },
      'of a time': async () => {
        for (const time of times((await recordsOf(client, s).listRecords({ filters: { min_last_modified: s.time } })).data))
          assert.ok(time >= Number(s.time), String(time));
      },
      'with an id that none has': async () =>
        assert.deepEqual((await recordsOf(client, s).listRecords({ filters: { id: 'nothing' } })).data, []),
    }),
    'some members of records': (client, s) => ({
      'a collection': async () => look(client, s),
      'of each': async () => {
        const { data } = await recordsOf(client, s).listRecords({ fields: ['id'] });
        s.id = given(ids(data)[0], 'record');
        for (const one of data)
          assert.deepEqual(
            Object.keys(one).filter((name) => name !== 'last_modified'),
            ['id'],
          );
      },
      'of one': async () => {
        const { data } = await recordsOf(client, s).getRecord<Row>(s.id, { fields: ['last_modified'] });
        for (const name of Object.keys(data)) assert.ok(['id', 'last_modified'].includes(name), name);
      },
      'of buckets': async () => {
        for (const one of (await client.listBuckets({ fields: ['id'] })).data)
          assert.deepEqual(
            Object.keys(one).filter((name) => name !== 'last_modified'),
            ['id'],
          );
      },
      'all of them unless asked': async () =>
        assert.ok('last_modified' in (await recordsOf(client, s).getRecord<Row>(s.id)).data),
    }),
    'what changed since': (client, s) => ({
      'a collection': async () => look(client, s),
      list: async () => {
        const { data, last_modified } = await recordsOf(client, s).listRecords();
        s.time = given(last_modified, 'time of the list');
        s.count = String(data.length);
      },
      'nothing after that': async () =>
        assert.deepEqual((await recordsOf(client, s).listRecords({ since: `"${s.time}"` })).data, []),
      'all since the beginning': async () =>
        assert.equal((await recordsOf(client, s).listRecords({ since: '"0"' })).data.length, Number(s.count)),
      'the time alone': async () =>
        assert.equal(given(await recordsOf(client, s).getRecordsTimestamp(), 'time').replaceAll('"', ''), s.time),
      'not since what is no time': async () => refused(recordsOf(client, s).listRecords({ since: '"yesterday"' }), 400),
    }),
    'how many there are': (client, s) => ({
      'a collection': async () => look(client, s),
      records: async () =>
        assert.equal(await recordsOf(client, s).getTotalRecords(), (await recordsOf(client, s).listRecords()).data.length),
      'the time of the records': async () =>
        assert.match(given(await recordsOf(client, s).getRecordsTimestamp(), 'time'), /^"?\d+"?$/),
      'of the collections': async () =>
        assert.match(given(await client.bucket(s.bucket).getCollectionsTimestamp(), 'time'), /^"?\d+"?$/),
      'of the groups': async () => assert.match(given(await client.bucket(s.bucket).getGroupsTimestamp(), 'time'), /^"?\d+"?$/),
    }),
    'what changes anywhere': (client, s) => ({
      list: async () => {
        const { data } = await client.bucket('monitor').collection('changes').listRecords();
        const one = given(data[0], 'change') as unknown as Record<'bucket' | 'collection' | 'host', string>;
        for (const name of ['bucket', 'collection', 'host'] as const) s[name] = given(one[name], name);
      },
      'of its collection': async () => {
        const { data } = await client
          .bucket('monitor')
          .collection('changes')
          .listRecords({ filters: { bucket: s.bucket, collection: s.collection } });
        assert.ok(data.length > 0, 'nothing');
        for (const one of data) assert.deepEqual([one.bucket, one.collection], [s.bucket, s.collection]);
      },
      'no more than asked': async () =>
        assert.equal((await client.bucket('monitor').collection('changes').listRecords({ limit: 1 })).data.length, 1),
      'of none that is not there': async () =>
        assert.deepEqual(
          (
            await client
              .bucket('monitor')
              .collection('changes')
              .listRecords({ filters: { collection: 'nothing' } })
          ).data,
          [],
        ),
    }),
    'several at once': (client, s) => ({
      'a collection with records': async () => {
        const { data } = await (await look(client, s)).listRecords();
        s.id = given(ids(data)[0], 'record');
      },
      'two readings': async () => {
        const answers = await recordsOf(client, s).batch((batch) => {
          batch.getRecord(s.id);
          batch.getData();
        });
        assert.ok(Array.isArray(answers), 'no list');
        assert.deepEqual(
          answers.map(({ status }) => status),
          [200, 200],
        );
        assert.deepEqual(
          answers.map(({ body }) => body.data.id),
          [s.id, s.collection],
        );
      },
      'one that is there, one that is not': async () => {
        const answers = await recordsOf(client, s).batch((batch) => {
          batch.getRecord(s.id);
          batch.getRecord('nothing');
        });
        assert.ok(Array.isArray(answers), 'no list');
        assert.deepEqual(
          answers.map(({ status }) => status),
          [200, 404],
        );
      },
      'put together': async () => {
        const answers = await recordsOf(client, s).batch((batch) => batch.getRecord(s.id), { aggregate: true });
        assert.ok(!Array.isArray(answers), 'a list');
        assert.deepEqual([answers.errors.length, answers.conflicts.length], [0, 0]);
      },
    }),
    'a file of a record': (client, s) => ({
      'a collection with records': async () => {
        const { data } = await (await look(client, s)).listRecords();
        s.id = given(ids(data)[0], 'record');
      },
      add: async () => {
        const { data } = await recordsOf(client, s).addAttachment(hello, { id: s.id }, { filename: 'hello.txt' });
        assert.deepEqual([data.attachment.filename, data.attachment.mimetype], ['hello.txt', 'text/plain']);
      },
      'it is in the record': async () => {
        const { data } = await recordsOf(client, s).getRecord<{ attachment?: { size: number } }>(s.id);
        assert.equal(data.attachment?.size, 'Hello world'.length);
      },
      remove: async () => recordsOf(client, s).removeAttachment(s.id),
      'it is gone': async () => {
        const { data } = await recordsOf(client, s).getRecord<{ attachment?: object | null }>(s.id);
        assert.equal(data.attachment ?? null, null);
      },
    }),
    'a user who is refused': (client, s, another) => ({
      'a collection with records': async () => {
        const { data } = await (await look(client, s)).listRecords();
        s.id = given(ids(data)[0], 'record');
      },
      'adds no file': async () =>
        refused(recordsOf(another(btoa('mallory:guess')), s).addAttachment(hello, { id: s.id }), 401, 403),
      'removes none': async () => refused(recordsOf(another(btoa('mallory:guess')), s).removeAttachment(s.id), 401, 403),
      'not with what is no credential': async () => refused(recordsOf(another('?'), s).removeAttachment(s.id), 401),
      'the record stays': async () => assert.equal((await recordsOf(client, s).getRecord<Row>(s.id)).data.id, s.id),
    }),
  },
};
