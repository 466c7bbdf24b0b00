import assert from 'node:assert/strict';
import { Octokit } from '@octokit/rest';
import { given, once, type Place, refused, type State, type Vendor } from '../kit.ts';

/** Without the client's own log: refusals are what some steps look for. */
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

const connect = (place: Place, token: string): Octokit =>
  new Octokit({ baseUrl: place.base, log: silent, ...(token === '' ? {} : { auth: token }) });

type Where = { owner: string; repo: string };

/** A new repository of the caller, whose owner later steps need. */
const begin = async (kit: Octokit, s: State): Promise<void> => {
  const { data } = await kit.rest.repos.createForAuthenticatedUser({ name: 'hello-world', auto_init: true });
  s.owner = data.owner.login;
};

const at = (s: State): Where => ({ owner: s.owner, repo: 'hello-world' });

const open = async (kit: Octokit, s: State, title: string): Promise<number> =>
  (await kit.rest.issues.create({ ...at(s), title })).data.number;

/** The message which GitHub's error has beside its status. */
const message = (thrown: unknown): unknown => (thrown as { response?: { data?: { message?: unknown } } }).response?.data?.message;

/** Guide: docs.github.com, "Quickstart for GitHub REST API", "Using pagination in the REST API", "Scripting with the REST API". */
export const vendor: Vendor<Octokit> = {
  document: 'github/api.github.com.json',
  header: 'Authorization',
  word: 'token',
  made: 'ghp_1234567890abcdefghijklmnopqrstuvwxyz',
  client: connect,
  flows: {
    'a repository from its making to its end': (kit, s) => ({
      create: async () => {
        const body = { name: 'hello-world', description: 'My first repository', private: true, has_wiki: false };
        const { data, status } = await kit.rest.repos.createForAuthenticatedUser(body);
        s.owner = data.owner.login;
        assert.equal(status, 201);
        assert.partialDeepStrictEqual(data, { ...body, full_name: `${s.owner}/hello-world` });
      },
      'read it again': async () => {
        const { data } = await kit.rest.repos.get(at(s));
        assert.deepEqual([data.name, data.description, data.private], ['hello-world', 'My first repository', true]);
      },
      'list it': async () => {
        const { data } = await kit.rest.repos.listForAuthenticatedUser();
        once(
          data.map(({ name }) => name),
          ['hello-world'],
        );
      },
      change: async () => {
        const { data } = await kit.rest.repos.update({ ...at(s), description: 'Changed', has_issues: false });
        assert.deepEqual([data.description, data.has_issues], ['Changed', false]);
      },
      'read the change': async () => {
        const { data } = await kit.rest.repos.get(at(s));
        assert.deepEqual([data.description, data.has_issues, data.has_wiki], ['Changed', false, false]);
      },
      delete: async () => assert.equal((await kit.rest.repos.delete(at(s))).status, 204),
      gone: async () => refused(kit.rest.repos.get(at(s)), 404),
      'gone from the list': async () => {
        const { data } = await kit.rest.repos.listForAuthenticatedUser();
        assert.ok(!data.some(({ name }) => name === 'hello-world'));
      },
    }),
    'an issue is opened, changed and closed': (kit, s) => ({
      'create the repository': async () => begin(kit, s),
      open: async () => {
        const { data } = await kit.rest.issues.create({
          ...at(s),
          title: 'Found a bug',
          body: "I'm having a problem with this.",
        });
        s.number = String(data.number);
        assert.deepEqual([data.title, data.body, data.state], ['Found a bug', "I'm having a problem with this.", 'open']);
      },
      read: async () => {
        const { data } = await kit.rest.issues.get({ ...at(s), issue_number: Number(s.number) });
        assert.deepEqual([data.number, data.title], [Number(s.number), 'Found a bug']);
      },
      change: async () => {
        const { data } = await kit.rest.issues.update({ ...at(s), issue_number: Number(s.number), title: 'Found two bugs' });
        assert.deepEqual([data.title, data.body], ['Found two bugs', "I'm having a problem with this."]);
      },
      close: async () => {
        const closing = { state: 'closed', state_reason: 'not_planned' } as const;
        const { data } = await kit.rest.issues.update({ ...at(s), issue_number: Number(s.number), ...closing });
        assert.partialDeepStrictEqual(data, closing);
      },
      'not among the open ones': async () => {
        s.other = String(await open(kit, s, 'Still open'));
        const { data } = await kit.rest.issues.listForRepo({ ...at(s), state: 'open' });
        assert.deepEqual(
          data.map(({ number }) => number),
          [Number(s.other)],
        );
      },
      'among all of them': async () => {
        const { data } = await kit.rest.issues.listForRepo({ ...at(s), state: 'all' });
        once(
          data.map(({ number }) => String(number)),
          [s.number, s.other],
        );
      },
    }),
    'issues through all pages': (kit, s) => ({
      'create the repository and five issues': async () => {
        await begin(kit, s);
        for (const n of [1, 2, 3, 4, 5]) s[`n${n}`] = String(await open(kit, s, `Issue ${n}`));
      },
      'the client walks pages of two': async () => {
        const issues = await kit.paginate(kit.rest.issues.listForRepo, { ...at(s), per_page: 2 });
        assert.equal(issues.length, 5);
        once(
          issues.map(({ number }) => String(number)),
          [s.n1, s.n2, s.n3, s.n4, s.n5],
        );
      },
      'the last page holds the rest': async () =>
        assert.equal((await kit.rest.issues.listForRepo({ ...at(s), per_page: 2, page: 3 })).data.length, 1),
      'a page names the next in its Link header': async () => {
        const { headers } = await kit.rest.issues.listForRepo({ ...at(s), per_page: 2 });
        assert.match(given(headers.link, 'header Link'), /<[^>]*[?&]page=2[^>]*>; rel="next"/);
      },
    }),
    'labels of a repository and of an issue': (kit, s) => ({
      'create the repository and an issue': async () => {
        await begin(kit, s);
        s.number = String(await open(kit, s, 'Labelled'));
      },
      create: async () => {
        const label = { name: 'urgent', color: 'f29513', description: 'Now' };
        assert.partialDeepStrictEqual((await kit.rest.issues.createLabel({ ...at(s), ...label })).data, label);
      },
      'read it by its name': async () =>
        assert.equal((await kit.rest.issues.getLabel({ ...at(s), name: 'urgent' })).data.color, 'f29513'),
      'put it on the issue': async () => {
        const { data } = await kit.rest.issues.addLabels({ ...at(s), issue_number: Number(s.number), labels: ['urgent'] });
        assert.ok(data.some(({ name }) => name === 'urgent'));
      },
      'the issue has it': async () => {
        const { data } = await kit.rest.issues.listLabelsOnIssue({ ...at(s), issue_number: Number(s.number) });
        assert.deepEqual(
          data.map(({ name }) => name),
          ['urgent'],
        );
      },
      'take it off': async () => {
        const { data } = await kit.rest.issues.removeLabel({ ...at(s), issue_number: Number(s.number), name: 'urgent' });
        assert.deepEqual(data, []);
      },
      change: async () => {
        const { data } = await kit.rest.issues.updateLabel({ ...at(s), name: 'urgent', color: '000000' });
        assert.deepEqual([data.name, data.color], ['urgent', '000000']);
      },
      delete: async () => kit.rest.issues.deleteLabel({ ...at(s), name: 'urgent' }),
      gone: async () => refused(kit.rest.issues.getLabel({ ...at(s), name: 'urgent' }), 404),
    }),
    'comments on an issue': (kit, s) => ({
      'create the repository and an issue': async () => {
        await begin(kit, s);
        s.number = String(await open(kit, s, 'Talked about'));
      },
      comment: async () => {
        const { data } = await kit.rest.issues.createComment({ ...at(s), issue_number: Number(s.number), body: 'Me too' });
        s.id = String(data.id);
        assert.equal(data.body, 'Me too');
      },
      list: async () => {
        const { data } = await kit.rest.issues.listComments({ ...at(s), issue_number: Number(s.number) });
        assert.deepEqual(
          data.map(({ id }) => String(id)),
          [s.id],
        );
      },
      'none of another issue': async () => {
        const number = await open(kit, s, 'Silent');
        assert.deepEqual((await kit.rest.issues.listComments({ ...at(s), issue_number: number })).data, []);
      },
      change: async () => kit.rest.issues.updateComment({ ...at(s), comment_id: Number(s.id), body: 'Not me' }),
      'read the change': async () =>
        assert.equal((await kit.rest.issues.getComment({ ...at(s), comment_id: Number(s.id) })).data.body, 'Not me'),
      delete: async () => kit.rest.issues.deleteComment({ ...at(s), comment_id: Number(s.id) }),
      gone: async () => refused(kit.rest.issues.getComment({ ...at(s), comment_id: Number(s.id) }), 404),
    }),
    'a milestone and its issue': (kit, s) => ({
      'create the repository': async () => begin(kit, s),
      create: async () => {
        const milestone = { title: 'v1.0', state: 'open', description: 'Tracking milestone for version 1.0' } as const;
        const { data } = await kit.rest.issues.createMilestone({ ...at(s), ...milestone });
        s.number = String(data.number);
        assert.partialDeepStrictEqual(data, milestone);
      },
      'an issue in it': async () => {
        const { data } = await kit.rest.issues.create({ ...at(s), title: 'For 1.0', milestone: Number(s.number) });
        assert.equal(data.milestone?.title, 'v1.0');
      },
      close: async () => {
        const { data } = await kit.rest.issues.updateMilestone({ ...at(s), milestone_number: Number(s.number), state: 'closed' });
        assert.deepEqual([data.state, data.title], ['closed', 'v1.0']);
      },
      'read the change': async () =>
        assert.equal((await kit.rest.issues.getMilestone({ ...at(s), milestone_number: Number(s.number) })).data.state, 'closed'),
      delete: async () => kit.rest.issues.deleteMilestone({ ...at(s), milestone_number: Number(s.number) }),
      gone: async () => refused(kit.rest.issues.getMilestone({ ...at(s), milestone_number: Number(s.number) }), 404),
    }),
    'a gist, and its star': (kit, s) => ({
      create: async () => {
        const files = { 'README.md': { content: 'Hello World' } };
        const { data } = await kit.rest.gists.create({ description: 'Example of a gist', public: false, files });
        s.id = given(data.id, 'id');
        assert.deepEqual([data.description, data.public], ['Example of a gist', false]);
      },
      read: async () => {
        const { data } = await kit.rest.gists.get({ gist_id: s.id });
        assert.deepEqual([data.id, data.files?.['README.md']?.content], [s.id, 'Hello World']);
      },
      change: async () => {
        const { data } = await kit.rest.gists.update({ gist_id: s.id, description: 'Another description' });
        assert.equal(data.description, 'Another description');
      },
      'not starred': async () => refused(kit.rest.gists.checkIsStarred({ gist_id: s.id }), 404),
      star: async () => assert.equal((await kit.rest.gists.star({ gist_id: s.id })).status, 204),
      starred: async () => assert.equal((await kit.rest.gists.checkIsStarred({ gist_id: s.id })).status, 204),
      unstar: async () => kit.rest.gists.unstar({ gist_id: s.id }),
      'starred no more': async () => refused(kit.rest.gists.checkIsStarred({ gist_id: s.id }), 404),
      delete: async () => kit.rest.gists.delete({ gist_id: s.id }),
      gone: async () => refused(kit.rest.gists.get({ gist_id: s.id }), 404),
    }),
    'a release, drafted and published': (kit, s) => ({
      'create the repository': async () => begin(kit, s),
      draft: async () => {
        const release = { tag_name: 'v1.0.0', name: 'First', body: 'What is new', draft: true, prerelease: false };
        const { data } = await kit.rest.repos.createRelease({ ...at(s), ...release });
        s.id = String(data.id);
        assert.partialDeepStrictEqual(data, release);
      },
      publish: async () =>
        assert.equal(
          (await kit.rest.repos.updateRelease({ ...at(s), release_id: Number(s.id), draft: false })).data.draft,
          false,
        ),
      'find it by its tag': async () => {
        const { data } = await kit.rest.repos.getReleaseByTag({ ...at(s), tag: 'v1.0.0' });
        assert.deepEqual([String(data.id), data.name], [s.id, 'First']);
      },
      'it is the latest': async () => assert.equal(String((await kit.rest.repos.getLatestRelease(at(s))).data.id), s.id),
      'list it': async () =>
        once(
          (await kit.rest.repos.listReleases(at(s))).data.map(({ id }) => String(id)),
          [s.id],
        ),
      delete: async () => kit.rest.repos.deleteRelease({ ...at(s), release_id: Number(s.id) }),
      gone: async () => refused(kit.rest.repos.getRelease({ ...at(s), release_id: Number(s.id) }), 404),
    }),
    'a webhook, pinged': (kit, s) => ({
      'create the repository': async () => begin(kit, s),
      create: async () => {
        const config = { url: 'https://example.com/webhook', content_type: 'json', insecure_ssl: '0' };
        const { data } = await kit.rest.repos.createWebhook({ ...at(s), events: ['push', 'pull_request'], active: true, config });
        s.id = String(data.id);
        assert.deepEqual([data.active, data.events, data.config.url], [true, ['push', 'pull_request'], config.url]);
      },
      ping: async () => assert.equal((await kit.rest.repos.pingWebhook({ ...at(s), hook_id: Number(s.id) })).status, 204),
      change: async () => {
        const { data } = await kit.rest.repos.updateWebhook({ ...at(s), hook_id: Number(s.id), active: false, events: ['push'] });
        assert.deepEqual([data.active, data.events], [false, ['push']]);
      },
      'read the change': async () => {
        const { data } = await kit.rest.repos.getWebhook({ ...at(s), hook_id: Number(s.id) });
        assert.deepEqual([data.active, data.config.content_type], [false, 'json']);
      },
      delete: async () => kit.rest.repos.deleteWebhook({ ...at(s), hook_id: Number(s.id) }),
      gone: async () => refused(kit.rest.repos.getWebhook({ ...at(s), hook_id: Number(s.id) }), 404),
    }),
    'a credential that is refused': (kit, _s, another) => ({
      'the right one is taken': async () => assert.ok(Array.isArray((await kit.rest.repos.listForAuthenticatedUser()).data)),
      'none is refused': async () => {
        const thrown = await refused(another('').rest.repos.createForAuthenticatedUser({ name: 'nobodys' }), 401);
        assert.equal(typeof message(thrown), 'string');
      },
    }),
    'requests that are wrong': (kit, s) => ({
      'a repository that nobody made': async () => {
        const thrown = await refused(kit.rest.repos.get({ owner: 'nobody', repo: 'nothing' }), 404);
        assert.equal(typeof message(thrown), 'string');
      },
      'an issue without a title': async () => {
        await begin(kit, s);
        const nameless = at(s) as Where & { title: string };
        assert.equal(typeof message(await refused(kit.rest.issues.create(nameless), 422)), 'string');
      },
      'an issue that nobody opened': async () => refused(kit.rest.issues.get({ ...at(s), issue_number: 4711 }), 404),
      'a name that is taken': async () => refused(kit.rest.repos.createForAuthenticatedUser({ name: 'hello-world' }), 422),
    }),
  },
};
