import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { chanceOf } from '../../bench/drawn/chance.ts';
import type { Document } from '../../src/document/document.ts';
import { read } from '../check/harness.ts';
import { bySort, type Edit, editAt, edited, sitesOf } from './edits.ts';

/** A document of which something is recorded, under a name that stays, with what was changed in it. */
export interface Recorded {
  readonly name: string;
  readonly changes: readonly string[];
  readonly document: Document;
}

/** The folder of the repository. */
export const root = join(import.meta.dirname, '../..');

/** How often each document is changed, by how many edits, and every which one from one on. */
export interface Drawing {
  readonly times: number;
  readonly editsEach: number;
  readonly every: number;
  readonly from?: number;
}

/** The services of strangers, the examples and some more, as they are. */
export function* originals(every = 1, from = 0): Generator<Recorded> {
  const files = [
    ...strangers.split(' ').map((name) => `bench/strangers/${name}/service.yaml`),
    ...globSync('examples/*.{md,yaml}', { cwd: root }),
    ...more,
  ].sort();
  for (const [at, file] of files.entries()) {
    if (at % every !== from) continue;
    const name = basename(file).startsWith('service.') ? basename(dirname(file)) : basename(file);
    yield { name, changes: [], document: read(readFileSync(join(root, file), 'utf8'), name) };
  }
}

/** The same, each so many times with edits all over it. */
export function* services({ times, editsEach, every, from = 0 }: Drawing): Generator<Recorded> {
  for (const { name, document } of originals(every, from)) {
    const chance = chanceOf(seedOf(name));
    const sorts = chance.shuffled(bySort(sitesOf(document.tree).filter(({ path }) => path.length > 2)));
    for (let time = 1; time <= times; time++) {
      const edits = sorts.splice(0, editsEach).map((sites) => editAt(chance.one(sites), sites, chance));
      yield changedBy(`service.${name}.${time}`, document, edits);
    }
  }
}

/** Those of which something is recorded: others that come later do not change which are chosen. */
const strangers =
  'affinage allotment apiary belfry cave crockhouse cupel cupping docket firn firn-cuts gavel glow-yard ' +
  'granary greenroom herbarium heterodyne hirewheel kiln landrace lombard marionette mews music-roll ' +
  'observatory organ-rounds quarry radiosonde saggar sailloft silverwell sluice tannery tideline trowel';

const more = [
  'bench/booked.md',
  'bench/guarded.md',
  'test/versioning/orders.yaml',
  'test/crash/accounts.yaml',
  'test/attack/vault.yaml',
];

/** A document with edits. */
export function changedBy(name: string, document: Document, edits: readonly Edit[]): Recorded {
  return { name, changes: edits.map(({ words }) => words), document: { ...document, tree: edited(document.tree, edits) } };
}

/** A seed of a name: what else is recorded does not change it. */
export function seedOf(name: string): number {
  return createHash('sha256').update(name).digest().readUInt32LE(0);
}
