import { type Claim, isFlaw, type Judgement, moot } from '../exchange/claim.ts';
import { isExchange } from '../exchange/exchange.ts';
import { carriedOut, type ScriptRun, type Step } from '../exchange/step.ts';
import { Missing } from '../exchange/symbol.ts';
import { Untestable } from '../exchange/untestable.ts';

/** The steps that lead to a claim, and the claim. Numbers of steps are those of the session that it is from. */
export interface Suspect {
  readonly steps: ReadonlyMap<number, Step<unknown>>;
  readonly claim: Claim;
  /** When each was sent at first, by the service's clock. */
  readonly sentMs?: ReadonlyMap<number, number>;
}

/** What came of one replay. */
export interface Replayed {
  readonly judgement: Judgement;
  readonly results: readonly unknown[];
  readonly run: ScriptRun;
}

/** Runs a script again from a clean start, and judges the claim anew. */
export async function replayScript({ steps, claim, sentMs }: Suspect, run: ScriptRun): Promise<Replayed> {
  for (const [number, step] of steps) {
    const wasMs = sentMs?.get(number);
    // What was still to come when it was sent first is to come again.
    if (wasMs === undefined) delete run.laterMs;
    else run.laterMs = run.clock.toService(Date.now()) - wasMs;
    try {
      run.results[number] = await carriedOut(step, run);
    } catch (error) {
      if (error instanceof Missing || error instanceof Untestable)
        return { judgement: moot(error.message), results: run.results, run };
      throw error;
    }
  }
  const results = claim.of.map(({ step }) => run.results[step]);
  if (results.some((result) => result === undefined)) return { judgement: moot('a step is missing'), results: run.results, run };
  return { judgement: claim.judge(...results), results: run.results, run };
}

/** Makes a script smaller for as long as it still shows the same: first whole steps are left out, then parts of requests. */
export async function shrink(
  suspect: Suspect,
  shown: Replayed,
  again: (candidate: Suspect) => Promise<Replayed>,
  { runs, ms }: { readonly runs: number; readonly ms: number },
): Promise<Suspect> {
  let left = runs;
  const untilMs = Date.now() + ms;
  let best = suspect;
  const shows = async (candidate: Suspect): Promise<boolean> => {
    if (left <= 0 || Date.now() >= untilMs) return false;
    left -= 1;
    const replayed = await again(candidate);
    return isFlaw(replayed.judgement) && isAlike(candidate, shown, replayed);
  };
  best = await withoutSteps(best, shows);
  for (let isSmaller = true; isSmaller && left > 0 && Date.now() < untilMs; ) {
    isSmaller = false;
    for (const candidate of smallerScripts(best)) {
      if (!(await shows(candidate))) continue;
      best = candidate;
      isSmaller = true;
      break;
    }
  }
  // A smaller request may no longer need what was made for it.
  return withoutSteps(best, shows);
}

/** Whether what was done is done, and what was refused refused, as it was before: else it is another story. */
function isAlike({ steps }: Suspect, one: Replayed, other: Replayed): boolean {
  return [...steps.keys()].every((number) => isRefused(one.results[number]) === isRefused(other.results[number]));
}

function isRefused(result: unknown): boolean {
  return isExchange(result) && (result.status >= 400 || result.status === 0);
}

/** At first everything that the claim does not need goes at once; where that is too much, one step after another. */
async function withoutSteps(suspect: Suspect, shows: (candidate: Suspect) => Promise<boolean>): Promise<Suspect> {
  const bare = bareOf(suspect);
  if (bare.steps.size === suspect.steps.size || (await shows(bare))) return bare;
  let best = suspect;
  for (const number of [...suspect.steps.keys()].reverse()) {
    const steps = new Map(best.steps);
    steps.delete(number);
    const candidate = { ...best, steps };
    if (isWhole(candidate) && (await shows(candidate))) best = candidate;
  }
  return best;
}

/** A script with nothing in it but the steps that its claim names, and those that they take values from. */
export function bareOf(suspect: Suspect): Suspect {
  return { ...suspect, steps: only(suspect, needed(suspect)) };
}

function* smallerScripts(suspect: Suspect): Iterable<Suspect> {
  for (const [number, step] of suspect.steps) {
    for (const smaller of step.smaller?.() ?? []) {
      const candidate = { ...suspect, steps: new Map(suspect.steps).set(number, smaller) };
      // A value that is no longer taken may leave a step that nobody needs.
      yield { ...candidate, steps: only(candidate, new Set([...needed(candidate), ...suspect.steps.keys()])) };
    }
  }
}

/** The steps that a claim's own steps cannot do without. */
function needed({ steps, claim }: Suspect): Set<number> {
  const found = new Set<number>();
  const visit = (number: number) => {
    const step = steps.get(number);
    if (found.has(number) || !step) return;
    found.add(number);
    for (const other of neededBy(step)) visit(other);
  };
  for (const { step } of claim.of) visit(step);
  return found;
}

function neededBy(step: Step<unknown>): number[] {
  return [...step.takes.map((captured) => captured.step), ...(step.needs ?? [])];
}

function isWhole(suspect: Suspect): boolean {
  const { steps, claim } = suspect;
  return (
    claim.of.every(({ step }) => steps.has(step)) &&
    [...steps.values()].every((step) => neededBy(step).every((one) => steps.has(one)))
  );
}

function only({ steps }: Suspect, numbers: ReadonlySet<number>): Map<number, Step<unknown>> {
  return new Map([...steps].filter(([number]) => numbers.has(number)));
}
