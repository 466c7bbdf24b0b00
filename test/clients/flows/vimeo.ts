import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { numbered, once, type Place, refused, type State, type Vendor } from '../kit.ts';

type Ended = (error: Error | null, body: unknown, status?: number) => void;
interface Vimeo {
  request(options: object, ended: Ended): void;
}

// Its client has no types of its own.
const load = createRequire(import.meta.url);
const { Vimeo: Made } = load('@vimeo/vimeo') as { Vimeo: new (id: string, secret: string, token: string) => Vimeo };

/** One request by the client: its body, or an error with the status, which the client tells its callback alone. */
type Ask = (method: string, path: string, query?: object) => Promise<Row>;
interface Row {
  readonly uri?: string;
  readonly name?: string;
  readonly [member: string]: unknown;
}

const connect = (place: Place, token: string): Ask => {
  const vimeo = new Made('0a1b2c', '3d4e5f', token);
  const where = { protocol: 'http:', hostname: '127.0.0.1', port: place.port };
  const prefix = place.base.slice(place.url.length);
  return (method, path, query) =>
    new Promise((done, failed) => {
      vimeo.request({ ...where, method, path: `${prefix}${path}`, ...(query ? { query } : {}) }, (error, body, status) => {
        if (error) failed(Object.assign(error, { status }));
        else done(body as Row);
      });
    });
};

/** The last part of what Vimeo calls a resource by: `/users/1/albums/23` is 23. */
const id = (row: Row): string => {
  const last = row.uri?.split('/').at(-1);
  assert.ok(last, 'the answer has a uri');
  return last;
};

/** The rows of a list: the guide has them under `data`, the description without. */
const rows = (page: unknown): readonly Row[] =>
  Array.isArray(page) ? (page as Row[]) : ((page as { data?: readonly Row[] }).data ?? []);
const ids = (page: unknown): string[] => rows(page).map(id);

const video = async (ask: Ask, name: string): Promise<string> =>
  id(await ask('POST', '/me/videos', { name, upload: { approach: 'tus', size: '1048576' } }));

const filmed = async (ask: Ask, s: State): Promise<void> => {
  s.video = await video(ask, 'Harbour at dawn');
};

/** Guide: developer.vimeo.com/api/guides ("Authentication", "Common formats", "Pagination", "Videos", "Showcases", "Folders"), and its reference. */
export const vendor: Vendor<Ask> = {
  document: 'vimeo/vimeo.com.json',
  header: 'Authorization',
  word: 'Bearer',
  made: '5d41402abc4b2a76b9719d911017c592',
  client: connect,
  strict: ['a credential that is refused'],
  flows: {
    'a showcase is created, read, edited and deleted': (ask, s) => ({
      create: async () => {
        const made = await ask('POST', '/me/albums', {
          name: 'Films of the sea',
          description: 'All of them',
          privacy: 'anybody',
        });
        s.id = id(made);
        assert.deepEqual([made.name, made.description], ['Films of the sea', 'All of them']);
      },
      read: async () => {
        const read = await ask('GET', `/me/albums/${s.id}`);
        assert.deepEqual([id(read), read.name], [s.id, 'Films of the sea']);
      },
      edit: async () => {
        const changed = await ask('PATCH', `/me/albums/${s.id}`, { name: 'Films of the shore', theme: 'dark' });
        assert.deepEqual([changed.name, changed.theme], ['Films of the shore', 'dark']);
      },
      'its description is as before': async () => {
        const read = await ask('GET', `/me/albums/${s.id}`);
        assert.deepEqual([read.name, read.description], ['Films of the shore', 'All of them']);
      },
      delete: () => ask('DELETE', `/me/albums/${s.id}`),
      'it is gone': () => refused(ask('GET', `/me/albums/${s.id}`), 404),
    }),
    'showcases page by page': (ask, s) => ({
      'create five': async () => {
        const made: string[] = [];
        for (const name of ['Rain', 'Snow', 'Hail', 'Fog', 'Wind']) made.push(id(await ask('POST', '/me/albums', { name })));
        s.ids = made.join(',');
      },
      'a page is no longer than asked for': async () =>
        assert.equal(rows(await ask('GET', '/me/albums', { per_page: 2 })).length, 2),
      'all pages together hold each once': async () => {
        const page = async (number: number): Promise<readonly string[]> => {
          try {
            return ids(await ask('GET', '/me/albums', { page: number, per_page: 2 }));
          } catch (thrown) {
            // After the last page Vimeo answers 404.
            if ((thrown as { status?: number }).status === 404 && number > 1) return [];
            throw thrown;
          }
        };
        once(await numbered(page), s.ids.split(','), 'showcases');
      },
      'by name': async () =>
        assert.deepEqual(
          rows(await ask('GET', '/me/albums', { sort: 'alphabetical', direction: 'asc', per_page: 10 })).map(({ name }) => name),
          ['Fog', 'Hail', 'Rain', 'Snow', 'Wind'],
        ),
    }),
    'a video is announced, edited and deleted': (ask, s) => ({
      'announce it': async () => {
        const made = await ask('POST', '/me/videos', {
          name: 'Harbour at dawn',
          description: 'Before the boats',
          upload: { approach: 'tus', size: '1048576' },
        });
        s.id = id(made);
        assert.deepEqual([made.name, made.description], ['Harbour at dawn', 'Before the boats']);
      },
      read: async () => assert.equal((await ask('GET', `/videos/${s.id}`)).name, 'Harbour at dawn'),
      rename: async () =>
        assert.equal((await ask('PATCH', `/videos/${s.id}`, { name: 'Harbour at noon' })).name, 'Harbour at noon'),
      'its description is as before': async () => {
        const read = await ask('GET', `/videos/${s.id}`);
        assert.deepEqual([read.name, read.description], ['Harbour at noon', 'Before the boats']);
      },
      'among the own videos': async () => once(ids(await ask('GET', '/me/videos')), [s.id], 'videos'),
      delete: () => ask('DELETE', `/videos/${s.id}`),
      'it is gone': () => refused(ask('GET', `/videos/${s.id}`), 404),
    }),
    'who may see a video': (ask, s) => ({
      'announce it': () => filmed(ask, s),
      'nobody else': async () => {
        const changed = await ask('PATCH', `/videos/${s.video}`, { privacy: { view: 'nobody' }, license: 'by' });
        assert.equal((changed.privacy as { view?: unknown }).view, 'nobody');
      },
      'it is said when it is read': async () => {
        const read = await ask('GET', `/videos/${s.video}`);
        assert.deepEqual([(read.privacy as { view?: unknown }).view, read.license], ['nobody', 'by']);
      },
    }),
    'where a video may be embedded': (ask, s) => ({
      'announce it': () => filmed(ask, s),
      'allow two domains': async () => {
        await ask('PUT', `/videos/${s.video}/privacy/domains/example.com`);
        await ask('PUT', `/videos/${s.video}/privacy/domains/example.org`);
      },
      'both are listed': async () => {
        const domains = rows(await ask('GET', `/videos/${s.video}/privacy/domains`)).map(({ domain }) => String(domain));
        once(domains, ['example.com', 'example.org'], 'domains');
      },
      'take one away': () => ask('DELETE', `/videos/${s.video}/privacy/domains/example.com`),
      'the other is left': async () => {
        const domains = rows(await ask('GET', `/videos/${s.video}/privacy/domains`)).map(({ domain }) => domain);
        assert.deepEqual(domains, ['example.org']);
      },
    }),
    'comments on a video': (ask, s) => ({
      'announce it': () => filmed(ask, s),
      comment: async () => {
        const made = await ask('POST', `/videos/${s.video}/comments`, { text: 'Where is this?' });
        s.id = id(made);
        assert.equal(made.text, 'Where is this?');
      },
      'read it': async () => assert.equal((await ask('GET', `/videos/${s.video}/comments/${s.id}`)).text, 'Where is this?'),
      'edit it': async () =>
        assert.equal(
          (await ask('PATCH', `/videos/${s.video}/comments/${s.id}`, { text: 'Where was this?' })).text,
          'Where was this?',
        ),
      'it is listed': async () => once(ids(await ask('GET', `/videos/${s.video}/comments`)), [s.id], 'comments'),
      delete: () => ask('DELETE', `/videos/${s.video}/comments/${s.id}`),
      'it is gone': () => refused(ask('GET', `/videos/${s.video}/comments/${s.id}`), 404),
    }),
    'an answer to a comment': (ask, s) => ({
      'a video and a comment': async () => {
        await filmed(ask, s);
        s.id = id(await ask('POST', `/videos/${s.video}/comments`, { text: 'Which lens?' }));
      },
      answer: async () => {
        const made = await ask('POST', `/videos/${s.video}/comments/${s.id}/replies`, { text: 'A long one' });
        s.answer = id(made);
        assert.equal(made.text, 'A long one');
      },
      'it is among the answers': async () =>
        once(ids(await ask('GET', `/videos/${s.video}/comments/${s.id}/replies`)), [s.answer], 'answers'),
    }),
    'a video in a showcase': (ask, s) => ({
      'create both': async () => {
        await filmed(ask, s);
        s.id = id(await ask('POST', '/me/albums', { name: 'Harbours' }));
      },
      'put it in': () => ask('PUT', `/me/albums/${s.id}/videos/${s.video}`),
      'the showcase holds it': async () => assert.deepEqual(ids(await ask('GET', `/me/albums/${s.id}/videos`)), [s.video]),
      'it is found there': async () => assert.equal(id(await ask('GET', `/me/albums/${s.id}/videos/${s.video}`)), s.video),
      'take it out': () => ask('DELETE', `/me/albums/${s.id}/videos/${s.video}`),
      'not found there': () => refused(ask('GET', `/me/albums/${s.id}/videos/${s.video}`), 404),
      'but there still': async () => assert.equal((await ask('GET', `/videos/${s.video}`)).name, 'Harbour at dawn'),
    }),
    'a video is liked': (ask, s) => ({
      'announce it': () => filmed(ask, s),
      'not liked yet': () => refused(ask('GET', `/me/likes/${s.video}`), 404),
      like: () => ask('PUT', `/me/likes/${s.video}`),
      'liked now': () => ask('GET', `/me/likes/${s.video}`),
      'among what is liked': async () => once(ids(await ask('GET', '/me/likes')), [s.video], 'likes'),
      'not any more': () => ask('DELETE', `/me/likes/${s.video}`),
      'not liked': () => refused(ask('GET', `/me/likes/${s.video}`), 404),
    }),
    'a video for later': (ask, s) => ({
      'announce it': () => filmed(ask, s),
      'watch it later': () => ask('PUT', `/me/watchlater/${s.video}`),
      'in the queue': async () => once(ids(await ask('GET', '/me/watchlater')), [s.video], 'queue'),
      watched: () => ask('DELETE', `/me/watchlater/${s.video}`),
      'the queue is empty': async () => assert.deepEqual(rows(await ask('GET', '/me/watchlater')), []),
    }),
    'a folder and its videos': (ask, s) => ({
      create: async () => {
        const made = await ask('POST', '/me/projects', { name: 'Raw takes' });
        s.id = id(made);
        assert.equal(made.name, 'Raw takes');
      },
      rename: async () => assert.equal((await ask('PATCH', `/me/projects/${s.id}`, { name: 'Rushes' })).name, 'Rushes'),
      'put a video in': async () => {
        await filmed(ask, s);
        await ask('PUT', `/me/projects/${s.id}/videos/${s.video}`);
      },
      'the folder holds it': async () => assert.deepEqual(ids(await ask('GET', `/me/projects/${s.id}/videos`)), [s.video]),
      'take it out': () => ask('DELETE', `/me/projects/${s.id}/videos/${s.video}`),
      'the folder is empty': async () => assert.deepEqual(rows(await ask('GET', `/me/projects/${s.id}/videos`)), []),
      'delete the folder': () => ask('DELETE', `/me/projects/${s.id}`),
    }),
    'a channel and its tags': (ask, s) => ({
      create: async () => {
        const made = await ask('POST', '/channels', { name: 'Slow cinema', description: 'Very slow', privacy: 'anybody' });
        s.id = id(made);
        assert.deepEqual([made.name, made.description], ['Slow cinema', 'Very slow']);
      },
      edit: async () => {
        const changed = await ask('PATCH', `/channels/${s.id}`, { description: 'Slower' });
        assert.deepEqual([changed.name, changed.description], ['Slow cinema', 'Slower']);
      },
      'tag it': () => ask('PUT', `/channels/${s.id}/tags/sea`),
      'it has the tag': () => ask('GET', `/channels/${s.id}/tags/sea`),
      'the tag is taken away': () => ask('DELETE', `/channels/${s.id}/tags/sea`),
      'it has it not': () => refused(ask('GET', `/channels/${s.id}/tags/sea`), 404),
      delete: () => ask('DELETE', `/channels/${s.id}`),
    }),
    'a channel is followed': (ask, s) => ({
      'create it': async () => {
        s.id = id(await ask('POST', '/channels', { name: 'Lighthouses', privacy: 'anybody' }));
      },
      follow: () => ask('PUT', `/me/channels/${s.id}`),
      'it is followed': () => ask('GET', `/me/channels/${s.id}`),
      'not any more': () => ask('DELETE', `/me/channels/${s.id}`),
      'it is not': () => refused(ask('GET', `/me/channels/${s.id}`), 404),
    }),
    'text tracks of a video': (ask, s) => ({
      'announce it': () => filmed(ask, s),
      'add French subtitles': async () => {
        const body = { type: 'subtitles', language: 'fr', name: 'Français', active: false };
        const made = await ask('POST', `/videos/${s.video}/texttracks`, body);
        s.id = id(made);
        assert.partialDeepStrictEqual(made, { type: 'subtitles', language: 'fr', name: 'Français' });
      },
      'make them active': async () =>
        assert.equal((await ask('PATCH', `/videos/${s.video}/texttracks/${s.id}`, { active: true })).active, true),
      'they are listed so': async () => {
        const [row] = rows(await ask('GET', `/videos/${s.video}/texttracks`));
        assert.deepEqual([row?.language, row?.active], ['fr', true]);
      },
      delete: () => ask('DELETE', `/videos/${s.video}/texttracks/${s.id}`),
      'they are gone': () => refused(ask('GET', `/videos/${s.video}/texttracks/${s.id}`), 404),
    }),
    'requests that are wrong': (ask) => ({
      'a showcase that nobody made': async () => {
        const thrown = (await refused(ask('GET', '/me/albums/999999999'), 404)) as Error;
        assert.equal(typeof (JSON.parse(thrown.message) as { error?: unknown }).error, 'string');
      },
      'a showcase without a name': () => refused(ask('POST', '/me/albums', { description: 'No name' }), 400),
      'a privacy there is not': () => refused(ask('POST', '/me/albums', { name: 'Mine', privacy: 'everybody' }), 400),
      'a comment on what nobody made': () => refused(ask('POST', '/videos/999999998/comments', { text: 'Hello?' }), 404),
    }),
    'a credential that is refused': (ask, _s, another) => ({
      'the right one is taken': () => ask('GET', '/me/albums'),
      'a wrong one is not': () => refused(another('not-a-token')('GET', '/me/albums'), 401),
      'nor does it create': () => refused(another('not-a-token')('POST', '/me/albums', { name: 'Nobody’s' }), 401),
    }),
  },
};
