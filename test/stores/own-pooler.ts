import { spawn } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { freePort } from './free-port.ts';

const paths = [process.env.PATH, '/usr/sbin'].join(delimiter);

/** Why there is none to be started; nothing where there is one. */
export const noPooler = isInstalled('pgbouncer') ? undefined : 'there is no pgbouncer (Debian: apt-get install pgbouncer)';

function isInstalled(program: string): boolean {
  return paths.split(delimiter).some((path) => existsSync(join(path, program)));
}

/** How long it has to be there. */
const waitMs = 20_000;

/**
 * Starts the PgBouncer that is installed in front of a database: each transaction has another session, of as many as are stated. Gives its address and what
 * stops it. @throws where it does not start
 */
export async function startOwnPooler(
  database: string,
  sessions: number,
): Promise<{ readonly address: string; readonly stop: () => Promise<void> }> {
  const { hostname, port: databasePort, username, password } = new URL(database);
  const folder = mkdtempSync(join(tmpdir(), 'ninefold-pooler-'));
  const port = await freePort();
  const secret = password === '' ? '' : ` password=${decodeURIComponent(password)}`;
  writeFileSync(
    join(folder, 'pgbouncer.ini'),
    `[databases]
* = host=${hostname} port=${databasePort} user=${username}${secret}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${sessions}
max_client_conn = 500
`,
  );
  // PgBouncer does not run as root: nobody will do.
  const who = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  if (who.uid !== undefined) chownSync(folder, who.uid, who.gid);
  const pooler = spawn('pgbouncer', [join(folder, 'pgbouncer.ini')], {
    ...who,
    env: { PATH: paths },
    stdio: 'ignore',
  });
  let failure: unknown;
  const over = new Promise<void>((resolve) => {
    pooler.once('error', (error) => {
      failure = error;
      resolve();
    });
    pooler.once('close', () => resolve());
  });
  const stop = async () => {
    pooler.kill('SIGKILL');
    await over;
    rmSync(folder, { recursive: true, force: true });
  };
  const address = new URL(database);
  address.host = `127.0.0.1:${port}`;
  address.password = '';
  address.search = '';
  for (const until = Date.now() + waitMs; !(await answers(address.href)); await delay(20)) {
    if (failure === undefined && Date.now() < until) continue;
    await stop();
    throw new Error('pgbouncer did not start', { cause: failure });
  }
  return { address: address.href, stop };
}

async function answers(address: string): Promise<boolean> {
  const client = new Client({ connectionString: address, connectionTimeoutMillis: 5000 });
  client.on('error', () => {});
  return client
    .connect()
    .then(() => client.query('SELECT 1'))
    .then(
      () => true,
      () => false,
    )
    .finally(() => client.end().catch(() => {}));
}
