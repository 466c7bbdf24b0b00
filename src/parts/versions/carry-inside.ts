import { isSame } from '../../document/values.ts';
import type { Carry, OlderPlace } from './carry.ts';
import { CannotCarry, type ChangeValues } from './change-values.ts';
import { type FieldChange, newName } from './earlier-shape.ts';
import { isMembers, put } from './json-merge.ts';

/** Compiles a change that lies inside a field's values, such as `parcel.size.height`; `path` leads from the field to it. */
export function carryInside(path: readonly string[], change: FieldChange, values: ChangeValues): Carry {
  const steps = path.slice(0, -1);
  const older = path.at(-1) as string;
  const newer = change.kind === 'rename' ? newName(change.to) : older;
  const member = memberOf(change, older, newer, values);
  const descend = (
    value: unknown,
    before: unknown,
    depth: number,
    act: (members: Members, before: unknown) => Members,
  ): unknown => {
    if (Array.isArray(value)) return value.map((item) => descend(item, undefined, depth, act));
    if (!isMembers(value)) return value;
    const step = steps[depth];
    if (step === undefined) return act({ ...value }, before);
    if (value[step] === undefined) return value;
    const out = { ...value };
    put(out, step, descend(value[step], isMembers(before) ? before[step] : undefined, depth + 1, act));
    return out;
  };
  return {
    down: (value) => descend(value, undefined, 0, member.down),
    up: (value, before) => descend(value, before, 0, member.up),
    place(place): OlderPlace {
      const names = place.filter((name) => !/^\d+$/.test(name));
      const isThere = [...steps, newer].every((name, index) => names[index] === name);
      if (!isThere) return { path: place, isMapped: false };
      const at = place.indexOf(newer, steps.length);
      if (change.kind === 'add') return { path: place.slice(0, at), isMapped: false };
      const isMapped = change.kind === 'map' || change.kind === 'enum';
      return { path: isMapped ? place.slice(0, at + 1) : place.map((name, index) => (index === at ? older : name)), isMapped };
    },
  };
}

type Members = Record<string, unknown>;
interface MemberChange {
  down(members: Members): Members;
  up(members: Members, before: unknown): Members;
}

/** The change at the object that holds the member. Both ways work on a copy. */
function memberOf(change: FieldChange, older: string, newer: string, values: ChangeValues): MemberChange {
  switch (change.kind) {
    case 'rename':
      return { down: (members) => moved(members, newer, older), up: (members) => moved(members, older, newer) };
    case 'add':
      return {
        down: (members) => without(members, older),
        up(members, before) {
          const known = isMembers(before) ? before[older] : change.default?.value;
          if (known !== undefined) put(members, older, structuredClone(known));
          return members;
        },
      };
    case 'remove': {
      const make = values.ofRemoved(change);
      return {
        down(members) {
          if (make) put(members, older, make());
          return members;
        },
        up: (members) => without(members, older),
      };
    }
    default: {
      const { down, up } = values.of(change);
      const at = (members: Members, turn: (value: unknown) => unknown) => {
        const value = members[older];
        if (value !== undefined && value !== null)
          put(
            members,
            older,
            named(older, () => turn(value)),
          );
        return members;
      };
      return {
        down: (members) => at(members, down),
        up(members, before) {
          const was = isMembers(before) ? before[older] : undefined;
          const isKept = was !== undefined && was !== null && members[older] !== undefined;
          return at(members, (value) => (isKept && isSame(down(was), value) ? was : up(value)));
        },
      };
    }
  }
}

/** Carries a member, and says which one where it cannot be carried. */
export function named<T>(name: string, carry: () => T): T {
  try {
    return carry();
  } catch (failure) {
    if (failure instanceof CannotCarry) failure.path.unshift(name);
    throw failure;
  }
}

function moved(members: Members, from: string, to: string): Members {
  if (members[from] === undefined) return members;
  put(members, to, members[from]);
  return without(members, from);
}

function without(members: Members, name: string): Members {
  delete members[name];
  return members;
}
