/** How a store fails, in words of its own. */

/** A unique value that another row holds. */
export class Duplicate extends Error {
  readonly table: string;
  /** The unique column, or `id`. */
  readonly column: string;
  constructor(table: string, column: string) {
    super(`${table}.${column} holds this value already`);
    this.table = table;
    this.column = column;
  }
}

/** Another process holds the store. */
export class Locked extends Error {
  constructor(path: string, options?: ErrorOptions) {
    super(`${path} is in use by another process; stop that one, or serve from another file`, options);
  }
}

/** The store could not do its work for reasons of the machine; the same may succeed later. `cause` says why. */
export class StoreUnavailable extends Error {}

/** What was asked could not be read. */
export class ReadFailed extends StoreUnavailable {
  constructor(path: string, cause: unknown) {
    super(`${path} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

/** The changes of a batch could not be written to disk; none of them is stored. */
export class CommitFailed extends StoreUnavailable {
  constructor(path: string, cause: unknown) {
    super(`nothing was stored in ${path}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

/** Another document's tables have taken the place of those that whoever asks knows: nothing was read or stored. */
export class Superseded extends CommitFailed {
  constructor(name: string) {
    super(name, new Error('another document is served over it by now; serve that one here too'));
  }
}

/** What was asked looks at more rows than there is time for. */
export class ReadTooLong extends Error {
  constructor(
    message = 'a read was given up: it looks at more rows than there is time for; state an index by filtering for equal values, or a timeout',
  ) {
    super(message);
  }
}

/** The answer to a commit was lost, and nobody could be asked what became of it. */
export class CommitUnknown extends CommitFailed {
  constructor(path: string, cause: unknown) {
    super(path, cause);
    this.message = `it is not known whether anything was stored in ${path}: ${cause instanceof Error ? cause.message : String(cause)}`;
  }
}

/** The file of a store is damaged. */
export class Damaged extends Error {
  constructor(path: string, found: string, options?: ErrorOptions) {
    super(`${path} is damaged (${found.replace(/\s*\n\s*/g, ' ')}); restore a copy of it: ninefold store restore`, options);
  }
}

/** Values of a new unique column that several stored rows hold. */
export class Duplicates extends Duplicate {
  /** How many such values there are. */
  readonly count: number;
  /** The identifiers of the rows that hold one, of a few values. */
  readonly examples: readonly (readonly string[])[];
  constructor(table: string, column: string, count: number, examples: Duplicates['examples']) {
    super(table, column);
    this.count = count;
    this.examples = examples;
  }
}
