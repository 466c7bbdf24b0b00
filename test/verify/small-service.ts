/** A service with every part in which a trial waits for nothing long: what is stated otherwise in one line of it is a fault. */
export const smallService = `
title: Small
purpose:
  purpose: Lets writers keep notes, and lets editors look after them.
  base_url: https://small.example/v1
  users: { writer: Writes notes., editor: Looks after notes. }
  functions: { write: [create note, read note, list note, update note, delete note], look after: [close note] }
resources:
  note:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      owner: { type: string, readOnly: true, set: { create: caller.id } }
      text: { type: string, minLength: 1, maxLength: 40 }
      kind: { enum: [memo, letter], default: memo }
      cents: { type: integer, minimum: 0, maximum: 10000, default: 100 }
      secret_remark: { type: string, maxLength: 20, visible: [editor], writable: [editor], default: none yet }
      status: { type: string, readOnly: true }
    required: [id, owner, text, kind, cents, status]
  hook:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      owner: { type: string, readOnly: true, set: { create: caller.id } }
      url: { type: string, format: uri }
      kinds: { type: array, items: { type: string }, default: ["*"] }
      secret: { type: string, readOnly: true, generate: "whsec_{base64:32}", reveal: once }
      enabled: { type: boolean, default: true }
    required: [id, owner, url, kinds, secret, enabled]
states:
  note:
    field: status
    initial: open
    states: [open, closed, stale]
    transitions:
      close: open -> closed
      rot: { from: open, to: stale, after: 1d }
  hook: none
endpoints:
  GET /about: { does: reply, as: about, response: { 200: { shape: { type: object }, example: { name: small } } } }
  POST /notes: { does: create note }
  GET /notes: { does: list note }
  GET /notes/{id}: { does: read note }
  PATCH /notes/{id}: { does: update note, in: [open] }
  DELETE /notes/{id}: { does: delete note }
  POST /notes/{id}/close: { does: close note }
  GET /news: { does: list note, as: news, deprecated: { deprecated: 2026-01-01 } }
  POST /hooks: { does: create hook }
  GET /hooks: { does: list hook }
  GET /hooks/{id}: { does: read hook }
  DELETE /hooks/{id}: { does: delete hook }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "k_{random:24}", placeholder: "{key}" } }
  public: [about]
  origins: [https://page.example]
  permissions:
    - { allow: [create note], to: writer }
    - { allow: [list note, news, read note, update note, delete note], to: writer, if: resource.owner == caller.id }
    - { allow: [list note, news, read note, close note], to: editor }
    - { allow: [create hook], to: [writer, editor] }
    - { allow: [list hook, read hook, delete hook], to: [writer, editor], if: resource.owner == caller.id }
    - { allow: [stream events], to: [writer, editor] }
events:
  delivery:
    webhook:
      signature: standard-webhooks
      headers: { X-Kind: event.kind }
      retry: [1s, 1s]
      timeout: 5s
      disable_after: 2d
      subscribers: { resource: hook, url: url, secret: secret, events: kinds, enabled: enabled }
    stream: { path: GET /events, format: sse, keep: 1h }
  kinds:
    note.made: { on: [create note], payload: note }
    note.changed: { on: [update note], if: next.text != resource.text, payload: note }
    note.closed: { on: [close note], payload: { type: object, properties: { note: string, was: string }, required: [note, was] }, data: { note: next.id, was: resource.status } }
    note.gone: { on: [delete note], payload: { type: object, properties: { id: string }, required: [id] }, data: { id: resource.id } }
    note.stale: { on: [rot note], payload: note }
errors:
  payload: problem
  codes:
    malformed: { status: 400, when: [request.malformed, request.parameter] }
    media: { status: 415, when: request.media }
    unacceptable: { status: 406, when: request.accept }
    invalid: { status: 422, when: request.invalid }
    unknown: { status: 401, when: caller.unknown }
    forbidden: { status: 403, when: caller.forbidden }
    missing: { status: 404, when: resource.missing }
    nowhere: { status: 404, when: route.unknown }
    method: { status: 405, when: method.unsupported }
    wrong_state: { status: 409, when: transition.illegal }
    slow_down: { status: 429, when: limit.rate }
    used_up: { status: 402, when: limit.quota }
    too_large: { status: 413, when: limit.size }
    bad_page: { status: 400, when: limit.page }
    timed_out: { status: 408, when: limit.time }
    no_version: { status: 400, when: version.unknown }
    old_version: { status: 410, when: version.sunset }
    conflict: { status: 409, when: write.conflict }
    unavailable: { status: 503, when: service.unavailable }
    broken: { status: 500, when: internal }
limits:
  rate: [{ per: caller, limit: 20, window: 2s, on: [list hook] }]
  size: { body: 2KiB, url: 1KiB, headers: 12KiB }
  timeout: { request: 1s, idle: 20s }
  pagination: { style: page, page: page, size: size, default: 3, max: 6, over_max: refuse, items: items, total: total }
  quota: [{ per: caller, on: [close note], limit: 10, window: day }]
versioning:
  versions:
    "1": { deprecated: 2020-01-01, sunset: 2021-01-01 }
    "2": { deprecated: 2025-01-01, sunset: 2090-01-01, link: https://small.example/changes }
    "3": { current: true }
  select: { header: Small-Version, default: current }
  guarantee: additive
  changes:
    "1": none
    "2": none
    "3":
      - { rename: note.words, to: text }
      - { enum: note.kind, values: { paper: letter } }
      - { map: note.cents, was: { type: number, minimum: 0, maximum: 100 }, down: "double(value) / 100.0", up: "int(round(value * 100.0))" }
      - { endpoint: GET /news, added: true }
`;
