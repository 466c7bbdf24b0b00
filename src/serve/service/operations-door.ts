/** The door of those who run the service, and what it answers. */

import type { Json, JsonMap } from '../../document/document.ts';
import { parseDocument } from '../../document/read/parse.ts';
import { isKey } from '../../parts/form.ts';
import { readSpec } from '../../parts/spec.ts';
import { isLoopback, isOnLoopback } from '../callers/origin.ts';
import type { Call, Reply } from '../http/call.ts';
import { HandlerAnswer } from '../operations/handler.ts';
import type { HandlerContext, Handlers } from '../operations/handlers.ts';
import type { Administer } from './admin/administer.ts';
import { Unfit } from './admin/command.ts';
import operationsDocument from './operations.json' with { type: 'json' };
import { serveSpec } from './serve-spec.ts';
import type { ProcessFigures, Watched } from './watched.ts';

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
  const listening = await service.listen({ port, host, isOwn: true }).catch(async (failure: unknown) => {
    await service.close();
    throw failure;
  });
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

/** Which exchanges are noted down in the log of a running service: all, those that were refused or failed, or none. */
export type LogLevel = 'exchanges' | 'refusals' | 'failures';
export const logLevels: readonly LogLevel[] = ['exchanges', 'refusals', 'failures'];

/** What the door of operations sees to. */
interface OperationsMeans {
  readonly watched: Watched;
  readonly figures?: (() => ProcessFigures) | undefined;
  readonly administer: Administer;
  /** The log of the process, which is written to as its level says from the next exchange on. */
  readonly log: { level: LogLevel };
  readonly isStopping: () => boolean;
}

/** What `operations.json` leaves to code, by handler name. */
function operationsHandlers(means: OperationsMeans): Handlers {
  const { watched, figures, log } = means;
  return {
    live: () => ({ live: true }),
    ready: (context) => readiness(means, context),
    metrics: () => watched.metrics(figures?.()),
    ledger: () => watched.ledger(),
    ...keyHandlers(means),
    ...deliveryHandlers(means),
    show_log: () => ({ level: log.level }),
    set_log({ request }) {
      // One of the three, by the document.
      log.level = (request as { readonly level: LogLevel }).level;
      return { level: log.level };
    },
  };
}

async function readiness({ watched, isStopping }: OperationsMeans, { fail }: HandlerContext): Promise<HandlerAnswer> {
  const checks = await watched.checks();
  const missing = [
    ...(checks.store === 'ok' ? [] : [`store: ${checks.store}`]),
    ...(isStopping() ? ['it is being stopped'] : []),
  ];
  if (missing.length > 0) return fail('not_ready', missing.join('; '));
  return new HandlerAnswer(200, { ready: true, checks }, { 'cache-control': 'no-store' });
}

function keyHandlers({ administer }: OperationsMeans): Handlers {
  return {
    list_keys: async ({ params }) => ({ keys: await administer('keys list', stated({ user: params.user, id: params.id })) }),
    add_key: (context) =>
      orRefused(context, 'unfit', async () => {
        const { expires_in_seconds: seconds, ...asked } = bodyOf(context);
        const added = await administer('keys add', { ...asked, ...inMs('expiresMs', seconds) });
        return new HandlerAnswer(201, added, { 'cache-control': 'no-store' });
      }),
    rotate_key: (context) =>
      orRefused(context, 'unfit', async () => {
        const asked = { key: keyOf(context), ...inMs('keepMs', bodyOf(context).keep_seconds) };
        return new HandlerAnswer(200, await administer('keys rotate', asked), { 'cache-control': 'no-store' });
      }),
    revoke_key: (context) =>
      orRefused(context, 'not_found', async () => void (await administer('keys revoke', { key: keyOf(context) }))),
  };
}

function deliveryHandlers({ administer }: OperationsMeans): Handlers {
  return {
    list_deliveries: async ({ params: { failed, before, limit } }) => ({
      deliveries: await administer('deliveries list', stated({ failed, before, most: limit })),
    }),
    show_delivery: (context) =>
      orRefused(context, 'not_found', async () => ({
        deliveries: await administer('deliveries show', stated({ id: context.params.id })),
      })),
    resend: (context) =>
      orRefused(context, 'not_found', async () => {
        // What a resending tells is a map.
        const { resent } = (await administer('deliveries resend', stated({ id: context.params.id }))) as JsonMap;
        return { resent };
      }),
  };
}

/** What a command cannot be carried out for is refused by a code of the document. */
async function orRefused<T>({ fail }: HandlerContext, code: string, command: () => Promise<T>): Promise<T> {
  try {
    return await command();
  } catch (failure) {
    if (failure instanceof Unfit) return fail(code, failure.message);
    throw failure;
  }
}

function bodyOf({ request }: HandlerContext): JsonMap {
  return (request ?? {}) as JsonMap;
}

function keyOf({ params }: HandlerContext): string {
  return String(params.key);
}

function inMs(name: string, seconds: Json | undefined): JsonMap {
  return typeof seconds === 'number' ? { [name]: seconds * 1000 } : {};
}

/** The members that are there. */
function stated(members: Readonly<Record<string, Json | undefined>>): JsonMap {
  return Object.fromEntries(Object.entries(members).filter((entry): entry is [string, Json] => entry[1] !== undefined));
}
