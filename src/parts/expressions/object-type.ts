import { type CelType, dyn, type Member, type ObjectType, unify } from './cel-type.ts';

/** The type of what a shape leaves between several types: known only when it is there. */
export const unstated: CelType = { is: 'dyn', open: false };

/** An object whose members are read when first asked for. */
export function lazily(name: string, rest: CelType | undefined, members: () => Iterable<readonly [string, Member]>): ObjectType {
  let made: ReadonlyMap<string, Member> | undefined;
  return {
    is: 'object',
    name,
    get members() {
      made ??= new Map(members());
      return made;
    },
    ...(rest && { rest }),
  };
}

/** One type for several shapes of one value. Objects have the members of all, and one that some lack may be absent. */
export function mergeTypes(types: readonly CelType[]): CelType {
  const [first] = types;
  if (!first) return unstated;
  if (types.length === 1) return first;
  const objects = types.flatMap((type) => (type.is === 'object' ? [type] : []));
  if (objects.length < types.length) return types.reduce((a, b) => unify(a, b) ?? unstated);
  const rest = objects.some((type) => type.rest) ? dyn : undefined;
  return lazily(objects.map((type) => type.name).join(' or '), rest, () => mergedMembers(objects));
}

function mergedMembers(objects: readonly ObjectType[]): [string, Member][] {
  const names = new Set(objects.flatMap((type) => [...type.members.keys()]));
  return [...names].map((name) => {
    const held = objects.flatMap((type) => type.members.get(name) ?? []);
    const type = held.map((member) => member.type).reduce((a, b) => unify(a, b) ?? unstated);
    return [name, { type, optional: held.length < objects.length || held.some((member) => member.optional) }];
  });
}

/** An object that may be absent as a whole: then all its members are. */
export function maybeAbsent(type: CelType): CelType {
  if (type.is !== 'object') return type;
  return lazily(type.name, type.rest, () => [...type.members].map(([name, member]) => [name, { ...member, optional: true }]));
}
