import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { check, parseDocument } from '../src/index.ts';
import { editions, exported, plain, readBack } from './openapi/harness.ts';
import { type TriedOptions, tryService } from './serving/tried.ts';
import { hooks } from './values/hooks.ts';

const document = parseDocument(`title: Hooks\n${hooks}`, 'hooks.yaml');

const identify: NonNullable<TriedOptions['identify']> = ({ headers }) => ({
  user: 'program',
  id: String(headers['x-as'] ?? 'one'),
  scopes: [],
});

async function open(text = hooks, options: TriedOptions = {}) {
  const { send, close } = await tryService(text, { identify, ...options });
  const as = async (who: string, method: string, path: string, body?: unknown) => {
    const { status, json } = await send(method, path, { headers: { 'x-as': who }, ...(body !== undefined && { body }) });
    return { status, ...(json as { id?: string; code?: string } | undefined) };
  };
  const make = (who: string, body: unknown = {}) => as(who, 'POST', '/hooks', body);
  return { as, make, close };
}

const statusOf = ({ status }: { readonly status: number }) => status;

test('no more rows come to be than are allowed, apart by what a field is set to, and one that goes makes room', async () => {
  const { as, make, close } = await open();
  const first = await make('one');
  assert.deepEqual([first, await make('one'), await make('one')].map(statusOf), [201, 201, 201]);
  const refused = await make('one');
  assert.deepEqual([refused.status, refused.code], [403, 'too_many']);
  assert.equal((await make('two')).status, 201);
  assert.equal((await as('one', 'DELETE', `/hooks/${first.id}`)).status, 204);
  assert.deepEqual([await make('one'), await make('one')].map(statusOf), [201, 403]);
  await close();
});

test('of many requests at once as many make a row as are allowed', async () => {
  const { as, make, close } = await open();
  const made = await Promise.all(Array.from({ length: 12 }, (_, at) => make(at % 2 === 0 ? 'one' : 'two')));
  assert.deepEqual(made.map(statusOf).sort(), [...Array(6).fill(201), ...Array(6).fill(403)]);
  const folders = await Promise.all(Array.from({ length: 9 }, () => as('one', 'POST', '/folders', { name: 'f' })));
  assert.deepEqual(folders.map(statusOf).sort(), [...Array(4).fill(201), ...Array(5).fill(403)]);
  await close();
});

test('rows count while their condition holds, and a change that makes one count may be one too many', async () => {
  const { as, make, close } = await open();
  for (let at = 0; at < 3; at++) assert.equal((await make('one')).status, 201);
  const off = await make('one', { is_on: false });
  assert.equal(off.status, 201);
  const on = await as('one', 'PATCH', `/hooks/${off.id}`, { is_on: true });
  assert.deepEqual([on.status, on.code], [403, 'too_many']);
  assert.equal((await as('one', 'PATCH', `/hooks/${off.id}`, { note: 'off' })).status, 200);
  await close();
});

test('rows that are there before a limit is stated count, and stay', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ninefold-rows-'));
  const store = join(folder, 'rows.sqlite');
  const before = await open(hooks.replace('limit: 3', 'limit: 9'), { store });
  const rows = [];
  for (let at = 0; at < 5; at++) rows.push(await before.make('one'));
  await before.close();
  const { as, make, close } = await open(hooks, { store });
  assert.equal((await make('one')).status, 403);
  assert.equal((await as('one', 'PATCH', `/hooks/${rows[0]?.id}`, { note: 'still' })).status, 200);
  for (const { id } of rows.slice(0, 3)) assert.equal((await as('one', 'DELETE', `/hooks/${id}`)).status, 204);
  assert.deepEqual([await make('one'), await make('one')].map(statusOf), [201, 403]);
  await close();
  rmSync(folder, { recursive: true });
});

test('limits of rows are sound, counted among the facts, and read back from OpenAPI as they were stated', () => {
  const { findings, ledger } = check(document);
  assert.deepEqual(
    findings.filter(({ severity }) => severity === 'error'),
    [],
  );
  const quotas = ledger.facts.filter(({ kind }) => kind === 'quotas').map(({ subject, standing }) => [subject, standing]);
  assert.deepEqual(quotas, [
    ['service', 'open'],
    ['rows of hook', 'stated'],
    ['rows of folder', 'stated'],
  ]);
  for (const to of Object.keys(editions)) assert.deepEqual(readBack(exported(document, to)), plain(document.tree));
});
