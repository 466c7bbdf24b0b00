import { accountOf, dueMs } from './account.ts';
import { type Check, checks } from './checks.ts';
import type { History } from './history.ts';
import { judge } from './judge.ts';
import {
  makerOf,
  type Observed,
  type Operation,
  type Quiet,
  type Resource,
  type Row,
  resources,
  type ToldTo,
} from './records.ts';
import type { Answer } from './server.ts';
import { accept, type Envelope, subscribe, untold } from './told.ts';

/** A request as it is sent, without what came of it. */
export type Request = Omit<Operation, 'open' | 'fresh' | 'state' | 'told' | 'answer'>;

/** All rows, as lists gave them while nobody asked for changes, and until when the clock and the receivers had time. */
export interface Listed {
  readonly rows: Readonly<Record<Resource, readonly Row[]>>;
  readonly resting: readonly Row[];
  readonly atMs: number;
  readonly quiet: Quiet;
  /** Whether everything that was to happen had its time. */
  readonly isOver: boolean;
}

/** Something that clients did or were told. `turn` brings a question together with its answer. */
export type Entry =
  | { readonly kind: 'sent'; readonly turn: number; readonly request: Request }
  | { readonly kind: 'answered'; readonly turn: number; readonly answer: Answer | undefined; readonly atMs: number }
  | { readonly kind: 'asked'; readonly turn: number; readonly id: string }
  | { readonly kind: 'read'; readonly turn: number; readonly answer: Answer | undefined }
  | { readonly kind: 'listing' }
  | { readonly kind: 'listed'; readonly listed: Listed }
  /** What was in doubt is as it was listed; the rest of it was not made. */
  | { readonly kind: 'resolved' }
  /** What is gone is asked for no more. */
  | { readonly kind: 'forgotten'; readonly isTold: boolean }
  | { readonly kind: 'subscribed'; readonly subscriber: string; readonly repeats: ToldTo['repeats'] }
  | { readonly kind: 'told'; readonly subscriber: string; readonly envelope: Envelope };

/** What is let pass besides what always is. */
export interface JournalRules {
  /** Whether a change may be answered that the service is not available; then it was not made. */
  readonly mayBeUnavailable?: boolean;
  /** What is to be held besides `checks`. */
  readonly more?: readonly Check[];
}

/**
 * What clients did and were told, one after the other. Each entry is held to all that was known before it, as it comes in or when
 * a journal is gone through again; what does not hold stands among the violations of the history.
 */
export class Journal {
  readonly history: History;
  readonly #rules: JournalRules;
  readonly #sink: ((entry: Entry) => void) | undefined;
  readonly #under = new Map<number, { readonly operation: Operation; readonly wasMade: boolean }>();
  readonly #reading = new Map<number, { readonly id: string; readonly changes: number }>();
  #known: Observed['known'] | undefined;
  #turns = 0;
  /** The newest list of everything. */
  last: Observed | undefined;

  constructor(history: History, rules: JournalRules = {}, sink?: (entry: Entry) => void) {
    this.history = history;
    this.#rules = rules;
    this.#sink = sink;
  }

  turn(): number {
    this.#turns += 1;
    return this.#turns;
  }

  /** @param operation The one that is sent, where it is known already. */
  add(entry: Entry, operation?: Operation): void {
    this.#sink?.(entry);
    switch (entry.kind) {
      case 'sent':
        this.#sent(entry.turn, operation ?? this.history.ops.get(entry.request.op) ?? operationOf(entry.request));
        break;
      case 'answered':
        this.#answered(entry.turn, entry.answer, entry.atMs);
        break;
      case 'asked': {
        const known = this.history.seen.account.get(entry.id);
        this.#reading.set(entry.turn, { id: entry.id, changes: known ? accountOf(known).changes : 0 });
        break;
      }
      case 'read':
        this.#read(entry.turn, entry.answer);
        break;
      case 'listing': {
        const { seen } = this.history;
        this.#known = { ...seen, account: new Map(seen.account) };
        break;
      }
      case 'listed':
        this.#look(entry.listed);
        break;
      case 'resolved':
        this.#resolve();
        break;
      case 'forgotten':
        this.#forget(entry.isTold);
        break;
      case 'subscribed':
        subscribe(this.history, entry.subscriber, entry.repeats);
        break;
      case 'told':
        accept(this.history, entry.subscriber, entry.envelope);
        break;
    }
  }

  #sent(turn: number, operation: Operation): void {
    this.#under.set(turn, { operation, wasMade: operation.state === 'made' });
    this.history.sent(operation);
    operation.open++;
  }

  #answered(turn: number, answer: Answer | undefined, atMs: number): void {
    const sent = this.#under.get(turn);
    this.#under.delete(turn);
    if (!sent) throw new Error(`Nobody sent what was answered at turn ${turn}.`);
    const { operation, wasMade } = sent;
    operation.open--;
    if (answer) judge(this.history, operation, answer, { wasMade, atMs, ...this.#rules });
    else {
      operation.told.push('no answer');
      if (operation.state !== 'made') operation.state = 'doubt';
    }
  }

  #read(turn: number, answer: Answer | undefined): void {
    const { id, changes } = this.#reading.get(turn) ?? { id: '', changes: 0 };
    this.#reading.delete(turn);
    if (!answer || (answer.status === 503 && this.#rules.mayBeUnavailable)) return;
    if (answer.status === 404) {
      this.history.missing.set(`account ${id}`, 'a read');
      return;
    }
    if (answer.status !== 200) {
      this.history.violations.push({ what: `A read was answered ${answer.status} ${answer.text}` });
      return;
    }
    const row = JSON.parse(answer.text) as Row;
    this.history.see('account', row, 'a read');
    if (accountOf(row).changes < changes)
      this.history.violations.push({
        what: `a read gave change ${accountOf(row).changes}, and ${changes} was known before it was asked for`,
        row,
        resource: 'account',
      });
  }

  #look(listed: Listed): void {
    const { history } = this;
    const observed = observedOf(history, listed, this.#known ?? history.seen);
    this.last = observed;
    const { late, untold: waiting, ...now } = observed;
    const given = listed.isOver ? observed : { ...now, late: [], untold: [] };
    for (const { name, check } of [...checks, ...(this.#rules.more ?? [])]) {
      // What comes later on the list may take the earlier for granted.
      if (history.violations.length > 0) return;
      const found = check(history, given);
      history.violations.push(...found.map((violation) => ({ ...violation, what: `${name}: ${violation.what}` })));
    }
    for (const resource of resources)
      for (const row of observed.rows[resource]) history.see(resource, row, 'a list after the restart');
  }

  /** Settles by what is there what was in doubt; what bears a key may be sent again. */
  #resolve(): void {
    const { last, history } = this;
    if (!last) return;
    const made = new Set(resources.flatMap((resource) => last.rows[resource].map((row) => makerOf(resource, row))));
    for (const row of last.rows.account) for (const word of accountOf(row).log.split(' ')) made.add(word);
    for (const operation of doubtful(history)) {
      const { verb, resource, id, op, key } = operation;
      const isThere = verb === 'delete' ? !last.byId[resource].has(String(id)) : made.has(op);
      const mayBePast = verb !== 'delete' && resource !== 'ticket' && (verb === 'create' || !last.byId.account.has(String(id)));
      if (isThere) operation.state = 'made';
      else if (key !== undefined) operation.state = 'sent';
      else operation.state = mayBePast ? 'past' : 'refused';
    }
  }

  #forget(isTold: boolean): void {
    const { history, last } = this;
    if (!last) return;
    for (const [id, row] of history.seen.account) if (!last.byId.account.has(id)) history.gone.set(id, row);
    if (isTold) history.gone.clear();
    for (const resource of resources)
      for (const id of history.seen[resource].keys()) if (!last.byId[resource].has(id)) history.seen[resource].delete(id);
    history.recent = [];
  }
}

/** What nobody knows of whether it was made. */
export function doubtful({ recent }: History): Operation[] {
  return recent.filter(({ state }) => state === 'doubt');
}

function operationOf(request: Request): Operation {
  return { ...request, open: 0, fresh: 0, state: 'sent', told: [] };
}

/** Without what comes of it, which is found out anew when a journal is gone through. */
export function requestOf({ open: _o, fresh: _f, state: _s, told: _t, answer: _a, ...request }: Operation): Request {
  return request;
}

/** What follows from lists and from what clients know. */
export function observedOf(history: History, { rows, resting, atMs, quiet }: Listed, known: Observed['known']): Observed {
  const byId = (resource: Resource) => new Map(rows[resource].map((row) => [String(row.id), row]));
  const accounts = byId('account');
  const dueBy = quiet.over ? Number.POSITIVE_INFINITY : atMs;
  return {
    rows,
    byId: { team: byId('team'), account: accounts, entry: byId('entry'), card: byId('card'), ticket: byId('ticket') },
    known,
    resting,
    late: rows.account.filter((row) => (dueMs(accountOf(row), history.ops) ?? Number.POSITIVE_INFINITY) < dueBy),
    untold: quiet.told ? [...history.told.values()].flatMap((told) => untold(history, told, accounts)) : [],
  };
}
