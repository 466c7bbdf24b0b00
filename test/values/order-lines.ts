/** Orders whose lines are sent with them when they are made, changed and replaced. */
export const orderLines = `
purpose: { users: { buyer: Orders things., clerk: Reads everything. } }
resources:
  product:
    identifier: { field: id, generate: client }
    fields: { id: string, price: { type: integer, minimum: 1 } }
    required: [id, price]
  order:
    identifier: { field: id, generate: "ord_{ulid}" }
    fields:
      id: string
      customer: { type: string, minLength: 1 }
      note: string
      changes: { type: integer, readOnly: true, set: { create: 0, update: resource.changes + 1, replace: resource.changes + 1 } }
      lines: { children: line.order, order: position, maxItems: 5, taken_by: [create, update, replace] }
      tags: { children: tag.order, order: name, page: 10, maxItems: 3, taken_by: [create, update, replace] }
      total: { type: integer, derive: "sum(line.order, item.amount)" }
      size: { type: integer, derive: "count(line.order)" }
    required: [id, customer, changes, lines, total, size]
  line:
    identifier: { field: id, generate: "li_{ulid}" }
    fields:
      id: string
      order: { ref: order, immutable: true, onDelete: cascade }
      product: { ref: product, immutable: true }
      position: { type: integer, minimum: 1, maximum: 100 }
      quantity: { type: integer, minimum: 1, maximum: 1000, default: 1 }
      remark: string
      amount: { type: integer, readOnly: true, set: { write: "next.position * next.quantity" } }
      state: string
    required: [id, order, product, position, quantity, amount, state]
    unique: [[order, position]]
    rules: { not_too_far: { if: "next.position > 90", field: position, message: at most 90 } }
  tag:
    identifier: { field: name, generate: client }
    fields: { name: { type: string, pattern: "^[a-z]{1,9}$" }, order: { ref: order, immutable: true, onDelete: cascade }, colour: string }
    required: [name, order]
  claim:
    identifier: { field: id, generate: "cl_{ulid}" }
    fields: { id: string, line: { ref: line, onDelete: restrict } }
    required: [id, line]
states:
  line:
    field: state
    initial: open
    states: [open, packed, sent]
    transitions:
      pack: { from: open, to: packed, on: update line }
      send: { from: packed, to: sent }
endpoints:
  POST /products: { does: create product }
  GET /products/{id}: { does: read product }
  POST /orders: { does: create order }
  GET /orders: { does: list order }
  GET /orders/{id}: { does: read order, etag: strong }
  PATCH /orders/{id}: { does: update order, if_match: accepted, idempotency: { header: Idempotency-Key, keep: 24h } }
  PUT /orders/{id}: { does: replace order }
  GET /lines: { does: list line, parameters: { order: { in: query } } }
  POST /lines: { does: create line, as: add line }
  PATCH /lines/{id}: { does: update line }
  POST /lines/{id}/send: { does: send line }
  POST /claims: { does: create claim }
authentication: none
events:
  delivery: { stream: { path: GET /stream, format: sse, keep: 24h } }
  kinds:
    order.changed: { on: [update order, replace order], payload: { ref: order } }
    line.made: { on: [create line], payload: { ref: line } }
    line.changed: { on: [update line], payload: { ref: line } }
    line.packed: { on: [pack line], payload: { ref: line } }
    line.gone: { on: [delete line], payload: { ref: line } }
errors:
  payload: problem
  codes:
    invalid: { status: 422, when: request.invalid }
    no_such: { status: 404, when: [resource.missing, reference.missing] }
    taken: { status: 409, when: resource.exists }
    stale: { status: 412, when: precondition.failed }
    held: { status: 409, when: reference.held }
    wrong_state: { status: 409, when: transition.illegal }
    line_taken: { status: 409, on: [create line, update line], when: resource.exists }
`;
