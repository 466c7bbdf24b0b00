import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';
import fc from 'fast-check';
import { toJsonSchemas } from '../src/convert/json-schema.ts';
import type { JsonMap } from '../src/document/document.ts';
import { type Document, parseDocument, readDocument } from '../src/index.ts';
import { formats } from '../src/kinds/formats/all.ts';
import { readSpec } from '../src/parts/spec.ts';
import { toJson } from '../src/serve/http/json.ts';
import { times } from './long.ts';
import { type GeneratedResource, generateDocument } from './serving/generated-document.ts';
import type { Draw } from './serving/generated-values.ts';
import { type Answered, tryDocument } from './serving/tried.ts';

const examples = join(import.meta.dirname, '../examples');

suite('a document is one JSON Schema that a strict validator takes', () => {
  for (const file of readdirSync(examples).filter((name) => /\.(md|yaml)$/.test(name))) {
    test(file, async () => {
      const { schema, validators } = await exported(await readDocument(join(examples, file)));
      assert.equal(schema.$schema, 'https://json-schema.org/draft/2020-12/schema');
      assert.deepEqual([...validators.keys()], Object.keys(schema.$defs as JsonMap));
    });
  }
});

test('what travels has a definition, named after what it is', async () => {
  const { schema } = await exported(await readDocument(join(examples, 'parcels.md')));
  assert.equal(schema.title, 'Parcels');
  assert.equal(schema.description, 'Lets merchants hand parcels to couriers and follow them to the door.');
  const names = Object.keys(schema.$defs as JsonMap);
  assert.deepEqual(names, [
    ...['address', 'address_update', 'parcel', 'parcel_create', 'parcel_update', 'scan', 'scan_create', 'scan_update'],
    ...['webhook', 'webhook_create', 'webhook_update', 'return_parcel_request', 'handler_quote_200'],
    ...['created', 'changed', 'deleted', 'seen', 'delivered'].map((kind) => `parcel.${kind}_payload`),
    'error',
  ]);
});

test('prose describes what it stands under', async () => {
  const text = `# A trial\n\n## Resources\n\n### room\n\nWhere one sleeps.\n\n| fields | type |\n|---|---|\n| name | string |\n`;
  const { schema } = await exported(parseDocument(text, 'trial.md'));
  assert.equal(((schema.$defs as JsonMap).room as JsonMap).description, 'Where one sleeps.');
});

test('an own error shape is the error, and an open one has no definition', async () => {
  const shape = { type: 'object', properties: { ok: 'boolean' }, required: ['ok'] };
  const own = await exported(parsed({ errors: { payload: { shape, data: { ok: 'false' } } } }));
  assert.deepEqual(plain((own.schema.$defs as JsonMap).error), { ...shape, properties: { ok: { type: 'boolean' } } });
  const open = await exported(parsed({ errors: { payload: { $open: 'Which?' } } }));
  assert.deepEqual(plain(open.schema.$defs), {});
});

test('what a service takes and answers, and what the schema says of it, agree', async () => {
  await fc.assert(
    fc.asyncProperty(fc.gen(), async (draw) => {
      const { document, resources } = generateDocument(draw);
      const read = parsed(document);
      const { validators } = await exported(read);
      const tried = await tryDocument(read);
      const holds = (name: string, value: unknown): boolean => (validators.get(name) as ValidateFunction)(value) as boolean;
      const told = (one: Answered) => `${one.status} ${one.text} ${JSON.stringify(document)}`;
      try {
        for (const resource of resources) {
          const { name, path } = resource;
          const body = bodyOf(draw, resource);
          const sent = await tried.send('POST', path, { body: toJson(body), headers: json });
          const fits = holds(createName(validators, name), JSON.parse(toJson(body)));
          if (sent.status === 201) {
            assert.ok(fits, `the service takes what the schema refuses: ${toJson(body)} ${told(sent)}`);
            assert.ok(holds(name, sent.json), `the schema refuses what the service answers: ${told(sent)}`);
          } else {
            assert.ok(holds('error', sent.json), told(sent));
            if (sent.status === 422 && isAboutShape(sent))
              assert.ok(!fits, `the schema takes what the service refuses: ${told(sent)}`);
          }
        }
      } finally {
        await tried.close();
      }
    }),
    { numRuns: times(6, 18), endOnFailure: true },
  );
});

const json = { 'content-type': 'application/json' };

/** What is sent as it is answered has one definition. */
function createName(validators: ReadonlyMap<string, ValidateFunction>, name: string): string {
  return validators.has(`${name}_create`) ? `${name}_create` : name;
}

/** A body for a resource, of which now and then one field does not fit. */
function bodyOf(draw: Draw, { fields, identifier }: GeneratedResource): Record<string, unknown> {
  const body: Record<string, unknown> = identifier.isClient ? { id: 'one' } : {};
  for (const field of fields) {
    if (!field.isSent || field.ref || isLong(field.kind.shape) || (!field.required && draw(fc.boolean))) continue;
    body[field.name] = draw(fc.nat, { max: 6 }) === 0 ? field.kind.wrong(draw) : field.kind.valid(draw);
  }
  return body;
}

/** Whether a field holds 64 bits, which JavaScript's own numbers do not. */
function isLong(shape: unknown): boolean {
  return JSON.stringify(shape).includes('int64');
}

/** Whether a refusal is about the body's form, which a schema can speak of. */
function isAboutShape({ json }: Answered): boolean {
  const violations = (json as { readonly violations?: readonly { readonly in: string }[] }).violations ?? [];
  return violations.some((violation) => violation.in === 'body');
}

async function exported(document: Document): Promise<{
  readonly schema: JsonMap;
  readonly validators: ReadonlyMap<string, ValidateFunction>;
}> {
  const schema = JSON.parse(JSON.stringify(toJsonSchemas(readSpec(document)))) as JsonMap;
  const ajv = new Ajv2020({
    strict: true,
    // What JSON Schema allows and ajv warns of: required names of another branch, tuples of no stated length, several types.
    strictRequired: false,
    strictTuples: false,
    allowUnionTypes: true,
    // A field may be named `constructor`, which every object inherits.
    ownProperties: true,
    allErrors: true,
  });
  ajvFormats.default(ajv);
  for (const { word: name, type, test: fits } of formats) {
    if (type === 'number') ajv.addFormat(name, { type, validate: (value: number) => fits(value) });
    else ajv.addFormat(name, (value: string) => fits(value));
  }
  ajv.addSchema(schema, 'document');
  const names = Object.keys(schema.$defs as JsonMap);
  return { schema, validators: new Map(names.map((name) => [name, ajv.compile({ $ref: `document#/$defs/${name}` })])) };
}

function parsed(tree: JsonMap): Document {
  return parseDocument(JSON.stringify(tree), 'trial.json');
}

function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
