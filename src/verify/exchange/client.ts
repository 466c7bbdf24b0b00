import { Pool } from 'undici';
import type { Json } from '../../document/document.ts';
import { ask, Late, listensWithin, troubleOf } from './ask.ts';
import { type Budget, type Errand, Spent } from './budget.ts';
import type { ServiceClock } from './clock.ts';
import type { Trouble } from './exchange.ts';
import { isNothingLeft, type Lane, Lanes, refillMs, type ToldNames, UsedUp } from './lanes.ts';
import { parseBody } from './parse-body.ts';
import type { Outgoing } from './plan.ts';
import { Untestable } from './untestable.ts';

/** What came back, and when by the service's clock. */
interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  readonly body: Json | undefined;
  readonly fromMs: number;
  readonly toMs: number;
  readonly trouble?: Trouble;
}

export interface ClientOptions {
  readonly origin: string;
  readonly connections: number;
  /** How long a whole answer is waited for. */
  readonly timeoutMs: number;
  readonly budget: Budget;
  readonly clock: ServiceClock;
  /** How long is waited where a refusal does not say: until the stated rates begin anew. */
  readonly rateWindowMs?: number;
  /** All windows of stated rates, in milliseconds. */
  readonly rateWindowsMs?: readonly number[];
  /** Where answers say what is left of a rate, and when more is. */
  readonly toldNames?: ToldNames;
}

/** How one request is sent. */
export interface Sending {
  /** Whether a 429 comes back as it is. */
  readonly takesRefusalsOfRates?: boolean;
  /** What it is sent for; a trial unless said. */
  readonly errand?: Errand;
  /** The stated rates that count it. */
  readonly lanes?: readonly Lane[];
  /** Lets others go on while it waits. */
  readonly pausing?: Pausing;
  /** Lets a long time go by, together with others who wait for one; nothing where none may. */
  goneBy?(ms: number, whose: { readonly client: Client; readonly errand?: Errand }): Promise<void>;
}

/** Waits for something without keeping others from going on meanwhile. */
export type Pausing = <T>(wait: Promise<T>) => Promise<T>;

/** The longest that is waited for a rate to refill, in all of one request. */
const waitMsMax = 65_000;
/** So many windows of a rate that are longer than that go by for one request, where the clock is moved. */
const windowsMost = 2;
/** How long a service that was there, and takes no connections any more, is waited for. */
const revivalMs = 3_000;

/** Where a window is moved past at no cost, others may use up the next one. */
const guessesMax = 8;

/** How long one that is started anew is waited for. */
const restartMs = 20_000;

/** What is waited beyond that: clocks are read to the second. */
const marginMs = 20;

/** Sends requests over connections that are kept, waits where a rate says so, and takes trouble for an answer too. */
export class Client {
  #pool: Pool;
  readonly #options: ClientOptions;
  /** Troubles since the last answer. */
  #troubles = 0;
  #waitedMs = 0;
  #hasAnswered = false;
  readonly #closing: (() => Promise<void>)[] = [];
  #waiting: Promise<void> | undefined;
  /** When what was refused for longer than a request waits is given again, by the service's clock. */
  #owedUntilMs: number | undefined;
  #revival: Promise<boolean> | undefined;
  readonly #lanes = new Lanes();
  /** The quotas that are used up. */
  readonly usedUp = new UsedUp();

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#pool = poolOf(options);
  }

  /** Begins anew with a service that was started anew, once it takes connections. @throws {Untestable} */
  async renew(): Promise<void> {
    const { origin, budget, clock } = this.#options;
    await this.#pool.destroy();
    this.#pool = poolOf(this.#options);
    this.#troubles = 0;
    this.#revival = undefined;
    if (!(await listensWithin(origin, Math.min(restartMs, budget.leftMs('again')))))
      throw new Untestable('the service took no connections after it was started anew');
    await clock.renew?.();
  }

  /** Where everything is sent: scheme, host and port. */
  get origin(): string {
    return this.#options.origin;
  }

  /** How many requests in a row have had no answer. */
  get troublesInARow(): number {
    return this.#troubles;
  }

  /** How long rates were waited for, in all. */
  get waitedMs(): number {
    return this.#waitedMs;
  }

  /** How long it is until what was refused for longer than a request waits is given again; nothing where nothing was. */
  get owedMs(): number | undefined {
    if (this.#owedUntilMs === undefined) return undefined;
    return Math.max(0, this.#owedUntilMs - this.#options.clock.toService(Date.now()));
  }

  /** Notes that something was refused until a time of the service's clock. */
  owe(untilMs: number): void {
    this.#owedUntilMs = Math.max(this.#owedUntilMs ?? 0, untilMs);
  }

  forgiveOwed(): void {
    this.#owedUntilMs = undefined;
  }

  /** @throws {Spent} @throws {Untestable} where a stated rate leaves no room for it in time */
  async send(outgoing: Outgoing, sending: Sending = {}): Promise<Answered> {
    const { takesRefusalsOfRates = false, errand = 'trial', lanes = [], pausing = asItIs } = sending;
    const isPaced = lanes.length > 0 && this.#options.clock.advance === undefined;
    let guesses = this.#options.clock.advance === undefined ? 1 : guessesMax;
    let sent = outgoing;
    let windows = windowsMost;
    for (let leftMs = waitMsMax; ; ) {
      if (isPaced && !takesRefusalsOfRates) await this.#turn(lanes, errand, pausing);
      this.#lanes.note(lanes, Date.now());
      const answered = await this.#reaching(sent, errand);
      if (isPaced && answered.status !== 429) this.#closeAsTold(lanes, answered);
      if (answered.status !== 429 || takesRefusalsOfRates) return answered;
      const toldMs = refillMs(answered, this.#options.toldNames);
      const waitMs = toldMs !== undefined ? toldMs + marginMs : guesses > 0 ? this.#options.rateWindowMs : undefined;
      if (waitMs === undefined) return answered;
      // Where that was not long enough, it was something else than a rate.
      guesses -= 1;
      if (waitMs > leftMs && windows-- > 0 && (await this.#goneBy(waitMs, sending))) {
        sent = sent.again?.() ?? sent;
        continue;
      }
      if (waitMs > leftMs) this.owe(answered.toMs + waitMs);
      if (waitMs > leftMs || !this.#canWait(waitMs, errand)) return answered;
      leftMs -= waitMs;
      this.#waitedMs += waitMs;
      if (isPaced) this.#lanes.close(lanes, Date.now(), waitMs);
      else await pausing(this.#wait(this.#togetherMs(waitMs, sending)));
      sent = sent.again?.() ?? sent;
    }
  }

  /** Lets the whole window of a stated rate go by, once nothing else is under way; says whether it did. What is less would let one more request through. */
  async #goneBy(waitMs: number, { goneBy, errand = 'trial', pausing = asItIs }: Sending): Promise<boolean> {
    const windowMs = (this.#options.rateWindowsMs ?? [])
      .filter((ms) => ms >= waitMs - marginMs)
      .sort((one, other) => one - other)[0];
    if (windowMs === undefined || !goneBy) return false;
    await pausing(goneBy(windowMs + marginMs, { client: this, errand }));
    return true;
  }

  /** How much time is left for a purpose. */
  leftMs(errand: Errand): number {
    return this.#options.budget.leftMs(errand);
  }

  /** Counts a request that goes over a connection of its own. @throws {Spent} */
  count({ errand = 'trial' }: Sending): void {
    this.#options.budget.take(errand);
  }

  /** What is no request is waited for no longer than there is time. @throws {Spent} */
  async within<T>(act: Promise<T>, errand: Errand = 'trial'): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const ends = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new Spent('the time is used up')), Math.max(0, this.#options.budget.leftMs(errand)));
    });
    return Promise.race([act, ends]).finally(() => clearTimeout(timer));
  }

  /** Has something else closed with it, such as a receiver of web hooks. */
  closesWithIt(close: () => Promise<void>): void {
    this.#closing.push(close);
  }

  async close(): Promise<void> {
    await this.#pool.destroy();
    await Promise.all(this.#closing.map((close) => close()));
  }

  /** Where many wait for a clock that is moved, the whole window goes by at once: what is told is when the first of them may ask again. */
  #togetherMs(ms: number, { pausing }: Sending): number {
    const { clock, rateWindowMs = 0 } = this.#options;
    return clock.advance === undefined || !pausing ? ms : Math.max(ms, rateWindowMs);
  }

  /** Several that wait for a clock that is moved wait for it together. */
  async #wait(ms: number): Promise<void> {
    if (this.#options.clock.advance === undefined) return this.#options.clock.wait(ms);
    this.#waiting ??= this.#options.clock.wait(ms).finally(() => {
      this.#waiting = undefined;
    });
    return this.#waiting;
  }

  /** Where an answer says that nothing is left, no more is sent until there is; no longer than a stated rate can ask for. */
  #closeAsTold(lanes: readonly Lane[], answered: Answered): void {
    const { toldNames } = this.#options;
    const ms = isNothingLeft(answered, toldNames) ? refillMs(answered, toldNames) : undefined;
    const most = Math.max(...lanes.map(({ windowMs }) => windowMs));
    if (ms !== undefined && ms <= most) this.#lanes.close(lanes, Date.now(), ms + marginMs);
  }

  /** Waits until the stated rates that count a request let it through. @throws {Untestable} */
  async #turn(lanes: readonly Lane[], errand: Errand, pausing: Pausing): Promise<void> {
    const { budget, clock } = this.#options;
    for (;;) {
      const ms = this.#lanes.waitMs(lanes, Date.now());
      if (ms <= 0) return;
      if (ms >= budget.leftMs(errand)) throw new Untestable('a stated rate leaves no room for it in the time that is left');
      await pausing(clock.wait(ms));
    }
  }

  /** A clock that can be moved makes every wait short. */
  #canWait(ms: number, errand: Errand): boolean {
    const { budget, clock } = this.#options;
    return clock.advance !== undefined || ms < budget.leftMs(errand);
  }

  /** A service that starts again is waited for: what it took no connection for has not reached it. */
  async #reaching(outgoing: Outgoing, errand: Errand): Promise<Answered> {
    const answered = await this.#once(outgoing, errand);
    if (answered.trouble?.kind !== 'refused' || !this.#hasAnswered) return answered;
    const { budget, origin } = this.#options;
    this.#revival ??= listensWithin(origin, Math.min(revivalMs, budget.leftMs(errand)));
    return (await this.#revival) ? this.#once(outgoing, errand) : answered;
  }

  async #once(outgoing: Outgoing, errand: Errand): Promise<Answered> {
    const { clock, budget, timeoutMs } = this.#options;
    budget.take(errand);
    const leftMs = budget.leftMs(errand);
    const startMs = Date.now();
    const fromMs = clock.toService(startMs);
    const times = () => ({ fromMs, toMs: clock.latest(Date.now()) });
    try {
      const { status, headers, bytes } = await ask(this.#pool, outgoing, Math.min(timeoutMs, leftMs));
      this.#troubles = 0;
      this.#hasAnswered = true;
      this.#revival = undefined;
      clock.learn(headers.date, startMs, Date.now());
      const text = decoder.decode(bytes);
      return { status, headers, text, body: parseBody(text, headers['content-type']), ...times() };
    } catch (error) {
      // That our own time was over says nothing of the service.
      if (error instanceof Late && leftMs < timeoutMs) throw new Spent('the time is used up');
      this.#troubles += 1;
      return { status: 0, headers: {}, text: '', body: undefined, ...times(), trouble: troubleOf(error) };
    }
  }
}

/** Waits as it is. */
const asItIs: Pausing = (wait) => wait;

function poolOf({ origin, connections, timeoutMs }: ClientOptions): Pool {
  return new Pool(origin, {
    connections,
    pipelining: 1,
    connectTimeout: timeoutMs,
    keepAliveTimeout: 2_000,
    // The time of a whole answer is what counts.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}

const decoder = new TextDecoder();
