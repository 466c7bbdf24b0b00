import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { variableOf, withSettings } from '../src/cli/serve/layers.ts';
import { Misuse, type VerbCall } from '../src/cli/verb.ts';
import { verbs } from '../src/cli/verbs/all.ts';
import { main } from '../src/cli.ts';

const folder = mkdtempSync(join(tmpdir(), 'ninefold-settings-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const { options } = verbs.find(({ name }) => name === 'serve') ?? assert.fail('there is no serve');

/** A call of `serve` with options as they stand on the command line. */
function call(given: Readonly<Record<string, readonly string[]>>): VerbCall {
  return {
    action: '',
    document: 'notes.yaml',
    options,
    spelt: (option) => `--${option}`,
    has: (option) => option in given,
    value: (option) => given[option]?.at(-1),
    values: (option) => given[option] ?? [],
  };
}

function file(text: string): string {
  const path = join(folder, 'settings.yaml');
  writeFileSync(path, text);
  return path;
}

test('an option comes from the command line, else from the environment, else from the file', async () => {
  const settings = file('port: 1\nhost: 10.0.0.1\nlog: json\nproduction: true\nwebhook: [http://a/, http://b/]\n');
  const environment = {
    NINEFOLD_PORT: '2',
    NINEFOLD_HOST: '10.0.0.2',
    NINEFOLD_WATCH: '1',
    NINEFOLD_STRICT: 'false',
    NINEFOLD_AS: '',
  };
  const asked = await withSettings(call({ settings: [settings], port: ['3'] }), environment);
  assert.equal(asked.value('port'), '3');
  assert.equal(asked.spelt('port'), '--port');
  assert.equal(asked.value('host'), '10.0.0.2');
  assert.equal(asked.spelt('host'), 'NINEFOLD_HOST');
  assert.equal(asked.value('log'), 'json');
  assert.equal(asked.spelt('log'), `${settings}: log`);
  assert.deepEqual(asked.values('webhook'), ['http://a/', 'http://b/']);
  assert.deepEqual(
    ['production', 'watch', 'strict', 'as', 'sample'].map((option) => asked.has(option)),
    [true, true, false, false, false],
  );
});

test('the environment can name the file, give several values, and switch off what the file switches on', async () => {
  const NINEFOLD_SETTINGS = file('watch: true\nproduction: true\nport: 5\n');
  const asked = await withSettings(call({}), {
    NINEFOLD_SETTINGS,
    NINEFOLD_WATCH: 'false',
    NINEFOLD_WEBHOOK: ' http://a/  http://b/ ',
  });
  assert.deepEqual([asked.has('watch'), asked.has('production'), asked.value('port')], [false, true, '5']);
  assert.deepEqual(asked.values('webhook'), ['http://a/', 'http://b/']);
});

test('a setting that is misspelt or of a wrong kind says where it stands and what to write', async () => {
  const wrong: readonly (readonly [text: string, said: RegExp])[] = [
    ['drain_delay: 3\n', /settings\.yaml: drain_delay: there is no such setting\. Did you mean drain-delay\?$/],
    ['settings: other.yaml\n', /settings: there is no such setting/],
    ['- port\n', /settings are a map from option to value, such as "port: 8080"\.$/],
    ['port: [1, 2]\n', /settings\.yaml: port: write PORT, as a text or a number\.$/],
    ['watch: often\n', /settings\.yaml: watch often: write true or false\.$/],
    ['webhook: [true]\n', /webhook: write URL, as a text or a number, or a list of such\.$/],
  ];
  for (const [text, said] of wrong)
    await assert.rejects(withSettings(call({ settings: [file(text)] }), {}), (failure: unknown) => {
      assert.ok(failure instanceof Misuse);
      assert.match(failure.message, said);
      return true;
    });
  await assert.rejects(withSettings(call({}), { NINEFOLD_PRODUCTION: 'yes' }), /NINEFOLD_PRODUCTION yes: write true or false\./);
});

test('what is wrong with a value names the place that it came from', async () => {
  let told = '';
  const terminal = { write: () => {}, complain: (text: string) => (told += text), isTTY: false, columns: 80, colour: false };
  assert.equal(await main(['serve', 'none.yaml', '--settings', file('port: many\n')], terminal), 2);
  assert.match(told, /settings\.yaml: port many: a port is a number from 1 to 65535/);
  told = '';
  assert.equal(await main(['serve', 'none.yaml', '--settings', file('drain: soon\n')], terminal), 2);
  assert.match(told, /settings\.yaml: drain soon: write whole seconds, from 0 to 9999\./);
});

test('the table of settings in docs/operate.md is that of the code, and each of its examples is taken', async () => {
  const page = readFileSync(join(import.meta.dirname, '..', 'docs', 'operate.md'), 'utf8');
  const rows = [...page.matchAll(/^\| `--([a-z-]+)( [^`]+)?` \| `(NINEFOLD_[A-Z_]+)` \| (?:`([^`]+)`|–) \|/gm)];
  assert.deepEqual(
    rows.map(([, option = '', value = '', variable]) => [option, value.trim(), variable]),
    Object.entries(options).map(([option, { value = '' }]) => [option, value, variableOf(option)]),
  );
  for (const [, option = '', , , example] of rows) {
    if (option === 'settings') continue;
    const asked = await withSettings(call({ settings: [file(`${example}\n`)] }), {});
    assert.ok(asked.has(option), `${example} sets ${option}`);
  }
});
