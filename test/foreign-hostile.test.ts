import assert from 'node:assert/strict';
import { test } from 'node:test';
import { check } from '../src/check/check.ts';
import { fromForeign } from '../src/convert/foreign.ts';
import { writeMarkdown } from '../src/convert/nine-parts/markdown.ts';
import { toOpenApi } from '../src/convert/openapi.ts';
import type { Document } from '../src/document/document.ts';
import { parseDocument } from '../src/document/read/parse.ts';
import { isKey } from '../src/parts/form.ts';
import { StepBudget } from '../src/parts/samples/fit.ts';
import { readSpec } from '../src/parts/spec.ts';
import { NamedCalls } from '../src/serve/http/validation.ts';
import { serveSpec } from '../src/serve/service/serve-spec.ts';
import { times } from './long.ts';

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

/** So many schemas in a row, each made of several references to the next: 10^14 ways lead to the last one, 10^8 in the short run. */
function layers(
  make: (inner: readonly unknown[]) => unknown,
  last: unknown,
  wide = 10,
  deep = times(8, 14),
): Record<string, unknown> {
  const inner = (layer: number) => Array.from({ length: wide }, () => ref(`S${layer + 1}`));
  return Object.fromEntries([
    ...Array.from({ length: deep }, (_, layer) => [`S${layer}`, make(inner(layer))]),
    [`S${deep}`, last],
  ]);
}

/** Schemas each of which names all of them. */
function crossed(make: (inner: readonly unknown[]) => unknown, count = 20): Record<string, unknown> {
  const all = Array.from({ length: count }, (_, index) => ref(`S${index}`));
  return Object.fromEntries(all.map((_, index) => [`S${index}`, make(all)]));
}

function object(inner: readonly unknown[], required: boolean): unknown {
  const members = inner.map((one, index) => [`p${index}`, one] as const);
  return {
    type: 'object',
    properties: Object.fromEntries(members),
    ...(required && { required: members.map(([name]) => name) }),
  };
}

const leaf = { type: 'object', properties: { x: { type: 'string' } } };

const hostile: Readonly<Record<string, Record<string, unknown>>> = {
  'allOf of allOf': layers((allOf) => ({ allOf }), leaf),
  'allOf of allOf, of a text in the end': layers((allOf) => ({ allOf }), { type: 'string' }),
  'oneOf of oneOf': layers((oneOf) => ({ oneOf }), leaf),
  'anyOf of anyOf': layers((anyOf) => ({ anyOf }), leaf),
  'required members of required members': layers((inner) => object(inner, true), leaf),
  'members of members': layers((inner) => object(inner, false), leaf),
  'lists that must hold ten lists that must hold ten': layers(([items]) => ({ type: 'array', minItems: 10, items }), leaf, 1),
  'what must not be what must not be': layers((anyOf) => ({ not: { anyOf } }), leaf, 2),
  'conditions of conditions': layers(
    ([one, two, three]) => JSON.parse(JSON.stringify({ if: one, holds: two, else: three }).replace('holds', 'then')),
    leaf,
    3,
  ),
  'a mixture': layers(
    (inner) => object([{ allOf: inner }, { oneOf: inner }, { type: 'array', minItems: 3, items: { anyOf: inner } }], true),
    leaf,
  ),
  'allOf of all others and itself': crossed((allOf) => ({ allOf })),
  'oneOf of all others and itself': crossed((oneOf) => ({ oneOf })),
  'required members of all others and itself': crossed((inner) => object(inner, true)),
  'an enum of ten thousand words': {
    S0: { type: 'string', enum: Array.from({ length: 10_000 }, (_, index) => `word ${index}`) },
  },
  'a text of a thousand million letters in a list as long': {
    S0: { type: 'array', minItems: 1e9, items: { type: 'string', minLength: 1e9 } },
  },
  'a row of references, each to the next': layers(([next]) => next, leaf, 1, times(400, 1_500)),
  'a row of required members, each of the next': layers((inner) => object(inner, true), leaf, 1, times(400, 1_200)),
  'thousands of required members': {
    S0: object(
      Array.from({ length: times(2_000, 6_000) }, () => ({ type: 'string' })),
      true,
    ),
  },
};

const takenOver = (schemas: unknown): Document => {
  const content = { 'application/json': { schema: ref('S0') } };
  const answer = { 200: { description: 'ok', content } };
  const paths = { '/a': { get: { responses: answer }, post: { requestBody: { required: true, content }, responses: answer } } };
  const source = { openapi: '3.1.0', info: { title: 'T', version: '1' }, paths, components: { schemas } };
  return parseDocument(JSON.stringify(source), 'api.json', { isKey, foreign: fromForeign });
};

const errorsIn = ({ findings }: Pick<ReturnType<typeof check>, 'findings'>) =>
  findings.filter(({ severity }) => severity === 'error').map(({ code, message }) => `${code} ${message}`);

for (const [says, schemas] of Object.entries(hostile)) {
  test(`${says}: such a document is checked, taken over, given back and served`, async () => {
    const document = takenOver(schemas);
    const report = check(document);
    assert.deepEqual(errorsIn(report), []);
    const again = check(parseDocument(writeMarkdown(report.spec.document), 'api.md', { isKey }));
    assert.deepEqual(errorsIn(again), []);
    assert.ok(JSON.stringify(toOpenApi(report.spec)).length > 0);
    const service = await serveSpec(readSpec(document), { sample: true });
    try {
      const ask = async (init?: RequestInit) => (await service.fetch(new Request('http://127.0.0.1/a', init))).status;
      assert.equal(await ask(), 200);
      for (const body of ['{}', '{"x":"y"}', '[[]]', '"x"']) {
        const status = await ask({ method: 'POST', body, headers: { 'content-type': 'application/json' } });
        assert.ok([200, 400, 422].includes(status), `${body}: ${status}`);
      }
    } finally {
      await service.close();
    }
  });
}

test('a question takes so many steps and no more, and is not answered by half of them', () => {
  const budget = new StepBudget(100);
  let taken = 0;
  const tree = (depth: number): number =>
    budget.step(0, () => {
      taken += 1;
      return depth === 0 ? 1 : tree(depth - 1) + tree(depth - 1);
    });
  assert.equal(tree(50), 0);
  assert.equal(taken, 100);
  assert.equal(tree(4), 16);
});

test('however many ways lead to a schema, it is called with one part of a value a bounded number of times', () => {
  const calls = new NamedCalls();
  let made = 0;
  const layer = (depth: number): (() => boolean) => {
    const inner = depth === 0 ? [] : Array.from({ length: 10 }, (_, index) => calls.of(() => layersOf(depth - 1, index)));
    return () => {
      made += 1;
      return inner.every((one) => one('value', context));
    };
  };
  const known = new Map<number, ReturnType<typeof asSchema>>();
  const layersOf = (depth: number, _way: number) => {
    const schema = known.get(depth) ?? asSchema(layer(depth));
    known.set(depth, schema);
    return schema;
  };
  assert.equal(
    calls.during(() => layersOf(25, 0)('value', context)),
    true,
  );
  assert.ok(made < 2_000, String(made));
});

const context = { instancePath: '/a', parentData: {}, parentDataProperty: 'a', rootData: {}, dynamicAnchors: {} };

/** A function as ajv makes them. */
function asSchema(run: () => boolean) {
  return Object.assign((_value: unknown, _context?: unknown): _value is unknown => run(), {
    schema: {},
    schemaEnv: {} as never,
    errors: null,
  });
}
