import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { given, numbered, once, type Place, refused, type State, type Vendor } from '../kit.ts';

type Client = typeof import('snyk-api-ts-client');

const require = createRequire(import.meta.url);
/**
 * The client reads its address and its token from the environment, once, when it is loaded: each is loaded for itself. It makes a second
 * address of the first, with `api.` before it, which has to be one as well.
 */
const connect = (place: Place, token: string): Client => {
  for (const name of Object.keys(require.cache)) {
    if (/node_modules\/snyk-(api-ts-client|request-manager)\//.test(name)) delete require.cache[name];
  }
  Object.assign(process.env, { SNYK_API: place.base.replace('127.0.0.1', 'localhost'), SNYK_TOKEN: token });
  try {
    return require('snyk-api-ts-client') as Client;
  } finally {
    for (const name of ['SNYK_API', 'SNYK_TOKEN']) Reflect.deleteProperty(process.env, name);
  }
};

/** What the client throws has the error that it is about as its message, and so has that one. */
async function ask<T = unknown>(made: Promise<unknown>): Promise<T> {
  try {
    return (await made) as T;
  } catch (thrown) {
    let cause: unknown = thrown;
    while (typeof (cause as Error | null)?.message === 'object') cause = (cause as Error).message;
    const { response, message } = cause as { response?: { status: number; data: unknown }; message: string };
    if (response === undefined) throw thrown;
    throw Object.assign(new Error(`${message}: ${JSON.stringify(response.data)}`), { status: response.status });
  }
}

type Org = {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
  readonly group?: { readonly id?: string } | null;
};
type Project = { readonly id: string; readonly name: string; readonly branch?: string | null; readonly isMonitored?: boolean };
type Tag = { readonly key: string; readonly value: string };
type Tags = { readonly tags: readonly Tag[] };
type Integration = { readonly id: string };
type Ignores = Readonly<Record<string, unknown>>;

const orgs = async (client: Client): Promise<readonly Org[]> =>
  given((await ask<{ readonly orgs?: readonly Org[] }>(new client.Orgs().get())).orgs, 'orgs');
const ids = (rows: readonly { readonly id: string }[]): string[] => rows.map(({ id }) => id);
const org = async (client: Client, name: string, more: object = {}): Promise<string> =>
  given((await ask<Org>(new client.Org().post({ name, ...more }))).id, 'id');
const inOrg = (client: Client, orgId: string) => new client.Org({ orgId });
/** The group of the caller, to which organizations belong. */
const group = async (client: Client, s: State): Promise<void> => {
  s.group = given((await orgs(client)).find((one) => one.group?.id)?.group?.id, 'group');
};
const groupOrgs = async (client: Client, groupId: string, perPage: number, page: number, name?: string) =>
  (await ask<{ readonly orgs: readonly Org[] }>(new client.Group({ groupId }).orgs.get(perPage, page, name))).orgs;
const projects = async (client: Client, orgId: string, filters: object = {}): Promise<readonly Project[]> =>
  given(
    (await ask<{ readonly projects?: readonly Project[] }>(inOrg(client, orgId).projects.post({ filters }))).projects,
    'projects',
  );
/** Projects come of imports, which take their time: it is one that the caller has. */
const project = async (client: Client, s: State): Promise<void> => {
  for (const { id } of await orgs(client)) {
    const [found] = await projects(client, id);
    if (found === undefined) continue;
    Object.assign(s, { org: id, project: found.id, name: found.name });
    return;
  }
  assert.fail('no organization has a project');
};
const inProject = (client: Client, s: State) => inOrg(client, s.org).project({ projectId: s.project });
const brokered = (type: string, enabled = true) => ({ type, broker: { enabled } }) as never;
const integration = async (client: Client, of: string, type: string): Promise<string> =>
  given((await ask<Integration>(inOrg(client, of).integrations().post(brokered(type)))).id, 'id');
const integrations = (client: Client, of: string): Promise<Readonly<Record<string, string>>> =>
  ask(inOrg(client, of).integrations().get());
const nobody = '00000000-0000-4000-8000-000000000000';

/** Guide: docs.snyk.io, "Snyk API" v1 (snyk.docs.apiary.io): "Organizations", "Groups", "Integrations", "Projects", "Ignores", "Reporting", "Test"; the client's README. */
export const vendor: Vendor<Client> = {
  document: 'snyk/snyk.io.json',
  header: 'Authorization',
  word: 'token',
  made: '0a1b2c3d-0000-4000-8000-made0up0key0',
  client: connect,
  strict: ['a token that is refused'],
  flows: {
    'an organization from its making to its end': (client, s) => ({
      create: async () => {
        const { id, name } = await ask<Org>(new client.Org().post({ name: 'harbour' }));
        s.id = given(id, 'id');
        assert.equal(name, 'harbour');
      },
      'it is listed': async () => {
        const all = await orgs(client);
        once(ids(all), [s.id], 'organizations');
        assert.equal(all.find(({ id }) => id === s.id)?.name, 'harbour');
      },
      'it has no projects': async () => assert.deepEqual(await projects(client, s.id), []),
      delete: async () => ask(inOrg(client, s.id).delete()),
      'it is not listed': async () => assert.ok(!ids(await orgs(client)).includes(s.id)),
      'it is gone': async () => refused(ask(inOrg(client, s.id).delete()), 403, 404),
    }),
    'several organizations': (client, s) => ({
      'make three': async () => {
        for (const name of ['cherry', 'apple', 'banana']) s[name] = await org(client, name);
      },
      'each is listed once': async () => once(ids(await orgs(client)), [s.cherry, s.apple, s.banana], 'organizations'),
      'delete one': async () => ask(inOrg(client, s.apple).delete()),
      'the others stay': async () => {
        const all = ids(await orgs(client));
        once(all, [s.cherry, s.banana], 'organizations');
        assert.ok(!all.includes(s.apple));
      },
      'not one without a name': async () => refused(ask(new client.Org().post({} as never)), 400, 422),
    }),
    'organizations of a group, page by page': (client, s) => ({
      'the group': async () => group(client, s),
      'make three in it': async () => {
        for (const name of ['quay-a', 'quay-b', 'pier-a']) s[name] = await org(client, name, { groupId: s.group });
      },
      'two at a time': async () => {
        const all = await numbered(async (page) => {
          const rows = await groupOrgs(client, s.group, 2, page);
          assert.ok(rows.length <= 2, `a page of ${rows.length}`);
          return rows;
        });
        once(ids(all), [s['quay-a'], s['quay-b'], s['pier-a']], 'organizations');
      },
      'those with a word in their name': async () => {
        const found = (await groupOrgs(client, s.group, 100, 1, 'quay')).map(({ name }) => name).sort();
        assert.deepEqual(found, ['quay-a', 'quay-b']);
      },
      'none with what no name has': async () => assert.deepEqual(await groupOrgs(client, s.group, 100, 1, 'volcano'), []),
    }),
    'settings of an organization': (client, s) => ({
      'make an organization': async () => {
        s.id = await org(client, 'settled');
      },
      change: async () => {
        const { requestAccess } = await ask<{ readonly requestAccess?: { readonly enabled: boolean } }>(
          inOrg(client, s.id).settings.put({ requestAccess: { enabled: true } }),
        );
        assert.equal(requestAccess?.enabled, true);
      },
      'they are changed': async () => {
        const { requestAccess } = await inOrg(client, s.id).settings.get();
        assert.equal(requestAccess?.enabled, true);
      },
      'and back': async () => ask(inOrg(client, s.id).settings.put({ requestAccess: { enabled: false } })),
      'they are back': async () => {
        const { requestAccess } = await inOrg(client, s.id).settings.get();
        assert.equal(requestAccess?.enabled, false);
      },
    }),
    'notifications of an organization': (client, s) => ({
      'make an organization': async () => {
        s.id = await org(client, 'noisy');
      },
      change: async () => {
        const changed = await inOrg(client, s.id).notificationsettings.put({
          'new-issues-remediations': { enabled: true, issueSeverity: 'high', issueType: 'vuln' },
          'weekly-report': { enabled: false },
        });
        assert.equal(changed['weekly-report']?.enabled, false);
      },
      'they are changed': async () => {
        const found = await inOrg(client, s.id).notificationsettings.get();
        const { enabled, issueSeverity, issueType } = given(found['new-issues-remediations'], 'new-issues-remediations');
        assert.deepEqual([enabled, issueSeverity, issueType], [true, 'high', 'vuln']);
        assert.equal(found['weekly-report']?.enabled, false);
      },
      'not of a severity that is none': async () => {
        const odd = { 'new-issues-remediations': { enabled: true, issueSeverity: 'odd', issueType: 'vuln' } };
        await refused(ask(inOrg(client, s.id).notificationsettings.put(odd as never)), 400, 422);
      },
      'they are as they were': async () => {
        const found = await inOrg(client, s.id).notificationsettings.get();
        assert.equal(found['new-issues-remediations']?.issueSeverity, 'high');
      },
    }),
    'an integration from its making to its settings': (client, s) => ({
      'make an organization': async () => {
        s.org = await org(client, 'wired');
      },
      create: async () => {
        const made = await ask<Integration & { readonly brokerToken?: string }>(
          inOrg(client, s.org).integrations().post(brokered('github')),
        );
        s.id = given(made.id, 'id');
        assert.equal(typeof made.brokerToken, 'string');
      },
      'it is listed': async () => assert.equal((await integrations(client, s.org)).github, s.id),
      'it is found by its type': async () => {
        const found = await ask<Integration>(inOrg(client, s.org).integrations({ type: 'github' }).get());
        assert.equal(found.id, s.id);
      },
      change: async () => {
        const it = inOrg(client, s.org).integrations({ integrationId: s.id });
        assert.equal((await ask<Integration>(it.put(brokered('github', false)))).id, s.id);
      },
      'change its settings': async () => {
        const { settings } = inOrg(client, s.org).integrations({ integrationId: s.id });
        await ask(settings.put({ autoDepUpgradeLimit: 3, pullRequestTestEnabled: true }));
      },
      'they are changed': async () => {
        const { settings } = inOrg(client, s.org).integrations({ integrationId: s.id });
        const { autoDepUpgradeLimit, pullRequestTestEnabled } = await settings.get();
        assert.deepEqual([autoDepUpgradeLimit, pullRequestTestEnabled], [3, true]);
      },
    }),
    'integrations of two organizations': (client, s) => ({
      'make two organizations': async () => {
        s.left = await org(client, 'left');
        s.right = await org(client, 'right');
      },
      'two here, one there': async () => {
        s.hub = await integration(client, s.left, 'github');
        s.lab = await integration(client, s.left, 'gitlab');
        s.other = await integration(client, s.right, 'github');
      },
      'each is in its own': async () => {
        const left = await integrations(client, s.left);
        const right = await integrations(client, s.right);
        assert.deepEqual([left.github, left.gitlab, right.github, right.gitlab], [s.hub, s.lab, s.other, undefined]);
      },
      'none of a type that was not made': async () =>
        refused(ask(inOrg(client, s.right).integrations({ type: 'gitlab' }).get()), 404),
      'not one of a type that is none': async () =>
        refused(ask(inOrg(client, s.right).integrations().post(brokered('abacus'))), 400, 422),
    }),
    "an integration's token and its copy": (client, s) => ({
      'make two organizations': async () => {
        s.from = await org(client, 'from');
        s.to = await org(client, 'to');
      },
      'and an integration': async () => {
        s.id = await integration(client, s.from, 'github-enterprise');
      },
      'provide a new token': async () => {
        const { authentication } = inOrg(client, s.from).integrations({ integrationId: s.id });
        const { id, provisionalBrokerToken } = await ask<Integration & { readonly provisionalBrokerToken?: string }>(
          authentication.provisiontoken.post(),
        );
        assert.deepEqual([id, typeof provisionalBrokerToken], [s.id, 'string']);
      },
      'take it': async () => {
        const { authentication } = inOrg(client, s.from).integrations({ integrationId: s.id });
        await ask(authentication.switchtoken.post());
      },
      'copy the integration': async () => {
        const { clone } = inOrg(client, s.from).integrations({ integrationId: s.id });
        const made = await ask<{ readonly newIntegrationId?: string }>(clone.post({ destinationOrgPublicId: s.to }));
        s.copy = given(made.newIntegrationId, 'newIntegrationId');
        assert.notEqual(s.copy, s.id);
      },
      'the copy is there': async () => assert.equal((await integrations(client, s.to))['github-enterprise'], s.copy),
    }),
    'a project that the caller has': (client, s) => ({
      'a project': async () => project(client, s),
      read: async () => {
        const { id, name } = await ask<Project>(inProject(client, s).get());
        assert.deepEqual([id, name], [s.project, s.name]);
      },
      'it is found by its name': async () => once(ids(await projects(client, s.org, { name: s.name })), [s.project], 'projects'),
      'watch another branch': async () => {
        const changed = await ask<Project>(inProject(client, s).put({ branch: 'release' }));
        assert.deepEqual([changed.id, changed.branch], [s.project, 'release']);
      },
      'it is watched': async () => assert.equal((await ask<Project>(inProject(client, s).get())).branch, 'release'),
      delete: async () => ask(inProject(client, s).delete()),
      'it is gone': async () => refused(ask(inProject(client, s).get()), 404),
      'it is not listed': async () => assert.ok(!ids(await projects(client, s.org)).includes(s.project)),
    }),
    'a project that rests': (client, s) => ({
      'a project': async () => project(client, s),
      deactivate: async () => ask(inProject(client, s).deactivate.post()),
      'it rests': async () => assert.equal((await ask<Project>(inProject(client, s).get())).isMonitored, false),
      'it is not among those that are watched': async () =>
        assert.ok(!ids(await projects(client, s.org, { isMonitored: true })).includes(s.project)),
      activate: async () => ask(inProject(client, s).activate.post()),
      'it is watched': async () => assert.equal((await ask<Project>(inProject(client, s).get())).isMonitored, true),
    }),
    'tags of a project': (client, s) => ({
      'a project': async () => project(client, s),
      add: async () => {
        const { tags } = await ask<Tags>(inProject(client, s).tags.post({ key: 'team', value: 'cranes' }));
        assert.ok(tags.some(({ key, value }) => key === 'team' && value === 'cranes'));
      },
      'the project is found by it': async () => {
        const tags = { includes: [{ key: 'team', value: 'cranes' }] };
        assert.deepEqual(ids(await projects(client, s.org, { tags })), [s.project]);
      },
      'and by no other': async () => {
        const tags = { includes: [{ key: 'team', value: 'volcano' }] };
        assert.deepEqual(await projects(client, s.org, { tags }), []);
      },
      remove: async () => {
        const { tags } = await ask<Tags>(inProject(client, s).tags.remove.post({ key: 'team', value: 'cranes' }));
        assert.ok(!tags.some(({ key, value }) => key === 'team' && value === 'cranes'));
      },
    }),
    'attributes and settings of a project': (client, s) => ({
      'a project': async () => project(client, s),
      'set attributes': async () => {
        const asked = { criticality: ['high'], environment: ['backend'], lifecycle: ['development'] };
        const { attributes } = await ask<{ readonly attributes: object }>(inProject(client, s).attributes.post(asked as never));
        assert.deepEqual(attributes, asked);
      },
      'the project has them': async () => {
        const { attributes } = await inProject(client, s).get();
        assert.deepEqual(attributes?.criticality, ['high']);
      },
      'change settings': async () => ask(inProject(client, s).settings.put({ autoDepUpgradeLimit: 4 })),
      'they are changed': async () => assert.equal((await inProject(client, s).settings.get()).autoDepUpgradeLimit, 4),
      'take them away': async () => ask(inProject(client, s).settings.delete()),
      'they are not its own any more': async () =>
        assert.notEqual((await inProject(client, s).settings.get()).autoDepUpgradeLimit, 4),
    }),
    'an issue that is ignored': (client, s) => ({
      'a project': async () => project(client, s),
      ignore: async () => {
        const asked = { reason: 'Not reached', reasonType: 'not-vulnerable' as const, disregardIfFixable: false };
        await ask(inProject(client, s).ignore({ issueId: 'npm:ms:20170412' }).post(asked));
      },
      'it is listed': async () => assert.ok('npm:ms:20170412' in (await ask<Ignores>(inProject(client, s).ignores.get()))),
      read: async () => {
        const found = await ask(inProject(client, s).ignore({ issueId: 'npm:ms:20170412' }).get());
        assert.match(JSON.stringify(found), /Not reached/);
      },
      'not for a reason that is none': async () => {
        const asked = { reasonType: 'because', disregardIfFixable: false } as never;
        await refused(ask(inProject(client, s).ignore({ issueId: 'npm:qs:20140806' }).post(asked)), 400, 422);
      },
      delete: async () => ask(inProject(client, s).ignore({ issueId: 'npm:ms:20170412' }).delete()),
      'it is not listed': async () => assert.ok(!('npm:ms:20170412' in (await ask<Ignores>(inProject(client, s).ignores.get())))),
    }),
    'packages and reports': (client, s) => ({
      'a package is tested': async () => {
        const found = await ask<{ readonly ok: boolean; readonly issues: object }>(
          new client.Test().npm({ packageName: 'ms', version: '0.7.0' }).get(),
        );
        assert.deepEqual([typeof found.ok, typeof found.issues], ['boolean', 'object']);
      },
      'what an organization has': async () => {
        s.org = given((await orgs(client))[0]?.id, 'org');
        const { projects } = new client.Reporting().counts;
        const { results } = await projects.latest.post({ filters: { orgs: [s.org] } });
        for (const { day, count } of given(results, 'results'))
          assert.deepEqual([typeof day, typeof count], ['string', 'number']);
      },
      'what it had': async () => {
        const { projects } = new client.Reporting().counts;
        const { results } = await projects.post({ filters: { orgs: [s.org] } }, '2024-01-01', '2024-01-31');
        for (const { day } of given(results, 'results')) assert.equal(typeof day, 'string');
      },
      'not without saying when': async () => {
        const { projects } = new client.Reporting().counts;
        await refused(ask(projects.post({ filters: { orgs: [s.org] } }, '', '')), 400);
      },
    }),
    'the caller and others': (client) => ({
      'who it is': async () => {
        const { id, email, username } = await new client.User().get();
        assert.deepEqual([typeof id, typeof email, typeof username], ['string', 'string', 'string']);
      },
      'none that is not there': async () => refused(ask(new client.User({ userId: nobody }).get()), 404),
      'nor a project': async () => {
        const first = given((await orgs(client))[0], 'org');
        await refused(ask(inOrg(client, first.id).project({ projectId: nobody }).get()), 404);
      },
      'nor an integration': async () => {
        const first = given((await orgs(client))[0], 'org');
        await refused(ask(inOrg(client, first.id).integrations({ integrationId: nobody }).settings.get()), 404);
      },
    }),
    'a token that is refused': (client, s, another) => ({
      'the right one': async () => {
        s.id = await org(client, 'guarded');
      },
      'a wrong one lists nothing': async () => refused(ask(new (another('wrong').Orgs)().get()), 401, 403),
      'nor tells who it is': async () => refused(ask(new (another('wrong').User)().get()), 401, 403),
      'nor makes anything': async () => refused(ask(new (another('wrong').Org)().post({ name: 'odd' })), 401, 403),
      'all is as it was': async () => {
        const all = await orgs(client);
        once(ids(all), [s.id], 'organizations');
        assert.ok(!all.some(({ name }) => name === 'odd'));
      },
    }),
  },
};
