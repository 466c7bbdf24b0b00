import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDocument } from '../src/index.ts';
import { readTemplate } from '../src/kinds/generators/template.ts';
import { editions, exported, plain, readBack } from './openapi/harness.ts';
import { tryService } from './serving/tried.ts';
import { notes, trips } from './values/values.ts';

test('what is set in a new row may hold its own identifier, a drawn one and a counted one', async () => {
  const { send, close } = await tryService(notes);
  const note = (await send('POST', '/notes', { body: { text: 'one' } })).json as Record<string, string>;
  assert.match(note.id ?? '', /^note_/);
  assert.equal(note.url, `https://notes.example/notes/${note.id}`);
  const later = (await send('PATCH', `/notes/${note.id}`, { body: { text: 'two' } })).json as Record<string, string>;
  assert.equal(later.url, note.url);
  const tickets = await Promise.all([1, 2, 3].map(() => send('POST', '/tickets', { body: {} })));
  assert.deepEqual(
    tickets.map(({ json }) => json),
    [1, 2, 3].map((id) => ({ id, name: `T-${id}` })),
  );
  await close();
});

const times = { leaves: '2026-06-01T09:00:00Z', arrives: '2026-06-01T12:00:00+02:00' };

test('rules over fields are told with whatever else is wrong, at their field, whoever sends them', async () => {
  const { send, close } = await tryService(trips);
  const wrong = async (method: string, path: string, body: unknown) => {
    const { status, json } = await send(method, path, { body });
    const { violations = [] } = json as { violations?: { path: string; expected: string }[] };
    return [status, ...violations.map((one) => `${one.path}: ${one.expected}`)];
  };
  assert.deepEqual(await wrong('POST', '/trips', { ...times, id: 'a', arrives: '2026-06-01T10:00:00+02:00', seats: 0 }), [
    422,
    '/seats: at least 1',
    '/amount: exactly one of amount, amount_decimal',
    '/arrives: a time after it leaves',
  ]);
  assert.deepEqual(await wrong('POST', '/trips', { ...times, id: 'a', amount: 3, amount_decimal: '3.5', seats: 9 }), [
    422,
    '/amount_decimal: exactly one of amount, amount_decimal',
    ': what the rule few allows',
  ]);
  assert.deepEqual(await wrong('POST', '/trips', { ...times, id: 'a', amount: 3 }), [201]);
  // A change is held to them with the rest of its row.
  assert.deepEqual(await wrong('PATCH', '/trips/a', { leaves: '2026-06-01T10:00:00Z' }), [
    422,
    '/arrives: a time after it leaves',
  ]);
  assert.deepEqual(await wrong('PATCH', '/trips/a', { amount_decimal: '3.5' }), [
    422,
    '/amount_decimal: exactly one of amount, amount_decimal',
  ]);
  assert.deepEqual(await wrong('PATCH', '/trips/a', { amount_decimal: '3.5', amount: null }), [200]);
  assert.deepEqual(await wrong('PUT', '/trips/b', times), [422, '/amount: exactly one of amount, amount_decimal']);
  assert.deepEqual(await wrong('PUT', '/trips/a', times), [422, '/amount: exactly one of amount, amount_decimal']);
  assert.deepEqual(await wrong('PUT', '/trips/b', { ...times, amount: 3 }), [201]);
  await close();
});

test('rules and choices are read back from OpenAPI as they were stated', () => {
  const document = parseDocument(`title: Trips\n${trips}`, 'trips.yaml');
  for (const to of Object.keys(editions)) assert.deepEqual(readBack(exported(document, to)), plain(document.tree));
});

test('what is generated is of the characters that are named, each as likely as the others', () => {
  const drawn = (template: string) => {
    const read = readTemplate(template);
    assert.ok('template' in read, template);
    const bytes = (length: number) => Uint8Array.from({ length }, (_, at) => (at * 7 + 3) % 256);
    const made = read.template.make({ nowMs: 0, bytes, uuid: () => '' });
    assert.match(made, new RegExp(read.template.pattern));
    return { made, mixesCases: read.template.mixesCases };
  };
  assert.match(drawn('#{hex:8}').made, /^#[0-9a-f]{8}$/);
  assert.match(drawn('{random:300:A-Z0-9}').made, /^[A-Z0-9]{300}$/);
  assert.equal(drawn('{random:8:A-Z0-9}').mixesCases, false);
  assert.match(drawn('{random:40:]^-a}').made, /^[\]^_`a]{40}$/);
  const counts = Map.groupBy(drawn('{random:1000:abc}').made, (letter) => letter);
  assert.deepEqual([...counts.keys()].sort(), ['a', 'b', 'c']);
  for (const wrong of ['{random:8:A}', '{random:8:Z-A}', '{random:8:}', '{random:8:aé}', '{hex:8:ab}', '{ulid:8}'])
    assert.ok('wrong' in readTemplate(wrong), wrong);
});
