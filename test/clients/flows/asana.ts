import assert from 'node:assert/strict';
import { createReadStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Asana from 'asana';
import { once, type Place, refused, type Vendor } from '../kit.ts';

const connect = (place: Place, token: string): Asana.ApiClient => {
  const client = new Asana.ApiClient();
  client.basePath = place.base;
  client.authentications.token.accessToken = token;
  return client;
};

/** The workspace of the account, which is made with it: Asana's own examples call it so. */
const workspace = '12345';

interface Row {
  readonly gid: string;
  readonly name: string;
}

/** A page of Asana's client: a collection that knows its next. */
interface Page {
  readonly data: Row[];
  nextPage(): Promise<Page>;
}

const gids = ({ data }: { data: Row[] }): string[] => data.map(({ gid }) => gid);

const tasks = (client: Asana.ApiClient): Asana.TasksApi => new Asana.TasksApi(client);

const task = async (client: Asana.ApiClient, body: object): Promise<string> =>
  (await tasks(client).createTask({ data: { workspace, ...body } })).data.gid;

const project = async (client: Asana.ApiClient, name: string): Promise<string> =>
  (await new Asana.ProjectsApi(client).createProjectForWorkspace({ data: { name } }, workspace)).data.gid;

/** All pages of a list, as the README of the client walks them; no more than ten. */
const walk = async (first: Page): Promise<string[]> => {
  const rows = gids(first);
  let page = first;
  for (let n = 0; n < 10; n++) {
    page = await page.nextPage();
    if (!page.data) return rows;
    rows.push(...gids(page));
  }
  throw new Error('the pages do not end');
};

/** What Asana says of an error: a message for each. */
const told = (thrown: unknown): { message?: unknown }[] =>
  (thrown as { response?: { body?: { errors?: { message?: unknown }[] } } }).response?.body?.errors ?? [];

const wrong = async (call: Promise<unknown>, status: number): Promise<void> => {
  const errors = told(await refused(call, status));
  assert.equal(typeof errors[0]?.message, 'string', 'the error has a message');
};

/** Guide: developers.asana.com, "Object hierarchy", "Input/output options", "Pagination", "Errors", and the reference of each resource. */
export const vendor: Vendor<Asana.ApiClient> = {
  document: 'asana/asana.com.json',
  header: 'Authorization',
  word: 'Bearer',
  made: '1/1200000000000001:0123456789abcdef0123456789abcdef',
  client: connect,
  flows: {
    'a task is made, renamed, completed and deleted': (client, s) => ({
      create: async () => {
        const { data: made } = await tasks(client).createTask({
          data: { name: 'Buy catnip', notes: 'Mittens likes it', workspace },
        });
        s.id = made.gid;
        assert.deepEqual(
          [made.resource_type, made.name, made.notes, made.completed],
          ['task', 'Buy catnip', 'Mittens likes it', false],
        );
      },
      read: async () => {
        const { data: read } = await tasks(client).getTask(s.id);
        assert.deepEqual([read.gid, read.name, read.notes], [s.id, 'Buy catnip', 'Mittens likes it']);
      },
      rename: async () => {
        const { data: changed } = await tasks(client).updateTask({ data: { name: 'Buy some catnip.' } }, s.id);
        assert.deepEqual([changed.name, changed.notes], ['Buy some catnip.', 'Mittens likes it']);
      },
      complete: async () =>
        assert.equal((await tasks(client).updateTask({ data: { completed: true } }, s.id)).data.completed, true),
      'it says when': async () => assert.equal(typeof (await tasks(client).getTask(s.id)).data.completed_at, 'string'),
      'delete answers with an empty object': async () => assert.deepEqual((await tasks(client).deleteTask(s.id)).data, {}),
      'it is gone': async () => wrong(tasks(client).getTask(s.id), 404),
    }),
    'the tasks of a project through all pages': (client, s) => ({
      'create the project': async () => {
        s.project = await project(client, 'Stuff to buy');
      },
      'create five': async () => {
        for (const n of [1, 2, 3, 4, 5]) s[`id${n}`] = await task(client, { name: `Task ${n}`, projects: [s.project] });
      },
      'create one of no project': async () => {
        s.other = await task(client, { name: 'Elsewhere' });
      },
      'pages of two': async () =>
        once(await walk(await tasks(client).getTasks({ project: s.project, limit: 2 })), [s.id1, s.id2, s.id3, s.id4, s.id5]),
      'a page holds what was asked for': async () =>
        assert.equal((await tasks(client).getTasks({ project: s.project, limit: 2 })).data.length, 2),
      'those of the project name it': async () => {
        const { data: read } = await tasks(client).getTask(s.id1);
        assert.deepEqual(
          read.projects.map(({ gid }: Row) => gid),
          [s.project],
        );
      },
    }),
    'a project is archived': (client, s) => ({
      create: async () => {
        const body = { data: { name: 'Stuff to buy', notes: 'These are things we need to purchase.', color: 'light-green' } };
        const { data: made } = await new Asana.ProjectsApi(client).createProjectForWorkspace(body, workspace);
        s.id = made.gid;
        assert.partialDeepStrictEqual(made, { resource_type: 'project', ...body.data });
      },
      'create another': async () => {
        s.other = await project(client, 'Kept');
      },
      archive: async () => {
        const { data: changed } = await new Asana.ProjectsApi(client).updateProject({ data: { archived: true } }, s.id);
        assert.deepEqual([changed.archived, changed.name], [true, 'Stuff to buy']);
      },
      'list the archived ones': async () =>
        assert.deepEqual(gids(await new Asana.ProjectsApi(client).getProjectsForWorkspace(workspace, { archived: true })), [
          s.id,
        ]),
      'list the others': async () =>
        assert.deepEqual(gids(await new Asana.ProjectsApi(client).getProjectsForWorkspace(workspace, { archived: false })), [
          s.other,
        ]),
      delete: async () => assert.deepEqual((await new Asana.ProjectsApi(client).deleteProject(s.id)).data, {}),
      'it is gone': async () => wrong(new Asana.ProjectsApi(client).getProject(s.id), 404),
    }),
    'the sections of a project': (client, s) => ({
      'create the project': async () => {
        s.project = await project(client, 'Board');
      },
      create: async () => {
        const sections = new Asana.SectionsApi(client);
        const { data: made } = await sections.createSectionForProject(s.project, { body: { data: { name: 'Next Actions' } } });
        s.id = made.gid;
        assert.deepEqual([made.resource_type, made.name, made.project.gid], ['section', 'Next Actions', s.project]);
      },
      'it is among those of the project': async () =>
        assert.ok(gids(await new Asana.SectionsApi(client).getSectionsForProject(s.project, {})).includes(s.id)),
      'add a task': async () => {
        s.task = await task(client, { name: 'Move me', projects: [s.project] });
        const body = { data: { task: s.task } };
        assert.deepEqual((await new Asana.SectionsApi(client).addTaskForSection(s.id, { body })).data, {});
      },
      'the section has it': async () => assert.deepEqual(gids(await tasks(client).getTasksForSection(s.id, {})), [s.task]),
      rename: async () => {
        const body = { data: { name: 'Done' } };
        assert.equal((await new Asana.SectionsApi(client).updateSection(s.id, { body })).data.name, 'Done');
      },
    }),
    'a tag on a task': (client, s) => ({
      'create the tag': async () => {
        const body = { data: { name: 'urgent', color: 'dark-red', workspace } };
        const { data: made } = await new Asana.TagsApi(client).createTag(body);
        s.tag = made.gid;
        assert.deepEqual([made.resource_type, made.name, made.color], ['tag', 'urgent', 'dark-red']);
      },
      'add it to a task': async () => {
        s.id = await task(client, { name: 'Call the vet' });
        assert.deepEqual((await tasks(client).addTagForTask({ data: { tag: s.tag } }, s.id)).data, {});
      },
      'the task has it': async () => assert.deepEqual(gids(await new Asana.TagsApi(client).getTagsForTask(s.id, {})), [s.tag]),
      'the tag has the task': async () => assert.deepEqual(gids(await tasks(client).getTasksForTag(s.tag, {})), [s.id]),
      'take it away': async () =>
        assert.deepEqual((await tasks(client).removeTagForTask({ data: { tag: s.tag } }, s.id)).data, {}),
      'the task has none': async () => assert.deepEqual((await new Asana.TagsApi(client).getTagsForTask(s.id, {})).data, []),
    }),
    'a task under a task': (client, s) => ({
      'create the task': async () => {
        s.id = await task(client, { name: 'Prepare the party' });
      },
      'create what is under it': async () => {
        const { data: made } = await tasks(client).createSubtaskForTask({ data: { name: 'Buy candles' } }, s.id);
        s.under = made.gid;
        assert.deepEqual([made.name, made.parent.gid], ['Buy candles', s.id]);
      },
      list: async () => assert.deepEqual(gids(await tasks(client).getSubtasksForTask(s.id, {})), [s.under]),
      'put another under it': async () => {
        s.moved = await task(client, { name: 'Bake' });
        assert.equal((await tasks(client).setParentForTask({ data: { parent: s.id } }, s.moved, {})).data.parent.gid, s.id);
      },
      'list both': async () => once(gids(await tasks(client).getSubtasksForTask(s.id, {})), [s.under, s.moved]),
    }),
    'a comment on a task': (client, s) => ({
      'create the task': async () => {
        s.task = await task(client, { name: 'Discuss' });
      },
      comment: async () => {
        const { data: made } = await new Asana.StoriesApi(client).createStoryForTask(
          { data: { text: 'This is a comment.' } },
          s.task,
        );
        s.id = made.gid;
        assert.deepEqual([made.resource_type, made.text], ['story', 'This is a comment.']);
      },
      'it is among those of the task': async () =>
        assert.ok(gids(await new Asana.StoriesApi(client).getStoriesForTask(s.task, {})).includes(s.id)),
      change: async () => {
        const body = { data: { text: 'This is another.', is_pinned: true } };
        const { data: changed } = await new Asana.StoriesApi(client).updateStory(body, s.id);
        assert.deepEqual([changed.text, changed.is_pinned], ['This is another.', true]);
      },
      delete: async () => assert.deepEqual((await new Asana.StoriesApi(client).deleteStory(s.id)).data, {}),
      'it is gone': async () => wrong(new Asana.StoriesApi(client).getStory(s.id), 404),
    }),
    'a task that waits for another': (client, s) => ({
      'create two': async () => {
        s.id = await task(client, { name: 'Roof' });
        s.first = await task(client, { name: 'Walls' });
      },
      wait: async () => {
        await tasks(client).addDependenciesForTask({ data: { dependencies: [s.first] } }, s.id);
      },
      'it waits for the other': async () =>
        assert.deepEqual(gids(await tasks(client).getDependenciesForTask(s.id, {})), [s.first]),
      'the other is waited for': async () =>
        assert.deepEqual(gids(await tasks(client).getDependentsForTask(s.first, {})), [s.id]),
    }),
    'only the fields that are asked for': (client, s) => ({
      'create the task': async () => {
        s.project = await project(client, 'Fields');
        s.id = await task(client, { name: 'Narrow', notes: 'and short', projects: [s.project] });
      },
      'a list is compact': async () => {
        const { data } = await tasks(client).getTasks({ project: s.project });
        assert.deepEqual([data[0].name, data[0].notes], ['Narrow', undefined]);
      },
      'a list with a field more': async () => {
        const { data } = await tasks(client).getTasks({ project: s.project, opt_fields: 'name,notes' });
        assert.deepEqual(data, [{ gid: s.id, name: 'Narrow', notes: 'and short' }]);
      },
      'a task with one field': async () => {
        const { data: read } = await tasks(client).getTask(s.id, { opt_fields: 'completed' });
        assert.deepEqual(read, { gid: s.id, completed: false });
      },
    }),
    'a project in a portfolio': (client, s) => ({
      'create both': async () => {
        s.project = await project(client, 'Launch');
        const body = { data: { name: 'All launches', color: 'light-blue', workspace } };
        const { data: made } = await new Asana.PortfoliosApi(client).createPortfolio(body);
        s.id = made.gid;
        assert.deepEqual([made.resource_type, made.name, made.color], ['portfolio', 'All launches', 'light-blue']);
      },
      add: async () => {
        const body = { data: { item: s.project } };
        assert.deepEqual((await new Asana.PortfoliosApi(client).addItemForPortfolio(body, s.id)).data, {});
      },
      list: async () => assert.deepEqual(gids(await new Asana.PortfoliosApi(client).getItemsForPortfolio(s.id, {})), [s.project]),
      'take it out': async () => {
        const body = { data: { item: s.project } };
        assert.deepEqual((await new Asana.PortfoliosApi(client).removeItemForPortfolio(body, s.id)).data, {});
      },
      'it is empty': async () =>
        assert.deepEqual((await new Asana.PortfoliosApi(client).getItemsForPortfolio(s.id, {})).data, []),
      'the project stays': async () =>
        assert.equal((await new Asana.ProjectsApi(client).getProject(s.project)).data.name, 'Launch'),
    }),
    'a custom field and its options': (client, s) => ({
      create: async () => {
        const body = {
          data: { name: 'Priority', resource_subtype: 'enum', workspace, enum_options: [{ name: 'Low', color: 'blue' }] },
        };
        const { data: made } = await new Asana.CustomFieldsApi(client).createCustomField(body);
        s.id = made.gid;
        assert.deepEqual([made.resource_type, made.name, made.resource_subtype], ['custom_field', 'Priority', 'enum']);
        assert.deepEqual(
          made.enum_options.map(({ name }: Row) => name),
          ['Low'],
        );
      },
      'add an option': async () => {
        const body = { data: { name: 'High', color: 'red' } };
        const { data: made } = await new Asana.CustomFieldsApi(client).createEnumOptionForCustomField(s.id, { body });
        s.option = made.gid;
        assert.deepEqual([made.resource_type, made.name, made.color], ['enum_option', 'High', 'red']);
      },
      'the field has both': async () => {
        const { data: read } = await new Asana.CustomFieldsApi(client).getCustomField(s.id);
        assert.deepEqual(
          read.enum_options.map(({ name }: Row) => name),
          ['Low', 'High'],
        );
      },
      'it is one of the workspace': async () =>
        assert.ok(gids(await new Asana.CustomFieldsApi(client).getCustomFieldsForWorkspace(workspace, {})).includes(s.id)),
    }),
    'a project is duplicated': (client, s) => ({
      'create the project': async () => {
        s.id = await project(client, 'Template');
      },
      duplicate: async () => {
        const body = { data: { name: 'New Project Name', include: 'members,notes,task_notes' } };
        const { data: job } = await new Asana.ProjectsApi(client).duplicateProject(s.id, { body });
        s.job = job.gid;
        s.copy = job.new_project.gid;
        assert.deepEqual([job.resource_type, job.new_project.name], ['job', 'New Project Name']);
        assert.notEqual(s.copy, s.id);
      },
      'the job is found again': async () => {
        const { data: job } = await new Asana.JobsApi(client).getJob(s.job, {});
        assert.deepEqual([job.gid, job.new_project.gid], [s.job, s.copy]);
      },
      'so is the copy': async () =>
        assert.equal((await new Asana.ProjectsApi(client).getProject(s.copy)).data.name, 'New Project Name'),
    }),
    'a file on a task, sent as a form': (client, s) => ({
      'create the task': async () => {
        s.task = await task(client, { name: 'Read the paper' });
      },
      upload: async () => {
        const folder = mkdtempSync(join(tmpdir(), 'attachment-'));
        try {
          const path = join(folder, 'paper.txt');
          writeFileSync(path, 'a paper');
          // The client takes a stream here; its types say that it is a string.
          const file = createReadStream(path) as unknown as string;
          const { data: made } = await new Asana.AttachmentsApi(client).createAttachmentForObject({ parent: s.task, file });
          s.id = made.gid;
          assert.deepEqual([made.resource_type, made.name, made.parent.gid], ['attachment', 'paper.txt', s.task]);
        } finally {
          rmSync(folder, { recursive: true });
        }
      },
      list: async () =>
        assert.deepEqual(gids(await new Asana.AttachmentsApi(client).getAttachmentsForObject(s.task, {})), [s.id]),
      delete: async () => assert.deepEqual((await new Asana.AttachmentsApi(client).deleteAttachment(s.id)).data, {}),
      'it is gone': async () => wrong(new Asana.AttachmentsApi(client).getAttachment(s.id), 404),
    }),
    'a credential that is refused': (client, _s, another) => ({
      'the right one is taken': async () =>
        assert.deepEqual((await new Asana.ProjectsApi(client).getProjectsForWorkspace(workspace, {})).data, []),
      'none is refused': async () => wrong(new Asana.ProjectsApi(another('')).getProjectsForWorkspace(workspace, {}), 401),
    }),
    'requests that are wrong': (client) => ({
      'a task that nobody made': async () => wrong(tasks(client).getTask('1209999999999999'), 404),
      'a section without its name': async () => {
        const gid = await project(client, 'Board');
        await wrong(new Asana.SectionsApi(client).createSectionForProject(gid, { body: { data: {} } }), 400);
      },
      'completed is a word': async () =>
        wrong(tasks(client).createTask({ data: { workspace, name: 'No', completed: 'perhaps' } }), 400),
      'a color that is none': async () =>
        wrong(new Asana.TagsApi(client).createTag({ data: { name: 'late', color: 'infrared', workspace } }), 400),
    }),
  },
};
