import assert from 'node:assert/strict';
import { test } from 'node:test';
import { oneOfEach } from './long.ts';
import { type Otherwise, servedOtherwise } from './verify/served-otherwise.ts';
import { openStand } from './verify/stand.ts';

/** Rows that are hard to make: children whose errors ask for what they refer to, children of which one field is there, rows below each other. */
const ledger = `
purpose: { users: { clerk: Keeps the ledger. } }
resources:
  price:
    identifier: { field: id, generate: "pri_{ulid}" }
    fields: { id: string, amount: { type: integer, minimum: 0, maximum: 500 }, currency: { enum: [eur, usd] }, every: { type: string?, enum: [month, year, null], null: kept, default: null } }
    required: [id, amount, currency, every]
  plan:
    identifier: { field: id, generate: "pla_{ulid}" }
    fields:
      id: string
      currency: { type: string, readOnly: true, set: { create: "has(request.items) && size(request.items) > 0 && has(find(price, { id: request.items[0].price })) ? find(price, { id: request.items[0].price }).currency : 'eur'" } }
      items: { children: item.plan, minItems: 1, maxItems: 5, envelope: { items: data, data: { object: list } } }
    required: [id, currency, items]
  item:
    identifier: { field: id, generate: "ite_{ulid}" }
    fields: { id: string, plan: { ref: plan, onDelete: cascade, immutable: true }, price: { ref: price, immutable: true, show: expand }, quantity: { type: integer, minimum: 1, maximum: 9, default: 1 } }
    required: [id, plan, price, quantity]
  bill:
    identifier: { field: id, generate: "bil_{ulid}" }
    fields: { id: string, title: { type: string, maxLength: 20 }, lines: { children: line.bill, maxItems: 5 } }
    required: [id, title]
  line:
    identifier: { field: id, generate: "lin_{ulid}" }
    fields: { id: string, bill: { ref: bill, onDelete: cascade, immutable: true }, price: { ref: price, immutable: true }, cents: { type: integer, minimum: 2, maximum: 99, immutable: true } }
    required: [id, bill]
    one_of: [[price, cents]]
  project:
    identifier: { field: id, generate: "pro_{ulid}" }
    fields: { id: string, name: { type: string, pattern: "^[a-z0-9]{6,20}$" } }
    required: [id, name]
    unique: [name]
  task:
    identifier: { field: id, generate: "tas_{ulid}" }
    fields: { id: string, project: { ref: project, immutable: true, visible: none }, number: { type: integer, readOnly: true, generate: integer, within: project }, title: { type: string, maxLength: 20 } }
    required: [id, project, number, title]
  note:
    identifier: { field: id, generate: "not_{ulid}" }
    fields: { id: string, project: { ref: project, immutable: true, visible: none }, task: { ref: task, immutable: true, visible: none }, text: { type: string, maxLength: 20 } }
    required: [id, project, task, text]
states: none
endpoints:
  under:
    "/projects/{project}": { project: { name: project } }
    "/projects/{project}/tasks/{number}": { task: { number: number } }
  POST /prices: { does: create price, consumes: [application/x-www-form-urlencoded], empty: removes }
  GET /prices/{id}: { does: read price }
  POST /plans: { does: create plan, consumes: [application/x-www-form-urlencoded], empty: removes }
  GET /plans/{id}: { does: read plan }
  GET /items: { does: list item, parameters: { plan: { in: query, required: true } } }
  POST /bills: { does: create bill }
  GET /bills/{id}: { does: read bill }
  GET /bills/{bill}/lines: { does: list line }
  POST /projects: { does: create project }
  GET /projects/{project}: { does: read project }
  POST /projects/{project}/tasks: { does: create task }
  GET /projects/{project}/tasks/{number}: { does: read task }
  POST /projects/{project}/tasks/{number}/notes: { does: create note }
  GET /projects/{project}/tasks/{number}/notes: { does: list note }
authentication: none
events: none
errors:
  payload:
    shape: { type: object, properties: { error: { type: object, properties: { type: string, code: string?, why: string } } }, required: [error] }
    data: { error: { type: type, code: code, why: why } }
  codes:
    bad: { status: 400, when: [request.malformed, request.parameter, request.invalid, limit.page], type: request }
    media: { status: 415, when: request.media, type: request }
    accept: { status: 406, when: request.accept, type: request }
    no_such: { status: 400, when: reference.missing, type: request }
    missing: { status: 404, when: [resource.missing, route.unknown], type: request }
    method: { status: 405, when: method.unsupported, type: request }
    exists: { status: 409, when: resource.exists, type: request }
    broken: { status: 500, when: internal, type: service }
    once: { status: 422, type: request, why: a price that does not recur, on: [create item], if: "!has(next.price.every) || next.price.currency != next.plan.currency" }
limits: { rate: none, quota: none, pagination: { style: cursor, cursor: cursor, size: limit, default: 10, max: 50, items: data, next: next } }
versioning: none
`;

const rows: readonly Otherwise[] = [
  [
    'children of plans have a quantity of none',
    'quantity: { type: integer, minimum: 1, maximum: 9, default: 1 }',
    'quantity: { type: integer, minimum: 0, maximum: 9, default: 0 }',
    'allowed values:item.quantity',
    /shown/,
  ],
  [
    'a line has another number of cents',
    'cents: { type: integer, minimum: 2, maximum: 99, immutable: true }',
    'cents: { type: integer, minimum: 1, maximum: 99, immutable: true, set: { create: "1" } }',
    'allowed values:line.cents',
    /./,
  ],
  [
    'a note below a task has another text',
    'visible: none }, text: { type: string, maxLength: 20 }',
    'visible: none }, text: { type: string, maxLength: 20, set: { create: "\'other\'" } }',
    'allowed values:note.text',
    /./,
  ],
  [
    'what is missing is answered otherwise',
    'missing: { status: 404,',
    'missing: { status: 410,',
    'status codes:missing',
    /status/,
  ],
  [
    'what is missing has the code of what exists',
    'missing: { status: 404, when: [resource.missing, route.unknown], type: request }',
    'exists2: { status: 404, when: [resource.missing, route.unknown], type: request }',
    'conditions:missing',
    /code/,
  ],
];

servedOtherwise(
  ledger,
  oneOfEach(rows, ([, , , breaks]) => breaks),
);

/** The same, where a refusal shows no code, and only its words tell what it is. */
const wordy = `
purpose: { users: { clerk: Keeps things. } }
resources:
  thing:
    identifier: { field: id, generate: "thi_{ulid}" }
    fields: { id: string, title: { type: string, maxLength: 20 } }
    required: [id, title]
states: none
endpoints:
  POST /things: { does: create thing }
  GET /things/{id}: { does: read thing }
  DELETE /things/{id}: { does: delete thing }
authentication: none
events: none
errors:
  payload: { shape: { type: object, properties: { message: string }, required: [message] }, data: { message: message } }
  codes:
    bad: { status: 400, when: [request.malformed, request.parameter], message: Bad. }
    invalid: { status: 422, when: request.invalid, message: Not so. }
    media: { status: 415, when: request.media, message: Not that. }
    accept: { status: 406, when: request.accept, message: Not so. }
    missing: { status: 404, when: [resource.missing, resource.gone], message: Gone. }
    nowhere: { status: 404, when: route.unknown, message: Nowhere. }
    method: { status: 405, when: method.unsupported, message: Not so. }
    broken: { status: 500, when: internal, message: Broken. }
limits: none
versioning: none
`;

servedOtherwise(wordy, [
  [
    'what is missing has the words of what is nowhere',
    'when: [resource.missing, resource.gone], message: Gone. }',
    'when: [resource.missing, resource.gone], message: Nowhere. }',
    'conditions:missing',
    /code/,
  ],
]);

test('rows that are hard to make are made, and a service that keeps them right is found without a fault', async () => {
  const stand = await openStand(ledger, {});
  try {
    const { breaches, unsteady, facts } = await stand.verify({
      only: ['resources/stored', 'resources/missing', 'resources/children'],
    });
    assert.deepEqual([...breaches, ...unsteady], []);
    const stopped = facts.filter(({ why = '' }) => /could be made|shows no such/.test(why));
    assert.deepEqual(
      stopped.map(({ kind, subject, why }) => `${kind}:${subject} ${why}`),
      [],
    );
    const verdictOf = (fact: string) => facts.find(({ kind, subject }) => `${kind}:${subject}` === fact)?.verdict;
    for (const fact of ['types:item.quantity', 'types:line.cents', 'status codes:missing'])
      assert.equal(verdictOf(fact), 'held', fact);
  } finally {
    await stand.close();
  }
});
