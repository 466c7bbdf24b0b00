import { Misuse } from '../verb.ts';

/** Opens a door at an address. @throws {Misuse} where that cannot be had, with what to choose instead */
export async function listeningOn<Door>(address: string, open: () => Promise<Door>): Promise<Door> {
  try {
    return await open();
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? listenReasons.get(String(error.code)) : undefined;
    if (reason === undefined) throw error;
    throw new Misuse(`${address} ${reason}`, { cause: error });
  }
}

const listenReasons: ReadonlyMap<string, string> = new Map([
  ['EADDRINUSE', 'is in use; stop what listens there, or choose another port with --port (0 takes a free one).'],
  ['EADDRNOTAVAIL', 'is no address of this machine; choose another with --host.'],
  ['ENOTFOUND', 'is no address of this machine; choose another with --host.'],
  ['EACCES', 'is not allowed to this user; choose a port above 1023 with --port.'],
]);
