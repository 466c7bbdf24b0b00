import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDocument } from '../src/index.ts';
import { editions, exported, plain, readBack } from './openapi/harness.ts';
import { caller, type ToldService, tellService } from './serving/callers.ts';
import { orders } from './values/orders.ts';

type Fields = Record<string, unknown>;

const [ann, bob, boss] = [caller('clerk', 'Ann'), caller('clerk', 'bob'), caller('manager', 'eve')];

async function made(service: ToldService, target: string, body: Fields): Promise<string> {
  const { status, text, json } = await service.as(boss, 'POST', target, body);
  assert.equal(status, 201, text);
  return String((json as Fields).id);
}

/** A service with five orders, of which the titles are `A` to `E`. */
async function begin(): Promise<ToldService> {
  const service = await tellService(orders);
  const one = await made(service, '/customers', { keeper: 'Ann', email: 'one@x.example', score: 1 });
  const two = await made(service, '/customers', { keeper: 'bob', email: 'two@x.example', score: 2 });
  const rows: readonly Fields[] = [
    { customer: one, title: 'A', state: 'open', due_at: '2026-03-28T22:59:59Z', tags: ['red', 'a,b'], address: { city: 'Ulm' } },
    { customer: two, title: 'B', state: 'paid', due_at: '2026-03-28T23:00:00Z', tags: ['red', 'blue'], body: 'Grüße an ALLE' },
    {
      customer: one,
      title: 'C',
      state: 'gone',
      due_at: '2026-03-29T21:59:59.999Z',
      address: { city: 'ulm' },
      body: '100% of all',
    },
    { customer: two, title: 'D', state: 'open', due_at: '2026-03-29T22:00:00Z', tags: ['blue'], body: 'a note' },
    { customer: one, title: 'E', state: 'open', due_at: '2026-04-01T00:00:00Z', tags: [] },
  ];
  const prices = [[5, 100], [50], [], [99], [100, 1000]];
  for (const [at, row] of rows.entries()) {
    const order = await made(service, '/orders', row);
    for (const price of prices[at] ?? []) await made(service, `/orders/${order}/lines`, { price });
  }
  return service;
}

async function titles(service: ToldService, who: typeof ann, query: string): Promise<string> {
  const { status, text, json } = await service.as(who, 'GET', `/orders?${query}`);
  assert.equal(status, 200, `${query}: ${text}`);
  const { data, total } = json as { data: Fields[]; total: number };
  assert.equal(total, data.length);
  return data.map(({ title }) => title).join('');
}

test('a list is chosen by what stands in its rows, around them and below them', async () => {
  const service = await begin();
  for (const [query, expected] of [
    ['email=one@x.example', 'ACE'],
    ['email=One@x.example', ''],
    ['keeper=aN', 'ACE'],
    ['keeper=nn', ''],
    ['score=2', 'BD'],
    ['min_price=100', 'AE'],
    ['min_price=99&email=one@x.example', 'AE'],
    ['min_price=1001', ''],
    ['prices=100', 'AE'],
    ['prices=5,100', 'A'],
    ['prices=100,1000', 'E'],
    ['prices=100,99', ''],
    ['prices=100,1000&email=one@x.example', 'E'],
    ['prices=5,100&tag=blue', ''],
    ['city=Ulm', 'A'],
    ['tag=red', 'AB'],
    ['tag=blue,red', 'ABD'],
    ['tag=red%2Cblue', 'ABD'],
    ['all_tags=blue%7Cred', 'B'],
    ['all_tags=blue|red', 'B'],
    ['all_tags=blue', 'BD'],
    ['state=all', 'ABCDE'],
    ['state=open', 'ADE'],
    ['states=paid,gone', 'BC'],
    ['title=b', 'B'],
    ['q=GR%C3%9C%C3%9FE', 'B'],
    ['q=all', 'BC'],
    ['q=all%20%20c', 'C'],
    ['q=%25', 'C'],
    ['q=', 'ABCDE'],
    ['due=2026-03-29', 'BC'],
    ['due=2026-03-28', 'A'],
    ['due_from=2026-03-30', 'DE'],
    ['state=open&tag=red&q=a', 'A'],
  ] as const)
    assert.equal(await titles(service, boss, query), expected, query);
  assert.deepEqual(service.failures, []);
  await service.close();
});

test('through other rows a caller is shown what it may read of them, and by what it does not see it filters nothing', async () => {
  const service = await begin();
  assert.equal(await titles(service, ann, 'email=one@x.example'), 'ACE');
  assert.equal(await titles(service, ann, 'email=two@x.example'), '');
  assert.equal(await titles(service, bob, 'email=two@x.example'), 'BD');
  assert.equal(await titles(service, bob, 'keeper=b'), 'BD');
  const refused = await service.as(ann, 'GET', '/orders?score=1');
  assert.equal(refused.status, 400);
  assert.match(refused.text, /do not see/);
  await service.close();
});

test('pages of what was chosen go on where they ended, and a cursor is bound to what was asked', async () => {
  const service = await begin();
  const seen: unknown[] = [];
  let next = '';
  do {
    const { json } = await service.as(boss, 'GET', `/orders?tag=red,blue&limit=1${next}`);
    const page = json as { data: Fields[]; next: string | null };
    seen.push(...page.data.map(({ title }) => title));
    next = page.next === null ? '' : `&cursor=${page.next}`;
  } while (next !== '');
  assert.deepEqual(seen, ['A', 'B', 'D']);
  const first = (await service.as(boss, 'GET', '/orders?tag=red,blue&limit=1')).json as { next: string };
  assert.equal((await service.as(boss, 'GET', `/orders?tag=red&limit=1&cursor=${first.next}`)).status, 400);
  await service.close();
});

test('what no row could have is refused, and so are more values than a list looks for', async () => {
  const service = await begin();
  for (const query of [
    'state=lost',
    'states=open,lost',
    'due=2026-13-01',
    'due=2026-03-28T22:00:00Z',
    'min_price=cheap',
    `tag=${Array.from({ length: 101 }, (_, n) => n).join(',')}`,
  ])
    assert.equal((await service.as(boss, 'GET', `/orders?${query}`)).status, 400, query);
  await service.close();
});

test('a list is sorted by names that are no fields, and in the direction that is asked for', async () => {
  const service = await begin();
  for (const [query, expected] of [
    ['sort=name', 'ABCDE'],
    ['sort=-name', 'EDCBA'],
    ['sort=name&way=desc', 'EDCBA'],
    ['sort=-name&way=desc', 'ABCDE'],
    ['sort=due&way=desc', 'EDCBA'],
    ['way=desc', 'EDCBA'],
    ['way=asc', 'ABCDE'],
  ] as const)
    assert.equal(await titles(service, boss, query), expected, query);
  for (const query of ['sort=title', 'sort=due_at', 'way=down'])
    assert.equal((await service.as(boss, 'GET', `/orders?${query}`)).status, 400, query);
  const first = (await service.as(boss, 'GET', '/orders?sort=name&way=desc&limit=2')).json as { next: string };
  const cursor = `limit=2&cursor=${first.next}`;
  const second = (await service.as(boss, 'GET', `/orders?sort=name&way=desc&${cursor}`)).json as { data: Fields[] };
  assert.equal(second.data.map(({ title }) => title).join(''), 'CB');
  assert.equal((await service.as(boss, 'GET', `/orders?sort=name&way=asc&${cursor}`)).status, 400);
  await service.close();
});

test('what a list is chosen by goes through OpenAPI and comes back', () => {
  const document = parseDocument(`title: Orders\n${orders}`, 'orders.yaml');
  for (const to of Object.keys(editions)) assert.deepEqual(readBack(exported(document, to)), plain(document.tree));
});
