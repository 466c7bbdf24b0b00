import type { Json, Place, Pointer } from './document.ts';
import type { Gathering, Located } from './gathering.ts';
import { below, pointerOf } from './pointer.ts';
import { quoted, report } from './report.ts';
import { isMap, isStanding, newMap, type OpenMap } from './values.ts';

/** A key on the way to where a value stands, and where that key is written. */
export interface Step {
  readonly key: string;
  readonly place: Place;
}

/**
 * Puts a value into the document's tree where the steps lead. Maps merge; anything else that is there already is a finding
 * that shows both places, and what was there first stays.
 */
export function merge(steps: readonly Step[], located: Located, gathering: Gathering): void {
  let target = gathering.tree;
  let at: Pointer = '';
  for (const [index, { key, place }] of steps.entries()) {
    at = below(at, key);
    if (!gathering.places.has(`${at}#`)) gathering.places.set(`${at}#`, place);
    if (index === steps.length - 1) break;
    if (!Object.hasOwn(target, key)) {
      target[key] = newMap();
      gathering.places.set(at, place);
    }
    const inner = target[key];
    if (!isMap(inner) || isStanding(inner)) {
      twice(at, located, pointerOf(steps.map((step) => step.key)), gathering);
      return;
    }
    target = opened(inner);
  }
  const last = steps.at(-1);
  if (last === undefined) {
    if (isMap(located.value)) join(target, located.value as OpenMap, '', located, gathering);
  } else place(target, last.key, located.value, at, located, gathering);
  if (gathering.places.size === 0) gathering.places = located.places;
  else for (const [pointer, where] of located.places) if (!gathering.places.has(pointer)) gathering.places.set(pointer, where);
}

function join(target: OpenMap, from: OpenMap, at: Pointer, located: Located, gathering: Gathering): void {
  for (const key of Object.keys(from)) place(target, key, from[key] ?? null, below(at, key), located, gathering);
}

function place(target: OpenMap, key: string, value: Json, at: Pointer, located: Located, gathering: Gathering): void {
  const there = Object.hasOwn(target, key) ? target[key] : undefined;
  if (there === undefined) target[key] = value;
  else if (isMap(there) && isMap(value) && !isStanding(there) && !isStanding(value)) {
    join(opened(there), opened(value), at, located, gathering);
  } else twice(at, located, at, gathering);
}

function twice(at: Pointer, located: Located, where: Pointer, gathering: Gathering): void {
  const first = gathering.places.get(at) ?? gathering.places.get(`${at}#`);
  const again = located.places.get(where) ?? located.places.get(`${where}#`);
  if (again === undefined) return;
  const also = first === undefined ? {} : { also: [{ message: 'It is first stated here.', place: first }] };
  report(gathering, 'document/stated-twice', again, `${quoted(at)} is stated twice.`, { at, ...also });
}

/** Every map of a tree is made by this folder and belongs to the one gathering, so it may be filled further. */
function opened(map: Json): OpenMap {
  return map as OpenMap;
}
