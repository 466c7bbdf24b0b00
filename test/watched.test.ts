import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDocument, type Service, serve } from '../src/index.ts';
import { settableClock } from '../src/serve/http/clock.ts';
import { openOperations } from '../src/serve/service/operations-door.ts';
import { metricsText } from '../src/serve/service/watched.ts';

const document = `title: Notes
purpose: { purpose: Keeps notes., base_url: none, users: none, functions: none }
resources:
  note:
    identifier: { field: id, generate: ulid }
    fields: { id: string, text: string, state: { enum: [new, old], readOnly: true }, until: { type: string, format: date-time, readOnly: true, set: { create: "now + duration('1h')" } } }
    required: [id, text, until]
states:
  note: { field: state, initial: new, states: [new, old], transitions: { age: { from: new, to: old, at: resource.until } } }
endpoints:
  POST /notes: { does: create note }
  GET /notes/{id}: { does: read note }
authentication: none
events: { kinds: { made: { on: [create note], payload: note } } }
`;

async function watching(
  run: (service: Service, ask: (path: string, init?: RequestInit) => Promise<Response>, stop: () => void) => Promise<void>,
) {
  const service = await serve(parseDocument(document, 'notes.yaml'), { watch: true, clock: settableClock() });
  assert.ok(service.watched);
  const figures = () => ({ memoryBytes: 2 ** 20, uptimeSeconds: 3 });
  const { watched, administer } = service;
  const log = { level: 'exchanges' as const };
  const door = await openOperations({ watched, administer, log, port: 0, host: '127.0.0.1', figures });
  try {
    await run(service, (path, init) => fetch(`${door.url}${path}`, init), door.stopping);
  } finally {
    await door.close();
    await service.close();
  }
}

const send = (service: Service, path: string, body?: object) =>
  service.fetch(
    new Request(`http://127.0.0.1${path}`, {
      ...(body && { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    }),
  );

/** The lines of figures, by all that stands before the value. */
async function figures(response: Response): Promise<Map<string, number>> {
  const lines = (await response.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const [, name, value] = /^([a-z_]+(?:\{[^\n]*\})?) (\S+)$/.exec(line) ?? assert.fail(line);
      return [name as string, Number(value)];
    }),
  );
}

test('those who run a service are told that it lives, whether it is ready, and figures that no client can multiply', async () => {
  await watching(async (service, ask) => {
    assert.deepEqual(await (await ask('/livez')).json(), { live: true });
    assert.deepEqual(await (await ask('/readyz')).json(), { ready: true, checks: { store: 'ok', timers: 'ok' } });
    const made = (await (await send(service, '/notes', { text: 'a' })).json()) as { id: string };
    await send(service, `/notes/${made.id}`);
    await send(service, '/notes/none');
    await send(service, '/notes', { text: 1 });
    for (let n = 0; n < 50; n++) await send(service, `/elsewhere/${n}`);
    const response = await ask('/metrics');
    assert.match(response.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
    const found = await figures(response);
    assert.equal(found.get('ninefold_requests_total{operation="create note",status="201"}'), 1);
    assert.equal(found.get('ninefold_requests_total{operation="read note",status="200"}'), 1);
    assert.equal(found.get('ninefold_refusals_total{code="resource.missing"}'), 1);
    assert.equal(found.get('ninefold_request_duration_seconds_count{operation="create note"}'), 2);
    assert.equal(found.get('ninefold_request_duration_seconds_bucket{operation="create note",le="+Inf"}'), 2);
    assert.equal(found.get('ninefold_events_recorded'), 0);
    assert.equal(found.get('ninefold_timer_lag_seconds'), 0);
    assert.equal([...found.keys()].filter((name) => name.includes('operation=""') && name.includes('requests_total')).length, 1);
    assert.equal(found.get('process_resident_memory_bytes'), 2 ** 20);
    assert.ok([...found.keys()].some((name) => name === 'ninefold_facts{standing="open"}'));
  });
});

test('who is to stop is not ready and still lives; the door only tells, and tells no page of a browser', async () => {
  await watching(async (_service, ask, stop) => {
    assert.equal((await ask('/readyz', { method: 'POST' })).status, 405);
    assert.equal((await ask('/metrics', { headers: { origin: 'http://example.com' } })).status, 403);
    assert.equal((await ask('/')).status, 404);
    stop();
    const response = await ask('/readyz');
    assert.equal(response.status, 503);
    const { code, detail } = (await response.json()) as { code: string; detail: string };
    assert.deepEqual([code, detail], ['not_ready', 'it is being stopped']);
    assert.equal((await ask('/livez')).status, 200);
  });
});

test('a store that cannot be read makes a service unready and says why', async () => {
  await watching(async (service, ask) => {
    await service.close();
    const response = await ask('/readyz');
    assert.equal(response.status, 503);
    const { detail } = (await response.json()) as { detail: string };
    assert.match(detail, /^store: .*closed/);
    assert.equal((await ask('/metrics')).status, 200);
  });
});

test('what a label says ends neither its quotes nor its line', () => {
  const values = [{ labels: { code: 'a "b"\\\n' }, value: 1 }];
  assert.equal(
    metricsText([{ name: 'n', help: 'Of a\nkind.', type: 'counter', values }]),
    '# HELP n Of a\\nkind.\n# TYPE n counter\nn{code="a \\"b\\"\\\\\\n"} 1\n',
  );
});

test('a service that nobody watches counts nothing', async () => {
  const service = await serve(parseDocument(document, 'notes.yaml'));
  assert.equal(service.watched, undefined);
  await service.close();
});
