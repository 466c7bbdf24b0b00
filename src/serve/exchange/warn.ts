import type { Exchange } from './exchange.ts';

/** Notes down what was let pass. */
export function warn(exchange: Exchange, warnings: readonly string[]): void {
  exchange.warnings = [...new Set([...(exchange.warnings ?? []), ...warnings])];
}
