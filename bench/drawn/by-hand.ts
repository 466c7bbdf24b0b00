/** The service of a drawn document as a good engineer writes it by hand, as the text of a program. */
import type { Field, Json } from './fields.ts';
import type { DrawnService } from './service.ts';

/**
 * Fastify and SQLite, as in `bench/by-hand/fastify-columns.ts`: a column for each member, a validated body, serialisers
 * compiled from schemas, prepared statements, an index for the order, WAL, every create on disk before its answer. What it
 * does for each member is written out, so that it runs no loop over names where somebody writing by hand would have none.
 */
export function byHand(service: DrawnService): string {
  const { fields, path, page, generate } = service;
  const columns = ['id', ...fields.map(({ name }) => name), 'created_at'];
  const list = columns.map((name) => `"${name}"`).join(', ');
  const { where, orderBy, index, cursorOf, cursorValues } = orderedBy(service);
  return `import { DatabaseSync } from 'node:sqlite';
import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import Fastify from 'fastify';

const { values } = parseArgs({ options: { port: { type: 'string' }, store: { type: 'string' }, rows: { type: 'string' } } });
const db = new DatabaseSync(values.store);
db.exec(\`
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  CREATE TABLE IF NOT EXISTS row (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    ${fields.map(({ name, column, isRequired }) => `"${name}" ${column}${isRequired ? ' NOT NULL' : ''},`).join('\n    ')}
    created_at TEXT NOT NULL
  ) STRICT;
  ${index}
\`);
const one = db.prepare('SELECT ${list} FROM row WHERE id = ?');
const firstPage = db.prepare('SELECT seq, ${list} FROM row ORDER BY ${orderBy} LIMIT ?');
const nextPage = db.prepare('SELECT seq, ${list} FROM row WHERE ${where} ORDER BY ${orderBy} LIMIT ?');
const insert = db.prepare('INSERT INTO row (${list}) VALUES (${columns.map(() => '?').join(', ')})');

const shown = (row) => ({
  id: row.id,
  ${fields.map(shownMember).join('\n  ')}
  created_at: row.created_at,
});
const keep = (row) => insert.run(row.id, ${fields.map(keptMember).join(', ')}, row.created_at);

if (values.rows !== undefined) {
  db.exec('BEGIN');
  for (const row of JSON.parse(readFileSync(values.rows, 'utf8')).${service.noun}) keep(row);
  db.exec('COMMIT');
}

const sent = ${JSON.stringify(schemaOf(fields, true))};
const stored = ${JSON.stringify(schemaOf(fields, false))};
const app = Fastify();

app.get('${path}/:id', { schema: { response: { 200: stored } } }, (request, reply) => {
  const row = one.get(request.params.id);
  if (row === undefined) return void reply.code(404).send({ status: 404, title: 'Not Found' });
  reply.send(shown(row));
});

const querystring = {
  type: 'object',
  properties: {
    ${page.size}: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
    ${page.cursor}: { type: 'string' },
  },
};
const page = {
  type: 'object',
  properties: { ${page.items}: { type: 'array', items: stored }, ${page.next}: { type: ['string', 'null'] } },
  required: ['${page.items}', '${page.next}'],
};
app.get('${path}', { schema: { querystring, response: { 200: page } } }, (request, reply) => {
  const { ${page.size}: size, ${page.cursor}: cursor } = request.query;
  const rows = cursor === undefined ? firstPage.all(size + 1) : nextPage.all(...${cursorValues}, size + 1);
  const more = rows.length > size;
  if (more) rows.pop();
  const last = rows[rows.length - 1];
  reply.send({ ${page.items}: rows.map(shown), ${page.next}: more ? ${cursorOf} : null });
});

app.post('${path}', { schema: { body: sent, response: { 201: stored } } }, (request, reply) => {
  const nowMs = Date.now();
  const row = { id: newId(nowMs), ...request.body, created_at: new Date(nowMs).toISOString() };
  keep(row);
  reply.code(201).header('location', '${path}/' + row.id).send(row);
});

${identifierText(generate)}

for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => process.exit(0));
await app.listen({ host: '127.0.0.1', port: Number(values.port) });
`;
}

interface Ordered {
  readonly where: string;
  readonly orderBy: string;
  readonly index: string;
  /** The cursor after the row \`last\`, and what is bound for a cursor, as program text. */
  readonly cursorOf: string;
  readonly cursorValues: string;
}

/** A page continues after the last row of the one before, by an index. Rows are made in the order of \`seq\` and of their time. */
function orderedBy({ order }: DrawnService): Ordered {
  const sign = order?.isDescending ? '<' : '>';
  const direction = order?.isDescending ? ' DESC' : '';
  if (order === undefined || order.field === 'created_at')
    return {
      where: `seq ${sign} ?`,
      orderBy: `seq${direction}`,
      index: '',
      cursorOf: 'String(last.seq)',
      cursorValues: '[Number(cursor)]',
    };
  const column = `"${order.field}"`;
  return {
    where: `(${column}, seq) ${sign} (?, ?)`,
    orderBy: `${column}${direction}, seq${direction}`,
    index: `CREATE INDEX IF NOT EXISTS row_order ON row (${column}, seq);`,
    cursorOf: `Buffer.from(JSON.stringify([last.${order.field}, last.seq])).toString('base64url')`,
    cursorValues: `JSON.parse(Buffer.from(cursor, 'base64url').toString())`,
  };
}

function shownMember({ name, kept, isRequired }: Field): string {
  const value = `row.${name}`;
  const made = { 'as it is': value, 'as 0 and 1': `${value} === 1`, 'as JSON text': `JSON.parse(${value})` }[kept];
  if (isRequired) return `${name}: ${made},`;
  // The serialiser leaves out what is undefined.
  return `${name}: ${kept === 'as it is' ? `${value} ?? undefined` : `${value} === null ? undefined : ${made}`},`;
}

function keptMember({ name, kept, isRequired }: Field): string {
  const value = `row.${name}`;
  const made = { 'as it is': value, 'as 0 and 1': `(${value} ? 1 : 0)`, 'as JSON text': `JSON.stringify(${value})` }[kept];
  if (isRequired) return made;
  return kept === 'as it is' ? `${value} ?? null` : `${value} === undefined ? null : ${made}`;
}

function schemaOf(fields: readonly Field[], isSent: boolean): Json {
  const members = Object.fromEntries(fields.map(({ name, shape }) => [name, shape]));
  const required = fields.filter(({ isRequired }) => isRequired).map(({ name }) => name);
  if (isSent) return { type: 'object', properties: members, required, additionalProperties: false };
  const text = { type: 'string' };
  return {
    type: 'object',
    properties: { id: text, ...members, created_at: text },
    required: ['id', ...required, 'created_at'],
  };
}

function identifierText(generate: DrawnService['generate']): string {
  if (generate === '{uuid}') return 'function newId() {\n  return randomUUID();\n}';
  if (generate === '{ulid}')
    return `let lastMs = 0;
let lastRandom = 0n;
function newId(nowMs) {
  if (nowMs > lastMs) {
    lastMs = nowMs;
    lastRandom = randomBytes(10).readBigUInt64BE() << 15n;
  } else lastRandom++;
  return crockford(BigInt(lastMs), 10) + crockford(lastRandom, 16);
}
function crockford(value, length) {
  const digits = value.toString(32).padStart(length, '0');
  let text = '';
  for (const digit of digits) text += '0123456789ABCDEFGHJKMNPQRSTVWXYZ'[Number.parseInt(digit, 32)];
  return text;
}`;
  return `const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
function newId() {
  let text = '';
  while (text.length < 16) for (const byte of randomBytes(20)) if (byte < 248 && text.length < 16) text += letters[byte % 62];
  return '${generate.replace('{random:16}', '')}' + text;
}`;
}
