import type { RateRules, SharedRates } from './shared-rates.ts';

/** What several processes that have one store have to know of each other. */

/** What of a store is remembered in memory by whoever has it. */
export type Mark = 'events' | 'credentials' | 'subscribers' | 'timers';

/** Work that one process does at a time. */
export type SharedWork = 'timers' | 'deliveries';

export interface SharedStore {
  /** What was remembered under a key when tables were last brought up, whatever document's they are by now. */
  remembered(key: string): Promise<{ readonly fingerprint: string; readonly body: string } | undefined>;
  /**
   * Has it called soon after another process has changed something of these, until the store is closed; it may be called for nothing, too.
   * Returns what ends that.
   */
  watch(changed: (marks: ReadonlySet<Mark>) => void): () => void;
  /**
   * Does some work as long as no other process does: `held` is told whenever that changes. A process that is killed is followed by another
   * within seconds. Returns what gives the work back, so that another takes it at once.
   */
  share(work: SharedWork, held: (isHeld: boolean) => void): () => Promise<void>;
  /** Rates that all processes count together; a crash of the database may begin them anew. They are closed with the store. */
  rates(rulesOf: (kind: string) => RateRules): SharedRates;
}
