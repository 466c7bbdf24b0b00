import assert from 'node:assert/strict';
import { type IValidateResponses, SpotifyApi } from '@spotify/web-api-ts-sdk';
import { given, numbered, once, refused, type Vendor } from '../kit.ts';

// Its own validator throws without the status; this one is handed in by the option for it, and keeps the status.
const responseValidator: IValidateResponses = {
  async validateResponse(answer) {
    if (!answer.ok) throw Object.assign(new Error(`${answer.status} ${await answer.text()}`), { status: answer.status });
  },
};

const ids = (rows: readonly { readonly id: string }[]): string[] => rows.map(({ id }) => id);
const track = (name: string): string => `spotify:track:${name.padEnd(22, '0')}`;

// https://developer.spotify.com/documentation/web-api
export const vendor: Vendor<SpotifyApi> = {
  document: 'spotify/spotify.com.json',
  header: 'authorization',
  word: 'Bearer',
  made: 'BQDfNoH1jcOLgGAtc7XlX5VUE1l8k6oMaa6U',
  client: (place, token) =>
    SpotifyApi.withAccessToken(
      'f4e3d2c1b0a9',
      { access_token: token, token_type: 'Bearer', expires_in: 3600, refresh_token: 'none' },
      {
        // It has no option for its base address; what it fetches with is one.
        fetch: (url, init) => fetch(String(url).replace('https://api.spotify.com/v1', place.base), init),
        responseValidator,
      },
    ),
  strict: ['a wrong token is refused'],
  flows: {
    'who the token is of': (api, s) => ({
      'its profile': async () => {
        const me = await api.currentUser.profile();
        s.id = given(me.id, 'id');
        assert.equal(typeof me.uri, 'string');
      },
      'the same for others to see': async () => {
        assert.equal((await api.users.profile(s.id)).id, s.id);
      },
    }),

    'a playlist made, read, changed': (api, s) => ({
      made: async () => {
        const me = await api.currentUser.profile();
        const made = await api.playlists.createPlaylist(me.id, { name: 'Rainy days', description: 'Slow', public: false });
        assert.equal(made.name, 'Rainy days');
        assert.equal(made.public, false);
        s.id = made.id;
      },
      'read as it was made': async () => {
        const read = await api.playlists.getPlaylist(s.id);
        assert.equal(read.id, s.id);
        assert.equal(read.description, 'Slow');
      },
      'its name changed': () => api.playlists.changePlaylistDetails(s.id, { name: 'Stormy days' }),
      'read with it, its description kept': async () => {
        const read = await api.playlists.getPlaylist(s.id);
        assert.equal(read.name, 'Stormy days');
        assert.equal(read.description, 'Slow');
      },
    }),

    'playlists through all pages': (api, s) => ({
      'five are made': async () => {
        const me = await api.currentUser.profile();
        const made: string[] = [];
        for (const name of ['One', 'Two', 'Three', 'Four', 'Five'])
          made.push((await api.playlists.createPlaylist(me.id, { name })).id);
        assert.equal(new Set(made).size, 5);
        s.ids = made.join(',');
      },
      'a page says what it is': async () => {
        const page = await api.currentUser.playlists.playlists(2, 0);
        assert.equal(page.items.length, 2);
        assert.equal(page.limit, 2);
        assert.equal(page.offset, 0);
        assert.equal(typeof page.next, 'string');
        assert.equal(page.previous, null);
        assert.ok(page.total >= 5);
      },
      'all pages together hold each once': async () => {
        const all = await numbered(async (page) => (await api.currentUser.playlists.playlists(2, page * 2)).items, 0);
        once(ids(all), s.ids.split(','), 'playlists');
      },
      'the last page has none after it': async () => {
        const { total } = await api.currentUser.playlists.playlists(2, 0);
        const page = await api.currentUser.playlists.playlists(2, total - 1);
        assert.equal(page.items.length, 1);
        assert.equal(page.next, null);
      },
    }),

    'the playlists of a user': (api, s) => ({
      'one is made': async () => {
        const me = await api.currentUser.profile();
        s.user = me.id;
        s.id = (await api.playlists.createPlaylist(me.id, { name: 'For all', public: true })).id;
      },
      'the user has it': async () => {
        const { items } = await api.playlists.getUsersPlaylists(s.user, 50);
        once(ids(items), [s.id], 'playlists');
      },
    }),

    'items put into a playlist and taken out': (api, s) => ({
      'a playlist': async () => {
        const me = await api.currentUser.profile();
        s.id = (await api.playlists.createPlaylist(me.id, { name: 'Mix' })).id;
      },
      'three are put in': () => api.playlists.addItemsToPlaylist(s.id, [track('a'), track('b'), track('c')]),
      'it holds three': async () => {
        const { items, total } = await api.playlists.getPlaylistItems(s.id);
        assert.equal(total, 3);
        assert.deepEqual(
          items.map((item) => item.track.uri),
          [track('a'), track('b'), track('c')],
        );
      },
      'one is taken out': () => api.playlists.removeItemsFromPlaylist(s.id, { tracks: [{ uri: track('b') }] }),
      'it holds two': async () => {
        const { items } = await api.playlists.getPlaylistItems(s.id);
        assert.deepEqual(
          items.map((item) => item.track.uri),
          [track('a'), track('c')],
        );
      },
    }),

    'items of a playlist replaced and moved': (api, s) => ({
      'a playlist with one': async () => {
        const me = await api.currentUser.profile();
        s.id = (await api.playlists.createPlaylist(me.id, { name: 'Moving' })).id;
        await api.playlists.addItemsToPlaylist(s.id, [track('z')]);
      },
      'all are replaced': async () => {
        const answer = await api.playlists.updatePlaylistItems(s.id, { uris: [track('x'), track('y')] });
        given(answer.snapshot_id, 'snapshot_id');
      },
      'the second becomes the first': async () => {
        const answer = await api.playlists.movePlaylistItems(s.id, 1, 1, 0);
        given(answer.snapshot_id, 'snapshot_id');
      },
    }),

    'a playlist followed, and no more': (api, s) => ({
      'made and followed': async () => {
        const me = await api.currentUser.profile();
        s.user = me.id;
        s.id = (await api.playlists.createPlaylist(me.id, { name: 'To follow', public: true })).id;
        await api.currentUser.playlists.follow(s.id);
      },
      'is followed': async () => {
        assert.deepEqual(await api.currentUser.playlists.isFollowing(s.id, [s.user]), [true]);
      },
      'no longer wanted': () => api.currentUser.playlists.unfollow(s.id),
      'is followed no more': async () => {
        assert.deepEqual(await api.currentUser.playlists.isFollowing(s.id, [s.user]), [false]);
      },
    }),

    'the cover of a playlist': (api, s) => ({
      'a playlist': async () => {
        const me = await api.currentUser.profile();
        s.id = (await api.playlists.createPlaylist(me.id, { name: 'With a cover' })).id;
      },
      'gets a picture': () => api.playlists.addCustomPlaylistCoverImageFromBase64String(s.id, '/9j/4AAQSkZJRgABAQ=='),
      'its pictures are a list': async () => {
        assert.ok(Array.isArray(await api.playlists.getPlaylistCoverImage(s.id)));
      },
    }),

    'shows saved': (api) => ({
      'two are saved': () => api.currentUser.shows.saveShows(['5CfCWKI5pZ28U0uOzXkDHe', '5as3aKmN2k11yfDDDSrvaZ']),
      'both are': async () => {
        const saved = await api.currentUser.shows.hasSavedShow(['5CfCWKI5pZ28U0uOzXkDHe', '5as3aKmN2k11yfDDDSrvaZ']);
        assert.deepEqual(saved, [true, true]);
      },
      'one is let go': () => api.currentUser.shows.removeSavedShows(['5CfCWKI5pZ28U0uOzXkDHe']),
      'the other is left': async () => {
        const saved = await api.currentUser.shows.hasSavedShow(['5CfCWKI5pZ28U0uOzXkDHe', '5as3aKmN2k11yfDDDSrvaZ']);
        assert.deepEqual(saved, [false, true]);
      },
    }),

    'what is searched for': (api) => ({
      'artists are found as artists': async () => {
        const found = await api.search('Miles Davis', ['artist'], undefined, 5);
        assert.ok(found.artists.items.length <= 5);
        for (const artist of found.artists.items) assert.equal(artist.type, 'artist');
      },
      'tracks and albums at once': async () => {
        const found = await api.search('Kind of Blue', ['track', 'album']);
        assert.ok(Array.isArray(found.tracks.items));
        assert.ok(Array.isArray(found.albums.items));
      },
    }),

    'from an artist to its albums': (api, s) => ({
      'an artist is found': async () => {
        const found = await api.search('Miles Davis', ['artist'], undefined, 1);
        s.artist = given(found.artists.items[0], 'artist').id;
      },
      'and read': async () => assert.equal((await api.artists.get(s.artist)).id, s.artist),
      'its albums': async () => {
        const { items } = await api.artists.albums(s.artist, undefined, undefined, 5);
        assert.ok(items.length <= 5);
      },
      'its best known tracks': async () => {
        assert.ok(Array.isArray((await api.artists.topTracks(s.artist, 'SE')).tracks));
      },
    }),

    'the player told what to do': (api) => ({
      'its devices': async () => assert.ok(Array.isArray((await api.player.getAvailableDevices()).devices)),
      quieter: () => api.player.setPlaybackVolume(30),
      'once more': () => api.player.setRepeatMode('track'),
      'in any order': () => api.player.togglePlaybackShuffle(true),
      'from the beginning': () => api.player.seekToPosition(0),
      'the next': () => api.player.skipToNext('74ASZWbe4lXaubB36ztrGX'),
      stopped: () => api.player.pausePlayback('74ASZWbe4lXaubB36ztrGX'),
      'something put on the queue': () => api.player.addItemToPlaybackQueue(track('q')),
    }),

    'what is on offer': (api) => ({
      'categories, a page of three': async () => {
        const { categories } = await api.browse.getCategories(undefined, undefined, 3);
        assert.equal(categories.limit, 3);
      },
      'new releases': async () => assert.ok(Array.isArray((await api.browse.getNewReleases(undefined, 5)).albums.items)),
      'genres to start from': async () => assert.ok(Array.isArray((await api.recommendations.genreSeeds()).genres)),
      'the countries served': async () => assert.ok(Array.isArray((await api.markets.getAvailableMarkets()).markets)),
    }),

    'a wrong token is refused': (_api, _s, another) => ({
      'a profile': () => refused(another('expired').currentUser.profile(), 401),
      'a playlist': () => refused(another('expired').playlists.createPlaylist('someone', { name: 'Not mine' }), 401),
    }),

    'what is not there, and what is not right': (api) => ({
      'no such playlist': () => refused(api.playlists.getPlaylist('0000000000000000000000'), 404),
      'no such playlist to change': () =>
        refused(api.playlists.changePlaylistDetails('0000000000000000000000', { name: 'X' }), 404),
      'a playlist without a name': async () => {
        const me = await api.currentUser.profile();
        await refused(api.playlists.createPlaylist(me.id, {} as never), 400);
      },
      'louder than all': () => refused(api.player.setPlaybackVolume(700), 400),
    }),
  },
};
