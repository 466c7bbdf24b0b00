/** Files that are kept when they are deleted, with their folders, and sheets of which reading tells that they are deleted. */
export const files = `
resources:
  folder:
    identifier: { field: id, generate: client }
    fields: { id: string, size: { type: integer, derive: "count(file.folder)" } }
    required: [id, size]
  file:
    identifier: { field: id, generate: "file_{ulid}" }
    fields:
      id: string
      folder: { ref: folder }
      name: { type: string, minLength: 1, maxLength: 40 }
      state: { type: string, readOnly: true }
      back_at: { type: string, format: date-time, readOnly: true, set: { undelete: now } }
    required: [id, folder, name, state]
    unique: [[folder, name]]
    deleted: { keep: 30d, restore: undelete }
  sheet:
    identifier: { field: id, generate: "sht_{ulid}" }
    fields: { id: string, title: { type: string, minLength: 1 } }
    required: [id, title]
    deleted:
      keep: forever
      read:
        200:
          shape: { type: object, properties: { id: {}, deleted: boolean }, required: [id, deleted], additionalProperties: false }
          data: { id: result.id, deleted: "true" }
states:
  file:
    field: state
    initial: open
    states: [open, locked, deleted]
    transitions:
      lock: open -> locked
      undelete: deleted -> open
endpoints:
  POST /folders: { does: create folder }
  GET /folders/{id}: { does: read folder }
  DELETE /folders/{id}: { does: delete folder }
  POST /files: { does: create file }
  GET /files: { does: list file }
  GET /files/{id}: { does: read file, etag: strong }
  PATCH /files/{id}: { does: update file }
  DELETE /files/{id}: { does: delete file }
  POST /files/{id}/lock: { does: lock file }
  POST /files/{id}/undelete: { does: undelete file }
  POST /sheets: { does: create sheet }
  GET /sheets: { does: list sheet }
  GET /sheets/{id}: { does: read sheet }
  PATCH /sheets/{id}: { does: update sheet }
  DELETE /sheets/{id}: { does: delete sheet }
authentication: none
errors:
  payload: problem
  codes:
    invalid: { status: 422, when: request.invalid }
    missing: { status: 404, when: [resource.missing, reference.missing] }
    gone: { status: 410, when: resource.gone }
    taken: { status: 409, when: resource.exists }
    wrong_state: { status: 409, when: transition.illegal }
`;
