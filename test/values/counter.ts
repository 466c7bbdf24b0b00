/** A counter that takes payments: what is declined is kept, references are shown whole where that is asked for, and places are bracketed. */
export const counter = `

title: Counter
purpose:
  purpose: Takes payments by card.
  users: { clerk: Takes payments. }
  functions: { take: [create customer, read customer, create card, read card, create charge, read charge, list charge, update charge] }
resources:
  customer:
    identifier: { field: id, generate: "cus_{random:12}" }
    fields: { id: string, name: { type: string, maxLength: 40 } }
    required: [id, name]
  card:
    identifier: { field: id, generate: "card_{random:12}" }
    fields:
      id: string
      holder: { type: string, maxLength: 40 }
      outcome: { enum: [approved, declined, empty], readOnly: true, visible: none, set: { create: "'approved'" } }
    required: [id, holder, outcome]
    rows:
      - { id: card_good, holder: Good, outcome: approved }
      - { id: card_declined, holder: Declined, outcome: declined }
      - { id: card_empty, holder: Empty, outcome: empty }
  line:
    identifier: none
    fields: { price: { type: integer, minimum: 0, maximum: 9999 }, note: { type: string, maxLength: 20 } }
    required: [price]
  charge:
    identifier: { field: id, generate: "ch_{random:12}" }
    fields:
      id: string
      customer: { ref: customer, onDelete: restrict }
      card: { ref: card, onDelete: restrict }
      confirm: { type: boolean, stored: false }
      lines: { type: array, items: line, maxItems: 5 }
      status: { type: string, readOnly: true }
    required: [id, customer, lines, status]
states:
  customer: none
  card: none
  charge:
    field: status
    initial:
      - { if: "has(next.confirm) && next.confirm && has(next.card) && next.card.outcome == 'declined'", state: failed, answer: card_declined }
      - { if: "has(next.confirm) && next.confirm && has(next.card) && next.card.outcome == 'empty'", state: failed, answer: card_empty }
      - { if: "has(next.confirm) && next.confirm && has(next.card)", state: paid }
      - { state: open }
    states: [open, paid, failed]
    transitions: none
endpoints:
  defaults: { all: { expand: { parameter: "expand[]", member: expand, below: data, depth: 2 } } }
  POST /customers: { does: create customer, expand: none }
  GET /customers/{id}: { does: read customer, expand: none }
  POST /cards: { does: create card, expand: none }
  GET /cards/{id}: { does: read card, expand: none }
  POST /charges: { does: create charge }
  GET /charges/{id}: { does: read charge }
  POST /charges/{id}: { does: update charge }
  GET /charges: { does: list charge, parameters: { customer: { in: query } } }
authentication:
  schemes: { key: { type: api_key, header: Authorization, prefix: Bearer, generate: "key_{random:24}", placeholder: "{key}" } }
  accept: [key]
  origins: none
  permissions:
    - { allow: [create customer, read customer, create card, read card, create charge, read charge, list charge, update charge], to: clerk }
events: none
errors:
  payload:
    shape: { type: object, properties: { error: { type: object, properties: { code: string?, message: string?, param: string, charge: { type: object } } } }, required: [error] }
    data:
      error:
        code: code
        message: message
        param: "size(violations) > 0 && violations[0].path != '' ? violations[0].path : null"
        charge: "operation == 'create charge' ? result : null"
  paths: bracketed
  codes:
    malformed: { status: 400, when: [request.malformed, request.parameter, request.invalid, version.unknown, limit.page] }
    media: { status: 415, when: request.media }
    accept: { status: 406, when: request.accept }
    who: { status: 401, when: caller.unknown }
    forbidden: { status: 403, when: caller.forbidden }
    missing: { status: 404, when: [resource.missing, route.unknown] }
    no_such: { status: 400, when: reference.missing }
    held: { status: 409, when: write.conflict }
    method: { status: 405, when: method.unsupported }
    large: { status: 413, when: limit.size }
    slow: { status: 503, when: [limit.time, service.unavailable] }
    broken: { status: 500, when: internal }
    card_declined: { status: 402, message: Declined. }
    card_empty: { status: 402, message: Empty. }
limits:
  rate: none
  size: { body: 64KiB, url: 8KiB, headers: 16KiB, file: none }
  timeout: { request: 30s, idle: 60s }
  pagination: { style: after, after: after, size: limit, default: 10, max: 50, over_max: refuse, items: data, has_more: has_more }
  quota: none
  trust_proxies: none
versioning: none
`;
