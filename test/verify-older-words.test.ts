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
