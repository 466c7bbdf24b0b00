import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDocument, serve, type VerifyOptions, verify } from '../src/index.ts';

const document = parseDocument(
  `
title: Mini
purpose: { users: { keeper: Who keeps them., guest: Who looks. } }
resources: { thing: { identifier: { field: id, generate: ulid }, fields: { id: string, name: { type: string, maxLength: 20, required: true } } } }
endpoints: { POST /things: { does: create thing }, "GET /things/{id}": { does: read thing } }
authentication:
  schemes: { key: { type: api_key, header: X-Key } }
  permissions: [{ allow: [create thing, read thing], to: [keeper, guest] }]
limits: { size: { body: 1KiB } }
`,
  'mini.yaml',
);

async function held(callers: (key: string) => VerifyOptions['callers']) {
  const service = await serve(document, { development: true });
  const address = await service.listen({ port: 0 });
  try {
    const key = service.credentials.find(({ user }) => user === 'keeper')?.value ?? '';
    return await verify(document, { url: address.url, seed: 1, timeMs: 30_000, ...(callers(key) && { callers: callers(key)! }) });
  } finally {
    await address.close();
    await service.close();
  }
}

test('a run says of whom nobody was given, and whose credential is taken nowhere', async () => {
  const nobody = await held(() => undefined);
  assert.deepEqual([nobody.unspoken, nobody.rejected, nobody.total.held], [['keeper', 'guest'], [], 0]);
  const wrong = await held(() => [{ user: 'keeper', credential: 'wrong' }]);
  assert.deepEqual([wrong.unspoken, wrong.rejected], [['guest'], ['keeper']]);
  // What is refused for its credential says nothing of sizes.
  assert.equal(
    wrong.breaches.some(({ part }) => part === 'limits'),
    false,
  );
  const right = await held((key) => [{ user: 'keeper', credential: key }]);
  assert.deepEqual([right.unspoken, right.rejected, right.breaches], [['guest'], [], []]);
  assert.ok(right.total.held > 10);
});
