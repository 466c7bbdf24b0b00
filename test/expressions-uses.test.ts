import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import type { Document } from '../src/document/document.ts';
import { checkExpression } from '../src/parts/expressions/check.ts';
import type { ExpressionUse } from '../src/parts/expressions/scope.ts';
import { readSpec, type Spec } from '../src/parts/spec.ts';
import { expressionUses } from '../src/parts/uses/all.ts';

const text = `
resources:
  account: { identifier: id, fields: { id: string, owner: string }, required: [id, owner] }
  hook: { identifier: id, fields: { id: string, owner: { type: string, set: { create: caller.id } } }, required: [id, owner] }
  parcel:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      merchant: { type: string, readOnly: true, set: { create: caller.id } }
      status: string
      note: string
      secret: { type: string, visible: [staff] }
      price: { type: integer, set: { buy: "next.note == '' ? 1 : 2" } }
      due: { type: string, format: date-time, set: { write: now } }
    required: [id, merchant, status, secret, due]
    unique: [{ fields: [note], while: "next.status == 'draft'" }]
states:
  parcel:
    field: status
    initial: [{ if: has(request.note), state: draft }, { state: bought }]
    states: [draft, bought, gone]
    transitions:
      buy: { from: draft, to: [{ if: params.fast, state: bought }, { state: gone }], if: caller.id == resource.merchant }
      expire: { from: draft, to: gone, at: resource.due }
      drop: { from: draft, to: gone, by: service, if: caller.id == '' }
endpoints:
  POST /parcels: { does: create parcel }
  PUT /parcels/{id}: { does: upsert parcel }
  PATCH /parcels/{id}: { does: update parcel }
  GET /parcels/{id}: { does: read parcel, response: { 200: { shape: { type: object, properties: { id: string }, required: [id] }, data: { id: result.id, secret: result.secret }, headers: { X-At: now }, if: path != '' } } }
  GET /parcels: { does: list parcel, parameters: { status: { in: query } }, response: { 200: { data: { rows: items, next: next_cursor, n: params.status } } } }
  POST /parcels/{id}/buy: { does: buy parcel, parameters: { fast: { in: query, type: boolean, default: false } } }
  DELETE /parcels/{id}: { does: delete parcel }
  GET /me: { does: read account, identity: caller.id }
  GET /quote: { does: handler quote, parameters: { n: { in: query, type: integer } } }
authentication:
  schemes: { token: { type: jwt, caller: { id: claims.sub, scopes: "claims.scope.split(' ')" } } }
  public: [handler quote]
  permissions:
    - { allow: [read parcel, delete parcel], to: merchant, if: resource.merchant == caller.id }
    - { allow: [create parcel, update parcel], to: merchant, if: next.merchant == caller.id && resource.id != '' }
    - { allow: [list parcel], to: anyone, if: resource.merchant == caller.id }
events:
  delivery: { webhook: { headers: { X-Event: event.kind }, subscribers: { resource: hook } }, envelope: { id: event.id, body: event.payload } }
  kinds:
    parcel.changed: { on: [all parcel], if: caller.id != '', payload: { type: object, properties: { id: string }, required: [id] }, data: { id: next.id }, to: subscriber.owner == next.merchant && caller.id != '' }
    parcel.deleted: { on: [delete parcel], payload: parcel, data: resource }
errors:
  codes: { dear: { status: 422, if: resource.due > now, hint: cheaper }, late: { status: 409, on: [buy parcel], if: resource.due < now } }
  payload: { shape: { type: object }, data: { code: code, hint: hint, at: "violations.map(v, v.path)", who: message } }
versioning:
  versions: { v1: {}, v2: {}, v3: { current: true } }
  changes:
    v2: [{ map: parcel.cost, was: string, down: string(value), up: int(value) }]
    v3: [{ rename: parcel.cost, to: price }, { remove: parcel.old, was: string, down: "'none'" }]
`;
const spec = specOf(text);
const uses = expressionUses(spec);

/** Place → the operations that its expression stands for, and the variables in scope in the first, beside now, operation and version. */
const scopes: readonly (readonly [at: string, operations: string, variables: string])[] = [
  ['/resources/parcel/fields/merchant/set/create', 'create parcel, upsert parcel', 'request params next caller'],
  ['/resources/parcel/fields/price/set/buy', 'buy parcel', 'request params resource next caller'],
  [
    '/resources/parcel/fields/due/set/write',
    'create parcel, upsert parcel, update parcel, buy parcel, expire parcel, drop parcel',
    'request params next caller',
  ],
  ['/resources/hook/fields/owner/set/create', '', 'resource next caller'],
  ['/states/parcel/initial/0/if', 'create parcel, upsert parcel', 'request params next caller'],
  ['/states/parcel/transitions/buy/if', 'buy parcel', 'request params resource next caller'],
  ['/states/parcel/transitions/buy/to/0/if', 'buy parcel', 'request params resource next caller'],
  ['/states/parcel/transitions/expire/at', '', 'resource'],
  ['/states/parcel/transitions/drop/if', 'drop parcel', 'resource next'],
  ['/endpoints/GET ~1me/identity', 'read account', 'request params caller'],
  ['/endpoints/GET ~1parcels~1{id}/response/200/if', 'read parcel', 'request params resource caller path result'],
  [
    '/endpoints/GET ~1parcels/response/200/data/rows',
    'list parcel',
    'request params resource caller path items next_cursor next_url has_more total',
  ],
  ['/authentication/schemes/token/caller/id', '', 'claims'],
  ['/authentication/permissions/0/if', 'read parcel, delete parcel', 'request params resource caller'],
  [
    '/events/kinds/parcel.changed/if',
    'create parcel, upsert parcel, update parcel, buy parcel, expire parcel, drop parcel',
    'request params next caller event',
  ],
  [
    '/events/kinds/parcel.changed/to',
    'create parcel, upsert parcel, update parcel, buy parcel, expire parcel, drop parcel',
    'request params next caller event subscriber',
  ],
  ['/events/kinds/parcel.deleted/data', 'delete parcel', 'request params resource caller event'],
  ['/events/delivery/webhook/headers/X-Event', '', 'event subscriber'],
  ['/events/delivery/envelope/id', '', 'event'],
  ['/errors/codes/late/if', 'buy parcel', 'request params resource next caller'],
  ['/errors/payload/data/code', '', 'hint code status message path violations result request_id'],
  ['/versioning/changes/v2/0/down', '', 'value'],
  ['/versioning/changes/v3/1/down', '', ''],
];

test('every expression has the scope of its place in each operation that it stands for', () => {
  for (const [at, operations, variables] of scopes) {
    const use = useAt(at);
    assert.equal(use.scopes.flatMap(({ operation }) => operation ?? []).join(', '), operations, at);
    const names = Object.keys(use.scopes[0]?.scope ?? {}).filter((name) => !['now', 'operation', 'version'].includes(name));
    assert.equal(names.join(' '), variables, at);
  }
  assert.deepEqual(Object.keys(useAt('/resources/parcel/unique/0/while').scopes[0]?.scope ?? {}), ['next']);
});

test('no expression of a document is left out', () => {
  assert.equal(uses.length, 39);
  assert.equal(new Set(uses.map(({ at }) => at)).size, uses.length);
});

/** Place → what is wrong there: kind, the text that it is about, and the operations where it is not in all. */
const problems: readonly (readonly [at: string, found: readonly string[]])[] = [
  ['/resources/parcel/fields/price/set/buy', ['absent next.note']],
  ['/states/parcel/transitions/drop/if', ['scope caller']],
  ['/endpoints/GET ~1parcels~1{id}/response/200/data/secret', ['absent result.secret']],
  ['/endpoints/GET ~1parcels/response/200/data/n', ['absent params.status']],
  ['/authentication/permissions/1/if', ['scope resource (create parcel)']],
  ['/authentication/permissions/2/if', ['absent caller.id']],
  ['/events/kinds/parcel.changed/if', ['scope caller (expire parcel, drop parcel)']],
  [
    '/errors/codes/dear/if',
    ['scope resource (create parcel, handler quote)', 'absent resource.due (upsert parcel)', 'field resource.due (read account)'],
  ],
];

test('an expression is checked in every scope that it has', () => {
  for (const use of uses) {
    const found = checkExpression(spec, use).map(({ kind, offset = 0, length = 0, operations }) => {
      const where = operations ? ` (${operations.join(', ')})` : '';
      return `${kind} ${use.source.slice(offset, offset + length)}${where}`;
    });
    assert.deepEqual(found, problems.find(([at]) => at === use.at)?.[1] ?? [], use.at);
  }
});

test('what a failing evaluation means depends on the place', () => {
  const failures = [
    ['/authentication/permissions/0/if', 'refused'],
    ['/states/parcel/transitions/buy/if', 'blocked'],
    ['/states/parcel/transitions/buy/to/0/if', 'blocked'],
    ['/authentication/schemes/token/caller/id', 'unknown caller'],
    ['/events/kinds/parcel.changed/to', 'unsent'],
    ['/resources/parcel/fields/price/set/buy', 'internal'],
  ] as const;
  for (const [at, failure] of failures) assert.equal(useAt(at).failure, failure, at);
});

test('without schemes a caller is asked for with has', () => {
  const open = specOf(text.replace(/authentication:[\s\S]*?(?= {2}permissions:)/, 'authentication:\n'));
  const rule = expressionUses(open).find(({ at }) => at === '/authentication/permissions/0/if');
  assert.deepEqual(rule && checkExpression(open, rule).map(({ kind }) => kind), ['absent']);
});

test('a mapped field has the shape of its version', () => {
  assert.equal(useAt('/versioning/changes/v2/0/up').expected.shape.type, 'integer');
  assert.equal(useAt('/versioning/changes/v2/0/down').expected.shape.type, 'string');
});

function useAt(at: string): ExpressionUse {
  const use = uses.find((candidate) => candidate.at === at);
  assert.ok(use, `${at} is not among ${uses.map((candidate) => candidate.at).join(' ')}`);
  return use;
}

function specOf(source: string): Spec {
  const document: Document = { title: '', tree: parse(source), places: new Map(), prose: [], sources: new Map(), findings: [] };
  return readSpec(document);
}
