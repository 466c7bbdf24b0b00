import assert from 'node:assert/strict';
import {
  AccessTokensApi,
  AccountMembersApi,
  Configuration,
  CustomRolesApi,
  EnvironmentsApi,
  type FeatureFlag,
  type FeatureFlagBody,
  FeatureFlagsApi,
  ProjectsApi,
  RelayProxyConfigurationsApi,
  WebhooksApi,
} from 'launchdarkly-api-typescript';
import { given, once, type Place, pages, refused, type State, type Vendor } from '../kit.ts';

interface Client {
  readonly projects: ProjectsApi;
  readonly environments: EnvironmentsApi;
  readonly flags: FeatureFlagsApi;
  readonly webhooks: WebhooksApi;
  readonly members: AccountMembersApi;
  readonly roles: CustomRolesApi;
  readonly tokens: AccessTokensApi;
  readonly relays: RelayProxyConfigurationsApi;
}

/** The client's own paths begin with `/api/v2`. */
const connect = (place: Place, token: string): Client => {
  const asked = new Configuration({ basePath: place.url, apiKey: token });
  return {
    projects: new ProjectsApi(asked),
    environments: new EnvironmentsApi(asked),
    flags: new FeatureFlagsApi(asked),
    webhooks: new WebhooksApi(asked),
    members: new AccountMembersApi(asked),
    roles: new CustomRolesApi(asked),
    tokens: new AccessTokensApi(asked),
    relays: new RelayProxyConfigurationsApi(asked),
  };
};

const replace = (path: string, value: unknown): { op: string; path: string; value: unknown } => ({ op: 'replace', path, value });

const project = async ({ projects }: Client, s: State, key = 'mobile-app', name = 'Mobile app'): Promise<void> => {
  const { data } = await projects.postProject({ key, name });
  s.project = data.key;
  assert.deepEqual([data.key, data.name], [key, name]);
};

const yesOrNo = [{ value: true }, { value: false }];

const flag = async ({ flags }: Client, s: State, key: string, more: Partial<FeatureFlagBody> = {}): Promise<FeatureFlag> =>
  (await flags.postFeatureFlag(s.project, { key, name: `Flag ${key}`, variations: yesOrNo, ...more })).data;

const keys = (rows: readonly { key: string }[] | undefined): string[] => (rows ?? []).map(({ key }) => key);

const ids = (rows: readonly { _id?: string }[] | undefined): string[] => (rows ?? []).map(({ _id }) => given(_id, '_id'));

/** LaunchDarkly's code for what it refuses. */
const code = (thrown: unknown): unknown => (thrown as { response?: { data?: { code?: unknown } } }).response?.data?.code;

const everything = [{ effect: 'allow', actions: ['*'], resources: ['proj/*:env/*'] }] as const;
const policy = () =>
  everything.map(({ effect, actions, resources }) => ({ effect, actions: [...actions], resources: [...resources] }));

/** Guide: launchdarkly.com/docs/api, "Overview" (authentication, errors, updates with JSON patch), "Projects", "Environments", "Feature flags", "Webhooks", "Account members", "Custom roles", "Access tokens", "Relay Proxy configurations". */
export const vendor: Vendor<Client> = {
  document: 'launchdarkly/launchdarkly.com.json',
  header: 'Authorization',
  made: 'api-3f0e1d2c-4b5a-6978-8a9b-0c1d2e3f4a5b',
  client: connect,
  flows: {
    'a project is made, changed and deleted': (client, s) => ({
      create: async () => project(client, s),
      read: async () => {
        const { data } = await client.projects.getProject(s.project);
        assert.deepEqual([data.key, data.name], ['mobile-app', 'Mobile app']);
      },
      rename: async () => {
        const { data } = await client.projects.patchProject(s.project, [replace('/name', 'My renamed project')]);
        assert.deepEqual([data.key, data.name], ['mobile-app', 'My renamed project']);
      },
      'it is listed with its new name': async () => {
        const { data } = await client.projects.getProjects();
        assert.deepEqual(
          data.items.filter(({ key }) => key === 'mobile-app').map(({ name }) => name),
          ['My renamed project'],
        );
      },
      delete: async () => client.projects.deleteProject(s.project),
      'it is gone': async () => assert.equal(code(await refused(client.projects.getProject(s.project), 404)), 'not_found'),
    }),
    'an environment of a project': (client, s) => ({
      'create the project': async () => project(client, s),
      create: async () => {
        const asked = { key: 'staging', name: 'Staging', color: 'DADBEE', defaultTtl: 5, tags: ['ops'] };
        const { data } = await client.environments.postEnvironment(s.project, asked);
        assert.partialDeepStrictEqual(data, { ...asked, color: data.color });
        assert.deepEqual([typeof data.apiKey, typeof data.mobileKey], ['string', 'string']);
      },
      read: async () => {
        const { data } = await client.environments.getEnvironment(s.project, 'staging');
        assert.deepEqual([data.key, data.name, data.defaultTtl, data.tags], ['staging', 'Staging', 5, ['ops']]);
      },
      change: async () => {
        const asked = [replace('/name', 'Staging, second'), replace('/requireComments', true)];
        const { data } = await client.environments.patchEnvironment(s.project, 'staging', asked);
        assert.deepEqual([data.name, data.requireComments], ['Staging, second', true]);
      },
      'it keeps the rest': async () => {
        const { data } = await client.environments.getEnvironment(s.project, 'staging');
        assert.deepEqual([data.name, data.requireComments, data.defaultTtl], ['Staging, second', true, 5]);
      },
      delete: async () => client.environments.deleteEnvironment(s.project, 'staging'),
      'it is gone': async () => {
        await refused(client.environments.getEnvironment(s.project, 'staging'), 404);
      },
      'the project is there': async () => assert.equal((await client.projects.getProject(s.project)).data.key, s.project),
    }),
    'an environment gets other keys': (client, s) => ({
      'create it': async () => {
        await project(client, s);
        const { data } = await client.environments.postEnvironment(s.project, { key: 'qa', name: 'QA', color: 'F5A623' });
        s.sdk = data.apiKey;
        s.mobile = data.mobileKey;
      },
      'another SDK key': async () => {
        const { data } = await client.environments.resetEnvironmentSDKKey(s.project, 'qa');
        assert.notEqual(data.apiKey, s.sdk);
        assert.equal(data.key, 'qa');
        s.fresh = data.apiKey;
      },
      'it keeps the new key': async () =>
        assert.equal((await client.environments.getEnvironment(s.project, 'qa')).data.apiKey, s.fresh),
      'another mobile key': async () =>
        assert.notEqual((await client.environments.resetEnvironmentMobileKey(s.project, 'qa')).data.mobileKey, s.mobile),
    }),
    'a flag is made, changed and deleted': (client, s) => ({
      'create the project': async () => project(client, s),
      create: async () => {
        const made = await flag(client, s, 'enable-search', {
          name: 'Enable search',
          description: 'The new one',
          tags: ['search'],
          temporary: true,
        });
        assert.deepEqual(
          [made.key, made.name, made.description, made.temporary, made.archived],
          ['enable-search', 'Enable search', 'The new one', true, false],
        );
        assert.deepEqual(
          made.variations.map(({ value }) => value),
          [true, false],
        );
      },
      read: async () => {
        const { data } = await client.flags.getFeatureFlag(s.project, 'enable-search');
        assert.deepEqual([data.key, data.tags, data.temporary], ['enable-search', ['search'], true]);
      },
      change: async () => {
        const patch = [replace('/name', 'Search is on'), replace('/temporary', false)];
        const { data } = await client.flags.patchFeatureFlag(s.project, 'enable-search', { patch, comment: 'It stays' });
        assert.deepEqual([data.name, data.temporary], ['Search is on', false]);
      },
      'add a tag': async () => {
        const patch = [{ op: 'add', path: '/tags/-', value: 'beta' }];
        const { data } = await client.flags.patchFeatureFlag(s.project, 'enable-search', { patch });
        assert.deepEqual([...data.tags].sort(), ['beta', 'search']);
      },
      'it keeps the rest': async () => {
        const { data } = await client.flags.getFeatureFlag(s.project, 'enable-search');
        assert.deepEqual([data.name, data.description, data.variations.length], ['Search is on', 'The new one', 2]);
      },
      delete: async () => client.flags.deleteFeatureFlag(s.project, 'enable-search'),
      'it is gone': async () =>
        assert.equal(code(await refused(client.flags.getFeatureFlag(s.project, 'enable-search'), 404)), 'not_found'),
    }),
    'flags through all pages': (client, s) => ({
      'create five': async () => {
        await project(client, s);
        for (const n of [1, 2, 3, 4, 5]) await flag(client, s, `flag-${n}`);
      },
      'pages of two, by their offset': async () => {
        const rows = await pages(
          async (from) => {
            const offset = Number(from ?? 0);
            const { data } = await client.flags.getFeatureFlags(s.project, undefined, undefined, 2, offset);
            return { items: data.items, next: data.items.length === 0 ? undefined : String(offset + 2) };
          },
          ({ items }) => items,
          ({ next }) => next,
        );
        once(keys(rows), ['flag-1', 'flag-2', 'flag-3', 'flag-4', 'flag-5'], 'pages');
        assert.equal(rows.length, 5);
      },
      'a page holds what was asked for, and the number of all': async () => {
        const { data } = await client.flags.getFeatureFlags(s.project, undefined, undefined, 2);
        assert.deepEqual([data.items.length, data.totalCount], [2, 5]);
      },
      'by their keys, backwards': async () => {
        const { data } = await client.flags.getFeatureFlags(
          s.project,
          undefined,
          undefined,
          undefined,
          undefined,
          undefined,
          undefined,
          undefined,
          '-key',
        );
        assert.deepEqual(keys(data.items), ['flag-5', 'flag-4', 'flag-3', 'flag-2', 'flag-1']);
      },
    }),
    'flags with a tag': (client, s) => ({
      'create two': async () => {
        await project(client, s);
        await flag(client, s, 'tagged', { tags: ['payments'] });
        await flag(client, s, 'plain');
      },
      'those with the tag': async () =>
        assert.deepEqual(keys((await client.flags.getFeatureFlags(s.project, undefined, 'payments')).data.items), ['tagged']),
      'no flag has another': async () =>
        assert.deepEqual((await client.flags.getFeatureFlags(s.project, undefined, 'nothing')).data.items, []),
    }),
    'a flag is archived': (client, s) => ({
      'create two': async () => {
        await project(client, s);
        await flag(client, s, 'old');
        await flag(client, s, 'new');
      },
      archive: async () => {
        const { data } = await client.flags.patchFeatureFlag(s.project, 'old', { patch: [replace('/archived', true)] });
        assert.equal(data.archived, true);
      },
      'it can be read': async () => assert.equal((await client.flags.getFeatureFlag(s.project, 'old')).data.archived, true),
      'the list leaves it out': async () =>
        assert.deepEqual(keys((await client.flags.getFeatureFlags(s.project)).data.items), ['new']),
      'another list has it alone': async () => {
        const { data } = await client.flags.getFeatureFlags(s.project, undefined, undefined, undefined, undefined, true);
        assert.deepEqual(keys(data.items), ['old']);
      },
    }),
    'projects have flags of their own': (client, s) => ({
      'create two projects': async () => {
        await project(client, s, 'website', 'Website');
        s.website = s.project;
        await project(client, s);
      },
      'a flag of the same key in both': async () => {
        await flag(client, s, 'dark-mode', { name: 'Of the app' });
        await client.flags.postFeatureFlag(s.website, { key: 'dark-mode', name: 'Of the website', variations: yesOrNo });
      },
      'each has its own': async () => {
        const app = await client.flags.getFeatureFlag(s.project, 'dark-mode');
        const website = await client.flags.getFeatureFlag(s.website, 'dark-mode');
        assert.deepEqual([app.data.name, website.data.name], ['Of the app', 'Of the website']);
      },
      'delete one': async () => client.flags.deleteFeatureFlag(s.website, 'dark-mode'),
      'the other is there': async () => {
        assert.deepEqual(keys((await client.flags.getFeatureFlags(s.project)).data.items), ['dark-mode']);
        assert.deepEqual((await client.flags.getFeatureFlags(s.website)).data.items, []);
      },
    }),
    'a webhook': (client, s) => ({
      create: async () => {
        const asked = { url: 'https://example.com/hook', name: 'Deploys', on: true, sign: false, tags: ['example-tag'] };
        const { data } = await client.webhooks.postWebhook(asked);
        s.id = data._id;
        assert.deepEqual([data.url, data.name, data.on, data.tags], [asked.url, asked.name, true, ['example-tag']]);
      },
      'turn it off': async () => assert.equal((await client.webhooks.patchWebhook(s.id, [replace('/on', false)])).data.on, false),
      read: async () => {
        const { data } = await client.webhooks.getWebhook(s.id);
        assert.deepEqual([data._id, data.on, data.url], [s.id, false, 'https://example.com/hook']);
      },
      list: async () => once(ids((await client.webhooks.getAllWebhooks()).data.items), [s.id]),
      delete: async () => client.webhooks.deleteWebhook(s.id),
      'it is gone': async () => {
        await refused(client.webhooks.getWebhook(s.id), 404);
      },
    }),
    'members are invited': (client, s) => ({
      invite: async () => {
        const asked = [
          { email: 'sandy@acme.com', firstName: 'Sandy', lastName: 'Smith', role: 'reader' },
          { email: 'ariel@acme.com', firstName: 'Ariel', lastName: 'Flores', role: 'writer' },
        ] as const;
        const { data } = await client.members.postMembers([...asked]);
        assert.deepEqual(
          data.items.map(({ email, role }) => [email, role]),
          asked.map(({ email, role }) => [email, role]),
        );
        [s.sandy, s.ariel] = ids(data.items);
      },
      read: async () => {
        const { data } = await client.members.getMember(s.sandy);
        assert.deepEqual([data.email, data.firstName, data.role], ['sandy@acme.com', 'Sandy', 'reader']);
      },
      'let her write': async () =>
        assert.equal((await client.members.patchMember(s.sandy, [replace('/role', 'writer')])).data.role, 'writer'),
      'both are listed': async () => once(ids((await client.members.getMembers()).data.items), [s.sandy, s.ariel]),
      'a page of one': async () => assert.equal((await client.members.getMembers(1)).data.items.length, 1),
      remove: async () => client.members.deleteMember(s.sandy),
      'she is gone': async () => {
        await refused(client.members.getMember(s.sandy), 404);
      },
    }),
    'a role of one’s own': (client, s) => ({
      create: async () => {
        const asked = { key: 'ops-team', name: 'Ops team', description: 'Those who are on call', policy: policy() };
        const { data } = await client.roles.postCustomRole(asked);
        s.id = data._id;
        assert.deepEqual([data.key, data.name, data.description], ['ops-team', 'Ops team', 'Those who are on call']);
        assert.deepEqual([data.policy.length, data.policy[0].effect], [1, 'allow']);
      },
      'read it by its key': async () => {
        const { data } = await client.roles.getCustomRole('ops-team');
        assert.deepEqual([data._id, data.name], [s.id, 'Ops team']);
      },
      list: async () => once(keys((await client.roles.getCustomRoles()).data.items), ['ops-team']),
      delete: async () => client.roles.deleteCustomRole('ops-team'),
      'it is gone': async () => {
        await refused(client.roles.getCustomRole('ops-team'), 404);
      },
    }),
    'a token for a script': (client, s) => ({
      create: async () => {
        const { data } = await client.tokens.postToken({ name: 'Reader for CI', role: 'reader', serviceToken: true });
        s.id = data._id;
        s.token = given(data.token, 'token');
        assert.deepEqual([data.name, data.role, data.serviceToken], ['Reader for CI', 'reader', true]);
      },
      read: async () => {
        const { data } = await client.tokens.getToken(s.id);
        assert.deepEqual([data._id, data.name], [s.id, 'Reader for CI']);
      },
      rename: async () => assert.equal((await client.tokens.patchToken(s.id, [replace('/name', 'CI')])).data.name, 'CI'),
      reset: async () => {
        const { data } = await client.tokens.resetToken(s.id);
        assert.equal(data._id, s.id);
        assert.notEqual(data.token, s.token);
      },
      'it is listed': async () => once(ids((await client.tokens.getTokens(true)).data.items), [s.id]),
      delete: async () => client.tokens.deleteToken(s.id),
      'it is listed no more': async () => assert.ok(!ids((await client.tokens.getTokens(true)).data.items).includes(s.id)),
    }),
    'a relay proxy': (client, s) => ({
      create: async () => {
        const { data } = await client.relays.postRelayAutoConfig({ name: 'Sample Relay Proxy config', policy: policy() });
        s.id = data._id;
        s.key = given(data.fullKey, 'fullKey');
        assert.equal(data.name, 'Sample Relay Proxy config');
      },
      read: async () => {
        const { data } = await client.relays.getRelayProxyConfig(s.id);
        assert.deepEqual([data._id, data.name], [s.id, 'Sample Relay Proxy config']);
      },
      'reset its key': async () => {
        const { data } = await client.relays.resetRelayAutoConfig(s.id);
        assert.equal(data._id, s.id);
        assert.notEqual(data.fullKey, s.key);
      },
      list: async () => once(ids((await client.relays.getRelayProxyConfigs()).data.items), [s.id]),
      delete: async () => client.relays.deleteRelayAutoConfig(s.id),
      'it is gone': async () => {
        await refused(client.relays.getRelayProxyConfig(s.id), 404);
      },
    }),
    'a token that is refused': (client, _s, another) => ({
      'the right one is taken': async () => assert.ok(Array.isArray((await client.projects.getProjects()).data.items)),
      'another is not': async () => {
        await refused(another('api-nobody').projects.getProjects(), 401);
      },
    }),
    'requests that are wrong': (client, s) => ({
      'a project that never was': async () => {
        await refused(client.projects.getProject('never-was'), 404);
      },
      'a flag of a project that never was': async () => {
        await refused(client.flags.postFeatureFlag('never-was', { key: 'flag', name: 'Flag', variations: yesOrNo }), 404);
      },
      'a flag without its key': async () => {
        await project(client, s);
        await refused(client.flags.postFeatureFlag(s.project, { name: 'No key', variations: yesOrNo } as FeatureFlagBody), 400);
      },
      'a flag with a key that another has': async () => {
        await flag(client, s, 'taken');
        await refused(flag(client, s, 'taken'), 409);
      },
      'a webhook without its URL': async () => {
        const asked = { on: true, sign: false } as Parameters<WebhooksApi['postWebhook']>[0];
        await refused(client.webhooks.postWebhook(asked), 400);
      },
    }),
  },
};
