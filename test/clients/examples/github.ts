import assert from 'node:assert/strict';
import { Octokit } from '@octokit/rest';
import { given, once, type Place, refused, type State, type Vendor } from '../kit.ts';

/** Without the client's own log: refusals are what some steps look for. */
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

const connect = (place: Place, token: string): Octokit => new Octokit({ baseUrl: place.base, log: silent, auth: token });

const repo = 'hello-world';

/** A new repository of the caller. */
const begin = async (kit: Octokit, s: State): Promise<void> => {
  const { data } = await kit.rest.repos.createForAuthenticatedUser({ name: repo, description: 'This is your first repo!' });
  s.owner = data.owner.login;
};

const at = (s: State) => ({ owner: s.owner, repo });

const open = async (kit: Octokit, s: State, title: string): Promise<number> => {
  const { data } = await kit.rest.issues.create({ ...at(s), title });
  s.number = String(data.number);
  return data.number;
};

/** What GitHub's error has beside its status. */
const saysOf = (thrown: unknown): { message?: string; errors?: { resource?: string; field?: string; code?: string }[] } =>
  (thrown as { response?: { data?: object } }).response?.data ?? {};

/** A client of somebody else: the second caller that the service names. */
const stranger = (another: (token: string) => Octokit, place: Place): Octokit => {
  const tokens = [...new Set(place.printed.filter(({ name }) => name === 'authorization').map(({ value }) => value))];
  return another(given(tokens[1], 'second credential'));
};

/** Guide: docs.github.com, "REST API endpoints for issues", for labels, comments, reactions, assignees and collaborators, "Using pagination", "Best practices". */
export const vendor: Vendor<Octokit> = {
  document: 'examples/issues.md',
  header: 'Authorization',
  word: 'token',
  made: 'ghp_1234567890abcdefghijklmnopqrstuvwxyz',
  client: connect,
  known: {
    callers: [
      { user: 'person', id: 'octocat' },
      { user: 'person', id: 'hubot' },
    ],
    rows: {
      account: ['octocat', 'hubot'].map((login, at) => ({ login, id: at + 1, type: 'User', created_at: '2026-01-01T00:00:00Z' })),
    },
  },
  flows: {
    'a repository from its making to its end': (kit, s) => ({
      create: async () => {
        const { data, status } = await kit.rest.repos.createForAuthenticatedUser({
          name: repo,
          description: 'This is your first repo!',
          private: true,
        });
        s.owner = data.owner.login;
        assert.equal(status, 201);
        assert.deepEqual([data.name, data.full_name, data.private], [repo, `${s.owner}/${repo}`, true]);
      },
      read: async () => assert.equal((await kit.rest.repos.get(at(s))).data.description, 'This is your first repo!'),
      change: async () => {
        const { data } = await kit.rest.repos.update({ ...at(s), description: 'Changed' });
        assert.deepEqual([data.description, data.private], ['Changed', true]);
      },
      'list mine': async () => {
        const { data } = await kit.rest.repos.listForAuthenticatedUser();
        once(
          data.map(({ full_name }) => full_name),
          [`${s.owner}/${repo}`],
        );
      },
      'a second one of the name': async () => {
        const says = saysOf(await refused(kit.rest.repos.createForAuthenticatedUser({ name: repo }), 422));
        assert.equal(says.errors?.[0]?.field, 'name');
      },
      delete: async () => assert.equal((await kit.rest.repos.delete(at(s))).status, 204),
      gone: async () => refused(kit.rest.repos.get(at(s)), 404),
    }),
    'an issue is opened, changed, closed and opened again': (kit, s) => ({
      repository: async () => begin(kit, s),
      open: async () => {
        const { data, status } = await kit.rest.issues.create({
          ...at(s),
          title: 'Found a bug',
          body: "I'm having a problem with this.",
        });
        s.number = String(data.number);
        assert.equal(status, 201);
        assert.deepEqual([data.number, data.title, data.state, data.comments], [1, 'Found a bug', 'open', 0]);
        assert.deepEqual([data.user?.login, data.locked, data.closed_at], [s.owner, false, null]);
      },
      'the next one is number two': async () => assert.equal(await open(kit, s, 'Another bug'), 2),
      read: async () => {
        const { data } = await kit.rest.issues.get({ ...at(s), issue_number: 1 });
        assert.deepEqual([data.title, data.body], ['Found a bug', "I'm having a problem with this."]);
      },
      change: async () => {
        const { data } = await kit.rest.issues.update({ ...at(s), issue_number: 1, title: 'Found a big bug' });
        assert.deepEqual([data.title, data.state], ['Found a big bug', 'open']);
      },
      close: async () => {
        const { data } = await kit.rest.issues.update({
          ...at(s),
          issue_number: 1,
          state: 'closed',
          state_reason: 'completed',
        });
        assert.deepEqual([data.state, data.state_reason], ['closed', 'completed']);
        assert.ok(data.closed_at !== null);
      },
      reopen: async () => {
        const { data } = await kit.rest.issues.update({ ...at(s), issue_number: 1, state: 'open' });
        assert.deepEqual([data.state, data.closed_at], ['open', null]);
      },
      'one that is not there': async () => refused(kit.rest.issues.get({ ...at(s), issue_number: 77 }), 404),
    }),
    'issues are listed': (kit, s) => ({
      repository: async () => begin(kit, s),
      open: async () => {
        for (const title of ['one', 'two', 'three', 'four', 'five']) await open(kit, s, title);
        await kit.rest.issues.update({ ...at(s), issue_number: 2, state: 'closed' });
      },
      'the open ones, newest first': async () => {
        const { data } = await kit.rest.issues.listForRepo(at(s));
        assert.deepEqual(
          data.map(({ number }) => number),
          [5, 4, 3, 1],
        );
      },
      'the closed ones': async () => {
        const { data } = await kit.rest.issues.listForRepo({ ...at(s), state: 'closed' });
        assert.deepEqual(
          data.map(({ number }) => number),
          [2],
        );
      },
      'all, oldest first': async () => {
        const { data } = await kit.rest.issues.listForRepo({ ...at(s), state: 'all', sort: 'created', direction: 'asc' });
        assert.deepEqual(
          data.map(({ title }) => title),
          ['one', 'two', 'three', 'four', 'five'],
        );
      },
      'pages and their links': async () => {
        const { data, headers } = await kit.rest.issues.listForRepo({ ...at(s), state: 'all', per_page: 2 });
        assert.equal(data.length, 2);
        assert.match(headers.link ?? '', /rel="next"/);
      },
      'all pages by itself': async () => {
        const rows = await kit.paginate(kit.rest.issues.listForRepo, { ...at(s), state: 'all', per_page: 2 });
        once(
          rows.map(({ title }) => title),
          ['one', 'two', 'three', 'four', 'five'],
        );
      },
      'those of somebody': async () => {
        const { data } = await kit.rest.issues.listForRepo({ ...at(s), creator: s.owner });
        assert.equal(data.length, 4);
      },
      'what changed since': async () => {
        const { data } = await kit.rest.issues.listForRepo({ ...at(s), since: '2999-01-01T00:00:00Z' });
        assert.equal(data.length, 0);
      },
    }),
    'labels of a repository': (kit, s) => ({
      repository: async () => begin(kit, s),
      create: async () => {
        const { data, status } = await kit.rest.issues.createLabel({
          ...at(s),
          name: 'crash',
          description: 'It fell over',
          color: 'f29513',
        });
        assert.equal(status, 201);
        assert.deepEqual([data.name, data.color, data.description], ['crash', 'f29513', 'It fell over']);
      },
      'the same again': async () => {
        const says = saysOf(await refused(kit.rest.issues.createLabel({ ...at(s), name: 'crash', color: 'f29513' }), 422));
        assert.equal(says.errors?.[0]?.code, 'already_exists');
      },
      read: async () => assert.equal((await kit.rest.issues.getLabel({ ...at(s), name: 'crash' })).data.color, 'f29513'),
      rename: async () => {
        const { data } = await kit.rest.issues.updateLabel({ ...at(s), name: 'crash', new_name: 'crash :boom:' });
        assert.equal(data.name, 'crash :boom:');
      },
      list: async () => {
        const { data } = await kit.rest.issues.listLabelsForRepo(at(s));
        once(
          data.map(({ name }) => name),
          ['crash :boom:'],
        );
      },
      delete: async () => assert.equal((await kit.rest.issues.deleteLabel({ ...at(s), name: 'crash :boom:' })).status, 204),
      gone: async () => refused(kit.rest.issues.getLabel({ ...at(s), name: 'crash :boom:' }), 404),
    }),
    'labels of an issue': (kit, s) => ({
      repository: async () => begin(kit, s),
      labels: async () => {
        for (const name of ['crash', 'help', 'later']) await kit.rest.issues.createLabel({ ...at(s), name, color: 'ededed' });
      },
      'open with one': async () => {
        const { data } = await kit.rest.issues.create({ ...at(s), title: 'Labelled', labels: ['crash'] });
        s.number = String(data.number);
        assert.deepEqual(
          data.labels.map((label) => (typeof label === 'string' ? label : label.name)),
          ['crash'],
        );
      },
      add: async () => {
        const { data } = await kit.rest.issues.addLabels({ ...at(s), issue_number: +s.number, labels: ['help'] });
        assert.deepEqual(data.map(({ name }) => name).toSorted(), ['crash', 'help']);
      },
      'list those': async () => {
        const { data } = await kit.rest.issues.listLabelsOnIssue({ ...at(s), issue_number: +s.number });
        assert.equal(data.length, 2);
      },
      'issues with both': async () => {
        await open(kit, s, 'Bare');
        const { data } = await kit.rest.issues.listForRepo({ ...at(s), labels: 'crash,help' });
        assert.deepEqual(
          data.map(({ title }) => title),
          ['Labelled'],
        );
      },
      'take one off': async () => {
        const { data } = await kit.rest.issues.removeLabel({ ...at(s), issue_number: 1, name: 'crash' });
        assert.deepEqual(
          data.map(({ name }) => name),
          ['help'],
        );
      },
      'take off what is not there': async () =>
        refused(kit.rest.issues.removeLabel({ ...at(s), issue_number: 1, name: 'crash' }), 404),
      'set others': async () => {
        const { data } = await kit.rest.issues.setLabels({ ...at(s), issue_number: 1, labels: ['later'] });
        assert.deepEqual(
          data.map(({ name }) => name),
          ['later'],
        );
      },
    }),
    'comments of an issue': (kit, s) => ({
      repository: async () => begin(kit, s),
      open: async () => open(kit, s, 'Talk'),
      comment: async () => {
        const { data, status } = await kit.rest.issues.createComment({ ...at(s), issue_number: 1, body: 'Me too' });
        s.comment = String(data.id);
        assert.equal(status, 201);
        assert.deepEqual([data.body, data.user?.login], ['Me too', s.owner]);
      },
      'the issue counts it': async () =>
        assert.equal((await kit.rest.issues.get({ ...at(s), issue_number: 1 })).data.comments, 1),
      list: async () => {
        await kit.rest.issues.createComment({ ...at(s), issue_number: 1, body: 'And me' });
        const { data } = await kit.rest.issues.listComments({ ...at(s), issue_number: 1 });
        assert.deepEqual(
          data.map(({ body }) => body),
          ['Me too', 'And me'],
        );
      },
      read: async () =>
        assert.equal((await kit.rest.issues.getComment({ ...at(s), comment_id: +s.comment })).data.body, 'Me too'),
      change: async () => {
        const { data } = await kit.rest.issues.updateComment({ ...at(s), comment_id: +s.comment, body: 'Not me' });
        assert.equal(data.body, 'Not me');
      },
      'those of the repository': async () => {
        const { data } = await kit.rest.issues.listCommentsForRepo(at(s));
        assert.equal(data.length, 2);
      },
      delete: async () => assert.equal((await kit.rest.issues.deleteComment({ ...at(s), comment_id: +s.comment })).status, 204),
      gone: async () => refused(kit.rest.issues.getComment({ ...at(s), comment_id: +s.comment }), 404),
    }),
    'reactions to an issue and to a comment': (kit, s) => ({
      repository: async () => begin(kit, s),
      open: async () => open(kit, s, 'React'),
      react: async () => {
        const { data, status } = await kit.rest.reactions.createForIssue({ ...at(s), issue_number: 1, content: 'heart' });
        s.reaction = String(data.id);
        assert.deepEqual([status, data.content, data.user?.login], [201, 'heart', s.owner]);
      },
      'the same again': async () => {
        const { data, status } = await kit.rest.reactions.createForIssue({ ...at(s), issue_number: 1, content: 'heart' });
        assert.deepEqual([status, String(data.id)], [200, s.reaction]);
      },
      'another one': async () =>
        assert.equal((await kit.rest.reactions.createForIssue({ ...at(s), issue_number: 1, content: '+1' })).status, 201),
      list: async () => {
        const { data } = await kit.rest.reactions.listForIssue({ ...at(s), issue_number: 1, content: 'heart' });
        assert.deepEqual(
          data.map(({ id }) => String(id)),
          [s.reaction],
        );
      },
      'one that there is not': async () =>
        // @ts-expect-error: not a reaction
        refused(kit.rest.reactions.createForIssue({ ...at(s), issue_number: 1, content: 'shrug' }), 422),
      'take it back': async () => {
        const gone = await kit.rest.reactions.deleteForIssue({ ...at(s), issue_number: 1, reaction_id: +s.reaction });
        assert.equal(gone.status, 204);
        assert.equal((await kit.rest.reactions.listForIssue({ ...at(s), issue_number: 1 })).data.length, 1);
      },
      'to a comment': async () => {
        const comment = await kit.rest.issues.createComment({ ...at(s), issue_number: 1, body: 'Me too' });
        const where = { ...at(s), comment_id: comment.data.id };
        const { data } = await kit.rest.reactions.createForIssueComment({ ...where, content: 'rocket' });
        assert.equal(data.content, 'rocket');
        assert.equal((await kit.rest.reactions.listForIssueComment(where)).data.length, 1);
      },
    }),
    'who is given an issue': (kit, s) => ({
      repository: async () => begin(kit, s),
      'open for somebody': async () => {
        const { data } = await kit.rest.issues.create({ ...at(s), title: 'Do it', assignees: [s.owner] });
        assert.deepEqual(
          data.assignees?.map(({ login }) => login),
          [s.owner],
        );
      },
      'those of somebody': async () => {
        await open(kit, s, 'Nobody does it');
        const { data } = await kit.rest.issues.listForRepo({ ...at(s), assignee: s.owner });
        assert.deepEqual(
          data.map(({ title }) => title),
          ['Do it'],
        );
      },
      'no longer': async () => {
        const { data } = await kit.rest.issues.removeAssignees({ ...at(s), issue_number: 1, assignees: [s.owner] });
        assert.deepEqual(data.assignees, []);
      },
      again: async () => {
        const { data } = await kit.rest.issues.addAssignees({ ...at(s), issue_number: 1, assignees: [s.owner] });
        assert.equal(data.assignees?.length, 1);
      },
    }),
    'an issue is locked': (kit, s, another, place) => ({
      repository: async () => begin(kit, s),
      open: async () => open(kit, s, 'Heated'),
      lock: async () => {
        const { status } = await kit.rest.issues.lock({ ...at(s), issue_number: 1, lock_reason: 'too heated' });
        assert.equal(status, 204);
      },
      'it says so': async () => {
        const { data } = await kit.rest.issues.get({ ...at(s), issue_number: 1 });
        assert.deepEqual([data.locked, data.active_lock_reason, data.state], [true, 'too heated', 'open']);
      },
      'a stranger says nothing': async () =>
        refused(stranger(another, place).rest.issues.createComment({ ...at(s), issue_number: 1, body: 'But' }), 403),
      unlock: async () => assert.equal((await kit.rest.issues.unlock({ ...at(s), issue_number: 1 })).status, 204),
      'a stranger may again': async () => {
        const made = await stranger(another, place).rest.issues.createComment({ ...at(s), issue_number: 1, body: 'But' });
        assert.equal(made.status, 201);
      },
    }),
    'who may do what': (kit, s, another, place) => ({
      repository: async () => begin(kit, s),
      open: async () => open(kit, s, 'Mine'),
      'who the other one is': async () => {
        s.other = (await stranger(another, place).rest.users.getAuthenticated()).data.login;
      },
      'a stranger may open': async () =>
        assert.equal((await stranger(another, place).rest.issues.create({ ...at(s), title: 'Hello' })).data.user?.login, s.other),
      'but close no issue of others': async () =>
        refused(stranger(another, place).rest.issues.update({ ...at(s), issue_number: 1, state: 'closed' }), 403, 404),
      'nor make labels': async () =>
        refused(stranger(another, place).rest.issues.createLabel({ ...at(s), name: 'x', color: 'ededed' }), 403, 404),
      'no collaborator yet': async () => refused(kit.rest.repos.checkCollaborator({ ...at(s), username: s.other }), 404),
      'made one': async () => {
        const { status } = await kit.rest.repos.addCollaborator({ ...at(s), username: s.other, permission: 'push' });
        assert.ok(status === 201 || (status as number) === 204);
      },
      'now one': async () => {
        const { data } = await kit.rest.repos.listCollaborators(at(s));
        assert.ok(data.some(({ login }) => login === s.other));
      },
      'may close': async () => {
        const { data } = await stranger(another, place).rest.issues.update({ ...at(s), issue_number: 1, state: 'closed' });
        assert.equal(data.state, 'closed');
      },
      'no longer': async () => {
        assert.equal((await kit.rest.repos.removeCollaborator({ ...at(s), username: s.other })).status, 204);
        await refused(stranger(another, place).rest.issues.createLabel({ ...at(s), name: 'x', color: 'ededed' }), 403, 404);
      },
    }),
    'a private repository': (kit, s, another, place) => ({
      create: async () => {
        const { data } = await kit.rest.repos.createForAuthenticatedUser({ name: repo, private: true });
        s.owner = data.owner.login;
        await open(kit, s, 'Secret');
      },
      'nobody else sees it': async () => refused(stranger(another, place).rest.repos.get(at(s)), 404),
      'nor its issues': async () => refused(stranger(another, place).rest.issues.get({ ...at(s), issue_number: 1 }), 404),
      'nor its list': async () => refused(stranger(another, place).rest.issues.listForRepo(at(s)), 404),
    }),
    'what has not changed is not sent': (kit, s) => ({
      repository: async () => begin(kit, s),
      open: async () => open(kit, s, 'Same'),
      read: async () => {
        const { headers } = await kit.rest.issues.get({ ...at(s), issue_number: 1 });
        s.tag = given(headers.etag, 'tag');
      },
      'the same': async () =>
        refused(kit.rest.issues.get({ ...at(s), issue_number: 1, headers: { 'if-none-match': s.tag } }), 304),
      'and after a change': async () => {
        await kit.rest.issues.update({ ...at(s), issue_number: 1, title: 'Other' });
        const { status, headers } = await kit.rest.issues.get({ ...at(s), issue_number: 1, headers: { 'if-none-match': s.tag } });
        assert.equal(status, 200);
        assert.notEqual(headers.etag, s.tag);
      },
    }),
    'hooks of a repository': (kit, s) => ({
      repository: async () => begin(kit, s),
      create: async () => {
        const { data, status } = await kit.rest.repos.createWebhook({
          ...at(s),
          events: ['issues', 'issue_comment'],
          config: { url: 'https://example.com/webhook', content_type: 'json', secret: 'mysecret' },
        });
        s.hook = String(data.id);
        assert.deepEqual([status, data.name, data.active], [201, 'web', true]);
        assert.equal(data.config.url, 'https://example.com/webhook');
      },
      list: async () => assert.equal((await kit.rest.repos.listWebhooks(at(s))).data.length, 1),
      change: async () => {
        const { data } = await kit.rest.repos.updateWebhook({ ...at(s), hook_id: +s.hook, active: false });
        assert.equal(data.active, false);
      },
      delete: async () => assert.equal((await kit.rest.repos.deleteWebhook({ ...at(s), hook_id: +s.hook })).status, 204),
    }),
    'what is wrong is said': (kit, s, another) => ({
      repository: async () => begin(kit, s),
      'no title': async () => {
        // @ts-expect-error: the title is what is missing
        const says = saysOf(await refused(kit.rest.issues.create({ ...at(s), body: 'Without' }), 422));
        assert.equal(says.message, 'Validation Failed');
        assert.partialDeepStrictEqual(says.errors?.[0], { resource: 'Issue', field: 'title', code: 'missing_field' });
      },
      'no such repository': async () => {
        const says = saysOf(await refused(kit.rest.issues.create({ owner: s.owner, repo: 'none', title: 'x' }), 404));
        assert.equal(says.message, 'Not Found');
      },
      'a credential that is none': async () => {
        const says = saysOf(await refused(another('ghp_none').rest.users.getAuthenticated(), 401));
        assert.equal(says.message, 'Bad credentials');
      },
      'what is left of the rate': async () => {
        const { headers } = await kit.rest.issues.listForRepo(at(s));
        assert.ok(Number(headers['x-ratelimit-limit']) > 0);
        assert.ok(Number(headers['x-ratelimit-remaining']) >= 0);
      },
    }),
  },
};
