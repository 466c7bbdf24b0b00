import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { testDatabase } from './stores/postgres.ts';

const launcher = join(import.meta.dirname, '..', 'bin/ninefold.js');
const folder = mkdtempSync(join(tmpdir(), 'ninefold-workers-'));
const started = new Set<ChildProcess>();
after(() => {
  for (const child of started) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

const document = join(folder, 'notes.yaml');
writeFileSync(
  document,
  `title: Notes
purpose: { purpose: Keeps notes., base_url: none, users: none, functions: none }
resources:
  note:
    identifier: { field: id, generate: ulid }
    fields: { id: string, title: string }
    required: [id]
states: none
endpoints:
  POST /notes: { does: create note }
  GET /notes: { does: list note }
limits: { rate: [{ per: everyone, on: [list note], limit: 30, window: 1h }] }
authentication: none
`,
);

/** A command that runs, and what it wrote so far. */
function start(words: readonly string[]) {
  const child = spawn(process.execPath, [launcher, 'serve', document, ...words], {
    cwd: folder,
    env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: undefined },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  started.add(child);
  let out = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => (out += String(bytes)));
  const ended = once(child, 'exit').then(([code]) => code as number | null);
  const events = (name: string) =>
    out
      .split('\n')
      .filter((line) => line.startsWith(`{"event":"${name}"`))
      .map((line) => JSON.parse(line));
  return {
    child,
    ended,
    events,
    out: () => out,
    /** Waits until so many of these were told. */
    async told(name: string, count: number) {
      for (const untilMs = Date.now() + 60_000; events(name).length < count; await delay(20))
        if (Date.now() > untilMs || child.exitCode !== null) throw new Error(`${name} was not told ${count} times:\n${out}`);
      return events(name);
    },
  };
}

async function storeAddress(): Promise<string> {
  const address = new URL(await testDatabase());
  address.searchParams.set('schema', `workers_${process.pid}_${started.size}`);
  return address.href;
}

test('workers share a port and the limits, one that is killed is followed by another, and the signal to stop ends all', async () => {
  const words = ['--production', '--store', await storeAddress(), '--workers', '3', '--port', '0', '--log', 'json'];
  const run = start(words);
  const workers = await run.told('worker', 3);
  assert.deepEqual(workers.map(({ worker }) => worker).sort(), [1, 2, 3]);
  assert.equal(new Set(workers.map(({ pid }) => pid)).size, 3);
  const [listening, ...more] = run.events('listening');
  assert.equal(more.length, 0, 'the service is announced once');
  const url: string = listening.url;
  // A connection each, so that every worker has some.
  const ask = (path: string, body?: string) =>
    fetch(`${url}${path}`, {
      headers: { connection: 'close', 'content-type': 'application/json' },
      ...(body !== undefined && { method: 'POST', body }),
    }).then(({ status }) => status);
  const listed = await Promise.all(Array.from({ length: 90 }, () => ask('/notes')));
  assert.deepEqual(
    [200, 429].map((status) => listed.filter((one) => one === status).length),
    [30, 60],
  );
  process.kill(workers.find(({ worker }) => worker === 2).pid, 'SIGKILL');
  const [ended] = await run.told('worker ended', 1);
  assert.deepEqual([ended.worker, ended.signal], [2, 'SIGKILL']);
  const again = await run.told('worker', 4);
  assert.equal(again[3].worker, 2);
  const made = await Promise.all(Array.from({ length: 30 }, () => ask('/notes', '{"title":"Milk"}')));
  assert.deepEqual([...new Set(made)], [201]);
  // What a worker writes down comes after its answers.
  const isNoted = () => run.events('exchange').some(({ status }) => status === 201);
  for (let count = 1; !isNoted(); count++) await run.told('exchange', count);
  run.child.kill('SIGTERM');
  assert.equal(await run.ended, 0);
  assert.equal(run.events('stopped').length, 3);
  await assert.rejects(ask('/notes'));
});

test('each worker tells how it is on a port of its own, and drains', async () => {
  const store = await storeAddress();
  const run = start([
    ...['--production', '--store', store, '--workers', '2', '--port', '0', '--operations', '0'],
    ...['--drain-delay', '1', '--log', 'json'],
  ]);
  await run.told('worker', 2);
  const { operations } = run.events('listening')[0];
  assert.equal((await fetch(`${operations}/readyz`)).status, 200);
  run.child.kill('SIGTERM');
  await run.told('draining', 2);
  assert.equal((await fetch(`${operations}/readyz`)).status, 503);
  assert.equal(await run.ended, 0);
});

test('a service that cannot start ends with the code of one that is alone, and says why once', async () => {
  const run = start(['--production', '--store', 'postgres://nobody@127.0.0.1:1/none', '--workers', '3']);
  assert.equal(await run.ended, 2);
  assert.equal(run.out().match(/cannot be reached/g)?.length, 1);
});

for (const [words, told] of [
  [['--workers', '2', '--production', '--store', 'notes.sqlite'], /a SQLite file is one process's/],
  [['--workers', '2', '--store', 'postgres://localhost/notes'], /give --production too/],
  [['--workers', 'many', '--production', '--store', 'postgres://localhost/notes'], /write how many, from 1 to 64/],
  [['--workers', '2', '--production', '--watch', '--store', 'postgres://localhost/notes'], /do not go together/],
] as const)
  test(`${words.join(' ')} is refused`, async () => {
    const run = start(words);
    assert.equal(await run.ended, 2);
    assert.match(run.out(), told);
  });
