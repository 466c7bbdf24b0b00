import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand, type StandOptions } from './verify/stand.ts';

/** Loans are told of in a log that borrowers and yards read, but for what the yard notes; mishaps are told of so many times a day, and so many of one loan. */
const yard = `title: Yard
purpose: { purpose: Lends signs., users: { borrower: Borrows., keeper: Lends. } }
resources:
  loan:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      borrower: { type: string, readOnly: true, set: { create: caller.id } }
      days: { type: integer, minimum: 1, maximum: 60 }
      yard_note: { type: string, maxLength: 40, default: fine, visible: [keeper], writable: [keeper] }
    required: [id, borrower, days]
  mishap:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      loan: { ref: loan, immutable: true, onDelete: cascade }
      told: { type: string, minLength: 1, maxLength: 60 }
    required: [id, loan, told]
  entry:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      kind: { type: string, readOnly: true }
      about: { type: string, readOnly: true }
      payload: { type: object, readOnly: true }
    required: [id, kind, about, payload]
  hook:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      owner: { type: string, readOnly: true, set: { create: caller.id } }
      url: { type: string, format: uri, maxLength: 300 }
      secret: { type: string, readOnly: true, generate: "{random:32}", reveal: once }
    required: [id, owner, url, secret]
  seat:
    identifier: { field: id, generate: uuid }
    fields: { id: string, held: { type: string, readOnly: true } }
    required: [id, held]
  booking:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      seat: { ref: seat, immutable: true, onDelete: cascade }
      stage: { type: string, readOnly: true }
    required: [id, seat, stage]
states:
  seat: { field: held, initial: free, states: [free, taken], transitions: { take: free -> taken, let_go: taken -> free } }
  booking:
    field: stage
    initial: asked
    states: [asked, sure]
    transitions: { confirm: { from: asked, to: sure, then: { do: take seat, to: next.seat } } }
endpoints:
  POST /loans: { does: create loan }
  GET /loans/{id}: { does: read loan }
  PATCH /loans/{id}: { does: update loan }
  POST /loans/{loan}/mishaps: { does: create mishap }
  GET /mishaps/{id}: { does: read mishap }
  GET /entries: { does: list entry }
  POST /hooks: { does: create hook }
  DELETE /hooks/{id}: { does: delete hook }
  POST /seats: { does: create seat }
  GET /seats/{id}: { does: read seat }
  POST /seats/{id}/take: { does: take seat }
  POST /seats/{id}/let-go: { does: let_go seat }
  POST /bookings: { does: create booking }
  GET /bookings/{id}: { does: read booking }
  POST /bookings/{id}/confirm: { does: confirm booking }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "key_{random:24}" } }
  permissions:
    - { allow: [create loan], to: borrower }
    - { allow: [read loan, update loan, create mishap, read mishap, list entry], to: [borrower, keeper] }
    - { allow: [create seat, read seat, take seat, let_go seat, create booking, read booking, confirm booking], to: [borrower, keeper] }
    - { allow: [create hook, delete hook], to: [borrower, keeper] }
events:
  delivery:
    webhook:
      signature: { header: X-Signature, value: "{hmac-sha256:hex}", signs: "{body}" }
      retry: [1m]
      timeout: 5s
      subscribers: { resource: hook, url: url, secret: secret }
    envelope: { kind: event.kind, payload: event.payload }
  kinds:
    loan.changed: { on: [create loan, update loan], payload: loan }
    seat.taken: { on: [take seat], payload: seat }
    booking.sure: { on: [confirm booking], payload: booking }
  log: { resource: entry, keep: 30d, set: { kind: event.kind, about: event.row, payload: event.payload } }
errors:
  payload: problem
  codes:
    wrong: { status: 422, when: request.invalid }
    missing: { status: 404, when: resource.missing }
    forbidden: { status: 403, when: caller.forbidden }
    not_now: { status: 409, when: transition.illegal }
    used_up: { status: 429, when: limit.quota }
limits:
  rate: none
  quota: [{ per: caller, on: [create mishap], limit: 8, window: day, zone: UTC }]
  rows: [{ of: mishap, per: loan, limit: 5 }]
  pagination: { style: page, page: page, size: size, default: 50, max: 100, over_max: clamp, items: items, total: total }
versioning: { versions: none }
`;

async function told(only: readonly string[], options: StandOptions = {}, document = yard) {
  const stand = await openStand(document, { inPairs: true, serve: { allowPrivateWebhooks: true }, ...options });
  try {
    const { breaches, facts } = await stand.verify({ only });
    return {
      breaches: breaches.map(({ kind, subject, reason }) => `${kind}:${subject} ${reason}`),
      verdictOf: (name: string) => facts.find(({ kind, subject }) => `${kind}:${subject}` === name)?.verdict,
    };
  } finally {
    await stand.close();
  }
}

test('the log is read by those of each user, and what some of them may not see stands in none of its payloads', async () => {
  assert.deepEqual((await told(['events/logged'])).breaches, []);
  const { breaches } = await told(['events/logged'], {
    spoil: ({ target, text }) =>
      target.includes('/entries') ? { text: text.replaceAll('"days":', '"yard_note":"fine","days":') } : {},
  });
  assert.ok(breaches.includes('payload shapes:loan.changed rows of the log'), breaches.join(', '));
});

test('a quota is used up beside a smaller limit of rows for each parent, and by nothing that is refused', async () => {
  const right = await told(['limits/quotas']);
  assert.deepEqual(right.breaches, []);
  assert.equal(right.verdictOf('quotas:service'), 'held');
  let used = 0;
  const { breaches } = await told(['limits/quotas'], {
    spoil: ({ method, target, status }) => {
      if (method !== 'POST' || !target.includes('/mishaps')) return {};
      used += status === 201 || status === 422 ? 1 : 0;
      return status === 201 && used > 8
        ? { status: 429, text: '{"type":"about:blank","title":"Too Many Requests","status":429,"code":"used_up"}' }
        : {};
    },
  });
  assert.ok(breaches.includes('quotas:service not earlier'), breaches.join(', '));
});

test('what is done to show that nothing came is told of in no kind that could come of it', async () => {
  // What surely emits something is the confirming of bookings alone, which takes a seat besides.
  const unsure = yard.replace('update loan], payload: loan }', 'update loan], if: next.days > 0, payload: loan }');
  assert.notEqual(unsure, yard);
  assert.deepEqual((await told(['events/refused'], {}, unsure)).breaches, []);
});
