import { type Claim, isFlaw } from '../exchange/claim.ts';
import { isExchange } from '../exchange/exchange.ts';
import { type Altering, alterationsOf, answeredAs, isHeard } from './alterations.ts';

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
export function alterationsNoticed({ of, judge }: Claim, altering: Altering, isCounted: boolean): Noticed {
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
      if (one.value.status !== other.value.status) yield withOne(answeredAs(one.value, other.value));
      const { etag } = other.value.headers;
      if (etag !== undefined && etag !== one.value.headers.etag)
        yield withOne({ ...one.value, headers: { ...one.value.headers, etag } });
    }
  }
}
