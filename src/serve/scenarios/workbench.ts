import type { Json } from '../../document/document.ts';
import type { SettableClock } from '../http/clock.ts';
import type { Stage } from './stage.ts';

/** Rows by resource, as a service starts with them. */
export type RowsByResource = Readonly<Record<string, readonly Readonly<Record<string, Json>>[]>>;

/** What a trial does to a service that no client may: its scenarios, rows, transitions, events and clock. Never in production. */
export interface Workbench {
  readonly stage: Stage;
  /** Makes rows, where no row has their identifier yet; how many. @throws {BadRows} */
  seed(rows: RowsByResource): Promise<number>;
  /** Rows, counts, kept answers and what is to be sent go, and the rows to start with come back. Credentials, settings and the clock stay. */
  reset(): Promise<void>;
  fire(resource: string, id: string, transition: string): Promise<Json>;
  /** Emits an event as a handler would; what it carries is made up where it is not given. */
  emit(kind: string, data?: Json): Promise<Json>;
  /** The clock, where it can be set. */
  readonly clock: SettableClock | undefined;
  /** Resolves once what is due is done; a receiver that does not answer is not waited for. */
  settled(): Promise<void>;
}
