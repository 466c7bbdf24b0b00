/** Parcels at a counter, of which each caller hands in a few at once. */
export const counters = `
purpose: { purpose: Takes parcels., users: { sender: Hands them in. } }
resources:
  parcel:
    identifier: { field: id, generate: "prc_{ulid}" }
    fields: { id: string, note: { type: string, maxLength: 40 } }
    required: [id, note]
    unique: none
endpoints:
  POST /parcels: { does: create parcel }
  GET /parcels/{id}: { does: read parcel }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "k_{random:24}" } }
  permissions: [{ allow: all parcel, to: sender }]
events: none
errors:
  payload: problem
  codes:
    invalid: { status: 422, when: [request.invalid, request.malformed] }
    crowded: { status: 429, when: limit.rate }
limits:
  at_once: { per: caller, on: [create parcel], limit: 3 }
  rate: none
`;
