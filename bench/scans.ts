/** What lists that no index answers cost others: over many rows, how long they take, and how long a request beside them waits. */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type JsonMap, serve } from '../src/index.ts';
import { openSqlite } from '../src/store/sqlite/sqlite.ts';
import { exitCode, type Target, targetReport } from './targets.ts';
import { inTemporaryFolder } from './temporary-folder.ts';

/** Runs it and prints the report; gives the exit code. */
export async function run(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rows: { type: 'string', default: '1000000' },
      lists: { type: 'string', default: '8' },
      markdown: { type: 'boolean', default: false },
      strict: { type: 'boolean', default: false },
    },
  });
  const [rows, lists] = [Number(values.rows), Number(values.lists)];
  const waits = await inTemporaryFolder((folder) => measure(join(folder, 'scans.sqlite'), rows, lists));
  const over = `of ${rows.toLocaleString('en')} rows`;
  const targets: Target[] = waits.flatMap(({ what, tookS, waitedMs }) => [
    {
      what: `${what} ${over}: read beside it waits, at most`,
      bound: 'at most' as const,
      value: 50,
      unit: 'ms',
      measured: [waitedMs],
    },
    { what: `${what} ${over}: takes`, bound: 'at most' as const, value: 30, unit: 's', measured: [tookS] },
  ]);
  console.log(`Node ${process.versions.node}; one process.\n`);
  console.log(targetReport(targets, values.markdown));
  return exitCode(targets, values.strict);
}

interface Wait {
  readonly what: string;
  readonly tookS: number;
  readonly waitedMs: number;
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

/** Asks for lists, and for one row again and again until they are there: what it waits is the processor's time, which others on the machine do not change. */
async function beside(get: (target: string) => Promise<number>, targets: readonly string[]) {
  const began = performance.now();
  let isDone = false;
  const all = Promise.all(targets.map(get)).then((statuses) => {
    isDone = true;
    if (statuses.some((status) => status !== 200)) throw new Error(`A list was answered ${statuses}.`);
  });
  let waitedMs = 0;
  while (!isDone) {
    const asked = process.cpuUsage();
    await new Promise((resolve) => setImmediate(resolve));
    await get('/notes/n7');
    const { user, system } = process.cpuUsage(asked);
    waitedMs = Math.max(waitedMs, (user + system) / 1000);
  }
  await all;
  return { tookS: (performance.now() - began) / 1000, waitedMs };
}

async function fill(path: string, rows: number): Promise<void> {
  await (await serve(notes, { store: path })).close();
  const store = openSqlite(path);
  const columns = [
    { name: 'shelf', type: 'text' as const, made: 'text' },
    { name: 'stars', type: 'integer' as const, made: 'integer' },
    { name: 'text', type: 'text' as const, made: 'text' },
  ];
  await store.prepare([{ name: 'note', columns, unique: [], indexes: [] }], () => []);
  for (let made = 0; made < rows; ) {
    await store.change((tx) => {
      for (let n = 0; n < 20_000 && made < rows; n++, made++) {
        const doc = {
          id: `n${made}`,
          text: `${made} Harbour Street, Newtown; leave it at the door`,
          stars: made % 5000,
          shelf: `s${made % 50}`,
        };
        tx.insert('note', { id: doc.id, entered: 0, doc: JSON.stringify(doc), columns: [doc.shelf, doc.stars, doc.text] });
      }
    });
  }
  await store.close();
  // Makes the columns and indexes of the document again.
  await (await serve(notes, { store: path })).close();
}
