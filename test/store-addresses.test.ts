import assert from 'node:assert/strict';
import { test } from 'node:test';
import { misspeltVariables } from '../src/cli/serve/layers.ts';
import { readSettings } from '../src/cli/serve/settings.ts';
import { verbs } from '../src/cli/verbs/all.ts';
import { main } from '../src/cli.ts';
import { openStore } from '../src/index.ts';

/** Addresses and variables that are misspelt are not taken for something else. */
test('a misspelt parameter of ours is named with the nearest, and those of the database are let through', async () => {
  for (const [wrong, meant] of [
    ['shema', 'schema'],
    ['Schema', 'schema'],
    ['answer_timeuot', 'answer_timeout'],
    ['lisen', 'listen'],
  ])
    assert.throws(() => openStore(`postgres://u:secret@db/notes?${wrong}=x`), {
      message: `postgres://u:…@db/notes: there is no parameter ${wrong}; did you mean ${meant}?`,
    });
  const others = 'sslmode=require&application_name=a&connect_timeout=5&options=-c%20x&target_session_attrs=any';
  await openStore(`postgres://u@127.0.0.1:9/notes?schema=s&${others}`).close();
});

async function served(...options: readonly string[]): Promise<readonly [number, string]> {
  let told = '';
  const write = (text: string) => {
    told += text;
  };
  const terminal = { write, complain: write, isTTY: false, columns: 80, colour: false };
  const code = await main(['serve', `${import.meta.dirname}/../examples/parcels.md`, '--port', '0', ...options], terminal);
  return [code, told];
}

test('an address of a kind that nobody knows is no file', async () => {
  assert.deepEqual(await served('--store', 'postgre://u:secret@db/notes'), [
    2,
    'ninefold: postgre://u:…@db/notes: no data is kept at postgre://; did you mean postgres://?\n',
  ]);
  assert.deepEqual(await served('--store', 'mysql://db/notes'), [
    2,
    'ninefold: mysql://db/notes: no data is kept at mysql://; write postgres://USER@HOST:PORT/DATABASE or the path of a file.\n',
  ]);
});

test('a variable that is written nearly like an option is told, and those of others are not', () => {
  const { options } = verbs.find(({ name }) => name === 'serve') ?? assert.fail('there is no serve');
  const environment = {
    NINEFOLD_PROT: '1',
    NINEFOLD_PORT: '2',
    NINEFOLD_SERVICE_HOST: '10.0.0.1',
    NINEFOLD_WEBHOOK_SECRET: 's',
    PROT: '3',
  };
  assert.deepEqual(misspeltVariables(environment, options), [
    'NINEFOLD_PROT says nothing: there is no such setting. Did you mean NINEFOLD_PORT?',
  ]);
});

test('where web hooks cannot go is told before anything is served', async () => {
  for (const url of ['notaurl', 'ftp://a/', 'https://ann:secret@a/']) {
    const [code, told] = await served('--webhook', url);
    assert.equal(code, 2, url);
    assert.match(told, /^ninefold: --webhook \S+: write an address /);
  }
  for (const hosts of ['http://a', 'a.example, b/c', 'a.example:443', '*']) {
    const [code, told] = await served('--webhook-hosts', hosts);
    assert.equal(code, 2, hosts);
    assert.match(told, /^ninefold: --webhook-hosts \S+: write names of hosts alone/);
  }
  const asked = {
    'webhook-hosts': ['hooks.example.com,*.b.example', '10.0.0.1, ::1', 'localhost'],
    webhook: ['http://127.0.0.1:8080/x'],
  };
  const { options } = verbs.find(({ name }) => name === 'serve') ?? assert.fail('there is no serve');
  const given = (option: string): readonly string[] => (option in asked ? asked[option as keyof typeof asked] : []);
  const call = {
    action: '',
    document: 'a',
    options,
    spelt: String,
    has: (option: string) => option in asked,
    value: () => undefined,
    values: given,
  };
  assert.equal(readSettings(call, { isTTY: false }).host, '127.0.0.1');
});
