import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { SoundCloudClient, type SoundCloudTrack, scFetch } from 'soundcloud-api-ts';
import { gather, given, once, type Place, refused, type Vendor } from '../kit.ts';

const where = new AsyncLocalStorage<Place>();
const hosts = ['api.soundcloud.com', 'secure.soundcloud.com'];

/**
 * The client's hosts are fixed: what is meant for them goes to the place of the call that is made, and all else where it is
 * meant for. Its tokens come from `/oauth/token`, where the description has `/oauth2/token`.
 */
const route = (): void => {
  const before = globalThis.fetch;
  globalThis.fetch = (input, init) => {
    const place = where.getStore();
    if (place === undefined || input instanceof Request) return before(input, init);
    const url = new URL(input);
    if (!hosts.includes(url.host)) return before(input, init);
    return before(`${place.url}${url.pathname.replace(/^\/oauth\//, '/oauth2/')}${url.search}`, init);
  };
};
route();

/** Calls of the client, each with all of its pages, at the place. */
interface SoundCloud {
  readonly token: string;
  <T>(call: (sc: SoundCloudClient) => Promise<T>): Promise<T>;
}

const connect = (place: Place, token: string): SoundCloud => {
  const sc = new SoundCloudClient({
    clientId: 'made-up-client',
    clientSecret: 'made-up-secret',
    redirectUri: 'https://example.org/callback',
    maxRetries: 0,
    fetch: (input: string | URL | Request, init?: RequestInit) => globalThis.fetch(input, init),
  });
  sc.setToken(token);
  return Object.assign(<T>(call: (sc: SoundCloudClient) => Promise<T>): Promise<T> => where.run(place, () => call(sc)), {
    token,
  });
};

/** Half a second of silence. */
const silence = (): Blob => {
  const sound = Buffer.alloc(44 + 4000, 128);
  sound.write('RIFF', 0);
  sound.writeUInt32LE(36 + 4000, 4);
  sound.write('WAVEfmt ', 8);
  sound.writeUInt32LE(16, 16);
  sound.writeUInt16LE(1, 20);
  sound.writeUInt16LE(1, 22);
  sound.writeUInt32LE(8000, 24);
  sound.writeUInt32LE(8000, 28);
  sound.writeUInt16LE(1, 32);
  sound.writeUInt16LE(8, 34);
  sound.write('data', 36);
  sound.writeUInt32LE(4000, 40);
  return new Blob([sound], { type: 'audio/wav' });
};

/** The client has no call that uploads: its own way of calling takes a form, as the guide has it. */
const upload = (c: SoundCloud, title: string, more: Readonly<Record<string, string>> = {}): Promise<SoundCloudTrack> => {
  const body = new FormData();
  body.set('track[title]', title);
  for (const [name, value] of Object.entries(more)) body.set(`track[${name}]`, value);
  body.set('track[asset_data]', silence(), 'silence.wav');
  return c(() => scFetch<SoundCloudTrack>({ path: '/tracks', method: 'POST', token: c.token, body }));
};

const put = async (c: SoundCloud, title: string, more: Readonly<Record<string, string>> = {}): Promise<string> =>
  String(given((await upload(c, title, more)).id, 'id'));

/** A list comes in pages, or, where the description knows none of them, bare. */
const rows = <T>(page: readonly T[] | { readonly collection: readonly T[] }): readonly T[] =>
  'collection' in page ? page.collection : page;

const ids = (list: readonly { readonly id: number }[]): string[] => list.map(({ id }) => String(id));

/** The description names a track of a playlist by its id, and the client, which is later, by its urn. */
const these = (...tracks: readonly string[]) => tracks.map((id) => ({ id, urn: `soundcloud:tracks:${id}` }));

const nobodys = 987_654_321;

const mine = async (c: SoundCloud): Promise<number> => given((await c((sc) => sc.me.getMe())).id, 'id');

const myTracks = async (c: SoundCloud, limit = 50): Promise<string[]> =>
  ids(
    await c((sc) =>
      gather(
        sc.paginate(() => sc.me.getTracks(limit)),
        (page) => page,
      ),
    ),
  );

/** Guide: developers.soundcloud.com, "API guide" and "HTTP API". */
export const vendor: Vendor<SoundCloud> = {
  document: 'soundcloud/soundcloud.com.json',
  header: 'authorization',
  word: 'OAuth',
  made: 'made-up-token',
  client: connect,
  flows: {
    'a playlist from its making to its end': (c, s) => ({
      create: async () => {
        const made = await c((sc) =>
          sc.playlists.create({ title: 'Evening', description: 'For the way home', sharing: 'public' }),
        );
        assert.equal(made.title, 'Evening');
        s.id = String(given(made.id, 'id'));
      },
      read: async () => {
        const read = await c((sc) => sc.playlists.getPlaylist(s.id));
        assert.equal(String(read.id), s.id);
        assert.equal(read.title, 'Evening');
        assert.equal(read.description, 'For the way home');
        assert.equal(read.sharing, 'public');
      },
      'it is among mine': async () => once(ids(rows(await c((sc) => sc.me.getPlaylists(200)))), [s.id]),
      change: async () => {
        const changed = await c((sc) => sc.playlists.update(s.id, { title: 'A long evening', sharing: 'private' }));
        assert.equal(changed.title, 'A long evening');
      },
      'it is changed, and only what was sent': async () => {
        const read = await c((sc) => sc.playlists.getPlaylist(s.id));
        assert.equal(read.title, 'A long evening');
        assert.equal(read.sharing, 'private');
        assert.equal(read.description, 'For the way home');
      },
      delete: async () => c((sc) => sc.playlists.delete(s.id)),
      gone: async () =>
        refused(
          c((sc) => sc.playlists.getPlaylist(s.id)),
          404,
        ),
      'gone from mine': async () => assert.ok(!ids(rows(await c((sc) => sc.me.getPlaylists(200)))).includes(s.id)),
      'it cannot be deleted again': async () =>
        refused(
          c((sc) => sc.playlists.delete(s.id)),
          404,
        ),
    }),
    'my playlists through all pages': (c, s) => ({
      create: async () => {
        for (const title of ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday'])
          await c((sc) => sc.playlists.create({ title, sharing: 'public' }));
      },
      'in pages of two': async () => {
        s.me = String(await mine(c));
        const list = await c((sc) =>
          gather(
            sc.paginate(() => sc.users.getPlaylists(s.me, 2)),
            (page) => page,
          ),
        );
        once(
          list.map(({ title }) => title),
          ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday'],
        );
      },
      'a page holds no more than was asked for': async () =>
        assert.ok((await c((sc) => sc.users.getPlaylists(s.me, 2))).collection.length <= 2),
    }),
    'a track from its upload to its end': (c, s) => ({
      upload: async () => {
        const made = await upload(c, 'Silence', { description: 'Nothing to hear', genre: 'Ambient', sharing: 'public' });
        assert.equal(made.title, 'Silence');
        s.id = String(given(made.id, 'id'));
      },
      read: async () => {
        const read = await c((sc) => sc.tracks.getTrack(s.id));
        assert.equal(String(read.id), s.id);
        assert.equal(read.title, 'Silence');
        assert.equal(read.description, 'Nothing to hear');
        assert.equal(read.genre, 'Ambient');
        assert.equal(read.sharing, 'public');
      },
      'it is mine': async () => {
        assert.equal((await c((sc) => sc.tracks.getTrack(s.id))).user.id, await mine(c));
      },
      'it is among mine': async () => once(await myTracks(c), [s.id]),
      change: async () => {
        const changed = await c((sc) => sc.tracks.update(s.id, { title: 'More silence', genre: 'Drone' }));
        assert.equal(changed.title, 'More silence');
      },
      'it is changed, and only what was sent': async () => {
        const read = await c((sc) => sc.tracks.getTrack(s.id));
        assert.equal(read.title, 'More silence');
        assert.equal(read.genre, 'Drone');
        assert.equal(read.description, 'Nothing to hear');
      },
      delete: async () => c((sc) => sc.tracks.delete(s.id)),
      gone: async () =>
        refused(
          c((sc) => sc.tracks.getTrack(s.id)),
          404,
        ),
      'gone from mine': async () => assert.ok(!(await myTracks(c)).includes(s.id)),
    }),
    'my tracks through all pages': (c, s) => ({
      upload: async () => {
        const made: string[] = [];
        for (const title of ['One', 'Two', 'Three', 'Four', 'Five']) made.push(await put(c, title));
        s.made = made.join();
      },
      'in pages of two': async () => once(await myTracks(c, 2), s.made.split(',')),
      'a page holds no more than was asked for': async () =>
        assert.ok((await c((sc) => sc.me.getTracks(2))).collection.length <= 2),
      'those of me as a user are the same': async () => {
        const me = await mine(c);
        const list = await c((sc) =>
          gather(
            sc.paginate(() => sc.users.getTracks(me, 2)),
            (page) => page,
          ),
        );
        once(ids(list), s.made.split(','));
      },
    }),
    'the tracks of a playlist': (c, s) => ({
      upload: async () => {
        s.first = await put(c, 'First');
        s.second = await put(c, 'Second');
        s.third = await put(c, 'Third');
      },
      'create with two of them': async () => {
        const made = await c((sc) => sc.playlists.create({ title: 'Album', tracks: these(s.first, s.second) }));
        s.id = String(given(made.id, 'id'));
      },
      'they are in it': async () =>
        assert.deepEqual(ids((await c((sc) => sc.playlists.getPlaylist(s.id))).tracks).sort(), [s.first, s.second].sort()),
      'they are counted': async () => assert.equal((await c((sc) => sc.playlists.getPlaylist(s.id))).track_count, 2),
      'they are listed': async () =>
        assert.deepEqual(ids(rows(await c((sc) => sc.playlists.getTracks(s.id)))).sort(), [s.first, s.second].sort()),
      'put others in': async () => c((sc) => sc.playlists.update(s.id, { tracks: these(s.third, s.first) })),
      'those are in it': async () => {
        const read = await c((sc) => sc.playlists.getPlaylist(s.id));
        assert.deepEqual(ids(read.tracks).sort(), [s.first, s.third].sort());
        assert.equal(read.title, 'Album');
      },
      'what was taken out is still there': async () =>
        assert.equal((await c((sc) => sc.tracks.getTrack(s.second))).title, 'Second'),
      'what is in it has its title': async () => {
        const { tracks } = await c((sc) => sc.playlists.getPlaylist(s.id));
        assert.equal(tracks.find(({ id }) => String(id) === s.third)?.title, 'Third');
      },
    }),
    'comments on a track': (c, s) => ({
      upload: async () => {
        s.id = await put(c, 'Silence', { commentable: 'true' });
        s.other = await put(c, 'More silence');
      },
      'there are none': async () => assert.deepEqual(rows(await c((sc) => sc.tracks.getComments(s.id))), []),
      comment: async () => {
        const made = await c((sc) => sc.tracks.createComment(s.id, 'So quiet', 120));
        assert.equal(made.body, 'So quiet');
        assert.equal(Number(made.timestamp), 120);
        assert.partialDeepStrictEqual(made, { track_id: Number(s.id) });
        s.comment = String(given(made.id, 'id'));
      },
      'comment again': async () => c((sc) => sc.tracks.createComment(s.id, 'Still quiet')),
      'both are listed': async () => {
        const list = rows(await c((sc) => sc.tracks.getComments(s.id)));
        once(
          list.map(({ body }) => body),
          ['So quiet', 'Still quiet'],
        );
        once(ids(list), [s.comment]);
      },
      'they are mine': async () => {
        const me = await mine(c);
        for (const one of rows(await c((sc) => sc.tracks.getComments(s.id)))) assert.partialDeepStrictEqual(one, { user_id: me });
      },
      'the other track has none': async () => assert.deepEqual(rows(await c((sc) => sc.tracks.getComments(s.other))), []),
      'in pages of one': async () => {
        const list = await c((sc) =>
          gather(
            sc.paginate(() => sc.tracks.getComments(s.id, 1)),
            (page) => page,
          ),
        );
        assert.deepEqual(list.map(({ body }) => body).sort(), ['So quiet', 'Still quiet']);
      },
    }),
    'a track that I like': (c, s) => {
      const liked = async (): Promise<string[]> =>
        ids(
          await c((sc) =>
            gather(
              sc.paginate(() => sc.me.getLikesTracks(50)),
              (page) => page,
            ),
          ),
        );
      return {
        upload: async () => {
          s.id = await put(c, 'Silence');
        },
        'I do not like it yet': async () => assert.ok(!(await liked()).includes(s.id)),
        like: async () => assert.equal(await c((sc) => sc.likes.likeTrack(s.id)), true),
        'it is among what I like': async () => once(await liked(), [s.id]),
        'I am among those who like it': async () =>
          once(ids(rows(await c((sc) => sc.tracks.getLikes(s.id)))), [String(await mine(c))]),
        unlike: async () => assert.equal(await c((sc) => sc.likes.unlikeTrack(s.id)), true),
        'it is not among what I like': async () => assert.ok(!(await liked()).includes(s.id)),
        'nobody likes what is not there': async () => assert.equal(await c((sc) => sc.likes.likeTrack(nobodys)), false),
      };
    },
    'a track that I repost': (c, s) => {
      const reposters = async (): Promise<string[]> => ids(rows(await c((sc) => sc.tracks.getReposts(s.id))));
      return {
        upload: async () => {
          s.id = await put(c, 'Silence');
          s.me = String(await mine(c));
        },
        'I have not yet': async () => assert.ok(!(await reposters()).includes(s.me)),
        repost: async () => assert.equal(await c((sc) => sc.reposts.repostTrack(s.id)), true),
        'I have': async () => once(await reposters(), [s.me]),
        'take it back': async () => assert.equal(await c((sc) => sc.reposts.unrepostTrack(s.id)), true),
        'I have not': async () => assert.ok(!(await reposters()).includes(s.me)),
        'nobody reposts what is not there': async () => assert.equal(await c((sc) => sc.reposts.repostTrack(nobodys)), false),
      };
    },
    'a playlist that I like and repost': (c, s) => {
      const reposters = async (): Promise<string[]> => ids(rows(await c((sc) => sc.playlists.getReposts(s.id))));
      return {
        create: async () => {
          const made = await c((sc) => sc.playlists.create({ title: 'Evening', sharing: 'public' }));
          s.id = String(given(made.id, 'id'));
          s.me = String(await mine(c));
        },
        like: async () => assert.equal(await c((sc) => sc.likes.likePlaylist(s.id)), true),
        unlike: async () => assert.equal(await c((sc) => sc.likes.unlikePlaylist(s.id)), true),
        'there is nothing more to unlike': async () => assert.equal(await c((sc) => sc.likes.unlikePlaylist(nobodys)), false),
        repost: async () => assert.equal(await c((sc) => sc.reposts.repostPlaylist(s.id)), true),
        'I have reposted it': async () => once(await reposters(), [s.me]),
        'take it back': async () => assert.equal(await c((sc) => sc.reposts.unrepostPlaylist(s.id)), true),
        'I have not': async () => assert.ok(!(await reposters()).includes(s.me)),
      };
    },
    'a search': (c, s) => ({
      create: async () => {
        s.track = await put(c, 'Lanterns of Trondheim', { sharing: 'public' });
        s.other = await put(c, 'Silence', { sharing: 'public' });
        const made = await c((sc) => sc.playlists.create({ title: 'Lanterns of Trondheim', sharing: 'public' }));
        s.playlist = String(given(made.id, 'id'));
      },
      'tracks by their title': async () => {
        const found = ids(rows(await c((sc) => sc.search.tracks('Lanterns of Trondheim'))));
        once(found, [s.track]);
        assert.ok(!found.includes(s.other));
      },
      'playlists by their title': async () =>
        once(ids(rows(await c((sc) => sc.search.playlists('Lanterns of Trondheim')))), [s.playlist]),
      'what is named nowhere': async () => assert.deepEqual(rows(await c((sc) => sc.search.tracks('xyzzyplughquux'))), []),
      'a page holds ten at the most': async () => assert.ok(rows(await c((sc) => sc.search.tracks('silence'))).length <= 10),
    }),
    'who I am': (c, s) => ({
      'read me': async () => {
        const me = await c((sc) => sc.me.getMe());
        s.me = String(given(me.id, 'id'));
        s.username = given(me.username, 'username');
      },
      'I am the same again': async () => assert.equal(String(await mine(c)), s.me),
      'I am a user': async () => {
        const user = await c((sc) => sc.users.getUser(s.me));
        assert.equal(String(user.id), s.me);
        assert.equal(user.username, s.username);
      },
      'I am found by my name': async () => {
        const found = rows(await c((sc) => sc.search.users(s.username)));
        assert.ok(ids(found).includes(s.me));
      },
      'a user that is not there': async () =>
        refused(
          c((sc) => sc.users.getUser(nobodys)),
          404,
        ),
      'nobody follows him': async () =>
        refused(
          c((sc) => sc.me.follow(nobodys)),
          404,
        ),
    }),
    'where a track is': (c, s) => ({
      upload: async () => {
        const made = await upload(c, 'Silence', { sharing: 'public' });
        s.id = String(given(made.id, 'id'));
        s.link = given(made.permalink_url, 'link');
      },
      'its link leads to it': async () => {
        const location = await c((sc) => sc.resolve.resolveUrl(s.link));
        assert.ok(
          String(location)
            .split(/[/:?]|%3A/)
            .includes(s.id),
          `it leads to ${location}`,
        );
      },
      'its streams': async () => {
        const streams = await c((sc) => sc.tracks.getStreams(s.id));
        for (const url of Object.values(streams)) assert.equal(typeof url, 'string');
      },
      'what is like it': async () => {
        for (const { id } of rows(await c((sc) => sc.tracks.getRelated(Number(s.id), 5)))) assert.equal(typeof id, 'number');
      },
      'no streams of what is not there': async () =>
        refused(
          c((sc) => sc.tracks.getStreams(nobodys)),
          404,
        ),
    }),
    'a credential that nobody gave': (c, _s, another) => {
      const other = another('nobody-has-this-token');
      return {
        'it does not tell who I am': async () =>
          refused(
            other((sc) => sc.me.getMe()),
            401,
          ),
        'it makes nothing': async () =>
          refused(
            other((sc) => sc.playlists.create({ title: 'Intruder' })),
            401,
          ),
        'it uploads nothing': async () => refused(upload(other, 'Intruder'), 401),
        'nothing was made': async () => {
          const titles = rows(await c((sc) => sc.me.getPlaylists(200))).map(({ title }) => title);
          assert.ok(!titles.includes('Intruder'));
        },
        'a code that nobody gave is worth no token': async () =>
          refused(
            c((sc) => sc.auth.getUserToken('nobody-has-this-code')),
            400,
            401,
          ),
      };
    },
    'requests that are wrong': (c, s) => ({
      'a track that is not there, and what is told of it': async () => {
        const { status, data } = await c((sc) =>
          sc.raw.get<{ readonly code?: unknown; readonly message?: unknown }>('/tracks/{id}', { id: nobodys }),
        );
        assert.equal(status, 404);
        assert.equal(data.code, 404);
        assert.equal(typeof data.message, 'string');
      },
      'an id that is none': async () =>
        refused(
          c((sc) => sc.tracks.getTrack('silence')),
          400,
          404,
        ),
      'a comment of nothing': async () => {
        s.id = await put(c, 'Silence');
        const { status } = await c((sc) => sc.raw.post(`/tracks/${s.id}/comments`, { comment: { timestamp: 5 } }));
        assert.equal(status, 422);
      },
      'there is no comment': async () => assert.deepEqual(rows(await c((sc) => sc.tracks.getComments(s.id))), []),
      'a change of a playlist that is not there': async () =>
        refused(
          c((sc) => sc.playlists.update(nobodys, { title: 'Nothing' })),
          404,
        ),
      'a deletion of a track that is not there': async () =>
        refused(
          c((sc) => sc.tracks.delete(nobodys)),
          404,
        ),
      'a track without a sound': async () => {
        const body = new FormData();
        body.set('track[title]', 'Nothing at all');
        await refused(
          c(() => scFetch({ path: '/tracks', method: 'POST', token: c.token, body })),
          400,
        );
      },
    }),
  },
};
