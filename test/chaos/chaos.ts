import { setTimeout as delay } from 'node:timers/promises';
import { seeded } from '../crash/chance.ts';
import { useUp } from '../crash/life.ts';
import { startLoad } from '../crash/load.ts';
import { type FaultCount, Faults } from './faults.ts';
import { documentOn, readBroker, type Surroundings } from './surroundings.ts';
import { clients, overFleet, type TrialReport, type TrialSetting } from './trial.ts';

/** How much is done to how many processes. */
export interface Chaos extends Pick<TrialSetting, 'command' | 'places' | 'record' | 'told'> {
  readonly surroundings: Surroundings;
  /** Where the document is written. */
  readonly folder: string;
  readonly kills: number;
  readonly seed: number;
  /** It goes on so long, also where all kills were carried out before. */
  readonly minutes: number;
}

export interface ChaosReport extends TrialReport {
  readonly faults: FaultCount;
}

const faultsAtOnce = 10;

/**
 * Has several processes over one database killed, stopped, paused and cut off while clients ask them, and the database, the Redis and the NATS that
 * they stand on restarted, and holds what there is to all that was ever
 * acknowledged or told, again and again. @throws where something does not hold.
 */
export async function chaos(asked: Chaos): Promise<ChaosReport> {
  const { seed, kills, places, minutes, surroundings, folder } = asked;
  const { postgres, redis, nats } = surroundings;
  const chance = seeded(seed);
  const end = performance.now() + minutes * 60_000;
  const count: FaultCount = {
    kills: 0,
    stops: 0,
    shortPauses: 0,
    longPauses: 0,
    cuts: 0,
    sessions: 0,
    database: 0,
    rates: 0,
    broker: 0,
  };
  const document = documentOn(folder);
  const setting: TrialSetting = {
    ...asked,
    chance,
    database: postgres.address,
    document: () => document,
    journal: { mayBeUnavailable: true },
    more: ['--limits', redis.address, '--broker', nats.address],
    listening: (heard) => readBroker(nats.address, heard),
  };
  return overFleet(setting, async (trial) => {
    const { life, tally, database, settled } = trial;
    const { fleet } = trial;
    const { history } = life.journal;
    const faults = new Faults({ fleet, chance, places, database, surroundings, count });
    for (history.round = 1; count.kills < kills || performance.now() < end; history.round++) {
      await useUp(life);
      const load = startLoad(history, life.line, life.sender, chance, clients);
      for (let n = 0; n < faultsAtOnce; n++) {
        await delay(chance.below(250));
        await faults.next();
      }
      await faults.over();
      await load.stopped();
      tally.answers += load.answered;
      await settled(count.kills >= kills && performance.now() >= end);
      tally.kills = count.kills;
      const ended = `${count.database} of the database, ${count.rates} of Redis, ${count.broker} of NATS`;
      asked.told?.(`${count.kills} kills, ${count.cuts} cuts, ends ${ended}, ${tally.acknowledged} acknowledged, nothing wrong`);
    }
    return { faults: count };
  });
}
