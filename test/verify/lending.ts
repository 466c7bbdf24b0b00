/** A service whose rows depend on each other: by references, by what is unique, by who writes and sees what, and by a machine with conditions. */
export const lending = `
title: Lending
purpose:
  purpose: Lets readers borrow books.
  base_url: https://lending.example/v1
  users: { reader: Borrows books., keeper: Keeps the books. }
  functions: { read: [create book, read book, list book, update book, create loan, read loan, list loan, update loan, hand loan, renew loan, bring loan, drop loan, wish loan], keep: [upsert shelf, read shelf] }
resources:
  book:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      title: { type: string, minLength: 1, maxLength: 40, ignore_case: true }
      price: { type: integer, minimum: 1, maximum: 100 }
      remark: { type: string, maxLength: 20, visible: [keeper], writable: [keeper] }
      code: { type: string, readOnly: true, generate: "bk_{random:24}", reveal: once }
    required: [id, title, price, code]
    unique: [[title]]
  shelf:
    identifier: { field: code, generate: client }
    fields:
      code: { type: string, pattern: "^[a-z]{8,12}$" }
      label: { type: string, minLength: 1, maxLength: 30 }
      rank: { type: integer, minimum: 1, maximum: 9, default: 5 }
      moved_at: { type: string, format: date-time, readOnly: true, set: { write: now } }
    required: [code, label, rank, moved_at]
    unique: [[label]]
  loan:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      book: { ref: book, onDelete: restrict, immutable: true }
      week: { type: integer, minimum: 1, maximum: 5000 }
      days: { type: integer, minimum: 1, maximum: 30 }
      fee: { type: integer, readOnly: true, set: { create: "next.book.price * next.days", update: "next.book.price * next.days" } }
      renewed_at: { type: string, format: date-time, readOnly: true, set: { renew: now } }
      state: { type: string, readOnly: true }
      moved_at: { type: string, format: date-time, readOnly: true, set: { write: now } }
    required: [id, book, week, days, fee, state, moved_at]
    unique: [{ fields: [book, week], while: "next.state in ['wished', 'out']" }]
states:
  book: none
  shelf: none
  loan:
    field: state
    initial: wished
    states: [wished, out, back, torn, dropped, forgotten]
    transitions:
      hand: { from: wished, to: out, if: { if: "request.days <= resource.days", else: too_long } }
      renew: out -> wished
      bring: { from: out, to: [{ if: request.torn, state: torn }, { state: back }] }
      drop: wished -> dropped
      wish: { from: [dropped, forgotten], to: wished }
      forget: { from: wished, to: forgotten, after: 2d }
endpoints:
  POST /books: { does: create book }
  GET /books: { does: list book }
  GET /books/{id}: { does: read book }
  PATCH /books/{id}: { does: update book }
  PUT /shelves/{code}: { does: upsert shelf }
  GET /shelves/{code}: { does: read shelf }
  POST /loans: { does: create loan }
  GET /loans: { does: list loan, parameters: { book: { in: query } } }
  GET /loans/{id}: { does: read loan }
  PATCH /loans/{id}: { does: update loan, in: [wished] }
  POST /loans/{id}/hand:
    does: hand loan
    request: { type: object, properties: { days: { type: integer, minimum: 1, maximum: 31 } }, required: [days] }
  POST /loans/{id}/renew: { does: renew loan }
  POST /loans/{id}/bring:
    does: bring loan
    request: { type: object, properties: { torn: boolean }, required: [torn] }
  POST /loans/{id}/drop: { does: drop loan }
  POST /loans/{id}/wish: { does: wish loan }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "k_{random:24}", placeholder: "{key}" } }
  permissions: none
events: none
errors:
  payload: problem
  codes:
    malformed: { status: 400, when: [request.malformed, request.parameter, limit.page] }
    media: { status: 415, when: request.media }
    unacceptable: { status: 406, when: request.accept }
    invalid: { status: 422, when: request.invalid }
    unknown: { status: 401, when: caller.unknown }
    missing: { status: 404, when: [resource.missing, route.unknown] }
    method: { status: 405, when: method.unsupported }
    nothing: { status: 422, when: reference.missing }
    taken: { status: 409, when: resource.exists }
    held: { status: 409, when: reference.held }
    wrong_state: { status: 409, when: transition.illegal }
    conflict: { status: 409, when: write.conflict }
    too_large: { status: 413, when: limit.size }
    timed_out: { status: 408, when: limit.time }
    unavailable: { status: 503, when: service.unavailable }
    broken: { status: 500, when: internal }
    too_long: { status: 422 }
    too_dear: { status: 422, on: [create loan], if: "next.days > next.book.price" }
limits:
  rate: none
  size: { body: 8KiB, url: 2KiB }
  timeout: { request: 5s, idle: 20s }
  pagination: { style: page, page: page, size: size, default: 10, max: 50, over_max: refuse, items: items, total: total }
  quota: none
versioning: none
`;
