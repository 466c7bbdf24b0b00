import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toAsyncapi } from '../src/convert/asyncapi.ts';
import { parseDocument } from '../src/index.ts';
import { readSpec } from '../src/parts/spec.ts';
import { startReceiver } from './events/receiver.ts';
import { listenTo } from './events/stream-reader.ts';
import { startTrial, type Trial, things } from './events/trial.ts';
import { editions, exported, flaws, plain, readBack } from './openapi/harness.ts';
import { asking, issues } from './values/issues.ts';
import { trials } from './values/trials.ts';

/** What was recorded since the last look, as kind and payload. */
function told(trial: Trial): () => Promise<readonly (readonly [string, unknown])[]> {
  let last = 0;
  return async () => {
    const from = last;
    // A store may run this more than once.
    const found = await trial.outbox((outbox) => outbox.events(from, 200));
    last = found.at(-1)?.seq ?? last;
    return found.map(({ kind, payload }) => [kind, JSON.parse(payload)] as const);
  };
}

/** What an event says that its change altered. */
function changesOf(event: readonly [string, unknown] | undefined): Record<string, unknown> {
  assert.ok(event);
  return (event[1] as { changes: Record<string, unknown> }).changes;
}

test('an event says what its change altered, as it was', async (context) => {
  const trial = await startTrial(context, issues);
  const news = told(trial);
  await trial.send('', 'POST', '/issues', { id: 'a', title: 'Leak', labels: ['water'], pin: '1' });
  assert.deepEqual(
    (await news()).map(([kind]) => kind),
    ['issue.made'],
  );
  await trial.send('', 'PATCH', '/issues/a', { title: 'Leaks', body: 'Much.', pin: '2' });
  const [changed, retitled] = await news();
  const { touched_at, ...changes } = changesOf(changed);
  assert.deepEqual(changes, { title: 'Leak', body: null }, 'null for what was not there, and nothing of what nobody is shown');
  assert.deepEqual(retitled, ['issue.retitled', { id: 'a', from: 'Leak', to: 'Leaks' }]);
  await trial.send('', 'PATCH', '/issues/a', { labels: ['water', 'old'] });
  const [relabelled, labelled, ...more] = await news();
  assert.deepEqual(labelled, ['issue.labelled', { id: 'a', label: 'old' }]);
  assert.deepEqual(changesOf(relabelled).labels, ['water']);
  assert.deepEqual(more, [], 'what reads the title alone is not told');
  await trial.send('', 'DELETE', '/issues/a');
  assert.deepEqual(await news(), []);
  assert.deepEqual(trial.failures, []);
});

test('what only some see is not among what a change altered', async (context) => {
  const was =
    'was: { on: [update thing], payload: { type: object, properties: { was: { type: object } } }, data: { was: event.before } }';
  const trial = await startTrial(context, things('', was));
  const { json } = await trial.send('clerk/c', 'POST', '/things', { name: 'a', cost: 3, pin: 'x' });
  const news = told(trial);
  await news();
  await trial.send('clerk/c', 'PATCH', `/things/${json.id}`, { name: 'b', cost: 4, pin: 'y' });
  assert.deepEqual(
    (await news()).filter(([kind]) => kind === 'was'),
    [['was', { was: { name: 'a' } }]],
  );
});

test('kinds of one name are told by their actions, and heard of by either', async (context) => {
  const trial = await startTrial(context, issues);
  const receivers = await Promise.all(
    [['issues'], ['issues.closed'], ['issues.*', 'issue.made'], ['issue.retitled']].map(async (kinds) => {
      const receiver = await startReceiver(context);
      const made = await trial.send('', 'POST', '/hooks', { url: receiver.url, kinds });
      assert.equal(made.status, 201);
      return receiver;
    }),
  );
  const refused = await trial.send('', 'POST', '/hooks', { url: receivers[0]?.url, kinds: ['issue.closed'] });
  assert.equal(refused.status, 422, 'what is told under another name is not asked for by its key');
  await trial.send('', 'POST', '/issues', { id: 'a', title: 'Leak' });
  await trial.send('', 'POST', '/issues/a/close');
  await trial.send('', 'POST', '/issues/a/reopen');
  await trial.service.settled();
  const heard = receivers.map(({ received }) =>
    received.map(({ json, headers }) => [json.type, headers['x-event'], json.data.action ?? ''].join(' ')),
  );
  assert.deepEqual(heard, [
    ['issues issues closed', 'issues issues reopened'],
    ['issues issues closed'],
    ['issue.made issue.made ', 'issues issues closed', 'issues issues reopened'],
    [],
  ]);
  const stream = listenTo(await trial.service.fetch(new Request('http://127.0.0.1/events')));
  await trial.send('', 'POST', '/issues/a/close');
  await stream.until(1);
  assert.deepEqual(
    stream.heard.map(({ event, data }) => [event, data.type]),
    [['issues', 'issues']],
  );
  await stream.close();
});

test('one event is told for each thing of a list', async (context) => {
  const trial = await startTrial(context, issues);
  await trial.send('', 'POST', '/issues', { id: 'a', title: 'Leak', labels: ['water'] });
  const news = told(trial);
  await news();
  await trial.send('', 'PATCH', '/issues/a', { labels: ['old', 'water', 'roof'] });
  assert.deepEqual(
    (await news()).filter(([kind]) => kind === 'issue.labelled').map(([, payload]) => payload),
    [
      { id: 'a', label: 'old' },
      { id: 'a', label: 'roof' },
    ],
  );
  await trial.send('', 'PATCH', '/issues/a', { labels: ['roof'] });
  assert.ok(!(await news()).some(([kind]) => kind === 'issue.labelled'));
});

test('a change that has too many events is not made', async (context) => {
  const text = things(
    '',
    'thing.counted: { on: [update thing], each: "next.name.split(\',\')", payload: { type: object, properties: { part: string } }, data: { part: item } }',
  );
  const trial = await startTrial(context, text);
  const { json } = await trial.send('clerk/c', 'POST', '/things', { name: 'a', cost: 3 });
  const few = await trial.send('clerk/c', 'PATCH', `/things/${json.id}`, { name: 'b,'.repeat(999) });
  assert.equal(few.status, 200);
  const news = told(trial);
  const refused = await trial.send('clerk/c', 'PATCH', `/things/${json.id}`, { name: 'c,'.repeat(1000) });
  assert.equal(refused.status, 500);
  assert.ok(!(await news()).some(([, payload]) => (payload as { part?: string }).part === 'c'));
  assert.equal(trial.failures.length, 1);
});

test('subscribers say in fields of any depth where they are, and by conditions what they ask for', async (context) => {
  const trial = await startTrial(context, asking);
  const receiver = await startReceiver(context);
  const made = await trial.send('', 'POST', '/hooks', { config: { url: receiver.url }, topics: ['issues'] });
  const kinds = () => receiver.received.splice(0).map(({ json }) => json.type);
  await trial.send('', 'POST', '/issues', { id: 'a', title: 'Leak' });
  await trial.send('', 'POST', '/issues/a/close');
  await trial.service.settled();
  assert.deepEqual(kinds(), ['issues']);
  await trial.send('', 'PATCH', `/hooks/${made.json.id}`, { status: 'paused' });
  await trial.send('', 'POST', '/issues/a/reopen');
  await trial.service.settled();
  assert.deepEqual(kinds(), []);
  await trial.send('', 'PATCH', `/hooks/${made.json.id}`, { status: 'active', topics: ['issue.changed', 'issues'] });
  await trial.send('', 'PATCH', '/issues/a', { title: 'Leaks' });
  await trial.service.settled();
  assert.deepEqual(kinds(), ['issue.changed']);
  const refused = await trial.send('', 'POST', '/hooks', { config: { url: 'ftp://x.example' } });
  assert.equal(refused.status, 422);
  assert.deepEqual(
    refused.json.violations.map(({ path }) => path),
    ['/config/url'],
  );
});

test('a subscriber whose condition says whether it is enabled is disabled beside it, until it is enabled anew', async (context) => {
  const trial = await startTrial(context, asking);
  const receiver = await startReceiver(context, 410);
  const made = await trial.send('', 'POST', '/hooks', { config: { url: receiver.url }, topics: ['issues'] });
  await trial.send('', 'POST', '/issues', { id: 'a', title: 'Leak' });
  for (const act of ['close', 'reopen']) {
    await trial.send('', 'POST', `/issues/a/${act}`);
    await trial.service.settled();
  }
  assert.equal(receiver.received.length, 1, 'it has said that it is gone');
  receiver.react(200);
  await trial.send('', 'PATCH', `/hooks/${made.json.id}`, { status: 'paused' });
  await trial.send('', 'PATCH', `/hooks/${made.json.id}`, { status: 'active' });
  await trial.send('', 'POST', '/issues/a/close');
  await trial.service.settled();
  assert.equal(receiver.received.length, 2);
});

test('what is stated of events comes back from other formats as it is', async () => {
  for (const text of [issues, asking, trials]) {
    const document = parseDocument(text, 'issues.yaml');
    for (const edition of Object.keys(editions)) {
      const written = exported(document, edition);
      assert.deepEqual(readBack(written), plain(document.tree), edition);
      assert.deepEqual(await flaws(written), [], edition);
    }
    const told = parseDocument(JSON.stringify(toAsyncapi(readSpec(document))), 'exported.json');
    assert.deepEqual(plain(told.tree), plain(document.tree));
  }
});

test('the clock tells of a row at its time, once for each time that it has', async (context) => {
  const trial = await startTrial(context, trials);
  const news = told(trial);
  const kinds = async () =>
    (await news()).flatMap(([kind, payload]) =>
      kind === 'subscription.changed' ? [] : [`${kind} ${(payload as { plan: string }).plan}`],
    );
  await trial.send('', 'POST', '/subscriptions', { id: 'a', plan: 'gold', trial_end: '2026-06-11T09:00:00Z' });
  await trial.send('', 'POST', '/subscriptions', { id: 'b', plan: 'none' });
  assert.deepEqual(await kinds(), ['subscription.made gold', 'subscription.made none']);
  await trial.advance(7 * 86_400_000 - 1);
  assert.deepEqual(await kinds(), []);
  await trial.advance(1);
  assert.deepEqual(await kinds(), ['trial.ending gold']);
  await trial.send('', 'PATCH', '/subscriptions/a', { plan: 'silver' });
  await trial.advance(86_400_000);
  assert.deepEqual(await kinds(), [], 'it is told of once');
  await trial.send('', 'PATCH', '/subscriptions/a', { trial_end: '2026-06-21T09:00:00Z' });
  await trial.restart();
  await trial.advance(9 * 86_400_000);
  assert.deepEqual(await kinds(), ['trial.ending silver'], 'another time is another event');
  await trial.send('', 'PATCH', '/subscriptions/a', { trial_end: '2026-07-21T09:00:00Z' });
  await trial.send('', 'DELETE', '/subscriptions/a');
  await trial.advance(60 * 86_400_000);
  assert.deepEqual(await kinds(), []);
  assert.deepEqual(trial.failures, []);
});

test('a payload by reference is the identifier alone', async (context) => {
  const trial = await startTrial(context, trials);
  const news = told(trial);
  await trial.send('', 'POST', '/subscriptions', { id: 'a', plan: 'gold' });
  await trial.send('', 'PATCH', '/subscriptions/a', { plan: 'silver' });
  await trial.send('', 'DELETE', '/subscriptions/a');
  assert.deepEqual((await news()).slice(1), [
    ['subscription.changed', 'a'],
    ['subscription.changed', 'a'],
  ]);
});
