import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { load as readYaml } from 'js-yaml';
import { seeded } from '../crash/chance.ts';
import { startLoad } from '../crash/load.ts';
import { clients, document, overFleet, type TrialReport, type TrialSetting } from './trial.ts';

/** How often processes are restarted, one after the other. */
export interface Rolling extends Pick<TrialSetting, 'command' | 'database' | 'places' | 'seed' | 'told'> {
  readonly restarts: number;
  /** Where documents are written. */
  readonly folder: string;
}

export interface RollingReport extends TrialReport {
  readonly restarts: number;
  /** Of which the process that stopped was held up until after its time to stop. */
  readonly held: number;
  /** Of which the document that came was newer than the one that went. */
  readonly newerDocuments: number;
  readonly documents: number;
}

/** In so many rounds through all processes one has a newer document. */
const roundsADocument = 3;
const restartsALook = 6;
/** One in so many is held up, as on a machine that has too much to do. */
const restartsAHold = 5;
const drainDelaySeconds = 3;

/**
 * Restarts several processes one after the other while clients ask them through a balancer that asks `/readyz`, a third of them with a newer document.
 * @throws where a request fails, or something does not hold.
 */
export function rolling({ restarts, folder, ...asked }: Rolling): Promise<RollingReport> {
  const chance = seeded(asked.seed);
  let number = 0;
  const documentOf = () => writtenDocument(folder, number);
  const more = ['--operations', '0', '--drain-delay', String(drainDelaySeconds)];
  return overFleet({ ...asked, chance, document: documentOf, journal: {}, more }, async ({ fleet, life, tally, settled }) => {
    const { history } = life.journal;
    let newerDocuments = 0;
    let held = 0;
    let done = 0;
    for (history.round = 1; done < restarts; history.round++) {
      const load = startLoad(history, life.line, life.sender, chance, clients);
      for (let n = 0; n < restartsALook && done < restarts; n++, done++) {
        const place = done % asked.places;
        const isNewer = Math.floor(done / asked.places) % roundsADocument === 1;
        if (isNewer && place === 0) number += 1;
        if (isNewer) newerDocuments += 1;
        const isHeld = done % restartsAHold === 1;
        if (isHeld) held += 1;
        const code = await fleet.stop(place, isHeld ? drainDelaySeconds * 1000 + 200 : 0);
        if (code !== 0)
          throw new Error(`A process that was asked to stop ended with ${code}: ${fleet.said.slice(-20).join('\n')}`);
        await fleet.start(place);
        await fleet.untilUp(place);
      }
      await load.stopped();
      tally.answers += load.answered;
      await settled(done === restarts);
      const failed = [...fleet.unanswered, ...fleet.unavailable];
      if (failed.length > 0) throw new Error(`${failed.length} requests failed:\n${failed.join('\n')}`);
      asked.told?.(`${done} restarts, ${number} newer documents, ${tally.acknowledged} acknowledged, no request failed`);
    }
    return { restarts: done, held, newerDocuments, documents: number + 1 };
  });
}

/** The document in so many newer versions, each with a field more that entries have to have; clients speak the first. */
function writtenDocument(folder: string, number: number): string {
  // The document of the trial has these.
  const base = readYaml(readFileSync(document, 'utf8')) as {
    readonly resources: { readonly entry: { readonly fields: object; readonly required: readonly string[] } };
  };
  const { entry } = base.resources;
  const names = Array.from({ length: number }, (_, index) => `note_${index + 1}`);
  const versions = Array.from({ length: number + 1 }, (_, index) => [`v${index}`, index === number ? { current: true } : {}]);
  const changes = names.map((name, index) => [`v${index + 1}`, [{ add: `entry.${name}`, default: 'plain' }]]);
  const written = {
    ...base,
    resources: {
      ...base.resources,
      entry: {
        ...entry,
        fields: { ...entry.fields, ...Object.fromEntries(names.map((name) => [name, 'string'])) },
        required: [...entry.required, ...names],
      },
    },
    versioning: {
      versions: Object.fromEntries(versions),
      select: { header: 'V', default: 'oldest' },
      ...(number > 0 && { changes: Object.fromEntries(changes) }),
    },
  };
  const path = join(folder, `accounts-${number}.json`);
  writeFileSync(path, JSON.stringify(written, undefined, 2));
  return path;
}
