import type { Answer } from './server.ts';

export type Resource = 'team' | 'account' | 'entry' | 'card' | 'ticket';

export const resources: readonly Resource[] = ['team', 'account', 'entry', 'card', 'ticket'];
export type Row = Readonly<Record<string, unknown>>;

/** A request that changes something. It is sent again, unchanged, where it bears a key. */
export interface Operation {
  /** Its name, that the rows it makes or changes bear. */
  readonly op: string;
  /** The verb or transition. */
  readonly verb: string;
  readonly resource: Resource;
  /** The row that it changes or deletes. */
  readonly id?: string;
  readonly method: string;
  readonly path: string;
  readonly body?: Row;
  readonly key?: string;
  /** The log of the account whose ETag it was sent with. */
  readonly ifMatch?: { readonly tag: string; readonly log: string };
  /** The address that a proxy says it comes from. */
  readonly address?: string;
  /** The kill before which it was sent. */
  readonly round: number;
  /** Answers under way. */
  open: number;
  /** Acknowledgements that were no replays. */
  fresh: number;
  /**
   * `sent`: not answered yet. `made`: acknowledged, or seen to be there after a restart. `doubt`: the server was killed before it answered.
   * `past`: it was never answered, and what it would have made is not there; others may have made and deleted it meanwhile.
   */
  state: 'sent' | 'made' | 'refused' | 'doubt' | 'past';
  /** What came back, one after another, for whoever reads a failure. */
  readonly told: string[];
  /** The first acknowledgement. */
  answer?: Answer;
}

/** Something that should not be, with the row that it is about and the operations that tell how it came to be. */
export interface Violation {
  readonly what: string;
  readonly row?: Row | undefined;
  readonly resource?: Resource;
  readonly ops?: readonly (string | undefined)[];
}

/** What was told of one account. */
export interface Told {
  /** How many of its changes. */
  changes: number;
  /** The event of each change, and of its end. */
  readonly ids: Map<number | 'gone', string>;
}

/** What one subscriber was told. */
export interface ToldTo {
  /** Whether something may come again: only what came last, for the answer to it may have got lost; anything; or nothing. */
  readonly repeats: 'last' | 'any' | 'none';
  readonly accounts: Map<string, Told>;
  /** The events in the order in which they first came. */
  readonly ids: string[];
}

/** The operation that created a row, as the row itself tells. */
export function makerOf(resource: Resource, row: Row): string {
  return String(resource === 'team' ? row.name : resource === 'account' ? String(row.log).split(' ')[0] : row.op);
}

/** The window that a quota of an hour counts a time in. */
export function hourOf(ms: number): number {
  return Math.floor(ms / 3_600_000);
}

/** All rows of a server that nobody else asks anything of. */
export interface Observed {
  readonly rows: Readonly<Record<Resource, readonly Row[]>>;
  /** The same by identifier. */
  readonly byId: Readonly<Record<Resource, ReadonlyMap<string, Row>>>;
  /** What was known of rows before they were listed: events go on coming in meanwhile. */
  readonly known: Readonly<Record<Resource, ReadonlyMap<string, Row>>>;
  /** Accounts in a state that the clock does not change, as the list by that state gives them. */
  readonly resting: readonly Row[];
  /** Accounts that still wait for a clock that has long gone by. */
  readonly late: readonly Row[];
  /** Accounts of which a receiver has long not been told everything. */
  readonly untold: readonly Row[];
}

/** What has to have happened before a server counts as quiet: nothing is due any more in any case. */
export interface Quiet {
  /** Every change is told. */
  readonly told?: boolean;
  /** Nothing will be due later either. */
  readonly over?: boolean;
}
