/** A small host of code: repositories found by owner and name, issues by their number below them, and comments below those. */
export const codeHost = `
resources:
  account:
    identifier: { field: id, generate: "acc_{ulid}" }
    fields: { id: string, login: { type: string, pattern: "^[A-Za-z0-9-]{1,20}$", immutable: true, ignore_case: true } }
    required: [id, login]
    unique: [[login]]
  repository:
    identifier: { field: id, generate: integer }
    fields:
      id: integer
      owner: { ref: account, immutable: true }
      name: { type: string, pattern: "^[a-z0-9-]{1,20}$" }
      about: { type: string, maxLength: 80 }
    required: [id, owner, name]
    unique: [[owner, name]]
  label:
    identifier: { field: id, generate: "lab_{ulid}" }
    fields: { id: string, repository: { ref: repository, onDelete: cascade }, name: { type: string, minLength: 1, maxLength: 20 } }
    required: [id, repository, name]
    unique: [[repository, name]]
  issue:
    identifier: { field: id, generate: "iss_{ulid}" }
    fields:
      id: string
      repository: { ref: repository, immutable: true, onDelete: cascade }
      number: { type: integer, readOnly: true, generate: integer, within: repository }
      title: { type: string, minLength: 1, maxLength: 60 }
      state: { type: string, readOnly: true }
    required: [id, repository, number, title, state]
  comment:
    identifier: { field: id, generate: "com_{ulid}" }
    fields: { id: string, issue: { ref: issue, immutable: true, onDelete: cascade }, text: { type: string, minLength: 1, maxLength: 60 } }
    required: [id, issue, text]
states:
  account: none
  repository: none
  label: none
  comment: none
  issue: { field: state, initial: open, states: [open, closed], transitions: { close: open -> closed } }
endpoints:
  under:
    "/users/{login}": { account: { login: login } }
    "/repos/{owner}/{repo}": { repository: { owner.login: owner, name: repo } }
    "/repos/{owner}/{repo}/issues/{number}": { issue: { number: number } }
  POST /users: { does: create account }
  GET /users/{login}: { does: read account }
  POST /users/{login}/repos: { does: create repository }
  GET /users/{login}/repos: { does: list repository }
  GET /repos/{owner}/{repo}: { does: read repository }
  PATCH /repos/{owner}/{repo}: { does: update repository }
  DELETE /repos/{owner}/{repo}: { does: delete repository }
  POST /repos/{owner}/{repo}/labels: { does: create label }
  GET /repos/{owner}/{repo}/labels: { does: list label }
  GET /repos/{owner}/{repo}/labels/{name}: { does: read label, identity: { name: name } }
  DELETE /repos/{owner}/{repo}/labels/{name}: { does: delete label, identity: { name: name } }
  POST /repos/{owner}/{repo}/issues: { does: create issue }
  GET /repos/{owner}/{repo}/issues: { does: list issue, parameters: { state: { in: query } } }
  GET /repos/{owner}/{repo}/issues/{number}: { does: read issue, etag: strong }
  PATCH /repos/{owner}/{repo}/issues/{number}: { does: update issue }
  POST /repos/{owner}/{repo}/issues/{number}/close: { does: close issue }
  POST /repos/{owner}/{repo}/issues/{number}/comments: { does: create comment }
  GET /repos/{owner}/{repo}/issues/{number}/comments: { does: list comment }
  GET /repos/{owner}/{repo}/issues/{number}/comments/{id}: { does: read comment }
  PUT /repos/{owner}/{repo}/issues/{number}/comments/{id}: { does: replace comment }
authentication: none
errors:
  payload: problem
  codes:
    invalid: { status: 422, when: request.invalid }
    exists: { status: 409, when: resource.exists }
    missing: { status: 404, when: [resource.missing, route.unknown] }
    illegal: { status: 409, when: transition.illegal }
`;
