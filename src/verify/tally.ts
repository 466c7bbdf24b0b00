import { partNames } from '../document/document.ts';
import type { LedgerFact } from '../parts/facts/ledger.ts';
import type { CaseSent } from './evidence/control.ts';
import type { FactEvidence } from './evidence/obligation.ts';
import { Weighing } from './evidence/weighing.ts';
import { type Claim, type Control, type FactName, FactNames, type Facts, factKey, isPromise } from './exchange/claim.ts';
import type { Model } from './model/model.ts';
import type { FactVerdict, Verdict, VerdictCounts, VerifyReport } from './report.ts';

/** What one case brings to light of the facts that it is about, and of others in passing. */
export interface Course {
  held(claim: Claim): void;
  /** A claim failed; whether it does so again is another matter. */
  looked(fact: FactName): void;
  /** What was seen does not bear on a claim. */
  moot(fact: FactName, why: string): void;
  /** What has to be sent beside, and accepted, for what held to show more. */
  control(sent: CaseSent): Control | undefined;
  /** It is over, with everything that it sent, and this is why before its end, if it was. */
  end(sent: CaseSent, why?: string): void;
}

/** What was seen of each fact so far. */
export class Tally {
  readonly #facts: Facts;
  readonly #evidence: Weighing;
  readonly #whyNever: (fact: LedgerFact) => string | undefined;
  readonly #held = new Map<LedgerFact, Map<string, number>>();
  readonly #broken = new Set<LedgerFact>();
  /** The trials that are about each fact: why one came to nothing, or nothing where one of its cases looked at the fact. */
  readonly #trials = new Map<string, Map<string, string | undefined>>();
  /** How many cases of each trial that are about each fact were not come to, and why. */
  readonly #left = new Map<string, Map<string, { cases: number; readonly why: string }>>();
  /** What looked broken once, and nobody could look at again. */
  readonly #doubted = new Map<LedgerFact, string>();
  /** The reasons for which each fact looked broken once, and never again. */
  readonly #fleeting = new Map<LedgerFact, Set<string>>();

  /** `whyNever` says why no request can show a fact. */
  constructor(model: Model, whyNever: (fact: LedgerFact) => string | undefined = () => undefined) {
    this.#facts = model.facts;
    this.#evidence = new Weighing(model, (fact) => whyNever(fact) !== undefined);
    this.#whyNever = whyNever;
  }

  /** Follows a case of a trial that is about these facts. */
  courseOf(trial: string, about: readonly FactName[]): Course {
    const looked = new FactNames();
    // What is said of the form of every answer is no look of the trial that happened to ask for one, unless it came to its end.
    const passed = new FactNames();
    const moot = new Map<string, string>();
    const held: Claim[] = [];
    return {
      held: (claim) => {
        const facts = this.#facts.promised(claim.fact);
        (claim.isOfForm ? passed : looked).add(claim.fact);
        this.#hold(facts, claim.reason);
        if (this.#evidence.wants(facts)) held.push(claim);
      },
      looked: (fact) => looked.add(fact),
      moot: (fact, why) => void moot.set(factKey(fact), why),
      control: (sent) => this.#evidence.controlFor(held, sent),
      end: (sent, why) => {
        this.#evidence.weigh(held, sent);
        for (const fact of about) {
          const key = factKey(fact);
          const trials = this.#trials.get(key) ?? new Map<string, string | undefined>();
          this.#trials.set(key, trials);
          if (looked.has(fact) || (why === undefined && passed.has(fact))) trials.set(trial, undefined);
          else if (!trials.has(trial)) trials.set(trial, why ?? moot.get(key) ?? 'what came of it does not bear on it');
        }
      },
    };
  }

  /** Notes a case that was not come to: what it would have looked at is one look more that is missing. */
  left(trial: string, about: readonly FactName[], why: string): void {
    this.courseOf(trial, about).end({ exchanges: [], controls: new Map() }, why);
    for (const key of new Set(about.map(factKey))) {
      const trials = this.#left.get(key) ?? new Map<string, { cases: number; readonly why: string }>();
      this.#left.set(key, trials);
      const left = trials.get(trial) ?? { cases: 0, why };
      trials.set(trial, left);
      left.cases += 1;
    }
  }

  broken(fact: FactName): void {
    for (const one of this.#facts.promised(fact)) this.#broken.add(one);
  }

  /** It looked broken once, and nobody could look again: then it is not held, whatever else was seen. */
  doubted(fact: FactName, why: string): void {
    for (const one of this.#facts.promised(fact)) this.#doubted.set(one, why);
  }

  /** It looked broken once, and never again: what that look would have shown is not shown. */
  fleeting(fact: FactName, reason: string): void {
    for (const one of this.#facts.promised(fact)) {
      const reasons = this.#fleeting.get(one) ?? new Set<string>();
      this.#fleeting.set(one, reasons.add(reason));
    }
  }

  #hold(facts: readonly LedgerFact[], reason: string): void {
    for (const one of facts) {
      const reasons = this.#held.get(one) ?? new Map<string, number>();
      if (reasons.size === 0) this.#held.set(one, reasons);
      reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    }
  }

  verdicts(): FactVerdict[] {
    return this.#facts.all.map((fact) => {
      const { part, kind, subject, at, place, standing } = fact;
      const evidence = this.#evidenceOf(fact);
      const verdict = this.#verdictOf(fact, evidence);
      const shown = Object.fromEntries(this.#held.get(fact) ?? []);
      const why = verdict === 'not testable' ? this.#whyNot(fact) : verdict === 'partly' ? whyPartly(evidence) : undefined;
      const told = isPromise(fact) ? { evidence: shortened(evidence) } : {};
      return { part, kind, subject, at, place, standing, verdict, shown, ...told, ...(why !== undefined && { why }) };
    });
  }

  /** A trial that is about a fact and did not come to look at it is one of the looks that are missing. */
  #evidenceOf(fact: LedgerFact): FactEvidence {
    const evidence = this.#evidence.of(fact);
    const missed = [...(this.#trials.get(factKey(fact)) ?? [])].flatMap(([name, why]) =>
      why === undefined ? [] : [{ name, isMet: false, why }],
    );
    const known = new Set(missed.map(({ name }) => name));
    const left = [...(this.#left.get(factKey(fact)) ?? [])].flatMap(([name, { cases, why }]) =>
      known.has(name) ? [] : [{ name: `${name}, ${cases} more`, isMet: false, why }],
    );
    const fleeting = [...(this.#fleeting.get(fact) ?? [])].map((name) => ({ name, isMet: false, why: seenOnce }));
    return { ...evidence, looks: [...evidence.looks, ...missed, ...left, ...fleeting] };
  }

  #verdictOf(fact: LedgerFact, { looks, alterations }: FactEvidence): Verdict {
    if (fact.standing === 'open') return 'open';
    if (this.#broken.has(fact)) return 'broken';
    if (!isPromise(fact) || alterations.noticed === 0 || this.#doubted.has(fact)) return 'not testable';
    return looks.every(({ isMet }) => isMet) ? 'held' : 'partly';
  }

  #whyNot(fact: LedgerFact): string {
    if (fact.standing === 'any') return 'it is left to the implementation';
    const whyNever = this.#whyNever(fact);
    if (this.#facts.promised(fact).length === 0) return whyNever ?? 'nothing shows that there is none';
    const [missed] = [...(this.#trials.get(factKey(fact)) ?? [])].filter(([, why]) => why !== undefined);
    const why = this.#doubted.get(fact) ?? (missed && `${missed[0]}: ${missed[1]}`) ?? whyNever ?? this.#evidence.whyNot(fact);
    return why ?? (fact.standing === 'none' ? 'nothing shows that there is none' : 'no trial came to it');
  }
}

const seenOnce = 'it looked broken once, and did not again';

/** So many looks of a fact are told, and those that are missing first. */
const toldMost = 24;

function shortened({ looks, left = 0, alterations }: FactEvidence): FactEvidence {
  if (looks.length <= toldMost) return { looks, ...(left > 0 && { left }), alterations };
  const missing = looks.filter(({ isMet }) => !isMet);
  const told = [...missing, ...looks.filter(({ isMet }) => isMet)].slice(0, toldMost);
  return { looks: looks.filter((one) => told.includes(one)), left: left + looks.length - told.length, alterations };
}

/** How many of the looks were had, and which were not. */
function whyPartly({ looks }: FactEvidence): string {
  const missing = looks.filter(({ isMet }) => !isMet);
  const names = missing.slice(0, toldMost).map(({ name, why }) => (why === undefined ? name : `${name} (${why})`));
  const more = missing.length > toldMost ? `, and ${missing.length - toldMost} more` : '';
  return `${looks.length - missing.length} of ${looks.length} looks; missing: ${names.join(', ')}${more}`;
}

/** The verdicts of each part, counted. */
export function countVerdicts(facts: readonly FactVerdict[]): Pick<VerifyReport, 'parts' | 'total'> {
  const parts = Object.fromEntries(partNames.map((part) => [part, count(facts.filter((fact) => fact.part === part))]));
  // fromEntries forgets the keys it was given: they are the nine part names.
  return { parts: parts as VerifyReport['parts'], total: count(facts) };
}

function count(facts: readonly FactVerdict[]): VerdictCounts {
  const counts: Record<Verdict, number> = { held: 0, partly: 0, broken: 0, 'not testable': 0, open: 0 };
  for (const { verdict } of facts) counts[verdict] += 1;
  return counts;
}
