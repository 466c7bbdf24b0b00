/** A service with an older version of other words, and two ways to show who is calling. */
export const looms = `
title: Looms
purpose:
  purpose: Lets weavers book looms.
  base_url: https://looms.example/v1
  users: { weaver: Books looms. }
  functions: { weave: [create cloth, list cloth, read cloth, update cloth, replace cloth] }
resources:
  cloth:
    identifier: { field: id, generate: "clo_{ulid}" }
    fields:
      id: string
      title: { type: string, minLength: 1, maxLength: 40 }
      dye: { enum: [indigo, madder], default: indigo }
      threads: { type: integer, minimum: 1, maximum: 900, default: 40 }
      remark: { type: string, maxLength: 40 }
    required: [id, title, dye, threads]
states: { cloth: none }
endpoints:
  POST /cloths: { does: create cloth }
  GET /cloths: { does: list cloth, parameters: { dye: { in: query } } }
  GET /cloths/{id}: { does: read cloth }
  PATCH /cloths/{id}: { does: update cloth }
  PUT /cloths/{id}: { does: replace cloth }
authentication:
  schemes:
    key: { type: api_key, header: X-Key, generate: "k_{random:24}", placeholder: "{key}" }
    badge: { type: api_key, header: X-Badge, generate: "b_{random:24}", placeholder: "{badge}" }
  accept: [key, badge]
  permissions: none
events: none
errors:
  payload: problem
  codes:
    invalid: { status: 422, when: request.invalid }
    missing: { status: 404, when: [resource.missing, route.unknown] }
    unknown: { status: 401, when: caller.unknown }
limits: { pagination: { style: offset, offset: skip, size: take, default: 20, max: 100, over_max: clamp, items: rows, total: count } }
versioning:
  versions: { "1": {}, "2": { current: true } }
  select: { header: Looms-Version, default: current }
  guarantee: additive
  changes:
    "1": none
    "2":
      - { rename: cloth.name, to: title }
      - { enum: cloth.dye, values: { blue: indigo } }
      - { add: cloth.threads, default: 40 }
`;
