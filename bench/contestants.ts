/** The three servers that `npm run bench serve` holds against each other, started, filled and looked through. */
import { fileURLToPath } from 'node:url';
import { get, post } from './books.ts';
import type { Generator } from './generator.ts';
import { type ServerProcess, startServer } from './server-process.ts';

export const sides = ['Ninefold', 'by hand', 'bare'] as const;
export type Side = (typeof sides)[number];
export const acts = ['GET one', 'page of 20', 'durable create'] as const;
export type Act = (typeof acts)[number];

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

/** The command lines, without the port. */
const commands: Readonly<Record<Side, (store: string) => readonly string[]>> = {
  Ninefold: (store) => [path('../bin/ninefold.js'), 'serve', path('small.md'), '--store', store],
  'by hand': (store) => [path('by-hand/fastify-columns.ts'), '--store', store],
  bare: () => [path('by-hand/bare-http.ts')],
};

/** Starts both processes of one side, fills the one that is read from, and makes the requests that will be sent. */
export async function startContestant(side: Side, folder: string, rows: number, generator: Generator): Promise<Contestant> {
  const start = (use: string): Promise<ServerProcess> => {
    const name = `${side} ${use}`;
    return startServer({ name, folder, args: commands[side](`${folder}/${name.replaceAll(' ', '-')}.sqlite`) });
  };
  const reads = await start('reads');
  try {
    const writes = await start('writes');
    const creates = Array.from({ length: 1000 }, (_, n) => post(rows + n));
    const { answers, errors, firstError } = await generator.run({
      ...{ port: reads.port, connections: 64, status: 201, count: rows, seconds: 60, warmSeconds: 0 },
      requests: Array.from({ length: rows }, (_, n) => post(n)),
    });
    if (answers !== rows || errors > 0) throw new Error(`${side}: ${answers} of ${rows} rows were created; ${firstError}`);
    const { one, page, bytes } = side === 'bare' ? await lookOnce(reads.port) : await lookThrough(reads.port, rows);
    return { side, reads, writes, requests: { 'GET one': one, 'page of 20': page, 'durable create': creates }, bytes };
  } catch (error) {
    await reads.stop();
    throw error;
  }
}

interface Looked {
  readonly one: readonly string[];
  readonly page: readonly string[];
  readonly bytes: { readonly one: number; readonly page: number };
}

/** Walks through all pages by their cursors: a read of each row, and of each page but the last, in no order. */
async function lookThrough(port: number, rows: number): Promise<Looked> {
  const one: string[] = [];
  const page: string[] = [];
  let path = '/books?limit=20';
  let first = { one: 0, page: 0 };
  for (;;) {
    const { data, next_cursor, bytes } = await readPage(port, path);
    if (page.length === 0) first = { one: JSON.stringify(data[0]).length, page: bytes };
    for (const { id } of data) one.push(get(`/books/${id}`));
    if (next_cursor === null) break;
    page.push(get(path));
    path = `/books?limit=20&cursor=${encodeURIComponent(next_cursor)}`;
  }
  if (one.length !== rows) throw new Error(`port ${port}: the pages hold ${one.length} rows instead of ${rows}`);
  return { one: mixed(one), page: mixed(page), bytes: first };
}

async function lookOnce(port: number): Promise<Looked> {
  const { data, bytes } = await readPage(port, '/books?limit=20');
  const one = JSON.stringify(data[0]).length;
  return { one: [get(`/books/${data[0]!.id}`)], page: [get('/books?limit=20')], bytes: { one, page: bytes } };
}

interface Page {
  readonly data: readonly { readonly id: string }[];
  readonly next_cursor: string | null;
  readonly bytes: number;
}

/** One page, which must hold rows. */
export async function readPage(port: number, path: string): Promise<Page> {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`);
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

function path(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url));
}
