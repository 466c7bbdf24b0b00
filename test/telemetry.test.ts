import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { type ExchangeEntry, openStore, parseDocument, serve } from '../src/index.ts';
import { settableClock } from '../src/serve/http/clock.ts';
import { makeSpans, type TraceApi } from '../src/serve/service/telemetry.ts';

const document = `title: Notes
purpose: { users: { writer: Writes. } }
resources:
  note: { identifier: { field: id, generate: ulid }, fields: { id: string, text: string }, required: [id, text] }
endpoints: { POST /notes: { does: create note }, GET /notes: { does: list note } }
authentication:
  schemes: { key: { type: api_key, header: X-Key } }
  permissions: [{ allow: [all note], to: [writer] }]
events: { delivery: { webhook: { retry: [1s] } }, kinds: { made: { on: [create note], payload: note } } }
limits: { rate: [{ per: caller, limit: 10, window: 1h }] }
versioning: { versions: { v1: { current: true } }, select: { header: V, default: current } }
`;

type Attributes = Readonly<Record<string, string | number>>;
interface Told {
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parent: string | undefined;
  readonly attributes: Record<string, string | number>;
  isFailed: boolean;
}

/** The part of the API of OpenTelemetry that is used, and the spans that were ended. */
function recordingApi(): { readonly api: TraceApi; readonly ended: Told[] } {
  const ended: Told[] = [];
  let last = 0;
  const hex = (digits: number) => (++last).toString(16).padStart(digits, '0');
  type Identity = { readonly traceId: string; readonly spanId: string };
  const api: TraceApi = {
    ROOT_CONTEXT: {},
    trace: {
      setSpan: (_context, span) => span.spanContext(),
      setSpanContext: (_context, parent) => parent,
      getTracer: () => ({
        startSpan(name, { kind, attributes }, context) {
          const { traceId = hex(32), spanId: parent } = context as Partial<Identity>;
          const told: Told = { name, kind, traceId, spanId: hex(16), parent, attributes: { ...attributes }, isFailed: false };
          return {
            spanContext: () => ({ traceId, spanId: told.spanId, traceFlags: 1 }),
            setAttributes: (more: Attributes) => Object.assign(told.attributes, more),
            setStatus: ({ code }) => {
              told.isFailed = code === 2;
            },
            end: () => ended.push(told),
          };
        },
      }),
    },
  };
  return { api, ended };
}

/** A receiver that refuses what comes first, and what it was told of traces. */
async function receiver(context: TestContext) {
  const parents: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    parents.push(request.headers.traceparent as string | undefined);
    response.writeHead(parents.length === 1 ? 500 : 204).end();
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  context.after(() => server.close());
  const address = server.address();
  return { parents, url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/` };
}

async function served(context: TestContext, url: string) {
  const clock = settableClock();
  const lines: ExchangeEntry[] = [];
  const onExchange = (entry: ExchangeEntry) => lines.push(entry);
  const service = await serve(parseDocument(document, 'notes.yaml'), { clock, webhooks: [{ url }], onExchange });
  context.after(() => service.close());
  const { secret } = (await service.administer('keys add', { user: 'writer', id: 'w1' })) as { readonly secret: string };
  const write = (text: unknown, headers: Readonly<Record<string, string>> = {}) =>
    service.fetch(
      new Request('http://127.0.0.1/notes', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-key': secret, ...headers },
        body: JSON.stringify({ text }),
      }),
    );
  return { service, clock, lines, write };
}

const trace = '0af7651916cd43dd8448eb211c80319c';
const parent = `00-${trace}-b7ad6b7169203331-01`;

test('one trace goes from the request over its commit to the delivery and to its being tried again', async (context) => {
  const { parents, url } = await receiver(context);
  const { service, clock, lines, write } = await served(context, url);
  const { api, ended } = recordingApi();
  context.after(makeSpans(api));
  assert.equal((await write('a', { traceparent: parent })).status, 201);
  await service.settled();
  clock.set(clock.now() + 5000);
  await service.settled();
  const named = (name: string) => ended.filter((one) => one.name === name);
  const [request] = named('POST /notes');
  const [commit] = named('commit');
  const [first, second] = named('deliver made');
  assert.ok(request && commit && first && second);
  assert.ok(ended.every(({ traceId }) => traceId === trace));
  assert.equal(request.parent, 'b7ad6b7169203331');
  assert.deepEqual([commit.parent, first.parent, second.parent], [request.spanId, request.spanId, request.spanId]);
  assert.deepEqual(parents, [`00-${trace}-${first.spanId}-01`, `00-${trace}-${second.spanId}-01`]);
  assert.deepEqual([request.kind, commit.kind, first.kind], [1, 0, 2]);
  assert.deepEqual([first.isFailed, second.isFailed, request.isFailed], [true, false, false]);
  assert.equal(request.attributes['http.response.status_code'], 201);
  assert.deepEqual(
    [first, second].map(({ attributes }) => attributes['http.request.resend_count']),
    [0, 1],
  );
  assert.equal(lines.at(-1)?.trace, trace);
});

test('a refusal ends its span with its condition, and what is no traceparent begins a trace of its own', async (context) => {
  const { url } = await receiver(context);
  const { write } = await served(context, url);
  const { api, ended } = recordingApi();
  context.after(makeSpans(api));
  await write(1, { traceparent: `00-${'0'.repeat(32)}-b7ad6b7169203331-01` });
  const request = ended.find(({ name }) => name === 'POST /notes');
  assert.equal(request?.parent, undefined);
  assert.notEqual(request?.traceId, '0'.repeat(32));
  assert.equal(request?.attributes['error.type'], 'request.invalid');
  assert.equal(request?.isFailed, false);
});

test('where nobody follows, nothing of a trace is kept or sent on', async (context) => {
  const { parents, url } = await receiver(context);
  const { service, lines, write } = await served(context, url);
  await write('a', { traceparent: parent });
  await service.settled();
  assert.deepEqual(parents, [undefined]);
  assert.equal(lines.at(-1)?.trace, undefined);
});

test('a line says who asked in which version, what is left, and what it cost', async (context) => {
  const { url } = await receiver(context);
  const { lines, write, service } = await served(context, url);
  await Promise.all(['a', 'b', 'c'].map((text) => write(text)));
  // Which of them is done first is the store's to say.
  assert.deepEqual(lines.map(({ left }) => left).toSorted(), [7, 8, 9]);
  const { user, version, rows, batch, storeMs } = lines[2] ?? assert.fail('three lines were written');
  assert.deepEqual({ user, version, rows }, { user: 'writer', version: 'v1', rows: 1 });
  assert.ok((batch ?? 0) >= 1);
  assert.equal(typeof storeMs, 'number');
  await service.fetch(new Request('http://127.0.0.1/notes'));
  const last = lines.at(-1);
  assert.deepEqual([last?.status, last?.user, last?.rows, last?.batch], [401, undefined, undefined, undefined]);
});

test('a store from before traces gets them when it is opened', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'ninefold-traces-'));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'notes.sqlite');
  await openStore(file).close();
  const before = new DatabaseSync(file);
  before.exec('ALTER TABLE ninefold_events DROP COLUMN trace');
  before.close();
  const store = openStore(file);
  context.after(() => store.close());
  const event = { kind: 'made', atMs: 1, operation: 'create note', resource: null, row: null, payload: '{}', image: null };
  await store.change(
    ({ outbox }) => void [outbox.addEvent({ ...event, id: 'a', trace: parent }), outbox.addEvent({ ...event, id: 'b' })],
  );
  const kept = await store.read(({ outbox }) => outbox.events(0, 2).map(({ trace }) => trace));
  assert.deepEqual(kept, [parent, undefined]);
});
