import { accountOf, extendsRow, replayed } from './account.ts';
import type { Told } from './receiver.ts';
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

/** All that clients know for certain: what they sent, what was acknowledged, and the newest that they saw of each row. */
export class History {
  readonly ops = new Map<string, Operation>();
  readonly seen: Readonly<Record<Resource, Map<string, Row>>> = {
    team: new Map(),
    account: new Map(),
    entry: new Map(),
    card: new Map(),
    ticket: new Map(),
  };
  /** Rows that were answered to be missing, and to which operation. */
  readonly missing = new Map<string, string>();
  /** The operation that made the row of an identifier, of all rows ever seen. */
  readonly makers = new Map<string, string>();
  /** What was sent to delete a row, by resource and identifier. */
  readonly deletes = new Map<string, Operation[]>();
  /** ETags of accounts, by identifier, that several clients update with; also those that an earlier life of the server gave. */
  readonly tags = new Map<string, { readonly tag: string; readonly log: string }>();
  /** Addresses whose quota was told to be used up, by which operation's answer, and in which hour that came. */
  readonly usedUp = new Map<string, { readonly op: string; readonly hour: number }>();
  /** What a receiver of events was told of accounts. */
  readonly told = new Map<string, Told>();
  /** Accounts that are gone, as they were last seen, until all of them is told. */
  readonly gone = new Map<string, Row>();
  /** What was sent for the first time since the last restart. */
  recent: Operation[] = [];
  /** What came to light while requests were answered. */
  readonly violations: Violation[] = [];
  round = 0;

  /** Notes an operation down that is about to be sent. */
  sent(operation: Operation): void {
    const { op, verb, resource, id } = operation;
    if (this.ops.has(op)) return;
    this.ops.set(op, operation);
    this.recent.push(operation);
    if (verb !== 'delete') return;
    const name = `${resource} ${id}`;
    this.deletes.set(name, [...(this.deletes.get(name) ?? []), operation]);
  }

  /** Notes a row down that a client read. Of an account, all that was ever read has to be one history. */
  see(resource: Resource, row: Row, how: string): void {
    const id = String(row.id);
    const name = `${resource} ${id}`;
    const maker = makerOf(resource, row);
    const first = this.makers.get(name);
    if (first === undefined) this.makers.set(name, maker);
    else if (first !== maker) this.#violated(`${name} bears an identifier that ${first} had made already`, resource, row);
    const known = this.seen[resource].get(id);
    this.seen[resource].set(id, row);
    if (resource !== 'account') return;
    const account = accountOf(row);
    const wrong = replayed(account, this.ops);
    if (wrong) this.#violated(`${how}: ${wrong}`, resource, row);
    if (!known) return;
    // Answers overtake each other.
    const isLate = accountOf(known).changes > account.changes;
    const torn = isLate ? extendsRow(accountOf(known), account) : extendsRow(account, accountOf(known));
    if (torn) this.#violated(`${how}: ${torn}`, resource, row);
    if (isLate) this.seen.account.set(id, known);
  }

  /** The rows of a resource that can still be there. */
  alive(resource: Resource): Row[] {
    return [...this.seen[resource].values()];
  }

  #violated(what: string, resource: Resource, row: Row): void {
    this.violations.push({ what, row, resource });
  }
}

/** The operation that created a row, as the row itself tells. */
export function makerOf(resource: Resource, row: Row): string {
  return String(resource === 'team' ? row.name : resource === 'account' ? String(row.log).split(' ')[0] : row.op);
}

/** The window that a quota of an hour counts a time in. */
export function hourOf(ms: number): number {
  return Math.floor(ms / 3_600_000);
}
