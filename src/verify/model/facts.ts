import type { Pointer } from '../../document/document.ts';
import type { Ledger, LedgerFact } from '../../parts/facts/ledger.ts';

/** A fact of the ledger, by its kind and subject; `at` tells two of one subject apart. */
export interface FactName {
  readonly kind: string;
  readonly subject: string;
  readonly at?: Pointer;
}

/** The facts that a service can be held to: what is stated, promised absent or read off by a tool. */
export class Facts {
  readonly all: readonly LedgerFact[];
  readonly #promised = new Map<string, LedgerFact[]>();

  constructor(ledger: Ledger) {
    this.all = ledger.facts;
    for (const fact of ledger.facts) {
      if (!isPromise(fact)) continue;
      const key = factKey(fact);
      this.#promised.set(key, [...(this.#promised.get(key) ?? []), fact]);
    }
  }

  /** The facts of this name that are promises. */
  promised(name: FactName): readonly LedgerFact[] {
    const promised = this.#promised.get(factKey(name)) ?? [];
    return name.at === undefined ? promised : promised.filter(({ at }) => at === name.at);
  }

  isPromised(name: FactName): boolean {
    return this.promised(name).length > 0;
  }
}

export function isPromise({ standing }: Pick<LedgerFact, 'standing'>): boolean {
  return standing === 'stated' || standing === 'none' || standing === 'inferred';
}

export function factKey({ kind, subject }: Pick<FactName, 'kind' | 'subject'>): string {
  return `${kind}\n${subject}`;
}
