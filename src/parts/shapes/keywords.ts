/** What stands under a keyword: one schema, several, a map of them by name, or what holds none. */
export type Holding = 'schema' | 'schemas' | 'schema map';
export type PlainValue = 'text' | 'count' | 'number' | 'flag' | 'json' | 'list' | 'words' | 'word map';

/**
 * What a keyword does. The first six speak of the value itself: it has to fit all schemas of a conjunction, one or more of the
 * alternatives, exactly one of the exclusive ones, and not the one of a negation; a condition is tried, and a consequence of it
 * holds or does not. `members` to `contained` speak of what stands inside the value, `names` of what its members are called.
 * `content` is what a text decodes to, `definitions` are there to be referred to, an `assertion` holds no schema, and a `note`
 * asks nothing of a value.
 */
export type Meaning =
  | 'conjunction'
  | 'alternatives'
  | 'exclusive alternatives'
  | 'negation'
  | 'condition'
  | 'consequence'
  | 'members'
  | 'other members'
  | 'items'
  | 'first items'
  | 'contained'
  | 'names'
  | 'content'
  | 'definitions'
  | 'reference'
  | 'assertion'
  | 'note';

export interface Keyword {
  readonly takes: Holding | PlainValue;
  readonly means: Meaning;
  /** The types of the values that it says something about; of all where it is absent. */
  readonly about?: readonly string[];
  /** Whether only drafts before 2020-12 have it. */
  readonly isOld?: true;
}

const texts = ['string'];
const numbers = ['number', 'integer'];
const lists = ['array'];
const objects = ['object'];

/**
 * The keywords of JSON Schema 2020-12 (Core sections 8 and 10, Validation sections 6 to 9), and those that OpenAPI has beside them.
 * Whatever walks over shapes is derived from this table, and no other file says what a keyword means.
 */
export const keywords: ReadonlyMap<string, Keyword> = new Map<string, Keyword>([
  ['$ref', { takes: 'text', means: 'reference' }],
  ['$dynamicRef', { takes: 'text', means: 'reference' }],
  ['$defs', { takes: 'schema map', means: 'definitions' }],
  ['definitions', { takes: 'schema map', means: 'definitions', isOld: true }],
  ['oneOf', { takes: 'schemas', means: 'exclusive alternatives' }],
  ['anyOf', { takes: 'schemas', means: 'alternatives' }],
  ['allOf', { takes: 'schemas', means: 'conjunction' }],
  ['not', { takes: 'schema', means: 'negation' }],
  ['if', { takes: 'schema', means: 'condition' }],
  ['then', { takes: 'schema', means: 'consequence' }],
  ['else', { takes: 'schema', means: 'consequence' }],
  ['dependentSchemas', { takes: 'schema map', means: 'consequence', about: objects }],
  ['properties', { takes: 'schema map', means: 'members', about: objects }],
  ['patternProperties', { takes: 'schema map', means: 'other members', about: objects }],
  ['additionalProperties', { takes: 'schema', means: 'other members', about: objects }],
  ['unevaluatedProperties', { takes: 'schema', means: 'other members', about: objects }],
  ['propertyNames', { takes: 'schema', means: 'names', about: objects }],
  ['items', { takes: 'schema', means: 'items', about: lists }],
  ['additionalItems', { takes: 'schema', means: 'items', about: lists, isOld: true }],
  ['unevaluatedItems', { takes: 'schema', means: 'items', about: lists }],
  ['prefixItems', { takes: 'schemas', means: 'first items', about: lists }],
  ['contains', { takes: 'schema', means: 'contained', about: lists }],
  ['contentSchema', { takes: 'schema', means: 'content', about: texts }],
  ['type', { takes: 'json', means: 'assertion' }],
  ['const', { takes: 'json', means: 'assertion' }],
  ['enum', { takes: 'list', means: 'assertion' }],
  ['format', { takes: 'text', means: 'assertion', about: [...texts, ...numbers] }],
  ['pattern', { takes: 'text', means: 'assertion', about: texts }],
  ['minLength', { takes: 'count', means: 'assertion', about: texts }],
  ['maxLength', { takes: 'count', means: 'assertion', about: texts }],
  ['minimum', { takes: 'number', means: 'assertion', about: numbers }],
  ['maximum', { takes: 'number', means: 'assertion', about: numbers }],
  ['exclusiveMinimum', { takes: 'number', means: 'assertion', about: numbers }],
  ['exclusiveMaximum', { takes: 'number', means: 'assertion', about: numbers }],
  ['multipleOf', { takes: 'number', means: 'assertion', about: numbers }],
  ['minItems', { takes: 'count', means: 'assertion', about: lists }],
  ['maxItems', { takes: 'count', means: 'assertion', about: lists }],
  ['uniqueItems', { takes: 'flag', means: 'assertion', about: lists }],
  ['minContains', { takes: 'count', means: 'assertion', about: lists }],
  ['maxContains', { takes: 'count', means: 'assertion', about: lists }],
  ['minProperties', { takes: 'count', means: 'assertion', about: objects }],
  ['maxProperties', { takes: 'count', means: 'assertion', about: objects }],
  ['required', { takes: 'words', means: 'assertion', about: objects }],
  ['dependentRequired', { takes: 'word map', means: 'assertion', about: objects }],
  ['contentEncoding', { takes: 'text', means: 'note', about: texts }],
  ['contentMediaType', { takes: 'text', means: 'note', about: texts }],
  ['title', { takes: 'text', means: 'note' }],
  ['description', { takes: 'text', means: 'note' }],
  ['$comment', { takes: 'text', means: 'note' }],
  ['$schema', { takes: 'text', means: 'note' }],
  ['$id', { takes: 'text', means: 'note' }],
  ['$anchor', { takes: 'text', means: 'note' }],
  ['$dynamicAnchor', { takes: 'text', means: 'note' }],
  ['default', { takes: 'json', means: 'note' }],
  ['example', { takes: 'json', means: 'note' }],
  ['examples', { takes: 'list', means: 'note' }],
  ['readOnly', { takes: 'flag', means: 'note' }],
  ['writeOnly', { takes: 'flag', means: 'note' }],
  ['deprecated', { takes: 'flag', means: 'note' }],
  ['xml', { takes: 'json', means: 'note' }],
]);

/** How a keyword holds schemas; nothing for one that holds none. Those that only older drafts have are asked for. */
export function holdingOf(keyword: string, withOld = false): Holding | undefined {
  return holdings.get(keyword) ?? (withOld ? oldHoldings.get(keyword) : undefined);
}

function holdingsWhere(isOld: boolean): ReadonlyMap<string, Holding> {
  return new Map(
    [...keywords].flatMap(([word, { takes, isOld: own = false }]): [string, Holding][] =>
      own === isOld && (takes === 'schema' || takes === 'schemas' || takes === 'schema map') ? [[word, takes]] : [],
    ),
  );
}

// Asked for every keyword of every shape of a document.
const holdings = holdingsWhere(false);
const oldHoldings = holdingsWhere(true);

/** The keywords of some meanings, in the order of the table. */
export function keywordsThatMean(...meanings: readonly Meaning[]): readonly string[] {
  return [...keywords].flatMap(([word, { means }]) => (meanings.includes(means) ? [word] : []));
}

/** Whether a keyword lists alternatives. */
export function isUnion(keyword: string): boolean {
  const means = keywords.get(keyword)?.means;
  return means === 'alternatives' || means === 'exclusive alternatives';
}

/** The words by which schemas are put together: of all, of one or several, of exactly one. */
export const conjunctionWord = 'allOf';
export const alternativesWord = 'anyOf';
export const exclusiveWord = 'oneOf';
