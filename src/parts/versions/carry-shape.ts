import type { JsonMap } from '../../document/document.ts';
import { isSame } from '../../document/values.ts';
import { entriesOf, statedValue } from '../fact.ts';
import type { Shape } from '../shape.ts';
import { conjunctsOf, unionsOf } from '../shapes/branches.ts';
import { isPlainMap } from '../source.ts';
import { type Carry, isMembers, type OlderPlace, put } from './carry.ts';
import { CannotCarry, type ChangeValues } from './change-values.ts';
import { type EarlierResources, type FieldChange, newName } from './earlier-resources.ts';

/** Compiles the carrying of a shape between two levels; nothing where all of it stays as it is. */
type CarryShape = (shape: JsonMap, top: number, bottom: number) => Carry | undefined;

/** What a list, an object or a union needs to be carried: the carrying of what is in it. */
export interface InnerCarries {
  readonly resources: EarlierResources;
  readonly carry: CarryShape;
}

/** Compiles a shape that is no resource itself: its members, its items, the branches that its value can be of. */
export function carryStructure(shape: JsonMap, top: number, bottom: number, inner: InnerCarries): Carry | undefined {
  const pieces = [
    membersCarry(shape, top, bottom, inner),
    itemsCarry(shape, top, bottom, inner),
    ...unionsOf(shape).map(({ branches }) => unionCarry(branches.filter(isPlainMap), top, bottom, inner)),
    ...conjunctsOf(shape).map((branch) => inner.carry(branch, top, bottom)),
  ];
  return inTurn(pieces.filter((piece) => piece !== undefined));
}

/** Several carryings, the newest first, as one. */
export function inTurn(pieces: readonly Carry[]): Carry | undefined {
  if (pieces.length < 2) return pieces[0];
  const downTo = (value: unknown, count: number) => {
    let carried = value;
    for (let index = 0; index < count; index++) carried = (pieces[index] as Carry).down(carried);
    return carried;
  };
  return {
    down: (value) => downTo(value, pieces.length),
    up(value, before) {
      let carried = value;
      for (let index = pieces.length - 1; index >= 0; index--)
        carried = (pieces[index] as Carry).up(carried, before === undefined ? undefined : downTo(before, index));
      return carried;
    },
    place: (path) =>
      pieces.reduce<OlderPlace>(
        (place, piece) => {
          const next = piece.place(place.path);
          return { path: next.path, isMapped: place.isMapped || next.isMapped };
        },
        { path, isMapped: false },
      ),
  };
}

/** The carrying of a value that is sent as a list and shown with something around it. */
export function listOrShown(list: Carry | undefined, shown: Carry | undefined): Carry | undefined {
  if (!list || !shown) return shown ?? list;
  return {
    down: (value) => (Array.isArray(value) ? list : shown).down(value),
    up: (value, before) =>
      Array.isArray(value) ? list.up(value, Array.isArray(before) ? before : undefined) : shown.up(value, before),
    place: (path) => (/^\d+$/.test(path[0] ?? '') ? list : shown).place(path),
  };
}

function membersCarry(shape: JsonMap, top: number, bottom: number, inner: InnerCarries): Carry | undefined {
  const properties = isPlainMap(shape.properties) ? Object.entries(shape.properties) : [];
  const carries = new Map(
    properties.flatMap(([name, member]) => {
      const carry = isPlainMap(member) ? inner.carry(member, top, bottom) : undefined;
      return carry ? [[name, carry] as const] : [];
    }),
  );
  const rest = isPlainMap(shape.additionalProperties) ? inner.carry(shape.additionalProperties, top, bottom) : undefined;
  if (carries.size === 0 && !rest) return undefined;
  const known = new Set(properties.map(([name]) => name));
  const carryOf = (name: string) => carries.get(name) ?? (rest && !known.has(name) ? rest : undefined);
  const each = (value: unknown, carry: (carry: Carry, value: unknown, name: string) => unknown) => {
    if (!isMembers(value)) return value;
    const out: Record<string, unknown> = {};
    for (const [name, member] of Object.entries(value)) {
      const own = member === null ? undefined : carryOf(name);
      put(out, name, own ? atMember(name, () => carry(own, member, name)) : member);
    }
    return out;
  };
  return {
    down: (value) => each(value, (carry, member) => carry.down(member)),
    up: (value, before) => each(value, (carry, member, name) => carry.up(member, isMembers(before) ? before[name] : undefined)),
    place: (path) => below(path, carryOf),
  };
}

function itemsCarry(shape: JsonMap, top: number, bottom: number, inner: InnerCarries): Carry | undefined {
  const carry = isPlainMap(shape.items) ? inner.carry(shape.items, top, bottom) : undefined;
  if (!carry) return undefined;
  return {
    down: (value) => (Array.isArray(value) ? value.map((item) => (item === null ? null : carry.down(item))) : value),
    up(value, before) {
      if (!Array.isArray(value)) return value;
      const same = Array.isArray(before) && before.length > 0 ? itemsByOlder(before, carry) : undefined;
      return value.map((item, index) => {
        if (item === null) return null;
        const unchanged = same?.get(textOf(item))?.shift();
        return unchanged === undefined ? atMember(String(index), () => carry.up(item)) : unchanged;
      });
    },
    place: (path) => below(path, () => carry),
  };
}

/** The items that were there, by what they are in the older version: one that is sent again is still the same. */
function itemsByOlder(items: readonly unknown[], carry: Carry): Map<string, unknown[]> {
  const found = new Map<string, unknown[]>();
  for (const item of items) {
    const text = textOf(item === null ? null : carry.down(item));
    const list = found.get(text);
    if (list) list.push(item);
    else found.set(text, [item]);
  }
  return found;
}

/** JSON text in which equal values are equal. */
function textOf(value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return `[${value.map(textOf).join(',')}]`;
  if (!isMembers(value)) return JSON.stringify(value) ?? 'null';
  const names = Object.keys(value).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${textOf(value[name])}`).join(',')}}`;
}

/** A union: the value goes as the first branch does that it can be of, by its constants and its names. */
function unionCarry(list: readonly JsonMap[], top: number, bottom: number, inner: InnerCarries): Carry | undefined {
  const branches = list.map((branch) => ({
    carry: inner.carry(branch, top, bottom),
    newer: branchOf(branch, top, inner.resources),
    older: branchOf(branch, bottom, inner.resources),
  }));
  if (branches.every(({ carry }) => carry === undefined)) return undefined;
  const carryFor = (value: unknown, side: 'newer' | 'older') =>
    isMembers(value) || Array.isArray(value) ? branches.find((branch) => branch[side](value))?.carry : undefined;
  return {
    down: (value) => carryFor(value, 'newer')?.down(value) ?? value,
    up(value, before) {
      const carry = carryFor(value, 'older');
      return carry ? carry.up(value, carryFor(before, 'newer') === carry ? before : undefined) : value;
    },
    place: (path) => branches.find(({ carry }) => carry)?.carry?.place(path) ?? { path, isMapped: false },
  };
}

/** Whether a value can be of a branch as it is at a level. */
function branchOf(branch: JsonMap, level: number, resources: EarlierResources): (value: unknown) => boolean {
  const resource = typeof branch.resource === 'string' ? resources.at(branch.resource, level) : undefined;
  const members: [string, Shape][] = resource
    ? entriesOf(resource.fields).map(([name, field]) => [name, statedValue(field.shape) ?? {}])
    : Object.entries(isPlainMap(branch.properties) ? branch.properties : {}).flatMap(([name, member]) =>
        isPlainMap(member) ? [[name, member]] : [],
      );
  const isList = branch.type === 'array' || isPlainMap(branch.items);
  const constants = members.filter(([, shape]) => shape.const !== undefined);
  const names = new Set(members.map(([name]) => name));
  const isClosed = resource ? !resource.additionalProperties : branch.additionalProperties === false;
  return (value) => {
    if (Array.isArray(value)) return isList;
    if (!isMembers(value) || isList || (members.length === 0 && !resource && branch.type !== 'object')) return false;
    return (
      constants.every(([name, shape]) => value[name] === undefined || value[name] === shape.const) &&
      (!isClosed || Object.keys(value).every((name) => names.has(name)))
    );
  };
}

/** The place below the first step of a path, which stays as it is. */
function below(path: readonly string[], carryOf: (name: string) => Carry | undefined): OlderPlace {
  const [first, ...rest] = path;
  const carry = first === undefined ? undefined : carryOf(first);
  if (first === undefined || !carry || rest.length === 0) return { path, isMapped: false };
  const place = carry.place(rest);
  return { path: [first, ...place.path], isMapped: place.isMapped };
}

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
            atMember(older, () => turn(value)),
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
export function atMember<T>(name: string, carry: () => T): T {
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
