/** A small service as several processes would serve it: rows with owners, a machine, events, idempotency keys. */
export const notesDocument = {
  title: 'Notes',
  purpose: { users: { writer: 'Writes notes.' } },
  resources: {
    note: {
      identifier: { field: 'id', generate: 'note_{random:20}' },
      fields: {
        id: 'string',
        owner: { type: 'string', readOnly: true, set: { create: 'caller.id' } },
        text: { type: 'string', minLength: 1, maxLength: 200 },
        stars: { type: 'integer', minimum: 0, maximum: 5, default: 0 },
        state: { type: 'string', readOnly: true },
      },
      required: ['id', 'owner', 'text', 'stars', 'state'],
    },
  },
  states: {
    note: {
      field: 'state',
      initial: 'open',
      states: ['open', 'shut'],
      transitions: { shut: { from: ['open', 'shut'], to: 'shut' } },
    },
  },
  endpoints: {
    'POST /notes': { does: 'create note', idempotency: { header: 'Idempotency-Key', keep: '24h' } },
    'GET /notes/{id}': { does: 'read note' },
    'GET /notes': { does: 'list note' },
    'POST /notes/{id}/shut': { does: 'shut note' },
  },
  authentication: {
    schemes: { key: { type: 'api_key', header: 'X-Key' } },
    permissions: [
      { allow: ['create note', 'list note'], to: ['writer'] },
      { allow: ['read note', 'shut note'], to: ['writer'], if: 'resource.owner == caller.id' },
    ],
  },
  events: {
    delivery: { stream: { path: 'GET /stream', format: 'sse', keep: '24h' } },
    kinds: { 'note.made': { on: ['create note'], payload: 'note' }, 'note.shut': { on: ['shut note'], payload: 'note' } },
  },
  limits: {
    pagination: { style: 'cursor', cursor: 'cursor', size: 'limit', default: 20, max: 100, items: 'data', next: 'next' },
  },
};
