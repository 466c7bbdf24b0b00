/**
 * The same service as somebody writes it by hand, and well: Fastify with its compiled validation and serialization, `pg` with a pool of 16 and
 * prepared statements, a transaction for each change that writes the row, its event and the idempotency record.
 */
import { createHash, randomBytes } from 'node:crypto';
import fastify, { type FastifyRequest } from 'fastify';
import { Pool } from 'pg';

const pool = new Pool({ connectionString: String(process.env.NINEFOLD_STORE), max: 16 });
const app = fastify();
const key = 'by-hand-key';
const keys = new Map([[createHash('sha256').update(key).digest('base64url'), 'w1']]);

const note = {
  type: 'object',
  properties: {
    id: { type: 'string' },
    owner: { type: 'string' },
    text: { type: 'string' },
    stars: { type: 'integer' },
    state: { type: 'string' },
  },
} as const;
interface Note {
  readonly id: string;
  readonly owner: string;
  readonly text: string;
  readonly stars: number;
  readonly state: string;
}
const columns = 'id, owner, text, stars, state';

await pool.query(`CREATE SCHEMA hand;
  CREATE TABLE hand.notes (seq bigserial PRIMARY KEY, id text NOT NULL UNIQUE, owner text NOT NULL, text text NOT NULL, stars int NOT NULL, state text NOT NULL);
  CREATE TABLE hand.events (seq bigserial PRIMARY KEY, id text NOT NULL, kind text NOT NULL, at timestamptz NOT NULL DEFAULT now(), payload text NOT NULL);
  CREATE TABLE hand.keys (key text PRIMARY KEY, fingerprint text NOT NULL, body text NOT NULL, expires timestamptz NOT NULL);`);

const callers = new WeakMap<FastifyRequest, string>();
app.addHook('onRequest', async (request, reply) => {
  const sent = request.headers['x-key'];
  const caller = typeof sent === 'string' ? keys.get(createHash('sha256').update(sent).digest('base64url')) : undefined;
  if (caller === undefined) await reply.code(401).send({ error: 'unauthorized' });
  else callers.set(request, caller);
});
const callerOf = (request: FastifyRequest) => callers.get(request) ?? '';
const eventSql = { name: 'event', text: 'INSERT INTO hand.events (id, kind, payload) VALUES ($1, $2, $3)' };

app.post(
  '/notes',
  {
    schema: {
      body: {
        type: 'object',
        required: ['text'],
        additionalProperties: false,
        properties: {
          text: { type: 'string', minLength: 1, maxLength: 200 },
          stars: { type: 'integer', minimum: 0, maximum: 5, default: 0 },
        },
      },
      response: { '2xx': note },
    },
  },
  async (request, reply) => {
    const { text, stars } = request.body as { text: string; stars: number };
    const record = `${callerOf(request)}\n${String(request.headers['idempotency-key'])}`;
    const fingerprint = createHash('sha256').update(JSON.stringify(request.body)).digest('base64url');
    const client = await pool.connect();
    try {
      await client.query('BEGIN');
      const known = await client.query({
        name: 'known',
        text: 'SELECT fingerprint, body FROM hand.keys WHERE key = $1',
        values: [record],
      });
      if (known.rows[0]) {
        await client.query('ROLLBACK');
        return reply.code(known.rows[0].fingerprint === fingerprint ? 201 : 422).send(JSON.parse(known.rows[0].body));
      }
      const made: Note = { id: `note_${randomBytes(10).toString('hex')}`, owner: callerOf(request), text, stars, state: 'open' };
      await client.query({
        name: 'make',
        text: `INSERT INTO hand.notes (${columns}) VALUES ($1, $2, $3, $4, $5)`,
        values: [made.id, made.owner, text, stars, made.state],
      });
      await client.query({ ...eventSql, values: [`evt_${randomBytes(10).toString('hex')}`, 'note.made', JSON.stringify(made)] });
      await client.query({
        name: 'keep',
        text: "INSERT INTO hand.keys VALUES ($1, $2, $3, now() + interval '24 hours')",
        values: [record, fingerprint, JSON.stringify(made)],
      });
      await client.query('COMMIT');
      return reply.code(201).send(made);
    } catch (error) {
      await client.query('ROLLBACK');
      throw error;
    } finally {
      client.release();
    }
  },
);

app.get('/notes/:id', { schema: { response: { '2xx': note } } }, async (request, reply) => {
  const { id } = request.params as { id: string };
  const { rows } = await pool.query({
    name: 'get',
    text: `SELECT ${columns} FROM hand.notes WHERE id = $1 AND owner = $2`,
    values: [id, callerOf(request)],
  });
  return rows[0] ?? reply.code(404).send({ error: 'not_found' });
});

app.get(
  '/notes',
  {
    schema: {
      response: { 200: { type: 'object', properties: { data: { type: 'array', items: note }, next: { type: 'string' } } } },
    },
  },
  async () => {
    const { rows } = await pool.query<Note & { seq: string }>({
      name: 'page',
      text: `SELECT ${columns}, seq FROM hand.notes ORDER BY seq LIMIT 21`,
      values: [],
    });
    const data = rows.slice(0, 20);
    return { data, ...(rows.length > 20 && { next: Buffer.from(String(data.at(-1)?.seq)).toString('base64url') }) };
  },
);

app.post('/notes/:id/shut', { schema: { response: { '2xx': note } } }, async (request, reply) => {
  const { id } = request.params as { id: string };
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    const { rows } = await client.query<Note>({
      name: 'lock',
      text: `SELECT ${columns} FROM hand.notes WHERE id = $1 AND owner = $2 FOR UPDATE`,
      values: [id, callerOf(request)],
    });
    const before = rows[0];
    if (!before) {
      await client.query('ROLLBACK');
      return reply.code(404).send({ error: 'not_found' });
    }
    const after = { ...before, state: 'shut' };
    await client.query({ name: 'shut', text: 'UPDATE hand.notes SET state = $2 WHERE id = $1', values: [id, after.state] });
    await client.query({ ...eventSql, values: [`evt_${randomBytes(10).toString('hex')}`, 'note.shut', JSON.stringify(after)] });
    await client.query('COMMIT');
    return after;
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  } finally {
    client.release();
  }
});

await app.listen({ port: 0, host: '127.0.0.1' });
const address = app.server.address();
process.send?.({ port: typeof address === 'object' ? address?.port : 0, made: { secret: key } });
process.on('disconnect', () => process.exit());
