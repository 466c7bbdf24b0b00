import assert from 'node:assert/strict';
import {
  AllowNotifications,
  ChannelMembershipType,
  ChannelMessagePersistenceType,
  ChannelMessageType,
  ChannelMode,
  ChannelPrivacy,
  ChimeSDKMessaging,
  type CreateChannelRequest,
  ExpirationCriterion,
  FallbackAction,
  InvocationType,
  MessagingDataType,
  type Processor,
  paginateListChannelMessages,
  paginateListChannels,
  SearchFieldKey,
  SearchFieldOperator,
  type SendChannelMessageRequest,
  SortOrder,
} from '@aws-sdk/client-chime-sdk-messaging';
import { gather, given, once, type Place, refused, type State, type Vendor } from '../kit.ts';

/**
 * Each call is signed (Signature Version 4); the credential is the id of its access key, or a whole signature's
 * `Credential=ID/DATE/REGION/SERVICE/aws4_request`, of which the id is taken.
 */
const connect = (place: Place, token: string): ChimeSDKMessaging => {
  const accessKeyId = /Credential=([^/,\s]+)/.exec(token)?.[1] ?? token;
  const chime = new ChimeSDKMessaging({
    region: 'us-east-1',
    endpoint: place.url,
    credentials: { accessKeyId, secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' },
    maxAttempts: 1,
  });
  /** The client tells a refusal's status in `$metadata` alone. */
  chime.middlewareStack.add(
    (next) => async (args) => {
      try {
        return await next(args);
      } catch (thrown) {
        const status = (thrown as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
        throw status === undefined ? thrown : Object.assign(thrown as Error, { statusCode: status });
      }
    },
    { step: 'initialize', name: 'tellStatus' },
  );
  return chime;
};

/** An application and its users: they are made by another API of the vendor's (Amazon Chime SDK Identity), and known beforehand. */
const AppInstanceArn = 'arn:aws:chime:us-east-1:123456789012:app-instance/8f4bdb9e-5c3d-4a0a-9f0e-2d1f6c7b8a90';
const user = (name: string): string => `${AppInstanceArn}/user/${name}`;
const ChimeBearer = user('admin');
const missing = `${AppInstanceArn}/channel/00000000-0000-4000-8000-000000000000`;
const noFlow = `${AppInstanceArn}/channel-flow/00000000-0000-4000-8000-000000000000`;

/**
 * By the guide an error has the status of its kind: 400 of a bad request, 401 of an unauthorized client, 403 where something is
 * forbidden, 404 where it is not found. The description gives each kind of an operation a number of its own, from 480.
 */
const absent = [403, 404, 481];
const wrong = [400, 480];

const channel = async (c: ChimeSDKMessaging, asked: Partial<CreateChannelRequest> = {}): Promise<string> => {
  const { ChannelArn } = await c.createChannel({
    AppInstanceArn,
    ChimeBearer,
    Name: 'General',
    ...asked,
  } as CreateChannelRequest);
  return given(ChannelArn, 'ARN of the channel');
};
const at = (s: State) => ({ ChannelArn: s.channel, ChimeBearer });

const join = async (c: ChimeSDKMessaging, s: State, MemberArn: string): Promise<void> => {
  await c.createChannelMembership({ ...at(s), MemberArn, Type: ChannelMembershipType.DEFAULT });
};

const say = async (
  c: ChimeSDKMessaging,
  s: State,
  Content: string,
  asked: Partial<SendChannelMessageRequest> = {},
): Promise<string> => {
  const fixed = { Type: ChannelMessageType.STANDARD, Persistence: ChannelMessagePersistenceType.PERSISTENT };
  const { MessageId } = await c.sendChannelMessage({ ...at(s), ...fixed, Content, ...asked } as SendChannelMessageRequest);
  return given(MessageId, 'id of the message');
};

const processors = (Name: string, action: FallbackAction = FallbackAction.CONTINUE): Processor[] => [
  {
    Name,
    Configuration: {
      Lambda: {
        ResourceArn: 'arn:aws:lambda:us-east-1:123456789012:function:profanity',
        InvocationType: InvocationType.ASYNC,
      },
    },
    ExecutionOrder: 1,
    FallbackAction: action,
  },
];
const flow = async (c: ChimeSDKMessaging, Name: string): Promise<string> => {
  const asked = { AppInstanceArn, Name, Processors: processors('profanity'), ClientRequestToken: `token-${Name.toLowerCase()}` };
  return given((await c.createChannelFlow(asked)).ChannelFlowArn, 'ARN of the flow');
};

const members = async (c: ChimeSDKMessaging, s: State, Type?: ChannelMembershipType): Promise<string[]> =>
  arns(
    (await c.listChannelMemberships({ ...at(s), ...(Type && { Type }), MaxResults: 50 })).ChannelMemberships,
    ({ Member }) => Member?.Arn,
  );
const messages = async (c: ChimeSDKMessaging, s: State, asked: object = {}): Promise<string[]> =>
  arns((await c.listChannelMessages({ ...at(s), MaxResults: 50, ...asked })).ChannelMessages, ({ MessageId }) => MessageId);
const arns = <Row>(rows: readonly Row[] | undefined, pick: (row: Row) => string | undefined): string[] =>
  given(rows, 'rows').map((row) => given(pick(row), 'id'));

/** Guide: docs.aws.amazon.com/chime-sdk, "Using Amazon Chime SDK messaging", and its API reference. */
export const vendor: Vendor<ChimeSDKMessaging> = {
  document: 'chime-messaging/chime-sdk-messaging.json',
  header: 'Authorization',
  word: 'AWS4-HMAC-SHA256',
  made: 'AKIAIOSFODNN7EXAMPLE',
  client: connect,
  strict: ['a key that is refused'],
  flows: {
    'a channel, from its making to its end': (c, s) => ({
      made: async () => {
        s.channel = await channel(c, {
          Name: 'Gardeners',
          Mode: ChannelMode.RESTRICTED,
          Privacy: ChannelPrivacy.PUBLIC,
          Metadata: '{"topic":"roses"}',
        });
        assert.match(s.channel, /^arn:/);
      },
      described: async () => {
        const { Channel } = await c.describeChannel(at(s));
        assert.partialDeepStrictEqual(Channel, {
          ChannelArn: s.channel,
          Name: 'Gardeners',
          Mode: 'RESTRICTED',
          Privacy: 'PUBLIC',
          Metadata: '{"topic":"roses"}',
        });
      },
      'is in the list': async () => {
        const { Channels } = await c.listChannels({ AppInstanceArn, ChimeBearer, MaxResults: 50 });
        once(
          arns(Channels, ({ ChannelArn }) => ChannelArn),
          [s.channel],
          'channels',
        );
      },
      changed: async () => {
        const asked = { Name: 'Growers', Mode: ChannelMode.UNRESTRICTED, Metadata: '{"topic":"beans"}' };
        assert.equal((await c.updateChannel({ ...at(s), ...asked })).ChannelArn, s.channel);
      },
      'stays changed, and as public as it was': async () => {
        const { Channel } = await c.describeChannel(at(s));
        const { Name, Mode, Metadata, Privacy } = given(Channel, 'channel');
        assert.deepEqual([Name, Mode, Metadata, Privacy], ['Growers', 'UNRESTRICTED', '{"topic":"beans"}', 'PUBLIC']);
      },
      deleted: async () => {
        assert.equal((await c.deleteChannel(at(s))).$metadata.httpStatusCode, 204);
      },
      'is gone': () => refused(c.describeChannel(at(s)), ...absent),
      'is not in the list': async () => {
        const { Channels } = await c.listChannels({ AppInstanceArn, ChimeBearer, MaxResults: 50 });
        assert.ok(!arns(Channels, ({ ChannelArn }) => ChannelArn).includes(s.channel), 'still listed');
      },
    }),

    'channels through all pages, public and private': (c, s) => ({
      'five are made': async () => {
        const made: string[] = [];
        for (let n = 1; n <= 5; n += 1) made.push(await channel(c, { Name: `Room ${n}`, Privacy: ChannelPrivacy.PUBLIC }));
        assert.equal(new Set(made).size, 5);
        s.made = made.join(' ');
      },
      'two on a page, and a token for the next': async () => {
        const page = await c.listChannels({ AppInstanceArn, ChimeBearer, MaxResults: 2 });
        assert.equal(page.Channels?.length, 2);
        s.next = given(page.NextToken, 'token');
        s.first = arns(page.Channels, ({ ChannelArn }) => ChannelArn).join(' ');
      },
      'others on the next': async () => {
        const { Channels } = await c.listChannels({ AppInstanceArn, ChimeBearer, MaxResults: 2, NextToken: s.next });
        const second = arns(Channels, ({ ChannelArn }) => ChannelArn);
        assert.ok(second.length > 0, 'no row');
        for (const one of s.first.split(' ')) assert.ok(!second.includes(one), `${one} is on both pages`);
      },
      'all of them, each once': async () => {
        const walk = paginateListChannels({ client: c, pageSize: 2 }, { AppInstanceArn, ChimeBearer });
        const rows = await gather(walk, ({ Channels }) => given(Channels, 'channels'));
        once(
          arns(rows, ({ ChannelArn }) => ChannelArn),
          s.made.split(' '),
          'channels',
        );
      },
      'no more than fifty on a page': () => refused(c.listChannels({ AppInstanceArn, ChimeBearer, MaxResults: 51 }), ...wrong),
      'a private one': async () => {
        s.closed = await channel(c, { Name: 'Closed', Privacy: ChannelPrivacy.PRIVATE });
      },
      'is not among the public': async () => {
        const { Channels } = await c.listChannels({
          AppInstanceArn,
          ChimeBearer,
          Privacy: ChannelPrivacy.PUBLIC,
          MaxResults: 50,
        });
        const rows = arns(Channels, ({ ChannelArn }) => ChannelArn);
        once(rows, s.made.split(' '), 'channels');
        assert.ok(!rows.includes(s.closed), 'the private one is listed');
      },
      'but among the private': async () => {
        const { Channels } = await c.listChannels({
          AppInstanceArn,
          ChimeBearer,
          Privacy: ChannelPrivacy.PRIVATE,
          MaxResults: 50,
        });
        const rows = arns(Channels, ({ ChannelArn }) => ChannelArn);
        once(rows, [s.closed], 'channels');
        for (const one of s.made.split(' ')) assert.ok(!rows.includes(one), `${one} is public`);
      },
    }),

    'members of a channel': (c, s) => ({
      'a channel': async () => {
        s.channel = await channel(c);
      },
      'one is added': async () => {
        const asked = { ...at(s), MemberArn: user('ann'), Type: ChannelMembershipType.DEFAULT };
        const { ChannelArn, Member } = await c.createChannelMembership(asked);
        assert.deepEqual([ChannelArn, Member?.Arn], [s.channel, user('ann')]);
      },
      'who is described': async () => {
        const { ChannelMembership: read } = await c.describeChannelMembership({ ...at(s), MemberArn: user('ann') });
        assert.deepEqual([read?.Member?.Arn, read?.Type, read?.ChannelArn], [user('ann'), 'DEFAULT', s.channel]);
      },
      'whom the administrator invited': async () => {
        const { ChannelMembership: read } = await c.describeChannelMembership({ ...at(s), MemberArn: user('ann') });
        assert.equal(read?.InvitedBy?.Arn, ChimeBearer);
      },
      'two more in one call': async () => {
        const asked = { ...at(s), MemberArns: [user('bob'), user('cy')], Type: ChannelMembershipType.DEFAULT };
        const { BatchChannelMemberships: made, Errors } = await c.batchCreateChannelMembership(asked);
        once(
          arns(made?.Members, ({ Arn }) => Arn),
          [user('bob'), user('cy')],
          'members',
        );
        assert.equal(Errors?.length ?? 0, 0);
      },
      'all three are listed': async () => once(await members(c, s), [user('ann'), user('bob'), user('cy')], 'members'),
      'one leaves': async () => {
        await c.deleteChannelMembership({ ...at(s), MemberArn: user('bob') });
        await refused(c.describeChannelMembership({ ...at(s), MemberArn: user('bob') }), 404, 482);
      },
      'the others stay': async () => {
        const rows = await members(c, s);
        once(rows, [user('ann'), user('cy')], 'members');
        assert.ok(!rows.includes(user('bob')), 'still listed');
      },
    }),

    'a hidden member': (c, s) => ({
      'a channel': async () => {
        s.channel = await channel(c);
      },
      'one who is seen': () => join(c, s, user('ann')),
      'one who is not': async () => {
        const asked = { ...at(s), MemberArn: user('auditor'), Type: ChannelMembershipType.HIDDEN };
        assert.equal((await c.createChannelMembership(asked)).Member?.Arn, user('auditor'));
      },
      'who is described as such': async () => {
        const { ChannelMembership: read } = await c.describeChannelMembership({ ...at(s), MemberArn: user('auditor') });
        assert.equal(read?.Type, 'HIDDEN');
      },
      'those who are hidden': async () => {
        const rows = await members(c, s, ChannelMembershipType.HIDDEN);
        assert.deepEqual([rows.includes(user('auditor')), rows.includes(user('ann'))], [true, false]);
      },
      'those who are not': async () => {
        const rows = await members(c, s, ChannelMembershipType.DEFAULT);
        assert.deepEqual([rows.includes(user('auditor')), rows.includes(user('ann'))], [false, true]);
      },
    }),

    'channels of a user': (c, s) => ({
      'a channel which a user is in': async () => {
        s.channel = await channel(c, { Name: 'With Dee' });
        await join(c, s, user('dee'));
      },
      'and one without the user': async () => {
        s.other = await channel(c, { Name: 'Without Dee' });
      },
      'the user sees the one': async () => {
        const asked = { AppInstanceUserArn: user('dee'), ChimeBearer: user('dee'), MaxResults: 50 };
        const { ChannelMemberships } = await c.listChannelMembershipsForAppInstanceUser(asked);
        const rows = arns(ChannelMemberships, ({ ChannelSummary }) => ChannelSummary?.ChannelArn);
        assert.deepEqual([rows.includes(s.channel), rows.includes(s.other)], [true, false]);
      },
      'and by itself': async () => {
        const asked = { ChannelArn: s.channel, AppInstanceUserArn: user('dee'), ChimeBearer: user('dee') };
        const { ChannelMembership: read } = await c.describeChannelMembershipForAppInstanceUser(asked);
        assert.deepEqual([read?.ChannelSummary?.ChannelArn, read?.ChannelSummary?.Name], [s.channel, 'With Dee']);
        assert.equal(read?.AppInstanceUserMembershipSummary?.Type, 'DEFAULT');
      },
      'a search by the member finds it': async () => {
        const field = { Key: SearchFieldKey.MEMBERS, Operator: SearchFieldOperator.INCLUDES, Values: [user('dee')] };
        const { Channels } = await c.searchChannels({ ChimeBearer: user('dee'), Fields: [field], MaxResults: 50 });
        const rows = arns(Channels, ({ ChannelArn }) => ChannelArn);
        assert.deepEqual([rows.includes(s.channel), rows.includes(s.other)], [true, false]);
      },
      'a search needs an operator that there is': () => {
        const field = { Key: SearchFieldKey.MEMBERS, Operator: 'LIKE' as never, Values: [user('dee')] };
        return refused(c.searchChannels({ ChimeBearer, Fields: [field] }), ...wrong);
      },
    }),

    'a moderator of a channel': (c, s) => ({
      'a channel with a member': async () => {
        s.channel = await channel(c, { Name: 'Moderated' });
        await join(c, s, user('mo'));
      },
      'who becomes moderator': async () => {
        const { ChannelArn, ChannelModerator } = await c.createChannelModerator({ ...at(s), ChannelModeratorArn: user('mo') });
        assert.deepEqual([ChannelArn, ChannelModerator?.Arn], [s.channel, user('mo')]);
      },
      'is described': async () => {
        const { ChannelModerator: read } = await c.describeChannelModerator({ ...at(s), ChannelModeratorArn: user('mo') });
        assert.deepEqual([read?.Moderator?.Arn, read?.ChannelArn, read?.CreatedBy?.Arn], [user('mo'), s.channel, ChimeBearer]);
      },
      'is in the list': async () => {
        const { ChannelModerators } = await c.listChannelModerators({ ...at(s), MaxResults: 50 });
        once(
          arns(ChannelModerators, ({ Moderator }) => Moderator?.Arn),
          [user('mo')],
          'moderators',
        );
      },
      'has the channel among those moderated': async () => {
        const asked = { AppInstanceUserArn: user('mo'), ChimeBearer: user('mo'), MaxResults: 50 };
        const { Channels } = await c.listChannelsModeratedByAppInstanceUser(asked);
        once(
          arns(Channels, ({ ChannelSummary }) => ChannelSummary?.ChannelArn),
          [s.channel],
          'channels',
        );
      },
      'no longer moderates': async () => {
        await c.deleteChannelModerator({ ...at(s), ChannelModeratorArn: user('mo') });
      },
      'is not there as moderator': () =>
        refused(c.describeChannelModerator({ ...at(s), ChannelModeratorArn: user('mo') }), 404, 482),
      'is still a member': async () => once(await members(c, s), [user('mo')], 'members'),
    }),

    'one who is banned': (c, s) => ({
      'a channel with a member': async () => {
        s.channel = await channel(c);
        await join(c, s, user('troll'));
      },
      banned: async () => {
        const { ChannelArn, Member } = await c.createChannelBan({ ...at(s), MemberArn: user('troll') });
        assert.deepEqual([ChannelArn, Member?.Arn], [s.channel, user('troll')]);
      },
      'the ban is described': async () => {
        const { ChannelBan: read } = await c.describeChannelBan({ ...at(s), MemberArn: user('troll') });
        assert.deepEqual([read?.Member?.Arn, read?.ChannelArn, read?.CreatedBy?.Arn], [user('troll'), s.channel, ChimeBearer]);
      },
      'and listed': async () => {
        const { ChannelBans } = await c.listChannelBans({ ...at(s), MaxResults: 50 });
        once(
          arns(ChannelBans, ({ Member }) => Member?.Arn),
          [user('troll')],
          'bans',
        );
      },
      'no member any more': async () => assert.ok(!(await members(c, s)).includes(user('troll')), 'still a member'),
      'the ban is lifted': async () => {
        await c.deleteChannelBan({ ...at(s), MemberArn: user('troll') });
        await refused(c.describeChannelBan({ ...at(s), MemberArn: user('troll') }), 404, 482);
      },
      'who may come back': async () => {
        await join(c, s, user('troll'));
        once(await members(c, s), [user('troll')], 'members');
      },
    }),

    'a message, which is edited and deleted': (c, s) => ({
      'a channel': async () => {
        s.channel = await channel(c);
      },
      sent: async () => {
        s.id = await say(c, s, 'Hello, all', { Metadata: '{"mood":"good"}' });
      },
      read: async () => {
        const { ChannelMessage: read } = await c.getChannelMessage({ ...at(s), MessageId: s.id });
        assert.partialDeepStrictEqual(read, {
          MessageId: s.id,
          ChannelArn: s.channel,
          Content: 'Hello, all',
          Metadata: '{"mood":"good"}',
          Type: 'STANDARD',
          Persistence: 'PERSISTENT',
        });
        assert.equal(read?.Sender?.Arn, ChimeBearer);
      },
      'is in the list': async () => once(await messages(c, s), [s.id], 'messages'),
      edited: async () => {
        const asked = { ...at(s), MessageId: s.id, Content: 'Hello, everybody', Metadata: '{"mood":"better"}' };
        assert.equal((await c.updateChannelMessage(asked)).MessageId, s.id);
      },
      'stays edited': async () => {
        const { ChannelMessage: read } = await c.getChannelMessage({ ...at(s), MessageId: s.id });
        assert.deepEqual([read?.Content, read?.Metadata], ['Hello, everybody', '{"mood":"better"}']);
      },
      deleted: async () => {
        await c.deleteChannelMessage({ ...at(s), MessageId: s.id });
        await refused(c.getChannelMessage({ ...at(s), MessageId: s.id }), 404, 482);
      },
      'is not in the list': async () => assert.ok(!(await messages(c, s)).includes(s.id), 'still listed'),
    }),

    'a message that is redacted': (c, s) => ({
      'a channel and a message': async () => {
        s.channel = await channel(c);
        s.id = await say(c, s, 'A secret');
      },
      'which was sent': async () => {
        const { Status } = await c.getChannelMessageStatus({ ...at(s), MessageId: s.id });
        assert.equal(Status?.Value, 'SENT');
      },
      'as it was': async () => {
        const { ChannelMessage: read } = await c.getChannelMessage({ ...at(s), MessageId: s.id });
        assert.deepEqual([read?.Content, read?.Redacted ?? false], ['A secret', false]);
      },
      redacted: async () => {
        const answer = await c.redactChannelMessage({ ...at(s), MessageId: s.id });
        assert.deepEqual([answer.ChannelArn, answer.MessageId], [s.channel, s.id]);
      },
      'without its content': async () => {
        const { ChannelMessage: read } = await c.getChannelMessage({ ...at(s), MessageId: s.id });
        assert.deepEqual([read?.Redacted, read?.Content ?? ''], [true, '']);
      },
      'still in the list': async () => once(await messages(c, s), [s.id], 'messages'),
    }),

    'messages in their order, and of a time': (c, s) => ({
      'three are sent': async () => {
        s.channel = await channel(c);
        const sent: string[] = [];
        for (const text of ['one', 'two', 'three']) {
          sent.push(await say(c, s, text));
          await new Promise((done) => setTimeout(done, 20));
        }
        s.sent = sent.join(' ');
      },
      'the newest first, unless asked otherwise': async () =>
        assert.deepEqual(await messages(c, s), s.sent.split(' ').toReversed()),
      'the oldest first': async () =>
        assert.deepEqual(await messages(c, s, { SortOrder: SortOrder.ASCENDING }), s.sent.split(' ')),
      'through all pages': async () => {
        const walk = paginateListChannelMessages({ client: c, pageSize: 2 }, at(s));
        const rows = await gather(walk, ({ ChannelMessages }) => given(ChannelMessages, 'messages'));
        once(
          arns(rows, ({ MessageId }) => MessageId),
          s.sent.split(' '),
          'messages',
        );
      },
      'none of them before they were sent': async () => {
        const rows = await messages(c, s, { NotAfter: new Date('2020-01-01T00:00:00Z') });
        assert.deepEqual(rows, []);
      },
      'all of them since then': async () =>
        once(await messages(c, s, { NotBefore: new Date('2020-01-01T00:00:00Z') }), s.sent.split(' '), 'messages'),
      'of another channel there is none': async () => {
        s.channel = await channel(c, { Name: 'Silent' });
        assert.deepEqual(await messages(c, s), []);
      },
    }),

    'a flow for what is said': (c, s) => ({
      made: async () => {
        s.flow = await flow(c, 'Clean');
        assert.match(s.flow, /^arn:/);
      },
      described: async () => {
        const { ChannelFlow: read } = await c.describeChannelFlow({ ChannelFlowArn: s.flow });
        assert.deepEqual([read?.ChannelFlowArn, read?.Name], [s.flow, 'Clean']);
        assert.deepEqual(read?.Processors, processors('profanity'));
      },
      'is in the list': async () => {
        const { ChannelFlows } = await c.listChannelFlows({ AppInstanceArn, MaxResults: 50 });
        once(
          arns(ChannelFlows, ({ ChannelFlowArn }) => ChannelFlowArn),
          [s.flow],
          'flows',
        );
      },
      changed: async () => {
        const asked = { ChannelFlowArn: s.flow, Name: 'Cleaner', Processors: processors('words', FallbackAction.ABORT) };
        assert.equal((await c.updateChannelFlow(asked)).ChannelFlowArn, s.flow);
      },
      'stays changed': async () => {
        const { ChannelFlow: read } = await c.describeChannelFlow({ ChannelFlowArn: s.flow });
        assert.equal(read?.Name, 'Cleaner');
        assert.deepEqual(read?.Processors, processors('words', FallbackAction.ABORT));
      },
      'needs a processor': () =>
        refused(
          c.createChannelFlow({ AppInstanceArn, Name: 'Idle', Processors: [], ClientRequestToken: 'token-idle' }),
          ...wrong,
        ),
      'deleted, and gone': async () => {
        await c.deleteChannelFlow({ ChannelFlowArn: s.flow });
        await refused(c.describeChannelFlow({ ChannelFlowArn: s.flow }), ...absent);
      },
    }),

    'a channel through a flow': (c, s) => ({
      'a channel and a flow': async () => {
        s.channel = await channel(c, { Name: 'Filtered' });
        s.flow = await flow(c, 'Filter');
      },
      associated: async () => {
        await c.associateChannelFlow({ ...at(s), ChannelFlowArn: s.flow });
      },
      'the channel tells of it': async () => assert.equal((await c.describeChannel(at(s))).Channel?.ChannelFlowArn, s.flow),
      'the flow has the channel': async () => {
        const { Channels } = await c.listChannelsAssociatedWithChannelFlow({ ChannelFlowArn: s.flow, MaxResults: 50 });
        once(
          arns(Channels, ({ ChannelArn }) => ChannelArn),
          [s.channel],
          'channels',
        );
      },
      'no longer': async () => {
        await c.disassociateChannelFlow({ ...at(s), ChannelFlowArn: s.flow });
      },
      'the channel has none': async () => assert.equal((await c.describeChannel(at(s))).Channel?.ChannelFlowArn ?? '', ''),
      'the flow has no channel': async () => {
        const { Channels } = await c.listChannelsAssociatedWithChannelFlow({ ChannelFlowArn: s.flow, MaxResults: 50 });
        assert.ok(!arns(Channels, ({ ChannelArn }) => ChannelArn).includes(s.channel), 'still associated');
      },
    }),

    'tags of a channel': (c, s) => ({
      'a channel with one': async () => {
        s.channel = await channel(c, { Tags: [{ Key: 'team', Value: 'garden' }] });
      },
      'it has it': async () => {
        const { Tags } = await c.listTagsForResource({ ResourceARN: s.channel });
        assert.deepEqual(Tags, [{ Key: 'team', Value: 'garden' }]);
      },
      'another two': async () => {
        const Tags = [
          { Key: 'cost', Value: '42' },
          { Key: 'stage', Value: 'test' },
        ];
        assert.equal((await c.tagResource({ ResourceARN: s.channel, Tags })).$metadata.httpStatusCode, 204);
      },
      'it has three': async () => {
        const { Tags } = await c.listTagsForResource({ ResourceARN: s.channel });
        once(
          arns(Tags, ({ Key, Value }) => `${Key}=${Value}`),
          ['team=garden', 'cost=42', 'stage=test'],
          'tags',
        );
      },
      'one goes': async () => {
        await c.untagResource({ ResourceARN: s.channel, TagKeys: ['cost'] });
      },
      'the others stay': async () => {
        const { Tags } = await c.listTagsForResource({ ResourceARN: s.channel });
        assert.deepEqual(arns(Tags, ({ Key }) => Key).toSorted(), ['stage', 'team']);
      },
      'a tag has a value': () => refused(c.tagResource({ ResourceARN: s.channel, Tags: [{ Key: 'bare' } as never] }), ...wrong),
    }),

    'settings of a channel, of a member and of the application': (c, s) => ({
      'a channel with a member': async () => {
        s.channel = await channel(c);
        await join(c, s, user('ann'));
      },
      'the channel ends in a month': async () => {
        const ExpirationSettings = { ExpirationDays: 30, ExpirationCriterion: ExpirationCriterion.LAST_MESSAGE_TIMESTAMP };
        const answer = await c.putChannelExpirationSettings({ ...at(s), ExpirationSettings });
        assert.deepEqual([answer.ChannelArn, answer.ExpirationSettings], [s.channel, ExpirationSettings]);
      },
      'it says so': async () => {
        const { Channel } = await c.describeChannel(at(s));
        assert.deepEqual(Channel?.ExpirationSettings, { ExpirationDays: 30, ExpirationCriterion: 'LAST_MESSAGE_TIMESTAMP' });
      },
      'the member wants some news': async () => {
        const Preferences = {
          PushNotifications: {
            AllowNotifications: AllowNotifications.FILTERED,
            FilterRule: '{"type":[{"anything-but":["Voip"]}]}',
          },
        };
        const asked = { ChannelArn: s.channel, MemberArn: user('ann'), ChimeBearer: user('ann'), Preferences };
        assert.deepEqual((await c.putChannelMembershipPreferences(asked)).Preferences, Preferences);
      },
      'and still does': async () => {
        const asked = { ChannelArn: s.channel, MemberArn: user('ann'), ChimeBearer: user('ann') };
        const { Preferences, Member } = await c.getChannelMembershipPreferences(asked);
        assert.deepEqual([Member?.Arn, Preferences?.PushNotifications?.AllowNotifications], [user('ann'), 'FILTERED']);
      },
      'the application streams its messages': async () => {
        const stream = 'arn:aws:kinesis:us-east-1:123456789012:stream/chime-messaging-data';
        const StreamingConfigurations = [{ DataType: MessagingDataType.ChannelMessage, ResourceArn: stream }];
        await c.putMessagingStreamingConfigurations({ AppInstanceArn, StreamingConfigurations });
        const read = await c.getMessagingStreamingConfigurations({ AppInstanceArn });
        assert.deepEqual(read.StreamingConfigurations, StreamingConfigurations);
      },
      'and no longer': async () => {
        await c.deleteMessagingStreamingConfigurations({ AppInstanceArn });
        await refused(c.getMessagingStreamingConfigurations({ AppInstanceArn }), 404, 482);
      },
    }),

    'what is not there, and what is not right': (c, s) => ({
      'a channel without a name': () => refused(channel(c, { Name: undefined as never }), ...wrong),
      'a mode that there is not': () => refused(channel(c, { Mode: 'OPEN' as never }), ...wrong),
      'a message without content': async () => {
        s.channel = await channel(c);
        await refused(say(c, s, ''), ...wrong);
      },
      'a channel that is not there': () => refused(c.describeChannel({ ChannelArn: missing, ChimeBearer }), ...absent),
      'nor is there one to delete': () => refused(c.deleteChannel({ ChannelArn: missing, ChimeBearer }), ...absent),
      'a message that is not there': () => refused(c.getChannelMessage({ ...at(s), MessageId: 'f'.repeat(64) }), 404, 482),
      'a member who is not there': () => refused(c.describeChannelMembership({ ...at(s), MemberArn: user('nobody') }), 404, 482),
      'a flow that is not there': () => refused(c.describeChannelFlow({ ChannelFlowArn: noFlow }), ...absent),
    }),

    'a key that is refused': (_c, _s, another) => ({
      'of a key that is not known no channel is listed': () =>
        refused(another('AKIANOBODY0000000000').listChannels({ AppInstanceArn, ChimeBearer }), 401, 403, 481, 482),
      'nor is one made': () => refused(channel(another('AKIANOBODY0000000000')), 401, 403, 481, 482),
      'nor the place of its messages told': () =>
        refused(another('AKIANOBODY0000000000').getMessagingSessionEndpoint({}), 401, 403, 480, 481),
    }),
  },
};
