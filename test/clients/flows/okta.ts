import assert from 'node:assert/strict';
import okta from '@okta/okta-sdk-nodejs';
import { given, once, type Place, refused, type State, type Vendor } from '../kit.ts';

type Client = okta.Client;

/** Nothing is asked for again: the client would wait for a limit to be over. */
const connect = (place: Place, token: string): Client =>
  new okta.Client({ orgUrl: place.url, token, requestExecutor: new okta.RequestExecutor(), cacheMiddleware: null });

/** All rows that the client walks, by the links to next pages; more than 200 rows are an error. */
const all = async <Row>(asked: Promise<AsyncIterable<Row | null>> | Promise<okta.Collection<Row>>): Promise<Row[]> => {
  const rows: Row[] = [];
  for await (const row of (await asked) as AsyncIterable<Row | null>) {
    if (row !== null) rows.push(row);
    assert.ok(rows.length <= 200, 'the list did not end after 200 rows');
  }
  return rows;
};

const ids = (rows: readonly { id?: string }[]): string[] => rows.map(({ id }) => given(id, 'id'));

const person = (firstName: string, more: Record<string, string> = {}): okta.CreateUserRequest => ({
  profile: {
    firstName,
    lastName: 'Brock',
    email: `${firstName.toLowerCase()}.brock@example.com`,
    login: `${firstName.toLowerCase()}.brock@example.com`,
    ...more,
  },
});

/** A user with a password is active at once; one without, who is not to be activated, is staged. */
const user = async (client: Client, firstName: string, more: Record<string, string> = {}): Promise<string> =>
  given((await client.userApi.createUser({ body: person(firstName, more), activate: false })).id, 'id');

const active = async (client: Client, s: State, firstName: string): Promise<void> => {
  const body = { ...person(firstName), credentials: { password: { value: 'tlpWENT2m-0Qx' } } };
  const made = await client.userApi.createUser({ body, activate: true });
  s.id = given(made.id, 'id');
  assert.equal(made.status, 'ACTIVE');
};

const group = async (client: Client, name: string): Promise<string> =>
  given((await client.groupApi.createGroup({ group: { profile: { name, description: `All of ${name}` } } })).id, 'id');

const status = async (client: Client, userId: string): Promise<unknown> => (await client.userApi.getUser({ userId })).status;

/** Okta's code for what it refuses. */
const code = (thrown: unknown): unknown => (thrown as { errorCode?: unknown }).errorCode;

/** Guide: developer.okta.com, "Users API", "Groups API", "Trusted Origins", "Zones", "Event Hooks", "User Types", "Design principles". */
export const vendor: Vendor<Client> = {
  document: 'okta/okta.json',
  header: 'Authorization',
  word: 'SSWS',
  made: '00QCjAl4MlV-WPXM-ABj9yTU8Qm3r2h5vTSyLvDrvK',
  client: connect,
  strict: ['a token that is refused'],
  flows: {
    'a user is created, changed and deleted': (client, s) => ({
      create: async () => {
        const made = await client.userApi.createUser({ body: person('Isaac', { mobilePhone: '555-415-1337' }), activate: false });
        s.id = given(made.id, 'id');
        assert.deepEqual([made.status, made.profile?.firstName, made.profile?.mobilePhone], ['STAGED', 'Isaac', '555-415-1337']);
      },
      read: async () => {
        const read = await client.userApi.getUser({ userId: s.id });
        assert.deepEqual([read.id, read.profile?.login], [s.id, 'isaac.brock@example.com']);
      },
      'read by the login': async () =>
        assert.equal((await client.userApi.getUser({ userId: 'isaac.brock@example.com' })).id, s.id),
      'change some of the profile': async () => {
        const changed = await client.userApi.updateUser({ userId: s.id, user: { profile: { nickName: 'issac' } } });
        assert.deepEqual([changed.profile?.nickName, changed.profile?.firstName], ['issac', 'Isaac']);
      },
      'the rest is as it was': async () => {
        const { profile } = await client.userApi.getUser({ userId: s.id });
        assert.deepEqual([profile?.nickName, profile?.lastName, profile?.mobilePhone], ['issac', 'Brock', '555-415-1337']);
      },
      deactivate: async () => client.userApi.deactivateUser({ userId: s.id }),
      'the user is deprovisioned': async () => assert.equal(await status(client, s.id), 'DEPROVISIONED'),
      delete: async () => client.userApi.deleteUser({ userId: s.id }),
      'the user is gone': async () =>
        assert.equal(code(await refused(client.userApi.getUser({ userId: s.id }), 404)), 'E0000007'),
    }),
    'a staged user is activated': (client, s) => ({
      create: async () => {
        s.id = await user(client, 'Ida');
        assert.equal(await status(client, s.id), 'STAGED');
      },
      activate: async () => {
        const token = await client.userApi.activateUser({ userId: s.id, sendEmail: false });
        assert.deepEqual([typeof token.activationToken, typeof token.activationUrl], ['string', 'string']);
      },
      'no longer staged': async () => assert.notEqual(await status(client, s.id), 'STAGED'),
    }),
    'a user is suspended': (client, s) => ({
      'create one with a password': async () => active(client, s, 'Grace'),
      suspend: async () => client.userApi.suspendUser({ userId: s.id }),
      'the user is suspended': async () => assert.equal(await status(client, s.id), 'SUSPENDED'),
      unsuspend: async () => client.userApi.unsuspendUser({ userId: s.id }),
      'the user is active': async () => assert.equal(await status(client, s.id), 'ACTIVE'),
    }),
    'users through all pages': (client, s) => ({
      'create five': async () => {
        for (const n of [1, 2, 3, 4, 5]) s[`id${n}`] = await user(client, `Tester${n}`);
      },
      'the client walks pages of two': async () =>
        once(ids(await all(client.userApi.listUsers({ limit: 2 }))), [s.id1, s.id2, s.id3, s.id4, s.id5], 'pages'),
      'a page holds what was asked for, and a link': async () => {
        const page = await client.userApi.listUsers({ limit: 2 });
        assert.equal((await page.getNextPage()).length, 2);
        assert.equal(typeof page.nextUri, 'string');
      },
    }),
    'users are filtered': (client, s) => ({
      'create one who is staged, and one who is active': async () => {
        s.staged = await user(client, 'Ada', { department: 'Engineering' });
        await active(client, s, 'Joan');
      },
      'those who are staged': async () => {
        const found = ids(await all(client.userApi.listUsers({ filter: 'status eq "STAGED"' })));
        assert.deepEqual([found.includes(s.staged), found.includes(s.id)], [true, false]);
      },
      'by the login': async () =>
        assert.deepEqual(ids(await all(client.userApi.listUsers({ filter: 'profile.login eq "joan.brock@example.com"' }))), [
          s.id,
        ]),
      'by the first name': async () => {
        const found = ids(await all(client.userApi.listUsers({ q: 'Ada' })));
        assert.deepEqual([found.includes(s.staged), found.includes(s.id)], [true, false]);
      },
    }),
    'a group': (client, s) => ({
      create: async () => {
        const made = await client.groupApi.createGroup({
          group: { profile: { name: 'West Coast Users', description: 'West of it' } },
        });
        s.id = given(made.id, 'id');
        assert.equal(made.type, 'OKTA_GROUP');
        assert.partialDeepStrictEqual({ ...made.profile }, { name: 'West Coast Users', description: 'West of it' });
      },
      read: async () => assert.equal((await client.groupApi.getGroup({ groupId: s.id })).profile?.name, 'West Coast Users'),
      'replace its profile': async () => {
        const profile = { name: 'Ameliorate Name', description: 'Amended description' };
        const changed = await client.groupApi.replaceGroup({ groupId: s.id, group: { profile } });
        assert.partialDeepStrictEqual({ ...changed.profile }, profile);
      },
      'it is listed once': async () => once(ids(await all(client.groupApi.listGroups())), [s.id]),
      'find it by the beginning of its name': async () =>
        assert.deepEqual(ids(await all(client.groupApi.listGroups({ q: 'Amelior' }))), [s.id]),
      delete: async () => client.groupApi.deleteGroup({ groupId: s.id }),
      'it is gone': async () => assert.equal(code(await refused(client.groupApi.getGroup({ groupId: s.id }), 404)), 'E0000007'),
    }),
    'groups through all pages': (client, s) => ({
      'create three': async () => {
        for (const n of [1, 2, 3]) s[`id${n}`] = await group(client, `Floor ${n}`);
      },
      'the client walks pages of two': async () =>
        once(ids(await all(client.groupApi.listGroups({ limit: 2 }))), [s.id1, s.id2, s.id3], 'pages'),
    }),
    'the members of a group': (client, s) => ({
      'create a group and two users': async () => {
        s.group = await group(client, 'Engineering');
        s.in = await user(client, 'Ina');
        s.out = await user(client, 'Otto');
      },
      'add one': async () => client.groupApi.assignUserToGroup({ groupId: s.group, userId: s.in }),
      'the group has one': async () =>
        assert.deepEqual(ids(await all(client.groupApi.listGroupUsers({ groupId: s.group }))), [s.in]),
      'the user has the group': async () => {
        assert.ok(ids(await all(client.userApi.listUserGroups({ userId: s.in }))).includes(s.group));
        assert.ok(!ids(await all(client.userApi.listUserGroups({ userId: s.out }))).includes(s.group));
      },
      'remove it': async () => client.groupApi.unassignUserFromGroup({ groupId: s.group, userId: s.in }),
      'the group has none': async () => assert.deepEqual(await all(client.groupApi.listGroupUsers({ groupId: s.group })), []),
    }),
    'a user is created in a group': (client, s) => ({
      'create the group': async () => {
        s.group = await group(client, 'Contractors');
      },
      'create the user': async () => {
        const body = { ...person('Mae'), groupIds: [s.group] };
        s.id = given((await client.userApi.createUser({ body, activate: false })).id, 'id');
      },
      'the group has the user': async () =>
        assert.deepEqual(ids(await all(client.groupApi.listGroupUsers({ groupId: s.group }))), [s.id]),
    }),
    'a rule for a group': (client, s) => ({
      create: async () => {
        s.group = await group(client, 'Engineers');
        const groupRule: okta.CreateGroupRuleRequest = {
          type: 'group_rule',
          name: 'Engineering group rule',
          conditions: { expression: { type: 'urn:okta:expression:1.0', value: 'user.department=="Engineering"' } },
          actions: { assignUserToGroups: { groupIds: [s.group] } },
        };
        const made = await client.groupApi.createGroupRule({ groupRule });
        s.id = given(made.id, 'id');
        assert.deepEqual([made.name, made.status, made.type], ['Engineering group rule', 'INACTIVE', 'group_rule']);
        assert.deepEqual(made.actions?.assignUserToGroups?.groupIds, [s.group]);
      },
      activate: async () => client.groupApi.activateGroupRule({ ruleId: s.id }),
      'it is active': async () => assert.equal((await client.groupApi.getGroupRule({ ruleId: s.id })).status, 'ACTIVE'),
      deactivate: async () => client.groupApi.deactivateGroupRule({ ruleId: s.id }),
      'it is inactive': async () => assert.equal((await client.groupApi.getGroupRule({ ruleId: s.id })).status, 'INACTIVE'),
      list: async () => once(ids(await all(client.groupApi.listGroupRules())), [s.id]),
      delete: async () => client.groupApi.deleteGroupRule({ ruleId: s.id }),
    }),
    'a trusted origin': (client, s) => ({
      create: async () => {
        const trustedOrigin: okta.TrustedOriginWrite = {
          name: 'New trusted origin',
          origin: 'http://example.com',
          scopes: [{ type: 'CORS' }, { type: 'REDIRECT' }] as okta.TrustedOriginWrite['scopes'],
        };
        const made = await client.trustedOriginApi.createTrustedOrigin({ trustedOrigin });
        s.id = given(made.id, 'id');
        assert.deepEqual([made.name, made.origin, made.status], ['New trusted origin', 'http://example.com', 'ACTIVE']);
      },
      deactivate: async () =>
        assert.equal((await client.trustedOriginApi.deactivateTrustedOrigin({ trustedOriginId: s.id })).status, 'INACTIVE'),
      activate: async () =>
        assert.equal((await client.trustedOriginApi.activateTrustedOrigin({ trustedOriginId: s.id })).status, 'ACTIVE'),
      read: async () => {
        const read = await client.trustedOriginApi.getTrustedOrigin({ trustedOriginId: s.id });
        assert.deepEqual([read.id, read.status, read.origin], [s.id, 'ACTIVE', 'http://example.com']);
      },
      'find it by its name': async () =>
        assert.deepEqual(ids(await all(client.trustedOriginApi.listTrustedOrigins({ filter: 'name eq "New trusted origin"' }))), [
          s.id,
        ]),
      delete: async () => client.trustedOriginApi.deleteTrustedOrigin({ trustedOriginId: s.id }),
      'it is gone': async () => {
        await refused(client.trustedOriginApi.getTrustedOrigin({ trustedOriginId: s.id }), 404);
      },
    }),
    'a network zone': (client, s) => ({
      create: async () => {
        const zone = {
          type: 'IP',
          name: 'newNetworkZone',
          gateways: [{ type: 'CIDR', value: '1.2.3.4/24' }],
          proxies: [{ type: 'RANGE', value: '3.3.4.5-3.3.4.15' }],
        } as okta.NetworkZone;
        const made = await client.networkZoneApi.createNetworkZone({ zone });
        s.id = given(made.id, 'id');
        assert.deepEqual([made.type, made.name, made.status], ['IP', 'newNetworkZone', 'ACTIVE']);
      },
      'rename it': async () => {
        const zone = {
          type: 'IP',
          name: 'UpdatedNetZone',
          gateways: [{ type: 'CIDR', value: '13.13.13.13/24' }],
        } as okta.NetworkZone;
        assert.equal((await client.networkZoneApi.replaceNetworkZone({ zoneId: s.id, zone })).name, 'UpdatedNetZone');
      },
      'it is listed with its new name': async () => {
        const rows = (await all(client.networkZoneApi.listNetworkZones())).filter(({ id }) => id === s.id);
        assert.deepEqual(
          rows.map(({ name }) => name),
          ['UpdatedNetZone'],
        );
      },
      deactivate: async () =>
        assert.equal((await client.networkZoneApi.deactivateNetworkZone({ zoneId: s.id })).status, 'INACTIVE'),
      'it is inactive': async () =>
        assert.equal((await client.networkZoneApi.getNetworkZone({ zoneId: s.id })).status, 'INACTIVE'),
      delete: async () => client.networkZoneApi.deleteNetworkZone({ zoneId: s.id }),
      'it is gone': async () => {
        await refused(client.networkZoneApi.getNetworkZone({ zoneId: s.id }), 404);
      },
    }),
    'an event hook': (client, s) => ({
      create: async () => {
        const eventHook = {
          name: 'Event Hook Test',
          events: { type: 'EVENT_TYPE', items: ['user.lifecycle.create', 'user.lifecycle.activate'] },
          channel: {
            type: 'HTTP',
            version: '1.0.0',
            config: {
              uri: 'https://www.example.com/eventHooks',
              headers: [],
              authScheme: { type: 'HEADER', key: 'authorization', value: 'my-shared-secret' },
            },
          },
        } as unknown as okta.EventHook;
        const made = await client.eventHookApi.createEventHook({ eventHook });
        s.id = given(made.id, 'id');
        assert.deepEqual([made.name, made.status, made.verificationStatus], ['Event Hook Test', 'ACTIVE', 'UNVERIFIED']);
      },
      deactivate: async () =>
        assert.equal((await client.eventHookApi.deactivateEventHook({ eventHookId: s.id })).status, 'INACTIVE'),
      'it is inactive, and keeps its events': async () => {
        const read = await client.eventHookApi.getEventHook({ eventHookId: s.id });
        assert.deepEqual([read.status, read.events?.items], ['INACTIVE', ['user.lifecycle.create', 'user.lifecycle.activate']]);
      },
      list: async () => once(ids(await all(client.eventHookApi.listEventHooks())), [s.id]),
      delete: async () => client.eventHookApi.deleteEventHook({ eventHookId: s.id }),
      'it is gone': async () => {
        await refused(client.eventHookApi.getEventHook({ eventHookId: s.id }), 404);
      },
    }),
    'a type of users': (client, s) => ({
      create: async () => {
        const userType: okta.UserType = {
          name: 'newUserType',
          displayName: 'New User Type',
          description: 'A new custom user type',
        };
        const made = await client.userTypeApi.createUserType({ userType });
        s.id = given(made.id, 'id');
        assert.deepEqual([made.name, made.displayName, made._default ?? false], ['newUserType', 'New User Type', false]);
      },
      'change its description': async () => {
        const changed = await client.userTypeApi.updateUserType({ typeId: s.id, userType: { description: 'Updated' } });
        assert.deepEqual([changed.description, changed.displayName], ['Updated', 'New User Type']);
      },
      'replace it': async () => {
        const userType = { name: 'newUserType', displayName: 'Replaced', description: 'Replaced too' };
        const changed = await client.userTypeApi.replaceUserType({ typeId: s.id, userType });
        assert.deepEqual([changed.displayName, changed.description], ['Replaced', 'Replaced too']);
      },
      read: async () => assert.equal((await client.userTypeApi.getUserType({ typeId: s.id })).displayName, 'Replaced'),
      delete: async () => client.userTypeApi.deleteUserType({ typeId: s.id }),
      'it is gone': async () => {
        await refused(client.userTypeApi.getUserType({ typeId: s.id }), 404);
      },
    }),
    'a token that is refused': (_client, _s, another) => ({
      refused: async () => assert.equal(code(await refused(all(another('00not-a-token').userApi.listUsers()), 401)), 'E0000011'),
    }),
    'requests that are wrong': (client) => ({
      'a user who never was': async () =>
        assert.equal(code(await refused(client.userApi.getUser({ userId: '00ub0oNGTSWTBKOLGLNR' }), 404)), 'E0000007'),
      'a member of a group that never was': async () => {
        const asked = { groupId: '00gjitX9HqABSoqTB0g3', userId: '00ub0oNGTSWTBKOLGLNR' };
        await refused(client.groupApi.assignUserToGroup(asked), 404);
      },
      'a zone of a type that there is not': async () => {
        const zone = { type: 'NOWHERE', name: 'wrong' } as unknown as okta.NetworkZone;
        await refused(client.networkZoneApi.createNetworkZone({ zone }), 400);
      },
    }),
  },
};
