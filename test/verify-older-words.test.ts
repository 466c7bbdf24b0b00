import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { VerifyReport } from '../src/verify/report.ts';
import { looms } from './verify/looms.ts';
import { type Bent, openStand, type Passing, type StandOptions } from './verify/stand.ts';

const serve = { open: 'accept' } as const;

async function verified(only: readonly string[], options: StandOptions = {}): Promise<VerifyReport> {
  const stand = await openStand(looms, { inPairs: true, secondScheme: 'badge', serve, ...options });
  try {
    return await stand.verify({ only, seed: 5 });
  } finally {
    await stand.close();
  }
}

const toldBy = ({ breaches }: VerifyReport): string[] =>
  [...new Set(breaches.map(({ kind, subject, reason }) => `${kind}:${subject} ${reason}`))].sort();

const isOlder = (headers: Bent['headers']): boolean => headers['looms-version'] === '1';

test('what is done in older words by a service that keeps its document is looked at, and no breach', async () => {
  const report = await verified(['versioning/uses', 'versioning/shapes']);
  assert.deepEqual(toldBy(report), []);
  const versions = report.facts.find(({ kind }) => kind === 'version identifiers');
  assert.deepEqual(
    (versions?.evidence?.looks ?? []).filter(({ isMet }) => !isMet),
    [],
  );
});

/** Requests in the older version that are carried out in the newest, as somebody forgot it there. */
const forgotten: readonly (readonly [what: string, is: (request: Bent) => boolean, reason: string])[] = [
  [
    'a list',
    ({ method, target }) => method === 'GET' && /\/cloths\?/.test(target) && !target.includes('dye='),
    'cloth is listed',
  ],
  ['a filter', ({ target }) => target.includes('dye=blue'), 'dye filters'],
];

for (const [what, is, reason] of forgotten) {
  test(`${what} of an older version that speaks in newer words is a breach`, async () => {
    const bend = (request: Bent): Partial<Bent> =>
      isOlder(request.headers) && is(request) ? { headers: { ...request.headers, 'looms-version': '2' } } : {};
    assert.ok(toldBy(await verified(['versioning/uses'], { bend })).includes(`version identifiers:service ${reason}`));
  });
}

test('a replacement in an older version that resets what it cannot see is a breach', async () => {
  const bend = ({ method, headers, text }: Bent): Partial<Bent> => {
    if (method !== 'PUT' || !isOlder(headers)) return {};
    const { name, dye, ...rest } = JSON.parse(text) as Record<string, unknown>;
    const newer = { ...rest, title: name, ...(dye === undefined ? {} : { dye: dye === 'blue' ? 'indigo' : dye }) };
    return { headers: { ...headers, 'looms-version': '2' }, text: JSON.stringify(newer) };
  };
  assert.ok(toldBy(await verified(['versioning/uses'], { bend })).includes('version identifiers:service cloth is replaced'));
});

test('an older word that is refused in its own version is a breach', async () => {
  const spoil = ({ method, sent, status }: Passing): Partial<Passing> =>
    method === 'POST' && status === 201 && sent.includes('"blue"')
      ? {
          status: 422,
          text: JSON.stringify({ type: 'about:blank', title: 'Unprocessable Content', status: 422, code: 'invalid' }),
        }
      : {};
  assert.ok(toldBy(await verified(['versioning/shapes'], { spoil })).includes('version identifiers:service cloth is taken'));
});

test('of two credentials one that is not good is a breach where the other one alone is looked at', async () => {
  assert.deepEqual(toldBy(await verified(['authentication/beside'])), []);
  const bend = ({ headers }: Bent): Partial<Bent> => {
    const { 'x-badge': badge, ...others } = headers;
    return badge !== undefined && headers['x-key'] !== undefined ? { headers: others } : {};
  };
  assert.ok(
    toldBy(await verified(['authentication/beside'], { bend })).includes('schemes:service a bad credential beside a good one'),
  );
});

/** A word that was called otherwise, of which a rule over two fields allows less. */
const parcels = `title: Parcels
purpose: { purpose: Weighs parcels., users: { packer: Packs them. } }
resources:
  parcel:
    identifier: { field: id, generate: uuid }
    fields:
      id: { type: string, readOnly: true }
      kind: { enum: [box, letter] }
      grams: { type: integer, minimum: 30, maximum: 50000 }
    required: [id, kind]
    rules: { light: { if: "next.kind == 'letter' && has(next.grams) && next.grams > 20", field: grams } }
states: { parcel: none }
endpoints:
  POST /parcels: { does: create parcel }
  GET /parcels/{id}: { does: read parcel }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "key_{random:24}" } }
  permissions: [{ allow: all parcel, to: packer }]
events: none
errors: { payload: problem, codes: { wrong: { status: 422, when: request.invalid }, missing: { status: 404, when: resource.missing } } }
limits: { rate: none }
versioning:
  versions: { "1": {}, "2": { current: true } }
  select: { header: Parcels-Version, default: current }
  guarantee: additive
  changes: { "1": none, "2": [{ enum: parcel.kind, values: { note: letter } }] }
`;

test('a word of an older version is sent with nothing beside it that a rule over both does not allow', async () => {
  let notes = 0;
  const spoil = ({ sent, status }: Passing): Partial<Passing> => {
    if (sent.includes('"note"') && status === 201) notes += 1;
    return {};
  };
  const stand = await openStand(parcels, { spoil });
  try {
    assert.deepEqual(toldBy(await stand.verify({ only: ['versioning/shapes'] })), []);
    assert.ok(notes > 0, 'it was sent, and taken');
  } finally {
    await stand.close();
  }
});
