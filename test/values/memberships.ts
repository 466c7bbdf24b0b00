/** Projects whose members have roles: who may do what is what the row of a membership says. */
export const memberships = `
purpose:
  purpose: Keeps projects.
  users: { person: Works on projects. }
resources:
  project:
    identifier: { field: id, generate: "prj_{ulid}" }
    fields:
      id: string
      owner: { type: string, readOnly: true, set: { create: caller.id } }
      name: { type: string, minLength: 1, maxLength: 60 }
      state: { type: string, readOnly: true }
      members: { type: integer, derive: "count(member.project)" }
    required: [id, owner, name, state, members]
  member:
    identifier: { field: id, generate: "mem_{ulid}" }
    fields:
      id: string
      project: { ref: project, immutable: true, onDelete: cascade }
      user: { type: string, immutable: true, minLength: 1, maxLength: 60 }
      role: { enum: [read, write, admin] }
    required: [id, project, user, role]
    unique: [[project, user]]
  note:
    identifier: { field: id, generate: "not_{ulid}" }
    fields:
      id: string
      project: { ref: project, immutable: true, onDelete: cascade }
      text: { type: string, minLength: 1, maxLength: 60 }
      members: { type: integer, readOnly: true, set: { create: next.project.members } }
    required: [id, project, text, members]
  hook:
    identifier: { field: id, generate: "hok_{ulid}" }
    fields: { id: string, url: { type: string, format: uri } }
    required: [id, url]
states:
  project:
    field: state
    initial: open
    states: [open, archived]
    transitions:
      archive: { from: open, to: archived, if: "has(find(member, { project: resource.id, user: 'auditor' }))" }
  member: none
  note: none
  hook: none
endpoints:
  POST /projects: { does: create project }
  GET /projects: { does: list project }
  GET /projects/{id}: { does: read project }
  PATCH /projects/{id}: { does: update project }
  DELETE /projects/{id}: { does: delete project }
  POST /projects/{id}/archive: { does: archive project }
  POST /projects/{project}/members: { does: create member }
  PATCH /projects/{project}/members/{id}: { does: update member }
  DELETE /projects/{project}/members/{id}: { does: delete member }
  POST /projects/{project}/notes: { does: create note }
  GET /notes: { does: list note }
  POST /hooks: { does: create hook }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "k_{random:24}" } }
  permissions:
    - { allow: [create project, create hook], to: person }
    - { allow: [read project, list project, update project, delete project, archive project], to: person, if: "resource.owner == caller.id" }
    - { allow: [read project, list project], to: person, if: "has(find(member, { project: resource.id, user: caller.id }))" }
    - allow: [update project]
      to: person
      if: "has(find(member, { project: resource.id, user: caller.id })) && find(member, { project: resource.id, user: caller.id }).role in ['write', 'admin']"
    - { allow: [create member, create note], to: person, if: "next.project.owner == caller.id" }
    - { allow: [update member, delete member, list note], to: person, if: "resource.project.owner == caller.id" }
    - allow: [create note]
      to: person
      if: "has(find(member, { project: next.project, user: caller.id })) && find(member, { project: next.project, user: caller.id }).role != 'read'"
    - { allow: [delete member], to: person, if: "resource.user == caller.id" }
    - { allow: [list note], to: person, if: "has(find(member, { project: resource.project, user: caller.id }))" }
events:
  delivery:
    webhook: { signature: none, subscribers: { resource: hook, url: url } }
  kinds:
    project.changed: { on: [update project], payload: project }
    project.gone: { on: [delete project], payload: project }
errors:
  payload: problem
  codes:
    invalid: { status: 422, when: request.invalid }
    forbidden: { status: 403, when: caller.forbidden }
    missing: { status: 404, when: [resource.missing, route.unknown] }
    exists: { status: 409, when: resource.exists }
    illegal: { status: 409, when: transition.illegal }
    own: { status: 409, on: [create member], if: "has(find(project, { id: next.project })) && find(project, { id: next.project }).owner == next.user" }
limits:
  pagination: { style: cursor, cursor: cursor, size: limit, default: 20, max: 100, items: data, next: next, total: total }
`;
