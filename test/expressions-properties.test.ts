import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Environment } from '@marcbachmann/cel-js';
import fc from 'fast-check';
import { parse } from 'yaml';
import type { Document } from '../src/document/document.ts';
import { type EvaluationContext, Failed, type Raw } from '../src/parts/expressions/cel-value.ts';
import { checkExpression } from '../src/parts/expressions/check.ts';
import { compileExpression } from '../src/parts/expressions/compile.ts';
import { toFilter } from '../src/parts/expressions/filter.ts';
import { type Filter, type FilterField, type FilterOperand, filterParam } from '../src/parts/expressions/filter-form.ts';
import { callerVariable, everywhere, scopeOf } from '../src/parts/expressions/scope.ts';
import { programOf } from '../src/parts/patterns/pattern.ts';
import { readSpec, type Spec } from '../src/parts/spec.ts';
import { times } from './long.ts';

const spec = specOf(`
resources:
  account: { identifier: id, fields: { id: string, name: string, level: integer, parent: { ref: account } }, required: [id, name] }
  parcel:
    identifier: id
    fields:
      id: string
      merchant: { ref: account }
      courier: { ref: account }
      reference: string
      weight_g: integer
      discount: integer
      price: number
      paid: boolean
      shared: boolean
      due: { type: string, format: date-time }
      service: { enum: [standard, express] }
      lines: { type: array, items: { type: object, properties: { count: integer, sku: string }, required: [count] } }
    required: [id, merchant, weight_g, price, paid, due, lines]
`);
const scope = scopeOf({ ...everywhere, resource: { shape: { resource: 'parcel' } }, caller: callerVariable(spec, true) });
const any = { shape: {}, optional: true };

/** Texts of expressions over what is named, by the type that they should have; some are ill-typed on purpose. */
function grammar(leaves: Record<'bool' | 'int' | 'double' | 'text' | 'ints', readonly string[]>) {
  const quoted = fc.constantFrom("''", "'a'", "'ab'", "'b'", "'parcels'");
  return fc.letrec<Record<'bool' | 'int' | 'double' | 'text' | 'ints' | 'any', string>>((tie) => {
    const two = (left: 'bool' | 'int' | 'double' | 'text' | 'ints' | 'any', words: readonly string[], right = left) =>
      fc.tuple(tie(left), fc.constantFrom(...words), tie(right)).map(([a, word, b]) => `(${a} ${word} ${b})`);
    const choice = (kind: 'bool' | 'int' | 'double' | 'text') =>
      fc.tuple(tie('bool'), tie(kind), tie(kind)).map(([c, a, b]) => `(${c} ? ${a} : ${b})`);
    return {
      bool: fc.oneof(
        { maxDepth: 4, depthIdentifier: 'e' },
        fc.constantFrom(...leaves.bool),
        two('bool', ['&&', '||', '==', '!=']),
        tie('bool').map((a) => `!${a}`),
        two('int', ['==', '!=', '<', '<=', '>', '>=']),
        two('double', ['==', '!=', '<', '<=', '>', '>=']),
        two('text', ['==', '!=', '<', '<=', '>', '>=']),
        two('int', ['<', '>='], 'double'),
        two('int', ['in'], 'ints'),
        fc
          .tuple(tie('text'), fc.constantFrom('startsWith', 'endsWith', 'contains'), tie('text'))
          .map(([a, name, b]) => `${a}.${name}(${b})`),
        fc
          .tuple(tie('ints'), fc.constantFrom('all', 'exists', 'exists_one'), tie('bool'))
          .map(([a, name, b]) => `${a}.${name}(n, n > 1 || ${b})`),
        choice('bool'),
        two('any', ['==', '<', 'in', '&&']),
      ),
      int: fc.oneof(
        { maxDepth: 4, depthIdentifier: 'e' },
        fc.constantFrom(...leaves.int, '0', '1', '7', '2147483648'),
        two('int', ['+', '-', '*', '/', '%']),
        tie('text').map((a) => `${a}.size()`),
        tie('ints').map((a) => `size(${a})`),
        tie('double').map((a) => `int(${a})`),
        fc.tuple(tie('ints'), tie('int')).map(([a, b]) => `${a}[${b}]`),
        choice('int'),
      ),
      double: fc.oneof(
        { maxDepth: 4, depthIdentifier: 'e' },
        fc.constantFrom(...leaves.double, '0.5', '2.0'),
        two('double', ['+', '-', '*', '/']),
        tie('int').map((a) => `double(${a})`),
        choice('double'),
      ),
      text: fc.oneof(
        { maxDepth: 4, depthIdentifier: 'e' },
        fc.oneof(fc.constantFrom(...leaves.text), quoted),
        two('text', ['+']),
        tie('int').map((a) => `string(${a})`),
        fc.tuple(tie('text'), tie('int')).map(([a, b]) => `${a}.substring(${b})`),
        choice('text'),
      ),
      ints: fc.oneof(
        { maxDepth: 4, depthIdentifier: 'e' },
        fc.constantFrom(...leaves.ints, '[1, 2, 3]'),
        two('ints', ['+']),
        tie('ints').map((a) => `${a}.filter(n, n > 1)`),
        tie('ints').map((a) => `${a}.map(n, n % 2 == 0, n + 1)`),
      ),
      any: fc.oneof(tie('bool'), tie('int'), tie('double'), tie('text'), tie('ints')),
    };
  });
}

test('types and values are those of the library that the language names', () => {
  const library = new Environment();
  for (const [name, type] of Object.entries({ p: 'bool', i: 'int', j: 'int', d: 'double', s: 'string', l: 'list<int>' }))
    library.registerVariable(name, type);
  const shapes = {
    p: { type: 'boolean' },
    i: { type: 'integer' },
    j: { type: 'integer' },
    d: { type: 'number' },
    s: { type: 'string' },
    l: { type: 'array', items: { type: 'integer' } },
  };
  const own = scopeOf(Object.fromEntries(Object.entries(shapes).map(([name, shape]) => [name, { shape }])));
  const { any: expression } = grammar({ bool: ['p', 'true'], int: ['i', 'j'], double: ['d'], text: ['s'], ints: ['l'] });
  const row = fc.record({
    p: fc.boolean(),
    i: fc.integer({ min: -9, max: 9 }),
    j: fc.integer(),
    d: fc.constantFrom(-1.5, 0, 2, 1e9),
    s: fc.constantFrom('', 'a', 'b', 'abc'),
    l: fc.array(fc.integer({ min: -2, max: 5 }), { maxLength: 4 }),
  });
  const property = fc.property(expression, row, (source, held) => {
    const valid = library.check(source).valid;
    const problems = checkExpression(spec, { source, role: 'value', expected: any, scopes: [{ scope: own }] });
    assert.equal(problems.length === 0, valid, `${source}: ${problems[0]?.message}`);
    if (!valid) return;
    const wide = { ...held, i: BigInt(held.i), j: BigInt(held.j), l: held.l.map(BigInt) };
    const theirs = attempt(() => library.evaluate(source, wide));
    const ours = compileExpression(spec, { source, scope: own, expected: any }).value(held);
    if (theirs instanceof Error || isBeyond(theirs)) assert.ok(ours instanceof Failed, `${source} came to ${String(ours)}`);
    else assert.deepEqual(ours, theirs, source);
  });
  fc.assert(property, { numRuns: times(500, 2000) });
});

/** The library lets a negated or converted integer leave its 64 bits. */
function isBeyond(value: unknown): boolean {
  return typeof value === 'bigint' && BigInt.asIntN(64, value) !== value;
}

const instant = fc.constantFrom('2026-01-01T00:00:00Z', '2026-01-01T01:00:00+01:00', '2026-06-01T00:00:00.25Z');
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const account = fc.record(
  {
    id: fc.constantFrom('a1', 'a2'),
    name: fc.constantFrom('', 'a', 'ab'),
    level: fc.integer({ min: 0, max: 3 }),
    parent: fc.constantFrom('a1', 'a2', 'gone'),
  },
  { requiredKeys: ['id', 'name'] },
);
const parcel = fc.record(
  {
    id: fc.constantFrom('a', 'ab'),
    merchant: fc.constantFrom('a1', 'a2', 'gone'),
    courier: maybe(fc.constantFrom('a1', 'gone')),
    reference: fc.constantFrom('', 'a', 'ab', null),
    weight_g: fc.integer({ min: 0, max: 3 }),
    discount: fc.constantFrom(0, 1, 2, null),
    price: fc.constantFrom(0, 0.5, 2),
    paid: fc.boolean(),
    shared: maybe(fc.boolean()),
    due: instant,
    service: maybe(fc.constantFrom('standard', 'express')),
    lines: fc.array(
      fc.record({ count: fc.integer({ min: 0, max: 3 }), sku: fc.constantFrom('a', 'b') }, { requiredKeys: ['count'] }),
      { maxLength: 3 },
    ),
  },
  { requiredKeys: ['id', 'merchant', 'weight_g', 'price', 'paid', 'due', 'lines'] },
);
const world = fc.record({
  resource: parcel,
  a1: maybe(account),
  a2: maybe(account),
  id: fc.constantFrom('a1', 'a', 'ab'),
  scopes: fc.array(fc.constantFrom('parcels', 'a1')),
});

function contextOf(held: typeof world extends fc.Arbitrary<infer T> ? T : never): EvaluationContext {
  const rows: Readonly<Record<string, unknown>> = { a1: held.a1, a2: held.a2 };
  return {
    now: Date.UTC(2026, 0, 1),
    operation: 'list parcel',
    version: '',
    resource: held.resource as Raw,
    caller: { id: held.id, user: 'merchant', scopes: held.scopes, claims: { tenant: 'a', level: 1 } },
    follow: (_resource, id) => rows[String(id)] as Raw,
  };
}

const rowLeaves = {
  bool: [
    'resource.paid',
    'has(resource.shared)',
    '(has(resource.shared) && resource.shared)',
    'has(resource.courier)',
    '(resource.due <= now)',
    "('parcels' in caller.scopes)",
    '(resource.merchant in caller.scopes)',
    '(has(resource.courier) && resource.courier.name == caller.id)',
    '(has(resource.service) && resource.service in ["standard", "x"])',
    'has(resource.merchant.level)',
    '(caller.id in [resource.merchant, resource.id])',
    '(caller.id in [resource.merchant.name, resource.id])',
    '(resource.merchant.name == resource.id)',
    'resource.lines.all(l, has(l.sku) && l.sku == "a")',
    '(caller.claims.tenant == resource.id)',
  ],
  int: [
    'resource.weight_g',
    '(has(resource.discount) ? resource.discount : 0)',
    '(has(resource.merchant.level) ? resource.merchant.level : 9)',
    'resource.lines[0].count',
  ],
  double: ['resource.price'],
  text: [
    'resource.id',
    'caller.id',
    'resource.merchant',
    "(has(resource.reference) ? resource.reference : 'x')",
    'resource.merchant.name',
    "(has(resource.merchant.parent) ? resource.merchant.parent.name : 'x')",
  ],
  ints: ['resource.lines.map(l, l.count)'],
};

test('what the check accepts never fails by its types or an absence that it could have seen', () => {
  const property = fc.property(grammar(rowLeaves).any, world, (source, held) => {
    const problems = checkExpression(spec, { source, role: 'value', expected: any, scopes: [{ scope }] });
    if (problems.length > 0) return;
    const found = compileExpression(spec, { source, scope, expected: any }).value(contextOf(held));
    if (!(found instanceof Failed)) return;
    // A row that a reference names may be gone; that no type excludes.
    const gone =
      [held.resource.merchant, held.resource.courier, held.a1?.parent, held.a2?.parent].some((id) => id === 'gone') ||
      !held.a1 ||
      !held.a2;
    assert.ok(found.reason !== 'type' && (found.reason !== 'absent' || gone), `${source}: ${found.message}`);
  });
  fc.assert(property, { numRuns: times(500, 2000) });
});

test('a database that decides a filter means the rows for which the condition holds', () => {
  let decided = 0;
  const { bool } = grammar({ ...rowLeaves, double: ['resource.price'], ints: ['[1, 2]'] });
  const property = fc.property(bool, world, (source, held) => {
    const found = toFilter(spec, { source, scope });
    if ('undecidable' in found || checkExpression(spec, { source, role: 'value', expected: any, scopes: [{ scope }] }).length > 0)
      return;
    decided++;
    const context = contextOf(held);
    const params = found.params.map((param) => filterParam(param, context));
    const holds = compileExpression(spec, { source, scope, expected: any }).value(context);
    assert.equal(decide(found.filter, context, params) === true, holds === true, source);
  });
  fc.assert(property, { numRuns: times(500, 2000) });
  assert.ok(decided > times(500, 2000) / 8, `only ${decided} conditions were decidable`);
});

test('a pattern is found where JavaScript finds it', () => {
  const piece = fc.constantFrom(
    'a',
    'b',
    '.',
    '[ab]',
    '[^a]',
    '(a|b)',
    '(ab)*',
    'a+',
    'b?',
    'a{2}',
    '(a|b){1,2}',
    '^',
    '$',
    '\\b',
    '\\w',
    '(?:ba)+',
    '(a*)*',
    '|',
  );
  const property = fc.property(fc.array(piece, { maxLength: 6 }), fc.stringMatching(/^[ab !]{0,8}$/), (pieces, text) => {
    const pattern = pieces.join('');
    if (typeof programOf(pattern, 're2') === 'string') return;
    const source = `${JSON.stringify(text)}.matches(${JSON.stringify(pattern)})`;
    assert.equal(
      compileExpression(spec, { source, scope, expected: any }).value({}),
      new RegExp(pattern, 'u').test(text),
      source,
    );
  });
  fc.assert(property, { numRuns: 2000 });
});

/** A filter as SQL decides it: null where something is not there. */
function decide(filter: Filter, context: EvaluationContext, params: readonly unknown[]): boolean | null {
  const value = (operand: FilterOperand) =>
    'param' in operand
      ? params[operand.param]
      : 'value' in operand
        ? operand.value
        : read(operand, context.resource as Raw, context);
  switch (filter.op) {
    case 'true':
    case 'false':
      return filter.op === 'true';
    case 'not': {
      const of = decide(filter.of, context, params);
      return of === null ? null : !of;
    }
    case 'and':
    case 'or': {
      const decisive = filter.op === 'or';
      const sides = filter.of.map((side) => decide(side, context, params));
      return sides.includes(decisive) ? decisive : sides.includes(null) ? null : !decisive;
    }
    case 'absent':
      return read(filter.of, context.resource as Raw, context) === null;
    default: {
      const [left, right] = [value(filter.left), value(filter.right)];
      return left === null || right === null ? null : compared(filter.op, left, right);
    }
  }
}

function compared(op: string, left: unknown, right: unknown): boolean {
  const [a, b] = [left as string | number, right as string | number];
  if (op === 'in') return (right as unknown[]).includes(left);
  if (op === 'prefix') return String(a).startsWith(String(b));
  if (op === 'contains') return String(a).includes(String(b));
  if (op === '=') return a === b;
  if (op === '!=') return a !== b;
  return op === '<' ? a < b : op === '<=' ? a <= b : op === '>' ? a > b : a >= b;
}

function read(field: FilterField, row: Raw, context: EvaluationContext): unknown {
  if ('find' in field) throw new Error('none of these looks anything up');
  const path = 'via' in field ? field.via : field.field;
  let held: unknown = row;
  for (const name of path) held = (held as Record<string, unknown> | null | undefined)?.[name] ?? null;
  if (!('via' in field)) return field.type === 'timestamp' && typeof held === 'string' ? Date.parse(held) : (held ?? null);
  return typeof held === 'string' ? read(field.then, context.follow?.(field.resource, held), context) : null;
}

function attempt(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

function specOf(text: string): Spec {
  const document: Document = { title: '', tree: parse(text), places: new Map(), prose: [], sources: new Map(), findings: [] };
  return readSpec(document);
}
