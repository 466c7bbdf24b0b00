import type { Scalar } from './store.ts';

/** A table as it is copied: what it is called, its columns with their types, and how many of the first are its key. */
export interface CopiedTable {
  readonly name: string;
  /** Whether it holds the rows of the resource of this name, and not something of the engine's own. */
  readonly isOfRows: boolean;
  readonly columns: readonly (readonly [name: string, type: 'text' | 'integer' | 'real'])[];
  readonly keys: number;
}

/** A store as a copy sees it: tables, in the order of their keys, inside one transaction. */
export interface CopySide {
  /** How it is told of: without password. */
  readonly name: string;
  /** The resources that rows are kept of. */
  resources(): Promise<readonly string[]>;
  /** Rows behind a key, at most so many. */
  page(table: CopiedTable, after: readonly Scalar[] | undefined, most: number): Promise<readonly (readonly Scalar[])[]>;
  /** Makes the table of a resource; what it is looked up by is filled in when a document is served over it. */
  make(resource: string): Promise<void>;
  add(table: CopiedTable, rows: readonly (readonly Scalar[])[]): Promise<void>;
  /** Brings what was added to disk. Numbers that are given from now on are higher than this one. */
  commit(highest: number): Promise<void>;
  /** Lets go of it; what was not committed is not there. */
  close(): Promise<void>;
}

/** What stands in the way of a copy, in words. */
export class CannotCopy extends Error {}

/** How many rows were copied, by table. */
export type Copied = ReadonlyMap<string, number>;

const pageMost = 500;

const own = (name: string, keys: number, columns: string): CopiedTable => ({
  name,
  isOfRows: false,
  keys,
  columns: columns.split(' ').map((column) => {
    const [word = '', type = ''] = column.split(':');
    return [word, type === 'i' ? 'integer' : type === 'r' ? 'real' : 'text'];
  }),
});

/** What engines keep beside rows; both call it the same. */
const ownTables: readonly CopiedTable[] = [
  own('settings', 1, 'name value'),
  own('sequences', 1, 'name last:i'),
  own('records', 1, 'key fingerprint body expires:i'),
  own('counters', 1, 'name count:r expires:i'),
  own('timers', 3, 'resource id name due:i token fired'),
  own('credentials', 2, 'name serial:i scheme lookup user caller doc'),
  own('subscribers', 1, 'id state'),
  own('events', 1, 'seq:i id kind at:i operation resource row payload image trace'),
  own('deliveries', 1, 'seq:i event:i subscriber lane tries:i due:i settled:i outcome'),
  own('attempts', 2, 'delivery:i n:i at:i took:i status:i error response'),
];

const rowsOf = (resource: string): CopiedTable => ({
  ...own(resource, 1, 'seq:i id rev:i entered:i doc'),
  isOfRows: true,
});

/** Columns whose values are drawn from the numbers of a store. */
const numbered: ReadonlySet<string> = new Set(['seq', 'rev']);

/**
 * Copies everything that a store holds into an empty one, a page at a time, and then compares the two row by row.
 * @throws {CannotCopy} where the other one is not empty, or does not hold the same in the end.
 */
export async function copyStore(from: CopySide, to: CopySide, progress: (table: string, done: number) => void): Promise<Copied> {
  const resources = await from.resources();
  const tables = [...ownTables, ...resources.map(rowsOf)];
  if ((await to.resources()).length > 0 || !(await isEmpty(to)))
    throw new CannotCopy(`${to.name} holds something already; name an empty one`);
  const copied = new Map<string, number>();
  let highest = 0;
  for (const resource of resources) await to.make(resource);
  for (const table of tables) {
    let done = 0;
    for await (const rows of pagesOf(from, table)) {
      await to.add(table, rows);
      highest = Math.max(highest, ...rows.map((row) => highestOf(table, row)));
      done += rows.length;
      progress(table.name, done);
    }
    if (done > 0) copied.set(table.name, done);
  }
  for (const table of tables) await compare(from, to, table);
  await to.commit(highest);
  return copied;
}

async function isEmpty(side: CopySide): Promise<boolean> {
  for (const table of ownTables) if ((await side.page(table, undefined, 1)).length > 0) return false;
  return true;
}

async function* pagesOf(side: CopySide, table: CopiedTable): AsyncGenerator<readonly (readonly Scalar[])[]> {
  for (let after: readonly Scalar[] | undefined; ; ) {
    const rows = await side.page(table, after, pageMost);
    if (rows.length > 0) yield rows;
    if (rows.length < pageMost) return;
    after = rows.at(-1)?.slice(0, table.keys);
  }
}

/** @throws {CannotCopy} where two tables do not hold the same, with the first row that differs. */
async function compare(from: CopySide, to: CopySide, table: CopiedTable): Promise<void> {
  const others = pagesOf(to, table);
  for await (const rows of pagesOf(from, table)) {
    const { value: copies = [] } = await others.next();
    const differs = rows.findIndex((row, at) => !isSame(row, copies[at]));
    if (differs < 0 && copies.length === rows.length) continue;
    const key = (rows[Math.max(differs, 0)] ?? []).slice(0, table.keys).join(' ');
    throw new CannotCopy(`${table.name} ${key} is not the same in ${to.name}: nothing was copied`);
  }
  if (!(await others.next()).done) throw new CannotCopy(`${to.name} holds more of ${table.name}: nothing was copied`);
}

function isSame(row: readonly Scalar[], copy: readonly Scalar[] | undefined): boolean {
  return copy?.length === row.length && row.every((value, at) => value === copy[at]);
}

function highestOf({ columns }: CopiedTable, row: readonly Scalar[]): number {
  return Math.max(0, ...columns.map(([name], at) => (numbered.has(name) ? Number(row[at]) : 0)));
}
