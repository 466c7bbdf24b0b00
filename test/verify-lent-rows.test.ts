import assert from 'node:assert/strict';
import { test } from 'node:test';
import { check, parseDocument } from '../src/index.ts';
import { callersOf } from '../src/verify/exchange/callers.ts';
import { isEntangled, isTimely } from '../src/verify/make/entangled.ts';
import { SharedRow, SharedRows, sharedOr } from '../src/verify/make/lent-rows.ts';
import { Model } from '../src/verify/model/model.ts';
import { rowWith } from '../src/verify/model/row-shown.ts';
import type { Session } from '../src/verify/session/session.ts';
import { answered } from './verify/recorded.ts';
import { openStand } from './verify/stand.ts';

/** Notes below volumes, which are below shelves: nobody counts them. */
const shelves = `title: Shelves
purpose: { purpose: Keeps notes., users: { writer: Writes. } }
resources:
  shelf:
    identifier: { field: id, generate: "shf_{ulid}" }
    fields: { id: string, name: { type: string, minLength: 1, maxLength: 40 } }
    required: [id, name]
  volume:
    identifier: { field: id, generate: "vol_{ulid}" }
    fields:
      id: string
      shelf: { ref: shelf, immutable: true, onDelete: restrict }
      title: { type: string, minLength: 1, maxLength: 40 }
    required: [id, shelf, title]
  note:
    identifier: { field: id, generate: "not_{ulid}" }
    fields:
      id: string
      volume: { ref: volume, immutable: true, onDelete: cascade }
      text: { type: string, maxLength: 40 }
      tone: { enum: [calm, loud], default: calm }
    required: [id, volume, text, tone]
states: { shelf: none, volume: none, note: none }
endpoints:
  POST /shelves: { does: create shelf }
  GET /shelves/{id}: { does: read shelf }
  PATCH /shelves/{id}: { does: update shelf }
  DELETE /shelves/{id}: { does: delete shelf }
  POST /volumes: { does: create volume }
  GET /volumes/{id}: { does: read volume }
  DELETE /volumes/{id}: { does: delete volume }
  POST /volumes/{volume}/notes: { does: create note }
  GET /volumes/{volume}/notes: { does: list note }
  GET /notes/{id}: { does: read note }
  PATCH /notes/{id}: { does: update note }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "key_{random:24}" } }
  permissions: [{ allow: [all shelf, all volume, all note], to: writer }]
events: none
errors:
  payload: problem
  codes:
    wrong: { status: 422, when: request.invalid }
    missing: { status: 404, when: resource.missing }
    held: { status: 409, when: resource.exists }
limits: { rate: none }
versioning: { versions: none }
`;

test('what rows refer to serves the cases of all trials that want one alike, and nothing is broken for it', async () => {
  const made = new Map<string, number>();
  const stand = await openStand(shelves, {
    inPairs: true,
    spoil({ method, target, status }) {
      const path = target.replace(/_[0-9A-Z]{26}/, '');
      if (method === 'POST' && status === 201) made.set(path, (made.get(path) ?? 0) + 1);
      return {};
    },
  });
  try {
    const { breaches, unsteady, facts } = await stand.verify();
    assert.deepEqual(
      [...breaches, ...unsteady].map(({ kind, subject, reason, seen }) => `${kind}:${subject} ${reason} ${seen}`),
      [],
    );
    assert.equal(facts.find(({ kind, subject }) => kind === 'allowed values' && subject === 'note.tone')?.verdict, 'held');
    const [shelvesMade = 0, notesMade = 0] = ['/shelves', '/volumes/vol/notes'].map((path) => made.get(path));
    // Each note needs a volume, and that a shelf.
    assert.ok(notesMade > 40, `${notesMade}`);
    assert.ok(shelvesMade < notesMade * 1.5, `${shelvesMade} shelves for ${notesMade} notes`);
  } finally {
    await stand.close();
  }
});

test('the way to a breach begins with what another case had made', async () => {
  const stand = await openStand(shelves, { inPairs: true, served: shelves.replace('[calm, loud]', '[calm, shrill]') });
  try {
    const { breaches } = await stand.verify();
    const breach = breaches.find(({ kind, subject }) => kind === 'allowed values' && subject === 'note.tone');
    assert.deepEqual(breach?.steps.map(({ does }) => does.replace(/ as .*/, '')).slice(0, 3), [
      'POST /shelves',
      'POST /volumes',
      'POST /volumes/{volume}/notes',
    ]);
  } finally {
    await stand.close();
  }
});

test('what refers to a row bears on others where it is unique or numbered in it, limited, or counted by a condition', () => {
  const entangled = (from: string, to: string) => {
    const { spec } = check(parseDocument(shelves.replace(from, to), 'shelves.yaml'));
    return ['shelf', 'volume'].map((name) => isEntangled(spec, name));
  };
  const id = '      id: string\n      volume:';
  assert.deepEqual(entangled('', ''), [false, false]);
  assert.deepEqual(entangled('required: [id, shelf, title]', 'required: [id, shelf, title]\n    unique: [[shelf, title]]'), [
    true,
    false,
  ]);
  assert.deepEqual(entangled(id, `      number: { type: integer, readOnly: true, generate: integer, within: volume }\n${id}`), [
    false,
    true,
  ]);
  assert.deepEqual(entangled('{ rate: none }', '{ rate: none, rows: [{ of: note, per: volume, limit: 9 }] }'), [false, true]);
  const counted =
    '      title: { type: string, minLength: 1, maxLength: 40 }\n      notes: { type: integer, derive: "count(note.volume)" }';
  const title = '      title: { type: string, minLength: 1, maxLength: 40 }';
  assert.deepEqual(entangled(title, counted), [false, false]);
  const { spec } = check(
    parseDocument(
      shelves
        .replace(title, counted)
        .replace('    held:', '    full: { status: 409, on: [create note], if: "next.volume.notes > 5" }\n    held:'),
      'shelves.yaml',
    ),
  );
  assert.deepEqual(
    ['shelf', 'volume'].map((name) => isEntangled(spec, name)),
    [false, true],
  );
});

test('the time alone makes a row otherwise that moves by the clock, or that a condition holds against the time', () => {
  const timely = (from: string, to: string) => {
    const { spec } = check(parseDocument(shelves.replace(from, to), 'shelves.yaml'));
    return ['shelf', 'volume'].map((name) => isTimely(spec, name));
  };
  assert.deepEqual(timely('', ''), [false, false]);
  const over = '    over: { status: 409, on: [create note], if: "timestamp(next.volume.ends) < now" }\n    held:';
  assert.deepEqual(timely('    held:', over), [false, false]);
  const dated = shelves.replace('      shelf: {', '      ends: { type: string, format: date-time }\n      shelf: {');
  const { spec } = check(parseDocument(dated.replace('    held:', over), 'shelves.yaml'));
  assert.deepEqual(
    ['shelf', 'volume'].map((name) => isTimely(spec, name)),
    [false, true],
  );
  const moving = shelves.replace(
    'states: { shelf: none,',
    'states: { shelf: { field: state, initial: new, states: [new, old], transitions: { age: { from: new, to: old, after: 7d } } },',
  );
  const aged = check(
    parseDocument(moving.replace('fields: { id: string, name:', 'fields: { id: string, state: string, name:'), 'shelves.yaml'),
  );
  assert.equal(isTimely(aged.spec, 'shelf'), true);
});

test('an identifier that is a map with a text of its own is compared, and nothing fails over it', () => {
  const { spec } = check(parseDocument(shelves, 'shelves.yaml'));
  const model = new Model(spec, callersOf(spec, [{ user: 'writer', id: 'ada', credential: 'ada' }]), '');
  const odd = { toString: 1, valueOf: 2 };
  const shown = answered(model, 'GET /shelves/{id}', { status: 200, body: { id: odd, name: 'a' } });
  assert.equal(rowWith(model, shown, 'shf_1'), undefined);
  assert.deepEqual(rowWith(model, shown, odd)?.id, odd);
  assert.equal(rowWith(model, shown, Object.assign(Object.create(null), { a: 1 })), undefined);
});

test('who takes a row whose maker is over lists nothing below it: what that has left would be there', async () => {
  const { spec } = check(parseDocument(shelves, 'shelves.yaml'));
  const model = new Model(spec, callersOf(spec, [{ user: 'writer', id: 'ada', credential: 'ada' }]), '');
  const rows = new SharedRows(model);
  const value = answered(model, 'POST /volumes', { status: 201, body: { id: 'vol_1', shelf: 'shf_1', title: 'a' } });
  const below = answered(model, 'POST /shelves', { status: 201, body: { id: 'shf_1', name: 'a' } });
  const row = {
    resource: 'volume',
    id: 'vol_1',
    known: {},
    caller: undefined,
    fields: {},
    made: { step: 0, value },
    shown: undefined,
  };
  // The casts hold: nothing else of a session is asked.
  const session = () =>
    ({
      run: { owner: {}, results: [], fresh: new Map(), clock: { toService: (ms: number) => ms } },
      script: [],
      sentSince: () => [below, value].map((one) => ({ step: 0, value: one, fresh: [], origin: one })),
      takeOver: async () => new Map([[0, 0]]),
    }) as unknown as Session;
  const [maker, taker] = [session(), session()];
  const make = async () => row;
  const ask = (key: string, { run }: Session) => {
    const endpoint = model.endpoints.find((one) => one.key === key);
    assert.ok(endpoint);
    rows.reserve(model.request(endpoint, {}), { volume: 'vol_1', id: 'vol_1' }, run.owner);
  };
  rows.open(maker.run.owner, new Set());
  await sharedOr(maker, 'volume', {}, make);
  rows.close(maker.run.owner);
  rows.open(taker.run.owner, new Set());
  const taken = await sharedOr(taker, 'volume', {}, () => assert.fail('one is there'));
  assert.equal(taken.id, 'vol_1');
  // Whoever is to have rows of its own of the one that it stands below takes none, and leaves none.
  for (const own of ['volume', 'shelf', 'note']) {
    const apart = session();
    let times = 0;
    rows.open(apart.run.owner, new Set([own]));
    for (const _again of [1, 2])
      await sharedOr(apart, 'volume', {}, async () => {
        times += 1;
        return { ...row, id: 'vol_2' };
      });
    rows.close(apart.run.owner);
    assert.equal(times, own === 'note' ? 1 : 2, own);
  }
  ask('POST /volumes/{volume}/notes', taker);
  ask('GET /volumes/{id}', taker);
  assert.throws(() => ask('GET /volumes/{volume}/notes', taker), SharedRow);
  // Nobody else holds it any more, so that it may be deleted; and then nobody takes it.
  ask('DELETE /volumes/{id}', taker);
  const next = session();
  rows.open(next.run.owner, new Set());
  let isMade = false;
  await sharedOr(next, 'volume', {}, async () => {
    isMade = true;
    return row;
  });
  assert.ok(isMade);
});
