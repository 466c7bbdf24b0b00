import assert from 'node:assert/strict';
import { auth, websecurityscanner, type websecurityscanner_v1beta } from 'googleapis/build/src/apis/websecurityscanner/index.js';
import { given, once, type Place, pages, refused, type State, type Vendor } from '../kit.ts';

type Config = websecurityscanner_v1beta.Schema$ScanConfig;
type Run = websecurityscanner_v1beta.Schema$ScanRun;
type Client = websecurityscanner_v1beta.Resource$Projects$Scanconfigs;

/** `rootUrl` is the client's own option; it would ask again where it finds the server broken. */
const connect = (place: Place, token: string): Client => {
  const credential = new auth.OAuth2();
  credential.setCredentials({ access_token: token });
  const options = { version: 'v1beta', auth: credential, rootUrl: `${place.url}/`, retry: false } as const;
  return websecurityscanner(options).projects.scanConfigs;
};

/** Projects and their App Engine hosts are made by other services, and are there. */
const parent = 'projects/my-project';
const home = 'https://my-project.appspot.com/';
const missing = `${parent}/scanConfigs/999999999999`;
const lost = `${missing}/scanRuns/999999999999`;

const config = async (c: Client, displayName: string, more: Config = {}, under = parent): Promise<Config> =>
  (await c.create({ parent: under, requestBody: { displayName, startingUrls: [home], ...more } })).data;
/** The name of a new configuration. */
const named = async (c: Client, displayName: string, more: Config = {}): Promise<string> =>
  given((await config(c, displayName, more)).name, 'name');
const read = async (c: Client, name: string): Promise<Config> => (await c.get({ name })).data;
const start = async (c: Client, name: string): Promise<Run> => (await c.start({ name, requestBody: {} })).data;
const stop = async (c: Client, name: string): Promise<Run> => (await c.scanRuns.stop({ name, requestBody: {} })).data;
/** The name of a run that was started and stopped. */
const ran = async (c: Client, name: string): Promise<string> =>
  given((await stop(c, given((await start(c, name)).name, 'name'))).name, 'name');
const names = (rows: readonly { readonly name?: string | null }[]): string[] => rows.map(({ name }) => given(name, 'name'));
const from = (pageToken: string | undefined): { pageToken?: string } => (pageToken === undefined ? {} : { pageToken });
const configs = (c: Client, pageSize?: number, under = parent): Promise<Config[]> =>
  pages(
    async (token) => (await c.list({ parent: under, ...(pageSize && { pageSize }), ...from(token) })).data,
    ({ scanConfigs }) => scanConfigs ?? [],
    ({ nextPageToken }) => nextPageToken || undefined,
  );
const runs = (c: Client, of: string, pageSize?: number): Promise<Run[]> =>
  pages(
    async (token) => (await c.scanRuns.list({ parent: of, ...(pageSize && { pageSize }), ...from(token) })).data,
    ({ scanRuns }) => scanRuns ?? [],
    ({ nextPageToken }) => nextPageToken || undefined,
  );
const findings = (c: Client, of: string, type: string) =>
  pages(
    async (token) =>
      (await c.scanRuns.findings.list({ parent: of, filter: `finding_type=${type}`, pageSize: 2, ...from(token) })).data,
    ({ findings: rows }) => rows ?? [],
    ({ nextPageToken }) => nextPageToken || undefined,
  );
const time = (at: string | null | undefined): number => {
  const milliseconds = Date.parse(given(at, 'time'));
  assert.ok(!Number.isNaN(milliseconds), `${at} is no time`);
  return milliseconds;
};
/** Nothing in an answer tells the password that was sent. */
const secret = (answer: unknown): void => assert.ok(!JSON.stringify(answer).includes('open-sesame'), 'it tells the password');
const account = { loginUrl: `${home}login`, username: 'scanner@example.com' };
const later = (days: number): string => new Date(Math.ceil(Date.now() / 1000) * 1000 + days * 86_400_000).toISOString();
const two = async (c: Client, s: State, label: string): Promise<void> => {
  s.one = await named(c, `${label} one`);
  s.two = await named(c, `${label} two`);
};

/** Guide: cloud.google.com/security-command-center, "Use Web Security Scanner", and its REST reference, v1beta. */
export const vendor: Vendor<Client> = {
  document: 'websecurityscanner/websecurityscanner.json',
  header: 'Authorization',
  word: 'Bearer',
  made: 'ya29.made-up',
  client: connect,
  strict: ['a credential that is refused'],
  flows: {
    'a configuration, from the first to the last day': (c, s) => ({
      made: async () => {
        const made = await config(c, 'nightly', { startingUrls: [home, `${home}shop`], maxQps: 10, userAgent: 'CHROME_LINUX' });
        s.name = given(made.name, 'name');
        assert.match(s.name, /^projects\/my-project\/scanConfigs\/[^/]+$/);
        assert.deepEqual([made.displayName, made.maxQps, made.startingUrls], ['nightly', 10, [home, `${home}shop`]]);
      },
      read: async () => {
        const wanted = { name: s.name, displayName: 'nightly', maxQps: 10, userAgent: 'CHROME_LINUX' };
        assert.partialDeepStrictEqual(await read(c, s.name), { ...wanted, startingUrls: [home, `${home}shop`] });
      },
      'is in the list': async () => {
        const rows = await configs(c);
        once(names(rows), [s.name], 'configurations');
        assert.equal(rows.find(({ name }) => name === s.name)?.displayName, 'nightly');
      },
      'slower, by another name': async () => {
        const requestBody: Config = { displayName: 'weekly', maxQps: 6 };
        const { data } = await c.patch({ name: s.name, updateMask: 'displayName,maxQps', requestBody });
        assert.deepEqual([data.name, data.displayName, data.maxQps], [s.name, 'weekly', 6]);
      },
      'the rest stays': async () => {
        const wanted = { displayName: 'weekly', maxQps: 6, userAgent: 'CHROME_LINUX' };
        assert.partialDeepStrictEqual(await read(c, s.name), { ...wanted, startingUrls: [home, `${home}shop`] });
      },
      deleted: async () => assert.deepEqual((await c.delete({ name: s.name })).data, {}),
      gone: () => refused(c.get({ name: s.name }), 404),
      'no longer in the list': async () => assert.ok(!names(await configs(c)).includes(s.name), 'it is'),
      'not deleted again': () => refused(c.delete({ name: s.name }), 404),
    }),

    'configurations through all pages': (c, s) => {
      const under = 'projects/paged-project';
      const startingUrls = ['https://paged-project.appspot.com/'];
      return {
        'five are made, in no order': async () => {
          const made: string[] = [];
          for (const one of ['c', 'a', 'e', 'b', 'd'])
            made.push(given((await config(c, `page ${one}`, { startingUrls }, under)).name, 'name'));
          s.all = made.join(' ');
        },
        'each has a name of its own, below the project': async () => {
          assert.equal(new Set(s.all.split(' ')).size, 5);
          for (const name of s.all.split(' ')) assert.ok(name.startsWith(`${under}/scanConfigs/`), name);
        },
        'no more on a page than asked for': async () => {
          const { data } = await c.list({ parent: under, pageSize: 2 });
          const rows = given(data.scanConfigs, 'scanConfigs');
          assert.ok(rows.length > 0 && rows.length <= 2, `${rows.length} rows`);
          given(data.nextPageToken || undefined, 'next page token');
        },
        'all of them, each once': async () => {
          const rows = names(await configs(c, 2, under));
          assert.deepEqual(rows.toSorted(), s.all.split(' ').toSorted());
        },
        'a size that is not positive leaves it to the service': async () => {
          const { data } = await c.list({ parent: under, pageSize: 0 });
          assert.ok((data.scanConfigs ?? []).length > 0, 'none');
        },
        'those of another project are others': async () => {
          s.other = await named(c, 'not on these pages');
          assert.ok(!names(await configs(c, 50, under)).includes(s.other), 'it is listed');
          assert.ok(!names(await configs(c)).some((name) => name.startsWith(under)), 'they are listed');
        },
      };
    },

    'what holds where nothing is said': (c, s) => ({
      'a configuration with no more than it needs': async () => {
        s.name = await named(c, 'plain');
      },
      'fifteen requests a second': async () => assert.equal((await read(c, s.name)).maxQps, 15),
      'it is for App Engine': async () => assert.deepEqual((await read(c, s.name)).targetPlatforms, ['APP_ENGINE']),
      'there is no latest run': async () => assert.equal((await read(c, s.name)).latestRun ?? undefined, undefined),
      'a rate of nothing is fifteen too': async () => {
        assert.equal((await read(c, await named(c, 'plain at zero', { maxQps: 0 }))).maxQps, 15);
      },
      'the slowest and the fastest': async () => {
        for (const maxQps of [5, 20])
          assert.equal((await read(c, await named(c, `plain at ${maxQps}`, { maxQps }))).maxQps, maxQps);
      },
      'names are the service’s, and so is what it manages': async () => {
        const sent = `${parent}/scanConfigs/my-own-choice`;
        const made = await config(c, 'plain with a name', { name: sent, managedScan: true });
        assert.notEqual(made.name, sent);
        assert.notEqual((await read(c, given(made.name, 'name'))).managedScan, true);
      },
    }),

    'all that may be said of a scan': (c, s) => ({
      made: async () => {
        s.name = await named(c, 'in full', {
          userAgent: 'SAFARI_IPHONE',
          blacklistPatterns: [`${home}logout`, `${home}admin/*`],
          riskLevel: 'LOW',
          exportToSecurityCommandCenter: 'DISABLED',
          targetPlatforms: ['APP_ENGINE', 'COMPUTE'],
          ignoreHttpStatusErrors: true,
        });
      },
      'it is as it was sent': async () =>
        assert.partialDeepStrictEqual(await read(c, s.name), {
          userAgent: 'SAFARI_IPHONE',
          blacklistPatterns: [`${home}logout`, `${home}admin/*`],
          riskLevel: 'LOW',
          exportToSecurityCommandCenter: 'DISABLED',
          targetPlatforms: ['APP_ENGINE', 'COMPUTE'],
          ignoreHttpStatusErrors: true,
        }),
      'what the mask does not name is ignored': async () => {
        const requestBody: Config = { riskLevel: 'NORMAL', userAgent: 'CHROME_ANDROID', displayName: 'ignored' };
        const { data } = await c.patch({ name: s.name, updateMask: 'riskLevel', requestBody });
        assert.deepEqual([data.riskLevel, data.userAgent, data.displayName], ['NORMAL', 'SAFARI_IPHONE', 'in full']);
      },
      'other patterns in their place': async () => {
        const requestBody: Config = { blacklistPatterns: [`${home}private/*`] };
        await c.patch({ name: s.name, updateMask: 'blacklistPatterns', requestBody });
        assert.deepEqual((await read(c, s.name)).blacklistPatterns, [`${home}private/*`]);
      },
      'none, as the mask names them and the body does not': async () => {
        await c.patch({ name: s.name, updateMask: 'blacklistPatterns', requestBody: {} });
        assert.deepEqual((await read(c, s.name)).blacklistPatterns ?? [], []);
      },
      'no more than asked for': async () => {
        const { data } = await c.get({ name: s.name, fields: 'name,riskLevel' });
        assert.deepEqual(data, { name: s.name, riskLevel: 'NORMAL' });
      },
    }),

    'a schedule': (c, s) => ({
      'a scan of every week': async () => {
        s.time = later(3);
        const schedule = { scheduleTime: s.time, intervalDurationDays: 7 };
        s.name = await named(c, 'scheduled', { schedule });
      },
      'it is told': async () => {
        const { schedule } = await read(c, s.name);
        assert.equal(schedule?.intervalDurationDays, 7);
        assert.equal(time(schedule?.scheduleTime), Date.parse(s.time));
      },
      'every day': async () => {
        const requestBody: Config = { schedule: { scheduleTime: s.time, intervalDurationDays: 1 } };
        const { data } = await c.patch({ name: s.name, updateMask: 'schedule', requestBody });
        assert.equal(data.schedule?.intervalDurationDays, 1);
      },
      'and so it stays': async () => {
        const { schedule } = await read(c, s.name);
        assert.deepEqual([schedule?.intervalDurationDays, time(schedule?.scheduleTime)], [1, Date.parse(s.time)]);
      },
      'it has not run before its time': async () => assert.deepEqual(await runs(c, s.name), []),
    }),

    'a password that is never told': (c, s) => ({
      'a scan that logs in': async () => {
        const authentication = { customAccount: { ...account, password: 'open-sesame' } };
        const made = await config(c, 'logs in', { authentication });
        s.name = given(made.name, 'name');
        assert.partialDeepStrictEqual(made.authentication?.customAccount, account);
        secret(made);
      },
      'not as it is read': async () => {
        const data = await read(c, s.name);
        assert.partialDeepStrictEqual(data.authentication?.customAccount, account);
        secret(data);
      },
      'not in the list': async () => secret(await configs(c)),
      'not as it is changed': async () => {
        const requestBody: Config = {
          authentication: { customAccount: { ...account, username: 'b', password: 'open-sesame2' } },
        };
        const { data } = await c.patch({ name: s.name, updateMask: 'authentication', requestBody });
        assert.equal(data.authentication?.customAccount?.username, 'b');
        secret(data);
      },
      'a proxy that knows the scanner takes its place': async () => {
        const iapCredential = { iapTestServiceAccountInfo: { targetAudienceClientId: '1234.apps.googleusercontent.com' } };
        await c.patch({ name: s.name, updateMask: 'authentication', requestBody: { authentication: { iapCredential } } });
        assert.deepEqual((await read(c, s.name)).authentication, { iapCredential });
      },
    }),

    'a scan is started': (c, s) => ({
      'a configuration without runs': async () => {
        s.name = await named(c, 'started');
        assert.deepEqual(await runs(c, s.name), []);
      },
      started: async () => {
        const run = await start(c, s.name);
        s.run = given(run.name, 'name');
        assert.ok(s.run.startsWith(`${s.name}/scanRuns/`), s.run);
        assert.ok(['QUEUED', 'SCANNING'].includes(given(run.executionState, 'executionState')), run.executionState ?? '');
        assert.equal(run.resultState ?? undefined, undefined);
      },
      'it is read': async () => {
        const { data } = await c.scanRuns.get({ name: s.run });
        assert.equal(data.name, s.run);
        assert.ok(['QUEUED', 'SCANNING', 'FINISHED'].includes(given(data.executionState, 'executionState')));
        const percent = data.progressPercent ?? 0;
        assert.ok(percent >= 0 && percent <= 100, `${percent} percent`);
      },
      'it is listed': async () => once(names(await runs(c, s.name)), [s.run], 'runs'),
      'it is the latest of its configuration': async () => assert.equal((await read(c, s.name)).latestRun?.name, s.run),
      'not while it runs': () => refused(c.start({ name: s.name, requestBody: {} }), 400, 409),
      'there is still the one': async () => assert.deepEqual(names(await runs(c, s.name)), [s.run]),
    }),

    'a scan is stopped': (c, s) => ({
      'one that runs': async () => {
        s.name = await named(c, 'stopped');
        s.run = given((await start(c, s.name)).name, 'name');
      },
      'it is told as it is stopped': async () => {
        const run = await stop(c, s.run);
        assert.deepEqual([run.name, run.executionState, run.resultState], [s.run, 'FINISHED', 'KILLED']);
      },
      'it has an end, after its start': async () => {
        const { data } = await c.scanRuns.get({ name: s.run });
        assert.deepEqual([data.executionState, data.resultState], ['FINISHED', 'KILLED']);
        assert.ok(time(data.endTime) >= time(data.startTime), 'it ended before it began');
      },
      'so does its configuration tell': async () => {
        const { latestRun } = await read(c, s.name);
        assert.deepEqual([latestRun?.name, latestRun?.executionState], [s.run, 'FINISHED']);
      },
      'not stopped again': () => refused(c.scanRuns.stop({ name: s.run, requestBody: {} }), 400, 409),
      'another is started': async () => {
        s.next = given((await start(c, s.name)).name, 'name');
        assert.notEqual(s.next, s.run);
      },
      'it is the latest now': async () => assert.equal((await read(c, s.name)).latestRun?.name, s.next),
      'both are listed': async () => assert.deepEqual(names(await runs(c, s.name)).toSorted(), [s.run, s.next].toSorted()),
    }),

    'runs through all pages': (c, s) => ({
      'two configurations': () => two(c, s, 'runs of'),
      'three runs of one, a second apart': async () => {
        const made: string[] = [];
        for (let turn = 0; turn < 3; turn += 1) {
          if (turn > 0) await new Promise((done) => setTimeout(done, 1100));
          made.push(await ran(c, s.one));
        }
        s.all = made.join(' ');
      },
      'one of the other': async () => {
        s.other = await ran(c, s.two);
      },
      'no more on a page than asked for': async () => {
        const { data } = await c.scanRuns.list({ parent: s.one, pageSize: 2 });
        assert.ok(given(data.scanRuns, 'scanRuns').length <= 2, 'more than two');
        given(data.nextPageToken || undefined, 'next page token');
      },
      'what stopped last comes first': async () => {
        const rows = await runs(c, s.one, 2);
        assert.deepEqual(names(rows), s.all.split(' ').toReversed());
        const ends = rows.map(({ endTime }) => time(endTime));
        assert.deepEqual(
          ends,
          ends.toSorted((one, other) => other - one),
        );
      },
      'the other has its own': async () => assert.deepEqual(names(await runs(c, s.two)), [s.other]),
    }),

    'what a scan came upon': (c, s) => ({
      'a scan that was stopped': async () => {
        s.run = await ran(c, await named(c, 'came upon'));
      },
      'what it crawled': async () => {
        const rows = await pages(
          async (token) => (await c.scanRuns.crawledUrls.list({ parent: s.run, pageSize: 2, ...from(token) })).data,
          ({ crawledUrls }) => crawledUrls ?? [],
          ({ nextPageToken }) => nextPageToken || undefined,
        );
        for (const { url, httpMethod } of rows) {
          assert.match(given(url, 'url'), /^https?:/);
          assert.match(given(httpMethod, 'httpMethod'), /^[A-Z]+$/);
        }
      },
      'as many findings of each type as are counted': async () => {
        const { data } = await c.scanRuns.findingTypeStats.list({ parent: s.run });
        for (const { findingType, findingCount } of data.findingTypeStats ?? []) {
          const rows = await findings(c, s.run, given(findingType, 'findingType'));
          assert.equal(rows.length, findingCount, `of ${findingType}`);
          for (const row of rows) assert.equal(row.findingType, findingType);
        }
      },
      'each by itself, as it is listed': async () => {
        for (const row of await findings(c, s.run, 'XSS_CALLBACK')) {
          const { data } = await c.scanRuns.findings.get({ name: given(row.name, 'name') });
          assert.deepEqual([data.name, data.findingType, data.trackingId], [row.name, 'XSS_CALLBACK', row.trackingId]);
        }
      },
      'whether it found any': async () => {
        const { data } = await c.scanRuns.get({ name: s.run });
        const counted = (await c.scanRuns.findingTypeStats.list({ parent: s.run })).data.findingTypeStats ?? [];
        assert.equal(
          data.hasVulnerabilities ?? false,
          counted.some(({ findingCount }) => (findingCount ?? 0) > 0),
        );
      },
    }),

    'findings are asked for by their type': (c, s) => {
      const ask = (filter?: string) => c.scanRuns.findings.list({ parent: s.run, ...(filter !== undefined && { filter }) });
      return {
        'a scan that was stopped': async () => {
          s.run = await ran(c, await named(c, 'asked for'));
        },
        'of one type': async () => {
          const { data } = await ask('finding_type=MIXED_CONTENT');
          for (const { findingType } of data.findings ?? []) assert.equal(findingType, 'MIXED_CONTENT');
        },
        'not of none': () => refused(ask(), 400),
        'not of what is no filter': () => refused(ask('XSS_CALLBACK'), 400),
        'not by another field': () => refused(ask('severity=HIGH'), 400),
        'not by another comparison': () => refused(ask('finding_type>MIXED_CONTENT'), 400),
        'one that is not there': () => refused(c.scanRuns.findings.get({ name: `${s.run}/findings/999999999999` }), 404),
      };
    },

    'what is deleted takes its runs with it': (c, s) => ({
      'two configurations': () => two(c, s, 'to delete'),
      'a run of each': async () => {
        s.first = await ran(c, s.one);
        s.second = await ran(c, s.two);
      },
      'one is deleted': () => c.delete({ name: s.one }),
      'its run is gone': () => refused(c.scanRuns.get({ name: s.first }), 404),
      'it is not started': () => refused(c.start({ name: s.one, requestBody: {} }), 404),
      'the other has its run still': async () => {
        assert.equal((await c.scanRuns.get({ name: s.second })).data.name, s.second);
        assert.deepEqual(names(await runs(c, s.two)), [s.second]);
      },
      'its name is free again': async () => assert.equal((await config(c, 'to delete one')).displayName, 'to delete one'),
    }),

    'wrong configurations': (c) => ({
      'without a name to show': () => refused(c.create({ parent, requestBody: { startingUrls: [home] } }), 400),
      'without an address to begin with': () => refused(c.create({ parent, requestBody: { displayName: 'wrong' } }), 400),
      'slower or faster than may be': async () => {
        for (const maxQps of [4, 21, -1]) await refused(config(c, 'wrong', { maxQps }), 400);
      },
      'the refusal says what it is': async () => {
        const thrown = await refused(config(c, 'wrong', { maxQps: 100 }), 400);
        const { error } = given((thrown as { response?: { data?: { error?: object } } }).response?.data, 'body');
        assert.partialDeepStrictEqual(error, { code: 400, status: 'INVALID_ARGUMENT' });
      },
      'no address, or one of another kind': async () => {
        await refused(config(c, 'wrong', { startingUrls: ['not an address'] }), 400);
        await refused(config(c, 'wrong', { startingUrls: ['ftp://my-project.appspot.com/'] }), 400);
      },
      'no agent or risk that there is': async () => {
        await refused(config(c, 'wrong', { userAgent: 'LYNX' }), 400);
        await refused(config(c, 'wrong', { riskLevel: 'RECKLESS' }), 400);
      },
      'none of them was made': async () =>
        assert.ok(!(await configs(c)).some(({ displayName }) => displayName === 'wrong'), 'one was'),
    }),

    'wrong changes': (c, s) => ({
      'two configurations': () => two(c, s, 'to change'),
      'not without a mask': () => refused(c.patch({ name: s.one, requestBody: { maxQps: 7 } }), 400),
      'not faster than may be': () => refused(c.patch({ name: s.one, updateMask: 'maxQps', requestBody: { maxQps: 21 } }), 400),
      'not a field that there is not': () =>
        refused(c.patch({ name: s.one, updateMask: 'colour', requestBody: { maxQps: 7 } }), 400),
      'not the name of the other': () =>
        refused(c.patch({ name: s.one, updateMask: 'displayName', requestBody: { displayName: 'to change two' } }), 400, 409),
      'nor is a third made by that name': () => refused(config(c, 'to change two'), 400, 409),
      'in other letters it may be': async () => assert.equal((await config(c, 'To Change Two')).displayName, 'To Change Two'),
      'it is as it was': async () => {
        assert.partialDeepStrictEqual(await read(c, s.one), { displayName: 'to change one', maxQps: 15, startingUrls: [home] });
      },
    }),

    'what is not there': (c) => ({
      'a configuration': () => refused(c.get({ name: missing }), 404),
      'changing it': () => refused(c.patch({ name: missing, updateMask: 'maxQps', requestBody: { maxQps: 7 } }), 404),
      'starting it': () => refused(c.start({ name: missing, requestBody: {} }), 404),
      'a run': () => refused(c.scanRuns.get({ name: lost }), 404),
      'a run of a configuration that is there': async () => {
        const name = await named(c, 'never ran');
        await refused(c.scanRuns.get({ name: `${name}/scanRuns/999999999999` }), 404);
      },
      'stopping it': () => refused(c.scanRuns.stop({ name: lost, requestBody: {} }), 404),
      'what it crawled': () => refused(c.scanRuns.crawledUrls.list({ parent: lost }), 404),
      'what it found': () => refused(c.scanRuns.findings.list({ parent: lost, filter: 'finding_type=MIXED_CONTENT' }), 404),
      'a page that none led to': () => refused(c.list({ parent, pageToken: 'made up' }), 400),
    }),

    'a credential that is refused': (c, s, another) => ({
      'a configuration': async () => {
        s.name = await named(c, 'guarded');
      },
      'not read by another': () => refused(another('ya29.no-one').get({ name: s.name }), 401),
      'not listed by another': () => refused(another('ya29.no-one').list({ parent }), 401),
      'none made by another': () => refused(config(another('ya29.no-one'), 'sneaked'), 401),
      'not started by another': () => refused(another('ya29.no-one').start({ name: s.name, requestBody: {} }), 401),
      'not deleted by another': () => refused(another('ya29.no-one').delete({ name: s.name }), 401),
      'it is still there, has not run, and is alone': async () => {
        assert.equal((await read(c, s.name)).displayName, 'guarded');
        assert.deepEqual(await runs(c, s.name), []);
        assert.ok(!(await configs(c)).some(({ displayName }) => displayName === 'sneaked'), 'one was made');
      },
    }),
  },
};
