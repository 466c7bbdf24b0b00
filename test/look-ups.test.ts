import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDocument } from '../src/index.ts';
import { startTrial } from './events/trial.ts';
import { editions, exported, plain, readBack } from './openapi/harness.ts';
import { caller, type ToldService, tellService } from './serving/callers.ts';
import { memberships } from './values/memberships.ts';

type Fields = Record<string, string>;

const [ann, bob, cas] = [caller('person', 'ann'), caller('person', 'bob'), caller('person', 'cas')];

async function made(service: ToldService, who: typeof ann, target: string, body: unknown): Promise<Fields> {
  const { status, text, json } = await service.as(who, 'POST', target, body);
  assert.equal(status, 201, text);
  return json as Fields;
}

async function status(service: ToldService, who: typeof ann, method: string, target: string, body?: unknown): Promise<number> {
  return (await service.as(who, method, target, body)).status;
}

test('a role is what the row of a membership says, from one request to the next', async () => {
  const service = await tellService(memberships);
  const { id } = await made(service, ann, '/projects', { name: 'one' });
  const project = `/projects/${id}`;
  assert.equal(await status(service, bob, 'GET', project), 404);
  const member = await made(service, ann, `${project}/members`, { user: 'bob', role: 'read' });
  assert.equal(await status(service, bob, 'GET', project), 200);
  assert.equal(await status(service, bob, 'PATCH', project, { name: 'two' }), 403);
  assert.equal(await status(service, bob, 'POST', `${project}/members`, { user: 'cas', role: 'read' }), 403);
  const there = `${project}/members/${member.id}`;
  assert.equal(await status(service, ann, 'PATCH', there, { role: 'write' }), 204);
  assert.equal(await status(service, bob, 'PATCH', project, { name: 'two' }), 200);
  assert.equal(await status(service, ann, 'DELETE', there), 204);
  assert.equal(await status(service, bob, 'PATCH', project, { name: 'three' }), 404);
  assert.equal(await status(service, bob, 'GET', project), 404);
  assert.deepEqual(service.failures, []);
  await service.close();
});

test('a list has the rows of those projects that its reader is a member of, in pages', async () => {
  const service = await tellService(memberships);
  const ids: string[] = [];
  for (let n = 0; n < 12; n++) {
    const { id = '' } = await made(service, ann, '/projects', { name: `p${n}` });
    if (n % 3 === 0) await made(service, ann, `/projects/${id}/members`, { user: 'bob', role: 'read' });
    if (n % 3 === 0) ids.push(id);
    await made(service, ann, `/projects/${id}/notes`, { text: `n${n}` });
  }
  const seen = async (who: typeof ann, target: string) =>
    (await service.as(who, 'GET', target)).json as { data: Fields[]; total: number };
  const first = await seen(bob, '/projects?limit=3');
  assert.deepEqual([first.total, first.data.map((one) => one.id)], [4, ids.slice(0, 3)]);
  assert.equal((await seen(cas, '/projects')).total, 0);
  assert.equal((await seen(ann, '/projects')).total, 12);
  // Through a reference of the row.
  assert.deepEqual(
    (await seen(bob, '/notes')).data.map(({ text }) => text),
    ['n0', 'n3', 'n6', 'n9'],
  );
  await service.close();
});

test('errors and guards of transitions look rows up, and fail closed where one is not there', async () => {
  const service = await tellService(memberships);
  const { id } = await made(service, ann, '/projects', { name: 'one' });
  const full = await service.as(ann, 'POST', `/projects/${id}/members`, { user: 'ann', role: 'read' });
  assert.deepEqual([full.status, (full.json as Fields).code], [409, 'own']);
  assert.equal(await status(service, ann, 'POST', `/projects/${id}/archive`), 409);
  await made(service, ann, `/projects/${id}/members`, { user: 'auditor', role: 'read' });
  assert.equal(await status(service, ann, 'POST', `/projects/${id}/archive`), 200);
  await service.close();
});

test('a change that takes the right away with it is judged by what was there when it began, and the next by what is there', async () => {
  const service = await tellService(memberships);
  const { id } = await made(service, ann, '/projects', { name: 'one' });
  const { id: own } = await made(service, ann, `/projects/${id}/members`, { user: 'bob', role: 'write' });
  // Both are sent at once; whichever comes second finds the membership gone.
  const left = await Promise.all([1, 2].map(() => status(service, bob, 'DELETE', `/projects/${id}/members/${own}`)));
  assert.deepEqual(left.toSorted(), [204, 404]);
  await service.close();
});

/** Grants, revocations and uses of a right, all at once: whoever was let in, was a member when its change was stored. */
test('what a look-up grants is what the row says at commit, whoever races', async () => {
  const service = await tellService(memberships);
  const { id } = await made(service, ann, '/projects', { name: 'one' });
  for (let round = 0; round < 8; round++) {
    const { id: member } = await made(service, ann, `/projects/${id}/members`, { user: 'bob', role: 'write' });
    const uses = Array.from({ length: 6 }, (_, n) =>
      service.as(bob, 'POST', `/projects/${id}/notes`, { text: `r${round} ${n}` }),
    );
    const revoked = service.as(ann, 'DELETE', `/projects/${id}/members/${member}`);
    const late = Array.from({ length: 6 }, (_, n) =>
      service.as(bob, 'POST', `/projects/${id}/notes`, { text: `l${round} ${n}` }),
    );
    const done = await Promise.all([...uses, revoked, ...late]);
    assert.ok(
      done.every((one) => [201, 204, 404].includes(one.status)),
      done.map((one) => one.status).join(),
    );
    assert.equal(done[6]?.status, 204);
    // A note says how many members there were when it was stored: with none, nobody but the owner may write.
    const notes = done.flatMap(({ status: one, json }) => (one === 201 ? [json as { members: number }] : []));
    assert.ok(
      notes.every(({ members }) => members === 1),
      JSON.stringify(notes),
    );
    assert.equal(await status(service, bob, 'POST', `/projects/${id}/notes`, { text: 'after' }), 404);
  }
  assert.deepEqual(service.failures, []);
  await service.close();
});

test('an event goes to those whom a look-up lets read the row, and a deletion to those it let read it before', async (context) => {
  const trial = await startTrial(context, memberships);
  const { id } = (await trial.send('person/ann', 'POST', '/projects', { name: 'one' })).json;
  await trial.send('person/ann', 'POST', `/projects/${id}/members`, { user: 'bob', role: 'read' });
  const subscribers: string[] = [];
  for (const who of ['ann', 'bob', 'cas'])
    subscribers.push((await trial.send(`person/${who}`, 'POST', '/hooks', { url: 'http://127.0.0.1:9' })).json.id);
  assert.equal((await trial.send('person/ann', 'PATCH', `/projects/${id}`, { name: 'two' })).status, 200);
  assert.equal((await trial.send('person/ann', 'DELETE', `/projects/${id}`)).status, 204);
  const heard = await trial.outbox((outbox) => {
    const kinds = new Map(outbox.events(0, 100).map(({ seq, kind }) => [seq, kind]));
    const all = outbox.deliveries({}, 100).toSorted((one, other) => one.event - other.event);
    return subscribers.map((one) => all.filter(({ subscriber }) => subscriber === one).map(({ event }) => kinds.get(event)));
  });
  assert.deepEqual(heard, [['project.changed', 'project.gone'], ['project.changed', 'project.gone'], []]);
});

test('look-ups are read back from OpenAPI as they were stated', () => {
  const document = parseDocument(`title: Projects\n${memberships}`, 'projects.yaml');
  for (const to of Object.keys(editions)) assert.deepEqual(readBack(exported(document, to)), plain(document.tree));
});
