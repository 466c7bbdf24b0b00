import assert from 'node:assert/strict';
import { test } from 'node:test';
import { check, parseDocument } from '../src/index.ts';
import { callersOf } from '../src/verify/exchange/callers.ts';
import { Made } from '../src/verify/make/made.ts';
import { newcomerOf } from '../src/verify/make/newcomers.ts';
import { HeldPlaces, rowBounds } from '../src/verify/make/places.ts';
import { Model } from '../src/verify/model/model.ts';
import { answered } from './verify/recorded.ts';
import { type Otherwise, servedOtherwise } from './verify/served-otherwise.ts';
import { openStand } from './verify/stand.ts';

/** Each caller may have four open boxes, which nobody deletes, and each box four parts. */
const boxes = `title: Boxes
purpose: { purpose: Keeps boxes., users: { packer: Packs boxes. } }
resources:
  box:
    identifier: { field: id, generate: "box_{ulid}" }
    fields:
      id: string
      code: { type: string, pattern: "^[A-Z]{3}[0-9]{4}$", immutable: true }
      owner: { type: string, readOnly: true, set: { create: caller.id } }
      parts: { type: integer, derive: "count(part.box)" }
      status: { type: string }
    required: [id, code, owner, parts, status]
    unique: [[code]]
  part:
    identifier: { field: id, generate: "prt_{ulid}" }
    fields:
      id: string
      box: { ref: box, immutable: true, onDelete: restrict }
      note: { type: string, maxLength: 40 }
      tags: { type: array, items: { type: string, minLength: 1, maxLength: 20 }, maxItems: 5, default: [] }
      status: { type: string, readOnly: true }
    required: [id, box, tags, status]
    deleted: { keep: 30d, restore: recover, read: 410 }
states:
  box:
    field: status
    initial: open
    states: [open, closed]
    transitions: { close: { from: open, to: closed, on: update box } }
  part:
    field: status
    initial: loose
    states: [loose, fixed, deleted]
    transitions: { fix: loose -> fixed, recover: deleted -> loose }
endpoints:
  POST /boxes: { does: create box }
  GET /boxes: { does: list box }
  GET /boxes/{id}: { does: read box }
  PATCH /boxes/{id}: { does: update box }
  POST /boxes/{box}/parts: { does: create part }
  GET /boxes/{box}/parts: { does: list part }
  GET /parts/{id}: { does: read part }
  DELETE /parts/{id}: { does: delete part }
  POST /parts/{id}/fix: { does: fix part }
  POST /parts/{id}/recover: { does: recover part }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "key_{random:24}" } }
  permissions:
    - { allow: [create box, list box, read box, update box], to: packer }
    - { allow: [create part, list part, read part, delete part, fix part, recover part], to: packer }
events: none
errors:
  payload: problem
  codes:
    wrong: { status: 422, when: request.invalid }
    missing: { status: 404, when: resource.missing }
    gone: { status: 410, when: resource.gone }
    taken: { status: 409, when: resource.exists }
    full: { status: 409, when: limit.quota }
    not_now: { status: 409, when: transition.illegal }
limits:
  rows: [{ of: box, per: caller.id, limit: 4, while: "next.status == 'open'" }, { of: part, per: box, limit: 12 }]
  rate: none
versioning: { versions: none }
`;

const rows: readonly Otherwise[] = [
  [
    'what is set once is set again',
    ', immutable: true }\n      owner',
    ' }\n      owner',
    'allowed values:box.code',
    /immutable/,
  ],
  [
    'what is in one state does not count',
    'count(part.box)',
    "count(part.box, item.status == 'loose')",
    'allowed values:box.parts',
    /derived, in fixed/,
  ],
  [
    'what comes back has lost a value',
    'maxItems: 5, default: [] }',
    'maxItems: 5, default: [], set: { recover: "[]" } }',
    'allowed values:part.tags',
    /brought back/,
  ],
  ['one row more is made', 'per: box, limit: 12', 'per: box, limit: 13', 'quotas:rows of part', /kept/],
  ['one row less is made', 'per: caller.id, limit: 4', 'per: caller.id, limit: 3', 'quotas:rows of box', /room|kept|reached/],
];

servedOtherwise(boxes, rows.slice(0, 4));

test('where there may be only a few rows at a time, those of cases that are over make room', async () => {
  const stand = await openStand(boxes, { inPairs: true });
  try {
    const { breaches, facts } = await stand.verify();
    assert.deepEqual(
      breaches.map(({ kind, subject, reason, seen }) => `${kind}:${subject} ${reason} ${seen}`),
      [],
    );
    const unmade = facts.filter(({ why }) => /no box could be made/.test(why ?? ''));
    assert.deepEqual(
      unmade.map(({ kind, subject }) => `${kind}:${subject}`),
      [],
    );
    const held = ['allowed values:box.parts', 'allowed values:part.tags', 'quotas:rows of part'];
    for (const name of held) {
      const fact = facts.find(({ kind, subject }) => `${kind}:${subject}` === name);
      assert.equal(fact?.verdict, 'held', `${name}: ${fact?.why}`);
    }
  } finally {
    await stand.close();
  }
});

test('whether there may be another row of a caller is told by what was made, and counts', () => {
  const { spec } = check(parseDocument(boxes, 'boxes.yaml'));
  const callers = callersOf(
    spec,
    ['ada', 'bo'].map((id) => ({ user: 'packer', id, credential: id })),
  );
  const model = new Model(spec, callers, '');
  const made = new Made();
  const places = new HeldPlaces(model, made, rowBounds(model));
  const has = () =>
    callers.map((caller) => {
      const place = places.hold(places.countedIn([newcomerOf(model, 'box', caller)]));
      place?.();
      return place !== undefined;
    });
  const make = (id: string, owner: string, status: string) =>
    made.note(answered(model, 'POST /boxes', { status: 201, body: { id, owner, status } }), model, {});
  for (const at of [1, 2, 3]) make(`box_${at}`, 'ada', 'open');
  make('box_4', 'ada', 'closed');
  assert.deepEqual(has(), [true, true]);
  make('box_5', 'ada', 'open');
  assert.deepEqual(has(), [false, true]);
  assert.ok(places.hold(places.countedIn([newcomerOf(model, 'part', callers[0])])));
  assert.ok(places.hold(places.countedIn([newcomerOf(model, 'box', undefined)])));
});
