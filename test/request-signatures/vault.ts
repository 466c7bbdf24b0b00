/** An HMAC over parts of the request, which is taken once. */
export const byHmac = `{ type: hmac, header: X-Signature, value: "t={timestamp},v1={hmac-sha256:hex}", headers: { X-Key: "{key_id}", X-Nonce: "{nonce}" },
    signs: "{method}\\n{target}\\n{timestamp}\\n{nonce}\\n{body}", tolerance: 2m, replay: refuse }`;

/** Messages of RFC 9421, by every algorithm. */
export const byMessage =
  '{ type: http_signature, algorithms: [hmac-sha256, ed25519, ecdsa-p256-sha256, rsa-pss-sha512], covers: ["@method", "@target-uri", "content-digest"] }';

/** A service of notes whose callers sign their requests. */
export const vault = (scheme: string, limits = 'size: { body: 200 }') => `
title: Vault
purpose:
  purpose: Keeps notes.
  base_url: http://127.0.0.1/v1
  users: { machine: Keeps its notes here. }
  functions: { keep: [create note, read note, list note] }
resources:
  note:
    identifier: { field: id, generate: uuid }
    fields: { id: string, owner: { type: string, readOnly: true, set: { create: caller.id } }, text: { type: string, maxLength: 100 } }
    required: [id, owner, text]
states: none
endpoints:
  POST /notes: { does: create note }
  GET /notes: { does: list note, parameters: { text: { in: query, type: string } } }
  GET /notes/{id}: { does: read note }
authentication:
  schemes: { signed: ${scheme} }
  permissions: [{ allow: [create note, list note, read note], to: machine }]
events: none
errors:
  codes:
    over: { status: 401, when: caller.unknown.expired }
    bad: { status: 401, when: caller.unknown.bad }
    none: { status: 401, when: caller.unknown.missing }
limits: { ${limits}, pagination: none }
versioning: none
`;
