import { parseDocument } from '../../document/read/parse.ts';
import { isKey } from '../../parts/form.ts';
import { readSpec } from '../../parts/spec.ts';
import { isLoopback, isOnLoopback } from '../callers/loopback.ts';
import type { Call, Reply } from '../http/call.ts';
import operationsDocument from './operations.json' with { type: 'json' };
import { type OperationsMeans, operationsHandlers } from './operations-handlers.ts';
import { serveSpec } from './serve-spec.ts';

/** The door of those who run the service. */
export interface OperationsDoor {
  readonly url: string;
  /** From now on `/readyz` says that nobody new should be sent here. */
  stopping(): void;
  close(): Promise<void>;
}

/** Where the door is, who may come in, and what it is to see to. */
export interface OperationsPlace extends Omit<OperationsMeans, 'isStopping'> {
  readonly port: number;
  readonly host: string;
  /** What an operator shows; without one only what is public is answered. */
  readonly token?: string | undefined;
  /** The names by which it may be asked, besides addresses and names of this network; `*.example.com` is every one below it. */
  readonly hosts?: readonly string[] | undefined;
  readonly onFailure?: ((failure: unknown, requestId: string) => void) | undefined;
}

/**
 * Opens a port of its own for those who run a service, which is served by Ninefold as `operations.json` says (`docs/operations.yaml` is the same with its reasons): whether it lives and is ready,
 * figures, the ledger, keys, deliveries, the log. What is public of it tells words of the document and counts, no rows and no callers.
 */
export async function openOperations(place: OperationsPlace): Promise<OperationsDoor> {
  let isStopping = false;
  const { port, host, token, hosts = [], onFailure } = place;
  const spec = readSpec(parseDocument(JSON.stringify(operationsDocument), 'operations.json', { isKey }));
  const service = await serveSpec(spec, {
    handlers: operationsHandlers({ ...place, isStopping: () => isStopping }),
    production: true,
    turnAway: compileTurnAway(host, hosts),
    ...(onFailure && { onFailure }),
  });
  if (token !== undefined)
    await service.administer('keys add', { user: 'operator', id: 'operator', scheme: 'token', secret: token });
  const listening = await service.listen({ port, host, isOwn: true });
  return {
    url: listening.url,
    stopping: () => {
      isStopping = true;
    },
    async close() {
      await listening.close();
      await service.close();
    },
  };
}

/** No page of a browser has any business here, nor has a name of elsewhere that was made to lead here. */
function compileTurnAway(host: string, hosts: readonly string[]): (call: Call) => Reply | undefined {
  const isLocal = isLoopback(host);
  return (call) => {
    const isMeant = isLocal ? isOnLoopback(call) : isHost(String(call.headers.host ?? ''), hosts);
    if (isMeant && call.headers.origin === undefined) return undefined;
    const problem = {
      type: 'about:blank',
      title: 'Forbidden',
      status: 403,
      code: 'forbidden',
      detail: 'This door is for those who run the service.',
    };
    return {
      status: 403,
      headers: { 'content-type': 'application/problem+json', 'cache-control': 'no-store' },
      body: JSON.stringify(problem),
    };
  };
}

/** Whether a `Host` is an address, a name of this network (without a point), or one of those that are listed. */
function isHost(header: string, hosts: readonly string[]): boolean {
  const name = header.toLowerCase().replace(/:\d{0,5}$/, '');
  if (/^(?:[\d.]+|\[[\da-f:.]+\]|[^.]+)$/.test(name)) return true;
  return hosts.some((one) => (one.startsWith('*.') ? name.endsWith(one.slice(1).toLowerCase()) : name === one.toLowerCase()));
}
