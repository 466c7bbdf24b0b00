import { Type } from 'typebox';
import { cel, fact, keys, named, value, Words } from './standing.ts';

const text = Type.String();

const SchemeForm = keys({
  type: value(Type.Union(['api_key', 'basic', 'jwt', 'oauth2', 'signature'].map((type) => Type.Literal(type)))),
  header: value(text, 'The header that carries the credential.'),
  query: value(text, 'The query parameter that carries it.'),
  cookie: value(text, 'The cookie that carries it.'),
  prefix: text,
  generate: Type.String({ description: 'What a key looks like: pk_live_{random:32}.' }),
  placeholder: value(text, 'What stands for a credential in examples: {api_key}.'),
  issuer: value(text),
  audience: value(text),
  algorithms: value(Words, 'The signature algorithms that are accepted.'),
  jwks: value(text, 'The URL or file of the key set.'),
  secret_env: value(text, 'The environment variable that holds the shared secret.'),
  caller: keys({
    id: cel('the caller’s identifier, over claims'),
    user: cel('which user it is'),
    scopes: cel('its scopes, a list'),
  }),
  flows: named(named(Type.Union([text, named(text)]))),
  scopes: named(text),
  format: value(text, 'What the credential looks like.'),
  realm: text,
});

const PermissionForm = keys({
  allow: Words,
  to: Words,
  scopes: Words,
  if: cel('over resource, next, request, params and caller'),
  else: Type.String({ description: 'The error of a refusal.' }),
});

export const AuthenticationForm = fact(
  keys({
    schemes: fact(named(value(SchemeForm)), 'How a caller shows who it is.'),
    accept: fact(Words, 'The schemes that are accepted, each alone.'),
    public: fact(Words, 'Operations at which no credential is looked at.'),
    origins: fact(Words, 'The origins that browsers may call from (CORS).'),
    permissions: fact(Type.Array(value(PermissionForm)), 'Who may do what. What no rule allows is refused.'),
  }),
  'Part 5: authentication and permissions.',
);
