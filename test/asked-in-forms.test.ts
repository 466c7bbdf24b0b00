import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { check, parseDocument } from '../src/index.ts';
import { editions, exported, plain, readBack } from './openapi/harness.ts';
import { tryService } from './serving/tried.ts';
import { ledgerOfCards } from './values/ledger-of-cards.ts';

// What came back is whatever the test says it is.
// biome-ignore lint/suspicious/noExplicitAny: as above
type Body = any;

async function open(context: TestContext, text = ledgerOfCards) {
  const { send, close, failures } = await tryService(text);
  context.after(async () => {
    await close();
    assert.deepEqual(failures, []);
  });
  const post = async (path: string, form: string, headers: Readonly<Record<string, string>> = {}) => {
    const sent = { headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers }, body: form };
    const { status, json } = await send('POST', path, sent);
    return { status, json: json as Body };
  };
  const get = async (path: string) => {
    const { status, json } = await send('GET', path);
    return { status, json: json as Body };
  };
  return { post, get, send };
}

test('rows that are stated are there from the start, as they are stated, and stay what was made of them', async (context) => {
  const { get, post, send } = await open(context);
  const { json } = await get('/cards/card_bad');
  assert.deepEqual([json.word, json.good, json.made], ['never good', false, Date.parse('2026-06-01T09:00:00Z') / 1000]);
  assert.equal((await get('/cards')).json.data.length, 2);
  const { json: charge } = await post('/charges', 'amount=5&card=card_good');
  assert.deepEqual([charge.card, charge.state], ['card_good', 'paid']);
  // A reference that is cleared is null, where null is one of its values.
  assert.equal((await send('DELETE', '/cards/card_good')).status, 204);
  assert.equal((await get(`/charges/${charge.id}`)).json.card, null);
  assert.equal((await get('/cards/card_good')).status, 404);
});

test('a creation may be kept and answered with an error, which shows what was made, once for each key', async (context) => {
  const { get, post } = await open(context);
  for (let time = 0; time < 2; time++) {
    const { status, json } = await post('/charges', 'amount=7&card=card_bad&expand[]=card', { 'idempotency-key': 'one' });
    assert.deepEqual([status, json.code, json.param], [402, 'card_refused', undefined]);
    assert.deepEqual([json.charge.state, json.charge.card.word, json.charge.secret], ['refused', 'never good', undefined]);
  }
  const { json } = await get('/charges?amount=7');
  assert.deepEqual(
    json.data.map(({ state }: Body) => state),
    ['refused'],
  );
  assert.equal((await post('/charges', 'amount=0')).json.charge, undefined);
});

test('an empty text takes its member away in an update, and is not sent in anything else', async (context) => {
  const { get, post, send } = await open(context);
  const { json: made } = await post('/charges', 'amount=5&note=&title=&marks[a]=1&marks[b]=&tags[0][name]=x&tags[0][weight]=');
  assert.deepEqual([made.note, made.title, made.marks, made.tags], [undefined, null, { a: '1' }, [{ name: 'x' }]]);
  const path = `/charges/${made.id}`;
  await post(path, 'note=hello&title=Tea&marks[b]=2');
  const { json: changed } = await post(path, 'note=&title=&marks[a]=');
  assert.deepEqual([changed.note, changed.title, changed.marks], [undefined, null, { b: '2' }]);
  // In JSON an empty text is one.
  const headers = { 'content-type': 'application/json' };
  assert.equal(((await send('POST', path, { headers, body: '{"note":""}' })).json as Body).note, '');
  // Where nothing is said of them, so it is in forms.
  const other = await open(context, ledgerOfCards.replace('empty: removes, ', ''));
  assert.equal((await other.post('/charges', 'amount=5&note=')).json.note, '');
  assert.equal((await post(path, 'amount=')).json.param, 'amount');
  assert.equal((await get(path)).json.amount, 5);
});

test('references are shown whole where a body asks for it, and in lists below the member that holds the rows', async (context) => {
  const { get, post } = await open(context);
  for (const form of ['expand[]=card', 'expand[0]=card', 'expand=card'])
    assert.equal((await post('/charges', `amount=5&card=card_good&${form}`)).json.card.word, 'always good');
  assert.equal((await post('/charges?expand[]=card', 'amount=5&card=card_good')).json.card.word, 'always good');
  const wrong = await post('/charges', 'amount=5&card=card_good&expand[]=note');
  assert.deepEqual([wrong.status, wrong.json.code, wrong.json.param], [400, 'malformed', 'expand']);
  for (const query of ['expand[]=data.card', 'expand[0]=data.card', 'expand%5B1%5D=data.card'])
    assert.equal((await get(`/charges?${query}`)).json.data[0].card.word, 'always good');
  assert.equal((await get('/charges')).json.data[0].card, 'card_good');
  for (const query of ['expand[]=card', 'expand[]=data', 'expand[x]=data.card', 'expand[0][1]=data.card'])
    assert.equal((await get(`/charges?${query}`)).status, 400, query);
});

test('a list says its own path, and the newest of what is alike comes first, through all pages', async (context) => {
  const { get, post } = await open(context);
  const made: string[] = [];
  for (let amount = 1; amount <= 7; amount++) made.unshift((await post('/charges', `amount=${amount}`)).json.id);
  const { json: first } = await get('/charges?limit=4');
  assert.deepEqual([first.object, first.url, first.more], ['list', '/charges', true]);
  assert.deepEqual(
    first.data.map(({ id }: Body) => id),
    made.slice(0, 4),
  );
  const { json: second } = await get(`/charges?limit=4&from=${made[4]}`);
  assert.deepEqual(
    second.data.map(({ id }: Body) => id),
    made.slice(4),
  );
});

test('what is wrong in a body is told at its place, with dots or brackets', async (context) => {
  const form = 'amount=5&tags[0][name]=x&tags[1][weight]=2';
  for (const [word, path] of [
    ['bracketed', 'tags[1][name]'],
    ['dotted', 'tags.1.name'],
    ['pointer', '/tags/1/name'],
  ] as const) {
    const { post, get } = await open(context, ledgerOfCards.replace('paths: bracketed', `paths: ${word}`));
    assert.equal((await post('/charges', form)).json.param, path);
    assert.equal((await get('/charges?limit=many')).json.param, 'limit');
  }
});

test('all of it is read back from OpenAPI as it was stated, and a client is told of it', () => {
  const document = parseDocument(`title: Cards\n${ledgerOfCards}`, 'cards.yaml');
  assert.deepEqual(
    check(document).findings.filter(({ severity }) => severity === 'error'),
    [],
  );
  for (const to of Object.keys(editions)) {
    const text = exported(document, to);
    assert.deepEqual(readBack(text), plain(document.tree));
    assert.match(JSON.stringify(text.paths), /"url"|"card_refused"/);
  }
});
