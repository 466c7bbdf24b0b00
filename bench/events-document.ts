/** The service whose events are measured: a merchant's parcels, and hooks that hear of them. */
export const eventsDocument = {
  title: 'Events',
  purpose: {
    purpose: 'Is measured.',
    users: { merchant: 'Books parcels.' },
    functions: { all: ['create parcel', 'read parcel', 'create hook', 'stream events'] },
  },
  resources: {
    parcel: {
      identifier: { field: 'id', generate: 'pcl_{ulid}' },
      fields: {
        id: 'string',
        merchant: { type: 'string', readOnly: true, set: { create: 'caller.id' } },
        to: 'string',
        weight_g: 'integer',
        note: 'string',
      },
      required: ['id', 'merchant', 'to', 'weight_g'],
    },
    hook: {
      identifier: { field: 'id', generate: 'hok_{ulid}' },
      fields: {
        id: 'string',
        owner: { type: 'string', readOnly: true, set: { create: 'caller.id' } },
        url: 'string',
        secret: 'string',
      },
      required: ['id', 'owner', 'url', 'secret'],
    },
  },
  states: { parcel: { $none: true }, hook: { $none: true } },
  endpoints: {
    'POST /parcels': { does: 'create parcel' },
    'GET /parcels/{id}': { does: 'read parcel' },
    'POST /hooks': { does: 'create hook' },
  },
  authentication: {
    schemes: { key: { type: 'api_key', header: 'X-Key', placeholder: '{key}' } },
    permissions: [
      { allow: ['create parcel', 'create hook', 'stream events'], to: 'merchant' },
      { allow: ['read parcel'], to: 'merchant', if: 'resource.merchant == caller.id' },
    ],
  },
  events: {
    delivery: {
      webhook: {
        signature: 'standard-webhooks',
        retry: ['5s', '5m'],
        timeout: '15s',
        subscribers: { resource: 'hook', url: 'url', secret: 'secret' },
      },
      stream: { path: 'GET /stream', format: 'sse', keep: '24h' },
    },
    kinds: { 'parcel.created': { on: ['create parcel'], payload: 'parcel' } },
  },
};
