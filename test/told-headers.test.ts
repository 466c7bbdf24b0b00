import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDocument } from '../src/index.ts';
import { editions, exported, plain, readBack } from './openapi/harness.ts';
import { tryService } from './serving/tried.ts';
import { meters } from './values/meters.ts';

test('errors and every answer have the header fields that are stated, and rates the names that are', async () => {
  const { send, close } = await tryService(meters.replace('limit: 600', 'limit: 4'));
  const told = ({ headers }: { headers: Readonly<Record<string, string>> }) =>
    Object.fromEntries(Object.entries(headers).filter(([name]) => /^x-|ratelimit/.test(name)));
  const made = await send('POST', '/readings', { body: { value: 1 } });
  // 09:01:00 on the test's clock, in seconds since 1970.
  const reset = String(Date.parse('2026-06-01T09:01:00Z') / 1000);
  assert.deepEqual(told(made), {
    'x-operation': 'create reading',
    'x-left-here': '3',
    'x-ratelimit-limit': '4',
    'x-ratelimit-remaining': '3',
    'x-ratelimit-reset': reset,
  });
  assert.equal(told(await send('GET', '/readings'))['x-operation'], 'list');
  assert.deepEqual(told(await send('GET', '/nowhere')), { 'x-error-code': 'missing', 'x-error-status': '404' });
  const invalid = told(await send('POST', '/readings', { body: {} }));
  assert.deepEqual(
    [invalid['x-error-code'], invalid['x-error-status'], invalid['x-operation']],
    ['invalid', 'unprocessable', 'create reading'],
  );
  await send('GET', '/readings');
  const refused = await send('GET', '/readings');
  assert.deepEqual([refused.status, told(refused)['x-wait-until'], refused.headers['retry-after']], [429, reset, '60']);
  await close();
});

test('when more are left is told in seconds or as a date of HTTP, too, and not at all where that is none', async () => {
  const resets = { 'X-Reset': '60', '{ X-Reset: seconds }': '60', '{ X-Reset: http-date }': 'Mon, 01 Jun 2026 09:01:00 GMT' };
  for (const [form, wanted] of Object.entries(resets)) {
    const { send, close } = await tryService(meters.replace('{ X-RateLimit-Reset: unix }', form));
    assert.equal((await send('GET', '/readings')).headers['x-reset'], wanted);
    await close();
  }
  const silent = await tryService(meters.replace(/ {2}headers: \{ limit.*\n/, '  headers: none\n'));
  const { headers } = await silent.send('POST', '/readings', { body: { value: 1 } });
  assert.deepEqual([headers.ratelimit, headers['ratelimit-policy'], headers['x-left-here']], [undefined, undefined, '599']);
  await silent.close();
});

test('header fields are read back from OpenAPI as they were stated', () => {
  const document = parseDocument(`title: Meters\n${meters}`, 'meters.yaml');
  for (const to of Object.keys(editions)) assert.deepEqual(readBack(exported(document, to)), plain(document.tree));
});
