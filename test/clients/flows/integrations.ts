import assert from 'node:assert/strict';
import { auth, integrations, type integrations_v1alpha } from 'googleapis/build/src/apis/integrations/index.js';
import { given, once, type Place, pages, refused, type State, type Vendor } from '../kit.ts';

type Client = integrations_v1alpha.Resource$Projects$Locations;
type Version = integrations_v1alpha.Schema$GoogleCloudIntegrationsV1alphaIntegrationVersion;
type AuthConfig = integrations_v1alpha.Schema$GoogleCloudIntegrationsV1alphaAuthConfig;
type Execute = integrations_v1alpha.Schema$GoogleCloudIntegrationsV1alphaExecuteIntegrationsRequest;
type Paged = { readonly pageToken?: string };

/**
 * The client has the methods of v1 under v1alpha, with the same messages: a hook of its own transport sends them to v1,
 * as the description has it. `rootUrl` is the client's own option; it would ask again where it finds the server broken.
 */
const connect = (place: Place, token: string): Client => {
  const credential = new auth.OAuth2();
  credential.setCredentials({ access_token: token });
  credential.transporter.interceptors.request.add({
    resolved: async (request) => {
      request.url = new URL(String(request.url).replace('/v1alpha/', '/v1/'));
      return request;
    },
  });
  return integrations({ version: 'v1alpha', auth: credential, rootUrl: `${place.url}/`, retry: false }).projects.locations;
};

/** A project is made by another service, and its location was provisioned. */
const parent = 'projects/my-project/locations/us-central1';
const at = (id: string): string => `${parent}/integrations/${id}`;
const product = `${parent}/products/apigee`;

/** An integration that copies its input to its output, when its API trigger is called. */
const copying = (id: string): Version => ({
  description: `Copies what it is told (${id})`,
  triggerConfigs: [
    {
      label: 'API Trigger',
      triggerType: 'API',
      triggerNumber: '1',
      triggerId: `api_trigger/${id}`,
      properties: { 'Trigger name': id },
      startTasks: [{ taskId: '1' }],
    },
  ],
  taskConfigs: [{ task: 'FieldMappingTask', taskId: '1', displayName: 'Copy', nextTasksExecutionPolicy: 'RUN_ALL_MATCH' }],
  integrationParameters: [
    { key: 'said', dataType: 'STRING_VALUE', displayName: 'said', inputOutputType: 'IN' },
    { key: 'heard', dataType: 'STRING_VALUE', displayName: 'heard', inputOutputType: 'OUT' },
  ],
});
const version = async (c: Client, id: string, more: Version = {}, newIntegration = true): Promise<Version> =>
  (await c.integrations.versions.create({ parent: at(id), newIntegration, requestBody: { ...copying(id), ...more } })).data;
const publish = (c: Client, name: string) => c.integrations.versions.publish({ name, requestBody: {} });
const stateOf = async (c: Client, name: string) => (await c.integrations.versions.get({ name })).data.state;
const published = async (c: Client, s: State, id: string): Promise<void> => {
  s.version = given((await version(c, id)).name, 'name');
  await publish(c, s.version);
};
const names = (rows: readonly { readonly name?: string | null }[]): string[] => rows.map(({ name }) => given(name, 'name'));
const paged = (pageToken: string | undefined): Paged => (pageToken === undefined ? {} : { pageToken });
interface Asked {
  readonly filter?: string;
  readonly orderBy?: string;
  readonly pageSize?: number;
}
const versions = (c: Client, id: string, more: Asked = {}): Promise<Version[]> =>
  pages(
    async (from) => (await c.integrations.versions.list({ parent: at(id), ...more, ...paged(from) })).data,
    ({ integrationVersions }) => integrationVersions ?? [],
    ({ nextPageToken }) => nextPageToken || undefined,
  );
const all = (c: Client) =>
  pages(
    async (from) => (await c.integrations.list({ parent, ...paged(from) })).data,
    ({ integrations }) => integrations ?? [],
    ({ nextPageToken }) => nextPageToken || undefined,
  );
const run = async (c: Client, id: string, more: Execute = {}) =>
  (await c.integrations.execute({ name: at(id), requestBody: { triggerId: `api_trigger/${id}`, ...more } })).data;
const executions = async (c: Client, id: string): Promise<string[]> =>
  names((await c.integrations.executions.list({ parent: at(id) })).data.executions ?? []);
/** The log of executions is written a little later: it is asked for until it is so, for less than a step may last. */
const eventually = async (so: () => Promise<boolean>, what: string): Promise<void> => {
  for (let turn = 0; turn < 30; turn += 1) {
    if (await so()) return;
    await new Promise((go) => setTimeout(go, 400));
  }
  throw new Error(what);
};
const password: AuthConfig = {
  displayName: 'billing-login',
  description: 'Logs in at the billing system',
  visibility: 'CLIENT_VISIBLE',
  credentialType: 'USERNAME_AND_PASSWORD',
  decryptedCredential: { credentialType: 'USERNAME_AND_PASSWORD', usernameAndPassword: { username: 'ann', password: 's3cret' } },
};
const login = async (c: Client, displayName: string, more: AuthConfig = {}): Promise<AuthConfig> =>
  (await c.authConfigs.create({ parent, requestBody: { ...password, displayName, ...more } })).data;
const logins = (c: Client, more: Asked = {}): Promise<AuthConfig[]> =>
  pages(
    async (from) => (await c.authConfigs.list({ parent, ...more, ...paged(from) })).data,
    ({ authConfigs }) => authConfigs ?? [],
    ({ nextPageToken }) => nextPageToken || undefined,
  );
const salesforce = async (c: Client, displayName: string): Promise<string> => {
  const requestBody = { displayName, sfdcOrgId: '00D5e000000HEcP', serviceAuthority: 'https://contoso.my.salesforce.com' };
  return given((await c.sfdcInstances.create({ parent, requestBody })).data.name, 'name');
};
const channel = async (c: Client, within: string, displayName: string) =>
  (
    await c.sfdcInstances.sfdcChannels.create({
      parent: within,
      requestBody: { displayName, channelTopic: '/data/CaseChangeEvent' },
    })
  ).data;
const channels = async (c: Client, within: string): Promise<string[]> =>
  names((await c.sfdcInstances.sfdcChannels.list({ parent: within })).data.sfdcChannels ?? []);
const sslCertificate = `-----BEGIN CERTIFICATE-----
MIIBgzCCASmgAwIBAgIUHA4tdWa+BF/0GLbjn6LL8iLTTfwwCgYIKoZIzj0EAwIw
FzEVMBMGA1UEAwwMY29udG9zby50ZXN0MB4XDTI2MTEyODEwMzU0OFoXDTM2MTEy
NTEwMzU0OFowFzEVMBMGA1UEAwwMY29udG9zby50ZXN0MFkwEwYHKoZIzj0CAQYI
KoZIzj0DAQcDQgAEuDpy6WGXXyHMPX7TgtpdktRog5V3BrHUYZaPw+W21Jzxg7nk
m9DHvwfp6dHRDmEGM0ZpQiJteO1FSRlXTfX0iKNTMFEwHQYDVR0OBBYEFB+bmuzV
WcD/lCcC9z/J+zqpC1w7MB8GA1UdIwQYMBaAFB+bmuzVWcD/lCcC9z/J+zqpC1w7
MA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDSAAwRQIhAJOjdsxAub7nw+z3
wfX9lNGmWbQ/rCVBaN/+GWUiuPavAiBROBSNresNIvdBHBBm+f1+ovlN0p1jSIF2
oA5OoBE2Vg==
-----END CERTIFICATE-----
`;

/** Guide: cloud.google.com/application-integration/docs (versions, API trigger, authentication profiles) and its REST reference, v1. */
export const vendor: Vendor<Client> = {
  document: 'integrations/integrations.json',
  header: 'Authorization',
  word: 'Bearer',
  made: 'ya29.made-up',
  client: connect,
  strict: ['a credential that is refused'],
  flows: {
    'a version, from the first to the last day': (c, s) => ({
      'made as a draft': async () => {
        const made = await version(c, 'life-one', { userLabel: 'first' });
        s.name = given(made.name, 'name');
        assert.ok(s.name.startsWith(`${at('life-one')}/versions/`), s.name);
        assert.deepEqual([made.state, made.userLabel, made.description], ['DRAFT', 'first', copying('life-one').description]);
      },
      read: async () => {
        const { data } = await c.integrations.versions.get({ name: s.name });
        assert.partialDeepStrictEqual(data, { name: s.name, state: 'DRAFT', userLabel: 'first', ...copying('life-one') });
        given(data.createTime, 'createTime');
      },
      'is in the list': async () => assert.deepEqual(names(await versions(c, 'life-one')), [s.name]),
      'another description': async () => {
        const requestBody: Version = { description: 'Copies, and no more' };
        const { data } = await c.integrations.versions.patch({ name: s.name, updateMask: 'description', requestBody });
        assert.deepEqual([data.name, data.description], [s.name, 'Copies, and no more']);
      },
      'the rest stays': async () => {
        const { data } = await c.integrations.versions.get({ name: s.name });
        assert.deepEqual([data.description, data.state, data.userLabel], ['Copies, and no more', 'DRAFT', 'first']);
        assert.partialDeepStrictEqual(data.taskConfigs, copying('life-one').taskConfigs);
      },
      deleted: () => c.integrations.versions.delete({ name: s.name }),
      'no longer in the list': async () => assert.ok(!names(await versions(c, 'life-one')).includes(s.name), 'it is'),
    }),

    'a version is published and taken back': (c, s) => ({
      'a draft': async () => {
        s.name = given((await version(c, 'public-one')).name, 'name');
        assert.equal(await stateOf(c, s.name), 'DRAFT');
      },
      'a draft is not taken back': () => refused(c.integrations.versions.unpublish({ name: s.name, requestBody: {} }), 400),
      published: async () => {
        await publish(c, s.name);
        assert.equal(await stateOf(c, s.name), 'ACTIVE');
      },
      'not a second time': () => refused(publish(c, s.name), 400),
      'its integration is in use': async () => {
        const row = (await all(c)).find(({ name }) => name === at('public-one'));
        assert.equal(given(row, 'row').active, true);
      },
      'a published one is not changed': async () => {
        const requestBody: Version = { description: 'Sneaked' };
        await refused(c.integrations.versions.patch({ name: s.name, updateMask: 'description', requestBody }), 400);
        assert.equal((await c.integrations.versions.get({ name: s.name })).data.description, copying('public-one').description);
      },
      'taken back': async () => {
        await c.integrations.versions.unpublish({ name: s.name, requestBody: {} });
        assert.equal(await stateOf(c, s.name), 'SNAPSHOT');
      },
      'its integration is in use no more': async () => {
        const row = (await all(c)).find(({ name }) => name === at('public-one'));
        assert.equal(given(row, 'row').active ?? false, false);
      },
    }),

    'one version takes the place of another': (c, s) => ({
      'the first is published': () => published(c, s, 'next-one'),
      'a second is made': async () => {
        s.second = given((await version(c, 'next-one', { userLabel: 'second' }, false)).name, 'name');
        assert.notEqual(s.second, s.version);
      },
      'the first is published still': async () => {
        assert.equal(await stateOf(c, s.version), 'ACTIVE');
        assert.equal(await stateOf(c, s.second), 'DRAFT');
      },
      'the second is published': async () => {
        await publish(c, s.second);
        assert.equal(await stateOf(c, s.second), 'ACTIVE');
      },
      'the first is a snapshot': async () => assert.equal(await stateOf(c, s.version), 'SNAPSHOT'),
      'one alone is active': async () =>
        assert.deepEqual(names(await versions(c, 'next-one', { filter: 'state=ACTIVE' })), [s.second]),
      'the later has the higher number': async () => {
        const [one, two] = await Promise.all([s.version, s.second].map((name) => c.integrations.versions.get({ name })));
        assert.ok(
          Number(given(two?.data.snapshotNumber, 'number')) > Number(given(one?.data.snapshotNumber, 'number')),
          'it has not',
        );
      },
    }),

    'versions are listed, filtered and ordered': (c, s) => ({
      'three of one integration, one published': async () => {
        await published(c, s, 'many-one');
        s.two = given((await version(c, 'many-one', { userLabel: 'two', description: 'A test of two' }, false)).name, 'name');
        s.three = given((await version(c, 'many-one', { userLabel: 'three' }, false)).name, 'name');
      },
      'one of another': async () => {
        s.other = given((await version(c, 'many-two')).name, 'name');
      },
      'all of the one, two on a page': async () => {
        const rows = names(await versions(c, 'many-one', { pageSize: 2 }));
        once(rows, [s.version, s.two, s.three], 'versions');
        assert.ok(!rows.includes(s.other), 'it lists one of another integration');
      },
      'those of all integrations': async () =>
        once(names(await versions(c, '-')), [s.version, s.two, s.three, s.other], 'versions'),
      'by their state': async () => {
        assert.deepEqual(names(await versions(c, 'many-one', { filter: 'state=ACTIVE' })), [s.version]);
        assert.deepEqual(names(await versions(c, 'many-one', { filter: 'state=ACTIVE AND description:"two"' })), []);
      },
      'by a word of their description': async () =>
        assert.deepEqual(names(await versions(c, 'many-one', { filter: 'description:"test"' })), [s.two]),
      'the latest number first': async () => {
        const numbers = (await versions(c, 'many-one', { orderBy: 'snapshot_number' })).map(({ snapshotNumber }) =>
          Number(snapshotNumber),
        );
        assert.equal(numbers.length, 3);
        assert.deepEqual(
          numbers,
          numbers.toSorted((a, b) => b - a),
        );
      },
    }),

    'a second draft and the lock of editing': (c, s) => ({
      'a draft': async () => {
        s.first = given((await version(c, 'locked-one')).name, 'name');
      },
      'is taken over, which makes another': async () => {
        const { data } = await c.integrations.versions.takeoverEditLock({ integrationVersion: s.first, requestBody: {} });
        const taken = given(data.integrationVersion, 'integrationVersion');
        s.second = given(taken.name, 'name');
        assert.deepEqual([taken.state, taken.description], ['DRAFT', copying('locked-one').description]);
      },
      'the new one is a draft': async () => assert.equal(await stateOf(c, s.second), 'DRAFT'),
      'a snapshot of what was is kept': async () => {
        const states = (await versions(c, 'locked-one')).map(({ state }) => state);
        assert.ok(states.includes('SNAPSHOT'), `${states}`);
      },
      'a published one is not taken over': async () => {
        await publish(c, s.second);
        await refused(c.integrations.versions.takeoverEditLock({ integrationVersion: s.second, requestBody: {} }), 400);
      },
    }),

    'a version is downloaded and uploaded': (c, s) => ({
      'a draft': async () => {
        s.name = given((await version(c, 'carried-one', { description: 'To be carried' })).name, 'name');
      },
      downloaded: async () => {
        const { data } = await c.integrations.versions.download({ name: s.name, fileFormat: 'JSON' });
        s.content = given(data.content, 'content');
        assert.equal((JSON.parse(s.content) as Version).description, 'To be carried');
      },
      'uploaded as another integration': async () => {
        const requestBody = { content: s.content, fileFormat: 'JSON' };
        const { data } = await c.integrations.versions.upload({ parent: at('carried-two'), requestBody });
        const made = given(data.integrationVersion, 'integrationVersion');
        s.copy = given(made.name, 'name');
        assert.ok(s.copy.startsWith(`${at('carried-two')}/versions/`), s.copy);
        assert.deepEqual([made.state, made.description], ['DRAFT', 'To be carried']);
      },
      'it is read with all that it had': async () => {
        const { data } = await c.integrations.versions.get({ name: s.copy });
        assert.partialDeepStrictEqual(data.integrationParameters, copying('carried-one').integrationParameters);
      },
      'each is listed by itself': async () => {
        assert.deepEqual(names(await versions(c, 'carried-one')), [s.name]);
        assert.deepEqual(names(await versions(c, 'carried-two')), [s.copy]);
      },
      'what is no version is not taken': () =>
        refused(
          c.integrations.versions.upload({
            parent: at('carried-three'),
            requestBody: { content: '{not json', fileFormat: 'JSON' },
          }),
          400,
        ),
    }),

    'integrations of a location': (c, s) => ({
      'two, one published': async () => {
        await published(c, s, 'listed-one');
        await version(c, 'listed-two');
      },
      'both are listed, each once': async () => once(names(await all(c)), [at('listed-one'), at('listed-two')], 'integrations'),
      'one on a page too': async () => {
        const rows = await pages(
          async (from) => (await c.integrations.list({ parent, pageSize: 1, ...paged(from) })).data,
          ({ integrations }) => integrations ?? [],
          ({ nextPageToken }) => nextPageToken || undefined,
        );
        once(names(rows), [at('listed-one'), at('listed-two')], 'integrations');
      },
      'one is in use': async () => {
        const rows = await all(c);
        assert.equal(rows.find(({ name }) => name === at('listed-one'))?.active, true);
        assert.equal(rows.find(({ name }) => name === at('listed-two'))?.active ?? false, false);
      },
      'a second version makes no second integration': async () => {
        await version(c, 'listed-two', {}, false);
        once(names(await all(c)), [at('listed-two')], 'integrations');
      },
      'those of another location are others': async () => {
        const { data } = await c.integrations.list({ parent: 'projects/my-project/locations/europe-west1' });
        assert.ok(!names(data.integrations ?? []).some((name) => name.startsWith(parent)), 'they are listed');
      },
    }),

    'an integration is executed': (c, s) => ({
      'a draft is not': async () => {
        s.draft = given((await version(c, 'run-one')).name, 'name');
        await refused(run(c, 'run-one'), 400, 404);
      },
      'the published one is': async () => {
        await publish(c, s.draft);
        const answer = await run(c, 'run-one', { inputParameters: { said: { stringValue: 'hello' } } });
        s.execution = given(answer.executionId, 'executionId');
        assert.equal(answer.executionFailed ?? false, false);
      },
      'each time anew': async () => {
        s.again = given((await run(c, 'run-one')).executionId, 'executionId');
        assert.notEqual(s.again, s.execution);
      },
      'one request is executed once': async () => {
        const requestId = 'b1f5a2c0-7f0e-4f57-9a5b-0d5a6b2f6c11';
        const first = given((await run(c, 'run-one', { requestId })).executionId, 'executionId');
        assert.equal((await run(c, 'run-one', { requestId })).executionId, first);
      },
      'both are in the log': () =>
        eventually(async () => {
          const rows = await executions(c, 'run-one');
          return [s.execution, s.again].every((id) => rows.includes(`${at('run-one')}/executions/${id}`));
        }, 'they are not'),
      'no trigger that there is not': () => refused(run(c, 'run-one', { triggerId: 'api_trigger/nowhere' }), 400, 404),
    }),

    'an integration is scheduled': (c, s) => ({
      'a published one': () => published(c, s, 'later-one'),
      scheduled: async () => {
        const requestBody = {
          triggerId: 'api_trigger/later-one',
          scheduleTime: new Date(Date.now() + 3_600_000).toISOString(),
          inputParameters: { said: { stringValue: 'later' } },
        };
        const { data } = await c.integrations.schedule({ name: at('later-one'), requestBody });
        s.id = given(given(data.executionInfoIds, 'executionInfoIds')[0], 'first');
      },
      'at once, it is another': async () => {
        const { data } = await c.integrations.schedule({
          name: at('later-one'),
          requestBody: { triggerId: 'api_trigger/later-one' },
        });
        assert.notEqual(given(given(data.executionInfoIds, 'executionInfoIds')[0], 'first'), s.id);
      },
      'not without a trigger': () => refused(c.integrations.schedule({ name: at('later-one'), requestBody: {} }), 400),
    }),

    'an authentication profile, from the first to the last day': (c, s) => ({
      made: async () => {
        const made = await login(c, 'life-login');
        s.name = given(made.name, 'name');
        assert.ok(s.name.startsWith(`${parent}/authConfigs/`), s.name);
        assert.deepEqual(
          [made.displayName, made.credentialType, made.visibility],
          ['life-login', 'USERNAME_AND_PASSWORD', 'CLIENT_VISIBLE'],
        );
      },
      read: async () => {
        const { data } = await c.authConfigs.get({ name: s.name });
        assert.deepEqual([data.name, data.displayName, data.description], [s.name, 'life-login', password.description]);
        given(data.createTime, 'createTime');
      },
      'is in the list': async () => once(names(await logins(c)), [s.name], 'profiles'),
      'another name': async () => {
        const requestBody: AuthConfig = { displayName: 'life-renamed', description: 'not asked for' };
        const { data } = await c.authConfigs.patch({ name: s.name, updateMask: 'displayName', requestBody });
        assert.deepEqual([data.name, data.displayName], [s.name, 'life-renamed']);
      },
      'the rest stays': async () => {
        const { data } = await c.authConfigs.get({ name: s.name });
        assert.deepEqual(
          [data.displayName, data.description, data.visibility],
          ['life-renamed', password.description, 'CLIENT_VISIBLE'],
        );
      },
      deleted: () => c.authConfigs.delete({ name: s.name }),
      gone: () => refused(c.authConfigs.get({ name: s.name }), 404),
      'no longer in the list': async () => assert.ok(!names(await logins(c)).includes(s.name), 'it is'),
    }),

    'authentication profiles through all pages': (c, s) => ({
      'four, one of another kind': async () => {
        for (const id of ['a', 'b', 'c']) s[id] = given((await login(c, `page-${id}`)).name, 'name');
        const decryptedCredential = { credentialType: 'AUTH_TOKEN', authToken: { type: 'Bearer', token: 'made-up' } };
        s.d = given((await login(c, 'page-d', { credentialType: 'AUTH_TOKEN', decryptedCredential })).name, 'name');
      },
      'no more on a page than asked for': async () => {
        const { data } = await c.authConfigs.list({ parent, pageSize: 2 });
        assert.ok(given(data.authConfigs, 'authConfigs').length <= 2, 'more than two');
        given(data.nextPageToken || undefined, 'next page token');
      },
      'all of them, each once': async () => once(names(await logins(c, { pageSize: 2 })), [s.a, s.b, s.c, s.d], 'profiles'),
      'by their name': async () => assert.deepEqual(names(await logins(c, { filter: 'displayName = "page-b"' })), [s.b]),
      'by their kind': async () => {
        const rows = names(await logins(c, { filter: 'credentialType = "AUTH_TOKEN"' }));
        once(rows, [s.d], 'profiles');
        assert.ok(!rows.includes(s.a), 'a password is listed');
      },
      'no more of each than asked for': async () => {
        const { data } = await c.authConfigs.list({ parent, readMask: 'name,displayName' });
        const row = given(data.authConfigs, 'authConfigs').find(({ name }) => name === s.c);
        assert.deepEqual(row, { name: s.c, displayName: 'page-c' });
      },
    }),

    'a certificate, from the first to the last day': (c, s) => ({
      made: async () => {
        const requestBody = { displayName: 'contoso', description: 'of contoso.test', rawCertificate: { sslCertificate } };
        const { data } = await c.products.certificates.create({ parent: product, requestBody });
        s.name = given(data.name, 'name');
        assert.deepEqual([data.displayName, data.description, data.rawCertificate], ['contoso', 'of contoso.test', undefined]);
      },
      read: async () => {
        const { data } = await c.products.certificates.get({ name: s.name });
        assert.deepEqual([data.name, data.displayName, data.certificateStatus], [s.name, 'contoso', 'ACTIVE']);
        assert.ok(Date.parse(given(data.validEndTime, 'validEndTime')) > Date.now(), 'it has ended');
      },
      'is in the list': async () =>
        once(names((await c.products.certificates.list({ parent: product })).data.certificates ?? []), [s.name], 'certificates'),
      'another description': async () => {
        const requestBody = { description: 'of contoso' };
        const { data } = await c.products.certificates.patch({ name: s.name, updateMask: 'description', requestBody });
        assert.deepEqual([data.description, data.displayName], ['of contoso', 'contoso']);
      },
      deleted: () => c.products.certificates.delete({ name: s.name }),
      gone: () => refused(c.products.certificates.get({ name: s.name }), 404),
    }),

    'Salesforce instances and their channels': (c, s) => ({
      'two instances': async () => {
        s.one = await salesforce(c, 'sales-one');
        s.two = await salesforce(c, 'sales-two');
        once(names((await c.sfdcInstances.list({ parent })).data.sfdcInstances ?? []), [s.one, s.two], 'instances');
      },
      'one is read': async () => {
        const { data } = await c.sfdcInstances.get({ name: s.one });
        assert.deepEqual([data.name, data.displayName, data.sfdcOrgId], [s.one, 'sales-one', '00D5e000000HEcP']);
      },
      'a channel of it, which none uses yet': async () => {
        const made = await channel(c, s.one, 'cases');
        s.channel = given(made.name, 'name');
        assert.ok(s.channel.startsWith(`${s.one}/sfdcChannels/`), s.channel);
        assert.deepEqual(
          [made.displayName, made.channelTopic, made.isActive ?? false],
          ['cases', '/data/CaseChangeEvent', false],
        );
      },
      'the other has none': async () => {
        assert.deepEqual(await channels(c, s.one), [s.channel]);
        assert.deepEqual(await channels(c, s.two), []);
      },
      'another name of each': async () => {
        const one = await c.sfdcInstances.patch({
          name: s.one,
          updateMask: 'displayName',
          requestBody: { displayName: 'sales-new' },
        });
        assert.deepEqual([one.data.displayName, one.data.sfdcOrgId], ['sales-new', '00D5e000000HEcP']);
        const requestBody = { displayName: 'all-cases' };
        const two = await c.sfdcInstances.sfdcChannels.patch({ name: s.channel, updateMask: 'displayName', requestBody });
        assert.deepEqual([two.data.displayName, two.data.channelTopic], ['all-cases', '/data/CaseChangeEvent']);
      },
      'the channel is deleted': async () => {
        await c.sfdcInstances.sfdcChannels.delete({ name: s.channel });
        await refused(c.sfdcInstances.sfdcChannels.get({ name: s.channel }), 404);
        assert.deepEqual(await channels(c, s.one), []);
      },
      'an instance is deleted': async () => {
        await c.sfdcInstances.delete({ name: s.two });
        await refused(c.sfdcInstances.get({ name: s.two }), 404);
        assert.equal((await c.sfdcInstances.get({ name: s.one })).data.displayName, 'sales-new');
      },
    }),

    'wrong requests': (c, s) => ({
      'a trigger of no known type': () =>
        refused(version(c, 'wrong-one', { triggerConfigs: [{ triggerType: 'TELEPATHY', triggerNumber: '1' }] }), 400),
      'it was not made': async () => assert.ok(!names(await all(c)).includes(at('wrong-one')), 'it was'),
      'a profile of no known kind': () => refused(login(c, 'wrong-login', { credentialType: 'HANDSHAKE' }), 400),
      'nor was that': async () =>
        assert.ok(!(await logins(c)).some(({ displayName }) => displayName === 'wrong-login'), 'it was'),
      'a change of a field that there is not': async () => {
        s.name = given((await login(c, 'wrong-mask')).name, 'name');
        await refused(
          c.authConfigs.patch({ name: s.name, updateMask: 'shoeSize', requestBody: { displayName: 'changed' } }),
          400,
        );
        assert.equal((await c.authConfigs.get({ name: s.name })).data.displayName, 'wrong-mask');
      },
      'an execution without a trigger': async () => {
        await published(c, s, 'wrong-run');
        await refused(c.integrations.execute({ name: at('wrong-run'), requestBody: {} }), 400);
      },
      'a page that no answer told of': () => refused(c.authConfigs.list({ parent, pageToken: 'no-such-token!' }), 400),
    }),

    'what is not there': (c) => ({
      'a version': () => refused(c.integrations.versions.get({ name: `${at('nowhere')}/versions/1b3c` }), 404),
      'publishing it': () => refused(publish(c, `${at('nowhere')}/versions/1b3c`), 404),
      'downloading it': () => refused(c.integrations.versions.download({ name: `${at('nowhere')}/versions/1b3c` }), 404),
      'a profile, and changing it': async () => {
        const name = `${parent}/authConfigs/nowhere`;
        await refused(c.authConfigs.get({ name }), 404);
        await refused(c.authConfigs.patch({ name, updateMask: 'displayName', requestBody: { displayName: 'x' } }), 404);
      },
      'deleting it': () => refused(c.authConfigs.delete({ name: `${parent}/authConfigs/nowhere` }), 404),
      'a Salesforce channel': () =>
        refused(c.sfdcInstances.sfdcChannels.get({ name: `${parent}/sfdcInstances/no/sfdcChannels/no` }), 404),
    }),

    'a credential that is refused': (c, s, another) => ({
      'a profile': async () => {
        s.name = given((await login(c, 'guarded')).name, 'name');
      },
      'not read by another': () => refused(another('ya29.no-one').authConfigs.get({ name: s.name }), 401),
      'not listed by another': () => refused(another('ya29.no-one').authConfigs.list({ parent }), 401),
      'no version by another': () => refused(version(another('ya29.no-one'), 'sneaked'), 401),
      'not deleted by another': () => refused(another('ya29.no-one').authConfigs.delete({ name: s.name }), 401),
      'it is still there, and alone': async () => {
        assert.equal((await c.authConfigs.get({ name: s.name })).data.displayName, 'guarded');
        assert.ok(!names(await all(c)).includes(at('sneaked')), 'the other made one');
      },
    }),
  },
};
