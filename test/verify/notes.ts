/** A small service that has something of everything that the trials of parts 2, 3, 4 and 7 look at. */
export const notes = `
title: Notes
purpose: { purpose: Keeps notes., base_url: https://notes.example/v1, users: { writer: Writes. }, functions: none }
resources:
  book:
    identifier: { field: id, generate: "bk_{ulid}" }
    fields: { id: string, name: { type: string, minLength: 1, maxLength: 20 } }
    required: [id, name]
    unique: [[name]]
  note:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      book: { ref: book, onDelete: restrict, immutable: true }
      text: { type: string, minLength: 1, maxLength: 40 }
      stars: { type: integer, minimum: 0, maximum: 5, default: 0 }
      kind: { enum: [idea, task], default: idea }
      until: { type: string, format: date-time }
      secret: { type: string, writeOnly: true }
      length: { type: integer, readOnly: true, set: { create: size(next.text), update: size(next.text) } }
      made_at: { type: string, format: date-time, readOnly: true, set: { create: now } }
      closed_by: { type: string, readOnly: true, set: { close: request.by } }
      status: { type: string, readOnly: true }
    required: [id, book, text, stars, kind, length, made_at, status]
states:
  book: none
  note:
    field: status
    initial: open
    states: [open, held, closed]
    transitions:
      hold: open -> held
      release: held -> open
      close: { from: [open, held], to: closed, if: { if: "request.by != 'nobody'", else: unsigned } }
endpoints:
  POST /books: { does: create book }
  GET /books/{id}: { does: read book }
  DELETE /books/{id}: { does: delete book }
  POST /notes: { does: create note, idempotency: { header: Idempotency-Key, keep: 24h } }
  GET /notes/{id}: { does: read note, etag: strong }
  GET /notes:
    does: list note
    parameters: { stars: { in: query }, sort: { in: query, enum: [stars, -stars], sorts: true } }
    order: made_at
  PATCH /notes/{id}: { does: update note, in: [open], if_match: accepted }
  DELETE /notes/{id}: { does: delete note }
  POST /notes/{id}/hold: { does: hold note }
  POST /notes/{id}/release: { does: release note }
  POST /notes/{id}/close:
    does: close note
    request: { type: object, properties: { by: { enum: [ada, bob, nobody] } }, required: [by] }
authentication: none
events: none
errors:
  payload: problem
  codes:
    malformed: { status: 400, when: [request.malformed, request.parameter, limit.page] }
    media: { status: 415, when: request.media }
    accept: { status: 406, when: request.accept }
    invalid: { status: 422, when: request.invalid }
    missing: { status: 404, when: [resource.missing, route.unknown] }
    no_method: { status: 405, when: method.unsupported }
    taken: { status: 409, when: resource.exists }
    no_book: { status: 422, when: reference.missing }
    held: { status: 409, when: reference.held }
    wrong_state: { status: 409, when: transition.illegal }
    stale: { status: 412, when: precondition.failed }
    reused: { status: 422, when: idempotency.reused }
    busy: { status: 409, when: [idempotency.busy, write.conflict] }
    late: { status: 503, when: [limit.time, service.unavailable] }
    broken: { status: 500, when: internal }
    unsigned: { status: 409 }
limits:
  rate: none
  size: none
  timeout: none
  quota: none
  pagination: { style: cursor, cursor: cursor, size: limit, default: 20, max: 100, over_max: refuse, items: data, next: next }
`;
