import type { Pointer } from '../document/document.ts';
import type { Expression, Fact, Named } from './fact.ts';
import { named, type Source } from './source.ts';

/** Part 5: who may do what, and how they show who they are. */
export interface Authentication {
  readonly at: Pointer;
  readonly schemes: Fact<Named<Scheme>>;
  /** The schemes that are accepted, each alone; absent = every stated one. */
  readonly accept?: readonly string[];
  /** Operations at which no credential is looked at. */
  readonly public: readonly string[];
  readonly origins: Fact<readonly string[]>;
  readonly permissions: Fact<readonly Permission[]>;
}

export type SchemeType = 'api_key' | 'basic' | 'jwt' | 'oauth2' | 'signature';

export interface Scheme {
  readonly name: string;
  readonly at: Pointer;
  readonly type: SchemeType | undefined;
  /** Where the credential stands, and under which name. */
  readonly in: 'header' | 'query' | 'cookie';
  readonly carrier: Fact<string>;
  readonly prefix?: string;
  readonly generate?: string;
  readonly placeholder: Fact<string>;
  readonly issuer?: string;
  readonly audience?: string;
  readonly algorithms?: readonly string[];
  readonly jwks?: string;
  readonly secretEnv?: string;
  readonly caller: { readonly id?: Expression; readonly user?: Expression; readonly scopes?: Expression };
  readonly flows: Named<Named<string>>;
  readonly scopes: Named<string>;
}

export interface Permission {
  readonly at: Pointer;
  readonly allow: readonly string[];
  readonly to: readonly string[] | 'anyone';
  readonly scopes: readonly string[];
  readonly if?: Expression;
  readonly else?: string;
}

export function readAuthentication(source: Source): Authentication {
  const whole = source.unstated();
  const none = whole?.standing === 'none' ? whole : undefined;
  return {
    at: source.at,
    schemes:
      none ??
      source
        .get('schemes')
        .fact((value) => named(value.entries().map(([name, entry]) => [name, readScheme(name, entry)] as const))),
    ...(source.has('accept') && { accept: source.get('accept').words() }),
    public: source.get('public').unstated() ? [] : source.get('public').words(),
    origins: source.get('origins').fact((value) => value.words()),
    permissions: none ?? source.get('permissions').fact((value) => value.items().map(readPermission)),
  };
}

function readScheme(name: string, source: Source): Scheme {
  const type = source.get('type').text();
  const place = source.has('query') ? 'query' : source.has('cookie') ? 'cookie' : 'header';
  const words: Record<string, string> = {};
  for (const word of ['prefix', 'generate', 'issuer', 'audience', 'jwks'] as const) {
    const text = source.get(word).text();
    if (text !== undefined) words[word] = text;
  }
  const secretEnv = source.get('secret_env').text();
  const caller = source.get('caller');
  const carrier = source.get(place);
  const defaultsToAuthorization = carrier.value === undefined && type !== 'api_key' && type !== 'signature' && type !== undefined;
  return {
    name,
    at: source.at,
    type: isSchemeType(type) ? type : undefined,
    in: place,
    carrier: defaultsToAuthorization
      ? { standing: 'stated', value: 'Authorization', at: source.at }
      : carrier.fact((value) => value.text(), 'tags only'),
    ...words,
    placeholder: source.get('placeholder').fact((value) => value.text(), 'tags only'),
    ...(source.has('algorithms') && { algorithms: source.get('algorithms').words() }),
    ...(secretEnv !== undefined && { secretEnv }),
    caller: {
      ...(caller.has('id') && { id: caller.get('id').expression() as Expression }),
      ...(caller.has('user') && { user: caller.get('user').expression() as Expression }),
      ...(caller.has('scopes') && { scopes: caller.get('scopes').expression() as Expression }),
    },
    flows: named(
      source
        .get('flows')
        .entries()
        .map(
          ([flow, entry]) => [flow, named(entry.entries().map(([key, value]) => [key, value.text() ?? ''] as const))] as const,
        ),
    ),
    scopes: named(
      source
        .get('scopes')
        .entries()
        .map(([scope, text]) => [scope, text.text() ?? ''] as const),
    ),
  };
}

function isSchemeType(word: string | undefined): word is SchemeType {
  return word === 'api_key' || word === 'basic' || word === 'jwt' || word === 'oauth2' || word === 'signature';
}

function readPermission(source: Source): Permission {
  const to = source.get('to').words();
  const condition = source.get('if').expression();
  const orElse = source.get('else').text();
  return {
    at: source.at,
    allow: source.get('allow').words(),
    to: to.length === 1 && to[0] === 'anyone' ? 'anyone' : to,
    scopes: source.get('scopes').words(),
    ...(condition && { if: condition }),
    ...(orElse !== undefined && { else: orElse }),
  };
}
