import type { Pointer } from '../../document/document.ts';
import { entryOf, isStated } from '../../parts/fact.ts';
import type { Ledger, LedgerFact } from '../../parts/facts/ledger.ts';
import type { Spec } from '../../parts/spec.ts';

/** A fact of the ledger, by its kind and subject; `at` tells two of one subject apart. */
export interface FactName {
  readonly kind: string;
  readonly subject: string;
  readonly at?: Pointer;
}

/** The kind of what is no fact of the ledger: that no request makes the service fail. It is always held. */
export const crashKind = 'crash';

/** The facts that a service can be held to: what is stated or promised absent and, where conventions are asked for, what a tool read off. */
export class Facts {
  readonly all: readonly LedgerFact[];
  readonly #promised = new Map<string, LedgerFact[]>();

  constructor(ledger: Ledger, spec: Spec, conventions = false) {
    this.all = ledger.facts.map((fact) => withStatedAnswer(spec, fact));
    for (const fact of this.all) {
      if (!isPromise(fact) || (fact.standing === 'inferred' && !conventions)) continue;
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
    return name.kind === crashKind || this.promised(name).length > 0;
  }
}

export function isPromise({ standing }: Pick<LedgerFact, 'standing'>): boolean {
  return standing === 'stated' || standing === 'none' || standing === 'inferred';
}

/** What an operation does is a part of what it answers, and open with it; what is stated of its answers all the same is a promise. */
function withStatedAnswer({ endpoints }: Spec, fact: LedgerFact): LedgerFact {
  if (fact.kind !== 'response payload shapes' || fact.standing !== 'open') return fact;
  const response = entryOf(endpoints.all, fact.subject)?.response;
  return response && isStated(response) ? { ...fact, standing: response.standing, at: response.at } : fact;
}

export function factKey({ kind, subject }: Pick<FactName, 'kind' | 'subject'>): string {
  return `${kind}\n${subject}`;
}
