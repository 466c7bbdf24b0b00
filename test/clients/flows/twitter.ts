import assert from 'node:assert/strict';
import { type auth, Client } from 'twitter-api-sdk';
import { gather, given, once, type Place, refused, type State, statusOf, type Vendor } from '../kit.ts';

/** Without a token nothing is sent for one, which the client's own `OAuth2Bearer` would do. */
const connect = (place: Place, token: string): Client => {
  const sender = { getAuthHeader: () => (token === '' ? {} : { Authorization: `Bearer ${token}` }) };
  return new Client(sender as auth.OAuth2Bearer, { base_url: place.base, max_retries: 0 });
};

interface Rows {
  readonly data?: readonly { readonly id: string }[];
}
interface Problem {
  readonly type: string;
}
const rows = ({ data }: Rows): readonly { readonly id: string }[] => data ?? [];
const ids = (all: readonly { readonly id: string }[]): string[] => all.map(({ id }) => id);

const tweet = async (twitter: Client, text: string): Promise<string> =>
  given((await twitter.tweets.createTweet({ text })).data, 'data').id;
const list = async (twitter: Client, name: string): Promise<string> =>
  given((await twitter.lists.listIdCreate({ name })).data, 'data').id;
const me = async (twitter: Client, s: State): Promise<void> => {
  const { data } = await twitter.users.findMyUser();
  s.me = given(data, 'data').id;
};

/** The guide, "Response codes and errors": what is not there is a problem in the answer, or the status 404. */
const gone = async (answer: Promise<{ data?: unknown; errors?: readonly Problem[] }>): Promise<void> => {
  try {
    const { data, errors } = await answer;
    assert.equal(data, undefined);
    assert.equal(errors?.[0]?.type, 'https://api.twitter.com/2/problems/resource-not-found');
  } catch (thrown) {
    if (statusOf(thrown) !== 404) throw thrown;
  }
};

/** TwitterDev, whom the guide follows, mutes and adds to lists. */
const dev = '2244994945';

/** Guide: developer.twitter.com/en/docs/twitter-api, "Manage Posts", "Likes", "Lists", "Follows", "Filtered stream", "Pagination", "Response codes and errors". */
export const vendor: Vendor<Client> = {
  document: 'twitter/twitter.com.json',
  header: 'Authorization',
  word: 'Bearer',
  made: 'AAAAAAAAAAAAAAAAAAAAAFnz2wAAAAAAxTmQbp',
  client: connect,
  flows: {
    'a Tweet is made, read and deleted': (twitter, s) => ({
      create: async () => {
        const { data } = await twitter.tweets.createTweet({ text: 'Are you excited for the weekend?' });
        s.id = given(data, 'data').id;
        assert.equal(data?.text, 'Are you excited for the weekend?');
      },
      read: async () => {
        const { data } = await twitter.tweets.findTweetById(s.id);
        assert.deepEqual([data?.id, data?.text], [s.id, 'Are you excited for the weekend?']);
      },
      delete: async () => assert.equal((await twitter.tweets.deleteTweetById(s.id)).data?.deleted, true),
      'it is gone': () => gone(twitter.tweets.findTweetById(s.id)),
    }),
    'several Tweets at once': (twitter, s) => ({
      'create two': async () => {
        for (const n of [1, 2]) s[`id${n}`] = await tweet(twitter, `Number ${n}`);
      },
      'read both': async () => {
        const { data, errors } = await twitter.tweets.findTweetsById({ ids: [s.id1, s.id2] });
        assert.deepEqual([ids(data ?? []).sort(), errors], [[s.id1, s.id2].sort(), undefined]);
      },
      'one and one that there is not': async () => {
        await twitter.tweets.deleteTweetById(s.id2);
        const { data, errors } = await twitter.tweets.findTweetsById({ ids: [s.id1, s.id2] });
        assert.deepEqual(ids(data ?? []), [s.id1]);
        assert.equal(errors?.length, 1);
      },
    }),
    'who is asking': (twitter, s) => ({
      me: async () => {
        const { data } = await twitter.users.findMyUser();
        s.me = given(data, 'data').id;
        s.name = given(data, 'data').username;
        assert.equal(typeof data?.name, 'string');
      },
      'the same by the ID': async () => assert.equal((await twitter.users.findUserById(s.me)).data?.username, s.name),
      'the same by the name': async () => assert.equal((await twitter.users.findUserByUsername(s.name)).data?.id, s.me),
      'among several': async () => assert.deepEqual(ids((await twitter.users.findUsersById({ ids: [s.me] })).data ?? []), [s.me]),
      'a name that nobody has': () => gone(twitter.users.findUserByUsername('nobody_has_this')),
    }),
    "a user's Tweets, as the client walks them": (twitter, s) => ({
      'create seven': async () => {
        await me(twitter, s);
        for (const n of [1, 2, 3, 4, 5, 6, 7]) s[`id${n}`] = await tweet(twitter, `Part ${n} of 7`);
      },
      'pages of five': async () => {
        const all = await gather(twitter.tweets.usersIdTweets(s.me, { max_results: 5 }), rows);
        once(ids(all), [s.id1, s.id2, s.id3, s.id4, s.id5, s.id6, s.id7], 'pages');
      },
      'a page holds what was asked for': async () => {
        const page = await twitter.tweets.usersIdTweets(s.me, { max_results: 5 });
        assert.deepEqual([page.data?.length, page.meta?.result_count], [5, 5]);
        assert.equal(typeof page.meta?.next_token, 'string');
      },
      'they are mine': async () => {
        const { data } = await twitter.tweets.findTweetById(s.id1, { 'tweet.fields': ['author_id'] });
        assert.equal(data?.author_id, s.me);
      },
    }),
    'a reply, which is hidden': (twitter, s) => ({
      'create both': async () => {
        s.id = await tweet(twitter, 'What do you think?');
        const { data } = await twitter.tweets.createTweet({ text: 'Nothing', reply: { in_reply_to_tweet_id: s.id } });
        s.reply = given(data, 'data').id;
      },
      'it refers to the first': async () => {
        const { data } = await twitter.tweets.findTweetById(s.reply, {
          'tweet.fields': ['referenced_tweets', 'conversation_id'],
        });
        assert.deepEqual(data?.referenced_tweets, [{ type: 'replied_to', id: s.id }]);
      },
      hide: async () => assert.equal((await twitter.tweets.hideReplyById(s.reply, { hidden: true })).data?.hidden, true),
      show: async () => assert.equal((await twitter.tweets.hideReplyById(s.reply, { hidden: false })).data?.hidden, false),
    }),
    'a Tweet is liked': (twitter, s) => ({
      create: async () => {
        await me(twitter, s);
        s.id = await tweet(twitter, 'Like me');
      },
      like: async () => assert.equal((await twitter.tweets.usersIdLike(s.me, { tweet_id: s.id })).data?.liked, true),
      'it is among those I like': async () => once(ids(rows(await twitter.tweets.usersIdLikedTweets(s.me))), [s.id], 'likes'),
      'I am among those who like it': async () => once(ids(rows(await twitter.users.tweetsIdLikingUsers(s.id))), [s.me], 'users'),
      unlike: async () => assert.equal((await twitter.tweets.usersIdUnlike(s.me, s.id)).data?.liked, false),
      'it is not any more': async () => assert.ok(!ids(rows(await twitter.tweets.usersIdLikedTweets(s.me))).includes(s.id)),
    }),
    'a Tweet is reposted': (twitter, s) => ({
      create: async () => {
        await me(twitter, s);
        s.id = await tweet(twitter, 'Tell everybody');
      },
      repost: async () => assert.equal((await twitter.tweets.usersIdRetweets(s.me, { tweet_id: s.id })).data?.retweeted, true),
      'I am among those who did': async () => once(ids(rows(await twitter.users.tweetsIdRetweetingUsers(s.id))), [s.me], 'users'),
      'take it back': async () => assert.equal((await twitter.tweets.usersIdUnretweets(s.me, s.id)).data?.retweeted, false),
      'nobody did': async () => assert.deepEqual(rows(await twitter.users.tweetsIdRetweetingUsers(s.id)), []),
    }),
    'bookmarks, page after page': (twitter, s) => ({
      'create three, and keep them': async () => {
        await me(twitter, s);
        for (const n of [1, 2, 3]) {
          s[`id${n}`] = await tweet(twitter, `Read ${n} later`);
          const { data } = await twitter.bookmarks.postUsersIdBookmarks(s.me, { tweet_id: s[`id${n}`] });
          assert.equal(data?.bookmarked, true);
        }
      },
      'pages of two': async () => {
        const all = await gather(twitter.bookmarks.getUsersIdBookmarks(s.me, { max_results: 2 }), rows);
        assert.deepEqual(ids(all).sort(), [s.id1, s.id2, s.id3].sort());
      },
      'take one away': async () =>
        assert.equal((await twitter.bookmarks.usersIdBookmarksDelete(s.me, s.id2)).data?.bookmarked, false),
      'two are left': async () =>
        assert.deepEqual(ids(rows(await twitter.bookmarks.getUsersIdBookmarks(s.me))).sort(), [s.id1, s.id3].sort()),
    }),
    'a List is made, changed and deleted': (twitter, s) => ({
      create: async () => {
        const { data } = await twitter.lists.listIdCreate({ name: 'test v2 create list', description: 'A test', private: false });
        s.id = given(data, 'data').id;
        assert.equal(data?.name, 'test v2 create list');
      },
      read: async () => {
        const { data } = await twitter.lists.listIdGet(s.id, { 'list.fields': ['description', 'private'] });
        assert.deepEqual([data?.name, data?.description, data?.private], ['test v2 create list', 'A test', false]);
      },
      change: async () => {
        const { data } = await twitter.lists.listIdUpdate(s.id, { name: 'test v2 update list', private: true });
        assert.equal(data?.updated, true);
      },
      'it is changed, and keeps the rest': async () => {
        const { data } = await twitter.lists.listIdGet(s.id, { 'list.fields': ['description', 'private'] });
        assert.deepEqual([data?.name, data?.description, data?.private], ['test v2 update list', 'A test', true]);
      },
      delete: async () => assert.equal((await twitter.lists.listIdDelete(s.id)).data?.deleted, true),
      'it is gone': () => gone(twitter.lists.listIdGet(s.id)),
    }),
    'Lists that I own, as the client walks them': (twitter, s) => ({
      'create three': async () => {
        await me(twitter, s);
        for (const n of [1, 2, 3]) s[`id${n}`] = await list(twitter, `List ${n}`);
      },
      'pages of two': async () => {
        const all = await gather(twitter.lists.listUserOwnedLists(s.me, { max_results: 2 }), rows);
        once(ids(all), [s.id1, s.id2, s.id3], 'pages');
      },
      'pin one': async () => assert.equal((await twitter.lists.listUserPin(s.me, { list_id: s.id2 })).data?.pinned, true),
      'one is pinned': async () => assert.deepEqual(ids(rows(await twitter.lists.listUserPinnedLists(s.me))), [s.id2]),
      'unpin it': async () => assert.equal((await twitter.lists.listUserUnpin(s.me, s.id2)).data?.pinned, false),
    }),
    'members of a List': (twitter, s) => ({
      create: async () => {
        s.id = await list(twitter, 'Developers');
      },
      'there are none': async () => assert.deepEqual(rows(await twitter.users.listGetMembers(s.id)), []),
      add: async () => assert.equal((await twitter.lists.listAddMember(s.id, { user_id: dev })).data?.is_member, true),
      'there is one': async () => assert.deepEqual(ids(rows(await twitter.users.listGetMembers(s.id))), [dev]),
      remove: async () => assert.equal((await twitter.lists.listRemoveMember(s.id, dev)).data?.is_member, false),
      'there are none again': async () => assert.deepEqual(rows(await twitter.users.listGetMembers(s.id)), []),
    }),
    'follow, mute and block': (twitter, s) => ({
      me: () => me(twitter, s),
      follow: async () => {
        const { data } = await twitter.users.usersIdFollow(s.me, { target_user_id: dev });
        assert.equal(data?.following, true);
      },
      'I follow': async () => once(ids(rows(await twitter.users.usersIdFollowing(s.me))), [dev], 'users'),
      unfollow: async () => assert.equal((await twitter.users.usersIdUnfollow(s.me, dev)).data?.following, false),
      mute: async () => {
        assert.equal((await twitter.users.usersIdMute(s.me, { target_user_id: dev })).data?.muting, true);
        once(ids(rows(await twitter.users.usersIdMuting(s.me))), [dev], 'users');
      },
      unmute: async () => assert.equal((await twitter.users.usersIdUnmute(s.me, dev)).data?.muting, false),
      block: async () => {
        assert.equal((await twitter.users.usersIdBlock(s.me, { target_user_id: dev })).data?.blocking, true);
        once(ids(rows(await twitter.users.usersIdBlocking(s.me))), [dev], 'users');
      },
      unblock: async () => {
        assert.equal((await twitter.users.usersIdUnblock(s.me, dev)).data?.blocking, false);
        assert.ok(!ids(rows(await twitter.users.usersIdBlocking(s.me))).includes(dev));
      },
    }),
    'rules of the filtered stream': (twitter, s) => ({
      add: async () => {
        const { data, meta } = await twitter.tweets.addOrDeleteRules({
          add: [
            { value: 'cat has:media', tag: 'cats with media' },
            { value: 'cat has:media -grumpy', tag: 'happy cats with media' },
          ],
        });
        assert.equal(data?.length, 2);
        s.id1 = given(data?.[0]?.id, 'id');
        s.id2 = given(data?.[1]?.id, 'id');
        assert.equal((meta.summary as { created?: number } | undefined)?.created, 2);
      },
      list: async () => {
        const { data } = await twitter.tweets.getRules();
        assert.deepEqual(
          data?.map(({ id, value, tag }) => [id, value, tag]).sort(),
          [
            [s.id1, 'cat has:media', 'cats with media'],
            [s.id2, 'cat has:media -grumpy', 'happy cats with media'],
          ].sort(),
        );
      },
      'delete one': async () => {
        const { meta } = await twitter.tweets.addOrDeleteRules({ delete: { ids: [s.id1] } });
        assert.equal((meta.summary as { deleted?: number } | undefined)?.deleted, 1);
      },
      'the other is left': async () =>
        assert.deepEqual(
          (await twitter.tweets.getRules()).data?.map(({ id }) => id),
          [s.id2],
        ),
    }),
    'a credential that is refused': (twitter, _s, another) => ({
      'the right one is taken': async () => assert.equal(typeof (await twitter.users.findMyUser()).data?.id, 'string'),
      'none is refused': () => refused(another('').users.findMyUser(), 401),
      'none makes nothing': () => refused(another('').tweets.createTweet({ text: 'Hello' }), 401),
    }),
    'requests that are wrong': (twitter, s) => ({
      'an ID that is none': () => refused(twitter.tweets.findTweetById('not-a-number'), 400),
      'more on a page than there may be': async () => {
        await me(twitter, s);
        await refused(Promise.resolve(twitter.tweets.usersIdTweets(s.me, { max_results: 1000 })), 400);
      },
      'a List without a name': () => refused(twitter.lists.listIdCreate({} as { name: string }), 400),
      'a reply to nothing': () =>
        refused(twitter.tweets.createTweet({ text: 'Hm', reply: {} as { in_reply_to_tweet_id: string } }), 400),
      'a field that there is not': async () => {
        const asked = { 'tweet.fields': ['mood'] } as unknown as Parameters<Client['tweets']['findTweetById']>[1];
        await refused(twitter.tweets.findTweetById('1228393702244134912', asked), 400);
      },
      'a Tweet that there is not': () => gone(twitter.tweets.findTweetById('1228393702244134912')),
    }),
  },
};
