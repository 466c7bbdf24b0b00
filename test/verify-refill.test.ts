import assert from 'node:assert/strict';
import { test } from 'node:test';
import { notes } from './verify/notes.ts';
import { openStand, type StandOptions } from './verify/stand.ts';

/** The notes, of which so many may be made a day. */
function scarce(limit: number): string {
  return notes
    .replace('  quota: none', `  quota: [{ per: everyone, on: [create note], limit: ${limit}, window: day, zone: UTC }]`)
    .replace('    late: {', '    used_up: { status: 429, when: limit.quota }\n    late: {');
}

/** The facts that a limit kept from being looked at, by the reasons that are told. */
async function hindered(
  document: string,
  more: { readonly clockUrl?: undefined } = {},
  options: StandOptions = {},
): Promise<string[]> {
  const stand = await openStand(document, options);
  try {
    // The cast holds: without an address of a clock there is none.
    const report = await stand.verify({ only: ['resources'], ...(more as object) });
    assert.deepEqual(report.breaches, []);
    return report.facts.filter(({ why }) => why?.includes('429')).map(({ kind, subject }) => `${kind} (${subject})`);
  } finally {
    await stand.close();
  }
}

test('a quota that is used up is waited for where the clock can be moved', async () => {
  assert.deepEqual(await hindered(scarce(12)), []);
});

test('what a quota kept from being looked at is told, where the clock goes by itself', async () => {
  assert.ok((await hindered(scarce(2), { clockUrl: undefined })).length > 0);
});

test('a rate that does not say how long to wait is waited for until its window is over', async () => {
  const hurried = notes
    .replace('  rate: none', '  rate: [{ per: everyone, limit: 15, window: 2s, kind: fixed }]')
    .replace('    late: {', '    slow_down: { status: 429, when: limit.rate }\n    late: {');
  const spoil: StandOptions['spoil'] = ({ headers: { 'retry-after': _retryAfter, ...headers } }) => ({ headers });
  assert.deepEqual(await hindered(hurried, {}, { spoil }), []);
});
