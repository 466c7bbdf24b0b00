import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

/** `serve` where a door beside the one for clients cannot be opened. */
const root = join(import.meta.dirname, '..');
const launcher = join(root, 'bin/ninefold.js');
const parcels = join(root, 'examples/parcels.md');
const folder = mkdtempSync(join(tmpdir(), 'ninefold-doors-'));
const taken = createServer();
let port = '';
before(async () => {
  taken.listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const address = taken.address();
  port = typeof address === 'object' ? String(address?.port) : '';
});
after(() => {
  taken.close();
  rmSync(folder, { recursive: true, force: true });
});

/** What it says and how it ends; one that goes on running is killed, and has no exit code. */
function serve(words: readonly string[]): Promise<{ readonly code: number | undefined; readonly told: string }> {
  return new Promise((resolve) => {
    const options = { cwd: folder, timeout: 30_000, killSignal: 'SIGKILL' as const };
    execFile(process.execPath, [launcher, 'serve', parcels, '--port', '0', ...words], options, (failure, stdout, stderr) =>
      resolve({ code: failure ? (failure.killed ? undefined : Number(failure.code)) : 0, told: stdout + stderr }),
    );
  });
}

const doors = ['operations', 'clock', 'workbench'];

for (const door of doors)
  test(`--${door} with a port that is taken: nothing is served, the option is named, and the exit code is 2`, async () => {
    assert.deepEqual(await serve([`--${door}`, port]), {
      code: 2,
      told: `ninefold: 127.0.0.1:${port} is in use; stop what listens there, or choose another port with --${door} (0 takes a free one).\n`,
    });
  });

test('where the port for clients is taken, the doors beside it are closed again', async () => {
  assert.deepEqual(await serve(['--operations', '0', '--workbench', '0', '--clock', '0', '--port', port]), {
    code: 2,
    told: `ninefold: 127.0.0.1:${port} is in use; stop what listens there, or choose another port with --port (0 takes a free one).\n`,
  });
});

test('--operations at an address of another machine is told by its own name', async () => {
  const { code, told } = await serve(['--operations', '192.0.2.1:0']);
  assert.deepEqual([code, told], [2, 'ninefold: 192.0.2.1:0 is no address of this machine; choose another with --operations.\n']);
});

test('the file of the operator’s token is read before anything listens', async () => {
  const missing = await serve(['--operations', port, '--operations-token-file', 'nothere']);
  assert.equal(missing.code, 2);
  assert.match(missing.told, /^ninefold: --operations-token-file nothere cannot be read: /);
  writeFileSync(join(folder, 'short'), 'short\n');
  const short = await serve(['--operations', port, '--operations-token-file', 'short']);
  assert.equal(short.code, 2);
  assert.match(short.told, /^ninefold: --operations-token-file short: a token is one word of 32 letters/);
});
