/** The servers that `npm run bench serve` holds against each other, started, filled and looked through. */
import { get, type Headers, post } from './books.ts';
import type { Generator } from './generator.ts';
import { type ServerProcess, startServer } from './server-process.ts';
import { type Act, type Setting, type Side, uniqueText } from './settings.ts';

export interface Contestant {
  readonly side: Side;
  /** The process that is read from, over the rows it was filled with and no others. */
  readonly reads: ServerProcess;
  /** The process that rows are created in. */
  readonly writes: ServerProcess;
  readonly requests: Readonly<Record<Act, readonly string[]>>;
  /** Bytes of one row, and of one page of 20. */
  readonly bytes: { readonly one: number; readonly page: number };
}

/** Starts both processes of one side, fills the one that is read from, and makes the requests that will be sent. */
export async function startContestant(
  setting: Setting,
  side: Side,
  folder: string,
  rows: number,
  generator: Generator,
): Promise<Contestant> {
  const start = (use: string): Promise<ServerProcess> => {
    const name = `${setting.name} ${side} ${use}`;
    const store = `${folder}/${name.replaceAll(' ', '-')}.sqlite`;
    setting.prepare(side, store);
    return startServer({ name, folder, args: setting.command(side, store) });
  };
  const reads = await start('reads');
  try {
    const writes = await start('writes');
    const create = (n: number): string => post(n, { ...setting.headers, ...setting.createHeaders });
    const creates = Array.from({ length: 1000 }, (_, n) => create(rows + n));
    const { answers, errors, firstError } = await generator.run({
      ...{ port: reads.port, connections: 64, status: 201, count: rows, seconds: 60, warmSeconds: 0 },
      requests: Array.from({ length: rows }, (_, n) => create(n)),
      unique: uniqueText,
    });
    if (answers !== rows || errors > 0) throw new Error(`${side}: ${answers} of ${rows} rows were created; ${firstError}`);
    const { ids, pages, bytes } = side === 'bare' ? await lookOnce(reads.port) : await lookThrough(reads.port, rows, setting);
    const one = (headers: Headers): string[] => ids.map((id) => get(`/books/${id}`, headers));
    const requests = {
      'GET one': one(setting.headers),
      'GET one, old version': one({ ...setting.headers, ...setting.oldVersion }),
      'page of 20': pages.map((path) => get(path, setting.headers)),
      'durable create': creates,
    };
    return { side, reads, writes, requests, bytes };
  } catch (error) {
    await reads.stop();
    throw error;
  }
}

interface Looked {
  readonly ids: readonly string[];
  /** The paths of pages. */
  readonly pages: readonly string[];
  readonly bytes: { readonly one: number; readonly page: number };
}

/** Walks through all pages by their cursors: each row, and each page but the last, in no order. */
async function lookThrough(port: number, rows: number, { headers }: Setting): Promise<Looked> {
  const ids: string[] = [];
  const pages: string[] = [];
  let path = '/books?limit=20';
  let first = { one: 0, page: 0 };
  for (;;) {
    const { data, next_cursor, bytes } = await readPage(port, path, headers);
    if (pages.length === 0) first = { one: JSON.stringify(data[0]).length, page: bytes };
    for (const { id } of data) ids.push(id);
    if (next_cursor === null) break;
    pages.push(path);
    path = `/books?limit=20&cursor=${encodeURIComponent(next_cursor)}`;
  }
  if (ids.length !== rows) throw new Error(`port ${port}: the pages hold ${ids.length} rows instead of ${rows}`);
  return { ids: mixed(ids), pages: mixed(pages), bytes: first };
}

async function lookOnce(port: number): Promise<Looked> {
  const { data, bytes } = await readPage(port, '/books?limit=20');
  const one = JSON.stringify(data[0]).length;
  return { ids: [data[0]!.id], pages: ['/books?limit=20'], bytes: { one, page: bytes } };
}

interface Page {
  readonly data: readonly { readonly id: string }[];
  readonly next_cursor: string | null;
  readonly bytes: number;
}

/** One page, which must hold rows. */
export async function readPage(port: number, path: string, headers: Headers = {}): Promise<Page> {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`GET ${path} answered ${answer.status}: ${text.slice(0, 300)}`);
  // What is read of it is looked at on the next line.
  const { data, next_cursor = null } = JSON.parse(text) as Page;
  if (!Array.isArray(data) || typeof data[0]?.id !== 'string')
    throw new Error(`GET ${path} answered no page: ${text.slice(0, 300)}`);
  return { data, next_cursor, bytes: Buffer.byteLength(text) };
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
