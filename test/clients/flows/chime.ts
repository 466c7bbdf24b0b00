import assert from 'node:assert/strict';
import {
  Chime,
  type PhoneNumber,
  paginateListAccounts,
  paginateListBots,
  paginateListPhoneNumberOrders,
  paginateListPhoneNumbers,
  paginateListRoomMemberships,
  paginateListRooms,
  paginateListUsers,
} from '@aws-sdk/client-chime';
import { gather, given, once, type Place, pages, refused, type Vendor } from '../kit.ts';

/**
 * The token is an access key's id; the client signs with it (version 4). What the client throws keeps its status below
 * `$metadata`: it is put beside the message too.
 */
const connect = (place: Place, token: string): Chime => {
  const accessKeyId = /Credential=([^/,\s]+)/.exec(token)?.[1] ?? token;
  const client = new Chime({
    endpoint: place.base,
    region: 'us-east-1',
    credentials: { accessKeyId, secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' },
    maxAttempts: 1,
  });
  client.middlewareStack.add(
    (next) => async (sent) => {
      try {
        return await next(sent);
      } catch (thrown) {
        const status = (thrown as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
        if (status !== undefined) Object.defineProperty(thrown as object, 'status', { value: status, enumerable: true });
        throw thrown;
      }
    },
    { step: 'initialize', name: 'status beside the message' },
  );
  return client;
};

/** The guide has its own status for each exception; the description has a number instead, by operation. */
const missing = (call: Promise<unknown>, described: number): Promise<unknown> => refused(call, 404, described);
const wrong = (call: Promise<unknown>, described: number): Promise<unknown> => refused(call, 400, described);
const taken = (call: Promise<unknown>, described: number): Promise<unknown> => refused(call, 409, described);
/** The guide has UnauthorizedClient (401) and Forbidden (403) for who is not known, or may not. */
const stranger = (call: Promise<unknown>, ...described: readonly number[]): Promise<unknown> =>
  refused(call, 401, 403, ...described);

const without = (rows: readonly string[], one: string): void => assert.ok(!rows.includes(one), `the list still has ${one}`);
const oneOf = (value: string | undefined, ...all: readonly string[]): void =>
  assert.ok(all.includes(value ?? ''), `${value} is none of ${all.join(', ')}`);
const pause = (): Promise<void> => new Promise((done) => setTimeout(done, 200));

const nowhere = '00000000-dead-4000-8000-00000000beef';

const account = async (c: Chime, Name: string): Promise<string> =>
  given((await c.createAccount({ Name })).Account?.AccountId, 'AccountId');
const accounts = async (c: Chime, asked: { Name?: string; UserEmail?: string } = {}, pageSize = 50): Promise<string[]> => {
  const rows = await gather(paginateListAccounts({ client: c, pageSize }, asked), (page) => page.Accounts ?? []);
  return rows.map((row) => given(row.AccountId, 'AccountId'));
};
const user = async (c: Chime, AccountId: string, Email: string): Promise<string> =>
  given((await c.createUser({ AccountId, Email, Username: Email.split('@')[0] })).User?.UserId, 'UserId');
const users = async (c: Chime, AccountId: string, UserEmail?: string, pageSize = 50): Promise<string[]> => {
  const asked = { AccountId, ...(UserEmail !== undefined && { UserEmail }) };
  const rows = await gather(paginateListUsers({ client: c, pageSize }, asked), (page) => page.Users ?? []);
  return rows.map((row) => given(row.UserId, 'UserId'));
};
const room = async (c: Chime, AccountId: string, Name: string): Promise<string> =>
  given((await c.createRoom({ AccountId, Name })).Room?.RoomId, 'RoomId');
const rooms = async (c: Chime, AccountId: string, MemberId?: string, pageSize = 50): Promise<string[]> => {
  const asked = { AccountId, ...(MemberId !== undefined && { MemberId }) };
  const rows = await gather(paginateListRooms({ client: c, pageSize }, asked), (page) => page.Rooms ?? []);
  return rows.map((row) => given(row.RoomId, 'RoomId'));
};
const members = async (c: Chime, AccountId: string, RoomId: string, pageSize = 50): Promise<string[]> => {
  const walk = paginateListRoomMemberships({ client: c, pageSize }, { AccountId, RoomId });
  const rows = await gather(walk, (page) => page.RoomMemberships ?? []);
  return rows.map((row) => `${given(row.Member?.MemberId, 'MemberId')} ${row.Role}`);
};
const bot = async (c: Chime, AccountId: string, DisplayName: string): Promise<string> =>
  given((await c.createBot({ AccountId, DisplayName, Domain: 'example.com' })).Bot?.BotId, 'BotId');
const bots = async (c: Chime, AccountId: string, pageSize = 50): Promise<string[]> => {
  const rows = await gather(paginateListBots({ client: c, pageSize }, { AccountId }), (page) => page.Bots ?? []);
  return rows.map((row) => given(row.BotId, 'BotId'));
};
type Asked = NonNullable<Parameters<Chime['listPhoneNumbers']>[0]>;
const numbersOf = (c: Chime, asked: Asked = {}, pageSize = 50): Promise<PhoneNumber[]> =>
  gather(paginateListPhoneNumbers({ client: c, pageSize }, asked), (page) => page.PhoneNumbers ?? []);
const calling = (row: PhoneNumber): string => given(row.E164PhoneNumber, 'E164PhoneNumber');
/** Orders one number, and waits until it is in the inventory; its id there is given back. */
const number = async (c: Chime, e164: string): Promise<string> => {
  const { PhoneNumberOrder } = await c.createPhoneNumberOrder({ ProductType: 'BusinessCalling', E164PhoneNumbers: [e164] });
  const PhoneNumberOrderId = given(PhoneNumberOrder?.PhoneNumberOrderId, 'PhoneNumberOrderId');
  for (let turn = 0; turn < 10; turn += 1) {
    const read = await c.getPhoneNumberOrder({ PhoneNumberOrderId });
    if (read.PhoneNumberOrder?.Status !== 'Processing') break;
    await pause();
  }
  const row = (await numbersOf(c)).find(({ E164PhoneNumber }) => E164PhoneNumber === e164);
  return given(given(row, `number ${e164} in the inventory`).PhoneNumberId, 'PhoneNumberId');
};

/** Guide: docs.aws.amazon.com/chime/latest/ag (accounts, users, rooms, bots, phone numbers, retention) and its API reference. */
export const vendor: Vendor<Chime> = {
  document: 'chime/chime.json',
  header: 'Authorization',
  word: 'AWS4-HMAC-SHA256',
  made: 'AKIAIOSFODNN7EXAMPLE',
  client: connect,
  strict: ['a credential that is refused'],
  flows: {
    'an account, from the first to the last day': (c, s) => ({
      made: async () => {
        const { Account } = await c.createAccount({ Name: 'Life Account' });
        assert.equal(Account?.Name, 'Life Account');
        s.id = given(Account.AccountId, 'AccountId');
        s.aws = given(Account.AwsAccountId, 'AwsAccountId');
        assert.equal(Account.AccountType ?? 'Team', 'Team');
      },
      read: async () => {
        const { Account } = await c.getAccount({ AccountId: s.id });
        assert.deepEqual([Account?.AccountId, Account?.AwsAccountId, Account?.Name], [s.id, s.aws, 'Life Account']);
        assert.ok(Account?.CreatedTimestamp instanceof Date, 'it was made at no time');
      },
      'is in the list': async () => once(await accounts(c), [s.id], 'accounts'),
      'has another name, and another license by default': async () => {
        const { Account } = await c.updateAccount({ AccountId: s.id, Name: 'Long Life', DefaultLicense: 'Basic' });
        assert.deepEqual([Account?.AccountId, Account?.Name, Account?.DefaultLicense], [s.id, 'Long Life', 'Basic']);
      },
      'keeps them': async () => {
        const { Account } = await c.getAccount({ AccountId: s.id });
        assert.deepEqual([Account?.Name, Account?.DefaultLicense, Account?.AwsAccountId], ['Long Life', 'Basic', s.aws]);
      },
      deleted: () => c.deleteAccount({ AccountId: s.id }),
      gone: () => missing(c.getAccount({ AccountId: s.id }), 481),
      'no longer in the list': async () => without(await accounts(c), s.id),
    }),

    'accounts, found by the beginning of their names': (c, s) => ({
      'three are made': async () => {
        s.one = await account(c, 'Prefix North');
        s.two = await account(c, 'Prefix South');
        s.three = await account(c, 'Other South');
      },
      'all of them, page by page': async () => once(await accounts(c, {}, 1), [s.one, s.two, s.three], 'accounts'),
      'a page holds no more than was asked for': async () => {
        const page = await c.listAccounts({ MaxResults: 2 });
        assert.equal(page.Accounts?.length, 2);
        given(page.NextToken, 'NextToken');
      },
      'those that begin so': async () => {
        const rows = await accounts(c, { Name: 'Prefix' });
        once(rows, [s.one, s.two], 'accounts');
        without(rows, s.three);
      },
      'those that begin so, page by page': async () => once(await accounts(c, { Name: 'Prefix' }, 1), [s.one, s.two], 'accounts'),
      'none begins so': async () => assert.deepEqual(await accounts(c, { Name: 'Zzz no such beginning' }), []),
      'the one to which a user belongs': async () => {
        await user(c, s.two, 'finder@example.com');
        assert.deepEqual(await accounts(c, { UserEmail: 'finder@example.com' }), [s.two]);
      },
    }),

    'the settings of an account': (c, s) => ({
      'an account': async () => {
        s.id = await account(c, 'Settings Account');
      },
      'has settings': async () => {
        given((await c.getAccountSettings({ AccountId: s.id })).AccountSettings, 'AccountSettings');
      },
      'no remote control, but dial-out': async () => {
        const AccountSettings = { DisableRemoteControl: true, EnableDialOut: true };
        await c.updateAccountSettings({ AccountId: s.id, AccountSettings });
        assert.deepEqual((await c.getAccountSettings({ AccountId: s.id })).AccountSettings, AccountSettings);
      },
      'and back': async () => {
        const AccountSettings = { DisableRemoteControl: false, EnableDialOut: false };
        await c.updateAccountSettings({ AccountId: s.id, AccountSettings });
        assert.deepEqual((await c.getAccountSettings({ AccountId: s.id })).AccountSettings, AccountSettings);
      },
      'none of an account that is not there': () => missing(c.getAccountSettings({ AccountId: nowhere }), 481),
      'nor are they changed': () =>
        missing(c.updateAccountSettings({ AccountId: nowhere, AccountSettings: { EnableDialOut: true } }), 481),
    }),

    'a user: made, read, given another license': (c, s) => ({
      made: async () => {
        s.account = await account(c, 'User Account');
        const { User } = await c.createUser({
          AccountId: s.account,
          Email: 'mateo@example.com',
          Username: 'mateo',
          UserType: 'PrivateUser',
        });
        s.user = given(User?.UserId, 'UserId');
        assert.deepEqual([User?.AccountId, User?.PrimaryEmail], [s.account, 'mateo@example.com']);
      },
      read: async () => {
        const { User } = await c.getUser({ AccountId: s.account, UserId: s.user });
        assert.deepEqual(
          [User?.UserId, User?.AccountId, User?.PrimaryEmail, User?.UserType],
          [s.user, s.account, 'mateo@example.com', 'PrivateUser'],
        );
      },
      'another license': async () => {
        const { User } = await c.updateUser({ AccountId: s.account, UserId: s.user, LicenseType: 'Basic' });
        assert.deepEqual([User?.UserId, User?.LicenseType], [s.user, 'Basic']);
      },
      'is kept': async () => {
        const { User } = await c.getUser({ AccountId: s.account, UserId: s.user });
        assert.deepEqual([User?.LicenseType, User?.PrimaryEmail], ['Basic', 'mateo@example.com']);
      },
      'the address is taken': () =>
        taken(c.createUser({ AccountId: s.account, Email: 'mateo@example.com', Username: 'mateo2' }), 482),
      'another PIN': async () => {
        const { User } = await c.resetPersonalPIN({ AccountId: s.account, UserId: s.user });
        assert.equal(User?.UserId, s.user);
        const pin = given(User.PersonalPIN, 'PersonalPIN');
        assert.equal((await c.getUser({ AccountId: s.account, UserId: s.user })).User?.PersonalPIN, pin);
      },
      'signed out everywhere, and still there': async () => {
        await c.logoutUser({ AccountId: s.account, UserId: s.user });
        assert.equal((await c.getUser({ AccountId: s.account, UserId: s.user })).User?.UserId, s.user);
      },
      'not there in another account': async () => {
        const other = await account(c, 'Other User Account');
        await missing(c.getUser({ AccountId: other, UserId: s.user }), 481);
      },
    }),

    'users of an account, in pages and by address': (c, s) => ({
      'three, and one elsewhere': async () => {
        s.account = await account(c, 'List Account');
        s.one = await user(c, s.account, 'ana@example.com');
        s.two = await user(c, s.account, 'bo@example.com');
        s.three = await user(c, s.account, 'cy@example.com');
        s.else = await user(c, await account(c, 'Elsewhere Account'), 'dee@example.com');
      },
      'all of the account': async () => {
        const rows = await users(c, s.account);
        once(rows, [s.one, s.two, s.three], 'users');
        without(rows, s.else);
      },
      'one by one': async () => once(await users(c, s.account, undefined, 1), [s.one, s.two, s.three], 'users'),
      'two to a page, by hand': async () => {
        const rows = await pages(
          (NextToken) => c.listUsers({ AccountId: s.account, MaxResults: 2, ...(NextToken !== undefined && { NextToken }) }),
          (page) => {
            assert.ok((page.Users?.length ?? 0) <= 2, 'the page is too long');
            return page.Users ?? [];
          },
          (page) => page.NextToken,
        );
        once(
          rows.map(({ UserId }) => given(UserId, 'UserId')),
          [s.one, s.two, s.three],
          'users',
        );
      },
      'who has this address': async () => assert.deepEqual(await users(c, s.account, 'bo@example.com'), [s.two]),
      'nobody has that one': async () => assert.deepEqual(await users(c, s.account, 'nobody@example.com'), []),
      'none of an account that is not there': () => missing(c.listUsers({ AccountId: nowhere }), 481),
    }),

    'users at once: suspended, let in again, licensed, invited': (c, s) => ({
      'two users': async () => {
        s.account = await account(c, 'Suspend Account');
        s.one = await user(c, s.account, 'eve@example.com');
        s.two = await user(c, s.account, 'fay@example.com');
      },
      'one is suspended': async () => {
        const { UserErrors } = await c.batchSuspendUser({ AccountId: s.account, UserIdList: [s.one] });
        assert.deepEqual(UserErrors ?? [], []);
      },
      'it says so, the other does not': async () => {
        const state = async (UserId: string) => (await c.getUser({ AccountId: s.account, UserId })).User?.UserRegistrationStatus;
        assert.equal(await state(s.one), 'Suspended');
        assert.notEqual(await state(s.two), 'Suspended');
      },
      'let in again': async () => {
        const { UserErrors } = await c.batchUnsuspendUser({ AccountId: s.account, UserIdList: [s.one] });
        assert.deepEqual(UserErrors ?? [], []);
        const { User } = await c.getUser({ AccountId: s.account, UserId: s.one });
        assert.notEqual(User?.UserRegistrationStatus, 'Suspended');
      },
      'who is not there is among the errors': async () => {
        const { UserErrors } = await c.batchSuspendUser({ AccountId: s.account, UserIdList: [s.two, nowhere] });
        assert.deepEqual(
          UserErrors?.map(({ UserId, ErrorCode }) => [UserId, ErrorCode]),
          [[nowhere, 'NotFound']],
        );
        const { User } = await c.getUser({ AccountId: s.account, UserId: s.two });
        assert.equal(User?.UserRegistrationStatus, 'Suspended');
      },
      'each gets a license': async () => {
        const { UserErrors } = await c.batchUpdateUser({
          AccountId: s.account,
          UpdateUserRequestItems: [
            { UserId: s.one, LicenseType: 'Pro' },
            { UserId: s.two, LicenseType: 'Basic' },
          ],
        });
        assert.deepEqual(UserErrors ?? [], []);
        const license = async (UserId: string) => (await c.getUser({ AccountId: s.account, UserId })).User?.LicenseType;
        assert.deepEqual([await license(s.one), await license(s.two)], ['Pro', 'Basic']);
      },
      'who is not there gets none': async () => {
        const UpdateUserRequestItems = [{ UserId: nowhere, LicenseType: 'Pro' as const }];
        const { UserErrors } = await c.batchUpdateUser({ AccountId: s.account, UpdateUserRequestItems });
        assert.deepEqual(
          UserErrors?.map(({ UserId, ErrorCode }) => [UserId, ErrorCode]),
          [[nowhere, 'NotFound']],
        );
      },
      'two are invited': async () => {
        const UserEmailList = ['alejandro@example.com', 'carlos@example.com'];
        const { Invites } = await c.inviteUsers({ AccountId: s.account, UserEmailList });
        once(
          (Invites ?? []).map(({ EmailAddress }) => given(EmailAddress, 'EmailAddress')),
          UserEmailList,
          'invitations',
        );
        for (const invite of Invites ?? []) {
          given(invite.InviteId, 'InviteId');
          assert.equal(invite.Status, 'Pending');
          oneOf(invite.EmailStatus, 'Sent', 'NotSent');
        }
      },
      'none into an account that is not there': () =>
        missing(c.inviteUsers({ AccountId: nowhere, UserEmailList: ['ines@example.com'] }), 481),
    }),

    'an account with users is not deleted': (c, s) => ({
      'an account with a user': async () => {
        s.account = await account(c, 'Full Account');
        s.user = await user(c, s.account, 'ivy@example.com');
      },
      'not deleted': () => refused(c.deleteAccount({ AccountId: s.account }), 422, 485),
      'still there, with its user': async () => {
        assert.equal((await c.getAccount({ AccountId: s.account })).Account?.Name, 'Full Account');
        once(await users(c, s.account), [s.user], 'users');
      },
      'the user is suspended': async () => {
        const { UserErrors } = await c.batchSuspendUser({ AccountId: s.account, UserIdList: [s.user] });
        assert.deepEqual(UserErrors ?? [], []);
      },
      'now it is deleted': () => c.deleteAccount({ AccountId: s.account }),
      gone: () => missing(c.getAccount({ AccountId: s.account }), 481),
      'not deleted twice': () => missing(c.deleteAccount({ AccountId: s.account }), 481),
    }),

    'what a user may do by telephone': (c, s) => ({
      'a user': async () => {
        s.account = await account(c, 'Telephony Account');
        s.user = await user(c, s.account, 'jo@example.com');
      },
      'calls in and out, but no messages': async () => {
        const UserSettings = { Telephony: { InboundCalling: true, OutboundCalling: true, SMS: false } };
        await c.updateUserSettings({ AccountId: s.account, UserId: s.user, UserSettings });
        assert.deepEqual((await c.getUserSettings({ AccountId: s.account, UserId: s.user })).UserSettings, UserSettings);
      },
      'calls in alone': async () => {
        const UserSettings = { Telephony: { InboundCalling: true, OutboundCalling: false, SMS: false } };
        await c.updateUserSettings({ AccountId: s.account, UserId: s.user, UserSettings });
        assert.deepEqual((await c.getUserSettings({ AccountId: s.account, UserId: s.user })).UserSettings, UserSettings);
      },
      'not without all three': () =>
        wrong(
          c.updateUserSettings({
            AccountId: s.account,
            UserId: s.user,
            UserSettings: { Telephony: { InboundCalling: false, OutboundCalling: false, SMS: undefined } },
          }),
          483,
        ),
      'nothing changed': async () => {
        const { UserSettings } = await c.getUserSettings({ AccountId: s.account, UserId: s.user });
        assert.equal(UserSettings?.Telephony?.InboundCalling, true);
      },
      'none of who is not there': () => missing(c.getUserSettings({ AccountId: s.account, UserId: nowhere }), 481),
    }),

    'a room, from the first to the last day': (c, s) => ({
      made: async () => {
        s.account = await account(c, 'Room Account');
        const { Room } = await c.createRoom({ AccountId: s.account, Name: 'chatRoom', ClientRequestToken: 'room-token-1' });
        assert.deepEqual([Room?.Name, Room?.AccountId], ['chatRoom', s.account]);
        s.room = given(Room?.RoomId, 'RoomId');
      },
      'asked for again with its token, it is the same': async () => {
        const { Room } = await c.createRoom({ AccountId: s.account, Name: 'chatRoom', ClientRequestToken: 'room-token-1' });
        assert.equal(Room?.RoomId, s.room);
      },
      read: async () => {
        const { Room } = await c.getRoom({ AccountId: s.account, RoomId: s.room });
        assert.deepEqual([Room?.RoomId, Room?.Name, Room?.AccountId], [s.room, 'chatRoom', s.account]);
        assert.ok(Room?.CreatedTimestamp instanceof Date, 'it was made at no time');
      },
      'is in the list once': async () => once(await rooms(c, s.account), [s.room], 'rooms'),
      'has another name': async () => {
        const { Room } = await c.updateRoom({ AccountId: s.account, RoomId: s.room, Name: 'teamRoom' });
        assert.deepEqual([Room?.RoomId, Room?.Name], [s.room, 'teamRoom']);
        assert.equal((await c.getRoom({ AccountId: s.account, RoomId: s.room })).Room?.Name, 'teamRoom');
      },
      'a message that is not there is not redacted': () =>
        missing(c.redactRoomMessage({ AccountId: s.account, RoomId: s.room, MessageId: nowhere }), 480),
      deleted: () => c.deleteRoom({ AccountId: s.account, RoomId: s.room }),
      'gone, and not in the list': async () => {
        await missing(c.getRoom({ AccountId: s.account, RoomId: s.room }), 482);
        without(await rooms(c, s.account), s.room);
      },
    }),

    'who is in a room': (c, s) => ({
      'a room and three users': async () => {
        s.account = await account(c, 'Member Account');
        s.room = await room(c, s.account, 'project');
        s.one = await user(c, s.account, 'kim@example.com');
        s.two = await user(c, s.account, 'lea@example.com');
        s.three = await user(c, s.account, 'max@example.com');
      },
      'one administers it': async () => {
        const asked = { AccountId: s.account, RoomId: s.room, MemberId: s.one, Role: 'Administrator' as const };
        const { RoomMembership } = await c.createRoomMembership(asked);
        assert.deepEqual(
          [RoomMembership?.RoomId, RoomMembership?.Member?.MemberId, RoomMembership?.Role],
          [s.room, s.one, 'Administrator'],
        );
      },
      'who is in it is not let in again': () =>
        taken(c.createRoomMembership({ AccountId: s.account, RoomId: s.room, MemberId: s.one, Role: 'Member' }), 480),
      'two more at once, and one who is not there': async () => {
        const MembershipItemList = [s.two, s.three, nowhere].map((MemberId) => ({ MemberId, Role: 'Member' as const }));
        const { Errors } = await c.batchCreateRoomMembership({ AccountId: s.account, RoomId: s.room, MembershipItemList });
        assert.deepEqual(
          Errors?.map(({ MemberId, ErrorCode }) => [MemberId, ErrorCode]),
          [[nowhere, 'NotFound']],
        );
      },
      'all of them, page by page': async () =>
        once(
          await members(c, s.account, s.room, 1),
          [`${s.one} Administrator`, `${s.two} Member`, `${s.three} Member`],
          'members',
        ),
      'one more administers it': async () => {
        const asked = { AccountId: s.account, RoomId: s.room, MemberId: s.two, Role: 'Administrator' as const };
        const { RoomMembership } = await c.updateRoomMembership(asked);
        assert.deepEqual([RoomMembership?.Member?.MemberId, RoomMembership?.Role], [s.two, 'Administrator']);
        once(await members(c, s.account, s.room), [`${s.two} Administrator`], 'members');
      },
      'one leaves': async () => {
        await c.deleteRoomMembership({ AccountId: s.account, RoomId: s.room, MemberId: s.three });
        without(await members(c, s.account, s.room), `${s.three} Member`);
      },
      'who has left does not leave again': () =>
        missing(c.deleteRoomMembership({ AccountId: s.account, RoomId: s.room, MemberId: s.three }), 481),
    }),

    'rooms, in pages and by member': (c, s) => ({
      'three rooms, and one in another account': async () => {
        s.account = await account(c, 'Rooms Account');
        s.one = await room(c, s.account, 'red');
        s.two = await room(c, s.account, 'green');
        s.three = await room(c, s.account, 'blue');
        s.else = await room(c, await account(c, 'Rooms Elsewhere'), 'grey');
      },
      'all of the account, page by page': async () => {
        const rows = await rooms(c, s.account, undefined, 1);
        once(rows, [s.one, s.two, s.three], 'rooms');
        without(rows, s.else);
      },
      'a member of two of them': async () => {
        s.user = await user(c, s.account, 'nia@example.com');
        await c.createRoomMembership({ AccountId: s.account, RoomId: s.one, MemberId: s.user });
        await c.createRoomMembership({ AccountId: s.account, RoomId: s.three, MemberId: s.user });
      },
      'is a mere member': async () => once(await members(c, s.account, s.one), [`${s.user} Member`], 'members'),
      'those of the member': async () => {
        const rows = await rooms(c, s.account, s.user);
        once(rows, [s.one, s.three], 'rooms');
        without(rows, s.two);
      },
      'not read by way of the other account': async () => missing(c.getRoom({ AccountId: s.account, RoomId: s.else }), 482),
    }),

    'a bot: its switch, its token, its events': (c, s) => ({
      made: async () => {
        s.account = await account(c, 'Bot Account');
        const { Bot } = await c.createBot({ AccountId: s.account, DisplayName: 'myBot', Domain: 'example.com' });
        assert.equal(Bot?.DisplayName, 'myBot');
        s.bot = given(Bot.BotId, 'BotId');
        s.token = given(Bot.SecurityToken, 'SecurityToken');
        assert.equal(Bot.Disabled ?? false, false);
      },
      'is in the list, page by page': async () => {
        s.other = await bot(c, s.account, 'yourBot');
        once(await bots(c, s.account, 1), [s.bot, s.other], 'bots');
      },
      'switched off': async () => {
        const { Bot } = await c.updateBot({ AccountId: s.account, BotId: s.bot, Disabled: true });
        assert.deepEqual([Bot?.BotId, Bot?.Disabled], [s.bot, true]);
        const read = await c.getBot({ AccountId: s.account, BotId: s.bot });
        assert.deepEqual([read.Bot?.Disabled, read.Bot?.DisplayName], [true, 'myBot']);
      },
      'gets another token': async () => {
        const { Bot } = await c.regenerateSecurityToken({ AccountId: s.account, BotId: s.bot });
        assert.equal(Bot?.BotId, s.bot);
        assert.notEqual(given(Bot.SecurityToken, 'SecurityToken'), s.token);
      },
      'its events go to an endpoint': async () => {
        const OutboundEventsHTTPSEndpoint = 'https://example.com:8000';
        const made = await c.putEventsConfiguration({ AccountId: s.account, BotId: s.bot, OutboundEventsHTTPSEndpoint });
        assert.deepEqual(
          [made.EventsConfiguration?.BotId, made.EventsConfiguration?.OutboundEventsHTTPSEndpoint],
          [s.bot, OutboundEventsHTTPSEndpoint],
        );
        const { EventsConfiguration } = await c.getEventsConfiguration({ AccountId: s.account, BotId: s.bot });
        assert.deepEqual(
          [EventsConfiguration?.BotId, EventsConfiguration?.OutboundEventsHTTPSEndpoint],
          [s.bot, OutboundEventsHTTPSEndpoint],
        );
      },
      'those of the other have no configuration': () =>
        missing(c.getEventsConfiguration({ AccountId: s.account, BotId: s.other }), 486),
      'no longer': async () => {
        await c.deleteEventsConfiguration({ AccountId: s.account, BotId: s.bot });
        await missing(c.getEventsConfiguration({ AccountId: s.account, BotId: s.bot }), 486);
      },
      'one that is not there': () => missing(c.getBot({ AccountId: s.account, BotId: nowhere }), 484),
    }),

    'how long messages are kept, and the settings of all accounts': (c, s) => ({
      'an account keeps them for some days': async () => {
        s.account = await account(c, 'Retention Account');
        const RetentionSettings = {
          RoomRetentionSettings: { RetentionDays: 30 },
          ConversationRetentionSettings: { RetentionDays: 90 },
        };
        const put = await c.putRetentionSettings({ AccountId: s.account, RetentionSettings });
        if (put.RetentionSettings !== undefined) assert.deepEqual(put.RetentionSettings, RetentionSettings);
        const read = await c.getRetentionSettings({ AccountId: s.account });
        assert.deepEqual(read.RetentionSettings, RetentionSettings);
      },
      'those of rooms for longer': async () => {
        const RetentionSettings = {
          RoomRetentionSettings: { RetentionDays: 365 },
          ConversationRetentionSettings: { RetentionDays: 90 },
        };
        await c.putRetentionSettings({ AccountId: s.account, RetentionSettings });
        assert.deepEqual((await c.getRetentionSettings({ AccountId: s.account })).RetentionSettings, RetentionSettings);
      },
      'not for less than a day': () =>
        wrong(
          c.putRetentionSettings({
            AccountId: s.account,
            RetentionSettings: { RoomRetentionSettings: { RetentionDays: 0 } },
          }),
          482,
        ),
      'none of an account that is not there': () => missing(c.getRetentionSettings({ AccountId: nowhere }), 481),
      'buckets for the details of calls': async () => {
        const settings = {
          BusinessCalling: { CdrBucket: 'my-business-calling' },
          VoiceConnector: { CdrBucket: 'my-voice-connector' },
        };
        await c.updateGlobalSettings(settings);
        const { BusinessCalling, VoiceConnector } = await c.getGlobalSettings({});
        assert.deepEqual({ BusinessCalling, VoiceConnector }, settings);
      },
      'a name shown to who is called': async () => {
        await c.updatePhoneNumberSettings({ CallingName: 'myName' });
        const read = await c.getPhoneNumberSettings({});
        assert.equal(read.CallingName, 'myName');
        assert.ok(read.CallingNameUpdatedTimestamp instanceof Date, 'it was changed at no time');
      },
      'not one with signs in it': () => wrong(c.updatePhoneNumberSettings({ CallingName: 'no! signs?' }), 482),
    }),

    'telephone numbers: an order, a name, a user, the queue of the deleted': (c, s) => ({
      'an order': async () => {
        const made = await c.createPhoneNumberOrder({
          ProductType: 'BusinessCalling',
          E164PhoneNumbers: ['+12065550110', '+12065550111'],
        });
        const order = given(made.PhoneNumberOrder, 'PhoneNumberOrder');
        assert.equal(order.ProductType, 'BusinessCalling');
        oneOf(order.Status, 'Processing', 'Successful');
        s.order = given(order.PhoneNumberOrderId, 'PhoneNumberOrderId');
        const read = await c.getPhoneNumberOrder({ PhoneNumberOrderId: s.order });
        once(
          (read.PhoneNumberOrder?.OrderedPhoneNumbers ?? []).map((one) => given(one.E164PhoneNumber, 'E164PhoneNumber')),
          ['+12065550110', '+12065550111'],
          'ordered numbers',
        );
      },
      'is among the orders': async () => {
        const walk = paginateListPhoneNumberOrders({ client: c, pageSize: 1 }, {});
        const rows = await gather(walk, (page) => page.PhoneNumberOrders ?? []);
        once(
          rows.map(({ PhoneNumberOrderId }) => given(PhoneNumberOrderId, 'PhoneNumberOrderId')),
          [s.order],
          'orders',
        );
      },
      'a number comes into the inventory': async () => {
        s.number = await number(c, '+12065550100');
        const { PhoneNumber: read } = await c.getPhoneNumber({ PhoneNumberId: s.number });
        assert.deepEqual(
          [read?.E164PhoneNumber, read?.ProductType, read?.Status],
          ['+12065550100', 'BusinessCalling', 'Unassigned'],
        );
        once((await numbersOf(c, { ProductType: 'BusinessCalling' }, 1)).map(calling), ['+12065550100'], 'numbers');
        without((await numbersOf(c, { ProductType: 'VoiceConnector' })).map(calling), '+12065550100');
      },
      'shows a name': async () => {
        const made = await c.updatePhoneNumber({ PhoneNumberId: s.number, CallingName: 'Front Desk' });
        assert.equal(made.PhoneNumber?.CallingName, 'Front Desk');
        const { PhoneNumber: read } = await c.getPhoneNumber({ PhoneNumberId: s.number });
        assert.deepEqual([read?.CallingName, read?.ProductType], ['Front Desk', 'BusinessCalling']);
      },
      'is given to a user': async () => {
        s.account = await account(c, 'Number Account');
        s.user = await user(c, s.account, 'ola@example.com');
        await c.associatePhoneNumberWithUser({ AccountId: s.account, UserId: s.user, E164PhoneNumber: '+12065550100' });
        const { User } = await c.getUser({ AccountId: s.account, UserId: s.user });
        assert.equal(User?.PrimaryProvisionedNumber, '+12065550100');
        const { PhoneNumber: read } = await c.getPhoneNumber({ PhoneNumberId: s.number });
        assert.equal(read?.Status, 'Assigned');
        const rows = await numbersOf(c, { FilterName: 'UserId', FilterValue: s.user });
        assert.deepEqual(rows.map(calling), ['+12065550100']);
      },
      'and taken away': async () => {
        await c.disassociatePhoneNumberFromUser({ AccountId: s.account, UserId: s.user });
        const { PhoneNumber: read } = await c.getPhoneNumber({ PhoneNumberId: s.number });
        assert.deepEqual([read?.Status, read?.Associations ?? []], ['Unassigned', []]);
      },
      'goes into the queue of the deleted, and comes back': async () => {
        await c.deletePhoneNumber({ PhoneNumberId: s.number });
        const { PhoneNumber: back } = await c.restorePhoneNumber({ PhoneNumberId: s.number });
        assert.deepEqual([back?.E164PhoneNumber, back?.Status], ['+12065550100', 'Unassigned']);
      },
      'not one that is not there': () => missing(c.getPhoneNumber({ PhoneNumberId: '+12065550999' }), 481),
    }),

    'a credential that is refused': (c, s, another) => ({
      'an account with a user': async () => {
        s.account = await account(c, 'Guarded Account');
        s.user = await user(c, s.account, 'pia@example.com');
      },
      'not read by another': () => stranger(another('AKIANOBODYATALL00000').getAccount({ AccountId: s.account }), 480, 482),
      'not listed by another': () => stranger(another('AKIANOBODYATALL00000').listAccounts({}), 480, 482),
      'nothing made by another': () =>
        stranger(another('AKIANOBODYATALL00000').createAccount({ Name: 'Intruder Account' }), 480, 482),
      'its users are not read by another': () =>
        stranger(another('AKIANOBODYATALL00000').getUser({ AccountId: s.account, UserId: s.user }), 480, 482),
      'not deleted by another': () => stranger(another('AKIANOBODYATALL00000').deleteAccount({ AccountId: s.account }), 480, 482),
      'it is still there, and alone': async () => {
        assert.equal((await c.getAccount({ AccountId: s.account })).Account?.Name, 'Guarded Account');
        assert.deepEqual(await accounts(c, { Name: 'Intruder' }), []);
      },
    }),

    'wrong requests, and what is not there': (c, s) => ({
      'an account without a name': () => wrong(c.createAccount({ Name: undefined }), 483),
      'an account named with a blank': () => wrong(c.createAccount({ Name: ' ' }), 483),
      'a name that is too long': async () => {
        const Name = `Long ${'x'.repeat(100)}`;
        await wrong(c.createAccount({ Name }), 483);
        assert.deepEqual(await accounts(c, { Name: 'Long xxx' }), []);
      },
      'an address that is none': async () => {
        s.account = await account(c, 'Wrong Account');
        await wrong(c.createUser({ AccountId: s.account, Email: 'not-an-address', Username: 'quin' }), 484);
      },
      'a license of which nobody heard': () =>
        wrong(c.updateAccount({ AccountId: s.account, DefaultLicense: 'Platinum' as 'Pro' }), 483),
      'a page of no rows': () => wrong(c.listAccounts({ MaxResults: 0 }), 483),
      'what is not there is not read': async () => {
        await missing(c.getAccount({ AccountId: nowhere }), 481);
        await missing(c.getUser({ AccountId: s.account, UserId: nowhere }), 481);
        await missing(c.getRoom({ AccountId: s.account, RoomId: nowhere }), 482);
        await missing(c.getPhoneNumberOrder({ PhoneNumberOrderId: nowhere }), 481);
      },
      'nor changed, nor deleted': async () => {
        await missing(c.updateAccount({ AccountId: nowhere, Name: 'late' }), 481);
        await missing(c.updateUser({ AccountId: s.account, UserId: nowhere, LicenseType: 'Pro' }), 481);
        await missing(c.updateBot({ AccountId: s.account, BotId: nowhere, Disabled: true }), 485);
        await missing(c.deleteRoom({ AccountId: s.account, RoomId: nowhere }), 482);
      },
    }),
  },
};
