#!/usr/bin/env node
// The command. It runs on Node 24 and later; an older Node hands over to the one that npm's `node` package brings.
// This file and what it imports before the hand-over stay plain JavaScript that Node 18 can read.
import { spawn } from 'node:child_process';
import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import module, { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const nodeMajor = 24;
/** Says to the Node that is handed over to that a pipe shows whether this one is still there. */
const handedOver = 'NINEFOLD_HANDED_OVER';

if (majorOf(process.version) >= nodeMajor) await run();
else handOver(findNode());

async function run() {
  module.enableCompileCache();
  if (process.env[handedOver] !== undefined) await endWithLauncher();
  const source = new URL('../src/cli.ts', import.meta.url);
  const cli = existsSync(source) ? source : new URL('../dist/cli.js', import.meta.url);
  const { main } = await import(cli.href);
  process.exitCode = await main(process.argv.slice(2));
}

function handOver(node) {
  if (node === undefined) return refuse();
  const words = [...process.execArgv, fileURLToPath(import.meta.url), ...process.argv.slice(2)];
  if (process.execve !== undefined && process.platform !== 'win32') process.execve(node, [node, ...words], process.env);
  // The pipe ends with this process, however it does: the child sees that.
  const env = { ...process.env, [handedOver]: '1' };
  const child = spawn(node, words, { stdio: ['inherit', 'inherit', 'inherit', 'pipe'], env });
  const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'];
  for (const signal of signals) process.on(signal, () => child.kill(signal));
  child.on('error', refuse);
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code);
    // A child that a signal ended is reported as such: the same signal, with nobody here to catch it, ends this process.
    for (const caught of signals) process.removeAllListeners(caught);
    process.kill(process.pid, signal);
  });
}

/** Ends, as by SIGTERM, once the process that handed over is gone: its ports and files are wanted by the next. */
async function endWithLauncher() {
  delete process.env[handedOver];
  const { Socket } = await import('node:net');
  const pipe = new Socket({ fd: 3, readable: true, writable: false });
  pipe.on('error', () => {});
  pipe.on('close', () => process.kill(process.pid, 'SIGTERM'));
  pipe.resume();
  pipe.unref();
}

/** A Node that is new enough: the `node` package's own file, or the platform's package that it is copied from. */
function findNode() {
  const require = createRequire(import.meta.url);
  const nodePackage = packageFile(require, 'node');
  const os = process.platform === 'win32' ? 'win' : process.platform;
  const platform = `${os === 'darwin' && process.arch === 'arm64' ? 'node-bin' : 'node'}-${os}-${process.arch}`;
  const fromNode = nodePackage && packageFile(createRequire(nodePackage), platform);
  const packages = [nodePackage, fromNode, packageFile(require, platform)];
  return packages
    .filter((file) => file !== undefined && isNewEnough(file))
    .map(executableOf)
    .find(isExecutable);
}

function packageFile(require, name) {
  try {
    return require.resolve(`${name}/package.json`);
  } catch {
    return undefined;
  }
}

function isNewEnough(file) {
  return majorOf(JSON.parse(readFileSync(file, 'utf8')).version) >= nodeMajor;
}

function executableOf(file) {
  return join(dirname(file), 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
}

function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function majorOf(version) {
  return Number(/^v?(\d+)\./.exec(version)?.[1]);
}

function refuse() {
  console.error(
    [
      `ninefold needs Node ${nodeMajor} or later; this is Node ${process.version.slice(1)}.`,
      `Install Node ${nodeMajor}, or let npm bring one to the project that ninefold is in:`,
      `  npm install --save-dev node@${nodeMajor}`,
      'If npm says that it did not run the install script of `node`, allow it and ask again:',
      '  npm install-scripts approve node && npm rebuild node',
    ].join('\n'),
  );
  process.exitCode = 2;
}
