import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDocument } from '../src/index.ts';
import { editions, exported, plain, readBack } from './openapi/harness.ts';
import { tryService } from './serving/tried.ts';
import { register } from './values/register.ts';

test('fields that are not for their caller to write are refused by name where that is stated', async () => {
  const { send, close } = await tryService(register);
  const wrong = async (method: string, path: string, body: unknown) => {
    const { status, json } = await send(method, path, { body });
    const { violations = [] } = json as { violations?: { path: string }[] };
    return [status, ...violations.map(({ path: at }) => at)];
  };
  assert.deepEqual(await wrong('POST', '/entries', { text: 'one', number: 7, state: 'old' }), [422, '/number', '/state']);
  // Told with whatever else is wrong.
  assert.deepEqual(await wrong('POST', '/entries', { id: 'a', text: '' }), [422, '/id', '/text']);
  const { id } = (await send('POST', '/entries', { body: { text: 'one' } })).json as { id: string };
  assert.deepEqual(await wrong('PATCH', `/entries/${id}`, { made_at: 'x', other: 1 }), [422, '/other', '/made_at']);
  assert.deepEqual(await wrong('PATCH', `/entries/${id}`, { text: 'two' }), [200]);
  // An endpoint says otherwise than the defaults.
  assert.deepEqual(await wrong('PUT', `/entries/${id}`, { text: 'three', number: 9 }), [200]);
  await close();
});

test('an older version refuses them by the names that it has', async () => {
  const versions = `
versioning:
  versions: { "1": {}, "2": { current: true } }
  select: { header: Version, default: current }
  changes: { "2": [{ rename: entry.count, to: number }] }
`;
  const { send, close } = await tryService(register + versions);
  for (const [method, path, headers, named] of [
    ['POST', '/entries', { version: '1' }, 'count'],
    ['POST', '/entries', {}, 'number'],
  ] as const) {
    const { status, json } = await send(method, path, { headers, body: { text: 'one', [named]: 7 } });
    assert.deepEqual(
      [status, (json as { violations: { path: string }[] }).violations.map((one) => one.path)],
      [422, [`/${named}`]],
    );
  }
  const { id } = (await send('POST', '/entries', { body: { text: 'one' } })).json as { id: string };
  const patched = await send('PATCH', `/entries/${id}`, { headers: { version: '1' }, body: { count: 3 } });
  assert.deepEqual(
    (patched.json as { violations: { path: string }[] }).violations.map((one) => one.path),
    ['/count'],
  );
  await close();
});

test('what is refused is read back from OpenAPI as it was stated', () => {
  const document = parseDocument(`title: Register\n${register}`, 'register.yaml');
  for (const to of Object.keys(editions)) assert.deepEqual(readBack(exported(document, to)), plain(document.tree));
});
