import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';
import fc from 'fast-check';
import { type SchemaOptions, writeSchemas } from '../src/convert/json-schema/write/schema-writer.ts';
import type { SchemaView } from '../src/convert/json-schema/write/shape-schema.ts';
import type { Json, JsonMap } from '../src/document/document.ts';
import { parseDocument, readDocument } from '../src/index.ts';
import { formats } from '../src/kinds/formats/all.ts';
import { entriesOf, entryOf, statedValue } from '../src/parts/fact.ts';
import { readSpec, type Spec } from '../src/parts/spec.ts';
import { times } from './long.ts';
import { generateDocument } from './serving/generated-document.ts';

const examples = join(import.meta.dirname, '../examples');

interface FieldCase {
  readonly says: string;
  /** The field `x` of a resource that has the identifier `id` and one required field besides. */
  readonly field: Json;
  readonly required?: boolean;
  readonly answer?: Json;
  /** Absent where the view does not have the field. */
  readonly create?: Json;
  readonly update?: Json;
}

const cases: readonly FieldCase[] = [
  {
    says: 'a type',
    field: 'integer',
    answer: { type: 'integer' },
    create: { type: 'integer' },
    update: { type: ['integer', 'null'] },
  },
  {
    says: 'a required field, which no change removes',
    field: 'string',
    required: true,
    answer: { type: 'string' },
    create: { type: 'string' },
    update: { type: 'string' },
  },
  {
    says: 'a nullable type',
    field: 'string?',
    answer: { type: ['string', 'null'] },
    create: { type: ['string', 'null'] },
    update: { type: ['string', 'null'] },
  },
  {
    says: 'a resource held whole',
    field: 'address',
    answer: { $ref: '#/$defs/address' },
    create: { $ref: '#/$defs/address' },
    update: { anyOf: [{ $ref: '#/$defs/address_update' }, { type: 'null' }] },
  },
  {
    says: 'a list, whose items a change sends whole',
    field: ['address'],
    answer: { type: 'array', items: { $ref: '#/$defs/address' } },
    create: { type: 'array', items: { $ref: '#/$defs/address' } },
    update: { type: ['array', 'null'], items: { $ref: '#/$defs/address' } },
  },
  {
    says: 'a reference, with the type of the identifier it holds',
    field: { ref: 'room' },
    answer: { type: 'integer' },
    create: { type: 'integer' },
    update: { type: ['integer', 'null'] },
  },
  {
    says: 'a reference that is shown whole',
    field: { ref: 'room', show: 'expand' },
    answer: { anyOf: [{ type: 'integer' }, { $ref: '#/$defs/room' }] },
    create: { type: 'integer' },
    update: { type: ['integer', 'null'] },
  },
  {
    says: 'allowed values that may grow',
    field: { enum: ['a', 'b'], extensible: true },
    answer: { anyOf: [{ type: 'string', enum: ['a', 'b'] }, { type: 'string' }] },
    create: { type: 'string', enum: ['a', 'b'] },
    update: { anyOf: [{ type: 'string', enum: ['a', 'b'] }, { type: 'null' }] },
  },
  {
    says: 'a union, whose branches a change may meet together',
    field: { oneOf: ['address', 'string'] },
    answer: { oneOf: [{ $ref: '#/$defs/address' }, { type: 'string' }] },
    create: { oneOf: [{ $ref: '#/$defs/address' }, { type: 'string' }] },
    update: { anyOf: [{ anyOf: [{ $ref: '#/$defs/address_update' }, { type: 'string' }] }, { type: 'null' }] },
  },
  {
    says: 'an object, of which a change sends a part',
    field: {
      type: 'object',
      properties: { a: 'string', b: 'string' },
      required: ['a'],
      minProperties: 1,
      if: { required: ['b'] },
    },
    required: true,
    answer: {
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'string' } },
      required: ['a'],
      minProperties: 1,
      if: { required: ['b'] },
    },
    create: {
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'string' } },
      required: ['a'],
      minProperties: 1,
      if: { required: ['b'] },
    },
    update: { type: 'object', properties: { a: { type: 'string' }, b: { type: ['string', 'null'] } } },
  },
  {
    says: 'a format of this language, in keywords that others know',
    field: { type: 'string', format: 'country' },
    required: true,
    answer: { type: 'string', format: 'country', pattern: '^[A-Z]{2}$' },
    create: { type: 'string', format: 'country', pattern: '^[A-Z]{2}$' },
    update: { type: 'string', format: 'country', pattern: '^[A-Z]{2}$' },
  },
  {
    says: 'a reference inside a shape, wherever the shape comes to stand',
    field: { $ref: '#/$defs/tree', $defs: { tree: { type: 'array', items: { $ref: '#/$defs/tree' } } } },
    required: true,
    answer: { $ref: '#/$defs/tree' },
    create: { $ref: '#/$defs/tree_create' },
    update: { $ref: '#/$defs/tree_update' },
  },
  {
    says: 'a field that only the service writes',
    field: { type: 'string', readOnly: true },
    answer: { type: 'string', readOnly: true },
  },
  {
    says: 'a field that is never shown',
    field: { type: 'string', writeOnly: true },
    create: { type: 'string', writeOnly: true },
    update: { type: ['string', 'null'], writeOnly: true },
  },
  {
    says: 'a default, for those who make one',
    field: { type: 'string', default: 'a' },
    required: true,
    answer: { type: 'string' },
    create: { type: 'string', default: 'a' },
    update: { type: 'string' },
  },
  {
    says: 'a field of which nothing is said',
    field: { $open: 'Which?' },
    required: true,
    answer: { $comment: 'Open: the type of x: Which?' },
    create: { $comment: 'Open: the type of x: Which?' },
    update: { $comment: 'Open: the type of x: Which?' },
  },
  {
    says: 'a deprecated field',
    field: { type: 'string', deprecated: '2026-01-01' },
    required: true,
    answer: { type: 'string', deprecated: true },
    create: { type: 'string', deprecated: true },
    update: { type: 'string', deprecated: true },
  },
];

suite('a field is written for the view it is looked at in', () => {
  for (const { says, field, required = false, ...expected } of cases) {
    test(says, () => {
      const spec = specOf({
        room: { identifier: { field: 'id', generate: 'integer' }, fields: { id: 'integer' }, required: ['id'] },
        address: { identifier: 'none', fields: { city: 'string', street: 'string' }, required: ['city'] },
        thing: {
          identifier: { field: 'id', generate: 'ulid' },
          fields: { id: 'string', x: field },
          required: required ? ['x'] : [],
        },
      });
      const { definitions, ...writer } = writeSchemas(spec, { prefix: '#/$defs/' });
      for (const view of ['answer', 'create', 'update'] as const) {
        const ref = writer.resource('thing', view).$ref as string;
        const { x } = (definitions()[ref.slice('#/$defs/'.length)] as JsonMap).properties as JsonMap;
        assert.deepEqual(plain(x), expected[view], view);
      }
    });
  }
});

test('what is sent as it is answered has one definition, and what differs anywhere inside it has two', () => {
  const spec = specOf({
    point: { identifier: 'none', fields: { x: 'integer', next: 'point?' }, required: ['x'] },
    line: { identifier: 'none', fields: { from: 'point', by: 'pen' } },
    pen: { identifier: 'none', fields: { maker: { type: 'string', readOnly: true } } },
  });
  const writer = writeSchemas(spec, { prefix: '' });
  assert.deepEqual(
    ['point', 'line', 'pen'].map((name) => writer.resource(name, 'create').$ref),
    ['point', 'line_create', 'pen_create'],
  );
});

test('two things of one name get two names, and every name is one that OpenAPI allows', () => {
  const spec = specOf({
    'a b': { fields: { x: 'string' } },
    a_b: { fields: { x: 'a b' } },
    a_b_create: { fields: { x: 'string' } },
  });
  const writer = writeSchemas(spec, { prefix: '' });
  for (const name of ['a b', 'a_b', 'a_b_create']) for (const view of views) writer.resource(name, view);
  const names = Object.keys(writer.definitions());
  assert.equal(new Set(names).size, names.length);
  for (const name of names) assert.match(name, /^[\w.-]+$/);
});

test('the answer that makes a thing shows what is never shown again', () => {
  const spec = specOf({
    hook: { fields: { secret: { type: 'string', readOnly: true, generate: '{ulid}', reveal: 'once' } }, required: ['secret'] },
  });
  const writer = writeSchemas(spec, { prefix: '' });
  assert.deepEqual(writer.created('hook'), { $ref: 'hook', type: 'object', required: ['secret'] });
  assert.equal((writer.definitions().hook as JsonMap).required, undefined);
});

test('an answer has to hold what everybody is shown, always', () => {
  const fields = {
    id: 'string',
    all: 'string',
    some: { type: 'string', visible: ['clerk'] },
    once: { type: 'string', reveal: 'once' },
    never: { type: 'string', visible: 'none' },
    passing: { type: 'string', stored: false },
  };
  const writer = writeSchemas(
    specOf({ thing: { identifier: { field: 'id', generate: 'ulid' }, fields, required: Object.keys(fields) } }),
    {
      prefix: '',
    },
  );
  writer.resource('thing', 'answer');
  writer.resource('thing', 'create');
  const { thing: answer, thing_create: create } = writer.definitions();
  assert.deepEqual(Object.keys((answer as JsonMap).properties as JsonMap), ['id', 'all', 'some', 'once']);
  assert.deepEqual((answer as JsonMap).required, ['id', 'all']);
  assert.deepEqual((create as JsonMap).required, ['all', 'some', 'once', 'never', 'passing']);
});

test('a reader that knows formats and words by name is left them', () => {
  const options: SchemaOptions = { prefix: '', knownFormats: ['int32'], knownWords: ['discriminator'] };
  const schema = { type: 'integer', format: 'int32', discriminator: { propertyName: 'kind' } };
  const spec = specOf({});
  assert.deepEqual(plain(writeSchemas(spec, options).shape(schema, 'answer')), schema);
  const bounds = { minimum: -(2 ** 31), maximum: 2 ** 31 - 1 };
  const written = writeSchemas(spec, { prefix: '' }).shape(schema, 'answer');
  assert.deepEqual(plain(written), { type: 'integer', format: 'int32', ...bounds });
});

suite('everything is written as a validator takes it', () => {
  for (const file of readdirSync(examples).filter((name) => /\.(md|yaml)$/.test(name))) {
    test(file, async () => compileAll(readSpec(await readDocument(join(examples, file))), true));
  }

  test('of whatever document', () => {
    fc.assert(
      fc.property(fc.gen(), (draw) => {
        const text = JSON.stringify(generateDocument(draw).document);
        compileAll(readSpec(parseDocument(text, 'generated.json')), false);
      }),
      { numRuns: times(8, 24) },
    );
  });
});

const views: readonly SchemaView[] = ['answer', 'create', 'update'];

/** Compiles every view of every resource, every request body and every payload. */
function compileAll(spec: Spec, strict: boolean): void {
  const writer = writeSchemas(spec, { prefix: '#/$defs/' });
  const schemas = [
    ...entriesOf(spec.resources.all).flatMap(([name]) => [
      ...views.map((view) => writer.resource(name, view)),
      writer.created(name),
    ]),
    ...entriesOf(spec.endpoints.all).flatMap(([, endpoint]) => writer.request(endpoint) ?? []),
    ...entriesOf(spec.events.kinds).flatMap(([, { payload }]) => {
      const shape = statedValue(payload);
      return shape ? [writer.shape(shape, 'answer')] : [];
    }),
  ];
  const ajv = new Ajv2020({ strict: strict ? true : 'log', strictRequired: false, allErrors: true, logger: false });
  ajvFormats.default(ajv);
  for (const { word: name } of formats) ajv.addFormat(name, true);
  ajv.compile({ $defs: writer.definitions(), anyOf: [{}, ...schemas] });
}

function specOf(resources: JsonMap): Spec {
  const spec = readSpec(parseDocument(JSON.stringify({ title: 'A trial', resources }), 'trial.json'));
  for (const name of Object.keys(resources)) assert.ok(entryOf(spec.resources.all, name));
  return spec;
}

/** The same value with ordinary maps. */
function plain(value: Json | undefined): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}
