import { join } from 'node:path';
import { makeDatabase } from '../../stores/database.ts';
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

const document = 'test/servers/parse/service.yaml';
const application = { 'x-parse-application-id': 'harbour', 'content-type': 'application/json' };

/** Parse Server over a database of its own in PostgreSQL, with the class Boat and somebody who is logged in. */
export const parse: RealServer = {
  name: 'parse',
  document,
  ...notesBeside(document),
  startsSoon: true,
  lacks: () =>
    firstThere(join(installedPackages, 'parse-server')) === undefined
      ? 'parse-server (npm ci --ignore-scripts --prefix test/servers)'
      : undefined,
  async start() {
    const database = await makeDatabase();
    const port = await freePort();
    const base = `http://127.0.0.1:${port}/parse`;
    const running = startProgram({
      command: process.execPath,
      args: [join(import.meta.dirname, 'serve.mjs'), String(port), database.address],
      folder: ownFolder(),
    });
    const made = await orStopped(running, async () => {
      await running.untilThere(`${base}/health`, application);
      const signUp = { username: 'sailor', password: 'sailor' };
      return prepare(`${base}/users`, { method: 'POST', headers: application, body: JSON.stringify(signUp) });
    });
    // It is told once, as the answer to whoever signs up.
    const { sessionToken } = JSON.parse(made) as { readonly sessionToken: string };
    return {
      port,
      callers: [{ user: 'sailor', id: 'sailor', credential: sessionToken }],
      async stop() {
        await running.stop();
        await database.drop();
      },
    };
  },
};
