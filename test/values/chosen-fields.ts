/** Orders of a shop, of which callers choose what they are shown: values within them, their lines, and who ordered. */
export const chosenFields = `
purpose: { users: { buyer: Orders., clerk: Looks after orders. } }
resources:
  person:
    identifier: { field: name, generate: client }
    fields: { name: { type: string, pattern: "^[a-z0-9-]{1,20}$" }, mail: { type: string, maxLength: 40 }, note: { type: string, maxLength: 40, visible: [clerk] } }
    required: [name, mail]
  address: { identifier: none, fields: { street: { type: string, maxLength: 40 }, city: { type: string, maxLength: 40 } }, required: [street, city] }
  order:
    identifier: { field: id, generate: "ord_{ulid}" }
    fields:
      id: string
      by: { ref: person, readOnly: true, set: { create: caller.id } }
      friend: { ref: person, show: { type: object, properties: { name: string, mail: string } } }
      title: { type: string, pattern: "^[a-z]{1,20}$" }
      to: address
      tags: { type: array, items: { type: object, properties: { word: { type: string, maxLength: 9 }, weight: integer }, required: [word] } }
      more: { type: object, additionalProperties: integer }
      cost: { type: integer, visible: [clerk] }
      door: { type: string, maxLength: 9, stored: false }
      token: { type: string, readOnly: true, generate: "{random:16}", reveal: once }
      lines: { children: line.order, order: position, envelope: { items: data, has_more: has_more, data: { object: list } } }
    required: [id, by, title, token]
  line:
    identifier: { field: id, generate: "lin_{ulid}" }
    fields: { id: string, order: { ref: order, onDelete: cascade }, position: { type: integer, minimum: 1, maximum: 99 }, text: { type: string, maxLength: 20 } }
    required: [id, order, position, text]
states: { person: none, order: none, line: none }
endpoints:
  defaults: { all: { select: { parameter: fields } } }
  POST /people: { does: create person }
  GET /people/{name}: { does: read person, etag: strong }
  POST /orders: { does: create order }
  GET /orders: { does: list order, etag: strong, expand: { parameter: expand, depth: 1 }, parameters: { title: { in: query } } }
  GET /orders/{id}: { does: read order, etag: strong, expand: { parameter: expand, depth: 1 } }
  PATCH /orders/{id}: { does: update order, etag: strong, if_match: accepted, response: { 200: { shape: order, headers: { X-Title: result.title } } } }
  GET /orders/{id}/short: { does: read order, as: glance at order, select: none }
  DELETE /orders/{id}: { does: delete order }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "k_{random:24}", placeholder: "{key}" } }
  accept: [key]
  permissions:
    - { allow: [all person, all order], to: clerk }
    - { allow: [create person, read person, create order], to: buyer }
    - { allow: [read order, list order, update order, glance at order], to: buyer, if: "resource.by == caller.id", fields: [by, friend, title, to, tags, token, lines] }
    - { allow: [read order, list order], to: buyer, if: "has(resource.friend) && resource.friend == caller.id", fields: [title] }
errors:
  payload: problem
  codes:
    bad: { status: 400, when: [request.parameter, limit.page, request.malformed] }
    invalid: { status: 422, when: [request.invalid, reference.missing] }
    unknown: { status: 401, when: caller.unknown }
    forbidden: { status: 403, when: caller.forbidden }
    missing: { status: 404, when: [resource.missing, route.unknown] }
    exists: { status: 409, when: resource.exists }
    stale: { status: 412, when: precondition.failed }
limits: { rate: none, quota: none, pagination: { style: cursor, cursor: cursor, size: limit, default: 10, max: 20, items: data, next: next } }
`;

/** What its orders and people were before. */
export const chosenBefore = `
versioning:
  versions: { "1": {}, "2": { current: true } }
  select: { header: Version, default: current }
  changes: { "2": [{ rename: order.name, to: title }, { add: person.mail, default: "" }] }
`;
