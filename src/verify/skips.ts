import { nearest } from '../document/nearest.ts';
import { type FactName, factKey } from './exchange/claim.ts';
import type { Model } from './model/model.ts';
import { CannotRun, type Skip } from './options.ts';
import type { SkipTold } from './report.ts';
import type { Trial } from './session/trial.ts';

/** What is left out by name for a time, with the reason that was given. */
export class Skips {
  readonly #facts = new Map<string, string>();
  readonly #trials = new Map<string, string>();
  readonly #holding: readonly Skip[];
  /** What a person should know of skips that are over. */
  readonly notes: readonly string[];

  /** @throws {CannotRun} for one that names nothing. */
  constructor(skips: readonly Skip[], model: Model, trials: readonly Trial[], nowMs: number) {
    const facts = new Map(model.facts.all.map((fact) => [`${fact.kind}:${fact.subject}`, factKey(fact)]));
    const names = new Set(trials.map(({ name }) => name));
    for (const skip of skips) checkKnown(skip, skip.fact === undefined ? names : new Set(facts.keys()));
    this.#holding = skips.filter(({ until }) => nowMs < endOf(until));
    for (const skip of this.#holding) {
      const why = `skipped until ${skip.until}: ${skip.reason}`;
      if (skip.fact !== undefined) this.#facts.set(facts.get(skip.fact) ?? '', why);
      else this.#trials.set(skip.trial ?? '', why);
    }
    this.notes = skips
      .filter((skip) => !this.#holding.includes(skip))
      .map((skip) => `${nameOf(skip)} was skipped until ${skip.until} (${skip.reason}): it is looked at again.`);
  }

  /** Why a fact is left out; nothing where it is not. */
  ofFact(fact: FactName): string | undefined {
    return this.#facts.get(factKey(fact));
  }

  /** Why all of these facts are left out; nothing where one is not, or there is none. */
  ofFacts(facts: readonly FactName[]): string | undefined {
    const whys = facts.map((fact) => this.ofFact(fact));
    return whys.includes(undefined) ? undefined : whys[0];
  }

  /** The facts that are left out. */
  get facts(): readonly { readonly fact: FactName; readonly why: string }[] {
    return [...this.#facts].map(([key, why]) => {
      const [kind = '', subject = ''] = key.split('\n');
      return { fact: { kind, subject }, why };
    });
  }

  ofTrial(trial: Trial): string | undefined {
    return this.#trials.get(trial.name);
  }

  get told(): readonly SkipTold[] {
    return this.#holding.map((skip) => ({ name: nameOf(skip), reason: skip.reason, until: skip.until }));
  }
}

function checkKnown(skip: Skip, known: ReadonlySet<string>): void {
  const name = nameOf(skip);
  if (known.has(name)) return;
  const meant = nearest(name, known);
  const hint = meant === undefined ? 'Take the entry out, or write the name as the report does.' : `Did you mean ${meant}?`;
  throw new CannotRun(`--skip: the document has no ${skip.fact === undefined ? 'trial' : 'fact'} ${name}. ${hint}`);
}

function nameOf({ fact, trial }: Skip): string {
  return fact ?? trial ?? '';
}

/** A skip holds to the end of its day, wherever that ends last. */
function endOf(until: string): number {
  return Date.parse(`${until}T00:00:00-12:00`) + 24 * 3_600_000;
}
