import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { given, once, type Place, pages, refused, type Vendor } from '../kit.ts';

interface Podcast {
  readonly id: string;
  readonly title: string;
  readonly publisher: string;
  readonly rss?: string | null;
  readonly itunes_id?: number | null;
  readonly language?: string;
  readonly total_episodes?: number;
  readonly latest_episode_id?: string;
}

interface Episode {
  readonly id: string;
  readonly title: string;
  readonly audio: string;
  readonly pub_date_ms: number;
}

interface EpisodeOfPodcast extends Episode {
  readonly podcast: Podcast;
  readonly transcript?: string | null;
}

interface PodcastFull extends Podcast {
  readonly episodes: readonly Episode[];
  readonly next_episode_pub_date?: number | null;
}

interface Numbered {
  readonly has_next: boolean;
  readonly has_previous: boolean;
  readonly page_number: number;
  readonly next_page_number: number;
  readonly previous_page_number: number;
}

interface Best extends Numbered {
  readonly id: number;
  readonly name: string;
  readonly total: number;
  readonly podcasts: readonly Podcast[];
}

interface Genre {
  readonly id: number;
  readonly name: string;
  readonly parent_id?: number | null;
}

/** A result of a search for episodes, podcasts or curated lists. */
interface Hit {
  readonly id: string;
  readonly title_original: string;
  readonly podcast?: { readonly id: string };
  readonly pub_date_ms?: number;
  readonly audio_length_sec?: number;
}

interface Found {
  readonly count: number;
  readonly total: number;
  readonly next_offset: number;
  readonly results: readonly Hit[];
}

interface Curated {
  readonly id: string;
  readonly title: string;
  readonly total: number;
  readonly podcasts: readonly Podcast[];
}

interface Playlist {
  readonly id: string;
  readonly name: string;
}

interface PlaylistFull extends Playlist {
  readonly type: string;
  readonly total: number;
  readonly items: readonly { readonly id: number; readonly type: string }[];
}

interface Suggestions {
  readonly terms: readonly string[];
  readonly genres?: readonly Genre[];
  readonly podcasts?: readonly { readonly id: string }[];
}

type Fields = Readonly<Record<string, string | number>>;
type Ask<Data, Params = Fields> = (params: Params) => Promise<{ readonly data: Data; readonly status: number }>;
type Named = Fields & { readonly id: string };

/** The parts of the client that are used here: it has no types of its own. */
interface Listen {
  readonly httpClient: { readonly defaults: { baseURL?: string } };
  readonly search: Ask<Found>;
  readonly typeahead: Ask<Suggestions>;
  readonly spellcheck: Ask<{
    readonly tokens: readonly { readonly token: string; readonly offset: number; readonly suggestion: string }[];
    readonly corrected_text_html: string;
  }>;
  readonly fetchRelatedSearches: Ask<{ readonly terms: readonly string[] }>;
  readonly fetchTrendingSearches: Ask<{ readonly terms: readonly string[] }>;
  readonly fetchBestPodcasts: Ask<Best>;
  readonly fetchPodcastById: Ask<PodcastFull, Named>;
  readonly fetchEpisodeById: Ask<EpisodeOfPodcast, Named>;
  readonly batchFetchPodcasts: Ask<{
    readonly podcasts: readonly Podcast[];
    readonly latest_episodes?: readonly EpisodeOfPodcast[];
  }>;
  readonly batchFetchEpisodes: Ask<{ readonly episodes: readonly EpisodeOfPodcast[] }>;
  readonly fetchCuratedPodcastsListById: Ask<Curated, Named>;
  readonly fetchCuratedPodcastsLists: Ask<Numbered & { readonly total: number; readonly curated_lists: readonly Curated[] }>;
  readonly fetchPodcastGenres: Ask<{ readonly genres: readonly Genre[] }>;
  readonly fetchPodcastRegions: Ask<{ readonly regions: Readonly<Record<string, string>> }>;
  readonly fetchPodcastLanguages: Ask<{ readonly languages: readonly string[] }>;
  readonly justListen: Ask<EpisodeOfPodcast>;
  readonly fetchRecommendationsForPodcast: Ask<{ readonly recommendations: readonly Podcast[] }, Named>;
  readonly fetchRecommendationsForEpisode: Ask<{ readonly recommendations: readonly EpisodeOfPodcast[] }, Named>;
  readonly fetchPlaylistById: Ask<PlaylistFull, Named>;
  readonly fetchMyPlaylists: Ask<Numbered & { readonly playlists: readonly Playlist[] }>;
  readonly submitPodcast: Ask<{ readonly status: string; readonly podcast: Podcast }>;
  readonly deletePodcast: Ask<{ readonly status: string }, { readonly id: string; readonly reason?: string }>;
  readonly fetchAudienceForPodcast: Ask<
    { readonly by_regions: readonly { readonly region: string; readonly ratio: string }[] },
    Named
  >;
  readonly fetchPodcastsByDomain: Ask<
    Numbered & { readonly podcasts: readonly Podcast[] },
    Fields & { readonly domain_name: string }
  >;
}

interface Module {
  readonly Client: (config: { readonly apiKey: string }) => Listen;
}

const found = createRequire(import.meta.url);

/** The client keeps its key and its address for the whole process: each caller has a copy of it. */
const load = (): Module => {
  const entry = found.resolve('podcast-api');
  delete found.cache[entry];
  delete found.cache[found.resolve('podcast-api/src/PodcastApiClientForNode.js')];
  return found(entry) as Module;
};

/** Its address is fixed: it is that of its axios which is set. */
const connect = (place: Place, token: string): Listen => {
  const client = load().Client({ apiKey: token });
  client.httpClient.defaults.baseURL = place.base;
  return client;
};

const nobody = '00000000000000000000000000000000';

const best = async (l: Listen): Promise<readonly Podcast[]> => (await l.fetchBestPodcasts({})).data.podcasts;
const first = async (l: Listen): Promise<Podcast> => given((await best(l))[0], 'best podcast');
const full = async (l: Listen, id: string): Promise<PodcastFull> => (await l.fetchPodcastById({ id })).data;
const idsOf = (rows: readonly { readonly id: string | number }[]): string[] => rows.map(({ id }) => String(id));
const different = (ids: readonly string[], what: string): void =>
  assert.equal(new Set(ids).size, ids.length, `${what} are there twice`);

/** What a search finds, as far as every plan may see it: thirty results. */
const all = async (l: Listen, params: Fields): Promise<Hit[]> => {
  let at = 0;
  return pages(
    async (from) => {
      at = Number(from ?? 0);
      return (await l.search({ ...params, offset: at })).data;
    },
    ({ results }) => results,
    ({ count, total, next_offset: next }) => (count > 0 && next > at && next < Math.min(total, 30) ? String(next) : undefined),
  );
};

/** The episodes of a podcast in pages, five of them at most: some have thousands. */
const episodes = async (l: Listen, id: string, sort: string): Promise<{ rows: Episode[]; whole: boolean }> => {
  let whole = false;
  const rows = await pages(
    async (from) => (await l.fetchPodcastById({ id, sort, ...(from === undefined ? {} : { next_episode_pub_date: from }) })).data,
    (page) => page.episodes,
    (() => {
      let number = 0;
      return ({ episodes: page, next_episode_pub_date: next }: PodcastFull) => {
        number += 1;
        whole = page.length === 0 || next === null || next === undefined;
        return whole || number === 5 ? undefined : String(next);
      };
    })(),
  );
  return { rows, whole };
};

const numbers = (page: Numbered, number: number): void => {
  assert.deepEqual([page.page_number, page.has_previous], [number, number > 1]);
  if (page.has_next) assert.equal(page.next_page_number, number + 1);
  if (page.has_previous) assert.equal(page.previous_page_number, number - 1);
};

/** Guide: listennotes.com/api/docs and the readme of `podcast-api`, with a key of a plan that may use everything. */
export const vendor: Vendor<Listen> = {
  document: 'listennotes/listennotes.com.json',
  header: 'x-listenapi-key',
  made: '0123456789abcdef0123456789abcdef',
  client: connect,
  strict: ['a key that is refused'],
  flows: {
    'a podcast, from the list of the best to its details': (l, s) => ({
      list: async () => {
        const { data } = await l.fetchBestPodcasts({});
        const one = given(data.podcasts[0], 'podcast');
        Object.assign(s, { id: one.id, title: one.title, publisher: one.publisher });
      },
      read: async () => {
        const { id, title, publisher } = await full(l, s.id);
        assert.deepEqual([id, title, publisher], [s.id, s.title, s.publisher]);
      },
      'no more than ten episodes': async () => assert.ok((await full(l, s.id)).episodes.length <= 10, 'there are more'),
      'its latest episode': async () => {
        const id = given((await full(l, s.id)).latest_episode_id, 'latest episode');
        const { data } = await l.fetchEpisodeById({ id });
        assert.deepEqual([data.id, data.podcast.id], [id, s.id]);
      },
      'read it again': async () => assert.equal((await full(l, s.id)).title, s.title),
      'its listeners': async () => {
        const { by_regions: regions } = (await l.fetchAudienceForPodcast({ id: s.id })).data;
        for (const { region, ratio } of regions) assert.deepEqual([typeof region, typeof ratio], ['string', 'string']);
      },
    }),

    'the best podcasts through all pages': (l, s) => ({
      genre: async () => {
        s.genre = String(given((await l.fetchPodcastGenres({ top_level_only: 1 })).data.genres[0], 'genre').id);
      },
      'the first page': async () => numbers((await l.fetchBestPodcasts({ genre_id: s.genre, page: 1 })).data, 1),
      'all pages': async () => {
        let total: number | undefined;
        const rows = await pages(
          async (from, number) => {
            const { data } = await l.fetchBestPodcasts({ genre_id: s.genre, page: Number(from ?? 1) });
            numbers(data, number);
            total ??= data.total;
            return data;
          },
          ({ podcasts }) => podcasts,
          ({ has_next: more, next_page_number: next }) => (more ? String(next) : undefined),
        );
        different(idsOf(rows), 'podcasts');
        assert.equal(rows.length, total);
      },
      'the same without a genre': async () => {
        const { data } = await l.fetchBestPodcasts({ page: 1 });
        numbers(data, 1);
        if (data.has_next) {
          const { data: second } = await l.fetchBestPodcasts({ page: 2 });
          numbers(second, 2);
          different([...idsOf(data.podcasts), ...idsOf(second.podcasts)], 'podcasts');
        }
      },
    }),

    'the best podcasts of a genre, a language, a region': (l, s) => ({
      genre: async () => {
        const one = given((await l.fetchPodcastGenres({ top_level_only: 1 })).data.genres[0], 'genre');
        Object.assign(s, { genre: String(one.id), name: one.name });
      },
      'of the genre': async () => {
        const { data } = await l.fetchBestPodcasts({ genre_id: s.genre });
        assert.deepEqual([String(data.id), data.name], [s.genre, s.name]);
      },
      language: async () => {
        s.language = given((await first(l)).language, 'language');
        assert.ok((await l.fetchPodcastLanguages({})).data.languages.includes(s.language), `no language is "${s.language}"`);
      },
      'in the language': async () => {
        const { podcasts } = (await l.fetchBestPodcasts({ language: s.language })).data;
        assert.ok(podcasts.length > 0, 'there is none');
        for (const { language } of podcasts) assert.equal(language, s.language);
      },
      region: async () => {
        s.region = given(Object.keys((await l.fetchPodcastRegions({})).data.regions)[0], 'region');
      },
      'in the region': async () => numbers((await l.fetchBestPodcasts({ region: s.region, page: 1 })).data, 1),
      'oldest first': async () => {
        const { data } = await l.fetchBestPodcasts({ genre_id: s.genre, sort: 'oldest_added_first', safe_mode: 1 });
        assert.equal(String(data.id), s.genre);
      },
    }),

    'genres, languages and regions': (l) => ({
      'all genres': async () => {
        const { genres } = (await l.fetchPodcastGenres({})).data;
        assert.ok(genres.length > 0, 'there is none');
        different(idsOf(genres), 'genres');
      },
      'those of the top': async () => {
        const { genres } = (await l.fetchPodcastGenres({ top_level_only: 1 })).data;
        once(idsOf((await l.fetchPodcastGenres({ top_level_only: 0 })).data.genres), idsOf(genres), 'genres');
        const top = new Set(idsOf(genres));
        for (const { name, parent_id: above } of genres) assert.ok(!top.has(String(above)), `"${name}" is under another`);
      },
      languages: async () => {
        const { languages } = (await l.fetchPodcastLanguages({})).data;
        assert.ok(languages.length > 0, 'there is none');
        different(languages, 'languages');
      },
      regions: async () => {
        const { regions } = (await l.fetchPodcastRegions({})).data;
        assert.ok(Object.keys(regions).length > 0, 'there is none');
        for (const [code, name] of Object.entries(regions)) assert.equal(typeof name, 'string', code);
      },
    }),

    'a search finds a podcast by its title': (l, s) => ({
      'one that is there': async () => {
        const { id, title } = await first(l);
        Object.assign(s, { id, title });
      },
      search: async () => {
        const hits = await all(l, { q: `"${s.title}"`, type: 'podcast', only_in: 'title' });
        assert.equal(given(hits.find(({ id }) => id === s.id)?.title_original, 'title'), s.title);
      },
      'read what it found': async () => assert.equal((await full(l, s.id)).title, s.title),
      'no more on a page than asked for': async () => {
        const { data } = await l.search({ q: s.title, type: 'podcast', page_size: 3 });
        assert.ok(data.results.length <= 3, `there are ${data.results.length}`);
        assert.equal(data.count, data.results.length);
      },
      'nothing of what nobody says': async () => {
        const { data } = await l.search({ q: '"qzvxkw jjqpf wwzzkq"', type: 'podcast' });
        assert.deepEqual([data.count, data.total, data.results], [0, 0, []]);
      },
    }),

    'a search through all pages': (l, s) => ({
      'the first page': async () => {
        const { data } = await l.search({ q: 'star wars', sort_by_date: 0, type: 'episode', offset: 0 });
        assert.equal(data.count, data.results.length);
        assert.ok(data.results.length <= 10 && data.total >= data.count, 'there are more');
        s.total = String(data.total);
      },
      'all that every plan may see': async () => {
        const hits = await all(l, { q: 'star wars', sort_by_date: 0, type: 'episode' });
        different(idsOf(hits), 'episodes');
        assert.ok(hits.length <= Number(s.total), `of ${s.total} there are ${hits.length}`);
        if (Number(s.total) <= 30) assert.equal(hits.length, Number(s.total));
      },
      'by date': async () => {
        const dates = (await all(l, { q: 'star wars', sort_by_date: 1, type: 'episode' })).map(({ pub_date_ms: at }) =>
          given(at, 'date'),
        );
        const up = [...dates].sort((a, b) => a - b);
        // Which way is not said.
        assert.deepEqual(dates, Number(dates[0]) > Number(dates.at(-1)) ? up.reverse() : up);
      },
      'curated lists': async () => {
        const [hit] = (await l.search({ q: 'podcast', type: 'curated' })).data.results;
        if (hit !== undefined) assert.equal((await l.fetchCuratedPodcastsListById({ id: hit.id })).data.id, hit.id);
      },
    }),

    'a search that is limited': (l, s) => ({
      'a podcast with episodes': async () => {
        const { id } = await first(l);
        const one = given((await full(l, id)).episodes[0], 'episode');
        Object.assign(s, { id, episode: one.id, title: one.title, at: String(one.pub_date_ms) });
      },
      'to the podcast': async () => {
        const hits = await all(l, { q: `"${s.title}"`, type: 'episode', ocid: s.id });
        for (const { podcast } of hits) assert.equal(podcast?.id, s.id);
        once(idsOf(hits), [s.episode], 'results');
      },
      'to others': async () => {
        for (const { podcast } of await all(l, { q: s.title, type: 'episode', ncid: s.id })) assert.notEqual(podcast?.id, s.id);
      },
      'to what came later': async () => {
        const hits = await all(l, { q: s.title, type: 'episode', published_after: Number(s.at) });
        for (const { pub_date_ms: at } of hits) assert.ok(given(at, 'date') >= Number(s.at), `${at} is before ${s.at}`);
      },
      'to short ones': async () => {
        for (const { audio_length_sec: length } of await all(l, { q: s.title, type: 'episode', len_max: 20 }))
          assert.ok(given(length, 'length') < 21 * 60, `${length} s are more than 20 minutes`);
      },
      'to one of each podcast': async () => {
        const { results } = (await l.search({ q: s.title, type: 'episode', unique_podcasts: 1 })).data;
        different(
          results.map(({ podcast }) => given(podcast, 'podcast').id),
          'podcasts',
        );
      },
    }),

    'an episode and its podcast': (l, s) => ({
      'a podcast with episodes': async () => {
        const { id } = await first(l);
        const one = given((await full(l, id)).episodes[0], 'episode');
        Object.assign(s, { podcast: id, id: one.id, title: one.title, audio: one.audio });
      },
      'read the episode': async () => {
        const { id, title, audio } = (await l.fetchEpisodeById({ id: s.id })).data;
        assert.deepEqual([id, title, audio], [s.id, s.title, s.audio]);
      },
      'it tells its podcast': async () => {
        const { podcast } = (await l.fetchEpisodeById({ id: s.id })).data;
        assert.deepEqual([podcast.id, podcast.title], [s.podcast, (await full(l, s.podcast)).title]);
      },
      'with what is said in it': async () => {
        const { transcript } = (await l.fetchEpisodeById({ id: s.id, show_transcript: 1 })).data;
        assert.ok(transcript === null || typeof transcript === 'string', 'there is no transcript, and it is not said');
      },
      'one by chance can be read': async () => {
        const { data: one } = await l.justListen({});
        const { data: read } = await l.fetchEpisodeById({ id: one.id });
        assert.deepEqual([read.id, read.title, read.podcast.id], [one.id, one.title, one.podcast.id]);
      },
    }),

    'the episodes of a podcast through all pages': (l, s) => ({
      podcast: async () => {
        const { id } = await first(l);
        const { total_episodes: total } = await full(l, id);
        Object.assign(s, { id, total: String(given(total, 'number of episodes')) });
      },
      'latest first': async () => {
        const { rows, whole } = await episodes(l, s.id, 'recent_first');
        const dates = rows.map(({ pub_date_ms: at }) => at);
        assert.deepEqual(
          dates,
          [...dates].sort((a, b) => b - a),
        );
        different(idsOf(rows), 'episodes');
        assert.ok(whole ? rows.length === Number(s.total) : rows.length <= Number(s.total), `${rows.length} of ${s.total}`);
      },
      'oldest first': async () => {
        const { rows } = await episodes(l, s.id, 'oldest_first');
        const dates = rows.map(({ pub_date_ms: at }) => at);
        assert.deepEqual(
          dates,
          [...dates].sort((a, b) => a - b),
        );
        different(idsOf(rows), 'episodes');
      },
      'each can be read': async () => {
        for (const { id, title } of (await full(l, s.id)).episodes.slice(0, 3)) {
          const { data } = await l.fetchEpisodeById({ id });
          assert.deepEqual([data.id, data.title], [id, title]);
        }
      },
    }),

    'several podcasts and episodes at once': (l, s) => ({
      'two podcasts': async () => {
        const [one, two] = await best(l);
        Object.assign(s, { one: given(one, 'first podcast').id, two: given(two, 'second podcast').id });
      },
      'both at once': async () => {
        const { podcasts } = (await l.batchFetchPodcasts({ ids: `${s.one},${s.two}` })).data;
        assert.deepEqual(idsOf(podcasts).sort(), [s.one, s.two].sort());
      },
      'as each alone': async () => {
        const { podcasts } = (await l.batchFetchPodcasts({ ids: s.one })).data;
        assert.deepEqual(
          podcasts.map(({ id, title }) => [id, title]),
          [[s.one, (await full(l, s.one)).title]],
        );
      },
      'by where its feed is': async () => {
        const rss = given((await full(l, s.one)).rss, 'feed');
        once(idsOf((await l.batchFetchPodcasts({ rsses: rss })).data.podcasts), [s.one], 'podcasts');
      },
      'by its number at iTunes': async () => {
        const number = given((await full(l, s.two)).itunes_id, 'number');
        once(idsOf((await l.batchFetchPodcasts({ itunes_ids: String(number) })).data.podcasts), [s.two], 'podcasts');
      },
      'with their latest episodes': async () => {
        const { data } = await l.batchFetchPodcasts({ ids: `${s.one},${s.two}`, show_latest_episodes: 1 });
        const latest = given(data.latest_episodes, 'latest episodes');
        assert.ok(latest.length <= 15, `there are ${latest.length}`);
        for (const { podcast } of latest) assert.ok([s.one, s.two].includes(podcast.id), `${podcast.id} was not asked for`);
      },
      'two episodes': async () => {
        const ids = idsOf((await full(l, s.one)).episodes.slice(0, 2));
        assert.ok(ids.length > 0, 'there is none');
        const { data } = await l.batchFetchEpisodes({ ids: ids.join(',') });
        assert.deepEqual(idsOf(data.episodes).sort(), ids.sort());
        for (const { podcast } of data.episodes) assert.equal(podcast.id, s.one);
      },
    }),

    'what is recommended': (l, s) => ({
      podcast: async () => {
        const { id } = await first(l);
        Object.assign(s, { id, episode: given((await full(l, id)).episodes[0], 'episode').id });
      },
      'podcasts like it': async () => {
        const { recommendations: rows } = (await l.fetchRecommendationsForPodcast({ id: s.id, safe_mode: 0 })).data;
        assert.ok(rows.length <= 8, `there are ${rows.length}`);
        different(idsOf(rows), 'podcasts');
        for (const { id, title } of rows.slice(0, 2)) assert.equal((await full(l, id)).title, title);
      },
      'episodes like one of its': async () => {
        const { recommendations: rows } = (await l.fetchRecommendationsForEpisode({ id: s.episode, safe_mode: 0 })).data;
        assert.ok(rows.length <= 8, `there are ${rows.length}`);
        different(idsOf(rows), 'episodes');
        for (const { id, title } of rows.slice(0, 2)) assert.equal((await l.fetchEpisodeById({ id })).data.title, title);
      },
      'nothing like what is not there': async () => {
        await refused(l.fetchRecommendationsForPodcast({ id: nobody }), 404);
        await refused(l.fetchRecommendationsForEpisode({ id: nobody }), 404);
      },
    }),

    'curated lists': (l, s) => ({
      list: async () => {
        const { data } = await l.fetchCuratedPodcastsLists({ page: 1 });
        numbers(data, 1);
        const one = given(data.curated_lists[0], 'curated list');
        for (const { podcasts } of data.curated_lists) assert.ok(podcasts.length <= 5, `there are ${podcasts.length}`);
        Object.assign(s, { id: one.id, title: one.title, podcasts: idsOf(one.podcasts).join(' ') });
      },
      read: async () => {
        const { id, title } = (await l.fetchCuratedPodcastsListById({ id: s.id })).data;
        assert.deepEqual([id, title], [s.id, s.title]);
      },
      'all of its podcasts': async () => {
        const { podcasts, total } = (await l.fetchCuratedPodcastsListById({ id: s.id })).data;
        assert.equal(podcasts.length, total);
        once(idsOf(podcasts), s.podcasts === '' ? [] : s.podcasts.split(' '), 'podcasts');
      },
      'the next page': async () => {
        const { data } = await l.fetchCuratedPodcastsLists({ page: 1 });
        if (!data.has_next) return;
        const { data: second } = await l.fetchCuratedPodcastsLists({ page: data.next_page_number });
        numbers(second, 2);
        different([...idsOf(data.curated_lists), ...idsOf(second.curated_lists)], 'lists');
      },
      'one that is not there': async () => refused(l.fetchCuratedPodcastsListById({ id: 'no-such-list' }), 404),
    }),

    'playlists and the podcasts of a publisher': (l, s) => ({
      'my playlists': async () => {
        const rows = await pages(
          async (from, number) => {
            const { data } = await l.fetchMyPlaylists({ sort: 'name_a_to_z', page: Number(from ?? 1) });
            numbers(data, number);
            return data;
          },
          ({ playlists }) => playlists,
          ({ has_next: more, next_page_number: next }) => (more ? String(next) : undefined),
        );
        different(idsOf(rows), 'playlists');
        s.ids = idsOf(rows.slice(0, 2)).join(' ');
      },
      'each can be read': async () => {
        for (const id of s.ids.split(' ').filter((one) => one !== '')) {
          const { data } = await l.fetchPlaylistById({ id, type: 'episode_list', sort: 'recent_added_first' });
          assert.deepEqual([data.id, data.type], [id, 'episode_list']);
          for (const { type } of data.items) assert.ok(['episode', 'custom_audio'].includes(type), `"${type}" is an item`);
        }
      },
      'one that is not there': async () => refused(l.fetchPlaylistById({ id: 'zzzzzzzzzzz' }), 404),
      'of a publisher': async () => {
        const { data } = await l.fetchPodcastsByDomain({ domain_name: 'nytimes.com', page: 1 });
        numbers(data, 1);
        assert.ok(data.podcasts.length <= 10, `there are ${data.podcasts.length}`);
        for (const { id, title } of data.podcasts.slice(0, 2)) assert.equal((await full(l, id)).title, title);
      },
    }),

    'what to search for': (l) => ({
      'terms only': async () => {
        const { terms } = (await l.typeahead({ q: 'star' })).data;
        for (const term of terms) assert.equal(typeof term, 'string');
      },
      'podcasts and genres too': async () => {
        const { data } = await l.typeahead({ q: 'star', show_podcasts: 1, show_genres: 1 });
        const podcasts = given(data.podcasts, 'podcasts');
        assert.ok(podcasts.length <= 5, `there are ${podcasts.length}`);
        for (const { id } of podcasts.slice(0, 1)) assert.equal((await full(l, id)).id, id);
        assert.ok(Array.isArray(data.genres), 'there are no genres');
      },
      'what was meant': async () => {
        const q = 'evergrand stok';
        const { tokens, corrected_text_html: corrected } = (await l.spellcheck({ q })).data;
        assert.equal(typeof corrected, 'string');
        for (const { token, offset } of tokens) assert.equal(q.slice(offset, offset + token.length), token);
      },
      related: async () => assert.ok(Array.isArray((await l.fetchRelatedSearches({ q: 'evergrande' })).data.terms)),
      'what others search for': async () => {
        const { terms } = (await l.fetchTrendingSearches({})).data;
        assert.ok(terms.length <= 10, `there are ${terms.length}`);
      },
    }),

    'a podcast is submitted, and one is asked to be deleted': (l, s) => ({
      'one that is there': async () => {
        const { id } = await first(l);
        Object.assign(s, { id, rss: given((await full(l, id)).rss, 'feed') });
      },
      'submit it again': async () => {
        const { data } = await l.submitPodcast({ rss: s.rss });
        assert.deepEqual([data.status, data.podcast.id], ['found', s.id]);
      },
      'submit a new one': async () => {
        const { data } = await l.submitPodcast({ rss: 'https://feeds.example.com/ninefold-flow', email: 'hello@example.com' });
        assert.ok(['in review', 'rejected'].includes(data.status), `its status is "${data.status}"`);
      },
      'ask for the end of the first': async () => {
        const { data } = await l.deletePodcast({ id: s.id, reason: 'testing' });
        assert.equal(data.status, 'in review');
      },
      'it is reviewed before': async () => assert.equal((await full(l, s.id)).id, s.id),
      'the end of one that is not there': async () => refused(l.deletePodcast({ id: nobody, reason: 'testing' }), 404),
      'nothing to submit': async () => refused(l.submitPodcast({ email: 'hello@example.com' }), 400),
    }),

    'a key that is refused': (l, _s, another) => ({
      'the right one': async () => assert.equal((await l.fetchPodcastGenres({})).status, 200),
      'a wrong one reads nothing': async () => refused(another('nobody-has-this-key').fetchBestPodcasts({}), 401),
      'it searches nothing': async () => refused(another('nobody-has-this-key').search({ q: 'star wars' }), 401),
      'it submits nothing': async () =>
        refused(another('nobody-has-this-key').submitPodcast({ rss: 'https://feeds.example.com/refused' }), 401),
      'what is not there': async () => {
        await refused(l.fetchPodcastById({ id: nobody }), 404);
        await refused(l.fetchEpisodeById({ id: nobody }), 404);
      },
      'a search for nothing': async () => {
        await refused(l.search({ type: 'episode' }), 400);
        await refused(l.spellcheck({}), 400);
        await refused(l.fetchRelatedSearches({}), 400);
      },
    }),
  },
};
