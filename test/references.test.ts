import assert from 'node:assert/strict';
import { test } from 'node:test';
import { check, parseDocument } from '../src/index.ts';
import { tryService } from './serving/tried.ts';

const team = `
purpose: { users: { member: Belongs to a team., other: Belongs to none. } }
resources:
  team:
    identifier: { field: id, generate: integer }
    fields: { id: integer, name: string, code: { type: string, visible: none }, open: boolean }
    required: [id, name, open]
  task:
    identifier: { field: id, generate: "tsk_{ulid}" }
    fields:
      id: string
      wanted: { type: integer, stored: false }
      team: { ref: team, readOnly: true, show: expand, set: { create: "has(request.wanted) ? request.wanted : null", update task: "has(request.wanted) ? string(request.wanted) : has(resource.team) ? resource.team : null", close: "7" } }
      root: { ref: task, readOnly: true, set: { create: next.id } }
      tags: { type: array, items: { type: string }, maxItems: 5 }
      marks: { type: array, items: { type: integer }, maxItems: 5 }
      state: { type: string, readOnly: true }
      note: string
    required: [id, root, state]
states:
  task: { field: state, initial: open, states: [open, closed], transitions: { close: open -> closed } }
endpoints:
  POST /teams: { does: create team }
  DELETE /teams/{id}: { does: delete team }
  POST /tasks: { does: create task }
  GET /tasks/{id}: { does: read task }
  GET /tasks:
    does: list task
    parameters: { tag: { in: query, filters: tags, type: string }, mark: { in: query, filters: marks, type: integer, op: contains } }
  GET /teams-of-tasks:
    as: teams of tasks
    does: list task
    response: { 200: { shape: { type: object, properties: { teams: { type: array } } }, data: { teams: "items.map(one, has(one.team), one.team)" } } }
  PATCH /tasks/{id}: { does: update task }
  POST /tasks/{id}/close: { does: close task }
AUTHENTICATION
events: none
errors: { payload: problem, codes: { invalid: { status: 422, when: request.invalid } } }
`;

const nobody = team.replace('AUTHENTICATION', 'authentication: none').replace(/^purpose.*$/m, '');

test('what sets a reference has to lead to a row that is there, as what is sent has to', async () => {
  const { send, close, failures } = await tryService(nobody);
  const refused = async (method: string, path: string, body: unknown) => {
    const { status, json } = await send(method, path, { body });
    const { violations = [] } = json as { violations?: { path: string; expected: string }[] };
    return [status, ...violations.map((one) => `${one.path}: ${one.expected}`)];
  };
  await send('POST', '/teams', { body: { name: 'Red', open: true } });
  const wrong = [422, '/wanted: a value by which team can be set'];
  assert.deepEqual(await refused('POST', '/tasks', { wanted: 2 }), wrong);
  const { status, json } = await send('POST', '/tasks', { body: { wanted: 1 } });
  // It may refer to itself, which is there with it.
  const made = json as { id: string; root: string; team: unknown };
  assert.deepEqual([status, made.root, made.team], [201, made.id, { id: 1, name: 'Red', open: true }]);
  assert.deepEqual(await refused('PATCH', `/tasks/${made.id}`, { wanted: 3 }), wrong);
  // What it referred to before it may go on to refer to.
  await send('DELETE', '/teams/1');
  assert.deepEqual(await refused('PATCH', `/tasks/${made.id}`, { note: 'later' }), [200]);
  // Where nothing of it was sent, it is no fault of the caller's, and nothing is stored.
  assert.deepEqual(await refused('POST', `/tasks/${made.id}/close`, {}), [500]);
  assert.match(String(failures), /gave "7", and there is no such team/);
  assert.equal(((await send('GET', `/tasks/${made.id}`)).json as { state: string }).state, 'open');
  // A reference that cannot be shown whole is its identifier, in expressions too.
  assert.deepEqual((await send('GET', '/teams-of-tasks')).json, { teams: [1] });
  await close();
});

test('a list that is filtered by a field which is a list shows the rows that have the value in it', async () => {
  const { send, close } = await tryService(nobody);
  for (const [note, tags, marks] of [
    ['a', ['x', 'y'], [5]],
    ['b', ['xy'], [15]],
  ])
    await send('POST', '/tasks', { body: { note, tags, marks } });
  const found = async (query: string) =>
    ((await send('GET', `/tasks?${query}`)).json as { note: string }[]).map(({ note }) => note);
  assert.deepEqual([await found('tag=x'), await found('tag=xy'), await found('mark=5')], [['a'], ['b'], ['a']]);
  await close();
});

test('a rule finds a row by the reference to it, whatever the type of its identifier', async () => {
  const document = team.replace(
    'AUTHENTICATION',
    `authentication:
  schemes: { key: { type: api_key, header: X-Key } }
  public: all
  permissions: none`,
  );
  const ruled = document.replace(
    /public: all\n {2}permissions: none/,
    `public: [create team, create task]
  permissions: [{ allow: [list task, teams of tasks, read task], to: anyone, if: "has(resource.team) && has(find(team, { id: resource.team })) && find(team, { id: resource.team }).open" }, { allow: [delete team, update task, close task], to: member }]`,
  );
  const { send, close } = await tryService(ruled);
  for (const open of [true, false]) await send('POST', '/teams', { body: { name: 'T', open } });
  const ids: string[] = [];
  for (const wanted of [1, 2]) ids.push(((await send('POST', '/tasks', { body: { wanted } })).json as { id: string }).id);
  const statuses = await Promise.all(ids.map(async (id) => (await send('GET', `/tasks/${id}`)).status));
  assert.deepEqual(statuses, [200, 404]);
  assert.deepEqual(
    ((await send('GET', '/tasks')).json as { id: string }[]).map(({ id }) => id),
    ids.slice(0, 1),
  );
  await close();
});

test('who asks and has no row yet is told that it refers to nothing, and nothing failed', async () => {
  const document = `
resources:
  person: { identifier: { field: id, generate: client }, fields: { id: string }, required: [id] }
  note: { identifier: { field: id, generate: uuid }, fields: { id: string, by: { ref: person, readOnly: true, set: { create: caller.id } } }, required: [id] }
endpoints: { "POST /people": { does: create person }, "POST /notes": { does: create note } }
purpose: { users: { writer: Writes. } }
authentication:
  schemes: { key: { type: api_key, header: X-Key } }
  permissions: [{ allow: [create person, create note], to: writer }]
errors: { payload: problem, codes: { nobody: { status: 409, when: reference.missing } } }
`;
  const told = check(parseDocument(document, 'people.yaml')).findings.map(({ code }) => code);
  assert.ok(!told.includes('errors/cannot-arise'), 'it arises');
  const { service, send, close, failures } = await tryService(document);
  const { secret } = (await service.administer('keys add', { user: 'writer', id: 'w1' })) as { secret: string };
  const headers = { 'x-key': secret };
  const { status, json } = await send('POST', '/notes', { headers, body: {} });
  assert.deepEqual([status, (json as { code?: string }).code], [409, 'nobody']);
  await send('POST', '/people', { headers, body: { id: 'w1' } });
  assert.equal((await send('POST', '/notes', { headers, body: {} })).status, 201);
  assert.deepEqual(failures, []);
  await close();
});

test('a reference to what is told apart by numbers is a text in conditions, and what is written instead of it is said', () => {
  const remedies = (set: string) =>
    check(
      parseDocument(
        `
resources:
  issue: { identifier: { field: id, generate: integer }, fields: { id: integer }, required: [id] }
  vote:
    identifier: { field: id, generate: integer }
    fields: { id: integer, issue: { ref: issue }, n: { type: integer, readOnly: true, set: { create: "${set}" } } }
    required: [id, issue]
endpoints: { POST /votes: { does: create vote } }
`,
        'votes.yaml',
      ),
    ).findings.flatMap(({ code, remedy }) => (code.startsWith('expressions/') ? [remedy] : []));
  assert.deepEqual(remedies('next.issue'), ['Write `int(…)`; a reference is read as a text.']);
  assert.deepEqual(remedies('next.issue == 1 ? 1 : 2'), ['A reference is read as a text: write `int(next.issue)`.']);
  assert.deepEqual(remedies('int(next.issue) == 1 ? int(next.issue) : 2'), []);
});
