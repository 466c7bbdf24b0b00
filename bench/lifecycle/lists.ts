/** Lists, page after page: how often the things are there that were made. */
import type { Json } from '../../src/document/document.ts';
import { isMap } from '../../src/document/values.ts';
import { isGood, statedAnswer, type Told } from './asking.ts';
import { plainName, successOf } from './families.ts';
import type { Life } from './law.ts';
import { isMarkedDeleted, type ListPlace, placeOfList, valueAt } from './things.ts';

export interface Counted {
  /** How often each is there. */
  readonly times: readonly number[];
  readonly all: number;
  /** Its last page. */
  readonly told: Told;
  readonly failed: string | undefined;
}

const pagesMax = 5;
const paging = /page|offset|cursor|limit|size|skip|top|start|after|count|per|max|version/i;

/** What is known of a list before anything is asked. */
export interface Listing extends Pick<Life, 'family'> {
  readonly asking: Pick<Life['asking'], 'described'>;
}

/** Where the list of the family has its things; nothing where the document does not show that it lists them all. */
export function listPlace({ family, asking }: Listing): ListPlace | undefined {
  const { list, create } = family;
  if (!list) return undefined;
  const isNarrowed = list.parameters.some(
    ({ name, place, isRequired }) =>
      isRequired &&
      place === 'query' &&
      !paging.test(name) &&
      !create.parameters.some((one) => one.name === name && one.isRequired),
  );
  if (isNarrowed) return undefined;
  for (const [, { schema }] of successOf(list)) {
    const place = schema && placeOfList(asking.described, schema, family);
    if (place) return place;
  }
  return undefined;
}

/** Reads the list; `deleted` = what is as good as not listed where the list marks it so. */
export async function countedIn(
  { family, asking, owners }: Life,
  place: ListPlace,
  ids: readonly string[],
  deleted?: string,
): Promise<Counted> {
  const list = family.list!;
  const times = ids.map(() => 0);
  const seen = new Set<string>();
  let [all, told, query] = [0, await asking.ask(list, { path: owners }), undefined as Record<string, string> | undefined];
  for (let page = 1; ; page++) {
    if (!isGood(list, told)) return { times, all, told, failed: `answered ${told.status}` };
    if (statedAnswer(list, told.status)?.schema === undefined) return { times, all, told, failed: undefined };
    const items = valueAt(told.body, place.steps);
    if (!Array.isArray(items)) return { times, all, told, failed: `no list at ${place.steps.join('.') || 'the top'}` };
    const isGone = (item: Json) => nameIn(item, place) === deleted && isMarkedDeleted(item);
    const names = items.filter((item) => !isGone(item)).map((item) => nameIn(item, place));
    for (const [at, id] of ids.entries()) times[at]! += names.filter((name) => name === id).length;
    all += items.length;
    // The same page once more is no page more.
    const shown = JSON.stringify(items);
    if (items.length === 0 || page === pagesMax || seen.has(shown)) return { times, all, told, failed: undefined };
    seen.add(shown);
    const next = nextOf(
      told,
      list.parameters.map(({ name }) => name),
    );
    if (next === undefined) return { times, all, told, failed: undefined };
    query = next.query;
    told = query ? await asking.ask(list, { path: owners, query }) : await asking.follow(list, next.address!);
  }
}

function nameIn(item: Json, { item: { steps, naming } }: ListPlace): string {
  return String(valueAt(item, [...steps, naming!]) ?? '');
}

/** Where a page says that another one follows: an address, or a word for the parameter that takes it. */
export function nextOf(
  { body, headers }: Told,
  parameters: readonly string[],
): { address?: string; query?: Record<string, string> } | undefined {
  const linked = /<([^>]*)>\s*;[^,]*rel="?next"?/.exec(headers.get('link') ?? '')?.[1];
  if (linked !== undefined) return { address: linked };
  for (const [name, value] of wordsIn(body, 0)) {
    if (value === '' || !/next|cursor|continuation|marker/.test(name) || /prev/.test(name)) continue;
    if (/^(?:https?:\/\/|\/|\?)/.test(value)) return { address: value };
    const parameter = parameters.find((one) => {
      const plain = plainName(one);
      return (
        plain === name ||
        plain === name.replace('next', '') ||
        (/token|cursor|after|marker|continu/.test(plain) && /token|cursor|after|marker|continu/.test(name))
      );
    });
    if (parameter !== undefined) return { query: { [parameter]: value } };
  }
  return undefined;
}

function wordsIn(value: Json | undefined, depth: number): [string, string][] {
  if (!isMap(value) || depth > 2) return [];
  return Object.entries(value).flatMap(([name, one]): [string, string][] => {
    if (typeof one === 'string') return [[plainName(name), one]];
    return isMap(one) ? wordsIn(one, depth + 1).map(([inner, word]) => [`${plainName(name)}${inner}`, word]) : [];
  });
}
