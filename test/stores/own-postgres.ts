import { spawn } from 'node:child_process';
import { chownSync, globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from './free-port.ts';

/** A PostgreSQL that was started for a run of tests. */
export interface OwnPostgres {
  readonly address: string;
  readonly stop: () => Promise<void>;
  /** Has it end as it is asked to, or at once as in a crash, and begin again after a while; resolves once it answers. */
  readonly restart: (isCrash: boolean, restMs: number) => Promise<void>;
}

/** How long a server has to be there, and to be gone. */
const waitMs = 60_000;

/** Starts the PostgreSQL that is installed, with a folder and a port of its own. @throws where none is installed, or it does not start */
export async function startOwnPostgres(isThere: (address: string) => Promise<boolean>): Promise<OwnPostgres> {
  const bin = installed();
  if (bin === undefined) throw new Error('there is no PostgreSQL: install one (Debian: apt-get install postgresql)');
  const folder = mkdtempSync(join(tmpdir(), 'ninefold-postgres-'));
  // PostgreSQL does not run as root: nobody will do.
  const who = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  if (who.uid !== undefined) chownSync(folder, who.uid, who.gid);
  const data = join(folder, 'data');
  const run = (program: string, args: readonly string[]) =>
    spawn(join(bin, program), args, { ...who, cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  const made = run('initdb', ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale', 'C']);
  const code = await new Promise((resolve) => made.once('close', resolve).once('error', () => resolve(-1)));
  if (code !== 0) throw new Error(`initdb of ${bin} ended with ${code}`);
  const port = await freePort();
  const address = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const start = async () => {
    const words = ['-D', data, '-h', '127.0.0.1', '-p', String(port), '-k', '', '-c', 'logging_collector=off'];
    const process = run('postgres', [...words, '-c', 'log_min_messages=panic']);
    let isOver = false;
    const over = new Promise<void>((resolve) => {
      process.once('close', () => {
        isOver = true;
        resolve();
      });
    });
    const end = async (signal: NodeJS.Signals) => {
      process.kill(signal);
      await Promise.race([over, delay(waitMs, undefined, { ref: false }).then(() => process.kill('SIGKILL'))]);
    };
    for (let waited = 0; waited < waitMs && !isOver; waited += 100) {
      if (await isThere(address)) return end;
      await delay(100);
    }
    await end('SIGINT');
    throw new Error(`the PostgreSQL of ${bin} did not start`);
  };
  let end = async (_signal: NodeJS.Signals) => {};
  const stop = async (): Promise<void> => {
    // A fast shutdown: who is connected is cut off.
    await end('SIGINT');
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    end = await start();
  } catch (failure) {
    await stop();
    throw failure;
  }
  return {
    address,
    stop,
    async restart(isCrash, restMs) {
      await end(isCrash ? 'SIGQUIT' : 'SIGINT');
      await delay(restMs);
      end = await start();
    },
  };
}

/** Where its programs are: on the path, or where Debian has them; the newest of several. */
function installed(): string | undefined {
  const found = [
    ...(process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'postgres')),
    ...globSync('/usr/lib/postgresql/*/bin/postgres').sort().reverse(),
  ].find((file) => globSync(file).length > 0 && globSync(join(dirname(file), 'initdb')).length > 0);
  return found === undefined ? undefined : dirname(found);
}
