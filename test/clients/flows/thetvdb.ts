import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { given, numbered, once, type Place, refused, type State, statusOf, type Vendor } from '../kit.ts';

type Language = { readonly id: number; readonly abbreviation: string; readonly name: string; readonly englishName: string };
type Update = { readonly id: number; readonly lastUpdated: number };
type Found = { readonly id: number; readonly seriesName: string; readonly slug?: string };
type Series = Found & {
  readonly imdbId?: string;
  readonly zap2itId?: string;
  readonly network?: string;
  readonly status?: string;
  readonly banner?: string;
};
type Episode = {
  readonly id: number;
  readonly airedSeason: number;
  readonly airedEpisodeNumber: number;
  readonly absoluteNumber?: number;
  readonly episodeName?: string;
  readonly firstAired?: string;
  readonly seriesId?: number | string;
};
type Actor = { readonly id: number; readonly seriesId: number; readonly name: string; readonly role: string };
type Image = { readonly id: number; readonly keyType: string; readonly subKey?: string; readonly resolution?: string };
type Kind = { readonly keyType: string; readonly resolution?: readonly string[]; readonly subKey?: readonly string[] };
type Rating = { readonly ratingType: string; readonly ratingItemId: number; readonly rating: number };
type Options = {
  readonly query?: Readonly<Record<string, string | number>>;
  readonly lang?: string;
  readonly getAllPages?: boolean;
};

/** The parts of the client that are used here: it has no types of its own. */
interface Tvdb {
  getToken: () => Promise<string>;
  getLanguages(): Promise<readonly Language[]>;
  getUpdates(from: number, to?: number): Promise<readonly Update[] | null>;
  getSeriesById(id: number, options?: Options): Promise<Series>;
  getSeriesAllById(id: number): Promise<Series & { readonly episodes: readonly Episode[] }>;
  getSeriesByName(name: string): Promise<readonly Found[]>;
  getSeriesByImdbId(id: string): Promise<readonly Found[]>;
  getSeriesByZap2ItId(id: string): Promise<readonly Found[]>;
  getEpisodeById(id: number, options?: Options): Promise<Episode>;
  getEpisodesBySeriesId(id: number, options?: Options): Promise<readonly Episode[]>;
  getActors(id: number): Promise<readonly Actor[]>;
  getSeriesBanner(id: number): Promise<string>;
  getSeriesImages(id: number, type: string | null, options?: Options): Promise<readonly Image[]>;
  getSeriesPosters(id: number): Promise<readonly Image[]>;
  sendRequest<Data>(path: string, options?: Options): Promise<Data>;
}
type Made = new (key: string, language?: string) => Tvdb;

const require = createRequire(import.meta.url);
const service = 'https://api.thetvdb.com';
const most = 60;

/** The client knows one address alone: it is loaded with a transport which asks the place instead. */
const load = (place: Place): Made => {
  const name = require.resolve('node-tvdb');
  const transport = createRequire(name).resolve('node-fetch');
  const [client, fetched] = [require.cache[name], require.cache[transport]];
  const send = async (url: string, options: RequestInit): Promise<Response> => {
    assert.ok(url.startsWith(`${service}/`), `not an address of the service: ${url}`);
    const page = Number(new URL(url).searchParams.get('page') ?? 1);
    assert.ok(page <= most, `the list did not end after ${most} pages`);
    return fetch(place.base + url.slice(service.length), options);
  };
  const own: NodeJS.Module = Object.assign(Object.create(null), {
    id: transport,
    filename: transport,
    loaded: true,
    exports: send,
  });
  require.cache[transport] = own;
  delete require.cache[name];
  try {
    return require('node-tvdb') as Made;
  } finally {
    delete require.cache[name];
    delete require.cache[transport];
    if (client) require.cache[name] = client;
    if (fetched) require.cache[transport] = fetched;
  }
};

const apiKey = '9E5B3C4A1F7D2068';
/** The token that the client would get for its key is given to it. */
const connect = (place: Place, token: string): Tvdb => {
  const client = new (load(place))(apiKey);
  client.getToken = () => Promise.resolve(token);
  return client;
};

const nothing = 999_999_999;
const nobody = 'eyJhbGciOiJIUzI1NiJ9.bm9ib2R5.bm9ib2R5';
const week = 7 * 24 * 60 * 60;
const now = (): number => Math.floor(Date.now() / 1000);
const text = (ids: readonly { readonly id: number }[]): string[] => ids.map(({ id }) => String(id));

/** A list that answers 404 when it has nothing is empty. */
const orNone = async <Row>(call: Promise<readonly Row[] | null>): Promise<readonly Row[]> => {
  try {
    return (await call) ?? [];
  } catch (thrown) {
    if (statusOf(thrown) === 404) return [];
    throw thrown;
  }
};

/** Series that changed within the last week, or, where none did, those of any time. */
const changed = async (tvdb: Tvdb): Promise<readonly Update[]> => {
  const lately = await orNone(tvdb.getUpdates(now() - week, now()));
  const all = lately.length > 0 ? lately : await orNone(tvdb.getUpdates(1));
  assert.ok(all.length > 0, 'no series has changed');
  return all;
};
const someSeries = async (tvdb: Tvdb, s: State): Promise<void> => {
  s.series = String(given((await changed(tvdb))[0], 'series').id);
};
const page = (tvdb: Tvdb, id: string, number: number): Promise<readonly Episode[]> =>
  orNone(tvdb.getEpisodesBySeriesId(Number(id), { getAllPages: false, query: { page: number } }));

/** A series of which there are episodes, and one of them. */
const someEpisode = async (tvdb: Tvdb, s: State): Promise<void> => {
  for (const { id } of (await changed(tvdb)).slice(0, 10)) {
    const episode = (await page(tvdb, String(id), 1))[0];
    if (episode === undefined) continue;
    [s.series, s.episode, s.season, s.number] = [id, episode.id, episode.airedSeason, episode.airedEpisodeNumber].map(String);
    return;
  }
  assert.fail('no series has episodes');
};

/** Guide: api.thetvdb.com/swagger (version 3), and the documentation of node-tvdb. */
export const vendor: Vendor<Tvdb> = {
  document: 'thetvdb/thetvdb.com.json',
  header: 'Authorization',
  word: 'Bearer',
  made: 'eyJhbGciOiJIUzI1NiJ9.bWFkZS11cA.bWFkZS11cA',
  hides: true,
  client: connect,
  strict: ['a token that is refused'],
  flows: {
    'from a key to a session': (_, s, _another, place) => {
      const fresh = new (load(place))(apiKey);
      return {
        'the client logs in': async () => {
          s.token = await fresh.getToken();
          assert.ok(typeof s.token === 'string' && s.token.length > 0);
        },
        'once is enough': async () => assert.equal(await fresh.getToken(), s.token),
        'it is let in': async () => assert.ok((await fresh.getLanguages()).length > 0),
        'another client with the token': async () => assert.ok((await connect(place, s.token).getLanguages()).length > 0),
        'the token is prolonged': () => connect(place, s.token).sendRequest('refresh_token'),
        'without a key there is no client': () => assert.rejects(async () => new (load(place))(''), /API key/),
      };
    },

    languages: (tvdb, s) => ({
      'there are some': async () => {
        const all = await tvdb.getLanguages();
        const one = given(all[0], 'language');
        [s.abbreviation, s.all] = [one.abbreviation, text(all).join(' ')];
      },
      'each is there once': async () => once(text(await tvdb.getLanguages()), s.all.split(' '), 'languages'),
      'each has its names': async () => {
        for (const { id, abbreviation, name, englishName } of await tvdb.getLanguages())
          assert.deepEqual(
            [id, abbreviation, name, englishName].map((value) => typeof value),
            ['number', 'string', 'string', 'string'],
          );
      },
      'a series': () => someSeries(tvdb, s),
      'in one of them': async () => {
        const { id } = await tvdb.getSeriesById(Number(s.series), { lang: s.abbreviation });
        assert.equal(String(id), s.series);
      },
      'one that is not there': () => refused(tvdb.sendRequest(`languages/${nothing}`), 404),
    }),

    'what has changed': (tvdb, s) => ({
      'some series': async () => {
        const all = await changed(tvdb);
        for (const { id, lastUpdated } of all) assert.ok(Number.isInteger(id) && Number.isInteger(lastUpdated));
        const [first] = all;
        [s.id, s.at] = [String(given(first, 'update').id), String(given(first, 'update').lastUpdated)];
      },
      'since the second in which it changed': async () => {
        const all = await orNone(tvdb.getUpdates(Number(s.at)));
        once(text(all), [s.id], 'updates');
        assert.deepEqual(
          all.filter(({ lastUpdated }) => lastUpdated < Number(s.at)),
          [],
        );
      },
      'not before it': async () => {
        const all = await orNone(tvdb.getUpdates(Math.max(0, Number(s.at) - 3600), Number(s.at) - 1));
        assert.ok(!all.some(({ id, lastUpdated }) => String(id) === s.id && lastUpdated === Number(s.at)));
      },
      'none in days to come': async () => assert.deepEqual(await orNone(tvdb.getUpdates(now() + 4 * week)), []),
      'what it can be asked by': async () => {
        const by = await tvdb.sendRequest<readonly string[]>('updated/query/params');
        assert.ok(by.length > 0 && by.every((name) => typeof name === 'string'));
      },
      'the series itself': async () => assert.equal(String((await tvdb.getSeriesById(Number(s.id))).id), s.id),
    }),

    'a series': (tvdb, s) => ({
      'one that changed': () => someSeries(tvdb, s),
      read: async () => {
        const series = await tvdb.getSeriesById(Number(s.series));
        assert.equal(String(series.id), s.series);
        s.name = given(series.seriesName, 'seriesName');
      },
      'the same again': async () => assert.equal((await tvdb.getSeriesById(Number(s.series))).seriesName, s.name),
      'with its episodes': async () => {
        const all = await tvdb.getSeriesAllById(Number(s.series));
        assert.deepEqual([String(all.id), all.seriesName, Array.isArray(all.episodes)], [s.series, s.name, true]);
      },
      'found by its name': async () => {
        const found = await tvdb.getSeriesByName(s.name);
        once(text(found), [s.series], 'series');
        assert.equal(
          given(
            found.find(({ id }) => String(id) === s.series),
            'series',
          ).seriesName,
          s.name,
        );
      },
      'a name that none has': () => refused(tvdb.getSeriesByName('zzqx no series has this name qxzz'), 404),
    }),

    'a series by what others call it': (tvdb, s) => ({
      'one that changed': () => someSeries(tvdb, s),
      'its other names': async () => {
        const { imdbId, zap2itId, slug } = await tvdb.getSeriesById(Number(s.series));
        [s.imdb, s.zap2it, s.slug] = [given(imdbId, 'imdbId'), given(zap2itId, 'zap2itId'), given(slug, 'slug')];
      },
      'of the IMDB': async () => {
        if (s.imdb !== '') once(text(await tvdb.getSeriesByImdbId(s.imdb)), [s.series], 'series');
      },
      'of Zap2it': async () => {
        if (s.zap2it !== '') once(text(await tvdb.getSeriesByZap2ItId(s.zap2it)), [s.series], 'series');
      },
      'of its page': async () => {
        const found = await tvdb.sendRequest<readonly Found[]>('search/series', { query: { slug: s.slug } });
        assert.deepEqual(text(found), [s.series]);
      },
      'an id that the IMDB has not': () => refused(tvdb.getSeriesByImdbId('tt9999999999'), 404),
      'one that Zap2it has not': () => refused(tvdb.getSeriesByZap2ItId('EP999999999999'), 404),
      'what can be searched by': async () => {
        const by = await tvdb.sendRequest<unknown>('search/series/params');
        assert.equal(typeof by, 'object');
      },
    }),

    'parts of a series': (tvdb, s) => ({
      'one that changed': () => someSeries(tvdb, s),
      'all of it': async () => {
        const { seriesName, status } = await tvdb.getSeriesById(Number(s.series));
        [s.name, s.status] = [seriesName, given(status, 'status')];
      },
      'which parts there are': async () => {
        given(await tvdb.sendRequest<unknown>(`series/${s.series}/filter/params`), 'data');
      },
      'its name alone': async () => {
        const part = await tvdb.sendRequest<Series>(`series/${s.series}/filter`, { query: { keys: 'seriesName' } });
        assert.equal(part.seriesName, s.name);
        assert.deepEqual([part.status, part.network], [undefined, undefined]);
      },
      'two of them': async () => {
        const part = await tvdb.sendRequest<Series>(`series/${s.series}/filter`, { query: { keys: 'seriesName,status' } });
        assert.deepEqual([part.seriesName, part.status, part.network], [s.name, s.status, undefined]);
      },
      'its banner': async () =>
        assert.equal(await tvdb.getSeriesBanner(Number(s.series)), (await tvdb.getSeriesById(Number(s.series))).banner),
      'of a series that is not there': () => refused(tvdb.getSeriesBanner(nothing), 404),
    }),

    'episodes page by page': (tvdb, s) => ({
      'a series that has some': () => someEpisode(tvdb, s),
      'not more than a hundred on a page': async () => {
        const first = await page(tvdb, s.series, 1);
        assert.ok(first.length > 0 && first.length <= 100, `${first.length} on a page`);
      },
      'the first page is the one without a number': async () =>
        assert.deepEqual(
          text(await tvdb.getEpisodesBySeriesId(Number(s.series), { getAllPages: false })),
          text(await page(tvdb, s.series, 1)),
        ),
      'page by page, each once': async () => {
        const all = text(await numbered((number) => page(tvdb, s.series, number)));
        s.all = all.join(' ');
        once(all, all, 'episodes');
      },
      'as the client walks by itself': async () => {
        const all = s.all.split(' ');
        const walked = text(await tvdb.getEpisodesBySeriesId(Number(s.series)));
        assert.equal(walked.length, all.length);
        once(walked, all, 'episodes');
      },
      'a series that is not there': () => refused(tvdb.getEpisodesBySeriesId(nothing), 404),
    }),

    'an episode': (tvdb, s) => ({
      'of a series that has some': () => someEpisode(tvdb, s),
      read: async () => {
        const episode = await tvdb.getEpisodeById(Number(s.episode));
        assert.deepEqual([episode.id, episode.airedSeason, episode.airedEpisodeNumber].map(String), [
          s.episode,
          s.season,
          s.number,
        ]);
      },
      'it is one of its series': async () =>
        assert.equal(String((await tvdb.getEpisodeById(Number(s.episode))).seriesId), s.series),
      'it is as in the list': async () => {
        const listed = (await page(tvdb, s.series, 1)).find(({ id }) => String(id) === s.episode);
        assert.equal((await tvdb.getEpisodeById(Number(s.episode))).episodeName, given(listed, 'episode').episodeName);
      },
      'in another language it is the same': async () =>
        assert.equal(String((await tvdb.getEpisodeById(Number(s.episode), { lang: 'de' })).id), s.episode),
      'one that is not there': () => refused(tvdb.getEpisodeById(nothing), 404),
    }),

    'episodes that are looked for': (tvdb, s) => {
      const asked = (query: Record<string, string | number>): Promise<readonly Episode[]> =>
        tvdb.getEpisodesBySeriesId(Number(s.series), { query, getAllPages: false });
      return {
        'a series that has some': () => someEpisode(tvdb, s),
        'those of a season': async () => {
          const found = await asked({ airedSeason: s.season });
          once(text(found), [s.episode], 'episodes');
          assert.deepEqual(
            found.filter(({ airedSeason }) => String(airedSeason) !== s.season),
            [],
          );
        },
        'one of a season': async () => {
          const found = await asked({ airedSeason: s.season, airedEpisode: s.number });
          once(text(found), [s.episode], 'episodes');
          const others = found.filter(
            ({ airedSeason, airedEpisodeNumber }) => String(airedSeason) !== s.season || String(airedEpisodeNumber) !== s.number,
          );
          assert.deepEqual(others, []);
        },
        'by its number in all': async () => {
          const { absoluteNumber } = await tvdb.getEpisodeById(Number(s.episode));
          if (absoluteNumber === undefined || absoluteNumber === null) return;
          const found = await asked({ absoluteNumber });
          once(text(found), [s.episode], 'episodes');
          assert.ok(found.every((one) => one.absoluteNumber === absoluteNumber));
        },
        'a season that there is not': () => refused(asked({ airedSeason: 98_765 }), 404),
        'an episode that there is not': () => refused(asked({ airedSeason: s.season, airedEpisode: 98_765 }), 404),
        'what they can be asked by': async () => {
          const by = await tvdb.sendRequest<readonly string[]>(`series/${s.series}/episodes/query/params`);
          assert.ok(by.length > 0 && by.every((name) => typeof name === 'string'));
        },
      };
    },

    'who plays in it': (tvdb, s) => ({
      'a series': () => someSeries(tvdb, s),
      actors: async () => {
        const actors = await orNone(tvdb.getActors(Number(s.series)));
        for (const { id, name, role } of actors)
          assert.deepEqual(
            [id, name, role].map((value) => typeof value),
            ['number', 'string', 'string'],
          );
        s.actors = text(actors).join(' ');
      },
      'each is there once': async () => {
        const all = s.actors.split(' ').filter((id) => id !== '');
        once(text(await orNone(tvdb.getActors(Number(s.series)))), all, 'actors');
      },
      'each plays in this one': async () => {
        const actors = await orNone(tvdb.getActors(Number(s.series)));
        assert.deepEqual(
          actors.filter(({ seriesId }) => String(seriesId) !== s.series),
          [],
        );
      },
      'in a series that is not there': () => refused(tvdb.getActors(nothing), 404),
    }),

    'pictures of a series': (tvdb, s) => ({
      'a series': () => someSeries(tvdb, s),
      'how many of each kind': async () => {
        const counts = await tvdb.sendRequest<Record<string, number>>(`series/${s.series}/images`);
        assert.ok(Object.values(counts).every((count) => Number.isInteger(count) && count >= 0));
      },
      'which kinds': async () => {
        const kinds = await orNone(tvdb.sendRequest<readonly Kind[]>(`series/${s.series}/images/query/params`));
        const kind = given(kinds[0], 'kind of picture');
        [s.kind, s.resolution] = [kind.keyType, given(kind.resolution?.[0], 'resolution')];
      },
      'those of a kind': async () => {
        const images = await tvdb.getSeriesImages(Number(s.series), s.kind);
        assert.ok(images.length > 0);
        assert.deepEqual(
          images.filter(({ keyType }) => keyType !== s.kind),
          [],
        );
      },
      'and of a size': async () => {
        const images = await tvdb.sendRequest<readonly Image[]>(`series/${s.series}/images/query`, {
          query: { keyType: s.kind, resolution: s.resolution },
        });
        assert.ok(images.length > 0);
        assert.ok(images.every(({ keyType, resolution }) => keyType === s.kind && resolution === s.resolution));
      },
      'posters are posters': async () => {
        const posters = await orNone(tvdb.getSeriesPosters(Number(s.series)));
        assert.deepEqual(
          posters.filter(({ keyType }) => keyType !== 'poster'),
          [],
        );
      },
      'a kind that there is not': () => refused(tvdb.getSeriesImages(Number(s.series), 'hologram'), 404),
      'of a series that is not there': () => refused(tvdb.getSeriesPosters(nothing), 404),
    }),

    'what a user likes': (tvdb) => ({
      'who it is': async () => {
        const user = await tvdb.sendRequest<{ readonly userName: string }>('user');
        assert.equal(typeof user.userName, 'string');
      },
      favorites: async () => {
        const { favorites } = await tvdb.sendRequest<{ readonly favorites: readonly string[] }>('user/favorites');
        assert.ok(favorites.every((id) => typeof id === 'string'));
      },
      ratings: async () => {
        const ratings = await orNone(tvdb.sendRequest<readonly Rating[]>('user/ratings', { getAllPages: false }));
        assert.ok(ratings.every(({ rating, ratingItemId }) => Number.isInteger(rating) && Number.isInteger(ratingItemId)));
      },
      'ratings of series': async () => {
        const query = { itemType: 'series' };
        const ratings = await orNone(tvdb.sendRequest<readonly Rating[]>('user/ratings/query', { query, getAllPages: false }));
        assert.deepEqual(
          ratings.filter(({ ratingType }) => ratingType !== 'series'),
          [],
        );
      },
      'ratings of episodes': async () => {
        const query = { itemType: 'episode' };
        const ratings = await orNone(tvdb.sendRequest<readonly Rating[]>('user/ratings/query', { query, getAllPages: false }));
        assert.deepEqual(
          ratings.filter(({ ratingType }) => ratingType !== 'episode'),
          [],
        );
      },
      'what they can be asked by': async () => {
        const by = await tvdb.sendRequest<readonly string[]>('user/ratings/query/params');
        assert.ok(by.length > 0);
      },
    }),

    'what is not there': (tvdb) => ({
      'a series': async () => {
        const thrown = await refused(tvdb.getSeriesById(nothing), 404);
        assert.equal(typeof (thrown as Error).message, 'string');
      },
      'all of a series': () => refused(tvdb.getSeriesAllById(nothing), 404),
      'a summary of its episodes': () => refused(tvdb.sendRequest(`series/${nothing}/episodes/summary`), 404),
      'how many pictures it has': () => refused(tvdb.sendRequest(`series/${nothing}/images`), 404),
      'its parts': () => refused(tvdb.sendRequest(`series/${nothing}/filter/params`), 404),
      'a movie': () => refused(tvdb.sendRequest(`movies/${nothing}`), 404),
      'movies since no time': () => refused(tvdb.sendRequest('movieupdates'), 405),
    }),

    'a token that is refused': (tvdb, s, another) => ({
      'the right one': async () => assert.ok((await tvdb.getLanguages()).length > 0),
      'no languages for another': () => refused(another(nobody).getLanguages(), 401),
      'no updates': () => refused(another(nobody).getUpdates(now() - week), 401),
      'no search': () => refused(another(nobody).getSeriesByName('The Simpsons'), 401),
      'no series': async () => {
        await someSeries(tvdb, s);
        await refused(another(nobody).getSeriesById(Number(s.series)), 401);
      },
      'no favorites': () => refused(another(nobody).sendRequest('user/favorites'), 401),
      'the right one still': async () => assert.equal(String((await tvdb.getSeriesById(Number(s.series))).id), s.series),
    }),
  },
};
