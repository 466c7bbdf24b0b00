import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import type { Document } from '../src/document/document.ts';
import { type EvaluationContext, Failed, type Raw } from '../src/parts/expressions/cel-value.ts';
import { compileExpression } from '../src/parts/expressions/compile.ts';
import { callerVariable, type Expected, everywhere, scopeOf } from '../src/parts/expressions/scope.ts';
import { isSaidByType } from '../src/parts/expressions/shape-type.ts';
import type { Shape } from '../src/parts/shape.ts';
import { readSpec, type Spec } from '../src/parts/spec.ts';
import { createValidator } from '../src/serve/http/ajv.ts';

const spec = specOf(`
resources:
  account: { identifier: id, fields: { id: string, name: string, parent: { ref: account }, since: { type: string, format: date-time } }, required: [id, name] }
  parcel:
    identifier: id
    fields:
      id: string
      merchant: { ref: account }
      others: { type: array, items: { ref: account } }
      reference: string
      back: { type: object, properties: { city: string, note: string }, required: [city] }
      weight_g: integer
      big: { type: integer, format: int64 }
      price: number
      due: { type: string, format: date-time }
      seen: { type: integer, format: unix-time }
      lines: { type: array, items: { type: object, properties: { sku: string, count: integer }, required: [count] } }
      constructor: string
      anything: {}
    required: [id, merchant, others, weight_g, big, price, due, seen, lines]
`);

const row = { shape: { resource: 'parcel' } };
const scope = scopeOf({
  ...everywhere,
  resource: row,
  next: row,
  caller: callerVariable(spec, true),
  value: { shape: { type: 'number' } },
});

const accounts: Readonly<Record<string, Raw>> = {
  a1: { id: 'a1', name: 'shop', parent: 'a2', since: '2020-02-29T12:00:00+02:00' },
  a2: { id: 'a2', name: 'chain' },
};
const resource: Raw = {
  id: 'pcl_1',
  merchant: 'a1',
  others: ['a2', 'gone'],
  reference: null,
  weight_g: 12_000,
  big: 9_007_199_254_740_993n,
  price: 9.5,
  due: '2026-01-31T10:00:00.5+02:00',
  seen: 1_769_846_400,
  lines: [{ sku: 'x', count: 2 }, { count: 5 }],
  anything: { n: 3, list: [1, 'x'], nothing: null },
};
const context: EvaluationContext = {
  now: new Date('2026-03-01T00:00:00Z'),
  operation: 'buy parcel',
  version: '2026-06-01',
  resource,
  next: { ...resource, weight_g: 10 },
  caller: { id: 'a1', user: 'merchant', scopes: ['parcels', 'quotes'], claims: { tenant: 't', level: 2 } },
  value: 0.285,
  follow: (_resource, id) => accounts[String(id)],
};

/** Expression → what it comes to as JSON. */
const values: readonly (readonly [source: string, value: Raw])[] = [
  ['1 + 2 * 3 - 7 / 2 % 2', 6],
  ['-7 / 2', -3],
  ['-7 % 3', -1],
  ['\'a\' + "b"', 'ab'],
  ['[1] + [2, 3]', [1, 2, 3]],
  ["{'a': 1, 'b': [true]}", { a: 1, b: [true] }],
  ['resource.merchant == caller.id', true],
  ['resource.weight_g > 10000 && next.weight_g == 10', true],
  ['resource.big', 9_007_199_254_740_993n],
  ['resource.big - 3', 9_007_199_254_740_990],
  ['resource.big == 9007199254740993', true],
  ['resource.big == 9007199254740992', false],
  ['resource.price * 2.0', 19],
  ['resource.price > 9', true],
  ['has(resource.reference)', false],
  ['has(resource.back) && has(resource.back.note)', false],
  ['has(resource.constructor)', false],
  ['resource.merchant.name', 'shop'],
  ['resource.merchant.parent.name', 'chain'],
  ['has(resource.merchant.parent.parent)', false],
  ["resource.merchant.since < timestamp('2020-02-29T10:00:01Z')", true],
  ["resource.others.exists(o, o.name == 'chain')", true],
  ["resource.others.all(o, o == 'a2' || o == 'gone')", true],
  ['resource.others[0].name', 'chain'],
  ['resource.lines.map(l, l.count)', [2, 5]],
  ['resource.lines.map(l, has(l.sku), l.sku)', ['x']],
  ['resource.lines.filter(l, l.count > 2)', [{ count: 5 }]],
  ['resource.lines.filter(l, l.count > 2)[0].count', 5],
  ['resource.lines.exists_one(l, has(l.sku))', true],
  ['resource.lines.all(l, resource.lines.exists(m, m.count >= l.count))', true],
  ['resource.lines.size() + size(resource.others)', 4],
  ['resource.lines[0]', { sku: 'x', count: 2 }],
  ['resource.lines == next.lines', true],
  ["'quotes' in caller.scopes && !('x' in caller.scopes)", true],
  ["caller.user in ['courier', 'merchant']", true],
  ['3 in [1, 2, 3]', true],
  ['caller.claims.tenant + "!"', 't!'],
  ['caller.claims.level == 2 && int(caller.claims.level) + 1 == 3', true],
  ['has(resource.anything.nothing)', false],
  ['resource.anything.list', [1, 'x']],
  ['resource.due', '2026-01-31T10:00:00.5+02:00'],
  ['plus(resource.due, "P1M")', '2026-02-28T08:00:00.500Z'],
  ['string(resource.due)', '2026-01-31T08:00:00.500Z'],
  ["plus(timestamp('2024-02-29T00:00:00Z'), 'P1Y')", '2025-02-28T00:00:00.000Z'],
  ["plus(timestamp('2024-03-31T00:00:00Z'), '-P1M')", '2024-02-29T00:00:00.000Z'],
  ["plus(now, 'P1W2DT1H0.5S')", '2026-03-10T01:00:00.500Z'],
  ['now - resource.due > duration("600h")', true],
  ['(now - duration("1h30m")).getHours()', 22],
  ['int(now)', 1_772_323_200],
  ['int(resource.seen)', 1_769_846_400],
  ['resource.seen.getFullYear()', 2026],
  ["now.getMonth('America/New_York')", 1],
  ["now.getDate('America/New_York')", 28],
  ["timestamp('2025-12-31T00:00:00Z').getDayOfYear()", 364],
  ["timestamp('2024-12-31T00:00:00Z').getDayOfYear()", 365],
  ['now.getDayOfWeek()', 0],
  ['round(2.5) == 3.0 && round(-2.5) == -3.0 && round(0.49999999999999994) == 0.0', true],
  ['int(round(value * 100.0))', 28],
  ["'a b  c'.split(' ')", ['a', 'b', '', 'c']],
  ["'a,b,c'.split(',', 2)", ['a', 'b,c']],
  ["['a', 'b'].join('-')", 'a-b'],
  ["'grüße'.size()", 5],
  ["'😀b'.size()", 2],
  ["'a😀b'.substring(1, 2)", '😀'],
  ["'a😀b'.indexOf('b')", 2],
  ["'ÄbC'.lowerAscii()", 'Äbc'],
  ["'\\uE000' < '😀'", true],
  ["resource.id.matches('^pcl_[0-9]+$') && 'xay'.matches('a')", true],
  ["'aaaa'.matches('^(a{2}){2}$') && !'aaa'.matches('^(a{2}){2}$') && 'Abc'.matches('(?i)^aB.$')", true],
  ["'a.b'.matches('^a\\\\.b$') && !'a.b'.matches('^[^.]+$') && 'ab cd'.matches('\\\\bcd')", true],
  ["int('42') + int(2.9) + int(-2.9)", 42],
  ["double('1e3')", 1000],
  ['string(1) + string(true) + string(1.5)', '1true1.5'],
  ["bool('true')", true],
  ['cel.bind(x, resource.merchant.name, x + x)', 'shopshop'],
  ['has(resource.reference) ? resource.reference : null', null],
  // An error on one side is outweighed by the side that decides.
  ['resource.anything.x == 1 || true', true],
  ['resource.anything.x == 1 && false', false],
  ['[0, 1].exists(n, 1 / n == 1)', true],
  ['[0, 2].all(n, 1 / n == 1)', false],
];

test('an expression comes to its value', () => {
  for (const [source, value] of values) {
    const found = evaluate(source);
    assert.deepEqual(plain(found), value, `${source} → ${found instanceof Failed ? found.message : ''}`);
  }
});

/** Expression → why it comes to nothing. */
const failing: readonly (readonly [source: string, reason: Failed['reason']])[] = [
  ['resource.reference', 'absent'],
  ['resource.back.city', 'absent'],
  ['resource.anything.x', 'absent'],
  ['resource.anything.nothing', 'absent'],
  ['has(resource.anything.x.y)', 'absent'],
  ['resource.others.all(o, o.name != "")', 'absent'],
  ['1 / (resource.weight_g - 12000)', 'division'],
  ['1 % 0', 'division'],
  ['resource.lines[7].count', 'index'],
  ['resource.others[-1]', 'index'],
  ["'abc'.substring(4)", 'index'],
  ["int('x')", 'conversion'],
  ["int('')", 'conversion'],
  ["double('0x1')", 'conversion'],
  ["timestamp('2026-02-30T00:00:00Z')", 'conversion'],
  ["timestamp('2026')", 'conversion'],
  ["plus(now, 'P')", 'conversion'],
  ["plus(now, '1 month')", 'conversion'],
  ["now.getDate('Nowhere')", 'conversion'],
  ["duration('1 h')", 'conversion'],
  ["'a'.matches('(' + 'a')", 'conversion'],
  ['9223372036854775807 + 1', 'overflow'],
  ['-9223372036854775807 - 2', 'overflow'],
  ['-(-9223372036854775807 - 1)', 'overflow'],
  ['(-9223372036854775807 - 1) / -1', 'overflow'],
  ['1.0 / 0.0', 'overflow'],
  ['int(1e300)', 'overflow'],
  ["plus(now, 'P9000Y')", 'overflow'],
  ['caller.claims.tenant * 2', 'type'],
  ['caller.claims.tenant.getFullYear()', 'type'],
  ['caller.claims.level + 1', 'type'],
  ['[0, 1].map(n, 1 / n)', 'division'],
  ['[0, 2].exists(n, 1 / n == 1)', 'division'],
];

test('what types cannot exclude fails, and says why', () => {
  for (const [source, reason] of failing) {
    const found = evaluate(source);
    assert.ok(found instanceof Failed, `${source} came to ${String(found)}`);
    assert.equal(found.reason, reason, `${source}: ${found.message}`);
  }
});

test('stored values that do not fit their shape fail instead of being misread', () => {
  const misfits: readonly (readonly [string, Raw])[] = [
    ['resource.due < now', { due: 'yesterday' }],
    ['resource.due < now', { due: '2026-02-30T00:00:00Z' }],
    ['resource.weight_g > 1', { weight_g: 1.5 }],
    ['resource.weight_g > 1', { weight_g: '2' }],
    ['resource.merchant == caller.id', { merchant: 7 }],
    ['resource.lines.all(l, true)', { lines: 'x' }],
    ['resource.weight_g + 1 > 1', { weight_g: 1e300 }],
  ];
  for (const [source, held] of misfits) {
    const found = compiled(source).evaluate({ ...context, resource: held });
    assert.ok(found instanceof Failed && found.reason !== 'absent', source);
  }
});

/** Expression, what is wanted, what it comes to. */
const outcomes: readonly (readonly [source: string, expected: Expected, value: Raw])[] = [
  ['now', { shape: { type: 'string', format: 'date-time' } }, '2026-03-01T00:00:00.000Z'],
  ['now', { shape: { type: 'integer', format: 'unix-time' } }, 1_772_323_200],
  ['resource.due', { shape: { type: 'string', format: 'date-time' } }, '2026-01-31T10:00:00.5+02:00'],
  ['resource.due', { shape: { type: 'integer', format: 'unix-time' } }, 1_769_846_400],
  ['resource.seen', { shape: { type: 'string', format: 'date-time' } }, '2026-01-31T08:00:00.000Z'],
  ['resource.weight_g', { shape: { type: 'number' } }, 12_000],
  ['caller.claims.level', { shape: { type: 'integer' } }, 2],
  ['resource', { shape: { resource: 'parcel' } }, resource],
  [
    "{'at': now, 'n': null}",
    { shape: { type: 'object', properties: { at: { type: 'integer', format: 'unix-time' } } } },
    { at: 1_772_323_200 },
  ],
];

test('results take the form in which JSON has them; what is handed on stays as it was sent', () => {
  for (const [source, expected, value] of outcomes) assert.deepEqual(plain(evaluate(source, expected)), value, source);
});

test('an expression names every path that it reads', () => {
  const source =
    "resource.merchant == caller.id && has(resource.back.note) && resource.merchant.parent.name == 'x' && resource.lines.all(resource, resource.count > now.getHours())";
  assert.deepEqual(compiled(source).reads, [
    { root: 'resource', path: ['merchant'] },
    { root: 'caller', path: ['id'] },
    { root: 'resource', path: ['back', 'note'] },
    { root: 'resource', path: ['merchant'], follows: ['parent', 'name'] },
    { root: 'resource', path: ['lines'] },
    { root: 'now', path: [] },
  ]);
});

test('an evaluation ends, whatever its values', () => {
  const list = Array.from({ length: 10_000 }, (_, count) => ({ count }));
  const bomb = Array.from({ length: 20 }, (_, index) => `cel.bind(v${index + 1}, v${index} + v${index}, `).join('');
  const endless: readonly (readonly [string, Raw])[] = [
    ['resource.lines.all(a, resource.lines.all(b, a.count + b.count >= 0))', { lines: list }],
    ['resource.lines.all(a, resource.lines.all(b, a.count + b.count >= 0)) || true', { lines: list }],
    ['resource.lines.all(a, a.count >= 0)', { lines: [...list, { count: 1 }] }],
    [`cel.bind(v0, 'x', ${bomb}v20.size() > 0${')'.repeat(21)}`, {}],
    ['resource.lines.map(a, resource.lines).size() > 0', { lines: list }],
  ];
  for (const [source, held] of endless) {
    const found = compiled(source).evaluate({ ...context, resource: held });
    assert.ok(found instanceof Failed && found.reason === 'size', `${source.slice(0, 60)}: ${String(found)}`);
  }
  // What a matcher that goes back would try in 2^30 ways.
  assert.equal(plain(evaluate(`'${'a'.repeat(30)}!'.matches('^(a+)+$')`)), false);
});

test('what is reckoned for a shape that asks for no more than its type fits that shape, whatever the expression', () => {
  const shapes: Shape[] = [
    { type: 'string' },
    { type: 'integer' },
    { type: 'boolean', title: 'Flag' },
    { type: 'string', format: 'date-time' },
  ];
  const sources = [
    ...values.map(([source]) => source),
    ...failing.map(([source]) => source),
    'now',
    'resource.due',
    'resource.seen',
  ];
  let fitted = 0;
  for (const shape of shapes) {
    assert.ok(isSaidByType(shape), JSON.stringify(shape));
    const judge = createValidator().compile(shape);
    for (const source of sources) {
      const value = evaluate(source, { shape });
      if (value instanceof Failed || value === null) continue;
      assert.deepEqual(judge(value), [], `${source} as ${JSON.stringify(shape)}`);
      fitted += 1;
    }
  }
  assert.ok(fitted > 60, String(fitted));
  const more: Shape[] = [
    { type: 'number', minimum: 1 },
    { type: 'string', format: 'date' },
    { type: 'string', enum: ['a'] },
    { type: 'integer', format: 'int32' },
  ];
  for (const shape of more) assert.ok(!isSaidByType(shape), JSON.stringify(shape));
});

test('names that JavaScript gives to every object are only names', () => {
  const source = "has(resource.anything.constructor) || has(resource.anything.toString) || has(resource.anything['__proto__'])";
  assert.equal(evaluate(source), false);
});

test('what follow throws is not swallowed', () => {
  const follow = () => {
    throw new RangeError('not yet');
  };
  assert.throws(() => compiled('resource.merchant.name == "x" || true').evaluate({ ...context, follow }), RangeError);
});

function compiled(source: string, expected: Expected = { shape: {}, optional: true }) {
  return compileExpression(spec, { source, scope, expected });
}

function evaluate(source: string, expected?: Expected): Raw | Failed {
  return compiled(source, expected).evaluate(context);
}

/** Maps without a prototype as ones with it, for comparing. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null || value instanceof Failed) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item)]));
}

function specOf(text: string): Spec {
  const document: Document = { title: '', tree: parse(text), places: new Map(), prose: [], sources: new Map(), findings: [] };
  return readSpec(document);
}
