/** Notes that are told of by webhook, to addresses that were asked and have answered. */
export const confirmed = `
purpose: { users: { program: Listens. } }
resources:
  note:
    identifier: { field: id, generate: "not_{ulid}" }
    fields: { id: string, text: { type: string, minLength: 1, maxLength: 40 } }
    required: [id, text]
  hook:
    identifier: { field: id, generate: "hok_{ulid}" }
    fields:
      id: string
      url: { type: string, format: uri, maxLength: 200 }
      secret: { type: string, readOnly: true, generate: "whsec_{base64:32}", reveal: once }
      events: { type: array, items: { type: string }, default: ["*"] }
      enabled: { type: boolean, default: true }
      confirmed: { type: boolean, readOnly: true, default: false }
    required: [id, url, secret, events, enabled, confirmed]
endpoints:
  POST /notes: { does: create note }
  GET /notes/{id}: { does: read note }
  PATCH /notes/{id}: { does: update note }
  DELETE /notes/{id}: { does: delete note }
  POST /hooks: { does: create hook }
  GET /hooks/{id}: { does: read hook }
  PATCH /hooks/{id}: { does: update hook }
  DELETE /hooks/{id}: { does: delete hook }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "k_{random:32}", placeholder: "{key}" } }
  permissions: [{ allow: [all note, all hook], to: program }]
events:
  delivery:
    webhook:
      retry: [2s, 4s]
      timeout: 5s
      disable_after: none
      subscribers: { resource: hook, url: url, secret: secret, events: events, enabled: enabled, confirmed: confirmed }
      confirm: challenge
  kinds:
    note.made: { on: [create note], payload: note }
    note.changed: { on: [update note], payload: note }
    note.deleted: { on: [delete note], payload: { ref: note } }
errors:
  payload: problem
  codes:
    invalid: { status: 422, when: [request.invalid, request.malformed, request.parameter] }
    missing: { status: 404, when: [resource.missing, route.unknown] }
    unknown: { status: 401, when: caller.unknown }
    forbidden: { status: 403, when: caller.forbidden }
    too_many: { status: 429, when: limit.quota }
    not_allowed: { status: 405, when: method.unsupported }
    not_json: { status: 415, when: request.media }
    not_acceptable: { status: 406, when: request.accept }
limits: none
versioning: none
`;
