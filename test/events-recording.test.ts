import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { startReceiver } from './events/receiver.ts';
import { startTrial, type Trial, things } from './events/trial.ts';
import { times } from './long.ts';

const hour = 3_600_000;

function file(context: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'ninefold-events-'));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'store.sqlite');
}

/** All events, as kind and name of what they say. */
const events = (trial: Trial) =>
  trial.outbox((outbox) => {
    const all = [];
    for (let after = 0; ; ) {
      const page = outbox.events(after, 200);
      all.push(...page);
      after = page.at(-1)?.seq ?? after;
      if (page.length < 200) return all;
    }
  });

test('no event is there without its change, and no change without its event', async (context) => {
  const trial = await startTrial(
    context,
    things('', 'thing.dear: { on: [all thing], if: "has(next.cost) && next.cost > 10", payload: thing }'),
  );
  const model = new Map<string, { status: string; cost: number; madeMs: number }>();
  const expected: string[] = [];
  const told: string[] = [];
  let last = 0;
  // At once, since what is a week old goes.
  const collect = async () => {
    for (const { seq, kind, row } of await trial.outbox((outbox) => outbox.events(last, 1000))) {
      told.push(`${kind} ${row}`);
      last = seq;
    }
  };
  const note = (kind: string, id: string, cost: number, isStored = true) => {
    expected.push(`${kind} ${id}`);
    if (isStored && cost > 10) expected.push(`thing.dear ${id}`);
  };
  const act = fc.record({
    what: fc.constantFrom('make', 'bad', 'update', 'same', 'finish', 'delete', 'foreign', 'wait'),
    cost: fc.integer({ min: 0, max: 20 }),
    which: fc.nat(),
  });
  const acts = fc.array(act, { minLength: 1, maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(acts, async (list) => {
      for (const { what, cost, which } of list) {
        await collect();
        const id = [...model.keys()][which % Math.max(1, model.size)];
        const before = id === undefined ? undefined : model.get(id);
        if (what === 'make') {
          const { json } = await trial.send('clerk/c1', 'POST', '/things', { name: 'n', cost });
          model.set(json.id, { status: 'new', cost, madeMs: trial.clock.now() });
          note('thing.made', json.id, cost);
        } else if (what === 'bad') {
          assert.equal((await trial.send('clerk/c1', 'POST', '/things', { name: 3 })).status, 422);
        } else if (what === 'wait') {
          // Less than a week: what is older than that when it is recorded goes at once.
          trial.clock.advance(cost * 8 * hour);
          await trial.service.settled();
          for (const [key, row] of model)
            if (row.status === 'new' && trial.clock.now() - row.madeMs >= 30 * 24 * hour) {
              row.status = 'stale';
              note('thing.changed', key, row.cost);
            }
        } else if (!id || !before) continue;
        else if (what === 'update') {
          const { status } = await trial.send('clerk/c1', 'PATCH', `/things/${id}`, { cost });
          assert.equal(status, 200);
          if (cost !== before.cost) note('thing.changed', id, cost);
          before.cost = cost;
        } else if (what === 'same') await trial.send('clerk/c1', 'PATCH', `/things/${id}`, { cost: before.cost });
        else if (what === 'foreign') assert.equal((await trial.send('owner/o9', 'DELETE', `/things/${id}`)).status, 404);
        else if (what === 'finish') {
          const { status } = await trial.send('clerk/c1', 'POST', `/things/${id}/finish`);
          assert.equal(status, before.status === 'new' ? 200 : 409);
          if (status === 200) {
            before.status = 'done';
            note('thing.changed', id, before.cost);
          }
        } else if (what === 'delete') {
          assert.equal((await trial.send('clerk/c1', 'DELETE', `/things/${id}`)).status, 204);
          model.delete(id);
          note('thing.gone', id, 0, false);
        }
      }
      await collect();
      assert.deepEqual(told.sort(), [...expected].sort());
    }),
    { numRuns: times(8, 40) },
  );
});

test('a condition or payload that cannot be evaluated stores neither the change nor an event', async (context) => {
  const trial = await startTrial(
    context,
    things(
      '',
      'thing.rated: { on: [create thing], payload: { type: object, properties: { rate: integer }, required: [rate] }, data: { rate: "100 / (has(next.cost) ? next.cost : 1)" } }',
    ),
  );
  assert.equal((await trial.send('clerk/c1', 'POST', '/things', { name: 'a', cost: 0 })).status, 500);
  assert.equal((await events(trial)).length, 0);
  assert.equal((await trial.send('clerk/c1', 'POST', '/things', { name: 'a', cost: 4 })).status, 201);
  assert.deepEqual(
    (await events(trial)).map(({ kind }) => kind),
    ['thing.made', 'thing.rated'],
  );
  assert.equal((await events(trial))[1]!.payload, '{"rate":25}');
});

test('what goes with a deleted row is told of too, before the row', async (context) => {
  const trial = await startTrial(context, things());
  const thing = (await trial.send('owner/o1', 'POST', '/things', { name: 'a' })).json.id;
  for (const text of ['one', 'two']) await trial.send('owner/o1', 'POST', '/notes', { thing, text });
  await trial.send('owner/o1', 'DELETE', `/things/${thing}`);
  assert.deepEqual(
    (await events(trial)).slice(3).map(({ kind }) => kind),
    ['note.gone', 'note.gone', 'thing.gone'],
  );
});

test('what is derived of rows that are made with a row, or follow from it, is told as it is committed', async (context) => {
  const trial = await startTrial(
    context,
    `
purpose: { users: { clerk: Works. } }
resources:
  box:
    identifier: { field: id, generate: uuid }
    fields: { id: string, size: integer, state: { type: string, readOnly: true }, seats: { type: integer, derive: "count(seat.box)" }, free: { type: integer, derive: "resource.size - resource.seats" } }
    required: [id, size, state, seats, free]
    created: { then: { create: seat, each: "[1, 2, 3]", set: { box: next.id } } }
  seat:
    identifier: { field: id, generate: uuid }
    fields: { id: string, box: { ref: box, onDelete: cascade } }
    required: [id, box]
states: { box: { field: state, initial: open, states: [open, shut], transitions: { shut: { from: open, to: shut, then: { create: seat, set: { box: next.id } } } } } }
endpoints:
  POST /boxes: { does: create box }
  POST /boxes/{id}/shut: { does: shut box }
  DELETE /boxes/{id}: { does: delete box }
authentication: none
events:
  delivery: { stream: { path: GET /stream, format: sse, keep: 1h } }
  kinds:
    box.made: { on: [create box], payload: box }
    box.shut: { on: [shut box], if: "next.seats == 4", payload: { type: object }, data: { seats: next.seats, before: resource.seats } }
    box.gone: { on: [delete box], payload: box }
`,
  );
  const { id } = (await trial.send('clerk/c', 'POST', '/boxes', { size: 10 })).json;
  await trial.send('clerk/c', 'POST', `/boxes/${id}/shut`);
  await trial.send('clerk/c', 'DELETE', `/boxes/${id}`);
  assert.deepEqual(
    (await events(trial)).map(({ kind, payload }) => [kind, JSON.parse(payload)]),
    [
      ['box.made', { id, size: 10, state: 'open', seats: 3, free: 7 }],
      ['box.shut', { seats: 4, before: 3 }],
      ['box.gone', { id, size: 10, state: 'shut', seats: 4, free: 6 }],
    ],
  );
});

test('after a crash deliveries go on where they were, in order, with the same ids', async (context) => {
  const receiver = await startReceiver(context, 500);
  const path = file(context);
  const trial = await startTrial(context, things(), { path });
  await trial.send('owner/o1', 'POST', '/hooks', { url: receiver.url });
  const ids: string[] = [];
  for (let n = 0; n < 5; n++) ids.push((await trial.send('owner/o1', 'POST', '/things', { name: `n${n}` })).json.id);
  for (const id of ids) await trial.send('owner/o1', 'POST', `/things/${id}/finish`);
  await trial.service.settled();
  const tried = new Set(receiver.ids());
  assert.equal(tried.size, 5);
  await trial.restart();
  await trial.service.settled();
  receiver.react(200);
  await trial.advance(10_000);
  const accepted = receiver.received.slice(-10);
  assert.deepEqual(new Set(accepted.map(({ json }) => json.data.id)), new Set(ids));
  for (const id of ids) {
    const told = accepted.filter(({ json }) => json.data.id === id).map(({ json }) => json.type);
    assert.deepEqual(told, ['thing.made', 'thing.changed']);
  }
  const made = accepted.filter(({ json }) => json.type === 'thing.made').map(({ headers }) => String(headers['webhook-id']));
  assert.deepEqual(new Set(made), tried, 'the first tries had the same ids');
  assert.deepEqual(new Set((await events(trial)).map(({ id }) => id)), new Set(accepted.map(({ json }) => json.id)));
});

test('what was recorded and never begun before a crash is sent after it', async (context) => {
  const receiver = await startReceiver(context);
  const path = file(context);
  const trial = await startTrial(context, things(), { path });
  await trial.send('owner/o1', 'POST', '/hooks', { url: receiver.url });
  const sending = Array.from({ length: 50 }, (_, n) => trial.send('owner/o1', 'POST', '/things', { name: `n${n}` }));
  await Promise.all(sending);
  // The last of them were recorded in this turn, and nobody has looked at them yet.
  await trial.restart();
  await trial.service.settled();
  const names = new Set(receiver.received.map(({ json }) => json.data.name));
  assert.equal(names.size, 50);
});

test('what is done with goes after a week, a bounded number at a time, and what is still to be sent stays', async (context) => {
  const receiver = await startReceiver(context);
  const trial = await startTrial(
    context,
    things().replace('retry: [5s, 5m, 30m]', 'retry: [5s, 20d]').replace('disable_after: 5d', ''),
  );
  await trial.send('owner/o1', 'POST', '/hooks', { url: receiver.url });
  const make = () => trial.send('owner/o1', 'POST', '/things', { name: 'a' });
  await make();
  await trial.service.settled();
  receiver.react(500);
  await make();
  await trial.advance(10_000);
  await trial.advance(8 * 24 * hour);
  receiver.react(200);
  for (let n = 0; n < 6; n++) {
    await make();
    await trial.service.settled();
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const left = await events(trial);
  assert.equal(left.length, 7, 'the first went, the second is still to be sent');
  assert.equal(await trial.outbox((outbox) => outbox.deliveries({}, 100).length), 7);
  await trial.advance(24 * 24 * hour);
  assert.equal(receiver.received.filter(({ json }) => json.id === left[0]!.id).length, 3);
});

test('a store that cannot take a change leaves no event, and one that loses a settlement sends again', async (context) => {
  const receiver = await startReceiver(context);
  const trial = await startTrial(context, things());
  await trial.send('owner/o1', 'POST', '/hooks', { url: receiver.url });
  const change = trial.store.change.bind(trial.store);
  let failures = 0;
  Object.assign(trial.store, {
    change: (body: Parameters<typeof change>[0]) => {
      // Settling is the only change that no request asks for here.
      if (receiver.received.length === 1 && failures === 0) {
        failures += 1;
        return Promise.reject(new Error('the disk is full'));
      }
      return change(body);
    },
  });
  await trial.send('owner/o1', 'POST', '/things', { name: 'a' });
  await trial.service.settled();
  await trial.advance(2000);
  assert.equal(failures, 1);
  assert.equal(receiver.received.length, 2);
  assert.equal(new Set(receiver.ids()).size, 1);
  assert.equal(trial.failures.length, 1);
});

test('a service that stops writes down what its receivers have said, so that nothing is sent twice', async (context) => {
  const receiver = await startReceiver(context, (response) => void setTimeout(() => response.writeHead(200).end(), 30));
  const trial = await startTrial(context, things(), { path: file(context) });
  await trial.send('owner/o1', 'POST', '/hooks', { url: receiver.url });
  await trial.send('owner/o1', 'POST', '/things', { name: 'a' });
  while (receiver.received.length === 0) await new Promise((resolve) => setTimeout(resolve, 2));
  await trial.restart();
  await trial.service.settled();
  assert.equal(receiver.received.length, 1);
});
