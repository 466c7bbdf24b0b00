import type { Case } from '../harness.ts';

export const endpointsCases: readonly Case[] = [
  { snippets: ['endpoints: { notes: { does: list note, as: notes again } }'], finds: ['endpoints/key @ /endpoints/notes'] },
  {
    snippets: [
      'endpoints: { GET /notes: { read_only: refuse }, POST /notes: { read_only: refuse }, "PATCH /notes/{id}": { read_only: ignore, request: { type: object, properties: { title: string } } } }',
    ],
    finds: [
      'endpoints/read-only @ /endpoints/GET ~1notes/read_only',
      'endpoints/read-only @ /endpoints/PATCH ~1notes~1{id}/read_only',
    ],
  },
  {
    snippets: ['endpoints: { "PURGE /notes/{id}": { does: delete note, as: purge note } }'],
    finds: ['endpoints/method @ /endpoints/PURGE ~1notes~1{id}'],
  },
  {
    snippets: ['endpoints: { "GET /notes/{note}": { does: read note, as: read again } }'],
    finds: ['endpoints/same-route @ /endpoints/GET ~1notes~1{note}'],
  },
  {
    snippets: ['endpoints: { GET /events: { does: handler count, as: old events } }'],
    finds: [
      'authentication/nobody-may-call @ /endpoints/GET ~1events',
      'purpose/operation-without-function @ /endpoints/GET ~1events',
      'endpoints/same-route @ /events/delivery/stream/path',
    ],
  },
  {
    snippets: ['endpoints: { "GET /notes/{id}/{": { does: read note, as: read again } }'],
    finds: ['endpoints/braces @ /endpoints/GET ~1notes~1{id}~1{'],
  },
  {
    snippets: ['endpoints: { "GET /a/{id}/b/{id}": { does: handler count, as: count again } }'],
    finds: [
      'endpoints/parameter-twice @ /endpoints/GET ~1a~1{id}~1b~1{id}',
      'authentication/nobody-may-call @ /endpoints/GET ~1a~1{id}~1b~1{id}',
      'purpose/operation-without-function @ /endpoints/GET ~1a~1{id}~1b~1{id}',
    ],
  },
  {
    snippets: ['endpoints: { defaults: { post: { cache: no-store } } }'],
    finds: ['endpoints/defaults-key @ /endpoints/defaults/post'],
  },
  {
    snippets: ['endpoints: { "GET /shelves/{shelf}/notes": { does: list note, as: notes of a shelf } }'],
    finds: ['endpoints/unbound-path-parameter @ /endpoints/GET ~1shelves~1{shelf}~1notes'],
  },
  {
    snippets: [
      'endpoints: { "DELETE /notes/{id}/marks/{mark}": { does: update note, as: unmark note, parameters: { mark: { in: path, filters: none } } } }',
    ],
    finds: ['endpoints/path-parameter-idle @ /endpoints/DELETE ~1notes~1{id}~1marks~1{mark}/parameters/mark/filters'],
  },
  {
    snippets: ['resources: { note: { fields: { book: { ref: null, onDelete: null, type: string } } } }'],
    finds: ['endpoints/parent-without-ref @ /endpoints/GET ~1books~1{book}~1notes'],
  },
  {
    snippets: ['endpoints: { GET /count: { parameters: { of: { in: path, type: string } } } }'],
    finds: ['endpoints/path-parameter-not-there @ /endpoints/GET ~1count/parameters/of/in'],
  },
  {
    snippets: ['endpoints: { "GET /notes/{id}": { parameters: { id: { in: query, type: string } } } }'],
    finds: ['endpoints/path-parameter-elsewhere @ /endpoints/GET ~1notes~1{id}/parameters/id/in'],
  },
  { snippets: ['endpoints: { GET /x: { does: create } }'], finds: ['endpoints/does @ /endpoints/GET ~1x/does'] },
  { snippets: ['endpoints: { GET /x: { does: list noet } }'], finds: ['endpoints/unknown-resource @ /endpoints/GET ~1x/does'] },
  {
    snippets: ['endpoints: { "POST /notes/{id}/publish": { does: publsh note } }'],
    finds: ['endpoints/unknown-transition @ /endpoints/POST ~1notes~1{id}~1publish/does'],
  },
  {
    snippets: ['endpoints: { "POST /books/{id}/open": { does: lits book } }'],
    finds: ['endpoints/unknown-transition @ /endpoints/POST ~1books~1{id}~1open/does'],
  },
  {
    snippets: ['endpoints: { "PATCH /labels/{id}": { does: update label } }'],
    finds: [
      'authentication/nobody-may-call @ /endpoints/PATCH ~1labels~1{id}',
      'purpose/operation-without-function @ /endpoints/PATCH ~1labels~1{id}',
      'endpoints/impossible @ /endpoints/PATCH ~1labels~1{id}/does',
    ],
  },
  {
    snippets: ['endpoints: { GET /last: { does: read note, as: read last } }'],
    finds: ['endpoints/no-row @ /endpoints/GET ~1last/does'],
  },
  {
    snippets: ['states: { note: { transitions: { publish: { from: draft, to: published, by: service } } } }'],
    finds: ['endpoints/service-transition @ /endpoints/POST ~1notes~1{id}~1publish/does'],
  },
  {
    snippets: ['endpoints: { "GET /n/{id}": { does: read note } }'],
    finds: ['endpoints/operation-twice @ /endpoints/GET ~1n~1{id}'],
  },
  {
    snippets: ['endpoints: { POST /notes: { takes: { Title: title } } }'],
    finds: ['endpoints/takes @ /endpoints/POST ~1notes/takes'],
  },
  {
    snippets: [
      'endpoints: { "POST /notes/{id}/publish": { request: { properties: { Title: string } }, takes: { Title: title } } }',
    ],
    finds: ['endpoints/takes @ /endpoints/POST ~1notes~1{id}~1publish/takes'],
  },
  {
    snippets: [
      'endpoints: { POST /notes: { request: { properties: { Title: string, title: string, Size: integer } }, takes: { Title: title, Size: sise, Sort: kind } } }',
    ],
    finds: [
      'endpoints/takes @ /endpoints/POST ~1notes/takes/Title',
      'endpoints/takes @ /endpoints/POST ~1notes/takes/Size',
      'endpoints/takes @ /endpoints/POST ~1notes/takes/Sort',
    ],
  },
  {
    snippets: ['endpoints: { POST /notes: { request: { properties: { data: note } }, takes: dta } }'],
    finds: ['endpoints/takes @ /endpoints/POST ~1notes/takes'],
  },
  {
    snippets: ['endpoints: { GET /notes: { parameters: { min_size: { filters: sise } } } }'],
    finds: ['endpoints/unknown-filter @ /endpoints/GET ~1notes/parameters/min_size/filters'],
  },
  {
    snippets: ['endpoints: { GET /notes: { parameters: { q: { in: query, type: string } } } }'],
    finds: ['endpoints/idle-parameter @ /endpoints/GET ~1notes/parameters/q'],
  },
  {
    snippets: ['endpoints: { GET /notes: { parameters: { pin: { filters: pinned, op: ">" }, min_size: { op: prefix } } } }'],
    finds: [
      'endpoints/filter-op @ /endpoints/GET ~1notes/parameters/min_size/op',
      'endpoints/filter-op @ /endpoints/GET ~1notes/parameters/pin/op',
    ],
  },
  {
    snippets: ['endpoints: { GET /notes: { parameters: { size: { in: query, type: string } } } }'],
    finds: ['endpoints/filter-type @ /endpoints/GET ~1notes/parameters/size'],
  },
  {
    snippets: ['endpoints: { GET /notes: { parameters: { min_size: { type: boolean } } } }'],
    finds: ['endpoints/filter-type @ /endpoints/GET ~1notes/parameters/min_size'],
  },
  {
    snippets: [
      'endpoints: { GET /books: { does: list book, as: books }, GET /notes: { parameters: { a: { filters: book.nam }, b: { filters: label.name.x }, c: { filters: label }, d: { filters: book.name, op: prefix }, e: { filters: size, op: prefix, ignore_case: true }, f: { filters: title, ignore_case: true } } } }',
    ],
    finds: [
      'endpoints/unknown-path @ /endpoints/GET ~1notes/parameters/a/filters',
      'endpoints/unknown-path @ /endpoints/GET ~1notes/parameters/b/filters',
      'endpoints/unknown-path @ /endpoints/GET ~1notes/parameters/e/filters',
      'endpoints/choosing-words @ /endpoints/GET ~1notes/parameters/e/ignore_case',
    ],
  },
  {
    snippets: [
      'endpoints: { GET /notes: { parameters: { a: { filters: title, keeps: "resource.title == value" }, b: { filters: title, match: any }, c: { filters: title, split: ",", match: all }, d: { filters: title, zone: UTC }, e: { filters: made_at, zone: Europe/Nowhere }, f: { filters: made_at, zone: UTC, op: in }, g: { filters: kind, split: ",", explode: true } } } }',
    ],
    finds: [
      'endpoints/choosing-words @ /endpoints/GET ~1notes/parameters/a/filters',
      'endpoints/choosing-words @ /endpoints/GET ~1notes/parameters/b/match',
      'endpoints/choosing-words @ /endpoints/GET ~1notes/parameters/c/match',
      'endpoints/choosing-words @ /endpoints/GET ~1notes/parameters/d/zone',
      'endpoints/choosing-words @ /endpoints/GET ~1notes/parameters/e/zone',
      'endpoints/choosing-words @ /endpoints/GET ~1notes/parameters/f/op',
      'endpoints/choosing-words @ /endpoints/GET ~1notes/parameters/g/split',
    ],
  },
  {
    snippets: ['endpoints: { GET /notes: { parameters: { a: { filters: book.name } } } }'],
    finds: ['endpoints/path-unread @ /endpoints/GET ~1notes/parameters/a/filters'],
  },
  {
    snippets: [
      'endpoints: { "GET /books/{id}": { does: read book }, GET /notes: { parameters: { a: { filters: book.name } } } }',
      'authentication: { permissions: [{ allow: [all note, create book], to: writer }, { allow: [read book], to: writer, if: "resource.name.size() > 3" }, { allow: [create hook, list hook, stream events], to: reader }] }',
      'purpose: { functions: { read: [read note, list note, notes of a book, handler count, stream events, read book] } }',
    ],
    finds: ['endpoints/path-unread @ /endpoints/GET ~1notes/parameters/a/filters'],
  },
  {
    snippets: [
      'endpoints: { GET /notes: { parameters: { a: { in: query, keeps: "resource.title.size() > int(value)" }, b: { in: query, keeps: "has(resource.book) && resource.book.name == value" } } } }',
    ],
    finds: [
      'endpoints/keeps-undecidable @ /endpoints/GET ~1notes/parameters/a/keeps',
      'endpoints/keeps-undecidable @ /endpoints/GET ~1notes/parameters/b/keeps',
    ],
  },
  {
    snippets: ['endpoints: { GET /notes: { parameters: { a: { in: query, search: [titel, size] } } } }'],
    finds: [
      'endpoints/unknown-search @ /endpoints/GET ~1notes/parameters/a/search/0',
      'endpoints/unknown-search @ /endpoints/GET ~1notes/parameters/a/search/1',
    ],
  },
  {
    snippets: [
      'endpoints: { GET /notes: { parameters: { sort: { enum: null, sorts: { made: mad_at, size: size } }, way: { in: query, directs: sorting }, how: { in: query, directs: sort, enum: [up, down] } } } }',
    ],
    finds: [
      'endpoints/unknown-sort @ /endpoints/GET ~1notes/parameters/sort/sorts/made',
      'endpoints/direction @ /endpoints/GET ~1notes/parameters/way/directs',
      'endpoints/direction @ /endpoints/GET ~1notes/parameters/how',
    ],
  },
  {
    snippets: ['endpoints: { GET /count: { parameters: { least: { op: ">=" } } } }'],
    finds: ['endpoints/op-without-filter @ /endpoints/GET ~1count/parameters/least/op'],
  },
  {
    snippets: ['endpoints: { GET /count: { parameters: { least: { style: matrix } } } }'],
    finds: ['endpoints/style @ /endpoints/GET ~1count/parameters/least/style'],
  },
  {
    snippets: ['endpoints: { GET /count: { parameters: { least: { required: true } } } }'],
    finds: ['endpoints/required-default @ /endpoints/GET ~1count/parameters/least/default'],
  },
  {
    snippets: ['endpoints: { GET /notes: { order: [-made_at, sise] } }'],
    finds: ['endpoints/unknown-order @ /endpoints/GET ~1notes/order/1'],
  },
  {
    snippets: ['endpoints: { GET /notes: { parameters: { sort: { enum: [made_at, -mad_at] } } } }'],
    finds: ['endpoints/unknown-sort @ /endpoints/GET ~1notes/parameters/sort/enum/1'],
  },
  {
    snippets: ['resources: { note: { fields: { size: { stored: false } } } }'],
    finds: [
      'endpoints/order-not-kept @ /endpoints/GET ~1notes/parameters/min_size',
      'expressions/unknown-field @ /errors/codes/too_big/if',
    ],
  },
  {
    snippets: [
      'endpoints: { GET /count: null }',
      '{ endpoints: { "GET /notes/{id}": { order: made_at, pagination: { style: offset, offset: offset } } }, purpose: { functions: { read: [read note, list note, notes of a book, stream events] } }, authentication: { public: null } }',
    ],
    finds: [
      'endpoints/list-words @ /endpoints/GET ~1notes~1{id}/order',
      'endpoints/list-words @ /endpoints/GET ~1notes~1{id}/pagination',
    ],
  },
  {
    snippets: ['endpoints: { GET /hooks: { expand: { parameter: expand, depth: 1 } } }'],
    finds: ['endpoints/nothing-to-expand @ /endpoints/GET ~1hooks/expand'],
  },
  {
    snippets: ['endpoints: { "GET /notes/{id}": { expand: { parameter: expand, member: title }, ties: newest } }'],
    finds: [
      'endpoints/expand-member @ /endpoints/GET ~1notes~1{id}/expand/member',
      'endpoints/list-words @ /endpoints/GET ~1notes~1{id}/ties',
    ],
  },
  {
    snippets: ['endpoints: { POST /notes: { empty: removes } }'],
    finds: ['endpoints/empty-unsent @ /endpoints/POST ~1notes/empty'],
  },
  {
    snippets: ['endpoints: { "PATCH /notes/{id}": { in: [draft, pulished] } }'],
    finds: ['endpoints/unknown-state @ /endpoints/PATCH ~1notes~1{id}/in/1'],
  },
  {
    snippets: ['endpoints: { "PATCH /books/{id}": { does: update book, in: [open] } }'],
    finds: ['endpoints/in-without-states @ /endpoints/PATCH ~1books~1{id}/in'],
  },
  {
    snippets: ['endpoints: { "POST /notes/{id}/publish": { in: [draft] } }'],
    finds: ['endpoints/in-elsewhere @ /endpoints/POST ~1notes~1{id}~1publish/in'],
  },
  {
    snippets: ['endpoints: { "PATCH /books/{id}": { does: update book, if_match: required } }'],
    finds: ['endpoints/if-match-without-etag @ /endpoints/PATCH ~1books~1{id}/if_match'],
  },
  {
    snippets: ['endpoints: { GET /count: { idempotency: { header: Idempotency-Key } } }'],
    finds: ['endpoints/idempotent-already @ /endpoints/GET ~1count/idempotency'],
  },
  {
    snippets: ['endpoints: { POST /notes: { idempotency: { keep: a day } } }'],
    finds: ['endpoints/keep @ /endpoints/POST ~1notes/idempotency/keep'],
  },
  {
    snippets: ['endpoints: { GET /count: { request: { type: object } } }'],
    finds: ['endpoints/body-on-get @ /endpoints/GET ~1count/request'],
  },
  {
    snippets: ['endpoints: { POST /notes: { consumes: [application/json, json] } }'],
    finds: ['endpoints/media-type @ /endpoints/POST ~1notes/consumes/1'],
  },
  {
    snippets: ['endpoints: { GET /count: { response: { ok: { type: string } } } }'],
    finds: ['endpoints/status @ /endpoints/GET ~1count/response/ok'],
  },
  {
    snippets: [
      'endpoints: { GET /count: { response: { 200: null, 201: [{ shape: string }, { shape: integer, if: "params.least > 1" }] } } }',
    ],
    finds: ['endpoints/answer-unreached @ /endpoints/GET ~1count/response/201/1'],
  },
  {
    snippets: ['endpoints: { GET /count: { response: { 201: { shape: book, example: { id: 7, name: x } } } } }'],
    finds: ['endpoints/example-misfit @ /endpoints/GET ~1count/response/201/example'],
  },
  {
    snippets: ['endpoints: { GET /ping: { does: reply, as: ping, response: { 200: { shape: string } } } }'],
    finds: [
      'authentication/nobody-may-call @ /endpoints/GET ~1ping',
      'purpose/operation-without-function @ /endpoints/GET ~1ping',
      'endpoints/reply-without-example @ /endpoints/GET ~1ping/response/200',
    ],
  },
  {
    snippets: [
      'endpoints: { "GET /notes/{id}": { response: { 200: { shape: { type: object, properties: { name: string, made: string }, required: [name, made], additionalProperties: false }, data: { name: result.title, mad: result.id } } } } }',
    ],
    finds: [
      'endpoints/data-misfit @ /endpoints/GET ~1notes~1{id}/response/200/data',
      'endpoints/data-misfit @ /endpoints/GET ~1notes~1{id}/response/200/data/mad',
    ],
  },
  {
    snippets: [
      '{ endpoints: { "POST /books": { exists: 200 }, "GET /notes/{id}": { exists: 200 }, "POST /notes": { exists: 200 } } }',
    ],
    finds: ['endpoints/exists @ /endpoints/GET ~1notes~1{id}/exists', 'endpoints/exists @ /endpoints/POST ~1books/exists'],
  },
  ...[
    [
      '{ type: object, properties: { name: string }, required: [name], additionalProperties: false }',
      'endpoints/identifier-unsent',
    ],
    ['label', 'endpoints/identifier-unsent'],
    ['none', 'endpoints/identifier-unsent'],
    ['{ type: object, properties: { name: string } }', 'endpoints/identifier-unnamed'],
  ].map(([request, code]) => ({
    snippets: [
      `{ resources: { book: { identifier: { generate: client } } }, endpoints: { POST /books: { request: ${request} } } }`,
    ],
    finds: [`${code} @ /endpoints/POST ~1books/request`],
  })),
  {
    snippets: [
      `{ resources: { book: { identifier: { generate: client } } }, endpoints: { POST /books: { takes: data.book, request: { type: object, properties: {
        data: { type: object, properties: { book: { type: object, properties: { name: string }, additionalProperties: false } } } } } } } }`,
      'endpoints: { PUT /books: { does: create book, as: put book, takes: { Nr: id }, request: { type: object, properties: { Id: string, name: string }, additionalProperties: false } } }',
    ],
    finds: [
      'endpoints/identifier-unsent @ /endpoints/POST ~1books/request',
      'endpoints/takes @ /endpoints/PUT ~1books/takes/Nr',
      'endpoints/identifier-unsent @ /endpoints/PUT ~1books/request',
    ],
  },
  {
    snippets: ['endpoints: { GET /count: { headers: { X Request: request_id, Date: path } } }'],
    finds: [
      'endpoints/header @ /endpoints/GET ~1count/headers/X Request',
      'endpoints/header @ /endpoints/GET ~1count/headers/Date',
    ],
  },
  {
    snippets: [
      'endpoints: { POST /notes: { counts: always }, GET /tip: { does: reply, response: { 200: { shape: { type: object, properties: { tip: string }, required: [tip] }, examples: { one: { tip: Save. }, two: { tap: Drip. } } } } } }',
      '{ purpose: { functions: { tips: [GET /tip] } }, authentication: { public: [handler count, GET /tip] } }',
    ],
    finds: [
      'endpoints/counts-no-update @ /endpoints/POST ~1notes/counts',
      'endpoints/example-misfit @ /endpoints/GET ~1tip/response/200/examples/two',
    ],
  },
  {
    snippets: [
      '{ endpoints: { GET /count: { select: { parameter: fields } }, "DELETE /notes/{id}": { select: { parameter: fields } }, "GET /notes/{id}": { select: { parameter: expand } } } }',
    ],
    finds: [
      'endpoints/select-taken @ /endpoints/GET ~1notes~1{id}/select',
      'endpoints/nothing-to-select @ /endpoints/DELETE ~1notes~1{id}/select',
      'endpoints/nothing-to-select @ /endpoints/GET ~1count/select',
    ],
  },
  {
    snippets: [
      '{ endpoints: { GET /notes: { select: { parameter: kind } }, "GET /notes/{id}": { response: { 200: { shape: { type: object, properties: { name: string }, required: [name] }, data: { name: result.title } } }, select: { parameter: id } } } }',
    ],
    finds: [
      'endpoints/select-taken @ /endpoints/GET ~1notes/select',
      'endpoints/nothing-to-select @ /endpoints/GET ~1notes~1{id}/select',
      'endpoints/select-taken @ /endpoints/GET ~1notes~1{id}/select',
    ],
  },
  {
    snippets: ['endpoints: { GET /notes: { select: { parameter: "" } } }'],
    finds: ['endpoints/select-taken @ /endpoints/GET ~1notes/select'],
  },
  {
    snippets: ['{ endpoints: { GET /notes: { moved: "null" }, "GET /notes/{id}": { moved: params.id } } }'],
    finds: [
      'endpoints/moved-no-row @ /endpoints/GET ~1notes/moved',
      'endpoints/moved-other-row @ /endpoints/GET ~1notes/moved',
      'endpoints/moved-unanswered @ /endpoints/GET ~1notes/moved',
      'endpoints/moved-other-row @ /endpoints/GET ~1notes~1{id}/moved',
      'endpoints/moved-unanswered @ /endpoints/GET ~1notes~1{id}/moved',
    ],
  },
];
