/** Parcels and the notes on them, of whose events there is a log that is read and listed; couriers see no price. */
export const logged = `
purpose: { users: { merchant: Sells goods., courier: Carries parcels. } }
resources:
  parcel:
    identifier: { field: id, generate: "pcl_{ulid}" }
    fields:
      id: string
      merchant: { type: string, readOnly: true, set: { create: caller.id } }
      to: { type: string, minLength: 1, maxLength: 40 }
      price: { type: integer, minimum: 0, maximum: 1000, visible: [merchant] }
      status: { type: string, readOnly: true }
    required: [id, merchant, to, status]
    created: { then: { create: note, if: "next.to == 'nowhere'", set: { parcel: next.id, merchant: next.merchant, text: "'Where to?'" } } }
  note:
    identifier: { field: id, generate: "not_{ulid}" }
    fields:
      id: string
      parcel: { ref: parcel, onDelete: cascade }
      merchant: { type: string, readOnly: true, set: { create: caller.id } }
      text: { type: string, minLength: 1, maxLength: 40 }
    required: [id, parcel, merchant, text]
  event:
    identifier: { field: id, generate: "ev_{random:20}" }
    fields:
      id: string
      type: { type: string, readOnly: true }
      about: { type: string, readOnly: true }
      row: { type: string, readOnly: true }
      merchant: { type: string, readOnly: true }
      by: { type: string, readOnly: true }
      data: { type: object, readOnly: true, additionalProperties: true }
      created: { type: string, format: date-time, readOnly: true }
      stored: { type: string, format: date-time, readOnly: true, set: { create: now } }
    required: [id, type, about, row, merchant, data, created, stored]
states:
  parcel:
    field: status
    initial: open
    states: [open, sent, lost]
    transitions:
      send: { from: open, to: sent, then: { create: note, set: { parcel: next.id, merchant: next.merchant, text: "'It is on its way.'" } } }
      lose: { from: sent, to: lost, after: 10d }
endpoints:
  POST /parcels: { does: create parcel }
  GET /parcels/{id}: { does: read parcel }
  PATCH /parcels/{id}: { does: update parcel }
  DELETE /parcels/{id}: { does: delete parcel }
  POST /parcels/{id}/send: { does: send parcel }
  POST /notes: { does: create note }
  GET /notes/{id}: { does: read note }
  DELETE /notes/{id}: { does: delete note }
  GET /events:
    does: list event
    parameters: { type: { in: query }, row: { in: query } }
    order: -created
    pagination: { style: after, after: after, size: limit, default: 20, max: 100, items: none }
  GET /events/{id}: { does: read event }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "k_{random:32}", placeholder: "{key}" } }
  permissions:
    - { allow: [create parcel, create note], to: merchant }
    - { allow: [read parcel, update parcel, delete parcel, send parcel, read note, delete note], to: merchant, if: "resource.merchant == caller.id" }
    - { allow: [read parcel, read note, send parcel], to: courier }
    - { allow: [list event, read event], to: merchant, if: "resource.merchant == caller.id" }
    - { allow: [list event, read event], to: courier }
events:
  delivery: none
  kinds:
    parcel.created: { on: [create parcel], payload: parcel }
    parcel.updated: { on: [update parcel], payload: parcel }
    parcel.deleted: { on: [delete parcel], payload: { ref: parcel } }
    parcel.sent: { on: [send parcel], payload: { type: object, properties: { parcel: string, to: string } }, data: { parcel: next.id, to: next.to } }
    parcel.lost: { on: [lose parcel], payload: parcel }
    note.created: { on: [create note], payload: note }
    note.deleted: { on: [delete note], payload: { ref: note } }
  log:
    resource: event
    keep: 30d
    set:
      type: event.kind
      about: event.resource
      row: event.row
      merchant: row.merchant
      by: "has(caller.id) ? caller.id : null"
      data: { object: event.payload }
      created: event.at
errors:
  payload: problem
  codes:
    invalid: { status: 422, when: [request.invalid, request.malformed, request.parameter, limit.page] }
    missing: { status: 404, when: [resource.missing, reference.missing, route.unknown] }
    unknown: { status: 401, when: caller.unknown }
    forbidden: { status: 403, when: caller.forbidden }
    wrong_state: { status: 409, when: transition.illegal }
    not_allowed: { status: 405, when: method.unsupported }
    not_json: { status: 415, when: request.media }
    not_acceptable: { status: 406, when: request.accept }
limits: none
versioning: none
`;

/** Notes whose text may be null, and a log that holds `data` of each event. */
export const nullsLogged = (data: string) => `
title: Notes
purpose: { purpose: Keeps notes., users: { writer: Writes. }, functions: { write: [all note, all entry] } }
resources:
  note: { identifier: { field: id, generate: client }, fields: { id: string, text: { type: string?, null: kept } }, required: [id, text] }
  entry:
    identifier: { field: id, generate: "e_{ulid}" }
    fields: { id: string, data: { type: object, properties: {}, additionalProperties: true } }
    required: [id, data]
states: none
endpoints: { POST /notes: { does: create note }, GET /entries: { does: list entry } }
authentication: none
events: { delivery: none, log: { resource: entry, keep: 30d, set: { data: ${data} } }, kinds: { n: { on: [create note], payload: note } } }
errors:
  payload: problem
  codes:
    invalid: { status: 422, when: [request.invalid, request.malformed, request.parameter] }
    gone: { status: 404, when: [resource.missing, route.unknown] }
limits: { rate: none, size: none, timeout: none, quota: none, pagination: none }
versioning: none
`;
