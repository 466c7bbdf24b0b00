/** Issues that are counted within their repository, and over all of them. */
export const tracker = `
resources:
  repository:
    identifier: { field: id, generate: client }
    fields: { id: string, name: { type: string, minLength: 1 } }
    required: [id, name]
  issue:
    identifier: { field: id, generate: "iss_{ulid}" }
    fields:
      id: string
      repository: { ref: repository, immutable: true, onDelete: cascade }
      number: { type: integer, readOnly: true, generate: integer, within: repository }
      label: { type: string, readOnly: true, generate: "T-{number:4}" }
      mark: { type: string, readOnly: true, set: { create: "next.id + '_' + string(next.number)" } }
      title: { type: string, minLength: 1 }
    required: [id, repository, number, label, mark, title]
    unique: [[repository, title]]
endpoints:
  POST /repositories: { does: create repository }
  GET /repositories/{id}: { does: read repository }
  POST /issues: { does: create issue }
  GET /issues: { does: list issue }
  GET /issues/{id}: { does: read issue }
  PATCH /issues/{id}: { does: update issue }
  DELETE /issues/{id}: { does: delete issue }
authentication: none
errors:
  payload: problem
  codes:
    invalid: { status: 422, when: request.invalid }
    exists: { status: 409, when: resource.exists }
    spam: { status: 409, on: [create issue], if: "next.title == 'spam'" }
`;
