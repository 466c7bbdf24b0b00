/** What old rows and waiting timers cost: starts over a large store, carrying its rows, a backup, timers that fall due together. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { check, type JsonMap, openStore, parseDocument, serve } from '../src/index.ts';
import { backUp, bringUp } from '../src/serve/service/stored/migrate.ts';
import { openSqlite } from '../src/store/sqlite/sqlite.ts';
import { exitCode, type Target, targetReport } from './targets.ts';
import { inTemporaryFolder } from './temporary-folder.ts';

/** Runs it and prints the report; gives the exit code. */
export async function run(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rows: { type: 'string', default: '1000000' },
      timers: { type: 'string', default: '20000' },
      rounds: { type: 'string', default: '3' },
      json: { type: 'string' },
      markdown: { type: 'boolean', default: false },
      strict: { type: 'boolean', default: false },
    },
  });
  const sizes = { rows: Number(values.rows), timers: Number(values.timers), rounds: Number(values.rounds) };
  const result = await inTemporaryFolder((folder) => measure(folder, sizes));
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(result, undefined, 2)}\n`);
  const over = `${sizes.rows.toLocaleString('en')} rows`;
  const targets: Target[] = [
    { what: `start over ${over}, nothing to carry`, bound: 'at most', value: 1, unit: 's', measured: result.startS },
    { what: `carrying ${over}, with a copy before`, bound: 'at most', value: 30, unit: 's', measured: result.carryS },
    { what: 'the same, in time of the processor', bound: 'at most', value: 30, unit: 's', measured: result.carryProcessorS },
    { what: `backup of ${over}, read once more`, bound: 'at most', value: 30, unit: 's', measured: result.backupS },
    { what: '99 of 100 timers, 1,000 due a second: late', bound: 'at most', value: 1, unit: 's', measured: result.lateS },
    {
      what: `timers that fall due together, beside ${askersCount} that ask: a second of the processor`,
      bound: 'at least',
      value: 5000,
      unit: '/s',
      measured: result.timersPerSecond,
    },
  ];
  console.log(`Node ${process.versions.node}; one process.\n`);
  console.log(targetReport(targets, values.markdown));
  return exitCode(targets, values.strict);
}

interface StoredRun {
  readonly startS: readonly number[];
  readonly carryS: readonly number[];
  readonly carryProcessorS: readonly number[];
  readonly backupS: readonly number[];
  readonly timersPerSecond: readonly number[];
  readonly lateS: readonly number[];
}

async function measure(
  folder: string,
  { rows, timers, rounds }: { readonly rows: number; readonly timers: number; readonly rounds: number },
): Promise<StoredRun> {
  const filled = join(folder, 'filled.sqlite');
  await fill(filled, rows);
  const startS: number[] = [];
  for (let round = 0; round < rounds; round++)
    startS.push(await seconds(async () => (await serve(parcels(1), { store: filled })).close()));
  const backupS: number[] = [];
  const carryS: number[] = [];
  const carryProcessorS: number[] = [];
  for (let round = 0; round < Math.min(rounds, 1); round++) {
    const copy = join(folder, `copy-${round}.sqlite`);
    backupS.push(await seconds(() => backUp(filled, copy)));
    carryProcessorS.push(await processorSeconds(async () => void carryS.push(await seconds(() => carry(copy)))));
  }
  const timersPerSecond: number[] = [];
  for (let round = 0; round < rounds; round++)
    timersPerSecond.push(timers / (await dueTogether(join(folder, `timers-${round}.sqlite`), timers)));
  const lateS = [await lateness(join(folder, 'late.sqlite'))];
  return { startS, carryS, carryProcessorS, backupS, timersPerSecond, lateS };
}

async function seconds(act: () => unknown): Promise<number> {
  const began = performance.now();
  await act();
  return (performance.now() - began) / 1000;
}

/** The same in time of the processor, which other work on the machine does not change. */
async function processorSeconds(act: () => unknown): Promise<number> {
  const began = process.cpuUsage();
  await act();
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1_000_000;
}

/** Parcels in their first version, or in the one that renames, maps, adds and renames values. */
function parcels(version: 1 | 2): JsonMap {
  const first = {
    id: 'string',
    to: 'string',
    weight: 'integer',
    price: 'number',
    kind: { enum: ['normal', 'fast'] },
    note: 'string',
  };
  const second = {
    id: 'string',
    to: 'string',
    weight_g: 'integer',
    price: 'integer',
    kind: { enum: ['plain', 'fast'] },
    note: 'string',
    service: 'string',
  };
  const fields = version === 1 ? first : second;
  const { note: _optional, ...required } = fields;
  const changes = [
    { rename: 'parcel.weight', to: 'weight_g' },
    { map: 'parcel.price', was: 'number', down: 'double(value) / 100.0', up: 'int(round(value * 100.0))' },
    { enum: 'parcel.kind', values: { normal: 'plain' } },
    { add: 'parcel.service', default: 'post' },
  ];
  return {
    title: 'Parcels',
    resources: { parcel: { identifier: { field: 'id', generate: '{ulid}' }, fields, required: Object.keys(required) } },
    endpoints: {
      'POST /parcels': { does: 'create parcel' },
      'GET /parcels': { does: 'list parcel', parameters: { kind: { in: 'query' } }, order: '-price' },
      'GET /parcels/{id}': { does: 'read parcel' },
    },
    authentication: 'none',
    versioning: {
      versions: version === 1 ? { v1: { current: true } } : { v1: {}, v2: { current: true } },
      select: { header: 'V', default: 'current' },
      ...(version === 2 && { changes: { v2: changes } }),
    },
  };
}

/** Through the store, as a service would: each row with its columns. */
async function fill(path: string, rows: number): Promise<void> {
  await (await serve(parcels(1), { store: path, rows: { parcel: [row(0)] } })).close();
  const store = openSqlite(path);
  const table = {
    name: 'parcel',
    columns: [
      { name: 'kind', type: 'text' as const, made: 'text' },
      { name: 'price', type: 'real' as const, made: 'number' },
    ],
    unique: [],
    indexes: [],
  };
  await store.prepare([table], () => []);
  for (let made = 1; made < rows; ) {
    await store.change((tx) => {
      for (let n = 0; n < 20_000 && made < rows; n++, made++) {
        const doc = row(made);
        tx.insert('parcel', { id: doc.id, entered: 0, doc: JSON.stringify(doc), columns: [doc.kind, doc.price] });
      }
    });
  }
  await store.close();
  // Makes the indexes of the document again.
  await (await serve(parcels(1), { store: path })).close();
}

function row(n: number) {
  const id = `01M7${String(n).padStart(22, '0')}`;
  return {
    id,
    to: `${n} Harbour Street, Newtown`,
    weight: 1 + (n % 30_000),
    price: (n % 5000) / 4,
    kind: n % 3 === 0 ? 'fast' : 'normal',
    note: 'Leave it at the door.',
  };
}

async function carry(path: string): Promise<void> {
  const { spec } = check(parseDocument(JSON.stringify(parcels(2)), 'parcels.json'));
  const store = openStore(path);
  const { renewed } = await bringUp(spec, store, { before: () => store.copyTo(`${path}.before`) });
  await store.close();
  if (renewed === 0) throw new Error('No row was carried.');
}

/** How many ask for one thing after the other while timers fire: three reads and a change in turn. */
const askersCount = 8;

/** Resolves once the last of the rows that are due together is gone. */
async function allGone(service: Awaited<ReturnType<typeof serve>>, timers: number): Promise<void> {
  const last = `http://127.0.0.1/offers/o${timers - 1}`;
  for (;;) {
    const { state } = (await (await service.fetch(new Request(last))).json()) as { readonly state: string };
    if (state === 'gone') return;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Rows that all expire at once beside requests, and how long it takes until they have. */
async function dueTogether(path: string, timers: number): Promise<number> {
  const document = {
    title: 'Offers',
    resources: {
      offer: {
        identifier: { field: 'id', generate: 'client' },
        fields: {
          id: 'string',
          state: { type: 'string', readOnly: true },
          at: { type: 'string', format: 'date-time', readOnly: true, set: { write: 'now' } },
        },
        required: ['id', 'state', 'at'],
      },
    },
    states: {
      offer: {
        field: 'state',
        initial: 'open',
        states: ['open', 'gone'],
        transitions: { expire: { from: 'open', to: 'gone', after: '1h' } },
      },
    },
    endpoints: { 'GET /offers/{id}': { does: 'read offer' }, 'POST /offers': { does: 'create offer' } },
    authentication: 'none',
  };
  let now = Date.now();
  const waiting = new Set<() => void>();
  const clock = {
    now: () => now,
    at(_ms: number, wake: () => void) {
      waiting.add(wake);
      return () => void waiting.delete(wake);
    },
  };
  const offers = Array.from({ length: timers }, (_, n) => ({ id: `o${n}` }));
  const service = await serve(document, { store: path, clock, rows: { offer: offers } });
  now += 3_700_000;
  let isDone = false;
  const asking = Array.from({ length: askersCount }, async (_, asker) => {
    for (let n = 0; !isDone; n++) {
      const isWrite = n % 4 === 0;
      const request = isWrite
        ? new Request('http://127.0.0.1/offers', {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({ id: `a${asker}-${n}` }),
          })
        : new Request(`http://127.0.0.1/offers/o${(n * 97) % timers}`);
      const { status } = await service.fetch(request);
      if (status !== (isWrite ? 201 : 200)) throw new Error(`A request beside the timers was answered ${status}.`);
      await new Promise((resolve) => setImmediate(resolve));
    }
  });
  const took = await processorSeconds(async () => {
    for (const wake of [...waiting]) wake();
    await allGone(service, timers);
  });
  isDone = true;
  await Promise.all(asking);
  await service.close();
  const store = openStore(path);
  const left = await store.due(now, 1);
  await store.close();
  if (left.length > 0) throw new Error('Not all timers fired.');
  return took;
}

/** How late timers fire of which 1,000 a second fall due for ten seconds, in seconds: the 99th of a hundred. */
async function lateness(path: string): Promise<number> {
  const bell = {
    identifier: { field: 'id', generate: 'client' },
    fields: {
      id: 'string',
      due: { type: 'string', format: 'date-time' },
      state: { type: 'string', readOnly: true },
      rung: { type: 'string', format: 'date-time', readOnly: true, set: { ring: 'now' } },
    },
    required: ['id', 'due', 'state'],
  };
  const document = {
    title: 'Bells',
    resources: { bell },
    states: {
      bell: {
        field: 'state',
        initial: 'on',
        states: ['on', 'off'],
        transitions: { ring: { from: 'on', to: 'off', at: 'resource.due' } },
      },
    },
    endpoints: { 'GET /bells': { does: 'list bell' }, 'POST /bells': { does: 'create bell' } },
    authentication: 'none',
    limits: { pagination: { style: 'none' } },
  };
  const bells = 10_000;
  const firstMs = Date.now() + 5000;
  const rows = Array.from({ length: bells }, (_, n) => ({ id: `b${n}`, due: new Date(firstMs + n).toISOString() }));
  const service = await serve(document, { store: path, rows: { bell: rows } });
  await delay(firstMs + bells + 2000 - Date.now());
  await service.settled();
  const listed = (await (await service.fetch(new Request('http://127.0.0.1/bells'))).json()) as readonly {
    due: string;
    rung?: string;
  }[];
  await service.close();
  const late = listed.map(({ due, rung }) => Date.parse(rung ?? '') - Date.parse(due)).sort((one, other) => one - other);
  if (late.length < bells || late.some((ms) => !(ms >= 0))) throw new Error('A timer did not fire, or fired early.');
  return late[Math.floor(late.length * 0.99)]! / 1000;
}
