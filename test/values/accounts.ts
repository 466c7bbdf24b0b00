/** Accounts of a service that was built otherwise: null is a value, every update counts, an end is announced and never comes. */
export const accounts = `
resources:
  account:
    identifier: { field: id, generate: client }
    fields:
      id: string
      name: { type: string, minLength: 1, maxLength: 40 }
      nickname: { type: string?, maxLength: 40, null: kept }
      limit: { type: integer?, minimum: 0, maximum: 900, null: kept }
      saves: { type: integer, readOnly: true, set: { write: "has(next.saves) ? next.saves + 1 : 1" } }
    required: [id, name, nickname, limit, saves]
states: none
endpoints:
  POST /accounts: { does: create account }
  GET /accounts: { does: list account }
  GET /accounts/{id}: { does: read account }
  PATCH /accounts/{id}: { does: update account, counts: always }
  GET /tip:
    does: reply
    response:
      200:
        shape: { type: object, properties: { tip: string }, required: [tip] }
        examples: { save: { tip: Save often. }, rest: { tip: Rest well. } }
authentication: none
events:
  delivery: { stream: { path: GET /events, format: sse, keep: 24h } }
  kinds: { account.saved: { on: [update account], payload: account } }
errors:
  payload: problem
  codes:
    invalid: { status: 422, when: [request.invalid, request.malformed] }
    missing: { status: 404, when: [resource.missing, route.unknown] }
    gone: { status: 410, when: version.unknown }
limits: none
versioning:
  versions:
    v1: { deprecated: 2019-06-01, sunset: { on: 2020-01-01, then: serves } }
    v2: { current: true }
  select: { header: X-Version, default: current }
  changes: { v2: [{ rename: account.alias, to: nickname }] }
`;
