import type { TestContext } from 'node:test';
import {
  type Document,
  movableClock,
  openStore,
  parseDocument,
  type ServeOptions,
  type Service,
  serve,
} from '../../src/index.ts';
import type { OutboxReader } from '../../src/store/outbox.ts';
import type { Store } from '../../src/store/store.ts';

export const startMs = Date.parse('2026-06-01T09:00:00Z');

/** A service whose callers say who they are, as `user/id`, `user/id/key` or `user/id//scope+scope`, with a clock that is moved by hand, over a store that can be looked into. */
export interface Trial {
  readonly service: Service;
  readonly store: Store;
  readonly clock: ReturnType<typeof movableClock>;
  readonly failures: unknown[];
  /** Sends as a caller, written `user/id`. */
  send(who: string, method: string, target: string, body?: unknown): Promise<{ readonly status: number; readonly json: Json }>;
  /** Moves the clock, and waits until what is due is done. */
  advance(ms: number): Promise<void>;
  outbox<T>(look: (outbox: OutboxReader) => T): Promise<T>;
  /** Stops the service and starts another over the same data. */
  restart(document?: string | Document): Promise<void>;
}

// What came back is whatever the test says it is.
type Json = Record<string, never> & { readonly id: string; readonly secret: string; readonly violations: { path: string }[] };

export type TrialOptions = Partial<Omit<ServeOptions, 'store' | 'clock'>> & {
  readonly path?: string;
  readonly startMs?: number;
  /** Another store than the usual one. */
  readonly opening?: (path: string) => Store;
};

export async function startTrial(test: TestContext, document: string | Document, options: TrialOptions = {}): Promise<Trial> {
  const clock = movableClock(options.startMs ?? startMs);
  const failures: unknown[] = [];
  const { path = ':memory:', startMs: _startMs, opening = openStore, ...rest } = options;
  const state = { store: opening(path), document: documentOf(document) };
  const start = () =>
    serve(state.document, {
      clock,
      store: state.store,
      allowPrivateWebhooks: true,
      identify({ headers }) {
        const [user = '', id = '', key = '', scopes = ''] = String(headers['x-who'] ?? '').split('/');
        return user === '' ? undefined : { user, id, scopes: scopes.split('+'), ...(key !== '' && { key }) };
      },
      onFailure: (failure) => failures.push(failure),
      ...rest,
    });
  let service = await start();
  test.after(async () => {
    await service.close();
    await state.store.close();
  });
  return {
    get service() {
      return service;
    },
    get store() {
      return state.store;
    },
    clock,
    failures,
    async send(who, method, target, body) {
      const headers = { 'x-who': who, ...(body !== undefined && { 'content-type': 'application/json' }) };
      const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
      const response = await service.fetch(new Request(`http://127.0.0.1${target}`, init));
      const text = await response.text();
      return { status: response.status, json: text === '' ? undefined : JSON.parse(text) };
    },
    async advance(ms) {
      // What is under way would run out of time.
      await service.settled();
      clock.advance(ms);
      await service.settled();
    },
    outbox: async (look) => state.store.read((rows) => look(rows.outbox)),
    async restart(next) {
      await service.close();
      if (path !== ':memory:') {
        await state.store.close();
        state.store = opening(path);
      }
      if (next !== undefined) state.document = documentOf(next);
      service = await start();
    },
  };
}

function documentOf(document: string | Document): Document {
  return typeof document === 'string' ? parseDocument(document, 'trial.yaml') : document;
}

/** Things that their owners may read, and clerks all of them; whoever wants to hear of them makes a hook. */
export const things = (delivery = '', kinds = ''): string => `
title: Things
purpose:
  purpose: Keeps things.
  users: { owner: Keeps things., clerk: Looks after all of them. }
  functions: { keep: [create thing, read thing, update thing, delete thing, finish thing, create hook, read hook, update hook, delete hook, create note, delete note, read note] }
resources:
  thing:
    identifier: { field: id, generate: "thg_{ulid}" }
    fields:
      id: string
      owner: { type: string, readOnly: true, set: { create: caller.id } }
      name: string
      cost: { type: integer, visible: [clerk], default: 5 }
      pin: { type: string, writeOnly: true }
      token: { type: string, readOnly: true, generate: "tok_{random:8}", reveal: once }
      status: { type: string, readOnly: true }
    required: [id, owner, name, token, status]
  note:
    identifier: { field: id, generate: "not_{ulid}" }
    fields:
      id: string
      thing: { ref: thing, onDelete: cascade }
      text: string
    required: [id, thing, text]
  hook:
    identifier: { field: id, generate: "hok_{ulid}" }
    fields:
      id: string
      owner: { type: string, readOnly: true, set: { create: caller.id } }
      url: string
      kinds: { type: array, items: string }
      secret: { type: string, generate: "whsec_{base64:32}", reveal: once }
      enabled: { type: boolean, default: true }
    required: [id, owner, url, secret, enabled]
states:
  thing:
    field: status
    initial: new
    states: [new, done, stale]
    transitions: { finish: new -> done, rot: { from: new, to: stale, after: 30d } }
  note: none
  hook: none
endpoints:
  POST /things: { does: create thing }
  GET /things/{id}: { does: read thing }
  PATCH /things/{id}: { does: update thing }
  DELETE /things/{id}: { does: delete thing }
  POST /things/{id}/finish: { does: finish thing }
  POST /notes: { does: create note }
  GET /notes/{id}: { does: read note }
  DELETE /notes/{id}: { does: delete note }
  POST /hooks: { does: create hook }
  GET /hooks/{id}: { does: read hook }
  PATCH /hooks/{id}: { does: update hook }
  DELETE /hooks/{id}: { does: delete hook }
authentication:
  schemes: { key: { type: api_key, header: X-Key, placeholder: "{key}" } }
  permissions:
    - { allow: [create thing, create note, create hook], to: [owner, clerk] }
    - { allow: [read thing, update thing, delete thing, finish thing], to: owner, if: "resource.owner == caller.id" }
    - { allow: [read thing, update thing, delete thing, finish thing], to: clerk }
    - { allow: [read note, delete note], to: owner, if: "resource['thing'].owner == caller.id" }
    - { allow: [read note, delete note], to: clerk }
    - { allow: [read hook, update hook, delete hook], to: [owner, clerk], if: "resource.owner == caller.id" }
    - { allow: [stream events], to: [owner, clerk] }
events:
  delivery:
    webhook:
      signature: standard-webhooks
      retry: [5s, 5m, 30m]
      timeout: 15s
      disable_after: 5d
      subscribers: { resource: hook, url: url, secret: secret, events: kinds, enabled: enabled }
${delivery.replaceAll(/^/gm, '      ')}
    stream: { path: GET /stream, format: sse, keep: 24h }
  kinds:
    thing.made: { on: [create thing], payload: thing }
    thing.changed: { on: [update thing, finish thing, rot thing], payload: thing }
    thing.gone: { on: [delete thing], payload: { type: object, properties: { id: string, name: string }, required: [id] }, data: { id: resource.id, name: "has(resource.name) ? resource.name : ''" } }
    note.made: { on: [create note], payload: note }
    note.gone: { on: [delete note], payload: note }
    hook.off: { on: [disable hook], payload: hook }
${kinds.replaceAll(/^/gm, '    ')}
errors: { payload: problem, codes: none }
limits: none
versioning: { versions: none }
`;
