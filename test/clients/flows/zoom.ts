import assert from 'node:assert/strict';
import { type MeetingsEndpoints, MeetingsS2SAuthClient } from '@zoom/rivet/meetings';
import { type UsersEndpoints, UsersS2SAuthClient } from '@zoom/rivet/users';
import { given, once, type Place, pages, refused, type Vendor } from '../kit.ts';

/** The parts of the service, each with its own client. */
type Zoom = Pick<MeetingsEndpoints, 'meetings' | 'trackingField' | 'h323Devices'> & Pick<UsersEndpoints, 'users' | 'groups'>;

/** The client gets tokens from zoom.us alone, so that it has one in its store; the address is an option that its types leave out. */
const connect = (place: Place, token: string): Zoom => {
  const options = {
    clientId: 'Lx2Kz9TtS0yq3QvYb1nWcA',
    clientSecret: 'bW9PyR7tC5uV2xZ8aD4eF6gH1iJ3kL0m',
    accountId: 'qT7mWc3XQGyB2v9KjZr5hA',
    baseUrl: place.base,
    disableReceiver: true as const,
    tokenStore: {
      getLatestToken: () => ({ accessToken: token, expirationTimeIso: '2099-01-01T00:00:00.000Z', scopes: [] }),
      storeToken: () => undefined,
    },
  };
  const { endpoints: meetings } = new MeetingsS2SAuthClient(options);
  const { endpoints: users } = new UsersS2SAuthClient(options);
  return Object.assign(meetings, { users: users.users, groups: users.groups });
};

/** The client tells the status of an error in its message alone: `[404/1001]: …`. */
const told = <T>(call: Promise<T>): Promise<T> =>
  call.catch((error: Error) =>
    Promise.reject(Object.assign(error, { status: Number(/^\[(\d+)/.exec(error.message)?.[1] ?? NaN) })),
  );

const start = '2030-05-14T09:00:00Z';

const user = async (api: Zoom, email: string, last_name = 'Reyes'): Promise<string> => {
  const { data } = await api.users.createUsers({
    body: { action: 'create', user_info: { email, first_name: 'Jill', last_name, type: 1 } },
  });
  return given(data?.id, 'id');
};
/** The ids of the users of each status: lists have those of one. */
const users = async (api: Zoom, page_size?: number): Promise<string[]> => {
  const all: string[] = [];
  for (const status of ['active', 'inactive', 'pending'] as const) {
    const rows = await pages(
      async (next_page_token) => (await api.users.listUsers({ query: { status, page_size, next_page_token } })).data,
      (page) => page?.users ?? [],
      (page) => page?.next_page_token || undefined,
    );
    all.push(...rows.map(({ id }) => String(id)));
  }
  return all;
};

const meeting = async (api: Zoom, topic: string, settings: object = {}): Promise<number> => {
  const { data } = await api.meetings.createMeeting({
    path: { userId: 'me' },
    body: { topic, type: 2, start_time: start, duration: 45, timezone: 'UTC', agenda: 'What comes next', settings },
  });
  return given(data?.id, 'id');
};
const meetings = async (api: Zoom, page_size?: number): Promise<string[]> => {
  const rows = await pages(
    async (next_page_token) =>
      (await api.meetings.listMeetings({ path: { userId: 'me' }, query: { type: 'scheduled', page_size, next_page_token } }))
        .data,
    (page) => page?.meetings ?? [],
    (page) => page?.next_page_token || undefined,
  );
  return rows.map(({ id }) => String(id));
};

type Status = 'approved' | 'denied' | 'pending';
const registrants = async (api: Zoom, meetingId: number, status: Status): Promise<string[]> => {
  const { data } = await api.meetings.listMeetingRegistrants({ path: { meetingId }, query: { status } });
  return given(data?.registrants, 'registrants').map(({ email }) => String(email));
};
const register = async (api: Zoom, meetingId: number, email: string): Promise<string> => {
  const body = { email, first_name: 'Ann', last_name: 'Example' };
  const { data } = await api.meetings.addMeetingRegistrant({ path: { meetingId }, body });
  return given(data?.registrant_id, 'registrant_id');
};

const question = { name: 'How useful was this meeting?', type: 'single' as const, answers: ['Very', 'Somewhat', 'Not at all'] };

const groups = async (api: Zoom): Promise<string[]> =>
  given((await api.groups.listGroups({})).data?.groups, 'groups').map(({ id }) => String(id));
const group = async (api: Zoom, name: string): Promise<string> =>
  given((await api.groups.createGroup({ body: { name } })).data?.id, 'id');
const members = async (api: Zoom, groupId: string): Promise<string[]> =>
  given((await api.groups.listGroupMembers({ path: { groupId } })).data?.members, 'members').map(({ email }) => String(email));

const fields = async (api: Zoom): Promise<string[]> =>
  given((await api.trackingField.listTrackingFields({})).data?.tracking_fields, 'tracking_fields').map(({ id }) => String(id));

const device = async (api: Zoom, name: string, ip: string): Promise<string> => {
  const { data } = await api.h323Devices.createHSIPDevice({ body: { name, protocol: 'H.323', ip, encryption: 'auto' } });
  return given(data?.id, 'id');
};
const devices = async (api: Zoom, page_size?: number) =>
  pages(
    async (next_page_token) => (await api.h323Devices.listHSIPDevices({ query: { page_size, next_page_token } })).data,
    (page) => page?.devices ?? [],
    (page) => page?.next_page_token || undefined,
  );

/** Guide: Zoom's API reference, "Users", "Meetings", "Groups", "Tracking Field", "Devices", "Pagination", "Error definitions"; Rivet's README. */
export const vendor: Vendor<Zoom> = {
  document: 'zoom/zoom.us.json',
  header: 'Authorization',
  word: 'Bearer',
  made: 'eyJzdiI6IjAwMDAwMSIsImFsZyI6IkhTNTEyIiwidiI6IjIuMCJ9.eyJ2ZXIiOjl9.Zm9yLXRlc3Rz',
  client: connect,
  strict: ['a token that is refused'],
  flows: {
    'a user from the making to the end': (api, s) => ({
      create: async () => {
        s.id = await user(api, 'jill@example.com');
      },
      read: async () => {
        const { data } = await api.users.getUser({ path: { userId: s.id } });
        assert.deepEqual([data?.id, data?.email, data?.first_name, data?.last_name], [s.id, 'jill@example.com', 'Jill', 'Reyes']);
      },
      'a new name': async () => {
        const { statusCode } = await api.users.updateUser({
          path: { userId: s.id },
          body: { first_name: 'Gill', dept: 'Sales' },
        });
        assert.equal(statusCode, 204);
      },
      'it stays': async () => {
        const { data } = await api.users.getUser({ path: { userId: s.id } });
        assert.deepEqual([data?.first_name, data?.last_name, data?.dept], ['Gill', 'Reyes', 'Sales']);
      },
      delete: async () => {
        const { statusCode } = await api.users.deleteUser({ path: { userId: s.id }, query: { action: 'delete' } });
        assert.equal(statusCode, 204);
      },
      'they are gone': async () => {
        await refused(told(api.users.getUser({ path: { userId: s.id } })), 404);
        assert.ok(!(await users(api)).includes(s.id));
      },
    }),
    'users page by page': (api, s) => ({
      'make five': async () => {
        const made = [];
        for (const name of ['a', 'b', 'c', 'd', 'e']) made.push(await user(api, `${name}@example.com`, name));
        once(made, made, 'made ids');
        s.all = made.join(' ');
      },
      'two on a page': async () => {
        const sizes: number[] = [];
        for (const status of ['active', 'inactive', 'pending'] as const)
          sizes.push((await api.users.listUsers({ query: { status, page_size: 2 } })).data?.users?.length ?? 0);
        assert.ok(Math.max(...sizes) <= 2, `pages of ${sizes.join(', ')}`);
      },
      'all pages': async () => once(await users(api, 2), s.all.split(' '), 'users'),
      'all on one page': async () => once(await users(api, 300), s.all.split(' '), 'users'),
    }),
    'an address that is taken': (api, s) => ({
      'nobody has it': async () => {
        const { data } = await api.users.checkUserEmail({ query: { email: 'sam@example.com' } });
        assert.equal(data?.existed_email, false);
      },
      create: async () => {
        s.id = await user(api, 'sam@example.com');
      },
      'somebody has it': async () => {
        const { data } = await api.users.checkUserEmail({ query: { email: 'sam@example.com' } });
        assert.equal(data?.existed_email, true);
      },
      'the same address again': async () => refused(told(user(api, 'sam@example.com', 'Other')), 409),
      'there is one': async () => once(await users(api), [s.id], 'users'),
    }),
    'users that cannot be': (api) => ({
      'without an address': async () => {
        const body = { action: 'create', user_info: { first_name: 'No', type: 1 } };
        await refused(
          told(api.users.createUsers({ body: body as Parameters<Zoom['users']['createUsers']>[0]['body'] })),
          300,
          400,
        );
      },
      'an unknown action': async () => {
        const body = { action: 'borrow', user_info: { email: 'no@example.com', type: 1 } };
        await refused(
          told(api.users.createUsers({ body: body as Parameters<Zoom['users']['createUsers']>[0]['body'] })),
          300,
          400,
        );
      },
      'reading nobody': async () => refused(told(api.users.getUser({ path: { userId: 'nobody-there' } })), 404),
      'changing nobody': async () =>
        refused(told(api.users.updateUser({ path: { userId: 'nobody-there' }, body: { dept: 'Sales' } })), 404),
      'deleting nobody': async () => refused(told(api.users.deleteUser({ path: { userId: 'nobody-there' } })), 404),
    }),
    'a meeting from its making to its end': (api, s) => ({
      create: async () => {
        s.id = String(await meeting(api, 'Planning'));
      },
      read: async () => {
        const { data } = await api.meetings.getMeeting({ path: { meetingId: Number(s.id) } });
        assert.deepEqual([String(data?.id), data?.topic, data?.type, data?.duration], [s.id, 'Planning', 2, 45]);
        assert.deepEqual([data?.agenda, data?.timezone], ['What comes next', 'UTC']);
        assert.equal(new Date(given(data?.start_time, 'start_time')).getTime(), new Date(start).getTime());
      },
      'another topic': async () => {
        const body = { topic: 'Review', duration: 30 };
        const { statusCode } = await api.meetings.updateMeeting({ path: { meetingId: Number(s.id) }, body });
        assert.equal(statusCode, 204);
      },
      'it stays': async () => {
        const { data } = await api.meetings.getMeeting({ path: { meetingId: Number(s.id) } });
        assert.deepEqual([data?.topic, data?.duration, data?.agenda], ['Review', 30, 'What comes next']);
      },
      delete: async () => {
        const { statusCode } = await api.meetings.deleteMeeting({ path: { meetingId: Number(s.id) } });
        assert.equal(statusCode, 204);
      },
      'it is gone': async () => {
        await refused(told(api.meetings.getMeeting({ path: { meetingId: Number(s.id) } })), 404);
        assert.ok(!(await meetings(api)).includes(s.id));
      },
    }),
    'meetings page by page': (api, s) => ({
      'make five': async () => {
        const made: string[] = [];
        for (const topic of ['Mon', 'Tue', 'Wed', 'Thu', 'Fri']) made.push(String(await meeting(api, topic)));
        once(made, made, 'made ids');
        s.all = made.join(' ');
      },
      'two on a page': async () => {
        const { data } = await api.meetings.listMeetings({ path: { userId: 'me' }, query: { type: 'scheduled', page_size: 2 } });
        assert.equal(data?.meetings?.length, 2);
        assert.equal(data?.page_size, 2);
        assert.ok(data?.next_page_token, 'there is a next page');
      },
      'all pages': async () => once(await meetings(api, 2), s.all.split(' '), 'meetings'),
      'how many there are': async () => {
        const { data } = await api.meetings.listMeetings({ path: { userId: 'me' }, query: { type: 'scheduled' } });
        assert.equal(data?.total_records, (await meetings(api)).length);
      },
    }),
    'a meeting that comes again': (api, s) => ({
      create: async () => {
        const recurrence = { type: 1 as const, repeat_interval: 1, end_times: 3 };
        const body = { topic: 'Daily', type: 8 as const, start_time: start, duration: 15, timezone: 'UTC', recurrence };
        const { data } = await api.meetings.createMeeting({ path: { userId: 'me' }, body });
        s.id = String(given(data?.id, 'id'));
      },
      read: async () => {
        const { data } = await api.meetings.getMeeting({ path: { meetingId: Number(s.id) } });
        assert.deepEqual([data?.topic, data?.type, data?.recurrence?.type], ['Daily', 8, 1]);
        assert.deepEqual([data?.recurrence?.repeat_interval, data?.recurrence?.end_times], [1, 3]);
      },
      'it comes three times': async () => {
        const { data } = await api.meetings.getMeeting({ path: { meetingId: Number(s.id) } });
        assert.equal(data?.occurrences?.length, 3);
      },
      'an invitation to it': async () => {
        const { data } = await api.meetings.getMeetingInvitation({ path: { meetingId: Number(s.id) } });
        assert.equal(typeof data?.invitation, 'string');
      },
      delete: async () => api.meetings.deleteMeeting({ path: { meetingId: Number(s.id) } }),
    }),
    'meetings that cannot be': (api) => ({
      'of nobody': async () =>
        refused(told(api.meetings.createMeeting({ path: { userId: 'nobody-there' }, body: { topic: 'Lost', type: 2 } })), 404),
      'of an unknown type': async () => {
        const body = { topic: 'Odd', type: 9 as unknown as 2, start_time: start };
        await refused(told(api.meetings.createMeeting({ path: { userId: 'me' }, body })), 300, 400);
      },
      'reading one that is not there': async () =>
        refused(told(api.meetings.getMeeting({ path: { meetingId: 11111111111 } })), 404),
      'changing it': async () =>
        refused(told(api.meetings.updateMeeting({ path: { meetingId: 11111111111 }, body: { topic: 'Lost' } })), 404),
      'deleting it': async () => refused(told(api.meetings.deleteMeeting({ path: { meetingId: 11111111111 } })), 404),
      'its registrants': async () =>
        refused(told(api.meetings.listMeetingRegistrants({ path: { meetingId: 11111111111 } })), 404),
    }),
    'registrants are approved': (api, s) => ({
      'make a meeting': async () => {
        s.id = String(await meeting(api, 'Webcast', { approval_type: 1, registration_type: 1 }));
      },
      'two register': async () => {
        s.ann = await register(api, Number(s.id), 'ann@example.com');
        s.bob = await register(api, Number(s.id), 'bob@example.com');
        assert.notEqual(s.ann, s.bob);
      },
      'they wait': async () => once(await registrants(api, Number(s.id), 'pending'), ['ann@example.com', 'bob@example.com']),
      'approve one': async () => {
        const body = { action: 'approve' as const, registrants: [{ id: s.ann, email: 'ann@example.com' }] };
        const { statusCode } = await api.meetings.updateRegistrantsStatus({ path: { meetingId: Number(s.id) }, body });
        assert.equal(statusCode, 204);
      },
      'one is approved': async () => assert.deepEqual(await registrants(api, Number(s.id), 'approved'), ['ann@example.com']),
      'one still waits': async () => assert.deepEqual(await registrants(api, Number(s.id), 'pending'), ['bob@example.com']),
    }),
    'registrants come and go': (api, s) => ({
      'make a meeting': async () => {
        s.id = String(await meeting(api, 'Open house', { approval_type: 0, registration_type: 1 }));
      },
      'two register': async () => {
        s.cat = await register(api, Number(s.id), 'cat@example.com');
        s.dan = await register(api, Number(s.id), 'dan@example.com');
      },
      'they are in': async () => once(await registrants(api, Number(s.id), 'approved'), ['cat@example.com', 'dan@example.com']),
      'without a name': async () => {
        const body = { email: 'eve@example.com' } as { email: string; first_name: string };
        await refused(told(api.meetings.addMeetingRegistrant({ path: { meetingId: Number(s.id) }, body })), 300, 400);
      },
      'one leaves': async () => {
        const path = { meetingId: Number(s.id), registrantId: s.cat } as unknown as Parameters<
          Zoom['meetings']['deleteMeetingRegistrant']
        >[0]['path'];
        assert.equal((await api.meetings.deleteMeetingRegistrant({ path })).statusCode, 204);
      },
      'the other stays': async () => assert.deepEqual(await registrants(api, Number(s.id), 'approved'), ['dan@example.com']),
    }),
    'a poll of a meeting': (api, s) => ({
      create: async () => {
        s.meeting = String(await meeting(api, 'Retrospective'));
        const body = { title: 'Learn', questions: [question] };
        const { data } = await api.meetings.createMeetingPoll({ path: { meetingId: Number(s.meeting) }, body });
        s.id = given(data?.id, 'id');
      },
      read: async () => {
        const { data } = await api.meetings.getMeetingPoll({ path: { meetingId: Number(s.meeting), pollId: s.id } });
        assert.deepEqual([data?.id, data?.title, data?.questions?.length], [s.id, 'Learn', 1]);
        const [asked] = given(data?.questions, 'questions');
        assert.deepEqual([asked?.name, asked?.type, asked?.answers], [question.name, question.type, question.answers]);
      },
      'it is listed': async () => {
        const { data } = await api.meetings.listMeetingPolls({ path: { meetingId: Number(s.meeting) } });
        once(
          given(data?.polls, 'polls').map(({ id }) => String(id)),
          [s.id],
          'polls',
        );
      },
      'another title': async () => {
        const path = { meetingId: Number(s.meeting), pollId: s.id };
        const body = { title: 'Lessons', questions: [question] };
        assert.equal((await api.meetings.updateMeetingPoll({ path, body })).statusCode, 204);
        assert.equal((await api.meetings.getMeetingPoll({ path })).data?.title, 'Lessons');
      },
      delete: async () => {
        const path = { meetingId: Number(s.meeting), pollId: s.id };
        assert.equal((await api.meetings.deleteMeetingPoll({ path })).statusCode, 204);
      },
      'it is gone': async () =>
        refused(told(api.meetings.getMeetingPoll({ path: { meetingId: Number(s.meeting), pollId: s.id } })), 404),
    }),
    'a group from its making to its end': (api, s) => ({
      create: async () => {
        s.id = await group(api, 'Marketing');
      },
      read: async () => {
        const { data } = await api.groups.getGroup({ path: { groupId: s.id } });
        assert.deepEqual([data?.id, data?.name, data?.total_members], [s.id, 'Marketing', 0]);
        once(await groups(api), [s.id], 'groups');
      },
      rename: async () => api.groups.updateGroup({ path: { groupId: s.id }, body: { name: 'Field marketing' } }),
      'it stays': async () => {
        assert.equal((await api.groups.getGroup({ path: { groupId: s.id } })).data?.name, 'Field marketing');
      },
      delete: async () => api.groups.deleteGroup({ path: { groupId: s.id } }),
      'it is gone': async () => {
        await refused(told(api.groups.getGroup({ path: { groupId: s.id } })), 404);
        assert.ok(!(await groups(api)).includes(s.id));
      },
    }),
    'members of a group': (api, s) => ({
      'a group and a user': async () => {
        s.group = await group(api, 'Support');
        s.user = await user(api, 'max@example.com', 'Max');
      },
      'put them together': async () => {
        const body = { members: [{ id: s.user, email: 'max@example.com' }] };
        await api.groups.addGroupMembers({ path: { groupId: s.group }, body });
      },
      'the user is in it': async () => once(await members(api, s.group), ['max@example.com'], 'members'),
      'the group counts': async () =>
        assert.equal((await api.groups.getGroup({ path: { groupId: s.group } })).data?.total_members, 1),
      'take them out': async () => api.groups.deleteGroupMember({ path: { groupId: s.group, memberId: s.user } }),
      'nobody is in it': async () => {
        assert.deepEqual(await members(api, s.group), []);
        assert.equal((await api.users.getUser({ path: { userId: s.user } })).data?.id, s.user);
      },
    }),
    'a tracking field from its making to its end': (api, s) => ({
      create: async () => {
        const body = { field: 'Cost center', required: false, visible: true, recommended_values: ['North', 'South'] };
        s.id = given((await api.trackingField.createTrackingField({ body })).data?.id, 'id');
      },
      read: async () => {
        const { data } = await api.trackingField.getTrackingField({ path: { fieldId: s.id } });
        assert.deepEqual([data?.id, data?.field, data?.required, data?.visible], [s.id, 'Cost center', false, true]);
        assert.deepEqual(data?.recommended_values, ['North', 'South']);
        once(await fields(api), [s.id], 'fields');
      },
      change: async () => {
        const body = { field: 'Cost centre', required: true, visible: true, recommended_values: ['West'] };
        assert.equal((await api.trackingField.updateTrackingField({ path: { fieldId: s.id }, body })).statusCode, 204);
      },
      'it stays': async () => {
        const { data } = await api.trackingField.getTrackingField({ path: { fieldId: s.id } });
        assert.deepEqual([data?.field, data?.required, data?.recommended_values], ['Cost centre', true, ['West']]);
      },
      delete: async () =>
        assert.equal((await api.trackingField.deleteTrackingField({ path: { fieldId: s.id } })).statusCode, 204),
      'it is gone': async () => {
        await refused(told(api.trackingField.getTrackingField({ path: { fieldId: s.id } })), 404);
        assert.ok(!(await fields(api)).includes(s.id));
      },
    }),
    'devices of rooms': (api, s) => ({
      'make three': async () => {
        const made = [];
        for (const last of [10, 11, 12]) made.push(await device(api, `room ${last}`, `10.100.111.${last}`));
        s.all = made.join(' ');
        s.id = given(made[0], 'first id');
      },
      'all pages': async () =>
        once(
          (await devices(api, 2)).map(({ id }) => String(id)),
          s.all.split(' '),
          'devices',
        ),
      'change one': async () => {
        const body = { name: 'lobby', protocol: 'SIP' as const, ip: '10.100.111.20', encryption: 'yes' as const };
        assert.equal((await api.h323Devices.updateHSIPDevice({ path: { deviceId: s.id }, body })).statusCode, 204);
      },
      'it stays': async () => {
        const found = (await devices(api)).find(({ id }) => id === s.id);
        assert.deepEqual([found?.name, found?.protocol, found?.ip, found?.encryption], ['lobby', 'SIP', '10.100.111.20', 'yes']);
      },
      'delete it': async () => api.h323Devices.deleteHSIPDevice({ path: { deviceId: s.id } }),
      'the others stay': async () => {
        const left = (await devices(api)).map(({ id }) => String(id));
        once(left, s.all.split(' ').slice(1), 'devices');
        assert.ok(!left.includes(s.id));
      },
    }),
    'a token that is refused': (api, s, another) => ({
      'the right token': async () => {
        s.id = await group(api, 'Guarded');
      },
      'a wrong one reads nothing': async () => refused(told(another('wrong').groups.getGroup({ path: { groupId: s.id } })), 401),
      'nor lists anything': async () => refused(told(another('wrong').users.listUsers({})), 401),
      'nor changes anything': async () =>
        refused(told(another('wrong').groups.updateGroup({ path: { groupId: s.id }, body: { name: 'Theirs' } })), 401),
      'all is as it was': async () =>
        assert.equal((await api.groups.getGroup({ path: { groupId: s.id } })).data?.name, 'Guarded'),
    }),
  },
};
