import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { command } from './verify/command.ts';
import { notes } from './verify/notes.ts';
import { openStand, type StandOptions } from './verify/stand.ts';

const folder = mkdtempSync(join(tmpdir(), 'ninefold-verify-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const document = join(folder, 'notes.yaml');
writeFileSync(document, notes);

const spoilt: StandOptions = {
  spoil: ({ method, target, text }) =>
    method === 'GET' && /notes\/[^/]+$/.test(target) ? { text: text.replace(/"stars":\d/, '"stars":4') } : {},
};

async function over(options: StandOptions, use: (url: string) => Promise<void>): Promise<void> {
  const stand = await openStand(notes, options);
  try {
    await use(stand.url);
  } finally {
    await stand.close();
  }
}

const only = ['--only', 'resources/stored'];

test('what is held is nine rows and exit code 0', () =>
  over({}, async (url) => {
    const { code, out } = await command(['verify', document, '--url', url, '--seed', '1', ...only]);
    assert.equal(code, 0, out);
    assert.match(out, /resources\s+\d+\s+\d+\s+·/);
    assert.match(out, /nothing broken, \d+ held, \d+ partly, \d+ not testable, \d+ open; \d+ requests/);
    assert.match(out, /^not testable\n +\d+ {2}\S.* \(\S.* of \S.*, .* and \d+ more\)$/m, 'why facts are not testable is told');
  }));

test('a breach is a frame of its line, what was promised and seen, its steps, a replay and shell commands, and exit code 1', () =>
  over(spoilt, async (url) => {
    const { code, out } = await command(['verify', document, '--url', url, '--seed', '1', ...only]);
    assert.equal(code, 1);
    for (const piece of [
      'stars: { type: integer',
      'promised',
      'seen',
      'steps',
      '--replay',
      'curl -s -i',
      'URL=http://127.0.0.1:',
    ]) {
      assert.ok(out.includes(piece), `${piece} is not in ${out}`);
    }
  }));

test('a replay by its id asks that one thing again, and fails for as long as it is so', async () => {
  let id = '';
  await over(spoilt, async (url) => {
    const { out } = await command(['verify', document, '--url', url, '--seed', '1', '--json', ...only]);
    id = JSON.parse(out).breaches[0].id;
    assert.equal((await command(['verify', document, '--url', url, '--replay', id])).code, 1);
  });
  await over({}, async (url) => {
    const { code, out } = await command(['verify', document, '--url', url, '--replay', id]);
    assert.equal(code, 0, out);
  });
});

test('a baseline knows what was broken before', () =>
  over(spoilt, async (url) => {
    const words = ['verify', document, '--url', url, '--seed', '1', ...only];
    const baseline = join(folder, 'baseline.json');
    writeFileSync(baseline, (await command([...words, '--json'])).out);
    const { code, out } = await command([...words, '--baseline', baseline]);
    assert.equal(code, 0);
    assert.match(out, /\(known\)/);
  }));

test('JUnit has a case for each fact, SARIF a result at the line, the page everything', () =>
  over(spoilt, async (url) => {
    const files = ['junit', 'sarif', 'html'].map((form) => join(folder, `report.${form}`));
    const [junit = '', sarif = '', html = ''] = files;
    const { out } = await command([
      'verify',
      document,
      '--url',
      url,
      '--seed',
      '1',
      ...only,
      '--json',
      '--junit',
      junit,
      '--sarif',
      sarif,
      '--html',
      html,
    ]);
    const report = JSON.parse(out);
    assert.equal(readFileSync(junit, 'utf8').match(/<testcase /g)?.length, report.facts.length);
    assert.equal(readFileSync(junit, 'utf8').match(/<failure /g)?.length, report.breaches.length);
    const [result] = JSON.parse(readFileSync(sarif, 'utf8')).runs[0].results;
    assert.equal(result.locations[0].physicalLocation.region.startLine, report.breaches[0].place.line);
    assert.match(readFileSync(html, 'utf8'), /<h2>Broken<\/h2>/);
  }));

const misuses: readonly (readonly [words: readonly string[], says: RegExp])[] = [
  [['verify', document], /verify needs the address of a running service/],
  [['verify', document, '--url', 'http://127.0.0.1:9', '--as', 'writer'], /--as wants a user and a credential/],
  [['verify', document, '--url', 'nowhere'], /nowhere is no address/],
  [['verify', document, '--url', 'http://198.51.100.7'], /--yes-this-host 198\.51\.100\.7/],
  [['verify', document, '--url', 'http://127.0.0.1:9', '--time', 'soon'], /--time soon: write a duration/],
  [['verify', document, '--url', 'http://127.0.0.1:9', '--auth', join(folder, 'none.yaml')], /none\.yaml cannot be read/],
  [['verify', document, '--url', 'http://127.0.0.1:9'], /Nothing answers at/],
];

for (const [words, says] of misuses) {
  test(`\`ninefold ${words.filter((word) => word !== document).join(' ')}\` cannot be carried out`, async () => {
    const { code, err } = await command(words);
    assert.equal(code, 2);
    assert.match(err, says);
  });
}

for (const [what, words, told] of [
  ['a user that is not stated', ['--as', 'merchnt=pk'], /merchnt is no user of the document\. Did you mean merchant\?/],
  ['a word of --only that names nothing', ['--only', 'limts'], /--only limts: [^\n]*Did you mean limits\?/],
  ['a seed that is no number', ['--seed', '1e3'], /--seed 1e3: write a whole number/],
  ['a clock on another machine', ['--clock', 'http://198.51.100.7/'], /198\.51\.100\.7 is not this machine/],
  ['a clock beside --read-only', ['--read-only', '--clock', 'http://127.0.0.1:9/'], /--read-only moves no clock|The clock at/],
] as const) {
  test(`${what} is told before anything is sent`, async () => {
    const { code, err, out } = await command(['verify', 'examples/parcels.md', '--url', 'http://127.0.0.1:9', ...words]);
    assert.equal(code, 2);
    assert.match(err, told);
    assert.equal(out, '');
  });
}

test('the seeds that a run tells are taken again, and a replay that asks for nothing is no success', () =>
  over({}, async (url) => {
    assert.equal((await command(['verify', document, '--url', url, '--seed', '2147483647', ...only])).code, 0);
    const { code, err } = await command(['verify', document, '--url', url, '--replay', 'nonsense']);
    assert.equal(code, 2);
    assert.match(err, /--replay nonsense: no case of this document has that id/);
  }));

test('a share of held facts may be asked for, and what cannot be written is told before anything is sent', () =>
  over({}, async (url) => {
    const asked = ['verify', document, '--url', url, '--seed', '1', ...only];
    const less = await command([...asked, '--least', '99%']);
    assert.deepEqual([less.code, /% of the facts are held, and --least asks for 99 %/.test(less.err)], [1, true], less.err);
    assert.equal((await command([...asked, '--least', '0.1%'])).code, 0);
    assert.match((await command([...asked, '--least', 'all'])).err, /a share of the facts from 0 to 100/);
    const nowhere = await command([...asked, '--html', join(folder, 'nowhere', 'report.html')]);
    assert.deepEqual([nowhere.code, nowhere.out], [2, '']);
    assert.match(nowhere.err, /cannot be written/);
  }));

test('a document that is not sound ends with exit code 1, as everywhere', async () => {
  const unsound = join(folder, 'unsound.yaml');
  writeFileSync(unsound, 'endpoints: { GET /things: { does: list thing } }\nresources: none\n');
  const { code } = await command(['verify', unsound, '--url', 'http://127.0.0.1:9']);
  assert.equal(code, 1);
});

test('a run that speaks for nobody whom the document asks for a credential ends with exit code 2', async () => {
  const guarded = join(folder, 'guarded.yaml');
  writeFileSync(
    guarded,
    `
purpose: { users: { keeper: Who keeps them. } }
resources: { thing: { identifier: { field: id, generate: ulid }, fields: { id: string } } }
endpoints: { POST /things: { does: create thing } }
authentication: { schemes: { key: { type: api_key, header: X-Key } }, permissions: [{ allow: create thing, to: keeper }] }
`,
  );
  const stand = await openStand(readFileSync(guarded, 'utf8'), {});
  try {
    const { code, err } = await command(['verify', guarded, '--url', stand.url, '--seed', '1']);
    assert.equal(code, 2, err);
    assert.match(err, /No credential was given for `keeper`: --as keeper=CREDENTIAL/);
    assert.match(err, /nothing was held/);
  } finally {
    await stand.close();
  }
});
