import { partNames } from '../document/document.ts';
import type { LedgerFact } from '../parts/facts/ledger.ts';
import { type FactName, type Facts, factKey, isPromise } from './model/facts.ts';
import type { FactVerdict, Verdict, VerdictCounts, VerifyReport } from './report.ts';

/** What one case brings to light of the facts that it is about, and of others in passing. */
export interface Course {
  held(fact: FactName, reason: string): void;
  /** A claim failed; whether it does so again is another matter. */
  looked(fact: FactName): void;
  /** What was seen does not bear on a claim. */
  moot(fact: FactName, why: string): void;
  /** It is over, and this is why before its end, if it was. */
  end(why?: string): void;
}

/** What was seen of each fact so far. */
export class Tally {
  readonly #facts: Facts;
  readonly #whyNever: (fact: LedgerFact) => string | undefined;
  readonly #held = new Map<LedgerFact, Map<string, number>>();
  readonly #broken = new Set<LedgerFact>();
  /** The trials that are about each fact: why one came to nothing, or nothing where one of its cases looked at the fact. */
  readonly #trials = new Map<string, Map<string, string | undefined>>();
  /** What looked broken once, and nobody could look at again. */
  readonly #doubted = new Map<LedgerFact, string>();

  /** `whyNever` says why no request can show a fact. */
  constructor(facts: Facts, whyNever: (fact: LedgerFact) => string | undefined = () => undefined) {
    this.#facts = facts;
    this.#whyNever = whyNever;
  }

  /** Follows a case of a trial that is about these facts. */
  courseOf(trial: string, about: readonly FactName[]): Course {
    const looked = new Set<string>();
    const moot = new Map<string, string>();
    return {
      held: (fact, reason) => {
        looked.add(factKey(fact));
        this.#hold(fact, reason);
      },
      looked: (fact) => void looked.add(factKey(fact)),
      moot: (fact, why) => void moot.set(factKey(fact), why),
      end: (why) => {
        for (const key of about.map(factKey)) {
          const trials = this.#trials.get(key) ?? new Map<string, string | undefined>();
          this.#trials.set(key, trials);
          if (looked.has(key)) trials.set(trial, undefined);
          else if (!trials.has(trial)) trials.set(trial, why ?? moot.get(key) ?? 'what came of it does not bear on it');
        }
      },
    };
  }

  broken(fact: FactName): void {
    for (const one of this.#facts.promised(fact)) this.#broken.add(one);
  }

  /** It looked broken once, and nobody could look again: then it is not held, whatever else was seen. */
  doubted(fact: FactName, why: string): void {
    for (const one of this.#facts.promised(fact)) this.#doubted.set(one, why);
  }

  #hold(fact: FactName, reason: string): void {
    for (const one of this.#facts.promised(fact)) {
      const reasons = this.#held.get(one) ?? new Map<string, number>();
      this.#held.set(one, reasons);
      reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    }
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
    return isPromise(fact) && this.#held.has(fact) && this.#missedOf(fact) === undefined ? 'held' : 'not testable';
  }

  /** Why a fact is not wholly shown: it was in doubt, or the first trial that is about it did not come to look at it. */
  #missedOf(fact: LedgerFact): string | undefined {
    const doubt = this.#doubted.get(fact);
    if (doubt !== undefined) return doubt;
    for (const [trial, why] of this.#trials.get(factKey(fact)) ?? []) if (why !== undefined) return `${trial}: ${why}`;
    return undefined;
  }

  #whyNot(fact: LedgerFact): string {
    if (fact.standing === 'any') return 'it is left to the implementation';
    const why = this.#missedOf(fact) ?? this.#whyNever(fact);
    return why ?? (fact.standing === 'none' ? 'nothing shows that there is none' : 'no trial came to it');
  }
}

/** The verdicts of each part, counted. */
export function countVerdicts(facts: readonly FactVerdict[]): Pick<VerifyReport, 'parts' | 'total'> {
  const parts = Object.fromEntries(partNames.map((part) => [part, count(facts.filter((fact) => fact.part === part))]));
  // fromEntries forgets the keys it was given: they are the nine part names.
  return { parts: parts as VerifyReport['parts'], total: count(facts) };
}

function count(facts: readonly FactVerdict[]): VerdictCounts {
  const counts: Record<Verdict, number> = { held: 0, broken: 0, 'not testable': 0, open: 0 };
  for (const { verdict } of facts) counts[verdict] += 1;
  return counts;
}
