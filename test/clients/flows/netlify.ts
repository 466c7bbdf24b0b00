import assert from 'node:assert/strict';
import { NetlifyAPI } from '@netlify/api';
import { given, numbered, once, type Place, refused, type Vendor } from '../kit.ts';

const connect = (place: Place, token: string): NetlifyAPI =>
  new NetlifyAPI(token, { scheme: 'http', host: new URL(place.url).host, pathPrefix: '/api/v1' });

/** The client's types give some calls no argument, which its guide and its code give them. */
const call = <Answer>(method: () => Promise<Answer>, argument: object): Promise<Answer> =>
  (method as (argument: object) => Promise<Answer>)(argument);

const site = async (api: NetlifyAPI, name: string): Promise<string> => given((await api.createSite({ body: { name } })).id, 'id');

/** A team, which the API calls an account: its id and its slug. */
const team = async (api: NetlifyAPI): Promise<{ id: string; slug: string }> => {
  const account = (await call(api.createAccount, { body: { name: 'My Team', type_id: 'starter' } })) as {
    id?: string;
    slug?: string;
  };
  return { id: given(account.id, 'id'), slug: given(account.slug, 'slug') };
};

/** Guide: docs.netlify.com, "Get started with the Netlify API", and open-api.netlify.com. */
export const vendor: Vendor<NetlifyAPI> = {
  document: 'netlify/swagger.yml',
  header: 'Authorization',
  word: 'Bearer',
  made: '1234myAccessToken',
  client: connect,
  flows: {
    'a site from its making to its end': (api, s) => ({
      create: async () => {
        const made = await api.createSite({ body: { name: 'my-awesome-site', custom_domain: 'www.example.com' } });
        s.id = given(made.id, 'id');
        assert.equal(made.name, 'my-awesome-site');
      },
      'read it again': async () => {
        const read = await api.getSite({ site_id: s.id });
        assert.deepEqual([read.id, read.name, read.custom_domain], [s.id, 'my-awesome-site', 'www.example.com']);
      },
      rename: async () =>
        assert.equal((await api.updateSite({ site_id: s.id, body: { name: 'renamed-site' } })).name, 'renamed-site'),
      'read the new name and the old domain': async () => {
        const read = await api.getSite({ site_id: s.id });
        assert.deepEqual([read.name, read.custom_domain], ['renamed-site', 'www.example.com']);
      },
      delete: async () => api.deleteSite({ site_id: s.id }),
      gone: async () => refused(api.getSite({ site_id: s.id }), 404),
      'gone from the list': async () => {
        const ids = (await api.listSites()).map(({ id }) => id);
        assert.ok(!ids.includes(s.id));
      },
    }),
    'sites through all pages': (api, s) => ({
      'create five': async () => {
        for (const n of [1, 2, 3, 4, 5]) s[`id${n}`] = await site(api, `site-${n}`);
      },
      'walk pages of two': async () => {
        const sites = await numbered((page) => api.listSites({ page, per_page: 2 }));
        once(
          sites.map(({ id }) => id ?? ''),
          [s.id1, s.id2, s.id3, s.id4, s.id5],
        );
      },
      'a page holds what was asked for': async () => assert.equal((await api.listSites({ page: 1, per_page: 2 })).length, 2),
    }),
    'a build hook of a site': (api, s) => ({
      'create the site': async () => {
        s.site = await site(api, 'hooked');
      },
      create: async () => {
        const hook = await api.createSiteBuildHook({ site_id: s.site, body: { title: 'nightly', branch: 'main' } });
        s.id = given(hook.id, 'id');
        assert.deepEqual([hook.title, hook.branch], ['nightly', 'main']);
      },
      list: async () =>
        once(
          (await api.listSiteBuildHooks({ site_id: s.site })).map(({ id }) => id ?? ''),
          [s.id],
        ),
      change: async () => api.updateSiteBuildHook({ site_id: s.site, id: s.id, body: { title: 'weekly', branch: 'main' } }),
      'read the change': async () => assert.equal((await api.getSiteBuildHook({ site_id: s.site, id: s.id })).title, 'weekly'),
      delete: async () => api.deleteSiteBuildHook({ site_id: s.site, id: s.id }),
      gone: async () => refused(api.getSiteBuildHook({ site_id: s.site, id: s.id }), 404),
    }),
    'a DNS zone and its records': (api, s) => ({
      'create a zone': async () => {
        const zone = await call(api.createDnsZone, { body: { name: 'example.com', account_slug: 'my-team' } });
        s.zone = given(zone.id, 'id');
        assert.equal(zone.name, 'example.com');
      },
      'create a record': async () => {
        const record = await api.createDnsRecord({
          zone_id: s.zone,
          body: { type: 'A', hostname: 'www.example.com', value: '192.0.2.1', ttl: 3600 },
        });
        s.id = given(record.id, 'id');
        assert.deepEqual([record.type, record.hostname, record.value, record.ttl], ['A', 'www.example.com', '192.0.2.1', 3600]);
      },
      'list the records': async () =>
        once(
          (await api.getDnsRecords({ zone_id: s.zone })).map(({ id }) => id ?? ''),
          [s.id],
        ),
      'read the record': async () =>
        assert.equal((await api.getIndividualDnsRecord({ zone_id: s.zone, dns_record_id: s.id })).value, '192.0.2.1'),
      'delete the record': async () => api.deleteDnsRecord({ zone_id: s.zone, dns_record_id: s.id }),
      'the record is gone': async () => refused(api.getIndividualDnsRecord({ zone_id: s.zone, dns_record_id: s.id }), 404),
      'delete the zone': async () => api.deleteDnsZone({ zone_id: s.zone }),
      'the zone is gone': async () => refused(api.getDnsZone({ zone_id: s.zone }), 404),
    }),
    'a deploy by digest, locked and unlocked': (api, s) => ({
      'create the site': async () => {
        s.site = await site(api, 'deployed');
      },
      'create a deploy': async () => {
        const deploy = await api.createSiteDeploy({
          site_id: s.site,
          title: 'first',
          body: { files: { '/index.html': '907d14fb3af2b0d4f18c2d46abe8aedce17367bd' } },
        });
        s.id = given(deploy.id, 'id');
      },
      'read it': async () => assert.equal((await api.getDeploy({ deploy_id: s.id })).id, s.id),
      'read it below its site': async () =>
        assert.equal((await api.getSiteDeploy({ site_id: s.site, deploy_id: s.id })).id, s.id),
      'list the deploys of the site': async () =>
        once(
          (await api.listSiteDeploys({ site_id: s.site })).map(({ id }) => id ?? ''),
          [s.id],
        ),
      lock: async () => assert.equal((await api.lockDeploy({ deploy_id: s.id })).locked, true),
      unlock: async () => assert.equal((await api.unlockDeploy({ deploy_id: s.id })).locked, false),
      delete: async () => api.deleteDeploy({ deploy_id: s.id }),
      gone: async () => refused(api.getDeploy({ deploy_id: s.id }), 404),
    }),
    'a notification hook, changed and enabled': (api, s) => ({
      'create the site': async () => {
        s.site = await site(api, 'notified');
      },
      create: async () => {
        const hook = await api.createHookBySiteId({
          site_id: s.site,
          body: { type: 'url', event: 'deploy_created', data: { url: 'https://example.com/in' }, disabled: true },
        });
        s.id = given(hook.id, 'id');
        assert.deepEqual([hook.type, hook.event], ['url', 'deploy_created']);
      },
      'list by site': async () =>
        once(
          (await api.listHooksBySiteId({ site_id: s.site })).map(({ id }) => id ?? ''),
          [s.id],
        ),
      change: async () =>
        assert.equal((await api.updateHook({ hook_id: s.id, body: { event: 'deploy_failed' } })).event, 'deploy_failed'),
      'read the change': async () => {
        const hook = await api.getHook({ hook_id: s.id });
        assert.deepEqual([hook.event, hook.type], ['deploy_failed', 'url']);
      },
      enable: async () => assert.equal((await api.enableHook({ hook_id: s.id })).disabled, false),
      delete: async () => api.deleteHook({ hook_id: s.id }),
      gone: async () => refused(api.getHook({ hook_id: s.id }), 404),
    }),
    'environment variables by their keys': (api, s) => ({
      'create the team': async () => {
        s.account = (await team(api)).id;
      },
      create: async () => {
        const made = await api.createEnvVars({
          account_id: s.account,
          body: [{ key: 'GREETING', scopes: ['builds'], values: [{ value: 'hello', context: 'all' }] }],
        });
        assert.deepEqual(
          made.map(({ key }) => key),
          ['GREETING'],
        );
      },
      read: async () => {
        const read = await api.getEnvVar({ account_id: s.account, key: 'GREETING' });
        assert.deepEqual([read.key, read.values?.[0]?.value], ['GREETING', 'hello']);
      },
      list: async () =>
        once(
          (await api.getEnvVars({ account_id: s.account })).map(({ key }) => key ?? ''),
          ['GREETING'],
        ),
      replace: async () => {
        const body = { key: 'GREETING', scopes: ['builds' as const], values: [{ value: 'good day', context: 'all' as const }] };
        const read = await api.updateEnvVar({ account_id: s.account, key: 'GREETING', body });
        assert.equal(read.values?.[0]?.value, 'good day');
      },
      delete: async () => api.deleteEnvVar({ account_id: s.account, key: 'GREETING' }),
      gone: async () => refused(api.getEnvVar({ account_id: s.account, key: 'GREETING' }), 404),
    }),
    'a deploy key, which the service makes': (api, s) => ({
      create: async () => {
        s.id = given((await api.createDeployKey()).id, 'id');
      },
      read: async () => assert.equal((await api.getDeployKey({ key_id: s.id })).id, s.id),
      list: async () =>
        once(
          (await api.listDeployKeys()).map(({ id }) => id ?? ''),
          [s.id],
        ),
      delete: async () => api.deleteDeployKey({ key_id: s.id }),
      gone: async () => refused(api.getDeployKey({ key_id: s.id }), 404),
    }),
    'a team of members': (api, s) => ({
      'create the team': async () => {
        s.slug = (await team(api)).slug;
      },
      add: async () => {
        const members = await api.addMemberToAccount({
          account_slug: s.slug,
          body: { role: 'Developer', email: 'dev@example.com' },
        });
        const added = members.find(({ email }) => email === 'dev@example.com');
        s.id = given(added?.id, 'id of the member');
      },
      list: async () =>
        once(
          (await api.listMembersForAccount({ account_slug: s.slug })).map(({ id }) => id ?? ''),
          [s.id],
        ),
      'change the role': async () => {
        const member = await api.updateAccountMember({ account_slug: s.slug, member_id: s.id, body: { role: 'Reviewer' } });
        assert.equal(member.role, 'Reviewer');
      },
      remove: async () => api.removeAccountMember({ account_slug: s.slug, member_id: s.id }),
      gone: async () => refused(api.getAccountMember({ account_slug: s.slug, member_id: s.id }), 404),
    }),
    'a credential that is refused': (api, _s, another) => ({
      'the right one is taken': async () => assert.ok(Array.isArray(await api.listSites())),
      'another is refused': async () => refused(another('not-a-token-of-this-service').listSites(), 401),
      'none is refused': async () => refused(another('').listSites(), 401),
    }),
    'requests that are wrong': (api) => ({
      'a site that nobody made': async () => {
        const thrown = (await refused(api.getSite({ site_id: '00000000-0000-0000-0000-000000000000' }), 404)) as {
          json?: { message?: unknown };
        };
        assert.equal(typeof thrown.json?.message, 'string');
      },
      'an account without the name it must have': async () => {
        const body = { type_id: '5a1c' };
        const thrown = (await refused(call(api.createAccount, { body }), 400, 422)) as { json?: { message?: unknown } };
        assert.equal(typeof thrown.json?.message, 'string');
      },
      'a role that there is not': async () =>
        refused(
          api.addMemberToAccount({ account_slug: 'my-team', body: { role: 'Emperor' as 'Owner', email: 'a@example.com' } }),
          400,
          422,
        ),
    }),
  },
};
