import type { Exchange, Refusal } from '../exchange/exchange.ts';
import type { Call, Reply } from '../http/call.ts';
import type { ExchangeEntry } from './service.ts';
import type { Note } from './unrouted.ts';

/** What is done with an answered exchange: it is counted, in one way or two, and logged, where any of it is asked for. */
export function noteAll(counts: readonly ({ readonly note: Note } | undefined)[], logged: Note | undefined): Note | undefined {
  const asked = counts.filter((count) => count !== undefined);
  if (asked.length === 0) return logged;
  return (call, exchange, reply, refusal) => {
    for (const count of asked) count.note(call, exchange, reply, refusal);
    logged?.(call, exchange, reply, refusal);
  };
}

/** Makes a line of the log of each exchange. */
export function compileNote(
  onExchange: (entry: ExchangeEntry) => void,
  clock: { now(): number },
  target: (call: Call) => string,
): Note {
  return (call: Call, exchange: Exchange | undefined, reply: Reply, refusal: Refusal | undefined) => {
    const now = clock.now();
    const open = refusal?.open ?? exchange?.accepted;
    const code = refusal && (refusal.code ?? refusal.when ?? (refusal.unsupported ? 'unsupported' : undefined));
    onExchange({
      at: new Date(now).toISOString(),
      requestId: exchange?.requestId() ?? '',
      method: call.method,
      target: target(call),
      status: reply.status,
      operation: exchange?.plan.operation.name,
      ms: exchange ? now - exchange.nowMs : 0,
      ...(code !== undefined && { refused: code }),
      ...(refusal?.violations && { where: refusal.violations.slice(0, placesMost).map(placeOf) }),
      ...(exchange?.sampled && { sampled: exchange.sampled }),
      ...(exchange?.warnings && { warnings: exchange.warnings }),
      ...(exchange?.scenario && { scenario: exchange.scenario.name }),
      ...(open && { open: open.map(({ kind, subject }) => `${kind} (${subject})`) }),
    });
  };
}

/** How many places of what is wrong a line names. */
const placesMost = 3;

/** Where something is wrong, never what stands there. */
function placeOf({ in: place, path }: { readonly in: string; readonly path: string }): string {
  return `${place} ${path}`.slice(0, 100);
}
