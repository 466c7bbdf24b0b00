import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';

/** Commands that run until they are told to stop, started as processes of their own. */
const root = join(import.meta.dirname, '..');
const launcher = join(root, 'bin/ninefold.js');
const folder = mkdtempSync(join(tmpdir(), 'ninefold-running-'));
const parcels = join(root, 'examples/parcels.md');
const started = new Set<ChildProcess>();
after(() => {
  for (const child of started) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

const onPosix = { skip: process.platform === 'win32' && 'Windows has no signals' };

/** A document of one resource, the names of whose fields are given, with a handler that can be slow. */
function notes(fields: string, title = 'Notes'): string {
  return `title: ${title}
purpose: { purpose: Keeps notes., base_url: none, users: none, functions: none }
resources:
  note:
    identifier: { field: id, generate: ulid }
    fields: { id: string, ${fields} }
    required: [id]
states: none
endpoints:
  POST /notes: { does: create note }
  GET /notes/{id}: { does: read note }
  GET /notes: { does: list note }
  GET /slow: { does: handler slow, response: { 200: { type: object } } }
authentication: none
`;
}

interface Running {
  /** All that it wrote so far. */
  readonly out: string;
  readonly child: ChildProcess;
  /** Waits until what it writes from now on, or has written since the last call, fits. */
  until(pattern: RegExp): Promise<RegExpMatchArray>;
  ended(): Promise<number | null>;
}

function start(words: readonly string[]): Running {
  const child = spawn(process.execPath, [launcher, ...words], {
    cwd: folder,
    env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: undefined },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  started.add(child);
  let out = '';
  let read = 0;
  const closed = once(child, 'close');
  const take = (text: Buffer) => {
    out += text;
  };
  child.stdout?.on('data', take);
  child.stderr?.on('data', take);
  return {
    get out() {
      return out;
    },
    child,
    async until(pattern) {
      for (let tries = 0; tries < 6_000; tries++) {
        const found = out.slice(read).match(pattern);
        if (found) {
          read += (found.index ?? 0) + found[0].length;
          return found;
        }
        if (child.exitCode !== null || child.signalCode !== null) break;
        await delay(10);
      }
      assert.fail(`Nothing like ${pattern} came in:\n${out}`);
    },
    async ended() {
      const [code] = await closed;
      started.delete(child);
      return code;
    },
  };
}

/** Starts to serve on a free port, and waits for the address. */
async function serve(words: readonly string[]): Promise<Running & { readonly url: string }> {
  const running = start(['serve', ...words, '--port', '0']);
  const [, url = ''] = await running.until(/address {3}(\S+)/);
  await running.until(/\n\n.*curl [\s\S]*\n\n|well-known\/ninefold\n\n/);
  return Object.assign(running, { url });
}

async function post(url: string, body: unknown): Promise<{ id: string }> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  assert.equal(answer.status, 201, text);
  return JSON.parse(text) as { id: string };
}

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/** As many editors save: a new file takes the old one's place. */
function replaceFile(name: string, text: string): void {
  renameSync(file(`${name}.new`, text), join(folder, name));
}

test(
  'check --watch checks again when the document or an included file changes, and a signal ends it with the last verdict',
  onPosix,
  async () => {
    file('watched.yaml', 'title: Watched\ninclude: [watched-limits.yaml]\n');
    file('watched-limits.yaml', 'limits: { size: none }\n');
    const running = start(['check', 'watched.yaml', '--watch']);
    await running.until(/watched\.yaml: sound, \d+ open facts of \d+\n/);
    file('watched-limits.yaml', 'limits: { siez: none }\n');
    await running.until(/Write `size`[\s\S]*watched\.yaml: 1 error/);
    replaceFile('watched-limits.yaml', 'limits: { size: none, rate: none }\n');
    await running.until(/watched\.yaml: sound/);
    file('watched.yaml', 'title: Watched\ninclude: [watched-limits.yaml, watched-more.yaml]\n');
    await running.until(/watched\.yaml: 1 error/);
    file('watched-more.yaml', 'states: none\n');
    await running.until(/watched\.yaml: sound/);
    rmSync(join(folder, 'watched.yaml'));
    await running.until(/ninefold: watched\.yaml cannot be read: there is no such file\.\n/);
    replaceFile('watched.yaml', 'title: Watched\nlimits: { siez: none }\n');
    await running.until(/watched\.yaml: 1 error/);
    running.child.kill('SIGINT');
    assert.equal(await running.ended(), 1);
  },
);

test('check --watch --json writes one line for each check', onPosix, async () => {
  file('lines.yaml', 'title: One\n');
  const running = start(['check', 'lines.yaml', '--watch', '--json']);
  assert.equal(JSON.parse((await running.until(/.*\n/))[0]).title, 'One');
  file('lines.yaml', 'title: Another\n');
  assert.equal(JSON.parse((await running.until(/.*\n/))[0]).title, 'Another');
  running.child.kill('SIGTERM');
  assert.equal(await running.ended(), 0);
});

test('the three curl lines that serve prints for examples/parcels.md create, read and list a parcel', onPosix, async () => {
  const running = start(['serve', parcels, '--port', '0']);
  await running.until(/curl -s -w '\\n' \S+\/v1\/parcels -H 'X-API-Key: \w+'\n\n/);
  const lines = running.out.split('\n').filter((line) => /^(?:made=\$\()?curl /.test(line));
  assert.equal(lines.length, 3);
  // The shell waits for its answers, so this process must not be the one that waits for the shell.
  const shell = spawn('sh', ['-eu', '-c', lines.join('\n')], { stdio: ['ignore', 'pipe', 'inherit'] });
  const chunks: Buffer[] = [];
  shell.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  assert.deepEqual(await once(shell, 'close'), [0, null]);
  const [made, read, listed] = Buffer.concat(chunks)
    .toString()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.match(made.id, /^pcl_/);
  assert.deepEqual(read, made);
  assert.deepEqual(listed.data, [made]);
  running.child.kill('SIGTERM');
  assert.equal(await running.ended(), 0);
});

test('serve says what it serves, where, over which data, and what it does not do', onPosix, async () => {
  const running = await serve([parcels]);
  assert.match(running.out, /^Parcels\n {2}address {3}http:\/\/127\.0\.0\.1:\d+\n {2}base {6}http:\/\/127\.0\.0\.1:\d+\/v1\n/);
  assert.match(running.out, /^ {2}ledger {4}256 stated, 18 none of 274 facts; http\S+\/\.well-known\/ninefold$/m);
  assert.match(running.out, /^ {2}data {6}in memory, forgotten at the end; --store FILE keeps it$/m);
  const [, key = ''] = running.out.match(/^ {4}merchant {2}X-API-Key: (pk_live_\w+)$/m) ?? [];
  assert.match(running.out, /^ {2}! No handler is supplied for quote: it answers 501\.$/m);
  const before = running.out;
  assert.equal((await fetch(`${running.url}/v1/parcels`, { headers: { 'x-api-key': key } })).status, 200);
  assert.equal((await fetch(`${running.url}/v1/parcels`)).status, 401);
  running.child.kill('SIGTERM');
  assert.equal(await running.ended(), 0);
  assert.equal(running.out, `${before}Stopping: what is under way is finished.\nStopped.\n`, 'exchanges are not noted in a pipe');
});

test('with --log json all that serve writes is JSON lines, one for each exchange', onPosix, async () => {
  const running = start(['serve', parcels, '--port', '0', '--log', 'json']);
  const [line] = await running.until(/.*\n/);
  const { event, url, base, title, store, ledger, curl, credentials } = JSON.parse(line);
  assert.deepEqual(
    { event, base, title, store, open: ledger.open, curl: curl.length },
    { event: 'listening', base: `${url}/v1`, title: 'Parcels', store: ':memory:', open: 0, curl: 3 },
  );
  const [{ name, value }] = credentials;
  await fetch(`${base}/parcels/none`, { headers: { [name]: value } });
  await fetch(`${base}/quotes?weight_g=1`);
  running.child.kill('SIGTERM');
  assert.equal(await running.ended(), 0);
  const lines = running.out
    .trimEnd()
    .split('\n')
    .map((text) => JSON.parse(text));
  assert.deepEqual(
    lines.map(({ event: name, method, target, status, refused }) => [name, method, target, status, refused]),
    [
      ['listening', undefined, undefined, undefined, undefined],
      ['exchange', 'GET', '/v1/parcels/none', 404, 'resource.missing'],
      ['exchange', 'GET', '/v1/quotes?weight_g=1', 501, 'unsupported'],
      ['stopping', undefined, undefined, undefined, undefined],
      ['stopped', undefined, undefined, undefined, undefined],
    ],
  );
  // The members that every line of pino has.
  assert.deepEqual(
    lines.map(({ level, msg }) => [level, msg]),
    [
      [30, 'listening'],
      [40, 'GET /v1/parcels/none 404'],
      [50, 'GET /v1/quotes?weight_g=1 501'],
      [30, 'stopping'],
      [30, 'stopped'],
    ],
  );
  assert.deepEqual(new Set(lines.map(({ pid }) => pid)), new Set([running.child.pid]));
  assert.ok(lines.every(({ time, at }) => (at === undefined ? Math.abs(time - Date.now()) < 600_000 : time === Date.parse(at))));
});

test('who is to stop says so at --operations for as long as --drain-delay, and answers meanwhile', onPosix, async () => {
  const running = start(['serve', parcels, '--port', '0', '--log', 'json', '--operations', '0', '--drain-delay', '1']);
  const { url, operations } = JSON.parse((await running.until(/.*\n/))[0]);
  assert.equal((await fetch(`${operations}/readyz`)).status, 200);
  running.child.kill('SIGTERM');
  const [, event] = await running.until(/"event":"(\w+)"[^\n]*"seconds":1[^\n]*\n/);
  assert.equal(event, 'draining');
  assert.equal((await fetch(`${operations}/readyz`)).status, 503);
  const { status, headers } = await fetch(`${url}/.well-known/ninefold`);
  assert.deepEqual([status, headers.get('connection')], [200, 'close']);
  assert.equal(await running.ended(), 0);
  const misuse = start(['serve', parcels, '--drain-delay', '1']);
  await misuse.until(/give --operations too/);
  assert.equal(await misuse.ended(), 2);
});

test(
  'who is held up over the end of --drain-delay answers what has come in meanwhile, and waits until it is known that it stops',
  onPosix,
  async () => {
    const running = start(['serve', parcels, '--port', '0', '--log', 'json', '--operations', '0', '--drain-delay', '1']);
    const { url, operations } = JSON.parse((await running.until(/.*\n/))[0]);
    const agent = new Agent({ keepAlive: true });
    const ask = () =>
      new Promise<unknown>((resolve) => {
        get(`${url}/.well-known/ninefold`, { agent }, (response) => {
          response.resume().on('end', () => resolve(`${response.statusCode} ${response.headers.connection}`));
        }).on('error', resolve);
      });
    const askAll = () => Promise.all(Array.from({ length: 8 }, ask));
    assert.deepEqual(new Set(await askAll()), new Set(['200 keep-alive']));
    running.child.kill('SIGTERM');
    await running.until(/"event":"draining"[^\n]*\n/);
    running.child.kill('SIGSTOP');
    const answers = askAll();
    await delay(1_300);
    running.child.kill('SIGCONT');
    assert.deepEqual(new Set(await answers), new Set(['200 close']));
    // Whoever asked whether it is ready while it was held up hears only now that it is not, and asks it until then.
    assert.equal((await fetch(`${operations}/readyz`)).status, 503);
    assert.equal(await ask(), '200 close');
    assert.equal(await running.ended(), 0);
    agent.destroy();
  },
);

test(
  '--log pretty notes each exchange in a line for people, and what a client sent cannot steer the terminal',
  onPosix,
  async () => {
    const running = await serve([file('pretty.yaml', notes('text: string')), '--log', 'pretty']);
    await fetch(`${running.url}/notes?a=%1b`);
    await running.until(
      /^\d\d:\d\d:\d\d {2}400 {2}GET {5}\/notes\?a=%1b +list note {2}[\d.]+ ms {2}request\.parameter {2}query a\n/m,
    );
    await fetch(`${running.url}/notes`);
    await running.until(/^\d\d:\d\d:\d\d {2}200 {2}GET {5}\/notes +list note {2}[\d.]+ ms\n/m);
    running.child.kill('SIGTERM');
    assert.equal(await running.ended(), 0);
  },
);

test('a failure is told with its cause and the request id that the answer carries', onPosix, async () => {
  const module = file('failing.ts', 'export async function slow() { throw new Error("outer", { cause: new Error("inner") }); }');
  const running = await serve([file('failing.yaml', notes('text: string')), '--handlers', module]);
  const answer = await fetch(`${running.url}/slow`);
  const { request_id } = (await answer.json()) as { request_id: string };
  assert.equal(answer.status, 500);
  const [told] = await running.until(/^failed {2}[\s\S]*inner/m);
  assert.match(told, /Error: outer/);
  assert.ok(told.includes(request_id), `${request_id} is not in:\n${told}`);
  running.child.kill('SIGTERM');
  assert.equal(await running.ended(), 0);
});

const waiting =
  'export async function slow() { await new Promise((resolve) => setTimeout(resolve, SLOW)); return { done: true }; }';

test('a signal lets running requests finish, takes no new connections, and its echo changes nothing', onPosix, async () => {
  const module = file('slow.ts', waiting.replace('SLOW', '600'));
  const running = await serve([file('slow.yaml', notes('text: string')), '--handlers', module]);
  const answer = fetch(`${running.url}/slow`);
  await delay(150);
  running.child.kill('SIGINT');
  await running.until(/Stopping/);
  running.child.kill('SIGINT');
  await assert.rejects(fetch(`${running.url}/notes`));
  assert.deepEqual(await (await answer).json(), { done: true });
  assert.equal(await running.ended(), 0);
});

test('a second signal that is no echo ends it at once with exit code 1', onPosix, async () => {
  const module = file('never.ts', waiting.replace('SLOW', '60_000'));
  const running = await serve([file('never.yaml', notes('text: string')), '--handlers', module]);
  const answer = fetch(`${running.url}/slow`);
  const failed = assert.rejects(answer);
  await delay(150);
  running.child.kill('SIGTERM');
  await running.until(/Stopping/);
  await delay(1_050);
  running.child.kill('SIGTERM');
  assert.equal(await running.ended(), 1);
  await failed;
});

test('what is not finished in the time of --drain is cut off and counted, and the exit code says so', onPosix, async () => {
  const module = file('endless.ts', "export const slow = () => (console.error('asked'), new Promise(() => {}));");
  const running = await serve([file('slow.yaml', notes('text: string')), '--handlers', module, '--drain', '0']);
  const answer = fetch(`${running.url}/slow`).then(
    () => 'answered',
    () => 'cut off',
  );
  await running.until(/asked/);
  running.child.kill('SIGTERM');
  assert.equal(await running.ended(), 1);
  assert.match(running.out, /Stopped\. One request was not finished in 0 s and cut off\./);
  assert.equal(await answer, 'cut off');
});

test('a port that is taken is told, and the exit code is 2', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const address = taken.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const running = start(['serve', parcels, '--port', String(port)]);
  assert.equal(await running.ended(), 2);
  assert.equal(
    running.out,
    `ninefold: 127.0.0.1:${port} is in use; stop what listens there, or choose another port with --port (0 takes a free one).\n`,
  );
  taken.close();
});

test(
  'serve --watch serves a sound edit over the same rows, and keeps the last sound document through a broken one',
  onPosix,
  async () => {
    file('edited.yaml', notes('text: string'));
    const running = await serve(['edited.yaml', '--watch']);
    const url = `${running.url}/notes`;
    const { id } = await post(url, { text: 'kept' });
    file('edited.yaml', notes('text: string').replace('create note', 'create nto'));
    await running.until(/error\[[\s\S]*edited\.yaml is served as it was before this change\.\n/);
    await post(url, { text: 'still there' });
    replaceFile('edited.yaml', notes('text: string, colour: string'));
    await running.until(/changed {2}edited\.yaml: \d+ stated/);
    await post(url, { text: 'new', colour: 'red' });
    assert.deepEqual(await (await fetch(`${url}/${id}`)).json(), { id, text: 'kept' });
    file('edited.yaml', notes('text: integer'));
    await running.until(/edited\.yaml cannot take its place: .*note[\s\S]*is served as it was before this change\.\n/);
    await post(url, { text: 'as before', colour: 'blue' });
    running.child.kill('SIGTERM');
    assert.equal(await running.ended(), 0);
  },
);

test('serve --watch reads the handlers anew, and keeps the old ones where they cannot be loaded', onPosix, async () => {
  const document = file('handled.yaml', notes('text: string'));
  file('handled.ts', 'export const handlers = { slow: () => ({ version: 1 }) };');
  const running = await serve([document, '--handlers', 'handled.ts', '--watch']);
  const version = async () => ((await (await fetch(`${running.url}/slow`)).json()) as { version: number }).version;
  assert.equal(await version(), 1);
  file('handled.ts', 'export const handlers = { slow: () => ({ version: 2 }) };');
  await running.until(/changed {2}/);
  assert.equal(await version(), 2);
  file('handled.ts', 'export const handlers = { solw: () => ({ version: 3 }) };');
  await running.until(/Did you mean `slow`\?\n[\s\S]*is served as it was before this change\.\n/);
  file('handled.ts', 'export const handlers = { slow: ');
  await running.until(/handled\.ts could not be loaded:\n[\s\S]*is served as it was before this change\.\n/);
  assert.equal(await version(), 2);
  running.child.kill('SIGTERM');
  assert.equal(await running.ended(), 0);
});

test('what --store keeps is there again, and rows that do not fit a changed document are told and kept', onPosix, async () => {
  const first = await serve([file('kept.yaml', notes('text: string')), '--store', 'kept.sqlite']);
  assert.match(first.out, /^ {2}data {6}kept\.sqlite$/m);
  const made = await post(`${first.url}/notes`, { text: 'word' });
  first.child.kill('SIGTERM');
  assert.equal(await first.ended(), 0);

  file('kept.yaml', notes('text: integer'));
  const refused = start(['serve', 'kept.yaml', '--store', 'kept.sqlite', '--port', '0']);
  assert.equal(await refused.ended(), 1);
  assert.match(refused.out, /^Stored rows do not fit this document:\n {2}1 row of note\n {4}\w+: .*text/);
  assert.match(refused.out, /--accept-misfits/);

  const accepted = await serve(['kept.yaml', '--store', 'kept.sqlite', '--accept-misfits']);
  assert.deepEqual(await (await fetch(`${accepted.url}/notes/${made.id}`)).json(), made);
  accepted.child.kill('SIGTERM');
  assert.equal(await accepted.ended(), 0);
});

test('a store that another process holds is told, and the exit code is 2', onPosix, async () => {
  const first = await serve([file('held.yaml', notes('text: string')), '--store', 'held.sqlite']);
  const second = start(['serve', 'held.yaml', '--store', 'held.sqlite', '--port', '0']);
  assert.equal(await second.ended(), 2);
  assert.match(second.out, /^ninefold: held\.sqlite is in use by another process/);
  first.child.kill('SIGTERM');
  assert.equal(await first.ended(), 0);
});

test('--rows fills the store at the start, in YAML and in JSON', onPosix, async () => {
  file('filled.yaml', notes('text: string'));
  for (const rows of [
    file('rows.yaml', 'note:\n  - { id: a, text: one }\n'),
    file('rows.json', '{ "note": [{ "id": "a", "text": "one" }] }'),
  ]) {
    const running = await serve(['filled.yaml', '--rows', rows]);
    assert.deepEqual(await (await fetch(`${running.url}/notes/a`)).json(), { id: 'a', text: 'one' });
    running.child.kill('SIGTERM');
    assert.equal(await running.ended(), 0);
  }
});

test('a row to start with that does not fit is told with its resource, number and field, and the exit code is 1', async () => {
  file('unfit.yaml', 'note:\n  - { id: a, text: one }\n  - { id: b, text: 2 }\n');
  const running = start(['serve', file('filling.yaml', notes('text: string')), '--rows', 'unfit.yaml', '--port', '0']);
  assert.equal(await running.ended(), 1);
  assert.match(running.out, /^unfit\.yaml: note\[1\] .*text/);
  assert.match(running.out, /nothing is served\.\n$/);
});

test('a document with nothing stated is served, and its curl line works', onPosix, async () => {
  const running = await serve([join(root, 'examples/unspecified.md')]);
  const answer = await fetch(`${running.url}/anything`);
  assert.equal(answer.status, 501);
  const [line = ''] = running.out.match(/^curl .*$/m) ?? [];
  const ledger = JSON.parse(execFileSync('sh', ['-c', line], { encoding: 'utf8' }));
  assert.equal(ledger.counts.total.open, 40);
  running.child.kill('SIGTERM');
  assert.equal(await running.ended(), 0);
});

test('a reader that has seen enough ends a check without a complaint', onPosix, () => {
  const command = `"${process.execPath}" "${launcher}" check "${parcels}" --json | head -c 1`;
  assert.equal(execFileSync('sh', ['-c', command], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }), '{');
});
