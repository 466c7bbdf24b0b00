import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { given, once, type Place, refused, type State, type Vendor } from '../kit.ts';

type Named = { readonly id: string; readonly uid: string; readonly name: string };
type Collection = {
  readonly info: { readonly name: string; readonly description?: string };
  readonly item: readonly { readonly name: string; readonly request?: { readonly method: string } }[];
};
type Value = { readonly key: string; readonly value: string };
type Environment = Named & { readonly values: readonly Value[] };
type Workspace = {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly description?: string;
  readonly collections?: readonly Named[];
};
type Mock = Named & { readonly collection: string; readonly environment?: string; readonly mockUrl: string };
type Monitor = Named & {
  readonly collectionUid: string;
  readonly environmentUid?: string;
  readonly schedule: { readonly cron: string; readonly timezone: string };
};
type Api = { readonly id: string; readonly name: string; readonly summary: string; readonly description: string };
type Version = { readonly id: string; readonly name: string; readonly api: string; readonly schema?: readonly string[] };
type Schema = { readonly id: string; readonly type: string; readonly language: string; readonly apiVersion: string };

type Part = 'API' | 'APIVersion' | 'Collections' | 'Environments' | 'Mocks' | 'Monitors' | 'Schema' | 'User' | 'Workspaces';
type Done = (error: unknown, data: unknown, response: { readonly body: unknown }) => void;
type Operations = Readonly<Record<string, (...given: readonly unknown[]) => unknown>>;
type Address = { basePath: string; defaultHeaders: Record<string, string> };
/** Asks for what an operation of a part of the client gives, as it was answered. */
type Ask = <T>(part: Part, operation: string, ...given: readonly unknown[]) => Promise<T>;

const client = createRequire(import.meta.url)('postman-api-client') as Readonly<
  Record<`${Part}Api`, new (address: Address) => Operations> & { ApiClient: new () => Address }
>;

/** Each operation has the key among what it is given, most of them first; one has no place for it, so that a header that all have says it too. */
const keySecond = ['createAPI', 'getallAPIs', 'createaFork'];
const keyNowhere = ['deleteWorkspace'];

const connect = (place: Place, token: string): Ask => {
  const address = new client.ApiClient();
  address.basePath = place.base;
  address.defaultHeaders = { 'X-Api-Key': token };
  return <T>(part: Part, operation: string, ...asked: readonly unknown[]) =>
    new Promise<T>((resolve, reject) => {
      const done: Done = (error, _, response) => (error ? reject(error) : resolve(response.body as T));
      const all = [...asked];
      if (!keyNowhere.includes(operation)) all.splice(keySecond.includes(operation) ? 1 : 0, 0, token);
      new client[`${part}Api`](address)[operation]!(...all, done);
    });
};

const format = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json';
const content = (name: string, ...requests: readonly string[]): object => ({
  collection: {
    info: { name, description: `About ${name}.`, schema: format },
    item: requests.map((one) => ({ name: one, request: { method: 'GET', url: `https://postman-echo.com/${one}` } })),
  },
});
const collection = async (ask: Ask, name: string, ...requests: readonly string[]): Promise<string> => {
  const made = await ask<{ collection: Named }>('Collections', 'createCollection', content(name, ...requests), {});
  return given(made.collection.uid, 'uid');
};
const readCollection = async (ask: Ask, uid: string): Promise<Collection> =>
  (await ask<{ collection: Collection }>('Collections', 'singleCollection', uid)).collection;
const collections = async (ask: Ask): Promise<readonly Named[]> =>
  (await ask<{ collections: readonly Named[] }>('Collections', 'allCollections')).collections;
const environment = async (ask: Ask, name: string, ...values: readonly Value[]): Promise<string> => {
  const made = await ask<{ environment: Named }>('Environments', 'createEnvironment', { environment: { name, values } }, {});
  return given(made.environment.uid, 'uid');
};
const readEnvironment = async (ask: Ask, uid: string): Promise<Environment> =>
  (await ask<{ environment: Environment }>('Environments', 'singleEnvironment', uid)).environment;
const environments = async (ask: Ask): Promise<readonly Named[]> =>
  (await ask<{ environments: readonly Named[] }>('Environments', 'allEnvironments')).environments;
const workspace = async (ask: Ask, name: string, type = 'personal'): Promise<string> => {
  const body = { workspace: { name, type, description: `About ${name}.` } };
  return given((await ask<{ workspace: Workspace }>('Workspaces', 'createWorkspace', body)).workspace.id, 'id');
};
const readWorkspace = async (ask: Ask, id: string): Promise<Workspace> =>
  (await ask<{ workspace: Workspace }>('Workspaces', 'singleworkspace', id)).workspace;
const workspaces = async (ask: Ask): Promise<readonly Workspace[]> =>
  (await ask<{ workspaces: readonly Workspace[] }>('Workspaces', 'allworkspaces')).workspaces;
const readMock = async (ask: Ask, uid: string): Promise<Mock> => (await ask<{ mock: Mock }>('Mocks', 'singleMock', uid)).mock;
const mocks = async (ask: Ask): Promise<readonly Mock[]> => (await ask<{ mocks: readonly Mock[] }>('Mocks', 'allMocks')).mocks;
const readMonitor = async (ask: Ask, uid: string): Promise<Monitor> =>
  (await ask<{ monitor: Monitor }>('Monitors', 'singleMonitor', uid)).monitor;
const api = async (ask: Ask, s: State, name: string): Promise<string> => {
  s.workspace = await workspace(ask, `For ${name}`, 'team');
  const body = { api: { name, summary: `${name} in short`, description: `${name} at length.` } };
  return given((await ask<{ api: Api }>('API', 'createAPI', s.workspace, body)).api.id, 'id');
};
const readApi = async (ask: Ask, id: string): Promise<Api> => (await ask<{ api: Api }>('API', 'singleAPI', id)).api;
const version = async (ask: Ask, of: string, name: string): Promise<string> =>
  given((await ask<{ version: Version }>('APIVersion', 'createAPIVersion', of, { version: { name } })).version.id, 'id');
const readVersion = async (ask: Ask, of: string, id: string): Promise<Version> =>
  (await ask<{ version: Version }>('APIVersion', 'getanAPIVersion', of, id)).version;
const versions = async (ask: Ask, of: string): Promise<string[]> =>
  (await ask<{ versions: readonly Version[] }>('APIVersion', 'getAllAPIVersions', of)).versions.map(({ name }) => name);
const document = (title: string): string => JSON.stringify({ openapi: '3.0.0', info: { version: '1.0', title }, paths: {} });
const uids = (rows: readonly Named[]): string[] => rows.map(({ uid }) => uid);
const idsOf = (rows: readonly { readonly id: string }[]): string[] => rows.map(({ id }) => id);
const pairs = (rows: readonly Value[]): string[][] => rows.map(({ key, value }) => [key, value]);
const nobody = '5852-00000000-0000-4000-8000-000000000000';

/** Guide: learning.postman.com, "Postman API", "Collections", "Environments", "Mocks", "Monitors", "Workspaces", "API"; the description's own words. */
export const vendor: Vendor<Ask> = {
  document: 'postman/getpostman.com.json',
  header: 'X-Api-Key',
  made: 'PMAK-5f1e0c9a2b7d4e0034c1a9f0-c2VjcmV0',
  client: connect,
  strict: ['a key that is refused'],
  flows: {
    'a collection from its making to its end': (ask, s) => ({
      create: async () => {
        s.uid = await collection(ask, 'Echo', 'get', 'headers');
      },
      read: async () => {
        const { info, item } = await readCollection(ask, s.uid);
        assert.deepEqual([info.name, info.description], ['Echo', 'About Echo.']);
        assert.deepEqual(
          item.map(({ name, request }) => [name, request?.method]),
          [
            ['get', 'GET'],
            ['headers', 'GET'],
          ],
        );
      },
      'it is listed': async () => {
        const all = await collections(ask);
        once(uids(all), [s.uid], 'collections');
        assert.equal(all.find(({ uid }) => uid === s.uid)?.name, 'Echo');
      },
      change: async () => {
        const { collection: changed } = await ask<{ collection: Named }>(
          'Collections',
          'updateCollection',
          s.uid,
          content('Echo 2', 'post'),
        );
        assert.deepEqual([changed.uid, changed.name], [s.uid, 'Echo 2']);
      },
      'it is changed': async () => {
        const { info, item } = await readCollection(ask, s.uid);
        assert.deepEqual([info.name, item.map(({ name }) => name)], ['Echo 2', ['post']]);
      },
      delete: async () => {
        const gone = await ask<{ collection: Named }>('Collections', 'deleteCollection', s.uid);
        assert.equal(gone.collection.uid, s.uid);
      },
      'it is gone': async () => refused(readCollection(ask, s.uid), 404),
      'it is not listed': async () => assert.ok(!uids(await collections(ask)).includes(s.uid)),
    }),
    'several collections': (ask, s) => ({
      'make three': async () => {
        for (const name of ['one', 'two', 'three']) s[name] = await collection(ask, name, name);
      },
      'each is listed once': async () => once(uids(await collections(ask)), [s.one, s.two, s.three], 'collections'),
      'each has its own': async () => {
        assert.deepEqual(
          (await readCollection(ask, s.two)).item.map(({ name }) => name),
          ['two'],
        );
      },
      'delete one': async () => ask('Collections', 'deleteCollection', s.two),
      'the others stay': async () => {
        const left = uids(await collections(ask));
        once(left, [s.one, s.three], 'collections');
        assert.ok(!left.includes(s.two));
      },
    }),
    'an environment from its making to its end': (ask, s) => ({
      create: async () => {
        s.uid = await environment(ask, 'Staging', { key: 'host', value: 'staging.example.com' }, { key: 'port', value: '8080' });
      },
      read: async () => {
        const { name, values } = await readEnvironment(ask, s.uid);
        assert.equal(name, 'Staging');
        assert.deepEqual(pairs(values), [
          ['host', 'staging.example.com'],
          ['port', '8080'],
        ]);
      },
      'it is listed': async () => once(uids(await environments(ask)), [s.uid], 'environments'),
      change: async () => {
        const body = { environment: { name: 'Production', values: [{ key: 'host', value: 'example.com' }] } };
        const changed = await ask<{ environment: Named }>('Environments', 'updateEnvironment', s.uid, body);
        assert.deepEqual([changed.environment.uid, changed.environment.name], [s.uid, 'Production']);
      },
      'it is changed': async () => {
        const { name, values } = await readEnvironment(ask, s.uid);
        assert.deepEqual([name, pairs(values)], ['Production', [['host', 'example.com']]]);
      },
      delete: async () => ask('Environments', 'deleteEnvironment', s.uid),
      'it is gone': async () => refused(readEnvironment(ask, s.uid), 404),
      'nor is it deleted again': async () => refused(ask('Environments', 'deleteEnvironment', s.uid), 404),
    }),
    'a workspace from its making to its end': (ask, s) => ({
      create: async () => {
        s.id = await workspace(ask, 'Harbour');
      },
      read: async () => {
        const { id, name, type, description } = await readWorkspace(ask, s.id);
        assert.deepEqual([id, name, type, description], [s.id, 'Harbour', 'personal', 'About Harbour.']);
      },
      'it is listed': async () => {
        const all = await workspaces(ask);
        once(idsOf(all), [s.id], 'workspaces');
        assert.equal(all.find(({ id }) => id === s.id)?.type, 'personal');
      },
      change: async () => ask('Workspaces', 'updateWorkspace', s.id, { workspace: { name: 'Harbour 2' } }),
      'it is changed': async () => {
        const { name, description } = await readWorkspace(ask, s.id);
        assert.deepEqual([name, description], ['Harbour 2', 'About Harbour.']);
      },
      delete: async () =>
        assert.equal((await ask<{ workspace: Workspace }>('Workspaces', 'deleteWorkspace', s.id)).workspace.id, s.id),
      'it is gone': async () => refused(readWorkspace(ask, s.id), 404),
      'it is not listed': async () => assert.ok(!idsOf(await workspaces(ask)).includes(s.id)),
    }),
    'a collection in a workspace': (ask, s) => ({
      'make a collection': async () => {
        s.uid = await collection(ask, 'Shared', 'get');
        s.id = s.uid.split('-').slice(1).join('-');
      },
      'make a workspace with it': async () => {
        const body = { workspace: { name: 'Team', type: 'team', collections: [{ id: s.id, name: 'Shared', uid: s.uid }] } };
        s.workspace = (await ask<{ workspace: Workspace }>('Workspaces', 'createWorkspace', body)).workspace.id;
      },
      'it is in it': async () => {
        const held = given((await readWorkspace(ask, s.workspace)).collections, 'collections');
        assert.deepEqual(
          held.map(({ uid, name }) => [uid, name]),
          [[s.uid, 'Shared']],
        );
      },
      'not one that is not there': async () => {
        const body = { workspace: { name: 'Odd', type: 'team', collections: [{ id: nobody.slice(5), uid: nobody }] } };
        await refused(ask('Workspaces', 'createWorkspace', body), 400, 404);
      },
    }),
    'a mock server from its making to its end': (ask, s) => ({
      'make what it answers by': async () => {
        s.collection = await collection(ask, 'Mocked', 'get');
        s.environment = await environment(ask, 'For mocks', { key: 'a', value: 'b' });
      },
      create: async () => {
        const body = { mock: { collection: s.collection, environment: s.environment } };
        const { mock } = await ask<{ mock: Mock }>('Mocks', 'createMock', body);
        s.uid = given(mock.uid, 'uid');
        assert.match(mock.mockUrl, /^https?:\/\//);
      },
      read: async () => {
        const { collection: of, environment: within } = await readMock(ask, s.uid);
        assert.deepEqual([of, within], [s.collection, s.environment]);
      },
      'it is listed': async () => once(uids(await mocks(ask)), [s.uid], 'mocks'),
      change: async () => {
        const body = { mock: { name: 'My mock', environment: s.environment, private: false } };
        assert.equal((await ask<{ mock: Mock }>('Mocks', 'updateMock', s.uid, body)).mock.name, 'My mock');
      },
      delete: async () => ask('Mocks', 'deleteMock', s.uid),
      'it is gone': async () => refused(readMock(ask, s.uid), 404),
      'it is not listed': async () => assert.ok(!uids(await mocks(ask)).includes(s.uid)),
    }),
    'a mock server for all': (ask, s) => ({
      'make one': async () => {
        s.collection = await collection(ask, 'Public', 'get');
        const { mock } = await ask<{ mock: Mock }>('Mocks', 'createMock', { mock: { collection: s.collection } });
        s.uid = given(mock.uid, 'uid');
        s.id = given(mock.id, 'id');
      },
      publish: async () => assert.equal((await ask<{ mock: Mock }>('Mocks', 'publishMock', s.uid)).mock.id, s.id),
      'it stays what it was': async () => assert.equal((await readMock(ask, s.uid)).collection, s.collection),
      'unpublish it': async () => assert.equal((await ask<{ mock: Mock }>('Mocks', 'unpublishMock', s.uid)).mock.id, s.id),
      'it is there still': async () => once(uids(await mocks(ask)), [s.uid], 'mocks'),
    }),
    'a monitor from its making to its end': (ask, s) => ({
      'make what it runs': async () => {
        s.collection = await collection(ask, 'Watched', 'get');
        s.environment = await environment(ask, 'For monitors', { key: 'a', value: 'b' });
      },
      create: async () => {
        const schedule = { cron: '0 0 * * *', timezone: 'Asia/Kolkata' };
        const body = { monitor: { name: 'Nightly', collection: s.collection, environment: s.environment, schedule } };
        const { monitor } = await ask<{ monitor: Monitor }>('Monitors', 'createMonitor', body);
        s.uid = given(monitor.uid, 'uid');
        assert.equal(monitor.name, 'Nightly');
      },
      read: async () => {
        const { name, collectionUid, environmentUid, schedule } = await readMonitor(ask, s.uid);
        assert.deepEqual([name, collectionUid, environmentUid], ['Nightly', s.collection, s.environment]);
        assert.deepEqual([schedule.cron, schedule.timezone], ['0 0 * * *', 'Asia/Kolkata']);
      },
      change: async () => {
        const schedule = { cron: '*/5 * * * *', timezone: 'America/Chicago' };
        await ask('Monitors', 'updateMonitor', s.uid, { monitor: { name: 'Often', schedule } });
      },
      'it is changed': async () => {
        const { name, schedule } = await readMonitor(ask, s.uid);
        assert.deepEqual([name, schedule.cron, schedule.timezone], ['Often', '*/5 * * * *', 'America/Chicago']);
      },
      run: async () => assert.ok(given((await ask<{ run: object }>('Monitors', 'runaMonitor', s.uid)).run, 'run')),
      delete: async () => ask('Monitors', 'deleteMonitor', s.uid),
      'it is gone': async () => refused(readMonitor(ask, s.uid), 404),
    }),
    'an API from its making to its end': (ask, s) => ({
      create: async () => {
        s.id = await api(ask, s, 'Sync');
      },
      read: async () => {
        const { id, name, summary, description } = await readApi(ask, s.id);
        assert.deepEqual([id, name, summary, description], [s.id, 'Sync', 'Sync in short', 'Sync at length.']);
      },
      'it is listed': async () => {
        const { apis } = await ask<{ apis: readonly Api[] }>('API', 'getallAPIs', s.workspace, 'application/json');
        once(idsOf(apis), [s.id], 'APIs');
      },
      change: async () => ask('API', 'updateanAPI', s.id, { api: { name: 'Sync 2', description: 'Another one.' } }),
      'it is changed': async () => {
        const { name, summary, description } = await readApi(ask, s.id);
        assert.deepEqual([name, summary, description], ['Sync 2', 'Sync in short', 'Another one.']);
      },
      delete: async () => assert.equal((await ask<{ api: Api }>('API', 'deleteanAPI', s.id)).api.id, s.id),
      'it is gone': async () => refused(readApi(ask, s.id), 404),
    }),
    'versions of an API': (ask, s) => ({
      'make two APIs': async () => {
        s.first = await api(ask, s, 'Left');
        s.second = await api(ask, s, 'Right');
      },
      'a version of each': async () => {
        s.left = await version(ask, s.first, '7.1');
        s.right = await version(ask, s.second, '8.1');
      },
      read: async () => {
        const { id, name, api: of } = await readVersion(ask, s.first, s.left);
        assert.deepEqual([id, name, of], [s.left, '7.1', s.first]);
      },
      'each is of its own': async () => {
        assert.ok((await versions(ask, s.first)).includes('7.1'));
        assert.ok(!(await versions(ask, s.second)).includes('7.1'));
        await refused(readVersion(ask, s.second, s.left), 404);
      },
      change: async () => ask('APIVersion', 'updateanAPIVersion', s.first, s.left, { version: { name: '7.2' } }),
      'it is changed': async () => assert.equal((await readVersion(ask, s.first, s.left)).name, '7.2'),
      delete: async () => ask('APIVersion', 'deleteanAPIVersion', s.first, s.left),
      'it is gone': async () => refused(readVersion(ask, s.first, s.left), 404),
      'the other stays': async () => assert.ok((await versions(ask, s.second)).includes('8.1')),
    }),
    'a schema of a version': (ask, s) => ({
      'make an API with a version': async () => {
        s.api = await api(ask, s, 'Described');
        s.version = await version(ask, s.api, '2.0');
      },
      create: async () => {
        const body = { schema: { type: 'openapi3', language: 'json', schema: document('First') } };
        const made = await ask<{ schema: Schema }>('Schema', 'createSchema', s.api, s.version, body);
        s.id = given(made.schema.id, 'id');
        assert.deepEqual([made.schema.type, made.schema.language], ['openapi3', 'json']);
      },
      read: async () => {
        const { schema } = await ask<{ schema: Schema }>('Schema', 'getSchema', s.api, s.version, s.id);
        assert.deepEqual([schema.id, schema.apiVersion, schema.type], [s.id, s.version, 'openapi3']);
      },
      'its version names it': async () => assert.deepEqual((await readVersion(ask, s.api, s.version)).schema, [s.id]),
      change: async () => {
        const body = { schema: { type: 'openapi3', language: 'yaml', schema: 'openapi: 3.0.0' } };
        await ask('Schema', 'updateSchema', s.api, s.version, s.id, body);
      },
      'it is changed': async () => {
        const { schema } = await ask<{ schema: Schema }>('Schema', 'getSchema', s.api, s.version, s.id);
        assert.equal(schema.language, 'yaml');
      },
    }),
    'what is not there, and what cannot be': (ask) => ({
      'a collection': async () => refused(ask('Collections', 'deleteCollection', nobody), 404),
      'an environment': async () => refused(ask('Environments', 'deleteEnvironment', nobody), 404),
      'a monitor': async () => refused(readMonitor(ask, nobody), 404),
      'a workspace': async () => refused(readWorkspace(ask, nobody.slice(5)), 404),
      'a collection of nothing': async () => refused(ask('Collections', 'createCollection', {}, {}), 400),
      'an environment of nothing': async () => refused(ask('Environments', 'createEnvironment', {}, {}), 400),
      'a monitor of nothing': async () => refused(ask('Monitors', 'createMonitor', {}), 400),
    }),
    'a key that is refused': (ask, s, another) => ({
      'the right key': async () => {
        s.uid = await collection(ask, 'Guarded', 'get');
        const { user } = await ask<{ user: { id: string | number } }>('User', 'aPIKeyOwner');
        assert.ok(given(user.id, 'id'));
      },
      'a wrong one tells nobody': async () => refused(another('wrong')('User', 'aPIKeyOwner'), 401),
      'nor lists anything': async () => refused(another('wrong')('Collections', 'allCollections'), 401),
      'nor deletes anything': async () => refused(another('wrong')('Collections', 'deleteCollection', s.uid), 401),
      'all is as it was': async () => assert.equal((await readCollection(ask, s.uid)).info.name, 'Guarded'),
    }),
  },
};
