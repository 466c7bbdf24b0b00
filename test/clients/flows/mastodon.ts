import assert from 'node:assert/strict';
import { createRestAPIClient, type mastodon } from 'masto';
import { gather, given, once, type Place, refused, type State, type Vendor } from '../kit.ts';

type Mastodon = mastodon.rest.Client;

const ids = (rows: readonly { id: string }[]): string[] => rows.map(({ id }) => id);

const post = async (masto: Mastodon, s: State, status: string, name = 'id'): Promise<mastodon.v1.Status> => {
  const made = await masto.v1.statuses.create({ status, visibility: 'public' });
  s[name] = made.id;
  return made;
};

/** Somebody else, whom every search of accounts may show. */
const somebody = async (masto: Mastodon, s: State): Promise<void> => {
  const found = await masto.v1.accounts.search.list({ q: 'gargron', limit: 1 });
  s.account = given(found[0], 'account').id;
};

const tomorrow = (days = 1): string => new Date(Date.now() + days * 86_400_000).toISOString();

/** Guide: docs.joinmastodon.org, "Playing with public data", "Logging in with an account" and the reference of its methods. */
export const vendor: Vendor<Mastodon> = {
  document: 'mastodon/mastodon.local.json',
  header: 'Authorization',
  word: 'Bearer',
  made: 'ZA-Yj3aBD8U8Cm7lKUp-lm9O9BmDgdhHzDeqsY8tlL0',
  client: (place: Place, token: string) => createRestAPIClient({ url: place.base, accessToken: token }),
  flows: {
    'a status is posted, read and deleted': (masto, s) => ({
      post: async () => {
        const made = await masto.v1.statuses.create({
          status: 'Hello world',
          visibility: 'unlisted',
          sensitive: true,
          spoilerText: 'greeting',
          language: 'en',
        });
        s.id = made.id;
        assert.deepEqual([made.visibility, made.sensitive, made.spoilerText], ['unlisted', true, 'greeting']);
      },
      read: async () => {
        const read = await masto.v1.statuses.$select(s.id).fetch();
        assert.deepEqual([read.id, read.visibility, read.spoilerText, read.language], [s.id, 'unlisted', 'greeting', 'en']);
      },
      delete: async () => masto.v1.statuses.$select(s.id).remove(),
      'it is gone': async () => {
        await refused(masto.v1.statuses.$select(s.id).fetch(), 404);
      },
      'it cannot be deleted again': async () => {
        await refused(masto.v1.statuses.$select(s.id).remove(), 404);
      },
    }),
    'a reply': (masto, s) => ({
      'a status': async () => post(masto, s, 'Who is there?'),
      reply: async () => {
        const made = await masto.v1.statuses.create({ status: 'I am', inReplyToId: s.id });
        s.reply = made.id;
        assert.equal(made.inReplyToId, s.id);
      },
      'the reply names what it answers': async () =>
        assert.equal((await masto.v1.statuses.$select(s.reply).fetch()).inReplyToId, s.id),
      'the context of the status has the reply': async () => {
        const { descendants } = await masto.v1.statuses.$select(s.id).context.fetch();
        once(ids(descendants), [s.reply], 'descendants');
      },
      'the context of the reply has the status': async () => {
        const { ancestors } = await masto.v1.statuses.$select(s.reply).context.fetch();
        once(ids(ancestors), [s.id], 'ancestors');
      },
    }),
    'a status is a favourite': (masto, s) => ({
      'two statuses': async () => {
        await post(masto, s, 'Like me');
        await post(masto, s, 'Do not', 'other');
      },
      favourite: async () => {
        const liked = await masto.v1.statuses.$select(s.id).favourite();
        assert.deepEqual([liked.id, liked.favourited], [s.id, true]);
      },
      'it is one when it is read': async () => assert.equal((await masto.v1.statuses.$select(s.id).fetch()).favourited, true),
      'it alone is listed': async () => {
        const rows = ids(await masto.v1.favourites.list());
        once(rows, [s.id], 'favourites');
        assert.ok(!rows.includes(s.other));
      },
      'no more': async () => assert.equal((await masto.v1.statuses.$select(s.id).unfavourite()).favourited, false),
      'it is not listed': async () => assert.ok(!ids(await masto.v1.favourites.list()).includes(s.id)),
    }),
    'a status is bookmarked': (masto, s) => ({
      'two statuses': async () => {
        await post(masto, s, 'Read me later');
        await post(masto, s, 'Not me', 'other');
      },
      bookmark: async () => assert.equal((await masto.v1.statuses.$select(s.id).bookmark()).bookmarked, true),
      'it alone is listed': async () => {
        const rows = ids(await masto.v1.bookmarks.list());
        once(rows, [s.id], 'bookmarks');
        assert.ok(!rows.includes(s.other));
      },
      'take it away': async () => assert.equal((await masto.v1.statuses.$select(s.id).unbookmark()).bookmarked, false),
      'it has none': async () => assert.equal((await masto.v1.statuses.$select(s.id).fetch()).bookmarked, false),
      'it is not listed': async () => assert.ok(!ids(await masto.v1.bookmarks.list()).includes(s.id)),
    }),
    'a status is pinned and muted': (masto, s) => ({
      'a status': async () => post(masto, s, 'Look here'),
      pin: async () => assert.equal((await masto.v1.statuses.$select(s.id).pin()).pinned, true),
      'it is pinned': async () => assert.equal((await masto.v1.statuses.$select(s.id).fetch()).pinned, true),
      unpin: async () => assert.equal((await masto.v1.statuses.$select(s.id).unpin()).pinned, false),
      'mute its conversation': async () => assert.equal((await masto.v1.statuses.$select(s.id).mute()).muted, true),
      'it is muted': async () => assert.equal((await masto.v1.statuses.$select(s.id).fetch()).muted, true),
      unmute: async () => assert.equal((await masto.v1.statuses.$select(s.id).unmute()).muted, false),
    }),
    'a status that does not come twice': (masto, s) => ({
      post: async () => {
        const made = await masto.v1.statuses.create(
          { status: 'Only once' },
          { requestInit: { headers: { 'Idempotency-Key': 'a1' } } },
        );
        s.id = made.id;
      },
      'the same again': async () => {
        const made = await masto.v1.statuses.create(
          { status: 'Only once' },
          { requestInit: { headers: { 'Idempotency-Key': 'a1' } } },
        );
        assert.equal(made.id, s.id);
      },
      'another key makes another': async () => {
        const made = await masto.v1.statuses.create(
          { status: 'Only once' },
          { requestInit: { headers: { 'Idempotency-Key': 'a2' } } },
        );
        assert.notEqual(made.id, s.id);
      },
    }),
    'a status is scheduled, put off and called off': (masto, s) => ({
      schedule: async () => {
        s.first = tomorrow();
        const made = await masto.v1.statuses.create({ status: 'Tomorrow', scheduledAt: s.first });
        s.id = made.id;
        assert.equal(Date.parse(made.scheduledAt), Date.parse(s.first));
      },
      read: async () => {
        const read = await masto.v1.scheduledStatuses.$select(s.id).fetch();
        assert.deepEqual([read.id, Date.parse(read.scheduledAt)], [s.id, Date.parse(s.first)]);
      },
      'it is listed': async () => once(ids(await masto.v1.scheduledStatuses.list()), [s.id], 'scheduled statuses'),
      'put it off': async () => {
        s.second = tomorrow(2);
        const changed = await masto.v1.scheduledStatuses.$select(s.id).update({ scheduledAt: s.second });
        assert.deepEqual([changed.id, Date.parse(changed.scheduledAt)], [s.id, Date.parse(s.second)]);
      },
      'it stays put off': async () => {
        const read = await masto.v1.scheduledStatuses.$select(s.id).fetch();
        assert.equal(Date.parse(read.scheduledAt), Date.parse(s.second));
      },
      'call it off': async () => masto.v1.scheduledStatuses.$select(s.id).remove(),
      'it is gone': async () => {
        await refused(masto.v1.scheduledStatuses.$select(s.id).fetch(), 404);
      },
    }),
    'bookmarks, as the client walks them': (masto, s) => ({
      'five of them': async () => {
        for (const n of [1, 2, 3, 4, 5]) {
          await post(masto, s, `Part ${n}`, `id${n}`);
          await masto.v1.statuses.$select(s[`id${n}`]).bookmark();
        }
      },
      'each is another': async () => assert.equal(new Set([s.id1, s.id2, s.id3, s.id4, s.id5]).size, 5),
      'a page holds what was asked for': async () => assert.equal((await masto.v1.bookmarks.list({ limit: 2 })).length, 2),
      'pages of two, as its Link header leads': async () => {
        const rows = await gather(masto.v1.bookmarks.list({ limit: 2 }), (page) => page);
        once(ids(rows), [s.id1, s.id2, s.id3, s.id4, s.id5], 'bookmarks');
      },
    }),
    'a list': (masto, s) => ({
      create: async () => {
        const made = await masto.v1.lists.create({ title: 'Friends' });
        s.id = made.id;
        assert.equal(made.title, 'Friends');
      },
      read: async () => {
        const read = await masto.v1.lists.$select(s.id).fetch();
        assert.deepEqual([read.id, read.title], [s.id, 'Friends']);
      },
      'another one': async () => {
        s.other = (await masto.v1.lists.create({ title: 'Family' })).id;
        assert.notEqual(s.other, s.id);
      },
      'both are listed': async () => once(ids(await masto.v1.lists.list()), [s.id, s.other], 'lists'),
      'it has nobody yet': async () => assert.deepEqual(await masto.v1.lists.$select(s.id).accounts.list(), []),
      'one that is not there': async () => {
        await refused(masto.v1.lists.$select('424242424242').fetch(), 404);
      },
    }),
    'who is on a list': (masto, s) => ({
      'a list, and somebody who is followed': async () => {
        await somebody(masto, s);
        await masto.v1.accounts.$select(s.account).follow();
        s.id = (await masto.v1.lists.create({ title: 'News' })).id;
      },
      'put them on it': async () => masto.v1.lists.$select(s.id).accounts.create({ accountIds: [s.account] }),
      'they are on it': async () => assert.deepEqual(ids(await masto.v1.lists.$select(s.id).accounts.list()), [s.account]),
      'their account tells the list': async () =>
        once(ids(await masto.v1.accounts.$select(s.account).lists.list()), [s.id], 'lists'),
      'take them off it': async () => masto.v1.lists.$select(s.id).accounts.remove({ accountIds: [s.account] }),
      'nobody is on it': async () => assert.deepEqual(await masto.v1.lists.$select(s.id).accounts.list(), []),
    }),
    'somebody is followed': (masto, s) => ({
      find: async () => somebody(masto, s),
      read: async () => assert.equal((await masto.v1.accounts.$select(s.account).fetch()).id, s.account),
      follow: async () => {
        const made = await masto.v1.accounts.$select(s.account).follow({ notify: true });
        assert.deepEqual([made.id, made.following], [s.account, true]);
      },
      'the relationship says so': async () => {
        const [found] = await masto.v1.accounts.relationships.fetch({ id: [s.account] });
        assert.deepEqual([found.id, found.following], [s.account, true]);
      },
      unfollow: async () => assert.equal((await masto.v1.accounts.$select(s.account).unfollow()).following, false),
      'the relationship says so too': async () => {
        const [found] = await masto.v1.accounts.relationships.fetch({ id: [s.account] });
        assert.equal(found.following, false);
      },
    }),
    'somebody is blocked': (masto, s) => ({
      find: async () => somebody(masto, s),
      block: async () => assert.equal((await masto.v1.accounts.$select(s.account).block()).blocking, true),
      'they are listed': async () => once(ids(await masto.v1.blocks.list()), [s.account], 'blocks'),
      unblock: async () => assert.equal((await masto.v1.accounts.$select(s.account).unblock()).blocking, false),
      'they are not listed': async () => assert.ok(!ids(await masto.v1.blocks.list()).includes(s.account)),
    }),
    'a note on somebody': (masto, s) => ({
      find: async () => somebody(masto, s),
      write: async () => {
        const made = await masto.v1.accounts.$select(s.account).note.create({ comment: 'Met in Bern' });
        assert.deepEqual([made.id, made.note], [s.account, 'Met in Bern']);
      },
      'the relationship has it': async () => {
        const [found] = await masto.v1.accounts.relationships.fetch({ id: [s.account] });
        assert.equal(found.note, 'Met in Bern');
      },
      'take it away': async () =>
        assert.equal((await masto.v1.accounts.$select(s.account).note.create({ comment: '' })).note, ''),
    }),
    'a tag is featured': (masto, s) => ({
      feature: async () => {
        const made = await masto.v1.featuredTags.create({ name: 'nowplaying' });
        s.id = made.id;
        assert.equal(made.name, 'nowplaying');
      },
      'another one': async () => {
        s.other = (await masto.v1.featuredTags.create({ name: 'photography' })).id;
      },
      'both are listed': async () => once(ids(await masto.v1.featuredTags.list()), [s.id, s.other], 'tags'),
      'take the first away': async () => masto.v1.featuredTags.$select(s.id).remove(),
      'the other is left': async () => {
        const rows = ids(await masto.v1.featuredTags.list());
        once(rows, [s.other], 'tags');
        assert.ok(!rows.includes(s.id));
      },
      'it cannot be taken away again': async () => {
        await refused(masto.v1.featuredTags.$select(s.id).remove(), 404);
      },
    }),
    'a filter is made, changed and deleted': (masto, s) => ({
      create: async () => {
        const made = await masto.v1.filters.create({ phrase: 'spoiler', context: ['home', 'public'], wholeWord: true });
        s.id = made.id;
        assert.deepEqual([made.phrase, [...made.context].sort(), made.wholeWord], ['spoiler', ['home', 'public'], true]);
      },
      read: async () => {
        const read = await masto.v1.filters.$select(s.id).fetch();
        assert.deepEqual([read.id, read.phrase], [s.id, 'spoiler']);
      },
      'it is listed': async () => once(ids(await masto.v1.filters.list()), [s.id], 'filters'),
      change: async () => {
        const changed = await masto.v1.filters.$select(s.id).update({ phrase: 'final episode', context: ['thread'] });
        assert.deepEqual([changed.id, changed.phrase, changed.context], [s.id, 'final episode', ['thread']]);
      },
      'it stays changed': async () => {
        const read = await masto.v1.filters.$select(s.id).fetch();
        assert.deepEqual([read.phrase, read.context], ['final episode', ['thread']]);
      },
      delete: async () => masto.v1.filters.$select(s.id).remove(),
      'it is gone': async () => {
        await refused(masto.v1.filters.$select(s.id).fetch(), 404);
      },
    }),
    'a domain is blocked': (masto) => ({
      block: async () => masto.v1.domainBlocks.create({ domain: 'nsfw.example.com' }),
      'it is listed': async () => once(await masto.v1.domainBlocks.list(), ['nsfw.example.com'], 'domains'),
      unblock: async () => masto.v1.domainBlocks.remove({ domain: 'nsfw.example.com' }),
      'it is not listed': async () => assert.ok(!(await masto.v1.domainBlocks.list()).includes('nsfw.example.com')),
    }),
    'an application is registered': (masto, s) => ({
      register: async () => {
        const made = await masto.v1.apps.create({
          clientName: 'Test Application',
          redirectUris: 'urn:ietf:wg:oauth:2.0:oob',
          scopes: 'read write push',
          website: 'https://myapp.example',
        });
        s.client = given(made.clientId, 'client_id');
        assert.deepEqual(
          [made.name, made.website, typeof made.clientSecret],
          ['Test Application', 'https://myapp.example', 'string'],
        );
      },
      'another has another id': async () => {
        const made = await masto.v1.apps.create({
          clientName: 'Another',
          redirectUris: 'urn:ietf:wg:oauth:2.0:oob',
          scopes: 'read',
        });
        assert.notEqual(made.clientId, s.client);
      },
      'it needs a name': async () => {
        const asked = { redirectUris: 'urn:ietf:wg:oauth:2.0:oob', scopes: 'read' } as mastodon.rest.v1.CreateAppParams;
        await refused(masto.v1.apps.create(asked), 422);
      },
    }),
    'a credential that is refused': (masto, _s, another) => ({
      'the right one is taken': async () => assert.equal(typeof (await masto.v1.accounts.verifyCredentials()).id, 'string'),
      'another one is not': async () => {
        await refused(another('nobody').v1.accounts.verifyCredentials(), 401);
      },
      'nor may it post': async () => {
        await refused(another('nobody').v1.statuses.create({ status: 'Hello' }), 401);
      },
    }),
  },
  strict: ['a credential that is refused'],
};
