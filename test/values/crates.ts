/** Crates of several keepers with the things in them: what goes with a crate is told of, and nobody counts the crates of another. */
export const crates = `
purpose:
  purpose: Keeps crates.
  users: { keeper: Keeps crates of his own., porter: Sees all that is in them. }
resources:
  crate:
    identifier: { field: id, generate: "cra_{ulid}" }
    fields:
      id: string
      owner: { type: string, readOnly: true, set: { create: caller.id } }
      name: { type: string, minLength: 1, maxLength: 60 }
      corner: { type: corner, required: false }
    required: [id, owner, name]
  corner:
    identifier: none
    fields: { row: { type: integer, minimum: 1, maximum: 9 }, shelf: { type: integer, minimum: 1, maximum: 9 } }
    required: [row]
  thing:
    identifier: { field: id, generate: "thi_{ulid}" }
    fields:
      id: string
      crate: { ref: crate, immutable: true, onDelete: cascade }
      name: { type: string, minLength: 1, maxLength: 60 }
    required: [id, crate, name]
  hook:
    identifier: { field: id, generate: "hok_{ulid}" }
    fields:
      id: string
      url: { type: string, format: uri }
      secret: { type: string, readOnly: true, generate: "whsec_{base64:24}", reveal: once }
      kinds: { type: array, items: { type: string } }
    required: [id, url, secret]
states: { crate: none, corner: none, thing: none, hook: none }
endpoints:
  defaults:
    all: { headers: { X-Request: request_id } }
  POST /crates: { does: create crate }
  GET /crates: { does: list crate }
  GET /crates/{id}: { does: read crate }
  DELETE /crates/{id}: { does: delete crate }
  POST /things: { does: create thing }
  GET /things/{id}: { does: read thing }
  DELETE /things/{id}: { does: delete thing }
  POST /hooks: { does: create hook }
  DELETE /hooks/{id}: { does: delete hook }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "k_{random:24}" } }
  permissions:
    - { allow: [create crate], to: keeper }
    - { allow: [read crate, list crate, delete crate], to: keeper, if: "resource.owner == caller.id" }
    - { allow: [create thing, delete thing], to: keeper }
    - { allow: [read thing], to: [keeper, porter] }
    - { allow: [create hook, delete hook], to: [keeper, porter] }
events:
  delivery:
    webhook: { signature: standard-webhooks, retry: [30s], subscribers: { resource: hook, url: url, secret: secret, events: kinds } }
    stream: none
  kinds:
    crate.made: { on: [create crate], payload: crate }
    thing.made: { on: [create thing], payload: thing }
    thing.gone: { on: [delete thing], payload: thing }
errors:
  payload: problem
  codes:
    invalid: { status: 422, when: request.invalid }
    forbidden: { status: 403, when: caller.forbidden }
    missing: { status: 404, when: [resource.missing, route.unknown] }
    dangling: { status: 422, when: reference.missing }
    large: { status: 413, when: limit.size }
limits:
  rate: none
  quota: none
  size: { body: 4KiB, file: none }
  timeout: { request: none, idle: none }
  pagination: { style: cursor, cursor: cursor, size: limit, default: 20, max: 100, items: data, next: next, total: total }
versioning: { versions: none }
`;
