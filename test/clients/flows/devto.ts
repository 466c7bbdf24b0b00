import assert from 'node:assert/strict';
import { STATUS_CODES } from 'node:http';
import { createRequire } from 'node:module';
import { given, numbered, once, type Place, refused, type Vendor } from '../kit.ts';

type Page = { readonly page?: number; readonly per_page?: number };
type Draft = {
  readonly title?: string;
  readonly body_markdown?: string;
  readonly published?: boolean;
  readonly series?: string;
  readonly canonical_url?: string;
  readonly description?: string;
  readonly tags?: string;
};
type Article = {
  readonly id: number;
  readonly title: string;
  readonly description: string;
  readonly slug: string;
  readonly path: string;
  readonly url: string;
  readonly canonical_url: string;
  readonly body_markdown?: string;
  readonly tag_list: readonly string[] | string;
  readonly user: { readonly username: string; readonly name: string };
};
type User = { readonly type_of: string; readonly id: number; readonly username: string; readonly name: string };

/** The parts of the client that are used here; its own types are of an older version, which had tags as a list. */
interface DevTo {
  getArticles(asked?: Page & { readonly tag?: string; readonly username?: string }): Promise<readonly Article[]>;
  getArticle(id: number): Promise<Article>;
  getArticleByPath(username: string, slug: string): Promise<Article>;
  getMyArticles(asked?: Page): Promise<readonly Article[]>;
  getMyPublishedArticles(asked?: Page): Promise<readonly Article[]>;
  getMyUnpublishedArticles(asked?: Page): Promise<readonly Article[]>;
  getMyAllArticles(asked?: Page): Promise<readonly Article[]>;
  createArticle(article: Draft): Promise<Article>;
  updateArticle(id: number, article: Draft): Promise<Article>;
  getComment(id: string): Promise<{ readonly id_code: string }>;
  getComments(article: string): Promise<readonly { readonly id_code: string }[]>;
  getCurrentUser(): Promise<User>;
  getUser(id: number): Promise<User>;
  getUserByUsername(username: string): Promise<User>;
  getFollowers(asked?: Page): Promise<readonly { readonly id: number; readonly type_of: string }[]>;
  getPodcastEpisodes(
    asked?: Page & { readonly username?: string },
  ): Promise<readonly { readonly id: number; readonly title: string; readonly podcast: { readonly slug: string } }[]>;
  getTags(asked?: Page): Promise<readonly { readonly id: number; readonly name: string }[]>;
  getVideos(asked?: Page): Promise<readonly { readonly id: number; readonly path: string }[]>;
}

const Client = createRequire(import.meta.url)('dev-to-js') as new (options: object) => DevTo;

const statuses = new Map(Object.entries(STATUS_CODES).map(([status, text]) => [text, Number(status)]));
statuses.set('Unprocessable Content', 422);

/** The client throws the text of a status alone: its number is told too. The paths of the description begin with `/api`. */
const connect = (place: Place, token: string): DevTo =>
  new Proxy(new Client({ apiKey: token, basePath: `${place.base}/api/` }), {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      return async (...given: unknown[]): Promise<unknown> => {
        try {
          return await member.apply(target, given);
        } catch (thrown) {
          const status = statuses.get((thrown as Error).message);
          throw status === undefined ? thrown : Object.assign(thrown as Error, { status });
        }
      };
    },
  });

const nobody = 999_999_999;
const ids = (rows: readonly { readonly id: number }[]): string[] => rows.map(({ id }) => String(id));
const drafts = async (d: DevTo): Promise<string[]> =>
  ids(await numbered((page) => d.getMyUnpublishedArticles({ page, per_page: 30 })));
const published = async (d: DevTo): Promise<string[]> =>
  ids(await numbered((page) => d.getMyPublishedArticles({ page, per_page: 30 })));
const mine = async (d: DevTo): Promise<string[]> => ids(await numbered((page) => d.getMyAllArticles({ page, per_page: 30 })));
const write = (d: DevTo, title: string, more: Draft = {}): Promise<Article> =>
  d.createArticle({ title, body_markdown: `## ${title}\n\nHello DEV, this is my post.`, published: true, ...more });

/** Guide: developers.forem.com/api/v1, "Authentication", "articles", "comments", "users", "tags", "followers". */
export const vendor: Vendor<DevTo> = {
  document: 'devto/dev.to.json',
  header: 'api-key',
  made: 'gPRkHvWq3ZtXcB8nYs5uJdLe',
  client: connect,
  strict: ['a key that is refused'],
  flows: {
    'a draft until it is published': (d, s) => ({
      create: async () => {
        const made = await write(d, 'A draft of mine', { published: false });
        s.id = String(made.id);
        assert.equal(made.title, 'A draft of mine');
      },
      'it is among the drafts': async () => once(await drafts(d), [s.id], 'drafts'),
      'it is not among what is published': async () => assert.ok(!(await published(d)).includes(s.id), 'it is'),
      'nobody reads it': async () => refused(d.getArticle(Number(s.id)), 404),
      publish: async () => assert.equal(String((await d.updateArticle(Number(s.id), { published: true })).id), s.id),
      'it is among what is published': async () => once(await published(d), [s.id], 'published'),
      'it is no draft any more': async () => assert.ok(!(await drafts(d)).includes(s.id), 'it is'),
      'everybody reads it': async () => assert.equal((await d.getArticle(Number(s.id))).title, 'A draft of mine'),
    }),

    'an article as it was written': (d, s) => ({
      create: async () => {
        const made = await write(d, 'Hello world', {
          description: 'A first post',
          canonical_url: 'https://blog.example.com/hello-world',
        });
        s.id = String(made.id);
        assert.deepEqual([made.title, made.description], ['Hello world', 'A first post']);
      },
      read: async () => {
        const read = await d.getArticle(Number(s.id));
        assert.deepEqual(
          [String(read.id), read.title, read.description, read.canonical_url],
          [s.id, 'Hello world', 'A first post', 'https://blog.example.com/hello-world'],
        );
      },
      'with its text': async () =>
        assert.equal((await d.getArticle(Number(s.id))).body_markdown, '## Hello world\n\nHello DEV, this is my post.'),
      'it is mine': async () => {
        const me = await d.getCurrentUser();
        assert.equal((await d.getArticle(Number(s.id))).user.username, me.username);
      },
      'it is listed once': async () => once(await mine(d), [s.id], 'articles'),
    }),

    'an article is changed': (d, s) => ({
      create: async () => {
        s.id = String((await write(d, 'Before', { description: 'It stays' })).id);
      },
      'another title': async () => {
        const changed = await d.updateArticle(Number(s.id), { title: 'After' });
        assert.deepEqual([String(changed.id), changed.title], [s.id, 'After']);
      },
      'the rest stays': async () => {
        const { title, description } = await d.getArticle(Number(s.id));
        assert.deepEqual([title, description], ['After', 'It stays']);
      },
      'another text': async () => {
        await d.updateArticle(Number(s.id), { body_markdown: 'Nothing but this.' });
        const { title, body_markdown } = await d.getArticle(Number(s.id));
        assert.deepEqual([title, body_markdown], ['After', 'Nothing but this.']);
      },
      'back among the drafts': async () => {
        await d.updateArticle(Number(s.id), { published: false });
        once(await drafts(d), [s.id], 'drafts');
      },
      'not published any more': async () => assert.ok(!(await published(d)).includes(s.id), 'it is'),
    }),

    'articles page by page': (d, s) => ({
      'make five': async () => {
        const made = [];
        for (const title of ['One of five', 'Two of five', 'Three of five', 'Four of five', 'Five of five'])
          made.push(String((await write(d, title)).id));
        s.all = made.join(' ');
        once(made, made, 'made ids');
      },
      'two on a page': async () => assert.equal((await d.getMyPublishedArticles({ page: 1, per_page: 2 })).length, 2),
      'another page has others': async () => {
        const first = ids(await d.getMyPublishedArticles({ page: 1, per_page: 2 }));
        const second = ids(await d.getMyPublishedArticles({ page: 2, per_page: 2 }));
        assert.ok(second.length > 0 && second.every((id) => !first.includes(id)), 'it has the same');
      },
      'all pages': async () =>
        once(ids(await numbered((page) => d.getMyPublishedArticles({ page, per_page: 2 }))), s.all.split(' '), 'published'),
      'a page far behind has none': async () => assert.deepEqual(await d.getMyPublishedArticles({ page: 900, per_page: 30 }), []),
    }),

    'drafts and what is published together': (d, s) => ({
      'one of each': async () => {
        s.draft = String((await write(d, 'Not yet', { published: false })).id);
        s.public = String((await write(d, 'Already')).id);
      },
      'all of mine': async () => once(await mine(d), [s.draft, s.public], 'articles'),
      'what is published': async () => {
        const rows = await published(d);
        once(rows, [s.public], 'published');
        assert.ok(!rows.includes(s.draft), 'a draft is published');
      },
      'mine without a word are the published ones': async () => {
        const rows = ids(await numbered((page) => d.getMyArticles({ page, per_page: 30 })));
        once(rows, [s.public], 'published');
        assert.ok(!rows.includes(s.draft), 'a draft is published');
      },
      'everybody sees the one': async () => {
        const { username } = await d.getCurrentUser();
        const rows = ids(await numbered((page) => d.getArticles({ username, page, per_page: 100 })));
        once(rows, [s.public], 'articles');
        assert.ok(!rows.includes(s.draft), 'everybody sees a draft');
      },
    }),

    'articles by their tag': (d, s) => ({
      'make two': async () => {
        s.one = String((await write(d, 'About ferrets', { tags: 'ferretcare, pets' })).id);
        s.other = String((await write(d, 'About cats', { tags: 'catcare, pets' })).id);
      },
      'of the one tag': async () => assert.deepEqual(ids(await d.getArticles({ tag: 'ferretcare' })), [s.one]),
      'it has its tags': async () => {
        const [row] = await d.getArticles({ tag: 'ferretcare' });
        assert.deepEqual([...given(row, 'article').tag_list].sort(), ['ferretcare', 'pets']);
      },
      'of the tag that both have': async () => {
        const rows = ids(await numbered((page) => d.getArticles({ tag: 'pets', page, per_page: 30 })));
        once(rows, [s.one, s.other], 'articles');
      },
      'of a tag that none has': async () => assert.deepEqual(await d.getArticles({ tag: 'nobodytagsthis' }), []),
    }),

    'articles by their author': (d, s) => ({
      'who I am': async () => {
        s.me = (await d.getCurrentUser()).username;
      },
      write: async () => {
        s.id = String((await write(d, 'By me')).id);
      },
      'those of mine': async () => {
        const rows = await numbered((page) => d.getArticles({ username: s.me, page, per_page: 30 }));
        once(ids(rows), [s.id], 'articles');
        assert.ok(
          rows.every(({ user }) => user.username === s.me),
          'some are of others',
        );
      },
      'those of nobody': async () => assert.deepEqual(await d.getArticles({ username: 'nobody_has_this_name_here' }), []),
    }),

    'an article by its path': (d, s) => ({
      write: async () => {
        const made = await write(d, 'On my way');
        [s.id, s.slug] = [String(made.id), given(made.slug, 'slug')];
      },
      'its path has its slug': async () => {
        const { path, slug, user } = await d.getArticle(Number(s.id));
        assert.equal(path, `/${user.username}/${slug}`);
        s.author = user.username;
      },
      read: async () => {
        const read = await d.getArticleByPath(s.author, s.slug);
        assert.deepEqual([String(read.id), read.title], [s.id, 'On my way']);
      },
      'of nobody': async () => refused(d.getArticleByPath('nobody_has_this_name_here', s.slug), 404),
      'of no slug': async () => refused(d.getArticleByPath(s.author, 'no-such-slug-at-all'), 404),
    }),

    'who I am': (d, s) => ({
      me: async () => {
        const me = await d.getCurrentUser();
        [s.id, s.username] = [String(me.id), me.username];
        assert.equal(me.type_of, 'user');
      },
      'by my number': async () => {
        const { id, username } = await d.getUser(Number(s.id));
        assert.deepEqual([String(id), username], [s.id, s.username]);
      },
      'by my name': async () => assert.equal(String((await d.getUserByUsername(s.username)).id), s.id),
      'it stays so': async () => assert.equal((await d.getCurrentUser()).username, s.username),
      nobody: async () => refused(d.getUser(nobody), 404),
    }),

    'what is said to an article': (d, s) => ({
      write: async () => {
        s.id = String((await write(d, 'Say something')).id);
      },
      'nothing yet': async () => assert.deepEqual(await d.getComments(s.id), []),
      'to none': async () => refused(d.getComments(String(nobody)), 404),
      'a comment that is not there': async () => refused(d.getComment('zzzzzz'), 404),
    }),

    'tags, episodes, videos and followers': (d) => ({
      'tags, each once': async () => {
        const names = [];
        for (const page of [1, 2, 3]) for (const { name } of await d.getTags({ page, per_page: 5 })) names.push(name);
        once(names, names, 'tags');
      },
      'one tag on a page': async () => assert.ok((await d.getTags({ page: 1, per_page: 1 })).length <= 1),
      'episodes have their podcast': async () => {
        for (const { title, podcast } of await d.getPodcastEpisodes({ page: 1, per_page: 3 }))
          assert.deepEqual([typeof title, typeof podcast.slug], ['string', 'string']);
      },
      'episodes of a podcast that is not there': async () =>
        refused(d.getPodcastEpisodes({ username: 'no_such_podcast_here' }), 404),
      'three videos at most': async () => assert.ok((await d.getVideos({ page: 1, per_page: 3 })).length <= 3),
      'followers, each once': async () => {
        const rows = ids(await numbered((page) => d.getFollowers({ page, per_page: 80 })));
        once(rows, rows, 'followers');
      },
    }),

    'what is wrong': (d) => ({
      'an article without a title': async () => refused(d.createArticle({ body_markdown: 'No title.' }), 422),
      'an article without anything': async () => refused(d.createArticle({}), 422),
      'an article that is not there': async () => refused(d.getArticle(nobody), 404),
      'its change': async () => refused(d.updateArticle(nobody, { title: 'Never' }), 404),
      'nothing was made': async () => {
        const rows = await numbered((page) => d.getMyAllArticles({ page, per_page: 30 }));
        assert.ok(
          rows.every(({ title }) => title !== 'Never'),
          'it was',
        );
      },
    }),

    'a key that is refused': (d, s, another) => ({
      'the right one': async () => {
        s.id = String((await write(d, 'With the right key')).id);
      },
      'a wrong one is nobody': async () => refused(another('nobodyHasThisKey').getCurrentUser(), 401),
      'it makes nothing': async () => refused(write(another('nobodyHasThisKey'), 'Intruder'), 401),
      'it changes nothing': async () => refused(another('nobodyHasThisKey').updateArticle(Number(s.id), { title: 'Taken' }), 401),
      'it has no articles': async () => refused(another('nobodyHasThisKey').getMyArticles(), 401),
      'the article is as it was': async () => assert.equal((await d.getArticle(Number(s.id))).title, 'With the right key'),
    }),
  },
};
