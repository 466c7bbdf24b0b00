import type { Pointer } from '../../document/document.ts';
import type { ErrorCondition } from '../../parts/conditions.ts';
import { entryOf, isStated } from '../../parts/fact.ts';
import type { Ledger, LedgerFact } from '../../parts/facts/ledger.ts';
import type { Spec } from '../../parts/spec.ts';
import type { RequestPlan } from './plan.ts';
import type { Done } from './step.ts';

/** A promise that was not kept: what the document says, and what was seen instead. */
export interface Flaw {
  readonly promised: string;
  readonly seen: string;
}

/** The claim cannot be made of these exchanges: they are not what it is about. */
export class Moot {
  readonly why: string;
  constructor(why: string) {
    this.why = why;
  }
}

/** Nothing = it held. */
export type Judgement = Flaw | Moot | undefined;

/** Says that exchanges do not bear on a claim. */
export function moot(why: string): Moot {
  return new Moot(why);
}

export function isFlaw(judgement: Judgement): judgement is Flaw {
  return judgement !== undefined && !(judgement instanceof Moot);
}

/** A request that is to be accepted, or how to make what it needs. */
export type Control = RequestPlan | (() => Promise<RequestPlan>);

/** What a trial says of exchanges. `judge` is a pure function of what the steps in `of` gave. */
export interface Claim<T extends readonly unknown[] = readonly unknown[]> {
  readonly fact: FactName;
  /** A short word, such as `stored` or `kept`: one fact is reported once for each. */
  readonly reason: string;
  readonly of: { readonly [K in keyof T]: Done<T[K]> };
  judge(...results: T): Judgement;
  /** The place of the promise, where it is narrower than the fact's. */
  readonly at?: Pointer;
  /** The member of answers that it is about, where its fact is about more: answers are altered there first. */
  readonly member?: string;
  /** The condition of the closed list that a refusal was asked for by, where its code may stand for others too. */
  readonly condition?: ErrorCondition;
  /** Times that it is tried again before it counts as broken or as unsteady; races want more than the usual two. */
  readonly tries?: number;
  /**
   * For what is refused: the request that it was made from, which is accepted. It is sent at the end of the case where the fact still
   * wants to be shown, and no request of the case that was accepted differs from what was refused in one thing alone.
   */
  readonly control?: Control | undefined;
  /** Whether it speaks of how answers look, refusals or not: what is refused then needs no control. */
  readonly isOfForm?: boolean;
  /** How many runs may be spent on making its script smaller; waiting for what does not come costs more than most. */
  readonly shrinkingRuns?: number;
}

/** A fact of the ledger, by its kind and subject; `at` tells two of one subject apart. */
export interface FactName {
  readonly kind: string;
  readonly subject: string;
  readonly at?: Pointer;
}

/** The kind of what is no fact of the ledger: that no request makes the service fail. It is always held. */
export const crashKind = 'crash';

const none: readonly LedgerFact[] = [];

/** The facts that a service can be held to: what is stated or promised absent and, where conventions are asked for, what a tool read off. */
export class Facts {
  readonly all: readonly LedgerFact[];
  readonly #promised = new Map<string, Map<string, LedgerFact[]>>();

  constructor(ledger: Ledger, spec: Spec, conventions = false) {
    this.all = ledger.facts.map((fact) => withStatedAnswer(spec, fact));
    for (const fact of this.all) {
      if (!isPromise(fact) || (fact.standing === 'inferred' && !conventions)) continue;
      const subjects = this.#promised.get(fact.kind) ?? new Map<string, LedgerFact[]>();
      this.#promised.set(fact.kind, subjects);
      subjects.set(fact.subject, [...(subjects.get(fact.subject) ?? []), fact]);
    }
  }

  /** The facts of this name that are promises. */
  promised(name: FactName): readonly LedgerFact[] {
    const promised = this.#promised.get(name.kind)?.get(name.subject) ?? none;
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

/** Facts by their names, which are kept apart: no text is made of each name that is asked for. */
export class FactNames {
  readonly #byKind = new Map<string, Set<string>>();

  add({ kind, subject }: FactName): void {
    const subjects = this.#byKind.get(kind);
    if (subjects) subjects.add(subject);
    else this.#byKind.set(kind, new Set([subject]));
  }

  has({ kind, subject }: FactName): boolean {
    return this.#byKind.get(kind)?.has(subject) === true;
  }
}

export function factKey({ kind, subject }: Pick<FactName, 'kind' | 'subject'>): string {
  return `${kind}\n${subject}`;
}
