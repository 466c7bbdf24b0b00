import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { startReceiver } from './events/receiver.ts';
import { startTrial, type Trial, things } from './events/trial.ts';

type Told = { readonly [name: string]: unknown; readonly delivery: number; readonly attempts: { readonly status?: number }[] };

async function sent(context: TestContext) {
  const receiver = await startReceiver(context, 500);
  const folder = mkdtempSync(join(tmpdir(), 'ninefold-events-'));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const trial = await startTrial(context, things().replace('retry: [5s, 5m, 30m]', 'retry: [5s]'), {
    path: join(folder, 'store.sqlite'),
  });
  await trial.send('owner/o1', 'POST', '/hooks', { url: receiver.url });
  await trial.send('owner/o1', 'POST', '/things', { name: 'a' });
  await trial.advance(10_000);
  receiver.react(200);
  await trial.send('owner/o1', 'POST', '/things', { name: 'b' });
  await trial.service.settled();
  return { receiver, trial };
}

const ask = (trial: Trial, command: string, input = {}) => trial.service.administer(command, input) as Promise<unknown>;

test('deliveries are listed with every attempt, by their number and by their event', async (context) => {
  const { trial } = await sent(context);
  const list = (await ask(trial, 'deliveries list')) as Told[];
  assert.deepEqual(
    list.map(({ state, tries, last, kind }) => [state, tries, last, kind]),
    [
      ['accepted', 1, '200', 'thing.made'],
      ['given up', 2, '500', 'thing.made'],
    ],
  );
  const failed = (await ask(trial, 'deliveries list', { failed: true })) as Told[];
  assert.deepEqual(
    failed.map(({ delivery }) => delivery),
    [list[1]!.delivery],
  );
  const shown = (await ask(trial, 'deliveries show', { id: String(list[1]!.delivery) })) as Told[];
  assert.deepEqual(
    shown[0]!.attempts.map(({ status }) => status),
    [500, 500],
  );
  assert.deepEqual(await ask(trial, 'deliveries show', { id: list[1]!.event }), shown);
  assert.ok(!JSON.stringify([list, shown]).includes('whsec_'));
  for (const id of ['999999999', 'evt_none', '', undefined])
    await assert.rejects(ask(trial, 'deliveries show', { ...(id !== undefined && { id }) }), /Say which|There is no delivery/);
});

test('a delivery is sent again at once, under its old id, one of them or all that were given up', async (context) => {
  const { receiver, trial } = await sent(context);
  const [accepted, failed] = (await ask(trial, 'deliveries list')) as Told[];
  const before = receiver.received.length;
  assert.deepEqual(await ask(trial, 'deliveries resend', { failed: true }), { resent: [failed!.delivery], running: true });
  await trial.service.settled();
  assert.deepEqual(await ask(trial, 'deliveries resend', { id: accepted!.event }), {
    resent: [accepted!.delivery],
    running: true,
  });
  await trial.service.settled();
  assert.deepEqual(receiver.ids().slice(before), [failed!.event, accepted!.event]);
  assert.deepEqual(await ask(trial, 'deliveries list', { failed: true }), []);
  const [shown] = (await ask(trial, 'deliveries show', { id: failed!.event })) as Told[];
  assert.deepEqual(
    shown!.attempts.map(({ status }) => status),
    [500, 500, 200],
  );
});

test('the data of a service that does not run is worked on by itself, and what is sent again goes out when it starts', async (context) => {
  const { receiver, trial } = await sent(context);
  const before = receiver.received.length;
  const { compileAdmin } = await import('../src/serve/service/admin/administer.ts');
  await trial.service.close();
  const over = { store: trial.store, clock: trial.clock, spec: () => assert.fail('not needed') } as never;
  const told = (await compileAdmin(over)('deliveries resend', { failed: true })) as { resent: number[]; running: boolean };
  assert.deepEqual([told.resent.length, told.running], [1, false]);
  await trial.restart();
  await trial.service.settled();
  assert.equal(receiver.received.length, before + 1);
});
