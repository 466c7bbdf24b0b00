/** A service whose rows are listed in every style of pages, with each sort of filter. */
export const boxes = `
title: Boxes
purpose: { purpose: Keeps boxes., base_url: https://boxes.example/v1, users: { keeper: Keeps. }, functions: none }
resources:
  box:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      name: { type: string, minLength: 1, maxLength: 40 }
      label: { type: string, minLength: 1, maxLength: 40 }
      kind: { enum: [crate, sack, tin] }
      weight: { type: integer, minimum: 1, maximum: 1000 }
      made_at: { type: string, format: date-time, readOnly: true, set: { create: now } }
    required: [id, name, label, kind, weight, made_at]
states: { box: none }
endpoints:
  POST /boxes: { does: create box }
  GET /boxes/{id}: { does: read box }
  DELETE /boxes/{id}: { does: delete box }
  GET /boxes:
    does: list box
    parameters:
      kind: { in: query, type: array, items: { type: string }, op: in, style: form, explode: false }
      min_weight: { in: query, type: integer, filters: weight, op: ">=" }
      name: { in: query, type: string, op: prefix }
      label: { in: query, type: string, op: contains }
      sort: { in: query, enum: [weight, -weight], sorts: true }
    order: -made_at
  GET /paged:
    does: list box
    as: paged boxes
    parameters: { name: { in: query, type: string, op: prefix } }
    pagination: { style: page, page: page, size: size, default: 5, max: 20, over_max: refuse, items: items, total: total, has_more: more }
  GET /linked:
    does: list box
    as: linked boxes
    parameters: { name: { in: query, type: string, op: prefix } }
    pagination: { style: offset, offset: skip, size: take, default: 5, max: 20, over_max: refuse, told: link, items: none }
  GET /whole: { does: list box, as: all boxes, pagination: { style: none, items: boxes } }
  GET /places/{row}:
    does: handler place
    parameters: { row: { in: path, type: integer, minimum: 1, maximum: 9 }, scale: { in: query, enum: [small, large], default: small } }
    response:
      200: { type: object, properties: { row: integer, scale: string, asked: integer }, required: [row, scale, asked] }
authentication: none
events: none
errors:
  payload: problem
  codes:
    malformed: { status: 400, when: [request.malformed, request.parameter] }
    bad_page: { status: 400, when: limit.page }
    media: { status: 415, when: request.media }
    accept: { status: 406, when: request.accept }
    invalid: { status: 422, when: request.invalid }
    missing: { status: 404, when: [resource.missing, route.unknown] }
    no_method: { status: 405, when: method.unsupported }
    busy: { status: 409, when: write.conflict }
    late: { status: 503, when: [limit.time, service.unavailable] }
    broken: { status: 500, when: internal }
limits:
  rate: none
  size: none
  timeout: none
  quota: none
  pagination: { style: cursor, cursor: cursor, size: limit, default: 5, max: 20, over_max: refuse, items: data, next: next }
`;
