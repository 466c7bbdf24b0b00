/**
 * The service of `bench/small.md` as a good engineer writes it by hand: Fastify and SQLite, a column for each field, a
 * validated body, serialisers compiled from schemas, prepared statements, WAL, every create on disk before its answer.
 *
 * node bench/by-hand/fastify-columns.ts --port N --store FILE
 */
import { randomBytes } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { parseArgs } from 'node:util';
import Fastify from 'fastify';
import type { NewBook } from '../books.ts';

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

const written = {
  title: { type: 'string', minLength: 1, maxLength: 200 },
  author: { type: 'string', minLength: 1, maxLength: 120 },
  isbn: { type: 'string', pattern: '^[0-9]{13}$' },
  genre: { type: 'string', enum: ['novel', 'poetry', 'history', 'science', 'travel'] },
  year: { type: 'integer', minimum: 1450, maximum: 2100 },
  pages: { type: 'integer', minimum: 1, maximum: 10000 },
  price: { type: 'integer', minimum: 0, maximum: 1000000 },
  note: { type: 'string', maxLength: 500 },
};
const required = ['title', 'author', 'isbn', 'genre', 'year', 'pages', 'price'];
const newBook = { type: 'object', properties: written, required, additionalProperties: false };
const storedBook = {
  type: 'object',
  properties: { id: { type: 'string' }, ...written, created_at: { type: 'string' } },
  required: ['id', ...required, 'created_at'],
};
const bookPage = {
  type: 'object',
  properties: { data: { type: 'array', items: storedBook }, next_cursor: { type: ['string', 'null'] } },
  required: ['data', 'next_cursor'],
};
const pageQuery = {
  type: 'object',
  properties: { limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 }, cursor: { type: 'string' } },
};

const app = Fastify();

app.get<{ Params: { id: string } }>('/books/:id', { schema: { response: { 200: storedBook } } }, (request, reply) => {
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

app.post<{ Body: NewBook }>('/books', { schema: { body: newBook, response: { 201: storedBook } } }, (request, reply) => {
  const nowMs = Date.now();
  const stored = { id: ulid(nowMs), ...request.body, created_at: new Date(nowMs).toISOString() };
  const { id, title, author, isbn, genre, year, pages, price, note, created_at } = stored;
  insert.run(id, title, author, isbn, genre, year, pages, price, note ?? null, created_at);
  reply.code(201).header('location', `/books/${id}`).send(stored);
});

let lastMs = 0;
let lastRandom = 0n;

/** An identifier that sorts by time and, inside a millisecond, by the order of creation. */
function ulid(nowMs: number): string {
  if (nowMs > lastMs) {
    lastMs = nowMs;
    lastRandom = randomBytes(10).readBigUInt64BE() << 15n;
  } else lastRandom++;
  return crockford(BigInt(lastMs), 10) + crockford(lastRandom, 16);
}

function crockford(value: bigint, length: number): string {
  const digits = value.toString(32).padStart(length, '0');
  let text = '';
  for (const digit of digits) text += '0123456789ABCDEFGHJKMNPQRSTVWXYZ'[Number.parseInt(digit, 32)];
  return text;
}

for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(0));
await app.listen({ host: '127.0.0.1', port: Number(values.port) });
