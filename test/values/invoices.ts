/** Invoices that are made with their lines and show them, and orders that show their tickets in an envelope. */
export const invoices = `
purpose: { users: { seller: Sells things., other: Sells other things. } }
resources:
  product:
    identifier: { field: id, generate: client }
    fields: { id: string, price: { type: integer, minimum: 1 } }
    required: [id, price]
  invoice:
    identifier: { field: id, generate: "inv_{ulid}" }
    fields:
      id: string
      customer: { type: string, minLength: 1 }
      lines: { children: line.invoice, order: position, minItems: 1, maxItems: 5 }
      notes: { children: note.invoice, order: -id, page: 2, readOnly: true, envelope: { items: data, has_more: has_more, data: { object: list } } }
      total: { type: integer, derive: "sum(line.invoice, item.amount)" }
    required: [id, customer, lines, notes, total]
  line:
    identifier: { field: id, generate: "li_{ulid}" }
    fields:
      id: string
      invoice: { ref: invoice, immutable: true, onDelete: cascade }
      product: { ref: product }
      position: { type: integer, minimum: 1 }
      quantity: { type: integer, minimum: 1, maximum: 1000, default: 1 }
      amount: { type: integer, readOnly: true, set: { create: "next.position * next.quantity" } }
      state: { type: string, readOnly: true }
    required: [id, invoice, product, position, quantity, amount, state]
    unique: [[invoice, position]]
    rules: { not_too_far: { if: "next.position > 90", field: position, message: at most 90 } }
  note:
    identifier: { field: id, generate: client }
    fields:
      id: string
      invoice: { ref: invoice, immutable: true, onDelete: cascade }
      text: { type: string, minLength: 1 }
    required: [id, invoice, text]
states:
  line: { field: state, initial: open, states: [open, paid], transitions: { pay: open -> paid } }
endpoints:
  POST /products: { does: create product }
  GET /products/{id}: { does: read product }
  POST /invoices: { does: create invoice }
  GET /invoices: { does: list invoice }
  GET /invoices/{id}: { does: read invoice, etag: strong }
  PATCH /invoices/{id}: { does: update invoice }
  DELETE /invoices/{id}: { does: delete invoice }
  GET /lines: { does: list line, parameters: { invoice: { in: query } } }
  POST /lines/{id}/pay: { does: pay line }
  POST /notes: { does: create note }
authentication: none
errors:
  payload: problem
  codes:
    invalid: { status: 422, when: request.invalid }
    no_such: { status: 404, when: [resource.missing, reference.missing] }
    taken: { status: 409, when: resource.exists }
    wrong_state: { status: 409, when: transition.illegal }
    line_taken: { status: 409, on: [create line], when: resource.exists }
`;
