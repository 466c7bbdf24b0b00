import assert from 'node:assert/strict';
import { test } from 'node:test';
import { check, parseDocument } from '../src/index.ts';
import { editions, exported, plain, readBack } from './openapi/harness.ts';
import { tryService } from './serving/tried.ts';
import { counters } from './values/counters.ts';

const desk = `
endpoints:
  POST /wait: { does: handler wait, response: { 200: { type: object } } }
  GET /now: { does: handler now, response: { 200: { type: object } } }
authentication: none
errors: { payload: problem, codes: { crowded: { status: 429, when: limit.rate }, own: { status: 409 } } }
limits: { at_once: { per: everyone, on: [handler wait], limit: 2 } }
`;

async function open(text = desk) {
  const waiting: ((end: 'well' | 'badly') => void)[] = [];
  const tried = await tryService(text, {
    handlers: {
      now: () => ({}),
      wait: () =>
        new Promise((resolve, reject) => {
          waiting.push((end) => (end === 'well' ? resolve({}) : reject(new Error('it broke'))));
        }),
    },
  });
  const begun = async (count: number) => {
    while (waiting.length < count) await new Promise((resolve) => setImmediate(resolve));
  };
  const wait = () => tried.send('POST', '/wait');
  return { ...tried, wait, waiting, begun };
}

test('so many requests are under way at once, and what is answered, well or badly, makes room', async () => {
  const { send, wait, waiting, begun, failures, close } = await open();
  const first = [wait(), wait()];
  await begun(2);
  const refused = await wait();
  assert.deepEqual(
    [refused.status, (refused.json as { code: string }).code, refused.headers['retry-after']],
    [429, 'crowded', '1'],
  );
  assert.equal((await send('GET', '/now')).status, 200);
  waiting[0]?.('well');
  waiting[1]?.('badly');
  assert.deepEqual((await Promise.all(first)).map(({ status }) => status).sort(), [200, 500]);
  const again = [wait(), wait()];
  await begun(4);
  assert.equal((await wait()).status, 429);
  for (const end of waiting.slice(2)) end('well');
  assert.deepEqual(
    (await Promise.all(again)).map(({ status }) => status),
    [200, 200],
  );
  assert.equal(failures.length, 1);
  await close();
});

test('what is refused for that is counted by no rate', async () => {
  const { wait, waiting, begun, close } = await open(
    desk.replace(
      'limits: {',
      'limits: { rate: [{ per: address, limit: 3, window: 1h }, { per: everyone, limit: 3, window: 1h }],',
    ),
  );
  const first = [wait(), wait()];
  await begun(2);
  for (let at = 0; at < 4; at++) assert.equal((await wait()).headers['retry-after'], '1');
  for (const end of waiting) end('well');
  await Promise.all(first);
  const third = wait();
  await begun(3);
  waiting[2]?.('well');
  assert.equal((await third).status, 200);
  assert.notEqual((await wait()).headers['retry-after'], '1');
  await close();
});

test('a number alone is of each caller; limits of requests at once are a fact, and are read back from OpenAPI', () => {
  const document = parseDocument(`title: Counters\n${counters}`, 'counters.yaml');
  const { findings, ledger } = check(document);
  assert.deepEqual(
    findings.filter(({ severity }) => severity === 'error'),
    [],
  );
  assert.ok(
    ledger.facts.some(({ kind, subject, standing }) => kind === 'rate limits' && subject === 'at once' && standing === 'stated'),
  );
  for (const to of Object.keys(editions)) assert.deepEqual(readBack(exported(document, to)), plain(document.tree));
  const short = parseDocument(
    `title: Counters\n${counters.replace('{ per: caller, on: [create parcel], limit: 3 }', '3')}`,
    'counters.yaml',
  );
  assert.deepEqual(check(short).spec.limits.atOnce, {
    standing: 'stated',
    at: '/limits/at_once',
    value: [{ at: '/limits/at_once', per: 'caller', limit: 3 }],
  });
});
