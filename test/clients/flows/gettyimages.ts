import assert from 'node:assert/strict';
import https from 'node:https';
import net from 'node:net';
import GettyImagesApi from 'gettyimages-api';
import { type Flow, given, numbered, once, type Place, refused, type Steps, type Vendor } from '../kit.ts';

// biome-ignore lint/suspicious/noExplicitAny: the client has no types of what it answers
type Row = Readonly<Record<string, any>>;

/** The client always speaks https to port 443 of its host: what it says to `127.0.0.1:PORT` goes there, as plain http. */
class Loopback extends https.Agent {
  override createConnection(...asked: Parameters<https.Agent['createConnection']>): ReturnType<https.Agent['createConnection']> {
    const [, port] = /^127\.0\.0\.1:(\d+)$/.exec(asked[0].host ?? '') ?? [];
    return port === undefined ? super.createConnection(...asked) : net.connect(Number(port), '127.0.0.1');
  }
}
Object.assign(https, { globalAgent: new Loopback() });

const connect = (place: Place, token: string): GettyImagesApi => new GettyImagesApi({ apiKey: token }, `127.0.0.1:${place.port}`);

/** Boards, comments, and what else the client has no class of its own for. */
// biome-ignore lint/suspicious/noExplicitAny: the client has no types of what it answers
const call = (api: GettyImagesApi, method: string, route: string, body?: unknown, query: Row = {}): Promise<any> =>
  api.customrequest().withMethod(method).withRoute(route).withQueryParameters(query).withBody(body).execute();
// biome-ignore lint/suspicious/noExplicitAny: the client has no types of what it answers
const get = (api: GettyImagesApi, route: string, query: Row = {}): Promise<any> => call(api, 'get', route, undefined, query);

const board = async (api: GettyImagesApi, name: string, description?: string): Promise<string> =>
  given<string>((await call(api, 'post', 'boards', { name, description })).id, 'id');
const boards = (api: GettyImagesApi, query: Row = {}): Promise<Row[]> =>
  numbered<Row>(async (page) => (await get(api, 'boards', { pageSize: 30, ...query, page })).boards ?? []);
const ids = (rows: readonly Row[]): string[] => rows.map(({ id }) => String(given(id, 'id')));
/** Images are there beforehand: no call makes one. */
const images = async (api: GettyImagesApi, many: number): Promise<string[]> => {
  const { images: found } = await api.searchimagescreative().withPhrase('').withPageSize(many).withResponseField('id').execute();
  assert.ok(found.length >= many, `the search has ${found.length} images, not ${many}`);
  return ids(found.slice(0, many));
};
const missing = 'no-such-board-at-all';

/** What steps of these flows find out for later ones. */
type Held = Record<
  | 'id'
  | 'all'
  | 'first'
  | 'one'
  | 'two'
  | 'three'
  | 'comment'
  | 'other'
  | 'image'
  | 'event'
  | 'name'
  | 'video'
  | 'title'
  | 'batch',
  string
>;
type Api = GettyImagesApi;
type Told = (api: Api, s: Held, another: (token: string) => Api, place: Place) => Steps;
const held = (flows: Readonly<Record<string, Told>>): Record<string, Flow<Api>> => flows as Record<string, Flow<Api>>;

/** Guide: developers.gettyimages.com (getting started, boards, search, images, downloads, report usage), and the client's readme. */
export const vendor: Vendor<GettyImagesApi> = {
  document: 'gettyimages/gettyimages.com.json',
  header: 'Api-Key',
  made: 'made7up2api3key4of5getty',
  client: connect,
  strict: ['a key that is refused'],
  flows: held({
    'a board from its making to its end': (api, s) => ({
      create: async () => {
        s.id = await board(api, 'Autumn', 'For the October campaign');
      },
      read: async () => {
        const read = await get(api, `boards/${s.id}`);
        assert.deepEqual(
          [read.id, read.name, read.description, read.asset_count, read.assets ?? []],
          [s.id, 'Autumn', 'For the October campaign', 0, []],
        );
      },
      'it is listed': async () => {
        const rows = await boards(api);
        once(ids(rows), [s.id], 'boards');
        const row = rows.find(({ id }) => id === s.id);
        assert.deepEqual([row?.name, row?.description, row?.asset_count], ['Autumn', 'For the October campaign', 0]);
      },
      change: () => call(api, 'put', `boards/${s.id}`, { name: 'Late autumn', description: 'For November' }),
      'it stays changed': async () => {
        const read = await get(api, `boards/${s.id}`);
        assert.deepEqual([read.id, read.name, read.description], [s.id, 'Late autumn', 'For November']);
      },
      delete: () => call(api, 'delete', `boards/${s.id}`),
      'it is gone': () => refused(get(api, `boards/${s.id}`), 404),
      'it is not listed': async () => assert.ok(!ids(await boards(api)).includes(s.id)),
    }),
    'boards page by page': (api, s) => ({
      'make five': async () => {
        const made = [];
        for (const name of ['one', 'two', 'three', 'four', 'five']) made.push(await board(api, `Board ${name}`));
        once(made, made, 'made ids');
        s.all = made.join(' ');
      },
      'two on a page': async () => {
        const page = await get(api, 'boards', { page: 1, pageSize: 2 });
        assert.equal(page.boards.length, 2);
        s.first = ids(page.boards).join(' ');
      },
      'the next two are others': async () => {
        const page = await get(api, 'boards', { page: 2, pageSize: 2 });
        assert.equal(page.boards.length, 2);
        for (const id of ids(page.boards)) assert.ok(!s.first.split(' ').includes(id), `${id} again`);
      },
      'all pages': async () => once(ids(await boards(api, { pageSize: 2 })), s.all.split(' '), 'boards'),
      'how many there are': async () => {
        const { board_count } = await get(api, 'boards', { page: 1, pageSize: 2 });
        assert.equal(board_count, (await boards(api)).length);
      },
    }),
    'boards in an order': (api, s) => ({
      'make three': async () => {
        s.two = await board(api, 'Mm sorted');
        s.three = await board(api, 'Zz sorted');
        s.one = await board(api, 'Aa sorted');
      },
      'by name': async () => {
        const rows = ids(await boards(api, { sort_order: 'name_ascending' }));
        assert.deepEqual(
          rows.filter((id) => [s.one, s.two, s.three].includes(id)),
          [s.one, s.two, s.three],
        );
      },
      'by name, from the end': async () => {
        const rows = ids(await boards(api, { sort_order: 'name_decending' }));
        assert.deepEqual(
          rows.filter((id) => [s.one, s.two, s.three].includes(id)),
          [s.three, s.two, s.one],
        );
      },
      'the changed one first': async () => {
        await call(api, 'put', `boards/${s.three}`, { name: 'Zz sorted', description: 'touched' });
        const { boards: rows } = await get(api, 'boards', { sort_order: 'date_last_updated_descending', pageSize: 1 });
        assert.deepEqual(ids(rows), [s.three]);
      },
      'they are mine': async () =>
        once(ids(await boards(api, { board_relationship: 'owned' })), [s.one, s.two, s.three], 'boards'),
      'I am not invited to them': async () => {
        const rows = ids(await boards(api, { board_relationship: 'invited' }));
        for (const id of [s.one, s.two, s.three]) assert.ok(!rows.includes(id), `${id} is listed`);
      },
      'an order that there is not': () => refused(get(api, 'boards', { sort_order: 'by_colour' }), 400),
    }),
    'what is on a board': (api, s) => ({
      'a board and two images': async () => {
        s.id = await board(api, 'With images');
        [s.one, s.two] = (await images(api, 2)) as [string, string];
      },
      'put both on it': async () => {
        const { assets_added, assets_not_added } = await call(api, 'put', `boards/${s.id}/assets`, [
          { asset_id: s.one },
          { asset_id: s.two },
        ]);
        assert.deepEqual(assets_added.map((one: Row) => one.asset_id).toSorted(), [s.one, s.two].toSorted());
        assert.deepEqual(assets_not_added ?? [], []);
      },
      'they are there': async () => {
        const read = await get(api, `boards/${s.id}`);
        assert.equal(read.asset_count, 2);
        assert.deepEqual(ids(read.assets).toSorted(), [s.one, s.two].toSorted());
      },
      'once more changes nothing': async () => {
        await call(api, 'put', `boards/${s.id}/assets/${s.one}`, {});
        const read = await get(api, `boards/${s.id}`);
        assert.equal(read.asset_count, 2);
        once(ids(read.assets), [s.one, s.two], 'assets');
      },
      'the list tells it too': async () => assert.equal((await boards(api)).find(({ id }) => id === s.id)?.asset_count, 2),
      'take one away': async () => {
        await call(api, 'delete', `boards/${s.id}/assets/${s.one}`);
        const read = await get(api, `boards/${s.id}`);
        assert.deepEqual([read.asset_count, ids(read.assets)], [1, [s.two]]);
      },
      'take the other away, from a list': async () => {
        await call(api, 'delete', `boards/${s.id}/assets`, undefined, { asset_ids: s.two });
        const read = await get(api, `boards/${s.id}`);
        assert.deepEqual([read.asset_count, read.assets ?? []], [0, []]);
      },
    }),
    'what is said of a board': (api, s) => ({
      'a board without comments': async () => {
        s.id = await board(api, 'To be discussed');
        assert.deepEqual((await get(api, `boards/${s.id}/comments`)).comments ?? [], []);
      },
      'two comments': async () => {
        s.comment = given<string>((await call(api, 'post', `boards/${s.id}/comments`, { text: 'I like the second' })).id, 'id');
        s.other = given<string>((await call(api, 'post', `boards/${s.id}/comments`, { text: 'So do I' })).id, 'id');
        assert.notEqual(s.comment, s.other);
      },
      'they are listed': async () => {
        const rows: Row[] = (await get(api, `boards/${s.id}/comments`)).comments;
        once(ids(rows), [s.comment, s.other], 'comments');
        assert.equal(rows.find(({ id }) => id === s.comment)?.text, 'I like the second');
        assert.equal(typeof rows[0]?.date_created, 'string');
      },
      'the board counts them': async () => assert.equal((await get(api, `boards/${s.id}`)).comment_count, 2),
      'delete one': async () => {
        await call(api, 'delete', `boards/${s.id}/comments/${s.comment}`);
        assert.deepEqual(ids((await get(api, `boards/${s.id}/comments`)).comments), [s.other]);
      },
      'another board has none of them': async () => {
        const other = await board(api, 'Not discussed');
        assert.deepEqual((await get(api, `boards/${other}/comments`)).comments ?? [], []);
      },
      'with the board they go': async () => {
        await call(api, 'delete', `boards/${s.id}`);
        await refused(get(api, `boards/${s.id}/comments`), 404);
      },
    }),
    'a search for creative images': (api, s) => ({
      'it finds some': async () => {
        const { images: rows, result_count } = await api
          .searchimagescreative()
          .withPhrase('')
          .withPage(1)
          .withPageSize(5)
          .execute();
        assert.ok(rows.length > 0 && rows.length <= 5, `${rows.length} rows`);
        assert.ok(result_count >= rows.length);
        once(ids(rows), ids(rows), 'images');
      },
      'one on the first page': async () => {
        const { images: rows } = await api.searchimagescreative().withPhrase('').withPage(1).withPageSize(1).execute();
        assert.equal(rows.length, 1);
        s.first = ids(rows)[0] as string;
      },
      'another on the second': async () => {
        const { images: rows } = await api.searchimagescreative().withPhrase('').withPage(2).withPageSize(1).execute();
        assert.equal(rows.length, 1);
        assert.notEqual(ids(rows)[0], s.first);
      },
      'only the fields asked for': async () => {
        const search = api.searchimagescreative().withPhrase('').withPageSize(3);
        const { images: rows } = await search.withResponseField(['id', 'title', 'orientation']).execute();
        assert.ok(rows.length > 0);
        for (const row of rows) {
          assert.deepEqual(
            Object.keys(row).filter((key) => !['id', 'title', 'orientation'].includes(key)),
            [],
          );
          assert.equal(typeof row.id, 'string');
        }
      },
      'only horizontal ones': async () => {
        const search = api.searchimagescreative().withPhrase('').withOrientation('horizontal');
        const { images: rows } = await search.withResponseField(['id', 'orientation']).execute();
        for (const row of rows) assert.equal(String(row.orientation).toLowerCase(), 'horizontal');
      },
      'more than a page may have': async () => {
        try {
          const { images: rows } = await api.searchimagescreative().withPhrase('').withPageSize(101).execute();
          assert.ok(rows.length <= 100, `${rows.length} on a page`);
        } catch (thrown) {
          await refused(Promise.reject(thrown), 400);
        }
      },
      'an order that there is not': () =>
        refused(api.searchimagescreative().withPhrase('').withSortOrder('sideways').execute(), 400),
    }),
    'images by their ids': (api, s) => ({
      'two of the search': async () => {
        [s.one, s.two] = (await images(api, 2)) as [string, string];
      },
      'one of them': async () => {
        const { images: rows } = await api.images().withId(s.one).execute();
        assert.deepEqual(ids(rows), [s.one]);
      },
      'some of its fields': async () => {
        const { images: rows } = await api.images().withId(s.one).withResponseField('id').withResponseField('title').execute();
        assert.deepEqual(ids(rows), [s.one]);
        assert.deepEqual(
          Object.keys(rows[0]).filter((key) => !['id', 'title'].includes(key)),
          [],
        );
      },
      'both at once': async () => {
        const { images: rows, images_not_found } = await api.images().withIds([s.one, s.two]).execute();
        assert.deepEqual(ids(rows).toSorted(), [s.one, s.two].toSorted());
        assert.deepEqual(images_not_found ?? [], []);
      },
      'one of two is not there': async () => {
        const { images: rows, images_not_found } = await api.images().withIds([s.one, '999999999999']).execute();
        assert.deepEqual([ids(rows), images_not_found], [[s.one], ['999999999999']]);
      },
      'one that is not there': () => refused(api.images().withId('999999999999').execute(), 404),
      'none is asked for': async () =>
        assert.throws(
          () => api.images().execute(),
          (thrown) => String(thrown) === 'SdkException: must specify at least one image id',
        ),
    }),
    'images like another': (api, s) => ({
      'an image': async () => {
        [s.image] = (await images(api, 1)) as [string];
      },
      similar: async () => {
        const { images: rows, result_count } = await get(api, `images/${s.image}/similar`, { page: 1, page_size: 5 });
        assert.ok(Array.isArray(rows) && rows.length <= 5);
        assert.ok(result_count >= rows.length);
      },
      'not more than one': async () => {
        const { images: rows } = await get(api, `images/${s.image}/similar`, { page_size: 1 });
        assert.ok(rows.length <= 1);
      },
      'of the same series': async () => {
        const { images: rows, result_count } = await get(api, `images/${s.image}/same-series`, { fields: 'id' });
        assert.ok(result_count >= rows.length);
        once(ids(rows), ids(rows), 'images');
      },
      'like none': () => refused(get(api, 'images/999999999999/similar'), 404),
      'of the series of none': () => refused(get(api, 'images/999999999999/same-series'), 404),
    }),
    'events and their images': (api, s) => ({
      'there are events': async () => {
        const { events: rows, result_count } = await get(api, 'search/events', { page_size: 5 });
        const one = given<Row>(rows[0], 'event');
        [s.event, s.name] = [String(one.id), one.name];
        assert.ok(rows.length <= 5 && result_count >= rows.length);
      },
      'one by its id': async () => {
        const read = await api.events().withId(s.event).execute();
        assert.deepEqual([String(read.id), read.name], [s.event, s.name]);
      },
      'one of a list of ids': async () => {
        const { events: rows } = await get(api, 'events', { ids: s.event });
        assert.deepEqual(ids(rows), [s.event]);
      },
      'its images are of it': async () => {
        const search = api.searchimageseditorial().withEventId(s.event).withResponseField(['id', 'event_ids']);
        const { images: rows, result_count } = await search.withPageSize(10).execute();
        assert.ok(result_count >= rows.length);
        for (const row of rows) assert.ok(row.event_ids.map(String).includes(s.event), `${row.id} is not of it`);
      },
      'the newest first': async () => {
        const { events: rows } = await get(api, 'search/events', {
          sort_order: 'newest',
          fields: 'id,start_date',
          page_size: 20,
        });
        const dates = rows.map((row: Row) => Date.parse(row.start_date));
        assert.deepEqual(
          dates,
          dates.toSorted((a: number, b: number) => b - a),
        );
      },
      'an event that is not there': () => refused(api.events().withId(2_000_000_001).execute(), 404),
    }),
    'creative videos': (api, s) => ({
      'there are some': async () => {
        const { videos: rows, result_count } = await api.searchvideoscreative().withPhrase('').withPageSize(5).execute();
        const one = given<Row>(rows[0], 'video');
        [s.video, s.title] = [String(one.id), one.title];
        assert.ok(rows.length <= 5 && result_count >= rows.length);
      },
      'one by its id': async () => {
        const read = await api.videos().withId(s.video).withResponseField(['id', 'title']).execute();
        assert.deepEqual([String(read.id), read.title], [s.video, s.title]);
      },
      'another page': async () => {
        const first = ids((await api.searchvideoscreative().withPhrase('').withPage(1).withPageSize(1).execute()).videos);
        const second = ids((await api.searchvideoscreative().withPhrase('').withPage(2).withPageSize(1).execute()).videos);
        assert.deepEqual([first.length, second.length], [1, 1]);
        assert.notEqual(first[0], second[0]);
      },
      'only of one kind of licence': async () => {
        const search = api.searchvideoscreative().withPhrase('').withLicenseModel('royaltyfree');
        const { videos: rows } = await search.withResponseField(['id', 'license_model']).execute();
        for (const row of rows) assert.equal(String(row.license_model).toLowerCase(), 'royaltyfree');
      },
      'one that is not there': () => refused(api.videos().withId('999999999999').execute(), 404),
      'a format that there is not': () =>
        refused(api.searchvideoscreative().withPhrase('').withFormatAvailable('16k').execute(), 400),
    }),
    'collections and countries': (api, s) => ({
      'there are collections': async () => {
        const { collections } = await api.collections().execute();
        const one = given<Row>(collections[0], 'collection');
        assert.deepEqual([typeof one.id, typeof one.name, typeof one.code], ['number', 'string', 'string']);
        [s.id, s.name] = [String(one.code), one.name];
      },
      'images of a collection': async () => {
        const search = api.searchimagescreative().withPhrase('').withCollectionCode(s.id).withCollectionsFilterType('include');
        const { images: rows } = await search.withResponseField(['id', 'collection_code']).execute();
        for (const row of rows) assert.equal(row.collection_code, s.id);
      },
      'images of all others': async () => {
        const search = api.searchimagescreative().withPhrase('').withCollectionCode(s.id).withCollectionsFilterType('exclude');
        const { images: rows } = await search.withResponseField(['id', 'collection_code']).execute();
        for (const row of rows) assert.notEqual(row.collection_code, s.id);
      },
      'there are countries': async () => {
        const { countries } = await api.countries().execute();
        assert.ok(countries.length > 0);
        for (const one of countries) {
          assert.match(one.iso_alpha_2, /^[A-Z]{2}$/);
          assert.match(one.iso_alpha_3, /^[A-Z]{3}$/);
        }
      },
      'who asks': async () => assert.equal(typeof (await get(api, 'customers/current')).last_name, 'string'),
    }),
    'an image is downloaded': (api, s) => ({
      'an image': async () => {
        [s.image] = (await images(api, 1)) as [string];
      },
      'where it is': async () => {
        const { uri } = await api.downloadsimages().withId(s.image).execute();
        assert.equal(new URL(uri).protocol, 'https:');
      },
      'as a file of a type': async () => {
        const { uri } = await api.downloadsimages().withId(s.image).withFileType('jpg').execute();
        assert.equal(typeof uri, 'string');
      },
      'it is in the history of downloads': async () => {
        const { downloads } = await get(api, 'downloads', { page: 1, page_size: 100 });
        assert.ok(ids(downloads).includes(s.image), 'it is not');
      },
      'one that is not there': () => refused(api.downloadsimages().withId('999999999999').execute(), 404),
      'a type that there is not': () => refused(api.downloadsimages().withId(s.image).withFileType('docx').execute(), 400),
    }),
    'use of images is reported': (api, s) => ({
      'two images and a name of the batch': async () => {
        [s.one, s.two] = (await images(api, 2)) as [string, string];
        s.batch = '6a0f41e1-7b5b-4d0e-9a0c-1f5ad10b6c0e';
      },
      report: async () => {
        const answer = await call(api, 'put', `usage-batches/${s.batch}`, {
          asset_usages: [
            { asset_id: s.one, quantity: 2, usage_date: '2024-04-11' },
            { asset_id: s.two, quantity: 1, usage_date: '2024-04-12' },
          ],
        });
        assert.deepEqual([answer.total_asset_usages_processed, answer.invalid_assets ?? []], [2, []]);
      },
      'the same batch again': () =>
        refused(
          call(api, 'put', `usage-batches/${s.batch}`, {
            asset_usages: [{ asset_id: s.one, quantity: 2, usage_date: '2024-04-11' }],
          }),
          409,
        ),
      'another batch': async () => {
        const answer = await call(api, 'put', 'usage-batches/0d5d0f4c-33a2-4a5a-8f0e-8a4e0a8f1b55', {
          asset_usages: [{ asset_id: s.one, quantity: 1, usage_date: '2024-04-13' }],
        });
        assert.equal(answer.total_asset_usages_processed, 1);
      },
      'a quantity that is no number': () =>
        refused(
          call(api, 'put', 'usage-batches/5b7f9d0a-0c0f-4f5e-b0a5-1c9a1e1a7f10', {
            asset_usages: [{ asset_id: s.one, quantity: 'many', usage_date: '2024-04-13' }],
          }),
          400,
        ),
    }),
    'what is wrong with a board': (api, s) => ({
      'one without a name': () => refused(call(api, 'post', 'boards', { description: 'nameless' }), 400),
      'one that is not there': () => refused(get(api, `boards/${missing}`), 404),
      'its change': () => refused(call(api, 'put', `boards/${missing}`, { name: 'x', description: 'y' }), 404),
      'its end': () => refused(call(api, 'delete', `boards/${missing}`), 404),
      'a comment on it': () => refused(call(api, 'post', `boards/${missing}/comments`, { text: 'hello' }), 404),
      'an image on it': async () => {
        [s.image] = (await images(api, 1)) as [string];
        await refused(call(api, 'put', `boards/${missing}/assets`, [{ asset_id: s.image }]), 404);
      },
      'a change that takes the name': async () => {
        s.id = await board(api, 'Stays');
        await refused(call(api, 'put', `boards/${s.id}`, { description: 'only' }), 400);
        assert.equal((await get(api, `boards/${s.id}`)).name, 'Stays');
      },
      'a method that the client has not': async () =>
        assert.throws(
          () => call(api, 'patch', 'boards'),
          (thrown) => String(thrown).includes('No appropriate HTTP method'),
        ),
    }),
    'a key that is refused': (api, s, another) => ({
      'the right one': async () => assert.ok(Array.isArray((await get(api, 'boards')).boards)),
      'a wrong one': () => refused(get(another('nobodyHasThisKey'), 'boards'), 401),
      'it cannot search': () => refused(another('nobodyHasThisKey').searchimagescreative().withPhrase('sun').execute(), 401),
      'it cannot make anything': () => refused(board(another('nobodyHasThisKey'), 'Intruder'), 401),
      'nothing was made': async () => {
        const rows = await boards(api);
        assert.ok(!rows.some(({ name }) => name === 'Intruder'));
      },
      'it cannot delete': async () => {
        s.id = await board(api, 'Mine');
        await refused(call(another('nobodyHasThisKey'), 'delete', `boards/${s.id}`), 401);
        assert.equal((await get(api, `boards/${s.id}`)).name, 'Mine');
      },
    }),
  }),
};
