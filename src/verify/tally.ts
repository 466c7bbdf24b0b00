import { partNames } from '../document/document.ts';
import type { LedgerFact } from '../parts/ledger.ts';
import { type FactName, type Facts, isPromise, keyOf } from './model/facts.ts';
import type { Counts, FactVerdict, Verdict, VerifyReport } from './report.ts';

/** What was seen of each fact so far. */
export class Tally {
  readonly #facts: Facts;
  readonly #held = new Map<LedgerFact, Map<string, number>>();
  readonly #broken = new Set<LedgerFact>();
  readonly #reasons = new Map<string, string>();
  readonly #doubted = new Map<LedgerFact, string>();

  constructor(facts: Facts) {
    this.#facts = facts;
  }

  held(fact: FactName, reason: string): void {
    for (const one of this.#facts.promised(fact)) {
      const reasons = this.#held.get(one) ?? new Map<string, number>();
      this.#held.set(one, reasons);
      reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    }
  }

  broken(fact: FactName): void {
    for (const one of this.#facts.promised(fact)) this.#broken.add(one);
  }

  /** It looked broken once, and nobody could look again: then it is not held, whatever else was seen. */
  doubted(fact: FactName, why: string): void {
    for (const one of this.#facts.promised(fact)) this.#doubted.set(one, why);
  }

  /** Why a fact could not be tested, where nothing else shows it; the first reason stands. */
  untestable(fact: FactName, why: string): void {
    const key = keyOf(fact);
    if (!this.#reasons.has(key)) this.#reasons.set(key, why);
  }

  verdicts(): FactVerdict[] {
    return this.#facts.all.map((fact) => {
      const { part, kind, subject, at, place, standing } = fact;
      const verdict = this.#verdictOf(fact);
      const shown = Object.fromEntries(this.#held.get(fact) ?? []);
      const why = verdict === 'not testable' ? this.#whyNot(fact) : undefined;
      return { part, kind, subject, at, place, standing, verdict, shown, ...(why !== undefined && { why }) };
    });
  }

  #verdictOf(fact: LedgerFact): Verdict {
    if (fact.standing === 'open') return 'open';
    if (this.#broken.has(fact)) return 'broken';
    return isPromise(fact) && this.#held.has(fact) && !this.#doubted.has(fact) ? 'held' : 'not testable';
  }

  #whyNot(fact: LedgerFact): string {
    if (fact.standing === 'any') return 'it is left to the implementation';
    return (
      this.#doubted.get(fact) ??
      this.#reasons.get(keyOf(fact)) ??
      (fact.standing === 'none' ? 'nothing shows that there is none' : 'no trial came to it')
    );
  }
}

/** The verdicts of each part, counted. */
export function countVerdicts(facts: readonly FactVerdict[]): Pick<VerifyReport, 'parts' | 'total'> {
  const parts = Object.fromEntries(partNames.map((part) => [part, count(facts.filter((fact) => fact.part === part))]));
  // fromEntries forgets the keys it was given: they are the nine part names.
  return { parts: parts as VerifyReport['parts'], total: count(facts) };
}

function count(facts: readonly FactVerdict[]): Counts {
  const counts: Record<Verdict, number> = { held: 0, broken: 0, 'not testable': 0, open: 0 };
  for (const { verdict } of facts) counts[verdict] += 1;
  return counts;
}
