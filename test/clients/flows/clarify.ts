import assert from 'node:assert/strict';
import http from 'node:http';
import Module, { createRequire } from 'node:module';
import { given, once, type Place, pages, refused, type Vendor } from '../kit.ts';

type Link = { readonly href: string };
type Ref = { readonly id: string };
type Bundle = {
  readonly id: string;
  readonly name: string;
  readonly external_id: string;
  readonly notify_url: string;
  readonly version: number;
};
type Collection = {
  readonly total: number;
  readonly limit: number;
  readonly _links: { readonly items?: readonly Link[]; readonly next?: Link; readonly prev?: Link };
  readonly _embedded?: { readonly items?: readonly Bundle[] };
};
type Metadata = { readonly bundle_id: string; readonly data: Record<string, unknown>; readonly version: number };
type Track = { readonly id: string; readonly label: string; readonly media_url: string };
type Tracks = { readonly bundle_id: string; readonly tracks: readonly Track[] };
type Done = (error: unknown, answer?: unknown) => void;

/** The methods of the client that are used here, each called with what is given and a function that is told what came of it. */
type Method =
  | 'getBundles'
  | 'createBundle'
  | 'getBundle'
  | 'removeBundle'
  | 'updateBundle'
  | 'getMetadata'
  | 'updateMetadata'
  | 'removeMetadata'
  | 'getTracks'
  | 'createTrack'
  | 'updateTrack'
  | 'removeTrack'
  | 'search'
  | 'get'
  | 'post'
  | 'put'
  | 'delete';
type Client = Readonly<Record<Method, (...given: readonly unknown[]) => void>>;
type Call = <T = Ref>(method: Method, ...given: readonly unknown[]) => Promise<T>;

/**
 * What the client has for `https`: it asks at port 443 and nowhere else. What it cannot read it throws where nobody hears it, and here its
 * caller does.
 */
const plain = {
  request(options: http.RequestOptions, answered: (response: http.IncomingMessage) => void): http.ClientRequest {
    const [host, port] = String(options.host).split(':');
    const sent = http.request({ ...options, host, port }, (response) => {
      const on = response.on.bind(response);
      const listen = (name: string, heard: (...told: unknown[]) => void) =>
        on(name, (...told: unknown[]) => {
          try {
            heard(...told);
          } catch (thrown) {
            sent.emit('error', thrown);
          }
        });
      Object.assign(response, { on: listen });
      answered(response);
      if (response.listenerCount('data') === 0) response.resume();
    });
    return sent;
  },
};

const loader = Module as unknown as { _load: (name: string, ...rest: unknown[]) => unknown };
const load = loader._load;
loader._load = (name, ...rest) => (name === 'https' ? plain : load(name, ...rest));
const { Client } = createRequire(import.meta.url)('clarifyio') as { Client: new (host: string, token: string) => Client };
loader._load = load;

const connect = (place: Place, token: string): Call => {
  const client = new Client(`127.0.0.1:${place.port}`, token);
  return <T>(method: Method, ...asked: readonly unknown[]) =>
    new Promise<T>((resolve, reject) => {
      const done: Done = (error, answer) => (error ? reject(error) : resolve(answer as T));
      client[method](...asked, done);
    });
};

const media = (name: string): string => `https://media.example.com/${name}.wav`;
const bundle = async (call: Call, name: string, more: object = {}): Promise<string> =>
  given((await call('createBundle', { name, ...more })).id, 'id');
const read = (call: Call, id: string): Promise<Bundle> => call<Bundle>('getBundle', id);
const data = async (call: Call, id: string): Promise<unknown> => (await call<Metadata>('getMetadata', id)).data;
const tracks = async (call: Call, id: string): Promise<readonly Track[]> => (await call<Tracks>('getTracks', id)).tracks;
const idOf = ({ href }: Link): string => String(href.split('?')[0]?.split('/').at(-1));
/** Where a track or an insight of a bundle is, for the client's own methods by paths. */
const below = (id: string, ...rest: readonly string[]): string => `/v1/bundles/${[id, ...rest].join('/')}`;
/** The ids of all bundles, page by page, as the links of each say. */
const listed = (call: Call, limit: number): Promise<string[]> =>
  pages(
    (from) => (from === undefined ? call<Collection>('getBundles', { limit }) : call<Collection>('get', from, null)),
    ({ _links }) => {
      const items = _links.items ?? [];
      assert.ok(items.length <= limit, `a page of ${items.length}`);
      return items.map(idOf);
    },
    ({ _links }) => (_links.next === undefined ? undefined : _links.next.href.replace(/^https?:\/\/[^/]+/, '')),
  );
const found = async (call: Call, asked: object): Promise<string[]> =>
  ((await call<Collection>('search', asked))._links.items ?? []).map(idOf);
const nobody = 'a0b1c2d3e4f5a6b7c8d9';

/** Guide: the description's own words; docs.clarify.io, "Quickstart", "Bundles", "Metadata", "Tracks", "Search"; the client's README and tests. */
export const vendor: Vendor<Call> = {
  document: 'clarify/clarify.io.json',
  header: 'Authorization',
  word: 'Bearer',
  made: 'Y2xhcmlmeS1rZXktZm9yLXRlc3Rz',
  client: connect,
  strict: ['a key that is refused'],
  flows: {
    'a bundle from its making to its end': (call, s) => ({
      create: async () => {
        s.id = await bundle(call, 'Interview', { external_id: 'int-1', notify_url: 'https://example.com/notify' });
      },
      read: async () => {
        const { id, name, external_id, notify_url } = await read(call, s.id);
        assert.deepEqual([id, name, external_id, notify_url], [s.id, 'Interview', 'int-1', 'https://example.com/notify']);
      },
      'it is listed': async () => once(await listed(call, 100), [s.id], 'bundles'),
      change: async () => assert.equal((await call('updateBundle', s.id, { name: 'Second interview' })).id, s.id),
      'it is changed': async () => {
        const { name, external_id } = await read(call, s.id);
        assert.deepEqual([name, external_id], ['Second interview', 'int-1']);
      },
      delete: async () => call('removeBundle', s.id),
      'it is gone': async () => refused(read(call, s.id), 404),
      'it is not listed': async () => assert.ok(!(await listed(call, 100)).includes(s.id)),
    }),
    'bundles through all pages': (call, s) => ({
      'make five': async () => {
        for (const name of ['a', 'b', 'c', 'd', 'e']) s[name] = await bundle(call, `Bundle ${name}`);
      },
      'pages of two hold each once': async () => once(await listed(call, 2), [s.a, s.b, s.c, s.d, s.e], 'bundles'),
      'a single page too': async () => once(await listed(call, 100), [s.a, s.b, s.c, s.d, s.e], 'bundles'),
      'the first page has none before it': async () => {
        const { limit, _links } = await call<Collection>('getBundles', { limit: 2 });
        assert.deepEqual([limit, _links.prev], [2, undefined]);
        assert.ok(_links.next !== undefined, 'no next page');
      },
      'all are counted': async () => {
        const { total } = await call<Collection>('getBundles', { limit: 1 });
        assert.equal(total, (await listed(call, 100)).length);
      },
    }),
    'bundles within their list': (call, s) => ({
      'make two': async () => {
        s.first = await bundle(call, 'Rose');
        s.second = await bundle(call, 'Lily');
      },
      'both are within it': async () => {
        const { _embedded } = await call<Collection>('getBundles', { limit: 100, embed: 'items' });
        const items = given(_embedded?.items, 'items');
        once(
          items.map(({ id }) => id),
          [s.first, s.second],
          'items',
        );
        assert.equal(items.find(({ id }) => id === s.second)?.name, 'Lily');
      },
      'delete one': async () => call('removeBundle', s.first),
      'the other stays': async () => {
        const { _embedded } = await call<Collection>('getBundles', { limit: 100, embed: 'items' });
        const ids = given(_embedded?.items, 'items').map(({ id }) => id);
        once(ids, [s.second], 'items');
        assert.ok(!ids.includes(s.first));
      },
    }),
    'several bundles apart': (call, s) => ({
      'make two of one name': async () => {
        s.first = await bundle(call, 'Twin', { external_id: 'left' });
        s.second = await bundle(call, 'Twin', { external_id: 'right' });
      },
      'they are two': async () => assert.notEqual(s.first, s.second),
      'change one': async () => call('updateBundle', s.first, { external_id: 'middle' }),
      'the other is as it was': async () => {
        assert.equal((await read(call, s.first)).external_id, 'middle');
        assert.equal((await read(call, s.second)).external_id, 'right');
      },
    }),
    'a bundle that was changed meanwhile': (call, s) => ({
      create: async () => {
        s.id = await bundle(call, 'Versioned');
        s.version = String(given((await read(call, s.id)).version, 'version'));
      },
      'change it as it is': async () => call('updateBundle', s.id, { name: 'Versioned 2', version: Number(s.version) }),
      'its version is another': async () => assert.notEqual(String((await read(call, s.id)).version), s.version),
      'not as it was': async () => refused(call('updateBundle', s.id, { name: 'Versioned 3', version: Number(s.version) }), 409),
      'nothing came of that': async () => assert.equal((await read(call, s.id)).name, 'Versioned 2'),
      'without a version it is changed': async () => {
        await call('updateBundle', s.id, { name: 'Versioned 4' });
        assert.equal((await read(call, s.id)).name, 'Versioned 4');
      },
    }),
    'metadata from its making to its end': (call, s) => ({
      'a bundle with some': async () => {
        s.id = await bundle(call, 'Song', { metadata: JSON.stringify({ category: 'music', year: 2014 }) });
      },
      read: async () => {
        const answer = await call<Metadata>('getMetadata', s.id);
        assert.deepEqual([answer.bundle_id, answer.data], [s.id, { category: 'music', year: 2014 }]);
      },
      change: async () => call('updateMetadata', s.id, { category: 'speech', live: true }),
      'it is changed': async () => assert.deepEqual(await data(call, s.id), { category: 'speech', live: true }),
      delete: async () => call('removeMetadata', s.id),
      'it is empty': async () => assert.deepEqual(await data(call, s.id), {}),
      'the bundle stays': async () => assert.equal((await read(call, s.id)).name, 'Song'),
    }),
    'metadata of two bundles': (call, s) => ({
      'make two': async () => {
        s.first = await bundle(call, 'East');
        s.second = await bundle(call, 'West');
      },
      'both are empty': async () => assert.deepEqual([await data(call, s.first), await data(call, s.second)], [{}, {}]),
      'write to one': async () => call('updateMetadata', s.first, { side: 'east' }),
      'the other is empty still': async () =>
        assert.deepEqual([await data(call, s.first), await data(call, s.second)], [{ side: 'east' }, {}]),
    }),
    'metadata that was changed meanwhile': (call, s) => ({
      'a bundle with some': async () => {
        s.id = await bundle(call, 'Guarded', { metadata: JSON.stringify({ state: 'one' }) });
        s.version = String(given((await call<Metadata>('getMetadata', s.id)).version, 'version'));
      },
      'change it as it is': async () => call('updateMetadata', s.id, { data: { state: 'two' }, version: Number(s.version) }),
      'not as it was': async () =>
        refused(call('updateMetadata', s.id, { data: { state: 'three' }, version: Number(s.version) }), 409),
      'nothing came of that': async () => assert.deepEqual(await data(call, s.id), { state: 'two' }),
    }),
    'tracks of a bundle': (call, s) => ({
      'a bundle with one': async () => {
        s.id = await bundle(call, 'Call', { media_url: media('left'), label: 'caller' });
      },
      'it is there': async () => {
        const all = await tracks(call, s.id);
        assert.deepEqual(
          all.map(({ label, media_url }) => [label, media_url]),
          [['caller', media('left')]],
        );
      },
      'another one': async () => {
        s.track = given((await call('createTrack', s.id, { label: 'agent', media_url: media('right') })).id, 'id');
      },
      'both are there': async () => {
        const all = await tracks(call, s.id);
        assert.deepEqual(
          all.map(({ label }) => label),
          ['caller', 'agent'],
        );
      },
      'read one': async () => {
        const { id, label, media_url } = await call<Track>('get', below(s.id, 'tracks', s.track), null);
        assert.deepEqual([id, label, media_url], [s.track, 'agent', media('right')]);
      },
      'delete one': async () => call('delete', below(s.id, 'tracks', s.track), ''),
      'it is gone': async () => refused(call('get', below(s.id, 'tracks', s.track), null), 404),
      'the other stays': async () => {
        const all = await tracks(call, s.id);
        assert.deepEqual(
          all.map(({ label }) => label),
          ['caller'],
        );
      },
    }),
    'all tracks at once': (call, s) => ({
      'two bundles with tracks': async () => {
        s.first = await bundle(call, 'North', { media_url: media('north') });
        s.second = await bundle(call, 'South', { media_url: media('south') });
        await call('createTrack', s.first, { label: 'more', media_url: media('more') });
      },
      'each has its own': async () => {
        assert.equal((await tracks(call, s.first)).length, 2);
        assert.equal((await tracks(call, s.second)).length, 1);
      },
      'delete those of one': async () => call('removeTrack', s.first),
      'it has none': async () => assert.equal((await tracks(call, s.first)).length, 0),
      'the other has its own': async () => {
        const all = await tracks(call, s.second);
        assert.deepEqual(
          all.map(({ media_url }) => media_url),
          [media('south')],
        );
      },
    }),
    'a track in parts': (call, s) => ({
      'a first part': async () => {
        s.id = await bundle(call, 'Meeting', { media_url: media('part-1'), parts_pending: true });
        s.track = given((await tracks(call, s.id))[0]?.id, 'track');
      },
      'a second part': async () =>
        call('put', below(s.id, 'tracks', s.track), { media_url: media('part-2'), start_time: 60, parts_pending: true }),
      'it is one track': async () => assert.equal((await tracks(call, s.id)).length, 1),
      'all parts are there': async () => call('updateTrack', s.id, { parts_complete: true }),
      'not without saying so': async () => refused(call('updateTrack', s.id, {}), 400),
    }),
    'what goes with a bundle': (call, s) => ({
      'a bundle with all': async () => {
        s.id = await bundle(call, 'Whole', { media_url: media('whole'), metadata: JSON.stringify({ kind: 'whole' }) });
        s.track = given((await tracks(call, s.id))[0]?.id, 'track');
      },
      delete: async () => call('removeBundle', s.id),
      'its metadata is gone': async () => refused(call('getMetadata', s.id), 404),
      'its tracks are gone': async () => refused(call('getTracks', s.id), 404),
      'each of them too': async () => refused(call('get', below(s.id, 'tracks', s.track), null), 404),
      'no track is added': async () => refused(call('createTrack', s.id, { media_url: media('late') }), 404),
    }),
    'insights that are asked for': (call, s) => ({
      'a bundle with a track': async () => {
        s.id = await bundle(call, 'Lecture', { media_url: media('lecture') });
      },
      'its insights': async () => assert.equal(typeof (await call<object>('get', below(s.id, 'insights'), null)), 'object'),
      'ask for one': async () => call('post', below(s.id, 'insights'), { insight: 'spoken_topics' }),
      'none of another name': async () => refused(call('post', below(s.id, 'insights'), { insight: 'weather' }), 400),
      'none without a name': async () => refused(call('post', below(s.id, 'insights'), {}), 400),
      'none of no bundle': async () => refused(call('post', below(nobody, 'insights'), { insight: 'spoken_topics' }), 404),
    }),
    'what is searched': (call, s) => ({
      'make three': async () => {
        s.first = await bundle(call, 'Harbour tour', { external_id: 'tour-1', metadata: JSON.stringify({ place: 'Bergen' }) });
        s.second = await bundle(call, 'Castle tour', { external_id: 'tour-2', metadata: JSON.stringify({ place: 'Prague' }) });
        s.third = await bundle(call, 'Harbour song', { external_id: 'song-1', metadata: JSON.stringify({ place: 'Bergen' }) });
      },
      'by a word of the name': async () => {
        const ids = await found(call, { query: 'harbour', query_fields: 'bundle.name' });
        assert.deepEqual(ids.sort(), [s.first, s.third].sort());
      },
      'by two words': async () =>
        assert.deepEqual(await found(call, { query: 'harbour tour', query_fields: 'bundle.name' }), [s.first]),
      'by a value of the metadata': async () =>
        assert.deepEqual(await found(call, { query: 'Prague', query_fields: 'metadata.*' }), [s.second]),
      'with a filter': async () => {
        const asked = { query: 'harbour', query_fields: 'bundle.name', filter: 'bundle.external_id == "song-1"' };
        assert.deepEqual(await found(call, asked), [s.third]);
      },
      'nothing by what is not there': async () =>
        assert.deepEqual(await found(call, { query: 'volcano', query_fields: 'bundle.name' }), []),
    }),
    'what is not there, and what cannot be': (call, s) => ({
      read: async () => refused(read(call, nobody), 404),
      change: async () => refused(call('updateBundle', nobody, { name: 'Nobody' }), 404),
      delete: async () => refused(call('removeBundle', nobody), 404),
      'its metadata': async () => refused(call('updateMetadata', nobody, { a: 'b' }), 404),
      'a page of none': async () => refused(call('getBundles', { limit: 0 }), 400),
      'a page of too many': async () => refused(call('getBundles', { limit: 101 }), 400),
      'a track without media': async () => {
        s.id = await bundle(call, 'Strict');
        await refused(call('createTrack', s.id, { label: 'empty' }), 400);
      },
      'nor in a language that is none': async () =>
        refused(call('createTrack', s.id, { media_url: media('odd'), audio_language: 'xx-YY' }), 400),
    }),
    'a key that is refused': (call, s, another) => ({
      'the right key': async () => {
        s.id = await bundle(call, 'Secret');
      },
      'a wrong one lists nothing': async () => refused(another('wrong')('getBundles', { limit: 10 }), 401),
      'nor reads anything': async () => refused(another('wrong')('getBundle', s.id), 401),
      'nor deletes anything': async () => refused(another('wrong')('removeBundle', s.id), 401),
      'all is as it was': async () => assert.equal((await read(call, s.id)).name, 'Secret'),
    }),
  },
};
