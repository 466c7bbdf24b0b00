import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';

const temporary = mkdtempSync(join(tmpdir(), 'ninefold-launcher-'));
const executable = process.platform === 'win32' ? 'node.exe' : 'node';
const os = process.platform === 'win32' ? 'win' : process.platform;
const platformPackage = `${os === 'darwin' && process.arch === 'arm64' ? 'node-bin' : 'node'}-${os}-${process.arch}`;

// Makes this Node say that it is an old one, once: the Node that it hands over to does not inherit the variable.
const pretend = join(temporary, 'pretend.mjs');
writeFileSync(
  pretend,
  `if (process.env.PRETEND !== undefined) {
     Object.defineProperty(process, 'version', { value: process.env.PRETEND });
     if (process.env.PRETEND.startsWith('v20')) process.execve = undefined;
     delete process.env.PRETEND;
   }`,
);

// Stands in for the command line: says what it got, and with the word `wait` waits for a signal to end by.
const cli = `
  export async function main(argv: readonly string[]): Promise<number> {
    console.log(process.version, argv.join(' '));
    if (argv[0] !== 'wait') return Number(argv[0]);
    return new Promise((resolve) => {
      const timer = setInterval(() => {}, 1000);
      const stop = (signal: string) => { clearInterval(timer); console.log(signal); resolve(7); };
      process.once('SIGTERM', stop).once('SIGINT', stop);
      console.log('ready');
    });
  }`;

after(() => rmSync(temporary, { recursive: true, force: true }));

test('on a new enough Node the command runs where it is', async () => {
  const { code, stdout } = await finished(launch(checkout({})));
  assert.deepEqual({ code, stdout }, { code: 3, stdout: `${process.version} 3 a b\n` });
});

for (const old of ['v20.19.0', 'v22.21.0']) {
  test(`${old} hands over to the Node of the package node`, async () => {
    const { code, stdout } = await finished(launch(checkout({ node: process.version }), old));
    assert.deepEqual({ code, stdout }, { code: 3, stdout: `${process.version} 3 a b\n` });
  });

  test(`${old} finds the platform's own package, beside node or inside it, when node's install script did not run`, async () => {
    for (const place of [platformPackage, join('node', 'node_modules', platformPackage)]) {
      const { code } = await finished(launch(checkout({ node: null, [place]: process.version }), old));
      assert.equal(code, 3, place);
    }
  });

  test(`${old} says what is needed when there is no newer Node`, async () => {
    for (const packages of [{}, { node: null }, { node: '22.0.0' }]) {
      const { code, stdout, stderr } = await finished(launch(checkout(packages), old));
      assert.deepEqual({ code, stdout }, { code: 2, stdout: '' });
      assert.match(stderr, /^ninefold needs Node 24 or later; this is Node 2\d\./);
    }
  });

  for (const signal of process.platform === 'win32' ? [] : (['SIGTERM', 'SIGINT'] as const)) {
    test(`${signal} sent to ${old} reaches the command, whose exit code is the answer`, async () => {
      const child = launch(checkout({ node: process.version }), old, ['wait']);
      child.stdout?.on('data', (text) => String(text).includes('ready') && child.kill(signal));
      const { code, stdout } = await finished(child);
      assert.deepEqual({ code, said: stdout.trim().split('\n').at(-1) }, { code: 7, said: signal });
    });
  }
}

test('what an old Node handed over to ends when that one is killed', { skip: process.platform === 'win32' }, async () => {
  const child = launch(checkout({ node: process.version }), 'v20.19.0', ['wait']);
  child.stdout?.on('data', (text) => String(text).includes('ready') && child.kill('SIGKILL'));
  // The output ends with the last process that has it.
  const { stdout } = await finished(child);
  assert.equal(stdout.trim().split('\n').at(-1), 'SIGTERM');
});

/** A checkout with some packages: a version installs a Node, `null` a package whose install script did not run. */
function checkout(packages: Readonly<Record<string, string | null>>): string {
  const folder = mkdtempSync(join(temporary, 'checkout-'));
  cpSync(join(import.meta.dirname, '..', 'bin'), join(folder, 'bin'), { recursive: true });
  mkdirSync(join(folder, 'src'));
  writeFileSync(join(folder, 'src', 'cli.ts'), cli);
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  for (const [place, version] of Object.entries(packages)) {
    const bin = join(folder, 'node_modules', place, 'bin', executable);
    mkdirSync(dirname(dirname(bin)), { recursive: true });
    writeFileSync(join(dirname(dirname(bin)), 'package.json'), JSON.stringify({ version: version ?? process.version.slice(1) }));
    if (version === null) continue;
    mkdirSync(dirname(bin));
    symlinkSync(process.execPath, bin);
  }
  return folder;
}

function launch(folder: string, version?: string, args: readonly string[] = ['3', 'a', 'b']): ChildProcess {
  const words = ['--import', pretend, join(folder, 'bin', 'ninefold.js'), ...args];
  return spawn(process.execPath, words, { env: { ...process.env, PRETEND: version }, stdio: ['ignore', 'pipe', 'pipe'] });
}

async function finished(child: ChildProcess): Promise<{ code: number | null; stdout: string; stderr: string }> {
  let stdout = '';
  let stderr = '';
  child.stdout?.on('data', (text) => {
    stdout += text;
  });
  child.stderr?.on('data', (text) => {
    stderr += text;
  });
  const [code] = await once(child, 'close');
  return { code, stdout, stderr };
}
