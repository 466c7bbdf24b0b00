import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { FactVerdict, VerifyReport } from '../src/verify/report.ts';
import { type Bent, openStand, type Passing, type StandOptions } from './verify/stand.ts';
import { voyages } from './verify/voyages.ts';

const serve = { open: 'accept' } as const;

async function verified(only: readonly string[], options: StandOptions = {}): Promise<VerifyReport> {
  const stand = await openStand(voyages, { inPairs: true, serve, ...options });
  try {
    return await stand.verify({ only, seed: 3 });
  } finally {
    await stand.close();
  }
}

function verdictOf({ facts }: VerifyReport, name: string): FactVerdict {
  const found = facts.find(({ kind, subject }) => `${kind}:${subject}` === name);
  assert.ok(found, name);
  return found;
}

const missing = ({ evidence }: FactVerdict): string[] =>
  (evidence?.looks ?? []).filter(({ isMet }) => !isMet).map(({ name, why = '' }) => `${name} ${why}`);

describe('a service that keeps its document', () => {
  let told: VerifyReport;
  before(async () => {
    told = await verified([
      'resources/derived',
      'resources/there',
      'endpoints/lists',
      'endpoints/preconditions',
      'authentication/below',
    ]);
  });
  after(() =>
    assert.deepEqual(
      told.breaches.map(({ kind, subject, reason, seen }) => ({ kind, subject, reason, seen })),
      [],
    ),
  );

  test('rows are made that follow from a transition alone, once what its target asks for is there', () => {
    assert.match(missing(verdictOf(told, 'resources:service')).join(), /^$/);
    assert.equal(verdictOf(told, 'response payload shapes:GET /reports/{id}').verdict, 'held');
  });

  test('rows are made below a row that is in the state which the errors of its own ask for', () => {
    assert.deepEqual(missing(verdictOf(told, 'response payload shapes:GET /voyages/{voyage}/entries')), []);
  });

  test('a tag is looked at once what is derived of other rows has changed', () => {
    const looks = verdictOf(told, 'response payload shapes:GET /voyages/{id}').evidence?.looks ?? [];
    assert.deepEqual(
      looks.filter(({ name }) => /tag/.test(name)).map(({ isMet }) => isMet),
      [true, true],
    );
  });

  test('several changes with one tag are sent at once', () => {
    assert.deepEqual(missing(verdictOf(told, 'conditions:stale')), []);
  });

  test('a list below a row of somebody else is looked at', () => {
    assert.ok(!missing(verdictOf(told, 'permission rules:list entry')).some((look) => look.includes('below a row of others')));
  });
});

/** The list below a voyage that there is not to its reader is answered as an empty page. */
function emptyBelow({ target, status, headers }: Passing): Partial<Passing> {
  if (!/\/voyages\/voy_\w+\/entries/.test(target) || status !== 404) return {};
  return { status: 200, headers: { ...headers, 'content-type': 'application/json' }, text: '{"rows":[],"count":0}' };
}

test('an empty page below a row of somebody else is a breach', async () => {
  const { breaches } = await verified(['authentication/below'], { spoil: emptyBelow });
  assert.deepEqual(
    [...new Set(breaches.map(({ kind, subject, reason }) => `${kind}:${subject} ${reason}`))],
    ['permission rules:list entry below a row of others'],
  );
});

test('a tag that stays when what is derived of other rows changes is a breach', async () => {
  const spoil = ({ text, headers, method }: Passing): Partial<Passing> => {
    if (method !== 'GET' || headers.etag === undefined || !text.includes('"stage"')) return {};
    const { entries: _entries, ...row } = JSON.parse(text) as Record<string, unknown>;
    return { headers: { ...headers, etag: `"${Buffer.from(JSON.stringify(row)).toString('hex')}"` } };
  };
  const { breaches } = await verified(['resources/derived'], { spoil });
  assert.ok(breaches.some(({ kind, reason }) => kind === 'response payload shapes' && reason === 'ETag, apart'));
});

/** A tag that somebody has shown already is looked at no more. */
test('several changes with one tag that are all carried out are a breach', async () => {
  const used = new Set<string>();
  const bend = ({ method, headers }: Bent): Partial<Bent> => {
    const tag = String(headers['if-match']);
    if (method !== 'PATCH' || !used.has(tag)) used.add(tag);
    else if (/^"[^n]/.test(tag)) return { headers: { ...headers, 'if-match': '*' } };
    return {};
  };
  const { breaches } = await verified(['endpoints/preconditions'], { bend });
  assert.deepEqual(
    [...new Set(breaches.map(({ kind, subject, reason }) => `${kind}:${subject} ${reason}`))],
    ['conditions:stale If-Match, at once'],
  );
});

test('a transition into the same state that does not begin its time anew is a breach', async () => {
  const bend = ({ method, target }: Bent): Partial<Bent> =>
    method === 'POST' && target.endsWith('/renew') ? { method: 'GET', target: target.replace('/renew', ''), text: '' } : {};
  const { breaches } = await verified(['states/timed'], { bend });
  assert.ok(breaches.some(({ subject, reason }) => subject === 'voyage' && reason === 'lapse, begun anew by renew'));
});

test('times are compared as moments, whatever clock they are written by', async () => {
  const asText = ({ target, text, status }: Passing): Partial<Passing> => {
    const bound = /leaves_before=([^&]+)/.exec(target)?.[1];
    if (bound === undefined || status !== 200) return {};
    const body = JSON.parse(text) as { rows: { leaves: string }[]; count: number };
    const kept = body.rows.filter(({ leaves }) => leaves < decodeURIComponent(bound));
    return { text: JSON.stringify({ ...body, rows: kept, count: kept.length }) };
  };
  const { breaches } = await verified(['endpoints/lists'], { spoil: asText });
  assert.ok(breaches.some(({ kind, reason }) => kind === 'parameters' && /leaves_before/.test(reason)));
});
