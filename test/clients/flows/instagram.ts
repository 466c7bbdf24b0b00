import assert from 'node:assert/strict';
import { subscribe } from 'node:diagnostics_channel';
import { Agent, type ClientRequest, type IncomingMessage } from 'node:http';
import { createRequire } from 'node:module';
import { given, once, type Place, refused, type State, type Vendor } from '../kit.ts';

// biome-ignore lint/suspicious/noExplicitAny: the client has no types
type Row = Record<string, any>;
type Answered = (error: Error | null, data: unknown) => void;
type Named =
  | 'user'
  | 'user_media_recent'
  | 'user_self_liked'
  | 'user_search'
  | 'user_follows'
  | 'user_followers'
  | 'user_self_requested_by'
  | 'user_relationship'
  | 'set_user_relationship'
  | 'media'
  | 'media_shortcode'
  | 'media_search'
  | 'media_popular'
  | 'comments'
  | 'add_comment'
  | 'del_comment'
  | 'likes'
  | 'add_like'
  | 'del_like'
  | 'tag'
  | 'tag_media_recent'
  | 'tag_search'
  | 'location'
  | 'location_media_recent'
  | 'location_search';
type Driver = Record<Named, (...asked: unknown[]) => void> & { use(options: { readonly access_token: string }): void };
/** The client as it is used here: each call gives a promise of the data. */
interface Instagram {
  one(call: Named, ...asked: unknown[]): Promise<Row>;
  all(call: Named, ...asked: unknown[]): Promise<Row[]>;
}

const { instagram } = createRequire(import.meta.url)('instagram-node') as { instagram: (spec: object) => Driver };

/** The last status of each client's own agent: the client tells it of none of the answers that are not Instagram's own. */
const statuses = new WeakMap<object, number>();
subscribe('http.client.response.finish', (message) => {
  const { request, response } = message as { request: ClientRequest & { agent?: object }; response: IncomingMessage };
  if (request.agent && response.statusCode !== undefined) statuses.set(request.agent, response.statusCode);
});

/** The client asks for `https` alone; the agent that it is given decides how it is connected. */
const connect = (place: Place, token: string): Instagram => {
  const agent = Object.assign(new Agent(), { protocol: 'https:' });
  const driver = instagram({ host: place.url, port: place.port, agent });
  driver.use({ access_token: token });
  const ask = (call: Named, asked: readonly unknown[]): Promise<unknown> =>
    new Promise((done, failed) => {
      const answered: Answered = (error, data) => {
        if (!error) return done(data);
        const status = statuses.get(agent);
        return failed(status === undefined ? error : Object.assign(error, { status }));
      };
      statuses.delete(agent);
      driver[call](...asked, answered);
    });
  return {
    one: async (call, ...asked) => (await ask(call, asked)) as Row,
    all: async (call, ...asked) => (await ask(call, asked)) as Row[],
  };
};

const id = (row: Row): string => given(row.id, 'id') as string;
const ids = (rows: readonly Row[]): string[] => rows.map(id);
const nowhere = '999999999999999999_999999999';
const nobody = '999999999999999';

/** A picture of those that are popular: no user of the API makes one. */
const picture = async (i: Instagram, s: State): Promise<Row> => {
  const [first] = await i.all('media_popular');
  const one = given(first, 'popular media');
  s.media = id(one);
  return one;
};
const self = async (i: Instagram, s: State): Promise<void> => {
  s.self = id(await i.one('user', 'self'));
};
/** Somebody whose picture is popular. */
const somebody = async (i: Instagram, s: State): Promise<void> => {
  const { user } = await picture(i, s);
  s.user = id(given(user, 'user of the media') as Row);
};
const commentOf = async (i: Instagram, media: string, text: string): Promise<Row> =>
  given(
    (await i.all('comments', media)).find((comment) => comment.text === text),
    `comment "${text}"`,
  );

/** Pages of instagram.com/developer: "Users", "Relationships", "Media", "Comments", "Likes", "Tags", "Locations" endpoints. */
export const vendor: Vendor<Instagram> = {
  document: 'instagram/instagram.com.json',
  header: 'access_token',
  made: '3041893.1677ed0.71dce0fd54b84a9a9f2b0c8d2a5c7f10',
  hides: true,
  client: connect,
  strict: ['a token that is no good'],
  flows: {
    'a comment': (i, s) => ({
      'a picture': async () => picture(i, s),
      comment: async () => {
        await i.one('add_comment', s.media, 'What a light');
      },
      'it is read': async () => {
        const comment = await commentOf(i, s.media, 'What a light');
        s.comment = id(comment);
        assert.ok(given(comment.from, 'author').username, 'the author has no name');
      },
      'it is there once': async () => once(ids(await i.all('comments', s.media)), [s.comment], 'comments'),
      'it is mine': async () => {
        await self(i, s);
        assert.equal((await commentOf(i, s.media, 'What a light')).from?.id, s.self);
      },
      delete: async () => {
        await i.one('del_comment', s.media, s.comment);
      },
      'it is gone': async () => {
        assert.ok(!ids(await i.all('comments', s.media)).includes(s.comment), 'the comment is there still');
      },
    }),

    'two comments': (i, s) => ({
      'a picture': async () => picture(i, s),
      comment: async () => {
        await i.one('add_comment', s.media, 'The first of two');
        await i.one('add_comment', s.media, 'The second of two');
      },
      'each is there': async () => {
        const texts = (await i.all('comments', s.media)).map(({ text }) => text as string);
        once(texts, ['The first of two', 'The second of two'], 'comments');
      },
      'two of them': async () => {
        s.first = id(await commentOf(i, s.media, 'The first of two'));
        s.second = id(await commentOf(i, s.media, 'The second of two'));
        assert.notEqual(s.first, s.second);
      },
      'one is deleted': async () => {
        await i.one('del_comment', s.media, s.first);
      },
      'the other stays': async () => {
        const left = ids(await i.all('comments', s.media));
        assert.deepEqual([left.includes(s.first), left.includes(s.second)], [false, true]);
      },
      'the deleted one cannot be deleted': async () => refused(i.one('del_comment', s.media, s.first), 400, 404),
    }),

    'comments belong to a picture': (i, s) => ({
      'two pictures': async () => {
        const [one, two] = await i.all('media_popular');
        s.one = id(given(one, 'popular media'));
        s.two = id(given(two, 'second popular media'));
        assert.notEqual(s.one, s.two);
      },
      'a comment on one': async () => {
        await i.one('add_comment', s.one, 'Only here');
        s.comment = id(await commentOf(i, s.one, 'Only here'));
      },
      'not on the other': async () => {
        const texts = (await i.all('comments', s.two)).map(({ text }) => text as string);
        assert.ok(!texts.includes('Only here'), 'the comment is at another picture too');
      },
      'nor deleted there': async () => {
        await refused(i.one('del_comment', s.two, s.comment), 400, 404);
      },
      'it is there still': async () => once(ids(await i.all('comments', s.one)), [s.comment], 'comments'),
    }),

    'a like': (i, s) => ({
      'a picture': async () => {
        await self(i, s);
        await picture(i, s);
      },
      like: async () => {
        await i.one('add_like', s.media);
      },
      'I am of those who like it': async () => once(ids(await i.all('likes', s.media)), [s.self], 'users'),
      'the picture says so': async () => assert.equal((await i.one('media', s.media)).user_has_liked, true),
      'it is of what I like': async () => once(ids(await i.all('user_self_liked')), [s.media], 'media'),
      'no more': async () => {
        await i.one('del_like', s.media);
        assert.ok(!ids(await i.all('likes', s.media)).includes(s.self), 'the like is there still');
      },
      'nor of what I like': async () => {
        assert.equal((await i.one('media', s.media)).user_has_liked, false);
        assert.ok(!ids(await i.all('user_self_liked')).includes(s.media), 'the picture is liked still');
      },
    }),

    'a like twice is one': (i, s) => ({
      'a picture': async () => {
        await self(i, s);
        await picture(i, s);
      },
      like: async () => {
        await i.one('add_like', s.media);
        await i.one('add_like', s.media);
      },
      'one like': async () => once(ids(await i.all('likes', s.media)), [s.self], 'users'),
      'one picture of those I like': async () => once(ids(await i.all('user_self_liked', { count: 20 })), [s.media], 'media'),
      'a picture that is not there': async () => {
        await refused(i.one('add_like', nowhere), 400, 404);
        await refused(i.all('likes', nowhere), 400, 404);
      },
    }),

    'somebody is followed': (i, s) => ({
      somebody: async () => somebody(i, s),
      follow: async () => {
        const { outgoing_status: now } = await i.one('set_user_relationship', s.user, 'follow');
        assert.ok(now === 'follows' || now === 'requested', `status ${now}`);
        s.now = now;
      },
      'the relationship is read': async () => {
        assert.equal((await i.one('user_relationship', s.user)).outgoing_status, s.now);
      },
      'of those I follow': async () => {
        const followed = ids(await i.all('user_follows', 'self'));
        assert.equal(followed.includes(s.user), s.now === 'follows');
      },
      'no more': async () => {
        assert.equal((await i.one('set_user_relationship', s.user, 'unfollow')).outgoing_status, 'none');
      },
      'the relationship has ended': async () => {
        assert.equal((await i.one('user_relationship', s.user)).outgoing_status, 'none');
        assert.ok(!ids(await i.all('user_follows', 'self')).includes(s.user), 'the user is followed still');
      },
    }),

    'who wants to follow': (i, s) => ({
      'who asks': async () => {
        for (const user of await i.all('user_self_requested_by')) assert.ok(id(user).length > 0);
      },
      somebody: async () => somebody(i, s),
      'nothing but what is known': async () => refused(i.one('set_user_relationship', s.user, 'adore'), 400, 422),
      'somebody who is not there': async () => refused(i.one('set_user_relationship', nobody, 'follow'), 400, 404),
      'nor has a relationship': async () => refused(i.one('user_relationship', nobody), 400, 404),
    }),

    'a picture': (i, s) => ({
      popular: async () => {
        const one = await picture(i, s);
        assert.ok(one.type === 'image' || one.type === 'video', `type ${one.type}`);
        s.author = id(given(one.user, 'user of the media') as Row);
        s.link = given(one.link, 'link');
      },
      read: async () => {
        const read = await i.one('media', s.media);
        assert.deepEqual([id(read), read.link, read.user?.id], [s.media, s.link, s.author]);
      },
      'by its short code': async () => {
        const [, code] = /\/p\/([^/]+)/.exec(s.link) ?? [];
        const read = await i.one('media_shortcode', given(code, 'short code in the link'));
        assert.deepEqual([id(read), read.link], [s.media, s.link]);
      },
      'of its author': async () => {
        const rows = await i.all('user_media_recent', s.author, {});
        for (const row of rows) assert.equal(row.user?.id, s.author);
      },
      'one that is not there': async () => refused(i.one('media', nowhere), 400, 404),
    }),

    users: (i, s) => ({
      me: async () => {
        const me = await i.one('user', 'self');
        s.self = id(me);
        s.name = given(me.username, 'username');
      },
      'me, by my id': async () => {
        const read = await i.one('user', s.self);
        assert.deepEqual([id(read), read.username], [s.self, s.name]);
      },
      'me, by my name': async () => {
        const found = await i.all('user_search', s.name, {});
        assert.ok(ids(found).includes(s.self), 'the user is not found');
      },
      'a few of those found': async () => {
        const found = await i.all('user_search', s.name, { count: 1 });
        assert.ok(found.length <= 1, `${found.length} users, not one`);
      },
      'whom I follow, and who follows me': async () => {
        const { counts } = await i.one('user', 'self');
        assert.ok((await i.all('user_follows', s.self)).length <= given(counts?.follows, 'number of those followed'));
        assert.ok((await i.all('user_followers', s.self)).length <= given(counts?.followed_by, 'number of followers'));
      },
      'somebody who is not there': async () => refused(i.one('user', nobody), 400, 404),
    }),

    tags: (i, s) => ({
      'a picture with a tag': async () => {
        const tagged = (await i.all('media_popular')).find(({ tags }) => (tags as string[] | undefined)?.length);
        s.tag = given((tagged?.tags as string[] | undefined)?.[0], 'tag of a popular media');
      },
      'the tag': async () => {
        const tag = await i.one('tag', s.tag);
        assert.equal(tag.name, s.tag);
        assert.ok(tag.media_count >= 0, `${tag.media_count} media`);
      },
      'it is found': async () => {
        const found = (await i.all('tag_search', s.tag)).map(({ name }) => name as string);
        once(found, [s.tag], 'tags');
      },
      'pictures with it': async () => {
        for (const { tags } of await i.all('tag_media_recent', s.tag, {}))
          assert.ok((tags as string[]).includes(s.tag), `a picture without the tag ${s.tag}`);
      },
      'only one of them': async () => {
        const rows = await i.all('tag_media_recent', s.tag, { count: 1 });
        assert.ok(rows.length <= 1, `${rows.length} media, not one`);
      },
    }),

    places: (i, s) => ({
      'near the Eiffel tower': async () => {
        const [first] = await i.all('location_search', { lat: 48.858844, lng: 2.294351 }, { distance: 1000 });
        const place = given(first, 'place that was found');
        s.place = id(place);
        s.name = given(place.name, 'name of the place');
      },
      read: async () => {
        const read = await i.one('location', s.place);
        assert.deepEqual([id(read), read.name], [s.place, s.name]);
      },
      'pictures of it': async () => {
        for (const row of await i.all('location_media_recent', s.place, {})) assert.equal(String(row.location?.id), s.place);
      },
      'pictures near it': async () => {
        const { latitude, longitude } = await i.one('location', s.place);
        for (const row of await i.all('media_search', latitude, longitude, { distance: 500 })) assert.ok(id(row).length > 0);
      },
      'a place that is not there': async () => refused(i.one('location', nobody), 400, 404),
    }),

    'a token that is no good': (i, s, another) => ({
      'a picture': async () => picture(i, s),
      'another does not see it': async () => refused(another('nobody').one('media', s.media), 400, 401),
      'nor comments on it': async () => refused(another('nobody').one('add_comment', s.media, 'Stolen'), 400, 401),
      'nor likes it': async () => refused(another('nobody').one('add_like', s.media), 400, 401),
      'no such comment': async () => {
        const texts = (await i.all('comments', s.media)).map(({ text }) => text as string);
        assert.ok(!texts.includes('Stolen'), 'the comment of a stranger is there');
      },
    }),
  },
};
