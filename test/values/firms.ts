/** Notes of firms: whoever writes for a firm sees what others of it have written, and of other firms nothing. */
export const firms = `
purpose:
  purpose: Keeps the notes of firms.
  users: { clerk: Writes for a firm. }
resources:
  note:
    identifier: { field: id, generate: "not_{ulid}" }
    fields:
      id: string
      firm: { type: string, readOnly: true, set: { create: caller.firm } }
      text: { type: string, minLength: 1, maxLength: 60 }
    required: [id, firm, text]
states: { note: none }
endpoints:
  POST /notes: { does: create note }
  GET /notes: { does: list note }
  GET /notes/{id}: { does: read note }
  PATCH /notes/{id}: { does: update note }
authentication:
  attributes: { firm: The firm that it writes for. }
  schemes:
    token: { type: jwt, algorithms: [HS256], secret_env: SECRET, caller: { id: claims.sub, user: "'clerk'", attributes: { firm: claims.org } } }
    key: { type: api_key, header: X-Key, generate: "k_{random:24}" }
  permissions:
    - { allow: [create note], to: clerk }
    - { allow: [list note, read note, update note], to: clerk, if: "resource.firm == caller.firm" }
events: none
errors:
  payload: problem
  codes:
    invalid: { status: 422, when: request.invalid }
    unknown: { status: 401, when: caller.unknown }
    forbidden: { status: 403, when: caller.forbidden }
    missing: { status: 404, when: [resource.missing, route.unknown] }
limits:
  rate: [{ per: caller.firm, limit: 1000, window: 1m }]
  pagination: { style: cursor, cursor: cursor, size: limit, default: 20, max: 100, items: data, next: next, total: total }
`;
