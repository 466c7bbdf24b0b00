import assert from 'node:assert/strict';
import {
  assuredworkloads,
  type assuredworkloads_v1beta1,
  auth as google,
} from 'googleapis/build/src/apis/assuredworkloads/index.js';
import { given, once, type Place, pages, refused, type Vendor } from '../kit.ts';

type Workload = assuredworkloads_v1beta1.Schema$GoogleCloudAssuredworkloadsV1beta1Workload;
type Violation = assuredworkloads_v1beta1.Schema$GoogleCloudAssuredworkloadsV1beta1Violation;
type Operation = assuredworkloads_v1beta1.Schema$GoogleLongrunningOperation;
type Assured = assuredworkloads_v1beta1.Assuredworkloads;

const connect = (place: Place, token: string): Assured => {
  const auth = new google.OAuth2();
  auth.setCredentials({ access_token: token });
  return assuredworkloads({ version: 'v1beta1', auth, rootUrl: `${place.url}/`, retry: false });
};

/** Organizations, folders, projects and billing accounts belong to other services: these are there before. */
const us = 'organizations/123456789012/locations/us-central1';
const eu = 'organizations/123456789012/locations/europe-west4';
const elsewhere = 'organizations/998877665544/locations/us-central1';
const billingAccount = 'billingAccounts/012345-567890-ABCDEF';
const provisionedResourcesParent = 'folders/519620126891';
const nowhere = `${us}/workloads/00-dead4000-8000-4000-beef-000000000000`;

const workloads = (a: Assured) => a.organizations.locations.workloads;
const workloadOf = (displayName: string, more: Workload = {}): Workload => ({
  displayName,
  complianceRegime: 'FEDRAMP_MODERATE',
  billingAccount,
  ...more,
});
/** An operation is looked at until it is done, ten times at the most. */
const done = async (a: Assured, begun: Operation): Promise<Operation> => {
  let operation = begun;
  for (let turn = 0; turn < 10 && operation.done !== true; turn += 1) {
    await new Promise((go) => setTimeout(go, 150));
    operation = (await a.organizations.locations.operations.get({ name: given(begun.name, 'name of the operation') })).data;
  }
  assert.equal(operation.done, true, 'the operation is not done after ten looks');
  assert.equal(operation.error, undefined, `the operation failed: ${operation.error?.message}`);
  return operation;
};
const begin = async (
  a: Assured,
  displayName: string,
  more: Workload = {},
  parent = us,
  externalId?: string,
): Promise<Operation> =>
  (
    await workloads(a).create({
      parent,
      requestBody: workloadOf(displayName, more),
      ...(externalId !== undefined && { externalId }),
    })
  ).data;
/** Makes a workload, and gives its name back. */
const make = async (a: Assured, displayName: string, more: Workload = {}, parent = us, externalId?: string): Promise<string> => {
  const { response } = await done(a, await begin(a, displayName, more, parent, externalId));
  return given((response as Workload | undefined)?.name, 'name of the workload');
};
const get = async (a: Assured, name: string): Promise<Workload> => (await workloads(a).get({ name })).data;
const patch = async (a: Assured, name: string, updateMask: string, requestBody: Workload): Promise<Workload> =>
  (await workloads(a).patch({ name, updateMask, requestBody })).data;
const all = (a: Assured, asked: { parent?: string; filter?: string; pageSize?: number } = {}): Promise<Workload[]> =>
  pages(
    async (pageToken) => (await workloads(a).list({ parent: us, ...asked, ...(pageToken !== undefined && { pageToken }) })).data,
    (page) => page.workloads ?? [],
    (page) => page.nextPageToken || undefined,
  );
const names = (rows: readonly { name?: string | null }[]): string[] => rows.map((row) => given(row.name, 'name'));
const without = (rows: readonly string[], one: string): void => assert.ok(!rows.includes(one), `the list still has ${one}`);
const violations = (a: Assured, parent: string, pageSize = 100): Promise<Violation[]> =>
  pages(
    async (pageToken) =>
      (await workloads(a).violations.list({ parent, pageSize, ...(pageToken !== undefined && { pageToken }) })).data,
    (page) => page.violations ?? [],
    (page) => page.nextPageToken || undefined,
  );

/** Guide: cloud.google.com/assured-workloads/docs (create, monitor, restrict, migrate, delete) and its REST reference, v1beta1. */
export const vendor: Vendor<Assured> = {
  document: 'assuredworkloads/assuredworkloads.json',
  header: 'Authorization',
  word: 'Bearer',
  made: 'ya29.a0AfH6SMassuredWorkloadsAdministrator',
  client: connect,
  strict: ['a credential that is refused'],
  flows: {
    'a workload, from the first to the last day': (a, s) => ({
      made: async () => {
        s.name = await make(a, 'Life Workload');
        assert.match(s.name, /^organizations\/123456789012\/locations\/us-central1\/workloads\/[^/]+$/);
      },
      read: async () => {
        const read = await get(a, s.name);
        assert.deepEqual(
          [read.name, read.displayName, read.complianceRegime, read.billingAccount],
          [s.name, 'Life Workload', 'FEDRAMP_MODERATE', billingAccount],
        );
      },
      'it was made at some time, and has a tag of its state': async () => {
        const read = await get(a, s.name);
        assert.ok(Number.isFinite(Date.parse(given(read.createTime, 'createTime'))), 'it was made at no time');
        given(read.etag, 'etag');
      },
      'another name to show': async () => {
        const changed = await patch(a, s.name, 'displayName', { displayName: 'Life Workload 2' });
        assert.deepEqual([changed.name, changed.displayName], [s.name, 'Life Workload 2']);
        assert.equal((await get(a, s.name)).displayName, 'Life Workload 2');
      },
      'is in the list, once': async () => once(names(await all(a)), [s.name], 'workloads'),
      deleted: () => workloads(a).delete({ name: s.name }),
      gone: () => refused(get(a, s.name), 404),
      'no longer in the list': async () => without(names(await all(a)), s.name),
    }),

    'an operation makes it': (a, s) => ({
      begun: async () => {
        const begun = await begin(a, 'Slow Workload', { complianceRegime: 'FEDRAMP_HIGH' });
        s.operation = given(begun.name, 'name');
        assert.match(s.operation, /^organizations\/123456789012\/locations\/us-central1\/operations\/[^/]+$/);
      },
      'done after a while': async () => {
        const operation = await done(a, { name: s.operation });
        s.name = given((operation.response as Workload | undefined)?.name, 'name of the workload');
        assert.equal(operation.name, s.operation);
      },
      'what it made is what it answers': async () => {
        const { response } = await done(a, { name: s.operation });
        const read = await get(a, s.name);
        assert.deepEqual([response?.displayName, response?.complianceRegime], [read.displayName, read.complianceRegime]);
      },
      'it tells what was asked for': async () => {
        const { metadata } = await done(a, { name: s.operation });
        assert.deepEqual(
          [metadata?.displayName, metadata?.complianceRegime, metadata?.parent],
          ['Slow Workload', 'FEDRAMP_HIGH', us],
        );
      },
      'it is in the list of operations, once': async () => {
        const rows = await pages(
          async (pageToken) =>
            (await a.organizations.locations.operations.list({ name: us, ...(pageToken !== undefined && { pageToken }) })).data,
          (page) => page.operations ?? [],
          (page) => page.nextPageToken || undefined,
        );
        once(names(rows), [s.operation], 'operations');
      },
      'no operation of that name': () =>
        refused(a.organizations.locations.operations.get({ name: `${us}/operations/no-such-operation` }), 404),
    }),

    'workloads through all pages': (a, s) => ({
      'five are made, in no order': async () => {
        for (const letter of ['c', 'a', 'e', 'b', 'd']) s[letter] = await make(a, `Page Workload ${letter}`);
      },
      'no more on a page than asked for': async () => {
        const { data } = await workloads(a).list({ parent: us, pageSize: 2 });
        assert.ok(given(data.workloads, 'workloads').length <= 2, 'more than two');
        given(data.nextPageToken, 'nextPageToken');
      },
      'all of them, each once': async () => {
        const rows = names(await all(a, { pageSize: 2 }));
        once(rows, [...new Set([...rows, s.a, s.b, s.c, s.d, s.e])], 'workloads');
      },
      'the same on one large page': async () => {
        assert.deepEqual(names(await all(a, { pageSize: 100 })).sort(), names(await all(a, { pageSize: 2 })).sort());
      },
      'each with what it was made with': async () => {
        const row = (await all(a)).find(({ name }) => name === s.d);
        assert.deepEqual([row?.displayName, row?.complianceRegime], ['Page Workload d', 'FEDRAMP_MODERATE']);
      },
      'a token that nobody gave': () => refused(workloads(a).list({ parent: us, pageSize: 2, pageToken: 'no-such-token' }), 400),
      'one less': async () => {
        await workloads(a).delete({ name: s.b });
        const rows = names(await all(a, { pageSize: 2 }));
        without(rows, s.b);
        once(rows, [s.a, s.c, s.d, s.e], 'workloads');
      },
    }),

    'each place and each organization has its own': (a, s) => ({
      'one here, one in Europe, one of another organization': async () => {
        s.us = await make(a, 'Place Workload');
        s.eu = await make(
          a,
          'Place Workload EU',
          { complianceRegime: 'EU_REGIONS_AND_SUPPORT', enableSovereignControls: true },
          eu,
        );
        s.other = await make(a, 'Place Workload X', {}, elsewhere);
      },
      'each has a name below its place': async () => {
        assert.ok(s.us.startsWith(`${us}/workloads/`) && s.eu.startsWith(`${eu}/workloads/`), `${s.us} and ${s.eu}`);
        assert.ok(s.other.startsWith(`${elsewhere}/workloads/`), s.other);
        assert.equal((await get(a, s.other)).name, s.other);
      },
      'the list of each has its own': async () => {
        const here = names(await all(a));
        const there = names(await all(a, { parent: eu }));
        once(here, [s.us], 'workloads');
        once(there, [s.eu], 'workloads');
        without(here, s.eu);
        without(there, s.us);
      },
      'so has the other organization': async () => {
        const rows = names(await all(a, { parent: elsewhere }));
        once(rows, [s.other], 'workloads');
        without(rows, s.us);
      },
      'that of Europe is sovereign': async () => {
        const read = await get(a, s.eu);
        assert.deepEqual([read.complianceRegime, read.enableSovereignControls], ['EU_REGIONS_AND_SUPPORT', true]);
      },
      'an id of one place is not known in another': () => refused(get(a, `${eu}/workloads/${s.us.split('/').at(-1)}`), 404),
    }),

    'labels, and a filter by them': (a, s) => ({
      'made with labels': async () => {
        s.pay = await make(a, 'Label Workload 1', { labels: { team: 'payments', stage: 'prod' } });
        s.risk = await make(a, 'Label Workload 2', { labels: { team: 'risk' } });
        s.none = await make(a, 'Label Workload 3');
        assert.deepEqual((await get(a, s.pay)).labels, { team: 'payments', stage: 'prod' });
      },
      'only those of one team': async () => {
        const rows = names(await all(a, { filter: 'labels.team=payments' }));
        once(rows, [s.pay], 'workloads');
        without(rows, s.risk);
        without(rows, s.none);
      },
      'changed alone': async () => {
        const changed = await patch(a, s.risk, 'labels', { labels: { team: 'payments', stage: 'test' } });
        assert.deepEqual([changed.labels, changed.displayName], [{ team: 'payments', stage: 'test' }, 'Label Workload 2']);
      },
      'now there are two of the team': async () => {
        const rows = names(await all(a, { filter: 'labels.team=payments' }));
        once(rows, [s.pay, s.risk], 'workloads');
      },
      'none of a team that is not there': async () => {
        const rows = names(await all(a, { filter: 'labels.team=astrology' }));
        for (const name of [s.pay, s.risk, s.none]) without(rows, name);
      },
      'no label is left': async () => {
        await patch(a, s.pay, 'labels', { labels: {} });
        assert.deepEqual((await get(a, s.pay)).labels ?? {}, {});
      },
    }),

    'only what the mask names is changed': (a, s) => ({
      made: async () => {
        s.name = await make(a, 'Mask Workload', { labels: { keep: 'me' } });
      },
      'of two fields the one that is named': async () => {
        await patch(a, s.name, 'displayName', { displayName: 'Mask Workload 2', labels: { not: 'me' } });
        const read = await get(a, s.name);
        assert.deepEqual([read.displayName, read.labels], ['Mask Workload 2', { keep: 'me' }]);
      },
      'both, when both are named': async () => {
        await patch(a, s.name, 'displayName,labels', { displayName: 'Mask Workload 3', labels: { now: 'both' } });
        const read = await get(a, s.name);
        assert.deepEqual([read.displayName, read.labels], ['Mask Workload 3', { now: 'both' }]);
      },
      'in the words of the protocol too': async () => {
        await patch(a, s.name, 'display_name', { displayName: 'Mask Workload 4' });
        assert.equal((await get(a, s.name)).displayName, 'Mask Workload 4');
      },
      'a mask that names what is not there': () => refused(patch(a, s.name, 'colour', { displayName: 'Mask Workload 5' }), 400),
      'no mask at all': () => refused(workloads(a).patch({ name: s.name, requestBody: { displayName: 'Mask Workload 6' } }), 400),
      'the regime stays what it was': async () => {
        await refused(patch(a, s.name, 'complianceRegime', { complianceRegime: 'CJIS' }), 400);
        const read = await get(a, s.name);
        assert.deepEqual([read.complianceRegime, read.displayName], ['FEDRAMP_MODERATE', 'Mask Workload 4']);
      },
    }),

    'a conflict of two who change the same': (a, s) => ({
      made: async () => {
        s.name = await make(a, 'Etag Workload');
        s.first = given((await get(a, s.name)).etag, 'etag');
      },
      'one changes it, with the tag that was read': async () => {
        const changed = await patch(a, s.name, 'displayName', { displayName: 'Etag Workload 2', etag: s.first });
        assert.equal(changed.displayName, 'Etag Workload 2');
      },
      'its state has another tag': async () => {
        s.second = given((await get(a, s.name)).etag, 'etag');
        assert.notEqual(s.second, s.first);
      },
      'the other comes too late': async () => {
        await refused(patch(a, s.name, 'displayName', { displayName: 'Etag Workload 3', etag: s.first }), 400, 409, 412);
        assert.equal((await get(a, s.name)).displayName, 'Etag Workload 2');
      },
      'without a tag it is forced': async () => {
        await patch(a, s.name, 'displayName', { displayName: 'Etag Workload 4' });
        assert.equal((await get(a, s.name)).displayName, 'Etag Workload 4');
      },
      'not deleted with an old tag': async () => {
        await refused(workloads(a).delete({ name: s.name, etag: s.first }), 400, 409, 412);
        assert.equal((await get(a, s.name)).name, s.name);
      },
      'deleted with its own': async () => {
        const etag = given((await get(a, s.name)).etag, 'etag');
        await workloads(a).delete({ name: s.name, etag });
        await refused(get(a, s.name), 404);
      },
    }),

    'the resources of a workload': (a, s) => ({
      'made with settings for its folder and its key ring': async () => {
        s.name = await make(a, 'Resource Workload', {
          provisionedResourcesParent,
          resourceSettings: [
            { resourceType: 'CONSUMER_FOLDER', displayName: 'Regulated' },
            { resourceType: 'ENCRYPTION_KEYS_PROJECT', resourceId: 'regulated-keys-1', displayName: 'Regulated keys' },
            { resourceType: 'KEYRING', resourceId: 'regulated-ring' },
          ],
        });
      },
      'it has a folder': async () => {
        const { resources } = await get(a, s.name);
        const folder = (resources ?? []).find(({ resourceType }) => resourceType === 'CONSUMER_FOLDER');
        given(folder?.resourceId, 'id of the folder');
      },
      'and a project for its keys': async () => {
        const { resources } = await get(a, s.name);
        assert.ok(
          (resources ?? []).some(({ resourceType }) => resourceType === 'ENCRYPTION_KEYS_PROJECT'),
          'it has none',
        );
      },
      'what is only given is not read': async () => {
        const read = await get(a, s.name);
        assert.deepEqual([read.provisionedResourcesParent, read.resourceSettings ?? []], [undefined, []]);
      },
      'nothing is violated yet': async () => {
        const { complianceStatus } = await get(a, s.name);
        assert.deepEqual(
          [complianceStatus?.activeViolationCount ?? 0, complianceStatus?.acknowledgedViolationCount ?? 0],
          [0, 0],
        );
      },
      'what the service decides is not taken from the caller': async () => {
        const name = await make(a, 'Forged Workload', {
          resourceMonitoringEnabled: true,
          createTime: '2001-01-01T00:00:00Z',
          name: nowhere,
        });
        const read = await get(a, name);
        assert.deepEqual([read.resourceMonitoringEnabled ?? false, read.createTime?.startsWith('2001')], [false, false]);
        assert.notEqual(read.name, nowhere);
      },
    }),

    'an identifier for the bill': (a, s) => ({
      'made with one': async () => {
        s.name = await make(a, 'Billed Workload', {}, us, 'cost-center-4711');
      },
      'it is a label': async () => {
        const { labels } = await get(a, s.name);
        assert.ok(Object.values(labels ?? {}).includes('cost-center-4711'), 'it is no label');
      },
      'beside those that were given': async () => {
        s.both = await make(a, 'Billed Workload 2', { labels: { team: 'payments' } }, us, 'cost-center-4712');
        const { labels } = await get(a, s.both);
        assert.equal(labels?.team, 'payments');
        assert.ok(Object.values(labels ?? {}).includes('cost-center-4712'), 'it is no label');
      },
      'its account is the one given': async () => assert.equal((await get(a, s.name)).billingAccount, billingAccount),
      'both are in the list': async () => once(names(await all(a)), [s.name, s.both], 'workloads'),
    }),

    'mail about violations': (a, s) => ({
      'switched on for whoever makes one, whatever is asked for': async () => {
        s.name = await make(a, 'Mail Workload', { violationNotificationsEnabled: false });
        assert.notEqual((await get(a, s.name)).violationNotificationsEnabled, false);
      },
      'switched off by a change': async () => {
        await patch(a, s.name, 'violationNotificationsEnabled', { violationNotificationsEnabled: false });
        assert.notEqual((await get(a, s.name)).violationNotificationsEnabled, true);
      },
      'all else stayed': async () => {
        const read = await get(a, s.name);
        assert.deepEqual([read.displayName, read.complianceRegime], ['Mail Workload', 'FEDRAMP_MODERATE']);
      },
      'and on again': async () => {
        await patch(a, s.name, 'violationNotificationsEnabled', { violationNotificationsEnabled: true });
        assert.notEqual((await get(a, s.name)).violationNotificationsEnabled, false);
      },
    }),

    'resources are watched': (a, s) => ({
      'not at first': async () => {
        s.name = await make(a, 'Watched Workload');
        s.not = await make(a, 'Unwatched Workload');
        assert.equal((await get(a, s.name)).resourceMonitoringEnabled ?? false, false);
      },
      'switched on': async () => {
        const { data } = await workloads(a).enableResourceMonitoring({ name: s.name });
        assert.deepEqual(data, {});
      },
      'it is on': async () => assert.equal((await get(a, s.name)).resourceMonitoringEnabled, true),
      'the list says so too': async () => {
        const rows = await all(a);
        assert.equal(rows.find(({ name }) => name === s.name)?.resourceMonitoringEnabled, true);
      },
      'the other is not watched': async () => assert.equal((await get(a, s.not)).resourceMonitoringEnabled ?? false, false),
      'nor what is not there': () => refused(workloads(a).enableResourceMonitoring({ name: nowhere }), 404),
    }),

    'which services are allowed': (a, s) => ({
      made: async () => {
        s.name = await make(a, 'Strict Workload');
      },
      'only those that comply': async () => {
        const restrictionType = 'ALLOW_COMPLIANT_RESOURCES';
        const { data } = await workloads(a).restrictAllowedResources({ name: s.name, requestBody: { restrictionType } });
        assert.deepEqual(data, {});
      },
      'nothing that complies is kept away': async () =>
        assert.deepEqual((await get(a, s.name)).compliantButDisallowedServices ?? [], []),
      'all of them': async () => {
        const restrictionType = 'ALLOW_ALL_GCP_RESOURCES';
        await workloads(a).restrictAllowedResources({ name: s.name, requestBody: { restrictionType } });
      },
      'a restriction that nobody knows': () =>
        refused(workloads(a).restrictAllowedResources({ name: s.name, requestBody: { restrictionType: 'ALLOW_FRIENDS' } }), 400),
      'no restriction': () => refused(workloads(a).restrictAllowedResources({ name: s.name, requestBody: {} }), 400),
      'not of what is not there': () => {
        const restrictionType = 'ALLOW_COMPLIANT_RESOURCES';
        return refused(workloads(a).restrictAllowedResources({ name: nowhere, requestBody: { restrictionType } }), 404);
      },
    }),

    'what if a project were moved in': (a, s) => ({
      'a place to move to': async () => {
        s.name = await make(a, 'Target Workload', { complianceRegime: 'US_REGIONAL_ACCESS' });
      },
      analyzed: async () => {
        const { data } = await workloads(a).analyzeWorkloadMove({ target: s.name, project: 'projects/my-project-123' });
        assert.ok(Array.isArray(data.assetMoveAnalyses ?? []), 'it is no list');
      },
      'no more on a page than asked for': async () => {
        const asked = { target: s.name, project: 'projects/951040570662', pageSize: 1 };
        const { data } = await workloads(a).analyzeWorkloadMove(asked);
        assert.ok((data.assetMoveAnalyses ?? []).length <= 1, 'more than one');
      },
      'only of one kind': async () => {
        const kind = 'compute.googleapis.com/Disk';
        const asked = { target: s.name, project: 'projects/my-project-123', assetTypes: [kind] };
        const { data } = await workloads(a).analyzeWorkloadMove(asked);
        for (const { assetType } of data.assetMoveAnalyses ?? []) assert.equal(assetType, kind);
      },
      'nothing to move': () => refused(workloads(a).analyzeWorkloadMove({ target: s.name }), 400),
      'nowhere to move to': () =>
        refused(workloads(a).analyzeWorkloadMove({ target: nowhere, project: 'projects/my-project-123' }), 404),
      'nothing was moved': async () => assert.equal((await get(a, s.name)).displayName, 'Target Workload'),
    }),

    violations: (a, s) => ({
      'a new workload has none': async () => {
        s.name = await make(a, 'Clean Workload');
        assert.deepEqual(await violations(a, s.name), []);
      },
      'nor within a day': async () => {
        const { data } = await workloads(a).violations.list({
          parent: s.name,
          'interval.startTime': '2024-05-01T00:00:00Z',
          'interval.endTime': '2024-05-02T00:00:00Z',
        });
        assert.deepEqual(data.violations ?? [], []);
      },
      'all workloads at once': async () => {
        const rows = names(await violations(a, `${us}/workloads/-`));
        once(rows, [...new Set(rows)], 'violations');
        for (const name of rows) assert.ok(name.startsWith(`${us}/workloads/`), `${name} is of another place`);
      },
      'one that is there is acknowledged, for good': async () => {
        const row = (await violations(a, `${us}/workloads/-`)).find(({ acknowledged }) => acknowledged !== true);
        if (row === undefined) return;
        const name = given(row.name, 'name');
        await workloads(a).violations.acknowledge({ name, requestBody: { comment: 'Approved by the CISO, ticket 4711' } });
        const { data } = await workloads(a).violations.get({ name });
        assert.equal(data.acknowledged, true);
        given(data.acknowledgementTime, 'acknowledgementTime');
      },
      'one that is not there': () =>
        refused(workloads(a).violations.get({ name: `${s.name}/violations/no-such-violation` }), 404),
      'is not acknowledged': () =>
        refused(
          workloads(a).violations.acknowledge({
            name: `${s.name}/violations/no-such-violation`,
            requestBody: { comment: 'why not' },
          }),
          404,
        ),
      'nor without a reason': () =>
        refused(
          workloads(a).violations.acknowledge({ name: `${s.name}/violations/no-such-violation`, requestBody: {} }),
          400,
          404,
        ),
    }),

    'a credential that is refused': (a, s, another) => ({
      'a workload is made': async () => {
        s.name = await make(a, 'Guarded Workload');
      },
      'not read by another': () => refused(get(another('a-wrong-token'), s.name), 401, 403),
      'nor listed': () => refused(all(another('a-wrong-token')), 401, 403),
      'nothing is made by another': () => refused(begin(another('a-wrong-token'), 'Intruder Workload'), 401, 403),
      'nor changed': () =>
        refused(patch(another('a-wrong-token'), s.name, 'displayName', { displayName: 'Taken over' }), 401, 403),
      'nor deleted': () => refused(workloads(another('a-wrong-token')).delete({ name: s.name }), 401, 403),
      'it is still there, as it was, and alone': async () => {
        assert.equal((await get(a, s.name)).displayName, 'Guarded Workload');
        assert.ok(!(await all(a)).some(({ displayName }) => displayName === 'Intruder Workload'), 'the intruder made one');
      },
    }),

    'wrong requests, and what is not there': (a, s) => ({
      'a workload without a name to show': () =>
        refused(workloads(a).create({ parent: us, requestBody: { complianceRegime: 'FEDRAMP_MODERATE', billingAccount } }), 400),
      'a workload without a regime': () =>
        refused(workloads(a).create({ parent: us, requestBody: { displayName: 'Wrong Workload', billingAccount } }), 400),
      'a regime that nobody knows': () => refused(begin(a, 'Wrong Workload', { complianceRegime: 'PIRATE_CODE' }), 400),
      'names that are too short, too long, of wrong letters': async () => {
        await refused(begin(a, 'abc'), 400);
        await refused(begin(a, 'A workload of more than thirty letters'), 400);
        await refused(begin(a, 'Wrong_Workload!'), 400);
      },
      'a wrong change changes nothing': async () => {
        s.name = await make(a, 'Right Workload');
        await refused(patch(a, s.name, 'displayName', { displayName: 'no' }), 400);
        assert.equal((await get(a, s.name)).displayName, 'Right Workload');
      },
      'a page of less than nothing': () => refused(workloads(a).list({ parent: us, pageSize: -1 }), 400),
      'nothing of it was made': async () =>
        assert.ok(!(await all(a)).some(({ displayName }) => displayName?.startsWith('Wrong') === true), 'something was made'),
      'what is not there is neither read nor changed': async () => {
        await refused(get(a, nowhere), 404);
        await refused(patch(a, nowhere, 'displayName', { displayName: 'Late Workload' }), 404);
      },
      'nor deleted, the second time as well': async () => {
        await refused(workloads(a).delete({ name: nowhere }), 404);
        await workloads(a).delete({ name: s.name });
        await refused(workloads(a).delete({ name: s.name }), 404);
      },
    }),
  },
};
