import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { given, once, type Place, refused, type Vendor } from '../kit.ts';

type Row = Readonly<Record<string, unknown>>;
type Call = (params?: object) => Promise<unknown>;

/** The part of the client that is used here: it has no types of its own, and makes its functions of a list of paths. */
interface Trakt {
  import_token(token: object): Promise<unknown>;
  readonly checkin: { readonly add: Call; readonly delete: Call };
  readonly comments: {
    readonly comment: { readonly add: Call; readonly get: Call; readonly update: Call; readonly remove: Call };
    readonly replies: { readonly add: Call; readonly get: Call };
    readonly like: { readonly add: Call; readonly remove: Call };
    readonly likes: Call;
    readonly item: Call;
  };
  readonly lists: { readonly items: Call };
  readonly movies: { readonly summary: Call; readonly popular: Call };
  readonly search: { readonly text: Call; readonly id: Call };
  readonly sync: {
    readonly collection: { readonly add: Call; readonly get: Call; readonly remove: Call };
    readonly ratings: { readonly add: Call; readonly get: Call; readonly remove: Call };
  };
  readonly users: {
    readonly settings: Call;
    readonly following: Call;
    readonly follow: { readonly add: Call; readonly remove: Call };
    readonly hidden: { readonly add: Call; readonly get: Call; readonly remove: Call };
    readonly lists: { readonly create: Call; readonly get: Call };
    readonly list: {
      readonly get: Call;
      readonly update: Call;
      readonly delete: Call;
      readonly items: { readonly add: Call; readonly remove: Call };
    };
  };
}
const Client = createRequire(import.meta.url)('trakt.tv') as new (settings: object) => Trakt;

const connect = (place: Place, token: string): Trakt => {
  const api = new Client({ client_id: 'a-made-up-client', client_secret: 'a-made-up-secret', api_url: place.base });
  void api.import_token({ access_token: token, expires: Date.now() + 3_600_000, refresh_token: 'a-made-up-refresh' });
  return api;
};

const row = async (answer: Promise<unknown>): Promise<Row> => {
  const one = await answer;
  assert.ok(typeof one === 'object' && one !== null && !Array.isArray(one), 'the answer is not an object');
  return one as Row;
};
const rows = async (answer: Promise<unknown>): Promise<Row[]> => {
  const all = await answer;
  assert.ok(Array.isArray(all), 'the answer is not a list');
  return all as Row[];
};
const within = (one: Row, name: string): Row => given(one[name] as Row | undefined, name);
const id = (one: Row): string => String(given(one.id, 'id'));
/** The Trakt ID of a list or of a movie, show or user within a row. */
const trakt = (one: Row): string => String(given(within(one, 'ids').trakt, 'ids.trakt'));
const movies = (all: readonly Row[]): string[] => all.map((one) => trakt(within(one, 'movie')));
const count = (answer: Row, what: string, of: string): number => Number(within(answer, what)[of]);

/** A page, and what the headers say of all of them. */
const paged = async (answer: Promise<unknown>): Promise<{ data: Row[]; pagination: Row }> => {
  const { data, pagination } = (await answer) as { data: unknown; pagination: Row };
  assert.ok(Array.isArray(data), 'the answer is not a list');
  return { data: data as Row[], pagination };
};

const list = (api: Trakt, name: string, more: object = {}): Promise<Row> =>
  row(api.users.lists.create({ username: 'me', name, ...more }));
const comment = async (api: Trakt, words = 'I was not really listening to it.'): Promise<string> =>
  id(await row(api.comments.comment.add({ movie: { ids: { trakt: 28 } }, comment: words })));
const reply = async (api: Trakt, to: string, words: string): Promise<string> =>
  id(await row(api.comments.replies.add({ id: to, comment: words })));

const guardians = { title: 'Guardians of the Galaxy', year: 2014, ids: { trakt: 28, slug: 'guardians-of-the-galaxy-2014' } };
const batman = { title: 'Batman Begins', year: 2005, ids: { trakt: 1, slug: 'batman-begins-2005' } };
const gossip = { title: 'Gossip Girl', year: 2007, ids: { trakt: 48, slug: 'gossip-girl' } };

/** Guide: trakt.docs.apiary.io, "Status Codes", "Pagination", "Extended Info", and each method. */
export const vendor: Vendor<Trakt> = {
  document: 'trakt/trakt.tv.json',
  header: 'Authorization',
  word: 'Bearer',
  made: 'dbaf9757982a9e738f05d249b7b5b4a266b3a139049317c4909f2f263572c781',
  client: connect,
  flows: {
    'a personal list from its making to its end': (api, s) => ({
      create: async () => {
        const made = await list(api, 'Machete order', { description: 'IV, V, II, III, VI', privacy: 'public' });
        s.id = trakt(made);
        assert.deepEqual([made.name, made.description, made.privacy], ['Machete order', 'IV, V, II, III, VI', 'public']);
      },
      read: async () => {
        const read = await row(api.users.list.get({ username: 'me', id: s.id }));
        assert.deepEqual([trakt(read), read.name, read.privacy], [s.id, 'Machete order', 'public']);
      },
      change: async () => {
        const changed = await row(api.users.list.update({ username: 'me', id: s.id, name: 'New order', privacy: 'private' }));
        assert.deepEqual([trakt(changed), changed.name, changed.privacy], [s.id, 'New order', 'private']);
      },
      'it stays changed': async () => {
        const read = await row(api.users.list.get({ username: 'me', id: s.id }));
        assert.deepEqual([read.name, read.privacy, read.description], ['New order', 'private', 'IV, V, II, III, VI']);
      },
      delete: async () => api.users.list.delete({ username: 'me', id: s.id }),
      'it is gone': async () => refused(api.users.list.get({ username: 'me', id: s.id }), 404),
    }),
    'all lists of a user': (api, s) => ({
      'make three': async () => {
        const made = [];
        for (const name of ['to see', 'to see again', 'not to see']) made.push(trakt(await list(api, name)));
        once(made, made, 'made ids');
        s.all = made.join(' ');
      },
      'they are listed': async () => {
        const all = await rows(api.users.lists.get({ username: 'me' }));
        once(all.map(trakt), s.all.split(' '), 'lists');
      },
      'without the deleted one': async () => {
        const [first = '', ...left] = s.all.split(' ');
        await api.users.list.delete({ username: 'me', id: first });
        const all = (await rows(api.users.lists.get({ username: 'me' }))).map(trakt);
        once(all, left, 'lists');
        assert.ok(!all.includes(first), 'the deleted list is still listed');
      },
    }),
    'what is on a list': (api, s) => ({
      'a list': async () => {
        s.id = trakt(await list(api, 'space'));
      },
      'add a movie': async () => {
        const answer = await row(api.users.list.items.add({ username: 'me', id: s.id, movies: [{ ids: { trakt: 28 } }] }));
        assert.equal(count(answer, 'added', 'movies'), 1);
      },
      'it is on the list': async () => assert.deepEqual(movies(await rows(api.lists.items({ id: s.id, type: 'movie' }))), ['28']),
      'the list counts it': async () => {
        const read = await row(api.users.list.get({ username: 'me', id: s.id }));
        assert.equal(read.item_count, 1);
      },
      'take it off': async () => {
        const answer = await row(api.users.list.items.remove({ username: 'me', id: s.id, movies: [{ ids: { trakt: 28 } }] }));
        assert.equal(count(answer, 'deleted', 'movies'), 1);
      },
      'the list is empty': async () => assert.deepEqual(await rows(api.lists.items({ id: s.id, type: 'movie' })), []),
    }),
    'a comment from its writing to its end': (api, s) => ({
      write: async () => {
        const words = 'A great movie about a tree.';
        const made = await row(api.comments.comment.add({ movie: guardians, comment: words }));
        s.id = id(made);
        assert.deepEqual([made.comment, made.spoiler, made.replies, made.likes], [words, false, 0, 0]);
      },
      read: async () => {
        const read = await row(api.comments.comment.get({ id: s.id }));
        assert.deepEqual([id(read), read.comment], [s.id, 'A great movie about a tree.']);
      },
      'what it is about': async () => {
        const about = await row(api.comments.item({ id: s.id }));
        assert.deepEqual([about.type, trakt(within(about, 'movie'))], ['movie', '28']);
      },
      change: async () => {
        const words = 'In the end the tree lives.';
        const changed = await row(api.comments.comment.update({ id: s.id, comment: words, spoiler: true }));
        assert.deepEqual([id(changed), changed.comment, changed.spoiler], [s.id, words, true]);
      },
      'it stays changed': async () => {
        const read = await row(api.comments.comment.get({ id: s.id }));
        assert.deepEqual([read.comment, read.spoiler], ['In the end the tree lives.', true]);
      },
      delete: async () => api.comments.comment.remove({ id: s.id }),
      'it is gone': async () => refused(api.comments.comment.get({ id: s.id }), 404),
    }),
    'replies to a comment': (api, s) => ({
      write: async () => {
        s.id = await comment(api);
      },
      'reply twice': async () => {
        const made = await row(api.comments.replies.add({ id: s.id, comment: 'You should have listened to it.' }));
        s.first = id(made);
        assert.deepEqual([String(made.parent_id), made.comment], [s.id, 'You should have listened to it.']);
        s.second = await reply(api, s.id, 'It has very good songs too.');
      },
      'both are listed': async () => {
        const all = await rows(api.comments.replies.get({ id: s.id }));
        assert.deepEqual(all.map(id).sort(), [s.first, s.second].sort());
      },
      'the comment counts them': async () => assert.equal((await row(api.comments.comment.get({ id: s.id }))).replies, 2),
      'a reply is a comment': async () => {
        const read = await row(api.comments.comment.get({ id: s.first }));
        assert.deepEqual([id(read), String(read.parent_id)], [s.first, s.id]);
      },
    }),
    'replies page by page': (api, s) => ({
      'write five': async () => {
        s.id = await comment(api);
        const made = [];
        for (const word of ['one', 'two', 'three', 'four', 'five'])
          made.push(await reply(api, s.id, `This is reply number ${word}.`));
        s.all = made.join(' ');
      },
      'two on the first page': async () => {
        const { data, pagination } = await paged(api.comments.replies.get({ id: s.id, page: 1, limit: 2, pagination: true }));
        assert.equal(data.length, 2);
        assert.deepEqual([pagination.page, pagination.limit], ['1', '2']);
        assert.deepEqual([pagination['item-count'], pagination['page-count']], ['5', '3']);
      },
      'all pages': async () => {
        const all: Row[] = [];
        for (let page = 1, last = 1; page <= last && page <= 40; page += 1) {
          const { data, pagination } = await paged(api.comments.replies.get({ id: s.id, page, limit: 2, pagination: true }));
          last = Number(given(pagination['page-count'], 'X-Pagination-Page-Count'));
          all.push(...data);
        }
        assert.deepEqual(all.map(id).sort(), s.all.split(' ').sort());
      },
    }),
    'a comment is liked': (api, s) => ({
      write: async () => {
        s.id = await comment(api, 'Please do like what I write.');
      },
      like: async () => api.comments.like.add({ id: s.id }),
      'who likes it': async () => {
        const all = await rows(api.comments.likes({ id: s.id }));
        assert.equal(all.length, 1);
        assert.equal(typeof within(all[0] as Row, 'user').username, 'string');
      },
      'the like is counted': async () => assert.equal((await row(api.comments.comment.get({ id: s.id }))).likes, 1),
      'not any more': async () => {
        await api.comments.like.remove({ id: s.id });
        assert.deepEqual(await rows(api.comments.likes({ id: s.id })), []);
      },
    }),
    'what is popular': (api) => ({
      'three on a page': async () => {
        const { data, pagination } = await paged(api.movies.popular({ page: 1, limit: 3, pagination: true }));
        assert.ok(data.length > 0 && data.length <= 3, `${data.length} movies on a page of three`);
        assert.deepEqual([pagination.page, pagination.limit], ['1', '3']);
        for (const one of data)
          assert.deepEqual([typeof one.title, typeof one.year, typeof trakt(one)], ['string', 'number', 'string']);
      },
      'all about one': async () => {
        const [first] = await rows(api.movies.popular({ page: 1, limit: 1 }));
        const read = await row(api.movies.summary({ id: trakt(given(first, 'movie')), extended: 'full' }));
        assert.deepEqual([trakt(read), read.title], [trakt(given(first, 'movie')), given(first, 'movie').title]);
      },
    }),
    'a collection': (api) => ({
      'collect a movie': async () => {
        const answer = await row(api.sync.collection.add({ movies: [{ ...batman, media_type: 'digital' }] }));
        assert.deepEqual([count(answer, 'added', 'movies'), within(answer, 'not_found').movies], [1, []]);
      },
      'it is collected': async () => once(movies(await rows(api.sync.collection.get({ type: 'movies' }))), ['1'], 'movies'),
      'throw it out': async () => {
        const answer = await row(api.sync.collection.remove({ movies: [batman] }));
        assert.equal(count(answer, 'deleted', 'movies'), 1);
      },
      'it is not collected': async () =>
        assert.ok(!movies(await rows(api.sync.collection.get({ type: 'movies' }))).includes('1'), 'it is still collected'),
    }),
    ratings: (api) => ({
      rate: async () => {
        const answer = await row(api.sync.ratings.add({ movies: [{ ...batman, rating: 5 }] }));
        assert.equal(count(answer, 'added', 'movies'), 1);
      },
      'it is among those': async () => {
        const all = await rows(api.sync.ratings.get({ type: 'movies', rating: 5 }));
        once(movies(all), ['1'], 'ratings');
        for (const one of all) assert.deepEqual([one.type, one.rating], ['movie', 5]);
      },
      'rate it better': async () => {
        await api.sync.ratings.add({ movies: [{ ...batman, rating: 9 }] });
        once(movies(await rows(api.sync.ratings.get({ type: 'movies', rating: 9 }))), ['1'], 'ratings');
      },
      'not among the others any more': async () =>
        assert.ok(!movies(await rows(api.sync.ratings.get({ type: 'movies', rating: 5 }))).includes('1'), 'it is still rated 5'),
      'take it back': async () => {
        const answer = await row(api.sync.ratings.remove({ movies: [batman] }));
        assert.equal(count(answer, 'deleted', 'movies'), 1);
      },
    }),
    'a checkin': (api) => ({
      'check in': async () => {
        const answer = await row(api.checkin.add({ movie: guardians, message: 'At last!' }));
        assert.equal(typeof answer.id, 'number');
        assert.ok(!Number.isNaN(Date.parse(String(answer.watched_at))), 'watched_at is no time');
      },
      'only one at a time': async () => {
        const thrown = (await refused(api.checkin.add({ movie: guardians }), 409)) as { response?: { body?: string } };
        assert.match(String(thrown.response?.body), /expires_at/);
      },
      'check out': async () => api.checkin.delete(),
      'then once more': async () => assert.equal(typeof (await row(api.checkin.add({ movie: guardians }))).id, 'number'),
    }),
    'what is hidden': (api) => ({
      hide: async () => {
        const answer = await row(api.users.hidden.add({ section: 'calendar', shows: [gossip] }));
        assert.equal(count(answer, 'added', 'shows'), 1);
      },
      'it is hidden': async () => {
        const all = await rows(api.users.hidden.get({ section: 'calendar', type: 'show' }));
        once(
          all.map((one) => trakt(within(one, 'show'))),
          ['48'],
          'hidden shows',
        );
      },
      show: async () => {
        const answer = await row(api.users.hidden.remove({ section: 'calendar', shows: [gossip] }));
        assert.equal(count(answer, 'deleted', 'shows'), 1);
      },
      'it is not hidden': async () => {
        const all = await rows(api.users.hidden.get({ section: 'calendar', type: 'show' }));
        assert.ok(!all.some((one) => trakt(within(one, 'show')) === '48'), 'it is still hidden');
      },
    }),
    'someone is followed': (api) => {
      const followed = async (): Promise<unknown[]> =>
        (await rows(api.users.following({ username: 'me' }))).map((one) => within(one, 'user').username);
      return {
        follow: async () => {
          const answer = await row(api.users.follow.add({ username: 'sean' }));
          assert.equal(within(answer, 'user').username, 'sean');
        },
        'they are followed': async () => assert.ok((await followed()).includes('sean'), 'sean is not followed'),
        unfollow: async () => api.users.follow.remove({ username: 'sean' }),
        'they are not followed': async () => assert.ok(!(await followed()).includes('sean'), 'sean is still followed'),
      };
    },
    'a search': (api) => ({
      'by words': async () => {
        const all = await rows(api.search.text({ type: 'movie', query: 'tron' }));
        for (const one of all) assert.deepEqual([one.type, typeof within(one, 'movie').title], ['movie', 'string']);
      },
      'by an ID of another service': async () => {
        const all = await rows(api.search.id({ id_type: 'imdb', id: 'tt1104001', type: 'movie' }));
        assert.deepEqual(
          all.map((one) => [one.type, within(within(one, 'movie'), 'ids').imdb]),
          [['movie', 'tt1104001']],
        );
      },
    }),
    'what is wrong': (api) => ({
      'a comment that is not there': async () => refused(api.comments.comment.get({ id: 999_999_999 }), 404),
      'a list that is not there': async () => refused(api.users.list.get({ username: 'me', id: 999_999_999 }), 404),
      'a list without a name': async () => refused(api.users.lists.create({ username: 'me', description: 'nothing' }), 400, 422),
      'a rating without a movie': async () => refused(api.sync.ratings.add({ movies: [{ rating: 5 }] }), 400, 422),
      'a kind of search that is not there': async () =>
        refused(api.search.id({ id_type: 'isbn', id: '9780553293357' }), 400, 404, 422),
    }),
    'a token that is refused': (api, _, another) => ({
      'the right one': async () => assert.equal(typeof within(await row(api.users.settings()), 'account'), 'object'),
      'a wrong one': async () => refused(another('nobody-has-this-token').users.settings(), 401),
      'it cannot make anything': async () => refused(list(another('nobody-has-this-token'), 'not mine'), 401),
    }),
  },
};
