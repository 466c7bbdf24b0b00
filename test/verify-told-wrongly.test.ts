import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand } from './verify/stand.ts';

/** What was told of services that were right: keys of a few words, and what follows from other rows. */
const document = `title: Station
purpose: { purpose: Boards pilots., base_url: "https://station.example/ps", users: { agent: Sees names., desk: Sees all. } }
resources:
  tariff:
    identifier: { field: id, generate: integer }
    fields: { id: integer, band: { type: string, enum: [coaster, giant] }, fee: integer }
    required: [id, band, fee]
    unique: [band]
    rows: [{ id: 1, band: coaster, fee: 1 }, { id: 2, band: giant, fee: 2 }]
  pilot:
    identifier: { field: badge, generate: client }
    fields: { badge: { type: string, pattern: "^P[0-3]$" }, name: { type: string, maxLength: 12 }, duty: { type: string, enum: [on, off], default: off } }
    required: [badge, name, duty]
  window:
    identifier: { field: id, generate: uuid }
    fields: { id: string, closes_at: { type: string, format: date-time }, state: { type: string, readOnly: true } }
    required: [id, closes_at, state]
  boarding:
    identifier: { field: id, generate: uuid }
    fields: { id: string, window: { ref: window }, state: { type: string, readOnly: true } }
    required: [id, window, state]
states:
  tariff: none
  pilot: none
  window:
    field: state
    initial: open
    states: [open, shut]
    transitions:
      shut: { from: open, to: shut, at: resource.closes_at, then: { do: lapse boarding, each: boarding.window, if: "item.state == 'asked'" } }
  boarding:
    field: state
    initial: asked
    states: [asked, lapsed]
    transitions:
      lapse: { from: asked, to: lapsed, after: 40d }
endpoints:
  GET /tariffs/{band}: { does: read tariff, identity: { band: band } }
  GET /pilots: { does: list pilot, pagination: { style: none }, order: name }
  GET /pilots/{badge}: { does: read pilot }
  PUT /pilots/{badge}: { does: upsert pilot }
  POST /windows: { does: create window }
  GET /windows/{id}: { does: read window }
  POST /boardings: { does: create boarding }
  GET /boardings/{id}: { does: read boarding }
authentication:
  schemes:
    mark: { type: api_key, header: Authorization, prefix: Mark, generate: "mark_{random:24}" }
    gate: { type: api_key, header: X-Gate, generate: "gate_{random:24}" }
  permissions:
    - { allow: [all tariff, all window, all boarding, all pilot], to: desk }
    - { allow: [list pilot, read pilot], to: agent, fields: [badge, name] }
events: none
errors:
  payload: problem
  codes:
    unfit: { status: 422, when: [request.invalid, reference.missing] }
    broken: { status: 400, when: [request.malformed, request.parameter] }
    missing: { status: 404, when: [resource.missing, route.unknown] }
    not_yours: { status: 403, when: caller.forbidden }
    nobody: { status: 401, when: caller.unknown }
limits: { rate: none, quota: none }
versioning: { versions: none }
`;

async function toldBy(only: readonly string[]): Promise<string[]> {
  const stand = await openStand(document);
  try {
    const { breaches, facts } = await stand.verify({ only });
    assert.ok(facts.some(({ verdict }) => verdict === 'held' || verdict === 'partly'));
    return [...new Set(breaches.map(({ kind, subject, reason }) => `${kind}: ${subject}, ${reason}`))];
  } finally {
    await stand.close();
  }
}

for (const [what, only] of [
  ['a key of a few words, of which each is some row’s', ['resources/found-by-key']],
  ['what follows when another row is taken by the clock', ['states/timed']],
] as const)
  test(`nothing is told of ${what}`, async () => {
    assert.deepEqual(await toldBy(only), []);
  });
