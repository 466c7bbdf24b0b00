import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Breach } from '../src/verify/report.ts';
import { isLong } from './long.ts';
import { albums } from './verify/albums.ts';
import { type Bent, openStand, type Passing, type StandOptions } from './verify/stand.ts';

type Members = Readonly<Record<string, unknown>>;

/** What is done to the body of a change on its way in, and what is found of it. */
const bent: readonly (readonly [fault: string, edit: (members: Members) => Members, found: string])[] = [
  [
    'what is not sent goes back to its default',
    (members) => ({ mood: 'calm', ...members }),
    'allowed values:album.mood answered, kept',
  ],
  ['what is not sent is wiped', (members) => ({ tags: null, ...members }), 'allowed values:album.tags answered, kept'],
  [
    'a null is passed over',
    (members) => Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null)),
    'allowed values:album.pages answered, sent',
  ],
  [
    'letters beyond ASCII are lost',
    (members) => JSON.parse(JSON.stringify(members).replaceAll(/[^\x20-\x7e]/g, '?')),
    'allowed values:album.title answered, sent',
  ],
];

// The first stands for them all: what is compared is the row before with the row after.
for (const [fault, edit, found] of isLong ? bent : bent.slice(0, 1)) {
  test(`resources/changed finds it where ${fault} in an update`, async () => {
    const bend = ({ method, text }: Bent) =>
      method === 'PATCH' && text !== '' ? { text: JSON.stringify(edit(JSON.parse(text))) } : {};
    await assertTold(found, { bend });
  });
}

test('resources/changed finds the edge of a number that is refused in an update', { skip: !isLong }, async () => {
  const refusal = '{"type":"about:blank","title":"x","status":422,"code":"invalid"}';
  const spoil = ({ method, sent }: Passing) =>
    method === 'PATCH' && sent.includes('"pages":90') ? { status: 422, text: refusal } : {};
  await assertTold('allowed values:album.pages taken', { spoil });
});

/** That a trial tells a fact with its reason, or one like it, of such a service. */
async function assertTold(wanted: string | RegExp, stand: StandOptions, trial = 'resources/changed'): Promise<void> {
  const opened = await openStand(albums, { inPairs: true, ...stand });
  const lineOf = ({ kind, subject, reason }: Breach) => `${kind}:${subject} ${reason}`;
  const isMeant = (breach: Breach) => (typeof wanted === 'string' ? lineOf(breach) === wanted : wanted.test(lineOf(breach)));
  try {
    const { breaches } = await opened.verify({ only: [trial], until: isMeant });
    assert.ok(breaches.some(isMeant), breaches.map(lineOf).join('; '));
  } finally {
    await opened.close();
  }
}

test('states/sequences finds what an update does only once the row was moved', async () => {
  const moved = new Set<string>();
  const bend = ({ method, target, text }: Bent) => {
    const [, id = '', move] = /\/albums\/([^/]+)(\/\w+)?$/.exec(target) ?? [];
    if (method === 'POST' && move !== undefined) moved.add(id);
    return method === 'PATCH' && moved.has(id) ? { text: JSON.stringify({ tags: null, ...JSON.parse(text) }) } : {};
  };
  await assertTold(/^allowed values:album\.tags .*kept/, { bend }, 'states/sequences');
});

test('resources/missing finds it where something is done with a row that is not there', async () => {
  const spoil = ({ method, target, status }: Passing) =>
    method === 'POST' && target.endsWith('/close') && status === 404 ? { status: 200, text: '{"id":"x"}' } : {};
  await assertTold('identifiers:album missing that there never was', { spoil }, 'resources/missing');
});

test('resources/unique raced finds it where several get one value at once', async () => {
  const made = new Map<string, string>();
  const spoil = ({ method, target, status, sent, text }: Passing) => {
    if (method !== 'POST' || !target.endsWith('/albums')) return {};
    if (status === 201) made.set(sent, text);
    const first = made.get(sent);
    return status === 409 && first !== undefined ? { status: 201, text: first.replace(/"id":"\w/, '"id":"f') } : {};
  };
  await assertTold('allowed values:album.title unique, raced', { spoil }, 'resources/unique raced');
});
