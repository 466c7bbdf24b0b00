/** Cards and charges as clients of forms ask for them: rows from the start, empty texts, expansion in bodies and lists, paths with brackets. */
export const ledgerOfCards = `
resources:
  card:
    identifier: { field: id, generate: "card_{random:8}" }
    fields:
      id: string
      word: { type: string, minLength: 2, maxLength: 20 }
      good: { type: boolean, default: true }
      made: { type: integer, format: unix-time, readOnly: true, set: { create: now } }
    required: [id, word, good, made]
    rows:
      - { id: card_good, word: always good }
      - { id: card_bad, word: never good, good: false }
  tag: { identifier: none, fields: { name: string, weight: integer }, required: [name] }
  charge:
    identifier: { field: id, generate: "ch_{random:8}" }
    fields:
      id: string
      amount: { type: integer, minimum: 1, maximum: 100 }
      card: { ref: "card?", null: kept, default: null, onDelete: clear }
      note: { type: string, maxLength: 20 }
      title: { type: string?, maxLength: 20, null: kept, default: null }
      tags: { type: array, items: tag, maxItems: 3 }
      marks: { type: object, additionalProperties: { type: string, maxLength: 9 }, default: {} }
      state: { type: string, readOnly: true }
      secret: { type: string, visible: none, readOnly: true, set: { create: "'hidden'" } }
    required: [id, amount, card, title, marks, state, secret]
states:
  card: none
  charge:
    field: state
    initial:
      - { if: "has(next.card) && !next.card.good", state: refused, answer: card_refused }
      - { state: paid }
    states: [paid, refused]
    transitions: {}
endpoints:
  defaults:
    POST: { consumes: [application/x-www-form-urlencoded, application/json], empty: removes, idempotency: { header: Idempotency-Key, keep: 1h } }
    all: { expand: { parameter: "expand[]", member: expand, below: data, depth: 2 } }
  POST /cards: { does: create card, expand: none }
  GET /cards: { does: list card, expand: none }
  GET /cards/{id}: { does: read card, expand: none }
  DELETE /cards/{id}: { does: delete card, expand: none }
  POST /charges: { does: create charge }
  GET /charges: { does: list charge, ties: newest, parameters: { amount: { in: query } } }
  GET /charges/{id}: { does: read charge }
  POST /charges/{id}: { does: update charge }
authentication: none
errors:
  payload:
    shape: { type: object, properties: { code: string?, param: string, charge: { type: object } }, required: [code] }
    data: { code: code, param: "size(violations) > 0 ? violations[0].path : null", charge: "operation == 'create charge' ? result : null" }
  paths: bracketed
  codes:
    card_refused: { status: 402 }
    invalid: { status: 400, when: request.invalid }
    malformed: { status: 400, when: [request.malformed, request.parameter, limit.page] }
    missing: { status: 404, when: [resource.missing, route.unknown] }
    no_such: { status: 400, when: reference.missing }
    again: { status: 409, when: [idempotency.reused, idempotency.busy, write.conflict] }
limits:
  rate: none
  pagination: { style: starting_at, starting_at: from, size: limit, default: 3, max: 10, items: data, has_more: more, self: url, data: { object: list } }
`;
