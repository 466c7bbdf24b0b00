/** Faults of the reference services: bugs that real services have, each a switch in their code. */
import type { PartName } from '../../src/document/document.ts';

/** One bug, and the one fact of the ledger that it breaks. */
export interface Fault {
  readonly id: string;
  readonly part: PartName;
  /** The kind of the fact, one of the forty, and what it is about, as the ledger names both. */
  readonly kind: string;
  readonly subject: string;
  /** The bug, in one sentence. */
  readonly bug: string;
}

/** The switches of one run of a service: at most one of them is on. */
export interface Switches<Id extends string> {
  has(id: Id): boolean;
}

/** The switches with one fault on; without a name all are off. A name that the table does not have is refused. */
export function switchesOf<Id extends string>(table: readonly { readonly id: Id }[], on: string | undefined): Switches<Id> {
  if (on !== undefined && !table.some(({ id }) => id === on)) throw new Error(`There is no fault ${on}.`);
  return { has: (id) => id === on };
}
