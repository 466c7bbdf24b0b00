import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { check } from '../src/check/check.ts';
import type { Finding, Json, JsonMap } from '../src/document/document.ts';
import { isMap, isStanding } from '../src/document/values.ts';
import { base, read } from './check/harness.ts';
import { isLong, times } from './long.ts';

/**
 * Two mistakes at places that have nothing to do with each other: what is found of each alone is found of both together, at its place and in the same
 * words. `NINEFOLD_RUNS=2000` draws more pairs, `NINEFOLD_SEED` others. The forms alone have laws of their own (`form-laws.test.ts`).
 */
const { NINEFOLD_RUNS: runs = times(30, 40), NINEFOLD_SEED: seed = '13' } = process.env;

/** A mistake at one place. */
interface Mistake {
  readonly path: readonly string[];
  readonly how: 'misspelt' | 'a map' | 'a number' | 'another word' | 'left out';
}

function treeOf(file: string | undefined): JsonMap {
  const document = file === undefined ? base : read(readFileSync(join(import.meta.dirname, '../examples', file), 'utf8'), file);
  return JSON.parse(JSON.stringify({ title: document.title, ...(document.tree as JsonMap) })) as JsonMap;
}

function pathsIn(value: Json, path: readonly string[] = []): string[][] {
  if (Array.isArray(value)) return value.flatMap((item, at) => [[...path, `${at}`], ...pathsIn(item, [...path, `${at}`])]);
  if (!isMap(value) || isStanding(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => [[...path, key], ...pathsIn(inner, [...path, key])]);
}

function valueAt(tree: Json, path: readonly string[]): Json | undefined {
  // Paths lead through maps and lists.
  return path.reduce<Json | undefined>((value, key) => (value as Record<string, Json>)[key], tree);
}

/** Mistakes are made in what holds no more than words: what holds whole things takes them along. */
function holdsWords(value: Json | undefined): boolean {
  return typeof value !== 'object' || value === null || Object.values(value).every((inner) => typeof inner !== 'object');
}

function withMistake(value: Json, { path, how }: Mistake): Json {
  const [key = '', ...rest] = path;
  const inside = (inner: Json): Json => (rest.length > 0 ? withMistake(inner, { path: rest, how }) : other(inner, how));
  if (Array.isArray(value)) return value.map((item, at) => (String(at) === key ? inside(item) : item));
  return Object.fromEntries(
    Object.entries(value as JsonMap).flatMap(([name, inner]): [string, Json][] => {
      if (name !== key || rest.length > 0) return [[name, name === key ? inside(inner) : inner]];
      if (how === 'left out') return [];
      return how === 'misspelt' ? [[`${name}${name.at(-1)}`, inner]] : [[name, other(inner, how)]];
    }),
  );
}

function other(value: Json, how: Mistake['how']): Json {
  if (how === 'a map') return { wrong: 1 };
  if (how === 'a number') return 7;
  return typeof value === 'string' ? `${value}${value.at(-1) ?? 'x'}` : 'wrong';
}

const words = ({ severity, code, at, message, remedy }: Finding) => `${severity} ${code} @ ${at}: ${message} ${remedy}`;
const isWithin = (at: string, other: string) => at === other || at.startsWith(`${other}/`);
const pointer = (path: readonly string[]) => path.map((part) => `/${part.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

/** What a place is about. Mistakes about one thing have to do with each other, and so do a resource and its machine. */
function thing([part = '', name = '', ...rest]: readonly string[]): string {
  if (part === 'states') return `resources ${name}`;
  if (part === 'resources') return rest[0] === 'fields' ? `resources ${name} ${rest[1]}` : `resources ${name}`;
  if (part === 'endpoints') return `${part} ${name}`;
  return [part, name, ...rest].slice(0, part === 'versioning' ? 4 : 3).join(' ');
}

function areApart(one: Mistake, other: Mistake): boolean {
  const [a, b] = [thing(one.path), thing(other.path)];
  return a !== b && !a.startsWith(`${b} `) && !b.startsWith(`${a} `);
}

for (const file of isLong || process.env.NINEFOLD_RUNS ? [undefined, 'parcels.md', 'tickets.md', 'clinic.yaml'] : [undefined]) {
  test(`two mistakes in ${file ?? 'a small document'} are found together as each is found alone`, () => {
    const tree = treeOf(file);
    const found = (mistakes: readonly Mistake[]): Finding[] =>
      check(read(JSON.stringify(mistakes.reduce<Json>(withMistake, tree), undefined, 1), 'mistakes.json')).findings.slice();
    const before = new Set(found([]).map(words));
    const known = new Map<string, readonly Finding[]>();
    const alone = (mistake: Mistake): readonly Finding[] => {
      const key = JSON.stringify(mistake);
      const had = known.get(key) ?? found([mistake]).filter((finding) => !before.has(words(finding)));
      known.set(key, had);
      return had;
    };
    // What is found elsewhere, too, has to do with other places.
    const isLocal = ({ path }: Mistake, findings: readonly Finding[]) =>
      findings.length > 0 && findings.every(({ at }) => isWithin(at ?? '', pointer(path.slice(0, -1))));
    const paths = pathsIn(tree).filter((path) => path.length > 2 && holdsWords(valueAt(tree, path)));
    const mistake = fc.record({
      path: fc.constantFrom(...paths),
      how: fc.constantFrom<Mistake['how']>('misspelt', 'a map', 'a number', 'another word', 'left out'),
    });
    let pairs = 0;
    fc.assert(
      fc.property(mistake, mistake, (one, other) => {
        if (!areApart(one, other)) return;
        const [first, second] = [alone(one), alone(other)];
        if (!isLocal(one, first) || !isLocal(other, second)) return;
        pairs += 1;
        const both = new Set(found([one, other]).map(words));
        assert.deepEqual(
          [...first, ...second].map(words).filter((said) => !both.has(said)),
          [],
        );
      }),
      { numRuns: Number(runs), seed: Number(seed), endOnFailure: process.env.NINEFOLD_RUNS !== undefined },
    );
    assert.ok(pairs > Number(runs) / 10, `${pairs} pairs of ${runs}`);
    if (process.env.NINEFOLD_RUNS) console.log(`${file ?? 'small'}: ${pairs} pairs`);
  });
}

test('a map where words are listed is found, and ends nothing', () => {
  const text = `title: Notes
resources:
  note:
    identifier: { field: id, generate: integer }
    fields: { id: integer, status: { enum: [open, { shut: 1 }], readOnly: true }, of: { type: [string, { a: 1 }] }, in: { type: object, properties: { a: string }, required: [a, { b: 1 }] } }
    required: [id, { status: 1 }]
states: { note: { field: status, initial: open, states: [open, shut], transitions: { shut: open -> shut } } }
endpoints: { POST /notes: { does: create note }, "POST /notes/{id}/shut": { does: shut note } }
authentication: none
`;
  const { findings } = check(read(text, 'maps.yaml'));
  for (const at of ['/resources/note/required/1', '/resources/note/fields/status/enum', '/resources/note/fields/in/required/1'])
    assert.ok(
      findings.some((finding) => finding.at === at),
      `${at} is found: ${findings.map(words).join('\n')}`,
    );
});
