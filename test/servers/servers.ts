import { azurite } from './azurite/start.ts';
import { parse } from './parse/start.ts';
import { rabbitmq } from './rabbitmq/start.ts';
import type { RealServer, RunningServer } from './server.ts';

/** Real servers of others that `verify` is tried on, each by a document of ours. */
export const realServers: readonly RealServer[] = [rabbitmq, azurite, parse];

/** Starts one; on a machine where others take ports too, that which was free may be taken by then, so that it is tried again. */
export async function startReal(server: RealServer, tries = 3): Promise<RunningServer> {
  try {
    return await server.start();
  } catch (error) {
    if (tries <= 1) throw error;
    return startReal(server, tries - 1);
  }
}
