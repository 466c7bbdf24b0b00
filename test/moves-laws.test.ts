import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { openStore } from '../src/index.ts';
import { openSqlite } from '../src/store/sqlite/sqlite.ts';
import type { Store } from '../src/store/store.ts';
import { times } from './long.ts';
import { type Answered, type Tried, tryService } from './serving/tried.ts';
import { reluctant } from './stores/reluctant.ts';
import { type DrawnMachine, type DrawnTransition, drawnMachines, machinesOf } from './values/drawn-machines.ts';

const runs = { numRuns: Number(process.env.FC_RUNS ?? times(15, 60)) };

type Fields = Readonly<Record<string, unknown>>;

/** Somebody moves a machine to a state, changes the number with it or alone, or lets time pass. */
interface Deed {
  readonly machine: 0 | 1 | undefined;
  readonly to: number;
  readonly n: number | undefined;
  readonly minutes: number;
}

const deed: fc.Arbitrary<Deed> = fc.record({
  machine: fc.constantFrom(0, 0, 1, 1, undefined),
  to: fc.nat(2),
  n: fc.option(fc.integer({ min: 0, max: 4 }), { nil: undefined }),
  minutes: fc.constantFrom(0, 0, 0, 20, 61),
});

const path = '/things/a';
const row = async ({ send }: Tried) => (await send('GET', path)).json as Fields;

/** What a move is: its status and, where one transition alone leads to the state, the code of its refusal. */
const answerOf = ({ status, json }: Answered, ways: readonly DrawnTransition[]) => ({
  status: status < 300 ? 'done' : status,
  code: status >= 300 && ways.length === 1 ? (json as Fields).code : '',
});

/** The same by endpoints: what is sent besides goes before, and back where the transition is refused. */
async function moved(tried: Tried, way: DrawnTransition, n: number | undefined): Promise<Answered> {
  const before = await row(tried);
  const changed = n === undefined ? undefined : await tried.send('PATCH', path, { body: { n } });
  if (changed && changed.status >= 300) return changed;
  const answer = await tried.send('POST', `${path}/${way.name}`);
  if (changed && answer.status >= 300) await tried.send('PATCH', path, { body: { n: before.n } });
  return answer;
}

async function agree(
  machines: readonly DrawnMachine[],
  history: readonly Deed[],
  stores: readonly [Store, Store],
): Promise<void> {
  const [byUpdate, byEndpoint] = [
    await tryService(machinesOf(machines, true), { store: stores[0] }),
    await tryService(machinesOf(machines, false), { store: stores[1] }),
  ];
  const both = [byUpdate, byEndpoint];
  const same = async <T>(look: (tried: Tried, store: Store) => Promise<T>, why?: string) =>
    assert.deepEqual(await look(byUpdate, stores[0]), await look(byEndpoint, stores[1]), why);
  for (const { send } of both) assert.equal((await send('POST', '/things', { body: { id: 'a' } })).status, 201);
  for (const one of history) {
    for (const { clock, service } of both) {
      clock.advance(one.minutes * 60_000);
      await service.settled();
    }
    const now = await row(byUpdate);
    const machine = one.machine === undefined ? undefined : machines[one.machine];
    const to = machine && `${machine.field}${one.to}`;
    const ways = machine ? machine.transitions.filter((way) => way.to === to) : [];
    const way = machine && (ways.find(({ from }) => from.includes(String(now[machine.field]))) ?? ways[0]);
    const body = { ...(one.n !== undefined && { n: one.n }) };
    // An update to the state that the row is in is no move, and what nothing leads to has no endpoint.
    if (!machine || !way || now[machine.field] === to) {
      await same(async ({ send }) => (await send('PATCH', path, { body })).status);
    } else {
      const sent = await byUpdate.send('PATCH', path, { body: { ...body, [machine.field]: to } });
      const fired = await moved(byEndpoint, way, one.n);
      assert.deepEqual(answerOf(sent, ways), answerOf(fired, ways), `${way.name} ${sent.text} ${fired.text}`);
      if (sent.status < 300) assert.deepEqual(sent.json, fired.json);
      else assert.deepEqual(await row(byUpdate), now);
    }
    await same(row);
  }
  await same(async ({ send }) => (await send('GET', '/lines')).json);
  await same(async (_tried, store) => {
    const events = await store.read((rows) => rows.outbox.events(0, 1000));
    return events.map(({ kind, payload, atMs }) => ({ kind, atMs, payload: JSON.parse(payload) as unknown }));
  });
  for (const { failures, close } of both) {
    assert.deepEqual(failures, []);
    await close();
  }
  for (const store of stores) await store.close();
}

test('a machine that is moved by an update and one that is moved by endpoints agree, whatever it is', async () => {
  const opened = (isWaiting: boolean, seed: number) =>
    isWaiting ? reluctant(openSqlite(':memory:'), seed) : openStore(':memory:');
  const law = fc.asyncProperty(
    drawnMachines,
    fc.array(deed, { minLength: 5, maxLength: 20 }),
    fc.boolean(),
    fc.nat(99),
    (machines, history, isWaiting, seed) => agree(machines, history, [opened(isWaiting, seed), opened(isWaiting, seed + 1)]),
  );
  await fc.assert(law, runs);
});
