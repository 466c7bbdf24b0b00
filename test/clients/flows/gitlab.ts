import assert from 'node:assert/strict';
import gitlab from 'gitlab';
import { given, numbered, once, type Place, refused, type Vendor } from '../kit.ts';

type Client = InstanceType<typeof gitlab.Gitlab>;
type Row = Readonly<Record<string, unknown>>;

const connect = (place: Place, token: string): Client => new gitlab.Gitlab({ host: place.url, token, version: 3 });

/** What the client gives back has hardly any types. */
const row = async (answer: Promise<unknown>): Promise<Row> => {
  const one = await answer;
  assert.ok(typeof one === 'object' && one !== null && !Array.isArray(one), 'the answer is not an object');
  return one as Row;
};
const rows = async (answer: Promise<unknown>): Promise<Row[]> => {
  const all = await answer;
  assert.ok(Array.isArray(all), 'the answer is not a list');
  return all as Row[];
};
const id = (one: Row): string => String(given(one.id, 'id'));
const ids = (all: readonly Row[]): string[] => all.map(id);

/** What the service says of a refusal: a sentence, or what is wrong with each field. */
const said = (thrown: unknown): string => JSON.stringify(given((thrown as { description?: unknown }).description, 'message'));

const project = (api: Client, name: string, more: object = {}): Promise<Row> =>
  row(api.Projects.create({ name, ...more } as never));

/** A project of its own: its number. */
const home = async (api: Client, name: string): Promise<number> => Number(id(await project(api, name)));

const issue = (api: Client, where: number, title: string, more: object = {}): Promise<Row> =>
  row(api.Issues.create(where, { title, ...more }));

const person = (api: Client, username: string): Promise<Row> =>
  row(
    api.Users.create({
      username,
      name: `${username} Doe`,
      email: `${username}@example.com`,
      password: `a-long-pass-of-${username}`,
      confirm: false,
    }),
  );

/** Guide: docs.gitlab.com/ee/api of GitLab 8.17 (v3), "Status codes", "Pagination", "Data validation and error reporting", and each resource. */
export const vendor: Vendor<Client> = {
  document: 'gitlab/gitlab.com.json',
  header: 'Private-Token',
  made: '9koXpg98eAheJpvBs5tK',
  client: connect,
  flows: {
    'a project from its making to its end': (api, s) => ({
      create: async () => {
        const made = await project(api, 'website', { description: 'Our pages' });
        s.id = id(made);
        assert.deepEqual([made.name, made.path, made.description], ['website', 'website', 'Our pages']);
      },
      read: async () => {
        const read = await row(api.Projects.show(s.id));
        assert.deepEqual([id(read), read.name, read.description], [s.id, 'website', 'Our pages']);
      },
      change: async () => {
        const changed = await row(api.Projects.edit(s.id, { name: 'website', description: 'Old pages' }));
        assert.deepEqual([id(changed), changed.description], [s.id, 'Old pages']);
      },
      'it stays changed': async () => assert.equal((await row(api.Projects.show(s.id))).description, 'Old pages'),
      delete: async () => api.Projects.remove(s.id),
      'it is gone': async () => assert.match(said(await refused(api.Projects.show(s.id), 404)), /./),
    }),
    'projects page by page': (api, s) => ({
      'make five': async () => {
        const made = [];
        for (const name of ['one', 'two', 'three', 'four', 'five']) made.push(id(await project(api, name)));
        s.all = made.join(' ');
        once(made, made, 'made ids');
      },
      'two on a page': async () => assert.equal((await rows(api.Projects.all({ page: 1, perPage: 2 }))).length, 2),
      'all pages': async () => {
        const all = await numbered((page) => rows(api.Projects.all({ page, perPage: 2 })));
        once(ids(all), s.all.split(' '), 'projects');
      },
      'those of a name': async () => {
        const found = await rows(api.Projects.all({ search: 'three' }));
        assert.deepEqual(
          found.map(({ name }) => name),
          ['three'],
        );
      },
    }),
    'an issue from its report to its end': (api, s) => ({
      report: async () => {
        s.home = String(await home(api, 'tracker'));
        const made = await issue(api, Number(s.home), 'It is broken', { description: 'Since today', labels: 'bug' });
        s.id = id(made);
        assert.deepEqual([made.title, made.description, made.state], ['It is broken', 'Since today', 'opened']);
        assert.deepEqual([String(made.project_id), made.labels], [s.home, ['bug']]);
      },
      read: async () => {
        const read = await row(api.Issues.show(s.home, Number(s.id)));
        assert.deepEqual([id(read), read.title], [s.id, 'It is broken']);
      },
      close: async () => {
        const changed = await row(api.Issues.edit(s.home, Number(s.id), { stateEvent: 'close', title: 'It was broken' }));
        assert.deepEqual([id(changed), changed.title, changed.state], [s.id, 'It was broken', 'closed']);
      },
      'it stays closed': async () => {
        const read = await row(api.Issues.show(s.home, Number(s.id)));
        assert.deepEqual([read.title, read.state], ['It was broken', 'closed']);
      },
      delete: async () => api.Issues.remove(s.home, Number(s.id)),
      'it is gone': async () => refused(api.Issues.show(s.home, Number(s.id)), 404),
    }),
    'issues by their state and label': (api, s) => ({
      'report three': async () => {
        s.home = String(await home(api, 'triage'));
        s.slow = id(await issue(api, Number(s.home), 'It is slow', { labels: 'bug' }));
        s.green = id(await issue(api, Number(s.home), 'It is green', { labels: 'idea' }));
        s.small = id(await issue(api, Number(s.home), 'It is small', { labels: 'bug' }));
      },
      'all three': async () => {
        const all = await rows(api.Issues.all({ projectId: s.home } as never));
        assert.deepEqual(ids(all).sort(), [s.slow, s.green, s.small].sort());
      },
      'bugs alone': async () => {
        const found = await rows(api.Issues.all({ projectId: s.home, labels: 'bug' } as never));
        assert.deepEqual(ids(found).sort(), [s.slow, s.small].sort());
      },
      'close one': async () => api.Issues.edit(s.home, Number(s.slow), { stateEvent: 'close' }),
      'the closed one alone': async () => {
        const found = await rows(api.Issues.all({ projectId: s.home, state: 'closed' } as never));
        assert.deepEqual(ids(found), [s.slow]);
      },
      'one on a page': async () => {
        const all = await numbered((page) => rows(api.Issues.all({ projectId: s.home, page, perPage: 1 } as never)));
        assert.deepEqual(ids(all).sort(), [s.slow, s.green, s.small].sort());
      },
    }),
    'people talk about an issue': (api, s) => ({
      'an issue': async () => {
        s.home = String(await home(api, 'talk'));
        s.issue = id(await issue(api, Number(s.home), 'What about this?'));
      },
      comment: async () => {
        const made = await row(api.IssueNotes.create(s.home, s.issue, 'I see it too', {}));
        s.id = id(made);
        assert.equal(made.body, 'I see it too');
      },
      read: async () => assert.equal((await row(api.IssueNotes.show(s.home, s.issue, Number(s.id)))).body, 'I see it too'),
      correct: async () => {
        await api.IssueNotes.edit(s.home, s.issue, Number(s.id), 'Not any more', {});
        assert.equal((await row(api.IssueNotes.show(s.home, s.issue, Number(s.id)))).body, 'Not any more');
      },
      'it is listed': async () => {
        const all = await rows(api.IssueNotes.all(s.home, s.issue));
        assert.deepEqual(
          all.map(({ body }) => body),
          ['Not any more'],
        );
      },
      delete: async () => {
        await api.IssueNotes.remove(s.home, s.issue, Number(s.id));
        await refused(api.IssueNotes.show(s.home, s.issue, Number(s.id)), 404);
      },
    }),
    'milestones of a project': (api, s) => ({
      plan: async () => {
        s.home = String(await home(api, 'plans'));
        const made = await row(api.ProjectMilestones.create(s.home, '1.0', { description: 'The first', dueDate: '2030-07-06' }));
        s.id = id(made);
        assert.deepEqual([made.title, made.description, made.due_date, made.state], ['1.0', 'The first', '2030-07-06', 'active']);
      },
      read: async () => assert.equal((await row(api.ProjectMilestones.show(s.home, Number(s.id)))).title, '1.0'),
      close: async () => {
        const changed = await row(api.ProjectMilestones.edit(s.home, Number(s.id), { stateEvent: 'close' }));
        assert.deepEqual([id(changed), changed.title, changed.state], [s.id, '1.0', 'closed']);
      },
      'the next one': async () => {
        s.next = id(await row(api.ProjectMilestones.create(s.home, '2.0', {})));
      },
      'closed and active': async () => {
        const closed = await rows(api.ProjectMilestones.all(s.home, { state: 'closed' }));
        const active = await rows(api.ProjectMilestones.all(s.home, { state: 'active' }));
        assert.deepEqual([ids(closed), ids(active)], [[s.id], [s.next]]);
      },
    }),
    'a hook of a project': (api, s) => ({
      add: async () => {
        s.home = String(await home(api, 'hooked'));
        const made = await row(
          api.ProjectHooks.add(s.home, 'https://ci.example.com/hook', { pushEvents: true, issuesEvents: false }),
        );
        s.id = id(made);
        assert.deepEqual(
          [made.url, String(made.push_events), String(made.issues_events)],
          ['https://ci.example.com/hook', 'true', 'false'],
        );
      },
      read: async () => {
        const read = await row(api.ProjectHooks.show(s.home, Number(s.id)));
        assert.deepEqual([id(read), read.url], [s.id, 'https://ci.example.com/hook']);
      },
      change: async () => {
        await api.ProjectHooks.edit(s.home, Number(s.id), 'https://ci.example.com/other', { issuesEvents: true });
        const read = await row(api.ProjectHooks.show(s.home, Number(s.id)));
        assert.deepEqual([read.url, String(read.issues_events)], ['https://ci.example.com/other', 'true']);
      },
      'it is listed': async () => assert.deepEqual(ids(await rows(api.ProjectHooks.all(s.home))), [s.id]),
      delete: async () => {
        await api.ProjectHooks.remove(s.home, Number(s.id));
        await refused(api.ProjectHooks.show(s.home, Number(s.id)), 404);
      },
    }),
    'variables of a project': (api, s) => ({
      set: async () => {
        s.home = String(await home(api, 'built'));
        const made = await row(api.ProjectVariables.create(s.home, { key: 'REGION', value: 'eu-west-1' }));
        assert.deepEqual([made.key, made.value], ['REGION', 'eu-west-1']);
      },
      read: async () => assert.equal((await row(api.ProjectVariables.show(s.home, 'REGION'))).value, 'eu-west-1'),
      'another value': async () => {
        await api.ProjectVariables.edit(s.home, 'REGION', { value: 'us-east-1' });
        assert.equal((await row(api.ProjectVariables.show(s.home, 'REGION'))).value, 'us-east-1');
      },
      'another one': async () => {
        await api.ProjectVariables.create(s.home, { key: 'STAGE', value: 'test' });
        const all = await rows(api.ProjectVariables.all(s.home));
        assert.deepEqual(all.map(({ key }) => key).sort(), ['REGION', 'STAGE']);
      },
      'a key is there once': async () => refused(api.ProjectVariables.create(s.home, { key: 'STAGE', value: 'live' }), 400),
      delete: async () => {
        await api.ProjectVariables.remove(s.home, 'REGION');
        await refused(api.ProjectVariables.show(s.home, 'REGION'), 404);
      },
    }),
    'a group from its making to its end': (api, s) => ({
      create: async () => {
        const made = await row(api.Groups.create({ name: 'Gardeners', path: 'gardeners', description: 'Who garden' }));
        s.id = id(made);
        assert.deepEqual([made.name, made.path, made.description], ['Gardeners', 'gardeners', 'Who garden']);
      },
      read: async () => assert.equal((await row(api.Groups.show(s.id))).path, 'gardeners'),
      'it is found': async () => assert.deepEqual(ids(await rows(api.Groups.search('gardeners'))), [s.id]),
      rename: async () => {
        await api.Groups.edit(s.id, { name: 'Planters' });
        const read = await row(api.Groups.show(s.id));
        assert.deepEqual([read.name, read.path], ['Planters', 'gardeners']);
      },
      'a project in it': async () => {
        const made = await project(api, 'beds', { namespaceId: Number(s.id) });
        assert.deepEqual(ids(await rows(api.Groups.projects(s.id))), [id(made)]);
      },
      delete: async () => {
        await api.Groups.remove(s.id);
        await refused(api.Groups.show(s.id), 404);
      },
    }),
    'a person from their joining to their end': (api, s) => ({
      join: async () => {
        const made = await person(api, 'petra');
        s.id = id(made);
        assert.deepEqual([made.username, made.name, made.email], ['petra', 'petra Doe', 'petra@example.com']);
      },
      'they are found by name': async () => assert.deepEqual(ids(await rows(api.Users.all({ username: 'petra' }))), [s.id]),
      change: async () => {
        await api.Users.edit(Number(s.id), { name: 'Petra P.', location: 'Graz' });
        const read = await row(api.Users.show(Number(s.id)));
        assert.deepEqual([read.name, read.location, read.username], ['Petra P.', 'Graz', 'petra']);
      },
      'a name is there once': async () => refused(person(api, 'petra'), 409),
      delete: async () => {
        await api.Users.remove(Number(s.id));
        await refused(api.Users.show(Number(s.id)), 404);
      },
    }),
    'who works on a project': (api, s) => ({
      'a project and a person': async () => {
        s.home = String(await home(api, 'shared'));
        s.id = id(await person(api, 'walter'));
      },
      'they join': async () => {
        const made = await row(api.ProjectMembers.add(s.home, Number(s.id), 30, {}));
        assert.deepEqual([id(made), made.username, String(made.access_level)], [s.id, 'walter', '30']);
      },
      'they are listed': async () => assert.ok(ids(await rows(api.ProjectMembers.all(s.home, {} as never))).includes(s.id)),
      'they may do more': async () => {
        await api.ProjectMembers.edit(s.home, Number(s.id), 40, {});
        const read = await row(api.ProjectMembers.show(s.home, Number(s.id), {} as never));
        assert.deepEqual([id(read), String(read.access_level)], [s.id, '40']);
      },
      'they leave': async () => {
        await api.ProjectMembers.remove(s.home, Number(s.id), {});
        await refused(api.ProjectMembers.show(s.home, Number(s.id), {} as never), 404);
      },
    }),
    'environments of a project': (api, s) => ({
      create: async () => {
        s.home = String(await home(api, 'deployed'));
        const made = await row(api.Environments.create(s.home, { name: 'staging', externalUrl: 'https://staging.example.com' }));
        s.id = id(made);
        assert.deepEqual([made.name, made.external_url], ['staging', 'https://staging.example.com']);
      },
      change: async () => {
        const changed = await row(api.Environments.edit(s.home, Number(s.id), { externalUrl: 'https://stage.example.com' }));
        assert.deepEqual([id(changed), changed.name, changed.external_url], [s.id, 'staging', 'https://stage.example.com']);
      },
      'it is listed changed': async () => {
        const all = await rows(api.Environments.all(s.home));
        assert.deepEqual(
          all.map((one) => [id(one), one.external_url]),
          [[s.id, 'https://stage.example.com']],
        );
      },
      delete: async () => {
        await api.Environments.remove(s.home, Number(s.id));
        assert.deepEqual(await rows(api.Environments.all(s.home)), []);
      },
    }),
    'a project is put away': (api, s) => ({
      create: async () => {
        s.id = String(await home(api, 'attic'));
        assert.equal(String((await row(api.Projects.show(s.id))).archived), 'false');
      },
      archive: async () => assert.equal(String((await row(api.Projects.archive(s.id))).archived), 'true'),
      'it is archived': async () => assert.equal(String((await row(api.Projects.show(s.id))).archived), 'true'),
      'it is among the archived': async () =>
        assert.ok(ids(await rows(api.Projects.all({ archived: true, perPage: 50, page: 1 }))).includes(s.id)),
      'take it back': async () => {
        await api.Projects.unarchive(s.id);
        assert.equal(String((await row(api.Projects.show(s.id))).archived), 'false');
      },
    }),
    'what is wrong': (api) => ({
      'an issue without a title': async () => {
        const where = await home(api, 'wrong');
        assert.match(said(await refused(api.Issues.create(where, { description: 'nothing' }), 400)), /title/);
      },
      'a project without a name': async () => refused(api.Projects.create({ description: 'nothing' } as never), 400),
      'a project that is not there': async () => assert.match(said(await refused(api.Projects.show(999_999_999), 404)), /./),
      'an issue of no project': async () => refused(issue(api, 999_999_999, 'Lost'), 404),
      'a person who is not there': async () => refused(api.Users.show(999_999_999), 404),
    }),
    'a token that is refused': (api, _, another) => ({
      'the right one': async () => assert.match(id(await row(api.Users.current())), /./),
      'a wrong one': async () => assert.match(said(await refused(another('nobodyHasThisToken').Users.current(), 401)), /./),
      'it cannot make anything': async () => refused(project(another('nobodyHasThisToken'), 'intruder'), 401),
    }),
  },
};
