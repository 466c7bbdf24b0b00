import { setTimeout as delay } from 'node:timers/promises';
import { seeded } from '../crash/chance.ts';
import { useUp } from '../crash/life.ts';
import { startLoad } from '../crash/load.ts';
import { type FaultCount, Faults } from './faults.ts';
import { clients, document, overFleet, type TrialReport, type TrialSetting } from './trial.ts';

/** How much is done to how many processes. */
export interface Chaos extends Pick<TrialSetting, 'command' | 'database' | 'places' | 'record' | 'told'> {
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
 * Has several processes over one database killed, stopped, paused and cut off while clients ask them, and holds what there is to all that was ever
 * acknowledged or told, again and again. @throws where something does not hold.
 */
export async function chaos(asked: Chaos): Promise<ChaosReport> {
  const { seed, kills, places, minutes } = asked;
  const chance = seeded(seed);
  const end = performance.now() + minutes * 60_000;
  const count: FaultCount = { kills: 0, stops: 0, shortPauses: 0, longPauses: 0, cuts: 0, sessions: 0 };
  return overFleet({ ...asked, chance, document: () => document, journal: { mayBeUnavailable: true } }, async (trial) => {
    const { life, tally, database, settled } = trial;
    const { fleet } = trial;
    const { history } = life.journal;
    const faults = new Faults({ fleet, chance, places, database, count });
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
      asked.told?.(`${count.kills} kills, ${count.cuts} cuts, ${tally.acknowledged} acknowledged, nothing wrong`);
    }
    return { faults: count };
  });
}
