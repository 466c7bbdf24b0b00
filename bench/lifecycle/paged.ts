/** Lists of a few things, walked by their own words: which laws of pages and totals they keep. */
import type { Json, JsonMap } from '../../src/document/document.ts';
import { isMap } from '../../src/document/values.ts';
import { isGood, type Told } from './asking.ts';
import type { Described, DescribedOperation } from './description.ts';
import { addressOf, type Family, plainName, successOf } from './families.ts';
import { typesOf } from './fitting.ts';
import type { Life } from './law.ts';
import { countedIn, listPlace, nextOf } from './lists.ts';
import { made } from './making.ts';
import { type PageWords, pageWordsOf, saidOfAll } from './page-words.ts';
import { type ListPlace, namingMember, valueAt } from './things.ts';

const pagesMost = 12;

/** What of the lists of a family can be asked. */
interface Askable {
  /** Where the list has its things; nothing where it has plain names alone. */
  readonly place: ListPlace | undefined;
  readonly words: PageWords | undefined;
  readonly counting: Counting | undefined;
  /** Where the list has plain names. */
  readonly names: readonly string[] | undefined;
}

/** Nothing where its description says neither pages nor what counts them, and has no list of names. */
export function askableOf(described: Described, family: Family): Askable | undefined {
  const { list } = family;
  const schema =
    list &&
    successOf(list)
      .map(([, one]) => one.schema)
      .find((one) => one !== undefined);
  if (!list || !schema) return undefined;
  const place = listPlace({ family, asking: { described } });
  const words = place && pageWordsOf(described, list, schema);
  const counting = place && countOf(described.operations, family, described);
  const names = place ? undefined : namesAt(described, schema, family);
  return words || counting || names ? { place, words, counting, names } : undefined;
}

/** Makes a few things, and asks what a list of them and what counts them has to say; nothing where not all of them can be told apart. */
export async function askPaged(life: Life): Promise<void> {
  const { family, asking } = life;
  const askable = askableOf(asking.described, family);
  if (!askable) return;
  const { place, words, counting, names } = askable;
  const ids: string[] = [];
  for (let n = 0; n < (words ? 2 * words.size.rows + 1 : 3); n++) {
    const { told, id } = await made(life, n);
    if (!isGood(family.create, told) || id === undefined || ids.includes(id)) return;
    ids.push(id);
  }
  if (names) await askNames(life, names, ids);
  const whole = place && (await countedIn(life, place, ids));
  // What is not listed at all is another law's matter.
  if (!place || !whole || whole.failed !== undefined || whole.times.some((times) => times !== 1)) return;
  if (words) await askWalked(life, place, words, ids);
  if (counting) await askCounted(life, counting, whole.all);
}

/** A walk over all pages. */
interface Walk {
  readonly rows: string[];
  readonly tolds: Told[];
  readonly sizes: number[];
  readonly isEnded: boolean;
  readonly failed: string | undefined;
}

async function askWalked(life: Life, place: ListPlace, words: PageWords, ids: readonly string[]): Promise<void> {
  const list = life.family.list!;
  const { rows, tolds, sizes, isEnded, failed } = await walkOver(life, place, words);
  const last = tolds.at(-1)!;
  const tooMany = sizes.find((size) => size > words.size.rows);
  life.hold('cut', list, last, tooMany === undefined ? undefined : `${tooMany} rows where ${words.size.rows} were asked for`);
  const times = ids.map((id) => rows.filter((one) => one === id).length);
  const wrong = times.findIndex((count) => count !== 1);
  const walked =
    failed ??
    (isEnded ? undefined : `no end after ${tolds.length} pages`) ??
    (wrong < 0 ? undefined : `one is there ${times[wrong]} times`);
  if (!life.hold('walked', list, last, walked) || tooMany !== undefined) return;
  const said = tolds.map(saidOfAll);
  if (said.every((one) => one.rows.length + one.pages.length === 0 && one.more === undefined)) return;
  const filled = sizes.findLastIndex((size) => size > 0);
  const pages = Math.ceil(rows.length / words.size.rows);
  const broken = said
    .slice(0, filled + 1)
    .flatMap((one, at) => [
      ...one.rows.filter(([, value]) => value !== rows.length).map(([name, value]) => `${name} is ${value} of ${rows.length}`),
      ...one.pages.filter(([, value]) => value !== pages).map(([name, value]) => `${name} is ${value} of ${pages}`),
      ...(one.more !== undefined && one.more !== at < filled ? [`says ${one.more ? 'more' : 'no more'} on page ${at + 1}`] : []),
    ]);
  life.hold('totals', list, last, broken[0]);
}

async function walkOver({ family, asking, owners }: Life, place: ListPlace, words: PageWords): Promise<Walk> {
  const list = family.list!;
  const sized = { [words.size.name]: String(words.size.rows) };
  const walk = { rows: [] as string[], tolds: [] as Told[], sizes: [] as number[] };
  let query: Record<string, string> = { ...sized };
  let told = await asking.ask(list, { path: owners, query });
  for (;;) {
    walk.tolds.push(told);
    if (!isGood(list, told)) return { ...walk, isEnded: false, failed: `answered ${told.status}` };
    const items = valueAt(told.body, place.steps);
    if (!Array.isArray(items)) return { ...walk, isEnded: false, failed: `no list at ${place.steps.join('.') || 'the top'}` };
    const names = items.map((item) => String(valueAt(item, [...place.item.steps, place.item.naming!]) ?? ''));
    walk.rows.push(...names);
    walk.sizes.push(items.length);
    const next = furtherOf(list, words, told, names, { page: walk.tolds.length, rows: walk.rows.length });
    if (next === undefined) return { ...walk, isEnded: true, failed: undefined };
    if (walk.tolds.length === pagesMost) return { ...walk, isEnded: false, failed: undefined };
    query = { ...sized, ...next.query };
    told = next.address === undefined ? await asking.ask(list, { path: owners, query }) : await asking.follow(list, next.address);
  }
}

/** What asks for the page after one; nothing where that was the last. */
function furtherOf(
  list: DescribedOperation,
  words: PageWords,
  told: Told,
  names: readonly string[],
  shown: { readonly page: number; readonly rows: number },
): { address?: string; query?: Record<string, string> } | undefined {
  if (words.isTold) return leadOf(list, told);
  if (names.length === 0 || saidOfAll(told).more === false) return undefined;
  if (words.page) return { query: { [words.page.name]: String(words.page.first + shown.page) } };
  if (words.offset !== undefined) return { query: { [words.offset]: String(shown.rows) } };
  return { query: { [words.after!]: names.at(-1)! } };
}

/** What an answer leads on by; an address of the list itself is asked with all that it has to be sent. */
function leadOf(list: DescribedOperation, told: Told): { address?: string; query?: Record<string, string> } | undefined {
  // A token that shows who calls leads to no page.
  const parameters = list.parameters
    .map(({ name }) => name)
    .filter((name) => !/^(?:access|oauth)_?token$|security-?token$/i.test(name));
  const cursor = parameters.find((name) => plainName(name) === 'cursor');
  const next = nextOf(told, parameters);
  const lone = isMap(told.body) ? told.body.next : undefined;
  // A text that is called the next one, beside a parameter for a cursor.
  if (!next && cursor !== undefined && typeof lone === 'string' && lone !== '') return { query: { [cursor]: lone } };
  const { searchParams } = new URL(next?.address ?? '', 'http://x');
  return next?.address !== undefined && searchParams.size > 0 ? { query: Object.fromEntries(searchParams) } : next;
}

/** A list of plain names in an answer: where it is. */
function namesAt(described: Described, schema: JsonMap, family: Family): readonly string[] | undefined {
  const isNames = (one: Json | undefined) => typesOf(described.flat(described.flat(one).items))[0] === 'string';
  if (isNames(schema)) return [];
  const lists = Object.entries(described.membersOf(schema)).filter(([, one]) => described.flat(one).items !== undefined);
  const [first] = lists.filter(([, one]) => isNames(one));
  const isThing = namingMember(described, schema, family) !== undefined;
  return lists.length === 1 && first && !isThing ? [first[0]] : undefined;
}

async function askNames({ family, asking, owners, hold }: Life, at: readonly string[], ids: readonly string[]): Promise<void> {
  const list = family.list!;
  const told = await asking.ask(list, { path: owners });
  const names = isGood(list, told) ? valueAt(told.body, at) : undefined;
  const missing = ids.find((id) => !Array.isArray(names) || names.filter((one) => one === id).length !== 1);
  hold('names', list, told, missing === undefined ? undefined : `${missing} is not there once`);
}

/** What counts the things of a family beside their list. */
interface Counting {
  readonly operation: DescribedOperation;
  readonly steps: readonly string[];
}

function countOf(operations: readonly DescribedOperation[], { path }: Family, described: Described): Counting | undefined {
  const operation = operations.find(
    (one) =>
      one.method === 'GET' && /\/_?count$/.test(one.path) && addressOf(one.path).replace(/\/_?count$/, '') === addressOf(path),
  );
  const schema = operation && successOf(operation).map(([, one]) => one.schema)[0];
  if (!operation || !schema) return undefined;
  if (isNumber(described, schema)) return { operation, steps: [] };
  const [member] = Object.entries(described.membersOf(schema)).filter(
    ([name, one]) => /^(?:total)?count$|^total$/.test(plainName(name)) && isNumber(described, one),
  );
  return member && { operation, steps: [member[0]] };
}

function isNumber(described: Described, schema: Json): boolean {
  return ['integer', 'number'].includes(typesOf(described.flat(schema))[0] ?? '');
}

async function askCounted({ asking, owners, hold }: Life, { operation, steps }: Counting, all: number): Promise<void> {
  const told = await asking.ask(operation, { path: owners });
  const count = isMap(told.body) || steps.length === 0 ? valueAt(told.body, steps) : undefined;
  hold('counted', operation, told, count === all ? undefined : `${JSON.stringify(count)} of ${all}`);
}
