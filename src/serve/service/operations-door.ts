import { isLoopback, isOnLoopback } from '../callers/loopback.ts';
import type { Call, Reply } from '../http/call.ts';
import { doorReply } from '../http/send.ts';
import { listen } from '../http/socket.ts';
import type { ProcessFigures, Watched } from './watched.ts';

/** The door of those who run the service. */
export interface OperationsDoor {
  readonly url: string;
  /** From now on `/readyz` says that nobody new should be sent here. */
  stopping(): void;
  close(): Promise<void>;
}

interface OperationsPlace {
  readonly port: number;
  readonly host: string;
  readonly figures?: () => ProcessFigures;
}

interface Telling {
  readonly watched: Watched;
  readonly figures: (() => ProcessFigures) | undefined;
  readonly isLocal: boolean;
  readonly isStopping: boolean;
}

/**
 * Opens a port of its own for those who run a service: `/livez` (the process answers; nothing else is asked), `/readyz` (what requests depend on is
 * there, and it is not stopping) and `/metrics` (Prometheus text format 0.0.4). It only tells, by words of the document alone: no rows, no callers.
 */
export async function openOperations(watched: Watched, { port, host, figures }: OperationsPlace): Promise<OperationsDoor> {
  let isStopping = false;
  const { url, close } = await listen((call) => answer(call, { watched, figures, isLocal: isLoopback(host), isStopping }), {
    port,
    host,
  });
  return {
    url,
    stopping: () => {
      isStopping = true;
    },
    close,
  };
}

async function answer(call: Call, { watched, figures, isLocal, isStopping }: Telling): Promise<Reply> {
  // No page of a browser has any business here.
  if (call.headers.origin !== undefined || (isLocal && !isOnLoopback(call)))
    return doorReply(403, { error: 'This door is for those who run the service.' });
  if (call.method !== 'GET' && call.method !== 'HEAD')
    return { ...doorReply(405, { error: 'This door only tells.' }), headers: { allow: 'GET, HEAD' } };
  if (call.path === '/livez') return doorReply(200, { live: true });
  if (call.path === '/readyz') {
    const checks = { ...(await watched.checks()), ...(isStopping && { stopping: 'it is being stopped' }) };
    const isReady = !isStopping && checks.store === 'ok';
    return doorReply(isReady ? 200 : 503, { ready: isReady, checks });
  }
  if (call.path === '/metrics')
    return {
      status: 200,
      headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8', 'cache-control': 'no-store' },
      body: await watched.metrics(figures?.()),
    };
  return doorReply(404, { error: `There is nothing at ${call.path}; there are /livez, /readyz and /metrics.` });
}
