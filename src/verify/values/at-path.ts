import { Captured, Fresh, type Symbolic } from '../exchange/symbol.ts';

/** A body with a member set to another value; the maps on the way are made where they are not there. Items of lists are named by their numbers. */
export function withMember(body: Symbolic, [name, ...rest]: readonly string[], value: Symbolic): Symbolic {
  if (name === undefined) return value;
  if (Array.isArray(body)) return withItem(body, Number(name), withMember(body[Number(name)] ?? {}, rest, value));
  const map = membersOf(body);
  return bareMap({ ...map, [name]: withMember(map[name] ?? {}, rest, value) });
}

/** A body without a member. */
export function withoutMember(body: Symbolic, [name, ...rest]: readonly string[]): Symbolic {
  if (name === undefined) return body;
  if (Array.isArray(body)) return withItem(body, Number(name), withoutMember(body[Number(name)] ?? {}, rest));
  const { [name]: own, ...others } = membersOf(body);
  if (rest.length === 0 || own === undefined) return bareMap(others);
  return bareMap({ ...others, [name]: withoutMember(own, rest) });
}

/** A list with another item, which is its last where it has fewer. */
function withItem(list: readonly Symbolic[], at: number, item: Symbolic): Symbolic {
  return at < list.length ? list.with(at, item) : [...list, item];
}

/** Whether a body has everything on the way to a member. */
export function hasWayTo(body: Symbolic, path: readonly string[]): boolean {
  let at: Symbolic | undefined = body;
  for (const name of path.slice(0, -1)) at = at === undefined ? undefined : inside(at, name);
  if (Array.isArray(at)) return at[Number(path.at(-1))] !== undefined;
  return at !== undefined && Object.keys(membersOf(at)).length >= 0 && typeof at === 'object' && at !== null;
}

function inside(at: Symbolic, name: string): Symbolic | undefined {
  return Array.isArray(at) ? at[Number(name)] : membersOf(at)[name];
}

/** The members of a body that is a map; none of anything else. */
export function membersOf(value: Symbolic): Readonly<Record<string, Symbolic>> {
  if (typeof value !== 'object' || value === null || value instanceof Captured || value instanceof Fresh || Array.isArray(value))
    return bareMap({});
  // The cast holds: what is left is a map.
  const map = value as Readonly<Record<string, Symbolic>>;
  return Object.getPrototypeOf(map) === null ? map : bareMap(map);
}

/** The members of a map as one that has no prototype: a field may be called `constructor`. */
export function bareMap<T>(members: Readonly<Record<string, T>>): Record<string, T> {
  return Object.assign(Object.create(null), members);
}
