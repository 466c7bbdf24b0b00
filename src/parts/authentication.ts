import type { Pointer } from '../document/document.ts';
import { prefixOf, type SchemeWord, schemeKind, schemeKinds, schemeWord } from '../kinds/schemes/all.ts';
import type { PlacedScheme, SchemeFacts, SchemeKind } from '../kinds/schemes/kind.ts';
import { type Expression, entriesOf, type Fact, type Named, statedValue } from './fact.ts';
import { named, type Source } from './source.ts';

/** Part 5: who may do what, and how they show who they are. */
export interface Authentication {
  readonly at: Pointer;
  readonly schemes: Fact<Named<Scheme>>;
  /** What is accepted: all schemes of one of these sets; absent = every stated one, each alone. */
  readonly accept?: readonly SchemeSet[];
  /** What is known of a caller beside its identifier, by name, and what each says. */
  readonly attributes: Named<string>;
  /** Operations at which no credential is looked at. */
  readonly public: readonly string[];
  /** Whether they are public since nothing is said of them, where other operations ask for a credential. */
  readonly isPublicInferred: boolean;
  readonly origins: Fact<readonly string[]>;
  readonly permissions: Fact<readonly Permission[]>;
}

/** Schemes of which a caller shows a credential each, at once. */
export type SchemeSet = readonly string[];

export interface Scheme extends SchemeFacts {
  readonly at: Pointer;
  /** Its kind; nothing where it is none of them. */
  readonly type: SchemeWord | undefined;
  /** The name of the header, query parameter or cookie that its credential stands in. */
  readonly carrier: Fact<string>;
  readonly placeholder: Fact<string>;
  readonly caller: {
    readonly id?: Expression;
    readonly user?: Expression;
    readonly scopes?: Expression;
    readonly attributes: Named<Expression>;
  };
}

/** The kind of a scheme; nothing where it is none of them. */
export function kindOfScheme({ type }: Pick<Scheme, 'type'>): SchemeKind | undefined {
  return schemeKind(type);
}

/** A scheme with the place of its credential as kinds speak of it. */
export function placed(scheme: Scheme): PlacedScheme & Scheme {
  const carriedIn = statedValue(scheme.carrier);
  return carriedIn === undefined ? scheme : { ...scheme, carriedIn };
}

/** What stands before a credential of a scheme: what is stated, or what is usual. */
export function schemePrefix(scheme: Scheme): string | undefined {
  return prefixOf(placed(scheme));
}

export interface Permission {
  readonly at: Pointer;
  readonly allow: readonly string[];
  readonly to: readonly string[] | 'anyone';
  readonly scopes: readonly string[];
  readonly if?: Expression;
  readonly else?: string;
  /** The fields that it shows of the rows that it lets one read; all of them where none are named. */
  readonly fields?: readonly string[];
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
    ...(source.has('accept') && { accept: readSchemeSets(source.get('accept')) }),
    attributes: named(
      source
        .get('attributes')
        .entries()
        .map(([name, entry]) => [name, entry.text() ?? ''] as const),
    ),
    public: source.get('public').unstated() ? [] : source.get('public').words(),
    isPublicInferred: source.get('public').fact(() => true).standing === 'inferred',
    origins: source.get('origins').fact((value) => value.words()),
    permissions: none ?? source.get('permissions').fact((value) => value.items().map(readPermission)),
  };
}

/** Alternatives, each of them one scheme or a list of schemes that are shown together. */
export function readSchemeSets(source: Source): readonly SchemeSet[] {
  return source.items().map((item) => item.words());
}

/** The words that belong to one kind of scheme or another. */
const ownWords = schemeKinds.flatMap(({ members }) => Object.keys(members));

function readScheme(name: string, source: Source): Scheme {
  const type = schemeWord(source.get('type').text());
  const place = source.has('query') ? 'query' : source.has('cookie') ? 'cookie' : 'header';
  const words: Record<string, string> = {};
  for (const word of ['prefix', 'generate', 'issuer', 'audience', 'jwks'] as const) {
    const text = source.get(word).text();
    if (text !== undefined) words[word] = text;
  }
  const secretEnv = source.get('secret_env').text();
  const caller = source.get('caller');
  const carrier = source.get(place);
  const usual = carrier.value === undefined ? schemeKind(type)?.usualHeader : undefined;
  return {
    name,
    at: source.at,
    type,
    in: place,
    carrier:
      usual !== undefined
        ? { standing: 'stated', value: usual, at: source.at }
        : carrier.fact((value) => value.text(), 'tags only'),
    ...words,
    own: source.members(ownWords, ({ value }) => value),
    placeholder: source.get('placeholder').fact((value) => value.text(), 'tags only'),
    ...(source.has('algorithms') && { algorithms: source.get('algorithms').words() }),
    ...(secretEnv !== undefined && { secretEnv }),
    caller: {
      ...(caller.has('id') && { id: caller.get('id').expression() as Expression }),
      ...(caller.has('user') && { user: caller.get('user').expression() as Expression }),
      ...(caller.has('scopes') && { scopes: caller.get('scopes').expression() as Expression }),
      attributes: caller.get('attributes').expressions(),
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
    ...(source.has('fields') && { fields: source.get('fields').words() }),
  };
}

/** Where words of its own say what is accepted. */
interface Accepting {
  readonly accept?: readonly SchemeSet[];
}

/** The parts of a document that say what is accepted. */
interface Accepted {
  readonly authentication: Authentication;
  readonly endpoints: { readonly all: Fact<Named<Accepting>> };
}

/** What callers may show at an endpoint: all of one of these sets. Without words of its own that is what the document accepts, else each stated scheme alone. */
export function acceptedSets(authentication: Authentication, endpoint?: Accepting): readonly SchemeSet[] {
  return endpoint?.accept ?? authentication.accept ?? entriesOf(authentication.schemes).map(([name]) => [name]);
}

const namesBySpec = new WeakMap<Accepted, ReadonlySet<string>>();

/** The schemes that are accepted somewhere: by the document as a whole, or at one of its endpoints. */
export function acceptedNames(spec: Accepted): ReadonlySet<string> {
  const known = namesBySpec.get(spec);
  if (known) return known;
  const own = entriesOf(spec.endpoints.all).flatMap(([, { accept }]) => accept ?? []);
  const names = new Set([...acceptedSets(spec.authentication), ...own].flat());
  namesBySpec.set(spec, names);
  return names;
}
