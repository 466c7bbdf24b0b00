import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand, type StandOptions } from './verify/stand.ts';

/** A service whose hooks have a secret that is shown once. */
const hooks = `
title: Hooks
resources:
  hook:
    identifier: { field: id, generate: uuid }
    fields: { id: string, name: { type: string, minLength: 1, maxLength: 20 }, secret: { type: string, readOnly: true, generate: "hs_{random:16}", reveal: once } }
    required: [id, name, secret]
states: none
endpoints:
  POST /hooks: { does: create hook, idempotency: { header: Idempotency-Key, keep: 24h } }
  GET /hooks/{id}: { does: read hook }
authentication: none
errors:
  payload: problem
  codes:
    invalid: { status: 422, when: request.invalid }
    missing: { status: 404, when: [resource.missing, route.unknown] }
    reused: { status: 422, when: idempotency.reused }
`;

async function told(options: StandOptions) {
  const stand = await openStand(hooks, options);
  try {
    const { breaches, facts } = await stand.verify({ only: ['endpoints/idempotency', 'resources/missing'] });
    const secret = facts.find(({ kind, subject }) => kind === 'required flags' && subject === 'hook.secret');
    return { breaches: breaches.map(({ kind, subject, reason }) => `${kind}: ${subject}, ${reason}`), verdict: secret?.verdict };
  } finally {
    await stand.close();
  }
}

test('a secret that is revealed once is revealed, and not again to whoever sends the same key', async () => {
  assert.deepEqual(await told({}), { breaches: [], verdict: 'held' });
  const withSecret = (text: string) => text.replace('{"id"', '{"secret":"hs_0000000000000000","id"');
  const again = await told({
    spoil: ({ status, text, method }) =>
      method === 'POST' && status === 201 && !text.includes('secret') ? { text: withSecret(text) } : {},
  });
  assert.deepEqual(again.breaches, ['required flags: hook.secret, revealed once']);
  const never = await told({ spoil: ({ text }) => ({ text: text.replace(/,"secret":"[^"]*"/, '') }) });
  assert.deepEqual(never.breaches, ['required flags: hook.secret, revealed']);
});
