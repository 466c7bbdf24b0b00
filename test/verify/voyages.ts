/** A service with rows below others, tags, times, and rows that follow from a transition: small, and looked at in parts. */
export const voyages = `
title: Voyages
purpose:
  purpose: Lets captains plan voyages and log them.
  base_url: https://voyages.example/v1
  users: { captain: Plans voyages., owner: Looks after ships. }
  functions: { sail: [create voyage, list voyage, read voyage, update voyage, renew voyage, sail voyage, land voyage], log: [create entry, list entry, read entry], report: [list report, read report] }
resources:
  voyage:
    identifier: { field: id, generate: "voy_{ulid}" }
    fields:
      id: string
      captain: { type: string, readOnly: true, set: { create: caller.id } }
      name: { type: string, minLength: 1, maxLength: 40 }
      leaves: { type: string, format: date-time }
      entries: { type: integer, derive: "count(entry.voyage)" }
      stage: { type: string, readOnly: true }
    required: [id, captain, name, leaves, entries, stage]
  entry:
    identifier: { field: id, generate: "ent_{ulid}" }
    fields:
      id: string
      voyage: { ref: voyage, immutable: true }
      miles: { type: integer, minimum: 0, maximum: 500 }
    required: [id, voyage, miles]
  report:
    identifier: { field: id, generate: "rep_{ulid}" }
    fields:
      id: string
      voyage: { ref: voyage, readOnly: true }
      entries: { type: integer, minimum: 1, readOnly: true }
    required: [id, voyage, entries]
states:
  voyage:
    field: stage
    initial: planned
    states: [planned, under_way, landed, given_up, lapsed]
    transitions:
      renew: planned -> planned
      sail: planned -> under_way
      land:
        from: under_way
        to: [{ if: "resource.entries > 0", state: landed }, { state: given_up }]
        then: { create: report, if: "next.stage == 'landed'", set: { voyage: next.id, entries: next.entries } }
      lapse: { from: planned, to: lapsed, after: 10d }
  entry: none
  report: none
endpoints:
  POST /voyages: { does: create voyage }
  GET /voyages:
    does: list voyage
    parameters: { leaves_before: { in: query, filters: leaves, op: "<" }, sort: { in: query, enum: [leaves, -leaves], sorts: true } }
  GET /voyages/{id}: { does: read voyage, etag: strong }
  PATCH /voyages/{id}: { does: update voyage, if_match: accepted }
  POST /voyages/{id}/renew: { does: renew voyage }
  POST /voyages/{id}/sail: { does: sail voyage }
  POST /voyages/{id}/land: { does: land voyage }
  POST /voyages/{voyage}/entries: { does: create entry }
  GET /voyages/{voyage}/entries: { does: list entry, order: miles }
  GET /entries/{id}: { does: read entry }
  GET /reports: { does: list report }
  GET /reports/{id}: { does: read report }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "k_{random:24}", placeholder: "{key}" } }
  permissions:
    - { allow: [create voyage], to: captain }
    - { allow: [list voyage, read voyage, update voyage, renew voyage, sail voyage, land voyage], to: captain, if: "resource.captain == caller.id" }
    - { allow: [create entry], to: captain, if: "next.voyage.captain == caller.id" }
    - { allow: [list entry, read entry], to: captain, if: "resource.voyage.captain == caller.id" }
    - { allow: [list voyage, read voyage, list entry, read entry, list report, read report], to: owner }
events: none
errors:
  payload: problem
  codes:
    invalid: { status: 422, when: request.invalid }
    missing: { status: 404, when: [resource.missing, route.unknown] }
    dangling: { status: 422, when: reference.missing }
    unknown: { status: 401, when: caller.unknown }
    forbidden: { status: 403, when: caller.forbidden }
    wrong_stage: { status: 409, when: transition.illegal }
    stale: { status: 412, when: precondition.failed }
    ashore: { status: 409, on: [create entry], if: "next.voyage.stage != 'under_way'" }
limits: { pagination: { style: offset, offset: skip, size: take, default: 20, max: 100, over_max: clamp, items: rows, total: count } }
versioning: none
`;
