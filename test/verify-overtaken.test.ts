import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand, type Passing } from './verify/stand.ts';

/** Visits of which the clock reminds at a time, and which are over at another. */
const visits = (remindAt: string, endsAt: string) => `
title: Visits
resources:
  visit:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      note: { type: string, minLength: 1, maxLength: 20 }
      status: { type: string, readOnly: true }
      remind_at: { type: string, format: date-time, readOnly: true, set: { create: "${remindAt}" } }
      ends_at: { type: string, format: date-time, readOnly: true, set: { create: "${endsAt}" } }
      reminders: { type: integer, readOnly: true, default: 0, set: { remind: resource.reminders + 1 } }
    required: [id, status, remind_at, ends_at, reminders]
states:
  visit:
    field: status
    initial: asked
    states: [asked, agreed, over, cancelled]
    transitions:
      agree: asked -> agreed
      cancel: agreed -> cancelled
      remind: { from: agreed, to: agreed, at: resource.remind_at }
      miss: { from: agreed, to: over, at: resource.ends_at }
endpoints:
  POST /visits: { does: create visit }
  GET /visits/{id}: { does: read visit }
  PATCH /visits/{id}: { does: update visit, in: [asked, over] }
  POST /visits/{id}/agree: { does: agree visit }
  POST /visits/{id}/cancel: { does: cancel visit }
authentication: none
events: none
limits: { rate: none, pagination: none }
versioning: none
`;

/** As though the clock had reminded of each visit between the first look at it in a state and the next. */
function remindedInBetween(): (passing: Passing) => Partial<Passing> {
  const looks = new Map<string, number>();
  return ({ method, target, status, text }) => {
    if (method !== 'GET' || status !== 200) return {};
    const row = JSON.parse(text);
    if (row.status !== 'agreed') return {};
    const seen = looks.get(target) ?? 0;
    looks.set(target, seen + 1);
    return seen === 0 ? {} : { text: JSON.stringify({ ...row, reminders: row.reminders + 1 }) };
  };
}

const [past, later] = ["now - duration('24h')", "now + duration('240h')"];

async function told(text: string, spoil?: (passing: Passing) => Partial<Passing>): Promise<string[]> {
  const served = text.replace(/^ {6}remind:.*\n/m, '').replace(/, set: \{ remind: .*? \}/, '');
  const stand = await openStand(text, spoil && { served, spoil });
  try {
    const { breaches, unsteady } = await stand.verify({ only: ['states', 'resources'], requests: 400 });
    return [...breaches, ...unsteady].map(({ subject, reason }) => `${subject} ${reason}`);
  } finally {
    await stand.close();
  }
}

test('what the clock was to do by then is not taken for the doing of a call, or of a refused one', async () => {
  const all = await told(visits(past, later), remindedInBetween());
  assert.deepEqual(
    all.filter((one) => !one.includes('remind')),
    [],
  );
});

test('what changes while the clock had nothing to do is told', async () => {
  const all = await told(visits(later, later), remindedInBetween());
  assert.ok(all.includes('visit refused, unchanged'), all.join('; '));
});

test('rows that the clock takes on at once are no fault of the service', async () => {
  assert.deepEqual(await told(visits(past, past)), []);
});
