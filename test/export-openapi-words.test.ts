import assert from 'node:assert/strict';
import { STATUS_CODES } from 'node:http';
import { suite, test } from 'node:test';
import { phrases } from '../src/convert/openapi/write/writing.ts';
import type { Json, Pointer } from '../src/document/document.ts';
import { valueAt } from '../src/document/source.ts';
import { check, parseDocument } from '../src/index.ts';
import { exported, flaws, plain, readBack } from './openapi/harness.ts';

interface Case {
  readonly says: string;
  readonly text: string;
  readonly to?: string;
  /** What stands at a pointer of the export; null where nothing does. */
  readonly has: Readonly<Record<Pointer, Json>>;
}

const thing = `
resources:
  thing:
    identifier: { field: id, generate: uuid }
    fields: { id: string, name: string, size: integer }
    required: [id, name]
states: none
`;

const answers: readonly Case[] = [
  {
    says: 'a created resource has its address, and links to what its first state allows',
    text: `
resources: { job: { identifier: { field: id, generate: uuid }, fields: { id: string, state: { type: string, readOnly: true } }, required: [id, state] } }
states: { job: { field: state, initial: new, states: [new, done], transitions: { finish: new -> done, reopen: done -> new } } }
endpoints:
  POST /jobs: { does: create job }
  GET /jobs/{id}: { does: read job }
  DELETE /jobs/{id}: { does: delete job, in: [done] }
  POST /jobs/{id}/finish: { does: finish job }
  POST /jobs/{id}/reopen: { does: reopen job }`,
    has: {
      '/paths/~1jobs/post/responses/201/headers': { Location: { $ref: '#/components/headers/Location' } },
      '/paths/~1jobs/post/responses/201/links/readJob/parameters': { id: '$response.body#/id' },
      '/paths/~1jobs/post/responses/201/links/finishJob/operationId': 'finishJob',
      '/paths/~1jobs/post/responses/201/links/reopenJob': null,
      '/paths/~1jobs/post/responses/201/links/deleteJob': null,
      '/paths/~1jobs~1{id}~1finish/post/responses/200/content/application~1json/example/state': 'done',
      '/components/schemas/Job/properties/state/enum': ['new', 'done'],
    },
  },
  {
    says: 'conditions bring their parameters, 304 and 412',
    text: `${thing}
endpoints:
  GET /things/{id}: { does: read thing, etag: strong }
  PUT /things/{id}: { does: replace thing, if_match: required, etag: strong }`,
    has: {
      '/paths/~1things~1{id}/get/parameters/1': { $ref: '#/components/parameters/IfNoneMatch' },
      '/paths/~1things~1{id}/get/responses/304/description': 'It is what the request knows already.',
      '/paths/~1things~1{id}/put/parameters/1': { $ref: '#/components/parameters/IfMatch' },
      '/components/parameters/IfMatch/required': true,
      '/paths/~1things~1{id}/put/responses/412/$ref': '#/components/responses/PreconditionFailed',
      '/paths/~1things~1{id}/put/responses/428/$ref': '#/components/responses/PreconditionRequired',
      '/paths/~1things~1{id}/get/responses/412': null,
    },
  },
  {
    says: 'a page has its envelope, its parameters and its bounds',
    text: `${thing}
endpoints: { GET /things: { does: list thing } }
limits: { pagination: { style: offset, offset: skip, size: take, default: 10, max: 50, over_max: clamp, items: rows, next: next, total: total, data: { object: list }, told: both } }`,
    has: {
      '/components/parameters/Skip/schema': { type: 'integer', minimum: 0, default: 0 },
      '/components/parameters/Take/schema': { type: 'integer', minimum: 1, default: 10 },
      '/components/schemas/ThingList/properties/rows': {
        type: 'array',
        items: { $ref: '#/components/schemas/Thing' },
        maxItems: 50,
      },
      '/components/schemas/ThingList/properties/next/type': ['integer', 'null'],
      '/components/schemas/ThingList/required': ['object', 'rows', 'next', 'total'],
      '/paths/~1things/get/responses/200/headers/Link/$ref': '#/components/headers/Link',
    },
  },
  {
    says: 'a status with several answers has a branch for each',
    text: `${thing}
endpoints:
  GET /things/{id}:
    does: read thing
    response:
      200: [{ if: "result.name == ''", shape: { type: object, properties: { id: string } }, data: { id: result.id } }, { shape: thing }]
      404: { type: object, properties: { why: string } }`,
    has: {
      '/paths/~1things~1{id}/get/responses/200/content/application~1json/schema/anyOf/1': { $ref: '#/components/schemas/Thing' },
      '/paths/~1things~1{id}/get/responses/200/x-ninefold-answers/0/if': "result.name == ''",
      '/paths/~1things~1{id}/get/responses/404/content/application~1json/schema/properties/why/type': 'string',
    },
  },
  {
    says: 'a method that OpenAPI does not know stands beside those that it knows',
    text: 'endpoints: { PURGE /cache: { does: handler purge, response: { 204: none } }, GET /cache: { does: handler look, response: { 200: string } } }',
    has: {
      '/paths/~1cache/x-ninefold-operations/PURGE/operationId': 'purge',
      '/paths/~1cache/get/operationId': 'look',
    },
  },
  {
    says: 'and in 3.2 it has a place of its own',
    text: 'endpoints: { PURGE /cache: { does: handler purge, response: { 204: none } }, QUERY /cache: { does: handler ask, request: string, response: { 200: string } } }',
    to: 'openapi-3.2',
    has: {
      '/paths/~1cache/additionalOperations/PURGE/operationId': 'purge',
      '/paths/~1cache/query/operationId': 'ask',
    },
  },
  {
    says: 'templates that differ in the names of their parameters alone are one path',
    text: `${thing}
endpoints: { "GET /things/{id}": { does: read thing }, "DELETE /things/{thing_id}": { does: delete thing } }`,
    has: {
      '/paths/~1things~1{id}/delete/x-ninefold-path': '/things/{thing_id}',
      '/paths/~1things~1{id}/delete/parameters/0/name': 'id',
      '/paths/~1things~1{thing_id}': null,
    },
  },
];

const refusals: readonly Case[] = [
  {
    says: 'what can arise at an operation stands there, with its codes and an example each, and nothing else',
    text: `${thing}
endpoints: { "GET /things/{id}": { does: read thing }, POST /things: { does: create thing, errors: [full] } }
errors:
  payload: problem
  codes:
    missing: { status: 404, when: [resource.missing, route.unknown] }
    invalid: { status: 422, when: request.invalid }
    wrong: { status: 400, when: [request.malformed, request.parameter] }
    full: { status: 409, message: No room. }
    no_method: { status: 405, when: method.unsupported }`,
    has: {
      '/paths/~1things~1{id}/get/responses/404': { $ref: '#/components/responses/Missing' },
      '/paths/~1things/post/responses/404': null,
      '/paths/~1things~1{id}/get/responses/422': null,
      '/paths/~1things/post/responses/405': null,
      '/components/responses/Missing/content/application~1problem+json/schema': {
        allOf: [
          { $ref: '#/components/schemas/Problem' },
          { type: 'object', properties: { code: { type: 'string', const: 'missing' } } },
        ],
      },
      '/components/responses/Full/content/application~1problem+json/examples/full/value/detail': 'No room.',
      '/components/responses/Invalid/description': '`invalid`: The body does not have the right shape.',
    },
  },
  {
    says: 'an own payload is made by its own expressions, also in a 200',
    text: `${thing}
endpoints: { "GET /things/{id}": { does: read thing } }
errors:
  payload: { shape: { type: object, properties: { ok: { const: false }, error: "string?" }, required: [ok, error] }, data: { ok: "false", error: code } }
  codes:
    thing_not_found: { status: 200, when: resource.missing }
    others: any`,
    has: {
      '/paths/~1things~1{id}/get/responses/200/content/application~1json/schema/anyOf/0': { $ref: '#/components/schemas/Thing' },
      '/paths/~1things~1{id}/get/responses/200/content/application~1json/schema/anyOf/1/$ref': '#/components/schemas/Error',
      '/components/schemas/Error/required': ['ok', 'error'],
    },
  },
  {
    says: 'an error of a transition takes the place of the general one',
    text: `
resources: { job: { identifier: { field: id, generate: uuid }, fields: { id: string, state: { type: string, readOnly: true } }, required: [id, state] } }
states: { job: { field: state, initial: new, states: [new, done], transitions: { finish: { from: new, to: done, else: too_late } } } }
endpoints: { "POST /jobs/{id}/finish": { does: finish job } }
errors: { payload: problem, codes: { wrong_state: { status: 409, when: transition.illegal }, too_late: { status: 410, message: Too late. } } }`,
    has: {
      '/paths/~1jobs~1{id}~1finish/post/responses/410/$ref': '#/components/responses/TooLate',
      '/components/responses/WrongState': null,
    },
  },
  {
    says: 'what is refused without a stated code has the status of HTTP, and no body where the payload is open',
    text: `${thing}
endpoints: { "GET /things/{id}": { does: read thing } }`,
    has: {
      '/paths/~1things~1{id}/get/responses/404/$ref': '#/components/responses/NotFound',
      '/components/responses/NotFound': { description: 'There is no such thing.', 'x-ninefold-follows': true },
    },
  },
];

const around: readonly Case[] = [
  {
    says: 'each operation says who may call it',
    text: `${thing}
purpose: { purpose: P, users: { reader: R, writer: W } }
endpoints: { GET /things: { does: list thing }, POST /things: { does: create thing }, "GET /things/{id}": { does: read thing }, GET /time: { does: handler time, response: { 200: string } } }
authentication:
  schemes:
    key: { type: api_key, header: X-Key }
    login: { type: oauth2, flows: { client_credentials: { token_url: "https://id.example/token" } }, scopes: { write: Writes. } }
    old: { type: basic }
  accept: [key, login]
  public: [handler time]
  permissions:
    - { allow: [create thing], to: writer, scopes: [write] }
    - { allow: [list thing], to: reader }
    - { allow: [read thing], to: anyone }`,
    has: {
      '/security': [{ key: [] }, { login: [] }],
      '/paths/~1things/get/security': null,
      '/paths/~1things/post/security': [{ key: [] }, { login: ['write'] }],
      '/paths/~1things~1{id}/get/security': [{}, { key: [] }, { login: [] }],
      '/paths/~1time/get/security': [],
      '/components/securitySchemes/login/flows/clientCredentials': {
        tokenUrl: 'https://id.example/token',
        scopes: { write: 'Writes.' },
      },
      '/components/securitySchemes/old': { type: 'http', scheme: 'basic' },
    },
  },
  {
    says: 'of the scopes of several rules the least that is enough is asked for',
    text: `${thing}
purpose: { purpose: P, users: { reader: R, writer: W } }
endpoints: { GET /things: { does: list thing }, POST /things: { does: create thing } }
authentication:
  schemes: { login: { type: oauth2, flows: { client_credentials: { token_url: "https://id.example/token" } }, scopes: { read: Reads., write: Writes. } } }
  permissions:
    - { allow: [list thing], to: writer, scopes: [read, write] }
    - { allow: [list thing], to: reader, scopes: [read] }
    - { allow: [create thing], to: writer, scopes: [write] }
    - { allow: [create thing], to: reader, scopes: [read] }`,
    has: {
      '/paths/~1things/get/security': [{ login: ['read'] }],
      '/paths/~1things/post/security': [{ login: ['write'] }, { login: ['read'] }],
    },
  },
  {
    says: 'operations stand with the resource that they are about, or whose paths begin as theirs do',
    text: `${thing}
endpoints:
  GET /things: { does: list thing }
  "GET /things/{id}/colours": { does: handler colours, response: { 200: string } }
  GET /opening-hours: { does: handler hours, response: { 200: string } }`,
    has: {
      '/tags': [{ name: 'Thing' }, { name: 'Opening hours' }],
      '/paths/~1things~1{id}~1colours/get/tags': ['Thing'],
      '/paths/~1opening-hours/get/tags': ['Opening hours'],
    },
  },
  {
    says: 'where no scheme is stated nothing is said of security; where there is none, that there is none',
    text: `${thing}\nendpoints: { GET /things: { does: list thing } }`,
    has: { '/security': null, '/paths/~1things/get/security': null },
  },
  {
    says: 'a service without authentication says so',
    text: `${thing}\nendpoints: { GET /things: { does: list thing } }\nauthentication: none`,
    has: { '/security': [] },
  },
  {
    says: 'a version that the path chooses is a variable of a second address',
    text: `${thing}
purpose: { base_url: "https://a.example/api" }
endpoints: { GET /things: { does: list thing } }
versioning: { versions: { v1: {}, v2: { current: true } }, select: { path: "/{version}", default: current } }`,
    has: {
      '/info/version': 'v2',
      '/servers/0': { url: 'https://a.example/api' },
      '/servers/1/url': 'https://a.example/api/{version}',
      '/servers/1/variables/version': { default: 'v2', enum: ['v1', 'v2'] },
    },
  },
  {
    says: 'events are webhooks with the headers that are signed, and callbacks of the operation that subscribes',
    text: `
resources:
  hook: { identifier: { field: id, generate: uuid }, fields: { id: string, target: { type: string, format: uri }, key: { type: string, writeOnly: true } }, required: [id, target, key] }
states: none
endpoints: { POST /hooks: { does: create hook } }
events:
  delivery: { webhook: { signature: { header: X-Sign, value: "{hmac-sha256:hex}", signs: "{body}" }, subscribers: { resource: hook, url: target, secret: key } }, envelope: { what: event.kind, about: event.payload } }
  kinds: { hook.made: { on: [create hook], payload: { type: object, properties: { id: string }, required: [id] }, data: { id: next.id } } }`,
    has: {
      '/webhooks/hook.made/post/parameters/0/name': 'X-Sign',
      '/webhooks/hook.made/post/x-ninefold-on': ['create hook'],
      '/webhooks/hook.made/post/requestBody/content/application~1json/schema': { $ref: '#/components/schemas/HookMadeEvent' },
      '/components/schemas/HookMadeEvent/properties/what': { type: 'string', const: 'hook.made' },
      '/components/schemas/HookMadeEvent/properties/about/properties/id/type': 'string',
      '/paths/~1hooks/post/callbacks/hook.made/{$request.body#~1target}/post/summary': 'Hook made',
    },
  },
  {
    says: 'a stream of events is an operation, in 3.2 with what each item is',
    text: `${thing}
endpoints: { POST /things: { does: create thing } }
events: { delivery: { stream: { path: GET /live, format: sse } }, kinds: { thing.made: { on: [create thing], payload: thing } } }`,
    to: 'openapi-3.2',
    has: {
      '/paths/~1live/get/responses/200/content/text~1event-stream/itemSchema': { $ref: '#/components/schemas/ServerSentEvent' },
      '/components/schemas/ServerSentEvent/properties/data/contentSchema': { $ref: '#/components/schemas/ThingMadeEvent' },
      '/webhooks': null,
      '/x-ninefold/events/kinds/thing.made/payload': 'thing',
    },
  },
  {
    says: 'what no caller ever meets is no property',
    text: `
resources:
  thing:
    identifier: { field: id, generate: uuid }
    fields: { id: string, rank: { type: integer, readOnly: true, visible: none, set: { create: "1" } }, pin: { type: string, writeOnly: true } }
    required: [id, rank, pin]
states: none
endpoints: { POST /things: { does: create thing } }`,
    has: {
      '/components/schemas/Thing/properties/rank': null,
      '/components/schemas/Thing/x-ninefold-fields/rank/type': 'integer',
      '/components/schemas/Thing/properties/pin/writeOnly': true,
      '/components/schemas/Thing/required': ['id'],
      '/components/schemas/ThingCreate/required': ['pin'],
    },
  },
  {
    says: 'what 3.0 does not know is said as it can, and carried',
    text: `
resources:
  thing:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      a: { type: "string?", maxLength: 4 }
      b: { const: x }
      c: { type: integer, exclusiveMinimum: 3 }
      d: { type: [string, integer] }
      e: { type: array, prefixItems: [string] }
      f: "thing?"
      g: { enum: [y, null] }
    required: [id]
states: none
endpoints: { "GET /things/{id}": { does: read thing } }`,
    to: 'openapi-3.0',
    has: {
      '/openapi': '3.0.4',
      '/components/schemas/Thing/properties/a': { type: 'string', maxLength: 4, nullable: true },
      '/components/schemas/Thing/properties/b/enum': ['x'],
      '/components/schemas/Thing/properties/c': { type: 'integer', minimum: 3, exclusiveMinimum: true },
      '/components/schemas/Thing/properties/d/anyOf': [{ type: 'string' }, { type: 'integer' }],
      '/components/schemas/Thing/properties/e/items': {},
      '/components/schemas/Thing/properties/g/nullable': true,
    },
  },
];

for (const [part, cases] of Object.entries({ answers, refusals, around })) {
  suite(part, () => {
    for (const { says, text, to = 'openapi', has } of cases) {
      test(says, async () => {
        const document = parseDocument(text, 'document.yaml');
        const errors = check(document).findings.filter(({ severity }) => severity === 'error');
        assert.deepEqual(
          errors.map(({ message }) => message),
          [],
        );
        const openapi = exported(document, to);
        for (const [at, value] of Object.entries(has)) assert.deepEqual(valueAt(openapi, at) ?? null, value, at);
        assert.deepEqual(await flaws(openapi), []);
        assert.deepEqual(readBack(openapi), plain(document.tree));
      });
    }
  });
}

test('statuses are called as whatever answers calls them', () => {
  for (const [status, phrase] of Object.entries(phrases)) assert.equal(phrase, STATUS_CODES[status]);
});
