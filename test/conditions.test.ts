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

test('a transition is refused for its state and for its condition by codes of their own, else by the general one', async () => {
  const codes = async (stated: string) => {
    const { send, close } = await tryService(`
resources: { job: { identifier: { field: id, generate: uuid }, fields: { id: string, paid: boolean, state: { type: string, readOnly: true } }, required: [id, paid, state] } }
states: { job: { field: state, initial: new, states: [new, done], transitions: { finish: { from: new, to: done, if: resource.paid } } } }
endpoints:
  POST /jobs: { does: create job }
  PATCH /jobs/{id}: { does: update job, in: [new] }
  POST /jobs/{id}/finish: { does: finish job }
authentication: none
errors: { payload: problem, codes: { ${stated} } }
`);
    const code = async (...sent: Parameters<typeof send>) => ((await send(...sent)).json as { code?: string }).code;
    const [unpaid, paid] = await Promise.all(
      [false, true].map(async (is) => ((await send('POST', '/jobs', { body: { paid: is } })).json as { id: string }).id),
    );
    await send('POST', `/jobs/${paid}/finish`);
    const told = [
      await code('POST', `/jobs/${unpaid}/finish`),
      await code('POST', `/jobs/${paid}/finish`),
      await code('PATCH', `/jobs/${paid}`, { body: { paid: false } }),
    ];
    await close();
    return told;
  };
  const general = 'not_now: { status: 409, when: transition.illegal }';
  const state = 'wrong_state: { status: 409, when: transition.illegal.state }';
  const condition = 'not_paid: { status: 402, when: transition.illegal.condition }';
  assert.deepEqual(await codes(general), ['not_now', 'not_now', 'not_now']);
  assert.deepEqual(await codes(`${general}, ${condition}`), ['not_paid', 'not_now', 'not_now']);
  assert.deepEqual(await codes(`${state}, ${condition}`), ['not_paid', 'wrong_state', 'wrong_state']);
});

test('`none` stands for a list or a value of which there is none', () => {
  const errors = check(document).findings.filter(({ severity }) => severity === 'error');
  assert.deepEqual(errors, []);
});

test('what never arises is read back from OpenAPI as it was stated', () => {
  for (const to of Object.keys(editions)) assert.deepEqual(readBack(exported(document, to)), plain(document.tree));
});
