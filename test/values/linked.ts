/** Shelves of files, each of which says where it is read, and where its shelf and its owner are. */
export const linked = `
title: Linked
purpose: { base_url: https://files.example/v1/ }
resources:
  owner:
    identifier: { field: name, generate: client }
    fields: { name: { type: string, pattern: "^[a-z ]{1,12}$" }, url: { type: string, readOnly: true, set: { create: link(next) } } }
    required: [name, url]
  shelf:
    identifier: { field: id, generate: integer }
    fields:
      id: integer
      owner: { ref: owner, immutable: true }
      name: { type: string, pattern: "^[a-z]{1,9}$" }
      url: { type: string, readOnly: true, set: { write: link(next) } }
      owner_url: { type: string, readOnly: true, set: { create: link(next.owner) } }
    required: [id, owner, name, url, owner_url]
    unique: [[owner, name]]
  file:
    identifier: { field: id, generate: "fil_{ulid}" }
    fields:
      id: string
      shelf: { ref: shelf, immutable: true }
      twin: { ref: file }
      url: { type: string, readOnly: true, set: { create: link(next) } }
      shelf_url: { type: string, readOnly: true, set: { create: link(next.shelf) } }
      twin_url: { type: string, readOnly: true, set: { write: "has(next.twin) ? link(next.twin) : null" } }
    required: [id, shelf, url, shelf_url]
states: { owner: none, shelf: none, file: none }
endpoints:
  under:
    "/of/{owner}/{shelf}": { shelf: { owner: owner, name: shelf } }
  POST /owners: { does: create owner }
  GET /owners/{name}: { does: read owner }
  POST /shelves: { does: create shelf }
  GET /of/{owner}/{shelf}: { does: read shelf }
  PATCH /of/{owner}/{shelf}: { does: update shelf }
  POST /files: { does: create file }
  GET /files/{id}:
    does: read file
    response: { 200: { shape: { type: object, properties: { self: string, on: string, file: file }, required: [self, on] }, data: { self: link(resource), on: link(resource.shelf), file: result } } }
  PATCH /files/{id}: { does: update file }
authentication: none
errors:
  payload: problem
  codes:
    invalid: { status: 422, when: [request.invalid, reference.missing] }
    exists: { status: 409, when: resource.exists }
    missing: { status: 404, when: [resource.missing, route.unknown] }
`;
