/** A service whose answers state that they are the row, whose events and times have conditions of their own, and which lets few subscribe in a day. */
export const quay = `
title: Quay
purpose:
  purpose: Lets guests moor their boats, and lets wardens look after the berths.
  users: { guest: Moors boats., warden: Looks after berths. }
  functions: { come: [all boat, all visit], look after: [all berth], hear: [all hook] }
resources:
  boat:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      owner: { type: string, readOnly: true, set: { create: caller.id } }
      plate: { type: string, pattern: "^[A-Z]{3}-[0-9]{5}$", immutable: true }
      name: { type: string, minLength: 1, maxLength: 40 }
      out: { type: boolean, default: false }
    required: [id, owner, plate, name, out]
    unique: [plate]
  berth:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      warden: { type: string, readOnly: true, set: { create: caller.id } }
      name: { type: string, minLength: 1, maxLength: 40 }
      open: { type: boolean, default: true }
    required: [id, warden, name, open]
  visit:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      guest: { type: string, readOnly: true, set: { create: caller.id } }
      boat: { ref: boat, onDelete: restrict, immutable: true }
      berth: { ref: berth, onDelete: restrict, immutable: true }
      crew: { type: integer, minimum: 1, maximum: 12 }
      comes_at: { type: string, format: date-time }
      flag: { type: string, maxLength: 20 }
      number: { type: integer, minimum: 1, maximum: 99 }
      kept: { type: boolean, default: false }
      status: { type: string, readOnly: true }
    required: [id, guest, boat, berth, crew, comes_at, kept, status]
    one_of: [[flag, number]]
    unique: [{ fields: [berth], while: "next.status == 'moored'" }]
  hook:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      owner: { type: string, readOnly: true, set: { create: caller.id } }
      url: { type: string, format: uri }
      secret: { type: string, readOnly: true, generate: "whsec_{base64:24}", reveal: once }
    required: [id, owner, url]
states:
  boat: none
  berth: none
  hook: none
  visit:
    field: status
    initial: booked
    states: [booked, moored, gone, lapsed]
    transitions:
      moor: { from: booked, to: moored, if: "resource.comes_at > now && resource.comes_at < now + duration('1h')" }
      leave: moored -> gone
      lapse: { from: booked, to: lapsed, after: 3d, if: "!resource.kept" }
endpoints:
  POST /boats: { does: create boat, response: { 201: { shape: boat, data: result } } }
  GET /boats/{id}: { does: read boat }
  PUT /boats/{id}: { does: replace boat }
  POST /berths: { does: create berth, response: { 201: { shape: berth, data: result } } }
  GET /berths/{id}: { does: read berth }
  PATCH /berths/{id}: { does: update berth }
  POST /visits: { does: create visit, response: { 201: { shape: visit, data: result } } }
  GET /visits: { does: list visit, parameters: { berth: { in: query } } }
  GET /visits/{id}: { does: read visit }
  POST /visits/{id}/moor: { does: moor visit }
  POST /visits/{id}/leave: { does: leave visit, request: { type: object, properties: { tide: { type: integer } }, required: [tide], additionalProperties: false } }
  POST /hooks: { does: create hook, response: { 201: { shape: hook, data: result } } }
  DELETE /hooks/{id}: { does: delete hook }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "k_{random:24}", placeholder: "{key}" } }
  public: []
  origins: none
  permissions:
    - { allow: [create boat], to: guest }
    - { allow: [read boat, replace boat], to: guest, if: "resource.owner == caller.id" }
    - { allow: [create berth], to: warden }
    - { allow: [read berth], to: [guest, warden] }
    - { allow: [update berth], to: warden, if: "resource.warden == caller.id" }
    - { allow: [create visit], to: guest }
    - { allow: [list visit, read visit, moor visit, leave visit], to: guest, if: "resource.guest == caller.id" }
    - { allow: [list visit, read visit], to: warden, if: "resource.berth.warden == caller.id" }
    - { allow: [create hook], to: [guest, warden] }
    - { allow: [delete hook], to: [guest, warden], if: "resource.owner == caller.id" }
events:
  delivery:
    webhook:
      signature: standard-webhooks
      retry: [30s]
      subscribers: { resource: hook, url: url, secret: secret }
    stream: none
  kinds:
    boat.made: { on: [create boat], payload: boat }
    visit.big: { on: [create visit], if: "next.crew >= 10", payload: visit }
    visit.lapsed: { on: [lapse visit], payload: visit }
    berth.shut: { on: [update berth], if: "resource.open && !next.open", payload: berth }
errors:
  payload: { shape: { type: object, properties: { error: string }, required: [error] }, data: { error: code } }
  codes:
    misfit: { status: 422, when: [request.malformed, request.invalid, request.parameter, limit.page] }
    media: { status: 415, when: [request.media, request.accept] }
    nowhere: { status: 404, when: [route.unknown, resource.missing] }
    method: { status: 405, when: method.unsupported }
    unknown: { status: 401, when: caller.unknown }
    forbidden: { status: 403, when: caller.forbidden }
    taken: { status: 409, when: resource.exists }
    dangling: { status: 422, when: reference.missing }
    still_used: { status: 409, when: reference.held }
    not_now: { status: 409, when: [transition.illegal, write.conflict] }
    enough: { status: 403, when: limit.quota }
    too_large: { status: 413, when: limit.size }
    late: { status: 408, when: limit.time }
    down: { status: 503, when: service.unavailable }
    broken: { status: 500, when: internal }
    boat_out: { status: 409, on: [moor visit], if: "resource.boat.out" }
limits:
  rate: none
  size: { body: 12KiB, url: 2KiB, headers: 8KiB }
  timeout: none
  pagination: { style: cursor, default: 5, max: 20, over_max: refuse, size: limit, cursor: from, told: link, items: none }
  quota: [{ per: caller, on: [create hook], limit: 12, window: day, zone: UTC }]
versioning: none
`;
