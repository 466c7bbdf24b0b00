import type { Client } from '../client/client.ts';
import type { Clock } from '../client/clock.ts';
import type { Values } from './symbol.ts';

/** One execution of a script: its first, or a replay from a clean start. */
export interface Run extends Values {
  readonly client: Client;
  readonly clock: Clock;
  /** Whether waiting out a rate limit is part of what is tested, so that a 429 comes back as it is. */
  readonly takesRefusalsOfRates?: boolean;
}
