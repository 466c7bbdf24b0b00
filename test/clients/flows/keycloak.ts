import assert from 'node:assert/strict';
import KeycloakAdminClient from '@keycloak/keycloak-admin-client';
import axios, { type AxiosRequestConfig } from 'axios';
import { given, numbered, once, type Place, refused, type Vendor } from '../kit.ts';

/** The description leaves out `/admin/realms`, with which all paths of the service begin: so do the requests that are sent. */
const connect = (place: Place, token: string): KeycloakAdminClient => {
  const adapter = ({ method, url = '', params, paramsSerializer, data, headers }: AxiosRequestConfig) =>
    axios.request({
      method,
      url: `${place.base}${new URL(url).pathname.replace(/^\/admin\/realms/, '') || '/'}`,
      params,
      paramsSerializer,
      data,
      headers: { ...headers },
    });
  const client = new KeycloakAdminClient({ baseUrl: place.url, requestConfig: { adapter } as never });
  client.setAccessToken(token);
  return client;
};

/** What the service says of a refusal. */
const said = (thrown: unknown): string => {
  const { data } = (thrown as { response: { data: { errorMessage?: string; error?: string } } }).response;
  return given(data.errorMessage ?? data.error, 'message of the error');
};

const user = async (api: KeycloakAdminClient, username: string, more: object = {}): Promise<string> =>
  (await api.users.create({ username, email: `${username}@example.com`, enabled: true, ...more })).id;

const group = async (api: KeycloakAdminClient, name: string, more: object = {}): Promise<string> =>
  (await api.groups.create({ name, ...more })).id;

const role = async (api: KeycloakAdminClient, name: string, description = ''): Promise<string> => {
  await api.roles.create({ name, description });
  return given((await api.roles.findOneByName({ name }))?.id, 'id of the role');
};

const application = async (api: KeycloakAdminClient, clientId: string, more: object = {}): Promise<string> =>
  (await api.clients.create({ clientId, enabled: true, protocol: 'openid-connect', ...more })).id;

const ids = (rows: readonly { readonly id?: string }[]): string[] => rows.map(({ id }) => given(id, 'id'));

/** Guide: keycloak.org/docs-api, "Admin REST API", and the client's README. */
export const vendor: Vendor<KeycloakAdminClient> = {
  document: 'keycloak/keycloak.local.json',
  header: 'Authorization',
  word: 'Bearer',
  made: 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhZG1pbiJ9.bm9ib2R5LWhhcy10aGlz',
  client: connect,
  strict: ['a token that is refused'],
  flows: {
    'a person from their making to their end': (api, s) => ({
      create: async () => {
        s.id = await user(api, 'ada', { firstName: 'Ada', lastName: 'Byron' });
      },
      read: async () => {
        const read = given(await api.users.findOne({ id: s.id }), 'user');
        assert.deepEqual([read.id, read.username, read.email, read.enabled], [s.id, 'ada', 'ada@example.com', true]);
        assert.deepEqual([read.firstName, read.lastName], ['Ada', 'Byron']);
      },
      change: async () => api.users.update({ id: s.id }, { firstName: 'Ada', lastName: 'Lovelace', email: 'ada@example.org' }),
      'it stays changed': async () => {
        const read = given(await api.users.findOne({ id: s.id }), 'user');
        assert.deepEqual([read.username, read.lastName, read.email], ['ada', 'Lovelace', 'ada@example.org']);
      },
      'switch them off': async () => {
        await api.users.update({ id: s.id }, { enabled: false });
        assert.equal((await api.users.findOne({ id: s.id }))?.enabled, false);
      },
      delete: async () => api.users.del({ id: s.id }),
      'they are gone': async () => assert.ok(!(await api.users.findOne({ id: s.id }))),
    }),
    'people page by page': (api, s) => ({
      'make five': async () => {
        const made = [];
        for (const name of ['anna', 'bela', 'cleo', 'dora', 'elsa']) made.push(await user(api, name));
        s.all = made.join(' ');
        once(made, made, 'made ids');
      },
      'two on a page': async () => {
        const first = ids(await api.users.find({ first: 0, max: 2 }));
        const second = ids(await api.users.find({ first: 2, max: 2 }));
        assert.deepEqual([first.length, second.length, new Set([...first, ...second]).size], [2, 2, 4]);
      },
      'all pages': async () => {
        const rows = await numbered((page) => api.users.find({ first: page * 2, max: 2 }), 0);
        once(ids(rows), s.all.split(' '), 'people');
      },
      'how many there are': async () => {
        const rows = await numbered((page) => api.users.find({ first: page * 50, max: 50 }), 0);
        assert.equal(await api.users.count(), rows.length);
      },
    }),
    'people are found': (api, s) => ({
      'make three': async () => {
        s.grace = await user(api, 'grace', { firstName: 'Grace', lastName: 'Hopper' });
        s.alan = await user(api, 'alan', { firstName: 'Alan', lastName: 'Turing' });
        s.mary = await user(api, 'mary', { firstName: 'Mary', lastName: 'Hopper' });
      },
      'by name': async () => assert.deepEqual(ids(await api.users.find({ username: 'grace' })), [s.grace]),
      'by address': async () => assert.deepEqual(ids(await api.users.find({ email: 'alan@example.com' })), [s.alan]),
      'by last name': async () =>
        assert.deepEqual(ids(await api.users.find({ lastName: 'Hopper' })).sort(), [s.grace, s.mary].sort()),
      'how many by last name': async () => assert.equal(await api.users.count({ lastName: 'Hopper' }), 2),
      'nobody of another name': async () => assert.deepEqual(await api.users.find({ username: 'nobody-has-this-name' }), []),
    }),
    'a name is there once': (api, s) => ({
      create: async () => {
        s.id = await user(api, 'joan');
      },
      'another one is refused': async () => {
        const thrown = await refused(api.users.create({ username: 'joan', enabled: true }), 409);
        assert.ok(said(thrown).length > 0);
      },
      'the first is as it was': async () => {
        const read = given(await api.users.findOne({ id: s.id }), 'user');
        assert.deepEqual([read.username, read.email], ['joan', 'joan@example.com']);
      },
      'with the first gone, the name is free': async () => {
        await api.users.del({ id: s.id });
        assert.notEqual(await user(api, 'joan'), s.id);
      },
    }),
    'a password': (api, s) => ({
      'a person has none': async () => {
        s.id = await user(api, 'katherine');
        assert.deepEqual(await api.users.getCredentials({ id: s.id }), []);
      },
      'set one': async () =>
        api.users.resetPassword({
          id: s.id,
          credential: { temporary: false, type: 'password', value: 'correct horse 1 Battery' },
        }),
      'there is one, and it is not told': async () => {
        const [one, ...more] = await api.users.getCredentials({ id: s.id });
        assert.deepEqual([one?.type, one?.value, more], ['password', undefined, []]);
        s.credential = given(one?.id, 'id of the credential');
      },
      'name it': async () => {
        await api.users.updateCredentialLabel({ id: s.id, credentialId: s.credential }, 'at work');
        assert.equal((await api.users.getCredentials({ id: s.id }))[0]?.userLabel, 'at work');
      },
      'delete it': async () => {
        await api.users.deleteCredential({ id: s.id, credentialId: s.credential });
        assert.deepEqual(await api.users.getCredentials({ id: s.id }), []);
      },
    }),
    'a group and those below it': (api, s) => ({
      create: async () => {
        s.id = await group(api, 'engineering', { attributes: { floor: ['3'] } });
        const read = given(await api.groups.findOne({ id: s.id }), 'group');
        assert.deepEqual([read.name, read.path, read.attributes], ['engineering', '/engineering', { floor: ['3'] }]);
      },
      'one below': async () => {
        s.child = (await api.groups.setOrCreateChild({ id: s.id }, { name: 'platform' })).id;
        assert.equal((await api.groups.findOne({ id: s.child }))?.path, '/engineering/platform');
      },
      'it is told with the one above': async () => {
        const { subGroups } = given(await api.groups.findOne({ id: s.id }), 'group');
        assert.deepEqual(ids(given(subGroups, 'groups below')), [s.child]);
      },
      rename: async () => {
        await api.groups.update({ id: s.id }, { name: 'makers' });
        assert.deepEqual((await api.groups.findOne({ id: s.id }))?.name, 'makers');
      },
      'it is found by its new name': async () => assert.deepEqual(ids(await api.groups.find({ search: 'makers' })), [s.id]),
      'with it those below are gone': async () => {
        await api.groups.del({ id: s.id });
        assert.ok(!(await api.groups.findOne({ id: s.child })));
      },
    }),
    'who is in a group': (api, s) => ({
      'a group and two people': async () => {
        s.group = await group(api, 'chess');
        s.one = await user(api, 'judit');
        s.two = await user(api, 'bobby');
      },
      'both join': async () => {
        for (const id of [s.one, s.two]) await api.users.addToGroup({ id, groupId: s.group });
      },
      'both are in it': async () =>
        assert.deepEqual(ids(await api.groups.listMembers({ id: s.group })).sort(), [s.one, s.two].sort()),
      'it is among the groups of one': async () => {
        const rows = await api.users.listGroups({ id: s.one });
        assert.deepEqual(
          rows.map(({ id, name }) => [id, name]),
          [[s.group, 'chess']],
        );
      },
      'one leaves': async () => {
        await api.users.delFromGroup({ id: s.one, groupId: s.group });
        assert.deepEqual(await api.users.listGroups({ id: s.one }), []);
      },
      'the other stays': async () => assert.deepEqual(ids(await api.groups.listMembers({ id: s.group })), [s.two]),
    }),
    'a role from its making to its end': (api, s) => ({
      create: async () => {
        const { roleName } = await api.roles.create({ name: 'auditor', description: 'Reads all' });
        assert.equal(roleName, 'auditor');
      },
      read: async () => {
        const read = given(await api.roles.findOneByName({ name: 'auditor' }), 'role');
        assert.deepEqual([read.name, read.description, read.composite, read.clientRole], ['auditor', 'Reads all', false, false]);
        s.id = given(read.id, 'id');
      },
      'by its id': async () => assert.equal((await api.roles.findOneById({ id: s.id }))?.name, 'auditor'),
      'a name is there once': async () => refused(api.roles.create({ name: 'auditor' }), 409),
      change: async () => {
        await api.roles.updateByName({ name: 'auditor' }, { name: 'auditor', description: 'Reads some' });
        const read = given(await api.roles.findOneByName({ name: 'auditor' }), 'role');
        assert.deepEqual([read.id, read.description], [s.id, 'Reads some']);
      },
      'it is listed': async () => once(ids(await api.roles.find()), [s.id], 'roles'),
      delete: async () => {
        await api.roles.delByName({ name: 'auditor' });
        assert.ok(!(await api.roles.findOneByName({ name: 'auditor' })));
      },
    }),
    'roles of a person': (api, s) => ({
      'a person and two roles': async () => {
        s.id = await user(api, 'margaret');
        s.writer = await role(api, 'writer');
        s.editor = await role(api, 'editor');
      },
      'give both': async () => {
        const roles = [
          { id: s.writer, name: 'writer' },
          { id: s.editor, name: 'editor' },
        ];
        await api.users.addRealmRoleMappings({ id: s.id, roles });
      },
      'they are there': async () => once(ids(await api.users.listRealmRoleMappings({ id: s.id })), [s.writer, s.editor], 'roles'),
      'they cannot be given again': async () => {
        const rest = ids(await api.users.listAvailableRealmRoleMappings({ id: s.id }));
        assert.ok(!rest.includes(s.writer) && !rest.includes(s.editor));
      },
      'take one': async () => {
        await api.users.delRealmRoleMappings({ id: s.id, roles: [{ id: s.editor, name: 'editor' }] });
        const rest = ids(await api.users.listRealmRoleMappings({ id: s.id }));
        assert.deepEqual([rest.includes(s.writer), rest.includes(s.editor)], [true, false]);
      },
      'who has the other': async () => assert.deepEqual(ids(await api.roles.findUsersWithRole({ name: 'writer' })), [s.id]),
    }),
    'an application from its making to its end': (api, s) => ({
      create: async () => {
        s.id = await application(api, 'webshop', { name: 'Shop', redirectUris: ['https://shop.example.com/*'] });
      },
      read: async () => {
        const read = given(await api.clients.findOne({ id: s.id }), 'client');
        assert.deepEqual([read.id, read.clientId, read.name, read.enabled], [s.id, 'webshop', 'Shop', true]);
        assert.deepEqual(read.redirectUris, ['https://shop.example.com/*']);
      },
      'it is found by its name': async () => assert.deepEqual(ids(await api.clients.find({ clientId: 'webshop' })), [s.id]),
      'a name is there once': async () => {
        assert.ok(said(await refused(api.clients.create({ clientId: 'webshop' }), 409)).length > 0);
      },
      change: async () => {
        await api.clients.update({ id: s.id }, { clientId: 'webshop', name: 'Old shop', enabled: false });
        const read = given(await api.clients.findOne({ id: s.id }), 'client');
        assert.deepEqual([read.clientId, read.name, read.enabled], ['webshop', 'Old shop', false]);
      },
      delete: async () => {
        await api.clients.del({ id: s.id });
        assert.ok(!(await api.clients.findOne({ id: s.id })));
      },
    }),
    'the secret of an application': (api, s) => ({
      create: async () => {
        s.id = await application(api, 'backend', { publicClient: false, serviceAccountsEnabled: true });
      },
      'it has one': async () => {
        const secret = await api.clients.getClientSecret({ id: s.id });
        s.secret = given(secret.value, 'secret');
      },
      'it stays the same': async () => assert.equal((await api.clients.getClientSecret({ id: s.id })).value, s.secret),
      'make a new one': async () => {
        const secret = await api.clients.generateNewClientSecret({ id: s.id });
        assert.equal(typeof secret.value, 'string');
        assert.notEqual(secret.value, s.secret);
        s.next = given(secret.value, 'secret');
      },
      'it is the new one': async () => assert.equal((await api.clients.getClientSecret({ id: s.id })).value, s.next),
    }),
    'roles of an application': (api, s) => ({
      'two of them': async () => {
        s.id = await application(api, 'library');
        for (const name of ['reader', 'librarian']) {
          const made = await api.clients.createRole({ id: s.id, name, description: `A ${name}` });
          assert.equal(made.roleName, name);
        }
      },
      read: async () => {
        const read = given(await api.clients.findRole({ id: s.id, roleName: 'reader' }), 'role');
        assert.deepEqual([read.name, read.description, read.clientRole], ['reader', 'A reader', true]);
      },
      'both are listed': async () => {
        const names = (await api.clients.listRoles({ id: s.id })).map(({ name }) => given(name, 'name'));
        assert.deepEqual(names.sort(), ['librarian', 'reader']);
      },
      change: async () => {
        await api.clients.updateRole({ id: s.id, roleName: 'reader' }, { name: 'reader', description: 'Reads books' });
        assert.equal((await api.clients.findRole({ id: s.id, roleName: 'reader' }))?.description, 'Reads books');
      },
      delete: async () => {
        await api.clients.delRole({ id: s.id, roleName: 'reader' });
        const rows = await api.clients.listRoles({ id: s.id });
        assert.deepEqual(
          rows.map(({ name }) => name),
          ['librarian'],
        );
      },
    }),
    'a scope and what it maps': (api, s) => ({
      create: async () => {
        await api.clientScopes.create({ name: 'address-book', description: 'Addresses', protocol: 'openid-connect' });
        const found = (await api.clientScopes.find()).filter(({ name }) => name === 'address-book');
        assert.equal(found.length, 1);
        s.id = given(found[0]?.id, 'id');
      },
      read: async () => {
        const read = given(await api.clientScopes.findOne({ id: s.id }), 'scope');
        assert.deepEqual([read.name, read.description, read.protocol], ['address-book', 'Addresses', 'openid-connect']);
      },
      'a mapper': async () => {
        const mapper = { name: 'phone', protocol: 'openid-connect', protocolMapper: 'oidc-usermodel-attribute-mapper' };
        await api.clientScopes.addProtocolMapper(
          { id: s.id },
          { ...mapper, config: { 'claim.name': 'phone', 'user.attribute': 'phone' } },
        );
        const [one, ...more] = await api.clientScopes.listProtocolMappers({ id: s.id });
        assert.deepEqual([one?.name, one?.config?.['claim.name'], more], ['phone', 'phone', []]);
        s.mapper = given(one?.id, 'id of the mapper');
      },
      'delete the mapper': async () => {
        await api.clientScopes.delProtocolMapper({ id: s.id, mapperId: s.mapper });
        assert.deepEqual(await api.clientScopes.listProtocolMappers({ id: s.id }), []);
      },
      delete: async () => {
        await api.clientScopes.del({ id: s.id });
        assert.ok(!(await api.clientScopes.find()).some(({ id }) => id === s.id));
      },
    }),
    'other places to sign in with': (api, s) => ({
      create: async () => {
        const config = {
          clientId: 'ninefold',
          clientSecret: 'hush',
          authorizationUrl: 'https://id.example.com/auth',
          tokenUrl: 'https://id.example.com/token',
        };
        await api.identityProviders.create({
          alias: 'partner',
          displayName: 'Partner',
          providerId: 'oidc',
          enabled: true,
          config,
        });
      },
      read: async () => {
        const read = given(await api.identityProviders.findOne({ alias: 'partner' }), 'provider');
        assert.deepEqual([read.alias, read.displayName, read.providerId, read.enabled], ['partner', 'Partner', 'oidc', true]);
        assert.equal(read.config?.authorizationUrl, 'https://id.example.com/auth');
        s.id = given(read.internalId, 'internal id');
      },
      'it is listed': async () => {
        const names = (await api.identityProviders.find()).map(({ alias }) => given(alias, 'alias'));
        once(names, ['partner'], 'providers');
      },
      change: async () => {
        const whole = given(await api.identityProviders.findOne({ alias: 'partner' }), 'provider');
        await api.identityProviders.update({ alias: 'partner' }, { ...whole, displayName: 'Our partner', enabled: false });
        const read = given(await api.identityProviders.findOne({ alias: 'partner' }), 'provider');
        assert.deepEqual([read.internalId, read.displayName, read.enabled], [s.id, 'Our partner', false]);
      },
      delete: async () => {
        await api.identityProviders.del({ alias: 'partner' });
        assert.ok(!(await api.identityProviders.findOne({ alias: 'partner' })));
      },
    }),
    'a realm from its making to its end': (api) => ({
      create: async () => {
        const { realmName } = await api.realms.create({ realm: 'branch', displayName: 'Branch office', enabled: true });
        assert.equal(realmName, 'branch');
      },
      read: async () => {
        const read = given(await api.realms.findOne({ realm: 'branch' }), 'realm');
        assert.deepEqual([read.realm, read.displayName, read.enabled], ['branch', 'Branch office', true]);
      },
      change: async () => {
        await api.realms.update({ realm: 'branch' }, { displayName: 'Old branch', registrationAllowed: true });
        const read = given(await api.realms.findOne({ realm: 'branch' }), 'realm');
        assert.deepEqual([read.realm, read.displayName, read.registrationAllowed], ['branch', 'Old branch', true]);
      },
      'people of one realm are not of another': async () => {
        const { id } = await api.users.create({ realm: 'branch', username: 'rosalind', enabled: true });
        assert.equal((await api.users.findOne({ realm: 'branch', id }))?.username, 'rosalind');
        assert.ok(!ids(await api.users.find({ username: 'rosalind' })).includes(id));
      },
      delete: async () => {
        await api.realms.del({ realm: 'branch' });
        assert.ok(!(await api.realms.findOne({ realm: 'branch' })));
      },
    }),
    'groups that everybody is in': (api, s) => ({
      'a group': async () => {
        s.id = await group(api, 'everybody');
      },
      'it is for all': async () => {
        await api.realms.addDefaultGroup({ realm: 'master', id: s.id });
        once(ids(await api.realms.getDefaultGroups({ realm: 'master' })), [s.id], 'default groups');
      },
      'a new person is in it': async () => {
        const id = await user(api, 'newcomer');
        assert.ok(ids(await api.users.listGroups({ id })).includes(s.id));
      },
      'it is for all no longer': async () => {
        await api.realms.removeDefaultGroup({ realm: 'master', id: s.id });
        assert.ok(!ids(await api.realms.getDefaultGroups({ realm: 'master' })).includes(s.id));
      },
    }),
    'what is wrong': (api) => ({
      'a person without a name': async () => refused(api.users.create({ email: 'nobody@example.com' }), 400),
      'a change of nobody': async () => {
        assert.ok(said(await refused(api.users.update({ id: 'nobody-has-this-id' }, { firstName: 'No' }), 404)).length > 0);
      },
      'a password of nobody': async () => {
        const credential = { type: 'password', value: 'nothing' };
        await refused(api.users.resetPassword({ id: 'nobody-has-this-id', credential }), 404);
      },
      'a role that is not there': async () => refused(api.roles.delByName({ name: 'nobody-has-this-role' }), 404),
      'a realm that is not there': async () => refused(api.users.find({ realm: 'nowhere' }), 404),
    }),
    'a token that is refused': (api, _, another) => ({
      'the right one': async () => assert.ok(Array.isArray(await api.users.find({ max: 1 }))),
      'a wrong one': async () => refused(another('nobodyHasThisToken').users.find({ max: 1 }), 401),
      'it cannot make anybody': async () => refused(another('nobodyHasThisToken').users.create({ username: 'intruder' }), 401),
    }),
  },
};
