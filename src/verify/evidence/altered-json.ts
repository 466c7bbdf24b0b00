import type { Json } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';

/** How deep JSON is altered, and how many of its members are. */
export const depthMax = 5;
export const membersMost = 30;

/** The names of all members of a body, each once, those at the top first. */
export function membersIn(body: Json): string[] {
  const names = new Set<string>();
  let front: readonly Json[] = [body];
  for (let depth = 0; depth < depthMax && front.length > 0; depth++) {
    for (const one of front) if (isMap(one)) for (const name of Object.keys(one)) names.add(name);
    front = front.flatMap((one) => (Array.isArray(one) ? (one as Json[]) : isMap(one) ? (Object.values(one) as Json[]) : []));
  }
  return [...names];
}

export type Variants = (value: Json) => readonly (Json | undefined)[];

export function withAltered(body: Json, name: string, alter: (value: Json) => Json | undefined, depth: number): Json {
  if (depth > depthMax) return body;
  if (Array.isArray(body)) return body.map((item: Json) => withAltered(item, name, alter, depth + 1));
  if (!isMap(body)) return body;
  const out: Record<string, Json> = Object.create(null);
  for (const [key, value] of Object.entries(body) as [string, Json][]) {
    const altered = key === name ? alter(value) : withAltered(value, name, alter, depth + 1);
    if (altered !== undefined) out[key] = altered;
  }
  return out;
}

export const ownVariants: Variants = (value) => [undefined, otherThan(value), ofOtherType(value), null, ...extremes(value)];
export const otherVariants: Variants = (value) => [undefined, otherThan(value), ofOtherType(value)];

export function otherThan(value: Json): Json {
  if (typeof value === 'string') return `${value}~`;
  if (typeof value === 'number') return value + 1;
  if (typeof value === 'boolean') return !value;
  if (Array.isArray(value)) return [...value, ...value, 'altered'];
  return isMap(value) ? { ...value, nf_altered: 'altered' } : 'altered';
}

function ofOtherType(value: Json): Json {
  return typeof value === 'string' ? 7 : Array.isArray(value) ? { nf_altered: 'altered' } : ['altered'];
}

function extremes(value: Json): readonly [Json, Json] {
  if (typeof value === 'number') return [1e19, -1e19];
  if (typeof value === 'string') return ['', 'altered '.repeat(1_500)];
  return Array.isArray(value) ? [[], Array.from({ length: 2_000 }, () => value[0] ?? 'altered')] : [{}, 'altered'];
}

/** A list with a row missing, doubled, in another order, or with rows of something else. */
export const listVariants: readonly ((list: readonly Json[]) => readonly Json[])[] = [
  (list) => list.slice(1),
  (list) => list.slice(0, -1),
  (list) => [...list, ...list.slice(0, 1)],
  (list) => [...list].reverse(),
  () => [],
  (list) => list.map(() => ({ nf_altered: 'altered' })),
];

/** Nothing where the body has no list of rows in it. */
export function withLists(body: Json, alter: (list: readonly Json[]) => readonly Json[]): Json | undefined {
  if (Array.isArray(body)) return [...alter(body)];
  if (!isMap(body)) return undefined;
  const lists = Object.entries(body).filter(([, value]) => Array.isArray(value) && value.every((item) => isMap(item as Json)));
  if (lists.length === 0) return undefined;
  return { ...body, ...Object.fromEntries(lists.map(([name, list]) => [name, [...alter(list as Json[])]])) };
}

/** What nobody states, and what tells of the inside. */
export const stranger = { nf_altered: 'SQLITE_ERROR at run (/srv/app/rows.js:12:3)' };

/** With members more, and in the rows of a list too. */
export function withStranger(body: Json, stranger: Readonly<Record<string, Json>>): Json {
  if (Array.isArray(body)) return body.map((item: Json) => (isMap(item) ? { ...item, ...stranger } : item));
  if (!isMap(body)) return stranger;
  const inside = Object.entries(body).map(([name, value]) => [
    name,
    Array.isArray(value) ? withStranger(value as Json, stranger) : value,
  ]);
  return { ...Object.fromEntries(inside), ...stranger };
}

/** JSON that stands as a text in something else. */
export function* alteredTexts(text: string): Iterable<string> {
  let body: Json;
  try {
    body = JSON.parse(text) as Json;
  } catch {
    return;
  }
  for (const name of membersIn(body).slice(0, membersMost)) {
    for (let at = 0; at < otherVariants('').length; at++) {
      yield JSON.stringify(withAltered(body, name, (value) => otherVariants(value)[at], 0));
    }
  }
}
