import { Captured, Fresh, type Symbolic } from '../script/symbol.ts';

/** A body with a member set to another value; the maps on the way are made where they are not there. */
export function withMember(body: Symbolic, [name, ...rest]: readonly string[], value: Symbolic): Symbolic {
  if (name === undefined) return value;
  const map = membersOf(body);
  return { ...map, [name]: withMember(map[name] ?? {}, rest, value) };
}

/** A body without a member. */
export function withoutMember(body: Symbolic, [name, ...rest]: readonly string[]): Symbolic {
  if (name === undefined) return body;
  const { [name]: own, ...others } = membersOf(body);
  if (rest.length === 0 || own === undefined) return others;
  return { ...others, [name]: withoutMember(own, rest) };
}

/** Whether a body has everything on the way to a member. */
export function hasWayTo(body: Symbolic, path: readonly string[]): boolean {
  let at: Symbolic | undefined = body;
  for (const name of path.slice(0, -1)) at = at === undefined ? undefined : membersOf(at)[name];
  return at !== undefined && Object.keys(membersOf(at)).length >= 0 && typeof at === 'object' && at !== null;
}

/** The members of a body that is a map; none of anything else. */
export function membersOf(value: Symbolic): Readonly<Record<string, Symbolic>> {
  if (typeof value !== 'object' || value === null || value instanceof Captured || value instanceof Fresh || Array.isArray(value))
    return {};
  // The cast holds: what is left is a map.
  return value as Readonly<Record<string, Symbolic>>;
}
