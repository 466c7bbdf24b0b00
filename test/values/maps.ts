/** Maps of a service that lets everybody look a little, and companies as much as they have paid for. */
export const maps = `
purpose:
  purpose: Keeps maps.
  users: { guest: Looks around., company: Draws maps. }
resources:
  sheet:
    identifier: { field: id, generate: "sht_{ulid}" }
    fields: { id: string, name: { type: string, minLength: 1, maxLength: 40 } }
    required: [id, name]
    unique: none
endpoints:
  POST /sheets: { does: create sheet }
  GET /sheets/{id}: { does: read sheet, etag: strong }
  PATCH /sheets/{id}: { does: update sheet }
  GET /sheets: { does: list sheet }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "k_{random:24}" } }
  permissions:
    - { allow: [read sheet], to: anyone }
    - { allow: all sheet, to: [guest, company] }
events: none
errors:
  payload: problem
  codes:
    hurried: { status: 429, when: limit.rate }
    used_up: { status: 402, when: limit.quota }
    missing: { status: 404, when: [resource.missing, route.unknown] }
limits:
  rate:
    - { per: address, to: anyone, limit: 4, window: 1h }
    - { per: "caller.user + ' ' + operation", on: [list sheet], limit: 6, window: 1h }
    - { per: caller, if: "has(caller.user) && caller.user == 'guest'", on: [update sheet], limit: 3, window: 1h }
    - { per: caller, to: company, on: [read sheet], limit: 5, window: 1h, uncounted: [304, 4XX] }
  quota: [{ per: caller.user, if: "has(caller.user) && caller.user == 'company'", on: [create sheet], limit: 7, window: month }]
`;
