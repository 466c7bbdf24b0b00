/** The same clients and flows against real servers and against stand-ins of their descriptions: what differs, step by step. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const tests = join(import.meta.dirname, '../test');

/** Runs it in the package of the clients, which is installed where it is missing, as that of the servers is; gives the exit code. */
export async function run(args: readonly string[]): Promise<number> {
  for (const folder of ['clients', 'servers']) {
    if (existsSync(join(tests, folder, 'node_modules'))) continue;
    const installed = spawnSync('npm', ['ci', '--ignore-scripts', '--prefix', join(tests, folder)], { stdio: 'inherit' });
    if (installed.status !== 0) return 2;
  }
  const ran = spawnSync(process.execPath, [join(tests, 'clients/twins.ts'), ...args], { stdio: 'inherit' });
  return ran.status ?? 2;
}
