import type { Exchange, Refusal } from '../exchange/exchange.ts';
import type { Call, Reply } from '../http/call.ts';
import type { CoverageCount } from './coverage.ts';
import type { ExchangeEntry } from './service.ts';
import type { Note } from './unrouted.ts';

/** What is done with an answered exchange: it is counted, and logged, where either is asked for. */
export function noteBoth(count: CoverageCount | undefined, logged: Note | undefined): Note | undefined {
  if (!count) return logged;
  return (call, exchange, reply, refusal) => {
    count.note(call, exchange, reply, refusal);
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
      ...(exchange?.sampled && { sampled: exchange.sampled }),
      ...(exchange?.warnings && { warnings: exchange.warnings }),
      ...(exchange?.scenario && { scenario: exchange.scenario.name }),
      ...(open && { open: open.map(({ kind, subject }) => `${kind} (${subject})`) }),
    });
  };
}
