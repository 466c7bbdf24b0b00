/** A document with much in it that can be asked at once: what `npm run bench verify` measures with. */

const resource = (name: string): string => `  ${name}:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      title: { type: string, minLength: 1, maxLength: 200 }
      code: { type: string, minLength: 4, maxLength: 40 }
      genre: { enum: [novel, poetry, history, science, travel] }
      pages: { type: integer, minimum: 1, maximum: 10000, default: 100 }
      price: { type: number, minimum: 0, maximum: 1000000 }
      from: { type: string, format: date-time }
      note: { type: string, maxLength: 500 }
      made_at: { type: string, format: date-time, readOnly: true, set: { create: now } }
      status: { type: string, readOnly: true }
    required: [id, title, code, genre, pages, price, made_at, status]
    unique: [[code]]
`;

const machine = (name: string): string => `  ${name}:
    field: status
    initial: open
    states: [open, held, closed]
    transitions: { hold: open -> held, release: held -> open, close: { from: [open, held], to: closed } }
`;

const routes = (name: string): string => `  POST /${name}: { does: create ${name} }
  GET /${name}: { does: list ${name}, parameters: { genre: { in: query } }, order: -made_at }
  GET /${name}/{id}: { does: read ${name}, etag: strong }
  PATCH /${name}/{id}: { does: update ${name}, in: [open] }
  PUT /${name}/{id}: { does: replace ${name}, in: [open] }
  DELETE /${name}/{id}: { does: delete ${name} }
  POST /${name}/{id}/hold: { does: hold ${name} }
  POST /${name}/{id}/release: { does: release ${name} }
  POST /${name}/{id}/close: { does: close ${name} }
`;

/** The document, with so many resources that are alike. */
export function documentOf(count: number): string {
  const names = Array.from({ length: count }, (_, at) => `book${at + 1}`);
  return `title: Shelves
purpose: { purpose: Keeps books., base_url: http://127.0.0.1, users: { reader: Looks at books. }, functions: none }
resources:
${names.map(resource).join('')}states:
${names.map(machine).join('')}endpoints:
${names.map(routes).join('')}authentication: none
events: none
errors:
  payload: problem
  codes:
    malformed: { status: 400, when: [request.malformed, request.parameter, limit.page] }
    media: { status: 415, when: request.media }
    accept: { status: 406, when: request.accept }
    invalid: { status: 422, when: request.invalid }
    missing: { status: 404, when: [resource.missing, route.unknown] }
    no_method: { status: 405, when: method.unsupported }
    taken: { status: 409, when: [resource.exists, write.conflict] }
    wrong_state: { status: 409, when: transition.illegal }
    late: { status: 503, when: [limit.time, service.unavailable] }
    broken: { status: 500, when: internal }
limits:
  rate: none
  size: none
  timeout: none
  quota: none
  pagination: { style: cursor, cursor: cursor, size: limit, default: 20, max: 100, over_max: refuse, items: data, next: next }
versioning: none
`;
}
