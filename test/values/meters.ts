/** Readings of meters, whose service tells of its rate and of its errors in header fields of its own. */
export const meters = `
resources:
  reading:
    identifier: { field: id, generate: "rd_{ulid}" }
    fields: { id: string, value: { type: integer, minimum: 0 } }
    required: [id, value]
endpoints:
  defaults: { all: { headers: { X-Operation: operation, X-Left-Here: rate.remaining } } }
  POST /readings: { does: create reading }
  GET /readings: { does: list reading, headers: { X-Operation: "'list'" } }
  GET /readings/{id}: { does: read reading }
authentication: none
events: none
errors:
  headers: { X-Error-Code: code, X-Error-Status: status }
  payload: problem
  codes:
    invalid: { status: 422, when: [request.invalid, request.malformed, request.parameter, request.media, request.accept], headers: { X-Error-Status: "'unprocessable'" } }
    missing: { status: 404, when: [route.unknown, resource.missing, method.unsupported] }
    slow_down: { status: 429, when: limit.rate, headers: { X-Wait-Until: rate.reset } }
limits:
  rate: [{ per: everyone, limit: 600, window: 1m, kind: fixed }]
  headers: { limit: X-RateLimit-Limit, remaining: X-RateLimit-Remaining, reset: { X-RateLimit-Reset: unix } }
`;
