import { type Chance, chanceOf } from '../../bench/drawn/chance.ts';
import type { Json, JsonMap } from '../../src/document/document.ts';
import { type EvaluationContext, Failed, type Raw } from '../../src/parts/expressions/cel-value.ts';
import { checkExpression } from '../../src/parts/expressions/check.ts';
import { compileExpression } from '../../src/parts/expressions/compile.ts';
import { toFilter } from '../../src/parts/expressions/filter.ts';
import { filterParam } from '../../src/parts/expressions/filter-form.ts';
import { callerVariable, everywhere, scopeOf } from '../../src/parts/expressions/scope.ts';
import { textFunctions } from '../../src/parts/expressions/text-functions.ts';
import { timeFunctions } from '../../src/parts/expressions/time-functions.ts';
import { keyMeant } from '../../src/parts/key-words.ts';
import { compilePattern, programOf } from '../../src/parts/patterns/pattern.ts';
import { runnerOf } from '../../src/parts/patterns/run.ts';
import { readSpec } from '../../src/parts/spec.ts';
import { read } from '../check/harness.ts';
import { digest, type Line } from './approval.ts';

/** Expressions, patterns and words that are drawn rather than taken from documents: so many share a line. */
export function* drawn(): Generator<Line> {
  yield* inLines('expressions', 120, expressionsSaid);
  yield* inLines('patterns', 60, patternsFound);
  yield ['drawn.words', digest(wordsMeant())];
}

function* inLines(what: string, lines: number, say: (chance: Chance) => unknown): Generator<Line> {
  for (let line = 0; line < lines; line++) {
    const chance = chanceOf(line);
    const said = Array.from({ length: 50 }, () => say(chance));
    yield [`drawn.${what}.${line}`, digest(said)];
  }
}

const document = read(`
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
      ready: boolean
      due: { type: string, format: date-time }
      seen: { type: integer, format: unix-time }
      lines: { type: array, items: { type: object, properties: { sku: string, count: integer }, required: [count] } }
      anything: {}
    required: [id, merchant, others, weight_g, big, price, ready, due, seen, lines]
    unique: [[reference]]
`);
const spec = readSpec(document);
const row = { shape: { resource: 'parcel' } };
const scope = scopeOf({ ...everywhere, resource: row, next: row, caller: callerVariable(spec, true) });
const accounts: Readonly<Record<string, Raw>> = {
  a1: { id: 'a1', name: 'shop', parent: 'a2', since: '2020-02-29T12:00:00+02:00' },
  a2: { id: 'a2', name: 'chain' },
};
const parcel: Raw = {
  id: 'pcl_1',
  merchant: 'a1',
  others: ['a2', 'gone'],
  reference: null,
  weight_g: 12_000,
  big: 9_007_199_254_740_993n,
  price: 9.5,
  ready: true,
  due: '2026-01-31T10:00:00.5+02:00',
  seen: 1_769_846_400,
  lines: [{ sku: 'x', count: 2 }, { count: 5 }],
  anything: { n: 3, list: [1, 'x'], nothing: null },
};
const contexts: readonly EvaluationContext[] = [
  parcel,
  { ...parcel, reference: 'r', back: { city: 'Ulm' }, ready: false, lines: [], merchant: 'gone' },
].map((resource) => ({
  now: new Date('2026-03-01T00:00:00Z'),
  operation: 'buy parcel',
  version: '2026-06-01',
  resource,
  next: { ...resource, weight_g: 10, price: -0.25 },
  caller: { id: 'a1', user: 'merchant', scopes: ['parcels', 'quotes'], claims: { tenant: 't', level: 2 } },
  follow: (resource, key) =>
    resource === 'account' ? accounts[String(key)] : { ...parcel, id: String(Object.values(Object(key))[0]) },
}));

/** What has a type: names, literals, and what is made of others. `E` stands for another of the type in brackets behind it. */
const forms: Readonly<Record<string, readonly string[]>> = {
  string: ['resource.id', 'resource.reference', 'next.reference', 'resource.back.city', 'resource.back.note', 'caller.id', 'caller.user', "'a'", "'grüße 😀b'", "'a,b, c'", "''", 'resource.merchant.name', 'resource.merchant.parent.name', 'resource.merchant', 'operation', "'P1DT2H'", "'-P1M'", "'Europe/Berlin'", "'90m'", "'12'", "'2.5'", "'true'", "'2024-03-10T01:02:03Z'", 'string(E[int])', 'string(E[double])', 'string(E[time])', 'string(E[bool])', 'E[string] + E[string]', 'E[list].join(E[string])', 'E[bool] ? E[string] : E[string]', 'caller.claims.tenant', 'resource.lines[E[int]].sku', 'cel.bind(x, E[string], x + x)'],
  int: ['0', '1', '-3', '7', '9223372036854775807', 'resource.weight_g', 'next.weight_g', 'resource.big', 'resource.anything.n', 'caller.claims.level', 'E[int] + E[int]', 'E[int] - E[int]', 'E[int] * E[int]', 'E[int] / E[int]', 'E[int] % E[int]', '-E[int]', 'int(E[double])', 'int(E[string])', 'int(E[time])', 'size(E[string])', 'size(E[list])', 'E[list].size()', 'resource.lines[0].count', 'E[bool] ? E[int] : E[int]', 'resource.lines.map(l, l.count)[E[int]]'],
  double: ['0.5', '2.5', '-1e3', 'resource.price', 'next.price', 'double(E[int])', 'double(E[string])', 'round(E[double])', 'E[double] + E[double]', 'E[double] * E[double]', 'E[double] / E[double]', '-E[double]'],
  bool: ['true', 'false', 'resource.ready', 'E[int] == E[int]', 'E[int] != E[double]', 'E[double] < E[int]', 'E[int] >= E[int]', 'E[string] == E[string]', 'E[string] <= E[string]', 'E[time] < E[time]', 'E[duration] > E[duration]', 'E[bool] && E[bool]', 'E[bool] || E[bool]', '!E[bool]', 'has(resource.reference)', 'has(resource.back.note)', 'has(resource.merchant.parent)', 'E[string] in E[list]', 'E[int] in [1, 2, 7]', 'E[list].exists(x, x == E[string])', 'E[list].all(x, x != E[string])', 'E[list].exists_one(x, x == E[string])', 'resource.lines.exists(l, l.count > E[int])', 'E[list] == E[list]', 'bool(E[string])', 'has(resource.reference) && resource.reference == E[string]', 'resource.ready == E[bool]', 'resource.merchant == caller.id', 'resource.merchant.name == E[string]', "find('parcel', {'reference': E[string]}).ready"],
  time: ['now', 'resource.due', 'resource.seen', 'resource.merchant.since', "timestamp('2024-02-29T23:59:59.999Z')", "timestamp(E[int])", "timestamp(E[string])", "plus(E[time], 'P1M')", "plus(E[time], E[string])", 'E[time] + E[duration]', 'E[time] - E[duration]'],
  duration: ["duration('1h30m')", "duration('-2s')", "duration('1.5s')", 'E[time] - E[time]', 'E[duration] + E[duration]', 'duration(E[string])'],
  list: ['caller.scopes', 'resource.others', "['a', 'b', 'a']", '[]', '[E[string], E[string]]', 'E[string].split(E[string])', 'E[list] + E[list]', 'E[list].filter(x, x > E[string])', 'E[list].map(x, x + E[string])', 'E[list].map(x, x != E[string], x)', 'resource.anything.list', 'resource.lines.map(l, has(l.sku), l.sku)'],
  map: ["{'a': E[int], 'b': E[list]}", 'resource.back', 'resource.lines[0]', 'resource.anything', '{}'],
}; // biome-ignore format: a table

const types = Object.keys(forms);
const wantedOf: Readonly<Record<string, JsonMap>> = {
  string: { type: 'string' },
  int: { type: 'integer' },
  double: { type: 'number' },
  bool: { type: 'boolean' },
  time: { type: 'string', format: 'date-time' },
  list: { type: 'array', items: { type: 'string' } },
};
const argumentOf: Readonly<Record<string, string>> = { timestamp: 'time', texts: 'list' };

function sourceOf(type: string, chance: Chance, depth: number): string {
  // What does not fit is said, and fails.
  const own = chance.between(1, 25) === 1 ? chance.one(types) : type;
  const all = [...(forms[own] ?? [])];
  const form =
    depth > 2 || (depth > 0 && chance.between(1, 3) > 1)
      ? chance.one(all.filter((one) => !one.includes('E[')))
      : chance.one([...all, ...callsOf(own, chance)]);
  return form.replace(/E\[(\w+)\]/g, (_whole, inner: string) => {
    const source = sourceOf(inner, chance, depth + 1);
    return /[ ?]/.test(source) && chance.between(1, 12) > 1 ? `(${source})` : source;
  });
}

/** Functions on texts and times that come to a type. */
function callsOf(type: string, chance: Chance): string[] {
  const some = [...textFunctions, ...timeFunctions].filter(
    ({ result }) => (result.is === 'timestamp' ? 'time' : result.is) === type,
  );
  if (some.length === 0) return [];
  return Array.from({ length: 12 }, () => {
    const { name, on, args } = chance.one(some);
    const given = args.map((one) => `E[${argumentOf[String(one)] ?? String(one)}]`).join(', ');
    return on === undefined ? `${name}(${given})` : `E[${argumentOf[String(on)] ?? String(on)}].${name}(${given})`;
  });
}

function expressionsSaid(chance: Chance): unknown[] {
  const type = chance.one(types);
  const source = sourceOf(type, chance, 0);
  const wanted = chance.between(1, 5) > 1 ? (wantedOf[type] ?? {}) : { type: 'boolean' };
  const expected = { shape: wanted, optional: chance.between(1, 4) === 1 };
  const compiled = compileExpression(spec, { source, scope, expected });
  const role = type === 'bool' ? 'condition' : 'value';
  const filter = role === 'condition' ? toFilter(spec, { source, scope }) : undefined;
  return [
    source,
    checkExpression(spec, { source, role, expected, scopes: [{ scope }] }),
    [compiled.reads, compiled.seeks],
    contexts.map((context) => [told(compiled.evaluate(context)), told(compiled.value(context))]),
    filter &&
      ('filter' in filter
        ? [filter.filter, ...contexts.map((one) => filter.params.map((param) => filterParam(param, one)))]
        : filter),
  ];
}

function told(value: unknown): unknown {
  return value instanceof Failed ? [value.reason, value.message] : value;
}

const plain = ['a', 'b', 'ß', '😀', '.', '\\d', '\\w', '\\s', '\\S', '\\b', '\\B', '[a-c]', '[^a-c]', '[\\d_-]', '[^\\w]', '\\.', '\\u0041', '\\x61', '\\t', '\\p{L}', '\\P{Lu}', '^', '$']; // biome-ignore format: a table
const pieces = [...plain, '(?:E|E)', '(E)', '(?<n>E)', '(?=E)', '(?!E)', '(?<=E)', '(?<!E)', '(?i:E)', '(?s-i:E)', '(?-s:E)', '\\1', 'E|E', 'EE', 'EE', 'E*', 'E+', 'E?', 'E{2}', 'E{1,3}', 'E{2,}', 'E*?', 'E{,2}', '(', '[', '\\']; // biome-ignore format: a table
const texts = [
  '',
  'a',
  'ab',
  'aab',
  'abab',
  'A1_',
  'ß',
  '😀',
  'a b\tc',
  'a\nb',
  '..',
  'cab',
  'aaaaaaaaaaaaaaaaaaaaaaaa!',
  'bbb-12',
  'AB',
];

function patternOf(chance: Chance, depth: number): string {
  const piece = chance.one(depth > 3 ? plain : depth === 0 ? pieces.slice(plain.length) : pieces);
  return piece.replaceAll(/(?<!\\p\{)E/g, () => patternOf(chance, depth + 1));
}

/** Whether a pattern is found in texts, by each way of looking and in each dialect. */
function patternsFound(chance: Chance): unknown[] {
  const pattern = patternOf(chance, 0);
  const compiled = compilePattern(pattern);
  const byDialect = (['points', 'units', 're2'] as const).map((dialect) => {
    const program = programOf(pattern, dialect);
    if (typeof program === 'string') return program;
    const run = runnerOf(program, dialect !== 'units');
    return [program.steps.length, texts.map((text) => run(text))];
  });
  return [pattern, compiled?.longest, texts.map((text) => compiled?.test(text)), byDialect];
}

/** What is told of each word of other languages at each sort of place. */
function wordsMeant(): unknown[] {
  const words = 'min max gte ge atLeast lte le atMost gt lt length size values options choices allowed oneOf regex regexp matches mandatory not_null references foreign-key belongsTo readonly immutable properties attributes columns primaryKey key id operationId name body requestBody payload returns responses answer answers query params queryParameters period interval every requests count calls start begin actions edges nullable null optional unique auth security roles other'; // biome-ignore format: a list
  const places: readonly (readonly string[])[] = [
    ['minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems', 'exclusiveMinimum', 'exclusiveMaximum', 'enum', 'pattern', 'required', 'ref', 'readOnly'],
    ['fields', 'identifier', 'states', 'initial', 'transitions'],
    ['as', 'request', 'response', 'parameters', 'does', 'window', 'limit'],
  ]; // biome-ignore format: a table
  const ofTypes: readonly Json[] = ['string', 'string?', 'array', 'integer', {} as JsonMap];
  return words.split(' ').flatMap((word) => places.map((known) => ofTypes.map((type) => keyMeant(word, known, type))));
}
