import type { LedgerFact } from '../../parts/facts/ledger.ts';
import { type Claim, type Control, isFlaw } from '../exchange/claim.ts';
import { isExchange } from '../exchange/exchange.ts';
import type { Model } from '../model/model.ts';
import { toldIn } from '../trials/events/envelope.ts';
import type { ReceivedDelivery } from '../trials/events/receiver.ts';
import { type Altering, alterationsOf, answeredAs, isHeard } from './alterations.ts';
import { type CaseSent, isControlled } from './control.ts';
import { type FactEvidence, type HeldClaim, heldClaim, type Obligation } from './obligation.ts';
import { looksMost, obligationsOf } from './obligations.ts';

/** A claim that nothing could have broken is tried so often again, of other answers, before no more like it are. */
const deafMost = 4;
/** Events that came, one of each kind, and refusals, one of each rule, are put where they may not come. */
const samplesMost = 40;

/** What was seen of one fact. */
interface Seen {
  /** Whether no request can show it. */
  readonly isNever: boolean;
  readonly looks: readonly Obligation[];
  readonly left: number;
  readonly met: Set<Obligation>;
  tried: number;
  noticed: number;
  /** How often claims of a reason that would have met some looks could not have been broken by any answer. */
  readonly deaf: Map<string, number>;
  /** Why claims that held are no evidence. */
  whyNot: string | undefined;
}

/** Weighs the claims that held: what was looked at, beside what, and whether another answer would have been noticed. */
export class Weighing {
  readonly #model: Model;
  readonly #isOutOfReach: (fact: LedgerFact) => boolean;
  readonly #facts = new Map<LedgerFact, Seen>();
  readonly #samples = new Map<string, ReceivedDelivery>();
  readonly #refusals: Altering['refusals'];

  constructor(model: Model, isOutOfReach: (fact: LedgerFact) => boolean) {
    this.#isOutOfReach = isOutOfReach;
    this.#model = model;
    this.#refusals = model.refusals.examples().slice(0, samplesMost);
  }

  /** Whether there is anything left to be shown of one of these facts. */
  wants(facts: readonly LedgerFact[]): boolean {
    return facts.some((fact) => !isWhole(this.#seenOf(fact)));
  }

  /** A request that has to be accepted beside what was refused for that to show anything more, and that was not sent yet. */
  controlFor(claims: readonly Claim[], sent: CaseSent): Control | undefined {
    const wanting = claims.filter(({ control }) => control !== undefined && !sent.controls.has(control));
    return wanting.find((claim) => this.#wouldShow(claim) && !isControlled(this.#model, heldClaim(claim), sent))?.control;
  }

  #wouldShow(claim: Claim): boolean {
    const shown = heldClaim(claim);
    const seen = this.#model.facts.promised(claim.fact).map((fact) => this.#seenOf(fact));
    return seen.some((one) => one.noticed === 0 || one.looks.some((look) => !one.met.has(look) && look.isMetBy(shown)));
  }

  /** Weighs what a case claimed, beside everything that it sent. */
  weigh(claims: readonly Claim[], sent: CaseSent): void {
    const made: Altering['made'] = new Map();
    const shown = claims.map(heldClaim);
    // What is small is soon altered, and shows as much.
    for (const one of shown.sort((a, b) => sizeOf(a) - sizeOf(b))) {
      this.#keepSamples(one);
      for (const fact of this.#model.facts.promised(one.claim.fact)) this.#weighFor(fact, one, sent, made);
    }
  }

  /** What came of a fact. */
  of(fact: LedgerFact): FactEvidence {
    const { looks, met, left, tried, noticed } = this.#seenOf(fact);
    return {
      looks: looks.map((look) => {
        const isMet = met.has(look);
        return { name: look.name, isMet, ...(!isMet && look.why !== undefined && { why: look.why }) };
      }),
      ...(left > 0 && { left }),
      alterations: { tried, noticed },
    };
  }

  /** Why claims about a fact that held showed nothing. */
  whyNot(fact: LedgerFact): string | undefined {
    return this.#facts.get(fact)?.whyNot;
  }

  #weighFor(fact: LedgerFact, shown: HeldClaim, sent: CaseSent, made: Altering['made']): void {
    const seen = this.#seenOf(fact);
    const looks = seen.looks.filter((look) => !seen.met.has(look) && look.isMetBy(shown));
    const { claim } = shown;
    // What nothing could break for want of an event to put in may be broken by one that came later.
    const samples = shown.values.some(isHeard) ? this.#samples.size : 0;
    const key = [claim.reason, samples, ...looks.map(({ name }) => name)].join('\n');
    const deaf = seen.deaf.get(key) ?? 0;
    if (isWhole(seen) || (looks.length === 0 && seen.noticed > 0) || deaf >= deafMost) return;
    if (!isControlled(this.#model, shown, sent)) {
      seen.whyNot ??= `${claim.reason}: nothing shows that it would not have been refused anyhow`;
      return;
    }
    const member = claim.member ?? memberOf(fact);
    const altering = { member, made, events: [...this.#samples.values()], refusals: this.#refusals };
    const { tried, noticed } = alterationsNoticed(claim, altering, seen.noticed === 0);
    seen.tried += tried;
    seen.noticed += noticed;
    if (noticed === 0) {
      seen.deaf.set(key, deaf + 1);
      seen.whyNot ??= `${claim.reason}: no other answer would have been noticed`;
    } else for (const look of looks) seen.met.add(look);
  }

  #seenOf(fact: LedgerFact): Seen {
    const known = this.#facts.get(fact);
    if (known) return known;
    const isNever = this.#isOutOfReach(fact);
    const looks = isNever ? [] : obligationsOf(this.#model, fact);
    const seen: Seen = {
      isNever,
      looks: looks.slice(0, looksMost),
      left: Math.max(0, looks.length - looksMost),
      met: new Set(),
      tried: 0,
      noticed: 0,
      deaf: new Map(),
      whyNot: undefined,
    };
    this.#facts.set(fact, seen);
    return seen;
  }

  #keepSamples({ values }: HeldClaim): void {
    for (const { deliveries } of values.filter(isHeard)) {
      for (const delivery of deliveries) {
        const kind = toldIn(this.#model.spec, delivery).kind ?? '';
        if (this.#samples.size < samplesMost && !this.#samples.has(kind)) this.#samples.set(kind, delivery);
      }
    }
  }
}

function isWhole({ isNever, looks, met, noticed }: Seen): boolean {
  return isNever || (noticed > 0 && met.size === looks.length);
}

/** The member that a fact of a field is about. */
function memberOf({ part, subject }: LedgerFact): string | undefined {
  const at = part === 'resources' ? subject.lastIndexOf('.') : -1;
  return at < 0 ? undefined : subject.slice(at + 1);
}

function sizeOf({ exchanges }: HeldClaim): number {
  return exchanges.reduce((sum, { text }) => sum + text.length, 0);
}

/** How many altered answers a claim was judged of, and how many of them it would have said to be wrong. */
export interface Noticed {
  readonly tried: number;
  readonly noticed: number;
}

/** So many are tried before a claim counts as one that nothing could have broken, and of one that could for the count. */
const triedMost = 160;
const countedMost = 24;

/** So many of a claim's requests are answered as one another were. */
const exchangedMost = 4;

/** Judges a claim that held again, of answers that are altered one by one; without `isCounted` the first that is noticed is enough. */
function alterationsNoticed({ of, judge }: Claim, altering: Altering, isCounted: boolean): Noticed {
  let tried = 0;
  let noticed = 0;
  for (const altered of alteredResults(of, altering)) {
    if (tried >= triedMost || (noticed > 0 && (!isCounted || tried >= countedMost))) break;
    tried += 1;
    if (isBroken(() => judge(...altered))) noticed += 1;
  }
  return { tried, noticed };
}

/** What was made to read one shape need not read all: then nothing was noticed. */
function isBroken(judge: () => ReturnType<Claim['judge']>): boolean {
  try {
    return isFlaw(judge());
  } catch {
    return false;
  }
}

/** By turns of what each step gave; a step that is named twice is altered in both places. */
function* alteredResults(of: Claim['of'], altering: Altering): Iterable<readonly unknown[]> {
  yield* exchanged(of);
  // What was heard is what a claim of events is about, however many exchanges stand beside it.
  for (const { step, value } of of.filter((one) => isHeard(one.value))) {
    for (const altered of alterationsOf(value, altering)) yield of.map((one) => (one.step === step ? altered : one.value));
  }
  // What came last is most often what a claim is about.
  const steps = new Map(
    [...of]
      .reverse()
      .filter(({ value }) => !isHeard(value))
      .map(({ step, value }) => [step, alterationsOf(value, altering)[Symbol.iterator]()] as const),
  );
  while (steps.size > 0) {
    for (const [step, alterations] of steps) {
      const { done, value } = alterations.next();
      if (done) steps.delete(step);
      else yield of.map((one) => (one.step === step ? value : one.value));
    }
  }
}

/** Of two requests one answered as the other was, or with its tag. */
function* exchanged(of: Claim['of']): Iterable<readonly unknown[]> {
  const asked = of.flatMap(({ step, value }) => (isExchange(value) ? [{ step, value }] : [])).slice(0, exchangedMost);
  for (const one of asked) {
    for (const other of asked) {
      if (one.step === other.step) continue;
      const withOne = (altered: unknown) => of.map(({ step, value }) => (step === one.step ? altered : value));
      const isOther = one.value.status !== other.value.status || one.value.text !== other.value.text;
      if (isOther) yield withOne(answeredAs(one.value, other.value));
      const { etag } = other.value.headers;
      if (etag !== undefined && etag !== one.value.headers.etag)
        yield withOne({ ...one.value, headers: { ...one.value.headers, etag } });
    }
  }
}
