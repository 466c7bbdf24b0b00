import type { Client, Sending } from '../client/client.ts';
import type { Clock } from '../client/clock.ts';
import type { Exchange } from './exchange.ts';
import type { Values } from './symbol.ts';

/** One execution of a script: its first, or a replay from a clean start. */
export interface Run extends Values, Sending {
  readonly client: Client;
  readonly clock: Clock;
  /** Whether nothing may be sent that could change something. */
  readonly isReadOnly?: boolean;
  /** Told of every exchange, so that what was made can be removed. */
  readonly note: (exchange: Exchange) => void;
  /** Whether another run has made a row. */
  readonly isOthers?: Exchange['isOthers'];
}
