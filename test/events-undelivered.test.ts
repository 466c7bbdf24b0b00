import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { createLog } from '../src/cli/serve/log.ts';
import type { Undelivered } from '../src/index.ts';
import { startTrial, things } from './events/trial.ts';

/** What is said of web hooks that do not arrive. */
const hour = 3_600_000;

test('where a web hook may not go is told at its first failure, with the reason and the option that allows it, and not again', async (context) => {
  const told: Undelivered[] = [];
  const trial = await startTrial(context, things(), { allowPrivateWebhooks: false, onUndelivered: (one) => told.push(one) });
  const hook = await trial.send('owner/o1', 'POST', '/hooks', { url: 'http://127.0.0.1:9/in/a-secret?key=another' });
  for (const name of ['A', 'B']) assert.equal((await trial.send('owner/o1', 'POST', '/things', { name })).status, 201);
  await trial.advance(10_000);
  await trial.advance(6 * 60_000);
  assert.deepEqual(told, [
    {
      at: '2026-06-01T09:00:00.000Z',
      kind: 'thing.made',
      subscriber: hook.json.id,
      to: 'http://127.0.0.1:9',
      attempt: 1,
      why: '127.0.0.1 is no public address; --allow-private-webhooks allows it.',
    },
  ]);
});

test('a receiver that was well for a while and fails again is told anew, once an hour', async (context) => {
  let status = 503;
  const receiver = createServer((_request, response) => response.writeHead(status).end());
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  context.after(() => receiver.close());
  const address = receiver.address();
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  const told: Undelivered[] = [];
  const trial = await startTrial(context, things(), { onUndelivered: (one) => told.push(one) });
  await trial.send('owner/o1', 'POST', '/hooks', { url });
  const happens = async (answer: number, ms: number) => {
    status = answer;
    await trial.send('owner/o1', 'POST', '/things', { name: 'A' });
    await trial.advance(ms);
    status = 200;
    await trial.advance(hour / 4);
  };
  for (const answer of [503, 500, 204]) await happens(answer, 1);
  assert.deepEqual(
    told.map(({ to, why, status: one }) => [to, why, one]),
    [[url, 'It was answered 503.', 503]],
  );
  await trial.advance(hour);
  await happens(204, 1);
  await happens(500, 1);
  assert.deepEqual(
    told.map(({ why }) => why),
    ['It was answered 503.', 'It was answered 500.'],
  );
});

test('the log says so also where it notes no exchanges down', () => {
  const lines: string[] = [];
  const write = (text: string) => void lines.push(text);
  const terminal = { write, complain: write, isTTY: false, columns: 80, colour: false };
  const one = { at: '2026-06-01T09:00:00Z', kind: 'k', subscriber: 's', to: 'http://a', attempt: 1, why: 'No\u001b[2J\nway.' };
  createLog('quiet', terminal).undelivered(one);
  createLog('json', terminal).undelivered(one);
  assert.match(
    lines[0] ?? '',
    /^\d\d:\d\d:\d\d {2}undelivered {2}k to http:\/\/a: No.* way\. What else fails there is not told now\.\n$/,
  );
  const { event, level, why } = JSON.parse(lines[1] ?? '');
  assert.deepEqual([event, level, why], ['undelivered', 40, one.why]);
});
