import assert from 'node:assert/strict';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import type { Json, JsonMap, Pointer } from '../src/document/document.ts';
import { pathOf } from '../src/document/pointer.ts';
import { valueAt } from '../src/document/source.ts';
import { isMap } from '../src/document/values.ts';
import { check, parseDocument, readDocument } from '../src/index.ts';
import { editions, exported, plain, readBack } from './openapi/harness.ts';

const document = await readDocument(join(import.meta.dirname, '../examples/parcels.md'));

/** What a person changes in the export, and what of the document is another one then; everything else stays. */
interface Edit {
  readonly says: string;
  readonly at: Pointer;
  readonly to: Json | undefined;
  readonly becomes: Readonly<Record<Pointer, Json | undefined>>;
  /** Editions that say it elsewhere. */
  readonly but?: readonly string[];
}

const parcel = '/components/schemas/Parcel';
const weight = '/resources/parcel/fields/weight_g';

const edits: readonly Edit[] = [
  { says: 'a bound', at: `${parcel}/properties/weight_g/maximum`, to: 20000, becomes: { [`${weight}/maximum`]: 20000 } },
  {
    says: 'a bound that is gone',
    at: `${parcel}/properties/weight_g/maximum`,
    to: undefined,
    becomes: { [`${weight}/maximum`]: undefined },
  },
  { says: 'a type', at: `${parcel}/properties/weight_g/type`, to: 'number', becomes: { [`${weight}/type`]: 'number' } },
  {
    says: 'a bound of a field whose other words OpenAPI has none for',
    at: `${parcel}/properties/price/minimum`,
    to: 1,
    becomes: { '/resources/parcel/fields/price/minimum': 1 },
  },
  {
    says: 'a new property',
    at: `${parcel}/properties/fragile`,
    to: { type: 'boolean', description: 'Whether it breaks.' },
    becomes: { '/resources/parcel/fields/fragile': { type: 'boolean', description: 'Whether it breaks.' } },
  },
  {
    says: 'a property that is gone',
    at: `${parcel}/properties/reference`,
    to: undefined,
    becomes: { '/resources/parcel/fields/reference': undefined },
  },
  {
    says: 'a required list',
    at: `${parcel}/required`,
    to: ['id', 'to'],
    becomes: { '/resources/parcel/required': ['id', 'to'] },
  },
  {
    says: 'a required list beside a field that answers leave out',
    at: '/components/schemas/Webhook/required',
    to: ['id', 'url'],
    becomes: { '/resources/webhook/required': ['id', 'url', 'secret'] },
  },
  {
    says: 'a required list over fields with flags of their own',
    at: '/components/schemas/Address/required',
    to: ['name', 'street', 'city', 'postcode'],
    becomes: { '/resources/address/fields/postcode/required': true, '/resources/address/fields/country/required': false },
  },
  {
    says: 'the values of the state',
    at: `${parcel}/properties/status/enum`,
    to: ['draft', 'bought', 'in_transit', 'delivered', 'returned', 'cancelled', 'lost'],
    becomes: { '/states/parcel/states': ['draft', 'bought', 'in_transit', 'delivered', 'returned', 'cancelled', 'lost'] },
  },
  {
    says: 'the values of a list to which more may come',
    at: `${parcel}/properties/service/anyOf/0/enum`,
    to: ['standard', 'express', 'night'],
    becomes: { '/resources/parcel/fields/service/enum': ['standard', 'express', 'night'] },
  },
  {
    says: 'whether unknown fields pass',
    at: `${parcel}/additionalProperties`,
    to: true,
    becomes: { '/resources/parcel/additionalProperties': true },
  },
  {
    says: 'the schema of a parameter',
    at: '/paths/~1quotes/get/parameters/0/schema/maximum',
    to: 500,
    becomes: { '/endpoints/GET ~1quotes/parameters/weight_g/maximum': 500 },
  },
  {
    says: 'whether a parameter is needed',
    at: '/paths/~1quotes/get/parameters/0/required',
    to: undefined,
    becomes: { '/endpoints/GET ~1quotes/parameters/weight_g/required': undefined },
  },
  {
    says: 'a new parameter',
    at: '/paths/~1quotes/get/parameters/2',
    to: { name: 'to', in: 'query', schema: { type: 'string', format: 'country' } },
    becomes: { '/endpoints/GET ~1quotes/parameters/to': { in: 'query', type: 'string', format: 'country' } },
  },
  {
    says: 'the schema of a stated answer',
    at: '/paths/~1quotes/get/responses/200/content/application~1json/schema/properties/price/type',
    to: 'number',
    becomes: { '/endpoints/GET ~1quotes/response/200/properties/price': 'number' },
  },
  {
    says: 'the schema of a stated body',
    at: '/paths/~1parcels~1{id}~1return/post/requestBody/content/application~1json/schema/properties/reason/maxLength',
    to: 80,
    becomes: { '/endpoints/POST ~1parcels~1{id}~1return/request/properties/reason/maxLength': 80 },
  },
  {
    says: 'that a body may be left out',
    at: '/paths/~1parcels~1{id}~1return/post/requestBody/required',
    to: undefined,
    becomes: { '/endpoints/POST ~1parcels~1{id}~1return/body': 'optional' },
  },
  {
    says: 'that an operation is given up',
    at: '/paths/~1quotes/get/deprecated',
    to: true,
    becomes: { '/endpoints/GET ~1quotes/deprecated': true },
  },
  {
    says: 'an operation that is gone',
    at: '/paths/~1parcels~1{id}~1cancel',
    to: undefined,
    becomes: { '/endpoints/POST ~1parcels~1{id}~1cancel': undefined },
  },
  {
    says: 'the base address',
    at: '/servers/0/url',
    to: 'https://parcels.example/v2',
    becomes: { '/purpose/base_url': 'https://parcels.example/v2' },
  },
  {
    says: 'the purpose, where it begins the description',
    at: '/info/description',
    to: 'Carries parcels.\n\nTo the door.',
    becomes: { '/purpose/purpose': 'Carries parcels.' },
    but: ['openapi', 'openapi-3.2'],
  },
  {
    says: 'the purpose',
    at: '/info/summary',
    to: 'Carries parcels.',
    becomes: { '/purpose/purpose': 'Carries parcels.' },
    but: ['openapi-3.0'],
  },
  {
    says: 'the header of a key',
    at: '/components/securitySchemes/key/name',
    to: 'X-Key',
    becomes: { '/authentication/schemes/key/header': 'X-Key' },
  },
  {
    says: 'what an event carries',
    at: '/components/schemas/ParcelDeletedEvent/properties/data/properties/id/type',
    to: 'integer',
    becomes: { '/events/kinds/parcel.deleted/payload/properties/id': 'integer' },
  },
  {
    says: 'a word of this language',
    at: '/paths/~1parcels/get/x-ninefold-order',
    to: 'created_at',
    becomes: { '/endpoints/GET ~1parcels/order': 'created_at' },
  },
  { says: 'a limit', at: '/x-ninefold/limits/pagination/max', to: 50, becomes: { '/limits/pagination/max': 50 } },
];

for (const to of Object.keys(editions)) {
  suite(`in an export as ${to}`, () => {
    for (const { says, at, to: value, becomes, but = [] } of edits) {
      if (but.includes(to)) continue;
      test(`${says} is changed, and the document says so, and nothing else`, () => {
        const changed = readBack(replaced(exported(document, to), at, value));
        const expected = Object.entries(becomes).reduce(
          (tree, [pointer, now]) => replaced(tree, pointer, now),
          plain(document.tree),
        );
        assert.deepEqual(changed, expected);
      });
    }
  });
}

test('a form that reading would not choose stays while the words say the same, and goes where one of them does not', () => {
  const odd = parseDocument(
    `
resources:
  tag: { identifier: none, fields: { name: string }, required: [name] }
  thing: { identifier: { field: id, generate: uuid }, fields: { id: string, tags: { type: [tag], minItems: 1 } }, required: [id] }
states: none
endpoints: { "GET /things/{id}": { does: read thing } }`,
    'odd.yaml',
  );
  const openapi = exported(odd);
  const tags = '/components/schemas/Thing/properties/tags';
  const read = (tree: JsonMap) => valueAt(readBack(tree), '/resources/thing/fields/tags');
  assert.deepEqual(read(openapi), { type: ['tag'], minItems: 1 });
  assert.ok(Array.isArray(valueAt(openapi, '/x-ninefold/written')));
  assert.deepEqual(read(replaced(openapi, `${tags}/minItems`, 2)), { type: ['tag'], minItems: 2 });
  assert.deepEqual(read(replaced(openapi, `${tags}/items`, { type: 'string' })), { type: 'array', items: 'string', minItems: 1 });
});

test('what is changed in a place that only repeats others is a finding there', () => {
  const changes: readonly [Pointer, Json][] = [
    ['/components/schemas/ParcelCreate/properties/weight_g/maximum', 7],
    ['/paths/~1parcels/post/operationId', 'makeParcel'],
    ['/components/responses/NotFound/description', 'Gone fishing.'],
  ];
  for (const [at, value] of changes) {
    const text = JSON.stringify(replaced(exported(document), at, value), undefined, 2);
    const { findings, sound } = check(parseDocument(text, 'export.json'));
    assert.ok(sound);
    const found = findings.filter(({ code }) => code === 'import/not-read-back');
    assert.equal(found.length, 1, at);
    assert.ok(found[0]?.message.startsWith(at), found[0]?.message);
    assert.match(text.split('\n')[(found[0]?.place.line ?? 0) - 1] ?? '', /7|makeParcel|fishing/);
  }
});

test('an export that nobody changed has no finding, and its prose is that of the document', () => {
  for (const to of Object.keys(editions)) {
    const back = parseDocument(JSON.stringify(exported(document, to)), 'export.json');
    assert.deepEqual(back.findings, []);
    assert.equal(back.title, 'Parcels');
    const texts = new Set(back.prose.map(({ at, text }) => `${at} ${text}`));
    for (const { at, text } of document.prose.filter(({ at: place }) => /^\/resources\/[^/]+$|^\/events$/.test(place)))
      assert.ok(texts.has(`${at} ${text}`), `${to} ${at}`);
  }
});

/** A tree with another value at a pointer; without it, where there is none. */
function replaced<T extends JsonMap>(tree: T, at: Pointer, value: Json | undefined): T {
  const copy = plain(tree);
  const path = pathOf(at);
  const key = path.pop() ?? '';
  const holder = valueAt(copy, path.map((step) => `/${step.replaceAll('~', '~0').replaceAll('/', '~1')}`).join(''));
  assert.ok(isMap(holder) || Array.isArray(holder), `nothing at ${at}`);
  // The copy is the test's own.
  const open = holder as Record<string, Json>;
  if (value === undefined) delete open[key];
  else open[key] = value;
  return copy;
}
