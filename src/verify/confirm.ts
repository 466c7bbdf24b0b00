import { placeOf } from '../document/place.ts';
import { Spent } from './client/budget.ts';
import type { Model } from './model/model.ts';
import type { Breach, Unsteady } from './report.ts';
import { type Flaw, isFlaw } from './script/claim.ts';
import { bareOf, type Replayed, replayScript, type Suspect, shrink } from './script/replay.ts';
import type { ScriptRun } from './script/run.ts';
import { shellScript, tellSteps } from './script/scripted.ts';
import type { Session, Suspicion } from './script/session.ts';
import type { Step } from './script/step.ts';

export interface Confirming {
  readonly session: Session;
  readonly suspicion: Suspicion;
  readonly start: () => ScriptRun;
  /** Removes what a run made. */
  readonly clear: (run: ScriptRun) => Promise<void>;
  readonly model: Model;
  readonly origin: string;
  readonly id: string;
  /** The trial and the case. */
  readonly found: string;
}

const shrinkingRuns = 40;

/**
 * Replays what failed from a clean start. What comes again every time is made as small as it goes and is a breach; what comes
 * again sometimes is unsteady; what does not come again at all was nothing that can be shown, unless it was seen twice.
 * @throws {Spent} where no time is left for that
 */
export async function confirm(confirming: Confirming): Promise<Breach | Unsteady | undefined> {
  const { session, suspicion } = confirming;
  await confirming.clear(session.run);
  const steps = new Map<number, Step<unknown>>(session.script.slice(0, suspicion.steps).map((step, number) => [number, step]));
  const suspect: Suspect = { steps, claim: suspicion.claim };
  const tries = suspicion.claim.tries ?? 2;
  const bare = bareOf(suspect);
  let shortest = bare;
  let replays = await replayedTimes(bare, tries, confirming);
  if (bare.steps.size < suspect.steps.size && !replays.some(({ judgement }) => isFlaw(judgement))) {
    shortest = suspect;
    replays = await replayedTimes(suspect, tries, confirming);
  }
  const flawed = replays.filter(({ judgement }) => isFlaw(judgement));
  const again = flawed[0];
  if (!again) return undefined;
  const isSteady = suspicion.claim.tries === undefined ? flawed.length === tries : true;
  if (!isSteady) return { ...tell(shortest, again, confirming), seenTimes: flawed.length + 1, tries: tries + 1 };
  try {
    const runs = suspicion.claim.shrinkingRuns ?? shrinkingRuns;
    const smallest =
      suspicion.claim.tries === undefined
        ? await shrink(shortest, again, (candidate) => replayed(candidate, confirming), runs)
        : suspect;
    const last = await replayed(smallest, confirming);
    return isFlaw(last.judgement) ? tell(smallest, last, confirming) : tell(shortest, again, confirming);
  } catch (error) {
    // What was shown to be broken is told as it is where no time is left to make it smaller.
    if (!(error instanceof Spent)) throw error;
    return tell(shortest, again, confirming);
  }
}

async function replayedTimes(suspect: Suspect, times: number, confirming: Confirming): Promise<Replayed[]> {
  const replays: Replayed[] = [];
  for (let at = 0; at < times; at++) replays.push(await replayed(suspect, confirming));
  return replays;
}

/** A replay begins where nothing is left of those before it, as far as the document has a way to remove it. */
async function replayed(suspect: Suspect, { start, clear }: Confirming): Promise<Replayed> {
  const run = start();
  const result = await replayScript(suspect, run);
  await clear(run);
  return result;
}

function tell(suspect: Suspect, replayed: Replayed, { model, id, found, origin }: Confirming): Breach {
  const { claim } = suspect;
  const [fact] = model.facts.promised(claim.fact);
  // The cast holds: nothing is told of a replay but of one that came to a flaw.
  const { promised, seen } = replayed.judgement as Flaw;
  const at = claim.at ?? fact?.at ?? '';
  return {
    id,
    part: fact?.part ?? 'purpose',
    kind: claim.fact.kind,
    subject: claim.fact.subject,
    reason: claim.reason,
    at,
    place: placeOf(model.spec.document, at),
    promised,
    seen,
    found,
    steps: tellSteps(suspect, replayed),
    script: shellScript(suspect, replayed, origin),
    witnesses: 1,
  };
}
