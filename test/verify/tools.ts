/** A service that lends tools: what is put in place, what is handled, and tokens and passwords of several sorts. */
export const tools = `
title: Tools
purpose: { purpose: Lends tools., base_url: https://tools.example/v1, users: { member: Borrows tools., keeper: Keeps them. }, functions: none }
resources:
  size:
    identifier: none
    fields: { width: { type: integer, minimum: 1 }, height: { type: integer, minimum: 1 } }
    required: [width, height]
  shelf:
    identifier: { field: code, generate: client }
    fields: { code: { type: string, pattern: "^[A-Z]{12}$" }, room: { type: integer, minimum: 1 }, remark: { type: string, maxLength: 20 } }
    required: [code, room]
  tool:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      owner: { type: string, readOnly: true, set: { create: caller.id } }
      name: { type: string, minLength: 1, maxLength: 20 }
      remark: { type: string, maxLength: 20 }
      size: size
      status: { type: string, readOnly: true }
    required: [id, owner, name, status]
states:
  shelf: none
  tool: { field: status, initial: there, states: [there, away], transitions: { lend: there -> away } }
endpoints:
  GET /about: { does: reply, as: about, response: { 200: { shape: { type: object }, example: { name: tools, floors: [1, 2] } } } }
  GET /floors/{floor}:
    does: handler plan
    parameters:
      floor: { in: path, type: integer, minimum: -2, maximum: 30 }
      X-Scale: { in: header, type: integer, minimum: 1, maximum: 9 }
      unit: { in: query, enum: [foot, metre], default: metre }
    response: { 200: { type: object, properties: { floor: integer, unit: string }, required: [floor, unit] } }
  POST /shelves: { does: create shelf }
  PUT /shelves/{code}: { does: upsert shelf }
  GET /shelves/{code}: { does: read shelf }
  POST /tools: { does: create tool, idempotency: { header: Idempotency-Key, keep: 24h } }
  GET /tools/{id}: { does: read tool, etag: strong }
  PUT /tools/{id}: { does: replace tool, if_match: required }
  PATCH /tools/{id}: { does: update tool }
  DELETE /tools/{id}: { does: delete tool, if_match: accepted }
  POST /tools/{id}/lend: { does: lend tool, if_match: accepted, idempotency: { header: Idempotency-Key, keep: 24h } }
authentication:
  schemes:
    token:
      type: jwt
      header: Authorization
      prefix: Bearer
      placeholder: "{token}"
      issuer: https://id.tools.example
      audience: tools
      algorithms: [HS256]
      secret_env: TOOLS_TOKEN_SECRET
      caller: { id: claims.sub, user: claims.role, scopes: "has(claims.scope) ? claims.scope.split(' ') : []" }
    desk: { type: basic, placeholder: "{name:password}" }
  accept: [token, desk]
  public: [about]
  origins: none
  permissions:
    - { allow: [handler plan, create shelf, read shelf, create tool, read tool, replace tool, update tool, lend tool], to: [member, keeper] }
    - { allow: [upsert shelf], to: keeper }
    - { allow: [delete tool], to: keeper, scopes: [remove] }
events: none
errors:
  payload: problem
  codes:
    malformed: { status: 400, when: [request.malformed, request.parameter] }
    media: { status: 415, when: request.media }
    accept: { status: 406, when: request.accept }
    invalid: { status: 422, when: request.invalid }
    unknown: { status: 401, when: caller.unknown }
    forbidden: { status: 403, when: caller.forbidden }
    missing: { status: 404, when: [resource.missing, route.unknown] }
    no_method: { status: 405, when: method.unsupported }
    taken: { status: 409, when: resource.exists }
    wrong_state: { status: 409, when: transition.illegal }
    stale: { status: 412, when: precondition.failed }
    no_tag: { status: 428, when: precondition.required }
    reused: { status: 422, when: idempotency.reused }
    busy: { status: 409, when: [idempotency.busy, write.conflict] }
    late: { status: 503, when: [limit.time, service.unavailable] }
    broken: { status: 500, when: internal }
limits: { rate: none, size: none, timeout: none, quota: none, pagination: none }
versioning: none
`;
