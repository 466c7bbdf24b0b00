/** Pads of a service that looks at no `Accept`, reads a body whatever its type, and tells a body that is missing from one that is broken. */
export const pads = `
resources:
  pad:
    identifier: { field: id, generate: "pad_{ulid}" }
    fields: { id: string, text: { type: string, minLength: 1 } }
    required: [id, text]
    unique: none
endpoints:
  POST /pads: { does: create pad }
  GET /pads: { does: list pad, produces: always }
  GET /pads/{id}: { does: read pad }
  PATCH /pads/{id}: { does: update pad }
authentication: none
events: none
errors:
  payload: problem
  codes:
    invalid: { status: 422, when: [request.invalid, request.malformed, request.parameter] }
    missing: { status: 404, when: [route.unknown, resource.missing] }
    no_body: { status: 400, when: request.missing }
  conditions:
    request.accept: none
    request.media: none
    method.unsupported: none
    limit.time: none
    write.conflict: any
    service.unavailable: none
    internal: none
limits: { timeout: { request: none, idle: none }, size: { body: 4KiB, file: none }, rate: none, quota: none }
`;
