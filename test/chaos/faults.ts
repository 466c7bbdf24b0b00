import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from 'pg';
import type { Chance } from '../crash/chance.ts';
import type { Fleet } from './fleet.ts';

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
}

export interface FaultSetting {
  readonly fleet: Fleet;
  readonly chance: Chance;
  readonly places: number;
  /** A session of the database that is not cut itself. */
  readonly database: Client;
  readonly count: FaultCount;
}

/** Longer than a lease holds. */
const longPauseMs = 3600;

/** Faults under way; each is seen to its end before the service is looked at. */
export class Faults {
  readonly #setting: FaultSetting;
  readonly #underWay = new Set<Promise<void>>();
  readonly #busy = new Set<number>();

  constructor(setting: FaultSetting) {
    this.#setting = setting;
  }

  /** Begins a fault somewhere, as soon as there is a process that none is done to. */
  async next(): Promise<void> {
    const { chance, count } = this.#setting;
    const wish = chance.weighed({ kill: 60, cut: 20, stop: 8, 'pause shortly': 9, 'pause long': 3 });
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
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
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
    await fleet.start(place);
  }

  async #stop(place: number): Promise<void> {
    const { fleet, count } = this.#setting;
    count.stops += 1;
    const code = await fleet.stop(place);
    if (code !== 0) throw new Error(`A process that was asked to stop ended with ${code}: ${fleet.said.slice(-20).join('\n')}`);
    await fleet.start(place);
  }

  /** Ends sessions in the database: one, some or all. */
  async #cut(): Promise<void> {
    const { chance, database, count } = this.#setting;
    const share = chance.weighed({ one: 5, some: 3, all: 2 });
    const most = { one: 1, some: 4, all: 1000 }[share];
    const { rows } = await database.query(
      `SELECT pg_terminate_backend(pid) FROM (
         SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() ORDER BY md5(pid::text || $1) LIMIT $2
       ) AS chosen`,
      [String(chance.below(2 ** 30)), most],
    );
    count.cuts += 1;
    count.sessions += rows.length;
  }
}
