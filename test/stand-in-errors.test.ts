import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answers, integer, list, object, ref, sends, standIn, string, type Words, within } from './import/stand-in.ts';

/** Errors of stand-ins whose sources say little of them. */

const thing = object({ id: string, name: string }, ['id']);
const word = (...words: string[]): Words => ({ ...string, enum: words });
const error = object({ category: string, code: string, detail: string, field: string }, ['code']);
const codes = word('INTERNAL_SERVER_ERROR', 'UNAUTHORIZED', 'NOT_FOUND', 'BAD_REQUEST', 'CONFLICT', 'UNPROCESSABLE_ENTITY');
const read = (schema: unknown, more: Words = {}): Words => ({
  '/things/{thing_id}': { ...within('thing_id'), get: { responses: { ...(answers(schema).responses as Words), ...more } } },
});

test('where no operation says that it fails, the list of errors beside most answers does, with the words beside it', async () => {
  const answer = object({ thing: ref('Thing'), errors: list(ref('Error')) });
  const paths = {
    ...read(answer),
    '/things': { get: answers(object({ things: list(ref('Thing')), errors: list(ref('Error')) })), post: { ...answers(answer) } },
  };
  await standIn(paths, { Thing: thing, Error: error, ErrorCode: codes }, async (ask) => {
    const { status, json } = await ask('GET', '/things/none');
    assert.equal(status, 404);
    assert.equal(json.errors[0].code, 'NOT_FOUND');
    assert.match(json.errors[0].detail, /no such/);
  });
});

test('a component that is called an error is the shape of errors, unless it is a report on errors', async () => {
  const plain = object({ code: string, message: string }, ['code', 'message']);
  const made = { '/things': { post: answers(ref('Thing'), {}, '201') } };
  await standIn({ ...made, ...read(ref('Thing')) }, { Thing: thing, ApiError: plain }, async (ask) => {
    assert.deepEqual(Object.keys((await ask('GET', '/things/none')).json), ['code', 'message']);
  });
  const report = object({ id: integer, code: integer, message: string, count: integer, last_seen: string, percentage: integer });
  await standIn({ ...made, ...read(ref('Thing')) }, { Thing: thing, Error: report }, async (ask) => {
    const { json, headers } = await ask('GET', '/things/none');
    assert.match(headers.get('content-type') ?? '', /problem\+json/);
    assert.equal(json.last_seen, undefined);
  });
});

test('where an operation states no refusal, the shape of all says in its message what is wrong', async () => {
  const failing = { '404': { description: 'none', content: { 'application/json': { schema: ref('ApiError') } } } };
  const made = { '/things': { post: { ...sends(object({ name: string }, ['name'])), ...answers(ref('Thing'), {}, '201') } } };
  const schemas = { Thing: thing, ApiError: object({ error: object({ code: string, message: string }) }) };
  await standIn({ ...made, ...read(ref('Thing'), failing) }, schemas, async (ask) => {
    const { status, json } = await ask('POST', '/things', { name: 5 });
    assert.equal(status, 400);
    assert.equal(json.error.message, 'The body does not have the right shape: name is 5, and should be a string.');
  });
});

test('a code of which no words are listed is written as the source writes its words', async () => {
  const failing = { '404': { description: 'none', content: { 'application/json': { schema: ref('Failure') } } } };
  const failure = object({ code: string, detail: string }, ['code', 'detail']);
  const paths = { '/things': { post: answers(ref('Thing'), {}, '201') }, ...read(ref('Thing'), failing) };
  const codeFor = async (lists: readonly Words[]) => {
    const fields = Object.fromEntries(lists.map((one, at) => [`f${at}`, one]));
    const schemas = { Thing: object({ id: string, ...fields }, ['id']), Failure: failure };
    let code: unknown;
    await standIn(paths, schemas, async (ask) => {
      code = (await ask('GET', '/things/none')).json.code;
    });
    return code;
  };
  const capitals = ['A', 'B', 'C', 'D', 'E'].map((one) => word(`${one}_ONE`, `${one}_TWO`));
  assert.equal(await codeFor(capitals), 'NOT_FOUND');
  assert.equal(await codeFor(capitals.slice(1)), 'not_found');
  assert.equal(await codeFor([...capitals, word('one', 'two'), word('three', 'four')]), 'not_found');
});

test('what is not there is 404 in the shape of the status that is stated, and what is wrong with a request has that status', async () => {
  const failure = object({ errorCode: string, detail: string }, ['errorCode', 'detail']);
  const failing = { '400': { description: 'wrong', content: { 'application/json': { schema: ref('Failure') } } } };
  const made = {
    '/things': {
      post: {
        requestBody: { content: { 'application/json': { schema: object({ name: string }, ['name']) } } },
        responses: { ...(answers(ref('Thing'), {}, '201').responses as Words), ...failing },
      },
    },
  };
  await standIn({ ...made, ...read(ref('Thing'), failing) }, { Thing: thing, Failure: failure }, async (ask) => {
    const { status, json } = await ask('GET', '/things/none');
    assert.deepEqual([status, Object.keys(json)], [404, ['errorCode', 'detail']]);
    assert.equal((await ask('POST', '/things', { name: 3 })).status, 400);
  });
});
