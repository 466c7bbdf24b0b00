import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { main } from '../src/cli.ts';
import type { Coverage } from '../src/index.ts';
import { isLong } from './long.ts';
import { tryService } from './serving/tried.ts';

const folder = mkdtempSync(join(tmpdir(), 'ninefold-coverage-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const document = `
title: Jars
resources:
  jar: { identifier: { field: id }, fields: { id: string, size: { type: integer, minimum: 1 } }, required: [id, size] }
endpoints:
  POST /jars: { does: create jar, request: { type: object, properties: { label: string } } }
  GET /jars/{id}: { does: read jar }
  GET /shelves: { response: { 200: { type: object, properties: { count: integer }, required: [count] } } }
  DELETE /jars/{id}: { does: delete jar }
`;

async function covered(): Promise<Coverage> {
  const { service, send, close } = await tryService(document, { sample: true, coverage: true });
  await send('POST', '/jars', { body: {} });
  await send('POST', '/jars', { body: { label: 7 } });
  await send('POST', '/jars', { body: { newer: 1 } });
  await send('GET', '/shelves');
  await send('GET', '/lids');
  const coverage = service.coverage();
  await close();
  assert.ok(coverage);
  return coverage;
}

test('what clients touch is counted by endpoint, and so is what they met that is open', async () => {
  const { title, endpoints, open, openTotal, unrouted } = await covered();
  assert.equal(title, 'Jars');
  assert.deepEqual(
    endpoints.map(({ key, calls, statuses }) => [key, calls, statuses]),
    [
      ['POST /jars', 3, { 201: 2, 400: 1 }],
      ['GET /jars/{id}', 0, {}],
      ['GET /shelves', 1, { 200: 1 }],
      ['DELETE /jars/{id}', 0, {}],
    ],
  );
  assert.deepEqual(endpoints[0]?.sampled, ['size']);
  assert.deepEqual(endpoints[2]?.sampled, ['count']);
  const met = open.map(({ kind, subject, times, endpoints: by }) => [kind, subject, times, by.join()]);
  assert.deepEqual(met, [['response payload shapes', 'GET /shelves', 1, 'GET /shelves']]);
  assert.equal(open[0]?.place.line, 8);
  assert.ok(openTotal > 10);
  assert.deepEqual(unrouted, { 'GET /lids 404': 1 });
});

test('nothing is counted where nobody asked for it', async () => {
  const { service, send, close } = await tryService(document, { sample: true });
  await send('GET', '/shelves');
  assert.equal(service.coverage(), undefined);
  await close();
});

async function run(...words: string[]): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  let [out, err] = ['', ''];
  const code = await main(words, {
    isTTY: false,
    columns: 100,
    colour: false,
    write: (text) => {
      out += text;
    },
    complain: (text) => {
      err += text;
    },
  });
  return { code, out, err };
}

test('the record of a run is shown as tables or as JSON, and exit codes say whether it is enough', async () => {
  const record = {
    document: 'jars.yaml',
    since: '2026-06-01T09:00:00.000Z',
    until: '2026-06-01T09:01:00.000Z',
    ...(await covered()),
  };
  const path = join(folder, 'run.coverage.json');
  writeFileSync(path, JSON.stringify(record));
  const { code, out } = await run('coverage', path);
  assert.equal(code, 0);
  assert.match(out, /^Jars\njars\.yaml, 2026-06-01T09:00:00\.000Z to /);
  assert.match(out, /\n {6}3 +2×201 400 +POST \/jars +create jar\n/);
  assert.match(out, /2 endpoints untouched; --all lists them/);
  assert.match(out, /open facts met\n +1 +response payload shapes of GET \/shelves +tried\.yaml:8:/);
  assert.match(out, /made up\n +POST \/jars +size\n/);
  assert.match(out, /reached no endpoint\n +1 +GET \/lids 404\n/);
  assert.match(out, /4 calls touched 2 of 4 endpoints \(50%\) and 1 of \d+ open facts\n$/);
  assert.match((await run('coverage', path, '--all')).out, /\n {6}0 +DELETE \/jars\/\{id\} +delete jar\n/);
  const json = JSON.parse((await run('coverage', '--store', join(folder, 'run'), '--json')).out) as Record<string, unknown>;
  assert.deepEqual([json.share, json.document], [50, 'jars.yaml']);
  assert.equal((await run('coverage', path, '--least', '50%')).code, 0);
  assert.equal((await run('coverage', path, '--least', '50.1')).code, 1);
});

const misuses: readonly (readonly [words: readonly string[], says: RegExp])[] = [
  [['coverage'], /needs a record/],
  [['coverage', 'nowhere.json'], /nowhere\.json is no record of a run/],
  [['coverage', 'a', '--store', 'b'], /one record/],
  [['coverage', 'a', 'b'], /takes one record/],
  [['coverage', 'a', '--least', 'most'], /--least most: write a share/],
  [['serve', 'a.yaml', '--strict'], /--strict is for stand-ins/],
  [['serve', 'a.yaml', '--seed-value', '7'], /--seed-value is for stand-ins/],
  [['serve', 'a.yaml', '--relax', 'all'], /--relax all: write auth/],
  [['serve', 'a.yaml', '--production', '--sample'], /--production and --sample do not go together/],
  [['serve', 'a.yaml', '--production', '--workbench', '0'], /--production and --workbench do not go together/],
  [['serve', 'a.yaml', '--production', '--scenarios', 'a'], /--production and --scenarios do not go together/],
  [
    ['serve', join(import.meta.dirname, '../examples/parcels.md'), '--scenarios', 'nowhere.yaml'],
    /nowhere\.yaml cannot be read: there is no such file/,
  ],
  [['serve', 'a.yaml', '--production', '--relax', 'auth'], /--production and --relax do not go together/],
  [['serve', 'a.yaml', '--production', '--accept-credential', 'x'], /--production and --accept-credential do not go together/],
  [['serve', 'a.yaml', '--accept-credential', ' '], /--accept-credential: write what your client shows/],
];

test('what cannot be meant is told with exit code 2', async () => {
  for (const [words, says] of misuses) {
    const { code, err } = await run(...words);
    assert.equal(code, 2, words.join(' '));
    assert.match(err, says);
  }
});

const openapi = `openapi: 3.1.0
info: { title: Jars, version: '1' }
components: { schemas: { jar: { type: object, properties: { id: { type: string } }, required: [id] } } }
paths:
  /jars: { get: { responses: { 200: { description: Jars., content: { application/json: { schema: { $ref: '#/components/schemas/jar' } } } } } } }
`;

interface Run {
  readonly url: string;
  readonly out: () => string;
  stop(): Promise<number | null>;
}

async function serve(...words: string[]): Promise<Run> {
  const child = spawn(process.execPath, [join(import.meta.dirname, '../bin/ninefold.js'), 'serve', ...words, '--port', '0'], {
    cwd: folder,
    env: { ...process.env, NO_COLOR: '1', XDG_CACHE_HOME: join(folder, 'cache') },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  after(() => child.kill('SIGKILL'));
  let out = '';
  child.stdout.on('data', (text: Buffer) => {
    out += text;
  });
  for (let tries = 0; tries < 1000 && !/address {3}\S+\n/.test(out); tries++) await delay(10);
  const url = /address {3}(\S+)/.exec(out)?.[1] ?? assert.fail(out);
  return {
    url,
    out: () => out,
    async stop() {
      child.kill('SIGINT');
      const [code] = await once(child, 'close');
      return code;
    },
  };
}

/** Each of them starts services in processes of their own, which the long run has the time for. */
const onPosix = { skip: process.platform === 'win32' ? 'Windows has no signals' : !isLong && 'it is tried at length' };

test(
  'a stand-in of another language keeps its record beside its store, and what was taken over in the cache',
  onPosix,
  async () => {
    writeFileSync(join(folder, 'jars.yaml'), openapi);
    const first = await serve('jars.yaml', '--sample', '--store', 'jars.sqlite');
    const made = await (await fetch(`${first.url}/jars`)).text();
    assert.equal(await first.stop(), 0);
    const kept = readdirSync(join(folder, 'cache/ninefold/imports'));
    assert.equal(kept.length, 1);
    const record = JSON.parse(readFileSync(join(folder, 'jars.sqlite.coverage.json'), 'utf8')) as Coverage & { document: string };
    assert.equal(record.document, 'jars.yaml');
    assert.deepEqual(
      record.endpoints.map(({ key, calls }) => [key, calls]),
      [['GET /jars', 1]],
    );
    assert.equal(record.open.find(({ kind }) => kind === 'response payload shapes')?.place.line, 5);
    // From the cache it is the same service, down to the places; it shows that it is from there.
    const cached = join(folder, 'cache/ninefold/imports', kept[0] ?? '');
    writeFileSync(cached, readFileSync(cached, 'utf8').replace('"title":"Jars"', '"title":"Kept"'));
    const again = await serve('jars.yaml', '--sample', '--coverage', 'again.json');
    assert.match(again.out(), /^Kept\n/);
    assert.equal(await (await fetch(`${again.url}/jars`)).text(), made);
    await again.stop();
    const other = JSON.parse(readFileSync(join(folder, 'again.json'), 'utf8')) as Coverage;
    assert.deepEqual(other.open, record.open);
    const fresh = await serve('jars.yaml', '--sample', '--no-cache');
    assert.match(fresh.out(), /^Jars\n/);
    await fresh.stop();
  },
);

test('a changed text is another document to the cache, and a broken cache is none', onPosix, async () => {
  writeFileSync(join(folder, 'lids.yaml'), openapi.replace('title: Jars', 'title: Lids').replaceAll('/jars:', '/lids:'));
  const run1 = await serve('lids.yaml', '--sample');
  assert.match(run1.out(), /^Lids\n/);
  await run1.stop();
  const cache = join(folder, 'cache/ninefold/imports');
  for (const name of readdirSync(cache)) writeFileSync(join(cache, name), '{');
  const run2 = await serve('lids.yaml', '--sample');
  assert.equal((await fetch(`${run2.url}/lids`)).status, 200);
  await run2.stop();
  assert.equal(existsSync(join(folder, 'undefined.coverage.json')), false);
});
