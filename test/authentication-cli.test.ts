import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { main } from '../src/cli.ts';
import { oneOfEach } from './long.ts';
import { keyScheme, notes } from './serving/guarded.ts';

/** `ninefold keys` over a file and over a running service, and how `ninefold serve` treats who may call. */
const root = join(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'ninefold-authentication-'));
const started = new Set<ChildProcess>();
after(() => {
  for (const child of started) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});
/** The last line of what is told at the start. */
const listening = /\n(?:made=\S|curl )[^\n]*\n\n/;
const onPosix = { skip: process.platform === 'win32' && 'Windows has no signals' };

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const document = file('notes.yaml', notes(keyScheme));

/** Runs a command in this process. */
async function run(...words: readonly string[]): Promise<{ readonly code: number; readonly out: string; readonly told: string }> {
  let [out, told] = ['', ''];
  const code = await main(words, {
    write: (text) => {
      out += text;
    },
    complain: (text) => {
      told += text;
    },
    isTTY: false,
    columns: 120,
    colour: false,
  });
  return { code, out, told };
}

interface Running {
  readonly out: string;
  readonly child: ChildProcess;
  until(pattern: RegExp): Promise<RegExpMatchArray>;
  end(): Promise<number | null>;
}

function start(words: readonly string[], environment: NodeJS.ProcessEnv = {}): Running {
  const child = spawn(process.execPath, [join(root, 'bin/ninefold.js'), 'serve', ...words], {
    cwd: folder,
    env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: undefined, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  started.add(child);
  let out = '';
  const closed = once(child, 'close');
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (text: Buffer) => {
      out += text;
    });
  }
  return {
    get out() {
      return out;
    },
    child,
    async until(pattern) {
      for (let tries = 0; tries < 1_500; tries++) {
        const found = out.match(pattern);
        if (found) return found;
        if (child.exitCode !== null) break;
        await delay(10);
      }
      assert.fail(`Nothing like ${pattern} came in:\n${out}`);
    },
    async end() {
      child.kill('SIGTERM');
      const [code] = await closed;
      started.delete(child);
      return code;
    },
  };
}

test('keys add, list, rotate and revoke work on a file that nobody serves', async () => {
  const store = join(folder, 'alone.sqlite');
  const words = [document, '--store', store];
  const made = await run(
    'keys',
    'add',
    ...words,
    '--user',
    'reader',
    '--id',
    'm1',
    '--scopes',
    'a, b',
    '--scopes',
    'c',
    '--expires',
    '90d',
  );
  assert.equal(made.code, 0, made.told);
  assert.match(made.out, /^nk_[A-Za-z0-9]{40}\n$/, 'the key alone, to be piped to where it belongs');
  const [, key = ''] =
    /^(key_\w{26}), for reader m1, until \S+\. It is shown this once and kept nowhere\.\n$/.exec(made.told) ?? [];
  assert.ok(key, made.told);
  const listed = await run('keys', 'list', ...words);
  const line = listed.out.split('\n')[1] ?? '';
  assert.match(
    line,
    new RegExp(`^${key} +key +reader +m1 +a,b,c +\\d{4}-\\d\\d-\\d\\d +\\d{4}-\\d\\d-\\d\\d +nk_…${made.out.trim().slice(-4)}$`),
  );
  assert.match(listed.out, /\n1 key\n$/);
  assert.ok(!listed.out.includes(made.out.trim()));
  const turned = await run('keys', 'rotate', ...words, '--key', key, '--keep', '2h');
  assert.match(turned.out, /^nk_\w{40}\n$/);
  assert.match(turned.told, /The old one holds until /);
  assert.match((await run('keys', 'list', ...words)).out, /\n2 keys\n$/);
  const json = JSON.parse((await run('keys', 'list', ...words, '--json')).out);
  assert.deepEqual(
    json.map((one: { serial: number }) => one.serial),
    [1, 2],
  );
  assert.equal((await run('keys', 'revoke', ...words, '--key', key)).out, `Revoked ${key}.\n`);
  assert.match((await run('keys', 'list', ...words)).out, /\n0 keys\n$/);
});

const misspelt: readonly (readonly [words: readonly string[], code: number, told: RegExp])[] = [
  [['keys'], 2, /keys needs to know what to do: keys add DOC, keys list DOC, keys revoke DOC, keys rotate DOC\./],
  [['keys', 'ad', document], 2, /did you mean keys add\?/],
  [['keys', 'add'], 2, /ninefold keys add service\.md/],
  [['keys', 'list', document], 2, /--store FILE/],
  [['keys', 'list', document, '--store', ':memory:'], 2, /--store FILE/],
  [['keys', 'add', document, '--store', 'x.sqlite', '--user', 'reader'], 2, /--id ID/],
  [['keys', 'rotate', document, '--store', 'x.sqlite'], 2, /--key KEY/],
  [['keys', 'revoke', document, '--store', 'x.sqlite', '--user', 'reader'], 2, /--key KEY, or its caller/],
  [['keys', 'list', document, '--store', 'x.sqlite', '--scopes', 'a'], 2, /keys list takes no --scopes/],
  [['keys', 'add', document, '--store', 'x.sqlite', '--id', 'a', '--expires', 'soon'], 2, /no duration/],
  [['keys', 'list', document, '--store', join(folder, 'no/such/folder.sqlite')], 2, /cannot be opened/],
  [['keys', 'list', document, '--store', document], 2, /not a store/],
  [
    ['keys', 'add', document, '--store', join(folder, 'fine.sqlite'), '--id', 'a', '--user', 'raeder'],
    1,
    /Did you mean reader\?/,
  ],
  [['keys', 'revoke', document, '--store', join(folder, 'fine.sqlite'), '--key', 'key_none'], 1, /no key key_none/],
  [['keys', 'list', 'no-such.yaml', '--store', join(folder, 'fine.sqlite')], 2, /no such file/],
];
for (const [words, code, told] of misspelt) {
  test(`ninefold ${words.join(' ').replaceAll(folder, '.')} ends with ${code} and says why`, async () => {
    const ended = await run(...words);
    assert.equal(ended.code, code, ended.told);
    assert.match(ended.told, told);
  });
}

test('a document that is not sound gives out no keys', async () => {
  const broken = file('broken.yaml', notes(keyScheme).replace('all note', 'all nota'));
  const ended = await run('keys', 'list', broken, '--store', join(folder, 'fine.sqlite'));
  assert.equal(ended.code, 1);
  assert.match(ended.told, /error\[/);
});

test('help says how keys are asked for', async () => {
  assert.match((await run('keys', '--help')).out, /Usage {2}ninefold keys add\|list\|revoke\|rotate DOC \[options\]/);
});

test('a password comes from the standard input, so that no list of processes shows it', async () => {
  const login = file('login.yaml', notes('schemes: { login: { type: basic } }'));
  const words = [
    'keys',
    'add',
    login,
    '--store',
    join(folder, 'login.sqlite'),
    '--user',
    'reader',
    '--id',
    'ann',
    '--secret-stdin',
  ];
  const child = spawn(process.execPath, [join(root, 'bin/ninefold.js'), ...words], { stdio: ['pipe', 'pipe', 'inherit'] });
  let out = '';
  child.stdout.on('data', (text: Buffer) => {
    out += text;
  });
  child.stdin.end('pass word 1\n');
  await once(child, 'close');
  // Whoever gave it knows it, and no log of a terminal has to.
  assert.equal(out, '');
});

test(
  'over a running service keys are given out and revoked at once, through a file that only its owner reads',
  onPosix,
  async () => {
    const store = join(folder, 'running.sqlite');
    const running = start([document, '--port', '0', '--store', store, '--production']);
    const [, url = ''] = await running.until(/address {3}(\S+)\n/);
    const admin = `${store}.admin.json`;
    for (let tries = 0; tries < 200 && !existsSync(admin); tries++) await delay(10);
    assert.equal(statSync(admin).mode & 0o777, 0o600);
    const { token } = JSON.parse(readFileSync(admin, 'utf8'));
    assert.ok(!running.out.includes(token));
    const words = [document, '--store', store];
    assert.match(running.out, /^ {2}keys {6}ninefold keys add \S+ --store \S+running\.sqlite --user reader gives one out$/m);
    const made = await run('keys', 'add', ...words, '--user', 'writer', '--id', 'w1');
    assert.equal(made.code, 0, made.told);
    const status = async (key: string) => (await fetch(`${url}/notes`, { headers: { 'x-api-key': key } })).status;
    assert.equal(await status(made.out.trim()), 200);
    const refused = await run('keys', 'add', ...words, '--user', 'wirter', '--id', 'w1');
    assert.deepEqual([refused.code, refused.told], [1, 'ninefold: "wirter" is no user of the document. Did you mean writer?\n']);
    const { key } = JSON.parse((await run('keys', 'list', ...words, '--json')).out)[0];
    assert.equal((await run('keys', 'revoke', ...words, '--key', key)).code, 0);
    assert.equal(await status(made.out.trim()), 401);
    rmSync(admin);
    const lost = await run('keys', 'list', ...words);
    assert.equal(lost.code, 2);
    assert.match(lost.told, /is in use by another process/);
    assert.equal(await running.end(), 0);
    assert.ok(!existsSync(admin));
    assert.equal((await run('keys', 'list', ...words)).code, 0, 'the file is free again');
  },
);

test('serve prints a credential for each user that works, and in production none', onPosix, async () => {
  const running = start([document, '--port', '0']);
  const [, url = ''] = await running.until(/address {3}(\S+)\n/);
  const [, reader = ''] = await running.until(
    /^ {2}credentials {2}for this run alone, kept nowhere\n {4}reader {2}X-API-Key: (\S+)\n {4}writer {2}X-API-Key: \S+\n/m,
  );
  await running.until(new RegExp(`curl .*/notes -H 'X-API-Key: ${reader}'`));
  assert.equal((await fetch(`${url}/notes`, { headers: { 'x-api-key': reader } })).status, 200);
  assert.equal(await running.end(), 0);
  const production = start([document, '--port', '0', '--production']);
  await production.until(listening);
  // What is not answered there is not told of.
  assert.doesNotMatch(production.out, /credentials|X-API-Key|well-known|openapi\.json/);
  assert.match(running.out, /well-known\/ninefold[\s\S]*openapi\.json/);
  assert.equal(await production.end(), 0);
});

test('a document that takes the place of another shows the credentials of its new users', onPosix, async () => {
  const watched = file('watched.yaml', notes(keyScheme));
  const running = start([watched, '--port', '0', '--watch']);
  await running.until(listening);
  file('watched.yaml', notes(keyScheme).replace('writer: Writes. }', 'writer: Writes., editor: Edits. }'));
  const [told] = await running.until(/changed {2}[\s\S]*editor {2}X-API-Key: \S+\n/);
  assert.doesNotMatch(told, / reader /);
  file('watched.yaml', 'title: Open\n');
  await running.until(/changed/);
  assert.equal(await running.end(), 0);
});

const undecided = file('undecided.yaml', 'title: Undecided\n');
const free = file('free.yaml', 'title: Free\nauthentication: none\n');
const shared = file(
  'shared.yaml',
  notes(
    'schemes: { token: { type: jwt, algorithms: [HS256], secret_env: NOTES_SECRET, caller: { id: claims.sub, user: claims.role } } }',
  ),
);

const refused: readonly (readonly [words: readonly string[], told: RegExp])[] = [
  [
    [undecided, '--production'],
    /^ninefold: --production: the authentication schemes of \S+ are open, .*write `authentication: none`/,
  ],
  [[undecided, '--host', '0.0.0.0'], /^ninefold: --host 0\.0\.0\.0: the authentication schemes of \S+ are open/],
  [[undecided, '--host', '::'], /^ninefold: --host ::: the authentication schemes/],
  [[document, '--as', 'reader'], /^ninefold: --as reader: the document states how callers show who they are/],
  [
    [shared, '--production'],
    /^ninefold: --production: tokens of the scheme token could not be verified: the environment has no NOTES_SECRET\./,
  ],
];
for (const [words, told] of oneOfEach(refused, ([words]) => String(words[1]))) {
  test(`serve ${words.join(' ').replaceAll(folder, '.')} does not start`, async () => {
    const running = start([...words, '--port', '0']);
    const [code] = await once(running.child, 'close');
    started.delete(running.child);
    assert.equal(code, 2);
    assert.match(running.out, told);
  });
}

const accepted: readonly (readonly [words: readonly string[], environment?: NodeJS.ProcessEnv])[] = [
  [[document, '--host', '0.0.0.0']],
  [[free, '--host', '0.0.0.0']],
  [[free, '--production']],
  [[shared, '--production'], { NOTES_SECRET: 'a secret of at least thirty-two bytes' }],
  [[shared], {}],
];
for (const [words, environment] of oneOfEach(accepted, ([words]) => String(words[1]))) {
  test(
    `serve ${words.join(' ').replaceAll(folder, '.')}${environment?.NOTES_SECRET ? ' with its secret' : ''} starts`,
    onPosix,
    async () => {
      const running = start([...words, '--port', '0'], environment);
      await running.until(listening);
      assert.equal(await running.end(), 0);
    },
  );
}
