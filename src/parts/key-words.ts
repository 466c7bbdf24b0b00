/**
 * What a key as another language calls it is called here, where a place has what was meant: `min` of a text is `minLength`, and of a
 * resource `properties` are `fields`. `type` is that of the shape at the place, where it says one.
 */
export function keyMeant(word: string, known: readonly string[], type: unknown): string | undefined {
  const plain = word.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
  const targets = ofOthers.get(plain)?.filter((one) => known.includes(one)) ?? [];
  if (targets.length === 0) return said.find(([words, key]) => words.includes(plain) && known.includes(key))?.[2];
  const prefix = String(type).replace(/\?$/, '') === 'string' ? 'Length' : type === 'array' ? 'Items' : undefined;
  const ofType = prefix === undefined ? undefined : targets.find((one) => one.endsWith(prefix));
  return `Write \`${ofType ?? targets[0]}\`.`;
}

const ofOthers = new Map<string, readonly string[]>([
  ['min', ['minimum', 'minLength', 'minItems']],
  ['max', ['maximum', 'maxLength', 'maxItems']],
  ...['gte', 'ge', 'atleast'].map((word) => [word, ['minimum']] as const),
  ...['lte', 'le', 'atmost'].map((word) => [word, ['maximum']] as const),
  ['gt', ['exclusiveMinimum']],
  ['lt', ['exclusiveMaximum']],
  ['length', ['maxLength', 'maxItems']],
  ['size', ['maxLength', 'maxItems']],
  ...['values', 'options', 'choices', 'allowed', 'oneof'].map((word) => [word, ['enum', 'states']] as const),
  ...['regex', 'regexp', 'matches'].map((word) => [word, ['pattern']] as const),
  ...['mandatory', 'notnull'].map((word) => [word, ['required']] as const),
  ...['references', 'foreignkey', 'belongsto'].map((word) => [word, ['ref']] as const),
  ...['readonly', 'immutable'].map((word) => [word, ['readOnly']] as const),
  ...['properties', 'attributes', 'columns'].map((word) => [word, ['fields']] as const),
  ...['primarykey', 'key', 'id'].map((word) => [word, ['identifier']] as const),
  ...['operationid', 'name'].map((word) => [word, ['as']] as const),
  ...['body', 'requestbody', 'payload'].map((word) => [word, ['request']] as const),
  ...['returns', 'responses', 'answer', 'answers'].map((word) => [word, ['response']] as const),
  ...['query', 'params', 'queryparameters'].map((word) => [word, ['parameters']] as const),
  ...['period', 'interval', 'every'].map((word) => [word, ['window']] as const),
  ...['requests', 'count', 'calls'].map((word) => [word, ['limit']] as const),
  ...['start', 'begin'].map((word) => [word, ['initial']] as const),
  ...['actions', 'edges'].map((word) => [word, ['transitions']] as const),
]);

/** What is said otherwise than by a key: the words, a key by which the place is known, and what to write. */
const said: readonly (readonly [readonly string[], string, string])[] = [
  [['nullable', 'null'], 'minLength', 'Put a `?` behind the type: `type: string?`.'],
  [['optional'], 'minLength', 'Leave it out: what is not `required` is optional.'],
  [['unique'], 'minLength', 'It stands beside `fields`, with the names of fields: `unique: [[name]]`.'],
  [['auth', 'security', 'roles'], 'does', 'Who may call stands under `authentication`: `permissions`.'],
];
