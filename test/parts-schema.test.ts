import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Finding } from '../src/document/document.ts';
import { parseDocument } from '../src/document/read/parse.ts';
import { readDocument } from '../src/document/read/read.ts';
import { checkForm, isKey } from '../src/parts/form.ts';
import { documentSchema } from '../src/parts/forms/document.ts';

const published = new URL('../schema/ninefold.schema.json', import.meta.url);
const examples = [
  'examples/parcels.md',
  'examples/library.md',
  'examples/clinic.yaml',
  'examples/tickets.md',
  'examples/issues.md',
  'examples/payments.md',
  'examples/trains.md',
  'examples/wholesale.md',
  'examples/depot.md',
  'examples/unspecified.md',
  'bench/small.md',
];

test('the published schema is the one that the forms of the nine parts make', () => {
  const text = readFileSync(published, 'utf8');
  assert.equal(text, `${JSON.stringify(documentSchema(), null, 1)}\n`, 'run `npm run schema`');
});

test('the published schema is a JSON Schema that ajv takes, and every example fits it', async () => {
  const validate = new Ajv2020({ strict: false }).compile(JSON.parse(readFileSync(published, 'utf8')));
  for (const example of examples) {
    const document = await readDocument(example, { isKey });
    const tree = JSON.parse(JSON.stringify(document.tree));
    assert.ok(validate(tree), `${example}: ${JSON.stringify(validate.errors?.slice(0, 3))}`);
    assert.deepEqual(checkForm(document), [], example);
  }
});

/** A document's text, and what is said of its form: `code @ line:column` with the remedy. */
const cases: readonly { readonly name: string; readonly text: string; readonly found: readonly string[] }[] = [
  {
    name: 'an unknown key is pointed at, with the nearest known one',
    text: 'limits:\n  sizes: { body: 64KiB }\n',
    found: ['form/unknown-key @ 2:3: Write `size`.'],
  },
  {
    name: 'a word that is none of the place’s is answered with the nearest one',
    text: 'endpoints:\n  GET /a: { does: list a, if_match: requird }\n',
    found: ['form/wrong-value @ 2:37: Write `required`.'],
  },
  {
    name: 'a list where a map belongs',
    text: 'purpose: [a]\n',
    found: ['form/wrong-value @ 1:10: Write a map, or one of none, any.'],
  },
  {
    name: 'a null is no value outside the five places where it is one',
    text: 'resources:\n  a:\n    identifier: null\n    fields: { b: { type: string?, default: null, enum: [null, x], examples: [null] } }\n',
    found: ['form/null @ 3:17: Leave the key out, or write `none`, `any` or `!open "the question"`.'],
  },
  {
    name: 'a standing fits every place, at any depth',
    text: 'purpose: { users: !open "who?" }\nresources: { a: { fields: { b: !any } } }\nstates: { a: { transitions: { go: !open "" } } }\nlimits: !none\n',
    found: [],
  },
  {
    name: '`others` may be open or any and nothing else',
    text: 'endpoints: { others: any }\nresources: { others: !open "9 more" }\nevents: { kinds: { others: none } }\n',
    found: ['form/wrong-value @ 3:28: Write one of any.'],
  },
  {
    name: 'a number out of its bounds',
    text: 'errors: { codes: { a: { status: 99 } } }\n',
    found: ['form/wrong-value @ 1:33: Write a whole number.'],
  },
];

for (const { name, text, found } of cases) {
  test(`form: ${name}`, () => {
    const document = parseDocument(text, 'a.yaml', { isKey });
    assert.deepEqual(document.findings, []);
    assert.deepEqual(checkForm(document).map(line), found);
  });
}

function line({ code, place, remedy }: Finding): string {
  return `${code} @ ${place.line}:${place.column}: ${remedy}`;
}

test('a table’s first header is a key only where the language has one', () => {
  assert.ok(isKey(['errors'], 'codes'));
  assert.ok(isKey(['resources', 'address'], 'fields'));
  assert.ok(!isKey(['resources', 'address'], 'colour'));
  assert.ok(!isKey(['errors'], 'fields'));
});
