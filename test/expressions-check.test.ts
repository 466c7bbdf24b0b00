import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import type { Document } from '../src/document/document.ts';
import { checkExpression } from '../src/parts/expressions/check.ts';
import { aBoolean, callerVariable, type Expected, everywhere, type Scope, scopeOf } from '../src/parts/expressions/scope.ts';
import { readSpec, type Spec } from '../src/parts/spec.ts';

const spec = specOf(`
resources:
  account: { identifier: id, fields: { id: string, name: string, owner: { ref: account }, parent: { ref: account } }, required: [id, name, owner] }
  share:
    identifier: id
    fields: { id: string, parcel: { ref: parcel }, account: { ref: account }, slot: integer, role: { enum: [read, write] } }
    required: [id, parcel, account, role]
    unique: [[parcel, account], { fields: [slot], while: "next.role == 'write'" }]
  address: { identifier: none, fields: { city: string, postcode: string }, required: [city] }
  card: { identifier: none, fields: { brand: string, number: { type: string, stored: false } }, required: [brand, number] }
  parcel:
    identifier: id
    fields:
      id: string
      merchant: { ref: account }
      courier: { ref: account }
      reference: string
      to: address
      back: address
      card: card
      pin: { type: string, stored: false }
      weight_g: integer
      price: number
      service: { enum: [standard, express] }
      due: { type: string, format: date-time }
      seen: { type: integer, format: unix-time }
      labels: { type: object, additionalProperties: { type: string } }
      lines: { type: array, items: { type: object, properties: { sku: string, count: integer, product: { ref: account } }, required: [count, product] } }
      paid: boolean
      pay: { oneOf: [{ type: object, properties: { kind: { const: card }, digits: string }, required: [kind, digits] }, { type: object, properties: { kind: { const: iban }, iban: string }, required: [kind, iban] }] }
      anything: {}
    required: [id, merchant, to, weight_g, price, service, due, seen, lines, paid, pay, labels, card]
`);

const request = {
  type: 'object',
  properties: { reason: { type: 'string' }, note: { type: 'string' }, card: { resource: 'card' } },
  required: ['reason', 'card'],
};
const row = { shape: { resource: 'parcel' } };
const scope = scopeOf({
  ...everywhere,
  resource: row,
  next: row,
  request: { shape: request },
  caller: callerVariable(spec, true),
  cursor: { shape: { type: ['string', 'null'] } },
});
const anyone = scopeOf({ ...scope, caller: callerVariable(spec, false) });

/** Expressions that are sound conditions. */
const sound = [
  'resource.merchant == caller.id',
  "resource.service == 'express' && resource.weight_g > 10000",
  'has(resource.reference) && resource.reference != ""',
  '!has(resource.reference) || resource.reference.size() > 3',
  '!(!has(resource.reference) || resource.reference == "")',
  'has(resource.reference) ? resource.reference == "x" : true',
  'has(resource.back) && has(resource.back.postcode) && resource.back.postcode == "1"',
  'resource.merchant.name == "shop"',
  'resource.merchant.owner.owner.name == "shop"',
  'has(resource.courier) && resource.courier.owner.name == "x"',
  'has(resource.merchant.parent) && resource.merchant.parent.name == "x"',
  'resource.lines.all(line, line.count > 0)',
  'resource.lines.exists(line, has(line.sku) && line.sku.startsWith("x"))',
  'resource.lines.map(line, has(line.sku), line.sku).size() > 0',
  'resource.lines.exists(line, line.product.name == "x")',
  'resource.lines[0].count > 1',
  "'colour' in resource.labels && resource.labels.colour == 'red'",
  "has(resource.labels.colour) && resource.labels['colour'] == 'red'",
  'resource.due < now && resource.seen < now && resource.due > resource.seen',
  "plus(resource.due, 'P1M') > now",
  'resource.price * 2.0 > double(resource.weight_g)',
  'resource.paid',
  'resource.anything == 3 || resource.anything.deep.deeper',
  'caller.claims.tenant == resource.id',
  'has(caller.key) && caller.key == "k"',
  "resource.pay.kind == 'card' && has(resource.pay.digits) && resource.pay.digits != ''",
  'cursor != null && cursor.startsWith("a")',
  'request.card.number == "4242"',
  'cel.bind(name, resource.merchant.name, name == "a" || name == "b")',
  'resource.id.matches("^pcl_[a-z]+$")',
  'has(find(share, { parcel: resource.id, account: caller.id }))',
  "has(find(share, { parcel: resource.id, account: caller.id })) && find(share, { 'account': caller.id, parcel: resource.id }).role == 'write'",
  "has(find(share, { parcel: resource.id, account: caller.id }).role) && find(share, { parcel: resource.id, account: caller.id }).role == 'write'",
  "cel.bind(own, find(share, { parcel: resource.id, account: caller.id }), has(own.role) && own.role == 'write')",
  "has(find(account, { id: caller.id })) && find(account, { id: caller.id }).owner.name == 'a'",
  "['a', 'b'].exists(one, has(find(share, { parcel: resource.id, account: one })))",
];

test('a sound condition has no problem', () => {
  for (const source of sound) assert.deepEqual(problemsOf(source), [], source);
});

/** Expression → kind of problem, the text that it is about, and a word of the message or the remedy. */
const wrong: readonly (readonly [source: string, kind: string, about: string, says: string])[] = [
  ['has(find(share))', 'parse', 'find(share)', 'name of a resource, and the fields'],
  ['has(find(share, {}))', 'parse', 'find(share, {})', 'name of a resource, and the fields'],
  ['has(find(share, { 1: caller.id }))', 'parse', '1', 'fields by their names'],
  ['has(find(share, { id: "a", "id": "b" }))', 'parse', '"id"', 'given twice'],
  ['has(find(shares, { id: "a" }))', 'find', 'find(shares, { id: "a" })', 'Did you mean `share`?'],
  ['has(find(address, { city: "a" }))', 'find', 'find(address, { city: "a" })', 'no kept resource'],
  ['has(find(share, { acount: "a" }))', 'field', 'acount', 'Did you mean `account`?'],
  ['has(find(share, { parcel: resource.id }))', 'find', 'find(share, { parcel: resource.id })', 'unique: [[parcel]]'],
  ['has(find(share, { slot: 1 }))', 'find', 'find(share, { slot: 1 })', '`{ parcel, account }`'],
  ['has(find(share, { parcel: resource.merchant, account: "a" }))', 'type', 'resource.merchant', 'one `account`'],
  ['has(find(share, { parcel: 1, account: "a" }))', 'type', '1', '`parcel` is a string'],
  ["find(account, { id: caller.id }).name == 'a'", 'absent', 'find(account, { id: caller.id }).name', 'has(find(account'],
  ['resource.merchant ==', 'parse', '', 'cannot be read'],
  ["resource.id = 'x'", 'parse', '=', '`==`'],
  ['1u == 1u', 'parse', '1u', 'unsigned'],
  [`${'!'.repeat(2000)}resource.paid`, 'size', '', 'too large'],
  ['x'.repeat(5000), 'size', 'x'.repeat(5000), '4096'],
  ['parcel.id == "x"', 'scope', 'parcel', 'In scope here: `now`'],
  ['resourse.id == "x"', 'scope', 'resourse', 'Did you mean `resource`?'],
  ['resource.merchent == "x"', 'field', 'resource.merchent', 'Did you mean `merchant`?'],
  ['resource.to.town == "x"', 'field', 'resource.to.town', 'It has `city`, `postcode`'],
  ['has(resource.refrence)', 'field', 'resource.refrence', 'Did you mean `reference`?'],
  ['resource.merchant.nam == "x"', 'field', 'resource.merchant.nam', 'Did you mean `name`?'],
  [
    'resource.merchant.owner.owner.owner.name == "x"',
    'field',
    'resource.merchant.owner.owner.owner.name',
    'more than 3 references',
  ],
  ['resource.weight_g.grams > 1', 'field', 'resource.weight_g.grams', 'an integer and has no field'],
  ['resource.pin == "1"', 'field', 'resource.pin', 'not stored'],
  ['resource.card.number == "4242"', 'field', 'resource.card.number', 'not stored'],
  ['resource.reference == "x"', 'absent', 'resource.reference', '`has(resource.reference) && …`'],
  ['resource.reference == "x" && has(resource.reference)', 'absent', 'resource.reference', 'may be absent'],
  ['has(resource.reference) || resource.reference == "x"', 'absent', 'resource.reference', 'may be absent'],
  ['has(next.reference) && resource.reference == "x"', 'absent', 'resource.reference', 'may be absent'],
  ['resource.back.city == "x"', 'absent', 'resource.back', 'may be absent'],
  ['has(resource.back.postcode)', 'absent', 'resource.back', 'may be absent'],
  ['resource.courier.name == "x"', 'absent', 'resource.courier', 'may be absent'],
  ['resource.merchant.parent.name == "x"', 'absent', 'resource.merchant.parent', 'may be absent'],
  ['resource.lines.all(line, line.sku != "")', 'absent', 'line.sku', 'may be absent'],
  ['resource.lines.exists(l, has(l.sku)) && resource.lines.all(l, l.sku != "")', 'absent', 'l.sku', 'may be absent'],
  ['resource.labels.colour == "red"', 'absent', 'resource.labels.colour', 'may be absent'],
  ['resource.pay.digits == "1"', 'absent', 'resource.pay.digits', 'may be absent'],
  ['request.note == ""', 'absent', 'request.note', 'may be absent'],
  ['cursor.startsWith("a")', 'type', 'cursor.startsWith("a")', 'a string or null'],
  ['resource.reference == null', 'type', 'resource.reference == null', '`!has(resource.reference)`'],
  ['resource.weight_g == "x"', 'type', 'resource.weight_g == "x"', 'between an integer and a string'],
  ['resource.weight_g * 2.5 > 1.0', 'type', 'resource.weight_g * 2.5', 'needs a cast'],
  ['resource.id && resource.paid', 'type', 'resource.id', 'where a condition stands'],
  ['resource.id.startWith("x")', 'scope', 'resource.id.startWith("x")', 'Did you mean `startsWith`?'],
  ['split(resource.id, "_").size() > 1', 'scope', 'split(resource.id, "_")', '`….split(…)`'],
  ['plus(resource.id, "P1M") > now', 'type', 'plus(resource.id, "P1M")', 'a string, a string'],
  ['resource.id.matches("(?=x)")', 'type', '"(?=x)"', 'looks ahead'],
  ['resource.lines["a"].count > 1', 'field', 'resource.lines["a"]', 'no field `a`'],
  ['(resource.paid ? 1 : "x") == 1', 'type', 'resource.paid ? 1 : "x"', 'differ'],
  ['resource.weight_g', 'result', 'resource.weight_g', 'an integer where a boolean'],
  ['true', 'constant', 'true', 'always true'],
  ['resource.paid || 1 + 1 == 2', 'constant', 'resource.paid || 1 + 1 == 2', 'always true'],
  ['[1, 2].all(n, n > 1)', 'constant', '[1, 2].all(n, n > 1)', 'always false'],
];

test('what is wrong with a condition is named, with its place and what to write instead', () => {
  for (const [source, kind, about, says] of wrong) {
    const [problem, ...more] = problemsOf(source);
    assert.ok(problem, `${source} has no problem`);
    assert.deepEqual(more, [], source);
    const { offset = 0, length = 0 } = problem;
    assert.deepEqual([problem.kind, source.slice(offset, offset + length)], [kind, about], problem.message);
    assert.ok(`${problem.message} ${problem.remedy ?? ''}`.includes(says), `${problem.message} ${problem.remedy ?? ''}`);
  }
});

test('where anyone may call, the caller is asked for with has', () => {
  assert.equal(problemsOf('caller.id == resource.id', anyone)[0]?.kind, 'absent');
  assert.deepEqual(problemsOf('has(caller.id) && caller.id == resource.id', anyone), []);
});

/** Expression, the shape that is wanted, and the problem's kind or none. */
const results: readonly (readonly [source: string, expected: Expected, kind?: string])[] = [
  ['now', { shape: { type: 'string', format: 'date-time' } }],
  ['now', { shape: { type: 'integer', format: 'unix-time' } }],
  ['resource.id', { shape: { type: 'string', format: 'date-time' } }, 'result'],
  ['resource.weight_g', { shape: { type: 'number' } }],
  ['resource.price', { shape: { type: 'integer' } }, 'result'],
  ['int(round(resource.price * 100.0))', { shape: { type: 'integer' } }],
  ["resource.id.split('_')", { shape: { type: 'array', items: { type: 'string' } } }],
  ['resource.merchant', { shape: { type: 'string', ref: 'account' } }],
  ['resource.to', { shape: { resource: 'address' } }],
  ['resource.to', { shape: { resource: 'card' } }, 'result'],
  ["'expres'", { shape: { enum: ['standard', 'express'], type: 'string' } }, 'result'],
  ["resource.paid ? 'express' : 'standard'", { shape: { enum: ['standard', 'express'], type: 'string' } }],
  ['has(resource.reference) ? resource.reference : null', { shape: { type: 'string' }, optional: true }],
  ['has(resource.reference) ? resource.reference : null', { shape: { type: 'string' } }, 'result'],
  ["{'a': resource.weight_g, 'b': 'x'}", { shape: { type: 'object', properties: { a: { type: 'integer' } } } }],
  ['caller.claims.x', { shape: { type: 'string' } }],
];

test('what comes out fits where it goes', () => {
  for (const [source, expected, kind] of results) {
    const problems = checkExpression(spec, { source, role: 'value', expected, scopes: [{ scope }] });
    assert.deepEqual(
      problems.map((problem) => problem.kind),
      kind === undefined ? [] : [kind],
      source,
    );
  }
});

test('an expression that stands for several operations names those in which it is wrong', () => {
  const scopes = [
    { operation: 'create parcel', scope: scopeOf({ next: row }) },
    { operation: 'buy parcel', scope: scopeOf({ next: row, resource: row }) },
  ];
  const [problem, ...more] = checkExpression(spec, { source: 'resource.paid', role: 'condition', expected: aBoolean, scopes });
  assert.deepEqual(more, []);
  assert.deepEqual([problem?.kind, problem?.operations], ['scope', ['create parcel']]);
  const everywhereWrong = checkExpression(spec, { source: 'next.pait', role: 'condition', expected: aBoolean, scopes });
  assert.deepEqual(
    everywhereWrong.map(({ kind, operations }) => [kind, operations]),
    [['field', undefined]],
  );
});

function problemsOf(source: string, where: Scope = scope) {
  return checkExpression(spec, { source, role: 'condition', expected: aBoolean, scopes: [{ scope: where }] });
}

function specOf(text: string): Spec {
  const document: Document = { title: '', tree: parse(text), places: new Map(), prose: [], sources: new Map(), findings: [] };
  return readSpec(document);
}
