import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Chance, chanceOf } from '../../bench/drawn/chance.ts';
import type { Json } from '../../src/document/document.ts';
import { isMap, isStanding } from '../../src/document/values.ts';
import { cases } from '../check/cases/all.ts';
import { quiet } from '../check/cases/quiet.ts';
import { securityCases } from '../check/cases/security.ts';
import { changed, treeOf } from '../check/harness.ts';
import { changedBy, type Recorded, seedOf } from './documents.ts';
import { changedTo, type Edit, editAt, joinedBy, type Site, sitesOf } from './edits.ts';

/** How what a case states is made otherwise: by any edit, by a value of another case, by an entry of another case besides. */
export type Way = 'edited' | 'grafted' | 'joined';

/**
 * The small document of the tests as each case changes it, with an edit of what the case states. A few cases share a document, those
 * that fall into one of so many lots by their texts: what is added to the cases changes few lots. Each round has other lots and edits.
 */
export function* caseChanges(way: Way, every = 1, round = 0): Generator<Recorded> {
  const lots = lotsOf(way, round);
  for (let lot = 0; lot < lotsOfCases; lot += every) yield* changeOf({ way, round, lot }, lots);
}

/** Those of the lots in `chosen.txt`, or every so manyth from one on: `choose.ts` chose them of many for what only they see. */
export function* chosenChanges(every = 1, from = 0): Generator<Recorded> {
  const text = readFileSync(join(import.meta.dirname, 'chosen.txt'), 'utf8').trimEnd();
  for (const line of text.split('\n')) {
    const [head = '', chosen = ''] = line.split(': ');
    const [way, round] = [head.split(' ')[0] as Way, Number(head.split(' ')[1])];
    const lots = lotsOf(way, round);
    for (const lot of chosen.split(' ').map(Number)) if (lot % every === from) yield* changeOf({ way, round, lot }, lots);
  }
}

type Lots = ReadonlyMap<number, readonly (readonly string[])[]>;

function lotsOf(way: Way, round: number): Lots {
  return Map.groupBy(allSnippets, (snippets) => seedOf(`${way} ${round} ${snippets}`) % lotsOfCases);
}

function* changeOf(
  { way, round, lot }: { readonly way: Way; readonly round: number; readonly lot: number },
  lots: Lots,
): Generator<Recorded> {
  const together = lots.get(lot) ?? [];
  const edits = together.flatMap((snippets) => makers[way](snippets, chanceOf(seedOf(`${way} ${round} ${snippets}`))));
  if (edits.length > 0) yield changedBy(`${way}.${round}.${lot}`, changed(together.flat()), edits);
}

const lotsOfCases = 250;
const allSnippets = [...[...cases, ...securityCases].map(({ snippets }) => snippets), ...Object.values(quiet)];

const makers: Readonly<Record<Way, (snippets: readonly string[], chance: Chance) => Edit[]>> = {
  /** Mostly of a leaf. */
  edited(snippets, chance) {
    const sites = sitesIn(snippets);
    const leaves = sites.filter(({ value }) => typeof value !== 'object');
    const from = leaves.length > 0 && chance.between(0, 3) > 0 ? leaves : sites;
    return from.length === 0 ? [] : [editAt(chance.one(from), from, chance)];
  },
  grafted(snippets, chance) {
    const sites = chance.shuffled(sitesIn(snippets));
    for (const site of sites) {
      const [nearest] = byNearness(pool().get(wordOf(site)) ?? [], `${snippets}`).filter(
        ({ value }) => !isAlike(value, site.value),
      );
      if (nearest) return [changedTo(site, nearest.value)];
    }
    return [];
  },
  joined(snippets, chance) {
    const sites = chance.shuffled(sitesIn(snippets).filter(({ value }) => isMap(value) && !isStanding(value)));
    for (const site of sites) {
      const alike = byNearness(
        [...(pool().get(wordOf(site)) ?? []), ...(below().get(site.path.at(-2) ?? '') ?? [])],
        `${snippets}`,
      );
      for (const { value } of alike)
        for (const [name, inner] of isMap(value) ? Object.entries(value) : [])
          if (isMap(site.value) && !Object.hasOwn(site.value, name) && inner !== null) return [joinedBy(site, name, inner)];
    }
    return [];
  },
};

function sitesIn(snippets: readonly string[]): Site[] {
  return snippets.flatMap((snippet) => sitesOf(treeOf(snippet))).filter(({ path, value }) => path.length > 2 && value !== null);
}

function wordOf({ path }: Site): string {
  return path.at(-1) ?? '';
}

/** In an order that hangs on a text: what is added to them comes somewhere between the others, which stay in theirs. */
function byNearness(sites: readonly Site[], text: string): Site[] {
  const far = (site: Site): number => seedOf(`${text} ${site.path} ${JSON.stringify(site.value)}`);
  return sites
    .map((site) => [far(site), site] as const)
    .sort(([one], [other]) => one - other)
    .map(([, site]) => site);
}

function isAlike(one: Json, other: Json): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

let known: readonly Site[] | undefined;
let byWord: ReadonlyMap<string, readonly Site[]> | undefined;
let byParent: ReadonlyMap<string, readonly Site[]> | undefined;

/** What all cases state, by the word under which it stands, */
function pool(): ReadonlyMap<string, readonly Site[]> {
  known ??= sitesIn(allSnippets.flat());
  byWord ??= Map.groupBy(known, wordOf);
  return byWord;
}

/** and by the word above that. */
function below(): ReadonlyMap<string, readonly Site[]> {
  known ??= sitesIn(allSnippets.flat());
  byParent ??= Map.groupBy(known, ({ path }) => path.at(-2) ?? '');
  return byParent;
}
