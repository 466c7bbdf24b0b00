import assert from 'node:assert/strict';
import { Version3Client } from 'jira.js';
import { given, once, type Place, pages, refused, type Vendor } from '../kit.ts';

/** The credential is a person's address and token, as Basic authentication has them. */
const connect = (place: Place, token: string): Version3Client => {
  const [email = '', ...rest] = Buffer.from(token, 'base64').toString().split(':');
  return new Version3Client({ host: place.url, authentication: { basic: { email, apiToken: rest.join(':') } } });
};

const wrong = Buffer.from('ada@example.com:nobodyHasThisToken').toString('base64');

/** What the service says of a refusal: messages, or a message for each field. */
const said = (thrown: unknown): string[] => {
  const { errorMessages, errors } = thrown as { errorMessages?: string[]; errors?: Record<string, string> };
  const all = [...(errorMessages ?? []), ...Object.values(errors ?? {})];
  assert.ok(all.length > 0, 'nothing is said of what is wrong');
  return all;
};

const paragraph = (words: string) => ({
  type: 'doc' as const,
  version: 1 as const,
  content: [{ type: 'paragraph' as const, content: [{ type: 'text' as const, text: words }] }],
});

/** The text of a paragraph that the service gives back. */
const text = (body: unknown): string | undefined =>
  (body as { content?: { content?: { text?: string }[] }[] } | undefined)?.content?.[0]?.content?.[0]?.text;

const me = async (api: Version3Client): Promise<string> => given((await api.myself.getCurrentUser()).accountId, 'account id');

const project = async (api: Version3Client, key: string, name: string, description = '') =>
  api.projects.createProject({
    key,
    name,
    description,
    projectTypeKey: 'business',
    projectTemplateKey: 'com.atlassian.jira-core-project-templates:jira-core-simplified-project-management',
    leadAccountId: await me(api),
  });

const issue = (api: Version3Client, key: string, summary: string, more: object = {}) =>
  api.issues.createIssue({ fields: { project: { key }, summary, issuetype: { name: 'Task' }, ...more } });

/** A project with one issue: the issue's key. */
const begun = async (api: Version3Client, key: string): Promise<string> => {
  await project(api, key, `Project ${key}`);
  return given((await issue(api, key, 'Something to do')).key, 'key of the issue');
};

type Found<Row> = { readonly values?: Row[]; readonly isLast?: boolean; readonly startAt?: number };

/** Every row of a list that is asked for from a row on. */
const listed = <Row>(ask: (startAt: number) => Promise<Found<Row>>): Promise<Row[]> =>
  pages(
    async (from) => ask(Number(from ?? 0)),
    ({ values }) => given(values, 'values'),
    ({ values, isLast, startAt }) => (isLast || !values?.length ? undefined : String((startAt ?? 0) + values.length)),
  );

/** Guide: developer.atlassian.com/cloud/jira/platform/rest/v3, "Pagination", "Status codes", "Expansion", and each resource. */
export const vendor: Vendor<Version3Client> = {
  document: 'jira/jira.json',
  header: 'Authorization',
  word: 'Basic',
  made: Buffer.from('ada@example.com:ATATT3xFfGF0nobodyHasThisApiToken').toString('base64'),
  client: connect,
  strict: ['a token that is refused'],
  flows: {
    'a project from its making to its end': (api, s) => ({
      create: async () => {
        const made = await project(api, 'WEB', 'Website', 'Our pages');
        assert.equal(made.key, 'WEB');
        s.id = String(made.id);
      },
      'read by its key': async () => {
        const read = await api.projects.getProject({ projectIdOrKey: 'WEB' });
        assert.deepEqual([String(read.id), read.key, read.name, read.description], [s.id, 'WEB', 'Website', 'Our pages']);
      },
      'read by its id': async () => {
        const read = await api.projects.getProject({ projectIdOrKey: s.id });
        assert.deepEqual([String(read.id), read.key], [s.id, 'WEB']);
      },
      change: async () => {
        const changed = await api.projects.updateProject({
          projectIdOrKey: 'WEB',
          name: 'Old website',
          description: 'Closed',
        } as never);
        assert.deepEqual([String(changed.id), changed.name], [s.id, 'Old website']);
      },
      'it stays changed': async () => {
        const read = await api.projects.getProject({ projectIdOrKey: 'WEB' });
        assert.deepEqual([read.key, read.name, read.description], ['WEB', 'Old website', 'Closed']);
      },
      delete: async () => api.projects.deleteProject({ projectIdOrKey: 'WEB' }),
      'it is gone': async () => {
        said(await refused(api.projects.getProject({ projectIdOrKey: 'WEB' }), 404));
      },
    }),
    'projects page by page': (api, s) => ({
      'make five': async () => {
        const made = [];
        for (const key of ['ONE', 'TWO', 'THREE', 'FOUR', 'FIVE']) made.push(String((await project(api, key, `No ${key}`)).id));
        s.all = made.join(' ');
        once(made, made, 'made ids');
      },
      'two on a page': async () => {
        const page = await api.projects.searchProjects({ maxResults: 2 });
        assert.deepEqual([page.values?.length, page.maxResults, page.startAt, page.isLast], [2, 2, 0, false]);
      },
      'all pages': async () => {
        const rows = await listed((startAt) => api.projects.searchProjects({ startAt, maxResults: 2 }));
        once(
          rows.map(({ id }) => String(id)),
          s.all.split(' '),
          'projects',
        );
      },
      'those of two keys': async () => {
        const rows = await listed((startAt) => api.projects.searchProjects({ startAt, keys: ['ONE', 'FIVE'] }));
        assert.deepEqual(rows.map(({ key }) => key).sort(), ['FIVE', 'ONE']);
      },
      'how many there are': async () => {
        const { total } = await api.projects.searchProjects({ maxResults: 1 });
        const rows = await listed((startAt) => api.projects.searchProjects({ startAt, maxResults: 2 }));
        assert.equal(total, rows.length);
      },
    }),
    'an issue from its making to its end': (api, s) => ({
      create: async () => {
        await project(api, 'BUG', 'Bugs');
        const made = await issue(api, 'BUG', 'Main order flow broken', { labels: ['bugfix'] });
        [s.id, s.key] = [given(made.id, 'id'), given(made.key, 'key')];
        assert.match(s.key, /^BUG-\d+$/);
      },
      'read by its key': async () => {
        const read = await api.issues.getIssue({ issueIdOrKey: s.key });
        assert.deepEqual([read.id, read.key, read.fields.summary], [s.id, s.key, 'Main order flow broken']);
        assert.deepEqual([read.fields.labels, read.fields.project.key], [['bugfix'], 'BUG']);
      },
      'read one field of it': async () => {
        const { id, fields } = await api.issues.getIssue({ issueIdOrKey: s.id, fields: ['summary'] });
        assert.deepEqual([id, Object.keys(fields), fields.summary], [s.id, ['summary'], 'Main order flow broken']);
      },
      change: async () => {
        const fields = { summary: 'Order flow is slow', labels: ['slow'] };
        await api.issues.editIssue({ issueIdOrKey: s.key, fields });
      },
      'it stays changed': async () => {
        const { key, fields } = await api.issues.getIssue({ issueIdOrKey: s.id });
        assert.deepEqual([key, fields.summary, fields.labels], [s.key, 'Order flow is slow', ['slow']]);
      },
      delete: async () => api.issues.deleteIssue({ issueIdOrKey: s.key }),
      'it is gone': async () => {
        said(await refused(api.issues.getIssue({ issueIdOrKey: s.key }), 404));
      },
    }),
    'issues are found by a query': (api, s) => ({
      'make three': async () => {
        await project(api, 'FIND', 'To be found');
        for (const summary of ['Red', 'Green', 'Blue']) s[summary] = given((await issue(api, 'FIND', summary)).key, 'key');
        once([s.Red, s.Green, s.Blue], [s.Red, s.Green, s.Blue], 'keys');
      },
      'all of the project': async () => {
        const found = await api.issueSearch.searchForIssuesUsingJqlPost({ jql: 'project = FIND', fields: ['summary'] });
        assert.deepEqual([found.total, found.issues?.map(({ key }) => key).sort()], [3, [s.Red, s.Green, s.Blue].sort()]);
      },
      'one of them': async () => {
        const { issues } = await api.issueSearch.searchForIssuesUsingJql({ jql: `key = ${s.Green}` });
        assert.deepEqual(
          issues?.map(({ fields }) => fields.summary),
          ['Green'],
        );
      },
      'two on a page': async () => {
        const asked = { jql: 'project = FIND ORDER BY created ASC', maxResults: 2 };
        const first = await api.issueSearch.searchForIssuesUsingJqlPost({ ...asked, startAt: 0 });
        const second = await api.issueSearch.searchForIssuesUsingJqlPost({ ...asked, startAt: 2 });
        assert.deepEqual([first.issues?.length, second.issues?.length], [2, 1]);
        const keys = [...given(first.issues, 'issues'), ...given(second.issues, 'issues')].map(({ key }) => key);
        assert.deepEqual(keys, [s.Red, s.Green, s.Blue]);
      },
      'a query that is none': async () => {
        said(await refused(api.issueSearch.searchForIssuesUsingJqlPost({ jql: 'project ==== FIND' }), 400));
      },
    }),
    'people talk about an issue': (api, s) => ({
      'an issue': async () => {
        s.key = await begun(api, 'TALK');
      },
      comment: async () => {
        const made = await api.issueComments.addComment({ issueIdOrKey: s.key, comment: paragraph('I see it too') });
        s.id = given(made.id, 'id');
        assert.equal(text(made.body), 'I see it too');
        s.other = given((await api.issueComments.addComment({ issueIdOrKey: s.key, comment: paragraph('So do I') })).id, 'id');
        assert.notEqual(s.other, s.id);
      },
      'both are there': async () => {
        const { comments, total } = await api.issueComments.getComments({ issueIdOrKey: s.key });
        once(
          given(comments, 'comments').map(({ id }) => given(id, 'id')),
          [s.id, s.other],
          'comments',
        );
        assert.equal(total, 2);
      },
      'correct one': async () => {
        await api.issueComments.updateComment({ issueIdOrKey: s.key, id: s.id, body: paragraph('Not any more') as never });
        const read = await api.issueComments.getComment({ issueIdOrKey: s.key, id: s.id });
        assert.deepEqual([read.id, text(read.body)], [s.id, 'Not any more']);
      },
      'delete it': async () => {
        await api.issueComments.deleteComment({ issueIdOrKey: s.key, id: s.id });
        await refused(api.issueComments.getComment({ issueIdOrKey: s.key, id: s.id }), 404);
      },
      'the other stays': async () => {
        const { comments } = await api.issueComments.getComments({ issueIdOrKey: s.key });
        assert.deepEqual(
          comments?.map(({ id, body }) => [id, text(body)]),
          [[s.other, 'So do I']],
        );
      },
    }),
    'components of a project': (api, s) => ({
      create: async () => {
        await project(api, 'PART', 'Parts');
        const asked = { name: 'Engine', description: 'It turns', project: 'PART', assigneeType: 'PROJECT_LEAD' } as const;
        const made = await api.projectComponents.createComponent(asked);
        s.id = given(made.id, 'id');
        assert.deepEqual([made.name, made.description, made.project], ['Engine', 'It turns', 'PART']);
      },
      'another one': async () => {
        s.other = given((await api.projectComponents.createComponent({ name: 'Wheel', project: 'PART' })).id, 'id');
        assert.notEqual(s.other, s.id);
      },
      'both are of the project': async () => {
        const rows = await api.projectComponents.getProjectComponents({ projectIdOrKey: 'PART' });
        assert.deepEqual(rows.map(({ name }) => name).sort(), ['Engine', 'Wheel']);
      },
      rename: async () => {
        await api.projectComponents.updateComponent({ id: s.id, name: 'Motor' });
        const read = await api.projectComponents.getComponent({ id: s.id });
        assert.deepEqual([read.id, read.name, read.description], [s.id, 'Motor', 'It turns']);
      },
      delete: async () => {
        await api.projectComponents.deleteComponent({ id: s.id });
        await refused(api.projectComponents.getComponent({ id: s.id }), 404);
      },
      'the other stays': async () => {
        const rows = await api.projectComponents.getProjectComponents({ projectIdOrKey: 'PART' });
        assert.deepEqual(
          rows.map(({ id }) => id),
          [s.other],
        );
      },
    }),
    'versions of a project': (api, s) => ({
      plan: async () => {
        const { id } = await project(api, 'SHIP', 'Ships');
        s.project = String(id);
        const asked = { name: '1.0', description: 'The first', projectId: id, releaseDate: '2030-07-06' };
        const made = await api.projectVersions.createVersion(asked);
        s.id = given(made.id, 'id');
        assert.deepEqual([made.name, made.description, made.released, made.archived], ['1.0', 'The first', false, false]);
      },
      read: async () => {
        const read = await api.projectVersions.getVersion({ id: s.id });
        assert.deepEqual([read.id, read.name, String(read.projectId), read.releaseDate], [s.id, '1.0', s.project, '2030-07-06']);
      },
      release: async () => {
        const changed = await api.projectVersions.updateVersion({ id: s.id, released: true });
        assert.deepEqual([changed.id, changed.released], [s.id, true]);
      },
      'the next one': async () => {
        s.next = given((await api.projectVersions.createVersion({ name: '2.0', projectId: Number(s.project) })).id, 'id');
      },
      'released and not': async () => {
        const ask = async (status: string) =>
          (
            await listed((startAt) =>
              api.projectVersions.getProjectVersionsPaginated({ projectIdOrKey: 'SHIP', startAt, status }),
            )
          ).map(({ id }) => id);
        assert.deepEqual([await ask('released'), await ask('unreleased')], [[s.id], [s.next]]);
      },
      delete: async () => {
        await api.projectVersions.deleteAndReplaceVersion({ id: s.next });
        await refused(api.projectVersions.getVersion({ id: s.next }), 404);
      },
    }),
    'a filter and its favourites': (api, s) => ({
      create: async () => {
        const made = await api.filters.createFilter({
          name: 'Open bugs',
          description: 'All of them',
          favourite: false,
          jql: 'summary ~ "bug"',
        } as never);
        s.id = given(made.id, 'id');
        assert.deepEqual(
          [made.name, made.description, made.jql, made.favourite],
          ['Open bugs', 'All of them', 'summary ~ "bug"', false],
        );
      },
      'it is a favourite': async () => {
        assert.equal((await api.filters.setFavouriteForFilter({ id: Number(s.id) })).favourite, true);
        const rows = await api.filters.getFavouriteFilters();
        once(
          rows.map(({ id }) => given(id, 'id')),
          [s.id],
          'favourites',
        );
      },
      'it is found by its name': async () => {
        const rows = await listed((startAt) => api.filters.getFiltersPaginated({ filterName: 'Open bugs', startAt }));
        assert.deepEqual(
          rows.map(({ id, name }) => [id, name]),
          [[s.id, 'Open bugs']],
        );
      },
      change: async () => {
        await api.filters.updateFilter({ id: Number(s.id), name: 'Open tasks', jql: 'summary ~ "task"' } as never);
        const read = await api.filters.getFilter({ id: Number(s.id) });
        assert.deepEqual([read.id, read.name, read.jql], [s.id, 'Open tasks', 'summary ~ "task"']);
      },
      'it is no favourite any more': async () => {
        assert.equal((await api.filters.deleteFavouriteForFilter({ id: Number(s.id) })).favourite, false);
        assert.ok(!(await api.filters.getFavouriteFilters()).some(({ id }) => id === s.id));
      },
      delete: async () => {
        await api.filters.deleteFilter({ id: Number(s.id) });
        await refused(api.filters.getFilter({ id: Number(s.id) }), 400, 404);
      },
    }),
    'a dashboard and its copy': (api, s) => ({
      create: async () => {
        const asked = { name: 'Auditors', description: 'For audits', sharePermissions: [], editPermissions: [] };
        const made = await api.dashboards.createDashboard(asked);
        s.id = given(made.id, 'id');
        assert.deepEqual([made.name, made.description], ['Auditors', 'For audits']);
      },
      copy: async () => {
        const asked = { name: 'Auditors too', sharePermissions: [], editPermissions: [] };
        const made = await api.dashboards.copyDashboard({ id: s.id, ...asked });
        s.copy = given(made.id, 'id');
        assert.notEqual(s.copy, s.id);
        assert.equal(made.name, 'Auditors too');
      },
      'both are listed': async () => {
        const rows = await listed((startAt) => api.dashboards.getDashboardsPaginated({ dashboardName: 'Auditors', startAt }));
        once(
          rows.map(({ id }) => given(id, 'id')),
          [s.id, s.copy],
          'dashboards',
        );
      },
      rename: async () => {
        const asked = { name: 'Inspectors', sharePermissions: [], editPermissions: [] };
        await api.dashboards.updateDashboard({ id: s.copy, ...asked });
        assert.deepEqual((await api.dashboards.getDashboard({ id: s.copy })).name, 'Inspectors');
      },
      'the first is as it was': async () => assert.equal((await api.dashboards.getDashboard({ id: s.id })).name, 'Auditors'),
      delete: async () => {
        await api.dashboards.deleteDashboard({ id: s.copy });
        await refused(api.dashboards.getDashboard({ id: s.copy }), 404);
      },
    }),
    'a group and who is in it': (api, s) => ({
      create: async () => {
        const made = await api.groups.createGroup({ name: 'power-users' });
        s.id = given(made.groupId, 'id of the group');
        assert.equal(made.name, 'power-users');
      },
      'it is listed': async () => {
        const rows = await listed((startAt) => api.groups.bulkGetGroups({ startAt, groupName: ['power-users'] }));
        assert.deepEqual(
          rows.map(({ groupId, name }) => [groupId, name]),
          [[s.id, 'power-users']],
        );
      },
      'join it': async () => {
        s.me = await me(api);
        const joined = await api.groups.addUserToGroup({ groupId: s.id, accountId: s.me });
        assert.equal(joined.name, 'power-users');
      },
      'who is in it': async () => {
        const rows = await listed((startAt) => api.groups.getUsersFromGroup({ groupId: s.id, startAt }));
        assert.deepEqual(
          rows.map(({ accountId }) => accountId),
          [s.me],
        );
      },
      'leave it': async () => {
        await api.groups.removeUserFromGroup({ groupId: s.id, accountId: s.me });
        assert.deepEqual(await listed((startAt) => api.groups.getUsersFromGroup({ groupId: s.id, startAt })), []);
      },
      delete: async () => {
        await api.groups.removeGroup({ groupId: s.id });
        await refused(api.groups.getUsersFromGroup({ groupId: s.id }), 404);
      },
    }),
    'categories of projects': (api, s) => ({
      create: async () => {
        const made = await api.projectCategories.createProjectCategory({ name: 'CREATED', description: 'New ones' });
        s.id = given(made.id, 'id');
        assert.deepEqual([made.name, made.description], ['CREATED', 'New ones']);
      },
      'a name is there once': async () => {
        said(await refused(api.projectCategories.createProjectCategory({ name: 'CREATED' }), 409));
      },
      change: async () => {
        const changed = await api.projectCategories.updateProjectCategory({ id: Number(s.id), name: 'UPDATED' });
        assert.deepEqual([String(changed.id), changed.name], [s.id, 'UPDATED']);
      },
      'it stays changed': async () => {
        const read = await api.projectCategories.getProjectCategoryById({ id: Number(s.id) });
        assert.deepEqual([read.id, read.name, read.description], [s.id, 'UPDATED', 'New ones']);
      },
      'it is listed': async () => {
        const rows = await api.projectCategories.getAllProjectCategories();
        once(
          rows.map(({ id }) => given(id, 'id')),
          [s.id],
          'categories',
        );
      },
      delete: async () => {
        await api.projectCategories.removeProjectCategory({ id: Number(s.id) });
        await refused(api.projectCategories.getProjectCategoryById({ id: Number(s.id) }), 404);
      },
    }),
    'roles of a project': (api, s) => ({
      create: async () => {
        const made = await api.projectRoles.createProjectRole({ name: 'Reviewers', description: 'Who reviews' });
        s.id = String(given(made.id, 'id'));
        assert.deepEqual([made.name, made.description], ['Reviewers', 'Who reviews']);
      },
      'a name is there once': async () => refused(api.projectRoles.createProjectRole({ name: 'Reviewers' }), 409),
      'another description': async () => {
        const changed = await api.projectRoles.partialUpdateProjectRole({ id: Number(s.id), description: 'Who reads' });
        assert.deepEqual([String(changed.id), changed.description], [s.id, 'Who reads']);
      },
      'the name is the same': async () => {
        const read = await api.projectRoles.getProjectRoleById({ id: Number(s.id) });
        assert.deepEqual([String(read.id), read.name, read.description], [s.id, 'Reviewers', 'Who reads']);
      },
      delete: async () => {
        await api.projectRoles.deleteProjectRole({ id: Number(s.id) });
        await refused(api.projectRoles.getProjectRoleById({ id: Number(s.id) }), 404);
      },
    }),
    'kinds of links between issues': (api, s) => ({
      create: async () => {
        const asked = { name: 'Duplicate 2', inward: 'Duplicated by', outward: 'Duplicates' };
        const made = await api.issueLinkTypes.createIssueLinkType(asked);
        s.id = given(made.id, 'id');
        assert.partialDeepStrictEqual(made, asked);
      },
      'it is listed': async () => {
        const { issueLinkTypes } = await api.issueLinkTypes.getIssueLinkTypes();
        once(
          given(issueLinkTypes, 'link types').map(({ id }) => given(id, 'id')),
          [s.id],
          'link types',
        );
      },
      change: async () => {
        const asked = { name: 'Twin', inward: 'is twin of', outward: 'has twin' };
        await api.issueLinkTypes.updateIssueLinkType({ issueLinkTypeId: s.id, ...asked });
        assert.partialDeepStrictEqual(await api.issueLinkTypes.getIssueLinkType({ issueLinkTypeId: s.id }), {
          id: s.id,
          ...asked,
        });
      },
      delete: async () => {
        await api.issueLinkTypes.deleteIssueLinkType({ issueLinkTypeId: s.id });
        await refused(api.issueLinkTypes.getIssueLinkType({ issueLinkTypeId: s.id }), 404);
      },
    }),
    'what an app keeps with an issue': (api, s) => ({
      'an issue': async () => {
        s.key = await begun(api, 'KEEP');
      },
      set: async () => {
        const asked = { issueIdOrKey: s.key, propertyKey: 'support.tickets' };
        await api.issueProperties.setIssueProperty({ ...asked, propertyValue: { count: 2, open: true } });
      },
      read: async () => {
        const read = await api.issueProperties.getIssueProperty({ issueIdOrKey: s.key, propertyKey: 'support.tickets' });
        assert.deepEqual([read.key, read.value], ['support.tickets', { count: 2, open: true }]);
      },
      'its key is told': async () => {
        const { keys } = await api.issueProperties.getIssuePropertyKeys({ issueIdOrKey: s.key });
        assert.deepEqual(
          keys?.map(({ key }) => key),
          ['support.tickets'],
        );
      },
      'set it again': async () => {
        const asked = { issueIdOrKey: s.key, propertyKey: 'support.tickets' };
        await api.issueProperties.setIssueProperty({ ...asked, propertyValue: { count: 3 } });
        assert.deepEqual((await api.issueProperties.getIssueProperty(asked)).value, { count: 3 });
      },
      delete: async () => {
        const asked = { issueIdOrKey: s.key, propertyKey: 'support.tickets' };
        await api.issueProperties.deleteIssueProperty(asked);
        await refused(api.issueProperties.getIssueProperty(asked), 404);
      },
    }),
    'time that was spent on an issue': (api, s) => ({
      'an issue': async () => {
        s.key = await begun(api, 'TIME');
      },
      log: async () => {
        const asked = { issueIdOrKey: s.key, started: '2021-01-17T12:34:00.000+0000', timeSpentSeconds: 12000 };
        const made = await api.issueWorklogs.addWorklog({ ...asked, comment: paragraph('I did some work here.') });
        s.id = given(made.id, 'id');
        assert.deepEqual([made.timeSpentSeconds, text(made.comment)], [12000, 'I did some work here.']);
      },
      read: async () => {
        const read = await api.issueWorklogs.getWorklog({ issueIdOrKey: s.key, id: s.id });
        assert.deepEqual([read.id, read.timeSpentSeconds], [s.id, 12000]);
      },
      correct: async () => {
        await api.issueWorklogs.updateWorklog({ issueIdOrKey: s.key, id: s.id, timeSpentSeconds: 3600 });
        const { worklogs, total } = await api.issueWorklogs.getIssueWorklog({ issueIdOrKey: s.key });
        assert.deepEqual([total, worklogs?.map(({ id, timeSpentSeconds }) => [id, timeSpentSeconds])], [1, [[s.id, 3600]]]);
      },
      delete: async () => {
        await api.issueWorklogs.deleteWorklog({ issueIdOrKey: s.key, id: s.id });
        await refused(api.issueWorklogs.getWorklog({ issueIdOrKey: s.key, id: s.id }), 404);
      },
    }),
    'what an issue points to elsewhere': (api, s) => ({
      'an issue': async () => {
        s.key = await begun(api, 'LINK');
      },
      link: async () => {
        const object = { url: 'https://support.example.com/?id=1', title: 'TSTSUP-111', summary: 'Support issue' };
        const made = await api.issueRemoteLinks.createOrUpdateRemoteIssueLink({
          issueIdOrKey: s.key,
          globalId: 'support-1',
          object,
        });
        s.id = String(given(made.id, 'id'));
      },
      read: async () => {
        const { id, globalId, object } = await api.issueRemoteLinks.getRemoteIssueLinkById({ issueIdOrKey: s.key, linkId: s.id });
        assert.deepEqual([String(id), globalId, object?.title], [s.id, 'support-1', 'TSTSUP-111']);
      },
      'the same again changes it': async () => {
        const object = { url: 'https://support.example.com/?id=1', title: 'Solved' };
        const again = await api.issueRemoteLinks.createOrUpdateRemoteIssueLink({
          issueIdOrKey: s.key,
          globalId: 'support-1',
          object,
        });
        assert.equal(String(again.id), s.id);
        const rows = await api.issueRemoteLinks.getRemoteIssueLinks({ issueIdOrKey: s.key });
        assert.deepEqual(
          [rows].flat().map((row) => row.object?.title),
          ['Solved'],
        );
      },
      delete: async () => {
        await api.issueRemoteLinks.deleteRemoteIssueLinkById({ issueIdOrKey: s.key, linkId: s.id });
        await refused(api.issueRemoteLinks.getRemoteIssueLinkById({ issueIdOrKey: s.key, linkId: s.id }), 404);
      },
    }),
    'what is wrong': (api) => ({
      'an issue without a project': async () => {
        const thrown = await refused(api.issues.createIssue({ fields: { summary: 'Lost' } } as never), 400);
        said(thrown);
      },
      'a project without a name': async () => {
        said(await refused(api.projects.createProject({ key: 'NAMELESS', projectTypeKey: 'business' } as never), 400));
      },
      'an issue that is not there': async () => {
        said(await refused(api.issues.getIssue({ issueIdOrKey: 'NOBODY-999' }), 404));
      },
      'a component of no project': async () => {
        said(await refused(api.projectComponents.createComponent({ name: 'Loose', project: 'NOBODY' }), 400, 404));
      },
      'a comment on no issue': async () => {
        said(await refused(api.issueComments.addComment({ issueIdOrKey: 'NOBODY-999', comment: paragraph('Hello?') }), 404));
      },
    }),
    'a token that is refused': (api, _, another) => ({
      'the right one': async () => assert.equal(typeof (await me(api)), 'string'),
      'a wrong one': async () => refused(another(wrong).myself.getCurrentUser(), 401),
      'it cannot make anything': async () =>
        refused(another(wrong).projectCategories.createProjectCategory({ name: 'Intruders' }), 401),
    }),
  },
};
