import type { Json, JsonMap } from '../../document/document.ts';
import { HandlerAnswer } from '../operations/handler.ts';
import type { HandlerContext, Handlers } from '../operations/handlers.ts';
import type { Administer } from './admin/administer.ts';
import { Unfit } from './admin/command.ts';
import type { ProcessFigures, Watched } from './watched.ts';

/** Which exchanges are noted down in the log of a running service: all, those that were refused or failed, or none. */
export type LogLevel = 'exchanges' | 'refusals' | 'failures';
export const logLevels: readonly LogLevel[] = ['exchanges', 'refusals', 'failures'];

/** What the door of operations sees to. */
export interface OperationsMeans {
  readonly watched: Watched;
  readonly figures?: (() => ProcessFigures) | undefined;
  readonly administer: Administer;
  /** The log of the process, which is written to as its level says from the next exchange on. */
  readonly log: { level: LogLevel };
  readonly isStopping: () => boolean;
}

/** What `operations.json` leaves to code, by handler name. */
export function operationsHandlers(means: OperationsMeans): Handlers {
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
