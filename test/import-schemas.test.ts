import assert from 'node:assert/strict';
import { test } from 'node:test';
import { field, findings, part, type Source, schema } from './import/source.ts';

/** A schema as a source writes it, in a version, and as a field of the language. */
const written: readonly (readonly [says: string, version: string, schema: unknown, field: unknown])[] = [
  ['a type alone is a word', '3.1.0', { type: 'string' }, 'string'],
  ['a type or null is a word with a question mark', '3.1.0', { type: ['string', 'null'] }, 'string?'],
  ['so is one that is nullable', '3.0.3', { type: 'string', nullable: true }, 'string?'],
  ['and one that was nullable before there was a word for it', '2.0', { type: 'string', 'x-nullable': true }, 'string?'],
  [
    'a nullable enum allows null',
    '3.0.3',
    { type: 'string', enum: ['a'], nullable: true },
    { type: ['string', 'null'], enum: ['a', null] },
  ],
  ['a list of a type is a short list', '3.1.0', { type: 'array', items: { type: 'integer' } }, ['integer']],
  [
    'a list with bounds is written out',
    '3.1.0',
    { type: 'array', items: { type: 'integer' }, maxItems: 3 },
    { type: 'array', items: 'integer', maxItems: 3 },
  ],
  ['a reference is the name of what it leads to', '3.1.0', { $ref: '#/components/schemas/thing' }, 'thing'],
  [
    'siblings of a reference count in 3.1',
    '3.1.0',
    { $ref: '#/components/schemas/thing', description: 'D' },
    { type: 'thing', description: 'D' },
  ],
  ['and not before', '3.0.3', { $ref: '#/components/schemas/thing', description: 'D' }, 'thing'],
  ['but nullable beside a reference is meant', '3.0.3', { $ref: '#/components/schemas/thing', nullable: true }, 'thing?'],
  [
    'a nullable union has null among its alternatives',
    '3.0.3',
    { anyOf: [{ type: 'string' }], nullable: true },
    { anyOf: ['string', 'null'] },
  ],
  [
    'what is made of parts and nullable is one of two',
    '3.0.3',
    { allOf: [{ type: 'string' }], nullable: true, description: 'D' },
    { description: 'D', anyOf: [{ allOf: ['string'] }, 'null'] },
  ],
  [
    'an end that is left out is a bound',
    '3.0.3',
    { type: 'number', minimum: 1, exclusiveMinimum: true },
    { type: 'number', exclusiveMinimum: 1 },
  ],
  [
    'a flag that leaves nothing out says nothing',
    '3.0.3',
    { type: 'number', minimum: 1, exclusiveMinimum: false },
    { type: 'number', minimum: 1 },
  ],
  ['a file is bytes', '2.0', { type: 'file' }, { type: 'string', format: 'binary' }],
  [
    'a list under items is a tuple',
    '2.0',
    { type: 'array', items: [{ type: 'string' }] },
    { type: 'array', prefixItems: ['string'] },
  ],
  ['beside no type it is alternatives', '2.0', { items: [{ type: 'string' }, { type: 'null' }] }, { anyOf: ['string', 'null'] }],
  [
    'true admits everything',
    '3.1.0',
    { type: 'object', additionalProperties: true },
    { type: 'object', additionalProperties: {} },
  ],
  ['a flag that is false is left out', '3.0.3', { type: 'string', readOnly: false, deprecated: false }, 'string'],
  [
    'words of a field stay',
    '3.0.3',
    { type: 'string', readOnly: true, deprecated: true, default: 'a' },
    { type: 'string', readOnly: true, deprecated: true, default: 'a' },
  ],
  [
    'an escape that the u flag forbids is undone',
    '3.0.3',
    { type: 'string', pattern: '^\\@\\_[a-z]$' },
    { type: 'string', pattern: '^@_[a-z]$' },
  ],
  [
    'a pattern that was escaped twice is meant once',
    '3.0.3',
    { type: 'string', pattern: '^[\\\\w-]+\\\\.\\\\d{2}$' },
    { type: 'string', pattern: '^[\\w-]+\\.\\d{2}$' },
  ],
  [
    'a flag of another dialect that was escaped is none of the text',
    '3.0.3',
    { type: 'string', pattern: '\\(\\?s\\).+' },
    { type: 'string', pattern: '.+' },
  ],
  [
    'a backslash before a word is one',
    '3.0.3',
    { type: 'string', pattern: '^HOME\\\\dora$' },
    { type: 'string', pattern: '^HOME\\\\dora$' },
  ],
  [
    'a discriminator speaks of resources',
    '3.1.0',
    {
      oneOf: [{ type: 'object' }],
      discriminator: { propertyName: 'kind', mapping: { a: '#/components/schemas/thing', b: 'thing' } },
    },
    { oneOf: ['object'], discriminator: { propertyName: 'kind', mapping: { a: 'thing', b: 'thing' } } },
  ],
  ['what is unknown is left out', '3.1.0', { type: 'string', 'x-secret': true }, 'string'],
  ['how it stands in XML is kept', '3.1.0', { type: 'string', xml: { name: 'a' } }, { type: 'string', xml: { name: 'a' } }],
  // What contradicts itself is left out, with a finding.
  ['a default that does not fit', '3.0.3', { type: 'integer', default: 'many' }, 'integer'],
  // A default that says the same otherwise is read as it is meant.
  ['a flag as a text', '3.0.3', { type: 'boolean', default: 'True' }, { type: 'boolean', default: true }],
  ['a text that is no flag', '3.0.3', { type: 'boolean', default: 'sent' }, 'boolean'],
  ['a number as a text', '3.0.3', { type: 'integer', default: '100' }, { type: 'integer', default: 100 }],
  ['a number beyond its bound', '3.0.3', { type: 'integer', maximum: 9, default: '100' }, { type: 'integer', maximum: 9 }],
  ['a number that would lose digits', '3.0.3', { type: 'integer', default: '9007199254740993' }, 'integer'],
  ['a text as a number', '3.0.3', { type: 'string', default: 43200 }, { type: 'string', default: '43200' }],
  ['a text that is no listed word', '3.0.3', { type: 'string', enum: ['a'], default: 4 }, { type: 'string', enum: ['a'] }],
  [
    'a word in letters of another case',
    '3.0.3',
    { type: 'string', enum: ['name', 'size'], default: 'Name' },
    { type: 'string', enum: ['name', 'size'], default: 'name' },
  ],
  [
    'one item of a list',
    '3.0.3',
    { type: 'array', items: { type: 'string', enum: ['at'] }, default: 'at' },
    { type: 'array', items: { type: 'string', enum: ['at'] }, default: ['at'] },
  ],
  ['several items in one text', '3.0.3', { type: 'array', items: { type: 'integer' }, default: '1,2' }, ['integer']],
  [
    'items that the default of their list breaks',
    '3.0.3',
    { type: 'array', items: { type: 'array', items: {} }, default: ['a', 'b'] },
    { type: 'array', items: {}, default: ['a', 'b'] },
  ],
  [
    'items that the default of their list has',
    '3.0.3',
    { type: 'array', items: { type: 'string' }, default: ['a'] },
    { type: 'array', items: 'string', default: ['a'] },
  ],
  ['a type of which no allowed value is', '3.0.3', { type: 'integer', enum: ['a', 'b'] }, { enum: ['a', 'b'] }],
  ['bounds that cross', '3.0.3', { type: 'integer', minimum: 9, maximum: 1 }, 'integer'],
  ['a type that is none', '3.0.3', { type: 'date' }, {}],
  ['a length that is no count', '3.0.3', { type: 'string', maxLength: 'long' }, 'string'],
  ['a pattern that is none', '3.0.3', { type: 'string', pattern: '[a-' }, 'string'],
];

for (const [says, version, source, expected] of written) {
  test(`${says} (${version})`, () => {
    const taken = version === '2.0' ? swaggerField(source) : field(source, version);
    assert.deepEqual(taken, expected);
    if (version !== '2.0')
      assert.deepEqual(
        findings(schema(source, version)).filter((one) => !/^(?:import|shapes\/ambiguous|resources\/unused)/.test(one)),
        [],
      );
  });
}

function swaggerField(value: unknown): unknown {
  const source = { openapi: undefined, swagger: '2.0', definitions: { thing: { type: 'object', properties: { field: value } } } };
  return (part(source, 'resources') as { thing: { fields: { field: unknown } } }).thing.fields.field;
}

test('a schema that is a map of properties has fields, with those of its parts', () => {
  const schemas = {
    base: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
    pet: {
      allOf: [{ $ref: '#/components/schemas/base' }, { properties: { name: { type: 'string' } }, required: ['name', 'gone'] }],
    },
    closed: { type: 'object', properties: { a: {} }, additionalProperties: false },
  };
  assert.deepEqual(part({ components: { schemas } }, 'resources'), {
    base: { identifier: 'none', fields: { id: 'string' }, required: ['id'], additionalProperties: true },
    pet: { identifier: 'none', fields: { id: 'string', name: 'string' }, required: ['id', 'name'], additionalProperties: true },
    closed: { identifier: 'none', fields: { a: {} }, required: [] },
  });
});

test('a schema that is none has a shape, and one that allows null lets each use be null', () => {
  const schemas = {
    word: { type: 'string', description: 'A word.' },
    many: { oneOf: [{ $ref: '#/components/schemas/word' }, { $ref: '#/components/schemas/many' }] },
    gone: { type: 'object', nullable: true, properties: { a: { $ref: '#/components/schemas/gone' } } },
  };
  assert.deepEqual(part({ openapi: '3.0.3', components: { schemas } }, 'resources'), {
    word: { shape: 'string' },
    many: { shape: { oneOf: ['word', 'many'] } },
    gone: { identifier: 'none', fields: { a: 'gone?' }, required: [], additionalProperties: true },
  });
});

test('names that the language could not read are made fit, and an inner schema has a name of its keys', () => {
  const schemas = {
    string: { type: 'string' },
    'A b': {
      type: 'object',
      properties: {
        a: { type: 'object', properties: { c: { type: 'string' } } },
        d: { $ref: '#/components/schemas/A%20b/properties/a' },
      },
    },
  };
  assert.deepEqual(Object.keys(part({ components: { schemas } }, 'resources') as object), ['string_', 'A_b', 'A_b_a']);
});

test('references by an address lead to what has it, and a dynamic one to what whoever refers to it means', () => {
  const list = (word: string, item: unknown) => ({
    $id: `https://test.example/${word}`,
    $ref: 'list',
    $defs: { item: { $dynamicAnchor: 'item', ...(item as object) } },
  });
  const schemas = {
    thing: { $anchor: 'thing', type: 'object', properties: { name: { type: 'string' }, $id: { type: 'string' } } },
    list: {
      $id: 'https://test.example/list',
      type: 'object',
      properties: { items: { type: 'array', items: { $dynamicRef: '#item' } } },
      $defs: { any: { $dynamicAnchor: 'item' } },
    },
    counts: list('counts', { type: 'integer' }),
    texts: list('texts', { type: 'string' }),
    one: { properties: { it: { $ref: 'https://document.invalid/#thing' } } },
  };
  const source: Source = { $self: 'https://document.invalid/', components: { schemas } };
  // The cast holds as far as the test reads.
  const resources = part(source, 'resources') as Record<string, { fields: Record<string, unknown>; shape: unknown }>;
  const itemOf = (name: string) => {
    const listed = resources[name]?.fields.items;
    return resources[String(listed)]?.shape;
  };
  assert.deepEqual([itemOf('list'), itemOf('counts'), itemOf('texts')], [{}, 'integer', 'string']);
  assert.deepEqual(resources.one?.fields, { it: 'thing' });
  assert.deepEqual(resources.thing?.fields, { name: 'string', $id: 'string' });
  assert.deepEqual(
    findings(source).filter((one) => one.startsWith('document/')),
    [],
  );
});
