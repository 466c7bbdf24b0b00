/**
 * The service of `bench/guarded.md` as a good engineer writes it by hand: that of `fastify-columns.ts`, with an API key
 * looked up by its hash and cached, two rates by @fastify/rate-limit, a check of who owns a book, two versions, and creates
 * that record their event and their idempotency key in one transaction.
 *
 * node bench/by-hand/fastify-guarded.ts --port N --store FILE --key KEY
 */
import { createHash } from 'node:crypto';
import type { IncomingMessage, Server } from 'node:http';
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite';
import { parseArgs } from 'node:util';
import rateLimit from '@fastify/rate-limit';
import Fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import { type BookSchemas, oldSellersBooks, pageQuery, sellersBooks } from './schemas.ts';
import { ulid } from './ulid.ts';

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '3000' },
    store: { type: 'string', default: ':memory:' },
    key: { type: 'string', default: 'pk_bench' },
  },
});

const db = new DatabaseSync(values.store);
db.exec(`
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  CREATE TABLE IF NOT EXISTS book (
    id TEXT PRIMARY KEY,
    seller TEXT NOT NULL,
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
  CREATE INDEX IF NOT EXISTS book_seller ON book (seller, id);
  CREATE TABLE IF NOT EXISTS api_key (hash TEXT PRIMARY KEY, user TEXT NOT NULL, id TEXT NOT NULL) WITHOUT ROWID, STRICT;
  CREATE TABLE IF NOT EXISTS outbox (
    position INTEGER PRIMARY KEY, id TEXT NOT NULL, kind TEXT NOT NULL, at TEXT NOT NULL, payload TEXT NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS replay (
    caller TEXT NOT NULL, key TEXT NOT NULL, fingerprint TEXT NOT NULL, status INTEGER NOT NULL, location TEXT NOT NULL,
    body TEXT NOT NULL, at TEXT NOT NULL, PRIMARY KEY (caller, key)
  ) WITHOUT ROWID, STRICT;
`);
const columns = 'id, seller, title, author, isbn, genre, year, pages, price, note, created_at';
const one = db.prepare(`SELECT ${columns} FROM book WHERE id = ?`);
// Identifiers are ULIDs, so their order is the order of creation.
const page = db.prepare(`SELECT ${columns} FROM book WHERE seller = ? AND id < ? ORDER BY id DESC LIMIT ?`);
const insert = db.prepare(`INSERT INTO book (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
const emit = db.prepare('INSERT INTO outbox (id, kind, at, payload) VALUES (?, ?, ?, ?)');
const replayed = db.prepare('SELECT fingerprint, status, location, body FROM replay WHERE caller = ? AND key = ?');
const keep = db.prepare('INSERT INTO replay VALUES (?, ?, ?, ?, ?, ?, ?)');
const byHash = db.prepare('SELECT user, id FROM api_key WHERE hash = ?');
db.prepare('INSERT OR REPLACE INTO api_key VALUES (?, ?, ?)').run(hash(values.key), 'seller', 's1');

interface Caller {
  readonly user: string;
  readonly id: string;
}
type Row = Record<string, SQLOutputValue>;

declare module 'fastify' {
  interface FastifyRequest {
    seller: Caller;
  }
}

const current = '2026-06-01';
const old = '2026-01-15';
const versionOf = (headers: Readonly<Record<string, unknown>>): string => String(headers['books-version'] ?? current);

const books = {
  name: 'books',
  mustMatchWhenDerived: true,
  storage: () => {
    // Fastify keeps its own handlers here, which only it calls.
    const handlers = new Map<string, never>();
    return {
      get: (version: string) => handlers.get(version) ?? null,
      set: (version: string, handler: unknown) => void handlers.set(version, handler as never),
    };
  },
  deriveConstraint: (request: IncomingMessage) => versionOf(request.headers),
};
const app = Fastify<Server>({ routerOptions: { constraints: { books } } });
app.decorateRequest('seller');
const most = { max: 100_000_000, timeWindow: '1 minute', enableDraftSpec: true };
await app.register(rateLimit, { ...most, hook: 'onRequest', keyGenerator: (request) => request.ip });
app.addHook('onRequest', async (request, reply) => {
  const key = request.headers['x-api-key'];
  const caller = typeof key === 'string' ? callerOf(key) : undefined;
  if (caller === undefined) return problem(reply.header('www-authenticate', 'ApiKey'), 401, 'unknown_caller');
  request.seller = caller;
  reply.header('books-version', versionOf(request.headers)).header('vary', 'Books-Version, X-API-Key');
});
await app.register(rateLimit, { ...most, hook: 'preParsing', keyGenerator: ({ seller }) => `${seller.user} ${seller.id}` });
app.setNotFoundHandler((request, reply) => {
  const known = [current, old].includes(versionOf(request.headers));
  return problem(reply, known ? 404 : 400, known ? 'not_found' : 'malformed');
});

/** The routes of one version; `down` and `up` carry a book from the stored form and to it. */
function routes(version: string, schemas: BookSchemas, down: (row: Row) => Row, up: (sent: Row) => Row): void {
  const constraints = { books: version };

  app.get<{ Params: { id: string } }>(
    '/books/:id',
    { constraints, schema: { response: { 200: schemas.stored } } },
    (request, reply) => {
      const row = one.get(request.params.id);
      if (row === undefined || row.seller !== request.seller.id) return void problem(reply, 404, 'not_found');
      reply.send(down(row));
    },
  );

  app.get<{ Querystring: { limit: number; cursor?: string } }>(
    '/books',
    { constraints, schema: { querystring: pageQuery, response: { 200: schemas.page } } },
    (request, reply) => {
      const { limit, cursor } = request.query;
      // '~' stands after every letter of a ULID.
      const rows = page.all(request.seller.id, cursor ?? '~', limit + 1);
      const more = rows.length > limit;
      if (more) rows.pop();
      reply.send({ data: version === current ? rows : rows.map(down), next_cursor: more ? rows.at(-1)!.id : null });
    },
  );

  app.post<{ Body: Row }>(
    '/books',
    { constraints, schema: { body: schemas.sent, response: { 201: schemas.stored } } },
    (request, reply) => create(request, reply, up(request.body), down),
  );
}

routes(
  current,
  sellersBooks,
  (row) => row,
  (sent) => sent,
);
routes(
  old,
  oldSellersBooks,
  ({ note, price, ...row }) => ({ ...row, price: Number(price) / 100, ...(note === null ? {} : { remark: note! }) }),
  ({ remark, price, ...sent }) => ({ ...sent, price: Math.round(Number(price) * 100), note: remark ?? null }),
);

/** Stores the book, its event and the answer to its idempotency key together, or answers again what was answered before. */
function create(
  request: Pick<FastifyRequest, 'seller' | 'headers' | 'body'>,
  reply: FastifyReply,
  sent: Row,
  down: (row: Row) => Row,
): FastifyReply {
  const key = request.headers['idempotency-key'];
  const caller = `${request.seller.user} ${request.seller.id}`;
  const fingerprint = typeof key === 'string' ? hash(`${versionOf(request.headers)} ${JSON.stringify(request.body)}`) : '';
  const nowMs = Date.now();
  const at = new Date(nowMs).toISOString();
  db.exec('BEGIN IMMEDIATE');
  try {
    const before = typeof key === 'string' ? replayed.get(caller, key) : undefined;
    if (before !== undefined) {
      db.exec('ROLLBACK');
      if (before.fingerprint !== fingerprint) return problem(reply, 422, 'invalid');
      return reply
        .code(Number(before.status))
        .header('location', before.location)
        .send(JSON.parse(String(before.body)));
    }
    const book: Row = { id: ulid(nowMs), seller: request.seller.id, ...sent, created_at: at };
    const { id, seller, title, author, isbn, genre, year, pages, price, note, created_at } = book;
    insert.run(id!, seller!, title!, author!, isbn!, genre!, year!, pages!, price!, note ?? null, created_at!);
    const answer = down(book);
    const location = `/books/${id}`;
    emit.run(ulid(nowMs), 'book.created', at, JSON.stringify(book));
    if (typeof key === 'string') keep.run(caller, key, fingerprint, 201, location, JSON.stringify(answer), at);
    db.exec('COMMIT');
    return reply.code(201).header('location', location).send(answer);
  } catch (error) {
    db.exec('ROLLBACK');
    throw error;
  }
}

const callers = new Map<string, Caller>();

/** Who an API key is of: looked up by its hash, and remembered. */
function callerOf(key: string): Caller | undefined {
  const hashed = hash(key);
  const known = callers.get(hashed);
  if (known !== undefined) return known;
  const row = byHash.get(hashed);
  if (row === undefined) return undefined;
  const caller = { user: String(row.user), id: String(row.id) };
  callers.set(hashed, caller);
  return caller;
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}

function problem(reply: FastifyReply, status: number, code: string): FastifyReply {
  return reply.code(status).type('application/problem+json').send({ type: 'about:blank', status, code });
}

for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(0));
await app.listen({ host: '127.0.0.1', port: Number(values.port) });
