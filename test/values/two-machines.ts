/** Issues of a tracker, with two machines: open or closed, and locked or not; each is moved by endpoints, by an update and by the clock. */
export const twoMachines = `
resources:
  issue:
    identifier: { field: id, generate: client }
    fields:
      id: string
      title: { type: string, minLength: 1, maxLength: 60 }
      state: string
      locked: string
      closed_at: { type: string, format: date-time, readOnly: true, set: { close: now, reopen: "null" } }
      lock_count: { type: integer, readOnly: true, set: { create: "0", lock: "next.lock_count + 1" } }
    required: [id, title, state, locked, lock_count]
  note:
    identifier: { field: id, generate: integer }
    fields: { id: integer, issue: { ref: issue, readOnly: true, onDelete: cascade }, text: { type: string, readOnly: true } }
    required: [id, issue, text]
states:
  issue.state:
    initial: open
    states: [open, closed]
    transitions:
      close: { from: open, to: closed, if: { if: "next.locked == 'no'", else: is_locked }, on: update issue, then: { create: note, set: { issue: next.id, text: "'closed'" } } }
      reopen: { from: closed, to: open, on: update issue, else: not_closed }
      lapse: { from: open, to: closed, after: 10d }
      stay: { from: open, to: open, by: service }
  issue.locked:
    initial: [{ if: "next.state == 'open' && next.title != 'secret'", state: no }, { state: yes }]
    states: [no, yes]
    transitions:
      lock: { from: no, to: yes, on: update issue, then: { create: note, set: { issue: next.id, text: "'locked'" } } }
      unlock: { from: yes, to: no, on: update issue }
      thaw: { from: yes, to: no, after: 4d }
  note: none
endpoints:
  POST /issues: { does: create issue }
  GET /issues: { does: list issue, parameters: { locked: { in: query }, state: { in: query } } }
  GET /issues/{id}: { does: read issue, etag: strong }
  PATCH /issues/{id}: { does: update issue, if_match: accepted }
  DELETE /issues/{id}: { does: delete issue, in: [closed, no] }
  POST /issues/{id}/close: { does: close issue }
  POST /issues/{id}/reopen: { does: reopen issue }
  POST /issues/{id}/lock: { does: lock issue }
  POST /issues/{id}/unlock: { does: unlock issue }
  GET /notes: { does: list note, parameters: { issue: { in: query } } }
authentication: none
events:
  delivery: { stream: { path: GET /events, format: sse, keep: 24h } }
  kinds:
    issue.closed: { on: [close issue], payload: issue }
    issue.locked: { on: [lock issue], payload: issue }
errors:
  payload: problem
  codes:
    invalid: { status: 422, when: request.invalid }
    missing: { status: 404, when: resource.missing }
    wrong_state: { status: 409, when: transition.illegal }
    is_locked: { status: 409 }
    not_closed: { status: 409 }
`;
