import type { JsonMap } from '../../document/document.ts';
import type { SettableClock } from '../../serve/http/clock.ts';
import { type OperationsDoor, openOperations } from '../../serve/service/operations-door.ts';
import type { Service } from '../../serve/service/service.ts';
import { openClock, openWorkbench } from '../../serve/service/trial-doors.ts';
import type { ProcessFigures } from '../../serve/service/watched.ts';
import { Misuse } from '../verb.ts';
import { openAdminFile } from './doors.ts';
import type { Log } from './log.ts';
import type { ServeSettings } from './settings.ts';
import { ownPlace } from './workers.ts';

/** What of a run its doors lead to, and what is told of it. */
interface ToOpen {
  readonly service: Service;
  readonly settings: ServeSettings;
  readonly log: Log;
  /** The clock that trials move. */
  readonly clock: SettableClock | undefined;
  /** Told how many requests were not finished at the end, and were cut off. */
  readonly onCut: (requests: number) => void;
}

/** The doors of a service that runs, all of them open. */
export interface ServiceDoors {
  /** The address for clients, without a path. */
  readonly url: string;
  /** The addresses of those beside it. */
  readonly beside: { readonly clock?: string; readonly workbench?: string; readonly operations?: string };
  /** From now on whoever asks is told that nobody new should be sent here, and each answer is the last of its connection. */
  leave(): void;
  close(): Promise<void>;
}

/**
 * Opens the doors that the settings ask for, that of the clients last: nobody is answered, nor told by a supervisor that the service listens,
 * before all of them can be had. @throws {Misuse} where one cannot be; the others are closed again then.
 */
export async function openServiceDoors({ service, settings, log, clock, onCut }: ToOpen): Promise<ServiceDoors> {
  const { clockPort, workbenchPort } = settings;
  const open: { close(): Promise<void> }[] = [];
  const keep = <Door extends { close(): Promise<void> }>(door: Door): Door => {
    open.unshift(door);
    return door;
  };
  const close = async () => {
    for (const door of open) await door.close();
  };
  const administer = (command: string, input: JsonMap) => service.administer(command, input);
  try {
    keep(await openAdminFile(service, settings.store));
    const moved = clock && { clock, settled: () => service.settled() };
    const clockDoor =
      moved && clockPort !== undefined
        ? keep(await listeningOn(`127.0.0.1:${clockPort}`, '--clock', () => openClock(moved, clockPort)))
        : undefined;
    const workbench =
      workbenchPort === undefined
        ? undefined
        : keep(await listeningOn(`127.0.0.1:${workbenchPort}`, '--workbench', () => openWorkbench(administer, workbenchPort)));
    const watch = await openWatch(service, settings, log);
    const operations = watch && keep(watch);
    const server = keep(await listen(service, settings, onCut));
    return {
      url: server.url,
      beside: {
        ...(clockDoor && { clock: clockDoor.url }),
        ...(workbench && { workbench: workbench.url }),
        ...(operations && { operations: operations.url }),
      },
      leave() {
        operations?.stopping();
        server.leave();
      },
      close,
    };
  } catch (failure) {
    await close();
    throw failure;
  }
}

function listen(
  service: Service,
  { port, host, drainDelayMs, drainMs: graceMs }: ServeSettings,
  onCut: (requests: number) => void,
): ReturnType<Service['listen']> {
  const restMs = Math.max(0, restLeastMs - drainDelayMs);
  return listeningOn(`${host}:${port}`, '--port', () => service.listen({ port, host, graceMs, restMs, onCut }));
}

/** From the signal on, connections that rest are kept at least so long, so that who asks again and again is told by an answer that they end. */
const restLeastMs = 250;

async function openWatch(service: Service, { operations }: ServeSettings, log: Log): Promise<OperationsDoor | undefined> {
  const { watched } = service;
  if (!watched || !operations) return undefined;
  const { host, token, hosts } = operations;
  // Each of several workers has a port of its own.
  const port = operations.port === 0 ? 0 : operations.port + (ownPlace()?.place ?? 0);
  const administer = (command: string, input: JsonMap) => service.administer(command, input);
  return listeningOn(`${host}:${port}`, '--operations', () =>
    openOperations({ watched, administer, log, figures, host, port, hosts, token, onFailure: log.failure }),
  );
}

const figures = (): ProcessFigures => ({ memoryBytes: process.memoryUsage.rss(), uptimeSeconds: process.uptime() });

/** Opens a door at an address that an option gives. @throws {Misuse} where that cannot be had, with what to choose instead */
async function listeningOn<Door>(address: string, option: string, open: () => Promise<Door>): Promise<Door> {
  try {
    return await open();
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? listenReasons.get(String(error.code)) : undefined;
    if (reason === undefined) throw error;
    throw new Misuse(`${address} ${reason(option)}`, { cause: error });
  }
}

const noAddress = (option: string) =>
  `is no address of this machine; choose another with ${option === '--port' ? '--host' : option}.`;

/** What keeps an address from being had, by the option that gives its port. */
const listenReasons: ReadonlyMap<string, (option: string) => string> = new Map([
  ['EADDRINUSE', (option) => `is in use; stop what listens there, or choose another port with ${option} (0 takes a free one).`],
  ['EADDRNOTAVAIL', noAddress],
  ['ENOTFOUND', noAddress],
  ['EACCES', (option) => `is not allowed to this user; choose a port above 1023 with ${option}.`],
]);
