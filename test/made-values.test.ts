import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDocument } from '../src/index.ts';
import { changed, found } from './check/harness.ts';
import { startTrial, things } from './events/trial.ts';
import { editions, exported, plain, readBack } from './openapi/harness.ts';
import { tryService } from './serving/tried.ts';
import { wrapped } from './values/wrapped.ts';

type Fields = Record<string, unknown>;

test('answers and refusals are made as maps in maps and lists', async () => {
  const { send, close, failures } = await tryService(wrapped);
  const made = await send('POST', '/letters', { body: { title: 'one', pages: 2 } });
  // What is null inside a map is left out, as what is absent is.
  const { data } = made.json as { data: { object: Fields; tags: unknown } };
  assert.deepEqual([made.status, data.tags, data.object.title], [201, ['new', 'long'], 'one']);
  const read = await send('GET', `/letters/${String(data.object.id)}`);
  assert.deepEqual(read.json, { data: { object: data.object }, about: { words: { title: 'one', twice: 4 } } });
  const refused = await send('GET', '/letters/none');
  const { error } = refused.json as { error: { code: string; of: Fields } };
  assert.deepEqual([refused.status, error.code, error.of.status, typeof error.of.request], [404, 'missing', 404, 'string']);
  assert.deepEqual(failures, []);
  await close();
});

test('a part of a made value stands alone: what is wrong with it is found at its own place, and nothing it holds reaches the others', () => {
  const answer = (data: string) =>
    `endpoints: { GET /count: { response: { 200: { type: null, properties: null, required: null, shape: { type: object, properties: { all: { type: object, properties: { count: integer, tags: { type: array, items: string } }, required: [count], additionalProperties: false } }, required: [all] }, data: ${data} } } } }`;
  const at = '/endpoints/GET ~1count/response/200/data/all';
  for (const [data, ...finds] of [
    ['{ all: { count: params.least, tags: ["\'a\'"] } }'],
    ['{ all: { count: params.most } }', `expressions/unknown-field @ ${at}/count`],
    ['{ all: { count: "\'x\'" } }', `expressions/wrong-result @ ${at}/count`],
    ['{ all: { count: params.least, tags: [1] } }', `expressions/wrong-result @ ${at}/tags/0`],
    ['{ all: { tags: [] } }', `endpoints/data-misfit @ ${at}`],
    ['{ all: { count: 1, more: 2 } }', `endpoints/data-misfit @ ${at}/more`],
    ['{ all: { count: "params.least > 1 ? params.least : null" } }', `expressions/wrong-result @ ${at}/count`],
    ['{ all: { count: "1}, \'x\': {1" } }', `expressions/does-not-parse @ ${at}/count`],
  ])
    assert.deepEqual(found(changed([answer(String(data))])), finds, String(data));
});

test('made values are read back from OpenAPI as they were stated, and refusals are told apart by the code inside them', () => {
  const document = parseDocument(`title: Letters\n${wrapped}`, 'letters.yaml');
  for (const to of Object.keys(editions)) assert.deepEqual(readBack(exported(document, to)), plain(document.tree));
  // A code in a list has no place of its own.
  const listed = wrapped.replace('{ error: { code: code, message', '{ error: { all: [{ code: code }], message');
  assert.doesNotMatch(JSON.stringify(exported(parseDocument(`title: Letters\n${listed}`, 'letters.yaml'))), /"0":/);
  assert.match(
    JSON.stringify(exported(document)),
    /"error":\{"type":"object","properties":\{"code":\{"type":"string","const":"heavy"/,
  );
});

test('the payload of an event is made as maps in maps', async (context) => {
  const payload =
    'payload: { type: object, properties: { thing: { type: object, properties: { id: string, all: { type: array, items: string } }, required: [id, all] } }, required: [thing] }';
  const data = `data: { thing: { id: next.id, all: [next.id, "'x'"] } }`;
  const trial = await startTrial(context, things('', `thing.shown: { on: [create thing], ${payload}, ${data} }`));
  const { id } = (await trial.send('owner/ann', 'POST', '/things', { name: 'one' })).json;
  const events = await trial.outbox((outbox) => outbox.events(0, 10));
  const shown = events.find(({ kind }) => kind === 'thing.shown');
  assert.deepEqual(JSON.parse(shown?.payload ?? 'null'), { thing: { id, all: [id, 'x'] } });
});
