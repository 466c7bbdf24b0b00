/** Jobs that cannot be finished before they are paid, and are told so by a code of its own. */
export const jobs = `
resources:
  job:
    identifier: { field: id, generate: "job_{ulid}" }
    fields: { id: string, paid: boolean, state: { type: string, readOnly: true } }
    required: [id, paid, state]
states:
  job: { field: state, initial: new, states: [new, done], transitions: { finish: { from: new, to: done, if: resource.paid } } }
endpoints:
  POST /jobs: { does: create job }
  GET /jobs: { does: list job }
  GET /jobs/{id}: { does: read job }
  PATCH /jobs/{id}: { does: update job, in: [new] }
  POST /jobs/{id}/finish: { does: finish job }
authentication: none
events: none
errors:
  payload: problem
  codes:
    invalid: { status: 422, when: [request.invalid, request.malformed, request.parameter] }
    missing: { status: 404, when: [route.unknown, resource.missing] }
    wrong_state: { status: 409, when: transition.illegal.state }
    not_paid: { status: 402, when: transition.illegal.condition }
`;
