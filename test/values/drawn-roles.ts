import fc from 'fast-check';

export const roles = ['read', 'write', 'admin'] as const;
export type Role = (typeof roles)[number];

/** The changes that roles allow. */
const governed = ['create note', 'update note', 'delete note', 'create member', 'update member', 'delete member'] as const;
export type Governed = (typeof governed)[number];

/** What a drawn document says: the roles that each change wants, how it looks them up, and whether who is banned may do nothing. */
export interface DrawnRoles {
  readonly wants: Readonly<Record<Governed, readonly Role[]>>;
  readonly isLate: boolean;
  readonly isLoose: boolean;
  readonly isBannable: boolean;
}

const wanted = fc.constantFrom<readonly Role[]>(['admin'], ['write'], ['write', 'admin'], ['read', 'admin'], [...roles]);

export const drawnRoles: fc.Arbitrary<DrawnRoles> = fc.record({
  wants: fc.record(Object.fromEntries(governed.map((one) => [one, wanted])) as Record<Governed, typeof wanted>),
  isLate: fc.boolean(),
  isLoose: fc.boolean(),
  isBannable: fc.boolean(),
});

/** Projects of which those may change something who have a role in them, or in any way are members. */
export function rolesOf({ wants, isLate, isLoose, isBannable }: DrawnRoles): string {
  const condition = (operation: Governed) => {
    const row = operation.startsWith('create') || (isLate && operation.startsWith('update')) ? 'next' : 'resource';
    const found = `find(member, { project: ${row}.project, user: caller.id })`;
    // One list of roles, or one rule of its own for each.
    const all = isLoose ? wants[operation].map((role) => [role]) : [wants[operation]];
    const free = isBannable ? ' && !has(find(ban, { id: caller.id }))' : '';
    return all.map(
      (some) =>
        `    - { allow: [${operation}], to: person, if: "has(${found}) && ${found}.role in [${some.map((role) => `'${role}'`).join(', ')}]${free}" }`,
    );
  };
  return `
purpose:
  purpose: Keeps projects.
  users: { person: Works on projects., owner: Says who does. }
resources:
  project:
    identifier: { field: id, generate: client }
    fields: { id: string }
    required: [id]
  member:
    identifier: { field: id, generate: integer }
    fields:
      id: integer
      project: { ref: project, immutable: true, onDelete: cascade }
      user: { type: string, immutable: true }
      role: { enum: [${roles.join(', ')}] }
    required: [id, project, user, role]
    unique: [[project, user]]
  note:
    identifier: { field: id, generate: integer }
    fields:
      id: integer
      project: { ref: project, immutable: true, onDelete: cascade }
      text: string
    required: [id, project, text]
  ban:
    identifier: { field: id, generate: client }
    fields: { id: string }
    required: [id]
states: { project: none, member: none, note: none, ban: none }
endpoints:
  POST /projects: { does: create project }
  GET /projects/{id}: { does: read project }
  POST /projects/{project}/members: { does: create member }
  GET /members: { does: list member }
  PATCH /members/{id}: { does: update member }
  DELETE /members/{id}: { does: delete member }
  POST /projects/{project}/notes: { does: create note }
  GET /notes: { does: list note }
  PATCH /notes/{id}: { does: update note }
  DELETE /notes/{id}: { does: delete note }
  POST /bans: { does: create ban }
  GET /bans: { does: list ban }
  DELETE /bans/{id}: { does: delete ban }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "k_{random:24}" } }
  permissions:
    - { allow: [all project, all member, all note, all ban], to: owner }
    - { allow: [read project], to: person }
    - { allow: [list note], to: person, if: "has(find(member, { project: resource.project, user: caller.id }))" }
${governed.flatMap(condition).join('\n')}
events: none
errors:
  payload: problem
  codes:
    invalid: { status: 422, when: request.invalid }
    forbidden: { status: 403, when: caller.forbidden }
    missing: { status: 404, when: [resource.missing, reference.missing] }
    exists: { status: 409, when: resource.exists }
limits: { pagination: none }
`;
}
