import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { wantsColour } from '../src/cli/terminal.ts';
import { verbs } from '../src/cli/verbs/all.ts';
import { main } from '../src/cli.ts';

const root = join(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'ninefold-cli-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const parcels = join(root, 'examples/parcels.md');
const unspecified = join(root, 'examples/unspecified.md');
const sound = file('sound.md', '# Notes\n\n## Limits\n\nNot yet: sizes.\n');
const broken = file('broken.yaml', 'title: Broken\nlimits: { size: none, rat: none }\nstates: none\n');
const quotes = file(
  'quotes.yaml',
  'title: Quotes\nendpoints:\n  GET /quotes: { does: handler quote, response: { 200: { type: object } } }\n  POST /: { does: !open "What?" }\n',
);
const users = file(
  'users.yaml',
  'title: Users\npurpose: { purpose: P., base_url: none, users: { merchant: M., courier: C. }, functions: none }\n',
);
const handlers = file('handlers.ts', 'export const handlers = { quoet: () => 1 };');

interface Answer {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** What one command answers, run in this process over a terminal that only keeps what it is given. */
async function run(
  words: readonly string[],
  shown: { isTTY?: boolean; columns?: number; colour?: boolean } = {},
): Promise<Answer> {
  let out = '';
  let err = '';
  const code = await main(words, {
    isTTY: false,
    columns: 100,
    colour: false,
    ...shown,
    write: (text) => {
      out += text;
    },
    complain: (text) => {
      err += text;
    },
  });
  return { code, out, err };
}

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const misuses: readonly (readonly [words: readonly string[], says: string])[] = [
  [['chek', 'a.md'], 'chek is no verb. Did you mean check?'],
  [['frobnicate'], 'frobnicate is no verb. There is check, serve, verify, keys,'],
  [['--versoin'], '--versoin is no option. Did you mean --version?'],
  [['check'], 'check needs a document'],
  [['check', 'a.md', 'b.md'], 'check takes one document; a.md, b.md are 2.'],
  [['check', 'a.md', '--opne'], '--opne is no option of check. Did you mean --open?'],
  [['check', 'a.md', '--frobnicate'], '--frobnicate is no option of check. It has --help, --open, --json'],
  [['check', 'a.md', '--json=yes'], '--json takes no value.'],
  [['check', 'a.md', '--require'], '--require needs a value: --require PARTS.'],
  [['check', 'a.md', '--require', '--json'], '--require needs a value: --require PARTS.'],
  [['check', 'a.md', '--require', 'errors,endpoint'], '--require endpoint: that is no part. Did you mean endpoints?'],
  [['check', 'a.md', '--require', 'x'], '--require x: that is no part. The parts are purpose, resources,'],
  [['check', 'missing.md'], 'missing.md cannot be read: there is no such file.'],
  [['check', folder], 'cannot be read: it is a folder.'],
  [['serve', 'a.md', '--port', '70000'], '--port 70000: a port is a number from 1 to 65535, or 0 for a free one.'],
  [['serve', 'a.md', '--port', 'http'], '--port http: a port is a number'],
  [['serve', 'a.md', '--host', 'a b'], '--host a b: write an address of this machine, such as 127.0.0.1'],
  [['serve', 'a.md', '--log', 'prety'], '--log prety: did you mean pretty?'],
  [['serve', 'a.md', '--log', 'x'], '--log x: write pretty or json.'],
  [['serve', 'a.md', '--open', 'acept'], '--open acept: did you mean accept?'],
  [['serve', 'missing.md'], 'missing.md cannot be read: there is no such file.'],
  [['serve', parcels, '--as', 'merchant'], '--as merchant: the document states how callers show who they are;'],
  [['serve', users, '--as', 'merchnt'], '--as merchnt: did you mean merchant?'],
  [['serve', users, '--as', 'x'], "--as x: the document's users are merchant, courier."],
  [['serve', parcels, '--handlers', 'missing.ts'], 'missing.ts cannot be read: there is no such file.'],
  [
    ['serve', quotes, '--handlers', file('throws.ts', 'throw new Error("no key")')],
    'throws.ts could not be loaded:\nError: no key',
  ],
  [['serve', quotes, '--handlers', file('imports.ts', 'import "./gone.ts";')], 'imports.ts could not be loaded:'],
  [
    ['serve', quotes, '--handlers', file('empty.ts', '')],
    "empty.ts exports nothing by name, and the document's handlers are quote.",
  ],
  [
    ['serve', quotes, '--handlers', file('other.ts', 'export function price() {}')],
    "exports price, and the document's handlers are quote.",
  ],
  [['serve', quotes, '--handlers', handlers], 'has a handler `quoet`, which the document does not have. Did you mean `quote`?'],
  [
    ['serve', quotes, '--handlers', file('before.ts', 'export const before = { "list x": () => 1 }')],
    'has code before `list x`, which the document does not have: its operations are handler quote, POST /.',
  ],
  [
    ['serve', quotes, '--handlers', file('number.ts', 'export const handlers = { quote: 1 }')],
    '`quote` in its export `handlers` is no function',
  ],
  [['serve', parcels, '--rows', 'missing.yaml'], 'missing.yaml cannot be read: there is no such file.'],
  [['serve', parcels, '--rows', file('list.yaml', '- a')], 'holds no map from resource to list of rows'],
  [['serve', parcels, '--rows', file('twice.yaml', 'parcel: []\nparcel: []')], 'twice.yaml:2:1'],
  [
    ['serve', parcels, '--rows', file('other.json', '{ "parcels": [] }')],
    '`parcels` is no resource with rows. Did you mean `parcel`?',
  ],
  [
    ['serve', parcels, '--rows', file('value.json', '{ "address": [] }')],
    '`address` is no resource with rows; the document has parcel, scan, webhook.',
  ],
  [['serve', parcels, '--rows', file('row.yaml', 'parcel: [1]')], 'row 1 of `parcel` is no map of fields'],
  [['serve', parcels, '--store', join(root, 'package.json')], 'package.json is not a store of Ninefold.'],
  [['export', parcels], 'export needs a format: --to '],
  [['export', parcels, '--to', 'typescript', '-o', join(root, 'nowhere', 'x.ts')], 'x.ts cannot be written: '],
  [['export', parcels, '--to', 'typescript', '-o'], '-o needs a value: -o FILE.'],
  [['export', parcels, '--to', 'smoke'], '--to smoke: no such format. There is '],
  [['export', parcels, '--to', 'typescrpt'], '--to typescrpt: no such format. Did you mean typescript?'],
];

for (const [words, says] of misuses) {
  const command = words.map((word) => word.replace(/^.*[/\\](?=.)/, '')).join(' ');
  test(`\`ninefold ${command}\` cannot be carried out, says why and exits with 2`, async () => {
    const { code, out, err } = await run(words);
    assert.deepEqual({ code, out }, { code: 2, out: '' });
    assert.ok(err.includes(says), err);
  });
}

test('without a word the help goes to the standard error, and the exit code is 2', async () => {
  const { code, out, err } = await run([]);
  assert.deepEqual({ code, out }, { code: 2, out: '' });
  assert.match(err, /^Usage$/m);
});

test('a misspelt command points to the help, one that cannot be carried out for another reason does not', async () => {
  assert.match((await run(['check', 'a.md', '--opne'])).err, /ninefold check --help shows what there is\.\n$/);
  assert.match((await run(['chek'])).err, /ninefold --help shows what there is\.\n$/);
  assert.doesNotMatch((await run(['check', 'missing.md'])).err, /--help/);
});

test('--version is the version of the package', async () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  for (const word of ['--version', '-v']) assert.deepEqual(await run([word]), { code: 0, out: `${version}\n`, err: '' });
});

test('--help names each verb, and with a verb each of its options, as docs/command-line.md does', async () => {
  const page = readFileSync(join(root, 'docs/command-line.md'), 'utf8');
  const overall = await run(['--help']);
  assert.equal(overall.code, 0);
  for (const verb of verbs) {
    assert.ok(overall.out.includes(verb.summary), verb.name);
    const asked = await Promise.all([run([verb.name, '--help']), run(['help', verb.name]), run([verb.name, 'a.md', '-h'])]);
    assert.deepEqual(new Set(asked.map(({ code, out }) => `${code}\n${out}`)).size, 1);
    const section = page.split(/^## /m).find((text) => text.startsWith(`\`ninefold ${verb.name}`)) ?? '';
    for (const [name, { value, short }] of Object.entries(verb.options)) {
      const option = `${short === undefined ? '' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`;
      assert.ok(asked[0].out.includes(`  ${option} `), `${verb.name} --help does not name ${option}`);
      assert.ok(section.includes(`\`${option}\``), `docs/command-line.md does not name ${option} under ${verb.name}`);
    }
  }
});

test('check of a sound document shows nine rows and a total, and ends in one line that sums it up', async () => {
  const { code, out, err } = await run(['check', parcels]);
  assert.deepEqual({ code, err }, { code: 0, err: '' });
  const lines = out.trimEnd().split('\n');
  assert.equal(lines[0], 'Parcels');
  const rows = lines.slice(3, 13).map((line) => line.split(/\s+/).slice(0, 6));
  assert.deepEqual(
    rows.map(([name]) => name),
    ['purpose', 'resources', 'states', 'endpoints', 'authentication', 'events', 'errors', 'limits', 'versioning', 'total'],
  );
  const sums = [1, 2, 3, 4, 5].map((column) => rows.slice(0, 9).reduce((sum, row) => sum + countOf(row[column]), 0));
  assert.deepEqual(rows[9]?.slice(1).map(countOf), sums);
  assert.equal(new Set(lines.slice(3, 12).map((line) => line.indexOf('█'))).size, 1, 'the bars stand in one column');
  assert.equal(lines.at(-1), `${parcels}: sound, 0 open facts of ${sums.reduce((a, b) => a + b)}`);
});

test('a document with nothing stated is sound, and --open tells each open fact with its prose', async () => {
  const { code, out } = await run(['check', unspecified, '--open']);
  assert.equal(code, 0);
  assert.match(out, /: sound, 40 open facts of 40\n$/);
  assert.equal(out.match(/unspecified\.md:\d+:\d+$/gm)?.length, 40);
  assert.match(out, /^purpose {2}4 open facts$/m);
  assert.match(out, /^ {2}│ Purpose, functions and users of the service: not shown\./m);
  assert.match(out, /^ {2}base address {3}.*unspecified\.md:5:4$/m);
});

test('--open asks the questions that the document asks', async () => {
  const { out } = await run(['check', quotes, '--open']);
  assert.match(out, /^ {2}response payload shapes of POST \/.*quotes\.yaml:4:\d+\n {6}\? What\?$/m);
});

test('a finding that is an error is shown at its place, and the exit code is 1', async () => {
  const { code, out } = await run(['check', broken]);
  assert.equal(code, 1);
  assert.match(out, /^error\[form\/unknown-key\]: `rat` is no key of this place\.\n *--> .*broken\.yaml:2:23$/m);
  assert.match(out, /help: Write `rate`\.$/m);
  assert.match(out, /broken\.yaml: 1 error, \d+ open facts of \d+\n$/);
});

test('warnings alone leave a document sound', async () => {
  const { code, out } = await run([
    'check',
    file('warning.md', '# A\n\n## Limits\n\n```yaml\nsize: none\n```\n\n## Elsewhere\n\n```yaml\nsize: none\n```\n'),
  ]);
  assert.equal(code, 0);
  assert.match(out, /^warning\[/m);
  assert.match(out, /: sound, 1 warning, \d+ open facts of \d+\n$/);
});

test('--json has the title, the verdict, the counts, each fact and each finding with its place, and nothing else', async () => {
  const { code, out } = await run(['check', broken, '--json']);
  const report = JSON.parse(out);
  assert.equal(code, 1);
  assert.deepEqual(Object.keys(report), ['title', 'sound', 'counts', 'facts', 'findings']);
  assert.deepEqual([report.title, report.sound], ['Broken', false]);
  const standings = ['stated', 'none', 'any', 'inferred', 'open'];
  assert.deepEqual(Object.keys(report.counts), ['total', 'parts']);
  assert.deepEqual(Object.keys(report.counts.parts.limits), standings);
  for (const standing of standings) {
    const facts = report.facts.filter((fact: { standing: string }) => fact.standing === standing);
    assert.equal(facts.length, report.counts.total[standing], standing);
  }
  const states = report.facts.find(({ kind }: { kind: string }) => kind === 'states');
  assert.deepEqual(Object.keys(states).sort(), ['at', 'kind', 'part', 'place', 'standing', 'subject']);
  assert.deepEqual(report.findings, [
    {
      code: 'form/unknown-key',
      severity: 'error',
      message: '`rat` is no key of this place.',
      remedy: 'Write `rate`.',
      at: '/limits/rat',
      place: { file: broken, line: 2, column: 23, endLine: 2, endColumn: 26 },
    },
  ]);
});

test('--require makes findings of the open facts of its parts, and of no others', async () => {
  assert.equal((await run(['check', unspecified, '--require', 'errors'])).code, 1);
  const { code, out } = await run(['check', unspecified, '--require', ' errors,states', '--require', 'limits', '--json']);
  const { findings, sound: isSound } = JSON.parse(out);
  assert.deepEqual({ code, isSound, count: findings.length }, { code: 1, isSound: false, count: 4 + 2 + 5 });
  assert.deepEqual(new Set(findings.map((finding: { code: string }) => finding.code)), new Set(['ledger/open']));
  assert.equal((await run(['check', parcels, '--require', 'endpoints,errors'])).code, 0);
});

test('colours are there where they are wanted, and take no room', async () => {
  const plain = await run(['check', broken, '--open']);
  const coloured = await run(['check', broken, '--open'], { colour: true });
  assert.equal(stripVTControlCharacters(plain.out), plain.out);
  assert.notEqual(coloured.out, plain.out);
  assert.equal(stripVTControlCharacters(coloured.out), plain.out);
});

test('FORCE_COLOR decides before NO_COLOR, and both before the terminal', () => {
  const cases: readonly (readonly [Record<string, string>, isTTY: boolean, wanted: boolean])[] = [
    [{}, true, true],
    [{}, false, false],
    [{ TERM: 'dumb' }, true, false],
    [{ NO_COLOR: '1' }, true, false],
    [{ NO_COLOR: '' }, true, true],
    [{ FORCE_COLOR: '1', NO_COLOR: '1' }, false, true],
    [{ FORCE_COLOR: '' }, false, true],
    [{ FORCE_COLOR: '0' }, true, false],
  ];
  for (const [environment, isTTY, wanted] of cases) {
    assert.equal(wantsColour(environment, isTTY), wanted, JSON.stringify([environment, isTTY]));
  }
});

test('what a document says cannot steer the terminal', async () => {
  const hostile = file('hostile.yaml', 'title: "A\\e[2JB"\nstates: !open "Why\\e]0;x\\a?"\n');
  const { out } = await run(['check', hostile, '--open']);
  assert.ok([...out].every((character) => character >= ' ' || character === '\n'));
  assert.match(out, /^A␛\[2JB$/m);
});

test('serve of a document that is not sound shows the findings, serves nothing and exits with 1', async () => {
  const { code, out } = await run(['serve', broken, '--port', '0']);
  assert.equal(code, 1);
  assert.match(out, /^error\[form\/unknown-key\]/m);
  assert.match(out, /broken\.yaml: 1 error, \d+ open facts of \d+; nothing is served\.\n$/);
  const json = await run(['serve', broken, '--port', '0', '--log', 'json']);
  assert.equal(json.code, 1);
  assert.deepEqual(
    { event: JSON.parse(json.out).event, findings: JSON.parse(json.out).findings.length },
    { event: 'unsound', findings: 1 },
  );
});

test('export of a document that is not sound complains, writes nothing and exits with 1', async () => {
  const { code, out, err } = await run(['export', broken, '--to', 'typescript']);
  assert.deepEqual({ code, out }, { code: 1, out: '' });
  assert.match(err, /^error\[form\/unknown-key\]/);
});

test('export writes TypeScript', async () => {
  const { code, out, err } = await run(['export', parcels, '--to', 'typescript']);
  assert.deepEqual({ code, err }, { code: 0, err: '' });
  assert.match(out, /\bParcel\b/);
  assert.equal((await run(['export', sound, '--to', 'typescript'])).code, 0);
});

function countOf(cell: string | undefined): number {
  return cell === '·' ? 0 : Number(cell);
}
