/** Loans of a desk that looks for the row before it asks what its caller may, reads parameters before credentials, and asks the state before the body. */
export const desks = `
purpose: { users: { clerk: Lends., guest: Looks. } }
resources:
  loan:
    identifier: { field: id, generate: "loan_{ulid}" }
    fields: { id: string, title: { type: string, minLength: 1 }, state: { type: string, readOnly: true } }
    required: [id, title, state]
states:
  loan: { field: state, initial: open, states: [open, closed], transitions: { close: open -> closed } }
endpoints:
  POST /loans: { does: create loan }
  GET /loans: { does: list loan, parameters: { title: { in: query } } }
  GET /loans/{id}: { does: read loan, etag: strong }
  PATCH /loans/{id}: { does: update loan, in: [open], if_match: accepted }
  POST /loans/{id}/close: { does: close loan, request: { type: object, properties: { why: { type: string, minLength: 1 } }, required: [why] } }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "k_{random:20}" } }
  accept: [key]
  permissions:
    - { allow: [all loan], to: clerk }
    - { allow: [read loan, list loan], to: guest }
errors:
  order: [parameters, body, caller, row, user, state, precondition, request]
  payload: problem
  codes:
    invalid: { status: 422, when: [request.invalid] }
    unreadable: { status: 400, when: [request.malformed, request.media] }
    wrong_parameter: { status: 400, when: request.parameter }
    unknown: { status: 401, when: caller.unknown }
    forbidden: { status: 403, when: caller.forbidden }
    missing: { status: 404, when: [resource.missing, route.unknown] }
    not_now: { status: 409, when: transition.illegal }
    changed: { status: 412, when: precondition.failed }
`;
