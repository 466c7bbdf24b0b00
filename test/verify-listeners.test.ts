import assert from 'node:assert/strict';
import { test } from 'node:test';
import { albums } from './verify/albums.ts';
import { openStand } from './verify/stand.ts';

const kinds = '[album.made, album.gone, photo.made]';

/** Albums whose changes are told, to subscribers that ask for some of the kinds by name. */
const told = albums
  .replace(
    'states:\n',
    () => `  hook:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      url: { type: string, format: uri, maxLength: 200 }
      events: { type: array, items: { enum: ${kinds} }, minItems: 1 }
      keeper: { type: string, readOnly: true, visible: none, set: { create: caller.id } }
    required: [id, url, events, keeper]
states:
  hook: none
`,
  )
  .replace(
    'authentication:\n',
    () => `  POST /hooks: { does: create hook }
  GET /hooks/{id}: { does: read hook }
  DELETE /hooks/{id}: { does: delete hook }
authentication:
`,
  )
  .replace(
    '    - { allow: [create album]',
    () => `    - { allow: [create hook], to: member }
    - { allow: [read hook, delete hook], to: member, if: "resource.keeper == caller.id" }
    - { allow: [create album]`,
  )
  .replace(
    'events: none',
    () => `events:
  delivery:
    webhook:
      signature: none
      retry: [5s]
      timeout: 2s
      order: any
      subscribers: { resource: hook, url: url, events: events }
    stream: none
  kinds:
    album.made: { on: [create album], payload: album }
    album.gone: { on: [delete album], payload: album }
    photo.made: { on: [create photo], payload: photo }`,
  );

const serve = { allowPrivateWebhooks: true };

test('subscribers ask for the kinds that their field takes, and what has to come does', async () => {
  const stand = await openStand(told, { serve, inPairs: true });
  try {
    const { breaches, facts } = await stand.verify({ only: ['events'] });
    assert.deepEqual(breaches, []);
    const untested = facts.filter(({ kind, verdict }) => kind === 'emitting operations' && verdict !== 'held');
    assert.deepEqual(
      untested.map(({ subject, why }) => `${subject}: ${why}`),
      [],
    );
  } finally {
    await stand.close();
  }
});

test('a field that is named like a member of every map is missing from an event where the row has none', async () => {
  const named = told.replace(/( {6})cover: .*\n/, '$1constructor: { type: string, readOnly: true, set: { update: "null" } }\n');
  assert.ok(named.includes('constructor'));
  const stand = await openStand(named, { serve, inPairs: true });
  try {
    const { breaches } = await stand.verify({ only: ['events/emitted'] });
    assert.deepEqual(breaches, []);
  } finally {
    await stand.close();
  }
});

test('who may not read what a row belongs to is not told of it', async () => {
  const served = told.replace(
    '[read photo], to: member, if: "resource.album.owner == caller.id" }',
    '[read photo], to: member }',
  );
  const stand = await openStand(told, { serve, served, inPairs: true });
  try {
    const { breaches } = await stand.verify({ only: ['events/emitted'] });
    const found = breaches.map(({ kind, subject, reason }) => `${kind}:${subject} ${reason}`);
    assert.ok(found.includes('emitting operations:photo.made emitted'), found.join('; '));
  } finally {
    await stand.close();
  }
});

test('where only three may subscribe at once, nobody is left behind, and where none may, that is the reason', async () => {
  for (const most of [3, 0]) {
    const subscribed = new Set<string>();
    let peak = 0;
    const stand = await openStand(told, {
      serve,
      inPairs: true,
      spoil: ({ method, target, status, text }) => {
        if (!target.includes('/hooks')) return {};
        if (method === 'DELETE' && status === 204) subscribed.delete(target.split('/').at(-1) ?? '');
        if (method === 'POST' && status === 201) {
          if (subscribed.size >= most) return { status: 409, text: '{"code":"taken","status":409}' };
          subscribed.add(JSON.parse(text).id);
          peak = Math.max(peak, subscribed.size);
        }
        return {};
      },
    });
    try {
      const { facts } = await stand.verify({ only: ['emitting operations:album.made'] });
      const made = facts.find(({ kind, subject }) => kind === 'emitting operations' && subject === 'album.made');
      assert.equal(made?.verdict, most === 0 ? 'not testable' : 'held', made?.why);
      if (most === 0) assert.match(made?.why ?? '', /POST \/hooks .*answered 409/);
    } finally {
      await stand.close();
    }
  }
});
