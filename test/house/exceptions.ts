/**
 * What the house does not keep yet, or never will, and why. Tables with reasons are for what is better so; the lists are what is
 * left to do: they may only become shorter, and the house test names an entry that is not needed any more.
 */

/** Files of `src` over 300 lines, each with the reason why splitting it would make it worse. */
export const longFiles: Readonly<Record<string, string>> = {};

/** Functions over 60 lines, each with the reason why its steps stand in one. */
export const longFunctions: Readonly<Record<string, string>> = {
  'src/convert/json-schema/write/schema-writer.ts#writeSchemas':
    'compiled in one closure, whose steps share what was worked out once for all requests',
  'src/serve/callers/authentication.ts#withSchemes':
    'compiled in one closure, whose steps share what was worked out once for all requests',
  'src/serve/callers/tokens.ts#compileTokens':
    'compiled in one closure, whose steps share what was worked out once for all requests',
  'src/serve/operations/version-headers.ts#compileToldVersion':
    'compiled in one closure, whose steps share what was worked out once for all requests',
  'src/serve/service/serve-spec.ts#serveSpec':
    'compiled in one closure, whose steps share what was worked out once for all requests',
  'src/parts/versions/carry-resource.ts#carryResource':
    'compiled in one closure, whose steps share what was worked out once for all requests',
  'src/verify/endpoints/filters.ts#listFiltered':
    'compiled in one closure, whose steps share what was worked out once for all requests',
  'src/verify/events/delivering.ts#failing':
    'compiled in one closure, whose steps share what was worked out once for all requests',
  'src/verify/events/kept.ts#caseOf': 'compiled in one closure, whose steps share what was worked out once for all requests',
  'src/verify/events/receiver.ts#openReceiver':
    'compiled in one closure, whose steps share what was worked out once for all requests',
  'src/verify/verify.ts#verify': 'compiled in one closure, whose steps share what was worked out once for all requests',
};

/** Files that tests alone reach, each with the reason why it lies in `src`. */
export const testsAlone: Readonly<Record<string, string>> = {
  'src/check/catalogue.ts': "the catalogue that the documents' tests hold the findings to",
  'src/kinds/pages/compare.ts': "the catalogue that the documents' tests hold the findings to",
};

/** Arrows between folders of one room that still go up. */
export const upwardArrows: readonly string[] = [
  'src/parts/shapes -> src/parts',
  'src/verify/authentication -> src/verify',
  'src/verify/client -> src/verify',
  'src/verify/endpoints -> src/verify',
  'src/verify/endpoints -> src/verify/states',
  'src/verify/errors -> src/verify',
  'src/verify/errors -> src/verify/endpoints',
  'src/verify/errors -> src/verify/states',
  'src/verify/events -> src/verify',
  'src/verify/events -> src/verify/authentication',
  'src/verify/limits -> src/verify',
  'src/verify/limits -> src/verify/authentication',
  'src/verify/limits -> src/verify/versioning',
  'src/verify/make -> src/verify',
  'src/verify/make -> src/verify/errors',
  'src/verify/model -> src/verify/make',
  'src/verify/model -> src/verify/values',
  'src/verify/purpose -> src/verify',
  'src/verify/purpose -> src/verify/versioning',
  'src/verify/resources -> src/verify',
  'src/verify/resources -> src/verify/authentication',
  'src/verify/resources -> src/verify/states',
  'src/verify/script -> src/verify',
  'src/verify/script -> src/verify/client',
  'src/verify/script -> src/verify/make',
  'src/verify/script -> src/verify/model',
  'src/verify/script -> src/verify/values',
  'src/verify/states -> src/verify',
  'src/verify/states -> src/verify/authentication',
  'src/verify/versioning -> src/verify',
];

/** Exported names that still stand for several things. */
export const severalMeanings: readonly string[] = [
  'Access',
  'Bound',
  'Done',
  'Events',
  'Fields',
  'Inner',
  'Located',
  'Maker',
  'Means',
  'Member',
  'NearMiss',
  'Page',
  'Parameter',
  'Part',
  'Parts',
  'Payload',
  'Planned',
  'Prepared',
  'Prose',
  'Query',
  'Raw',
  'Reached',
  'Refusal',
  'Refused',
  'Resolve',
  'Rows',
  'Rule',
  'Schemas',
  'Scope',
  'Selection',
  'Source',
  'StandIn',
  'Subscriber',
  'Taken',
  'Template',
  'Timers',
  'Validate',
  'Value',
  'Versions',
  'Writing',
  'acceptedSchemes',
  'after',
  'bare',
  'both',
  'callerOf',
  'compileList',
  'conditions',
  'effectRules',
  'envelopeFlaw',
  'envelopeMembers',
  'envelopeOf',
  'errorCodes',
  'errorPayload',
  'expandableFields',
  'fieldWords',
  'fire',
  'fixed',
  'formats',
  'hiddenFields',
  'infer',
  'isEverShown',
  'isFailed',
  'isHidden',
  'isSame',
  'kept',
  'keys',
  'keywords',
  'lists',
  'memberOf',
  'membersOf',
  'misfitOf',
  'nothing',
  'nullable',
  'orNull',
  'pages',
  'paginationOf',
  'parametersOf',
  'pathOf',
  'preconditions',
  'propertiesOf',
  'readEndpoints',
  'readPagination',
  'readTemplate',
  'refuse',
  'replay',
  'retryAfterMs',
  'rowOf',
  'slotsOf',
  'statesOf',
  'taken',
  'typeName',
  'typesOf',
  'ulid',
  'unchanged',
  'valueAt',
  'valuesOf',
  'verbs',
  'writeAuthentication',
];

/** Exports that nobody imports. */
export const unusedExports: readonly string[] = [
  'src/kinds/formats/all.ts#FormatWord',
  'src/kinds/generators/all.ts#GeneratorWord',
  'src/verify/script/session.ts#Fields',
];

/** Files beside `src` that still close a circle of imports. */
export const circlesBeside: readonly string[] = ['bench/serve-report.ts'];
