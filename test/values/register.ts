/** Entries of a register that takes nothing which is not its callers' to write. */
export const register = `
resources:
  entry:
    identifier: { field: id, generate: "ent_{ulid}" }
    fields:
      id: string
      text: { type: string, minLength: 1 }
      number: { type: integer, readOnly: true, generate: integer }
      made_at: { type: string, format: date-time, readOnly: true, set: { create: now } }
      state: { type: string, readOnly: true }
    required: [id, text, number, made_at, state]
states:
  entry: { field: state, initial: new, states: [new, old], transitions: { age: new -> old } }
endpoints:
  defaults: { all: { read_only: refuse } }
  POST /entries: { does: create entry }
  GET /entries: { does: list entry }
  GET /entries/{id}: { does: read entry }
  PATCH /entries/{id}: { does: update entry }
  PUT /entries/{id}: { does: replace entry, read_only: ignore }
  POST /entries/{id}/age: { does: age entry }
authentication: none
errors: { payload: problem, codes: { invalid: { status: 422, when: request.invalid } } }
`;
