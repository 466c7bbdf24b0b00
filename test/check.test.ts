import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { rules } from '../src/check/all.ts';
import { check, requireClosed } from '../src/check/check.ts';
import { type PartName, partNames } from '../src/document/document.ts';
import { parseDocument } from '../src/document/read/parse.ts';
import { readDocument } from '../src/document/read/read.ts';
import { isKey } from '../src/parts/form.ts';
import { cases } from './check/cases/all.ts';
import { proseCases, silentProse } from './check/cases/prose.ts';
import { quiet } from './check/cases/quiet.ts';
import { base, changed, found, named, read } from './check/harness.ts';
import { wordsOf, writtenWords } from './check/words.ts';

test('the base document of these tests has no findings', () => {
  assert.deepEqual(found(base), []);
});

const written = writtenWords();

for (const [at, one] of cases.entries()) {
  const { snippets, finds } = one;
  test(`${snippets.join(', ').slice(0, 160)} gives ${finds[0]}`, () => {
    const document = changed(snippets);
    const { findings } = check(document);
    assert.deepEqual([...new Set(findings.map(named))], finds);
    assert.equal(wordsOf(one, document, findings), written[at], 'after a change on purpose: node test/check/words.ts');
  });
}

test('what is found is written down for each case, and for no other', () => {
  assert.equal(written.length, cases.length);
});

for (const [what, snippets] of Object.entries(quiet)) {
  test(`${what} gives no finding`, () => {
    assert.deepEqual(found(changed(snippets)), []);
  });
}

for (const { text, finds } of proseCases) {
  test(`the prose “${text.trim().split('\n')[0]}” gives ${finds}`, () => {
    const findings = check(read(`# Notes\n\n${text}`, 'notes.md')).findings;
    assert.deepEqual(
      findings.map((finding) => `${named(finding)}, line ${finding.place.line - 2}`),
      finds,
    );
  });
}

test('prose that only speaks of a part gives no finding', () => {
  for (const text of silentProse) assert.deepEqual(found(read(`# Notes\n\n${text}`, 'notes.md')), [], text);
});

test('every rule has a case that it finds something in', () => {
  const raised = new Set([...cases, ...proseCases].flatMap(({ finds }) => finds.map((find) => find.split(' ')[0])));
  assert.deepEqual(
    rules.map(({ code }) => code).filter((code) => !raised.has(code)),
    [],
  );
});

test('no two rules have one code, and each stands under what it is about', () => {
  const codes = rules.map(({ code }) => code);
  assert.deepEqual(codes, [...new Set(codes)]);
  for (const code of codes)
    assert.match(
      code,
      /^(?:purpose|resources|states|endpoints|authentication|events|errors|limits|versioning|shapes|expressions|prose)\/[a-z][a-z-]+$/,
    );
});

test('a finding stands where the mistake is, also inside an expression', () => {
  const text = [
    '# Notes',
    '',
    '## Resources',
    '',
    '```yaml',
    'note:',
    '  identifier: { field: id, generate: ulid }',
    '  fields:',
    '    id: string',
    '    title: string',
    '    made: { type: string, readOnly: true, set: { create: "string(nxet.titel)" } }',
    '  required: [id, titel]',
    '```',
    '',
    '## States',
    '',
    '### nite',
    '',
    '```yaml',
    'field: status',
    '```',
  ];
  const findings = check(read(text.join('\n'), 'notes.md')).findings;
  const places = findings.map(({ code, place }) => `${code} ${place.line}:${place.column}-${place.endColumn}`);
  assert.deepEqual(places, [
    'expressions/not-in-scope 11:66-70',
    'resources/unknown-required 12:18-23',
    'states/unknown-resource 17:5-9',
  ]);
});

test('findings are in the order of the text, and none is there twice', () => {
  const document = changed([
    'resources: { note: { unique: [[titel, titel]] } }',
    'purpose: { base_url: nowhere }',
    'limits: { size: { body: much } }',
  ]);
  const { findings, sound } = check(document);
  assert.equal(sound, false);
  assert.deepEqual(findings.map(named), [
    'purpose/base-url @ /purpose/base_url',
    'resources/unknown-unique @ /resources/note/unique/0/0',
    'resources/unknown-unique @ /resources/note/unique/0/1',
    'limits/size @ /limits/size/body',
  ]);
});

test('warnings leave a document sound', () => {
  const { findings, sound } = check(changed(['endpoints: { GET /count: { request: { type: object } } }']));
  assert.deepEqual([findings.map(({ severity }) => severity), sound], [['warning'], true]);
});

test('what has the wrong form is found once, by its form', () => {
  assert.deepEqual(found(changed(['purpose: { base_url: 5 }', 'limits: { rate: 5 }'])), [
    'form/wrong-value @ /purpose/base_url',
    'form/wrong-value @ /limits/rate',
  ]);
});

test('the example documents have no findings', async () => {
  for (const name of ['parcels.md', 'library.md', 'clinic.yaml', 'tickets.md', 'issues.md', 'unspecified.md']) {
    const document = await readDocument(join(import.meta.dirname, '../examples', name), { isKey });
    assert.deepEqual(found(document), [], name);
  }
});

test('of the document that specifies nothing all forty facts are open, each with its prose', () => {
  const { ledger, sound, title } = check(example('unspecified.md'));
  assert.equal(sound, true);
  assert.match(title, /Unspecified Service/);
  assert.deepEqual(Object.keys(ledger.parts), [...partNames]);
  assert.equal(new Set(ledger.facts.map(({ part, kind }) => `${part}/${kind}`)).size, 40);
  assert.deepEqual([...new Set(ledger.facts.map(({ standing }) => standing))], ['open']);
  for (const { part, kind, prose } of ledger.facts) assert.match(prose ?? '', /not shown/, `${part}, ${kind}`);
});

test('a document of one line has forty open facts and no findings', () => {
  const { ledger, findings } = check(read('# A service', 'line.md'));
  assert.deepEqual([ledger.total.open, ledger.facts.length, findings], [40, 40, []]);
});

test('a standing for the whole of a part is that of each of its facts', () => {
  const counted = (part: PartName, standing: string) => check(read(`{ title: T, ${part}: ${standing} }`)).ledger.parts[part];
  for (const [part, facts] of [
    ['purpose', 4],
    ['errors', 2],
    ['limits', 5],
  ] as const) {
    assert.deepEqual(counted(part, 'none'), { stated: 0, none: facts, any: 0, inferred: 0, open: 0 }, part);
    assert.ok(counted(part, 'any').any >= facts, part);
    assert.equal(counted(part, '!any').open, 0, part);
  }
  const { ledger } = check(read('{ title: T, limits: !open "how many?" }'));
  const questions = ledger.facts.filter(({ part }) => part === 'limits').map(({ question }) => question);
  assert.deepEqual(new Set(questions), new Set(['how many?']));
});

test('a part that is required to be closed gives a finding for each of its open facts', () => {
  const report = requireClosed(check(example('unspecified.md')), ['errors', 'states']);
  assert.equal(report.sound, false);
  assert.deepEqual(
    report.findings.map(({ code, message }) => `${code}: ${message}`),
    [
      'ledger/open: Open: states of service.',
      'ledger/open: Open: transitions of service.',
      'ledger/open: Open: error codes of service.',
      'ledger/open: Open: status codes of service.',
      'ledger/open: Open: error payload shapes of service.',
      'ledger/open: Open: conditions of service.',
    ],
  );
  assert.deepEqual(requireClosed(check(example('parcels.md')), [...partNames]).findings, []);
});

function example(name: string) {
  return read(readFileSync(join(import.meta.dirname, '../examples', name), 'utf8'), name);
}

test('of one sort a thousand findings are told, and how many more there are', () => {
  const codes = Object.fromEntries(Array.from({ length: 1_500 }, (_, at) => [`c${at}`, { status: 400 }]));
  const { findings } = check(read(JSON.stringify({ errors: { codes } }), 'many.json'));
  const told = findings.filter(({ code }) => code === 'errors/never-given');
  assert.equal(told.length, 1_000);
  const [more] = findings.filter(({ code }) => code === 'document/too-many-findings');
  assert.equal(more?.message, 'There are 500 more of `errors/never-given`.');
});

test('no more of a document is read than the heap of the process holds', () => {
  const text = JSON.stringify({
    errors: { codes: Object.fromEntries(Array.from({ length: 1_500 }, (_, at) => [`c${at}`, { status: 400 }])) },
  });
  const codesOf = (heapBytes?: number) =>
    parseDocument(text, 'many.json', { isKey, ...(heapBytes && { heapBytes }) }).findings.map(({ code }) => code);
  assert.deepEqual(codesOf(), []);
  assert.deepEqual(codesOf(4 * 1024 ** 2), ['document/too-many-values']);
});
