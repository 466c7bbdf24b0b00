/** Orders of a service that says of everything that it refuses what exactly was wrong. */
export const orders = `
purpose:
  purpose: Takes orders of books.
  users: { customer: Orders books., clerk: Sends them. }
resources:
  order:
    identifier: { field: id, generate: "ord_{ulid}" }
    fields:
      id: string
      owner: { type: string, readOnly: true, set: { create: caller.id } }
      title: { type: string, minLength: 1, maxLength: 60 }
      copies: { type: integer, minimum: 1, maximum: 20 }
      note: string
    required: [id, owner, title, copies]
endpoints:
  defaults: { all: { read_only: refuse } }
  POST /orders: { does: create order }
  GET /orders: { does: list order }
  GET /orders/{id}: { does: read order }
  PATCH /orders/{id}: { does: update order }
  DELETE /orders/{id}: { does: delete order }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "k_{random:24}" } }
  permissions:
    - { allow: [create order], to: customer, scopes: [orders] }
    - { allow: [list order, read order, update order, delete order], to: customer, if: "resource.owner == caller.id" }
    - { allow: [list order, read order], to: clerk }
    - { allow: [update order], to: clerk, if: "has(resource.note)" }
events: none
errors:
  payload:
    shape:
      type: object
      properties: { code: "string?", message: string, param: "string?" }
      required: [code, message]
    data: { code: code, message: message, param: "size(violations) > 0 ? violations[0].path : null" }
  codes:
    parameter_missing: { status: 400, when: request.invalid.missing, message: "{name} is missing: {expected}" }
    parameter_unknown: { status: 400, when: request.invalid.unknown, message: "Received unknown parameter: {name}" }
    parameter_invalid_type: { status: 400, when: request.invalid.type, message: "{name} is {found}, not {expected}" }
    parameter_invalid: { status: 422, when: request.invalid.value, message: "{name} is {found}, not {expected}" }
    parameter_fixed: { status: 422, when: request.invalid.read_only, message: "{path} in the {in} is for us to say" }
    unread: { status: 400, when: [request.malformed, request.parameter] }
    key_missing: { status: 401, when: caller.unknown.missing }
    key_unknown: { status: 401, when: caller.unknown.bad }
    key_expired: { status: 401, when: caller.unknown.expired }
    wrong_role: { status: 403, when: caller.forbidden.user }
    wrong_scope: { status: 403, when: caller.forbidden.scope }
    wrong_order: { status: 403, when: caller.forbidden.row }
    missing: { status: 404, when: [resource.missing, route.unknown] }
    large_head: { status: 431, when: limit.size.headers }
    long_address: { status: 414, when: limit.size.url }
    large_body: { status: 413, when: limit.size }
  conditions:
    request.media: none
    request.accept: none
    method.unsupported: none
    limit.time: any
    limit.page: any
    write.conflict: any
    service.unavailable: any
    internal: any
limits: { timeout: { request: none }, pagination: none, size: { body: 16KiB, url: 2KiB, headers: 8KiB, file: none }, rate: none, quota: none }
`;
