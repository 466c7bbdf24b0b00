import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand, type StandOptions } from './verify/stand.ts';

/** A field that one user writes and sees, of rows that another one makes and lists. */
const document = `
title: Plays
purpose:
  purpose: Keeps plays.
  base_url: https://plays.example
  users: { hand: Makes plays., warden: Rates them. }
  functions: { keep: [create play, read play, list play, update play] }
resources:
  play:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      title: { type: string, minLength: 1, maxLength: 40 }
      rating: { enum: [a, b, c], visible: [warden], writable: [warden], required: false }
    required: [id, title]
states: { play: none }
endpoints:
  POST /plays: { does: create play }
  GET /plays: { does: list play }
  GET /plays/{id}: { does: read play }
  PATCH /plays/{id}: { does: update play }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "k_{random:24}", placeholder: "{key}" } }
  permissions:
    - { allow: [create play], to: hand }
    - { allow: [read play, list play, update play], to: [hand, warden] }
events: none
`;

async function verdictOn(stand: StandOptions): Promise<{ readonly verdict: string; readonly reasons: readonly string[] }> {
  const opened = await openStand(document, stand);
  try {
    const { breaches, facts } = await opened.verify({ only: ['resources/shown to'] });
    const fact = facts.find(({ kind, subject }) => kind === 'required flags' && subject === 'play.rating');
    return { verdict: `${fact?.verdict} ${fact?.why ?? ''}`, reasons: breaches.map(({ reason }) => reason) };
  } finally {
    await opened.close();
  }
}

test('a field that others write is looked for where it is hidden, in lists too', async () => {
  const right = await verdictOn({});
  assert.deepEqual(right, { verdict: 'held ', reasons: [] });
  const ratings = new Map<string, string>();
  const wrong = await verdictOn({
    spoil: ({ method, target, sent, text, status }) => {
      const id = /^\/plays\/([^/?]+)$/.exec(target)?.[1];
      if (method === 'PATCH' && id !== undefined && status === 200) ratings.set(id, JSON.parse(sent).rating);
      if (method !== 'GET' || id !== undefined || status !== 200 || !text.startsWith('[')) return {};
      const rows = JSON.parse(text) as { id: string }[];
      return {
        text: JSON.stringify(rows.map((row) => ({ ...row, ...(ratings.has(row.id) && { rating: ratings.get(row.id) }) }))),
      };
    },
  });
  assert.deepEqual([wrong.verdict, wrong.reasons.includes('hidden from a user at GET /plays')], ['broken ', true]);
});
