/** Payments by cards that may be declined, which is told as an error and kept. */
export const payments = `
resources:
  payment:
    identifier: { field: id, generate: "pay_{ulid}" }
    fields:
      id: string
      amount: { type: integer, minimum: 1, maximum: 100 }
      card: { type: string, enum: [good, empty, stolen] }
      state: string
      tries: { type: integer, readOnly: true, default: 0, set: { capture: "next.tries + 1" } }
    required: [id, amount, card, state, tries]
  note:
    identifier: { field: id, generate: integer }
    fields: { id: integer, payment: { ref: payment, readOnly: true, onDelete: cascade } }
    required: [id, payment]
states:
  note: none
  payment:
    field: state
    initial: pending
    states: [pending, paid, declined, blocked]
    transitions:
      capture:
        from: [pending, declined]
        to:
          - { if: "next.card == 'good'", state: paid }
          - { if: "next.card == 'stolen'", state: blocked, answer: card_stolen }
          - { state: declined, answer: card_declined }
        on: update payment
        then: { create: note, set: { payment: next.id } }
endpoints:
  POST /payments: { does: create payment }
  GET /payments/{id}: { does: read payment }
  PATCH /payments/{id}: { does: update payment }
  POST /payments/{id}/capture: { does: capture payment, idempotency: { header: Idempotency-Key, keep: 24h } }
  GET /notes: { does: list note }
  GET /notes/{id}: { does: read note }
authentication: none
errors:
  payload: problem
  codes:
    invalid: { status: 422, when: request.invalid }
    wrong_state: { status: 409, when: transition.illegal }
    card_declined: { status: 402, message: The card was declined. }
    card_stolen: { status: 402 }
`;
