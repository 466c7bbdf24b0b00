/** Subscriptions of which the clock tells before their trial ends. */
export const trials = `
resources:
  subscription:
    identifier: { field: id, generate: client }
    fields:
      id: string
      plan: { type: string, minLength: 1, maxLength: 20 }
      trial_end: { type: string, format: date-time }
      quiet: { type: boolean, default: false }
    required: [id, plan, quiet]
endpoints:
  POST /subscriptions: { does: create subscription }
  GET /subscriptions/{id}: { does: read subscription }
  PATCH /subscriptions/{id}: { does: update subscription }
  DELETE /subscriptions/{id}: { does: delete subscription }
states: none
authentication: none
events:
  delivery: { stream: { path: GET /events, format: sse, keep: 24h } }
  kinds:
    subscription.made: { on: [create subscription], payload: subscription }
    subscription.changed: { on: [update subscription, delete subscription], payload: { ref: subscription } }
    trial.ending:
      of: subscription
      at: "has(resource.trial_end) ? resource.trial_end - duration('72h') : null"
      payload: { type: object, properties: { id: string, plan: string, ends: { type: string, format: date-time } }, required: [id, plan] }
      data: { id: resource.id, plan: resource.plan, ends: "has(resource.trial_end) ? resource.trial_end : null" }
errors:
  payload: problem
  codes:
    invalid: { status: 422, when: request.invalid }
    missing: { status: 404, when: resource.missing }
`;
