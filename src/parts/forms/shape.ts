import { Type } from 'typebox';
import { cel, fact, keys, namedForm, ref, value, Words } from './standing.ts';

const jsonValue = Type.Unknown();
const text = Type.String();
const count = Type.Integer({ minimum: 0 });

/** The keywords of JSON Schema 2020-12 that are schemas themselves refer back to `#/$defs/shape`. */
export const shapeRef = Type.Unsafe<unknown>({ $ref: '#/$defs/shape' });

const ChildrenTakers = Type.Union([Type.Literal('create'), Type.Literal('update'), Type.Literal('replace')]);

/** JSON Schema 2020-12 keywords, and the words of this language beside them. */
export const schemaWords = {
  type: Type.Unsafe<string | string[]>({
    anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }],
    description: 'A JSON type or a resource; a trailing ? makes it nullable; [parcel] is a list of it.',
  }),
  ref: Type.String({ description: 'The identifier of this resource, checked to exist.' }),
  shape: shapeRef,
  title: text,
  description: text,
  $schema: Type.Literal('https://json-schema.org/draft/2020-12/schema', { description: 'The dialect of every shape.' }),
  $comment: text,
  $id: Type.String({ description: 'The address of this schema, by which others of the same shape refer to it.' }),
  $anchor: text,
  $dynamicAnchor: text,
  $ref: text,
  $dynamicRef: text,
  $defs: namedForm(shapeRef),
  const: jsonValue,
  enum: Type.Array(jsonValue, { description: 'The allowed values.' }),
  examples: Type.Array(jsonValue),
  example: jsonValue,
  format: Type.String({
    description:
      'A format of JSON Schema, or ulid, int32, int64, decimal, unix-time, currency, country, phone, timezone, binary.',
  }),
  pattern: Type.String({ description: 'A regular expression (ECMA-262, u flag).' }),
  minLength: count,
  maxLength: count,
  minimum: Type.Number(),
  maximum: Type.Number(),
  exclusiveMinimum: Type.Number(),
  exclusiveMaximum: Type.Number(),
  multipleOf: Type.Number(),
  items: shapeRef,
  prefixItems: Type.Array(shapeRef),
  contains: shapeRef,
  minContains: count,
  maxContains: count,
  minItems: count,
  maxItems: count,
  uniqueItems: Type.Boolean(),
  unevaluatedItems: shapeRef,
  properties: namedForm(shapeRef),
  patternProperties: namedForm(shapeRef),
  additionalProperties: shapeRef,
  unevaluatedProperties: shapeRef,
  propertyNames: shapeRef,
  minProperties: count,
  maxProperties: count,
  dependentRequired: namedForm(Type.Array(text)),
  dependentSchemas: namedForm(shapeRef),
  oneOf: Type.Array(shapeRef),
  anyOf: Type.Array(shapeRef),
  allOf: Type.Array(shapeRef),
  not: shapeRef,
  if: shapeRef,
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema; nothing awaits this map.
  then: shapeRef,
  else: shapeRef,
  contentEncoding: text,
  contentMediaType: text,
  contentSchema: shapeRef,
  discriminator: jsonValue,
  xml: jsonValue,
};

/** A deprecation, wherever one stands. */
export const deprecation = ref<unknown>('deprecation');

export const DeprecationForm = fact(
  Type.Union([
    Type.Boolean(),
    text,
    keys({
      deprecated: value(Type.Union([Type.Boolean(), text]), 'The date from which it is deprecated (RFC 9745).'),
      sunset: value(text, 'The date from which it is gone (RFC 8594).'),
      alternative: value(text, 'What to use instead.'),
      link: value(text, 'A page about it.'),
    }),
  ]),
);

/** What `required` beside a schema may be: the field's own flag, or JSON Schema's list. */
const required = value(
  Type.Union([Type.Boolean(), Type.Array(text)]),
  'Whether answers always carry it; or, in an object shape, the list of its required properties.',
);

/** The words of a field beside its schema. */
export const fieldWordForms = {
  required,
  readOnly: Type.Boolean({ description: 'Never taken from a request.' }),
  writeOnly: Type.Boolean({ description: 'Taken, kept, and never shown.' }),
  immutable: Type.Boolean({ description: 'Set when the resource is made, and never changed.' }),
  null: Type.Literal('kept', { description: 'A patch with null stores null, and takes nothing away.' }),
  default: jsonValue,
  set: Type.Record(text, Type.Union([cel('the value to set'), Type.Number(), Type.Boolean()]), {
    description: 'What sets it, by create, update, replace, write, a transition or an operation.',
  }),
  generate: Type.String({
    description:
      'A template: {ulid}, {uuid}, {random:24}, {random:8:A-Z0-9}, {hex:8}, {base64:32}, {number:6}, another field; or integer: counted.',
  }),
  within: Type.String({ description: 'What is counted is counted anew for each value of this field.' }),
  derive: cel('what it is reckoned of: the row, and the rows that refer to it, as in count(comment.issue)'),
  reveal: Type.Literal('once', { description: 'Shown in the answer that makes it, never again.' }),
  visible: fact(Words, 'The users that see it.'),
  writable: fact(Words, 'The users that may write it.'),
  stored: Type.Boolean({ description: 'false: checked and handed on, never kept.' }),
  ignore_case: Type.Boolean({ description: 'Compared without regard to case.' }),
  extensible: Type.Boolean({ description: 'Clients must accept values that are not listed yet.' }),
  onDelete: Type.Union([Type.Literal('restrict'), Type.Literal('cascade'), Type.Literal('clear')], {
    description: 'What becomes of this when the resource it refers to is deleted.',
  }),
  show: Type.Unsafe<unknown>({
    anyOf: [{ enum: ['id', 'expand'] }, { $ref: '#/$defs/shape' }],
    description: 'How a reference is shown.',
  }),
  children: Type.String({
    description: 'The rows that refer to this one, shown in it: `line.invoice`, those of line by their field invoice.',
  }),
  order: Type.Union([Words], { description: 'What its children are sorted by; a leading - turns the order.' }),
  page: Type.Integer({ minimum: 1, maximum: 1000, description: 'How many of its children are shown at most.' }),
  envelope: keys(
    {
      items: Type.String({ description: 'The member that holds them.' }),
      has_more: Type.String({ description: 'The member that says whether there are more.' }),
      data: Type.Record(text, jsonValue, { description: 'Constants beside them.' }),
    },
    'What stands around its children; nothing = they are a bare list.',
  ),
  taken_by: Type.Union([ChildrenTakers, Type.Array(ChildrenTakers, { minItems: 1 })], {
    description: 'The changes of the row that take its children with it; nothing = create alone.',
  }),
  deprecated: deprecation,
};

/** A shape: a JSON Schema 2020-12 object, or a short name for one. */
export const ShapeForm = Type.Union([
  Type.String({ description: 'A JSON type or a resource; a trailing ? makes it nullable.' }),
  Type.Boolean(),
  Type.Array(shapeRef, { minItems: 1, maxItems: 1, description: '[parcel]: a list of it.' }),
  keys({ ...schemaWords, ...fieldWordForms, resource: text }),
  Type.Unsafe<unknown>({ $ref: '#/$defs/open' }),
  Type.Unsafe<unknown>({ $ref: '#/$defs/none' }),
  Type.Unsafe<unknown>({ $ref: '#/$defs/any' }),
]);
