/** The command line of a reference service. */
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import type { GivenCaller } from '../../src/verify/exchange/callers.ts';
import type { Clock } from './clock.ts';
import { openClockDoor } from './clock-door.ts';

export interface RunningService {
  /** Where it listens, without the prefix of the document. */
  readonly url: string;
  readonly clock: Clock;
  close(): Promise<void>;
}

export type Start = (options: { readonly fault?: string | undefined; readonly port?: number }) => Promise<RunningService>;

/** Starts a service as the arguments say, prints where it and its clock are, and ends it with the process. */
export async function serveFromCommandLine(start: Start, callers: readonly GivenCaller[]): Promise<void> {
  const { values } = parseArgs({
    options: { port: { type: 'string', default: '0' }, fault: { type: 'string' }, 'auth-file': { type: 'string' } },
  });
  const service = await start({ fault: values.fault, port: Number(values.port) });
  const door = await openClockDoor(service.clock);
  const authFile = values['auth-file'];
  if (authFile !== undefined) await writeFile(authFile, `${JSON.stringify(byUser(callers), undefined, 2)}\n`);
  console.log(`${service.url}\nclock ${door.url}`);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void Promise.all([service.close(), door.close()]).then(() => process.exit(0)));
  }
}

/** As `verify --auth` reads it: a list for each user. */
function byUser(callers: readonly GivenCaller[]): Record<string, Omit<GivenCaller, 'user'>[]> {
  const users: Record<string, Omit<GivenCaller, 'user'>[]> = {};
  for (const { user, ...rest } of callers) users[user] = [...(users[user] ?? []), rest];
  return users;
}
