import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import type { GraphRbacManagementClient } from '@azure/graph';
import { TokenCredentials } from '@azure/ms-rest-js';
import { given, once, type Place, pages, refused, type Vendor } from '../kit.ts';

type Made = new (credentials: TokenCredentials, tenant: string, options: { baseUri: string }) => GraphRbacManagementClient;
const { GraphRbacManagementClient: Graph } = createRequire(import.meta.url)('@azure/graph') as {
  GraphRbacManagementClient: Made;
};

const tenant = 'harbour.onmicrosoft.com';
const connect = (place: Place, token: string): GraphRbacManagementClient =>
  new Graph(new TokenCredentials(token), tenant, { baseUri: place.base });

type Row = { readonly objectId?: string };
const ids = (rows: readonly Row[]): string[] => rows.map(({ objectId }) => given(objectId, 'objectId'));
const upn = (name: string): string => `${name}@${tenant}`;
const user = async (client: GraphRbacManagementClient, name: string): Promise<string> => {
  const made = await client.users.create({
    accountEnabled: true,
    displayName: `User ${name}`,
    mailNickname: name,
    passwordProfile: { password: 'Made-up-0-password', forceChangePasswordNextLogin: true },
    userPrincipalName: upn(name),
  });
  return given(made.objectId, 'objectId');
};
const group = async (client: GraphRbacManagementClient, name: string): Promise<string> =>
  given((await client.groups.create({ displayName: `Group ${name}`, mailNickname: name })).objectId, 'objectId');
const application = async (client: GraphRbacManagementClient, name: string): Promise<string> => {
  const made = await client.applications.create({ displayName: name, identifierUris: [`https://harbour.example.com/${name}`] });
  return given(made.objectId, 'objectId');
};
const equal = (name: string, value: string): { readonly filter: string } => ({ filter: `${name} eq '${value}'` });
/** Where an object is, as a link to it says. */
const link = (id: string): { readonly url: string } => ({
  url: `https://graph.windows.net/${tenant}/directoryObjects/${id}`,
});
const users = (client: GraphRbacManagementClient, top = 100): Promise<string[]> =>
  pages(
    (next) => (next === undefined ? client.users.list({ top }) : client.users.listNext(next)),
    (page) => {
      assert.ok(page.length <= top, `a page of ${page.length}`);
      return ids(page);
    },
    ({ odatanextLink }) => odatanextLink,
  );
const groups = async (client: GraphRbacManagementClient): Promise<string[]> => ids(await client.groups.list());
const applications = async (client: GraphRbacManagementClient): Promise<string[]> => ids(await client.applications.list());
const members = async (client: GraphRbacManagementClient, of: string): Promise<string[]> =>
  ids(await client.groups.getGroupMembers(of)).sort();
const nobody = '00000000-0000-4000-8000-000000000000';

/** Guide: learn.microsoft.com, "Azure AD Graph API reference": "Operations on users", "groups", "applications", "service principals", "Supported queries"; the client's README. */
export const vendor: Vendor<GraphRbacManagementClient> = {
  document: 'azure-ad-graph/graphrbac.json',
  header: 'Authorization',
  word: 'Bearer',
  made: 'eyJhbGciOiJub25lIn0.bWFkZS11cA.bm9ib2R5',
  client: connect,
  strict: ['a token that is refused'],
  flows: {
    'a user from the making to the end': (client, s) => ({
      create: async () => {
        s.id = await user(client, 'ada');
      },
      read: async () => {
        const found = await client.users.get(s.id);
        assert.deepEqual(
          [found.objectId, found.displayName, found.userPrincipalName, found.mailNickname, found.accountEnabled],
          [s.id, 'User ada', upn('ada'), 'ada', true],
        );
      },
      'no password is told': async () => assert.ok(!JSON.stringify(await client.users.get(s.id)).includes('Made-up-0-password')),
      'it is listed': async () => once(await users(client), [s.id], 'users'),
      change: async () => client.users.update(s.id, { displayName: 'Ada', givenName: 'Ada', usageLocation: 'GB' }),
      'it is changed': async () => {
        const { displayName, givenName, usageLocation, userPrincipalName } = await client.users.get(s.id);
        assert.deepEqual([displayName, givenName, usageLocation, userPrincipalName], ['Ada', 'Ada', 'GB', upn('ada')]);
      },
      delete: async () => client.users.deleteMethod(s.id),
      'it is gone': async () => refused(client.users.get(s.id), 404),
    }),
    'a user by the principal name': (client, s) => ({
      create: async () => {
        s.id = await user(client, 'bob');
      },
      read: async () => assert.equal((await client.users.get(upn('bob'))).objectId, s.id),
      change: async () => client.users.update(upn('bob'), { accountEnabled: false }),
      'it is changed': async () => assert.equal((await client.users.get(s.id)).accountEnabled, false),
      delete: async () => client.users.deleteMethod(upn('bob')),
      'it is gone by either': async () => {
        await refused(client.users.get(upn('bob')), 404);
        await refused(client.users.get(s.id), 404);
      },
    }),
    'users through all pages': (client, s) => ({
      'make five': async () => {
        for (const name of ['a', 'b', 'c', 'd', 'e']) s[name] = await user(client, `page-${name}`);
      },
      'two at a time': async () => once(await users(client, 2), [s.a, s.b, s.c, s.d, s.e], 'users'),
      'all at once': async () => once(await users(client), [s.a, s.b, s.c, s.d, s.e], 'users'),
      'one goes': async () => client.users.deleteMethod(s.c),
      'it is on no page': async () => assert.ok(!(await users(client, 2)).includes(s.c)),
    }),
    'users by a filter': (client, s) => ({
      'make two': async () => {
        s.carl = await user(client, 'carl');
        s.dora = await user(client, 'dora');
      },
      'by the principal name': async () =>
        assert.deepEqual(ids(await client.users.list(equal('userPrincipalName', upn('carl')))), [s.carl]),
      'by the name that is shown': async () =>
        assert.deepEqual(ids(await client.users.list(equal('displayName', 'User dora'))), [s.dora]),
      'by its beginning': async () => {
        const found = ids(await client.users.list({ filter: "startswith(displayName,'User ca')" }));
        assert.deepEqual(found, [s.carl]);
      },
      'none by what is not there': async () =>
        assert.deepEqual(ids(await client.users.list(equal('userPrincipalName', upn('no-such-user')))), []),
    }),
    'a group from its making to its end': (client, s) => ({
      create: async () => {
        s.id = await group(client, 'crew');
      },
      read: async () => {
        const { objectId, displayName, mailNickname, mailEnabled, securityEnabled } = await client.groups.get(s.id);
        assert.deepEqual(
          [objectId, displayName, mailNickname, mailEnabled, securityEnabled],
          [s.id, 'Group crew', 'crew', false, true],
        );
      },
      'it is listed': async () => once(await groups(client), [s.id], 'groups'),
      'it is found by its name': async () =>
        assert.deepEqual(ids(await client.groups.list(equal('displayName', 'Group crew'))), [s.id]),
      delete: async () => client.groups.deleteMethod(s.id),
      'it is gone': async () => refused(client.groups.get(s.id), 404),
      'it is not listed': async () => assert.ok(!(await groups(client)).includes(s.id)),
    }),
    'members of a group': (client, s) => ({
      'make a group and two users': async () => {
        s.group = await group(client, 'team');
        s.eve = await user(client, 'eve');
        s.finn = await user(client, 'finn');
      },
      'it has none': async () => assert.deepEqual(await members(client, s.group), []),
      'add both': async () => {
        await client.groups.addMember(s.group, link(s.eve));
        await client.groups.addMember(s.group, link(s.finn));
      },
      'it has both': async () => assert.deepEqual(await members(client, s.group), [s.eve, s.finn].sort()),
      'one is asked for': async () =>
        assert.equal((await client.groups.isMemberOf({ groupId: s.group, memberId: s.eve })).value, true),
      'remove one': async () => client.groups.removeMember(s.group, s.eve),
      'the other is left': async () => assert.deepEqual(await members(client, s.group), [s.finn]),
      'the one is none': async () =>
        assert.equal((await client.groups.isMemberOf({ groupId: s.group, memberId: s.eve })).value, false),
    }),
    'groups of a user': (client, s) => ({
      'make two groups and a user': async () => {
        s.north = await group(client, 'north');
        s.south = await group(client, 'south');
        s.user = await user(client, 'gina');
      },
      'add it to one': async () => client.groups.addMember(s.north, link(s.user)),
      'it is in one': async () => {
        const found = await client.users.getMemberGroups(s.user, { securityEnabledOnly: false });
        assert.deepEqual([...found], [s.north]);
      },
      'the other has none': async () => assert.deepEqual(await members(client, s.south), []),
      'the user goes': async () => client.users.deleteMethod(s.user),
      'the group has none': async () => assert.deepEqual(await members(client, s.north), []),
    }),
    'owners of a group': (client, s) => ({
      'make a group and a user': async () => {
        s.group = await group(client, 'owned');
        s.user = await user(client, 'hugo');
      },
      'add an owner': async () => client.groups.addOwner(s.group, link(s.user)),
      'it has it': async () => once(ids(await client.groups.listOwners(s.group)), [s.user], 'owners'),
      'it is no member': async () => assert.deepEqual(await members(client, s.group), []),
      'remove the owner': async () => client.groups.removeOwner(s.group, s.user),
      'it has it no more': async () => assert.ok(!ids(await client.groups.listOwners(s.group)).includes(s.user)),
    }),
    'an application from its making to its end': (client, s) => ({
      create: async () => {
        const identifierUris = ['https://harbour.example.com/cranes'];
        const made = await client.applications.create({
          displayName: 'Cranes',
          identifierUris,
          homepage: 'https://harbour.example.com',
          replyUrls: ['https://harbour.example.com/reply'],
          availableToOtherTenants: false,
        });
        s.id = given(made.objectId, 'objectId');
        s.app = given(made.appId, 'appId');
        assert.deepEqual([made.displayName, made.identifierUris], ['Cranes', identifierUris]);
      },
      read: async () => {
        const { appId, displayName, homepage, replyUrls } = await client.applications.get(s.id);
        assert.deepEqual(
          [appId, displayName, homepage, replyUrls],
          [s.app, 'Cranes', 'https://harbour.example.com', ['https://harbour.example.com/reply']],
        );
      },
      'it is found by its id': async () => assert.deepEqual(ids(await client.applications.list(equal('appId', s.app))), [s.id]),
      change: async () => client.applications.patch(s.id, { displayName: 'New cranes' }),
      'it is changed': async () => {
        const { displayName, homepage } = await client.applications.get(s.id);
        assert.deepEqual([displayName, homepage], ['New cranes', 'https://harbour.example.com']);
      },
      delete: async () => client.applications.deleteMethod(s.id),
      'it is gone': async () => refused(client.applications.get(s.id), 404),
      'it is not listed': async () => assert.ok(!(await applications(client)).includes(s.id)),
    }),
    'an application that comes back': (client, s) => ({
      create: async () => {
        s.id = await application(client, 'phoenix');
      },
      delete: async () => client.applications.deleteMethod(s.id),
      'it is among the deleted': async () => once(ids(await client.deletedApplications.list()), [s.id], 'applications'),
      restore: async () => assert.equal((await client.deletedApplications.restore(s.id)).objectId, s.id),
      'it is there again': async () => assert.equal((await client.applications.get(s.id)).displayName, 'phoenix'),
      'it is not among the deleted': async () => assert.ok(!ids(await client.deletedApplications.list()).includes(s.id)),
      'delete it for good': async () => {
        await client.applications.deleteMethod(s.id);
        await client.deletedApplications.hardDelete(s.id);
      },
      'it does not come back': async () => refused(client.deletedApplications.restore(s.id), 404),
    }),
    'passwords of an application': (client, s) => ({
      create: async () => {
        s.id = await application(client, 'locks');
      },
      'it has none': async () => assert.deepEqual([...(await client.applications.listPasswordCredentials(s.id))], []),
      'give it one': async () => {
        s.key = '11111111-2222-4333-8444-555555555555';
        const dates = { startDate: new Date('2026-01-01T00:00:00Z'), endDate: new Date('2027-01-01T00:00:00Z') };
        await client.applications.updatePasswordCredentials(s.id, [{ ...dates, keyId: s.key, value: 'made-up-secret' }]);
      },
      'it has one': async () => {
        const [found, ...others] = await client.applications.listPasswordCredentials(s.id);
        assert.deepEqual([found?.keyId, found?.endDate?.getUTCFullYear(), others.length], [s.key, 2027, 0]);
      },
      'take it away': async () => client.applications.updatePasswordCredentials(s.id, []),
      'it has none again': async () => assert.deepEqual([...(await client.applications.listPasswordCredentials(s.id))], []),
    }),
    'a service principal from its making to its end': (client, s) => ({
      'make an application': async () => {
        s.application = await application(client, 'robots');
        s.app = given((await client.applications.get(s.application)).appId, 'appId');
      },
      create: async () => {
        const made = await client.servicePrincipals.create({ appId: s.app, accountEnabled: true });
        s.id = given(made.objectId, 'objectId');
        assert.equal(made.appId, s.app);
      },
      read: async () => {
        const { objectId, appId } = await client.servicePrincipals.get(s.id);
        assert.deepEqual([objectId, appId], [s.id, s.app]);
      },
      'it is found by its application': async () => {
        assert.deepEqual(ids(await client.servicePrincipals.list(equal('appId', s.app))), [s.id]);
        assert.equal((await client.applications.getServicePrincipalsIdByAppId(s.app)).value, s.id);
      },
      change: async () => client.servicePrincipals.update(s.id, { accountEnabled: false }),
      'it is changed': async () => assert.equal(String((await client.servicePrincipals.get(s.id)).accountEnabled), 'false'),
      delete: async () => client.servicePrincipals.deleteMethod(s.id),
      'it is gone': async () => refused(client.servicePrincipals.get(s.id), 404),
    }),
    'objects by their ids': (client, s) => ({
      'make a user and a group': async () => {
        s.user = await user(client, 'ines');
        s.group = await group(client, 'ids');
      },
      'both are found': async () => {
        const found = await client.objects.getObjectsByObjectIds({
          objectIds: [s.user, s.group],
          includeDirectoryObjectReferences: false,
        });
        assert.deepEqual(ids(found).sort(), [s.user, s.group].sort());
      },
      'one of them by its type': async () => {
        const asked = { objectIds: [s.user, s.group], types: ['group'], includeDirectoryObjectReferences: false };
        assert.deepEqual(ids(await client.objects.getObjectsByObjectIds(asked)), [s.group]);
      },
      'none that is not there': async () => {
        const asked = { objectIds: [nobody], includeDirectoryObjectReferences: false };
        assert.deepEqual(ids(await client.objects.getObjectsByObjectIds(asked)), []);
      },
    }),
    'the one who asks': (client) => ({
      'who it is': async () => {
        const { objectId, userPrincipalName } = await client.signedInUser.get();
        assert.deepEqual([typeof objectId, typeof userPrincipalName], ['string', 'string']);
      },
      'what it owns': async () => {
        for (const { objectId } of await client.signedInUser.listOwnedObjects()) assert.equal(typeof objectId, 'string');
      },
      'domains of the tenant': async () => {
        for (const { name } of await client.domains.list()) assert.equal((await client.domains.get(name)).name, name);
      },
      'none that is not there': async () => refused(client.domains.get('no-such-domain.example.com'), 404),
    }),
    'what is not there': (client) => ({
      'a user': async () => refused(client.users.get(nobody), 404),
      'it is not changed': async () => refused(client.users.update(nobody, { displayName: 'Nobody' }), 404),
      'a group is not deleted': async () => refused(client.groups.deleteMethod(nobody), 404),
      'nor has it members': async () => refused(client.groups.getGroupMembers(nobody), 404),
      'an application': async () => refused(client.applications.get(nobody), 404),
      'a service principal': async () => refused(client.servicePrincipals.get(nobody), 404),
    }),
    'a token that is refused': (client, s, another) => ({
      'the right one': async () => {
        s.id = await user(client, 'guarded');
      },
      'a wrong one lists nothing': async () => refused(another('wrong').users.list(), 401, 403),
      'nor reads anything': async () => refused(another('wrong').users.get(s.id), 401, 403),
      'nor deletes anything': async () => refused(another('wrong').users.deleteMethod(s.id), 401, 403),
      'all is as it was': async () => assert.equal((await client.users.get(s.id)).userPrincipalName, upn('guarded')),
    }),
  },
};
