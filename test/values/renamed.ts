const renamed = 'find(rename, { team: find(team, { name: params.of }).id, old: params.called })';
const meant = `has(find(team, { name: params.of })) && has(${renamed}) ? ${renamed}.project : null`;

/** Projects of teams, found by their names, which change: who asks by an old one is led to where the project is, if it may read it. */
export const renamedProjects = `
purpose: { base_url: https://plans.example/v1, users: { member: Keeps projects., guest: Reads them. } }
resources:
  team:
    identifier: { field: id, generate: integer }
    fields: { id: integer, name: { type: string, pattern: "^[a-z0-9]{1,12}$" } }
    required: [id, name]
    unique: [[name]]
  project:
    identifier: { field: id, generate: integer }
    fields:
      id: integer
      team: { ref: team, immutable: true }
      name: { type: string, pattern: "^[a-z0-9]{1,12}$" }
      owner: { type: string, readOnly: true, set: { create: caller.id } }
      secret: { type: boolean, default: false }
    required: [id, team, name, owner, secret]
    unique: [[team, name]]
    updated:
      then:
        - { delete: rename, to: "has(find(rename, { team: next.team, old: resource.name })) ? find(rename, { team: next.team, old: resource.name }).id : null", if: "next.name != resource.name" }
        - { create: rename, if: "next.name != resource.name", set: { team: next.team, old: resource.name, project: next.id } }
  rename:
    identifier: { field: id, generate: integer }
    fields: { id: integer, team: { ref: team, onDelete: cascade }, old: string, project: { ref: project, onDelete: cascade } }
    required: [id, team, old, project]
    unique: [[team, old]]
states: { team: none, project: { field: state, initial: open, states: [open, closed], transitions: { close: open -> closed } }, rename: none }
endpoints:
  under:
    "/teams/{of}": { team: { name: of } }
    "/teams/{of}/projects/{called}": { project: { name: called } }
  POST /teams: { does: create team }
  GET /teams/{of}: { does: read team }
  POST /teams/{of}/projects: { does: create project }
  GET /teams/{of}/projects: { does: list project }
  GET /teams/{of}/projects/{called}: { does: read project, etag: strong, moved: "${meant}" }
  PATCH /teams/{of}/projects/{called}: { does: update project, moved: "${meant}" }
  POST /teams/{of}/projects/{called}/close: { does: close project, moved: "${meant}" }
  DELETE /teams/{of}/projects/{called}: { does: delete project }
authentication:
  schemes: { key: { type: api_key, query: key, generate: "k_{random:24}", placeholder: "{key}" } }
  accept: [key]
  permissions:
    - { allow: [create team, read team, create project], to: [member, guest] }
    - { allow: [read project, list project], to: [member, guest], if: "!resource.secret || resource.owner == caller.id" }
    - { allow: [update project, close project, delete project], to: member, if: "resource.owner == caller.id" }
errors:
  payload: problem
  codes:
    bad: { status: 400, when: [request.parameter, request.malformed] }
    invalid: { status: 422, when: [request.invalid, reference.missing] }
    unknown: { status: 401, when: caller.unknown }
    forbidden: { status: 403, when: caller.forbidden }
    missing: { status: 404, when: [resource.missing, route.unknown] }
    exists: { status: 409, when: [resource.exists, transition.illegal] }
    moved: { status: 308, when: resource.moved, message: It has another name. }
limits: { rate: none, quota: none, pagination: none }
`.replace(
  'secret: { type: boolean, default: false }',
  'secret: { type: boolean, default: false }\n      state: { type: string, readOnly: true }',
);
