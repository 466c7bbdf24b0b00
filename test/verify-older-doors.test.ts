import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Service } from '../src/index.ts';
import type { GivenCaller } from '../src/verify/exchange/callers.ts';
import type { VerifyReport } from '../src/verify/report.ts';
import { type Bent, openStand, type StandOptions } from './verify/stand.ts';

/** What the older version has too, but for the finish of a paper; `alike` = a path that there is not is refused as a row that there is not. */
const papers = (alike = false): string => `title: Papers
purpose:
  purpose: Keeps papers.
  users: { miller: Makes them. }
  functions: { keeping: [upsert paper, read paper, press paper] }
resources:
  paper:
    identifier: { field: name }
    fields:
      name: { type: string, pattern: "^[a-z]{4,12}$" }
      grams: { type: integer, minimum: 30, maximum: 600 }
      finish: { enum: [rough, coated, laid] }
      state: { enum: [wet, pressed], readOnly: true }
    required: [name, grams, state]
states: { paper: { field: state, initial: wet, transitions: { press: { from: wet, to: pressed } } } }
endpoints:
  PUT /papers/{name}: { does: upsert paper }
  GET /papers/{name}: { does: read paper }
  POST /papers/{name}/press: { does: press paper }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "key_{random:24}" } }
  permissions: [{ allow: all paper, to: miller }]
events: none
errors:
  payload: problem
  codes:
    wrong: { status: 422, when: request.invalid }
    ${alike ? 'missing: { status: 404, when: [resource.missing, route.unknown] }' : 'missing: { status: 404, when: resource.missing }'}
    ${alike ? '' : 'nowhere: { status: 404, when: route.unknown }'}
limits: { rate: none }
versioning:
  versions: { "1": {}, "2": { current: true } }
  select: { header: Papers-Version, default: current }
  guarantee: additive
  changes: { "1": none, "2": [{ add: paper.finish }] }
`;

async function verified(text: string, only: readonly string[], options: StandOptions = {}): Promise<VerifyReport> {
  const stand = await openStand(text, options);
  try {
    return await stand.verify({ only, seed: 5 });
  } finally {
    await stand.close();
  }
}

const toldBy = ({ breaches }: VerifyReport): string[] =>
  [...new Set(breaches.map(({ kind, reason }) => `${kind}: ${reason}`))].sort();

const isOlder = ({ headers }: Bent): boolean => headers['papers-version'] === '1';

for (const alike of [false, true]) {
  const words = alike ? 'the words of what is not there' : 'words of its own';
  test(`an operation that the newest version alone has is a breach, where a path that there is not is refused in ${words}`, async () => {
    const bend = (request: Bent): Partial<Bent> =>
      isOlder(request) && request.target.endsWith('/press') ? { target: `${request.target}ing` } : {};
    assert.deepEqual(toldBy(await verified(papers(alike), ['versioning/there'])), []);
    assert.deepEqual(toldBy(await verified(papers(alike), ['versioning/there'], { bend })), [
      'functions: press paper is there in 1',
      'version identifiers: press paper is there in 1',
    ]);
  });
}

test('what a function names is looked for in each version that has it, before the functions are held', async () => {
  const held = await verified(papers(), ['purpose/functions', 'versioning/there']);
  assert.equal(held.facts.find(({ kind }) => kind === 'functions')?.verdict, 'held');
  const partly = await verified(papers(), ['purpose/functions']);
  const looks = partly.facts.find(({ kind }) => kind === 'functions')?.evidence?.looks ?? [];
  assert.deepEqual(
    looks.filter(({ isMet }) => !isMet).map(({ name }) => name),
    ['upsert paper is there in 1', 'read paper is there in 1', 'press paper is there in 1'],
  );
});

test('an upsert in an older version that sets what it cannot see is a breach', async () => {
  const bend = (request: Bent): Partial<Bent> => {
    if (request.method !== 'PUT' || !isOlder(request)) return {};
    const text = JSON.stringify({ ...(JSON.parse(request.text) as object), finish: 'laid' });
    return { headers: { ...request.headers, 'papers-version': '2' }, text };
  };
  assert.deepEqual(toldBy(await verified(papers(), ['versioning/uses'])), []);
  assert.ok(toldBy(await verified(papers(), ['versioning/uses'], { bend })).includes('version identifiers: paper is replaced'));
});

/** Papers of which pressing takes two credentials at once; guests have one alone. */
const doubly = papers()
  .replace('users: { miller: Makes them. }', 'users: { miller: Makes them., guest: Looks at them. }')
  .replace(
    'POST /papers/{name}/press: { does: press paper }',
    'POST /papers/{name}/press: { does: press paper, accept: [[key, badge]] }',
  )
  .replace(
    'schemes: {',
    'accept: [key, badge]\n  schemes: { badge: { type: api_key, header: X-Badge, generate: "badge_{random:24}" },',
  )
  .replace('to: miller }]', 'to: miller }, { allow: [read paper], to: guest }]')
  .replace('payload: problem', 'payload: problem\n  order: [caller, user, accept, body, row, precondition, request, state]')
  .replace(
    'wrong: {',
    'who: { status: 401, when: caller.unknown }\n    not_you: { status: 403, when: caller.forbidden }\n    wrong: {',
  );

async function withBoth(service: Service): Promise<GivenCaller[]> {
  const all = [
    ['miller', 'key'],
    ['miller', 'badge'],
    ['guest', 'key'],
  ].map(async ([user = '', scheme = '']): Promise<GivenCaller> => {
    const id = `${user}-1`;
    const { secret } = (await service.administer('keys add', { user, id, scheme })) as { secret: string };
    return { user, id, scheme, credential: secret };
  });
  return Promise.all(all);
}

test('what takes two credentials at once is asked for with both in every version, and refused nobody by rules who has one alone', async () => {
  const stand = await openStand(doubly, { besides: withBoth });
  try {
    const callers = stand.callers.filter(({ id = '' }) => id.endsWith('-1'));
    const { breaches, facts } = await stand.verify({ callers, only: ['versioning/there', 'errors/order'], seed: 5 });
    assert.deepEqual(
      breaches.map(({ kind, reason, seen, found, promised }) => [kind, reason, seen, found, promised].join()),
      [],
    );
    const looks = facts.find(({ kind }) => kind === 'functions')?.evidence?.looks ?? [];
    assert.ok(looks.some(({ name, isMet }) => isMet && name === 'press paper is there in 1'));
  } finally {
    await stand.close();
  }
});

test('a name that callers choose, and that goes on after its pattern, is a breach where an upsert makes a row of it', async () => {
  const right = await verified(papers(), ['resources/named wrongly']);
  assert.deepEqual(toldBy(right), []);
  const looks = right.facts.find(({ kind, subject }) => kind === 'allowed values' && subject === 'paper.name')?.evidence?.looks;
  assert.ok(looks?.some(({ name, isMet }) => isMet && name === 'another name than it may have, refused at PUT /papers/{name}'));
  const served = papers().replace('{4,12}$', '{4,12}');
  const told = toldBy(await verified(papers(), ['resources/named wrongly'], { served }));
  assert.ok(told.includes('allowed values: another name than it may have, refused at PUT /papers/{name}'), told.join());
});

test('a credential of a scheme that is accepted elsewhere alone is not looked at, good or bad', async () => {
  const apart = doubly
    .replace('accept: [key, badge]', 'accept: [key]')
    .replace('to: guest }]', 'to: guest }, { allow: [read paper], to: anyone }]');
  const stand = await openStand(apart, { besides: withBoth });
  try {
    const callers = stand.callers.filter(({ id = '' }) => id.endsWith('-1'));
    const { breaches } = await stand.verify({
      callers,
      only: ['authentication/who is calling', 'authentication/beside'],
      seed: 5,
    });
    assert.deepEqual(
      breaches.map(({ kind, reason, seen, found, promised }) => [kind, reason, seen, found, promised].join()),
      [],
    );
  } finally {
    await stand.close();
  }
});
