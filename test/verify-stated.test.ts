import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { VerifyReport } from '../src/index.ts';
import { openStand, type Passing } from './verify/stand.ts';

/** Bodies and answers of its own, and what a careful reader may take for a breach: a public read with a tag, an envelope that only reads the payload. */
const cards = `
title: Cards
purpose:
  purpose: Keeps cards, with bodies and answers of its own.
  base_url: https://cards.example/v1
  users: { keeper: Keeps cards., boss: Sees all. }
resources:
  card:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      owner: { type: string, readOnly: true, set: { create: caller.id }, visible: [keeper, boss] }
      name: { type: string, minLength: 1, maxLength: 40 }
      level: { type: integer, minimum: 0, maximum: 9 }
      remark: "string?"
    required: [id, owner, name]
endpoints:
  POST /cards:
    does: create card
    request: { type: object, properties: { name: { type: string, minLength: 1, maxLength: 20 }, level: { type: integer, minimum: 1, maximum: 5 } }, required: [name], additionalProperties: false }
    response:
      201:
        shape: { type: object, properties: { id: string, title: string, level: integer }, required: [id, title] }
        data: { id: result.id, title: result.name, level: "has(result.level) ? result.level : 0" }
        headers: { X-Long: "string(size(request.name))", X-Level: { shape: { type: integer }, data: "has(result.level) ? result.level : null" } }
  GET /cards/{id}: { does: read card, response: { 200: { shape: card, headers: { ETag: { shape: { type: string } } } } }, etag: strong }
  GET /cards: { does: list card }
  PATCH /cards/{id}:
    does: update card
    if_match: accepted
    request: { type: object, properties: { name: { type: string, minLength: 1, maxLength: 20 }, remark: "string?", level: { type: integer, minimum: 1, maximum: 5 } }, additionalProperties: false }
    response: { 200: { shape: card, headers: { X-By: caller.id } } }
  DELETE /cards/{id}: { does: delete card, response: { 200: { shape: { type: object, properties: { gone: string } }, data: { gone: resource.id } } } }
  GET /price:
    does: handler price
    parameters: { of: { in: query, type: integer, minimum: 1, maximum: 9, required: true } }
    response: { 200: { shape: { type: object, properties: { cents: integer }, required: [cents] }, headers: { X-Cents: { shape: { type: integer }, data: result.cents }, X-Of: params.of } } }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "k_{random:24}", placeholder: "{key}" } }
  public: [read card]
  permissions: [{ allow: [all card, handler price], to: [keeper, boss] }]
errors:
  payload: problem
  codes:
    malformed: { status: 400, when: [request.malformed, request.media, request.parameter] }
    invalid: { status: 422, when: request.invalid }
    missing: { status: 404, when: [resource.missing, route.unknown] }
    unknown: { status: 401, when: caller.unknown }
    forbidden: { status: 403, when: caller.forbidden }
    method: { status: 405, when: method.unsupported }
    stale: { status: 412, when: precondition.failed }
limits: { pagination: { style: cursor, cursor: cursor, size: limit, next: next, default: 10, max: 50, items: data } }
`;

async function hold(spoil?: (passing: Passing) => Partial<Passing>, only: readonly string[] = []): Promise<VerifyReport> {
  const price = ({ params }: { readonly params: Readonly<Record<string, unknown>> }) => ({ cents: 100 * Number(params.of) });
  const stand = await openStand(cards, { ...(spoil && { spoil }), serve: { handlers: { price } as never } });
  try {
    return await stand.verify({ timeMs: 300_000, ...(only.length > 0 && { only }) });
  } finally {
    await stand.close();
  }
}

const told = ({ breaches, crashes, unsteady }: VerifyReport) =>
  [...breaches, ...crashes, ...unsteady].map(({ kind, subject, reason, seen }) => `${kind} of ${subject}, ${reason}: ${seen}`);

test('a service that keeps the bodies and answers that it states, public tags and headers of handlers too, breaks nothing', async () => {
  assert.deepEqual(told(await hold()), []);
});

const made = ({ method, status }: Passing) => method === 'POST' && status === 201;
const withText = (from: RegExp, to: string) => (passing: Passing) => ({ text: passing.text.replace(from, to) });

const faults: readonly (readonly [what: string, spoil: (passing: Passing) => Partial<Passing>, only: string, told: RegExp])[] = [
  [
    'a member that is made by an expression',
    (one) => (made(one) ? withText(/"title":"[^"]*"/, '"title":"other"')(one) : {}),
    'endpoints/computed',
    /POST \/cards, computed/,
  ],
  [
    'a header that reads the request',
    (one) => (made(one) ? { headers: { ...one.headers, 'x-long': '99' } } : {}),
    'resources/stored',
    /POST \/cards, header X-Long: 99/,
  ],
  [
    'a header of another type',
    (one) => (one.target.includes('/price') ? { headers: { ...one.headers, 'x-cents': 'much' } } : {}),
    'GET /price',
    /GET \/price, header X-Cents/,
  ],
  [
    'what is stored of a stated body',
    (one) => (one.method === 'GET' ? withText(/"name":"[^"]*"/, '"name":"z"')(one) : {}),
    'resources/changed',
    /card.name/,
  ],
];

for (const [what, spoil, only, meant] of faults) {
  test(`what is stated is held: ${what}`, async () => {
    const report = await hold(spoil, [only]);
    assert.ok(
      told(report).some((line) => meant.test(line)),
      told(report).join('\n'),
    );
  });
}
