/** Issues whose changes are told with what they altered. */
export const issues = `
resources:
  issue:
    identifier: { field: id, generate: client }
    fields:
      id: string
      title: { type: string, minLength: 1, maxLength: 60 }
      body: { type: string, maxLength: 200 }
      labels: { type: array, items: string, maxItems: 5 }
      pin: { type: string, writeOnly: true }
      state: { type: string, readOnly: true }
      touched_at: { type: string, format: date-time, readOnly: true, set: { write: now } }
    required: [id, title, state, touched_at]
  hook:
    identifier: { field: id, generate: "hok_{ulid}" }
    fields:
      id: string
      url: string
      kinds: { type: array, items: string }
      secret: { type: string, readOnly: true, generate: "whsec_{base64:32}", reveal: once }
    required: [id, url, secret]
states:
  hook: none
  issue:
    field: state
    initial: open
    states: [open, closed]
    transitions: { close: open -> closed, reopen: closed -> open }
endpoints:
  POST /issues: { does: create issue }
  GET /issues: { does: list issue }
  GET /issues/{id}: { does: read issue }
  PATCH /issues/{id}: { does: update issue }
  DELETE /issues/{id}: { does: delete issue }
  POST /issues/{id}/close: { does: close issue }
  POST /issues/{id}/reopen: { does: reopen issue }
  POST /hooks: { does: create hook }
  DELETE /hooks/{id}: { does: delete hook }
authentication: none
events:
  delivery:
    webhook:
      signature: standard-webhooks
      headers: { X-Event: event.kind }
      subscribers: { resource: hook, url: url, secret: secret, events: kinds }
    stream: { path: GET /events, format: sse, keep: 24h }
  kinds:
    issue.made: { on: [create issue], payload: issue }
    issue.changed:
      on: [update issue]
      payload: { type: object, properties: { issue: issue, changes: { type: object } }, required: [issue, changes] }
      data: { issue: next, changes: event.before }
    issue.retitled:
      on: [update issue]
      if: "has(event.before.title)"
      payload: { type: object, properties: { id: string, from: string, to: string }, required: [id, from, to] }
      data: { id: next.id, from: "has(event.before.title) ? event.before.title : ''", to: next.title }
    issue.labelled:
      on: [update issue]
      each: "(has(next.labels) ? next.labels : []).filter(label, !(has(resource.labels) ? resource.labels : []).exists(old, old == label))"
      payload: { type: object, properties: { id: string, label: string }, required: [id, label] }
      data: { id: next.id, label: item }
    issue.closed:
      name: issues
      action: closed
      on: [close issue]
      payload: { type: object, properties: { action: string, issue: issue }, required: [action, issue] }
      data: { action: event.action, issue: next }
    issue.reopened:
      name: issues
      action: reopened
      on: [reopen issue]
      payload: { type: object, properties: { action: string, issue: issue }, required: [action, issue] }
      data: { action: event.action, issue: next }
errors:
  payload: problem
  codes:
    invalid: { status: 422, when: request.invalid }
    wrong_state: { status: 409, when: transition.illegal }
`;

/** Issues of which subscribers hear that say how in a map of their own, and what they ask for by conditions. */
export const asking = issues
  .replace(
    '      url: string\n',
    `      config: { type: object, properties: { url: { type: string, format: uri }, note: { type: string, maxLength: 20 } }, required: [url], additionalProperties: false }
      status: { enum: [active, paused], default: active }
      topics: { type: array, items: string, default: [] }
`,
  )
  .replace('required: [id, url, secret]', 'required: [id, config, status, topics, secret]')
  .replace(
    '{ resource: hook, url: url, secret: secret, events: kinds }',
    `{ resource: hook, url: config.url, secret: secret, enabled: "subscriber.status == 'active'", if: "event.kind in subscriber.topics" }`,
  )
  .replace('      kinds: { type: array, items: string }\n', '')
  .replace('  DELETE /hooks', '  PATCH /hooks/{id}: { does: update hook }\n  DELETE /hooks');
