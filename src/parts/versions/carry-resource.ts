import type { JsonMap } from '../../document/document.ts';
import { isSame } from '../../document/values.ts';
import { entriesOf, entryOf } from '../fact.ts';
import type { Resource } from '../resources.ts';
import { type CarriedField, type Carry, isMembers, mergeJson, type OlderPlace, put, type ResourceCarry } from './carry.ts';
import { atMember, carryInside, type InnerCarries, inTurn, listOrShown } from './carry-shape.ts';
import type { ChangeValues } from './change-values.ts';
import { insideOf, newName } from './earlier-resources.ts';

/** A line that is being followed down: what became of one field below each change. */
interface Traced {
  readonly newer: string | undefined;
  older: string | undefined;
  /** The level down to which the pieces reach. */
  level: number;
  readonly pieces: Carry[];
  isMapped: boolean;
  isOrdered: boolean;
  /** What it is where the older version's requests do not have it. */
  usual: { readonly value: unknown } | undefined;
  /** What it is where the newest does not have it. */
  readonly gone: (() => unknown) | undefined;
}

/** Compiles the carrying of a resource between two levels: all changes of all versions between them as one step for each field. */
export function carryResource(
  name: string,
  top: number,
  bottom: number,
  inner: InnerCarries,
  values: ChangeValues,
): ResourceCarry {
  const newest = inner.resources.at(name, top);
  const oldest = inner.resources.at(name, bottom);
  if (!newest || !oldest) throw new Error(`${name} is no resource that is stated.`);
  const lines = trace(name, newest, top, bottom, inner, values);
  const carried = carriedLines(lines, newest, oldest);
  const { byOlder, byNewer } = carried;
  return {
    lines,
    older: (field) => byOlder.get(field),
    newer: (field) => byNewer.get(field),
    unseen: lines.flatMap(({ newer, older }) => (newer !== undefined && older === undefined ? [newer] : [])),
    down: (value) => (isMembers(value) ? lowerAll(carried, value) : value),
    up: (value, before) => (isMembers(value) ? raiseAll(carried, value, isMembers(before) ? before : undefined) : value),
    merge: (before, patch) => mergeAll(carried, before, patch),
    place([field, ...rest]): OlderPlace {
      if (field === undefined) return { path: [], isMapped: false };
      return placeOf(byNewer.get(field), field, rest);
    },
  };
}

/** The lines of a resource by both their names, and in the order in which each way writes them. */
interface CarriedLines {
  readonly byOlder: ReadonlyMap<string, CompiledLine>;
  readonly byNewer: ReadonlyMap<string, CompiledLine>;
  readonly downward: readonly CompiledLine[];
  readonly upward: readonly CompiledLine[];
  /** Whether a row may have members that no line is about. */
  readonly isOpen: boolean;
}

function carriedLines(lines: readonly CompiledLine[], newest: Resource, oldest: Resource): CarriedLines {
  const byOlder = new Map(lines.flatMap((line) => (line.older === undefined ? [] : [[line.older, line] as const])));
  const byNewer = new Map(lines.flatMap((line) => (line.newer === undefined ? [] : [[line.newer, line] as const])));
  return {
    byOlder,
    byNewer,
    downward: entriesOf(oldest.fields).flatMap(([field]) => byOlder.get(field) ?? []),
    upward: lines.filter(({ newer }) => newer !== undefined),
    isOpen: newest.additionalProperties,
  };
}

function lowerAll({ downward, isOpen, byNewer, byOlder }: CarriedLines, value: Members): Members {
  const out: Members = {};
  for (const line of downward) lower(line, value, out);
  if (isOpen) addUnnamed(value, out, byNewer, byOlder);
  return out;
}

function raiseAll({ upward, isOpen, byNewer, byOlder }: CarriedLines, value: Members, was: Members | undefined): Members {
  const out: Members = {};
  for (const line of upward) {
    const field = line.older === undefined ? unseen(line, was) : value[line.older];
    if (field !== undefined) put(out, line.newer as string, line.older === undefined ? field : raise(line, field, was));
  }
  if (isOpen) addUnnamed(value, out, byOlder, byNewer);
  return out;
}

/** Puts the members that no line is about, but for those whose names are fields on the other side. */
function addUnnamed(
  value: Members,
  out: Members,
  known: ReadonlyMap<string, unknown>,
  taken: ReadonlyMap<string, unknown>,
): void {
  for (const field of Object.keys(value)) if (!known.has(field) && !taken.has(field)) put(out, field, value[field]);
}

function mergeAll({ byOlder, byNewer, isOpen }: CarriedLines, before: Readonly<Members>, patch: Readonly<Members>): Members {
  const next: Members = { ...before };
  for (const [field, value] of Object.entries(patch)) {
    const line = byOlder.get(field);
    if (!line) {
      if (isOpen && !byNewer.has(field)) merged(next, field, value);
    } else if (line.newer !== undefined) {
      if (value === null || !line.carry) merged(next, line.newer, value);
      else {
        const now = isMembers(value) && before[line.newer] !== undefined ? line.carry.down(before[line.newer]) : undefined;
        put(next, line.newer, raise(line, mergeJson(now, value), before));
      }
    }
  }
  return next;
}

type Members = Record<string, unknown>;

/** Puts what the older version has of one field; nothing where the newest has nothing for it. */
function lower(
  { newer, older, carry, gone }: CompiledLine,
  value: Readonly<Record<string, unknown>>,
  out: Record<string, unknown>,
): void {
  if (newer === undefined) {
    if (gone) put(out, older as string, carry ? carry.down(gone()) : gone());
    return;
  }
  const field = value[newer];
  if (field === undefined) return;
  if (older === '__proto__') put(out, older, field === null || !carry ? field : carry.down(field));
  else out[older as string] = field === null || !carry ? field : carry.down(field);
}

/** Where a field of the newest version, or something in it, stands in the older one. */
function placeOf(line: CompiledLine | undefined, field: string, rest: readonly string[]): OlderPlace {
  if (!line) return { path: [field, ...rest], isMapped: false };
  if (line.older === undefined) return { path: [], isMapped: false };
  if (line.isMapped && line.isValue) return { path: [line.older], isMapped: true };
  const place = line.carry && rest.length > 0 ? line.carry.place(rest) : { path: rest, isMapped: false };
  return { path: [line.older, ...place.path], isMapped: place.isMapped };
}

interface CompiledLine extends CarriedField {
  readonly usual: { readonly value: unknown } | undefined;
  readonly gone: (() => unknown) | undefined;
  /** Whether a change maps the field's own value, and not only something in it. */
  readonly isValue: boolean;
}

/** What reads as it did before is as it was: nothing is lost by sending back what was read. */
function raise(
  { newer, older, carry, isValue }: CompiledLine,
  value: unknown,
  before: Readonly<Record<string, unknown>> | undefined,
): unknown {
  if (!carry || value === null) return value;
  const was = before?.[newer as string];
  return atMember(older as string, () =>
    isValue && was !== undefined && was !== null && isSame(carry.down(was), value) ? was : carry.up(value, was),
  );
}

function unseen({ newer, carry, usual }: CompiledLine, before: Readonly<Record<string, unknown>> | undefined): unknown {
  if (before) return before[newer as string];
  if (!usual) return undefined;
  return carry && usual.value !== null ? carry.up(structuredClone(usual.value)) : structuredClone(usual.value);
}

function merged(next: Record<string, unknown>, field: string, value: unknown): void {
  if (value === null) delete next[field];
  else put(next, field, mergeJson(next[field], value));
}

function trace(
  name: string,
  newest: Resource,
  top: number,
  bottom: number,
  inner: InnerCarries,
  values: ChangeValues,
): CompiledLine[] {
  const { resources } = inner;
  const traced: Traced[] = entriesOf(newest.fields).map(([field]) => start(field, field, top, undefined));
  const reach = (line: Traced, level: number) => {
    if (line.level <= level || line.older === undefined) return;
    const shown = inner.carry(resources.shapeOf(name, line.older, level), line.level, level);
    const sent = sentAs(newest, line.newer);
    const carry = sent ? listOrShown(inner.carry(sent, line.level, level), shown) : shown;
    if (carry) line.pieces.push(carry);
    if (carry) line.isOrdered = false;
    line.level = level;
  };
  const valued = new Set<Traced>();
  for (const { level, change } of resources.changes(name, top, bottom)) {
    const root =
      change.kind === 'rename' && !change.field.includes('.') ? newName(change.to) : (change.field.split('.')[0] as string);
    const inside = insideOf(change.field);
    const line = traced.find(({ older }) => older === root);
    if (inside.length === 0 && change.kind === 'remove') {
      traced.push(start(undefined, change.field, level, values.ofRemoved(change)));
      continue;
    }
    if (!line) continue;
    if (inside.length === 0 && change.kind === 'rename') {
      line.older = change.field;
      continue;
    }
    reach(line, level + 1);
    if (inside.length === 0 && change.kind === 'add') {
      line.older = undefined;
      line.usual = change.default;
      continue;
    }
    line.isMapped = true;
    line.isOrdered &&= change.kind === 'map' && change.monotone;
    if (inside.length > 0) line.pieces.push(carryInside(inside, change, values));
    else if (change.kind === 'map' || change.kind === 'enum') {
      valued.add(line);
      line.pieces.push({ ...values.of(change), place: () => ({ path: [], isMapped: true }) });
    }
    line.level = level;
  }
  for (const line of traced) reach(line, bottom);
  return traced
    .filter(({ newer, older }) => newer !== undefined || older !== undefined)
    .map((line) => compiledLine(line, valued.has(line)));
}

/** Children are sent as a list, whatever stands around them where they are shown. */
function sentAs({ fields }: Resource, field: string | undefined): JsonMap | undefined {
  const children = field === undefined ? undefined : entryOf(fields, field)?.children;
  return children?.envelope && { type: 'array', items: { resource: children.resource } };
}

function compiledLine({ newer, older, isMapped, isOrdered, usual, gone, pieces }: Traced, isValue: boolean): CompiledLine {
  const carry = inTurn(pieces);
  return { newer, older, carry, isMapped: isMapped || carry !== undefined, isOrdered, usual, gone, isValue };
}

function start(newer: string | undefined, older: string, level: number, gone: (() => unknown) | undefined): Traced {
  return { newer, older, level, pieces: [], isMapped: false, isOrdered: true, usual: undefined, gone };
}
