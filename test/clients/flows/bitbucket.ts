import assert from 'node:assert/strict';
import bitbucket, { type APIClient } from 'bitbucket';
import { given, once, type Place, refused, type Vendor } from '../kit.ts';

const workspace = 'acme-team';

const connect = (place: Place, token: string): APIClient =>
  new bitbucket.Bitbucket({ baseUrl: place.base, auth: { token }, notice: false, request: { fetch } });

type Listed<Row> = { readonly data: { readonly next?: string; readonly values?: Row[] } };

/** Every row of a list, through the client's own way to the next page; a list of more than forty pages is an error. */
async function all<Row>(api: APIClient, first: Promise<Listed<Row>>): Promise<Row[]> {
  let { data } = await first;
  const rows = [...given(data.values, 'values')];
  for (let page = 2; api.hasNextPage(data as never); page += 1) {
    assert.ok(page <= 40, 'the list did not end after 40 pages');
    ({ data } = (await api.getNextPage(data as never)) as Listed<Row>);
    rows.push(...given(data.values, 'values'));
  }
  return rows;
}

/** What the service says of a refusal. */
const said = (thrown: unknown): string => {
  const { error } = thrown as { error?: { type?: string; error?: { message?: string } } };
  assert.equal(error?.type, 'error');
  return given(error?.error?.message, 'message of the error');
};

const repository = async (api: APIClient, repo_slug: string, more: object = {}) => {
  const _body = { type: 'repository', scm: 'git' as const, is_private: true, has_issues: true, ...more };
  return (await api.repositories.create({ workspace, repo_slug, _body })).data;
};

const issue = async (api: APIClient, repo_slug: string, title: string, more: object = {}) => {
  const { data } = await api.issue_tracker.create({ workspace, repo_slug, _body: { type: 'issue', title, ...more } });
  return data;
};

/** A repository with one commit on its main branch, and that commit's hash. */
const committed = async (api: APIClient, repo_slug: string): Promise<string> => {
  await repository(api, repo_slug);
  const _body = new FormData();
  _body.append('README.md', '# Hello\n');
  _body.append('message', 'Initial commit');
  _body.append('branch', 'main');
  await api.repositories.createSrcFileCommit({ workspace, repo_slug, _body } as never);
  const { data } = await api.commits.list({ workspace, repo_slug });
  return given((data as { values?: { hash?: string }[] }).values?.[0]?.hash, 'hash of a commit');
};

/** Guide: developer.atlassian.com/cloud/bitbucket/rest/intro, "Filtering", "Pagination", "Standardized error responses", and its groups. */
export const vendor: Vendor<APIClient> = {
  document: 'bitbucket/bitbucket.org.json',
  header: 'Authorization',
  word: 'Bearer',
  made: 'ATCTT3xFfGN0nobodyHasThisAccessToken',
  client: connect,
  strict: ['a token that is refused'],
  flows: {
    'a repository from its making to its end': (api) => ({
      create: async () => {
        const made = await repository(api, 'website', { name: 'website', description: 'Our pages' });
        assert.deepEqual([made.type, made.name, made.description, made.is_private], ['repository', 'website', 'Our pages', true]);
      },
      read: async () => {
        const { data } = await api.repositories.get({ workspace, repo_slug: 'website' });
        assert.deepEqual([data.name, data.description, data.has_issues], ['website', 'Our pages', true]);
      },
      change: async () => {
        const _body = { type: 'repository', description: 'Old pages', has_wiki: true };
        const { data } = await api.repositories.update({ workspace, repo_slug: 'website', _body });
        assert.deepEqual([data.description, data.has_wiki], ['Old pages', true]);
      },
      'it stays changed': async () => {
        const { data } = await api.repositories.get({ workspace, repo_slug: 'website' });
        assert.deepEqual([data.name, data.description, data.has_wiki], ['website', 'Old pages', true]);
      },
      delete: async () => assert.equal((await api.repositories.delete({ workspace, repo_slug: 'website' })).status, 204),
      'it is gone': async () => {
        const thrown = await refused(api.repositories.get({ workspace, repo_slug: 'website' }), 404);
        assert.ok(said(thrown).length > 0);
      },
      'it is not listed': async () => {
        const rows = await all(api, api.repositories.list({ workspace }));
        assert.ok(!rows.some(({ name }) => name === 'website'));
      },
    }),
    'repositories page by page': (api) => ({
      'make five': async () => {
        for (const name of ['one', 'two', 'three', 'four', 'five']) await repository(api, name, { name });
      },
      'two on a page': async () => {
        const { data } = await api.repositories.list({ workspace, pagelen: 2 });
        assert.deepEqual([data.values?.length, data.pagelen, data.page], [2, 2, 1]);
        assert.ok(api.hasNextPage(data));
      },
      'all pages': async () => {
        const rows = await all(api, api.repositories.list({ workspace, pagelen: 2 }));
        once(
          rows.map(({ name }) => given(name, 'name')),
          ['one', 'two', 'three', 'four', 'five'],
          'repositories',
        );
      },
      'the one of a name': async () => {
        const { data } = await api.repositories.list({ workspace, q: 'name="three"' });
        assert.deepEqual(
          data.values?.map(({ name }) => name),
          ['three'],
        );
      },
      'by name, from the last': async () => {
        const { data } = await api.repositories.list({ workspace, sort: '-name', pagelen: 50 });
        const names = given(data.values, 'values').map(({ name }) => given(name, 'name'));
        assert.deepEqual(
          names.filter((name) => ['one', 'two', 'three', 'four', 'five'].includes(name)),
          ['two', 'three', 'one', 'four', 'five'],
        );
      },
    }),
    'an issue from its report to its resolution': (api, s) => ({
      'a repository': async () => repository(api, 'tracker'),
      report: async () => {
        const made = await issue(api, 'tracker', 'It is broken', { kind: 'bug', priority: 'critical' });
        s.id = String(given(made.id, 'id'));
        assert.deepEqual([made.title, made.kind, made.priority, made.state], ['It is broken', 'bug', 'critical', 'new']);
      },
      read: async () => {
        const { data } = await api.issue_tracker.get({ workspace, repo_slug: 'tracker', issue_id: s.id });
        assert.deepEqual([String(data.id), data.title, data.priority], [s.id, 'It is broken', 'critical']);
      },
      resolve: async () => {
        const _body = { type: 'issue', state: 'resolved', priority: 'minor' } as const;
        const { data } = await api.issue_tracker.update({ workspace, repo_slug: 'tracker', issue_id: s.id, _body });
        assert.deepEqual([String(data.id), data.state, data.priority], [s.id, 'resolved', 'minor']);
      },
      'it stays resolved': async () => {
        const { data } = await api.issue_tracker.get({ workspace, repo_slug: 'tracker', issue_id: s.id });
        assert.deepEqual([data.title, data.state, data.priority], ['It is broken', 'resolved', 'minor']);
      },
      delete: async () => api.issue_tracker.delete({ workspace, repo_slug: 'tracker', issue_id: s.id }),
      'it is gone': async () => refused(api.issue_tracker.get({ workspace, repo_slug: 'tracker', issue_id: s.id }), 404, 410),
    }),
    'issues by their state and kind': (api, s) => ({
      'report three': async () => {
        await repository(api, 'triage');
        const made = [];
        for (const [title, kind] of [
          ['It is slow', 'bug'],
          ['It is green', 'proposal'],
          ['It is small', 'bug'],
        ] as const) {
          made.push(String((await issue(api, 'triage', title, { kind })).id));
        }
        [s.slow, s.green, s.small] = made as [string, string, string];
        once(made, made, 'numbers');
      },
      'bugs alone': async () => {
        const rows = await all(api, api.issue_tracker.list({ workspace, repo_slug: 'triage', q: 'kind = "bug"' }));
        assert.deepEqual(rows.map(({ id }) => String(id)).sort(), [s.slow, s.small].sort());
      },
      'close one': async () => {
        const _body = { type: 'issue', state: 'closed' } as const;
        await api.issue_tracker.update({ workspace, repo_slug: 'triage', issue_id: s.slow, _body });
      },
      'new bugs alone': async () => {
        const q = 'kind = "bug" AND state = "new"';
        const rows = await all(api, api.issue_tracker.list({ workspace, repo_slug: 'triage', q }));
        assert.deepEqual(
          rows.map(({ id }) => String(id)),
          [s.small],
        );
      },
      'one on a page': async () => {
        const rows = await all(api, api.issue_tracker.list({ workspace, repo_slug: 'triage', pagelen: 1 }));
        assert.deepEqual(rows.map(({ id }) => String(id)).sort(), [s.slow, s.green, s.small].sort());
      },
    }),
    'issues are of their repository': (api, s) => ({
      'two repositories': async () => {
        await repository(api, 'left');
        await repository(api, 'right');
      },
      'an issue in each': async () => {
        s.left = String((await issue(api, 'left', 'On the left')).id);
        s.right = String((await issue(api, 'right', 'On the right')).id);
      },
      'the left one': async () => {
        const rows = await all(api, api.issue_tracker.list({ workspace, repo_slug: 'left' }));
        assert.deepEqual(
          rows.map(({ title }) => title),
          ['On the left'],
        );
      },
      'none where there is no repository': async () => {
        await refused(api.issue_tracker.list({ workspace, repo_slug: 'nowhere' }), 404);
      },
      'with its repository it is gone': async () => {
        await api.repositories.delete({ workspace, repo_slug: 'left' });
        await refused(api.issue_tracker.get({ workspace, repo_slug: 'left', issue_id: s.left }), 404);
      },
    }),
    'people talk about an issue': (api, s) => ({
      report: async () => {
        await repository(api, 'talk');
        s.id = String((await issue(api, 'talk', 'What about this?')).id);
      },
      comment: async () => {
        for (const raw of ['I see it too', 'So do I']) {
          const _body = { type: 'issue_comment', content: { raw } };
          const { status } = await api.issue_tracker.createComment({ workspace, repo_slug: 'talk', issue_id: s.id, _body });
          assert.equal(status, 201);
        }
      },
      'both are there': async () => {
        const rows = await all(api, api.issue_tracker.listComments({ workspace, repo_slug: 'talk', issue_id: s.id }));
        const texts = rows.map(({ content }) => content?.raw ?? '');
        once(texts, ['I see it too', 'So do I'], 'comments');
        s.comment = String(given(rows.find(({ content }) => content?.raw === 'So do I')?.id, 'id of a comment'));
      },
      'correct one': async () => {
        const asked = { workspace, repo_slug: 'talk', issue_id: s.id, comment_id: Number(s.comment) };
        await api.issue_tracker.updateComment({ ...asked, _body: { type: 'issue_comment', content: { raw: 'Not any more' } } });
        assert.equal((await api.issue_tracker.getComment(asked)).data.content?.raw, 'Not any more');
      },
      'delete it': async () => {
        const asked = { workspace, repo_slug: 'talk', issue_id: s.id, comment_id: Number(s.comment) };
        assert.equal((await api.issue_tracker.deleteComment(asked)).status, 204);
      },
      'the other stays': async () => {
        const rows = await all(api, api.issue_tracker.listComments({ workspace, repo_slug: 'talk', issue_id: s.id }));
        const texts = rows.filter(({ deleted }) => deleted !== true).map(({ content }) => content?.raw ?? '');
        once(texts, ['I see it too'], 'comments');
        assert.ok(!texts.includes('Not any more'));
      },
    }),
    'a vote for an issue': (api, s) => ({
      report: async () => {
        await repository(api, 'votes');
        s.id = String((await issue(api, 'votes', 'Dark mode', { kind: 'enhancement' })).id);
      },
      'nobody voted': async () => refused(api.issue_tracker.getVote({ workspace, repo_slug: 'votes', issue_id: s.id }), 404),
      vote: async () => {
        assert.equal((await api.issue_tracker.createVote({ workspace, repo_slug: 'votes', issue_id: s.id })).status, 204);
      },
      'it counts': async () => {
        assert.equal((await api.issue_tracker.getVote({ workspace, repo_slug: 'votes', issue_id: s.id })).status, 204);
        const { data } = await api.issue_tracker.get({ workspace, repo_slug: 'votes', issue_id: s.id });
        assert.equal(data.votes, 1);
      },
      'take it back': async () => {
        await api.issue_tracker.deleteVote({ workspace, repo_slug: 'votes', issue_id: s.id });
        await refused(api.issue_tracker.getVote({ workspace, repo_slug: 'votes', issue_id: s.id }), 404);
      },
    }),
    'a webhook of a repository': (api, s) => ({
      register: async () => {
        await repository(api, 'hooked');
        const _body = { description: 'Builds', url: 'https://ci.example.com/hook', active: true, events: ['repo:push'] };
        const { data, status } = await api.webhooks.create({ workspace, repo_slug: 'hooked', _body });
        assert.deepEqual([status, data.description, data.url, data.active], [201, 'Builds', _body.url, true]);
        assert.deepEqual(data.events, ['repo:push']);
        s.id = given(data.uuid, 'uuid');
      },
      read: async () => {
        const { data } = await api.webhooks.get({ workspace, repo_slug: 'hooked', uid: s.id });
        assert.deepEqual([data.uuid, data.url], [s.id, 'https://ci.example.com/hook']);
      },
      'it is listed': async () => {
        const rows = await all(api, api.webhooks.listForRepo({ workspace, repo_slug: 'hooked' }));
        once(
          rows.map(({ uuid }) => given(uuid, 'uuid')),
          [s.id],
          'hooks',
        );
      },
      'switch it off': async () => {
        const _body = { description: 'Builds', url: 'https://ci.example.com/hook', active: false, events: ['issue:created'] };
        await api.webhooks.update({ workspace, repo_slug: 'hooked', uid: s.id, _body } as never);
        const { data } = await api.webhooks.get({ workspace, repo_slug: 'hooked', uid: s.id });
        assert.deepEqual([data.active, data.events], [false, ['issue:created']]);
      },
      delete: async () => {
        assert.equal((await api.webhooks.delete({ workspace, repo_slug: 'hooked', uid: s.id })).status, 204);
      },
      'it is gone': async () => refused(api.webhooks.get({ workspace, repo_slug: 'hooked', uid: s.id }), 404),
    }),
    'variables of a pipeline': (api, s) => ({
      'set two': async () => {
        await repository(api, 'built');
        const plain = { type: 'pipeline_variable', key: 'REGION', value: 'eu-west-1', secured: false };
        const { data } = await api.pipelines.createVariable({ workspace, repo_slug: 'built', _body: plain });
        assert.deepEqual([data.key, data.value, data.secured], ['REGION', 'eu-west-1', false]);
        s.id = given(data.uuid, 'uuid');
        const secret = { type: 'pipeline_variable', key: 'TOKEN', value: 'hush', secured: true };
        s.secret = given(
          (await api.pipelines.createVariable({ workspace, repo_slug: 'built', _body: secret })).data.uuid,
          'uuid',
        );
      },
      'both are listed': async () => {
        const rows = await all(api, api.pipelines.listVariablesForRepo({ workspace, repo_slug: 'built' }));
        once(
          rows.map(({ key }) => given(key, 'key')),
          ['REGION', 'TOKEN'],
          'variables',
        );
      },
      'a secret one is not told': async () => {
        const { data } = await api.pipelines.getVariable({ workspace, repo_slug: 'built', variable_uuid: s.secret });
        assert.deepEqual([data.key, data.secured, data.value], ['TOKEN', true, undefined]);
      },
      'another value': async () => {
        const _body = { type: 'pipeline_variable', key: 'REGION', value: 'us-east-1' };
        await api.pipelines.updateVariable({ workspace, repo_slug: 'built', variable_uuid: s.id, _body });
        const { data } = await api.pipelines.getVariable({ workspace, repo_slug: 'built', variable_uuid: s.id });
        assert.deepEqual([data.uuid, data.key, data.value], [s.id, 'REGION', 'us-east-1']);
      },
      'a key is there once': async () => {
        const _body = { type: 'pipeline_variable', key: 'REGION', value: 'ap-south-1', secured: false };
        await refused(api.pipelines.createVariable({ workspace, repo_slug: 'built', _body }), 409);
      },
      'delete one': async () => {
        await api.pipelines.deleteVariable({ workspace, repo_slug: 'built', variable_uuid: s.id });
        await refused(api.pipelines.getVariable({ workspace, repo_slug: 'built', variable_uuid: s.id }), 404);
      },
    }),
    'where a repository is deployed': (api, s) => ({
      'make two': async () => {
        await repository(api, 'deployed');
        for (const [name, kind] of [
          ['Rehearsal', 'Test'],
          ['Stage', 'Staging'],
        ] as const) {
          const _body = {
            type: 'deployment_environment',
            name,
            environment_type: { type: 'deployment_environment_type', name: kind },
          };
          const { data } = await api.deployments.createEnvironment({ workspace, repo_slug: 'deployed', _body });
          assert.equal(data.name, name);
          s[name] = given(data.uuid, 'uuid');
        }
      },
      read: async () => {
        const asked = { workspace, repo_slug: 'deployed', environment_uuid: s.Stage };
        assert.deepEqual((await api.deployments.getEnvironment(asked)).data.name, 'Stage');
      },
      'both are listed': async () => {
        const rows = await all(api, api.deployments.listEnvironments({ workspace, repo_slug: 'deployed' }));
        once(
          rows.map(({ uuid }) => given(uuid, 'uuid')),
          [s.Rehearsal, s.Stage],
          'environments',
        );
      },
      'a name is there once': async () => {
        const environment_type = { type: 'deployment_environment_type', name: 'Staging' };
        const _body = { type: 'deployment_environment', name: 'Stage', environment_type };
        await refused(api.deployments.createEnvironment({ workspace, repo_slug: 'deployed', _body }), 409);
      },
      delete: async () => {
        const asked = { workspace, repo_slug: 'deployed', environment_uuid: s.Stage };
        await api.deployments.deleteEnvironmentForRepository(asked);
        await refused(api.deployments.getEnvironment(asked), 404);
      },
    }),
    'projects of a workspace': (api) => ({
      create: async () => {
        const _body = {
          type: 'project',
          key: 'MARS',
          name: 'Mars Project',
          description: 'Software for colonizing mars.',
          is_private: true,
        };
        const { data, status } = await api.projects.createProject({ workspace, _body });
        assert.deepEqual([status, data.key, data.name, data.is_private], [201, 'MARS', 'Mars Project', true]);
      },
      read: async () => {
        const { data } = await api.projects.getProject({ workspace, project_key: 'MARS' });
        assert.deepEqual([data.key, data.description], ['MARS', 'Software for colonizing mars.']);
      },
      'a repository in it': async () => {
        await repository(api, 'rover', { project: { key: 'MARS' } });
        const { data } = await api.repositories.get({ workspace, repo_slug: 'rover' });
        assert.equal(data.project?.key, 'MARS');
      },
      rename: async () => {
        const _body = { type: 'project', key: 'MARS', name: 'Red Planet', is_private: true };
        const { data } = await api.projects.createOrUpdateProject({ workspace, project_key: 'MARS', _body });
        assert.deepEqual([data.key, data.name], ['MARS', 'Red Planet']);
      },
      'it is listed renamed': async () => {
        const rows = await all(api, api.workspaces.getProjects({ workspace }));
        assert.deepEqual(
          rows.filter(({ key }) => key === 'MARS').map(({ name }) => name),
          ['Red Planet'],
        );
      },
      'delete it, when it is empty': async () => {
        await api.repositories.delete({ workspace, repo_slug: 'rover' });
        await api.projects.deleteProject({ workspace, project_key: 'MARS' });
        await refused(api.projects.getProject({ workspace, project_key: 'MARS' }), 404);
      },
    }),
    'branches and tags of a commit': (api, s) => ({
      'a commit': async () => {
        s.hash = await committed(api, 'branched');
      },
      'a branch and a tag': async () => {
        const branch = { name: 'smile', target: { hash: s.hash } };
        const { data } = await api.refs.createBranch({ workspace, repo_slug: 'branched', _body: branch });
        assert.deepEqual([data.name, data.target?.hash], ['smile', s.hash]);
        const tag = { type: 'tag', name: 'v1.0', target: { type: 'commit', hash: s.hash } };
        assert.equal((await api.refs.createTag({ workspace, repo_slug: 'branched', _body: tag })).data.name, 'v1.0');
      },
      'read the branch': async () => {
        const { data } = await api.refs.getBranch({ workspace, repo_slug: 'branched', name: 'smile' });
        assert.deepEqual([data.name, data.target?.hash], ['smile', s.hash]);
      },
      'the branch by its name': async () => {
        const { data } = await api.refs.listBranches({ workspace, repo_slug: 'branched', q: 'name = "smile"' });
        assert.deepEqual(
          data.values?.map(({ name }) => name),
          ['smile'],
        );
      },
      'delete the branch': async () => {
        assert.equal((await api.refs.deleteBranch({ workspace, repo_slug: 'branched', name: 'smile' })).status, 204);
        await refused(api.refs.getBranch({ workspace, repo_slug: 'branched', name: 'smile' }), 404);
      },
      'the tag stays': async () => {
        const { data } = await api.refs.getTag({ workspace, repo_slug: 'branched', name: 'v1.0' });
        assert.deepEqual([data.name, data.target?.hash], ['v1.0', s.hash]);
      },
    }),
    'the build of a commit': (api, s) => ({
      'a commit': async () => {
        s.hash = await committed(api, 'checked');
      },
      'it is running': async () => {
        const _body = { type: 'build', key: 'BAMBOO-1', state: 'INPROGRESS', url: 'https://ci.example.com/1' } as const;
        const asked = { workspace, repo_slug: 'checked', commit: s.hash, _body };
        const { data } = await api.commitstatuses.createBuildStatus(asked);
        assert.deepEqual([data.key, data.state, data.url], ['BAMBOO-1', 'INPROGRESS', 'https://ci.example.com/1']);
      },
      'it has passed': async () => {
        const _body = {
          type: 'build',
          key: 'BAMBOO-1',
          state: 'SUCCESSFUL',
          url: 'https://ci.example.com/1',
          description: '42 tests',
        } as const;
        const asked = { workspace, repo_slug: 'checked', commit: s.hash, key: 'BAMBOO-1', _body };
        assert.equal((await api.commitstatuses.updateBuildStatus(asked)).data.state, 'SUCCESSFUL');
      },
      'it stays so': async () => {
        const asked = { workspace, repo_slug: 'checked', commit: s.hash, key: 'BAMBOO-1' };
        const { data } = await api.commitstatuses.getBuildStatus(asked);
        assert.deepEqual([data.key, data.state, data.description], ['BAMBOO-1', 'SUCCESSFUL', '42 tests']);
      },
      'it is listed once': async () => {
        const rows = await all(api, api.commitstatuses.list({ workspace, repo_slug: 'checked', commit: s.hash }));
        once(
          rows.map(({ key }) => given(key, 'key')),
          ['BAMBOO-1'],
          'statuses',
        );
      },
    }),
    'keys of a person': (api, s) => ({
      'who am I': async () => {
        s.user = given((await api.users.getAuthedUser({})).data.uuid, 'uuid');
      },
      'add a key': async () => {
        const key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKqP3Cr632C2dNhhgKVcon4ldUSAeKiku2yP9O9/bDtY';
        const { data } = await api.ssh.createKey({ selected_user: s.user, _body: { type: 'ssh_key', key, label: 'laptop' } });
        assert.deepEqual([data.label, data.key?.split(' ')[0]], ['laptop', 'ssh-ed25519']);
        s.id = given(data.uuid, 'uuid');
      },
      'another label': async () => {
        const _body = { type: 'ssh_key', label: 'old laptop' };
        await api.ssh.updateKey({ selected_user: s.user, key_id: s.id, _body });
        assert.equal((await api.ssh.getKey({ selected_user: s.user, key_id: s.id })).data.label, 'old laptop');
      },
      'it is listed': async () => {
        const rows = await all(api, api.ssh.listKeys({ selected_user: s.user }));
        once(
          rows.map(({ uuid }) => given(uuid, 'uuid')),
          [s.id],
          'keys',
        );
      },
      delete: async () => {
        assert.equal((await api.ssh.deleteKey({ selected_user: s.user, key_id: s.id })).status, 204);
        await refused(api.ssh.getKey({ selected_user: s.user, key_id: s.id }), 404);
      },
    }),
    'what is wrong': (api) => ({
      'an issue of no known kind': async () => {
        await repository(api, 'wrong');
        const thrown = await refused(issue(api, 'wrong', 'Odd', { kind: 'opinion' }), 400);
        assert.ok(said(thrown).length > 0);
      },
      'a repository that is not there': async () => {
        const thrown = await refused(api.repositories.get({ workspace, repo_slug: 'nobody-made-this' }), 404);
        assert.ok(said(thrown).length > 0);
      },
      'a branch that is not there': async () =>
        refused(api.refs.getBranch({ workspace, repo_slug: 'wrong', name: 'nobody-made-this' }), 404),
      'an issue that is not there': async () =>
        refused(api.issue_tracker.get({ workspace, repo_slug: 'wrong', issue_id: '999999' }), 404),
      'a repository with a policy nobody knows': async () =>
        refused(repository(api, 'policed', { fork_policy: 'sometimes' }), 400),
    }),
    'a token that is refused': (api, _, another) => ({
      'the right one': async () => assert.equal(typeof (await api.users.getAuthedUser({})).data.uuid, 'string'),
      'a wrong one': async () => {
        const thrown = await refused(another('nobodyHasThisToken').users.getAuthedUser({}), 401);
        assert.ok(said(thrown).length > 0);
      },
      'it cannot make anything': async () => refused(repository(another('nobodyHasThisToken'), 'intruder'), 401),
    }),
  },
};
