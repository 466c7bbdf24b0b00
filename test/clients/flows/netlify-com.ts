import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { NetlifyAPI } from '@netlify/api';
import { given, numbered, once, type Place, refused, type State, type Vendor } from '../kit.ts';

// biome-ignore lint/suspicious/noExplicitAny: the client's types are those of a later description
type Row = Record<string, any>;
type Call<Answer> = (asked?: Row) => Promise<Answer>;
/** The operations that are used here, as the client names them. */
interface Netlify
  extends Record<
      | 'createSite'
      | 'getSite'
      | 'updateSite'
      | 'getSiteMetadata'
      | 'unlinkSiteRepo'
      | 'createDeployKey'
      | 'getDeployKey'
      | 'createHookBySiteId'
      | 'getHook'
      | 'updateHook'
      | 'enableHook'
      | 'createSiteBuildHook'
      | 'getSiteBuildHook'
      | 'createSiteSnippet'
      | 'getSiteSnippet'
      | 'createDnsZone'
      | 'getDnsZone'
      | 'createDnsRecord'
      | 'getIndividualDnsRecord'
      | 'createAccount'
      | 'getEnvVar'
      | 'setEnvVarValue'
      | 'updateEnvVar'
      | 'createSiteInTeam'
      | 'createSiteDeploy'
      | 'getSiteDeploy'
      | 'getDeploy'
      | 'uploadDeployFile'
      | 'lockDeploy'
      | 'unlockDeploy'
      | 'createSplitTest'
      | 'getSplitTest'
      | 'updateSplitTest',
      Call<Row>
    >,
    Record<
      | 'listSites'
      | 'listSitesForAccount'
      | 'listAccountsForUser'
      | 'listDeployKeys'
      | 'listHooksBySiteId'
      | 'listSiteBuildHooks'
      | 'listSiteSnippets'
      | 'getDnsZones'
      | 'getDnsRecords'
      | 'createEnvVars'
      | 'getEnvVars'
      | 'listSiteDeploys'
      | 'getSplitTests',
      Call<Row[]>
    >,
    Record<
      | 'deleteSite'
      | 'updateSiteMetadata'
      | 'deleteDeployKey'
      | 'deleteHook'
      | 'updateSiteBuildHook'
      | 'deleteSiteBuildHook'
      | 'updateSiteSnippet'
      | 'deleteSiteSnippet'
      | 'deleteDnsZone'
      | 'deleteDnsRecord'
      | 'deleteEnvVar'
      | 'deleteEnvVarValue'
      | 'deleteDeploy'
      | 'enableSplitTest'
      | 'disableSplitTest',
      Call<unknown>
    > {}

const connect = (place: Place, token: string): Netlify => {
  const { host, pathname } = new URL(place.base);
  return new NetlifyAPI(token, { scheme: 'http', host, pathPrefix: pathname.replace(/\/$/, '') }) as unknown as Netlify;
};

const nowhere = '00000000-1111-4222-8333-444444444444';
const id = (row: Row): string => String(given(row.id, 'id'));
const ids = (rows: readonly Row[]): string[] => rows.map(id);

/** A site that has just been made. */
const site = async (n: Netlify, s: State, name: string): Promise<void> => {
  const made = await n.createSite({ body: { name } });
  assert.equal(made.name, name);
  s.site = id(made);
};
/** The team that one has, or else a new one. */
const team = async (n: Netlify, s: State): Promise<void> => {
  const [first] = await n.listAccountsForUser();
  const one = first ?? (await n.createAccount({ body: { name: 'Team of flows', type_id: '5d0a6c3e8f1b2a0007c3d4e5' } }));
  s.team = id(one);
  s.slug = given(one.slug, 'slug of the team');
};
const valueIn = (variable: Row, context: string): Row | undefined =>
  (variable.values as Row[] | undefined)?.find((value) => value.context === context);

/** Pages of docs.netlify.com: "Get started with the Netlify API", "Deploy notifications", "Build hooks", "Snippet injection",
 * "Netlify DNS", "Environment variables", "Split Testing", and open-api.netlify.com. */
export const vendor: Vendor<Netlify> = {
  document: 'netlify-com/netlify.com.json',
  header: 'Authorization',
  word: 'Bearer',
  made: 'nfp_8Hq2Zt5Lw9Xc3Vb7Nm1Kp4Rs6Td0Fg',
  client: connect,
  strict: ['what is refused'],
  flows: {
    'a site': (n, s) => ({
      create: async () => {
        const made = await n.createSite({ body: { name: 'a-site-of-flows', custom_domain: 'www.example.com' } });
        assert.deepEqual([made.name, made.custom_domain], ['a-site-of-flows', 'www.example.com']);
        s.site = id(made);
      },
      read: async () => {
        const read = await n.getSite({ site_id: s.site });
        assert.deepEqual([id(read), read.name, read.custom_domain], [s.site, 'a-site-of-flows', 'www.example.com']);
      },
      'it is listed': async () => once(ids(await n.listSites()), [s.site], 'sites'),
      update: async () => {
        const body = { name: 'a-renamed-site', force_ssl: true, processing_settings: { html: { pretty_urls: true } } };
        const answer = await n.updateSite({ site_id: s.site, body });
        assert.deepEqual([id(answer), answer.name], [s.site, 'a-renamed-site']);
      },
      'the update is read': async () => {
        const read = await n.getSite({ site_id: s.site });
        assert.deepEqual([read.name, read.force_ssl, read.custom_domain], ['a-renamed-site', true, 'www.example.com']);
        assert.equal(read.processing_settings?.html?.pretty_urls, true);
      },
      delete: async () => {
        await n.deleteSite({ site_id: s.site });
      },
      'it is gone': async () => {
        await refused(n.getSite({ site_id: s.site }), 404);
        assert.ok(!ids(await n.listSites()).includes(s.site), 'the site is listed still');
      },
    }),

    'what is noted about a site': (n, s) => ({
      'a site': async () => site(n, s, 'a-noted-site'),
      notes: async () => {
        await n.updateSiteMetadata({ site_id: s.site, body: { owner: 'Jane', stage: 'draft' } });
      },
      read: async () => {
        const read = await n.getSiteMetadata({ site_id: s.site });
        assert.deepEqual([read.owner, read.stage], ['Jane', 'draft']);
      },
      'other notes': async () => {
        await n.updateSiteMetadata({ site_id: s.site, body: { owner: 'Jane', stage: 'live' } });
        assert.equal((await n.getSiteMetadata({ site_id: s.site })).stage, 'live');
      },
      'they are no part of the site': async () => {
        const read = await n.getSite({ site_id: s.site });
        assert.deepEqual([id(read), read.name], [s.site, 'a-noted-site']);
      },
    }),

    'a site of a repository': (n, s) => ({
      'a key to it': async () => {
        const made = await n.createDeployKey();
        s.key = id(made);
        s.public = given(made.public_key, 'public key');
      },
      'the key is read and listed': async () => {
        const read = await n.getDeployKey({ key_id: s.key });
        assert.deepEqual([id(read), read.public_key], [s.key, s.public]);
        once(ids(await n.listDeployKeys()), [s.key], 'keys');
      },
      create: async () => {
        const repo = {
          provider: 'gitlab',
          repo_path: 'jane/shop',
          repo_branch: 'main',
          cmd: 'npm run build',
          dir: 'dist',
          deploy_key_id: s.key,
        };
        s.site = id(await n.createSite({ body: { name: 'a-built-site', repo } }));
      },
      'how it is built': async () => {
        const { build_settings: built } = await n.getSite({ site_id: s.site });
        assert.deepEqual([built?.provider, built?.repo_path, built?.repo_branch], ['gitlab', 'jane/shop', 'main']);
        assert.deepEqual([built?.cmd, built?.dir, built?.deploy_key_id], ['npm run build', 'dist', s.key]);
      },
      'built otherwise': async () => {
        const body = { build_settings: { cmd: 'make', dir: 'out' } };
        await n.updateSite({ site_id: s.site, body });
        const { build_settings: built } = await n.getSite({ site_id: s.site });
        assert.deepEqual([built?.cmd, built?.dir], ['make', 'out']);
      },
      'no longer of it': async () => {
        assert.equal(id(await n.unlinkSiteRepo({ site_id: s.site })), s.site);
        const { build_settings: built } = await n.getSite({ site_id: s.site });
        assert.equal(built?.repo_path ?? null, null);
      },
      'no more key': async () => {
        await n.deleteDeployKey({ key_id: s.key });
        await refused(n.getDeployKey({ key_id: s.key }), 404);
      },
    }),

    'sites of a team': (n, s) => ({
      'a team': async () => team(n, s),
      'three sites': async () => {
        for (const name of ['paged-one', 'paged-two', 'paged-three']) {
          const made = await n.createSiteInTeam({ account_slug: s.slug, body: { name } });
          assert.deepEqual([made.name, made.account_slug], [name, s.slug]);
          s[name] = id(made);
        }
      },
      'all are listed': async () => {
        const rows = await n.listSitesForAccount({ account_slug: s.slug });
        once(ids(rows), [s['paged-one'], s['paged-two'], s['paged-three']], 'sites');
      },
      'one by its name': async () => {
        const rows = await n.listSites({ name: 'paged-two' });
        assert.deepEqual(ids(rows), [s['paged-two']]);
      },
      'two by two': async () => {
        const rows = await numbered(async (page) => {
          const some = await n.listSitesForAccount({ account_slug: s.slug, page, per_page: 2 });
          assert.ok(some.length <= 2, `a page has ${some.length} sites`);
          return some;
        });
        once(ids(rows), [s['paged-one'], s['paged-two'], s['paged-three']], 'sites');
      },
    }),

    'told of deploys': (n, s) => ({
      'a site': async () => site(n, s, 'a-loud-site'),
      'a hook': async () => {
        const body = { type: 'url', event: 'deploy_created', data: { url: 'https://example.com/told' } };
        const made = await n.createHookBySiteId({ site_id: s.site, body });
        assert.deepEqual([made.type, made.event, made.site_id], ['url', 'deploy_created', s.site]);
        s.hook = id(made);
      },
      read: async () => {
        const read = await n.getHook({ hook_id: s.hook });
        assert.deepEqual([id(read), read.event, read.data?.url], [s.hook, 'deploy_created', 'https://example.com/told']);
      },
      'it is the only one of the site': async () => {
        assert.deepEqual(ids(await n.listHooksBySiteId({ site_id: s.site })), [s.hook]);
      },
      'another address': async () => {
        const body = { type: 'url', event: 'deploy_failed', data: { url: 'https://example.com/failed' } };
        await n.updateHook({ hook_id: s.hook, body });
        const read = await n.getHook({ hook_id: s.hook });
        assert.deepEqual([read.event, read.data?.url, read.site_id], ['deploy_failed', 'https://example.com/failed', s.site]);
      },
      'it is on': async () => {
        assert.equal(id(await n.enableHook({ hook_id: s.hook })), s.hook);
        assert.equal((await n.getHook({ hook_id: s.hook })).disabled, false);
      },
      'no longer': async () => {
        await n.deleteHook({ hook_id: s.hook });
        await refused(n.getHook({ hook_id: s.hook }), 404);
        assert.deepEqual(await n.listHooksBySiteId({ site_id: s.site }), []);
      },
    }),

    'built when asked': (n, s) => ({
      'a site': async () => site(n, s, 'an-asked-site'),
      'a hook': async () => {
        const made = await n.createSiteBuildHook({ site_id: s.site, body: { title: 'From the CMS', branch: 'main' } });
        assert.deepEqual([made.title, made.branch, made.site_id], ['From the CMS', 'main', s.site]);
        s.hook = id(made);
        s.url = given(made.url, 'address of the hook');
      },
      read: async () => {
        const read = await n.getSiteBuildHook({ site_id: s.site, id: s.hook });
        assert.deepEqual([id(read), read.title, read.branch, read.url], [s.hook, 'From the CMS', 'main', s.url]);
      },
      'it is listed': async () => once(ids(await n.listSiteBuildHooks({ site_id: s.site })), [s.hook], 'hooks'),
      'of another branch': async () => {
        await n.updateSiteBuildHook({ site_id: s.site, id: s.hook, body: { title: 'From the CMS', branch: 'next' } });
        const read = await n.getSiteBuildHook({ site_id: s.site, id: s.hook });
        assert.deepEqual([id(read), read.branch, read.url], [s.hook, 'next', s.url]);
      },
      'no longer': async () => {
        await n.deleteSiteBuildHook({ site_id: s.site, id: s.hook });
        await refused(n.getSiteBuildHook({ site_id: s.site, id: s.hook }), 404);
      },
    }),

    'code put into pages': (n, s) => ({
      'a site': async () => site(n, s, 'a-counted-site'),
      'a snippet': async () => {
        const body = { title: 'Count', general: '<script>count()</script>', general_position: 'head' };
        const made = await n.createSiteSnippet({ site_id: s.site, body });
        assert.deepEqual([made.title, made.general, made.general_position], ['Count', body.general, 'head']);
        s.snippet = id(made);
      },
      read: async () => {
        const read = await n.getSiteSnippet({ site_id: s.site, snippet_id: s.snippet });
        assert.deepEqual([id(read), read.title, read.general], [s.snippet, 'Count', '<script>count()</script>']);
      },
      'a second one': async () => {
        const body = { title: 'Chat', general: '<script>chat()</script>', general_position: 'footer' };
        s.other = id(await n.createSiteSnippet({ site_id: s.site, body }));
        const rows = await n.listSiteSnippets({ site_id: s.site });
        assert.deepEqual(ids(rows).sort(), [s.snippet, s.other].sort());
      },
      'at another place': async () => {
        const body = { title: 'Count', general: '<script>count(2)</script>', general_position: 'footer' };
        await n.updateSiteSnippet({ site_id: s.site, snippet_id: s.snippet, body });
        const read = await n.getSiteSnippet({ site_id: s.site, snippet_id: s.snippet });
        assert.deepEqual([read.general, read.general_position], [body.general, 'footer']);
      },
      'without it': async () => {
        await n.deleteSiteSnippet({ site_id: s.site, snippet_id: s.snippet });
        await refused(n.getSiteSnippet({ site_id: s.site, snippet_id: s.snippet }), 404);
        assert.deepEqual(ids(await n.listSiteSnippets({ site_id: s.site })), [s.other]);
      },
      'another site has none': async () => {
        const made = await n.createSite({ body: { name: 'a-quiet-site' } });
        assert.deepEqual(await n.listSiteSnippets({ site_id: id(made) }), []);
      },
    }),

    'a domain': (n, s) => ({
      'a zone': async () => {
        await team(n, s);
        const made = await n.createDnsZone({ body: { account_slug: s.slug, name: 'flows-example.com' } });
        assert.equal(made.name, 'flows-example.com');
        s.zone = id(made);
      },
      'the zone is read and listed': async () => {
        const read = await n.getDnsZone({ zone_id: s.zone });
        assert.deepEqual([id(read), read.name], [s.zone, 'flows-example.com']);
        once(ids(await n.getDnsZones()), [s.zone], 'zones');
      },
      'two records': async () => {
        const body = { type: 'A', hostname: 'www.flows-example.com', value: '192.0.2.10', ttl: 3600 };
        const made = await n.createDnsRecord({ zone_id: s.zone, body });
        assert.deepEqual([made.type, made.hostname, made.value, made.ttl], ['A', body.hostname, '192.0.2.10', 3600]);
        s.a = id(made);
        const mail = { type: 'MX', hostname: 'flows-example.com', value: 'mail.example.com', priority: 10, ttl: 3600 };
        s.mx = id(await n.createDnsRecord({ zone_id: s.zone, body: mail }));
      },
      'a record is read': async () => {
        const read = await n.getIndividualDnsRecord({ zone_id: s.zone, dns_record_id: s.mx });
        assert.deepEqual([id(read), read.type, read.value, read.priority], [s.mx, 'MX', 'mail.example.com', 10]);
        assert.equal(read.dns_zone_id, s.zone);
      },
      'they are listed': async () => once(ids(await n.getDnsRecords({ zone_id: s.zone })), [s.a, s.mx], 'records'),
      'one is deleted': async () => {
        await n.deleteDnsRecord({ zone_id: s.zone, dns_record_id: s.a });
        await refused(n.getIndividualDnsRecord({ zone_id: s.zone, dns_record_id: s.a }), 404);
        const left = ids(await n.getDnsRecords({ zone_id: s.zone }));
        assert.deepEqual([left.includes(s.a), left.includes(s.mx)], [false, true]);
      },
      'the zone is deleted': async () => {
        await n.deleteDnsZone({ zone_id: s.zone });
        await refused(n.getDnsZone({ zone_id: s.zone }), 404);
      },
    }),

    'variables of a team': (n, s) => ({
      'two of them': async () => {
        await team(n, s);
        const values = [
          { context: 'dev', value: 'test-key' },
          { context: 'production', value: 'live-key' },
        ];
        const body = [
          { key: 'SHOP_KEY', scopes: ['builds', 'functions'], values },
          { key: 'SHOP_NAME', scopes: ['builds'], values: [{ context: 'all', value: 'Shop' }] },
        ];
        const made = await n.createEnvVars({ account_id: s.team, body });
        assert.deepEqual(made.map(({ key }) => key).sort(), ['SHOP_KEY', 'SHOP_NAME']);
      },
      read: async () => {
        const read = await n.getEnvVar({ account_id: s.team, key: 'SHOP_KEY' });
        assert.deepEqual([read.key, [...read.scopes].sort()], ['SHOP_KEY', ['builds', 'functions']]);
        assert.deepEqual([valueIn(read, 'dev')?.value, valueIn(read, 'production')?.value], ['test-key', 'live-key']);
      },
      'they are listed': async () => {
        const rows = await n.getEnvVars({ account_id: s.team });
        const keys = rows.map(({ key }) => key as string);
        once(keys, ['SHOP_KEY', 'SHOP_NAME'], 'variables');
      },
      'another value in one context': async () => {
        const body = { context: 'production', value: 'new-key' };
        await n.setEnvVarValue({ account_id: s.team, key: 'SHOP_KEY', body });
        const read = await n.getEnvVar({ account_id: s.team, key: 'SHOP_KEY' });
        assert.deepEqual([valueIn(read, 'dev')?.value, valueIn(read, 'production')?.value], ['test-key', 'new-key']);
      },
      'all of it anew': async () => {
        const body = { key: 'SHOP_NAME', scopes: ['runtime'], values: [{ context: 'all', value: 'Store' }] };
        await n.updateEnvVar({ account_id: s.team, key: 'SHOP_NAME', body });
        const read = await n.getEnvVar({ account_id: s.team, key: 'SHOP_NAME' });
        assert.deepEqual([read.scopes, valueIn(read, 'all')?.value], [['runtime'], 'Store']);
      },
      'without one value': async () => {
        const value = valueIn(await n.getEnvVar({ account_id: s.team, key: 'SHOP_KEY' }), 'dev');
        await n.deleteEnvVarValue({ account_id: s.team, key: 'SHOP_KEY', id: id(given(value, 'value in dev')) });
        const read = await n.getEnvVar({ account_id: s.team, key: 'SHOP_KEY' });
        assert.deepEqual([valueIn(read, 'dev'), valueIn(read, 'production')?.value], [undefined, 'new-key']);
      },
      'no longer': async () => {
        await n.deleteEnvVar({ account_id: s.team, key: 'SHOP_KEY' });
        await refused(n.getEnvVar({ account_id: s.team, key: 'SHOP_KEY' }), 404);
        assert.equal((await n.getEnvVar({ account_id: s.team, key: 'SHOP_NAME' })).key, 'SHOP_NAME');
      },
    }),

    'a deploy of files': (n, s) => ({
      'a site': async () => site(n, s, 'a-deployed-site'),
      'what will be in it': async () => {
        s.page = '<h1>Hello</h1>';
        s.sha = createHash('sha1').update(s.page).digest('hex');
        const body = { files: { '/index.html': s.sha }, draft: true, branch: 'next' };
        const made = await n.createSiteDeploy({ site_id: s.site, title: 'First try', body });
        assert.deepEqual([made.site_id, made.required], [s.site, [s.sha]]);
        s.deploy = id(made);
      },
      'a file': async () => {
        const file = await n.uploadDeployFile({ deploy_id: s.deploy, path: 'index.html', body: Buffer.from(s.page) });
        assert.equal(String(file.path).replace(/^\//, ''), 'index.html');
      },
      read: async () => {
        const read = await n.getSiteDeploy({ site_id: s.site, deploy_id: s.deploy });
        assert.deepEqual([id(read), read.site_id, read.branch, read.draft], [s.deploy, s.site, 'next', true]);
        assert.equal(read.title, 'First try');
        assert.equal(id(await n.getDeploy({ deploy_id: s.deploy })), s.deploy);
      },
      'it is listed': async () => {
        once(ids(await n.listSiteDeploys({ site_id: s.site })), [s.deploy], 'deploys');
        assert.ok(!ids(await n.listSiteDeploys({ site_id: s.site, branch: 'other' })).includes(s.deploy), 'of another branch');
      },
      'locked and unlocked': async () => {
        const locked = await n.lockDeploy({ deploy_id: s.deploy });
        assert.deepEqual([id(locked), locked.locked], [s.deploy, true]);
        assert.equal((await n.getDeploy({ deploy_id: s.deploy })).locked, true);
        await n.unlockDeploy({ deploy_id: s.deploy });
        assert.equal((await n.getDeploy({ deploy_id: s.deploy })).locked, false);
      },
      delete: async () => {
        await n.deleteDeploy({ deploy_id: s.deploy });
        await refused(n.getDeploy({ deploy_id: s.deploy }), 404);
      },
    }),

    'two branches in a test': (n, s) => ({
      'a site': async () => site(n, s, 'a-tested-site'),
      'a test': async () => {
        const made = await n.createSplitTest({ site_id: s.site, body: { branch_tests: { main: 60, next: 40 } } });
        assert.equal(made.site_id, s.site);
        s.test = id(made);
      },
      'read and listed': async () => {
        const read = await n.getSplitTest({ site_id: s.site, split_test_id: s.test });
        assert.deepEqual([id(read), read.site_id], [s.test, s.site]);
        once(ids(await n.getSplitTests({ site_id: s.site })), [s.test], 'tests');
      },
      'it begins': async () => {
        await n.enableSplitTest({ site_id: s.site, split_test_id: s.test });
        assert.equal((await n.getSplitTest({ site_id: s.site, split_test_id: s.test })).active, true);
      },
      'half and half': async () => {
        const body = { branch_tests: { main: 50, next: 50 } };
        assert.equal(id(await n.updateSplitTest({ site_id: s.site, split_test_id: s.test, body })), s.test);
      },
      'it ends': async () => {
        await n.disableSplitTest({ site_id: s.site, split_test_id: s.test });
        assert.equal((await n.getSplitTest({ site_id: s.site, split_test_id: s.test })).active, false);
      },
      'one that is not there': async () => {
        await refused(n.getSplitTest({ site_id: s.site, split_test_id: nowhere }), 404);
      },
    }),

    'what is refused': (n, s, another) => ({
      'a site': async () => site(n, s, 'a-guarded-site'),
      'what is not there': async () => {
        await refused(n.getSite({ site_id: nowhere }), 404);
        await refused(n.updateSite({ site_id: nowhere, body: { name: 'a-lost-site' } }), 404);
        await refused(n.deleteSite({ site_id: nowhere }), 404);
        await refused(n.getHook({ hook_id: nowhere }), 404);
      },
      'in a site that is not there': async () => {
        await refused(n.listSiteBuildHooks({ site_id: nowhere }), 404);
        await refused(
          n.createSiteSnippet({ site_id: nowhere, body: { title: 'Lost', general: '<p>', general_position: 'head' } }),
          404,
        );
      },
      'a team without a name': async () => {
        await refused(n.createAccount({ body: { period: 'monthly' } }), 400, 422);
      },
      'whom it does not know': async () => {
        const stranger = another('nfp_nobody');
        await refused(stranger.getSite({ site_id: s.site }), 401);
        await refused(stranger.createSite({ body: { name: 'a-stolen-site' } }), 401);
        await refused(stranger.deleteSite({ site_id: s.site }), 401);
      },
      'the site is as it was': async () => {
        const read = await n.getSite({ site_id: s.site });
        assert.deepEqual([id(read), read.name], [s.site, 'a-guarded-site']);
        assert.deepEqual(await n.listSites({ name: 'a-stolen-site' }), []);
      },
    }),
  },
};
