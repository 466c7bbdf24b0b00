import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import type { AppCenterClient } from 'appcenter-cli/dist/util/apis/generated/appCenterClient.js';
import { given, once, type Place, refused, type State, type Vendor } from '../kit.ts';

type Made = { fromToken(token: string, address: string): AppCenterClient };

/** The client that the commands of the command line ask by, which are not run here themselves. */
const { createAppCenterClient } = createRequire(import.meta.url)('appcenter-cli/dist/util/apis') as {
  createAppCenterClient: (command: readonly string[], isTelemetryOn: boolean) => Made;
};

const connect = (place: Place, token: string): AppCenterClient =>
  createAppCenterClient(['flows'], false).fromToken(token, place.base);

/** Makes an app of the caller's own, and keeps its owner's name, which is in its path. */
const app = async (client: AppCenterClient, s: State, name: string): Promise<void> => {
  const made = await client.appsOperations.create({
    name,
    displayName: `App ${name}`,
    description: `About ${name}`,
    os: 'Android',
    platform: 'Java',
  });
  s.owner = given(made.owner?.name, "owner's name");
};
const apps = async (client: AppCenterClient): Promise<string[]> =>
  (await client.appsOperations.list()).map(({ name }) => given(name, 'name'));
const org = async (client: AppCenterClient, name: string): Promise<void> => {
  await client.organizations.createOrUpdate({ name, displayName: `Organization ${name}` });
};
const orgs = async (client: AppCenterClient): Promise<string[]> => (await client.organizations.list()).map(({ name }) => name);
const orgApp = async (client: AppCenterClient, of: string, name: string): Promise<void> => {
  await client.appsOperations.createForOrg(of, { name, displayName: `App ${name}`, os: 'iOS', platform: 'React-Native' });
};
const names = (rows: readonly { readonly name?: string }[]): string[] => rows.map(({ name }) => given(name, 'name'));
const ids = (rows: readonly { readonly id: string }[]): string[] => rows.map(({ id }) => id);
const emails = (rows: readonly { readonly email?: string }[]): string[] => rows.map(({ email }) => given(email, 'email'));

/** Guide: learn.microsoft.com/appcenter, "API documentation", "Organizations", "Teams", "Distribution groups", "CodePush"; the description's own words. */
export const vendor: Vendor<AppCenterClient> = {
  document: 'app-center/appcenter.ms.json',
  header: 'X-API-Token',
  made: '5f1e0c9a2b7d4e0034c1a9f0c2VjcmV0a4b3',
  client: connect,
  strict: ['a token that is refused'],
  flows: {
    'an app from its making to its end': (client, s) => ({
      create: async () => {
        await app(client, s, 'harbour');
      },
      read: async () => {
        const { name, displayName, description, os, platform } = await client.appsOperations.get(s.owner, 'harbour');
        assert.deepEqual(
          [name, displayName, description, os, platform],
          ['harbour', 'App harbour', 'About harbour', 'Android', 'Java'],
        );
      },
      'it is listed': async () => once(await apps(client), ['harbour'], 'apps'),
      change: async () => {
        const changed = await client.appsOperations.update('harbour', s.owner, { app: { displayName: 'Harbour' } });
        assert.equal(changed.displayName, 'Harbour');
      },
      'it is changed': async () => {
        const { displayName, description } = await client.appsOperations.get(s.owner, 'harbour');
        assert.deepEqual([displayName, description], ['Harbour', 'About harbour']);
      },
      delete: async () => client.appsOperations.deleteMethod('harbour', s.owner),
      'it is gone': async () => refused(client.appsOperations.get(s.owner, 'harbour'), 404),
      'it is not listed': async () => assert.ok(!(await apps(client)).includes('harbour')),
    }),
    'several apps': (client, s) => ({
      'make three': async () => {
        for (const name of ['cherry', 'apple', 'banana']) await app(client, s, name);
      },
      'each is listed once': async () => once(await apps(client), ['cherry', 'apple', 'banana'], 'apps'),
      'in the order of their names': async () => {
        const all = names(await client.appsOperations.list({ orderBy: 'name' }));
        assert.deepEqual(
          all.filter((name) => ['cherry', 'apple', 'banana'].includes(name)),
          ['apple', 'banana', 'cherry'],
        );
      },
      'change one': async () => client.appsOperations.update('apple', s.owner, { app: { description: 'Red' } }),
      'another is as it was': async () =>
        assert.equal((await client.appsOperations.get(s.owner, 'banana')).description, 'About banana'),
    }),
    'an app that is there already': (client, s) => ({
      create: async () => app(client, s, 'twice'),
      'the same name again': async () => refused(app(client, s, 'twice'), 409),
      'it is listed once': async () => once(await apps(client), ['twice'], 'apps'),
      'not of a system that is none': async () => {
        const odd = { name: 'odd', displayName: 'Odd', os: 'Abacus', platform: 'Java' };
        await refused(client.appsOperations.create(odd), 400);
      },
    }),
    'an organization from its making to its end': (client) => ({
      create: async () => {
        const { name, displayName, origin } = await client.organizations.createOrUpdate({ name: 'acme', displayName: 'Acme' });
        assert.deepEqual([name, displayName, origin], ['acme', 'Acme', 'appcenter']);
      },
      read: async () => {
        const { name, displayName } = await client.organizations.get('acme');
        assert.deepEqual([name, displayName], ['acme', 'Acme']);
      },
      'it is listed': async () => once(await orgs(client), ['acme'], 'organizations'),
      change: async () =>
        assert.equal((await client.organizations.update('acme', { displayName: 'Acme Inc.' })).displayName, 'Acme Inc.'),
      'it is changed': async () => assert.equal((await client.organizations.get('acme')).displayName, 'Acme Inc.'),
      delete: async () => client.organizations.deleteMethod('acme'),
      'it is gone': async () => refused(client.organizations.get('acme'), 404),
      'it is not listed': async () => assert.ok(!(await orgs(client)).includes('acme')),
    }),
    'apps of two organizations': (client) => ({
      'make two organizations': async () => {
        await org(client, 'north');
        await org(client, 'south');
      },
      'an app of each': async () => {
        await orgApp(client, 'north', 'snow');
        await orgApp(client, 'south', 'sand');
      },
      'each is of its own': async () => {
        assert.deepEqual(names(await client.appsOperations.listForOrg('north')), ['snow']);
        assert.deepEqual(names(await client.appsOperations.listForOrg('south')), ['sand']);
      },
      'its owner is said': async () => {
        const { owner } = await client.appsOperations.get('north', 'snow');
        assert.deepEqual([owner.name, owner.type], ['north', 'org']);
      },
      'not below the other': async () => refused(client.appsOperations.get('south', 'snow'), 404),
    }),
    'a team from its making to its end': (client) => ({
      'make an organization': async () => org(client, 'teamed'),
      create: async () => client.teams.createTeam('teamed', 'Testers', { name: 'testers', description: 'They test' }),
      read: async () => {
        const { name, displayName, description } = await client.teams.getTeam('teamed', 'testers');
        assert.deepEqual([name, displayName, description], ['testers', 'Testers', 'They test']);
      },
      'it is listed': async () => once(names(await client.teams.listAll('teamed')), ['testers'], 'teams'),
      change: async () =>
        assert.equal((await client.teams.update('teamed', 'testers', 'All testers')).displayName, 'All testers'),
      'it is changed': async () => assert.equal((await client.teams.getTeam('teamed', 'testers')).displayName, 'All testers'),
      delete: async () => client.teams.deleteMethod('teamed', 'testers'),
      'it is gone': async () => refused(client.teams.getTeam('teamed', 'testers'), 404),
    }),
    'apps of a team': (client) => ({
      'make a team and an app': async () => {
        await org(client, 'crew');
        await orgApp(client, 'crew', 'boat');
        await client.teams.createTeam('crew', 'Sailors', { name: 'sailors' });
      },
      'it has none': async () => assert.deepEqual(await client.teams.listApps('crew', 'sailors'), []),
      'give it one': async () => assert.equal((await client.teams.addApp('crew', 'sailors', 'boat')).name, 'boat'),
      'it has it': async () => assert.deepEqual(names(await client.teams.listApps('crew', 'sailors')), ['boat']),
      'say what it may': async () => client.teams.updatePermissions('crew', 'sailors', 'boat', ['developer']),
      'that is said': async () => {
        const [first] = await client.teams.listApps('crew', 'sailors');
        assert.deepEqual(first?.teamPermissions, ['developer']);
      },
      'take it away': async () => client.teams.removeApp('crew', 'sailors', 'boat'),
      'the app itself stays': async () => {
        assert.deepEqual(await client.teams.listApps('crew', 'sailors'), []);
        assert.equal((await client.appsOperations.get('crew', 'boat')).name, 'boat');
      },
    }),
    'a distribution group from its making to its end': (client, s) => ({
      'make an app': async () => app(client, s, 'grouped'),
      create: async () => {
        const made = await client.distributionGroups.create(s.owner, 'grouped', 'beta', { displayName: 'Beta' });
        assert.deepEqual([made.name, made.isPublic], ['beta', false]);
      },
      read: async () => assert.equal((await client.distributionGroups.get(s.owner, 'grouped', 'beta')).displayName, 'Beta'),
      'it is listed': async () => once(names(await client.distributionGroups.list(s.owner, 'grouped')), ['beta'], 'groups'),
      change: async () => client.distributionGroups.update(s.owner, 'grouped', 'beta', { isPublic: true }),
      'it is changed': async () => assert.equal((await client.distributionGroups.get(s.owner, 'grouped', 'beta')).isPublic, true),
      delete: async () => client.distributionGroups.deleteMethod('grouped', s.owner, 'beta'),
      'it is gone': async () => refused(client.distributionGroups.get(s.owner, 'grouped', 'beta'), 404),
    }),
    'members of a distribution group': (client, s) => ({
      'make a group': async () => {
        await app(client, s, 'invited');
        await client.distributionGroups.create(s.owner, 'invited', 'friends');
      },
      'it has none': async () => assert.deepEqual(await client.distributionGroups.listUsers(s.owner, 'invited', 'friends'), []),
      'add two': async () => {
        const userEmails = ['ada@example.com', 'grace@example.com'];
        const added = await client.distributionGroups.addUser(s.owner, 'invited', 'friends', { userEmails });
        assert.deepEqual(added.map(({ userEmail }) => userEmail).sort(), userEmails);
      },
      'both are listed': async () => {
        const all = emails(await client.distributionGroups.listUsers(s.owner, 'invited', 'friends'));
        assert.deepEqual(all.sort(), ['ada@example.com', 'grace@example.com']);
      },
      'remove one': async () => {
        const userEmails = ['ada@example.com'];
        await client.distributionGroups.removeUser(s.owner, 'invited', 'friends', { userEmails });
      },
      'the other stays': async () =>
        assert.deepEqual(emails(await client.distributionGroups.listUsers(s.owner, 'invited', 'friends')), ['grace@example.com']),
    }),
    'a distribution group of an organization': (client) => ({
      'make an organization with two apps': async () => {
        await org(client, 'wide');
        for (const name of ['first', 'second']) await orgApp(client, 'wide', name);
      },
      'make a group': async () =>
        assert.equal((await client.distributionGroups.createForOrg('wide', 'everyone')).name, 'everyone'),
      'it is listed': async () => once(names(await client.distributionGroups.listForOrg('wide')), ['everyone'], 'groups'),
      'give it both': async () =>
        client.distributionGroups.addApps('wide', 'everyone', { apps: [{ name: 'first' }, { name: 'second' }] }),
      'it has both': async () =>
        assert.deepEqual(names(await client.distributionGroups.getApps('wide', 'everyone')).sort(), ['first', 'second']),
      'take one away': async () => client.distributionGroups.bulkDeleteApps('wide', 'everyone', { apps: [{ name: 'first' }] }),
      'it has the other': async () =>
        assert.deepEqual(names(await client.distributionGroups.getApps('wide', 'everyone')), ['second']),
    }),
    'a deployment from its making to its end': (client, s) => ({
      'make an app': async () => app(client, s, 'pushed'),
      create: async () => {
        const made = await client.codePushDeployments.create(s.owner, 'pushed', 'Staging');
        s.key = given(made.key, 'key');
        assert.equal(made.name, 'Staging');
      },
      read: async () => {
        const { name, key } = await client.codePushDeployments.get('Staging', s.owner, 'pushed');
        assert.deepEqual([name, key], ['Staging', s.key]);
      },
      'it is listed': async () =>
        once(names(await client.codePushDeployments.list(s.owner, 'pushed')), ['Staging'], 'deployments'),
      'change its name': async () => client.codePushDeployments.update('Staging', s.owner, 'pushed', 'Preview'),
      'it has the new one alone': async () => {
        assert.equal((await client.codePushDeployments.get('Preview', s.owner, 'pushed')).key, s.key);
        await refused(client.codePushDeployments.get('Staging', s.owner, 'pushed'), 404);
      },
      delete: async () => client.codePushDeployments.deleteMethod('Preview', s.owner, 'pushed'),
      'it is gone': async () => refused(client.codePushDeployments.get('Preview', s.owner, 'pushed'), 404),
    }),
    'tokens of a caller': (client, s) => ({
      create: async () => {
        const made = await client.userApiTokens.newMethod({ description: 'For the build', scope: ['viewer'] });
        s.id = given(made.id, 'id');
        assert.ok(given(made.apiToken, 'token').length > 0);
        assert.deepEqual([made.description, made.scope], ['For the build', ['viewer']]);
      },
      'it is listed': async () => {
        const all = await client.userApiTokens.list();
        once(ids(all), [s.id], 'tokens');
        assert.equal(all.find(({ id }: { id: string }) => id === s.id)?.description, 'For the build');
      },
      'not for what there is not': async () => refused(client.userApiTokens.newMethod({ scope: ['paint'] }), 400),
      delete: async () => client.userApiTokens.deleteMethod(s.id),
      'it is not listed': async () => assert.ok(!ids(await client.userApiTokens.list()).includes(s.id)),
      'nor is it deleted again': async () => refused(client.userApiTokens.deleteMethod(s.id), 404),
    }),
    'tokens of two apps': (client, s) => ({
      'make two apps': async () => {
        await app(client, s, 'left');
        await app(client, s, 'right');
      },
      'a token of one': async () => {
        s.id = given((await client.appApiTokens.newMethod(s.owner, 'left', { description: 'Left' })).id, 'id');
      },
      'it is of that one': async () => {
        assert.deepEqual(ids(await client.appApiTokens.list(s.owner, 'left')), [s.id]);
        assert.deepEqual(ids(await client.appApiTokens.list(s.owner, 'right')), []);
      },
      'not deleted below the other': async () => refused(client.appApiTokens.deleteMethod(s.owner, 'right', s.id), 404),
      'deleted below its own': async () => {
        await client.appApiTokens.deleteMethod(s.owner, 'left', s.id);
        assert.deepEqual(ids(await client.appApiTokens.list(s.owner, 'left')), []);
      },
    }),
    'an invitation to an organization': (client) => ({
      'make an organization': async () => org(client, 'hosts'),
      invite: async () => client.orgInvitations.create('hosts', 'ada@example.com', { role: 'collaborator' }),
      'it is pending': async () => {
        const all = await client.orgInvitations.listPending('hosts');
        assert.deepEqual(
          all.map(({ email, role }) => [email, role]),
          [['ada@example.com', 'collaborator']],
        );
      },
      withdraw: async () => client.orgInvitations.deleteMethod('hosts', 'ada@example.com'),
      'none is pending': async () => assert.deepEqual(await client.orgInvitations.listPending('hosts'), []),
    }),
    'who is asking': (client, s) => ({
      read: async () => {
        s.email = given((await client.users.get()).email, 'email');
      },
      change: async () => assert.equal((await client.users.update({ displayName: 'Ada Lovelace' })).displayName, 'Ada Lovelace'),
      'it is changed': async () => {
        const { displayName, email } = await client.users.get();
        assert.deepEqual([displayName, email], ['Ada Lovelace', s.email]);
      },
    }),
    'a token that is refused': (client, s, another) => ({
      'the right one': async () => app(client, s, 'guarded'),
      'a wrong one lists nothing': async () => refused(another('wrong').appsOperations.list(), 401),
      'nor reads anything': async () => refused(another('wrong').appsOperations.get(s.owner, 'guarded'), 401),
      'nor deletes anything': async () => refused(another('wrong').appsOperations.deleteMethod('guarded', s.owner), 401),
      'all is as it was': async () => assert.equal((await client.appsOperations.get(s.owner, 'guarded')).name, 'guarded'),
    }),
  },
};
