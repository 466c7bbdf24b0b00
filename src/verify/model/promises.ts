import type { Endpoint } from '../../parts/endpoints.ts';

/**
 * What a claim is founded on: a promise of the document; what services usually do and the document does not promise, held only where it
 * is asked for; or that no request makes the service fail.
 */
export type TrialClass = 'promise' | 'convention' | 'crash';

/** One row of the table of classes: what it holds where the document states what an operation does, and where that was read off. */
export interface ClassRow {
  /** The trial or the observer. */
  readonly of: string;
  /** What of it, where not all of it is of one class. */
  readonly what?: string;
  /** Where somebody stated what operations do: the rules of the language are promises then. */
  readonly stated: TrialClass;
  /** Where that was read off a document of others, such as OpenAPI; nothing where the trial holds nothing then. */
  readonly readOff: TrialClass | 'nothing';
  readonly because: string;
}

/** What the code asks for by its word: rules that are a promise in one sort of document and no more than usual in another. */
export const heldRules = {
  'a method that is not stated': {
    of: 'endpoints/routes',
    stated: 'promise',
    readOff: 'convention',
    because: 'a stated list is closed; OpenAPI does not say that what it leaves out is refused',
  },
  'a path that is not stated': {
    of: 'endpoints/routes',
    stated: 'promise',
    readOff: 'convention',
    because: 'the same; with a slash at the end too',
  },
  'Allow with 405': {
    of: 'endpoints/routes',
    stated: 'promise',
    readOff: 'convention',
    because: 'RFC 9110 section 15.5.6, which OpenAPI does not take up',
  },
  'success where 404 is listed': {
    of: 'resources/missing',
    stated: 'promise',
    readOff: 'promise',
    because: 'where 404 is listed, what is not there is answered with it',
  },
  'a query parameter that is not stated': {
    of: 'endpoints/parameters',
    stated: 'promise',
    readOff: 'convention',
    because: 'the language refuses it as `request.parameter`; OpenAPI says nothing of parameters that it does not list',
  },
  'Accept of what cannot be given': {
    of: 'endpoints/accepts',
    stated: 'promise',
    readOff: 'convention',
    because:
      'a promise where a code for `request.accept` is stated, else a convention: HTTP lets a service answer as it can (RFC 9110 section 12.5.1)',
  },
  'a body of another media type': {
    of: 'endpoints/media',
    stated: 'promise',
    readOff: 'convention',
    because: 'OpenAPI lists what is described, and does not say that the rest is refused',
  },
  'a format in a request': {
    of: 'endpoints/bodies',
    stated: 'promise',
    readOff: 'convention',
    because: 'a fact of the language; in JSON Schema `format` is a note unless a dialect asserts it',
  },
  'the word before a credential in any case': {
    of: 'authentication/who is calling',
    stated: 'promise',
    readOff: 'convention',
    because: 'RFC 9110 section 11.1, which OpenAPI does not take up',
  },
  'a challenge with 401': {
    of: 'authentication/who is calling',
    stated: 'promise',
    readOff: 'convention',
    because:
      'RFC 6750 section 3, RFC 7617 section 2, for a bearer token or a password in `Authorization`; OpenAPI does not take it up',
  },
  'a challenge with 401 for a credential of its own': {
    of: 'authentication/who is calling',
    stated: 'convention',
    readOff: 'convention',
    because:
      'RFC 9110 section 15.5.2 alone: no challenge is registered for keys, signatures and certificates, and no word of the language states one',
  },
  'the order of refusals': {
    of: 'authentication/who is calling',
    stated: 'promise',
    readOff: 'nothing',
    because: 'the stated order; where none is stated, and in OpenAPI, all but the credential has to be right in what is asked',
  },
  'refused under a status that is not listed': {
    of: 'endpoints/answers',
    stated: 'convention',
    readOff: 'promise',
    because:
      'where an operation lists what it refuses with, a refusal that it could know of is listed (OpenAPI 3.1 section 4.8.16)',
  },
  'missing, under a status that is not listed': {
    of: 'endpoints/answers',
    stated: 'convention',
    readOff: 'convention',
    because:
      '404 under a path with parameters, 401 and 403 where credentials are asked for, and what HTTP answers before an operation is come to, are seldom listed',
  },
  'what a refusal tells of the inside': {
    of: 'errors/refusals',
    stated: 'promise',
    readOff: 'convention',
    because: 'the payload that is stated is all that a refusal tells; a shape of OpenAPI says nothing of what is in a text',
  },
} as const satisfies Readonly<Record<string, ClassRow>>;

export type HeldRule = keyof typeof heldRules;

/** The trials and observers as a whole, but for what `heldRules` has of them. */
export const wholes: readonly ClassRow[] = [
  ...rowsOf(
    'resources/stored, resources/changed, resources/changed later, resources/derived, resources/derived edges, resources/children, resources/children changed, resources/kept, resources/counted, resources/found-by-key, resources/rules, resources/fixed, resources/named wrongly, resources/not writable',
    {
      readOff: 'convention',
      because: 'fields keep what they are given; a document of others states shapes, and nothing of what is kept',
    },
  ),
  ...rowsOf(
    'resources/unique, resources/unique changed, resources/unique raced, resources/unique raced later, resources/missing, resources/moved, resources/from the start, resources/references, resources/identifiers, resources/shown to, resources/shown on later pages',
    {
      readOff: 'convention',
      because: 'facts that OpenAPI has no word for: what is known of them was inferred',
    },
  ),
  ...rowsOf('resources/there, resources/shown shapes', {
    readOff: 'promise',
    because: 'rows fit the shapes of their resource, wherever they are shown',
  }),
  ...rowsOf(
    'states/shown states, states/initial, states/answered, states/transitions, states/moved by update, states/in states, states/sequences, states/timed sequences, states/conditions, states/edges, states/sent edges, states/choices, states/guards, states/timed guards, states/followed in time, states/following, states/races, states/timed, states/after time',
    { readOff: 'convention', because: 'OpenAPI has no states: those that are known were inferred of an enum' },
  ),
  ...rowsOf('endpoints/bodies, endpoints/media, endpoints/parameters, endpoints/handled, endpoints/bodiless', {
    readOff: 'promise',
    because: 'what fits the schemas is taken and what does not is refused, one keyword at a time',
  }),
  ...rowsOf('endpoints/answers, endpoints/stated routes, endpoints/called', {
    readOff: 'promise',
    because: 'statuses, media types, header fields and bodies of answers, 4xx too, are as they are listed',
  }),
  ...rowsOf('endpoints/deleting, endpoints/available', {
    readOff: 'promise',
    because:
      'success says that it was done (RFC 9110 section 9.3.5, 15.3.2); that a row is made or deleted is inferred of method and path',
  }),
  ...rowsOf('endpoints/accepts', { readOff: 'convention', because: 'entity tags are a word of the language' }),
  ...rowsOf(
    'endpoints/replies, endpoints/replacing, endpoints/merging, endpoints/locations, endpoints/preconditions, endpoints/idempotency, endpoints/keys later, endpoints/lists, endpoints/cursors, endpoints/pages, endpoints/shared pages, endpoints/safe methods',
    { readOff: 'convention', because: 'meanings of verbs, tags, keys and pages, which a document of others does not state' },
  ),
  ...rowsOf('endpoints/selected, endpoints/expanded', {
    readOff: 'convention',
    because: 'fields that are chosen, and references that are asked for, are words of the language',
  }),
  ...rowsOf('endpoints/computed', { readOff: 'nothing', because: 'what stated expressions come to; OpenAPI has none' }),
  ...rowsOf('purpose/base address, purpose/told addresses, purpose/functions, purpose/users', {
    readOff: 'convention',
    because: 'functions and users have no place in OpenAPI',
  }),
  ...rowsOf('authentication/who is calling', {
    readOff: 'promise',
    because: 'an operation that asks for a credential refuses whoever shows none, or one that nobody gave out',
  }),
  ...rowsOf(
    'authentication/users, authentication/rows, authentication/referring, authentication/stored, authentication/states, authentication/below, authentication/beside, authentication/schemes at doors, authentication/lists, authentication/look-ups, authentication/origins, authentication/token formats, authentication/signed requests',
    { readOff: 'convention', because: 'who may do what is open in OpenAPI' },
  ),
  ...rowsOf('errors/refusals', {
    readOff: 'convention',
    because:
      'the payload and the codes of all refusals are inferred; what an operation lists itself is held by endpoints/answers',
  }),
  ...rowsOf(
    'errors/own, errors/unchanged, errors/taken again, errors/taken by its maker, errors/taken in time, errors/never arising, errors/order, errors/first violation, errors/written places',
    {
      readOff: 'convention',
      because: 'conditions have no place in OpenAPI',
    },
  ),
  { of: 'errors/crashes', stated: 'crash', readOff: 'crash', because: 'no document promises that a service fails' },
  {
    of: 'errors/odd values',
    stated: 'crash',
    readOff: 'crash',
    because: 'values that are seldom thought of; only a failure is told',
  },
  ...rowsOf(
    'events/already so, events/at a time, events/by the clock, events/confirmed, events/delivered, events/disabled, events/emitted, events/families, events/following, events/tries, events/kept, events/log kept, events/logged, events/logged later, events/refused, events/resumed, events/unchanged',
    { readOff: 'convention', because: 'what is known of delivery was inferred' },
  ),
  ...rowsOf(
    'limits/pages, limits/quotas, limits/rates, limits/sizes, limits/times, limits/told costs, limits/told rates, limits/uncounted, limits/rows, limits/at once',
    {
      readOff: 'convention',
      because: 'OpenAPI has no limits but those of its schemas; pages were inferred',
    },
  ),
  ...rowsOf('versioning/ended, versioning/events, versioning/selected, versioning/shapes, versioning/there, versioning/uses', {
    readOff: 'convention',
    because: 'versions were inferred',
  }),
];

function rowsOf(names: string, row: Pick<ClassRow, 'readOff' | 'because'>): ClassRow[] {
  return names.split(', ').map((of) => ({ of, stated: 'promise', ...row }));
}

/** Whether the rules of the language that go with what an operation does are promised: somebody stated what it does. */
export function isByRule({ does }: Pick<Endpoint, 'does'>): boolean {
  return does.standing === 'stated';
}
