/** Payments whose card keeps its last digits and never its number, has a name of its own, and whose marks are each made as they come. */
export const cards = `
title: Cards
purpose: { purpose: Takes payments., users: { payer: Pays. }, functions: { pay: [all payment] } }
resources:
  card:
    identifier: none
    fields:
      object: { const: card }
      fingerprint: { type: string, readOnly: true, generate: "fp_{random:8}" }
      number: { type: string, pattern: "^[0-9]{8,16}$", stored: false }
      last4: { type: string, readOnly: true, set: { write: "has(value.number) ? value.number.substring(size(value.number) - 4) : has(value.last4) ? value.last4 : 'none'" } }
      first: { type: string, readOnly: true, set: { create: "value.number.substring(0, 2)" } }
      brand: { type: string, maxLength: 20, default: plain }
    required: [object, fingerprint, number, last4, first, brand]
  bank: { identifier: none, fields: { object: { const: bank }, iban: string }, required: [object, iban] }
  mark:
    identifier: none
    fields: { text: { type: string, maxLength: 20 }, long: { type: boolean, readOnly: true, set: { write: "size(value.text) > 5" } } }
    required: [text, long]
  payment:
    identifier: { field: id, generate: "pay_{ulid}" }
    fields:
      id: string
      source: { shape: { oneOf: [card, bank] } }
      marks: { type: array, maxItems: 4, items: mark, default: [] }
      shown_as: { type: string, readOnly: true, set: { write: "next.source.object == 'card' && has(next.source.last4) ? '*' + next.source.last4 : 'bank'" } }
      note: { type: string, maxLength: 40 }
    required: [id, source, marks, shown_as]
states: none
endpoints:
  POST /payments: { does: create payment }
  GET /payments: { does: list payment }
  GET /payments/{id}: { does: read payment }
  PATCH /payments/{id}: { does: update payment }
  PUT /payments/{id}: { does: replace payment }
  DELETE /payments/{id}: { does: delete payment }
authentication: none
events: none
errors:
  payload: problem
  codes:
    invalid: { status: 422, when: [request.invalid, request.malformed, request.parameter] }
    gone: { status: 404, when: [resource.missing, route.unknown] }
limits: { rate: none, size: none, timeout: none, quota: none, pagination: none }
versioning: none
`;
