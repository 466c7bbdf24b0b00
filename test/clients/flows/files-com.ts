import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { given, once, refused, type Vendor } from '../kit.ts';

/** A row as the client gives it: what the service answered, and what can be done with it. */
interface Row {
  readonly attributes: Readonly<Record<string, unknown>>;
  update(params: object): Promise<unknown>;
  delete(params?: object): Promise<unknown>;
}
interface UserRow extends Row {
  unlock(): Promise<unknown>;
  resendWelcomeEmail(): Promise<unknown>;
  user2faReset(): Promise<unknown>;
}
interface BundleRow extends Row {
  share(params: object): Promise<unknown>;
}
interface FileRow extends Row {
  copy(params: { destination: string }): Promise<{ status?: string }>;
  move(params: { destination: string }): Promise<{ status?: string }>;
}
interface Model<R = Row> {
  create(params: object, options: object): Promise<R>;
  list(params: object, options: object): Promise<R[]>;
  find(id: number, params: object, options: object): Promise<R>;
}
interface Placed<R = Row> {
  create(path: string, params: object, options: object): Promise<R>;
  listFor(path: string, params: object, options: object): Promise<R[]>;
}

// Its client has no types of its own.
const load = createRequire(import.meta.url);
const part = <T>(name: string): T => {
  const loaded = load(`files.com/lib/${name}`) as { default?: T };
  return loaded.default ?? (loaded as T);
};
const Files = part<{ setBaseUrl(url: string): void; setLogLevel(level: number): void }>('Files.js');
const { LogLevel } = load('files.com/lib/Logger.js') as { LogLevel: { NONE: number } };
const Group = part<Model>('models/Group.js');
const GroupUser = part<Model>('models/GroupUser.js');
const User = part<Model<UserRow>>('models/User.js');
const Folder = part<Placed>('models/Folder.js');
const File = part<{ find(path: string, params: object, options: object): Promise<FileRow> }>('models/File.js');
const Lock = part<Placed>('models/Lock.js');
const ApiKey = part<Model>('models/ApiKey.js');
const Bundle = part<Model<BundleRow>>('models/Bundle.js');
const Behavior = part<Model & Pick<Placed, 'listFor'>>('models/Behavior.js');
const Notification = part<Model>('models/Notification.js');
const Project = part<Model>('models/Project.js');
const Message = part<Model>('models/Message.js');
const MessageComment = part<Model>('models/MessageComment.js');
const PublicKey = part<Model>('models/PublicKey.js');
const Permission = part<Model>('models/Permission.js');

/** The options of each call: the key of whoever calls. */
type Client = { readonly apiKey: string };

const idOf = (row: Row): string => String(given(row.attributes.id as number | undefined, 'id'));
const ids = (rows: readonly Row[]): string[] => rows.map((row) => String(row.attributes.id));
const gone = (call: Promise<unknown>) => refused(call, 404);

// https://developers.files.com/
export const vendor: Vendor<Client> = {
  document: 'files/files.com.json',
  header: 'x-filesapi-key',
  made: 'a0a1a2a3a4a5a6a7a8a9',
  client: (place, apiKey) => {
    Files.setBaseUrl(place.url);
    Files.setLogLevel(LogLevel.NONE);
    return { apiKey };
  },
  strict: ['a wrong key is refused'],
  flows: {
    'a group made, read, renamed, deleted': (own, s) => ({
      'made with its name': async () => {
        const made = await Group.create({ name: 'Contractors', notes: 'From outside' }, own);
        assert.equal(made.attributes.name, 'Contractors');
        s.id = idOf(made);
      },
      'read as it was made': async () => {
        const read = await Group.find(Number(s.id), {}, own);
        assert.equal(read.attributes.name, 'Contractors');
        assert.equal(read.attributes.notes, 'From outside');
      },
      renamed: async () => {
        const read = await Group.find(Number(s.id), {}, own);
        await read.update({ name: 'Freelancers' });
      },
      'read with its new name, its notes kept': async () => {
        const read = await Group.find(Number(s.id), {}, own);
        assert.equal(read.attributes.name, 'Freelancers');
        assert.equal(read.attributes.notes, 'From outside');
      },
      deleted: async () => (await Group.find(Number(s.id), {}, own)).delete(),
      'no more there': () => gone(Group.find(Number(s.id), {}, own)),
    }),

    'groups through all pages': (own, s) => ({
      'five are made': async () => {
        const made: string[] = [];
        for (const name of ['North', 'South', 'East', 'West', 'Centre']) made.push(idOf(await Group.create({ name }, own)));
        assert.equal(new Set(made).size, 5);
        s.ids = made.join(',');
      },
      'a first page is no longer than asked for': async () => {
        const rows = await Group.list({ per_page: 2 }, { ...own, autoPaginate: false });
        assert.equal(rows.length, 2);
      },
      'all pages together hold each once': async () => {
        once(ids(await Group.list({ per_page: 2 }, own)), s.ids.split(','), 'groups');
      },
    }),

    'groups chosen by their ids': (own, s) => ({
      'three are made': async () => {
        const made: string[] = [];
        for (const name of ['Legal', 'Audit', 'Press']) made.push(idOf(await Group.create({ name }, own)));
        s.first = String(made[0]);
        s.last = String(made[2]);
        s.middle = String(made[1]);
      },
      'two are asked for': async () => {
        const found = ids(await Group.list({ ids: `${s.first},${s.last}` }, own));
        assert.deepEqual(found.sort(), [s.first, s.last].sort());
      },
    }),

    'a user made, read, changed, deleted': (own, s) => ({
      'made with its name': async () => {
        const made = await User.create(
          { username: 'ada', email: 'ada@example.com', name: 'Ada', authentication_method: 'password' },
          own,
        );
        assert.equal(made.attributes.username, 'ada');
        assert.equal(made.attributes.authentication_method, 'password');
        s.id = idOf(made);
      },
      'its company and permissions changed': async () =>
        (await User.find(Number(s.id), {}, own)).update({ company: 'Engines', ftp_permission: false }),
      'read with them': async () => {
        const read = await User.find(Number(s.id), {}, own);
        assert.equal(read.attributes.company, 'Engines');
        assert.equal(read.attributes.ftp_permission, false);
        assert.equal(read.attributes.email, 'ada@example.com');
      },
      'in the list': async () => once(ids(await User.list({}, own)), [s.id], 'users'),
      deleted: async () => (await User.find(Number(s.id), {}, own)).delete(),
      'no more in the list': async () => assert.ok(!ids(await User.list({}, own)).includes(s.id)),
    }),

    'what is done for a user': (own, s) => ({
      'a user': async () => {
        s.id = idOf(await User.create({ username: 'grace', email: 'grace@example.com' }, own));
      },
      'is unlocked': async () => (await User.find(Number(s.id), {}, own)).unlock(),
      'is welcomed again': async () => (await User.find(Number(s.id), {}, own)).resendWelcomeEmail(),
      'loses its second factor': async () => (await User.find(Number(s.id), {}, own)).user2faReset(),
      'and is there still': async () => {
        assert.equal((await User.find(Number(s.id), {}, own)).attributes.username, 'grace');
      },
    }),

    'a member of a group': (own, s) => ({
      'a group and a user': async () => {
        s.group = idOf(await Group.create({ name: 'Editors' }, own));
        s.user = idOf(await User.create({ username: 'joan', email: 'joan@example.com' }, own));
      },
      'the user joins': async () => {
        const made = await GroupUser.create({ group_id: Number(s.group), user_id: Number(s.user), admin: false }, own);
        assert.equal(made.attributes.group_id, Number(s.group));
        assert.equal(made.attributes.user_id, Number(s.user));
      },
      'the group has this one member': async () => {
        const rows = await GroupUser.list({ group_id: Number(s.group) }, own);
        assert.deepEqual(
          rows.map((row) => row.attributes.user_id),
          [Number(s.user)],
        );
      },
    }),

    'a folder in a folder': (own) => ({
      'the outer is made': async () => {
        const made = await Folder.create('reports', {}, own);
        assert.equal(made.attributes.path, 'reports');
      },
      'the inner is made': () => Folder.create('reports/2024', { mkdir_parents: true }, own),
      'the outer holds it': async () => {
        const paths = (await Folder.listFor('reports', {}, own)).map((row) => String(row.attributes.path));
        once(paths, ['reports/2024'], 'folders');
      },
      'it is a directory': async () => {
        assert.equal((await File.find('reports/2024', {}, own)).attributes.type, 'directory');
      },
      'the inner is deleted': async () => (await File.find('reports/2024', {}, own)).delete(),
      'no more there': () => gone(File.find('reports/2024', {}, own)),
    }),

    'a folder copied and moved': (own) => ({
      'is made': () => Folder.create('drafts', {}, own),
      'copied to another place': async () => {
        const answer = await (await File.find('drafts', {}, own)).copy({ destination: 'drafts-copy' });
        given(answer.status, 'status');
      },
      'moved to another name': async () => {
        const answer = await (await File.find('drafts', {}, own)).move({ destination: 'finals' });
        given(answer.status, 'status');
      },
    }),

    'a lock on a path': (own, s) => ({
      'is taken': async () => {
        await Folder.create('ledger', {}, own);
        const lock = await Lock.create('ledger', { timeout: 60, exclusive: true }, own);
        assert.equal(lock.attributes.exclusive, true);
        assert.equal(lock.attributes.timeout, 60);
        s.token = String(given(lock.attributes.token as string | undefined, 'token'));
      },
      'is listed for it': async () => {
        const tokens = (await Lock.listFor('ledger', {}, own)).map((row) => String(row.attributes.token));
        once(tokens, [s.token], 'locks');
      },
    }),

    'an API key made, read, renamed, deleted': (own, s) => ({
      'made, and shown': async () => {
        const made = await ApiKey.create({ name: 'Backup', permission_set: 'full' }, own);
        assert.equal(made.attributes.permission_set, 'full');
        s.id = idOf(made);
      },
      renamed: async () => (await ApiKey.find(Number(s.id), {}, own)).update({ name: 'Nightly backup' }),
      'read with its new name': async () => {
        const read = await ApiKey.find(Number(s.id), {}, own);
        assert.equal(read.attributes.name, 'Nightly backup');
        assert.equal(read.attributes.permission_set, 'full');
      },
      deleted: async () => (await ApiKey.find(Number(s.id), {}, own)).delete(),
      'no more there': () => gone(ApiKey.find(Number(s.id), {}, own)),
    }),

    'a share link, sent to somebody': (own, s) => ({
      'made for two paths': async () => {
        const made = await Bundle.create({ paths: ['a.pdf', 'b.pdf'], description: 'For review', permissions: 'read' }, own);
        assert.deepEqual(made.attributes.paths, ['a.pdf', 'b.pdf']);
        assert.equal(made.attributes.permissions, 'read');
        s.id = idOf(made);
      },
      sent: async () => (await Bundle.find(Number(s.id), {}, own)).share({ to: ['joan@example.com'], note: 'As agreed' }),
      'its description changed': async () => (await Bundle.find(Number(s.id), {}, own)).update({ description: 'Reviewed' }),
      'read with it': async () => {
        assert.equal((await Bundle.find(Number(s.id), {}, own)).attributes.description, 'Reviewed');
      },
      deleted: async () => (await Bundle.find(Number(s.id), {}, own)).delete(),
      'no more there': () => gone(Bundle.find(Number(s.id), {}, own)),
    }),

    'a webhook of a folder': (own, s) => ({
      'made with its path': async () => {
        await Folder.create('incoming', {}, own);
        const made = await Behavior.create(
          { path: 'incoming', behavior: 'webhook', value: '{"urls":["https://example.com/hook"]}' },
          own,
        );
        assert.equal(made.attributes.behavior, 'webhook');
        assert.equal(made.attributes.path, 'incoming');
        s.id = idOf(made);
      },
      'listed for the folder': async () => {
        once(ids(await Behavior.listFor('incoming', {}, own)), [s.id], 'behaviors');
      },
      deleted: async () => (await Behavior.find(Number(s.id), {}, own)).delete(),
      'no more there': () => gone(Behavior.find(Number(s.id), {}, own)),
    }),

    'a notification': (own, s) => ({
      'for a user and a path': async () => {
        const made = await Notification.create(
          { path: 'incoming', username: 'joan', notify_on_copy: true, send_interval: 'hourly' },
          own,
        );
        assert.equal(made.attributes.send_interval, 'hourly');
        assert.equal(made.attributes.notify_on_copy, true);
        s.id = idOf(made);
      },
      'comes daily instead': async () => (await Notification.find(Number(s.id), {}, own)).update({ send_interval: 'daily' }),
      'read so': async () => {
        const read = await Notification.find(Number(s.id), {}, own);
        assert.equal(read.attributes.send_interval, 'daily');
        assert.equal(read.attributes.notify_on_copy, true);
      },
      deleted: async () => (await Notification.find(Number(s.id), {}, own)).delete(),
      'no more there': () => gone(Notification.find(Number(s.id), {}, own)),
    }),

    'messages of a project': (own, s) => ({
      'a project': async () => {
        const made = await Project.create({ global_access: 'none' }, own);
        assert.equal(made.attributes.global_access, 'none');
        s.project = idOf(made);
      },
      'gets a message': async () => {
        const made = await Message.create({ project_id: Number(s.project), subject: 'Kick-off', body: 'On Monday' }, own);
        assert.equal(made.attributes.subject, 'Kick-off');
        s.message = idOf(made);
      },
      'which gets a comment': async () => {
        const made = await MessageComment.create({ body: 'I will be there' }, own);
        assert.equal(made.attributes.body, 'I will be there');
      },
      'the project lists its message': async () =>
        once(ids(await Message.list({ project_id: Number(s.project) }, own)), [s.message], 'messages'),
    }),

    'a public key and a permission of a user': (own, s) => ({
      'a user': async () => {
        s.user = idOf(await User.create({ username: 'lin', email: 'lin@example.com' }, own));
      },
      'has a public key': async () => {
        const made = await PublicKey.create(
          { user_id: Number(s.user), title: 'Laptop', public_key: 'ssh-rsa AAAAB3NzaC1yc2E lin' },
          own,
        );
        assert.equal(made.attributes.title, 'Laptop');
        s.key = idOf(made);
      },
      'may read a folder': async () => {
        const made = await Permission.create({ path: 'reports', user_id: Number(s.user), permission: 'readonly' }, own);
        assert.equal(made.attributes.permission, 'readonly');
        s.permission = idOf(made);
      },
      'is listed by its user': async () =>
        once(ids(await Permission.list({ user_id: s.user }, own)), [s.permission], 'permissions'),
      'the key is deleted': async () => (await PublicKey.find(Number(s.key), {}, own)).delete(),
      'and gone': () => gone(PublicKey.find(Number(s.key), {}, own)),
    }),

    'a wrong key is refused': (_own, _s, another) => ({
      'a list': () => refused(Group.list({}, another('ffffffffffffffff')), 401),
      'a creation': () => refused(Group.create({ name: 'Intruders' }, another('ffffffffffffffff')), 401),
    }),

    'what is not there, and what is not right': (own) => ({
      'no such group': () => gone(Group.find(999_999_999, {}, own)),
      'no such user': () => gone(User.find(999_999_999, {}, own)),
      'no way to log in of this name': () =>
        refused(User.create({ username: 'eve', authentication_method: 'by_telepathy' }, own), 400, 422),
    }),
  },
};
