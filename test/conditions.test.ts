import assert from 'node:assert/strict';
import { test } from 'node:test';
import { check, parseDocument } from '../src/index.ts';
import { editions, exported, plain, readBack } from './openapi/harness.ts';
import { tryService } from './serving/tried.ts';
import { pads } from './values/pads.ts';

const document = parseDocument(`title: Pads\n${pads}`, 'pads.yaml');

test('what never arises is not open, and what is left to the implementation is not either', () => {
  const { ledger } = check(document);
  const conditions = ledger.facts.filter(({ kind }) => kind === 'conditions');
  const standing = (word: string) => conditions.filter(({ subject }) => subject === word).map((one) => one.standing);
  assert.deepEqual([standing('internal'), standing('write.conflict'), standing('invalid')], [['none'], ['any'], ['stated']]);
  assert.deepEqual(
    conditions.filter((one) => one.standing === 'open').map(({ subject }) => subject),
    ['limit.size'],
  );
});

test('what never arises never answers', async () => {
  const { send, close } = await tryService(pads);
  const made = await send('POST', '/pads', {
    body: '{"text":"a"}',
    headers: { 'content-type': 'text/html', accept: 'image/png' },
  });
  assert.deepEqual([made.status, made.headers['content-type']], [201, 'application/json']);
  const untyped = await send('POST', '/pads', { body: '{"text":"b"}', headers: { 'content-type': '' } });
  assert.equal(untyped.status, 201);
  const method = await send('DELETE', '/pads');
  assert.deepEqual([method.status, (method.json as { code: string }).code, method.headers.allow], [404, 'missing', undefined]);
  await close();
});

test('a body that is missing, or says no type, is refused by a code of its own, else by the general one', async () => {
  const told = async (text: string, sent: { body?: unknown; headers?: Record<string, string> }) => {
    const { send, close } = await tryService(text);
    const { status, json } = await send('POST', '/pads', sent);
    await close();
    return [status, (json as { code: string }).code];
  };
  const broken = { body: '{"text":' };
  assert.deepEqual(await told(pads, {}), [400, 'no_body']);
  assert.deepEqual(await told(pads, broken), [422, 'invalid']);
  assert.deepEqual(await told(pads.replace(/ +no_body.*\n/, ''), {}), [422, 'invalid']);
  assert.deepEqual(await told(pads.replace('request.media: none', 'request.missing: none').replace(/ +no_body.*\n/, ''), {}), [
    422,
    'invalid',
  ]);
  const typed = pads.replace('    request.media: none\n', '');
  const untyped = { body: '{"text":"b"}', headers: { 'content-type': '' } };
  const codes = (words: string) => typed.replace('when: request.missing', `when: [${words}]`);
  assert.deepEqual(await told(codes('request.untyped'), untyped), [400, 'no_body']);
  assert.deepEqual(await told(codes('request.media'), untyped), [400, 'no_body']);
  assert.deepEqual(
    await told(codes('request.media, request.untyped'), { ...untyped, headers: { 'content-type': 'text/html' } }),
    [400, 'no_body'],
  );
  assert.deepEqual(await told(typed.replace('limit.time', 'request.untyped'), untyped), [201, undefined]);
});

test('`none` stands for a list or a value of which there is none', () => {
  const errors = check(document).findings.filter(({ severity }) => severity === 'error');
  assert.deepEqual(errors, []);
});

test('what never arises is read back from OpenAPI as it was stated', () => {
  for (const to of Object.keys(editions)) assert.deepEqual(readBack(exported(document, to)), plain(document.tree));
});
