/**
 * The service of `bench/small.md` as a good engineer writes it by hand: Fastify and SQLite, a column for each field, a
 * validated body, serialisers compiled from schemas, prepared statements, WAL, every create on disk before its answer.
 *
 * node bench/by-hand/fastify-columns.ts --port N --store FILE
 */
import { DatabaseSync } from 'node:sqlite';
import { parseArgs } from 'node:util';
import Fastify from 'fastify';
import type { NewBook } from '../books.ts';
import { pageQuery, plainBooks } from './schemas.ts';
import { ulid } from './ulid.ts';

const { values } = parseArgs({
  options: { port: { type: 'string', default: '3000' }, store: { type: 'string', default: ':memory:' } },
});

const db = new DatabaseSync(values.store);
db.exec(`
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  CREATE TABLE IF NOT EXISTS book (
    id TEXT PRIMARY KEY,
    title TEXT NOT NULL,
    author TEXT NOT NULL,
    isbn TEXT NOT NULL,
    genre TEXT NOT NULL,
    year INTEGER NOT NULL,
    pages INTEGER NOT NULL,
    price INTEGER NOT NULL,
    note TEXT,
    created_at TEXT NOT NULL
  ) WITHOUT ROWID, STRICT;
`);
const columns = 'id, title, author, isbn, genre, year, pages, price, note, created_at';
const one = db.prepare(`SELECT ${columns} FROM book WHERE id = ?`);
// Identifiers are ULIDs, so their order is the order of creation and the primary key serves the pages.
const page = db.prepare(`SELECT ${columns} FROM book WHERE id < ? ORDER BY id DESC LIMIT ?`);
const insert = db.prepare(`INSERT INTO book (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);

const { sent, stored, page: bookPage } = plainBooks;
const app = Fastify();

app.get<{ Params: { id: string } }>('/books/:id', { schema: { response: { 200: stored } } }, (request, reply) => {
  const row = one.get(request.params.id);
  if (row === undefined) return void reply.code(404).send({ status: 404, title: 'Not Found' });
  reply.send(row);
});

app.get<{ Querystring: { limit: number; cursor?: string } }>(
  '/books',
  { schema: { querystring: pageQuery, response: { 200: bookPage } } },
  (request, reply) => {
    const { limit, cursor } = request.query;
    // '~' stands after every letter of a ULID.
    const rows = page.all(cursor ?? '~', limit + 1);
    const more = rows.length > limit;
    if (more) rows.pop();
    reply.send({ data: rows, next_cursor: more ? rows.at(-1)!.id : null });
  },
);

app.post<{ Body: NewBook }>('/books', { schema: { body: sent, response: { 201: stored } } }, (request, reply) => {
  const nowMs = Date.now();
  const book = { id: ulid(nowMs), ...request.body, created_at: new Date(nowMs).toISOString() };
  const { id, title, author, isbn, genre, year, pages, price, note, created_at } = book;
  insert.run(id, title, author, isbn, genre, year, pages, price, note ?? null, created_at);
  reply.code(201).header('location', `/books/${id}`).send(book);
});

for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(0));
await app.listen({ host: '127.0.0.1', port: Number(values.port) });
