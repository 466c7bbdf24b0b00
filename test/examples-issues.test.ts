import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readDocument } from '../src/document/read/read.ts';
import { check } from '../src/index.ts';
import { isKey } from '../src/parts/form.ts';
import type { Caller } from '../src/serve/exchange/exchange.ts';
import { startReceiver } from './events/receiver.ts';
import { startTrial } from './events/trial.ts';
import { caller } from './serving/callers.ts';
import { type Answered, tryDocument } from './serving/tried.ts';

const file = join(import.meta.dirname, '../examples/issues.md');
const [staff, ann, bob, cas, dan] = [caller('staff', 'site'), ...['ann', 'bob', 'cas', 'dan'].map((id) => caller('person', id))];

interface Shown {
  readonly [field: string]: unknown;
  readonly number: number;
  readonly id: number;
}

/** The service, with accounts of four people and the repository `ann/docs`, in which bob triages and cas writes, with two labels. */
async function begin() {
  const service = await tryDocument(await readDocument(file, { isKey }), {
    identify: ({ headers }) => (headers.who === undefined ? undefined : (JSON.parse(String(headers.who)) as Caller)),
  });
  const as = (who: Caller | undefined, method: string, target: string, body?: unknown, headers = {}): Promise<Answered> =>
    service.send(method, target, { headers: { ...headers, ...(who && { who: JSON.stringify(who) }) }, body });
  const done = async (who: Caller | undefined, method: string, target: string, body?: unknown): Promise<Shown> => {
    const answer = await as(who, method, target, body);
    assert.ok(answer.status < 300, `${method} ${target}: ${answer.status} ${answer.text}`);
    return answer.json as Shown;
  };
  for (const login of ['ann', 'bob', 'cas', 'dan']) await done(staff, 'POST', '/admin/users', { login });
  await done(ann, 'POST', '/user/repos', { name: 'docs' });
  await done(ann, 'PUT', '/repos/ann/docs/collaborators/bob', { permission: 'triage' });
  await done(ann, 'PUT', '/repos/ann/docs/collaborators/cas', { permission: 'push' });
  await done(ann, 'POST', '/repos/ann/docs/labels', { name: 'bug', color: 'ff0000' });
  await done(ann, 'POST', '/repos/ann/docs/labels', { name: 'ui' });
  const end = async () => {
    assert.deepEqual(service.failures, []);
    await service.close();
  };
  return { as, done, end, clock: service.clock };
}

const titles = (listed: unknown): unknown[] => (listed as Shown[]).map(({ title }) => title);
const names = (labels: unknown): unknown[] => (labels as Shown[]).map(({ name }) => name);
const issues = '/repos/ann/docs/issues';

test('the example is sound, with nothing open, in 600 lines at the most', async () => {
  const { findings, ledger } = check(await readDocument(file, { isKey }));
  assert.deepEqual([findings, ledger.total.open], [[], 0]);
  assert.ok(readFileSync(file, 'utf8').split('\n').length <= 601);
});

test('a repository is found by owner and name, whole by itself and compact in lists', async () => {
  const { as, done, end } = await begin();
  const { owner, full_name, private: hidden } = await done(undefined, 'GET', '/repos/ann/DOCS');
  assert.deepEqual([owner, full_name, hidden], [{ login: 'ann', id: 1, type: 'User' }, 'ann/docs', false]);
  assert.deepEqual((await as(ann, 'GET', '/user/repos')).json, [{ id: 1, name: 'docs', full_name, private: false }]);
  assert.deepEqual((await as(undefined, 'GET', '/users/ann/repos')).json, [{ id: 1, name: 'docs', full_name, private: false }]);
  assert.equal((await as(ann, 'POST', '/user/repos', { name: 'docs' })).status, 422);
  assert.equal((await done(ann, 'PATCH', '/repos/ann/docs', { name: 'handbook' })).full_name, 'ann/handbook');
  assert.deepEqual([(await as(ann, 'GET', '/repos/ann/docs')).status, (await done(dan, 'GET', '/user')).login], [301, 'dan']);
  await end();
});

test('numbers are counted within each repository, without a gap, whoever races', async () => {
  const { as, done, end } = await begin();
  await done(ann, 'POST', '/user/repos', { name: 'site' });
  const raced = await Promise.all(
    Array.from({ length: 24 }, (_, n) =>
      n % 4 === 3
        ? as(ann, 'POST', issues, { title: '' })
        : as(ann, 'POST', n % 4 === 0 ? '/repos/ann/site/issues' : issues, { title: `n${n}` }),
    ),
  );
  const made = raced.filter(({ status }) => status === 201).map(({ json }) => json as Shown);
  assert.equal(raced.filter(({ status }) => status === 422).length, 6);
  assert.deepEqual(
    made.map(({ number }) => number).toSorted((one, other) => one - other),
    [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 8, 9, 10, 11, 12],
  );
  assert.equal((await done(ann, 'GET', '/repos/ann/docs')).open_issues_count, 12);
  await end();
});

test('who may do what is what the membership says, and what is private is not there for others', async () => {
  const { as, done, end } = await begin();
  const status = async (who: Caller | undefined, method: string, target: string, body?: unknown) =>
    (await as(who, method, target, body)).status;
  await done(dan, 'POST', issues, { title: 'from outside' });
  assert.equal(await status(undefined, 'POST', issues, { title: 'nobody' }), 401);
  // Who has no account makes nothing that would refer to it.
  assert.equal(await status(caller('person', 'eve'), 'POST', '/user/repos', { name: 'eves' }), 403);
  assert.equal(await status(caller('person', 'eve'), 'POST', issues, { title: 'from eve' }), 403);
  assert.equal(await status(dan, 'POST', issues, { title: 'x', labels: ['bug'] }), 403);
  assert.equal(await status(dan, 'PATCH', `${issues}/1`, { title: 'from far outside' }), 200);
  assert.equal(await status(dan, 'PATCH', `${issues}/1`, { labels: ['bug'] }), 403);
  assert.equal(await status(bob, 'PATCH', `${issues}/1`, { labels: ['bug'] }), 200);
  assert.equal(await status(bob, 'PUT', `${issues}/1/lock`), 403);
  assert.equal(await status(cas, 'PUT', `${issues}/1/lock`), 204);
  assert.equal((await done(ann, 'GET', `${issues}/1`)).locked, true);
  assert.equal(await status(dan, 'POST', `${issues}/1/comments`, { body: 'but' }), 403);
  assert.equal(await status(bob, 'POST', `${issues}/1/comments`, { body: 'so' }), 201);
  assert.equal(await status(cas, 'DELETE', `${issues}/1/lock`), 204);
  assert.equal(await status(dan, 'POST', `${issues}/1/comments`, { body: 'but' }), 201);
  assert.equal(await status(cas, 'PATCH', '/repos/ann/docs', { private: true }), 403);
  assert.equal(await status(ann, 'PATCH', '/repos/ann/docs', { private: true }), 200);
  assert.deepEqual([await status(dan, 'GET', `${issues}/1`), await status(undefined, 'GET', '/repos/ann/docs')], [404, 404]);
  assert.equal(await status(bob, 'GET', `${issues}/1`), 200);
  // Who becomes a writer is one with the next request, and who is put out reads no more.
  assert.equal(await status(bob, 'POST', '/repos/ann/docs/labels', { name: 'new' }), 403);
  assert.equal(await status(ann, 'PATCH', '/repos/ann/docs/collaborators/bob', { permission: 'push' }), 200);
  assert.equal(await status(bob, 'POST', '/repos/ann/docs/labels', { name: 'new' }), 201);
  assert.equal(await status(ann, 'DELETE', '/repos/ann/docs/collaborators/bob'), 204);
  assert.equal(await status(bob, 'GET', `${issues}/1`), 404);
  await end();
});

test('PATCH closes with a reason and who did it, opens again, and changes what is sent beside', async () => {
  const { as, done, end, clock } = await begin();
  await done(dan, 'POST', issues, { title: 'one' });
  clock.advance(1000);
  const closed = await done(bob, 'PATCH', `${issues}/1`, {
    state: 'closed',
    state_reason: 'not_planned',
    title: 'two',
    labels: ['bug'],
  });
  assert.deepEqual(
    [closed.state, closed.state_reason, closed.title, names(closed.labels)],
    ['closed', 'not_planned', 'two', ['bug']],
  );
  assert.deepEqual([closed.closed_by, closed.closed_at], [{ login: 'bob', id: 2, type: 'User' }, '2026-06-01T09:00:01.000Z']);
  const again = await done(bob, 'PATCH', `${issues}/1`, { state: 'closed' });
  assert.deepEqual([again.closed_at, again.state_reason], [closed.closed_at, 'not_planned']);
  const opened = await done(dan, 'PATCH', `${issues}/1`, { state: 'open' });
  assert.deepEqual(
    [opened.state, opened.state_reason, opened.closed_at, opened.closed_by],
    ['open', 'reopened', null, undefined],
  );
  assert.equal((await done(bob, 'PATCH', `${issues}/1`, { state: 'closed' })).state_reason, 'completed');
  const refused = await as(bob, 'PATCH', `${issues}/1`, { state: 'gone' });
  assert.deepEqual([refused.status, (refused.json as { message: string }).message], [422, 'Validation Failed']);
  await end();
});

test('labels are put on by their names, found by them, renamed everywhere and taken away', async () => {
  const { as, done, end } = await begin();
  assert.deepEqual(names((await done(bob, 'POST', issues, { title: 'one', labels: ['bug', 'ui'] })).labels), ['bug', 'ui']);
  await done(bob, 'POST', issues, { title: 'two', labels: ['ui'] });
  await done(bob, 'PATCH', `${issues}/2`, { assignees: ['cas'] });
  const both = (await done(bob, 'POST', `${issues}/2/assignees`, { assignees: ['bob', 'cas'] })).assignees as Shown[];
  assert.equal(both.length, 2);
  const left = (await done(bob, 'DELETE', `${issues}/2/assignees`, { assignees: ['bob'] })).assignees;
  assert.deepEqual(
    (left as Shown[]).map(({ login }) => login),
    ['cas'],
  );
  assert.deepEqual(titles(await done(dan, 'GET', `${issues}?assignee=cas`)), ['two']);
  const unknown = await as(bob, 'POST', issues, { title: 'three', labels: ['none'] });
  assert.equal(unknown.status, 422, unknown.text);
  assert.deepEqual(titles(await done(dan, 'GET', `${issues}?labels=bug`)), ['one']);
  for (const labels of [['bug'], ['bug', 'ui']])
    assert.deepEqual(names(await done(bob, 'POST', `${issues}/2/labels`, { labels })), ['ui', 'bug']);
  assert.equal((await as(bob, 'POST', `${issues}/2/labels`, { labels: ['none'] })).status, 422);
  await done(cas, 'PATCH', '/repos/ann/docs/labels/bug', { new_name: 'defect', color: '00ff00' });
  const two = await done(dan, 'GET', `${issues}/2`);
  assert.deepEqual(
    (two.labels as Shown[]).map(({ id, name, color }) => [id, name, color]),
    [
      [2, 'ui', 'ededed'],
      [1, 'defect', '00ff00'],
    ],
  );
  await done(bob, 'DELETE', `${issues}/2/labels/ui`);
  assert.deepEqual(names(await done(dan, 'GET', `${issues}/2/labels`)), ['defect']);
  assert.deepEqual(names((await done(bob, 'PATCH', `${issues}/2`, { labels: ['ui'] })).labels), ['ui']);
  await done(cas, 'DELETE', '/repos/ann/docs/labels/ui');
  assert.deepEqual(
    [names((await done(dan, 'GET', `${issues}/1`)).labels), (await done(dan, 'GET', `${issues}/2`)).labels],
    [['defect'], []],
  );
  await end();
});

test('a reaction that is told twice is one, and one of each kind is counted', async () => {
  const { as, done, end } = await begin();
  await done(dan, 'POST', issues, { title: 'one' });
  const told = await Promise.all(Array.from({ length: 8 }, () => as(dan, 'POST', `${issues}/1/reactions`, { content: '+1' })));
  assert.deepEqual(told.map(({ status }) => status).toSorted(), [...Array.from({ length: 7 }, () => 200), 201]);
  assert.equal(new Set(told.map(({ json }) => (json as Shown).id)).size, 1);
  assert.equal((await as(bob, 'POST', `${issues}/1/reactions`, { content: '+1' })).status, 201);
  assert.equal((await as(bob, 'POST', `${issues}/1/reactions`, { content: 'meh' })).status, 422);
  await done(cas, 'POST', `${issues}/1/reactions`, { content: 'heart' });
  const { reactions } = await done(bob, 'GET', `${issues}/1`);
  assert.partialDeepStrictEqual(reactions, { total_count: 3, '+1': 2, heart: 1, eyes: 0 });
  const [{ id } = { id: 0 }] = told.map(({ json }) => json as Shown);
  assert.equal((await as(bob, 'DELETE', `${issues}/1/reactions/${id}`)).status, 403);
  assert.equal((await as(dan, 'DELETE', `${issues}/1/reactions/${id}`)).status, 204);
  assert.partialDeepStrictEqual((await done(bob, 'GET', `${issues}/1`)).reactions, { total_count: 2, '+1': 1 });
  await end();
});

test('milestones are known by their number, and tell how far they are', async () => {
  const { as, done, end } = await begin();
  assert.equal((await done(cas, 'POST', '/repos/ann/docs/milestones', { title: 'spring' })).number, 1);
  const { milestone } = await done(bob, 'POST', issues, { title: 'one', milestone: 1 });
  assert.equal((milestone as Shown).title, 'spring');
  await done(bob, 'POST', issues, { title: 'two', milestone: 1 });
  assert.equal((await as(bob, 'POST', issues, { title: 'three', milestone: 7 })).status, 422);
  await done(bob, 'PATCH', `${issues}/1`, { state: 'closed' });
  const counted = await done(undefined, 'GET', '/repos/ann/docs/milestones/1');
  assert.deepEqual([counted.open_issues, counted.closed_issues], [1, 1]);
  assert.equal((await done(bob, 'PATCH', `${issues}/2`, { milestone: null })).milestone, undefined);
  assert.equal((await done(cas, 'PATCH', '/repos/ann/docs/milestones/1', { state: 'closed' })).state, 'closed');
  await done(cas, 'DELETE', '/repos/ann/docs/milestones/1');
  assert.equal((await done(bob, 'GET', `${issues}/1`)).milestone, undefined);
  await end();
});

test('pages are told in Link, closed issues are asked for, and an ETag spares what was seen', async () => {
  const { as, done, end, clock } = await begin();
  for (let n = 1; n <= 5; n++) {
    clock.advance(1000);
    await done(bob, 'POST', issues, { title: `n${n}` });
  }
  await done(bob, 'PATCH', `${issues}/3`, { state: 'closed' });
  const first = await as(undefined, 'GET', `${issues}?per_page=2`);
  assert.deepEqual(titles(first.json), ['n5', 'n4']);
  const next = /<([^>]*)>; rel="next"/.exec(first.headers.link ?? '')?.[1] ?? '';
  const second = await as(undefined, 'GET', next.replace('https://api.code.example', ''));
  assert.deepEqual(titles(second.json), ['n2', 'n1']);
  assert.match(second.headers.link ?? '', /rel="prev"/);
  assert.doesNotMatch(second.headers.link ?? '', /rel="next"/);
  assert.deepEqual(titles(await done(undefined, 'GET', `${issues}?state=closed`)), ['n3']);
  assert.deepEqual(titles(await done(undefined, 'GET', `${issues}?state=all&sort=created&direction=asc&per_page=3`)), [
    'n1',
    'n2',
    'n3',
  ]);
  const seen = (await as(dan, 'GET', `${issues}/1`)).headers.etag ?? '';
  const spared = await as(dan, 'GET', `${issues}/1`, undefined, { 'if-none-match': seen });
  assert.deepEqual([spared.status, spared.text], [304, '']);
  await done(bob, 'PATCH', `${issues}/1`, { title: 'new' });
  assert.equal((await as(dan, 'GET', `${issues}/1`, undefined, { 'if-none-match': seen })).status, 200);
  await end();
});

test('a hook hears of its repository alone, of what it asks for, in a message that it can check', async (context) => {
  const receiver = await startReceiver(context);
  const trial = await startTrial(context, await readDocument(file, { isKey }));
  const send = async (who: string, method: string, target: string, body: unknown): Promise<void> => {
    const { status, json } = await trial.send(who, method, target, body);
    assert.ok(status < 300, JSON.stringify(json));
  };
  await send('staff/site', 'POST', '/admin/users', { login: 'ann' });
  for (const name of ['docs', 'site']) await send('person/ann', 'POST', '/user/repos', { name });
  await send('person/ann', 'POST', '/repos/ann/docs/labels', { name: 'bug' });
  const config = { url: receiver.url, secret: 'a secret of hooks' };
  await send('person/ann', 'POST', '/repos/ann/docs/hooks', { config, events: ['issues'] });
  await send('person/ann', 'POST', '/repos/ann/site/issues', { title: 'elsewhere' });
  await send('person/ann', 'POST', issues, { title: 'one', labels: ['bug'] });
  await send('person/ann', 'POST', `${issues}/1/comments`, { body: 'not asked for' });
  await send('person/ann', 'PATCH', `${issues}/1`, { title: 'two', state: 'closed' });
  await trial.service.settled();
  const told = receiver.received.map(({ headers, body }) => {
    const signature = `sha256=${createHmac('sha256', config.secret).update(body).digest('hex')}`;
    assert.deepEqual([headers['x-hub-signature-256'], headers['x-event']], [signature, 'issues']);
    return JSON.parse(body) as Shown;
  });
  assert.deepEqual(told.map(({ action }) => action).toSorted(), ['closed', 'edited', 'labeled', 'opened']);
  assert.partialDeepStrictEqual(told.find(({ action }) => action === 'edited')?.changes, { title: 'one', state: 'open' });
  assert.deepEqual(trial.failures, []);
});

test('refusals have one shape, limits are told in headers, and what is spared costs nothing', async () => {
  const { as, end } = await begin();
  const refused = await as(bob, 'POST', issues, { title: 5 });
  const errors = [{ resource: 'Issue', field: 'title', code: 'invalid' }];
  assert.deepEqual(refused.json, { message: 'Validation Failed', status: '422', errors });
  const missing = await as(bob, 'GET', `${issues}/9`);
  assert.deepEqual([missing.status, missing.json], [404, { message: 'Not Found', status: '404' }]);
  const told = await as(undefined, 'GET', '/users/ann');
  assert.deepEqual([told.headers['x-ratelimit-limit'], told.headers['x-ratelimit-remaining']], ['60', '59']);
  const again = await as(undefined, 'GET', '/users/ann', undefined, { 'if-none-match': told.headers.etag ?? '' });
  assert.equal(again.status, 304);
  assert.equal((await as(undefined, 'GET', '/users/bob')).headers['x-ratelimit-remaining'], '58');
  await end();
});

test('a repository that was renamed is led to from its old name, by who may read it alone', async () => {
  const { as, done, end } = await begin();
  await done(ann, 'PATCH', '/repos/ann/docs', { name: 'guide' });
  const led = await as(undefined, 'GET', '/repos/ann/docs');
  assert.deepEqual([led.status, led.headers.location], [301, '/repos/ann/guide']);
  const change = await as(ann, 'PATCH', '/repos/ann/docs', { private: true });
  assert.deepEqual([change.status, change.headers.location], [307, '/repos/ann/guide']);
  await done(ann, 'PATCH', '/repos/ann/guide', { private: true });
  assert.equal((await as(dan, 'GET', '/repos/ann/docs')).status, 404);
  assert.equal((await as(bob, 'GET', '/repos/ann/docs')).status, 301);
  // Whose name it is now comes first.
  await done(ann, 'POST', '/user/repos', { name: 'docs' });
  assert.equal((await done(dan, 'GET', '/repos/ann/docs')).full_name, 'ann/docs');
  await end();
});
