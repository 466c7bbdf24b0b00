import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { BoxClient, BoxDeveloperTokenAuth } from 'box-node-sdk';
import { given, once, type Place, pages, refused, type Vendor } from '../kit.ts';

const connect = (place: Place, token: string): BoxClient =>
  new BoxClient({ auth: new BoxDeveloperTokenAuth({ token }) }).withCustomBaseUrls({
    baseUrl: place.url,
    uploadUrl: place.url,
    oauth2Url: place.url,
  });

const root = { id: '0' };

const folder = async (box: BoxClient, name: string, parent = root): Promise<string> =>
  given((await box.folders.createFolder({ name, parent })).id, 'id');

const file = async (box: BoxClient, name: string): Promise<string> => {
  const { entries } = await box.uploads.uploadFile({
    attributes: { name, parent: root },
    file: Readable.from([Buffer.from('hello world')]),
  });
  return given(entries?.[0]?.id, 'id of the file');
};

const ids = (rows: readonly { id?: string }[] | undefined): string[] => given(rows, 'entries').map(({ id }) => id ?? '');

/** Guide: developer.box.com, "Folders", "Uploads", "Pagination", "Trash" and the documents that come with the client. */
export const vendor: Vendor<BoxClient> = {
  document: 'box/openapi.json',
  header: 'Authorization',
  word: 'Bearer',
  made: 'made-up-token',
  client: connect,
  flows: {
    'a folder from its making to its end': (box, s) => ({
      create: async () => {
        const made = await box.folders.createFolder({ name: 'New Folder', parent: root });
        s.id = given(made.id, 'id');
        assert.deepEqual([made.type, made.name], ['folder', 'New Folder']);
      },
      read: async () => assert.equal((await box.folders.getFolderById(s.id)).name, 'New Folder'),
      change: async () => {
        const made = await box.folders.updateFolderById(s.id, { requestBody: { name: 'Contracts', description: 'Legal' } });
        assert.deepEqual([made.name, made.description], ['Contracts', 'Legal']);
      },
      'read the change': async () => assert.equal((await box.folders.getFolderById(s.id)).name, 'Contracts'),
      delete: async () => box.folders.deleteFolderById(s.id),
      gone: async () => refused(box.folders.getFolderById(s.id), 404),
    }),
    'items of a folder through all pages': (box, s) => ({
      create: async () => {
        s.parent = await folder(box, 'Parent');
        for (const n of [1, 2, 3]) s[`id${n}`] = await folder(box, `Child ${n}`, { id: s.parent });
      },
      'walk pages of two by a marker': async () => {
        const rows = await pages(
          async (marker) =>
            box.folders.getFolderItems(s.parent, {
              queryParams: { usemarker: true, limit: 2, ...(marker === undefined ? {} : { marker }) },
            }),
          (page) => given(page.entries, 'entries'),
          (page) => page.nextMarker || undefined,
        );
        once(
          rows.map(({ id }) => id),
          [s.id1, s.id2, s.id3],
        );
      },
      'a page holds what was asked for': async () =>
        assert.equal((await box.folders.getFolderItems(s.parent, { queryParams: { limit: 2 } })).entries?.length, 2),
    }),
    'a folder is copied': (box, s) => ({
      create: async () => {
        s.id = await folder(box, 'Original');
        s.into = await folder(box, 'Copies');
      },
      copy: async () => {
        const made = await box.folders.copyFolder(s.id, { name: 'Copy', parent: { id: s.into } });
        s.copy = given(made.id, 'id');
        assert.equal(made.name, 'Copy');
        assert.notEqual(s.copy, s.id);
      },
      'the copy is there': async () => assert.equal((await box.folders.getFolderById(s.copy)).name, 'Copy'),
      'the original is as it was': async () => assert.equal((await box.folders.getFolderById(s.id)).name, 'Original'),
    }),
    'a file is uploaded, commented on and deleted': (box, s) => ({
      upload: async () => {
        s.id = await file(box, 'hello.txt');
      },
      read: async () => assert.equal((await box.files.getFileById(s.id)).name, 'hello.txt'),
      rename: async () =>
        assert.equal((await box.files.updateFileById(s.id, { requestBody: { name: 'world.txt' } })).name, 'world.txt'),
      comment: async () => {
        const made = await box.comments.createComment({ message: 'Review completed!', item: { id: s.id, type: 'file' } });
        s.comment = given(made.id, 'id');
        assert.equal(made.message, 'Review completed!');
      },
      'list the comments': async () => once(ids((await box.comments.getFileComments(s.id)).entries), [s.comment]),
      'delete the comment': async () => box.comments.deleteCommentById(s.comment),
      'the comment is gone': async () => refused(box.comments.getCommentById(s.comment), 404),
      delete: async () => box.files.deleteFileById(s.id),
      gone: async () => refused(box.files.getFileById(s.id), 404),
    }),
    'a group and its members': (box, s) => ({
      'create both': async () => {
        s.group = given((await box.groups.createGroup({ name: 'Customer Support' })).id, 'id');
        s.user = given((await box.users.createUser({ name: 'Aaron Levie', login: 'boss@box.com' })).id, 'id');
      },
      join: async () => {
        const made = await box.memberships.createGroupMembership({
          user: { id: s.user },
          group: { id: s.group },
          role: 'member',
        });
        s.id = given(made.id, 'id');
        assert.deepEqual([made.user?.id, made.group?.id, made.role], [s.user, s.group, 'member']);
      },
      'list the members': async () => once(ids((await box.memberships.getGroupMemberships(s.group)).entries), [s.id]),
      'change the role': async () =>
        assert.equal((await box.memberships.updateGroupMembershipById(s.id, { requestBody: { role: 'admin' } })).role, 'admin'),
      leave: async () => box.memberships.deleteGroupMembershipById(s.id),
      gone: async () => refused(box.memberships.getGroupMembershipById(s.id), 404),
    }),
    'users through all pages': (box, s) => ({
      create: async () => {
        for (const n of [1, 2, 3])
          s[`id${n}`] = given((await box.users.createUser({ name: `User ${n}`, login: `u${n}@box.com` })).id, 'id');
      },
      'walk pages of two': async () => {
        const first = await box.users.getUsers({ limit: 2, offset: 0 });
        const second = await box.users.getUsers({ limit: 2, offset: 2 });
        once([...ids(first.entries), ...ids(second.entries)], [s.id1, s.id2, s.id3]);
      },
      change: async () =>
        assert.equal((await box.users.updateUserById(s.id1, { requestBody: { jobTitle: 'CEO' } })).jobTitle, 'CEO'),
      delete: async () => box.users.deleteUserById(s.id1),
      gone: async () => refused(box.users.getUserById(s.id1), 404),
    }),
    'a web link': (box, s) => ({
      create: async () => {
        const made = await box.webLinks.createWebLink({ url: 'https://box.com', parent: root, name: 'Box Website' });
        s.id = given(made.id, 'id');
        assert.deepEqual([made.url, made.name], ['https://box.com', 'Box Website']);
      },
      change: async () =>
        assert.equal((await box.webLinks.updateWebLinkById(s.id, { requestBody: { name: 'Home' } })).name, 'Home'),
      read: async () => assert.equal((await box.webLinks.getWebLinkById(s.id)).name, 'Home'),
      delete: async () => box.webLinks.deleteWebLinkById(s.id),
      gone: async () => refused(box.webLinks.getWebLinkById(s.id), 404),
    }),
    'a task on a file': (box, s) => ({
      'upload the file': async () => {
        s.file = await file(box, 'task.txt');
      },
      create: async () => {
        const made = await box.tasks.createTask({
          item: { id: s.file, type: 'file' },
          action: 'review',
          message: 'Please review',
        });
        s.id = given(made.id, 'id');
        assert.deepEqual([made.action, made.message], ['review', 'Please review']);
      },
      list: async () => once(ids((await box.tasks.getFileTasks(s.file)).entries), [s.id]),
      change: async () =>
        assert.equal((await box.tasks.updateTaskById(s.id, { requestBody: { message: 'Look' } })).message, 'Look'),
      delete: async () => box.tasks.deleteTaskById(s.id),
      gone: async () => refused(box.tasks.getTaskById(s.id), 404),
    }),
    'a webhook': (box, s) => ({
      create: async () => {
        const made = await box.webhooks.createWebhook({
          target: { id: '1231232', type: 'folder' },
          address: 'https://example.com/webhooks',
          triggers: ['FILE.UPLOADED'],
        });
        s.id = given(made.id, 'id');
        assert.equal(made.address, 'https://example.com/webhooks');
      },
      list: async () => once(ids((await box.webhooks.getWebhooks()).entries), [s.id]),
      change: async () => {
        const made = await box.webhooks.updateWebhookById(s.id, { requestBody: { address: 'https://example.com/new' } });
        assert.equal(made.address, 'https://example.com/new');
      },
      delete: async () => box.webhooks.deleteWebhookById(s.id),
      gone: async () => refused(box.webhooks.getWebhookById(s.id), 404),
    }),
    'a credential that is refused': (box, _s, another) => ({
      'the right one is taken': async () => assert.equal((await box.users.getUserMe()).type, 'user'),
      'another is refused': async () => refused(another('not-of-this-service').users.getUserMe(), 401),
      'another may not write': async () => refused(folder(another('not-of-this-service'), 'Eve'), 401),
    }),
    'requests that are wrong': (box) => ({
      'a folder that nobody made': async () => refused(box.folders.getFolderById('404404404'), 404),
      'a folder without a name': async () =>
        refused(box.folders.createFolder({ parent: root } as unknown as Parameters<typeof box.folders.createFolder>[0]), 400),
      'a page that is too large': async () => refused(box.folders.getFolderItems('0', { queryParams: { limit: 5000 } }), 400),
    }),
  },
};
