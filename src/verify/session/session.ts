import { readToken } from '../../kinds/schemes/token.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { credentialParts, type TrialCaller } from '../exchange/callers.ts';
import { type Claim, FactNames, isFlaw, type Judgement, moot } from '../exchange/claim.ts';
import { isExchange, type TrialExchange } from '../exchange/exchange.ts';
import { type RequestPlan, renumberedPlan } from '../exchange/plan.ts';
import type { Parts, RowMaker, TrialRow, WantedRow } from '../exchange/row.ts';
import { carriedOut, type Done, type ScriptRun, type Step } from '../exchange/step.ts';
import { Captured, type Spot, type Symbolic } from '../exchange/symbol.ts';
import { Untestable } from '../exchange/untestable.ts';
import type { Model } from '../model/model.ts';
import type { Draws } from '../values/fresh.ts';
import { judgementAgain, type Observer } from './observer.ts';
import { sending } from './request.ts';
import { type SentStep, SentSteps } from './sent-steps.ts';

/** A claim that did not hold, and how much of the script had run by then. */
export interface Suspicion {
  readonly claim: Claim;
  readonly steps: number;
}

/** What a session tells those who keep count. */
export interface Ledgering {
  held(claim: Claim): void;
  /** What was seen does not bear on the claim. */
  moot(claim: Claim, why: string): void;
  suspected(suspicion: Suspicion, session: Session): void;
}

/** What one case works with: it sends requests, makes the data that it needs, and makes claims. Everything it does is kept as a script. */
export class Session {
  readonly model: Model;
  /** The trial and the case that it carries out. */
  readonly name: string;
  /** What is drawn here is the same in every run of the case with one seed. */
  readonly chance: Draws;
  readonly script: Step<unknown>[] = [];
  readonly run: ScriptRun;
  readonly suspicions: Suspicion[] = [];
  readonly #observers: readonly Observer[];
  readonly #ledgering: Ledgering;
  readonly #rows: RowMaker;
  /** The steps that made the rows which stand for callers, by their identifiers. */
  readonly #own = new Map<string, readonly number[]>();

  constructor(given: {
    readonly model: Model;
    readonly name: string;
    readonly chance: Draws;
    readonly run: ScriptRun;
    readonly observers: readonly Observer[];
    readonly ledgering: Ledgering;
    readonly rows: (session: Session) => RowMaker;
  }) {
    this.model = given.model;
    this.name = given.name;
    this.chance = given.chance;
    this.run = given.run;
    this.#observers = given.observers;
    this.#ledgering = given.ledgering;
    this.#rows = given.rows(this);
  }

  readonly #sent = new SentSteps();

  /** Everything that it has sent so far, and what came of it. */
  get exchanges(): readonly TrialExchange[] {
    return this.run.results.filter((result) => isExchange(result));
  }

  /** Does a step and keeps it in the script. */
  async do<T>(step: Step<T>): Promise<Done<T>> {
    const number = this.script.length;
    this.script.push(step);
    const value = await carriedOut(step, this.run);
    this.run.results[number] = value;
    return { step: number, value };
  }

  /** Sends a request; its answer is held to everything that every answer is held to. @throws {Untestable} where none comes. */
  async send(plan: RequestPlan): Promise<Done<TrialExchange>> {
    const done = await this.do(needing(sending(plan), await this.#ownRows(plan)));
    this.#sent.note(done.step, plan, done.value);
    this.#look(done);
    return done;
  }

  /** The steps that made the rows which stand for whoever sends a request, where it cannot do anything without them. */
  async #ownRows({ caller }: RequestPlan): Promise<readonly number[]> {
    if (!caller || caller.bad !== undefined || caller.id === undefined || this.run.isReadOnly) return [];
    const made = this.#own.get(caller.id);
    if (made) return made;
    // Whatever is sent for that is not in need of it.
    this.#own.set(caller.id, []);
    const numbers: number[] = [];
    for (const step of await this.#rows.ownRows(caller)) numbers.push((await this.do(step)).step);
    this.#own.set(caller.id, numbers);
    return numbers;
  }

  /** What was sent since a step, for others to have as well, as `SentSteps` says. */
  sentSince(from: number, also: readonly number[]): readonly SentStep[] | undefined {
    return this.#sent.since(from, also, this);
  }

  /** Has what another session has sent, as if it were its own; says which numbers its steps have here. */
  async takeOver(steps: readonly SentStep[]): Promise<ReadonlyMap<number, number>> {
    const numbers = new Map<number, number>();
    for (const { step, plan, value, fresh, origin } of steps) {
      const known = this.#sent.numberOf(origin);
      const needs = known === undefined ? await this.#ownRows(plan) : [];
      const number = known ?? this.script.length;
      numbers.set(step, number);
      if (known !== undefined) continue;
      const own = renumberedPlan(plan, numbers);
      this.script.push(needing(sending(own), needs));
      for (const [one, made] of fresh) this.run.fresh.set(one, made);
      this.run.results[number] = value;
      this.#sent.note(number, own, origin);
      this.#sent.share(origin);
    }
    return numbers;
  }

  /** Sends several at once. */
  async together(plans: readonly RequestPlan[]): Promise<Done<TrialExchange>[]> {
    const steps = plans.map(sending);
    const needs = new Set<number>();
    for (const plan of plans) for (const number of await this.#ownRows(plan)) needs.add(number);
    const group = await this.do<readonly TrialExchange[]>({
      says: steps.map(({ says }) => says).join(' and at once '),
      takes: steps.flatMap(({ takes }) => takes),
      needs: [...needs],
      act: (run) => Promise.all(steps.map((step) => step.act(run))),
      tell: (results) => results.map((result, at) => steps[at]?.tell(result)).join(' and '),
      shell: (names) => [...steps.flatMap((step) => step.shell(names).map((line) => `${line} &`)), 'wait'],
    });
    const members: Done<TrialExchange>[] = [];
    for (const at of plans.keys()) {
      members.push(
        await this.do<TrialExchange>({
          says: `the answer to ${steps[at]?.says}`,
          takes: [],
          needs: [group.step],
          // The cast holds: the step of that number is the group, which gives a list of exchanges.
          act: async (run) => (run.results[group.step] as readonly TrialExchange[])[at] as TrialExchange,
          tell: (result) => steps[at]?.tell(result) ?? '',
          shell: () => [],
        }),
      );
    }
    for (const member of members) this.#look(member);
    return members;
  }

  /** Lets time go by: the service's own, where its clock can be moved. */
  wait(ms: number): Promise<Done<null>> {
    return this.do(waiting(ms, (run) => run.clock.wait(ms)));
  }

  /** Lets time go by until a moment of the service's clock; nothing where that is over. */
  waitUntil(serviceMs: number): Promise<Done<null>> {
    const left = (run: ScriptRun) => Math.max(0, serviceMs - run.clock.toService(Date.now()));
    const act = async (run: ScriptRun): Promise<void> => {
      if (left(run) > 0) await run.clock.wait(left(run));
    };
    return this.do(waiting(left(this.run), act));
  }

  /** Lets a long time go by, where the clock can be moved together with all others that wait for one. */
  waitTogether(ms: number): Promise<Done<null>> {
    return this.do(waiting(ms, (run) => (run.goneBy ? run.goneBy(ms, run) : run.clock.wait(ms))));
  }

  /** Makes a row through the service's own operations. @throws {Untestable} where that cannot be. */
  make(resource: string, wanted: WantedRow = {}): Promise<TrialRow> {
    return this.#rows.make(resource, wanted);
  }

  /** The request that would make a row, not sent. @throws {Untestable} */
  creation(resource: string, wanted: WantedRow = {}): Promise<RequestPlan> {
    return this.#rows.creation(resource, wanted);
  }

  /** Everything that a request to an endpoint needs to be valid, but for the row that it is about. @throws {Untestable} */
  parts(endpoint: Endpoint, wanted: WantedRow = {}): Promise<Parts> {
    return this.#rows.parts(endpoint, wanted);
  }

  /** Where a subscriber is told of what happens, and an address of ours, for what is drawn: elsewhere nobody takes it. */
  heardAt(resource: string): ReturnType<RowMaker['heardAt']> {
    return this.#rows.heardAt(resource);
  }

  /** The headers that an endpoint asks for before it changes a row, such as `If-Match`. @throws {Untestable} */
  preconditions(endpoint: Endpoint, row: TrialRow, caller: TrialCaller | undefined): Promise<Record<string, Symbolic>> {
    return this.#rows.preconditions(endpoint, row, caller);
  }

  /** A value of an answer for later requests: a member by its path, or a header. */
  captured(of: Done<TrialExchange>, ...pointer: readonly (string | number)[]): Captured {
    return new Captured(of.step, { in: 'body', pointer });
  }

  capturedHeader(of: Done<TrialExchange>, name: string): Captured {
    const spot: Spot = { in: 'header', name: name.toLowerCase() };
    return new Captured(of.step, spot);
  }

  /** Claims something of what was seen; returns whether it held. One about a fact that is no promise is dropped. */
  claim<const T extends readonly unknown[]>(claim: Claim<T>): boolean {
    if (!this.model.facts.isPromised(claim.fact)) return true;
    const told: Claim<T> = {
      ...claim,
      judge(...seen) {
        const judgement = claim.judge(...seen);
        const isOfOver = isFlaw(judgement) && seen.some((one) => isExchange(one) && isTokenOver(one));
        return isOfOver ? moot('a token that was given is over') : judgement;
      },
    };
    const judgement = told.judge(...(claim.of.map(({ value }) => value) as unknown as T));
    return this.#settle(told as unknown as Claim, judgement);
  }

  /** Ends the case where something that it needs is not so. @throws {Untestable} */
  need(condition: boolean, why: string): asserts condition {
    if (!condition) throw new Untestable(why);
  }

  #settle(claim: Claim, judgement: Judgement): boolean {
    if (isFlaw(judgement)) {
      const suspicion = { claim, steps: this.script.length };
      this.suspicions.push(suspicion);
      this.#ledgering.suspected(suspicion, this);
      return false;
    }
    if (judgement === undefined) this.#ledgering.held(claim);
    else this.#ledgering.moot(claim, judgement.why);
    return true;
  }

  #look(done: Done<TrialExchange>): void {
    const exchange = done.value;
    const { facts } = this.model;
    for (const observer of this.#observers) {
      // A page says the same of each of its rows: once is enough where it holds.
      const held = new Map<string, FactNames>();
      for (const { fact, reason, judgement } of observer.observe(exchange, this.model)) {
        if (judgement === undefined && fact.at === undefined) {
          const names = held.get(reason) ?? new FactNames();
          if (names.has(fact)) continue;
          names.add(fact);
          held.set(reason, names);
        }
        if (!facts.isPromised(fact)) continue;
        const claim: Claim<readonly [TrialExchange]> = {
          fact,
          reason,
          of: [done],
          isOfForm: true,
          judge: (seen) => judgementAgain(observer, seen, this.model, { fact, reason }),
        };
        this.#settle(claim as unknown as Claim, judgement);
      }
    }
    if (exchange.trouble) throw new Untestable(`${exchange.sent.method} ${exchange.sent.target}: ${exchange.trouble.message}`);
  }
}

/** A step that does nothing but let time go by. */
function waiting(ms: number, wait: (run: ScriptRun) => Promise<void>): Step<null> {
  return {
    says: `wait ${ms} ms`,
    isWait: true,
    takes: [],
    act: async (run) => wait(run).then(() => null),
    tell: () => '',
    shell: () => [`sleep ${Math.ceil(ms / 1000)}`],
  };
}

/** A step that cannot do without others, however small it is made. */
function needing<T>(step: Step<T>, needs: readonly number[]): Step<T> {
  if (needs.length === 0) return step;
  return {
    ...step,
    needs: [...(step.needs ?? []), ...needs],
    *smaller() {
      for (const smaller of step.smaller?.() ?? []) yield needing(smaller, needs);
    },
  };
}

/** Whether a token that was given was over by the time it was sent: what it is refused with then says nothing of what was asked. */
export function isTokenOver({ caller, fromMs }: TrialExchange): boolean {
  const { credential, bad } = caller ?? {};
  const exp = credential && bad === undefined ? readToken(credentialParts(credential).text)?.claims.exp : undefined;
  return typeof exp === 'number' && exp * 1000 <= fromMs;
}
