import { type PlannedCase, planOf, queuesOf } from './asked.ts';
import { cleanUp, makeRoom, removeSubscribers } from './clean-up.ts';
import { cameToNothing, nothingSent, sendControls } from './evidence/control.ts';
import { type Errand, Spent } from './exchange/budget.ts';
import type { ScriptRun } from './exchange/step.ts';
import { NoRoom, Untestable } from './exchange/untestable.ts';
import { GivenKept } from './given.ts';
import { staysWithin } from './make/ends.ts';
import { SharedRow, SharedRows } from './make/lent-rows.ts';
import { noteOwnRows } from './make/own-rows.ts';
import { Refill, refillMsMax } from './refill.ts';
import type { Leftover, VerifyReport } from './report.ts';
import { Room } from './room.ts';
import { type CameTo, type CarriedOut, gathering, type RoundsGiven, runFor, serviceBegunAnew } from './rounds-given.ts';
import { type Ledgering, Session } from './session/session.ts';
import { isBeside, type Trial } from './session/trial.ts';
import { CaseCosts, CaseSlots, phases, type Slot } from './slots.ts';
import { SpokenFor } from './spoken-for.ts';
import { Suspects } from './suspects.ts';
import { Draws } from './values/fresh.ts';

type Found = Pick<VerifyReport, 'rejected' | 'breaches' | 'crashes' | 'causes' | 'unsteady' | 'notes' | 'stopped' | 'sufficing'>;
type Noise = Trial['noise'];

/** So often a case is carried out again that a quota has stopped: others use windows up too. */
const againMost = 3;
/** After so many requests in a row without an answer the service counts as gone. */
const troublesMax = 40;

/** Carries out the cases of all trials: quiet ones beside each other, then those that want to be alone, the loud ones last. */
export class Rounds {
  readonly #given: RoundsGiven;
  readonly #refill: Refill;
  readonly #suspects: Suspects;
  readonly #kept: GivenKept;
  readonly #costs: CaseCosts;
  readonly #room: Room;
  readonly #shared: SharedRows;
  /** Of which resources a trial has changed, or listed below, what it had of others: it makes its own. */
  readonly #ownRows = new Map<Trial, Set<string>>();
  readonly #queues: Record<Noise, PlannedCase[]> = { quiet: [], alone: [], loud: [], last: [] };
  /** How often what a case had of others was to be its own. */
  readonly #sharedTimes = new Map<PlannedCase, number>();
  /** What came to nothing for a quota, or for want of room, and how often: it is carried out again. */
  readonly #again = new Map<PlannedCase, number>();
  readonly #notes: string[] = [];
  readonly #spokenFor = new SpokenFor();
  #stopped: string | undefined;
  #done = 0;
  #of = 0;

  constructor(given: RoundsGiven) {
    this.#given = given;
    const { client, clock, model } = given;
    const mayWait = (ms: number) => ms <= refillMsMax && staysWithin(model, this.bareSession(), ms + 60_000);
    this.#refill = new Refill(client, clock, mayWait, () => this.#room.places.look());
    this.#kept = new GivenKept(model, given.options.mayChange ?? [], () => this.bareSession());
    this.#costs = new CaseCosts(given.beside);
    this.#shared = new SharedRows(model);
    const bareSession = () => this.bareSession();
    this.#room = new Room(
      model,
      given.made,
      bareSession,
      (row) => this.#shared.keeps(row),
      () => this.#refill.waiting,
    );
    this.#suspects = new Suspects({
      ...given,
      given: this.#kept,
      room: this.#room,
      startRun: (trial) => this.#startRun(trial),
      around: (act, pausing) => this.#refill.around(act, pausing),
      bareSession,
      whyOf: (error, trial) => this.#whyOf(error, trial),
    });
    given.budget.looksAgainAt(() => this.#suspects.unproved);
  }

  async all(trials: readonly Trial[]): Promise<Found> {
    const { client, clock, made, budget, skips, tally } = this.#given;
    this.#plan(trials);
    for (const [at, { noise, share, least }] of phases.entries()) {
      if (this.#queues[noise].length === 0) continue;
      // Those that want to be alone go through what is there, which is less once what was made is removed.
      this.#shared.forget();
      if (noise === 'alone' || noise === 'last') await makeRoom(made, budget, () => this.bareSession());
      if (noise === 'last') await this.#prove();
      const isLast = phases.slice(at + 1).every((later) => this.#queues[later.noise].length === 0);
      await this.#phase(noise, isLast ? 1 : share, least);
    }
    const isLeft = Object.values(this.#left).some(Boolean);
    const sufficing = budget.spent === undefined && !isLeft ? undefined : this.#costs.sufficing(this.#left);
    if (isLeft) this.#stopped ??= budget.scarce;
    for (const { trial, testCase } of Object.values(this.#queues).flat())
      tally.left(trial.name, testCase.facts, this.#stopped ?? budget.scarce);
    await cleanUp(made, () => this.bareSession());
    await this.#prove();
    if (client.waitedMs > 1000 && clock.advance === undefined)
      this.#notes.push(`${Math.round(client.waitedMs / 1000)} s were spent waiting for rates to refill.`);
    const { notes, ...told } = this.#suspects.told();
    // What looked broken and was not looked at again is no verdict.
    if (notes.length > 0) this.#stopped ??= budget.spent ?? 'no time was left to look again at what looked broken';
    return {
      ...told,
      rejected: this.#spokenFor.rejected,
      notes: [...skips.notes, ...this.#notes, ...notes],
      ...(this.#stopped !== undefined && { stopped: this.#stopped }),
      ...(sufficing && { sufficing }),
    };
  }

  /** A session that holds answers to nothing. */
  bareSession(errand: Errand = 'again'): Session {
    const { model, seed, rows } = this.#given;
    return new Session({
      model,
      rows,
      name: 'clean-up',
      observers: [],
      run: { ...this.#startRun(), errand },
      chance: new Draws(`${seed}`),
      ledgering: { held: () => {}, moot: () => {}, suspected: () => {} },
    });
  }

  /** Removes what was made, and puts back what was changed of what was given; says what stays. */
  async cleanUp(): Promise<Leftover[]> {
    await noteOwnRows(this.#given);
    const left = await cleanUp(this.#given.made, () => this.bareSession('last'));
    return [...left, ...(await this.#kept.putBack())];
  }

  #startRun(trial?: Trial): ScriptRun {
    const [kept, room, shared] = [this.#kept, this.#room, this.#shared];
    return runFor(trial, this.#given.startRun(), { kept, room, shared, refill: this.#refill });
  }

  #plan(trials: readonly Trial[]): void {
    const { options, clock, model, skips, tally } = this.#given;
    const planned = planOf(trials, model, options).filter(({ trial, testCase }) => {
      const why = skips.ofTrial(trial) ?? skips.ofFacts(testCase.facts);
      if (why !== undefined) tally.courseOf(trial.name, testCase.facts).end(nothingSent, why);
      return why === undefined;
    });
    for (const { fact, why } of skips.facts) tally.doubted(fact, why);
    this.#of = planned.length;
    Object.assign(this.#queues, queuesOf(planned, clock.advance !== undefined));
  }

  async #phase(noise: Noise, share: number, least: number): Promise<void> {
    const { budget, beside } = this.#given;
    const queue = this.#queues[noise];
    const [fromMs, fromDone, fromRequests] = [Date.now(), this.#done, budget.requests];
    // Whoever comes after those that used more than their share has its part all the same.
    const until = Math.max(share, Math.min(1, budget.used + least));
    const next = () => (this.#stopped === undefined && (until === 1 || budget.used < until) ? queue.shift() : undefined);
    if (noise === 'quiet') await this.#beside(new CaseSlots(beside), next);
    else for (let planned = next(); planned; planned = next()) await this.#tryOne(planned, undefined);
    const requests = budget.requests - fromRequests;
    this.#costs.note(noise, { ms: Date.now() - fromMs, cases: this.#done - fromDone, requests });
  }

  async #beside(slots: CaseSlots, next: () => PlannedCase | undefined): Promise<void> {
    const underWay = new Set<Promise<void>>();
    for (;;) {
      const slot = await slots.begin();
      const planned = next();
      if (planned) {
        const going = this.#tryOne(planned, slot).finally(() => {
          slot.end();
          underWay.delete(going);
        });
        underWay.add(going);
        continue;
      }
      slot.end();
      // Those that are under way may put a case back.
      if (underWay.size === 0) return;
      await Promise.race(underWay);
    }
  }

  async #tryOne(planned: PlannedCase, slot: Slot | undefined): Promise<void> {
    const before = this.#again.get(planned) ?? 0;
    const isLast = before >= againMost;
    const run = () => this.#carryOut(planned, isLast, slot);
    // What is waited for by nobody gives nothing back either.
    if (!planned.trial.outlastsTime) this.#room.places.begin();
    const done = await this.#refill.around(run, slot?.pausing, planned.trial.outlastsTime);
    await this.#end(planned, done);
    const { cameTo } = done;
    if (cameTo !== 'its end') {
      this.#again.set(planned, cameTo === 'no room' ? againMost : before + (cameTo === 'a shared row' ? 0 : 1));
      const { noise } = planned.trial;
      // Alone it shares what room there is, or the next window, with nobody.
      const isAlone = noise === 'quiet' && (cameTo === 'no room' || before > 0);
      this.#queues[isAlone ? 'alone' : noise].push(planned);
      return;
    }
    this.#done += 1;
    this.#tellProgress(planned.trial.name);
  }

  #tellProgress(now: string): void {
    const { options, budget } = this.#given;
    const sufficing = this.#costs.sufficing(this.#left);
    const [done, of, { requests }, { broken }] = [this.#done, this.#of, budget, this.#suspects];
    options.onProgress?.({ done, of, requests, broken, now, ...(sufficing && { sufficing }) });
  }

  /** What it came to: what was stopped by a quota that is used up is carried out once more when it begins anew, and what found no room when others are over. */
  async #carryOut(planned: PlannedCase, isLast: boolean, slot: Slot | undefined): Promise<CarriedOut> {
    const { client, tally, model } = this.#given;
    const { trial, testCase } = planned;
    const sharedTimes = this.#sharedTimes.get(planned) ?? 0;
    const isSharing = isBeside(trial) && trial.part !== 'limits' && sharedTimes < againMost;
    const course = tally.courseOf(trial.name, testCase.facts);
    const { ledgering, found } = gathering(course);
    let [isHeldBack, cameTo]: [boolean, CameTo] = [false, 'its end'];
    const session = this.#session(planned, ledgering, slot, { isLast, onHeldBack: () => (isHeldBack = true) });
    const wasHurried = () => this.#refill.isDue && (isHeldBack || session.exchanges.some((one) => model.refusals.isHurried(one)));
    if (isSharing) this.#shared.open(session.run.owner, this.#ownRows.get(trial) ?? new Set());
    try {
      // Whatever a case waits for, it ends with the time.
      await client.within(testCase.run(session));
      if (!isLast && trial.noise === 'quiet' && wasHurried()) cameTo = 'a quota';
      else course.end(await sendControls(session, course));
    } catch (error) {
      if (error instanceof SharedRow) {
        this.#sharedTimes.set(planned, sharedTimes + 1);
        this.#ownRows.set(trial, new Set([...(this.#ownRows.get(trial) ?? []), error.resource]));
        return { cameTo: 'a shared row', session, found: [] };
      }
      const isFull = error instanceof NoRoom || (error instanceof Untestable && this.#room.wasFull(session.exchanges));
      const isDue = (isFull || error instanceof Untestable) && this.#refill.isDue;
      if (!isLast) cameTo = isDue ? 'a quota' : isFull ? 'no room' : 'its end';
      this.#shared.close(session.run.owner);
      if (cameTo === 'its end') course.end(await sendControls(session, course), this.#whyOf(error, trial.name));
      if (error instanceof Spent) this.#stopped ??= `${error.message}; ${trial.name} was under way`;
    }
    return { cameTo, session, found };
  }

  /** Looks again at what failed, once nothing that it waits for is owed, and takes away what would be in the way of others. */
  async #end(planned: PlannedCase, { session, found }: CarriedOut): Promise<void> {
    const { client, budget, made } = this.#given;
    this.#spokenFor.heard(session.exchanges);
    for (const suspicion of found)
      if (await this.#suspects.settle(planned, session, suspicion)) this.#stopped ??= 'what was looked for was found';
    // The next one may take the clock past what shows it.
    if (planned.trial.noise === 'last') await this.#prove();
    await removeSubscribers(made, () => this.bareSession(), session.run.owner);
    this.#shared.close(session.run.owner);
    await this.#room.ended(session.run.owner);
    if (!planned.trial.outlastsTime) this.#room.places.end();
    await this.#kept.putBack(session.run.owner);
    this.#stopped ??= client.troublesInARow >= troublesMax ? 'the service no longer answers' : budget.spent;
  }

  #session(
    planned: PlannedCase,
    ledgering: Ledgering,
    slot: Slot | undefined,
    { isLast, onHeldBack }: { readonly isLast: boolean; readonly onHeldBack: () => void },
  ): Session {
    const { model, seed, observers, rows } = this.#given;
    const { trial, testCase } = planned;
    const name = `${trial.name}@${testCase.name}`;
    // Who has waited in vain, or looks at limits, asks for what there may be no more of.
    const places = isLast || trial.part === 'limits' ? undefined : this.#room.places;
    return new Session({
      model,
      observers,
      rows,
      name,
      ledgering,
      run: { ...this.#startRun(trial), onHeldBack, ...(places && { places }), ...(slot && { pausing: slot.pausing }) },
      chance: new Draws(`${seed}\n${name}`),
    });
  }

  get #left(): Readonly<Record<Noise, number>> {
    const { quiet, alone, loud, last } = this.#queues;
    return { quiet: quiet.length, alone: alone.length, loud: loud.length, last: last.length };
  }

  /** Shows each breach once more where nothing else goes on. */
  async #prove(): Promise<void> {
    const { options, client } = this.#given;
    const note = await this.#suspects.prove(options.restart && serviceBegunAnew(client, options.restart));
    if (note !== undefined) this.#notes.push(note);
  }

  #whyOf(error: unknown, trial: string): string {
    const { why, ownFault } = cameToNothing(error, trial);
    if (ownFault !== undefined) this.#notes.push(ownFault);
    return why;
  }
}
