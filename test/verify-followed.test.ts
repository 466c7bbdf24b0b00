import assert from 'node:assert/strict';
import { test } from 'node:test';
import { check, parseDocument } from '../src/index.ts';
import type { TrialExchange } from '../src/verify/exchange/exchange.ts';
import { Model } from '../src/verify/model/model.ts';
import { ownErrorOf } from '../src/verify/model/own-condition.ts';
import { followedIn } from '../src/verify/model/row-known.ts';
import { notes } from './verify/notes.ts';

const text = notes.replace(
  '    unsigned: { status: 409 }',
  '    unsigned: { status: 409 }\n    shut: { status: 409, on: [create note], if: "next.book.name == \'shut\'" }',
);
const model = new Model(check(parseDocument(text, 'notes.yaml')).spec, [], '/v1');
const endpointOf = (key: string) => model.endpoints.find((one) => one.key === key)!;

function exchange(
  key: string,
  status: number,
  body: TrialExchange['body'],
  sent: Partial<TrialExchange['sent']> = {},
): TrialExchange {
  const endpoint = endpointOf(key);
  return {
    endpoint,
    status,
    body,
    headers: {},
    text: '',
    fromMs: 0,
    toMs: 0,
    sent: { method: endpoint.method, target: '', headers: {}, path: {}, query: {}, ...sent },
  };
}

const older = exchange('GET /books/{id}', 200, { id: 'bk_1', name: 'open' }, { path: { id: 'bk_1' } });
const newer = exchange('GET /books/{id}', 200, { id: 'bk_1', name: 'shut' }, { path: { id: 'bk_1' } });

test('a reference leads to the row as it was shown last, and to nothing that nobody showed', () => {
  const follow = followedIn(model, [older, newer]);
  assert.deepEqual(follow('book', 'bk_1'), { id: 'bk_1', name: 'shut' });
  assert.throws(() => follow('book', 'bk_2'), /no book bk_2 was shown/);
});

test('an own error is reckoned from the newest of the answers beside it, which is the first', () => {
  const shut = model.refusals.all().find(({ code }) => code.name === 'shut')!;
  const creation = exchange('POST /notes', 201, undefined, { json: { book: 'bk_1', text: 'x' } });
  assert.equal(ownErrorOf(model, shut, creation, [newer, older]), 'yes');
  assert.equal(ownErrorOf(model, shut, creation, [older, newer]), 'no');
});
