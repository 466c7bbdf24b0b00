/** What `npm run bench serve` measures: the same books, alone, with every part around them switched on, and bookings that more follows from. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { book, type Headers } from './books.ts';

export const sides = ['Ninefold', 'by hand', 'bare'] as const;
export type Side = (typeof sides)[number];
export const acts = ['GET one', 'GET one, old version', 'page of 20', 'durable create'] as const;
export type Act = (typeof acts)[number];

/** The numbers of connections, and what to reach with each of them against the service by hand. */
export const connectionCounts = [64, 8] as const;
/** At 64 and at 8 connections; nothing = no target there. */
type Least = readonly [number, number?];

/** The words that a page is written and asked for in. */
export interface PageWords {
  readonly items: string;
  readonly next: string;
  readonly size: string;
  readonly cursor: string;
}

export interface Setting {
  readonly name: string;
  /** One sentence above the figures. */
  readonly about: string;
  readonly sides: readonly Side[];
  /** What is asked, with the requests a second to reach, in times of the service by hand; nothing = no target. */
  readonly acts: ReadonlyMap<Act, Least | undefined>;
  /** Where the rows are, as `/books`. */
  readonly path: string;
  readonly page: PageWords;
  /** What is sent to make the row of a number. */
  row(n: number): object;
  /** A file with the rows that are read, for a service that is handed them at its start; otherwise they are created one by one. */
  readonly rowsFile?: string;
  /** The command line of a side, without the port and the rows. */
  command(side: Side, store: string): readonly string[];
  /** Done once to a store before its server starts. */
  prepare(side: Side, store: string): void;
  readonly headers: Headers;
  /** The header that asks for the older version. */
  readonly oldVersion: Headers;
  /** What creates bear besides; the value is another one in each request. */
  readonly createHeaders: Headers;
}

/** Stands in each create for its own number. */
export const uniqueText = 'xxxxxxxxxxxx';
const key = 'pk_bench_0123456789abcdefghijklmnopqrstuv';

const bookWords = {
  path: '/books',
  page: { items: 'data', next: 'next_cursor', size: 'limit', cursor: 'cursor' },
  row: book,
};

const plain: Setting = {
  ...bookWords,
  name: 'plain',
  about: 'The service alone: no credentials, no limits, no events, one version.',
  sides,
  acts: new Map([
    ['GET one', [1.3, 1.3]],
    ['page of 20', [2.1, 2.1]],
    ['durable create', [8, 3]],
  ]),
  command: (side, store) =>
    ({
      Ninefold: [path('../bin/ninefold.js'), 'serve', path('small.md'), '--store', store],
      'by hand': [path('by-hand/fastify-columns.ts'), '--store', store],
      bare: [path('by-hand/bare-http.ts')],
    })[side],
  prepare: () => undefined,
  headers: {},
  oldVersion: {},
  createHeaders: {},
};

const guarded: Setting = {
  ...bookWords,
  name: 'guarded',
  about:
    'With an API key, two rates, a permission with a condition, two versions, and on a create an event and an idempotency key.',
  sides: ['Ninefold', 'by hand'],
  acts: new Map([
    ['GET one', [1.2, 1.2]],
    ['GET one, old version', undefined],
    ['page of 20', [2, 2]],
    ['durable create', [5]],
  ]),
  command: (side, store) =>
    side === 'Ninefold'
      ? [path('../bin/ninefold.js'), 'serve', path('guarded.md'), '--store', store, '--production']
      : [path('by-hand/fastify-guarded.ts'), '--store', store, '--key', key],
  prepare: prepareKey('guarded.md'),
  headers: { 'X-API-Key': key },
  oldVersion: { 'Books-Version': '2026-01-15' },
  createHeaders: { 'Idempotency-Key': uniqueText },
};

/** So many seats that the last of them is never come to. */
const trips = Array.from({ length: 500 }, (_, n) => ({ id: `trip-${n}`, seats: 1_000_000_000 }));

const booked: Setting = {
  ...bookWords,
  name: 'booked',
  about: 'A create that is guarded by a derived sum, and that a ticket follows from, with an event and an idempotency key.',
  sides: ['Ninefold', 'by hand'],
  acts: new Map([['durable create', [4]]]),
  path: '/bookings',
  row: (n) => ({ trip: `trip-${n % trips.length}`, passenger: `Passenger ${n}`, seats: 1 + (n % 9) }),
  command: (side, store) => {
    const rows = `${store}.rows.json`;
    writeFileSync(rows, JSON.stringify({ trip: trips }));
    return side === 'Ninefold'
      ? [path('../bin/ninefold.js'), 'serve', path('booked.md'), '--store', store, '--production', '--rows', rows]
      : [path('by-hand/fastify-booked.ts'), '--store', store, '--key', key, '--rows', rows];
  },
  prepare: prepareKey('booked.md'),
  headers: { 'X-API-Key': key },
  oldVersion: {},
  createHeaders: { 'Idempotency-Key': uniqueText },
};

export const settings: readonly Setting[] = [plain, guarded, booked];

/** Gives the seller of a document its key; by hand it is in the command. */
function prepareKey(document: string): Setting['prepare'] {
  return (side, store) => {
    if (side !== 'Ninefold') return;
    const words = ['keys', 'add', path(document), '--store', store, '--user', 'seller', '--id', 's1', '--secret-stdin'];
    execFileSync(process.execPath, [path('../bin/ninefold.js'), ...words], { input: `${key}\n`, stdio: 'pipe' });
  };
}

function path(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url));
}
