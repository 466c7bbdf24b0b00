import assert from 'node:assert/strict';
import { InfluxDB } from '@influxdata/influxdb-client';
import {
  AuthorizationsAPI,
  BucketsAPI,
  DashboardsAPI,
  DbrpsAPI,
  HealthAPI,
  LabelsAPI,
  OrgsAPI,
  ScrapersAPI,
  SigninAPI,
  TasksAPI,
  UsersAPI,
  VariablesAPI,
} from '@influxdata/influxdb-client-apis';
import { given, once, type Place, pages, refused, type State, type Vendor } from '../kit.ts';

/** The parts of the API that the flows use; each is a class of its own in the client, over one connection. */
const connect = (place: Place, token: string) => {
  const db = new InfluxDB({ url: place.url, token });
  return {
    authorizations: new AuthorizationsAPI(db),
    buckets: new BucketsAPI(db),
    dashboards: new DashboardsAPI(db),
    dbrps: new DbrpsAPI(db),
    health: new HealthAPI(db),
    labels: new LabelsAPI(db),
    orgs: new OrgsAPI(db),
    scrapers: new ScrapersAPI(db),
    signin: new SigninAPI(db),
    tasks: new TasksAPI(db),
    users: new UsersAPI(db),
    variables: new VariablesAPI(db),
  };
};

type Influx = ReturnType<typeof connect>;

const flux = (every: string): string =>
  `option task = {name: "downsample", every: ${every}}\nfrom(bucket: "iot") |> range(start: -${every}) |> yield()`;

const ids = (rows: readonly { id?: string }[] | undefined): string[] => (rows ?? []).map(({ id }) => given(id, 'id'));

const org = async (db: Influx, s: State, name = 'Home'): Promise<void> => {
  s.org = given((await db.orgs.postOrgs({ body: { name } })).id, 'id');
};

const bucket = async (db: Influx, s: State, name = 'iot'): Promise<string> => {
  const body = { orgID: s.org, name, retentionRules: [{ type: 'expire' as const, everySeconds: 86400 }] };
  s.bucket = given((await db.buckets.postBuckets({ body })).id, 'id');
  return s.bucket;
};

const label = async (db: Influx, s: State, name: string): Promise<string> =>
  given((await db.labels.postLabels({ body: { orgID: s.org, name } })).label?.id, 'id');

/** Guide: docs.influxdata.com/influxdb/v2, "API", "Manage buckets", "Manage organizations", "Process data with tasks", "Manage tokens". */
export const vendor: Vendor<Influx> = {
  document: 'influxdb/influxdata.com.json',
  header: 'Authorization',
  word: 'Token',
  made: 'kQ5vXn2c8yJ3mB7tL1sR9wZ4pD6gH0fA-NinefoldClientFlows==',
  client: connect,
  flows: {
    'a bucket is made, changed and deleted': (db, s) => ({
      'an organization for it': async () => org(db, s),
      create: async () => {
        const body = {
          orgID: s.org,
          name: 'air-sensors',
          description: 'Air sensors',
          retentionRules: [{ type: 'expire' as const, everySeconds: 3600 }],
        };
        const made = await db.buckets.postBuckets({ body });
        s.id = given(made.id, 'id');
        assert.partialDeepStrictEqual(made, { orgID: s.org, name: 'air-sensors', description: 'Air sensors' });
        assert.equal(made.retentionRules[0]?.everySeconds, 3600);
      },
      read: async () => {
        const read = await db.buckets.getBucketsID({ bucketID: s.id });
        assert.deepEqual([read.id, read.name, read.orgID], [s.id, 'air-sensors', s.org]);
      },
      'rename, and keep for a day': async () => {
        const body = { name: 'air', retentionRules: [{ type: 'expire' as const, everySeconds: 86400 }] };
        const changed = await db.buckets.patchBucketsID({ bucketID: s.id, body });
        assert.deepEqual([changed.name, changed.retentionRules[0]?.everySeconds], ['air', 86400]);
      },
      'it keeps what was not changed': async () => {
        const read = await db.buckets.getBucketsID({ bucketID: s.id });
        assert.deepEqual([read.name, read.description, read.retentionRules[0]?.everySeconds], ['air', 'Air sensors', 86400]);
      },
      delete: async () => db.buckets.deleteBucketsID({ bucketID: s.id }),
      'it is gone': async () => {
        await refused(db.buckets.getBucketsID({ bucketID: s.id }), 404);
      },
      'it cannot be deleted again': async () => {
        await refused(db.buckets.deleteBucketsID({ bucketID: s.id }), 404);
      },
      'it is not listed': async () => {
        const { buckets } = await db.buckets.getBuckets({ limit: 100 });
        assert.ok(!ids(buckets).includes(s.id));
      },
    }),
    'buckets through pages of an offset': (db, s) => ({
      'create five': async () => {
        await org(db, s);
        for (const n of [1, 2, 3, 4, 5]) s[`id${n}`] = await bucket(db, s, `page ${n}`);
      },
      'pages of two, until one is short': async () => {
        const rows = await pages(
          (from) => db.buckets.getBuckets({ orgID: s.org, limit: 2, offset: Number(from ?? 0) }).then((page) => ({ page, from })),
          ({ page }) => ids(page.buckets),
          ({ page, from }) => (ids(page.buckets).length < 2 ? undefined : String(Number(from ?? 0) + 2)),
        );
        once(rows, [s.id1, s.id2, s.id3, s.id4, s.id5], 'pages');
      },
      'a page holds what was asked for': async () =>
        assert.equal((await db.buckets.getBuckets({ orgID: s.org, limit: 2 })).buckets?.length, 2),
      'pages after the last one seen': async () => {
        const rows = await pages(
          (after) => db.buckets.getBuckets({ orgID: s.org, limit: 2, ...(after === undefined ? {} : { after }) }),
          ({ buckets }) => ids(buckets),
          ({ buckets }) => (ids(buckets).length < 2 ? undefined : ids(buckets).at(-1)),
        );
        once(rows, [s.id1, s.id2, s.id3, s.id4, s.id5], 'pages');
      },
    }),
    'buckets by name and by organization': (db, s) => ({
      'two organizations, a bucket of each': async () => {
        await org(db, s, 'North');
        s.north = await bucket(db, s, 'wind');
        s.first = s.org;
        await org(db, s, 'South');
        s.south = await bucket(db, s, 'sun');
      },
      'by name': async () => assert.deepEqual(ids((await db.buckets.getBuckets({ name: 'sun' })).buckets), [s.south]),
      'by organization': async () => {
        const rows = ids((await db.buckets.getBuckets({ orgID: s.first })).buckets);
        assert.deepEqual([rows.includes(s.north), rows.includes(s.south)], [true, false]);
      },
      'by its id': async () => assert.deepEqual(ids((await db.buckets.getBuckets({ id: s.north })).buckets), [s.north]),
    }),
    'an organization is made, changed and deleted': (db, s) => ({
      create: async () => {
        const made = await db.orgs.postOrgs({ body: { name: 'Greenhouse', description: 'Plants' } });
        s.id = given(made.id, 'id');
        assert.deepEqual([made.name, made.description], ['Greenhouse', 'Plants']);
      },
      rename: async () => assert.equal((await db.orgs.patchOrgsID({ orgID: s.id, body: { name: 'Hothouse' } })).name, 'Hothouse'),
      read: async () => {
        const read = await db.orgs.getOrgsID({ orgID: s.id });
        assert.deepEqual([read.id, read.name, read.description], [s.id, 'Hothouse', 'Plants']);
      },
      'find it by its name': async () => assert.deepEqual(ids((await db.orgs.getOrgs({ org: 'Hothouse' })).orgs), [s.id]),
      delete: async () => db.orgs.deleteOrgsID({ orgID: s.id }),
      'it is gone': async () => {
        await refused(db.orgs.getOrgsID({ orgID: s.id }), 404);
      },
    }),
    'members of an organization': (db, s) => ({
      'an organization and a user': async () => {
        await org(db, s);
        s.user = given((await db.users.postUsers({ body: { name: 'ada' } })).id, 'id');
      },
      add: async () => {
        const made = await db.orgs.postOrgsIDMembers({ orgID: s.org, body: { id: s.user, name: 'ada' } });
        assert.deepEqual([made.id, made.role], [s.user, 'member']);
      },
      'the list has her': async () => once(ids((await db.orgs.getOrgsIDMembers({ orgID: s.org })).users), [s.user], 'members'),
      remove: async () => db.orgs.deleteOrgsIDMembersID({ orgID: s.org, userID: s.user }),
      'the list has her no more': async () =>
        assert.ok(!ids((await db.orgs.getOrgsIDMembers({ orgID: s.org })).users).includes(s.user)),
      'the user is still there': async () => assert.equal((await db.users.getUsersID({ userID: s.user })).name, 'ada'),
    }),
    'a user is made inactive': (db, s) => ({
      create: async () => {
        const made = await db.users.postUsers({ body: { name: 'grace', status: 'active' } });
        s.id = given(made.id, 'id');
        assert.deepEqual([made.name, made.status], ['grace', 'active']);
      },
      change: async () => {
        const changed = await db.users.patchUsersID({ userID: s.id, body: { name: 'grace', status: 'inactive' } });
        assert.equal(changed.status, 'inactive');
      },
      read: async () => assert.equal((await db.users.getUsersID({ userID: s.id })).status, 'inactive'),
      'find by name': async () => assert.deepEqual(ids((await db.users.getUsers({ name: 'grace' })).users), [s.id]),
      delete: async () => db.users.deleteUsersID({ userID: s.id }),
      'she is gone': async () => {
        await refused(db.users.getUsersID({ userID: s.id }), 404);
      },
    }),
    'secrets give their keys alone': (db, s) => ({
      'an organization': async () => org(db, s),
      'store two': async () => db.orgs.patchOrgsIDSecrets({ orgID: s.org, body: { apikey: 'abc123', host: 'example.com' } }),
      'their keys are listed, their values are not': async () => {
        const read = await db.orgs.getOrgsIDSecrets({ orgID: s.org });
        once(read.secrets ?? [], ['apikey', 'host'], 'keys');
        assert.ok(!JSON.stringify(read).includes('abc123'));
      },
      'delete one': async () => db.orgs.postOrgsIDSecrets({ orgID: s.org, body: { secrets: ['apikey'] } }),
      'the other one is left': async () => {
        const { secrets } = await db.orgs.getOrgsIDSecrets({ orgID: s.org });
        assert.deepEqual([secrets?.includes('apikey'), secrets?.includes('host')], [false, true]);
      },
    }),
    'a label of a bucket': (db, s) => ({
      'a bucket and a label': async () => {
        await org(db, s);
        await bucket(db, s);
        const made = await db.labels.postLabels({ body: { orgID: s.org, name: 'prod', properties: { color: 'ffb3b3' } } });
        s.label = given(made.label?.id, 'id');
        assert.deepEqual([made.label?.name, made.label?.properties], ['prod', { color: 'ffb3b3' }]);
      },
      'put it on': async () => {
        const put = await db.buckets.postBucketsIDLabels({ bucketID: s.bucket, body: { labelID: s.label } });
        assert.equal(put.label?.id, s.label);
      },
      'the bucket has it': async () =>
        once(ids((await db.buckets.getBucketsIDLabels({ bucketID: s.bucket })).labels), [s.label], 'labels'),
      'take it off': async () => db.buckets.deleteBucketsIDLabelsID({ bucketID: s.bucket, labelID: s.label }),
      'the bucket has it no more': async () =>
        assert.ok(!ids((await db.buckets.getBucketsIDLabels({ bucketID: s.bucket })).labels).includes(s.label)),
      'the label is still there': async () =>
        assert.equal((await db.labels.getLabelsID({ labelID: s.label })).label?.name, 'prod'),
    }),
    'a label is renamed and deleted': (db, s) => ({
      create: async () => {
        await org(db, s);
        s.id = await label(db, s, 'draft');
        s.other = await label(db, s, 'keep');
      },
      rename: async () =>
        assert.equal((await db.labels.patchLabelsID({ labelID: s.id, body: { name: 'final' } })).label?.name, 'final'),
      'the organization lists both': async () => {
        const { labels } = await db.labels.getLabels({ orgID: s.org });
        once(ids(labels), [s.id, s.other], 'labels');
        assert.equal(labels?.find(({ id }) => id === s.id)?.name, 'final');
      },
      delete: async () => db.labels.deleteLabelsID({ labelID: s.id }),
      'it is gone': async () => {
        await refused(db.labels.getLabelsID({ labelID: s.id }), 404);
      },
      'the other one is left': async () => assert.equal((await db.labels.getLabelsID({ labelID: s.other })).label?.name, 'keep'),
    }),
    'a task is stopped and started': (db, s) => ({
      create: async () => {
        await org(db, s);
        const made = await db.tasks.postTasks({
          body: { orgID: s.org, flux: flux('1h'), status: 'active', description: 'hourly' },
        });
        s.id = made.id;
        assert.deepEqual([made.orgID, made.flux, made.status, made.description], [s.org, flux('1h'), 'active', 'hourly']);
      },
      stop: async () =>
        assert.equal((await db.tasks.patchTasksID({ taskID: s.id, body: { status: 'inactive' } })).status, 'inactive'),
      'it is stopped': async () => assert.equal((await db.tasks.getTasksID({ taskID: s.id })).status, 'inactive'),
      'it is listed among the stopped, not among the active': async () => {
        const stopped = await db.tasks.getTasks({ orgID: s.org, status: 'inactive' });
        const active = await db.tasks.getTasks({ orgID: s.org, status: 'active' });
        once(ids(stopped.tasks), [s.id], 'stopped tasks');
        assert.ok(!ids(active.tasks).includes(s.id));
      },
      'start with another script': async () => {
        const changed = await db.tasks.patchTasksID({ taskID: s.id, body: { status: 'active', flux: flux('2h') } });
        assert.deepEqual([changed.status, changed.flux, changed.description], ['active', flux('2h'), 'hourly']);
      },
      delete: async () => db.tasks.deleteTasksID({ taskID: s.id }),
      'it is gone': async () => {
        await refused(db.tasks.getTasksID({ taskID: s.id }), 404);
      },
    }),
    'a task is run by hand': (db, s) => ({
      'a task': async () => {
        await org(db, s);
        s.id = (await db.tasks.postTasks({ body: { orgID: s.org, flux: flux('1d') } })).id;
      },
      run: async () => {
        const run = await db.tasks.postTasksIDRuns({ taskID: s.id, body: { scheduledFor: '2026-01-01T00:00:00Z' } });
        s.run = given(run.id, 'id');
        assert.equal(Date.parse(given(run.scheduledFor, 'scheduledFor')), Date.parse('2026-01-01T00:00:00Z'));
      },
      'read the run': async () => assert.equal((await db.tasks.getTasksIDRunsID({ taskID: s.id, runID: s.run })).id, s.run),
      'the task has the run': async () =>
        once(ids((await db.tasks.getTasksIDRuns({ taskID: s.id })).runs as { id?: string }[]), [s.run], 'runs'),
      'a run of another task is not there': async () => {
        const other = (await db.tasks.postTasks({ body: { orgID: s.org, flux: flux('3d') } })).id;
        await refused(db.tasks.getTasksIDRunsID({ taskID: other, runID: s.run }), 404);
      },
    }),
    'a token is made inactive': (db, s) => ({
      create: async () => {
        await org(db, s);
        const body = {
          orgID: s.org,
          description: 'reads buckets',
          permissions: [{ action: 'read' as const, resource: { type: 'buckets' as const, orgID: s.org } }],
        };
        const made = await db.authorizations.postAuthorizations({ body });
        s.id = given(made.id, 'id');
        assert.deepEqual([made.description, made.orgID, made.permissions?.[0]?.action], ['reads buckets', s.org, 'read']);
        assert.equal(typeof made.token, 'string');
      },
      'it is active at first': async () =>
        assert.equal((await db.authorizations.getAuthorizationsID({ authID: s.id })).status, 'active'),
      stop: async () => {
        const changed = await db.authorizations.patchAuthorizationsID({ authID: s.id, body: { status: 'inactive' } });
        assert.equal(changed.status, 'inactive');
      },
      'it is inactive': async () =>
        assert.equal((await db.authorizations.getAuthorizationsID({ authID: s.id })).status, 'inactive'),
      'the organization lists it': async () =>
        once(ids((await db.authorizations.getAuthorizations({ orgID: s.org })).authorizations), [s.id], 'tokens'),
      delete: async () => db.authorizations.deleteAuthorizationsID({ authID: s.id }),
      'it is gone': async () => {
        await refused(db.authorizations.getAuthorizationsID({ authID: s.id }), 404);
      },
    }),
    'a variable is changed and replaced': (db, s) => ({
      create: async () => {
        await org(db, s);
        const body = { name: 'region', orgID: s.org, arguments: { type: 'constant' as const, values: ['east', 'west'] } };
        const made = await db.variables.postVariables({ body });
        s.id = given(made.id, 'id');
        assert.deepEqual([made.name, made.arguments], ['region', body.arguments]);
      },
      replace: async () => {
        const body = { name: 'zone', orgID: s.org, arguments: { type: 'map' as const, values: { a: 'north', b: 'south' } } };
        const put = await db.variables.putVariablesID({ variableID: s.id, body });
        assert.deepEqual([put.id, put.name, put.arguments], [s.id, 'zone', body.arguments]);
      },
      read: async () => {
        const read = await db.variables.getVariablesID({ variableID: s.id });
        assert.deepEqual([read.name, read.arguments.type], ['zone', 'map']);
      },
      delete: async () => db.variables.deleteVariablesID({ variableID: s.id }),
      'it is gone': async () => {
        await refused(db.variables.getVariablesID({ variableID: s.id }), 404);
      },
    }),
    'cells of a dashboard': (db, s) => ({
      'a dashboard': async () => {
        await org(db, s);
        const made = await db.dashboards.postDashboards({ body: { orgID: s.org, name: 'Rooms', description: 'All rooms' } });
        s.id = given(made.id, 'id');
        assert.deepEqual([made.name, made.description], ['Rooms', 'All rooms']);
      },
      'add a cell': async () => {
        const made = await db.dashboards.postDashboardsIDCells({
          dashboardID: s.id,
          body: { name: 'heat', x: 0, y: 0, w: 4, h: 3 },
        });
        s.cell = given(made.id, 'id');
        assert.deepEqual([made.x, made.y, made.w, made.h], [0, 0, 4, 3]);
      },
      'move it': async () => {
        const moved = await db.dashboards.patchDashboardsIDCellsID({ dashboardID: s.id, cellID: s.cell, body: { x: 2, y: 1 } });
        assert.deepEqual([moved.id, moved.x, moved.y, moved.w], [s.cell, 2, 1, 4]);
      },
      'the dashboard has it': async () => {
        const read = await db.dashboards.getDashboardsID({ dashboardID: s.id });
        once(ids(read.cells as { id?: string }[]), [s.cell], 'cells');
      },
      'remove it': async () => db.dashboards.deleteDashboardsIDCellsID({ dashboardID: s.id, cellID: s.cell }),
      'it cannot be removed again': async () => {
        await refused(db.dashboards.deleteDashboardsIDCellsID({ dashboardID: s.id, cellID: s.cell }), 404);
      },
    }),
    'a scraper feeds a bucket': (db, s) => ({
      'a bucket': async () => {
        await org(db, s);
        await bucket(db, s);
      },
      create: async () => {
        const body = {
          name: 'node',
          type: 'prometheus' as const,
          url: 'http://localhost:9090/metrics',
          orgID: s.org,
          bucketID: s.bucket,
        };
        const made = await db.scrapers.postScrapers({ body });
        s.id = given(made.id, 'id');
        assert.partialDeepStrictEqual(made, body);
      },
      change: async () => {
        const body = { name: 'node 2', url: 'http://localhost:9100/metrics' };
        assert.partialDeepStrictEqual(await db.scrapers.patchScrapersID({ scraperTargetID: s.id, body }), body);
      },
      'find it by its name': async () =>
        assert.deepEqual(ids((await db.scrapers.getScrapers({ name: 'node 2' })).configurations), [s.id]),
      delete: async () => db.scrapers.deleteScrapersID({ scraperTargetID: s.id }),
      'it is not listed': async () =>
        assert.ok(!ids((await db.scrapers.getScrapers({ orgID: s.org })).configurations).includes(s.id)),
    }),
    'a database of version 1 is mapped to a bucket': (db, s) => ({
      'a bucket': async () => {
        await org(db, s);
        await bucket(db, s);
      },
      map: async () => {
        const body = { orgID: s.org, bucketID: s.bucket, database: 'telegraf', retention_policy: 'autogen', default: true };
        const made = await db.dbrps.postDBRP({ body });
        s.id = given(made.id, 'id');
        assert.partialDeepStrictEqual(made, body);
      },
      'find it by its database': async () =>
        assert.deepEqual(ids((await db.dbrps.getDBRPs({ orgID: s.org, db: 'telegraf' })).content), [s.id]),
      'no other database is mapped': async () =>
        assert.deepEqual((await db.dbrps.getDBRPs({ orgID: s.org, db: 'collectd' })).content ?? [], []),
      unmap: async () => db.dbrps.deleteDBRPID({ dbrpID: s.id, orgID: s.org }),
      'nothing is mapped': async () =>
        assert.deepEqual((await db.dbrps.getDBRPs({ orgID: s.org, db: 'telegraf' })).content ?? [], []),
    }),
    'a wrong request': (db, s) => ({
      'a bucket needs a name': async () => {
        await org(db, s);
        const body = { orgID: s.org, retentionRules: [] } as unknown as Parameters<BucketsAPI['postBuckets']>[0]['body'];
        await refused(db.buckets.postBuckets({ body }), 400, 422);
      },
      'a task needs a script': async () => {
        const body = { orgID: s.org } as unknown as Parameters<TasksAPI['postTasks']>[0]['body'];
        await refused(db.tasks.postTasks({ body }), 400, 422);
      },
      'a token has no such status': async () => {
        const body = { orgID: s.org, permissions: [], status: 'asleep' } as unknown as Parameters<
          AuthorizationsAPI['postAuthorizations']
        >[0]['body'];
        await refused(db.authorizations.postAuthorizations({ body }), 400, 422);
      },
      'nothing was made': async () => assert.deepEqual(ids((await db.tasks.getTasks({ orgID: s.org })).tasks), []),
    }),
    'health, and a password that is refused': (db) => ({
      'the server is well': async () => assert.ok(['pass', 'fail'].includes((await db.health.getHealth()).status)),
      'nobody signs in': async () => {
        await refused(db.signin.postSignin({ auth: { user: 'nobody', password: 'nothing' } }), 401);
      },
    }),
  },
  strict: ['health, and a password that is refused'],
};
