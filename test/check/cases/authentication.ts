import type { Case } from '../harness.ts';

export const authenticationCases: readonly Case[] = [
  { snippets: ['authentication: { permissions: any }'], finds: ['authentication/any @ /authentication/permissions'] },
  { snippets: ['authentication: { origins: any }'], finds: ['authentication/origins-any @ /authentication/origins'] },
  {
    snippets: ['authentication: { accept: [key, tokn, token] }'],
    finds: ['authentication/unknown-scheme @ /authentication/accept/1'],
  },
  {
    snippets: ['authentication: { accept: key }'],
    finds: ['authentication/scheme-not-accepted @ /authentication/schemes/token'],
  },
  {
    snippets: ['authentication: { schemes: { key: { query: key } } }'],
    finds: ['authentication/two-carriers @ /authentication/schemes/key/query'],
  },
  {
    snippets: ['authentication: { schemes: { key: { header: X API Key } } }'],
    finds: ['authentication/carrier-name @ /authentication/schemes/key/header'],
  },
  {
    snippets: ['authentication: { schemes: { other: { type: api_key, header: x-api-key } } }'],
    finds: ['authentication/same-carrier @ /authentication/schemes/other'],
  },
  {
    snippets: [
      'authentication: { attributes: { id: Its name., Firm: Its firm. }, schemes: { token: { caller: { attributes: { frim: claims.org } } } } }',
    ],
    finds: [
      'authentication/attribute @ /authentication/schemes/token/caller/attributes/frim',
      'authentication/attribute @ /authentication/attributes/id',
      'authentication/attribute @ /authentication/attributes/Firm',
    ],
  },
  {
    snippets: ['authentication: { schemes: { key: { generate: secret } } }'],
    finds: ['authentication/generate-template @ /authentication/schemes/key/generate'],
  },
  {
    snippets: ['authentication: { origins: [https://app.notes.example/] }'],
    finds: ['authentication/origin @ /authentication/origins/0'],
  },
  {
    snippets: [
      'authentication: { schemes: none, permissions: [{ allow: [read note, list note, notes of a book, create note, update note, publish note, delete note, create book, create hook, list hook], to: anyone }, { allow: stream events, to: [writer, reader] }] }',
    ],
    finds: [
      'expressions/may-be-absent @ /resources/note/fields/owner/set/create',
      'expressions/may-be-absent @ /resources/hook/fields/owner/set/create',
      'authentication/permissions-without-schemes @ /authentication/permissions/1/to',
    ],
  },
  {
    snippets: ['authentication: { schemes: { token: { algorithms: null, jwks: null } } }'],
    finds: ['authentication/unverifiable-token @ /authentication/schemes/token'],
  },
  {
    snippets: [
      'authentication: { schemes: { asked: { type: introspection, cache: 1h, client: notes }, there: { type: introspection, header: X-There, introspect: id.example } }, accept: [key, token, asked, there] }',
    ],
    finds: [
      'authentication/introspection @ /authentication/schemes/asked',
      'authentication/same-carrier @ /authentication/schemes/asked',
      'authentication/introspection @ /authentication/schemes/asked/cache',
      'authentication/introspection @ /authentication/schemes/there/introspect',
    ],
  },
  {
    snippets: ['authentication: { schemes: { seen: { type: hmac, header: X-Seen,  } }, accept: [key, token, seen] }'],
    finds: ['authentication/request-signature @ /authentication/schemes/seen'],
  },
  {
    snippets: [
      'authentication: { schemes: { seen: { type: hmac, header: X-Seen, value: "v1={hmac-md5:hex}", signs: "{body}" } }, accept: [key, token, seen] }',
    ],
    finds: ['authentication/request-signature @ /authentication/schemes/seen/value'],
  },
  {
    snippets: [
      'authentication: { schemes: { seen: { type: hmac, header: X-Seen, value: "{key_id}{hmac-sha256:hex}", signs: "{body}" } }, accept: [key, token, seen] }',
    ],
    finds: ['authentication/request-signature @ /authentication/schemes/seen/value'],
  },
  {
    snippets: [
      'authentication: { schemes: { seen: { type: hmac, header: X-Seen, value: "{key_id}=é{hmac-sha256:hex}", signs: "{body}" } }, accept: [key, token, seen] }',
    ],
    finds: ['authentication/request-signature @ /authentication/schemes/seen/value'],
  },
  {
    snippets: [
      'authentication: { schemes: { seen: { type: hmac, header: X-Seen, value: "{key_id}:{hmac-sha256:hex}", signs: "{bdy}" } }, accept: [key, token, seen] }',
    ],
    finds: ['authentication/request-signature @ /authentication/schemes/seen/signs'],
  },
  {
    snippets: [
      'authentication: { schemes: { seen: { type: hmac, header: X-Seen, value: "{key_id}:{hmac-sha256:hex}", signs: "{body}", headers: { "X Key": "{nonce}" } } }, accept: [key, token, seen] }',
    ],
    finds: ['authentication/request-signature @ /authentication/schemes/seen/headers/X Key'],
  },
  {
    snippets: [
      'authentication: { schemes: { seen: { type: hmac, header: X-Seen, value: "{key_id}", signs: "{body}" } }, accept: [key, token, seen] }',
    ],
    finds: ['authentication/request-signature @ /authentication/schemes/seen/value'],
  },
  {
    snippets: [
      'authentication: { schemes: { seen: { type: hmac, header: X-Seen, value: "{hmac-sha256:hex}", signs: "{body}" } }, accept: [key, token, seen] }',
    ],
    finds: ['authentication/request-signature @ /authentication/schemes/seen/value'],
  },
  {
    snippets: [
      'authentication: { schemes: { seen: { type: hmac, header: X-Seen, value: "{key_id}:{key_id}:{hmac-sha256:hex}", signs: "{body}" } }, accept: [key, token, seen] }',
    ],
    finds: ['authentication/request-signature @ /authentication/schemes/seen/value'],
  },
  {
    snippets: [
      'authentication: { schemes: { seen: { type: hmac, header: X-Seen, value: "{key_id}:{timestamp}:{hmac-sha256:hex}", signs: "{body}" } }, accept: [key, token, seen] }',
    ],
    finds: ['authentication/request-signature @ /authentication/schemes/seen/signs'],
  },
  {
    snippets: [
      'authentication: { schemes: { seen: { type: hmac, header: X-Seen, value: "{key_id}:{hmac-sha256:hex}", signs: "{timestamp}{body}" } }, accept: [key, token, seen] }',
    ],
    finds: ['authentication/request-signature @ /authentication/schemes/seen/signs'],
  },
  {
    snippets: [
      'authentication: { schemes: { seen: { type: hmac, header: X-Seen, value: "{key_id}:{hmac-sha256:hex}", signs: "{body}", replay: refuse } }, accept: [key, token, seen] }',
    ],
    finds: ['authentication/request-signature @ /authentication/schemes/seen/replay'],
  },
  {
    snippets: [
      'authentication: { schemes: { seen: { type: hmac, header: X-Seen, value: "{key_id}:{hmac-sha256:hex}", signs: "{body}", tolerance: 2h } }, accept: [key, token, seen] }',
    ],
    finds: ['authentication/request-signature @ /authentication/schemes/seen/tolerance'],
  },
  {
    snippets: [
      'authentication: { schemes: { seen: { type: hmac, header: X-Seen, value: "{hmac-sha256:hex}", headers: { x-seen: "{key_id}", X-Time: "{timestamp}", X-time: "{nonce}" }, signs: "{timestamp}{nonce}{body}" } }, accept: [key, token, seen] }',
    ],
    finds: [
      'authentication/request-signature @ /authentication/schemes/seen/headers/x-seen',
      'authentication/request-signature @ /authentication/schemes/seen/headers/X-time',
    ],
  },
  {
    snippets: ['authentication: { schemes: { seen: { type: http_signature,  } }, accept: [key, token, seen] }'],
    finds: ['authentication/request-signature @ /authentication/schemes/seen'],
  },
  {
    snippets: [
      'authentication: { schemes: { seen: { type: http_signature, algorithms: [ES256], covers: ["@method", "@method", Date] } }, accept: [key, token, seen] }',
    ],
    finds: [
      'authentication/request-signature @ /authentication/schemes/seen/algorithms/0',
      'authentication/request-signature @ /authentication/schemes/seen/covers/1',
      'authentication/request-signature @ /authentication/schemes/seen/covers/2',
    ],
  },
  {
    snippets: [
      'authentication: { schemes: { seen: { type: hmac, query: seen, value: "{key_id}:{hmac-sha256:hex}", signs: "{body}" } }, accept: [key, token, seen] }',
    ],
    finds: ['authentication/request-signature @ /authentication/schemes/seen/query'],
  },
  {
    snippets: [
      'authentication: { schemes: { key: { signs: "{body}", audience: notes }, token: { algorithms: [ES256, PS256, ES256], headers: { X-Key: "{key_id}" } } } }',
    ],
    finds: [
      'authentication/scheme-word @ /authentication/schemes/key/signs',
      'authentication/scheme-word @ /authentication/schemes/key/audience',
      'authentication/algorithm-twice @ /authentication/schemes/token/algorithms/2',
      'authentication/scheme-word @ /authentication/schemes/token/headers',
    ],
  },
  {
    snippets: [
      'authentication: { schemes: { seen: { type: hmac, header: X-Seen, value: "{key_id}:{timestamp}:{hmac-sha256:hex}", signs: "{timestamp}{path}{query}" }, system: { type: http_signature, algorithms: [ed25519, ed25519], covers: ["@target-uri", date] } }, accept: [key, token, seen, system] }',
    ],
    finds: [
      'authentication/signs-little @ /authentication/schemes/seen/signs',
      'authentication/algorithm-twice @ /authentication/schemes/system/algorithms/1',
      'authentication/signs-little @ /authentication/schemes/system/covers',
    ],
  },
  {
    snippets: ['authentication: { schemes: { seen: { type: mutual_tls, query: cert } }, accept: [key, token, seen] }'],
    finds: ['authentication/certificate-place @ /authentication/schemes/seen'],
  },
  {
    snippets: [
      'authentication: { schemes: { seen: { type: mutual_tls } }, accept: [key, token, seen] }',
      'limits: { trust_proxies: none }',
    ],
    finds: ['authentication/certificate-of-anyone @ /authentication/schemes/seen'],
  },
  {
    snippets: ['authentication: { schemes: { token: { algorithms: [ES256, none] } } }'],
    finds: ['authentication/algorithm-none @ /authentication/schemes/token/algorithms/1'],
  },
  {
    snippets: ['authentication: { schemes: { token: { algorithms: [ES265] } } }'],
    finds: ['authentication/unknown-algorithm @ /authentication/schemes/token/algorithms/0'],
  },
  {
    snippets: ['authentication: { schemes: { token: { algorithms: [ES256, HS256] } } }'],
    finds: ['authentication/algorithm-without-key @ /authentication/schemes/token/algorithms/1'],
  },
  {
    snippets: ['authentication: { schemes: { token: { lifetime: soon } } }'],
    finds: ['authentication/lifetime @ /authentication/schemes/token/lifetime'],
  },
  {
    snippets: ['authentication: { schemes: { token: { typ: an access token } } }'],
    finds: ['authentication/token-type @ /authentication/schemes/token/typ'],
  },
  {
    snippets: ['authentication: { public: [handler count, handler cuont] }'],
    finds: ['authentication/unknown-operation @ /authentication/public/1'],
  },
  {
    snippets: [
      'authentication: { permissions: [{ allow: [create note, update note, publish note, delete note, create book, read note, list note, notes of a book, archive note, all hook, stream events], to: [writer, reader] }] }',
    ],
    finds: ['authentication/not-callable @ /authentication/permissions/0/allow/8'],
  },
  {
    snippets: [
      'authentication: { permissions: [{ allow: [all note, all book, all hook, stream events], to: [writer, raeder] }] }',
    ],
    finds: ['authentication/unknown-user @ /authentication/permissions/0/to/1'],
  },
  {
    snippets: [
      'authentication: { permissions: [{ allow: [all note, all book, all hook, stream events], to: [writer, reader] }, { allow: all note, to: [] }] }',
    ],
    finds: ['authentication/allows-nobody @ /authentication/permissions/1/to'],
  },
  {
    snippets: [
      'authentication: { permissions: [{ allow: [all note, all book, all hook, stream events], to: [writer, reader] }, { allow: [], to: writer }] }',
    ],
    finds: ['authentication/allows-nothing @ /authentication/permissions/1/allow'],
  },
  {
    snippets: [
      'authentication: { schemes: null }',
      '{ authentication: { schemes: { sign_in: { type: oauth2, scopes: { notes: Keep notes. } } }, permissions: [{ allow: [all note, all book, all hook, stream events], to: [writer, reader], scopes: [notes, note] }] } }',
    ],
    finds: ['authentication/unknown-scope @ /authentication/permissions/0/scopes/1'],
  },
  {
    snippets: ['authentication: { permissions: [{ allow: [all note, all hook], to: [writer, reader] }] }'],
    finds: [
      'authentication/nobody-may-call @ /endpoints/POST ~1books',
      'authentication/nobody-may-call @ /events/delivery/stream',
    ],
  },
  {
    snippets: ['authentication: { public: [handler count, list hook] }'],
    finds: ['authentication/public-and-permitted @ /authentication/permissions/2/allow/1'],
  },
  {
    snippets: [
      'authentication: { permissions: [{ allow: [all note, all book, all hook, stream events], to: [writer, reader] }, { allow: [read note], to: reader, fields: [id, titel] }, { allow: [create note], to: reader, fields: [id] }] }',
    ],
    finds: [
      'authentication/unknown-shown-field @ /authentication/permissions/1/fields/1',
      'authentication/fields-of-nothing @ /authentication/permissions/2/fields',
    ],
  },
];
