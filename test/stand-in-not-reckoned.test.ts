import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDocument, type Service, serve } from '../src/index.ts';
import { servedDocuments } from './recorded/serve.ts';
import { talk } from './recorded/talk.ts';

/** What a stand-in cannot reckon, since what it would reckon it of is not there, is no failure: it is made up, or does not hold. */

const document = `
purpose: { purpose: Lends boats., base_url: https://boats.example, users: { guest: Rows. } }
resources:
  boat:
    identifier: { field: id, generate: client }
    fields: { id: string, rate: integer, berth: string }
    required: [id, rate, berth]
    unique: [[berth]]
  trip:
    identifier: { field: id, generate: integer }
    fields:
      id: integer
      boat: { ref: boat }
      club: { type: string, readOnly: true, set: { create: caller.claims.club } }
      fee: { type: integer, readOnly: true, set: { create: next.boat.rate * 2 } }
      page: { type: string, format: uri, pattern: "^https?://", maxLength: 300 }
    required: [id, boat, club, fee, page]
endpoints:
  POST /boats: { does: create boat }
  GET /boats: { does: list boat }
  POST /trips: { does: create trip }
authentication: { schemes: { key: { type: api_key, header: Boat-Key } }, permissions: [{ allow: [all boat, all trip], to: guest }] }
errors: { codes: { too_dear: { status: 409, on: [create trip], if: next.boat.rate > 100 } } }
`;

async function standIn(use: (post: (path: string, body: unknown) => Promise<Response>, service: Service) => Promise<void>) {
  const service = await serve(parseDocument(document, 'boats.yaml'), {
    sample: true,
    identify: () => ({ id: 'g', user: 'guest', scopes: [] }),
    onFailure: (failure) => assert.fail(String(failure)),
  });
  const post = (path: string, body: unknown) => {
    const headers = { 'content-type': 'application/json' };
    return service.fetch(new Request(`http://127.0.0.1${path}`, { method: 'POST', headers, body: JSON.stringify(body) }));
  };
  try {
    await use(post, service);
  } finally {
    await service.close();
  }
}

test('what is set from a row that is named and not there, and from claims that the caller does not have, is made up and told', () =>
  standIn(async (post) => {
    const made = await post('/trips', { boat: 'nutshell', page: 'https://a.example/' });
    const trip = (await made.json()) as Record<string, unknown>;
    assert.deepEqual([made.status, trip.boat, typeof trip.club, typeof trip.fee], [201, 'nutshell', 'string', 'number']);
    const told = made.headers.get('ninefold-sampled') ?? '';
    assert.deepEqual(told.split(', ').toSorted(), ['club', 'fee']);
  }));

test('it is reckoned, and refused, where the row is there', () =>
  standIn(async (post) => {
    await post('/boats', { id: 'ark', rate: 30, berth: 'A' });
    const trip = (await (await post('/trips', { boat: 'ark', page: 'https://a.example/' })).json()) as { fee: number };
    assert.equal(trip.fee, 60);
    await post('/boats', { id: 'yacht', rate: 300, berth: 'B' });
    assert.equal((await post('/trips', { boat: 'yacht', page: 'https://a.example/' })).status, 409);
  }));

test('an address that a pattern admits is made up of its format', () =>
  standIn(async (post) => {
    const made = await post('/trips', { boat: 'nutshell' });
    const { page } = (await made.json()) as { page: string };
    assert.equal(made.status, 201);
    assert.match(page, /^https?:\/\/\w/);
  }));

test('in no conversation with a stand-in anything fails', async () => {
  const failed: string[] = [];
  for (const { name, document } of servedDocuments(6, 1)) {
    const said = await talk(document, { turns: 40, seed: 7, as: 'stand-in' });
    for (const { asked, status, text } of said)
      if (status === 500 || status === 0) failed.push(`${name}: ${JSON.stringify(asked)} ${text.slice(0, 200)}`);
  }
  assert.deepEqual(failed, []);
});
