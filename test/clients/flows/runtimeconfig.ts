import assert from 'node:assert/strict';
import { auth, runtimeconfig, type runtimeconfig_v1beta1 } from 'googleapis/build/src/apis/runtimeconfig/index.js';
import { given, once, type Place, pages, refused, type Vendor } from '../kit.ts';

type Runtime = runtimeconfig_v1beta1.Runtimeconfig;
type Variable = runtimeconfig_v1beta1.Schema$Variable;
type Waiter = runtimeconfig_v1beta1.Schema$Waiter;
type Operation = runtimeconfig_v1beta1.Schema$Operation;

const connect = (place: Place, token: string): Runtime => {
  const caller = new auth.OAuth2();
  caller.setCredentials({ access_token: token });
  return runtimeconfig({ version: 'v1beta1', auth: caller, rootUrl: `${place.url}/`, retry: false });
};

const project = 'projects/runtime-guide';
const config = (id: string): string => `${project}/configs/${id}`;
const variable = (at: string, path: string): string => `${config(at)}/variables/${path}`;
const waiter = (at: string, id: string): string => `${config(at)}/waiters/${id}`;
const someone = 'user:ana@example.com';
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const pause = (ms = 200): Promise<void> => new Promise((done) => setTimeout(done, ms));

const without = (rows: readonly string[], one: string): void => assert.ok(!rows.includes(one), `the list still has ${one}`);
const names = (rows: readonly { name?: string | null }[]): string[] => rows.map(({ name }) => given(name, 'name'));
const when = (one: Variable): number => {
  const at = Date.parse(given(one.updateTime, 'updateTime'));
  assert.ok(!Number.isNaN(at), `changed at ${one.updateTime}`);
  return at;
};

const make = async (r: Runtime, id: string, description?: string, requestId?: string) => {
  const requestBody = { name: config(id), ...(description !== undefined && { description }) };
  return (await r.projects.configs.create({ parent: project, requestBody, ...(requestId && { requestId }) })).data;
};
const read = async (r: Runtime, id: string) => (await r.projects.configs.get({ name: config(id) })).data;
const configs = async (r: Runtime, pageSize = 100): Promise<string[]> =>
  names(
    await pages(
      async (pageToken) => (await r.projects.configs.list({ parent: project, pageSize, ...(pageToken && { pageToken }) })).data,
      (page) => page.configs ?? [],
      (page) => page.nextPageToken || undefined,
    ),
  );
const put = async (r: Runtime, at: string, path: string, body: Variable = { text: path }, requestId?: string) => {
  const requestBody = { name: variable(at, path), ...body };
  const asked = { parent: config(at), requestBody, ...(requestId && { requestId }) };
  return (await r.projects.configs.variables.create(asked)).data;
};
const value = async (r: Runtime, at: string, path: string): Promise<Variable> =>
  (await r.projects.configs.variables.get({ name: variable(at, path) })).data;
const update = async (r: Runtime, at: string, path: string, body: Variable): Promise<Variable> => {
  const name = variable(at, path);
  return (await r.projects.configs.variables.update({ name, requestBody: { name, ...body } })).data;
};
type Asked = Omit<runtimeconfig_v1beta1.Params$Resource$Projects$Configs$Variables$List, 'parent' | 'pageToken'>;
const variables = (r: Runtime, at: string, asked: Asked = {}): Promise<Variable[]> =>
  pages(
    async (pageToken) =>
      (await r.projects.configs.variables.list({ parent: config(at), ...asked, ...(pageToken && { pageToken }) })).data,
    (page) => page.variables ?? [],
    (page) => page.nextPageToken || undefined,
  );
/** A watch lasts a minute at most; here no more than four seconds. */
const watch = async (r: Runtime, at: string, path: string, newerThan?: string): Promise<Variable> => {
  const asked = { name: variable(at, path), requestBody: { ...(newerThan && { newerThan }) } };
  return (await r.projects.configs.variables.watch(asked, { timeout: 4000, retry: false })).data;
};

const count = (path: string, number: number) => ({ cardinality: { path, number } });
const wait = async (r: Runtime, at: string, id: string, body: Waiter): Promise<Operation> => {
  const requestBody = { name: waiter(at, id), ...body };
  return (await r.projects.configs.waiters.create({ parent: config(at), requestBody })).data;
};
const waiting = async (r: Runtime, at: string, id: string): Promise<Waiter> =>
  (await r.projects.configs.waiters.get({ name: waiter(at, id) })).data;
/** A waiter is asked for until it has finished, for two seconds and a half. */
const over = async (r: Runtime, at: string, id: string): Promise<Waiter> => {
  let last = await waiting(r, at, id);
  for (let turn = 0; turn < 10 && !last.done; turn += 1) {
    await pause(250);
    last = await waiting(r, at, id);
  }
  assert.equal(last.done, true, 'it still waits');
  return last;
};
const operation = async (r: Runtime, name: string): Promise<Operation> =>
  (await r.projects.configs.operations.get({ name })).data;
const waiters = async (r: Runtime, at: string, pageSize = 100): Promise<string[]> =>
  names(
    await pages(
      async (pageToken) =>
        (await r.projects.configs.waiters.list({ parent: config(at), pageSize, ...(pageToken && { pageToken }) })).data,
      (page) => page.waiters ?? [],
      (page) => page.nextPageToken || undefined,
    ),
  );

/** Guide: cloud.google.com/deployment-manager/runtime-configurator (configs, variables, watchers, waiters) and its REST reference, v1beta1. */
export const vendor: Vendor<Runtime> = {
  document: 'runtimeconfig/runtimeconfig.json',
  header: 'Authorization',
  word: 'Bearer',
  made: 'ya29.a0AfB_byExampleTokenOfAnOwner',
  client: connect,
  strict: ['a credential that is refused'],
  flows: {
    'a config, from the first to the last day': (r) => ({
      made: async () => {
        const made = await make(r, 'life', 'settings of the shop');
        assert.deepEqual([made.name, made.description], [config('life'), 'settings of the shop']);
      },
      read: async () => {
        const at = await read(r, 'life');
        assert.deepEqual([at.name, at.description], [config('life'), 'settings of the shop']);
      },
      'its name is taken': async () => {
        await refused(make(r, 'life', 'another'), 409);
        assert.equal((await read(r, 'life')).description, 'settings of the shop');
      },
      'is in the list': async () => once(await configs(r), [config('life')], 'configs'),
      'another description': async () => {
        const requestBody = { name: config('life'), description: 'settings of the new shop' };
        const { data } = await r.projects.configs.update({ name: config('life'), requestBody });
        assert.deepEqual([data.name, data.description], [config('life'), 'settings of the new shop']);
        assert.equal((await read(r, 'life')).description, 'settings of the new shop');
      },
      deleted: async () => assert.deepEqual((await r.projects.configs.delete({ name: config('life') })).data ?? {}, {}),
      gone: async () => {
        await refused(read(r, 'life'), 404);
        without(await configs(r), config('life'));
      },
      'and not deleted twice': () => refused(r.projects.configs.delete({ name: config('life') }), 404),
      'its name is free again': async () => assert.equal((await make(r, 'life', 'a second life')).description, 'a second life'),
    }),

    'configs through all pages': (r) => ({
      'five, in no order': async () => {
        for (const letter of ['c', 'a', 'e', 'b', 'd']) await make(r, `page-${letter}`, `the one of ${letter}`);
      },
      'no more on a page than asked for': async () => {
        const { data } = await r.projects.configs.list({ parent: project, pageSize: 2 });
        assert.ok(given(data.configs, 'configs').length <= 2, 'more than two');
        given(data.nextPageToken, 'nextPageToken');
      },
      'all of them, each once': async () => {
        const rows = await configs(r, 2);
        once(rows, [...new Set(rows), ...['a', 'b', 'c', 'd', 'e'].map((at) => config(`page-${at}`))], 'configs');
      },
      'each with its description': async () => {
        const { data } = await r.projects.configs.list({ parent: project, pageSize: 100 });
        assert.equal(data.configs?.find(({ name }) => name === config('page-d'))?.description, 'the one of d');
      },
      'none of another project': async () => {
        const { data } = await r.projects.configs.list({ parent: 'projects/another-guide' });
        for (const at of ['a', 'e']) without(names(data.configs ?? []), config(`page-${at}`));
      },
      'one less': async () => {
        await r.projects.configs.delete({ name: config('page-b') });
        const rows = await configs(r, 2);
        once(rows, [config('page-a'), config('page-c')], 'configs');
        without(rows, config('page-b'));
      },
    }),

    'a variable of text': (r, s) => ({
      'a config and a variable': async () => {
        await make(r, 'shop');
        const made = await put(r, 'shop', 'motd', { text: 'hello' });
        assert.deepEqual([made.name, made.text], [variable('shop', 'motd'), 'hello']);
        assert.ok(Math.abs(when(made) - Date.now()) < 3_600_000, `made at ${made.updateTime}`);
      },
      read: async () => {
        const at = await value(r, 'shop', 'motd');
        assert.deepEqual([at.name, at.text, at.value ?? undefined], [variable('shop', 'motd'), 'hello', undefined]);
        s.updated = given(at.updateTime, 'updateTime');
      },
      'its name is taken': () => refused(put(r, 'shop', 'motd', { text: 'again' }), 409),
      'is in the list': async () => once(names(await variables(r, 'shop')), [variable('shop', 'motd')], 'variables'),
      changed: async () => {
        await pause(20);
        const at = await update(r, 'shop', 'motd', { text: 'good evening' });
        assert.deepEqual([at.name, at.text], [variable('shop', 'motd'), 'good evening']);
        assert.ok(when(at) > Date.parse(s.updated), 'not changed later than it was made');
      },
      'read again': async () => {
        const at = await value(r, 'shop', 'motd');
        assert.deepEqual([at.text, at.state], ['good evening', 'UPDATED']);
      },
      deleted: () => r.projects.configs.variables.delete({ name: variable('shop', 'motd') }),
      gone: async () => {
        await refused(value(r, 'shop', 'motd'), 404);
        without(names(await variables(r, 'shop')), variable('shop', 'motd'));
      },
      'nor changed, and the config is still there': async () => {
        await refused(update(r, 'shop', 'motd', { text: 'too late' }), 404);
        assert.equal((await read(r, 'shop')).name, config('shop'));
      },
    }),

    'values: bytes, text, and nothing': (r) => ({
      'of bytes': async () => {
        await make(r, 'values');
        const made = await put(r, 'values', 'bytes', { value: base64('my value: ä') });
        assert.equal(made.value, base64('my value: ä'));
        const at = await value(r, 'values', 'bytes');
        assert.deepEqual([at.value, at.text ?? undefined], [base64('my value: ä'), undefined]);
      },
      'text in place of bytes': async () => {
        await update(r, 'values', 'bytes', { text: 'now a text' });
        const at = await value(r, 'values', 'bytes');
        assert.deepEqual([at.text, at.value ?? undefined], ['now a text', undefined]);
      },
      'text of any language': async () => {
        const text = 'Zürich – 東京 – "quoted"\nand a second line';
        await put(r, 'values', 'words', { text });
        assert.equal((await value(r, 'values', 'words')).text, text);
      },
      'an empty one': async () => {
        await put(r, 'values', 'empty', { text: '' });
        const at = await value(r, 'values', 'empty');
        assert.deepEqual([at.name, at.text ?? ''], [variable('values', 'empty'), '']);
      },
      'not both': async () => {
        await refused(put(r, 'values', 'both', { text: 'a', value: base64('b') }), 400);
        await refused(value(r, 'values', 'both'), 404);
      },
      'not bytes that are none': () => refused(put(r, 'values', 'broken', { value: '*** not base64 ***' }), 400),
      'not 4096 bytes or more': async () => {
        await refused(put(r, 'values', 'long', { text: 'x'.repeat(5000) }), 400);
        await put(r, 'values', 'long', { text: 'x'.repeat(4000) });
        assert.equal((await value(r, 'values', 'long')).text?.length, 4000);
      },
    }),

    'variables in a hierarchy': (r) => ({
      'ports and hosts': async () => {
        await make(r, 'tree');
        for (const path of ['ports/serving', 'ports/admin', 'hosts/eu/one', 'hosts/us/one', 'debug']) {
          assert.equal((await put(r, 'tree', path, { text: `value of ${path}` })).name, variable('tree', path));
        }
      },
      'read by path': async () => {
        assert.equal((await value(r, 'tree', 'ports/serving')).text, 'value of ports/serving');
        assert.equal((await value(r, 'tree', 'hosts/us/one')).text, 'value of hosts/us/one');
      },
      'changed by path, its neighbour not': async () => {
        await update(r, 'tree', 'hosts/eu/one', { text: '10.0.0.1' });
        assert.equal((await value(r, 'tree', 'hosts/eu/one')).text, '10.0.0.1');
        assert.equal((await value(r, 'tree', 'hosts/us/one')).text, 'value of hosts/us/one');
      },
      'all are in the list': async () => {
        const all = ['ports/serving', 'ports/admin', 'hosts/eu/one', 'hosts/us/one', 'debug'].map((at) => variable('tree', at));
        once(names(await variables(r, 'tree')), all, 'variables');
      },
      'those below a path': async () => {
        const rows = names(await variables(r, 'tree', { filter: variable('tree', 'hosts') }));
        once(rows, [variable('tree', 'hosts/eu/one'), variable('tree', 'hosts/us/one')], 'variables');
        for (const at of ['ports/serving', 'debug']) without(rows, variable('tree', at));
      },
      'none above one that is there': async () => {
        await refused(put(r, 'tree', 'ports', { text: 'all of them' }), 400, 409);
        await refused(put(r, 'tree', 'hosts/eu', { text: 'all of them' }), 400, 409);
      },
      'nor below': () => refused(put(r, 'tree', 'debug/level', { text: '3' }), 400, 409),
      'but beside, though it begins alike': async () => {
        await put(r, 'tree', 'debugger', { text: 'on' });
        assert.equal((await value(r, 'tree', 'debugger')).text, 'on');
        assert.equal((await value(r, 'tree', 'debug')).text, 'value of debug');
      },
      'many slashes are one': async () =>
        assert.equal((await put(r, 'tree', 'paths//to///one')).name, variable('tree', 'paths/to/one')),
    }),

    'deleting a branch': (r) => ({
      'two branches': async () => {
        await make(r, 'branches');
        for (const path of ['db/host', 'db/port', 'db/users/admin', 'dbs', 'cache/host']) await put(r, 'branches', path);
      },
      'one leaf': async () => {
        await r.projects.configs.variables.delete({ name: variable('branches', 'db/port') });
        const rows = names(await variables(r, 'branches'));
        without(rows, variable('branches', 'db/port'));
        once(rows, [variable('branches', 'db/host'), variable('branches', 'db/users/admin')], 'variables');
      },
      'a branch is not deleted without saying so': async () => {
        await refused(r.projects.configs.variables.delete({ name: variable('branches', 'db') }), 400, 404);
        assert.equal((await value(r, 'branches', 'db/host')).text, 'db/host');
      },
      'the whole branch': async () => {
        await r.projects.configs.variables.delete({ name: variable('branches', 'db'), recursive: true });
        await refused(value(r, 'branches', 'db/host'), 404);
        await refused(value(r, 'branches', 'db/users/admin'), 404);
      },
      'the others are still there': async () => {
        const rows = names(await variables(r, 'branches'));
        once(rows, [variable('branches', 'dbs'), variable('branches', 'cache/host')], 'variables');
        without(rows, variable('branches', 'db/users/admin'));
      },
      'now there may be a leaf': async () => assert.equal((await put(r, 'branches', 'db', { text: 'none' })).text, 'none'),
    }),

    'variables through all pages, with and without values': (r) => ({
      'five, in no order': async () => {
        await make(r, 'many');
        for (const letter of ['c', 'a', 'e', 'b', 'd']) await put(r, 'many', `list/${letter}`, { text: `value ${letter}` });
        await put(r, 'many', 'other', { text: 'not of the list' });
      },
      'no more on a page than asked for': async () => {
        const { data } = await r.projects.configs.variables.list({ parent: config('many'), pageSize: 2 });
        assert.ok(given(data.variables, 'variables').length <= 2, 'more than two');
        given(data.nextPageToken, 'nextPageToken');
      },
      'all of them, each once': async () => {
        const rows = names(await variables(r, 'many', { pageSize: 2 }));
        const all = ['a', 'b', 'c', 'd', 'e'].map((at) => variable('many', `list/${at}`));
        once(rows, [...new Set(rows), ...all, variable('many', 'other')], 'variables');
      },
      'no values, if none are asked for': async () => {
        const row = (await variables(r, 'many')).find(({ name }) => name === variable('many', 'list/c'));
        assert.deepEqual([row?.name, row?.text ?? undefined], [variable('many', 'list/c'), undefined]);
        when(given(row, 'row'));
      },
      'with values': async () => {
        const rows = await variables(r, 'many', { returnValues: true });
        const row = rows.find(({ name }) => name === variable('many', 'list/c'));
        assert.equal(row?.text, 'value c');
      },
      'filtered, with values, through pages': async () => {
        const asked = { filter: variable('many', 'list'), returnValues: true, pageSize: 2 };
        const rows = await variables(r, 'many', asked);
        once(
          rows.map(({ name, text }) => `${name} ${text}`),
          ['a', 'b', 'c', 'd', 'e'].map((at) => `${variable('many', `list/${at}`)} value ${at}`),
          'variables',
        );
        without(names(rows), variable('many', 'other'));
      },
      'none of another config': async () => {
        await make(r, 'few');
        await put(r, 'few', 'mine');
        const rows = names(await variables(r, 'few'));
        once(rows, [variable('few', 'mine')], 'variables');
        without(rows, variable('many', 'other'));
      },
    }),

    'a config and what is in it': (r) => ({
      'two configs, with a variable of the same name': async () => {
        for (const at of ['blue', 'green']) {
          await make(r, at);
          await put(r, at, 'colour', { text: at });
        }
        assert.equal((await value(r, 'blue', 'colour')).text, 'blue');
        assert.equal((await value(r, 'green', 'colour')).text, 'green');
      },
      'changed in one alone': async () => {
        await update(r, 'blue', 'colour', { text: 'navy' });
        assert.equal((await value(r, 'green', 'colour')).text, 'green');
      },
      'another description changes no variable': async () => {
        await r.projects.configs.update({ name: config('blue'), requestBody: { name: config('blue'), description: 'cold' } });
        assert.equal((await value(r, 'blue', 'colour')).text, 'navy');
      },
      'deleted with all that is in it': async () => {
        await wait(r, 'blue', 'for-more', { timeout: '60s', success: count('/more', 2) });
        await r.projects.configs.delete({ name: config('blue') });
        await refused(value(r, 'blue', 'colour'), 404);
        await refused(waiting(r, 'blue', 'for-more'), 404);
        await refused(r.projects.configs.variables.list({ parent: config('blue') }), 404);
      },
      'not so the other': async () => assert.equal((await value(r, 'green', 'colour')).text, 'green'),
      'made again, it is empty': async () => {
        await make(r, 'blue');
        without(names(await variables(r, 'blue')), variable('blue', 'colour'));
        await refused(value(r, 'blue', 'colour'), 404);
      },
    }),

    'the same request twice': (r) => ({
      'a config': async () => {
        const first = await make(r, 'twice', 'once', 'request-config-1');
        const second = await make(r, 'twice', 'once', 'request-config-1');
        assert.deepEqual([second.name, second.description], [first.name, first.description]);
      },
      'is made once': async () => once(await configs(r), [config('twice')], 'configs'),
      'another request for it is too many': () => refused(make(r, 'twice', 'once', 'request-config-2'), 409),
      'a variable': async () => {
        const first = await put(r, 'twice', 'one', { text: 'first' }, 'request-variable-1');
        const second = await put(r, 'twice', 'one', { text: 'first' }, 'request-variable-1');
        assert.deepEqual([second.name, second.text, second.updateTime], [first.name, 'first', first.updateTime]);
        once(names(await variables(r, 'twice')), [variable('twice', 'one')], 'variables');
      },
      'with another request it is too many': () => refused(put(r, 'twice', 'one', { text: 'first' }, 'request-variable-2'), 409),
    }),

    'a variable is watched': (r, s) => ({
      'a variable': async () => {
        await make(r, 'watched');
        s.updated = given((await put(r, 'watched', 'status', { text: 'starting' })).updateTime, 'updateTime');
      },
      'it is newer than an hour ago': async () => {
        const at = await watch(r, 'watched', 'status', new Date(Date.parse(s.updated) - 3_600_000).toISOString());
        assert.deepEqual([at.name, at.text], [variable('watched', 'status'), 'starting']);
      },
      'changed while it is watched': async () => {
        const seen = watch(r, 'watched', 'status');
        seen.catch(() => undefined);
        await pause(300);
        await update(r, 'watched', 'status', { text: 'running' });
        const at = await seen;
        assert.deepEqual([at.name, at.text, at.state], [variable('watched', 'status'), 'running', 'UPDATED']);
      },
      'changed since it was read': async () => {
        const at = await watch(r, 'watched', 'status', s.updated);
        assert.equal(at.text, 'running');
        assert.ok(when(at) > Date.parse(s.updated), 'not later');
      },
      'deleted while it is watched': async () => {
        const seen = watch(r, 'watched', 'status');
        seen.catch(() => undefined);
        await pause(300);
        await r.projects.configs.variables.delete({ name: variable('watched', 'status') });
        assert.equal((await seen).state, 'DELETED');
      },
      'one that is not there': () => refused(watch(r, 'watched', 'nowhere', s.updated), 404),
    }),

    'a waiter that succeeds': (r, s) => ({
      'it waits for two nodes': async () => {
        await make(r, 'nodes');
        const started = await wait(r, 'nodes', 'ready', { timeout: '60s', success: count('/ready', 2) });
        s.operation = given(started.name, 'name');
        assert.equal(started.done ?? false, false);
      },
      'it can be read at once': async () => {
        const at = await waiting(r, 'nodes', 'ready');
        assert.deepEqual([at.name, at.done ?? false, at.timeout], [waiter('nodes', 'ready'), false, '60s']);
        assert.deepEqual(at.success?.cardinality, { path: '/ready', number: 2 });
        assert.ok(Math.abs(Date.parse(given(at.createTime, 'createTime')) - Date.now()) < 3_600_000, 'made at another time');
      },
      'one node, and one of something else: not yet': async () => {
        await put(r, 'nodes', 'ready/node-1', { text: 'ok' });
        await put(r, 'nodes', 'failed/node-2', { text: 'no' });
        await pause();
        assert.equal((await waiting(r, 'nodes', 'ready')).done ?? false, false);
        assert.equal((await operation(r, s.operation)).done ?? false, false);
      },
      'two, however deep: done': async () => {
        await put(r, 'nodes', 'ready/zone-b/node-3', { text: 'ok' });
        const at = await over(r, 'nodes', 'ready');
        assert.equal(at.error ?? undefined, undefined);
      },
      'so is the operation': async () => {
        const at = await operation(r, s.operation);
        assert.deepEqual([at.done, at.error ?? undefined], [true, undefined]);
        given(at.response, 'response');
      },
      'one for what is there already does not wait': async () => {
        await wait(r, 'nodes', 'at-once', { timeout: '60s', success: count('/ready', 1) });
        assert.equal((await over(r, 'nodes', 'at-once')).error ?? undefined, undefined);
      },
    }),

    'waiters that fail': (r, s) => ({
      'it waits for three, and fails with one': async () => {
        await make(r, 'failing');
        const how = { timeout: '60s', success: count('/success', 3), failure: count('/failure', 1) };
        s.operation = given((await wait(r, 'failing', 'all-nodes', how)).name, 'name');
        const at = await waiting(r, 'failing', 'all-nodes');
        assert.deepEqual([at.failure?.cardinality, at.done ?? false], [{ path: '/failure', number: 1 }, false]);
      },
      'one succeeds, one fails: aborted': async () => {
        await put(r, 'failing', 'success/node-1');
        await put(r, 'failing', 'failure/node-2');
        assert.equal((await over(r, 'failing', 'all-nodes')).error?.code, 10);
      },
      'so is the operation': async () => {
        const at = await operation(r, s.operation);
        assert.deepEqual([at.done, at.error?.code], [true, 10]);
      },
      'failure goes before success': async () => {
        const how = { timeout: '60s', success: count('/success', 1), failure: count('/failure', 1) };
        await wait(r, 'failing', 'both', how);
        assert.equal((await over(r, 'failing', 'both')).error?.code, 10);
      },
      'one that waits too long': async () => {
        await wait(r, 'failing', 'short', { timeout: '1s', success: count('/never', 1) });
        assert.equal((await over(r, 'failing', 'short')).error?.code, 4);
      },
      'it is in the way of another, till it is deleted': async () => {
        const how = { timeout: '60s', success: count('/success', 1) };
        await refused(wait(r, 'failing', 'short', how), 409);
        await r.projects.configs.waiters.delete({ name: waiter('failing', 'short') });
        await wait(r, 'failing', 'short', how);
        assert.equal((await over(r, 'failing', 'short')).error ?? undefined, undefined);
      },
    }),

    'waiters: a list, and what is wrong with some': (r) => ({
      'three, in no order': async () => {
        await make(r, 'waiters');
        for (const at of ['b', 'c', 'a'])
          await wait(r, 'waiters', `page-${at}`, { timeout: '600s', success: count(`/${at}`, 1) });
      },
      'all of them, each once': async () => {
        const rows = await waiters(r, 'waiters', 1);
        once(
          rows,
          ['a', 'b', 'c'].map((at) => waiter('waiters', `page-${at}`)),
          'waiters',
        );
      },
      'one, unless said otherwise': async () => {
        await wait(r, 'waiters', 'default', { timeout: '600s', success: { cardinality: { path: '/default' } } });
        assert.equal((await waiting(r, 'waiters', 'default')).done ?? false, false);
        await put(r, 'waiters', 'default/one');
        assert.equal((await over(r, 'waiters', 'default')).error ?? undefined, undefined);
      },
      'one is deleted, and gone': async () => {
        await r.projects.configs.waiters.delete({ name: waiter('waiters', 'page-b') });
        await refused(waiting(r, 'waiters', 'page-b'), 404);
        const rows = await waiters(r, 'waiters');
        once(rows, [waiter('waiters', 'page-a'), waiter('waiters', 'page-c')], 'waiters');
        without(rows, waiter('waiters', 'page-b'));
      },
      'not without an end': async () => {
        await refused(wait(r, 'waiters', 'endless', { success: count('/x', 1) }), 400);
        await refused(wait(r, 'waiters', 'endless', { timeout: 'soon', success: count('/x', 1) }), 400);
        await refused(waiting(r, 'waiters', 'endless'), 404);
      },
      'nor for nothing': async () => {
        await refused(wait(r, 'waiters', 'aimless', { timeout: '60s' }), 400);
        without(await waiters(r, 'waiters'), waiter('waiters', 'aimless'));
      },
      'nor in a config that is not there': async () => {
        await refused(wait(r, 'nowhere', 'lost', { timeout: '60s', success: count('/x', 1) }), 404);
        await refused(operation(r, `${config('waiters')}/operations/waiters/nowhere`), 404);
      },
    }),

    'who may use a config': (r, s) => ({
      'nobody in particular, at first': async () => {
        await make(r, 'guarded');
        const { data } = await r.projects.configs.getIamPolicy({ resource: config('guarded') });
        assert.deepEqual(data.bindings ?? [], []);
      },
      'one may read it': async () => {
        const bindings = [{ role: 'roles/viewer', members: [someone] }];
        const asked = { resource: config('guarded'), requestBody: { policy: { bindings } } };
        const { data } = await r.projects.configs.setIamPolicy(asked);
        assert.deepEqual(data.bindings, bindings);
        s.etag = given(data.etag, 'etag');
        assert.deepEqual((await r.projects.configs.getIamPolicy({ resource: config('guarded') })).data.bindings, bindings);
      },
      'another too': async () => {
        const bindings = [{ role: 'roles/viewer', members: [someone, 'user:ben@example.com'] }];
        const asked = { resource: config('guarded'), requestBody: { policy: { bindings, etag: s.etag } } };
        await r.projects.configs.setIamPolicy(asked);
        const { data } = await r.projects.configs.getIamPolicy({ resource: config('guarded') });
        assert.deepEqual(data.bindings?.[0]?.members?.toSorted(), bindings[0]?.members.toSorted());
        assert.notEqual(data.etag, s.etag);
      },
      'not by what was read before that': async () => {
        const asked = { resource: config('guarded'), requestBody: { policy: { bindings: [], etag: s.etag } } };
        await refused(r.projects.configs.setIamPolicy(asked), 409);
        const { data } = await r.projects.configs.getIamPolicy({ resource: config('guarded') });
        assert.equal(data.bindings?.[0]?.members?.length, 2);
      },
      'what the caller may': async () => {
        const permissions = ['runtimeconfig.configs.get', 'runtimeconfig.configs.update'];
        const asked = { resource: config('guarded'), requestBody: { permissions } };
        const { data } = await r.projects.configs.testIamPermissions(asked);
        assert.deepEqual((data.permissions ?? []).toSorted(), permissions);
      },
      'and nothing with what is not there': async () => {
        const asked = { resource: config('nowhere'), requestBody: { permissions: ['runtimeconfig.configs.get'] } };
        assert.deepEqual((await r.projects.configs.testIamPermissions(asked)).data.permissions ?? [], []);
      },
      'no policy for that': () => {
        const policy = { bindings: [{ role: 'roles/viewer', members: [someone] }] };
        return refused(r.projects.configs.setIamPolicy({ resource: config('nowhere'), requestBody: { policy } }), 404);
      },
    }),

    'a credential that is refused': (r, s, another) => {
      const stranger = another('a-wrong-token');
      return {
        'a config and a variable': async () => {
          await make(r, 'private', 'mine');
          s.updated = given((await put(r, 'private', 'secret', { text: 'mine' })).updateTime, 'updateTime');
        },
        'not read by another': async () => {
          await refused(read(stranger, 'private'), 401);
          await refused(value(stranger, 'private', 'secret'), 401);
        },
        'not listed by another': () => refused(stranger.projects.configs.list({ parent: project }), 401),
        'nothing made by another': async () => {
          await refused(make(stranger, 'intruder'), 401);
          await refused(put(stranger, 'private', 'intruder'), 401);
        },
        'not changed by another': () => refused(update(stranger, 'private', 'secret', { text: 'theirs' }), 401),
        'not deleted by another': () => refused(stranger.projects.configs.delete({ name: config('private') }), 401),
        'all is still there, as it was': async () => {
          const at = await value(r, 'private', 'secret');
          assert.deepEqual([at.text, at.updateTime], ['mine', s.updated]);
          without(await configs(r), config('intruder'));
          without(names(await variables(r, 'private')), variable('private', 'intruder'));
        },
      };
    },

    'wrong requests, and what is not there': (r) => ({
      'a config without a name': () =>
        refused(r.projects.configs.create({ parent: project, requestBody: { description: 'nameless' } }), 400),
      'names that are none': async () => {
        for (const id of ['-first', 'has space', 'x'.repeat(70)]) await refused(make(r, id), 400);
        await refused(r.projects.configs.create({ parent: project, requestBody: { name: 'just-a-name' } }), 400);
      },
      'of another project than it says': () => {
        const requestBody = { name: 'projects/another-guide/configs/stray' };
        return refused(r.projects.configs.create({ parent: project, requestBody }), 400);
      },
      'a variable of another config than it says': async () => {
        await make(r, 'here');
        await make(r, 'there');
        const requestBody = { name: variable('there', 'stray'), text: 'x' };
        await refused(r.projects.configs.variables.create({ parent: config('here'), requestBody }), 400);
        await refused(value(r, 'there', 'stray'), 404);
      },
      'a field that is none': () => {
        const requestBody = { name: variable('here', 'odd'), txt: 'x' } as Variable;
        return refused(r.projects.configs.variables.create({ parent: config('here'), requestBody }), 400);
      },
      'pages that are none': async () => {
        await refused(r.projects.configs.list({ parent: project, pageSize: -1 }), 400);
        await refused(r.projects.configs.list({ parent: project, pageToken: 'not-a-token' }), 400);
      },
      'nothing in a config that is not there': async () => {
        await refused(put(r, 'nowhere', 'one'), 404);
        await refused(r.projects.configs.variables.list({ parent: config('nowhere') }), 404);
        await refused(r.projects.configs.waiters.list({ parent: config('nowhere') }), 404);
      },
      'what is not there is not changed, nor deleted': async () => {
        const requestBody = { name: config('nowhere'), description: 'late' };
        await refused(r.projects.configs.update({ name: config('nowhere'), requestBody }), 404);
        await refused(update(r, 'here', 'nowhere', { text: 'late' }), 404);
        await refused(r.projects.configs.variables.delete({ name: variable('here', 'nowhere') }), 404);
        await refused(r.projects.configs.waiters.delete({ name: waiter('here', 'nowhere') }), 404);
      },
    }),
  },
};
