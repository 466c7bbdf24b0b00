import { accountOf, extendsRow, replayed } from './account.ts';
import { makerOf, type Operation, type Resource, type Row, type ToldTo, type Violation } from './records.ts';

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
  /** What each subscriber was told. */
  readonly told = new Map<string, ToldTo>();
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
