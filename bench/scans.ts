/** What lists that no index answers cost others: over many rows, how long they take, and how long a request beside them waits. */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type JsonMap, serve } from '../src/index.ts';
import { openPostgres } from '../src/store/postgres/open.ts';
import { openSqlite } from '../src/store/sqlite/sqlite.ts';
import { makeDatabase } from '../test/stores/database.ts';
import { exitCode, type Target, targetReport } from './targets.ts';
import { inTemporaryFolder } from './temporary-folder.ts';

/** Runs it and prints the report; gives the exit code. */
export async function run(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rows: { type: 'string', default: '1000000' },
      lists: { type: 'string', default: '8' },
      store: { type: 'string' },
      markdown: { type: 'boolean', default: false },
      strict: { type: 'boolean', default: false },
    },
  });
  const [rows, lists] = [Number(values.rows), Number(values.lists)];
  const waits = await (values.store === 'postgres'
    ? inDatabase((address) => measure(address, rows, lists))
    : inTemporaryFolder((folder) => measure(join(folder, 'scans.sqlite'), rows, lists)));
  const over = `of ${rows.toLocaleString('en')} rows${values.store === 'postgres' ? ' in PostgreSQL' : ''}`;
  const targets: Target[] = waits.flatMap(({ what, tookS, waitedMs, byClockMs }) => [
    {
      what: `${what} ${over}: read beside it takes of the processor, at most`,
      bound: 'at most' as const,
      value: 50,
      unit: 'ms',
      measured: [waitedMs],
    },
    { what: `${what} ${over}: and by the clock`, bound: 'at most' as const, value: 50, unit: 'ms', measured: [byClockMs] },
    { what: `${what} ${over}: takes`, bound: 'at most' as const, value: 30, unit: 's', measured: [tookS] },
  ]);
  console.log(`Node ${process.versions.node}; one process.\n`);
  console.log(targetReport(targets, values.markdown));
  return exitCode(targets, values.strict);
}

interface Wait {
  readonly what: string;
  readonly tookS: number;
  /** What a read beside it waited at most, in time of the processor, which others on the machine do not change. */
  readonly waitedMs: number;
  /** And by the clock, with what the database takes in a process of its own. */
  readonly byClockMs: number;
}

const notes: JsonMap = {
  title: 'Notes',
  resources: {
    note: {
      identifier: { field: 'id', generate: 'client' },
      fields: { id: 'string', text: 'string', stars: 'integer', shelf: 'string' },
      required: ['id', 'text', 'stars', 'shelf'],
    },
  },
  endpoints: {
    'GET /notes': {
      does: 'list note',
      parameters: {
        q: { in: 'query', filters: 'text', op: 'contains' },
        sort: { in: 'query', enum: ['stars', '-stars', 'text'], sorts: true },
      },
    },
    'GET /notes/{id}': { does: 'read note' },
    'GET /shelves/{shelf}/notes': {
      does: 'list note',
      as: 'list notes of a shelf',
      parameters: { q: { in: 'query', filters: 'text', op: 'contains' } },
    },
    'GET /all': {
      does: 'list note',
      as: 'list all notes',
      pagination: { style: 'none' },
      parameters: { sort: { in: 'query', enum: ['text'], sorts: true } },
    },
  },
  authentication: 'none',
  limits: {
    pagination: { style: 'page', page: 'page', size: 'size', default: 20, max: 100, items: 'data', total: 'total' },
  },
};

async function measure(path: string, rows: number, lists: number): Promise<readonly Wait[]> {
  await fill(path, rows);
  const service = await serve(notes, { store: path });
  const get = async (target: string): Promise<number> => {
    const response = await service.fetch(new Request(`http://127.0.0.1${target}`));
    // Taken as it comes, so that what is measured is the service.
    if (response.body) for await (const _ of response.body);
    return response.status;
  };
  await get('/notes/n7');
  const asked: readonly (readonly [string, readonly string[]])[] = [
    ['a filter that finds nothing', ['/notes?q=nowhere']],
    ['a filter, sorted by what has no index', ['/notes?q=9&sort=text']],
    ['the middle of pages by number', [`/notes?page=${Math.floor(rows / 40)}`]],
    ['a filter among the 2 % that an index leads to', ['/shelves/s7/notes?q=nowhere']],
    ['all of them in one answer', ['/all']],
    ['all of them in one answer, sorted', ['/all?sort=text']],
    [`${lists} filters at once`, Array.from({ length: lists }, (_, n) => `/notes?q=nowhere${n}&sort=-stars`)],
  ];
  const waits: Wait[] = [];
  for (const [what, targets] of asked) waits.push({ what, ...(await beside(get, targets)) });
  await service.close();
  return waits;
}

/** Asks for lists, and for one row again and again until they are there: how long it waits. */
async function beside(get: (target: string) => Promise<number>, targets: readonly string[]) {
  const began = performance.now();
  let isDone = false;
  const all = Promise.all(targets.map(get)).then((statuses) => {
    isDone = true;
    if (statuses.some((status) => status !== 200)) throw new Error(`A list was answered ${statuses}.`);
  });
  let waitedMs = 0;
  let byClockMs = 0;
  while (!isDone) {
    const asked = process.cpuUsage();
    const askedAt = performance.now();
    await new Promise((resolve) => setImmediate(resolve));
    await get('/notes/n7');
    const { user, system } = process.cpuUsage(asked);
    waitedMs = Math.max(waitedMs, (user + system) / 1000);
    byClockMs = Math.max(byClockMs, performance.now() - askedAt);
  }
  await all;
  return { tookS: (performance.now() - began) / 1000, waitedMs, byClockMs };
}

/** A database for the run alone, on the server of the tests. */
async function inDatabase<T>(work: (address: string) => Promise<T>): Promise<T> {
  const { address, drop } = await makeDatabase();
  try {
    return await work(address);
  } finally {
    await drop();
  }
}

async function fill(path: string, rows: number): Promise<void> {
  await (await serve(notes, { store: path })).close();
  const store = path.startsWith('postgres:') ? openPostgres(path) : openSqlite(path);
  const columns = [
    { name: 'shelf', type: 'text' as const, made: 'text' },
    { name: 'stars', type: 'integer' as const, made: 'integer' },
    { name: 'text', type: 'text' as const, made: 'text' },
  ];
  await store.prepare([{ name: 'note', columns, unique: [], indexes: [] }], () => []);
  const insert = (from: number, to: number) =>
    store.change((tx) => {
      for (let made = from; made < to; made++) {
        const doc = {
          id: `n${made}`,
          text: `${made} Harbour Street, Newtown; leave it at the door`,
          stars: made % 5000,
          shelf: `s${made % 50}`,
        };
        tx.insert('note', { id: doc.id, entered: 0, doc: JSON.stringify(doc), columns: [doc.shelf, doc.stars, doc.text] });
      }
    });
  for (let made = 0; made < rows; made += 20_000) {
    const end = Math.min(made + 20_000, rows);
    await Promise.all(
      Array.from({ length: Math.ceil((end - made) / 10) }, (_, n) => insert(made + 10 * n, Math.min(end, made + 10 * n + 10))),
    );
  }
  await store.close();
  // Makes the columns and indexes of the document again.
  await (await serve(notes, { store: path })).close();
}
