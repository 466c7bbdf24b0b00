import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDocument } from '../src/index.ts';
import { isLong, oneOfEach } from './long.ts';
import { editions, exported, plain, readBack } from './openapi/harness.ts';
import { tryService } from './serving/tried.ts';
import { till } from './values/till.ts';
import { type Otherwise, servedOtherwise } from './verify/served-otherwise.ts';
import { openStand } from './verify/stand.ts';

type Fields = Readonly<Record<string, unknown>>;

const text = `title: Till\n${till}`;

async function open() {
  const service = await tryService(till, {
    identify: ({ headers }) => {
      const [user = '', id = ''] = String(headers['x-who'] ?? '').split(' ');
      return user === '' ? undefined : { user, id, scopes: [] };
    },
  });
  const as = async (who: string, method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const answer = await service.send(method, path, { body, headers: { 'x-who': who, ...headers } });
    return { status: answer.status, row: answer.json as Fields, tag: answer.headers.etag ?? '' };
  };
  return { ...service, as };
}

test('a row is shown as the rules that hold for it and its reader say, all of them together', async () => {
  const { as, close } = await open();
  const paid = { amount: 5, memo: 'bread' };
  await as('clerk ann', 'POST', '/payments', { id: 'a', ...paid });
  const own = await as('clerk ann', 'GET', '/payments/a');
  assert.deepEqual(own.row, { id: 'a', clerk: 'ann', ...paid, status: 'taken' });
  const others = await as('clerk bob', 'GET', '/payments/a');
  assert.deepEqual(others.row, { id: 'a', status: 'taken' });
  assert.deepEqual((await as('auditor eve', 'GET', '/payments/a')).row, own.row);
  assert.deepEqual((await as('clerk bob', 'GET', '/payments')).row, [others.row]);
  // What stands inside another row is shown no further.
  await as('clerk bob', 'POST', '/refunds', { id: 'r', payment: 'a' });
  assert.deepEqual((await as('clerk bob', 'GET', '/refunds/r')).row, { id: 'r', payment: others.row });
  assert.deepEqual((await as('clerk ann', 'GET', '/refunds/r')).row, { id: 'r', payment: own.row });
  await close();
});

test('what is not shown is in no tag, no filter, no order, and stays where a row is replaced', async () => {
  const { as, close } = await open();
  await as('clerk ann', 'POST', '/payments', { id: 'a', amount: 5, memo: 'bread' });
  const before = await as('clerk bob', 'GET', '/payments/a');
  await as('clerk ann', 'PATCH', '/payments/a', { memo: 'cake' });
  assert.equal((await as('clerk bob', 'GET', '/payments/a')).tag, before.tag);
  // The tag that was shown is good for what was seen.
  assert.equal((await as('clerk bob', 'PATCH', '/payments/a', { memo: 'tea' }, { 'if-match': before.tag })).status, 200);
  for (const query of ['amount=5', 'sort=amount', 'sort=-amount'])
    assert.equal((await as('clerk bob', 'GET', `/payments?${query}`)).status, 400, query);
  assert.equal((await as('auditor eve', 'GET', '/payments?amount=5&sort=amount')).status, 200);
  assert.equal((await as('clerk bob', 'GET', '/payments?status=taken&sort=status')).status, 200);
  assert.deepEqual((await as('clerk bob', 'PUT', '/payments/a', { id: 'a', amount: 9, memo: 'x' })).row, {
    id: 'a',
    status: 'taken',
  });
  assert.equal((await as('auditor eve', 'GET', '/payments/a')).row.amount, 5);
  await close();
});

test('an event shows its receiver what every rule shows it', async () => {
  const { as, service, close } = await open();
  await as('clerk ann', 'POST', '/payments', { id: 'a', amount: 5, memo: 'bread' });
  await as('clerk ann', 'POST', '/payments/a/settle');
  const told = async (who: string) => {
    const headers = { 'x-who': who, 'last-event-id': '0' };
    const answer = await service.fetch(new Request('http://127.0.0.1/events', { headers }));
    const reader = answer.body!.getReader();
    let seen = '';
    while (!seen.includes('data: ')) seen += new TextDecoder().decode((await reader.read()).value);
    await reader.cancel();
    return JSON.parse(/^data: (.*)$/m.exec(seen)![1]!).data as Fields;
  };
  assert.deepEqual(await told('cleaner joe'), { id: 'a', status: 'settled' });
  assert.deepEqual(await told('auditor eve'), { id: 'a', clerk: 'ann', amount: 5, memo: 'bread', status: 'settled' });
  await close();
});

test('rules that show fields are read back from OpenAPI, where no answer is said to have what they leave out', () => {
  const document = parseDocument(text, 'till.yaml');
  for (const to of Object.keys(editions)) assert.deepEqual(readBack(exported(document, to)), plain(document.tree));
  const { components } = exported(document, 'openapi') as unknown as {
    components: { schemas: Record<string, { required: string[] }> };
  };
  assert.deepEqual(components.schemas.Payment?.required, ['id', 'status']);
});

const narrow = 'to: [clerk, cleaner], fields: [status] }';
const rows: readonly Otherwise[] = [
  ['a rule shows everything', narrow, 'to: [clerk, cleaner] }', 'required flags:payment.amount', /hidden/],
  [
    'a rule shows a field too many',
    narrow,
    'to: [clerk, cleaner], fields: [status, memo] }',
    'required flags:payment.memo',
    /hidden/,
  ],
  ['a rule shows a field too few', narrow, 'to: [clerk, cleaner], fields: [amount] }', 'required flags:payment.status', /shown/],
  [
    'who may see all of it is shown what others are',
    'to: clerk, if: "resource.clerk == caller.id" }',
    'to: clerk, fields: [clerk, status], if: "resource.clerk == caller.id" }',
    'required flags:payment.amount',
    /shown by rules/,
  ],
];

servedOtherwise(
  text,
  oneOfEach(rows, ([fault]) => (fault.startsWith('a rule') ? 'narrow' : fault)),
);

test('a till whose rules show some fields is found without a fault', { skip: !isLong }, async () => {
  const stand = await openStand(text, { inPairs: true });
  try {
    assert.deepEqual((await stand.verify()).breaches, []);
  } finally {
    await stand.close();
  }
});
