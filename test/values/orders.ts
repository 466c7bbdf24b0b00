/** Orders of customers, found by whatever stands in them, around them and below them. */
export const orders = `
purpose:
  purpose: Keeps what customers have ordered.
  users: { clerk: Takes orders of its own customers., manager: Sees everything. }
resources:
  customer:
    identifier: { field: id, generate: "cus_{ulid}" }
    fields:
      id: string
      keeper: { type: string, minLength: 1, maxLength: 40 }
      email: { type: string, minLength: 1, maxLength: 60 }
      score: { type: integer, minimum: 0, maximum: 1000, visible: [manager] }
    required: [id, keeper, email, score]
  order:
    identifier: { field: id, generate: "ord_{ulid}" }
    fields:
      id: string
      customer: { ref: customer }
      title: { type: string, minLength: 1, maxLength: 60 }
      body: { type: string, maxLength: 200 }
      state: { enum: [open, paid, gone] }
      tags: { type: array, items: { type: string, minLength: 1, maxLength: 20 }, maxItems: 5 }
      due_at: { type: string, format: date-time }
      address: { type: object, properties: { city: { type: string, minLength: 1, maxLength: 40 } } }
    required: [id, customer, title, state, due_at]
  line:
    identifier: { field: id, generate: "lin_{ulid}" }
    fields:
      id: string
      order: { ref: order, immutable: true, onDelete: cascade }
      price: { type: integer, minimum: 0, maximum: 1000000 }
    required: [id, order, price]
states: { customer: none, order: none, line: none }
endpoints:
  POST /customers: { does: create customer }
  GET /customers/{id}: { does: read customer }
  POST /orders: { does: create order }
  GET /orders/{id}: { does: read order }
  GET /orders:
    does: list order
    parameters:
      email: { in: query, filters: customer.email }
      keeper: { in: query, filters: customer.keeper, op: prefix, ignore_case: true }
      score: { in: query, filters: customer.score }
      min_price: { in: query, filters: line.order.price, op: ">=" }
      prices: { in: query, filters: line.order.price, split: ",", match: all }
      city: { in: query, filters: address.city }
      tag: { in: query, filters: tags, split: "," }
      all_tags: { in: query, filters: tags, split: "|", match: all }
      state: { in: query, enum: [open, paid, gone, all], keeps: "value == 'all' || resource.state == value" }
      states: { in: query, filters: state, split: "," }
      title: { in: query, filters: title, op: contains, ignore_case: true }
      q: { in: query, search: [title, body] }
      due: { in: query, filters: due_at, zone: Europe/Berlin }
      due_from: { in: query, filters: due_at, op: ">=", zone: Europe/Berlin }
      sort: { in: query, sorts: { name: title, due: due_at } }
      way: { in: query, directs: sort }
    order: title
  POST /orders/{order}/lines: { does: create line }
  GET /orders/{order}/lines: { does: list line }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "k_{random:24}" } }
  permissions:
    - { allow: [create customer, create order, create line, list line, list order, read order], to: [clerk, manager] }
    - { allow: [read customer], to: clerk, if: "resource.keeper == caller.id" }
    - { allow: [read customer], to: manager }
events: none
errors:
  payload: problem
  codes:
    invalid: { status: 422, when: request.invalid }
    malformed: { status: 400, when: [request.parameter, limit.page] }
    unknown: { status: 401, when: caller.unknown }
    forbidden: { status: 403, when: caller.forbidden }
    missing: { status: 404, when: [resource.missing, reference.missing, route.unknown] }
limits:
  pagination: { style: cursor, cursor: cursor, size: limit, default: 20, max: 100, items: data, next: next, total: total }
`;
