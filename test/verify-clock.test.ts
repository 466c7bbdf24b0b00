import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, type TestContext, test } from 'node:test';
import { main } from '../src/cli.ts';
import { movableClock, parseDocument, serve } from '../src/index.ts';
import { settableClock } from '../src/serve/http/clock.ts';
import { openClock } from '../src/serve/service/trial-doors.ts';

const start = Date.parse('2026-06-01T09:00:00Z');
const hour = 3_600_000;

test('a clock that was set forward goes on with the machine’s', () => {
  const machine = movableClock(start);
  const clock = settableClock(machine);
  clock.set(start + hour);
  machine.advance(5);
  assert.equal(clock.now(), start + hour + 5);
  clock.set(start);
  assert.equal(clock.now(), start + hour + 5, 'it does not go back');
});

test('what falls due while a clock is set forward is woken in order, each at its own time', () => {
  const machine = movableClock(start);
  const clock = settableClock(machine);
  const woken: [string, number][] = [];
  const note = (name: string) => () => void woken.push([name, clock.now() - start]);
  clock.at(start + 3 * hour, note('late'));
  clock.at(start + hour, () => {
    note('early')();
    clock.at(clock.now() + hour, note('again'));
  });
  const cancel = clock.at(start + 2 * hour, note('cancelled'));
  clock.at(start + 9 * hour, note('later'));
  cancel();
  clock.set(start + 4 * hour);
  assert.deepEqual(woken, [
    ['early', hour],
    ['again', 2 * hour],
    ['late', 3 * hour],
  ]);
  machine.advance(5 * hour);
  assert.deepEqual(woken.at(-1), ['later', 9 * hour], 'what was waited for before the move comes when it is due after it');
});

const notes = `title: Notes
purpose: { purpose: Keeps notes., base_url: none, users: none, functions: none }
resources:
  note:
    identifier: { field: id, generate: ulid }
    fields: { id: string, status: { type: string, readOnly: true } }
    required: [id, status]
states:
  note: { field: status, initial: new, states: [new, old], transitions: { age: { from: new, to: old, after: 30d } } }
endpoints:
  POST /notes: { does: create note }
  GET /notes/{id}: { does: read note }
authentication: none
`;

async function openDoor(t: TestContext): Promise<{ readonly door: string; readonly service: string }> {
  const clock = settableClock(movableClock(start));
  const service = await serve(parseDocument(notes, 'notes.yaml'), { clock });
  const listening = await service.listen({ port: 0 });
  const door = await openClock({ clock, settled: () => service.settled() }, 0);
  t.after(async () => {
    await door.close();
    await listening.close();
    await service.close();
  });
  return { door: `${door.url}/`, service: listening.url };
}

async function ask(url: string, body?: string, headers: Record<string, string> = {}) {
  const answer = await fetch(url, { ...(body !== undefined && { method: 'POST', body }), headers });
  return { status: answer.status, json: (await answer.json()) as Record<string, unknown> };
}

test('the door tells the time, sets it forward, and answers when what is due is done', async (t) => {
  const { door, service } = await openDoor(t);
  assert.deepEqual(await ask(door), { status: 200, json: { now: '2026-06-01T09:00:00.000Z' } });
  const { json: made } = await ask(`${service}/notes`, '{}', { 'content-type': 'application/json' });
  const note = `${service}/notes/${made.id}`;
  assert.deepEqual(await ask(door, '{"advance":"P29DT12H"}'), { status: 200, json: { now: '2026-06-30T21:00:00.000Z' } });
  assert.equal((await ask(note)).json.status, 'new');
  assert.equal((await ask(door, '{"now":"2026-07-01T11:00:00+02:00"}')).json.now, '2026-07-01T09:00:00.000Z');
  assert.equal((await ask(note)).json.status, 'old');
});

test('the door takes moves forward and nothing else', async (t) => {
  const { door } = await openDoor(t);
  for (const body of [
    '',
    '{}',
    '[]',
    '{"advance":1}',
    '{"advance":"1h"}',
    '{"now":"noon"}',
    '{"now":"2026-07-01T09:00:00Z","advance":"PT1H"}',
    '{"advance":"PT1H","by":"me"}',
    '{"advance":"P999999Y"}',
  ])
    assert.equal((await ask(door, body)).status, 400, body);
  assert.equal((await ask(door, '{"advance":"-PT1H"}')).status, 422);
  assert.equal((await ask(door, '{"now":"2026-06-01T08:59:59Z"}')).status, 422);
  assert.equal((await fetch(door, { method: 'DELETE' })).status, 405);
  assert.equal((await ask(door, '{"advance":"PT1H"}', { origin: 'https://page.example' })).status, 403, 'no page moves it');
  assert.deepEqual((await ask(door)).json, { now: '2026-06-01T09:00:00.000Z' });
});

const children = new Set<ChildProcess>();
after(() => {
  for (const child of children) child.kill('SIGKILL');
});

test('serve --clock opens the door and tells where it is', async () => {
  const root = join(import.meta.dirname, '..');
  const words = ['serve', 'examples/parcels.md', '--port', '0', '--clock', '0', '--log', 'json'];
  const child = spawn(process.execPath, [join(root, 'bin/ninefold.js'), ...words], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.add(child);
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const { event, clock } = JSON.parse(line) as { event: string; clock: string };
  assert.equal(event, 'listening');
  const before = Date.parse(String((await ask(clock)).json.now));
  const after = Date.parse(String((await ask(clock, '{"advance":"P1D"}')).json.now));
  assert.ok(after - before >= 24 * hour);
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  assert.deepEqual(await ended, [0, null]);
  children.delete(child);
});

test('no clock is moved in production', async () => {
  let told = '';
  const complain = (text: string) => {
    told += text;
  };
  const words = ['serve', 'examples/parcels.md', '--production', '--clock', '0'];
  const code = await main(words, { write: complain, complain, isTTY: false, columns: 100, colour: false });
  assert.equal(code, 2);
  assert.match(told, /--production and --clock do not go together/);
});
