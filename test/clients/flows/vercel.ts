import assert from 'node:assert/strict';
import { Vercel } from '@vercel/sdk';
import { SDKValidationError } from '@vercel/sdk/models/errors/sdkvalidationerror.js';
import { given, once, type Place, pages, refused, type State, type Vendor } from '../kit.ts';

const connect = (place: Place, token: string): Vercel => new Vercel({ serverURL: place.base, bearerToken: token });
type Client = Vercel;
type Row = Record<string, unknown>;

/**
 * The client is of a later day than the description, and refuses answers that lack what was added since;
 * where that is so, the answer is read as it came, which the client's error keeps.
 */
const came = <T = Row>(call: Promise<unknown>): Promise<T> =>
  call.catch((thrown: unknown) => {
    if (thrown instanceof SDKValidationError && thrown.rawMessage === 'Response validation failed') return thrown.rawValue;
    throw thrown;
  }) as Promise<T>;
const of = (rows: readonly object[] | undefined, member: string): string[] =>
  given(rows, 'list').map((row) => String(given((row as Row)[member], member)));

const deploy = async (client: Client, s: State, name = 'my-deployment'): Promise<Row> => {
  const deployment = await came(
    client.deployments.createDeployment({
      requestBody: { name, files: [{ file: 'index.html', data: '<h1>Hello</h1>' }], projectSettings: { framework: null } },
    }),
  );
  s.deployment = String(given(deployment.id, 'id'));
  return deployment;
};
const add = (client: Client, name: string): Promise<{ domain: Row }> =>
  came(client.domains.createOrTransferDomain({ requestBody: { name, method: 'add' } }));
interface Domains {
  readonly domains: readonly Row[];
  readonly pagination: { readonly next: number | null };
}

/** Guide: vercel.com/docs/rest-api: "Authentication", "Pagination", "Errors", and the reference of tokens, webhooks, domains, deployments, aliases, checks, teams, log drains, certificates and edge configs. */
export const vendor: Vendor<Client> = {
  document: 'vercel/vercel.com.json',
  header: 'authorization',
  word: 'Bearer',
  made: 'uRKJSTt0L4RaSkiMj41QTkxM',
  client: connect,
  strict: ['a token that is refused'],
  flows: {
    'an access token': (client, s) => ({
      create: async () => {
        const { bearerToken, token } = given(
          await client.authentication.createAuthToken({ requestBody: { name: 'From the guide' } }),
          'answer',
        );
        assert.ok(given(bearerToken, 'bearerToken').length > 0);
        s.id = given(token?.id, 'id');
        assert.equal(token?.name, 'From the guide');
      },
      'another, which ends': async () => {
        const { token } = await client.authentication.createAuthToken({
          requestBody: { name: 'For a while', expiresAt: 1893456000000 },
        });
        s.other = given(token?.id, 'id');
        assert.deepEqual([token?.name, token?.expiresAt], ['For a while', 1893456000000]);
      },
      read: async () => {
        const { token } = await client.authentication.getAuthToken({ tokenId: s.id });
        assert.deepEqual([token.id, token.name], [s.id, 'From the guide']);
      },
      list: async () => {
        const { tokens } = await came<{ tokens: Row[] }>(client.authentication.listAuthTokens());
        once(of(tokens, 'id'), [s.id, s.other], 'tokens');
      },
      delete: async () => assert.equal((await client.authentication.deleteAuthToken({ tokenId: s.id })).tokenId, s.id),
      'it is gone': async () => {
        await refused(client.authentication.getAuthToken({ tokenId: s.id }), 404);
      },
      'the other is there': async () =>
        assert.equal((await client.authentication.getAuthToken({ tokenId: s.other })).token.id, s.other),
    }),

    'a webhook': (client, s) => ({
      create: async () => {
        const webhook = await client.webhooks.createWebhook({
          requestBody: { url: 'https://example.com/hook', events: ['deployment.created', 'deployment.error'] },
        });
        s.id = given(webhook.id, 'id');
        assert.deepEqual(
          [webhook.url, webhook.events, typeof webhook.secret],
          ['https://example.com/hook', ['deployment.created', 'deployment.error'], 'string'],
        );
      },
      read: async () => {
        const webhook = await client.webhooks.getWebhook({ id: s.id });
        assert.deepEqual(
          [webhook.id, webhook.url, webhook.events],
          [s.id, 'https://example.com/hook', ['deployment.created', 'deployment.error']],
        );
      },
      list: async () => once(of(await came<Row[]>(client.webhooks.getWebhooks({})), 'id'), [s.id], 'webhooks'),
      delete: async () => client.webhooks.deleteWebhook({ id: s.id }),
      'it is gone': async () => {
        await refused(client.webhooks.getWebhook({ id: s.id }), 404);
      },
    }),

    'a domain': (client, s) => ({
      add: async () => {
        const { domain } = await add(client, 'example.com');
        s.id = String(given(domain.id, 'id'));
        assert.deepEqual([domain.name, typeof domain.verified], ['example.com', 'boolean']);
      },
      read: async () => {
        const { domain } = await came<{ domain: Row }>(client.domains.getDomain({ domain: 'example.com' }));
        assert.deepEqual([domain.id, domain.name], [s.id, 'example.com']);
      },
      list: async () =>
        once(of((await came<Domains>(client.domains.getDomains({}))).domains, 'name'), ['example.com'], 'domains'),
      delete: async () => {
        assert.ok(given((await came(client.domains.deleteDomain({ domain: 'example.com' }))).uid, 'uid'));
      },
      'it is gone': async () => {
        await refused(came(client.domains.getDomain({ domain: 'example.com' })), 404);
      },
      'and no longer in the list': async () => {
        const { domains } = await came<Domains>(client.domains.getDomains({ limit: 100 }));
        assert.ok(!of(domains, 'name').includes('example.com'));
      },
    }),

    'domains through all pages': (client) => ({
      'five are added': async () => {
        for (const n of [1, 2, 3, 4, 5]) assert.equal((await add(client, `example${n}.com`)).domain.name, `example${n}.com`);
      },
      'two to a page': async () => {
        const page = await came<Domains>(client.domains.getDomains({ limit: 2 }));
        assert.equal(page.domains.length, 2);
        assert.ok(page.pagination.next !== null, 'there is no next page');
      },
      'each of them once on all pages': async () => {
        const rows = await pages(
          (until) => came<Domains>(client.domains.getDomains({ limit: 2, ...(until && { until: Number(until) }) })),
          ({ domains }) => domains,
          ({ pagination }) => (pagination.next === null ? undefined : String(pagination.next)),
        );
        once(of(rows, 'name'), ['example1.com', 'example2.com', 'example3.com', 'example4.com', 'example5.com'], 'pages');
      },
    }),

    'a deployment': (client, s) => ({
      create: async () => {
        const deployment = await deploy(client, s);
        assert.deepEqual([deployment.name, typeof deployment.url], ['my-deployment', 'string']);
      },
      read: async () => {
        const deployment = await came(client.deployments.getDeployment({ idOrUrl: s.deployment }));
        assert.deepEqual([deployment.id, deployment.name], [s.deployment, 'my-deployment']);
      },
      list: async () => {
        const { deployments } = await came<{ deployments: Row[] }>(client.deployments.getDeployments({}));
        once(of(deployments, 'uid'), [s.deployment], 'deployments');
      },
      cancel: async () => {
        const deployment = await came(client.deployments.cancelDeployment({ id: s.deployment }));
        assert.deepEqual([deployment.id, deployment.readyState], [s.deployment, 'CANCELED']);
      },
      'read so': async () =>
        assert.equal((await came(client.deployments.getDeployment({ idOrUrl: s.deployment }))).readyState, 'CANCELED'),
      delete: async () => {
        const deleted = await came(client.deployments.deleteDeployment({ id: s.deployment }));
        assert.deepEqual([deleted.uid, deleted.state], [s.deployment, 'DELETED']);
      },
      'it is gone': async () => {
        await refused(came(client.deployments.getDeployment({ idOrUrl: s.deployment })), 404);
      },
    }),

    'deployments that are looked for': (client, s) => ({
      'two, of two names': async () => {
        await deploy(client, s, 'docs');
        s.docs = s.deployment;
        await deploy(client, s, 'shop');
        assert.notEqual(s.docs, s.deployment);
      },
      'those of one name': async () => {
        const { deployments } = await came<{ deployments: Row[] }>(client.deployments.getDeployments({ app: 'docs' }));
        const ids = of(deployments, 'uid');
        assert.deepEqual([ids.includes(s.docs), ids.includes(s.deployment)], [true, false]);
      },
      'one to a page': async () => {
        const { deployments } = await came<{ deployments: Row[] }>(client.deployments.getDeployments({ limit: 1 }));
        assert.equal(deployments.length, 1);
      },
      'both on all pages': async () => {
        const rows = await pages(
          (until) =>
            came<{ deployments: Row[]; pagination: Domains['pagination'] }>(
              client.deployments.getDeployments({ limit: 1, ...(until && { until: Number(until) }) }),
            ),
          ({ deployments }) => deployments,
          ({ pagination }) => (pagination.next === null ? undefined : String(pagination.next)),
        );
        once(of(rows, 'uid'), [s.docs, s.deployment], 'pages');
      },
    }),

    'another name for a deployment': (client, s) => ({
      assign: async () => {
        await deploy(client, s);
        const alias = await came(client.aliases.assignAlias({ id: s.deployment, requestBody: { alias: 'my-alias.vercel.app' } }));
        s.id = String(given(alias.uid, 'uid'));
        assert.equal(alias.alias, 'my-alias.vercel.app');
      },
      'read by its name': async () => {
        const alias = await came(client.aliases.getAlias({ idOrAlias: 'my-alias.vercel.app' }));
        assert.deepEqual([alias.uid, alias.alias, alias.deploymentId], [s.id, 'my-alias.vercel.app', s.deployment]);
      },
      'with that deployment': async () => {
        const { aliases } = await came<{ aliases: Row[] }>(client.aliases.listDeploymentAliases({ id: s.deployment }));
        once(of(aliases, 'alias'), ['my-alias.vercel.app'], 'aliases');
      },
      'among all': async () => {
        const { aliases } = await came<{ aliases: Row[] }>(client.aliases.listAliases({}));
        once(of(aliases, 'uid'), [s.id], 'aliases');
      },
      delete: async () => assert.equal((await came(client.aliases.deleteAlias({ aliasId: s.id }))).status, 'SUCCESS'),
      'it is gone': async () => {
        await refused(came(client.aliases.getAlias({ idOrAlias: 'my-alias.vercel.app' })), 404);
      },
    }),

    'a check of a deployment': (client, s) => ({
      create: async () => {
        await deploy(client, s);
        await came(
          client.checks.createCheck({
            deploymentId: s.deployment,
            requestBody: { name: 'Performance Check', blocking: true, path: '/', rerequestable: true },
          }),
        );
      },
      'listed, and not yet completed': async () => {
        const { checks } = await came<{ checks: Row[] }>(client.checks.getAllChecks({ deploymentId: s.deployment }));
        assert.equal(checks.length, 1);
        const check = given(checks[0], 'check');
        s.id = String(given(check.id, 'id'));
        assert.deepEqual([check.name, check.rerequestable], ['Performance Check', true]);
        assert.notEqual(check.status, 'completed');
      },
      completed: async () =>
        came(
          client.checks.updateCheck({
            deploymentId: s.deployment,
            checkId: s.id,
            requestBody: { status: 'completed', conclusion: 'succeeded' },
          }),
        ),
      'listed so': async () => {
        const { checks } = await came<{ checks: Row[] }>(client.checks.getAllChecks({ deploymentId: s.deployment }));
        assert.deepEqual(
          checks.map(({ id, status, conclusion }) => [id, status, conclusion]),
          [[s.id, 'completed', 'succeeded']],
        );
      },
      'asked for again': async () => came(client.checks.rerequestCheck({ deploymentId: s.deployment, checkId: s.id })),
      'one that nobody has made': async () => {
        await refused(came(client.checks.getCheck({ deploymentId: s.deployment, checkId: 'check_nobody' })), 404);
      },
    }),

    'a team': (client, s) => ({
      create: async () => {
        const team = await came(client.teams.createTeam({ slug: 'a-random-team', name: 'A Random Team' }));
        s.id = String(given(team.id, 'id'));
      },
      read: async () => {
        const team = await came(client.teams.getTeam({ teamId: s.id }));
        assert.deepEqual([team.id, team.slug, team.name], [s.id, 'a-random-team', 'A Random Team']);
      },
      'called something else': async () => {
        const team = await came(
          client.teams.patchTeam({
            teamId: s.id,
            requestBody: { name: 'My Team', description: 'Our mission is to make cloud computing accessible to everyone' },
          }),
        );
        assert.deepEqual([team.id, team.name], [s.id, 'My Team']);
      },
      list: async () => {
        const { teams } = await came<{ teams: Row[] }>(client.teams.getTeams({}));
        assert.deepEqual(
          teams.filter(({ id }) => id === s.id).map(({ name }) => name),
          ['My Team'],
        );
      },
      delete: async () => {
        const deleted = await came(client.teams.deleteTeam({ teamId: s.id, requestBody: {} }));
        assert.equal(deleted.id, s.id);
      },
      'it is gone': async () => {
        await refused(came(client.teams.getTeam({ teamId: s.id })), 404);
      },
    }),

    'where logs go': (client, s) => ({
      create: async () => {
        const drain = await came(
          client.logDrains.createConfigurableLogDrain({
            requestBody: { deliveryFormat: 'json', url: 'https://example.com/log-drain', sources: ['static', 'lambda'] },
          }),
        );
        s.id = String(given(drain.id, 'id'));
        assert.partialDeepStrictEqual(drain, {
          deliveryFormat: 'json',
          url: 'https://example.com/log-drain',
          sources: ['static', 'lambda'],
        });
      },
      read: async () => {
        const drain = await came(client.logDrains.getConfigurableLogDrain({ id: s.id }));
        assert.deepEqual([drain.id, drain.deliveryFormat, drain.url], [s.id, 'json', 'https://example.com/log-drain']);
      },
      list: async () => once(of(await came<Row[]>(client.logDrains.getAllLogDrains({})), 'id'), [s.id], 'drains'),
      delete: async () => client.logDrains.deleteConfigurableLogDrain({ id: s.id }),
      'it is gone': async () => {
        await refused(came(client.logDrains.getConfigurableLogDrain({ id: s.id })), 404);
      },
    }),

    'a certificate': (client, s) => ({
      issue: async () => {
        const cert = await client.certs.issueCert({ requestBody: { cns: ['example.com', 'www.example.com'] } });
        s.id = given(cert.id, 'id');
        assert.deepEqual(cert.cns, ['example.com', 'www.example.com']);
        assert.equal(typeof cert.autoRenew, 'boolean');
      },
      read: async () => {
        const cert = await client.certs.getCertById({ id: s.id });
        assert.deepEqual([cert.id, cert.cns], [s.id, ['example.com', 'www.example.com']]);
      },
      remove: async () => came(client.certs.removeCert({ id: s.id })),
      'it is gone': async () => {
        await refused(client.certs.getCertById({ id: s.id }), 404);
      },
    }),

    'an edge config, and tokens for it': (client, s) => ({
      create: async () => {
        const config = await came(client.edgeConfig.createEdgeConfig({ requestBody: { slug: 'my-config' } }));
        s.id = String(given(config.id, 'id'));
        assert.equal(config.slug, 'my-config');
      },
      'called something else': async () => {
        const config = await came(
          client.edgeConfig.updateEdgeConfig({ edgeConfigId: s.id, requestBody: { slug: 'other-config' } }),
        );
        assert.deepEqual([config.id, config.slug], [s.id, 'other-config']);
      },
      'a token': async () => {
        const token = await client.edgeConfig.createEdgeConfigToken({ edgeConfigId: s.id, requestBody: { label: 'my token' } });
        s.token = given(token.token, 'token');
        s.tokenId = given(token.id, 'id');
      },
      'read with its label': async () => {
        const token = await came(client.edgeConfig.getEdgeConfigToken({ edgeConfigId: s.id, token: s.token }));
        assert.deepEqual([token.id, token.label, token.edgeConfigId], [s.tokenId, 'my token', s.id]);
      },
      'taken back': async () =>
        client.edgeConfig.deleteEdgeConfigTokens({ edgeConfigId: s.id, requestBody: { tokens: [s.token] } }),
      'the token is gone': async () => {
        await refused(came(client.edgeConfig.getEdgeConfigToken({ edgeConfigId: s.id, token: s.token })), 404);
      },
      delete: async () => client.edgeConfig.deleteEdgeConfig({ edgeConfigId: s.id }),
      'it is gone': async () => {
        await refused(came(client.edgeConfig.getEdgeConfig({ edgeConfigId: s.id })), 404);
      },
    }),

    'a token that is refused': (_client, _s, another) => ({
      'no list': async () => {
        await refused(came(another('nobody').webhooks.getWebhooks({})), 403);
      },
      'nothing is made': async () => {
        await refused(another('nobody').authentication.createAuthToken({ requestBody: { name: 'Not mine' } }), 403);
      },
    }),

    'requests that are wrong': (client) => ({
      'a deployment that nobody has made': async () => {
        await refused(came(client.deployments.getDeployment({ idOrUrl: 'dpl_nobody' })), 404);
      },
      'cancel of one that nobody has made': async () => {
        await refused(came(client.deployments.cancelDeployment({ id: 'dpl_nobody' })), 404);
      },
      'checks of one that nobody has made': async () => {
        await refused(came(client.checks.getAllChecks({ deploymentId: 'dpl_nobody' })), 404);
      },
      'change of a project that nobody has made': async () => {
        await refused(came(client.projects.updateProject({ idOrName: 'prj_nobody', requestBody: { name: 'nothing' } })), 404);
      },
      'domains of a project that nobody has made': async () => {
        await refused(came(client.projects.getProjectDomains({ idOrName: 'prj_nobody' })), 404);
      },
      'delete of a webhook that nobody has made': async () => {
        await refused(client.webhooks.deleteWebhook({ id: 'account_hook_nobody' }), 404);
      },
    }),
  },
};
