import type { SecurityCase } from '../harness.ts';
import { soundLog } from './event-log.ts';

/** Changes of the base document, and what a reviewer asks of them besides what is asked of it, or asks no longer. */
export const securityCases: readonly SecurityCase[] = [
  {
    snippets: ['authentication: { schemes: { token: { jwks: "http://id.notes.example/jwks.json" } } }'],
    more: ['security/keys-over-http @ /authentication/schemes/token/jwks'],
  },
  { snippets: ['authentication: { schemes: { token: { jwks: "http://localhost/jwks.json" } } }'] },
  {
    snippets: [
      'authentication: { schemes: { asked: { type: introspection, header: X-Asked, introspect: "http://id.notes.example/introspect", caller: { user: "\'writer\'" } } } }',
    ],
    more: ['security/keys-over-http @ /authentication/schemes/asked/introspect'],
  },
  {
    snippets: ['authentication: { schemes: { token: { audience: notes, issuer: "https://id.notes.example", lifetime: 1h } } }'],
    less: [
      'security/no-audience @ /authentication/schemes/token',
      'security/no-issuer @ /authentication/schemes/token',
      'security/no-lifetime @ /authentication/schemes/token',
    ],
  },
  {
    snippets: ['authentication: { schemes: { key: { header: null, query: api_key } } }'],
    more: ['security/credential-in-query @ /authentication/schemes/key/query'],
  },
  { snippets: [soundLog] },
  {
    snippets: [soundLog.replace('owner: row.owner', 'owner: row.owner, data: { object: event.payload }')],
    more: ['security/log-shows-more @ /events/log'],
  },
  {
    snippets: [
      'authentication: { schemes: { seen: { type: hmac, header: X-Seen, value: "{key_id}:{hmac-sha256:hex}", signs: "{method} {path} {body}" } }, accept: [key, token, seen] }',
    ],
    more: ['security/signature-for-ever @ /authentication/schemes/seen', 'security/unsigned-part @ /authentication/schemes/seen'],
  },
  {
    snippets: [
      'authentication: { schemes: { seen: { type: http_signature, algorithms: [ed25519], covers: ["@method", "@target-uri", "content-digest"] } }, accept: [key, token, seen] }',
    ],
  },
  { snippets: ['authentication: { origins: ["*"] }'], more: ['security/any-origin @ /authentication/origins'] },
  {
    snippets: ['authentication: none'],
    more: ['security/no-authentication @ /authentication'],
    lessBelow: '/authentication/',
  },
  {
    snippets: ['authentication: { permissions: none }'],
    more: ['security/everybody-everything @ /authentication/permissions'],
    lessBelow: '/permissions/',
  },
  {
    snippets: [
      'authentication: { public: [handler count, create book] }\nlimits: { rate: [{ per: caller, on: [list note], limit: 9, window: 1s }] }',
    ],
    more: ['security/write-for-anyone @ /authentication/public'],
  },
  {
    snippets: [
      'authentication: { public: [handler count, create book] }\nlimits: { rate: [{ per: address, limit: 9, window: 1s }] }',
    ],
  },
  {
    snippets: [
      'authentication: { permissions: [{ allow: [all book], to: writer }, { allow: [publish note, all hook], to: reader, if: "resource.owner == caller.id" }] }',
    ],
    more: ['security/act-without-read @ /authentication/permissions/1/allow/0'],
    less: ['security/write-to-all-rows @ /authentication/permissions/0'],
  },
  { snippets: ['limits: { rate: none }'], more: ['security/no-rate @ /limits/rate'] },
  {
    snippets: ['authentication: { schemes: { login: { type: basic } } }'],
    more: ['security/no-login-rate @ /authentication/schemes/login'],
  },
  {
    snippets: [
      'authentication: { schemes: { login: { type: basic } } }\nlimits: { rate: [{ per: address, limit: 9, window: 1s }] }',
    ],
  },
  {
    snippets: ['limits: { rate: [{ per: caller, limit: 9, window: 1s }, { per: everyone, limit: 9, window: 1s }] }'],
    more: ['security/used-up-by-strangers @ /limits/rate/1'],
  },
  {
    snippets: [
      'limits: { rate: [{ per: caller, limit: 9, window: 1s }, { per: everyone, before: credentials, on: [list note], limit: 9, window: 1s }] }',
    ],
    more: ['security/used-up-by-strangers @ /limits/rate/1/before'],
  },
  {
    snippets: [
      'limits: { rate: [{ per: caller, limit: 9, window: 1s }, { per: everyone, on: [list note], limit: 9, window: 1s }] }',
    ],
  },
  { snippets: ['limits: { size: { body: null } }'], more: ['security/no-size @ /limits/size'] },
  { snippets: ['limits: { timeout: none }'], more: ['security/no-time-out @ /limits/timeout'] },
  { snippets: ['limits: { pagination: { max: null } }'], more: ['security/unbounded-page @ /limits/pagination'] },
  { snippets: ['limits: { pagination: { max: 10001 } }'], more: ['security/unbounded-page @ /limits/pagination'] },
  { snippets: ['limits: { pagination: { max: 10000 } }'] },
  {
    snippets: ['limits: { trust_proxies: [10.0.0.0/8, "0.0.0.0/0"] }'],
    more: ['security/trusts-everybody @ /limits/trust_proxies/1'],
  },
  { snippets: ['purpose: { base_url: "http://notes.example/v1" }'], more: ['security/plain-address @ /purpose/base_url'] },
  {
    snippets: ['resources: { book: { fields: { password: string } } }'],
    more: ['security/secret-shown @ /resources/book/fields/password'],
  },
  { snippets: ['resources: { book: { fields: { password: { type: string, writeOnly: true } } } }'] },
  {
    snippets: ['resources: { book: { identifier: { generate: integer }, fields: { id: integer } } }'],
    more: ['security/countable-identifier @ /resources/book/identifier/generate'],
  },
  {
    snippets: ['resources: { note: { fields: { size: { visible: [writer] } } } }'],
    more: ['security/hidden-filter @ /endpoints/GET ~1notes/parameters/min_size'],
  },
  {
    snippets: [
      'resources: { note: { fields: { size: { visible: [writer] }, copy: { type: object, readOnly: true, set: { create: "{\'of\': next}" } } } } }',
    ],
    more: [
      'security/whole-row @ /resources/note/fields/copy/set/create',
      'security/hidden-filter @ /endpoints/GET ~1notes/parameters/min_size',
    ],
  },
  {
    snippets: [
      'resources: { note: { fields: { copy: { type: object, readOnly: true, set: { create: "{\'of\': next.title}" } } } } }',
    ],
  },
  {
    snippets: ['events: { delivery: { webhook: { signature: none } } }'],
    more: ['security/unsigned-webhook @ /events/delivery/webhook/signature'],
  },
  {
    snippets: ['resources: { book: { additionalProperties: true } }'],
    more: ['security/free-fields @ /resources/book/additionalProperties'],
  },
];
