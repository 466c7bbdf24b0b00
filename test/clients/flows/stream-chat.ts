import assert from 'node:assert/strict';
import { type Channel, StreamChat } from 'stream-chat';
import { given, numbered, once, type Place, refused, type State, type Vendor } from '../kit.ts';

/** A server's client: the token that it sends is the given one, instead of one that it signs with the secret. */
const connect = (place: Place, token: string): StreamChat => {
  const said = (name: string, made: string): string => place.printed.find((header) => header.name === name)?.value ?? made;
  const headers = { 'stream-auth-type': said('stream-auth-type', 'jwt'), ...(token !== '' && { Authorization: token }) };
  const key = token === '' ? '' : said('api_key', 'dz5f4d5kzrue');
  return new StreamChat(key, 'tz9ekzbpkvzj', { baseURL: place.base, axiosRequestConfig: { headers } });
};

const people = ['thierry', 'jenny'];

/** Users come first: channels, messages and reactions are theirs. */
const users = async (stream: StreamChat, ids: readonly string[] = people): Promise<void> => {
  await stream.upsertUsers(ids.map((id) => ({ id, name: `Name of ${id}` })));
};

/** A channel of the type for messaging, with both of them in it. */
const room = async (stream: StreamChat, id: string): Promise<Channel> => {
  await users(stream);
  const channel = stream.channel('messaging', id, { name: `Room ${id}`, members: people, created_by_id: 'thierry' });
  await channel.create();
  return channel;
};
const say = async (channel: Channel, text: string, more: object = {}): Promise<string> =>
  (await channel.sendMessage({ text, user_id: 'thierry', ...more })).message.id;

const first = async (stream: StreamChat, s: State): Promise<void> => {
  s.id = await say(await room(stream, 'travel'), 'Hello');
};

/** Guide: getstream.io/chat/docs/node, "Users", "Channels", "Messages", "Threads and replies", "Reactions", "Moderation", "Permissions", "Error codes". */
export const vendor: Vendor<StreamChat> = {
  document: 'stream-chat/stream-io-api.com.json',
  header: 'Authorization',
  // Not a header: the client puts its application's key into every query.
  also: ['api_key', 'stream-auth-type'],
  made: 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzZXJ2ZXIiOnRydWV9.c2lnbmVk',
  hides: true,
  client: connect,
  flows: {
    'users are made and changed': (stream) => ({
      create: async () => {
        const made = await stream.upsertUsers([
          { id: 'thierry', name: 'Thierry', role: 'admin', book: 'dune' },
          { id: 'jenny', name: 'Jenny' },
        ]);
        assert.deepEqual(Object.keys(made.users).sort(), ['jenny', 'thierry']);
        assert.partialDeepStrictEqual(made.users.thierry, { id: 'thierry', name: 'Thierry', role: 'admin', book: 'dune' });
      },
      'find them': async () => {
        const found = await stream.queryUsers({ id: { $in: people } }, { id: 1 });
        assert.deepEqual(
          found.users.map(({ id, name }) => [id, name]),
          [
            ['jenny', 'Jenny'],
            ['thierry', 'Thierry'],
          ],
        );
      },
      'change one of its fields': async () => {
        const changed = await stream.partialUpdateUser({ id: 'thierry', set: { name: 'Thierry S.' } });
        assert.partialDeepStrictEqual(changed.users.thierry, { name: 'Thierry S.', book: 'dune' });
      },
      'the others stay': async () => {
        const found = await stream.queryUsers({ id: { $in: ['thierry'] } });
        assert.partialDeepStrictEqual(found.users[0], { id: 'thierry', name: 'Thierry S.', role: 'admin', book: 'dune' });
      },
      'made again, it is replaced': async () => {
        await stream.upsertUser({ id: 'jenny', name: 'Jenny B.' });
        const found = await stream.queryUsers({ id: { $in: ['jenny'] } });
        assert.deepEqual(
          found.users.map(({ name }) => name),
          ['Jenny B.'],
        );
      },
    }),
    'users, page after page': (stream) => ({
      'create five': () => users(stream, ['u1', 'u2', 'u3', 'u4', 'u5']),
      'pages of two, until one is empty': async () => {
        const five = { id: { $in: ['u1', 'u2', 'u3', 'u4', 'u5'] } };
        const rows = await numbered(
          async (page) => (await stream.queryUsers(five, { id: 1 }, { limit: 2, offset: 2 * page })).users,
          0,
        );
        assert.deepEqual(
          rows.map(({ id }) => id),
          ['u1', 'u2', 'u3', 'u4', 'u5'],
        );
      },
      'the last first': async () => {
        const { users: rows } = await stream.queryUsers({ id: { $in: ['u1', 'u2', 'u3'] } }, { id: -1 }, { limit: 1 });
        assert.deepEqual(
          rows.map(({ id }) => id),
          ['u3'],
        );
      },
    }),
    'a user is deactivated and reactivated': (stream) => ({
      create: () => users(stream),
      deactivate: async () => {
        const { user } = await stream.deactivateUser('jenny');
        assert.deepEqual([user.id, typeof user.deactivated_at], ['jenny', 'string']);
      },
      'she is not found': async () => assert.deepEqual((await stream.queryUsers({ id: { $in: ['jenny'] } })).users, []),
      reactivate: async () => assert.equal((await stream.reactivateUser('jenny')).user.id, 'jenny'),
      'she is found': async () => assert.equal((await stream.queryUsers({ id: { $in: ['jenny'] } })).users[0]?.id, 'jenny'),
    }),
    'a channel is made, changed and deleted': (stream) => ({
      create: async () => {
        await users(stream);
        const channel = stream.channel('messaging', 'travel', {
          name: 'Founder Chat',
          members: people,
          created_by_id: 'thierry',
        });
        const { channel: made } = await channel.create();
        assert.deepEqual([made.cid, made.type, made.id], ['messaging:travel', 'messaging', 'travel']);
        assert.equal((made as { name?: string }).name, 'Founder Chat');
      },
      'its members': async () => {
        const { members } = await stream.channel('messaging', 'travel').query();
        assert.deepEqual(members.map(({ user_id }) => user_id).sort(), ['jenny', 'thierry']);
      },
      change: async () => {
        const { channel } = await stream.channel('messaging', 'travel').updatePartial({ set: { color: 'green' } as never });
        assert.partialDeepStrictEqual(channel, { cid: 'messaging:travel', name: 'Founder Chat', color: 'green' });
      },
      'it is found as changed': async () => {
        const [found, ...more] = await stream.queryChannels({ cid: 'messaging:travel' });
        assert.deepEqual([found?.cid, more.length], ['messaging:travel', 0]);
        assert.equal((found?.data as { color?: string } | undefined)?.color, 'green');
      },
      delete: async () => assert.equal((await stream.channel('messaging', 'travel').delete()).channel.cid, 'messaging:travel'),
      'it is not found': async () => assert.deepEqual(await stream.queryChannels({ cid: 'messaging:travel' }), []),
    }),
    'channels of a member, page after page': (stream) => ({
      'create three': async () => {
        for (const id of ['one', 'two', 'three']) await room(stream, id);
      },
      'pages of two, until one is empty': async () => {
        const rows = await numbered(
          (page) => stream.queryChannels({ members: { $in: ['jenny'] } }, { created_at: 1 }, { limit: 2, offset: 2 * page }),
          0,
        );
        assert.deepEqual(
          rows.map(({ cid }) => cid),
          ['messaging:one', 'messaging:two', 'messaging:three'],
        );
      },
      'none of somebody else': async () => {
        await users(stream, ['nobody']);
        assert.deepEqual(await stream.queryChannels({ members: { $in: ['nobody'] } }), []);
      },
    }),
    'members come and go': (stream) => ({
      'create the channel': async () => {
        await room(stream, 'team');
        await users(stream, ['tommaso']);
      },
      add: async () => {
        const { members } = await stream.channel('messaging', 'team').addMembers(['tommaso']);
        assert.ok(members.some(({ user_id }) => user_id === 'tommaso'));
      },
      'three of them': async () => {
        const { members } = await stream.channel('messaging', 'team').queryMembers({});
        assert.deepEqual(members.map(({ user_id }) => user_id).sort(), ['jenny', 'thierry', 'tommaso']);
      },
      remove: async () => {
        await stream.channel('messaging', 'team').removeMembers(['tommaso']);
      },
      'two of them': async () => {
        const { members } = await stream.channel('messaging', 'team').queryMembers({});
        assert.deepEqual(members.map(({ user_id }) => user_id).sort(), ['jenny', 'thierry']);
      },
    }),
    'a message is sent, changed and deleted': (stream, s) => ({
      send: async () => {
        const channel = await room(stream, 'travel');
        const { message } = await channel.sendMessage({ text: 'Josh, check this out', user_id: 'jenny', silent: true });
        s.id = message.id;
        assert.deepEqual([message.text, message.type, message.user?.id], ['Josh, check this out', 'regular', 'jenny']);
      },
      read: async () => {
        const { message } = await stream.getMessage(s.id);
        assert.deepEqual([message.id, message.text, message.cid], [s.id, 'Josh, check this out', 'messaging:travel']);
      },
      update: async () => {
        const { message } = await stream.updateMessage({ id: s.id, text: 'Check this out' }, 'jenny');
        assert.deepEqual([message.id, message.text], [s.id, 'Check this out']);
      },
      'set one of its fields': async () => {
        const { message } = await stream.partialUpdateMessage(s.id, { set: { color: 'red' } as never }, 'jenny');
        assert.partialDeepStrictEqual(message, { text: 'Check this out', color: 'red' });
      },
      delete: async () => {
        const { message } = await stream.deleteMessage(s.id);
        assert.deepEqual([message.id, message.type], [s.id, 'deleted']);
      },
      'it says that it is deleted': async () => assert.equal((await stream.getMessage(s.id)).message.type, 'deleted'),
      'delete it for good': async () => {
        await stream.deleteMessage(s.id, true);
      },
      'it is gone': () => refused(stream.getMessage(s.id), 404),
    }),
    'messages of a channel': (stream, s) => ({
      'send three': async () => {
        const channel = await room(stream, 'feed');
        for (const n of [1, 2, 3]) s[`id${n}`] = await say(channel, `Message ${n}`);
      },
      'all, the oldest first': async () => {
        const { messages } = await stream.channel('messaging', 'feed').query({ messages: { limit: 10 } });
        assert.deepEqual(
          messages.map(({ id }) => id),
          [s.id1, s.id2, s.id3],
        );
      },
      'the latest two, and what was before': async () => {
        const channel = stream.channel('messaging', 'feed');
        const latest = await channel.query({ messages: { limit: 2 } });
        assert.deepEqual(
          latest.messages.map(({ id }) => id),
          [s.id2, s.id3],
        );
        const before = await channel.query({ messages: { limit: 2, id_lt: s.id2 } });
        assert.deepEqual(
          before.messages.map(({ id }) => id),
          [s.id1],
        );
      },
      'two by their IDs': async () => {
        const { messages } = await stream.channel('messaging', 'feed').getMessagesById([s.id1, s.id3]);
        assert.deepEqual(messages.map(({ id }) => id).sort(), [s.id1, s.id3].sort());
      },
      truncate: async () => {
        await stream.channel('messaging', 'feed').truncate();
      },
      'none is left': async () => assert.deepEqual((await stream.channel('messaging', 'feed').query()).messages, []),
    }),
    'replies to a message': (stream, s) => ({
      'send it': () => first(stream, s),
      'reply three times': async () => {
        const channel = stream.channel('messaging', 'travel');
        for (const n of [1, 2, 3]) {
          s[`id${n}`] = await say(channel, `Reply ${n}`, { parent_id: s.id, user_id: 'jenny' });
        }
      },
      'it counts them': async () => assert.equal((await stream.getMessage(s.id)).message.reply_count, 3),
      'all of them': async () => {
        const { messages } = await stream.channel('messaging', 'travel').getReplies(s.id, {});
        once(
          messages.map(({ id }) => id),
          [s.id1, s.id2, s.id3],
          'replies',
        );
        assert.ok(messages.every(({ parent_id }) => parent_id === s.id));
      },
    }),
    'reactions to a message': (stream, s) => ({
      'send it': () => first(stream, s),
      react: async () => {
        const { reaction } = await stream.channel('messaging', 'travel').sendReaction(s.id, { type: 'love', user_id: 'jenny' });
        assert.deepEqual([reaction.type, reaction.message_id], ['love', s.id]);
      },
      'they are listed': async () => {
        const { reactions } = await stream.channel('messaging', 'travel').getReactions(s.id, { limit: 10 });
        assert.deepEqual(
          reactions.map(({ type, user_id }) => [type, user_id]),
          [['love', 'jenny']],
        );
      },
      'the message counts it': async () =>
        assert.deepEqual({ ...(await stream.getMessage(s.id)).message.reaction_counts }, { love: 1 }),
      'take it back': async () => {
        await stream.channel('messaging', 'travel').deleteReaction(s.id, 'love', 'jenny');
      },
      'there is none': async () =>
        assert.deepEqual((await stream.channel('messaging', 'travel').getReactions(s.id, { limit: 10 })).reactions, []),
    }),
    'a block list': (stream) => {
      type Lists = Promise<{ blocklist?: { name: string; words: string[] } }>;
      const read = (): Lists => stream.getBlockList('no-cakes') as unknown as Lists;
      return {
        create: async () => {
          await stream.createBlockList({ name: 'no-cakes', words: ['fudge', 'cream', 'sugar'] });
        },
        read: async () =>
          assert.partialDeepStrictEqual((await read()).blocklist, { name: 'no-cakes', words: ['fudge', 'cream', 'sugar'] }),
        update: async () => {
          await stream.updateBlockList('no-cakes', { words: ['fudge', 'cream', 'sugar', 'vanilla'] });
        },
        'it has four words': async () => assert.equal((await read()).blocklist?.words.length, 4),
        'it is listed': async () => {
          const { blocklists } = await stream.listBlockLists();
          once(
            blocklists.map(({ name }) => name),
            ['no-cakes'],
            'lists',
          );
        },
        delete: async () => {
          await stream.deleteBlockList('no-cakes');
        },
        'it is gone': () => refused(read(), 404),
      };
    },
    'a channel type': (stream) => ({
      create: async () => {
        const made = await stream.createChannelType({ name: 'public', mutes: false, reactions: false });
        assert.deepEqual([made.name, made.mutes, made.reactions], ['public', false, false]);
      },
      update: async () => {
        const changed = await stream.updateChannelType('public', { replies: false, max_message_length: 500 });
        assert.deepEqual([changed.name, changed.replies, changed.max_message_length], ['public', false, 500]);
      },
      read: async () => {
        const read = await stream.getChannelType('public');
        assert.deepEqual([read.name, read.mutes, read.replies], ['public', false, false]);
      },
      'it is listed by its name': async () =>
        assert.equal(given((await stream.listChannelTypes()).channel_types.public, 'public').name, 'public'),
      delete: async () => {
        await stream.deleteChannelType('public');
      },
      'it is gone': () => refused(stream.getChannelType('public'), 404),
    }),
    'devices of a user': (stream) => ({
      'a user': () => users(stream),
      'add two': async () => {
        await stream.addDevice('firebase-token', 'firebase', 'jenny');
        await stream.addDevice('apn-token', 'apn', 'jenny');
      },
      'both are listed': async () => {
        const { devices } = await stream.getDevices('jenny');
        assert.deepEqual(devices?.map(({ id, push_provider }) => [id, push_provider]).sort(), [
          ['apn-token', 'apn'],
          ['firebase-token', 'firebase'],
        ]);
      },
      'none of somebody else': async () => assert.deepEqual((await stream.getDevices('thierry')).devices, []),
      'remove one': async () => {
        await stream.removeDevice('apn-token', 'jenny');
      },
      'one is left': async () =>
        assert.deepEqual(
          (await stream.getDevices('jenny')).devices?.map(({ id }) => id),
          ['firebase-token'],
        ),
    }),
    'a user is banned': (stream) => ({
      'two users': () => users(stream),
      ban: async () => {
        await stream.banUser('jenny', { banned_by_id: 'thierry', timeout: 60, reason: 'Banned for one hour' });
      },
      'she is listed': async () => {
        const { bans } = await stream.queryBannedUsers({ user_id: { $in: ['jenny'] } } as never);
        assert.deepEqual(
          bans?.map(({ user, reason }) => [user.id, reason]),
          [['jenny', 'Banned for one hour']],
        );
      },
      'she says that she is': async () => {
        const found = await stream.queryUsers({ id: { $in: ['jenny'] } });
        assert.equal(found.users[0]?.banned, true);
      },
      unban: async () => {
        await stream.unbanUser('jenny');
      },
      'she is listed no more': async () =>
        assert.deepEqual((await stream.queryBannedUsers({ user_id: { $in: ['jenny'] } } as never)).bans, []),
    }),
    'a credential that is refused': (stream, _s, another) => ({
      'the right one is taken': async () => assert.ok(Array.isArray((await stream.queryUsers({})).users)),
      'without the key of an application': () => refused(another('').queryUsers({}), 401),
      'nothing is made either': () => refused(another('').upsertUser({ id: 'thierry' }), 401),
    }),
    'requests that are wrong': (stream) => ({
      'a message that there is not': () => refused(stream.getMessage('no-such-message'), 404),
      'a list without words': () => refused(stream.createBlockList({ name: 'empty' } as never), 400),
      'a ban of nobody': () => refused(stream.banUser(undefined as never, { banned_by_id: 'thierry' }), 400),
      'more users than there may be': () => refused(stream.queryUsers({}, {}, { limit: 1000 }), 400),
      'a channel type that there is not': () => refused(stream.getChannelType('none'), 404),
    }),
  },
};
