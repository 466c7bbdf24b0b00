import { createHmac } from 'node:crypto';
import { join } from 'node:path';
import { freePort } from '../../stores/free-port.ts';
import {
  firstThere,
  installedPackages,
  notesBeside,
  orStopped,
  ownFolder,
  prepare,
  type RealServer,
  startProgram,
} from '../server.ts';

const program = join(installedPackages, 'azurite/dist/src/table/main.js');
const account = 'acct';
const key = 'key-of-the-trials';
const document = 'test/servers/azurite/service.yaml';

/** Azurite's table service in memory, with the table `gauges`. */
export const azurite: RealServer = {
  name: 'azurite',
  document,
  ...notesBeside(document),
  startsSoon: true,
  lacks: () => (firstThere(program) === undefined ? 'azurite (npm ci --ignore-scripts --prefix test/servers)' : undefined),
  async start() {
    const port = await freePort();
    const base = `http://127.0.0.1:${port}`;
    const running = startProgram({
      command: process.execPath,
      args: [
        program,
        '--inMemoryPersistence',
        '--disableTelemetry',
        '--silent',
        '--tableHost',
        '127.0.0.1',
        '--tablePort',
        String(port),
      ],
      // An account's key is written in base64, and signs as the bytes that it stands for.
      environment: { AZURITE_ACCOUNTS: `${account}:${btoa(key)}` },
      folder: ownFolder(),
    });
    await orStopped(running, async () => {
      await running.untilThere(base);
      await prepare(`${base}/${account}/Tables`, {
        method: 'POST',
        headers: { ...signed(`/${account}/Tables`), accept: 'application/json', 'content-type': 'application/json' },
        body: JSON.stringify({ TableName: 'gauges' }),
      });
    });
    return { port, callers: [{ user: 'account', id: account, credential: `${account}:${key}` }], stop: () => running.stop() };
  },
};

function signed(path: string): { readonly 'x-ms-date': string; readonly authorization: string } {
  const date = new Date().toUTCString();
  const signature = createHmac('sha256', key).update(`${date}\n/${account}${path}`).digest('base64');
  return { 'x-ms-date': date, authorization: `SharedKeyLite ${account}:${signature}` };
}
