/** The servers that `npm run bench serve` holds against each other, started, filled and looked through. */
import { get, type Headers, post } from './books.ts';
import type { Generator } from './generator.ts';
import { type ServerProcess, startServer } from './server-process.ts';
import { type Act, type PageWords, type Setting, type Side, uniqueText } from './settings.ts';

export interface Contestant {
  readonly side: Side;
  /** The process that is read from, over the rows it was filled with and no others. */
  readonly reads: ServerProcess;
  /** The process that rows are created in. */
  readonly writes: ServerProcess;
  readonly requests: Readonly<Record<Act, readonly string[]>>;
  /** Bytes of one row, and of one page of 20. */
  readonly bytes: { readonly one: number; readonly page: number };
  /** Memory (RSS) of a process without rows, right after it answered first, in MiB. */
  readonly startMib: number | undefined;
}

/** Starts both processes of one side, fills the one that is read from, and makes the requests that will be sent. */
export async function startContestant(
  setting: Setting,
  side: Side,
  folder: string,
  rows: number,
  generator: Generator,
): Promise<Contestant> {
  const start = (use: string, more: readonly string[]): Promise<ServerProcess> => {
    const name = `${setting.name} ${side} ${use}`;
    const store = `${folder}/${name.replaceAll(' ', '-')}.sqlite`;
    setting.prepare(side, store);
    return startServer({ name, folder, args: [...setting.command(side, store), ...more] });
  };
  const { rowsFile } = setting;
  const reads = await start('reads', rowsFile === undefined ? [] : ['--rows', rowsFile]);
  let writes: ServerProcess | undefined;
  try {
    writes = await start('writes', []);
    const startMib = writes.memoryMib();
    const create = (n: number): string => post(setting.path, setting.row(n), { ...setting.headers, ...setting.createHeaders });
    if (rowsFile === undefined) await fill(reads.port, rows, create, generator, side);
    const look = side === 'bare' ? lookOnce : lookThrough;
    const { ids, pages, bytes } = await look(reads.port, rows, setting);
    const one = (headers: Headers): string[] => ids.map((id) => get(`${setting.path}/${id}`, headers));
    const requests = {
      'GET one': one(setting.headers),
      'GET one, old version': one({ ...setting.headers, ...setting.oldVersion }),
      'page of 20': pages.map((path) => get(path, setting.headers)),
      'durable create': Array.from({ length: 1000 }, (_, n) => create(rows + n)),
    };
    return { side, reads, writes, requests, bytes, startMib };
  } catch (error) {
    await Promise.all([reads.stop(), writes?.stop()]);
    throw error;
  }
}

/** Creates rows one by one, and sees that each was. */
async function fill(port: number, rows: number, create: (n: number) => string, generator: Generator, side: Side): Promise<void> {
  const { answers, errors, firstError } = await generator.run({
    port,
    connections: 64,
    status: 201,
    count: rows,
    seconds: 60,
    warmSeconds: 0,
    requests: Array.from({ length: rows }, (_, n) => create(n)),
    unique: uniqueText,
  });
  if (answers !== rows || errors > 0) throw new Error(`${side}: ${answers} of ${rows} rows were created; ${firstError}`);
}

interface Looked {
  readonly ids: readonly string[];
  /** The paths of pages. */
  readonly pages: readonly string[];
  readonly bytes: { readonly one: number; readonly page: number };
}

/** Walks through all pages by their cursors: each row, and each page but the last, in no order. */
async function lookThrough(port: number, rows: number, { path: base, page: words, headers }: Setting): Promise<Looked> {
  const ids: string[] = [];
  const pages: string[] = [];
  let path = `${base}?${words.size}=20`;
  let first = { one: 0, page: 0 };
  for (;;) {
    const { items, next, bytes } = await readPage(port, path, words, headers);
    if (pages.length === 0) first = { one: JSON.stringify(items[0]).length, page: bytes };
    for (const { id } of items) ids.push(id);
    if (next === null) break;
    pages.push(path);
    path = `${base}?${words.size}=20&${words.cursor}=${encodeURIComponent(next)}`;
  }
  if (ids.length !== rows) throw new Error(`port ${port}: the pages hold ${ids.length} rows instead of ${rows}`);
  return { ids: mixed(ids), pages: mixed(pages), bytes: first };
}

async function lookOnce(port: number, _rows: number, { path: base, page: words }: Setting): Promise<Looked> {
  const path = `${base}?${words.size}=20`;
  const { items, bytes } = await readPage(port, path, words);
  const one = JSON.stringify(items[0]).length;
  return { ids: [items[0]!.id], pages: [path], bytes: { one, page: bytes } };
}

interface Page {
  readonly items: readonly { readonly id: string }[];
  readonly next: string | null;
  readonly bytes: number;
}

/** One page, which must hold rows. */
export async function readPage(
  port: number,
  path: string,
  words: Pick<PageWords, 'items' | 'next'>,
  headers: Headers = {},
): Promise<Page> {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`GET ${path} answered ${answer.status}: ${text.slice(0, 300)}`);
  const { [words.items]: items, [words.next]: next = null } = JSON.parse(text);
  if (!Array.isArray(items) || typeof items[0]?.id !== 'string')
    throw new Error(`GET ${path} answered no page: ${text.slice(0, 300)}`);
  return { items, next, bytes: Buffer.byteLength(text) };
}

/** The same things in an order that looks like chance and is the same each time. */
export function mixed<T>(things: readonly T[]): T[] {
  const order = [...things];
  let state = 1;
  for (let i = order.length - 1; i > 0; i--) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const j = state % (i + 1);
    [order[i], order[j]] = [order[j]!, order[i]!];
  }
  return order;
}
