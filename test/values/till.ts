/** Payments of a till: a clerk sees some fields of all of them, and all fields of those that it took. */
export const till = `
purpose: { purpose: Takes payments., base_url: none, users: { clerk: Takes payments., auditor: Looks at all., cleaner: Sees some. }, functions: none }
resources:
  payment:
    identifier: { field: id, generate: client }
    fields:
      id: string
      clerk: { type: string, readOnly: true, set: { create: caller.id } }
      amount: { type: integer, minimum: 1, maximum: 10000 }
      memo: { type: string, maxLength: 40 }
      status: { type: string, readOnly: true }
    required: [id, clerk, amount, memo, status]
  refund:
    identifier: { field: id, generate: client }
    fields: { id: string, payment: { ref: payment, onDelete: cascade, show: expand } }
    required: [id, payment]
states:
  payment: { field: status, initial: taken, states: [taken, settled], transitions: { settle: taken -> settled } }
  refund: none
endpoints:
  POST /payments: { does: create payment }
  GET /payments: { does: list payment, parameters: { amount: { in: query }, status: { in: query }, sort: { in: query, enum: [amount, status], sorts: true } } }
  GET /payments/{id}: { does: read payment, etag: strong }
  PATCH /payments/{id}: { does: update payment, if_match: accepted, etag: strong }
  PUT /payments/{id}: { does: replace payment }
  POST /payments/{id}/settle: { does: settle payment }
  POST /refunds: { does: create refund }
  GET /refunds/{id}: { does: read refund }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "k_{random:24}", placeholder: "{key}" } }
  permissions:
    - { allow: [create payment, update payment, replace payment, settle payment, create refund, read refund], to: clerk }
    - { allow: [read payment, list payment], to: clerk, if: "resource.clerk == caller.id" }
    - { allow: [read payment, list payment], to: [clerk, cleaner], fields: [status] }
    - { allow: [all payment, all refund, stream events], to: auditor }
    - { allow: [stream events], to: cleaner }
events:
  delivery: { stream: { path: GET /events, format: sse, keep: 24h } }
  kinds: { payment.changed: { on: [update payment, settle payment], payload: payment } }
errors:
  payload: problem
  codes:
    forbidden: { status: 403, when: caller.forbidden }
    unknown: { status: 401, when: caller.unknown }
    missing: { status: 404, when: [resource.missing, reference.missing] }
    invalid: { status: 422, when: [request.invalid] }
    unreadable: { status: 400, when: [request.malformed, request.parameter, request.media, request.accept] }
    taken: { status: 409, when: resource.exists }
    changed: { status: 412, when: precondition.failed }
limits: { rate: none, size: none, timeout: none, quota: none, pagination: none }
versioning: { versions: none }
`;
