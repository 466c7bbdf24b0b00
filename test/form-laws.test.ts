import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import schema from '../schema/ninefold.schema.json' with { type: 'json' };
import type { Json, JsonMap } from '../src/document/document.ts';
import { isMap, isStanding } from '../src/document/values.ts';
import { checkForm } from '../src/parts/form.ts';
import { base, read } from './check/harness.ts';
import { times } from './long.ts';

/** A mistake at one place: a key that is misspelt, or a value of another form. */
interface Mistake {
  readonly path: readonly string[];
  readonly how: 'misspelt' | 'a map' | 'a number';
}

const tree = JSON.parse(JSON.stringify({ title: base.title, ...base.tree })) as JsonMap;

function pathsIn(value: Json, path: readonly string[] = []): string[][] {
  if (Array.isArray(value)) return value.flatMap((item, at) => pathsIn(item, [...path, String(at)]));
  if (!isMap(value) || isStanding(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => [[...path, key], ...pathsIn(inner, [...path, key])]);
}

function withMistake(value: Json, { path, how }: Mistake): Json {
  const [key = '', ...rest] = path;
  if (Array.isArray(value)) return value.map((item, at) => (String(at) === key ? withMistake(item, { path: rest, how }) : item));
  const entries = Object.entries(value as JsonMap).map(([name, inner]): [string, Json] => {
    if (name !== key) return [name, inner];
    if (rest.length > 0) return [name, withMistake(inner, { path: rest, how })];
    return how === 'misspelt' ? [`${name}${name.at(-1)}`, inner] : [name, how === 'a map' ? { wrong: 1 } : 7];
  });
  return Object.fromEntries(entries);
}

/** What is found of the form, whole: where, what, and what to write instead. */
function foundWith(mistakes: readonly Mistake[]): string[] {
  const text = JSON.stringify(mistakes.reduce<Json>(withMistake, tree), undefined, 1);
  return checkForm(read(text, 'laws.json'))
    .map(({ code, at, message, remedy }) => `${code} @ ${at}: ${message} ${remedy}`)
    .toSorted();
}

const paths = pathsIn(tree).filter(([part]) => part !== 'title');
const how = fc.constantFrom<Mistake['how']>('misspelt', 'a map', 'a number');
const mistakeAt = (among: readonly string[][]) => fc.record({ path: fc.constantFrom(...among), how });
/** Maps of which two keys can be wrong: there one mistake was said in the words of another form. */
const neighbours = [...Map.groupBy(paths, (path) => path.slice(0, -1).join('\n')).values()].filter((list) => list.length > 1);
const pair = fc.oneof(
  fc.tuple(mistakeAt(paths), mistakeAt(paths)),
  fc.constantFrom(...neighbours).chain((list) => fc.tuple(mistakeAt(list), mistakeAt(list))),
);

/** Whether neither is the other's, or lies inside it. */
function areApart(one: Mistake, other: Mistake): boolean {
  const [a, b] = [one, other].map(({ path }) => `${path.join('\n')}\n`) as [string, string];
  return !a.startsWith(b) && !b.startsWith(a);
}

test('two mistakes that are found alone are found together, at their places and in the same words', () => {
  let pairs = 0;
  fc.assert(
    fc.property(pair, ([one, other]) => {
      fc.pre(areApart(one, other));
      const [first, second] = [foundWith([one]), foundWith([other])];
      fc.pre(first.length > 0 && second.length > 0);
      pairs += 1;
      assert.deepEqual(foundWith([one, other]), [...first, ...second].toSorted());
    }),
    { numRuns: times(25, 350), maxSkipsPerRun: 100, seed: 13 },
  );
  assert.ok(pairs >= times(15, 30));
});

test('several mistakes in a map that is the only one of its place are each said in words of that map', () => {
  const text = `authentication:
  schemes:
    key: { type: api_key, header: X-Key, prefx: Bearer, plaecholder: x }
limits: { rate: [{ per: caller, kind: slidng, limt: 3, window: 1m }] }
`;
  assert.deepEqual(
    checkForm(read(text, 'mistakes.yaml')).map(({ message, remedy }) => `${message} ${remedy}`),
    [
      '`prefx` is no key of this place. Write `prefix`.',
      '`plaecholder` is no key of this place. Write `placeholder`.',
      '`slidng` does not fit here. Write `sliding`.',
      '`limt` is no key of this place. Write `limit`.',
    ],
  );
});

/** Forms of the published schema that have an example, by their place. */
function exampledIn(value: unknown, at: string): { readonly at: string; readonly examples: readonly unknown[] }[] {
  if (typeof value !== 'object' || value === null) return [];
  const inner = Object.entries(value).flatMap(([key, one]) =>
    exampledIn(one, `${at}/${encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'))}`),
  );
  return 'examples' in value && Array.isArray(value.examples) ? [{ at, examples: value.examples }, ...inner] : inner;
}

test('what is shown as an example to whoever wrote something else fits its form', () => {
  const ajv = new Ajv2020({ strict: false });
  ajv.addSchema(schema, 'ninefold');
  const forms = exampledIn(schema, '');
  assert.ok(forms.length >= 8, `there are ${forms.length}`);
  for (const { at, examples } of forms) {
    for (const example of examples) assert.ok(ajv.validate({ $ref: `ninefold#${at}` }, example), `${at}: ${ajv.errorsText()}`);
  }
});
