import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { given, once, type Place, refused, type State, type Vendor } from '../kit.ts';

interface Linked {
  readonly data: { readonly id: number; readonly type: string };
}
interface Row {
  readonly id: number;
  readonly type: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly relationships?: Readonly<Record<string, Linked>>;
}
interface Answer<Data> {
  readonly data: Data;
  readonly included?: readonly Row[];
  readonly returnedResults?: number;
  readonly totalResults?: number;
}
type Callback = (error: Error | null, data: unknown) => void;
type Calls = Readonly<Record<string, (...given: readonly (string | number | object | Callback)[]) => unknown>>;

/** The parts of the client that are used here: it has no types of its own. */
interface Library {
  readonly ApiClient: new () => { basePath: string };
  readonly [api: string]: new (client: object) => object;
}
const library = createRequire(import.meta.url)('@exavault/exavault-api') as Library;

interface ExaVault {
  readonly key: string;
  readonly token: string;
  readonly of: (api: string) => Calls;
}

const connect = (place: Place, token: string): ExaVault => {
  const client = new library.ApiClient();
  client.basePath = place.base;
  const key = place.printed.find(({ name }) => name === 'ev-api-key')?.value ?? 'an-api-key';
  return { key, token, of: (api) => new library[`${api}Api`](client) as Calls };
};

/** The client takes a function to be called with the answer. */
const ask = <Data>(calls: Calls, name: string, ...asked: readonly (string | number | object)[]): Promise<Answer<Data>> =>
  new Promise((resolve, reject) => {
    calls[name](...asked, (error: Error | null, data: unknown) => (error ? reject(error) : resolve(data as Answer<Data>)));
  });

/** Of most calls the first two arguments are the credentials; of those about one row its number stands before them. */
const all = (vault: ExaVault, api: string, name: string, asked: object = {}): Promise<Answer<readonly Row[]>> =>
  ask(vault.of(api), name, vault.key, vault.token, asked);
const make = (vault: ExaVault, api: string, name: string, body: object): Promise<Answer<Row>> =>
  ask(vault.of(api), name, vault.key, vault.token, { body });
const byId = (vault: ExaVault, api: string, name: string, id: string, asked: object = {}): Promise<Answer<Row>> =>
  ask(vault.of(api), name, Number(id), vault.key, vault.token, asked);
const removeById = (vault: ExaVault, api: string, name: string, id: string): Promise<unknown> =>
  ask(vault.of(api), name, Number(id), vault.key, vault.token);
/** Of notifications and lists of addresses the number stands after the credentials. */
const idLast = (vault: ExaVault, api: string, name: string, id: string, asked: object = {}): Promise<Answer<Row>> =>
  ask(vault.of(api), name, vault.key, vault.token, Number(id), asked);
const removeIdLast = (vault: ExaVault, api: string, name: string, id: string): Promise<unknown> =>
  ask(vault.of(api), name, vault.key, vault.token, Number(id));

const folder = async (vault: ExaVault, path: string): Promise<string> =>
  String((await make(vault, 'Resources', 'addFolder', { path })).data.id);
const info = (vault: ExaVault, resource: string, asked: object = {}): Promise<Answer<Row>> =>
  ask(vault.of('Resources'), 'getResourceInfo', vault.key, vault.token, resource, asked);
const within = (vault: ExaVault, resource: string, asked: object = {}): Promise<Answer<readonly Row[]>> =>
  ask(vault.of('Resources'), 'listResources', vault.key, vault.token, resource, asked);
const named = (answer: Answer<readonly Row[]>, name = 'name'): string[] => answer.data.map((row) => String(row.attributes[name]));
const ids = (answer: Answer<readonly Row[]>): string[] => answer.data.map((row) => String(row.id));

const permissions = {
  changePassword: true,
  delete: false,
  deleteFormData: false,
  download: true,
  list: true,
  modify: false,
  notification: false,
  share: false,
  upload: true,
  viewFormData: false,
};
const person = (username: string): object => ({
  username,
  nickname: `${username} of sales`,
  homeResource: '/',
  email: `${username}@example.com`,
  password: 'a99bottlesOfBeer',
  role: 'user',
  permissions,
  timeZone: 'America/Los_Angeles',
});
const user = async (vault: ExaVault, username: string): Promise<string> =>
  String((await make(vault, 'Users', 'addUser', person(username))).data.id);

const shared = async (vault: ExaVault, s: State): Promise<void> => {
  await folder(vault, '/shared with you');
  const body = {
    type: 'shared_folder',
    name: 'Shared with you',
    resources: ['/shared with you'],
    accessMode: { download: true },
  };
  s.id = String((await make(vault, 'Shares', 'addShare', body)).data.id);
};

/** What a webhook's answer holds: the guide shows one, the description a list of them. */
const hook = (answer: Answer<Row | readonly Row[]>): Row => given(([] as Row[]).concat(answer.data as Row)[0], 'webhook');
const nowhere = '99999999';

/** Guide: exavault.com/developer/api-docs/v2 ("Identifying resources", "Pagination and sorting", "Errors") and the samples of evapi-javascript-samples. */
export const vendor: Vendor<ExaVault> = {
  document: 'exavault/exavault.com.json',
  header: 'ev-access-token',
  also: ['ev-api-key'],
  made: 'an-access-token',
  client: connect,
  strict: ['a token that is refused'],
  flows: {
    'a folder is made, renamed and deleted': (vault, s) => ({
      make: async () => {
        const { data } = await make(vault, 'Resources', 'addFolder', { path: '/Invoices' });
        s.id = String(data.id);
        assert.deepEqual([data.type, data.attributes.name, data.attributes.path], ['resource', 'Invoices', '/Invoices']);
        assert.equal(data.attributes.type, 'dir');
      },
      'read it by its number': async () => {
        const { data } = await byId(vault, 'Resources', 'getResourceInfoById', s.id);
        assert.deepEqual([String(data.id), data.attributes.name], [s.id, 'Invoices']);
      },
      'read it by its path': async () => assert.equal(String((await info(vault, '/Invoices')).data.id), s.id),
      rename: async () => {
        const body = { name: 'Paid' };
        // The token stands before the key in this one call.
        const { data } = await ask<Row>(vault.of('Resources'), 'updateResourceById', Number(s.id), vault.token, vault.key, {
          body,
        });
        assert.equal(data.attributes.name, 'Paid');
      },
      'it has the new name': async () => {
        const { data } = await byId(vault, 'Resources', 'getResourceInfoById', s.id);
        assert.deepEqual([data.attributes.name, data.attributes.path], ['Paid', '/Paid']);
      },
      delete: () => removeById(vault, 'Resources', 'deleteResourceById', s.id),
      'it is gone': () => refused(byId(vault, 'Resources', 'getResourceInfoById', s.id), 404),
    }),
    'what is in a folder, page by page': (vault, s) => ({
      'make five in one': async () => {
        s.id = await folder(vault, '/Years');
        for (const year of ['2021', '2022', '2023', '2024', '2025']) {
          await make(vault, 'Resources', 'addFolder', { parentResource: '/Years', name: year });
        }
      },
      'a page is as long as asked for, and counts all': async () => {
        const page = await within(vault, '/Years', { limit: 2 });
        assert.deepEqual([page.data.length, page.returnedResults, page.totalResults], [2, 2, 5]);
      },
      'all pages together hold each once': async () => {
        const found: string[] = [];
        for (let offset = 0; offset < 40; offset += 2) {
          const page = named(await within(vault, '/Years', { limit: 2, offset }));
          if (page.length === 0) break;
          found.push(...page);
        }
        assert.equal(found.length, 5);
        once(found, ['2021', '2022', '2023', '2024', '2025'], 'names');
      },
      'by the number of the folder': async () => {
        const page = await ask<readonly Row[]>(
          vault.of('Resources'),
          'listResourceContents',
          vault.key,
          vault.token,
          Number(s.id),
          {
            type: 'dir',
          },
        );
        assert.equal(page.data.length, 5);
      },
      'there are no files': async () => assert.deepEqual((await within(vault, '/Years', { type: 'file' })).data, []),
    }),
    'folders are found, sorted and deleted together': (vault) => ({
      'make three': async () => {
        for (const path of ['/Data b', '/Data a', '/Other']) await folder(vault, path);
      },
      'those with a name': async () =>
        assert.deepEqual(named(await within(vault, '/', { name: 'Data*', sort: 'name' })), ['Data a', 'Data b']),
      'delete two at once': () => make(vault, 'Resources', 'deleteResources', { resources: ['/Data a', '/Data b'] }),
      'they are gone': async () => {
        await refused(info(vault, '/Data a'), 404);
        await refused(info(vault, '/Data b'), 404);
      },
      'the other is there': async () => assert.equal((await info(vault, '/Other')).data.attributes.name, 'Other'),
    }),
    'a folder is copied and moved': (vault, s) => ({
      'make two': async () => {
        s.from = await folder(vault, '/Contracts');
        s.to = await folder(vault, '/Archive');
      },
      copy: () => make(vault, 'Resources', 'copyResources', { parentResource: '/Archive', resources: ['/Contracts'] }),
      'it is in both': async () => {
        once(named(await within(vault, '/Archive')), ['Contracts'], 'names');
        assert.equal(String((await info(vault, '/Contracts')).data.id), s.from);
      },
      move: async () => {
        await folder(vault, '/Receipts');
        await make(vault, 'Resources', 'moveResources', { parentResource: '/Archive', resources: ['/Receipts'] });
      },
      'it is where it was moved to': async () => {
        once(named(await within(vault, '/Archive')), ['Contracts', 'Receipts'], 'names');
        await refused(info(vault, '/Receipts'), 404);
      },
    }),
    'a file is sent and fetched': (vault, s) => ({
      upload: async () => {
        const file = Buffer.from('one,two\n1,2\n');
        const { data } = await ask<Row>(vault.of('Resources'), 'uploadFile', vault.key, vault.token, '/list.csv', file.length, {
          file,
        });
        s.id = String(data.id);
        assert.deepEqual([data.attributes.name, data.attributes.type], ['list.csv', 'file']);
      },
      'it is known by its path, with its size': async () => {
        const { data } = await info(vault, '/list.csv');
        assert.deepEqual([String(data.id), data.attributes.size, data.attributes.extension], [s.id, 12, 'csv']);
      },
      'it is among the files': async () => once(ids(await within(vault, '/', { type: 'file' })), [s.id], 'files'),
      delete: () => make(vault, 'Resources', 'deleteResources', { resources: [`id:${s.id}`] }),
      'it is gone': () => refused(info(vault, '/list.csv'), 404),
    }),
    'a user is added, changed, locked and deleted': (vault, s) => ({
      add: async () => {
        const { data } = await make(vault, 'Users', 'addUser', person('ann'));
        s.id = String(data.id);
        const { username, email, role, status } = data.attributes;
        assert.deepEqual([data.type, username, email, role, status], ['user', 'ann', 'ann@example.com', 'user', 1]);
      },
      read: async () => {
        const { data } = await byId(vault, 'Users', 'getUserById', s.id);
        assert.deepEqual([String(data.id), data.attributes.nickname], [s.id, 'ann of sales']);
        assert.partialDeepStrictEqual(data.attributes.permissions, { upload: true, delete: false });
      },
      'change the address': async () => {
        const { data } = await byId(vault, 'Users', 'updateUser', s.id, { body: { email: 'ann@example.org' } });
        assert.deepEqual([data.attributes.email, data.attributes.nickname], ['ann@example.org', 'ann of sales']);
      },
      lock: async () => {
        await byId(vault, 'Users', 'updateUser', s.id, { body: { locked: true } });
        assert.equal((await byId(vault, 'Users', 'getUserById', s.id)).data.attributes.status, 0);
      },
      delete: () => removeById(vault, 'Users', 'deleteUser', s.id),
      'the user is gone': () => refused(byId(vault, 'Users', 'getUserById', s.id), 404),
    }),
    'a user with the home folder in one answer': (vault, s) => ({
      add: async () => {
        s.home = await folder(vault, '/home of ben');
        const body = { ...person('ben'), homeResource: '/home of ben' };
        const { data } = await make(vault, 'Users', 'addUser', body);
        s.id = String(data.id);
        assert.equal(String(data.relationships?.homeResource?.data.id), s.home);
      },
      'what is asked for is included': async () => {
        const answer = await byId(vault, 'Users', 'getUserById', s.id, { include: 'homeResource' });
        const home = answer.included?.find(({ id }) => String(id) === s.home);
        assert.equal(home?.attributes.path, '/home of ben');
      },
      'what is not asked for is not': async () =>
        assert.deepEqual((await byId(vault, 'Users', 'getUserById', s.id)).included ?? [], []),
    }),
    'users are found, page by page': (vault, s) => ({
      'add four': async () => {
        const made: string[] = [];
        for (const name of ['dan', 'eve', 'flo', 'gus']) made.push(await user(vault, name));
        s.ids = made.join(',');
      },
      'by the name': async () => {
        const found = await all(vault, 'Users', 'listUsers', { username: 'eve' });
        assert.deepEqual(named(found, 'username'), ['eve']);
      },
      'by the address, and a wildcard': async () =>
        assert.deepEqual(named(await all(vault, 'Users', 'listUsers', { email: 'fl*' }), 'username'), ['flo']),
      'all pages hold each once': async () => {
        const found: string[] = [];
        for (let offset = 0; offset < 60; offset += 3) {
          const page = await all(vault, 'Users', 'listUsers', { limit: 3, offset });
          assert.ok(page.data.length <= 3);
          if (page.data.length === 0) break;
          found.push(...ids(page));
        }
        once(found, s.ids.split(','), 'users');
      },
    }),
    'a folder is shared': (vault, s) => ({
      share: () => shared(vault, s),
      'read it': async () => {
        const { data } = await byId(vault, 'Shares', 'getShareById', s.id);
        assert.deepEqual([data.type, data.attributes.name, data.attributes.type], ['share', 'Shared with you', 'shared_folder']);
        assert.deepEqual(data.attributes.paths, ['/shared with you']);
        assert.ok(data.attributes.hash);
      },
      'let them upload too': async () => {
        const body = { name: 'Shared with all', accessMode: { download: true, upload: true } };
        const { data } = await ask<Row>(vault.of('Shares'), 'updateShareById', body, Number(s.id), vault.key, vault.token);
        assert.equal(data.attributes.name, 'Shared with all');
        assert.partialDeepStrictEqual(data.attributes.accessMode, { download: true, upload: true });
      },
      deactivate: () => removeById(vault, 'Shares', 'deleteShareById', s.id),
      'the share is gone, the folder is not': async () => {
        await refused(byId(vault, 'Shares', 'getShareById', s.id), 404);
        assert.equal((await info(vault, '/shared with you')).data.attributes.type, 'dir');
      },
    }),
    'shares of one kind': (vault, s) => ({
      'a shared folder and a receive folder': async () => {
        await shared(vault, s);
        await folder(vault, '/inbox');
        const body = { type: 'receive', name: 'Send us files', resources: ['/inbox'], accessMode: { upload: true } };
        const { data } = await make(vault, 'Shares', 'addShare', body);
        s.receive = String(data.id);
        s.hash = String(data.attributes.hash);
        assert.equal(data.attributes.type, 'receive');
      },
      'those that receive': async () =>
        assert.deepEqual(ids(await all(vault, 'Shares', 'listShares', { type: 'receive' })), [s.receive]),
      'those whose name has a word': async () =>
        assert.deepEqual(ids(await all(vault, 'Shares', 'listShares', { name: 'Shared' })), [s.id]),
      'the form of the receive folder': async () => {
        const form = await ask<Row>(vault.of('Form'), 'getFormByShareHash', vault.key, vault.token, s.hash, { include: 'share' });
        s.form = String(form.data.id);
        assert.equal(String(form.data.relationships?.share?.data.id), s.receive);
      },
      'the same form by its number': async () =>
        assert.equal(String((await byId(vault, 'Form', 'getFormById', s.form)).data.id), s.form),
    }),
    'a list of addresses': (vault, s) => ({
      make: async () => {
        const body = { name: 'Clients', emails: ['one@example.com', 'two@example.com'] };
        const { data } = await make(vault, 'EmailLists', 'addEmailList', body);
        s.id = String(data.id);
        assert.deepEqual([data.attributes.name, data.attributes.emails], ['Clients', ['one@example.com', 'two@example.com']]);
      },
      'put others in': async () => {
        const body = { emails: ['two@example.com', 'three@example.com'] };
        const { data } = await idLast(vault, 'EmailLists', 'updateEmailListById', s.id, { body });
        assert.deepEqual(data.attributes.emails, body.emails);
      },
      'read it': async () => {
        const { data } = await idLast(vault, 'EmailLists', 'getEmailListById', s.id);
        assert.deepEqual([data.attributes.name, data.attributes.emails], ['Clients', ['two@example.com', 'three@example.com']]);
      },
      'it is listed': async () => once(ids(await all(vault, 'EmailLists', 'getEmailLists')), [s.id], 'lists'),
      delete: () => removeIdLast(vault, 'EmailLists', 'deleteEmailListById', s.id),
      'it is gone': () => refused(idLast(vault, 'EmailLists', 'getEmailListById', s.id), 404),
    }),
    'to be told of a folder': (vault, s) => ({
      make: async () => {
        s.folder = await folder(vault, '/watched');
        const body = { type: 'folder', resource: '/watched', action: 'upload', usernames: ['notice_user_all'], sendEmail: true };
        const { data } = await make(vault, 'Notifications', 'addNotification', { ...body, recipients: ['me@example.com'] });
        s.id = String(data.id);
        assert.deepEqual([data.attributes.action, data.attributes.path], ['upload', '/watched']);
        assert.equal(String(data.relationships?.resource?.data.id), s.folder);
      },
      'of downloads instead': async () => {
        const body = { action: 'download' };
        const { data } = await idLast(vault, 'Notifications', 'updateNotificationById', s.id, { body });
        assert.equal(data.attributes.action, 'download');
      },
      'it is among those of downloads': async () => {
        once(ids(await all(vault, 'Notifications', 'listNotifications', { action: 'download' })), [s.id], 'notifications');
        assert.deepEqual(ids(await all(vault, 'Notifications', 'listNotifications', { action: 'delete' })), []);
      },
      delete: () => removeIdLast(vault, 'Notifications', 'deleteNotificationById', s.id),
      'it is gone': () => refused(idLast(vault, 'Notifications', 'getNotificationById', s.id), 404),
    }),
    'a webhook': (vault, s) => ({
      make: async () => {
        const triggers = { resources: { upload: true, download: false }, shares: { formSubmit: true } };
        const body = { endpointUrl: 'https://example.com/hook', resource: '/', responseVersion: 'v2', triggers };
        const made = hook(await make(vault, 'Webhooks', 'addWebhook', body));
        s.id = String(made.id);
        assert.deepEqual([made.attributes.endpointUrl, made.attributes.responseVersion], ['https://example.com/hook', 'v2']);
      },
      'send it elsewhere': async () => {
        const body = { endpointUrl: 'https://example.org/hook' };
        const changed = hook(await byId(vault, 'Webhooks', 'updateWebhook', s.id, { body }));
        assert.deepEqual([changed.attributes.endpointUrl, changed.attributes.responseVersion], [body.endpointUrl, 'v2']);
      },
      'a new token of its own': async () => {
        const before = hook(await byId(vault, 'Webhooks', 'getWebhookById', s.id));
        assert.equal(String(before.id), s.id);
        const after = hook((await removeById(vault, 'Webhooks', 'regenerateWebhookToken', s.id)) as Answer<Row>);
        assert.equal(String(after.id), s.id);
      },
      'it is listed': async () => once(ids(await all(vault, 'Webhooks', 'getWehooksList')), [s.id], 'webhooks'),
      delete: () => removeById(vault, 'Webhooks', 'deleteWebhook', s.id),
      'it is gone': () => refused(byId(vault, 'Webhooks', 'getWebhookById', s.id), 404),
    }),
    'a key for a user': (vault, s) => ({
      add: async () => {
        s.user = await user(vault, 'hal');
        const publicKey = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJq8J1b0v5sKq0m1dQw4l4o1y7Zl0h3p2eU1Zk1bq9aT hal@example.com';
        const { data } = await make(vault, 'SSHKeys', 'addSSHKey', { userId: Number(s.user), publicKey });
        s.id = String(data.id);
        assert.deepEqual([data.type, String(data.relationships?.ownerUser?.data.id)], ['sshKey', s.user]);
      },
      'it is among those of the user': async () =>
        assert.deepEqual(ids(await all(vault, 'SSHKeys', 'getSSHKeysList', { userId: s.user })), [s.id]),
      delete: () => removeById(vault, 'SSHKeys', 'deleteSSHKey', s.id),
      'it is gone': () => refused(ask(vault.of('SSHKeys'), 'getSSHKey', Number(s.id), vault.key, vault.token), 404),
    }),
    'the settings of the account': (vault) => ({
      'ask for strong passwords': async () => {
        const { data } = await make(vault, 'Account', 'updateAccount', { complexPasswords: true, customSignature: 'Yours' });
        assert.deepEqual([data.attributes.complexPasswords, data.attributes.customSignature], [true, 'Yours']);
      },
      'it stays so': async () => {
        const { data } = await ask<Row>(vault.of('Account'), 'getAccount', vault.key, vault.token, {});
        assert.deepEqual(
          [data.type, data.attributes.complexPasswords, data.attributes.customSignature],
          ['account', true, 'Yours'],
        );
      },
    }),
    'a token that is refused': (vault, _s, another) => ({
      'the right one is taken': async () => assert.ok(Array.isArray((await all(vault, 'Users', 'listUsers')).data)),
      'another is not': () => refused(all(another('not-a-token'), 'Users', 'listUsers'), 401),
    }),
    'requests that are wrong': (vault) => ({
      'a user that never was': () => refused(byId(vault, 'Users', 'getUserById', nowhere), 404),
      'a path that never was': () => refused(info(vault, '/no/such/path'), 404),
      'a user without a name': () =>
        refused(
          make(vault, 'Users', 'addUser', { email: 'nobody@example.com', password: 'a99bottlesOfBeer', role: 'user' }),
          400,
        ),
      'a share of no kind': () =>
        refused(make(vault, 'Shares', 'addShare', { type: 'lent', name: 'Lent', resources: ['/'] }), 400),
      'a list of addresses that are none': () =>
        refused(make(vault, 'EmailLists', 'addEmailList', { name: 'Nobody', emails: 'nobody' }), 400),
    }),
  },
};
