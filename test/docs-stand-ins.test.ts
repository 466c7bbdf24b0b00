import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { main } from '../src/cli.ts';
import { tryService } from './serving/tried.ts';

/** The example of docs/stand-ins.md is what really happens: its description served, its requests sent, its record shown. */
const page = readFileSync(join(import.meta.dirname, '../docs/stand-ins.md'), 'utf8');
const fences = [...page.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language = '', text = '']) => ({ language, text }));
const folder = mkdtempSync(join(tmpdir(), 'ninefold-docs-stand-ins-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const onPosix = { skip: process.platform === 'win32' && 'Windows has no signals' };

test('docs/stand-ins.md shows what a stand-in answers and the record that it leaves', onPosix, async () => {
  writeFileSync(join(folder, 'shop.yaml'), fences.find(({ language }) => language === 'yaml')?.text ?? assert.fail());
  const words = /^ninefold (.+)\n/.exec(fences.find(({ language }) => language === 'sh')?.text ?? '')?.[1] ?? assert.fail();
  const bin = join(import.meta.dirname, '../bin/ninefold.js');
  const child = spawn(process.execPath, [bin, ...words.split(' '), '--port', '0', '--log', 'pretty'], {
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
  const shown = fences.filter(({ language }) => language === 'console').map(({ text }) => text);
  const requests = shown.filter((text) => /^\$ (?:GET|POST) /.test(text));
  assert.equal(requests.length, 3);
  for (const text of requests) {
    const [, method = '', path, body] = /^\$ (\S+) (\S+)(?: (.+))?\n/.exec(text) ?? [];
    const headers = body === undefined ? {} : { 'content-type': 'application/json' };
    const answer = await fetch(`${url}${path}`, { method, headers, ...(body !== undefined && { body }) });
    const told = [...answer.headers]
      .filter(([name]) => name.startsWith('ninefold-'))
      .map(([name, value]) => `${name}: ${value}\n`);
    const asked = text.slice(0, text.indexOf('\n') + 1);
    assert.equal(timeless(`${asked}${answer.status}\n${told.join('')}${await answer.text()}\n`), timeless(text));
  }
  child.kill('SIGINT');
  await once(child, 'close');
  const record = shown.find((text) => text.startsWith('$ ninefold coverage ')) ?? assert.fail();
  const [, command = ''] = /^\$ ninefold (.+)\n/.exec(record) ?? [];
  const store = join(folder, 'shop.sqlite');
  let written = '';
  const write = (more: string) => {
    written += more;
  };
  const io = { write, complain: write, isTTY: false, columns: 120, colour: false };
  assert.equal(
    await main(
      command.split(' ').map((word) => word.replace('shop.sqlite', store)),
      io,
    ),
    0,
    written,
  );
  assert.equal(`$ ninefold ${command}\n${timeless(written)}`, record);
});

/** What a page shows, whenever it is: a thing was made at the moment at which it was made. */
const timeless = (text: string): string =>
  text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME').replaceAll(/"created":1\d{9}\b/g, '"created":TIME');

const limits = `
resources:
  tag: { identifier: { field: id }, fields: { id: string }, required: [id] }
  box:
    identifier: { field: id }
    fields: { id: string, tag: tag, wide: { type: array, items: { type: integer, minimum: 1 }, minItems: 2 } }
    required: [id, tag, wide]
endpoints:
  GET /never: { response: { 200: { type: object, properties: { a: { type: string, pattern: '^(?!.*)$' } }, required: [a] } } }
  GET /boxes: { does: list box, response: { 200: { type: object, properties: { boxes: { type: array, items: box, minItems: 1 } }, required: [boxes] } } }
  POST /boxes: { does: create box, request: { type: object, properties: { id: string } }, response: { 200: { shape: box } } }
  GET /boxes/{id}: { does: read box, response: { 200: { shape: box } } }
  GET /tags/{id}: { does: read tag, response: { 200: { shape: tag } } }
`;

test('a thing inside another is one that is there; where nothing can be made, and where nothing is kept, it is as docs/stand-ins.md says', async () => {
  const tried = await tryService(limits, { sample: true });
  try {
    const never = await tried.send('GET', '/never');
    assert.deepEqual([never.status, never.json], [200, {}]);
    assert.equal(never.headers['ninefold-warning'], 'nothing can be made up that fits the response');
    const boxes = async () => ((await tried.send('GET', '/boxes')).json as { boxes: { id: string }[] }).boxes;
    const before = await boxes();
    assert.deepEqual([before.length, await boxes()], [1, before]);
    assert.equal((await tried.send('GET', `/boxes/${before[0]?.id}`)).status, 404);
    const made = (await tried.send('POST', '/boxes', { body: {} })).json as { id: string; tag: { id: string } };
    assert.deepEqual(await boxes(), [made]);
    assert.deepEqual((await tried.send('GET', `/tags/${made.tag.id}`)).json, made.tag);
    assert.deepEqual(tried.failures, []);
  } finally {
    await tried.close();
  }
});
