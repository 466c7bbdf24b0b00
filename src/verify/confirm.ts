import { setTimeout as delay } from 'node:timers/promises';
import { placeOf } from '../document/source.ts';
import { Spent } from './exchange/budget.ts';
import { crashKind, type Flaw, isFlaw, Moot } from './exchange/claim.ts';
import { isExchange } from './exchange/exchange.ts';
import type { ScriptRun, Step } from './exchange/step.ts';
import type { Model } from './model/model.ts';
import type { Refill } from './refill.ts';
import type { Breach, Cause, Reproduced, Unsteady } from './report.ts';
import { bareOf, type Replayed, replayScript, type Suspect, shrink } from './session/replay.ts';
import type { Session, Suspicion } from './session/session.ts';
import { shellScript, tellExchanges, tellSteps } from './session/told.ts';

export interface Confirming {
  readonly session: Session;
  readonly suspicion: Suspicion;
  readonly start: () => ScriptRun;
  /** Runs it once nothing is owed that it would be refused for. */
  readonly around: Refill['around'];
  /** Removes what a run made. */
  readonly clear: (run: ScriptRun) => Promise<void>;
  /** Whether a run was refused something since others had all the rows that there may be. */
  readonly wasFull: (run: ScriptRun) => boolean;
  readonly model: Model;
  readonly origin: string;
  readonly id: string;
  /** The trial and the case. */
  readonly found: string;
  /** How many breaches were found before: each leaves less time for making the next one smaller. */
  readonly before: number;
}

/** What came of looking again: a breach with the script that shows it, or something that comes and goes. */
export type Confirmed = { readonly breach: Breach; readonly suspect: Suspect } | { readonly unsteady: Unsteady };

/** So much of the time that is left may go into making one breach smaller: what has not been looked at yet is worth more. */
const shrinkingShare = 0.1;
const shrinkingRuns = { most: 40, least: 6, lessForEach: 3 };
/** How often a script is run from a clean start before it is printed. */
const runsEach = 2;

/**
 * Replays what failed from a clean start. What comes again every time is made as small as it goes and is a breach; what comes
 * again sometimes is unsteady; what does not come again at all was nothing that can be shown, unless it was seen twice.
 * @throws {Spent} where no time is left for that
 */
export async function confirm(confirming: Confirming): Promise<Confirmed | undefined> {
  const { session, suspicion } = confirming;
  await confirming.clear(session.run);
  const steps = new Map<number, Step<unknown>>(session.script.slice(0, suspicion.steps).map((step, number) => [number, step]));
  const sentMs = new Map<number, number>();
  for (const number of steps.keys()) {
    const result = session.run.results[number];
    if (isExchange(result)) sentMs.set(number, result.fromMs);
  }
  const suspect: Suspect = { steps, claim: suspicion.claim, sentMs };
  const tries = suspicion.claim.tries ?? runsEach;
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
  const from = 'beside others' as const;
  const reproduced: Reproduced = { runs: tries, shown: flawed.length, from };
  const isSteady = suspicion.claim.tries === undefined ? flawed.length === tries : true;
  if (!isSteady)
    return { unsteady: { ...tell(shortest, again, confirming, reproduced), seenTimes: flawed.length + 1, tries: tries + 1 } };
  try {
    if (suspicion.claim.tries !== undefined) return { breach: tell(shortest, again, confirming, reproduced), suspect };
    const { most, least, lessForEach } = shrinkingRuns;
    const runs = Math.min(suspicion.claim.shrinkingRuns ?? most, Math.max(least, most - lessForEach * confirming.before));
    const ms = session.run.client.leftMs('again') * shrinkingShare;
    const smallest = await shrink(shortest, again, (candidate) => replayed(candidate, confirming), { runs, ms });
    // Making it smaller has shown it once.
    const last = smallest === shortest ? undefined : await replayed(smallest, confirming);
    if (last && isFlaw(last.judgement))
      return { breach: tell(smallest, last, confirming, { runs: runsEach, shown: runsEach, from }), suspect: smallest };
  } catch (error) {
    // What was shown to be broken is told as it is where no time is left to make it smaller.
    if (!(error instanceof Spent)) throw error;
  }
  return { breach: tell(shortest, again, confirming, reproduced), suspect: shortest };
}

/** Runs a script once more, as often as it takes to show it, each time from the start that `begin` makes; the breach as it was seen then. @throws {Spent} */
export async function proved(
  { breach, suspect }: { readonly breach: Breach; readonly suspect: Suspect },
  confirming: Confirming,
  from: Reproduced['from'],
  begin: () => Promise<void>,
): Promise<Breach> {
  const attempts = suspect.claim.tries ?? 1;
  let shown: Replayed[] = [];
  for (let run = 0; run < runsEach; run++) {
    for (let attempt = 0; attempt < attempts; attempt++) {
      await begin();
      const one = await replayed(suspect, confirming);
      if (!isFlaw(one.judgement)) continue;
      shown = [...shown, one];
      break;
    }
  }
  const reproduced: Reproduced = { runs: runsEach, shown: shown.length, from };
  return shown[0] ? tell(suspect, shown[0], confirming, reproduced) : { ...breach, reproduced };
}

/** So often another replay stands in the place of one that does not bear on the claim. */
const mootMost = 3;

/** A replay that does not bear on the claim, as where a drawn name was taken, or a quota was used up by others, says neither yes nor no: another stands in its place. */
async function replayedTimes(suspect: Suspect, times: number, confirming: Confirming): Promise<Replayed[]> {
  const replays: Replayed[] = [];
  for (let at = 0; at < times; at++) {
    let one = await replayed(suspect, confirming);
    for (let moot = 0; moot < mootMost && one.judgement instanceof Moot; moot++) one = await replayed(suspect, confirming);
    replays.push(one);
  }
  return replays;
}

/** A replay begins where nothing is left of those before it, as far as the document has a way to remove it. */
async function replayed(suspect: Suspect, { start, around, clear, wasFull }: Confirming): Promise<Replayed> {
  for (let tries = 1; ; tries++) {
    const run = start();
    const result = await around(() => replayScript(suspect, run), run.pausing);
    await clear(run);
    if (isFlaw(result.judgement) || tries >= triesFull || !wasFull(run)) return result;
    // Others have what it needs until they are over.
    const letOthers = delay(tries * waitFullMs);
    await (run.pausing?.(letOthers) ?? letOthers);
  }
}

/** So often something is replayed that finds no room, with a pause that grows. */
const triesFull = 6;
const waitFullMs = 60;

function tell(suspect: Suspect, replayed: Replayed, { model, id, found, origin }: Confirming, reproduced: Reproduced): Breach {
  const { claim } = suspect;
  const [fact] = model.facts.promised(claim.fact);
  // The cast holds: nothing is told of a replay but of one that came to a flaw.
  const { promised, seen } = replayed.judgement as Flaw;
  const endpoint = claim.fact.kind === crashKind ? model.endpoints.find(({ key }) => key === claim.fact.subject) : undefined;
  const at = claim.at ?? fact?.at ?? endpoint?.at ?? '';
  return {
    id,
    part: fact?.part ?? 'errors',
    kind: claim.fact.kind,
    subject: claim.fact.subject,
    reason: claim.reason,
    at,
    place: placeOf(model.spec.document, at),
    promised,
    seen,
    found,
    steps: tellSteps(suspect, replayed),
    script: shellScript(suspect, replayed, model, origin),
    exchanges: tellExchanges(suspect, replayed, { promised, seen }, at),
    reproduced,
    witnesses: 1,
  };
}

/** Breaches by what most likely causes them: the same exchange that was judged, or the same words about several facts. */
export function causesOf(breaches: readonly Breach[]): readonly Cause[] {
  const causes: { readonly breaches: string[]; readonly marks: Set<string> }[] = [];
  for (const breach of breaches) {
    const marks = marksOf(breach);
    const known = causes.filter((cause) => marks.some((mark) => cause.marks.has(mark)));
    const [first] = known;
    if (!first) {
      causes.push({ breaches: [breach.id], marks: new Set(marks) });
      continue;
    }
    first.breaches.push(breach.id);
    for (const mark of marks) first.marks.add(mark);
    // What it has in common with several brings those together.
    for (const other of known.slice(1)) {
      first.breaches.push(...other.breaches);
      for (const mark of other.marks) first.marks.add(mark);
      causes.splice(causes.indexOf(other), 1);
    }
  }
  const byId = new Map(breaches.map((breach) => [breach.id, breach]));
  return causes.map((cause) => ({ breaches: cause.breaches.sort((one, other) => length(byId, one) - length(byId, other)) }));
}

/** The shortest way shows it best. */
function length(byId: ReadonlyMap<string, Breach>, id: string): number {
  return byId.get(id)?.steps.length ?? 0;
}

function marksOf({ promised, seen, exchanges, kind }: Breach): string[] {
  const last = exchanges.at(-1);
  const lines = last ? [...last.request, { text: '' }, ...last.answer].map(({ text }) => masked(text)).join('\n') : undefined;
  return [`${kind}\n${masked(promised)}\n${masked(seen)}`, ...(lines === undefined ? [] : [lines])];
}

/** Without what is another one in every run: identifiers, times, numbers that were drawn. */
function masked(text: string): string {
  return text.replaceAll(/[\w+:.-]*\d[\w+:.-]*/g, '#');
}
