/** Cases of a desk, closed by an endpoint and by an update. */
export const desk = `
resources:
  case:
    identifier: { field: id, generate: client }
    fields:
      id: string
      title: { type: string, minLength: 1, maxLength: 60 }
      urgent: { type: boolean, default: false }
      state: string
      closed_at: { type: string, format: date-time, readOnly: true, set: { close: now, reopen: "null" } }
      changes: { type: integer, readOnly: true, set: { write: "has(next.changes) ? next.changes + 1 : 1" } }
    required: [id, title, urgent, state, changes]
states:
  case:
    field: state
    initial: open
    states: [open, closed, locked]
    transitions:
      close:  { from: open, to: closed, if: { if: "!next.urgent", else: still_urgent }, on: update case, then: { create: line, set: { case: next.id } } }
      reopen: { from: closed, to: open, on: [update case], else: not_closed }
      lock:   { from: "*", to: locked }
endpoints:
  POST /cases: { does: create case }
  GET /cases: { does: list case }
  GET /cases/{id}: { does: read case }
  PATCH /cases/{id}: { does: update case, if_match: accepted, etag: strong }
  POST /cases/{id}/close: { does: close case }
  POST /cases/{id}/reopen: { does: reopen case }
  POST /cases/{id}/lock: { does: lock case }
  GET /lines: { does: list line }
  GET /lines/{id}: { does: read line }
authentication: none
events:
  delivery: { stream: { path: GET /events, format: sse, keep: 24h } }
  kinds:
    case.closed: { on: [close case], payload: case }
    case.changed: { on: [update case], payload: case }
errors:
  payload: problem
  codes:
    invalid: { status: 422, when: request.invalid }
    wrong_state: { status: 409, when: transition.illegal }
    still_urgent: { status: 409 }
    not_closed: { status: 409 }
    unfinished: { status: 409, on: [close case], if: "next.title == 'unfinished'" }
`.replace(
  'states:\n  case:',
  `  line:
    identifier: { field: id, generate: integer }
    fields: { id: integer, case: { ref: case, readOnly: true, onDelete: cascade } }
    required: [id, case]
states:
  line: none
  case:`,
);
