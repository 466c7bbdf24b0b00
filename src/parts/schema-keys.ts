/** The keywords of JSON Schema 2020-12 whose value is a schema (section 10). */
export const schemaKeys: ReadonlySet<string> = new Set([
  'items',
  'additionalProperties',
  'contains',
  'not',
  'if',
  'then',
  'else',
  'propertyNames',
  'unevaluatedItems',
  'unevaluatedProperties',
  'contentSchema',
]);

/** Those whose value is a list of schemas. */
export const schemaListKeys: ReadonlySet<string> = new Set(['oneOf', 'anyOf', 'allOf', 'prefixItems']);

/** Those whose value is a map of schemas. */
export const schemaMapKeys: ReadonlySet<string> = new Set(['properties', 'patternProperties', '$defs', 'dependentSchemas']);
