import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDocument } from '../src/index.ts';
import { editions, exported, plain, readBack } from './openapi/harness.ts';
import { tryService } from './serving/tried.ts';
import { tracker } from './values/tracker.ts';

type Fields = Record<string, string | number>;

test('issues are counted within their repository, and many who race leave no number out and none twice', async () => {
  const { send, close } = await tryService(tracker);
  for (const id of ['a', 'b']) await send('POST', '/repositories', { body: { id, name: id } });
  const wanted = Array.from({ length: 64 }, (_, at) => ({ repository: at % 4 === 0 ? 'b' : 'a', title: `one ${at}` }));
  const made = await Promise.all(wanted.map((body) => send('POST', '/issues', { body })));
  assert.deepEqual(new Set(made.map(({ status }) => status)), new Set([201]));
  for (const [repository, count] of [
    ['a', 48],
    ['b', 16],
  ] as const) {
    const numbers = made
      .map(({ json }) => json as Fields)
      .filter((one) => one.repository === repository)
      .map(({ number }) => number);
    assert.deepEqual(
      numbers.toSorted((one, other) => Number(one) - Number(other)),
      Array.from({ length: count }, (_, at) => at + 1),
    );
  }
  await close();
});

test('a number is drawn by what is stored alone: refusals leave no gap, and a number never comes again', async () => {
  const { send, close } = await tryService(tracker);
  await send('POST', '/repositories', { body: { id: 'a', name: 'a' } });
  const open = async (title: string) => (await send('POST', '/issues', { body: { repository: 'a', title } })).json as Fields;
  const first = await open('one');
  assert.deepEqual([first.number, first.label, first.mark], [1, 'T-0001', `${first.id}_1`]);
  // An own error, a taken value, and a value that no field can hold.
  assert.equal((await send('POST', '/issues', { body: { repository: 'a', title: 'spam' } })).status, 409);
  assert.equal((await send('POST', '/issues', { body: { repository: 'a', title: 'one' } })).status, 409);
  assert.equal((await send('POST', '/issues', { body: { repository: 'a', title: '' } })).status, 422);
  const second = await open('two');
  assert.deepEqual([second.number, second.label], [2, 'T-0002']);
  assert.equal((await send('DELETE', `/issues/${second.id}`)).status, 204);
  assert.equal((await open('two')).number, 3);
  // What is sent is passed over, as of every read-only field.
  assert.equal(
    ((await send('POST', '/issues', { body: { repository: 'a', title: 'four', number: 9 } })).json as Fields).number,
    4,
  );
  await close();
});

test('rows that are given with a number are counted on from there', async () => {
  const row = { id: 'x', repository: 'a', number: 7, label: 'T-0030', mark: 'x_7', title: 'old' };
  const { send, close } = await tryService(tracker, { rows: { repository: [{ id: 'a', name: 'a' }], issue: [row] } });
  const made = (await send('POST', '/issues', { body: { repository: 'a', title: 'new' } })).json as Fields;
  assert.deepEqual([made.number, made.label], [8, 'T-0031']);
  await close();
});

test('what is counted is read back from OpenAPI as it was stated', () => {
  const document = parseDocument(`title: Tracker\n${tracker}`, 'tracker.yaml');
  for (const to of Object.keys(editions)) assert.deepEqual(readBack(exported(document, to)), plain(document.tree));
});
