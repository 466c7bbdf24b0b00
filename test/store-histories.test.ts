/** What a change sees and leaves, whatever an engine delays, keeps in memory or writes together, held to plain maps. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { NewEvent } from '../src/store/outbox.ts';
import type { NewRow, Store, Transaction } from '../src/store/store.ts';
import { engines, noRows, table } from './store-engines.ts';

const seats = table('seat', ['level:integer'], { indexes: [['level']] });
const tables = [seats, table('guest', ['name:text'], { unique: ['name'] })];
const ids = ['a', 'b', 'c'] as const;
const keys = ['k', 'l'] as const;
const atLevel = { table: 'seat', where: { op: '=', left: { column: 'level' }, right: { param: 0 } } } as const;

interface Model {
  readonly seats: Map<string, number>;
  readonly guests: Set<string>;
  readonly records: Map<string, string>;
  readonly events: string[];
}

const seat = (id: string, level: number): NewRow => ({ id, entered: 0, doc: JSON.stringify({ id, level }), columns: [level] });
const guest = (id: string): NewRow => ({ id, entered: 0, doc: JSON.stringify({ id }), columns: [id] });
const event = (id: string): NewEvent => ({
  id,
  kind: 'sat',
  atMs: 0,
  operation: 'sit',
  resource: 'seat',
  row: null,
  payload: '{}',
  image: null,
});

/** What an engine may delay, and what has to see it, come more often than the rest. */
const acts = {
  put: 4,
  keep: 4,
  get: 4,
  record: 4,
  event: 3,
  text: 1,
  find: 1,
  all: 1,
  count: 1,
  scan: 1,
  guest: 1,
  remove: 1,
} as const;
type Act = keyof typeof acts;

const step = fc.record({
  act: fc.oneof(...Object.entries(acts).map(([act, weight]) => ({ arbitrary: fc.constant(act as Act), weight }))),
  id: fc.constantFrom(...ids),
  key: fc.constantFrom(...keys),
  level: fc.nat(2),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;
/** True in one case of four. */
const seldom = fc.nat(3).map((one) => one === 0);
const change = fc.record({ steps: fc.array(step, { maxLength: 6 }), throws: seldom, waits: seldom });

/** Does one step, and says what was seen. */
function does(tx: Transaction, { act, id, key, level }: Step, eventId: () => string): unknown {
  if (act === 'put') return tx[tx.get('seat', id) ? 'update' : 'insert']('seat', seat(id, level)).doc;
  if (act === 'remove') return tx.remove('seat', id);
  if (act === 'guest') return tx.get('guest', id) ? tx.update('guest', guest(id)).id : tx.insert('guest', guest(id)).id;
  if (act === 'keep') return tx.keep(key, { fingerprint: id, body: String(level), expiresMs: Number.MAX_SAFE_INTEGER });
  if (act === 'event') return void tx.outbox.addEvent(event(eventId()));
  if (act === 'get') return tx.get('seat', id)?.doc;
  if (act === 'text') return tx.text('seat', id)?.doc;
  if (act === 'all') return tx.all(atLevel, [level]).map((row) => row.id);
  if (act === 'count') return tx.count(atLevel, [level]);
  if (act === 'scan') return tx.scan('seat', 0, 10).map(({ doc }) => doc);
  if (act === 'record') return tx.record(key, 1)?.body;
  return tx.outbox.events(0, 1000).map((one) => one.id);
}

/** The same on plain maps; a map keeps its members in the order in which they were made, as a table does. */
function reckon(model: Model, { act, id, key, level }: Step, eventId: () => string): unknown {
  const doc = (one: string) => (model.seats.has(one) ? seat(one, model.seats.get(one)!).doc : undefined);
  if (act === 'put') {
    model.seats.set(id, level);
    return doc(id);
  }
  if (act === 'remove') return void model.seats.delete(id);
  if (act === 'guest') return model.guests.add(id) && id;
  if (act === 'keep') return void model.records.set(key, String(level));
  if (act === 'event') return void model.events.push(eventId());
  if (act === 'get' || act === 'text') return doc(id);
  if (act === 'scan') return [...model.seats.keys()].map(doc);
  if (act === 'record') return model.records.get(key);
  if (act === 'find') return [...model.events];
  const found = [...model.seats].filter(([, one]) => one === level).map(([one]) => one);
  return act === 'all' ? found : found.length;
}

const copyOf = ({ seats, guests, records, events }: Model): Model => ({
  seats: new Map(seats),
  guests: new Set(guests),
  records: new Map(records),
  events: [...events],
});

async function whole(store: Store): Promise<Model> {
  return store.read((reader) => ({
    seats: new Map(reader.scan('seat', 0, 10).map(({ doc }) => [JSON.parse(doc).id, JSON.parse(doc).level])),
    guests: new Set(reader.scan('guest', 0, 10).map(({ id }) => id)),
    records: new Map(keys.map((key) => [key, reader.record(key, 1)?.body ?? ''])),
    events: reader.outbox.events(0, 1000).map(({ id }) => id),
  }));
}

for (const engine of engines)
  test(`${engine.name}: each change sees what those before it and it itself did, and one that throws leaves nothing`, async (context) => {
    const { store } = await engine.open(context);
    await store.prepare(tables, noRows);
    let last = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 8 }), async (changes) => {
        await store.change((tx) => tx.clear());
        assert.equal(await store.read((reader) => reader.record('k', 1)), undefined);
        for (const key of keys) await store.change((tx) => tx.keep(key, { fingerprint: '', body: '0', expiresMs: 9e15 }));
        let model: Model = { seats: new Map(), guests: new Set(), records: new Map(keys.map((key) => [key, '0'])), events: [] };
        const done: Promise<unknown>[] = [];
        const expected: unknown[] = [];
        for (const { steps, throws, waits } of changes) {
          const named = steps.map(() => `e${++last}`);
          const after = copyOf(model);
          const seen = steps.map((one, at) => reckon(after, one, () => named[at]!));
          if (!throws) model = after;
          expected.push(throws ? 'no' : JSON.stringify(seen));
          const changed = store.change((tx) => {
            const found = steps.map((one, at) => does(tx, one, () => named[at]!));
            if (throws) throw new Error('no');
            return JSON.stringify(found);
          });
          done.push(changed.catch((error: Error) => error.message));
          if (waits) await changed.catch(() => {});
        }
        assert.deepEqual(await Promise.all(done), expected);
        assert.deepEqual(await whole(store), model);
      }),
      { numRuns: 300 },
    );
  });
