import assert from 'node:assert/strict';
import { type CreateIssueOption, type CreateRepoOption, giteaApi, type Issue, type Label } from 'gitea-js';
import { given, numbered, once, type Place, refused, type State, type Vendor } from '../kit.ts';

type Gitea = ReturnType<typeof giteaApi>;

const ids = (rows: readonly { id?: number }[]): string[] => rows.map(({ id }) => String(given(id, 'id')));
const names = (rows: readonly { name?: string }[] | undefined): string[] => (rows ?? []).map(({ name }) => given(name, 'name'));
const numbersOf = (rows: readonly Issue[]): string[] => rows.map(({ number }) => String(given(number, 'number')));

/** An organization with a repository in it; the state keeps the names of both, which are in every path below. */
const repo = async (gitea: Gitea, s: State, name = 'widgets', asked: Partial<CreateRepoOption> = {}): Promise<void> => {
  s.org = 'acme';
  if (!Object.keys(s).includes('made')) {
    await gitea.orgs.orgCreate({ username: s.org, full_name: 'Acme', visibility: 'public' });
    s.made = 'yes';
  }
  await gitea.orgs.createOrgRepo(s.org, { name, ...asked });
  s.repo = name;
};

const issue = async (gitea: Gitea, s: State, asked: Partial<CreateIssueOption> = {}): Promise<number> => {
  const { data } = await gitea.repos.issueCreateIssue(s.org, s.repo, { title: 'A bug', ...asked });
  return given(data.number, 'number');
};

const label = async (gitea: Gitea, s: State, name: string, color = '#ee0701'): Promise<Label> =>
  (await gitea.repos.issueCreateLabel(s.org, s.repo, { name, color })).data;

/** Guide: docs.gitea.com, "API Usage" (authentication, pagination) and its reference of the API. */
export const vendor: Vendor<Gitea> = {
  document: 'gitea/gitea.io.json',
  header: 'Authorization',
  word: 'Bearer',
  made: '65eaa9c8ef52460d22a93307fe0aee76289dc675',
  client: (place: Place, token: string) => giteaApi(place.url, { token }),
  flows: {
    'an organization is made, changed and deleted': (gitea, s) => ({
      create: async () => {
        const asked = { username: 'globex', full_name: 'Globex', description: 'Things', visibility: 'limited' as const };
        const { data } = await gitea.orgs.orgCreate(asked);
        s.id = String(given(data.id, 'id'));
        assert.partialDeepStrictEqual(data, { full_name: 'Globex', description: 'Things', visibility: 'limited' });
      },
      'read it by its name': async () => {
        const { data } = await gitea.orgs.orgGet('globex');
        assert.deepEqual([String(data.id), data.full_name], [s.id, 'Globex']);
      },
      change: async () => {
        const { data } = await gitea.orgs.orgEdit('globex', { full_name: 'Globex Corporation', location: 'Cypress Creek' });
        assert.deepEqual([data.full_name, data.location], ['Globex Corporation', 'Cypress Creek']);
      },
      'it keeps what was not changed': async () => {
        const { data } = await gitea.orgs.orgGet('globex');
        assert.deepEqual([data.full_name, data.description], ['Globex Corporation', 'Things']);
      },
      delete: async () => gitea.orgs.orgDelete('globex'),
      'it is gone': async () => {
        await refused(gitea.orgs.orgGet('globex'), 404);
      },
    }),
    'a repository is made, changed and deleted': (gitea, s) => ({
      create: async () => {
        await repo(gitea, s, 'rockets', { description: 'To the moon', private: true });
        const { data } = await gitea.repos.repoGet(s.org, 'rockets');
        assert.deepEqual([data.name, data.description, data.private], ['rockets', 'To the moon', true]);
      },
      'it is of the organization': async () => {
        const { data } = await gitea.orgs.orgListRepos(s.org);
        assert.ok(names(data).includes('rockets'));
      },
      change: async () => {
        const { data } = await gitea.repos.repoEdit(s.org, 'rockets', { description: 'To Mars', archived: true });
        assert.deepEqual([data.description, data.archived], ['To Mars', true]);
      },
      'it stays changed': async () => {
        const { data } = await gitea.repos.repoGet(s.org, 'rockets');
        assert.deepEqual([data.name, data.description, data.archived, data.private], ['rockets', 'To Mars', true, true]);
      },
      delete: async () => gitea.repos.repoDelete(s.org, 'rockets'),
      'it is gone': async () => {
        await refused(gitea.repos.repoGet(s.org, 'rockets'), 404);
      },
    }),
    'an issue is closed and opened again': (gitea, s) => ({
      create: async () => {
        await repo(gitea, s);
        const { data } = await gitea.repos.issueCreateIssue(s.org, s.repo, { title: 'It leaks', body: 'At the seam' });
        s.n = String(given(data.number, 'number'));
        assert.deepEqual([data.title, data.body, data.state], ['It leaks', 'At the seam', 'open']);
      },
      read: async () => {
        const { data } = await gitea.repos.issueGetIssue(s.org, s.repo, Number(s.n));
        assert.deepEqual([String(data.number), data.title], [s.n, 'It leaks']);
      },
      close: async () => {
        const { data } = await gitea.repos.issueEditIssue(s.org, s.repo, Number(s.n), { state: 'closed' });
        assert.deepEqual([data.state, data.title], ['closed', 'It leaks']);
      },
      'it is listed as closed, not as open': async () => {
        const closed = await gitea.repos.issueListIssues(s.org, s.repo, { state: 'closed' });
        const open = await gitea.repos.issueListIssues(s.org, s.repo, { state: 'open' });
        once(numbersOf(closed.data), [s.n], 'closed issues');
        assert.ok(!numbersOf(open.data).includes(s.n));
      },
      'open it again, with another title': async () => {
        const { data } = await gitea.repos.issueEditIssue(s.org, s.repo, Number(s.n), { state: 'open', title: 'It still leaks' });
        assert.deepEqual([data.state, data.title, data.body], ['open', 'It still leaks', 'At the seam']);
      },
      delete: async () => gitea.repos.issueDelete(s.org, s.repo, Number(s.n)),
      'it is gone': async () => {
        await refused(gitea.repos.issueGetIssue(s.org, s.repo, Number(s.n)), 404);
      },
    }),
    'issues through numbered pages': (gitea, s) => ({
      'create five': async () => {
        await repo(gitea, s);
        for (const n of [1, 2, 3, 4, 5]) s[`n${n}`] = String(await issue(gitea, s, { title: `Bug ${n}` }));
      },
      'each has a number of its own': async () => assert.equal(new Set([s.n1, s.n2, s.n3, s.n4, s.n5]).size, 5),
      'pages of two, until one is empty': async () => {
        const rows = await numbered(async (page) => (await gitea.repos.issueListIssues(s.org, s.repo, { page, limit: 2 })).data);
        once(numbersOf(rows), [s.n1, s.n2, s.n3, s.n4, s.n5], 'pages');
      },
      'a page holds what was asked for': async () =>
        assert.equal((await gitea.repos.issueListIssues(s.org, s.repo, { page: 1, limit: 2 })).data.length, 2),
      'the answer says how many there are in all': async () => {
        const { headers } = await gitea.repos.issueListIssues(s.org, s.repo, { page: 1, limit: 2 });
        assert.equal(headers.get('x-total-count'), '5');
      },
    }),
    'issues of one repository alone': (gitea, s) => ({
      'two repositories, an issue of each': async () => {
        await repo(gitea, s, 'north');
        s.a = String(await issue(gitea, s, { title: 'Cold' }));
        await repo(gitea, s, 'south');
        s.b = String(await issue(gitea, s, { title: 'Hot' }));
      },
      'the first has its own': async () => {
        const { data } = await gitea.repos.issueListIssues(s.org, 'north');
        assert.deepEqual(
          data.map(({ title }) => title),
          ['Cold'],
        );
      },
      'so has the second': async () => {
        const { data } = await gitea.repos.issueListIssues(s.org, 'south');
        assert.deepEqual(
          data.map(({ title }) => title),
          ['Hot'],
        );
      },
      'a repository that is not there has none': async () => {
        await refused(gitea.repos.issueListIssues(s.org, 'nowhere'), 404);
      },
      'nor can it have one': async () => {
        await refused(gitea.repos.issueCreateIssue(s.org, 'nowhere', { title: 'Lost' }), 404);
      },
    }),
    'comments of an issue': (gitea, s) => ({
      'an issue': async () => {
        await repo(gitea, s);
        s.n = String(await issue(gitea, s));
      },
      'two comments': async () => {
        for (const [at, body] of [
          ['first', 'I see it too'],
          ['second', 'So do I'],
        ] as const) {
          const { data } = await gitea.repos.issueCreateComment(s.org, s.repo, Number(s.n), { body });
          s[at] = String(given(data.id, 'id'));
          assert.equal(data.body, body);
        }
      },
      'the issue has both': async () => {
        const { data } = await gitea.repos.issueGetComments(s.org, s.repo, Number(s.n));
        once(ids(data), [s.first, s.second], 'comments');
      },
      change: async () => {
        const { data } = await gitea.repos.issueEditComment(s.org, s.repo, Number(s.first), { body: 'I saw it' });
        assert.equal(data.body, 'I saw it');
      },
      'it is changed in the list of the issue': async () => {
        const { data } = await gitea.repos.issueGetComments(s.org, s.repo, Number(s.n));
        assert.equal(data.find(({ id }) => String(id) === s.first)?.body, 'I saw it');
      },
      delete: async () => gitea.repos.issueDeleteComment(s.org, s.repo, Number(s.first)),
      'it is gone': async () => {
        await refused(gitea.repos.issueGetComment(s.org, s.repo, Number(s.first)), 404);
      },
      'the other is left': async () => {
        const { data } = await gitea.repos.issueGetComments(s.org, s.repo, Number(s.n));
        assert.deepEqual(ids(data), [s.second]);
      },
    }),
    'a label is made, changed and deleted': (gitea, s) => ({
      create: async () => {
        await repo(gitea, s);
        const asked = { name: 'bug', color: '#ee0701', description: 'Something is wrong' };
        const { data } = await gitea.repos.issueCreateLabel(s.org, s.repo, asked);
        s.id = String(given(data.id, 'id'));
        assert.deepEqual([data.name, data.description], ['bug', 'Something is wrong']);
      },
      read: async () => assert.equal((await gitea.repos.issueGetLabel(s.org, s.repo, Number(s.id))).data.name, 'bug'),
      rename: async () => {
        const { data } = await gitea.repos.issueEditLabel(s.org, s.repo, Number(s.id), { name: 'defect' });
        assert.deepEqual([data.name, data.description], ['defect', 'Something is wrong']);
      },
      list: async () => once(ids((await gitea.repos.issueListLabels(s.org, s.repo)).data), [s.id], 'labels'),
      delete: async () => gitea.repos.issueDeleteLabel(s.org, s.repo, Number(s.id)),
      'it is gone': async () => {
        await refused(gitea.repos.issueGetLabel(s.org, s.repo, Number(s.id)), 404);
      },
    }),
    'labels of an issue': (gitea, s) => ({
      'an issue and three labels': async () => {
        await repo(gitea, s);
        s.n = String(await issue(gitea, s));
        for (const name of ['bug', 'docs', 'help']) s[name] = String(given((await label(gitea, s, name)).id, 'id'));
      },
      'put two on': async () => {
        const labels = [Number(s.bug), Number(s.docs)];
        const { data } = await gitea.repos.issueAddLabel(s.org, s.repo, Number(s.n), { labels });
        once(ids(data), [s.bug, s.docs], 'labels');
      },
      'the issue has them': async () => {
        const { data } = await gitea.repos.issueGetLabels(s.org, s.repo, Number(s.n));
        assert.deepEqual(names(data).sort(), ['bug', 'docs']);
      },
      'take one off': async () => gitea.repos.issueRemoveLabel(s.org, s.repo, Number(s.n), Number(s.bug)),
      'one is left': async () =>
        assert.deepEqual(names((await gitea.repos.issueGetLabels(s.org, s.repo, Number(s.n))).data), ['docs']),
      'have another instead': async () => {
        const { data } = await gitea.repos.issueReplaceLabels(s.org, s.repo, Number(s.n), { labels: [Number(s.help)] });
        assert.deepEqual(ids(data), [s.help]);
      },
      'the label that was taken off is still there': async () =>
        assert.equal((await gitea.repos.issueGetLabel(s.org, s.repo, Number(s.bug))).data.name, 'bug'),
    }),
    'a milestone, and an issue of it': (gitea, s) => ({
      create: async () => {
        await repo(gitea, s);
        const asked = { title: 'v1.0', description: 'The first', due_on: '2026-12-24T00:00:00Z' };
        const { data } = await gitea.repos.issueCreateMilestone(s.org, s.repo, asked);
        s.id = String(given(data.id, 'id'));
        assert.deepEqual([data.title, data.description, data.state], ['v1.0', 'The first', 'open']);
      },
      'an issue for it': async () => {
        const { data } = await gitea.repos.issueCreateIssue(s.org, s.repo, { title: 'Ship it', milestone: Number(s.id) });
        s.n = String(given(data.number, 'number'));
        assert.equal(String(data.milestone?.id), s.id);
      },
      close: async () =>
        assert.equal((await gitea.repos.issueEditMilestone(s.org, s.repo, s.id, { state: 'closed' })).data.state, 'closed'),
      'it is listed as closed, not as open': async () => {
        const closed = await gitea.repos.issueGetMilestonesList(s.org, s.repo, { state: 'closed' });
        const open = await gitea.repos.issueGetMilestonesList(s.org, s.repo, { state: 'open' });
        once(ids(closed.data), [s.id], 'closed milestones');
        assert.ok(!ids(open.data).includes(s.id));
      },
      'find it by its title': async () =>
        assert.deepEqual(ids((await gitea.repos.issueGetMilestonesList(s.org, s.repo, { state: 'all', name: 'v1.0' })).data), [
          s.id,
        ]),
      delete: async () => gitea.repos.issueDeleteMilestone(s.org, s.repo, s.id),
      'it is gone': async () => {
        await refused(gitea.repos.issueGetMilestone(s.org, s.repo, s.id), 404);
      },
    }),
    'a release is drafted and published': (gitea, s) => ({
      draft: async () => {
        await repo(gitea, s);
        const asked = { tag_name: 'v1.0.0', name: 'One', body: 'It works', draft: true, prerelease: false };
        const { data } = await gitea.repos.repoCreateRelease(s.org, s.repo, asked);
        s.id = String(given(data.id, 'id'));
        assert.partialDeepStrictEqual(data, asked);
      },
      'it is among the drafts': async () => {
        const { data } = await gitea.repos.repoListReleases(s.org, s.repo, { draft: true });
        once(ids(data), [s.id], 'drafts');
      },
      publish: async () => {
        const { data } = await gitea.repos.repoEditRelease(s.org, s.repo, Number(s.id), { draft: false });
        assert.deepEqual([data.draft, data.tag_name, data.name], [false, 'v1.0.0', 'One']);
      },
      'its tag leads to it': async () =>
        assert.equal(String((await gitea.repos.repoGetReleaseByTag(s.org, s.repo, 'v1.0.0')).data.id), s.id),
      'it is the latest': async () => assert.equal(String((await gitea.repos.repoGetLatestRelease(s.org, s.repo)).data.id), s.id),
      'its tag is taken': async () => {
        await refused(gitea.repos.repoCreateRelease(s.org, s.repo, { tag_name: 'v1.0.0', name: 'Again' }), 409);
      },
      delete: async () => gitea.repos.repoDeleteRelease(s.org, s.repo, Number(s.id)),
      'it is gone': async () => {
        await refused(gitea.repos.repoGetRelease(s.org, s.repo, Number(s.id)), 404);
      },
    }),
    'topics of a repository': (gitea, s) => ({
      'set two': async () => {
        await repo(gitea, s);
        await gitea.repos.repoUpdateTopics(s.org, s.repo, { topics: ['go', 'git'] });
      },
      'it has two': async () =>
        assert.deepEqual((await gitea.repos.repoListTopics(s.org, s.repo)).data.topics?.toSorted(), ['git', 'go']),
      'add one': async () => gitea.repos.repoAddTopic(s.org, s.repo, 'forge'),
      'remove one': async () => gitea.repos.repoDeleteTopic(s.org, s.repo, 'go'),
      'it has the other two': async () =>
        assert.deepEqual((await gitea.repos.repoListTopics(s.org, s.repo)).data.topics?.toSorted(), ['forge', 'git']),
      'replace all': async () => {
        await gitea.repos.repoUpdateTopics(s.org, s.repo, { topics: ['alone'] });
        assert.deepEqual((await gitea.repos.repoListTopics(s.org, s.repo)).data.topics, ['alone']);
      },
    }),
    'a hook is switched off': (gitea, s) => ({
      create: async () => {
        await repo(gitea, s);
        const config = { url: 'https://example.com/hook', content_type: 'json' };
        const asked = { type: 'gitea' as const, config, events: ['push', 'issues'], active: true };
        const { data } = await gitea.repos.repoCreateHook(s.org, s.repo, asked);
        s.id = String(given(data.id, 'id'));
        assert.deepEqual([data.type, data.active, data.events?.toSorted()], ['gitea', true, ['issues', 'push']]);
      },
      'switch off': async () =>
        assert.equal((await gitea.repos.repoEditHook(s.org, s.repo, Number(s.id), { active: false })).data.active, false),
      'it is off': async () => {
        const { data } = await gitea.repos.repoGetHook(s.org, s.repo, Number(s.id));
        assert.deepEqual([data.active, data.config?.url], [false, 'https://example.com/hook']);
      },
      list: async () => once(ids((await gitea.repos.repoListHooks(s.org, s.repo)).data), [s.id], 'hooks'),
      delete: async () => gitea.repos.repoDeleteHook(s.org, s.repo, Number(s.id)),
      'it is gone': async () => {
        await refused(gitea.repos.repoGetHook(s.org, s.repo, Number(s.id)), 404);
      },
      'it cannot be deleted again': async () => {
        await refused(gitea.repos.repoDeleteHook(s.org, s.repo, Number(s.id)), 404);
      },
    }),
    'a team of an organization': (gitea, s) => ({
      create: async () => {
        await repo(gitea, s);
        const asked = { name: 'writers', description: 'They write', permission: 'write' as const, units: ['repo.code'] };
        const { data } = await gitea.orgs.orgCreateTeam(s.org, asked);
        s.id = String(given(data.id, 'id'));
        assert.deepEqual([data.name, data.permission], ['writers', 'write']);
      },
      'the organization has it': async () => once(ids((await gitea.orgs.orgListTeams(s.org)).data), [s.id], 'teams'),
      change: async () => {
        const { data } = await gitea.teams.orgEditTeam(Number(s.id), { name: 'readers', permission: 'read' });
        assert.deepEqual([data.name, data.permission], ['readers', 'read']);
      },
      read: async () => {
        const { data } = await gitea.teams.orgGetTeam(Number(s.id));
        assert.deepEqual([data.name, data.description], ['readers', 'They write']);
      },
      delete: async () => gitea.teams.orgDeleteTeam(Number(s.id)),
      'it is gone': async () => {
        await refused(gitea.teams.orgGetTeam(Number(s.id)), 404);
      },
    }),
    'when an issue is due': (gitea, s) => ({
      'an issue': async () => {
        await repo(gitea, s);
        s.n = String(await issue(gitea, s));
      },
      'set a day': async () => {
        const { data } = await gitea.repos.issueEditIssueDeadline(s.org, s.repo, Number(s.n), {
          due_date: '2026-12-31T23:59:59Z',
        });
        assert.equal(given(data.due_date, 'due_date').slice(0, 10), '2026-12-31');
      },
      'the issue has it': async () => {
        const { data } = await gitea.repos.issueGetIssue(s.org, s.repo, Number(s.n));
        assert.equal(given(data.due_date, 'due_date').slice(0, 10), '2026-12-31');
      },
      'take it away': async () => {
        await gitea.repos.issueEditIssue(s.org, s.repo, Number(s.n), { unset_due_date: true });
        const { data } = await gitea.repos.issueGetIssue(s.org, s.repo, Number(s.n));
        assert.equal(data.due_date ?? undefined, undefined);
      },
    }),
    'a key of mine': (gitea, s) => ({
      add: async () => {
        const key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ5jQh0c4m9b6bKxvC0XJf8q1YQZb0c0e7p2V5N2l1Qd ada@example.com';
        const { data } = await gitea.user.userCurrentPostKey({ title: 'laptop', key, read_only: true });
        s.id = String(given(data.id, 'id'));
        assert.deepEqual([data.title, data.key], ['laptop', key]);
      },
      read: async () => assert.equal((await gitea.user.userCurrentGetKey(Number(s.id))).data.title, 'laptop'),
      list: async () => once(ids((await gitea.user.userCurrentListKeys()).data), [s.id], 'keys'),
      delete: async () => gitea.user.userCurrentDeleteKey(Number(s.id)),
      'it is gone': async () => {
        await refused(gitea.user.userCurrentGetKey(Number(s.id)), 404);
      },
    }),
    'a wrong request': (gitea, s) => ({
      'an issue needs a title': async () => {
        await repo(gitea, s);
        await refused(gitea.repos.issueCreateIssue(s.org, s.repo, { body: 'none' } as CreateIssueOption), 422);
      },
      'a label needs a colour': async () => {
        await refused(gitea.repos.issueCreateLabel(s.org, s.repo, { name: 'bare' } as { name: string; color: string }), 422);
      },
      'an organization is not so visible': async () => {
        await refused(gitea.orgs.orgCreate({ username: 'shy', visibility: 'hidden' as 'public' }), 422);
      },
      'nothing was made': async () => {
        assert.deepEqual((await gitea.repos.issueListIssues(s.org, s.repo)).data, []);
        await refused(gitea.orgs.orgGet('shy'), 404);
      },
      'a name is taken once': async () => {
        await refused(gitea.orgs.createOrgRepo(s.org, { name: s.repo }), 409);
      },
    }),
    'a credential that is refused': (gitea, _s, another) => ({
      'the right one is taken': async () => assert.ok((await gitea.user.userGetCurrent()).data),
      'another one is not': async () => {
        await refused(another('nobody').user.userGetCurrent(), 401);
      },
    }),
  },
  strict: ['a credential that is refused'],
};
