/** Changes of the base document that leave it without findings: what is open may be there, and what is ugly may be true. */
export const quiet: Readonly<Record<string, readonly string[]>> = {
  'an empty change': ['{}'],
  'a broker that events are published to': ['events: { delivery: { broker: { kind: nats, subject: notes.events } } }'],
  'a broker alone': ['events: { delivery: { webhook: null, broker: { kind: cloudevents, source: https://notes.example/ } } }'],
  'answers of which the parts are written out': [
    `endpoints:
      GET /notes:
        response:
          200:
            shape: { type: object, properties: { all: { type: array, items: { type: object, properties: { t: string, n: integer }, required: [t] } } } }
            data: { all: "items.map(one, {'t': one.title, 'n': size(one.title) > 3 ? size(one.title) : null, 'more': 5})" }`,
  ],
  'resources that are not the whole': [
    'resources: { others: !open "twenty more", note: { fields: { tag: { ref: tag }, old: past_note } } }',
    'endpoints: { GET /tags: { does: list tag } }',
    'purpose: { functions: { find: [list tag] } }',
    'authentication: { permissions: [{ allow: [all note, all book, all hook, stream events, list tag], to: [writer, reader] }] }',
  ],
  'a field that one version maps and then renames': [
    'versioning: { changes: { "2026-06-01": [{ map: note.length, was: integer, down: "value * 2 + 1", up: "(value - 1) / 2" }, { rename: note.length, to: size }] } }',
  ],
  'fields that are derived of their row, of rows that refer to it, and of what is derived of those': [
    `resources:
      note: { fields: { weight: { type: integer, derive: "has(resource.size) ? resource.size * 2 : 0" } } }
      book:
        fields:
          notes: { type: integer, required: true, derive: "count(note.book)" }
          heaviest: { type: integer, derive: "max(note.book, item.weight, item.status != 'archived')" }
          load: { type: string, derive: "sum(note.book, item.weight) > 100 && resource.notes > 3 ? 'heavy' : 'light'" }
          last_at: { type: string, format: date-time, derive: "max(note.book, item.made_at)" }`,
    'errors: { codes: { too_full: { status: 409, on: [create note], if: "has(next.book) && has(next.book.notes) && next.book.notes >= 50" } } }',
  ],
  'deleted rows that are kept and brought back, and those of which reading tells': [
    `resources:
      note: { deleted: { keep: 30d, restore: revive } }
      book: { deleted: { keep: forever, read: { 200: { shape: { type: object, properties: { id: string } }, data: { id: result.id } } }, then: { delete: note, each: note.book } } }`,
    'states: { note: { states: [draft, published, archived, deleted], transitions: { revive: deleted -> draft } } }',
    'endpoints: { "POST /notes/{id}/revive": { does: revive note } }',
    'purpose: { functions: { write: [create note, update note, publish note, delete note, revive note, create book] } }',
  ],
  'identifiers of clients that their bodies name, their paths say or the service sets': [
    'resources: { book: { identifier: { generate: client } } }',
    `endpoints:
      POST /books: { takes: { Nr: id }, request: { type: object, properties: { Nr: string, name: string }, additionalProperties: false } }
      POST /books/{id}: { does: create book, as: name book, request: { type: object, properties: { name: string }, additionalProperties: false } }`,
    'purpose: { functions: { write: [create note, update note, publish note, delete note, create book, name book] } }',
    'authentication: { permissions: [{ allow: [all note, all book, all hook, stream events, name book], to: [writer, reader] }] }',
  ],
  'children in their parent, taken with it and shown in an envelope': [
    `resources:
      book:
        fields:
          notes: { children: note.book, order: [-made_at, title], page: 10, maxItems: 20, envelope: { items: data, has_more: more, data: { object: list } } }
        required: [id, name, notes]`,
  ],
  'rows that changes alone make, one of them with children': [
    `resources:
      note: { created: { then: [{ create: page, set: { note: next.id } }, { create: book, set: { name: next.title } }] } }
      page: { identifier: { field: id, generate: uuid }, fields: { id: string, note: { ref: note, onDelete: cascade, readOnly: true } }, required: [id, note] }
      book: { fields: { notes: { children: note.book } }, required: [id, name, notes] }`,
    'states: { page: none }',
  ],
  'children that must be there, of a resource of which nothing else speaks': [
    `resources:
      book: { fields: { pages: { children: page.book, required: true, minItems: 1 } } }
      page: { identifier: { field: id, generate: "pag_{ulid}" }, fields: { id: string, book: { ref: book, immutable: true, onDelete: restrict } }, required: [id, book] }`,
    'states: { page: none, book: none }',
  ],
  'rows that are looked up, in a list of permissions too': [
    `authentication:
      permissions:
        - { allow: [all note, all book], to: writer }
        - { allow: [read note, list note, notes of a book], to: reader, if: "has(find(note, { owner: caller.id, title: resource.kind }))" }
        - { allow: [create hook, list hook, stream events], to: reader }`,
    'errors: { codes: { too_big: { status: 409, on: [create note], if: "has(find(note, { owner: caller.id, title: next.kind })) && find(note, { title: next.kind, owner: caller.id }).pinned" } } }',
  ],
  'lists that are chosen by paths, conditions, words and days': [
    `endpoints:
      GET /books: { does: list book, parameters: { title: { in: query, filters: note.book.title, op: contains, ignore_case: true } } }
      GET /notes:
        parameters:
          book: { in: query, filters: book.name, op: prefix }
          colours: { in: query, filters: label.colour, split: "," }
          state: { in: query, enum: [draft, all], keeps: "value == 'all' || resource.status == value" }
          q: { in: query, search: [title] }
          sort: { enum: null, sorts: { made: made_at, size: size }, default: made }
          way: { in: query, directs: sort, default: desc }
          made: { in: query, filters: made_at, op: "<=", zone: Europe/Berlin }`,
    'purpose: { functions: { find: [list book] } }',
  ],
  'what is known of callers beside their identifiers': [
    `authentication: { attributes: { firm: The firm that they work for. }, schemes: { token: { caller: { attributes: { firm: claims.org } } } } }
resources: { note: { fields: { kind: { set: { create: "caller.firm == 'acme' ? 'plain' : 'list'" }, default: null, readOnly: true } } } }`,
  ],
  'members of a body that stand for fields of other names': [
    'endpoints: { POST /notes: { request: { properties: { Title: string, size: integer } }, takes: { Title: title } }, "PATCH /notes/{id}": { request: { properties: { data: note } }, takes: data } }',
  ],
  'rules over fields, and a choice of fields': [
    `resources:
      note:
        rules: { big: { if: "has(next.size) && next.size > 900 && next.kind == 'plain'", field: size, message: a size up to 900 }, loud: { if: "next.title.endsWith('!!')" } }
        one_of: [[size, label]]`,
  ],
  'what never arises, and none in the place of lists and values': [
    'errors: { conditions: { request.accept: none, internal: none, write.conflict: any, limit.time: none } }',
    'limits: { timeout: { request: none, idle: none }, size: { file: none, body: 1KiB } }',
    'resources: { note: { unique: none } }',
    'endpoints: { GET /count: { produces: [always, text/plain], order: none } }',
  ],
  'resources of which nothing is known': ['resources: !open ""'],
  'fields of which nothing is known': [
    'resources: { note: { fields: !open "", unique: null } }',
    'versioning: { changes: { "2026-06-01": none } }',
  ],
  'patterns that could be slow and are not, and a slow one of short texts': [
    'resources: { note: { fields: { trap: { pattern: "^([a-z]+)+$" }, long: { pattern: "^(?=.*[A-Z]).{8,}$" }, short: { pattern: "^([\'!]).*\\\\1$", maxLength: 40 } } } }',
  ],
  'values that are named in a union beside words of the field alone': [
    'resources: { card: { identifier: none, fields: { number: string } }, bank: { identifier: none, fields: { iban: string } } }',
    'resources: { note: { fields: { paid: { shape: { anyOf: [card, bank] }, immutable: true } } } }',
  ],
  'a set that is written out and fits': ['resources: { note: { fields: { size: { set: { create: 3 } } } } }'],
  'fields without a type': ['resources: { note: { fields: { size: { readOnly: false }, kind: !open "which?" } } }'],
  'a resource that takes any field': [
    'resources: { note: { additionalProperties: true, unique: [[owner, serial]] } }',
    'endpoints: { GET /notes: { order: serial } }',
  ],
  'a machine that is open': [
    'states: { note: !open "which states?" }',
    'events: { kinds: { note.changed: { on: [create note, hide note] } } }',
  ],
  'states that are not the whole': [
    'states: { note: null, others: any }',
    'resources: { note: { fields: { made_at: { set: { create: now, hide: now } } } } }',
    'endpoints: { "PATCH /notes/{id}": { in: [hidden] } }',
  ],
  'transitions that are not the whole': [
    'states: { note: { states: [draft, published, archived, hidden], transitions: { others: !open "" } } }',
    'endpoints: { "POST /notes/{id}/hide": { does: hide note } }',
  ],
  'a trigger and an initial state that are open': [
    'states: { note: { initial: !open "", transitions: { archive: { after: !open "how long?" }, hide: { from: draft, to: archived, at: !open "" } } } }',
  ],
  'endpoints that are not the whole': [
    'endpoints: { others: !open "many more", POST /books: null }',
    'purpose: { functions: { write: [create note, print note] } }',
    'authentication: { permissions: [{ allow: [all note, all book, all hook, stream events, print note], to: [writer, reader] }] }',
    'resources: { stamp: { identifier: none, fields: { ink: string }, required: [ink] } }',
    'errors: { codes: { held: { status: 409, when: reference.held } } }',
  ],
  'endpoints of which nothing is known': ['endpoints: any'],
  'an endpoint whose effect is open': ['endpoints: { GET /more: {} }', 'purpose: { functions: { write: print note } }'],
  'functions and users that are open': [
    'purpose: { users: !open "who?", functions: { dream: !open "of what?" } }',
    'authentication: { permissions: [{ allow: [all note, all book, all hook, stream events], to: anybody }] }',
  ],
  'schemes that are open': ['authentication: { schemes: !open "", accept: [key] }'],
  'permissions that are open, or none': ['authentication: { permissions: !open "" }'],
  'permissions that are none': ['authentication: { permissions: none }'],
  'who a rule is for, which is open': [
    'authentication: { permissions: [{ allow: [all note, all book, all hook, stream events], to: !open "" }] }',
  ],
  'errors that are not the whole': ['errors: { codes: { others: any } }', 'endpoints: { POST /notes: { errors: [no_paper] } }'],
  'limits of which nothing is known': [
    'limits: any',
    'errors: { codes: { large: { status: 413, when: limit.size }, spent: { status: 429, when: limit.quota }, page: { status: 422, when: limit.page } } }',
  ],
  'events of which nothing is known': [
    'events: !open ""',
    'authentication: { permissions: [{ allow: [all note, all book, all hook], to: [writer, reader] }] }',
    'purpose: { functions: { read: [read note, handler count] } }',
  ],
  'versions that are not the whole': [
    'versioning: { versions: { others: !open "", "2026-01-15": { alternative: "2026-03-01" } }, changes: { "2026-03-01": none } }',
  ],
  'a version whose changes are open': [
    'versioning: { changes: { "2026-06-01": !open "", "2026-01-15": [{ remove: note.colour, was: string, down: "\'red\'" }] } }',
  ],
  'paths with dots, colons, queries, fragments and names in brackets': [
    'endpoints: { "GET /count.json": { does: handler count, as: a }, "GET /count:now": { does: handler count, as: b }, "GET /count?by=day": { does: handler count, as: c }, "GET /count#top": { does: handler count, as: d, parameters: { "of[kind]": { in: query } } } }',
    'authentication: { public: [handler count, a, b, c, d] }',
    'purpose: { functions: { count: [a, b, c, d] } }',
  ],
  'errors in an answer that is no refusal': [
    'endpoints: { GET /count: { response: { 200: [{ shape: { type: object, properties: { error: string }, required: [error] }, if: "params.least < 0" }, { shape: integer }] } } }',
  ],
  'a base address whose host is not known whole': ['purpose: { base_url: "https://{tenant}.notes.example/v1" }'],
  'a base address whose port is not known': ['purpose: { base_url: "https://notes.example:{port}/v1" }'],
  'a filter into a value': ['endpoints: { GET /notes: { parameters: { colour: { in: query, filters: label.colour } } } }'],
  'a parameter that only an expression reads': [
    'endpoints: { GET /notes: { parameters: { mine: { in: query, type: boolean, default: false } } } }',
    'authentication: { permissions: [{ allow: [all book, all hook, stream events, create note, read note, update note, publish note, delete note, notes of a book], to: [writer, reader] }, { allow: list note, to: writer, if: "!params.mine || resource.owner == caller.id" }] }',
  ],
  'a state that may be null in a list of its own': [
    'resources: { note: { fields: { status: { enum: [draft, published, archived] } } } }',
  ],
  "an endpoint that is stated under its method's defaults": [
    'endpoints: { defaults: { POST: { idempotency: { header: Idempotency-Key } }, all: { cache: no-store } } }',
  ],
  'alternatives that their required fields tell apart': [
    'resources: { note: { fields: { pay: { oneOf: [card, account] } } }, card: { identifier: none, fields: { card: string }, required: [card] }, account: { identifier: none, fields: { bank: string }, required: [bank] } }',
  ],
  'a value that may hold itself': [
    'resources: { label: { fields: { under: "label?", more: [label] }, required: [name, under, more] } }',
  ],
  'a resource that nothing uses, while a field is open that may use it': [
    'resources: { stamp: { identifier: none, fields: { ink: string }, required: [ink] }, note: { fields: { kind: !open "which?" } } }',
  ],
  'a resource that nothing uses, while the payload of an event is open': [
    'resources: { stamp: { identifier: none, fields: { ink: string }, required: [ink] } }',
    'events: { kinds: { note.changed: { payload: !open "which?" } } }',
  ],
  'a list of values that a text, a number, a whole number or a switch is compared with': [
    'endpoints: { GET /notes: { parameters: { titles: { in: query, filters: title, op: in }, sizes: { in: query, filters: size, op: in }, pins: { in: query, filters: pinned, op: in } } } }',
  ],
  'a row that paths name by a key': [
    'resources: { book: { unique: [[name]] }, note: { unique: [[book, title]] } }',
    'endpoints: { under: { "/books/{book}": { book: { name: book } } }, "GET /books/{book}/notes/{title}": { does: read note, as: note of a book, identity: { title: title } } }',
    'purpose: { functions: { write: [create note, update note, publish note, delete note, create book, note of a book] } }',
    'authentication: { permissions: [{ allow: [all note, all book, notes of a book, note of a book, all hook, stream events], to: [writer, reader] }] }',
  ],
};
