import assert from 'node:assert/strict';
import { test } from 'node:test';
import { curlLines, sampleOf } from '../src/cli/serve/curl.ts';
import { check, type JsonMap, parseDocument } from '../src/index.ts';

function specOf(text: string) {
  const { spec, findings } = check(parseDocument(`title: A\n${text}`, 'a.yaml'));
  assert.deepEqual(
    findings.filter(({ severity }) => severity === 'error'),
    [],
  );
  return spec;
}

const things = specOf(`
resources:
  place: { identifier: none, fields: { city: string, zip: string }, required: [city] }
  thing:
    identifier: { field: id, generate: ulid }
    fields:
      id: string
      at: place
      colour: { enum: [red, blue] }
      size: { type: integer, default: 3 }
      made_at: { type: string, format: date-time, readOnly: true, set: { create: now } }
    required: [id, at, colour, size, made_at]
`);

const samples: readonly (readonly [shape: JsonMap, sample: unknown])[] = [
  [{ const: null }, null],
  [{ enum: ['b', 'a'] }, 'b'],
  [{ type: 'string' }, 'given name'],
  [{ type: 'string', maxLength: 3 }, 'giv'],
  [{ type: 'string', minLength: 12 }, 'given name..'],
  [{ type: 'string', format: 'date' }, '2030-01-01'],
  [{ type: 'string', format: 'country' }, 'DE'],
  [{ type: 'string', format: 'colour' }, undefined],
  [{ type: 'string', pattern: '^(978|979)-?[0-9]{10}$' }, '9780000000000'],
  [{ type: 'string', pattern: '^[a-z]+@[a-z]+\\.org$' }, 'a@a.org'],
  [{ type: 'string', pattern: '(?=a)b' }, undefined],
  [{ type: 'string', pattern: '^a{3}$', maxLength: 2 }, undefined],
  [{ type: 'integer' }, 1],
  [{ type: 'integer', minimum: 5 }, 5],
  [{ type: 'integer', exclusiveMinimum: 5 }, 6],
  [{ type: 'integer', maximum: -3 }, -4],
  [{ type: 'integer', minimum: 7, multipleOf: 5 }, 10],
  [{ type: 'number', exclusiveMinimum: 0 }, 0.5],
  [{ type: ['null', 'boolean'] }, false],
  [{ type: 'array', items: { type: 'integer' } }, []],
  [{ type: 'array', items: { type: 'integer' }, minItems: 1 }, [1]],
  [{ oneOf: [{ type: 'null' }, { resource: 'place' }] }, { city: 'city' }],
  [{ allOf: [{ resource: 'place' }, { type: 'object', required: ['zip'] }] }, { city: 'city', zip: 'zip' }],
  [{ type: 'array', items: { enum: [null, 'b'] }, minItems: 2 }, ['b', 'b']],
  [{ resource: 'thing' }, { at: { city: 'city' }, colour: 'red' }],
  [{ type: 'object', properties: { __proto__: { type: 'integer' }, a: { type: 'integer' } }, required: ['a'] }, { a: 1 }],
  [{ type: 'object', required: ['constructor'] }, undefined],
  [{ type: 'object', properties: { thing: { type: 'string', ref: 'thing' } }, required: ['thing'] }, undefined],
];

for (const [shape, sample] of samples) {
  test(`the sample of ${JSON.stringify(shape)} is ${JSON.stringify(sample)}`, () => {
    // Samples have no prototype; what they say is compared.
    const made = sampleOf(things, shape, 'given_name');
    assert.equal(JSON.stringify(made), JSON.stringify(sample));
  });
}

const base = 'http://127.0.0.1:1/v1';
const origin = 'http://127.0.0.1:1';
const ledger = `curl -s -w '\\n' ${origin}/.well-known/ninefold`;

const documents: readonly (readonly [what: string, text: string, lines: readonly string[]])[] = [
  ['nothing stated', '', [ledger]],
  [
    'what can be asked without knowing a row, with its required parameters',
    `endpoints:
  GET /prices: { does: handler price, parameters: { for: { in: query, type: string, required: true }, X-Who: { in: header, enum: ["a b"], required: true } } }
  GET /prices/{id}: { does: handler one }
  DELETE /prices: { does: handler none }`,
    [`curl -s -w '\\n' '${base}/prices?for=for' -H 'X-Who: a b'`, ledger],
  ],
  [
    'a create whose row cannot be read, and so is not shown',
    `resources: { note: { identifier: { field: id, generate: ulid }, fields: { id: string }, required: [id] } }
endpoints: { POST /notes: { does: create note }, GET /notes: { does: list note } }`,
    [`curl -s -w '\\n' ${base}/notes`, ledger],
  ],
  [
    'a create that needs a key, of a row whose identifier is a number',
    `resources: { note: { identifier: { field: no, generate: integer }, fields: { text: { const: "it's" }, no: integer }, required: [no, text] } }
endpoints:
  POST /notes: { does: create note, idempotency: { header: Idempotency-Key, required: true } }
  GET /notes/{no}: { does: read note }`,
    [
      `made=$(curl -s -w '\\n' ${base}/notes -H "Idempotency-Key: $(date +%s)" -H 'Content-Type: application/json' -d '{"text":"it'\\''s"}') && printf '%s\\n' "$made"`,
      `curl -s -w '\\n' "${base}/notes/$(printf '%s' "$made" | grep -o '"no":[^,}]*' | head -n 1 | cut -d : -f 2- | tr -d '"')"`,
      ledger,
    ],
  ],
];

for (const [what, text, lines] of documents) {
  test(`curl lines for ${what}`, () => {
    assert.deepEqual(curlLines(specOf(text), base, origin), lines);
  });
}

test('nothing that a document names is carried out by the shell that a line is pasted into', () => {
  const spec = specOf(`
purpose: { purpose: Is pasted., base_url: "https://api.example.com/$(touch pwned)" }
resources: { thing: { identifier: { field: id, generate: ulid }, fields: { id: string, n: integer }, required: [id, n] } }
endpoints:
  POST /things: { does: create thing, idempotency: { header: 'X-\`touch pwned\`', required: true } }
  GET /things/{id}: { does: read thing }
`);
  for (const line of curlLines(spec, 'http://127.0.0.1:1/$(touch pwned)', 'http://127.0.0.1:1')) {
    // What is left outside of single quotes are words of our own.
    const rest = line.replaceAll(/'[^']*'/g, '');
    assert.ok(!rest.includes('pwned'), line);
  }
});
