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
  /** `sent`: not answered yet. `made`: acknowledged, or seen to be there after a restart. `doubt`: the server was killed before it answered. */
  state: 'sent' | 'made' | 'refused' | 'doubt';
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

/** The operation that created a row, as the row itself tells. */
export function makerOf(resource: Resource, row: Row): string {
  return String(resource === 'team' ? row.name : resource === 'account' ? String(row.log).split(' ')[0] : row.op);
}

/** The window that a quota of an hour counts a time in. */
export function hourOf(ms: number): number {
  return Math.floor(ms / 3_600_000);
}
