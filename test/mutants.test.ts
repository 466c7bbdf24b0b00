import assert from 'node:assert/strict';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Reach, rarities, reaches, reachOf } from '../scripts/mutants/coverage.ts';
import { exceptionFor, exceptions } from '../scripts/mutants/exceptions.ts';
import { change, lineOf, mutated } from '../scripts/mutants/mutant.ts';
import { mutantsOf } from '../scripts/mutants/operators.ts';
import { reportText, tallies } from '../scripts/mutants/report.ts';
import { drawn } from '../scripts/mutants/sample.ts';
import { Selection } from '../scripts/mutants/selection.ts';
import { tried, type Verdict } from '../scripts/mutants/trial.ts';

/** A piece of TypeScript, and every line that the operators make of it. */
const snippets: readonly { readonly from: string; readonly to: readonly string[] }[] = [
  { from: 'if (a) b();', to: ['condition: if (!(a)) b();', 'statement: if (a) ;'] },
  { from: 'if (!a) b();', to: ['negation: if ((a)) b();', 'statement: if (!a) ;'] },
  { from: 'const c: boolean = a === b;', to: ['comparison: const c: boolean = a !== b;'] },
  { from: 'const c = (a) <= /* not < */ b;', to: ['comparison: const c = (a) < /* not < */ b;'] },
  { from: 'const c = a && b;', to: ['logic: const c = a || b;'] },
  { from: 'const c = a ?? b;', to: ['logic: const c = ((a) && (b));'] },
  { from: 'const c = -a * 2;', to: ['arithmetic: const c = -a / 2;', 'negation: const c = (a) * 2;'] },
  { from: 'const c = a + "b";', to: [] },
  { from: 'c += 1; c++;', to: ['statement: ; c++;', 'arithmetic: c -= 1; c++;', 'arithmetic: c += 1; c--;'] },
  { from: 'const c = [a, true];', to: ['literal: const c = [];', 'literal: const c = [a, false];'] },
  { from: 'const c = [];', to: [] },
  { from: 'const c: Set<[1, 2]> = new Set();', to: [] },
  { from: "report('states/unreachable', a);", to: ['statement: ;', "code: report('mutant/code', a);"] },
  { from: "import { a } from 'some/where';", to: [] },
  { from: 'const f = (a: A) => a.b;', to: ['result: const f = (a: A) => undefined;'] },
  { from: 'function f() { return { a }; }', to: ['result: function f() { return undefined; }'] },
  { from: 'const c = a.some(b);', to: ['method: const c = a.every(b);'] },
  { from: 'const c = a.trim();', to: ['method: const c = (a);'] },
  { from: 'const c = a?.b?.[0];', to: ['optional: const c = a.b?.[0];', 'optional: const c = a?.b[0];'] },
];

for (const { from, to } of snippets) {
  test(`of \`${from}\` ${to.length === 0 ? 'no mutant is' : `${to.length} mutants are`} made`, () => {
    const made = mutantsOf(from).map((mutant) => `${mutant.operator}: ${mutated(from, mutant)}`);
    assert.deepEqual(made.sort(), [...to].sort());
  });
}

test('a mutant is shown as the lines that it touches, as they are and as it leaves them', () => {
  const text = 'const a = 1;\nif (\n  a > 2\n) b();\n';
  const [first] = mutantsOf(text);
  assert.ok(first);
  assert.deepEqual([lineOf(text, first), change(text, first)], [3, { from: 'a > 2', to: '!(a > 2)' }]);
});

test('every mutant that is set aside as equivalent is still made; take out those that are not', () => {
  const texts = globSync('src/**/*.ts', { cwd: join(import.meta.dirname, '..') }).map((path) =>
    readFileSync(join(import.meta.dirname, '..', path), 'utf8'),
  );
  const about = texts.filter((text) => exceptions.some(({ from }) => text.includes(from)));
  const met = about.flatMap((text) => mutantsOf(text).map((mutant) => exceptionFor(change(text, mutant))));
  assert.deepEqual(
    exceptions.filter((exception) => !met.includes(exception)),
    [],
  );
});

test('the same seed draws the same, another seed another, and never the same one twice', () => {
  const all = Array.from({ length: 100 }, (_, at) => at);
  assert.deepEqual(drawn(all, 10, 1), drawn(all, 10, 1));
  assert.notDeepEqual(drawn(all, 10, 1), drawn(all, 10, 2));
  assert.deepEqual(
    drawn(all, 200, 3).sort((a, b) => a - b),
    all,
  );
});

test('what no test reaches counts as alive, and a mutant that hangs as killed', () => {
  const outcome = (verdict: Verdict, path = 'src/check/a.ts') => ({
    path,
    line: 1,
    operator: 'logic',
    from: 'a',
    to: 'b',
    verdict,
  });
  const outcomes = [outcome('killed'), outcome('timeout'), outcome('survived'), outcome('no coverage')];
  assert.deepEqual(tallies(outcomes), [{ room: 'check', killed: 1, timeout: 1, survived: 1, uncovered: 1, share: 0.5 }]);
  assert.match(reportText(outcomes, 90), /src\/check\/a\.ts:1 {2}logic, survived\n- a\n\+ b\n[\s\S]*50\.0 % \(too few\)/);
});

const source = 'export const isLarge = (size: number): boolean => size > 10;\nexport const unused = (): boolean => true;\n';
const testFile = (size: number) =>
  `import assert from 'node:assert/strict';\nimport { test } from 'node:test';\nimport { isLarge } from './size.ts';\n` +
  `test('a size', () => assert.equal(isLarge(${size}), ${size > 10}));\n`;

test('a mutant is served in the place of its file to the tests that reach it, and the file stays as it was', async (context) => {
  const root = mkdtempSync(join(tmpdir(), 'ninefold-mutants-'));
  context.after(() => rmSync(root, { recursive: true }));
  writeFileSync(join(root, 'size.ts'), source);
  writeFileSync(join(root, 'far.test.ts'), testFile(99));
  writeFileSync(join(root, 'near.test.ts'), testFile(10));
  writeFileSync(join(root, 'other.test.ts'), "import { test } from 'node:test';\ntest('nothing', () => {});\n");
  const told: string[] = [];
  const measuring = { root, kept: join(root, 'kept.json'), secondsAtMost: 60, told: (line: string) => void told.push(line) };
  const tests = ['far.test.ts', 'near.test.ts', 'other.test.ts'];
  const reach = await reachOf(tests, measuring);
  assert.deepEqual(
    reach.map(({ test: name, ending, files }) => [name, ending, Object.hasOwn(files, 'size.ts')]),
    [
      ['far.test.ts', 'passed', true],
      ['near.test.ts', 'passed', true],
      ['other.test.ts', 'passed', false],
    ],
  );
  assert.equal(told.length, 3);
  await reachOf(tests, measuring);
  assert.equal(told.length, 3, 'nothing has changed, so nothing is measured again');
  assert.ok(
    reach.every((one) => rarities(reach, 'size.ts').get(one) === undefined),
    'only files of src are counted',
  );

  const covered = reach.map((one) => ({
    ...one,
    files: Object.fromEntries(Object.keys(one.files).map((path) => [path, { hash: '', ran: [0, source.indexOf('true')] }])),
  }));
  const selection = new Selection(covered, 60);
  const verdicts = [];
  for (const mutant of mutantsOf(source)) {
    const { verdict, by, to } = await tried({ path: 'size.ts', ...mutant }, selection, { root, folder: root });
    verdicts.push([to, verdict, by]);
  }
  assert.deepEqual(
    verdicts.map(([to, verdict, by]) => [String(to).replace(/^.*=> /, ''), verdict, by]),
    [
      ['undefined;', 'killed', 'far.test.ts'],
      ['size >= 10;', 'killed', 'near.test.ts'],
      ['false;', 'no coverage', undefined],
    ],
  );
  assert.ok(reaches(covered[0]!, 'size.ts', 0) && !reaches(covered[0]!, 'size.ts', source.length));
});

/** A test file that takes so long and runs so many characters of a file of 1000. */
const running = (name: string, seconds: number, characters: number): Reach => ({
  test: name,
  seconds,
  ending: 'passed',
  files: { 'src/a.ts': { hash: '', ran: [0, characters] } },
});
const askedWithin = (secondsAtMost: number, reach: readonly Reach[]) =>
  new Selection(reach, secondsAtMost).testsFor({ path: 'src/a.ts', ...mutantsOf('a === b;')[0]! }).map(({ test: name }) => name);

test('what a test file runs counts for the less, the more others run it', () => {
  const [far, near] = [running('far', 1, 300), running('near', 1, 900)];
  assert.deepEqual([...rarities([far, near], 'src/a.ts').values()], [150, 750]);
  assert.equal(rarities([far, near], 'src/b.ts').size, 0);
});

test('a slow test file that is about a file is asked before quick ones that merely load it, and those as far as there is time', () => {
  const quick = Array.from({ length: 30 }, (_, at) => running(`quick ${at}`, 2, 600));
  assert.deepEqual(askedWithin(16, [...quick, running('about it', 10, 900)]), ['about it', 'quick 0', 'quick 1', 'quick 2']);
  assert.deepEqual(askedWithin(5, [...quick, running('about it', 10, 900)]), ['about it']);
  assert.deepEqual(askedWithin(5, [{ ...running('failing', 1, 900), ending: 'failed' }]), []);
});
