import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ServeOptions } from '../src/index.ts';
import { Duplicate } from '../src/store/failures.ts';
import type { NewRow } from '../src/store/store.ts';
import { isLong, oneOfEach } from './long.ts';
import { brokenStore, type StoreFault } from './verify/broken-store.ts';
import { notes } from './verify/notes.ts';
import { smallService } from './verify/small-service.ts';
import { type Bent, openStand, type Passing } from './verify/stand.ts';

/** A fault in the engine below a document that is right: of its store, of what comes in or of what goes out. */
interface EngineFault {
  readonly fault: string;
  readonly part: string;
  /** What has to be said to be broken; one of them where it may be seen in either. */
  readonly breaks: RegExp;
  readonly document?: string;
  /** Made anew for each run. */
  readonly store?: () => StoreFault;
  readonly bend?: (request: Bent) => Partial<Bent>;
  readonly spoil?: (passing: Passing) => Partial<Passing>;
  readonly serve?: ServeOptions;
}

type Doc = Record<string, unknown>;
const docOf = ({ doc }: Pick<NewRow, 'doc'>): Doc => JSON.parse(doc) as Doc;
const withDoc = <T extends { readonly doc: string }>(row: T, change: (doc: Doc) => Doc): T => ({
  ...row,
  doc: JSON.stringify(change(docOf(row))),
});
const jsonOf = ({ text }: Pick<Passing, 'text'>): Doc | undefined => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Doc) : undefined;
  } catch {
    return undefined;
  }
};

const faults: readonly EngineFault[] = [
  // Resources
  {
    fault: 'a change of a text is not stored',
    part: 'resources',
    breaks: /^allowed values:note\.text$/,
    store: () => ({
      changing: {
        update: (own, table, row) => own(table, 'text' in docOf(row) ? withDoc(row, (doc) => ({ ...doc, text: 'kept' })) : row),
      },
    }),
  },
  {
    fault: 'a number is stored as another',
    part: 'resources',
    breaks: /^allowed values:note\.stars$/,
    store: () => ({
      changing: {
        insert: (own, table, row) =>
          own(
            table,
            withDoc(row, (doc) => ('stars' in doc ? { ...doc, stars: 0 } : doc)),
          ),
      },
    }),
  },
  {
    fault: 'what is deleted stays',
    part: 'resources',
    breaks: /^identifiers:(book|note)$/,
    store: () => ({ changing: { remove: () => undefined } }),
  },
  {
    fault: 'nobody looks whether a name is taken',
    part: 'resources',
    breaks: /^allowed values:book\.name$/,
    store: () => ({
      changing: {
        insert: (own, table, row) =>
          own(
            table,
            table === 'book'
              ? { ...row, columns: row.columns.map((one) => (typeof one === 'string' ? `${one}${row.id}` : one)) }
              : row,
          ),
      },
      reading: { holder: () => undefined },
    }),
  },
  // States
  {
    fault: 'the state is not stored',
    part: 'states',
    breaks: /^transitions:note$/,
    store: () => ({
      changing: {
        update: (own, table, row) =>
          own(
            table,
            withDoc(row, (doc) => (doc.status === 'closed' ? { ...doc, status: 'open' } : doc)),
          ),
      },
    }),
  },
  {
    fault: 'a row begins in another state',
    part: 'states',
    breaks: /^(allowed values:note\.status|states:note)$/,
    store: () => ({
      changing: {
        insert: (own, table, row) =>
          own(
            table,
            withDoc(row, (doc) => ('status' in doc ? { ...doc, status: 'held' } : doc)),
          ),
      },
    }),
  },
  {
    fault: 'no timer is ever set',
    part: 'states',
    document: smallService,
    breaks: /^transitions:note$/,
    store: () => ({ changing: { setTimer: () => undefined } }),
  },
  // Endpoints
  {
    fault: 'the first row of a list is left out',
    part: 'endpoints',
    breaks: /^pagination bounds:GET \/notes$/,
    store: () => ({
      reading: {
        all: (own, query, params) => own(query, params).slice(1),
        joined: (own, query, params, wantsFirst) =>
          own({ ...query, offset: undefined as never, ...(query.limit === undefined ? {} : {}) }, params, wantsFirst),
      },
    }),
  },
  {
    fault: 'a filter is not looked at',
    part: 'endpoints',
    breaks: /^parameters:GET \/notes$/,
    store: () => ({
      reading: {
        all: (own, { where: _where, ...query }, params) => own(query, params),
        joined: (own, { where: _where, ...query }, params, wantsFirst) => own(query, params, wantsFirst),
      },
    }),
  },
  {
    fault: 'an order is not looked at',
    part: 'endpoints',
    breaks: /^(parameters|response payload shapes):GET \/notes$/,
    store: () => ({
      reading: {
        joined: (own, { order: _order, ...query }, params, wantsFirst) =>
          own({ ...query, newestFirst: true }, params, wantsFirst),
        all: (own, { order: _order, ...query }, params) => own({ ...query, newestFirst: true }, params),
      },
    }),
  },
  {
    fault: 'answers under a key are forgotten',
    part: 'endpoints',
    breaks: /^request payload shapes:POST \/notes$/,
    store: () => ({ reading: { record: () => undefined } }),
  },
  {
    fault: 'tags are not looked at',
    part: 'endpoints',
    breaks: /^request payload shapes:PATCH \/notes\/\{id\}$/,
    bend: ({ headers: { 'if-match': _match, ...headers } }) => ({ headers }),
  },
  // Authentication
  {
    fault: 'whoever calls is the same',
    part: 'authentication',
    document: smallService,
    breaks: /^(permission rules:.+|allowed values:(note|hook)\.owner)$/,
    serve: { identify: () => ({ user: 'writer', id: 'everybody', scopes: [] }) as never },
  },
  {
    fault: 'lists leak',
    part: 'authentication',
    document: smallService,
    breaks: /^permission rules:(list note|news)$/,
    store: () => ({
      reading: {
        all: (own, { where: _where, ...query }, params) => own(query, params),
        joined: (own, { where: _where, ...query }, params, wantsFirst) => own(query, params, wantsFirst),
        count: (own, { where: _where, ...query }, params) => own(query, params),
      },
    }),
  },
  {
    fault: 'a refusal of a foreign row says that it is there',
    part: 'authentication',
    document: smallService,
    breaks: /^permission rules:read note$/,
    spoil: ({ status, text }) =>
      status === 404 && text.includes('missing')
        ? { status: 403, text: text.replaceAll('missing', 'forbidden').replaceAll('404', '403') }
        : {},
  },
  // Events
  {
    fault: 'one kind of event is sent to nobody',
    part: 'events',
    document: smallService,
    breaks: /^emitting operations:note\.made$/,
    store: () => {
      const dropped = new Set<number>();
      return {
        outbox: {
          addEvent(own, event) {
            const seq = own(event);
            if (event.kind === 'note.made') dropped.add(seq);
            return seq;
          },
          addDelivery: (own, delivery) => (dropped.has(delivery.event) ? 0 : own(delivery)),
        },
      };
    },
  },
  {
    fault: 'an event says what was not so',
    part: 'events',
    document: smallService,
    breaks: /^payload shapes:note\.\w+$/,
    store: () => ({ outbox: { addEvent: (own, event) => own({ ...event, payload: '{}' }) } }),
  },
  {
    fault: 'what could not be delivered is tried again a day later',
    part: 'events',
    document: smallService,
    breaks: /^delivery mechanism:service$/,
    store: () => ({ outbox: { postpone: (own, delivery, dueMs) => own(delivery, dueMs + 86_400_000) } }),
  },
  // Errors
  {
    fault: 'refusals have lost their code',
    part: 'errors',
    breaks: /^error payload shapes:service$/,
    spoil: (passing) => {
      const body = passing.status >= 400 ? jsonOf(passing) : undefined;
      return body ? { text: JSON.stringify({ ...body, code: undefined }) } : {};
    },
  },
  {
    fault: 'what is taken fails instead of being refused',
    part: 'errors',
    breaks: /^conditions:taken$/,
    store: () => ({
      changing: {
        insert: (own, table, row) => {
          try {
            return own(table, row);
          } catch (error) {
            throw error instanceof Duplicate ? new Error('UNIQUE') : error;
          }
        },
      },
    }),
  },
  {
    fault: 'a refusal says where it failed',
    part: 'errors',
    breaks: /^error payload shapes:service$/,
    spoil: (passing) => {
      const body = passing.status === 404 ? jsonOf(passing) : undefined;
      return body ? { text: JSON.stringify({ ...body, detail: 'at read (/srv/app/rows.js:12:3)' }) } : {};
    },
  },
  // Limits
  {
    fault: 'a counter never counts',
    part: 'limits',
    document: smallService,
    breaks: /^quotas:service$/,
    store: () => ({ changing: { addTo: (_own, _counter, amount) => amount } }),
  },
  {
    fault: 'a counter counts twice',
    part: 'limits',
    document: smallService,
    breaks: /^quotas:service$/,
    store: () => ({
      changing: { addTo: (own, counter, amount, nowMs, expiresMs) => own(counter, 2 * amount, nowMs, expiresMs) },
    }),
  },
  // Versioning
  {
    fault: 'the version that is asked for is not looked at',
    part: 'versioning',
    document: smallService,
    breaks: /^version (selection|identifiers):service$/,
    bend: ({ headers: { 'small-version': _version, ...headers } }) => ({ headers }),
  },
  {
    fault: 'deprecation is not told',
    part: 'versioning',
    document: smallService,
    breaks: /^deprecation rules:2$/,
    spoil: ({ headers: { deprecation: _deprecation, ...headers } }) => ({ headers }),
  },
  {
    fault: 'an old version is shown the new words',
    part: 'versioning',
    document: smallService,
    breaks: /^version (selection|identifiers):service$/,
    bend: ({ headers, method }) => (method === 'GET' ? { headers: { ...headers, 'small-version': '3' } } : {}),
  },
  // Purpose
  {
    fault: 'an operation of a function always fails',
    part: 'purpose',
    document: smallService,
    breaks: /^functions:service$/,
    bend: ({ target }) => ({ target: target.replace(/\/close$/, '/shut') }),
  },
  {
    fault: 'everything is also there without its base path',
    part: 'purpose',
    document: smallService,
    breaks: /^base address:service$/,
    bend: ({ target }) => ({ target: target.startsWith('/v1') ? target : `/v1${target}` }),
  },
  {
    fault: 'one user is nobody',
    part: 'purpose',
    document: smallService,
    breaks: /^permission rules:close note$/,
    spoil: ({ target, method }) => (method === 'POST' && target.endsWith('/close') ? { status: 403, text: '{}' } : {}),
  },
];

// Most of the time goes into waiting for what does not come, which several can do at once.
describe('a fault of the engine', { concurrency: 4 }, () => {
  for (const { fault, part, breaks, document = notes, store, bend, spoil, serve } of oneOfEach(faults, ({ part }) => part)) {
    test(`${part}: ${fault}`, async () => {
      const stand = await openStand(document, {
        inPairs: document === smallService,
        ...(bend && { bend }),
        ...(spoil && { spoil }),
        serve: {
          ...(document === smallService && { allowPrivateWebhooks: true }),
          ...(store && { store: brokenStore(store()) }),
          ...serve,
        },
      });
      try {
        const report = await stand.verify({
          // In the long run it is found among everything else that a document states.
          ...(!isLong && { only: [part] }),
          until: ({ kind, subject }) => breaks.test(`${kind}:${subject}`),
          timeMs: 300_000,
        });
        const broken = report.breaches.map(({ kind, subject }) => `${kind}:${subject}`);
        assert.ok(
          broken.some((one) => breaks.test(one)),
          `broken is ${broken.join(', ')}`,
        );
      } finally {
        await stand.close();
      }
    });
  }
});
