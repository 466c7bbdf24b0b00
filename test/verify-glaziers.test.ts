import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OwnText, valuesApart } from '../src/verify/values/apart.ts';
import { openStand, type StandOptions } from './verify/stand.ts';

/** Panes that are taken out of their windows, what their mending is quoted at, and buildings: what three services had wrong and nobody told. */
const glaziers = `
title: Glaziers
purpose: { purpose: Mend windows., users: { glazier: Mends panes., warden: Looks after all. } }
resources:
  place: { identifier: none, fields: { town: { type: string, minLength: 2, maxLength: 40 }, street: { type: string, maxLength: 40 } }, required: [town] }
  building:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      name: { type: string, minLength: 2, maxLength: 40 }
      place: place
      grade: { enum: [first, second, ungraded], default: ungraded }
    required: [id, name, place]
  pane:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      height: { type: integer, minimum: 100, maximum: 9000 }
      holder: { type: string, readOnly: true, set: { take: caller.id } }
      stage: { type: string, readOnly: true }
    required: [id, height, stage]
  job:
    identifier: { field: id, generate: uuid }
    fields: { id: string, quote: { type: integer, readOnly: true, set: { quote: request.amount } }, status: { type: string, readOnly: true } }
    required: [id, status]
  entry:
    identifier: { field: id, generate: uuid }
    fields: { id: string, kind: string, row: string }
    required: [id, kind, row]
states:
  building: none
  entry: none
  pane:
    field: stage
    initial: in_situ
    states: [in_situ, out, lost, ashes]
    transitions:
      take: { from: in_situ, to: out }
      lose: { from: in_situ, to: lost }
      recall: { from: out, to: in_situ, after: 30d }
      burn: { from: lost, to: ashes, if: { if: "resource.height > 8999", else: too_small } }
  job:
    field: status
    initial: asked
    states: [asked, quoted, inspected, done]
    transitions:
      quote: { from: asked, to: quoted }
      finish: { from: quoted, to: [{ if: "has(next.quote) && next.quote > 500000", state: inspected }, { state: done }] }
endpoints:
  POST /buildings: { does: create building, idempotency: { header: Idempotency-Key, keep: 24h } }
  GET /buildings/{id}: { does: read building }
  PUT /buildings/{id}: { does: replace building }
  POST /panes: { does: create pane }
  GET /panes: { does: list pane, parameters: { stage: { in: query }, sort: { in: query, enum: [height], sorts: true }, way: { in: query, directs: sort } }, order: height }
  GET /panes/{id}: { does: read pane }
  PATCH /panes/{id}: { does: update pane, in: [in_situ, out] }
  POST /panes/{id}/take: { does: take pane }
  POST /panes/{id}/lose: { does: lose pane }
  POST /panes/{id}/burn: { does: burn pane }
  POST /jobs: { does: create job }
  GET /jobs/{id}: { does: read job }
  POST /jobs/{id}/quote: { does: quote job, request: { type: object, properties: { amount: { type: integer, minimum: 0, maximum: 90000000 } }, required: [amount] } }
  POST /jobs/{id}/finish: { does: finish job }
  GET /entries: { does: list entry, pagination: { style: none }, parameters: { row: { in: query } } }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "key_{random:24}" } }
  permissions:
    - { allow: [create pane, take pane, lose pane, create building, read building, replace building, read job, quote job, finish job, list entry], to: [glazier, warden] }
    - { allow: [create job], to: warden }
    - { allow: [list pane, read pane, update pane], to: warden }
    - { allow: [list pane, read pane], to: glazier, if: "resource.stage != 'ashes'" }
    - { allow: [update pane], to: glazier, if: "!has(resource.holder) || resource.holder == caller.id" }
    - { allow: [burn pane], to: glazier, if: "resource.height < 0" }
events:
  log: { resource: entry, keep: 60d, set: { kind: event.kind, row: event.row } }
  kinds:
    pane.moved: { on: [take pane, recall pane], payload: pane }
errors:
  order: [caller, user, parameters, body, row, precondition, request, state]
  payload: problem
  paths: dotted
  codes:
    lacking: { status: 422, when: request.invalid.missing }
    foreign: { status: 422, when: request.invalid.unknown }
    unfit: { status: 422, when: request.invalid }
    unreadable: { status: 400, when: [request.malformed, request.parameter] }
    missing: { status: 404, when: [resource.missing, route.unknown] }
    nobody: { status: 401, when: caller.unknown }
    denied: { status: 403, when: caller.forbidden }
    too_late: { status: 409, when: transition.illegal }
    too_small: { status: 409 }
    again: { status: 409, when: idempotency.reused }
    no_edition: { status: 400, when: version.unknown }
limits: { rate: none, quota: none, size: none, pagination: { style: offset, offset: skip, size: take, default: 20, max: 50, items: rows, has_more: more } }
versioning:
  versions: { "1": {}, "2": { current: true } }
  select: { header: Edition, default: current }
  guarantee: additive
  changes: { "1": none, "2": none }
`;

/** What is told of a service that does something else; nothing is of the one that is right. */
async function told(only: string, options: StandOptions): Promise<string[]> {
  const right = await openStand(glaziers, { inPairs: true });
  const wrong = await openStand(glaziers, { inPairs: true, ...options });
  try {
    assert.deepEqual((await right.verify({ only: [only] })).breaches, []);
    const { breaches } = await wrong.verify({ only: [only] });
    return [...new Set(breaches.map(({ kind, subject }) => `${kind}, ${subject}`))].sort();
  } finally {
    await right.close();
    await wrong.close();
  }
}

const served = (from: string, to: string): StandOptions => {
  assert.ok(glaziers.includes(from), from);
  return { served: glaziers.replace(from, to) };
};

test('what is missing comes after what was sent, and names no code before it', async () => {
  const spoil: StandOptions['spoil'] = ({ status, sent, text }) =>
    status === 422 && sent.includes('nf_not_stated') && !sent.includes('"name"')
      ? { text: text.replace('"foreign"', '"lacking"') }
      : {};
  assert.deepEqual(await told('errors/first violation', { spoil }), ['conditions, foreign']);
});

test('the place of what is missing inside of a value is told whole', async () => {
  const spoil: StandOptions['spoil'] = ({ sent, text }) =>
    sent.includes('"town"') ? {} : { text: text.replace('"place.town"', '"town"') };
  assert.deepEqual(await told('errors/written places', { spoil }), ['error payload shapes, service']);
});

test('numbers are put in order as numbers, whatever they may be', async () => {
  for (const [minimum, maximum] of [
    [100, 9000],
    [1990, 20_300],
    [0, 50],
  ] as const) {
    const values = valuesApart({ type: 'integer', minimum, maximum }, new OwnText()) as readonly number[];
    assert.deepEqual(
      [...values].sort((one, other) => one - other),
      values,
    );
    assert.notDeepEqual([...values].map(String).sort(), values.map(String), `${minimum}`);
  }
  const spoil: StandOptions['spoil'] = ({ target, text }) => {
    if (!target.includes('sort=height')) return {};
    const page = JSON.parse(text) as { rows: { height: number }[] };
    return {
      text: JSON.stringify({
        ...page,
        rows: page.rows.sort((one, other) => (String(one.height) < String(other.height) ? -1 : 1)),
      }),
    };
  };
  assert.deepEqual(await told('endpoints/lists', { spoil }), ['parameters, GET /panes']);
});

test('a key that comes again in another version is of another request', async () => {
  const bend: StandOptions['bend'] = ({ headers }) => {
    const { edition: _edition, ...rest } = headers;
    return { headers: rest };
  };
  const found = await told('endpoints/idempotency', { bend });
  assert.deepEqual(found, ['parameters, POST /buildings', 'request payload shapes, POST /buildings']);
});

test('what a replacement leaves out is its default again', async () => {
  const other = served(
    'grade: { enum: [first, second, ungraded], default: ungraded }',
    'grade: { enum: [first, second, ungraded] }',
  );
  assert.deepEqual(await told('endpoints/replacing', other), ['request payload shapes, PUT /buildings/{id}']);
});

test('what the clock does has its row in the log', async () => {
  const other = served('pane.moved: { on: [take pane, recall pane]', 'pane.moved: { on: [take pane]');
  assert.deepEqual(await told('events/logged later', other), ['emitting operations, pane.moved']);
});

test('where a choice turns on what was sent with an act before it, it is looked at just there', async () => {
  assert.deepEqual(await told('states/choices', served('next.quote > 500000', 'next.quote >= 500000')), ['transitions, job']);
});

test('a row that somebody else holds since an act is kept from those whose rule says so', async () => {
  const other = served(`, to: glazier, if: "!has(resource.holder) || resource.holder == caller.id"`, ', to: glazier');
  assert.deepEqual(await told('authentication/rows', other), ['permission rules, update pane']);
});

test('who may list all is shown what others are not', async () => {
  const stand = await openStand(glaziers, { inPairs: true });
  const warden = stand.callers.filter(({ user }) => user === 'warden').map(({ credential }) => credential);
  await stand.close();
  assert.ok(warden.length > 0);
  let keys: readonly string[] = [];
  const lax = await openStand(glaziers, {
    inPairs: true,
    bend: ({ target, headers }) =>
      keys.includes(String(headers['x-key'])) && /^\/panes(?:\?|$)/.test(target) && !target.includes('stage=')
        ? { target: `${target}${target.includes('?') ? '&' : '?'}stage=out` }
        : {},
  });
  keys = lax.callers.filter(({ user }) => user === 'warden').map(({ credential }) => String(credential));
  try {
    const { breaches } = await lax.verify({ only: ['authentication/lists'] });
    assert.deepEqual([...new Set(breaches.map(({ kind, subject }) => `${kind}, ${subject}`))], ['permission rules, list pane']);
  } finally {
    await lax.close();
  }
});

test('each user is refused in a state in which nobody may, by updates and transitions', async () => {
  for (const [only, path, fact] of [
    ['states/in states', '', 'states, pane'],
    ['states/transitions', '/take', 'transitions, pane'],
  ] as const) {
    let keys: readonly string[] = [];
    const lax = await openStand(glaziers, {
      inPairs: true,
      served: glaziers
        .replace('      lose: {', '      slip: { from: "*", to: out }\n      lose: {')
        .replace(
          '  POST /panes/{id}/lose:',
          '  PATCH /lax/{id}: { does: update pane, as: lax }\n  POST /lax/{id}/take: { does: slip pane }\n  POST /panes/{id}/lose:',
        )
        .replace('take pane, lose pane,', 'lax, take pane, slip pane, lose pane,'),
      bend: ({ method, target, headers }) =>
        keys.includes(String(headers['x-key'])) && (path === '' ? method === 'PATCH' : target.endsWith(path))
          ? { target: target.replace('/panes/', '/lax/') }
          : {},
    });
    keys = lax.callers.filter(({ user }) => user === 'warden').map(({ credential }) => String(credential));
    try {
      const { breaches } = await lax.verify({ only: [only] });
      assert.ok(
        breaches.some(({ kind, subject }) => `${kind}, ${subject}` === fact),
        only,
      );
    } finally {
      await lax.close();
    }
  }
});

test('what is refused since nobody asked shows nothing of a condition', async () => {
  const stand = await openStand(glaziers, { inPairs: true });
  try {
    const { facts, breaches } = await stand.verify({ only: ['states/conditions'] });
    assert.deepEqual(breaches, []);
    const shown = facts.find(({ kind, subject }) => kind === 'transitions' && subject === 'pane')?.shown ?? {};
    assert.equal(shown['burn blocked'], undefined);
  } finally {
    await stand.close();
  }
});

test('who may not ask is refused for that before a parameter is looked at, where the order says so', async () => {
  const stand = await openStand(glaziers, {
    inPairs: true,
    ...served('order: [caller, user, parameters,', 'order: [caller, parameters, user,'),
  });
  try {
    const { breaches } = await stand.verify({ only: ['errors/order'] });
    const reasons = breaches.map(({ reason }) => reason);
    assert.ok(reasons.includes('user before parameters at POST /jobs'), reasons.join('; '));
  } finally {
    await stand.close();
  }
});

test('a direction that is asked for alone turns the stated order', async () => {
  const bend: StandOptions['bend'] = ({ target }) =>
    target.includes('sort=') ? {} : { target: target.replace('way=desc', 'way=asc') };
  assert.deepEqual(await told('endpoints/lists', { bend }), ['response payload shapes, GET /panes']);
});
