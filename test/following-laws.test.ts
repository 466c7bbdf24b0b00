import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { openStore } from '../src/index.ts';
import { openSqlite } from '../src/store/sqlite/sqlite.ts';
import type { Store } from '../src/store/store.ts';
import { times } from './long.ts';
import { type Tried, tryService } from './serving/tried.ts';
import { reluctant } from './stores/reluctant.ts';
import { cellarOf, type DrawnCellar, drawnCellar } from './values/drawn-cellar.ts';
import { type Deed, No, Reckoning, type Rows } from './values/reckoned-cellar.ts';

const runs = { numRuns: Number(process.env.FC_RUNS ?? times(30, 80)) };

const name = fc.constantFrom('a', 'b', 'c', 'a', 'c', 'too long');
const deed: fc.Arbitrary<Deed> = fc.record({
  does: fc.constantFrom(
    'make crate',
    'change crate',
    'change crate',
    'open crate',
    'shut crate',
    'drop crate',
    'make box',
    'open box',
    'drop box',
  ),
  crate: fc.constantFrom('p', 'q'),
  box: fc.nat(3),
  names: fc.array(name, { minLength: 1, maxLength: 3 }),
});

type Outcome = 'done' | 'refused' | 'unfit';

/** What becomes of the rows, and of each deed, where they are done in this order. */
function reckoned(
  said: DrawnCellar,
  before: Rows,
  deeds: readonly Deed[],
): { readonly rows: Rows; readonly outcomes: Map<Deed, Outcome> } {
  const outcomes = new Map<Deed, Outcome>();
  let rows = before;
  for (const one of deeds) {
    const reckoning = new Reckoning(said, rows);
    try {
      reckoning.do(one, before.boxes[one.box]?.id ?? -1);
      rows = reckoning.rows;
      outcomes.set(one, 'done');
    } catch (no) {
      if (!(no instanceof No)) throw no;
      outcomes.set(one, no.why === 'unfit' ? 'unfit' : 'refused');
    }
  }
  return { rows, outcomes };
}

/** Without the numbers of the boxes: what was refused may have taken some. */
const told = ({ crates, boxes, lines }: Rows) => ({ crates, lines, boxes: boxes.map(({ id: _id, ...box }) => box) });

async function rowsOf({ send }: Tried): Promise<Rows> {
  const list = async (path: string) => (await send('GET', path)).json as never;
  const lines = (await list('/lines')) as readonly { readonly text: string }[];
  return { crates: await list('/crates'), boxes: await list('/boxes'), lines: lines.map(({ text }) => text) };
}

async function done({ send }: Tried, { does, crate, box, names }: Deed, { boxes }: Rows): Promise<Outcome> {
  const [method, path, body] = {
    'make crate': ['POST', '/crates', { id: crate, names }],
    'change crate': ['PATCH', `/crates/${crate}`, { names }],
    'open crate': ['POST', `/crates/${crate}/open`, undefined],
    'shut crate': ['POST', `/crates/${crate}/shut`, undefined],
    'drop crate': ['DELETE', `/crates/${crate}`, undefined],
    'make box': ['POST', `/crates/${crate}/boxes`, { name: names[0] }],
    'open box': ['POST', `/boxes/${boxes[box]?.id ?? 0}/open`, undefined],
    'drop box': ['DELETE', `/boxes/${boxes[box]?.id ?? 0}`, undefined],
  }[does] as [string, string, unknown];
  const { status } = await send(method, path, { body });
  return status < 300 ? 'done' : status < 500 ? 'refused' : 'unfit';
}

async function follows(said: DrawnCellar, history: readonly (readonly Deed[])[], store: Store): Promise<void> {
  const tried = await tryService(cellarOf(said), { store });
  let unfit = 0;
  const made: string[] = [];
  const start: Deed = { does: 'make crate', crate: 'p', box: 0, names: ['a', 'b'] };
  for (const deeds of [[start], ...history]) {
    const before = await rowsOf(tried);
    const answers = await Promise.all(deeds.map((one) => done(tried, one, before)));
    const now = await rowsOf(tried);
    // Those that are sent at once come in one order or the other.
    const ways = [deeds, deeds.toReversed()].map((way) => reckoned(said, before, way));
    const seen = { ...told(now), answers };
    const wanted = ways.map(({ rows, outcomes }) => ({ ...told(rows), answers: deeds.map((one) => outcomes.get(one)) }));
    if (!wanted.some((one) => isDeepStrictEqual(one, seen))) assert.deepEqual(seen, wanted[0]);
    unfit += answers.filter((one) => one === 'unfit').length;
    made.push(...now.lines.slice(before.lines.length));
  }
  const events = await store.read((rows) => rows.outbox.events(0, 10_000));
  assert.deepEqual(
    events.map(({ payload }) => (JSON.parse(payload) as { text: string }).text),
    made,
  );
  assert.equal(tried.failures.length, unfit);
  await tried.close();
  await store.close();
}

test('whatever follows from a change is stored with it, each act of it once, or nothing of it is', async () => {
  const history = fc.array(fc.array(deed, { minLength: 1, maxLength: 2 }), { minLength: 3, maxLength: 12 });
  const law = fc.asyncProperty(drawnCellar, history, fc.boolean(), fc.nat(99), (said, deeds, isWaiting, seed) =>
    follows(said, deeds, isWaiting ? reluctant(openSqlite(':memory:'), seed) : openStore(':memory:')),
  );
  await fc.assert(law, runs);
});
