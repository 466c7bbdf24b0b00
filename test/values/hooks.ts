/** Hooks, of which each caller may have a few that are switched on; and folders, of which there are a few in all. */
export const hooks = `
purpose:
  purpose: Tells programs what happens.
  users: { program: Listens. }
resources:
  hook:
    identifier: { field: id, generate: "hok_{ulid}" }
    fields:
      id: string
      owner: { type: string, readOnly: true, set: { create: caller.id } }
      note: { type: string, maxLength: 40 }
      is_on: { type: boolean, default: true }
    required: [id, owner, is_on]
    unique: none
  folder:
    identifier: { field: id, generate: "fld_{ulid}" }
    fields: { id: string, name: { type: string, maxLength: 40 } }
    required: [id, name]
    unique: none
endpoints:
  POST /hooks: { does: create hook }
  GET /hooks/{id}: { does: read hook }
  PATCH /hooks/{id}: { does: update hook }
  DELETE /hooks/{id}: { does: delete hook }
  POST /folders: { does: create folder }
  DELETE /folders/{id}: { does: delete folder }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "k_{random:24}" } }
  permissions:
    - { allow: [create hook, create folder, delete folder], to: program }
    - { allow: [read hook, update hook, delete hook], to: program, if: "resource.owner == caller.id" }
events: none
errors:
  payload: problem
  codes:
    invalid: { status: 422, when: [request.invalid, request.malformed] }
    missing: { status: 404, when: [resource.missing, route.unknown] }
    too_many: { status: 403, when: limit.quota }
limits:
  rows:
    - { of: hook, per: caller.id, while: next.is_on, limit: 3 }
    - { of: folder, limit: 4 }
`;
