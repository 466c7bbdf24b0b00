import assert from 'node:assert/strict';
import Discourse, { HTTPError } from 'discourse2';
import { given, once, type Place, refused, type Vendor } from '../kit.ts';

/** Whom the key acts for. */
const caller = (place: Place): string => place.printed.find(({ name }) => name === 'api-username')?.value ?? 'system';

const connect = (place: Place, token: string): Discourse =>
  new Discourse(place.url, { 'Api-Key': token, 'Api-Username': caller(place) });

/** What the service says of a refusal: the client has the answer's text in its own message. */
const said = (thrown: unknown): string[] => {
  assert.ok(thrown instanceof HTTPError);
  const [, body = ''] = thrown.message.split(/Returned HTTP \d+: /);
  return given((JSON.parse(body) as { errors?: string[] }).errors, 'errors of the answer');
};

/** A test of the client's own is left out, so that the service meets the mistake. */
const unchecked = { validateParams: false } as const;

const words = 'It is as long as the smallest post has to be, and somewhat longer.';

const category = async (api: Discourse, name: string, more: object = {}) =>
  (await api.createCategory({ name, color: '49d9e9', text_color: 'f0fcfd', ...more })).category;

/** The first post of a new topic. */
const topic = async (api: Discourse, title: string, more: object = {}) =>
  api.createTopicPostPM({ title, raw: `${title}? ${words}`, ...more });

const person = async (api: Discourse, username: string): Promise<number> => {
  const email = `${username}@example.com`;
  const made = await api.createUser({ name: username, username, email, password: `a-long-pass-of-${username}`, active: true });
  assert.equal(made.success, true);
  return given(made.user_id, 'id of the person');
};

type Topics = { readonly topic_list?: { readonly topics?: readonly { readonly id?: number; readonly title?: string }[] } };
const titles = ({ topic_list }: Topics): string[] =>
  given(topic_list?.topics, 'topics').map(({ title }) => given(title, 'title'));

/** Guide: docs.discourse.org, and meta.discourse.org/t/-/22706 for topics, posts, categories, groups and people. */
export const vendor: Vendor<Discourse> = {
  document: 'discourse/discourse.local.json',
  header: 'Api-Key',
  also: ['api-username'],
  made: '714552c6148e1617aeab526d0606184b94a80ec048fc09894ff1a72b740c5f19',
  client: connect,
  strict: ['a key that is refused'],
  flows: {
    'a category is made and renamed': (api, s) => ({
      create: async () => {
        const made = await category(api, 'Gardening', { slug: 'gardening' });
        s.id = String(made.id);
        assert.deepEqual([made.name, made.slug, made.color, made.text_color], ['Gardening', 'gardening', '49d9e9', 'f0fcfd']);
      },
      read: async () => {
        const { category: read } = await api.getCategory({ id: Number(s.id) });
        assert.deepEqual([String(read.id), read.name, read.slug], [s.id, 'Gardening', 'gardening']);
      },
      change: async () => {
        const asked = { id: Number(s.id), name: 'Allotments', color: '112233', text_color: 'ffffff' };
        const { category: changed } = await api.updateCategory(asked);
        assert.deepEqual([String(changed.id), changed.name, changed.color], [s.id, 'Allotments', '112233']);
      },
      'it stays changed': async () => {
        const { category: read } = await api.getCategory({ id: Number(s.id) });
        assert.deepEqual([read.name, read.color], ['Allotments', '112233']);
      },
      'it is listed': async () => {
        const { category_list } = await api.listCategories({});
        once(
          category_list.categories.map(({ id }) => String(id)),
          [s.id],
          'categories',
        );
      },
    }),
    'a category has its own name': (api, s) => ({
      create: async () => {
        s.id = String((await category(api, 'Cooking')).id);
      },
      'the same name is refused': async () => assert.ok(said(await refused(category(api, 'Cooking'), 422)).length > 0),
      'another one below it': async () => {
        const made = await category(api, 'Baking', { parent_category_id: Number(s.id) });
        s.below = String(made.id);
        assert.notEqual(s.below, s.id);
      },
      'both are there': async () => {
        assert.equal((await api.getCategory({ id: Number(s.below) })).category.name, 'Baking');
        assert.equal((await api.getCategory({ id: Number(s.id) })).category.name, 'Cooking');
      },
    }),
    'a topic from its making to its end': (api, s) => ({
      create: async () => {
        const post = await topic(api, 'How to prune an apple tree');
        s.topic = String(post.topic_id);
        s.post = String(post.id);
        assert.equal(post.post_number, 1);
      },
      read: async () => {
        const read = await api.getTopic({ id: s.topic });
        assert.deepEqual([String(read.id), read.title, read.closed], [s.topic, 'How to prune an apple tree', false]);
        assert.equal(read.posts_count, 1);
      },
      'its first post': async () => {
        const read = await api.getPost({ id: s.post });
        assert.deepEqual([String(read.id), String(read.topic_id)], [s.post, s.topic]);
        assert.equal(read.raw, `How to prune an apple tree? ${words}`);
      },
      'another time': async () => {
        assert.equal((await api.updateTopicTimestamp({ id: s.topic, timestamp: '1594291380' })).success, 'OK');
        assert.match((await api.getTopic({ id: s.topic })).created_at, /^2020-07-09T10:43:00/);
      },
      delete: async () => api.removeTopic({ id: s.topic }),
      'it is not among the latest': async () =>
        assert.ok(!titles(await api.listLatestTopics({})).includes('How to prune an apple tree')),
    }),
    'people answer a topic': (api, s) => ({
      ask: async () => {
        s.topic = String((await topic(api, 'When do tulips bloom this year')).topic_id);
      },
      answer: async () => {
        const made = await api.createTopicPostPM({
          topic_id: Number(s.topic),
          raw: 'They bloom in April, where winters are mild.',
        });
        s.post = String(made.id);
        assert.deepEqual([String(made.topic_id), made.post_number], [s.topic, 2]);
      },
      'the topic has both': async () => {
        const { posts_count, post_stream } = await api.getTopic({ id: s.topic });
        assert.deepEqual([posts_count, post_stream.posts.map(({ post_number }) => post_number)], [2, [1, 2]]);
        assert.equal(String(post_stream.posts[1]?.id), s.post);
      },
      'correct the answer': async () => {
        const raw = 'They bloom in May, where winters are not mild.';
        const { post } = await api.updatePost({ id: s.post, post: { raw, edit_reason: 'winters' } });
        assert.equal(String(post.id), s.post);
        assert.equal((await api.getPost({ id: s.post })).raw, raw);
      },
      'delete the answer': async () => {
        await api.deletePost({ id: Number(s.post) } as never);
        const read = await api.getPost({ id: s.post }).catch((thrown: unknown) => thrown);
        if (read instanceof HTTPError) assert.ok([404, 410].includes(read.status), `answered ${read.status}`);
        else assert.notEqual((read as { deleted_at: unknown }).deleted_at, null);
      },
      'there is no answer to nothing': async () =>
        refused(api.createTopicPostPM({ topic_id: 999_999_999, raw: 'Nobody asked, and nobody reads this.' }), 404, 422, 403),
    }),
    'topics of a category': (api, s) => ({
      'two categories': async () => {
        s.birds = String((await category(api, 'Birds', { slug: 'birds' })).id);
        s.bees = String((await category(api, 'Bees', { slug: 'bees' })).id);
      },
      'three topics': async () => {
        await topic(api, 'Robins in the garden shed', { category: Number(s.birds) });
        await topic(api, 'Sparrows below the old roof', { category: Number(s.birds) });
        await topic(api, 'Honey from the city park', { category: Number(s.bees) });
      },
      'two are of birds': async () => {
        const found = titles(await api.listCategoryTopics({ slug: 'birds', id: Number(s.birds) }));
        once(found, ['Robins in the garden shed', 'Sparrows below the old roof'], 'topics');
        assert.ok(!found.includes('Honey from the city park'));
      },
      'one is of bees': async () => {
        const found = titles(await api.listCategoryTopics({ slug: 'bees', id: Number(s.bees) }));
        assert.deepEqual(
          [found.includes('Honey from the city park'), found.includes('Robins in the garden shed')],
          [true, false],
        );
      },
      'all are among the latest': async () => {
        const found = titles(await api.listLatestTopics({ order: 'created', ascending: 'false' }));
        once(found, ['Robins in the garden shed', 'Sparrows below the old roof', 'Honey from the city park'], 'topics');
      },
    }),
    'a topic is closed and opened': (api, s) => ({
      create: async () => {
        s.id = String((await topic(api, 'Should we move the meeting')).topic_id);
        assert.equal((await api.getTopic({ id: s.id })).closed, false);
      },
      close: async () => {
        const { success } = await api.updateTopicStatus({ id: s.id, status: 'closed', enabled: 'true' });
        assert.equal(success, 'OK');
      },
      'it is closed': async () => assert.equal((await api.getTopic({ id: s.id })).closed, true),
      open: async () => api.updateTopicStatus({ id: s.id, status: 'closed', enabled: 'false' }),
      'it is open': async () => assert.equal((await api.getTopic({ id: s.id })).closed, false),
      archive: async () => {
        await api.updateTopicStatus({ id: s.id, status: 'archived', enabled: 'true' });
        const { archived, closed } = await api.getTopic({ id: s.id });
        assert.deepEqual([archived, closed], [true, false]);
      },
    }),
    'a topic is kept for later': (api, s) => ({
      create: async () => {
        s.id = String((await topic(api, 'A recipe that is worth keeping')).topic_id);
        assert.equal((await api.getTopic({ id: s.id })).bookmarked, false);
      },
      keep: async () => api.bookmarkTopic({ id: s.id }),
      'it is kept': async () => assert.equal((await api.getTopic({ id: s.id })).bookmarked, true),
      'it closes by itself': async () => {
        const made = await api.createTopicTimer({ id: s.id, time: '2035-01-01 08:00:00+00:00', status_type: 'close' });
        assert.equal(made.success, 'OK');
        assert.match(given(made.execute_at, 'time'), /^2035-01-01/);
      },
    }),
    'a post that nobody else may change': (api, s) => ({
      create: async () => {
        s.id = String((await topic(api, 'The rules of this very forum')).id);
      },
      lock: async () => assert.equal((await api.lockPost({ id: s.id, locked: 'true' })).locked, true),
      'it stays as it was': async () =>
        assert.equal((await api.getPost({ id: s.id })).raw, `The rules of this very forum? ${words}`),
      unlock: async () => assert.equal((await api.lockPost({ id: s.id, locked: 'false' })).locked, false),
      'it can be changed': async () => {
        await api.updatePost({ id: s.id, post: { raw: `The rules have changed. ${words}` } });
        assert.equal((await api.getPost({ id: s.id })).raw, `The rules have changed. ${words}`);
      },
    }),
    'a group from its making to its end': (api, s) => ({
      create: async () => {
        const { basic_group: made } = await api.createGroup({ group: { name: 'beekeepers', full_name: 'Keepers of bees' } });
        s.id = String(made.id);
        assert.deepEqual([made.name, made.full_name, made.user_count], ['beekeepers', 'Keepers of bees', 0]);
      },
      'read by its name': async () => {
        const { group } = await api.getGroup({ id: 'beekeepers' });
        assert.deepEqual([String(group.id), group.name, group.full_name], [s.id, 'beekeepers', 'Keepers of bees']);
      },
      'a name is there once': async () => refused(api.createGroup({ group: { name: 'beekeepers' } }), 422),
      change: async () => {
        await api.updateGroup({ id: Number(s.id), group: { name: 'beekeepers', full_name: 'Friends of bees' } });
        assert.equal((await api.getGroup({ id: 'beekeepers' })).group.full_name, 'Friends of bees');
      },
      'it is listed': async () => {
        const { groups } = await api.listGroups();
        once(
          groups.map(({ name }) => name),
          ['beekeepers'],
          'groups',
        );
      },
      delete: async () => {
        await api.deleteGroup({ id: Number(s.id) });
        await refused(api.getGroup({ id: 'beekeepers' }), 404);
      },
    }),
    'who is in a group': (api, s) => ({
      'a group and two people': async () => {
        s.id = String((await api.createGroup({ group: { name: 'walkers' } })).basic_group.id);
        await person(api, 'wanda');
        await person(api, 'walter');
      },
      'both join': async () => {
        const { usernames } = await api.addGroupMembers({ id: Number(s.id), usernames: 'wanda,walter' });
        assert.deepEqual([...usernames].sort(), ['walter', 'wanda']);
      },
      'both are in it': async () => {
        const { members, meta } = await api.listGroupMembers({ id: 'walkers' });
        assert.deepEqual([members.map(({ username }) => username).sort(), meta.total], [['walter', 'wanda'], 2]);
      },
      'one leaves': async () => {
        const { usernames } = await api.removeGroupMembers({ id: Number(s.id), usernames: 'walter' });
        assert.deepEqual(usernames, ['walter']);
      },
      'the other stays': async () => {
        const { members } = await api.listGroupMembers({ id: 'walkers' });
        assert.deepEqual(
          members.map(({ username }) => username),
          ['wanda'],
        );
      },
    }),
    'groups of tags': (api, s) => ({
      create: async () => {
        const { tag_group: made } = await api.createTagGroup({ name: 'seasons' });
        s.id = String(made.id);
        assert.equal(made.name, 'seasons');
      },
      read: async () => {
        const { tag_group: read } = await api.getTagGroup({ id: s.id });
        assert.deepEqual([String(read?.id), read?.name], [s.id, 'seasons']);
      },
      rename: async () => {
        const { tag_group: changed } = await api.updateTagGroup({ id: s.id, name: 'months' });
        assert.deepEqual([String(changed?.id), changed?.name], [s.id, 'months']);
      },
      'it is listed renamed': async () => {
        const { tag_groups } = await api.listTagGroups();
        const found = given(tag_groups, 'groups of tags').filter(({ id }) => String(id) === s.id);
        assert.deepEqual(
          found.map(({ name }) => name),
          ['months'],
        );
      },
      'one that is not there': async () => refused(api.getTagGroup({ id: '999999999' }), 404),
    }),
    'a badge from its making to its end': (api, s) => ({
      create: async () => {
        const { badge: made } = await api.createBadge({ name: 'Green thumb', badge_type_id: 2 });
        s.id = String(made.id);
        assert.deepEqual([made.name, made.badge_type_id, made.system], ['Green thumb', 2, false]);
      },
      'it is listed': async () => {
        const { badges } = await api.adminListBadges();
        once(
          badges.map(({ id }) => String(id)),
          [s.id],
          'badges',
        );
      },
      change: async () => {
        const { badge: changed } = await api.updateBadge({ id: Number(s.id), name: 'Golden thumb', badge_type_id: 1 });
        assert.deepEqual([String(changed.id), changed.name, changed.badge_type_id], [s.id, 'Golden thumb', 1]);
      },
      'it stays changed': async () => {
        const found = (await api.adminListBadges()).badges.filter(({ id }) => String(id) === s.id);
        assert.deepEqual(
          found.map(({ name, badge_type_id }) => [name, badge_type_id]),
          [['Golden thumb', 1]],
        );
      },
      delete: async () => api.deleteBadge({ id: Number(s.id) }),
      'it is gone': async () => {
        assert.ok(!(await api.adminListBadges()).badges.some(({ id }) => String(id) === s.id));
        await refused(api.deleteBadge({ id: Number(s.id) }), 404);
      },
    }),
    'a person from their joining to their end': (api, s) => ({
      join: async () => {
        s.id = String(await person(api, 'petra'));
      },
      'read by name': async () => {
        const { user } = await api.getUser({ username: 'petra' });
        assert.deepEqual([String(user.id), user.username, user.name], [s.id, 'petra', 'petra']);
      },
      'read by id': async () => {
        const read = await api.adminGetUser({ id: Number(s.id) });
        assert.deepEqual([String(read.id), read.username, read.active], [s.id, 'petra', true]);
      },
      'another name': async () => {
        assert.equal((await api.updateUser({ username: 'petra', name: 'Petra P.' })).success, 'OK');
        assert.equal((await api.getUser({ username: 'petra' })).user.name, 'Petra P.');
      },
      delete: async () => assert.equal((await api.deleteUser({ id: Number(s.id) })).deleted, true),
      'they are gone': async () => refused(api.adminGetUser({ id: Number(s.id) }), 404),
    }),
    'a person may not come for a while': (api, s) => ({
      join: async () => {
        s.id = String(await person(api, 'ursula'));
      },
      suspend: async () => {
        const asked = { suspend_until: '2121-02-22', reason: 'Too loud', message: 'You were too loud.' };
        const { suspension } = await api.suspendUser({ id: Number(s.id), ...asked });
        assert.equal(suspension.suspend_reason, 'Too loud');
        assert.match(suspension.suspended_till, /^2121-02-2/);
      },
      'it is told': async () => {
        const read = await api.adminGetUser({ id: Number(s.id) });
        assert.match(given(read.full_suspend_reason, 'reason'), /Too loud/);
      },
      silence: async () => {
        const { silence } = await api.silenceUser({ id: Number(s.id), silenced_till: '2121-02-22', reason: 'Still too loud' });
        assert.deepEqual([silence.silenced, silence.silence_reason], [true, 'Still too loud']);
      },
    }),
    'a message to one person': (api, s, _, place) => ({
      join: async () => {
        await person(api, 'paula');
      },
      send: async () => {
        const more = { target_recipients: 'paula', archetype: 'private_message' };
        s.topic = String((await topic(api, 'A word between the two of us', more)).topic_id);
      },
      'it is a message': async () => {
        const read = await api.getTopic({ id: s.topic });
        assert.deepEqual([read.archetype, read.title], ['private_message', 'A word between the two of us']);
      },
      'it is among those that were sent': async () => {
        const found = titles(await api.getUserSentPrivateMessages({ username: caller(place) }));
        once(found, ['A word between the two of us'], 'messages');
      },
      'it is not among the latest topics': async () =>
        assert.ok(!titles(await api.listLatestTopics({})).includes('A word between the two of us')),
    }),
    'what is wrong': (api) => ({
      'a topic without words': async () =>
        refused(api.createTopicPostPM({ title: 'A topic without words' } as never, unchecked), 400, 422),
      'a category without a name': async () => refused(api.createCategory({ color: '49d9e9' } as never, unchecked), 400, 422),
      'a topic that is not there': async () => {
        assert.ok(said(await refused(api.getTopic({ id: '999999999' }), 404)).length > 0);
      },
      'a post that is not there': async () => refused(api.getPost({ id: '999999999' }), 404),
      'a person who is not there': async () => refused(api.getUser({ username: 'nobody-has-this-name' }), 404),
    }),
    'a key that is refused': (api, _, another) => ({
      'the right one': async () => assert.ok(Array.isArray((await api.listTagGroups()).tag_groups)),
      'a wrong one': async () => refused(another('nobodyHasThisKey').listLatestTopics({}), 401, 403),
      'it cannot ask for anybody': async () => refused(another('nobodyHasThisKey').getUser({ username: 'system' }), 401, 403),
    }),
  },
};
