import { setTimeout as delay } from 'node:timers/promises';
import type { Chance } from '../crash/chance.ts';
import type { Database } from './database.ts';
import type { Fleet } from './fleet.ts';
import type { Surroundings } from './surroundings.ts';

/** What is done to processes and their connections, and how often each was. */
export interface FaultCount {
  kills: number;
  stops: number;
  shortPauses: number;
  /** So long that the process has lost its work when it goes on. */
  longPauses: number;
  cuts: number;
  /** How many sessions were cut. */
  sessions: number;
  /** How often the servers that they stand on were ended, in whatever way, or hung. */
  database: number;
  rates: number;
  broker: number;
}

export interface FaultSetting {
  readonly fleet: Fleet;
  readonly chance: Chance;
  readonly places: number;
  readonly database: Database;
  readonly surroundings: Surroundings;
  readonly count: FaultCount;
}

/** Longer than a lease holds. */
const longPauseMs = 3600;

/** Faults under way; each is seen to its end before the service is looked at. */
export class Faults {
  readonly #setting: FaultSetting;
  readonly #underWay = new Set<Promise<void>>();
  readonly #busy = new Set<number>();
  readonly #gone = new Map<'database' | 'rates' | 'broker', Promise<void>>();

  constructor(setting: FaultSetting) {
    this.#setting = setting;
  }

  /** Begins a fault somewhere, as soon as there is a process that none is done to. */
  async next(): Promise<void> {
    const { chance, count } = this.#setting;
    const wish = chance.weighed({
      kill: 60,
      cut: 16,
      stop: 8,
      'pause shortly': 9,
      'pause long': 3,
      database: 3,
      rates: 5,
      broker: 5,
    });
    if (wish === 'database' || wish === 'rates' || wish === 'broker') return this.#endServer(wish);
    if (wish === 'cut') return this.#cut();
    const place = await this.#freePlace();
    if (wish === 'kill') this.#begin(place, this.#kill(place));
    else if (wish === 'stop') this.#begin(place, this.#stop(place));
    else {
      const isLong = wish === 'pause long';
      count[isLong ? 'longPauses' : 'shortPauses'] += 1;
      const ms = isLong ? longPauseMs + chance.below(400) : 20 + chance.below(400);
      this.#begin(place, this.#setting.fleet.pause(place, ms));
    }
  }

  /** Resolves once every process is up again. @throws what a start failed with */
  async over(): Promise<void> {
    while (this.#underWay.size + this.#gone.size > 0) await Promise.all([...this.#underWay, ...this.#gone.values()]);
  }

  /** Ends one of the servers that all stand on, or has it hang, and brings it back after a while; one at a time of each. */
  async #endServer(which: 'database' | 'rates' | 'broker'): Promise<void> {
    await this.#gone.get(which);
    this.#setting.count[which] += 1;
    const done = this.#ended(which).finally(() => this.#gone.delete(which));
    this.#gone.set(which, done);
    // Whoever waits for the end of all is told.
    done.catch(() => {});
  }

  async #ended(which: 'database' | 'rates' | 'broker'): Promise<void> {
    const { chance, surroundings } = this.#setting;
    const restMs = chance.below(1500);
    if (which === 'database') return surroundings.postgres.restart(chance.percent(50), restMs);
    const server = which === 'rates' ? surroundings.redis : surroundings.nats;
    const hangs = chance.percent(40);
    if (hangs) server.pause(true);
    else await server.kill();
    await delay(restMs);
    if (hangs) server.pause(false);
    else await server.start();
  }

  /** Starts a process; one that finds no database is started again once there is one. */
  async #start(place: number): Promise<void> {
    for (;;) {
      const gone = this.#gone.get('database');
      try {
        await gone;
        return await this.#setting.fleet.start(place);
      } catch (failure) {
        const isWithout = this.#gone.has('database') || gone !== undefined;
        if (!isWithout) throw failure;
      }
    }
  }

  async #freePlace(): Promise<number> {
    for (;;) {
      const { chance, fleet } = this.#setting;
      const place = chance.one(fleet.up.filter((up) => !this.#busy.has(up)));
      if (place !== undefined) return place;
      await Promise.race(this.#underWay);
    }
  }

  #begin(place: number, work: Promise<void>): void {
    this.#busy.add(place);
    const done = work.finally(() => {
      this.#busy.delete(place);
      this.#underWay.delete(done);
    });
    this.#underWay.add(done);
    // Whoever waits for the end of all is told.
    done.catch(() => {});
  }

  async #kill(place: number): Promise<void> {
    const { fleet, chance, count } = this.#setting;
    count.kills += 1;
    const restMs = chance.below(200);
    await fleet.kill(place);
    await delay(restMs);
    await this.#start(place);
  }

  async #stop(place: number): Promise<void> {
    const { fleet, count } = this.#setting;
    count.stops += 1;
    const code = await fleet.stop(place);
    if (code !== 0) {
      const unanswered = fleet.unanswered.filter((why) => why.startsWith(`place ${place}:`)).slice(-20);
      const told = [...unanswered, ...fleet.said.slice(-20)].join('\n');
      throw new Error(`The process in place ${place} was asked to stop and ended with ${code}:\n${told}`);
    }
    await this.#start(place);
  }

  /** Ends sessions in the database: one, some or all. */
  async #cut(): Promise<void> {
    const { chance, database, count } = this.#setting;
    const share = chance.weighed({ one: 5, some: 3, all: 2 });
    const most = { one: 1, some: 4, all: 1000 }[share];
    const rows = await database.query(
      `SELECT pg_terminate_backend(pid) FROM (
         SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() ORDER BY md5(pid::text || $1) LIMIT $2
       ) AS chosen`,
      [String(chance.below(2 ** 30)), most],
    );
    count.cuts += 1;
    count.sessions += rows.length;
  }
}
