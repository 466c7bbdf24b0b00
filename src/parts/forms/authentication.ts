import { Type } from 'typebox';
import { cel, exampled, fact, keys, namedForm, ref, value, Words } from './standing.ts';

const text = Type.String();

/** A scheme without the words that belong to its kinds. */
export const SchemeForm = keys({
  type: value(ref<string>('schemeType')),
  header: value(text, 'The header that carries the credential.'),
  query: value(text, 'The query parameter that carries it.'),
  cookie: value(text, 'The cookie that carries it.'),
  prefix: text,
  placeholder: value(text, 'What stands for a credential in examples: {api_key}.'),
  caller: keys({
    id: cel('the caller’s identifier, over claims'),
    user: cel('which user it is'),
    scopes: cel('its scopes, a list'),
    attributes: namedForm(cel('an attribute of the caller; of a token, the claim of its name unless said')),
  }),
  scopes: namedForm(text),
  format: value(text, 'What the credential looks like.'),
  realm: text,
});

/** Alternatives of schemes that are shown together. */
export const AcceptForm = Type.Union([Type.String(), Type.Array(Words)]);

const PermissionForm = exampled(
  keys({
    allow: Words,
    to: Words,
    scopes: Words,
    if: cel('over resource, next, request, params and caller'),
    fields: value(Words, 'The fields that it shows of the rows that it lets one read; all of them unless named.'),
    else: Type.String({ description: 'The error of a refusal.' }),
  }),
  { allow: 'list parcel', to: 'merchant' },
);

export const AuthenticationForm = fact(
  keys({
    schemes: fact(namedForm(value(ref<unknown>('scheme'))), 'How a caller shows who it is.'),
    accept: fact(AcceptForm, 'What is accepted: one scheme, or all schemes of a list inside the list.'),
    attributes: namedForm(
      text,
      'What is known of a caller beside its identifier, as texts: `{ tenant: The firm that it works for. }`.',
    ),
    public: fact(Words, 'Operations at which no credential is looked at.'),
    origins: fact(Words, 'The origins that browsers may call from (CORS).'),
    permissions: fact(Type.Array(value(PermissionForm)), 'Who may do what. What no rule allows is refused.'),
  }),
  'Part 5: authentication and permissions.',
);
