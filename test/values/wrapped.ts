/** Letters whose answers, refusals and events are maps in maps. */
export const wrapped = `
resources:
  letter:
    identifier: { field: id, generate: "let_{ulid}" }
    fields:
      id: string
      title: { type: string, minLength: 1, maxLength: 40 }
      pages: { type: integer, minimum: 1, maximum: 9 }
      note: { type: string, maxLength: 20 }
    required: [id, title, pages]
endpoints:
  POST /letters:
    does: create letter
    response:
      201:
        shape: { type: object, properties: { data: { type: object, properties: { object: letter, tags: { type: array, items: string } }, required: [object, tags] } }, required: [data] }
        data: { data: { object: result, tags: ["'new'", "result.pages > 1 ? 'long' : 'short'"] } }
  GET /letters/{id}:
    does: read letter
    response:
      200:
        shape: { type: object, properties: { data: { type: object, properties: { object: letter }, required: [object] }, about: { type: object, properties: { words: { type: object, properties: { title: string, twice: integer, note: string }, required: [title, twice] } }, required: [words] } }, required: [data, about] }
        data: { data: { object: result }, about: { words: { title: result.title, twice: "result.pages * 2 // and that is it", note: "has(result.note) ? result.note : null" } } }
  PATCH /letters/{id}:
    does: update letter
    response:
      200:
        shape: { type: object, properties: { data: { type: object, properties: { object: letter }, required: [object] } }, required: [data] }
        data: { data: { object: result } }
  DELETE /letters/{id}: { does: delete letter }
authentication: none
errors:
  payload:
    shape:
      type: object
      properties: { error: { type: object, properties: { code: string, message: string, of: { type: object, properties: { request: string, status: integer }, required: [request, status] } }, required: [message, of] } }
      required: [error]
    data: { error: { code: code, message: message, of: { request: request_id, status: status } } }
  codes:
    invalid: { status: 422, when: request.invalid }
    missing: { status: 404, when: [resource.missing, route.unknown] }
    heavy: { status: 409, on: [create letter], if: "next.title == 'heavy'" }
`;
