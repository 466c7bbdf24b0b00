/** A service whose own errors read rows through references, with rates, quotas, files and idle time-outs: what is stated otherwise in one line of it is a fault. */
export const workshop = `
title: Workshop
purpose:
  purpose: Lets members book benches, and lets wardens look after them.
  users: { member: Books benches., warden: Looks after benches. }
  functions: { book: [all booking, hours, map, news], look after: [all bench, all drawing] }
resources:
  bench:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      name: { type: string, maxLength: 60 }
      seats: { type: integer, minimum: 1, maximum: 40 }
      status: { type: string, readOnly: true }
    required: [id, name, seats, status]
  booking:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      bench: { ref: bench, onDelete: restrict, immutable: true }
      member: { type: string, readOnly: true, set: { create: caller.id } }
      hour: { type: integer, minimum: 0, maximum: 23 }
      people: { type: integer, minimum: 1, maximum: 40 }
      title: { type: string, maxLength: 60 }
      status: { type: string, readOnly: true }
    required: [id, bench, member, hour, people, title, status]
    unique: [{ fields: [bench, hour], while: "next.status == 'booked'" }]
  drawing:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      sheet: { type: string, format: binary }
    required: [id, sheet]
states:
  bench: { field: status, initial: open, states: [open, closed], transitions: { close: open -> closed } }
  booking:
    field: status
    initial: booked
    states: [booked, given_up]
    transitions: { give_up: booked -> given_up, take_up: given_up -> booked }
  drawing: none
endpoints:
  GET /hours: { does: reply, as: hours, response: { 200: { shape: { type: object }, example: { from: 8 } } } }
  GET /map: { does: reply, as: map, response: { 200: { shape: { type: object }, example: { floors: 2 } } } }
  GET /news: { does: reply, as: news, response: { 200: { shape: { type: object }, example: { news: none } } } }
  POST /benches: { does: create bench }
  GET /benches/{id}: { does: read bench }
  POST /benches/{id}/close: { does: close bench }
  POST /bookings: { does: create booking }
  GET /bookings: { does: list booking, parameters: { bench: { in: query } } }
  GET /bookings/{id}: { does: read booking }
  PATCH /bookings/{id}: { does: update booking }
  POST /bookings/{id}/give-up: { does: give_up booking }
  POST /bookings/{id}/take-up: { does: take_up booking }
  POST /drawings: { does: create drawing, consumes: multipart/form-data, response: { 201: { shape: { type: object, properties: { id: string } }, data: { id: result.id } } } }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "k_{random:24}", placeholder: "{key}" } }
  public: []
  origins: none
  permissions:
    - { allow: [create booking], to: member }
    - { allow: [read booking, list booking, update booking, give_up booking, take_up booking], to: member, if: resource.member == caller.id }
    - { allow: [create bench, close bench, create drawing], to: warden }
    - { allow: [read bench, hours, map, news], to: [member, warden] }
events: none
errors:
  payload: problem
  codes:
    malformed: { status: 400, when: [request.malformed, request.parameter] }
    media: { status: 415, when: request.media }
    unacceptable: { status: 406, when: request.accept }
    invalid: { status: 422, when: request.invalid }
    unknown: { status: 401, when: caller.unknown }
    forbidden: { status: 403, when: caller.forbidden }
    missing: { status: 404, when: [resource.missing, route.unknown] }
    nothing: { status: 422, when: reference.missing }
    method: { status: 405, when: method.unsupported }
    wrong_state: { status: 409, when: transition.illegal }
    taken: { status: 409, when: resource.exists }
    slow_down: { status: 429, when: limit.rate }
    used_up: { status: 402, when: limit.quota }
    too_large: { status: 413, when: limit.size }
    bad_page: { status: 400, when: limit.page }
    timed_out: { status: 408, when: limit.time }
    conflict: { status: 409, when: write.conflict }
    unavailable: { status: 503, when: service.unavailable }
    broken: { status: 500, when: internal }
    bench_closed: { status: 422, on: [create booking], if: "next.bench.status == 'closed'" }
    too_many: { status: 422, on: [create booking, update booking], if: "next.people > next.bench.seats" }
limits:
  rate:
    - { per: caller, to: member, limit: 6, window: 2s, on: [hours] }
    - { per: user, limit: 8, window: 5s, kind: fixed, on: [map] }
    - { per: everyone, limit: 5, window: 10s, burst: 9, kind: bucket, on: [news] }
  size: { body: 8KiB, file: 1KiB }
  timeout: { request: 2s, idle: 1s }
  pagination: { style: page, page: page, size: size, default: 5, max: 50, over_max: refuse, items: items, total: total }
  quota: [{ per: user, on: [close bench], limit: 5, window: day, zone: Asia/Tokyo }]
versioning: none
`;
