import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { given, once, type Place, refused, type State, type Vendor } from '../kit.ts';

type Row = Readonly<Record<string, unknown>>;
type Call = (options?: object) => PromiseLike<unknown>;

/** The part of the client that is used here: it has no types of its own. */
interface Circle {
  readonly request: { url: string };
  readonly getUser: Call;
  readonly getProjects: Call;
  readonly getRecentBuilds: Call;
  readonly getBuilds: Call;
  readonly getBuild: Call;
  readonly startBuild: Call;
  readonly cancelBuild: Call;
  readonly retryBuild: Call;
  readonly getBuildArtifacts: Call;
  readonly getTestMetadata: Call;
  readonly clearBuildCache: Call;
  readonly getEnvVars: Call;
  readonly getEnvVar: Call;
  readonly setEnvVar: Call;
  readonly deleteEnvVar: Call;
}
const Client = createRequire(import.meta.url)('circleci') as new (options: { auth: string }) => Circle;

/** The client has no option for another address, but a field, which it reads with each call. */
const connect = (place: Place, auth: string): Circle => {
  const api = new Client({ auth });
  api.request.url = `${place.base}/`;
  return api;
};

/** A refusal's status is nowhere but in the sentence that the client makes of it. */
const ask = async (answer: PromiseLike<unknown>): Promise<unknown> => {
  try {
    return await answer;
  } catch (thrown) {
    const status = /^HTTP (?:client|server) error (\d{3})$/.exec((thrown as Error).message)?.[1];
    throw status === undefined ? thrown : Object.assign(thrown as Error, { status: Number(status) });
  }
};
const row = async (answer: PromiseLike<unknown>): Promise<Row> => {
  const one = await ask(answer);
  assert.ok(typeof one === 'object' && one !== null && !Array.isArray(one), 'the answer is not an object');
  return one as Row;
};
const rows = async (answer: PromiseLike<unknown>): Promise<Row[]> => {
  const all = await ask(answer);
  assert.ok(Array.isArray(all), 'the answer is not a list');
  return all as Row[];
};
const number = (build: Row): string => String(given(build.build_num, 'build_num'));
const names = (all: readonly Row[]): unknown[] => all.map(({ name }) => name);

const site = { username: 'acme', project: 'website' };
const shop = { username: 'acme', project: 'shop' };
const start = (api: Circle, where: object = site, branch = 'master', body: object = {}): Promise<Row> =>
  row(api.startBuild({ ...where, branch, body }));
const variable = (api: Circle, name: string, value: string, where: object = site): Promise<Row> =>
  row(api.setEnvVar({ ...where, body: { name, value } }));
const one = (s: State): object => ({ ...site, build_num: s.id });

/** Guide: circleci.com/docs/api/v1-reference, of its version 1: "Getting started", "Authentication", "List ordering", and each call. */
export const vendor: Vendor<Circle> = {
  document: 'circleci/circleci.com.json',
  // The client sends it in the query, where nothing that is printed for a header fits.
  header: 'circle-token',
  made: '5e1f0f44e1e5a7b0c21f8e0a7f4ad1ff3a2b9c77',
  strict: ['a token that is refused'],
  client: connect,
  flows: {
    'a build from its start to its end': (api, s) => ({
      start: async () => {
        const made = await start(api);
        s.id = number(made);
        assert.deepEqual([made.username, made.reponame, made.branch], ['acme', 'website', 'master']);
      },
      read: async () => {
        const read = await row(api.getBuild(one(s)));
        assert.deepEqual([number(read), read.branch, read.reponame], [s.id, 'master', 'website']);
      },
      cancel: async () => {
        const answer = await row(api.cancelBuild(one(s)));
        assert.deepEqual([number(answer), answer.outcome], [s.id, 'canceled']);
      },
      'it stays cancelled': async () => assert.equal((await row(api.getBuild(one(s)))).outcome, 'canceled'),
    }),
    'a build is built again': (api, s) => ({
      start: async () => {
        s.id = number(await start(api, site, 'feature'));
      },
      retry: async () => {
        const again = await row(api.retryBuild(one(s)));
        s.again = number(again);
        assert.notEqual(s.again, s.id);
        assert.deepEqual([again.branch, String(again.retry_of)], ['feature', s.id]);
      },
      'both can be read': async () => {
        assert.equal(number(await row(api.getBuild(one(s)))), s.id);
        assert.equal(number(await row(api.getBuild({ ...site, build_num: s.again }))), s.again);
      },
    }),
    'builds with parameters': (api, s) => ({
      start: async () => {
        const body = { revision: 'f1baeb913288519dd9a942499cef2873f5b1c2bf', build_parameters: { RUN_EXTRA_TESTS: 'true' } };
        const made = await start(api, site, 'release', body);
        s.id = number(made);
        assert.equal(made.branch, 'release');
      },
      read: async () => {
        const read = await row(api.getBuild(one(s)));
        assert.deepEqual([number(read), read.branch], [s.id, 'release']);
      },
    }),
    'builds page by page': (api, s) => ({
      'start five': async () => {
        const made = [];
        for (let at = 0; at < 5; at += 1) made.push(number(await start(api)));
        once(made, made, 'started builds');
        s.all = made.join(' ');
      },
      'two of them': async () => assert.equal((await rows(api.getBuilds({ ...site, limit: 2, offset: 0 }))).length, 2),
      'all of them': async () => {
        const all: Row[] = [];
        for (let offset = 0; offset < 80; offset += 2) {
          const page = await rows(api.getBuilds({ ...site, limit: 2, offset }));
          if (page.length === 0) break;
          assert.ok(page.length <= 2, `${page.length} builds on a page of two`);
          all.push(...page);
        }
        once(all.map(number), s.all.split(' '), 'builds');
      },
      'the newest first': async () => {
        const [first] = await rows(api.getBuilds({ ...site, limit: 1 }));
        assert.equal(number(given(first, 'build')), s.all.split(' ').at(-1));
      },
    }),
    'builds by how they end': (api, s) => ({
      'start two': async () => {
        s.id = number(await start(api));
        s.other = number(await start(api));
      },
      'cancel one': async () => api.cancelBuild(one(s)),
      'it is completed': async () => {
        const all = (await rows(api.getBuilds({ ...site, filter: 'completed' }))).map(number);
        assert.ok(all.includes(s.id), 'the cancelled build is not completed');
      },
      'it is not running': async () => {
        const all = (await rows(api.getBuilds({ ...site, filter: 'running' }))).map(number);
        assert.ok(!all.includes(s.id), 'the cancelled build is running');
      },
    }),
    'projects have builds of their own': (api, s) => ({
      'start one in each': async () => {
        s.id = number(await start(api, site));
        s.other = number(await start(api, shop, 'sale'));
      },
      'each is of its project': async () => {
        for (const build of await rows(api.getBuilds(site))) assert.equal(build.reponame, 'website');
        for (const build of await rows(api.getBuilds(shop))) assert.equal(build.reponame, 'shop');
      },
      'recent ones are of all projects': async () => {
        const all = await rows(api.getRecentBuilds({ limit: 30, offset: 0 }));
        const found = all.map(({ reponame }) => reponame);
        assert.ok(found.includes('website') && found.includes('shop'), `recent builds are of ${found.join(', ')}`);
      },
      'no more than two': async () => assert.equal((await rows(api.getRecentBuilds({ limit: 2 }))).length, 2),
    }),
    'a variable from its making to its end': (api) => ({
      create: async () => {
        const made = await variable(api, 'REGION', 'eu-west-1');
        assert.deepEqual([made.name, typeof made.value], ['REGION', 'string']);
      },
      read: async () => {
        const read = await row(api.getEnvVar({ ...site, name: 'REGION' }));
        assert.deepEqual([read.name, typeof read.value], ['REGION', 'string']);
      },
      'it is listed': async () => once(names(await rows(api.getEnvVars(site))).map(String), ['REGION'], 'variables'),
      delete: async () => assert.equal((await row(api.deleteEnvVar({ ...site, name: 'REGION' }))).message, 'OK'),
      'it is gone': async () => refused(row(api.getEnvVar({ ...site, name: 'REGION' })), 404),
      'it is not listed': async () =>
        assert.ok(!names(await rows(api.getEnvVars(site))).includes('REGION'), 'the deleted variable is still listed'),
    }),
    'several variables': (api) => ({
      'make three': async () => {
        for (const name of ['STAGE', 'BUCKET', 'TOKEN'])
          assert.equal((await variable(api, name, 'a long enough value')).name, name);
      },
      'all are listed': async () =>
        once(names(await rows(api.getEnvVars(site))).map(String), ['STAGE', 'BUCKET', 'TOKEN'], 'variables'),
      'each can be read': async () => {
        for (const name of ['STAGE', 'BUCKET', 'TOKEN']) assert.equal((await row(api.getEnvVar({ ...site, name }))).name, name);
      },
      'delete one': async () => {
        await api.deleteEnvVar({ ...site, name: 'BUCKET' });
        const left = names(await rows(api.getEnvVars(site)));
        assert.deepEqual([left.includes('STAGE'), left.includes('BUCKET'), left.includes('TOKEN')], [true, false, true]);
      },
    }),
    'projects have variables of their own': (api) => ({
      'one in each': async () => {
        await variable(api, 'OF_SITE', 'something', site);
        await variable(api, 'OF_SHOP', 'something', shop);
      },
      'none sees the other': async () => {
        const [ofSite, ofShop] = [names(await rows(api.getEnvVars(site))), names(await rows(api.getEnvVars(shop)))];
        assert.deepEqual([ofSite.includes('OF_SITE'), ofSite.includes('OF_SHOP')], [true, false]);
        assert.deepEqual([ofShop.includes('OF_SITE'), ofShop.includes('OF_SHOP')], [false, true]);
      },
      'nor reads it': async () => refused(row(api.getEnvVar({ ...shop, name: 'OF_SITE' })), 404),
    }),
    'what a build leaves': (api, s) => ({
      start: async () => {
        s.id = number(await start(api));
      },
      artifacts: async () => {
        for (const left of await rows(api.getBuildArtifacts(one(s)))) {
          assert.deepEqual([typeof left.path, typeof left.url, typeof left.node_index], ['string', 'string', 'number']);
        }
      },
      tests: async () => assert.ok(Array.isArray((await row(api.getTestMetadata(one(s)))).tests), 'tests is not a list'),
    }),
    'the cache of a project': (api) => ({
      clear: async () => assert.equal(typeof (await row(api.clearBuildCache(site))).status, 'string'),
      'and once more': async () => assert.equal(typeof (await row(api.clearBuildCache(site))).status, 'string'),
    }),
    'who asks': (api) => ({
      me: async () => {
        const me = await row(api.getUser());
        assert.deepEqual([typeof me.login, typeof me.admin], ['string', 'boolean']);
      },
      'what they follow': async () => {
        for (const project of await rows(api.getProjects())) {
          assert.deepEqual([typeof project.reponame, typeof project.username], ['string', 'string']);
        }
      },
    }),
    'what is wrong': (api) => ({
      'a build that is not there': async () => refused(row(api.getBuild({ ...site, build_num: 999_999_999 })), 404),
      'it is not built again': async () => refused(row(api.retryBuild({ ...site, build_num: 999_999_999 })), 404),
      'it is not cancelled': async () => refused(row(api.cancelBuild({ ...site, build_num: 999_999_999 })), 404),
      'a variable that is not there': async () => refused(row(api.getEnvVar({ ...site, name: 'NOBODY_SET_THIS' })), 404),
    }),
    'a token that is refused': (_api, _s, another) => {
      const nobody = another('nobodyhasthistoken');
      return {
        'who asks': async () => refused(row(nobody.getUser()), 401),
        'they cannot start a build': async () => refused(start(nobody), 401),
        'nor set a variable': async () => refused(variable(nobody, 'REGION', 'eu-west-1'), 401),
      };
    },
  },
};
