import type { Chance } from '../../bench/drawn/chance.ts';
import type { Json, JsonMap } from '../../src/document/document.ts';
import { isMap } from '../../src/document/values.ts';

/** A place in a document at which something can be made otherwise. */
export interface Site {
  readonly path: readonly string[];
  readonly value: Json;
}

/** One change of a tree, in words that a reader follows, and the tree that it makes. */
export interface Edit {
  readonly words: string;
  readonly apply: (tree: JsonMap) => JsonMap;
}

/** Every place below a tree, from the top to the leaves. */
export function sitesOf(tree: Json, path: readonly string[] = []): Site[] {
  return entriesOf(tree).flatMap(([key, value]) => {
    const here = [...path, key];
    return [{ path: here, value }, ...sitesOf(value, here)];
  });
}

/** Places by their sort: by part, depth and word; the words that stand at one depth of a part but once are one sort together. */
export function bySort(sites: readonly Site[]): Site[][] {
  const level = ({ path }: Site): string => `${path[0]} ${path.length}`;
  const sortOf = (site: Site): string => `${level(site)} ${site.path.at(-1)}`;
  const grouped = Map.groupBy(sites, sortOf);
  const sorts = Map.groupBy(sites, (site) => (grouped.get(sortOf(site))!.length > 1 ? sortOf(site) : level(site)));
  return [...sorts.values()];
}

/** What is at a place is made otherwise, in a way that is drawn; `others` are places of the same sort. */
export function editAt(site: Site, others: readonly Site[], chance: Chance): Edit {
  const { path, value } = site;
  const at = `/${path.join('/')}`;
  const becomes = (next: Json): Edit => changedTo(site, next);
  const how = chance.between(0, 15);
  if (how < 4) return { words: `no ${at}`, apply: (tree) => changedAt(tree, path, () => []) as JsonMap };
  if (how < 5) {
    const name = misspelt(path.at(-1) ?? '', chance);
    return {
      words: `${at} is called ${name}`,
      apply: (tree) => changedAt(tree, path, ([, inner]) => [[name, inner]]) as JsonMap,
    };
  }
  if (how < 7) {
    const name = `${path.at(-1)}_2`;
    return {
      words: `${at} again as ${name}`,
      apply: (tree) => changedAt(tree, path, (entry) => [entry, [name, entry[1]]]) as JsonMap,
    };
  }
  if (how < 10) return becomes(chance.one(others).value);
  if (how < 11) return becomes(chance.one(standings));
  return becomes(otherwise(value, chance));
}

/** What is at a place is said to be open, none or any. */
export function standingAt(site: Site, chance: Chance): Edit {
  return changedTo(site, chance.one(standings));
}

/** What is at a place is this instead. */
export function changedTo({ path }: Pick<Site, 'path'>, next: Json): Edit {
  return {
    words: `/${path.join('/')} = ${short(next)}`,
    apply: (tree) => changedAt(tree, path, ([key]) => [[key, next]]) as JsonMap,
  };
}

/** What is at a place has an entry more, or another one of that name. */
export function joinedBy({ path }: Pick<Site, 'path'>, name: string, value: Json): Edit {
  return {
    words: `/${path.join('/')} with ${name}: ${short(value)}`,
    apply: (tree) =>
      changedAt(tree, path, ([key, inner]) => [[key, isMap(inner) ? { ...inner, [name]: value } : inner]]) as JsonMap,
  };
}

/** Applies edits one after the other; what an earlier one took away is no longer there to be changed. */
export function edited(tree: JsonMap, edits: readonly Edit[]): JsonMap {
  return edits.reduce((changed, { apply }) => apply(changed), tree);
}

const standings: readonly Json[] = ['none', 'any', null, { $open: 'which?' }, { $none: true }, { $any: true }];
const wrongTypes: readonly Json[] = [true, 0, 'word', [], {}, ['word'], { word: 1 }];

function otherwise(value: Json, chance: Chance): Json {
  if (typeof value === 'string') return otherText(value, chance);
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'number') return chance.one([0, -value, value * 1000, value + 0.5, value + 1, `${value}`]);
  if (Array.isArray(value) && value.length > 0) {
    const items = value as readonly Json[];
    return chance.one<Json>([items.slice(1), items.toReversed(), [...items, items[0]!], [...items, 'word'], items[0]!, []]);
  }
  return chance.one(wrongTypes);
}

/** A text made otherwise: misspelt, turned round, with another sign in it. */
export function otherText(text: string, chance: Chance): Json {
  const words = text.match(/[\w-]+/g) ?? [];
  const last = words.at(-1) ?? '';
  return chance.one<Json>([
    misspelt(text, chance),
    text.replace(last, misspelt(last, chance)),
    words.length > 1 ? words.toReversed().join(' ') : '',
    text.replace(/\d+/, '0'),
    `${text} ${last}`,
    [text],
    text.replace(/[=<>!]=|[<>]|&&|\|\|/, (sign) => otherSigns[sign] ?? '=='),
  ]);
}

const otherSigns: Readonly<Record<string, string>> = { '==': '!=', '!=': '<', '&&': '||', '||': '&&', '<': '+', '>': '==' };

/** A word with two letters exchanged, or with one letter more. */
function misspelt(word: string, chance: Chance): string {
  const at = chance.between(0, Math.max(0, word.length - 2));
  const exchanged = word.slice(0, at) + (word[at + 1] ?? '') + (word[at] ?? '') + word.slice(at + 2);
  return exchanged === word ? `${word}x` : exchanged;
}

function short(value: Json): string {
  const text = JSON.stringify(value);
  return text.length > 40 ? `${text.slice(0, 37)}…` : text;
}

type Entry = readonly [string, Json];

function changedAt(value: Json, [key, ...rest]: readonly string[], change: (entry: Entry) => readonly Entry[]): Json {
  if (key === undefined || typeof value !== 'object' || value === null) return value;
  const entries = entriesOf(value).flatMap((entry): readonly Entry[] => {
    if (entry[0] !== key) return [entry];
    return rest.length > 0 ? [[key, changedAt(entry[1], rest, change)]] : change(entry);
  });
  if (Array.isArray(value)) return entries.map(([, inner]) => inner);
  const map: Record<string, Json> = Object.create(null);
  for (const [name, inner] of entries) map[name] = inner;
  return map;
}

function entriesOf(value: Json): Entry[] {
  if (Array.isArray(value)) return (value as readonly Json[]).map((item, at): Entry => [String(at), item]);
  return isMap(value) ? Object.entries(value) : [];
}
