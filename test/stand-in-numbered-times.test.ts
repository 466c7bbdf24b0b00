import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answers, list, object, ref, sends, standIn, string, within } from './import/stand-in.ts';

/** Clients that speak of times in numbers where the description says a text. */

const time = { type: 'string', format: 'date-time' };
const Pass = object({ id: string, at: time, stops: list(object({ seen: time })) });
const paths = {
  '/passes': { post: { ...sends(ref('Pass')), ...answers(ref('Pass'), {}, '201') }, get: answers(list(ref('Pass'))) },
  '/passes/{id}': { ...within('id'), get: answers(ref('Pass')) },
};

test('who sends a time as a number is told times as numbers, and it is kept as a time', () =>
  standIn(paths, { Pass }, async (ask) => {
    const { status, json: made } = await ask('POST', '/passes', { at: 1_700_000_000.5, stops: [{ seen: 1_700_000_060 }] });
    assert.deepEqual([status, made.at, made.stops], [201, 1_700_000_000.5, [{ seen: 1_700_000_060 }]]);
    const { json: read } = await ask('GET', `/passes/${made.id}`);
    assert.deepEqual([read.at, read.stops], ['2023-11-14T22:13:20.500Z', [{ seen: '2023-11-14T22:14:20.000Z' }]]);
    assert.equal((await ask('POST', '/passes', { id: 1_700_000_000 })).status, 400, 'a text that is no time stays one');
  }));

test('who signs as a protocol asks in which times are numbers is told numbers', () =>
  standIn(paths, { Pass }, async (ask) => {
    const { json: made } = await ask('POST', '/passes', { at: '2026-01-31T12:00:00Z' });
    const signed = { authorization: 'AWS4-HMAC-SHA256 Credential=a/b/c/d/aws4_request, SignedHeaders=host, Signature=e' };
    assert.equal((await ask('GET', `/passes/${made.id}`, undefined, signed)).json.at, 1_769_860_800);
    assert.equal((await ask('GET', `/passes/${made.id}`)).json.at, '2026-01-31T12:00:00Z');
  }));

test('a time whose own name says that it is a text stays one, whoever signs', () =>
  standIn(
    paths,
    { Pass: object({ id: string, at: ref('Iso8601Timestamp') }), Iso8601Timestamp: { type: 'string', format: 'date-time' } },
    async (ask) => {
      const { json: made } = await ask('POST', '/passes', { at: '2026-01-31T12:00:00Z' });
      const signed = { authorization: 'AWS4-HMAC-SHA256 Credential=a/b/c/d/aws4_request, SignedHeaders=host, Signature=e' };
      assert.equal((await ask('GET', `/passes/${made.id}`, undefined, signed)).json.at, '2026-01-31T12:00:00Z');
    },
  ));

test('to the letter, a time is a text', () =>
  standIn(
    paths,
    { Pass },
    async (ask) => assert.equal((await ask('POST', '/passes', { at: 1_700_000_000 })).status, 400),
    {},
    true,
  ));

test('a path with a slash more or less has the methods of the other', async () => {
  const pass = ref('Pass');
  const apart = {
    '/passes': paths['/passes'],
    '/passes/{id}': { ...within('id'), delete: { responses: { 204: { description: 'Gone.' } } } },
    '/passes/{id}/': { ...within('id'), get: answers(pass) },
  };
  await standIn(apart, { Pass }, async (ask) => {
    const { json: made } = await ask('POST', '/passes', {});
    assert.equal((await ask('GET', `/passes/${made.id}`)).status, 200);
    assert.equal((await ask('PUT', `/passes/${made.id}`, {})).status, 405);
    assert.equal((await ask('DELETE', `/passes/${made.id}/`)).status, 204);
  });
});
