/** Notes that know their own address, and numbered tickets. */
export const notes = `
resources:
  note:
    identifier: { field: id, generate: "note_{ulid}" }
    fields:
      id: string
      text: string
      url: { type: string, readOnly: true, set: { create: "'https://notes.example/notes/' + next.id" } }
    required: [id, text, url]
  ticket:
    identifier: { field: id, generate: integer }
    fields: { id: integer, name: { type: string, readOnly: true, set: { create: "'T-' + string(next.id)" } } }
    required: [id, name]
endpoints:
  POST /notes: { does: create note }
  GET /notes/{id}: { does: read note }
  PATCH /notes/{id}: { does: update note }
  POST /tickets: { does: create ticket }
authentication: none
`;

/** Trips with rules over their fields, and a choice of how an amount is told. */
export const trips = `
resources:
  trip:
    identifier: { field: id, generate: client }
    fields:
      id: string
      leaves: { type: string, format: date-time }
      arrives: { type: string, format: date-time }
      seats: { type: integer, minimum: 1 }
      amount: integer
      amount_decimal: { type: string, format: decimal }
    required: [id, leaves, arrives]
    rules:
      leaves_first: { if: next.arrives <= next.leaves, field: arrives, message: a time after it leaves }
      few: { if: "has(next.seats) && next.seats > 8 && has(next.amount_decimal)" }
    one_of: [[amount, amount_decimal]]
endpoints:
  POST /trips: { does: create trip }
  PUT /trips/{id}: { does: upsert trip }
  PATCH /trips/{id}: { does: update trip }
  GET /trips/{id}: { does: read trip }
authentication: none
errors: { payload: problem, codes: { invalid: { status: 422, when: request.invalid } } }
`;
